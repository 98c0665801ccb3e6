"""Ways to grade without a sandbox: each warns about its risk, and no message offers one."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.classroom.grading import grade_class, plan
from autograder.cli.main import UNUSABLE, app
from autograder.environment.errors import ClassroomError
from autograder.sandbox import walls
from autograder.sandbox.walls import NoBox
from tests.support.numbers import numbers_room as numbers

TRUST = "--i-trust-these-students"


def graded_with(monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str, list[object]]:
    """Run `fxcourse grade`; return its exit status, its output and the sandbox that it chose."""
    asked: list[object] = []

    def grade(room: Path, options: grade_class.GradingOptions, *_: object) -> None:
        asked.append(options.sandbox)
        raise ClassroomError("that will do")

    monkeypatch.setattr(grade_class, "grade_class", grade)
    done = CliRunner().invoke(app, ["grade", "DIR", *words], env={"COLUMNS": "500"})
    return done.exit_code, done.output, asked


@pytest.mark.parametrize(
    ("words", "sandbox"),
    [
        ((), "auto"),
        (("--sandbox", "auto", TRUST), "auto"),
        (("--sandbox", "landlock"), "landlock"),
        (("--sandbox", "none", TRUST), "none"),
    ],
)
def test_only_two_options_together_leave_the_sandbox_out(
    words: tuple[str, ...], sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, asked = graded_with(monkeypatch, *words)
    assert asked == [sandbox]


@pytest.mark.parametrize(
    "words",
    [("--sandbox", "none"), ("--no-sandbox",), ("--no-sandbox", "--sandbox", "none", TRUST)],
)
def test_anything_less_stops_and_says_what_to_write(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, output, asked = graded_with(monkeypatch, *words)
    assert status == UNUSABLE and not asked
    assert walls.GIVES_AWAY in output and f"--sandbox none {TRUST}" in output


@pytest.mark.parametrize("refusal", [walls._NOT_LINUX, walls._REFUSED])
def test_a_refusal_offers_no_grading_without_a_sandbox(refusal: str) -> None:
    assert walls.GIVES_AWAY in refusal
    assert not any(way in refusal for way in ("--sandbox", "--no-sandbox", "c.ExecuteChecks"))


def test_the_configuration_file_turns_the_sandbox_off_and_a_run_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choose(setting: str) -> None:
        raise NoBox("There is no sandbox here.")

    monkeypatch.setattr(plan, "choose", choose)
    room, said = numbers.room(tmp_path), list[str]()
    with pytest.raises(ClassroomError, match="no sandbox here"):
        grade_class.grade_class(room, listener=grade_class.Listener(warn=said.append))
    assert not said
    with (room / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write("\nc.ExecuteChecks.sandbox = False\n")
    with pytest.raises(ClassroomError, match="Nothing was handed in"):
        grade_class.grade_class(room, listener=grade_class.Listener(warn=said.append))
    assert said == [f"This run has no sandbox. {walls.GIVES_AWAY}"]
