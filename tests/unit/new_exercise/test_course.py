"""A new exercise of the course works at once, and nothing is written if it cannot be."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import autograder.exercises.ch03_manipulation as chapter_package
from autograder.builder.card_headings import found_exercises
from autograder.builder.chapter_lint import examine
from autograder.builder.outputs.references import knows, made_by
from autograder.builder.paths import ROOT, chapters
from autograder.builder.problems import BuildRefused
from autograder.builder.source import read
from autograder.cli.main import app
from autograder.core.exercise import Exercise
from autograder.core.exercise_folder import load_exercise
from autograder.environment.errors import ClassroomError
from autograder.judge import judge
from autograder.judge.answer_key import forget
from autograder.new_exercise import course
from autograder.new_exercise.templates import REPLACE
from autograder.runner import run_cases
from tests import exercises
from tests.checks.clauses import running_text

NAME = "relu_to_tanh"
CHAPTER = "03_manipulation"
PACKAGE = f"autograder.exercises.ch{CHAPTER}.{NAME}"
SOURCE = """\
# %% [markdown]
# # 3 · A chapter

# %%
import torch
from torch import fx, nn

from autograder import check, draw, hint


# %%
def sin_to_cos(model):
    return model


# %% [markdown]
# The end of a section.
#
# ## Common mistakes
#
# There are none.
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The folders that a clone must have, with one chapter of two exercises."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / f"{CHAPTER}.py").write_text(SOURCE)
    for name, text in {"retarget": "Exercise(\n    number=1,", "Duel": "duel(\n    2,"}.items():
        home = tmp_path / "autograder" / "exercises" / f"ch{CHAPTER}" / name
        home.mkdir(parents=True)
        (home / "cases.py").write_text(text)
    (tmp_path / "tests" / "exercises" / f"ch{CHAPTER}").mkdir(parents=True)
    (tmp_path / "tests" / "exercises" / f"ch{CHAPTER}" / "submissions.toml").write_text(
        '[retarget]\nada = "a style"\n'
    )
    return tmp_path


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


# ------------------------------------------------------------------ the files


def test_only_new_files_and_the_chapters_two_are_written(clone: Path) -> None:
    before = tree(clone)
    planned = course.plan("03", NAME, clone)
    assert tree(clone) == before, "a plan writes nothing"
    course.write(planned)
    after = tree(clone)
    home, tests = (f"{part}/ch{CHAPTER}/{NAME}/" for part in ("autograder/exercises",
                                                              "tests/exercises"))  # fmt: skip
    parts = ("__init__.py", "models.py", "cases.py", "redraws.py", "key.py", "trap.md")
    new = {home + part for part in parts} | {tests + "answers.py", tests + "clauses.toml"}
    assert after.keys() - before.keys() == new
    changed = {path for path in before if after[path] != before[path]}
    assert changed == {f"solutions/{CHAPTER}.py", f"tests/exercises/ch{CHAPTER}/submissions.toml"}
    assert all(text.isascii() or path.startswith("solutions") for path, text in after.items())


def test_the_cells_come_last_and_nothing_else_of_the_chapter_changes(clone: Path) -> None:
    planned = course.plan(CHAPTER, NAME, clone)
    source = clone / "solutions" / f"{CHAPTER}.py"
    text = planned.changed[source]
    at = text.index(f'# %% [markdown] card="{NAME}"')
    end = text.index("# %% [markdown]\n# The end of a section.")
    assert text[:at] + text[end:] == SOURCE
    course.write(planned)
    tags = [(cell.tag, cell.value) for cell in read(source)[0].cells if cell.tag]
    assert tags == [(tag, NAME) for tag in ("card", "solve", "check", "hint")]


def test_it_has_the_next_number(clone: Path) -> None:
    planned = course.plan("03", NAME, clone)
    (cases,) = (text for path, text in planned.new.items() if path.name == "cases.py")
    assert planned.number == 3
    assert cases.startswith('"""Exercise 3.3: ') and "\n    number=3," in cases


@pytest.mark.parametrize("source", chapters(), ids=lambda path: path.stem)
def test_each_chapter_can_have_one(source: Path) -> None:
    planned = course.plan(source.stem, NAME)
    assert planned.number == 1 + source.read_text(encoding="utf-8").count('card="')
    below = planned.changed[source].partition(f'hint("{NAME}")')[2]
    assert "\n# ## Common mistakes\n" in below and ' card="' not in below


