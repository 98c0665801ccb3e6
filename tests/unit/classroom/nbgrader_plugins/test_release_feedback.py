"""Feedback that students can fetch goes to nbgrader's exchange; a message lists the rest."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from nbgrader.apps import NbGraderAPI
from nbgrader.exchange import ExchangeFactory
from traitlets.config import Config

from autograder.classroom.nbgrader_plugins.release_feedback import ReleaseFeedback
from autograder.classroom.room.nbgrader_api import api
from tests.support.stub_class import ONE

pytestmark = pytest.mark.filterwarnings(
    "ignore:Passing unrecognized:DeprecationWarning"
)  # from nbgrader


@pytest.fixture
def exchange(tmp_path: Path) -> Path:
    folder = tmp_path / "exchange"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def page(room: Path, student: str, *, by_exchange: bool) -> None:
    """Write a student's page to the path that `nbgrader generate_feedback` uses."""
    folder = room / "feedback" / student / ONE
    folder.mkdir(parents=True)
    (folder / f"{ONE}.html").write_text(f"<p>{student}</p>", encoding="utf-8")
    if by_exchange:
        (folder / "timestamp.txt").write_text("2026-11-02 09:00:00 UTC", encoding="utf-8")
        (folder / "submission_secret.txt").write_text(f"secret of {student}", encoding="utf-8")


def open_classroom(room: Path) -> NbGraderAPI:
    """Open nbgrader with an exchange next to the classroom."""
    nbgrader = api(room)
    nbgrader.config.Exchange.root = str(room.parent / "exchange")
    return nbgrader


def released(room: Path, student: str | None = None) -> tuple[bool, str]:
    """Press Formgrader's button; return its success and its message."""
    found: dict[str, Any] = open_classroom(room).release_feedback(ONE, student)
    return found["success"], found.get("log", "")


def texts(exchange: Path) -> list[str]:
    """Return the pages that students can fetch."""
    return sorted(path.read_text("utf-8") for path in exchange.glob("class/feedback/*.html"))


def test_all_are_released_but_those_that_nobody_could_fetch(room: Path, exchange: Path) -> None:
    for student, by_exchange in (("ann", False), ("bo", True), ("cy", False), ("di", True)):
        page(room, student, by_exchange=by_exchange)
    done, said = released(room)
    assert done and texts(exchange) == ["<p>bo</p>", "<p>di</p>"]
    assert "not handed in through the exchange: ann, cy. Give these students the pages in" in said
    assert f"{room / 'feedback'}, or use fxcourse classroom export" in said


def test_one_that_nobody_could_fetch_is_refused_in_a_sentence(room: Path, exchange: Path) -> None:
    page(room, "ann", by_exchange=False)
    page(room, "bo", by_exchange=True)
    done, said = released(room, "ann")
    assert not done and "through the exchange: ann. Give" in said
    assert (released(room, "bo")[0], texts(exchange)) == (True, ["<p>bo</p>"])


def test_signs_in_a_name_are_no_pattern(room: Path, exchange: Path) -> None:
    for student in ("a[b], c", "ab"):
        page(room, student, by_exchange=True)
    assert released(room, "a[b], c")[0] and texts(exchange) == ["<p>a[b], c</p>"]
    assert released(room)[0] and len(texts(exchange)) == 2


def test_excluded_students_stay_excluded(room: Path, exchange: Path) -> None:
    for student, by_exchange in (("ann", False), ("bo", True), ("cy", True)):
        page(room, student, by_exchange=by_exchange)
    nbgrader = open_classroom(room)
    nbgrader.coursedir.student_id_exclude = "cy"
    assert nbgrader.release_feedback(ONE)["success"] and texts(exchange) == ["<p>bo</p>"]


def test_without_pages_or_exchange_it_says_what_to_do(room: Path, exchange: Path) -> None:
    done, said = released(room)
    assert not done and f"no feedback pages of {ONE} yet. Generate feedback first." in said
    shutil.rmtree(exchange)
    done, said = released(room)
    assert not done and f"There is no exchange at {exchange}" in said
    assert "Set c.Exchange.root in nbgrader_config.py" in said and str(room / "feedback") in said


def test_another_exchange_that_is_configured_is_used(room: Path) -> None:
    api(room)
    other = "nbgrader.exchange.default.ExchangeReleaseFeedback"
    config = Config({"ExchangeFactory": {"release_feedback": other}})
    assert ExchangeFactory().release_feedback is ReleaseFeedback
    assert ExchangeFactory(config=config).release_feedback is not ReleaseFeedback
