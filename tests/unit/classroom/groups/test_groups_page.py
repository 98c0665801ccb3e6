"""The page of groups shows answers as text, and marks what is hidden from students."""

from __future__ import annotations

import json
import re
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.classroom.grading.grade_class import grade_class
from autograder.classroom.groups import commands
from autograder.classroom.records.journal import JOURNAL
from autograder.cli.classroom import app
from autograder.cli.classroom_groups import CasesOfCourse
from autograder.environment.errors import ClassroomError
from autograder.exercises import EXERCISES
from tests.support import grouped_class as classes
from tests.support import large_groups
from tests.support.grouped_class import CHAPTER, Cases, Fails, hand_in, opened
from tests.unit.classroom.reports.test_class_report import Outline

pytestmark = pytest.mark.filterwarnings(
    "ignore:Object of type.*:sqlalchemy.exc.SAWarning"  # from nbgrader
)

SHOWN: Fails = (("c1", "stale"), ("c8", "stale"))
HIDDEN: Fails = (("c8", "stale"), ("c9", "stale"))
WARNING = "hidden: do not quote it before the deadline"
EVIL = "x = 1  # </pre><script>alert(1)</script><b onclick='x()'>\n" + "long_name_" * 30


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded classroom with two groups, one of which fails hidden cases only."""
    room = classes.make(tmp_path_factory.mktemp("made") / "class")
    for student in ("ann", "bo", "cy"):
        hand_in(room, student, {"after": f"{EVIL}\n{student}"}, after=SHOWN)
    for student in ("di", "ed"):
        hand_in(room, student, after=HIDDEN)
    hand_in(room, "flo")
    with pytest.MonkeyPatch.context() as patch:
        classes.use_stubs(patch)
        grade_class(room)
    with classes.stubs.gradebook(room) as book:
        book.update_or_create_student("bo", first_name="<i>Bo</i>", last_name="Müller")
    return room


@pytest.fixture
def room(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    classes.use_stubs(monkeypatch)
    return Path(shutil.copytree(made, tmp_path / "class"))


def page_of(room: Path, **more: object) -> str:
    with opened(room) as classroom:
        found = commands.make_groups(classroom, CHAPTER, Cases(), **more)  # type: ignore[arg-type]
    assert found.page is not None
    assert stat.S_IMODE(found.page.stat().st_mode) == 0o600
    assert stat.S_IMODE(found.page.parent.stat().st_mode) == 0o700
    return found.page.read_text(encoding="utf-8")


@pytest.mark.parametrize("anonymous", [False, True])
def test_the_page_is_static_and_escapes_what_students_wrote(room: Path, anonymous: bool) -> None:
    text = page_of(room, anonymous=anonymous)
    outline = Outline()
    outline.feed(text)
    assert outline.open == []
    assert not {"script", "img", "link", "iframe", "form", "b", "i"} & set(outline.tags)
    assert not [name for name, _ in outline.attributes if name.startswith("on") or name == "src"]
    assert {value for name, value in outline.attributes if name == "href"} <= {
        f"#{value}" for name, value in outline.attributes if name == "id"
    }
    assert "http:" not in text and "https:" not in text
    assert ("&lt;/pre&gt;&lt;script&gt;" in text) is not anonymous


def test_a_group_shows_its_card_answers_and_students(room: Path) -> None:
    text = page_of(room)
    assert text.index("3 answers") < text.index("2 answers")
    assert "✗ after: the card of " in text and "bo, ‹i›Bo‹/i› Müller" in text
    assert text.count("Another one") == 2
    assert "5 wrong answers, 2 groups" in text
    assert "half" not in text.replace("half(x)", ""), "nobody has failed it"


def test_a_hidden_case_is_shown_with_a_warning(room: Path) -> None:
    text = page_of(room)
    first, second = text.split('<section class="group')[1:]
    assert WARNING not in first and "class Model" not in first
    assert WARNING in second and "# the model of c8" in second
    assert "the card of" not in second
    assert re.findall(r"<li>(c\d)( <span class=\"alarm\">)?", text) == [
        ("c1", ""), *[(name, ' <span class="alarm">') for name in ("c8", "c8", "c9")],
    ]  # fmt: skip


def test_a_page_without_names_quotes_nobody(room: Path) -> None:
    text = page_of(room, anonymous=True)
    for word in ("ann", "bo", "cy", "di", "ed", "flo", "long_name", "the card of"):
        assert not re.search(rf"\b{word}\b", text.split("<main>")[1]), word
    assert text.count("has stale") == 2, "three students got the same, in one group of two"
    assert "# the model of c1" in text
    assert sorted(path.name for path in (room / "groups").iterdir()) == [
        f"{CHAPTER}-without-names.html"
    ]


def test_the_course_gives_the_smallest_case(tmp_path: Path) -> None:
    """One that students know, if there is any."""
    course = CasesOfCourse(tmp_path)
    cases = EXERCISES["retarget"].cases
    hidden = {case.name for case in cases if case.hidden}
    assert course.count("retarget") == len(cases)
    assert {case.name for case in cases if course.is_hidden("retarget", case.name)} == hidden
    found = course.smallest("retarget", hidden)
    assert found is not None and found.is_hidden and "def forward(self" in found.code
    known = course.smallest("retarget", {case.name for case in cases})
    assert known is not None and not known.is_hidden
    assert course.smallest("retarget", ()) is None
    assert course.count("gone") == 0 and course.is_hidden("gone", "a case")
    assert course.smallest("gone", {"a case"}) is None and course.is_hidden("retarget", "gone")


def test_one_exercise_can_be_shown_alone(room: Path) -> None:
    hand_in(room, "flo", half=SHOWN)
    grade_class(room)
    assert 'id="half"' in page_of(room) and 'id="after"' in page_of(room)
    assert 'id="after"' not in page_of(room, exercise="half")
    file = (room / "groups" / f"{CHAPTER}.toml").read_text(encoding="utf-8")
    assert file.count('exercise = "after"') == 2 and file.count('exercise = "half"') == 1
    with pytest.raises(ClassroomError, match="Exercises with wrong answers: after, half"):
        page_of(room, exercise="other")


def test_answers_of_an_earlier_version_are_counted(room: Path) -> None:
    path = room / JOURNAL
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["student"] in ("ann", "di"):
            for check in row["checks"]:
                del check["fails"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    text = page_of(room)
    assert "2 answers graded before groups" in text and f"fxcourse grade DIR {CHAPTER}" in text
    assert "5 wrong answers, 2 groups" in text


def test_a_regrade_by_others_takes_an_answer_out(room: Path) -> None:
    with classes.stubs.gradebook(room) as book:
        book.find_grade("check-after", CHAPTER, CHAPTER, "ann").auto_score = 6.0
        book.db.commit()
    assert "4 wrong answers, 2 groups" in page_of(room)


def test_the_commands(room: Path) -> None:
    def said(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, [*words])
        assert done.exit_code == code, done.output
        return " ".join(done.output.split())

    text = said("groups", str(room), "01")
    assert "after: 5 wrong answers, groups: 2." in text
    text = said("comment", str(room), "01", code=1)
    assert "There is no comment in" in text
    file = room / "groups" / f"{CHAPTER}.toml"
    text = file.read_text(encoding="utf-8").replace("comment = '''", "comment = '''\nLook.", 1)
    file.write_text(text, encoding="utf-8")
    text = said("comment", str(room), CHAPTER, "--dry-run")
    assert "cy, after: new." in text and "nothing was written" in text
    assert "generate_feedback" in said("comment", str(room), CHAPTER)
    assert "All comments are as they should be." in said("comment", str(room), CHAPTER)
    assert "cy, after: taken back." in said("comment", str(room), CHAPTER, "--take-back")


def test_a_class_of_500(tmp_path: Path, printed: Callable[[str, str], None]) -> None:
    """Each student hands in six exercises. The time is printed, and not judged."""
    room = large_groups.make(tmp_path / "class")
    start = time.process_time()
    with opened(room) as classroom:
        found = commands.make_groups(classroom, large_groups.CHAPTER, Cases())
    seconds = time.process_time() - start
    assert found.page is not None
    size = found.page.stat().st_size
    printed("groups of a class of 500", f"{seconds:.1f} s, a page of {size / 1e6:.1f} MB")
    assert len(found.wrong) == large_groups.NUMBER_OF_EXERCISES
    for name, groups in found.groups.items():
        largest = sorted(groups, key=lambda one: -len(one.answers))[:10]
        students = {student for one in largest for student in one.students}
        assert len(students) >= 0.8 * found.wrong[name]
    assert size < 5_000_000