def test_each_file_says_what_to_replace(clone: Path) -> None:
    planned = course.plan("03", NAME, clone)
    silent = [path.name for path, text in planned.new.items() if REPLACE not in text]
    assert silent == ["__init__.py"]
    assert all(REPLACE in text for text in planned.changed.values())


@pytest.mark.parametrize("name", ["f", "a_name_as_long_as_they_come_here"])
def test_ruff_finds_nothing(clone: Path, name: str) -> None:
    planned = course.plan("03", name, clone)
    course.write(planned)
    shutil.copy(ROOT / "pyproject.toml", clone)
    shutil.copytree(ROOT / "autograder" / "authoring", clone / "autograder" / "authoring")
    shutil.copy(ROOT / "tests" / "exercises" / "__init__.py", clone / "tests" / "exercises")
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--no-cache"]
        done = subprocess.run(
            [*command, *planned.folders, "solutions"], cwd=clone, text=True, capture_output=True
        )
        assert done.returncode == 0, done.stdout


# ------------------------------------------------------------------ the exercise


@pytest.fixture
def exercise(clone: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Exercise]:
    """The new exercise, imported as one of its chapter."""
    planned = course.plan("03", NAME, clone)
    course.write(planned)
    places = [*chapter_package.__path__, str(planned.folders[0].parent)]
    monkeypatch.setattr(chapter_package, "__path__", places)
    importlib.invalidate_caches()
    yield load_exercise(PACKAGE, CHAPTER)
    forget()
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]
    delattr(chapter_package, NAME)


@pytest.fixture
def answers(
    clone: Path, exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> list[exercises.Answer]:
    """The answers to it; the registry of answers does not keep them."""
    found: list[exercises.Answer] = []
    monkeypatch.setattr(exercises, "_ANSWERS", found)
    path = clone / "tests" / "exercises" / f"ch{CHAPTER}" / NAME / "answers.py"
    spec = spec_from_file_location(f"tests.exercises.ch{CHAPTER}.{NAME}.answers", path)
    assert spec and spec.loader
    spec.loader.exec_module(module_from_spec(spec))
    return found


def solution(clone: Path) -> Any:
    """The solution in the chapter's solve cell."""
    found, _ = read(clone / "solutions" / f"{CHAPTER}.py")
    names: dict[str, Any] = {}
    exec("import torch\nfrom torch import fx, nn", names)
    exec(found.tagged("solve")[0].source, names)
    return names[NAME]


def test_its_answers_get_the_findings_meant_for_them(
    exercise: Exercise, answers: list[exercises.Answer]
) -> None:
    right = [answer for answer in answers if answer.finding is None]
    wrong = [answer for answer in answers if answer.finding is not None]
    assert len(right) >= 4 and len(wrong) >= 8
    for answer in answers:
        verdict = judge(exercise, run_cases(exercise, answer.write, exercise.cases))
        assert verdict.passed == (answer.finding is None), answer
        codes = {finding.code for finding in verdict.findings}
        assert answer.finding in codes or verdict.passed, (answer, codes)


def test_its_oracle_knows_what_the_solution_returns(clone: Path, exercise: Exercise) -> None:
    made = made_by(exercise, solution(clone))
    assert made.keys() == {case.name for case in exercise.cases}
    assert all(knows(exercise, case, made[case.name]) for case in exercise.cases)


def test_each_clause_has_a_sentence_cases_and_a_wrong_answer(
    clone: Path, exercise: Exercise, answers: list[exercises.Answer]
) -> None:
    folder = clone / "tests" / "exercises" / f"ch{CHAPTER}"
    clauses = tomllib.loads((folder / NAME / "clauses.toml").read_text())
    common = clauses.pop("common")
    broken = {answer.clause for answer in answers if answer.finding is not None}
    assert broken == {*clauses, *(f"common.{key}" for key in common)}
    everywhere = tomllib.loads((exercises.FOLDER / "common.toml").read_text(encoding="utf-8"))
    assert common.keys() <= everywhere.keys()
    text = running_text((clone / "solutions" / f"{CHAPTER}.py").read_text())
    assert [said["card"] for said in clauses.values() if said["card"] not in text] == []
    cases = {case for said in (*clauses.values(), *common.values()) for case in said["cases"]}
    assert cases == {case.name for case in exercise.cases}


def test_the_class_hands_in_some_of_the_answers(
    clone: Path, exercise: Exercise, answers: list[exercises.Answer]
) -> None:
    folder = clone / "tests" / "exercises" / f"ch{CHAPTER}"
    row = tomllib.loads((folder / "submissions.toml").read_text())[NAME]
    findings = {answer.style: answer.finding for answer in answers}
    assert findings[row["ada"]] is findings[row["bert"]] is None
    assert findings[row["dan"]["style"]] is not None
    (dan,) = (answer.write for answer in answers if answer.style == row["dan"]["style"])
    shares = judge(exercise, run_cases(exercise, dan, exercise.cases)).shares
    lost = {share.says for share in shares if not share.held}
    assert lost == {each.says for each in exercise.aspects if each.key in row["dan"]["loses"]}


def test_the_builder_asks_only_for_other_minutes(tmp_path: Path, exercise: Exercise) -> None:
    planned = course.plan("03", NAME)
    path = tmp_path / f"{CHAPTER}.py"
    path.write_text(planned.changed[ROOT / "solutions" / path.name], encoding="utf-8")
    with pytest.raises(BuildRefused) as refused:
        chapter = replace(read(path)[0], path=ROOT / "solutions" / path.name)
        examine(chapter, (*found_exercises(CHAPTER), exercise))
    messages = [problem.message for problem in refused.value.problems]
    assert messages and all(" minutes, and not " in message for message in messages)


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("chapter", "name", "said"),
    [
        ("03", "a-b", "'a-b' cannot be the name of a function"),
        ("03", "class", "'class' cannot be the name of a function"),
        ("03", "add_to_mul", "The course already has an exercise called add_to_mul"),
        ("03", "sin_to_cos", "Chapter 03_manipulation already uses the name sin_to_cos"),
        ("03", "draw", "Chapter 03_manipulation already uses the name draw"),
        ("03", "Duel", "There is already a folder autograder/exercises/ch03_manipulation/Duel"),
        ("3", NAME, "There is no chapter '3'. Chapters: 03_manipulation."),
        ("04", NAME, "There is no chapter '04'. Chapters: 03_manipulation."),
    ],
)
def test_what_cannot_be_written_is_said(clone: Path, chapter: str, name: str, said: str) -> None:
    before = tree(clone)
    with pytest.raises(ClassroomError, match=said):
        course.plan(chapter, name, clone)
    assert tree(clone) == before


