"""The exercise `refresh_meta`."""
