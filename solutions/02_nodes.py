# %% [markdown]
# # 2 · The IR: six kinds of node
#
# **After this chapter you can read every FX graph, build one by hand, and say why an edited one still computes the old result.**
#
# | | |
# |---|---|
# | **You need** | chapter 1, *Tracing*: `symbolic_trace`, `GraphModule`, what a Proxy records |
# | **Time** | about 115 minutes, 45 of them for the exercises; the minutes of a section include its exercises. A good place for a break is after 2.4 |
#
# **When you are done, you can**
#
# 1. name the six opcodes and say what `target`, `args` and `kwargs` mean for each;
# 2. tell a node's *name* from its *target*, and say which of the two you may search for;
# 3. list everything that a node reads, however deeply it is nested;
# 4. find the nodes whose value is never needed;
# 5. build a working `GraphModule` with all six opcodes and without tracing;
# 6. say why an edited module computes the old result, and what `Graph.lint()` checks.

# %% [markdown]
# ## A story
#
# A colleague sends you a `GraphModule`.
# She swapped one operation in GoogLeNet, the other team's network.
# The printed graph shows the new operation.
# `graph.lint()` does not complain.
# The module still computes the old result.
#
# To find out why, you must read what she edited: the graph, node by node.
# A pass is a program that reads and edits nodes, so all later chapters need this one.
# In section 2.7 you find out what she forgot.

# %%
import copy
import operator
from collections import Counter

import torch
from torch import fx, nn

from autograder import check, draw, drill, fails, hint, progress

torch.manual_seed(2)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the graph.** You write `class MyReLU(nn.ReLU): pass` in your notebook. What does the trace of a model have for a call of a `MyReLU`?
#
# <details><summary>The calls that its <code>forward</code> makes</summary>
#
# Right. A layer is a leaf if its class is <em>defined</em> in <code>torch.nn</code> (section 1.3). This one is entered, and <code>F.relu</code> is recorded.
# </details>
# <details><summary>One call of the module, because it is an <code>nn.ReLU</code></summary>
#
# No. It is one, but the rule asks where the class is defined, and not what it inherits from.
# </details>
# <details><summary>One call of the module, and after it what happens inside</summary>
#
# No. A module is either a leaf or entered, never both.
# </details>


# %% proof=true
class MyReLU(nn.ReLU):
    pass


_, call, _ = fx.symbolic_trace(nn.Sequential(MyReLU())).graph.nodes
assert call.op == "call_function" and call.target is nn.functional.relu

# %% [markdown]
# **Predict the graph.** A `forward` says `unused = torch.exp(x)`, and then `return x + 1`. Does the graph have a node for `torch.exp`?
#
# <details><summary>No: no node needs its value</summary>
#
# No. While FX traces, it cannot know what comes later. So it leaves nothing out.
# </details>
# <details><summary>Yes, and the output reads it</summary>
#
# No. The output reads what <code>forward</code> returns, and nothing else.
# </details>
# <details><summary>Yes, and no node reads it</summary>
#
# Right. Whatever meets a Proxy is recorded. In section 2.5 you look for such nodes.
# </details>


# %% proof=true
def with_unused(x):
    unused = torch.exp(x)  # noqa: F841 - that is the point
    return x + 1


_, exp, add, output = fx.symbolic_trace(with_unused).graph.nodes
assert exp.target is torch.exp and not exp.users and output.all_input_nodes == [add]

# %% [markdown]
# ## 2.1 A graph is a list of nodes
#
# The **IR** (intermediate representation) of FX is small.
# A `Graph` is a list of `Node`s in execution order.
# Each node has an **opcode**, `node.op`, which says what kind of step it is.
# There are exactly six opcodes, and none of them branches or loops.
#
# This model needs all six.


# %%
class Affine(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(4))
        self.proj = nn.Linear(4, 5)

    def forward(self, x, scale=2.0):
        hidden = self.proj(x + self.weight)
        return torch.tanh(hidden * scale).mean(dim=-1)


affine = fx.symbolic_trace(Affine())
affine.graph.print_tabular()

# %% [markdown]
# Read the table from top to bottom: it is the forward pass.
#
# | `op` | what the node does | `target` | `args` and `kwargs` | in `Affine` |
# |---|---|---|---|---|
# | `placeholder` | takes a parameter of `forward` | the parameter's name (a string) | `()`, or the default value | `x`, `scale=2.0` |
# | `get_attr` | reads an attribute of the module, nearly always a tensor | its path, such as `"block.weight"` (a string) | always empty | `self.weight` |
# | `call_function` | calls a function | **the function object itself** | the arguments of the call | `+`, `*`, `torch.tanh(…)` |
# | `call_method` | calls a method of a value | the method's name (a string) | the object comes first, then the arguments | `.mean(dim=-1)` |
# | `call_module` | calls a submodule | the submodule's path, such as `"block.0"` (a string) | the arguments, without `self` | `self.proj(…)` |
# | `output` | returns | `"output"` | one item: the whole return value | `return` |
#
# Only `call_function` has a target that is not a string.

# %%
for node in affine.graph.nodes:
    print(f"{node.op:14} {node.name:8} target is a {type(node.target).__name__}")

# %% proof=true
opcodes = {"placeholder", "get_attr", "call_function", "call_method", "call_module", "output"}
assert {node.op for node in affine.graph.nodes} == opcodes
assert all(isinstance(n.target, str) == (n.op != "call_function") for n in affine.graph.nodes)
examples = [(node.op, str(node.target)) for node in affine.graph.nodes]
assert ("placeholder", "scale") in examples and ("get_attr", "weight") in examples
assert ("call_method", "mean") in examples and ("call_module", "proj") in examples
assert sum(op == "call_function" for op, _ in examples) == 3  # +, *, tanh

# %% [markdown]
# Section 1.2 has two more written forms: `print(gm.graph)` and `gm.code`. And here is the picture:

# %%
draw(affine)

