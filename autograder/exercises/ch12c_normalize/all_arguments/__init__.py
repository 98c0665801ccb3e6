"""The exercise `all_arguments`."""
