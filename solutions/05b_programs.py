# %% [markdown]
# # 5b · Programs about programs
#
# **After this part you can paste one graph into another, and write programs that make a new function of a function: its bound, its batch version, its derivative.**
#
# | | |
# |---|---|
# | **You need** | chapter 5, sections 5.1 to 5.3: Proxies, `node_copy`, `map_arg` |
# | **Time** | about 120 minutes with *Common mistakes*, 70 of them for the exercises; the minutes of a section include its exercises |
# | **Deep dive** | No later chapter needs this part. It shows how much you can do with Proxies |
#
# **When you are done, you can**
#
# 1. paste the graph of a submodule in place of each of its calls, with its arguments and defaults;
# 2. give parameters and layers inside it the names that they have in the whole model;
# 3. keep a second value for each value of a graph, and write rules for both;
# 4. say which of these second values are numbers, and give them a shape where a tensor is wanted;
# 5. compute the derivative of a function as a graph, and the derivative of that.

# %%
import operator
from collections import Counter
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import fx, nn
from torch.fx.node import map_arg
from torch.fx.proxy import GraphAppendingTracer
from torchvision.models import googlenet

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(5)
print(torch.__version__)

# %% [markdown]
# ## A story
#
# The chip of chapter 5 has a back end now, and two more requests arrive.
#
# *The first.* The chip's unit for linear layers calls no modules. It wants the weights as inputs of an operation: `F.linear(x, weight, bias)`.
# In the trace of GoogLeNet, the last layer is one node that calls the module `fc`. Its weights are nowhere in the graph.
# You must open that node, and put the layer's own graph in its place.
#
# *The second.* The chip rounds its inputs to a grid. Where does that do the most harm? Where the function is steep.
# So your colleagues ask for the slope of a function. The chip has no autograd, and it runs nothing but graphs. So the slope must be a graph.
#
# Both answers are programs about programs: they read one graph and write another.
# Section 5b.3 gives both.

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the graph.** `Block` is a class of yours; its `forward` is `self.lin(x).relu()`, and `lin` is an `nn.Linear`.
# Which modules does the trace of `nn.Sequential(Block(), nn.Linear(2, 2))` call?
#
# <details><summary>The <code>Block</code> and the second <code>nn.Linear</code></summary>
#
# No. Tracing goes into your own classes (section 1.3). A <code>Block</code> is not a leaf.
#
# </details>
# <details><summary>Both <code>nn.Linear</code></summary>
#
# Right. Modules of <code>torch.nn</code> are leaves, except <code>nn.Sequential</code>. Tracing goes into everything else.
#
# </details>
# <details><summary>None: all of them are opened</summary>
#
# No. <code>nn.Linear</code> is a leaf: its call is one node, and its weights are not in the graph.
#
# </details>


# %% proof=true
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)

    def forward(self, x):
        return self.lin(x).relu()


traced = fx.symbolic_trace(nn.Sequential(Block(), nn.Linear(2, 2)))
assert [n.target for n in traced.graph.nodes if n.op == "call_module"] == ["0.lin", "1"]

# %% [markdown]
# **Predict the result.** A rule runs on a Proxy `x`, and asks `if x.shape[0] > 1:`. What happens?
#
# <details><summary>It depends on the shape</summary>
#
# No. A Proxy has no shape yet. <code>x.shape[0] &gt; 1</code> is a Proxy, too.
#
# </details>
# <details><summary>The branch is always taken: a Proxy is an object, and objects are true</summary>
#
# That would be silent and bad. FX does not allow it.
#
# </details>
# <details><summary>A <code>TraceError</code></summary>
#
# Right. <code>if</code> asks for a truth value, and a Proxy has none. Keep this in mind for section 5b.2.
#
# </details>

# %% proof=true
graph = fx.Graph()
x = fx.Proxy(graph.placeholder("x"), GraphAppendingTracer(graph))
with fails(fx.proxy.TraceError):
    if x.shape[0] > 1:
        print("more than one row")
assert len(graph.nodes) == 4  # the shape, its item and the comparison were recorded

# %% [markdown]
# ## 5b.1 Paste one graph into another
#
# Often the nodes that you need are there already, in another graph.
# Then you can copy them with `graph.node_copy(node, f)`, as you copied the rest of a model in section 5.3.
# Here a graph is pasted after another:


# %%
def followed_by(first: nn.Module, second: nn.Module) -> fx.GraphModule:
    """A module that computes `second(first(x))`. Neither of them may have parameters or layers."""
    graph = fx.Graph()

    env: dict[fx.Node, Any] = {}
    for node in fx.symbolic_trace(first).graph.nodes:
        if node.op != "output":
            env[node] = graph.node_copy(node, env.__getitem__)
    result = node.args[0]  # the last node is the output; this is what it returns

    inside: dict[fx.Node, Any] = {}  # the second graph has a dictionary of its own
    for node in fx.symbolic_trace(second).graph.nodes:
        if node.op == "placeholder":
            inside[node] = env[result]  # no copy: this value is there already
        else:
            inside[node] = graph.node_copy(node, inside.__getitem__)
    return fx.GraphModule(nn.Module(), graph)


