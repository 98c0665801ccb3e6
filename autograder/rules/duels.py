"""Rules for a witness: a model on which the suspect pass is wrong, and right passes are not."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from autograder.core.graph_program import NotAdmitted, NotListed
from autograder.core.outcome import Reference
from autograder.core.verdict import Finding
from autograder.judge.advice import advice_for
from autograder.judge.answer_key import AnswerKey
from autograder.judge.duels import MOST_CALLS, Duel, Fight
from autograder.judge.error_text import came_from, error_text
from autograder.judge.evidence import Evidence
from autograder.judge.rule import Rule, Stage
from autograder.rules.wellformed import wellformed


def duel_key(fight: Fight, *, nothing_outside: str = "") -> AnswerKey:
    """The answer key of a duel.

    Args:
        fight: the description of the duel.
        nothing_outside: why no witness can be outside the task, if that is so.
    """

    @lru_cache(maxsize=1)
    def duel(evidence: Evidence) -> Duel:
        return Duel(fight, evidence)

    def same_every_time(evidence: Evidence) -> Iterable[Finding]:
        return _same_every_time(duel(evidence))

    def inside_the_task(evidence: Evidence) -> Iterable[Finding]:
        return _inside_the_task(duel(evidence))

    def suspect_is_wrong(evidence: Evidence) -> Iterable[Finding]:
        return _suspect_is_wrong(duel(evidence))

    def small_enough(evidence: Evidence) -> Iterable[Finding]:
        return _small_enough(duel(evidence))

    def can_be_rebuilt(evidence: Evidence) -> Iterable[Finding]:
        return _can_be_rebuilt(duel(evidence))

    def remark(evidence: Evidence) -> str:
        return _remark(duel(evidence))

    return AnswerKey(
        (
            Rule("a model with inputs", Stage.KIND, _a_model_with_inputs,
                 reason="says what is wrong with a class that there is no trace of"),
            wellformed.because("every graph of the course is well formed, a model's trace too"),
            Rule("can be rebuilt", Stage.FORM, can_be_rebuilt,
                 reason="what is not run does not hold; it says why it is not"),
            Rule("the same every time", Stage.STRUCTURE, same_every_time),
            Rule("inside the task", Stage.RUNS, inside_the_task, reason=nothing_outside),
            Rule("the suspect is wrong", Stage.RESULT, suspect_is_wrong),
            Rule("small enough", Stage.COPY, small_enough),
        ),
        lambda trial: Reference(),
        remark=remark,
        fight=fight,
    )  # fmt: skip


_STEPS = {
    "made": "Making `{name}()` raised {error}.",
    "copied": "A copy of the model could not be made: {error}.",
    "run": "The model itself raises {error} for its `inputs`.",
    "traced": "`fx.symbolic_trace({name}())` raised {error}.",
}
_STEP_ADVICE = {
    "made": "The class is made without arguments.",
    "copied": "Keep layers, parameters and buffers in the model, and nothing else.",
    "run": "Call it yourself: `{name}()(*{name}.inputs)`. A model that fails convicts nobody.",
    "traced": "Trace it yourself. Something on this line asks a Proxy for what only a tensor has.",
}


def _a_model_with_inputs(evidence: Evidence) -> Iterable[Finding]:
    """The answer must be a class of a model that can be made, run and traced, with inputs."""
    said, name = evidence.outcome.value, evidence.exercise.name
    if isinstance(said, str):
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} is {said}.",
            "A class made from `nn.Module`, with `inputs = (...)` in the class, outside of its "
            "methods: one tuple with all the arguments of `forward`.",
        )
    elif isinstance(said, dict) and "failed" in said:
        step, error = said["failed"], said["error"]
        text = _STEPS.get(step, "{error}").format(name=name, error=error_text(error))
        advice = advice_for(evidence.exercise, error, "trace") if step == "traced" else ""
        advice = advice or _STEP_ADVICE.get(step, "").format(name=name)
        yield evidence.finding("model-fails", f"{text}{came_from(error)}", advice, error=error)
    elif not evidence.has_graph:
        yield evidence.finding("wrong-kind", f"{evidence.you} gave no trace.", "Hand in a class.")


def _can_be_rebuilt(duel: Duel) -> Iterable[Finding]:
    """The trace must consist of PyTorch's own operations and layers, and must run."""
    evidence = duel.evidence
    for node, called in evidence.own_code:
        yield evidence.finding(
            "own-code",
            f"The trace calls `{called}`, which is not PyTorch's.",
            "Only functions, methods and layers of PyTorch may be in a witness.",
            (node,),
        )
        return
    if duel.size > MOST_CALLS:
        yield _too_large(duel)
        return
    try:
        _ = duel.plain
    except NotListed:
        return  # its values are unknown; the verdict says so
    except (NotAdmitted, ValueError) as error:
        yield evidence.finding(
            "not-run", f"The trace of {evidence.you} was not run: {error}.",
            "Print the graph of the trace. What in it is not an ordinary call of PyTorch?",
        )  # fmt: skip


