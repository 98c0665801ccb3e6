"""The process that makes questions, and a kernel that asks for them."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
import torch

from autograder.asking.choice import choose
from autograder.asking.client import Client
from autograder.asking.code import Code
from autograder.core.torch_private import wrapped_functions
from autograder.exercises import EXERCISES
from tests.checks.answer_cells import right_cells

SHORT = ("add_to_mul", "retarget", "sound_dce", "WitnessSelfLoop")


def state() -> dict[str, Any]:
    """The parts of this process that an answer could change."""
    return {
        "globals": sorted(globals()),
        "torch": {name: id(value) for name, value in vars(torch).items()},
        "tensor": sorted(vars(torch.Tensor)),
        "wrapped": sorted(map(str, wrapped_functions())),
        "random": (random.getstate(), torch.get_rng_state().tolist()),
        "folder": os.getcwd(),
        "files": sorted(os.listdir()),
    }


@pytest.fixture(scope="module")
def client() -> Any:
    made = Client()
    yield made
    made.stop()


def test_a_kernel_is_the_same_afterwards(client: Client) -> None:
    before = state()
    for name in SHORT:
        code = next(iter(right_cells(name).values()))
        assert len(client.ask(name, code).questions) == 2
    assert state() == before


def test_another_process_makes_the_same_questions(client: Client) -> None:
    code = next(iter(right_cells("retarget").values()))
    here = [question.mark for question in choose(EXERCISES["retarget"], code).questions]
    assert [question.mark for question in client.ask("retarget", code).questions] == here


@pytest.mark.parametrize(
    "line", ["import os; os._exit(3)", "raise SystemExit", "print(input())", "gm.x = 1 / 0"]
)
def test_an_answer_that_ends_python_ends_its_fork_alone(client: Client, line: str) -> None:
    cell = f"def retarget(gm, old, new):\n    {line}\n    return gm\n"
    reply = client.ask("retarget", Code("retarget", cell))
    assert reply.questions == () and reply.why
    code = next(iter(right_cells("retarget").values()))
    assert len(client.ask("retarget", code).questions) == 2


def test_it_starts_again_if_it_has_ended(client: Client) -> None:
    process = client._process
    assert process is not None
    process.kill()
    process.wait()
    code = next(iter(right_cells("retarget").values()))
    assert len(client.ask("retarget", code).questions) == 2
