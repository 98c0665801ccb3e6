# %% [markdown]
# # 0 · Start here
#
# **After this chapter you can run a check, read the card that answers you, and say where PyTorch uses torch.fx today.**
#
# | | |
# |---|---|
# | **You need** | Python, and enough PyTorch to write an `nn.Module` with a `forward` |
# | **Time** | about 40 minutes, 5 of them for the exercise |

# %% [markdown]
# ## 0.1 Your first green card
#
# Click the next cell. Press **Shift+Enter** to run it, and once more to run the cell below it.

# %%
import torch
from torch import fx, nn

from autograder import check, draw, fails, hint


# %% raises="CheckFailed"
def node_names(model: nn.Module) -> list[str]:
    gm = fx.symbolic_trace(model)
    return [node.op for node in gm.graph.nodes]


check(node_names)

# %% [markdown]
# The colored box above is a **card**. It shows a model, the result that was expected, and the result that the function returned.
# The function returned `node.op`, the *kind* of each node. The task wants the names, and a node's name is `node.name`.
#
# You can leave the cell above as it is. **In the next code cell, change one word.** Then press Shift+Enter: the cell runs, and its card appears below it.
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
# A green card means that your function gave the right names for every model that the check tried.
# The hint shows you what to look at when a card stays red.

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


wanted = ["input_1", "tanh", "mul", "tanh_1", "add", "output"]
print(wanted)
draw(fx.symbolic_trace(TwoTanh()))

# %% [markdown]
# The names in a graph are unique, and FX makes them so.
# The parameter `input` became `input_1` because `input` is a builtin of Python.
# The second `tanh` became `tanh_1` because `tanh` was taken.

# %% proof=true
assert [node.name for node in fx.symbolic_trace(TwoTanh()).graph.nodes] == wanted
assert wanted[0] == "input_1" and wanted[3] == "tanh_1"
both = fx.symbolic_trace(lambda input, value: input + value)  # `value` is not a builtin
assert [node.name for node in both.graph.nodes] == ["input_1", "value", "add", "output"]

# %% [markdown]
# Each chapter begins with a cell of imports. When you come back on another day, run that cell first.
# Every output in this course comes from PyTorch 2.14.1.

# %% [markdown]
# ## A story
#
# You get a trained network from another team.
# It must run on a chip that cannot compute ReLU, but can compute GELU.
# The network calls ReLU in 57 places.
# The source code belongs to the other team, and it changes every week.
#
# You could edit a copy of their code by hand, each week, in 57 places.
# Or you write one function that takes *any* model and returns the same model with GELU in place of ReLU.
# Such a function is called a **pass**.
# To write one, you need the model in a form that a program can read and edit.
# torch.fx gives you that form, and this course teaches you to write passes that you can trust.
# At the end of this chapter you see such a pass work on the other team's network.
#
# **When you are done with the rest of this chapter, you can**
#
# 1. name the three parts of FX and say what each of them gives to the next;
# 2. trace a model, and read its graph and its code;
# 3. say which of `symbolic_trace`, `torch.compile` and `torch.export` fits a given need;
# 4. correct four common statements about FX that are not true;
# 5. tell the outcomes of a check apart, and use a failing card to find the fault.

# %% [markdown]
# ## 0.2 The three parts of FX
#
# FX is a toolkit inside PyTorch. Its letters once meant *functional transformations*; today they do not stand for anything.
# It has three parts, and each one hands its result to the next.
#
# 1. **Capture.** `fx.symbolic_trace(model)` runs `forward` once, with stand-ins in place of tensors, and records what happens to them.
# 2. **IR.** The record is a `Graph`: a list of `Node`s, one for each step. IR means *intermediate representation*. Your passes read it and edit it.
# 3. **Code generation.** FX writes Python code from the graph. The result is a `GraphModule`: an `nn.Module` that runs this code.
#
# It takes Python and gives Python back.
# That is why you can inspect the result, train it, save it, or trace it again, like any other model.

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
assert torch.equal(gm(x), model(x))

