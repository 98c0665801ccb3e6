"""Exercise 9b.7: weights that others read."""
