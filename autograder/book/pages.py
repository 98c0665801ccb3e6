"""Pages and parts of pages generated from the chapters, such as the map and cheat sheets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nbformat.notebooknode import NotebookNode

from autograder.book.errors import Raised
from autograder.book.headings import Heading
from autograder.book.questions import Question
from autograder.core.exercise import Exercise
from autograder.lessons.course_map import is_deep_dive

_ROW = re.compile(r"^\| \*\*(?P<name>[^*]+)\*\* \| (?P<text>.*) \|$", re.M)
_PROMISE = re.compile(r"^\*\*(.+)\*\*$", re.M)
_MINUTES = re.compile(r"about (\d+) minutes")
_FOLDED = (
    "Nothing is given away: answers of predictions, solutions and debriefs are folded. Open a fold "
    "when you have an answer of your own."
)
_SHEET = "Cheat sheet"
LEFT_OUT = (
    "*The list is left out: `fxcourse book --pages` executes nothing. `fxcourse book` has it.*"
)
_AFTER_SHEET = re.compile(r"\s*See how far you are:|^\*\*(?:Not taught here|Sources)", re.M)


@dataclass(frozen=True)
class ChapterOfBook:
    """A chapter with the content for pages.

    Attributes:
        name: the notebook, such as ``03b_effects``.
        notebook: in solved form.
        headings: its headings.
        exercises: its exercises in order.
    """

    name: str
    notebook: NotebookNode
    headings: tuple[Heading, ...]
    exercises: tuple[Exercise, ...]

    @property
    def title(self) -> str:
        """The title, such as ``3b · Probes, dead code and side effects``."""
        return self.headings[0].text

    @property
    def label(self) -> str:
        """The label of the page."""
        return self.headings[0].label

    @property
    def is_deep_dive(self) -> bool:
        """Whether it is a deep dive into another chapter."""
        return is_deep_dive(self.name)

    def section(self, bare: str) -> Heading | None:
        """The section with this heading, given without number and minutes."""
        return next((each for each in self.headings if each.bare == bare), None)


def map_page(chapters: Sequence[ChapterOfBook]) -> str:
    """The map of the course: the purpose of each chapter, and its requirements."""
    parts = ["# The map of the course", _totals(chapters), _FOLDED, _glance(chapters)]
    for each in chapters:
        first = each.notebook.cells[0].source
        rows = dict(_ROW.findall(first))
        promise = _PROMISE.search(first)
        minutes = _MINUTES.search(rows.get("Time", ""))
        below = each.is_deep_dive and any(not one.is_deep_dive for one in chapters)
        head = f"{'###' if below else '##'} [{each.title}](#{each.label})"
        facts = [
            f"*{minutes[1]} minutes*" if minutes else "",
            "*a deep dive*" if each.is_deep_dive else "",
        ]
        needs = f"You need {rows['You need']}." if rows.get("You need") else ""
        asked = [f"* {_link(one)} {'★' * one.stars} {one.title}" for one in each.exercises]
        parts += [head, " · ".join(filter(None, facts)), promise[1] if promise else "", needs]
        parts += ["\n".join(asked)]
    return _page(parts)


def _glance(chapters: Sequence[ChapterOfBook]) -> str:
    """All chapters in a table, each with its deep dives."""
    rows = ["| chapter | minutes | exercises | deep dives |", "|---|---|---|---|"]
    for each in chapters:
        family = [one for one in chapters if one.name[:2] == each.name[:2]]
        if each is not family[0]:
            continue  # a deep dive is in the row of its chapter
        minutes = _MINUTES.search(each.notebook.cells[0].source)
        named = ", ".join(f"[{_cell(one.title)}](#{one.label})" for one in family[1:])
        asked = " ".join("★" * one.stars for one in each.exercises)
        title = f"[{_cell(each.title)}](#{each.label})"
        rows.append(f"| {title} | {minutes[1] if minutes else ''} | {asked} | {named} |")
    return "\n".join(rows)


def _totals(chapters: Sequence[ChapterOfBook]) -> str:
    exercises = [one for each in chapters for one in each.exercises]
    main = sum(not each.is_deep_dive for each in chapters)
    return (
        f"{main} chapters build on each other from top to bottom. {len(chapters) - main} deep "
        f"dives go further into one of them. There are {len(exercises)} exercises, with "
        f"{sum(one.points for one in exercises)} points. One star is a warm-up, four are "
        "open-ended. In a notebook, `progress()` shows how far you are."
    )


def cheat_sheets(chapters: Sequence[ChapterOfBook]) -> str:
    """The cheat sheets of all chapters."""
    parts = []
    for each in chapters:
        sheet = each.section(_SHEET)
        if sheet:
            parts += [f"## [{each.title}](#{sheet.label})", _below(each, sheet)]
    return _page(parts)


def _below(chapter: ChapterOfBook, heading: Heading) -> str:
    """The prose of a cell below a heading, up to the next heading."""
    lines = chapter.notebook.cells[heading.cell].source.split("\n")
    later = [each.line for each in chapter.headings if each.cell == heading.cell]
    end = min((line for line in later if line > heading.line), default=len(lines))
    text = "\n".join(lines[heading.line + 1 : end])
    return _AFTER_SHEET.split(text)[0].strip()


def questions_of(asked: Sequence[Question], chapters: Sequence[ChapterOfBook]) -> str:
    """Questions by chapter, each with the code that shows symptom and cure."""
    parts = []
    for each in chapters:
        here = [one for one in asked if one.chapter == each.name]
        if here:
            parts.append(f"## [{each.title}](#{each.label})")
        parts += [_asked(one, each) for one in here]
    return _page(parts)


def _asked(one: Question, chapter: ChapterOfBook) -> str:
    place = chapter.section(one.section)
    answer = f"Answered in [{place.place}](#{place.label})." if place else ""
    fold = f"<details><summary>Symptom and cure of question {one.number}</summary>"
    code = f"{fold}\n\n```python\n{one.code}\n```\n\n</details>"
    head = f"(question-{one.number})=\n### {one.text}"
    fixed = f" PyTorch {one.until} has fixed it." if one.until else ""
    return f"{head}\n\n{answer} Asked at {one.source}.{fixed}\n\n{code}"


def errors_of(raised: Iterable[Raised]) -> str:
    """Error messages, by the name of the exception, and the section that explains each."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for one in raised:
        if one.message:
            places = found.setdefault(one.type, {}).setdefault(one.message, {})
            places.setdefault(one.label, one.place)
    parts = []
    for name in sorted(found):
        rows = [
            f"| {literal(message)} | {_places(places)} |"
            for message, places in sorted(found[name].items())
        ]
        parts += [f"## `{name}`", "\n".join(["| it says | explained in |", "|---|---|", *rows])]
    return _page(parts)


def kind_page(text: str, exercises: Sequence[tuple[Exercise, ChapterOfBook]]) -> str:
    """A page about one kind of exercise, with a list of these exercises."""
    rows = [
        f"| {_link(one)} | {_cell(one.title)} | {'★' * one.stars} | {one.minutes} | "
        f"[{_cell(chapter.title)}](#{chapter.label}) |"
        for one, chapter in exercises
    ]
    head = "| exercise | task | stars | minutes | chapter |\n|---|---|---|---|---|"
    return _page([text, "## Exercises of this kind", "\n".join([head, *rows])])


def literal(text: str) -> str:
    """A text as code in a markdown table."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{_cell(text)}{pad}{fence}"


def _link(one: Exercise) -> str:
    return f"[`{one.name}`](#exercise-{one.name.lower()})"


def _places(places: Mapping[str, str]) -> str:
    return "; ".join(f"[{_cell(text)}](#{label})" for label, text in places.items())


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, parts)) + "\n"
