"""The answer key of `OpSwap`: the same module, new targets, and a true `modified`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch import fx
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from autograder.authoring.key import (
    AdviceRow,
    AdviceSlot,
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Stage,
    caller_untouched,
    difference,
    kind_of,
    rule,
    show,
    unrecorded,
)
from autograder.exercises.ch12_passes.keys import (
    Said,
    argument_finding,
    driving,
    kind_named,
    other_row,
    said_in,
    table,
)

ENDINGS = ("value", "raised")


def _calls(evidence: Evidence) -> Iterator[tuple[str, Said, Said]]:
    """For each call: its name, the answer's report and the expected report."""
    got, want = (each["calls"]["list"] for each in said_in(evidence))
    for i, (ours, theirs) in enumerate(zip(got, want, strict=True)):
        where = f"Call {i + 1}" if len(want) > 1 else "The call"
        yield where, table(ours), table(theirs)


@rule("a pass", Stage.KIND)
def a_pass(evidence: Evidence) -> Iterable[Finding]:
    """The class must be a `PassBase`, and each call must return a `PassResult`."""
    got, want = said_in(evidence)
    ends = got.get("result", {}).get("tuple", [""])[0]
    if ends not in ENDINGS or len(got["calls"]["list"]) != len(want["calls"]["list"]):
        yield unrecorded(evidence)
    elif got["is a PassBase"] is not True:
        yield evidence.finding(
            "no-pass-base",
            f"{evidence.you} is not a subclass of `PassBase`.",
            "`class OpSwap(PassBase)`, with `PassBase` of `torch.fx.passes.infra.pass_base`.",
        )
    for where, call, known in _calls(evidence):
        if call["kind"] != known["kind"]:
            yield evidence.finding(
                "wrong-kind",
                f"{where} returned {kind_named(call['kind'])}, not a `PassResult`.",
                "`PassResult(graph_module, modified)` is what a pass returns, from `call`.",
            )
            return


@rule("the same module", Stage.FORM)
def the_same_module(evidence: Evidence) -> Iterable[Finding]:
    """The result's module must be the given one."""
    for where, call, _ in _calls(evidence):
        if call["same module"] is not True:
            yield evidence.finding(
                "other-module",
                f"{where} returned a `PassResult` with another module than the one it was given.",
                "This pass edits what it is given. To keep a module, copy it before.",
            )
            return


@rule("targets", Stage.STRUCTURE)
def targets(evidence: Evidence) -> Iterable[Finding]:
    """Every function of the table must be replaced in one call, and nothing else changed."""
    for where, call, known in _calls(evidence):
        odd = other_row(call["rows"], known["rows"])
        if odd is None:
            continue
        got, want = odd
        if not want:
            yield evidence.finding(
                "nodes-changed",
                f"After {_lower(where)}, the graph does not have as many nodes as before.",
                "Only the targets change. Which line of yours adds or erases a node?",
            )
            return
        name = str(want[1])
        if got[:2] + got[3:] == want[:2] + want[3:]:
            yield evidence.finding(
                "wrong-target",
                f"After {_lower(where)}, `{name}` calls `{got[2]}`; it should call `{want[2]}`.",
                _look_at(want),
                (name,),
            )
        else:
            parts = ("opcode", "name", "target", "arguments", "keyword arguments", "`meta`")
            part = next(p for p, a, b in zip(parts, got, want, strict=True) if a != b)
            verb = "are" if part.endswith("s") else "is"
            yield evidence.finding(
                "node-changed",
                f"After {_lower(where)}, the {part} of node `{name}` {verb} not as before.",
                "A node keeps its name, its arguments and its `meta` when only its target is set.",
                (name,),
            )
        return


def _look_at(want: list[Encoded]) -> str:
    if want[0] != "call_function":
        return "Only `call_function` nodes have functions as targets. What is this node?"
    return (
        "All entries act at once, on the target that the node had before the call. And a function "
        "is looked up by itself: others may have its name."
    )


