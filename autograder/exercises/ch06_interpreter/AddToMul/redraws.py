"""Hidden cases of `AddToMul`."""

from __future__ import annotations

from autograder.exercises.ch06_interpreter.AddToMul import models
from autograder.exercises.ch06_interpreter.cases import X, class_case
from autograder.models import additions

REDRAWS = (
    class_case(
        "a leaf that adds, and another function called add",
        "in place",
        models.with_a_leaf,
        (X, X),
        functions={"add": models.add},
    ),
    class_case("zero is added", "task", models.AddsNothing, (X, X)),
    class_case(
        "a key that PyTorch writes", "meta", additions.NestedAdds, (X,), tag=models.tag_as_pytorch
    ),
)
