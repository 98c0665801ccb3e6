"""Answers for `minimize`."""

from __future__ import annotations

import copy

import torch
from torch import fx
from torch.fx.node import map_arg

from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts


def is_call(node):
    return node.op.startswith("call_")


def asked(bad, module):
    try:
        return bool(bad(module))
    except Exception:
        return False


def each_input(node):
    return node.all_input_nodes


def nothing_more(graph):
    pass


def unread_attributes(graph):
    for node in reversed(list(graph.nodes)):
        if node.op == "get_attr" and not node.users:
            graph.erase_node(node)


def in_order(graph):
    return [node.name for node in graph.nodes if is_call(node)]


def minimizer(
    *,
    ask=asked,
    module=fx.GraphModule,
    order=in_order,
    instead=each_input,
    unread=True,
    read=True,
    rounds=100,
    finish=unread_attributes,
    result=fx.GraphModule,
):
    """A right answer in parts, each of which can be replaced by a faulty one."""

    def attempt(graph, name, which):
        smaller = copy.deepcopy(graph)
        node = next(node for node in smaller.nodes if node.name == name)
        if which is not None:
            node.replace_all_uses_with(instead(node)[which])
        smaller.erase_node(node)
        return smaller

    def choices(graph, name):
        node = next(node for node in graph.nodes if node.name == name)
        if node.users:
            return range(len(instead(node))) if read else ()
        return (None,) if unread else ()

    def minimize(gm, bad):
        if not ask(bad, gm):
            raise ValueError("this module is not bad")
        graph = copy.deepcopy(gm.graph)
        for _ in range(rounds):
            before = len(graph.nodes)
            for name in order(graph):
                if all(node.name != name for node in graph.nodes):
                    continue
                for which in choices(graph, name):
                    smaller = attempt(graph, name, which)
                    if ask(bad, module(gm, smaller)):
                        graph = smaller
                        break
            if len(graph.nodes) == before:
                break
        finish(graph)
        return result(gm, graph)

    return minimize


# ------------------------------------------------------------------ right

right("copies of the graph, round after round")(minimizer())
right("from the end")(minimizer(order=lambda graph: list(reversed(in_order(graph)))))


@right("one graph, edited and put back", debrief=True)
def put_back(gm, bad):
    work = fx.GraphModule(gm, copy.deepcopy(gm.graph))

    def still_bad():
        work.recompile()
        try:
            return bad(work)
        except Exception:
            return False

    def taken_out(node):
        """Let the readers read an input of the node; if that is no longer bad, undo it."""
        original, readers = node, list(node.users)
        kept = [(reader, reader.args, reader.kwargs) for reader in readers]
        for given in node.all_input_nodes if readers else [None]:
            if given is not None:
                node.replace_all_uses_with(given)
            behind = node.next
            row = (node.op, node.target, node.args, node.kwargs, node.name)
            work.graph.erase_node(node)
            if still_bad():
                return True
            with work.graph.inserting_before(behind):
                node = work.graph.create_node(*row)
            for reader, args, kwargs in kept:
                reader.args, reader.kwargs = map_arg(
                    (args, kwargs), lambda n, new=node: new if n is original else n
                )
        return False

    if not still_bad():
        raise ValueError("nothing is wrong with this module")
    while any(taken_out(node) for node in list(work.graph.nodes) if node.op.startswith("call_")):
        pass
    for node in list(work.graph.nodes):
        if node.op == "get_attr" and not node.users:
            work.graph.erase_node(node)
    return fx.GraphModule(gm, work.graph)


