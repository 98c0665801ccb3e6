"""The answer key of `sort_graph`: a unique order, or the nodes of one cycle."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable
from itertools import pairwise

from torch import fx

from autograder.authoring.key import (
    AdviceRow,
    AdviceSlot,
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Stage,
    caller_untouched,
    difference,
    rule,
    show,
    unrecorded,
)
from autograder.exercises.ch12_passes.keys import argument_finding, driving, said_in
from autograder.exercises.ch12_passes.sort_graph.models import shortened


def _graph(evidence: Evidence) -> fx.Graph:
    """The given graph."""
    asked = evidence.trial.args[0]
    graph: fx.Graph = asked.make(asked.root).graph
    return graph


def _names(evidence: Evidence) -> str:
    return str(evidence.trial.args[0].listed)


@rule("ends as it must", Stage.KIND)
def ends_as_it_must(evidence: Evidence) -> Iterable[Finding]:
    """A graph without a cycle must be sorted and `None` returned; one with a cycle refused."""
    got, want = said_in(evidence)
    if not got.keys() >= (want.keys() if got.get("ended") == want["ended"] else {"ended"}):
        yield unrecorded(evidence)
    elif got["ended"] not in ("returned", "refused"):
        yield unrecorded(evidence)
    elif got["ended"] != want["ended"] and want["ended"] == "refused":
        yield evidence.finding(
            "missed-cycle",
            f"In the graph with the nodes {_names(evidence)}, some nodes wait for each other, and "
            f"{evidence.you} raised no `ValueError`.",
            "When no node is left whose inputs are all there, and some nodes are left: what then?",
        )
    elif got["ended"] != want["ended"]:
        yield evidence.finding(
            "no-cycle",
            f"The graph with the nodes {_names(evidence)} has no cycle, and {evidence.you} raised "
            f"a `ValueError`: {show(got['message'])}.",
            "Go through the graph by hand. Which node is ready, and is not seen?",
        )
    elif got["ended"] == "returned" and got["nothing"] is not True:
        yield evidence.finding(
            "returns-something",
            f"{evidence.you} returned something; it should return `None`.",
            "The graph module itself is put into order. There is nothing to return.",
        )


@rule("the nodes of one cycle", Stage.STRUCTURE)
def the_nodes_of_one_cycle(evidence: Evidence) -> Iterable[Finding]:
    """The message must name exactly the nodes of one cycle."""
    got, _ = said_in(evidence)
    if got["ended"] != "refused":
        return
    graph = _graph(evidence)
    nodes = {node.name: node for node in graph.nodes}
    named = {word for word in re.findall(r"\w+", str(got["message"])) if word in nodes}
    if is_cycle([nodes[name] for name in named]):
        return
    listed = shortened([name for name in nodes if name in named]) or "no node at all"
    yield evidence.finding(
        "not-a-cycle",
        f"In the graph with the nodes {_names(evidence)}, the message names {listed}. That is not "
        "what one cycle consists of.",
        "From a node that is left, go to an input of it that is left, and so on, until you meet a "
        "node again. What you have passed since then is a cycle; what you passed before is none.",
        [name for name in nodes if name in named],
    )


def is_cycle(nodes: list[fx.Node]) -> bool:
    """Whether one cycle, from input to user, visits each of these nodes once."""
    if not nodes:
        return False
    start, count = nodes[0], len(nodes)
    paths = [[start]]
    while paths:
        path = paths.pop()
        reads = path[-1].all_input_nodes
        if len(path) == count and start in reads:
            return True
        paths += [[*path, read] for read in reads if read in nodes and read not in path]
    return False


@rule("the order", Stage.STRUCTURE)
def the_order(evidence: Evidence) -> Iterable[Finding]:
    """The nodes must be in the task's order, or in the old one if there is a cycle."""
    got, want = said_in(evidence)
    ours, theirs = (each["order"]["list"] for each in (got, want))
    if ours == theirs:
        return
    if got["ended"] == "refused":
        yield evidence.finding(
            "changed-anyway",
            f"The graph with the nodes {_names(evidence)} has a cycle, and is changed nevertheless:"
            f" now its nodes are {_listed(ours)}.",
            "Find out the whole order before you move the first node.",
        )
        return
    yield evidence.finding(
        "wrong-order",
        f"The nodes of the graph are {_names(evidence)}. Afterwards they are {_listed(ours)}; they "
        f"should be {_listed(theirs)}.",
        _where(ours, theirs),
    )


def _listed(names: list[Encoded]) -> str:
    return shortened([*map(str, names)])


def _where(ours: list[Encoded], theirs: list[Encoded]) -> str:
    if sorted(map(str, ours)) != sorted(map(str, theirs)):
        return "No node is added or erased, read or not."
    first = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
    if theirs[-1] != ours[-1]:
        return "The output comes last, wherever it was."
    there = f"after `{theirs[first - 1]}`" if first else "at first"
    return (
        f"Which nodes are ready {there}, with all of their inputs before them? The one that was "
        "first in the old graph is next."
    )


