"""What the class hands in of chapter 05b."""

from __future__ import annotations

from autograder.core.exercise import RANDOM
from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted_to_graphs, text_of

CHAPTER = "05b_programs"

RIGHT = {
    "inline": text_of("inline", "graph_copy at the place of the call"),
    "derivative": text_of("derivative", "reverse mode"),
}
OTHERS = {
    "inline": text_of("inline", "a tracer that goes through the target"),
    "derivative": text_of("derivative", "an Interpreter with pairs of Proxies"),
}

PARTIAL = {
    "inline": text_of("inline", "tuples forgotten"),
    "derivative": text_of("derivative", "keywords ignored"),
}
PARTIAL_EARNS = {
    "inline": all_but("inline", "tuples"),
    "derivative": all_but("derivative", "spellings"),
}

ANSWER = "from torch import fx\n\ndef {name}(*args):\n    {body}"
KINDS = {
    "inline": "fx.symbolic_trace(args[0])",
    "derivative": "return lambda x: 2 * x",
}
KIND = {name: ANSWER.format(name=name, body=body) for name, body in KINDS.items()}
ERRORS = {
    "inline": "return args[0].get_submodule(args)",
    "derivative": "return derivative(*args)",
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
        {"inline": fitted_to_graphs("inline", "a new graph", "model")},
        # The redraws are of graphs that the check cell tries; a student's random models are not.
        earns={"inline": all_but("inline", RANDOM.key)},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
    mishaps.killed_in_answer_cell(CHAPTER, RIGHT, "inline"),
)
