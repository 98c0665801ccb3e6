"""The answer key of `remove_dropout`."""

from __future__ import annotations

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    leaves_as_they_are,
    no_dropout_left,
    nothing_for_dropout,
    without_dropout,
)

KEY = AnswerKey((*PASS, no_dropout_left, leaves_as_they_are, nothing_for_dropout), without_dropout)
