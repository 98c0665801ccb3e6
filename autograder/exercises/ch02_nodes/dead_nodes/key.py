"""The answer key of `dead_nodes`: the names of the nodes that PyTorch's own elimination removes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from torch import fx, nn

from autograder.authoring.key import (
    AnswerKey,
    Evidence,
    Finding,
    NodeRecord,
    Stage,
    answer_of,
    caller_untouched,
    kind_of,
    nothing_forbidden,
    returns,
    rule,
)


@rule("right names", Stage.RESULT)
def right_names(evidence: Evidence) -> Iterable[Finding]:
    """The names of the dead nodes, in graph order."""
    got, want = evidence.value["list"], evidence.reference.value["list"]
    rows = {row["name"]: row for row in evidence.traced_graph["nodes"]}
    for name in got:
        if not isinstance(name, str):
            yield evidence.finding(
                "wrong-kind",
                f"Your list has {kind_of(name)} in it; it must hold names.",
                "The name of a node is `node.name`, a string.",
            )
            return
        if name not in rows:
            yield evidence.finding(
                "unknown-name",
                f"You list `{name}`, and no node of a fresh trace has this name.",
                "The names are those in the trace of the model that you were given.",
            )
            return
        if name not in want:
            yield _not_dead(evidence, rows[name])
            return
    yield from _missed_or_disordered(evidence, got, want)


def _not_dead(evidence: Evidence, row: NodeRecord) -> Finding:
    name = row["name"]
    if row["op"] == "placeholder":
        return evidence.finding(
            "lists-placeholder",
            f"You list `{name}`, a placeholder.",
            "Placeholders belong to the signature; whether they are read does not matter.",
            (name,),
        )
    if row["op"] == "output":
        return evidence.finding(
            "lists-output",
            f"You list `{name}`, the output itself.",
            "Nothing reads the output, and still it is what all is for.",
            (name,),
        )
    return evidence.finding(
        "not-dead",
        f"You list `{name}`, and its value reaches the output.",
        "Follow its readers, and their readers, to the output.",
        (name,),
    )


def _missed_or_disordered(evidence: Evidence, got: list[Any], want: list[Any]) -> Iterator[Finding]:
    missed = [name for name in want if name not in got]
    if missed:
        yield evidence.finding(
            "missed-dead",
            f"You leave out `{missed[0]}`, whose value never reaches the output.",
            "Does anything that counts read it? Who reads it, and who reads its readers?"
            if got
            else "Your list is empty: for which node does your condition hold? `node.users` is a "
            "dictionary.",
            (missed[0],),
        )
    elif got != want:
        twice = len(got) != len(want)
        yield evidence.finding(
            "listed-twice" if twice else "wrong-order",
            "You list a name more than once."
            if twice
            else f"The names are right, their order is not: {', '.join(got)}.",
            "The order is that of the graph, each name once.",
        )


def eliminated(model: nn.Module) -> list[str]:
    """The nodes that PyTorch's own elimination removes, by name, if no node has a side effect."""
    gm = fx.symbolic_trace(model)
    names = [node.name for node in gm.graph.nodes]
    gm.graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    left = {node.name for node in gm.graph.nodes}
    return [name for name in names if name not in left]


KEY = AnswerKey(
    (
        nothing_forbidden,
        returns("list").because("names the kind that came back, before any name is compared"),
        caller_untouched,
        right_names,
    ),
    answer_of(eliminated),
)
