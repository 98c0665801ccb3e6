"""The exercise `fuse_addcmul`."""
