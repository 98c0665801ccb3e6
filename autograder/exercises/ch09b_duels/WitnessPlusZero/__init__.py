"""Exercise 9b.4: sums with zero."""
