# %% [markdown]
# # 6 · Interpreter and Transformer
#
# **After this chapter you can run a graph your own way: with your code before, after, or in place of every operation.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, the six kinds of node, passes; chapter 5 for section 6.6 |
# | **Time** | about 120 minutes with *Common mistakes*, 45 of them for the exercises; sections 6.1 to 6.4 are a good first sitting (60 minutes). The deep dive `06b_measuring` has a notebook of its own |
#
# **When you are done, you can**
#
# 1. run a graph node by node, and say which of the six handlers runs a given node;
# 2. change what an operation does without a change to the graph;
# 3. say which arguments `run` accepts, and when a value is freed;
# 4. record the shape of every value, however deeply it is nested;
# 5. find the operation in which a NaN or an infinity begins, and the line of source code that wrote it;
# 6. write a pass as a `Transformer`, and say what it does to `node.meta`, to names and to leaf modules.

# %% [markdown]
# ## A story
#
# Another team's model has run for weeks without a fault.
# Now one client gets NaN, and another one complains that it is slow.
# The source code is not yours, so you cannot put `print` into it.
# Forward hooks miss operations that are not modules, such as an addition in `forward`.
#
# A graph has every operation in it. In this chapter you run it, one node after the other, and look at each value as it passes.
# Section 6.7 answers the first complaint, and the deep dive `06b_measuring` the second.

# %%
import math
import operator
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import torch
from IPython.display import display
from torch import fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.node import map_arg
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.shape_prop import ShapeProp
from torchvision.models import googlenet, resnet18

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(6)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the value.** `torch.cat([x, y], dim=1)` is traced. What is `args` of the node that calls `cat`?
#
# <details><summary><code>(x, y)</code></summary>
#
# No. <code>cat</code> got one list, and the node keeps it as a list.
#
# </details>
# <details><summary><code>([x, y],)</code></summary>
#
# Right, and <code>kwargs</code> is <code>{"dim": 1}</code>. Nodes may be nested in arguments (section 2.2), so a loop that looks up values must go into lists.
#
# </details>
# <details><summary><code>([x, y], 1)</code></summary>
#
# No. <code>dim</code> was given by keyword, so it is in <code>kwargs</code>.
#
# </details>

# %% proof=true
first, second, cat, _ = fx.symbolic_trace(lambda x, y: torch.cat([x, y], dim=1)).graph.nodes
assert cat.args == ([first, second],) and cat.kwargs == {"dim": 1}

# %% [markdown]
# **Predict the type.** `p` is a Proxy. What does `torch.relu(p)` give?
#
# <details><summary>A tensor</summary>
#
# No. A Proxy holds no numbers to compute with.
#
# </details>
# <details><summary>A node</summary>
#
# A node is recorded, but the call gives something around it.
#
# </details>
# <details><summary>A Proxy</summary>
#
# Right. It holds the node that was recorded. So a function of tensors can continue with it (chapter 5).
#
# </details>

# %% proof=true
graph = fx.Graph()
p = fx.Proxy(graph.placeholder("x"))
assert isinstance(torch.relu(p), fx.Proxy)
assert [n.op for n in graph.nodes] == ["placeholder", "call_function"]

# %% [markdown]
# ## 6.1 A graph can be run
#
# A graph is a list of steps in the order of execution, so a loop over its nodes can run it.
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
print(run_graph(scorer, x, 2.0))
draw(scorer)

# %% proof=true
assert torch.equal(run_graph(scorer, x, 2.0), scorer(x))

# %% [markdown]
# These twenty lines are the whole idea of this chapter.
# `fx.Interpreter` is the same loop, written so that you can change each part of it. It knows defaults, too:

# %%
fx.Interpreter(scorer).run(x)

# %% proof=true
assert torch.equal(fx.Interpreter(scorer).run(x), scorer(x))

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
# Right. So a test that only uses an Interpreter misses a forgotten <code>recompile()</code>. The checks of this course try both.
# </details>
# <details><summary>1 and 1: both see the edit.</summary>
#
# No. The module runs Python code that was generated before the edit.
# </details>


# %% proof=true
stale = fx.symbolic_trace(lambda x: torch.sin(x))
for node in stale.graph.find_nodes(op="call_function", target=torch.sin):
    node.target = torch.cos
zero = torch.zeros(1)
assert stale(zero).item() == 0.0
assert fx.Interpreter(stale).run(zero).item() == 1.0
stale.recompile()
assert stale(zero).item() == 1.0

# %% [markdown]
# ## 6.2 Six handlers
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
print("the module gives", gm(x))
print("this run gives  ", SinToCos(gm).run(x))

# %% proof=true
expected = torch.cos(x) + torch.tanh(torch.cos(x)) + torch.sin(x)
torch.testing.assert_close(SinToCos(gm).run(x), expected)
torch.testing.assert_close(gm(x), wave(x))  # the module is as it was
assert gm.graph.find_nodes(op="call_method")[0].target == "sin"

