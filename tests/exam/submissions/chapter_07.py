"""What the class hands in of chapter 07."""

from __future__ import annotations

from autograder.core.exercise import RANDOM
from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted_to_graphs, text_of

CHAPTER = "07_features"

RIGHT = {
    "backbone_c4_c5": text_of("backbone_c4_c5", "the names of the stages"),
    "extract": text_of("extract", "a sweep from the end, clones where needed"),
}
OTHERS = {
    "backbone_c4_c5": text_of("backbone_c4_c5", "a plain graph module"),
    "extract": text_of("extract", "a fixed point over reads and writes"),
}

PARTIAL = {
    "backbone_c4_c5": text_of("backbone_c4_c5", "a copy in eval mode"),
    "extract": text_of("extract", "KeyError for an unknown name"),
}
PARTIAL_EARNS = {
    "backbone_c4_c5": all_but("backbone_c4_c5", "mode"),
    "extract": all_but("extract", "errors"),
}

ANSWER = "from torch import fx\n\ndef {name}(model, *others):\n    {body}"
KINDS = {
    "backbone_c4_c5": "return {'C4': model.layer3, 'C5': model.layer4}",
    "extract": "return model",
}
KIND = {name: ANSWER.format(name=name, body=body) for name, body in KINDS.items()}
ERRORS = {
    "backbone_c4_c5": "return model.layer5",
    "extract": "raise IndexError(others)",
}
RAISES = {name: ANSWER.format(name=name, body=body) for name, body in ERRORS.items()}

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission("dan", CHAPTER, "right in part", PARTIAL, earns=PARTIAL_EARNS),
    Submission(
        "eva",
        CHAPTER,
        "fitted to the models of the check cell",
        {
            "extract": fitted_to_graphs(
                "extract", "a sweep from the end, clones where needed", "model"
            )
        },
        # The redraws are of graphs that the check cell tries; a student's random models are not.
        earns={"extract": all_but("extract", RANDOM.key)},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
    mishaps.killer(CHAPTER, RIGHT, "backbone_c4_c5", "os.abort()"),
)
