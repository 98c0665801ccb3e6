"""Judges outcomes by the rules of an answer key and the references. Runs no learner's code.

The judge receives a learner's graph module as a description. It reads the description; in a
classroom, another process without the expected results runs it (see `core.graph_jobs`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from torch import fx, nn

from autograder.core.execution import ErrorRecord
from autograder.core.exercise import RANDOM, Case, Exercise
from autograder.core.global_state import preserve_global_state
from autograder.core.graph_jobs import GraphRunner, do_here
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome
from autograder.core.verdict import (
    Example,
    Finding,
    Share,
    Status,
    Verdict,
    further_findings,
)
from autograder.judge.answer_key import AnswerKey, key_of
from autograder.judge.answer_text import Source
from autograder.judge.counterexample import example_of, source_of, without_answer
from autograder.judge.error_text import error_text
from autograder.judge.evidence import Evidence, describe_inputs, traced_nodes
from autograder.judge.findings import UNLISTED, findings_of
from autograder.judge.redaction import LEFT_OUT, Redaction
from autograder.judge.source_rules import reading_of, source_findings, unreached

__all__ = [
    "Evidence",
    "describe_inputs",
    "findings_of",
    "judge",
    "score_of",
    "size_of",
    "source_of",
]


def judge(
    exercise: Exercise,
    outcomes: list[Outcome],
    cases: tuple[Case, ...] | None = None,
    seed: int = 0,
    known: Mapping[str, list[Finding]] | None = None,
    runner: GraphRunner = do_here,
    source: Source | None = None,
    key: AnswerKey | None = None,
    sealed: frozenset[str] = frozenset(),
) -> Verdict:
    """Judge an answer.

    Args:
        exercise: the exercise.
        outcomes: one for each case tried, in the order of the cases.
        cases: the cases that had to be tried; a case without an outcome counts as failed.
        seed: the seed of the cases.
        known: findings about outcomes that were judged earlier, by case.
        runner: does the jobs that need the described graphs.
        source: the answer's text, if it is known: see `source_rules`.
        key: the answer key; the exercise's own by default.
        sealed: names of cases that are not hidden, but whose findings must not quote the answer:
            it was tried on hidden cases before, and could give them away.
    """
    cases = exercise.cases if cases is None else cases
    # FX prints whole tracebacks if a rebuilt graph's code fails; the findings are clearer.
    with preserve_global_state(), bounded_output(0):
        by_case = {outcome.case: outcome for outcome in outcomes}
        verdict = _judge(
            exercise, by_case, cases, seed, known or {}, runner, key or key_of(exercise), sealed
        )
    if source is None:
        return verdict
    if verdict.status == "not attempted":
        return replace(verdict, findings=tuple(unreached(source)) or verdict.findings)
    reading = reading_of(exercise, source)
    verdict = replace(_with_own_lines(verdict, source), unread=reading.unread)
    return _with_text(verdict, source_findings(exercise, reading))


FORBIDDEN = "forbidden"

_LINE_LEFT_OUT = re.compile(rf"\bline (\d+): (?:`[^`]*{LEFT_OUT}[^`]*`|(?!`).*{LEFT_OUT}.*)")


def _with_own_lines(verdict: Verdict, source: Source) -> Verdict:
    """Insert the learner's lines, as the notebook has them, into a verdict on a hidden case.

    The answer's own record of its lines is left out, as it could contain something else.
    """
    lines = [line.strip() for line in source.cell.splitlines()]

    def own(found: re.Match[str]) -> str:
        number, quote = int(found[1]), "`" if found[0].endswith("`") else ""
        text = lines[number - 1].replace("`", "'") if 0 < number <= len(lines) else LEFT_OUT
        return f"line {number}: {quote}{text}{quote}"

    findings = tuple(
        replace(each, message=_LINE_LEFT_OUT.sub(own, each.message)) for each in verdict.findings
    )
    return replace(verdict, findings=findings, error=_LINE_LEFT_OUT.sub(own, verdict.error))


def _with_text(verdict: Verdict, found: list[Finding]) -> Verdict:
    """Add the findings about the answer's text; any such finding fails all shares."""
    if not found:
        return verdict
    shares = tuple(replace(share, held=False) for share in verdict.shares)
    if verdict.status == "passed":
        return replace(verdict, status="failed", score=0.0, shares=shares, findings=tuple(found))
    known = {finding.message for finding in verdict.findings}
    new = tuple(finding for finding in found if finding.message not in known)
    return replace(verdict, score=0.0, shares=shares, findings=(*verdict.findings, *new))


