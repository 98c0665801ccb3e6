"""Answers to `count_matches`."""

from __future__ import annotations

import copy

import torch
from torch import fx
from torch.fx import subgraph_rewriter
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

from tests.exercises import right, wrong


def _graph_of(pattern):
    return fx.symbolic_trace(pattern).graph


@right("the pattern replaces itself")
def replaced_by_itself(model, pattern):
    return len(fx.replace_pattern(fx.symbolic_trace(model), pattern, pattern))


@right("a copy of the model is traced")
def copies(model, pattern):
    gm = fx.symbolic_trace(copy.deepcopy(model))
    matches = subgraph_rewriter.replace_pattern(gm, pattern, pattern)
    return sum(1 for _ in matches)


@right("the matcher that replace_pattern uses")
def uses_matcher(model, pattern):
    graph = fx.symbolic_trace(model).graph
    return len(SubgraphMatcher(_graph_of(pattern)).match(graph))


@right("a filter that refuses and counts", debrief=True)
def counting_filter(model, pattern):
    seen = []

    def refuse(match, graph, pattern_graph):
        seen.append(match)
        return False

    gm = fx.symbolic_trace(model)
    subgraph_rewriter.replace_pattern_with_filters(gm, pattern, pattern, [refuse])
    return len(seen)


@right("a deep copy of the trace, anchors counted")
def counts_anchors(model, pattern):
    gm = copy.deepcopy(fx.symbolic_trace(model))
    traced = fx.symbolic_trace(pattern)
    return len([match.anchor for match in fx.replace_pattern(gm, traced, traced)])


@right("the keys of the maps, divided by the pattern's size")
def counts_keys(model, pattern):
    matches = fx.replace_pattern(fx.symbolic_trace(model), pattern, pattern)
    nodes = [node for match in matches for node in match.nodes_map]
    size = sum(node.op != "output" for node in _graph_of(pattern).nodes)
    return len(nodes) // size


@wrong("a copy in eval mode is traced", "wrong-value", clause="mode")
def copy_in_eval(model, pattern):
    return replaced_by_itself(copy.deepcopy(model).eval(), pattern)


@wrong("a copy in the root's mode is traced", "wrong-value", clause="mode-of-parts")
def copy_in_one_mode(model, pattern):
    return replaced_by_itself(copy.deepcopy(model).train(model.training), pattern)


@wrong("the list of matches is returned", "wrong-kind", clause="common.wrong-kind")
def returns_matches(model, pattern):
    return fx.replace_pattern(fx.symbolic_trace(model), pattern, pattern)


@wrong("a graph module is rewritten as it is", "caller-changed", clause="unchanged")
def rewrites_the_caller(model, pattern):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    return len(fx.replace_pattern(gm, pattern, pattern))


@wrong("overlapping places count, too", "wrong-value", clause="non-overlapping")
def counts_overlaps(model, pattern):
    matcher = SubgraphMatcher(_graph_of(pattern), remove_overlapping_matches=False)
    return len(matcher.match(fx.symbolic_trace(model).graph))


@wrong("of overlapping places, the last one counts", "wrong-value", clause="non-overlapping")
def counted_from_the_end(model, pattern):
    matcher = SubgraphMatcher(_graph_of(pattern), remove_overlapping_matches=False)
    used, count = set(), 0
    for match in reversed(matcher.match(fx.symbolic_trace(model).graph)):
        inside = {n for wanted, n in match.nodes_map.items() if wanted.op.startswith("call")}
        if not inside & used:
            used |= inside
            count += 1
    return count


@wrong("numbers are not compared", "wrong-value", clause="places")
def ignores_literals(model, pattern):
    matcher = SubgraphMatcher(_graph_of(pattern), ignore_literals=True)
    return len(matcher.match(fx.symbolic_trace(model).graph))


@wrong("calls of the pattern's last function", "wrong-value", clause="places")
def counts_calls(model, pattern):
    last = [node for node in _graph_of(pattern).nodes if node.op.startswith("call")][-1]
    return sum(node.target == last.target for node in fx.symbolic_trace(model).graph.nodes)


@wrong("the model is not traced", "crashed", clause="traced")
def not_traced(model, pattern):
    return len(fx.replace_pattern(model, pattern, pattern))


@wrong("inner values that are read elsewhere do not matter", "wrong-value", clause="places")
def without_containment(model, pattern):
    matcher = SubgraphMatcher(_graph_of(pattern))
    matcher._is_contained = lambda nodes_map: True
    return len(matcher.match(fx.symbolic_trace(model).graph))


@wrong("the mode of a pattern module is changed", "caller-changed", clause="unchanged")
def changes_the_pattern(model, pattern):
    if isinstance(pattern, torch.nn.Module):
        pattern.eval() if pattern.training else pattern.train()
    return len(fx.replace_pattern(fx.symbolic_trace(model), pattern, pattern))


@wrong("a copy of a graph module is not traced again", "wrong-value", clause="traced")
def copied_not_traced(model, pattern):
    gm = copy.deepcopy(model) if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    return len(fx.replace_pattern(gm, pattern, pattern))


BEYOND = {
    "a copy in eval mode is traced": "what a random model calls does not depend on its mode",
    "a copy of a graph module is not traced again": "no graph module is drawn",
}
