"""The page that a student gets back: points, what happened, and the cards beside the answers."""
