"""An exception, as a card says it."""

from __future__ import annotations

import pytest

from autograder.judge.error_words import error_text


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("Use a tuple instead.", "`TypeError: Use a tuple instead`"),
        ("One. Two.", "`TypeError: One. Two`"),
        ("and so on ...", "`TypeError: and so on ...`"),
        ("no stop", "`TypeError: no stop`"),
        ("", "`TypeError`"),
    ],
)
def test_the_sentence_around_it_has_the_full_stop(message: str, text: str) -> None:
    assert error_text({"type": "TypeError", "message": message}) == text