# %% [markdown]
# **Predict the graph.**
# `forward` returns `torch.relu(x) + x.relu()`.
# Which opcodes do the two ReLUs have?
#
# <details><summary>Both are <code>call_function</code>.</summary>
#
# No. `torch.relu` is a function, but `.relu()` is looked up on the value `x`, so FX records a method call.
# </details>
# <details><summary>The first is <code>call_function</code>, the second <code>call_method</code>.</summary>
#
# Right. FX records *how* you called, not what is computed. One operation can be spelled in several ways, and each spelling has its own opcode and target.
# </details>
# <details><summary>Both are <code>call_module</code>.</summary>
#
# No. `call_module` needs a submodule, such as `self.act = nn.ReLU()`. That would be a third spelling of the same operation.
# </details>


# %% proof=true
def two_spellings(x):
    return torch.relu(x) + x.relu()


spellings = fx.symbolic_trace(two_spellings)
_, by_function, by_method, _, _ = spellings.graph.nodes
assert (by_function.op, by_function.target) == ("call_function", torch.relu)
assert (by_method.op, by_method.target) == ("call_method", "relu")

# %% [markdown]
# ### Name and target
#
# `node.name` is the *variable*: unique in its graph, and chosen by FX.
# `node.target` is *what is called or read*.
# Names follow targets only roughly.
# FX adds a number if a name is taken, or is a builtin or a keyword of Python.
# Characters that a name cannot have become `_`, and a name never begins with a digit: the first call in an `nn.Sequential` is named `_0`.


# %%
def misleading(input, relu):
    relu = relu + input
    return torch.sum(relu, dim=0) + relu.sum(dim=0)


named = fx.symbolic_trace(misleading)
named.graph.print_tabular()

# %% proof=true
names = [node.name for node in named.graph.nodes]
assert names == ["input_1", "relu", "add", "sum_1", "sum_2", "add_1", "output"]
assert fx.Graph().placeholder("class").name == "class_1"
assert [n.name for n in fx.symbolic_trace(nn.Sequential(nn.ReLU())).graph.nodes][1] == "_0"

# %% [markdown]
# The node called `relu` is a placeholder here.
# A pass that searches for names would take it for an activation.
# So **search for `op` and `target`; use names only to talk about nodes.**
# PyTorch's own passes call `graph.find_nodes` for that. PyTorch does not promise to keep it, so this course writes loops.

# %%
print([n for n in named.graph.nodes if n.op == "call_function" and n.target is torch.sum])
print(named.graph.find_nodes(op="call_function", target=torch.sum))

# %% proof=true
is_relu = [n for n in named.graph.nodes if n.op == "call_function" and n.target is torch.relu]
assert is_relu == named.graph.find_nodes(op="call_function", target=torch.relu) == []

# %% [markdown]
# This model has ReLUs in several spellings, and more nodes whose names begin with `relu`:


# %%
class Rectified(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x):
        return self.relu(x).relu() + torch.relu(x)


rectified = fx.symbolic_trace(Rectified())
print([node.name for node in rectified.graph.nodes])

# %% proof=true
assert [n.op for n in rectified.graph.nodes if n.target in ("relu.1", "relu")] == [
    "call_module",
    "call_method",
]

# %% [markdown]
# **Drill 02.1a.** Write the list of the names of all nodes of `rectified` that apply a ReLU, in the order of the graph.

# %% drill=true
relus = [n.name for n in rectified.graph.nodes if n.target in ("relu.1", "relu", torch.relu)]
drill("02.1a", relus)
# Mistake: The names follow the attribute `self.relu`, and the first layer in it has another type.
# relus = [node.name for node in rectified.graph.nodes if node.name.startswith("relu")]

# %% [markdown]
# ### Worked example: how many readers does a value have?
#
# Most questions about a graph are one loop over `graph.nodes`.
# This one counts how many nodes are read by no other node, by one, and by several.
# All three keys are always there, which makes the result easy to use.


# %%
def readers(model: nn.Module) -> dict[str, int]:
    """How many nodes of the traced model have no reader, one, or several."""
    counts = {"none": 0, "one": 0, "several": 0}
    for node in fx.symbolic_trace(model).graph.nodes:
        kind = ["none", "one"][len(node.users)] if len(node.users) < 2 else "several"
        counts[kind] += 1
    return counts


readers(Affine())

# %% proof=true
assert readers(Affine()) == {"none": 1, "one": 8, "several": 0}

# %% [markdown]
# The one node without a reader is the output.
#
# Another loop gives a short report about a model that you do not know: what it calls, and how often.
# For modules the type says more than the path, so we look the module up with `gm.get_submodule(node.target)`.


# %%
def report(model: nn.Module) -> Counter:
    """How often each function, method and type of module is called."""
    gm = fx.symbolic_trace(model)
    called = Counter()
    for node in gm.graph.nodes:
        if node.op == "call_function":
            called[node.target.__name__] += 1
        elif node.op == "call_method":
            called["." + node.target] += 1
        elif node.op == "call_module":
            called[type(gm.get_submodule(node.target)).__name__] += 1
    return called


report(Affine())

# %% proof=true
assert report(Affine()) == {"add": 1, "mul": 1, "tanh": 1, ".mean": 1, "Linear": 1}

# %% [markdown] card="count_ops"
# Count the nodes of a model by opcode.
#
# **Given** a model that can be traced.
#
# **Return** a dictionary from opcode to number of nodes, for the trace of the model.
# All six opcodes are keys, even if the model does not use them.
#
# **Do not** change the model.

# %%
# For this model the answer is:
zeros = {"get_attr": 0, "call_function": 0, "call_method": 0}
print({"placeholder": 1, "call_module": 2, "output": 1} | zeros)
draw(fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4), nn.ReLU())))


# %% solve="count_ops"
def count_ops(model: nn.Module) -> dict[str, int]:
    """How many nodes of each opcode the traced model has; all six opcodes are keys."""
    ### BEGIN SOLUTION
    opcodes = ["placeholder", "get_attr", "call_function", "call_method", "call_module", "output"]
    counts = dict.fromkeys(opcodes, 0)  # an opcode that never occurs keeps its zero
    for node in fx.symbolic_trace(model).graph.nodes:
        counts[node.op] += 1
    return counts
    ### END SOLUTION


# %% check="count_ops"
check(count_ops)

# %% hint="count_ops"
hint("count_ops")

# %% [markdown]
# ## 2.2 What a node reads, and who reads it
#
# `node.args` is a tuple and `node.kwargs` is a dictionary, as in a Python call.
# Their items are ordinary Python values: numbers, strings, dtypes, `None`, and **nodes**.
# A node among them means "the value of that node".
# Nodes may be inside tuples, lists, dictionaries and slices, to any depth.


