"""A duel: a pass under suspicion, and right ones, each on the trace of a learner's model.

The passes change graphs here, where right ones may be; they are rebuilt from what is on the list,
and nothing of them is compiled. What comes out is described again, and runs where graphs run.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unittest import mock

import torch
from torch import fx

from autograder.core.codec import Encoder, Plain
from autograder.core.graph_jobs import TIMES
from autograder.core.graph_program import NotAdmitted, admitted
from autograder.core.graph_record import describe
from autograder.core.input_codec import MOST_NUMBERS, describe_inputs, inputs_of
from autograder.core.outcome import Outcome
from autograder.judge.compare import difference
from autograder.judge.error_text import error_text
from autograder.judge.evidence import Evidence

Pass = Callable[[fx.GraphModule], fx.GraphModule]

MOST_CALLS = 50
"""A trace with more calls is not looked at: every limit is far below."""

JOB = "results on own inputs"

_HANDMADE = frozenset(
    "operator.iadd operator.iand operator.iconcat operator.ifloordiv operator.ilshift "
    "operator.imatmul operator.imod operator.imul operator.ior operator.ipow operator.irshift "
    "operator.isub operator.itruediv operator.ixor".split()
)
"""Functions that no trace of a model calls: `x += 1` is traced as `operator.add`."""


@dataclass(frozen=True)
class Fight:
    """What a duel is about.

    Attributes:
        suspect: the pass that is wrong.
        name: what learners call it, in `autograder.suspects`.
        task: what it is meant to do, to stand behind "its task: ".
        right: passes that do the task rightly, two or more.
        keeps_meaning: whether the task leaves what a model computes as it is.
        limit: the most calls that a witness may have.
        record: how many the shortest known has.
        try_this: where to look while the suspect is right.
    """

    suspect: Pass
    name: str
    task: str
    right: tuple[Pass, ...]
    keeps_meaning: bool
    limit: int
    record: int
    try_this: str


@dataclass(frozen=True)
class Ran:
    """What came of a run.

    Attributes:
        record: as `core.execution.run_once` makes it.
        tensors: the table that it refers to.
        broken: why the graph cannot run at all; empty where it was run.
    """

    record: Plain
    tensors: list[torch.Tensor]
    broken: str = ""

    @property
    def error(self) -> str:
        """What it raised, as text; ``""`` if it returned."""
        return error_text(self.record["error"]) if "error" in self.record else ""

    def differs(self, other: Ran) -> str:
        """How this differs from another run that returned, in words; ``""`` if it does not."""
        if self.error:
            return (
                f"the graph cannot run: {self.broken}" if self.broken else f"it raises {self.error}"
            )
        for key, words in (("value", "the result"), ("args", "the arguments afterwards")):
            found = difference(
                self.record[key], self.tensors, other.record[key], other.tensors, words
            )
            if found:
                return found.text
        return ""


class Duel:
    """The passes of a duel on one trace.

    Attributes:
        fight: what it is about.
        evidence: the outcome that holds the trace.
    """

    def __init__(self, fight: Fight, evidence: Evidence) -> None:
        self.fight, self.evidence = fight, evidence

    @cached_property
    def trace(self) -> fx.GraphModule:
        """The trace, rebuilt in eval mode, with the names that FX itself gives to nodes.

        Raises:
            NotAdmitted: it holds something that is not run, or does not fit together.
        """
        tensors = self.evidence.outcome.tensors
        if sum(tensor.numel() for tensor in tensors) > 10 * MOST_NUMBERS:
            raise NotAdmitted("it holds too many numbers")
        program = admitted(_in_eval_mode(self.evidence.graph), tensors, {})
        for row in self.evidence.graph["nodes"]:
            if isinstance(row["target"], dict) and row["target"].get("function") in _HANDMADE:
                raise NotAdmitted("no trace holds an operator in place")
        with nothing_compiled():
            return fx.GraphModule(program.root, _named_anew(program.graph))

    @cached_property
    def size(self) -> int:
        """How many calls the trace has."""
        return sum(row["op"].startswith("call_") for row in self.evidence.graph["nodes"])

    @cached_property
    def given(self) -> tuple[object, ...]:
        """The inputs of the witness."""
        return inputs_of(self.evidence.outcome.value["given"], self.evidence.outcome.tensors)

    @cached_property
    def claimed(self) -> dict[str, Ran]:
        """What is said of the model and its trace, where they were made."""
        ran = self.evidence.outcome.value["ran"]
        return {how: Ran(record, self.evidence.outcome.tensors) for how, record in ran.items()}

    @cached_property
    def plain(self) -> tuple[Ran, Ran]:
        """The trace as it is, run twice."""
        return self._run(self.trace)

    @cached_property
    def right(self) -> tuple[Ran, ...]:
        """What the right passes make of the trace."""
        return tuple(self._after(change) for change in self.fight.right)

    @cached_property
    def suspect(self) -> Ran:
        """What the suspect makes of the trace."""
        return self._after(self.fight.suspect)

    @property
    def suspect_changes_it(self) -> bool:
        """Whether the graph that the suspect makes of the trace is another one."""
        return self.suspect is not self.plain[0]

    def _after(self, change: Pass) -> Ran:
        """What a pass makes of the trace, run; what it raises counts as raised by the run."""
        with nothing_compiled():
            try:
                changed = change(copy.deepcopy(self.trace))
            except Exception as error:
                return _raised(error)
            if str(changed.graph) == str(self.trace.graph):
                return self.plain[0]  # no pass changes weights and no node
        return self._run(changed)[0]

    def _run(self, gm: fx.GraphModule) -> tuple[Ran, Ran]:
        """Two runs of a graph module, where graphs run.

        Raises:
            NotAdmitted: it was not run there, though nothing is wrong with the graph.
        """
        encoder = Encoder()
        with nothing_compiled():
            value = {"graph_module": describe(gm, encoder)}
        try:
            admitted(value["graph_module"], encoder.tensors, {})
        except NotAdmitted as error:  # the pass has broken the graph, such as by a loop
            return (_raised(error),) * 2
        value["given"] = describe_inputs(self.given, encoder)
        outcome = Outcome(self.evidence.case.name, value=value, tensors=encoder.tensors)
        found, tensors = self.evidence.done_with(JOB, outcome, TIMES)
        if not isinstance(found, list):
            raise NotAdmitted(str(found.get("not admitted", "it was not run")))
        first, second = (Ran(record, tensors) for record in found)
        return first, second


@contextmanager
def nothing_compiled() -> Iterator[None]:
    """No graph's code is compiled meanwhile: a pass may call `recompile` as it is used to."""
    with mock.patch.object(fx.GraphModule, "recompile", lambda gm: None):
        yield


