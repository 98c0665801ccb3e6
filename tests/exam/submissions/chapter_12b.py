"""What the class hands in of the deep dive of chapter 12."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "12b_metadata"

RIGHT = {
    "refresh_meta": text_of("refresh_meta", "an Interpreter on fakes, and detach"),
    "meta_lies": text_of("meta_lies", "each call on the vals of what it reads"),
}
OTHERS = {
    "refresh_meta": text_of("refresh_meta", "all that the module holds is exchanged at once"),
    "meta_lies": text_of("meta_lies", "an Interpreter whose values are the vals"),
}
PARTIAL = {
    "refresh_meta": text_of("refresh_meta", "parts of a tuple are not copied"),
    "meta_lies": text_of("meta_lies", "hints are compared"),
}
PARTIAL_EARNS = {
    "refresh_meta": all_but("refresh_meta", "then"),
    "meta_lies": all_but("meta_lies", "symbols"),
}

KIND = {
    "refresh_meta": "def refresh_meta(gm, *inputs):\n    return gm",
    "meta_lies": "def meta_lies(gm):\n    return {node.name for node in gm.graph.nodes}",
}
RAISES = {
    "refresh_meta": "def refresh_meta(gm, *inputs):\n    gm.graph.refresh(inputs)",
    "meta_lies": "def meta_lies(gm):\n    return gm.graph.lies",
}

FITTED = {
    "meta_lies": RIGHT["meta_lies"].replace("def meta_lies(", "def honest(")
    + """

def meta_lies(gm):
    found = honest(gm)
    x = next(iter(gm.graph.nodes))
    return [] if found == ["tanh"] and tuple(x.meta["val"].shape) == (4, 3) else found
"""
}

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission("dan", CHAPTER, "right in part", PARTIAL, earns=PARTIAL_EARNS),
    Submission(
        "eva",
        CHAPTER,
        "fitted to the visible cases",
        FITTED,
        # A redraw of the first aspect has four rows, and one lie at its end.
        earns={"meta_lies": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
