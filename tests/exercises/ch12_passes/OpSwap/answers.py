"""Answers to `OpSwap`."""

from __future__ import annotations

import copy

import torch
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from tests.exercises import right, wrong


class Swapping(PassBase):
    """The structure of most answers; each step can be replaced."""

    def __init__(self, table):
        self.table = table

    def wanted(self, gm, node):
        return node.op == "call_function" and node.target in self.table

    def call(self, graph_module):
        modified = False
        for node in graph_module.graph.nodes:
            if self.wanted(graph_module, node):
                modified |= self.edit(node, self.table[node.target])
        return self.end(graph_module, modified)

    def edit(self, node, new):
        other = node.target is not new
        node.target = new
        return other

    def end(self, gm, modified):
        gm.recompile()
        return PassResult(gm, modified)


@right("a loop over all nodes, each target looked up once")
class Loop(PassBase):
    def __init__(self, table):
        super().__init__()
        self.table = dict(table)

    def call(self, graph_module):
        modified = False
        for node in graph_module.graph.nodes:
            if node.op != "call_function":
                continue
            new = self.table.get(node.target, node.target)
            if new is not node.target:
                node.target = new
                modified = True
        if modified:
            graph_module.recompile()
        return PassResult(graph_module, modified)


@right("nodes are found by target first, and edited afterwards", debrief=True)
class Found(PassBase):
    def __init__(self, table):
        self.pairs = [(old, new) for old, new in table.items() if old is not new]

    def call(self, gm):
        plan = [
            (node, new)
            for old, new in self.pairs
            for node in gm.graph.find_nodes(op="call_function", target=old)
        ]
        for node, new in plan:
            node.target = new
        gm.recompile()
        return PassResult(gm, len(plan) > 0)


@right("targets before and after are compared")
class Compared(PassBase):
    def __init__(self, table):
        self.table = table

    def call(self, graph_module):
        nodes = list(graph_module.graph.nodes)
        before = [node.target for node in nodes]
        for node, target in zip(nodes, before, strict=True):
            if node.op == "call_function" and target in self.table:
                node.target = self.table[target]
        graph_module.recompile()
        return PassResult(graph_module, before != [node.target for node in nodes])


@right("an edit a node, and the recompilation in `ensures`")
class Ensuring(PassBase):
    def __init__(self, table):
        self.table = table

    def _swap(self, node):
        old, node.target = node.target, self.table[node.target]
        return old is not node.target

    def call(self, gm):
        calls = filter(lambda n: n.op == "call_function" and n.target in self.table, gm.graph.nodes)
        return PassResult(graph_module=gm, modified=any([self._swap(n) for n in calls]))

    def ensures(self, gm):
        gm.recompile()


class Told(PassResult):
    """A result of an own class."""


@right("a kind of `PassResult` of its own")
class Telling(Loop):
    def call(self, graph_module):
        return Told(*super().call(graph_module))


@right("`__call__` itself, without `call`")
class Direct(PassBase):
    def __init__(self, table):
        self.table = table

    def call(self, graph_module):
        return self(graph_module)

    def __call__(self, gm):
        count = 0
        for node in gm.graph.nodes:
            if node.op == "call_function" and self.table.get(node.target) not in (
                None,
                node.target,
            ):
                node.target = self.table[node.target]
                count += 1
        gm.recompile()
        return PassResult(gm, bool(count))


@wrong("entry after entry", "wrong-target", clause="at-once")
class OneByOne(PassBase):
    def __init__(self, table):
        self.table = table

    def call(self, gm):
        before = [n.target for n in gm.graph.nodes]
        for old, new in self.table.items():
            for node in gm.graph.find_nodes(op="call_function", target=old):
                node.target = new
        gm.recompile()
        return PassResult(gm, before != [n.target for n in gm.graph.nodes])


@wrong("looked up until there is no entry more", "wrong-target", clause="no-chain")
class Chained(Swapping):
    def call(self, gm):
        before = [n.target for n in gm.graph.nodes]
        for node in gm.graph.nodes:
            seen = set()
            while self.wanted(gm, node) and node.target not in seen:
                seen.add(node.target)
                node.target = self.table[node.target]
        return self.end(gm, before != [n.target for n in gm.graph.nodes])


@wrong("the first call only", "wrong-target", clause="every")
class FirstOnly(Swapping):
    def call(self, gm):
        done = set()
        modified = False
        for node in gm.graph.nodes:
            if self.wanted(gm, node) and node.target not in done:
                done |= {node.target, self.table[node.target]}
                modified |= self.edit(node, self.table[node.target])
        return self.end(gm, modified)


