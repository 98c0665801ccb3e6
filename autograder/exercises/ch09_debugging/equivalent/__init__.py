"""The exercise `equivalent`."""
