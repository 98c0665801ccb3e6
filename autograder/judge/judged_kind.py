"""One kind of answer, as the judge knows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch

from autograder.core.codec import Encoded
from autograder.core.execution import CallResult
from autograder.core.exercise import Trial
from autograder.core.outcome import Reference, RunRecord, Way
from autograder.judge.evidence import Evidence
from autograder.judge.oracles import runs_of
from autograder.judge.schema import Schema
from autograder.runner.canary import Small

Record = tuple[CallResult, list[torch.Tensor]]
"""The record of a run, and the tensors that it refers to."""


def other_activation(trial: Trial) -> Reference:
    """The small model with another activation."""
    return runs_of(lambda x: torch.sigmoid(Small().layer(x)) + 1, trial)


def every_run(evidence: Evidence, i: int) -> Iterable[Record]:
    """The records of running the result on one input, the judge's own run among them."""
    records = evidence.run_record(i)
    if evidence.has_graph and "rebuilt" not in records:
        yield {}, []  # the judge's own run is part of what is tried here
    yield from compared(evidence, records)


def compared(evidence: Evidence, records: RunRecord) -> Iterable[Record]:
    """The records among these that say what the result computes."""
    ways: tuple[Way, ...] = ("eager", "forward", "interpreter", "rebuilt")
    for way in ways:
        if way in records:
            yield records[way], evidence.tensors_of(way)


def _same(value: Encoded, trial: Trial) -> Encoded:
    return value


@dataclass(frozen=True)
class JudgedKind:
    """How outcomes of one kind of answer are read.

    Attributes:
        schema: makes the checks of a complete outcome.
        canary: the expected result of the canary's case.
        canary_runs: the records that are compared with it, for one input.
        shown: a value as a card shows it.
        is_model: whether the answer is a model itself, which is given nothing.
    """

    schema: Schema
    canary: Callable[[Trial], Reference] = other_activation
    canary_runs: Callable[[Evidence, int], Iterable[Record]] = every_run
    shown: Callable[[Encoded, Trial], Encoded] = _same
    is_model: bool = False
