"""The answer key of `fuse_conv_bn`: one convolution for each pair, and no other change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from torch import fx, nn

from autograder.authoring.key import (
    CONV_BN_CLASSES,
    CONV_CLASSES,
    NORM_CLASSES,
    PASS,
    AnswerKey,
    Evidence,
    Finding,
    Stage,
    kinds_of_calls,
    model_itself,
    none_overwritten,
    rule,
    same_result,
    times,
    unused_modules,
)


@dataclass(frozen=True)
class Norm:
    """A call of a BatchNorm in the model.

    Attributes:
        name: the name of its node.
        conv: the name of the node that it is fused with; ``""`` if it must stay.
        why: why it stays, for a sentence that begins with the node's name.
        free: whether it may stay or go: it is after another BatchNorm, and forms a pair with the
            new convolution once that one is fused.
    """

    name: str
    conv: str = ""
    why: str = ""
    free: bool = False


def norms_of(gm: fx.GraphModule) -> list[Norm]:
    """Every call of a BatchNorm in a trace."""
    found: dict[str, Norm] = {}
    for node in gm.graph.nodes:
        if _called(gm, node, NORM_CLASSES):
            found[node.name] = _norm(gm, node, found)
    return list(found.values())


def _called(gm: fx.GraphModule, node: fx.Node, kinds: tuple[type[nn.Module], ...]) -> bool:
    return node.op == "call_module" and type(gm.get_submodule(str(node.target))) in kinds


def _norm(gm: fx.GraphModule, node: fx.Node, earlier: dict[str, Norm]) -> Norm:
    norm = gm.get_submodule(str(node.target))
    (source,) = node.all_input_nodes
    if norm.training:
        return Norm(node.name, why="is in training mode: it uses the statistics of each batch")
    if norm.running_mean is None:
        return Norm(node.name, why="has no running statistics")
    before = earlier.get(source.name)
    if before and (before.conv or before.free) and len(source.users) == 1:
        return Norm(node.name, free=True)
    if not _called(gm, source, CONV_CLASSES):
        return Norm(node.name, why=f"reads `{source}`, which is not a call of a convolution")
    if len(source.users) > 1:
        return Norm(node.name, why=f"reads `{source}`, which has another reader")
    return Norm(node.name, conv=source.name)


@rule("pairs fused", Stage.STRUCTURE)
def pairs_fused(evidence: Evidence) -> Iterable[Finding]:
    """Each pair must be one convolution; no other BatchNorm may go, no other call may change."""
    norms = norms_of(evidence.traced)
    there = {name for name, kind in kinds_of_calls(evidence.graph) if kind == "a BatchNorm"}
    before = Counter(kind for _, kind in kinds_of_calls(evidence.traced_graph))
    after = Counter(kind for _, kind in kinds_of_calls(evidence.graph))
    most = sum(not norm.conv for norm in norms)
    least = most - sum(norm.free for norm in norms)
    if after["a BatchNorm"] > most:
        left = next((norm for norm in norms if norm.conv and norm.name in there), None)
        text = (
            f"`{left.name}` is still there: it reads the convolution `{left.conv}`, which nothing "
            "else reads."
            if left
            else f"{after['a BatchNorm']} BatchNorms are still called; it should be {most}."
        )
        nodes = (left.name,) if left else ()
        yield evidence.finding("missed-place", text, _LOOK_MISSED, nodes=nodes)
    elif after["a BatchNorm"] < least:
        gone = next((norm for norm in norms if norm.why and norm.name not in there), None)
        text = f"`{gone.name}` is gone, but it {gone.why}." if gone else "A BatchNorm is missing."
        yield evidence.finding("changed-too-much", text, _LOOK_GONE)
    else:
        yield from _others(evidence, before, after)


_LOOK_MISSED = (
    "A pair is found by the types of both modules, whatever their names are, how deep they are, "
    "how they are called, and how often."
)
_LOOK_GONE = "Go through the list of what is left alone, for the model below."


def _others(evidence: Evidence, before: Counter[str], after: Counter[str]) -> Iterable[Finding]:
    for kind in before | after:
        if kind == "a BatchNorm" or before[kind] == after[kind]:
            continue
        code = "left-behind" if kind == "a convolution" else "changed-too-much"
        yield evidence.finding(
            code,
            f"Your graph calls {kind} {times(after[kind])}, and the model {times(before[kind])}.",
            "Each pair becomes one convolution: nothing else is added, and nothing else goes.",
        )
        return


@rule("no unused BatchNorm", Stage.STRUCTURE)
def no_unused_norm(evidence: Evidence) -> Iterable[Finding]:
    """BatchNorms that nothing calls or reads must be removed."""
    for path, cls in unused_modules(evidence.graph):
        if CONV_BN_CLASSES.get(cls) in NORM_CLASSES:
            yield evidence.finding(
                "unused-module",
                f"Your result still holds the BatchNorm `{path}`, which no node calls or reads.",
                "Erasing the call leaves the module where it was; a `GraphModule` has methods for "
                "that.",
            )
            return


@rule("same result", Stage.RESULT)
def result_as_before(evidence: Evidence) -> Iterable[Finding]:
    """The result must compute what the model does; if a layer is shared, the advice says so."""
    advice = (
        "In this model, a layer or its weight is used at a second place, too. What is it there in "
        "your result?"
    )
    for finding in same_result(evidence):
        yield replace(finding, advice=advice) if evidence.case.aspect == "shared" else finding


KEY = AnswerKey(
    (
        *(each for each in PASS if each is not same_result),
        result_as_before,
        none_overwritten(*CONV_BN_CLASSES).because("names the module, before calls are counted"),
        pairs_fused,
        no_unused_norm,
    ),
    model_itself,
)
