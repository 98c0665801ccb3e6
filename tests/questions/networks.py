"""Questions about networks that raise while they are traced."""

from __future__ import annotations

import pytest
import torch
from torch import fx, nn

from tests.questions import question


class Decides(nn.Module):
    """A part that branches on its values."""

    def forward(self, x):
        """Double the input if its sum is positive."""
        return x * 2 if bool(x.sum() > 0) else x


class Around(nn.Module):
    """A network with such a part in it."""

    def __init__(self):
        super().__init__()
        self.before, self.part, self.after = nn.Linear(2, 2), Decides(), nn.Linear(2, 2)

    def forward(self, x):
        """Run all three parts."""
        return self.after(self.part(self.before(x)))


class KeepsDecides(fx.Tracer):
    """Calls the part as a module, and does not trace into it."""

    def is_leaf_module(self, m, module_qualified_name):
        """Whether the tracer keeps the module whole."""
        return isinstance(m, Decides) or super().is_leaf_module(m, module_qualified_name)


@question(6, "apex#1843", "08_limits: A Tracer of your own")
def a_list_of_chunks() -> None:
    """How do I trace YOLO's `list(x.chunk(2))`?"""

    class Chunks(nn.Module):
        def forward(self, x):
            parts = list(x.chunk(2))
            parts.append(parts[-1] * 2)
            return torch.cat(parts)

    with pytest.raises(fx.proxy.TraceError, match="cannot be iterated"):
        fx.symbolic_trace(Chunks())

    class Parts(fx.Proxy):
        """The result of `chunk`, whose number of parts is an argument of the call."""

        def __len__(self):
            return self.node.args[1]

        def __iter__(self):
            return (self[i] for i in range(len(self)))

    class Counts(fx.Tracer):
        def proxy(self, node):
            return Parts(node, self) if node.target == "chunk" else super().proxy(node)

    model, x = Chunks(), torch.rand(4)
    assert torch.equal(fx.GraphModule(model, Counts().trace(model))(x), model(x))


@question(7, "mmrazor#554", "05_proxy: A graph whose `forward` takes a dictionary")
def a_loop_over_feature_maps() -> None:
    """How do I trace a head that loops over a list of feature maps?"""

    class Head(nn.Module):
        def forward(self, maps):
            return sum(each * 2 for each in maps)

    with pytest.raises(fx.proxy.TraceError, match="cannot be iterated"):
        fx.symbolic_trace(Head())
    gm = fx.symbolic_trace(Head(), concrete_args={"maps": [fx.PH, fx.PH]})
    maps = [torch.rand(2), torch.rand(2)]
    assert torch.equal(gm(maps), Head()(maps))


@question(8, "torchdynamo#115", "11_pytorch2: Graph breaks")
def control_flow_in_a_gan() -> None:
    """What does `torch.compile` do with control flow that `symbolic_trace` refuses?"""
    graphs: list[fx.GraphModule] = []

    def backend(gm, example_inputs):
        graphs.append(gm)
        return gm.forward

    model, x = Around(), torch.rand(1, 2)
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(model)
    torch._dynamo.reset()
    assert torch.equal(torch.compile(model, backend=backend)(x), model(x))
    assert len(graphs) > 1  # Python makes the decision, between two graphs


@question(9, "MQBench#253", "08_limits: Four ways out")
def a_model_with_one_branch() -> None:
    """What do people do about a model with one branch on values?"""
    model, x = Around(), torch.rand(1, 2)
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(model)
    gm = fx.GraphModule(model, KeepsDecides().trace(model))
    assert [n.target for n in gm.graph.nodes if n.op == "call_module"] == [
        "before",
        "part",
        "after",
    ]
    for each in (x, -x):
        assert torch.equal(gm(each), model(each))


@question(10, "llm-compressor#1603", "08_limits: A trace around what cannot be traced")
def only_a_part_can_be_traced() -> None:
    """How far do I get with a language model that raises a TraceError?"""
    model, x = Around(), torch.rand(1, 2)
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(model)
    tail = nn.Sequential(model.before, nn.ReLU())
    assert torch.equal(fx.symbolic_trace(tail)(x), tail(x))  # each traceable part separately
    whole = fx.GraphModule(model, KeepsDecides().trace(model))  # and the rest as a leaf
    assert torch.equal(whole(x), model(x))


