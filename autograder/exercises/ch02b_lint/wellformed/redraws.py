"""Hidden cases of `wellformed`."""

from __future__ import annotations

from autograder.authoring.question import Case
from autograder.exercises.ch02b_lint.wellformed import models
from autograder.exercises.ch02b_lint.wellformed import models_broken as plain
from autograder.exercises.ch02b_lint.wellformed import models_broken_places as places
from autograder.exercises.ch02b_lint.wellformed import models_sound as harmless
from autograder.exercises.ch02b_lint.wellformed.cases import sound


def broken(name: str, aspect: str, spoil: models.Break, *, stale: bool = False) -> Case:
    """A case: another graph module with one fault."""
    return Case(name, aspect, models.Checked(models.Broken(spoil, stale, models.Tower)))


REDRAWS = (
    sound("a graph module within, whose own code is old", harmless.stale_within),
    broken("a tensor deep in the result", "places", plain.tensor_deep_in_the_result),
    broken("only a space changed, no recompile", "places", places.only_a_space, stale=True),
    broken("an erased node whose name another has", "places", places.erased_namesake),
    broken("a buffer object as an argument", "places", places.buffer_object),
    broken("a dotted key in a graph module within", "places", places.dotted_in_a_graph_module),
    broken("only a dotted buffer", "several", places.only_a_dotted_buffer),
)
