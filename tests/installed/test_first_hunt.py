"""The tutorial `docs/engineers/first-hunt.md`, line by line: its files, commands and results."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from autograder.builder.paths import ROOT

PAGE = ROOT / "docs" / "engineers" / "first-hunt.md"
SAVED = "tests/test_hunted_41d35766260b.py"
PROGRAMS = {
    "fxcourse": [sys.executable, "-m", "autograder.cli"],
    "python": [sys.executable],
}


def blocks() -> Iterator[tuple[str, str]]:
    """The fenced blocks of the page: the language, ``""`` for commands, and the text."""
    yield from re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def lines_of(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_the_tutorial_works(tmp_path: Path) -> None:
    output, versions = "", []
    for language, text in blocks():
        if language == "python":
            versions.append(text)
            (tmp_path / "my_passes.py").write_text(text, encoding="utf-8")
        elif language == "text":
            assert lines_of(output) == lines_of(text)
        elif language == "":
            program, *words = shlex.split(text)
            done = subprocess.run(
                [*PROGRAMS[program], *words], cwd=tmp_path, capture_output=True, text=True
            )
            output = done.stdout
            assert "Traceback" not in done.stderr, done.stderr
    assert output == ""  # the saved test, with the current pass
    wrong, right = versions
    (tmp_path / "my_passes.py").write_text(wrong, encoding="utf-8")
    done = subprocess.run([sys.executable, SAVED], cwd=tmp_path, capture_output=True, text=True)
    assert "AssertionError: the result of call 1" in done.stderr
    (tmp_path / "my_passes.py").write_text(right, encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True).returncode == 0
