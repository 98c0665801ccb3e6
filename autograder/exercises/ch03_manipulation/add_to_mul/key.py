"""What must come of `add_to_mul`."""

from __future__ import annotations

from autograder.authoring.key import (
    PASS,
    AddsByMultiplying,
    AnswerKey,
    additions_replaced,
    exchanging,
)

KEY = AnswerKey((*PASS, additions_replaced), exchanging(AddsByMultiplying))

TRAP = """\
A call with `alpha`. `torch.add(a, b, alpha=2)` is `a + 2 * b`, so it is not a plain sum and must
stay. With `alpha=1` it is one, and then `alpha` must go, because `torch.mul` does not take it."""
"""What many answers get wrong; told after a pass."""