def _judge(
    exercise: Exercise,
    outcomes: dict[str, Outcome],
    cases: tuple[Case, ...],
    seed: int,
    known: Mapping[str, list[Finding]],
    runner: GraphRunner,
    key: AnswerKey,
    sealed: frozenset[str],
) -> Verdict:
    silent = sealed.union(case.name for case in cases if case.hidden)
    found = {
        case.name: known[case.name]
        if case.name in known
        else findings_of(exercise, case, outcomes[case.name], seed, runner, key)
        for case in cases
        if case.name in outcomes or case.name in known
    }
    held = frozenset(name for name, findings in found.items() if not findings)
    shares = _shares(exercise, cases, held)
    worst = _first_shown(exercise, [case for case in cases if found.get(case.name)], seed)
    if worst is None:
        told = (case.name for case in cases if case.name not in silent)
        seen = [outcomes[name].printed for name in told if name in outcomes]
        printed = next(filter(None, seen), "")
        complete = len(held) == len(cases)
        status: Status = "passed" if complete else "failed"
        verdict = Verdict(
            exercise.name, status, score_of(shares),
            shares=shares, cases=len(outcomes), printed=printed,
        )  # fmt: skip
        if key.remark is None or not complete:
            return verdict
        first = Evidence(exercise, cases[0], outcomes[cases[0].name], key, seed, runner)
        return replace(verdict, remark=key.remark(first))
    shown = outcomes[worst.name]
    unlooked = all(finding.code == UNLISTED for findings in found.values() for finding in findings)
    if unlooked:
        shares = tuple(replace(share, held=False) for share in shares)
    asked_for = found[worst.name][0].asked_for
    redactions = {
        case.name: Redaction(Evidence(exercise, case, outcomes[case.name], key, seed, runner))
        for case in cases
        if case.name in silent and found.get(case.name)
    }
    error = "" if asked_for else _crash_text(shown)
    ordered = _ordered(found, worst, redactions)
    return Verdict(
        exercise.name,
        status="not judged" if unlooked else "failed" if asked_for else _status(shown),
        score=score_of(shares),
        shares=shares,
        cases=len(outcomes),
        findings=ordered,
        others=_other_examples(exercise, ordered, worst, cases, outcomes, seed, key, silent),
        example=_example(exercise, worst, shown, seed, key, ordered, silent),
        error=redactions[worst.name].lines(error) if worst.name in silent else error,
        printed="" if worst.name in silent else shown.printed,  # it could contain the hidden case
        fails=tuple(
            (case.name, found[case.name][0].code)
            for case in cases
            if case.aspect != RANDOM.key and found.get(case.name)
        ),
    )


def _example(
    exercise: Exercise,
    worst: Case,
    shown: Outcome,
    seed: int,
    key: AnswerKey,
    found: tuple[Finding, ...],
    silent: frozenset[str],
) -> Example | None:
    """The case that a card shows; none for a forbidden word, which does not depend on the case."""
    if found[0].code == FORBIDDEN:
        return None
    example = example_of(exercise, worst, shown, seed, key)
    return without_answer(example) if worst.name in silent else example


def _shares(exercise: Exercise, cases: tuple[Case, ...], held: frozenset[str]) -> tuple[Share, ...]:
    shares = []
    for aspect in exercise.all_aspects:
        own = [case.name for case in cases if case.aspect == aspect.key]
        if own:
            shares.append(Share(aspect.says, aspect.weight, all(name in held for name in own)))
    return tuple(shares)


def score_of(shares: tuple[Share, ...]) -> float:
    """The weight of the passed shares as a fraction; 0 if the first, the task itself, failed."""
    if not shares or not shares[0].held:
        return 0.0
    return sum(s.weight for s in shares if s.held) / sum(s.weight for s in shares)


def _first_shown(exercise: Exercise, failing: list[Case], seed: int) -> Case | None:
    """The failing case to show: of the first failing aspect, the one with the smallest model.

    The first aspect is the task itself; a failure in a later one is often a consequence. A hidden
    case, of which a card shows less, is chosen only if no other case fails.
    """
    shown = [case for case in failing if not case.hidden] or failing
    order = {aspect.key: i for i, aspect in enumerate(exercise.all_aspects)}
    return min(
        shown,
        key=lambda case: (order.get(case.aspect, len(order)), size_of(case, seed)),
        default=None,
    )


def size_of(case: Case, seed: int = 0) -> int:
    """The number of nodes of a case's model, cached; 0 without a model."""
    key = "size", seed
    if key not in case.cache:
        known = traced_nodes(case, seed)
        case.cache[key] = known or _number_of_nodes(case.make(seed).model)
    size: int = case.cache[key]
    return size


def _number_of_nodes(model: nn.Module | None) -> int:
    if not isinstance(model, nn.Module):
        return 0
    try:
        return len(fx.symbolic_trace(model).graph.nodes)
    except Exception:
        return 1_000


def _status(outcome: Outcome) -> Status:
    endings: dict[str, Status] = {
        "raised": "crashed",
        "out of time": "crashed",
        "not attempted": "not attempted",
    }
    return endings.get(outcome.ended, "failed")


def _ordered(
    found: dict[str, list[Finding]], worst: Case, redactions: dict[str, Redaction]
) -> tuple[Finding, ...]:
    """The findings, those of the case shown first; those of hidden cases are redacted."""
    names = (worst.name, *(name for name in found if name != worst.name))
    return tuple(
        redactions[name].finding(each) if name in redactions else each
        for name in names
        for each in found[name]
    )


CALLERS = 3
"""Number of calls of the learner's code shown that led to the line that raised."""

OTHERS = 4
"""Number of further findings shown together with the model of their case."""


def _other_examples(
    exercise: Exercise,
    findings: tuple[Finding, ...],
    worst: Case,
    cases: tuple[Case, ...],
    outcomes: dict[str, Outcome],
    seed: int,
    key: AnswerKey,
    silent: frozenset[str],
) -> tuple[Example, ...]:
    """The cases of the further findings on the card; none of them is hidden."""
    names = dict.fromkeys(finding.case for finding in further_findings(findings)[:OTHERS])
    examples = (
        example_of(exercise, case, outcomes[case.name], seed, key)
        for case in cases
        if case.name in names and case is not worst and not case.hidden
    )
    return tuple(without_answer(each) if each.case in silent else each for each in examples)


def _crash_text(outcome: Outcome) -> str:
    if outcome.ended == "out of time":
        return "It ran until its time was used up."
    if outcome.ended != "raised":
        return ""
    error = outcome.error or ErrorRecord()
    frames = error.get("frames") or []
    callers = [f"line {f['line']}: {f['text']}" for f in frames[:-1][-CALLERS:]]
    where = f"line {error['line']}: {error['text']}" if error.get("line") else ""
    first = error_text(error).removeprefix("`").removesuffix("`")
    return "\n".join(dict.fromkeys(filter(None, (first, *callers, where))))
