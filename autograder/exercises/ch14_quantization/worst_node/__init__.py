"""The exercise `worst_node`."""
