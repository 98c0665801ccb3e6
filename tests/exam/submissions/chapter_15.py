"""What the class hands in of chapter 15."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted, text_of

CHAPTER = "15_capstone"

FIRST = "a loop over three clean-ups, until none finds anything"
RIGHT = {"optimize": text_of("optimize", FIRST)}
OTHERS = {
    "optimize": text_of(
        "optimize", "recursion: the function calls itself until nothing is left to do"
    )
}
PARTIAL = {"optimize": text_of("optimize", "pairs are listed once: the second BatchNorm stays")}
KIND = {"optimize": "def optimize(model):\n    return model"}
RAISES = {"optimize": "def optimize(model):\n    raise SystemExit"}

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission(
        "dan",
        CHAPTER,
        "right in part",
        PARTIAL,
        earns={"optimize": all_but("optimize", "meet")},
    ),
    Submission(
        "eva",
        CHAPTER,
        "fitted to the visible cases",
        {"optimize": fitted("optimize", FIRST, "model")},
        # The redraw of the first aspect has a model that is not shown.
        earns={"optimize": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
