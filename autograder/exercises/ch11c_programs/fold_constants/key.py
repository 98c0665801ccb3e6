"""The answer key of `fold_constants`: it marks all that varies, and the rest must be computed."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import torch
from torch import fx

from autograder.authoring.key import (
    AdviceRow,
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    OpOverload,
    Reference,
    Stage,
    Trial,
    caller_untouched,
    rule,
    runs_of,
    show,
    unsound,
)
from autograder.exercises.ch11c_programs.fold_constants.models import facts_of
from autograder.exercises.ch11c_programs.reports import returns_program, said_in, table, the_same

STATE = ("PARAMETER", "BUFFER", "CONSTANT_TENSOR")


@dataclass(frozen=True)
class Plan:
    """The program that folding must give.

    Attributes:
        varying: nodes whose value is not known before a call.
        folded: calls whose values become buffers.
        kept: placeholders that stay.
    """

    varying: dict[str, fx.Node]
    folded: list[fx.Node]
    kept: list[fx.Node]


def plan_of(program: Any) -> Plan:
    """Mark what varies, from the inputs to the outputs."""
    specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
    varying: dict[fx.Node, None] = {}
    nodes = list(program.graph.nodes)
    mutated = set(program.graph_signature.buffers_to_mutate.values())
    for node in nodes:
        if node.op == "placeholder":
            spec = specs[node.name]
            varies = spec.kind.name not in STATE or spec.target in mutated
        else:
            varies = not _is_plain(node) or any(each in varying for each in node.all_input_nodes)
        if varies:
            varying[node] = None

    def is_read(node: fx.Node) -> bool:
        return any(reader in varying for reader in node.users)

    folded = [
        node
        for node in nodes
        if node.op == "call_function" and node not in varying and is_read(node)
    ]
    kept = [
        node for node in nodes if node.op == "placeholder" and (node in varying or is_read(node))
    ]
    return Plan({node.name: node for node in varying}, folded, kept)


def _is_plain(node: fx.Node) -> bool:
    """Whether a call gives the same value whenever it gets the same inputs."""
    if node.op != "call_function":
        return False
    if not isinstance(node.target, OpOverload):
        return getattr(node.target, "__name__", "") == "getitem"
    return torch.Tag.nondeterministic_seeded not in node.target.tags


class Comparison:
    """The report of an answer's program, next to the plan."""

    def __init__(self, evidence: Evidence) -> None:
        program = evidence.trial.args[0].program
        self.plan = plan_of(program)
        self.said = said_in(evidence)
        self.known = table(Encoder().encode(facts_of(program, None)))
        kept = {node.name for node in self.plan.kept}
        old = [line["tuple"] for line in self.known["lines"]["list"]]
        self.old_targets = [str(line[1]) for line in old if line[0] in STATE]
        self.kept = [line for line in old if line[3] in kept]
        self.lines = [line["tuple"] for line in self.said["lines"]["list"]]

    @property
    def added(self) -> list[list[Encoded]]:
        """Lines of state that the plan does not keep."""
        rest = [line[:3] for line in self.kept]
        added = []
        for line in self.lines:
            if line[:3] in rest:
                rest.remove(line[:3])
            else:
                added.append(line)
        return added

    @property
    def lost(self) -> list[list[Encoded]]:
        """Lines that the plan keeps, and the answer does not have."""
        lines = [line[:3] for line in self.lines]
        return [line for line in self.kept if line[:3] not in lines]

    @property
    def free_names(self) -> list[str]:
        """The names that the new buffers must have."""
        taken = {name.partition(".")[0] for name in self.old_targets}
        names = (f"folded_{i}" for i in count() if f"folded_{i}" not in taken)
        return list(islice(names, len(self.plan.folded)))

    def labels(self) -> tuple[dict[str, str], dict[str, str]]:
        """A name for each node that does not depend on how it is called: the answer's, the plan's.

        All folded values have one label. The results say whether each is the right one.
        """
        fresh = {line[3] for line in self.added}
        ours = _labels(self.lines, fresh) | _numbered(self.said["rows"])
        theirs = _labels([line["tuple"] for line in self.known["lines"]["list"]], set())
        theirs |= {node.name: "folded" for node in self.plan.folded}
        rows = [row for row in self.known["rows"]["list"] if row["tuple"][1] in self.plan.varying]
        return ours, theirs | _numbered({"list": rows})

    def calls(self) -> tuple[list[list[Encoded]], list[list[Encoded]]]:
        """The calls of the answer's program, and those that must stay: name, target, arguments."""
        ours, theirs = self.labels()
        got = _calls(self.said["rows"]["list"], ours)
        rows = [row for row in self.known["rows"]["list"] if row["tuple"][1] in self.plan.varying]
        return got, _calls(rows, theirs)

    def outputs(self) -> tuple[Encoded, Encoded]:
        """The values that the output nodes read."""
        ours, theirs = self.labels()
        got, want = (each["rows"]["list"][-1]["tuple"][3] for each in (self.said, self.known))
        return _labelled(got, ours), _labelled(want, theirs)


