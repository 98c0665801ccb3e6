"""The instructor's side: an nbgrader course directory, and how its submissions are graded.

nbgrader stays what its users know; `config` names our parts at its extension points. `grading`
grades a class without it: `preflight` looks at what was handed in, `lanes` grade `unit` by unit,
side by side or on a `cluster`, and the `ledger` and the `journal` are written by one process.

Both ways use the same parts. A `submission_run` has each notebook graded in boxes by what is in
`autograder.boxed`, and checks what comes out. In there, `repair` puts it right, `clean` takes out
what would run in a browser, and `cards` and `scores` bring verdicts to people and to the gradebook.
A `canary` goes first: a notebook with known marks.
"""
