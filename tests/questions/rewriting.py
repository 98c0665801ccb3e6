"""Questions about nodes, edits and patterns."""

from __future__ import annotations

import copy
import operator

import pytest
import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.subgraph_rewriter import replace_pattern, replace_pattern_with_filters

from tests.questions import question


class Sum(nn.Module):
    """One addition."""

    def forward(self, x, y):
        """Add."""
        return x + y


def find(gm: fx.GraphModule, name: str) -> fx.Node:
    """The node of that name."""
    return next(node for node in gm.graph.nodes if node.name == name)


@question(32, "forum: built-in target for a new node", "02_nodes: Building a graph by hand")
def target_of_a_new_node() -> None:
    """What is the target of a node for `x + y`?"""
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    with pytest.raises(ValueError):
        graph.call_function("add", (x, y))  # type: ignore[arg-type]
    graph.output(graph.call_function(operator.add, (x, y)))
    assert fx.GraphModule(nn.Module(), graph)(1, 2) == 3


@question(34, "pytorch#118626", "03_manipulation: Insert a node")
def the_new_node_reads_itself() -> None:
    """Why does my new node read itself after `replace_all_uses_with`?"""
    gm = fx.symbolic_trace(Sum())
    add = find(gm, "add")
    with gm.graph.inserting_after(add):
        relu = gm.graph.call_function(torch.relu, (add,))
    add.replace_all_uses_with(relu)
    assert relu.args == (relu,)

    relu.args = (add,)  # or keep it out: delete_user_cb=lambda user: user is not relu
    gm.recompile()
    assert torch.equal(gm(-torch.ones(1), torch.zeros(1)), torch.zeros(1))


@question(35, "pytorch#68301, timm#800", "03b_effects: Dead code and side effects")
def dead_code_that_writes() -> None:
    """Why does dead code elimination delete my `mul_`?"""

    class Writes(nn.Module):
        def forward(self, x):
            y = x + 0
            y.mul_(2)
            return y

    gm = fx.symbolic_trace(Writes())
    x = torch.ones(2)
    assert torch.equal(gm(x), 2 * x)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    assert torch.equal(gm(x), x)

    kept = fx.symbolic_trace(Writes())
    kept.graph.eliminate_dead_code(
        is_impure_node=lambda n: n.is_impure() or str(n.target).endswith("_")
    )
    kept.recompile()
    assert torch.equal(kept(x), 2 * x)


@question(36, "pytorch#99256", "02_nodes: The output node holds one value")
def several_results() -> None:
    """How does a graph return several values?"""
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output((x, graph.call_function(torch.neg, (x,))))
    gm = fx.GraphModule(nn.Module(), graph)
    (output,) = graph.find_nodes(op="output")
    assert len(output.args) == 1 and len(output.args[0]) == 2
    assert gm(torch.ones(())) == (1, -1)


@question(37, "pytorch#73992", "02_nodes: A tensor among the arguments")
def a_tensor_as_an_argument() -> None:
    """Can a tensor be an argument of a node?"""
    gm = fx.symbolic_trace(Sum())
    add = find(gm, "add")
    add.args = (add.args[0], torch.ones(2))
    gm.recompile()
    with pytest.raises(Exception):  # noqa: B017  (NameError or SyntaxError: the code has its repr)
        gm(torch.ones(2), torch.ones(2))

    gm.register_buffer("one", torch.ones(2))
    with gm.graph.inserting_before(add):
        one = gm.graph.get_attr("one")
    add.args = (add.args[0], one)
    gm.recompile()
    assert torch.equal(gm(torch.ones(2), torch.zeros(2)), 2 * torch.ones(2))


@question(40, "pytorch#139163", "04_replace_pattern: Modules: names instead of types")
def layers_in_a_pattern() -> None:
    """Why does a pattern with `nn.ReLU` match no layer of my model?"""
    pattern = nn.Sequential(nn.ReLU())

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()

        def forward(self, x):
            return self.act(x)

    gm = fx.symbolic_trace(Model())
    assert replace_pattern(gm, pattern, lambda x: torch.tanh(x)) == []
    for node in gm.graph.nodes:
        if node.op == "call_module" and type(gm.get_submodule(node.target)) is nn.ReLU:
            with gm.graph.inserting_after(node):
                node.replace_all_uses_with(gm.graph.call_function(torch.tanh, node.args))
            gm.graph.erase_node(node)
    gm.recompile()
    x = torch.randn(3)
    assert torch.equal(gm(x), torch.tanh(x))


