"""Rules for a well-formed graph: the checks of `Graph.lint()`, and many more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from autograder.core.codec import Tagged
from autograder.core.graph_record import GraphRecord, NodeRecord, reads
from autograder.core.verdict import Finding
from autograder.judge.rule import Stage, rule

if False:  # for type checkers
    from autograder.judge import Evidence


_IS_READ = (
    "`erase_node` refuses a node that somebody reads, so this one was read only after it was "
    "erased: look for a list, a dict or a variable that still holds the old node."
)
_READS_AGAIN = (
    "An erased node reads nothing, so this one was given arguments after it was erased: look for a "
    "list, a dict or a variable that still holds it."
)
_TOO_EARLY = (
    "Look at where the new node is inserted: before its first reader, after all that it reads."
)
_LOOP = (
    "The two need each other. `replace_all_uses_with` changes all readers, also a new node that "
    "must still read the old value: look at what each new node reads afterwards."
)


@rule("wellformed", Stage.FORM)
def wellformed(evidence: Evidence) -> Iterable[Finding]:
    """The graph passes lint, has one output at its end, no foreign nodes, no raw tensors, …"""
    data = evidence.graph
    found = [f for check in _CHECKS for f in check(evidence, data)]
    refusal = data["lint"] or evidence.derived.lint
    if not found and refusal:
        found.append(
            evidence.finding(
                "lint",
                f"`graph.lint()` refuses your graph: {refusal}.",
                "Call `gm.graph.lint()` at the end of your function while you work on it.",
            )
        )
    return found


def _outputs(evidence: Evidence, data: GraphRecord) -> Iterator[Finding]:
    where = [i for i, row in enumerate(data["nodes"]) if row["op"] == "output"]
    names = tuple(data["nodes"][i]["name"] for i in where)
    if not where:
        yield evidence.finding(
            "no-output",
            "Your graph has no output node, so the module returns `None`.",
            "Is it erased, is it not copied, or is `graph.output(...)` never called?",
        )
    elif len(where) > 1:
        yield evidence.finding(
            "several-outputs",
            f"Your graph has {len(where)} output nodes; a graph has one.",
            "To return something else, change the arguments of the output node that is there.",
            nodes=names,
        )
    elif where[0] != len(data["nodes"]) - 1:
        yield evidence.finding(
            "output-not-last",
            "The output node is not the last node of your graph.",
            "New nodes go where the graph's insertion point is: set it with "
            "`graph.inserting_before(node)` or `graph.inserting_after(node)`.",
            nodes=names,
        )


def _links(evidence: Evidence, data: GraphRecord) -> Iterator[Finding]:
    for i, row in enumerate(data["nodes"]):
        for leaf in reads(row):
            finding = _link_finding(evidence, data, i, row, leaf)
            if finding:
                yield finding
                return
        stray = next((u for u in row["users"] if "node" not in u), None)
        if stray:
            ((kind, name),) = stray.items()
            yield evidence.finding(
                "foreign-node",
                f"A node `{name}` that "
                + ("was erased" if kind == "erased" else "belongs to another graph")
                + f" still counts as a user of `{row['name']}`.",
                _READS_AGAIN
                if kind == "erased"
                else "Nodes of two graphs must not be mixed: copy a node with `graph.node_copy` "
                "and map its arguments.",
                nodes=(row["name"],),
            )
            return


def _untrue_links(evidence: Evidence, data: GraphRecord) -> Iterator[Finding]:
    for name in evidence.derived.untrue_links[:1]:
        yield evidence.finding(
            "untrue-links",
            f"What `{name}` has noted of its inputs and readers is not what arguments say.",
            "FX keeps both in step when you set `node.args`, or call `replace_input_with` or "
            "`replace_all_uses_with`; leave `users` and what begins with `_` to FX.",
            nodes=(name,),
        )


def _link_finding(
    evidence: Evidence, data: GraphRecord, i: int, row: NodeRecord, leaf: Tagged
) -> Finding | None:
    name = row["name"]
    if "foreign" in leaf or "erased" in leaf:
        ((kind, other),) = leaf.items()
        what = "was erased from the graph" if kind == "erased" else "belongs to another graph"
        return evidence.finding(
            "foreign-node",
            f"`{name}` reads a node `{other}` that {what}.",
            _IS_READ
            if kind == "erased"
            else "Every node that a graph reads must have been created in that same graph; "
            "`copy.deepcopy(node)` makes a node of another one.",
            nodes=(name,),
        )
    if leaf.get("node") == i:
        return evidence.finding(
            "self-loop",
            f"`{name}` reads its own value.",
            "`replace_all_uses_with` also rewired the new node itself; look at what the new "
            "node reads afterwards.",
            nodes=(name,),
        )
    if "node" in leaf and leaf["node"] > i:
        other = data["nodes"][leaf["node"]]["name"]
        return evidence.finding(
            "use-before-definition",
            f"`{name}` reads `{other}`, which is computed only later.",
            _LOOP if _needs(data, leaf["node"], i) else _TOO_EARLY,
            nodes=(name, other),
        )
    return None


def _needs(data: GraphRecord, later: int, earlier: int) -> bool:
    """Whether a node depends on another one, directly or through other nodes."""
    seen: set[int] = set()
    waiting = [later]
    while waiting:
        at = waiting.pop()
        if at == earlier:
            return True
        if at not in seen:
            seen.add(at)
            waiting += [leaf["node"] for leaf in reads(data["nodes"][at]) if "node" in leaf]
    return False


def _raw_tensors(evidence: Evidence, data: GraphRecord) -> Iterator[Finding]:
    for row in data["nodes"]:
        if any("tensor" in leaf for leaf in reads(row)):
            yield evidence.finding(
                "raw-tensor",
                f"`{row['name']}` has a tensor among its arguments.",
                "A graph's code cannot write a tensor down: register it on the module and "
                "read it with a `get_attr` node, or use a Python number.",
                nodes=(row["name"],),
            )
            return


def _proxies(evidence: Evidence, data: GraphRecord) -> Iterator[Finding]:
    for row in data["nodes"]:
        if any(leaf.get("opaque") == "Proxy" for leaf in reads(row)):
            yield evidence.finding(
                "proxy-argument",
                f"`{row['name']}` has a Proxy among its arguments, where a node belongs.",
                "The methods of a `Graph` take nodes; a Proxy knows its node.",
                nodes=(row["name"],),
            )
            return


def _targets(evidence: Evidence, data: GraphRecord) -> Iterator[Finding]:
    for name in (*data["unresolved"], *evidence.derived.unresolved):
        row = next(row for row in data["nodes"] if row["name"] == name)
        yield evidence.finding(
            "missing-target",
            f"`{name}` refers to `{row['target']}`, which the module does not have.",
            "Add the submodule or tensor to the module before the graph names it; keep what a "
            "node still uses.",
            nodes=(name,),
        )
        return


def _dotted_names(evidence: Evidence, data: GraphRecord) -> Iterator[Finding]:
    for row in data["modules"]:
        if "same_as" in row:
            continue
        for key in (*row["children"], *row["params"], *row["buffers"]):
            if "." in key:
                yield evidence.finding(
                    "dotted-name",
                    f"The module has an entry whose name is {key!r}, dot and all; it is not "
                    "the nested module of that path.",
                    "`setattr` does not follow dots; `gm.add_submodule(path, module)` does.",
                )
                return


def _code(evidence: Evidence, data: GraphRecord) -> Iterator[Finding]:
    if data["fresh_code"] is None or evidence.derived.code is None:
        yield evidence.finding(
            "no-code",
            "No Python code can be generated from your graph.",
            "Look at the targets and arguments of the nodes that you made.",
        )
    elif data["code"] != data["fresh_code"]:
        yield evidence.finding(
            "stale-code",
            "The module still runs its old code: `gm.code` is not what the graph says.",
            "A `GraphModule` does not notice that its graph was edited; something has to tell it.",
        )


def _parameters(evidence: Evidence, data: GraphRecord) -> Iterator[Finding]:
    nested = data["codegen"] == "_PyTreeCodeGen"  # one parameter for several placeholders
    fresh = data["code"] == data["fresh_code"] and not nested
    if fresh and data["signature"] != evidence.derived.signature:
        yield evidence.finding(
            "untrue-signature",
            "The module's `forward` does not take the parameters that its graph has placeholders "
            "for.",
            "`forward` is made from the graph by `recompile()`; nothing else may replace it.",
        )


def _ownership(evidence: Evidence, data: GraphRecord) -> Iterator[Finding]:
    if not data["owner"]:
        yield evidence.finding(
            "wrong-owner",
            "The module's graph belongs to another module.",
            "One graph cannot serve two modules: return the module you edited, or give the new "
            "one a graph of its own.",
        )
    for row in data["nodes"]:
        if row["args_type"] != "tuple":
            yield evidence.finding(
                "args-not-tuple",
                f"The args of `{row['name']}` are a `{row['args_type']}`; an "
                "Interpreter accepts only a tuple.",
                "Write `(a,)` for one argument.",
                nodes=(row["name"],),
            )
            return


_CHECKS = (
    _outputs,
    _links,
    _raw_tensors,
    _proxies,
    _targets,
    _dotted_names,
    _code,
    _ownership,
    _untrue_links,
    _parameters,
)


@rule("known targets", Stage.FORM)
def known_targets(evidence: Evidence) -> Iterable[Finding]:
    """Functions and called modules must belong to PyTorch or to the case.

    Code from the notebook is accepted only as far as the exercise allows it.
    """
    model = evidence.trial.model
    parts = {type(each).__name__ for each in model.modules()} if model is not None else ()
    for name, called in evidence.own_code[:1]:
        if called in parts:
            yield evidence.finding(
                "unknown-target",
                f"`{name}` calls a `{called}` of the model as a whole. A trace of the model goes "
                "into it.",
                "Is a model that is a `GraphModule` already traced again, too?",
                nodes=(name,),
            )
            continue
        yield evidence.finding(
            "unknown-target",
            f"`{name}` calls `{called}`, which only your notebook knows.",
            _OWN_CODE_ADVICE[evidence.exercise.own_code],
            nodes=(name,),
        )


_PYTORCH = "The graph must be made of operations and modules of PyTorch and of Python's operators"
_OWN_CODE_ADVICE = {
    "refused": f"{_PYTORCH}.",
    "copies": f"{_PYTORCH}; code of your own may only copy its one argument.",
}
