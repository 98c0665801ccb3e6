"""Jobs with an admitted graph: run it, and inspect it as it runs.

Only this module turns a student's description into something that runs. In a classroom it runs in a
process without expected results (`boxed.graph_service`); in a learner's notebook, in the process
that ran the answer. Every job returns plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol

import torch
from torch import fx, nn
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

from autograder.core.codec import Decoder, Encoder, Tagged
from autograder.core.execution import CallResult, run_both, run_once
from autograder.core.exercise import Case, Trial
from autograder.core.global_state import preserve_global_state
from autograder.core.graph_program import NotAdmitted, NotListed, Observe, Program, admitted
from autograder.core.graph_record import GraphRecord
from autograder.core.input_codec import InputsRecord, inputs_of
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome, ResultRecord
from autograder.core.storage import needed, recorded_program
from autograder.core.user_code import STAND_INS

JobResult = tuple[Any, list[torch.Tensor]]
"""The finding of a job, whose form differs from job to job, and the table of its tensors."""

Job = Callable[[list[Program], Trial, Encoder], object]


class Nested(Program):
    """A program that is called with nested arguments, and gives a nested result.

    Args:
        program: takes the leaves of the arguments, and gives a list of the leaves of the result.
        trees: the arguments and the result, with numbers of leaves in the places of values.

    Raises:
        NotAdmitted: the numbers do not fit the program's placeholders.
    """

    def __init__(self, program: Program, trees: Tagged) -> None:
        vars(self).update(vars(program))
        try:
            self._given, self._result = Decoder([]).decode(trees)
        except ValueError as error:
            raise NotAdmitted(str(error)) from None
        places = sorted(_leaves(self._given, self._given))
        if [number for number, _ in places] != list(range(len(program.signature.parameters))):
            raise NotAdmitted("its placeholders are not the leaves of its arguments")

    def run(self, *inputs: Any, observe: Observe | None = None) -> Any:
        """Evaluate the graph on the leaves of the inputs."""
        flat = dict(_leaves(self._given, inputs))
        result = super().run(*(flat[i] for i in range(len(flat))), observe=observe)
        return _filled(self._result, result)

    __call__ = run


def _leaves(tree: Any, values: Any) -> Iterator[tuple[int, Any]]:
    """The number of each leaf, with the value in its place.

    Raises:
        ValueError: the values are nested in another way.
    """
    if type(tree) is int:
        yield tree, values
        return
    if type(tree) is not type(values) or len(tree) != len(values):
        raise ValueError("the arguments are nested in another way")
    if isinstance(tree, dict):
        if tree.keys() != values.keys():
            raise ValueError("a dictionary among the arguments has other keys")
        for key, item in tree.items():
            yield from _leaves(item, values[key])
    elif isinstance(tree, (list, tuple)):
        for item, value in zip(tree, values, strict=True):
            yield from _leaves(item, value)
    else:
        raise ValueError("the arguments are nested in a way that is not known here")


def _filled(tree: Any, leaves: Any) -> Any:
    """The tree with the leaves in the places of their numbers."""
    if type(tree) is int:
        return leaves[tree]
    if isinstance(tree, dict):
        return {key: _filled(item, leaves) for key, item in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(_filled(item, leaves) for item in tree)
    return tree


class GraphRunner(Protocol):
    """Does a job with the graphs of an outcome, in this process or another.

    It takes the number of the case's inputs, so that it need not build the case to count them.
    """

    def __call__(
        self, job: str, case: Case, outcome: Outcome, seed: int, inputs: int
    ) -> JobResult: ...


def trial_for(job: str, make: Callable[[int], Trial], seed: int) -> Trial:
    """Build the objects of a case that a job reads; few jobs read the model."""
    if job not in _NEED_ARGUMENTS and hasattr(make, "without_model"):
        found: Trial = make.without_model(seed)
        return found
    return make(seed)


def do_here(job: str, case: Case, outcome: Outcome, seed: int, inputs: int) -> JobResult:
    """Do a job in this process; see `do_job`."""
    return do_job(job, trial_for(job, case.make, seed), outcome.value, outcome.tensors)


def do_job(job: str, trial: Trial, value: ResultRecord, tensors: list[torch.Tensor]) -> JobResult:
    """Do a job with the described graphs in a value.

    Args:
        job: a key of `JOBS`.
        trial: fresh objects of the case.
        value: the description of an answer's result; ``given`` are inputs that the answer returned.
        tensors: the table that it refers to.

    Returns:
        The finding; ``{"not listed": name}`` if an operation is not on the list, and
        ``{"not admitted": why}`` if the graph contains something else that must not run.
    """
    encoder = Encoder(trial.functions)
    try:
        functions = {**trial.functions, **STAND_INS}
        programs = [admitted(data, tensors, functions) for data in graphs_in(value)]
        if "trees" in value:
            programs = [Nested(program, value["trees"]) for program in programs]
        if job == "results on own inputs":
            trial = replace(trial, inputs=_own_inputs(value["given"], tensors))
        with preserve_global_state(), bounded_output(0), torch.random.fork_rng(devices=[]):
            return JOBS[job](programs, trial, encoder), encoder.tensors
    except NotListed as error:
        return {"not listed": error.operation}, []
    except NotAdmitted as error:
        return {"not admitted": str(error)}, []


def graphs_in(value: ResultRecord) -> list[GraphRecord]:
    """The described graphs in a value: the module's, and the tail's if there is one."""
    return [value["graph_module"], *([value["tail"]] if "tail" in value else [])]


TIMES = 2
"""Number of runs of a graph on inputs that the answer returned, to check that the runs agree."""


def _own_inputs(given: InputsRecord, tensors: list[torch.Tensor]) -> tuple[tuple[Any, ...], ...]:
    """The inputs that the answer returned, once for each run."""
    try:
        return (inputs_of(given, tensors),) * TIMES
    except ValueError as error:
        raise NotAdmitted(str(error)) from None


def _results(programs: list[Program], trial: Trial, encoder: Encoder) -> list[CallResult]:
    """Run the graph on each input of the case."""
    (program,) = programs
    return [
        run_once(program, inputs, encoder, owner=program.root, log=trial.log)
        for inputs in trial.inputs
    ]


def _results_of_both(programs: list[Program], trial: Trial, encoder: Encoder) -> list[CallResult]:
    """Run the second graph on the results of the first, for each input."""
    head, tail = programs
    both = nn.ModuleList([head.root, tail.root])

    def on(inputs: tuple[Any, ...]) -> CallResult:
        return run_both(
            head, tail, encoder, lambda call: run_once(call, inputs, encoder, owner=both)
        )

    return [on(inputs) for inputs in trial.inputs]


def _matches(programs: list[Program], trial: Trial, encoder: Encoder) -> int:
    """The number of matches that `fx.replace_pattern` would find of the case's pattern."""
    (program,) = programs
    pattern = fx.symbolic_trace(trial.args[1]).graph
    matcher = SubgraphMatcher(
        pattern, match_output=False, match_placeholder=False, remove_overlapping_matches=True
    )
    return len(matcher.match(program.graph))


def _unneeded(programs: list[Program], trial: Trial, encoder: Encoder) -> list[str] | None:
    """Names of the nodes that the output does not depend on; ``None`` if the graph raises."""
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

_NEED_ARGUMENTS = frozenset({"matches"})
