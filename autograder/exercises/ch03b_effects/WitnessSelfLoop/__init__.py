"""Exercise 3b.4: a model that proves a snippet in PyTorch's documentation wrong."""
