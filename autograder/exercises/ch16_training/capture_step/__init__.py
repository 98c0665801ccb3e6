"""The exercise `capture_step`."""
