# %% [markdown]
# # 6 · Interpreter and Transformer
#
# **After this chapter you can run a graph your own way: with your code before, after, or in place of every operation.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, the six kinds of node, passes; chapter 5 for section 6.8 |
# | **Time** | about 120 minutes, 80 of them for the exercises |
#
# **When you are done, you can**
#
# 1. run a graph node by node, and say which of the six handlers runs a given node;
# 2. change what an operation does without a change to the graph;
# 3. say which arguments `run` accepts, and when a value is freed;
# 4. record the shape of every value, however deeply it is nested;
# 5. measure the time of each node and show it in a chart that a person can read;
# 6. count floating-point operations, and compare your count with PyTorch's;
# 7. find the operation in which a NaN or an infinity begins;
# 8. write a pass as a `Transformer`, and say what it does to `node.meta`.

# %% [markdown]
# ## A story
#
# A model has run for weeks without a fault.
# Now one client gets NaN, and another one complains that it is slow.
# The source code belongs to another team, so you cannot put `print` into it.
# Forward hooks show you the modules, but the fault is in a `softmax` between two modules, and that is no module.
#
# A graph knows every operation.
# In this chapter you do not edit the graph.
# You run it, one node after the other, and look at each value as it passes.

# %%
import math
import operator
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.node import map_arg
from torch.fx.passes.shape_prop import ShapeProp
from torch.utils.flop_counter import FlopCounterMode
from torchvision.models import resnet18

from autograder import check, draw, hint, progress

torch.manual_seed(6)
print(torch.__version__)

# %% [markdown]
# ## 6.1 A graph can be run (5 minutes)
#
# A graph is a list of steps in the order of execution.
# So a loop over its nodes can run it.
# Keep the value of each node in a dictionary, and look up what the next node reads.
# `map_arg(args, f)` replaces each node in `args` by `f(node)`, however deeply it is nested.


# %%
def run_graph(gm: fx.GraphModule, *args: Any) -> Any:
    """Run the graph of `gm`, one node after the other."""
    inputs, env = iter(args), {}
    for node in gm.graph.nodes:
        a, k = map_arg((node.args, node.kwargs), env.__getitem__)
        if node.op == "placeholder":
            value = next(inputs)
        elif node.op == "get_attr":
            value = operator.attrgetter(node.target)(gm)
        elif node.op == "call_function":
            value = node.target(*a, **k)
        elif node.op == "call_method":
            value = getattr(a[0], node.target)(*a[1:], **k)
        elif node.op == "call_module":
            value = gm.get_submodule(node.target)(*a, **k)
        else:  # output
            return a[0]
        env[node] = value


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(4))
        self.proj = nn.Linear(4, 3)

    def forward(self, x, scale=2.0):
        hidden = torch.relu(self.proj(x * self.weight))
        return (hidden * scale).softmax(dim=-1)


scorer = fx.symbolic_trace(Scorer())
x = torch.randn(2, 4)
torch.testing.assert_close(run_graph(scorer, x, 2.0), scorer(x))
draw(scorer)

# %% [markdown]
# These twenty lines are the whole idea of this chapter.
# `fx.Interpreter` is the same loop, written so that you can change each part of it.

# %%
torch.testing.assert_close(fx.Interpreter(scorer).run(x), scorer(x))

# %% [markdown]
# It runs the **graph**. Calling the module runs the **code** that was generated from the graph.
#
# **Predict the result.** You edit a graph and forget `recompile()`. What do the two give?
#
# ```python
# gm = fx.symbolic_trace(lambda x: torch.sin(x))
# ...                                   # the target becomes torch.cos
# gm(torch.zeros(1)), fx.Interpreter(gm).run(torch.zeros(1))
# ```
#
# <details><summary>0 and 0: both are stale.</summary>
#
# No. Only the code is stale. An Interpreter does not look at the code.
# </details>
# <details><summary>0 and 1: the call is stale, the Interpreter is not.</summary>
#
# Right. So a test that only uses an Interpreter misses a forgotten <code>recompile()</code>, and a test that only calls the module misses arguments that an Interpreter refuses. The checks of this course try both.
# </details>
# <details><summary>1 and 1: both see the edit.</summary>
#
# No. The module runs Python code that was generated before the edit.
# </details>


# %%
def f(x):
    return torch.sin(x)


gm = fx.symbolic_trace(f)
for node in gm.graph.nodes:
    if node.target is torch.sin:
        node.target = torch.cos

zero = torch.zeros(1)
assert gm(zero).item() == 0.0
assert fx.Interpreter(gm).run(zero).item() == 1.0

# %% [markdown]
# ## 6.2 Six handlers (10 minutes)
#
# An Interpreter has one method for each opcode.
# Each receives the node's target and its arguments, in which every node is already replaced by its **value**.
#
# | handler | what it does |
# |---|---|
# | `placeholder(target, args, kwargs)` | takes the next argument of `run` |
# | `get_attr(target, args, kwargs)` | reads the parameter or buffer of that path |
# | `call_function(target, args, kwargs)` | `target(*args, **kwargs)` |
# | `call_method(target, args, kwargs)` | `getattr(args[0], target)(*args[1:], **kwargs)` |
# | `call_module(target, args, kwargs)` | calls the submodule of that path |
# | `output(target, args, kwargs)` | returns `args[0]` |
#
# The graph stays as it is. To change what happens, make a subclass and override a handler.


# %%
class SinToCos(fx.Interpreter):
    """Runs a graph in which every call of the function `torch.sin` is one of `torch.cos`."""

    def call_function(self, target, args, kwargs):
        if target is torch.sin:
            target = torch.cos
        return super().call_function(target, args, kwargs)


def wave(x):
    return torch.sin(x) + torch.tanh(torch.sin(input=x)) + x.sin()


gm = fx.symbolic_trace(wave)
x = torch.randn(3)
expected = torch.cos(x) + torch.tanh(torch.cos(x)) + torch.sin(x)
torch.testing.assert_close(SinToCos(gm).run(x), expected)
torch.testing.assert_close(gm(x), wave(x))  # the module is as it was

# %% [markdown]
# Three details:
#
# * The last line of the handler hands everything else to `super()`. Every node of its kind passes through it.
# * The keyword call `torch.sin(input=x)` works without extra care, because `kwargs` is handed on.
# * `x.sin()` is a method call. It goes to another handler, with the *string* `"sin"` as its target.
#
# A handler may also only watch. This one writes a log, and changes nothing:


# %%
class CallLog(fx.Interpreter):
    """Prints each function that is called, and the shape of what comes back."""

    def call_function(self, target, args, kwargs):
        value = super().call_function(target, args, kwargs)
        shape = tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
        print(f"{target.__name__:8} gives {shape}")
        return value


result = CallLog(scorer).run(torch.randn(2, 4))
assert result.shape == (2, 3)

