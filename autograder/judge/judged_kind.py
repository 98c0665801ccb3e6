"""The judge's interface to one answer kind."""

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
"""The record of a run, and its tensor table."""


def other_activation(trial: Trial) -> Reference:
    """The small model with another activation: the default canary."""
    return runs_of(lambda x: torch.sigmoid(Small().layer(x)) + 1, trial)


def every_run(evidence: Evidence, i: int) -> Iterable[Record]:
    """Yield the records of running the result on one input, including the judge's own run."""
    records = evidence.run_record(i)
    if evidence.has_graph and "rebuilt" not in records:
        yield {}, []  # the canary also tests the judge's own run
    yield from compared(evidence, records)


def compared(evidence: Evidence, records: RunRecord) -> Iterable[Record]:
    """Yield the records that contain values computed by the result."""
    ways: tuple[Way, ...] = ("eager", "forward", "interpreter", "rebuilt")
    for way in ways:
        if way in records:
            yield records[way], evidence.tensors_of(way)


def _same(value: Encoded, trial: Trial) -> Encoded:
    return value


@dataclass(frozen=True)
class JudgedKind:
    """The judge's functions for one answer kind.

    Attributes:
        schema: builds the checks of a complete outcome.
        canary: the expected result of the canary's case.
        canary_runs: the records to compare with it, for one input.
        shown: the form of a value on a card.
        is_model: whether the answer is a model itself and takes no model.
    """

    schema: Schema
    canary: Callable[[Trial], Reference] = other_activation
    canary_runs: Callable[[Evidence, int], Iterable[Record]] = every_run
    shown: Callable[[Encoded, Trial], Encoded] = _same
    is_model: bool = False
