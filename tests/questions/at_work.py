"""Questions about exported programs, backends and other parts of PyTorch 2."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

import pytest
import torch
from torch import fx, nn
from torch.fx import traceback

from tests.questions import question


@question(67, "fms-model-optimizer#73", "11_pytorch2: A pass looks for `call_module`")
def no_call_module_in_a_backend() -> None:
    """Why does my backend see no `call_module` nodes, but many placeholders?"""
    seen: list[fx.GraphModule] = []

    def backend(gm, example_inputs):
        seen.append(gm)
        return gm.forward

    torch._dynamo.reset()
    layer = nn.Linear(2, 2)
    x = torch.rand(1, 2)
    assert torch.equal(torch.compile(layer, backend=backend)(x), layer(x))
    (gm,) = seen
    assert "call_module" not in {node.op for node in gm.graph.nodes}
    inputs = gm.graph.find_nodes(op="placeholder")
    assert len(inputs) == 3  # weight, bias and the input
    values = [node.meta["example_value"] for node in inputs]
    assert sum(isinstance(value, nn.Parameter) for value in values) == 2


@question(69, "pytorch#114189", "11b_aten: The backward is a graph")
def a_backend_for_the_backward() -> None:
    """Why is my backend not called for the backward?"""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    calls: list[str] = []

    def plain(gm, example_inputs):
        calls.append("whole")
        return gm.forward

    def note(name):
        def compiler(gm, example_inputs):
            calls.append(name)
            return make_boxed_func(gm.forward)

        return compiler

    def square(x):
        return (x * x).sum()

    torch._dynamo.reset()
    torch.compile(square, backend=plain)(torch.ones(2, requires_grad=True)).backward()
    assert calls == ["whole"]

    torch._dynamo.reset()
    calls.clear()
    both = aot_autograd(fw_compiler=note("forward"), bw_compiler=note("backward"))
    torch.compile(square, backend=both)(torch.ones(2, requires_grad=True)).backward()
    assert calls == ["forward", "backward"]


@question(41, "pytorch#108163", "04_replace_pattern: Rule 3: spelling counts")
def a_pattern_on_an_exported_graph() -> None:
    """Why does my pattern not match in an exported graph?"""
    from torch.fx.subgraph_rewriter import replace_pattern

    class Model(nn.Module):
        def forward(self, x):
            return torch.relu(x) + 1

    aten = torch.ops.aten
    gm = torch.export.export(Model(), (torch.rand(2),)).module()
    assert replace_pattern(gm, lambda x: torch.relu(x), lambda x: torch.tanh(x)) == []
    found = replace_pattern(gm, lambda x: aten.relu.default(x), lambda x: aten.tanh.default(x))
    assert len(found) == 1
    x = torch.rand(2)
    assert torch.equal(gm(x), torch.tanh(x) + 1)


@question(76, "forum: dispatch to ATen and control flow", "11_pytorch2: Four producers, one IR")
def aten_without_control_flow() -> None:
    """Which tool gives me ATen calls, and what becomes of an `if`?"""
    from torch.fx.experimental.proxy_tensor import make_fx

    def branches(x):
        return x.sin() if x.sum() > 0 else x.cos()

    with pytest.raises(RuntimeError, match="control flow"):
        make_fx(branches)(torch.ones(2))
    gm = make_fx(torch.sin)(torch.ones(2))
    assert torch.ops.aten.sin.default in {node.target for node in gm.graph.nodes}

    class Both(nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))

    program = torch.export.export(Both(), (torch.ones(2),))
    for x in (torch.ones(2), -torch.ones(2)):
        assert torch.equal(program.module()(x), branches(x))


@question(50, "forum: make_fx and vjp", "11b_aten: The backward is a graph")
def the_backward_as_a_graph() -> None:
    """How do I get a graph of the backward?"""
    from torch.fx.experimental.proxy_tensor import make_fx

    def gradient(x):
        return torch.func.grad(lambda y: (y * y * y).sum())(x)

    gm = make_fx(gradient)(torch.ones(2))
    x = torch.rand(2)
    torch.testing.assert_close(gm(x), 3 * x * x)
    assert all(node.op != "call_module" for node in gm.graph.nodes)


@question(26, "pytorch#89206", "11b_aten: Sizes that are symbols")
def a_reshape_with_a_traced_size() -> None:
    """Why is the size of my example in the graph?"""

    class Flat(nn.Module):
        def forward(self, x):
            return x.reshape(x.shape[0] * 2, -1)

    x = torch.rand(3, 4)
    fixed = torch.export.export(Flat(), (x,))
    assert any(6 in node.args[1] for node in fixed.graph.nodes if len(node.args) > 1)
    free = torch.export.export(Flat(), (x,), dynamic_shapes=({0: torch.export.Dim("rows")},))
    assert free.module()(torch.rand(5, 4)).shape == (10, 2)


@question(73, "executorch#4013", "11c_programs: Four places that describe outputs")
def the_signature_after_a_pass() -> None:
    """What must I update when a pass replaces a node that is an output?"""

    class Model(nn.Module):
        def forward(self, x):
            return torch.relu(x)

    def replaced(hook: bool) -> tuple[str, str]:
        program = torch.export.export(Model(), (torch.rand(2),))
        gm, signature = program.graph_module, program.graph_signature
        (relu,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
        with gm.graph.inserting_after(relu):
            new = gm.graph.call_function(torch.ops.aten.tanh.default, relu.args)
        if hook:
            with gm._set_replace_hook(signature.get_replace_hook()):
                relu.replace_all_uses_with(new)
        else:
            relu.replace_all_uses_with(new)
        gm.graph.erase_node(relu)
        return new.name, signature.user_outputs[0]

    new, named = replaced(hook=False)
    assert named == "relu" != new
    new, named = replaced(hook=True)
    assert named == new


@question(24, "forum: autograd.Function", "08_limits: Spellings that a Proxy cannot follow")
def an_autograd_function() -> None:
    """How does FX work with `autograd.Function`?"""

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 100  # obviously not the real gradient

    class Leaf(nn.Module):
        def forward(self, x):
            return Twice.apply(x)

    x = torch.ones(1, requires_grad=True)
    fx.symbolic_trace(Leaf())(x).backward()
    assert x.grad == 2  # only the `forward` was recorded; the rule for gradients is lost

    class KeepLeaf(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return isinstance(m, Leaf)

    model = nn.Sequential(Leaf())
    gm = fx.GraphModule(model, KeepLeaf().trace(model))
    y = torch.ones(1, requires_grad=True)
    gm(y).backward()
    assert y.grad == 100


@question(68, "pytorch#149062", "11_pytorch2: Which producer for which job")
def leaf_modules_for_compile() -> None:
    """Is there an `is_leaf_module` for `torch.compile`?"""
    graphs: list[fx.Graph] = []

    def backend(gm, example_inputs):
        graphs.append(gm.graph)
        return gm.forward

    class Inner(nn.Module):
        def forward(self, x):
            return torch.sin(x)

    class Model(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x) + 1

    torch._dynamo.reset()
    x = torch.rand(2)
    torch.compile(Model(Inner()), backend=backend)(x)
    assert any(node.target is torch.sin for node in graphs[0].nodes)

    torch._dynamo.reset()
    graphs.clear()
    inner = Inner()
    inner.forward = torch._dynamo.disable(inner.forward)
    assert torch.equal(torch.compile(Model(inner), backend=backend)(x), torch.sin(x) + 1)
    assert not any(node.target is torch.sin for graph in graphs for node in graph.nodes)


@question(56, "pytorch#107599", "11_pytorch2: Metadata, and what is below")
def source_lines_in_aten_graphs() -> None:
    """Which line of my model made this ATen node?"""

    class Model(nn.Module):
        def forward(self, x):
            return torch.sin(x) + 1

    program = torch.export.export(Model(), (torch.rand(2),))
    (sin,) = program.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default)
    assert "torch.sin(x) + 1" in sin.meta["stack_trace"]
    with pytest.raises(KeyError):
        next(iter(fx.symbolic_trace(Model()).graph.nodes)).meta["stack_trace"]


@question(29, "pytorch#139876", "12b_metadata: Marks of your own")
def a_context_manager_in_a_model() -> None:
    """Why is my context manager (the profiler, a lock) not in the graph?"""
    entered = []

    @contextmanager
    def region(name):
        entered.append(name)
        yield

    class Model(nn.Module):
        def forward(self, x):
            with region("head"), traceback.annotate({"part": "head"}):
                y = torch.sin(x)
            return torch.cos(y)

    gm = fx.symbolic_trace(Model())
    assert entered == ["head"]  # during the trace
    gm(torch.ones(2))
    assert entered == ["head"]
    assert not any(node.meta.get("custom") for node in gm.graph.nodes)

    with traceback.preserve_node_meta():
        gm = fx.symbolic_trace(Model())
    entered.clear()

    class Entering(fx.Interpreter):
        def run_node(self, n):
            part = n.meta.get("custom", {}).get("part")
            with region(part) if part else nullcontext():
                return super().run_node(n)

    Entering(gm).run(torch.ones(2))
    assert entered == ["head"]


@question(33, "forum: arguments of F.* methods", "12c_normalize: What was this call given?")
def arguments_by_name() -> None:
    """How do I get the arguments of a call by name, with their defaults?"""
    import inspect

    import torch.nn.functional as F

    gm = fx.symbolic_trace(lambda x: (F.dropout(x, 0.1), x.softmax(dim=-1)))
    dropout, softmax = (node for node in gm.graph.nodes if node.op.startswith("call_"))
    with pytest.raises(IndexError):
        _ = softmax.args[1]  # it is a keyword
    assert softmax.normalized_arguments(gm) is None  # a method

    bound = inspect.signature(F.dropout).bind(*dropout.args, **dropout.kwargs)
    bound.apply_defaults()
    assert bound.arguments["p"] == 0.1 and bound.arguments["inplace"] is False
    schema = torch.ops.aten.softmax.int._schema
    names = [argument.name for argument in schema.arguments]
    given = dict(zip(names, softmax.args, strict=False)) | softmax.kwargs
    assert given == {"self": softmax.args[0], "dim": -1}
    assert schema.arguments[2].name == "dtype" and schema.arguments[2].default_value is None


@question(71, "pytorch#137229, #132867", "12c_normalize: What PyTorch's matchers see")
def a_custom_operator_that_writes() -> None:
    """Why does no pattern match my custom operator that writes into its argument?"""

    @torch.library.custom_op("fxquestions::scale_", mutates_args=("x",))
    def scale_(x: torch.Tensor, by: float) -> None:
        x.mul_(by)

    class Model(nn.Module):
        def forward(self, x):
            y = x.clone()
            scale_(y, 2.0)
            return y + 1

    op = torch.ops.fxquestions.scale_.default
    program = torch.export.export(Model(), (torch.ones(2),)).run_decompositions({})
    assert not program.graph.find_nodes(op="call_function", target=op)
    calls = [node for node in program.graph.nodes if op in node.args]
    assert [node.target.__name__ for node in calls] == ["auto_functionalized_v2"]

    @torch.library.custom_op("fxquestions::scaled", mutates_args=())
    def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
        return x * by

    scaled.register_fake(lambda x, by: torch.empty_like(x))

    class Pure(nn.Module):
        def forward(self, x):
            return scaled(x, 2.0) + 1

    program = torch.export.export(Pure(), (torch.ones(2),)).run_decompositions({})
    target = torch.ops.fxquestions.scaled.default
    assert len(program.graph.find_nodes(op="call_function", target=target)) == 1


@question(72, "pytorch#148751, #162019", "12c_normalize: Where the new node goes")
def a_replacement_in_the_wrong_place() -> None:
    """Why does my graph read a value before it is computed, after a replacement?"""

    def model(x, y):
        a = torch.sin(x)
        return a * torch.exp(y)

    def replaced(first: bool) -> fx.GraphModule:
        gm = fx.symbolic_trace(model)
        _, _, sin, exp, mul, _ = gm.graph.nodes
        with gm.graph.inserting_before(sin if first else mul):
            new = gm.graph.call_function(torch.addcmul, (exp, sin.args[0], exp))
        mul.replace_all_uses_with(new)
        return gm

    with pytest.raises(RuntimeError, match="used before it has been defined"):
        replaced(first=True).graph.lint()
    replaced(first=False).graph.lint()
