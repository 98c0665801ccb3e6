# %% [markdown]
# # 0 · Start here
#
# **After this chapter you know what torch.fx is for, where it stands in PyTorch today, and how the exercises of this course answer you.**
#
# | | |
# |---|---|
# | **You need** | Python, and enough PyTorch to write an `nn.Module` with a `forward` |
# | **Time** | about 45 minutes, 5 of them for the exercise |
#
# **When you are done, you can**
#
# 1. name the three parts of FX and say what each of them gives to the next;
# 2. trace a model, and read its graph and its code;
# 3. say for a given need whether `symbolic_trace`, `torch.compile` or `torch.export` serves it;
# 4. name three common statements about FX that are not true, and the test that shows it;
# 5. run a check cell, tell its four outcomes apart, and use a failing card to find the fault.

# %% [markdown]
# ## A story
#
# You get a trained model from another team.
# It must run on a chip that cannot compute SiLU, but can compute ReLU.
# The model calls SiLU in forty places: as a function, as a method of a module, inside a loop.
# The source code belongs to the other team, and it changes every week.
#
# You could edit a copy of their code by hand, each week, in forty places.
# Or you write one function that takes *any* model and returns the same model with ReLU in place of SiLU.
# Such a function is called a **pass**.
# To write one, you need the model in a form that a program can read and edit.
# torch.fx gives you that form, and this course teaches you to write passes that you can trust.

# %%
import warnings

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder import check, draw, grade, hint, progress

torch.manual_seed(0)
print(torch.__version__)

# %% [markdown]
# Each chapter begins with a cell like this one.
# Run it first.
# Every statement of this course about PyTorch was tested on version 2.14.1.

# %% [markdown]
# ## 0.1 The three parts of FX
#
# FX is a toolkit inside PyTorch.
# It has three parts, and each one hands its result to the next.
#
# 1. **Capture.** `fx.symbolic_trace(model)` runs `forward` once, with stand-ins in place of tensors, and records what happens to them.
# 2. **IR.** The record is a `Graph`: a list of `Node`s, one for each step. IR means *intermediate representation*. Your passes read it and edit it.
# 3. **Code generation.** FX writes Python code from the graph. The result is a `GraphModule`: an `nn.Module` that runs this code.
#
# Python goes in and Python comes out.
# That is why you can inspect the result, train it, save it, or trace it again, like any other model.


# %%
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return x * F.silu(self.linear(x))


model = Gate()
gm = fx.symbolic_trace(model)  # part 1: capture

print(gm.graph)  # part 2: the IR
print(gm.code)  # part 3: the generated code

x = torch.randn(2, 4)
assert isinstance(gm, fx.GraphModule) and isinstance(gm, nn.Module)
assert torch.equal(gm(x), model(x))

# %% [markdown]
# Read the graph from top to bottom.
# Each line is a node.
# `%x` is the input, and `return mul` is the node called `output`.
# In between, each node says what it calls and which nodes it reads.
# The code below the graph says the same once more, as a `forward`.
#
# This is the graph as a picture, with one box for each node.

# %%
draw(gm)

# %% [markdown]
# Now the task of the story, in the smallest case.
# One edit of one node, then new code from the edited graph.
# Chapter 3 explains each of these lines; here you only need to see that a few lines are enough.

# %%
for node in gm.graph.nodes:
    if node.target is F.silu:
        node.target = F.relu

gm.recompile()
print(gm.code)

torch.testing.assert_close(gm(x), x * torch.relu(model.linear(x)))

