"""The exercise `optimize`."""
