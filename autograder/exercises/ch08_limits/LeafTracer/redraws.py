"""Hidden cases of `LeafTracer`."""

from __future__ import annotations

from autograder.exercises.ch08_limits.LeafTracer import models
from autograder.exercises.ch08_limits.LeafTracer.cases import one, several
from autograder.exercises.ch08_limits.LeafTracer.models import Block, Gate, Shift

REDRAWS = (
    one("a type", "task", Block, leaf_types=(Shift,)),
    one("called twice", "names", models.CalledTwice, (), ("gate",)),
    one("sizes are read", "defaults", models.AsUsual, (Gate,)),
    one("layers of PyTorch", "defaults", models.OtherRooms, (Gate,)),
    several(
        "a name in two models",
        (models.Namesakes, models.Kinds),
        (
            {"leaf_types": (Gate,)},
            {"leaf_types": (models.Door.Gate,)},
            {"leaf_names": ("second",)},
        ),
        ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)),
    ),
)
