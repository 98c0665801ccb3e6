"""The entry points that run inside a sandbox: a student's notebook, the judge, described graphs.

`student` runs cells and tries answers. Neither it nor `graph_service` contains expected results.
`judge_service` repairs a notebook, has it run, judges its answers, and cleans it. `sandbox` starts
each of them by name.

This file imports nothing, because a student's process must contain no more than it needs.
"""