@question(
    42,
    "pytorch#100419",
    "04_replace_pattern: Rule 5: a number matches only the same number of the same type",
)
def any_number_in_a_pattern() -> None:
    """How does a pattern match any number?"""

    class Scales(nn.Module):
        def forward(self, x):
            return torch.relu(x * 2) + torch.relu(x * 3)

    def pattern(x):
        return torch.relu(x * 2)

    one = replace_pattern(fx.symbolic_trace(Scales()), pattern, lambda x: torch.tanh(x))
    assert len(one) == 1
    many = replace_pattern_with_filters(
        fx.symbolic_trace(Scales()), pattern, lambda x: torch.tanh(x), [], ignore_literals=True
    )
    assert len(many) == 2


@question(43, "pytorch#104775", "04_replace_pattern: Rule 7: inner values must not escape")
def matches_that_are_refused() -> None:
    """Why does my pattern not match a value that is read elsewhere?"""

    def pattern(x):
        return torch.relu(torch.neg(x))

    class Escapes(nn.Module):
        def forward(self, x):
            y = torch.neg(x)
            return torch.relu(y) + y

    class Stays(nn.Module):
        def forward(self, x):
            return torch.relu(torch.neg(x)) + x

    assert replace_pattern(fx.symbolic_trace(Escapes()), pattern, lambda x: torch.tanh(x)) == []
    assert len(replace_pattern(fx.symbolic_trace(Stays()), pattern, lambda x: torch.tanh(x))) == 1


@question(49, "pytorch#68195, #78705", "05_proxy: A tracer for each Proxy")
def a_tracer_for_each_proxy() -> None:
    """Why does my rule write into another graph?"""
    old = fx.symbolic_trace(Sum()).graph
    new = fx.Graph()
    tracer = fx.proxy.GraphAppendingTracer(new)
    copies = {n: new.node_copy(n) for n in old.nodes if n.op == "placeholder"}
    x, y = (fx.Proxy(node, tracer) for node in copies.values())
    new.output((x - y).node)
    assert fx.GraphModule(nn.Module(), new)(3, 1) == 2

    wrong = fx.Proxy(next(iter(old.nodes)), fx.proxy.GraphAppendingTracer(old))
    before = len(list(old.nodes))
    _ = wrong * 2
    assert len(list(old.nodes)) == before + 1  # the node is in the graph of its Proxy's tracer


@question(51, "forum 205319", "06_interpreter: What happens to `meta`, names and leaf modules")
def meta_after_a_transformer() -> None:
    """Why is my `meta` gone after a Transformer?"""
    gm = fx.symbolic_trace(Sum())
    find(gm, "add").meta["mark"] = 1
    new = fx.Transformer(gm).transform()
    assert "mark" not in find(new, "add").meta

    class Keeps(fx.Transformer):
        def run_node(self, n):
            result = super().run_node(n)
            if isinstance(result, fx.Proxy):
                result.node.meta.update(n.meta)
            return result

    assert find(Keeps(gm).transform(), "add").meta["mark"] == 1


@question(57, "pytorch#84193", "06b_measuring: Time")
def time_of_each_node() -> None:
    """How long does each node take?"""
    import time

    class Timer(fx.Interpreter):
        def __init__(self, gm):
            super().__init__(gm)
            self.seconds: dict[str, float] = {}

        def run_node(self, n):
            start = time.perf_counter()
            try:
                return super().run_node(n)
            finally:
                self.seconds[n.name] = time.perf_counter() - start

    timer = Timer(fx.symbolic_trace(Sum()))
    timer.run(torch.ones(2), torch.ones(2))
    assert list(timer.seconds) == ["x", "y", "add", "output"]


@question(31, "forum 189897", "06_interpreter: Shapes")
def shapes_of_each_node() -> None:
    """How do I get the shapes of each node?"""
    from torch.fx.passes.shape_prop import ShapeProp

    gm = fx.symbolic_trace(nn.Sequential(nn.Linear(4, 2), nn.ReLU()))
    assert all("tensor_meta" not in node.meta for node in gm.graph.nodes)
    ShapeProp(gm).propagate(torch.rand(3, 4))
    assert [tuple(n.meta["tensor_meta"].shape) for n in gm.graph.nodes] == [
        (3, 4),
        (3, 2),
        (3, 2),
        (3, 2),
    ]


