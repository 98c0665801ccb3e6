"""The exercise `relu_to_gelu_backend`."""
