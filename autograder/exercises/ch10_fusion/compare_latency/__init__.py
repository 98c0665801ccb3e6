"""The exercise `compare_latency`."""
