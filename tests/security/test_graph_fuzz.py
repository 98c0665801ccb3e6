"""The graph fuzzer on a thousand graphs, and a check that it finds a known hole."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import fx, nn

from autograder.core import graph_program
from tests.security.attacks import graph_fuzz
from tests.security.attacks.defenses import let_paths_walk
from tests.security.attacks.graph_fuzz import Draw, fuzz, strange


def test_what_is_drawn_comes_to_nothing_but_plain_values(total) -> None:
    tally = fuzz(1000, start=5_000_000)
    assert tally.found == []
    assert tally.drawn == 1000
    assert tally.many >= 500
    assert tally.ends["refused"] >= 150
    total("graphs drawn", tally.drawn)


def test_the_hole_is_found_when_paths_lead_along_attributes(monkeypatch) -> None:
    monkeypatch.setattr(graph_program, "_modules", graph_program._modules)
    monkeypatch.setattr(graph_program, "_tensors_in", graph_program._tensors_in)
    let_paths_walk()
    tally = fuzz(500, start=5_000_000)
    assert any("generator" in text or "method" in text for _, text in tally.found)
    assert any("torch.nn" in text for _, text in tally.found)


def test_the_same_seed_draws_the_same_graph() -> None:
    one, other = Draw(17), Draw(17)
    assert one.graph() == other.graph()
    assert Draw(18).graph() != one.rows


def test_strange_values_are_seen() -> None:
    within: list[Any] = [1, {"a": (torch.ones(1), None)}]
    within.append(within)
    assert strange(within) == ""
    assert strange([{"a": nn.ReLU()}]) == "torch.nn.modules.activation.ReLU"
    assert strange({len: 1}) == "builtins.builtin_function_or_method"
    assert strange(x for x in ()) == "builtins.generator"
    assert strange(fx.Graph()) == "torch.fx.graph.Graph"
    assert strange(torch.ones(2).max(0)) == ""


def test_every_way_to_be_nearly_right_is_drawn() -> None:
    drawn: set[int] = set()
    ways = [lambda d, i=i: drawn.add(i) for i in range(len(graph_fuzz.ALMOST))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_fuzz, "ALMOST", ways)
        for seed in range(400):
            Draw(seed).graph()
    assert len(drawn) == len(ways) >= 18