@right("halves first, then one by one")
def delta_debugging(gm, bad):
    def built(choice):
        """The graph without some calls; `choice` names the input that replaces each."""
        graph, new = fx.Graph(), {}
        for node in gm.graph.nodes:
            if node.name not in choice:
                new[node] = graph.node_copy(node, new.__getitem__)
            elif choice[node.name] is not None:
                new[node] = new[node.all_input_nodes[choice[node.name]]]
            elif node.all_input_nodes:
                new[node] = new[node.all_input_nodes[0]]
        return graph

    def still_bad(choice):
        try:
            return bad(fx.GraphModule(gm, built(choice)))
        except Exception:
            return False

    gone = {}
    if not still_bad(gone):
        raise ValueError("this is not bad")
    sources = [n.name for n in gm.graph.nodes if is_call(n) and n.all_input_nodes]
    size = max(1, len(sources) // 2)
    while size > 1:
        left = [name for name in sources if name not in gone]
        for i in range(0, len(left), size):
            more = gone | dict.fromkeys(left[i : i + size], 0)
            if still_bad(more):
                gone = more
        size //= 2
    return minimizer()(fx.GraphModule(gm, built(gone)), bad)


@right("a table of calls, written out as a new graph with new names")
def table(gm, bad):
    calls = [node for node in gm.graph.nodes if is_call(node)]

    def written(stand_in):
        """A new graph of the remaining calls. `stand_in` maps a removed call to its replacement."""

        def final(node):
            while node in stand_in:
                node = stand_in[node]
            return node

        left = [node for node in gm.graph.nodes if node not in stand_in and node not in erased]
        read = {final(n) for node in left for n in node.all_input_nodes}
        graph, new = fx.Graph(), {}
        for node in left:
            if node.op == "get_attr" and node not in read:
                continue
            args, kwargs = map_arg((node.args, node.kwargs), lambda n: new[final(n)])
            new[node] = graph.create_node(node.op, node.target, args, kwargs, type_expr=node.type)
        return fx.GraphModule(gm, graph), {final(n) for n in read}

    erased: set = set()
    gone: dict = {}

    def ask():
        try:
            return bool(bad(written(gone)[0]))
        except Exception:
            return False

    if not ask():
        raise ValueError("bad(gm) is false")
    again = True
    while again:
        again = False
        for node in calls:
            if node in gone or node in erased:
                continue
            if node in written(gone)[1]:
                for given in node.all_input_nodes:
                    gone[node] = given
                    if ask():
                        again = True
                        break
                    del gone[node]
            else:
                erased.add(node)
                if ask():
                    again = True
                else:
                    erased.discard(node)
    return written(gone)[0]


@right("the smallest first, by recursion")
def recursive(gm, bad):
    def still(module):
        try:
            return bad(module)
        except Exception:
            return False

    def children(module):
        for place, node in enumerate(module.graph.nodes):
            if not node.op.startswith("call_"):
                continue
            for which in range(max(1, len(node.all_input_nodes))):
                if node.users and not node.all_input_nodes:
                    continue
                graph = fx.Graph()
                mapping: dict = {}
                for i, each in enumerate(module.graph.nodes):
                    if i != place:
                        mapping[each] = graph.node_copy(each, mapping.__getitem__)
                    elif each.users:
                        mapping[each] = mapping[each.all_input_nodes[which]]
                yield fx.GraphModule(module, graph)

    def descend(module):
        for child in children(module):
            if still(child):
                return descend(child)
        graph = copy.deepcopy(module.graph)
        for node in [n for n in graph.nodes if n.op == "get_attr" and not n.users]:
            graph.erase_node(node)
        return fx.GraphModule(gm, graph)

    if not still(gm):
        raise ValueError("not bad")
    return descend(gm)


# ------------------------------------------------------------------ wrong: minimal

wrong("one round", "not-minimal", clause="rounds")(minimizer(rounds=1))
wrong("only the first input", "not-minimal", clause="any-input")(
    minimizer(instead=lambda node: node.all_input_nodes[:1])
)


wrong("only unread nodes go", "not-minimal", clause="read-calls")(minimizer(read=False))
wrong("only read nodes go", "not-minimal", clause="unread-calls")(minimizer(unread=False))


def with_inputs(graph):
    return [node.name for node in graph.nodes if is_call(node) and node.all_input_nodes]


wrong("only calls with inputs go", "not-minimal", clause="unread-calls")(
    minimizer(order=with_inputs)
)


# ------------------------------------------------------------------ wrong: bad


def without_dead_code(gm, graph):
    made = fx.GraphModule(gm, graph)
    made.graph.eliminate_dead_code()
    made.recompile()
    return made


wrong("dead code goes at the end", "not-bad", clause="unread-needed")(
    minimizer(result=without_dead_code)
)


@wrong("everything goes", "not-bad", clause="still-bad")
def everything(gm, bad):
    if not asked(bad, gm):
        raise ValueError
    return minimizer(ask=lambda bad, module: True)(gm, bad)


def true_if_raises(bad, module):
    try:
        return bool(bad(module))
    except Exception:
        return True


wrong("what raises is bad", "not-bad", clause="raises-false")(minimizer(ask=true_if_raises))


wrong("bad is asked without gradients", "crashed", clause="still-bad")(
    minimizer(ask=lambda bad, module: torch.no_grad()(asked)(bad, module))
)


@wrong("None where nothing is bad", "should-raise", clause="value-error")
def none(gm, bad):
    return minimizer()(gm, bad) if asked(bad, gm) else None


# ------------------------------------------------------------------ wrong: what is asked


@wrong("stale code", "asked-ill-formed", clause="asked-well-formed")
def stale(gm, bad):
    def module(gm, graph):
        made = fx.GraphModule(gm, graph)
        made._code = gm.code
        return made

    return minimizer(module=module)(gm, bad)


def unread_placeholders(graph):
    for node in reversed(list(graph.nodes)):
        if node.op == "placeholder" and not node.users:
            graph.erase_node(node)


wrong("questions without unread arguments", "asked-signature", clause="asked-signature")(
    minimizer(
        module=lambda gm, graph: fx.GraphModule(gm, without_placeholders(graph)),
    )
)


def without_placeholders(graph):
    copied = copy.deepcopy(graph)
    unread_placeholders(copied)
    return copied


# ------------------------------------------------------------------ wrong: something else changed


def finishing(also):
    def finish(graph):
        unread_attributes(graph)
        also(graph)

    return minimizer(finish=finish)


wrong("unread arguments go", "lost-signature", clause="placeholders")(
    finishing(unread_placeholders)
)


def flat(graph):
    output = next(reversed(graph.nodes))
    found = []
    map_arg(output.args, found.append)
    output.args = (tuple(found),) if len(found) != 1 else (found[0],)


wrong("a flat result", "lost-structure", clause="structure")(finishing(flat))


def sorted_calls(graph):
    """Move each node after the next one, if possible."""
    for node in list(graph.nodes):
        behind = node.next
        if is_call(node) and is_call(behind) and node not in behind.all_input_nodes:
            behind.append(node)
            return


wrong("calls change places", "wrong-order", clause="order")(finishing(sorted_calls))


def copied_result(gm, graph):
    return copy.deepcopy(fx.GraphModule(gm, graph))


wrong("a copy of everything", "not-shared", clause="shared")(minimizer(result=copied_result))


def with_clone(graph):
    output = next(reversed(graph.nodes))
    for given in output.all_input_nodes[:1]:
        with graph.inserting_before(output):
            output.replace_input_with(given, graph.call_function(torch.clone, (given,)))


wrong("the result is cloned", "new-node", clause="was-there")(finishing(with_clone))


def any_earlier(node):
    found = []
    for each in node.graph.nodes:
        if each is node:
            return [*node.all_input_nodes, *found]
        if each.op != "output":
            found.append(each)
    return found


wrong("readers read anything that comes before", "rewired", clause="one-of-its-inputs")(
    minimizer(instead=any_earlier)
)


@wrong("readers are tried one by one", "rewired", clause="all-readers")
def one_by_one(gm, bad):
    graph = copy.deepcopy(minimizer()(gm, bad).graph)
    for node in in_order(graph):
        for which in range(4):
            smaller = copy.deepcopy(graph)
            read = next(n for n in smaller.nodes if n.name == node)
            if len(read.users) > which and read.all_input_nodes:
                list(read.users)[which].replace_input_with(read, read.all_input_nodes[0])
                if asked(bad, fx.GraphModule(gm, smaller)):
                    graph = smaller
    return fx.GraphModule(gm, graph)


wrong("attributes stay", "unread-attribute", clause="get-attr")(minimizer(finish=nothing_more))


def whole_tree(gm, graph):
    made = fx.GraphModule(gm, graph)
    for path, child in gm.named_modules():
        if path and not list(child.children()):
            made.add_submodule(path, child)
    return made


wrong("modules stay", "unused-module", clause="modules")(minimizer(result=whole_tree))


# ------------------------------------------------------------------ wrong: the given module


@wrong("the given module itself", "caller-changed", clause="new-module")
def given_itself(gm, bad):
    made = minimizer()(gm, bad)
    gm.graph = made.graph
    gm.recompile()
    return gm


@wrong("the given graph is worked on", "caller-changed", clause="unchanged")
def given_graph(gm, bad):
    if not asked(bad, gm):
        raise ValueError
    unread_attributes(gm.graph)
    for node in list(gm.graph.nodes):
        if is_call(node) and not node.users:
            smaller = copy.deepcopy(gm.graph)
            twin = next(n for n in smaller.nodes if n.name == node.name)
            smaller.erase_node(twin)
            if asked(bad, fx.GraphModule(gm, smaller)):
                gm.graph.erase_node(node)
    gm.recompile()
    return minimizer()(fx.GraphModule(gm, copy.deepcopy(gm.graph)), bad)


@wrong("the given module, where nothing goes", "not-new", clause="new-module")
def same_module(gm, bad):
    made = minimizer()(gm, bad)
    return gm if len(made.graph.nodes) == len(gm.graph.nodes) else made


_TRUE = "the question is true of every random model, and asks for kinds of calls or for shapes"

BEYOND = {
    "bad is asked without gradients": "questions about random models ask for no gradient",
    "what raises is bad": "where a random model cannot run, its smaller copies run no better",
    "None where nothing is bad": _TRUE,
    "readers read anything that comes before": _TRUE,
}


NOT_GROWN = "`bad` is asked about each call that is left for each call that goes"


DECIDES_NOTHING = [
    (
        r"runs\[\]\.\w+\.args\.tuple\[\]",
        "what a module that raises leaves of its arguments is not asked for",
    ),
]
"""Places in an outcome that decide no points, and why."""
