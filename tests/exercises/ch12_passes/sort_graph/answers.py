"""Answers to `sort_graph`."""

from __future__ import annotations

import graphlib
import heapq
from collections import deque

from torch import fx

from tests.exercises import right, wrong


def inputs_of(node):
    return node.all_input_nodes


def scanned(nodes, inputs=inputs_of):
    """The nodes in the required order, and the remaining ones."""
    order, placed, left = [], set(), list(nodes)
    while ready := next((n for n in left if placed.issuperset(inputs(n))), None):
        order.append(ready)
        placed.add(ready)
        left.remove(ready)
    return order, left


def one_cycle(left, inputs=inputs_of):
    """The nodes of a cycle, found by walking from node to input."""
    path, node = [], left[0]
    while node not in path:
        path.append(node)
        node = next(read for read in inputs(node) if read in left)
    return path[path.index(node) :]


def names_of(nodes):
    return ", ".join(node.name for node in nodes)


def put_in_order(gm, order):
    for first, second in zip(order, order[1:], strict=False):
        first.append(second)


def sort(
    gm,
    *,
    inputs=inputs_of,
    order_of=scanned,
    output_last=True,
    cycle=one_cycle,
    error=ValueError,
    text="a cycle: {names}",
    move=put_in_order,
    recompile=True,
    early=False,
):
    """The structure of most answers; each step can be replaced."""
    nodes = list(gm.graph.nodes)
    (output,) = (n for n in nodes if n.op == "output")
    rest = [n for n in nodes if n is not output] if output_last else nodes
    order, left = order_of(rest, inputs)
    if early:
        move(gm, order)
    if left and error:
        raise error(text.format(names=names_of(cycle(left, inputs))))
    move(gm, [*order, output] if output_last else order)
    if recompile:
        gm.recompile()


@right("the first that is ready, again and again", debrief=True)
def first_ready(gm):
    left = [node for node in gm.graph.nodes if node.op != "output"]
    order = []
    while left:
        ready = [n for n in left if all(read in order for read in n.all_input_nodes)]
        if not ready:
            node, path = left[0], []
            while node not in path:
                path.append(node)
                node = [read for read in node.all_input_nodes if read in left][0]
            raise ValueError(f"these nodes wait for each other: {path[path.index(node) :]}")
        order.append(ready[0])
        left.remove(ready[0])
    (output,) = gm.graph.find_nodes(op="output")
    for node in order:
        output.prepend(node)
    # Nodes that were after the output now precede it: all nodes except the output were moved.
    gm.recompile()


@right("a heap of what is ready")
def by_heap(gm):
    nodes = [*gm.graph.nodes]
    place = {node: i for i, node in enumerate(nodes) if node.op != "output"}
    waits = {node: set(node.all_input_nodes) for node in place}
    heap = [place[node] for node in place if not waits[node]]
    order = []
    while heap:
        node = nodes[heapq.heappop(heap)]
        order.append(node)
        for user in node.users:
            if user in waits:
                waits[user].discard(node)
                if not waits[user]:
                    heapq.heappush(heap, place[user])
    stuck = [node for node in place if waits[node]]
    if stuck:
        seen = {}
        node = stuck[-1]
        while node not in seen:
            seen[node] = len(seen)
            node = min(waits[node], key=place.get)
        circle = [n for n, i in seen.items() if i >= seen[node]]
        raise ValueError("cycle: " + " -> ".join(str(n) for n in circle))
    behind = next(n for n in nodes if n.op == "output")
    for node in reversed(order):
        behind.prepend(node)
        behind = node
    gm.graph.lint()
    gm.recompile()


@right("graphlib, asked for one node at a time")
def by_graphlib(gm):
    nodes = [n for n in gm.graph.nodes if n.op != "output"]
    sorter = graphlib.TopologicalSorter({n: n.all_input_nodes for n in nodes})
    sorter.prepare()  # CycleError is a ValueError, and lists the nodes of a cycle
    waiting, order = [], []
    while sorter.is_active():
        waiting += sorter.get_ready()
        waiting.sort(key=nodes.index)
        order.append(waiting.pop(0))
        sorter.done(order[-1])
    output = next(n for n in gm.graph.nodes if n.op == "output")
    last = gm.graph._root
    for node in (*order, output):
        last.append(node)
        last = node
    gm.recompile()


@right("inputs by map_arg, places by number")
def by_numbers(gm):
    nodes = [n for n in gm.graph.nodes if n.op != "output"]
    number = {n: i for i, n in enumerate(nodes)}
    reads = []
    for node in nodes:
        found = set()
        fx.map_arg((node.args, node.kwargs), lambda n, found=found: found.add(number[n]))
        reads.append(found)
    done, order = [False] * len(nodes), []
    while len(order) < len(nodes):
        for i in range(len(nodes)):
            if not done[i] and all(done[j] for j in reads[i]):
                done[i] = True
                order.append(i)
                break
        else:
            # Remove remaining nodes that no other one waits for: cycles and the nodes between them
            # are left. Then walk.
            i = done.index(False)
            walked = []
            while i not in walked:
                walked.append(i)
                i = max(j for j in reads[i] if not done[j])
            circle = walked[walked.index(i) :]
            raise ValueError(f"{len(circle)} nodes: {[nodes[j].name for j in circle]}")
    output = next(n for n in gm.graph.nodes if n.op == "output")
    put_in_order(gm, [*(nodes[i] for i in order), output])
    gm.recompile()


