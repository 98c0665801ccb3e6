"""Learning platforms: imports submissions, and exports grades and feedback."""
