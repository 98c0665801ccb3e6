"""The exercise `count_matches`."""
