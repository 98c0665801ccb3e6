"""Answers to `recompute`."""

from __future__ import annotations

import copy

from torch import fx
from torch.fx.node import map_arg

from autograder.exercises import EXERCISES
from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts


def calls_of(gm, names):
    calls = {node.name: node for node in gm.graph.nodes if node.op.startswith("call_")}
    for name in names:
        if name not in calls:
            raise ValueError(f"{name!r} is the name of no call node")
    return calls


def last_first(nodes, names):
    return [node for node in reversed(nodes) if node.name in names]


def in_graph_order(node, graph):
    return [each for each in graph.nodes if each in node.users]


def node_copy(graph, node):
    return graph.node_copy(node)


def replaced(reader, node, again):
    reader.replace_input_with(node, again)


def nothing(new):
    pass


def recomputed(
    gm,
    names,
    *,
    check=calls_of,
    given=copy.deepcopy,
    order=last_first,
    readers_of=in_graph_order,
    kept=1,
    make=node_copy,
    replace=replaced,
    behind=False,
    finish=nothing,
    recompile=True,
):
    """The structure of most answers; each step can be replaced."""
    check(gm, names)
    new = given(gm)
    for node in order(list(new.graph.nodes), names):
        for reader in readers_of(node, new.graph)[kept:]:
            place = new.graph.inserting_after if behind else new.graph.inserting_before
            with place(node if behind else reader):
                again = make(new.graph, node)
            replace(reader, node, again)
    finish(new)
    if recompile:
        new.recompile()
    return new


# ------------------------------------------------------------------ right


@right("a deep copy, edited from the last named node to the first")
def backwards(gm, names):
    return recomputed(gm, names)


@right("a new graph, copied on demand", debrief=True)
def on_demand(gm, names):
    calls = {node.name: node for node in gm.graph.nodes if node.op.startswith("call_")}
    unknown = [name for name in names if name not in calls]
    if unknown:
        raise ValueError(f"no call nodes: {', '.join(unknown)}")
    named = {calls[name] for name in names}
    graph = fx.Graph()
    made, used = {}, set()

    def copied(node, is_copy=False):
        own = {}
        for read in node.all_input_nodes:
            if read not in named or (read not in used and not is_copy):
                own[read] = made[read]
            else:
                own[read] = copied(read, True)
        if not is_copy:
            used.update(node.all_input_nodes)
        return graph.node_copy(node, own.__getitem__)

    for node in gm.graph.nodes:
        made[node] = copied(node)
    return fx.GraphModule(gm, graph)


@right("until no named value has two readers")
def until_done(gm, names):
    graph = copy.deepcopy(gm.graph)
    names = set(names)
    todo = {n for n in graph.nodes if n.name in names and n.op.startswith("call_")}
    if len(todo) < len(names):
        missing = names - {n.name for n in todo}
        raise ValueError(f"{sorted(missing)} cannot be computed again")
    changed = True
    while changed:
        changed = False
        for reader in reversed(graph.nodes):
            for node in reader.all_input_nodes:
                first = next(n for n in graph.nodes if node in n.all_input_nodes)
                if node in todo and first is not reader:
                    graph.inserting_before(reader)
                    reader.replace_input_with(node, graph.node_copy(node))
                    changed = True
    return fx.GraphModule(gm, graph)


@right("a list of instructions first, then the graph")
def planned(gm, names):
    order = list(gm.graph.nodes)
    known = {n.name: n for n in order}
    for name in names:
        if name not in known or known[name].op in ("placeholder", "get_attr", "output"):
            raise ValueError(f"cannot compute {name} again")
    first = {}
    for node in order:
        for read in node.all_input_nodes:
            first.setdefault(read, node)
    plan = []  # (key of the new node, the old node, a map from its inputs to their keys)

    def emit(key, node, copied):
        reads = {}
        for read in node.all_input_nodes:
            if read.name in names and (copied or first[read] is not node):
                reads[read] = (*key, read)
                emit(reads[read], read, True)
            else:
                reads[read] = (read,)
        plan.append((key, node, reads))

    for node in order:
        emit((node,), node, False)
    graph, made = fx.Graph(), {}
    for key, node, reads in plan:

        def own(read, reads=reads):
            return made[reads[read]]

        args, kwargs = map_arg(node.args, own), map_arg(node.kwargs, own)
        made[key] = graph.create_node(node.op, node.target, args, kwargs, type_expr=node.type)
        made[key].meta = dict(node.meta)
    return fx.GraphModule(gm, graph)


@right("copies named again, in a copy of the module")
def other_names(gm, names):
    def make(graph, node):
        args = (node.op, node.target, node.args, node.kwargs)
        again = graph.create_node(*args, name=f"again_{node.name}")
        again.meta.update(node.meta)
        return again

    return recomputed(gm, tuple(names), make=make)


# ------------------------------------------------------------------ wrong


@wrong("in the order of the names", "wrong-count", clause="copies-count")
def as_given(gm, names):
    def order(nodes, names):
        return [next(n for n in nodes if n.name == name) for name in names]

    return recomputed(gm, names, order=order)


@wrong("the copy of a chain reads originals", "wrong-count", clause="chains")
def flat(gm, names):
    graph, made, used = fx.Graph(), {}, set()
    calls_of(gm, names)
    for node in gm.graph.nodes:
        own = {}
        for read in node.all_input_nodes:
            own[read] = made[read]
            if read.name in names and read in used:
                own[read] = graph.node_copy(read, made.__getitem__)
            used.add(read)
        made[node] = graph.node_copy(node, own.__getitem__)
    return fx.GraphModule(gm, graph)


