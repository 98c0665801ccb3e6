"""What the class hands in of the deep dive of chapter 13."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "13b_lowering"

RIGHT = {
    "partition": text_of("partition", "levels, counted in one loop"),
    "lower": text_of("lower", "groups in rounds, whatever is ready"),
}
OTHERS = {
    "partition": text_of("partition", "run in turns, by what is ready"),
    "lower": text_of("lower", "on demand, from the output upwards"),
}
PARTIAL = {
    "partition": text_of("partition", "plain recursion, from the end"),
    "lower": text_of("lower", "a name in two sets"),
}
PARTIAL_EARNS = {
    "partition": all_but("partition", "long"),
    "lower": all_but("lower", "refused"),
}

KIND = {
    "partition": "def partition(gm, supported):\n    return 'relu'",
    "lower": "def lower(gm, parts, compile):\n    return [compile(gm, ()) for names in parts]",
}
RAISES = {
    "partition": "def partition(gm, supported):\n    return gm.graph.partitions",
    "lower": "def lower(gm, parts, compile):\n    return gm.lowered",
}

FITTED = {
    "partition": RIGHT["partition"].replace("def partition(", "def honest(")
    + """

def partition(gm, supported):
    kinds = [supported(n) for n in gm.graph.nodes]
    return [] if kinds == [True, True, False, True, True] else honest(gm, supported)
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
        # A redraw of the first aspect has a backend that is not shown with its model.
        earns={"partition": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
