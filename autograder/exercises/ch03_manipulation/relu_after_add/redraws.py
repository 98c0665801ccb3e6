"""Hidden cases of `relu_after_add`."""

from __future__ import annotations

from autograder.authoring.question import model_case
from autograder.exercises.ch03_manipulation.relu_after_add.cases import X
from autograder.models import additions

REDRAWS = (
    model_case("names that are taken", "others", additions.SpeaksOfRelu, (X, X, X)),
    model_case("parameters", "every", additions.ParametersAdded, (X,)),
)