# %%
class Window(nn.Module):
    def forward(self, x, n):
        halves = torch.cat([x[:, :n], x.neg()], dim=1)
        return {"halves": halves, "size": (n, 2)}


window = fx.symbolic_trace(Window())
for node in window.graph.nodes:
    print(f"{node.name:8} args = {node.args}   kwargs = {node.kwargs}")

# %% proof=true
_, n, getitem, neg, cat, output = window.graph.nodes
assert getitem.args[1][1].stop is n  # a node in a slice, in a tuple
assert cat.args == ([getitem, neg],)  # two nodes in a list
assert output.args == ({"halves": cat, "size": (n, 2)},)  # nodes in a dictionary and a tuple

# %%
draw(window)

# %% [markdown]
# ### The other direction: users
#
# `node.users` holds the nodes that read `node`.
# It is a dictionary, used as an ordered set: its keys are the readers, and its values have no meaning.
# So each reader counts once, even if it reads the same value twice.
#
# **Predict the graph.**
# `forward` returns `torch.cat([x, y])`.
# After tracing, you assign `cat.args = ([y, y],)`.
# Which users does `x` have now?
#
# <details><summary><code>cat</code>, because <code>users</code> was filled while tracing</summary>
#
# No. FX updates <code>users</code> at each assignment.
# </details>
# <details><summary>None</summary>
#
# Right. An assignment to `args` updates the users of each node that was read or is read now, even inside a list.
# </details>
# <details><summary>It raises an error: lists in a graph are immutable</summary>
#
# No. You cannot change the old list, but you can assign a new one.
# </details>

# %% proof=true
x, y, cat, _ = fx.symbolic_trace(lambda x, y: torch.cat([x, y])).graph.nodes
assert list(x.users) == [cat]
cat.args = ([y, y],)
assert list(x.users) == [] and list(y.users) == [cat]

# %% [markdown]
# ### Arguments are immutable
#
# FX keeps `users` right whenever you **assign** `node.args` or `node.kwargs`.
# It cannot detect a change inside a list or a dictionary.
# Therefore tuples stay tuples, and lists and dictionaries inside become immutable ones.

# %%
x, y, cat, _ = fx.symbolic_trace(lambda x, y: torch.cat([x, y])).graph.nodes
print(type(cat.args[0]).__name__, type(cat.kwargs).__name__)
with fails(TypeError):
    cat.args[0].append(x)

# %% proof=true
assert type(cat.args[0]).__name__ == "immutable_list" and isinstance(cat.args[0], list)
assert type(cat.kwargs).__name__ == "immutable_dict" and isinstance(cat.kwargs, dict)

# %% [markdown]
# The way to change an argument is to assign a new tuple.
# `update_arg` and `update_kwarg` do that for one entry.
# `node.format_node()` is the node's line in `print(gm.graph)`.

# %%
cat.update_arg(0, [y, x, y])
cat.update_kwarg("dim", 1)
print(cat.format_node())

# %% proof=true
assert list(x.users) == [cat] and cat.kwargs == {"dim": 1}

# %% [markdown]
# Several nodes read the sine of the next function:


# %%
def waves(x):
    s = torch.sin(x)
    return torch.where(s > 0, torch.stack([x, s])[0], s.shape[0]), s


_, sine, *_ = fx.symbolic_trace(waves).graph.nodes

# %% proof=true
assert sine.target is torch.sin

# %% [markdown]
# **Drill 02.2a.** Write the set of the names of the nodes that read `sine`.

# %% drill=true
names_of_readers = {user.name for user in sine.users}
drill("02.2a", names_of_readers)
# Mistake: A node can be deep inside an argument.
# names_of_readers = {node.name for node in sine.graph.nodes if sine in node.args}

# %% [markdown]
# ### Worked example: all numbers in a call
#
# To visit nested arguments, write a function that calls itself.
# This one collects the Python numbers among a node's positional arguments.
# It looks into tuples and lists only, and leaves out `True` and `False`.


# %%
def numbers_of(node: fx.Node) -> list[float]:
    """The numbers among a node's positional arguments, in order."""
    found = []

    def visit(value):
        if type(value) in (int, float):
            found.append(value)
        elif isinstance(value, (tuple, list)):  # also FX's immutable list: it is a list
            for item in value:
                visit(item)

    visit(node.args)
    return found


rolled = fx.symbolic_trace(lambda x: torch.roll(x, (1, 2), (0, -1)).sum(1, True))
_, roll, total, _ = rolled.graph.nodes
print(numbers_of(roll), numbers_of(total))

# %% proof=true
assert numbers_of(roll) == [1, 2, 0, -1] and numbers_of(total) == [1]

# %% [markdown] card="inputs_of"
# List the nodes that a node reads.
#
# **Given** a node of some graph.
#
# **Return** a list of the nodes that it reads, each once,
# in the order of their first appearance in `args`, then in `kwargs`.
# They may be nested to any depth in tuples, lists, dictionaries and slices.
# A slice counts as start, stop, step.
#
# **Do not** use `all_input_nodes` or `_input_nodes` in any way. The check also looks at the text of your answer.


# %%
class Pick(nn.Module):
    def forward(self, a, b, k):
        both = torch.stack([a, b, a])
        return both[:, k:]


draw(fx.symbolic_trace(Pick()))
# Here `inputs_of(stack)` is [a, b], and `inputs_of(getitem)` is [stack, k].


# %% solve="inputs_of"
def inputs_of(node: fx.Node) -> list[fx.Node]:
    """The nodes that `node` reads, each once, in order of first appearance."""
    ### BEGIN SOLUTION
    found: dict[fx.Node, None] = {}  # an ordered set: a key keeps its first place

    def visit(value):
        if isinstance(value, fx.Node):
            found[value] = None
        elif isinstance(value, (tuple, list)):
            for item in value:
                visit(item)
        elif isinstance(value, dict):
            for item in value.values():
                visit(item)
        elif isinstance(value, slice):
            for item in (value.start, value.stop, value.step):
                visit(item)

    visit(node.args)
    visit(node.kwargs)
    return list(found)
    ### END SOLUTION


