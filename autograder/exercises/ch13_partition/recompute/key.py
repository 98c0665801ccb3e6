"""The answer key of `recompute`: the given graph, with copies just before their readers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    NodeRecord,
    Stage,
    model_itself,
    rule,
    show,
)

Words = tuple[str, str, str, tuple[str, ...]]
"""The code of a finding, its text, its advice, and the nodes."""


class _Row:
    """A node: what it calls, its arguments without nodes, and the nodes that it reads."""

    def __init__(self, row: NodeRecord) -> None:
        self.name, self.op = row["name"], row["op"]
        self.leaves: list[int] = []
        target = "" if self.op == "output" else str(row["target"])
        self.key = self.op, target, _skeleton([row["args"], row["kwargs"]], self.leaves)


def _skeleton(data: Encoded, leaves: list[int]) -> Any:
    """Plain arguments without the nodes, which are appended to a list in order."""
    if isinstance(data, dict) and "node" in data:
        leaves.append(data["node"])
        return "a node"
    if isinstance(data, dict) and "dict" in data:  # the order of keywords is free
        items = sorted(data["dict"], key=lambda item: str(item[0]))
        return tuple((str(key), _skeleton(value, leaves)) for key, value in items)
    if isinstance(data, dict):
        return tuple((key, _skeleton(value, leaves)) for key, value in data.items())
    if isinstance(data, list):
        return tuple(_skeleton(item, leaves) for item in data)
    return type(data).__name__, data


class _Plan:
    """The required copies before each node of the given graph.

    Names and the order among copies are free. But only copies may be between a copy and its
    reader, so the number of copies determines the position of each original.
    """

    def __init__(self, given: list[_Row], names: Iterable[str]) -> None:
        self.given = given
        self.named = {i for i, row in enumerate(given) if row.name in set(names)}
        self._first: dict[int, int] = {}
        for i, row in enumerate(given):
            for read in row.leaves:
                self._first.setdefault(read, i)

    def copied_for(self, reader: int) -> list[int]:
        """The originals that this node of the given graph reads as copies."""
        read = dict.fromkeys(self.given[reader].leaves)
        return [i for i in read if i in self.named and self._first[i] != reader]

    def copied_for_copy(self, of: int) -> list[int]:
        """The originals that a copy reads as copies: it is never their first reader."""
        return [i for i in dict.fromkeys(self.given[of].leaves) if i in self.named]

    def copies(self, reader: int) -> list[int]:
        """All copies before a node, including the copies that its copies read."""
        todo, found = self.copied_for(reader), []
        while todo:
            found.append(todo.pop())
            todo += self.copied_for_copy(found[-1])
        return found

    @cached_property
    def places(self) -> list[int]:
        """The position of each original in the right result."""
        place, found = -1, []
        for i in range(len(self.given)):
            place += len(self.copies(i)) + 1
            found.append(place)
        return found


class _Comparison:
    """The given graph, the result, and the origin of each copy."""

    def __init__(self, evidence: Evidence) -> None:
        _, names = evidence.trial.args
        self.given = [*map(_Row, evidence.traced_graph["nodes"])]
        self.result = [*map(_Row, evidence.graph["nodes"])]
        self.plan = _Plan(self.given, names)
        self.origin = dict(zip(self.plan.places, range(len(self.given)), strict=True))
        self.copies: dict[int, int] = {}

    def misfits(self) -> Iterator[Words]:
        """Yield the faults; the first one says most."""
        yield from self._counts()
        yield from self._order()
        for place, original in list(self.origin.items()):
            wanted = set(self.plan.copied_for(original))
            yield from self._reads(place, original, wanted, place)

    def _counts(self) -> Iterator[Words]:
        """Find calls with a wrong number of occurrences."""
        want = [row.key for row in self.given]
        for reader in range(len(self.given)):
            want += [self.given[i].key for i in self.plan.copies(reader)]
        got = [row.key for row in self.result]
        for row in self.given:
            ours, theirs = got.count(row.key), want.count(row.key)
            if ours == theirs:
                continue
            alike = [each.name for each in self.given if each.key == row.key]
            text = (
                f"Calls like `{row.name}` are in your result {_times(ours)}, not {_times(theirs)}"
            )
            if len(alike) > 1:
                text += f" (`{'`, `'.join(alike)}` are alike)"
            advice = "Originals stay, and each later reader has a copy of its own. How many "
            yield (
                "wrong-count",
                f"{text}.",
                f"{advice}readers are there, with the copies?",
                (row.name,),
            )
        for row in self.result:
            if row.key not in want:
                text = f"`{row.name}` of your result calls something that the given graph does "
                advice = "Copies and originals are called just as before; only what they read may "
                yield "new-call", f"{text}not.", f"{advice}be a copy.", (row.name,)

    def _order(self) -> Iterator[Words]:
        for place, original in self.origin.items():
            row, found = self.given[original], self.result[place]
            if row.key != found.key:
                before = len(self.plan.copies(original))
                text = (
                    f"`{found.name}` is number {place + 1} in your graph. There the original "
                    f"`{row.name}` belongs, with {_copies(before)} directly before it"
                )
                advice = (
                    "Originals keep their order. Each copy is directly before its reader; only "
                )
                advice += "other copies are in between."
                yield "wrong-place", f"{text}.", advice, (found.name,)

    def _reads(self, place: int, original: int, wanted: set[int], end: int) -> Iterator[Words]:
        """Find faults in the inputs of a node and of the copies that it reads.

        Args:
            place: index of the node in the result.
            original: index of the node of the given graph that it is, or that it copies.
            wanted: the originals that it must read as copies.
            end: index of the original that all of these copies must precede.
        """
        begin = end - len(self.plan.copies(self.origin[end]))
        row = self.result[place]
        read: dict[int, int] = {}
        for want, got in zip(self.given[original].leaves, row.leaves, strict=True):
            if want not in wanted:
                if got != self.plan.places[want]:
                    yield self._not_the_original(row, want, got)
                    return
                continue
            if read.setdefault(want, got) != got:
                text = f"`{row.name}` reads two copies of `{self.given[want].name}`"
                advice = "A reader that reads a value twice is one reader."
                yield "two-copies", f"{text}.", advice, (row.name,)
                return
        for want, got in read.items():
            name = self.given[want].name
            if got in self.origin:
                text = f"`{row.name}` reads `{self.result[got].name}`, and not a copy of `{name}`"
                advice = f"Which node reads `{name}` first? All others read copies, which are "
                yield "reads-original", f"{text}.", f"{advice}readers, too.", (row.name,)
            elif got in self.copies or not begin <= got < place:
                text = f"The copy of `{name}` that `{row.name}` reads is not its own"
                advice = "Each later reader has a copy of its own, directly before it."
                yield "shared-copy", f"{text}, or not directly before it.", advice, (row.name,)
            elif self.result[got].key != self.given[want].key:
                text = (
                    f"`{row.name}` reads `{self.result[got].name}`, which is not a copy of `{name}`"
                )
                yield (
                    "wrong-read",
                    f"{text}.",
                    "Which value did this node read before?",
                    (row.name,),
                )
            else:
                self.copies[got] = want
                yield from self._reads(got, want, set(self.plan.copied_for_copy(want)), end)

    def _not_the_original(self, row: _Row, want: int, got: int) -> Words:
        name, found = self.given[want].name, self.result[got]
        text = f"`{row.name}` reads `{found.name}`, and not the original `{name}`"
        advice = "A node that is not named is not copied, and the first reader, in graph order, "
        return "not-original", f"{text}.", f"{advice}reads the original.", (row.name,)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _copies(count: int) -> str:
    return "no copy" if not count else "one copy" if count == 1 else f"{count} copies"


@lru_cache(maxsize=1)
def _compared(evidence: Evidence) -> tuple[_Comparison, Words | None]:
    """Compare once for each outcome."""
    comparison = _Comparison(evidence)
    return comparison, next(comparison.misfits(), None)


@rule("copies before their readers", Stage.STRUCTURE)
def copies_before_readers(evidence: Evidence) -> Iterable[Finding]:
    """Originals must keep their order, with each later reader's copies directly before it."""
    _, words = _compared(evidence)
    if words:
        code, text, advice, nodes = words
        yield evidence.finding(code, text, advice, nodes)