class Shrink(nn.Module):
    def forward(self, x):
        return torch.tanh(x / 2)


class Grow(nn.Module):
    def forward(self, x, factor=3.0):
        return x * x * factor


# %% [markdown]
# **Predict the result.** `Grow` has a second parameter, with a default.
# What does `followed_by(Shrink(), Grow())` compute for it?
#
# <details><summary><code>y * y * 3.0</code></summary>
#
# That would be right, but <code>followed_by</code> does not do it. Nothing in it looks at the default.
#
# </details>
# <details><summary><code>y * y * y</code></summary>
#
# Right, and without any error. <em>Each</em> placeholder of the second graph becomes the result of
# the first, the placeholder of <code>factor</code> too.
#
# </details>
# <details><summary>An error, because an argument is missing</summary>
#
# No. A placeholder is a node like any other, and the code gives it a value.
#
# </details>

# %% proof=true
pasted = followed_by(Shrink(), Grow())
x = torch.randn(4)
y = Shrink()(x)
torch.testing.assert_close(pasted(x), y * y * y)  # wrong: Grow()(y) is y * y * 3.0
assert not torch.allclose(pasted(x), Grow()(y))

# %% [markdown]
# So ask for each placeholder what its value must be: an argument of the call, or its default.
# What you need is in the node. Its `target` is the name of the parameter.
# Its `args` hold the default: `(3.0,)`, or `()` if there is no default.
#
# One detail: `node.name` may differ from the parameter's name, `node.target` does not.
# FX does not give a node the name of a Python builtin, such as `input`.

# %%
for node in fx.symbolic_trace(Grow()).graph.nodes:
    if node.op == "placeholder":
        print(f"name {node.name:8} target {node.target:8} args {node.args}")

(node, *_) = fx.symbolic_trace(nn.ReLU()).graph.nodes
print(f"name {node.name:8} target {node.target:8} args {node.args}")

# %% proof=true
assert (node.name, node.target) == ("input_1", "input")

# %% [markdown]
# A call `part(y, shift=1.0)` is pasted. This is what it calls:


# %%
def part(input, factor=3.0, shift=0.0):
    return input * factor + shift


fx.symbolic_trace(part).graph.find_nodes(op="placeholder")

# %% [markdown]
# **Drill 05b.1a.** Which values do the three placeholders get? Write a list in their order, with the string `"y"` for `y`.

# %% drill=true
given = ["y", 3.0, 1.0]
drill("05b.1a", given)
# Mistake: The call passes `shift` by keyword, so its default is not used.
# given = ["y", 3.0, 0.0]

# %% [markdown]
# In these dictionaries, each old node maps to its replacement, which need not be a node.
# It may be a number, `None`, or a tuple of nodes. `node_copy` puts it where the old node was:

# %%
graph = fx.Graph()
x = graph.placeholder("x")
sin, cos = graph.call_function(torch.sin, (x,)), graph.call_function(torch.cos, (x,))

inside = {}
for node in fx.symbolic_trace(lambda pair: pair[0] + pair[1]).graph.nodes:
    if node.op == "placeholder":
        inside[node] = (sin, cos)  # a tuple of nodes
    else:
        inside[node] = graph.node_copy(node, inside.__getitem__)
gm = fx.GraphModule(nn.Module(), graph)
print(gm.code)

# %% proof=true
gm.graph.lint()
x = torch.randn(4)
torch.testing.assert_close(gm(x), torch.sin(x) + torch.cos(x))
assert [n.target for n in gm.graph.nodes].count(operator.getitem) == 2

# %% [markdown]
# `(sin, cos)[0]` looks strange, but the graph is right: the target is `operator.getitem`, and its first
# argument is a tuple of two nodes.
#
# To look up nested nodes yourself, use `map_arg` from section 5.3: `map_arg(value, inside.__getitem__)`.
#
# ### Leaves, and names inside them
#
# A method of the tracer, `is_leaf_module`, decides which modules stay whole (section 4.7).
# Here is one that keeps `Part`s:


# %%
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.gain = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return self.inner(x) * self.gain


