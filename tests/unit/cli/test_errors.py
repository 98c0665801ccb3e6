"""A command that fails gives the reason in one sentence, and an exit status."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from autograder.classroom.room.location import classroom_at
from autograder.cli.errors import STOPPED, explained, interruptible
from autograder.environment.errors import ClassroomError


@pytest.mark.parametrize(
    ("error", "kinds", "text"),
    [
        (ClassroomError("Why [not]?"), (), "Not done. Why [not]?"),
        (ValueError("No number."), (ValueError,), "Not done. No number."),
        (OSError(13, "Permission denied", "a.zip"), (OSError,), "Not done. a.zip: Permission deni"),
        (OSError("odd"), (OSError,), "Not done. odd."),
    ],
)
def test_the_reason_is_printed_and_the_status_is_1(
    error: Exception,
    kinds: tuple[type[Exception], ...],
    text: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(typer.Exit) as ended, explained("Not done.", *kinds):
        raise error
    assert ended.value.exit_code == 1 and capsys.readouterr().err.startswith(text)


def test_a_fault_of_the_program_is_not_explained_away() -> None:
    with pytest.raises(ValueError, match="a fault"), explained("Not done."):
        raise ValueError("a fault")


def test_ctrl_c_has_a_status_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, interruptible("Nothing was graded."):
        raise KeyboardInterrupt
    assert ended.value.exit_code == STOPPED
    assert capsys.readouterr().err == "Stopped. Nothing was graded.\n"


def test_a_folder_without_settings_is_not_a_classroom(tmp_path: Path) -> None:
    with pytest.raises(ClassroomError, match=r"is not a classroom: it has no nbgrader_config\.py"):
        classroom_at(tmp_path)
    (tmp_path / "nbgrader_config.py").touch()
    assert classroom_at(tmp_path / "." / "") == tmp_path
