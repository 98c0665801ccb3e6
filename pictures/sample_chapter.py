"""Makes the sample chapter: executes it in solved form, and writes it as Markdown."""

from __future__ import annotations

import nbformat

from autograder.builder.notebook_forms import build
from autograder.builder.outputs.solved_chapter import write_solved
from autograder.builder.paths import SOLUTIONS
from pictures.chapter_markdown import CHAPTER, PAGE, sample_of, write


def take() -> None:
    """Write the page. This needs no browser, because the pictures of graphs are SVG files."""
    source = SOLUTIONS / f"{CHAPTER}.py"
    print(f"Executing {CHAPTER} (a minute) ...")
    solved = nbformat.read(write_solved(source), as_version=4)
    sample = sample_of(build(source), solved)
    write(sample)
    size = sum(map(len, sample.files.values())) + len(sample.page)
    print(f"{PAGE.name}: {len(sample.files)} graph pictures, {size // 1000} KB in all")
