"""The answer key of `capture_step`: the step computed by autograd, and the marks of the calls."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import torch

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    NodeRecord,
    Reference,
    Stage,
    Trial,
    caller_untouched,
    copies,
    known_targets,
    reads,
    returns_graph_module,
    rule,
    runs,
    runs_of,
    same_result_by,
    show,
    wellformed,
)
from autograder.exercises.ch16_training.keys import is_marked, target_name

ALIASES = ("torch.ops.aten.alias.default", "torch.ops.aten.detach.default")
"""Calls that only give a value another name: in a step, it is free whether they are marked."""


def step_by_autograd(trial: Trial) -> Reference:
    """The results of the step: a copy of the model gets the values, and `backward` runs."""
    model, loss, *_ = trial.args

    def step(params: Any, buffers: Any, x: Any, y: Any) -> Any:
        own = copy.deepcopy(model)
        own.zero_grad()
        for named, values in ((own.named_parameters(), params), (own.named_buffers(), buffers)):
            for name, tensor in named:
                tensor.data.copy_(values[name])
        with torch.enable_grad():
            value = loss(own(x), y)
            if value.requires_grad:
                value.backward()
        for name, buffer in own.named_buffers():
            buffers[name].copy_(buffer)
        trained = {name: p for name, p in own.named_parameters() if p.requires_grad}
        grads = {
            name: torch.zeros_like(p) if p.grad is None else p.grad.clone()
            for name, p in trained.items()
        }
        return value.detach(), grads

    return runs_of(step, trial)


@rule("only ATen calls", Stage.FORM)
def only_aten_calls(evidence: Evidence) -> Iterable[Finding]:
    """Each call must be an overload of an ATen operator, or `getitem`."""
    for row in evidence.graph["nodes"]:
        name = target_name(row)
        if not row["op"].startswith("call_") or name == "operator.getitem":
            continue
        if name.startswith("torch.ops.aten.") and name.count(".") == 4:
            continue
        yield evidence.finding(
            "not-aten",
            f"`{row['name']}` calls `{name or row['target']}`, which is not an overload of an ATen "
            "operator.",
            "Which function of this section records what PyTorch runs below autograd, and not what "
            "the model's code calls?",
            (row["name"],),
        )
        return


@rule("no state inside", Stage.FORM)
def no_state_inside(evidence: Evidence) -> Iterable[Finding]:
    """No parameter and no buffer of the model may be an attribute of the graph module."""
    for module in evidence.graph["modules"]:
        if "same_as" in module:
            continue
        for name, entry in {**module["params"], **module["buffers"], **module["tensors"]}.items():
            if entry is not None and entry["origin"] is not None:
                yield evidence.finding(
                    "state-inside",
                    f"`{entry['origin']}` of the model is in the graph module, as `{name}`. The "
                    "graph would go on using this tensor, whatever it is given.",
                    "Which tensors does your step read that are not among its arguments? "
                    "`functional_call` replaces the model's own tensors.",
                )
                return


@rule("fake vals", Stage.STRUCTURE)
def fake_vals(evidence: Evidence) -> Iterable[Finding]:
    """Each node but the output must have a `val`, and tensors in it must be fake."""
    for row, meta in zip(evidence.graph["nodes"], evidence.graph["meta"], strict=True):
        is_nothing = "val" not in meta and target_name(row) == "operator.getitem"
        if row["op"] == "output" or is_nothing:
            continue  # `make_fx` notes no `val` for a part that is `None`
        text = str(meta.get("val", ""))
        if "val" not in meta or "and not fake" in text or "of another mode" in text:
            has = f"has the `val` {text}" if "val" in meta else "has no `val`"
            yield evidence.finding(
                "wrong-val",
                f"`{row['name']}` {has}.",
                "`make_fx` makes a `val` for each node, of one mode. What happens to the nodes "
                "after that?",
                (row["name"],),
            )
            return


class _Marks:
    """The calls of a step, and the marks that they must have.

    Calls are recorded in the order in which they run. So what comes after the last step of the
    value is the backward pass.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.rows, self.metas = evidence.graph["nodes"], evidence.graph["meta"]
        self.inputs, self.users = evidence.derived.inputs, evidence.derived.users

    @cached_property
    def returned(self) -> list[int]:
        """The nodes that the output reads: the value first."""
        return [leaf["node"] for leaf in reads(self.rows[-1]) if "node" in leaf]

    @cached_property
    def needed(self) -> set[int]:
        """The nodes that the value needs, itself included."""
        found: set[int] = set()
        waiting = self.returned[:1]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting += self.inputs[node]
        return found

    @cached_property
    def last(self) -> int:
        """The last step of the value."""
        steps = [i for i in self.needed if target_name(self.rows[i]) not in ALIASES]
        return max(steps, default=-1)

    def wrong(self) -> Iterable[tuple[NodeRecord, bool]]:
        """Each call with a wrong mark, and whether it is marked."""
        for i, (row, meta) in enumerate(zip(self.rows, self.metas, strict=True)):
            if not row["op"].startswith("call_"):
                continue
            marked = is_marked(meta)
            if target_name(row) == "operator.getitem" and i not in self.needed:
                if marked != is_marked(self.metas[self.inputs[i][0]]):
                    yield row, marked
            elif target_name(row) in ALIASES and not self.needed.intersection(self.users[i]):
                continue  # another name of a value, for the backward pass or the output
            elif i in self.needed:
                if marked:
                    yield row, marked
            elif i < self.last and i in self.returned:
                continue  # zeros that are made early
            elif marked != (i > self.last):
                yield row, marked


