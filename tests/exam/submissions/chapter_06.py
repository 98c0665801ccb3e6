"""What the class hands in of chapter 06."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted, text_of

CHAPTER = "06_interpreter"

RIGHT = {
    "NegSigmSwap": text_of("NegSigmSwap", "a table for each handler"),
    "record_shapes": text_of("record_shapes", "a loop of our own; *args as a tuple"),
    "first_nonfinite": text_of("first_nonfinite", "the definition, word by word"),
    "AddToMul": text_of("AddToMul", "every handler notes the current node"),
}
OTHERS = {
    "NegSigmSwap": text_of("NegSigmSwap", "nodes examined in run_node"),
    "record_shapes": text_of("record_shapes", "every handler overridden"),
    "first_nonfinite": text_of("first_nonfinite", "an exception ends the run"),
    "AddToMul": text_of("AddToMul", "operations called on Proxies"),
}

PARTIAL = {
    "NegSigmSwap": text_of("NegSigmSwap", "Sigmoid modules are swapped, too"),
    "record_shapes": text_of("record_shapes", "defaults are not known"),
    "first_nonfinite": text_of("first_nonfinite", "an empty string if all is well"),
    "AddToMul": text_of("AddToMul", "placeholders lose theirs"),
}
PARTIAL_EARNS = {
    "NegSigmSwap": all_but("NegSigmSwap", "others"),
    "record_shapes": all_but("record_shapes", "inputs"),
    "first_nonfinite": all_but("first_nonfinite", "clean", "networks"),  # where all is finite
    "AddToMul": all_but("AddToMul", "meta"),
}

KIND = {
    "NegSigmSwap": "def NegSigmSwap(gm):\n    return gm",
    "record_shapes": "def record_shapes(model, *inputs):\n    return [tuple(inputs[0].shape)]",
    "first_nonfinite": "def first_nonfinite(model, *inputs):\n    return True",
    "AddToMul": "from torch import fx\n\nclass AddToMul(fx.Interpreter):\n    pass",
}
CLASS = "from torch import fx\n\nclass {name}(fx.{base}):\n    def call_function(self, *args):\n"
RAISES = {
    "NegSigmSwap": CLASS.format(name="NegSigmSwap", base="Interpreter")
    + "        return super().call_functions(*args)",
    "record_shapes": "def record_shapes(model, *inputs):\n    return model.shapes",
    "first_nonfinite": "def first_nonfinite(model, *inputs):\n    raise SystemExit",
    "AddToMul": CLASS.format(name="AddToMul", base="Transformer") + "        return self.no(*args)",
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
        {"AddToMul": fitted("AddToMul", "every handler notes the current node", "self.module")},
        # The redraws have models that are not shown, the one of the first aspect among them.
        earns={"AddToMul": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