# %% [markdown]
# Three details:
#
# * The last line of the handler hands everything else to `super()`. Every node of its kind passes through it.
# * The keyword call `torch.sin(input=x)` works, because `kwargs` is handed on.
# * `x.sin()` is a method call. It goes to another handler, with the *string* `"sin"` as its target.
#
# A handler can also just watch. This one writes a log, and changes nothing:


# %%
class CallLog(fx.Interpreter):
    """Prints each function that is called, and the shape of what comes back."""

    def call_function(self, target, args, kwargs):
        value = super().call_function(target, args, kwargs)
        shape = tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
        print(f"{target.__name__:8} gives {shape}")
        return value


result = CallLog(scorer).run(torch.randn(2, 4))

# %% proof=true
assert result.shape == (2, 3)

# %% [markdown]
# `softmax` is missing from the log. It was written as a method, so `call_method` ran it. `proj` is a module.
#
# Here is another function:


# %%
def gate(x):
    return torch.sigmoid(x).neg() * torch.tanh(x) - x.abs()


gate_gm = fx.symbolic_trace(gate)

# %% [markdown]
# **Drill 06.2a.** `CallLog` runs `gate_gm`. Which nodes does it print a line for? Write the list of their names, in the order of the graph.

# %% drill=true
logged = [node.name for node in gate_gm.graph.nodes if node.op == "call_function"]
drill("06.2a", logged)
# Mistake: A method has a handler of its own, which `CallLog` does not override.
# logged = [node.name for node in gate_gm.graph.nodes if node.op.startswith("call_")]

# %% [markdown]
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


