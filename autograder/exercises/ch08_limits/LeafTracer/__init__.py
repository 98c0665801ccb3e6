"""The exercise `LeafTracer`."""
