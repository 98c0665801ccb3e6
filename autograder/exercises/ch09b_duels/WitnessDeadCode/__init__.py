"""Exercise 9b.3: calls that nothing reads."""