# %% proof=true
class SinToCosOnly(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        if target is torch.sin:
            return torch.cos(*args, **kwargs)


assert SinToCosOnly(gm).run(x) is None

# %% [markdown] card="NegSigmSwap"
# **Given** a graph module, passed to the constructor, as for every Interpreter.
#
# **Write** the class `NegSigmSwap`. Its `run` computes what the graph computes, but with `neg` and `sigmoid` exchanged:
# where the graph negates, the run computes the sigmoid, and the other way round.
# This holds for the functions `torch.neg` and `torch.sigmoid`, and for the methods `x.neg()` and `x.sigmoid()`.
# Every other operation runs as it is, an `nn.Sigmoid` module too.
#
# (The operator `-x`, `torch.negative`, and in-place forms are never tested.)
#
# **Do not** change the graph module you were given.


# %%
class Before(nn.Module):
    def forward(self, x, y):
        return torch.relu(torch.sigmoid(x) + y).neg()


class After(nn.Module):
    def forward(self, x, y):
        return torch.relu(torch.neg(x) + y).sigmoid()


display(draw(Before(), title="the graph that NegSigmSwap is given"))
draw(After(), title="what its run computes")


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
# ## 6.3 `run`, `run_node` and `env`
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
# So use it for *values*, and for the *names* of nodes.


# %%
class Watch(fx.Interpreter):
    """Prints the name and the value's type of every node."""

    def run_node(self, n):
        value = super().run_node(n)
        print(f"{n.op:14} {n.name:9} {type(value).__name__}")
        return value


x = torch.randn(2, 4)
result = Watch(scorer).run(x)

# %% proof=true
torch.testing.assert_close(result, scorer(x))
assert result.shape == (2, 3)

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
print(fx.Interpreter(gm).run(one))
print(fx.Interpreter(gm).run(one, 3.0, "a", "b"))
with fails(RuntimeError):
    fx.Interpreter(gm).run()
with fails(TypeError):
    fx.Interpreter(gm).run(one, scale=3.0)  # keywords are not accepted

# %% proof=true
assert fx.Interpreter(gm).run(one) == (one * 2, [])
assert fx.Interpreter(gm).run(one, 3.0, "a", "b") == (one * 3, ["a", "b"])

# %% [markdown]
# (Open the first fold. Errors of an Interpreter end with *Original traceback: None* and a hint about *tlparse*, a tool of `torch.compile`.
# Section 6.5 gets you the traceback.)
#
# One trap: arguments that no placeholder takes are ignored. The call of the module would raise a `TypeError`.

# %%
print(fx.Interpreter(scorer).run(x, 2.0, "one too many").shape)
with fails(TypeError):
    scorer(x, 2.0, "one too many")

# %% [markdown]
# ### The environment, and who cleans it up
#
# The values live in the dictionary `env`, with nodes as keys.
# After its last reader has run, a value is deleted, so that its memory can be used again.
# After a run, only the value of the output is left, and values that no node reads:


# %%
interpreter = fx.Interpreter(scorer)
interpreter.run(x)
[node.name for node in interpreter.env]

# %% proof=true
assert [node.name for node in interpreter.env] == ["output"]

# %% [markdown]
# `scorer` has no value that no node reads. The next function has one:


# %%
def extremes(x):
    low, high = x.amin(), x.amax()
    x.mean()
    return high - low


extremes_gm = fx.symbolic_trace(extremes)

# %% [markdown]
# **Drill 06.3a.** An Interpreter has run `extremes_gm`. Which nodes are left in `env`? Write the list of their names, in the order of the graph.

# %% drill=true
runner = fx.Interpreter(extremes_gm)
runner.run(torch.randn(5))
left = [node.name for node in runner.env]
drill("06.3a", left)
# Mistake: A value is deleted after its last reader, even at the end.
# left = ["mean", "sub", "output"]

# %% [markdown]
# With `garbage_collect_values=False` all values stay, and you can look at them afterwards. They need their memory all the time.

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
print(result)  # the softmax of zeros

# %% proof=true
torch.testing.assert_close(result, torch.full((2, 3), 1 / 3))
assert relu.name == "relu"

# %% [markdown]
# Researchers call this **ablation**: switch off one part, and see how much the result depends on it.
# Here each residual block of ResNet-18 loses what it adds, one block at a time.
# What a block adds is the value of its second BatchNorm, `bn2`:

# %%
resnet = fx.symbolic_trace(make_alive(resnet18(num_classes=10)))
image = images(1)
branches = [node for node in resnet.graph.nodes if node.name.endswith("_bn2")]
values = fx.Interpreter(resnet, garbage_collect_values=False)
with torch.no_grad():
    whole = values.run(image)
    for node in branches:
        without = {node: torch.zeros_like(values.env[node])}
        result = fx.Interpreter(resnet).run(image, initial_env=without)
        change = ((result - whole).norm() / whole.norm()).item()
        print(f"without {node.name:12} the result changes by {change:6.1%}")

# %% proof=true
assert len(branches) == 8 and change > 0.01
assert all(node.target.endswith(".bn2") for node in branches)
assert list(values.env) == list(resnet.graph.nodes)

# %% [markdown]
# The dictionary that you hand over **becomes** `env`: values are added to it, and deleted.
# So make a new one for each run.

# %%
print(relu in silent)

# %% proof=true
assert relu not in silent  # deleted after its last reader, like any other value

# %% [markdown]
# **Predict the result.** In the run that began with `silent`, `proj` is read by `relu` only. Did `proj` run?
#
# <details><summary>No: nothing needs its value.</summary>
#
# The value is not needed, but an Interpreter does not ask who needs a value. It runs every node that has no value yet.
# </details>
# <details><summary>Yes: only <code>relu</code> itself is skipped.</summary>
#
# Right. To skip what is not needed any more, make a copy of the graph and delete it there: that is a pass, chapter 3.
# </details>


# %% proof=true
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
# ## 6.4 Shapes
#
# A trace has no shapes: it is right for inputs of many shapes. One run with a sample input tells you the shapes of that run.
# This is **shape propagation**. With an Interpreter it takes one line of your own.
# (Put your notes about a node into `node.meta`, not into new attributes.)


# %%
class NoteShapes(fx.Interpreter):
    """Writes the shape of every tensor into `node.meta`, and `None` for anything else."""

    def run_node(self, n):
        value = super().run_node(n)
        n.meta["shape"] = tuple(value.shape) if isinstance(value, torch.Tensor) else None
        return value


NoteShapes(scorer).run(torch.randn(2, 4))
{node.name: node.meta["shape"] for node in scorer.graph.nodes}

# %% proof=true
assert node_called(scorer, "softmax").meta["shape"] == (2, 3)
assert node_called(scorer, "scale").meta["shape"] is None

# %% [markdown]
# PyTorch has this class, too. `ShapeProp` notes a `TensorMetadata` with shape, dtype, stride and more
# under `node.meta["tensor_meta"]`. If the value is a tuple or a list, the note has the same nesting.


# %%
def two_parts(x):
    a, b = torch.chunk(x, 2)
    return a + b


gm = fx.symbolic_trace(two_parts)
ShapeProp(gm).propagate(torch.randn(4, 2))
for node in gm.graph.nodes:
    note = node.meta["tensor_meta"]
    parts = note if node.name == "chunk" else (note,)
    print(f"{node.name:10}", [(tuple(part.shape), part.dtype) for part in parts])

# %% proof=true
from torch.fx.passes.shape_prop import TensorMetadata

assert all(
    isinstance(part, TensorMetadata) for part in node_called(gm, "chunk").meta["tensor_meta"]
)
assert {"shape", "dtype", "stride"} < set(TensorMetadata._fields)

# %% [markdown]
# If a value contains no tensor, `tensor_meta` is missing. `node.meta["type"]` is always there.


# %%
def lower_part(x, start=1):
    rows = x.size(0)
    return x[start:], rows // 2


lower = fx.symbolic_trace(lower_part)
ShapeProp(lower).propagate(torch.randn(4, 2))

# %% proof=true
assert node_called(lower, "size").meta["type"] is int

# %% [markdown]
# **Drill 06.4a.** Which nodes of `lower` have no `tensor_meta` now? Write the list of their names, in the order of the graph.

# %% drill=true
without_note = [node.name for node in lower.graph.nodes if "tensor_meta" not in node.meta]
drill("06.4a", without_note)
# Mistake: A tuple with a tensor in it has a note, too: a tuple.
# without_note = ["start", "size", "floordiv", "output"]

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


# %% proof=true
listed = fx.Interpreter(fx.symbolic_trace(lambda x: [x, x + 1])).run(torch.ones(1))
assert isinstance(listed, list) and type(listed).__name__ == "immutable_list"

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
# **Fine print**
#
# Default arguments and `*args` work. Values that are a `torch.Size` are never tested.


# %%
class Example(nn.Module):
    def forward(self, x, scale=2.0):
        top = torch.topk(x, 2)
        return {"best": top[0] * scale, "rows": x.size(0)}


# record_shapes(Example(), torch.randn(4, 3)) must return:
expected = {
    "x": (4, 3),
    "scale": None,
    "topk": ((4, 2), (4, 2)),  # the values and their places
    "getitem": (4, 2),
    "mul": (4, 2),
    "size": None,
    "output": {"best": (4, 2), "rows": None},
}
draw(fx.symbolic_trace(Example()))

# %% proof=true
assert list(expected) == [node.name for node in fx.symbolic_trace(Example()).graph.nodes]


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
# For large models you can avoid the computation, with *fake tensors*: they have a shape and a dtype but no numbers.
# `FakeTensorProp` is an Interpreter that uses them, and writes them into `node.meta["val"]`.
# The weights of the model are ordinary tensors, so you must allow both kinds together:

# %%
gm = fx.symbolic_trace(resnet18())
batch = torch.empty(64, 3, 224, 224)
FakeTensorProp(gm, FakeTensorMode(allow_non_fake_inputs=True)).propagate(batch)
value = node_called(gm, "layer4_1_conv2").meta["val"]
print(type(value).__name__, tuple(value.shape), value.dtype)

# %% proof=true
assert value.shape == (64, 512, 7, 7)

# %% [markdown]
# Without this mode, it refuses any model that has weights:

# %%
with fails(AssertionError):
    FakeTensorProp(gm).propagate(batch)

# %% [markdown]
# ## 6.5 Where a NaN begins
#
# Nearly everything that is computed from a NaN is NaN as well. At the end everything is NaN, and nothing tells you
# where it began. Often the first bad value is an infinity:


# %%
def softmax_by_hand(x):
    powers = torch.exp(x)
    return powers / powers.sum()


scores = torch.tensor([1.0, 2.0, 100.0])
print(softmax_by_hand(scores))

# %% proof=true
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
# Right. The largest float32 is about 3.4e38, and exp(100) is about 2.7e43. Its input is finite and its value is not, so fix this line: subtract the largest score first.
# </details>

# %% proof=true
powers = torch.exp(scores)
assert scores.isfinite().all() and powers.isinf().any() and not powers.isnan().any()

# %% [markdown]
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


def entropy(p):
    return -(p * torch.log(p)).sum()


growth = Largest(fx.symbolic_trace(entropy))
growth.run(torch.tensor([0.5, 0.5, 0.0]))

# %% [markdown]
# **Drill 06.5a.** The entropy is NaN, although the input is finite. With which node does the trouble begin? Write its name, a string.

# %% drill=true
first_bad = next(name for name, size in growth.largest.items() if not math.isfinite(size))
drill("06.5a", first_bad)
# Mistake: There the first NaN is. But it was computed from an infinity.
# first_bad = next(name for name, size in growth.largest.items() if math.isnan(size))

# %% [markdown]
# In a ResNet each block adds to what came before, and each BatchNorm divides by a spread that it noted earlier.
# Here it noted that of a few images. For such an image the values stay about equally large. For white noise they grow.
# Such a curve is a warning, long before the first infinity.

# %%
noise = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(6))
sums = {}
figure, axes = plt.subplots(figsize=(7, 3))
for title, picture in (("an image like those before", image), ("white noise", noise)):
    values = Largest(resnet)
    with torch.no_grad():
        values.run(picture)
    axes.plot(list(values.largest.values()), marker=".", label=title)
    sums[title] = [size for name, size in values.largest.items() if name.startswith("add")]
    print(f"{title}, at the additions: {[round(size, 1) for size in sums[title]]}")