@question(11, "transformers#31200, #36022", "01_tracing: The loud cases: tracing raises")
def arguments_that_are_passed_on() -> None:
    """Why does a model raise that passes `**kwargs` on?"""

    class Inner(nn.Module):
        def forward(self, x, scale=1.0):
            return x * scale

    class Passes(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x, **kwargs):
            return self.inner(x, **kwargs)

    with pytest.raises((fx.proxy.TraceError, TypeError)):
        fx.symbolic_trace(Passes())

    class Named(Passes):
        def forward(self, x, scale):
            return self.inner(x, scale=scale)

    x = torch.rand(2)
    assert torch.equal(fx.symbolic_trace(Named())(x, 3.0), Passes()(x, scale=3.0))


@question(13, "pytorch#149186", "11_pytorch2: Four producers, one IR")
def a_decision_about_sizes() -> None:
    """Why can `torch.export` capture a model that `symbolic_trace` refuses?"""

    class Sized(nn.Module):
        def forward(self, x):
            if x.shape[0] > 1:
                return x.sum(0)
            return x[0]

    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(Sized())
    x = torch.rand(3, 2)
    program = torch.export.export(Sized(), (x,))  # it runs with fake tensors, whose sizes are known
    assert torch.equal(program.module()(x), x.sum(0))


