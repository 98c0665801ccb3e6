"""Answers to `remove_noop_views`."""

from __future__ import annotations

import copy

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import statically_known_true

from tests.exercises import right, wrong

aten = torch.ops.aten
VIEW, RESHAPE = aten.view.default, aten.reshape.default
SHAPES = (VIEW, RESHAPE)
SLICE = aten.slice.Tensor
KINDS = (*SHAPES, SLICE, aten.expand.default)

SYMBOLIC = "random graphs have no symbolic sizes"
OPERATORS = "random graphs have none of these operators where it matters"
BEYOND = {
    "sizes are compared by their hints": SYMBOLIC,
    "sizes are compared by their texts": SYMBOLIC,
    "== in a condition": SYMBOLIC,
    "what was dead from the start stays": "make_fx leaves out what nobody reads",
    "all dead code goes": "make_fx leaves out what nobody reads",
    "view.dtype is a view, too": OPERATORS,
    "what keeps the shape is a view, too": OPERATORS,
    "a new node behind what it reads, before its sizes": SYMBOLIC,
    "slices from 0 in steps of 1 alone": OPERATORS,
    "slices of slices are put together": OPERATORS,
    "keyword arguments are forgotten": OPERATORS,
}
"""Wrong answers that random models cannot find, with the reason."""


def count(gm):
    return sum(node.target in KINDS for node in gm.graph.nodes)


def known(a, b):
    return len(a) == len(b) and all(
        statically_known_true(x == y) for x, y in zip(a, b, strict=True)
    )


def shape(node):
    return node.meta["val"].shape


def does_nothing(node):
    return known(shape(node), shape(node.args[0]))


def skip_inner(node):
    inner = node.args[0]
    if RESHAPE in (node.target, inner.target):
        node.target = RESHAPE
    node.replace_input_with(inner, inner.args[0])


def exchange(node):
    node.replace_all_uses_with(node.args[0])


def sweep(gm, kinds=KINDS):
    for node in reversed(list(gm.graph.nodes)):
        if node.target in kinds and not node.users:
            gm.graph.erase_node(node)


def removed(
    gm,
    *,
    kinds=KINDS,
    nothing=does_nothing,
    merge=skip_inner,
    replace=exchange,
    clean=sweep,
    tell=lambda before, after: before - after,
    recompile=True,
):
    """The structure of most answers; each step can be replaced."""
    before = count(gm)
    for node in gm.graph.nodes:
        if node.target in kinds and nothing(node):
            replace(node)
        elif node.target in SHAPES and node.args[0].target in SHAPES:
            merge(node)
    for node in gm.graph.nodes:
        if node.target in kinds and nothing(node):
            replace(node)
    clean(gm)
    if recompile:
        gm.recompile()
    return tell(before, count(gm))


@right("two passes forwards, one backwards")
def two_passes(gm):
    return removed(gm)


@right("until nothing changes, new nodes for what is merged", debrief=True)
def until_done(gm):
    before = count(gm)
    changed = True
    while changed:
        changed = False
        for node in list(gm.graph.nodes):
            if node.target not in KINDS:
                continue
            source = node.args[0]
            if not node.users:
                gm.graph.erase_node(node)
            elif does_nothing(node):
                node.replace_all_uses_with(source)
                gm.graph.erase_node(node)
            elif node.target in SHAPES and source.target in SHAPES:
                with gm.graph.inserting_after(node):
                    new = gm.graph.call_function(RESHAPE, (source.args[0], node.args[1]))
                new.meta = dict(node.meta)
                node.replace_all_uses_with(new)
                gm.graph.erase_node(node)
            else:
                continue
            changed = True
    gm.recompile()
    return before - count(gm)


@right("the roots first, in a table; readers are rewritten by map_arg")
def by_roots(gm):
    total = count(gm)
    stands_for, copies = {}, {}
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target in KINDS:
            source = stands_for.get(node.args[0], node.args[0])
            copied = copies.get(node.args[0], False)
            base = source
            if node.target in SHAPES:
                copied = copied or node.target == RESHAPE
                while base.target in SHAPES and not known(shape(node), shape(base)):
                    base = base.args[0]
            if known(shape(node), shape(base)):
                before = copies.get(node.args[0], False)
                stands_for[node], copies[node] = base, before if source is base else copied
                continue
            node.args = (base, *node.args[1:])
            if node.target in SHAPES and copied:
                node.target = RESHAPE
            copies[node] = node.target == RESHAPE
        else:
            node.args = fx.map_arg(node.args, lambda n: stands_for.get(n, n))
            node.kwargs = fx.map_arg(node.kwargs, lambda n: stands_for.get(n, n))
    for node in list(gm.graph.nodes)[::-1]:
        if node.target in KINDS and len(node.users) == 0:
            gm.graph.erase_node(node)
    gm.recompile()
    return total - count(gm)