class Machine(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(Part(), Part())

    def forward(self, x):
        return self.parts(x).relu()


class WithParts(fx.Tracer):
    """Records the call of a `Part` as one node."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, Part) or super().is_leaf_module(m, module_qualified_name)


machine = Machine()
graph = WithParts().trace(machine)
gm = fx.GraphModule(machine, graph)
print(gm.graph)

# %% proof=true
called = [node.target for node in gm.graph.nodes if node.op == "call_module"]
assert called == ["parts.0", "parts.1"]

# %% [markdown]
# `is_leaf_module` gets two arguments: the module, and its **qualified name**, the dotted path from the root.
# `module.get_submodule(path)` follows such a path. If there is no such module, it raises an `AttributeError`.

# %% proof=true
with fails(AttributeError):
    machine.get_submodule("parts.2")
assert machine.get_submodule("parts.1") is machine.parts[1]

# %% [markdown]
# Now trace a `Part` by itself. It does not know where it is in the machine:

# %%
part = machine.get_submodule("parts.1")
inner = fx.Tracer().trace(part)
names = [node.target for node in inner.nodes if node.op in ("get_attr", "call_module")]
in_machine = [name for name, _ in machine.named_parameters() if name.startswith("parts.1")]
print(names, in_machine, sep="\n")

# %% proof=true
assert names == ["inner", "gain"]
assert "parts.1.gain" in in_machine and "gain" not in in_machine

# %% [markdown]
# **Predict the result.** You copy the node that reads `gain` into a graph for the machine, as it is.
# What happens?
#
# <details><summary>It works: the parameter is the same object</summary>
#
# No. A <code>get_attr</code> node holds no object, only a name. The name is looked up from the root.
#
# </details>
# <details><summary>It fails, since the machine has no <code>gain</code></summary>
#
# Right, for this machine. But think of a machine that happens to have a parameter <code>gain</code> of
# its own. Then nothing fails, and the graph reads the wrong one.
#
# </details>
# <details><summary>FX finds <code>parts.1.gain</code> by itself</summary>
#
# No. <code>node_copy</code> copies the target as it is.
#
# </details>

# %% proof=true
gain = inner.find_nodes(op="get_attr")[0]
graph = fx.Graph()
graph.output(graph.node_copy(gain))
assert gain.target == "gain"
with fails(AttributeError):
    fx.GraphModule(machine, graph)

# %% [markdown]
# So give the copy its qualified name. The target of a node is an attribute that you may assign:

# %%
graph = fx.Graph()
copied = graph.node_copy(inner.find_nodes(op="get_attr")[0])
copied.target = f"parts.1.{copied.target}"
graph.output(copied)
gm = fx.GraphModule(machine, graph)
print(gm.code)

# %% proof=true
assert gm() is part.gain

# %% [markdown]
# `fx.GraphModule(machine, graph)` takes over what the graph names,
# and shares it with the machine. If you train the machine, the graph sees the new values.

# %% [markdown] card="inline"
# **Given** a model and the qualified name of a submodule, such as `"stages.1.block"`.
#
# **Return** a new `GraphModule` in which every call of this submodule is replaced by the submodule's own
# traced graph.
#
# * It may be called several times, with positional and keyword arguments, and with defaults.
# * It may return a tuple.
# * Its parameters are read by `get_attr` nodes under the qualified names that they have in the model.
#   They are the model's own, not copies.
# * Leaf modules inside it are called by their qualified names.
# * If there is no such submodule: `AttributeError`.
#
# **Do not** change the model you were given.
#
# **Fine print**
#
# * Tracing keeps the submodule a leaf, whatever its class; which other modules are leaves is as usual.
# * If it is never called: the graph as it was traced.
# * Not tried: a submodule that branches on an argument, even an optional one such as `mask=None`, and one with two names.


# %%
class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return torch.tanh(self.lin(x))


class After(Before):
    def forward(self, x):
        return torch.tanh(F.linear(x, self.lin.weight, self.lin.bias))


# What inline(Before(), "lin") must do. The layer's own graph is one call of F.linear.
display(draw(Before(), title="given"))
draw(After(), title="asked for")


# %% solve="inline"
def inline(model: nn.Module, target: str) -> fx.GraphModule:
    """Replace every call of the submodule `target` by the submodule's own graph.

    Args:
        model: the module to trace; it is not changed.
        target: the qualified name of the submodule.

    Raises:
        AttributeError: if `model` has no such submodule.
    """
    ### BEGIN SOLUTION
    submodule = model.get_submodule(target)  # raises AttributeError by itself

    class KeepTarget(fx.Tracer):
        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return m is submodule or super().is_leaf_module(m, module_qualified_name)

    outer = KeepTarget().trace(model)
    graph = fx.Graph()
    env: dict[fx.Node, Any] = {}

    def paste(args: tuple, kwargs: dict) -> Any:
        """Copy the submodule's graph once, and give what it returns."""
        positional = iter(args)
        inside: dict[fx.Node, Any] = {}
        for node in inner.nodes:
            if node.op == "placeholder":
                if node.target in kwargs:
                    inside[node] = kwargs[node.target]
                else:
                    # Python has checked the call: what is not given has a default.
                    inside[node] = next(positional, *node.args)
            elif node.op == "output":
                return map_arg(node.args[0], inside.__getitem__)
            else:
                inside[node] = graph.node_copy(node, inside.__getitem__)
                if node.op in ("get_attr", "call_module"):
                    inside[node].target = f"{target}.{node.target}"

    calls = {n for n in outer.nodes if n.op == "call_module" and n.target == target}
    # A container that is never called may have no `forward` to trace.
    inner = fx.Tracer().trace(submodule) if calls else None
    for node in outer.nodes:
        if node in calls:
            args, kwargs = map_arg((node.args, node.kwargs), env.__getitem__)
            env[node] = paste(args, kwargs)
        else:
            env[node] = graph.node_copy(node, env.__getitem__)
    return fx.GraphModule(model, graph)
    ### END SOLUTION


# %% check="inline"
check(inline)

# %% hint="inline"
hint("inline")

# %% [markdown]
# For a model that you trace yourself there is a shorter way: a tracer that keeps *fewer* modules whole.
# Paste if the outer graph must stay, with its names, notes and edits. Or if the inner graph comes without a module.


# %% proof=true
class Opens(fx.Tracer):
    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return module_qualified_name != "lin" and super().is_leaf_module(m, module_qualified_name)


closed = Before()
open_graph = Opens().trace(closed)
assert [n.target for n in open_graph.find_nodes(op="get_attr")] == ["lin.weight", "lin.bias"]

# %% [markdown]
# ## 5b.2 Two values for each node
#
# So far, one node of the old graph became one value in the new one.
# You can keep more than one. The new graph then computes an extra quantity for each value.
#
# Here is an example. How large can the values of a function become?
# For each value `v` you carry a bound `b` with `|v| <= b`:
#
# | value | bound |
# |---|---|
# | the parameter `x` | `abs(x)` |
# | a number `c` | `abs(c)` |
# | `v + w` | `bound(v) + bound(w)` |
# | `v * w` | `bound(v) * bound(w)` |
# | `tanh(v)` | `1` |
#
# The bounds are Proxies, so the rules are ordinary Python:


# %%
BOUNDS = {
    operator.add: lambda bv, bw: bv + bw,
    operator.mul: lambda bv, bw: bv * bw,
    torch.tanh: lambda bv: 1.0,
}


def bound(fn: Callable[[Any], Any]) -> fx.GraphModule:
    """The graph of a bound of `abs(fn(x))`, for a function made of `+`, `*` and `torch.tanh`."""
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    bounds: dict[fx.Node, Any] = {}

    def bound_of(value: Any) -> Any:
        return bounds[value] if isinstance(value, fx.Node) else abs(value)  # a node or a number

    for node in fx.symbolic_trace(fn).graph.nodes:
        if node.op == "placeholder":
            parameter = fx.Proxy(graph.placeholder(node.target), tracer)
            bounds[node] = torch.abs(parameter)
        elif node.op == "output":
            result = bound_of(node.args[0])
        else:
            bounds[node] = BOUNDS[node.target](*map(bound_of, node.args))

    if not isinstance(result, fx.Proxy):  # a number has no shape
        result = torch.full_like(parameter, result)
    graph.output(result.node)
    return fx.GraphModule(nn.Module(), graph)


def g(x):
    return torch.tanh(x) * x + 3 * x


def h(x):
    return x * x + -4 * torch.tanh(x)


gm = bound(g)
print(gm.code)
draw.diff(fx.symbolic_trace(g), gm)

# %% proof=true
x = torch.randn(100, dtype=torch.float64)
assert (g(x).abs() <= gm(x) + 1e-12).all()

# %% [markdown]
# **Drill 05b.2a.** Which number does `bound(h)` give for `x = -3`? Find it with the table. Write a `float`.

# %% drill=true
largest = bound(h)(torch.tensor(-3.0)).item()
drill("05b.2a", largest)
# Mistake: The bound of a number is its absolute value.
# largest = (-3.0) ** 2 - 4.0

# %% [markdown]
# Read two lines of `bound` again.
#
# * `bound_of`: an argument of a node may be a number. A number has a bound, too.
# * The last `if`: the result of a rule may be a number, and a number has neither shape nor dtype.
#   `torch.full_like(x, number)` is a tensor of them with the shape and the dtype of `x`.
#   (`torch.ones(x.shape)` has the right shape, but always the default dtype.)

# %%
gm = bound(lambda x: torch.tanh(x))
print(gm.code)

# %% proof=true
x = torch.randn(2, 3, dtype=torch.float64)
assert torch.equal(gm(x), torch.ones(2, 3, dtype=torch.float64))

# %% [markdown]
# One trap: do not compare a Proxy. `b == 0` gives no answer, it adds a node to the graph.
# Ask for the type first.

# %%
graph = fx.Graph()
b = fx.Proxy(graph.placeholder("b"), GraphAppendingTracer(graph))
print(b == 0)
print(not isinstance(b, fx.Proxy) and b == 0)

# %% proof=true
assert isinstance(b == 0, fx.Proxy)

# %% [markdown]
# ### From one example to many: `vmap`
#
# `torch.vmap(fn)` makes a function for a whole **batch** from a function that was written for one example.
# A small version of it is a second program of this kind. For each value, keep whether it has a batch dimension (in front):
#
# | value | rule for the batch |
# |---|---|
# | `v + w`, `v * w`, `sin(v)`: vectors only, or numbers only | the same operation; it has a batch if one of its arguments has one |
# | `v.sum()` of a vector | the sum over all dimensions, except the one of the batch |
# | `torch.dot(v, w)` | the sum of the products along the last dimension |


# %%
def batched(fn: Callable[..., Any], in_batch: tuple[bool, ...]) -> fx.GraphModule:
    """`fn`, a function of vectors and numbers, for a batch of the arguments that `in_batch` marks."""
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    marks = iter(in_batch)
    values: dict[fx.Node, tuple[Any, bool]] = {}  # a Proxy, and whether it has a batch

    def look_up(arg: Any) -> tuple[Any, bool]:
        return values[arg] if isinstance(arg, fx.Node) else (arg, False)

    for node in fx.symbolic_trace(fn).graph.nodes:
        if node.op == "placeholder":
            values[node] = fx.Proxy(graph.placeholder(node.target), tracer), next(marks)
            continue
        args, marked = zip(*map(look_up, node.args), strict=True)
        if node.op == "output":
            graph.output(args[0].node)
        elif node.target is torch.dot:
            values[node] = (args[0] * args[1]).sum(-1), any(marked)
        elif node.target == "sum":
            values[node] = args[0].flatten(1).sum(1) if marked[0] else args[0].sum(), marked[0]
        else:  # elementwise: the shapes broadcast
            values[node] = node.target(*args), any(marked)
    return fx.GraphModule(nn.Module(), graph)


def loss(x, weight):
    return torch.sin(torch.dot(x, weight)) + (x * x).sum()


gm = batched(loss, (True, False))
print(gm.code)
examples, weight = torch.randn(7, 3), torch.randn(3)
torch.testing.assert_close(
    gm(examples, weight), torch.vmap(loss, in_dims=(0, None))(examples, weight)
)

# %% proof=true
one_by_one = torch.stack([loss(x, weight) for x in examples])
torch.testing.assert_close(gm(examples, weight), one_by_one)


def mixed(x, weight):
    return (torch.dot(x, weight) * x).sum()


square = torch.randn(3, 3)
vmapped = torch.vmap(mixed, in_dims=(0, None))(square, weight)
assert not torch.allclose(batched(mixed, (True, False))(square, weight), vmapped)

# %% [markdown]
# This small version is wrong if a vector meets a number made from vectors: a batch of numbers broadcasts along the wrong dimension.
# The real `vmap` does not work on FX graphs: it runs the function on tensors that know which of their dimensions is the batch.
#
# ### The rules of calculus
#
# The derivative of a function is made the same way. For each value, keep its **slope**: its derivative with
# respect to the parameter. Each operation gives the slope of its result from the values and slopes of its
# arguments. With `v'` for the slope of `v`:
#
# | value | slope |
# |---|---|
# | the parameter | `1` |
# | a number | `0` |
# | `v + w` | `v' + w'` |
# | `v - w` | `v' - w'` |
# | `v * w` | `v' * w + v * w'` |
# | `-v` | `-v'` |
# | `sin(v)` | `cos(v) * v'` |
# | `cos(v)` | `-sin(v) * v'` |
# | `exp(v)` | `exp(v) * v'` |
#
# This is **forward-mode** differentiation, as in `torch.func.jvp`. (`loss.backward()` and `torch.func.grad` go through the
# graph the other way, from the output to the inputs: reverse mode.)
#
# PyTorch can compute the true slope, one number for each entry of the input:


# %%
def true_slope(fn: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """The elementwise derivative of `fn` at `x`, by PyTorch's own differentiation."""
    x = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(fn(x).sum(), x)
    return slope


# %% [markdown]
# **Predict the result.** The function is `y = x * x` and then `y + y`. What is the slope of the sum?
#
# <details><summary><code>2 * x</code></summary>
#
# No. That is the slope of <code>y</code>. The sum reads <code>y</code> twice.
#
# </details>
# <details><summary><code>4 * x</code></summary>
#
# Right. <code>y'</code> is <code>1 * x + x * 1</code>: both factors of the product are <code>x</code>, and both count.
# The sum adds <code>y' + y'</code>. A value that is used twice counts twice, at each place.
#
# </details>
# <details><summary><code>2</code></summary>
#
# No. That is the slope of <code>y'</code>.
#
# </details>


# %% proof=true
def double_square(x):
    y = x * x
    return y + y


x = torch.randn(5, dtype=torch.float64)
torch.testing.assert_close(true_slope(double_square, x), 4 * x)
assert double_square(torch.ones(1)) == 2

# %% [markdown] card="derivative"
# **Given** a function of one tensor, or a `GraphModule` of one. It is made of `+`, `-`, `*`, negation, `sin`, `cos`, `exp` and
# Python numbers. Each may be an operator, a function or a method, with positional or keyword arguments (`input`, `other`):
# `x * y`, `torch.mul(x, y)`, `x.mul(y)`, `2 - x`.
#
# **Return** a `GraphModule` of the derivative at each entry of the input.
#
# * The result has the shape and dtype of the input, even if the derivative is a constant.
# * A value used twice counts twice.
# * `derivative(derivative(fn))` works: your function can read its own result.
#
# **Do not** change a `GraphModule` that you were given.
#
# **Fine print**
#
# * The `alpha` of `add` and `sub` is a factor of the second value: `torch.add(x, y, alpha=2)` is `x + 2 * y`.
# * The function itself may be constant, such as `lambda x: 3.0`; its derivative is zero.
# * The parameter keeps its name.
# * The graph is made of operations of PyTorch. Other operations are never tested, and nothing works in place.


# %%
def before(x):
    return x * torch.cos(x)


def after(x):
    return torch.cos(x) + x * -torch.sin(x)


display(draw(before, title="given"))
draw(after, title="one of many right results of derivative(before)")


# %% solve="derivative"
def derivative(fn: Callable[[Any], Any]) -> fx.GraphModule:
    """The graph of the elementwise derivative of `fn`, a function of one tensor."""
    ### BEGIN SOLUTION
    functions = {
        "add": (operator.add, torch.add),
        "sub": (operator.sub, torch.sub),
        "mul": (operator.mul, torch.mul),
        "neg": (operator.neg, torch.neg),
        **{name: (getattr(torch, name),) for name in ("sin", "cos", "exp", "full_like")},
    }
    # The name of an operation is also the target of its method call.
    operation = {how: name for name, ways in functions.items() for how in (name, *ways)}

    def is_number(value: Any, number: float) -> bool:
        return not isinstance(value, fx.Proxy) and value == number

    # Zeros and ones are left out here; else second derivatives grow very long.
    def plus(v: Any, w: Any) -> Any:
        return w if is_number(v, 0) else v if is_number(w, 0) else v + w

    def times(v: Any, w: Any) -> Any:
        if is_number(v, 0) or is_number(w, 0):
            return 0
        return w if is_number(v, 1) else v if is_number(w, 1) else v * w

    rules = {
        "add": lambda v, w, dv, dw: plus(dv, dw),
        "sub": lambda v, w, dv, dw: plus(dv, times(-1, dw)),
        "mul": lambda v, w, dv, dw: plus(times(dv, w), times(v, dw)),
        "neg": lambda v, dv: times(-1, dv),
        "sin": lambda v, dv: times(torch.cos(v), dv),
        "cos": lambda v, dv: times(-1, times(torch.sin(v), dv)),
        "exp": lambda v, dv: times(torch.exp(v), dv),
        "full_like": lambda v, w, dv, dw: 0,  # not in `fn`, but in what this function returns
    }

    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    values: dict[fx.Node, fx.Proxy] = {}
    slopes: dict[fx.Node, Any] = {}

    def value_and_slope(arg: Any) -> tuple[Any, Any]:
        return (values[arg], slopes[arg]) if isinstance(arg, fx.Node) else (arg, 0)

    for node in fx.symbolic_trace(fn).graph.nodes:
        if node.op == "output":
            result = value_and_slope(node.args[0])[1]
            break
        copied = graph.node_copy(node, lambda n: values[n].node)
        values[node] = fx.Proxy(copied, tracer)
        if node.op == "placeholder":
            parameter, slopes[node] = values[node], 1
        else:
            by_name = [node.kwargs[key] for key in ("input", "other") if key in node.kwargs]
            pairs = [value_and_slope(arg) for arg in (*node.args, *by_name)]
            rule = rules[operation[node.target]]
            if "alpha" in node.kwargs:  # of `add` and `sub`: a factor of the second value
                (v, dv), alpha = pairs[1], node.kwargs["alpha"]
                pairs[1] = (v, times(alpha, dv))
            slopes[node] = rule(*(p[0] for p in pairs), *(p[1] for p in pairs))

    if not isinstance(result, fx.Proxy):
        result = torch.full_like(parameter, result)
    graph.output(result.node)
    graph.eliminate_dead_code()  # sound here: nothing in this graph works in place
    return fx.GraphModule(nn.Module(), graph)
    ### END SOLUTION


# %% check="derivative"
check(derivative)

# %% hint="derivative"
hint("derivative")

# %% [markdown]
# ## 5b.3 Two requests, answered
#
# The first request was to open two layers of GoogLeNet: `fc`, and the first convolution.
# In the trace, each of them is one node, and there are no weights.
# (The cells of this section use your functions. Run them again when the checks have passed.)

# %%
net = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10))
image = images(1)
whole = fx.symbolic_trace(net)
print(whole.graph.find_nodes(op="call_module", target="fc")[0].format_node())
print("weights in the graph:", len(whole.graph.find_nodes(op="get_attr")))

