"""The contents of all formats: the words and points that a student may read.

Messages about hidden cases contain no model and no name of the case: the judge has removed them.
Names of failing cases, which only the instructor's report shows, are left out here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autograder.cards.wording import FINAL, headline
from autograder.submission.check_result import NOT_JUDGED, CheckResult, KeptFinding
from autograder.submission.outcome_notes import ENDED
from autograder.submission.result import GradedNotebook, Result, Score
from autograder.submission.source_cells import CHECK

WAITS = "Waits for a person"


@dataclass(frozen=True)
class Row:
    """One graded cell.

    Attributes:
        name: the exercise, or the grade id of another cell with points.
        word: the result in a word or two, such as ``Passed``.
        points: the points; ``None`` if a person still gives them.
        max_points: the most points possible.
        findings: the problems of the answer, beginning with the one to show.
        text: the words for the student; empty after a pass.
    """

    name: str
    word: str
    points: float | None
    max_points: float
    findings: tuple[KeptFinding, ...] = ()
    text: str = ""

    @property
    def is_right(self) -> bool:
        """Whether it earned all points."""
        return self.points is not None and self.points >= self.max_points

    @property
    def worth(self) -> str:
        """The points in words, such as ``2 of 4``."""
        return WAITS if self.points is None else _of(self.points, self.max_points)


@dataclass(frozen=True)
class Feedback:
    """The contents of all formats for one graded notebook.

    Attributes:
        result: the result of the submission.
        rows: the graded cells, in the order of the notebook.
    """

    result: Result
    rows: tuple[Row, ...]

    @property
    def summary(self) -> str:
        """The outcome and its reasons, a line each; empty for a notebook that needed no words."""
        ended = ENDED.get(self.result.status, "")
        return "\n".join(filter(None, (ended, *self.result.notes)))

    @property
    def total(self) -> str:
        """The points of the whole notebook in words."""
        return f"{_of(self.result.points, self.result.max_points)} points"


def feedback_on(graded: GradedNotebook) -> Feedback:
    """The feedback on a graded notebook."""
    checks = {check.exercise: check for check in graded.result.checks}
    return Feedback(graded.result, tuple(_rows(graded.scores, checks)))


def _rows(scores: Mapping[str, Score], checks: Mapping[str, CheckResult]) -> Iterator[Row]:
    for grade_id, score in scores.items():
        name = grade_id.removeprefix(CHECK)
        check = checks.get(name) if grade_id.startswith(CHECK) else None
        status = check.status if check else "passed" if _is_full(score) else "failed"
        word = WAITS if score.points is None else headline(status, final=True).word
        findings, text = (check.findings, _text(check)) if check else ((), "")
        yield Row(name, word, score.points, score.max_points, findings, text)


def _of(points: float, max_points: float) -> str:
    return f"{round(points, 2):g} of {round(max_points, 2):g}"


def _is_full(score: Score) -> bool:
    return score.points is not None and score.points >= score.max_points


def _text(check: CheckResult) -> str:
    """The first problem, and the smallest model that shows it."""
    if check.status in FINAL:
        said = FINAL[check.status].replace("{name}", check.exercise)
        if check.status != NOT_JUDGED or not check.findings:
            return said
    if not check.findings:
        return ""
    first = check.findings[0]
    model = f"The smallest model that shows it:\n\n{first.model}" if first.model else ""
    return "\n\n".join(filter(None, (first.message, model)))
