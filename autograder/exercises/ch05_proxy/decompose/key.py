"""The answer key of `decompose`: its rule's nodes replace each call of a function in `rules`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from torch import fx
from torch.fx.node import map_arg
from torch.fx.proxy import GraphAppendingTracer

from autograder.authoring.key import (
    PASS,
    AdviceRow,
    AdviceSlot,
    AnswerKey,
    CallRecord,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Reference,
    Stage,
    Table,
    Trial,
    exchanging,
    expressions,
    missing_and_extra,
    reads,
    rule,
    target_text,
    unwrap,
)

Rules = Mapping[Callable[..., Any], Callable[..., Any]]
RECORDED = "recorded by a rule"
"""The key in a node's ``meta`` for the function whose rule recorded it."""


def decomposed_graph(gm: fx.GraphModule, rules: Rules) -> fx.Graph:
    """A copy of a module's graph with each call of a function in `rules` replaced.

    Raises:
        Exception: any exception of a rule.
    """
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    values: dict[fx.Node, Any] = {}

    def proxy_of(node: fx.Node) -> Any:
        value = values[node]
        return fx.Proxy(value, tracer) if isinstance(value, fx.Node) else value

    for node in gm.graph.nodes:
        if node.op != "call_function" or node.target not in rules:
            values[node] = graph.node_copy(node, values.__getitem__)
            continue
        known = len(graph.nodes)
        result = rules[node.target](*map_arg(node.args, proxy_of), **map_arg(node.kwargs, proxy_of))
        values[node] = result.node if isinstance(result, fx.Proxy) else result
        for new in list(graph.nodes)[known:]:
            new.meta[RECORDED] = node.target
    return graph


@rule("recorded in the new graph", Stage.FORM)
def recorded_in_the_new_graph(evidence: Evidence) -> Iterable[Finding]:
    """Rules record into the result's graph, so no node reads a node of another graph."""
    for row in evidence.graph["nodes"]:
        for leaf in reads(row):
            if "foreign" in leaf:
                yield evidence.finding(
                    "foreign-node",
                    f"`{row['name']}` reads a node `{leaf['foreign']}` that belongs to another "
                    "graph than the one of your result.",
                    "Which graph does your tracer append to? Is each node that is read one of the "
                    "new graph, also inside tuples, lists and dictionaries?",
                    nodes=(row["name"],),
                )
                return


@rule("what the rules record", Stage.STRUCTURE)
def what_the_rules_record(evidence: Evidence) -> Iterable[Finding]:
    """The graph is the trace with each call that has a rule replaced by the nodes of its rule."""
    wanted = decomposed_graph(evidence.traced, evidence.trial.args[1])
    yield from _counts(evidence, wanted) or _nodes(evidence, wanted) or _dropped(evidence)


def _counts(evidence: Evidence, wanted: fx.Graph) -> list[Finding]:
    """A finding if the number of calls of a function with a rule is not as the rules record."""
    encode = Encoder(evidence.trial.functions).function
    after = [row for row in evidence.graph["nodes"] if row["op"] == "call_function"]
    calls = Counter(node.target for node in wanted.nodes if node.op == "call_function")
    read = Counter(node.target for node in _read(wanted) if node.op == "call_function")
    traced = Counter(
        node.target for node in evidence.traced.graph.nodes if node.op == "call_function"
    )
    for function in evidence.trial.args[1]:
        own = [row["name"] for row in after if row["target"] == encode(function)]
        name, extra = target_text(encode(function)), len(own) - calls[function]
        if len(own) < read[function] or (calls[function] and extra > traced[function]):
            return [_applied_twice(evidence, name, len(own), calls[function])]
        if extra > 0:
            still = f"`{own[-1]}` still calls `{name}`, for which there is a rule."
            if calls[function]:
                still = (
                    f"There is a rule for `{name}`. Your result calls it {_times(len(own))}, and "
                    f"the rules of this case call it {_times(calls[function])}."
                )
            return [
                evidence.finding(
                    "missed-call",
                    still,
                    "Every `call_function` node whose target is in `rules` counts, even one "
                    "that no node reads.",
                    nodes=own[-1:],
                )
            ]
    return []


def _read(graph: fx.Graph) -> set[fx.Node]:
    """The nodes whose values reach the output."""
    waiting = [node for node in graph.nodes if node.op == "output"]
    found = set(waiting)
    while waiting:
        new = [node for node in waiting.pop().all_input_nodes if node not in found]
        found.update(new)
        waiting += new
    return found


def _applied_twice(evidence: Evidence, name: str, got: int, wanted: int) -> Finding:
    has = f"calls it {_times(got)}" if got else "does not call it"
    return evidence.finding(
        "applied-twice",
        f"`{name}` has a rule, and the rules of this case themselves call it, {_times(wanted)} for "
        f"this model. These calls must stay as they are. Your result {has}.",
        "Rules are applied to the nodes of the model, not to what rules record.",
    )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _nodes(evidence: Evidence, wanted: fx.Graph) -> list[Finding]:
    """A finding about the first missing node, or else about the first extra one."""
    table: Table = {}
    rows = _rows(evidence, wanted)
    want = expressions(_lists_as_tuples(rows), table)
    got = expressions(_lists_as_tuples(evidence.graph["nodes"]), table)
    missing, extra = missing_and_extra(want, got)
    nodes, read = list(wanted.nodes), _read(wanted)
    # If two nodes are equal, the answer may remove the one without readers.
    short = Counter(want[i] for i, node in enumerate(nodes) if node in read) - Counter(got)
    for place in missing:
        if nodes[place] in read and short[want[place]]:
            return [_missing(evidence, rows[place], nodes[place])]
    if extra:
        name = evidence.graph["nodes"][extra[0]]["name"]
        return [
            evidence.finding(
                "changed-too-much",
                f"`{name}` in your result is neither a copy of a node of the model nor recorded "
                "by a rule.",
                "A rule is run once for each call, and no other node is added.",
                nodes=(name,),
            )
        ]
    return []


