"""The answer key of `is_faithful`: the right judgement, without side effects."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.authoring.key import (
    AdviceRow,
    AnswerKey,
    Evidence,
    Finding,
    Part,
    Stage,
    returns,
    rule,
)
from autograder.exercises.ch01_tracing.is_faithful.cases import Judgement


@rule("left as given", Stage.CALLER)
def left_as_given(evidence: Evidence) -> Iterable[Finding]:
    """The answer leaves the model, the caller's arguments and the random state unchanged.

    Almost every run draws or seeds, so a changed random state costs only the points of its own
    aspect.
    """
    own = evidence.case.aspect == "noise"
    changed = [c for c in evidence.outcome.changed if own or c.part != Part.RANDOM_STATE]
    if changed:
        yield evidence.finding(
            "caller-changed",
            f"After {evidence.you}, not all is as it was: {changed[0]}.",
            "A run of the model may change its arguments, however deep they are nested, and the "
            "model's buffers, and tracing may, too; the trace shares the buffers. A seed that you "
            "set stays set: `torch.random.fork_rng` keeps the state. Look at every way out of "
            "your function, early ones too.",
        )


@rule("right judgement", Stage.RESULT)
def right_judgement(evidence: Evidence) -> Iterable[Finding]:
    """The answer equals the reference's; the case supplies the reason."""
    got, want = evidence.outcome.value, evidence.reference.value
    if got == want:
        return
    asked = evidence.expects(Judgement)
    if want:
        yield evidence.finding(
            "false-alarm",
            f"{evidence.you} says `False`, but this trace does what its model does: "
            f"{asked.because}.",
            asked.advice,
        )
    else:
        yield evidence.finding(
            "missed-difference", f"{evidence.you} says `True`, but {asked.because}.", asked.advice
        )


ADVICE = (
    AdviceRow(
        ("TraceError",),
        "",
        "This model cannot be traced, and your function lets the error out. "
        "What does the exercise ask for in this case?",
    ),
)

KEY = AnswerKey((returns("bool"), left_as_given, right_judgement), advice=ADVICE)
