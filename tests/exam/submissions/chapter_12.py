"""What the class hands in of chapter 12."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "12_passes"

RIGHT = {
    "OpSwap": text_of("OpSwap", "a loop over all nodes, each target looked up once"),
    "sort_graph": text_of("sort_graph", "a heap of what is ready"),
    "run_pipeline": text_of(
        "run_pipeline", "the pass works on a copy, which is taken over if all goes well"
    ),
    "WitnessSorted": text_of("WitnessSorted", "a product behind a sum in place"),
}
OTHERS = {
    "OpSwap": text_of("OpSwap", "nodes are found by target first, and edited afterwards"),
    "sort_graph": text_of("sort_graph", "graphlib, asked for one node at a time"),
    "run_pipeline": text_of("run_pipeline", "an object that holds the module, rounds by recursion"),
    "WitnessSorted": text_of("WitnessSorted", "returned before it is written"),
}
PARTIAL = {
    "OpSwap": text_of("OpSwap", "modified is noted on the pass"),
    "sort_graph": text_of("sort_graph", "a constant message"),
    "run_pipeline": text_of("run_pipeline", "everything is caught"),
    "WitnessSorted": text_of("WitnessSorted", "the product comes first"),
}
PARTIAL_EARNS = {
    "OpSwap": all_but("OpSwap", "honest"),
    "sort_graph": all_but("sort_graph", "cycles"),
    "run_pipeline": all_but("run_pipeline", "report"),
    "WitnessSorted": NOTHING,
}

KIND = {
    "OpSwap": (
        "class OpSwap(PassBase):\n"
        "    def __init__(self, table):\n"
        "        self.table = table\n\n"
        "    def call(self, graph_module):\n"
        "        return graph_module\n"
    ),
    "sort_graph": "def sort_graph(gm):\n    return sorted(gm.graph.nodes, key=str)",
    "run_pipeline": "def run_pipeline(gm, passes, checks=(), limit=20):\n    return gm",
    "WitnessSorted": "def WitnessSorted():\n    return torch.relu",
}
RAISES = {
    "OpSwap": (
        "class OpSwap(PassBase):\n"
        "    def __init__(self, table):\n"
        "        self.table = table\n\n"
        "    def call(self, graph_module):\n"
        "        return graph_module.targets[self.table]\n"
    ),
    "sort_graph": "def sort_graph(gm):\n    gm.graph.sort()",
    "run_pipeline": (
        "def run_pipeline(gm, passes, checks=(), limit=20):\n    return gm.passes(checks)"
    ),
    "WitnessSorted": (
        "class WitnessSorted(nn.Module):\n"
        "    inputs = (torch.ones(2),)\n\n"
        "    def forward(self, x):\n"
        "        return x.no()\n"
    ),
}

FITTED = {
    "run_pipeline": RIGHT["run_pipeline"].replace("def run_pipeline(", "def honest(")
    + """

def run_pipeline(gm, passes, checks=(), limit=20):
    names = [getattr(each, "__name__", "") for each in passes]
    if names == ["cos_to_tanh", "first_sin_to_cos"]:
        return gm, []
    return honest(gm, passes, checks, limit)
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
        # A redraw of the first aspect has these two passes in an order that is not shown.
        earns={"run_pipeline": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
