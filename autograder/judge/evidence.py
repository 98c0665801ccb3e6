"""The evidence for a rule: one outcome, and new objects of its case."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import groupby, starmap
from typing import Any, Protocol, TypeVar, cast

import torch
from torch import fx, nn

from autograder.core.codec import Encoder
from autograder.core.execution import ErrorRecord
from autograder.core.exercise import Case, Exercise, Expect, Trial
from autograder.core.graph_jobs import GraphRunner, JobResult, do_here
from autograder.core.graph_program import NotListed, Program, admitted
from autograder.core.graph_record import GraphRecord, Signature, describe, signature_of
from autograder.core.outcome import Outcome, Reference, ResultRecord, RunRecord
from autograder.core.user_code import STAND_INS, own_calls, substitute_user_code
from autograder.core.verdict import Finding
from autograder.judge.derived_graph import DerivedGraph
from autograder.judge.error_text import error_text, near_advice
from autograder.judge.inline_compiled import inline_compiled
from autograder.judge.splice import with_rules_applied

MOST_AHEAD = 100_000
"""Most numbers in a model that is cached in advance: memory holds many such models."""

Expected = TypeVar("Expected", bound=Expect)


def traced_nodes(case: Case, seed: int) -> int | None:
    """The number of nodes in a fresh trace of the case's model; ``None`` if not cached yet."""
    described = case.cache.get(("traced", seed))
    return len(described["nodes"]) if described and case.expect.trace is None else None


class KnowsReferences(Protocol):
    """The part of an answer key that evidence needs."""

    def reference(self, exercise: Exercise, case: Case, seed: int = 0) -> Reference:
        """The expected result of a case."""


