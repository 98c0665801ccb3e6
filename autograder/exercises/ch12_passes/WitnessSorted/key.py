"""The answer key of `WitnessSorted`: sorts that keep the results, and one that does not."""

from __future__ import annotations

from torch import fx
from torch.fx.passes.tools_common import stable_topological_sort

from autograder import suspects
from autograder.authoring.key import Fight, duel_key
from autograder.exercises.ch09b_duels.right_passes import all_pure, as_it_is


def stable(gm: fx.GraphModule) -> fx.GraphModule:
    """Keep the old order wherever the inputs allow it."""
    return stable_topological_sort(gm)


def where_all_is_pure(gm: fx.GraphModule) -> fx.GraphModule:
    """Sort like the suspect, but only graphs whose order does not matter."""
    return suspects.inputs_first(gm) if all_pure(gm) else gm


KEY = duel_key(
    Fight(
        suspect=suspects.inputs_first,
        name="inputs_first",
        task="put each node after its inputs, and keep what the model computes",
        right=(as_it_is, stable, where_all_is_pure),
        keeps_meaning=True,
        limit=3,
        record=1,
        try_this="Has the suspect moved anything in your trace? Print the names of its nodes "
        "before and after. If it has, does one of the two calls that changed places write what "
        "the other one reads? And do your `inputs` show it? With zeros, both orders may agree.",
    ),
    nothing_outside="an order that is right already is right, too",
)
