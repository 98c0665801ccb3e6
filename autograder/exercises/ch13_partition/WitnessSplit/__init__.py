"""Exercise 13.3: two pieces that do not know of each other."""
