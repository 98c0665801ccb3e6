"""The exercise `forward_backward_ops`."""
