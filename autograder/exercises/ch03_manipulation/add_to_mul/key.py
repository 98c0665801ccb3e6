"""The answer key of `add_to_mul`."""

from __future__ import annotations

from autograder.authoring.key import (
    PASS,
    AddsByMultiplying,
    AnswerKey,
    additions_replaced,
    exchanging,
)

KEY = AnswerKey((*PASS, additions_replaced), exchanging(AddsByMultiplying))
