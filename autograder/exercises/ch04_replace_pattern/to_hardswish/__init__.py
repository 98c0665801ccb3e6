"""The exercise `to_hardswish`."""
