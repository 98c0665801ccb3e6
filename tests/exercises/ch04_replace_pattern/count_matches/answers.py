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


@wrong("the untouched stub", "not-attempted")
def stub(model, pattern):
    raise NotImplementedError()


@wrong("a copy in eval mode is traced", "wrong-value", clause="mode")
def copy_in_eval(model, pattern):
    return replaced_by_itself(copy.deepcopy(model).eval(), pattern)


@wrong("a copy in the root's mode is traced", "wrong-value", clause="mode-of-parts")
def copy_in_one_mode(model, pattern):
    return replaced_by_itself(copy.deepcopy(model).train(model.training), pattern)


@wrong("the model is put into eval mode", "caller-changed")
def put_into_eval(model, pattern):
    return replaced_by_itself(model.eval(), pattern)


@wrong("nothing is returned", "returned-none")
def returns_nothing(model, pattern):
    len(fx.replace_pattern(fx.symbolic_trace(model), pattern, pattern))


@wrong("the list of matches is returned", "wrong-kind")
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


@wrong("of overlapping places, the last one counts", "wrong-value")
def counted_from_the_end(model, pattern):
    matcher = SubgraphMatcher(_graph_of(pattern), remove_overlapping_matches=False)
    used, count = set(), 0
    for match in reversed(matcher.match(fx.symbolic_trace(model).graph)):
        inside = {n for wanted, n in match.nodes_map.items() if wanted.op.startswith("call")}
        if not inside & used:
            used |= inside
            count += 1
    return count


@wrong("numbers are not compared", "wrong-value")
def ignores_literals(model, pattern):
    matcher = SubgraphMatcher(_graph_of(pattern), ignore_literals=True)
    return len(matcher.match(fx.symbolic_trace(model).graph))


@wrong("the pattern has to end at the output", "wrong-value")
def matches_output(model, pattern):
    matcher = SubgraphMatcher(_graph_of(pattern), match_output=True)
    return len(matcher.match(fx.symbolic_trace(model).graph))


@wrong("only whether there is a match", "wrong-kind")
def only_whether(model, pattern):
    return bool(fx.replace_pattern(fx.symbolic_trace(model), pattern, pattern))


@wrong("one more than there are", "wrong-value", clause="places")
def until_it_is_gone(model, pattern):
    return len(fx.replace_pattern(fx.symbolic_trace(model), pattern, pattern)) + 1


@wrong("the nodes of all matches", "wrong-value")
def counts_nodes(model, pattern):
    matches = fx.replace_pattern(fx.symbolic_trace(model), pattern, pattern)
    return sum(len(match.nodes_map) for match in matches)


@wrong("calls of the pattern's last function", "wrong-value")
def counts_calls(model, pattern):
    last = [node for node in _graph_of(pattern).nodes if node.op.startswith("call")][-1]
    return sum(node.target == last.target for node in fx.symbolic_trace(model).graph.nodes)


@wrong("a replacement with one parameter", "crashed")
def one_parameter(model, pattern):
    gm = fx.symbolic_trace(model)
    return len(fx.replace_pattern(gm, pattern, lambda x: torch.relu(x)))


@wrong("the model is not traced", "crashed", clause="traced")
def not_traced(model, pattern):
    return len(fx.replace_pattern(model, pattern, pattern))


@wrong("inner values that are read elsewhere do not matter", "wrong-value")
def without_containment(model, pattern):
    matcher = SubgraphMatcher(_graph_of(pattern))
    matcher._is_contained = lambda nodes_map: True
    return len(matcher.match(fx.symbolic_trace(model).graph))


@wrong("the output reads only the last of its values", "wrong-value")
def reads_the_last_only(model, pattern):
    gm = fx.symbolic_trace(model)
    (output,) = gm.graph.find_nodes(op="output")
    output.args = (output.all_input_nodes[-1],)
    return len(fx.replace_pattern(gm, pattern, pattern))


@wrong("only the model's own nodes, not those of submodules", "wrong-value")
def own_nodes_only(model, pattern):
    class Shallow(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    graph = Shallow().trace(model)
    return len(fx.replace_pattern(fx.GraphModule(model, graph), pattern, pattern))


@wrong("the mode of a pattern module is changed", "caller-changed")
def changes_the_pattern(model, pattern):
    if isinstance(pattern, torch.nn.Module):
        pattern.eval() if pattern.training else pattern.train()
    return len(fx.replace_pattern(fx.symbolic_trace(model), pattern, pattern))


@wrong("a copy of the pattern is put into the model's mode", "wrong-value")
def pattern_in_the_models_mode(model, pattern):
    if isinstance(pattern, torch.nn.Module):
        pattern = copy.deepcopy(pattern).train(model.training)
    return replaced_by_itself(model, pattern)


@wrong("a copy of a graph module is not traced again", "wrong-value")
def copied_not_traced(model, pattern):
    gm = copy.deepcopy(model) if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    return len(fx.replace_pattern(gm, pattern, pattern))


BEYOND = {
    "a copy in eval mode is traced": "what a random model calls does not depend on its mode",
    "the model is put into eval mode": "what a random model calls does not depend on its mode",
    "a copy of the pattern is put into the model's mode": "no pattern that is drawn has a mode",
    "a copy of a graph module is not traced again": "no graph module is drawn",
    "the output reads only the last of its values": (
        "a model must return a value from inside of a match, and not as its last"
    ),
}
