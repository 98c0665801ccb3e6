"""The exercise `specialize`."""