# %% proof=true
assert not whole.graph.find_nodes(op="get_attr")

# %% [markdown]
# Here is the place of that convolution, before and after:

# %% uses="inline"
draw.diff(fx.symbolic_trace(net.conv1), inline(net.conv1, "conv"))

# %% uses="inline"
opened = inline(inline(net, "fc"), "conv1.conv")  # the result of a pass is a model
for node in opened.graph.nodes:
    if node.op == "get_attr":
        print(node.format_node())
assert_same_results(opened, net, image)

# %% proof=true
targets = {node.target for node in opened.graph.nodes}
assert {F.linear, "fc.weight", "fc.bias", "conv1.conv.weight"} <= targets
assert not {"fc", "conv1.conv"} & targets
assert opened.get_parameter("fc.weight") is net.fc.weight  # shared, not copied

# %% [markdown]
# The weights are in the graph now, under the names that they have in the model. The chip's unit can read them.
#
# The second request: where does rounding do the most harm? The function is a wave in an envelope.
# The chip rounds each input to a multiple of 1/32.


# %%
def wave(x):
    return torch.exp(-x * x) * torch.sin(6 * x)


step = 1 / 32
x = torch.linspace(-2, 2, 4001, dtype=torch.float64)
harm = (wave((x / step).round() * step) - wave(x)).abs()
print(f"the largest error is {harm.max():.4f}, at x = {x[harm.argmax()]:.3f}")

