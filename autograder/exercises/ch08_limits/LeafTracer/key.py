"""The answer key of `LeafTracer`: exactly the chosen modules must be called as leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from torch import fx, nn

from autograder.authoring.key import (
    AnswerKey,
    CallResult,
    Encoder,
    Evidence,
    Finding,
    Reference,
    Stage,
    Trial,
    caller_untouched,
    describe_nodes,
    made_from_the_class,
    rule,
)


def _calls(run: CallResult) -> Counter[str]:
    rows = (row["list"] for row in run["value"]["list"])
    return Counter(str(target) for op, target, *_ in rows if op == "call_module")


def _in_trace(evidence: Evidence, i: int, says: str) -> str:
    """A sentence, preceded by the trace that it is about if there are several."""
    if len(evidence.trial.args[1]) == 1:
        return says[0].upper() + says[1:]
    return f"In trace {i + 1}, {says}"


@rule("the chosen leaves", Stage.STRUCTURE)
def the_chosen_leaves(evidence: Evidence) -> Iterable[Finding]:
    """The called modules must be the chosen ones and the leaves of `fx.Tracer`."""
    for i, want in enumerate(evidence.reference.runs):
        wanted, found = _calls(want), _calls(evidence.outcome.runs[i]["forward"])
        paths = {path for path, _ in evidence.trial.args[1][i][1].named_modules()}
        for target in found.keys() - paths:
            yield evidence.finding(
                "unknown-module",
                _in_trace(
                    evidence,
                    i,
                    f"your graph calls `{target}`, and the model has no module of that path.",
                ),
                "What `trace` is given is the root: it is opened, whatever its type.",
            )
            return
        missing, extra = wanted - found, found - wanted
        for target in extra:
            if any(target.startswith(f"{opened}.") for opened in missing):
                continue  # reported as an opened parent
            yield evidence.finding(
                "extra-leaf",
                _in_trace(
                    evidence,
                    i,
                    f"`{target}` is a leaf in your trace, but it must be opened: neither its type "
                    "nor its whole name was given, and `fx.Tracer` opens it.",
                ),
                "Compare its class and its name with what the tracer was given.",
            )
            return
        for target in missing:
            yield evidence.finding(
                "opened-leaf",
                _in_trace(
                    evidence,
                    i,
                    f"each call of `{target}` must be one `call_module` node. There are "
                    f"{found[target]} such nodes; there must be {wanted[target]}.",
                ),
                "Is it a leaf by its type, by its name, or because it is a layer of PyTorch? "
                "Which part of your answer is responsible for that?",
            )
            return


@rule("the rest as usual", Stage.RESULT)
def the_rest_as_usual(evidence: Evidence) -> Iterable[Finding]:
    """All other nodes must equal those of `fx.Tracer`, including their arguments."""
    for i, want in enumerate(evidence.reference.runs):
        if evidence.outcome.runs[i]["forward"]["value"] != want["value"]:
            yield evidence.finding(
                "wrong-graph",
                _in_trace(
                    evidence,
                    i,
                    "the leaves are right, but the graph is another than that of `fx.Tracer` with "
                    "these leaves.",
                ),
                "Only the question whether a module is a leaf needs an answer of yours. What "
                "else does your class change?",
            )
            return


class Chosen(fx.Tracer):
    """Call these modules as leaves, without calling `is_leaf_module` for them."""

    def __init__(self, leaves: set[int]) -> None:
        super().__init__()
        self.leaves = leaves

    def call_module(self, m: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        if id(m) in self.leaves:
            return self.create_proxy("call_module", self.path_of_module(m), args, kwargs)
        return super().call_module(m, forward, args, kwargs)


def _given(leaf_types: Any = (), leaf_names: Any = ()) -> tuple[Any, Any]:
    return tuple(leaf_types), frozenset(leaf_names)


def chosen_beforehand(trial: Trial) -> Reference:
    """Trace with leaves that are picked from the list of all modules before tracing."""
    made, turns = trial.args
    encoder = Encoder()
    runs: list[CallResult] = []
    for place, model in turns:
        args, kwargs = made[place]
        types, names = _given(*args, **kwargs)
        leaves = {
            id(module)
            for path, module in model.named_modules()
            if isinstance(module, types) or path in names
        }
        graph = Chosen(leaves).trace(model)
        rows = describe_nodes(graph, encoder)
        told = [[row["op"], row["target"], row["args"], row["kwargs"]] for row in rows]
        runs.append({"value": {"list": [{"list": row} for row in told]}})
    return Reference(None, runs, encoder.tensors)


KEY = AnswerKey(
    (
        made_from_the_class,
        caller_untouched,
        the_chosen_leaves.because("names the module; the next rule only sees another graph"),
        the_rest_as_usual,
    ),
    chosen_beforehand,
)
