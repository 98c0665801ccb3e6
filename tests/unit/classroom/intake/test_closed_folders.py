"""Other users lose access to the folders of submissions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.classroom.intake.closed_folders import close_folders

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_folders_are_closed_and_no_link_is_followed(tmp_path: Path) -> None:
    submitted, other = tmp_path / "submitted", tmp_path / "other"
    chapter = submitted / "ann" / "03_manipulation"
    chapter.mkdir(parents=True)
    other.mkdir()
    for folder in (chapter, other):
        folder.chmod(0o777)  # as `nbgrader collect` leaves it
    (submitted / "ann").chmod(0o755)
    (submitted / "bo").symlink_to(other)
    (submitted / "file").write_text("", encoding="utf-8")
    (submitted / "file").chmod(0o644)
    close_folders(submitted)
    assert mode(chapter) == mode(submitted / "ann") == 0o700
    assert mode(other) == 0o777 and mode(submitted / "file") == 0o644
    close_folders(tmp_path / "not there")
