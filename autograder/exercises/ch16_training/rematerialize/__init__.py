"""The exercise `rematerialize`."""
