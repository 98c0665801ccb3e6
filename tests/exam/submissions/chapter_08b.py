"""What the class hands in of the deep dive 08b."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "08b_shapes"

RIGHT = text_of("MetaTracer", "the graph so far is run when a question comes")
OTHER = text_of("MetaTracer", "fake tensors, kept in the meta of nodes")
PARTIAL = RIGHT.replace("self.assumed = list(dict.fromkeys([*self.assumed, node.name]))",
                        "self.assumed = [*self.assumed, node.name]")  # fmt: skip
KIND = "class MetaTracer:\n    def __init__(self, **examples):\n        self.assumed = []"
RAISES = (
    "class MetaTracer(fx.Tracer):\n    def __init__(self, **examples):\n"
    "        super().__init__(examples)\n"
)

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", {"MetaTracer": RIGHT}),
    Submission("bert", CHAPTER, "all right, in another way", {"MetaTracer": OTHER}),
    mishaps.untouched(CHAPTER),
    Submission(
        "dan", CHAPTER, "right in part", {"MetaTracer": PARTIAL},
        earns={"MetaTracer": all_but("MetaTracer", "assumed")},
    ),
    Submission(
        "finn", CHAPTER, "wrong kinds", {"MetaTracer": KIND}, earns={"MetaTracer": NOTHING}
    ),
    Submission(
        "gina", CHAPTER, "exceptions", {"MetaTracer": RAISES}, earns={"MetaTracer": NOTHING}
    ),
)  # fmt: skip
