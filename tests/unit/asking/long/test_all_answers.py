"""All right answers: nine of ten that can be asked about get two questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from autograder.asking.choice import ASKED
from autograder.asking.client import Client
from autograder.builder.outputs.own_questions import NOT_ASKED
from tests.checks.answer_cells import right_cells
from tests.exercises import folders

SHARE, MOST_NOT_ASKED = 0.9, 8


def test_nine_of_ten_answers_get_two_questions(total: Callable[[str, int], None]) -> None:
    assert len(NOT_ASKED) <= MOST_NOT_ASKED
    asked: Counter[str] = Counter()
    fewer: list[str] = []
    client = Client()
    try:
        for name in (name for name in folders() if name not in NOT_ASKED):
            for style, code in right_cells(name).items():
                reply = client.ask(name, code)
                asked[name] += len(reply.questions)
                total("questions about right answers", len(reply.questions))
                total("right answers that were asked about", 1)
                if len(reply.questions) < ASKED:
                    fewer.append(f"{name}: {style}: {reply.why}")
    finally:
        client.stop()
    answers = sum(len(right_cells(name)) for name in asked)
    assert len(fewer) <= (1 - SHARE) * answers, "\n".join(fewer)
    assert not [name for name, count in asked.items() if not count]
