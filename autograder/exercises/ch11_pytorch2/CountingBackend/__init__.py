"""The exercise `CountingBackend`."""
