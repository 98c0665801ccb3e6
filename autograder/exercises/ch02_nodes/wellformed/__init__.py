"""The exercise `wellformed`."""
