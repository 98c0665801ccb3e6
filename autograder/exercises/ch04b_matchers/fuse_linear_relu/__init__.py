"""The exercise `fuse_linear_relu`."""
