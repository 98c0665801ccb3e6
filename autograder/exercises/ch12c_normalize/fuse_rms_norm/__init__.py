"""The exercise `fuse_rms_norm`."""