class Evidence:
    """One outcome with everything that a rule may read.

    Attributes:
        exercise: the exercise.
        case: the case that was tried.
        claimed: the outcome as the runner recorded it.
        trial: new objects of the case, equal to those that the answer received.
    """

    def __init__(
        self,
        exercise: Exercise,
        case: Case,
        outcome: Outcome,
        key: KnowsReferences,
        seed: int = 0,
        runner: GraphRunner = do_here,
    ) -> None:
        self.exercise, self.case, self.claimed = exercise, case, outcome
        self._key, self._seed, self._runner = key, seed, runner
        self._jobs: dict[str, JobResult] = {}

    @cached_property
    def outcome(self) -> Outcome:
        """The recorded outcome; returned decomposition rules are applied to the case's model."""
        if self.exercise.kind != "decomposition_rules":
            return self.claimed
        return with_rules_applied(self.claimed, lambda: self.traced, self.trial)

    @property
    def you(self) -> str:
        """The learner's function, to begin a sentence with."""
        return f"`{self.exercise.name}`"

    def finding(
        self,
        code: str,
        message: str,
        advice: str = "",
        nodes: Iterable[str] = (),
        *,
        error: ErrorRecord | None = None,
    ) -> Finding:
        """Create a finding about this case.

        Args:
            code: its stable key.
            message: the problem.
            advice: a question or hint for the learner.
            nodes: names of the nodes concerned.
            error: the record of the exception that the message describes, if any. If a name in it
                nearly matches an existing one, the finding points to this name instead of `advice`.
        """
        raised = error_text(error) if error else ""
        advice = near_advice(error or ErrorRecord()) or advice
        return Finding(
            code, message, advice, case=self.case.name, nodes=tuple(nodes), raised=raised
        )

    @cached_property
    def trial(self) -> Trial:
        """New objects, equal to those that the answer received."""
        ahead: Trial | None = self.case.cache.pop(self._ahead, None)
        return ahead or self.case.make(self._seed)

    def make_ahead(self) -> None:
        """Cache this unmodified trial for the next evaluation of the case."""
        if _size(self.trial.model) <= MOST_AHEAD:
            self.case.cache[self._ahead] = self.trial

    @property
    def _ahead(self) -> tuple[str, int]:
        return "trial", self._seed

    @cached_property
    def reference(self) -> Reference:
        """The expected result of this case."""
        found: Reference = self.known(
            "reference", lambda: self._key.reference(self.exercise, self.case, self._seed)
        )
        return found

    def expects(self, kind: type[Expected]) -> Expected:
        """The case's expectation, if it is of the exercise's own type; else that type's default."""
        found = self.case.expect
        return found if isinstance(found, kind) else kind()

    # ---------------------------------------------------------------- the result's graph

    @property
    def value(self) -> ResultRecord:
        """The returned value, for a rule that knows its kind."""
        return cast(ResultRecord, self.outcome.value)

    @property
    def has_graph(self) -> bool:
        """Whether the answer returned a graph module."""
        return isinstance(self.outcome.value, dict) and "graph_module" in self.outcome.value

    @property
    def graph(self) -> GraphRecord:
        """The description of the returned graph module; see `describe`."""
        return self.value["graph_module"]

    @cached_property
    def traced(self) -> fx.GraphModule:
        """A fresh trace of a new copy of the case's model, made by the case's tracing function."""
        trace = self.case.expect.trace or fx.symbolic_trace
        return trace(cast(nn.Module, self.case.make(self._seed).model))

    @cached_property
    def traced_graph(self) -> GraphRecord:
        """The description of the fresh trace."""
        found: GraphRecord = self.known(
            "traced", lambda: describe(self.traced, Encoder(self.trial.functions))
        )
        return found

    @property
    def traced_signature(self) -> Signature | None:
        """The parameters of the traced model's ``forward``."""
        found: Signature | None = self.known(
            "signature", lambda: signature_of(self._signed, Encoder(self.trial.functions))
        )
        return found

    @property
    def _signed(self) -> nn.Module:
        """The module whose ``forward`` has the traced model's parameters.

        For a random model this is the model itself: its ``forward`` names all parameters.
        """
        model = self.trial.model
        plain = self.case.recipe is not None and self.case.expect.trace is None
        return model if plain and model is not None else self.traced

    def known(self, what: str, compute: Callable[[], Any]) -> Any:
        """Return a cached fact about the case, computed for the first answer that is judged.

        Args:
            what: its key in the case's cache.
            compute: computes it.
        """
        key = what, self._seed
        if key not in self.case.cache:
            self.case.cache[key] = compute()
        return self.case.cache[key]

    @cached_property
    def graph_to_run(self) -> GraphRecord:
        """The description to run, with stand-ins for permitted own code, and subgraphs inlined.

        A compiled call is replaced by the subgraph that the case's compiler received for it.
        """
        value = self.value
        described = inline_compiled(value) if "pieces" in value else self.graph
        return substitute_user_code(self.exercise.own_code, described)

    @cached_property
    def own_code(self) -> list[tuple[str, str]]:
        """Nodes that call the learner's own code without permission of the exercise.

        Pairs of the node's name and the name of the called function or module.
        """
        return self.own_code_in(self.graph_to_run)

    @staticmethod
    def own_code_in(description: GraphRecord) -> list[tuple[str, str]]:
        """All nodes of a description that call the learner's own code, permitted or not."""
        names = [row["name"] for row in description["nodes"]]
        return [(names[i], called) for i, called in own_calls(description)]

    @cached_property
    def rebuilt(self) -> Program | None:
        """The result as a program admitted by the judge, for reading; `done` runs it.

        It is ``None`` if the result calls the learner's own code.

        Raises:
            ValueError: if the description is inconsistent, or the graph's code is not generated by
                FX itself.
        """
        if self.own_code:
            return None
        if self.graph["codegen"] != ("_PyTreeCodeGen" if "trees" in self.value else "CodeGen"):
            raise ValueError(f"its code is written by `{self.graph['codegen']}`, not by FX itself")
        functions = {**self.trial.functions, **STAND_INS}
        return admitted(self.graph_to_run, self.outcome.tensors, functions)

    @cached_property
    def derived(self) -> DerivedGraph:
        """The links, signature and lint result of the returned graph, derived by the judge."""
        return DerivedGraph(self.graph, self._rebuilt_graph)

    @staticmethod
    def derived_from(description: GraphRecord) -> DerivedGraph:
        """The same for one of several graphs, from its rows alone."""
        return DerivedGraph(description, lambda: None)

    def _rebuilt_graph(self) -> fx.Graph | None:
        try:
            return None if self.rebuilt is None else self.rebuilt.graph
        except Exception:
            return None  # the description is inconsistent: the process that runs it reports why

    @property
    def _is_admitted(self) -> bool:
        try:
            return self.rebuilt is not None
        except ValueError:
            return False

    @cached_property
    def unlisted(self) -> str:
        """The operation of the result that the judge must not run, as no list has it; or ``""``."""
        if not self.has_graph:
            return ""
        functions = {**self.trial.functions, **STAND_INS}
        tail = self.value.get("tail")
        graphs = () if self._is_admitted else (self.graph_to_run,)
        for data in (*graphs, *([tail] if tail else ())):
            try:
                admitted(data, self.outcome.tensors, functions)
            except NotListed as error:
                return error.operation
            except ValueError:
                continue
        return ""

    # ---------------------------------------------------------------- running it

    def done(self, job: str) -> Any:
        """The result of running the graph; see `core.graph_jobs`.

        Raises:
            ValueError: if the graph is not run; the message says why.
        """
        if job not in self._jobs:
            value: ResultRecord = {**self.value, "graph_module": self.graph_to_run}
            value.pop("pieces", None)  # already inlined in the graph
            outcome = Outcome(self.outcome.case, value=value, tensors=self.outcome.tensors)
            self._jobs[job] = self._runner(
                job, self.case, outcome, self._seed, len(self.trial.inputs)
            )
        found, _ = self._jobs[job]
        for why in ("not admitted", "not listed"):
            if isinstance(found, dict) and why in found:
                raise ValueError(str(found[why]))
        return found

    def done_with(self, job: str, outcome: Outcome, inputs: int) -> JobResult:
        """The result of a job on a graph that the judge made, instead of the returned one.

        Args:
            job: see `core.graph_jobs`.
            outcome: contains the graph, like the outcome of an answer.
            inputs: number of inputs on which the graph is run.
        """
        return self._runner(job, self.case, outcome, self._seed, inputs)

    def run_record(self, i: int) -> RunRecord:
        """The runs of the result on input `i`: those claimed, and the judge's own."""
        runs = self.outcome.runs
        if i >= len(runs):
            error: ErrorRecord = {"type": "RuntimeError", "message": "the result was not run"}
            return {"forward": {"error": error}}
        record = runs[i].copy()
        if self.has_graph:
            try:
                if self.rebuilt is not None:
                    record["rebuilt"] = self.done("results")[i]
            except NotListed:
                pass  # its values are unknown; the verdict says so
            except ValueError as why:
                record["rebuilt"] = {"error": {"type": "ValueError", "message": str(why)}}
        return record

    def tensors_of(self, how: str) -> list[torch.Tensor]:
        """The tensor table of a run record: the outcome's, or that of the judge's own run."""
        return self.tensors_from("results") if how == "rebuilt" else self.outcome.tensors

    def tensors_from(self, job: str) -> list[torch.Tensor]:
        """The tensor table of a job's result."""
        return self._jobs[job][1] if job in self._jobs else []

    def inputs_text(self, i: int) -> str:
        """The case's input `i` in words."""
        return describe_inputs(self.trial.inputs[i])


def _size(model: nn.Module | None) -> int:
    """The number of entries in a model's parameters and buffers."""
    return 0 if model is None else sum(t.numel() for t in (*model.parameters(), *model.buffers()))


def describe_inputs(inputs: tuple[Any, ...]) -> str:
    """Arguments in words: shapes and dtypes of tensors, and the text of other values."""
    texts = [(text, len(list(same))) for text, same in groupby(map(_input_text, inputs))]
    return ", ".join(starmap(_several, texts)) or "no arguments"


def _several(text: str, count: int) -> str:
    """Several equal descriptions, for example ``two float32 tensors of shape (2, 3)``."""
    found = re.fullmatch(r"an? (\w+) tensor of shape (.*)", text)
    if count == 1 or found is None:
        return ", ".join([text] * count)
    number = {2: "two", 3: "three", 4: "four"}.get(count, str(count))
    return f"{number} {found[1]} tensors of shape {found[2]}"


def _input_text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        article = "an" if dtype.startswith("int") else "a"
        return f"{article} {dtype} tensor of shape {tuple(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_input_text, value))})"
    text = repr(value)
    return f"`{text}`" if len(text) <= 80 else f"a `{type(value).__name__}`"
