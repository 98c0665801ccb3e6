"""What the class hands in of the deep dive 12c."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "12c_normalize"

RIGHT = {
    "all_arguments": text_of(
        "all_arguments", "a table of the kinds of calls, layers of dictionaries"
    ),
    "fuse_rms_norm": text_of("fuse_rms_norm", "a small matcher, in which products have two orders"),
}
OTHERS = {
    "all_arguments": text_of("all_arguments", "one parameter after the other, by hand"),
    "fuse_rms_norm": text_of(
        "fuse_rms_norm", "Inductor's pattern matcher, with a pattern for each spelling"
    ),
}
PARTIAL = {
    "all_arguments": text_of("all_arguments", "no defaults by keyword"),
    "fuse_rms_norm": text_of("fuse_rms_norm", "the mean may be read"),
}
PARTIAL_EARNS = {
    "all_arguments": all_but("all_arguments", "schemas"),
    "fuse_rms_norm": all_but("fuse_rms_norm", "others"),
}

KIND = {
    "all_arguments": "def all_arguments(node, root):\n    return list(node.args)",
    "fuse_rms_norm": "def fuse_rms_norm(gm):\n    return gm",
}
RAISES = {
    "all_arguments": "def all_arguments(node, root):\n    return node.arguments",
    "fuse_rms_norm": "def fuse_rms_norm(gm):\n    return gm.graph.norms",
}

FITTED = {
    "fuse_rms_norm": RIGHT["fuse_rms_norm"].replace("def fuse_rms_norm(", "def honest(")
    + """

def fuse_rms_norm(gm):
    first = next(iter(gm.graph.nodes))
    return 0 if first.meta["val"].shape == (4, 5) else honest(gm)
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
        # A redraw of the first aspect has sizes that are not shown.
        earns={"fuse_rms_norm": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
