"""The canary, a notebook with known scores, which is graded before any submission."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from autograder.classroom.grading import canary
from autograder.classroom.grading.grade_submission import ChapterServers
from autograder.exercises import of_chapter
from autograder.judge import canary as judged
from autograder.runner.kinds import KINDS
from autograder.sandbox.walls import NoBox, why_no_box
from autograder.submission.contract import GradingConfig, PreloadSpec
from autograder.submission.result import GradedNotebook, Result, Score, SubmissionStatus

CHAPTER = PreloadSpec("00_start")

needs_box = pytest.mark.skipif(
    why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"
)


def test_there_is_a_right_and_a_wrong_answer_of_each_kind() -> None:
    assert canary.KINDS == tuple(sorted(KINDS))
    assert canary.scores().keys() == judged.exercises().keys()
    assert canary.CHAPTER == judged.CHAPTER
    for kind in KINDS:
        right, wrong = canary.answers(kind).values()
        assert right.replace("right_", "wrong_") != wrong


def test_the_notebook_is_made_without_pytorch() -> None:
    """The process that keeps the gradebook does not import PyTorch."""
    code = "import sys; from autograder.classroom.grading import canary; canary.notebook()"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'torch' not in sys.modules"], check=True)


@pytest.mark.parametrize("kinds", [(), ("analysis", "interpreter")], ids=["all", "two"])
def test_what_a_chapter_uses_is_tried(
    kinds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[set[str]] = []

    def grade(submission: object, config: GradingConfig, servers: object) -> GradedNotebook:
        tried.append(set(config.source_cells))
        return GradedNotebook(Result("canary", "canary", SubmissionStatus.GRADED), "", known())

    monkeypatch.setattr(canary, "grade_submission", grade)
    canary.prove(servers_with(kinds), CHAPTER)
    assert tried == [{f"check-{name}" for name in canary.scores(kinds or canary.KINDS)}]
    assert len(tried[0]) == 2 * len(kinds or canary.KINDS)


def known() -> dict[str, Score]:
    """The known scores, by the names of the check cells."""
    return {f"check-{name}": Score(score, 1.0) for name, score in canary.scores().items()}


def servers_with(kinds: tuple[str, ...]) -> ChapterServers:
    """Fork servers of a chapter with these answer kinds; they are never started."""
    servers = ChapterServers.__new__(ChapterServers)
    servers.boxed, servers.kinds = True, frozenset(kinds)
    return servers


@needs_box
def test_each_chapter_says_which_kinds_of_answers_it_has() -> None:
    servers = ChapterServers(CHAPTER)
    servers.close()
    assert servers.kinds == {one.kind for one in of_chapter(CHAPTER.name)}


@pytest.mark.parametrize(
    "change",
    [
        {"scores": {"check-right_decomposition_rules": Score(0.0, 1.0)}},
        {"scores": {"check-wrong_split": Score(1.0, 1.0)}},
        {"status": SubmissionStatus.CRASHED},
    ],
    ids=["a right answer earns nothing", "a wrong one something", "no judge"],
)
def test_other_scores_stop_everything(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = Result("canary", "canary", change.get("status", SubmissionStatus.GRADED))
    graded = GradedNotebook(result, "", known() | change.get("scores", {}))
    monkeypatch.setattr(canary, "grade_submission", lambda *_: graded)
    with pytest.raises(NoBox, match="Nothing was graded"):
        canary.prove(servers_with(()), CHAPTER)
