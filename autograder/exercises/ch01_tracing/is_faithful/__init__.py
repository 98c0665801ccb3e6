"""The exercise `is_faithful`."""
