"""The exercise `fold_bn`."""
