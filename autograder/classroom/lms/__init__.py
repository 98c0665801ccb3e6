"""Learning platforms: hand-ins come in, grades and feedback go back."""
