"""Renders the groups of a chapter as one HTML page, which needs neither network nor scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from autograder.classroom.groups.course_cases import CaseCode, CourseCases
from autograder.classroom.groups.grouping import Group
from autograder.classroom.groups.representatives import GradedNotebooks
from autograder.classroom.room.private import MIN_SAME_TEXT
from autograder.drawing.html import bounded, rich
from autograder.drawing.templates import environment

MAX_CODE_LINES = 120
"""The number of lines of an answer, and of a case, to show."""


@dataclass(frozen=True)
class ShownGroup:
    """A group on the page.

    Attributes:
        anchor: its anchor.
        group: the group.
        share: its share of the exercise's wrong answers.
        says: the message that most of its students read first; empty if it must not be shown.
        in_two: the number of its students who are in another group of the exercise, too.
        cases: the names of the cases that all fail, each with whether it is hidden.
        card: the card of one answer as text; empty if it shows no case.
        case: the smallest case that all fail, if no card shows it.
        answers: up to two answers, each with the student's name.
        names: the students; none on a page without names.
    """

    anchor: str
    group: Group
    share: float
    says: str
    in_two: int
    cases: tuple[tuple[str, bool], ...]
    card: str
    case: CaseCode | None
    answers: tuple[tuple[str, str], ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class ShownExercise:
    """An exercise on the page: its name, the number of wrong answers, and its groups."""

    name: str
    wrong: int
    groups: tuple[ShownGroup, ...]


def page(
    room: Path,
    chapter: str,
    groups: Mapping[str, Sequence[Group]],
    cases: CourseCases,
    *,
    wrong: Mapping[str, int],
    names: Mapping[str, str] | None,
    ungrouped: int,
    made: datetime,
) -> str:
    """Render the page.

    Args:
        room: the classroom, with the graded notebooks.
        chapter: the chapter.
        groups: the groups by exercise.
        cases: the cases of the course.
        wrong: the number of wrong answers by exercise.
        names: the students' names by id; ``None`` for a page without names and answers.
        ungrouped: the number of answers without a record of failing cases.
        made: the time to print.
    """
    view = _View(GradedNotebooks(room, chapter), cases, names)
    exercises = [
        view.exercise(f"e{place}", name, wrong[name], those)
        for place, (name, those) in enumerate(groups.items())
    ]
    html: str = _template().render(
        chapter=chapter,
        made=made.strftime("%d %B %Y, %H:%M"),
        exercises=exercises,
        ungrouped=ungrouped,
        anonymous=names is None,
        alike=MIN_SAME_TEXT,
    )
    return html


class _View:
    """Turns groups into what the page shows of them."""

    def __init__(
        self, notebooks: GradedNotebooks, cases: CourseCases, names: Mapping[str, str] | None
    ) -> None:
        self._notebooks, self._cases, self._names = notebooks, cases, names

    def exercise(
        self, anchor: str, name: str, wrong: int, groups: Sequence[Group]
    ) -> ShownExercise:
        counts = Counter(student for each in groups for student in each.students)
        twice = {student for student, count in counts.items() if count > 1}
        shown = (self._group(f"{anchor}-{each.id}", each, wrong, twice) for each in groups)
        return ShownExercise(name, wrong, tuple(shown))

    def _group(self, anchor: str, group: Group, wrong: int, twice: set[str]) -> ShownGroup:
        cases = tuple(
            (case, self._cases.is_hidden(group.exercise, case)) for case in sorted(group.cases)
        )
        only_hidden = bool(cases) and all(hidden for _, hidden in cases)
        card = "" if only_hidden or self._names is None else self._card(group)
        case = None if card else self._cases.smallest(group.exercise, group.cases)
        says = group.says
        same = sum(answer.message == says for answer in group.answers)
        return ShownGroup(
            anchor, group, len(group.answers) / wrong,
            "" if self._names is None and same < MIN_SAME_TEXT else says,
            len(twice.intersection(group.students)), cases, card,
            case and CaseCode(case.name, bounded(case.code, MAX_CODE_LINES), case.is_hidden),
            self._answers(group), tuple(map(self._name, group.students if self._names else ())),
        )  # fmt: skip

    def _card(self, group: Group) -> str:
        return self._notebooks.card(group.students[0], group.exercise)

    def _answers(self, group: Group) -> tuple[tuple[str, str], ...]:
        if self._names is None:
            return ()
        found = self._notebooks.two_answers(group.students, group.exercise)
        return tuple((self._name(name), bounded(text, MAX_CODE_LINES)) for name, text in found)

    def _name(self, student: str) -> str:
        name = (self._names or {}).get(student, "")
        return f"{student}, {name}" if name else student


def _template() -> Any:
    """The template, which escapes everything except `Markup`."""
    found = environment(Path(__file__).parent / "templates", trim_blocks=True)
    found.filters |= {
        "percent": lambda part: f"{part:.0%}",
        "rich": lambda text: Markup(rich(text)),
        "answers": lambda count: "1 answer" if count == 1 else f"{count} answers",
    }
    return found.get_template("groups.html")
