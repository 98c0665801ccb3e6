"""What people read outside the chapters is plain English, too: messages, hints, cards, pages.

The builder looks at the chapters; the turns of phrase are the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.builder import paths
from autograder.builder.paths import ROOT
from autograder.builder.plain_english import patterns_in, patterns_in_module, turns_in
from autograder.builder.source import read

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MODULES = sorted((ROOT / "autograder").rglob("*.py"))
WITHOUT_PATTERNS = [page for page in PAGES if page.parent.name != "sample"]  # a chapter's text
THE_LIST = ROOT / "autograder" / "builder" / "plain_english.py"
"""It names what it finds."""

_CODE = re.compile(r"`+[^`]*`+|\bdraw\.\w+")


def texts_in(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a module that are sentences, docstrings aside; with their lines."""
    tree = ast.parse(source)
    skipped = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr):
                skipped.add(id(statement.value))
        if isinstance(node, ast.JoinedStr):
            skipped.update(map(id, node.values))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (v.value if isinstance(v, ast.Constant) else "`x`" for v in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def not_plain(text: str) -> list[str]:
    return [found for found, _ in turns_in(_CODE.sub("`x`", text))]


def test_messages_are_plain_english() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {turn!r} in {text[:80]!r}"
        for path in MODULES
        if path != THE_LIST
        for line, text in texts_in(path.read_text(encoding="utf-8"))
        for turn in not_plain(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_pages_are_plain_english(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    quoted = re.compile(r"\"[^\"]*\"")  # what CONTRIBUTING quotes as bad English
    found = [
        f"{page.name}:{number}: {turn!r}"
        for number, line in enumerate(lines, start=1)
        for turn in not_plain(quoted.sub("", line))
    ]
    assert not found, "\n".join(found)


def test_traps_are_plain_english() -> None:
    traps = sorted((ROOT / "autograder" / "exercises").glob("*/*/trap.md"))
    found = [
        f"{path.parent.name}: {words!r}"
        for path in traps
        for text in [_CODE.sub("`x`", path.read_text(encoding="utf-8"))]
        for words in (*not_plain(text), *(each for each, _ in patterns_in(text)))
    ]
    assert len(traps) > 80 and not found, "\n".join(found)


def test_a_message_that_is_not_plain_is_found() -> None:
    source = 'X = f"The node {1} " "stands in front of its reader."\n'
    ((_, text),) = texts_in(source)
    assert not_plain(text) == ["stands"]


# ------------------------------------------------------------------ the patterns

TITLES = {"Where a NaN begins"}
"""Titles of exercises that only look like a sentence."""


def prose_of(page: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page that are prose, without code and without what it quotes."""
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"\*[^*]+\*|\"[^\"]*\"", "x", _CODE.sub("`x`", line))


@pytest.mark.parametrize("page", WITHOUT_PATTERNS, ids=lambda path: path.name)
def test_pages_have_none_of_the_patterns(page: Path) -> None:
    found = [
        f"{page.name}:{number}: {words!r}: {advice}"
        for number, line in prose_of(page)
        for words, advice in patterns_in(line)
    ]
    assert not found, "\n".join(found)


def test_chapters_have_none_of_the_patterns() -> None:
    found = [
        f"{path.name}:{cell.line}: {words!r} in {text!r}"
        for path in paths.chapters()
        for cell in read(path)[0].cells
        if cell.kind == "markdown"
        for text in _CODE.sub("`x`", cell.source).splitlines()
        for words, _ in patterns_in(text)
    ]
    assert not found, "\n".join(found)


def test_messages_have_none_of_the_patterns() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words!r} in {text[:80]!r}"
        for path in MODULES
        if path != THE_LIST
        for line, text in texts_in(path.read_text(encoding="utf-8"))
        if text not in TITLES
        for words, _ in patterns_in(_CODE.sub("`x`", text))
    ]
    assert not found, "\n".join(found)


PACKAGES = sorted(
    path for top in ("autograder", "tests") for path in (ROOT / top).iterdir() if path.is_dir()
) + [ROOT / name for name in ("benchmarks", "hunts", "pictures")]


@pytest.mark.parametrize("folder", PACKAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_docstrings_and_comments_have_none_of_the_patterns(folder: Path) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words!r}: {advice}"
        for path in sorted(folder.rglob("*.py"))
        for line, words, advice in patterns_in_module(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_the_patterns_of_a_module_are_found() -> None:
    source = (
        '"""What comes out."""\n\ndef f():\n    """A name."""\n    return 1  # which is no name\n'
        'X = "behind"\n"""Whose it is, anew."""\n'
    )
    found = [(line, words) for line, words, _ in patterns_in_module(source)]
    assert sorted(found) == [
        (1, "What"),
        (1, "comes out"),
        (5, "is no n"),
        (7, "Whose"),
        (7, "anew"),
    ]
