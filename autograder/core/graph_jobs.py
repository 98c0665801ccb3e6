"""What is done with a described graph that was admitted: it is run, and looked at while it runs.

This is the one place where something that a student's process described comes to life. In a
classroom that happens in a process that holds no expectation (`boxed.graph_service`), in a
learner's notebook where the answer was tried, too. What comes out is plain data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import torch
from torch import fx, nn
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

from autograder.core.codec import Encoder, Plain
from autograder.core.execution import run_both, run_once
from autograder.core.exercise import Case, Trial
from autograder.core.global_state import preserve_global_state
from autograder.core.graph_program import NotAdmitted, NotListed, Program, admitted
from autograder.core.input_codec import inputs_of
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome
from autograder.core.storage import needed, recorded_program
from autograder.core.user_code import STAND_INS

JobResult = tuple[Plain, list[torch.Tensor]]
"""What a job found, and the table of the tensors in it."""

Job = Callable[[list[Program], Trial, Encoder], Plain]


class GraphRunner(Protocol):
    """Does a job with the graphs of an outcome, here or elsewhere.

    It is told how many inputs the case has, so that it need not build the case to count them.
    """

    def __call__(
        self, job: str, case: Case, outcome: Outcome, seed: int, inputs: int
    ) -> JobResult: ...


def trial_for(job: str, make: Callable[[int], Trial], seed: int) -> Trial:
    """Fresh objects of a case, as far as a job looks at them: few look at the model."""
    if job not in _LOOK_AT_ARGUMENTS and hasattr(make, "without_model"):
        found: Trial = make.without_model(seed)
        return found
    return make(seed)


def do_here(job: str, case: Case, outcome: Outcome, seed: int, inputs: int) -> JobResult:
    """Do a job in this process; see `do_job`."""
    return do_job(job, trial_for(job, case.make, seed), outcome.value, outcome.tensors)


def do_job(job: str, trial: Trial, value: Plain, tensors: list[torch.Tensor]) -> JobResult:
    """Do a job with the described graphs in a value.

    Args:
        job: a key of `JOBS`.
        trial: fresh objects of the case.
        value: what an answer returned, as it was described; ``given`` are inputs of its own.
        tensors: the table that it refers to.

    Returns:
        What was found; ``{"not listed": name}`` where an operation is not on the list, and
        ``{"not admitted": why}`` where something else is not run.
    """
    encoder = Encoder(trial.functions)
    try:
        functions = {**trial.functions, **STAND_INS}
        programs = [admitted(data, tensors, functions) for data in graphs_in(value)]
        if job == "results on own inputs":
            trial = replace(trial, inputs=_own_inputs(value["given"], tensors))
        with preserve_global_state(), bounded_output(0), torch.random.fork_rng(devices=[]):
            return JOBS[job](programs, trial, encoder), encoder.tensors
    except NotListed as error:
        return {"not listed": error.operation}, []
    except NotAdmitted as error:
        return {"not admitted": str(error)}, []


def graphs_in(value: Plain) -> list[Plain]:
    """The descriptions of graphs in a value: the module's, and the tail's if there is one."""
    return [value[key] for key in ("graph_module", "tail") if key in value]


TIMES = 2
"""How often a graph is run on inputs that came with it: twice, to see whether that agrees."""


def _own_inputs(given: Plain, tensors: list[torch.Tensor]) -> tuple[tuple[Any, ...], ...]:
    """The inputs that came with a graph, once for each time that it is run on them."""
    try:
        return (inputs_of(given, tensors),) * TIMES
    except ValueError as error:
        raise NotAdmitted(str(error)) from None


def _results(programs: list[Program], trial: Trial, encoder: Encoder) -> Plain:
    """A record of running the graph on each input of the case."""
    (program,) = programs
    return [
        run_once(program, inputs, encoder, owner=program.root, log=trial.log)
        for inputs in trial.inputs
    ]


def _results_of_both(programs: list[Program], trial: Trial, encoder: Encoder) -> Plain:
    """A record of running the second graph on what the first one returns, for each input."""
    head, tail = programs
    both = nn.ModuleList([head.root, tail.root])

    def on(inputs: tuple[Any, ...]) -> Plain:
        return run_both(
            head, tail, encoder, lambda call: run_once(call, inputs, encoder, owner=both)
        )

    return [on(inputs) for inputs in trial.inputs]


def _matches(programs: list[Program], trial: Trial, encoder: Encoder) -> Plain:
    """How many matches `fx.replace_pattern` would find of the pattern among the arguments."""
    (program,) = programs
    pattern = fx.symbolic_trace(trial.args[1]).graph
    matcher = SubgraphMatcher(
        pattern, match_output=False, match_placeholder=False, remove_overlapping_matches=True
    )
    return len(matcher.match(program.graph))


def _unneeded(programs: list[Program], trial: Trial, encoder: Encoder) -> Plain:
    """Names of the nodes that the output does not depend on; ``None`` where the graph raises."""
    (program,) = programs
    try:
        record = recorded_program(program, trial.inputs[0])
    except Exception:
        return None
    nodes = list(program.graph.nodes)
    keep = needed(record, {node.name for node in nodes if node.op == "output"})
    kept = ("placeholder", "output")
    return [node.name for node in nodes if node.name not in keep and node.op not in kept]


JOBS: dict[str, Job] = {
    "results": _results,
    "results of both": _results_of_both,
    "results on own inputs": _results,
    "matches": _matches,
    "unneeded": _unneeded,
}

_LOOK_AT_ARGUMENTS = frozenset({"matches"})
