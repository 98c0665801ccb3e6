"""The exercise `add_output`."""
