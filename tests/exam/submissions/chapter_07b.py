"""What the class hands in of chapter 07b."""

from __future__ import annotations

from autograder.core.exercise import RANDOM
from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted_to_graphs, text_of

CHAPTER = "07b_cutting"

RIGHT = {
    "node_paths": text_of("node_paths", "a stack, and a question about leaves"),
    "split_at": text_of("split_at", "two new graphs"),
}
OTHERS = {
    "node_paths": text_of("node_paths", "the scope of FX, noted inside of forward"),
    "split_at": text_of("split_at", "in the opposite order, under other names"),
}

PARTIAL = {
    "node_paths": text_of("node_paths", "FX's stack of modules"),
    "split_at": text_of("split_at", "the result's lists become tuples"),
}
PARTIAL_EARNS = {
    "node_paths": all_but("node_paths", "tensors"),
    "split_at": all_but("split_at", "rest"),
}

ANSWER = "from torch import fx\n\ndef {name}(model, *others):\n    {body}"
KINDS = {
    "node_paths": "return [node.name for node in fx.symbolic_trace(model).graph.nodes]",
    "split_at": "return fx.symbolic_trace(model)",
}
KIND = {name: ANSWER.format(name=name, body=body) for name, body in KINDS.items()}
ERRORS = {
    "node_paths": "return fx.Tracer().trace(model).paths",
    "split_at": "raise SystemExit",
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
        {"split_at": fitted_to_graphs("split_at", "two new graphs", "model")},
        # The redraws are of graphs that the check cell tries; a student's random models are not.
        earns={"split_at": all_but("split_at", RANDOM.key)},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
    mishaps.killer(CHAPTER, RIGHT, "node_paths", "os.abort()"),
)