# %% [markdown]
# `softmax` is missing in the log. It was written as a method, so `call_method` ran it. `proj` is a module.
#
# **Predict the result.** The handler has lost its last line. What does the run of `wave` give?
#
# ```python
# class SinToCosOnly(fx.Interpreter):
#     def call_function(self, target, args, kwargs):
#         if target is torch.sin:
#             return torch.cos(*args, **kwargs)
# ```
#
# <details><summary>The same as before.</summary>
#
# No. The function <code>tanh</code> reaches this handler, too, and so do both additions.
# </details>
# <details><summary>An error in <code>tanh</code>.</summary>
#
# No. <code>tanh</code> is never called. A Python function without <code>return</code> gives <code>None</code>, and that becomes the value of the node.
# </details>
# <details><summary><code>None</code>, without any error.</summary>
#
# Right. The last addition is "run" by the same handler, so its value is <code>None</code>, whatever went in. Nothing complains.
# </details>


# %%
class SinToCosOnly(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        if target is torch.sin:
            return torch.cos(*args, **kwargs)


assert SinToCosOnly(gm).run(x) is None

# %% [markdown] card="NegSigmSwap"
# **Given** a graph module, to the constructor that every Interpreter has.
#
# **Write** the class `NegSigmSwap`. Its `run` computes what the graph computes, but with `neg` and `sigmoid` exchanged:
# where the graph negates, the run takes the sigmoid, and the reverse.
# This holds for the functions `torch.neg` and `torch.sigmoid`, and for the methods `x.neg()` and `x.sigmoid()`.
# Every other operation runs as it is, an `nn.Sigmoid` module too.
#
# (The operator `-x`, `torch.negative`, and in-place forms are not tried.)
#
# **Do not** change the graph module you were given.


# %%
class Before(nn.Module):
    def forward(self, x, y):
        return torch.relu(torch.sigmoid(x) + y).neg()


class After(nn.Module):
    def forward(self, x, y):
        return torch.relu(torch.neg(x) + y).sigmoid()


# What NegSigmSwap(before) runs when it is given the left graph:
draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="NegSigmSwap"
class NegSigmSwap(fx.Interpreter):
    """Runs a graph with `neg` and `sigmoid` exchanged, as functions and as methods."""

    def call_function(self, target: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
        """Run a `call_function` node; `args` and `kwargs` hold values."""
        ### BEGIN SOLUTION
        swapped = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
        # Whatever is not in the table runs as it is.
        return super().call_function(swapped.get(target, target), args, kwargs)
        ### END SOLUTION

    def call_method(self, target: str, args: tuple, kwargs: dict) -> Any:
        """Run a `call_method` node; `args[0]` is the object whose method is called."""
        ### BEGIN SOLUTION
        swapped = {"neg": "sigmoid", "sigmoid": "neg"}
        return super().call_method(swapped.get(target, target), args, kwargs)
        ### END SOLUTION


# %% check="NegSigmSwap"
check(NegSigmSwap)

# %% hint="NegSigmSwap"
hint("NegSigmSwap")

# %% [markdown]
# ## 6.3 `run`, `run_node` and `env` (5 minutes)
#
# Handlers see a target, but not the node. One method sees the node itself:
#
# ```text
# run(*args)                    the loop over all nodes
#  └── run_node(n)              one node: looks up its arguments, then calls …
#       ├── placeholder
#       ├── get_attr
#       ├── call_function
#       ├── call_method
#       ├── call_module
#       └── output
# ```
#
# `run_node(n)` returns the value of node `n`. Every node passes through it, whatever its opcode.
# So it is the place for all that concerns *values*, or the *names* of nodes.


# %%
class Watch(fx.Interpreter):
    """Prints the name and the value's type of every node."""

    def run_node(self, n):
        value = super().run_node(n)
        print(f"{n.op:14} {n.name:9} {type(value).__name__}")
        return value


x = torch.randn(2, 4)
result = Watch(scorer).run(x)
torch.testing.assert_close(result, scorer(x))

# %% [markdown]
# ### Arguments
#
# `run` takes **positional** arguments, and gives them to the placeholders in order.
# A default is used where no argument is left. `*args` gets all that is left, as a list.


# %%
def g(x, scale=2.0, *rest):
    return x * scale, rest


gm = fx.symbolic_trace(g)
one = torch.ones(1)
assert fx.Interpreter(gm).run(one) == (one * 2, [])
assert fx.Interpreter(gm).run(one, 3.0, "a", "b") == (one * 3, ["a", "b"])

# %% raises="RuntimeError"
fx.Interpreter(gm).run()  # Expected positional argument for parameter x

# %% raises="TypeError"
fx.Interpreter(gm).run(one, scale=3.0)  # keywords are not accepted

# %% [markdown]
# One trap: arguments that no placeholder takes are ignored. The call of the module would raise a `TypeError`.

# %%
assert fx.Interpreter(scorer).run(x, 2.0, "one too many").shape == (2, 3)

# %% [markdown]
# ### The environment, and who cleans it up
#
# The values live in the dictionary `env`, with nodes as keys.
# After its last reader has run, a value is deleted, so that its memory can be used again.
# After a run, only the value of the output is left:

# %%
interpreter = fx.Interpreter(scorer)
interpreter.run(x)
print([node.name for node in interpreter.env])
assert [node.op for node in interpreter.env] == ["output"]

# %% [markdown]
# With `garbage_collect_values=False` all values stay, and you can look at them afterwards.
# What does that cost? This Interpreter notes how many values are alive at the same time.


# %%
class Peak(fx.Interpreter):
    """Notes the largest number of values that were held at one time."""

    peak = 0

    def run_node(self, n):
        value = super().run_node(n)
        self.peak = max(self.peak, len(self.env) + 1)  # with this one, not yet in `env`
        return value


resnet = fx.symbolic_trace(resnet18(num_classes=10).eval())
image = torch.randn(1, 3, 64, 64)
tidy, hoarder = Peak(resnet), Peak(resnet, garbage_collect_values=False)
with torch.no_grad():
    torch.testing.assert_close(tidy.run(image), hoarder.run(image))
print(f"{len(resnet.graph.nodes)} nodes; at most {tidy.peak} values alive, or all {hoarder.peak}")
assert hoarder.peak == len(resnet.graph.nodes) and tidy.peak <= 4

# %% [markdown]
# ### Start in the middle
#
# `run(..., initial_env={node: value})` begins with some values already there. These nodes do not run.
# So you can ask: *what would the result be if this value were different?*


# %%
def node_called(gm: fx.GraphModule, name: str) -> fx.Node:
    """The node of that name."""
    return next(node for node in gm.graph.nodes if node.name == name)


relu = node_called(scorer, "relu")
silent = {relu: torch.zeros(2, 3)}
result = fx.Interpreter(scorer).run(x, initial_env=silent)
torch.testing.assert_close(result, torch.full((2, 3), 1 / 3))  # the softmax of zeros

# %% [markdown]
# The dictionary that you hand over **becomes** `env`: values are added to it, and deleted.
# So make a new one for each run.

# %%
print([node.name for node in silent])
assert relu not in silent  # deleted after its last reader, like any other value

# %% [markdown]
# **Predict the result.** In the run above, `proj` is read by `relu` only. Did `proj` run?
#
# <details><summary>No: nothing needs its value.</summary>
#
# The value is not needed, but an Interpreter does not ask who needs a value. It runs every node that has no value yet.
# </details>
# <details><summary>Yes: only <code>relu</code> itself is skipped.</summary>
#
# Right. To skip what is not needed any more, make a copy of the graph and delete it there: that is a pass, chapter 3.
# </details>


# %%
class Ran(fx.Interpreter):
    def run(self, *args, **options):
        self.names = []
        return super().run(*args, **options)

    def run_node(self, n):
        self.names.append(n.name)
        return super().run_node(n)


ran = Ran(scorer)
ran.run(x, initial_env={relu: torch.zeros(2, 3)})
assert "proj" in ran.names and "relu" not in ran.names

# %% [markdown]
# ## 6.4 Shapes (20 minutes)
#
# A trace has no shapes: it holds for inputs of many shapes. One run with a sample input tells you those of that run.
# This is **shape propagation**, and you find the following class for it in several tutorials.
# Read it, and look for what it forgets. There are four faults.


# %%
class TutorialShapeProp:
    def __init__(self, mod):
        self.mod, self.graph = mod, mod.graph
        self.modules = dict(mod.named_modules())

    def fetch_attr(self, target):
        atoms, value = target.split("."), self.mod
        for i, atom in enumerate(atoms):
            if not hasattr(value, atom):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(atoms[:i])}")
            value = getattr(value, atom)
        return value

    def propagate(self, *args):
        inputs, env = iter(args), {}
        for node in self.graph.nodes:
            a, k = map_arg((node.args, node.kwargs), lambda n: env[n.name])
            if node.op == "placeholder":
                result = next(inputs)
            elif node.op == "get_attr":
                result = self.fetch_attr(node.target)
            elif node.op == "call_function":
                result = node.target(*a, **k)
            elif node.op == "call_method":
                result = getattr(a[0], node.target)(*a[1:], **k)
            elif node.op == "call_module":
                result = self.modules[node.target](*a, **k)
            if isinstance(result, torch.Tensor):
                node.shape = result.shape
            env[node.name] = result
        return {node.name: tuple(node.shape) for node in self.graph.nodes}


class OneLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 5)

    def forward(self, x):
        return self.linear(x).clamp(min=0.0, max=1.0)


