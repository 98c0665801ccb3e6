"""Hidden cases of `randomize_`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch09_debugging.randomize_ import models
from autograder.exercises.ch09_debugging.randomize_.cases import seeded

REDRAWS = (
    seeded("a graph module", "task", models.traced, (T(5, 4),), number=0),
    seeded("names of the same letters", "task", models.Anagrams, number=34),
    seeded("a norm", "buffers", models.norm_alone, number=26),
    seeded("norms", "buffers", models.Norms, number=29),
    seeded("transposed", "kinds", models.Transposed, number=28),
)
