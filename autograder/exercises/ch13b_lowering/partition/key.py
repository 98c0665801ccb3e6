"""The answer key of `partition`: sets of names, as few as possible without a cycle.

The smallest number follows without a search. Count how often a path leaves the backend: each time
an unsupported call reads a supported one. Two calls cannot be in one set if a path between them
leaves the backend. So if a path leaves it k times before its last supported call, k + 1 sets are
necessary. This many are enough: put calls with the same largest count into one set; then each set
reads only from sets with lower counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from torch import fx

from autograder.authoring.key import (
    AdviceRow,
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Stage,
    answer_of,
    caller_untouched,
    kind_of,
    returns,
    rule,
    show,
)


def _is_taken(node: fx.Node, supported: Callable[[fx.Node], bool]) -> bool:
    return node.op in ("call_function", "call_method", "call_module") and bool(supported(node))


def fewest(gm: fx.GraphModule, supported: Callable[[fx.Node], bool]) -> int:
    """The smallest number of sets."""
    left: dict[fx.Node, int] = {}
    most = 0
    for node in gm.graph.nodes:
        taken = _is_taken(node, supported)
        left[node] = max(
            (left[read] + (not taken and _is_taken(read, supported)) for read in _read_by(node)),
            default=0,
        )
        most = max(most, left[node] + 1 if taken else 0)
    return most


def _read_by(node: fx.Node) -> list[fx.Node]:
    return node.all_input_nodes


class _Sets:
    """The returned sets, and their graph."""

    def __init__(self, evidence: Evidence) -> None:
        gm, supported = evidence.trial.args
        nodes = list(gm.graph.nodes)
        self.ops = {node.name: str(node.op) for node in nodes}
        self.reads = {node.name: [read.name for read in _read_by(node)] for node in nodes}
        self.taken = [node.name for node in nodes if _is_taken(node, supported)]
        self.sets: list[list[Any]] = [item["set"] for item in evidence.value["list"]]
        self.of: dict[str, int] = {}
        for i, names in enumerate(self.sets):
            for name in names:
                self.of.setdefault(name, i)

    def cycle(self) -> list[str]:
        """The nodes around a cycle between sets, each treated as one node; empty if there is none.

        The list has pairs of nodes: a reader in one set, and its input in the next set.
        """
        group = {name: self.of.get(name, name) for name in self.ops}
        waits: dict[Any, dict[Any, tuple[str, str]]] = {each: {} for each in group.values()}
        for name, read in self.reads.items():
            for each in read:
                if group[each] != group[name]:
                    waits[group[name]].setdefault(group[each], (name, each))
        readers: dict[Any, list[Any]] = {each: [] for each in waits}
        for reader, needs in waits.items():
            for need in needs:
                readers[need].append(reader)
        left_over = {each: len(needs) for each, needs in waits.items()}
        ready = [each for each, count in left_over.items() if not count]
        while ready:
            done = ready.pop()
            del left_over[done]
            for reader in readers[done]:
                left_over[reader] -= 1
                if not left_over[reader]:
                    ready.append(reader)
        waits = {
            each: {need: how for need, how in waits[each].items() if need in left_over}
            for each in left_over
        }
        if not waits:
            return []
        walked: list[Any] = [next(iter(waits))]
        while walked[-1] not in walked[:-1]:
            walked.append(next(iter(waits[walked[-1]])))
        walked = walked[walked.index(walked[-1]) :]
        steps = [waits[a][b] for a, b in zip(walked, walked[1:], strict=False)]
        return [word for reader, read in steps for word in (reader, read)]


@lru_cache(maxsize=1)
def _of(evidence: Evidence) -> _Sets:
    """The sets of an outcome, read once."""
    return _Sets(evidence)


def _wrong_item(value: Encoded) -> Encoded:
    """The type of the first list item that is not a set, or of the first wrong name."""
    for item in value["list"]:
        if not isinstance(item, dict) or "set" not in item:
            return {"item": kind_of(item)}
        for name in item["set"]:
            if not isinstance(name, str):
                return {"name": kind_of(name)}
    return None


@rule("sets of names", Stage.KIND)
def sets_of_names(evidence: Evidence) -> Iterable[Finding]:
    """Each item of the list must be a set of strings."""
    value = evidence.outcome.value
    if not isinstance(value, dict) or "list" not in value:
        return  # `returns` reports it
    wrong = _wrong_item(value)
    if wrong:
        what = "item of the list" if "item" in wrong else "entry of a set"
        found = next(iter(wrong.values()))
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} returned a list, but an {what} is {found}, not a "
            f"{'`set`' if 'item' in wrong else '`str`'}.",
            "Each item is a `set` of names, such as `{'relu', 'relu_1'}`; a name is `node.name`.",
        )


@rule("no other nodes", Stage.STRUCTURE)
def no_other_nodes(evidence: Evidence) -> Iterable[Finding]:
    """The sets must contain only supported calls."""
    found = _of(evidence)
    extra = next((name for name in found.of if name not in found.taken), None)
    if extra is None:
        return
    if extra not in found.ops:
        text = f"`{extra}` is in a set, and no node of the graph has this name."
        advice = "Are these names of another trace, or targets?"
    elif not found.ops[extra].startswith("call_"):
        text = f"`{extra}` is in a set, and it is a node of kind `{found.ops[extra]}`."
        advice = "Only calls can be in a set, whatever `supported` says of other nodes."
    else:
        text = f"`{extra}` is in a set, but `supported` says no to it."
        advice = "Which of your lines puts a node into a set without asking `supported`?"
    yield evidence.finding("not-supported", text, advice, (extra,))


@rule("all supported calls", Stage.STRUCTURE)
def all_supported_calls(evidence: Evidence) -> Iterable[Finding]:
    """Each supported call must be in a set."""
    found = _of(evidence)
    missing = [name for name in found.taken if name not in found.of]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        yield evidence.finding(
            "missing",
            f"`{missing[0]}` is supported, and in no set{more}.",
            "Calls of functions, methods and modules count, read or not, even a single one.",
            tuple(missing[:3]),
        )


@rule("in one set", Stage.STRUCTURE)
def in_one_set(evidence: Evidence) -> Iterable[Finding]:
    """No supported call may be in two sets."""
    found = _of(evidence)
    for name in found.taken:
        if sum(name in names for names in found.sets) > 1:
            text = f"`{name}` is in more than one set, so it would be computed twice."
            yield evidence.finding(
                "in-two-sets", text, "Which of your lines adds it again?", (name,)
            )
            return


@rule("no empty set", Stage.STRUCTURE)
def no_empty_set(evidence: Evidence) -> Iterable[Finding]:
    """No set may be empty."""
    found = _of(evidence)
    if not all(found.sets):
        text = "There is an empty set."
        yield evidence.finding("empty-set", text, "Make a set when there is a node for it.")


@rule("no cycle", Stage.RESULT)
def no_cycle(evidence: Evidence) -> Iterable[Finding]:
    """The sets must not form a cycle, each treated as one node."""
    found = _of(evidence)
    cycle = found.cycle()
    if not cycle:
        return
    pairs = list(zip(cycle[::2], cycle[1::2], strict=True))
    steps = [f"`{a}` reads `{b}`" for a, b in pairs[:1]] + [
        f"`{a}`{'' if a == before else f', in one set with `{before}`,'} reads `{b}`"
        for (_, before), (a, b) in zip(pairs, pairs[1:], strict=False)
    ]
    more = "" if len(steps) <= 5 else f"; and so on, in {len(steps)} steps"
    in_set = next(found.of[name] for name in cycle if name in found.of)
    names = show({"set": sorted(found.sets[in_set])})
    yield evidence.finding(
        "cycle",
        f"The set {names} would wait for itself: {'; '.join(steps[:5])}{more}.",
        "Treat each set as one node: everything that it reads must be ready before it starts. "
        "Follow this circle in the graph.",
        tuple(dict.fromkeys(cycle[:10])),
    )


@rule("few sets", Stage.RESULT)
def few_sets(evidence: Evidence) -> Iterable[Finding]:
    """There must not be more sets than necessary."""
    count = sum(1 for names in _of(evidence).sets if names)
    need: Any = evidence.reference.value
    if count > need:
        yield evidence.finding(
            "too-many",
            f"{evidence.you} makes {count} sets, and {need} {'is' if need == 1 else 'are'} enough.",
            "Calls need not be connected to be in one set. Which calls can be in the first set, if "
            "as many as possible are? And then in the second?",
        )


ADVICE = (
    AdviceRow(
        ("RecursionError",),
        "",
        "A function calls itself once for each node of a long path, and Python does not go that "
        "deep. `graph.nodes` gives each node after all that it reads: with what is noted of these "
        "in a dictionary, one loop is enough.",
        line=r"^(?!.*\bself\.run_node\()",
    ),
)

KEY = AnswerKey(
    (
        returns("list").because("the rules after it read a list"),
        sets_of_names.because("the rules after it read sets of names"),
        caller_untouched,
        no_other_nodes,
        all_supported_calls,
        in_one_set,
        no_empty_set,
        no_cycle,
        few_sets,
    ),
    answer_of(fewest),
    oracle_only=True,
    advice=ADVICE,
)
