"""The answer key of `count_ops`: six keys, each with its number of nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from torch import nn

from autograder.authoring.key import (
    AnswerKey,
    Evidence,
    Finding,
    Stage,
    answer_of,
    caller_untouched,
    nodes_made,
    returns,
    rule,
    show,
)

_COUNT = "Trace the model, print the graph of the trace with `print_tabular` and count its rows."
_LATER = (
    "This dictionary was looked at after your function had been given another model, too. Does "
    "each call make a dictionary of its own?"
)


@rule("right counts", Stage.RESULT)
def right_counts(evidence: Evidence) -> Iterable[Finding]:
    """The dictionary has six keys, each with its number of nodes."""
    got = {show(key): value for key, value in evidence.outcome.value["dict"]}
    want = {show(key): value for key, value in evidence.reference.value["dict"]}
    missing = [key for key in want if key not in got]
    extra = [key for key in got if key not in want]
    if extra:
        yield evidence.finding(
            "extra-key",
            f"Your dictionary has a key {extra[0]}, which is not an opcode.",
            "The keys are the six opcodes, spelled as `node.op` gives them.",
        )
    if missing:
        yield evidence.finding(
            "missing-opcode",
            f"Your dictionary has no key {', '.join(missing)}.",
            "This trace has such a node. Which nodes does your loop reach?"
            if want[missing[0]]
            else "An opcode that the model does not use is a key, too.",
        )
    for key, number in want.items():
        if key in got and (type(got[key]) is not int or got[key] != number):
            yield evidence.finding(
                "wrong-count",
                f"Under {key} you have {show(got[key])}; the number of such nodes in this trace "
                f"is {number}.",
                _LATER if evidence.trial.meanwhile is not None else _COUNT,
            )
            return


OPCODES = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")


def counted(model: nn.Module) -> dict[str, int]:
    """The number of nodes of a fresh trace, by opcode."""
    counts = Counter(node.op for node in nodes_made(model))
    return {op: counts[op] for op in OPCODES}


KEY = AnswerKey(
    (
        returns("dict").because("names the kind that came back, before anything is counted"),
        caller_untouched,
        right_counts,
    ),
    answer_of(counted),
)
