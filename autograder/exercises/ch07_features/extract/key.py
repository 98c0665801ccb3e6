"""The answer key of `extract`: the wanted values, as they were when computed, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from torch import fx

from autograder.authoring.key import (
    AnswerKey,
    CallResult,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    NodeRecord,
    Recorder,
    Reference,
    Stage,
    Trial,
    Way,
    caller_untouched,
    came_from,
    copies,
    difference,
    error_text,
    kind_of,
    known_targets,
    no_unused_modules,
    recorded,
    returns_graph_module,
    rule,
    runs,
    runs_of,
    show,
    signature_kept,
    target_text,
    wellformed,
)

_COPIES = ("clone", "copy_of")
"""Names of copies: PyTorch's own, and the one that replaces a copy by the learner's code."""
_CUTS = ("detach", "detach_", "deepcopy")
"""Names of functions that return a value without its gradient, or raise if it has one."""
_WANTS_GRADIENT = "Copy with `clone`: training with the returned value needs its gradient."
_WAYS: dict[Way, str] = {"forward": "", "interpreter": " under `fx.Interpreter`", "rebuilt": ""}


def meant(gm: fx.GraphModule, name: str) -> fx.Node:
    """The node of a wanted name: a module's last call, or the node with that name."""
    calls = {node.target: node for node in gm.graph.nodes if node.op == "call_module"}
    named = (node for node in gm.graph.nodes if node.name == name)
    found: fx.Node = calls.get(name) or next(named)
    return found


def _wanted(evidence: Evidence) -> dict[str, str]:
    wanted: dict[str, str] = evidence.trial.args[1]
    return wanted


# ------------------------------------------------------------------ the values


@rule("wanted values", Stage.RESULT)
def wanted_values(evidence: Evidence) -> Iterable[Finding]:
    """The result is a dict with the wanted keys in order, each value as it was when computed."""
    wanted = _wanted(evidence)
    nodes = {key: meant(evidence.traced, name).name for name, key in wanted.items()}
    for i, inputs in enumerate(evidence.trial.inputs):
        truth = recorded(evidence.traced, inputs)
        record = evidence.run_record(i)
        for how in _WAYS:
            if how == "rebuilt" and how not in record:
                continue  # the judge does not know its operations; the verdict says so
            finding = _finding_of_run(evidence, i, how, record[how], nodes, truth)
            if finding:
                yield finding
                return


def _finding_of_run(
    evidence: Evidence, i: int, how: Way, got: CallResult, nodes: dict[str, str], truth: Any
) -> Finding | None:
    where = f"On {evidence.inputs_text(i)}{_WAYS[how]}"
    if "error" in got:
        return evidence.finding(
            "result-raises",
            f"{where}, the result raised {error_text(got['error'])}.{came_from(got['error'])}",
            "Print `gm.code` and read what it computes line by line.",
            error=got["error"],
        )
    value = got["value"]
    wrong = _keys_finding(evidence, where, value, list(nodes)) or _args_finding(
        evidence, i, how, got, where
    )
    if wrong:
        return wrong
    items = {show(key): item for key, item in value["dict"]}
    for key, name in nodes.items():
        found, code = _difference(evidence, how, items[repr(key)], key, truth.then[name])
        if not found:
            continue
        if not _difference(evidence, how, items[repr(key)], key, truth.values[name])[0]:
            return evidence.finding(
                "overwritten",
                f"{where}, the value at key {key!r} is not what `{name}` was when it was computed: "
                "a later in-place call has changed it.",
                "Which later node changes this storage, directly or through an alias?",
                nodes=(name,),
            )
        return evidence.finding(
            code if how != "interpreter" else "interpreter-disagrees",
            f"{where}, {found}. This key stands for the node `{name}` of the model's trace.",
            "Is it the right node, and does all that it depends on still happen, in order? "
            "An in-place call may matter even if no node reads it.",
            nodes=(name,),
        )
    return None


def _args_finding(
    evidence: Evidence, i: int, how: Way, got: CallResult, where: str
) -> Finding | None:
    """A finding if the result changes its arguments in another way than its graph.

    Changes by the model do not count, because a call in place goes if no wanted value needs it.
    """
    own = evidence.run_record(i).get("rebuilt")
    tables = evidence.tensors_of(how), evidence.tensors_of("rebuilt")
    if (
        own is None
        or "error" in own
        or not difference(got["args"], tables[0], own["args"], tables[1])
    ):
        return None
    return evidence.finding(
        "argument-changed",
        f"{where}, the result leaves its arguments in another state than its graph does.",
        "Look for state that is kept outside the module and its graph.",
    )


