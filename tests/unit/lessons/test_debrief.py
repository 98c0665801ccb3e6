"""Debriefs: their content is correct, and none is shown before a pass."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import nbformat
import pytest

from autograder import builder, debrief
from autograder.api import NoSuchExercise
from autograder.builder import debriefs as writing
from autograder.builder.outputs import generate
from autograder.builder.paths import COURSE, LESSONS, SOLUTIONS
from autograder.builder.source import read
from autograder.cards.card import Card
from autograder.cards.debrief import DebriefCard
from autograder.core.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.lessons import Debrief, debriefs
from autograder.workspace import progress_file
from tests.support import build_fixture
from tests.support.build_fixture import CARDS, CHAPTER
from tests.unit.cards.test_show_card import read as read_html

EVERY = sorted(debriefs())


def answer(name: str, code: str) -> object:
    """Run the code; return the object that it defines under this name."""
    names: dict[str, object] = {"__name__": "learner"}
    exec(compile(code, f"<another answer to {name}>", "exec"), names)
    return names[name]


def test_the_other_answer_is_one_answer() -> None:
    """A name defined twice would show two answers, and the first one may be wrong."""
    for name, told in debriefs().items():
        parts = ast.parse(told.other).body
        defined = [one.name for one in parts if isinstance(one, ast.FunctionDef | ast.ClassDef)]
        assert len(set(defined)) == len(defined) and name in defined, name
        assert "\n\n\n\n" not in told.other, name


@pytest.mark.parametrize("name", EVERY)
def test_the_solution_is_the_chapters(name: str) -> None:
    shown = debriefs()[name].solution
    assert "SOLUTION" not in shown
    assert f"def {name}(" in shown or f"class {name}" in shown
    chapter, _ = read(SOLUTIONS / f"{EXERCISES[name].chapter}.py")
    (source,) = (cell.source for cell in chapter.tagged("solve") if cell.value == name)
    lines = [line for line in source.splitlines() if "### " not in line]
    assert shown == re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines).strip("\n"))
    assert "\n\n\n\n" not in debriefs()[name].other


def test_two_chapters_have_debriefs(total) -> None:
    for chapter in ("03_manipulation", "04_replace_pattern"):
        names = [e.name for e in EXERCISES.values() if e.chapter == chapter]
        assert [name for name in names if name not in debriefs()] == []
    total("exercises with a debrief", len(EVERY))


def test_the_cell_comes_after_the_hints() -> None:
    cells = nbformat.read(COURSE / "03_manipulation.ipynb", as_version=4).cells
    ids = [cell.id for cell in cells]
    place = ids.index("debrief-retarget")
    assert ids[place - 1] == "hint-retarget"
    assert cells[place].source == 'debrief("retarget")'
    assert "debrief" in next(c.source for c in cells if c.cell_type == "code")


def test_answers_are_not_in_the_files_as_they_are() -> None:
    for path in LESSONS.glob("[0-9]*.json"):
        text = path.read_text(encoding="utf-8")
        assert all("fx." not in json.dumps(row) for row in json.loads(text)["debriefs"].values())
        assert "symbolic_trace(model)" not in text.partition('"debriefs"')[2]


# Opening a debrief


def test_it_opens_after_ones_own_pass(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for status in ("", "failed", "crashed", "passed"):
        if status:
            progress_file.record_verdict("retarget", status)
        debrief("retarget")
        said = capsys.readouterr().out
        if status == "passed":
            assert "The reference solution:" in said and "class Swap(fx.Tracer)" in said
            assert "A trap: A name is not the function." in said
        else:
            assert said == (
                "The debrief of retarget opens after you have passed it: "
                "run check(retarget) first.\n"
            )


def test_it_takes_what_you_wrote(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def retarget() -> None: ...

    debrief(retarget)
    assert "opens after you have passed it" in capsys.readouterr().out


def test_every_exercise_has_one() -> None:
    assert set(EXERCISES) == set(EVERY)


def test_what_has_none_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.learner.debrief.debriefs", dict)  # as in a class's package
    debrief("node_names")
    assert capsys.readouterr().out == "Your class has no debriefs.\n"
    monkeypatch.setattr("autograder.learner.debrief.debriefs", lambda: {"another": None})
    debrief("node_names")
    assert capsys.readouterr().out == "There is no debrief of node_names.\n"
    with pytest.raises(NoSuchExercise, match="Did you mean `retarget`"):
        debrief("retargt")


def test_a_passed_card_says_that_there_is_one() -> None:
    exercise = EXERCISES["retarget"]
    passed = Verdict("retarget", "passed", 1.0, cases=3)
    card = Card(passed, exercise, debrief=True)
    for said in (repr(card), card._repr_mimebundle_()["text/html"]):
        assert "shows other right answers" in " ".join(said.split())
    assert "debrief" not in repr(Card(passed, exercise))
    assert "debrief" not in repr(Card(Verdict("retarget", "failed", 0.0), exercise, debrief=True))


def test_a_debrief_is_shown_as_text() -> None:
    card = DebriefCard("x", Debrief("a = '<b>'", "s<i>", "b = '</pre><script>'", "Not `<u>`."))
    html = card.html()
    assert "<script>" not in html and "<b>" not in html and "<i>" not in html and "<u>" not in html
    words = "".join(read_html(html).words)
    assert "a = '<b>'" in words and "b = '</pre><script>'" in words


# The builder

ANSWERS = """
import copy
import math as m
from tests.exercises import right, wrong

