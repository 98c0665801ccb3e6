"""Rules for functions that take a model and return a graph module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING

import torch

from autograder.core.codec import kind_of, show
from autograder.core.execution import CallResult, ErrorRecord
from autograder.core.graph_record import GraphRecord, Signature
from autograder.core.outcome import Part, Way
from autograder.core.torch_private import is_exported
from autograder.core.verdict import Finding
from autograder.judge.advice import advice_for
from autograder.judge.compare import difference
from autograder.judge.error_text import came_from, error_text
from autograder.judge.rule import Rule, Stage, rule
from autograder.rules.places import kind_of_node
from autograder.rules.wellformed import known_targets, wellformed

if TYPE_CHECKING:
    from autograder.judge import Evidence


@rule("returns a graph module", Stage.KIND)
def returns_graph_module(evidence: Evidence) -> Iterable[Finding]:
    """The result must be a `GraphModule`, not a graph, another module, or `None`."""
    value = evidence.outcome.value
    if evidence.has_graph:
        return
    if value is None:
        yield evidence.finding(
            "returned-none",
            f"{evidence.you} returned `None`.",
            "Does every path through your function end with `return`?",
        )
    else:
        advice = _NO_MODULE.get(kind_of(value), "Return the `GraphModule` that you have edited.")
        yield evidence.finding(
            "not-a-graph-module",
            f"{evidence.you} returned {kind_of(value)}, not a `GraphModule`.",
            advice,
        )


_NO_MODULE = {
    "a `Graph`": "A `Graph` alone cannot be called. Which `GraphModule` belongs to it?",
    "a `list`": "What gave you this list? `replace_pattern` changes the module that it is given, "
    "and returns its matches.",
    "a `tuple`": "Return one module, and nothing else.",
}


@rule("caller untouched", Stage.CALLER)
def caller_untouched(evidence: Evidence) -> Iterable[Finding]:
    """The answer must not change the caller's model or values."""
    changed = evidence.outcome.changed
    if not changed:
        return
    part = changed[0].part
    more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
    what, advice = "the model it was given", _CHANGE_ADVICE.get(part, _SHARED)
    if any(is_exported(value) for value in (*evidence.trial.args, *evidence.trial.watch)):
        what, advice = "the program it was given", _OF_A_PROGRAM
    elif part in (Part.ARGUMENT, Part.TENSOR):
        what = "what it was given"
    elif part is Part.RANDOM_STATE:
        what = "what it should leave as it is"
    text = f"{evidence.you} changed {what}: {changed[0]}{more}."
    yield evidence.finding("caller-changed", text, advice)


_OF_A_PROGRAM = (
    "The program belongs to somebody else: its graph, the `meta` of its nodes, its signature and "
    "its tensors. Which line of yours writes into one of them, and not into a copy?"
)
_OF_A_VALUE = (
    "The arguments belong to somebody else. Which line of yours writes into one of them, and not "
    "into a copy?"
)
_CHANGE_ADVICE = {
    Part.ARGUMENT: _OF_A_VALUE,
    Part.TENSOR: _OF_A_VALUE,
    Part.RANDOM_STATE: "What draws random numbers or sets a seed, and what puts the state back?",
    Part.TRAINING_FLAG: "`eval()` and `train()` change the module that they are called on, with "
    "all below.",
    Part.GRAPH: "A `GraphModule` that you are given is somebody's model too: which line edits its "
    "graph, or makes its code again?",
    Part.META: "The nodes that you were given belong to somebody else, their `meta` too. Which "
    "line writes into the `meta` of a node that is not yours?",
}
"""Advice by the changed part of the caller's model."""

_SHARED = (
    "A traced module shares its submodules, parameters and buffers with the original. Which line "
    "of yours sets something on one of them?"
)


_STARS = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}


def _written(parameters: Signature | None) -> str:
    """Parameters as in a `def` line, without annotations."""
    return ", ".join(
        _STARS.get(row[1], "") + row[0] + (f"={show(row[2])}" if len(row) > 2 else "")
        for row in parameters or []
    )


@rule("signature kept", Stage.STRUCTURE)
def signature_kept(evidence: Evidence) -> Iterable[Finding]:
    """`forward` must have the parameters of the traced model: names, order, defaults."""
    want = evidence.traced_signature
    got = next((each for each in evidence.derived.signatures if each != want), want)
    if got != want:
        mine, models = _written(got), _written(want)
        than = "" if mine == models else f" `forward({models})`"
        yield evidence.finding(
            "lost-signature",
            f"The result's `forward({mine})` does not take the same parameters as the "
            f"model's{than}.",
            "Placeholders are the signature: their names, order and defaults must stay, even of "
            "those that nothing reads.",
        )


@rule("runs", Stage.RUNS)
def runs(evidence: Evidence) -> Iterable[Finding]:
    """A call of the result, and a run by an Interpreter, must not raise."""
    for i in range(len(evidence.trial.inputs)):
        for how in ways_to_run(evidence):
            words, error = _CALLS[how], evidence.outcome.runs[i][how].get("error")
            if error:
                yield evidence.finding(
                    "result-raises" if how == "forward" else "interpreter-disagrees",
                    f"{words} on {evidence.inputs_text(i)} raised {error_text(error)}."
                    f"{came_from(error)}",
                    _error_advice(evidence, error),
                    error=error,
                )
                return