def _labels(lines: list[list[Encoded]], fresh: set[Encoded]) -> dict[str, str]:
    labels, inputs = {}, count()
    for kind, target, _, name in lines:
        if name in fresh:
            labels[str(name)] = "folded"
        else:
            labels[str(name)] = f"state {target}" if kind in STATE else f"input {next(inputs)}"
    return labels


def _numbered(rows: Encoded) -> dict[str, str]:
    found = [row["tuple"] for row in rows["list"]]
    names = [row[1] for row in found if row[0] in ("call_function", "get_attr")]
    return {str(name): f"call {i}" for i, name in enumerate(names)}


def _labelled(value: Encoded, labels: dict[str, str]) -> Encoded:
    """A value with labels instead of the names of nodes."""
    if isinstance(value, dict):
        if "node" in value:
            return {"node": labels.get(str(value["node"]), "another node")}
        return {key: _labelled(item, labels) for key, item in value.items()}
    return [_labelled(item, labels) for item in value] if isinstance(value, list) else value


def _calls(rows: list[Any], labels: dict[str, str]) -> list[list[Encoded]]:
    found = [row["tuple"] for row in rows if row["tuple"][0] in ("call_function", "get_attr")]
    return [[row[1], row[2], _labelled(row[3], labels), _labelled(row[4], labels)] for row in found]


@rule("computed once", Stage.STRUCTURE)
def is_computed_once(evidence: Evidence) -> Iterable[Finding]:
    """Calls of state alone must be gone, and all other calls must stay."""
    both = Comparison(evidence)
    got, want = both.calls()
    ours, theirs = (Counter(str(row[1]) for row in rows) for rows in (got, want))
    for name, target, *_ in got:
        if ours[str(target)] > theirs[str(target)] and name not in both.plan.varying:
            yield evidence.finding(
                "not-folded",
                f"The call `{name}` depends on state alone, and is still in the graph.",
                "Parameters, buffers and constants are state. A call without inputs depends on "
                "nothing else, either.",
                nodes=[str(name)],
            )
            return
    for name, target, *_ in want:
        if theirs[str(target)] > ours[str(target)]:
            yield evidence.finding(
                "folded-too-much",
                f"The call `{name}` of the given program is not in yours. Its value is not known "
                "before a call, or it must stay.",
                "What changes from call to call? Mutated buffers do, and random numbers.",
            )
            return
    if [row[1:] for row in got] != [row[1:] for row in want]:
        odd = next((str(a[0]) for a, b in zip(got, want, strict=False) if a[1:] != b[1:]), "")
        yield evidence.finding(
            "nodes-changed",
            f"The call `{odd}` does not read what it must read, or is at another place.",
            "Each other call stays. Only the folded values that it reads have another node.",
            nodes=[odd],
        )


@rule("buffers", Stage.STRUCTURE)
def has_buffers(evidence: Evidence) -> Iterable[Finding]:
    """Each folded value must be one buffer, and state without a reader must leave."""
    both = Comparison(evidence)
    if both.lost:
        yield evidence.finding(
            "lost-state",
            f"The signature of your program has no line for `{both.lost[0][1]}`.",
            "State that something reads stays. So does a buffer that a call changes.",
        )
        return
    added = both.added
    known = [line for line in added if str(line[1]) in both.old_targets and line[0] in STATE]
    for kind, target, *_ in known:
        if not re.fullmatch(r"folded_\d+", str(target)):
            yield evidence.finding(
                "state-stays",
                f"Nothing reads the {str(kind).lower()} `{target}` any more. It is still in your "
                "program's signature.",
                "State without a reader leaves graph, signature, and `state_dict` or `constants`.",
            )
            return
    names, wanted = sorted(str(line[1]) for line in added), both.free_names
    if len(names) != len(wanted):
        yield evidence.finding(
            "wrong-count",
            f"Your program has {len(names)} new buffers, not {len(wanted)}.",
            "One buffer for each value that something else reads, the output included. Values that "
            "only folded calls read need none.",
        )
    elif names != sorted(wanted):
        yield evidence.finding(
            "wrong-name",
            f"The new buffers are called {_listed(names)}. They must be {_listed(wanted)}.",
            "A name is free if no tensor has it and no submodule. Where do submodules show in the "
            "names of `state_dict`?",
        )
    elif any(line[0] != "BUFFER" or line[2] is not True for line in added):
        yield evidence.finding(
            "wrong-kind-of-state",
            "The signature does not call each new value a persistent buffer.",
            "See `InputKind`, and `persistent=` of `InputSpec`.",
        )


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