# %% [markdown]
# **Predict the graph.**
# Which of these are nodes of `gm.graph`?
#
# <details><summary>The matrix multiplication inside <code>nn.Linear</code></summary>
#
# No. FX does not look inside the modules of <code>torch.nn</code>.
# The linear layer is one node, a call of the submodule <code>linear</code>.
# Chapter 1 shows how this is decided.
# </details>
# <details><summary>The parameter <code>linear.weight</code></summary>
#
# No. The weight is used inside the linear layer, and the layer is one node.
# The weight still exists, as a parameter of the module <code>gm.linear</code>.
# </details>
# <details><summary>The multiplication <code>x * …</code>, but not the statement <code>return</code></summary>
#
# Half of it. The multiplication is a node, and the <code>return</code> is one too: its opcode is <code>output</code>.
# </details>
# <details><summary>The multiplication <code>x * …</code> and the statement <code>return</code></summary>
#
# Right. The operator <code>*</code> meets a stand-in, and FX records it as a call of the function <code>operator.mul</code>.
# The <code>return</code> is the last node. Its opcode is <code>output</code>, and every graph has exactly one.
# </details>

# %%
assert [node.name for node in gm.graph.nodes] == ["x", "linear", "silu", "mul", "output"]
assert [node.op for node in gm.graph.nodes] == [
    "placeholder", "call_module", "call_function", "call_function", "output",
]  # fmt: skip
assert dict(gm.named_parameters()).keys() == {"linear.weight", "linear.bias"}

# %% [markdown]
# The third node is still called `silu`, although it calls ReLU now.
# A node's *name* is a variable's name; what it *calls* is its target.
# Passes that search by name find the wrong nodes, and this course returns to that more than once.

# %% [markdown]
# ## 0.2 Where FX stands in PyTorch today
#
# `torch.fx` appeared in 2021, before `torch.compile` existed.
# In 2026 its parts have different roles.
#
# * **The IR is everywhere.** `torch.compile` and `torch.export` both hand you an `fx.GraphModule`. Whoever works on PyTorch's compiler stack reads and edits FX graphs.
# * **Capture with `symbolic_trace` is not deprecated.** It remains the smallest tool, and it needs no example input. It keeps your modules and their names, and that makes it good for editing models.
# * **Capture for deployment has moved.** Use `torch.export` for a model that leaves Python, and `torch.compile` for speed inside Python.
# * **TorchScript is deprecated.** `torch.jit.script` and `torch.jit.trace` still run, with a warning.
#
# The next cell asks all of them for a graph of one model.

# %%
captured = []


def show_me(graph_module, example_inputs):
    """A backend for torch.compile that keeps the graph it is given and runs it as it is."""
    captured.append(graph_module)
    return graph_module.forward


compiled = torch.compile(model, backend=show_me)
torch.testing.assert_close(compiled(x), model(x))
exported = torch.export.export(model, (x,))

assert isinstance(captured[0], fx.GraphModule)
assert isinstance(exported.graph_module, fx.GraphModule)

for name, graph_module in [
    ("symbolic_trace", fx.symbolic_trace(model)),
    ("torch.compile", captured[0]),
    ("torch.export", exported.graph_module),
]:
    print(f"{name:15}", [node.name for node in graph_module.graph.nodes])

# %% [markdown]
# All three are FX graphs, of the same classes.
# They differ in how much of your model they keep.
# `symbolic_trace` has one node for the whole linear layer.
# The other two have opened the layer: its weight and bias have become inputs of the graph.
# Everything that you learn about nodes serves for all three. Chapter 11 works with the other two.
#
# | | `fx.symbolic_trace` | `torch.compile` | `torch.export` |
# |---|---|---|---|
# | made for | reading and editing models | speed, inside Python | models that leave Python |
# | needs an example input | no | the first real call | yes |
# | a branch on a tensor's values | error | graph break: Python decides, then a new graph | error, with advice |
# | `torch.nn` layers | stay calls of modules | opened | opened, down to ATen operators |
# | checks its assumptions later | no | yes: guards, and a new graph if one fails | at the boundary: shapes and structure of the inputs |
# | result | `GraphModule` | a callable; a backend sees `GraphModule`s | `ExportedProgram` with a `GraphModule` |
#
# The third row of the table, and the statement about deprecation, tested:


# %%
class Flip(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


captured.clear()
flip = torch.compile(Flip(), backend=show_me)
assert torch.equal(flip(-torch.ones(2)), torch.ones(2))
assert len(captured) == 2  # one graph up to the branch, one for the branch that was taken

try:
    fx.symbolic_trace(Flip())
except fx.proxy.TraceError as error:
    print("symbolic_trace:", error)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fx.symbolic_trace(model)
assert not caught  # not deprecated

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    scripted = torch.jit.script(model)
assert any("deprecated" in str(warning.message) for warning in caught)
print(caught[0].category.__name__, "-", caught[0].message)

# %% [markdown]
# ### TorchScript and FX
#
# Older articles compare FX with TorchScript.
# Their tables are often wrong in both columns.
# This one was tested.
#
# | | TorchScript | torch.fx |
# |---|---|---|
# | capture | a compiler for a part of Python (`script`), or a run with real values (`trace`) | a run of your Python code with stand-ins |
# | branches and loops | kept by `script`, frozen by `trace` | loops are unrolled; a branch on a tensor's values is an error |
# | the IR | typed, with blocks for `if` and `for`, in C++ | six kinds of node, no control flow, Python objects |
# | can I look inside? | yes: `.graph` and `.code` | yes: `.graph` and `.code` |
# | can I edit it? | hardly, from Python | yes: this course |
# | runs without Python | yes | no |
# | status in 2.14 | deprecated | current |

# %%
print(scripted.graph)  # it is not a black box
assert "silu" in str(scripted.graph) and "silu" in scripted.code

# %% [markdown]
# ### Four statements that are often made
#
# **"FX keeps Python's dynamic behaviour."** It does not.
# The trace has seen one path through your code and knows no other.
#
# **"Symbolic tracing computes nothing."** Stand-ins are not computed.
# But your `forward` runs for real, and what it does with real tensors or with plain Python happens for real, once, while tracing.
#
# **"A traced model is faster."** It runs the same operations as before, called from Python as before.
# FX lets you make a model faster. It does not do so by itself.
#
# **"You must call `eval()` before tracing."** Nothing asks for it.
# But a `forward` that reads `self.training` is traced in the mode it is in, and keeps that mode's path for ever. Chapter 1 shows how.


# %%
class Chatty(nn.Module):
    def forward(self, x):
        noise = torch.full((2,), 0.5)  # a real tensor: computed while tracing
        print("forward sees", type(x).__name__)
        return x + noise if self.training else x


chatty = Chatty().train()
traced = fx.symbolic_trace(chatty)  # prints once: forward really runs
print(traced.code)

traced.eval()  # too late: the path is chosen
assert torch.equal(traced(torch.zeros(2)), torch.full((2,), 0.5))  # and prints nothing
assert not torch.equal(traced(torch.zeros(2)), chatty.eval()(torch.zeros(2)))

# %% [markdown]
# **Predict the graph.**
# `Chatty` is traced again, now in eval mode.
# How many nodes does the graph have?
#
# <details><summary>2: the input and the output</summary>
#
# Right. In eval mode <code>forward</code> returns <code>x</code> itself.
# The tensor <code>noise</code> is made all the same, but it never meets a stand-in, so FX does not notice it.
# </details>
# <details><summary>3: there is a node for <code>torch.full</code> too</summary>
#
# No. All arguments of <code>torch.full((2,), 0.5)</code> are plain values.
# No stand-in takes part, so nothing is recorded.
# </details>
# <details><summary>4: both branches are recorded</summary>
#
# No. Tracing runs <code>forward</code>, and a run takes one branch.
# A graph of FX has no node for <code>if</code>.
# </details>

# %%
assert len(fx.symbolic_trace(chatty.eval()).graph.nodes) == 2

# %% [markdown]
# ## 0.3 How the exercises answer you
#
# Each exercise has the same five cells.
#
# 1. a **card**: what is given, what to return, what not to do, and how much time it may take;
# 2. a **picture** of what is asked;
# 3. your **function**, with a line `raise NotImplementedError` where your code goes;
# 4. a **check**, such as `check(node_names)`;
# 5. a **hint** cell. Its hints stay folded until you open them, one after the other.
#
# The check runs your function on many small models that were made to be awkward.
# Each time it looks at more than the result: at the graph, at the generated code, and at whether your function left the given model alone.
# When all of them hold, it goes on with models drawn at random, the same ones on every machine.
# If one of these breaks your function, the check leaves out line after line for as long as the model still breaks it, and shows you what is left.
#
# It answers with a card, and there are four outcomes.
#
# | outcome | it means |
# |---|---|
# | **not attempted** | the line `raise NotImplementedError` is still there |
# | **crashed** | your function raised an exception, or it never came to an end; the card shows your line |
# | **failed** | your function ran, but its result is not right; the card shows the smallest model that proves it |
# | **passed** | all is well |
#
# An answer may be right in many ways.
# Nothing is compared with the text of a solution, and the names and the style of your code are your own.
#
# Here are three of the outcomes.
# `grade` is the silent sister of `check`: it returns the verdict as a value and draws no card.


# %%
def untouched(model: nn.Module) -> list[str]:
    raise NotImplementedError


def crashing(model: nn.Module) -> list[str]:
    return [node.name for node in model.graph.nodes]  # only a GraphModule has a graph


def sorted_names(model: nn.Module) -> list[str]:
    return sorted(node.name for node in fx.symbolic_trace(model).graph.nodes)


assert grade("node_names", untouched).status == "not attempted"
assert grade("node_names", crashing).status == "crashed"
assert grade("node_names", sorted_names).status == "failed"

verdict = grade("node_names", crashing)
print(verdict.status, "-", verdict.error)

# %% [markdown]
# ### How to read a failing card
#
# The exercise at the end of this chapter asks for the **names** of all nodes of a model, in the order of the graph.
# Here is a first try.
# It has a mistake. Run both cells and look at the card.


# %%
def node_names(model: nn.Module) -> list[str]:
    nodes = fx.symbolic_trace(model).graph.nodes
    return [getattr(node.target, "__name__", node.target) for node in nodes]


# %% raises="CheckFailed"
check(node_names)

# %% [markdown]
# From top to bottom, a failing card has
#
# * the **message**: one sentence about what is wrong, in the names of your own code and of the model;
# * **where to look**: one sentence that points in a direction and does not give the answer away;
# * the **smallest case** that shows the fault: a model, as code that you can copy into a cell, and how your function was called; a model that was drawn at random is called `Model`, and its values `a`, `b`, `c`;
# * what was **expected** and what was **obtained**; in chapters where you edit graphs, the graph **before and after** as pictures, with the differences marked;
# * the **parts** of the task, folded, each with its share of the points. The first part is the task itself: unless it holds, there are no points.
#
# Below the card the cell raises one short error, `CheckFailed`.
# That is meant: a notebook with a wrong answer should not look as if all were well.
#
# A good way to work with the card is this.
# Copy the smallest model into a cell, call your function on it, and compare by hand.

# %% [markdown]
# ### Your other tools
#
# `draw(gm)` draws a graph.
# `draw.diff(before, after)` draws two graphs side by side and marks what was added, removed or changed.
# You will use both all the time, so try them here.

# %%
before = fx.symbolic_trace(Gate())
after = fx.symbolic_trace(Gate())
for node in after.graph.nodes:
    if node.target is F.silu:
        node.target = F.relu
after.recompile()

draw.diff(before, after)

# %% [markdown]
# `hint("node_names")` shows the folded hints of an exercise.
# The first hint tells you where to look.
# The second names what to use.
# The third shows the shape of an answer, but not the answer.
#
# `progress()` shows what you have passed so far, in all chapters.
# It reads a small file beside your notebook; nothing is sent anywhere.

# %%
progress()

# %% [markdown] card="node_names"
# **Given** a model, **return** the names of all nodes of its trace, as a list of strings in the order of the graph.
#
# **Do not** leave anything out: the inputs and the output are nodes too.
#
# The first try above returned targets. This time, names are asked for.

# %% [markdown]
# A model in which names and targets differ, and what is asked for it:


# %%
class TwoTanh(nn.Module):
    def forward(self, input):
        return torch.tanh(input) + torch.tanh(input * 2)


draw(fx.symbolic_trace(TwoTanh()))
wanted = ["input_1", "tanh", "mul", "tanh_1", "add", "output"]
print(wanted)


# %% solve="node_names"
def node_names(model: nn.Module) -> list[str]:
    """The names of all nodes of a model's trace.

    Args:
        model: any module that can be traced.

    Returns:
        One name for each node, placeholders and output too, in the order of the graph.
    """
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)
    return [node.name for node in gm.graph.nodes]
    ### END SOLUTION


