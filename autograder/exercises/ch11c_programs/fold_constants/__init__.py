"""The exercise `fold_constants`."""