def _lower(where: str) -> str:
    return where[0].lower() + where[1:]


@rule("the same nodes", Stage.STRUCTURE)
def the_same_nodes(evidence: Evidence) -> Iterable[Finding]:
    """The node objects must be the same."""
    for where, call, known in _calls(evidence):
        if call["same nodes"] is not True and other_row(call["rows"], known["rows"]) is None:
            yield evidence.finding(
                "other-nodes",
                f"After {_lower(where)}, the graph has other node objects than before.",
                "Other code may keep the nodes. `node.target` can be set.",
            )
            return


@rule("recompiled", Stage.STRUCTURE)
def recompiled(evidence: Evidence) -> Iterable[Finding]:
    """The code must match the graph."""
    for where, call, _ in _calls(evidence):
        if call["recompiled"] is not True:
            yield evidence.finding(
                "stale-code",
                f"After {_lower(where)}, the code of the module is not what its graph says.",
                "Which call generates the code again after an edit?",
            )
            return


@rule("an honest modified", Stage.RESULT)
def an_honest_modified(evidence: Evidence) -> Iterable[Finding]:
    """`modified` must be a `bool` that is true if and only if a target changed."""
    for where, call, known in _calls(evidence):
        got, want = call["modified"], known["modified"]
        if type(got) is not bool:
            yield evidence.finding(
                "modified-kind",
                f"{where} returned {kind_of(got)} as `modified`, not a `bool`.",
                "Others compare it, or write it down. `bool(...)` makes one.",
            )
            return
        if got is not want:
            really = "a target is another one now" if want else "no target is another than before"
            yield evidence.finding(
                "dishonest",
                f"{where} returned {got} as `modified`, but {really}.",
                "Compare each target with the one before. Where does what you note begin, and for "
                "which call?",
            )
            return


@rule("same result", Stage.RESULT)
def same_result(evidence: Evidence) -> Iterable[Finding]:
    """The module must compute what its new targets do."""
    got, want = ([*each["result"]["tuple"]] for each in said_in(evidence))
    if got[0] == "raised" and want[0] == "value":
        yield evidence.finding(
            "result-raises",
            f"Afterwards, calling the module raised {show(got[1])}.",
            "What do its nodes call now?",
        )
        return
    tables = evidence.outcome.tensors, evidence.reference.tensors
    found = difference(got[1], tables[0], want[1], tables[1])
    if found:
        yield evidence.finding(
            found.code,
            f"Afterwards, the module gives something else than its graph says: {found.text}.",
            "What a module computes is its code. When is that written?",
        )
        return
    yield from argument_finding(evidence)


class _Ours(PassBase):
    """The pass, implemented as an interpreter of the table."""

    def __init__(self, table: dict[Callable[..., Any], Callable[..., Any]]) -> None:
        self.table = table

    def call(self, graph_module: fx.GraphModule) -> PassResult:
        """Replace the functions."""
        functions = [n for n in graph_module.graph.nodes if n.op == "call_function"]
        wanted = [(n, self.table[n.target]) for n in functions if n.target in self.table]
        changes = [(n, new) for n, new in wanted if n.target is not new]
        for node, new in changes:
            node.target = new
        graph_module.recompile()
        return PassResult(graph_module, bool(changes))


ADVICE = (
    AdviceRow(
        ("Exception",),
        r"An error occurred when running the '.*' pass",
        "A `PassManager` ran your pass, and something went wrong in it. Call the pass by itself on "
        "this module, and look at what it raises, or what kind of thing it returns.",
        slot=AdviceSlot.LAST,
    ),
)

KEY = AnswerKey(
    (
        a_pass.because("names the kind that came back, before it is looked at"),
        caller_untouched,
        the_same_module.because("says it in words of its own, before graphs are compared"),
        targets,
        the_same_nodes,
        recompiled.because("says why, before results are compared"),
        an_honest_modified,
        same_result.because("the code may be what the graph says, and not what runs"),
    ),
    driving(_Ours),
    oracle_only=True,
    advice=ADVICE,
)