@question(14, "pytorch#70485", "08b_shapes: A value for each node")
def comparing_sizes_in_a_transformer() -> None:
    """How does a vision transformer that compares sizes become a graph?"""

    class Positions(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Parameter(torch.rand(4, 2))

        def forward(self, x):
            if x.shape[0] == self.table.shape[0]:
                return x + self.table
            return x + self.table[: x.shape[0]]

    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(Positions())

    class Sized(fx.Proxy):
        @property
        def shape(self):
            return (4, 2)

    class Knows(fx.Tracer):
        def proxy(self, node):
            return Sized(node, self) if node.op == "placeholder" else super().proxy(node)

    model, x = Positions(), torch.rand(4, 2)
    gm = fx.GraphModule(model, Knows(param_shapes_constant=True).trace(model))
    assert torch.equal(gm(x), model(x))


@question(25, "forum: trace with real tensors", "11_pytorch2: Which producer for which job")
def tracing_with_an_example() -> None:
    """Can I trace with real tensors, as `jit.trace` does?"""
    from torch.fx.experimental.proxy_tensor import make_fx

    def rows(x):
        return torch.stack([row * 2 for row in x]) if len(x) > 1 else x

    with pytest.raises(RuntimeError):
        fx.symbolic_trace(rows)
    x = torch.rand(3, 2)
    gm = make_fx(rows)(x)
    assert torch.equal(gm(x), rows(x))
    more = torch.rand(4, 2)
    assert gm(more).shape != rows(more).shape  # the graph contains the example's sizes


@question(
    44, "pytorch#143841", "04_replace_pattern: A line in the pattern whose value is not returned"
)
def a_match_that_nobody_reads() -> None:
    """What happens to a match whose value nobody reads?"""

    class Dead(nn.Module):
        def forward(self, x):
            torch.relu(x)
            return x + 1

    gm = fx.symbolic_trace(Dead())
    assert len(fx.replace_pattern(gm, lambda x: torch.relu(x), lambda x: torch.tanh(x))) == 1
    (tanh,) = gm.graph.find_nodes(op="call_function", target=torch.tanh)
    assert not tanh.users  # it was replaced, and is still dead
    gm.graph.eliminate_dead_code()
    assert gm.graph.find_nodes(op="call_function", target=torch.tanh) == []


@question(
    45,
    "pytorch#159613",
    "04_replace_pattern: The rewritten graph reads a value before it is computed",
    until="2.15",
)
def matches_that_touch() -> None:
    """Why is the graph broken after two matches that touch?"""

    def nested(x, y):
        return torch.cat([torch.cat([x, y]), y])

    def cat(parts):
        return torch.cat(parts)

    def concat(parts):
        return torch.concat(parts)

    gm = fx.symbolic_trace(nested)
    assert len(fx.replace_pattern(gm, cat, concat)) == 2
    x, y = torch.rand(2), torch.rand(2)
    with pytest.raises(Exception):  # noqa: B017  (the code reads a name that does not exist)
        gm.graph.lint()
        gm(x, y)

    by_hand = fx.symbolic_trace(nested)
    for node in by_hand.graph.find_nodes(op="call_function", target=torch.cat):
        node.target = torch.concat
    by_hand.recompile()
    assert torch.equal(by_hand(x, y), nested(x, y))


@question(52, "pytorch#147338", "11_pytorch2: Metadata, and what is below")
def meta_after_decompositions() -> None:
    """Why is my `meta` gone after `run_decompositions`?"""

    class Model(nn.Module):
        def forward(self, x):
            return torch.relu(x)

    program = torch.export.export(Model(), (torch.rand(2),))
    for node in program.graph.nodes:
        node.meta["mark"] = 1
        node.meta.setdefault("custom", {})["mark"] = 1
    lower = program.run_decompositions().graph
    (relu,) = lower.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
    assert "mark" not in relu.meta
    assert relu.meta["custom"]["mark"] == 1  # decompositions copy this key


@question(53, "pytorch#165491", "09c_sources: Whose line is it?")
def no_source_lines_by_default() -> None:
    """Why do the nodes of my trace not say where they come from?"""
    graph = fx.symbolic_trace(Around().before).graph
    assert all(node.stack_trace is None for node in graph.nodes)

    class Notes(fx.Tracer):
        record_stack_traces = True

    class Model(nn.Module):
        def forward(self, x):
            return torch.sin(x)

    (sin,) = Notes().trace(Model()).find_nodes(op="call_function", target=torch.sin)
    assert "return torch.sin(x)" in sin.stack_trace


@question(54, "pytorch#130861", "09c_sources: Who is running?")
def the_wrong_lines() -> None:
    """Why does the recorded line belong to FX, and not to my model?"""

    class Notes(fx.Tracer):
        record_stack_traces = True

    class Model(nn.Module):
        def forward(self, x):
            return torch.sin(x)

    (sin,) = Notes().trace(Model()).find_nodes(op="call_function", target=torch.sin)
    places = [line for line in sin.stack_trace.splitlines() if line.lstrip().startswith("File")]
    assert "torch/fx" in places[-1].replace("\\", "/")
    mine = [place for place in places if __file__ in place]
    assert len(mine) > 0  # look for the last line in a file of your own


@question(66, "forum: FX for creating a pt file", "09_debugging: Save and load")
def a_file_of_a_graph_module() -> None:
    """How do I write a graph module into a `.pt` file, and read it again?"""
    import io
    import pickle

    gm = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    file = io.BytesIO()
    torch.save(gm, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file)
    file.seek(0)
    again = torch.load(file, weights_only=False)  # it may run any code: load only your own files
    x = torch.rand(1, 2)
    assert torch.equal(again(x), gm(x))


@question(74, "pytorch#157591", "14b_sharing: In production")
def quantization_has_moved() -> None:
    """Where is PyTorch's quantization of graphs today?"""
    import importlib

    from autograder.given import dequantize, quantize

    with pytest.raises(ModuleNotFoundError):  # it is now a separate project, torchao
        importlib.import_module("torch.ao.quantization.quantize_pt2e")

    class Model(nn.Module):
        def forward(self, x):
            return torch.sin(x)

    gm = fx.symbolic_trace(Model())
    (sin,) = gm.graph.find_nodes(op="call_function", target=torch.sin)
    with gm.graph.inserting_after(sin):
        small = gm.graph.call_function(quantize, (sin, 0.01))
    with gm.graph.inserting_after(small):
        back = gm.graph.call_function(dequantize, (small, 0.01))
    sin.replace_all_uses_with(back, delete_user_cb=lambda user: user is not small)
    gm.recompile()
    x = torch.rand(5)
    torch.testing.assert_close(gm(x), torch.sin(x), atol=0.005, rtol=0)