def from_inputs(nodes, inputs):
    """Depth first: the inputs of a node, then the node."""
    order, open_ = [], set()

    def visit(node):
        if node in order or node in open_:
            return
        open_.add(node)
        for read in inputs(node):
            visit(read)
        order.append(node)

    for node in nodes:
        visit(node)
    left = scanned(nodes, inputs)[1]
    return ([n for n in order if n in nodes] if not left else order), left


def first_in_first_out(nodes, inputs):
    waits = {n: len(inputs(n)) for n in nodes}
    queue, order = deque(n for n in nodes if not waits[n]), []
    while queue:
        node = queue.popleft()
        order.append(node)
        for user in node.users:
            if user in waits:
                waits[user] -= 1
                if not waits[user]:
                    queue.append(user)
    return order, [n for n in nodes if n not in order]


def round_by_round(nodes, inputs):
    order, left = [], list(nodes)
    while left:
        before = len(left)
        for node in list(left):
            if all(read in order for read in inputs(node)):
                order.append(node)
                left.remove(node)
        if len(left) == before:
            break
    return order, left


def only_positional(node):
    return [arg for arg in node.args if isinstance(arg, fx.Node)]


def without_keywords(node):
    found = []
    fx.map_arg(node.args, found.append)
    return found


def not_itself(node):
    return [read for read in node.all_input_nodes if read is not node]


def in_new_graph(gm, order):
    graph, copies = fx.Graph(), {}
    for node in order:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    gm.graph = graph


def without_dead(gm, order):
    put_in_order(gm, order)
    gm.graph.eliminate_dead_code()


def noted(gm, order):
    for i, node in enumerate(order):
        node.meta["number"] = i
    put_in_order(gm, order)


def renamed(gm, order):
    put_in_order(gm, order)
    for i, node in enumerate(order):
        if node.op.startswith("call_"):
            node.name = f"m{i}"


def put(style, finding, clause, **how):
    """Mark a wrong answer that differs in one step."""
    wrong(style, finding, clause=clause)(lambda gm: sort(gm, **how))


put("first in, first out", "wrong-order", "earliest", order_of=first_in_first_out)
put("round by round", "wrong-order", "earliest", order_of=round_by_round)
put("from the inputs", "wrong-order", "earliest", order_of=from_inputs)
put("arguments that are nodes", "wrong-order", "nested", inputs=only_positional)
put("no keywords", "wrong-order", "keywords", inputs=without_keywords)
put("the output among the others", "wrong-order", "output-last", output_last=False)
put("no error", "missed-cycle", "cycle", error=None)
put("a RuntimeError", "crashed", "value-error", error=RuntimeError)
put("a node may read itself", "missed-cycle", "itself", inputs=not_itself)
put("all that is left", "not-a-cycle", "no-other", cycle=lambda left, inputs: left)
put("one node of the cycle", "not-a-cycle", "all-of-it",
    cycle=lambda left, inputs: one_cycle(left, inputs)[:1])  # fmt: skip
put("no names", "not-a-cycle", "names", text="the graph has a cycle")
put("the nodes before it, too", "not-a-cycle", "no-other", text="{names}; x1 and x2 are there")
put("moved before the cycle is found", "changed-anyway", "unchanged", early=True)
put("a new graph", "other-nodes", "objects", move=in_new_graph)
put("what is unread goes", "wrong-order", "dead", move=without_dead)
put("the place is noted in `meta`", "node-changed", "meta", move=noted)
put("new names", "wrong-order", "node-names", move=renamed)
put("not recompiled", "stale-code", "recompiled", recompile=False)


@wrong("returns the module", "returns-something", clause="nothing")
def returns_the_module(gm):
    sort(gm)
    return gm


@wrong("arguments are put into lists", "node-changed", clause="arguments")
def in_lists(gm):
    sort(gm)
    for node in gm.graph.nodes:
        if node.op == "call_function" and isinstance(node.kwargs.get("other"), fx.Node):
            node.args = (*node.args, node.kwargs["other"])
            node.kwargs = {k: v for k, v in node.kwargs.items() if k != "other"}
    gm.recompile()


@wrong("the old code, where there is a cycle", "changed-anyway", clause="unchanged-code")
def recompiled_first(gm):
    gm.recompile()
    sort(gm)


def component(left, inputs):
    """Nodes that read, or are read by, the nodes of a cycle, directly or not."""

    def reached(node):
        seen, todo = set(), [node]
        while todo:
            for read in inputs(todo.pop()):
                if read not in seen:
                    seen.add(read)
                    todo.append(read)
        return seen

    first = one_cycle(left, inputs)[0]
    return [n for n in left if n in reached(first) and first in reached(n)]


put("two cycles in one", "not-a-cycle", "no-other", cycle=component)


ADVICE_ON = [
    (
        {
            "type": "RuntimeError",
            "text": "gm.graph.lint()",
            "message": "Argument 'n1' of Node 'n2' was used before it has been defined!",
        },
        "`n2` before `n1`",
    ),
    (
        {"type": "RuntimeError", "message": "n1", "text": "raise RuntimeError(n)"},
        "asks for another one",
    ),
    (
        {"type": "IndexError", "message": "pop from empty list", "text": "node = ready.pop()"},
        "nothing is left",
    ),
    (
        {
            "type": "RecursionError",
            "message": "maximum recursion depth exceeded",
            "text": "visit(read)",
        },
        "longer than Python",
    ),
]
"""Errors in an answer, with a part of the advice that a card gives on each."""
