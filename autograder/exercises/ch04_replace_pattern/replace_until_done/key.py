"""The answer key of `replace_until_done`: the pattern no longer matches, and the count is right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch
from torch import fx

from autograder.authoring.key import (
    AdviceRow,
    AdviceSlot,
    AnswerKey,
    Evidence,
    Finding,
    GraphRecord,
    Reference,
    ResultRecord,
    Stage,
    Trial,
    caller_untouched,
    copies,
    kind_of,
    known_targets,
    rule,
    runs,
    runs_of,
    same_result,
    signature_kept,
    target_path,
    wellformed,
)
from autograder.exercises.ch04_replace_pattern.replace_until_done.cases import Counts
from autograder.exercises.ch04_replace_pattern.replace_until_done.models import CANCEL, COLLAPSE


@rule("returns a module and a count", Stage.KIND)
def returns_module_and_count(evidence: Evidence) -> Iterable[Finding]:
    """The result is a tuple of a `GraphModule` and an `int`."""
    value = evidence.outcome.value
    if isinstance(value, dict) and "graph_module" in value and type(value.get("count")) is int:
        return
    if value is None:
        yield evidence.finding(
            "returned-none",
            f"{evidence.you} returned `None`.",
            "Does every path through your function end with `return`?",
        )
        return
    yield evidence.finding(
        "wrong-kind",
        f"{evidence.you} returned {_in_words(value)}, not a tuple of a `GraphModule` and an `int`.",
        "Return two values: first the module, then the number of replacements.",
    )


def _in_words(value: ResultRecord | Any) -> str:
    if isinstance(value, dict) and "count" in value:
        return f"a tuple whose second item is {kind_of(value['count'])}"
    if isinstance(value, dict) and "tuple" in value:
        kinds = " and ".join(_in_words(item) for item in value["tuple"])
        return f"a tuple of {kinds or 'nothing'}"
    if isinstance(value, dict) and "graph_module" in value:
        return "a `GraphModule`"
    return kind_of(value)


@rule("nothing matches", Stage.STRUCTURE)
def nothing_matches(evidence: Evidence) -> Iterable[Finding]:
    """The pattern has no match in the returned module."""
    if evidence.rebuilt is None:
        return
    left = evidence.done("matches")
    if left:
        places = "one place" if left == 1 else f"{left} places"
        yield evidence.finding(
            "still-matches",
            f"In the module that {evidence.you} returned, the pattern still matches {places}.",
            "A replacement can make a new match. Look at when your loop ends.",
        )


@rule("modes kept", Stage.STRUCTURE)
def modes_kept(evidence: Evidence) -> Iterable[Finding]:
    """The result, and each module that it calls, has the same mode as in the model."""
    want, got = _modes(evidence.traced_graph), _modes(evidence.graph)
    # A container is not called, and tracing makes a new one in training mode.
    called = (target_path(row) for row in evidence.graph["nodes"] if row["op"] == "call_module")
    for path in ("", *dict.fromkeys(called)):
        if path in want and path in got and got[path] != want[path]:
            mode = "training" if want[path] else "eval"
            what = f"The module `{path}` of the model" if path else "The model"
            yield evidence.finding(
                "mode-changed",
                f"{what} that {evidence.you} was given is in {mode} mode; in the result it is not."
                if path
                else f"{what} that {evidence.you} was given is in {mode} mode; the result is not.",
                "Modes are the caller's business: leave each part in its own.",
            )
            return


def _modes(data: GraphRecord) -> dict[str, bool]:
    """Whether each module is in training mode, by path."""
    rows = {row["path"]: row for row in data["modules"]}
    return {path: rows[row.get("same_as", path)]["training"] for path, row in rows.items()}


def _replacements(count: int) -> str:
    return f"{count} replacement" + ("" if count == 1 else "s")


@rule("right count", Stage.RESULT)
def right_count(evidence: Evidence) -> Iterable[Finding]:
    """The answer counts the replacements of all rounds."""
    got: Any = evidence.value["count"]
    want: Any = evidence.expects(Counts).count
    if want is None:  # a random model
        want = evidence.reference.value
    if got != want:
        yield evidence.finding(
            "wrong-count",
            f"{evidence.you} counts {_replacements(got)}; `replace_pattern` made {want} here.",
            "`replace_pattern` returns one match for each replacement that it made in a round.",
        )


# The function that each pattern consists of, and the calls that one replacement removes.
TAKEN = {COLLAPSE[0]: (torch.relu, 1), CANCEL[0]: (torch.neg, 2)}


def shrunk_until_done(trial: Trial) -> Reference:
    """The results of the model, and the number of replacements, from the size of its graph."""
    model, pattern, replacement, *_ = trial.args
    function, each = TAKEN[pattern]
    gm = fx.symbolic_trace(model)

    def size() -> int:
        return sum(node.target is function for node in gm.graph.nodes)

    before, last = size(), -1
    while last != size():
        last = size()
        fx.replace_pattern(gm, pattern, replacement)
    return replace(runs_of(model, trial), value=(before - last) // each)


ADVICE = (
    AdviceRow(
        ("RuntimeError",),
        "",
        "You raise it yourself, and this model needs no more rounds than "
        "`limit` allows. Count: how many rounds replace something here, and does your loop still "
        "look once more after the last of them?",
        line=r"^raise\b",
        slot=AdviceSlot.RAISE,
    ),
)

KEY = AnswerKey(
    (
        returns_module_and_count.because("names the kind that came back; later rules read it"),
        caller_untouched,
        wellformed,
        known_targets,
        signature_kept,
        runs,
        same_result,
        copies,
        modes_kept,
        nothing_matches.because("says what is wrong where the count or the result only show it"),
        right_count,
    ),
    shrunk_until_done,
    advice=ADVICE,
)