axes.set(yscale="log", xlabel="node, in order of execution", ylabel="largest absolute value")
axes.set_title("ResNet-18 with random weights: how large do the values get?")
axes.legend()
plt.show()

# %% proof=true
for title, sizes in sums.items():
    assert (sizes[-1] > 3 * sizes[0]) == (title == "white noise") and max(sizes) < 1e4

# %% [markdown] card="first_nonfinite"
# **Given** a model and the inputs for one call of it.
#
# **Return** the name of the first node, in the order of execution, that makes a NaN or an infinity of finite values:
# its value has one, and no value that it reads does. Return `None` if there is no such node.
#
# * Values may be nested: tuples, lists, dictionaries.
# * Report an input that is not finite at its placeholder, and a parameter or buffer at its `get_attr` node.
#
# **Fine print**
#
# * Integers and booleans are finite, as tensors too. Python floats count as tensors do.
# * Report a weight of a leaf module at the call of that module.
# * In-place operations are never tested.


# %%
class Example(nn.Module):
    def forward(self, x, mask):
        count = mask.sum()
        mean = (x * mask).sum() / count
        return torch.tanh(mean)


# For first_nonfinite(Example(), x, mask) with a mask of zeros, the answer is "truediv".
x, mask = torch.ones(3), torch.zeros(3)
draw(fx.symbolic_trace(Example()))

