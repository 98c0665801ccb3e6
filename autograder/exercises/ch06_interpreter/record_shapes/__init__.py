"""The exercise `record_shapes`."""
