"""Hidden cases of `peak_memory`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch13_partition.peak_memory import models
from autograder.exercises.ch13_partition.peak_memory.cases import run
from autograder.models.running import Exactly

REDRAWS = (
    run("read backwards", "task", models.Backwards, T(5)),
    run("a view", "theirs", models.OfInputs, T(2, 1), {"first": Exactly(2.0, shape=(2, 9))}),
    run("taken out late", "nested", models.TakenLate, T(3, 4)),
    run("unread", "unread", models.Unread, T(1, 9)),
)
