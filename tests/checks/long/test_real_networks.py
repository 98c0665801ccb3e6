"""Each reference solution and its check on networks from other projects.

The exercise's oracle, which is not the solution, computes the expected results.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import pytest

from autograder.builder.outputs.references import solution_of, solutions_of
from autograder.core.exercise import RANDOM, Case, Expect, Trial
from autograder.core.limits import Limits
from autograder.core.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.runner import run
from tests.exercises import constant, exercises_with
from tests.support.real_networks import NETWORKS, Network, Real

pytestmark = [pytest.mark.filterwarnings("ignore")]

M_MMAP_THRESHOLD = -3
"""See `man mallopt`."""

PATIENCE = Limits(cpu=300.0, wall=900.0)

TRIED = [
    name
    for name, exercise in EXERCISES.items()
    if exercise.random and name not in exercises_with("NOT_ON_NETWORKS")
]


def completion(name: str) -> Callable[[Trial, int], Trial]:
    """The function that adds an exercise's other needs to a trial with a network."""
    random = EXERCISES[name].random
    assert random is not None
    return constant(name, "complete_on_network", random.complete)


@cache
def solution(name: str) -> Any:
    """The reference solution of an exercise."""
    exercise = EXERCISES[name]
    return solution_of(exercise, solutions_of(exercise.chapter))


def verdict_on(name: str, network: Network) -> Verdict:
    """Check the reference solution on a network."""
    exercise = EXERCISES[name]
    make = Real(network, completion(name))
    case = Case(str(network), RANDOM.key, make, expect=expected(name))
    outcome = run(exercise, solution(name), case, limits=PATIENCE)
    return judge(exercise, [outcome], (case,))


def expected(name: str) -> Expect:
    """The expectations of every random case of an exercise; none if they depend on the recipe."""
    found = EXERCISES[name].random.expect
    return found if isinstance(found, Expect) else Expect()


@pytest.fixture(scope="module", autouse=True)
def return_memory() -> None:
    """Give memory of large tensors back to the system; else 700 MB are kept, twenty times."""
    with suppress(OSError, AttributeError, TypeError):  # C libraries other than GNU's
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 20)


@pytest.fixture(autouse=True)
def collect_garbage() -> Iterator[None]:
    """Collect garbage after each test, because a graph module is a reference cycle."""
    yield
    gc.collect()


@pytest.mark.parametrize("name", TRIED)
@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_the_solution_holds_on_a_real_network(network: Network, name: str) -> None:
    is_left_out = constant(name, "is_outside_the_task")
    if is_left_out and is_left_out(network.build()):
        pytest.skip("it does what the task leaves out")
    verdict = verdict_on(name, network)
    assert verdict.passed, [(finding.code, finding.message) for finding in verdict.findings]