# %% uses="derivative"
slope = derivative(wave)
print(dict(Counter(n.target.__name__ for n in slope.graph.nodes if n.op == "call_function")))
figure, axes = plt.subplots(figsize=(7, 2.8))
axes.plot(x, wave(x), label="the function", color="#3b6ea5")
axes.plot(x, slope(x).abs(), label="size of its slope", color="#b5542c")
axes.plot(x, harm / (step / 2), label="error, in half steps", color="#8a8a8a", linewidth=0.6)
axes.set_xlabel("x")
axes.legend(fontsize=8)
plt.show()
for low, high in ((-2.0, -1.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 2.0)):  # the same in words
    part = (low <= x) & (x <= high)
    steep, wrong = slope(x)[part].abs().max(), harm[part].max()
    print(f"{low:4} to {high:4}: slope up to {steep:.2f}, error up to {wrong:.4f}")

# %% proof=true
torch.testing.assert_close(slope(x), true_slope(wave, x))
bend = derivative(slope)  # the slope of the slope
torch.testing.assert_close(bend(x), true_slope(slope, x))
most = slope(x).abs() * step / 2  # an input is wrong by half a step at most
assert (harm <= most + bend(x).abs().max() * step**2 / 8).all()

# %% [markdown]
# The error is at most the slope times half a step, plus a small rest that the slope of the slope bounds.
# The most harm is around 0, where the wave is steepest. Near -2 and 2 a coarser grid would do.
# And the slope is a graph of `exp`, `sin`, `cos` and arithmetic. The chip can run that.

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (6 minutes)
#
# ### A name that fits by chance
#
# A pasted node that reads a parameter keeps its short name, and the model has a parameter of that name itself.
# No error, and `lint` says nothing:


