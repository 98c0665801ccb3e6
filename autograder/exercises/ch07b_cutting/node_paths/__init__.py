"""The exercise `node_paths`."""