# %% proof=true
assert isinstance(gm.graph, fx.Graph)
assert all(isinstance(node, fx.Node) for node in gm.graph.nodes)
assert isinstance(gm, fx.GraphModule) and isinstance(gm, nn.Module)
assert "num_users=1" in str(gm.graph) and "linear = None" in gm.code

# %% [markdown]
# Read the graph from top to bottom.
# Each line below `graph()` is a node.
# `%x` is the input, and `return mul` is the node called `output`.
# In between, each node says what it calls and which nodes it reads.
# `num_users` says how many nodes read this one. Older pages call it *#users*.
#
# The code below the graph says the same once more, as a `forward`.
# At the end of a line, `linear = None` drops a value that no later line reads, so that its memory can be freed.
#
# This is the graph as a picture, with one box for each node.

# %%
draw(gm)

# %% [markdown]
# Now the task of the story, in the smallest case: edit one node, then generate new code from the graph.
# Chapter 3 explains each of these lines. Here you only need to see that a few lines are enough.

# %%
for node in gm.graph.nodes:
    if node.target is F.relu:
        node.target = F.gelu
        node.kwargs = {}  # gelu does not have the argument `inplace`

gm.recompile()
print(gm.code)

torch.testing.assert_close(gm(x), x * F.gelu(model.linear(x)))

# %% [markdown]
# The code says `torch._C._nn.gelu`. That is the same function under another name: `F.gelu` is written in C++.

# %% proof=true
assert F.gelu is torch._C._nn.gelu

# %% [markdown]
# Now a question for you. Choose an option: write its letter in place of the `?` in the next cell, and run that cell.
#
# **Predict the graph.**
# Which of these are nodes of `gm.graph`?
#
# <details><summary>The matrix multiplication inside <code>nn.Linear</code></summary>
#
# No. A layer that is defined in <code>torch.nn</code>, such as <code>nn.Linear</code>, is recorded as one node, a call of the submodule <code>linear</code>.
# Chapter 1 shows how this is decided, and the exceptions.
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
# The <code>return</code> is the last node. Its opcode is <code>output</code>, and every trace has exactly one.
# </details>

# %% proof=true
assert [node.name for node in gm.graph.nodes] == ["x", "linear", "relu", "mul", "output"]
assert [node.op for node in gm.graph.nodes] == [
    "placeholder", "call_module", "call_function", "call_function", "output",
]  # fmt: skip
assert dict(gm.named_parameters()).keys() == {"linear.weight", "linear.bias"}

# %% [markdown]
# The third node is still called `relu`, although it calls GELU now.
# A node's *name* is only a variable in the generated code. What the node *calls* is its `target`.
# So a pass must search by target. If it searches by name, it finds the wrong nodes.
#
# ### Each part can be used alone
#
# You do not need all three parts.
# Some programs only capture, to count or to draw. They need no code.
# Others only generate code: they build a graph without a model, for example from a configuration.

# %%
record = fx.Tracer().trace(model)  # capture alone: a Graph, and no module
print(type(record), [str(node.target) for node in record.nodes if node.op.startswith("call")])

steps = ["tanh", "neg", "exp"]  # a configuration
graph = fx.Graph()
value = graph.placeholder("x")
for step in steps:
    value = graph.call_method(step, (value,))
graph.output(value)

built = fx.GraphModule(nn.Module(), graph)  # code generation alone: nothing was traced
print(built.code)

# %% proof=true
assert type(record) is fx.Graph
torch.testing.assert_close(built(x), (-x.tanh()).exp())

