"""Before anybody's work is graded, a notebook with known marks goes through the boxes."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.classroom.grading import canary
from autograder.classroom.grading.grade_submission import ChapterServers
from autograder.exercises import of_chapter
from autograder.judge import canary_exercises as judged
from autograder.runner.procedures import PROCEDURES
from autograder.sandbox.client import NoBox
from autograder.sandbox.probe import why_no_box
from autograder.submission.contract import GradingConfig, PreloadSpec
from autograder.submission.result import GradedNotebook, Result, Score, SubmissionStatus

CHAPTER = PreloadSpec("00_start")

needs_box = pytest.mark.skipif(
    why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"
)


def test_there_is_a_right_and_a_wrong_answer_for_each_way_of_exercising_them() -> None:
    assert set(canary.PROCEDURES) == set(PROCEDURES)
    assert set(canary.names()) == set(judged.exercises())
    assert canary.CHAPTER == judged.CHAPTER
    for name in canary.names():
        kind, _, rest = name.partition("_")
        assert judged.name_of(kind, rest.replace("_", " ")) == name


@pytest.mark.parametrize("procedures", [(), ("analysis", "interpreter")], ids=["all", "two"])
def test_what_a_chapter_uses_is_tried(
    procedures: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[set[str]] = []

    def grade(submission: object, config: GradingConfig, servers: object) -> GradedNotebook:
        tried.append(set(config.source_cells))
        scores = {
            f"check-{name}": Score(float(right), 1.0) for name, right in canary.names().items()
        }
        return GradedNotebook(Result("canary", "canary", SubmissionStatus.GRADED), "", scores)

    monkeypatch.setattr(canary, "grade_submission", grade)
    servers = ChapterServers.__new__(ChapterServers)
    servers.boxed, servers.procedures = True, frozenset(procedures)
    canary.prove(servers, CHAPTER)
    assert tried == [{f"check-{name}" for name in canary.names(procedures or canary.PROCEDURES)}]
    assert len(tried[0]) == 2 * len(procedures or canary.PROCEDURES)


@needs_box
def test_each_chapter_says_how_its_answers_are_exercised() -> None:
    servers = ChapterServers(CHAPTER)
    servers.close()
    assert servers.procedures == {one.procedure for one in of_chapter(CHAPTER.name)}


@pytest.mark.parametrize(
    "change",
    [
        {"scores": {"check-right_rules": Score(0.0, 1.0)}},
        {"scores": {"check-wrong_split": Score(1.0, 1.0)}},
        {"status": SubmissionStatus.CRASHED},
    ],
    ids=["a right answer earns nothing", "a wrong one something", "no judge"],
)
def test_other_marks_stop_everything(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {f"check-{name}": Score(float(right), 1.0) for name, right in canary.names().items()}
    scores |= change.get("scores", {})
    result = Result("canary", "canary", change.get("status", SubmissionStatus.GRADED))
    graded = GradedNotebook(result, "", scores)
    monkeypatch.setattr(canary, "grade_submission", lambda *_: graded)
    with pytest.raises(NoBox, match="Nothing was graded"):
        servers = ChapterServers.__new__(ChapterServers)
        servers.boxed, servers.procedures = True, frozenset()
        canary.prove(servers, CHAPTER)
