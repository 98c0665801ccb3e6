"""The exercise `retarget`."""
