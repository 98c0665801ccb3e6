"""The answer key of `source_of`: file and line of each call, in graph order."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torch import fx, nn
from torch.fx.proxy import TraceError

from autograder.authoring.key import (
    AnswerKey,
    CallResult,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Reference,
    Stage,
    Trial,
    caller_untouched,
    error_record,
    kind_of,
    returns,
    rule,
    show,
)
from autograder.exercises.ch09c_sources.source_of.models import TORCH


class _Sources(fx.Tracer):
    """Record the stack at each call, and search it afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self.stacks: dict[str, list[traceback.FrameSummary]] = {}

    def create_node(self, kind: str, *args: Any, **kwargs: Any) -> fx.Node:
        """Make a node and record the stack; not every node has a Proxy."""
        node = super().create_node(kind, *args, **kwargs)
        if kind.startswith("call"):
            self.stacks[node.name] = traceback.extract_stack()
        return node


def sources(model: nn.Module) -> dict[str, tuple[str, int]]:
    """Compute the right answer of `source_of`."""
    tracer = _Sources()
    tracer.trace(model)
    return {name: _innermost(stack) for name, stack in tracer.stacks.items()}


def _innermost(stack: list[traceback.FrameSummary]) -> tuple[str, int]:
    # The innermost frame is the tracer's.
    outside = [
        frame
        for frame in stack
        if not frame.filename.startswith(TORCH + "/")
        and (frame.filename, frame.name) != (__file__, "create_node")
    ]
    return outside[-1].filename, outside[-1].lineno or 0


def where_written(trial: Trial) -> Reference:
    """The values for the model and for the models of earlier calls."""
    encoder = Encoder(trial.functions)
    runs = [_earlier(model, encoder) for model in trial.watch]
    return Reference(encoder.encode(sources(*trial.args)), runs, encoder.tensors)


def _earlier(model: nn.Module, encoder: Encoder) -> CallResult:
    """The value for a model of an earlier call, or the error if FX cannot trace it."""
    try:
        return {"value": encoder.encode(sources(model))}
    except TraceError as error:
        return {"error": error_record(error)}


@rule("places of calls", Stage.RESULT)
def places_of_calls(evidence: Evidence) -> Iterable[Finding]:
    """Each call must have its file and line, for models of earlier calls as well."""
    for i, want in enumerate(evidence.reference.runs):
        run = evidence.outcome.runs[i]["forward"]
        if "error" in want:
            continue  # the expected failure; only later calls count
        if "error" in run:
            yield evidence.finding(
                "crashed-before",
                f"{evidence.you} raised {run['error']['type']} on a model that came before.",
                "Each call works on a model of its own.",
            )
            return
        found = _difference(run["then"], want["value"]) or (
            ("changed-later", "it was changed by a later call", "Where is your dictionary made?")
            if run["value"] != run["then"]
            else None
        )
        if found:
            code, text, advice = found
            yield evidence.finding(code, f"For a model that came before, {text}.", advice)
            return
    found = _difference(evidence.outcome.value, evidence.reference.value)
    if found:
        code, text, advice = found
        before = ", called for other models before," if evidence.reference.runs else ","
        yield evidence.finding(code, f"In the result of {evidence.you}{before} {text}.", advice)


def _difference(got: Encoded, want: Encoded) -> tuple[str, str, str] | None:
    if not (isinstance(got, dict) and "dict" in got):
        return "wrong-kind", f"there is {kind_of(got)}, not a `dict`", "Return a dictionary."
    ours = {show(key): value for key, value in got["dict"]}
    theirs = {show(key): value for key, value in want["dict"]}
    for name in theirs:
        if name not in ours:
            advice = (
                "Calls of functions, methods and modules count, with or without readers. Which "
                "method of a tracer does each of them pass through?"
            )
            return "missing-node", f"the node {name} is missing", advice
    for name in ours:
        if name not in theirs:
            advice = "Return only the calls of the given model, by their names."
            return "extra-node", f"{name} is not a call of this model", advice
    for name, value in theirs.items():
        words = _wrong_place(name, ours[name], *value["tuple"])
        if words:
            return words
    if list(ours) != list(theirs):
        return "wrong-order", "the nodes are not in the order of the graph", "Look at your loop."
    return None


def _wrong_place(name: str, got: Encoded, file: str, line: int) -> tuple[str, str, str] | None:
    pair: list[Any] = got.get("tuple", []) if isinstance(got, dict) else []
    if len(pair) != 2 or type(pair[0]) is not str or type(pair[1]) is not int:
        text = f"{name} has {show(got)}, which is not a tuple of a string and a whole number"
        return "wrong-kind", text, "A place is `(file, line)`."
    # A model in its tracer's file was in the solution's file when the reference was stored.
    borrowed = file.startswith("<solution ")
    same = pair[0] == file or (borrowed and Path(pair[0]).name not in ("", "models.py"))
    if same and pair[1] == line:
        return None
    short = "your own file" if borrowed else Path(file).name
    if pair[1] == line and Path(pair[0]).name == short:
        text = f"{name} has the right line, and as its file {show(pair[0][-80:])}"
        return "wrong-place", text, "The file is the text that the code object has, as it is there."
    text = f"{name} has line {pair[1]} of {Path(pair[0]).name}, not line {line} of {short}"
    return "wrong-place", text, "Print the whole stack at this node. Which frame is the one?"


KEY = AnswerKey(
    (
        returns("dict").because("names the kind that came back, before places are compared"),
        caller_untouched,
        places_of_calls,
    ),
    where_written,
)
