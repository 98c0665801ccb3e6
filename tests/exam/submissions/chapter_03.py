"""What the class hands in of chapter 03."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted, text_of

CHAPTER = "03_manipulation"

RIGHT = {
    "retarget": text_of("retarget", "new nodes, then erased"),
    "add_to_mul": text_of("add_to_mul", "operands exchanged"),
    "relu_after_add": text_of("relu_after_add", "a new graph, the relu by keyword"),
    "relu_to_gelu": text_of("relu_to_gelu", "one nn.GELU for all"),
    "remove_dropout": text_of("remove_dropout", "a chain followed to its end"),
}
OTHERS = {
    "retarget": text_of("retarget", "a Transformer that keeps names"),
    "add_to_mul": text_of("add_to_mul", "a Tracer that records products"),
    "relu_after_add": text_of("relu_after_add", "sums copied, the old ones become relus"),
    "relu_to_gelu": text_of("relu_to_gelu", "modules replaced in a deep copy"),
    "remove_dropout": text_of("remove_dropout", "a Tracer for which dropouts do nothing"),
}


def few(*names: str) -> dict[str, str]:
    """Some of the right answers, which is enough for a mishap: the first, the last, and these."""
    kept = ("retarget", *names, "remove_dropout")
    return {name: text for name, text in OTHERS.items() if name in kept}


PARTIAL = {
    "retarget": text_of("retarget", "keyword arguments dropped"),
    "add_to_mul": text_of("add_to_mul", "alpha ignored"),
    "relu_after_add": text_of("relu_after_add", "the in-place operator too"),
    "relu_to_gelu": text_of("relu_to_gelu", "only the first call of a module"),
    "remove_dropout": text_of("remove_dropout", "siblings of F.dropout forgotten"),
}
PARTIAL_EARNS = {
    "retarget": all_but("retarget", "arguments"),
    "add_to_mul": all_but("add_to_mul", "alpha"),
    "relu_after_add": all_but("relu_after_add", "others"),
    "relu_to_gelu": all_but("relu_to_gelu", "shared"),  # that is where modules are called twice
    "remove_dropout": all_but("remove_dropout", "function"),
}

PASS = "from torch import fx\n\ndef {name}(model, *others):\n    {body}"
KINDS = {
    "retarget": "return fx.symbolic_trace(model).graph",
    "add_to_mul": "fx.symbolic_trace(model).recompile()",
    "relu_after_add": "return fx.symbolic_trace(model).code",
    "relu_to_gelu": "return model",
    "remove_dropout": "return list(fx.symbolic_trace(model).graph.nodes)",
}
KIND = {name: PASS.format(name=name, body=body) for name, body in KINDS.items()}
ERRORS = {
    "retarget": "return fx.symbolic_trace(model.graph)",
    "add_to_mul": "return fx.symbolic_trace(model).graph.replace_all('add', 'mul')",
    "relu_after_add": "return [n for n in fx.symbolic_trace(model).graph.nodes][10_000]",
    "relu_to_gelu": "raise ValueError('no relu')",
    "remove_dropout": "raise SystemExit(1)",
}
RAISES = {name: PASS.format(name=name, body=body) for name, body in ERRORS.items()}

UNCHANGED = "fx.symbolic_trace(model)"

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission("dan", CHAPTER, "right in part", PARTIAL, earns=PARTIAL_EARNS),
    Submission(
        "eva",
        CHAPTER,
        "fitted to the visible cases",
        {
            "add_to_mul": fitted("add_to_mul", "targets edited in place", UNCHANGED),
            "relu_after_add": fitted("relu_after_add", "a callback leaves the relu out", UNCHANGED),
        },
        # Redraws with models that are not shown: of add_to_mul's first aspect, so that nothing
        # is left; and of two aspects of relu_after_add.
        earns={
            "add_to_mul": NOTHING,
            "relu_after_add": all_but("relu_after_add", "every", "others"),
        },
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
    mishaps.endless_answer(CHAPTER, few("relu_after_add"), "relu_after_add"),
    mishaps.killed(CHAPTER, few("relu_to_gelu"), "relu_to_gelu", "ctypes.string_at(0)"),
    mishaps.killer(CHAPTER, few(), "remove_dropout", "os.abort()"),
    mishaps.flood(CHAPTER, few("add_to_mul"), "add_to_mul"),
    mishaps.stderr(CHAPTER, few("relu_to_gelu"), "relu_to_gelu"),
    mishaps.deleted_checks(CHAPTER, few("relu_to_gelu"), *OTHERS),
    mishaps.duplicated_checks(CHAPTER, few(), "remove_dropout", "retarget"),
    mishaps.edited_check(CHAPTER, few("relu_to_gelu"), "remove_dropout"),
    mishaps.duplicated_answers(CHAPTER, few("relu_to_gelu"), "relu_to_gelu", "retarget"),
    mishaps.split_cells(CHAPTER, few("relu_after_add"), "relu_after_add"),
    mishaps.below(CHAPTER, few("add_to_mul"), "add_to_mul"),
)
