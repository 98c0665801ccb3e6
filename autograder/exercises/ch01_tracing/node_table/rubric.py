"""What must come of `node_table`: each node with its counts, found by walking its arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from torch import fx, nn

from autograder.judge.answer_key import AnswerKey
from autograder.judge.nodes_made import nodes_made
from autograder.judge.oracles import answer_of
from autograder.rules.passes import caller_untouched
from autograder.rules.values import returns, right_value_of


def _leaves(value: Any) -> Iterator[Any]:
    """What stands in nested arguments, from left to right."""
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _reads(node: fx.Node) -> list[fx.Node]:
    leaves = _leaves((node.args, node.kwargs))
    return list(dict.fromkeys(leaf for leaf in leaves if isinstance(leaf, fx.Node)))


def rows_of(model: nn.Module) -> list[tuple[str, str, int, int]]:
    """Each node of a fresh trace: opcode, name, how many nodes it reads, how many read it."""
    nodes = nodes_made(model)
    readers = Counter(read for node in nodes for read in _reads(node))
    return [(node.op, node.name, len(_reads(node)), readers[node]) for node in nodes]


COLUMNS = ("the opcode", "the name", "the number of nodes read", "the number of users")

KEY = AnswerKey(
    (
        returns("list").because("names the kind that came back, before rows are compared"),
        caller_untouched,
        right_value_of("row", COLUMNS, key=1),
    ),
    answer_of(rows_of),
)

TRAP = """\
`node.args` is not all that a node reads. Keyword arguments, lists, dictionaries and slices hold
nodes, too. `all_input_nodes` finds them all, and has each node once, however often it is read."""
"""What many answers get wrong; told after a pass."""