@rule("the same nodes", Stage.STRUCTURE)
def the_same_nodes(evidence: Evidence) -> Iterable[Finding]:
    """The node objects must be the same, with all of their fields."""
    got, want = said_in(evidence)
    if got["order"] != want["order"]:
        return
    if got["same nodes"] is not True:
        yield evidence.finding(
            "other-nodes",
            "The graph has other node objects than before.",
            "Others may hold on to the nodes. `node.append(other)` moves a node to another place.",
        )
        return
    rows = (each["rows"]["list"] for each in (got, want))
    for ours, theirs in zip(*rows, strict=True):
        if ours != theirs:
            parts = ("opcode", "name", "target", "arguments", "keyword arguments", "`meta`")
            pairs = zip(parts, ours["tuple"], theirs["tuple"], strict=True)
            part = next(part for part, a, b in pairs if a != b)
            name = str(theirs["tuple"][1])
            yield evidence.finding(
                "node-changed",
                f"The {part} of node `{name}` changed.",
                "Sorting moves nodes. It changes nothing else of a node.",
                (name,),
            )
            return


@rule("recompiled", Stage.STRUCTURE)
def recompiled(evidence: Evidence) -> Iterable[Finding]:
    """The code must match the graph; if there is a cycle, it must be the old code."""
    got, _ = said_in(evidence)
    key = "code" if got["ended"] == "refused" else "recompiled"
    if got[key] is not True:
        text = "The graph has a cycle, and the code of the module is not what it was"
        if key == "recompiled":
            text = "The code of the module is not what its graph says"
        advice = "Who generates the code of a graph module again, and when must it be done?"
        yield evidence.finding("stale-code" if key == "recompiled" else "changed-anyway",
                               f"{text}.", advice)  # fmt: skip


@rule("same result", Stage.RESULT)
def same_result(evidence: Evidence) -> Iterable[Finding]:
    """The sorted module must run."""
    got, want = said_in(evidence)
    if got["ended"] == "returned":
        tables = evidence.outcome.tensors, evidence.reference.tensors
        found = difference(got["result"], tables[0], want["result"], tables[1])
        if found:
            yield evidence.finding(
                found.code,
                f"Afterwards, the module gives something else than its graph says: {found.text}.",
                "What a module computes is its code. When is that written?",
            )
            return
    yield from argument_finding(evidence)


def ours(gm: fx.GraphModule) -> None:
    """Sort with a heap of ready nodes, ordered by their old positions."""
    nodes = list(gm.graph.nodes)
    place = {node: i for i, node in enumerate(nodes)}
    waits = {node: len(node.all_input_nodes) for node in nodes}
    ready = [place[node] for node in nodes if not waits[node] and node.op != "output"]
    order: list[fx.Node] = []
    while ready:
        order.append(nodes[heapq.heappop(ready)])
        for user in order[-1].users:
            waits[user] -= 1
            if not waits[user] and user.op != "output":
                heapq.heappush(ready, place[user])
    if len(order) < len(nodes) - 1:
        raise ValueError("there is a cycle")
    order.append(next(node for node in nodes if node.op == "output"))
    for first, second in pairwise(order):
        first.append(second)
    gm.recompile()


ADVICE = (
    AdviceRow(
        ("RuntimeError", "AssertionError", "KeyError", "TypeError"),
        "",
        "You raise this exception yourself. For nodes that wait for each other the exercise asks "
        "for another one. Is it a cycle that leads to this line, or something else?",
        line=r"^raise\b",
        where="call",
        slot=AdviceSlot.RAISE,
    ),
    AdviceRow(
        ("RuntimeError",),
        r"Argument '(\w+)' of Node '(\w+)' was used before it has been defined",
        "`lint` found `{2}` before `{1}`, which it reads. Should the graph be in order at this "
        "line? If it should, which of the two is not yet moved to its place?",
        where="call",
    ),
    AdviceRow(
        ("IndexError", "KeyError", "StopIteration"),
        r"list index out of range|pop from (?:an )?empty|^$",
        "Here your line takes something of which nothing is left. When no node is ready, "
        "and some are left, what do you know about them?",
        where="call",
    ),
    AdviceRow(
        ("RecursionError",),
        "",
        "A function calls itself once for each step of a path. Does the path in this graph come "
        "back to where it began, or is it only longer than Python can go?",
    ),
)

KEY = AnswerKey(
    (
        ends_as_it_must,
        caller_untouched,
        the_nodes_of_one_cycle,
        the_order,
        the_same_nodes,
        recompiled,
        same_result.because("the code may be what the graph says, and not what runs"),
    ),
    driving(ours),
    oracle_only=True,
    advice=ADVICE,
)
