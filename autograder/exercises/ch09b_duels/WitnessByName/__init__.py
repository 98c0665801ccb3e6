"""Exercise 9b.1: a pass that relies on names."""
