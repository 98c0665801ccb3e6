"""The answer key of `split_at`: the values that cross from the head to the tail."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import fx

from autograder.authoring.key import (
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Recorder,
    Stage,
    Way,
    copy_of,
    difference,
    kind_of,
    rule,
    run_recorder,
    unwrap,
)


class AtCut(Recorder):
    """Runs a trace, and records all values right after one node."""

    def __init__(self, gm: fx.GraphModule, name: str) -> None:
        super().__init__(gm)
        self.cut = name
        self.at_cut: dict[str, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        """Run a node; after the named one, copy all values."""
        value = super().run_node(n)
        if n.name == self.cut:
            self.at_cut = {name: copy_of(value) for name, value in self.record.values.items()}
        return value


@dataclass
class Cut:
    """The place where a case splits its model."""

    evidence: Evidence

    @cached_property
    def name(self) -> str:
        """The name of the last node of the head."""
        return str(self.evidence.trial.args[1])

    @cached_property
    def sides(self) -> tuple[list[fx.Node], list[fx.Node]]:
        """The nodes of the trace that belong to the head, and those that belong to the tail."""
        nodes = list(self.evidence.traced.graph.nodes)
        place = next(i for i, node in enumerate(nodes) if node.name == self.name) + 1
        return nodes[:place], nodes[place:]

    @cached_property
    def crossing(self) -> tuple[list[str], list[str]]:
        """Names of the nodes whose values must cross, and of those whose values may."""
        head, tail = self.sides
        read = [node for node in head if not set(node.users).isdisjoint(tail)]
        must = [node.name for node in read if node.op != "get_attr"]
        may = [node.name for node in read if node.op == "get_attr"]
        return must, [*may, *({self.name} - {*must, *may})]


@rule("what crosses", Stage.RUNS)
def what_crosses(evidence: Evidence) -> Iterable[Finding]:
    """`head` returns a tuple with each value that the tail needs, once, and nothing else."""
    cut = Cut(evidence)
    for i, inputs in enumerate(evidence.trial.inputs):
        truth = AtCut(evidence.traced, cut.name)
        run_recorder(truth, inputs)
        run = evidence.outcome.runs[i]["forward"]
        if run["crossing"] is None and "error" in run:
            continue  # the run failed before; another rule reports it
        finding = _crossing_finding(evidence, cut, i, run["crossing"], truth.at_cut)
        finding = finding or _otherwise(evidence, i)
        if finding:
            yield finding
            return


def _otherwise(evidence: Evidence, i: int) -> Finding | None:
    """A finding if other values cross when the parts run in another way."""
    tensors, run = evidence.outcome.tensors, evidence.outcome.runs[i]
    want = _as_tuples(run["forward"]["crossing"])
    ways: dict[Way, str] = {"interpreter": "under `fx.Interpreter`", "copy": "as a copy"}
    for how in ways:
        if how not in run or "error" in run[how]:
            continue
        if difference(_as_tuples(run[how]["crossing"]), tensors, want, tensors):
            return evidence.finding(
                "interpreter-disagrees" if how == "interpreter" else "copy-breaks",
                f"On {evidence.inputs_text(i)}, `head` hands over other values {ways[how]}.",
                "Look for state that is kept outside the module and its graph.",
            )
    return None


def _crossing_finding(
    evidence: Evidence, cut: Cut, i: int, got: Encoded, values: dict[str, Any]
) -> Finding | None:
    where = f"On {evidence.inputs_text(i)}, `head`"
    if not isinstance(got, dict) or "tuple" not in got:
        return evidence.finding(
            "not-a-tuple",
            f"{where} returns {kind_of(got)}, not a tuple.",
            "A tuple of one value is a tuple, too.",
        )
    left = list(range(len(got["tuple"])))

    def same(place: int, name: str) -> bool:
        encoder = Encoder()
        want = _as_tuples(encoder.encode(values[name]))
        item = _as_tuples(got["tuple"][place])
        return difference(item, evidence.outcome.tensors, want, encoder.tensors) is None

    must, may = cut.crossing
    for name in must + may:
        place = next((place for place in left if same(place, name)), None)
        if place is not None:
            left.remove(place)
        elif name in must:
            return evidence.finding(
                "not-handed-over",
                f"{where} does not return the value of `{name}`, which nodes after "
                f"`{cut.name}` read.",
                "Inputs and earlier values may be read late.",
                nodes=(name,),
            )
    for place in left:
        twice = next((name for name in must + may if same(place, name)), None)
        what = f"the value of `{twice}` twice" if twice else _extra_text(place, values, same)
        return evidence.finding(
            "crosses-twice" if twice else "crosses-too-much",
            f"{where} returns {what}.",
            "Ask of each node up to the cut: does a node after the cut read it? "
            "A value with several readers crosses once.",
            nodes=(twice,) if twice else (),
        )
    return None


def _extra_text(place: int, values: dict[str, Any], same: Any) -> str:
    name = next((name for name in values if same(place, name)), None)
    what = f"the value of `{name}`" if name else f"a value (item {place})"
    return f"{what}, which nothing after the cut reads"


def _as_tuples(data: Encoded) -> Encoded:
    """Encoded data with lists as tuples, because an Interpreter returns ``*args`` as a list."""
    if not isinstance(data, dict):
        return data
    kind, body = unwrap(data)
    if kind in ("list", "tuple"):
        return {"tuple": [_as_tuples(item) for item in body]}
    return data
