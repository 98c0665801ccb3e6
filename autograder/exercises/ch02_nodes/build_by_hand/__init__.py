"""The exercise `build_by_hand`."""
