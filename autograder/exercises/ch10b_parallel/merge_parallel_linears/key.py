"""The answer key of `merge_parallel_linears`: the fewest linear layers that the task allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from torch import fx, nn

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    Evidence,
    Finding,
    GraphRecord,
    Stage,
    classes_of,
    model_itself,
    modules_by_path,
    none_overwritten,
    rule,
    target_path,
    target_text,
)

LINEAR = "a linear layer"


def groups_of(gm: fx.GraphModule) -> list[list[str]]:
    """The names of the calls to merge in a trace; each group has two or more."""
    modules = dict(gm.named_modules(remove_duplicate=False))
    calls = Counter(node.target for node in gm.graph.nodes if node.op == "call_module")
    writes: Counter[fx.Node] = Counter()
    found: dict[tuple[fx.Node, int], list[str]] = {}
    for node in gm.graph.nodes:
        writes.update(_written_by(node, modules))
        linear = node.op == "call_module" and type(modules[str(node.target)]) is nn.Linear
        if linear and calls[node.target] == 1:
            (source,) = node.all_input_nodes
            found.setdefault((source, writes[source]), []).append(node.name)
    return [names for names in found.values() if len(names) > 1]


def _written_by(node: fx.Node, modules: dict[str, nn.Module]) -> Iterator[fx.Node]:
    """The values that a node writes into; this exercise's models have no other writes."""
    by_name = node.op == "call_method" and str(node.target).endswith("_")
    by_module = node.op == "call_module" and getattr(modules[str(node.target)], "inplace", False)
    if by_name or by_module or node.kwargs.get("inplace"):
        yield node.all_input_nodes[0]


@rule("layers merged", Stage.STRUCTURE)
def layers_merged(evidence: Evidence) -> Iterable[Finding]:
    """Each group must be one layer; no other layer may be merged, and no other call removed."""
    groups = groups_of(evidence.traced)
    before, after = _kinds(evidence.traced_graph), _kinds(evidence.graph)
    want = before[LINEAR] - sum(len(group) - 1 for group in groups)
    if after[LINEAR] > want:
        names = ", ".join(f"`{name}`" for name in _left(evidence, groups))
        text = f"Your graph runs {_layers(after[LINEAR])}; {want} would do."
        more = (
            f" In the model, {names} read the same value, with no write between." if names else ""
        )
        advice = "Group all calls of a value first, whatever is between them; then rewrite."
        yield evidence.finding("missed-place", text + more, advice)
    elif after[LINEAR] < want:
        yield evidence.finding(
            "changed-too-much",
            f"Your graph runs {_layers(after[LINEAR])}; {want} must be left.",
            "A layer that is alone, is called twice, or reads another value is left, and nothing "
            "is merged across a write.",
        )
    else:
        for kind in (before - after).keys() - {LINEAR}:
            yield evidence.finding(
                "changed-too-much",
                f"Your graph calls {kind} less often than the model.",
                "Only the linear layers of a group change; all else stays.",
            )
            return
        yield from _taken_apart(evidence, groups)


def _taken_apart(evidence: Evidence, groups: list[list[str]]) -> Iterator[Finding]:
    """A finding if a call outside all groups runs another layer than in the model."""
    grouped = {name for group in groups for name in group}
    modules = dict(evidence.traced.named_modules(remove_duplicate=False))
    called = _called(evidence.graph)
    for node in evidence.traced.graph.nodes:
        linear = node.op == "call_module" and type(modules[str(node.target)]) is nn.Linear
        if linear and node.name not in grouped and node.target not in called:
            yield evidence.finding(
                "changed-too-much",
                f"In the model, `{node.name}` calls the layer `{node.target}`, and there is "
                "nothing to merge this call with. No node of your graph calls this layer.",
                "A layer that is alone, or called twice, is left. How many calls has a group?",
                nodes=(node.name,),
            )
            return


def _called(data: GraphRecord) -> set[str]:
    """The modules that a graph calls, by their names in the graph and in the model."""
    modules = modules_by_path(data)
    targets = {target_path(node) for node in data["nodes"] if node["op"] == "call_module"}
    rows = [modules[target] for target in targets if target in modules]
    return targets | {row["path"] for row in rows} | {str(row["origin"]) for row in rows}


def _left(evidence: Evidence, groups: list[list[str]]) -> list[str]:
    """The group with the most remaining calls, by name."""
    there = {row["name"] for row in evidence.graph["nodes"] if row["op"] == "call_module"}
    return max(groups, key=lambda group: len(there & {*group}), default=[])


def _layers(count: int) -> str:
    return "1 linear layer" if count == 1 else f"{count} linear layers"


def _kinds(data: GraphRecord) -> Counter[str]:
    """The number of calls of each kind in a graph."""
    classes, found = classes_of(data), Counter[str]()
    for row in data["nodes"]:
        op, target = row["op"], row["target"]
        if op == "call_module":
            name = classes.get(target_path(row), "").rpartition(".")[2]
            found[LINEAR if name == "Linear" else f"a `{name}`"] += 1
        elif op == "call_function":
            text = target_text(target)
            found[LINEAR if text.endswith(".linear") else f"`{text}`"] += 1
        elif op == "call_method":
            found[f"`.{target}()`"] += 1
    return found


KEY = AnswerKey(
    (
        *PASS,
        none_overwritten("torch.nn.modules.linear.Linear").because(
            "names the module, before calls are counted"
        ),
        layers_merged,
    ),
    model_itself,
)
