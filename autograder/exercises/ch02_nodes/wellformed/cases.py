"""Chapter 02: the random models of `wellformed`, sound ones and ones given known faults."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from torch import fx

from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import OfChoice, RandomModels
from autograder.fuzz.recipe import Recipe
from autograder.models import faults_elsewhere
from autograder.models.faults import STEPS, Step
from autograder.syllabus.nodes_random import CALLS, KINDS

assert faults_elsewhere  # importing it adds steps
# The output after what needs it; old code last, for nothing is recompiled after it.
KINDS_OF_FAULTS = (
    "foreign-node",
    "raw-tensor",
    "undefined-use",
    "missing-target",
    "dotted-name",
    "output",
    "stale-code",
)


def _chosen(random: Random, choice: int) -> list[Step]:
    """What is done to a module: things that do no harm, and faults with different codes."""
    if choice == 0:
        return []
    kinds = random.sample(KINDS_OF_FAULTS, 2 + choice % 3 if choice % 5 else 0)
    ordered = [kind for kind in KINDS_OF_FAULTS if kind in kinds]
    harmless = random.sample(STEPS[""], 2)
    return [*harmless, *(random.choice(STEPS[kind]) for kind in ordered)]


def _spoilt(gm: fx.GraphModule, choice: int) -> list[str]:
    """Do to a module what a number chooses; the codes of the faults that it has then."""
    places = Random(choice + 64 * len(gm.graph.nodes))
    codes: set[str] = set()
    for step in _chosen(Random(choice), choice):
        codes |= step.apply(gm, places)
        if step.kind != "stale-code":
            gm.recompile()
    return sorted(codes)


def with_faults(trial: Trial, choice: int) -> Trial:
    """The model's trace; most get faults, some only what looks like one.

    Nothing that an answer is given says which: see `_codes`.
    """
    gm = fx.symbolic_trace(trial.model)
    _spoilt(gm, choice)
    return replace(trial, args=(gm,), model=None, watch=(gm,))


@OfChoice
def _codes(trial: Trial, choice: int) -> Reference:
    """The codes, from doing it all once more."""
    return Reference({"list": _spoilt(fx.symbolic_trace(trial.model), choice)})


def _words(recipe: Recipe) -> dict[str, list[str]]:
    """What has been done to a module, for the card of a case that an answer fails."""
    return {"made": [step.says for step in _chosen(Random(recipe.choice), recipe.choice)]}


FAULTY = RandomModels(
    Vocabulary(
        ops(
            "torch.relu({a})",
            "[nn.ReLU()]({a})",
            "[nn.Sequential(nn.Identity(), nn.Sequential(nn.ReLU()))]({a})",
            "[nn.Parameter(torch.ones(()))] * {a}",
            "[nn.Softplus()]({a}) + [buffer(torch.ones(()))]",
        )
        + CALLS[8:]
        + COMMON,
        results=("value", "tuple", "nothing", "dict", "nested", "nothing"),
        inputs=KINDS,
        most=5,
    ),
    _codes,
    with_faults,
    expecting=_words,
)
