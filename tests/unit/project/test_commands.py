"""The command line: help pages, examples, versions, exit statuses, output in any encoding."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from autograder.builder.paths import ROOT
from autograder.classroom.records import versions
from autograder.cli import classroom, main
from autograder.environment.versions import version_line
from autograder.workspace import index, lab, update

MAIN, CLASSROOM = get_command(main.app), get_command(classroom.app)
ALL = {
    **{f"fxcourse {name}": command for name, command in MAIN.commands.items()},
    **{f"fxcourse classroom {name}": command for name, command in CLASSROOM.commands.items()},
}
"""Every command by its name on the command line."""

PASSED_ON = {"--no-browser", "--port"}
"""Options of JupyterLab that the help of `fxcourse lab` mentions."""

# ------------------------------------------------------------------ help pages


def panels(command: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, one in command.commands.items():
        found.setdefault(one.rich_help_panel, []).append(name)
    return found


def test_commands_are_sorted_by_reader() -> None:
    assert list(panels(MAIN)) == ["Learn", "Teach", "Test passes", "Maintain"]
    assert panels(MAIN)["Learn"][:6] == ["lab", "update", "progress", "reset", "watch", "doctor"]


def test_commands_of_a_class_are_in_the_order_of_a_term() -> None:
    assert list(panels(CLASSROOM)) == ["Begin", "Hand-ins", "After grading", "Changes"]
    assert list(CLASSROOM.commands)[0] == "create"


def test_the_panels_name_no_command_that_does_not_exist() -> None:
    for app, table in ((MAIN, main.PANELS), (CLASSROOM, classroom.PANELS)):
        assert {name for names in table.values() for name in names} == set(app.commands)


@pytest.mark.parametrize("words", ALL)
def test_every_command_has_an_example_that_parses(words: str) -> None:
    found = re.fullmatch(r"Example: (fxcourse .{1,71})", ALL[words].epilog)
    assert found, "an example fits into a line of a terminal"
    assert found[1].startswith(words)
    parse(shlex.split(found[1])[1:])


def parse(words: list[str]) -> None:
    """Parse a command line without running it."""
    name, *rest = words
    if name == "classroom":
        parse_with(CLASSROOM, rest)
    else:
        parse_with(MAIN, words)


def parse_with(group: Any, words: list[str]) -> None:
    name, *rest = words
    group.commands[name].make_context(name, rest)


@pytest.mark.parametrize("words", ALL)
def test_help_names_only_options_that_exist(words: str) -> None:
    command = ALL[words]
    own = {text for one in command.params for text in (*one.opts, *one.secondary_opts)}
    texts = [command.help or "", *(getattr(one, "help", "") or "" for one in command.params)]
    assert set(re.findall(r"--[a-z-]+", " ".join(texts))) <= own | PASSED_ON


@pytest.mark.parametrize("words", ALL)
def test_every_argument_has_a_name_in_capitals_and_every_parameter_a_sentence(words: str) -> None:
    for one in ALL[words].params:
        if one.param_type_name == "argument":
            assert one.metavar.isupper(), one.name
        assert re.fullmatch(r"[A-Z].*(\.|--kinds help)", one.help), one.help


def commands_named_in(text: str) -> Iterator[str]:
    for first, second in re.findall(r"\bfxcourse ([a-z][a-z-]+)(?: ([a-z][a-z-]+))?", text):
        yield (
            f"fxcourse classroom {second}"
            if first == "classroom" and second
            else f"fxcourse {first}"
        )


def test_messages_name_only_commands_that_exist() -> None:
    paths = [*sorted((ROOT / "autograder").rglob("*.py")), ROOT / "Makefile"]
    named = {
        (name, path.name)
        for path in paths
        for name in commands_named_in(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 20
    assert sorted((name, path) for name, path in named if name not in ALL) == []


def test_the_version_is_printed_by_an_option_and_by_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.cli.doctor.CHECKS", ())
    for words in (["--version"], ["doctor"]):
        done = CliRunner().invoke(main.app, words)
        assert done.exit_code == 0 and version_line() in done.output
    assert re.fullmatch(r"fxcourse \S+, Python 3\.\d+\.\d+\S*, torch \S+", version_line())


# ------------------------------------------------------------------ fxcourse lab


@pytest.mark.parametrize(
    ("words", "folder", "options"),
    [
        ([], "usual", []),
        (["mine"], "mine", []),
        (["--no-browser"], "usual", ["--no-browser"]),
        (["--port", "9000"], "usual", ["--port", "9000"]),
        (["mine", "--port", "9000", "--no-browser"], "mine", ["--port", "9000", "--no-browser"]),
    ],
)
def test_lab_takes_a_folder_and_options_of_jupyterlab(
    words: list[str],
    folder: str,
    options: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[Path, list[str]]] = []

    def command(place: Path, passed_on: list[str]) -> list[str]:
        asked.append((place, passed_on))
        return [sys.executable, "-c", ""]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("autograder.workspace.location.current", lambda: tmp_path / "usual")
    monkeypatch.setattr(update, "open_workspace", lambda place: [])
    monkeypatch.setattr(update, "is_behind", lambda place: False)
    monkeypatch.setattr(index, "refresh", lambda place: None)
    monkeypatch.setattr(lab, "environment", lambda place, variables: {})
    monkeypatch.setattr(lab, "command", command)
    done = CliRunner().invoke(main.app, ["lab", *words])
    assert done.exit_code == 0, done.output
    assert asked == [(tmp_path / folder, options)]


# ------------------------------------------------------------------ exit statuses


def run_main(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    """Run the command in this process; return its exit status."""
    monkeypatch.setattr(sys, "argv", ["fxcourse", *words])
    with pytest.raises(SystemExit) as end:
        main.main()
    return end.value.code


def test_the_help_lists_the_exit_statuses() -> None:
    assert set(main.STATUSES) == {0, 1, 2, 3, main.CRASHED, main.STOPPED}
    shown = " ".join(CliRunner().invoke(main.app, ["--help"]).output.split())
    for status, text in main.STATUSES.items():
        assert f"{status} {text}" in shown


def test_a_fault_of_the_program_has_a_status_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pin(room: Path) -> None:
        raise RuntimeError("a fault with [brackets]")

    (tmp_path / "nbgrader_config.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(versions, "pin", pin)
    assert run_main(monkeypatch, "classroom", "pin", str(tmp_path)) == main.CRASHED == 70
    said = capsys.readouterr().err
    first, rest = said.split("\n", 1)
    assert "It is a fault of the program" in first and "report it at" in first
    assert rest.startswith(version_line())
    assert "Traceback (most recent call last)" in rest
    assert rest.rstrip().endswith("RuntimeError: a fault with [brackets]")


def test_an_interrupt_outside_of_a_command_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    ended: list[int] = []
    monkeypatch.setattr(main, "app", interrupted)
    monkeypatch.setattr(os, "_exit", ended.append)
    main.main()
    assert ended == [main.STOPPED]


def test_bad_input_ends_with_1_and_a_bad_command_line_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_main(monkeypatch, "classroom", "pin", str(tmp_path)) == 1
    assert run_main(monkeypatch, "classroom", "pin") == 2
    assert run_main(monkeypatch, "build", "99_nothing") == 2


# ------------------------------------------------------------------ encodings

PROGRAM = """
import sys
from autograder.cli import doctor, main
doctor.CHECKS = (lambda: doctor.Diagnosis("Mark", "ok", "It is \\u2713."),)
for words in {commands}:
    sys.argv = ["fxcourse", *words]
    try:
        main.main()
    except SystemExit as end:
        print("status", end.code or 0)
