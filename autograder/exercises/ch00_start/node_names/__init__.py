"""The exercise `node_names`."""
