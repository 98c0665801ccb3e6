"""The exercise `first_nonfinite`."""
