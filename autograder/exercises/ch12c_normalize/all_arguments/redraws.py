"""Hidden cases of `all_arguments`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch12c_normalize.all_arguments import models
from autograder.exercises.ch12c_normalize.all_arguments.cases import case
from autograder.exercises.ch12c_normalize.all_arguments.models import Recorded, Traced

REDRAWS = (
    case("modules", "python", models.Modules, Traced(owned=False)),
    case("an ATen graph", "schemas", models.MoreAten, Recorded(), (T(2, 2), T(2, 2))),
)
