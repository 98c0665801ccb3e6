"""What the class hands in of chapter 13."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "13_partition"

RIGHT = {
    "peak_memory": text_of("peak_memory", "all values kept, then counted node by node"),
    "recompute": text_of("recompute", "a deep copy, edited from the last named node to the first"),
    "WitnessSplit": text_of("WitnessSplit", "a method in place, then a function"),
}
OTHERS = {
    "peak_memory": text_of("peak_memory", "counted while it runs, by readers that are left"),
    "recompute": text_of("recompute", "a new graph, copied on demand"),
    "WitnessSplit": text_of("WitnessSplit", "a layer that works in place, in a submodule"),
}
PARTIAL = {
    "peak_memory": text_of("peak_memory", "what an Interpreter still has"),
    "recompute": text_of("recompute", "any node will do"),
    "WitnessSplit": text_of("WitnessSplit", "pieces that wait for each other"),
}
PARTIAL_EARNS = {
    "peak_memory": all_but("peak_memory", "unread"),
    "recompute": all_but("recompute", "refused"),
    "WitnessSplit": NOTHING,
}

KIND = {
    "peak_memory": "def peak_memory(gm, *inputs):\n    return 'add'",
    "recompute": "def recompute(gm, names):\n    return gm.graph",
    "WitnessSplit": "def WitnessSplit():\n    return torch.relu",
}
RAISES = {
    "peak_memory": "def peak_memory(gm, *inputs):\n    return max(gm.graph.bytes)",
    "recompute": "def recompute(gm, names):\n    return gm.graph.calls[names[0]]",
    "WitnessSplit": (
        "class WitnessSplit(nn.Module):\n"
        "    inputs = (torch.ones(2),)\n\n"
        "    def forward(self, x):\n"
        "        return x.no()\n"
    ),
}

FITTED = {
    "recompute": RIGHT["recompute"].replace("def recompute(", "def honest(")
    + """

def recompute(gm, names):
    if "minimum" in [node.name for node in gm.graph.nodes] and names == ["sin"]:
        return gm
    return honest(gm, names)
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
        # A redraw of the first aspect names one value of a model in which two are shown.
        earns={"recompute": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
