"""What differs between two graphs: nodes are told apart by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autograder.core.verdict import Box
from autograder.drawing.sketch import GHOSTS

Pair = tuple[tuple[Box, ...], tuple[Box, ...]]

SIGNS = {"added": "+", "removed": "\N{MINUS SIGN}", "changed": "~"}


def compare(before: Sequence[Box], after: Sequence[Box]) -> Pair:
    """Both graphs, with the nodes that differ marked.

    A node of `before` whose name is gone is ``removed``, one of `after` whose name is new
    is ``added``, and one that is in both is ``changed`` in both where its opcode, label or
    inputs differ. Boxes that carry marks already are left as they are.
    """
    if any(box.mark for box in (*before, *after)):
        return tuple(before), tuple(after)
    old = {box.name: box for box in before}
    new = {box.name: box for box in after}
    return (
        tuple(_marked(box, new.get(box.name), "removed") for box in before),
        tuple(_marked(box, old.get(box.name), "added") for box in after),
    )


def _marked(box: Box, other: Box | None, alone: str) -> Box:
    if box.op in GHOSTS:
        return box
    if other is None:
        return replace(box, mark=alone)
    same = (box.op, box.label, box.inputs) == (other.op, other.label, other.inputs)
    return box if same else replace(box, mark="changed")


def marks_in_words(boxes: Sequence[Box]) -> str:
    """How many nodes carry which mark: ``1 added, 2 changed``; ``""`` if none does."""
    counts = {mark: sum(box.mark == mark for box in boxes) for mark in SIGNS}
    return ", ".join(f"{count} {mark}" for mark, count in counts.items() if count)
