"""What the class hands in of the deep dive of chapter 11."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "11b_aten"

RIGHT = {
    "add_output": text_of("add_output", "a deep copy, edited in four places"),
    "remove_noop_views": text_of("remove_noop_views", "two passes forwards, one backwards"),
    "forward_backward_ops": text_of("forward_backward_ops", "torch.compile of a copy"),
}
OTHERS = {
    "add_output": text_of("add_output", "a new program from all parts of the old one"),
    "remove_noop_views": text_of("remove_noop_views", "a new graph, copied node by node"),
    "forward_backward_ops": text_of("forward_backward_ops", "aot_module, without Dynamo"),
}
PARTIAL = {
    "add_output": text_of("add_output", "placeholders are values, too"),
    "remove_noop_views": text_of("remove_noop_views", "sizes are compared by their hints"),
    "forward_backward_ops": text_of("forward_backward_ops", "gradients are set to None"),
}
PARTIAL_EARNS = {
    "add_output": all_but("add_output", "refused"),
    "remove_noop_views": all_but("remove_noop_views", "symbolic"),
    "forward_backward_ops": all_but("forward_backward_ops", "left"),
}

KIND = {
    "add_output": "def add_output(ep, name):\n    return ep.graph_module",
    "remove_noop_views": "def remove_noop_views(gm):\n    return gm",
    "forward_backward_ops": "def forward_backward_ops(model, args):\n    return 3, 4",
}
RAISES = {
    "add_output": "def add_output(ep, name):\n    return ep.get_node(name)",
    "remove_noop_views": "def remove_noop_views(gm):\n    return gm.graph.views",
    "forward_backward_ops": "def forward_backward_ops(model, args):\n    return model.backward",
}

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