@rule("marks", Stage.STRUCTURE)
def marks(evidence: Evidence) -> Iterable[Finding]:
    """Calls of the backward pass must be marked, and no others."""
    found = _Marks(evidence)
    for row, marked in found.wrong():
        if marked:
            text = f"`{row['name']}` is marked, and it belongs to the forward pass."
            advice = "Which calls run within the `with` block of your mark? The value is there "
            advice += "before the gradients are computed."
        else:
            text = f"`{row['name']}` has no mark, and it runs for the gradients."
            advice = "`annotate` alone notes nothing: which second function keeps notes, and does "
            advice += "your block contain all that is computed after the value?"
        yield evidence.finding("wrong-mark", text, advice, (row["name"],))
        return


def _keys(value: Encoded) -> list[str]:
    return [show(key) for key, _ in value["tuple"][1]["dict"]]


@rule("value and gradients", Stage.RUNS)
def value_and_gradients(evidence: Evidence) -> Iterable[Finding]:
    """The graph must return a tuple of the value and a dictionary of gradients, in order."""
    for i, want in enumerate(evidence.reference.runs):
        got = evidence.outcome.runs[i]["forward"]
        if "error" in got:
            return  # another rule reports it
        value = got["value"]
        items: list[Encoded] = value.get("tuple", []) if isinstance(value, dict) else []
        if len(items) != 2 or not (isinstance(items[1], dict) and "dict" in items[1]):
            yield evidence.finding(
                "wrong-structure",
                "Your graph does not return a tuple of the value and a dictionary of gradients.",
                "What does your step return, before it is captured?",
            )
            return
        ours, theirs = _keys(value), _keys(want["value"])
        missing = [name for name in theirs if name not in ours]
        extra = [name for name in ours if name not in theirs]
        if missing:
            text = f"Your graph returns no gradient for {missing[0]}."
            advice = "This parameter requires one. A parameter that is not used has zeros."
        elif extra:
            text = f"Your graph returns a gradient for {extra[0]}, which requires none, or is "
            text += "there under another name."
            advice = "`named_parameters()` gives each parameter once. `requires_grad` says whether "
            advice += "it is trained."
        elif ours != theirs:
            text = f"Your gradients are in the order {', '.join(ours)}."
            advice = f"The model's order is {', '.join(theirs)}."
        else:
            continue
        yield evidence.finding("wrong-names", text, advice)
        return


def _look(evidence: Evidence) -> str:
    return (
        "Run your step as a function, without a graph, on the same arguments. Which of its parts "
        "differs from `loss(model(x), y)` and `backward()`?"
    )


KEY = AnswerKey(
    (
        returns_graph_module,
        caller_untouched,
        wellformed,
        known_targets,
        only_aten_calls,
        no_state_inside.because("names the tensor, before a run shows that it is used"),
        fake_vals,
        marks,
        runs,
        value_and_gradients,
        same_result_by("forward", "interpreter", "rebuilt", advice=_look),
        copies,
    ),
    step_by_autograd,
)
