"""Compares groups of wrong answers with the mistakes that were planted in them.

``python -m tests.checks.grouped_mistakes NAME...`` prints the figures of exercises.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autograder.classroom.groups.answers import WrongAnswer
from autograder.classroom.groups.grouping import group
from autograder.core.limits import Limits
from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.runner import run_cases
from autograder.submission.check_result import checks_of
from tests.checks.planted_mistakes import mistakes_in, planted


@dataclass(frozen=True)
class Agreement:
    """The agreement of groups with mistakes.

    Attributes:
        answers: the number of answers.
        mistakes: the number of mistakes.
        groups: the number of groups.
        purity: the share of answers that have the commonest mistake of their group.
        completeness: the share of answers that are in the largest group of their mistake.
    """

    answers: int
    mistakes: int
    groups: int
    purity: float
    completeness: float


def agreement(grouped: Mapping[str, Iterable[str]], mistakes: Mapping[str, str]) -> Agreement:
    """Compare groups with mistakes.

    Args:
        grouped: the answers of each group; an answer in several counts in the first.
        mistakes: the mistake of each answer.
    """
    group_of: dict[str, str] = {}
    for name, answers in grouped.items():
        for answer in answers:
            group_of.setdefault(answer, name)
    pairs = Counter((group_of[answer], mistake) for answer, mistake in mistakes.items())
    by_group, by_mistake = defaultdict[str, int](int), defaultdict[str, int](int)
    for (one, mistake), count in pairs.items():
        by_group[one] = max(by_group[one], count)
        by_mistake[mistake] = max(by_mistake[mistake], count)
    total = len(mistakes)
    return Agreement(
        total, len(by_mistake), len(by_group),
        sum(by_group.values()) / total, sum(by_mistake.values()) / total,
    )  # fmt: skip


MIN_STYLES = 3
"""The number of right answers in which a planted mistake must be wrong."""

IN_A_TRIAL = Limits(cpu=2.0)
"""Limits for one case: an answer that never ends shows it in less time, too."""


def measure(name: str, mistakes: int = 12) -> tuple[Agreement, Agreement]:
    """The agreement with mistakes of the groups, and of grouping by the first finding alone.

    Args:
        name: an exercise.
        mistakes: the number of mistakes to plant in its right answers.
    """
    exercise, answers, labels = EXERCISES[name], list[WrongAnswer](), dict[str, str]()
    known: set[frozenset[tuple[str, tuple[tuple[str, str], ...]]]] = set()
    for what, edit in mistakes_in(name):
        wrong = {}
        for answer in planted(name, what, edit):
            outcomes = run_cases(exercise, answer.write, exercise.cases, limits=IN_A_TRIAL)
            (check,) = checks_of([judge(exercise, outcomes)])
            if check.status != "passed":
                wrong[f"{what}: {answer.style}"] = check
        same = frozenset((key.rpartition(": ")[2], each.fails or ()) for key, each in wrong.items())
        if len(wrong) >= MIN_STYLES and same not in known:
            known.add(same)  # two edits that change the same are one mistake
            answers += [WrongAnswer(key, check) for key, check in wrong.items()]
            labels |= dict.fromkeys(wrong, what)
        if len(set(labels.values())) >= mistakes:
            break
    by_first = defaultdict(list)
    for one in answers:
        by_first[one.code].append(one.student)
    groups = group(name, answers, len(exercise.cases))
    by_id = {one.id: one.students for one in groups}
    return agreement(by_id, labels), agreement(by_first, labels)


if __name__ == "__main__":
    for word in sys.argv[1:]:
        for title, found in zip(("groups", "first finding"), measure(word), strict=True):
            print(
                f"{word}, {title}: {found.answers} answers, {found.mistakes} mistakes, "
                f"{found.groups} groups, purity {found.purity:.2f}, completeness "
                f"{found.completeness:.2f}",
                flush=True,
            )
