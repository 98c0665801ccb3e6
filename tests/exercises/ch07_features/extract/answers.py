"""Answers for `extract`."""

from __future__ import annotations

import copy
import operator

import torch
from torch import fx, nn

from tests.exercises import GRAPH, right, wrong

PASS_ON = set(
    "getitem getattr view view_as reshape flatten unflatten ravel squeeze unsqueeze transpose "
    "permute movedim t narrow select diagonal expand expand_as unfold chunk split tensor_split "
    "unbind detach contiguous to dropout alpha_dropout swapaxes moveaxis cpu double type_as einsum "
    "hsplit broadcast_tensors".split()
)
MODULES_PASS_ON = (nn.Identity, nn.Flatten, nn.Unflatten, nn.modules.dropout._DropoutNd)


def called(node):
    return node.target if isinstance(node.target, str) else node.target.__name__


def writes(gm, node):
    if node.op == "call_module":
        return getattr(gm.get_submodule(node.target), "inplace", False)
    if node.op not in ("call_function", "call_method"):
        return False
    by_name = called(node).endswith("_") and node.target not in (operator.and_, operator.or_)
    return bool(node.kwargs.get("inplace")) or by_name


def passes_on(gm, node):
    if node.op == "call_module":
        return isinstance(gm.get_submodule(node.target), MODULES_PASS_ON)
    return node.op in ("call_function", "call_method") and called(node) in PASS_ON


def source(node):
    inputs = node.all_input_nodes
    return inputs[-1 if called(node) == "broadcast_tensors" else 0] if inputs else None


def memories(gm, nodes, writes=writes, passes_on=passes_on):
    memory = {}
    for node in nodes:
        base = source(node) if writes(gm, node) or passes_on(gm, node) else None
        memory[node] = node if base is None else memory[base]
    return memory


def meanings(nodes):
    meant = {node.name: node for node in nodes}
    return meant | {node.target: node for node in nodes if node.op == "call_module"}


def look_up(meant, wanted):
    for name in wanted:
        if name not in meant:
            raise ValueError(f"no node and no module is called {name}")
    return {name: meant[name] for name in wanted}


def sweep(gm, nodes, chosen, memory, writes=writes):
    """The needed nodes, and the chosen ones that a later needed node overwrites."""
    needed, read, changed, overwritten = set(), set(), set(), []
    for node in reversed(nodes):
        if node in chosen and memory[node] in changed:
            overwritten.append(node)
        matters = writes(gm, node) and memory[node] in read
        if node in chosen or matters or needed & set(node.users):
            needed.add(node)
            read |= {memory[other] for other in (node, *node.all_input_nodes)}
            if writes(gm, node):
                changed.add(memory[node])
    return needed, overwritten


def clone_after(gm, node):
    with gm.graph.inserting_after(node):
        return gm.graph.call_method("clone", (node,))


def clone_by(function):
    """A clone by a call of a function."""

    def clone(gm, node):
        with gm.graph.inserting_after(node):
            return gm.graph.call_function(function, (node,))

    return clone


def no_clone(gm, node):
    return node


def finish(gm, nodes, needed, output, modules=True):
    next(reversed(gm.graph.nodes)).args = (output,)
    for node in reversed(nodes):
        if node not in needed and node.op != "placeholder":
            gm.graph.erase_node(node)
    if modules:
        gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


def take(
    model,
    wanted,
    *,
    meanings=meanings,
    look_up=look_up,
    writes=writes,
    passes_on=passes_on,
    sweep=sweep,
    clone=clone_after,
    always=False,
    output=dict,
    trace=fx.symbolic_trace,
    modules=True,
):
    gm = trace(model)
    nodes = [node for node in gm.graph.nodes if node.op != "output"]
    chosen = look_up(meanings(nodes), wanted)
    memory = memories(gm, nodes, writes, passes_on)
    needed, overwritten = sweep(gm, nodes, set(chosen.values()), memory, writes)
    if always:
        overwritten = list(dict.fromkeys(chosen.values()))
    value = {node: node for node in chosen.values()}
    value |= {node: clone(gm, node) for node in overwritten}
    result = output({key: value[chosen[name]] for name, key in wanted.items()})
    return finish(gm, nodes, needed, result, modules)


