"""Exercise 9b.3: calls that nobody reads."""
