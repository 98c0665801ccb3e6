"""Makes the book: writes its source into ``build/book/source``, and runs Sphinx on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import nbformat

from autograder.book import docs_pages, errors, pages
from autograder.book.chapter_page import page_of, stub_of
from autograder.book.contents import with_contents
from autograder.book.docs_pages import DOCS
from autograder.book.headings import headings
from autograder.book.links import Links
from autograder.book.pages import ChapterOfBook
from autograder.book.questions import Question, questions
from autograder.builder.paths import BUILD, ROOT
from autograder.core.exercise import Exercise
from autograder.environment.child import python_command

BOOK = BUILD / "book"
WITHOUT_CHAPTERS = BOOK / "pages"

Raises = dict[int, list[tuple[str, str]]]
"""For each question, by number, the exceptions that it shows: type and message."""


class CannotMake(Exception):
    """The book was not made; the message gives the reason and the fix."""


def chapter_of_book(path: Path) -> ChapterOfBook:
    """A chapter of the book, from its solved notebook."""
    from autograder.exercises import of_chapter

    notebook = nbformat.read(path, as_version=4)
    found = tuple(headings(path.stem, notebook))
    return ChapterOfBook(path.stem, notebook, found, of_chapter(path.stem))


def write_source(
    chapters: Sequence[ChapterOfBook],
    folder: Path,
    raised: Raises | None,
) -> None:
    """Write the source for Sphinx.

    Args:
        chapters: in course order.
        folder: its content is removed first.
        raised: the errors of the questions, by number. If None, nothing was executed: chapters
            have only their headings, and the list of error messages is left out.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS / "_static", folder / "_static")
    links = Links([each for chapter in chapters for each in chapter.headings])
    names = [f"chapters/{each.name}.ipynb" for each in chapters]
    for name, text in with_contents(_pages(chapters, raised), names).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(links.linked(text), encoding="utf-8", newline="\n")
    for name, each in zip(names, chapters, strict=True):
        whole = raised is not None
        page = page_of(each.notebook, each.headings, links) if whole else stub_of(each.headings)
        nbformat.write(page, folder / name)


def _pages(chapters: Sequence[ChapterOfBook], raised: Raises | None) -> dict[str, str]:
    """The pages in markdown, by file."""
    asked = [one for one in questions() if one.chapter in {each.name for each in chapters}]
    parts = {
        "cheat_sheets": pages.cheat_sheets(chapters),
        "errors": pages.LEFT_OUT if raised is None else _errors(asked, chapters, raised),
        "questions": pages.questions_of(asked, chapters),
    }
    address = docs_pages.repository()
    written = {
        name: docs_pages.for_the_book(name, text, parts, address)
        for name, text in docs_pages.read_all().items()
    }
    return {**written, **_kinds(chapters, written), "chapters/index.md": pages.map_page(chapters)}


def _errors(asked: Sequence[Question], chapters: Sequence[ChapterOfBook], raised: Raises) -> str:
    """The list of error messages of chapters and questions."""
    found = [one for each in chapters for one in errors.of_chapter(each.notebook, each.headings)]
    for one in asked:
        for kind, message in raised.get(one.number, ()):
            line = errors.first_line(message)
            found.append(errors.Raised(kind, line, f"question-{one.number}", one.text))
    return pages.errors_of(found)


def _kinds(chapters: Sequence[ChapterOfBook], written: Mapping[str, str]) -> dict[str, str]:
    """The pages about kinds of exercises, each with the exercises of that kind."""
    exercises: dict[str, list[tuple[Exercise, ChapterOfBook]]] = {}
    for each in chapters:
        for one in each.exercises:
            name = f"reference/kinds/{one.kind}.md"
            exercises.setdefault(name, []).append((one, each))
    return {name: pages.kind_page(written[name], here) for name, here in exercises.items()}


def what_questions_raise(cache: Path = BUILD / "questions.json") -> Raises:
    """The errors of the questions, by number. Runs them if one was changed since the last time.

    Raises:
        CannotMake: a question could not be run.
    """
    sources = sorted((ROOT / "tests" / "questions").glob("*.py"))
    state = json.dumps([path.read_text(encoding="utf-8") for path in sources])
    if cache.is_file():
        kept = json.loads(cache.read_text(encoding="utf-8"))
        if kept["state"] == state:
            return {int(number): rows for number, rows in kept["raised"].items()}
    try:
        found = errors.of_questions()
    except RuntimeError as error:
        raise CannotMake(str(error)) from None
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text(json.dumps({"state": state, "raised": found}), encoding="utf-8")
    return found


def run_sphinx(builder: str, source: Path, out: Path, *, jobs: int = 1) -> None:
    """Run Sphinx; a warning is an error.

    Args:
        builder: ``html``, or ``gettext`` for catalogues.
        source: the folder that `write_source` wrote.
        out: the folder for the pages; old content is removed.
        jobs: the number of processes that write pages.

    Raises:
        CannotMake: Sphinx had a warning.
    """
    shutil.rmtree(out, ignore_errors=True)
    command = python_command("-m", "sphinx", "-b", builder, "-c", str(DOCS), "-q", "-W")
    command += ["--keep-going", "-j", str(jobs), "-d", str(out.parent / "doctrees" / builder)]
    done = subprocess.run(
        [*command, str(source), str(out)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise CannotMake(f"Sphinx says:\n{done.stderr.strip() or done.stdout.strip()}")


def make(
    notebooks: Iterable[Path],
    raised: Raises | None,
    home: Path = BOOK,
    *,
    jobs: int = 1,
) -> Path:
    """Make the pages of the book.

    Args:
        notebooks: solved chapters in course order; any form of them if nothing was executed.
        raised: the errors of the questions, by number; None if nothing was executed.
        home: the folder of the book's source and pages.
        jobs: the number of processes that write pages.

    Returns:
        The first page.

    Raises:
        CannotMake: Sphinx had a warning.
    """
    write_source([chapter_of_book(path) for path in notebooks], home / "source", raised)
    run_sphinx("html", home / "source", home / "html", jobs=jobs)
    return home / "html" / "index.html"
