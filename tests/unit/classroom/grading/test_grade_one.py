"""One notebook is graded by a bundle as in its class, or this machine says that it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell
from typer.testing import CliRunner, Result

from autograder.classroom.grading import grade_one
from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.classroom.room.open_classroom import open_classroom
from autograder.classroom.setup import create as making
from autograder.classroom.setup.bundle import make_bundle, packed
from autograder.cli.grade_one import CANNOT_GRADE
from autograder.cli.main import UNUSABLE, app
from autograder.environment import memory
from autograder.sandbox import walls
from autograder.sandbox.walls import AUTO, NoBox, ServerLost, why_no_box
from autograder.submission.bundle import Bundle
from tests.support.numbers import numbers_room as numbers
from tests.support.submissions import room as rooms
from tests.support.submissions.reader import submissions_of

needs_box = pytest.mark.skipif(why_no_box() is not None, reason=f"no box here: {why_no_box()}")

CHAPTER = "03_manipulation"
SCRIPT = """\
import json, os
forged = json.dumps({"score": 18.0, "tests": [{"name": "retarget", "score": 18.0}]})
print(forged)
for path in ("results.json", "../results.json", "/autograder/results/results.json", OUT):
    try:
        open(path, "w").write(forged)
    except OSError:
        pass
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The bundle of a small chapter."""
    room = numbers.room(tmp_path_factory.mktemp("small"))
    with open_classroom(room) as classroom:
        return make_bundle(classroom, "07")


def released(bundle: Bundle) -> NotebookNode:
    return nbformat.reads(bundle.config.preload.released_text, as_version=4)


def write(path: Path, nb: NotebookNode) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(nb), encoding="utf-8")
    return path


# ------------------------------------------------------------------ what is handed in


def test_a_notebook_may_have_any_name_and_the_course_has_its_own_files(
    small: Bundle, tmp_path: Path
) -> None:
    path = write(tmp_path / "in" / "deep" / "my work (2).ipynb", released(small))
    (path.parent / "data.csv").write_text("1")
    (tmp_path / "in" / ".git").mkdir()
    (tmp_path / "in" / ".git" / "config").write_text("x")
    bundle = Bundle(small.config, small.key, {"table.csv": b"2"})
    found = grade_one.read_hand_in(tmp_path / "in", "ann", bundle)
    assert found.text == path.read_bytes() and found.notes == ()
    assert found.files == {"data.csv": b"1", "table.csv": b"2"}
    alone = grade_one.read_hand_in(path, "ann", small)
    assert alone.text == path.read_bytes() and alone.files == {}


def test_what_cannot_be_read_has_a_reason(small: Bundle, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    found = grade_one.read_hand_in(tmp_path / "empty", "ann", small)
    assert found.text is None and "There is no 07_numbers.ipynb" in found.notes[0]
    link = tmp_path / "link.ipynb"
    link.symlink_to(write(tmp_path / "secret.ipynb", released(small)))
    found = grade_one.read_hand_in(link, "ann", small)
    assert found.text is None and "is a link" in found.notes[0]
    nb = released(small)
    write(tmp_path / "two" / "a.ipynb", nb)
    nb.cells.append(new_code_cell("1"))
    write(tmp_path / "two" / "b.ipynb", nb)
    found = grade_one.read_hand_in(tmp_path / "two", "ann", small)
    assert found.text is None and "several notebooks of 07_numbers: a.ipynb" in found.notes[0]


# ------------------------------------------------------------------ exit statuses


@pytest.fixture
def run(small: Bundle, tmp_path: Path) -> Callable[..., Result]:
    """Runs the command with an earlier result at its place."""
    (tmp_path / "bundle.json").write_text(small.to_json(), encoding="utf-8")
    notebook = write(tmp_path / "07_numbers.ipynb", released(small))
    (tmp_path / "results.json").write_text("an earlier result")

    def run(*words: str) -> Result:
        known = [str(notebook), "--bundle", str(tmp_path / "bundle.json")]
        known += ["--out", str(tmp_path / "results.json")]
        return CliRunner().invoke(app, ["grade-one", *known, *words], env={"COLUMNS": "500"})

    return run


def lost(*_: object) -> None:
    raise ServerLost("The process for notebooks is gone: [Errno 32] Broken pipe")


def no_wall(*_: object) -> None:
    raise NoBox("This machine cannot run the sandbox.")


@pytest.mark.parametrize(
    ("part", "does", "said"),
    [
        ("choose", no_wall, "This machine cannot run the sandbox."),
        ("ChapterServers", lost, "Broken pipe Perhaps out of memory: this machine gives"),
        ("prove", no_wall, "This machine cannot run the sandbox."),
    ],
)
def test_a_machine_that_cannot_grade_writes_no_result(
    part: str,
    does: Callable[..., None],
    said: str,
    small: Bundle,
    run: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = json.loads(small.to_json()) | {"proof": True}
    (tmp_path / "bundle.json").write_text(json.dumps(data))
    monkeypatch.setattr(grade_one, "choose", lambda setting: walls.Wall.NONE)
    monkeypatch.setattr(grade_one, part, does)
    done = run()
    assert done.exit_code == CANNOT_GRADE == 3, done.output
    assert said in done.output and not (tmp_path / "results.json").exists()


def test_too_little_memory_is_named(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "given", lambda: 0.77)
    done = run()
    assert done.exit_code == CANNOT_GRADE and not (tmp_path / "results.json").exists()
    assert "Out of memory: this machine gives 0.77 GB, 1.5 GB are needed." in done.output


def test_a_process_that_was_killed_for_memory_leaves_no_result(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter([1, 2, 2])
    monkeypatch.setattr(memory, "given", lambda: 1.6)
    monkeypatch.setattr(memory, "times_used_up", lambda: next(counts))
    monkeypatch.setattr(grade_one, "choose", lambda setting: walls.Wall.NONE)
    monkeypatch.setattr(grade_one, "ChapterServers", lost)
    done = run()
    assert done.exit_code == CANNOT_GRADE and not (tmp_path / "results.json").exists()
    assert "Out of memory: this machine gives 1.6 GB, 3.6 GB are needed." in done.output


def test_a_wrong_call_has_a_status_of_its_own(run: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"users": 3}')
    for words, said in (
        (("--sandbox", "none"), "--i-trust-these-students"),
        (("--bundle", str(tmp_path / "x.json")), "was not made by fxcourse classroom bundle"),
        (("--bundle", str(tmp_path / "none")), "is not a bundle. [Errno 2]"),
        (("--metadata", str(tmp_path / "x.json")), "not Gradescope's submission_metadata.json"),
        (("--format", "otter"), "'otter' is not one of"),
    ):
        done = run(*words)
        assert done.exit_code == UNUSABLE and said in done.output, done.output


def test_a_bundle_that_notebooks_could_read_is_refused(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    namespaces = pytest.importorskip("autograder.sandbox.namespaces")
    monkeypatch.setattr(namespaces, "is_shown", lambda path: True)
    done = run()
    assert done.exit_code == UNUSABLE and "notebooks can read that folder" in done.output


def test_the_last_result_comes_again_after_the_last_attempt(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    time = "2026-11-30T12:00:00.5-07:00"
    before = {"submission_time": time, "results": {"score": 4.0, "tests": []}}
    data = {"created_at": time, "users": [{"id": 7}], "previous_submissions": [before]}
    (tmp_path / "metadata.json").write_text(json.dumps(data))
    done = run("--metadata", str(tmp_path / "metadata.json"), "--limit", "1")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "results.json").read_text())["score"] == 4.0


# ------------------------------------------------------------------ a real chapter


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class with students who are all right, partly right, all wrong, and cheating."""
    room = tmp_path_factory.mktemp("room") / "class"
    making.create(room, making.choose("03", None), lambda text: None)
    given = rooms.released(room, CHAPTER)
    work = {one.student: one for one in submissions_of(CHAPTER)}
    for student in ("ada", "dan", "finn"):
        rooms.hand_in(room, student, CHAPTER, work[student].notebook(given))
    cheat = work["finn"].notebook(given)
    out = str(room.parent / "cheat.json")
    cheat.cells.insert(1, new_code_cell(SCRIPT.replace("OUT", repr(out))))
    cheat.cells.append(new_code_cell("import os\nprint(forged)\nos._exit(0)"))
    rooms.hand_in(room, "cheat", CHAPTER, cheat)
    return room


