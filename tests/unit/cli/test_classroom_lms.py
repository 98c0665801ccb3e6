"""Instructor commands on a real classroom: collect, export, and file permissions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import ClassVar

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.auth import BaseAuthPlugin
from typer.testing import CliRunner, Result

from autograder.builder.paths import ROOT
from autograder.classroom.setup.pack import pack, students_wheel
from autograder.classroom.setup.wheel import TORCH_CPU, unpacked
from autograder.cli.classroom import app
from autograder.environment.errors import ClassroomError
from tests.support.numbers import numbers_room as numbers
from tests.support.submissions import room as rooms

CHAPTER = numbers.CHAPTER


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return numbers.room(tmp_path_factory.mktemp("desk"))


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def open_classroom(room: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{room}/gradebook.db")


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_nobody_else_can_read_a_classroom(room: Path) -> None:
    assert room.stat().st_mode & 0o077 == 0
    assert _open_to_others(room) == []


def _open_to_others(room: Path) -> list[Path]:
    """Paths in a classroom that other users could read, except released files."""
    found = [path for path in room.rglob("*") if path.stat().st_mode & 0o077]
    return [path for path in found if "release" not in path.relative_to(room).parts]


class Groups(BaseAuthPlugin):
    """A Hub's groups, as nbgrader's `JupyterHubAuthPlugin` fills them."""

    students: ClassVar[list[tuple[str, str]]] = []

    def add_student_to_course(self, student_id: str, course_id: str) -> None:
        self.students.append((student_id, course_id))


def test_students_join_the_group_of_a_hub(tmp_path: Path) -> None:
    room = numbers.room(tmp_path)
    with (room / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(f"c.Authenticator.plugin_class = '{__name__}.Groups'\n")
    (tmp_path / "roster.csv").write_text("id\nann\nbo\n", encoding="utf-8")
    assert "2 new" in run("roster", room, tmp_path / "roster.csv").output
    assert Groups.students == [("ann", room.name), ("bo", room.name)]


def test_roster_collect_and_export(room: Path, tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(
        "id,first_name,last_name,email\nae1,Anna,Example,anna@x.org\nbo2,Ben,O'Neill,ben@x.org\n"
    )
    assert "2 new, 0 changed" in run("roster", room, tmp_path / "roster.csv").output
    assert "0 new, 0 changed" in run("roster", room, tmp_path / "roster.csv").output
    work = nbformat.writes(rooms.released(room, CHAPTER)).encode()
    with zipfile.ZipFile(tmp_path / "moodle.zip", "w") as archive:
        for name, day in (("Anna Example_101", 2), ("Zoe New_103", 4)):
            entry = f"{name}_assignsubmission_file_/x (1).ipynb"
            archive.writestr(zipfile.ZipInfo(entry, (2026, 11, day, 10, 0, 0)), work)
    done = run("collect", room, tmp_path / "moodle.zip", "--timezone", "Europe/Berlin")
    assert done.exit_code == 0, done.output
    assert "1 of these were not in the gradebook: Zoe New" in done.output
    stamp = room / "submitted/ae1" / CHAPTER / "timestamp.txt"
    assert stamp.read_text() == "2026-11-02 09:00:00 UTC"
    assert (room / "submitted/ae1" / CHAPTER / f"{CHAPTER}.ipynb").read_bytes() == work
    assert os.name == "nt" or _open_to_others(room) == []
    with open_classroom(room) as book:
        new = book.find_student("Zoe New")
        assert (new.first_name, new.last_name) == ("Zoe", "New")
        for student, score in (("ae1", 4.5), ("Zoe New", 9.0)):
            grade = book.update_or_create_submission(CHAPTER, student).notebooks[0].grades[0]
            grade.auto_score = min(score, grade.max_score)
            for other in grade.notebook.grades:
                other.needs_manual_grade = False
        book.db.commit()
    sheet = (
        "Identifier,Full name,Grade,Maximum Grade,Last modified (grade)\r\n"
        "Participant 101,Anna Example,,9.00,-\r\nParticipant 102,Ben O'Neill,,9.00,-\r\n"
    )
    (tmp_path / "sheet.csv").write_bytes(sheet.encode())
    done = run("export", room, "--moodle", tmp_path / "sheet.csv", "--to", tmp_path / "out")
    assert done.exit_code == 0 and "Graded, but in no row: Zoe New" in done.output, done.output
    filled = (tmp_path / "out" / "sheet.csv").read_bytes().decode()
    assert filled == sheet.replace("Example,,", "Example,4.5,")
    assert (tmp_path / "sheet.csv").read_bytes() == sheet.encode()


def test_commands_say_in_a_sentence_what_is_wrong(room: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    for words, said in (
        (("collect", tmp_path, tmp_path), "is not a classroom"),
        (("collect", room, tmp_path / "none.zip"), "cannot be read: No such file"),
        (("collect", room, tmp_path, "--timezone", "Mars/Base"), "no time zone 'Mars/Base'"),
        (("collect", room, tmp_path, "--worksheet", tmp_path / "x.csv"), "grading worksheet"),
        (("export", room), "--moodle WORKSHEET or --canvas"),
        (("export", room, "--moodle", tmp_path / "x.csv"), "not Moodle's grading worksheet"),
        (("export", room, "--canvas", tmp_path / "x.csv"), "No column of Canvas's gradebook"),
        (("roster", room, tmp_path / "x.csv"), "no column that identifies students"),
    ):
        done = run(*words)
        assert done.exit_code == 1 and said in done.output, (words, done.output)
        assert "Traceback" not in done.output


# ------------------------------------------------------------------ files for students


def test_the_students_wheel_holds_no_answers(room: Path) -> None:
    name, data = students_wheel({"a.ipynb": b"{}"})
    files = unpacked(data)
    assert name.endswith("-py3-none-any.whl")
    for word in ("hidden", "redraws", "trap.md", "/classroom/", "solutions"):
        assert not [path for path in files if word in path], word
    for path, text in files.items():
        if path.endswith(".jsonl"):
            assert b'"case":"redraw' not in text.replace(b" ", b""), path
        if "/lessons/" in path and path.endswith(".json"):
            assert json.loads(text)["debriefs"] == {}
    assert any(path.endswith(".data/data/share/fxcourse/course/a.ipynb") for path in files)
    assert students_wheel({"a.ipynb": b"{}"}) == (name, data)
    _, data = students_wheel({"a.ipynb": b"{}"}, course_id="fx101")
    about = json.loads(unpacked(data)["autograder/workspace/class.json"])
    assert about == {"id": "fx101", "chapters": ["a"]}


def test_what_is_not_for_students_is_not_packed(room: Path, tmp_path: Path) -> None:
    path = room / "release" / CHAPTER / f"{CHAPTER}.ipynb"
    before = path.read_text()
    config = (room / "nbgrader_config.py").read_text()
    secret = config.rsplit("'", 2)[-2]
    assert len(secret) == 32
    try:
        path.write_text(before.replace("# Numbers", secret))
        with pytest.raises(ClassroomError, match="holds the secret of the class"):
            pack(room, tmp_path / "x.zip")
        path.write_text(before.replace("# Numbers", "### BEGIN HIDDEN TESTS"))
        with pytest.raises(ClassroomError, match="holds solutions or hidden tests"):
            pack(room, tmp_path / "x.zip")
    finally:
        path.write_text(before)
    with pytest.raises(ClassroomError, match="is called 77"):
        pack(room, tmp_path / "x.zip", [CHAPTER[:2], "77"])
    assert not (tmp_path / "x.zip").exists()
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ClassroomError, match="Nothing was released"):
        pack(empty, tmp_path / "x.zip")


TRY = """
import sys
from pathlib import Path
import autograder
from autograder import grade
from autograder.exercises import of_chapter
from autograder.cli import doctor
from autograder.cli.main import app, name_of
from autograder.workspace import update
from autograder.workspace.class_wheel import this_class
from torch import fx

