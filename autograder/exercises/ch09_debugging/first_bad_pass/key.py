"""The answer key of `first_bad_pass`: an index or `None`."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from torch import nn

from autograder.authoring.key import (
    AdviceRow,
    AnswerKey,
    Evidence,
    Finding,
    Stage,
    answer_of,
    kind_of,
    rule,
)
from autograder.exercises.ch09_debugging.keys import Made, first_difference


def culprit(model: nn.Module, passes: list[Any], make_inputs: Made) -> tuple[int, str] | None:
    """The index of the first bad pass, and a clause that says what it changes."""
    given, current = copy.deepcopy(model), copy.deepcopy(model)
    for index, each in enumerate(passes):
        try:
            current = each(current)
        except Exception as error:
            return index, f"it raises {type(error).__name__}"
        found = first_difference(given, current, make_inputs, 1, (False,))
        if found:
            return index, f"after it, {found}"
    return None


@rule("an index or None", Stage.KIND)
def an_index_or_none(evidence: Evidence) -> Iterable[Finding]:
    """The result must be an `int` or `None`."""
    value = evidence.outcome.value
    if value is not None and type(value) is not int:
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} returned {kind_of(value)}, not an index or `None`.",
            "`enumerate` gives the index together with the pass.",
        )


@rule("the first bad pass", Stage.RESULT)
def the_first_bad_pass(evidence: Evidence) -> Iterable[Finding]:
    """The index must be the one of the pass that broke the model."""
    got: Any = evidence.outcome.value
    want: Any = evidence.reference.value
    if got == want:
        return
    trial = evidence.trial
    names = [each.__name__ for each in trial.args[1]]
    listed = ", ".join(f"`{name}`" for name in names) or "none at all"
    if want is None:
        yield evidence.finding(
            "false-alarm",
            f"{evidence.you} returned {got}, but after each of the passes ({listed}) the model "
            "still does the same in eval mode.",
            "Print the two results that your comparison finds different. In which mode is each "
            "module?"
            if got in range(len(names))
            else "If no pass is bad, return `None`.",
        )
        return
    found = culprit(*trial.args)
    what = found[1] if found else ""
    said = f"the passes are {listed}, and `{names[want]}`, index {want}, is the first: {what}"
    code = "missed" if got is None else "wrong-index"
    yield evidence.finding(
        code,
        f"{evidence.you} returned {got}, but {said}.",
        "What is each pass given, and what is its result compared with? Has a pass changed that, "
        "too?",
    )


def index_of_it(*args: Any) -> int | None:
    """Compute the right answer of `first_bad_pass`."""
    found = culprit(*args)
    return None if found is None else found[0]


ADVICE = (
    AdviceRow(
        ("Exception",),
        r"^(?:'no such node'|)$",
        "If it is a pass of the list that raises here: "
        "what does that say about the pass, by the card?",
        where="call",
    ),
)

KEY = AnswerKey(
    (
        an_index_or_none.because("names the kind that came back, before numbers are compared"),
        the_first_bad_pass,
    ),
    answer_of(index_of_it),
    advice=ADVICE,
)
