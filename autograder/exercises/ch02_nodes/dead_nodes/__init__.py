"""The exercise `dead_nodes`."""
