"""Hidden cases of `relu_after_add`."""

from __future__ import annotations

from autograder.authoring.question import T, model_case
from autograder.exercises.ch03_manipulation.relu_after_add.cases import X
from autograder.models import additions

REDRAWS = (
    model_case("torch.add", "task", additions.KeywordAdd, (T(5), T(1))),
    model_case("names that are taken", "others", additions.SpeaksOfRelu, (X, X, X)),
    model_case("parameters", "every", additions.ParametersAdded, (X,)),
)