# %% [markdown]
# ## 0.3 What FX is used for
#
# Use FX if your tool must *read* or *change* models that other people wrote.
# PyTorch and torchvision do this in these places, among others:
#
# | use | what the pass does | in PyTorch | here |
# |---|---|---|---|
# | feature extraction | returns values from the middle of a model | `torchvision.models.feature_extraction` | chapter 7 |
# | fusion | replaces several operations by one | `torch.fx.experimental.optimization` | chapter 10 |
# | compilation | turns graphs into kernels | `torch._inductor` | chapter 11 |
# | partitioning | splits a model into parts for several devices | `torch.fx.passes.split_module` | chapter 13 |
# | quantization | replaces floating point by integers | `torch.ao.quantization` (deprecated, to be removed) | chapter 14 |
# | shapes | runs a graph node by node and notes shapes and dtypes | `torch.fx.passes.shape_prop` | chapter 6 |
# | pictures | draws the graph | `torch.fx.passes.graph_drawer` | `draw`, in every chapter |

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
# `torch.fx` appeared in 2021, before `torch.compile` existed.
# In 2026 its parts have different roles.
#
# * **The IR is everywhere.** `torch.compile` and `torch.export` both give you an `fx.GraphModule`. If you work on PyTorch's compiler stack, you read and edit FX graphs.
# * **Capture with `symbolic_trace` is not deprecated.** It remains the smallest tool, and it needs no example input. It keeps the layers of `torch.nn` as modules, under their names. That makes it good for editing models.
# * **Capture for deployment has moved.** Use `torch.export` for a model that leaves Python, and `torch.compile` for speed inside Python.
# * **TorchScript is deprecated.** `torch.jit.script` and `torch.jit.trace` still run, with a warning.
#
# Here are the graphs of one model from all three tools:

# %%
captured = []


def show_me(graph_module, example_inputs):
    """A backend for torch.compile: it keeps the graph, and runs it unchanged."""
    captured.append(graph_module)
    return graph_module.forward


compiled = torch.compile(model, backend=show_me)
torch.testing.assert_close(compiled(x), model(x))
exported = torch.export.export(model, (x,))

graphs = {
    "symbolic_trace": fx.symbolic_trace(model).graph,
    "torch.compile": captured[0].graph,
    "torch.export": exported.graph,
}
for name, graph in graphs.items():
    print(f"{name:15}", [node.name for node in graph.nodes])

# %% proof=true
assert isinstance(captured[0], fx.GraphModule)
assert isinstance(exported.graph_module, fx.GraphModule)
counts = [sum(node.op == "placeholder" for node in graph.nodes) for graph in graphs.values()]
assert counts == [1, 3, 3]
layers = [node for node in graphs["symbolic_trace"].nodes if node.op == "call_module"]
assert [node.target for node in layers] == ["linear"]

# %% [markdown]
# All three are FX graphs, of the same classes.
# They differ in how much of your model they keep.
# `symbolic_trace` has one node for the whole linear layer.
# The other two have opened the layer: its weight and bias have become inputs of the graph.
# Everything that you learn about nodes is true for all three. Chapter 11 works with the other two.
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
# **ATen** is the library of operators below PyTorch's Python functions.
# **Inductor** is the default backend. `show_me` above is a backend of our own, directly after Dynamo. Chapter 11 shows Dynamo and AOTAutograd at work.

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
# | checks its assumptions later | no | yes: guards, and a new graph if one fails | yes, when called: shapes and structure of the inputs |
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
# ### TorchScript and FX
#
# Many tutorials from 2021 to 2023 compare FX with TorchScript.
#
# | | TorchScript | torch.fx |
# |---|---|---|
# | capture | a compiler for a part of Python (`script`), or a run with real values (`trace`) | a run of your Python code with stand-ins |
# | branches and loops | kept by `script`, frozen by `trace` | loops are unrolled; a branch on a tensor's values is an error |
# | the IR | typed, with blocks for `if` and `for`, in C++ | six kinds of node, no control flow, Python objects |
# | can I edit it? | hardly, from Python | yes: this course |
# | runs without your Python classes | yes, from a saved archive; in C++ too | the code runs in Python only |

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
# **"FX keeps Python's dynamic behavior."** It does not.
# The trace has seen one path through your code and does not know any other.
#
# **"Symbolic tracing computes nothing."** Stand-ins are not computed.
# But `forward` does run. Plain Python and operations on real tensors are executed once, during tracing.
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
print(traced.code)

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
# **"A traced model is faster."** It runs the same operations on its inputs, called from Python as before.
# FX lets you make a model faster. It does not do so by itself.

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
# The tensor <code>noise</code> is still created, but it never meets a stand-in, so FX does not notice it.
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
print(fx.symbolic_trace(chatty.eval()).graph)

