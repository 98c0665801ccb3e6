"""Groups wrong answers: equal sets of failing cases and findings are one group."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from autograder.classroom.groups.answers import WrongAnswer
from autograder.core.verdict import without_names

Rows = frozenset[tuple[str, str]]
"""Pairs of a case and the code of its finding. The case is empty if it does not matter."""

OUT_OF_TIME, CRASHED = "out-of-time", "crashed"
"""Codes of findings about an answer that did not end, and one that raised."""

MAX_SHARE_OF_TWO = 0.8
"""An answer that fails more of all cases is not taken for one with two mistakes."""

MIN_SAME_ROWS = 0.8
"""The least share of an answer's rows that two groups must have, for it to belong to both."""


@dataclass(frozen=True)
class Group:
    """Answers that fail in the same way.

    Attributes:
        exercise: the exercise.
        rows: the cases that all of them fail, with the codes of the findings.
        answers: the answers, by student.
        alike: whether the group before this one fails the same cases, with other findings.
    """

    exercise: str
    rows: Rows
    answers: tuple[WrongAnswer, ...]
    alike: bool = field(default=False, compare=False)

    @cached_property
    def id(self) -> str:
        """A digest of the rows, which is the same each time."""
        text = json.dumps([self.exercise, sorted(self.rows)])
        return hashlib.sha256(text.encode()).hexdigest()[:10]

    @property
    def cases(self) -> frozenset[str]:
        """The hand-picked cases that all answers fail."""
        return _cases(self.rows)

    @property
    def students(self) -> tuple[str, ...]:
        """The ids of the students."""
        return tuple(answer.student for answer in self.answers)

    @cached_property
    def says(self) -> str:
        """The message that most of the students read first."""
        counts = Counter(answer.message for answer in self.answers)
        return min(counts, key=lambda text: (-counts[text], len(text), text))


def group(exercise: str, answers: Iterable[WrongAnswer], cases: int) -> list[Group]:
    """Group the wrong answers to an exercise, large groups first.

    Groups that fail the same cases follow one another: they are often one mistake in several
    styles. An answer with two common mistakes belongs to both groups.

    Args:
        exercise: the exercise.
        answers: the answers; those without a record of failing cases are left out.
        cases: the number of hand-picked cases of the exercise.
    """
    found: dict[Rows, list[WrongAnswer]] = defaultdict(list)
    for answer in answers:
        if answer.check.fails is not None:
            found[fingerprint(answer, cases)].append(answer)
    groups = [
        Group(exercise, rows, tuple(sorted(those, key=lambda one: one.student)))
        for rows, those in _with_two_mistakes(found, cases).items()
    ]
    return _ordered(groups)


def fingerprint(answer: WrongAnswer, cases: int) -> Rows:
    """The failing cases of an answer with the codes of their findings.

    * An answer that fails on no hand-picked case has only the code of its first finding.
    * After an answer has run out of time, cases are skipped, in another order for each student. So
      only its codes count.
    * An answer that raises on every case also has its exception, without names and values.
    """
    rows = frozenset(answer.check.fails or {("", answer.code)})
    codes = {code for _, code in rows}
    if OUT_OF_TIME in codes:
        return frozenset(("", code) for code in codes)
    if codes == {CRASHED} and len(rows) >= cases:
        return rows | {("", without_names(answer.message))}
    return rows


def _cases(rows: Rows) -> frozenset[str]:
    return frozenset(case for case, _ in rows if case)


def _with_two_mistakes(
    found: dict[Rows, list[WrongAnswer]], cases: int
) -> dict[Rows, list[WrongAnswer]]:
    """Move the answers with two common mistakes into both groups."""
    groups: dict[Rows, list[WrongAnswer]] = {}
    for rows, answers in sorted(found.items(), key=lambda item: (-len(item[1]), sorted(item[0]))):
        commoner = [each for each in groups if len(found[each]) > len(answers)]
        parts = _parts(rows, commoner, cases) or (rows,)
        for part in parts:
            groups.setdefault(part, []).extend(answers)
    return groups


def _parts(rows: Rows, commoner: Sequence[Rows], cases: int) -> tuple[Rows, Rows] | None:
    """The two commonest groups whose mistakes explain these rows together, if there are any."""
    own = _cases(rows)
    if not own or len(own) > MAX_SHARE_OF_TWO * cases:
        return None
    inside = [each for each in commoner if _cases(each) and _cases(each) < own]
    for one, other in combinations(inside, 2):
        if _cases(one) | _cases(other) == own and len(rows & (one | other)) >= MIN_SAME_ROWS * len(
            rows
        ):
            return one, other
    return None


def _ordered(groups: Iterable[Group]) -> list[Group]:
    """Order groups by size; those that fail the same cases follow the largest of them."""
    alike: dict[frozenset[str] | Rows, list[Group]] = defaultdict(list)
    for each in sorted(groups, key=lambda one: (-len(one.answers), one.id)):
        alike[each.cases or each.rows].append(each)
    return [
        Group(one.exercise, one.rows, one.answers, alike=place > 0)
        for those in alike.values()
        for place, one in enumerate(those)
    ]
