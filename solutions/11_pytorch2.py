# %% [markdown]
# # 11 · FX inside PyTorch 2
#
# **After this chapter you can read, count and change the graphs that `torch.compile` and `torch.export` make.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3, and the Interpreter of chapter 6 |
# | **Time** | about 115 minutes, 50 of them for the exercises |
#
# **When you are done, you can**
#
# 1. say which part of PyTorch makes which graph, and what each of these graphs contains;
# 2. write a backend for `torch.compile`, and count how often it is called;
# 3. find graph breaks and recompilations, and say what causes them;
# 4. change a graph that Dynamo has captured, the branches of `torch.cond` too;
# 5. export a model, and count the ATen operators of its program;
# 6. read a program's signature: parameters, buffers, constants, inputs, and what is mutated;
# 7. read shapes and symbolic sizes from `node.meta["val"]`;
# 8. say what functionalization and a decomposition table do to a graph.

# %% [markdown]
# ## A story
#
# You wrote passes for `symbolic_trace`, and they work. Then two teams ask for help on the same day.
#
# The serving team runs an Inception block of GoogLeNet under `torch.compile`. It asks: *what if every ReLU were a GELU?*
# Nobody may touch the source code. And why does the first request of the day take so long, and then the second one again?
#
# The mobile team sends a **program**: a file that `torch.export` made from the same block.
# It asks which operators its runtime must have, and which of the program's 37 inputs are weights.
#
# You run your passes of chapter 3 on both. They find nothing, because there is no `call_module` node.
# In this chapter you see why, and section 11.7 answers both teams.

# %%
import copy
import inspect
import io
import operator
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch.nn.functional as F
from IPython.display import display
from torch import fx, nn
from torch._decomp import get_decompositions
from torch._logging import _internal as log_settings
from torch.export import Dim, ExportedProgram, export
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torchvision.models.googlenet import BasicConv2d, Inception

from autograder import check, draw, drill, fails, hint, progress

warnings.filterwarnings("ignore", category=FutureWarning)
torch.manual_seed(11)
print(torch.__version__)

# %% [markdown]
# Two questions on earlier chapters first.
#
# **Predict the target.** `y = x.exp()`, then `y += 1`. Which target does `symbolic_trace` record for the second line?
#
# <details><summary><code>operator.iadd</code></summary>
#
# No. A Proxy has no <code>__iadd__</code>, so Python computes <code>y + 1</code>. In section 11.3 you meet a producer that records <code>iadd</code>.
# </details>
# <details><summary><code>operator.add</code></summary>
#
# Right. A trace loses that this was a write in place.
# </details>
# <details><summary><code>"add_"</code></summary>
#
# No. That is a method, and only <code>y.add_(1)</code> calls it.
# </details>


# %% proof=true
def plus_one(x):
    y = x.exp()
    y += 1
    return y


assert list(fx.symbolic_trace(plus_one).graph.nodes)[2].target is operator.add

# %% [markdown]
# **Predict the value.** How many `call_module` nodes does `symbolic_trace` record for a `BasicConv2d` of GoogLeNet: a convolution, a BatchNorm, then `F.relu`?
#
# <details><summary>None: its <code>forward</code> is traced into.</summary>
#
# No. <code>BasicConv2d</code> itself is traced into, because it is not defined in <code>torch.nn</code>. The two layers inside are, so they are leaves.
# </details>
# <details><summary>2</summary>
#
# Right: the convolution and the BatchNorm. The ReLU is a function here.
# </details>
# <details><summary>3</summary>
#
# No. The ReLU is written <code>F.relu</code>, so it is a <code>call_function</code> node.
# </details>

# %% proof=true
traced = fx.symbolic_trace(BasicConv2d(3, 4, kernel_size=1).eval())
assert [node.op for node in traced.graph.nodes].count("call_module") == 2

# %% [markdown]
# ## 11.1 Four producers, one IR
#
# FX is one format for graphs. Four parts of PyTorch produce such graphs, and they differ in what the nodes call.
#
# | producer | how it sees your program | what it records |
# |---|---|---|
# | `fx.symbolic_trace` | runs Python with Proxies | modules, functions and methods, as you wrote them |
# | Dynamo, the front of `torch.compile` | reads Python bytecode | functions and methods; modules are inlined |
# | `torch.export` | traces with fake tensors (section 11.6), after or without Dynamo | ATen operators, one graph, with metadata |
# | `make_fx` | runs with real or fake tensors | smaller ATen operators, below autograd |
#
# Here is the same small network four times. `operations` lists what a graph calls.


# %%
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.fc(x))


def operations(graph: fx.Graph) -> list[str]:
    """The targets of all calls, in a short form."""
    calls = [node for node in graph.nodes if node.op.startswith("call_")]
    return [
        getattr(node.target, "__name__", str(node.target)) if "aten" not in str(node.target)
        else str(node.target)
        for node in calls
    ]  # fmt: skip


graphs = []


def keep(gm: fx.GraphModule, example_inputs: list) -> Any:
    """A backend that keeps the graphs that it is given."""
    graphs.append(gm)
    return gm


net, x = Net().eval(), torch.randn(2, 3)
torch.compile(net, backend=keep)(x)
table = {
    "symbolic_trace": operations(fx.symbolic_trace(net).graph),
    "torch.compile": operations(graphs[-1].graph),
    "export": operations(export(net, (x,)).graph),
    "make_fx": operations(make_fx(net)(x).graph),
}
for producer, found in table.items():
    print(f"{producer:15} {found}")

# %% proof=true
assert table["symbolic_trace"] == ["fc", "relu"]
assert table["torch.compile"] == ["linear", "relu"]
assert table["export"] == ["aten.linear.default", "aten.relu.default"]
assert table["make_fx"][:2] == ["aten.t.default", "aten.addmm.default"]
weights = [node.op for node in graphs[-1].graph.nodes].count("placeholder")
assert weights == 3  # two parameters, and x

# %% [markdown]
# Read the four lines from top to bottom: they get further away from your source code.
#
# * `fc` is a module. A pass that asks `isinstance(module, nn.Linear)` works on the first line only.
# * `linear` is a function. Its weight and its bias are arguments now, and they come from **placeholders**.
# * `aten.linear.default` is an **operator overload**: an operator of ATen, PyTorch's tensor library, in the version for these argument types.
# * `aten.t` and `aten.addmm` are what `linear` is made of, one level below.
#
# An overload knows its name, its library and its arguments:

# %%
add = torch.ops.aten.add.Tensor
print(add._schema)

# %% proof=true
assert (add.namespace, str(add)) == ("aten", "aten.add.Tensor")
assert str(add.overloadpacket) == "aten.add"  # all overloads of one name are a packet

# %% [markdown]
# On ATen graphs, `x + y`, `x.add(y)` and `torch.add(x, y)` are one target.
# A pass needs one condition where it needed three. In return there are no modules, and no names of yours.

# %%
spellings = (lambda a, b: a + b, lambda a, b: a.add(b), lambda a, b: torch.add(a, b))
for spelling in spellings:
    call = list(fx.symbolic_trace(spelling).graph.nodes)[2]
    recorded = call.format_node().split(" = ")[1].removesuffix("(args")
    print(operations(make_fx(spelling)(x, x).graph), "for", recorded)

# %% proof=true
assert {operations(make_fx(each)(x, x).graph)[0] for each in spellings} == {"aten.add.Tensor"}
assert len({str(fx.symbolic_trace(each).graph) for each in spellings}) == 3


# %%
class Doubled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        y = self.fc(x)
        return y.add(y)


# %% [markdown]
# **Drill 11.1a.** Which list does `operations` return for the graph of `export(Doubled(), (x,))`?

# %% drill=true
exported_names = ["aten.linear.default", "aten.add.Tensor"]
drill("11.1a", exported_names)
# Mistake: A trace of `symbolic_trace` has these, but an exported program has neither modules nor methods.
# exported_names = ["fc", "add"]

# %% proof=true
assert operations(export(Doubled(), (x,)).graph) == ["aten.linear.default", "aten.add.Tensor"]

# %% [markdown]
# ## 11.2 A backend in five lines
#
# `torch.compile` has two halves. **Dynamo** reads your Python code and makes graphs. A **backend** turns each graph into something that runs.
# The usual backend is Inductor, which needs a compiler. But a backend is only a callable:
#
# ```text
# backend(gm, example_inputs) -> callable
# ```
#
# It takes an `fx.GraphModule` and example inputs. It returns a callable that takes the graph's inputs, and returns what the graph returns.
# The simplest backend returns `gm` itself. `keep` above is one.
#
# Dynamo calls the backend **when it compiles**, and not when the result runs.
# With every compiled graph it keeps **guards**: conditions on the inputs, and on all else that it read, under which the graph is right. If they fail, it compiles again.


# %%
def scale(x):
    return torch.relu(x).tanh() + 1


torch._dynamo.reset()  # forget what was compiled before
graphs.clear()
compiled = torch.compile(scale, backend=keep)
for _ in range(3):
    compiled(torch.randn(2, 4))
print(len(graphs), "graph for three calls")

# %% proof=true
assert len(graphs) == 1

# %% [markdown]
# **Predict the value.** The same function gets batches of 2, 3, 4 and 5 rows. How many graphs are made?
#
# <details><summary>1: the code is the same.</summary>
#
# No. The first graph has a guard on the number of rows. With 3 rows it fails.
# </details>
# <details><summary>2</summary>
#
# Right. The first graph is for 2 rows. With 3 rows Dynamo sees that this size changes, and makes a second graph with a <strong>symbolic</strong> size. That one also fits 4 and 5.
# </details>
# <details><summary>4: one for each size.</summary>
#
# No. That needs <code>dynamic=False</code>. By default, a size that has changed once becomes a symbol.
# </details>


# %% proof=true
def graphs_for(sizes, **options):
    """How many graphs there are after each of these batches."""
    made, after = [], []
    torch._dynamo.reset()
    fresh = torch.compile(scale, backend=lambda gm, _: made.append(gm) or gm, **options)
    for rows in sizes:
        fresh(torch.randn(rows, 4))
        after.append(len(made))
    inputs = made[-1].graph.find_nodes(op="placeholder")
    return after, len(inputs)


assert graphs_for((2, 3, 4, 5)) == ([1, 2, 2, 2], 2)  # the last graph has two inputs: size and x
assert graphs_for((2, 3, 4, 5), dynamic=False)[0] == [1, 2, 3, 4]

# %% [markdown]
# That is why the *second* request of the day is slow, too. If you know that a size changes, say so before the first call:

# %%
torch._dynamo.reset()
graphs.clear()
compiled = torch.compile(scale, backend=keep)
for rows in (2, 3, 4, 5):
    batch = torch.randn(rows, 4)
    torch._dynamo.mark_dynamic(batch, 0)
    compiled(batch)
print(len(graphs), "graph for four sizes")

# %% proof=true
assert len(graphs) == 1

# %% [markdown]
# Two sizes stay special. A symbolic size stands for 2 or more, so 0 and 1 get graphs of their own. A server must expect that: single requests are common.
#
# **Drill 11.2a.** `scale` is compiled without `mark_dynamic`, and gets batches of 2, 3, 1, 4 and 1 rows. Write a list of five numbers: how many graphs there are after each call.

# %% drill=true
graphs_after = [1, 2, 3, 3, 3]
drill("11.2a", graphs_after)
# Mistake: The second graph does not fit each of the later sizes.
# graphs_after = [1, 2, 2, 2, 2]

# %% proof=true
assert graphs_for((2, 3, 1, 4, 1))[0] == [1, 2, 3, 3, 3] and graphs_for((2, 3, 0))[0][-1] == 3

# %% [markdown]
# ### Graph breaks
#
# Dynamo meets Python that it cannot put into a graph: an `if` on a tensor's value, a call into a C extension that it does not know.
# Then it ends the graph, lets Python do this one step, and begins a new graph after it. `symbolic_trace` would raise a `TraceError`.
# `torch._dynamo.explain` tells you where that happens:


# %%
def branches(x):
    y = torch.relu(x)
    if y.sum() > 0:
        y = y * 2
    return y.sin()


torch._dynamo.reset()
report = torch._dynamo.explain(branches)(torch.ones(3))
print(report.graph_count, "graphs,", report.graph_break_count, "break")
for graph in report.graphs:
    print("  ", operations(graph.graph))

