"""Links of cards lead to existing cells, and never outside a workspace."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from autograder.api import exercise_called, progress_so_far
from autograder.builder.paths import COURSE
from autograder.cards.card import Card
from autograder.cards.debrief import DebriefCard
from autograder.core.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.learner.next_links import card_links, next_links
from autograder.lessons import debriefs
from autograder.lessons.course_map import Chapter, course_map
from autograder.workspace import location

PASSED, FAILED = (Verdict("retarget", status, 1.0) for status in ("passed", "failed"))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    state = tmp_path / location.STATE
    state.mkdir()
    (state / location.MARK).write_text("{}")
    for path in COURSE.glob("*.ipynb"):
        (tmp_path / path.name).touch()
    monkeypatch.setenv(location.ENV, str(tmp_path))
    return state


def targets(html: str) -> list[str]:
    return re.findall(r'href="([^"]*)"', html)


def test_a_card_leads_on(workspace: Path) -> None:
    exercise = exercise_called("retarget")
    failed = Card(FAILED, exercise, links=card_links(FAILED, exercise))
    html = failed._repr_mimebundle_()["text/html"]
    assert targets(html) == ["03_manipulation.ipynb#cell-id=card-retarget"]
    (section,) = [each for each in chapter_of("retarget").sections if each.number == "3.2"]
    to_section = f"03_manipulation.ipynb#cell-id={section.cell}"
    passed = Card(PASSED, exercise, links=card_links(PASSED, exercise))
    html = passed._repr_mimebundle_()["text/html"]
    assert targets(html) == [to_section] and "Go on: 3.2 " in html
    told = DebriefCard("retarget", debriefs()["retarget"], next_links(exercise)).html()
    assert targets(told) == [to_section]


def chapter_of(name: str) -> Chapter:
    return next(each for each in course_map().chapters if name in each.exercises)


def test_a_pass_skips_nothing(workspace: Path) -> None:
    def after(name: str) -> str:
        (link,) = next_links(exercise_called(name))
        return link.text

    assert after("node_names") == "Go on: What just happened"  # the rest of its section
    assert after("sort_graph") == "Go on: Break it: an order by inputs alone"
    assert after("node_table").startswith("Go on: 1.3 ")  # the next exercise would be an hour later
    assert after("WitnessSorted").startswith("Go on: 12.3 ")
    last = chapter_of("sound_dce").sections[-1]
    at = next(each for each in chapter_of("sound_dce").sections if "sound_dce" in each.exercises)
    assert at is not last and after("sound_dce").startswith("Go on: 3b.")  # inside a deep dive
    (workspace.parent / "00_start.ipynb").unlink()  # a class may leave out a chapter
    assert after("node_names").startswith("Go on: 1 · ")


def test_after_a_chapter_comes_no_deep_dive() -> None:
    course = course_map()
    chapters = {each.name for each in course.chapters}
    for at, chapter in enumerate(course.chapters):
        for name in chapter.exercises:
            step = course.after(name, chapters)
            if step is None:
                assert chapter is course.chapters[-1] and chapter.sections[-1].exercises
            elif step.chapter != chapter.name:
                main = [each for each in course.chapters[at + 1 :] if not each.is_deep_dive]
                assert (step.chapter, step.cell) == (main[0].name, "")
    assert course.after("no_such_exercise", chapters) is None


def test_without_a_workspace_there_are_no_links(
    monkeypatch: pytest.MonkeyPatch, workspace: Path
) -> None:
    exercise = exercise_called("retarget")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert card_links(PASSED, exercise) == card_links(FAILED, exercise) == []
    monkeypatch.delenv("NBGRADER_EXECUTION")
    monkeypatch.setenv(location.ENV, "")
    assert card_links(PASSED, exercise) == next_links(exercise) == []
    assert targets(progress_so_far()._repr_mimebundle_()["text/html"]) == []


def test_every_link_leads_to_a_cell(workspace: Path) -> None:
    found = set(targets(progress_so_far()._repr_mimebundle_()["text/html"]))
    for exercise in EXERCISES.values():
        for verdict in (PASSED, FAILED):
            found |= set(targets("".join(ln.html() for ln in card_links(verdict, exercise))))
    ids = {
        path.name: {cell.get("id") for cell in nbformat.read(path, as_version=4).cells}
        for path in COURSE.glob("*.ipynb")
    }
    assert len(found) > 190
    for target in found:
        name, _, cell = target.partition("#cell-id=")
        assert name in ids and (not cell or cell in ids[name]), target


def test_progress_in_a_class_counts_the_chapters_that_are_there(workspace: Path) -> None:
    every = len(progress_so_far().rows)
    for path in workspace.parent.glob("*.ipynb"):
        path.unlink()
    (workspace.parent / "01_tracing.ipynb").touch()
    assert {row.chapter for row in progress_so_far().rows} == {"01_tracing"} and every == 90
