"""What the class hands in of chapter 09b."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, mishaps
from tests.exam.submissions.edits import add
from tests.exam.submissions.exam import text_of

CHAPTER = "09b_duels"

RIGHT = {
    "WitnessByName": text_of("WitnessByName", "relu6"),
    "WitnessReluRule": text_of("WitnessReluRule", "minus infinity as input"),
    "WitnessDeadCode": text_of(
        "WitnessDeadCode", "through another argument that shares its memory"
    ),
    "WitnessPlusZero": text_of("WitnessPlusZero", "in place on the difference"),
    "WitnessDoubleNegation": text_of("WitnessDoubleNegation", "in place on the input afterwards"),
    "WitnessEqualCalls": text_of("WitnessEqualCalls", "dropout twice, as a function"),
    "WitnessSharedConv": text_of("WitnessSharedConv", "a convolution called twice"),
}
OTHERS = {
    "WitnessByName": text_of(
        "WitnessByName", "drawn for each seed, two inputs, in a method of its own"
    ),
    "WitnessReluRule": text_of("WitnessReluRule", "the logarithm of zero"),
    "WitnessDeadCode": text_of("WitnessDeadCode", "a layer in place"),
    "WitnessPlusZero": text_of("WitnessPlusZero", "integers and a float"),
    "WitnessDoubleNegation": text_of("WitnessDoubleNegation", "by a keyword, in a submodule"),
    "WitnessEqualCalls": text_of("WitnessEqualCalls", "zeros of both signs, to a layer"),
    "WitnessSharedConv": text_of("WitnessSharedConv", "a linear layer, and a norm without weights"),
}
"""Each duel is won or lost: nobody is right in part."""

LOST = {
    "WitnessByName": text_of("WitnessByName", "in place, which the task does not say"),
    "WitnessReluRule": text_of("WitnessReluRule", "three calls"),
    "WitnessDeadCode": text_of("WitnessDeadCode", "a random call that PyTorch keeps"),
    "WitnessPlusZero": text_of("WitnessPlusZero", "only under one seed"),
    "WitnessDoubleNegation": text_of("WitnessDoubleNegation", "in place only in a trace"),
    "WitnessSharedConv": text_of("WitnessSharedConv", "a new norm changes hardly anything"),
}
KIND = {
    "WitnessByName": "def WitnessByName():\n    return torch.relu",
    "WitnessReluRule": "class WitnessReluRule:\n    inputs = (torch.ones(2),)",
    "WitnessDeadCode": "class WitnessDeadCode(nn.Module):\n    inputs = (torch.ones(2))",
    "WitnessPlusZero": text_of("WitnessPlusZero", "the inputs are one tensor"),
    "WitnessDoubleNegation": "class WitnessDoubleNegation(nn.Module):\n    inputs = ()",
    "WitnessEqualCalls": text_of("WitnessEqualCalls", "no inputs"),
    "WitnessSharedConv": "WitnessSharedConv = nn.Sequential(nn.Conv2d(1, 1, 1))",
}
CLASS = "class {}(nn.Module):\n    inputs = (torch.ones(2),)\n\n    def {}\n        {}"
RAISES = {
    "WitnessByName": CLASS.format("WitnessByName", "forward(self, x):", "raise SystemExit"),
    "WitnessReluRule": CLASS.format("WitnessReluRule", "__init__(self):", "self.x = 1 / 0"),
    "WitnessDeadCode": CLASS.format("WitnessDeadCode", "forward(self, x):", "return x.no()"),
    "WitnessPlusZero": CLASS.format("WitnessPlusZero", "forward(self):", "return 1"),
    "WitnessDoubleNegation": CLASS.format(
        "WitnessDoubleNegation", "forward(self, x):", "return x if x.sum() else -x"
    ),
    "WitnessEqualCalls": CLASS.format("WitnessEqualCalls", "__init__(self):", "raise KeyError"),
    "WitnessSharedConv": CLASS.format(
        "WitnessSharedConv", "forward(self, x):", "return self.forward(x)"
    ),
}

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission(
        "dan", CHAPTER, "models that convict nobody", LOST, earns=dict.fromkeys(LOST, NOTHING)
    ),
    Submission(  # there is nothing to be fitted to: all that is tried is known
        "eva", CHAPTER, "plays with the suspects", edits=(add("sorted(suspects.__all__)"),)
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