# %%
class Namesake(Machine):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.zeros(4))


namesake = Namesake()
graph = fx.Graph()
for node in fx.Tracer().trace(namesake.parts[1]).nodes:
    if node.op == "get_attr":
        graph.output(graph.node_copy(node))  # wrong: still called "gain"
broken = fx.GraphModule(namesake, graph)
broken.graph.lint()
broken()

# %% proof=true
assert broken() is namesake.gain  # zeros, and not the ones of `parts.1.gain`

# %% [markdown]
# **Right:** give the copy its qualified name, `f"parts.1.{node.target}"`. Try your function on a model with namesakes.
#
# ### Pasted once, called twice
#
# "The same submodule gives the same nodes." It does not: each call has arguments of its own.


# %%
class TwoCalls(nn.Module):
    def __init__(self):
        super().__init__()
        self.shrink = Shrink()

    def forward(self, x, y):
        return self.shrink(x) - self.shrink(y)


class KeepShrink(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, Shrink) or super().is_leaf_module(m, module_qualified_name)


def pasted_once(model: TwoCalls) -> fx.GraphModule:
    inner = fx.symbolic_trace(model.shrink).graph
    graph, env, pasted = fx.Graph(), {}, {}
    for node in KeepShrink().trace(model).nodes:
        if node.op != "call_module":
            env[node] = graph.node_copy(node, env.__getitem__)
            continue
        if node.target not in pasted:  # wrong: this asks for the module, not for the call
            inside = dict(zip(inner.find_nodes(op="placeholder"), [env[node.args[0]]], strict=True))
            pasted[node.target] = graph.graph_copy(inner, inside)
        env[node] = pasted[node.target]
    return fx.GraphModule(model, graph)


