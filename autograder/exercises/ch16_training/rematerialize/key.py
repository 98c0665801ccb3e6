"""The answer key of `rematerialize`: the given graph, with one copy of each named call.

The key derives the right graph from the given one. The order of copies that stand next to each
other is free, and so are their names. So a copy is known by what it computes: its target, and
what it reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from torch import fx

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    NodeRecord,
    Reference,
    Stage,
    Trial,
    caller_untouched,
    copies,
    describe,
    kind_of,
    known_targets,
    memory_numbers,
    mode_of,
    rule,
    runs,
    runs_of,
    same_result_by,
    show,
    val_text,
    wellformed,
)
from autograder.exercises.ch16_training.keys import is_backward, is_marked

Token = tuple[Any, ...]
"""The identity of a value: the name of an original, or the call that a copy makes."""


def recomputed(gm: fx.GraphModule, names: Iterable[str]) -> dict[fx.Node, fx.Node]:
    """Compute named calls again, in place; return the copy of each original that has one.

    For each node, the named calls that it needs are collected from the front to the back.
    """
    nodes = list(gm.graph.nodes)
    named = [node for node in nodes if node.name in set(names)]
    needs: dict[fx.Node, set[fx.Node]] = {}
    made: dict[fx.Node, fx.Node] = {}
    for node in nodes:
        read = [each for each in node.all_input_nodes if each in named]
        needs[node] = set(read).union(*(needs[each] for each in read))
        if not is_backward(node):
            continue
        for each in [n for n in named if n in needs[node] and n not in made]:
            with gm.graph.inserting_before(node):
                made[each] = gm.graph.node_copy(each, lambda n: made.get(n, n))
            _annotate(made[each])
        node.args, node.kwargs = fx.map_arg((node.args, node.kwargs), lambda n: made.get(n, n))
    for node in reversed(named):
        if not node.users:
            gm.graph.erase_node(node)
    gm.recompile()
    return made


def _annotate(copy: fx.Node) -> None:
    """Give a copy a mark, and a `val` of its own."""
    copy.meta["custom"] = {**copy.meta.get("custom", {}), "phase": "backward"}
    args, kwargs = fx.map_arg((copy.args, copy.kwargs), lambda n: n.meta["val"])
    with mode_of(copy.graph):
        copy.meta["val"] = copy.target(*args, **kwargs)  # type: ignore[operator]


class _Graph:
    """Rows of a graph, and the token of each.

    Attributes:
        kept: the names of the originals that are in the right graph.
    """

    def __init__(self, rows: list[NodeRecord], kept: set[str]) -> None:
        self.rows, self.kept = rows, kept
        self.tokens: list[Token] = []
        self.calls: list[Token] = []
        for row in rows:
            call = self._call(row)
            self.calls.append(call)
            self.tokens.append(("original", row["name"]) if row["name"] in kept else call)

    def _call(self, row: NodeRecord) -> Token:
        target = "output" if row["op"] == "output" else show(row["target"])
        keywords = sorted(row["kwargs"]["dict"], key=str)
        return row["op"], target, self._read(row["args"]), self._read({"list": keywords})

    def _read(self, data: Encoded) -> Any:
        if isinstance(data, dict) and "node" in data:
            return self.tokens[data["node"]]
        if isinstance(data, dict):
            return tuple((key, self._read(value)) for key, value in data.items())
        if isinstance(data, list):
            return tuple(self._read(item) for item in data)
        return type(data).__name__, data

    def parts(self) -> Iterator[tuple[int, list[int]]]:
        """Each original, with the copies between it and the original before it."""
        waiting: list[int] = []
        for i, row in enumerate(self.rows):
            if row["name"] in self.kept:
                yield i, waiting
                waiting = []
            else:
                waiting.append(i)


class _Comparison:
    """The right graph, and the answer's."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        gm, names = evidence.trial.args
        self.given = [node.name for node in gm.graph.nodes]
        made = recomputed(gm, names)
        self.gm = gm
        self.original = {made[node].name: node.name for node in made}
        kept = {node.name for node in gm.graph.nodes} - set(self.original)
        self.kept = kept
        self.want = _Graph(describe(gm, Encoder())["nodes"], kept)
        self.got = _Graph(evidence.graph["nodes"], kept)
        self.named = {
            token: self.original[row["name"]]
            for token, row in zip(self.want.tokens, self.want.rows, strict=True)
            if row["name"] in self.original
        }

    def copy_of(self, token: Token) -> str:
        """The words for a copy."""
        return f"a copy of `{self.named[token]}`" if token in self.named else "something else"

    def finding(self) -> Finding | None:
        """The first difference; ``None`` if there is none."""
        return self._originals() or next(self._places(), None)

    def _originals(self) -> Finding | None:
        """A difference in the nodes of the given graph: which are there, and in which order."""
        ours = [row["name"] for row in self.got.rows if row["name"] in self.kept]
        theirs = [row["name"] for row in self.want.rows if row["name"] in self.kept]
        missing = [name for name in theirs if name not in ours]
        if missing:
            return self.evidence.finding(
                "erased",
                f"`{missing[0]}` of the given graph is gone.",
                "Only named calls are erased, and only if nobody reads them any more. Do forward "
                "calls and the output still read the originals?",
                missing[:1],
            )
        gone = [name for name in self.given if name not in self.kept]
        left = [i for i, row in enumerate(self.got.rows)
                if row["name"] in gone and not self._is_copy(row)]  # fmt: skip
        for i in left:
            name = self.got.rows[i]["name"]
            readers = [k for k in self.evidence.derived.users[i] if k not in left]
            if readers:
                return self._wrong_reads(self.got.rows[readers[0]]["name"])
            return self.evidence.finding(
                "not-erased",
                f"`{name}` is named, and still there, though nobody needs it.",
                "A named call whose readers all read its copy has no readers left. When does the "
                "call before it lose its last reader?",
                (name,),
            )
        if ours != theirs:
            name = next(a for a, b in zip(ours, theirs, strict=True) if a != b)
            return self.evidence.finding(
                "moved", f"`{name}` is at another place than in the given graph.",
                "Originals stay where they are. Only copies are new.", (name,),
            )  # fmt: skip
        return None

    def _is_copy(self, row: NodeRecord) -> bool:
        return is_marked(self._notes(row))

    def _notes(self, row: NodeRecord) -> dict[str, Encoded]:
        place = [each["name"] for each in self.got.rows].index(row["name"])
        return self.evidence.graph["meta"][place]

    def _places(self) -> Iterator[Finding]:
        """Differences in the copies before each original, and in what it reads."""
        for (i, ours), (j, theirs) in zip(self.got.parts(), self.want.parts(), strict=True):
            name = self.want.rows[j]["name"]
            got = Counter(self.got.tokens[k] for k in ours)
            want = Counter(self.want.tokens[k] for k in theirs)
            lacking, extra = next(iter(want - got), None), next(iter(got - want), None)
            if lacking is not None:
                text = f"Directly before `{name}`, {self.copy_of(lacking)} is missing"
                text += f"; {self.copy_of(extra)} is there." if extra is not None else "."
                advice = "Which backward call is the first that needs it, directly or through "
                advice += "other named calls? And does the copy read copies of named calls alone?"
                yield self.evidence.finding("wrong-copies", text, advice, (name,))
            elif extra is not None:
                row = self.got.rows[next(k for k in ours if self.got.tokens[k] == extra)]
                yield self.evidence.finding(
                    "extra-copy",
                    f"`{row['name']}` is directly before `{name}`, and should not be there.",
                    "Each named call has one copy, which all later backward calls read. Which "
                    "backward call needs it first?",
                    (row["name"],),
                )
            elif self.got.calls[i] != self.want.calls[j]:
                yield self._wrong_reads(name)

    def _wrong_reads(self, name: str) -> Finding:
        what = "copies of named calls" if name in self._backward else "originals"
        return self.evidence.finding(
            "wrong-reads",
            f"`{name}` should read {what}, and otherwise what it read before.",
            "Who reads copies, and who originals? An argument may be in a list, or a keyword.",
            (name,),
        )

    @property
    def _backward(self) -> set[str]:
        return {node.name for node in self.gm.graph.nodes if is_backward(node)}

    def in_order(self) -> list[fx.Node]:
        """The nodes of the right graph, with copies in the order of the answer's graph."""
        nodes, found = list(self.gm.graph.nodes), []
        for (_, ours), (j, theirs) in zip(self.got.parts(), self.want.parts(), strict=True):
            left = list(theirs)
            for k in ours:
                place = next(p for p in left if self.want.tokens[p] == self.got.tokens[k])
                left.remove(place)
                found.append(nodes[place])
            found.append(nodes[j])
        return found


