"""Hunts: random models against PyTorch's own passes, and what is known to be wrong with them."""
