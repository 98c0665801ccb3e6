"""The answer key of `worst_node`: the name of one node."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torch
from torch import fx

from autograder.authoring.key import (
    AnswerKey,
    Evidence,
    Finding,
    Stage,
    answer_of,
    caller_untouched,
    returns,
    rule,
    show,
)
from autograder.exercises.ch14_quantization.models import floats


def errors(float_gm: fx.GraphModule, quant_gm: fx.GraphModule, *inputs: Any) -> dict[str, float]:
    """The relative error of each compared node, in graph order."""
    ours, theirs = (_values(gm, inputs) for gm in (float_gm, quant_gm))
    return {
        name: float((value - theirs[name]).norm() / value.norm())
        for name, value in ours.items()
        if name in theirs and value.count_nonzero()
    }


def _values(gm: fx.GraphModule, inputs: tuple[Any, ...]) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}

    class Copying(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            value = super().run_node(n)
            if n.op.startswith("call_") and floats(value):
                found[n.name] = value.detach().double().clone()
            return value

    with torch.no_grad():
        Copying(gm).run(*copy.deepcopy(inputs))
    return found


def worst(*args: Any) -> str:
    """The expected name."""
    found = errors(*args)
    return max(found, key=lambda name: found[name])


@rule("the worst node", Stage.RESULT)
def the_worst_node(evidence: Evidence) -> Iterable[Finding]:
    """The name must be the first one with the largest relative error."""
    got: Any = evidence.outcome.value
    want: Any = evidence.reference.value
    if got == want:
        return
    found = errors(*evidence.trial.args)
    if got not in found:
        yield evidence.finding(
            "not-compared",
            f"{evidence.you} returned {show(got)}, which is not a node that is compared.",
            "Calls count that both graphs have by name. In both, the value is a floating tensor, "
            "and in the float graph not all zeros.",
        )
        return
    same = found[got] == found[want]
    yield evidence.finding(
        "wrong-node",
        f"{evidence.you} returned `{got}`, which has the relative error {found[got]:.4g}; "
        + (
            "an earlier node has the same."
            if same
            else f"another node has {found[want]:.4g}, as it was when computed."
        ),
        "If errors are equal, return the first node. And when do you look at a value? A later call "
        "may change it in place, so that it is equal to another one in the end."
        if same
        else "Print the errors of all nodes. Which calls do you leave out? Which norm, and "
        "relative to what? And when do you look at a value?",
        nodes=(got,),
    )


KEY = AnswerKey(
    (
        returns("str").because("names the kind that came back, before a name is looked up"),
        caller_untouched,
        the_worst_node,
    ),
    answer_of(worst),
)
