"""A classroom for tests, and graders that run nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support import stub_class


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classroom in which three students submitted the first chapter, all correct."""
    room = stub_class.make(tmp_path_factory.mktemp("made") / "class")
    for student in ("ann", "bo", "cy"):
        stub_class.hand_in(room, student, after=6.0, half=4.0)
    return room


@pytest.fixture
def room(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the module's classroom, with graders that run nothing."""
    stub_class.use_stubs(monkeypatch)
    return Path(shutil.copytree(made, tmp_path / "class"))
