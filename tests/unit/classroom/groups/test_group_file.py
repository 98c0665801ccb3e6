"""The file with comments can be edited, and is never lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.classroom.groups.group_file import FileRow, read_groups, write_groups
from autograder.environment.errors import ClassroomError

ROWS = [
    FileRow("a1", "after", 'It says "no" \\ and …', ("ann", "o'brien", 'q"uote', "名"), ""),
    FileRow("b2", "half", "`x` is <b>wrong</b>.", (), "Two lines,\n\\alpha and 'quotes'.\n\nEnd'"),
    FileRow("c3", "half", "third", ("bo",), "with ''' three quotes, \x7f and \x1b[1mcolor"),
]


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "03.toml"
    write_groups(path, "03", ROWS)
    assert read_groups(path) == ROWS
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_groups(tmp_path / "04.toml") == []


def test_an_edited_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "03.toml"
    write_groups(path, "03", ROWS)
    text = path.read_text(encoding="utf-8")
    text = text.replace("comment = '''\n'''", "comment = '''\n  Look at `x`.\n\nTwice.\n'''", 1)
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert read_groups(path)[0].comment == "Look at `x`.\n\nTwice."


@pytest.mark.parametrize(
    ("pattern", "to", "why"),
    [
        (r"comment = '''", "comment = '", "cannot be read"),
        (r"id = \"b2\"", 'id = "a1"', "two groups with the id a1"),
        (r"students = \[\]", "students = 3", "a group needs"),
        (r"says = .*", "says = 3", "a group needs"),
        (r"(?s).*", "group = 3", "a group needs"),
        (r"(?s).*", "group = [3]", "a group needs"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, pattern: str, to: str, why: str) -> None:
    path = tmp_path / "03.toml"
    write_groups(path, "03", ROWS)
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(pattern, to, text, count=1), encoding="utf-8")
    with pytest.raises(ClassroomError, match=why) as error:
        read_groups(path)
    assert str(path) in str(error.value)
