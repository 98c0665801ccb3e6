"""Exercise 12.2: sort a graph in which some nodes precede their inputs."""

from __future__ import annotations

import torch

from autograder.authoring.question import COMMON, Aspect, Case, Exercise, RandomModels, Vocabulary
from autograder.exercises.ch12_passes.sort_graph import models
from autograder.exercises.ch12_passes.sort_graph.models import Entry, add, output, sin

HINTS = (
    "**Where to look.** Take paper, and a graph of five nodes. Write down, from the old order, the "
    "first node whose inputs you have written down already; then begin at the top again. When does "
    "this get stuck, and what do you know then about each node that is left?",
    "**What to use.** `node.all_input_nodes` has inputs from lists and keywords, too. "
    "`first.append(second)` moves `second` to the place after `first`. For a cycle: from a node "
    "that is left, go to an input that is left, and on, until a node comes again. The output may "
    "be anywhere, so `graph.output_node()`, which looks at the last node, may not find it.",
    "**A skeleton.**\n\n"
    "```python\n"
    "left = [...]                          # all nodes but the output, in their order\n"
    "order = []\n"
    "while left:\n"
    "    ready = [node for node in left if ...]\n"
    "    if not ready:\n"
    "        ...                           # a cycle is among those that are left\n"
    "    order.append(ready[0])\n"
    "    left.remove(ready[0])\n"
    "...                                   # now, and not before, the nodes are moved\n"
    "```",
)


def case(name: str, aspect: str, *entries: Entry) -> Case:
    """A case: the nodes after two placeholders, in the order of the graph."""
    return Case(name, aspect, models.Sorting(entries))


EXERCISE = Exercise(
    number=2,
    title="Inputs first",
    stars=3,
    minutes=20,
    points=6,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 2, "next is always the first node whose inputs are all there"),
        Aspect("inputs", 1, "inputs of every kind: in lists, dictionaries, slices and keywords"),
        Aspect("rest", 1, "the output is last; what nobody reads stays"),
        Aspect("cycles", 2, "a cycle is refused, and its nodes are named"),
    ),
    cases=(
        case("two nodes", "task", add("n2", "n1", "x1"), sin("n1", "x1"), output("n2")),
        case("one that waits for the last", "task", sin("n1", "n4"), sin("n2", "x1"),
             add("n3", "n2", "x2"), sin("n4", "x1"), output("n1", "n3")),
        case("two that wait", "task", add("n1", "n4", "x1"), sin("n2", "n1"), sin("n3", "x1"),
             sin("n4", "x2"), sin("n5", "x2"), output("n2", "n3", "n5")),
        case("every kind of node", "inputs", *models.MIXED),
        case("as a keyword", "inputs",
             Entry("n2", torch.add, ("x1",), (("other", "n1"), ("alpha", 3))), sin("n1", "x1"),
             output("n2")),
        case("in a dictionary", "inputs", Entry("n2", models.total, ({"all": ["x2", "n1"]},)),
             sin("n1", "x1"), output("n2")),
        case("the output is in the middle", "rest", sin("n1", "x1"), output("n1"), sin("n2", "n3"),
             sin("n3", "x2")),
        case("what nobody reads", "rest", sin("n3", "n4"), sin("n2", "x1"), sin("n1", "x1"),
             sin("n4", "x2"), output("n1")),
        case("two that wait for each other", "cycles", sin("n1", "x1"), sin("n2", "n3"),
             sin("n3", "n2"), output("n1")),
        case("one that waits for itself", "cycles", sin("n1", "x1"), add("n2", "n2", "x1"),
             output("n1")),
        case("some wait for the cycle", "cycles", sin("n1", "n11"), sin("n11", "n12"),
             add("n12", "n2", "x1"), add("n2", "n22", "x2"), sin("n22", "n2"), output("n1")),
        case("two cycles", "cycles", sin("n1", "n2"), sin("n2", "n1"), sin("n3", "x1"),
             add("n4", "n5", "n1"), sin("n5", "n4"), output("n3")),
        case("a cycle through a keyword", "cycles",
             Entry("n2", torch.add, ("x1",), (("other", "n3"),)),
             Entry("n3", torch.cat, (["x1", "n2"],)), sin("n1", "x1"), output("n1")),
        case("two cycles with one node in common", "cycles", sin("n1", "n2"),
             add("n2", "n1", "n3"), sin("n3", "n2"), output("n1")),
    ),
    fine_print={
        "Inputs are all nodes that a node reads, in lists, slices and keywords, too.": (
            "every kind of node",
            "as a keyword",
            "in a dictionary",
            "a cycle through a keyword",
        ),
        "Nodes that nobody reads stay.": ("what nobody reads",),
        "A node that reads itself is a cycle.": ("one that waits for itself",),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(COMMON, shapes=((2, 3), (3,)), most=6), models.shuffled, count=12
    ),
)  # fmt: skip
