"""Each question's symptom and solution in today's PyTorch, and the section that answers it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.questions import QUESTIONS, Question, questions, table


@pytest.mark.parametrize("asked", questions(), ids=lambda asked: asked.show.__name__)
def test_symptom_and_cure(asked: Question) -> None:
    torch.manual_seed(0)
    if asked.is_asked:
        asked.show()
    else:
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            asked.show()


@pytest.mark.parametrize("asked", questions(), ids=lambda asked: asked.show.__name__)
def test_a_section_answers_it(asked: Question) -> None:
    assert asked.answered, f"{asked.chapter} has no section {asked.section!r}"
    assert 1 <= asked.number <= QUESTIONS
    assert asked.text.endswith("?"), asked.text


def test_the_table_is_printed(printed: Callable[[str, str], None]) -> None:
    printed("questions that people ask, and where they are answered", table())
    assert len(questions()) == table().count("\n") - 3
