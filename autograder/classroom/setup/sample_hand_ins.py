"""The six submissions of the sample class: answers as students write them, with known points.

A student's answer is either the course's own solution (`RIGHT`) or the text of a cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CHAPTER = "02_nodes"
POINTS = {"count_ops": 2.0, "inputs_of": 4.0, "build_by_hand": 4.0, "dead_nodes": 4.0}
"""The full marks of the chapter's exercises."""

RIGHT = ""
"""A placeholder for the course's own solution of an exercise."""

LIST_OF_PAIRS = """\
def count_ops(model):
    found = [node.op for node in fx.symbolic_trace(model).graph.nodes]
    return [(op, found.count(op)) for op in dict.fromkeys(found)]
"""

NAMES_ONLY = """\
def inputs_of(node):
    return [str(value) for value in node.args]
"""

ENDS_PYTHON = """\
import os


def inputs_of(node):
    if node.kwargs:
        os._exit(1)
    return list(node.all_input_nodes)
"""

RETURNS_A_GRAPH = """\
def build_by_hand(proj, shift):
    graph = fx.Graph()
    graph.output(graph.call_module("proj", (graph.placeholder("x"),)))
    return graph
"""

FORGETS_KEYWORDS = """\
def dead_nodes(model):
    graph = fx.symbolic_trace(model).graph
    alive = set()
    for node in reversed(graph.nodes):
        if node.op == "output" or node in alive:
            alive.add(node)
            fx.node.map_arg(node.args, alive.add)
    return [n.name for n in graph.nodes if n not in alive and n.op != "placeholder"]
"""

RETURNS_A_SET = """\
def dead_nodes(model):
    return {node.name for node in fx.symbolic_trace(model).graph.nodes if not node.users}
"""

NEVER_ENDS = """\
def dead_nodes(model):
    graph = fx.symbolic_trace(model).graph
    alive, changed = {next(iter(reversed(graph.nodes)))}, True
    while changed:
        for node in graph.nodes:
            if any(user in alive for user in node.users):
                alive.add(node)
                changed = True
    return [n.name for n in graph.nodes if n not in alive and n.op != "placeholder"]
"""


@dataclass(frozen=True)
class HandIn:
    """The work of one student of the sample class.

    Attributes:
        student: the student's id.
        about: the special feature of this submission, in a few words.
        answers: the texts of answer cells, by exercise; the other answers are right.
        earns: the points of answers that do not get full marks.
        damaged: whether an editor damaged the notebook, so that grading must repair it.
    """

    student: str
    about: str
    answers: Mapping[str, str] = field(default_factory=dict)
    earns: Mapping[str, float] = field(default_factory=dict)
    damaged: bool = False

    @property
    def points(self) -> dict[str, float]:
        """The points that grading must give, by exercise."""
        return {**POINTS, **self.earns}


HAND_INS = (
    HandIn("ada", "everything is right"),
    HandIn(
        "ben", "one answer is right in part", {"dead_nodes": FORGETS_KEYWORDS}, {"dead_nodes": 2.4}
    ),
    HandIn(
        "cleo",
        "every answer is wrong",
        {
            "count_ops": LIST_OF_PAIRS,
            "inputs_of": NAMES_ONLY,
            "build_by_hand": RETURNS_A_GRAPH,
            "dead_nodes": RETURNS_A_SET,
        },
        dict.fromkeys(POINTS, 0.0),
    ),
    HandIn("dan", "one answer ends Python", {"inputs_of": ENDS_PYTHON}, {"inputs_of": 0.0}),
    HandIn("eva", "one answer never ends", {"dead_nodes": NEVER_ENDS}, {"dead_nodes": 0.0}),
    HandIn("finn", "everything is right, in a damaged notebook", damaged=True),
)
