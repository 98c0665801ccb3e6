"""The exercise `export_ops`."""