def _error_advice(evidence: Evidence, error: ErrorRecord) -> str:
    known = advice_for(evidence.exercise, error, "result")
    return known or "Print `gm.code` and read what it computes line by line."


def ways_to_run(evidence: Evidence) -> tuple[Way, ...]:
    """The ways in which the runner ran a result: an Interpreter runs only graph modules."""
    return ("forward", "interpreter") if evidence.has_graph else ("forward",)


_CALLS: dict[Way, str] = {
    "forward": "Calling the result",
    "interpreter": "Running the result with `fx.Interpreter`",
}


def same_result_by(*ways: Way, advice: Callable[[Evidence], str] | None = None) -> Rule:
    """Require that the result's value and its effect on its arguments match the reference.

    Args:
        ways: how the result was run: ``forward``, ``interpreter``, or ``rebuilt`` by the judge.
        advice: the exercise's own advice, which has precedence; `""` if there is none.
    """

    def find(evidence: Evidence) -> Iterable[Finding]:
        for i, want in enumerate(evidence.reference.runs):
            record = evidence.run_record(i)
            for how in ways:
                if how not in record and how not in ways_to_run(evidence):
                    continue  # it has no graph, or calls the learner's own code
                finding = _compare_run(evidence, i, how, record[how], want)
                if finding:
                    known = "" if advice is None or finding.raised else advice(evidence)
                    yield replace(finding, advice=known or finding.advice)
                    return

    return Rule("same result", Stage.RESULT, find)


same_result = same_result_by("forward", "interpreter", "rebuilt")


def _compare_run(
    evidence: Evidence, i: int, how: Way, got: CallResult, want: CallResult
) -> Finding | None:
    if "error" in got:
        return evidence.finding(
            "result-raises",
            f"Running the result on {evidence.inputs_text(i)} raised "
            f"{error_text(got['error'])}.{came_from(got['error'])}",
            _error_advice(evidence, got["error"]),
            error=got["error"],
        )
    tables = evidence.tensors_of(how), evidence.reference.tensors
    found = difference(got["value"], tables[0], want["value"], tables[1])
    if found:
        via = " under `fx.Interpreter`" if how == "interpreter" else ""
        return evidence.finding(
            found.code if how != "interpreter" else "interpreter-disagrees",
            f"On {evidence.inputs_text(i)}{via}, {found.text}.",
            _value_advice(evidence),
        )
    found = difference(got["args"], tables[0], want["args"], tables[1], "the arguments afterwards")
    if found:
        return evidence.finding(
            "argument-changed",
            f"On {evidence.inputs_text(i)}, the result leaves its arguments in another state: "
            f"{found.text}.",
            "Look at in-place operations: one was added, or one that must stay is gone.",
        )
    return None


def _value_advice(evidence: Evidence) -> str:
    """Advice: the calls of the model's trace that the result lacks, or a comparison by hand."""
    if evidence.trial.model is None:
        given = next(iter(evidence.trial.args), None)
        what = "function" if isinstance(given, FunctionType) else "formula"
        return f"Compare the code of your module with the {what}, one call after another."
    try:
        before, after = map(_calls, (evidence.traced_graph, evidence.graph))
    except Exception:  # no graph, or a model whose trace raises
        return "Compare the code of the model before and after on paper, for this model."
    gone = [_counted(kind, count) for kind, count in (before - after).items()]
    if not gone:
        return (
            "No call of the model's trace is gone. Compare the order of the calls, their "
            "arguments, and what is new."
        )
    listed = ", ".join(gone[:3]) + (", and more" if len(gone) > 3 else "")
    return (
        f"Gone from the model's trace: {listed}. Should each of them be gone? If so, does what is "
        "new do its work?"
    )


def _calls(data: GraphRecord) -> Counter[str]:
    rows = (row for row in data["nodes"] if row["op"].startswith("call_"))
    return Counter(kind_of_node(row, data) for row in rows)


def _counted(kind: str, count: int) -> str:
    return kind if count == 1 else f"{kind} ({count} times)"


@rule("copies", Stage.COPY)
def copies(evidence: Evidence) -> Iterable[Finding]:
    """`copy.deepcopy` of the result must work, and its copy must compute the same."""
    if not (evidence.trial.inputs and evidence.trial.copied):
        return
    record = evidence.outcome.runs[0]["copy"]
    error = record.get("error")
    tensors = evidence.outcome.tensors
    want = evidence.outcome.runs[0]["forward"]
    if error:
        text = (
            "Copying the result with `copy.deepcopy` and calling the copy raised "
            f"{error_text(error)}."
        )
    elif _differ(record, want, tensors):
        text = "A `copy.deepcopy` of the result computes something else than the result."
    else:
        return
    yield evidence.finding(
        "copy-breaks", text, "Look for state that is kept outside the module and its graph."
    )


def _differ(one: CallResult, other: CallResult, tensors: list[torch.Tensor]) -> bool:
    pairs = ((run.get("value"), run.get("args")) for run in (one, other))
    return any(difference(a, tensors, b, tensors) for a, b in zip(*pairs, strict=True))


GRAPH_MODULE = (returns_graph_module, caller_untouched, wellformed, known_targets)
PASS = (*GRAPH_MODULE, signature_kept, runs, same_result, copies)
