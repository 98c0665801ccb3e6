"""The exercise `peak_memory`."""
