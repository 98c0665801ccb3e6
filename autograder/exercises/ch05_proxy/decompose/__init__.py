"""The exercise `decompose`."""
