"""Answers to `node_table`."""

from __future__ import annotations

from collections import Counter

from torch import fx

from tests.exercises import right, wrong


def trace(model):
    return fx.symbolic_trace(model).graph.nodes


@right("all_input_nodes and users")
def plain(model):
    return [(n.op, n.name, len(n.all_input_nodes), len(n.users)) for n in trace(model)]


@right("edges counted by hand", debrief=True)
def edges(model):
    nodes = list(trace(model))
    pairs = set()
    for node in nodes:
        fx.map_arg((node.args, node.kwargs), lambda used, node=node: pairs.add((used, node)))
    inputs = Counter(reader for _, reader in pairs)
    users = Counter(used for used, _ in pairs)
    return [(node.op, node.name, inputs[node], users[node]) for node in nodes]


@right("a recursive walk through the arguments")
def recursive(model):
    def walk(value):
        if isinstance(value, fx.Node):
            yield value.name
        elif isinstance(value, (list, tuple)):
            for item in value:
                yield from walk(item)
        elif isinstance(value, dict):
            yield from walk(list(value.values()))
        elif isinstance(value, slice):
            yield from walk((value.start, value.stop, value.step))

    table = []
    nodes = list(trace(model))
    reads = {node.name: set(walk((node.args, node.kwargs))) for node in nodes}
    for node in nodes:
        read_by = sum(node.name in names for names in reads.values())
        table.append((node.op, node.name, len(reads[node.name]), read_by))
    return table


@right("zip of columns")
def columns(model):
    nodes = list(fx.Tracer().trace(model).nodes)
    return list(
        zip(
            (n.op for n in nodes),
            map(str, nodes),
            (len(n._input_nodes) for n in nodes),
            (len(n.users.keys()) for n in nodes),
            strict=True,
        )
    )


@right("with an Interpreter's names")
def by_user_sets(model):
    graph = fx.symbolic_trace(model).graph
    inputs = {node: 0 for node in graph.nodes}
    for node in graph.nodes:
        for user in node.users:
            inputs[user] += 1
    return [(node.op, node.name, count, len(list(node.users))) for node, count in inputs.items()]


# ------------------------------------------------------------------ wrong


@wrong("the stub", "not-attempted", clause="common.stub")
def stub(model):
    raise NotImplementedError()


def table(model, inputs=None, users=None, nodes=None):
    inputs = inputs or (lambda n: len(n.all_input_nodes))
    users = users or (lambda n: len(n.users))
    return [(n.op, n.name, inputs(n), users(n)) for n in nodes or trace(model)]


def occurrences(node):
    found = []
    fx.map_arg((node.args, node.kwargs), lambda n: found.append(n))
    return found


@wrong("every occurrence counts", "wrong-value", clause="distinct-inputs")
def occurrences_count(model):
    return table(model, inputs=lambda n: len(occurrences(n)))


@wrong("only the top level of args", "wrong-value", clause="nested-inputs")
def top_level(model):
    return table(model, inputs=lambda n: len({a for a in n.args if isinstance(a, fx.Node)}))


@wrong("args without kwargs", "wrong-value", clause="nested-inputs")
def no_kwargs(model):
    def inputs(node):
        found = set()
        fx.map_arg(node.args, lambda n: found.add(n))
        return len(found)

    return table(model, inputs=inputs)


@wrong("slices overlooked", "wrong-value", clause="nested-inputs")
def no_slices(model):
    def walk(value):
        if isinstance(value, fx.Node):
            return {value}
        if isinstance(value, dict):
            value = value.values()
        if isinstance(value, (list, tuple)) or hasattr(value, "__iter__") and value != str(value):
            return set().union(*map(walk, value))
        return set()

    return table(model, inputs=lambda n: len(walk(n.args) | walk(n.kwargs)))


@wrong("dictionaries overlooked", "wrong-value", clause="nested-inputs")
def no_dicts(model):
    def walk(value):
        if isinstance(value, fx.Node):
            return {value}
        if isinstance(value, slice):
            return walk((value.start, value.stop, value.step))
        if isinstance(value, (list, tuple)):
            return set().union(*map(walk, value))
        return set()

    return table(model, inputs=lambda n: len(walk((*n.args, *n.kwargs.values()))))


@wrong("uses instead of users", "wrong-value", clause="users")
def uses(model):
    return table(model, users=lambda n: sum(occurrences(u).count(n) for u in n.users))


@wrong("the output is no user", "wrong-value", clause="users")
def output_no_user(model):
    return table(model, users=lambda n: sum(u.op != "output" for u in n.users))


@wrong("inputs and users exchanged", "wrong-value", clause="columns")
def exchanged(model):
    return [(n.op, n.name, len(n.users), len(n.all_input_nodes)) for n in trace(model)]


@wrong("target instead of name", "wrong-value", clause="columns")
def with_target(model):
    return [(n.op, str(n.target), len(n.all_input_nodes), len(n.users)) for n in trace(model)]


@wrong("rows are lists", "wrong-value", clause="columns")
def rows_are_lists(model):
    return [list(row) for row in table(model)]


@wrong("dead nodes left out", "wrong-value", clause="row-a-node")
def no_dead(model):
    return [row for row in table(model) if row[3] or row[0] in ("output", "placeholder")]


@wrong("a graph module's own graph", "wrong-value", clause="common.fresh-trace")
def own_graph(model):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    return table(model, nodes=gm.graph.nodes)


@wrong("in eval mode", "caller-changed", clause="common.caller-modes")
def in_eval_mode(model):
    return table(model.eval())


@wrong("printed", "returned-none", clause="returned")
def printed(model):
    fx.symbolic_trace(model).graph.print_tabular()
