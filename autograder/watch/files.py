"""The exercises of a chapter as Python files: written once, and never overwritten afterwards."""

from __future__ import annotations

import ast
import os
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from autograder.workspace.cells import grade_id, is_answer
from autograder.workspace.location import STATE
from autograder.workspace.update import GIVEN, CannotUpdate

FOLDER = "exercises"
"""The folder in a workspace with the files, one folder per chapter."""

WIDTH = 96
_NOTEBOOK_FUNCTIONS = {"ask_me", "check", "debrief", "drill", "hint", "predict", "progress"}
_FOLD = re.compile(r"^</?details>\n+|</?summary>|\n*^</details>$", re.M)
_ITEM = re.compile(r"(?:[*-]|\d+\.) +")


@dataclass(frozen=True)
class ExerciseFile:
    """One exercise as a file.

    Attributes:
        name: the exercise.
        heading: its heading, such as ``Exercise 3.1 `retarget` · Call another function``.
        path: the file in which the learner writes.
        given: the text of the file in this version of the course.
    """

    name: str
    heading: str
    path: Path
    given: str

    @property
    def chapter(self) -> str:
        """The chapter's stem."""
        return self.path.parent.name

    @property
    def line(self) -> int:
        """The line of the answer in the file; 1 if there is none.

        It is found even if the file is not valid Python. The last definition is the answer.
        """
        definition = rf"(?:(?:async +)?def|class) +{self.name}\b|{self.name} *[:=]"
        text = _read(self.path) or ""
        found = [match.start() for match in re.finditer(rf"^(?:{definition})", text, re.M)]
        return text.count("\n", 0, found[-1]) + 1 if found else 1

    @property
    def is_untouched(self) -> bool:
        """Whether the learner has not changed the file."""
        return _read(self.path) == self.given


def exercises_of(folder: Path, chapter: str, notebook: NotebookNode) -> list[ExerciseFile]:
    """The exercises of a chapter, in its order.

    Args:
        folder: the folder for the files, such as a workspace.
        chapter: the chapter's stem, such as ``03_manipulation``.
        notebook: the chapter as released.

    Raises:
        CannotUpdate: the chapter has no exercises, or its first code is not Python.
    """
    answers = [cell for cell in notebook.cells if is_answer(cell)]
    if not answers:
        raise CannotUpdate(f"{chapter} has no exercises.")
    try:
        given = given_code(notebook)
    except SyntaxError as error:
        raise CannotUpdate(
            f"The first code cell of {chapter} is not Python, so its exercises cannot be files "
            f"(line {error.lineno}: {error.msg})."
        ) from None
    cards = {str(cell.get("id")): cell.source for cell in notebook.cells}
    found = []
    for cell in answers:
        name = grade_id(cell)
        card = cards.get(f"card-{name}", "")
        path = folder / FOLDER / chapter / f"{name}.py"
        found.append(ExerciseFile(name, heading(card), path, file_text(card, given, cell.source)))
    return found


def is_begun(folder: Path, one: ExerciseFile) -> bool:
    """Whether the learner has changed the file of an exercise, in any version of the course."""
    mine = _read(one.path)
    return mine is not None and mine not in (one.given, _read(_given_path(folder, one)))


def give_out(folder: Path, exercises: Sequence[ExerciseFile]) -> list[str]:
    """Write files that do not exist, and update files that the learner has not changed.

    Args:
        folder: the folder for the files, such as a workspace.
        exercises: the exercises of a chapter.

    Returns:
        A sentence for each changed file whose task has changed too.

    Raises:
        CannotUpdate: the folder cannot be written to.
    """
    news = []
    try:
        for one in exercises:
            _fetch(folder, one)
            was = _given_path(folder, one)
            before, mine = _read(was), _read(one.path)
            if before == one.given and mine is not None:
                continue
            if mine is None or mine == before:
                _write(one.path, one.given)
            elif before is not None and mine != one.given:
                beside = one.path.with_suffix(".new.txt")
                _write(beside, one.given)
                news.append(
                    f"The task of {one.name} has changed. {one.path.name} was not changed. The new "
                    f"text is in {beside.name}, next to it."
                )
            _write(was, one.given)
    except OSError as error:
        raise CannotUpdate(
            f"{error.filename or folder} cannot be written ({error.strerror}). No answer was "
            "changed. Use a folder in which you can write: fxcourse watch 03 FOLDER"
        ) from None
    return news