@question(55, "pytorch#87659", "07b_cutting: What FX notes by itself")
def which_module_made_a_node() -> None:
    """Which module made this node?"""

    class Block(nn.Module):
        def forward(self, x):
            return torch.relu(x)

    gm = fx.symbolic_trace(nn.Sequential(Block(), Block()))
    stacks = [n.meta.get("nn_module_stack") for n in gm.graph.nodes if n.op == "call_function"]
    assert [list(stack)[-1] for stack in stacks] == ["0", "1"]


@question(65, "pytorch#198077", "09_debugging: Save and load")
def what_pickle_loses() -> None:
    """Why does my graph module compute something else after `pickle`?"""
    import pickle

    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(operator.iadd, (x, 1))
    graph.output(x)
    gm = fx.GraphModule(nn.Module(), graph)
    again = pickle.loads(pickle.dumps(gm))
    assert operator.add in {node.target for node in again.graph.nodes}  # it was traced again
    for written, model in ((1, gm), (0, again), (1, copy.deepcopy(gm))):
        x = torch.zeros(1)
        model(x)
        assert x == written


@question(39, "pytorch#198072", "09_debugging: Bugs that FX has today")
def a_parameter_called_nan() -> None:
    """Why is the number NaN another value when a parameter is called `nan`?"""

    def lost(x, nan):
        return torch.where(x > 0, nan, float("nan"))

    def kept(x, fill):
        return torch.where(x > 0, fill, float("nan"))

    x, fill = -torch.ones(1), torch.ones(1)
    gm = fx.symbolic_trace(lost)
    assert lost(x, fill).isnan() and fx.Interpreter(gm).run(x, fill).isnan()
    assert gm(x, fill) == 1  # in the code, `nan` is the parameter
    assert fx.symbolic_trace(kept)(x, fill).isnan()


@question(38, "pytorch#188538", "09_debugging: Bugs that FX has today")
def a_submodule_called_class() -> None:
    """Why does tracing raise a SyntaxError for a submodule called `class`?"""

    class Model(nn.Module):
        def __init__(self, name):
            super().__init__()
            self.name = name
            self.add_module(name, nn.Sequential(nn.Linear(1, 1)))

        def forward(self, x):
            return self.get_submodule(self.name)[0](x)

    with pytest.raises(SyntaxError):
        fx.symbolic_trace(Model("class"))(torch.ones(1))
    x = torch.ones(1)
    model = Model("class_")
    assert torch.equal(fx.symbolic_trace(model)(x), model(x))


@question(75, "pytorch#104593, #197539", "10_fusion: What a BatchNorm may lack")
def a_convolution_that_is_used_twice() -> None:
    """Why does Conv-BN fusion change a network whose convolution is called twice?"""
    from torch.fx.experimental.optimization import fuse

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.bn = nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)

        def forward(self, x):
            return self.bn(self.conv(x)) + self.conv(x)

    model = Shared().eval()
    with torch.no_grad():
        model.bn.running_var.fill_(4.0)
        x = torch.rand(1, 1, 2, 2)
        wrong = fuse(copy.deepcopy(model))(x)
        assert not torch.allclose(wrong, model(x))

    calls = [n for n in fx.symbolic_trace(model).graph.nodes if n.target == "conv"]
    assert len(calls) == 2  # a pass should leave a module alone if it is called more than once


@question(
    46,
    "forum: shape information during pattern rewriting",
    "04_replace_pattern: What a pattern cannot say",
)
def a_pattern_that_asks_for_shapes() -> None:
    """Can a pattern match only values of a certain shape?"""
    from torch.fx.passes.shape_prop import ShapeProp

    class Two(nn.Module):
        def forward(self, x):
            return torch.relu(x).sum() + torch.relu(x[0]).sum()

    gm = fx.symbolic_trace(Two())
    ShapeProp(gm).propagate(torch.rand(2, 3))

    def is_matrix(match, graph, pattern):
        (node,) = (n for n in match.nodes_map.values() if n.target is torch.relu)
        return len(node.meta["tensor_meta"].shape) == 2

    found = replace_pattern_with_filters(
        gm, lambda x: torch.relu(x), lambda x: torch.tanh(x), [is_matrix]
    )
    assert len(found) == 1
    assert F.relu not in {n.target for n in gm.graph.nodes}
    assert [n.target for n in gm.graph.nodes if n.target in (torch.relu, torch.tanh)] == [
        torch.tanh,
        torch.relu,
    ]
