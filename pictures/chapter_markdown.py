"""A chapter as Markdown with its outputs, for reading on GitHub, without solutions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbconvert.filters import strip_ansi
from nbformat.notebooknode import NotebookNode

from autograder.builder.paths import ROOT
from autograder.cards.hints import titled
from autograder.exercises import EXERCISES
from autograder.lessons import predictions
from pictures import answers
from pictures.gallery import THEMES, picture_html, two_themes
from pictures.graph_files import GraphPicture, graph_pictures

CHAPTER = "03_manipulation"
PAGE = ROOT / "docs" / "sample" / f"{CHAPTER}.md"
EXERCISE = "retarget"
"""The exercise for which the page shows a wrong attempt, and the card of a right answer."""

LEAD = """\
> **This page is chapter 3 of [torch.fx by doing](../../README.md), with the output of every cell.**
> In the course, it is a notebook. You write the functions, and `check(...)` answers with a card.
> To do it yourself, [install the course](../../README.md), and open `03_manipulation.ipynb`.
>
> Hints and the answers to predictions are folded. The page does not show solutions, but the cells
> of later sections ran with them. For an error, it shows only the message.
"""
TRY = """\
Here is a first try:

```python
{source}
```

The check answers with a card:

```python
check({exercise})
```

{failed}

After one more line, the same check says:

{passed}
"""
_CALL = re.compile(r'(predict|hint|debrief)\("([\w.]+)"')
_GENERATED = re.compile(r"\n+\*This notebook is generated from [^*]+\*\s*$")
_PROGRESS = re.compile(r"\s+See how far you are:\s*$")
_TRAILING = re.compile(r"[ \t]+$", re.M)
_HERE = "Call using an FX-traced Module"
"""FX prints this line after a traceback, followed by the line of its code that failed."""


@dataclass
class Sample:
    """The page and its picture files.

    Attributes:
        page: the text of the Markdown file.
        files: the text of each SVG file, by its path from the page.
    """

    page: str = ""
    files: dict[str, str] = field(default_factory=dict)


def sample_of(given: NotebookNode, solved: NotebookNode) -> Sample:
    """The page for a chapter.

    Args:
        given: the notebook that a learner gets.
        solved: the same notebook in solved form, with outputs and proofs.
    """
    sample = Sample()
    runs = [cell for cell in solved.cells if not cell.metadata.get("fxcourse", {}).get("proof")]
    parts = [
        part
        for cell, run in zip(given.cells, runs, strict=True)
        for part in _parts(cell, run, sample)
    ]
    title, rest = parts[0].split("\n", 1)
    note = "<!-- Made by `make pictures`. Do not edit: change solutions/ instead. -->"
    text = "\n\n".join([note, title, LEAD.strip(), rest.strip(), *parts[1:]])
    sample.page = text + "\n"
    return sample


def _parts(cell: NotebookNode, run: NotebookNode, sample: Sample) -> Iterator[str]:
    """The blocks of Markdown for a cell."""
    if cell.cell_type == "markdown":
        yield _PROGRESS.sub("", _GENERATED.sub("", cell.source))
        return
    call = _CALL.match(cell.source)
    kind = call[1] if call else ""
    if kind == "debrief" or cell.source.strip() == "progress()":
        return
    if cell.source == f"check({EXERCISE})":
        yield _tries()
        return
    yield _fence(cell.source, "python")
    if call and kind == "predict":
        yield _answer(call[2])
    elif call and kind == "hint":
        yield from _hints(call[2])
    elif "nbgrader" not in cell.metadata and not cell.id.startswith("drill-"):
        for output in run.outputs:
            yield from _output(output, sample)


def _tries() -> str:
    source = inspect.getsource(answers.retarget).strip()
    failed, passed = (picture_html(name, PAGE) for name in ("first-try", "second-try"))
    return TRY.format(exercise=EXERCISE, source=source, failed=failed, passed=passed).strip()


def _answer(name: str) -> str:
    """The answer to a prediction in a fold: each option, and why it is right or wrong."""
    asked = predictions()[CHAPTER][name]
    options = [
        f"**{'✓ ' if one.letter == asked.right else ''}{one.letter} · {one.text}**\n\n{one.why}"
        for one in asked.options
    ]
    return _fold("The answer, and why", "\n\n".join(options))


def _hints(name: str) -> Iterator[str]:
    hints = EXERCISES[name].hints
    for number, hint in enumerate(hints, 1):
        yield _fold(*titled(hint, number, len(hints)))


def _output(output: NotebookNode, sample: Sample) -> Iterator[str]:
    """The blocks of Markdown for an output."""
    if output.output_type == "error":
        yield _fence(f"{output.ename}: {strip_ansi(output.evalue)}", "text")
    elif output.output_type == "stream":
        text = _HERE + output.text.partition(_HERE)[2] if _HERE in output.text else output.text
        yield _fence(text, "text")
    else:
        pictures = graph_pictures(output.data.get("text/html", ""))
        text = _fence(output.data["text/plain"], "text")
        if not pictures:
            yield text
            return
        yield "\n".join(_picture(each, sample) for each in pictures)
        yield _fold("The same as text", text)


def _picture(picture: GraphPicture, sample: Sample) -> str:
    number = len(sample.files) // len(THEMES) + 1
    names = {theme: f"{CHAPTER}/graph-{number:02}-{theme}.svg" for theme in THEMES}
    sample.files |= {names[theme]: picture.files[theme] for theme in THEMES}
    return two_themes(names["light"], names["dark"], picture.alt, picture.width)


def _fold(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body.strip()}\n\n</details>"


def _fence(text: str, language: str) -> str:
    """A block of code or output, without the many empty lines that FX prints around code."""
    body = re.sub(r"\n{3,}", "\n\n" if language == "text" else r"\g<0>", _TRAILING.sub("", text))
    return f"```{language}\n{body.strip(chr(10))}\n```"


def write(sample: Sample, page: Path = PAGE) -> None:
    """Write the page and its pictures; remove pictures that it no longer uses."""
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    for name, text in sample.files.items():
        (page.parent / name).write_text(text, encoding="utf-8", newline="\n")
    page.write_text(sample.page, encoding="utf-8", newline="\n")
