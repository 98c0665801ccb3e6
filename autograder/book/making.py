"""Makes the book: puts its source together in ``build/book/source``, and runs Sphinx on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import nbformat

from autograder.book import errors, pages
from autograder.book.chapter_page import page_of
from autograder.book.headings import headings
from autograder.book.links import Links
from autograder.book.pages import ChapterOfBook
from autograder.book.questions import questions
from autograder.builder.paths import BUILD, ROOT
from autograder.core import extras

DOCS = ROOT / "docs"
BOOK = BUILD / "book"

Raises = dict[int, list[tuple[str, str]]]
"""For each question, by number, the exceptions that it shows: type and message."""


class CannotMake(Exception):
    """The book was not made; the message says why, and what to do."""


def demand_tools() -> None:
    """Ask whether what makes the book is there, before anything takes minutes.

    Raises:
        CannotMake: it is not installed.
    """
    for module in extras.EXTRAS["book"]:
        if not extras.is_installed(module):
            raise CannotMake(extras.how_to_install(module))


def chapter_of_book(path: Path) -> ChapterOfBook:
    """A chapter, from its solved notebook."""
    from autograder.exercises import of_chapter

    notebook = nbformat.read(path, as_version=4)
    found = tuple(headings(path.stem, notebook))
    return ChapterOfBook(path.stem, notebook, found, of_chapter(path.stem))


def write_source(
    chapters: Sequence[ChapterOfBook],
    folder: Path,
    raised: Raises,
) -> None:
    """Write what Sphinx reads.

    Args:
        chapters: in course order.
        folder: it is made new.
        raised: what the questions raise, by number.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for inner in ("chapters", "kinds"):
        (folder / inner).mkdir(parents=True)
    links = Links([each for chapter in chapters for each in chapter.headings])
    for each in chapters:
        page = page_of(each.notebook, each.headings, links)
        nbformat.write(page, folder / "chapters" / f"{each.name}.ipynb")
    for name, text in _pages(chapters, raised).items():
        (folder / name).write_text(links.linked(text), encoding="utf-8", newline="\n")


def _pages(chapters: Sequence[ChapterOfBook], raised: Raises) -> dict[str, str]:
    """The pages in markdown, by file."""
    asked = [one for one in questions() if one.chapter in {each.name for each in chapters}]
    found = [one for each in chapters for one in errors.of_chapter(each.notebook, each.headings)]
    for one in asked:
        for kind, message in raised.get(one.number, ()):
            line = errors.first_line(message)
            found.append(errors.Raised(kind, line, f"question-{one.number}", one.text))
    written = {path.name: pages.read(path) + "\n" for path in sorted(DOCS.glob("*.md"))}
    return {
        **written,
        **_kinds(chapters),
        "map.md": pages.map_page(chapters),
        "cheat_sheets.md": pages.cheat_sheets_page(chapters),
        "questions.md": pages.questions_page(asked, chapters),
        "errors.md": pages.errors_page(found),
    }


def _kinds(chapters: Sequence[ChapterOfBook]) -> dict[str, str]:
    """The pages about kinds of exercises: those of which there is one."""
    all_of_them = [(one, each) for each in chapters for one in each.exercises]
    made, listed = {}, {}
    for procedure in dict.fromkeys(one.procedure for one, _ in all_of_them):
        name = procedure.replace(" ", "_")
        text = pages.read(DOCS / "kinds" / f"{name}.md")
        here = [(one, each) for one, each in all_of_them if one.procedure == procedure]
        made[f"kinds/{name}.md"] = pages.kind_page(text, here)
        listed[name] = (text, len(here))
    return {**made, "kinds/index.md": pages.kinds_page(listed)}


def what_questions_raise(cache: Path = BUILD / "questions.json") -> Raises:
    """What the questions raise, by number. They are run if one was changed since the last time.

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
        source: what `write_source` has written.
        out: where the pages go; it is made new.
        jobs: how many processes write pages.

    Raises:
        CannotMake: Sphinx had a warning.
    """
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-b", builder, "-c", str(DOCS), "-q", "-W"]
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
    raised: Raises,
    home: Path = BOOK,
    *,
    jobs: int = 1,
) -> Path:
    """Make the pages of the book from solved notebooks.

    Args:
        notebooks: in course order.
        raised: what the questions raise, by number.
        home: the folder of the book's source and pages.
        jobs: how many processes write pages.

    Returns:
        The first page.

    Raises:
        CannotMake: Sphinx had a warning.
    """
    write_source([chapter_of_book(path) for path in notebooks], home / "source", raised)
    run_sphinx("html", home / "source", home / "html", jobs=jobs)
    return home / "html" / "index.html"
