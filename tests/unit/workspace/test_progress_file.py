"""The record of progress: where it is, and that no pass in it is ever lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.builder.paths import ROOT
from autograder.workspace import class_wheel, location, progress_file
from autograder.workspace.class_wheel import ClassWheel

CHAPTER = "03_manipulation"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's home folder, without a workspace."""
    monkeypatch.delenv(location.ENV)
    monkeypatch.setattr(location, "usual", lambda: tmp_path / "fxcourse")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fetched(home: Path) -> Path:
    """An assignment in that folder."""
    folder = home / CHAPTER
    folder.mkdir()
    (folder / f"{CHAPTER}.ipynb").touch()
    return folder


def make_workspace(folder: Path) -> None:
    (folder / location.STATE).mkdir(parents=True)
    (folder / location.STATE / location.MARK).touch()


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {}, "~/.local/state"),
        ("linux", {"XDG_STATE_HOME": "relative"}, "~/.local/state"),
        ("linux", {"XDG_STATE_HOME": str(ROOT)}, str(ROOT)),
        ("darwin", {}, "~/Library/Application Support"),
        ("win32", {}, "~/AppData/Local"),
        ("win32", {"LOCALAPPDATA": str(ROOT)}, str(ROOT)),
    ],
)
def test_the_state_folder_is_that_of_the_system(
    monkeypatch: pytest.MonkeyPatch, system: str, variables: dict[str, str], expected: str
) -> None:
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(location.sys, "platform", system)
    assert location.state_folder() == Path(os.path.expanduser(expected)) / "fxcourse"


def test_nothing_lies_next_to_a_fetched_notebook(
    fetched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fetched)
    progress_file.record_verdict("retarget", "passed")
    progress_file.note_pick("mark", "a")
    assert [path.name for path in fetched.iterdir()] == [f"{CHAPTER}.ipynb"]
    assert oct(location.state_folder().stat().st_mode)[-3:] == "700" or os.name == "nt"
    monkeypatch.chdir(fetched.parent)
    assert progress_file.verdicts() == {"retarget": "passed"}


@pytest.mark.parametrize("workspace_first", [True, False])
@pytest.mark.parametrize("by_lab", [True, False])
def test_a_pass_counts_in_the_assignment_and_in_the_workspace(
    fetched: Path, monkeypatch: pytest.MonkeyPatch, workspace_first: bool, by_lab: bool
) -> None:
    mine = fetched.parent / "fxcourse"
    if workspace_first:
        make_workspace(mine)
    monkeypatch.chdir(fetched)
    progress_file.record_verdict("retarget", "passed")
    if not workspace_first:
        make_workspace(mine)
    if by_lab:  # a terminal in JupyterLab
        monkeypatch.setenv(location.ENV, str(mine))
    monkeypatch.chdir(mine)
    progress_file.record_verdict("add_to_mul", "passed")
    assert progress_file.in_workspace(mine).read() == {"add_to_mul": "passed"}
    assert progress_file.outside().read() == {"retarget": "passed"}
    for folder in (fetched, mine, fetched.parent):
        monkeypatch.chdir(folder)
        assert progress_file.verdicts() == {"retarget": "passed", "add_to_mul": "passed"}
    monkeypatch.chdir(fetched)
    progress_file.record_verdict("add_to_mul", "failed")
    assert progress_file.verdicts()["add_to_mul"] == "passed"


def test_each_class_has_its_own_record(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress_file.record_verdict("retarget", "passed")
    monkeypatch.setattr(progress_file, "this_class", lambda: ClassWheel("fx101"))
    assert progress_file.verdicts() == {}
    progress_file.record_verdict("retarget", "failed")
    data = json.loads(progress_file.outside().path.read_text(encoding="utf-8"))
    assert data == {"fxcourse": {"retarget": "passed"}, "fx101": {"retarget": "failed"}}


def test_a_class_is_read_from_its_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "class.json").write_text(class_wheel.text_of("fx101", ["b", "a"]), encoding="utf-8")
    monkeypatch.setattr(class_wheel, "FILE", tmp_path / "class.json")
    assert class_wheel.this_class.__wrapped__() == ClassWheel("fx101", ("a", "b"))
    (tmp_path / "class.json").write_text(class_wheel.text_of("", ["a"]), encoding="utf-8")
    assert class_wheel.this_class.__wrapped__() == ClassWheel("fxcourse", ("a",))


# ------------------------------------------------------------------ version 0.1