@right("a new graph, copied node by node")
def new_graph(gm):
    before = count(gm)
    live, stack = set(), [n for n in gm.graph.nodes if n.target not in KINDS]
    graph, new, copied = fx.Graph(), {}, set()
    for node in gm.graph.nodes:
        made = {}
        if node.target in KINDS:
            first = source = new[node.args[0]]
            target = node.target
            if target in SHAPES and node.args[0] in copied:
                target = RESHAPE
            while target in SHAPES and source.target in SHAPES:
                target = RESHAPE if RESHAPE in (target, source.target) else VIEW
                source = source.args[0]
            if known(shape(node), shape(source)):
                new[node] = source
                if node.args[0] in copied or (target is RESHAPE and source is not first):
                    copied.add(node)
                continue
            rest = fx.map_arg(node.args[1:], new.__getitem__)
            made = graph.call_function(target, (source, *rest), {})
            made.meta = copy.copy(node.meta)
            new[node] = made
        else:
            new[node] = graph.node_copy(node, new.__getitem__)
    assert stack and not live
    for node in reversed(list(graph.nodes)):
        if node.target in KINDS and not node.users:
            graph.erase_node(node)
    gm.graph = graph
    return before - count(gm)


# ------------------------------------------------------------------ wrong


@wrong("what does nothing stays", "still-there", clause="nothing")
def only_merges(gm):
    return removed(gm, nothing=lambda node: False)


def from_0_in_ones(node):
    _, _, start, _, step = (*node.args, *(0, None, None, 1)[len(node.args) - 1 :])
    return start in (0, None) and step == 1


@wrong("slices from 0 in steps of 1 alone", "still-there", clause="slice")
def plain_slices(gm):
    def nothing(node):
        return does_nothing(node) and (node.target != SLICE or from_0_in_ones(node))

    return removed(gm, nothing=nothing)


@wrong("views of views stay", "view-of-view", clause="view-of-view")
def only_noops(gm):
    return removed(gm, merge=lambda node: None)


@wrong("what nobody reads stays", "dead-view", clause="dead")
def no_sweep(gm):
    return removed(gm, clean=lambda gm: None)


@wrong("what was dead from the start stays", "dead-view", clause="dead-before")
def dead_before(gm):
    dead = [n for n in gm.graph.nodes if n.target in KINDS and not n.users]

    def clean(gm):
        for node in reversed(list(gm.graph.nodes)):
            if node.target in KINDS and not node.users and node not in dead:
                gm.graph.erase_node(node)

    return removed(gm, clean=clean)


@wrong("merged nodes stay views", "view-fails", clause="wherever")
def stays_view(gm):
    def merge(node):
        node.replace_input_with(node.args[0], node.args[0].args[0])

    return removed(gm, merge=merge)


@wrong("the inner view goes with its readers", "wrong-reader", clause="still-read")
def inner_goes(gm):
    def merge(node):
        inner = node.args[0]
        skip_inner(node)
        inner.replace_all_uses_with(inner.args[0])

    return removed(gm, merge=merge)


@wrong("the output still reads it", "still-there", clause="output")
def not_the_output(gm):
    def replace(node):
        source = node.args[0]
        for user in list(node.users):
            if user.op != "output":
                user.replace_input_with(node, source)

    return removed(gm, replace=replace)


@wrong("keyword arguments are forgotten", "still-there", clause="readers")
def not_by_keyword(gm):
    def replace(node):
        source = node.args[0]
        for user in list(node.users):
            user.args = fx.map_arg(user.args, lambda n: source if n is node else n)

    return removed(gm, replace=replace)


@wrong("expands stay", "still-there", clause="expand")
def no_expands(gm):
    return removed(gm, kinds=tuple(k for k in KINDS if k is not aten.expand.default))


@wrong("reshapes stay", "still-there", clause="reshape")
def no_reshapes(gm):
    def nothing(node):
        return node.target is not RESHAPE and does_nothing(node)

    return removed(gm, nothing=nothing)


@wrong("views stay", "still-there", clause="view")
def no_views(gm):
    def nothing(node):
        return node.target is not VIEW and does_nothing(node)

    return removed(gm, nothing=nothing)


@wrong("the same number of elements is the same shape", "wrong-reader", clause="shape")
def by_numel(gm):
    def nothing(node):
        val, source = node.meta["val"], node.args[0].meta["val"]
        return statically_known_true(val.numel() == source.numel())

    return removed(gm, nothing=nothing)


