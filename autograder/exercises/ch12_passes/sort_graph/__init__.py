"""The exercise `sort_graph`."""
