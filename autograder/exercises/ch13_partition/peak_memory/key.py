"""The answer key of `peak_memory`: bytes, and the node at which they are alive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import fx

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Stage,
    answer_of,
    caller_untouched,
    kind_of,
    rule,
)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


class _Watch(fx.Interpreter):
    """Counts the bytes that later nodes still read, during a run.

    ``kept`` keeps every value, so that no address is used twice. A value counts until its last
    reader has run.
    """

    def __init__(self, gm: fx.GraphModule, inputs: tuple[Any, ...]) -> None:
        super().__init__(gm)
        theirs = [*inputs, *gm.parameters(), *gm.buffers()]
        self.theirs = {t.untyped_storage().data_ptr() for t in _tensors(theirs)}
        self.readers = {node: len(node.users) for node in gm.graph.nodes}
        self.waiting: dict[fx.Node, Any] = {}
        self.kept: list[Any] = []
        self.most, self.where = -1, ""

    def run_node(self, n: fx.Node) -> Any:
        """Run a node, and count the bytes that are alive then."""
        value = super().run_node(n)
        self.kept.append(value)
        if n.op in ("placeholder", "get_attr"):
            self.theirs |= {t.untyped_storage().data_ptr() for t in _tensors(value)}
        elif n.op != "output":
            self.waiting[n] = value
        now = self._bytes()
        if now > self.most:
            self.most, self.where = now, n.name
        self._let_go(n)
        return value

    def _bytes(self) -> int:
        sizes = {
            t.untyped_storage().data_ptr(): t.untyped_storage().nbytes()
            for t in _tensors(list(self.waiting.values()))
        }
        return sum(size for address, size in sizes.items() if address not in self.theirs)

    def _let_go(self, n: fx.Node) -> None:
        for read in n.all_input_nodes:
            self.readers[read] -= 1
        for node in [n, *n.all_input_nodes]:
            if not self.readers[node]:
                self.waiting.pop(node, None)


def most_at_once(gm: fx.GraphModule, *inputs: Any) -> tuple[int, str]:
    """Compute the right result of `peak_memory`."""
    watch = _Watch(gm, inputs)
    watch.run(*inputs)
    return watch.most, watch.where


def _pair(data: Encoded) -> list[Any] | None:
    """An `int` and a text as plain data; else ``None``."""
    items = data.get("tuple") if isinstance(data, dict) else None
    if not isinstance(items, list) or [type(item) for item in items] != [int, str]:
        return None
    return items


@rule("a number and a name", Stage.KIND)
def a_number_and_a_name(evidence: Evidence) -> Iterable[Finding]:
    """The result must be a tuple of an `int` and the name of a node."""
    value = evidence.outcome.value
    if _pair(value) is None:
        items = value.get("tuple") if isinstance(value, dict) else None
        kinds = f"a tuple of {', '.join(map(kind_of, items))}" if items else kind_of(value)
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} returned {kinds}, not a tuple of an `int` and a `str`.",
            "The bytes come first, the name of the node second.",
        )


@rule("the most bytes", Stage.RESULT)
def the_most_bytes(evidence: Evidence) -> Iterable[Finding]:
    """The bytes must be those alive at the fullest node."""
    got, want = _pair(evidence.outcome.value), _pair(evidence.reference.value)
    if got is None or want is None or got[0] == want[0]:
        return
    text = f"{got[0]:,} bytes at `{got[1]}`; the most are {want[0]:,} bytes, at `{want[1]}`"
    yield evidence.finding(
        "wrong-bytes",
        f"{evidence.you} found {text}.",
        f"Write down the values that are alive at `{want[1]}`, and their storages. Which "
        "do you count too often, not at all, or for too long?",
        (want[1],),
    )


@rule("the first fullest node", Stage.RESULT)
def the_first_fullest_node(evidence: Evidence) -> Iterable[Finding]:
    """The node must be the first one with this many bytes alive."""
    got, want = _pair(evidence.outcome.value), _pair(evidence.reference.value)
    if got is None or want is None or got[0] != want[0] or not want[0] or got[1] == want[1]:
        return  # a graph without values of its own has no fullest node
    yield evidence.finding(
        "wrong-node",
        f"{evidence.you} found {got[0]:,} bytes, which is right, but at `{got[1]}`. "
        f"So many are alive at `{want[1]}` first.",
        "While a node runs, its inputs are alive, and its result.",
        (want[1],),
    )


KEY = AnswerKey(
    (
        a_number_and_a_name.because("names the kind that came back, before any number"),
        caller_untouched,
        the_most_bytes,
        the_first_fullest_node,
    ),
    answer_of(most_at_once),
)
