"""The exercise `replace_until_done`."""
