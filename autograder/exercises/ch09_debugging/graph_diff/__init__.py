"""The exercise `graph_diff`."""
