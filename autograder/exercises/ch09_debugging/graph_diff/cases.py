"""Exercise 9.4: the differences of two graphs."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from autograder.authoring.question import COMMON, Aspect, Case, Exercise, RandomModels, Vocabulary
from autograder.exercises.ch09_debugging.graph_diff import models
from autograder.exercises.ch09_debugging.graph_diff.models import Edit, nothing

HINTS = (
    "Two nodes of two graphs are never equal: they are two objects. What can you compare that has "
    "no nodes in it, and does not confuse a string with a node?",
    "`fx.node.map_arg((node.args, node.kwargs), f)` replaces every node by `f(node)`, however "
    "deeply it is nested, slices and dictionaries too. The result of `f` must be equal for two "
    "nodes of one name, and equal to nothing else that an argument can be.",
    "```python\n"
    "def described(graph_or_module):\n"
    "    graph = ...                      # of a module, or the graph itself\n"
    "    return {node.name: (node.op, ..., ...) for node in graph.nodes}\n\n"
    "old, new = described(before), described(after)\n"
    "return {\n"
    '    "added": [name for name in new if ...],\n'
    '    "removed": [...],\n'
    '    "changed": [...],\n'
    "}\n"
    "```",
)


def edited(
    name: str,
    aspect: str,
    second: Edit = nothing,
    *,
    first: Edit = nothing,
    graphs: tuple[bool, bool] = (False, False),
    make: Callable[[], nn.Module] = models.Net,
) -> Case:
    """A case: one model's graph, edited in two ways; see `models.Edited`."""
    return Case(name, aspect, models.Edited(first, second, graphs, make))


EXERCISE = Exercise(
    number=4,
    title="In what do two graphs differ?",
    stars=3,
    minutes=10,
    points=5,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "what is added, removed and changed, in order"),
        Aspect("fields", 1, "op, target, args and kwargs count, and nothing else"),
        Aspect("arguments", 1, "inputs are compared by name, however deeply they are nested"),
        Aspect("given", 1, "Graphs as well as GraphModules, as they are"),
    ),
    cases=(
        edited("another target", "task", models.another_target),
        edited("several are inserted", "task", models.several_inserted),
        edited("several are erased", "task", models.several_erased),
        edited("several are changed", "task", models.changed_in_turn),
        edited("other targets", "fields", models.other_targets),
        edited("another opcode", "fields", models.another_opcode),
        edited("a text in place of a number", "fields", models.text_for_number),
        edited("notes, and another order", "fields", models.notes_and_order),
        edited("another place in a list", "arguments", models.another_place_in_a_list),
        edited("another list in a list", "arguments", models.another_nesting),
        edited("another slice", "arguments", models.another_slice),
        edited("another step", "arguments", models.another_step),
        edited("a text in place of a node", "arguments", models.text_for_node,
               first=models.node_for_text),
        edited("two graphs", "given", models.inserted, graphs=(True, True)),
        edited("two other graphs", "given", models.changed_in_turn, graphs=(True, True)),
    ),
    fine_print={
        "All kinds of nodes count, the output too.": ("other targets",),
        "Arguments may be nested in any way.": (
            "another place in a list",
            "another list in a list",
            "another slice",
            "another step",
        ),
        "Another order of the nodes alone, or another `meta`, changes nothing.": (
            "notes, and another order",
        ),
    },
    hints=HINTS,
    random=RandomModels(Vocabulary(COMMON), models.with_another, count=12),
)  # fmt: skip
