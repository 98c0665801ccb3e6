"""What the class hands in of chapter 05."""

from __future__ import annotations

from autograder.core.exercise import RANDOM
from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted_to_graphs, text_of

CHAPTER = "05_proxy"

RIGHT = {
    "build_with_proxies": text_of("build_with_proxies", "operators and methods, dim by keyword"),
    "decompose": text_of("decompose", "a Transformer"),
    "decomposition_rules": text_of("decomposition_rules", "clamp, sigmoid, amax"),
}
OTHERS = {
    "build_with_proxies": text_of("build_with_proxies", "the tracer makes every Proxy"),
    "decompose": text_of("decompose", "an Interpreter on Proxies"),
    "decomposition_rules": text_of("decomposition_rules", "maximum with zeros, any keywords"),
}

PARTIAL = {
    "decompose": text_of("decompose", "lists are not looked into"),
    "decomposition_rules": text_of("decomposition_rules", "relu by where loses NaN"),
}
PARTIAL_EARNS = {
    "decompose": all_but("decompose", "arguments"),
    "decomposition_rules": all_but("decomposition_rules", "relu"),
}

ANSWER = "from torch import fx\n\ndef {name}(*args):\n    {body}"
KINDS = {
    "build_with_proxies": "return fx.Graph()",
    "decompose": "return args[0]",
    "decomposition_rules": "return ['relu', 'silu', 'softmax']",
}
KIND = {name: ANSWER.format(name=name, body=body) for name, body in KINDS.items()}
ERRORS = {
    "build_with_proxies": "return fx.Proxy(None, None)",
    "decompose": "return fx.symbolic_trace(args[0]).graph.decompose(args[1])",
    "decomposition_rules": "raise SystemExit(3)",
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
        {"decompose": fitted_to_graphs("decompose", "a Transformer", "model")},
        # The redraws are of graphs that the check cell tries; a student's random models are not.
        earns={"decompose": all_but("decompose", RANDOM.key)},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
    mishaps.killed_in_answer_cell(CHAPTER, RIGHT, "decomposition_rules"),
)
