"""What chapter 03 asks of probes, and of a dead code elimination."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from autograder.core.codec import Plain, reads, show
from autograder.core.verdict import Finding
from autograder.judge.compare import difference
from autograder.judge.rule import Stage, rule
from autograder.rules.canonical import Table, expressions, missing_and_extra
from autograder.rules.edits import calls, keyword

if TYPE_CHECKING:
    from autograder.judge import Evidence

# ------------------------------------------------------------------ probe_values


@rule("not probed yet", Stage.KIND)
def not_probed_yet(evidence: Evidence) -> Iterable[Finding]:
    """The probe is left alone until the result runs."""
    if any(change.startswith("an argument ") for change in evidence.outcome.changed):
        yield evidence.finding(
            "probed-too-early",
            f"The probe was called while {evidence.you} was at work, before the result ran.",
            "Your pass puts calls of the probe into the graph; the graph makes them.",
        )


@rule("readers kept", Stage.STRUCTURE)
def readers_kept(evidence: Evidence) -> Iterable[Finding]:
    """Every node of the trace is there and reads what it read."""
    table: Table = {}
    before = evidence.traced_graph
    want, got = expressions(before, table), expressions(evidence.graph, table)
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


@rule("right log", Stage.RESULT)
def right_log(evidence: Evidence) -> Iterable[Finding]:
    """The probe sees the name and the value of every call, in order, each run."""
    for i, want in enumerate(evidence.reference.runs):
        for how in ("forward", "interpreter"):
            got = evidence.run_record(i)[how]["log"]
            finding = _log_finding(evidence, i, got, want["log"])
            if finding:
                yield finding
                return


@rule("probes in the graph", Stage.COPY)
def probes_in_the_graph(evidence: Evidence) -> Iterable[Finding]:
    """Each value has a call of its own in the graph, which reads it and no other value.

    Looked at last: where a probe is missing, what it does not see says more.
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
            "After each node stands a call of its own, which is given that node's value.",
            nodes=(several,),
        )
        return
    seen = set().union(*probed.values())
    missed = next((i for i, called in enumerate(plain_calls) if called and i not in seen), None)
    if missed is not None:
        yield evidence.finding(
            "missing-probe",
            f"No call in your graph gives the value of `{rows[missed]['name']}` to the probe.",
            "After each node stands a call of its own, which is given that node's value.",
            nodes=(rows[missed]["name"],),
        )


def _values_read(row: Plain) -> set[int]:
    """The places of the nodes that a node reads."""
    return {leaf["node"] for leaf in reads(row) if "node" in leaf}


def _log_finding(evidence: Evidence, i: int, got: Plain, want: Plain) -> Finding | None:
    seen, wanted = _entries(got), _entries(want)
    names, wanted_names = [n for n, _ in seen], [n for n, _ in wanted]
    where = f"On {evidence.inputs_text(i)}, the probe"
    if sorted(names) == sorted(wanted_names) and names != wanted_names:
        return evidence.finding(
            "wrong-order",
            f"{where} sees the values in the order {', '.join(names)}, "
            f"not in the order {', '.join(wanted_names)}.",
            "A probe stands directly after the node it looks at.",
        )
    if names != wanted_names:
        return _names_finding(evidence, where, names, wanted_names)
    for (name, value), (_, wanted_value) in zip(seen, wanted, strict=True):
        tensors = evidence.outcome.tensors, evidence.reference.tensors
        found = difference(value, tensors[0], wanted_value, tensors[1], f"what it sees of {name}")
        if found:
            return evidence.finding(
                "wrong-probe-value",
                f"{where} does not see the value of {name}: {found.text}.",
                "It is to see the value as it is when the node has just been executed.",
            )
    return None


def _entries(log: Plain) -> list[tuple[str, Plain]]:
    return [(show(entry["tuple"][0]), entry["tuple"][1]) for entry in log["list"]]