# %% proof=true
assert Example()(x, mask).isnan()


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
#
# ### From a node to a line of source code
#
# A name such as `exp` does not tell you where the operation was written. A tracer can note that: set its attribute
# `record_stack_traces`.
# Then each node that records an operation of `forward` has a `stack_trace`, and every error of an Interpreter shows it.


# %%
class Located(fx.Tracer):
    """Notes for each node the lines of source code that made it."""

    record_stack_traces = True


class Normalized(nn.Module):
    def forward(self, x):
        return softmax_by_hand(x)


def written_at(node: fx.Node) -> str:
    """The innermost place outside of PyTorch where a node was written."""
    lines = (node.stack_trace or "").splitlines()
    places = [
        f"{place.strip()}: {code.strip()}"
        for place, code in zip(lines, lines[1:], strict=False)
        if place.lstrip().startswith("File") and "/torch/" not in place.replace("\\", "/")
    ]
    return places[-1] if places else "not known"


model = Normalized()
for node in list(Located().trace(model).nodes)[1:-1]:
    print(f"{node.name:8}", written_at(node))

# %% proof=true
noted = fx.GraphModule(model, Located().trace(model))
assert "in softmax_by_hand" in written_at(node_called(noted, "exp"))
assert node_called(fx.symbolic_trace(model), "exp").stack_trace is None  # without it


class Broken(nn.Module):
    def forward(self, x):
        return x - x.amax(0)


try:
    fx.Interpreter(fx.GraphModule(Broken(), Located().trace(Broken()))).run(torch.ones(0))
except (RuntimeError, IndexError) as error:
    text = str(error)
assert "in forward" in text and "Original traceback:\nNone" not in text

# %% [markdown]
# ## 6.6 Transformer
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
display(draw(gm, title="the given graph"))
draw(transformed, title="the new graph")

# %% proof=true
x = torch.randn(3)
torch.testing.assert_close(transformed(x), SinToCos(gm).run(x))
torch.testing.assert_close(gm(x), wave(x))  # the given module is as it was
assert [n.name for n in transformed.graph.nodes if "cos" in n.name] == ["cos", "cos_1"]

# %% [markdown]
# Compare `SinToCos` of section 6.2: only the base class is different.
# The Interpreter computes one result, at once. The Transformer makes a module that you can keep.
#
# In a handler of a Transformer, values are Proxies. So you may write Python with them, and it is recorded.
# An operand may come by position or by keyword. A small helper finds it:


# %%
def operand(args: tuple, kwargs: dict, position: int, name: str) -> Any:
    """The argument at this position, or with this name."""
    return args[position] if position < len(args) else kwargs[name]


class DropDropout(fx.Transformer):
    """Leaves out the dropout modules."""

    def call_module(self, target, args, kwargs):
        if isinstance(self.fetch_attr(target), nn.Dropout):
            return operand(args, kwargs, 0, "input")
        return super().call_module(target, args, kwargs)


gm = fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.ReLU()))
transformed = DropDropout(gm).transform()
print(transformed)

# %% [markdown]
# The new module shares **all parameters and submodules** with the given one.
# Submodules that no node calls are left out.

# %% proof=true
assert transformed.get_submodule("0") is gm.get_submodule("0")
assert "1" in dict(gm.named_modules()) and "1" not in dict(transformed.named_modules())

# %% [markdown]
# ### Backwards: undo a model
#
# A handler can also postpone recording. This Transformer collects the steps, and records their inverses at the output,
# from the last step to the first. So it makes the inverse of a chain of functions.
# (Generative models that are called *normalizing flows* need that.)

