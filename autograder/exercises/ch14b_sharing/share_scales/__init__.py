"""The exercise `share_scales`."""
