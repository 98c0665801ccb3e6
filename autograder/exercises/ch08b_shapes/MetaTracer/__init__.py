"""The exercise `MetaTracer`."""
