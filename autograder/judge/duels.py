"""A duel: a suspect pass and passes that are right, each run on the trace of a learner's model.

The passes change graphs in this process, because right passes may be here. The graphs are rebuilt
from listed operations only, and nothing is compiled. The changed graphs are described again, and
run by the process that runs graphs.
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

from autograder.core.codec import Encoder
from autograder.core.execution import CallResult
from autograder.core.graph_jobs import TIMES
from autograder.core.graph_program import NotAdmitted, admitted
from autograder.core.graph_record import GraphRecord, ModuleRecord, describe
from autograder.core.input_codec import MOST_NUMBERS, describe_inputs, inputs_of
from autograder.core.outcome import Outcome, ResultRecord
from autograder.judge.compare import difference
from autograder.judge.error_text import error_text
from autograder.judge.evidence import Evidence

Pass = Callable[[fx.GraphModule], fx.GraphModule]

MOST_CALLS = 50
"""A trace with more calls is rejected; every exercise's limit is far below."""

JOB = "results on own inputs"

_NEVER_TRACED = frozenset(
    "operator.iadd operator.iand operator.iconcat operator.ifloordiv operator.ilshift "
    "operator.imatmul operator.imod operator.imul operator.ior operator.ipow operator.irshift "
    "operator.isub operator.itruediv operator.ixor".split()
)
"""Functions that no trace of a model calls: `x += 1` is traced as `operator.add`."""


@dataclass(frozen=True)
class Fight:
    """The description of a duel.

    Attributes:
        suspect: the wrong pass.
        name: its name for learners, in `autograder.suspects`.
        task: the purpose of the pass, to follow the words "its task: ".
        right: passes that do the task rightly, two or more.
        keeps_meaning: whether the task preserves a model's results.
        limit: the most calls that a witness may have.
        record: the number of calls of the shortest known witness.
        try_this: advice while the suspect is right.
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
    """The result of a run.

    Attributes:
        record: in the form of `core.execution.run_once`.
        tensors: the tensor table of the record.
        broken: why the graph cannot run; empty if it was run.
    """

    record: CallResult
    tensors: list[torch.Tensor]
    broken: str = ""

    @property
    def error(self) -> str:
        """The exception as text; ``""`` if the run returned."""
        return error_text(self.record["error"]) if "error" in self.record else ""

    def differs(self, other: Ran) -> str:
        """The difference from another run, which returned, in words; ``""`` if there is none."""
        if self.error:
            return (
                f"the graph cannot run: {self.broken}" if self.broken else f"it raises {self.error}"
            )
        one, two, tables = self.record, other.record, (self.tensors, other.tensors)
        found = difference(one["value"], tables[0], two["value"], tables[1]) or difference(
            one["args"], tables[0], two["args"], tables[1], "the arguments afterwards"
        )
        return found.text if found else ""


class Duel:
    """The passes of a duel, applied to one trace.

    Attributes:
        fight: the description of the duel.
        evidence: the outcome that contains the trace.
    """

    def __init__(self, fight: Fight, evidence: Evidence) -> None:
        self.fight, self.evidence = fight, evidence

    @cached_property
    def trace(self) -> fx.GraphModule:
        """The trace, rebuilt in eval mode, with the node names that FX gives.

        Raises:
            NotAdmitted: if it contains an operation that is not run, or is inconsistent.
        """
        tensors = self.evidence.outcome.tensors
        if sum(tensor.numel() for tensor in tensors) > 10 * MOST_NUMBERS:
            raise NotAdmitted("it holds too many numbers")
        program = admitted(_in_eval_mode(self.evidence.graph), tensors, {})
        for row in self.evidence.graph["nodes"]:
            if isinstance(row["target"], dict) and row["target"].get("function") in _NEVER_TRACED:
                raise NotAdmitted("no trace holds an operator in place")
        with nothing_compiled():
            return fx.GraphModule(program.root, _with_traced_names(program.graph))

    @cached_property
    def size(self) -> int:
        """The number of calls in the trace."""
        return sum(row["op"].startswith("call_") for row in self.evidence.graph["nodes"])

    @cached_property
    def given(self) -> tuple[object, ...]:
        """The inputs of the witness."""
        return inputs_of(self.evidence.outcome.value["given"], self.evidence.outcome.tensors)

    @cached_property
    def claimed(self) -> dict[str, Ran]:
        """The recorded runs of the model and its trace, from the learner's process."""
        ran = self.evidence.outcome.value["ran"]
        return {how: Ran(record, self.evidence.outcome.tensors) for how, record in ran.items()}

    @cached_property
    def plain(self) -> tuple[Ran, Ran]:
        """Two runs of the unchanged trace."""
        return self._run(self.trace)

    @cached_property
    def right(self) -> tuple[Ran, ...]:
        """The runs of the trace after each right pass."""
        return tuple(self._after(change) for change in self.fight.right)

    @cached_property
    def suspect(self) -> Ran:
        """The run of the trace after the suspect."""
        return self._after(self.fight.suspect)

    @property
    def suspect_changes_it(self) -> bool:
        """Whether the suspect changes the trace."""
        return self.suspect is not self.plain[0]

    def _after(self, change: Pass) -> Ran:
        """Run the trace after a pass; an exception of the pass counts as raised by the run."""
        with nothing_compiled():
            try:
                changed = change(copy.deepcopy(self.trace))
            except Exception as error:
                return _raised(error)
            if str(changed.graph) == str(self.trace.graph):
                return self.plain[0]  # no pass changes only weights
        return self._run(changed)[0]

    def _run(self, gm: fx.GraphModule) -> tuple[Ran, Ran]:
        """Run a graph module twice, in the process that runs graphs.

        Raises:
            NotAdmitted: if it was not run there, although the graph is valid.
        """
        encoder = Encoder()
        with nothing_compiled():
            value: ResultRecord = {"graph_module": describe(gm, encoder)}
        try:
            admitted(value["graph_module"], encoder.tensors, {})
        except NotAdmitted as error:  # the pass has broken the graph, for example by a cycle
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
    """Disable compiling of graph code: a pass may call `recompile` as usual."""
    with mock.patch.object(fx.GraphModule, "recompile", lambda gm: None):
        yield


