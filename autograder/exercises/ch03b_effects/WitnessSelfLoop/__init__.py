"""Exercise 3b.4: a model that convicts a snippet of PyTorch's documentation."""