# %%
PAIRS = {operator.add: operator.sub, operator.mul: operator.truediv, torch.exp: torch.log}
INVERSES = PAIRS | {inverse: function for function, inverse in PAIRS.items()}


class Invert(fx.Transformer):
    """Makes the inverse of a chain: each node calls a function of the node before it."""

    def __init__(self, module):
        super().__init__(module)
        self.steps = []

    def run_node(self, n):
        is_step = n.op in ("call_function", "output") and n.all_input_nodes == [n.prev]
        if n.op != "placeholder" and not is_step:
            raise ValueError(f"{n.name} is not a step of a chain of functions")
        return super().run_node(n)

    def call_function(self, target, args, kwargs):
        if target not in INVERSES or kwargs or any(isinstance(a, fx.Proxy) for a in args[1:]):
            raise ValueError(f"there is no inverse of {target.__name__} with these arguments")
        value, *numbers = args
        self.steps.append((INVERSES[target], numbers))
        return value  # nothing is recorded: every step returns the Proxy of the input

    def output(self, target, args, kwargs):
        value = args[0]
        for inverse, numbers in reversed(self.steps):
            value = inverse(value, *numbers)  # now it is recorded
        return super().output(target, (value,), kwargs)


def flow(x):
    return torch.exp(x) * 0.5 + 0.25


def decibels(x):
    return torch.log(x - 1) * 10


inverse = Invert(fx.symbolic_trace(flow)).transform()
print(inverse.code)
x = torch.randn(5, dtype=torch.float64)
torch.testing.assert_close(inverse(flow(x)), x)

# %% proof=true
torch.testing.assert_close(Invert(inverse).transform()(x), flow(x))  # the inverse of the inverse
for chain in (lambda x: torch.exp(x).sin(), lambda x: x + x):
    with fails(ValueError):
        Invert(fx.symbolic_trace(chain)).transform()
assert inverse(flow(x)).shape == x.shape

# %% [markdown]
# **Drill 06.6a.** Which functions does the inverse of `decibels` call? Write the list of the nodes' names, in the order of the new graph.

# %% drill=true
undone = Invert(fx.symbolic_trace(decibels)).transform()
called = [node.name for node in undone.graph.nodes if node.op == "call_function"]
drill("06.6a", called)
# Mistake: These are the right functions. But the step that came last is undone first.
# called = ["add", "exp", "truediv"]

# %% [markdown]
# ### What happens to `meta`, names and leaf modules
#
# Tools keep notes in `node.meta`: shapes, places in the source code, marks of other passes.
# A Transformer makes new nodes. Do they have the notes of the old ones?


# %%
gm = fx.symbolic_trace(Scorer())
for node in gm.graph.nodes:
    node.meta["mine"] = f"a note on {node.name}"
    node.meta["custom"] = {"place": node.name}

transformed = fx.Transformer(gm).transform()
for node in transformed.graph.nodes:  # `transform` itself writes two keys
    print(f"{node.name:8} {[key for key in node.meta if key not in ('from_node', 'seq_nr')]}")

# %% proof=true
own = {"from_node", "seq_nr"}
notes = {node.name: set(node.meta) - own for node in transformed.graph.nodes}
assert notes["x"] == set() and notes["relu"] == {"custom"}
assert notes["proj"] == {"custom", "nn_module_stack"}  # a call of a module
assert notes["output"] == {"mine", "custom"}

# %% [markdown]
# The lines are of three kinds (run with torch 2.14):
#
# * **Placeholders** lose everything.
# * **The output** keeps everything.
# * **All other nodes** keep only keys that FX knows, such as `nn_module_stack`, `stack_trace`, and `custom` (section 12b.6). Your own keys are gone.
#
# **Names** are new: FX makes them from what a node calls. **Type annotations** of parameters are lost.
# **Leaf modules** stay, unlike in a new trace (section 4.7): a Transformer never goes into a module that the graph calls.


# %% proof=true
from autograder.given import LinearReLU


class OneCall(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, LinearReLU) or super().is_leaf_module(m, module_qualified_name)


fused = nn.Sequential(LinearReLU(nn.Linear(4, 4)))
kept = fx.GraphModule(fused, OneCall().trace(fused))
assert [n.op for n in fx.Transformer(kept).transform().graph.nodes][1:-1] == ["call_module"]
assert [n.op for n in fx.symbolic_trace(kept).graph.nodes][1:-1] == ["call_module", "call_function"]


def annotated(x: torch.Tensor):
    return torch.sin(x)


traced = fx.symbolic_trace(annotated)
again = fx.Transformer(traced).transform()
assert "torch.Tensor" in traced.code and "torch.Tensor" not in again.code