# %% check="inputs_of"
check(inputs_of)

# %% hint="inputs_of"
hint("inputs_of")

# %% [markdown]
# ## 2.3 The ends of a graph: placeholders, attributes, output
#
# ### Placeholders are the signature
#
# The placeholders, in order, are the parameters of `forward`.
# A default value is the only argument that a placeholder has.
# `*rest` and `**options` keep their stars in the *target*; a name cannot hold a star.
# A type annotation is kept in `node.type`.


# %%
class Star(nn.Module):
    def forward(self, x: torch.Tensor, scale=2.0, *rest, **options):
        return x * scale + rest[0] * options["bias"]


star = fx.symbolic_trace(Star())
placeholders = [node for node in star.graph.nodes if node.op == "placeholder"]
for node in placeholders:
    print(f"name {node.name:9} target {node.target:10} args {node.args}")

# %% proof=true
import inspect

assert [node.target for node in placeholders] == ["x", "scale", "*rest", "**options"]
assert [node.name for node in placeholders] == ["x", "scale", "_rest", "_options"]
assert placeholders[1].args == (2.0,)
assert list(inspect.signature(star.forward).parameters) == ["x", "scale", "rest", "options"]
assert placeholders[0].type is torch.Tensor and placeholders[1].type is None

# %% [markdown]
# ### `get_attr` reads tensors
#
# A parameter, a buffer, or a tensor that is a plain attribute becomes a `get_attr` node.
# The target is a path from the root, so a tensor of a submodule is reached with dots.
# A plain number is not a tensor: it is written into the arguments.


# %%
class Attributes(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(3))
        self.register_buffer("mean", torch.rand(3))
        self.plain = torch.rand(3)
        self.power = 2
        self.inner = nn.Linear(3, 3)

    def forward(self, x):
        x = (x - self.mean) * self.gain + self.plain
        return torch.matmul(x**self.power, self.inner.weight)


attributes = fx.symbolic_trace(Attributes())
attributes.graph.print_tabular()

# %% proof=true
read = [node.target for node in attributes.graph.nodes if node.op == "get_attr"]
assert read == ["mean", "gain", "plain", "inner.weight"]
pow_node = next(n for n in attributes.graph.nodes if n.target is operator.pow)
assert pow_node.args[1] == 2

# %% [markdown]
# Two things to remember.
# `self.inner(x)` would be a `call_module`; `self.inner.weight` is a `get_attr`, because it reads a tensor.
# And a `GraphModule` registers the tensors that its graph reads: the plain attribute has become a buffer.

# %%
print("before:", [name for name, _ in Attributes().named_buffers()])
print("after: ", [name for name, _ in attributes.named_buffers()])

# %% proof=true
assert "plain" not in dict(Attributes().named_buffers())
assert "plain" in dict(attributes.named_buffers())

# %% [markdown]
# Which tensors are read *by the graph* here?


# %%
class Tensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.rand(3))
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def forward(self, x):
        return self.layers(x) + self.layers[0].bias - self.shift


# %% [markdown]
# **Drill 02.3a.** Write the list of the targets of all `get_attr` nodes of `Tensors()`, in the order of the graph.

# %% drill=true
targets = ["layers.0.bias", "shift"]
drill("02.3a", targets)
# Mistake: A leaf reads its own tensors; the graph only calls the leaf.
# targets = [name for name, _ in Tensors().named_parameters()]

# %% [markdown]
# ### The output node holds one value
#
# **Predict the graph.**
# `forward` returns `x + 1, x * 2`.
# What is `output.args`?
#
# <details><summary><code>(add, mul)</code></summary>
#
# No. That would be an output with two arguments. FX returns only the first one and says nothing about the second; you will see that below.
# </details>
# <details><summary><code>((add, mul),)</code></summary>
#
# Right. `output.args` has exactly one item: the whole return value. Here this value is a tuple of two nodes.
# </details>
# <details><summary>There are two output nodes.</summary>
#
# No. A sound graph has exactly one output node, whatever is returned.
# </details>

# %% proof=true
pair = fx.symbolic_trace(lambda x: (x + 1, x * 2))
x, add, mul, output = pair.graph.nodes
assert output.args == ((add, mul),)
assert len(output.args) == 1

# %% [markdown]
# The return value may be nested and contain constants. It need not be a tensor.

# %%
mixed = fx.symbolic_trace(lambda x: {"sum": x.sum(), "parts": [x, (x.neg(), 3, "done")]})
*_, output = mixed.graph.nodes
print(output.args[0])

# %% proof=true
assert output.args[0]["parts"][1][1:] == (3, "done")

# %% [markdown]
# The value of a *call* may be a tuple as well. `torch.topk` returns two tensors, and it is still one node.
# Each index is a call of `operator.getitem`.

# %%
largest = fx.symbolic_trace(lambda x: torch.topk(x, 2)[0])
print(largest.graph)

# %% proof=true
x, topk, getitem, output = largest.graph.nodes
assert (getitem.target, getitem.args) == (operator.getitem, (topk, 0))

# %% [markdown]
# ## 2.4 Building a graph by hand
#
# `Graph` has a method for each kind of node.
# Each method makes one node, puts it at the **insertion point**, and returns it.
# In a new graph the insertion point is the end, so the nodes come in the order of your calls.
#
# | method | makes |
# |---|---|
# | `graph.placeholder(name, default_value=...)` | a parameter |
# | `graph.get_attr(path)` | a tensor of the module |
# | `graph.call_function(function, args, kwargs)` | a function call |
# | `graph.call_method(name, args, kwargs)` | a method call; the object is `args[0]` |
# | `graph.call_module(path, args, kwargs)` | a submodule call |
# | `graph.output(value)` | the return; it takes the value itself |
#
# The node that one method returns is an argument of the next.

# %%
graph = fx.Graph()
x = graph.placeholder("x")
bias = graph.get_attr("bias")
normed = graph.call_module("norm", (x,))
shifted = graph.call_function(operator.sub, (normed, bias))
flat = graph.call_method("flatten", (shifted,), {"start_dim": 1})
graph.output(flat)
print(graph)