def _dropped(evidence: Evidence) -> list[Finding]:
    """A finding about a call of the model that is missing, although no rule affects it.

    Calls that have lost all readers because of a rule may stay or not.
    """
    table: Table = {}
    want = expressions(_lists_as_tuples(evidence.traced_graph["nodes"]), table)
    got = expressions(_lists_as_tuples(evidence.graph["nodes"]), table)
    nodes = list(evidence.traced.graph.nodes)
    left = _independent_of_rules(nodes, evidence.trial.args[1])
    calls = [i for i, n in enumerate(nodes) if n in left and n.op.startswith("call")]
    missing, _ = missing_and_extra([want[i] for i in calls], got)
    for place in missing[:1]:
        row = evidence.traced_graph["nodes"][calls[place]]
        return [_missing(evidence, row, nodes[calls[place]])]
    return []


def _independent_of_rules(nodes: list[fx.Node], rules: Rules) -> set[fx.Node]:
    """The nodes of a trace that neither influence a call with a rule nor depend on one."""
    after: set[fx.Node] = set()
    before: set[fx.Node] = set()
    for node in nodes:
        ruled = node.op == "call_function" and node.target in rules
        if ruled or not after.isdisjoint(node.all_input_nodes):
            after.add(node)
    for node in reversed(nodes):
        ruled = node.op == "call_function" and node.target in rules
        if ruled or not before.isdisjoint(node.users):
            before.add(node)
    return set(nodes) - after - before


def _rows(evidence: Evidence, graph: fx.Graph) -> list[CallRecord]:
    """The nodes of a graph in the format of `describe`, with the fields to compare."""
    nodes = list(graph.nodes)
    place = {node: i for i, node in enumerate(nodes)}
    encoder = Encoder(evidence.trial.functions, node=lambda n: {"node": place[n]})
    return [
        {
            "op": node.op,
            "name": node.name,
            "target": encoder.encode(node.target),
            "args": encoder.encode(node.args),
            "kwargs": encoder.encode(node.kwargs),
        }
        for node in nodes
    ]


def _missing(evidence: Evidence, row: CallRecord, node: fx.Node) -> Finding:
    target = target_text(row["target"])
    if RECORDED in node.meta:
        ruled = target_text(Encoder(evidence.trial.functions).function(node.meta[RECORDED]))
        return evidence.finding(
            "wrong-arguments",
            f"Run with the arguments of the model's call, the rule for `{ruled}` records a call "
            f"of `{target}`. With these inputs, it is not in your result.",
            "A rule takes what the call takes: nodes, lists of nodes, numbers, by position and "
            "by keyword.",
        )
    return evidence.finding(
        "other-nodes-changed",
        f"The model's node `{row['name']}`, {_kind(row, target)}, is missing from your result, "
        "or it does not read what it should read.",
        "What has no rule is copied, read or not. A copy reads the copies of what the model's "
        "node read.",
    )


def _kind(row: CallRecord, target: str) -> str:
    return "the output" if row["op"] == "output" else f"a `{row['op']}` of `{target}`"


def _lists_as_tuples(rows: Sequence[CallRecord]) -> list[CallRecord]:
    """The nodes with lists in their arguments as tuples, because functions accept both."""
    return [
        row
        if row["op"] == "output"
        else {**row, "args": _tupled(row["args"]), "kwargs": _tupled(row["kwargs"])}
        for row in rows
    ]


def _tupled(data: Encoded) -> Encoded:
    if isinstance(data, list):
        return [_tupled(item) for item in data]
    if not isinstance(data, dict):
        return data
    kind, body = unwrap(data)
    if kind in ("list", "tuple"):
        return {"tuple": [_tupled(item) for item in body]}
    return {kind: _tupled(body) if isinstance(body, list) else body}


def by_rules(trial: Trial) -> Reference:
    """The results of the model, if rules compute on values instead of recording."""
    rules: Rules = trial.args[1]

    class ByRules(fx.Interpreter):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(rules.get(target, target), args, kwargs)

    return exchanging(ByRules)(trial)


ADVICE = (
    AdviceRow(
        ("TypeError",),
        r"missing \d+ required positional argument",
        "The rule gets fewer arguments than it has parameters. How is this call written in the "
        "model below: which arguments come by position, which by keyword?",
        slot=AdviceSlot.LAST,
    ),
)

KEY = AnswerKey(
    (
        recorded_in_the_new_graph.because("says more about the plainest mistake than lint does"),
        *PASS,
        what_the_rules_record,
    ),
    by_rules,
    advice=ADVICE,
)