EARLIER = {
    "retarget": "passed",
    "add_to_mul": "failed",
    "predictions": {"one": "a", "two": "b"},
    "drills": ["d"],
    "failures": {"add_to_mul": ["x"]},
}


def test_an_earlier_record_next_to_the_notebook_is_taken_over(
    fetched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress_file.record_verdict("add_to_mul", "passed")
    progress_file.note_pick("one", "c")
    old = fetched / progress_file.OLD_NAME
    old.write_text(json.dumps(EARLIER), encoding="utf-8")
    monkeypatch.chdir(fetched)
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    progress_file.verdicts()
    assert old.exists()
    monkeypatch.delenv("NBGRADER_EXECUTION")
    assert progress_file.verdicts() == {"retarget": "passed", "add_to_mul": "passed"}
    assert not old.exists()
    monkeypatch.chdir(fetched.parent)
    assert progress_file.verdicts() == {"retarget": "passed", "add_to_mul": "passed"}
    assert progress_file.first_picks() == {"one": "c", "two": "b"}
    assert progress_file.passed_drills() == {"d"}
    assert progress_file.failures("add_to_mul") == ["x"]


@pytest.mark.parametrize("text", ["{", "[]", '"passed"', "\xff"])
def test_an_earlier_record_that_is_damaged_stays(
    fetched: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (fetched / progress_file.OLD_NAME).write_text(text, encoding="latin-1")
    monkeypatch.chdir(fetched)
    assert progress_file.verdicts() == {}
    progress_file.record_verdict("retarget", "passed")
    assert (fetched / progress_file.OLD_NAME).read_text(encoding="latin-1") == text


def test_a_students_earlier_record_in_a_classroom_is_left_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed_in = home / "fx101" / "submitted" / "alice" / CHAPTER
    handed_in.mkdir(parents=True)
    (home / "fx101" / "nbgrader_config.py").touch()
    old = handed_in / progress_file.OLD_NAME
    old.write_text(json.dumps(EARLIER), encoding="utf-8")
    monkeypatch.chdir(handed_in)
    progress_file.record_verdict("where_used", "passed")
    assert progress_file.verdicts() == {"where_used": "passed"}
    assert json.loads(old.read_text(encoding="utf-8")) == EARLIER


# ------------------------------------------------------------------ accidents


@pytest.mark.parametrize("text", ["{", "[]", "\xff", ""])
def test_a_damaged_record_is_kept_for_a_person(home: Path, text: str) -> None:
    path = progress_file.outside().path
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")
    assert progress_file.verdicts() == {}
    progress_file.record_verdict("retarget", "passed")
    assert progress_file.verdicts() == {"retarget": "passed"}
    (kept,) = path.parent.glob("*.unreadable")
    assert kept.read_text(encoding="latin-1") == text


def test_without_a_place_for_it_nothing_is_recorded_and_nothing_raised(
    fetched: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (fetched.parent / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(fetched.parent / "file"))
    old = fetched / progress_file.OLD_NAME
    old.write_text(json.dumps(EARLIER), encoding="utf-8")
    monkeypatch.chdir(fetched)
    progress_file.record_verdict("add_to_mul", "passed")
    assert progress_file.note_pick("three", "c") == "c"
    assert progress_file.verdicts() == {"retarget": "passed", "add_to_mul": "failed"}
    assert json.loads(old.read_text(encoding="utf-8")) == EARLIER
    assert capsys.readouterr() == ("", "")


def test_a_record_that_cannot_be_locked_is_written_all_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []
    errors = {"retarget": OSError("no locks"), "add_to_mul": BlockingIOError()}

    def fails(file: object) -> None:
        tries.append(file)
        raise errors[name]

    monkeypatch.setattr(progress_file, "lock", fails)
    monkeypatch.setattr(progress_file, "LOCK_SECONDS", 0.05)
    for name in errors:
        progress_file.record_verdict(name, "passed")
        assert progress_file.verdicts()[name] == "passed"
    assert len(tries) > 2


MANY = """
import sys
from autograder.workspace import progress_file
for number in range(30):
    progress_file.record_verdict(f"{sys.argv[1]}{number}", "passed")
"""


def test_kernels_that_record_at_the_same_time_lose_nothing(home: Path) -> None:
    variables = {**os.environ, location.ENV: ""}
    command = [sys.executable, "-c", MANY]
    running = [
        subprocess.Popen([*command, letter], env={**variables, "PYTHONPATH": str(ROOT)})
        for letter in "abc"
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(progress_file.verdicts()) == 90
