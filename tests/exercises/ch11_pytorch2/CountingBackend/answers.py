"""Answers to `CountingBackend`."""

from __future__ import annotations

import copy
import re
from collections import Counter, defaultdict

import torch
from torch import fx

from tests.exercises import right, wrong


def name_of(gm, node):
    if node.op == "call_module":
        return type(gm.get_submodule(node.target)).__name__
    return node.target if node.op == "call_method" else node.target.__name__


def calls_in(gm):
    return [node for node in gm.graph.nodes if node.op.startswith("call_")]


@right("a loop in __call__, the graph module itself")
class Plain:
    def __init__(self):
        self.graphs = 0
        self.ops = Counter()

    def __call__(self, gm, example_inputs):
        self.graphs += 1
        for node in gm.graph.nodes:
            if node.op == "call_function":
                self.ops[node.target.__name__] += 1
            elif node.op == "call_method":
                self.ops[node.target] += 1
            elif node.op == "call_module":
                self.ops[gm.get_submodule(node.target).__class__.__name__] += 1
        return gm


@right("names are kept, and counted when asked", debrief=True)
class Kept:
    def __init__(self):
        self._names = []

    @property
    def graphs(self):
        return len(self._names)

    @property
    def ops(self):
        return Counter(name for names in self._names for name in names)

    def __call__(self, gm, example_inputs):
        modules = dict(gm.named_modules())
        self._names.append([
            modules[n.target]._get_name() if n.op == "call_module"
            else getattr(n.target, "__name__", n.target)
            for n in gm.graph.nodes if n.op not in ("placeholder", "get_attr", "output")
        ])  # fmt: skip
        return gm.forward


@right("a plain dictionary, and an Interpreter runs")
class Interpreted:
    def __init__(self):
        self.graphs, self.ops = 0, defaultdict(int)

    def __call__(self, gm, example_inputs):
        self.graphs = self.graphs + 1
        for node in calls_in(gm):
            self.ops[name_of(gm, node)] += 1
        return fx.Interpreter(gm).run


@right("Counter.update, a copy of the graph runs")
class Copied:
    def __init__(self):
        self.graphs: int = 0
        self.ops: Counter[str] = Counter()

    def __call__(self, gm, example_inputs):
        self.ops.update(name_of(gm, node) for node in calls_in(gm))
        self.graphs = 1 + self.graphs
        again = fx.GraphModule(gm, copy.deepcopy(gm.graph))
        return lambda *args: again(*args)


@right("find_nodes for each kind of call")
class Found:
    def __init__(self):
        self.graphs, self.ops = 0, Counter()

    def __call__(self, gm, example_inputs):
        self.graphs += 1
        nodes = gm.graph.nodes
        self.ops += Counter(n.target.__name__ for n in nodes if n.op == "call_function")
        self.ops += Counter(n.target for n in nodes if n.op == "call_method")
        called = [gm.get_submodule(n.target) for n in nodes if n.op == "call_module"]
        self.ops += Counter(type(module).__name__ for module in called)
        return gm


# ------------------------------------------------------------------ wrong


@wrong("methods by the names of their nodes", "extra-name", clause="methods")
class MethodsByNode(Plain):
    def __call__(self, gm, example_inputs):
        super().__call__(gm, example_inputs)
        for node in calls_in(gm):
            if node.op == "call_method":
                self.ops[node.target] -= 1
                self.ops[re.sub(r"_\d+$", "", node.name)] += 1
        return gm


class Base:
    """The base of the wrong answers: each changes one method."""

    def __init__(self):
        self.graphs, self.ops = 0, Counter()

    def __call__(self, gm, example_inputs):
        self.graphs += 1
        self.ops.update(self.names(gm))
        return self.compiled(gm, example_inputs)

    def names(self, gm):
        return [name_of(gm, node) for node in calls_in(gm)]

    def compiled(self, gm, example_inputs):
        return gm


@wrong("counted whenever a graph runs", "wrong-graphs", clause="when-compiled")
class OnRun(Base):
    def __call__(self, gm, example_inputs):
        def run(*args):
            Base.__call__(self, gm, example_inputs)
            return gm(*args)

        return run


