"""Work that nbgrader's exchange delivers again with the same answers keeps its time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.classroom.intake.kept_versions import OLDER
from autograder.classroom.lateness import same_work
from autograder.classroom.reports.undo import undo_last_run
from autograder.submission.contract import GradingConfig, Submission
from autograder.submission.result import GradedNotebook
from tests.support import stub_class
from tests.support.stub_class import ONE

FIRST, LATE, LATER = (f"2026-11-{day} 10:00:00.250000 UTC" for day in (20, 23, 24))


@pytest.fixture(autouse=True)
def _graders(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grade without sandboxes; the digests are those of the cells' sources."""

    def grade(
        submissions: Iterable[Submission], config: GradingConfig, jobs: int
    ) -> Iterator[GradedNotebook]:
        for graded in stub_class.grade_at_once(submissions, config, jobs):
            cells = json.loads(graded.text)["cells"]
            code = hashlib.sha256(repr([cell["source"] for cell in cells]).encode()).hexdigest()
            yield replace(graded, code=code, work=code)

    monkeypatch.setattr("autograder.classroom.grading.run.grade_in_parallel", grade)
    (room / "deadlines.toml").write_text("percent_a_day = 10\n", encoding="utf-8")
    with (room / "nbgrader_config.py").open("a") as file:
        file.write(f'c.Exchange.root = "{room.parent / "exchange"}"\n')
    stub_class.due(room, "2026-11-20 12:00:00")


def deliver(room: Path, at: str, output: int = 0, answer: str = "") -> None:
    """Put ann's work into ``submitted``, as ``nbgrader collect --update`` does."""
    path = stub_class.hand_in(room, "ann", at=at, after=6.0, half=4.0)
    nb = json.loads(stub_class.text_of(ONE, answer, after=6.0, half=4.0))
    nb["cells"][0]["execution_count"] = output
    path.write_text(json.dumps(nb), encoding="utf-8")
    (path.parent / "submission_secret.txt").write_text(f"secret {at}", encoding="utf-8")


def grade(room: Path, **options: Any) -> float:
    """Grade the class; return the points that ann has lost because she was late."""
    grade_class(room, GradingOptions(students=["ann"], **options))
    return stub_class.penalties(room)["ann"]


def time_of_ann(room: Path) -> str:
    with stub_class.gradebook(room) as book:
        return f"{book.find_submission(ONE, 'ann').timestamp} UTC"


def test_the_earlier_time_stays(room: Path) -> None:
    deliver(room, FIRST)
    assert grade(room) == 0.0
    deliver(room, LATE, output=1)
    assert grade(room, dry_run=True) == 0.0 and not (room / same_work.FILE).exists()
    for _ in range(2):
        assert grade(room) == 0.0 and time_of_ann(room) == FIRST
    assert grade(room, force=True) == 0.0
    deliver(room, LATER, output=2)
    assert grade(room) == 0.0
    found = same_work.find(room, "ann", ONE)
    assert found is not None and (found.again, found.counts) == (LATER, FIRST)
    undo_last_run(room)
    assert grade(room) == 0.0


def test_other_answers_are_late(room: Path) -> None:
    deliver(room, FIRST)
    grade(room)
    deliver(room, LATE, answer="a change")
    assert grade(room) == 3.0 and time_of_ann(room) == LATE


def test_an_old_version_after_another_one_is_late(room: Path) -> None:
    for at, answer in ((FIRST, "a"), (LATE, "b"), (LATER, "a")):
        deliver(room, at, answer=answer)
        late = grade(room)
    assert late == 4.0 and same_work.find(room, "ann", ONE) is None


@pytest.mark.parametrize(
    "between", [f"exchange/class/inbound/ann+{ONE}+{LATE}+x7", f"class/{OLDER}/ann/{ONE}/undated"]
)
def test_a_version_in_between_that_was_never_graded_counts_too(room: Path, between: str) -> None:
    deliver(room, FIRST)
    grade(room)
    folder = room.parent / between
    folder.mkdir(parents=True)
    (folder / f"{ONE}.ipynb").write_text("{}")
    deliver(room, LATER, output=1)
    assert grade(room) == 4.0


def test_another_file_next_to_the_notebook_is_other_work(room: Path) -> None:
    deliver(room, FIRST)
    grade(room)
    deliver(room, LATE, output=1)
    (room / "submitted/ann" / ONE / "helpers.py").write_text("x = 1")
    assert grade(room) == 3.0


def test_an_instructor_may_correct_the_time(room: Path) -> None:
    deliver(room, FIRST)
    grade(room)
    stub_class.stamp(room, "ann", LATE)
    assert grade(room) == 3.0
