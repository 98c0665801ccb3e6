"""The keys of 12b agree with a real run, and random graphs have the required properties."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import torch
from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Case
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import bounded_output
from autograder.exercises import EXERCISES
from autograder.exercises.ch12b_metadata.meta_lies.key import lies_of
from autograder.exercises.ch12b_metadata.models import Teller
from autograder.exercises.ch12b_metadata.refresh_meta.key import differs, ours

REFRESH, LIES = EXERCISES["refresh_meta"], EXERCISES["meta_lies"]
LARGE = ("terabytes", "images", "made of nothing")
SEEDS = 8


class Telling(fx.Interpreter):
    """Runs a graph for real, and reports on each value."""

    told: dict[str, Any]

    def run_node(self, n: fx.Node) -> Any:
        """Run a node, and report on its value at once."""
        value = super().run_node(n)
        self.told[n.name] = Encoder().encode(Teller().tell(value))
        return value


def told_for_real(case: Case) -> dict[str, Any]:
    """The reports about the values of a real run, up to its end or first error."""
    asked = case.make(0).args[0]
    telling = Telling(asked.gm)
    telling.told = {}
    with preserve_global_state(), bounded_output(0), torch.no_grad():
        try:
            telling.run(*asked.inputs)
        except RuntimeError:  # out of memory
            pass
    return telling.told


def told_by_ours(case: Case) -> dict[str, Any]:
    """The reports about the values by the key."""
    asked = case.make(0).args[0]
    ours(asked.gm, *asked.inputs)
    teller = Teller()
    return {
        node.name: Encoder().encode(teller.tell(node.meta["val"]))
        for node in asked.gm.graph.nodes
        if node.op != "output"
    }


def cases() -> Iterable[Case]:
    """The cases that fit into memory, and random ones."""
    yield from (c for c in REFRESH.cases if not any(word in c.name for word in LARGE))
    assert REFRESH.random is not None
    for seed in range(SEEDS):
        yield from REFRESH.random.cases(seed)


def test_fake_values_are_what_a_real_run_gives() -> None:
    compared = 0
    for case in cases():
        real, fake = told_for_real(case), told_by_ours(case)
        for name in real.keys() & fake.keys():
            assert differs(fake[name], real[name], name) is None, case.name
            compared += 1
    assert compared > 400


def test_random_graphs_write_nothing_in_place() -> None:
    assert LIES.random is not None
    for seed in range(SEEDS):
        for case in LIES.random.cases(seed):
            for node in case.make(0).args[0].gm.graph.nodes:
                schema = getattr(node.target, "_schema", None)
                assert schema is None or not schema.is_mutable, (seed, case.name)


def test_random_graphs_are_true_and_false() -> None:
    assert LIES.random is not None
    counts = [
        len(lies_of(case.make(0).args[0].gm))
        for seed in range(SEEDS)
        for case in LIES.random.cases(seed)
    ]
    assert counts.count(0) >= SEEDS and max(counts) > 2


@pytest.mark.parametrize("name", [case.name for case in LIES.cases])
def test_no_case_has_a_call_without_val_that_reads_one(name: str) -> None:
    (case,) = (case for case in LIES.cases if case.name == name)
    for node in case.make(0).args[0].gm.graph.nodes:
        if "val" not in node.meta and node.op.startswith("call_"):
            assert all("val" in read.meta for read in node.all_input_nodes)
