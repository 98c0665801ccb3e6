"""Exercise 9b.6: calls that look equal."""
