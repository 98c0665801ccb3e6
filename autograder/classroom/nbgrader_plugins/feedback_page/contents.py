"""The contents of a student's feedback page: the graded cells, without the chapter's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup
from nbformat.notebooknode import NotebookNode

from autograder.cards.wording import STATUS_LOOKS, headline
from autograder.classroom.nbgrader_plugins.feedback_page.private_cases import ShownCase
from autograder.classroom.nbgrader_plugins.feedback_page.written import written
from autograder.drawing import html
from autograder.submission.check_result import PrivateCase
from autograder.submission.outcome_notes import ENDED, outcome_of
from autograder.submission.result import SubmissionStatus
from autograder.submission.source_cells import checked_exercise, without_hidden

WAITS = "Waits for a person"
MAX_ANSWER_LINES = 200
"""The number of lines of an answer to show."""

_NO_ANSWER = "No response."
"""nbgrader's own comment on an unchanged answer; the page omits it, because the card repeats it."""

_PNG = re.compile(r"[A-Za-z0-9+/=\s]+")
_MOST_PNG = 400_000

AS_GIVEN = "This is the notebook as it was given out. Is it the right file?"


@dataclass(frozen=True)
class Handed:
    """The gradebook's data about a submission.

    Attributes:
        chapter: the notebook's name.
        name: the student's name.
        when: the time of submission, in words; empty if unknown.
        due: the due date for this student, in words; empty if there is none.
        score: its points, after the penalty.
        max_score: full marks.
        penalty: the points taken off for lateness.
        waits: grade ids of cells that a person still has to grade.
        remarks: sentences about the time of submission.
        cases: by exercise, the case to show; none before a `reveal`.
    """

    chapter: str
    name: str
    when: str
    due: str
    score: float
    max_score: float
    penalty: float
    waits: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()
    cases: Mapping[str, PrivateCase] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """One graded cell, with its answer.

    Attributes:
        anchor: its anchor on the page.
        title: its title in the table.
        icon: a symbol for its result.
        word: a word for its result.
        colour: the color of symbol and word.
        points: the points that it earned.
        max_points: full marks.
        answer: the answer, as HTML.
        shows: the card, or the cell's other outputs, as HTML.
        comments: the comments that a person wrote about it, as HTML.
        case: the case to show after a `reveal`.
    """

    anchor: str
    title: str
    icon: str
    word: str
    colour: str
    points: float
    max_points: float
    answer: tuple[Markup, ...]
    shows: tuple[Markup, ...]
    comments: tuple[Markup, ...]
    case: ShownCase | None = None


@dataclass(frozen=True)
class Contents:
    """A whole page.

    Attributes:
        handed: the gradebook's data.
        ended: the outcome of grading, in a sentence or two; may be empty.
        happened: events such as refused files and restarts, a sentence each.
        repairs: the repairs, a sentence each.
        parts: the graded cells; none if the notebook could not be read.
    """

    handed: Handed
    ended: str
    happened: tuple[str, ...]
    repairs: tuple[str, ...]
    parts: tuple[Part, ...]


def contents_of(nb: NotebookNode, handed: Handed) -> Contents:
    """The contents of the page for a graded notebook whose cells have their points and comments."""
    notes = outcome_of(nb)
    refused = notes.status in (SubmissionStatus.REFUSED, SubmissionStatus.UNREADABLE)
    ended = next((says for status, says in ENDED.items() if status == notes.status), "")
    if not ended and notes.repairs:
        ended = ENDED[SubmissionStatus.REPAIRED]
    if not refused and _is_as_given(nb, notes.checks):
        ended = f"{AS_GIVEN} {ended}".rstrip()
    return Contents(
        handed,
        ended,
        (*handed.remarks, *map(_sentence, notes.happened)),
        () if refused else tuple(map(_sentence, notes.repairs)),
        () if refused else tuple(_parts(nb, handed, notes.checks)),
    )


def _is_as_given(nb: NotebookNode, statuses: Mapping[str, str]) -> bool:
    """Whether the student began no answer of a notebook."""
    by_hand = (cell for cell in nb.cells if _is(cell, "grade") and _is(cell, "solution"))
    return (
        bool(statuses)
        and set(statuses.values()) == {"not attempted"}
        and all(cell.metadata.nbgrader.get("comment") == _NO_ANSWER for cell in by_hand)
    )


