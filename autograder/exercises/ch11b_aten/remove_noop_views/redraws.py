"""Hidden cases of `remove_noop_views`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch11b_aten.remove_noop_views import models
from autograder.exercises.ch11b_aten.remove_noop_views.cases import (
    BOTH,
    LONG,
    ROWS,
    SQUARE,
    X,
    case,
)

REDRAWS = (
    case("scalars", "task", models.Scalars, X),
    case("two views of a reshape", "merged", models.ReshapeThenViews, LONG),
    case(
        "a size of a view",
        "symbolic",
        models.SizeOfAView,
        SQUARE,
        symbolic=BOTH,
        more=((T(3, 5),),),
    ),
    case("relatives", "others", models.Namesakes, X),
    case(
        "a size that comes later",
        "symbolic",
        models.SizeComesLater,
        LONG,
        symbolic=ROWS,
        more=((T(5, 6),),),
    ),
)