two_calls = TwoCalls()
broken = pasted_once(two_calls)
print(broken.code)

# %% proof=true
x, y = torch.zeros(3), torch.ones(3)
assert torch.equal(broken(x, y), torch.zeros(3))  # shrink(x) - shrink(x)
assert not torch.equal(two_calls(x, y), torch.zeros(3))

# %% [markdown]
# **Right:** copy the submodule's graph once for each *call*, with a new dictionary each time.
#
# ### A product of a value with itself
#
# `node.all_input_nodes` has each node **once**. For `s * s` it is a list of one, and half of the product rule is lost.


# %%
def sine_squared(x):
    s = torch.sin(x)
    return s * s


_, s, product, _ = fx.symbolic_trace(sine_squared).graph.nodes
print(product.args, product.all_input_nodes)

# %% proof=true
assert product.args == (s, s) and product.all_input_nodes == [s]

# %% [markdown]
# **Right:** go through `node.args`, not through `all_input_nodes`. (The same holds for `node.users`.)
#
# ### A number as the result
#
# The slope of `3 * x` is the number 3. An output node accepts it, and `lint` does, too:

# %%
graph = fx.Graph()
graph.placeholder("x")
graph.output(3)
broken = fx.GraphModule(nn.Module(), graph)
broken.graph.lint()
print(broken(torch.ones(4)))  # a number, and not four of them
with fails(AttributeError):
    broken(torch.ones(4)).shape

