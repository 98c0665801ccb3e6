"""The exercise `recompute`."""