def _in_eval_mode(description: Plain) -> Plain:
    modules = [
        row if "same_as" in row else {**row, "training": False} for row in description["modules"]
    ]
    return {**description, "modules": modules}


_UNWRITTEN: dict[Any, Any] = {
    torch.empty: torch.zeros,
    torch.empty_like: torch.zeros_like,
    "new_empty": "new_zeros",
}
"""Memory that nobody has written may hold anything: it is taken to hold zeros, in every run."""


def _named_anew(graph: fx.Graph) -> fx.Graph:
    """A copy of a graph with the names that a trace gives: what was claimed may be any."""
    copied = fx.Graph()
    made: dict[fx.Node, fx.Node] = {}
    for node in graph.nodes:
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), made.__getitem__)
        made[node] = copied.create_node(node.op, node.target, args, kwargs)
        if node.op in ("call_function", "call_method"):
            made[node].target = _written(node.target)
    return copied


def _written(target: Any) -> Any:
    """What is called in place of a call that gives memory which nobody has written."""
    name = target if isinstance(target, str) else getattr(target, "__name__", "")
    if target not in _UNWRITTEN and "empty" in name:
        raise NotAdmitted(f"`{name}` gives memory that nobody has written")
    return _UNWRITTEN.get(target, target)


def _raised(error: Exception) -> Ran:
    broken = str(error)[:300] if isinstance(error, NotAdmitted) else ""
    return Ran({"error": {"type": type(error).__name__, "message": str(error)[:300]}}, [], broken)
