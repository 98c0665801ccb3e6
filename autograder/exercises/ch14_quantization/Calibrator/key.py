"""The answer key of `Calibrator`: unchanged results, and a scale for each floating value."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import fx

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Stage,
    advice_for,
    caller_untouched,
    came_from,
    difference,
    error_text,
    kind_of,
    model_itself,
    rule,
    show,
)
from autograder.exercises.ch14_quantization.models import floats

CLOSE = 1e-5
"""Relative tolerance of a scale: an answer may divide in float32."""


def expected(evidence: Evidence) -> list[dict[str, float]]:
    """The expected scales after each run of a calibrator."""
    calibrators = evidence.trial.args[0]
    names = [node.name for node in calibrators.gm.graph.nodes]
    seen: dict[int, dict[str, float]] = {}
    found = []
    for turn, inputs in zip(calibrators.turns, evidence.trial.inputs, strict=True):
        largest = seen.setdefault(turn, {})
        for name, value in _values(calibrators.gm, inputs).items():
            top = float(torch.linalg.vector_norm(value, math.inf)) if value.numel() else 0.0
            largest[name] = max(largest.get(name, 0.0), top)
        found.append({name: largest[name] / 127 or 1.0 for name in names if name in largest})
    return found


def _values(gm: fx.GraphModule, inputs: tuple[Any, ...]) -> dict[str, torch.Tensor]:
    """Copies of all floating values, made when they are computed."""
    found: dict[str, torch.Tensor] = {}

    class Copying(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            value = super().run_node(n)
            if n.op != "output" and floats(value):
                found[n.name] = value.detach().double().clone()
            return value

    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        Copying(gm).run(*copy.deepcopy(inputs))
    return found


def _reports(evidence: Evidence) -> Iterator[tuple[int, dict[str, Encoded]]]:
    """Yield the report on each run that did not raise."""
    for i, run in enumerate(evidence.outcome.runs):
        value = run["forward"].get("value")
        if isinstance(value, dict) and "dict" in value:
            yield i, {str(key): item for key, item in value["dict"]}


@rule("a class of Interpreters", Stage.KIND)
def class_of_interpreters(evidence: Evidence) -> Iterable[Finding]:
    """The answer must be a subclass of `fx.Interpreter`, and `scales()` return a dictionary."""
    for i, said in _reports(evidence):
        if "kind" in said:
            yield evidence.finding(
                "wrong-kind",
                f"{evidence.you} is not a subclass of `fx.Interpreter`.",
                "Keep the line `class ...` of the cell as it was given.",
            )
            return
        problem = _problem(said.get("scales"))
        if problem:
            yield evidence.finding(
                "returned-none" if said.get("scales") is None else "wrong-kind",
                f"After run {i + 1}, `scales()` gave {problem}.",
                "A dictionary: names of nodes, and for each of them a Python number.",
            )
            return
        for name, scale in said["scales"]["dict"]:
            if _is_infinite(scale):
                yield evidence.finding(
                    "not-finite",
                    f"After run {i + 1}, the scale of `{name}` is `{show(scale)}`.",
                    "What does your search for the largest begin with, and what if it finds "
                    "nothing?",
                    nodes=(str(name),),
                )
                return


def _is_infinite(data: Encoded) -> bool:
    """Whether this is an infinite number or NaN, which no case has as a value."""
    return isinstance(data, dict) and "float" in data


def _problem(data: Encoded) -> str:
    if not (isinstance(data, dict) and "dict" in data):
        return f"{kind_of(data)}, not a dictionary"
    for key, value in data["dict"]:
        if not isinstance(key, str):
            return f"a dictionary with {kind_of(key)} as a key, not a name"
        if type(value) not in (float, int) and not _is_infinite(value):
            return f"{kind_of(value) if value is not None else 'None'} for `{key}`, not a number"
    return ""


@rule("runs as always", Stage.RUNS)
def runs_as_always(evidence: Evidence) -> Iterable[Finding]:
    """`run` must return what the graph does, and have the same effect on its arguments."""
    said = dict(_reports(evidence))
    tables = evidence.outcome.tensors, evidence.reference.tensors
    for i, want in enumerate(evidence.reference.runs):
        record = evidence.outcome.runs[i]["forward"]
        where = f"run {i + 1}, on {evidence.inputs_text(i)}"
        if "error" in record:
            error = record["error"]
            yield evidence.finding(
                "result-raises",
                f"{error_text(error)} was raised in {where}, or by `scales()` after it."
                f"{came_from(error)}",
                advice_for(evidence.exercise, error, "run")
                or "Print the node and the kind of its value.",
                error=error,
            )
            return
        if "kind" in said.get(i, {}):
            return
        got = said.get(i, {}).get("result")
        if got is None and want["value"] is not None:
            yield evidence.finding(
                "result-lost", f"`run` returned `None` in {where}.",
                "A method without `return` gives `None`.",
            )  # fmt: skip
            return
        for mine, theirs, what in (
            (got, want["value"], "the result"), (record["args"], want["args"], "the arguments"),
        ):  # fmt: skip
            found = difference(mine, tables[0], theirs, tables[1], what)
            if found:
                yield evidence.finding(
                    found.code, f"In {where}, {found.text}.",
                    "A calibrator only looks at values. It never changes one.",
                )  # fmt: skip
                return


@rule("right scales", Stage.RESULT)
def right_scales(evidence: Evidence) -> Iterable[Finding]:
    """After each run, each floating value so far must have the right scale, in order."""
    nodes = {node.name: node for node in evidence.trial.args[0].gm.graph.nodes}
    said = dict(_reports(evidence))
    for i, want in enumerate(expected(evidence)):
        scales: Encoded = said.get(i, {}).get("scales")
        if _problem(scales) or any(_is_infinite(scale) for _, scale in scales["dict"]):
            return  # another rule reports it
        got: dict[str, Any] = {str(key): value for key, value in scales["dict"]}
        finding = _scales_problem(evidence, i, got, want, nodes)
        if finding:
            yield finding
            return


def _scales_problem(
    evidence: Evidence, i: int, got: dict[str, float], want: dict[str, float],
    nodes: dict[str, fx.Node],
) -> Finding | None:  # fmt: skip
    after = f"After run {i + 1}"
    missing = next((name for name in want if name not in got), None)
    if missing is not None:
        return evidence.finding(
            "missing-node",
            f"{after}, `scales()` has no scale for `{missing}`, a `{nodes[missing].op}` node whose "
            "value is a floating tensor.",
            "Which nodes does your method see, and which of them do you skip?",
            nodes=(missing,),
        )
    extra = next((name for name in got if name not in want), None)
    if extra is not None:
        node = nodes.get(extra)
        what = "no node's name" if node is None else "the output" * (node.op == "output")
        return evidence.finding(
            "extra-key",
            f"{after}, `scales()` has a key {extra!r}, which is "
            + (what or "a node that had no floating tensor as a value so far")
            + ".",
            "The output node has no value of its own: another node gives what it returns."
            if what == "the output"
            else "Only floating tensors are quantized: no whole numbers, no tuples, no Python "
            "numbers.",
        )
    for name, scale in want.items():
        if not math.isclose(got[name], scale, rel_tol=CLOSE):
            several = max(evidence.trial.args[0].turns) > 0
            return evidence.finding(
                "wrong-scale",
                f"{after}, the scale of `{name}` is {show(got[name])}; the largest magnitude over "
                f"127 is {scale:.6g}." if scale != 1.0 else
                f"{after}, the scale of `{name}` is {show(got[name])}, and should be 1.0.",
                "Here two calibrators are run in turn. What do they share?" if several else
                "Print the value of this node in each run, at the moment at which it is computed.",
                nodes=(name,),
            )  # fmt: skip
    if list(got) != list(want):
        name = next(mine for mine, other in zip(got, want, strict=True) if mine != other)
        return evidence.finding(
            "wrong-order",
            f"{after}, `{name}` is not at its place among the keys: they must be in graph order.",
            "A value may be a floating tensor in a later run only. A dictionary keeps the order in "
            "which its keys were added.",
            nodes=(name,),
        )
    return None


KEY = AnswerKey(
    (
        class_of_interpreters,
        caller_untouched,
        runs_as_always,
        right_scales,
    ),
    model_itself,
    oracle_only=True,
)
