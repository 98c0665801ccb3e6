"""The answer key of `forward_backward_ops`: two tables, and an unchanged model."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Stage,
    caller_untouched,
    difference,
    kind_of,
    rule,
    show,
    unrecorded,
)


def _table(data: Encoded) -> dict[str, Encoded]:
    return {show(key).strip("'"): value for key, value in data["dict"]}


def _said(evidence: Evidence) -> dict[str, Encoded]:
    return _table(evidence.outcome.runs[0]["forward"]["value"])


@rule("two counters", Stage.KIND)
def two_counters(evidence: Evidence) -> Iterable[Finding]:
    """The answer must return a tuple of two dictionaries."""
    value = _said(evidence)["result"]
    items = value.get("tuple") if isinstance(value, dict) else None
    if items is None:
        yield evidence.finding(
            "returned-none" if value is None else "wrong-kind",
            f"{evidence.you} returned {kind_of(value)}, not a tuple of two counters.",
            "Does every path through your function end with `return forward, backward`?",
        )
        return
    odd = [item for item in items if not (isinstance(item, dict) and "dict" in item)]
    if len(items) != 2 or odd:
        what = f"a tuple with {kind_of(odd[0])}" if odd else f"a tuple of {len(items)}"
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} returned {what}, not a tuple of two counters.",
            "One `Counter` for the forward graph, then one for the backward graph.",
        )


@rule("gradients and needs", Stage.CALLER)
def gradients_and_needs(evidence: Evidence) -> Iterable[Finding]:
    """The answer must not change `.grad` or `requires_grad` of the caller's tensors."""
    said, known = _said(evidence), _table(evidence.reference.runs[0]["value"])
    before, now = _table(said["before"]), _table(said["now"])
    tensors = evidence.outcome.tensors
    if difference(said["before"], tensors, known["before"], evidence.reference.tensors):
        yield unrecorded(evidence)
        return
    for name in before:
        if name not in now:
            yield evidence.finding(
                "caller-changed",
                f"{evidence.you} changed what it was given: `{name}` is gone.",
                "Work on a copy, and leave the model as it is.",
            )
            return
        (needs, grad), (needs_now, grad_now) = before[name]["tuple"], now[name]["tuple"]
        if needs != needs_now:
            text = f"`requires_grad` of `{name}` was {needs}, and is {needs_now}"
            advice = "Which line of yours says what needs a gradient, and for whose tensors?"
        elif difference(grad_now, tensors, grad, tensors):
            was = "`None`" if grad is None else "a tensor"
            text = f"`.grad` of `{name}` was {was} before, and is "
            text += "`None` now" if grad_now is None else "another one now"
            advice = (
                "A backward adds to `.grad` of each parameter that took part. Whose parameters "
                "took part in yours?"
            )
        else:
            continue
        yield evidence.finding(
            "gradient-left",
            f"{evidence.you} changed what it was given: {text}.",
            advice,
        )
        return


_SIDES = ("forward", "backward")
_LOOK = {
    "forward": "Print the graph that the forward compiler is given, and count by hand.",
    "backward": "The backward compiler is called late. Print the graph that it is given, and "
    "count by hand.",
}


@rule("operators counted", Stage.RESULT)
def operators_counted(evidence: Evidence) -> Iterable[Finding]:
    """The keys must be exactly the ATen overloads of each graph, and the values their counts."""
    known = _table(evidence.reference.runs[0]["value"])["result"]["tuple"]
    for side, got, want in zip(_SIDES, _said(evidence)["result"]["tuple"], known, strict=True):
        ours, theirs = _table(got), _table(want)
        ours = {key: number for key, number in ours.items() if number != 0}
        if theirs and not ours:
            yield evidence.finding(
                "missing-graph", f"Your counter for the {side} graph is empty.", _LOOK[side]
            )
            return
        extra = [key for key in ours if key not in theirs]
        missing = [key for key in theirs if key not in ours]
        if extra:
            yield evidence.finding(
                "extra-key",
                f"Your counter for the {side} graph has a key '{extra[0][:100]}', which is no ATen "
                "operator of that graph.",
                _LOOK[side],
            )
            return
        if missing:
            yield evidence.finding(
                "missing-operator",
                f"Your counter for the {side} graph has no key '{missing[0]}', which that graph "
                "calls.",
                _LOOK[side],
            )
            return
        for key, number in theirs.items():
            if type(ours[key]) is not int or ours[key] != number:
                yield evidence.finding(
                    "wrong-count",
                    f"For the {side} graph you have {show(ours[key])} under '{key}', not {number}.",
                    _LOOK[side],
                )
                return


_READ_LATER = "what counts operators reads two tables, so this says first that there are two"

KEY = AnswerKey(
    (two_counters.because(_READ_LATER), caller_untouched, gradients_and_needs, operators_counted)
)
