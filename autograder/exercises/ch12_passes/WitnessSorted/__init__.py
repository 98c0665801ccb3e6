"""Exercise 12.3: calls that a sort by inputs alone moves."""
