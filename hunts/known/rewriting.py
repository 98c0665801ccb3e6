"""Bugs of `replace_pattern`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import fx
from torch.fx import subgraph_rewriter
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

from hunts.bug import Bug, returning
from hunts.known.fixes import instead, writes


def _nothing_written_between() -> Any:
    """Leave a match alone if something is written between it and its first reader."""

    def fits(match: Any, graph: fx.Graph, pattern: fx.Graph) -> bool:
        place = {node: number for number, node in enumerate(graph.nodes)}
        inner = [n for n in match.nodes_map.values() if isinstance(n, fx.Node) and n in place]
        own = [n for n in inner if n not in match.placeholder_nodes]
        readers = [user for node in match.returning_nodes for user in node.users]
        start = min(place[node] for node in own)
        end = min((place[node] for node in readers), default=0)
        return not any(writes(n) and start < place[n] < end for n in graph.nodes)

    def make(original: Any) -> Any:
        def replaced(gm: Any, pattern: Any, replacement: Any = None, filters: Any = None,
                     *args: Any, **kwargs: Any) -> Any:  # fmt: skip
            return original(gm, pattern, replacement, [*(filters or []), fits], *args, **kwargs)

        return replaced

    return instead(subgraph_rewriter, "_replace_pattern", make)


@contextmanager
def _lists_followed() -> Iterator[None]:
    """Look up the items of a list when it is copied: they may have been replaced since."""
    became: dict[fx.Node, fx.Node] = {}

    def follow(node: fx.Node) -> fx.Node:
        for _ in became:
            node = became.get(node, node)
        return node

    def uses(original: Any) -> Any:
        def replace_all_uses_with(self: fx.Node, new: fx.Node, *args: Any, **kwargs: Any) -> Any:
            became[self] = new
            return original(self, new, *args, **kwargs)

        return replace_all_uses_with

    def copies(original: Any) -> Any:
        def graph_copy(self: fx.Graph, g: fx.Graph, val_map: Any, *args: Any, **kwargs: Any) -> Any:
            for key, value in list(val_map.items()):
                if isinstance(key, fx.Node) and isinstance(value, (list, tuple)):
                    val_map[key] = fx.node.map_arg(value, follow)
            return original(self, g, val_map, *args, **kwargs)

        return graph_copy

    with (
        instead(fx.Node, "replace_all_uses_with", uses),
        instead(fx.Graph, "graph_copy", copies),
    ):
        yield


def _names_that_are_free() -> Any:
    """Give attributes of the replacement names that are not used yet."""

    def make(original: Any) -> Any:
        def replaced(
            gm: Any, pattern: Any, replacement: Any = None, *args: Any, **kwargs: Any
        ) -> Any:
            if isinstance(replacement, fx.GraphModule):
                replacement = copy.deepcopy(replacement)
                for number, node in enumerate(replacement.graph.nodes):
                    if node.op == "get_attr" and hasattr(gm, node.target):
                        free = f"free_{number}"
                        replacement.register_buffer(free, getattr(replacement, node.target))
                        node.target = free
            return original(gm, pattern, replacement, *args, **kwargs)

        return replaced

    return instead(subgraph_rewriter, "_replace_pattern", make)


def _inputs_before_the_first_reader() -> Any:
    """Leave a match alone if a result is read before all inputs of the match are computed."""

    def fits(match: Any, graph: fx.Graph, pattern: fx.Graph) -> bool:
        place = {node: number for number, node in enumerate(graph.nodes)}
        readers = [place[user] for node in match.returning_nodes for user in node.users]
        inputs = [place[node] for node in match.placeholder_nodes if isinstance(node, fx.Node)]
        return max(inputs, default=0) < min(readers, default=len(place))

    def make(original: Any) -> Any:
        def replaced(gm: Any, pattern: Any, replacement: Any = None, filters: Any = None,
                     *args: Any, **kwargs: Any) -> Any:  # fmt: skip
            return original(gm, pattern, replacement, [*(filters or []), fits], *args, **kwargs)

        return replaced

    return instead(subgraph_rewriter, "_replace_pattern", make)


def _filters_first() -> Any:
    """Apply the filters before overlapping matches are dropped."""

    def make(original: Any) -> Any:
        def replaced(gm: Any, pattern: Any, replacement: Any = None, filters: Any = None,
                     *args: Any, **kwargs: Any) -> Any:  # fmt: skip
            def filtered(drop: Any) -> Any:
                def drop_overlaps(self: Any, matches: Any) -> Any:
                    fit = [m for m in matches if all(f(m, gm.graph, self.pattern) for f in filters)]
                    return drop(self, fit)

                return drop_overlaps

            filters = filters or []
            with instead(SubgraphMatcher, "_remove_overlapping_matches", filtered):
                return original(gm, pattern, replacement, filters, *args, **kwargs)

        return replaced

    return instead(subgraph_rewriter, "_replace_pattern", make)


BUGS = (
    Bug(
        name="replaced-after-a-write",
        title="`replace_pattern` puts the replacement after a write",
        suspects=("replace_pattern",),
        code="""
