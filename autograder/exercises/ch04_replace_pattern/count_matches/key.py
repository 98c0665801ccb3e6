"""The answer key of `count_matches`: the number of places that `replace_pattern` rewrites."""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.authoring.key import AnswerKey, answer_of, caller_untouched, returns, right_value


def marked(*values: Any) -> Any:
    """Mark a place in the graph that matched the pattern."""
    return values


def places_marked(model: Any, pattern: Any) -> int:
    """The number of marks, if each rewritten place gets one."""
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    traced = fx.symbolic_trace(pattern).graph
    given = [graph.placeholder(node.name) for node in traced.find_nodes(op="placeholder")]
    mark = graph.call_function(marked, tuple(given))
    (returned,) = traced.find_nodes(op="output")
    several = isinstance(returned.args[0], (list, tuple))
    if several:
        marks = range(len(returned.args[0]))
        graph.output(tuple(graph.call_method("item", (mark, i)) for i in marks))
    else:
        graph.output(mark)
    fx.replace_pattern(gm, pattern, fx.GraphModule({}, graph))
    return sum(node.target is marked for node in gm.graph.nodes)


KEY = AnswerKey(
    (
        returns("int").because("names the kind that came back, before anything is compared"),
        caller_untouched,
        right_value,
    ),
    answer_of(places_marked),
)
