"""The wording of a card, shared by its HTML and its text form."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from autograder.core.exercise import Exercise
from autograder.core.node_label import one_line, shorten
from autograder.core.verdict import Example, Finding, Share, Status, Verdict
from autograder.drawing.diff import compare
from autograder.drawing.draw import Picture, pair
from autograder.drawing.html import clean
from autograder.drawing.sketch import sketch

OTHERS = 4
INPUTS = 6
CALLS = 6  # lines of the call of the answer
PRINTED = 200  # lines of printed output
EMPHASIS = re.compile(r"(?<![\w`*])(\*\*?)(\w[^*`]*)\1(?![\w*])")  # not the `*args` of code


@dataclass(frozen=True)
class StatusLook:
    """Icon, word and color of a status, so that color alone never distinguishes two."""

    icon: str
    word: str
    colour: str


STATUS_LOOKS = {
    "passed": StatusLook("✓", "Passed", "#00654c"),
    "failed": StatusLook("✗", "Not right yet", "#b3360b"),
    "crashed": StatusLook("!", "Crashed", "#6b2fa0"),
    "not attempted": StatusLook("○", "Not attempted yet", "#4b5868"),
    "not judged": StatusLook("?", "Not judged", "#4b5868"),
}


CRASHED = "Your code raised an exception before it returned a result:"


def number(value: float) -> str:
    """A number of points as a person writes it: ``2``, ``1.5``, ``0.33``."""
    return f"{round(value, 2):g}"


def points(value: float) -> str:
    """``1 point``, ``2.5 points``."""
    return f"{number(value)} point{'' if number(value) == '1' else 's'}"


def stars_and_minutes(exercise: Exercise) -> str:
    """``★★ · 15 minutes · 4 points``."""
    minutes = f"{exercise.minutes} minute{'' if exercise.minutes == 1 else 's'}"
    return f"{'★' * exercise.stars} · {minutes} · {points(exercise.points)}"


def tried(verdict: Verdict) -> str:
    """The number of cases that were tried; empty if the answer was not tried to the end."""
    if not verdict.cases or verdict.status not in ("passed", "failed"):
        return ""
    if verdict.status == "passed":
        held = "it held" if verdict.cases == 1 else "each of them held"
        count = f"{verdict.cases} case{'' if verdict.cases == 1 else 's'}"
        said = (f"It was tried on {count}, and {held}.", verdict.remark, not_followed(verdict))
        return " ".join(filter(None, said))
    where = verdict.example.case if verdict.example else ""
    shown = f" The case shown here is “{where}”." if where else ""
    count = f"It was tried on {verdict.cases} case{'' if verdict.cases == 1 else 's'}.{shown}"
    return " ".join(filter(None, (count, not_followed(verdict))))


def not_followed(verdict: Verdict) -> str:
    """The note about code that the judge cannot follow, in an exercise that forbids a tool."""
    if not verdict.unread:
        return ""
    names = ", ".join(f"`{name}`" for name in verdict.unread)
    return (
        f"This exercise forbids a tool, and part of the code cannot be followed ({names}): that "
        "costs no points, but a person may want to look at it."
    )


@dataclass(frozen=True)
class Place:
    """Sentences of a card that depend on where an answer is written and checked.

    Attributes:
        passed: the next step after a pass.
        compare: how to see other right answers.
        stub: the next step for a stub.
        again: the next step for an answer that is not right.
        final: whether the answer was handed in, so that the learner cannot change it.
    """

    passed: str
    compare: str
    stub: str
    again: str
    final: bool = False


GRADED = Place(passed="", compare="", stub="", again="", final=True)

NOTEBOOK = Place(
    passed="You can go on to the next section.",
    compare='`debrief("{name}")` shows other right answers.',
    stub="`{name}` still raises `NotImplementedError`, as it did when you opened the notebook. "
    "Write your answer in the cell above, run that cell, then run this one again. If you do not "
    'know where to start, `hint("{name}")` shows a hint when you ask for it.',
    again="Change your code, run its cell, then run this one again. If you are stuck, try "
    '`hint("{name}")`.',
)

ANSWER_CELL = replace(
    NOTEBOOK,
    again='Change your code, and run this cell again. If you are stuck, try `hint("{name}")`.',
)


def with_solution(place: Place) -> Place:
    """A place whose failing cards say how to see a solution."""
    again = place.again.partition(" If you are stuck")[0]
    return replace(place, again=f'{again} `solution("{{name}}")` shows a solution.')


FINAL = {
    "not attempted": "`{name}` was handed in without an answer.",
    "not judged": "This is neither right nor wrong so far. A person looks at it.",
}
"""The last sentence of a card for work that was handed in."""


def headline(status: str, *, final: bool) -> StatusLook:
    """The look of a status; for a final grade, its word has no *yet*."""
    look = STATUS_LOOKS[status]
    return replace(look, word=look.word.removesuffix(" yet")) if final else look


FILE = replace(
    NOTEBOOK,
    stub="`{name}` still raises `NotImplementedError`. Write your answer, and run it again. If you "
    'do not know where to start, `hint("{name}")` shows a hint when you ask for it.',
    again='Change your code, and run it again. If you are stuck, try `hint("{name}")`.',
)
"""For a file that the learner runs, and for an interactive Python without cells."""


def next_step(
    verdict: Verdict, exercise: Exercise, *, debrief: bool = False, place: Place = NOTEBOOK
) -> str:
    """The last sentence of a card."""
    if place.final:
        return FINAL.get(verdict.status, "").replace("{name}", exercise.name)
    if verdict.is_unchecked:
        return "Then restart the kernel, and run this check again."
    if verdict.status == "not judged":
        return (
            "This is neither right nor wrong so far. When your work is graded, a person looks at "
            "it. Write it with another operation, and it can be judged at once."
        )
    said = place.again
    if verdict.status == "passed":
        said = f"{place.passed} {place.compare}" if debrief else place.passed
    elif verdict.findings and verdict.findings[0].code == "unreached":
        said = f"{verdict.findings[0].message} Remove that line. {place.again}"
    elif verdict.status == "not attempted":
        said = place.stub
    return said.replace("{name}", exercise.name)


def error_to_show(verdict: Verdict) -> str:
    """The error and its place; ``""`` if the first finding reports it."""
    if verdict.status != "crashed" or (verdict.findings and not verdict.findings[0].tells_error):
        return ""
    return verdict.error.strip()


def first_finding(verdict: Verdict) -> Finding | None:
    """The finding to show first, unless the card shows an error that says the same."""
    if not verdict.findings or error_to_show(verdict):
        return None
    return verdict.findings[0]


def where_to_look(verdict: Verdict) -> str:
    """The advice below the first finding, or below the error that says the same."""
    return verdict.findings[0].advice if verdict.findings else ""


def fine_print(example: Example | None) -> str:
    """The sentence of the task's fine print that an answer overlooked.

    Its emphasis is removed, because a card has none within a line.
    """
    says = EMPHASIS.sub(r"\2", example.fine_print) if example else ""
    return f"“{says}”" if says else ""


def short_facts(example: Example) -> list[tuple[str, tuple[str, ...], bool]]:
    """The facts that fit on a line each: name, lines, and whether they are code."""
    facts: list[tuple[str, tuple[str, ...], bool]] = []
    if example.call.strip():
        lines = [shorten(one_line(line), 200) for line in example.call.strip().splitlines()]
        facts.append(("Called as", (*lines[:CALLS], *["…"] * (len(lines) > CALLS)), True))
    if example.inputs:
        lines = [shorten(one_line(line), 200) for line in example.inputs[:INPUTS]]
        left = len(example.inputs) - len(lines)
        facts.append(("With inputs", (*lines, f"and {left} more") if left else tuple(lines), False))
    for name, value in (("Expected", example.expected), ("Obtained", example.obtained)):
        if value.strip() and not _long(example):
            facts.append((name, (one_line(value),), True))
    return facts


Parts = tuple[str, str, str]
"""A text in three parts: the same as in another, the first difference, and the rest."""


def long_results(example: Example) -> list[tuple[str, Parts]]:
    """Expected and obtained results that need several lines, with their first difference."""
    if not _long(example):
        return []
    results = (("Expected", example.expected), ("Obtained", example.obtained))
    results_there = [(name, value) for name, value in results if value.strip()]
    if len(results_there) < 2:
        return [(name, (value, "", "")) for name, value in results_there]
    at = _first_difference(example.expected, example.obtained)
    return [(name, _divided(value, at)) for name, value in results_there]


def _first_difference(one: str, other: str) -> int:
    """The position of the first item that differs, comparing whole words and numbers."""
    pairs = enumerate(zip(one, other, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    return max((found.end() for found in re.finditer(r"[\s,([{]", one[:at])), default=0)


BEFORE = 60
"""Characters shown before the first difference of long texts; those before them are left out."""


def _divided(text: str, at: int) -> Parts:
    differs = re.match(r"'[^']*'|\"[^\"]*\"|[^\s,)\]}]+|.?", text[at:], re.S)
    end = at + len(differs[0] if differs else "")
    before = text[:at] if at <= 2 * BEFORE else f"… {text[at - BEFORE : at]}"
    return before, text[at:end], text[end:]


def _long(example: Example) -> bool:
    return any("\n" in v.strip() or len(v) > 90 for v in (example.expected, example.obtained))


def printed_title(printed: str) -> str:
    """The number of lines that an answer printed, including lines that were cut."""
    lines = clean(printed).strip("\n").split("\n")
    more = re.fullmatch(r"… and ([\d,]+) more lines", lines[-1])
    count = len(lines) + (int(more[1].replace(",", "")) - 2 if more else 0)
    return f"Your code printed {count:,} line{'' if count == 1 else 's'}"


def other_findings(verdict: Verdict) -> tuple[list[Finding], int]:
    """The findings to show after the first, and the number of those that are left out."""
    others = verdict.further()
    return others[:OTHERS], max(0, len(others) - OTHERS)


def share_word(share: Share) -> tuple[str, Status]:
    """The result of a part in words, and the status with the same look."""
    if share.held:
        return "holds", "passed"
    return ("does not hold yet", "failed") if share.tried else ("not tried yet", "not attempted")


def share_worth(share: Share, verdict: Verdict, exercise: Exercise) -> str:
    """The points that a part of the exercise is worth."""
    total = sum(s.weight for s in verdict.shares)
    return points(exercise.points * share.weight / total) if total else ""


def points_line(verdict: Verdict, exercise: Exercise) -> str:
    """``Points: 1 of 4.``"""
    return f"Points: {number(verdict.score * exercise.points)} of {number(exercise.points)}."


def parts_title(verdict: Verdict, exercise: Exercise) -> str:
    """The title of the fold with the parts: how many hold, and their points."""
    held, count = sum(share.held for share in verdict.shares), len(verdict.shares)
    parts = f"Parts: {held} of {count} hold{'s' if held == 1 else ''}."
    note = shares_note(verdict)
    return f"{parts} {points_line(verdict, exercise)}" + (f" {note}" if note else "")


def shares_note(verdict: Verdict) -> str:
    """The reason why a part that holds may earn nothing yet."""
    if verdict.shares and not verdict.shares[0].held and any(s.held for s in verdict.shares):
        return "The first part must hold before the others count."
    return ""


def picture_of(example: Example, nodes: Collection[str]) -> Picture | None:
    """The picture of an example's graphs, if it has any."""
    if example.before and example.after:
        return pair(sketch(example.before), sketch(example.after), focus=nodes)
    boxes = example.before or example.after
    return Picture([("", sketch(boxes))], focus=nodes) if boxes else None


def picture_title(example: Example) -> str:
    """The title of an example's picture."""
    if example.before and example.after:
        return "Before and after"
    return "The traced model" if example.before else "What your code returned"


def picture_note(example: Example, nodes: Collection[str]) -> str:
    """The explanation of an example's picture."""
    before, after = compare(example.before, example.after)
    notes = []
    if before and after:
        marked = any(box.mark for box in (*before, *after))
        notes.append("Left the traced model, right what your code returned")
        notes[0] += ". What differs is marked." if marked else ": the same nodes."
    if any(box.name in nodes for box in (*before, *after)):
        notes.append("The message above is about what has an exclamation mark.")
    return " ".join(notes)