@rule("before user inputs", Stage.STRUCTURE)
def stands_before_inputs(evidence: Evidence) -> Iterable[Finding]:
    """All lines of state must be before those of user inputs."""
    kinds = [line[0] in STATE for line in Comparison(evidence).lines]
    if kinds != sorted(kinds, reverse=True):
        yield evidence.finding(
            "wrong-place",
            "In your program, the placeholder of a buffer is after a user input.",
            "PyTorch puts all state first. `graph.inserting_before(node)` says where a placeholder "
            "is made, and the lines of the signature have the same order.",
        )


@rule("consistent", Stage.STRUCTURE)
def is_consistent(evidence: Evidence) -> Iterable[Finding]:
    """PyTorch's verifier must accept the program: graph, signature and state agree."""
    problem = said_in(evidence)["problem"]
    if problem:
        yield evidence.finding(
            "wrong-signature",
            f"PyTorch's verifier refuses your program: {show(problem)}.",
            "Graph, signature and state must agree. Which of them does not know of your change?",
        )


@rule("outputs as before", Stage.STRUCTURE)
def outputs_as_before(evidence: Evidence) -> Iterable[Finding]:
    """Each output must keep its kind and its place."""
    both = Comparison(evidence)
    got, want = both.outputs()
    if both.said["kinds"] != both.known["kinds"] or got != want:
        yield evidence.finding(
            "wrong-output",
            "The outputs of your program are not those of the given one.",
            "Print `ep.graph_signature.output_specs` before and after. Only names of nodes may "
            "differ.",
        )


@rule("tensors", Stage.STRUCTURE)
def has_tensors(evidence: Evidence) -> Iterable[Finding]:
    """`state_dict` and `constants` must have what the signature names, without gradients."""
    both = Comparison(evidence)
    fresh = {str(line[1]): str(line[3]) for line in both.added}
    targets = {str(line[1]) for line in both.kept} | set(fresh)
    saved = table(both.said["saved"])
    held = {*saved, *map(str, both.said["constants"]["list"])}
    extra = sorted(held - targets)
    if extra:
        yield evidence.finding(
            "state-stays",
            f"Nothing reads `{extra[0]}` any more. Your program still holds the tensor.",
            "State without a reader leaves `ep.state_dict` or `ep.constants`, too.",
        )
        return
    vals = table(both.said["vals"])
    for target, name in fresh.items():
        text, gradient = saved[target]["tuple"]
        if gradient:
            yield evidence.finding(
                "with-gradient",
                f"The buffer `{target}` needs a gradient, or is a `Parameter`.",
                "A parameter needs a gradient, and so does what is computed from it, unless you "
                "say otherwise. Some calls even return the parameter itself.",
            )
            return
        if vals[name] != text:
            yield evidence.finding(
                "wrong-val",
                f'`meta["val"]` of the placeholder `{name}` is {_said_val(vals[name])}, not a '
                f"fake tensor of the program's mode: {text}.",
                "The call that you fold has the right value in its `meta`.",
            )
            return


def _said_val(text: Encoded) -> str:
    return "missing" if text == "None" else str(text)


@rule("recompiled", Stage.STRUCTURE)
def is_recompiled(evidence: Evidence) -> Iterable[Finding]:
    """The graph module must be recompiled, and `lint` must accept the graph."""
    yield from unsound(evidence, said_in(evidence))


@rule("sizes", Stage.STRUCTURE)
def keeps_sizes(evidence: Evidence) -> Iterable[Finding]:
    """Dynamic sizes must stay dynamic."""
    both = Comparison(evidence)
    if both.said["ranges"] != both.known["ranges"]:
        yield evidence.finding(
            "lost-sizes",
            f"The range constraints of your program are {show(both.said['ranges'])}, "
            f"not {show(both.known['ranges'])}.",
            "`ep.range_constraints` says which sizes may change. A new program needs them, too.",
        )


@rule("same result", Stage.RESULT)
def gives_the_same(evidence: Evidence) -> Iterable[Finding]:
    """The new program must return the old result, also after saving and loading."""
    advice = "Compute each value from the tensors of the program, and name it where it is read."
    yield from the_same(evidence, advice, saved=evidence.trial.args[0].saved, shape=lambda _: "")


def _old_result(trial: Trial) -> Reference:
    """The results of the given program itself."""
    program = trial.args[0].program
    return runs_of(lambda *inputs: copy.deepcopy(program).module()(*inputs), trial)


ADVICE = (
    AdviceRow(
        ("SpecViolationError",),
        "",
        "A new program is examined when it is made: its graph, its signature and its state must "
        "agree. Which of them does not know of your change?",
    ),
)

KEY = AnswerKey(
    (
        returns_program.because("names the kind that came back, before it is examined"),
        caller_untouched,
        is_computed_once,
        has_buffers,
        stands_before_inputs,
        is_consistent,
        outputs_as_before,
        has_tensors,
        is_recompiled,
        keeps_sizes,
        gives_the_same,
    ),
    _old_result,
    oracle_only=True,
    advice=ADVICE,
)
