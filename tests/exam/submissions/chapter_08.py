"""What the class hands in of chapter 08."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted, text_of

CHAPTER = "08_limits"

RIGHT = {
    "LeafTracer": text_of("LeafTracer", "both kept, one method"),
    "fresh_noise": text_of("fresh_noise", "randn_like"),
    "dropout_that_listens": text_of("dropout_that_listens", "rewired and erased"),
    "keep_dynamic": text_of("keep_dynamic", "traced again with one leaf more"),
}
OTHERS = {
    "LeafTracer": text_of("LeafTracer", "a list of questions"),
    "fresh_noise": text_of("fresh_noise", "drawn in place, into a new tensor"),
    "dropout_that_listens": text_of("dropout_that_listens", "a list of modules"),
    "keep_dynamic": text_of("keep_dynamic", "nodes of a failed attempt are erased"),
}

PARTIAL = {
    "LeafTracer": text_of("LeafTracer", "names are crossed off"),
    "fresh_noise": text_of("fresh_noise", "the dtype forgotten"),
    "dropout_that_listens": text_of("dropout_that_listens", "the part's mode"),
    "keep_dynamic": text_of("keep_dynamic", "the root's exception in another one"),
}
PARTIAL_EARNS = {
    "LeafTracer": all_but("LeafTracer", "state"),
    "fresh_noise": all_but("fresh_noise", "dtypes"),
    "dropout_that_listens": all_but("dropout_that_listens", "mode"),
    "keep_dynamic": all_but("keep_dynamic", "root"),
}

KIND = {
    "LeafTracer": "def LeafTracer(leaf_types=(), leaf_names=()):\n    return None",
    "fresh_noise": "def fresh_noise(x):\n    return 1.0",
    "dropout_that_listens": "def dropout_that_listens(model):\n    return model",
    "keep_dynamic": "def keep_dynamic(model):\n    return [model]",
}
RAISES = {
    "LeafTracer": "from torch import fx\n\nclass LeafTracer(fx.Tracer):\n"
    "    def __init__(self, leaf_types=(), leaf_names=()):\n        raise ValueError('no')",
    "fresh_noise": "def fresh_noise(x):\n    raise ValueError('no')",
    "dropout_that_listens": "def dropout_that_listens(model):\n    return model.dropouts",
    "keep_dynamic": "def keep_dynamic(model):\n    return keep_dynamic(model)",
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
        {"dropout_that_listens": fitted("dropout_that_listens", "rewired and erased", "model")},
        earns={"dropout_that_listens": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
