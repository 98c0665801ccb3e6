"""Reports about a graded class, and commands that review or undo its grades."""