# %% [markdown]
# So far there is only a list of nodes.
# The graph names `norm` and `bias`, but there is no module yet that has them.
# `fx.GraphModule(root, graph)` takes them from `root`.
# The root is a module, or a dictionary from path to object.
# A parameter in such a dictionary stays a parameter; any other tensor becomes a buffer.

# %%
norm, bias_tensor = nn.LayerNorm(4), torch.rand(4)
built = fx.GraphModule({"norm": norm, "bias": bias_tensor}, graph)
print(built.code)
print("holds the module given, not a copy:", built.norm is norm)

# %% proof=true
x = torch.randn(3, 2, 4)
torch.testing.assert_close(built(x), (norm(x) - bias_tensor).flatten(start_dim=1))
assert built.norm is norm and "bias" in dict(built.named_buffers())
learned = fx.GraphModule({"norm": norm, "bias": nn.Parameter(bias_tensor)}, copy.deepcopy(graph))
assert "bias" in dict(learned.named_parameters())  # a parameter stays a parameter

# %% [markdown]
# The other kind of root is a module on which you register things yourself.
# `GraphModule` then copies over what the graph names, and nothing else.
# A `GraphModule` takes over the graph that it is given: `graph.owning_module` is the newest one.
# So give a second module a copy of the graph.

# %%
root = nn.Module()
root.norm = norm
root.unused = nn.Linear(4, 4)
root.register_buffer("bias", bias_tensor)
again = fx.GraphModule(root, copy.deepcopy(built.graph))
print("again has", [name for name, _ in again.named_children()])
print("built owns its graph:", built.graph.owning_module is built)

third = fx.GraphModule(root, built.graph)  # not a copy
print("built owns its graph:", built.graph.owning_module is built)

# %% proof=true
assert again.norm is norm and not hasattr(again, "unused")
assert again.graph.owning_module is again and built.graph.owning_module is third
x = torch.randn(3, 2, 4)
torch.testing.assert_close(again(x), built(x))

# %% [markdown]
# **Predict the graph.**
# `a` and `b` are nodes.
# Which of these lines makes a `forward` that returns a tuple?
#
# <details><summary><code>graph.output(a, b)</code></summary>
#
# No. The second parameter of `graph.output` is a type annotation. FX tries to write the node `b` as a type, and fails when it generates the code.
# </details>
# <details><summary><code>graph.output((a, b))</code></summary>
#
# Right. `output` takes one value, and here this value is a tuple. The node then has `args == ((a, b),)`.
# </details>
# <details><summary><code>graph.output(a)</code> and then <code>graph.output(b)</code></summary>
#
# No. That makes two output nodes. The code gets two `return` lines, and only the first one can ever run.
# </details>

# %% proof=true
graph = fx.Graph()
x = graph.placeholder("x")
sin, cos = graph.call_method("sin", (x,)), graph.call_method("cos", (x,))
assert graph.output((sin, cos)).args == ((sin, cos),)
both = fx.GraphModule(nn.Module(), graph)
assert isinstance(both(torch.ones(2)), tuple)
graph = fx.Graph()
x = graph.placeholder("x")
graph.output(x, x)
with fails(AttributeError):
    graph.python_code("self")

# %% [markdown]
# **Drill 02.4a.** Build, without tracing, the graph of a `forward(x)` that returns `1 - x` and `x` in a tuple.
# Use `operator.sub`. The value is its code: `code = your_graph.python_code("self").src`.

# %% drill=true
small = fx.Graph()
given = small.placeholder("x")
rest = small.call_function(operator.sub, (1, given))
small.output((rest, given))
code = small.python_code("self").src
drill("02.4a", code)
# Mistake: Your graph computes something else: a subtraction has an order.
# small = fx.Graph()
# given = small.placeholder("x")
# rest = small.call_function(operator.sub, (given, 1))
# small.output((rest, given))
# code = small.python_code("self").src

# %% [markdown]
# A path that the root does not have is refused at once.

# %%
broken = fx.Graph()
broken.output(broken.call_module("nrom", (broken.placeholder("x"),)))
with fails(RuntimeError):
    fx.GraphModule({"norm": norm}, broken)

# %% [markdown]
# ### Where a new node goes
#
# In a traced graph, the insertion point is after the output. A node that you add there never runs.
# `with graph.inserting_before(node):` moves the insertion point for a moment.
# Chapter 3 is about editing; here you only need to know that the insertion point exists.

# %%
late = fx.symbolic_trace(lambda x: x.sin())
x, sin, output = late.graph.nodes
cos = late.graph.call_method("cos", (sin,))
print(list(late.graph.nodes))  # after the output

with late.graph.inserting_before(output):
    exp = late.graph.call_method("exp", (sin,))
print(list(late.graph.nodes))

# %% proof=true
assert list(late.graph.nodes) == [x, sin, exp, output, cos]

# %% [markdown] card="build_by_hand"
# Build a module without tracing.
#
# **Given** `proj`, an `nn.Linear`, and `shift`, a tensor.
#
# **Return** a `GraphModule` whose method is `forward(x, scale=2.0)` and which computes
# `torch.relu(proj(x) * scale + shift).sum(dim=-1)`.
# Its graph has exactly nine nodes, of all six opcodes:
# two placeholders, a `call_module` of `proj`, a `get_attr` of a registered buffer called `shift`,
# a `call_function` each for the multiplication, the addition and the ReLU, a `call_method` for `sum`, and the output.
# The module that is called is `proj` itself, not a copy.
#
# **Do not** trace, and do not change `proj` or `shift`.
#
# **Fine print**
#
# You may register `proj` under any name. For calls that trace, the text of your answer is looked at, too.


# %%
class Wanted(nn.Module):
    def __init__(self, proj, shift):
        super().__init__()
        self.proj = proj
        self.register_buffer("shift", shift)

    def forward(self, x, scale=2.0):
        return torch.relu(self.proj(x) * scale + self.shift).sum(dim=-1)


# This is what tracing would give. You must build it without tracing.
draw(fx.symbolic_trace(Wanted(nn.Linear(3, 4), torch.rand(4))))


