"""Exercises with known marks, one pair for each way in which answers are exercised.

Before a class is graded, a right and a wrong answer to each go through the boxes. If their marks
differ from what they must be, something is wrong with this machine or this course, and nobody's
work is graded. The answers are in `classroom.canary`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from torch import fx

from autograder.core.codec import Encoder, Plain
from autograder.core.exercise import Aspect, Case, Exercise, Trial
from autograder.core.graph_jobs import TIMES
from autograder.core.outcome import CALLS, GIVEN, Reference
from autograder.core.verdict import Finding
from autograder.judge.answer_key import AnswerKey
from autograder.judge.compare import difference
from autograder.judge.duels import JOB
from autograder.judge.evidence import Evidence
from autograder.judge.oracles import runs_of
from autograder.judge.rule import Stage, rule
from autograder.models.canary_models import Small, trial_for
from autograder.runner.procedures import PROCEDURES
from autograder.runner.tracers import instructions, told

CHAPTER = "canary"
KINDS = ("right", "wrong")

_OPS = ["placeholder", "call_module", "call_function", "call_function", "output"]
_VALUES: dict[str, Plain] = {
    "analysis": len(_OPS),
    "each node": {"list": list(_OPS)},
    "after others": {"list": ["layer.weight", "layer.bias"]},
}
"""What must come back where that is data."""


def name_of(kind: str, procedure: str) -> str:
    """The name of an exercise whose answer is right, or wrong."""
    return f"{kind}_{procedure.replace(' ', '_')}"


@rule("canary", Stage.RESULT)
def as_it_must_be(evidence: Evidence) -> Iterable[Finding]:
    """What came back, or what it gives when it runs, is what it must be."""
    procedure = evidence.exercise.procedure
    if procedure in _VALUES:
        if evidence.outcome.value != _VALUES[procedure]:
            yield evidence.finding("wrong-value", f"{evidence.you} gives something else.")
        return
    for i, want in enumerate(evidence.reference.runs):
        for got, table in _runs(evidence, i):
            found = difference(got.get("value"), table, want["value"], evidence.reference.tensors)
            if found:
                yield evidence.finding(found.code, f"{evidence.you}: {found.text}.")
                return


def _runs(evidence: Evidence, i: int) -> Iterable[tuple[Plain, list[torch.Tensor]]]:
    """Every record of a run, the judge's own among them, with its tensors."""
    if evidence.exercise.procedure == "split":
        yield evidence.done("results of both")[i], evidence.tensors_from("results of both")
        records = evidence.outcome.runs[i]
    elif evidence.exercise.procedure == "drawn twice":
        records = evidence.outcome.runs[i]  # what the judge runs itself, it runs once
    elif evidence.exercise.procedure == "witness":
        found, tensors = evidence.done_with(JOB, evidence.outcome, TIMES)
        for record in found if isinstance(found, list) else [{}]:
            yield record, tensors
        return
    else:
        records = evidence.run_record(i)
        if evidence.has_graph and "rebuilt" not in records:
            yield {}, []  # the judge's own run is part of what is tried here
    for how, record in records.items():
        if how in ("eager", "forward", "interpreter", "rebuilt"):
            yield record, evidence.tensors_of(how)


def _changed(x: torch.Tensor) -> torch.Tensor:
    """The small model with another activation."""
    return torch.sigmoid(Small().layer(x)) + 1


def _twice(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What two calls of the sigmoid give."""
    return torch.sigmoid(x), torch.sigmoid(x)


def _expected(procedure: str, trial: Trial) -> Reference:
    if procedure in _VALUES:
        return Reference(_VALUES[procedure])
    if procedure == "in place":
        return Reference(None, [{"value": GIVEN}] * len(CALLS))
    if procedure in ("tracer", "asked tracer"):
        encoder = Encoder()
        model = Small()
        graph = fx.Tracer().trace(model)
        plain = procedure == "tracer"
        value = instructions(graph, encoder) if plain else told(graph, None, encoder, model)
        return Reference(None, [{"value": value}], encoder.tensors)
    if procedure == "witness":
        return runs_of(torch.sigmoid, trial_for("traced function", 0))
    call: Callable[..., Any] = _changed
    if procedure in ("split", "lowering"):
        call = Small()
    if procedure == "traced function":
        call = torch.sigmoid
    if procedure == "drawn twice":
        call = _twice
    if procedure == "layer":
        call = Small().layer
    if procedure == "latency":
        found = runs_of(Small(), Trial(inputs=trial.args[2:]))
        found.runs *= len(trial.inputs)  # each is one call on what is given
        return found
    found = runs_of(call, trial)
    if procedure == "timer":
        found.runs *= 2  # the first input is run again, on another object
    return found


def _constant(procedure: str) -> str:
    """The name under which this module has the answer key of a procedure's exercises."""
    return f"KEY_{procedure.replace(' ', '_')}"


for _procedure in PROCEDURES:
    globals()[_constant(_procedure)] = AnswerKey((as_it_must_be,), partial(_expected, _procedure))


def _exercise(kind: str, procedure: str) -> Exercise:
    case = Case("a small model", "all", partial(trial_for, procedure))
    return Exercise(
        name_of(kind, procedure), CHAPTER, procedure, 1, 1, 1, procedure,
        (Aspect("all", 1, "a small model"),), (case,), f"{__name__}:{_constant(procedure)}", (),
        not_random="its marks are known",
    )  # fmt: skip


def exercises() -> dict[str, Exercise]:
    """The exercises by name: for each procedure one whose answer is right, and one for a wrong."""
    made = [_exercise(kind, procedure) for procedure in PROCEDURES for kind in KINDS]
    return {exercise.name: exercise for exercise in made}