# %% proof=true
with redirect_stdout(io.StringIO()):
    assert len(fx.symbolic_trace(Chatty().eval()).graph.nodes) == 2

# %% [markdown]
# ## 0.5 How the exercises answer you
#
# From now on, each exercise has the same six cells.
#
# 1. the **task**: what is given, what to return, what not to do, and how much time it may take;
# 2. a **picture** of what your function must do;
# 3. your **function**, with a line `raise NotImplementedError` where your code goes. When you run this cell, the card appears below it;
# 4. a **check**, such as `check(node_names)`: the same check by hand. In a class, this cell grades your notebook;
# 5. a **hint** cell. Its hints stay folded until you open them, one after the other;
# 6. a **debrief**, which shows other right answers after your own pass.
#
# The card has help in folds, so you seldom need the last two cells.
# A failing card has the first hint, and one more each time another answer fails.
# After three different answers that failed, it also has a fold *Show me a solution*.
# When your function passes, the card has the debrief.
# If you do not want a check each time you run your function, run `check.on_run(False)`.
#
# The check runs your function on many small models that were made to be awkward.
# It looks at more than the result: at the graph, at the generated code, and at whether your function left the given model alone.
# If all of these pass, most checks also try models drawn at random, the same ones on every machine.
# If your function fails on one of them, the check removes lines from that model as long as your function still fails, and shows you the rest.
#
# It answers with a card, and there are five outcomes.
#
# | outcome | it means |
# |---|---|
# | **not attempted yet** | the line `raise NotImplementedError` is still there |
# | **crashed** | your function raised an exception, or it did not end |
# | **not right yet** | your function ran, but its result is not right; the card shows the smallest model that proves it |
# | **passed** | everything that was tried is right |
# | **not judged** | rare: your graph has an operation that is not on the course's list, and nothing else is wrong |
#
# An answer may be right in many ways.
# Your answer is not compared with the text of a solution, and the names and the style of your code are your own.
#
# Here are the first four.
# `grade` does the same as `check` but draws no card: it returns the verdict as a value, which calls *not right yet* `"failed"`.

# %%
from autograder import grade, progress


def untouched(model: nn.Module) -> list[str]:
    raise NotImplementedError


def crashing(model: nn.Module) -> list[str]:
    return [node.name for node in model.graph.nodes]  # only a GraphModule has a graph


def sorted_names(model: nn.Module) -> list[str]:
    return sorted(node.name for node in fx.symbolic_trace(model).graph.nodes)


def looped_names(model: nn.Module) -> list[str]:
    names = []
    for node in fx.symbolic_trace(model).graph.nodes:
        names.append(node.name)  # another style than yours, and just as right
    return names


for answer in (untouched, crashing, sorted_names, looped_names):
    print(f"{answer.__name__:13}", grade("node_names", answer).status)

# %% proof=true
assert grade("node_names", untouched).status == "not attempted"
assert grade("node_names", crashing).status == "crashed"
assert grade("node_names", sorted_names).status == "failed"
assert grade("node_names", looped_names).status == "passed"

# %% [markdown]
# ### How to read a failing card
#
# Scroll back to the failing card of section 0.1. From top to bottom, such a card has
#
# * the **message**: one sentence about what is wrong, in the names of your own code and of the model;
# * **where to look**: one sentence that points in a direction and does not give the answer away;
# * the **smallest case** that shows the fault: a model, and how your function was called; a model that was drawn at random is called `Model`, and its values `a`, `b`, `c`;
# * what was **expected** and what was **obtained**; in chapters where you edit graphs, the graph **before and after** as pictures, with the differences marked;
# * the **parts** of the task, folded, each with its share of the points. The first part is the task itself: without it there are no points;
# * **hints**, folded, and later a solution.
#
# Below the card of a check cell there is one short error, `CheckFailed`.
# This is intended: a notebook with a wrong answer must not look as if it were finished.
#
# After a failing check, `from autograder import failed` and then `case = failed()` give you the failing case itself:
# `case.model` and `case.args` are what your function was called with, and `case.run()` calls it again.

