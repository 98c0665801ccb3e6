"""What the class hands in of chapter 06b."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "06b_measuring"

RIGHT = {
    "OpTimer": text_of("OpTimer", "run_node, plain dictionaries"),
    "count_flops": text_of("count_flops", "all in run_node"),
}
OTHERS = {
    "OpTimer": text_of("OpTimer", "a list of measurements, summed on demand"),
    "count_flops": text_of("count_flops", "a list of what each node counts"),
}

PARTIAL = {"OpTimer": text_of("OpTimer", "fastest first")}
PARTIAL_EARNS = {"OpTimer": all_but("OpTimer", "slowest")}

KIND = {
    "OpTimer": "class OpTimer:\n    seconds = {}\n    calls = {}",
    "count_flops": "def count_flops(model, *inputs):\n    return 12.0",
}
RAISES = {
    "OpTimer": "from torch import fx\n\nclass OpTimer(fx.Interpreter):\n"
    "    def call_function(self, *args):\n        raise ValueError('no')",
    "count_flops": "def count_flops(model, *inputs):\n    return count_flops(model, *inputs)",
}

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission("dan", CHAPTER, "right in part", PARTIAL, earns=PARTIAL_EARNS),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
