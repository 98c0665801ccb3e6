"""Exercise 12.3: what an order by inputs alone moves."""
