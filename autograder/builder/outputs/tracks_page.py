"""Generates ``docs/tracks.md``: the tracks, and all chapters with needs and minutes."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.builder.minutes import LINES_A_MINUTE, WORDS_A_MINUTE
from autograder.lessons.course_map import Chapter, CourseMap, Track

_PAGE = """\
# Tracks

<!-- `fxcourse build` generates this page from solutions/ and autograder/lessons/tracks.toml. -->

How much time do you have, and what do you want to do with torch.fx? Choose a track. You can stop at
its end, and continue with another one later.

All times are **estimated**, and nobody was timed: {words} words or {lines} lines of code a minute,
the minutes on each exercise, 3 minutes for a drill and one for a prediction.

| track | time | chapters and sections | you need | it ends with |
|---|---|---|---|---|
{tracks}

{about}

In JupyterLab, the page `index.ipynb` shows how far you are on each track. A track's title leads to
the section where you go on. In a terminal, `fxcourse progress` shows how far you are.

To teach a track, name it when you make the class:

```
fxcourse classroom create my_class --track core
```

A class gets whole chapters, even if the track uses only some of their sections.

## All chapters

A chapter with a letter is a **deep dive**: it goes further into the chapter before it. You can
leave it out. Only two sections of deep dives are needed later: chapter 10 uses section 4b.2, and
chapter 15 uses section 3b.2.

| chapter | afterwards you can | you need | minutes |
|---|---|---|---|
{chapters}
"""


def tracks_text(course: CourseMap) -> str:
    """The text of the page."""
    return _PAGE.format(
        words=WORDS_A_MINUTE,
        lines=LINES_A_MINUTE,
        tracks="\n".join(map(_track_row, course.tracks)),
        about="\n".join(map(_about, course.tracks)),
        chapters="\n".join(_chapter_rows(course.chapters)),
    )


def _track_row(track: Track) -> str:
    content = ", ".join(map(str, track.parts))
    return f"| {track.title} | {track.time} | {content} | {track.needs} | {track.ends} |"


def _about(track: Track) -> str:
    return f"* **{track.title}** (`{track.name}`): {track.about}"


def _chapter_rows(chapters: tuple[Chapter, ...]) -> Iterator[str]:
    for each in chapters:
        title = f"[{each.number} · {each.title}](../course/{each.name}.ipynb)"
        yield f"| {title} | {each.can} | {each.needs} | {each.minutes} |"
