"""The exercise `node_table`."""
