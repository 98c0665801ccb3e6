"""`numbers_syllabus` with one of its exercises moved to another chapter."""

from __future__ import annotations

from dataclasses import replace

from tests.support.numbers import numbers_syllabus

EXERCISES = numbers_syllabus.EXERCISES | {
    "half": replace(numbers_syllabus.EXERCISES["half"], chapter="08_fractions")
}
