# %% [markdown]
# # 0 · Start here
#
# **After this chapter you can run a check, read the card that answers you, and say where PyTorch uses torch.fx today.**
#
# | | |
# |---|---|
# | **You need** | Python, and enough PyTorch to write an `nn.Module` with a `forward` |
# | **Time** | about 50 minutes, 5 of them for the exercise |

# %% [markdown]
# ## 0.1 Your first green card
#
# Click the next cell. Press **Shift+Enter** to run it, and once more to run the cell below it.

# %%
import torch
from torch import fx, nn

from autograder import check, draw, drill, fails, hint


# %% raises="CheckFailed"
def node_names(model: nn.Module) -> list[str]:
    gm = fx.symbolic_trace(model)
    return [node.op for node in gm.graph.nodes]


check(node_names)

# %% [markdown]
# The colored box above is a **card**. It shows a model, the result that was expected, and the result that the function returned.
# The function returned `node.op`, the *kind* of each node. The task wants the names, and a node's name is `node.name`.
#
# **In the next code cell, change one word.** Then press Shift+Enter: the cell runs, and its card appears below it.
# The cell `check(node_names)` after it is the same check by hand.

# %% [markdown] card="node_names"
# **Given** a model, **return** the names of all nodes of its trace, as a list of strings in the order of the graph.
#
# **Do not** leave anything out: the inputs and the output are nodes too.


# %% solve="node_names"
def node_names(model: nn.Module) -> list[str]:
    """Return the names of all nodes of a model's trace, in the order of the graph."""
    gm = fx.symbolic_trace(model)
    ### BEGIN SOLUTION
    return [node.name for node in gm.graph.nodes]
    ### STUB return [node.op for node in gm.graph.nodes]
    ### END SOLUTION


# %% check="node_names"
check(node_names)

# %% hint="node_names"
hint("node_names")

# %% [markdown]
# A green card means that your function was right for every model that the check tried.

# %% [markdown]
# ### What just happened
#
# `fx.symbolic_trace` turned each model into a **graph**: a list of **nodes**, one for each step of `forward`.
# Each node has a **name**, and your function lists these names.
# Here is a model, the names in its graph, and the graph as a picture:


# %%
class TwoTanh(nn.Module):
    def forward(self, input):
        return torch.tanh(input) + torch.tanh(input * 2)


print([node.name for node in fx.symbolic_trace(TwoTanh()).graph.nodes])
draw(fx.symbolic_trace(TwoTanh()))

# %% [markdown]
# FX makes the names in a graph unique.
# The parameter `input` became `input_1` because `input` is a builtin of Python.
# The second `tanh` became `tanh_1` because `tanh` was taken.

# %% proof=true
names = [node.name for node in fx.symbolic_trace(TwoTanh()).graph.nodes]
assert names == ["input_1", "tanh", "mul", "tanh_1", "add", "output"]
both = fx.symbolic_trace(lambda input, value: input + value)  # `value` is not a builtin
assert [node.name for node in both.graph.nodes] == ["input_1", "value", "add", "output"]

# %% [markdown]
# Now a **drill**: you write one value. Here is another model:


# %%
class Peak(nn.Module):
    def forward(self, x, max):
        return torch.exp(x + max) * torch.exp(x)


# %% [markdown]
# **Drill 00.1a.** Which names do the nodes of its trace have? Write them as a list, in the order of the graph, with the output.
# Think first, and then replace the `...` and run the cell.

# %% drill=true
its_names = [node.name for node in fx.symbolic_trace(Peak()).graph.nodes]
drill("00.1a", its_names)
# Mistake: A name that is a builtin of Python gets a number.
# its_names = ["x", "max", "add", "exp", "exp_1", "mul", "output"]

# %% [markdown]
# Each chapter begins with a cell of imports. On another day, run that cell first.
# The first example prints your PyTorch's version.

# %% [markdown]
# ## A story
#
# You get a trained network from another team. Its source code belongs to them, and changes every week.
# It must run on a chip that cannot compute ReLU, but can compute GELU. The network calls ReLU in 57 places.
#
# You could edit a copy of their code by hand, each week.
# Or you write one function that takes *any* model and returns the same model with GELU in place of ReLU: a **pass**.
# For that, you need the model in a form that a program can read and edit.
# torch.fx gives you that form, and this course teaches you to write passes that you can trust.
# At the end of this chapter such a pass works on the other team's network.
#
# **When you are done, you can**
#
# 1. name the three parts of FX;
# 2. trace a model, and read its graph and its code;
# 3. say which of `symbolic_trace`, `torch.compile` and `torch.export` fits a given need;
# 4. correct four common statements about FX that are not true;
# 5. tell the outcomes of a check apart, and use a failing card.

