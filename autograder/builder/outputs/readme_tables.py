"""Tables of README that are generated from the course's map: tracks, and chapters."""

from __future__ import annotations

import re

from autograder.builder.paths import ROOT
from autograder.lessons.course_map import CourseMap, Track

README = ROOT / "README.md"

SHOWN = ("taste", "essentials", "core", "whole")
"""The tracks that README shows; docs/tracks.md has all of them."""

_REGION = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def readme_text(course: CourseMap) -> str:
    """The text of README with its generated tables."""
    parts = {"tracks": _tracks(course), "chapters": _chapters(course)}
    text = README.read_text(encoding="utf-8")
    return _REGION.sub(lambda found: f"{found[1]}{parts[found[2]]}\n{found[3]}", text)


def _tracks(course: CourseMap) -> str:
    rows = [_track(track) for track in course.tracks if track.name in SHOWN]
    return "\n".join(["| track | time | chapters | it ends with |", "|---|---|---|---|", *rows])


def _track(track: Track) -> str:
    return f"| {track.title} | {track.time} | {track.content} | {track.ends} |"


def _chapters(course: CourseMap) -> str:
    rows = [
        f"| {chapter.number} {chapter.title} | {chapter.can} | {chapter.minutes} |"
        for chapter in course.chapters
        if not chapter.is_deep_dive
    ]
    heads = ["| chapter | afterwards you can | minutes |", "|---|---|---|"]
    return "\n".join([*heads, *rows])
