"""Rules of chapter 01: judging a trace, a traceable rewrite, a specialized function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch import fx, nn

from autograder.core.codec import Encoder, Plain, reads
from autograder.core.graph_view import target_text
from autograder.core.verdict import Finding
from autograder.judge.compare import difference
from autograder.judge.rule import Stage, rule

if TYPE_CHECKING:
    from autograder.judge import Evidence

# ------------------------------------------------------------------ is_faithful


@rule("left as given", Stage.CALLER)
def left_as_given(evidence: Evidence) -> Iterable[Finding]:
    """The model, its buffers and the caller's arguments are as they were."""
    changed = evidence.outcome.changed
    if changed:
        yield evidence.finding(
            "caller-changed",
            f"After {evidence.you}, not all is as it was: {changed[0]}.",
            "A run of the model may change its arguments, however deep they are nested, and the "
            "model's buffers; the trace shares the buffers. Look at every way out of your "
            "function, early ones too.",
        )


@rule("right judgement", Stage.RESULT)
def right_judgement(evidence: Evidence) -> Iterable[Finding]:
    """The answer is the reference's, and the case says why."""
    got, want = evidence.outcome.value, evidence.reference.value
    if got == want:
        return
    because, look = evidence.case.expect["because"], evidence.case.expect["look"]
    if want:
        yield evidence.finding(
            "false-alarm",
            f"{evidence.you} says `False`, but this trace does what its model does: {because}.",
            look,
        )
    else:
        yield evidence.finding(
            "missed-difference", f"{evidence.you} says `True`, but {because}.", look
        )


# ------------------------------------------------------------------ sign_flip


@rule("traceable", Stage.KIND)
def traceable(evidence: Evidence) -> Iterable[Finding]:
    """`symbolic_trace` accepts the function."""
    value = evidence.outcome.value
    if isinstance(value, dict) and "trace_error" in value:
        error = value["trace_error"]
        yield evidence.finding(
            "not-traceable",
            f"`fx.symbolic_trace({evidence.exercise.name})` raised `{error.get('type')}: "
            f"{error.get('message')}`.",
            "Something in your function asks a Proxy for its value. Let the choice be an "
            "operation on tensors.",
        )


@rule("nothing hidden", Stage.KIND)
def nothing_hidden(evidence: Evidence) -> Iterable[Finding]:
    """The graph has no wrapped function and no leaf module."""
    if not evidence.has_graph:
        return
    for row in evidence.graph["nodes"]:
        if row["op"] == "call_module" or _is_wrapped(row["target"]):
            yield evidence.finding(
                "hidden-branch",
                f"The trace calls `{target_text(row['target'])}` as a closed box: FX does not "
                "see what happens inside.",
                "Neither `fx.wrap` nor a leaf module: write the choice with operations on tensors.",
                nodes=(row["name"],),
            )
            return


def _is_wrapped(target: Plain) -> bool:
    """Whether a target is a function that FX records only when it is wrapped."""
    if not isinstance(target, dict):
        return False
    ((kind, name),) = target.items()
    return kind == "opaque" or (
        kind == "function" and name.startswith("builtins.") and name != "builtins.getattr"
    )


@rule("depends on its input", Stage.STRUCTURE)
def depends_on_input(evidence: Evidence) -> Iterable[Finding]:
    """What the trace returns is computed from its input."""
    rows = evidence.graph["nodes"]
    reached: set[int] = set()
    for i, row in enumerate(rows):
        inputs = {leaf["node"] for leaf in reads(row) if "node" in leaf}
        if row["op"] == "placeholder" or inputs & reached:
            reached.add(i)
    if len(rows) - 1 not in reached:
        yield evidence.finding(
            "ignores-input",
            "The trace returns the same for every input: its output is not computed from `x`.",
            "Print `fx.symbolic_trace(sign_flip).code`. What was computed while tracing?",
        )


@rule("agrees with the branch", Stage.RESULT)
def agrees_with_branch(evidence: Evidence) -> Iterable[Finding]:
    """Run as it is, traced, and under an Interpreter, it gives what the branch gives."""
    for i, want in enumerate(evidence.reference.runs):
        record = evidence.run_record(i)
        for how, words in _WAYS.items():
            if how == "rebuilt" and how not in record:
                continue  # it calls the learner's own code, of which another rule speaks
            finding = _disagreement(evidence, i, how, words, record[how], want)
            if finding:
                yield finding
                return


_WAYS = {
    "eager": "{you} itself",
    "forward": "the trace of {you}",
    "interpreter": "the trace of {you}, run by `fx.Interpreter`,",
    "rebuilt": "the graph of {you}",
}


