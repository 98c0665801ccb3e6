"""Exercise 9b.5: two signs too many."""
