"""The exercise `backbone_c4_c5`."""
