"""What the class hands in of chapter 01."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted, text_of

CHAPTER = "01_tracing"

RIGHT = {
    "node_table": text_of("node_table", "edges counted by hand"),
    "is_faithful": text_of("is_faithful", "copies of everything"),
    "sign_flip": text_of("sign_flip", "in place on a copy"),
}
OTHERS = {
    "node_table": text_of("node_table", "a recursive walk through the arguments"),
    "is_faithful": text_of("is_faithful", "flattened, leaf by leaf"),
    "sign_flip": text_of("sign_flip", "a factor of the same dtype"),
}

# Enough for a mishap; `is_faithful` takes the most time.
FEW = {name: text for name, text in RIGHT.items() if name != "is_faithful"}

PARTIAL = {
    "node_table": text_of("node_table", "args without kwargs"),
    "is_faithful": text_of("is_faithful", "no seed"),
    "sign_flip": text_of("sign_flip", "the sign of the sum"),
}
PARTIAL_EARNS = {
    "node_table": all_but("node_table", "inputs"),  # a node in kwargs is not counted
    "is_faithful": all_but("is_faithful", "noise"),
    "sign_flip": all_but("sign_flip", "sums"),  # a sum of zero gives zeros
}

KIND = {
    "node_table": "def node_table(model):\n    print(model)",
    "is_faithful": "def is_faithful(model, inputs):\n    return 1",
    "sign_flip": "def sign_flip(x):\n    return x.tolist()",
}
RAISES = {
    "node_table": "def node_table(model):\n    return model.graph.nodes",
    "is_faithful": "def is_faithful(model, inputs):\n    return model(inputs) == model(inputs)",
    "sign_flip": "def sign_flip(x):\n    return x.flip_sign()",
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
        # The redraw of the task itself has a model that the check cell does not show.
        {"node_table": fitted("node_table", "edges counted by hand", "[]")},
        earns={"node_table": NOTHING},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
    mishaps.endless_cell(CHAPTER, FEW, "sign_flip"),
    mishaps.killed(CHAPTER, FEW, "sign_flip", "os._exit(1)"),
    mishaps.killer(CHAPTER, FEW, "sign_flip", "os._exit(0)"),
    mishaps.flood(CHAPTER, FEW, "node_table"),
    mishaps.stderr(CHAPTER, FEW, "node_table"),
    mishaps.deleted_checks(CHAPTER, FEW, "node_table"),
    mishaps.duplicated_checks(CHAPTER, FEW, "node_table", "sign_flip"),
    mishaps.edited_check(CHAPTER, FEW, "sign_flip"),
    mishaps.raises(CHAPTER, FEW, "sign_flip"),
    mishaps.forged(CHAPTER, FEW, "sign_flip", "node_table"),
    mishaps.broken_file(CHAPTER, FEW),
)
