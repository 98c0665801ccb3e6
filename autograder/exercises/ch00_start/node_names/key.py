"""The answer key of `node_names`: the names of the nodes of a fresh trace."""

from __future__ import annotations

from torch import nn

from autograder.authoring.key import (
    AnswerKey,
    answer_of,
    caller_untouched,
    nodes_made,
    returns,
    right_value_of,
)


def names_of(model: nn.Module) -> list[str]:
    """The names of a fresh trace's nodes."""
    return [node.name for node in nodes_made(model)]


KEY = AnswerKey(
    (
        returns("list").because("names the kind that came back, before names are compared"),
        caller_untouched,
        right_value_of("name"),
    ),
    answer_of(names_of),
)