def _is_listed(duel: Duel) -> bool:
    try:
        return bool(duel.trace)
    except NotListed:
        return False


def _same_every_time(duel: Duel) -> Iterable[Finding]:
    """The model before and after tracing, its trace, and a second run of the trace must agree."""
    if not _is_listed(duel):
        return
    evidence, said = duel.evidence, duel.claimed
    first, second = duel.plain
    if first.error:
        yield evidence.finding(
            "model-fails", f"The trace of {evidence.you} raises {first.error}.",
            "A model that fails convicts nobody. Call its trace with its `inputs`.",
        )  # fmt: skip
        return
    trials = (
        ("its trace", said["trace"], said["before"]),
        ("the model once it was traced", said["after"], said["before"]),
        ("a second run of the trace", second, first),
    )
    for who, one, other in trials:
        how = one.differs(other)
        if how:
            yield evidence.finding(
                "not-the-same",
                f"{evidence.you} is not the same every time, under one seed. Compare a first run "
                f"with {who}: {how}.",
                "What does `forward` look at besides its inputs: a counter, what it is called "
                "with, random numbers that are drawn while it is traced?",
            )
            return


def _inside_the_task(duel: Duel) -> Iterable[Finding]:
    """All right passes must agree, and preserve the results if the task demands that."""
    if not _is_listed(duel):
        return
    first = duel.plain[0] if duel.fight.keeps_meaning else duel.right[0]
    for ran in duel.right:
        how = ran.error or first.error or ran.differs(first)
        if how:
            yield duel.evidence.finding(
                "outside-the-task",
                f"On {duel.evidence.you}, passes that are right differ as well: this model is "
                f"outside the task, which is to {duel.fight.task}.",
                "Is it clear what a right pass makes of this model, to the last digit?",
            )
            return


def _suspect_is_wrong(duel: Duel) -> Iterable[Finding]:
    """The suspect must raise, or give another result than right passes."""
    if _is_listed(duel) and not duel.suspect.differs(duel.right[0]):
        fight = duel.fight
        yield duel.evidence.finding(
            "no-witness-yet",
            f"{duel.evidence.you} is not a witness yet: `suspects.{fight.name}` is right on it. "
            + (
                "It changes your trace, and neither the result nor the arguments show it."
                if duel.suspect_changes_it
                else "It changes nothing in your trace."
            ),
            fight.try_this,
        )


def _small_enough(duel: Duel) -> Iterable[Finding]:
    """The trace must not have more calls than the duel allows."""
    if duel.size > duel.fight.limit:
        yield _too_large(duel, " convicts the suspect, but it")


def _too_large(duel: Duel, convicts: str = "") -> Finding:
    return duel.evidence.finding(
        "too-large",
        f"{duel.evidence.you}{convicts} has {duel.size} calls in its trace; {duel.fight.limit} are "
        "allowed.",
        "Take out one call after the other. On which of them does it depend?",
    )


def _remark(duel: Duel) -> str:
    """The size of the witness, and the error of the suspect that it shows."""
    what = duel.suspect.differs(duel.right[0])
    size = f"Calls in yours: {duel.size}, in the shortest known: {duel.fight.record}."
    return f"{size} What the suspect makes of it: {what}."