# ------------------------------------------------------------------ right


@right("a sweep from the end, clones where needed")
def swept(model, wanted):
    return take(model, wanted)


@right("every value is cloned")
def all_cloned(model, wanted):
    return take(model, wanted, always=True)


@right("every value is cloned by a function, one clone a key")
def cloned_by_function(model, wanted):
    return take(model, wanted, always=True, clone=clone_by(torch.clone))


def snapshot(value):
    return value.clone()


@right("a function of its own copies")
def own_function(model, wanted):
    return take(model, wanted, always=True, clone=clone_by(snapshot))


class Keep(nn.Module):
    def forward(self, value):
        return value.clone()


@right("a module of its own copies")
def own_module(model, wanted):
    def clone(gm, node):
        gm.add_submodule("keep", Keep())
        with gm.graph.inserting_after(node):
            return gm.graph.call_module("keep", (node,))

    return take(model, wanted, clone=clone)


@right("copied by arithmetic")
def arithmetic(model, wanted):
    def clone(gm, node):
        with gm.graph.inserting_after(node):
            return gm.graph.call_function(operator.mul, (node, 1))

    return take(model, wanted, clone=clone)


@right("a new graph of the needed nodes")
def new_graph(model, wanted):
    gm = fx.symbolic_trace(model)
    nodes = [node for node in gm.graph.nodes if node.op != "output"]
    chosen = look_up(meanings(nodes), wanted)
    needed, overwritten = sweep(gm, nodes, set(chosen.values()), memories(gm, nodes))
    graph, env, kept = fx.Graph(), {}, {}
    for node in nodes:
        if node in needed or node.op == "placeholder":
            env[node] = kept[node] = graph.node_copy(node, env.__getitem__)
            if node in overwritten:
                kept[node] = graph.create_node("call_method", "clone", (env[node],))
    graph.output({key: kept[chosen[name]] for name, key in wanted.items()})
    return fx.GraphModule(gm, graph)


@right("a fixed point over reads and writes", debrief=True)
def fixed_point(model, wanted):
    gm = fx.symbolic_trace(model)
    nodes = [node for node in gm.graph.nodes if node.op != "output"]
    chosen = look_up(meanings(nodes), wanted)
    memory, place = memories(gm, nodes), {node: i for i, node in enumerate(nodes)}
    needed, before = set(chosen.values()), None
    while needed != before:
        before = set(needed)
        for node in before:
            needed.update(node.all_input_nodes)
            for other in nodes[: place[node]]:
                reads = {memory[one] for one in (node, *node.all_input_nodes)}
                if writes(gm, other) and memory[other] in reads:
                    needed.add(other)
    value = {}
    for node in set(chosen.values()):
        later = [n for n in nodes[place[node] + 1 :] if n in needed and writes(gm, n)]
        taken = any(memory[n] is memory[node] for n in later)
        value[node] = clone_after(gm, node) if taken else node
    return finish(gm, nodes, needed, {k: value[chosen[n]] for n, k in wanted.items()})


@right("dead code elimination with a predicate")
def by_predicate(model, wanted):
    gm = fx.symbolic_trace(model)
    nodes = [node for node in gm.graph.nodes if node.op != "output"]
    chosen = look_up(meanings(nodes), wanted)
    needed, _ = sweep(gm, nodes, set(chosen.values()), memories(gm, nodes))
    value = {node: clone_after(gm, node) for node in dict.fromkeys(chosen.values())}
    next(reversed(gm.graph.nodes)).args = ({k: value[chosen[n]] for n, k in wanted.items()},)
    kinds = ("placeholder", "output")
    gm.graph.eliminate_dead_code(is_impure_node=lambda n: n in needed or n.op in kinds)
    gm.delete_all_unused_submodules()
    gm.graph.lint()
    gm.recompile()
    return gm


