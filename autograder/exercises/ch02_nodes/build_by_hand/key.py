"""The answer key of `build_by_hand`: nine nodes, the given module, a buffer, a signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import torch

from autograder.authoring.key import (
    GRAPH_MODULE,
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Signature,
    Stage,
    copies,
    nothing_forbidden,
    rule,
    runs,
    same_result,
    show,
    target_path,
)

_NINE = {
    "placeholder": 2,
    "call_module": 1,
    "get_attr": 1,
    "call_function": 3,
    "call_method": 1,
    "output": 1,
}
_FUNCTIONS = {
    "mul": "mul",
    "multiply": "mul",
    "add": "add",
    "relu": "relu",
    "__mul__": "mul",
    "__add__": "add",
    "__rmul__": "mul",
    "__radd__": "add",
}


@rule("nine nodes", Stage.STRUCTURE)
def nine_nodes(evidence: Evidence) -> Iterable[Finding]:
    """The graph has exactly the nodes in the task."""
    rows = evidence.graph["nodes"]
    counts = Counter(row["op"] for row in rows)
    for op, number in _NINE.items():
        if counts[op] != number:
            yield evidence.finding(
                "wrong-nodes",
                f"Your graph has {counts[op]} nodes with opcode `{op}`; the task names {number}.",
                "Count the nodes of your graph, opcode by opcode, with `print_tabular`.",
            )
            return
    called = sorted(_operation(row["target"]) for row in rows if row["op"] == "call_function")
    if called != ["add", "mul", "relu"]:
        yield evidence.finding(
            "wrong-function",
            f"Your graph calls the functions {', '.join(called)}; the task names a "
            "multiplication, an addition and a ReLU, each as a function.",
            "Which part of the formula is a function, and which is a method?",
        )
    (method,) = (target_path(row) for row in rows if row["op"] == "call_method")
    if method != "sum":
        yield evidence.finding(
            "wrong-function",
            f"Your graph calls the method `{method}`, not `sum`.",
            "Which part of the formula is a function, and which is a method?",
        )


def _operation(target: Encoded) -> str:
    """The operation as ``mul``, ``add`` or ``relu`` in any spelling, or another function name."""
    name = next(iter(target.values())) if isinstance(target, dict) else str(target)
    parts = str(name).split(".")
    # In `torch.ops.aten.mul.Tensor` the operation is the last part but one.
    leaf = parts[-2] if "ops" in parts and len(parts) > 4 else parts[-1]
    return _FUNCTIONS.get(leaf, leaf)


@rule("the module given", Stage.STRUCTURE)
def the_module_given(evidence: Evidence) -> Iterable[Finding]:
    """The graph calls `proj` itself."""
    modules = {row["path"]: row for row in evidence.graph["modules"]}
    for node in evidence.graph["nodes"]:
        if node["op"] == "call_module":
            row = modules.get(target_path(node), {})
            row = modules[row["same_as"]] if "same_as" in row else row
            if row.get("origin") != "":
                yield evidence.finding(
                    "copied-module",
                    f"`{node['name']}` does not call the `proj` that was given.",
                    "A copy has parameters of its own: training one does not train the other.",
                    (node["name"],),
                )


@rule("a buffer called shift", Stage.STRUCTURE)
def a_buffer_called_shift(evidence: Evidence) -> Iterable[Finding]:
    """The `get_attr` node reads a buffer with the name and the value of `shift`."""
    modules = {row["path"]: row for row in evidence.graph["modules"]}
    for node in evidence.graph["nodes"]:
        if node["op"] != "get_attr":
            continue
        path, _, name = target_path(node).rpartition(".")
        row = modules.get(path, {})
        entry = row.get("buffers", {}).get(name)
        if name != "shift" or entry is None:
            yield evidence.finding(
                "not-a-buffer",
                f"`{node['name']}` reads `{node['target']}`, which is not a buffer called `shift`.",
                "`get_attr` may read any tensor of the module; the task names how this one is "
                "registered, and under which name.",
                (node["name"],),
            )
        elif not torch.equal(evidence.outcome.tensors[entry["tensor"]], evidence.trial.args[1]):
            yield evidence.finding(
                "wrong-buffer",
                "The buffer `shift` does not hold the tensor that was given.",
                "Register the tensor as it is.",
                (node["name"],),
            )


@rule("forward(x, scale=2.0)", Stage.STRUCTURE)
def forward_x_scale(evidence: Evidence) -> Iterable[Finding]:
    """The graph has the signature in the task."""
    kind = "POSITIONAL_OR_KEYWORD"
    want: Signature = [["x", kind], ["scale", kind, 2.0]]
    # A default of 2 equals 2.0, but is another signature.
    got = next((each for each in evidence.derived.signatures if repr(each) != repr(want)), want)
    if got is not want:
        text = ", ".join(row[0] + (f"={show(row[2])}" if len(row) > 2 else "") for row in got or [])
        yield evidence.finding(
            "lost-signature",
            f"Your module has `forward({text})`, not `forward(x, scale=2.0)`.",
            "Placeholders are the signature: their targets, their order, their defaults. Print "
            "`gm.code`: an annotation, such as `scale : int`, is not a default.",
        )


KEY = AnswerKey(
    (
        nothing_forbidden,
        *GRAPH_MODULE,
        nine_nodes,
        the_module_given,
        a_buffer_called_shift,
        forward_x_scale,
        runs,
        same_result,
        copies,
    )
)