# %% [markdown]
# ## 0.2 The three parts of FX
#
# FX (once *functional transformations*) is a toolkit inside PyTorch. It has three parts. Each hands its result to the next.
#
# 1. **Capture.** `fx.symbolic_trace(model)` runs `forward` once, with stand-ins in place of tensors, and records what happens to them.
# 2. **IR.** The record is a `Graph`: a list of `Node`s, one for each step. IR means *intermediate representation*. Your passes read it and edit it.
# 3. **Code generation.** FX writes Python code from the graph. The result is a `GraphModule`: an `nn.Module` that runs this code.
#
# It takes Python and gives Python back. So you can train the result, save it, or trace it again, like any other model.

# %%
import torch.nn.functional as F

torch.manual_seed(0)
print(torch.__version__)


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return x * F.relu(self.linear(x))


model = Gate()
gm = fx.symbolic_trace(model)  # part 1: capture

print(gm.graph)  # part 2: the IR
print(gm.code)  # part 3: the generated code

x = torch.randn(2, 4)

# %% proof=true
assert torch.equal(gm(x), model(x))
assert isinstance(gm.graph, fx.Graph)
assert all(isinstance(node, fx.Node) for node in gm.graph.nodes)
assert isinstance(gm, fx.GraphModule) and isinstance(gm, nn.Module)
assert "num_users=1" in str(gm.graph) and "linear = None" in gm.code

# %% [markdown]
# Each line below `graph()` is a node. `%x` is the input, and `return mul` is the node called `output`.
# Each node in between says what it calls and reads.
# `num_users` says how many nodes read this one. Older pages call it *#users*.
#
# The code says the same once more, as a `forward`.
# `linear = None` drops a reference no later line needs.
#
# As a picture:

# %%
draw(gm)

# %% [markdown]
# Now the task of the story, in the smallest case: edit one node, then generate new code.

# %%
for node in gm.graph.nodes:
    if node.target is F.relu:
        node.target = F.gelu
        node.kwargs = {}  # gelu does not have the argument `inplace`

gm.recompile()
print(gm.code)

# %% [markdown]
# The code says `torch._C._nn.gelu`. That is the same function under another name: `F.gelu` is written in C++.

# %% proof=true
torch.testing.assert_close(gm(x), x * F.gelu(model.linear(x)))
assert F.gelu is torch._C._nn.gelu

# %% [markdown]
# Now a question. Write the letter of an option in place of the `?` in the next cell, and run that cell.
#
# **Predict the graph.**
# Which of these are nodes of `gm.graph`?
#
# <details><summary>The parameter <code>linear.weight</code></summary>
#
# No. A layer of <code>torch.nn</code> is one node, a call of the submodule <code>linear</code>. The weight is used inside it.
# </details>
# <details><summary>The multiplication <code>x * …</code>, but not the statement <code>return</code></summary>
#
# Half of it. The <code>return</code> is a node, too: its opcode is <code>output</code>.
# </details>
# <details><summary>The multiplication <code>x * …</code> and the statement <code>return</code></summary>
#
# Right. The operator <code>*</code> meets a stand-in, and FX records it as a call of the function <code>operator.mul</code>.
# The <code>return</code> is the last node. Its opcode is <code>output</code>, and every trace has exactly one.
# </details>

# %% proof=true
assert [node.name for node in gm.graph.nodes] == ["x", "linear", "relu", "mul", "output"]
assert [node.op for node in gm.graph.nodes] == [
    "placeholder", "call_module", "call_function", "call_function", "output",
]  # fmt: skip
assert dict(gm.named_parameters()).keys() == {"linear.weight", "linear.bias"}

# %% [markdown]
# The third node is still called `relu`. A node's *name* is only a variable in the generated code. What the node *calls* is its `target`.
# So a pass must search by target.


# %%
class Named(nn.Module):
    def forward(self, x, relu):
        return F.relu(x) + torch.tanh(relu) * F.relu(relu)


