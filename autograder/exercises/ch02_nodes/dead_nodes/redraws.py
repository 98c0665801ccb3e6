"""Hidden cases of `dead_nodes`."""

from __future__ import annotations

from autograder.exercises.ch02_nodes.dead_nodes import models
from autograder.exercises.ch02_nodes.dead_nodes.cases import dead_case

REDRAWS = (
    dead_case("one item of two", "ways", models.OneOfTwo),
    dead_case("a buffer read twice", "ways", models.DeadReadOfABuffer),
)
