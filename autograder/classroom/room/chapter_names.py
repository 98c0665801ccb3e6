"""Matches a chapter against the words by which people name it."""

from __future__ import annotations


def is_called(chapter: str, word: str) -> bool:
    """Whether `word` is this chapter's name, number or topic: ``3``, ``9b``, ``tracing``."""
    number, _, topic = chapter.partition("_")
    word = word.rstrip("/")
    return word in (chapter, topic) or word.zfill(len(number)) == number
