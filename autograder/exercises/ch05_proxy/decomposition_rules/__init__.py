"""The exercise `decomposition_rules`."""