@right("a copy of the model, and a Tracer of its own")
def copied_model(model, wanted):
    tracer = fx.Tracer()

    def trace(model):
        graph = tracer.trace(copy.deepcopy(model))
        return fx.GraphModule(tracer.root, graph)

    return take(model, wanted, trace=trace)


@right("an output of its own, made anew")
def new_output(model, wanted):
    gm = fx.symbolic_trace(model)
    nodes = [node for node in gm.graph.nodes if node.op != "output"]
    chosen = look_up(meanings(nodes), wanted)
    needed, overwritten = sweep(gm, nodes, set(chosen.values()), memories(gm, nodes))
    gm.graph.erase_node(next(reversed(gm.graph.nodes)))
    copies = {node: clone_after(gm, node) for node in overwritten}
    gm.graph.output({key: copies.get(chosen[name], chosen[name]) for name, key in wanted.items()})
    for node in reversed(nodes):
        if node not in needed and node.op != "placeholder":
            gm.graph.erase_node(node)
    used = {n.target for n in gm.graph.nodes if n.op == "call_module"}
    table = {name: gm.get_submodule(name) for name in used}
    for node in gm.graph.nodes:
        if node.op == "get_attr":
            table[node.target] = operator.attrgetter(node.target)(gm)
    return fx.GraphModule(table, gm.graph)


@right("the clones stand where the first write would come")
def lazily(model, wanted):
    gm = fx.symbolic_trace(model)
    nodes = [node for node in gm.graph.nodes if node.op != "output"]
    chosen = look_up(meanings(nodes), wanted)
    memory = memories(gm, nodes)
    needed, overwritten = sweep(gm, nodes, set(chosen.values()), memory)
    copies = {}
    for node in overwritten:
        later = nodes[nodes.index(node) + 1 :]
        first = next(n for n in later if writes(gm, n) and memory[n] is memory[node])
        with gm.graph.inserting_before(first):
            copies[node] = gm.graph.call_method("clone", (node,))
    result = {key: copies.get(chosen[name], chosen[name]) for name, key in wanted.items()}
    return finish(gm, nodes, needed, result)


@right("the dictionary is used up")
def used_up(model, wanted):
    mine = dict(wanted)
    while wanted:
        wanted.popitem()
    return take(model, mine)


# ------------------------------------------------------------------ wrong: names and keys


@wrong("a node's name comes before a module's", "wrong-result", clause="module-first")
def node_first(model, wanted):
    def other(nodes):
        return meanings([n for n in nodes if n.op == "call_module"]) | {n.name: n for n in nodes}

    return take(model, wanted, meanings=other)


@wrong("a module's first call", "wrong-result", clause="last-call")
def first_call(model, wanted):
    def other(nodes):
        meant = {node.name: node for node in nodes}
        return meant | {n.target: n for n in reversed(nodes) if n.op == "call_module"}

    return take(model, wanted, meanings=other)


@wrong("names of nodes only", "crashed", clause="module-names")
def nodes_only(model, wanted):
    return take(model, wanted, meanings=lambda nodes: {n.name: n for n in nodes})


@wrong("names of modules only", "crashed", clause="node-names")
def modules_only(model, wanted):
    calls = "call_module"
    return take(model, wanted, meanings=lambda nodes: {n.target: n for n in nodes if n.op == calls})


@wrong("in the graph's order", "wrong-order", clause="order")
def graph_order(model, wanted):
    gm = fx.symbolic_trace(model)
    nodes = list(gm.graph.nodes)
    meant = look_up(meanings(nodes), wanted)
    ordered = sorted(wanted, key=lambda name: nodes.index(meant[name]))
    return take(model, {name: wanted[name] for name in ordered})