# %% solve="build_by_hand"
def build_by_hand(proj: nn.Linear, shift: torch.Tensor) -> fx.GraphModule:
    """A module with `forward(x, scale=2.0)`: relu(proj(x) * scale + shift), summed over dim -1."""
    ### BEGIN SOLUTION
    graph = fx.Graph()
    x = graph.placeholder("x")
    scale = graph.placeholder("scale", default_value=2.0)
    projected = graph.call_module("proj", (x,))
    scaled = graph.call_function(operator.mul, (projected, scale))
    moved = graph.call_function(operator.add, (scaled, graph.get_attr("shift")))
    active = graph.call_function(torch.relu, (moved,))
    graph.output(graph.call_method("sum", (active,), {"dim": -1}))
    # A tensor in a dictionary root is registered as a buffer.
    return fx.GraphModule({"proj": proj, "shift": shift}, graph)
    ### END SOLUTION


# %% check="build_by_hand"
check(build_by_hand)

# %% hint="build_by_hand"
hint("build_by_hand")

# %% [markdown]
# ## 2.5 Following values through a graph
#
# Nodes are in execution order: a node reads only nodes that come before it.
# Therefore one pass over the list is enough to follow values.
# Go *forward* to find what depends on a value.
# Go *backward* to find what a value depends on.
#
# ### Worked example: what depends on an input?
#
# A node depends on the parameter `name` if it is that placeholder, or if it reads a node that depends on it.


# %%
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(4, 4)
        self.act = nn.Sigmoid()

    def forward(self, x, mask):
        gate = self.act(mask)
        unused = gate.neg()
        torch.stack([unused, gate])
        return self.up(x) * gate


def depends_on(model: nn.Module, name: str) -> list[str]:
    """The nodes of the traced model whose value depends on the parameter `name`."""
    graph = fx.symbolic_trace(model).graph
    reached = set()
    for node in graph.nodes:  # forward: everything a node reads has been seen
        is_start = node.op == "placeholder" and node.target == name
        if is_start or any(read in reached for read in node.all_input_nodes):
            reached.add(node)
    return [node.name for node in graph.nodes if node in reached]


print("x:   ", depends_on(Gate(), "x"))
print("mask:", depends_on(Gate(), "mask"))
draw(fx.symbolic_trace(Gate()))

# %% proof=true
assert depends_on(Gate(), "x") == ["x", "up", "mul", "output"]
assert depends_on(Gate(), "mask") == ["mask", "act", "neg", "stack", "mul", "output"]

# %% [markdown]
# **Predict the graph.**
# `neg` and `stack` are of no use in `Gate`: their values never reach the output.
# How many of these two have no users?
#
# <details><summary>Both.</summary>
#
# No. `stack` reads `neg`, so `neg` has a user. A value can be of no use although a node reads it.
# </details>
# <details><summary>One: <code>stack</code>.</summary>
#
# Right. No node reads `stack`. `neg` is read, but only by a node that is of no use itself. Looking for nodes without users finds the end of a dead chain and not the chain.
# </details>
# <details><summary>None.</summary>
#
# No. Nothing reads `stack`; Python threw its value away.
# </details>

# %% proof=true
gate = fx.symbolic_trace(Gate())
unread = [node.name for node in gate.graph.nodes if not node.users]
assert unread == ["stack", "output"]

# %% [markdown] card="dead_nodes"
# Find the nodes whose value is of no use.
#
# **Given** a model that can be traced. Its operations have no side effects.
#
# **Return** the names, in graph order, of the nodes of its trace whose value can never reach the output, neither directly nor through other nodes.
# Placeholders are never listed: they belong to the signature.
#
# **Do not** use `eliminate_dead_code`, and do not change the model. The check also looks at the text of your answer.


# %%
class Wasteful(nn.Module):
    def forward(self, x, mask):
        gate = torch.sigmoid(mask)
        torch.stack([gate.neg(), gate])
        return x * gate


# `dead_nodes(Wasteful())` is ["neg", "stack"]: what the first graph has and the second has not.
draw.diff(fx.symbolic_trace(Wasteful()), fx.symbolic_trace(lambda x, mask: x * torch.sigmoid(mask)))


# %% solve="dead_nodes"
def dead_nodes(model: nn.Module) -> list[str]:
    """Names of the nodes whose value cannot reach the output; no placeholders."""
    ### BEGIN SOLUTION
    graph = fx.symbolic_trace(model).graph
    alive = set()
    for node in reversed(graph.nodes):  # backward: all readers have been seen
        if node.op == "output" or any(user in alive for user in node.users):
            alive.add(node)
    return [n.name for n in graph.nodes if n not in alive and n.op != "placeholder"]
    ### END SOLUTION


# %% check="dead_nodes"
check(dead_nodes)

# %% hint="dead_nodes"
hint("dead_nodes")

# %% [markdown]
# ## 2.6 Graph and code are two things
#
# A `GraphModule` runs its **code**, not its graph.
# The code is generated when the module is made, and not when you edit the graph.
# After an edit the graph says one thing and the module does another, until `gm.recompile()` generates the code again.
# This is what happened in the story.

# %%
edited = fx.symbolic_trace(lambda x: torch.relu(x))
x, relu, output = edited.graph.nodes
relu.target = torch.neg

value = torch.tensor([-1.0, 2.0])
print(edited.graph, edited.code)
edited.graph.lint()  # no complaint
print("stale:     ", edited(value))
edited.recompile()
print("recompiled:", edited(value))

# %% proof=true
assert "torch.neg" in edited.code
assert edited(value).tolist() == [1.0, -2.0]
stale = fx.symbolic_trace(lambda x: torch.relu(x))
next(iter(stale.graph.find_nodes(op="call_function", target=torch.relu))).target = torch.neg
assert "torch.neg" in str(stale.graph) and "torch.relu" in stale.code
assert stale(value).tolist() == [0.0, 2.0]
stale.graph.lint()

# %% [markdown]
# You can ask a graph for its code without recompiling the module: `gm.graph.python_code("self").src`.
# If this string equals `gm.code`, code and graph agree.
# Here the graph is edited a second time, back to `torch.relu`:

# %%
relu.target = torch.relu  # and not recompiled
print("agree:", edited.code == edited.graph.python_code("self").src)