# %% [markdown]
# ### Your other tools
#
# `draw(gm)` draws a graph. The number after an opcode is the node's place in the order in which the graph runs.
# `draw.diff(before, after)` draws two graphs side by side and marks what was added, removed or changed.
# Nodes are compared by what they compute, so a different name alone does not count as a difference.
# You will use both all the time.
#
# Two more for later: `draw.beside(a, b)` draws two unrelated graphs side by side,
# and `draw(gm, around="add_1")` draws the part of a big graph that is near a node.

# %%
draw.diff(fx.symbolic_trace(model), gm)  # gm was edited in section 0.2

# %% proof=true
assert "gelu" in repr(draw.diff(fx.symbolic_trace(model), gm))
assert "linear" in repr(draw(gm, around="relu"))

# %% [markdown]
# `hint("node_names")` shows the folded hints of an exercise, and `hint()` those of the one that you checked last.
# The first hint tells you where to look.
# The second names what to use.
# The third shows the shape of an answer, but not the answer.
#
# `progress()` shows what you have passed so far, in all chapters, and `progress("01")` one chapter.
# It reads a small file in your workspace. Nothing is sent anywhere.

# %%
progress()

# %% [markdown]
# ## 0.6 The other team's network
#
# Back to the story.
# The network is **GoogLeNet**, as torchvision builds it without trained weights, so nothing is downloaded. It stays with us through the course.
# With torchvision's new weights, the result is nearly the same for every image, and every comparison would pass.
# `make_alive` draws weights with which each layer matters.
#
# Your function from section 0.1 reads it as it reads any model:

# %% uses="node_names"
from unittest.mock import patch

from torchvision.models import googlenet

from autograder.given import assert_same_results, difference, images, make_alive

network = make_alive(googlenet(weights=None, init_weights=False))
image = images(1)

names = node_names(network)
print(len(names), "nodes:", names[:6], "…", names[-3:])
assert len(names) == 199

# %% [markdown]
# Now the pass, with the lines of section 0.2. It does not know anything about GoogLeNet.
#
# Is the result right? To find out, we produce the expected result in another way:
# while the original network runs, we let the name `F.relu` mean GELU.
# Both must return the same. `assert_same_results` measures their difference in units of what another image changes.
# And the other team's network must not change.


