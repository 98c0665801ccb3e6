"""Rules for passes that rewrite places: every place must be rewritten, and nothing else.

The places are found in a fresh trace of the model, by the definition of the task. The result is
compared by the number of its nodes of each kind, so that names, order and the way in which a node
was made do not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from autograder.core.graph_record import (
    CallRecord,
    GraphRecord,
    called_function,
    classes_of,
    target_path,
)
from autograder.core.graph_view import target_text
from autograder.core.verdict import Finding
from autograder.judge.compare import times
from autograder.judge.evidence import Evidence
from autograder.judge.rule import Rule, Stage

# Spellings of one operation count as the same kind of node.
_KINDS = {
    "operator.add": "an addition",
    "torch.add": "an addition",
    "operator.mul": "a product",
    "torch.mul": "a product",
    "torch._C._nn.hardswish": "a call of `F.hardswish`",
}


@dataclass(frozen=True)
class Place:
    """One place to rewrite.

    Attributes:
        nodes: names of the nodes to remove; the last of them is replaced.
        says: the end of a sentence about the last node, like ``adds the product `mul` to `z` ``.
    """

    nodes: tuple[str, ...]
    says: str


Find = Callable[[Evidence], list[Place]]


WhyNot = Callable[[Evidence, str], str]
"""Returns the condition that a wrongly rewritten node of the trace fails; `""` if unknown."""


def places_rewritten(find: Find, new: str, advice: str, why_not: WhyNot | None = None) -> Rule:
    """Require that every place has become one node of the kind `new`, and the rest is unchanged.

    Args:
        find: finds the places of a case's model.
        new: the kind of the node that replaces a place.
        advice: advice about a missed place.
        why_not: explains why a removed node was not a place.
    """

    def rule(evidence: Evidence) -> Iterable[Finding]:
        places = find(evidence)
        before = {
            row["name"]: kind_of_node(row, evidence.traced_graph)
            for row in evidence.traced_graph["nodes"]
        }
        want = Counter(before.values())
        want.subtract(before[name] for place in places for name in place.nodes)
        want[new] += len(places)
        rows = evidence.graph["nodes"]
        got = Counter(kind_of_node(row, evidence.graph) for row in rows)
        yield from _differences(evidence, places, new, advice, want, got, why_not)

    return Rule("places rewritten", Stage.STRUCTURE, rule)


def _differences(
    evidence: Evidence,
    places: list[Place],
    new: str,
    advice: str,
    want: Counter[str],
    got: Counter[str],
    why_not: WhyNot | None,
) -> Iterator[Finding]:
    here = {(row["name"], kind_of_node(row, evidence.graph)) for row in evidence.graph["nodes"]}
    names = {
        row["name"]: kind_of_node(row, evidence.traced_graph)
        for row in evidence.traced_graph["nodes"]
    }
    if got[new] < want[new]:
        left = [p for p in places if (p.nodes[-1], names[p.nodes[-1]]) in here]
        text = (
            f"`{left[0].nodes[-1]}` {left[0].says}: that is a place to rewrite."
            if left
            else (f"{_occurs(got[new], new)}; in this model {_places(want[new])} for it.")
        )
        nodes = left[0].nodes if left else ()
        yield evidence.finding("missed-place", text, advice if left else _GONE, nodes=nodes)
    elif got[new] > want[new]:
        known = {name for place in places for name in place.nodes}
        gone = (name for name, kind in names.items() if (name, kind) not in here)
        reasons = (why_not(evidence, name) for name in gone if why_not and name not in known)
        yield evidence.finding(
            "changed-too-much",
            f"{_occurs(got[new], new)}; in this model {_places(want[new])} for it.",
            next(filter(None, reasons), "")
            or "Go through the conditions of the exercise one by one, for the place below that "
            "must stay as it is.",
        )
    else:
        yield from _other_kinds(evidence, places, want, got)


_GONE = (
    "What was there is gone, and something else has come. If `replace_pattern` put it there: it "
    "traces the replacement, too, and goes into every module that is not PyTorch's own."
)


def _other_kinds(
    evidence: Evidence, places: list[Place], want: Counter[str], got: Counter[str]
) -> Iterator[Finding]:
    gone = {
        kind_of_node(row, evidence.traced_graph): row["name"]
        for place in places
        for row in evidence.traced_graph["nodes"]
        if row["name"] in place.nodes
    }
    for kind in got | want:
        if got[kind] > want[kind] and kind in gone:
            yield evidence.finding(
                "left-behind",
                f"{_occurs(got[kind], kind)}; after the rewriting it should "
                f"{'not be there any more' if not want[kind] else f'be {times(want[kind])}'}.",
                "What a rewritten place computed before has to be erased with it.",
            )
            return
        if got[kind] != want[kind]:
            yield evidence.finding(
                "changed-too-much",
                f"{_occurs(got[kind], kind)}, and it should be {times(want[kind])}: all that is "
                "outside the rewritten places stays as it is.",
                "Compare the graphs before and after.",
            )
            return


def _occurs(count: int, kind: str) -> str:
    if not count:
        return f"Your graph has no such node: {kind}"
    return f"{kind[0].upper()}{kind[1:]} is in your graph {times(count)}"


def _places(count: int) -> str:
    return {0: "there is no place", 1: "there is one place"}.get(count, f"there are {count} places")


def kind_of_node(row: CallRecord, graph: GraphRecord) -> str:
    """The kind of a described node, in words; spellings of one operation are the same kind."""
    op, target = row["op"], row["target"]
    if op == "call_function":
        return _KINDS.get(called_function(row)) or f"a call of `{target_text(target)}`"
    if op == "call_method":
        return f"a call of `.{target}()`"
    if op == "call_module":
        return f"a call of a `{class_of(target_path(row), graph).rpartition('.')[2]}`"
    return f"a `{op}` node"


def class_of(path: str, graph: GraphRecord) -> str:
    """The full name of the class of a described module; ``""`` if the path is unknown."""
    return classes_of(graph).get(path, "")
