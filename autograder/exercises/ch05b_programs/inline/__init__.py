"""The exercise `inline`."""
