"""Hunts: random models against PyTorch's own passes, and the known bugs of these passes."""
