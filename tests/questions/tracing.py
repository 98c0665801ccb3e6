"""Questions about what can be traced, and what a trace leaves out."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import fx, nn

from tests.questions import question


@question(1, "pytorch#54602", "01_tracing: The loud cases: tracing raises")
def branch_on_an_input() -> None:
    """Why can an `if` on an input not be traced?"""

    class Branch(nn.Module):
        def forward(self, x):
            if x.sum() > 0:
                return x
            return -x

    with pytest.raises(fx.proxy.TraceError, match="control flow"):
        fx.symbolic_trace(Branch())

    class Where(nn.Module):
        def forward(self, x):
            return torch.where(x.sum() > 0, x, -x)

    gm = fx.symbolic_trace(Where())
    for x in (torch.ones(2), -torch.ones(2)):
        assert torch.equal(gm(x), Branch()(x))


@question(2, "pytorch#92313", "11_pytorch2: Change what was captured")
def control_flow_operators() -> None:
    """Are there control flow operators that keep both branches?"""

    class Both(nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))

    program = torch.export.export(Both(), (torch.ones(2),))
    (call,) = (n for n in program.graph.nodes if n.target is torch.ops.higher_order.cond)
    then, otherwise = (program.graph_module.get_submodule(n.target) for n in call.args[1:3])
    assert isinstance(then, fx.GraphModule) and isinstance(otherwise, fx.GraphModule)
    for x in (torch.ones(2), -torch.ones(2)):
        assert torch.equal(program.module()(x), Both()(x))


@question(3, "pytorch#46210", "08b_shapes: Shapes without data")
def length_of_a_proxy() -> None:
    """Why does `len(x)` raise while I trace?"""

    class Mean(nn.Module):
        def forward(self, x):
            return x.sum(0) / len(x)

    with pytest.raises(RuntimeError, match="'len' is not supported"):
        fx.symbolic_trace(Mean())

    class Size(nn.Module):
        def forward(self, x):
            return x.sum(0) / x.size(0)

    x = torch.rand(4, 3)
    assert torch.equal(fx.symbolic_trace(Size())(x), Mean()(x))


@question(4, "pytorch#44851", "08b_shapes: Who asks?")
def range_of_a_size() -> None:
    """Why does `range(x.shape[0])` raise while I trace?"""

    class Rows(nn.Module):
        def forward(self, x):
            total = x[0] * 0
            for i in range(x.shape[0]):
                total = total + x[i]
            return total

    with pytest.raises(TypeError, match="Proxy"):
        fx.symbolic_trace(Rows())

    class Known(fx.Proxy):
        """A value whose size is known while tracing."""

        shape = (3, 2)

    class Sized(fx.Tracer):
        def proxy(self, node):
            return Known(node, self) if node.op == "placeholder" else super().proxy(node)

    x = torch.rand(3, 2)
    gm = fx.GraphModule(nn.Module(), Sized().trace(Rows()))
    torch.testing.assert_close(gm(x), Rows()(x))


@question(5, "TensorRT#1871", "08b_shapes: Who asks?")
def iterating_over_a_proxy() -> None:
    """What does "Proxy object cannot be iterated" want?"""

    class Halves(nn.Module):
        def forward(self, x):
            return torch.stack([part * 2 for part in x.chunk(2)])

    with pytest.raises(fx.proxy.TraceError, match="cannot be iterated"):
        fx.symbolic_trace(Halves())

    class Indexed(nn.Module):
        def forward(self, x):
            parts = x.chunk(2)
            return torch.stack([parts[0] * 2, parts[1] * 2])

    x = torch.rand(4)
    assert torch.equal(fx.symbolic_trace(Indexed())(x), Halves()(x))


@question(12, "transformers#31958", "01_tracing: Fix a parameter: `concrete_args`")
def another_value_of_a_flag() -> None:
    """How is a model traced with another value than the default of a flag?"""

    class Flagged(nn.Module):
        def forward(self, x, negate=False):
            return -x if negate else x

    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(Flagged())
    x = torch.rand(2)
    gm = fx.symbolic_trace(Flagged(), concrete_args={"negate": True})
    assert torch.equal(gm(x, True), -x)


@question(15, "pytorch#83851", "08_limits: Spellings that a Proxy cannot follow")
def assertions_about_shapes() -> None:
    """How do I trace `assert x.shape[0] == 3`?"""

    class Checked(nn.Module):
        def forward(self, x):
            assert x.shape[0] == 3
            return x + 1

    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(Checked())

    class AsACall(nn.Module):
        def forward(self, x):
            torch._assert(x.shape[0] == 3, "three rows, please")
            return x + 1

    gm = fx.symbolic_trace(AsACall())
    assert torch.equal(gm(torch.zeros(3)), torch.ones(3))
    with pytest.raises(AssertionError, match="three rows"):
        gm(torch.zeros(4))


@question(16, "pytorch#44802", "01_tracing: Which modules are entered")
def a_subclass_of_a_layer() -> None:
    """Why is my subclass of BatchNorm2d traced into?"""

    class Mine(nn.BatchNorm2d):
        pass

    model = nn.Sequential(Mine(2).eval())
    default = fx.Tracer().trace(nn.Sequential(nn.BatchNorm2d(2).eval()))
    assert "call_module" in {node.op for node in default.nodes}

    class Leaves(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return isinstance(m, Mine) or super().is_leaf_module(m, module_qualified_name)

    assert not fx.Tracer().is_leaf_module(model[0], "0")
    assert [n.op for n in Leaves().trace(model).nodes] == ["placeholder", "call_module", "output"]


@question(17, "pytorch#63076", "01_tracing: Another tracer, another rule")
def down_to_functions() -> None:
    """How do I trace down to functions, without modules?"""
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    assert "call_module" in {node.op for node in fx.symbolic_trace(model).graph.nodes}

    class NoLeaves(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return False

    graph = NoLeaves().trace(model)
    assert [n.target for n in graph.nodes if n.op == "call_function"] == [F.linear, F.relu]


@question(18, "forum: prevent fx to trace into my module", "01_tracing: Which modules are entered")
def a_module_kept_whole() -> None:
    """How do I keep FX out of a module of mine?"""

    class Own(nn.Module):
        def forward(self, x):
            return torch.relu(x) + 1

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.own = Own()

        def forward(self, x):
            return self.own(x) * 2

    assert "call_module" not in {n.op for n in fx.symbolic_trace(Model()).graph.nodes}

    class KeepOwn(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return isinstance(m, Own) or super().is_leaf_module(m, module_qualified_name)

    graph = KeepOwn().trace(Model())
    assert [n.target for n in graph.nodes if n.op == "call_module"] == ["own"]


@question(19, "forum 153430", '00_start: "`symbolic_trace` is the same as `Tracer().trace`"')
def two_ways_to_trace() -> None:
    """Is `symbolic_trace` the same as `Tracer().trace`?"""
    model = nn.Sequential(nn.ReLU())
    assert isinstance(fx.Tracer().trace(model), fx.Graph)
    assert isinstance(fx.symbolic_trace(model), fx.GraphModule)
    x = torch.randn(3)
    gm = fx.GraphModule(model, fx.Tracer().trace(model))
    assert torch.equal(gm(x), fx.symbolic_trace(model)(x))


@question(20, "pytorch#98422", "08_limits: Spellings that a Proxy cannot follow")
def methods_called_by_their_class() -> None:
    """Why does `torch.Tensor.flatten(x)` raise while I trace?"""

    class ByClass(nn.Module):
        def forward(self, x):
            return torch.Tensor.flatten(x)

    with pytest.raises(TypeError):
        fx.symbolic_trace(ByClass())

    class ByMethod(nn.Module):
        def forward(self, x):
            return x.flatten()

    x = torch.rand(2, 2)
    assert torch.equal(fx.symbolic_trace(ByMethod())(x), ByClass()(x))


@question(21, "forum 129212, pytorch#68190", "08_limits: Flags")
def a_frozen_training_flag() -> None:
    """Why does `eval()` not change my functional dropout after tracing?"""

    class Drops(nn.Module):
        def forward(self, x):
            return F.dropout(x, 0.5, training=self.training)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(x)

    x = torch.ones(1000)
    frozen = fx.symbolic_trace(Drops().train()).eval()
    assert not torch.equal(frozen(x), x)
    assert torch.equal(fx.symbolic_trace(Layer().train()).eval()(x), x)


@question(22, "pytorch#50178", "01_tracing: The silent cases: the graph is not your model")
def an_optional_argument() -> None:
    """Why does the traced model not see that an argument is None?"""

    class Optional(nn.Module):
        def forward(self, x, mask=None):
            return x if mask is None else x * mask

    x = torch.ones(2)
    with pytest.raises(TypeError):
        fx.symbolic_trace(Optional())(x)  # a Proxy is never None
    gm = fx.symbolic_trace(Optional(), concrete_args={"mask": None})
    assert torch.equal(gm(x), x)


@question(23, "forum: reproducibility, randomness", "08_limits: What freezes")
def frozen_noise() -> None:
    """Why does the traced model draw the same noise each time?"""

    class Noisy(nn.Module):
        def forward(self, x):
            return x + torch.randn(3)

    class Fresh(nn.Module):
        def forward(self, x):
            return x + torch.randn_like(x)

    x = torch.zeros(3)
    frozen, fresh = fx.symbolic_trace(Noisy()), fx.symbolic_trace(Fresh())
    assert torch.equal(frozen(x), frozen(x))
    assert not torch.equal(fresh(x), fresh(x))


@question(
    27, "vision#5193, pytorch#105445", "01_tracing: The silent cases: the graph is not your model"
)
def hooks_after_tracing() -> None:
    """Why are the hooks of my blocks not called any more?"""

    class Block(nn.Module):
        def forward(self, x):
            return torch.relu(x)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.layer = nn.ReLU()

        def forward(self, x):
            return self.layer(self.block(x))

    seen: list[str] = []
    model = Model()
    model.block.register_forward_hook(lambda *_: seen.append("block"))
    model.layer.register_forward_hook(lambda *_: seen.append("layer"))
    gm = fx.symbolic_trace(model)
    seen.clear()
    gm(torch.zeros(2))
    assert seen == ["layer"]  # the block was traced into, the layer is called as a module

    class KeepBlock(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return isinstance(m, Block) or super().is_leaf_module(m, module_qualified_name)

    whole = fx.GraphModule(model, KeepBlock().trace(model))
    seen.clear()
    whole(torch.zeros(2))
    assert seen == ["block", "layer"]


@question(28, "vision#5508", "01_tracing: What comes back: the `GraphModule`")
def class_and_methods_vanish() -> None:
    """Where are my model's class and methods after tracing?"""

    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            return self.layer(x)

        def describe(self):
            return "a gate"

    model = Gate()
    gm = fx.symbolic_trace(model)
    assert not isinstance(gm, Gate) and not hasattr(gm, "describe")
    assert gm.layer is model.layer and model.describe() == "a gate"


@question(30, "pytorch#74058", "01_tracing: How a trace is made")
def the_same_trace_twice() -> None:
    """Does tracing twice give the same graph?"""
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    first, second = fx.symbolic_trace(model), fx.symbolic_trace(model)
    assert first.code == second.code
    assert [n.name for n in first.graph.nodes] == [n.name for n in second.graph.nodes]
    assert not set(first.graph.nodes) & set(second.graph.nodes)  # but different objects
