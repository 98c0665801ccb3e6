"""Comments on groups reach the gradebook, and a person's comments never change."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.classroom.grading.grade_class import grade_class
from autograder.classroom.groups import commands
from autograder.classroom.groups.group_file import path_of, read_groups
from autograder.classroom.records.group_comments import FILE, HEAD, with_block
from autograder.classroom.reports.forget import Forgetting
from autograder.classroom.reports.undo import undo_last_run
from autograder.cli.classroom import app
from autograder.environment.errors import ClassroomError
from tests.support import grouped_class as classes
from tests.support.grouped_class import CHAPTER, Cases, Fails, comments, hand_in, opened

pytestmark = pytest.mark.filterwarnings(
    "ignore:Object of type.*:sqlalchemy.exc.SAWarning"  # from nbgrader
)

A: Fails = (("c1", "stale"), ("c2", "stale"))
B: Fails = (("c3", "crashed"), ("c4", "crashed"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded classroom: two answers with one mistake, one with another, one right."""
    room = classes.make(tmp_path_factory.mktemp("made") / "class")
    for student, fails in (("ann", A), ("bo", A), ("cy", B), ("di", ())):
        hand_in(room, student, after=fails)
    with pytest.MonkeyPatch.context() as patch:
        classes.use_stubs(patch)
        grade_class(room)
    return room


