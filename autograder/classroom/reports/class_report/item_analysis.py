"""Item analysis: the difficulty and the discrimination of each exercise in a class.

These are the two figures of classical test theory. The findings of the checks complete them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeVar

from autograder.classroom.reports.class_report.records import ClassRecord, GradedAnswer
from autograder.submission.check_result import LIMITS, KeptFinding

MIN_TRIED = 20
"""The number of students who must have tried an exercise before the report judges it."""

HARD_BELOW, EASY_ABOVE = 0.2, 0.95
"""Bounds of the share of students with all points, of those who tried an exercise. Outside them,
the exercise distinguishes few students."""

MIN_SOLVED_SHARE = 0.1
"""The least share of students who solved an exercise for its discrimination to mean anything."""

POOR_DISCRIMINATION = 0.2
"""A discrimination below this is poor (Ebel, "Essentials of Educational Measurement", 1972)."""

CONFIDENCE_ERRORS = 1.645
"""Standard errors: in 95 of 100 classes, the true value is below the estimate plus this many."""

MIN_SHARED, MIN_SHARED_RATIO = 0.2, 1.5
"""A finding is shared if at least this part of the ablest third of students has it, and at least
this many times as often as the weakest third."""

MIN_LIMITS_SHARE = 0.1
"""The least share of answers that hit a limit, of those tried, for the report to mention limits."""

MAX_COMMON_FINDINGS = 5
GROUPS = 5

_Row = TypeVar("_Row")


@dataclass(frozen=True)
class CommonFinding:
    """A finding that many students have in one exercise.

    Attributes:
        code: its key.
        count: the number of students who have it.
        message: the message to one of them; empty if it must not be shown.
        model: the smallest model that showed it to one of them; empty if there is none.
    """

    code: str
    count: int
    message: str = ""
    model: str = ""


@dataclass(frozen=True)
class Statistics:
    """The statistics of one exercise.

    Attributes:
        exercise: its name.
        chapter: its chapter.
        max_points: full marks.
        handed_in: the number of students who submitted the chapter.
        tried: the number of students who answered it, without answers that a person must grade.
        solved: the share of students with all points, of those who tried it.
        mean: the mean share of the points, of those who tried it.
        discrimination: see `discrimination`; ``None`` if unknown, for example with few students.
        by_ability: mean shares of five groups of those who tried, the weakest first.
        findings: the most common findings.
        failing: the number of those who tried it without getting all points.
        limits: the number of answers that hit a limit of time or memory, or ended Python.
        waits: the number of answers that wait for a person.
        faults: keys of unusual properties: ``hard``, ``easy``, ``ambiguous``, ``limits``.
        because: the reasons, a sentence each.
    """

    exercise: str
    chapter: str
    max_points: float
    handed_in: int
    tried: int
    solved: float
    mean: float
    discrimination: float | None
    by_ability: tuple[float, ...]
    findings: tuple[CommonFinding, ...]
    failing: int
    limits: int
    waits: int
    faults: tuple[str, ...] = ()
    because: tuple[str, ...] = ()


def discrimination(shares: Sequence[float], rests: Sequence[float]) -> float | None:
    """Compute the discrimination of an exercise, as the corrected item-total correlation.

    It is Pearson's correlation between students' shares of the points for this exercise, x, and
    their performance in the rest of the class, y:

        r = sum((x - mean(x)) * (y - mean(y))) / sqrt(sum((x - mean(x))**2) * sum((y - mean(y))**2))

    y leaves this exercise out, because an exercise always agrees with itself (Henrysson,
    "Correction of item-total correlations in item analysis", Psychometrika 28, 1963). It is the
    mean, over the other exercises that a student tried, of the student's share of the points minus
    the class's mean share, so that students who tried only hard exercises do not appear weak.

    Args:
        shares: x, a share of the points for each student.
        rests: y, for the same students.

    Returns:
        From -1 to 1; ``None`` if x or y is the same for all students.
    """
    if len(shares) < 3:
        return None
    of_share, of_rest = fmean(shares), fmean(rests)
    both = sum((x - of_share) * (y - of_rest) for x, y in zip(shares, rests, strict=True))
    spread = sum((x - of_share) ** 2 for x in shares) * sum((y - of_rest) ** 2 for y in rests)
    return both / math.sqrt(spread) if spread > 1e-12 else None


def at_most(found: float, count: int) -> float:
    """An upper confidence bound of the true discrimination, estimated from `count` students.

    By Fisher's transformation, atanh(r) has a standard error of 1 / sqrt(count - 3).
    """
    return math.tanh(
        math.atanh(max(-0.9999, min(0.9999, found))) + CONFIDENCE_ERRORS / math.sqrt(count - 3)
    )


def analyse(record: ClassRecord, *, shown_to: int = 1) -> list[Statistics]:
    """Compute the statistics of all exercises of a class, in the order of chapters and names.

    Args:
        record: the class.
        shown_to: the number of students who must have the same message or model to quote it.
    """
    tried: dict[tuple[str, str], list[tuple[str, GradedAnswer]]] = defaultdict(list)
    handed_in: Counter[tuple[str, str]] = Counter()
    waits: Counter[tuple[str, str]] = Counter()
    worth: dict[tuple[str, str], float] = {}
    for entry in record.entries:
        for answer in entry.answers:
            key = entry.chapter, answer.exercise
            handed_in[key] += 1
            waits[key] += answer.waits
            worth[key] = answer.max_points
            if answer.tried and not answer.waits:
                tried[key].append((entry.student, answer))
    ahead = _leads(tried)
    return [
        _statistics(key, tried[key], ahead, handed_in[key], waits[key], worth[key], shown_to)
        for key in sorted(handed_in)
    ]


_Leads = dict[str, tuple[float, int]]
"""By student: the sum of their leads over the class's mean shares, and the number of exercises."""


