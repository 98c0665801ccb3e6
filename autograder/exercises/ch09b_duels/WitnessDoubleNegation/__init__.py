"""Exercise 9b.5: double negations."""
