"""The exercises of the course, one module a chapter."""

from __future__ import annotations

from autograder.exercise import Exercise
from autograder.syllabus import (
    features,
    interpreter,
    manipulation,
    nodes,
    proxy,
    replace_pattern,
    start,
    tracing,
)

CHAPTERS = (start, tracing, nodes, manipulation, replace_pattern, proxy, interpreter, features)

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise for chapter in CHAPTERS for exercise in chapter.EXERCISES
}


def of_chapter(chapter: str) -> tuple[Exercise, ...]:
    """The exercises of the chapter with that stem, in order."""
    return tuple(e for e in EXERCISES.values() if e.chapter == chapter)
