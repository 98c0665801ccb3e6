"""Answers to `peak_memory`."""

from __future__ import annotations

import copy

import torch
from torch import fx
from torch.utils import _pytree as pytree

from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts


def all_tensors(value):
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def storages(value):
    return {
        t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in all_tensors(value)
    }


def not_counted(gm, inputs, env):
    given = [env[n] for n in gm.graph.nodes if n.op in ("placeholder", "get_attr")]
    return storages([*inputs, *given, *gm.parameters(), *gm.buffers()])


def last_readers(graph):
    order = {node: i for i, node in enumerate(graph.nodes)}
    return {node: max([i, *(order[user] for user in node.users)]) for node, i in order.items()}


def total(found, theirs):
    return sum(size for address, size in found.items() if address not in theirs)


def bytes_of(values, theirs):
    return total(storages(values), theirs)


def measured(
    gm,
    inputs,
    *,
    last_of=last_readers,
    measure=bytes_of,
    theirs_of=not_counted,
    counted=lambda n: n.op.startswith("call_"),
    begins=0,
    better=lambda now, most: now > most,
    run=lambda interpreter, inputs: interpreter.run(*inputs),
):
    """The structure of most answers; each step can be replaced."""
    interpreter = fx.Interpreter(gm, garbage_collect_values=False)
    run(interpreter, inputs)
    env, last = interpreter.env, last_of(gm.graph)
    theirs = theirs_of(gm, inputs, env)
    most, where = -1, ""
    nodes = list(gm.graph.nodes)
    for i, now in enumerate(nodes):
        alive = [
            env[node]
            for j, node in enumerate(nodes)
            if j + begins <= i <= last[node] and counted(node)
        ]
        size = measure(alive, theirs)
        if better(size, most):
            most, where = size, now.name
    return most, where


# ------------------------------------------------------------------ right


@right("all values kept, then counted node by node")
def kept(gm, *inputs):
    return measured(gm, inputs)


@right("counted while it runs, by readers that are left", debrief=True)
def while_it_runs(gm, *inputs):
    def tensors(value):
        if isinstance(value, torch.Tensor):
            return [value]
        if isinstance(value, dict):
            value = value.values()
        elif not isinstance(value, (list, tuple)):
            return []
        return [t for item in value for t in tensors(item)]

    def storages(value):
        return {t.untyped_storage().data_ptr(): t.untyped_storage() for t in tensors(value)}

    class Counts(fx.Interpreter):
        def __init__(self):
            super().__init__(gm)
            self.theirs = storages([*inputs, *gm.parameters(), *gm.buffers()])
            self.alive, self.seen = {}, []
            self.most = (-1, "")

        def run_node(self, n):
            value = super().run_node(n)
            self.seen.append(value)  # no address is used twice while all values are there
            if n.op in ("placeholder", "get_attr"):
                self.theirs |= storages(value)
            elif n.op != "output":
                self.alive[n] = storages(value)
            now = {address: s for found in self.alive.values() for address, s in found.items()}
            size = sum(s.nbytes() for address, s in now.items() if address not in self.theirs)
            if size > self.most[0]:
                self.most = size, n.name
            done = {n, *self.alive} - {m for m in self.alive if any(u > n for u in m.users)}
            for node in done:
                self.alive.pop(node, None)
            return value

    counts = Counts()
    counts.run(*inputs)
    return counts.most


@right("on a copy, with names of readers")
def on_a_copy(gm, *inputs):
    gm = copy.deepcopy(gm)
    interpreter = fx.Interpreter(gm, garbage_collect_values=False)
    interpreter.run(*inputs)
    names = [node.name for node in gm.graph.nodes]
    theirs = set(not_counted(gm, inputs, interpreter.env))
    sizes = [0] * len(names)
    spans = {}
    for node, last in last_readers(gm.graph).items():
        if node.op in ("call_function", "call_method", "call_module"):
            for address, size in storages(interpreter.env[node]).items():
                spans.setdefault((address, size), set()).update(
                    range(names.index(node.name), last + 1)
                )
    for (address, size), places in spans.items():
        for place in places if address not in theirs else ():
            sizes[place] += size
    most = max(sizes)
    return most, names[sizes.index(most)]


@right("run node by node, with storages compared as objects")
def by_hand(gm, *inputs):
    runner = fx.Interpreter(gm)
    runner.args_iter = iter(inputs)
    last = last_readers(gm.graph)
    outside = not_counted(gm, inputs, {n: None for n in gm.graph.nodes})
    found, keep = [], []
    alive = {}
    for i, node in enumerate(gm.graph.nodes):
        value = runner.env[node] = runner.run_node(node)
        keep.append(value)
        if node.op in {"placeholder", "get_attr"}:
            outside.update(storages(value))
        elif node.op != "output":
            alive[node] = value
        found.append((total(storages(list(alive.values())), outside), -i, node.name))
        alive = {n: v for n, v in alive.items() if last[n] > i}
    most, _, name = max(found)
    return most, name


# ------------------------------------------------------------------ wrong


@wrong("sizes of tensors are added up", "wrong-bytes", clause="storages")
def tensors_added(gm, *inputs):
    def sizes(values, theirs):
        return sum(
            t.nbytes for t in all_tensors(values) if t.untyped_storage().data_ptr() not in theirs
        )

    return measured(gm, inputs, measure=sizes)