print(TutorialShapeProp(fx.symbolic_trace(OneLayer())).propagate(torch.randn(3, 4)))

# %% [markdown]
# On this model it works. Now the faults, one after the other.
#
# **1. There is no branch for `output`.** The variable `result` still holds the value of the node before.
# This function returns its argument, of shape `(3, 4)`. The last node computes a sum:


# %%
def returns_early(x):
    torch.sum(x)
    return x


shapes = TutorialShapeProp(fx.symbolic_trace(returns_early)).propagate(torch.randn(3, 4))
print(shapes)
assert shapes["output"] == ()  # it should be (3, 4)

# %% [markdown]
# **2. A value that is no tensor has no shape.** A tuple, a list, an `int`: the node gets no attribute, and the last line fails.


# %%
def two_parts(x):
    a, b = torch.chunk(x, 2)
    return a + b


# %% raises="AttributeError"
TutorialShapeProp(fx.symbolic_trace(two_parts)).propagate(torch.randn(4, 2))

# %% [markdown]
# **3. `next(inputs)` knows no defaults.** `scale` has one, so one argument should do:

# %% raises="StopIteration"
TutorialShapeProp(scorer).propagate(torch.randn(2, 4))

# %% [markdown]
# **4. The error message names the wrong target.** `atoms[:i]` ends *before* the name that was not found:

# %%
broken = fx.symbolic_trace(Scorer())
del broken.weight
try:
    TutorialShapeProp(broken).propagate(torch.randn(2, 4), 2.0)
except RuntimeError as error:
    print(repr(str(error)))
    assert str(error).endswith("nonexistent target ")  # and no name at all

# %% [markdown]
# Each of the four was mended long ago, in `fx.Interpreter`.
# It has a handler for the output, its placeholders know defaults and `*args`, and its message says `atoms[: i + 1]`.
# What is left for you is the one line about shapes. (A node's own notes belong into `node.meta`, not into new attributes.)


# %%
class NoteShapes(fx.Interpreter):
    """Writes the shape of every tensor into `node.meta`, and `None` for anything else."""

    def run_node(self, n):
        value = super().run_node(n)
        n.meta["shape"] = tuple(value.shape) if isinstance(value, torch.Tensor) else None
        return value


def shapes_of(gm: fx.GraphModule, *args: Any) -> dict[str, Any]:
    """The noted shape of each node, by name."""
    NoteShapes(gm).run(*args)
    return {node.name: node.meta["shape"] for node in gm.graph.nodes}


assert shapes_of(fx.symbolic_trace(returns_early), torch.randn(3, 4))["output"] == (3, 4)
assert shapes_of(fx.symbolic_trace(two_parts), torch.randn(4, 2))["chunk"] is None
assert shapes_of(fx.symbolic_trace(Scorer()), torch.randn(2, 4))["softmax"] == (2, 3)

# %% raises="RuntimeError"
fx.Interpreter(broken).run(torch.randn(2, 4))  # Node referenced nonexistent target weight

# %% [markdown]
# PyTorch has this class, too. `ShapeProp` notes a `TensorMetadata` with shape, dtype, stride and more
# under `node.meta["tensor_meta"]`. Where the value is a tuple or a list, the note has the same nesting.

# %%
gm = fx.symbolic_trace(two_parts)
ShapeProp(gm).propagate(torch.randn(4, 2))
for node in gm.graph.nodes:
    note = node.meta["tensor_meta"]
    parts = note if node.name == "chunk" else (note,)
    print(f"{node.name:10}", [(tuple(part.shape), part.dtype) for part in parts])
    assert all(isinstance(part.shape, torch.Size) for part in parts)

# %% [markdown]
# Where a value has no tensor in it at all, `tensor_meta` is missing. `node.meta["type"]` is always there.


# %%
def rows(x):
    return x.size(0)


gm = fx.symbolic_trace(rows)
ShapeProp(gm).propagate(torch.randn(4, 2))
size = node_called(gm, "size")
assert "tensor_meta" not in size.meta and size.meta["type"] is int

# %% [markdown]
# **Predict the value.** What is the class of the list that a run hands to `output`?
#
# ```python
# def f(x):
#     return [x, x + 1]
# ```
#
# <details><summary><code>list</code></summary>
#
# Nearly. It is a subclass, so `isinstance(value, list)` holds, but `type(value) is list` does not.
# </details>
# <details><summary>A class of FX's own, made from <code>list</code></summary>
#
# Right, an `immutable_list`. The arguments of a node cannot be edited in place, and replacing nodes by values keeps their class. Dictionaries are treated in the same way. So ask with `isinstance`.
# </details>


# %%
def f(x):
    return [x, x + 1]


value = fx.Interpreter(fx.symbolic_trace(f)).run(torch.ones(1))
print(type(value))
assert isinstance(value, list) and type(value) is not list

# %% [markdown] card="record_shapes"
# **Given** a model and the inputs for one call of it.
#
# **Return** a dictionary with an entry for **every** node of the trace, the output too.
# The key is the node's name, and the value is the shape of what the node gave in a run with these inputs:
#
# * for a tensor, a tuple such as `(2, 3)`, which is `()` for a tensor without dimensions;
# * for a list, a tuple or a dictionary, the same with the shapes of its items in their places, however deeply nested;
# * for anything else, `None`.
#
# Default arguments and `*args` work. (Values that are a `torch.Size` are not tried.)


