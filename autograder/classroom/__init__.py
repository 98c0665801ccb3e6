"""The instructor's side: an nbgrader course directory, and how its submissions are graded.

nbgrader stays what its users know; `config` names our parts at its extension points.
`repair` puts submitted notebooks right. `sturdy` runs their cells, whatever these do to the
kernel. `checks` has the answers tried there (`trial`), and judges them here (`judging`).
`scores`, `feedback` and `export` bring the verdicts to the gradebook and to people.

Only `trial` is imported in a student's kernel, so nothing is imported here.
"""