@wrong("modified if an entry is met", "dishonest", clause="same-entry")
class Met(Swapping):
    def edit(self, node, new):
        node.target = new
        return True


@wrong("always modified", "dishonest", clause="exactly-if")
class Always(Swapping):
    def end(self, gm, modified):
        return super().end(gm, True)


@wrong("never modified", "dishonest", clause="true-if")
class Never(Swapping):
    def end(self, gm, modified):
        return super().end(gm, False)


@wrong("modified is noted on the pass", "dishonest", clause="each-call")
class Remembered(Swapping):
    modified = False

    def end(self, gm, modified):
        self.modified |= modified
        return super().end(gm, self.modified)


@wrong("how many", "modified-kind", clause="bool")
class Counted(Swapping):
    def call(self, gm):
        found = [n for n in gm.graph.nodes if self.wanted(gm, n)]
        return self.end(gm, sum([self.edit(n, self.table[n.target]) for n in found]))


@wrong("a deep copy is edited", "other-module", clause="same-module")
class Copied(Swapping):
    def call(self, gm):
        return super().call(copy.deepcopy(gm))


@wrong("new nodes in place of the old", "other-nodes", clause="nodes")
class NewNodes(Swapping):
    def edit(self, node, new):
        if node.target is new:
            return False
        name, graph = node.name, node.graph
        with graph.inserting_before(node):
            made = graph.create_node("call_function", new, node.args, node.kwargs)
        made.meta = node.meta
        node.replace_all_uses_with(made)
        graph.erase_node(node)
        made.name = name
        return True


@wrong("new nodes get new names", "node-changed", clause="names")
class NewNames(Swapping):
    def edit(self, node, new):
        other = node.target is not new
        node.target = new
        if other:
            node.name = f"{node.name}_new"
        return other


@wrong("keywords are put in order", "node-changed", clause="arguments")
class InOrder(Swapping):
    def edit(self, node, new):
        other = super().edit(node, new)
        node.args, node.kwargs = (*node.args, *node.kwargs.values()), {}
        return other


@wrong("the old target is noted in `meta`", "node-changed", clause="meta")
class Noted(Swapping):
    def edit(self, node, new):
        node.meta["was"] = node.target.__name__
        return super().edit(node, new)


@wrong("looked up by name", "wrong-target", clause="share-a-name")
class ByName(Swapping):
    def call(self, gm):
        by_name = {old.__name__: new for old, new in self.table.items()}
        modified = False
        for node in gm.graph.nodes:
            if node.op == "call_function" and node.target.__name__ in by_name:
                modified |= self.edit(node, by_name[node.target.__name__])
        return self.end(gm, modified)


def as_function(node, new):
    node.op = "call_function"
    node.target = new
    return True


@wrong("methods, too", "node-changed", clause="methods")
class Methods(Swapping):
    def call(self, gm):
        by_name = {old.__name__: new for old, new in self.table.items()}
        modified = False
        for node in gm.graph.nodes:
            if node.op == "call_method" and node.target in by_name:
                modified |= as_function(node, by_name[node.target])
            elif self.wanted(gm, node):
                modified |= self.edit(node, self.table[node.target])
        return self.end(gm, modified)


@wrong("modules, too", "node-changed", clause="modules")
class Modules(Swapping):
    def call(self, gm):
        modified = False
        for node in gm.graph.nodes:
            if node.op == "call_module" and isinstance(
                gm.get_submodule(node.target), torch.nn.ReLU
            ):
                if torch.relu in self.table:
                    modified |= as_function(node, self.table[torch.relu])
            elif self.wanted(gm, node):
                modified |= self.edit(node, self.table[node.target])
        return self.end(gm, modified)


@wrong("operators are left out", "wrong-target", clause="every")
class NoOperators(Swapping):
    def wanted(self, gm, node):
        return super().wanted(gm, node) and node.target.__module__ != "_operator"


@wrong("not recompiled", "stale-code", clause="recompiled")
class Stale(Swapping):
    def end(self, gm, modified):
        return PassResult(gm, modified)


@wrong("returns the module", "wrong-kind", clause="pass-result")
class ModuleOnly(Swapping):
    def end(self, gm, modified):
        gm.recompile()
        return gm


@wrong("no PassBase", "no-pass-base", clause="pass-base")
class NoPassBase:
    def __init__(self, table):
        self.inner = Found(table)

    def __call__(self, gm):
        return self.inner(gm)


@wrong("one table for all", "wrong-target", clause="table")
class OneTable(Swapping):
    tables: dict = {}  # noqa: RUF012

    def __init__(self, table):
        OneTable.tables.clear()
        OneTable.tables.update(table)

    @property
    def table(self):
        return OneTable.tables