# %%
class Example(nn.Module):
    def forward(self, x, scale=2.0):
        top = torch.topk(x, 2)
        return {"best": top[0] * scale, "rows": x.size(0)}


# What is asked of record_shapes(Example(), torch.randn(4, 3)):
expected = {
    "x": (4, 3),
    "scale": None,
    "topk": ((4, 2), (4, 2)),  # the values and their places
    "getitem": (4, 2),
    "mul": (4, 2),
    "size": None,
    "output": {"best": (4, 2), "rows": None},
}
assert list(expected) == [node.name for node in fx.symbolic_trace(Example()).graph.nodes]
draw(fx.symbolic_trace(Example()))


# %% solve="record_shapes"
def record_shapes(model: nn.Module, *inputs: Any) -> dict[str, object]:
    """The shape of every node's value in one run of the traced model.

    Args:
        model: the module to trace; it is not changed.
        inputs: the arguments of its `forward`, by position.

    Returns:
        For each node's name: a tuple for a tensor, the same nesting for lists, tuples and
        dictionaries, `None` for anything else.
    """
    ### BEGIN SOLUTION
    shapes: dict[str, object] = {}

    def shape_of(value: Any) -> object:
        if isinstance(value, torch.Tensor):
            return tuple(value.shape)
        if isinstance(value, dict):
            return {key: shape_of(item) for key, item in value.items()}
        if isinstance(value, list):
            return [shape_of(item) for item in value]
        if isinstance(value, tuple):  # named tuples, such as that of `topk`, too
            return tuple(shape_of(item) for item in value)
        return None

    class Recorder(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            value = super().run_node(n)
            shapes[n.name] = shape_of(value)
            return value

    Recorder(fx.symbolic_trace(model)).run(*inputs)
    return shapes
    ### END SOLUTION


# %% check="record_shapes"
check(record_shapes)

# %% hint="record_shapes"
hint("record_shapes")

# %% [markdown]
# For large models there is a way without any computing: with *fake tensors*, which have a shape and a dtype but no numbers.
# `torch.fx.passes.fake_tensor_prop.FakeTensorProp` is an Interpreter that uses them.
# `torch.export` and `torch.compile` find all their shapes in this way.

# %% [markdown]
# ## 6.5 Time (20 minutes)
#
# Where does a model spend its time?
# Read a clock before and after each node. `time.perf_counter()` is the clock for that.
# This Interpreter adds up the time of all nodes *of one kind*: modules by their class, the rest by their target.


# %%
class KindTimer(fx.Interpreter):
    """Adds up seconds by kind of operation, over all runs."""

    def __init__(self, module):
        super().__init__(module)
        self.seconds = Counter()

    def run_node(self, n):
        start = time.perf_counter()
        value = super().run_node(n)
        self.seconds[self.kind_of(n)] += time.perf_counter() - start
        return value

    def kind_of(self, n):
        if n.op == "call_module":
            return type(self.fetch_attr(n.target)).__name__
        return getattr(n.target, "__name__", n.target)


# %% [markdown]
# Two rules for measuring. **Warm up:** the first run pays for memory and for choices that later runs reuse.
# **Repeat:** one run says little, the machine does other things, too.

# %%
timer = KindTimer(resnet)
with torch.no_grad():
    timer.run(image)  # the warm-up
    timer.seconds.clear()
    for _ in range(5):
        timer.run(image)

# %% [markdown]
# A list of numbers is hard to read. A bar chart, sorted, with the shares written beside the bars, is not.

# %%
total = sum(timer.seconds.values())
kinds = [(kind, seconds) for kind, seconds in timer.seconds.most_common() if seconds > total / 500]
labels, values = zip(*reversed(kinds), strict=True)

figure, axes = plt.subplots(figsize=(7, 0.45 * len(kinds) + 1))
bars = axes.barh(labels, [1000 * seconds / 5 for seconds in values], color="#3b6ea5")
axes.bar_label(bars, [f"{seconds / total:.1%}" for seconds in values], padding=4)
axes.set_xlabel("milliseconds per run (mean of 5)")
axes.set_title("ResNet-18, one image of 64 × 64: time by kind of operation")
axes.spines[["top", "right"]].set_visible(False)
axes.margins(x=0.12)
figure.tight_layout()
plt.show()

# %% [markdown]
# The same as text, for those who cannot see the picture:

# %%
for kind, seconds in kinds:
    print(f"{kind:18} {1000 * seconds / 5:7.2f} ms  {seconds / total:5.1%}")

# %% [markdown]
# Convolutions take most of the time, on nearly every machine.
# Your numbers differ from run to run. That is why no exercise of this course grades speed.
#
# What such times do *not* say:
#
# * An Interpreter adds some microseconds of its own to each node. For tiny operations that is most of what you see.
# * On a GPU a call returns before the work is done. Call `torch.cuda.synchronize()` before you read the clock.
# * `torch.compile` merges operations. Its time cannot be split by the nodes of this graph.
#
# **Predict the keys.** A model calls `torch.relu` in two places. How many entries does `KindTimer` have for them, and how many nodes are there?
#
# <details><summary>Two entries, two nodes.</summary>
#
# No. The entry is named after the target, and both nodes have the same one.
# </details>
# <details><summary>One entry, two nodes.</summary>
#
# Right. Times of one target are added up. To keep nodes apart, use <code>n.name</code>: names are unique in a graph.
# </details>


# %%
def twice(x):
    return torch.relu(torch.relu(x) - 1)


timer = KindTimer(fx.symbolic_trace(twice))
timer.run(torch.randn(3))
assert list(timer.seconds) == ["x", "relu", "sub", "output"]

# %% [markdown] card="OpTimer"
# **Given** a graph module, to the constructor.
#
# **Write** the class `OpTimer`. It runs the graph as an Interpreter does, with the same result, and has
#
# * `seconds: dict[str, float]`: the time spent in each node, by the node's **name**, in seconds, whether the processor works or waits;
# * `calls: dict[str, int]`: how often each node has run;
# * `slowest(n) -> list[str]`: the names of the `n` nodes (or fewer, if there are not so many) with the most time spent, longest first.
#
# Both dictionaries hold every `call_*` node that has run, and sum over all runs of this timer.
# Whether the other kinds of node are there is up to you.
#
# An operation that raises is not counted: neither its call nor its time. Its error passes through as it is.
# Two timers know nothing of each other. Nobody checks how fast anything is.


# %%
class Example(nn.Module):
    def forward(self, x):
        return torch.relu(torch.relu(x) - 1).sum()


# After two runs of this graph, `calls` is
expected = {"relu": 2, "sub": 2, "relu_1": 2, "sum_1": 2}
draw(fx.symbolic_trace(Example()))


# %% solve="OpTimer"
class OpTimer(fx.Interpreter):
    """Runs a graph and adds up the time spent in each node.

    Attributes:
        seconds: time spent by name of node, summed over runs.
        calls: how often each node has run.
    """

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}

    def run_node(self, n: fx.Node) -> Any:
        """Run one node; note its time if it is a call."""
        ### BEGIN SOLUTION
        if not n.op.startswith("call_"):
            return super().run_node(n)
        start = time.perf_counter()
        value = super().run_node(n)  # if this raises, nothing below is reached
        spent = time.perf_counter() - start
        self.seconds[n.name] = self.seconds.get(n.name, 0.0) + spent
        self.calls[n.name] = self.calls.get(n.name, 0) + 1
        return value
        ### END SOLUTION

    def slowest(self, n: int) -> list[str]:
        """The names of the `n` nodes with the most time spent, longest first."""
        ### BEGIN SOLUTION
        return sorted(self.seconds, key=self.seconds.__getitem__, reverse=True)[:n]
        ### END SOLUTION


