"""The answer key of `inline`: no node calls the target, and its parts keep their names.

The key reads the required names from a trace in which the target is not a leaf. Names of nodes,
repeated reads of a parameter, and dead nodes do not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from torch import fx, nn

from autograder.authoring.key import (
    PASS,
    AdviceRow,
    AdviceSlot,
    AnswerKey,
    Evidence,
    Finding,
    ModuleRecord,
    Stage,
    Table,
    TensorRecord,
    Trial,
    expressions,
    missing_and_extra,
    model_itself,
    rule,
    same_result,
    same_result_by,
    target_path,
)
from autograder.exercises.ch05b_programs.inline.models import KeepTarget

# The tracer chooses the names of constants.
_CONSTANT = re.compile(r"_tensor_constant\d+$")
_NAMES = "Compare with `model.named_parameters()` and `model.named_modules()`."


def _target(evidence: Evidence) -> str:
    return str(evidence.trial.args[1])


@dataclass(frozen=True)
class Names:
    """The names that the nodes of a trace read and call.

    Attributes:
        all: the targets of all nodes, by opcode.
        needed: the targets of the nodes whose value can reach the output.
    """

    all: dict[str, frozenset[str]]
    needed: dict[str, frozenset[str]]


class _OpenTarget(KeepTarget):
    """A tracer that enters one submodule, whatever its class."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a module is a leaf; false for the target."""
        return module_qualified_name != self.target and super().is_leaf_module(
            m, module_qualified_name
        )


@lru_cache(maxsize=256)
def _opened(make: Callable[[int], Trial], seed: int) -> Names:
    """The names in a trace that enters the target; the same for every answer."""
    trial = make(seed)
    graph = _OpenTarget(trial.args[1]).trace(trial.given_model)
    return Names(_by_opcode(graph.nodes), _by_opcode(_read_by_output(graph)))


def _by_opcode(nodes: Iterable[fx.Node]) -> dict[str, frozenset[str]]:
    found = list(nodes)
    return {
        op: frozenset(str(n.target) for n in found if n.op == op)
        for op in ("get_attr", "call_module")
    }


@rule("target inlined", Stage.FORM)
def target_inlined(evidence: Evidence) -> Iterable[Finding]:
    """No node calls the target, not even a node without readers."""
    target = _target(evidence)
    calls = [
        row["name"]
        for row in evidence.graph["nodes"]
        if row["op"] == "call_module" and _same_module(evidence, target_path(row), target)
    ]
    if calls:
        yield evidence.finding(
            "missed-call",
            f"`{calls[0]}` still calls the module `{target}`.",
            "Replace every call: the call must not be left next to what replaced it.",
            nodes=calls[:1],
        )


def _same_module(evidence: Evidence, path: str, target: str) -> bool:
    rows = {row["path"]: row for row in evidence.graph["modules"]}
    row = rows.get(path, {})
    row = rows[row["same_as"]] if "same_as" in row else row
    return path == target or row.get("origin") == target


@rule("original names", Stage.STRUCTURE)
def original_names(evidence: Evidence) -> Iterable[Finding]:
    """The graph reads parameters and calls inner modules by their names in the model."""
    names = _opened(evidence.case.make, evidence._seed)
    for op, what, verb in (("get_attr", "", "reads"), ("call_module", "module ", "calls")):
        got = {target_path(row): row["name"] for row in evidence.graph["nodes"] if row["op"] == op}
        for path in sorted(names.needed[op] - set(got)):
            if not _CONSTANT.search(path):
                yield evidence.finding(
                    "wrong-name",
                    f"No node of your result {verb} {_as_what(what, path, op)}.",
                    _look(path, _target(evidence), op),
                )
                return
        for path, name in got.items():
            if path not in names.all[op] and not _is_tensor(evidence, path, op):
                yield evidence.finding(
                    "wrong-name",
                    f"`{name}` {verb} {_as_what(what, path, op)}, which is not there under this "
                    f"name once `{_target(evidence)}` is opened.",
                    _look(path, _target(evidence), op),
                    nodes=(name,),
                )
                return


def _as_what(what: str, path: str, op: str) -> str:
    return f"the {what}`{path}`" if what else f"`{path}` by `{op}`"


def _look(path: str, target: str, op: str) -> str:
    if op == "get_attr":
        return f"What a submodule calls `weight` has a longer name in the model. {_NAMES}"
    if path.startswith(f"{target}."):
        return f"Layers inside the submodule are called, not opened, by their long names. {_NAMES}"
    return "One submodule should be opened. Which other modules stay leaves is as usual."