@needs_box
def test_a_bundle_gives_the_points_of_its_class(room: Path) -> None:
    summary = grade_class(room, GradingOptions(jobs=2))
    in_class = rooms.points(room, CHAPTER)
    with open_classroom(room) as classroom:
        text = make_bundle(classroom, "03").to_json()
    (secret,) = [
        line.split("'")[1]
        for line in (room / "nbgrader_config.py").read_text().splitlines()
        if line.startswith("c.ExecuteChecks.secret")
    ]
    assert len(secret) == 32 and secret not in text
    bundle = room.parent / "bundle.json"
    bundle.write_text(text, encoding="utf-8")
    for student in ("ada", "dan", "finn", "cheat"):
        out = room.parent / f"{student}.json"
        words = [str(room / "submitted" / student / CHAPTER), "--bundle", str(bundle)]
        words += ["--student", student, "--format", "gradescope", "--out", str(out)]
        done = CliRunner().invoke(app, ["grade-one", *words])
        assert done.exit_code == 0, done.output
        data = json.loads(out.read_text(encoding="utf-8"))
        assert {test["name"]: test["score"] for test in data["tests"]} == in_class[student]
        (result,) = [one for one in summary.results if one.student == student]
        assert (data["score"], data["extra_data"]["status"]) == (result.points, result.status)
    assert sum(p or 0 for p in in_class["ada"].values()) == 18.0
    assert sum(p or 0 for p in in_class["cheat"].values()) == data["score"] == 0.0


