"""What runs inside a box, one entry point each: a student's notebook, the judge, described graphs.

`student` runs cells and tries answers; it and `graph_service` hold no expectation.
`judge_service` repairs a notebook, has it run, judges what came of it, and cleans it. `sandbox`
starts them by name.

Nothing is imported here: a student's process must hold no more than it needs.
"""