@wrong("sizes are compared by their hints", "wrong-reader", clause="hints")
def by_hints(gm):
    def hint(size):
        return size if isinstance(size, int) else size.node.hint

    def nothing(node):
        a, b = shape(node), shape(node.args[0])
        return [*map(hint, a)] == [*map(hint, b)]

    return removed(gm, nothing=nothing)


@wrong("== in a condition", "guard-added", clause="no-guard")
def compared(gm):
    def nothing(node):
        return shape(node) == shape(node.args[0])

    return removed(gm, nothing=nothing)


@wrong("sizes are compared by their texts", "still-there", clause="known")
def by_texts(gm):
    return removed(gm, nothing=lambda node: [*map(str, shape(node))]
                   == [*map(str, shape(node.args[0]))])  # fmt: skip


@wrong("view.dtype is a view, too", "other-node", clause="dtype")
def with_dtype(gm):
    kinds = (*KINDS, aten.view.dtype)
    return removed(gm, kinds=kinds, clean=lambda gm: sweep(gm, kinds))


@wrong("what keeps the shape is a view, too", "other-node", clause="relatives")
def with_relatives(gm):
    kinds = (*KINDS, aten._unsafe_view.default, aten.permute.default, aten.alias.default)
    return removed(gm, kinds=kinds, clean=lambda gm: sweep(gm, kinds))


@wrong("all dead code goes", "other-node", clause="dead-others")
def all_dead(gm):
    return removed(gm, clean=lambda gm: gm.graph.eliminate_dead_code())


@wrong("slices of slices are put together", "strange-view", clause="slices-apart")
def slices_too(gm):
    def replace(node):
        node.replace_all_uses_with(node.args[0])

    for node in gm.graph.nodes:
        inner = node.args[0] if node.args else None
        both = aten.slice.Tensor
        if node.target is both and getattr(inner, "target", None) is both:
            if node.args[1] == inner.args[1]:
                start = node.args[2] + inner.args[2]
                node.args = (inner.args[0], node.args[1], start, node.args[3])
    return removed(gm, replace=replace)


@wrong("a new node without meta", "wrong-val", clause="val")
def no_meta(gm):
    def merge(node):
        root = node.args[0].args[0]
        with gm.graph.inserting_before(node):
            new = gm.graph.call_function(RESHAPE, (root, node.args[1]))
        if does_nothing_to(node, root):
            new.meta = node.meta
        node.replace_all_uses_with(new)

    def does_nothing_to(node, root):
        return known(shape(node), shape(root))

    return removed(gm, merge=merge, nothing=lambda node: "val" in node.meta and does_nothing(node))


@wrong("a new node behind what it reads, before its sizes", "lint", clause="common.lint")
def before_its_sizes(gm):
    def merge(node):
        root = node.args[0].args[0]
        skip_inner(node)
        root.append(node)

    return removed(gm, merge=merge)


@wrong("only what does nothing is counted", "wrong-count", clause="count")
def counts_noops(gm):
    noops = sum(n.target in KINDS and does_nothing(n) for n in gm.graph.nodes)
    removed(gm)
    return noops


@wrong("whether anything changed", "wrong-kind", clause="number")
def a_flag(gm):
    return removed(gm, tell=lambda before, after: after < before)


@wrong("a copy is changed", "still-there", clause="in-place")
def on_a_copy(gm):
    return removed(copy.deepcopy(gm))


@wrong("not recompiled", "stale-code", clause="common.recompiled")
def stale(gm):
    return removed(gm, recompile=False)


@wrong("a view where the example allows it", "view-fails", clause="hints")
def by_example(gm):
    def merge(node):
        root = node.args[0].args[0]
        inner = node.args[0]
        if not root.meta["val"].is_contiguous():
            node.target = RESHAPE
        node.replace_input_with(inner, root)

    return removed(gm, merge=merge)


@wrong("the meta of the inner one", "wrong-val", clause="val")
def inner_meta(gm):
    def nothing(node):
        nothing_now = does_nothing(node)
        if not nothing_now and "of" in node.meta:
            node.meta["val"] = node.meta.pop("of")
        return nothing_now

    def merge(node):
        node.meta["of"] = node.args[0].meta["val"]
        skip_inner(node)

    return removed(gm, merge=merge, nothing=nothing)


DECIDES_NOTHING = [
    (
        r"runs\[\]\.forward\.value\.dict\[\]\[\]\.list\[\]\.tuple\[\]\.tuple\[\]",
        "a slice from `None` begins where one from 0 does",
    ),
]
"""Places in an outcome that decide no points, and why."""
