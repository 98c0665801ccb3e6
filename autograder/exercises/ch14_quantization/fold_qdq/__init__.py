"""The exercise `fold_qdq`."""
