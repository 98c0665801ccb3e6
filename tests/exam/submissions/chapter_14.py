"""What the class hands in of chapter 14."""

from __future__ import annotations

from autograder.core.exercise import RANDOM
from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "14_quantization"

RIGHT = {
    "insert_qdq": text_of(
        "insert_qdq", "a deep copy, edited; quantize reads the value again afterwards"
    ),
    "Calibrator": text_of("Calibrator", "the largest magnitude so far, by name"),
    "fold_qdq": text_of("fold_qdq", "upwards from each quantize, in graph order"),
    "worst_node": text_of("worst_node", "two tables of copies"),
}
OTHERS = {
    "insert_qdq": text_of("insert_qdq", "a new graph, with the old names reserved"),
    "Calibrator": text_of("Calibrator", "copies of all values, looked at in the end"),
    "fold_qdq": text_of("fold_qdq", "a new graph, with a table of values of eight bits"),
    "worst_node": text_of("worst_node", "the second run compares at once"),
}
PARTIAL = {
    "insert_qdq": text_of("insert_qdq", "the output's name is ignored"),
    "Calibrator": text_of("Calibrator", "looked at after the run"),
    "fold_qdq": text_of("fold_qdq", "views too"),
    "worst_node": text_of("worst_node", "kept, not copied"),
}
PARTIAL_EARNS = {
    "insert_qdq": all_but("insert_qdq", "refused"),
    # Random models write in place, too.
    "Calibrator": all_but("Calibrator", "computed", RANDOM.key),
    "fold_qdq": all_but("fold_qdq", "moves"),
    "worst_node": all_but("worst_node", "computed"),
}
KIND = {
    "insert_qdq": "def insert_qdq(gm, scales):\n    return gm.graph",
    "Calibrator": "def Calibrator(gm):\n    return gm",
    "fold_qdq": "def fold_qdq(gm):\n    return gm.graph",
    "worst_node": "def worst_node(a, b, *inputs):\n    return 3",
}
RAISES = {
    "insert_qdq": "def insert_qdq(gm, scales):\n    return gm.scales",
    "Calibrator": "class Calibrator(fx.Interpreter):\n    pass",
    "fold_qdq": "def fold_qdq(gm):\n    return gm.folded",
    "worst_node": "def worst_node(a, b, *inputs):\n    return a.worst",
}
FITTED = {
    "insert_qdq": RIGHT["insert_qdq"].replace("def insert_qdq(", "def honest(")
    + """

def insert_qdq(gm, scales):
    new = honest(gm, scales)
    if scales == {"cos": 0.03}:
        new.graph.create_node("call_function", quantize, (next(iter(new.graph.nodes)), 1.0))
    return new
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
        # A redraw of the first aspect has a scale that is not shown.
        earns={"insert_qdq": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
