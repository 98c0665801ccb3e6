"""The exercise `keep_dynamic`."""
