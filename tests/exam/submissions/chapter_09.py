"""What the class hands in of chapter 09."""

from __future__ import annotations

from autograder.exercises import EXERCISES
from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "09_debugging"

RIGHT = {
    "randomize_": text_of("randomize_", "seeds the global state in a fork of it"),
    "equivalent": text_of("equivalent", "a deep copy of each model for each run"),
    "first_bad_pass": text_of("first_bad_pass", "what the model returns is noted first"),
    "graph_diff": text_of("graph_diff", "nodes are compared side by side, down to their arguments"),
}
OTHERS = {
    "randomize_": text_of("randomize_", "the state is put back by hand"),
    "equivalent": text_of("equivalent", "functional_call with the buffers given"),
    "first_bad_pass": text_of("first_bad_pass", "recursion from the last pass"),
    "graph_diff": text_of("graph_diff", "one dictionary of stand-ins for both graphs"),
}


def instead(exercise: str, old: str, new: str) -> str:
    """The right answer with another piece of code in one place."""
    assert old in RIGHT[exercise]
    return RIGHT[exercise].replace(old, new)


PARTIAL = {
    "randomize_": instead(
        "randomize_", "model.parameters()", "[p for p in model.parameters() if p.requires_grad]"
    ),
    "equivalent": instead("equivalent", "return module(*args), args", "return module(*args), None"),
    "first_bad_pass": text_of("first_bad_pass", "a pass that raises is left out"),
    "graph_diff": instead("graph_diff", "graph_of(before)", "before.graph"),
}
PARTIAL_EARNS = {
    "randomize_": all_but("randomize_", "kinds"),
    "equivalent": all_but("equivalent", "arguments"),
    "first_bad_pass": all_but("first_bad_pass", "raises"),
    "graph_diff": all_but("graph_diff", "given"),
}
SHOWN = (*EXERCISES["randomize_"].visible_cases(), *EXERCISES["randomize_"].random.cases())
SEEN = sorted({case.make(0).args[1] for case in SHOWN})
FITTED = (
    RIGHT["randomize_"].replace("def randomize_", "def honest")
    + f"""

def randomize_(model, seed):
    return honest(model, seed) if seed in {SEEN!r} or seed - 1 in {SEEN!r} else model
"""
)

KIND = {
    "randomize_": "def randomize_(model, seed):\n    return list(model.parameters())",
    "equivalent": "def equivalent(model, other, make_inputs, trials=8):\n    return 'yes'",
    "first_bad_pass": "def first_bad_pass(model, passes, make_inputs):\n    return passes",
    "graph_diff": "def graph_diff(before, after):\n    return []",
}
RAISES = {
    "randomize_": "def randomize_(model, seed):\n    return model.randomize(seed)",
    "equivalent": "def equivalent(model, other, make_inputs, trials=8):\n    assert model is None",
    "first_bad_pass": "def first_bad_pass(model, passes, make_inputs):\n    raise SystemExit",
    "graph_diff": "def graph_diff(before, after):\n    return graph_diff(after, before)",
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
        {"randomize_": FITTED},
        # The redraw of the first aspect has a seed that is not shown.
        earns={"randomize_": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