def _sentence(text: str) -> str:
    """Turn a grader's note into a sentence."""
    text = html.clean(text).strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _parts(nb: NotebookNode, handed: Handed, checks: object) -> Iterator[Part]:
    statuses = checks if isinstance(checks, dict) else {}
    answers = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in nb.cells
        if _is(cell, "solution") and not _is(cell, "grade")
    }
    pending: list[NotebookNode] = []
    for cell in nb.cells:
        if _is(cell, "solution") and not _is(cell, "grade"):
            pending.append(cell)
        elif _is(cell, "grade") or _is(cell, "task"):
            own = answers.get(checked_exercise(cell) or "")
            about = [own] if own is not None else pending
            yield _part(cell, about, handed, statuses)
            pending = []


def _part(
    cell: NotebookNode, about: Sequence[NotebookNode], handed: Handed, statuses: dict[str, str]
) -> Part:
    data = cell.metadata.nbgrader
    name = checked_exercise(cell)
    points, most = float(data.get("score") or 0.0), float(data.get("points") or 0.0)
    icon, word, colour = _look(statuses.get(name or ""), points, most)
    if data.grade_id in handed.waits:
        icon, word, colour = "?", WAITS, STATUS_LOOKS["not judged"].colour
    written_by_hand = _is(cell, "solution") or _is(cell, "task")
    answer = [shown for each in about for shown in _answer(each)]
    shows = []
    if written_by_hand:
        answer += _answer(cell)
    elif name is None:
        shows += [Markup(html.block(without_hidden(cell.source).rstrip(), lines=MAX_ANSWER_LINES))]
    if not written_by_hand:
        shows += _outputs(cell, ours=name is not None)
    private = handed.cases.get(name or "") if points < most else None
    comments = [written(text) for each in (*about, cell) if (text := _comment(each))]
    return Part(
        data.grade_id, name or data.grade_id, icon, word, html.tinted(colour), points, most,
        tuple(answer), tuple(shows), tuple(comments), ShownCase(private) if private else None,
    )  # fmt: skip


def _is(cell: NotebookNode, what: str) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get(what))


def _look(status: str | None, points: float, most: float) -> tuple[str, str, str]:
    """The result of a graded cell: a symbol, a word and a color."""
    if status not in STATUS_LOOKS:
        status = "passed" if points >= most else "failed"
    look = headline(status, final=True)
    return look.icon, look.word, look.colour


def _comment(cell: NotebookNode) -> str:
    comment = cell.metadata.get("nbgrader", {}).get("comment")
    text = comment.strip() if isinstance(comment, str) else ""
    return "" if text == _NO_ANSWER else text


def _answer(cell: NotebookNode) -> Iterator[Markup]:
    """The student's text, and the outputs of running it."""
    if cell.cell_type == "markdown":
        yield written(cell.source)
        return
    yield Markup(html.block(cell.source, lines=MAX_ANSWER_LINES))
    yield from _outputs(cell, ours=False)


def _outputs(cell: NotebookNode, *, ours: bool) -> Iterator[Markup]:
    """The outputs of a cell: a card unchanged; for a student's cell, only text and bitmaps."""
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if ours and output.output_type == "display_data" and "text/html" in data:
            yield Markup(data["text/html"])
        elif output.output_type == "stream":
            yield Markup(html.block(output.text, lines=30))
        elif output.output_type == "error":
            says = f"{output.ename}: {output.evalue}"
            yield Markup(html.block(says, lines=12))
        elif _is_png(data.get("image/png")):
            source = "".join(data["image/png"].split())
            yield (
                Markup('<img alt="A picture that this cell shows" src="data:image/png;base64,%s">')
                % source
            )
        elif "text/plain" in data:
            yield Markup(html.block(data["text/plain"], lines=30))


def _is_png(data: object) -> bool:
    return isinstance(data, str) and len(data) < _MOST_PNG and bool(_PNG.fullmatch(data))
