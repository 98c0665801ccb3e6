"""The answer key of `probe_values`: the probe sees every value, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from torch import fx

from autograder.authoring.key import (
    AdviceRow,
    AdviceSlot,
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    NodeRecord,
    Part,
    Reference,
    Rule,
    Stage,
    Table,
    Trial,
    caller_untouched,
    copies,
    difference,
    expressions,
    missing_and_extra,
    reads,
    returns_graph_module,
    rule,
    runs,
    runs_of,
    same_result,
    show,
    signature_kept,
    wellformed,
)
from autograder.exercises.ch03b_effects.probe_values import models
from autograder.exercises.ch03b_effects.probe_values.cases import Stops


@rule("not probed yet", Stage.KIND)
def not_probed_yet(evidence: Evidence) -> Iterable[Finding]:
    """The answer does not call the probe before the result runs."""
    if any(change.part is Part.ARGUMENT for change in evidence.outcome.changed):
        yield evidence.finding(
            "probed-too-early",
            f"The probe was called while {evidence.you} was at work, before the result ran.",
            "Your pass puts calls of the probe into the graph; the graph makes them.",
        )


@rule("readers kept", Stage.STRUCTURE)
def readers_kept(evidence: Evidence) -> Iterable[Finding]:
    """Every node of the trace is still there and reads the same nodes."""
    table: Table = {}
    before = evidence.traced_graph
    want, got = expressions(before["nodes"], table), expressions(evidence.graph["nodes"], table)
    missing, _ = missing_and_extra(want, got)
    if not missing:
        return
    name = before["nodes"][missing[0]]["name"]
    if name not in {row["name"] for row in evidence.graph["nodes"]}:
        yield evidence.finding(
            "node-missing",
            f"The model's node `{name}` is gone from your result.",
            "A probe is added; nothing is removed, not even what nobody reads.",
            nodes=(name,),
        )
    else:
        yield evidence.finding(
            "reader-rewired",
            f"The model's node `{name}` reads something else in your result.",
            "A probe reads a value, and nobody reads the probe.",
            nodes=(name,),
        )


@rule("the probe's error arrives", Stage.RUNS)
def the_probes_error_arrives(evidence: Evidence) -> Iterable[Finding]:
    """An exception of the probe reaches the caller of the result."""
    wanted = evidence.expects(Stops).probe_raises
    for i in range(len(evidence.trial.inputs)) if wanted else ():
        error = evidence.run_record(i)["forward"].get("error") or {}
        if error.get("type") == wanted:
            continue
        what = f"raised `{error['type']}`" if error else "raised nothing"
        yield evidence.finding(
            "probe-error-lost",
            f"On {evidence.inputs_text(i)} the probe raised `{wanted}`, and calling the result "
            f"{what}.",
            "Do not catch exceptions of the probe: its author handles them.",
        )
        return


def unless_the_probe_raises(rule: Rule) -> Rule:
    """A rule that is skipped if the probe raises, because the runs then do not finish."""
    return replace(
        rule,
        find=lambda evidence: () if evidence.expects(Stops).probe_raises else rule.find(evidence),
    )


@rule("right log", Stage.RESULT)
def right_log(evidence: Evidence) -> Iterable[Finding]:
    """In each run, the probe gets the name and the value of every call, in order."""
    for i, want in enumerate(evidence.reference.runs):
        for how in ("forward", "interpreter"):
            got = evidence.run_record(i)[how]["log"]
            finding = _log_finding(evidence, i, got, want["log"])
            if finding:
                yield finding
                return


@rule("probes in the graph", Stage.COPY)
def probes_in_the_graph(evidence: Evidence) -> Iterable[Finding]:
    """Each value has its own probe call in the graph, which reads no other value.

    This rule is last: if a probe is missing, a gap in the log is a better message.
    """
    rows, own = evidence.graph["nodes"], dict(evidence.own_code_in(evidence.graph))
    plain_calls = [row["op"].startswith("call_") and row["name"] not in own for row in rows]
    probed = {
        row["name"]: [i for i in _values_read(row) if plain_calls[i]]
        for row in rows
        if row["name"] in own
    }
    several = next((name for name, read in probed.items() if len(read) > 1), None)
    if several is not None:
        yield evidence.finding(
            "several-values",
            f"`{several}` is one call, and reads {len(probed[several])} values.",
            "A call of its own comes after each node, which is given that node's value.",
            nodes=(several,),
        )
        return
    seen = set().union(*probed.values())
    missed = next((i for i, called in enumerate(plain_calls) if called and i not in seen), None)
    if missed is not None:
        yield evidence.finding(
            "missing-probe",
            f"No call in your graph gives the value of `{rows[missed]['name']}` to the probe.",
            "A call of its own comes after each node, which is given that node's value.",
            nodes=(rows[missed]["name"],),
        )


def _values_read(row: NodeRecord) -> set[int]:
    """The positions of the nodes that a node reads."""
    return {leaf["node"] for leaf in reads(row) if "node" in leaf}


def _log_finding(evidence: Evidence, i: int, got: Encoded, want: Encoded) -> Finding | None:
    seen, wanted = _entries(got), _entries(want)
    names, wanted_names = [n for n, _ in seen], [n for n, _ in wanted]
    where = f"On {evidence.inputs_text(i)}, the probe"
    if sorted(names) == sorted(wanted_names) and names != wanted_names:
        return evidence.finding(
            "wrong-order",
            f"{where} sees the values in the order {', '.join(names)}, "
            f"not in the order {', '.join(wanted_names)}.",
            "A probe comes directly after the node it looks at.",
        )
    if names != wanted_names:
        return _names_finding(evidence, where, names, wanted_names)
    for (name, value), (_, wanted_value) in zip(seen, wanted, strict=True):
        tensors = evidence.outcome.tensors, evidence.reference.tensors
        found = difference(value, tensors[0], wanted_value, tensors[1], f"what it sees of {name}")
        if (
            found and f"'{models.WHICH}'" in found.text
        ):  # the values are equal: the comparison reached this key last
            return evidence.finding(
                "wrong-probe-value",
                f"{where} is given something else than the value of {name}: an object of its own, "
                "equal or not.",
                "It must see the value itself. Which line of yours makes a copy, or a view?",
            )
        if found:
            return evidence.finding(
                "wrong-probe-value",
                f"{where} does not see the value of {name}: {found.text}.",
                "It must see the value as it is when the node has just been executed.",
            )
    return None


def _entries(log: Encoded) -> list[tuple[str, Encoded]]:
    return [(show(entry["tuple"][0]), entry["tuple"][1]) for entry in log["list"]]


def _names_finding(evidence: Evidence, where: str, names: list[str], wanted: list[str]) -> Finding:
    missed = [name for name in wanted if name not in names]
    extra = [name for name in names if name not in wanted]
    if missed and not names:
        return evidence.finding(
            "missing-probe",
            f"{where} is not called at all.",
            "The very object that you were given must be called: no copy of it, and none that "
            "an earlier call was given.",
        )
    if missed and len(names) < len(wanted):
        return evidence.finding(
            "missing-probe",
            f"{where} is not called for {missed[0]}.",
            "Calls of functions, of methods and of modules are meant, read by others or not.",
        )
    if missed:
        return evidence.finding(
            "wrong-name",
            f"{where} gets {(extra or names)[0]} as a name, but never {missed[0]}.",
            "The name is the node's own name, as a string.",
        )
    return evidence.finding(
        "extra-probe",
        f"{where} is called {len(names)} times, not {len(wanted)} times.",
        "One call for each node that is a call: not for inputs, parameters or the output.",
    )


def values_seen(trial: Trial) -> Reference:
    """The calls of the probe by an Interpreter, and the results of the model itself."""
    probe = trial.args[1]

    class Showing(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            value = super().run_node(n)
            if n.op.startswith("call_"):
                probe(n.name, value)
            return value

    gm = fx.symbolic_trace(trial.given_model)
    return runs_of(lambda *args: Showing(gm).run(*args), trial)


ADVICE = (
    AdviceRow(
        ("AttributeError",),
        r"'(\w+)' object has no attribute '__name__'",
        "`call_function` takes a function, and FX writes its `__name__` into the code; a `{1}` has "
        "none. What is it that you call here, and which of your objects has a name?",
        where="call",
        slot=AdviceSlot.NAMES,
    ),
)

KEY = AnswerKey(
    (
        returns_graph_module,
        not_probed_yet.because("a changed model would be spoken of, and the log is none"),
        caller_untouched,
        wellformed,
        signature_kept,
        readers_kept.because("names the reader, where others see only that a run is wrong"),
        unless_the_probe_raises(runs),
        the_probes_error_arrives,
        unless_the_probe_raises(same_result),
        right_log,
        probes_in_the_graph,
        unless_the_probe_raises(copies),
    ),
    values_seen,
    advice=ADVICE,
)
