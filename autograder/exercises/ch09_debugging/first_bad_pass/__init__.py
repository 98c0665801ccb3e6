"""The exercise `first_bad_pass`."""