STEP = 1
OTHER = 2


def unused():
    return OTHER


def size(number):
    return m.fabs(number)


@right("plain")
def plain(number):
    return size(number) + 1


@right("recursive", debrief=True)
def again_and_again(number):
    return again_and_again(-number) if number < 0 else size(number) + STEP
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fixture's exercise `after` with a marked answer and a trap."""
    for folder, name, text in (
        ("answers/ch07_numbers/after", "answers.py", ANSWERS),
        ("exercises/ch07_numbers/after", "trap.md", "Zero.\n"),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(writing, "ANSWERS", tmp_path / "answers")
    monkeypatch.setattr(writing, "EXERCISES", tmp_path / "exercises")
    writing.other_answer.cache_clear()
    yield build_fixture.write(
        tmp_path, CHAPTER.replace("def hint(", "def debrief(name): ...\n\n\ndef hint(")
    )
    writing.other_answer.cache_clear()


NAMELESS = """
from tests.exercises import right, wrong


@right("with a largest and a place", debrief=True)
def _(number):
    largest, _ = max((number, 0), (0, 1))
    return largest + 1


@wrong("one too few", "wrong-value")
def _(number):
    return number
"""


def test_of_answers_that_share_a_name_one_is_taken(written: Path) -> None:
    (writing.ANSWERS / "ch07_numbers/after/answers.py").write_text(NAMELESS, encoding="utf-8")
    assert writing.other_answer("after") == (
        "with a largest and a place",
        "def after(number):\n    largest, _ = max((number, 0), (0, 1))\n    return largest + 1",
    )


def test_an_answer_is_taken_with_what_it_uses(written: Path) -> None:
    found = writing.debrief_of(read(written)[0], "after")
    assert found is not None
    assert (found.style, found.trap) == ("recursive", "Zero.")
    assert found.other == (
        "import math as m\n\nSTEP = 1\n\n\n"
        "def size(number):\n    return m.fabs(number)\n\n\n"
        "def after(number):\n    return after(-number) if number < 0 else size(number) + STEP"
    )
    assert found.solution.startswith("def _size(number: int)")
    assert answer("after", found.other)(-3) == 4


def test_a_cell_is_added_for_it(written: Path) -> None:
    ids = [cell.id for cell in builder.build(written, CARDS).cells]
    assert ids[ids.index("hint-after") + 1] == "debrief-after"
    assert "debrief-again" not in ids


def test_what_is_missing_is_named(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert writing.lacking("after") == []
    assert writing.lacking("again") == [
        "no answer is marked debrief=True",
        "it has no trap.md",
    ]
    monkeypatch.setattr(generate, "choose", lambda names: [written])
    monkeypatch.setattr(generate, "found_exercises", lambda chapter: CARDS)
    assert generate.without_debrief() == ["again"]
    (writing.EXERCISES / "ch07_numbers" / "after" / "trap.md").unlink()
    assert generate.without_debrief() == ["after (it has no trap.md)", "again"]


def test_a_chapter_without_the_exam_has_none(written: Path, tmp_path: Path) -> None:
    (tmp_path / "answers/ch07_numbers/after/answers.py").unlink()
    writing.other_answer.cache_clear()
    assert writing.debrief_of(read(written)[0], "after") is None
