"""The exercise `params_of`."""
