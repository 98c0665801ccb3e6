"""The exercise `remove_noop_views`."""
