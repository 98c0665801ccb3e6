"""Exercises with known scores: a right and a wrong answer of each kind.

Before a class is graded, these go through the sandboxes. If a score differs from the known one,
this machine or this course has a fault, and nothing is graded.
"""

from __future__ import annotations

from collections.abc import Iterable

from autograder.core.exercise import Aspect, Case, Exercise
from autograder.core.verdict import Finding
from autograder.judge.answer_key import AnswerKey
from autograder.judge.compare import difference
from autograder.judge.evidence import Evidence
from autograder.judge.kinds import KINDS
from autograder.judge.rule import Stage, rule
from autograder.runner import kinds

CHAPTER = "canary"


@rule("canary", Stage.RESULT)
def as_it_must_be(evidence: Evidence) -> Iterable[Finding]:
    """The returned value, or the values of its runs, must equal the reference."""
    want = evidence.reference
    if want.value is not None:
        if evidence.outcome.value != want.value:
            yield evidence.finding("wrong-value", f"{evidence.you} gives something else.")
        return
    for i, run in enumerate(want.runs):
        for got, table in KINDS[evidence.exercise.kind].canary_runs(evidence, i):
            if found := difference(got.get("value"), table, run["value"], want.tensors):
                yield evidence.finding(found.code, f"{evidence.you}: {found.text}.")
                return


def __getattr__(kind: str) -> AnswerKey:
    """The answer key of a kind's exercises, as an attribute named like the kind."""
    if kind not in KINDS:
        raise AttributeError(kind)
    return AnswerKey((as_it_must_be,), KINDS[kind].canary)


def _exercise(name: str, kind: str) -> Exercise:
    case = Case("a small model", "all", kinds.KINDS[kind].canary_trial)
    return Exercise(
        name=name,
        chapter=CHAPTER,
        title=kind,
        stars=1,
        minutes=1,
        points=1,
        kind=kind,
        aspects=(Aspect("all", 1, "a small model"),),
        cases=(case,),
        key=f"{__name__}:{kind}",
        hints=(),
        not_random="its scores are known",
    )


def exercises() -> dict[str, Exercise]:
    """The exercises by name: for each kind, one with a right and one with a wrong answer."""
    names = {f"{which}_{kind}": kind for kind in KINDS for which in ("right", "wrong")}
    return {name: _exercise(name, kind) for name, kind in names.items()}
