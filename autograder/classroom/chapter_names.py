"""Which chapter a word means."""

from __future__ import annotations


def is_called(chapter: str, word: str) -> bool:
    """Whether `word` means this chapter: it is its name, or its number, as in ``3`` or ``9b``."""
    number = chapter.partition("_")[0]
    return word == chapter or word.zfill(len(number)) == number
