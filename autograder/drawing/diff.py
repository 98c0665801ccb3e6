"""Finds the differences between two graphs, by what their nodes compute and not by names.

Names are unreliable: a graph that was traced again, or copied node by node, may have other names
throughout, and the node `relu` of one pass is `relu_1` after another.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from autograder.core.verdict import NodeBox
from autograder.drawing.sketch import GHOSTS

Marked = tuple[tuple[NodeBox, ...], tuple[NodeBox, ...]]
_Way = Callable[[Sequence[NodeBox], Sequence[NodeBox]], dict[str, str]]

SIGNS = {"added": "+", "removed": "\N{MINUS SIGN}", "changed": "~"}

_WORD = re.compile(r"[^\W\d]\w*")

_SEARCHED = 1_000_000
"""Maximum number of pairs of nodes to compare in search of the best order; a second or so."""


def compare(before: Sequence[NodeBox], after: Sequence[NodeBox]) -> Marked:
    """Both graphs, with the differing nodes marked.

    A node of `before` without a counterpart is ``removed``, one of `after` without one is
    ``added``. Two counterparts are ``changed`` if opcode, label or inputs differ; different names
    do not count. Boxes that have marks already are left unchanged.
    """
    if any(box.mark for box in (*before, *after)):
        return tuple(before), tuple(after)
    return _compared(before, after, counterparts(before, after))


def _compared(
    before: Sequence[NodeBox], after: Sequence[NodeBox], there: Mapping[str, str]
) -> Marked:
    back = {new: old for old, new in there.items()}
    old = {box.name: box for box in before}
    new = {box.name: box for box in after}
    return (
        tuple(_marked(box, new.get(there.get(box.name, "")), there, "removed") for box in before),
        tuple(_marked(box, old.get(back.get(box.name, "")), back, "added") for box in after),
    )


def _marked(box: NodeBox, other: NodeBox | None, there: Mapping[str, str], alone: str) -> NodeBox:
    if box.op in GHOSTS:
        return box
    if other is None:
        return replace(box, mark=alone)
    inputs = tuple(there.get(name) for name in box.inputs)
    same = (box.op, _shape(box), inputs) == (other.op, _shape(other), other.inputs)
    return box if same else replace(box, mark="changed")


def counterparts(before: Sequence[NodeBox], after: Sequence[NodeBox]) -> dict[str, str]:
    """The node of `after` that corresponds to each node of `before`, by name, if there is one.

    First, nodes that compute the same are paired, starting from the inputs. The rest are paired in
    two ways: by name, as after a change in place, and by the order of equal calls, as after a new
    trace. The way that leaves fewer differences is used.
    """
    ways = ((_of_one_name, _calling_the_same), (_calling_the_same, _of_one_name))
    found = [_by(ways_in_turn, before, after) for ways_in_turn in ways]
    return min(found, key=lambda pairs: _count(_compared(before, after, pairs)))


def _by(
    ways: Sequence[_Way], before: Sequence[NodeBox], after: Sequence[NodeBox]
) -> dict[str, str]:
    pairs = dict(_computing_the_same(before, after))
    for way in ways:
        taken = set(pairs.values())
        old = [box for box in before if box.name not in pairs and box.op not in GHOSTS]
        new = [box for box in after if box.name not in taken and box.op not in GHOSTS]
        pairs |= way(old, new)
    return pairs


def _count(marked: Marked) -> int:
    return sum(bool(box.mark) for boxes in marked for box in boxes)


def _computing_the_same(
    before: Sequence[NodeBox], after: Sequence[NodeBox]
) -> Iterator[tuple[str, str]]:
    """Nodes with the same opcode and label, all of whose inputs compute the same."""
    waiting: dict[Hashable, deque[str]] = defaultdict(deque)
    numbers: dict[Hashable, int] = {}
    for name, number in _computed(after, numbers).items():
        waiting[number].append(name)
    for name, number in _computed(before, numbers).items():
        if same := waiting[number]:
            if name in same:
                same.remove(name)
                yield name, name
            else:
                yield name, same.popleft()


def _computed(boxes: Sequence[NodeBox], numbers: dict[Hashable, int]) -> dict[str, int]:
    """A number for each node; nodes that compute the same have the same number."""
    found: dict[str, int] = {}
    for box in boxes:
        if box.op not in GHOSTS:
            key = box.op, _shape(box), tuple(found.get(name, -1) for name in box.inputs)
            found[box.name] = numbers.setdefault(key, len(numbers))
    return found


def _calling_the_same(before: Sequence[NodeBox], after: Sequence[NodeBox]) -> dict[str, str]:
    """Nodes with the same opcode and label, in an order that both graphs share."""
    old, new = ([(box.op, _shape(box)) for box in boxes] for boxes in (before, after))
    pairs = _in_both(old, new)
    return {before[i].name: after[j].name for i, j in pairs}


def _in_both(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Positions of equal items in an order that both lists share, nearly as many as possible.

    The common beginning and end are taken first, because the search between them takes time
    proportional to the product of the lengths. If that is too much, each item is paired with its
    next occurrence.
    """
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    yield from ((i, i) for i in range(head))
    if len(a) * len(b) <= _SEARCHED:
        for i, j, size in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
            yield from ((head + i + n, head + j + n) for n in range(size))
    else:
        yield from ((head + i, head + j) for i, j in _next_in_turn(a, b))
    yield from ((len(old) - 1 - i, len(new) - 1 - i) for i in range(tail))


def _next_in_turn(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    places: dict[Hashable, deque[int]] = defaultdict(deque)
    for j, what in enumerate(new):
        places[what].append(j)
    last = -1
    for i, what in enumerate(old):
        waiting = places[what]
        while waiting and waiting[0] < last:
            waiting.popleft()
        if waiting:
            last = waiting.popleft()
            yield i, last


def _of_one_name(before: Sequence[NodeBox], after: Sequence[NodeBox]) -> dict[str, str]:
    there = {box.name: box.op for box in after}
    return {box.name: box.name for box in before if _fits(box, there.get(box.name))}


def _fits(box: NodeBox, op: str | None) -> bool:
    """Whether a node may have become one with this opcode: calls remain calls."""
    return op is not None and (op == box.op or (op.startswith("call") == box.op.startswith("call")))


def _shape(box: NodeBox) -> str:
    """A label with numbers instead of the names of inputs, because names may change."""
    places = {name: f"{place}." for place, name in reversed([*enumerate(box.inputs)])}
    return _WORD.sub(lambda word: places.get(word[0], word[0]), box.label)


def marks_in_words(boxes: Sequence[NodeBox]) -> str:
    """The number of nodes with each mark: ``1 added, 2 changed``; ``""`` without marks."""
    counts = {mark: sum(box.mark == mark for box in boxes) for mark in SIGNS}
    return ", ".join(f"{count} {mark}" for mark, count in counts.items() if count)