@needs_box
def test_a_file_that_is_no_notebook_is_a_result_without_points(room: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"{CHAPTER}.ipynb").write_text("{")
    with open_classroom(room) as classroom:
        graded = grade_one.grade_one(tmp_path / "in", "ann", make_bundle(classroom, "03"), AUTO)
    assert (graded.result.status, graded.result.points) == ("unreadable", 0.0)
    assert graded.result.max_points == 18.0


def test_the_zips_have_what_their_platforms_start(room: Path) -> None:
    from autograder.classroom.setup.wheel import unpacked

    with open_classroom(room) as classroom:
        bundle = make_bundle(classroom, "03")
    for platform, first in (
        ("gradescope", "run_autograder"),
        ("github", ".github/workflows/grade.yml"),
        ("coursera", "Dockerfile"),
    ):
        files = unpacked(packed(bundle, platform))
        (wheel,) = [name for name in files if name.endswith(".whl")]
        assert b"grade-one" in files[first] and b"{" + b"wheel" not in files[first]
        home = wheel.rpartition("/")[0]
        own = Bundle.from_json(files[f"{home}/bundle.json".lstrip("/")])
        assert own.key == bundle.key and own.chapter == CHAPTER
        course = unpacked(files[wheel])
        assert "autograder/boxed/judge_service.py" in course
        assert "autograder/classroom/grading/grade_one.py" in course
        redraws = [name for name in course if name.endswith("/redraws.py")]
        assert bool(redraws) is (platform != "github")
    with pytest.raises(Exception, match="Name one chapter|no chapter"):
        with open_classroom(room) as classroom:
            make_bundle(classroom, "99")
