"""Ten right answers: each gets two questions with one right option, confirmed in two ways."""

from __future__ import annotations

import pytest

from autograder.asking.choice import ASKED, choose
from autograder.asking.code import Code
from autograder.exercises import EXERCISES
from tests.checks.answer_cells import right_cells

TEN = (
    "WitnessSelfLoop", "add_to_mul", "build_by_hand", "count_ops", "fuse_conv_bn", "inputs_of",
    "retarget", "sound_dce", "source_of", "wellformed",
)  # fmt: skip


@pytest.mark.parametrize("name", TEN)
def test_an_answer_gets_two_questions(name: str) -> None:
    code = next(iter(right_cells(name).values()))
    chosen = choose(EXERCISES[name], code)
    assert len(chosen.questions) == ASKED, chosen.why
    for question in chosen.questions:
        texts = [choice.text for choice in question.choices]
        assert len(set(texts)) == len(texts) in (3, 4)
        assert 0 <= question.right < len(texts)
        assert all(choice.why for choice in question.choices)


def test_the_same_code_gets_the_same_questions_and_turn_2_gets_others() -> None:
    exercise = EXERCISES["retarget"]
    code = next(iter(right_cells("retarget").values()))
    other = Code(code.name, f"# a comment\n{code.cell}")
    marks = [
        [question.kind for question in choose(exercise, each).questions] for each in (code, other)
    ]
    assert marks[0] == marks[1]
    first, second = (
        {question.mark for question in choose(exercise, code, turn).questions} for turn in (1, 2)
    )
    assert first and second and not first & second


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("SEEN.append(1)", "keeps something"),
        ("torch.rand(1)", "draws random numbers"),
        ("for _ in range(5000):\n        pass", "too long"),
    ],
)
def test_some_answers_are_not_asked_about(line: str, why: str) -> None:
    cell = (
        "import torch\nfrom torch import fx\nSEEN = []\n\n\ndef node_names(model):\n"
        f"    {line}\n    return [node.name for node in fx.symbolic_trace(model).graph.nodes]\n"
    )
    chosen = choose(EXERCISES["node_names"], Code("node_names", cell))
    assert chosen.questions == [] and why in chosen.why