"""

WITHOUT_TORCH = [["--help"], ["doctor"]]
WITH_TORCH = [["progress"], ["hunt", "passes.py:wrong", "-n", "8"]]

PASS = """
import torch

def wrong(gm):
    for node in gm.graph.nodes:
        if node.op == "output":
            node.args = (0,)
    gm.recompile()
"""


def run_with(variables: dict[str, str], classroom: list[list[str]], folder: Path) -> str:
    """Run commands in one process with some environment variables; return its output."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(commands=classroom)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    return done.stdout


def test_no_command_dies_of_an_encoding(tmp_path: Path) -> None:
    (tmp_path / "passes.py").write_text(PASS, encoding="utf-8")
    said = run_with({"PYTHONIOENCODING": "ascii"}, WITHOUT_TORCH + WITH_TORCH, tmp_path)
    assert re.findall(r"^status (\d+)$", said, re.M) == ["0", "0", "0", "1"], said
    assert said.isascii() and re.search(r"[\x00-\x09\x0b-\x1f\x7f]", said) is None
    assert "It is OK." in said and "X passes.py:wrong: wrong on" in said


def test_no_command_dies_of_a_missing_locale(tmp_path: Path) -> None:
    said = run_with({"PYTHONUTF8": "0", "LC_ALL": "C"}, WITHOUT_TORCH, tmp_path)
    assert re.findall(r"^status (\d+)$", said, re.M) == ["0", "0"], said
    assert said.isascii() and "It is OK." in said
