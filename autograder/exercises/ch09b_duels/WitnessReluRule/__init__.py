"""Exercise 9b.2: a rule for ReLU with a gap."""