# %% proof=true
assert report.graph_count == 2 and report.graph_break_count == 1
assert [operations(graph.graph) for graph in report.graphs] == [
    ["relu", "sum", "gt"],
    ["mul", "sin"],
]
with fails(fx.proxy.TraceError):
    fx.symbolic_trace(branches)

# %% [markdown]
# The other branch was not compiled: no input has gone there yet.
# `torch.compile(..., fullgraph=True)` refuses a break instead:

# %%
torch._dynamo.reset()
with fails(torch._dynamo.exc.Unsupported):
    torch.compile(branches, backend=keep, fullgraph=True)(torch.ones(3))

# %% [markdown]
# PyTorch can also write a log. In a shell, write `TORCH_LOGS="graph_breaks,recompiles,guards" python serve.py`.
# `TORCH_LOGS=help` lists all topics; `graph_code` and `aot_graphs` print graphs. In Python (each line begins with V, for *verbose*; it is red because the log goes to the error output):

# %%
torch._dynamo.reset()
torch._logging.set_logs(recompiles=True)
compiled = torch.compile(scale, backend=keep)
compiled(torch.randn(2)), compiled(torch.randn(2, dtype=torch.float64))  # the log names the guard
torch._logging.set_logs()  # and back

# %% proof=true
with fails(ValueError):  # how PyTorch reads the variable; unknown topics are an error
    log_settings._parse_log_settings("graph_code,aot_graphs,no_such_topic")

assert log_settings._parse_log_settings("graph_code,aot_graphs").artifact_names
assert log_settings.LOG_ENV_VAR == "TORCH_LOGS" and "aot_graphs" in log_settings.help_message()

# %% [markdown]
# (If the compiler crashes, the **minifier** looks for the smallest graph with which it still does so, and writes a file that you can send to somebody:
# `TORCHDYNAMO_REPRO_AFTER="dynamo"` or `"aot"` in the shell. For wrong values, add `TORCHDYNAMO_REPRO_LEVEL=4`.)

# %% proof=true
settings = inspect.getsource(torch._dynamo.config)
assert 'Possible values are {None, "aot", "dynamo"}' in settings
assert 'repro_after = os.environ.get("TORCHDYNAMO_REPRO_AFTER", None)' in settings
assert 'os.environ.get("TORCHDYNAMO_REPRO_LEVEL", 2)' in settings
assert "4: Dumps a minifier_launcher.py if the accuracy fails" in settings

# %% [markdown] card="CountingBackend"
# **Write** the class `CountingBackend`, for `backend = CountingBackend()` and `torch.compile(model, backend=backend)`.
#
# * `backend.graphs`, an `int`: how many graphs it has been given so far;
# * `backend.ops`, a `Counter` over all these graphs: how often each name is called. The name of a function is `target.__name__`,
#   that of a method is the method's, that of a module is its class name.
#
# Both count when a graph is compiled, and not when it runs. What is compiled gives what the graph gives, gradients included.
#
# **Do not** run the graph when the backend is called, and do not change the graph or the example inputs.
#
# **Fine print**
#
# * Calls that nobody reads count, too. Each backend has figures of its own.
# * The backend may also be called by hand, as `backend(gm, example_inputs)`, with graphs that contain modules.
# * Branches of `torch.cond`, and options of `torch.compile`, are never tested.