def _keys_finding(
    evidence: Evidence, where: str, value: Encoded, keys: list[str]
) -> Finding | None:
    if not isinstance(value, dict) or "dict" not in value:
        return evidence.finding(
            "wrong-structure",
            f"{where}, the result returns {kind_of(value)}, not a `dict`.",
            "The output node's argument may be a dictionary whose values are nodes.",
        )
    got = [show(key) for key, _ in value["dict"]]
    want = [repr(key) for key in keys]
    listed = ", ".join(got) or "none"
    if sorted(got) != sorted(want):
        return evidence.finding(
            "wrong-structure",
            f"{where}, the keys of the result are {listed}; they must be {', '.join(want)}.",
            "`wanted` maps names to keys: each key is in the result once.",
        )
    if got != want:
        return evidence.finding(
            "wrong-order",
            f"{where}, the keys of the result have the order {listed}; "
            f"in `wanted` they have the order {', '.join(want)}.",
            "The order is that of `wanted`, not that of the graph.",
        )
    return None


def _difference(evidence: Evidence, how: Way, got: Encoded, key: str, want: Any) -> tuple[str, str]:
    encoder = Encoder()
    plain = encoder.encode(want)
    found = difference(
        got, evidence.tensors_of(how), plain, encoder.tensors, f"the value at key {key!r}"
    )
    return (found.text, found.code) if found else ("", "")


# ------------------------------------------------------------------ nothing else


# This rule is last: if a value is wrong, a node that should be read looks like an extra one.
@rule("nothing else", Stage.COPY)
def nothing_else(evidence: Evidence) -> Iterable[Finding]:
    """Every node is needed for a wanted value."""
    for name in _left(evidence):
        yield evidence.finding(
            "node-left",
            f"`{name}` is still in your result, though no wanted value needs it.",
            "Which nodes does a wanted value read, directly or through others? Which "
            "in-place calls change what is read, before it is read? Remove all others.",
            nodes=(name,),
        )
        return


def _left(evidence: Evidence) -> Iterator[str]:
    try:
        if evidence.rebuilt is None:
            return  # another rule rejects the learner's code in it
        names = evidence.done("unneeded") or ()  # `None` if it raises, which another rule reports
    except ValueError:
        return  # another rule runs it and reports the error
    called = {row["name"]: row["target"] for row in evidence.graph["nodes"]}
    yield from (name for name in names if _leaf_of(called[name]) not in _COPIES)


def _leaf_of(target: Encoded) -> str:
    """The bare name of the function, method or module that a node calls."""
    return target_text(target).rpartition(".")[2]


def _cuts(row: NodeRecord) -> bool:
    """Whether a node returns a value without its gradient: `detach`, `deepcopy`, `.data`."""
    leaf = _leaf_of(row["target"])
    return leaf in _CUTS or (leaf == "getattr" and "data" in row["args"].get("tuple", ()))


@rule("gradients flow", Stage.COPY)
def gradients_flow(evidence: Evidence) -> Iterable[Finding]:
    """No node cuts off a gradient that the model keeps."""
    for own, how in evidence.value["cuts"].items():
        does = f"What your own code gives back at `{own}` has lost the gradient of its argument"
        if how == "raises":
            does = f"Your own code at `{own}` raises as soon as the value requires a gradient"
        yield evidence.finding(
            "gradient-lost", f"{does}, which the model does not do.", _WANTS_GRADIENT, nodes=(own,)
        )
        return
    before, after = (
        [row for row in data["nodes"] if _cuts(row)]
        for data in (evidence.traced_graph, evidence.graph)
    )
    if len(after) > len(before):
        known = [row["name"] for row in before]
        row = next((row for row in reversed(after) if row["name"] not in known), after[-1])
        new = row["name"]
        does = f"`{new}` cuts a value off from its gradient"
        if _leaf_of(row["target"]) == "deepcopy":
            does = f"`{new}` raises a `RuntimeError` as soon as the value requires a gradient"
        yield evidence.finding(
            "gradient-lost",
            f"{does}, which the model does not do.",
            _WANTS_GRADIENT,
            nodes=(new,),
        )


def as_computed(trial: Trial) -> Reference:
    """The wanted values, each copied right after it is computed."""
    _, wanted = trial.args
    gm = fx.symbolic_trace(trial.given_model)

    def call(*args: Any) -> dict[str, Any]:
        recorder = Recorder(gm)
        recorder.run(*args)
        return {key: recorder.record.then[meant(gm, name).name] for name, key in wanted.items()}

    return runs_of(call, trial)


KEY = AnswerKey(
    (
        returns_graph_module,
        caller_untouched,
        wellformed,
        known_targets,
        signature_kept,
        nothing_else,
        no_unused_modules,
        runs,
        wanted_values,
        gradients_flow,
        copies,
    ),
    as_computed,
)