# %% [markdown]
# **Predict the result.**
# Which of these does **not** compute the new operation, `relu`?
#
# <details><summary><code>edited(value)</code></summary>
#
# Right. The module runs its code, and the code still says `torch.neg`.
# </details>
# <details><summary><code>fx.Interpreter(edited).run(value)</code></summary>
#
# It does compute `relu`. An Interpreter walks through the graph node by node and never looks at the code. You will meet it in chapter 6.
# </details>
# <details><summary><code>copy.deepcopy(edited)(value)</code></summary>
#
# It does compute `relu`. The copy is a new `GraphModule`: it copies the graph, and generates its own code from it. So a stale module disagrees with its own copy.
# </details>

# %% proof=true
assert edited.code != edited.graph.python_code("self").src
assert edited(value).tolist() == [1.0, -2.0]
assert fx.Interpreter(edited).run(value).tolist() == [0.0, 2.0]
assert copy.deepcopy(edited)(value).tolist() == [0.0, 2.0]

# %% [markdown]
# **Drill 02.6a.** Now you trace `edited`. Write the target of the one call in the new graph: the function itself.

# %% drill=true
target = torch.neg
drill("02.6a", target)
# Mistake: A trace comes from running the module.
# target = torch.relu

# %% proof=true
assert [n.target for n in fx.symbolic_trace(edited).graph.nodes][1] is torch.neg

# %% [markdown]
# ### What `lint` checks
#
# `graph.lint()` raises an exception if it finds a fault in the graph.
# It checks that each node belongs to this graph, that it reads only earlier nodes, and that names are unique.
# If the graph belongs to a module, it also checks that targets exist. It never looks at the code.


# %%
def lint_says(gm: fx.GraphModule) -> str:
    """What `lint` complains about, or an empty string."""
    try:
        gm.graph.lint()
    except Exception as error:
        return str(error).splitlines()[0]
    return ""


print("stale code:  ", repr(lint_says(edited)))  # lint does not see it
relu.args = (relu,)
print("reads itself:", lint_says(edited))
relu.args = (x,)

# %% proof=true
assert lint_says(edited) == "" and edited.code != edited.graph.python_code("self").src
relu.args = (relu,)
assert "used before it has been defined" in lint_says(edited)
relu.args = (x,)
loose = fx.Tracer().trace(nn.Sequential(nn.ReLU()))
list(loose.nodes)[1].target = "nope"
loose.lint()  # no complaint: without a module there are no targets to look for

# %% [markdown]
# ### What every check looks at
#
# From here on, you return graphs. The checks of this course look at a few things that no card repeats:
#
# * **The model that you were given stays as it was**: graph, code, parameters, buffers, submodules, attributes, training flags.
# * A `GraphModule` is a model, too: trace it again. An argument called `gm` is not traced: its graph, names and metadata are its own.
# * The graph that you return passes `lint()`, ends with its one output, and reads neither nodes of another graph nor raw tensors. No module has a key with a dot.
# * `forward` keeps its signature. The code is what the graph says. The result can be copied.
# * Modules are nested, shared, and called twice. Operations come as keyword calls, too. Nothing is kept from call to call.
# * Results are the same if structure, dtype and values are, within the tolerances of the dtype.

# %% [markdown]
# ## 2.7 Her module
#
# Back to the story. The colleague's module is GoogLeNet, and here is what she did to it.
# First, what you know about the sound network, with the functions of this chapter.
# (If a cell here raises `NotImplementedError`, the exercise it uses is still open.)

# %%
from torchvision.models import googlenet

from autograder.given import assert_same_results, images, make_alive

network = make_alive(googlenet(weights=None, init_weights=False))
traced = fx.symbolic_trace(network)
print(report(network).most_common())

# %% proof=true
assert report(network)["relu"] == 57

# %% uses="count_ops"
count_ops(network)

# %% proof=true
assert count_ops(network)["call_module"] == 130

# %% uses="dead_nodes"
print("dead nodes:", dead_nodes(network))

# %% proof=true
assert dead_nodes(network) == []

# %% uses="inputs_of"
cat = next(node for node in traced.graph.nodes if node.target is torch.cat)
print("the first concatenation reads", inputs_of(cat))  # four branches of an inception block

# %% proof=true
assert len(inputs_of(cat)) == 4

# %% [markdown]
# She wanted the first activation to be `torch.tanh`.

# %%
hers = fx.symbolic_trace(network)
first = next(node for node in hers.graph.nodes if node.target is nn.functional.relu)
first.target, first.kwargs = torch.tanh, {}

image = images(1)
with torch.no_grad():
    print("computes the old result:", torch.equal(hers(image), network(image)))
print("lint says:", repr(lint_says(hers)))

# %% proof=true
with torch.no_grad():
    assert torch.equal(hers(image), network(image))
assert "tanh" in str(hers.graph) and lint_says(hers) == ""

# %% [markdown]
# `lint` has nothing to say, and it is right: the graph is sound. Graph and code differ. So recompile.

# %%
print("code and graph agree:", hers.code == hers.graph.python_code("self").src)
hers.recompile()
print("code and graph agree:", hers.code == hers.graph.python_code("self").src)

# The same change, made by hand in a copy of the model:
by_hand = copy.deepcopy(network)
by_hand.conv1.forward = lambda x: torch.tanh(by_hand.conv1.bn(by_hand.conv1.conv(x)))
assert_same_results(hers, by_hand, image)
with fails(AssertionError):
    assert_same_results(hers, network, image)

# %% proof=true
assert hers.code == hers.graph.python_code("self").src

# %% [markdown]
# Some faults show neither in the code nor in `lint`: see the deep dive `02b_lint`.

# %% [markdown]
# ## Common mistakes
#
# Some of these end with an error; the worse ones do not.
#
# ### Looking only at the top level of `args`
#
# `isinstance(a, fx.Node) for a in node.args` misses every node in a list, a slice or a keyword argument.

# %%
catted = fx.symbolic_trace(lambda x, y: torch.cat([x, y], dim=0))
x, y, cat, output = catted.graph.nodes
print("top level:", [a for a in cat.args if isinstance(a, fx.Node)])
print("right:    ", cat.all_input_nodes)

# %% proof=true
assert [a for a in cat.args if isinstance(a, fx.Node)] == []  # it reads two nodes!
assert cat.all_input_nodes == [x, y]  # right

# %% [markdown]
# ### Copying a node with `deepcopy`
#
# The copy looks the same and has the same name, but it lives in another graph.
# The code shows two nodes as one variable; at run time it holds `None`.

