"""A verdict as a card: in HTML for a notebook, in plain text everywhere else.

The card fits into the window below its cell: the mistake, advice, the model, and the expected
result. The graph, the code and the parts are folded. Text that a learner wrote, printed or raised
is escaped. Styles are inline; a live card has one script, from `in_view`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from autograder.cards.card_text import card_text
from autograder.cards.in_view import script
from autograder.cards.links import Link, line_of
from autograder.cards.shown_source import MOST_CHARACTERS, shown_source
from autograder.cards.wording import (
    CRASHED,
    NOTEBOOK,
    PRINTED,
    STATUS_LOOKS,
    Parts,
    Place,
    error_to_show,
    fine_print,
    first_finding,
    headline,
    long_results,
    next_step,
    other_findings,
    parts_title,
    picture_note,
    picture_of,
    picture_title,
    printed_title,
    share_word,
    share_worth,
    short_facts,
    stars_and_minutes,
    tried,
    where_to_look,
)
from autograder.core.exercise import Exercise
from autograder.core.verdict import Example, Verdict
from autograder.drawing import html
from autograder.drawing.templates import environment

if TYPE_CHECKING:  # folds import lessons, which must not be where a student's code runs
    from autograder.cards.folds import Fold

__all__ = ["Card", "card_html", "card_text"]

AT_HAND = (
    "`from autograder import failed`: then `failed().run()` calls your code with this case, "
    "`failed().debug()` stops at its first line, and `failed().model` is the model."
)

SOURCE_HEIGHT = 220
"""Maximum height of a model in CSS pixels; a longer one scrolls."""

RESULT_HEIGHT = 88
"""Maximum height of the expected and of the obtained result, in CSS pixels."""


@dataclass(frozen=True)
class Card:
    """A verdict, ready to be displayed.

    Attributes:
        verdict: the judge's verdict.
        exercise: its exercise.
        debrief: whether there is a debrief to show after a pass.
        links: links to continue with.
        folds: hints, or other answers.
        place: where the answer is written.
        live: whether a person has just run the cell, so that the card must scroll into view.
    """

    verdict: Verdict
    exercise: Exercise
    debrief: bool = False
    links: Sequence[Link] = ()
    folds: Sequence[Fold] = ()
    place: Place = NOTEBOOK
    live: bool = False

    def __repr__(self) -> str:
        return card_text(self.verdict, self.exercise, debrief=self.debrief, place=self.place)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        html = card_html(
            self.verdict, self.exercise, here=True, debrief=self.debrief, links=self.links,
            folds=self.folds, place=self.place,
        )  # fmt: skip
        return {"text/html": html + (script() if self.live else ""), "text/plain": repr(self)}


def card_html(
    verdict: Verdict,
    exercise: Exercise,
    *,
    here: bool = False,
    debrief: bool = False,
    links: Sequence[Link] = (),
    folds: Sequence[Fold] = (),
    place: Place = NOTEBOOK,
) -> str:
    """The complete card as HTML.

    Args:
        verdict: the judge's verdict.
        exercise: its exercise.
        here: whether `failed()` returns the case in this notebook.
        debrief: whether there is a debrief to show after a pass.
        links: links to continue with.
        folds: hints, or other answers.
        place: where the answer is written.
    """
    first = first_finding(verdict)
    failed = verdict.status not in ("passed", "not attempted")
    example = verdict.example if failed else None
    others, left = other_findings(verdict)
    cases = {each.case: each for each in verdict.others}
    html: str = _CARD.render(
        look=headline(verdict.status, final=place.final),
        exercise=exercise,
        minutes=stars_and_minutes(exercise).lstrip("★"),
        attempted=verdict.status != "not attempted",
        crashed=CRASHED,
        error=error_to_show(verdict),
        first=first.message if first else "",
        where=where_to_look(verdict),
        example=example,
        fine_print=fine_print(example),
        facts=short_facts(example) if example else [],
        long=[(name, _marked(parts)) for name, parts in long_results(example)] if example else [],
        shown=shown_source(example.source) if example else "",
        height=SOURCE_HEIGHT,
        result_height=RESULT_HEIGHT,
        picture=_picture(example, first.nodes if first else ()) if example else None,
        others=[(finding, cases.get(finding.case)) for finding in others],
        left=left,
        shares=[_share(i, verdict, exercise) for i in range(len(verdict.shares))],
        parts_title=parts_title(verdict, exercise),
        printed=verdict.printed,
        printed_title=printed_title(verdict.printed),
        printed_lines=PRINTED,
        tried=tried(verdict),
        next=next_step(verdict, exercise, debrief=debrief, place=place),
        folds=[(each.summary, Markup(each.html)) for each in folds],
        links=Markup(line_of(links)),
        at_hand=AT_HAND if here and example and example.source.strip() else "",
    )
    return html


def _template() -> Any:
    """Load the template, which escapes everything that is not `Markup`."""
    found = environment(Path(__file__).parent / "templates")
    found.filters |= {
        "rich": lambda text: Markup(html.rich(str(text))),
        "code": lambda text: Markup(html.code(str(text))),
        "block": _block,
        "wrapped": lambda text: Markup(html.wrapped(html.escaped(html.bounded(str(text), 60)))),
    }
    found.globals |= {
        "ink": html.INK, "quiet": html.QUIET, "rule": html.RULE, "paper": html.PAPER,
        "sans": Markup(html.SANS),
    }  # fmt: skip
    return found.get_template("card.html")


def _marked(parts: Parts) -> Markup:
    """A result with a mark on the part that differs, not only by color."""
    before, differs, after = (
        html.escaped(html.bounded(part[:MOST_CHARACTERS], 24, 1_000)) for part in parts
    )
    mark = f"<strong><u>{differs}</u></strong>" if differs else ""
    return Markup(html.wrapped(f"{before}{mark}{after}"))


def _block(text: Any, lines: int = 60) -> Markup:
    return Markup(html.block(str(text), lines=lines))


_CARD = _template()
"""Loaded on import, because where a class is graded no file can be read later."""


def _picture(example: Example, nodes: tuple[str, ...]) -> dict[str, Any] | None:
    """The graphs before and after, or the only one; ``None`` if there is none or drawing fails."""
    try:
        drawn = picture_of(example, nodes)
        if drawn is None:
            return None
        if drawn.note:
            text = Markup(html.block(drawn.text, lines=80))
            title = f"{picture_title(example)}, as text"
            return {"title": title, "note": drawn.missing, "drawn": text, "text": ""}
        shown = Markup(drawn.inline())
    except Exception:  # even with a broken graph, the learner must get the card
        return None
    note = picture_note(example, nodes)
    return {"title": picture_title(example), "note": note, "drawn": shown, "text": drawn.text}


def _share(index: int, verdict: Verdict, exercise: Exercise) -> dict[str, str]:
    share = verdict.shares[index]
    word, status = share_word(share)
    look = STATUS_LOOKS[status]
    return {
        "word": word,
        "icon": look.icon,
        "colour": html.tinted(look.colour),
        "says": share.says,
        "worth": share_worth(share, verdict, exercise),
    }
