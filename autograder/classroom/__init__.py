"""The instructor's side: an nbgrader course directory, and how its submissions are graded.

nbgrader stays what its users know; `config` names our parts at its extension points. `grading`
grades a class without it: `preflight` looks at what was handed in, `lanes` grade `unit` by unit,
side by side or on a `cluster`, and the `ledger` and the `journal` are written by one process.

Both ways use the same parts. `repair` puts submitted notebooks right, and `clean` takes out what
would run in a browser. A `sitting` works a notebook through in the box of `autograder.sandbox`;
`judging` reaches the verdicts, `cards` and `scores` bring them to people and to the gradebook.
"""