@wrong("a tuple of values", "wrong-structure", clause="dict")
def a_tuple(model, wanted):
    return take(model, wanted, output=lambda values: tuple(values.values()))


@wrong("KeyError for an unknown name", "wrong-exception", clause="unknown")
def key_error(model, wanted):
    return take(model, wanted, look_up=lambda meant, wanted: {n: meant[n] for n in wanted})


@wrong("the message names nothing", "name-not-told", clause="named")
def no_name(model, wanted):
    try:
        return take(model, wanted)
    except ValueError:
        raise ValueError("unknown name") from None


# ------------------------------------------------------------------ wrong: remaining nodes


@wrong("every call in place is kept", "node-left", clause="nodes-gone")
def keeps_writes(model, wanted):
    def keep(gm, nodes, chosen, memory, writes):
        needed, overwritten = sweep(gm, nodes, chosen, memory, writes)
        for node in reversed(nodes):
            if writes(gm, node) or needed & set(node.users):
                needed.add(node)
        return needed, overwritten

    return take(model, wanted, sweep=keep, always=True)


@wrong("and_ and or_ are taken for calls in place", "node-left", clause="pure-logic")
def logic_in_place(model, wanted):
    def by_name(gm, node):
        named = node.op == "call_function" and called(node) in ("and_", "or_")
        return named or writes(gm, node)

    return take(model, wanted, writes=by_name)


@wrong("snapshots without a gradient", "gradient-lost", clause="gradients")
def detached_snapshots(model, wanted):
    def clone(gm, node):
        with gm.graph.inserting_after(node):
            alone = gm.graph.call_method("detach", (node,))
        with gm.graph.inserting_after(alone):
            return gm.graph.call_method("clone", (alone,))

    return take(model, wanted, clone=clone)


@wrong("an inplace keyword, whatever it says", "node-left", clause="in-place-calls")
def any_inplace_keyword(model, wanted):
    return take(model, wanted, writes=lambda gm, n: "inplace" in n.kwargs or writes(gm, n))


@wrong("unused modules stay", "unused-module", clause="modules-gone")
def modules_stay(model, wanted):
    return take(model, wanted, modules=False)


@wrong("unread placeholders go", "lost-signature", clause="signature")
def no_placeholders(model, wanted):
    gm = take(model, wanted)
    for node in reversed(list(gm.graph.nodes)):
        if node.op == "placeholder" and not node.users:
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@wrong("no recompile", "stale-code", clause="common.recompiled")
def stale(model, wanted):
    gm = take(model, wanted)
    with gm.graph.inserting_before(next(reversed(gm.graph.nodes))):
        gm.graph.call_function(torch.sin, (next(iter(gm.graph.nodes)),))
    return gm


# ------------------------------------------------------------------ wrong: memory


@wrong("no copies", "overwritten", clause="snapshot")
def no_copies(model, wanted):
    return take(model, wanted, clone=no_clone)


@wrong("dead code elimination of FX", "wrong-result", clause="writes-stay")
def eliminated(model, wanted):
    def fx_style(gm, nodes, chosen, memory, writes):
        needed = set(chosen)
        for node in reversed(nodes):
            if needed & set(node.users):
                needed.add(node)
        return needed, list(chosen)

    return take(model, wanted, sweep=fx_style)


def passes_on_but(*names):
    """A `passes_on` that takes the results of these operations for new values."""
    return lambda gm, node: passes_on(gm, node) and called(node) not in names


@wrong("does not know getitem view", "wrong-result", clause="aliases")
def no_views(model, wanted):
    return take(model, wanted, passes_on=passes_on_but("getitem", "view"))


@wrong("does not know einsum", "wrong-result", clause="unknown-is-shared")
def no_einsum(model, wanted):
    return take(model, wanted, passes_on=passes_on_but("einsum"))


@wrong("modules are made to copy", "caller-changed", clause="common.caller-attributes")
def changes_modules(model, wanted):
    gm = fx.symbolic_trace(model)
    for module in gm.modules():
        if hasattr(module, "inplace"):
            module.inplace = False
    return take(gm, wanted, trace=lambda gm: gm)


