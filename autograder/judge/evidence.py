"""What a rubric property sees: one outcome, and fresh objects of its case."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import torch
from torch import fx

from autograder.describe import describe, rebuild, signature_of
from autograder.execution import run_once
from autograder.exercise import Case, Exercise, Trial
from autograder.judge.form import Form
from autograder.judge.own_code import STAND_INS, own_calls, taken_for
from autograder.limits import bounded_output
from autograder.outcome import Outcome
from autograder.plain import Encoder, Plain
from autograder.references import Reference, reference
from autograder.verdict import Finding


class Evidence:
    """One outcome with all that a rubric property may want to look at.

    Attributes:
        exercise: the exercise.
        case: the case that was tried.
        outcome: the record of trying it.
        trial: fresh objects of the case, as the answer was given them.
    """

    def __init__(self, exercise: Exercise, case: Case, outcome: Outcome, seed: int = 0) -> None:
        self.exercise, self.case, self.outcome = exercise, case, outcome
        self._seed = seed
        self._records: dict[int, dict[str, Plain]] = {}

    @property
    def you(self) -> str:
        """The learner's function, for the beginning of a sentence."""
        return f"`{self.exercise.name}`"

    def finding(
        self, code: str, message: str, look: str = "", nodes: Iterable[str] = ()
    ) -> Finding:
        """A finding about this case."""
        return Finding(code, message, look, case=self.case.name, nodes=tuple(nodes))

    @cached_property
    def trial(self) -> Trial:
        """Fresh objects, equal to those the answer was given."""
        return self.case.make(self._seed)

    @cached_property
    def reference(self) -> Reference:
        """What the reference solution gave on this case, or what the case's oracle says."""
        if self.case.oracle is not None:
            return self._known("oracle", lambda: self.case.oracle(self.case.make(self._seed)))
        return reference(self.exercise.chapter, self.exercise.name, self.case.name)

    # ---------------------------------------------------------------- the result's graph

    @property
    def has_graph(self) -> bool:
        """Whether the answer returned a graph module."""
        return isinstance(self.outcome.value, dict) and "graph_module" in self.outcome.value

    @property
    def graph(self) -> Plain:
        """The description of the graph module that came back; see `describe`."""
        return self.outcome.value["graph_module"]

    @cached_property
    def traced(self) -> fx.GraphModule:
        """A fresh trace of a fresh copy of the case's model, made as the case says."""
        trace = self.case.expect.get("trace", fx.symbolic_trace)
        return trace(self.case.make(self._seed).model)

    @cached_property
    def traced_graph(self) -> Plain:
        """The description of the fresh trace."""
        return self._known("traced", lambda: describe(self.traced, Encoder(self.trial.functions)))

    @property
    def traced_signature(self) -> Plain:
        """The parameters of the traced model's ``forward``."""
        return self._known(
            "signature", lambda: signature_of(self.traced, Encoder(self.trial.functions))
        )

    def _known(self, what: str, work_out: Callable[[], Any]) -> Any:
        """Something about the case itself, worked out for the first answer that is judged."""
        key = what, self._seed
        if key not in self.case.known:
            self.case.known[key] = work_out()
        return self.case.known[key]

    @cached_property
    def graph_to_run(self) -> Plain:
        """The description, with own code that the exercise allows taken for what it may be."""
        return taken_for(self.exercise.own_code, self.graph)

    @cached_property
    def own_code(self) -> list[tuple[str, str]]:
        """Nodes that call the learner's own code where the exercise does not allow it.

        Pairs of the node's name and the name of what it calls.
        """
        return self.own_code_in(self.graph_to_run)

    @staticmethod
    def own_code_in(description: Plain) -> list[tuple[str, str]]:
        """All nodes of a description that call the learner's own code, allowed or not."""
        names = [row["name"] for row in description["nodes"]]
        return [(names[i], called) for i, called in own_calls(description)]

    @cached_property
    def rebuilt(self) -> fx.GraphModule | None:
        """The result as the judge rebuilt it; ``None`` where it calls the learner's own code.

        Raises:
            ValueError: if the description does not fit together, or the graph's code is not
                written by FX itself.
        """
        if self.own_code:
            return None
        if self.graph["codegen"] != "CodeGen":
            raise ValueError(f"its code is written by `{self.graph['codegen']}`, not by FX itself")
        functions = {**self.trial.functions, **STAND_INS}
        return rebuild(self.graph_to_run, self.outcome.tensors, functions)

    @cached_property
    def form(self) -> Form:
        """The form of the result's graph, as the judge works it out."""
        return Form(self.graph, self._rebuilt_graph)

    @staticmethod
    def form_of(description: Plain) -> Form:
        """The form of one of several graphs, by its rows alone."""
        return Form(description, lambda: None)

    def _rebuilt_graph(self) -> fx.Graph | None:
        try:
            return None if self.rebuilt is None else self.rebuilt.graph
        except Exception:
            return None  # it does not fit together: whoever runs it says why

    # ---------------------------------------------------------------- running it

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self.trial.functions)

    def run_record(self, i: int) -> dict[str, Plain]:
        """What came of running the result on input `i`: the claims, and the judge's own run."""
        runs = self.outcome.runs
        if i >= len(runs):
            error = {"type": "RuntimeError", "message": "the result was not run"}
            return {"forward": {"error": error}}
        if i not in self._records:
            self._records[i] = self._record(i)
        return self._records[i]

    def _record(self, i: int) -> dict[str, Plain]:
        record = dict(self.outcome.runs[i])
        if self.has_graph:
            try:
                module = self.rebuilt
            except ValueError as error:
                record["rebuilt"] = {"error": {"type": "ValueError", "message": str(error)}}
            else:
                if module is not None:
                    record["rebuilt"] = self._run_rebuilt(module, i)
        return record

    def _run_rebuilt(self, module: fx.GraphModule, i: int) -> Plain:
        # FX prints a whole traceback when a graph's code fails; the finding says it in a line.
        with bounded_output(0), torch.random.fork_rng(devices=[]):
            inputs = copy.deepcopy(self.trial.inputs[i])
            return run_once(module, inputs, self._encoder, owner=module, log=self.trial.log)

    def tensors_of(self, how: str) -> list[torch.Tensor]:
        """The tensor table of a run record: the outcome's, or the judge's own."""
        return self._encoder.tensors if how == "rebuilt" else self.outcome.tensors

    def inputs_text(self, i: int) -> str:
        """The case's input `i` in words."""
        return describe_inputs(self.trial.inputs[i])


def describe_inputs(inputs: tuple[Any, ...]) -> str:
    """Arguments in words: shapes and dtypes of tensors, other values as they are."""
    return ", ".join(map(_input_text, inputs)) or "no arguments"


def _input_text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        return f"a {dtype} tensor of shape {tuple(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_input_text, value))})"
    return f"`{value!r}`"[:80]