# %% check="OpTimer"
check(OpTimer)

# %% hint="OpTimer"
hint("OpTimer")

# %% [markdown]
# ## 6.6 Floating-point operations (25 minutes)
#
# Time depends on the machine. The number of **floating-point operations** (FLOPs) does not.
# It is counted from shapes, with one convention: a multiplication and the addition that follows are *two* operations.
#
# Take a matrix of shape `(n, k)` times one of shape `(k, m)`.
# The result has `n · m` numbers. Each of them is a sum of `k` products: `k` multiplications and `k` additions.
# So the product costs `2 · n · m · k`.
#
# PyTorch counts in the same way. Its counter watches the operators that really run:

# %%
with FlopCounterMode(display=False) as counter:
    torch.randn(3, 4) @ torch.randn(4, 5)
assert counter.get_total_flops() == 2 * 3 * 5 * 4

with FlopCounterMode(display=False) as counter, torch.no_grad():
    nn.Linear(4, 5)(torch.randn(3, 4))  # the same product; the bias is not counted
assert counter.get_total_flops() == 2 * 3 * 5 * 4

# %% [markdown]
# It leaves out what is cheap: biases, activations, norms, sums. In most networks they are a few percent.
#
# To count in an Interpreter, you need the shapes of operands and results. A handler has both.
# It has them as *values*, but an operand may come by position or by keyword. A small helper finds it:


# %%
def operand(args: tuple, kwargs: dict, position: int, name: str) -> Any:
    """The argument that stands at a position or under a name."""
    return args[position] if position < len(args) else kwargs[name]


class OuterProducts(fx.Interpreter):
    """Counts the multiplications in `torch.outer(a, b)` and `a.outer(b)`: one for each pair."""

    total = 0

    def call_function(self, target, args, kwargs):
        if target is torch.outer:
            self.count(operand(args, kwargs, 0, "input"), operand(args, kwargs, 1, "vec2"))
        return super().call_function(target, args, kwargs)

    def call_method(self, target, args, kwargs):
        if target == "outer":
            self.count(args[0], operand(args, kwargs, 1, "vec2"))
        return super().call_method(target, args, kwargs)

    def count(self, a, b):
        self.total += a.numel() * b.numel()


def outers(a, b):
    return torch.outer(a, b) + torch.outer(vec2=b, input=a) + a.outer(b)


counter = OuterProducts(fx.symbolic_trace(outers))
counter.run(torch.randn(2), torch.randn(5))
assert counter.total == 3 * 2 * 5

# %% [markdown]
# Modules come through `call_module`. There `self.fetch_attr(target)` gives you the module, and with it the weight.
#
# A convolution is a sum of products as well. How many products go into *one* number of its result?
# One for each weight of one output channel: the input channels of its group times the size of the kernel.
#
# **Predict the count.** `nn.Conv2d(4, 6, 3)` costs a certain number of operations on some image. What does `nn.Conv2d(4, 6, 3, groups=2)` cost?
#
# <details><summary>The same: the result has the same shape.</summary>
#
# No. The result has as many numbers, but fewer products go into each.
# </details>
# <details><summary>Half of it.</summary>
#
# Right. With two groups, each output channel sees only two of the four input channels. Look at the weight: its shape is (6, 2, 3, 3) instead of (6, 4, 3, 3).
# </details>
# <details><summary>Twice as much: it is done for each group.</summary>
#
# No. Each group makes only half of the output channels.
# </details>


