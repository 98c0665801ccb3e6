"""The exercise `count_ops`."""
