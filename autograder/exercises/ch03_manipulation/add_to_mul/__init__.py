"""The exercise `add_to_mul`."""