named = fx.symbolic_trace(Named())
print(named.graph)

# %% [markdown]
# **Drill 00.2a.** Which nodes of `named` call the function `F.relu`? Write the list of their names.

# %% drill=true
relus = [node.name for node in named.graph.nodes if node.target is F.relu]
drill("00.2a", relus)
# Mistake: A node's name is not its target.
# relus = [node.name for node in named.graph.nodes if node.name.startswith("relu")]

# %% [markdown]
# ### Each part can be used alone
#
# Some programs only capture, to count or to draw. Others only generate code, from a graph that they build without a model.

# %% proof=true
record = fx.Tracer().trace(model)  # capture alone: a Graph, and no module
steps = ["tanh", "neg", "exp"]  # a configuration
by_hand = fx.Graph()
value = by_hand.placeholder("x")
for step in steps:
    value = by_hand.call_method(step, (value,))
by_hand.output(value)
built = fx.GraphModule(nn.Module(), by_hand)  # code generation alone: nothing was traced
torch.testing.assert_close(built(x), (-x.tanh()).exp())
assert type(record) is fx.Graph

# %% [markdown]
# ## 0.3 What FX is used for
#
# Use FX if your tool must *read* or *change* models that other people wrote.
# PyTorch and torchvision do this, for example here:
#
# | use | what the pass does | in PyTorch | here |
# |---|---|---|---|
# | feature extraction | returns values from the middle of a model | `torchvision.models.feature_extraction` | chapter 7 |
# | fusion | replaces several operations by one | `torch.fx.experimental.optimization` | chapter 10 |
# | compilation | turns graphs into kernels | `torch._inductor` | chapter 11 |
# | partitioning | splits a model into parts for several devices | `torch.fx.passes.split_module` | chapter 13 |
# | quantization | replaces floating point by integers | `torch.ao.quantization` (deprecated, to be removed) | chapter 14 |

# %% proof=true
import importlib
import inspect

for place, name in {
    "torchvision.models.feature_extraction": "create_feature_extractor",
    "torch._inductor.compile_fx": "compile_fx",
    "torch.fx.passes.split_module": "split_module",
    "torch.ao.quantization.quantize_fx": "convert_fx",
    "torch.fx.passes.graph_drawer": "FxGraphDrawer",
}.items():
    assert "GraphModule" in str(inspect.signature(getattr(importlib.import_module(place), name)))

# %% [markdown]
# ## 0.4 FX in PyTorch today
#
# `torch.fx` appeared in 2021, before `torch.compile` existed. In 2026 its parts have different roles.
#
# * **The IR is everywhere.** `torch.compile` and `torch.export` both give you an `fx.GraphModule`.
# * **Capture with `symbolic_trace` is not deprecated.** It needs no example input, and keeps the layers of `torch.nn` as modules, under their names. That makes it good for editing models.
# * **Capture for deployment has moved.** Use `torch.export` for a model that leaves Python, and `torch.compile` for speed inside Python.
# * **TorchScript is deprecated.** `torch.jit.script` and `torch.jit.trace` still run, with a warning.
#
# Here are the graphs of one model, from `symbolic_trace`, `torch.compile` and `torch.export`:

# %%
captured = []


def show_me(graph_module, example_inputs):
    captured.append(graph_module)  # a backend that keeps the graph, and runs it unchanged
    return graph_module.forward


compiled = torch.compile(model, backend=show_me)
compiled(x)  # the first call traces
exported = torch.export.export(model, (x,))

for graph in (fx.symbolic_trace(model).graph, captured[0].graph, exported.graph):
    print([node.name for node in graph.nodes])

# %% proof=true
torch.testing.assert_close(compiled(x), model(x))
assert isinstance(captured[0], fx.GraphModule)
assert isinstance(exported.graph_module, fx.GraphModule)
graphs = [fx.symbolic_trace(model).graph, captured[0].graph, exported.graph]
counts = [sum(node.op == "placeholder" for node in graph.nodes) for graph in graphs]
assert counts == [1, 3, 3]
layers = [node for node in graphs[0].nodes if node.op == "call_module"]
assert [node.target for node in layers] == ["linear"]