@lru_cache(maxsize=1)
def _compared(evidence: Evidence) -> tuple[_Comparison, Finding | None]:
    comparison = _Comparison(evidence)
    return comparison, comparison.finding()


@rule("returns nothing", Stage.KIND)
def returns_nothing(evidence: Evidence) -> Iterable[Finding]:
    """The answer must return `None`: it works in place."""
    returned = evidence.value["returned"]
    if returned is not None:
        what = returned if isinstance(returned, str) else kind_of(returned)
        yield evidence.finding(
            "returns-something",
            f"{evidence.you} returned {what}; it should return `None`.",
            "The graph module that is given is changed itself. There is nothing to return.",
        )


@rule("copies in their places", Stage.STRUCTURE)
def copies_in_their_places(evidence: Evidence) -> Iterable[Finding]:
    """The graph must have the right originals, copies, places and arguments."""
    _, finding = _compared(evidence)
    if finding:
        yield finding


@rule("meta of copies", Stage.STRUCTURE)
def meta_of_copies(evidence: Evidence) -> Iterable[Finding]:
    """Each node must have the right mark, its other notes, and a `val` of its own."""
    comparison, finding = _compared(evidence)
    if finding:
        return
    nodes = comparison.in_order()
    mode = mode_of(comparison.gm.graph)
    numbers = memory_numbers(nodes)
    renumbered: dict[int, int] = {}
    taken: dict[int, int] = {}
    for node, memory, row, meta in zip(
        nodes, numbers, evidence.graph["nodes"], evidence.graph["meta"], strict=True
    ):
        if node.op == "output":
            continue
        name = row["name"]
        custom = Encoder().encode(node.meta["custom"]) if "custom" in node.meta else None
        if _entries(meta.get("custom")) != _entries(custom):
            yield evidence.finding(
                "wrong-custom",
                f"`{name}` has {_written(meta.get('custom'))} as `custom`, not {_written(custom)}.",
                "A copy has the entries of its original and a mark of its own. The original has "
                "no mark. Do two nodes share one dictionary?",
                (name,),
            )
            return
        if meta.get("stack_trace") != node.meta.get("stack_trace"):
            yield evidence.finding(
                "meta-lost",
                f"`{name}` has lost the `stack_trace` of its original.",
                "Which ways of making a node also copy its `meta`?",
                (name,),
            )
            return
        text = val_text(node.meta.get("val"), mode)
        if meta.get("val") != text:
            has = f"has the `val` {meta['val']}" if "val" in meta else "has no `val`"
            yield evidence.finding(
                "wrong-val",
                f"`{name}` {has}; its value is {text}.",
                "A `val` is what the call gives for the `val`s of its arguments, within the mode "
                "of the others.",
                (name,),
            )
            return
        if is_backward(node) and node.name not in comparison.original:
            continue  # whether its `val` is made again is free
        for number, theirs in zip(meta["memory"]["list"], memory, strict=True):
            if renumbered.setdefault(number, theirs) != theirs or (
                taken.setdefault(theirs, number) != number
            ):
                yield evidence.finding(
                    "wrong-memory",
                    f"The `val` of `{name}` shares memory with another value than the call itself "
                    "would.",
                    "A copy makes memory of its own, and a view of a copy has that of the copy. "
                    "Which call gives the `val` of a copy?",
                    (name,),
                )
                return


def _entries(custom: Encoded) -> list[str]:
    return sorted(map(str, custom.get("dict", []))) if isinstance(custom, dict) else []


def _written(custom: Encoded) -> str:
    return "nothing" if custom is None else f"`{show(custom)}`"


def _look(evidence: Evidence) -> str:
    return "Compare the code of the graph module before and after your edit, line by line."


def step_itself(trial: Trial) -> Reference:
    """The results of the given graph module: they must stay."""
    return runs_of(trial.args[0], trial)


KEY = AnswerKey(
    (
        returns_nothing,
        caller_untouched,
        wellformed,
        known_targets,
        copies_in_their_places,
        meta_of_copies,
        runs,
        same_result_by("forward", "interpreter", "rebuilt", advice=_look),
        copies,
    ),
    step_itself,
)
