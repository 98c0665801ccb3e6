"""The exercise `inputs_of`."""