@pytest.fixture
def room(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    classes.use_stubs(monkeypatch)
    return Path(shutil.copytree(made, tmp_path / "class"))


def write_texts(room: Path, *texts: str) -> None:
    """Make the groups, and write comments into their file, in its order."""
    with opened(room) as classroom:
        commands.make_groups(classroom, CHAPTER, Cases())
    path, written = path_of(room, CHAPTER), iter(texts)
    text = re.sub(
        r"comment = '''\n'''",
        lambda empty: f"comment = '''\n{text}\n'''" if (text := next(written, "")) else empty[0],
        path.read_text(encoding="utf-8"),
    )
    path.write_text(text, encoding="utf-8")


def comment(room: Path, **more: bool) -> dict[str, str]:
    with opened(room) as classroom:
        done = commands.write_comments(classroom, CHAPTER, Cases(), **more)
    return {one.student: str(change) for one, change in done}


def take_back(room: Path) -> dict[str, str]:
    with opened(room) as classroom:
        done = commands.take_back_comments(classroom, CHAPTER)
    return {one.student: str(change) for one, change in done}


def block(*texts: str) -> str:
    return "\n\n".join((HEAD, *texts))


def test_all_students_of_a_group_get_its_comment(room: Path) -> None:
    before = classes.grades(room)
    write_texts(room, "Recompile.", "Look at `c3`.")
    assert comment(room, dry_run=True) == {"ann": "new", "bo": "new", "cy": "new"}
    assert set(comments(room).values()) == {None}
    assert comment(room) == {"ann": "new", "bo": "new", "cy": "new"}
    shared = block("Recompile.")
    third = block("Look at `c3`.")
    assert comments(room) == {"ann": shared, "bo": shared, "cy": third, "di": None}
    assert comment(room) == {}
    assert classes.grades(room) == before


def test_a_new_text_replaces_ours_and_a_persons_text_stays(room: Path) -> None:
    write_texts(room, "Recompile.")
    classes.write_by_hand(room, "ann", "Well begun!")
    comment(room)
    assert comments(room)["ann"] == f"Well begun!\n\n{block('Recompile.')}"
    path = path_of(room, CHAPTER)
    path.write_text(path.read_text().replace("Recompile.", "Recompile the module."))
    assert comment(room) == {"ann": "replaced", "bo": "replaced"}
    assert comments(room)["ann"] == f"Well begun!\n\n{block('Recompile the module.')}"
    assert take_back(room) == {"ann": "taken back", "bo": "taken back"}
    assert comments(room) == {"ann": "Well begun!", "bo": None, "cy": None, "di": None}


def test_a_part_that_a_person_has_edited_is_left_alone(room: Path) -> None:
    write_texts(room, "Recompile.")
    comment(room)
    edited = block("Recompile. And see me.")
    classes.write_by_hand(room, "ann", edited)
    assert "edited" in comment(room)["ann"]
    assert "edited" in take_back(room)["ann"]
    assert comments(room)["ann"] == edited


def test_whoever_leaves_a_group_by_a_regrade_loses_its_comment(room: Path) -> None:
    write_texts(room, "Recompile.", "Look at `c3`.")
    classes.write_by_hand(room, "ann", "Mine.")
    comment(room)
    hand_in(room, "ann")
    hand_in(room, "bo", after=B)
    grade_class(room)
    assert comments(room)["ann"] == "Mine." and comments(room)["bo"] is None
    assert comment(room) == {"bo": "new"}
    assert comments(room)["bo"] == block("Look at `c3`.")
    grade_class(room)
    assert comments(room)["cy"] == block("Look at `c3`."), "unchanged work keeps it"


def test_undo_takes_comments_back(room: Path) -> None:
    classes.write_by_hand(room, "ann", "Mine.")
    write_texts(room, "Recompile.")
    before = comments(room)
    comment(room)
    said = CliRunner().invoke(app, ["undo", str(room)])
    assert said.exit_code == 0, said.output
    assert "submitted/" not in said.output
    assert comments(room) == before
    assert comment(room) == {"ann": "new", "bo": "new"}


def test_comments_stay_in_the_file(room: Path) -> None:
    """Even if their group is gone for a while."""
    write_texts(room, "Recompile.", "Look at `c3`.")
    hand_in(room, "cy")
    grade_class(room)
    write_texts(room)
    rows = read_groups(path_of(room, CHAPTER))
    assert [(row.students, row.comment) for row in rows] == [
        (("ann", "bo"), "Recompile."),
        ((), "Look at `c3`."),
    ]


def test_an_interrupted_run_continues(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is in our file, and not yet in the gradebook."""
    write_texts(room, "Recompile.")
    classes.write_by_hand(room, "ann", "Mine.")
    comment(room)
    classes.write_by_hand(room, "ann", "Mine.")
    with (room / FILE).open("a", encoding="utf-8") as file:
        file.write('\n{"student": "ann", "chap')
    assert comment(room) == {"ann": "replaced"}
    assert comments(room)["ann"] == f"Mine.\n\n{block('Recompile.')}"
    path = path_of(room, CHAPTER)
    path.write_text(path.read_text().replace("Recompile.", "Other."))
    comment(room)
    assert comments(room)["ann"] == f"Mine.\n\n{block('Other.')}"


def test_a_student_can_be_erased_from_groups(room: Path) -> None:
    write_texts(room, "Recompile.")
    comment(room)
    found = Forgetting(room, "ann")
    assert {path_of(room, CHAPTER), room / FILE} <= set(found.held().lines)
    found.erase()
    folder = room / "groups"
    assert [path.name for path in folder.iterdir()] == [f"{CHAPTER}.toml"]
    assert read_groups(path_of(room, CHAPTER))[0].students == ("bo",)
    assert read_groups(path_of(room, CHAPTER))[0].comment == "Recompile."
    assert not Forgetting(room, "ann").held()


def test_without_a_comment_there_is_nothing_to_write(room: Path) -> None:
    with pytest.raises(ClassroomError, match="is made by: fxcourse classroom groups"):
        comment(room)
    write_texts(room)
    with pytest.raises(ClassroomError, match="There is no comment"):
        comment(room)
    with opened(room) as classroom, pytest.raises(ClassroomError, match="no chapter '99'"):
        commands.write_comments(classroom, "99", Cases())


@pytest.mark.parametrize(
    ("text", "ours", "new", "result"),
    [
        ("", [], "H\nx", "H\nx"),
        ("mine", [], "H\nx", "mine\n\nH\nx"),
        ("mine\n\nH\nx", ["H\nx"], "", "mine"),
        ("mine\n\n\nH\nx", ["H\nx"], "", "mine\n"),
        ("mine\n\nH\nx\n\nmore", ["H\nx"], "H\ny", "mine\n\nH\ny\n\nmore"),
        ("H\nx\n\nmore", ["H\nx"], "", "more"),
        ("H\nx\n\ny", ["H\nx", "H\nx\n\ny"], "", ""),
    ],
)
def test_only_our_block_changes(text: str, ours: list[str], new: str, result: str) -> None:
    head = {"H": HEAD}
    filled = [re.sub("H", head["H"], each) for each in (text, new, result, *ours)]
    assert with_block(filled[0], filled[3:], filled[1]) == filled[2]


def test_a_longer_text_of_a_person_is_not_taken_for_ours() -> None:
    assert with_block(f"{HEAD}\nxyz", [f"{HEAD}\nx"], f"{HEAD}\nnew") is None


STUDENTS = ("ann", "bo", "cy", "di")
STEPS = ("edit", "edit", "text", "comment", "comment", "regrade", "undo", "back")


@pytest.mark.parametrize("seed", range(4))
def test_what_a_person_wrote_never_changes(room: Path, seed: int) -> None:
    """Edits, new texts, regrades, undo and taking back, in a random order."""
    draw = random.Random(seed)
    by_hand = dict.fromkeys(STUDENTS, "")
    write_texts(room, "OURS 0")
    for turn in range(25):
        before = classes.grades(room)
        match draw.choice(STEPS):
            case "edit":
                _edit_by_hand(room, draw, by_hand, f"by hand {turn}")
            case "text":
                path = path_of(room, CHAPTER)
                text = re.sub(r"OURS \d+", f"OURS {turn}", path.read_text(encoding="utf-8"))
                path.write_text(text, encoding="utf-8")
                write_texts(room)
            case "comment":
                comment(room)
                assert classes.grades(room) == before
            case "back":
                take_back(room)
                assert classes.grades(room) == before
            case "regrade":
                hand_in(room, draw.choice(STUDENTS), after=draw.choice((A, B, ())))
                grade_class(room)
            case "undo":
                try:
                    undo_last_run(room)
                except ClassroomError:
                    pass  # nothing to undo, or a person has written something since
        assert {name: _by_hand(text) for name, text in comments(room).items()} == by_hand


def _edit_by_hand(room: Path, draw: random.Random, by_hand: dict[str, str], text: str) -> None:
    """Write before our part, after it, or instead of what a person wrote before."""
    student = draw.choice(STUDENTS)
    now = comments(room)[student] or ""
    ours = re.search(rf"{HEAD}\n\nOURS \d+", now)
    if ours is None:
        new = text
    elif draw.random() < 0.3:
        new = f"{ours[0]}\n\n{text}"
    else:
        new = f"{text}\n\n{ours[0]}"
    classes.write_by_hand(room, student, new)
    by_hand[student] = text


def _by_hand(text: str | None) -> str:
    return re.sub(rf"\n*{HEAD}\n\nOURS \d+\n*", "", text or "")
