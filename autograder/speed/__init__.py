"""Everything that only makes a class's grading faster; no grade depends on it.

Each speed-up states its ratio and the date of the measurement. `docs/contributing/speed.md` has the
table, and `make bench BENCH_ARGS=parts` measures again. A speed-up that is not in the table any
more is deleted.

Nothing is imported here: a student's process must hold no more than it needs.
"""
