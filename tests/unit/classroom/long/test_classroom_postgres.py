"""A gradebook in PostgreSQL keeps the same data as a file, and its password stays secret."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.builder.paths import ROOT
from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.classroom.room import gradebook_url
from autograder.classroom.setup.create import create
from autograder.cli.main import app
from autograder.environment.errors import ClassroomError
from tests.support import postgres_server
from tests.support.graded_class import WORTH, grade, grade_alike, hand_all_in, kept, results
from tests.support.numbers import numbers_room, numbers_syllabus
from tests.support.submissions import room as rooms
from tests.unit.classroom.room.test_gradebook_url import NOWHERE, SECRET

pytestmark = [
    pytest.mark.xdist_group("postgres"),  # one server for all
    pytest.mark.filterwarnings("ignore:Object of type.*:sqlalchemy.exc.SAWarning"),  # from nbgrader
]


@pytest.fixture(scope="module")
def server() -> Iterator[postgres_server.Server]:
    pytest.importorskip("psycopg", reason='needs the extra "postgres"', exc_type=ImportError)
    if why_not := postgres_server.why_not():
        pytest.skip(why_not)
    with postgres_server.running() as found:
        found.make_careful_role()
        yield found


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classroom with submissions, and with a gradebook in a file."""
    room = numbers_room.room(tmp_path_factory.mktemp("made"))
    hand_all_in(room)
    return room


def in_postgres(folder: Path, source: Path, address: str) -> Path:
    """The same classroom with a gradebook on a server: same notebooks, same seeds."""
    room = folder / "class"
    create(room, {numbers_room.CHAPTER: numbers_room.chapter(folder)}, db_url=address)
    config = room / "nbgrader_config.py"
    secret = (source / config.name).read_text().splitlines()[-1]
    assert secret.startswith("c.ExecuteChecks.secret = ")
    config.write_text(config.read_text() + secret + "\n")
    shutil.copytree(source / "submitted", room / "submitted")
    return room


