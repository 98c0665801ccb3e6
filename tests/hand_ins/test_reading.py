"""Safe reading of files that others can write, with a limit, even if a file is replaced."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.classroom.intake import attached_files, preflight, regular_files, untrusted_files
from autograder.classroom.intake.attached_files import files_beside
from autograder.classroom.intake.discover import NotebookPlace
from autograder.classroom.intake.regular_files import read_regular
from autograder.classroom.intake.untrusted_files import LeftOut, Taken, Taker

SECRET = b"not theirs"


def to_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parents[-2] / "etc" / "hostname")


def to_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def to_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def to_linked_folder(path: Path) -> None:
    """Replace the file's folder by a link to one with a file of the same name."""
    path.parent.rename(path.parent.with_name("away"))
    elsewhere = path.parents[3] / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / path.name).write_bytes(SECRET)
    path.parent.symlink_to(elsewhere)


EXCHANGES = [to_link, to_pipe, to_folder, to_linked_folder]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A student's submission: a file in a folder."""
    path = tmp_path / "room" / "submitted" / "eve" / "01_one" / "sub" / "a.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"theirs")
    return path.parents[1]


def exchanging(
    module: object, exchange: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replace a file between the check and the read."""

    def read(home: Path, parts: tuple[str, ...], most: int) -> bytes:
        exchange(home.joinpath(*parts))
        return read_regular(home, parts, most)

    monkeypatch.setattr(module, "read_regular", read)


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_files_beside_a_notebook(
    exchange: Callable[[Path], None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchanging(attached_files, exchange, monkeypatch)
    files, notes = files_beside(folder)
    assert files == {} and "'sub/a.txt' was left out" in notes[0]


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_a_notebook(
    exchange: Callable[[Path], None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchanging(preflight, exchange, monkeypatch)
    place = NotebookPlace(folder / "sub" / "a.txt")
    room = folder.parents[2]
    found = preflight.read_submission(room, "eve", "01_one", place, {})
    assert found.text is None and "could not be read" in found.notes[0]


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_a_folder_of_hand_ins(
    exchange: Callable[[Path], None], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchanging(untrusted_files, exchange, monkeypatch)
    store = tmp_path / "store"
    store.mkdir()
    (found,) = Taker(store).take(folder)
    assert isinstance(found, LeftOut) and found.path == "sub/a.txt"


def test_at_most_so_many_bytes_are_read(folder: Path) -> None:
    assert read_regular(folder, ("sub", "a.txt"), 3) == b"the"
    assert regular_files.read_regular(folder, ("sub", "a.txt"), 99) == b"theirs"
    with pytest.raises(FileNotFoundError):
        read_regular(folder, ("sub", "b.txt"), 3)


def test_entries_that_are_not_taken_cost_one_students_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(untrusted_files, "MAX_NESTED_FILES", 10)
    links = io.BytesIO()
    with zipfile.ZipFile(links, "w") as archive:
        for number in range(5_000):
            entry = zipfile.ZipInfo(f"{number}")
            entry.external_attr = 0o120777 << 16
            archive.writestr(entry, "/etc/passwd")
    outer = tmp_path / "class.zip"
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("eve/links.zip", links.getvalue())
        archive.writestr("zoe/x.ipynb", b"{}")
    store = tmp_path / "store"
    store.mkdir()
    found = list(Taker(store).take(outer))
    assert len(found) == 12 and isinstance(found[-1], Taken)
    assert isinstance(found[-2], LeftOut) and "more than one student's work" in found[-2].why
