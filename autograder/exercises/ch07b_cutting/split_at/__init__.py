"""The exercise `split_at`."""
