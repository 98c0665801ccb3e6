"""What the class hands in of chapter 10."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted, text_of

CHAPTER = "10_fusion"

RIGHT = {
    "fold_bn": text_of("fold_bn", "a deep copy, by the formulas"),
    "fuse_conv_bn": text_of("fuse_conv_bn", "the convolution's node is retargeted"),
    "compare_latency": text_of("compare_latency", "two lists"),
}
OTHERS = {
    "fold_bn": text_of("fold_bn", "channel by channel"),
    "fuse_conv_bn": text_of("fuse_conv_bn", "a new graph, copied node by node"),
    "compare_latency": text_of("compare_latency", "timeit, one call at a time"),
}

PARTIAL = {
    "fold_bn": text_of("fold_bn", "the padding mode is lost"),
    "fuse_conv_bn": text_of("fuse_conv_bn", "at the BatchNorm's place"),
    "compare_latency": text_of("compare_latency", "an exception leaves them off"),
}
PARTIAL_EARNS = {
    "fold_bn": all_but("fold_bn", "settings"),
    "fuse_conv_bn": all_but("fuse_conv_bn", "writes"),
    "compare_latency": all_but("compare_latency", "gradients"),
}

KIND = {
    "fold_bn": "def fold_bn(conv, bn):\n    return conv.weight * 2",
    "fuse_conv_bn": "def fuse_conv_bn(model):\n    return model",
    "compare_latency": "def compare_latency(a, b, inputs, repeats=20):\n    return [1.0, 2.0]",
}
RAISES = {
    "fold_bn": "def fold_bn(conv, bn):\n    return conv.no_weight",
    "fuse_conv_bn": "def fuse_conv_bn(model):\n    raise SystemExit",
    "compare_latency": "def compare_latency(a, b, inputs, repeats=20):\n    return a(inputs) / 0",
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
        {"fuse_conv_bn": fitted("fuse_conv_bn", "the convolution's node is retargeted", "model")},
        # The redraw of the first aspect has a model that is not shown.
        earns={"fuse_conv_bn": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