def _leads(tried: dict[tuple[str, str], list[tuple[str, GradedAnswer]]]) -> _Leads:
    sums: dict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for rows in tried.values():
        mean = fmean(answer.share for _, answer in rows)
        for student, answer in rows:
            sums[student] += answer.share - mean
            counts[student] += 1
    return {student: (total, counts[student]) for student, total in sums.items()}


def _statistics(
    key: tuple[str, str],
    rows: list[tuple[str, GradedAnswer]],
    ahead: _Leads,
    handed_in: int,
    waits: int,
    worth: float,
    shown_to: int,
) -> Statistics:
    chapter, exercise = key
    answers = [answer for _, answer in rows]
    shares = [answer.share for answer in answers]
    mean = fmean(shares) if shares else 0.0
    pairs = [
        ((ahead[student][0] - (answer.share - mean)) / (ahead[student][1] - 1), answer)
        for student, answer in rows
        if ahead[student][1] > 1
    ]
    pairs.sort(key=lambda pair: pair[0])
    shares_and_rests = [answer.share for _, answer in pairs], [rest for rest, _ in pairs]
    found = discrimination(*shares_and_rests) if len(pairs) >= MIN_TRIED else None
    failing = [answer for answer in answers if answer.share < 1.0 - 1e-9]
    statistics = Statistics(
        exercise, chapter, worth, handed_in, len(rows),
        1 - len(failing) / len(rows) if rows else 0.0, mean, found,
        tuple(fmean(a.share for _, a in group) for group in _groups(pairs, GROUPS)),
        tuple(_commonest(answers, shown_to)), len(failing),
        sum(bool(_codes(answer) & set(LIMITS)) for answer in answers), waits,
    )  # fmt: skip
    named = list(_faults(statistics, [answer for _, answer in pairs]))
    faults = tuple(fault for fault, _ in named)
    because = tuple(why for _, why in named)
    return replace(statistics, faults=tuple(dict.fromkeys(faults)), because=because)


def _groups(rows: Sequence[_Row], count: int) -> list[Sequence[_Row]]:
    """Divide rows into `count` groups of similar size; into fewer if there are fewer rows."""
    count = min(count, len(rows))
    return [rows[len(rows) * i // count : len(rows) * (i + 1) // count] for i in range(count)]


def _codes(answer: GradedAnswer) -> set[str]:
    return {finding.code for finding in answer.check.findings} if answer.check else set()


def _commonest(answers: Iterable[GradedAnswer], shown_to: int) -> Iterable[CommonFinding]:
    """The most common findings, each as the student with the smallest model reads it."""
    found: dict[str, list[KeptFinding]] = defaultdict(list)
    for answer in answers:
        for finding in answer.check.findings if answer.check else ():
            found[finding.code].append(finding)
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    for code, those in ranked[:MAX_COMMON_FINDINGS]:
        texts = Counter((each.message, each.model) for each in those)
        shown = [text for text, count in texts.items() if count >= shown_to]
        message, model = min(shown, key=_size, default=("", ""))
        yield CommonFinding(code, len(those), message, model)


def _size(text: tuple[str, str]) -> tuple[bool, int, str, str]:
    message, model = text
    return not model, len(model), model, message


def _faults(found: Statistics, by_ability: Sequence[GradedAnswer]) -> Iterable[tuple[str, str]]:
    """The unusual properties of an exercise: a key and the reason, in words."""
    if found.tried < MIN_TRIED:
        return
    solved = f"{found.solved:.0%} of the {found.tried} students who tried it got all points"
    if found.solved < HARD_BELOW:
        yield "hard", f"Hard: only {solved}."
    if found.solved >= EASY_ABOVE:
        yield "easy", f"Too easy: {solved}, so it does not separate strong students from weak ones."
    yield from _ambiguous(found, by_ability)
    if found.limits >= MIN_LIMITS_SHARE * found.tried:
        yield (
            "limits",
            (
                f"Limits: {found.limits} of {found.tried} answers ran out of time or memory, "
                "or ended Python."
            ),
        )


def _ambiguous(found: Statistics, by_ability: Sequence[GradedAnswer]) -> Iterable[tuple[str, str]]:
    r, count = found.discrimination, len(by_ability)
    if r is None or not 1 - EASY_ABOVE < found.mean < EASY_ABOVE:
        return
    if found.solved >= MIN_SOLVED_SHARE and at_most(r, count) < POOR_DISCRIMINATION:
        how = "worse" if at_most(r, count) < 0 else "no better"
        yield (
            "ambiguous",
            (
                f"Perhaps ambiguous: those who did well elsewhere did {how} here than others "
                f"(discrimination {r:.2f})."
            ),
        )
    weakest, *_, ablest = _groups(by_ability, 3)
    have = Counter(code for answer in ablest for code in _codes(answer))
    for code, many in have.most_common():
        few = sum(code in _codes(answer) for answer in weakest)
        as_often = few * len(ablest) / len(weakest)
        if many >= MIN_SHARED * len(ablest) and many >= MIN_SHARED_RATIO * as_often:
            yield (
                "ambiguous",
                (
                    f"Perhaps ambiguous: {many} of the {len(ablest)} ablest students have the same "
                    f"finding, {code}, and only {few} of the {len(weakest)} weakest. They may have "
                    "read the exercise in another way than it is meant."
                ),
            )
            return
