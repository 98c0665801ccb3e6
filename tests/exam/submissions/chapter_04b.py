"""What the class hands in of chapter 04b."""

from __future__ import annotations

from autograder.core.exercise import RANDOM
from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted_to_graphs, text_of

CHAPTER = "04b_matchers"

RIGHT = {
    "fuse_addcmul": text_of("fuse_addcmul", "keyword arguments, and a value of 1"),
    "fuse_linear_relu": text_of("fuse_linear_relu", "the linear's node is retargeted"),
}
OTHERS = {
    "fuse_addcmul": text_of("fuse_addcmul", "a new graph, copied node by node"),
    "fuse_linear_relu": text_of("fuse_linear_relu", "a new graph, copied node by node"),
}

PARTIAL = {
    "fuse_addcmul": text_of("fuse_addcmul", "alpha becomes value"),
    "fuse_linear_relu": text_of("fuse_linear_relu", "F.relu6 counts as ReLU"),
}
PARTIAL_EARNS = {
    "fuse_addcmul": all_but("fuse_addcmul", "stays"),
    "fuse_linear_relu": all_but("fuse_linear_relu", "types"),
}

PASS = "from torch import fx\n\ndef {name}(model, *others, **more):\n    {body}"
KINDS = {
    "fuse_addcmul": "return fx.symbolic_trace(model).graph",
    "fuse_linear_relu": "fx.symbolic_trace(model)",
}
KIND = {name: PASS.format(name=name, body=body) for name, body in KINDS.items()}
ERRORS = {
    "fuse_addcmul": "return model.graph",
    "fuse_linear_relu": "raise SystemExit(2)",
}
RAISES = {name: PASS.format(name=name, body=body) for name, body in ERRORS.items()}

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
            "fuse_addcmul": fitted_to_graphs(
                "fuse_addcmul", "a new graph, copied node by node", "model"
            )
        },
        # The redraws are of graphs that the check cell tries; a student's random models are not.
        earns={"fuse_addcmul": all_but("fuse_addcmul", RANDOM.key)},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
    mishaps.endless_answer(CHAPTER, RIGHT, "fuse_linear_relu"),
)