def _in_eval_mode(description: GraphRecord) -> GraphRecord:
    modules: list[ModuleRecord] = [
        row if "same_as" in row else {**row, "training": False} for row in description["modules"]
    ]
    return {**description, "modules": modules}


_INITIALIZED: dict[Any, Any] = {
    torch.empty: torch.zeros,
    torch.empty_like: torch.zeros_like,
    "new_empty": "new_zeros",
}
"""Uninitialized memory has any values: it is replaced by zeros, in every run."""


def _with_traced_names(graph: fx.Graph) -> fx.Graph:
    """A copy of a graph with the names that tracing gives; claimed names may be arbitrary."""
    copied = fx.Graph()
    made: dict[fx.Node, fx.Node] = {}
    for node in graph.nodes:
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), made.__getitem__)
        made[node] = copied.create_node(node.op, node.target, args, kwargs)
        if node.op in ("call_function", "call_method"):
            made[node].target = _initialized(node.target)
    return copied


def _initialized(target: Any) -> Any:
    """The replacement of a call that returns uninitialized memory; other targets unchanged."""
    name = target if isinstance(target, str) else getattr(target, "__name__", "")
    if target not in _INITIALIZED and "empty" in name:
        raise NotAdmitted(f"`{name}` gives memory that nobody has written")
    return _INITIALIZED.get(target, target)


def _raised(error: Exception) -> Ran:
    broken = str(error)[:300] if isinstance(error, NotAdmitted) else ""
    return Ran({"error": {"type": type(error).__name__, "message": str(error)[:300]}}, [], broken)