# %% check="node_names"
check(node_names)

# %% hint="node_names"
hint("node_names")

# %% [markdown]
# The names in a graph are unique, and FX makes them so.
# The parameter `input` became `input_1` because `input` is a builtin of Python.
# The second `tanh` became `tanh_1` because `tanh` was taken.

# %% [markdown]
# ## Common mistakes
#
# ### The check gets a result instead of a function
#
# `check` wants the function itself, so that it can call it on models of its own.
# It finds the exercise by the function's name, and a list has none.

# %% raises="NoSuchExercise"
check(["x", "relu", "output"])  # what check(node_names(model)) amounts to

# %% [markdown]
# Write `check(node_names)`, without a call.

# %% [markdown]
# ### "`symbolic_trace` is the same as `Tracer().trace`"
#
# This can be read in several tutorials, and in FX's own documentation.
# The two return different things.
# `Tracer().trace` returns a `Graph`: a record, which cannot be called and has no `code`.
# `symbolic_trace` also makes the `GraphModule` around it.

# %%
graph = fx.Tracer().trace(model)
assert type(graph) is fx.Graph
assert not callable(graph) and not hasattr(graph, "code")

whole = fx.GraphModule(model, graph)  # what symbolic_trace does next
assert torch.equal(whole(x), model(x))

