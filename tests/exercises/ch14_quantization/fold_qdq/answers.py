"""Answers to `fold_qdq`."""

from __future__ import annotations

import copy

from torch import fx

from autograder.given import dequantize, quantize
from tests.exercises import right, wrong

MOVES = {"reshape", "flatten", "transpose", "permute"}


def calls(node, function):
    return isinstance(node, fx.Node) and node.op == "call_function" and node.target is function


def moves(node):
    return node.op == "call_method" and node.target in MOVES


def alone(node):
    return len(node.users) == 1


def sweep(graph):
    for node in reversed(list(graph.nodes)):
        if calls(node, dequantize) and not node.users:
            graph.erase_node(node)


def folded(
    gm, *,
    own=copy.deepcopy, same=lambda a, b: a == b, through=lambda n: moves(n) and alone(n),
    base=lambda n: calls(n, dequantize), clean=sweep, recompile=True, order=list, several=True,
    moved=lambda n: None,
):  # fmt: skip
    """The structure of most answers; each step can be replaced."""
    new = own(gm)
    for node in order(new.graph.nodes):
        if not calls(node, quantize):
            continue
        value, scale = node.args
        way = []
        while through(value):
            way.append(value)
            value = value.args[0]
        if not base(value) or not same(value.args[1], scale) or len(way) > (9 if several else 1):
            continue
        for move in way:
            moved(move)
        if way:
            way[-1].args = (value.args[0], *way[-1].args[1:])
        node.replace_all_uses_with(way[0] if way else value.args[0])
        new.graph.erase_node(node)
    clean(new.graph)
    if recompile:
        new.recompile()
    return new


@right("upwards from each quantize, in graph order")
def upwards(gm):
    return folded(gm)


@right("until nothing changes, with new nodes for what moves", debrief=True)
def until_done(gm):
    graph = copy.deepcopy(gm.graph)

    def step():
        for node in graph.nodes:
            if calls(node, dequantize) and not node.users:
                graph.erase_node(node)
                return True
            if not calls(node, quantize):
                continue
            source, scale = node.args
            if calls(source, dequantize) and source.args[1] == scale:
                node.replace_all_uses_with(source.args[0])
                graph.erase_node(node)
                return True
            top = source
            while moves(top) and alone(top):
                top = top.args[0]
            if top is source or not calls(top, dequantize) or top.args[1] != scale:
                continue
            # The quantize goes one step up, in front of the move.
            with graph.inserting_before(source):
                q = graph.call_function(quantize, (source.args[0], scale))
                lower = graph.call_method(source.target, (q, *source.args[1:]))
            node.replace_all_uses_with(lower)
            graph.erase_node(node)
            graph.erase_node(source)
            return True
        return False

    while step():
        pass
    return fx.GraphModule(gm, graph)


@right("a new graph, with a table of values of eight bits")
def new_graph(gm):
    moved, gone = set(), {}

    def origin(node):
        """The `dequantize` before a moved value of eight bits, and the moves between."""
        way = []
        while moves(node) and alone(node):
            way.append(node)
            node = node.args[0]
        return (node, way) if calls(node, dequantize) else (None, [])

    for node in gm.graph.nodes:
        if calls(node, quantize):
            top, way = origin(node.args[0])
            if top is not None and top.args[1] == node.args[1]:
                moved.update(way)
                gone[node] = way[0] if way else top.args[0]
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        if node in gone:
            env[node] = env[gone[node]]
        elif node in moved and calls(node.args[0], dequantize):
            made = graph.node_copy(node, env.__getitem__)
            made.args = (env[node.args[0].args[0]], *made.args[1:])
            env[node] = made
        else:
            env[node] = graph.node_copy(node, env.__getitem__)
    for node in reversed(list(graph.nodes)):
        if calls(node, dequantize) and not node.users:
            graph.erase_node(node)
    return fx.GraphModule(gm, graph)


@right("downwards from each dequantize, recursively")
def downwards(gm):
    new = copy.deepcopy(gm)

    def ends(node, scale):
        """The quantize calls that a value reaches, each with the moves on the way."""
        for user in list(node.users):
            if calls(user, quantize) and user.args[1] == scale:
                yield user, []
            elif moves(user) and len(user.users) == 1 and user.args[0] is node:
                for end, way in ends(user, scale):
                    yield end, [user, *way]

    for dq in list(new.graph.nodes):
        if calls(dq, dequantize):
            int8, scale = dq.args
            for end, way in list(ends(dq, scale)):
                if way:
                    way[0].replace_input_with(dq, int8)
                end.replace_all_uses_with(way[-1] if way else int8)
                new.graph.erase_node(end)
    for node in reversed(new.graph.nodes):
        if calls(node, dequantize) and len(node.users) == 0:
            new.graph.erase_node(node)
    new.graph.lint()
    new.recompile()
    return new


@right("calls that move lose their meta")
def moves_without_meta(gm):
    return folded(gm, moved=lambda node: node.meta.clear())


