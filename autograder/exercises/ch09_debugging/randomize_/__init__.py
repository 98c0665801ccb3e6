"""The exercise `randomize_`."""
