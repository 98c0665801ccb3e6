"""The instructor's side: an nbgrader course directory, and how its submissions are graded.

nbgrader stays what its users know; `config` names our parts at its extension points. `grade_class`
grades a class without it: `preflight` looks at what was handed in, a `worker_pool` grades one
submission after the other, side by side or on other machines (`dask`), and one process writes the
gradebook (`gradebook_writer`) and the `journal`.

Both ways use the same parts. `grade_submission` has each notebook graded in sandboxes by
`autograder.boxed`, and checks what comes out. What is done in there to the notebook lies in
`autograder.submission`. A `canary` goes first: a notebook with known marks.
"""