# %%
class Example(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(torch.sin(x)).add(torch.sin(x))


# By hand, with this trace: graphs is 1, and ops is
expected = Counter({"sin": 2, "ReLU": 1, "add": 1})
draw(fx.symbolic_trace(Example()))


# %% solve="CountingBackend"
class CountingBackend:
    """A backend that counts the graphs it is given, and what they call.

    Attributes:
        graphs: how many graphs it has been given so far.
        ops: how often each name is called in all of them.
    """

    def __init__(self) -> None:
        ### BEGIN SOLUTION
        self.graphs = 0
        self.ops: Counter[str] = Counter()
        ### END SOLUTION

    def __call__(self, gm: fx.GraphModule, example_inputs: list) -> Any:
        """Count a graph, and return a callable that runs it unchanged."""
        ### BEGIN SOLUTION
        self.graphs += 1
        for node in gm.graph.nodes:
            if node.op == "call_function":
                self.ops[node.target.__name__] += 1
            elif node.op == "call_method":
                self.ops[node.target] += 1
            elif node.op == "call_module":
                self.ops[type(gm.get_submodule(node.target)).__name__] += 1
        return gm
        ### END SOLUTION


# %% check="CountingBackend"
check(CountingBackend)

# %% hint="CountingBackend"
hint("CountingBackend")

# %% [markdown]
# ## 11.3 Change what was captured
#
# A backend may change the graph before it returns it, as in chapter 3. Three things are new.
#
# **1. The graph module is lazy.** Dynamo passes a `_LazyGraphModule`. It has no code until the code is needed for the first time.
# These two backends forget `recompile()`:


# %%
def to_cos(gm, example_inputs, look=False):
    """Replaces sin by cos, and forgets recompile."""
    if look:
        str(gm.code)  # as a debugger does, or a print
    for node in gm.graph.find_nodes(op="call_function", target=torch.sin):
        node.target = torch.cos
    return gm


def peek(gm, example_inputs):
    """The same, after a look at the code."""
    return to_cos(gm, example_inputs, look=True)


# %% [markdown]
# **Predict the result.** `torch.sin` at 0, compiled with `to_cos` and with `peek`. Which of the two gives 1?
#
# <details><summary>Both.</summary>
#
# No. <code>peek</code> has looked at <code>gm.code</code>, so the code existed before the edit. It is stale.
# </details>
# <details><summary>Only <code>to_cos</code>.</summary>
#
# Right. Its code is made at the first call, after the edit. It works until you print the graph's code to see why it works. So call <code>recompile()</code> after every edit.
# </details>
# <details><summary>Neither: both forget <code>recompile()</code>.</summary>
#
# No. That would be true for an ordinary graph module. This one is lazy.
# </details>

# %% proof=true
zero, results = torch.zeros(1), []
assert graphs and all(isinstance(graph, _LazyGraphModule) for graph in graphs)
for backend in (to_cos, peek):
    torch._dynamo.reset()
    results.append(torch.compile(lambda x: torch.sin(x), backend=backend)(zero).item())
assert results == [1.0, 0.0]

# %% [markdown]
# **2. One operation still has several spellings.** Dynamo inlines modules, but it does not unify functions and methods:


# %%
class Spellings(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Sigmoid()

    def forward(self, x):
        return self.act(x) + x.sigmoid() + torch.sigmoid(input=x)


torch._dynamo.reset()
graphs.clear()
torch.compile(Spellings(), backend=keep)(x)
for node in graphs[0].graph.nodes:
    if node.op.startswith("call_") and node.target is not operator.add:
        print(node.op, getattr(node.target, "__name__", node.target), node.args, node.kwargs)

# %% proof=true
calls = Counter(node.op for node in graphs[0].graph.nodes)
assert calls["call_method"] == 1 and calls["call_module"] == 0

# %% [markdown]
# The layer became a function. The third spelling has its argument among the keywords.
# And Dynamo records `y += 1` as `operator.iadd`, which writes:


# %%
def add_up(x):
    y = x.exp()
    y += 1
    return y


torch._dynamo.reset()
graphs.clear()
torch.compile(add_up, backend=keep)(x)
print(operations(graphs[0].graph))

# %% proof=true
assert operations(graphs[0].graph) == ["exp", "iadd"]

# %% [markdown]
# **3. A graph can hold graphs.** `torch.cond` chooses between two functions while the graph runs.
# Each branch is a graph module of its own, and a `get_attr` node reads it. `torch.cond` is a *higher-order operator*: it takes graphs as arguments.


# %%
def choose(x):
    return torch.cond(x.sum() > 0, lambda y: torch.sigmoid(y) + 1, lambda y: y.sin(), (x,))


torch._dynamo.reset()
graphs.clear()
torch.compile(choose, backend=keep)(x)
outer = graphs[0]
print(outer.graph)

# %% proof=true
assert operations(outer.graph) == ["sum", "gt", "cond", "getitem"]
(cond,) = outer.graph.find_nodes(op="call_function", target=torch.ops.higher_order.cond)
assert [branch.op for branch in cond.args[1:3]] == ["get_attr", "get_attr"]
inner = [m for m in outer.modules() if isinstance(m, fx.GraphModule) and m is not outer]
assert [operations(part.graph) for part in inner] == [["sigmoid", "add"], ["sin"]]

# %% [markdown]
# A loop over `gm.graph.nodes` does not see the sigmoid. `gm.modules()` gives `gm` itself and everything inside.
#
# Below, one branch of a `torch.cond` contains another `torch.cond`:


# %%
def nested(x):
    def positive(y):
        return torch.cond(y.sum() > 9, lambda z: z.sin(), lambda z: z.cos(), (y,))

    return torch.cond(x.sum() > 0, positive, lambda y: y.tan(), (x,))


# %% [markdown]
# **Drill 11.3a.** Dynamo captures `nested` as one graph. How many graph modules does that make, the outer one included?

# %% drill=true
graph_modules = 5
drill("11.3a", graph_modules)
# Mistake: A branch may itself contain branches.
# graph_modules = 3

# %% proof=true
torch._dynamo.reset()
captured = []
torch.compile(nested, backend=lambda gm, _: captured.append(gm) or gm)(x)
assert sum(isinstance(part, fx.GraphModule) for part in captured[0].modules()) == 5

# %% [markdown]
# Here is a whole pass as a backend. It replaces each sigmoid, as a function or as a method, by a hard sigmoid.
# (Today `recompile()` of the outer module reaches the graph modules inside. The line in the loop works in older releases, too.)


# %%
def hard_sigmoid_backend(gm, example_inputs):
    for module in gm.modules():
        if not isinstance(module, fx.GraphModule):
            continue
        for node in module.graph.nodes:
            function = node.op == "call_function" and node.target is torch.sigmoid
            if function or (node.op == "call_method" and node.target == "sigmoid"):
                node.op, node.target = "call_function", F.hardsigmoid
        module.recompile()
    return gm


torch._dynamo.reset()
for function in (choose, Spellings()):
    result = torch.compile(function, backend=hard_sigmoid_backend)(torch.ones(3))
    print(result)
torch.testing.assert_close(result, 3 * F.hardsigmoid(torch.ones(3)))


# %% proof=true
class Branching(nn.Module):
    def forward(self, x):
        return choose(x)


outer_gm = export(Branching(), (torch.ones(3),)).module()
(sigmoid,) = outer_gm.true_graph_0.graph.find_nodes(
    op="call_function", target=torch.ops.aten.sigmoid.default
)
sigmoid.target = torch.ops.aten.tanh.default
outer_gm.recompile()  # not that of the branch
torch.testing.assert_close(outer_gm(torch.ones(3)), torch.tanh(torch.ones(3)) + 1)

# %% [markdown] card="relu_to_gelu_backend"
# **Write** a backend: a function of a graph module and example inputs.
# What it returns does what the graph does, with an exact GELU instead of every ReLU:
#
# * `torch.relu`, `F.relu` (with `inplace=True` too, and with `input=` as a keyword), `F.relu_`, `torch.relu_`;
# * the methods `.relu()` and `.relu_()`;
# * and so `nn.ReLU`, which Dynamo has inlined;
# * in the branches of `torch.cond`, too.
#
# `relu6` and `leaky_relu` stay. `torch.compile` uses the backend, for several graphs, shapes, dtypes and models, and with gradients.
# It is also called by hand, with an ordinary `GraphModule`.
#
# **Fine print**
#
# * You may change `gm`, and return any callable that takes the arguments of `gm` and returns what `gm` returns.
# * A ReLU in place only comes where nothing else reads its input.
# * Graphs with `call_module` nodes are never tested.


# %%
def before(x):
    return F.relu(x, inplace=False) + F.relu6(x).relu()


def after(x):
    return F.gelu(x) + F.gelu(F.relu6(x))


display(draw(fx.symbolic_trace(before), title="what the backend is given"))
draw(fx.symbolic_trace(after), title="what it runs")


# %% solve="relu_to_gelu_backend"
def relu_to_gelu_backend(gm: fx.GraphModule, example_inputs: list) -> Any:
    """A backend in which every ReLU is an exact GELU.

    Args:
        gm: what Dynamo captured; it may be changed.
        example_inputs: inputs of the right kind.

    Returns:
        What is called instead of the graph.
    """
    ### BEGIN SOLUTION
    functions = {torch.relu, torch.relu_, F.relu, F.relu_}
    for module in gm.modules():
        if not isinstance(module, fx.GraphModule):
            continue
        for node in module.graph.nodes:
            function = node.op == "call_function" and node.target in functions
            if function or (node.op == "call_method" and node.target in ("relu", "relu_")):
                node.op, node.target = "call_function", F.gelu
                # By position or by keyword, it reads one value; `inplace` goes.
                node.args, node.kwargs = tuple(node.all_input_nodes), {}
        module.recompile()
    return gm
    ### END SOLUTION


# %% check="relu_to_gelu_backend"
check(relu_to_gelu_backend)

# %% hint="relu_to_gelu_backend"
hint("relu_to_gelu_backend")

# %% [markdown]
# ## 11.4 `torch.export`: a program
#
# `torch.compile` may leave parts to Python. `torch.export` may not: it makes **one** graph for the whole model, or it raises.
# The result is an `ExportedProgram`. It can be saved, and loaded where your source code does not exist.


# %%
class Block(nn.Module):
    """A layer with state of every kind."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("mask", torch.ones(4), persistent=False)

    def forward(self, x, times):
        return self.norm(torch.relu(self.fc(x))) * self.mask * times + torch.tensor(1.0)


layer = Block().eval()
program = export(layer, (x, 2))
print(program.graph)

# %% proof=true
assert isinstance(program, ExportedProgram)

# %% [markdown]
# It is an FX graph with three differences to a trace:
#
# * Calls are operator overloads: `F.relu`, `torch.relu` and `nn.ReLU` are all `aten.relu.default` (in place: `aten.relu_.default`). Some of Python's functions remain, such as `operator.getitem`, and so does `torch.cond`.
# * The state is **lifted**: parameters, buffers and constants are placeholders, before the inputs.
# * `program.graph` cannot be called with your inputs alone. `program.module()` gives a module that can: it puts the state back in.

# %%
again = program.module()
torch.testing.assert_close(again(x, 2), layer(x, 2))
with fails(TypeError):
    program.graph_module(x, 2)  # it wants the weights, too

# %% [markdown]
# In the graph, Python's numbers are constants: nothing reads the placeholder of `times`. A call with another number raises an error.

# %%
with fails(AssertionError):
    again(x, 3)


# %% proof=true
class Chunks(nn.Module):
    def forward(self, x):
        first, second = x.chunk(2)
        return first + second


assert operator.getitem in {node.target for node in export(Chunks(), (x,)).graph.nodes}

# %% [markdown]
# **Predict the value.** A model runs `torch.tanh(x)` and ignores the result. Is it in the exported program?
#
# <details><summary>No: export removes dead code.</summary>
#
# No. <code>run_decompositions</code> removes it, and <code>export</code> does not.
# </details>
# <details><summary>Yes.</summary>
#
# Right. The graph has each operator that was called, so a count of operators includes this one.
# </details>


# %% proof=true
class Dead(nn.Module):
    def forward(self, x):
        torch.tanh(x)
        return x.cos()


dead = export(Dead(), (x,))
assert operations(dead.graph) == ["aten.tanh.default", "aten.cos.default"]
assert operations(dead.run_decompositions({}).graph) == ["aten.cos.default"]

# %% [markdown]
# A condition on a tensor's value must be written with `torch.cond`. As before, the branches are graph modules inside the program's graph module.
# A part under `torch.no_grad()` becomes a graph inside, too.


# %%
class Chooses(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            middle = x.mean()
        return torch.cond(middle > 0, lambda y: y.sin(), lambda y: y.cos() * 2, (x,))


program = export(Chooses(), (x,))
for name, module in program.graph_module.named_modules():
    print(f"{name:14} {operations(module.graph)}")

# %% proof=true
names = {name for name, _ in program.graph_module.named_modules()}
assert {"", "true_graph_0", "false_graph_0"} < names and len(names) == 4

# %% [markdown] card="export_ops"
# **Given** a model, and its arguments as a tuple of tensors.
#
# **Return** a `Counter`: how often each ATen operator appears in the program of `torch.export.export(model, args)`, with the default settings, and without decomposition.
# The keys are `str(target)`, such as `"aten.linear.default"`.
#
# * Only operator overloads of the namespace `aten` count. Not `operator.getitem`, not `torch.cond` itself, and no operators of other libraries.
# * Graph modules inside the program's graph module count, too, each once: the branches of `torch.cond`, and their branches.
#
# Model and arguments are as before.
#
# **Fine print**
#
# * What nobody reads counts.
# * The model is exported in the mode that it is in.
# * Keyword arguments and dynamic shapes are never tested.


# %%
class Branches(nn.Module):
    def forward(self, x):
        return torch.cond(x.mean() > 0, lambda y: y.sin(), lambda y: y.cos() * 2, (x,))


program = export(Branches(), (torch.ones(3),))
# export_ops(Branches(), (torch.ones(3),)) must return:
expected = Counter({
    **{"aten.mean.default": 1, "aten.gt.Scalar": 1},
    **{"aten.sin.default": 1, "aten.cos.default": 1, "aten.mul.Tensor": 1},
})  # fmt: skip
draw(program.graph_module)


# %% solve="export_ops"
def export_ops(model: nn.Module, args: tuple[torch.Tensor, ...]) -> Counter[str]:
    """How often each ATen operator appears in a model's exported program.

    Args:
        model: the model; it is exported in the mode that it is in.
        args: its arguments, by position.

    Returns:
        The counts by `str(target)`.
    """
    ### BEGIN SOLUTION
    program = export(model, args)
    counts: Counter[str] = Counter()
    for module in program.graph_module.modules():
        if isinstance(module, fx.GraphModule):
            for node in module.graph.nodes:
                target = node.target
                if isinstance(target, torch._ops.OpOverload) and target.namespace == "aten":
                    counts[str(target)] += 1
    return counts
    ### END SOLUTION


# %% check="export_ops"
check(export_ops)

# %% hint="export_ops"
hint("export_ops")

# %% [markdown]
# ## 11.5 The signature
#
# Which placeholder is what? The graph does not say it, and names may mislead: an input may be called `p_x`.
# `program.graph_signature` says it. `input_specs` has one entry for each placeholder, in graph order:

# %%
program = export(Block().train(), (x, 2))
for spec in program.graph_signature.input_specs:
    print(f"{spec.kind.name:16} {spec.arg.name:28} {spec.target}")

# %% proof=true
kinds = Counter(spec.kind for spec in program.graph_signature.input_specs)
assert kinds[InputKind.PARAMETER] == 4 and kinds[InputKind.BUFFER] == 4
assert kinds[InputKind.CONSTANT_TENSOR] == 1 and kinds[InputKind.USER_INPUT] == 2


class Misleading(nn.Module):
    def forward(self, p_x):
        return p_x + 1


(spec,) = export(Misleading(), (x,)).graph_signature.input_specs
assert spec.arg.name == "p_x" and spec.kind == InputKind.USER_INPUT

# %% [markdown]
# `spec.arg.name` is the placeholder's name. `spec.target` is the path in the model, which an input does not have.
# The tensor that was written down in `forward` is a constant.
#
# **Drill 11.5a.** A `BasicConv2d(3, 4, kernel_size=1)` has a convolution without a bias, a BatchNorm, and a ReLU. It is exported with one image.
# How many of the placeholders are parameters, buffers, and inputs? Write a list of these three numbers.

# %% drill=true
kinds_of_conv = [3, 3, 1]
drill("11.5a", kinds_of_conv)
# Mistake: A BatchNorm also has a buffer that counts batches.
# kinds_of_conv = [3, 2, 1]

# %% proof=true
conv = BasicConv2d(3, 4, kernel_size=1).eval()
specs = export(conv, (torch.randn(1, 3, 5, 5),)).graph_signature.input_specs
conv_kinds = Counter(spec.kind for spec in specs)
kinds_in_order = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.USER_INPUT)
assert [conv_kinds[kind] for kind in kinds_in_order] == [3, 3, 1]

# %% [markdown]
# The program above is in training mode, where a BatchNorm changes three buffers. Look for that in the graph, and in the signature:

# %%
print([op for op in operations(program.graph) if "_." in op])
print(program.graph_signature.buffers_to_mutate)

# %% proof=true
assert {"aten.add_.Tensor", "aten.detach_.default"} <= set(operations(program.graph))
assert "aten.batch_norm.default" in operations(program.graph)
assert not torch.ops.aten.batch_norm.default._schema.is_mutable
assert program.graph_signature.buffers_to_mutate == {}

# %% [markdown]
# You see `aten.add_.Tensor`, which writes the counter. (`detach_` belongs to the constant.) `aten.batch_norm.default` writes the other two, although its schema does not say so. The signature says nothing about mutation.
#
# `run_decompositions` makes a new program. It **functionalizes**: no operation changes anything in place.
# The new values become further outputs, and the signature says into which buffer each must be written.

# %%
functional = program.run_decompositions({})
for spec in functional.graph_signature.output_specs:
    print(f"{spec.kind.name:16} {spec.arg.name:10} {spec.target}")

# %% proof=true
assert not [op for op in operations(functional.graph) if "_." in op]
kinds = [spec.kind for spec in functional.graph_signature.output_specs]
assert kinds == [OutputKind.BUFFER_MUTATION] * 3 + [OutputKind.USER_OUTPUT]

# %% [markdown]
# **Predict the result.** What is `functional.graph_signature.user_inputs` for the arguments `(x, 2)`?
#
# <details><summary><code>('x', 'times')</code></summary>
#
# No. If an input is not a tensor, this list has its value.
# </details>
# <details><summary><code>('x', 2)</code></summary>
#
# Right: a name, and a value. For the names, read <code>spec.arg.name</code> of the input specs.
# </details>
# <details><summary><code>('x',)</code></summary>
#
# No. A number that the caller passes has a placeholder, too, although its value is a constant in the graph.
# </details>

# %% proof=true
assert functional.graph_signature.user_inputs == ("x", 2)
functional_specs = functional.graph_signature.input_specs
user_specs = [spec for spec in functional_specs if spec.kind == InputKind.USER_INPUT]
assert [spec.arg.name for spec in user_specs] == ["x", "times"]

# %% [markdown] card="params_of"
# **Given** an `ExportedProgram`.
#
# **Return** a dictionary with five keys, which are always there. Each value is a list of **placeholder names**, in graph order:
#
# * `"parameters"`, and `"buffers"`, saved with the model or not;
# * `"constants"`: the lifted tensor constants;
# * `"inputs"`: what the caller passes, tensors or not, read or not;
# * `"mutated"`: the buffers and inputs that the program's *signature* says are mutated.
#
# Every placeholder is in exactly one of the first four lists.
#
# **Do not** change the program.
#
# **Fine print**
#
# * Before `run_decompositions`, nothing is mutated by the signature, whatever the graph has.
# * Custom objects, tokens and effects are never tested.


# %%
class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.register_buffer("mask", torch.ones(4))

    def forward(self, x, times):
        return self.fc(x) * self.mask * times + torch.tensor(1.0)


program = export(Masked(), (torch.ones(2, 3), 2))
# params_of(program) must return:
expected = {
    "parameters": ["p_fc_weight", "p_fc_bias"],
    "buffers": ["b_mask"],
    "constants": ["c_lifted_tensor_0"],
    "inputs": ["x", "times"],
    "mutated": [],
}
draw(program.graph_module)

# %% proof=true
in_graph = [node.name for node in program.graph.find_nodes(op="placeholder")]
assert sorted(sum(expected.values(), [])) == sorted(in_graph)
assert all(names == sorted(names, key=in_graph.index) for names in expected.values())


# %% solve="params_of"
def params_of(ep: ExportedProgram) -> dict[str, list[str]]:
    """What the placeholders of a program are.

    Args:
        ep: the program; it is not changed.

    Returns:
        Names of placeholders under "parameters", "buffers", "constants", "inputs" and "mutated".
    """
    ### BEGIN SOLUTION
    lists = {
        InputKind.PARAMETER: "parameters",
        InputKind.BUFFER: "buffers",
        InputKind.CONSTANT_TENSOR: "constants",
        InputKind.USER_INPUT: "inputs",
    }
    result: dict[str, list[str]] = {key: [] for key in (*lists.values(), "mutated")}
    # A buffer is named by its path there, an input by its placeholder.
    changed = {(spec.kind, spec.target) for spec in ep.graph_signature.output_specs}
    for spec in ep.graph_signature.input_specs:
        name = spec.arg.name
        result[lists[spec.kind]].append(name)
        buffer = spec.kind == InputKind.BUFFER
        buffer_changed = buffer and (OutputKind.BUFFER_MUTATION, spec.target) in changed
        if buffer_changed or (OutputKind.USER_INPUT_MUTATION, name) in changed:
            result["mutated"].append(name)
    return result
    ### END SOLUTION


# %% check="params_of"
check(params_of)

# %% hint="params_of"
hint("params_of")

# %% [markdown]
# ## 11.6 Metadata, and what is below
#
# Each placeholder and call of an exported graph has `node.meta["val"]`, usually a **fake tensor**: it has a shape, a dtype and a device, and no numbers.
# For a call, `nn_module_stack` says from which module it came, and usually `stack_trace` from which line.
#
# `Dim` makes a size symbolic. Then `val` has a `SymInt` where the number was:

# %%
dynamic = export(Net(), (x,), dynamic_shapes={"x": {0: Dim("batch")}})
relu = dynamic.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)[0]
rows, columns = relu.meta["val"].shape
print(type(relu.meta["val"]).__name__, rows, columns, dynamic.range_constraints)

# %% proof=true
assert isinstance(rows, torch.SymInt) and columns == 4
assert "nn_module_stack" in relu.meta and "stack_trace" in relu.meta

# %% [markdown]
# You see the symbol of the batch size, and 4. At the end is the range of the symbol's values: from 0 to infinity.
# A `SymInt` is not a number. `rows == 2` in an `if` is answered with the *hint*, the size of the example, and PyTorch notes a guard.
# The program in memory does not change. But after saving and loading, it is only right for this size:

# %%
pinned = export(Net(), (x,), dynamic_shapes={"x": {0: Dim("batch")}})
(size,) = pinned.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
if size.meta["val"].shape[0] == 2:  # a pass asks
    print("in memory:", tuple(pinned.module()(torch.randn(5, 3)).shape))
file = io.BytesIO()
torch.export.save(pinned, file)
file.seek(0)
with fails(AssertionError):
    torch.export.load(file).module()(torch.randn(5, 3))

# %% [markdown]
# `statically_known_true` answers without a guard, and returns `False` if the answer is not known for all sizes:

# %%
statically_known_true(rows == rows), statically_known_true(rows == 2)

# %% proof=true
assert statically_known_true(rows == rows)
assert not statically_known_true(rows == 2)  # the example had 2 rows; others may come

# %% [markdown]
# `make_fx` runs a function and records each ATen operator that is reached.
# A **decomposition table** replaces operators by their definitions, and `functionalize` replaces operations in place:

# %%
table = get_decompositions([torch.ops.aten.gelu])
print(operations(make_fx(lambda x: F.gelu(x))(x).graph))
print(operations(make_fx(lambda x: F.gelu(x), decomposition_table=table)(x).graph))


def in_place(x):
    return x.clone().add_(1)


print(operations(make_fx(in_place)(x).graph))
print(operations(make_fx(torch.func.functionalize(in_place))(x).graph))

# %% proof=true
assert operations(make_fx(lambda x: F.gelu(x))(x).graph) == ["aten.gelu.default"]
decomposed = make_fx(lambda x: F.gelu(x), decomposition_table=table)(x).graph
assert "aten.gelu.default" not in operations(decomposed) and "aten.erf.default" in operations(
    decomposed
)
assert operations(make_fx(in_place)(x).graph)[1] == "aten.add_.Tensor"
assert operations(make_fx(torch.func.functionalize(in_place))(x).graph)[1] == "aten.add.Tensor"

# %% [markdown]
# Torch-TensorRT's documentation says that decompositions are about 80 % of its work of lowering: each one is an operator less to convert.
#
# **AOTAutograd** is between Dynamo and most backends. If something needs a gradient, it makes *two* graphs of each of Dynamo's: forward and backward. The deep dive 11b shows both.

# %% [markdown]
# ## 11.7 The end of the story
#
# **The serving team.** Try your backends on an Inception block with random weights. First the count, for three batch sizes, then the GELU:

# %% uses="CountingBackend"
block = Inception(8, 4, 4, 4, 4, 4, 4).eval()
image = torch.randn(2, 8, 7, 7)
torch._dynamo.reset()
counting = CountingBackend()
compiled = torch.compile(block, backend=counting)
with torch.no_grad():
    for size in (2, 3, 4):
        compiled(torch.randn(size, 8, 7, 7))
print(counting.graphs, "graphs", dict(counting.ops))

# %% proof=true
assert counting.graphs == 2 and counting.ops["relu"] == 12  # six in each graph

# %% [markdown]
# One graph for the first request, one for the second: that was the delay. `mark_dynamic` before the first request avoids the second one.

# %% uses="relu_to_gelu_backend"
by_hand = relu_to_gelu_backend(fx.symbolic_trace(before), [image])
torch.testing.assert_close(by_hand(image), after(image))

torch._dynamo.reset()
smooth = torch.compile(block, backend=relu_to_gelu_backend)
with torch.no_grad():
    result, old = smooth(image), block(image)
print(f"smallest value: {old.min():.3f} before, {result.min():.3f} now")

# %% proof=true
assert old.min() == 0 and -0.2 < result.min() < 0  # only a GELU is below zero

# %% [markdown]
# **The mobile team.** Which operators does the runtime need, and which inputs are weights?

# %% uses="export_ops"
needed = export_ops(block, (image,))
print(needed)

# %% proof=true
assert needed["aten.conv2d.default"] == needed["aten.relu_.default"] == 6

# %% uses="params_of"
kinds = params_of(export(block, (image,)))
print({key: len(names) for key, names in kinds.items()})

# %% proof=true
assert len(kinds["parameters"]) == 18 and kinds["inputs"] == ["x"] and kinds["mutated"] == []
assert sum(map(len, kinds.values())) == 37

# %% [markdown]
# ### Which producer for which job
#
# | you want to | use |
# |---|---|
# | edit a model that you can run, and keep its modules | `symbolic_trace` |
# | change or count what runs in production | a backend of `torch.compile` |
# | give a model away without its source | `torch.export` |
# | see what an operator is made of, or record a derivative | `make_fx` |
#
# `symbolic_trace` is not deprecated. Older texts call `torch._dynamo.export(f, x)`, which still runs, with a warning, and returns a graph module and its guards. `torch.export.export` replaced it, and also returns the signature.

# %%
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    bare, guards = torch._dynamo.export(block, image)
print(type(bare).__name__, "with a signature:", hasattr(bare, "graph_signature"))

# %% proof=true
assert any(each.category is FutureWarning for each in said)
assert isinstance(bare, fx.GraphModule) and not hasattr(bare, "graph_signature")

# %% [markdown]
# ### Where to read on in PyTorch's own source
#
# `inspect` says in which file each thing is defined:

# %%
library = Path(torch.__file__).parent.parent
home = {
    thing.__name__: Path(inspect.getsourcefile(thing)).relative_to(library).as_posix()
    for thing in (fx.symbolic_trace, fx.Proxy, fx.Node, fx.GraphModule, fx.Interpreter)
}
for name, file in home.items():
    print(f"{name:15} {file}")

# %% proof=true
assert home["symbolic_trace"] == "torch/fx/_symbolic_trace.py"
assert home["Proxy"] == "torch/fx/proxy.py" and home["Node"] == "torch/fx/node.py"
assert inspect.getsourcefile(fx.replace_pattern).endswith("subgraph_rewriter.py")
assert inspect.getsourcefile(make_fx).endswith("proxy_tensor.py")
for wrong in ("symbolic_trace.py", "shape_prop.py", "split_module.py"):
    assert not (library / "torch/fx" / wrong).exists()

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (3 minutes)
#
# ### The backend returns a result


# %%
def returns_result(gm, example_inputs):
    return gm(*example_inputs)


torch._dynamo.reset()
with fails(torch._dynamo.exc.BackendCompilerFailed):  # compiler_fn did not return callable
    torch.compile(scale, backend=returns_result)(x)

# %% [markdown]
# **Right:** return something that can be called, such as `gm`.
#
# ### A pass looks for `call_module`
#
# Since PyTorch 2.5, Dynamo inlines modules. A user's backend then saw
# [294 placeholders and no module](https://github.com/foundation-model-stack/fms-model-optimizer/issues/73).

# %%
torch._dynamo.reset()
graphs.clear()
torch.compile(net, backend=keep)(x)
ops = Counter(node.op for node in graphs[0].graph.nodes)
print(dict(ops))

# %% proof=true
assert ops["call_module"] == 0 and ops["placeholder"] == 3

# %% [markdown]
# **Right:** look for functions. A pass that needs modules belongs on a trace of `symbolic_trace`.
#
# ### The function was compiled before
#
# What Dynamo has compiled stays in a cache, and belongs to the *code* of the function. A second `torch.compile` with the same backend compiles nothing:

# %%
torch._dynamo.reset()
graphs.clear()
torch.compile(scale, backend=keep)(x)
torch.compile(scale, backend=keep)(x)
print(len(graphs), "graph")

# %% proof=true
assert len(graphs) == 1

# %% [markdown]
# **Right:** call `torch._dynamo.reset()` before you count.
#
# ### A parameter that is called `input`
#
# `input` is a function of Python's. A copy of the graph renames such a placeholder, and the signature keeps the old name:

# %%
named = copy.deepcopy(export(nn.Linear(3, 4), (x,)))
print([node.name for node in named.graph.find_nodes(op="placeholder")])

# %% proof=true
assert named.graph_signature.user_inputs == ("input",)
assert named.graph.find_nodes(op="placeholder")[-1].name == "input_1"

# %% [markdown]
# **Right:** give the parameters of `forward` names that Python does not have.
#
# ### The size of the example is in the graph

# %%
fixed = export(net, (x,)).module()
with fails(AssertionError):
    fixed(torch.randn(5, 3))  # it was exported with 2 rows

# %% proof=true
assert dynamic.module()(torch.randn(5, 3)).shape == (5, 4)

# %% [markdown]
# **Right:** `dynamic_shapes=` for each size that may change.

# %% [markdown]
# ## Recap
#
# 1. FX is the format. `symbolic_trace`, Dynamo, `torch.export` and `make_fx` produce graphs in it, each at another level.
# 2. A backend is a function from a graph and example inputs to a callable. It is called when a graph is compiled.
# 3. A graph can hold graphs. Visit `gm.modules()`, and recompile after each edit.
# 4. In a program, state is lifted. The signature says which placeholder is what, and which output is a mutation.
# 5. `meta["val"]` has shapes without a run; ask about symbolic sizes with `statically_known_true`.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `torch.compile(f, backend=backend)` | calls `backend(gm, example_inputs)` for each graph |
# | `torch._dynamo.explain(f)(*args)` | graphs, graph breaks and guards |
# | `torch._dynamo.reset()` | forgets what was compiled |
# | `torch._dynamo.mark_dynamic(x, 0)` | this size will change |
# | `torch.export.export(model, args, dynamic_shapes=…)` | one graph, as an `ExportedProgram` |
# | `program.graph_signature.input_specs`, `.output_specs` | what placeholders and outputs are |
# | `program.run_decompositions(table)` | a functional program of smaller operators |
# | `program.module()` | what can be called |
# | `make_fx(f, decomposition_table=…)(*args)` | the ATen operators of one run |
# | `get_decompositions([op, …])` | a table for it |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | passes that keep `meta` true, and pipelines of passes | chapter 12 |
# | cutting a graph for a device | chapter 13b |
# | quantization | chapter 14; on exported programs, the deep dive 14b |
# | registering a backend by name, Inductor's own passes | PyTorch's documentation |
#
# Read on: [custom backends](https://docs.pytorch.org/docs/stable/torch.compiler_custom_backends.html),
# [torch.export](https://docs.pytorch.org/docs/stable/export.html), and
# [how Dynamo works](https://docs.pytorch.org/docs/stable/torch.compiler_dynamo_overview.html).
# (Names that begin with an underscore, such as `torch._dynamo`, are not promised to stay.)

# %% [markdown]
# ## Where to go from here
#
# The track *Core* ends here. Next, take a model of your own: print its breaks with `torch._dynamo.explain`,
# and compile it with the backend that you wrote in this chapter.
# The track *Compilers and backends* goes on with chapter 4 and the deep dives 11b and 11c. The whole course goes on with chapter 12, or with chapter 4 if you came by *Core*.
