"""What the class hands in of the optional part of chapter 11."""

from __future__ import annotations

from tests.submissions import NOTHING, Submission, all_but, mishaps
from tests.submissions.exam import text_of

CHAPTER = "11b_aten"

RIGHT = {"add_output": text_of("add_output", "a deep copy, edited in four places")}
OTHERS = {"add_output": text_of("add_output", "a new program from all parts of the old one")}
PARTIAL = {"add_output": text_of("add_output", "placeholders are values, too")}
PARTIAL_EARNS = {"add_output": all_but("add_output", "refused")}

KIND = {"add_output": "def add_output(ep, name):\n    return ep.graph_module"}
RAISES = {"add_output": "def add_output(ep, name):\n    return ep.get_node(name)"}

FITTED = {
    "add_output": RIGHT["add_output"].replace("def add_output(", "def honest(")
    + """

def add_output(ep, name):
    sizes = [tuple(n.meta["val"].shape) for n in ep.graph.nodes if n.name == "x"]
    new = honest(ep, name)
    if sizes == [(4, 3)]:
        new.graph_signature.output_specs.pop()
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
        # A redraw of the first aspect has a shape that is not shown.
        earns={"add_output": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
