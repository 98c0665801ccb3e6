"""Answers to `export_ops`."""

from __future__ import annotations

import copy
import inspect
import re
from collections import Counter

import torch
from torch import fx
from torch._ops import OpOverload

from tests.exercises import right, wrong


def is_aten(node):
    return isinstance(node.target, OpOverload) and node.target.namespace == "aten"


def graphs_in(module):
    return [part.graph for part in module.modules() if isinstance(part, fx.GraphModule)]


def count(program, *, wanted=is_aten, key=lambda n: str(n.target), graphs=graphs_in):
    module = program.graph_module
    return Counter(key(n) for graph in graphs(module) for n in graph.nodes if wanted(n))


@right("modules() of the program's module")
def all_modules(model, args):
    return count(torch.export.export(model, args))


@right("from branch to branch, a dictionary", debrief=True)
def recursive(model, args):
    counts = Counter()

    def visit(module):
        for node in module.graph.nodes:
            if node.op == "get_attr" and hasattr(module, node.target):
                part = getattr(module, node.target)
                if isinstance(part, torch.nn.Module):
                    visit(part)
            elif str(node.target).startswith("aten."):
                counts[str(node.target)] += 1

    visit(torch.export.export(model, args).graph_module)
    return counts


@right("the generated code read as text")
def from_code(model, args):
    counts = Counter()
    for _, part in torch.export.export(model, args).graph_module.named_modules():
        if hasattr(part, "code"):
            counts.update(re.findall(r"torch\.ops\.(aten\.\w+\.\w+)\(", part.code))
    return counts


@right("a list of graphs that grows, schemas' names")
def by_schema(model, args):
    waiting = [torch.export.export(model, args).graph_module]
    found = []
    while waiting:
        module = waiting.pop()
        waiting += [m for m in module.children() if hasattr(m, "graph")]
        calls = [n.target for n in module.graph.nodes if n.op == "call_function"]
        found += [t for t in calls if hasattr(t, "_schema") and t._schema.name[:6] == "aten::"]
    return Counter(map(str, found))


@right("a plain dictionary, and a copy is exported")
def plain(model, args):
    module = torch.export.export(copy.deepcopy(model), copy.deepcopy(args)).graph_module
    result = {}
    for graph in graphs_in(module):
        for node in filter(is_aten, graph.nodes):
            result[str(node.target)] = result.get(str(node.target), 0) + 1
    return result


@right("without gradients")
def without_gradients(model, args):
    counts = Counter()
    with torch.no_grad():
        program = torch.export.export(model, args)
    for graph in graphs_in(program.graph_module):
        for node in graph.nodes:
            counts[str(node.target)] += is_aten(node)
    return +counts


# ------------------------------------------------------------------ wrong


@wrong("exported with strict=True", "crashed", clause="defaults")
def strict(model, args):
    return count(torch.export.export(model, args, strict=True))


@wrong("exported with dynamic shapes", "extra-key", clause="defaults")
def dynamic(model, args):
    auto = torch.export.Dim.AUTO
    names = inspect.signature(model.forward).parameters
    shapes = {
        name: dict.fromkeys(range(arg.dim()), auto) for name, arg in zip(names, args, strict=True)
    }
    return count(torch.export.export(model, args, dynamic_shapes=shapes))


@wrong("branches forgotten", "missing-operator", clause="branches")
def no_branches(model, args):
    return count(torch.export.export(model, args), graphs=lambda module: [module.graph])


@wrong("branches of branches forgotten", "missing-operator", clause="nested")
def one_level(model, args):
    def graphs(module):
        return [module.graph, *(m.graph for m in module.children() if hasattr(m, "graph"))]

    return count(torch.export.export(model, args), graphs=graphs)


@wrong("only graphs called true_ and false_", "missing-operator", clause="other-graphs")
def by_name(model, args):
    def graphs(module):
        parts = [m for name, m in module.named_modules() if "true" in name or "false" in name]
        return [module.graph, *(m.graph for m in parts)]

    return count(torch.export.export(model, args), graphs=graphs)


@wrong("a branch of a branch is counted twice", "wrong-count", clause="once")
def twice(model, args):
    def graphs(module):
        found = [module.graph]
        for part in [m for m in module.modules() if m is not module]:
            found += graphs_in(part)
        return found

    return count(torch.export.export(model, args), graphs=graphs)


@wrong("getitem is counted", "extra-key", clause="getitem")
def with_getitem(model, args):
    return count(
        torch.export.export(model, args),
        wanted=lambda n: is_aten(n) or "getitem" in str(n.target),
        key=lambda n: str(n.target) if is_aten(n) else "getitem",
    )


@wrong("torch.cond is counted", "extra-key", clause="cond")
def with_cond(model, args):
    return count(
        torch.export.export(model, args), wanted=lambda n: is_aten(n) or str(n.target) == "cond"
    )


@wrong("every operator overload", "extra-key", clause="libraries")
def every_library(model, args):
    return count(
        torch.export.export(model, args), wanted=lambda n: isinstance(n.target, OpOverload)
    )


@wrong("values that nobody reads are left out", "missing-operator", clause="dead")
def read_only(model, args):
    return count(torch.export.export(model, args), wanted=lambda n: is_aten(n) and n.users)


@wrong("after run_decompositions", "extra-key", clause="no-decomposition")
def decomposed(model, args):
    return count(torch.export.export(model, args).run_decompositions())


@wrong("exported in eval mode, a copy", "extra-key", clause="mode")
def in_eval_mode(model, args):
    return count(torch.export.export(copy.deepcopy(model).eval(), args))


@wrong("run once before", "caller-changed", clause="model")
def runs_first(model, args):
    model(*args)
    return count(torch.export.export(model, args))


@wrong("arguments are zeroed", "caller-changed", clause="args")
def zeroes(model, args):
    counts = count(torch.export.export(model, args))
    for value in args:
        value.zero_()
    return counts


@wrong("overloads as keys", "extra-key", clause="keys")
def overloads(model, args):
    return count(torch.export.export(model, args), key=lambda n: n.target)


@wrong("how many different operators", "wrong-count", clause="how-often")
def different(model, args):
    return Counter(set(count(torch.export.export(model, args))))
