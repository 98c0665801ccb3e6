"""Each planned topic of the course has a section that covers it."""

from __future__ import annotations

import pytest

from tests.unit.lessons.topics import Topic, place_of, sections, topics

TO_COME: set[str] = set()
"""Chapters that are not written yet."""


@pytest.mark.parametrize("topic", topics(), ids=lambda topic: topic.name)
def test_a_topic_has_its_section(topic: Topic) -> None:
    if topic.planned:
        assert topic.planned in TO_COME
        return
    found = sections().get(topic.section)
    assert found, f"there is no section {topic.section!r}"
    assert topic.shows or topic.says
    lacking = [(each.chapter, each.lacks(topic)) for each in found]
    assert place_of(topic), lacking
