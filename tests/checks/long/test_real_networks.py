"""Each reference solution and its check on networks that nobody here wrote.

What must come out is worked out by the exercise's oracle, which is not the solution.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import operator
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import Any, cast

import pytest
import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.builder.outputs.references import solution_of, solutions_of
from autograder.core.exercise import RANDOM, Case, Expect, Trial
from autograder.core.limits import Limits
from autograder.core.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.exercises.ch05_proxy.decompose.models import with_rules
from autograder.judge import judge
from autograder.runner import run
from tests.support.real_networks import NETWORKS, Network, Real

pytestmark = [pytest.mark.filterwarnings("ignore")]

M_MMAP_THRESHOLD = -3
"""See `man mallopt`."""

PATIENCE = Limits(cpu=300.0, wall=900.0)

NOT_TRIED = {
    "all_arguments": "networks call builtins of `torch._C._nn`, which the task leaves out",
    "derivative": "it takes functions of numbers",
    "fuse_rms_norm": "its graphs are recorded of functions without parameters",
    "wellformed": "what is wrong with a graph is put there by the recipe of a random model",
}
"""Exercises whose random models are no networks, and why."""

TRIED = [name for name, e in EXERCISES.items() if e.random and name not in NOT_TRIED]


def exchanging_sums(trial: Trial, choice: int) -> Trial:
    """What `retarget` is asked for: differences in place of sums."""
    return replace(trial, args=(*trial.args, operator.add, operator.sub))


def with_rules_for_its_trace(trial: Trial, choice: int) -> Trial:
    """What `decompose` is asked for: of a random model, the class is made once more for that."""
    traced = fx.symbolic_trace(cast(nn.Module, trial.model))
    return with_rules(replace(trial, args=(traced,), model=traced), choice)


def in_float32(trial: Trial, choice: int) -> Trial:
    """What `insert_qdq` is asked for: what is quantized comes back in float32."""
    model = cast(nn.Module, trial.model).float()
    inputs = tuple(tuple(each.float() for each in given) for given in trial.inputs)
    trial = replace(trial, args=(model,), model=model, inputs=inputs)
    return EXERCISES["insert_qdq"].random.complete(trial, choice)


def out_of_place(trial: Trial, choice: int, *, name: str) -> Trial:
    """What exercises are asked for that leave out values which are changed in place later."""
    for module in cast(nn.Module, trial.model).modules():
        if hasattr(module, "inplace"):
            module.inplace = False
    return EXERCISES[name].random.complete(trial, choice)


def multiplies_within_functions(model: nn.Module) -> bool:
    """Whether a node of a trace calls a function of several operations, such as attention."""
    calls = (node for node in fx.symbolic_trace(model).graph.nodes if node.op == "call_function")
    return any(
        node.target is F.scaled_dot_product_attention
        or node.target.__module__.startswith(("timm", "torchvision"))
        for node in calls
    )


def takes_more_than_an_image(model: nn.Module) -> bool:
    """Whether `forward` has further parameters, for which there are no values here."""
    return len(inspect.signature(model.forward).parameters) > 1


def writes_proxies_into_texts(model: nn.Module) -> bool:
    """Whether a text was made of a value while it was traced: it differs with the tracer."""
    return any("Proxy(" in str(node.args) for node in fx.symbolic_trace(model).graph.nodes)


def asks_for_lists(model: nn.Module) -> bool:
    """Whether a module does something else with a list than with what a leaf gives, a proxy."""
    forwards = {type(module).forward for module in model.modules()}
    return any("isinstance(x, list)" in inspect.getsource(forward) for forward in forwards)


def divides_by_numbers(model: nn.Module) -> bool:
    """Whether `torch.div` is given a number: the rules of random models are for tensors."""
    nodes = fx.symbolic_trace(model).graph.nodes
    calls = (node for node in nodes if node.target is torch.div and len(node.args) > 1)
    return any(not isinstance(node.args[1], fx.Node) for node in calls)


LEFT_OUT = {
    "LeafTracer": asks_for_lists,
    "count_flops": multiplies_within_functions,
    "decompose": divides_by_numbers,
    "inline": writes_proxies_into_texts,
    "specialize": takes_more_than_an_image,
}
"""Networks on which an exercise is not tried: they do what its task leaves out."""


COMPLETE = {
    "retarget": exchanging_sums,
    "decompose": with_rules_for_its_trace,
    "insert_qdq": in_float32,
    **{name: partial(out_of_place, name=name) for name in ("add_output", "recompute")},
}
"""What an exercise needs besides a network, where that of random models needs their code."""


@cache
def solution(name: str) -> Any:
    """The reference solution of an exercise."""
    exercise = EXERCISES[name]
    return solution_of(exercise, solutions_of(exercise.chapter))


def verdict_on(name: str, network: Network) -> Verdict:
    """What the check of an exercise says of the reference solution on a network."""
    exercise = EXERCISES[name]
    assert exercise.random is not None
    make = Real(network, COMPLETE.get(name, exercise.random.complete))
    case = Case(str(network), RANDOM.key, make, expect=expected(name))
    outcome = run(exercise, solution(name), case, limits=PATIENCE)
    return judge(exercise, [outcome], (case,))


def expected(name: str) -> Expect:
    """What every random case of an exercise demands; nothing, where it depends on the recipe."""
    found = EXERCISES[name].random.expect
    return found if isinstance(found, Expect) else Expect()


@pytest.fixture(scope="module", autouse=True)
def memory_goes_back() -> None:
    """What large tensors had goes back to the system: otherwise 700 MB are kept twenty times."""
    with suppress(OSError, AttributeError, TypeError):  # elsewhere than with the C library of GNU
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 20)


@pytest.fixture(autouse=True)
def what_is_over_is_let_go() -> Iterator[None]:
    """A graph module is a circle of references."""
    yield
    gc.collect()


@pytest.mark.parametrize("name", TRIED)
@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_the_solution_holds_on_a_real_network(network: Network, name: str) -> None:
    if name in LEFT_OUT and LEFT_OUT[name](network.build()):
        pytest.skip("it does what the task leaves out")
    verdict = verdict_on(name, network)
    assert verdict.passed, [(finding.code, finding.message) for finding in verdict.findings]
