"""Hidden cases of `dead_nodes`."""

from __future__ import annotations

from autograder.exercises.ch02_nodes import models as shared
from autograder.exercises.ch02_nodes.dead_nodes import models
from autograder.exercises.ch02_nodes.dead_nodes.cases import dead_case

REDRAWS = (
    dead_case("dead nodes in submodules", "ways", shared.Deep),
    dead_case("one item of two", "ways", models.OneOfTwo),
    dead_case("one node without readers", "names", shared.Nested),
    dead_case("a buffer read twice", "ways", models.DeadReadOfABuffer),
)
