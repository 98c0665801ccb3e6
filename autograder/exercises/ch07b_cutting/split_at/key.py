"""The answer key of `split_at`: two parts of a model, with each node in one of them."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch

from autograder.authoring.key import (
    AdviceRow,
    AnswerKey,
    CallResult,
    DerivedGraph,
    Encoder,
    Evidence,
    Exercise,
    Finding,
    GraphRecord,
    NodeRecord,
    RunRecord,
    Stage,
    Trial,
    Way,
    caller_untouched,
    classes_of,
    copies,
    difference,
    error_text,
    kind_of,
    known_targets,
    model_itself,
    rule,
    run_once,
    target_path,
    wellformed,
)
from autograder.exercises.ch07b_cutting.split_at.key_crossing import Cut, what_crosses

PARTS = ("head", "tail")
_WAYS: dict[Way, str] = {"forward": "", "interpreter": " under `fx.Interpreter`", "rebuilt": ""}
_GETITEM = ("call_function", str({"function": "operator.getitem"}))


@dataclass(frozen=True)
class Part:
    """The evidence about one of two modules, for rules about one graph."""

    whole: Evidence
    name: str

    @property
    def graph(self) -> GraphRecord:
        """The description of this part."""
        value = self.whole.value
        return value["graph_module"] if self.name == "head" else value["tail"]

    @property
    def derived(self) -> DerivedGraph:
        """The graph that the judge derives from its description."""
        return self.whole.derived_from(self.graph)

    @property
    def exercise(self) -> Exercise:
        """The exercise, which defines the learner's code that is allowed."""
        return self.whole.exercise

    @property
    def trial(self) -> Trial:
        """Fresh objects of the case."""
        return self.whole.trial

    @property
    def own_code(self) -> list[tuple[str, str]]:
        """Nodes that call the learner's own code: their names and the called code."""
        return self.whole.own_code_in(self.graph)

    def finding(self, *args: Any, **kwargs: Any) -> Finding:
        """A finding with the name of the part in its message."""
        found = self.whole.finding(*args, **kwargs)
        return replace(found, message=f"In `{self.name}`: {found.message}")


# ------------------------------------------------------------------ the two modules


@rule("two graph modules", Stage.KIND)
def two_graph_modules(evidence: Evidence) -> Iterable[Finding]:
    """The result is a tuple of two graph modules."""
    value = evidence.outcome.value
    if isinstance(value, dict) and "tail" in value:
        return
    if value is None:
        yield evidence.finding(
            "returned-none",
            f"{evidence.you} returned `None`.",
            "Does every path through your function end with `return`?",
        )
        return
    what = "one `GraphModule`" if evidence.has_graph else kind_of(value)
    if isinstance(value, dict) and isinstance(value.get("tuple"), list):
        items = value["tuple"]
        what += f" of {len(items)}: " + ", ".join(
            "a `GraphModule`" if isinstance(i, dict) and "graph_module" in i else kind_of(i)
            for i in items[:4]
        )
    yield evidence.finding(
        "not-two-modules",
        f"{evidence.you} returned {what}, not a tuple of two `GraphModule`s.",
        "`fx.GraphModule(root, graph)` makes a module of a graph; return `head, tail`.",
    )


@rule("wellformed parts", Stage.FORM)
def wellformed_parts(evidence: Evidence) -> Iterable[Finding]:
    """Both graphs are well formed, and the judge knows their operations."""
    for name in PARTS:
        part: Any = Part(evidence, name)
        found = list(wellformed.find(part)) or list(known_targets.find(part))
        if found:
            yield from found
            return


@rule("signature of the head", Stage.STRUCTURE)
def signature_of_head(evidence: Evidence) -> Iterable[Finding]:
    """`head` takes the model's parameters."""
    want = evidence.traced_signature
    got = next((each for each in evidence.derived.signatures if each != want), want)
    if got != want:
        names = ", ".join(row[0] for row in got or [])
        yield evidence.finding(
            "lost-signature",
            f"`head.forward({names})` does not take the same parameters as the model's `forward`.",
            "`head` is called with the model's arguments: names, order and defaults stay, even of "
            "parameters that `head` does not read.",
        )


@rule("parameters shared", Stage.STRUCTURE)
def parameters_shared(evidence: Evidence) -> Iterable[Finding]:
    """Every parameter of the parts is the model's own object."""
    for name in PARTS:
        for row in Part(evidence, name).graph["modules"]:
            for key, entry in row.get("params", {}).items():
                if entry is not None and entry["origin"] is None:
                    path = f"{row['path']}.{key}".lstrip(".")
                    yield evidence.finding(
                        "not-shared",
                        f"The parameter `{path}` of `{name}` is not the model's, but a copy.",
                        "If they share parameters, training the model also trains its parts.",
                    )
                    return


# ------------------------------------------------------------------ sides of nodes


@rule("nodes on their side", Stage.STRUCTURE)
def nodes_on_their_side(evidence: Evidence) -> Iterable[Finding]:
    """Calls up to the named node are in the head, all others in the tail, each once."""
    cut = Cut(evidence)
    rows = {row["name"]: row for row in evidence.traced_graph["nodes"]}
    want, got = {}, {}
    for name, side in zip(PARTS, cut.sides, strict=True):
        graph = Part(evidence, name).graph
        want[name] = _kinds([rows[node.name] for node in side], evidence.traced_graph)
        got[name] = _kinds(graph["nodes"], graph)
    for kind in dict.fromkeys(key for table in (*want.values(), *got.values()) for key in table):
        too_many = {
            name: len(got[name].get(kind, ())) - len(want[name].get(kind, ())) for name in PARTS
        }
        if too_many["tail"] > 0 and _unpacks(kind, Part(evidence, "tail")):
            too_many["tail"] = 0
        finding = _side_finding(evidence, cut.name, kind, too_many, want, got)
        if finding:
            yield finding
            return