# %% proof=true
assert broken(torch.ones(4)) == 3

# %% [markdown]
# **Right:** `torch.full_like(parameter, 3)`. And ask for this case at the very end, when it is known what the result is.

# %% [markdown]
# ## Recap
#
# 1. To paste a graph, copy its nodes. Its placeholders are not copied: each becomes an argument of the call, or its default.
# 2. A name inside a submodule is short. In the whole model it needs the path in front. The parameters stay the model's own.
# 3. The new value of an old node may be anything: a node, a number, a tuple of nodes, or a value together with its slope.
# 4. Start with the pairs for the parameter and for numbers. A rule for each operation gives all others.
# 5. A number has no shape. If the result is one, fill a tensor with it.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `graph.node_copy(node, f)` | a copy of a node of another graph; `f` says what it reads |
# | `graph.graph_copy(other, values)` | copies all nodes of `other` except those in `values`, and returns the value of its output |
# | `map_arg(args, f)` | puts `f(n)` in place of each node, however deep |
# | `def is_leaf_module(self, m, module_qualified_name)` | of a Tracer: whether the call of `m` is one node |
# | `module.get_submodule(path)`, `get_parameter(path)` | a part by its qualified name; `AttributeError` if there is none |
# | `copied.target = f"{path}.{name}"` | another name for what a node calls or reads |
# | `torch.full_like(parameter, number)` | the number as a tensor, with the shape and dtype of `parameter` |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | retracing as a class: `fx.Transformer` runs a graph on Proxies | chapter 6 |
# | the opposite of pasting: cutting a model in two | the deep dive `07b_cutting` |
# | tracers of your own | chapter 8 |
# | derivatives in PyTorch's own graphs: forward and backward of `torch.compile` | chapter 11 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), the reference of `torch.fx.Graph.node_copy`,
# `torch.fx.Graph.graph_copy` and `torch.fx.Tracer.is_leaf_module`.
# On derivatives and batches of functions: [torch.func](https://docs.pytorch.org/docs/stable/func.html).
# (`GraphAppendingTracer` is in `torch.fx.proxy`, `map_arg` in `torch.fx.node`; `graph.find_nodes` is not promised to stay as it is.)