assert not autograder.__file__.startswith(sys.argv[1]), autograder.__file__
assert not [case.name for ex in of_chapter("00_start") for case in ex.cases if case.hidden]

def node_names(model):
    return [node.name for node in fx.symbolic_trace(model).graph.nodes]

def wrong(model):
    return [str(node.target) for node in fx.symbolic_trace(model).graph.nodes]

print(grade("node_names", node_names).status, grade("node_names", wrong).status)
print(doctor.packages().state, doctor.write_access(Path(sys.argv[2])).state)
print([row.name for row in update.open_workspace(Path(sys.argv[2]))])
print(this_class())
print(*(name_of(each) for each in app.registered_commands if not each.hidden))
"""


def test_what_was_packed_installs_and_works(room: Path, tmp_path: Path) -> None:
    done = run("pack", room, "--to", tmp_path / "p.zip")
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(tmp_path / "p.zip") as archive:
        archive.extractall(tmp_path)
    home = tmp_path / room.name
    assert {p.name for p in home.iterdir()} >= {"README.md", "requirements.txt", "Dockerfile"}
    readme = (home / "README.md").read_text()
    assert (
        readme.count("\n") <= 24
        and "**On a JupyterHub**" in readme
        and f"`fxcourse/{CHAPTER}.ipynb`" in readme
    )
    assert "not in the copies" in readme and "ask your instructor" in readme
    assert TORCH_CPU in (ROOT / "Makefile").read_text() and TORCH_CPU in readme
    released = (room / "release" / CHAPTER / f"{CHAPTER}.ipynb").read_bytes()
    assert (home / "notebooks" / f"{CHAPTER}.ipynb").read_bytes() == released
    pins = (home / "requirements.txt").read_text().split("\n")
    lock = (ROOT / "constraints.txt").read_text(encoding="utf-8").split("\n")
    ours = [line for line in pins if line.startswith(("torch==", "nbformat=="))]
    assert len(ours) == 2 and set(ours) <= set(lock)
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    (wheel,) = home.glob("*.whl")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps"]
    subprocess.run([*command, str(wheel)], check=True)
    packages = min((tmp_path / "env").glob("[Ll]ib*/**/site-packages"))
    others = Path(next(path for path in sys.path if path.endswith("site-packages")))
    (packages / "others.pth").write_text(f"{others}\n", encoding="utf-8")
    words = [python, "-I", "-c", TRY, str(ROOT), str(tmp_path / "own")]
    said = subprocess.run(words, cwd=tmp_path, text=True, capture_output=True)
    commands = "lab update progress reset watch doctor"
    known = f"ClassWheel(id='{room.name}', chapters=('{CHAPTER}',))"
    expected = ["passed failed", "ok ok", f"['{CHAPTER}']", known, commands]
    assert said.stdout.splitlines() == expected, said.stderr[-2000:]
    assert python.with_name("fxcourse").exists() or os.name == "nt"
    for words, why in (
        ("grade . --force", "it was made for the students of a class"),
        ("hunt --help", "it was made for the students of a class"),
        ("build", "only a clone of the project has it"),
    ):
        called = [python, "-I", "-m", "autograder.cli", *words.split()]
        tried = subprocess.run(called, cwd=tmp_path, text=True, capture_output=True)
        sentence = f"This installation has no 'fxcourse {words.split()[0]}': {why}.\n"
        assert (tried.returncode, tried.stdout, tried.stderr) == (2, "", sentence)