# %% [markdown]
# All three are FX graphs, of the same classes.
# `symbolic_trace` has one node for the whole linear layer.
# The other two have opened the layer: its weight and bias are inputs of the graph.
# Chapter 11 works with them.
#
# ### The pipeline of `torch.compile`
#
# Inside `torch.compile`, each tool passes FX graphs to the next one:
#
# ```
# your model ──► Dynamo ──► FX graph ──► AOTAutograd ──► two FX graphs ──► Inductor ──► kernels
#                captures   functions    adds the        ATen operators:   generates    C++ or
#                           of torch     backward pass   forward, backward code         Triton
# ```
#
# **ATen** is the library of operators below PyTorch's Python functions. **Inductor** is the default backend.

# %% proof=true
from torch._dynamo.backends.common import aot_autograd

stages = {}


def keep(name):
    return lambda graph_module, example_inputs: stages.setdefault(name, graph_module)


backend = aot_autograd(fw_compiler=keep("forward"), bw_compiler=keep("backward"))
torch.compile(model, backend=backend)(x).sum().backward()
assert set(stages) == {"forward", "backward"}
for graph_module in stages.values():
    calls = [node for node in graph_module.graph.nodes if node.op == "call_function"]
    assert calls and all(str(node.target).startswith("aten.") for node in calls)
assert '"inductor" is the default backend' in inspect.getdoc(torch.compile)

# %% [markdown]
# ### Which tool for what
#
# | | `fx.symbolic_trace` | `torch.compile` | `torch.export` |
# |---|---|---|---|
# | made for | reading and editing models | speed, inside Python | models that leave Python |
# | needs an example input | no | the first real call | yes |
# | a branch on a tensor's values | error | graph break: Python decides, then a new graph | error |
# | `torch.nn` layers | stay calls of modules | opened | opened, down to ATen operators |
# | result | `GraphModule` | a callable; a backend sees `GraphModule`s | `ExportedProgram` with a `GraphModule` |

# %% proof=true
import io
import logging
import warnings
from contextlib import redirect_stderr, redirect_stdout


