"""Exercise 3.8: a model that convicts a snippet of PyTorch's documentation."""