# %% [markdown]
# You can keep your notes.
#
# **Predict the result.** `run_node` is overridden like this, to copy the notes. Which node then has wrong notes?
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
# No. <code>run_node</code> returns their Proxies like all others, so they get their notes.
# </details>
# <details><summary>The node that is returned.</summary>
#
# Right. For the output, <code>run_node</code> returns what is handed to it: the Proxy of the last value. Its node gets the notes of the output, on top of its own.
# </details>


# %% proof=true
class Careless(fx.Transformer):
    def run_node(self, n):
        result = super().run_node(n)
        if isinstance(result, fx.Proxy):
            result.node.meta.update(n.meta)
        return result


careless = Careless(gm).transform()
assert node_called(careless, "relu").meta["mine"] == "a note on relu"
assert node_called(careless, "x").meta["mine"] == "a note on x"
assert node_called(careless, "softmax").meta["mine"] == "a note on output"

# %% [markdown] card="AddToMul"
# **Given** a graph module, passed to the constructor.
#
# **Write** the class `AddToMul`. In the graph module that `AddToMul(gm).transform()` returns, additions of tensors are multiplications:
#
# * `torch.add(a, b)`, `a + b` and `a.add(b)`, with numbers, buffers and keyword arguments, become products of the same two values;
# * an addition with an `alpha` other than 1 stays; `alpha=1` must not be passed to the multiplication.
#
# Every node of the result that came from a node of `gm`, placeholders and the output too, has that node's `meta`,
# with all its keys, in a dictionary of its own.
#
# **Do not** change the graph module you were given.
#
# **Fine print**
#
# * An `alpha` that is computed is a Proxy here, and not 1.
# * In-place additions stay: `a.add_(b)`, and nodes that call `operator.iadd`.
# * Sums of sizes, such as `x.shape[0] + 1`, are never tested.


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
        if target in products and self.alpha_is_one(kwargs):
            target = products[target]
            kwargs = {key: value for key, value in kwargs.items() if key != "alpha"}
        return super().call_function(target, args, kwargs)
        ### END SOLUTION

    def call_method(self, target: str, args: tuple, kwargs: dict) -> Any:
        """Record a `call_method` node; `args[0]` is the object whose method is called."""
        ### BEGIN SOLUTION
        if target == "add" and self.alpha_is_one(kwargs):
            target = "mul"
            kwargs = {key: value for key, value in kwargs.items() if key != "alpha"}
        return super().call_method(target, args, kwargs)

    def alpha_is_one(self, kwargs: dict) -> bool:
        alpha = kwargs.get("alpha", 1)
        # A comparison with a Proxy would be recorded, and an alpha that is only known at run
        # time may be anything.
        return not isinstance(alpha, fx.Proxy) and alpha == 1
        ### END SOLUTION

    def run_node(self, n: fx.Node) -> Any:
        """Run one node: make the new node for `n`, and return its Proxy."""
        ### BEGIN SOLUTION
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
# ## 6.7 The NaN, answered
#
# Here is the other team's service: GoogLeNet, and a `forward` that turns its scores into probabilities.
# (The weights are random, and drawn with some images whose pixels are between 0 and 1.)


# %%
class Service(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10)
        make_alive(self.net, images().sigmoid())

    def forward(self, pictures):
        powers = torch.exp(self.net(pictures))
        return powers / powers.sum(dim=-1, keepdim=True)


service = Service().eval()
pictures = images(2, seed=1).sigmoid()
good, bad = pictures, 255 * pictures  # one client sends pixels between 0 and 255
with torch.no_grad():
    print("one client: ", service(good)[0, :4])
    print("the other:  ", service(bad)[0, :4])
located = fx.GraphModule(service, Located().trace(service))

# %% proof=true
with torch.no_grad():
    assert service(good).isfinite().all() and service(bad).isnan().any()

# %% [markdown]
# **The NaN.** Your `first_nonfinite` names the node, and a trace with `record_stack_traces` tells the line.
# (This cell uses your answer. Run it again when the check has passed.)

# %% uses="first_nonfinite"
with torch.no_grad():
    found = first_nonfinite(service, bad)
print(found, "|", written_at(node_called(located, found)))
print("inside GoogLeNet:", written_at(node_called(located, "net_conv1_conv")))

# %% proof=true
with torch.no_grad():
    assert first_nonfinite(service, bad) == "exp" and first_nonfinite(service, good) is None
assert "googlenet.py" in written_at(node_called(located, "net_conv1_conv"))

# %% [markdown]
# `exp` overflows for scores above 88. You cannot edit the class of the other team, but you can edit the graph.
# A Transformer subtracts the largest score, which does not change the result of other clients:


# %%
class StableExp(fx.Transformer):
    """Takes the exponential of each row's distance to its largest entry."""

    def call_function(self, target, args, kwargs):
        if target is torch.exp:
            (scores,) = args
            args = (scores - scores.amax(-1, keepdim=True),)
        return super().call_function(target, args, kwargs)


