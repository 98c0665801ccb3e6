"""Reports about a graded class, and commands that look at a grade again."""
