"""What the class hands in of chapter 04."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted_to_graphs, text_of

CHAPTER = "04_replace_pattern"

RIGHT = {
    "count_matches": text_of("count_matches", "a copy of the model is traced"),
    "to_hardswish": text_of("to_hardswish", "a loop over the nodes"),
    "replace_until_done": text_of("replace_until_done", "while and walrus"),
}
OTHERS = {
    "count_matches": text_of("count_matches", "a filter that refuses and counts"),
    "to_hardswish": text_of("to_hardswish", "one pattern with wildcards, and a filter"),
    "replace_until_done": text_of("replace_until_done", "recursive"),
}

PARTIAL = {
    "count_matches": text_of("count_matches", "numbers are not compared"),
    "to_hardswish": text_of("to_hardswish", "only ints"),
    "replace_until_done": text_of("replace_until_done", "at the limit it returns what it has"),
}
PARTIAL_EARNS = {
    "count_matches": all_but("count_matches", "rules"),
    "to_hardswish": all_but("to_hardswish", "forms"),
    "replace_until_done": all_but("replace_until_done", "limit"),
}

PASS = "from torch import fx\n\ndef {name}(model, *others, **more):\n    {body}"
KINDS = {
    "count_matches": "return []",
    "to_hardswish": "return model",
    "replace_until_done": "return fx.symbolic_trace(model)",
}
KIND = {name: PASS.format(name=name, body=body) for name, body in KINDS.items()}
ERRORS = {
    "count_matches": "return len(fx.replace_patterns(model, *others))",
    "to_hardswish": "raise RuntimeError('no match')",
    "replace_until_done": "return fx.replace_pattern(model, *others)",
}
RAISES = {name: PASS.format(name=name, body=body) for name, body in ERRORS.items()}

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission("dan", CHAPTER, "right in part", PARTIAL, earns=PARTIAL_EARNS),
    Submission(
        "eva",
        CHAPTER,
        "fitted to the visible cases",
        {"count_matches": fitted_to_graphs("count_matches", "a copy of the model is traced", "0")},
        # Two of the redraws are graphs that the check cell does not try.
        earns={"count_matches": all_but("count_matches", "rules", "caller")},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
    mishaps.endless_answer(CHAPTER, RIGHT, "count_matches"),
)