# %%
chain = fx.symbolic_trace(lambda x: torch.relu(torch.exp(x)))
x, exp, relu, output = chain.graph.nodes
twin = copy.deepcopy(exp)
relu.args = (twin,)
chain.recompile()
print(chain.code, lint_says(chain))
with fails(TypeError):
    chain(torch.rand(2))

# %% proof=true
assert twin.name == exp.name and twin.graph is not chain.graph
assert "does not belong to this Graph" in lint_says(chain)

# %% [markdown]
# Make new nodes with the methods of the graph.
# To copy one into *another* graph, use `graph.node_copy`, which is in chapter 5.
#
# ### A tensor among the arguments
#
# FX accepts it, and so does `lint`. But code cannot spell a tensor: FX writes a description, without the values.
# An `Interpreter` passes the tensor itself, so a test with it misses the mistake.

# %%
plus = fx.symbolic_trace(nn.Identity())
x, output = plus.graph.nodes
plus.register_buffer("one", torch.tensor(1.0))
with plus.graph.inserting_before(output):
    one = plus.graph.get_attr("one")
    total = plus.graph.call_function(torch.add, (x, torch.tensor(1.0)))
output.args = (total,)
plus.recompile()
plus.graph.lint()  # no complaint
print(plus.code)
print("the Interpreter:", fx.Interpreter(plus).run(torch.tensor([1.0])))
with fails(NameError):
    plus(torch.tensor([1.0]))

total.args = (x, one)  # right: a buffer, read by `get_attr`; for a number, write the number
plus.recompile()

# %% proof=true
assert plus(torch.tensor([1.0])).tolist() == [2.0]
total.args = (x, torch.tensor(1.0))
assert fx.Interpreter(plus).run(torch.tensor([1.0])).tolist() == [2.0]

# %% [markdown]
# ### `args=(n)` without a comma
#
# `(n)` is `n`, not a tuple.
# The methods of `Graph` notice it.

# %%
graph = fx.Graph()
x = graph.placeholder("x")
with fails(AssertionError):
    graph.call_function(torch.relu, (x))

# %% [markdown]
# An assignment to `node.args` does **not** notice it.
# The error comes later and from somewhere else.

# %%
relu = graph.call_function(torch.relu, (x,))
relu.args = (x)  # accepted!  # fmt: skip
with fails(TypeError):
    graph.python_code("self")

# %% proof=true
assert relu.args is x
relu.args = (x,)  # right: the comma makes the tuple
graph.output(relu)
assert "torch.relu(x)" in graph.python_code("self").src

# %% [markdown]
# ### `get_attr` for a submodule
#
# `get_attr` passes the module *object*; it does not call it. `lint` accepts that, because the target exists.
# (Graphs of `torch.export` do it on purpose, for the branches of `torch.cond`: chapter 11.)

# %%
graph = fx.Graph()
x = graph.placeholder("x")
layer = graph.get_attr("layer")
graph.output(graph.call_function(torch.relu, (layer,)))
confused = fx.GraphModule({"layer": nn.Linear(4, 4)}, graph)
with fails(TypeError):
    confused(torch.rand(2, 4))

# %% proof=true
assert lint_says(confused) == ""
graph = fx.Graph()
layer = graph.call_module("layer", (graph.placeholder("x"),))  # right
graph.output(graph.call_function(torch.relu, (layer,)))
linear, rows = nn.Linear(4, 4), torch.rand(2, 4)
assert torch.equal(fx.GraphModule({"layer": linear}, graph)(rows), torch.relu(linear(rows)))

# %% [markdown]
# ### An output with two arguments
#
# `output.args = (a, b)` returns `a` and drops `b` in silence.
# `lint` accepts it.

# %%
pair = fx.symbolic_trace(lambda x: (x + 1, x * 2))
x, add, mul, output = pair.graph.nodes
output.args = (add, mul)
pair.recompile()
print(pair(torch.ones(1)), repr(lint_says(pair)))  # no tuple, no complaint

# %% proof=true
assert lint_says(pair) == "" and isinstance(pair(torch.ones(1)), torch.Tensor)
output.args = ((add, mul),)  # right: one argument, a tuple
pair.recompile()
assert len(pair(torch.ones(1))) == 2


# %% [markdown]
# ## Recap
#
# 1. Six opcodes; only `call_function` has a function as its target, the others have strings.
# 2. Search by `op` and `target`. A name is only a unique label.
# 3. Nodes can be nested in arguments; assign new arguments, and `users` follows, one entry for each reader.
# 4. The placeholders are the signature, the one output holds the whole result, `get_attr` reads attributes by path.
# 5. A module runs its code: recompile after every edit. `lint` is a first test and not a proof.
#
# **Not taught here.** Replacing, inserting and erasing nodes: chapter 3. When a node without readers must stay: the deep dive `03b_effects`.
# Copying nodes between graphs: chapter 5. Running a graph node by node: chapter 6.
# `node.meta`, which carries shapes and stack traces: chapter 6.
# What `lint` misses: the deep dive `02b_lint`.
#
# ### Cheat sheet
#
# | you want | you write |
# |---|---|
# | nodes of one kind | `[n for n in graph.nodes if n.op == "call_function" and n.target is torch.relu]` |
# | the module that a node calls | `gm.get_submodule(node.target)` |
# | what a node reads, who reads it | `node.all_input_nodes`, `node.users` |
# | to change an argument | `node.args = (...)`, `node.update_arg(0, value)`, `node.update_kwarg("dim", 1)` |
# | a new graph | `graph = fx.Graph()`, `graph.placeholder("x")`, …, `graph.output(value)` |
# | a module around it | `fx.GraphModule({"path": module_or_tensor}, graph)` |
# | new code after an edit | `gm.recompile()` |
# | to see whether code and graph agree | `gm.code == gm.graph.python_code("self").src` |
# | a first test | `gm.graph.lint()`, and `wellformed(gm)` of the deep dive `02b_lint` |
#
# **Sources and further reading**
#
# * PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), the reference of `Graph`, `Node` and `GraphModule`, and the docstring of `Graph.lint`.
# * The paper [torch.fx](https://arxiv.org/abs/2112.08429), describes the IR and its six opcodes.

# %%
progress()
