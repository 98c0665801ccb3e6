"""A grading run: submissions are graded in sandboxes, side by side."""
