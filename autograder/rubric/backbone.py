"""What `backbone_c4_c5` is asked for: a module, made by torchvision's extractor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from autograder.describe import signature_of
from autograder.plain import Encoder, kind_of
from autograder.rubric.passes import runs, same_result_by
from autograder.rubric.rule import Rule, Stage, rule
from autograder.rubric.wellformed import wellformed
from autograder.verdict import Finding

if TYPE_CHECKING:
    from autograder.judge import Evidence

MADE_BY = "__init__"
"""What is recorded as used when torchvision makes an extractor."""


@rule("returns a module", Stage.KIND)
def returns_module(evidence: Evidence) -> Iterable[Finding]:
    """The result is an `nn.Module`, a `GraphModule` or one around it."""
    value = evidence.outcome.value
    if evidence.has_graph or (isinstance(value, dict) and "module" in value):
        return
    yield evidence.finding(
        "returned-none" if value is None else "wrong-kind",
        f"{evidence.you} returned {kind_of(value)}, not a module.",
        "Does every path through your function end with `return`?"
        if value is None
        else "Return the module that gives the features when it is called, not what it gives.",
    )


@rule("made by torchvision", Stage.STRUCTURE)
def made_by_torchvision(evidence: Evidence) -> Iterable[Finding]:
    """`create_feature_extractor` was called."""
    if MADE_BY not in evidence.outcome.used:
        yield evidence.finding(
            "not-torchvision",
            f"{evidence.you} does not use `create_feature_extractor`, which this exercise is "
            "about.",
            "It cuts away what comes after the last feature; a module around the whole model "
            "computes it all.",
        )


@rule("signature as given", Stage.STRUCTURE)
def signature_as_given(evidence: Evidence) -> Iterable[Finding]:
    """The graph's `forward` has the parameters of the model's; no trace is needed to know them."""
    if not evidence.has_graph:
        return
    model = evidence.trial.model
    want, got = signature_of(model, Encoder()), evidence.graph["signature"]
    if got != want:
        names = ", ".join(row[0] for row in got or [])
        yield evidence.finding(
            "lost-signature",
            f"The result's `forward({names})` does not take the same parameters as the model's.",
            "Placeholders are the signature: their names, order and defaults must stay.",
        )


def _of_graphs(shared: Rule) -> Rule:
    """A rule about graph modules, for results that may be modules of another kind."""
    return replace(shared, find=lambda e: shared.find(e) if e.has_graph else ())


def _features(evidence: Evidence) -> Iterable[Finding]:
    """The features are those of the reference; `same_result`, with words for this exercise.

    The judge does not run the result itself: whole blocks of torchvision may be leaves in it.
    """
    for finding in same_result_by("forward", "interpreter").find(evidence):
        yield replace(finding, look=_LOOK.get(finding.code, _LOOK["wrong-result"]))


_LOOK = {
    "wrong-structure": "The module is to give a dictionary with the keys C4 and C5, and no others.",
    "wrong-result": "Which value is the last one inside of layer3, or layer4, of this network? And "
    "in which mode does your module run it?",
}

# A copy of torchvision's own module is in training mode whatever it was made from, so that
# copies are not compared here.
BACKBONE = (
    returns_module,
    _of_graphs(wellformed),
    signature_as_given,
    made_by_torchvision,
    runs,
    Rule("same result", Stage.RESULT, _features),
)
