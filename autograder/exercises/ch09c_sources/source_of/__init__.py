"""The exercise `source_of`."""