def test_points_are_those_of_a_gradebook_in_a_file(
    server: postgres_server.Server,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for nbgrader's commands
    address = server.make("the class")
    room = in_postgres(tmp_path, source, address)
    named = gradebook_url.with_driver(address)
    in_file = grade_alike(source, tmp_path)

    # The run stops after three students and resumes.
    with pytest.raises(InterruptedError):
        grade(room, say=_stop_after(3))
    assert sum(WORTH[name] == _sum(cells) for name, cells in kept(named).items()) >= 3
    rest = grade(room)
    assert sum(row.in_this_run for row in rest.results) == len(WORTH) - 3
    assert {row.student: row.points for row in rest.results} == WORTH
    assert results(rest) == results(in_file)
    assert kept(named) == kept(f"sqlite:///{tmp_path / 'copy' / 'gradebook.db'}")

    assert not any(row.in_this_run for row in grade(room).results)
    assert not (room / "gradebook.db").exists()

    # nbgrader's own commands find the gradebook through the classroom's configuration.
    exported = rooms.nbgrader(room, "export")
    assert exported.returncode == 0, exported.stdout
    lines = (room / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(WORTH)
    syllabus = f"--ExecuteChecks.syllabus={numbers_syllabus.__name__}"
    one = ["07_numbers", "--student", "ann", "--force"]
    for command in (["autograde", *one, syllabus], ["generate_feedback", *one], ["db", "upgrade"]):
        done = rooms.nbgrader(room, *command)
        assert done.returncode == 0, done.stdout
    assert kept(named) == kept(f"sqlite:///{tmp_path / 'copy' / 'gradebook.db'}")

    with pytest.raises(ClassroomError, match="another class"):
        create(tmp_path / "other", {"07_numbers": numbers_room.chapter(tmp_path)}, db_url=address)


def _sum(cells: dict[str, tuple]) -> float:
    return sum(points or 0 for points, *_ in cells.values())


def _stop_after(count: int):
    def say(row: object, done: int, of: int) -> None:
        if done == count:
            raise InterruptedError

    return say


def test_gradebook_of_a_single_run_wins(
    server: postgres_server.Server, source: Path, tmp_path: Path
) -> None:
    """The chapters reach a new gradebook through nbgrader's own command."""
    room = Path(shutil.copytree(source, tmp_path / "class"))
    address = server.make("elsewhere")
    with pytest.raises(ClassroomError, match="has no chapters.*generate_assignment"):
        grade(room, db_url=address)
    with (room / "nbgrader_config.py").open("a") as config:
        config.write(f"c.CourseDirectory.db_url = {address!r}\n")
    made = rooms.nbgrader(room, "generate_assignment", "07_numbers", "--force")
    assert made.returncode == 0, made.stdout
    long = "x" * 140  # longer than nbgrader's column allows
    for name in (long, os.fsdecode(b"no \xfftext")):
        shutil.copytree(room / "submitted" / "ann", room / "submitted" / name)
    summary = grade(room, db_url=address)
    found = {row.student: (row.status, row.points) for row in summary.results}
    assert found.pop(long) == found.pop("no ?text") == ("refused", 0)
    assert {student: score for student, (_, score) in found.items()} == WORTH
    assert set(kept(gradebook_url.with_driver(address))) == set(WORTH)


def test_password_is_used_and_not_shown(
    server: postgres_server.Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.make("guarded")
    right = server.address("guarded").replace("me@", f"careful:{SECRET}@")
    chapter = {"07_numbers": numbers_room.chapter(tmp_path)}
    create(tmp_path / "class", chapter, db_url=right)
    config = tmp_path / "class" / "nbgrader_config.py"
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert SECRET not in (tmp_path / "class" / "README.md").read_text()

    wrong = right.replace(SECRET, f"{SECRET}2")
    command = ["grade", str(tmp_path / "class"), "--db", wrong]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 1
    assert "password authentication failed" in run.output and "careful:***@" in run.output
    for word in (SECRET, postgres_server.PASSWORD):
        assert word not in run.output and word not in caplog.text


@pytest.mark.parametrize(
    ("address", "says"),
    [
        (NOWHERE, "me:\\*\\*\\*@127.0.0.1:9/none does not answer"),
        (NOWHERE.replace("postgresql", "postgres"), "does not answer"),
        (f"oraqle://me:{SECRET}@host/none", "No kind of database is called 'oraqle'"),
        (f"postgresql//me:{SECRET}@host/none", "cannot be read"),
    ],
)
def test_gradebook_that_cannot_be_used_is_said_clearly(
    source: Path, tmp_path: Path, address: str, says: str
) -> None:
    pytest.importorskip("psycopg")
    room = Path(shutil.copytree(source, tmp_path / "class"))
    with pytest.raises(ClassroomError, match=says) as stopped:
        grade_class(room, GradingOptions(db_url=address))
    assert SECRET not in str(stopped.value)
    chapter = {"07_numbers": numbers_room.chapter(tmp_path)}
    with pytest.raises(ClassroomError, match=says) as stopped:
        create(tmp_path / "new", chapter, db_url=address)
    assert SECRET not in str(stopped.value) and not (tmp_path / "new").exists()


def test_role_that_may_not_make_tables_is_told_so(
    server: postgres_server.Server, source: Path, tmp_path: Path
) -> None:
    server.make("not ours")
    server.make_role_without_rights()
    address = server.address("not%20ours", who="stranger")
    with pytest.raises(ClassroomError, match="cannot be used: permission denied"):
        grade_class(
            Path(shutil.copytree(source, tmp_path / "class")), GradingOptions(db_url=address)
        )
    with pytest.raises(ClassroomError, match="cannot be used: permission denied"):
        create(tmp_path / "new", {"07_numbers": numbers_room.chapter(tmp_path)}, db_url=address)


def test_server_that_is_lost_is_said_and_nothing_else_is(source: Path, tmp_path: Path) -> None:
    """The test starts its own server, because it stops it while a class is graded."""
    pytest.importorskip("psycopg")
    if why_not := postgres_server.why_not():
        pytest.skip(why_not)
    with postgres_server.running() as server:
        room = in_postgres(tmp_path, source, server.make("lost"))

        def say(row: object, done: int, count: int) -> None:
            if done == 2:
                server.stop()

        with pytest.raises(ClassroomError, match="does not answer any more") as stopped:
            grade(room, say=say)
        assert "What is graded is kept" in str(stopped.value)
