"""A verdict as a card: in HTML for a notebook, in plain text for everything else.

What a learner wrote, printed or raised is escaped; no style or script stands outside the
elements themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autograder.cards.card_text import card_text
from autograder.cards.wording import (
    CRASHED,
    FULL_PRINT,
    OUTCOMES,
    PRINTED,
    error_to_show,
    first_finding,
    long_results,
    next_step,
    other_findings,
    picture_note,
    picture_of,
    picture_title,
    points_line,
    share_word,
    share_worth,
    shares_note,
    short_facts,
    stars_and_minutes,
    tried,
    where_to_look,
)
from autograder.core.exercise import Exercise
from autograder.core.verdict import Example, Verdict
from autograder.drawing.html import (
    INK,
    PAPER,
    QUIET,
    RULE,
    SANS,
    block,
    clean,
    code,
    escaped,
    folded,
    image,
    rich,
)

__all__ = ["Card", "card_html", "card_text"]


@dataclass(frozen=True)
class Card:
    """A verdict, ready to be displayed.

    Attributes:
        verdict: what the judge says.
        exercise: what it is about.
    """

    verdict: Verdict
    exercise: Exercise

    def __repr__(self) -> str:
        return card_text(self.verdict, self.exercise)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": card_html(self.verdict, self.exercise), "text/plain": repr(self)}


def card_html(verdict: Verdict, exercise: Exercise) -> str:
    """The card as HTML, complete in itself."""
    colour = OUTCOMES[verdict.status].colour
    frame = (
        f"{SANS};font-size:14px;line-height:1.5;background:{PAPER};color:{INK};"
        f"border:1px solid {RULE};border-left:6px solid {colour};border-radius:6px;"
        "padding:10px 16px 12px 14px;margin:4px 0;max-width:900px;box-sizing:border-box;"
        "overflow-x:auto"
    )
    body = "".join(_parts(verdict, exercise))
    return f'<div style="{frame}">{_heading(verdict, exercise)}{body}</div>'


def _heading(verdict: Verdict, exercise: Exercise) -> str:
    look = OUTCOMES[verdict.status]
    badge = (f"display:inline-block;background:{look.colour};color:#ffffff;border-radius:11px;"
             "padding:1px 11px 1px 9px;font-weight:600;margin-right:10px")  # fmt: skip
    quiet = f"color:{QUIET};font-size:13px"
    return (
        f'<div style="margin:0 0 4px 0"><span style="{badge}">{look.icon}&nbsp; {look.word}</span>'
        f"<strong>{code(exercise.name)}</strong> "
        f"<span>{escaped(exercise.title)}</span> "
        f'<span style="{quiet}">&nbsp;{escaped(stars_and_minutes(exercise))}</span></div>'
    )


def _parts(verdict: Verdict, exercise: Exercise) -> Iterator[str]:
    if verdict.status != "not attempted":
        if error_to_show(verdict):
            yield _paragraph(CRASHED) + block(verdict.error, lines=12)
        yield _findings(verdict)
        yield _paragraph(rich(tried(verdict)))
        if verdict.status != "passed" and verdict.example is not None:
            first = first_finding(verdict)
            yield _example(verdict.example, first.nodes if first else ())
        if verdict.shares:
            yield _shares(verdict, exercise)
    if verdict.printed.strip():
        yield _printed(verdict.printed)
    yield _paragraph(rich(next_step(verdict, exercise)), top=8)


def _findings(verdict: Verdict) -> str:
    out = []
    first = first_finding(verdict)
    if first:
        out.append(_paragraph(rich(first.message), bold=True))
    look = where_to_look(verdict)
    if look:
        out.append(_paragraph(f"<strong>Where to look.</strong> {rich(look)}"))
    others, left = other_findings(verdict)
    items = [rich(finding.message) for finding in others] + [f"and {left} more"] * bool(left)
    if items:
        rows = "".join(f'<li style="margin:1px 0">{item}</li>' for item in items)
        out.append(_label("Also found") + f'<ul style="margin:0 0 0 20px;padding:0">{rows}</ul>')
    return "".join(out)


def _example(example: Example, nodes: tuple[str, ...]) -> str:
    out = []
    if example.source.strip():
        out.append(_label("The smallest case that breaks it") + block(example.source))
    out.append(_facts(example))
    for name, value in long_results(example):
        out.append(_label(name) + block(value, lines=24))
    return "".join(out) + _picture(example, nodes)


def _facts(example: Example) -> str:
    """What fits on a line each, as a small table."""
    cell = f"padding:1px 12px 1px 0;border:0;background:none;color:{INK};text-align:left"
    side = f"{cell};color:{QUIET};font-size:12.5px;font-weight:600;vertical-align:baseline"
    rows = [
        f'<tr style="background:none"><td style="{side};white-space:nowrap">{escaped(name)}</td>'
        f'<td style="{cell}">{"<br>".join(code(v) if is_code else escaped(v) for v in values)}'
        "</td></tr>"
        for name, values, is_code in short_facts(example)
    ]
    return _table(rows, top=8) if rows else ""


def _picture(example: Example, nodes: tuple[str, ...]) -> str:
    """The graphs before and after, or the one there is; if drawing fails, nothing is lost."""
    from autograder.drawing.render import shown_width

    try:
        drawn = picture_of(example, nodes)
        if drawn is None:
            return ""
        text = block(drawn.text, lines=80)
        if drawn.note:
            return _label(f"{picture_title(example)}, as text") + text
        shown = image(drawn.png(), drawn.alt, shown_width(drawn.page))
    except Exception:  # a broken graph must not cost the learner the card
        return ""
    note = _paragraph(escaped(picture_note(example, nodes)), quiet=True)
    return _label(picture_title(example)) + note + shown + folded("The same as text", text)


def _shares(verdict: Verdict, exercise: Exercise) -> str:
    cell = (f"padding:2px 10px 2px 0;border:0;background:none;color:{INK};text-align:left;"
            "vertical-align:baseline")  # fmt: skip
    rows = []
    for share in verdict.shares:
        word, status = share_word(share)
        held = OUTCOMES[status]
        mark = f'<span style="color:{held.colour};font-weight:600">{held.icon}</span>'
        rows.append(
            f'<tr style="background:none"><td style="{cell}">{mark} {word}</td>'
            f'<td style="{cell}">{rich(share.says)}</td>'
            f'<td style="{cell};color:{QUIET}">{escaped(share_worth(share, verdict, exercise))}'
            "</td></tr>"
        )
    table = _table(rows, top=2)
    note = shares_note(verdict)
    line = escaped(points_line(verdict, exercise)) + (f" {escaped(note)}" if note else "")
    if not any(share.held for share in verdict.shares):
        return folded(f"Parts: none of {len(verdict.shares)} holds yet", table) + _paragraph(
            line, quiet=True
        )
    return _label("Parts") + table + _paragraph(line, quiet=True)


def _printed(printed: str) -> str:
    shown = block(printed, lines=PRINTED)
    count = clean(printed).strip("\n").count("\n") + 1
    if count <= FULL_PRINT:
        return _label("Your code printed") + shown
    return folded(f"Your code printed {count} lines", shown)


def _table(rows: list[str], top: int) -> str:
    style = f"border-collapse:collapse;border:0;margin:{top}px 0 0 0;font-size:13.5px"
    return f'<table style="{style};background:none"><tbody>{"".join(rows)}</tbody></table>'


def _label(text: str) -> str:
    style = (f"margin:9px 0 0 0;color:{QUIET};font-size:12.5px;font-weight:600")  # fmt: skip
    return f'<div style="{style}">{escaped(text)}</div>'


def _paragraph(inner: str, *, bold: bool = False, quiet: bool = False, top: int = 3) -> str:
    if not inner:
        return ""
    style = f"margin:{top}px 0 0 0;color:{QUIET if quiet else INK}"
    style += ";font-size:13px" if quiet else ""
    style += ";font-weight:600" if bold else ""
    return f'<div style="{style}">{inner}</div>'