class Flip(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


def raises(call, *args) -> bool:
    logging.disable(logging.WARNING)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            call(*args)
    except Exception:
        return True
    finally:
        logging.disable(logging.NOTSET)
    return False


# a branch on a tensor's values
captured.clear()
flip = torch.compile(Flip(), backend=show_me)
assert torch.equal(flip(-torch.ones(2)), torch.ones(2))
assert len(captured) == 2  # one graph up to the branch, one for the branch that was taken
assert raises(fx.symbolic_trace, Flip())
assert raises(lambda: torch.export.export(Flip(), (x,)))

# layers
called = [str(node.target) for node in exported.graph.nodes if node.op == "call_function"]
assert called == ["aten.linear.default", "aten.relu.default", "aten.mul.Tensor"]

# assumptions: a batch of 5 instead of 2
captured.clear()
torch.testing.assert_close(compiled(torch.ones(5, 4)), model(torch.ones(5, 4)))
assert len(captured) == 1  # a guard failed, so Dynamo made another graph
assert isinstance(exported, torch.export.ExportedProgram)
assert raises(exported.module(), torch.ones(5, 4))

# deprecated or not
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fx.symbolic_trace(model)
    assert not caught
    scripted = torch.jit.script(model)
    assert any("deprecated" in str(warning.message) for warning in caught)

# %% [markdown]
# Three people have a need each:
#
# 1. "My model runs in Python and should run faster. Its `forward` has `if x.sum() > 0`."
# 2. "I replace each `nn.Linear` by a layer of my own. All other layers must keep their names."
# 3. "My model has no branches, and it must run on a device that has no Python."
#
# **Drill 00.4a.** Which tool does each of them take? Write a list of three names, each as in the head of the table.

# %% drill=true
tools = ["torch.compile", "fx.symbolic_trace", "torch.export"]
drill("00.4a", tools)
# Mistake: A trace does not follow a branch on values, and is not faster than the model.
# tools = ["fx.symbolic_trace", "fx.symbolic_trace", "torch.export"]

# %% [markdown]
# ### TorchScript and FX
#
# Many older tutorials compare the two. `torch.jit.script` compiles a part of Python, keeps `if` in its IR, and the result runs without your Python classes.
# A trace has no control flow and runs in Python only, but you can edit it.

# %% proof=true
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    archive = io.BytesIO()
    torch.jit.save(scripted, archive)
    archive.seek(0)
    loaded = torch.jit.load(archive)
    branch = torch.jit.script(Flip())
assert not isinstance(loaded, Gate) and torch.equal(loaded(x), model(x))
assert "prim::If" in str(branch.graph)  # `script` keeps the branch
_ = compile(gm.code, "generated", "exec")  # the code of a GraphModule is Python

# %% [markdown]
# ### Four statements that are often made
#
# **"FX keeps Python's dynamic behavior."** It does not. A trace has seen one path through your code.
#
# **"Symbolic tracing computes nothing."** Stand-ins are not computed.
# But `forward` does run: plain Python and operations on real tensors are executed once, during tracing.
#
# **"You must call `eval()` before tracing."** Tracing does not require it.
# But a `forward` that reads `self.training` is traced in the mode it is in, and keeps that mode's path forever.


# %%
class Chatty(nn.Module):
    def forward(self, x):
        noise = torch.full((2,), 0.5)  # a real tensor: computed while tracing
        print("forward sees", type(x).__name__)
        return x + noise if self.training else x


chatty = Chatty().train()
traced = fx.symbolic_trace(chatty)  # forward really runs: it prints
traced.eval()  # too late: the path is chosen
print("the trace in eval mode:", traced(torch.zeros(2)))

# %% proof=true
printed = io.StringIO()
with redirect_stdout(printed):
    fx.symbolic_trace(chatty)
    assert printed.getvalue() == "forward sees Proxy\n"
    assert torch.equal(traced(torch.zeros(2)), torch.full((2,), 0.5))  # training mode's path
    assert printed.getvalue() == "forward sees Proxy\n"  # the trace itself prints nothing
    assert torch.equal(chatty.eval()(torch.zeros(2)), torch.zeros(2))
chatty.train()

# %% [markdown]
# **"A traced model is faster."** It is not. It runs the same operations on its inputs, called from Python as before.

# %% proof=true
from torch.utils._python_dispatch import TorchDispatchMode


class Operators(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        self.seen.append(str(operator))
        return operator(*args, **(kwargs or {}))


with Operators() as of_model:
    model(x)
with Operators() as of_trace:
    fx.symbolic_trace(model)(x)
assert of_trace.seen and of_model.seen == of_trace.seen

# %% [markdown]
# **Predict the graph.**
# `Chatty` is traced again, now in eval mode.
# How many nodes does the graph have?
#
# <details><summary>2: the input and the output</summary>
#
# Right. In eval mode <code>forward</code> returns <code>x</code> itself.
# The tensor <code>noise</code> is still created, but it never meets a stand-in.
# </details>
# <details><summary>3: there is a node for <code>torch.full</code> too</summary>
#
# No. No stand-in takes part in <code>torch.full((2,), 0.5)</code>, so nothing is recorded.
# </details>
# <details><summary>4: both branches are recorded</summary>
#
# No. Tracing runs <code>forward</code>, and a run takes one branch.
# A trace has no node for <code>if</code>.
# </details>

# %% proof=true
with redirect_stdout(io.StringIO()):
    assert len(fx.symbolic_trace(Chatty().eval()).graph.nodes) == 2

# %% [markdown]
# **Drill 00.4b.** `chatty` is called once with a tensor. Then it is traced, and the trace is called twice.
# Which words are printed after "forward sees"? Write them as a list.

# %% drill=true
seen = ["Tensor", "Proxy"]
drill("00.4b", seen)
# Mistake: The code of a trace has the recorded operations, and nothing else of your `forward`.
# seen = ["Tensor", "Proxy", "Tensor", "Tensor"]

# %% [markdown]
# ## 0.5 How the exercises answer you
#
# From now on, each exercise has the same cells:
# the **task**, a **picture** of what your function must do, your **function** with a line `raise NotImplementedError` where your code goes,
# a **check**, a **hint**, and a **debrief** with other right answers. When you run your function, its card appears below it
# (unless you run `check.on_run(False)`).
#
# A failing card has the first hint, and one more each time another answer fails. After three different answers that failed, it also has a fold *Show me a solution*.
#
# The check runs your function on many small, awkward models, and often on random ones.
# It looks at the result, at the graph, at the generated code, and at whether your function left the given model alone.
#
# | outcome | it means |
# |---|---|
# | **not attempted yet** | the line `raise NotImplementedError` is still there |
# | **crashed** | your function raised an exception, or it did not end |
# | **not right yet** | your function ran, but its result is not right; the card shows the smallest model that proves it |
# | **passed** | everything that was tried is right |
# | **not judged** | rare: your graph has an operation that is not on the course's list |
#
# `grade` does the same as `check` but draws no card: it returns the verdict, which calls *not attempted yet* `"not attempted"`, and *not right yet* `"failed"`.
# Here are three answers to the exercise of section 0.1:


# %%
from autograder import grade, progress


def from_the_graph(model: nn.Module) -> list[str]:
    return [node.name for node in model.graph.nodes]  # only a GraphModule has a graph


def with_map(model: nn.Module) -> list[str]:
    nodes = fx.symbolic_trace(model).graph.nodes
    return list(map(lambda node: node.name, nodes))


def in_order(model: nn.Module) -> list[str]:
    return sorted(node.name for node in fx.symbolic_trace(model).graph.nodes)


# %% [markdown]
# **Drill 00.5a.** Which status does `grade("node_names", ...).status` give for each of them? Write a list of three strings.

# %% drill=true
statuses = ["crashed", "passed", "failed"]
drill("00.5a", statuses)
# Mistake: The order of the list is a part of the task.
# statuses = ["crashed", "passed", "passed"]


# %% proof=true
def untouched(model: nn.Module) -> list[str]:
    raise NotImplementedError


assert grade("node_names", untouched).status == "not attempted"
assert grade("node_names", from_the_graph).status == "crashed"
assert grade("node_names", with_map).status == "passed"
assert grade("node_names", in_order).status == "failed"

# %% [markdown]
# ### How to read a failing card
#
# Scroll back to the failing card of section 0.1. It has the **message**, a sentence on **where to look**,
# and the **smallest case** that shows the fault, with what was **expected** and what was **obtained**.
# Folded are the **parts** of the task with their points, **hints**, and later a solution.
#
# Below the card there is one short error, `CheckFailed`: the notebook must not look as if it were finished.
#
# After `from autograder import failed`, `case = failed()` is the failing case:
# `case.model` and `case.args` are equal to what your function was called with, and `case.run()` calls it again.

# %% [markdown]
# ### Your other tools
#
# `draw(gm)` draws a graph, and `draw(gm, around="add_1")` a part of a big one.
# `draw.diff(before, after)` draws two graphs side by side and marks what was added, removed or changed. A different name alone does not count.

# %%
draw.diff(fx.symbolic_trace(model), gm)  # gm was edited in section 0.2

# %% proof=true
assert "gelu" in repr(draw.diff(fx.symbolic_trace(model), gm))
assert "linear" in repr(draw(gm, around="relu"))

# %% [markdown]
# `hint("node_names")` shows the folded hints of an exercise, from where to look to the shape of an answer.
# `progress()` shows what you have passed so far. It reads a small file in your workspace; nothing is sent anywhere.

# %%
progress()

# %% [markdown]
# ## 0.6 The other team's network
#
# Back to the story. The network is **GoogLeNet**, as torchvision builds it without trained weights, so nothing is downloaded.
# `make_alive` draws weights with which each layer matters.
# Your function from section 0.1 reads it as it reads any model:

# %% uses="node_names"
from unittest.mock import patch

from torchvision.models import googlenet

from autograder.given import assert_same_results, images, make_alive

network = make_alive(googlenet(weights=None, init_weights=False))
image = images(1)

names = node_names(network)
print(len(names), "nodes:", names[:6], "…", names[-3:])

# %% proof=true
assert len(names) == 199

# %% [markdown]
# Now the pass, with the lines of section 0.2. It does not know anything about GoogLeNet.
#
# Is the result right? We produce the expected result in another way: while the original network runs, we let the name `F.relu` mean GELU.
# `assert_same_results` returns the largest difference of the two results, divided by the change that another image makes. It raises if that is not close to 0.


# %%
def relu_to_gelu_here(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is F.relu:
            node.target = F.gelu
            node.kwargs = {}
    gm.recompile()
    return gm


ours = relu_to_gelu_here(network)
print("calls of GELU:", [node.target for node in ours.graph.nodes].count(F.gelu))


def edited_by_hand(x: torch.Tensor) -> torch.Tensor:
    with patch("torch.nn.functional.relu", lambda x, inplace=False: F.gelu(x)):
        return network(x)


assert_same_results(ours, edited_by_hand, image)

# %% proof=true
from autograder.given import difference

original = network(image)
targets = [node.target for node in relu_to_gelu_here(network).graph.nodes]
assert F.relu not in targets and targets.count(F.gelu) == 57
assert difference(ours, network, image) > 0.1  # the activation did change
assert torch.equal(network(image), original)  # the network did not

# %%
draw(ours, around="relu_1")  # the old name, and a call of GELU

# %% [markdown]
# Next week the other team sends a new version, and you run the same function again.
# But is *every* ReLU of *every* model found in this way? Here is one in which the ReLUs are written in four ways:


# %%
class Spellings(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(x) + F.relu(x) + torch.relu(x) + x.relu()


draw(fx.symbolic_trace(Spellings()))

# %% [markdown]
# **Drill 00.6a.** Which nodes does `relu_to_gelu_here(Spellings())` change? Write the list of their names.

# %% drill=true
changed = [n.name for n in relu_to_gelu_here(Spellings()).graph.nodes if n.target is F.gelu]
drill("00.6a", changed)
# Mistake: `torch.relu` is another function than `F.relu`, although it computes the same.
# changed = ["relu", "relu_1"]

# %% [markdown]
# Chapter 3 returns to this network with a pass that finds them all.
#
# ### Your way through the course
#
# You need not do all chapters. A **track** is a way through the course, with an end.
# The track *Taste* ends here. *Essentials* goes on to your own pass for the other team's network, in chapter 3.
# The notebook *index* lists all tracks, and says where to get help.

# %% [markdown]
# ## Common mistakes
#
# ### The check gets a result instead of a function
#
# `check` calls your function on models of its own, and finds the exercise by its name.

# %%
with fails(KeyError):
    check(["x", "relu", "output"])  # this is what check(node_names(model)) does

# %% [markdown]
# Write `check(node_names)`, without a call.

# %% [markdown]
# ### "`symbolic_trace` is the same as `Tracer().trace`"
#
# `Tracer().trace` returns a `Graph`: a record, which cannot be called and does not have `code`.
# `symbolic_trace` also makes the `GraphModule` around it.

# %% proof=true
tracer = fx.Tracer()
graph = tracer.trace(model)
whole = fx.GraphModule(tracer.root, graph)  # what symbolic_trace does next
assert torch.equal(whole(x), model(x))
assert type(graph) is type(fx.Tracer().trace(model)) is fx.Graph
assert not callable(graph) and not hasattr(graph, "code")

# %% [markdown]
# ## Recap
#
# 1. FX has three parts: capture, IR, code generation. Each part can be used alone.
# 2. `symbolic_trace(model)` gives a `GraphModule` with a `graph` that you can edit and `code` that is generated from it.
# 3. For speed use `torch.compile`, for deployment `torch.export`: they give you FX graphs, too.
# 4. A trace knows one path through your code, and your `forward` really runs while it is made.
# 5. A check has five outcomes. A failing card shows the smallest model that proves the fault.
#
# ### Cheat sheet
#
# | you want | you write |
# |---|---|
# | a graph of a model | `gm = fx.symbolic_trace(model)` |
# | to read it | `print(gm.graph)`, `print(gm.code)`, `draw(gm)` |
# | to change what a node calls | `node.target = other_function`, then `gm.recompile()` |
# | to compare two graphs | `draw.diff(before, after)` |
# | an answer, help, an overview | `check(f)`, `hint("f")`, `progress()` |
#
# **Not taught here:** what a trace cannot see (chapter 1), the six kinds of node (chapter 2), editing (chapter 3), `torch.compile` and `torch.export` (chapter 11).
#
# **Sources and further reading**
#
# * PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), [torch.compiler](https://docs.pytorch.org/docs/stable/torch.compiler.html), [torch.export](https://docs.pytorch.org/docs/stable/export.html), [TorchScript](https://docs.pytorch.org/docs/stable/jit.html).
# * The paper: Reed, DeVito, He, Ussery, Ansel, [Practical Program Capture and Transformation for Deep Learning in Python](https://arxiv.org/abs/2112.08429), 2021.
