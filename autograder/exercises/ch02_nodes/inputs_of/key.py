"""The answer key of `inputs_of`: the nodes that each node reads, once and in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from torch import fx

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Reference,
    Stage,
    Trial,
    caller_untouched,
    kind_of,
    nothing_forbidden,
    returns,
    rule,
)


@rule("inputs of each node", Stage.RESULT)
def inputs_of_each_node(evidence: Evidence) -> Iterable[Finding]:
    """For each node, the answer lists the right nodes, each once, in the right order."""
    nodes = list(evidence.trial.args[0].graph.nodes)
    names = [node.name for node in nodes]
    rows, wanted = evidence.value["list"], evidence.reference.value["list"]
    for node, row, want in zip(nodes, rows, wanted, strict=True):
        found = _inputs_problem(names, row, want["list"])
        if found:
            code, text, advice = found
            where = f"`{node.name}` has args = {node.args} and kwargs = {dict(node.kwargs)}"
            yield evidence.finding(
                code, f"`inputs_of({node.name})` {text}. {where}.", advice, (node.name,)
            )
            return


def _inputs_problem(
    names: list[str], row: Encoded, want: list[Encoded]
) -> tuple[str, str, str] | None:
    """Finding code, clause and advice if the inputs of one node are wrong."""
    if not (isinstance(row, dict) and "list" in row):
        advice = "Return a list for every node, even if it reads nothing."
        return ("wrong-kind", f"returned {kind_of(row)}, not a `list`", advice)
    got = row["list"]
    strange = next((item for item in got if not (isinstance(item, dict) and "node" in item)), None)
    if isinstance(strange, dict) and "foreign" in strange:
        advice = "Does your function remember something of an earlier call?"
        return ("extra-input", f"lists `{strange['foreign']}`, a node of another graph", advice)
    if strange is not None or None in got:
        text = f"has {kind_of(strange)} in its list, which is not a node of the graph"
        return ("not-a-node", text, "The list holds the nodes themselves.")
    ours, theirs = [item["node"] for item in got], [item["node"] for item in want]
    missed = [names[i] for i in theirs if i not in ours]
    extra = [names[i] for i in ours if i not in theirs]
    if missed:
        advice = "Look for it in the arguments: in which container is it?"
        return ("missed-input", f"leaves out `{missed[0]}`", advice)
    if extra:
        advice = (
            "Where among these arguments is it? A string is not a node, and nodes that an "
            "earlier call found do not count."
        )
        return ("extra-input", f"lists `{extra[0]}`, which it does not read", advice)
    if len(ours) != len(theirs):
        twice = names[next(i for i, count in Counter(ours).items() if count > 1)]
        advice = "A node that is read twice is still one node."
        return ("listed-twice", f"lists `{twice}` more than once", advice)
    if ours != theirs:
        order = ", ".join(names[i] for i in ours)
        advice = "The order is that of first appearance: args from left to right, then kwargs."
        return ("wrong-order", f"lists the right nodes in another order: {order}", advice)
    return None


def _all_input_nodes(gm: fx.GraphModule) -> list[list[int]]:
    """PyTorch's own list for each node, which answers must not use."""
    place = {node: i for i, node in enumerate(gm.graph.nodes)}
    return [[place[read] for read in node.all_input_nodes] for node in gm.graph.nodes]


def of_each_node(trial: Trial) -> Reference:
    """The positions of the nodes that each node reads."""
    rows = _all_input_nodes(*trial.args)
    return Reference({"list": [{"list": [{"node": i} for i in row]} for row in rows]})


KEY = AnswerKey(
    (
        nothing_forbidden,
        returns("list").because("keeps what is not a list of rows away from the next rule"),
        caller_untouched,
        inputs_of_each_node,
    ),
    of_each_node,
)
