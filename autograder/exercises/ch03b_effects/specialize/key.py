"""The answer key of `specialize`: only the fixed parameters are removed."""

from __future__ import annotations

import inspect
import operator
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.key import (
    AdviceRow,
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    NodeRecord,
    Reference,
    Signature,
    Stage,
    Trial,
    caller_untouched,
    copies,
    known_targets,
    returns_graph_module,
    rule,
    runs,
    runs_of,
    same_result_by,
    target_path,
    wellformed,
)


def _assertions(evidence: Evidence) -> list[NodeRecord]:
    names = ("torch._assert", "_assert_is_none", "torch.fx._symbolic_trace._assert_is_none")
    return [
        row
        for row in evidence.graph["nodes"]
        if isinstance(row["target"], dict) and next(iter(row["target"].values())) in names
    ]


def _own_assertions(fn: Callable[..., Any], constants: dict[str, Any]) -> int:
    """The number of the function's own assertions; those that tracing adds have a known text."""
    if not constants.keys() <= inspect.signature(getattr(fn, "forward", fn)).parameters.keys():
        return 0
    graph = fx.Tracer().trace(fn, concrete_args=dict(constants))
    made = graph.find_nodes(op="call_function", target=torch._assert)
    return sum("has been specialized to have value" not in str(node.args[1:]) for node in made)


@rule("no assertion left", Stage.FORM)
def no_assertion_left(evidence: Evidence) -> Iterable[Finding]:
    """The graph contains the function's own assertions and no others."""
    (fn,) = evidence.trial.args
    own = _own_assertions(fn, evidence.trial.kwargs)
    found = _assertions(evidence)
    if len(found) > own:
        names = ", ".join(f"`{row['name']}`" for row in found[: len(found) - own])
        yield evidence.finding(
            "assertion-left",
            f"The graph still asserts something about a fixed parameter: {names}.",
            "`concrete_args` leaves a placeholder and the nodes that check it; all of them "
            "must go.",
            nodes=[row["name"] for row in found],
        )
    elif len(found) < own:
        yield evidence.finding(
            "lost-assertion",
            "The function itself calls `torch._assert`, and the result does not any more.",
            "Only assertions about fixed parameters should go. How can you tell them from the "
            "function's own?",
        )


def _own_comparisons(fn: Callable[..., Any], constants: dict[str, Any]) -> int:
    """The number of the function's own `==`; only its assertions read those that tracing adds."""
    if not constants.keys() <= inspect.signature(getattr(fn, "forward", fn)).parameters.keys():
        return 0
    graph = fx.Tracer().trace(fn, concrete_args=dict(constants))
    return sum(
        not node.users
        or any("has been specialized" not in str(user.args[1:]) for user in node.users)
        for node in graph.find_nodes(op="call_function", target=operator.eq)
    )


@rule("no comparison left", Stage.STRUCTURE)
def no_comparison_left(evidence: Evidence) -> Iterable[Finding]:
    """Comparisons that only served an assertion about a fixed parameter are removed."""
    rows = evidence.graph["nodes"]
    found = [row for row in rows if row["target"] == {"function": "operator.eq"}]
    (fn,) = evidence.trial.args
    if len(found) > _own_comparisons(fn, evidence.trial.kwargs):
        left = next((row for row in found if not row["users"]), found[0])
        yield evidence.finding(
            "comparison-left",
            f"`{left['name']}` still compares a fixed parameter, for an assertion that is gone.",
            "An assertion reads a comparison. When the one goes, nobody needs the other.",
            nodes=[left["name"]],
        )


@rule("remaining signature", Stage.STRUCTURE)
def remaining_signature(evidence: Evidence) -> Iterable[Finding]:
    """`forward` has the parameters that are not fixed, with names, order and defaults."""
    fn, constants = evidence.trial.args[0], evidence.trial.kwargs
    forward = fn.forward if isinstance(fn, nn.Module) else fn
    empty, encoder = inspect.Parameter.empty, Encoder()
    want = [
        [p.name] + ([] if p.default is empty else [encoder.encode(p.default)])
        for p in inspect.signature(forward).parameters.values()
        if p.name not in constants
    ]
    both = [[[row[0], *row[2:]] for row in rows or []] for rows in evidence.derived.signatures]
    got = next((rows for rows in both if rows != want), want)
    left = [name for name in (row[0] for row in got) if name not in {row[0] for row in want}]
    if got == want:
        return
    if left:
        text = f"it has a parameter `{left[0]}`, which the function does not have without the fixed"
        text += " ones"
    else:
        text = f"it should be `({_signature_text(want)})`"
    yield evidence.finding(
        "lost-signature",
        f"`forward` of your result takes `({_signature_text(got)})`: {text}.",
        "Placeholders are the signature. The fixed parameters go; all others keep their names, "
        "order and defaults, even if nothing reads them.",
    )


def _signature_text(rows: Signature) -> str:
    return ", ".join(
        row[0] if len(row) == 1 else f"{row[0]}={_default_text(row[1])}" for row in rows
    )


def _default_text(plain: Encoded) -> str:
    infinite = isinstance(plain, dict) and "float" in plain
    return str(plain["float"]) if infinite else repr(plain)[:40]


def _lost_method(evidence: Evidence) -> str:
    """Advice on a method call that is missing from the graph, usually one in place."""
    fn, constants = evidence.trial.args[0], evidence.trial.kwargs
    graph = fx.Tracer().trace(fn, concrete_args=dict(constants))
    made = Counter(node.target for node in graph.find_nodes(op="call_method"))
    made.subtract(target_path(row) for row in evidence.graph["nodes"] if row["op"] == "call_method")
    gone = next((name for name, count in made.items() if count > 0), None)
    if gone is None:
        return ""
    return f"The function calls `.{gone}()`, and your graph does not. What became of it?"


def called_with_all(trial: Trial) -> Reference:
    """The results of the model, if each call passes the fixed values."""
    names = list(inspect.signature(trial.given_model.forward).parameters)
    free = [name for name in names if name not in trial.kwargs]

    def call(*args: Any) -> Any:
        return trial.given_model(**dict(zip(free, args, strict=False)), **trial.kwargs)

    return runs_of(call, trial)


ADVICE = (
    AdviceRow(
        ("TraceError",),
        r"control flow",
        "While a function is traced, Python asks a Proxy on this line whether it is true, and it "
        "has no value. Which values are known when you trace, and which only when the graph runs?",
    ),
)

KEY = AnswerKey(
    (
        returns_graph_module.because("names the kind that came back, before it is looked into"),
        caller_untouched,
        no_assertion_left,
        wellformed,
        known_targets,
        remaining_signature,
        no_comparison_left,
        runs.because("says what a call raised, before values are compared"),
        same_result_by("forward", "interpreter", "rebuilt", advice=_lost_method),
        copies,
    ),
    called_with_all,
    advice=ADVICE,
)
