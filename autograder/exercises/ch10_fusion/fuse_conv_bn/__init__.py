"""The exercise `fuse_conv_bn`."""