# ------------------------------------------------------------------ wrong


@wrong("any two scales", "other-nodes-changed", clause="same-scale")
def any_scale(gm):
    return folded(gm, same=lambda a, b: True)


@wrong("scales of the same type only", "pair-left", clause="as-numbers")
def same_type(gm):
    return folded(gm, same=lambda a, b: type(a) is type(b) and a == b)


@wrong("the other order too", "other-nodes-changed", clause="this-order")
def both_orders(gm):
    new = folded(gm)
    for node in list(new.graph.nodes):
        if calls(node, dequantize) and calls(node.args[0], quantize):
            if node.args[1] == node.args[0].args[1]:
                node.replace_all_uses_with(node.args[0].args[0])
                new.graph.erase_node(node)
    new.recompile()
    return new


@wrong("one round, from the end", "wrong-arguments", clause="readers-read-int8")
def from_the_end(gm):
    def base(value):
        return calls(value, dequantize) and not calls(value.args[0], dequantize)

    new = folded(gm, base=base)
    for node in new.graph.nodes:
        if calls(node, dequantize) and moves(node.args[0]):
            node.args = (node.args[0].args[0], node.args[1])
    new.recompile()
    return new


@wrong("chains only once", "pair-left", clause="chains")
def once(gm):
    before = {node.name for node in gm.graph.nodes}
    fixed = {node.name: str(node.args) for node in gm.graph.nodes}
    return folded(
        gm,
        base=lambda n: calls(n, dequantize) and n.name in before and str(n.args) == fixed[n.name],
    )


@wrong("only where the dequantize has one reader", "pair-left", clause="several-readers")
def one_reader(gm):
    return folded(gm, base=lambda n: calls(n, dequantize) and len(n.users) <= 1)


@wrong("only behind a quantize", "pair-left", clause="any-int8")
def behind_a_quantize(gm):
    return folded(gm, base=lambda n: calls(n, dequantize) and calls(n.args[0], quantize))


@wrong("no moves", "pair-left", clause="moves")
def no_moves(gm):
    return folded(gm, through=lambda n: False)


@wrong("one move", "pair-left", clause="several-moves")
def one_move(gm):
    return folded(gm, several=False)


@wrong("moves that somebody else reads", "other-nodes-changed", clause="nobody-else")
def read_between(gm):
    return folded(gm, through=moves)


@wrong("views too", "other-nodes-changed", clause="four-methods")
def views_too(gm):
    def through(node):
        return node.op == "call_method" and node.target in MOVES | {"view"} and alone(node)

    return folded(gm, through=through)


@wrong("moves keep what they read", "wrong-arguments", clause="move-int8")
def moves_as_before(gm):
    new = copy.deepcopy(gm)
    for node in list(new.graph.nodes):
        if calls(node, quantize):
            value, scale = node.args
            way = []
            while moves(value) and alone(value):
                way.append(value)
                value = value.args[0]
            if calls(value, dequantize) and value.args[1] == scale:
                node.replace_all_uses_with(way[0] if way else value.args[0])
                new.graph.erase_node(node)
    sweep(new.graph)
    new.recompile()
    return new


@wrong("unread dequantize calls stay", "unread-dequantize", clause="unread")
def no_sweep(gm):
    return folded(gm, clean=lambda graph: None)


@wrong("all dead code goes", "other-nodes-changed", clause="all-else")
def with_dce(gm):
    return folded(gm, clean=lambda graph: graph.eliminate_dead_code())


@wrong("unread quantize calls are not looked at", "pair-left", clause="taken-out")
def unread_kept(gm):
    return folded(gm, order=lambda nodes: [n for n in nodes if n.users])


@wrong("traced anew", "other-nodes-changed", clause="common.gm-as-it-is")
def traced_anew(gm):
    return folded(gm, own=fx.symbolic_trace)


@wrong("the given module is edited", "caller-changed", clause="unchanged")
def in_place(gm):
    return folded(gm, own=lambda gm: gm)


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(gm):
    return folded(gm, recompile=False)


@wrong("the meta of all that moves is lost", "meta-lost", clause="all-else")
def all_moves_without_meta(gm):
    new = folded(gm)
    for node in new.graph.nodes:
        if moves(node):
            node.meta = {}
    return new


RARE = "random models have no such scales, or nothing of the kind between two calls"
UNREAD = "all that random models have is read"
ONE_READER = "what random models quantize, or move between two calls, has one reader"
BEYOND = {
    "scales of the same type only": RARE,
    "only behind a quantize": RARE,
    "moves that somebody else reads": ONE_READER,
    "views too": RARE,
    "unread quantize calls are not looked at": UNREAD,
    "all dead code goes": UNREAD,
}


DECIDES_NOTHING = [
    (r"value\.graph_module\.meta\[\]\..*", "what moves values of eight bits may have any meta"),
]
"""Places in an outcome that decide no points, and why."""
