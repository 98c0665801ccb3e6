"""The answer key of `insert_qdq`: the given graph, with a pair after each named node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import fx

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    NodeRecord,
    Reference,
    Stage,
    Trial,
    rule,
    runs_of,
    show,
)
from autograder.exercises.ch14_quantization.keys import (
    DEQUANTIZE,
    QUANTIZE,
    by_name,
    given,
    is_call_of,
    meta_kept,
    module_of_its_own,
    renamed,
    same_number,
)
from autograder.given import dequantize, quantize

Rows = dict[str, NodeRecord]


def through_eight_bits(trial: Trial) -> Reference:
    """Run the given graph on an Interpreter that quantizes and dequantizes the named values."""
    gm, scales = trial.args

    class Rounding(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            value = super().run_node(n)
            if n.name not in scales or n.op == "output":
                return value
            return dequantize(quantize(value, scales[n.name]), scales[n.name])

    return runs_of(lambda *args: Rounding(gm).run(*args), trial)


@rule("other nodes kept", Stage.STRUCTURE)
def other_nodes_kept(evidence: Evidence) -> Iterable[Finding]:
    """All given nodes must stay, in order; new nodes must belong to pairs."""
    before, after = by_name(evidence.traced_graph), by_name(evidence.graph)
    for name, row in before.items():
        mine = after.get(name)
        if mine is None or (mine["op"], mine["target"]) != (row["op"], row["target"]):
            yield evidence.finding(
                "other-nodes-changed",
                f"The given graph has a node `{name}`; your result has no such node of that name.",
                "Names belong to the graph that was given. Does your way of copying keep them, "
                "even if a new node asks for the same name?",
                nodes=(name,),
            )
            return
    kept = [name for name in after if name in before]
    if kept != list(before):
        name = next(mine for mine, other in zip(kept, before, strict=True) if mine != other)
        yield evidence.finding(
            "other-order",
            f"`{name}` is at another place among the nodes that were there.",
            "New nodes go between the others. No other node moves.",
            nodes=(name,),
        )
        return
    for name, row in after.items():
        if name not in before and not (is_call_of(row, QUANTIZE) or is_call_of(row, DEQUANTIZE)):
            yield evidence.finding(
                "other-node",
                f"There is a new node `{name}` that calls neither `quantize` nor `dequantize`.",
                "What is it for?",
                nodes=(name,),
            )
            return


def _pair(after: Rows, before: Rows, name: str) -> tuple[list[str], list[str]]:
    """The new nodes that quantize a value, and the new nodes that dequantize it."""

    def new(function: Encoded, sources: list[str]) -> list[str]:
        rows = ((n, row) for n, row in after.items() if n not in before)
        found = ((n, given(row)) for n, row in rows if is_call_of(row, function))
        return [n for n, read in found if read is not None and read[0] in sources]

    quantized = new(QUANTIZE, [name])
    return quantized, new(DEQUANTIZE, quantized)


@rule("one pair each", Stage.STRUCTURE)
def one_pair_each(evidence: Evidence) -> Iterable[Finding]:
    """Each node with a scale must have one pair with that scale; no other node may have one."""
    before, after = by_name(evidence.traced_graph), by_name(evidence.graph)
    scales, used = evidence.trial.args[1], set(before)
    for name, scale in scales.items():
        both = _pair(after, before, name)
        for found, word in zip(both, ("quantize", "dequantize"), strict=True):
            used |= set(found)
            if len(found) != 1:
                yield evidence.finding(
                    "missing-pair" if not found else "several-pairs",
                    f"After `{name}`, which has a scale, there {_are(len(found))} of `{word}`.",
                    "One pair for a value is enough for all of its readers. A value that nobody "
                    "reads gets one, too.",
                    nodes=(name, *found),
                )
                return
            read = given(after[found[0]])
            if read is None or not same_number(read[1], scale):
                got = show(None if read is None else read[1])
                yield evidence.finding(
                    "wrong-scale",
                    f"`{found[0]}` has the scale {got}; that of `{name}` is {show(scale)}.",
                    "Whose scale is it?",
                    nodes=(found[0],),
                )
                return
    extra = next((name for name in after if name not in used), None)
    if extra is not None:
        yield evidence.finding(
            "extra-pair",
            f"There is a new node `{extra}` that does not belong to a required pair.",
            "Which node comes before it, and does that one have a scale?",
            nodes=(extra,),
        )


def _are(count: int) -> str:
    return "are not new calls" if not count else f"are {count} new calls"


@rule("all read the dequantized value", Stage.STRUCTURE)
def all_read_dequantized(evidence: Evidence) -> Iterable[Finding]:
    """Nodes must read the dequantized value of each value with a scale, and no other changes."""
    before, after = by_name(evidence.traced_graph), by_name(evidence.graph)
    if any(name not in after for name in before):
        return  # another rule reports it
    pairs = {name: _pair(after, before, name) for name in evidence.trial.args[1]}
    if any(len(found) != 1 for pair in pairs.values() for found in pair):
        return
    to = {name: pair[1][0] for name, pair in pairs.items()}
    for name, row in before.items():
        mine = after[name]
        pairs_of = ((mine["args"], row["args"]), (mine["kwargs"], row["kwargs"]))
        for got, before_ in pairs_of:
            if got == renamed(before_, to):
                continue
            old = got == before_
            yield evidence.finding(
                "reads-original" if old else "wrong-arguments",
                f"`{name}` reads the value itself, not the dequantized one."
                if old
                else f"The arguments of `{name}` are not those of the given graph, with "
                "dequantized values for those that have a scale.",
                "Print `args` and `kwargs` of this node before and after. A reader may have the "
                "value in a list, in a dictionary, by keyword, or twice.",
                nodes=(name,),
            )
            return


KEY = AnswerKey(
    (
        *PASS,
        module_of_its_own.because("names what is shared, before anything in it is compared"),
        other_nodes_kept,
        one_pair_each,
        all_read_dequantized.because("names the reader, before a result differs"),
        meta_kept,
    ),
    through_eight_bits,
)
