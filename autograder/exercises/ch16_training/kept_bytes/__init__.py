"""The exercise `kept_bytes`."""
