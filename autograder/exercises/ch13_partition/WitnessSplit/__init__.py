"""Exercise 13.3: two pieces that do not depend on each other."""
