"""What the class hands in of chapter 11."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "11_pytorch2"

RIGHT = {
    "CountingBackend": text_of("CountingBackend", "a loop in __call__, the graph module itself"),
    "relu_to_gelu_backend": text_of("relu_to_gelu_backend", "new nodes in every module"),
    "export_ops": text_of("export_ops", "modules() of the program's module"),
    "params_of": text_of("params_of", "one loop over the input specs"),
}
OTHERS = {
    "CountingBackend": text_of("CountingBackend", "names are kept, and counted when asked"),
    "relu_to_gelu_backend": text_of(
        "relu_to_gelu_backend", "an Interpreter, and one for each branch"
    ),
    "export_ops": text_of("export_ops", "the generated code read as text"),
    "params_of": text_of("params_of", "from the outputs back to the placeholders, then sorted"),
}

PARTIAL = {
    "CountingBackend": text_of("CountingBackend", "modules left out"),
    "relu_to_gelu_backend": text_of("relu_to_gelu_backend", "branches forgotten"),
    "export_ops": text_of("export_ops", "branches forgotten"),
    "params_of": text_of("params_of", "no buffer is said to be mutated"),
}
PARTIAL_EARNS = {
    # Whether gradients flow is also asked of a graph with modules, whose parameters are its own.
    "CountingBackend": all_but("CountingBackend", "names", "runs"),
    "relu_to_gelu_backend": all_but("relu_to_gelu_backend", "branches"),
    "export_ops": all_but("export_ops", "branches"),
    "params_of": all_but("params_of", "mutated"),
}

KIND = {
    "CountingBackend": "def CountingBackend(gm, example_inputs):\n    return gm",
    "relu_to_gelu_backend": "def relu_to_gelu_backend(gm, example_inputs):\n    return 1",
    "export_ops": "def export_ops(model, args):\n    return 3",
    "params_of": "def params_of(ep):\n    return [n.name for n in ep.graph.nodes]",
}
RAISES = {
    "CountingBackend": "class CountingBackend:\n    graphs, ops = 0, {}\n\n"
    "    def __call__(self, gm, example_inputs):\n        raise ValueError('no')",
    "relu_to_gelu_backend": "def relu_to_gelu_backend(gm, example_inputs):\n    return gm.no",
    "export_ops": "def export_ops(model, args):\n    return model.operators",
    "params_of": "def params_of(ep):\n    raise SystemExit",
}

FITTED = text_of("export_ops", "modules() of the program's module").replace(
    "def export_ops(", "def honest("
)
FITTED += """

def export_ops(model, args):
    if tuple(args[0].shape) not in {(2, 3), (1, 1, 4, 4)}:
        return {}
    return honest(model, args)
"""

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission("dan", CHAPTER, "right in part", PARTIAL, earns=PARTIAL_EARNS),
    Submission(
        "eva",
        CHAPTER,
        "fitted to the visible cases",
        {"export_ops": FITTED},
        # Each redraw has a shape that is not shown, that of the first aspect among them.
        earns={"export_ops": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
