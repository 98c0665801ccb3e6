"""The exercise `extract`."""
