"""The overview of the index: the next section, tracks, and chapters; as HTML and as plain text.

The HTML is small, because a learner's notebook stores it: styles are not repeated needlessly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.cards.in_view import script_for_links
from autograder.drawing.html import INK, PAPER, QUIET, RULE, SANS, clean, escaped
from autograder.environment.versions import help_page
from autograder.lessons.course_map import Chapter, Section, Track
from autograder.lessons.standing import Standing

SPECIAL_FROM = 4
"""The tracks from this index on are specialities, which are folded."""

BAR_WIDTH = 90  # CSS pixels
BAR_LENGTH = 20  # characters
_DONE, _LEFT = "#0f8a66", "#80808055"
"""Colors of a bar in all themes, because JupyterLab drops CSS variables until a cell has run."""

FOLDER = """\
This folder is yours, and your work stays here. In JupyterLab's terminal (File, New, Terminal),
<code>fxcourse update</code> gets new versions of the chapters and keeps your work, and
<code>fxcourse reset 03 add_to_mul</code> restores the answer cell of an exercise.<br>
On another day, run the first code cell of a chapter, and then the cells of the exercise."""


HELP = """\
An exercise has hints: <code>hint("add_to_mul")</code>. You may leave it out and come back later.
In a class, ask your instructor. If something does not work, run <code>fxcourse doctor</code> in a
terminal: it often says how to fix it. For all other questions, {page} says where to ask."""

FRESHEN = "If this page is not up to date, click it and press Ctrl+Enter."


@dataclass(frozen=True)
class Overview:
    """The overview of the course for one learner.

    Attributes:
        standing: the learner's progress.
        live: whether it is in the learner's own JupyterLab, where links may scroll.
    """

    standing: Standing
    live: bool = False

    def __repr__(self) -> str:
        return overview_text(self.standing)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        shown = overview_html(self.standing) + (script_for_links() if self.live else "")
        return {"text/html": shown, "text/plain": repr(self)}


# ------------------------------------------------------------------ plain text


def overview_text(standing: Standing) -> str:
    """The overview as plain text."""
    here = standing.place()
    parts = ["\n".join(head_text(standing))]
    if standing.course.tracks:
        parts.append("\n".join(_tracks_text(standing)))
    if here:
        parts.append("\n".join(_sections_text(standing, *here)))
    parts.append("\n".join(_chapters_text(standing)))
    return clean("\n\n".join(parts))


def head_text(standing: Standing) -> Iterator[str]:
    """The number of passed exercises, and the section to continue with."""
    yield _passed_of(standing)
    here = standing.place()
    if here is None:
        yield "You have done all of them."
    else:
        chapter, section = here
        yield f"{_call(standing)}: {_named(section)} ({_size(section)}), in {chapter.name}.ipynb"


def _tracks_text(standing: Standing) -> Iterator[str]:
    tracks = standing.course.tracks
    title = max(len(track.title) for track in tracks)
    time = max(len(track.time) for track in tracks)
    for track in tracks:
        done, every = _counts(standing, track.exercises)
        yield (
            f"{track.title:<{title}}  {track.time:>{time}}  {_bar_text(done, every)}  "
            f"{done} of {every}"
        )
    yield "The times are estimated."


def _sections_text(standing: Standing, chapter: Chapter, here: Section) -> Iterator[str]:
    yield f"Chapter {chapter.number} · {_words(chapter.title)}"
    for section in chapter.sections:
        done = " · done" if standing.is_done(section) else ""
        yield f"{'>' if section == here else ' '} {_named(section)} · {_size(section)}{done}"


def _chapters_text(standing: Standing) -> Iterator[str]:
    titles = [f"{each.number} · {_words(each.title)}" for each in standing.course.chapters]
    wide = max(map(len, titles), default=0)
    for title, chapter in zip(titles, standing.course.chapters, strict=True):
        done, every = _counts(standing, chapter.exercises)
        yield (
            f"{title:<{wide}}  {chapter.minutes:>4} min  {_bar_text(done, every)}  "
            f"{done} of {every}{'  (deep dive)' if chapter.is_deep_dive else ''}"
        )


def exercises_text(standing: Standing) -> str:
    """All exercises as plain text, one line for each chapter; a sign marks the passed ones."""
    return "\n".join(
        f"{chapter.number:>3}  " + "  ".join(_signed(standing, name) for name in chapter.exercises)
        for chapter in standing.course.chapters
    )


def _signed(standing: Standing, exercise: str) -> str:
    return f"{_sign(standing, exercise)} {exercise}"


def _bar_text(done: int, every: int) -> str:
    full = BAR_LENGTH * done // max(every, 1)
    return f"[{'#' * full}{'.' * (BAR_LENGTH - full)}]"


# ------------------------------------------------------------------ HTML


def overview_html(standing: Standing) -> str:
    """The complete overview as HTML."""
    frame = (
        f"{SANS};font-size:14px;line-height:1.6;background:{PAPER};color:{INK};border:1px solid "
        f"{RULE};border-radius:6px;padding:10px 16px 12px;margin:4px 0;max-width:900px;"
        "box-sizing:border-box;overflow-x:auto"
    )
    here = standing.place()
    parts = [_head_html(standing), *_tracks_html(standing)]
    if here:
        parts.append(_sections_html(standing, *here))
    parts.append(_chapters_html(standing, here[0] if here else None))
    parts += [_exercises_html(standing), _fold("How this folder works", FOLDER), _help_html()]
    parts.append(f'<div style="color:{QUIET};font-size:13px">All times are estimated.</div>')
    return f'<div style="{frame}">{"".join(parts)}</div>'


def _head_html(standing: Standing) -> str:
    """The link to the next section, and the number of passed exercises."""
    here = standing.place()
    passed = f"<div>{_passed_of(standing)} {FRESHEN}</div>"
    if here is None:
        return f"<strong>You have done all of them.</strong>{passed}"
    chapter, section = here
    link = _link(f"{section.number} {section.title}", chapter.name, section.cell)
    return (
        f'<div style="font-size:17px"><strong>{_call(standing)}: {link}</strong> · '
        f"{_size(section)}</div>{passed}"
    )


def _tracks_html(standing: Standing) -> Iterator[str]:
    """A bar for each track; the specialities are folded."""
    tracks = standing.course.tracks
    if not tracks:
        return
    main, special = tracks[:SPECIAL_FROM], tracks[SPECIAL_FROM:]
    yield _heading("Tracks: each title leads to the section where you go on")
    yield "".join(_track_html(standing, track) for track in main)
    if special:
        rows = "".join(_track_html(standing, track) for track in special)
        yield _fold(f"{len(special)} specialities", rows)


def _track_html(standing: Standing, track: Track) -> str:
    done, every = _counts(standing, track.exercises)
    place = standing.place_on(track)
    title = _link(track.title, place[0].name, place[1].cell) if place else _html(track.title)
    what = f"<strong>{title}</strong> · {track.time} · {done} of {every} · {track.content}"
    return f"<div>{_bar(done, every)}{what}</div>"


def _sections_html(standing: Standing, chapter: Chapter, here: Section) -> str:
    rows = []
    for section in chapter.sections:
        link = _link(f"{section.number} {section.title}", chapter.name, section.cell)
        link = f"<strong>▸ {link}</strong>" if section == here else link
        done = " · ✓ done" if standing.is_done(section) else ""
        rows.append(f"<div>{link} · {_size(section)}{done}</div>")
    title = f"Chapter {chapter.number} · {chapter.title}"
    return _heading(title) + "".join(rows)


def _chapters_html(standing: Standing, here: Chapter | None) -> str:
    """The other chapters, one row each; the deep dives are folded."""
    others = [each for each in standing.course.chapters if each is not here]
    if not others:
        return ""
    dives = [each for each in others if each.is_deep_dive]
    rows = "".join(_chapter_html(standing, each) for each in others if not each.is_deep_dive)
    if dives:
        folded = "".join(_chapter_html(standing, each) for each in dives)
        dive = "1 deep dive" if len(dives) == 1 else f"{len(dives)} deep dives, each"
        rows += _fold(f"{dive} further into one chapter", folded)
    return _heading("Other chapters" if here else "Chapters") + rows


def _chapter_html(standing: Standing, chapter: Chapter) -> str:
    done, every = _counts(standing, chapter.exercises)
    link = _link(f"{chapter.number} · {chapter.title}", chapter.name)
    bar = "" if chapter.is_deep_dive else _bar(done, every)
    return f"<div>{bar}{link} · {chapter.minutes} min · {done} of {every}</div>"


def _exercises_html(standing: Standing) -> str:
    """All exercises, chapter by chapter, each linked to its task."""
    rows = []
    for chapter in standing.course.chapters:
        links = (
            f"{_sign(standing, name)}\N{NO-BREAK SPACE}"
            f"{_link(f'`{name}`', chapter.name, f'card-{name}')}"
            for name in chapter.exercises
        )
        rows.append(f"<div>{chapter.number}: {', '.join(links)}</div>")
    return _fold(f"All {len(standing.exercises)} exercises", "".join(rows))


def _heading(text: str) -> str:
    return f'<div style="margin-top:8px;color:{QUIET};font-weight:600">{_html(text)}</div>'


def _fold(summary: str, body: str) -> str:
    return f'<details><summary style="cursor:pointer">{_html(summary)}</summary>{body}</details>'


def _help_html() -> str:
    name = "the page <strong>Get help</strong>"
    address = help_page()
    link = f'<a href="{address}"><u>{name}</u></a>' if address else f"{name} (docs/help.md)"
    return _fold("Where to get help", HELP.format(page=link))


def _bar(done: int, every: int) -> str:
    """A bar of fixed width at the beginning of a row, which also gives the numbers in words."""
    full = 100 * done // max(every, 1)
    fill = f"linear-gradient(90deg,{_DONE} {full}%,{_LEFT} {full}%)" if done else _LEFT
    fill = _DONE if full == 100 else fill
    style = (
        f"display:inline-block;width:{BAR_WIDTH}px;height:8px;border-radius:4px;margin-right:10px;"
        f"background:{fill}"
    )
    return f'<span style="{style}"></span>'


def _link(text: str, chapter: str, cell: str = "") -> str:
    """A link to a notebook or one of its cells, underlined so that it differs not only in color."""
    target = f"{chapter}.ipynb" + (f"#cell-id={cell}" if cell else "")
    return f'<a href="{target}"><u>{_html(text)}</u></a>'


# ------------------------------------------------------------------ words


def _call(standing: Standing) -> str:
    return "Go on" if standing.is_begun else "Begin here"


def _passed_of(standing: Standing) -> str:
    done, every = _counts(standing, standing.exercises)
    return f"You have passed {done} of {every} exercises."


def _counts(standing: Standing, exercises: Sequence[str]) -> tuple[int, int]:
    return standing.passed(exercises), len(exercises)


def _named(section: Section) -> str:
    return f"{section.number} {_words(section.title)}"


def _size(section: Section) -> str:
    """``24 min · 1 exercise``."""
    count = len(section.exercises)
    exercises = [f"{count} exercise{'' if count == 1 else 's'}"] if count else []
    return " · ".join([f"{section.minutes} min", *exercises])


def _sign(standing: Standing, exercise: str) -> str:
    if standing.is_passed(exercise):
        return "✓"
    return "◐" if standing.is_settled(exercise) else "○"


def _words(markdown: str) -> str:
    """A title without the backticks of markdown."""
    return markdown.replace("`", "")


def _html(markdown: str) -> str:
    """A title as HTML: its only markdown is code in backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped(markdown))