def _read_by_output(graph: fx.Graph) -> set[fx.Node]:
    """The nodes that the output needs; a pass may also delete the others."""
    reached: set[fx.Node] = set()
    waiting = [graph.output_node()]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting += node.all_input_nodes
    return reached


def _is_tensor(evidence: Evidence, path: str, op: str) -> bool:
    """Whether the model has a tensor with this name, which a node may read without need."""
    return op == "get_attr" and (bool(_CONSTANT.search(path)) or path in _tensors(evidence))


def _tensors(evidence: Evidence) -> dict[str, str]:
    """For each name of a parameter or buffer, the tensor's first name."""
    model = evidence.trial.given_model
    first: dict[int, str] = {}
    found: dict[str, str] = {}
    for named in (model.named_parameters, model.named_buffers):
        for path, tensor in named(remove_duplicate=False):
            found[path] = first.setdefault(id(tensor), path)
    return found


@rule("shared parameters", Stage.STRUCTURE)
def shared_parameters(evidence: Evidence) -> Iterable[Finding]:
    """The parameters and inner modules of the target are the model's own objects."""
    tensors, inside = _tensors(evidence), f"{_target(evidence)}."
    entries = dict(_entries(evidence.graph["modules"]))
    modules = {row["path"]: row for row in evidence.graph["modules"]}
    for row in evidence.graph["nodes"]:
        path = str(row["target"])
        if not path.startswith(inside):
            continue
        if row["op"] == "get_attr" and path in tensors:
            entry = entries.get(path)
            shared = entry is not None and entry["origin"] == tensors[path]
        elif row["op"] == "call_module":
            shared = modules.get(path, {}).get("origin") == path
        else:
            continue
        if not shared:
            yield evidence.finding(
                "not-shared",
                f"`{row['name']}` uses `{path}`, but this is not the model's own: it is a copy.",
                "When somebody trains the model, the result must see it. A trace shares; "
                "`copy.deepcopy` does not.",
                nodes=(row["name"],),
            )
            return


def _entries(rows: list[ModuleRecord]) -> Iterator[tuple[str, TensorRecord | None]]:
    """Each tensor of a description, with its name."""
    for row in rows:
        for key, entry in (*row.get("params", {}).items(), *row.get("buffers", {}).items()):
            yield (f"{row['path']}.{key}" if row["path"] else key), entry


@rule("nothing to inline", Stage.STRUCTURE)
def nothing_to_inline(evidence: Evidence) -> Iterable[Finding]:
    """If the model never calls the target, its graph is unchanged."""
    calls = [row for row in evidence.traced_graph["nodes"] if row["op"] == "call_module"]
    if any(row["target"] == _target(evidence) for row in calls):
        return
    table: Table = {}
    want = expressions(evidence.traced_graph["nodes"], table)
    got = expressions(evidence.graph["nodes"], table)
    missing, extra = missing_and_extra(want, got)
    if missing or extra:
        name = evidence.graph["nodes"][extra[0]]["name"] if extra else ""
        text = (
            f"`{name}` is not in the model's trace" if extra else "a node of the trace is missing"
        )
        yield evidence.finding(
            "changed-too-much",
            f"This model never calls `{_target(evidence)}`, but its graph has changed: {text}.",
            "If there is no call, nothing should be replaced.",
            nodes=(name,) if name else (),
        )


def _how_often(evidence: Evidence) -> str:
    """Advice on a target with several calls."""
    rows = evidence.traced_graph["nodes"]
    target = _target(evidence)
    count = sum(row["op"] == "call_module" and row["target"] == target for row in rows)
    if count < 2:
        return ""
    return (
        f"`{target}` is called {count} times. How often do you paste its graph, and does each copy "
        "read the arguments of its own call?"
    )


ADVICE = (
    AdviceRow(
        ("AttributeError",),
        r"'\w+' object has no attribute '(?!__name__')(\w+)'",
        "A node of your graph names `{1}`, as the submodule does, and the model has nothing of "
        "that name. Under which path does the model find it?",
        line="GraphModule",
        slot=AdviceSlot.NAMES,
    ),
    AdviceRow(
        ("StopIteration",),
        "",
        "`next` found nothing more. The submodule's placeholders outnumber the positional "
        "arguments of the call: which of them get their value by keyword, or have a default?",
    ),
)

KEY = AnswerKey(
    (
        *(each for each in PASS if each is not same_result),
        same_result_by("forward", "interpreter", "rebuilt", advice=_how_often),
        target_inlined.because("names the call that was missed, before its name is odd"),
        original_names,
        shared_parameters,
        nothing_to_inline,
    ),
    model_itself,
    advice=ADVICE,
)