_LOOK_AT_THE_SUM = (
    "Compute both sides by hand for this input. What is its sum, and how does your condition "
    "treat it?"
)
_LOOK_AT_THE_CODE = (
    "Run as it is, your function is right here. Print `fx.symbolic_trace(sign_flip).code`: what "
    "is fixed there, and what does Python compute first in each line?"
)
_LOOK_AT = {
    "wrong-dtype": "Which dtype has each value in your function, for this input? Two tensors "
    "without dimensions count as equals.",
    "wrong-shape": "Which shape has each value in your function, for this input?",
}


def _disagreement(
    evidence: Evidence, i: int, how: str, words: str, got: Plain, want: Plain
) -> Finding | None:
    x = evidence.trial.inputs[i][0]
    who = words.format(you=evidence.you)
    given = f"For `{_as_text(x)}` of dtype {str(x.dtype).removeprefix('torch.')}"
    if "error" in got:
        error = got["error"]
        return evidence.finding(
            "result-raises",
            f"{given}, {who} raised `{error['type']}: {error['message']}`.",
            "Which of your operations does not exist for this shape or dtype?",
        )
    tables = evidence.tensors_of(how), evidence.reference.tensors
    found = difference(got["value"], tables[0], want["value"], tables[1])
    if found:
        return evidence.finding(
            found.code,
            f"{given}, {who} differs from the branch: {found.text}.",
            _LOOK_AT.get(found.code, _LOOK_AT_THE_SUM if how == "eager" else _LOOK_AT_THE_CODE),
        )
    if difference(got["args"], tables[0], want["args"], tables[1]):
        return evidence.finding(
            "argument-changed",
            f"{given}, {who} changes `x` itself.",
            "An operation whose name ends in `_` changes the tensor that it is called on.",
        )
    return None


def _as_text(tensor: Any) -> str:
    return " ".join(str(tensor.tolist()).split())[:80]


# ------------------------------------------------------------------ specialize


def _assertions(evidence: Evidence) -> list[Plain]:
    names = ("torch._assert", "_assert_is_none", "torch.fx._symbolic_trace._assert_is_none")
    return [
        row
        for row in evidence.graph["nodes"]
        if isinstance(row["target"], dict) and next(iter(row["target"].values())) in names
    ]


def _own_assertions(fn: Callable[..., Any], constants: dict[str, Any]) -> int:
    """How many assertions the function itself makes: tracing adds those with its own text."""
    if not constants.keys() <= inspect.signature(getattr(fn, "forward", fn)).parameters.keys():
        return 0
    graph = fx.Tracer().trace(fn, concrete_args=dict(constants))
    made = graph.find_nodes(op="call_function", target=torch._assert)
    return sum("has been specialized to have value" not in str(node.args[1:]) for node in made)


@rule("no assertion left", Stage.FORM)
def no_assertion_left(evidence: Evidence) -> Iterable[Finding]:
    """The assertions in the graph are those that the function makes itself."""
    own = _own_assertions(*evidence.trial.args, evidence.trial.kwargs)
    found = _assertions(evidence)
    if len(found) > own:
        names = ", ".join(f"`{row['name']}`" for row in found[: len(found) - own])
        yield evidence.finding(
            "assertion-left",
            f"The graph still asserts something about a fixed parameter: {names}.",
            "`concrete_args` leaves a placeholder and the nodes that check it; all of them are "
            "to go.",
            nodes=[row["name"] for row in found],
        )
    elif len(found) < own:
        yield evidence.finding(
            "lost-assertion",
            "The function itself calls `torch._assert`, and the result does not any more.",
            "Only assertions about fixed parameters are to go. How can you tell them from the "
            "function's own?",
        )


@rule("remaining signature", Stage.STRUCTURE)
def remaining_signature(evidence: Evidence) -> Iterable[Finding]:
    """`forward` has the parameters that were not fixed: names, order, defaults."""
    fn, constants = evidence.trial.args[0], evidence.trial.kwargs
    forward = fn.forward if isinstance(fn, nn.Module) else fn
    empty, encoder = inspect.Parameter.empty, Encoder()
    want = [
        [p.name] + ([] if p.default is empty else [encoder.encode(p.default)])
        for p in inspect.signature(forward).parameters.values()
        if p.name not in constants
    ]
    both = [[[row[0], *row[2:]] for row in rows or []] for rows in evidence.form.signatures]
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


def _signature_text(rows: list[list[Plain]]) -> str:
    return ", ".join(
        row[0] if len(row) == 1 else f"{row[0]}={_default_text(row[1])}" for row in rows
    )


def _default_text(plain: Plain) -> str:
    return plain["float"] if isinstance(plain, dict) and "float" in plain else repr(plain)[:40]