@wrong("each storage once for each tensor", "wrong-bytes", clause="once")
def storages_added(gm, *inputs):
    def sizes(values, theirs):
        found = [t.untyped_storage() for t in all_tensors(values)]
        return sum(s.nbytes() for s in found if s.data_ptr() not in theirs)

    return measured(gm, inputs, measure=sizes)


@wrong("what a view shows, each storage once", "wrong-bytes", clause="whole-storage")
def shown_bytes(gm, *inputs):
    def sizes(values, theirs):
        shown = {}
        for t in all_tensors(values):
            address = t.untyped_storage().data_ptr()
            shown[address] = max(shown.get(address, 0), t.nbytes)
        return total(shown, theirs)

    return measured(gm, inputs, measure=sizes)


@wrong("four bytes an entry", "wrong-bytes", clause="bytes")
def four_bytes(gm, *inputs):
    def sizes(values, theirs):
        return total(
            {
                t.untyped_storage().data_ptr(): 4
                * (t.untyped_storage().nbytes() // t.element_size())
                for t in all_tensors(values)
            },
            theirs,
        )

    return measured(gm, inputs, measure=sizes)


@wrong("inputs are counted, too", "wrong-bytes", clause="inputs")
def with_inputs(gm, *inputs):
    return measured(
        gm,
        inputs,
        counted=lambda n: n.op not in ("get_attr", "output"),
        theirs_of=lambda gm, inputs, env: storages([*gm.parameters(), *gm.buffers()]),
    )


@wrong("parameters that are read are counted", "wrong-bytes", clause="parameters")
def with_parameters(gm, *inputs):
    return measured(
        gm,
        inputs,
        counted=lambda n: n.op not in ("placeholder", "output"),
        theirs_of=lambda gm, inputs, env: storages([*inputs, *gm.buffers()]),
    )


@wrong("buffers are counted", "wrong-bytes", clause="buffers")
def with_buffers(gm, *inputs):
    return measured(
        gm,
        inputs,
        counted=lambda n: n.op not in ("placeholder", "output"),
        theirs_of=lambda gm, inputs, env: storages([*inputs, *gm.parameters()]),
    )


@wrong("containers are overlooked", "wrong-bytes", clause="nested")
def tensors_alone(gm, *inputs):
    def sizes(values, theirs):
        return bytes_of([v for v in values if isinstance(v, torch.Tensor)], theirs)

    return measured(gm, inputs, measure=sizes)


@wrong("what is read goes before the node makes its own", "wrong-bytes", clause="readers-own-node")
def freed_early(gm, *inputs):
    def last(graph):
        order = {node: i for i, node in enumerate(graph.nodes)}
        return {n: max([order[n], *(order[u] - 1 for u in n.users)]) for n in order}

    return measured(gm, inputs, last_of=last)


@wrong("a value goes after its first reader", "wrong-bytes", clause="last-reader")
def first_reader(gm, *inputs):
    def last(graph):
        order = {node: i for i, node in enumerate(graph.nodes)}
        return {n: min([order[u] for u in n.users], default=order[n]) for n in order}

    return measured(gm, inputs, last_of=last)


@wrong("the output is no reader", "wrong-bytes", clause="output")
def without_output(gm, *inputs):
    def last(graph):
        order = {node: i for i, node in enumerate(graph.nodes)}
        return {n: max([order[n], *(order[u] for u in n.users if u.op != "output")]) for n in order}

    return measured(gm, inputs, last_of=last)


@wrong("a value is alive from its first reader on", "wrong-bytes", clause="own-node")
def not_at_its_own(gm, *inputs):
    return measured(gm, inputs, begins=1)


@wrong("what nobody reads stays to the end", "wrong-bytes", clause="unread")
def unread_stays(gm, *inputs):
    def last(graph):
        order = {node: i for i, node in enumerate(graph.nodes)}
        return {n: max((order[u] for u in n.users), default=len(order)) for n in order}

    return measured(gm, inputs, last_of=last)


@wrong("everything stays", "wrong-bytes", clause="last-reader")
def all_stays(gm, *inputs):
    return measured(gm, inputs, last_of=lambda g: dict.fromkeys(g.nodes, len(g.nodes)))


@wrong("the last of several", "wrong-node", clause="first-node")
def last_of_several(gm, *inputs):
    return measured(gm, inputs, better=lambda now, most: now >= most)


@wrong("the target in place of the name", "wrong-node", clause="name")
def by_target(gm, *inputs):
    most, where = measured(gm, inputs)
    (node,) = (node for node in gm.graph.nodes if node.name == where)
    return most, getattr(node.target, "__name__", str(node.target))


@wrong("the node itself", "wrong-kind", clause="pair")
def node_itself(gm, *inputs):
    most, where = measured(gm, inputs)
    return most, next(node for node in gm.graph.nodes if node.name == where)


@wrong("defaults have to be given", "crashed", clause="defaults")
def no_defaults(gm, *inputs):
    def run(interpreter, inputs):
        interpreter.run(*inputs, enable_io_processing=False)

    count = sum(node.op == "placeholder" for node in gm.graph.nodes)
    if len(inputs) < count:
        raise TypeError(f"{count} inputs are needed")
    return measured(gm, inputs, run=run)


@wrong("traced anew", "wrong-node", clause="as-it-is")
def traced_anew(gm, *inputs):
    return measured(fx.symbolic_trace(gm), inputs)


@wrong("the values are kept in the nodes' meta", "caller-changed", clause="unchanged")
def written_down(gm, *inputs):
    result = measured(gm, inputs)
    for node in gm.graph.nodes:
        node.meta["seen"] = True
    return result