# %%
def flops(module: nn.Module, *inputs: torch.Tensor) -> int:
    """What PyTorch's counter says about one call."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*inputs)
    return counter.get_total_flops()


image = torch.randn(1, 4, 8, 8)
full, grouped = nn.Conv2d(4, 6, 3), nn.Conv2d(4, 6, 3, groups=2)
assert flops(full, image) == 2 * (6 * 6 * 6) * (4 * 3 * 3)
assert 2 * flops(grouped, image) == flops(full, image)
assert grouped.weight.shape == (6, 2, 3, 3)

# %% [markdown] card="count_flops"
# **Given** a model and the inputs for one call of it.
#
# **Return** the number of floating-point operations of that call, an `int`. A multiply-add is two. Count
#
# * convolutions of one and two dimensions, with any groups, stride, padding and dilation: `nn.Conv1d`, `nn.Conv2d`, `F.conv1d`, `F.conv2d`; no bias;
# * linear layers: `nn.Linear`, its subclasses, `F.linear`; no bias;
# * products of matrices, or of batches of matrices that may be broadcast: `a @ b`, `torch.matmul`, `torch.mm`, `torch.bmm`, and the methods of these names.
#
# Arguments may be given by keyword. A layer that is called twice counts twice. Everything else counts zero.
# On models made of these operations you agree with `torch.utils.flop_counter`.
#
# So do transposed convolutions, `einsum` and attention, though PyTorch's counter counts them. (Vectors as operands of a
# product are not tried.)


# %%
class Example(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 6, 3)
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        y = torch.relu(self.conv(x))
        return self.head(y.transpose(1, 2) @ y)


x = torch.randn(1, 2, 8)
conv = 2 * (6 * 6) * (2 * 3)  # the result has shape (1, 6, 6)
product = 2 * (6 * 6) * 6  # (1, 6, 6) @ (1, 6, 6)
head = 2 * (6 * 4) * 6  # the result has shape (1, 6, 4)
print("count_flops(Example(), x) is to be", conv + product + head)
assert flops(Example(), x) == conv + product + head
draw(fx.symbolic_trace(Example()))


# %% solve="count_flops"
def count_flops(model: nn.Module, *inputs: Any) -> int:
    """The floating-point operations of one call of `model`; a multiply-add is two.

    Args:
        model: the module to trace; it is not changed.
        inputs: the arguments of its `forward`, by position.
    """
    ### BEGIN SOLUTION
    weighted = {F.linear, F.conv1d, F.conv2d}
    products = {torch.matmul, torch.mm, torch.bmm, operator.matmul}
    layers = (nn.Linear, nn.Conv1d, nn.Conv2d)

    def find(args: tuple, kwargs: dict, position: int, name: str) -> Any:
        return args[position] if position < len(args) else kwargs[name]

    class FlopCounter(fx.Interpreter):
        total = 0

        def weigh(self, result: torch.Tensor, weight: torch.Tensor) -> None:
            # One multiply-add for each number of the result and each weight of one output
            # channel. With groups the weight already holds only the channels of one group.
            self.total += 2 * result.numel() * weight[0].numel()

        def multiply(self, result: torch.Tensor, left: torch.Tensor) -> None:
            # The result has its full, broadcast shape; each number of it is a sum over the
            # inner dimension, the last of the left operand.
            self.total += 2 * result.numel() * left.shape[-1]

        def call_function(self, target: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
            result = super().call_function(target, args, kwargs)
            if target in weighted:
                self.weigh(result, find(args, kwargs, 1, "weight"))
            elif target in products:
                self.multiply(result, find(args, kwargs, 0, "input"))
            return result

        def call_method(self, target: str, args: tuple, kwargs: dict) -> Any:
            result = super().call_method(target, args, kwargs)
            if target in ("matmul", "mm", "bmm", "__matmul__"):
                self.multiply(result, args[0])
            return result

        def call_module(self, target: str, args: tuple, kwargs: dict) -> Any:
            result = super().call_module(target, args, kwargs)
            module = self.fetch_attr(target)
            if isinstance(module, layers):
                self.weigh(result, module.weight)
            return result

    counter = FlopCounter(fx.symbolic_trace(model))
    counter.run(*inputs)
    return counter.total
    ### END SOLUTION


# %% check="count_flops"
check(count_flops)

# %% hint="count_flops"
hint("count_flops")

# %% [markdown]
# PyTorch's counter can show where the operations are, too. This is ResNet-18 on one image of the usual size.
# (Papers say 1.8 billion for it. They count multiply-adds, so each is one.)

# %%
with FlopCounterMode(depth=1, display=False) as counter, torch.no_grad():
    resnet18().eval()(torch.randn(1, 3, 224, 224))
print(counter.get_table(depth=1))
assert 3.6e9 < counter.get_total_flops() < 3.7e9

# %% [markdown]
# ## 6.7 Where a NaN begins (15 minutes)
#
# A NaN spreads: whatever reads it becomes NaN as well. At the end everything is NaN, and nothing tells you where it began.
# Often it does not begin as a NaN either:


# %%
def softmax_by_hand(x):
    powers = torch.exp(x)
    return powers / powers.sum()


scores = torch.tensor([1.0, 2.0, 100.0])
print(softmax_by_hand(scores))
assert softmax_by_hand(scores).isnan().any()

# %% [markdown]
# **Predict the place.** Which node is the first whose value is not finite?
#
# <details><summary>The division: it gives NaN.</summary>
#
# The division is where the *NaN* begins. But it divided infinity by infinity, so the trouble began before.
# </details>
# <details><summary>The sum: it is too large for float32.</summary>
#
# The sum is infinite, because one of its terms is already infinite.
# </details>
# <details><summary><code>exp</code>: it gives infinity.</summary>
#
# Right. The largest float32 is about 3.4e38, and exp(100) is about 2.7e43. Its input is finite and its value is not, so this is the place to mend: subtract the largest score first.
# </details>
#
# An Interpreter can show how the values grow. This one notes the largest absolute value of each tensor.


# %%
class Largest(fx.Interpreter):
    """Notes the largest absolute value of each tensor, by name of node."""

    def __init__(self, module):
        super().__init__(module)
        self.largest = {}

    def run_node(self, n):
        value = super().run_node(n)
        if isinstance(value, torch.Tensor) and value.numel():
            self.largest[n.name] = float(value.abs().max())
        return value


gm = fx.symbolic_trace(softmax_by_hand)
values = Largest(gm)
values.run(scores)
print(values.largest)
assert values.largest["x"] == 100.0 and values.largest["exp"] == float("inf")

# %% [markdown]
# The same for a network that is well. Each residual block adds to what came before, and the norms hold it down.
# A curve that climbs without end would be a warning, long before the first infinity.

# %%
values = Largest(resnet)
with torch.no_grad():
    values.run(torch.randn(1, 3, 64, 64))

figure, axes = plt.subplots(figsize=(7, 3))
axes.plot(list(values.largest.values()), marker=".", color="#3b6ea5")
places = [i for i, name in enumerate(values.largest) if name.startswith("add")]
axes.set_xticks(places, [list(values.largest)[i] for i in places], rotation=60)
axes.set_ylim(bottom=0)
axes.set_xlabel("node, in order of execution (additions are named)")
axes.set_ylabel("largest absolute value")
axes.set_title("ResNet-18 with random weights: how large do the values get?")
axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()
plt.show()
assert max(values.largest.values()) < 1e4

# %% [markdown] card="first_nonfinite"
# **Given** a model and the inputs for one call of it.
#
# **Return** the name of the first node, in the order of execution, whose value has a NaN or an infinity in it,
# while all values that this node reads are finite. `None` if there is no such node.
#
# * Values may be nested: tuples, lists, dictionaries.
# * Integers and booleans are finite, as tensors too. Python floats count as tensors do.
# * An input that is not finite counts as found at its placeholder, a parameter or buffer at its `get_attr` node.
#   Weights inside of a leaf module belong to the call of that module.
#
# In-place operations are not tried.


# %%
class Example(nn.Module):
    def forward(self, x, mask):
        count = mask.sum()
        mean = (x * mask).sum() / count
        return torch.tanh(mean)


# For first_nonfinite(Example(), x, mask) with a mask of zeros, the answer is "truediv".
x, mask = torch.ones(3), torch.zeros(3)
values = Watch(fx.symbolic_trace(Example()))
assert values.run(x, mask).isnan()
draw(fx.symbolic_trace(Example()))


# %% solve="first_nonfinite"
def first_nonfinite(model: nn.Module, *inputs: Any) -> str | None:
    """The name of the node in which a NaN or an infinity begins, or `None`.

    Args:
        model: the module to trace; it is not changed.
        inputs: the arguments of its `forward`, by position.
    """
    ### BEGIN SOLUTION

    def is_finite(value: Any) -> bool:
        if isinstance(value, torch.Tensor):
            return bool(torch.isfinite(value).all())
        if isinstance(value, float):
            return math.isfinite(value)
        if isinstance(value, dict):
            return all(is_finite(item) for item in value.values())
        if isinstance(value, (list, tuple)):
            return all(is_finite(item) for item in value)
        return True

    class Finder(fx.Interpreter):
        found: str | None = None

        def run_node(self, n: fx.Node) -> Any:
            value = super().run_node(n)
            # Up to here every value was finite, so all that this node reads is.
            if self.found is None and not is_finite(value):
                self.found = n.name
            return value

    finder = Finder(fx.symbolic_trace(model))
    finder.run(*inputs)
    return finder.found
    ### END SOLUTION


# %% check="first_nonfinite"
check(first_nonfinite)

# %% hint="first_nonfinite"
hint("first_nonfinite")

# %% [markdown]
# For gradients there is `torch.autograd.detect_anomaly`. It names the forward call whose *backward* gave a NaN.

# %% [markdown]
# ## 6.8 Transformer (20 minutes)
#
# What happens if an Interpreter runs a graph on **Proxies** instead of tensors?
# Each operation then records a node, as in chapter 5, and at the end there is a new graph.
# That is `fx.Transformer`: an Interpreter whose handlers record.
# You override the same handlers, and `transform()` gives you a new `GraphModule`.


# %%
class SinToCosInGraph(fx.Transformer):
    """Makes a module in which every call of the function `torch.sin` is one of `torch.cos`."""

    def call_function(self, target, args, kwargs):
        if target is torch.sin:
            target = torch.cos
        return super().call_function(target, args, kwargs)


gm = fx.symbolic_trace(wave)
transformed = SinToCosInGraph(gm).transform()
x = torch.randn(3)
torch.testing.assert_close(transformed(x), SinToCos(gm).run(x))
torch.testing.assert_close(gm(x), wave(x))  # the given module is as it was
assert [n.name for n in transformed.graph.nodes if "cos" in n.name] == ["cos", "cos_1"]
draw.diff(gm, transformed)

# %% [markdown]
# The picture compares nodes by name, and a Transformer names its new nodes after what they call: `sin` became `cos`.
# Compare the class with the Interpreter of section 6.2: only the base class is another one.
# The Interpreter computes once, now. The Transformer makes a module that you can keep.
#
# In a handler of a Transformer, values are Proxies. So you may write Python with them, and it is recorded:


# %%
class SquareByHand(fx.Transformer):
    """Replaces `torch.square(x)` by `x * x`."""

    def call_function(self, target, args, kwargs):
        if target is torch.square:
            x = operand(args, kwargs, 0, "input")
            return x * x
        return super().call_function(target, args, kwargs)


def squares(x):
    return torch.square(x).sum()


transformed = SquareByHand(fx.symbolic_trace(squares)).transform()
print(transformed.code)
assert transformed(torch.tensor([1.0, 2.0])) == 5.0

# %% [markdown]
# What the new module shares with the given one: **all parameters and submodules**.
# What it does not have: submodules that no node of the new graph calls.


# %%
class DropDropout(fx.Transformer):
    """Leaves out the dropout modules."""

    def call_module(self, target, args, kwargs):
        if isinstance(self.fetch_attr(target), nn.Dropout):
            return operand(args, kwargs, 0, "input")
        return super().call_module(target, args, kwargs)


gm = fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.ReLU()))
transformed = DropDropout(gm).transform()
print(transformed)
assert transformed.get_submodule("0") is gm.get_submodule("0")
assert "1" in dict(gm.named_modules()) and "1" not in dict(transformed.named_modules())

# %% [markdown]
# ### What becomes of `meta`
#
# Tools keep notes in `node.meta`: shapes, places in the source code, marks of other passes.
# A Transformer makes new nodes. Do they have the notes of the old ones?


# %%
def notes(gm: fx.GraphModule) -> dict[str, list[str]]:
    """The keys in the meta of each node, without those that `transform` makes itself."""
    own = ("from_node", "seq_nr")
    return {n.name: [key for key in n.meta if key not in own] for n in gm.graph.nodes}


gm = fx.symbolic_trace(Scorer())
for node in gm.graph.nodes:
    node.meta["mine"] = f"a note on {node.name}"
    node.meta["custom"] = {"place": node.name}

transformed = fx.Transformer(gm).transform()
for name, keys in notes(transformed).items():
    print(f"{name:8} {keys}")
assert notes(transformed)["x"] == []
assert notes(transformed)["relu"] == ["custom"]
assert notes(transformed)["output"] == ["mine", "custom"]

# %% [markdown]
# Read the table, because it has three different lines (run with torch 2.14):
#
# * **Placeholders** lose everything.
# * **The output** keeps everything.
# * **All other nodes** keep only what FX itself knows, such as `custom`, `nn_module_stack` and `stack_trace`. Your own keys are gone.
#
# **Predict the result.** `run_node` is overridden like this, to copy the notes. Which node has the wrong ones afterwards?
#
# ```python
# class Careless(fx.Transformer):
#     def run_node(self, n):
#         result = super().run_node(n)
#         if isinstance(result, fx.Proxy):
#             result.node.meta.update(n.meta)
#         return result
# ```
#
# <details><summary>None: every node passes through <code>run_node</code>.</summary>
#
# Every node does, the output as well. And for the output the result is not a new node.
# </details>
# <details><summary>The placeholders.</summary>
#
# No. Their Proxies come out of <code>run_node</code> like all others, so they get their notes.
# </details>
# <details><summary>The node that is returned.</summary>
#
# Right. For the output, <code>run_node</code> returns what is handed to it: the Proxy of the last value. Its node gets the notes of the output, on top of its own.
# </details>


# %%
class Careless(fx.Transformer):
    def run_node(self, n):
        result = super().run_node(n)
        if isinstance(result, fx.Proxy):
            result.node.meta.update(n.meta)
        return result


careless = Careless(gm).transform()
for node in careless.graph.nodes:
    print(f"{node.name:8} {node.meta['mine']}")
assert node_called(careless, "relu").meta["mine"] == "a note on relu"
assert node_called(careless, "softmax").meta["mine"] == "a note on output"

# %% [markdown] card="AddToMul"
# **Given** a graph module, to the constructor that every Transformer has.
#
# **Write** the class `AddToMul`. `AddToMul(gm).transform()` returns a new graph module in which
# the additions of `add_to_mul` (chapter 3) are multiplications:
#
# * `torch.add(a, b)`, `a + b` and `a.add(b)`, with numbers, buffers and keyword arguments, become products of the same two values;
# * an addition with an `alpha` other than 1 stays; `alpha=1` is allowed, and no multiplication gets it;
# * in-place additions stay: `a.add_(b)`, and nodes that call `operator.iadd`;
# * sums of sizes (`x.shape[0] + 1`) are no additions of tensors. They are not tried.
#
# Every node of the result that came from a node of `gm` has that node's `meta`, with all its keys.
# This holds for every opcode, placeholders and the output too.
#
# **Do not** change the graph module you were given.


# %%
class Before(nn.Module):
    def forward(self, x, y):
        a = torch.add(x, y, alpha=3)
        return (2 + a).add(y)


class After(nn.Module):
    def forward(self, x, y):
        a = torch.add(x, y, alpha=3)
        return (2 * a).mul(y)


draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="AddToMul"
class AddToMul(fx.Transformer):
    """Makes a module in which additions are multiplications and every node keeps its `meta`."""

    def call_function(self, target: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
        """Record a `call_function` node; the arguments hold Proxies."""
        ### BEGIN SOLUTION
        products = {torch.add: torch.mul, operator.add: operator.mul}
        if target in products and self.adds_tensors(kwargs):
            target = products[target]
            kwargs = {key: value for key, value in kwargs.items() if key != "alpha"}
        return super().call_function(target, args, kwargs)
        ### END SOLUTION

    def call_method(self, target: str, args: tuple, kwargs: dict) -> Any:
        """Record a `call_method` node; `args[0]` is the object whose method is called."""
        ### BEGIN SOLUTION
        if target == "add" and self.adds_tensors(kwargs):
            target = "mul"
            kwargs = {key: value for key, value in kwargs.items() if key != "alpha"}
        return super().call_method(target, args, kwargs)

    def adds_tensors(self, kwargs: dict) -> bool:
        alpha = kwargs.get("alpha", 1)
        # A comparison with a Proxy would be recorded, and an alpha that is only known at run
        # time may be anything.
        is_plain = not isinstance(alpha, fx.Proxy) and alpha == 1
        return is_plain and any(map(self.holds_tensor, self.current.all_input_nodes))

    def holds_tensor(self, node: fx.Node) -> bool:
        """Whether a node's value may be a tensor; a size, or what is reckoned from sizes, is none."""
        if node.op == "placeholder":  # its argument is the default, if it has one
            return not any(isinstance(default, int | float) for default in node.args)
        if node.op == "call_method":
            return node.target not in ("size", "dim", "numel", "nelement", "ndimension", "stride")
        if node.op != "call_function":
            return True
        if node.target is getattr:
            return node.args[1] not in ("shape", "ndim", "dtype", "device")
        if node.target.__module__ in ("_operator", "math"):  # arithmetic of numbers gives numbers
            return any(map(self.holds_tensor, node.all_input_nodes))
        return True
        ### END SOLUTION

    def run_node(self, n: fx.Node) -> Any:
        """Run one node: make the new node for `n`, and return its Proxy."""
        ### BEGIN SOLUTION
        self.current = n
        result = super().run_node(n)
        # The output returns the Proxy of another node; `transform` copies its meta itself.
        if n.op != "output" and isinstance(result, fx.Proxy):
            result.node.meta.update(n.meta)
        return result
        ### END SOLUTION


