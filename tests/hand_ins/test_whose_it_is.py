"""Identifying the owner of a submission: one student's file names change nobody else's work."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from random import Random

import pytest

from autograder.classroom.lms import submitted_folder
from autograder.classroom.lms.collect import collect
from autograder.classroom.lms.path_layouts import Layout, Origin, Undecided, origins
from autograder.classroom.lms.people import People
from autograder.classroom.records.roster import Person
from autograder.environment.errors import ClassroomError
from tests.support import drawn_hand_ins as hand_ins

CLASS = [Person(name) for name in (*hand_ins.STUDENTS, hand_ins.EVE)]


def others(home: Path, packed: bytes) -> dict[str, bytes]:
    """The files in ``submitted`` after a zip was collected, except Eve's."""
    room = hand_ins.classroom(home)
    source = home / "class.zip"
    source.write_bytes(packed)
    collect(room, source, People(CLASS))
    assert not list((room / ".fxcourse").glob("collecting-*"))
    paths = [path for path in (room / "submitted").rglob("*") if path.is_file()]
    names = {path.relative_to(room / "submitted").as_posix(): path for path in paths}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith("eve")}


def assert_nobody_else_is_changed(seed: int, home: Path) -> None:
    """Check this for one student's random tree of names, in one of four layouts."""
    one = hand_ins.drawn(Random(seed))
    for part in ("with", "without"):
        (home / part).mkdir()
    expected = others(home / "without", hand_ins.class_zip(one, with_eve=False))
    assert len(expected) == 2 * len(hand_ins.STUDENTS) - (one.layout == "canvas") * 3
    assert others(home / "with", hand_ins.class_zip(one, with_eve=True)) == expected


@pytest.mark.parametrize("seed", range(10))
def test_one_students_names_change_nobody_elses_work(seed: int, tmp_path: Path) -> None:
    assert_nobody_else_is_changed(seed, tmp_path)


def owners(*paths: str, layout: Layout | None = None) -> list[str]:
    """The owners of files, or the reasons why they are unknown."""
    files = [(tuple(path.split("/")),) * 2 for path in paths]
    found = origins(files, {hand_ins.CHAPTER}, "class", layout)
    return [one.name if isinstance(one, Origin) else one for one in found]


UNSAID = "Its path does not say whose it is."


@pytest.mark.parametrize(
    ("paths", "odd"),
    [
        (("anna/x", "ben/x", "ben_1_assignsubmission_file_/x.ipynb"), "ben_1_assign"),
        (("a_1_assignsubmission_file_/x", "b_2_assignsubmission_file_/x", "ben/x"), "'ben'"),
        (("a_1_2_x.ipynb", "b_2_3_x.ipynb", "ben/x.ipynb"), "'ben'"),
        (("only/anna/x.ipynb", "only/ben/x.ipynb"), "'only'"),
        (("a/b/anna/x.ipynb", "a/b/ben/x.ipynb"), "'a'"),
    ],
)
def test_names_that_disagree_are_asked_about(paths: tuple[str, ...], odd: str) -> None:
    with pytest.raises(Undecided, match=odd) as refused:
        owners(*paths)
    assert "--layout" in str(refused.value)
    assert owners(*paths, layout=Layout.FOLDERS)


def test_a_layout_that_is_said_holds() -> None:
    paths = ("a_1_2_x.ipynb", "b_2_3_x.ipynb", "ben/x.ipynb")
    assert owners(*paths, layout=Layout.CANVAS) == ["a", "b", UNSAID]
    assert owners(*paths, layout=Layout.FOLDERS) == [UNSAID, UNSAID, "ben"]
    assert owners("only/a/x", "only/b/x", layout=Layout.FOLDERS) == ["only", "only"]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (("anna/x.ipynb", "README.txt"), ["anna", UNSAID]),
        (("a_1_assignsubmission_file_/x", "README.txt"), ["a", UNSAID]),
        (("README.txt",), [UNSAID]),
        (("anna/one/x.ipynb", "anna/two/y.ipynb", "anna/z.ipynb"), ["anna"] * 3),
        (("01_one/anna/x.ipynb",), ["anna"]),
        (("class/submitted/anna/01_one/x.ipynb",), ["anna"]),
        (("Eve_1_assignsubmission_file_A_2_assignsubmission_file_x", "b_3_assignsubmission_file_"),
         ["Its name says more than once whose it is.", "b"]),
    ],
)  # fmt: skip
def test_what_else_lies_at_the_top(paths: tuple[str, ...], names: list[str]) -> None:
    assert owners(*paths) == names


@pytest.mark.parametrize("second", ["EXÄMPLE-anna", "exämple anna.zip", "Exa\u0308mple.Anna"])
def test_two_names_that_mean_one_student_are_both_left_out(second: str, tmp_path: Path) -> None:
    room, source = hand_ins.classroom(tmp_path), tmp_path / "in"
    for name in ("anna", "ben"):
        (source / name).mkdir(parents=True)
        (source / name / "x.ipynb").write_bytes(hand_ins.notebook(name))
    if second.endswith(".zip"):
        (source / second).write_bytes(hand_ins.packed({"x.ipynb": b"{}"}, hand_ins.EVE))
    else:
        (source / second).mkdir()
        (source / second / "x.ipynb").write_bytes(hand_ins.notebook("of Eve"))
    done = collect(room, source, People([Person("anna", "Anna", "Exämple"), Person("ben")]))
    assert [one.student for one in done.placed] == ["ben"]
    assert {one.path.split("/")[0] for one in done.left_out} == {
        "anna",
        second.removesuffix(".zip"),
    }
    assert "2 names at the top mean anna" in done.unusable["anna"]


def test_an_error_with_ones_files_leaves_out_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = submitted_folder._fill

    def fill(building: Path, hand_in: submitted_folder.HandIn, final: Path) -> None:
        if hand_in.student == "ben":
            raise OSError(code, os.strerror(code))
        right(building, hand_in, final)

    monkeypatch.setattr(submitted_folder, "_fill", fill)
    room, source = hand_ins.classroom(tmp_path), tmp_path / "class.zip"
    entries = {f"{name}/x.ipynb": hand_ins.notebook() for name in hand_ins.STUDENTS}
    source.write_bytes(hand_ins.packed(entries))
    code = errno.ENAMETOOLONG
    done = collect(room, source, People())
    assert [one.student for one in done.placed] == ["anna", "victim"]
    assert [one.why for one in done.left_out] == ["It could not be written: File name too long."]
    code = errno.ENOSPC
    with pytest.raises(OSError, match="No space left"):
        collect(room, source, People())
    assert not list((room / ".fxcourse").glob("collecting-*"))


def test_nothing_is_collected_while_nobody_knows_who_packed_it(tmp_path: Path) -> None:
    room, source = hand_ins.classroom(tmp_path), tmp_path / "in"
    for name in ("anna", "x_1_assignsubmission_file_"):
        (source / name).mkdir(parents=True)
        (source / name / "x.ipynb").write_bytes(hand_ins.notebook())
    with pytest.raises(ClassroomError, match="Say which it is: --layout"):
        collect(room, source, People())
    assert not (room / "submitted").exists() and not list((room / ".fxcourse").iterdir())
    assert len(collect(room, source, People(), layout=Layout.FOLDERS).placed) == 2
