"""Links of cards lead to cells that there are, and to nothing outside of a workspace."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest

from autograder import learners_record, workspace_root
from autograder.api import exercise_called, progress_so_far
from autograder.builder.paths import COURSE
from autograder.cards.card import Card
from autograder.cards.debrief import DebriefCard
from autograder.core.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.going_on import links_from, next_links
from autograder.lessons import debriefs

PASSED, FAILED = (Verdict("retarget", status, 1.0) for status in ("passed", "failed"))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    state = tmp_path / workspace_root.STATE
    state.mkdir()
    (state / workspace_root.MARK).write_text("{}")
    monkeypatch.setenv(workspace_root.ENV, str(tmp_path))
    return state


def pass_all_but(state: Path, *names: str) -> None:
    done = {name: "passed" for name in EXERCISES if name not in names}
    (state / learners_record.IN_WORKSPACE).write_text(json.dumps(done))


def targets(html: str) -> list[str]:
    return re.findall(r'href="([^"]*)"', html)


def test_a_card_leads_on(workspace: Path) -> None:
    exercise = exercise_called("retarget")
    failed = Card(FAILED, exercise, links=links_from(FAILED, exercise))
    chapter = "03_manipulation.ipynb"
    html = failed._repr_mimebundle_()["text/html"]
    assert targets(html) == [f"{chapter}#cell-id=hint-retarget", f"{chapter}#cell-id=card-retarget"]
    passed = Card(PASSED, exercise, links=links_from(PASSED, exercise))
    html = passed._repr_mimebundle_()["text/html"]
    assert targets(html) == [
        f"{chapter}#cell-id=card-add_to_mul",
        f"{chapter}#cell-id=debrief-retarget",
    ]
    assert "Next exercise: add_to_mul" in html and "Compare solutions" in html
    told = DebriefCard("retarget", debriefs()["retarget"], next_links(exercise)).html()
    assert targets(told)[-1] == f"{chapter}#cell-id=card-add_to_mul"


def test_the_next_exercise_is_one_that_is_not_passed(workspace: Path) -> None:
    def after(name: str) -> list[str]:
        return [link.cell for link in next_links(exercise_called(name))]

    assert after("remove_dropout") == ["card-count_matches"]  # not into the deep dive
    assert after("probe_values") == ["card-sound_dce"]  # but within it
    pass_all_but(workspace, "node_names", "sound_dce")
    assert after("retarget") == ["card-node_names"]  # what was left behind
    pass_all_but(workspace, "sound_dce")
    assert after("retarget") == []


def test_without_a_workspace_there_are_no_links(
    monkeypatch: pytest.MonkeyPatch, workspace: Path
) -> None:
    exercise = exercise_called("retarget")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert links_from(PASSED, exercise) == links_from(FAILED, exercise) == []
    monkeypatch.delenv("NBGRADER_EXECUTION")
    monkeypatch.setenv(workspace_root.ENV, "")
    assert links_from(PASSED, exercise) == next_links(exercise) == []
    assert targets(progress_so_far()._repr_mimebundle_()["text/html"]) == []


def test_every_link_leads_to_a_cell(workspace: Path) -> None:
    found = set(targets(progress_so_far()._repr_mimebundle_()["text/html"]))
    for exercise in EXERCISES.values():
        for verdict in (PASSED, FAILED):
            found |= set(targets("".join(ln.html() for ln in links_from(verdict, exercise))))
    ids = {
        path.name: {cell.get("id") for cell in nbformat.read(path, as_version=4).cells}
        for path in COURSE.glob("*.ipynb")
    }
    assert len(found) > 250
    for target in found:
        name, _, cell = target.partition("#cell-id=")
        assert name in ids and (not cell or cell in ids[name]), target


def test_progress_in_a_class_counts_the_chapters_that_are_there(workspace: Path) -> None:
    every = len(progress_so_far().rows)
    for path in workspace.parent.glob("*.ipynb"):
        path.unlink()
    (workspace.parent / "01_tracing.ipynb").touch()
    assert {row.chapter for row in progress_so_far().rows} == {"01_tracing"} and every == 86
