"""Generates ``autograder/lessons/NN_topic.json``: the texts of a chapter shown after an answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from autograder.builder.card_headings import Card
from autograder.builder.drills import drill_of
from autograder.builder.notebook_forms import unfolded
from autograder.builder.source import read
from autograder.lessons import unreadable


def lesson_text(chapter_path: Path, cards: Sequence[Card] | None = None) -> str:
    """The text of a chapter's lesson file; equal chapters give equal text.

    Args:
        chapter_path: a file such as ``solutions/03_manipulation.py``.
        cards: its exercises in course order; by default those in its folder.

    Raises:
        BuildRefused: the chapter breaks a rule; the message names file and line.
    """
    made, _ = unfolded(chapter_path, cards)
    rows = {}
    for asked in made.predictions:
        row = {key: value for key, value in asdict(asked).items() if value != ""}
        rows[row.pop("name")] = row
    debriefs = {
        name: {key: unreadable(text) for key, text in asdict(debrief).items()}
        for name, debrief in made.debriefs.items()
    }
    drills = {}
    for cell in read(chapter_path)[0].tagged("drill"):
        told = asdict(drill_of(cell))
        name = told.pop("name")
        drills[name] = {key: unreadable(text) for key, text in told.items()}
    lesson = {"predictions": rows, "drills": drills, "debriefs": debriefs}
    return json.dumps(lesson, indent=1, ensure_ascii=False) + "\n"
