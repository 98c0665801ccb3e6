"""The command that opens a file in an editor: its form, its start, and its failures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from autograder.watch.editor import VS_CODE, BadEditCommand, Editor, _parts, editor_for

WRITE = "import json, sys; open(sys.argv[1], 'w').write(json.dumps(sys.argv[2:]))"


@pytest.mark.parametrize(
    ("command", "windows", "parts"),
    [
        (VS_CODE, False, ["code", "-g", "{file}:{line}"]),
        ("'my editor' \\{ {file}", False, ["my editor", "{", "{file}"]),
        (
            '"C:\\Program Files\\Ed\\ed.exe" {file}',
            True,
            ["C:\\Program Files\\Ed\\ed.exe", "{file}"],
        ),
        ("C:\\ed.exe {file}", True, ["C:\\ed.exe", "{file}"]),
        ("", False, []),
    ],
)
def test_a_command_is_split_without_a_shell(command: str, windows: bool, parts: list[str]) -> None:
    assert _parts(command, windows=windows) == parts


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("code 'x {file}", "has an error: No closing quotation"),
        ("code -g", "has no {file} after the program"),
        ("{file} x", "has no {file} after the program"),
    ],
)
def test_a_command_of_another_form_is_refused(command: str, message: str) -> None:
    with pytest.raises(BadEditCommand, match=message):
        editor_for(command, {})


def test_vs_code_is_found_in_its_own_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    vs_code = {"TERM_PROGRAM": "vscode"}
    assert editor_for(None, vs_code) is None
    program = tmp_path / ("code.cmd" if sys.platform == "win32" else "code")
    program.touch(0o755)
    found = editor_for(None, vs_code)
    assert found is not None and found.command == ["code", "-g", "{file}:{line}"]
    assert editor_for(None, {"TERM_PROGRAM": "tmux"}) is None
    assert editor_for("", vs_code) is None, "who wants no editor gets none"
    other = editor_for("vi {file}", vs_code)
    assert other is not None and other.command == ["vi", "{file}"]


def test_a_file_with_any_name_is_opened_at_its_line(tmp_path: Path) -> None:
    file, got = tmp_path / "a {line} $HOME; x.py", tmp_path / "got.json"
    editor = Editor([sys.executable, "-c", WRITE, str(got), "{file}:{line}", "+{line}", "*"])
    assert editor.open(file, 7) == ""
    assert editor._running[0].wait(60) == 0
    assert json.loads(got.read_text()) == [f"{file}:7", "+7", "*"]
    assert editor.failures() == [] and editor._running == []


def test_a_failure_is_one_sentence(tmp_path: Path) -> None:
    missing = Editor(["no-such-editor", "{file}"]).open(tmp_path, 1)
    assert missing == (
        "The editor was not opened, because `no-such-editor` was not found. Use another command "
        "with --edit-cmd."
    )
    editor = Editor([sys.executable, "-c", "raise SystemExit(3)", "{file}"])
    assert editor.open(tmp_path, 1) == ""
    editor._running[0].wait(60)
    (failure,) = editor.failures()
    assert "ended with exit status 3" in failure and "--edit-cmd" in failure
    assert editor.failures() == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows decides by the name of a file")
def test_a_program_that_is_none(tmp_path: Path) -> None:
    program = tmp_path / "editor"
    program.write_bytes(b"\x00\x01")
    program.chmod(0o755)
    assert "was not opened: `" in Editor([str(program), "{file}"]).open(tmp_path, 1)