# %%
def relu_to_gelu_here(model: nn.Module) -> fx.GraphModule:
    """The same model, with GELU instead of each call of `F.relu`."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is F.relu:
            node.target = F.gelu
            node.kwargs = {}
    gm.recompile()
    return gm


def count(gm: fx.GraphModule, function) -> int:
    return sum(node.target is function for node in gm.graph.nodes)


original = network(image)
ours = relu_to_gelu_here(network)
print("GELU", count(fx.symbolic_trace(network), F.gelu), "→", count(ours, F.gelu))
assert count(ours, F.relu) == 0 and count(ours, F.gelu) == 57


def edited_by_hand(x: torch.Tensor) -> torch.Tensor:
    with patch("torch.nn.functional.relu", lambda x, inplace=False: F.gelu(x)):
        return network(x)


assert_same_results(ours, edited_by_hand, image)
assert difference(ours, network, image) > 0.1  # the activation did change
assert torch.equal(network(image), original)  # the network did not

# %%
draw(ours, around="relu_1")  # the old name, and a call of GELU

# %% [markdown]
# Next week the other team sends a new version, and you run the same ten lines again.
# But is *every* ReLU of *every* model found in this way? It is not: `nn.ReLU` modules and `x.relu()` are missed.
# Chapter 3 returns to this network with a pass that finds them all.

# %% proof=true
missed = relu_to_gelu_here(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
assert count(missed, F.gelu) == 0  # the module is still a ReLU
assert count(relu_to_gelu_here(lambda x: x.relu()), F.gelu) == 0

# %% [markdown]
# ### Your way through the course
#
# If you learn alone, you need not do all chapters. A **track** is a way through the course, with an end.
# The track *Taste* ends here. *Essentials* ends with your own pass for the other team's network, in chapter 3.
# The notebook *index*, next to this one, lists all tracks. The title of a track leads to the section where you go on.
#
# The index also says where to get help, if something does not work or an exercise stays unclear.

# %% [markdown]
# ## Common mistakes
#
# ### The check gets a result instead of a function
#
# `check` needs the function itself, so that it can call it on models of its own.
# It finds the exercise by the function's name, and a list does not have a name.

# %%
with fails(KeyError):
    check(["x", "relu", "output"])  # this is what check(node_names(model)) does

# %% [markdown]
# Write `check(node_names)`, without a call.

# %% [markdown]
# ### "`symbolic_trace` is the same as `Tracer().trace`"
#
# PyTorch's page *torch.fx* writes a transform with `tracer_class().trace(m)`, and many tutorials say that `symbolic_trace` is the same.
# `Tracer().trace` returns a `Graph`: a record, which cannot be called and does not have `code`.
# `symbolic_trace` also makes the `GraphModule` around it, from `tracer.root`, which has the modules that the graph calls.

# %%
tracer = fx.Tracer()
graph = tracer.trace(model)
print("callable:", callable(graph), "- has code:", hasattr(graph, "code"))

whole = fx.GraphModule(tracer.root, graph)  # what symbolic_trace does next
assert torch.equal(whole(x), model(x))

# %% proof=true
assert type(fx.Tracer().trace(model)) is fx.Graph
assert not callable(graph) and not hasattr(graph, "code")

# %% [markdown]
# ### A set of nodes
#
# The order of a graph is the order of execution.
# The order of a `set` of nodes comes from their addresses in memory, so two runs of your program may give two different results.
# Use a list, or a dict with the nodes as keys.

# %%
nodes = list(fx.symbolic_trace(TwoTanh()).graph.nodes)
print("a set: ", list(set(nodes)))
print("a dict:", list(dict.fromkeys(nodes)))

# %% proof=true
assert list(dict.fromkeys(nodes)) == nodes
assert hash(nodes[0]) == object.__hash__(nodes[0])  # made from the address

# %% [markdown]
# ## Recap
#
# 1. FX has three parts: capture, IR, code generation. It takes Python and gives Python back. Each part can be used alone.
# 2. `symbolic_trace(model)` gives a `GraphModule` with a `graph` that you can edit and `code` that is generated from it.
# 3. `symbolic_trace` is current. For speed use `torch.compile`, for deployment `torch.export`: they hand you FX graphs too.
# 4. A trace knows one path through your code, and your `forward` really runs while it is made.
# 5. A check has five outcomes. A failing card shows the smallest model that proves the fault.
#
# ### Cheat sheet
#
# | you want | you write |
# |---|---|
# | a graph of a model | `gm = fx.symbolic_trace(model)` |
# | only the graph | `fx.Tracer().trace(model)` |
# | to read it | `print(gm.graph)`, `print(gm.code)`, `draw(gm)` |
# | to walk through it | `for node in gm.graph.nodes:` |
# | to change what a node calls | `node.target = other_function` |
# | new code after an edit | `gm.recompile()` |
# | to compare two graphs | `draw.diff(before, after)` |
# | a part of a big graph | `draw(gm, around="add_1")` |
# | an answer, help, an overview | `check(f)`, `hint("f")`, `progress()` |
#
# **Not taught here:** what a trace cannot see (chapter 1), what the six kinds of node mean (chapter 2), how to edit a graph safely (chapter 3), `torch.compile` and `torch.export` (chapter 11).
#
# **Sources and further reading**
#
# * PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), [torch.compiler](https://docs.pytorch.org/docs/stable/torch.compiler.html), [torch.export](https://docs.pytorch.org/docs/stable/export.html), [TorchScript](https://docs.pytorch.org/docs/stable/jit.html).
# * The paper: Reed, DeVito, He, Ussery, Ansel, [torch.fx: Practical Program Capture and Transformation for Deep Learning in Python](https://arxiv.org/abs/2112.08429), 2021.
# * The name: pull requests [#42741](https://github.com/pytorch/pytorch/pull/42741) and [#47004](https://github.com/pytorch/pytorch/pull/47004).
# * Examples: [pytorch/examples, folder fx](https://github.com/pytorch/examples/tree/main/fx).
