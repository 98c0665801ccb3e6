"""The exercise `probe_values`."""