# %% [markdown]
# ### A set of nodes
#
# The order of a graph is the order of execution.
# Put nodes into a `set`, and you lose it; two runs of your program may then give two different results.
# Use a list, or a dict with the nodes as keys.

# %%
names = [node.name for node in fx.symbolic_trace(TwoTanh()).graph.nodes]
unordered = set(names)
assert list(dict.fromkeys(names)) == names  # a dict keeps the order
print("as a set:", unordered)

# %% [markdown]
# ### "The traced model is still a `Gate`"
#
# It is a new class with the old name.
# Attributes that the graph does not use are not there any more, and neither are other methods of your class.

# %%
gm = fx.symbolic_trace(model)
print(type(gm).__name__)  # the name was copied
assert not isinstance(gm, Gate)

# %% [markdown]
# ## Recap
#
# 1. FX has three parts: capture, IR, code generation. Python goes in, Python comes out.
# 2. `symbolic_trace(model)` gives a `GraphModule` with a `graph` that you can edit and `code` that is generated from it.
# 3. `symbolic_trace` is current. For speed use `torch.compile`, for deployment `torch.export`: they hand you FX graphs too.
# 4. A trace knows one path through your code, and your `forward` really runs while it is made.
# 5. A check has four outcomes. A failing card shows the smallest model that proves the fault: copy it, and look.
#
# **Not taught here:** what a trace cannot see (chapter 1), what the six kinds of node mean (chapter 2), how to edit a graph safely (chapter 3), `torch.compile` and `torch.export` (chapter 11).
#
# **In PyTorch's documentation:** "torch.fx" (the overview with its three components), "torch.export", "torch.compile", and the API pages of `torch.fx.symbolic_trace`, `torch.fx.GraphModule` and `torch.fx.Graph`.