@wrong("a graph module is not traced again", "caller-changed", clause="common.fresh-trace")
def not_traced(model, wanted):
    def trace(model):
        return model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)

    try:
        return take(model, wanted, trace=trace)
    except ValueError:
        return take(model, {name.replace("_1", "_2"): key for name, key in wanted.items()})


@wrong("always in eval mode", "caller-changed", clause="common.caller-modes")
def to_eval(model, wanted):
    return take(model, wanted).eval()


NAMED = set(
    "add sub mul truediv matmul neg lt le gt ge eq ne exp sin cos tanh sigmoid relu where maximum "
    "sum mean cat stack clone".split()
)


@right("knows as new memory what the card names")
def named_on_the_card(model, wanted):
    gm = fx.symbolic_trace(model)
    nodes = [node for node in gm.graph.nodes if node.op != "output"]
    chosen = look_up(meanings(nodes), wanted)

    def makes_new(node):
        if node.op == "call_module":
            module = gm.get_submodule(node.target)
            return isinstance(module, (nn.Linear, nn.Tanh, nn.Sigmoid, nn.ReLU))
        return node.op in ("placeholder", "get_attr") or called(node) in NAMED

    memory = {}
    for node in nodes:
        inputs = node.all_input_nodes
        shared = inputs[:1] if writes(gm, node) else [] if makes_new(node) else inputs
        memory[node] = set().union(*(memory[other] for other in shared)) or {node}
    needed, read, changed, overwritten = set(), set(), set(), []
    for node in reversed(nodes):
        if node in chosen.values() and memory[node] & changed:
            overwritten.append(node)
        matters = writes(gm, node) and memory[node] & read
        if node in chosen.values() or matters or needed & set(node.users):
            needed.add(node)
            read = read.union(*(memory[other] for other in (node, *node.all_input_nodes)))
            changed |= memory[node] if writes(gm, node) else set()
    value = {node: node for node in chosen.values()}
    value |= {node: clone_after(gm, node) for node in overwritten}
    return finish(gm, nodes, needed, {k: value[chosen[n]] for n, k in wanted.items()})


class Looks(fx.Interpreter):
    """Runs a whole trace and copies each value."""

    def __init__(self, gm):
        super().__init__(gm)
        self.seen = {}

    def run_node(self, n):
        value = super().run_node(n)
        self.seen[n.name] = copy.deepcopy(value)
        return value


def one_node(model, wanted):
    """A graph with one call, of a notebook function that runs the whole model."""
    gm = fx.symbolic_trace(model)
    means = {name: found(gm, name).name for name in wanted}
    places = [n for n in gm.graph.nodes if n.op == "placeholder"]

    def everything(*given):
        looks = Looks(gm)
        values = zip(places, given, strict=False)
        looks.run(*(v for n, a in values for v in (a if n.target == "*rest" else (a,))))
        return {key: looks.seen[means[name]] for name, key in wanted.items()}

    graph = fx.Graph()
    given = [graph.node_copy(n) for n in places]
    graph.output(graph.call_function(everything, tuple(given)))
    return fx.GraphModule({}, graph)


def found(gm, name):
    """The node of a name."""
    calls = {node.target: node for node in gm.graph.nodes if node.op == "call_module"}
    nodes = {node.name: node for node in gm.graph.nodes if node.op != "output"}
    if name not in calls and name not in nodes:
        raise ValueError(f"nothing is called {name}")
    return calls.get(name) or nodes[name]


@wrong("one call of a function that runs the whole model", "unknown-target", clause="own-code")
def own_function_runs_all(model, wanted):
    return one_node(model, wanted)


DECIDES_NOTHING = [
    (
        GRAPH + r"modules\[\]\.(params|buffers)(\..*)?",
        "layers that are kept for their effect, or for the other mode; no value of theirs is read",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
