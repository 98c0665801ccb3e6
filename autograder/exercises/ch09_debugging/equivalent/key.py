"""The answer key of `equivalent`: the right verdict, without changes to the models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograder.authoring.key import AnswerKey, Evidence, Finding, Stage, answer_of, returns, rule
from autograder.exercises.ch09_debugging.equivalent.cases import Look
from autograder.exercises.ch09_debugging.keys import first_difference


@rule("left as given", Stage.CALLER)
def left_as_given(evidence: Evidence) -> Iterable[Finding]:
    """Both models and the random state must not change."""
    changed = evidence.outcome.changed
    if changed:
        yield evidence.finding(
            "caller-changed",
            f"After {evidence.you}, not all is as it was: {changed[0]}.",
            "`train()` and `eval()` set the mode of each part, too; a run in train mode moves "
            "buffers; a seed that you set stays set, and so does one that `make_inputs` sets. Look "
            "at every way out of your function, early ones too.",
        )


@rule("right judgement", Stage.RESULT)
def right_judgement(evidence: Evidence) -> Iterable[Finding]:
    """The answer must agree with the oracle; a finding names the difference."""
    got, want = evidence.outcome.value, evidence.reference.value
    if got == want:
        return
    trial = evidence.trial
    if want:
        seeds = trial.args[3] if len(trial.args) > 3 else trial.kwargs.get("trials", 8)
        yield evidence.finding(
            "false-alarm",
            f"{evidence.you} says `False`, but the two do the same in both modes, for each of "
            f"the {seeds} seeds."
            if seeds > 1
            else f"{evidence.you} says `False`, but the two do the same in both modes for seed 0.",
            _look(evidence),
        )
    else:
        yield evidence.finding(
            "missed-difference",
            f"{evidence.you} says `True`, but {first_difference(*trial.args, **trial.kwargs)} "
            "(the other model compared with the first).",
            _look(evidence),
        )


def _look(evidence: Evidence) -> str:
    where = evidence.expects(Look).where
    return where or "Run both by hand, in both modes, and print the results and the arguments."


def do_the_same(*args: Any, **kwargs: Any) -> bool:
    """Compute the right answer of `equivalent`."""
    return not first_difference(*args, **kwargs)


KEY = AnswerKey(
    (
        returns("bool").because("names the kind that came back, before judgements are compared"),
        left_as_given,
        right_judgement,
    ),
    answer_of(do_the_same),
)
