"""A student's text cannot affect the terminal or the log of the person who grades."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from nbformat.v4 import new_notebook
from rich.console import Console

from autograder.classroom.grading.grade_class import grade_class
from autograder.classroom.nbgrader_plugins.execute_checks import ExecuteChecks
from autograder.cli.grading_progress import Watch, line_about
from autograder.submission.contract import GradingConfig, Submission
from autograder.submission.result import GradedNotebook, Result, SubmissionStatus
from autograder.submission.sanitize import in_a_line
from tests.support.classes.commands import done
from tests.support.numbers import numbers_room as numbers
from tests.support.submissions import room as rooms

EVIL = "a\x1b[2J\x1b]0;x\x07b\nc\rd\x9bm\u202ee\u2066f\u2028g\x7fh\U000e0041i\ufeff"


def is_plain(text: str) -> bool:
    return text.isprintable()


def test_only_what_prints_is_left() -> None:
    assert is_plain(in_a_line(EVIL))
    assert in_a_line("Zoë, 李, 👩‍🔬: “1 < 2” é") == "Zoë, 李, 👩‍🔬: “1 < 2” é"


@pytest.mark.filterwarnings("ignore:Object of type.*:sqlalchemy.exc.SAWarning")  # from nbgrader
def test_notes_are_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def graded(
        units: Iterable[Submission], config: GradingConfig, jobs: int
    ) -> Iterator[GradedNotebook]:
        for unit in units:
            status = SubmissionStatus.GRADED
            result = Result(unit.student, config.chapter, status, notes=(EVIL,))
            yield GradedNotebook(result, unit.text.decode(), {})

    monkeypatch.setattr("autograder.classroom.grading.run.grade_in_parallel", graded)
    monkeypatch.setattr("autograder.classroom.grading.plan.choose", lambda _: None)
    room = numbers.room(tmp_path)
    rooms.hand_in(room, "ann", numbers.CHAPTER, new_notebook())
    (row,) = grade_class(room).results
    assert row.notes and all(map(is_plain, row.notes))
    (line,) = done(room)
    assert line["notes"] and all(map(is_plain, line["notes"]))
    console = Console(file=io.StringIO(), no_color=True, force_terminal=False, width=200)
    console.print(line_about(row))
    assert is_plain(console.file.getvalue().replace("\n", ""))


def test_nbgraders_log_gets_them_in_a_line(caplog: pytest.LogCaptureFixture) -> None:
    execute = ExecuteChecks()
    execute.log = logging.getLogger("a log")
    with caplog.at_level(logging.WARNING):
        execute._warn(EVIL, numbers.CHAPTER, EVIL)
    assert is_plain(caplog.messages[0])


def test_the_same_note_is_told_once() -> None:
    console = Console(record=True, width=200, soft_wrap=True)
    note = ("The points of `x` are those of an earlier release; the new ones count.",)
    with Watch(console) as watch:
        for student in ("ann", "bo", "cy"):
            watch.tell(Result(student, "01_one", SubmissionStatus.GRADED, 1, 1, note), 1, 3)
        watch.tell(Result("dan", "01_one", SubmissionStatus.REPAIRED, 1, 1, note), 3, 3)
    text = console.export_text()
    assert "ann, 01_one" in text and "bo, 01_one" not in text and "dan, 01_one" in text
    assert f"2 more submissions of 01_one: {note[0]}" in text
