"""The exercise `relu_after_add`."""