@rule("meta of copies", Stage.STRUCTURE)
def meta_of_copies(evidence: Evidence) -> Iterable[Finding]:
    """Originals and copies must have the original's `meta`."""
    comparison, words = _compared(evidence)
    if words:
        return
    old = list(evidence.trial.args[0].graph.nodes)
    places = {**comparison.origin, **comparison.copies}
    for place, original in sorted(places.items()):
        if not old[original].op.startswith("call_"):
            continue
        want = {key: Encoder().encode(value) for key, value in old[original].meta.items()}
        got, name = evidence.graph["meta"][place], comparison.result[place].name
        what = f"`{name}`, a copy of `{old[original].name}`," if place in comparison.copies else (
            f"`{name}`, an original,"
        )  # fmt: skip
        wrong = next((key for key in want if got.get(key) != want[key]), None)
        if wrong is not None:
            text = f"{what} has no `meta[{wrong!r}]`, which `{old[original].name}` has."
            if wrong in got:
                text = f"{what} has {show(got[wrong])} as `meta[{wrong!r}]`, "
                text += f"not {show(want[wrong])}."
            advice = "Which ways of making a node also copy its `meta`?"
            yield evidence.finding("meta-lost", text, advice, (name,))
            return


KEY = AnswerKey((*PASS, copies_before_readers, meta_of_copies), model_itself)