class Model(nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        x.add_(10)
        return -y
""",
        inputs="x = torch.ones(2)",
        change="replaced(gm)",
        imports="""
def replaced(gm):
    fx.replace_pattern(gm, lambda a: torch.relu(a), lambda a: torch.clamp(a, min=0))
    return gm
""",
        why="The new nodes are put in front of the first one that reads the result, and not where "
        "the old ones were. What they read may have been changed in between.",
        file="fx/subgraph_rewriter.py",
        line="first_user_node if first_user_node is not None else first_next_node",
        instead="Use `replace_pattern_with_filters`, with a filter that refuses such matches.",
        fix=_nothing_written_between,
    ),
    Bug(
        name="replaced-in-a-list",
        title="`replace_pattern` reads a node that it has erased",
        suspects=("replace_pattern",),
        code="""
class Model(nn.Module):
    def forward(self, x):
        return torch.cat([torch.cat([x, x]), x])
""",
        inputs="x = torch.ones(1)",
        change="replaced(gm)",
        imports="""
def replaced(gm):
    fx.replace_pattern(gm, lambda a: torch.cat(a), lambda a: torch.concat(a))
    return gm
""",
        why="If an input of a match was replaced by the match before, it is looked up. If it "
        "is in a list, it is not.",
        file="fx/subgraph_rewriter.py",
        line="val_map[rn] = gn",
        issues=(159613,),
        instead="Replace one match at a time, by a filter, until there is none.",
        raises=True,
        until="2.15",
        fix=_lists_followed,
    ),
    Bug(
        name="replaced-attribute",
        title="`replace_pattern` takes an attribute of the model for the replacement's",
        suspects=("replace_pattern, a buffer",),
        code="""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Buffer(torch.tensor(5.0))
    def forward(self, x):
        return torch.neg(x) * self.scale
""",
        inputs="x = torch.ones(2)",
        change="replaced(gm)",
        imports="""
class Minus(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Buffer(torch.tensor(-1.0))
    def forward(self, a):
        return a * self.scale
def replaced(gm):
    fx.replace_pattern(gm, lambda a: torch.neg(a), fx.symbolic_trace(Minus()))
    return gm
""",
        why="Attributes of the replacement are copied over under their names. One that is there "
        "already stays, and the replacement uses it.",
        file="fx/subgraph_rewriter.py",
        line="# result GraphModule. Whether or not it exists in",
        instead="Choose names that no model has.",
        fix=_names_that_are_free,
    ),
    Bug(
        name="replaced-too-early",
        title="`replace_pattern` puts the replacement before its inputs",
        suspects=("replace_pattern",),
        code="""
class Model(nn.Module):
    def forward(self, x):
        p = torch.exp(x) + 1
        return p * torch.log(torch.cos(x))
""",
        inputs="x = torch.zeros(2)",
        change="replaced(gm)",
        imports="""
def both(a, b):
    return torch.exp(a), torch.log(b)
def replaced(gm):
    fx.replace_pattern(gm, both, both)
    return gm
""",
        why="If a pattern returns several values, the new nodes are put in front of the first one "
        "that reads any of them. An input of another value may be computed after that.",
        file="fx/subgraph_rewriter.py",
        line="first_user_node if first_user_node is not None else first_next_node",
        instead="Write one pattern for each value, and call `gm.graph.lint()` after a rewriting.",
        raises=True,
        fix=_inputs_before_the_first_reader,
    ),
    Bug(
        name="match-hidden-by-a-refused-one",
        title="`replace_pattern_with_filters` drops a match for one that a filter refuses",
        suspects=("replace_pattern",),
        code=returning("torch.sin(torch.sin(torch.sin(x)))"),
        inputs="x = torch.ones(2)",
        change="replaced(gm)",
        imports="""
from torch.fx.subgraph_rewriter import replace_pattern_with_filters
def not_on_input(match, graph, pattern):
    return match.placeholder_nodes[0].op != "placeholder"
def replaced(gm):
    replace_pattern_with_filters(
        gm, lambda a: torch.sin(torch.sin(a)), lambda a: torch.cos(a), [not_on_input])
    return gm
""",
        right_is="(lambda x: torch.cos(torch.sin(x)))",
        why="Overlapping matches are dropped before the filters run. The first match wins, "
        "even if a filter refuses it, and the one that overlaps with it is lost.",
        file="fx/subgraph_rewriter.py",
        line="remove_overlapping_matches=True,",
        instead="If a filter may refuse one of two overlapping matches, write a loop over the "
        "nodes.",
        fix=_filters_first,
    ),
)
