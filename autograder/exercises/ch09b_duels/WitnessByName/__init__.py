"""Exercise 9b.1: a model that convicts a pass that goes by names."""