def _side_finding(
    evidence: Evidence,
    cut: str,
    kind: Hashable,
    too_many: dict[str, int],
    want: dict[str, dict[Hashable, list[NodeRecord]]],
    got: dict[str, dict[Hashable, list[NodeRecord]]],
) -> Finding | None:
    for name, other, where in (("head", "tail", "after"), ("tail", "head", "up to and including")):
        if too_many[name] > 0 > too_many[other]:
            there = want[other][kind][-1 if other == "head" else 0]["name"]
            return evidence.finding(
                "wrong-side",
                f"A call that belongs to `{other}` is in `{name}`: one like `{there}`, which "
                f"comes {where} `{cut}` in the trace.",
                "A node belongs to one of the two by its place in the graph, not by its readers.",
                nodes=(there,),
            )
    for name in PARTS:
        if too_many[name] < 0:
            gone = want[name][kind][-1]["name"]
            return evidence.finding(
                "node-missing",
                f"`{name}` has {len(got[name].get(kind, ()))} of {len(want[name][kind])} calls "
                f"like `{gone}`; the others are in neither part.",
                "Each node is in one of the two, even if no node reads it.",
                nodes=(gone,),
            )
        if too_many[name] > 0:
            extra = got[name][kind][-1]["name"]
            return evidence.finding(
                "node-extra",
                f"`{extra}` in `{name}` is a call too many: of this kind, {name} should have "
                f"{len(want[name].get(kind, ()))}.",
                "Nothing is computed twice, and nothing is added: what both need crosses.",
                nodes=(extra,),
            )
    return None


def _kinds(rows: list[NodeRecord], graph: GraphRecord) -> dict[Hashable, list[NodeRecord]]:
    """Calls among some nodes, by function, method or module class; module names do not count."""
    classes = classes_of(graph)
    found: dict[Hashable, list[NodeRecord]] = {}
    for row in rows:
        if row["op"].startswith("call_"):
            module = row["op"] == "call_module"
            what = classes.get(target_path(row), "") if module else str(row["target"])
            found.setdefault((row["op"], what), []).append(row)
    return found


def _unpacks(kind: Hashable, part: Part) -> bool:
    """Whether these calls may unpack the values of a parameter such as ``*values``."""
    return kind == _GETITEM and any(row[1] == "VAR_POSITIONAL" for row in part.derived.signature)


# ------------------------------------------------------------------ running them


@rule("the model's result", Stage.RESULT)
def the_models_result(evidence: Evidence) -> Iterable[Finding]:
    """`tail(*head(*args))` is the model's result, even in the judge's own run."""
    for i, inputs in enumerate(evidence.trial.inputs):
        encoder = Encoder(evidence.trial.functions)
        traced = evidence.traced
        want = run_once(traced, copy.deepcopy(inputs), encoder, owner=traced)
        records: RunRecord = evidence.outcome.runs[i] | {"rebuilt": _run_rebuilt(evidence, i)}
        for how, words in _WAYS.items():
            record = records[how]
            table = _table(evidence, how)
            error = record.get("error")
            if error:
                text, code = f"raised {error_text(error)}", "result-raises"
            else:
                found = difference(record["value"], table, want["value"], encoder.tensors)
                found = found or difference(
                    record["args"], table, want["args"], encoder.tensors, "the arguments afterwards"
                )
                if not found:
                    continue
                text, code = f"does not give the model's result: {found.text}", found.code
            yield evidence.finding(
                "interpreter-disagrees" if how == "interpreter" else code,
                f"On {evidence.inputs_text(i)}, `tail(*head(...))`{words} {text}.",
                "Print the code of both: what `head` returns, `tail` takes, in the same order.",
                error=error,
            )
            return


def _table(evidence: Evidence, how: str) -> list[torch.Tensor]:
    if how == "rebuilt":
        return evidence.tensors_from("results of both")
    return evidence.outcome.tensors


def _run_rebuilt(evidence: Evidence, i: int) -> CallResult:
    descriptions = [Part(evidence, name).graph for name in PARTS]
    writer = next((d["codegen"] for d in descriptions if d["codegen"] != "CodeGen"), None)
    if writer:
        text = f"its code is written by `{writer}`, not by FX itself"
        return {"error": {"type": "ValueError", "message": text}}
    try:
        found: list[CallResult] = evidence.done("results of both")
        return found[i]
    except ValueError as error:
        return {"error": {"type": "ValueError", "message": str(error)}}


ADVICE = (
    AdviceRow(
        ("SyntaxError",),
        r"duplicate argument '(\w+)'",
        "`{1}` crosses more than once. How do you list what the tail needs: by reader, or by "
        "value?",
    ),
)

KEY = AnswerKey(
    (
        two_graph_modules.because("says what came back, before anything in it is looked at"),
        caller_untouched,
        wellformed_parts.because("says what is wrong with a graph, before it raises"),
        signature_of_head.because("says which parameters are lost, before a call raises"),
        parameters_shared,
        nodes_on_their_side.because("names the node, where other rules name what it would cross"),
        what_crosses,
        the_models_result,
        copies,
    ),
    model_itself,
    advice=ADVICE,
)