def test_it_is_not_written_twice(clone: Path) -> None:
    course.write(course.plan("03", NAME, clone))
    with pytest.raises(ClassroomError, match="There is already a folder "):
        course.plan("03", NAME, clone)


def test_it_is_not_written_outside_of_a_clone(tmp_path: Path) -> None:
    with pytest.raises(ClassroomError, match="in a clone of the repository"):
        course.plan("03", NAME, tmp_path)


def test_a_chapter_without_a_place_for_it_is_left_alone(clone: Path) -> None:
    (clone / "solutions" / f"{CHAPTER}.py").write_text("# %%\nx = 1\n")
    with pytest.raises(ClassroomError, match="has no '# ## Common mistakes'"):
        course.plan("03", NAME, clone)


@pytest.mark.parametrize("written", range(10))
def test_nothing_is_left_after_an_error(
    clone: Path, written: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, planned = tree(clone), course.plan("03", NAME, clone)
    assert len(planned.new) + len(planned.changed) == 10
    left, write_text = [written], Path.write_text

    def full(path: Path, text: str, **options: Any) -> int:
        if not left[0]:
            write_text(path, text[:10], **options)
            raise OSError(28, "No space left on device", str(path))
        left[0] -= 1
        return write_text(path, text, **options)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ClassroomError, match="No space left on device"):
        course.write(planned)
    assert tree(clone) == before
    assert not any(folder.exists() for folder in planned.folders)


# ------------------------------------------------------------------ the command


def test_the_command_names_files_and_steps(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "plan", partial(course.plan, root=clone))
    done = CliRunner().invoke(app, ["new-exercise", "--course", "03", NAME])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    for words in (
        f"Wrote exercise 3 of chapter {CHAPTER}.",
        f"fxcourse references {CHAPTER}",
        "make build.",
        f"make test ONLY={NAME}",
    ):
        assert words in said
    again = CliRunner().invoke(app, ["new-exercise", "--course", "03", NAME])
    assert again.exit_code == 1 and "Nothing was written. There is already a folder" in " ".join(
        again.output.split()
    )
