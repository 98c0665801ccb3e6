"""The exercise `minimize`."""