def _names_finding(evidence: Evidence, where: str, names: list[str], wanted: list[str]) -> Finding:
    missed = [name for name in wanted if name not in names]
    extra = [name for name in names if name not in wanted]
    if missed and len(names) < len(wanted):
        return evidence.finding(
            "missing-probe",
            f"{where} is not called for {missed[0]}.",
            "Calls of functions, of methods and of modules are meant, read by others or not.",
        )
    if missed:
        return evidence.finding(
            "wrong-name",
            f"{where} is told the name {(extra or names)[0]}, but never {missed[0]}.",
            "The name is the node's own name, as a string.",
        )
    return evidence.finding(
        "extra-probe",
        f"{where} is called {len(names)} times, not {len(wanted)} times.",
        "One call for each node that is a call: not for inputs, parameters or the output.",
    )


# ------------------------------------------------------------------ sound_dce

_IN_PLACE_OPERATORS = (
    "iadd isub imul imatmul itruediv ifloordiv imod ipow iconcat iand ior ixor ilshift irshift"
).split()
_EFFECTS = tuple(
    {"function": name}
    for name in (
        *(f"operator.{name}" for name in _IN_PLACE_OPERATORS),
        "operator.setitem",
        "torch._assert",
        "builtins.print",
    )
)
_PURE = tuple({"function": f"operator.{name}"} for name in ("and_", "or_", "not_", "is_"))


def has_effect(row: Plain, modules: dict[str, Plain]) -> bool:
    """Whether a call may do anything besides returning a value, as the exercise lists it."""
    if row["op"] in ("placeholder", "output"):
        return True
    if keyword(row, "inplace") not in (None, False) or keyword(row, "out") is not None:
        return True
    if row["op"] == "call_module":
        return _module_has_effect(modules.get(row["target"], {}))
    if row["op"] == "call_method":
        return row["target"] == "__setitem__" or _says_in_place(row["target"])
    if row["op"] == "call_function" and not calls(row, *_PURE):
        ((_, name),) = row["target"].items()
        return calls(row, *_EFFECTS) or _says_in_place(name)
    return False


def _says_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _module_has_effect(module: Plain) -> bool:
    is_norm = module.get("class", "").startswith("torch.nn.modules.batchnorm.")
    return bool((is_norm and module["training"]) or module.get("attrs", {}).get("inplace"))


def _modules(data: Plain) -> dict[str, Plain]:
    """The description of each module, by every path it has."""
    found: dict[str, Plain] = {}
    for row in data["modules"]:
        found[row["path"]] = found[row["same_as"]] if "same_as" in row else row
    return found


def needed(data: Plain) -> list[int]:
    """Positions of the nodes that have an effect, or whose value one of these reads."""
    modules = _modules(data)
    found: set[int] = set()
    for i in reversed(range(len(data["nodes"]))):
        row = data["nodes"][i]
        if i in found or has_effect(row, modules):
            found |= {i, *(read["node"] for read in row["inputs"])}
    return sorted(found)


@rule("only what is needed", Stage.STRUCTURE)
def only_what_is_needed(evidence: Evidence) -> Iterable[Finding]:
    """What can influence the result is there, and nothing else."""
    table: Table = {}
    before, after = evidence.traced_graph, evidence.graph
    all_numbers = expressions(before, table)
    keep = needed(before)
    want, got = [all_numbers[i] for i in keep], expressions(after, table)
    missing, extra = missing_and_extra(want, got)
    if missing:
        modules = _modules(before)
        rows = [before["nodes"][keep[i]] for i in missing]
        row = next((row for row in rows if has_effect(row, modules)), rows[0])
        yield evidence.finding(
            "removed-too-much",
            f"The model's node `{row['name']}`{_mode(row, modules)} can influence the result; "
            "it is gone from yours, or reads something else.",
            "A call may change a value that somebody reads, print something, or stop the program.",
            nodes=(row["name"],),
        )
    elif extra:
        unread = (i for i in extra if not evidence.form.users[i])
        row = after["nodes"][next(unread, extra[0])]
        yield evidence.finding(
            "dead-left",
            f"`{row['name']}`{_mode(row, _modules(after))} is still there, though it cannot "
            "influence the result.",
            "Is it pure? Then it goes, and so do the nodes that only it reads.",
            nodes=(row["name"],),
        )


def _mode(row: Plain, modules: dict[str, Plain]) -> str:
    """What a card does not show of a called module: its mode."""
    module = modules.get(row["target"], {}) if row["op"] == "call_module" else {}
    if "training" not in module:
        return ""
    cls = module["class"].rpartition(".")[2]
    return f", a `{cls}` in {'training' if module['training'] else 'eval'} mode,"
