"""The exercise `remove_dropout`."""