# %% check="AddToMul"
check(AddToMul)

# %% hint="AddToMul"
hint("AddToMul")

# %% [markdown]
# When to use which?
#
# | you want | use |
# |---|---|
# | values, shapes, times of one run | `Interpreter` |
# | another result now, the graph as it is | `Interpreter` with overridden handlers |
# | a new module, one operation at a time | `Transformer` |
# | a new module, several nodes at once | a pass: chapters 3 and 4 |

# %% [markdown]
# ## Common mistakes
#
# Each of these stands in a tutorial, in an older documentation page or in a test. Here you see them fail.
#
# ### The handler forgets `super()`
#
# This class has been copied often. On `sigmoid(x).neg()`, the one function it was tried on, it is right:


# %%
class Copied(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        if target == torch.sigmoid:
            return torch.neg(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        if target == "neg":
            call_self, *rest = args
            return call_self.sigmoid(*rest, **kwargs)


def only_these(x):
    return torch.sigmoid(x).neg()


def one_more(x):
    return torch.relu(torch.sigmoid(x))


x = torch.randn(3)
torch.testing.assert_close(Copied(fx.symbolic_trace(only_these)).run(x), torch.neg(x).sigmoid())
assert Copied(fx.symbolic_trace(one_more)).run(x) is None  # no error, no result

# %% [markdown]
# **Right:** `return super().call_function(target, args, kwargs)` as the last line of every handler.
# And test with an operation that you do *not* treat.
#
# ### The handler gets the node
#
# `super().call_function(n)` looks natural, and one of PyTorch's own tests had it. Handlers take target, args and kwargs.
# Only `run_node` takes a node.


# %%
class HandsOnTheNode(fx.Interpreter):
    def run_node(self, n):
        if n.op == "call_function":
            return super().call_function(n)
        return super().run_node(n)


# %% raises="TypeError"
HandsOnTheNode(fx.symbolic_trace(one_more)).run(x)

# %% [markdown]
# ### Keyword arguments are lost


# %%
class LosesKeywords(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        return super().call_function(target, args, {})


def total(x):
    return torch.sum(x, dim=0)


x = torch.ones(2, 3)
assert fx.Interpreter(fx.symbolic_trace(total)).run(x).shape == (3,)
assert LosesKeywords(fx.symbolic_trace(total)).run(x).shape == ()  # summed over everything

# %% [markdown]
# ### A comparison that is out of date
#
# Older pages compare results with `torch.testing.assert_allclose`. It still exists, and it warns:

# %%
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.testing.assert_allclose(torch.ones(2), torch.ones(2, dtype=torch.float64))
print(str(caught[0].message)[:72], "…")
assert caught[0].category is FutureWarning

# %% [markdown]
# It even finds a float32 and a float64 tensor equal. **Right:** `torch.testing.assert_close` compares dtype and device, too.

# %% raises="AssertionError"
torch.testing.assert_close(torch.ones(2), torch.ones(2, dtype=torch.float64))

# %% [markdown]
# ### A value is wanted after it was deleted

# %%
interpreter = fx.Interpreter(scorer)
result = interpreter.run(torch.randn(2, 4))

# %% raises="KeyError"
interpreter.env[node_called(scorer, "relu")]

# %% [markdown]
# **Right:** note what you need in `run_node`, or make the Interpreter with `garbage_collect_values=False`.
#
# ### The graph is edited after the Interpreter was made
#
# An Interpreter notes at the beginning which node reads a value last. A new reader comes too late:

# %%
gm = fx.symbolic_trace(Scorer())
interpreter = fx.Interpreter(gm)
output = node_called(gm, "output")
with gm.graph.inserting_before(output):
    late = gm.graph.call_function(torch.neg, (node_called(gm, "relu"),))
output.args = (late,)

# %% raises="RuntimeError"
interpreter.run(torch.randn(2, 4))  # "referenced nonexistent value relu"

# %%
assert fx.Interpreter(gm).run(torch.randn(2, 4)).shape == (2, 3)  # a new one knows the new graph

# %% [markdown]
# ### One dictionary for all


# %%
class Shared(fx.Interpreter):
    calls: dict[str, int] = {}  # made once, when the class is made

    def run_node(self, n):
        self.calls[n.name] = self.calls.get(n.name, 0) + 1
        return super().run_node(n)


gm = fx.symbolic_trace(one_more)
Shared(gm).run(torch.randn(3))
second = Shared(gm)
second.run(torch.randn(3))
assert second.calls["relu"] == 2  # it has run once

# %% [markdown]
# **Right:** make the dictionary in `__init__`, after `super().__init__(module)`.
#
# ### The clock is read around the wrong thing
#
# A call that raises is counted although it gave nothing, when the note stands in a `finally`:


# %%
class CountsErrors(fx.Interpreter):
    def __init__(self, module):
        super().__init__(module)
        self.calls = Counter()

    def run_node(self, n):
        try:
            return super().run_node(n)
        finally:
            self.calls[n.name] += 1


timer = CountsErrors(fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4))))
try:
    timer.run(torch.randn(2, 5))  # a row too long
