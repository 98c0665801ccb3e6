"""The key of `partition` computes the smallest number of sets, compared with a search."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import torch
from torch import fx, nn

from autograder.exercises.ch13b_lowering.partition.key import fewest
from autograder.exercises.ch13b_lowering.partition.models import TakesNodes
from tests.exercises.ch13b_lowering.partition.answers import (
    levels,
    quotient_is_sound,
    the_first_that_fits,
)


def drawn(draw: random.Random) -> fx.GraphModule:
    """A small graph of calls that read some of the earlier ones."""
    graph = fx.Graph()
    nodes = [graph.placeholder("x")]
    share = draw.choice((0.2, 0.3, 0.5))
    for _ in range(draw.randint(2, 8)):
        reads = [node for node in nodes if draw.random() < share]
        nodes.append(graph.call_function(torch.cat, (reads,)))
    graph.output(nodes)
    return fx.GraphModule(nn.Module(), graph)


def divisions(names: list[str]) -> Iterator[list[set[str]]]:
    """All ways to divide names into sets."""
    if not names:
        yield []
        return
    for sets in divisions(names[1:]):
        yield [{names[0]}, *sets]
        for i, one in enumerate(sets):
            yield [*sets[:i], one | {names[0]}, *sets[i + 1 :]]


def test_a_search_finds_no_fewer_sets() -> None:
    draw, seen = random.Random(0), Counter[int]()
    for _ in range(250):
        gm = drawn(draw)
        calls = [node.name for node in gm.graph.nodes if node.op == "call_function"]
        names = [name for name in calls if draw.random() < 0.6][:5]
        backend = TakesNodes(frozenset(names), others=draw.random() < 0.5)
        found = min(len(sets) for sets in divisions(names) if quotient_is_sound(gm, sets))
        assert found == fewest(gm, backend)
        assert found == len(levels(gm, backend)) == len(the_first_that_fits(gm, backend))
        seen[found] += 1
    assert {1, 2, 3} <= seen.keys()