stable = StableExp(located).transform()
assert_same_results(stable, service, good)
assert_same_results(stable, lambda x: torch.softmax(service.net(x), dim=-1), bad, other=(good,))
with torch.no_grad():
    print("the other client's probabilities add up to", stable(bad).sum(dim=-1))
print(len(located.graph.nodes), "nodes, now", len(stable.graph.nodes))

# %% proof=true
assert len(stable.graph.nodes) == len(located.graph.nodes) + 2

# %% [markdown]
# Both clients get probabilities again. Why the model is slow for one of them, the deep dive `06b_measuring` finds out.

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (5 minutes)
#
# ### The handler gets the node
#
# `super().call_function(n)` was for years in the example of
# [PyTorch's own reference](https://docs.pytorch.org/docs/1.11/_modules/torch/fx/interpreter.html). But handlers take target, args and kwargs.
# Only `run_node` takes a node.


# %%
def one_more(x):
    return torch.relu(torch.sigmoid(x))


class HandsOnTheNode(fx.Interpreter):
    def run_node(self, n):
        if n.op == "call_function":
            return super().call_function(n)
        return super().run_node(n)


with fails(TypeError):
    HandsOnTheNode(fx.symbolic_trace(one_more)).run(torch.randn(3))

# %% proof=true
assert "call_function(n)" not in fx.Interpreter.__doc__  # today's example is right

# %% [markdown]
# ### Keyword arguments are lost


# %%
class LosesKeywords(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        return super().call_function(target, args, {})


def total(x):
    return torch.sum(x, dim=0)


x = torch.ones(2, 3)
LosesKeywords(fx.symbolic_trace(total)).run(x)  # summed over everything

# %% proof=true
assert fx.Interpreter(fx.symbolic_trace(total)).run(x).shape == (3,)
assert LosesKeywords(fx.symbolic_trace(total)).run(x).shape == ()

# %% [markdown]
# ### One `meta` for two graphs
#
# `new.meta = old.meta` copies nothing: both nodes have the same dictionary. What a tool notes on one graph is then on the other, too.

# %%
given = fx.symbolic_trace(total)
made = fx.Transformer(given).transform()
for old, new in zip(given.graph.nodes, made.graph.nodes, strict=True):
    new.meta = old.meta
ShapeProp(made).propagate(torch.ones(2, 3))
list(node_called(given, "sum_1").meta)  # of the given graph

# %% proof=true
assert "tensor_meta" in node_called(given, "sum_1").meta

# %% [markdown]
# **Right:** `new.meta.update(old.meta)`. (A note that is itself a dictionary is still the same object in both.)
#
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
second.calls  # it has run once

# %% proof=true
assert second.calls["relu"] == 2

# %% [markdown]
# **Right:** make the dictionary in `__init__`, after `super().__init__(module)`.
# %% [markdown]
# ## Recap
#
# 1. An Interpreter runs the graph, not the code. Handlers see targets and values, `run_node` sees the node.
# 2. End every handler with `super()`, and hand on `args` *and* `kwargs`.
# 3. `run` takes positional arguments. Values are deleted after their last reader has run.
# 4. Shapes and the first NaN are each a few lines in `run_node` or in a handler.
# 5. A Transformer is an Interpreter on Proxies. It shares the submodules, and loses your `meta` unless you copy it.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `fx.Interpreter(gm).run(*args)` | runs the graph; `garbage_collect_values=False` keeps all values in `env` |
# | `run(*args, initial_env={node: value})` | begins with these values |
# | `def run_node(self, n)` | one node; return `super().run_node(n)` |
# | `def call_function(self, target, args, kwargs)` | one of six handlers; return `super().call_function(…)` |
# | `self.fetch_attr(target)` | a module, parameter or buffer by its path |
# | `ShapeProp(gm).propagate(*args)` | notes `tensor_meta` and `type` |
# | `FakeTensorProp(gm, FakeTensorMode(allow_non_fake_inputs=True)).propagate(*args)` | notes `val`, without computing |
# | `tracer.record_stack_traces = True` | notes the source line in `node.stack_trace` |
# | `MyTransformer(gm).transform()` | a new module, recorded by your handlers |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | the time of each node, and floating-point operations: why is the model slow? | the deep dive `06b_measuring` |
# | features from inside a model | chapter 7 |
# | why a trace may be wrong before you run it | chapters 1 and 8 |
# | debugging a pass, comparing two models | chapter 9 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), section *The Interpreter Pattern*, and the
# reference of `torch.fx.Interpreter` and `torch.fx.Transformer` on the same page.
# PyTorch's own way to invert a model is in [pytorch/examples, invert.py](https://github.com/pytorch/examples/blob/main/fx/invert.py).
# (`FakeTensorProp` is not promised to stay as it is.)