except RuntimeError:
    print(timer.calls)
assert timer.calls["_0"] == 1

# %% [markdown]
# **Right:** put the note after the call. If the call raises, the note is not reached.

# %% [markdown]
# ## Recap
#
# 1. An Interpreter runs the graph, not the code. Handlers see targets and values, `run_node` sees the node.
# 2. End every handler with `super()`, and hand on `args` *and* `kwargs`.
# 3. `run` takes positional arguments. Values are deleted after their last reader has run.
# 4. Shapes, times, operations and NaN are each a few lines in `run_node` or in a handler.
# 5. A Transformer is an Interpreter on Proxies. It shares the submodules, and loses your `meta` unless you copy it.
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | features from inside of a model | chapter 7 |
# | why a trace may be wrong before you run it | chapters 1 and 8 |
# | debugging a pass, comparing two models | chapter 9 |
# | measuring two models against each other | chapter 10 |
# | `boxed_run`, which frees the inputs early; running graphs of `torch.export` | chapter 11 |
#
# In PyTorch's documentation: *torch.fx*, section *The Interpreter Pattern*, the reference of `torch.fx.Interpreter` and
# `torch.fx.Transformer`, and *Profiling with the FX Interpreter* among the tutorials.
# (`ShapeProp` and `FakeTensorProp` are in `torch.fx.passes`, which is not promised to stay as it is.)