@wrong("one counter for all backends", "leaks-state", clause="own")
class Shared(Base):
    counter = Counter()

    def __init__(self):
        self.graphs, self.ops = 0, self.counter


@wrong("the last graph only", "wrong-count", clause="all-graphs")
class LastOnly(Base):
    def __call__(self, gm, example_inputs):
        self.ops = Counter()
        return super().__call__(gm, example_inputs)


@wrong("a graph with the same code counts once", "wrong-graphs", clause="recompiled")
class SameCode(Base):
    def __init__(self):
        super().__init__()
        self.seen = set()

    def __call__(self, gm, example_inputs):
        text = str(gm.graph)
        if text in self.seen:
            return gm
        self.seen.add(text)
        return super().__call__(gm, example_inputs)


@wrong("the first graph only", "wrong-graphs", clause="graph-break")
class FirstOnly(Base):
    def __call__(self, gm, example_inputs):
        return gm if self.graphs else super().__call__(gm, example_inputs)


@wrong("counts the operations as graphs", "wrong-graphs", clause="graphs")
class OpsAsGraphs(Base):
    def __call__(self, gm, example_inputs):
        self.graphs += len(self.names(gm)) - 1
        return super().__call__(gm, example_inputs)


@wrong("a list of graphs", "wrong-kind", clause="int")
class ListOfGraphs(Base):
    def __init__(self):
        self.graphs, self.ops = [], Counter()

    def __call__(self, gm, example_inputs):
        self.graphs.append(gm)
        self.ops.update(self.names(gm))
        return gm


@wrong("modules left out", "wrong-count", clause="modules")
class NoModules(Base):
    def names(self, gm):
        return [name_of(gm, node) for node in calls_in(gm) if node.op != "call_module"]


@wrong("targets as text", "extra-name", clause="functions")
class TargetText(Base):
    def names(self, gm):
        return [str(node.target) for node in calls_in(gm)]


@wrong("what nobody reads is left out", "wrong-count", clause="dead")
class ReadOnly(Base):
    def names(self, gm):
        return [name_of(gm, node) for node in calls_in(gm) if node.users]


@wrong("each name once in a graph", "wrong-count", clause="how-often")
class OnceEach(Base):
    def names(self, gm):
        return set(super().names(gm))


@wrong("placeholders and outputs count", "extra-name", clause="calls-only")
class EveryNode(Base):
    def names(self, gm):
        others = [n.op for n in gm.graph.nodes if not n.op.startswith("call_")]
        return super().names(gm) + others


@wrong("a graph without calls does not count", "wrong-graphs", clause="graphs")
class EmptyUncounted(Base):
    def __call__(self, gm, example_inputs):
        return super().__call__(gm, example_inputs) if calls_in(gm) else gm


@wrong("dead code is removed", "graph-changed", clause="graph-unchanged")
class Sweeps(Base):
    def compiled(self, gm, example_inputs):
        gm.graph.eliminate_dead_code()
        gm.recompile()
        return gm


@wrong("the graph is run to see whether it works", "runs-the-graph", clause="runs-nothing")
class TriesIt(Base):
    def compiled(self, gm, example_inputs):
        gm(*copy.deepcopy(example_inputs))
        return gm


@wrong("example inputs are zeroed", "inputs-changed", clause="inputs-unchanged")
class Zeroes(Base):
    def compiled(self, gm, example_inputs):
        for value in example_inputs:
            if isinstance(value, torch.Tensor):
                value.data.zero_()
        return gm


@wrong("returns a result", "result-raises", clause="callable")
class ReturnsResult(Base):
    def compiled(self, gm, example_inputs):
        return gm(*example_inputs)


@wrong("always the first result", "wrong-shape", clause="as-it-is")
class Tuple(Base):
    def compiled(self, gm, example_inputs):
        return lambda *args: gm(*args)[0]


@wrong("without gradients", "result-raises", clause="gradients")
class NoGradients(Base):
    def compiled(self, gm, example_inputs):
        return torch.no_grad()(gm.forward)