@wrong("one copy for all later readers", "wrong-count", clause="own-copy")
def one_copy(gm, names):
    calls_of(gm, names)
    new = copy.deepcopy(gm)
    for node in last_first(list(new.graph.nodes), names):
        later = in_graph_order(node, new.graph)[1:]
        if later:
            with new.graph.inserting_before(later[0]):
                again = new.graph.node_copy(node)
            for reader in later:
                reader.replace_input_with(node, again)
    new.recompile()
    return new


@wrong("the first reader has a copy, too", "wrong-count", clause="first-reader")
def all_copied(gm, names):
    return recomputed(gm, names, kept=0)


@wrong("the first reader in the order of the given users", "wrong-place", clause="graph-order")
def order_of_users(gm, names):
    first = {node.name: next(iter(node.users)).name for node in gm.graph.nodes if node.users}

    def readers(node, graph):
        found = in_graph_order(node, graph)
        return sorted(found, key=lambda n: n.name != first[node.name])

    return recomputed(gm, names, readers_of=readers)


@wrong("the output is no reader", "wrong-count", clause="output")
def without_output(gm, names):
    def readers(node, graph):
        return [n for n in in_graph_order(node, graph) if n.op != "output"]

    return recomputed(gm, names, readers_of=readers)


@wrong("copies behind the original", "wrong-place", clause="directly-before")
def behind(gm, names):
    return recomputed(gm, names, behind=True)


@wrong("a copy for each place in which it is read", "wrong-count", clause="read-twice")
def each_place(gm, names):
    def readers(node, graph):
        return [n for n in in_graph_order(node, graph) for _ in range(places(n, node))]

    def places(reader, node):
        found = []
        map_arg((reader.args, reader.kwargs), lambda n: found.append(n) or n)
        return found.count(node)

    return recomputed(gm, names, readers_of=readers)


@wrong("only positional arguments", "wrong-count", clause="every-reader")
def only_args(gm, names):
    def replace(reader, node, again):
        reader.args = map_arg(reader.args, lambda n: again if n is node else n)

    def finish(new):
        for node in reversed(new.graph.nodes):
            if not node.users and node.name not in old and node.op != "output":
                new.graph.erase_node(node)

    old = {node.name for node in gm.graph.nodes}
    return recomputed(gm, names, replace=replace, finish=finish)


@wrong("not what is inside lists", "wrong-count", clause="every-reader")
def not_nested(gm, names):
    def readers(node, graph):
        def directly(n):
            return node in n.args or node in n.kwargs.values() or n.op == "output"

        found = in_graph_order(node, graph)
        return found[:1] + [n for n in found[1:] if directly(n)]

    return recomputed(gm, names, readers_of=readers)


@wrong("what nobody reads is cleaned up", "wrong-count", clause="originals-stay")
def cleaned(gm, names):
    return recomputed(gm, names, finish=lambda new: new.graph.eliminate_dead_code())


@wrong("originals move to their first readers", "wrong-place", clause="originals-order")
def moved(gm, names):
    def finish(new):
        for node in list(new.graph.nodes):
            if node.name in names and node.users:
                in_graph_order(node, new.graph)[0].prepend(node)

    return recomputed(gm, names, finish=finish)


@wrong("copies without meta", "meta-lost", clause="meta")
def no_meta(gm, names):
    def make(graph, node):
        return graph.create_node(node.op, node.target, node.args, node.kwargs)

    return recomputed(gm, names, make=make)


@wrong("traced anew", "meta-lost", clause="as-it-is")
def traced(gm, names):
    return recomputed(fx.symbolic_trace(gm), names)


@wrong("the given graph module is edited", "caller-changed", clause="unchanged")
def edited(gm, names):
    return recomputed(gm, names, given=lambda gm: gm)


@wrong("a mark in the given meta", "caller-changed", clause="meta-unchanged")
def marked(gm, names):
    for node in gm.graph.nodes:
        if node.name in names:
            node.meta["again"] = True
    try:
        return recomputed(gm, names)
    finally:
        for node in gm.graph.nodes:
            if node.name in names:
                node.meta["again"] = False


@wrong("unknown names are passed over", "should-raise", clause="unknown")
def passed_over(gm, names):
    return recomputed(gm, names, check=lambda gm, names: None)


@wrong("any node will do", "should-raise", clause="no-call")
def any_node(gm, names):
    def check(gm, names):
        known = {node.name for node in gm.graph.nodes}
        for name in names:
            if name not in known:
                raise ValueError(name)

    return recomputed(gm, names, check=check)


@wrong("functions only", "crashed", clause="all-calls")
def functions_only(gm, names):
    def check(gm, names):
        known = {node.name for node in gm.graph.nodes if node.op == "call_function"}
        for name in names:
            if name not in known:
                raise ValueError(name)

    return recomputed(gm, names, check=check)


@wrong("refused without a word", "name-not-told", clause="says-it")
def no_word(gm, names):
    try:
        calls_of(gm, names)
    except ValueError:
        raise ValueError from None
    return recomputed(gm, names)


@wrong("not recompiled", "stale-code", clause="common.recompiled")
def stale(gm, names):
    return recomputed(gm, names, recompile=False)


NAMED = "the names that random models come with are all those of calls"
BEYOND = {
    "unknown names are passed over": NAMED,
    "any node will do": NAMED,
    "refused without a word": NAMED,
}


NOT_GROWN = "which values a random model drops is chosen by looking at all pairs"


def complete_on_network(trial, choice):
    """Disable in-place layers: the task excludes values that are changed later."""
    for module in trial.model.modules():
        if hasattr(module, "inplace"):
            module.inplace = False
    return EXERCISES["recompute"].random.complete(trial, choice)
