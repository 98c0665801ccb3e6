"""The answer key of `WitnessDeadCode`: passes that keep effects, and one that does not."""

from __future__ import annotations

from torch import fx

from autograder import suspects
from autograder.authoring.key import Fight, duel_key
from autograder.exercises.ch09b_duels.right_passes import as_it_is, is_pure


def surely_dead(gm: fx.GraphModule) -> fx.GraphModule:
    """Remove unread nodes that are known to have no effect."""
    for node in reversed(list(gm.graph.nodes)):
        if is_pure(node) and not node.users:
            gm.graph.erase_node(node)
    return gm


KEY = duel_key(
    Fight(
        suspect=suspects.dead_code,
        name="dead_code",
        task="take out what nobody reads and what has no effect",
        right=(as_it_is, surely_dead),
        keeps_meaning=True,
        limit=3,
        record=1,
        try_this="Print the graph of your trace before and after the suspect. Is a call gone? And "
        "what of that call is in the result, or in the arguments after the run?",
    ),
    nothing_outside="to keep every call is right, too",
)
