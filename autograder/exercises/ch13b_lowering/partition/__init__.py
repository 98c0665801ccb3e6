"""The exercise `partition`."""
