"""The instructor's side: an nbgrader course directory, and the grading of its submissions.

nbgrader works as its users know it; `config` registers our classes at its extension points.
`grade_class` grades a class without nbgrader: `preflight` inspects the submissions, a `worker_pool`
grades them in parallel or on other machines (`dask`), and one process writes the gradebook
(`gradebook_writer`) and the `journal`.

Both ways use the same parts. `grade_submission` grades each notebook in sandboxes
(`autograder.boxed`) and validates the result. The code that handles the notebook inside a sandbox
is in `autograder.submission`. A `canary`, a notebook with known points, is graded first.
"""
