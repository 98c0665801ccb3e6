"""The exercise `meta_lies`."""