def _given_path(folder: Path, one: ExerciseFile) -> Path:
    """The copy of a file as it was given to the learner."""
    return folder / STATE / GIVEN / FOLDER / one.path.name


def _fetch(folder: Path, one: ExerciseFile) -> None:
    """Move the file of an exercise that was in another chapter before."""
    if one.path.exists():
        return
    for other in sorted((folder / FOLDER).glob(f"*/{one.path.name}")):
        one.path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(other, one.path)
        return


# ------------------------------------------------------------------ the text


def heading(card: str) -> str:
    """The heading of a card, without the marks of Markdown."""
    return card.strip().partition("\n")[0].lstrip("# ")


def file_text(card: str, given: str, stub: str) -> str:
    """A file: the task as comments, the imports of the chapter, and the empty answer.

    Args:
        card: the text of the card, in Markdown.
        given: the code that the chapter begins with.
        stub: the cell for the answer.
    """
    return f"{as_comments(card)}\n\n{given.strip()}\n\n\n{stub.strip()}\n"


def as_comments(card: str) -> str:
    """Markdown as comments. Paragraphs are filled; code and tables are not changed."""
    lines: list[str] = []
    paragraph = ""
    in_code = False

    def end() -> None:
        nonlocal paragraph
        item = _ITEM.match(paragraph.lstrip())
        indent = " " * (len(paragraph) - len(paragraph.lstrip()) + (len(item[0]) if item else 0))
        lines.extend(
            textwrap.wrap(
                paragraph, WIDTH, subsequent_indent=indent,
                break_long_words=False, break_on_hyphens=False,
            )
        )  # fmt: skip
        paragraph = ""

    for line in _FOLD.sub("", card).strip().splitlines():
        fence = line.lstrip().startswith("```")
        in_code ^= fence
        if in_code or fence or line.lstrip().startswith("|") or not line.strip():
            end()
            lines.append(line)
        elif line.startswith("#"):
            end()
            lines.append(line.lstrip("# "))
        elif _ITEM.match(line.lstrip()) or not paragraph:
            end()
            paragraph = line
        else:
            paragraph = f"{paragraph.rstrip()} {line.strip()}"
    end()
    return "\n".join(f"# {line}".rstrip() for line in lines)


def given_code(notebook: NotebookNode) -> str:
    """The imports and definitions of a chapter's first cell, without lines that print or draw."""
    first = next(cell.source for cell in notebook.cells if cell.cell_type == "code")
    lines = first.splitlines()
    for node in reversed(ast.parse(first).body):
        here = slice(node.lineno - 1, node.end_lineno)
        if isinstance(node, ast.ImportFrom) and node.module == "autograder":
            kept = [alias for alias in node.names if alias.name not in _NOTEBOOK_FUNCTIONS]
            lines[here] = [ast.unparse(ast.ImportFrom(node.module, kept, 0))] if kept else []
        elif isinstance(node, ast.Expr) and _shows(node.value):
            del lines[here]
    return "\n".join(lines).strip()


def _shows(expression: ast.expr) -> bool:
    """Whether a line only prints or draws something."""
    name = expression.func if isinstance(expression, ast.Call) else None
    return isinstance(name, ast.Name) and name.id in {"print", "draw", "display"}


# ------------------------------------------------------------------ on disk


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", errors="replace").replace("\r\n", "\n")
    except OSError:
        return None


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
