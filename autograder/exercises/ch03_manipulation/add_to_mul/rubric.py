"""What must come of `add_to_mul`."""

from __future__ import annotations

from autograder.judge.adds_by_multiplying import AddsByMultiplying
from autograder.judge.answer_key import AnswerKey
from autograder.judge.oracles import exchanging
from autograder.rules.edits import additions_replaced
from autograder.rules.passes import PASS

KEY = AnswerKey((*PASS, additions_replaced), exchanging(AddsByMultiplying))
