"""Generates the pages about kinds of answers from the docstrings of their modules."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from pathlib import Path

from autograder.builder.paths import ROOT
from autograder.exercises import EXERCISES
from autograder.runner import kinds

FOLDER = ROOT / "docs" / "reference" / "kinds"

HEAD = """\
# Kinds of exercises

What does the check of my exercise look at?

What you write differs from exercise to exercise: a pass, an analysis, an interpreter, a model \
that breaks a given pass. Each kind of answer is tested in its own way. These pages say what your \
answer gets, what it must return, and what the check looks at.

| kind | you write |
|---|---|
"""


def kind_pages() -> dict[Path, str]:
    """The page of each kind, and the list of all kinds, the most frequent first."""
    pages = {name: _page(name) for name in kinds.KINDS}
    count = Counter(exercise.kind for exercise in EXERCISES.values())
    titles = {name: page.partition("\n")[0].removeprefix("# ") for name, page in pages.items()}
    leads = {name: page.split("\n\n")[1] for name, page in pages.items()}
    rows = [
        f"| [{titles[name]}]({name}.md) | {leads[name]} |\n"
        for name in sorted(pages, key=lambda name: (-count[name], titles[name]))
    ]
    return {FOLDER / f"{name}.md": page for name, page in pages.items()} | {
        FOLDER / "index.md": HEAD + "".join(rows)
    }


def _page(name: str) -> str:
    """The page of a kind: title, lead, input and result, then the points of the check."""
    text = inspect.getdoc(sys.modules[f"{kinds.__name__}.{name}"]) or ""
    title, *paragraphs, points = text.split("\n\n")
    lead = [" ".join(paragraph.split()) for paragraph in paragraphs]
    check = points.replace("\n  ", " ").rstrip()
    parts = [f"# {title.removesuffix('.')}", *lead, "## How the check tests it", check]
    return "\n\n".join(parts) + "\n"
