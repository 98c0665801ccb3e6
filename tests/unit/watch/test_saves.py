"""Saves are noticed with every kind of editor."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.watch.saves import Saves


def both(saves: Saves) -> list[tuple[str, str]]:
    """Look twice; return all changes found."""
    return [(path.name, kind) for _ in range(2) for path, kind in saves.look()]


def test_saves_in_place_by_renaming_and_deleting(tmp_path: Path) -> None:
    file, other = tmp_path / "one.py", tmp_path / "two.py"
    file.write_text("1")
    saves = Saves([file, other])
    assert both(saves) == []
    file.write_text("22")
    assert both(saves) == [("one.py", "saved")] and both(saves) == []
    new = tmp_path / "new"
    new.write_text("33")
    os.utime(new, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    os.replace(new, file)  # another file with the same time and length
    assert both(saves) == [("one.py", "saved")]
    file.unlink()
    other.write_text("2")
    assert both(saves) == [("one.py", "gone"), ("two.py", "saved")]
    file.write_text("1")
    assert both(saves) == [("one.py", "saved")]


def test_a_file_that_is_gone_for_a_moment_is_not_gone(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text("1")
    saves = Saves([file])
    file.unlink()
    assert saves.look() == []
    file.write_text("22")
    assert both(saves) == [("one.py", "saved")]


def test_a_file_is_told_of_when_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    saves = Saves([file])
    for text in ("1", "12", "123"):
        file.write_text(text)
        assert saves.look() == []
    assert saves.look() == [(file, "saved")]
