"""A grading run, which grades submissions in parallel, in sandboxes."""
