"""Catalogues for a translation: texts of the pages, found by Sphinx, and texts of the package.

``exercises.pot`` has the titles, aspects and hints of exercises. ``cards.pot`` has the texts in the
code of `autograder.cards`; ``findings.pot`` the judge's messages about an answer, its advice, and
common mistakes. Values in them are in braces, as ``{name}``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from autograder.book.making import run_sphinx
from autograder.builder.paths import ROOT
from autograder.core.exercise import Exercise

CARDS = ROOT / "autograder" / "cards"
JUDGED = ("judge/*.py", "rules/*.py", "grading.py", "exercises/**/key*.py")
"""Files with the findings about answers, relative to the package's folder."""
ASKED = "exercises/*/*/*.py"
"""Files of exercises, whose cases give their own advice, as ``advice=``."""
TRAPS = "exercises/*/*/trap.md"
"""The traps of debriefs."""
_SENTENCE = re.compile(r"[A-Za-z]{2,}[^A-Za-z]* [^A-Za-z]*[A-Za-z]{2,}")
_VALUE = re.compile(r"\{[^}]*\}")
_MARKUP = re.compile(r"[<>;\\]|^\w+:")
_PATTERN = re.compile(r"\(\?|\\[bdsw]")
_IN_TEMPLATE = re.compile(r'"([A-Z][^"<>;]*)"|<strong>([^<{]+)</strong>')

Message = tuple[str, str]
"""A text and its place: a file, or an exercise with the part of it."""


def write_all(home: Path) -> int:
    """Write the catalogues of a book whose source exists into its folder ``gettext``.

    Returns:
        The number of messages.

    Raises:
        CannotMake: Sphinx had a warning.
    """
    from autograder.exercises import EXERCISES

    folder = home / "gettext"
    run_sphinx("gettext", home / "source", folder)
    write(folder / "exercises.pot", of_exercises(EXERCISES.values()))
    write(folder / "cards.pot", of_cards())
    write(folder / "findings.pot", of_findings())
    return sum(len(messages) for messages in read_all(folder).values())


def of_exercises(exercises: Iterable[Exercise]) -> Iterator[Message]:
    """Title, aspects and hints of exercises."""
    for one in exercises:
        yield one.title, f"{one.name}: title"
        yield from ((aspect.says, f"{one.name}: {aspect.key}") for aspect in one.all_aspects)
        yield from ((hint, f"{one.name}: hint {n}") for n, hint in enumerate(one.hints, 1))


def of_cards(folder: Path = CARDS) -> Iterator[Message]:
    """Texts of cards, read from their code and their template."""
    yield from _sentences_in(folder.glob("*.py"), lambda tree: [tree], _MARKUP)
    for path in sorted(folder.glob("templates/*.html")):
        for found in _IN_TEMPLATE.findall(path.read_text(encoding="utf-8")):
            yield "".join(found).strip(), path.relative_to(ROOT).as_posix()


def of_findings(folder: Path = ROOT / "autograder") -> Iterator[Message]:
    """Texts about answers: of the judge, its rules, and each exercise's key and cases."""
    for pattern in JUDGED:
        yield from _sentences_in(folder.glob(pattern), lambda tree: [tree], _PATTERN)
    yield from _sentences_in(folder.glob(ASKED), _advice, _PATTERN)
    for path in sorted(folder.glob(TRAPS)):
        yield path.read_text(encoding="utf-8").strip(), path.relative_to(ROOT).as_posix()


def _advice(tree: ast.AST) -> list[ast.AST]:
    return [part.value for part in ast.walk(tree)
            if isinstance(part, ast.keyword) and part.arg == "advice"]  # fmt: skip


def _sentences_in(
    paths: Iterable[Path],
    parts: Callable[[ast.AST], Iterable[ast.AST]],
    no_text: re.Pattern[str],
) -> Iterator[Message]:
    """The sentences in some parts of the code of files, except those that match `no_text`."""
    for path in sorted(paths):
        if path.name.startswith("canary"):
            continue  # test submissions, whose results no reader sees
        for part in parts(ast.parse(path.read_text(encoding="utf-8"))):
            for text in _texts(part):
                if _SENTENCE.search(_VALUE.sub("", text)) and not no_text.search(text):
                    yield text.strip(), path.relative_to(ROOT).as_posix()


def write(path: Path, messages: Iterable[Message]) -> None:
    """Write messages as a catalogue; equal messages become one, with all their places."""
    catalog = Catalog(project="fxcourse")
    for text, place in messages:
        catalog.add(text, auto_comments=[place])
    with path.open("wb") as file:
        write_po(file, catalog, width=100)


def read_all(folder: Path) -> dict[str, list[str]]:
    """The messages of each catalogue in a folder and its subfolders, by relative path."""
    found = {}
    for path in sorted(folder.rglob("*.pot")):
        with path.open("rb") as file:
            messages = [str(each.id) for each in read_po(file) if each.id]
        found[path.relative_to(folder).with_suffix("").as_posix()] = messages
    return found


def _texts(tree: ast.AST) -> Iterator[str]:
    """The strings in code, except docstrings and other strings that are statements."""
    notes = {id(part.value) for part in ast.walk(tree) if isinstance(part, ast.Expr)}
    inner = {
        id(value)
        for part in ast.walk(tree)
        if isinstance(part, ast.JoinedStr)
        for value in part.values
    }
    for part in ast.walk(tree):
        if id(part) in notes or id(part) in inner:
            continue
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.JoinedStr):
            yield "".join(map(_piece, part.values))


def _piece(part: ast.expr) -> str:
    if isinstance(part, ast.FormattedValue):
        return "{" + ast.unparse(part.value) + "}"
    return str(part.value) if isinstance(part, ast.Constant) else ""
