"""Turns a question with folded answers into one in which the reader picks a letter.

In a chapter's source, a prediction is a markdown cell: ``**Predict the result.**`` and a question,
then a ``<details>`` for each option. The explanation of the right one begins with "Right".
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.builder.problems import Problem
from autograder.builder.source import Cell
from autograder.lessons import Option, Prediction

_PREDICT = re.compile(r"^\*\*Predict\b", re.M)
_DETAILS = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.S)
_RIGHT = re.compile(r"Right\b")
_TAG = re.compile(r"</?(?!details\b|summary\b)[a-z][^<>]*>")
_SAME_IN_MARKDOWN = {"code": "`", "em": "*", "strong": "**"}
_MOST = 6


@dataclass(frozen=True)
class Parts:
    """The parts of a cell with a prediction.

    Attributes:
        lead: the prose up to the end of the question.
        question: only the question, from ``**Predict``.
        options: the text and the explanation of each option, in markdown.
        rest: the prose after the options.
    """

    lead: str
    question: str
    options: tuple[tuple[str, str], ...]
    rest: str


def is_prediction(cell: Cell) -> bool:
    """Whether a cell asks for a prediction."""
    return cell.kind == "markdown" and not cell.tag and bool(_PREDICT.search(cell.source))


def parts_of(cell: Cell) -> Parts:
    """Split a valid prediction into its parts; see `predictions_are_sound`."""
    found = list(_DETAILS.finditer(cell.source))
    start = _PREDICT.search(cell.source)
    assert start is not None and found
    return Parts(
        lead=cell.source[: found[0].start()].rstrip(),
        question=cell.source[start.start() : found[0].start()].strip(),
        options=tuple((_markdown(one[1].strip()), _markdown(one[2].strip())) for one in found),
        rest=cell.source[found[-1].end() :].strip("\n"),
    )


def prediction(parts: Parts, chapter: str, number: int, proof: str = "") -> Prediction:
    """The prediction, with its options in an order that does not reveal the right one.

    Args:
        parts: of a valid prediction.
        chapter: the chapter's name, such as ``03_manipulation``.
        number: the prediction's number in its chapter, counted from 1.
        proof: code that asserts the right option.
    """
    asked = f"{chapter}\n{parts.question}"
    mixed = sorted(parts.options, key=lambda option: _hash(f"{asked}\n{option[0]}"))
    options = [
        Option(letter, *option)
        for letter, option in zip(string.ascii_lowercase, mixed, strict=False)
    ]
    (right,) = (option.letter for option in options if _RIGHT.match(option.why))
    mark = _hash("\n".join([asked, *(option.text for option in options)]))[:10]
    return Prediction(f"{chapter.split('_')[0]}.{number}", right, tuple(options), mark, proof)


def question_source(parts: Parts, asked: Prediction) -> str:
    """The markdown cell that a learner gets: the question, and the options with their letters."""
    rows = [f"* **{option.letter}** · {option.text}" for option in asked.options]
    return "\n".join([parts.lead, "", *rows])


def call_source(asked: Prediction, letter: str = "?") -> str:
    """The cell in which a learner picks a letter."""
    return f'predict("{asked.name}", "{letter}")  # {asked.letters}'


def predictions_are_sound(cell: Cell) -> Iterator[Problem]:
    """A prediction has a question and several options, and one of them is right."""
    asked = list(_PREDICT.finditer(cell.source)) if cell.kind == "markdown" else []
    if not asked:
        yield from _within_a_line(cell)
        return
    line = _line(cell, asked[0].start())
    options = list(_DETAILS.finditer(cell.source))
    if cell.tag:
        yield Problem(line, f"A {cell.tag} cell asks for a prediction.", "Give it its own cell.")
    if len(asked) > 1:
        place = _line(cell, asked[1].start())
        yield Problem(place, "This cell asks for a second prediction.", "Give it its own cell.")
    if not 2 <= len(options) <= _MOST:
        advice = "Write <details><summary>option</summary>, why, </details> for each."
        message = f"This prediction has {len(options)} options, and not 2 to {_MOST}."
        yield Problem(line, message, advice)
    yield from _which_is_right(cell, line, options)
    yield from _between_options(cell, options)
    for option in options:
        yield from _one_option(cell, option)


def _within_a_line(cell: Cell) -> Iterator[Problem]:
    """A question that begins within a line: it would count as prose, with its answers visible."""
    found = re.search(r"\*\*Predict\b", cell.source) if cell.kind == "markdown" else None
    if found and _DETAILS.search(cell.source):
        message = "A prediction begins in the middle of a line, and would be taken for prose."
        yield Problem(_line(cell, found.start()), message, "Begin a line with '**Predict'.")


def _which_is_right(cell: Cell, line: int, options: list[re.Match[str]]) -> Iterator[Problem]:
    right = [option for option in options if _RIGHT.match(option[2].strip())]
    if len(right) != 1 and options:
        yield Problem(
            line,
            f"{len(right) or 'No'} option{'s' * (len(right) != 1)} of this prediction "
            f"{'are' if len(right) != 1 else 'is'} right.",
            "Begin the explanation of the right option, and of no other, with 'Right'.",
        )


def _between_options(cell: Cell, options: list[re.Match[str]]) -> Iterator[Problem]:
    """Text between options, which would be lost, and options that are not closed."""
    for one, other in zip(options, options[1:], strict=False):
        between = cell.source[one.end() : other.start()]
        if between.strip():
            advice = "Move it above the first option or below the last."
            yield Problem(_line(cell, one.end()), "There is text between two options.", advice)
    rest = _DETAILS.sub("", cell.source)
    if re.search(r"</?(details|summary)\b", rest):
        advice = "Write <details><summary>option</summary>, why, </details>."
        yield Problem(cell.line, "An option of this prediction is not closed.", advice)


def _one_option(cell: Cell, option: re.Match[str]) -> Iterator[Problem]:
    line = _line(cell, option.start())
    if not option[1].strip() or not option[2].strip():
        yield Problem(line, "An option says nothing, or is not explained.", "Write both.")
    unknown = [tag for tag in _TAG.findall(option[0]) if tag.strip("</>") not in _SAME_IN_MARKDOWN]
    if unknown:
        advice = "Cards show markdown without HTML: write it as markdown."
        yield Problem(line, f"This option holds '{unknown[0]}'.", advice)


def _markdown(text: str) -> str:
    """Replace the HTML tags that have an equivalent in markdown."""
    for tag, sign in _SAME_IN_MARKDOWN.items():
        text = re.sub(rf"</?{tag}>", sign, text)
    return text


def _line(cell: Cell, place: int) -> int:
    return cell.line + 1 + cell.source.count("\n", 0, place)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
