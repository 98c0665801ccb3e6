"""Exercise 9b.7: weights with other readers."""
