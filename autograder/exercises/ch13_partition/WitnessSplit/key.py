"""The answer key of `WitnessSplit`: pieces that keep the order, and pieces that do not."""

from __future__ import annotations

from torch import fx

from autograder import suspects
from autograder.authoring.key import Fight, duel_key
from autograder.exercises.ch09b_duels.right_passes import all_pure, as_it_is


def where_all_is_pure(gm: fx.GraphModule) -> fx.GraphModule:
    """Split like the suspect, but only graphs whose order does not matter."""
    return suspects.split_by_kind(gm) if all_pure(gm) else gm


KEY = duel_key(
    Fight(
        suspect=suspects.split_by_kind,
        name="split_by_kind",
        task="make a piece of all calls of one kind, and keep what the model computes",
        right=(as_it_is, where_all_is_pure),
        keeps_meaning=True,
        limit=3,
        record=2,
        try_this="Do the calls of your trace run in another order afterwards? Print the names of "
        "its nodes before and after. If they do, does one of the calls that changed places do "
        "something that the other one sees?",
    ),
    nothing_outside="to keep the order is right for every graph",
)
