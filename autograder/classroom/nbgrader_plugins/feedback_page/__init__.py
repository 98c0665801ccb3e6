"""A student's feedback page: points, notes on the grading, and the cards next to the answers."""
