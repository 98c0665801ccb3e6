# %% [markdown]
# # 1 · Tracing
#
# **After this chapter you can say what a trace contains, what it cannot contain, and whether a given trace may be trusted.**
#
# | | |
# |---|---|
# | **You need** | chapter 0, *Start here*; how `nn.Module` holds parameters, buffers and submodules |
# | **Time** | about 120 minutes, 60 of them for the exercises; the minutes of a section include its exercises. A good place for a break is after 1.4 |
#
# **When you are done, you can**
#
# 1. explain how a Proxy records a call, and list the nodes that a given `forward` will leave;
# 2. read `.graph`, `.code` and `print_tabular()`, and count a node's inputs and its users;
# 3. say for a submodule whether tracing enters it, and what its nodes are called;
# 4. say which requests to a Proxy raise, and name nine kinds of code that give a wrong trace without any message;
# 5. test whether a trace does what its model does;
# 6. rewrite a branch so that it can be traced, and keep a function whole with `fx.wrap`;
# 7. fix a parameter with `concrete_args`, and say what stays of it.

# %% [markdown]
# ## A story
#
# A service has used a traced model for a month.
# One day a client sends inputs without a mask, and every request fails.
# A week later somebody compares scores: dropout has been active in production, all the time.
# The model is right. Its trace is not, and there was no warning.
#
# Sometimes tracing raises an error, and that is the good case. Sometimes it returns a graph that is not your model.
# This chapter is about knowing which code does what. At its end you ask whether a trace of GoogLeNet may be trusted.

# %%
import copy
import math
import warnings

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder import check, draw, drill, fails, hint, progress

torch.manual_seed(1)
print(torch.__version__)

# %% [markdown]
# ## Two questions on chapter 0
#
# **Predict the result.** You change a target in `gm.graph`, and call nothing else. What does `gm(x)` run?
#
# <details><summary>The changed graph</summary>
#
# No. A call of <code>gm</code> does not run the graph: it runs code that was generated from it.
# </details>
# <details><summary>The code from before</summary>
#
# Right. The graph and the code are two things. <code>gm.recompile()</code> generates the code again.
# </details>
# <details><summary>It raises an error: graph and code differ</summary>
#
# No. FX does not compare them.
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x: torch.relu(x))
for node in gm.graph.nodes:
    if node.target is torch.relu:
        node.target = torch.neg
x = torch.tensor([-1.0, 2.0])
assert torch.equal(gm(x), torch.relu(x))
gm.recompile()
assert torch.equal(gm(x), -x)

# %% [markdown]
# **Predict the tool.** Another team must run your model without your Python source. Which tool gives them a file for that?
#
# <details><summary><code>torch.jit.script</code></summary>
#
# No. It could, but TorchScript is deprecated.
# </details>
# <details><summary><code>torch.fx.symbolic_trace</code></summary>
#
# No. A <code>GraphModule</code> is for editing; its modules are still your Python classes.
# </details>
# <details><summary><code>torch.export</code></summary>
#
# Right. Its result is a program with its weights and a signature, and it can be saved.
# </details>

# %% proof=true
import io
from contextlib import redirect_stdout

file = io.BytesIO()
torch.export.save(torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),)), file)
assert file.getbuffer().nbytes > 0

# %% [markdown]
# ## 1.1 How a trace is made
#
# Python decides at run time what `x + 1` means: it asks `x`.
# So you can pass another object to `forward`, and it can record each operation.
# Here is such an object, in a few lines.


# %%
class Recorder:
    """A stand-in for a tensor. It computes nothing; it writes down what happens to it."""

    def __init__(self, name, tape):
        self.name, self.tape = name, tape

    def record(self, function, args):
        words = [arg.name if isinstance(arg, Recorder) else repr(arg) for arg in args]
        result = Recorder(f"v{len(self.tape)}", self.tape)
        self.tape.append(f"{result.name} = {function}({', '.join(words)})")
        return result

    def __mul__(self, other):  # self * other
        return self.record("mul", (self, other))

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):  # torch.f(self)
        return args[0].record(function.__name__, args)


def swish(x):
    return x * torch.sigmoid(x * 2)


tape = []
result = swish(Recorder("x", tape))
print("\n".join(tape))

# %% proof=true
assert tape == ["v0 = mul(x, 2)", "v1 = sigmoid(v0)", "v2 = mul(x, v1)"]

# %% [markdown]
# Operators call a method of the object, such as `__mul__`.
# Functions of PyTorch look for `__torch_function__` on their arguments and hand the call over.
# Methods and attributes, such as `x.tanh()`, are looked up on the object.
# While FX traces, it also replaces `nn.Module.__call__` and `nn.Module.__getattr__`.
# So it sees each call of a submodule, and each parameter that is read.
#
# `fx.Proxy` is this object, made complete.
# Each Proxy belongs to one node, `proxy.node`. Each operation on it adds a node to the graph and returns a Proxy for that node.
# `fx.symbolic_trace` makes a Proxy for each parameter of `forward`, runs `forward`, and takes what it returns as the output.


# %%
class Curious(nn.Module):
    def forward(self, x):
        print("while tracing, x is", x, "of type", type(x).__name__)
        doubled = x * 2
        print("doubled is", doubled, "for the node", doubled.node)
        return x * torch.sigmoid(doubled)


gm = fx.symbolic_trace(Curious())
print(gm.code)

# %% proof=true
assert [node.name for node in gm.graph.nodes] == ["x", "mul", "sigmoid", "mul_1", "output"]
assert "print" not in gm.code
seen = []
fx.symbolic_trace(lambda x: seen.append((nn.Module.__call__, nn.Module.__getattr__)))
assert seen[0][0] is not nn.Module.__call__ and seen[0][1] is not nn.Module.__getattr__

# %% [markdown]
# The two prints happened **while tracing**, and they are not in the code.
# `print` is not a function of PyTorch, so it does not hand the call over.
#
# Operators, methods, indexing and attributes are all recorded; an attribute only if its value is used.


# %%
def many_ways(x, y):
    return (x @ y).tanh()[0] * x.shape[0] + torch.sin(input=y)


graph = fx.symbolic_trace(many_ways).graph
graph.print_tabular()

# %% proof=true
names = [node.name for node in graph.nodes if node.op.startswith("call")]
assert names == ["matmul", "tanh", "getitem", "getattr_1", "getitem_1", "mul", "sin", "add"]
assert len(fx.symbolic_trace(lambda x: (x.shape, x)[1]).graph.nodes) == 2  # x and output
with redirect_stdout(io.StringIO()) as printed:
    graph.print_tabular()
assert printed.getvalue().split()[:5] == ["opcode", "name", "target", "args", "kwargs"]

# %% [markdown]
# The columns of `print_tabular()` are the five facts about a node: opcode, name, target, args, kwargs.
#
# **Predict the graph.**
# `forward` says `y = 3 * 4` and then `return x * y`. Which nodes does the graph have?
#
# <details><summary>x, mul, mul_1, output</summary>
#
# No. In <code>3 * 4</code> no Proxy takes part.
# Python computes 12, and FX cannot know that it was ever a product.
# </details>
# <details><summary>x, mul, output</summary>
#
# Right. The node <code>mul</code> reads <code>x</code> and the number 12.
# What is computed without a Proxy becomes a constant.
# </details>
# <details><summary>x, y, mul, output</summary>
#
# No. <code>y</code> is a plain number, and numbers need no node.
# Node names come from what is called.
# </details>


# %% proof=true
def product(x):
    y = 3 * 4
    return x * y


x_node, mul, _ = fx.symbolic_trace(product).graph.nodes
assert mul.args == (x_node, 12)


# %%
def some_steps(x):
    weights = torch.ones(3) / 3
    return (x + 2 * 3).relu().sum() * weights.shape[0]


# %% [markdown]
# **Drill 01.1a.** `some_steps` is traced. Which names do the nodes between `x` and `output` have? Write the list, in the order of the graph.
# (`sum` is a builtin of Python.)

# %% drill=true
its_calls = [node.name for node in fx.symbolic_trace(some_steps).graph.nodes][1:-1]
drill("01.1a", its_calls)
# Mistake: What is computed without a Proxy leaves no node.
# its_calls = ["ones", "truediv", "mul", "add", "relu", "sum_1", "mul_1"]

# %% [markdown]
# ## 1.2 What comes back: the `GraphModule`
#
# `gm.graph` is the record, and `gm.code` is Python generated from it.
# `gm(x)` runs that code.
# Everything else of the model is there only if the graph needs it.


# %%
class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(3, 3)
        self.spare = nn.Linear(3, 3)  # forward does not use it
        self.bias = nn.Parameter(torch.rand(3))
        self.register_buffer("scale", torch.rand(3))
        self.comment = "version 7"

    def forward(self, x):
        return self.score(x) * self.scale + self.bias

    def explain(self):
        return "a linear score"


scorer = Scorer()
gm = fx.symbolic_trace(scorer)
print(gm.graph)
print(gm.code)

# %% proof=true
assert gm.score is scorer.score  # the submodule itself, not a copy
assert gm.bias is scorer.bias and gm.scale is scorer.scale
for gone in ("spare", "comment", "explain"):
    assert not hasattr(gm, gone)
assert type(gm).__name__ == "Scorer" and not isinstance(gm, Scorer)

# %% [markdown]
# **The trace shares its submodules and tensors with the model.**
# If you train one of the two, you train both.
# Even `gm.eval()` reaches the model: it sets the flag of each shared submodule.
# `gm` itself takes the mode of the model. But each *container* in it is a new object and begins in training mode.

# %%
nested = nn.Sequential(nn.Sequential(nn.Dropout()))
fx.symbolic_trace(nested).eval()
print("in eval mode:", [not module.training for module in nested.modules()])  # the leaf only

gm = fx.symbolic_trace(nested.eval())
print("in eval mode:", {path or "(root)": not m.training for path, m in gm.named_modules()})

# %% proof=true
assert {path: module.training for path, module in gm.named_modules()} == {
    "": False, "0": True, "0.0": False,  # a new container, and the shared layer
}  # fmt: skip
before = scorer.bias.detach().clone()
trained = fx.symbolic_trace(scorer)
trained(torch.ones(2, 3)).sum().backward()
torch.optim.SGD(trained.parameters(), lr=0.1).step()  # train the trace
assert not torch.equal(scorer.bias, before)
nested.train()
fx.symbolic_trace(nested).eval()
assert [module.training for module in nested.modules()] == [True, True, False]

# %% [markdown]
# So if you need a trace in eval mode, write `fx.symbolic_trace(model.eval()).eval()`. If the caller's flags must stay, trace `copy.deepcopy(model)`.
#
# ### Other printed forms
#
# `gm.print_readable()` prints the code with the name of the class. For graphs from other tools it also shows shapes and source lines.

# %%
gm = fx.symbolic_trace(scorer)
text = gm.print_readable()

# %% proof=true
assert "class Scorer(torch.nn.Module)" in text
assert "print_readable" in str(gm)

# %% [markdown]
# ### Reading a line of the graph
#
# `%score : [num_users=1] = call_module[target=score](args = (%x,), kwargs = {})`
#
# * `%score`: the node's name.
# * `num_users=1`: how many **nodes** read it.
# * `call_module`: the opcode. There are six, and chapter 2 is about them.
# * `target=score`: what is called, here a submodule.
# * `args` and `kwargs`: the arguments. `%x` is another node.
#
# The same facts as attributes:

# %%
for node in gm.graph.nodes:
    readers = [user.name for user in node.users]
    reads = [other.name for other in node.all_input_nodes]
    print(f"{node.op:13} {node.name:7} reads {reads} and is read by {readers}")

# %% proof=true
assert "%score : [num_users=1] = call_module[target=score](args = (%x,)" in str(gm.graph)
(score,) = [node for node in gm.graph.nodes if node.name == "score"]
assert len(score.users) == 1 and (score.op, score.target) == ("call_module", "score")

# %% [markdown]
# `all_input_nodes` and `users` are two views of the same edges.
#
# **Predict the graph.**
# In `x + x`, how many inputs does the node `add` have, and how many users does `x` have?
#
# <details><summary>2 inputs, 2 users</summary>
#
# No. <code>args</code> has two entries, but both are the same node.
# </details>
# <details><summary>1 input, 2 users</summary>
#
# No. <code>users</code> is a dictionary whose keys are nodes, and the node <code>add</code> is in it once.
# </details>
# <details><summary>1 input, 1 user</summary>
#
# Right. Inputs and users count nodes, not places.
# </details>

# %% proof=true
x_node, add, _ = fx.symbolic_trace(lambda x: x + x).graph.nodes
assert add.args == (x_node, x_node)
assert add.all_input_nodes == [x_node]
assert list(x_node.users) == [add]

# %% [markdown] card="node_table"
# **Given** a model, **return** one row for each node of its trace, in the order of the graph.
# A row is a tuple `(op, name, inputs, users)`: the opcode, the name, the number of distinct nodes that it reads, and the number of nodes that read it.
#
# Nodes may be deep inside the arguments: in a list, a dict, a slice, or a keyword argument. They count wherever they are.
#
# **Do not** print the table. Return it.

# %% [markdown]
# A small model, and its table:


# %%
class Pair(nn.Module):
    def forward(self, x, y):
        return torch.cat([x + x, y], dim=1)


wanted = [
    ("placeholder", "x", 0, 1), ("placeholder", "y", 0, 1), ("call_function", "add", 1, 1),
    ("call_function", "cat", 2, 1), ("output", "output", 1, 0),
]  # fmt: skip
print(*wanted, sep="\n")
draw(fx.symbolic_trace(Pair()))


# %% solve="node_table"
def node_table(model: nn.Module) -> list[tuple[str, str, int, int]]:
    """One row for each node of a model's trace.

    Args:
        model: any module that can be traced.

    Returns:
        Rows ``(op, name, number of distinct input nodes, number of users)`` in the
        order of the graph.
    """
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)
    # all_input_nodes looks into nested arguments and names each node once.
    return [
        (node.op, node.name, len(node.all_input_nodes), len(node.users)) for node in gm.graph.nodes
    ]
    ### END SOLUTION


# %% check="node_table"
check(node_table)

# %% hint="node_table"
hint("node_table")

# %% [markdown]
# ## 1.3 Which modules are entered
#
# For each call of a submodule the tracer decides: record one `call_module` node, or run its `forward` with Proxies and record what happens inside.
# A module that is not entered is called a **leaf**.
#
# The rule is about where the class is *defined*.
# Classes defined in `torch.nn` or `torch.ao.nn` are leaves, except `nn.Sequential` and its subclasses. All others are entered.


# %%
class MyLinear(nn.Linear):
    """A subclass, defined here and not in torch.nn."""


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.head = MyLinear(3, 2)

    def forward(self, x):
        return self.head(self.body(x))


net = fx.symbolic_trace(Net())
net.graph.print_tabular()
print(net.code)

# %% [markdown]
# * `body` was entered. Its two children are leaves, with the paths `body.0` and `body.1` as targets, and with names in which the dot is an underscore.
# * `head` was entered too: it is an `nn.Linear`, but its class is not defined in `torch.nn`. Its inside is recorded: two `get_attr` nodes and a call of the function `linear`.
#
# Two spellings in the code: `getattr(self.body, "0")(x)` is a call of `body.0`: Python cannot write `self.body.0`.
# `torch._C._nn.linear` is `F.linear`: the code names a function by the module in which it is defined.

# %% proof=true
assert [(node.op, node.target) for node in net.graph.nodes][1:3] == [
    ("call_module", "body.0"),
    ("call_module", "body.1"),
]
read = [node.target for node in net.graph.nodes if node.op == "get_attr"]
assert read == ["head.weight", "head.bias"]
assert [n.target for n in net.graph.nodes if n.op == "call_function"] == [F.linear]
assert 'getattr(self.body, "0")' in net.code and torch._C._nn.linear is F.linear
leaf = fx.Tracer().is_leaf_module
assert leaf(nn.Linear(3, 3), "any") and leaf(torch.ao.nn.quantized.ReLU6(), "any")
assert not leaf(MyLinear(3, 3), "any") and not leaf(nn.Sequential(), "any")

# %%
stacked = nn.Sequential(Net(), nn.Sequential(nn.Tanh()), MyLinear(2, 2))

# %% [markdown]
# **Drill 01.3a.** `stacked` is traced. Write the list of the targets of all `call_module` nodes, in the order of the graph.

# %% drill=true
paths = [n.target for n in fx.symbolic_trace(stacked).graph.nodes if n.op == "call_module"]
drill("01.3a", paths)
# Mistake: A class of your own is entered, even if it inherits from a layer of PyTorch.
# paths = ["0.body.0", "0.body.1", "1.0", "2"]

# %% [markdown]
# ### Another tracer, another rule
#
# The rule is a method, `is_leaf_module`, and a subclass of `fx.Tracer` can answer otherwise.
# Transforms often have a parameter `tracer_class`, so that the caller can choose. Chapter 8 is about tracers of your own.


# %%
class OpensLinear(fx.Tracer):
    def is_leaf_module(self, module, path):
        return not isinstance(module, nn.Linear) and super().is_leaf_module(module, path)


def traced(model: nn.Module, tracer_class: type[fx.Tracer] = fx.Tracer) -> fx.GraphModule:
    tracer = tracer_class()
    graph = tracer.trace(model)
    return fx.GraphModule(tracer.root, graph)  # the root has the submodules that the graph calls


small = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
for tracer_class in (fx.Tracer, OpensLinear):
    print(tracer_class.__name__, [node.op for node in traced(small, tracer_class).graph.nodes])

# %% proof=true
ops = [node.op for node in traced(small, OpensLinear).graph.nodes]
assert ops.count("get_attr") == 2 and ops.count("call_module") == 1  # the ReLU is still a leaf

# %% [markdown]
# **Predict the graph.**
# A model holds one module, `self.act = nn.ReLU()`, and `forward` returns `self.act(self.act(x) - 1)`.
# Which nodes are there?
#
# <details><summary>One node <code>act</code>, read by two others</summary>
#
# No. A node is one <em>call</em>, not one module. There are two calls.
# </details>
# <details><summary>Two nodes with the names act and act_1, and with the same target</summary>
#
# Right. The target says which module is called, and both call <code>act</code>.
# Names must differ, so FX numbers the second.
# </details>
# <details><summary>Two nodes with the targets act and act_1</summary>
#
# No. There is no submodule <code>act_1</code>. The target of a call is the module's path. Only names are numbered.
# </details>


# %% proof=true
class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.act(x) - 1)


calls = [node for node in fx.symbolic_trace(Twice()).graph.nodes if node.op == "call_module"]
assert [(node.name, node.target) for node in calls] == [("act", "act"), ("act_1", "act")]

# %% [markdown]
# ## 1.4 Against `torch.jit.trace`
#
# `torch.jit.trace` is older, and it is deprecated.
# It runs the model with a **real** example and records the operations on real tensors.
# A branch on a tensor then has an answer, and the answer for the example is frozen.


# %%
def flip(x):
    if x.sum() > 0:
        return x
    return -x


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    recorded = torch.jit.trace(flip, torch.ones(3))
negative = -torch.ones(3)
print("flip:", flip(negative), "its record:", recorded(negative))  # the branch of the example

# %% [markdown]
# `fx.symbolic_trace` raises a `TraceError` there.

# %% proof=true
assert torch.equal(flip(negative), torch.ones(3)) and torch.equal(recorded(negative), negative)
assert any(warning.category is torch.jit.TracerWarning for warning in caught)
assert any("deprecated" in str(warning.message) for warning in caught)
assert isinstance(recorded, torch.jit.ScriptFunction)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    assert isinstance(torch.jit.trace(small, torch.ones(1, 3)), torch.jit.ScriptModule)

# %% [markdown]
# ## 1.5 What a trace cannot see
#
# A trace is one run of `forward` with stand-ins.
# If Python needs a value *now*, to choose a branch or to count a loop, tracing fails.
# If Python decides something *without* asking the Proxy, the trace keeps that decision.
#
# ### The loud cases: tracing raises
#
# You see the error at once, and its traceback names the line. `fails` shows such an error in one line:

# %%
with fails(fx.proxy.TraceError):
    fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x)

# %% [markdown]
# `x.sum() > 0` is a Proxy.
# An `if` asks it "are you true?", and it cannot answer, because there is no tensor yet.
# These are the requests that a Proxy cannot answer:
#
# | code | what is raised | why |
# |---|---|---|
# | `if x.sum() > 0:`, `while`, `assert x.dim() == 2`, `not x.any()`, `a and b` | `TraceError` | asks for a truth value |
# | `for row in x:`, `[*x]`, `f(*x.shape)`, `first, *rest = x.shape` | `TraceError` | asks how many there are |
# | `range(x.shape[0])`, `int(…)`, `float(…)`, `torch.tensor(x)`, `torch.zeros(x.shape[0], 3)` | `TypeError` | needs a real value |
# | `f"{x.max():.2f}"` | `TypeError` | formats a number |
# | `len(x)` | `RuntimeError` | Python insists on a real `int` |
# | `x[0] = 1` | `TypeError` | a Proxy does not have item assignment |

# %% proof=true
LOUD = {
    "and": lambda x: x.any() and x.all(),
    "for": lambda x: [row + 1 for row in x],
    "*": lambda x: x.reshape(*x.shape),
    "range": lambda x: [x + i for i in range(x.shape[0])],
    "tensor": lambda x: torch.tensor(x.sum()) + 1,
    "zeros": lambda x: x + torch.zeros(x.shape[0], 3),
    "format": lambda x: f"{x.max():.2f}",
    "len": lambda x: x / len(x),
}


def assign(x):
    x[0] = 1


def count_down(x):
    while x.sum() > 0:
        x = x - 1


def checked(x):
    assert x.dim() == 2


def first_size(x):
    first, *rest = x.shape


def error_of(function) -> str:
    try:
        fx.symbolic_trace(function)
    except Exception as error:
        return type(error).__name__
    return "none"


assert list(map(error_of, LOUD.values())) == [
    *["TraceError"] * 3, *["TypeError"] * 4, "RuntimeError",
]  # fmt: skip
for function in (flip, count_down, checked, first_size, lambda x: not x.any(), lambda x: [*x]):
    assert error_of(function) == "TraceError"
for function in (assign, lambda x: x + int(x.shape[0]), lambda x: x * float(x.sum())):
    assert error_of(function) == "TypeError"

# %% [markdown]
# Not every request for a value fails. `.item()`, `.tolist()` and `.numpy()` are methods, so they are recorded like any other.
# They run later, on the real tensor. Only what Python does *with* their result while tracing can fail.

# %% proof=true
for method in ("item", "tolist", "numpy"):
    function = eval(f"lambda x: x.{method}()")
    assert [node.target for node in fx.symbolic_trace(function).graph.nodes][1] == method

# %%
REQUESTS = {
    "half": lambda x: x[: x.shape[0] // 2],
    "rank": lambda x: x if x.dim() == 2 else x[None],
    "item": lambda x: x.sum().item() * 2,
    "rows": lambda x: sum(x) / x.shape[0],
    "three": lambda x: [x[i] for i in range(3)],
}

# %% [markdown]
# **Drill 01.5a.** For which of these functions does `fx.symbolic_trace` raise? Write the set of their keys.

# %% drill=true
loud = {"rank", "rows"}
drill("01.5a", loud)
# Mistake: A method or a size that only takes part in arithmetic is recorded.
# loud = {"half", "rank", "item", "rows"}

# %% [markdown]
# ### Static control flow is fine
#
# A branch or a loop that depends on a *hyperparameter*, and not on the input or on a parameter, can be traced.
# The loop is unrolled, and the branch is decided by the hyperparameter. An example is a loop over an `nn.ModuleList`.
# Unpacking into a fixed number of names, `rows, columns = x.shape`, is fine too.


# %%
class Stack(nn.Module):
    def __init__(self, depth: int, do_activation: bool):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(depth))
        self.do_activation = do_activation

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if self.do_activation:
                x = torch.relu(x)
        return x


for stack in (Stack(2, True), Stack(3, False)):
    print([node.name for node in fx.symbolic_trace(stack).graph.nodes])


# %% proof=true
def swapped(x):
    rows, columns = x.shape
    return x.reshape(columns, rows)


for stack, relus in ((Stack(2, True), 2), (Stack(3, False), 0)):
    nodes = fx.symbolic_trace(stack).graph.nodes
    assert sum(node.target is torch.relu for node in nodes) == relus
    assert sum(node.op == "call_module" for node in nodes) == len(stack.layers)
    assert isinstance(stack.layers, nn.ModuleList)
assert fx.symbolic_trace(swapped)(torch.ones(2, 3)).shape == (3, 2)

# %% [markdown]
# ### The silent cases: the graph is not your model
#
# Nothing warns you here. Three kinds of request get a wrong answer from the Proxy (1 to 3).
# Three kinds of value are fixed while tracing (4 to 6), and three kinds of effect are lost (7 to 9).
#
# **1. `is None`.** A Proxy is not `None`, whatever the caller passes later.


# %%
def masked(x, mask=None):
    if mask is None:
        return x
    return x * mask


gm = fx.symbolic_trace(masked)
print(gm.code)

x = torch.randn(3)
print("with a mask:", gm(x, torch.ones(3)))
with fails(TypeError):
    gm(x)  # the model works without a mask as well

# %% proof=true
assert torch.equal(masked(x), x)

# %% [markdown]
# This was the first failure of the story.
#
# **2. `isinstance`, `is`, and dictionaries.** Python answers these from the Proxy object itself, so nothing is raised.
# A Proxy is not a `Tensor`. `x.dtype is torch.float32` is never true, because `x.dtype` is a Proxy.
# And a Proxy is a new key for a dictionary: `.get` returns the default.
#
# **3. Strings.** An f-string without a format asks the Proxy for its text, and gets it.


# %%
def halve(x):
    return x / 2 if isinstance(x, torch.Tensor) else x


def by_dtype(x):
    return x * 2 if x.dtype is torch.float32 else x


def by_size(x):
    return x * {3: 2}.get(x.shape[0], 1)


def describe(x):
    return f"shape {x.shape}"


ones = torch.ones(3)
for function in (halve, by_dtype, by_size, describe):
    print(function.__name__, fx.symbolic_trace(function)(ones), "instead of", function(ones))

# %% proof=true
for function in (halve, by_dtype, by_size):
    assert not torch.equal(fx.symbolic_trace(function)(ones), function(ones))
assert fx.symbolic_trace(lambda x: {3: 2}.get(x.shape[0], 1))(ones) == 1  # the default
assert fx.symbolic_trace(describe)(ones) == "shape Proxy(getattr_1)"


# %% [markdown]
# **4. The `training` flag.** `self.training` is a plain bool. It is read once.


# %%
class Dropped(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, self.training)


gm = fx.symbolic_trace(Dropped())  # a new module is in training mode
print(gm.code)
gm.eval()  # changes gm.training, and nothing in the code
print("in eval mode:", gm(torch.ones(8)))

# %% proof=true
many = torch.ones(1000)
assert (gm(many) == 0).any() and torch.equal(Dropped().eval()(many), many)
assert torch.equal(fx.symbolic_trace(nn.Sequential(nn.Dropout())).eval()(many), many)

# %% [markdown]
# This was the second failure of the story. There is no error, not even in eval mode; that is the problem.
# The module `nn.Dropout` is a leaf and reads its own flag at each call, so it listens to `eval()`.
#
# **5. Random numbers and other constants.** What is computed without a Proxy is computed once.


# %%
def noisy(x):
    return x + torch.randn(3)


gm = fx.symbolic_trace(noisy)
print(gm.code)
print("the same noise twice:", gm(x) - x, gm(x) - x)

# %% proof=true
assert torch.equal(gm(x), gm(x)) and not torch.equal(noisy(x), noisy(x))
assert "_tensor_constant0" in gm.state_dict()  # FX keeps the tensor as a buffer
import random

gm = fx.symbolic_trace(lambda x: x * random.random())
assert isinstance(list(gm.graph.nodes)[1].args[1], float)  # one number, forever

# %% [markdown]
# PyTorch's page *torch.fx*, section *Limitations of Symbolic Tracing*, calls tensor constructors "not traceable".
# It depends on their arguments. If a Proxy is among them, as in `torch.randn_like(x)` or `torch.randn(x.shape)`, the call is recorded and runs each time.
# Give a size as one tuple: `torch.randn((x.shape[0], 3))`. With two numbers, the call raises (see the table above).

# %% proof=true
for fresh in (
    lambda x: torch.randn_like(x),
    lambda x: torch.randn(x.shape),
    lambda x: torch.randn((x.shape[0], 3)),
):
    gm = fx.symbolic_trace(fresh)
    assert not torch.equal(gm(x), gm(x))


# %% [markdown]
# **6. Operations on buffers.** While tracing, `self.steps` is a real tensor, and an operation on real tensors happens at once.
# Here it happens when you trace, and never again.


# %%
class Stepper(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        self.steps.add_(1)  # no Proxy takes part
        return x * self.steps


stepper = Stepper()
gm = fx.symbolic_trace(stepper)
print(gm.code)
print("the model:", stepper.steps)  # tracing made a step

# %% proof=true
assert stepper.steps == 1
assert torch.equal(gm(ones), gm(ones)) and not torch.equal(stepper(ones), stepper(ones))

# %% [markdown]
# **7. `x += 1`.** A Proxy has no in-place addition, so Python falls back to `x = x + 1`, which makes a new tensor.
# In the model, the caller's tensor changes, and so does every other name of it.


# %%
def count_up(x):
    y = x
    y += 1
    return x * y


gm = fx.symbolic_trace(count_up)
print(gm.code)
ours, theirs = torch.ones(2), torch.ones(2)
print("the model returns", count_up(ours), "and leaves", ours)
print("the trace returns", gm(theirs), "and leaves", theirs)

# %% proof=true
assert torch.equal(count_up(torch.ones(2)), torch.full((2,), 4.0))
assert torch.equal(gm(torch.ones(2)), torch.full((2,), 2.0))
assert torch.equal(theirs, torch.ones(2)) and torch.equal(ours, torch.full((2,), 2.0))
theirs = torch.zeros(2)
fx.symbolic_trace(lambda x: x.add_(1))(theirs)
assert torch.equal(theirs, torch.ones(2))

# %% [markdown]
# `x.add_(1)` is a method call. It is recorded as it is, and the trace changes the caller's tensor too.
#
# **8. Hooks of the model itself.** `symbolic_trace(model)` runs `model.forward`, not `model(...)`.
# So the forward hooks of the root are lost. Hooks of leaves are kept, because a leaf is called as a module.
# Hooks of a module that is entered run while tracing, and what they compute is recorded.


# %% proof=true
class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Identity()

    def forward(self, x):
        return self.inner(x)


hooked = Plain()
hooked.register_forward_hook(lambda module, args, result: result * 10)
hooked.inner.register_forward_hook(lambda module, args, result: result + 1)
gm = fx.symbolic_trace(hooked)
assert torch.equal(hooked(torch.zeros(2)), torch.full((2,), 10.0))
assert torch.equal(gm(torch.zeros(2)), torch.ones(2))
entered = fx.symbolic_trace(nn.Sequential(hooked))
assert [node.op for node in entered.graph.nodes][1:3] == ["call_module", "call_function"]
assert torch.equal(entered(torch.zeros(2)), torch.full((2,), 10.0))

# %% [markdown]
# **9. Context managers.** A `with` block is entered and left without a Proxy, so the trace does not have the block.
# Without `torch.no_grad()`, gradients flow where the model has none. Without `torch.autocast`, the dtype is another one.
# A decorator such as `@torch.no_grad()` is lost in the same way.


# %%
class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(3, 3)

    def forward(self, x):
        with torch.no_grad():
            return self.encoder(x)


frozen, matrix = Frozen(), torch.ones(3, 3)
gm = fx.symbolic_trace(frozen)
print("gradients:", frozen(matrix).requires_grad, "in the trace:", gm(matrix).requires_grad)


# %% proof=true
def half(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return x @ x


gm_half = fx.symbolic_trace(half)
assert not frozen(matrix).requires_grad and gm(matrix).requires_grad
assert half(matrix).dtype == torch.bfloat16 and gm_half(matrix).dtype == torch.float32
weight = torch.ones(3, requires_grad=True)
decorated = torch.no_grad()(lambda x: x * 2)
assert not decorated(weight).requires_grad and fx.symbolic_trace(decorated)(weight).requires_grad

# %% [markdown]
# **Predict the graph.**
# `def f(x): return x + torch.ones(3).sum() * x.mean()`. Which calls are recorded?
#
# <details><summary>ones, sum, mean, mul, add</summary>
#
# No. <code>torch.ones(3).sum()</code> has no Proxy among its arguments. It runs while tracing.
# </details>
# <details><summary>mean, mul, add</summary>
#
# Right. The product of a real tensor and a Proxy is recorded, because one of the two is a Proxy.
# The real tensor enters the graph as a constant: there is also a <code>get_attr</code> node for it.
# </details>
# <details><summary>mean, add</summary>
#
# No. In <code>tensor * proxy</code> the tensor is asked first, but it sees the Proxy and hands the call over.
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x: x + torch.ones(3).sum() * x.mean())
assert [n.name for n in gm.graph.nodes if n.op.startswith("call")] == ["mean", "mul", "add"]

# %% [markdown]
# ### Finding out
#
# You cannot read every model.
# But you can run the model and its trace, and compare.
# A fair comparison gives both runs the same four things.
#
# * **Arguments.** Each run gets its own copy, `copy.deepcopy(args)`. Otherwise the first run may spoil the second.
# * **Random numbers.** Set the seed before each of the two runs, and only *after* tracing: a constant that was frozen under the same seed looks fresh.
# * **Buffers.** The trace shares them with the model, and a run may change them. So run a copy each time: `copy.deepcopy(module)` has its own buffers.
# * **The way of calling.** Call `model(...)`, not `model.forward(...)`, or you miss the hooks.

# %% proof=true
stepper = Stepper()
first, second = (copy.deepcopy(stepper)(ones) for _ in range(2))
assert torch.equal(first, second) and stepper.steps == 0

# %% [markdown]
# Tracing may change buffers, too. So trace a copy, and copy the model's values into its trace.

# %%
stepper = Stepper()
gm = fx.symbolic_trace(copy.deepcopy(stepper))  # tracing made a step in the copy
given = dict(stepper.named_buffers())
for name, buffer in gm.named_buffers():
    if name in given:  # a frozen constant is a buffer of the trace only
        buffer.copy_(given[name])
print("the model:", stepper.steps, "the trace:", gm.steps)

# %% proof=true
assert gm.steps == stepper.steps == 0

# %% [markdown]
# A seed that you set stays set for all code that runs later, your caller's too.
# `with torch.random.fork_rng():` restores the random state at the end of its block, even after an error.

# %% proof=true
state = torch.get_rng_state()
with torch.random.fork_rng():
    torch.manual_seed(0)
    torch.rand(3)
assert torch.equal(torch.get_rng_state(), state)
with fails(ValueError), torch.random.fork_rng():
    torch.manual_seed(0)
    raise ValueError
assert torch.equal(torch.get_rng_state(), state)
torch.manual_seed(0)
gm = fx.symbolic_trace(noisy)  # the noise is frozen under seed 0


def differs(seed: int) -> bool:
    torch.manual_seed(seed)
    expected = noisy(x)
    torch.manual_seed(seed)
    return not torch.equal(gm(x), expected)


assert not differs(0) and differs(5)  # under the seed of tracing, it looks right

# %% [markdown]
# To compare two results there is `torch.testing.assert_close`.
# It checks dtype and shape and allows for rounding.
# For values that are not tensors it accepts too much in some cases and too little in others.

# %%
close = torch.testing.assert_close
nan = torch.tensor([float("nan")])
close(nan, nan, equal_nan=True)  # without equal_nan it raises an AssertionError
close((1, 2), [1, 2])  # a tuple and a list: no complaint
with fails(TypeError):  # equal values, but of a type that it does not know
    close("text", "text")
with fails(RuntimeError):  # a number and a truth value: equal for Python, an error here
    close(1, True)

# %% proof=true
with fails(AssertionError):
    close(nan, nan)
assert torch.float32 == torch.float32
with fails(TypeError):
    close(torch.float32, torch.float32)

# %% [markdown] card="is_faithful"
# **Given** a model, and a list of argument tuples for it, **return** whether its trace does what the model does: `True` or `False`.
#
# * If `symbolic_trace(model)` raises, the answer is `False`.
# * For each argument tuple the model runs, then its trace. Each gets its own equal copy of the arguments, starts from the same buffers, and runs under the same random seed. Do not set that seed before you trace.
# * The answer is `True` only if both **return the same** every time and **leave their arguments in the same state**.
#
# **Do not** leave anything changed.
#
# **Fine print**
#
# * "The same" means: the same structure (tuple, list, dict), tensors of the same dtype and shape whose values are close (NaN equals NaN), and other values equal and of the same type. `1` is neither `1.0` nor `True`.
# * An exception from the model passes through to your caller. An exception from the run of the trace means `False`.
# * A tensor that is given twice in a tuple is one tensor in the copy, too.
# * Tracing runs `forward` once and may change a buffer. Each run starts from the buffer values that the model had when your function was called.
# * A model may be in training mode, or only a part of it: it runs as it is given. Whether results have gradients does not count.
# * At the end the caller's tensors, the model's buffers (the same tensors with the same values), its `training` flags and the global random state are as they were.

# %% [markdown]
# Build it in three steps, and try each one by itself: first a function `same(a, b)` for two results, then a function that makes one run from a clean start, then the whole.
#
# The trace of `masked` is faithful for `[(x, mask)]`, and not for `[(x, mask), (x,)]`:

# %%
draw(fx.symbolic_trace(lambda x, mask=None: x if mask is None else x * mask))


# %% solve="is_faithful"
def is_faithful(model: nn.Module, inputs: list[tuple]) -> bool:
    """Whether the trace of a model does what the model does.

    Args:
        model: any module. It is left as it was.
        inputs: argument tuples to try. They are left as they were.

    Returns:
        ``True`` if the model can be traced, and model and trace return the same and have
        the same effect on their arguments, for each argument tuple.

    Raises:
        Exception: whatever the model itself raises on one of the argument tuples.
    """
    ### BEGIN SOLUTION
    SEED = 20240229  # any number that is unlikely to be used elsewhere

    def frozen(value):
        """A copy that shares no memory with the model and has no gradient history."""
        if isinstance(value, torch.Tensor):
            return value.detach().clone()
        if isinstance(value, (tuple, list)):
            items = [frozen(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, dict):
            return {key: frozen(item) for key, item in value.items()}
        return value

    def same(a, b) -> bool:
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            try:
                torch.testing.assert_close(a, b, equal_nan=True)
            except AssertionError:
                return False
            return True
        if type(a) is not type(b):
            return False
        if isinstance(a, (tuple, list)):
            return len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
        return a == b or (a != a and b != b)  # the second half: NaN as a Python float

    # Buffers are noted before tracing, which may change them, and by identity too.
    saved = [
        (module._buffers, name, buffer, buffer.detach().clone())
        for module in model.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None
    ]

    def restore_buffers() -> None:
        with torch.no_grad():
            for owner, name, buffer, value in saved:
                buffer.copy_(value)
                owner[name] = buffer

    def run(module: nn.Module, args: tuple) -> tuple:
        args = copy.deepcopy(args)
        restore_buffers()  # the trace shares them with the model
        torch.manual_seed(SEED)
        result = module(*args)
        return frozen((result, args))  # a result may be a buffer, which the next run changes

    with torch.random.fork_rng():
        try:
            try:
                graph = fx.symbolic_trace(model).graph
                restore_buffers()
                trace = fx.GraphModule(model, graph)  # with the buffers that were noted
            except Exception:
                return False
            for args in inputs:
                expected = run(model, args)  # what it raises is the caller's business
                try:
                    obtained = run(trace, args)
                except Exception:
                    return False
                if not same(expected, obtained):
                    return False
            return True
        finally:
            restore_buffers()
    ### END SOLUTION


# %% check="is_faithful"
check(is_faithful)

# %% hint="is_faithful"
hint("is_faithful")

# %% [markdown]
# If the card says that your code printed something, it was FX: it prints a long text when the code of a trace fails.
#
# Such a test has a limit.
# `True` means "no difference on these inputs". It is not a proof.
# Choose inputs that take different paths: with and without optional arguments, other shapes, other signs, other dtypes.

# %% [markdown]
# ## 1.6 Ways out
#
# ### Say it with tensors
#
# Many branches choose between two tensors.
# PyTorch can choose too: `torch.where(condition, a, b)` is an operation like any other, so it is recorded.
# Both sides are computed, and the condition decides at run time.


# %%
def shrink(x):
    """Halve the whole tensor if its largest entry is above 1."""
    return x / 2 if x.amax() > 1 else x


def shrink_traceable(x):
    return torch.where(x.amax() > 1, x / 2, x)


gm = fx.symbolic_trace(shrink_traceable)
print(gm.code)

# %% proof=true
for x in (torch.tensor([0.5, 3.0]), torch.tensor([0.5, 0.9]), torch.tensor([float("nan"), 3.0])):
    torch.testing.assert_close(gm(x), shrink(x), equal_nan=True)
    assert gm(x).dtype == shrink(x).dtype

# %% [markdown]
# `torch.cond` computes only one of the two sides, but it is made for `torch.compile` and `torch.export`. `symbolic_trace` cannot record it.
#
# Arithmetic with the condition, `big * (x / 2) + ~big * x`, has a trap: infinity times zero is NaN.


# %% proof=true
x = torch.tensor([0.5, float("inf")])
tiny = torch.tensor(3, dtype=torch.int8)  # 0-dimensional
big = x.amax() > 1
assert shrink(x).isinf().any() and (big * (x / 2) + ~big * x).isnan().any()
assert (tiny * torch.tensor(1)).dtype == torch.int64
assert (tiny.reshape(1) * torch.tensor(1)).dtype == torch.int8
with fails(RuntimeError):
    fx.symbolic_trace(lambda x: torch.cond(x.amax() > 1, torch.neg, torch.clone, (x,)))

# %% [markdown] card="sign_flip"
# The function `flip` of section 1.4 cannot be traced:
#
# ```python
# return x if x.sum() > 0 else -x
# ```
#
# **Given** a tensor `x`, **return** the same, written so that it can be traced.
# Value and dtype are those of the line above for every input: sums that are zero or NaN, infinite entries, tensors with no dimension or no entry, all floating and integer dtypes. Bool and complex tensors are not tried.
#
# **Do not** change `x` itself, and do not hide the branch from FX: neither `fx.wrap` nor a leaf module. The trace must decide again for each input.

# %% [markdown]
# This is the trace of `shrink_traceable`, a graph of the kind that you need, and then what `flip` computes:

# %%
draw(fx.symbolic_trace(lambda x: torch.where(x.amax() > 1, x / 2, x)))

# %%
for x in (torch.tensor([3, -1]), torch.tensor([-3, 1]), torch.tensor([0.0, float("nan")])):
    print(x, "->", x if x.sum() > 0 else -x)


# %% solve="sign_flip"
def sign_flip(x: torch.Tensor) -> torch.Tensor:
    """``x if x.sum() > 0 else -x``, in a form that can be traced.

    Args:
        x: a tensor of any shape and of a floating or integer dtype.

    Returns:
        A tensor of the same shape and dtype.
    """
    ### BEGIN SOLUTION
    # The condition is a 0-dimensional bool tensor, so neither shape nor dtype of x changes.
    return torch.where(x.sum() > 0, x, -x)
    ### END SOLUTION


# %% check="sign_flip"
check(sign_flip)

# %% hint="sign_flip"
hint("sign_flip")

# %% [markdown]
# ### Keep a function whole: `fx.wrap`
#
# Some code has no tensor form, or is not worth rewriting.
# `fx.wrap("name")` tells FX to record calls of that function as one node, and not to run it while tracing.
# Inside, everything is allowed, because real tensors arrive there.
# With your own function, the decorator `@fx.wrap` does the same.


# %%
def clip_if_large(x, limit):
    if x.abs().max() > limit:
        return x.clamp(-limit, limit)
    return x


fx.wrap("clip_if_large")

gm = fx.symbolic_trace(lambda x: clip_if_large(x, 2.0) + 1)
print(gm.code)
print(gm(torch.tensor([5.0])), gm(torch.tensor([0.5])))

# %% proof=true
assert gm(torch.tensor([5.0])) == 3.0 and gm(torch.tensor([0.5])) == 1.5

# %% [markdown]
# The code calls the function `__main___clip_if_large`: the name of its module, and its own name.
#
# Three rules come with `fx.wrap`.
#
# * `fx.wrap` must be called at the top level of a module or of a notebook cell, never inside a function.
# * It works by name. FX replaces the *global name* while it traces. Another name for the same function is not replaced.
# * A call is recorded **only if a Proxy is among its arguments**. Otherwise the function runs while tracing, and its result is frozen. So let a size come from the input: `three_random(x.shape[0])`.


# %%
def three_random(n):
    return torch.randn(n)


fx.wrap("three_random")

gm = fx.symbolic_trace(lambda x: x + three_random(3))
print(gm.code)  # wrapped, but frozen

same_function = clip_if_large
with fails(fx.proxy.TraceError):
    fx.symbolic_trace(lambda x: same_function(x, 2.0))


# %% proof=true
def wrap_inside():
    fx.wrap("clip_if_large")


fresh = fx.symbolic_trace(lambda x: x + three_random(x.shape[0]))
assert "three_random" in fresh.code
assert not torch.equal(fresh(torch.zeros(3)), fresh(torch.zeros(3)))
assert "three_random" not in gm.code and "__main___clip_if_large" in (
    fx.symbolic_trace(lambda x: clip_if_large(x, 2.0)).code
)
with fails(NotImplementedError):
    wrap_inside()

# %% [markdown]
# Builtins can be wrapped in the same way: `fx.wrap("len")`, because `len(x)` fails otherwise (section 1.5).
# The generated code then begins with a line `torch.fx._symbolic_trace.wrap("len")`, so that the result can be traced again.
# `wrap` is about one name in one Python file or notebook, and no call undoes it.

# %% proof=true
import types

other_file = types.ModuleType("other_file")
source = 'from torch import fx\n\nfx.wrap("len")\n\n\ndef mean(x):\n    return x.sum() / len(x)\n'
exec(source, other_file.__dict__)  # as if this were a file of its own
gm = fx.symbolic_trace(other_file.mean)
assert 'torch.fx._symbolic_trace.wrap("len")' in gm.code and gm(torch.ones(3)) == 1
assert len(fx.symbolic_trace(gm).graph.nodes) == len(gm.graph.nodes)  # traced again
with fails(RuntimeError):
    fx.symbolic_trace(lambda x: x / len(x))  # in this notebook, `len` is not wrapped

# %% [markdown]
# ## 1.7 Fix a parameter: `concrete_args`
#
# Some parameters of `forward` are not tensors at all: flags, sizes, modes, an optional `None`.
# Branches on them are fine in Python, and impossible for a Proxy.
# `concrete_args` gives such a parameter its real value while tracing.
# The branch is then decided once, on purpose.


# %%
def pool(x, weights=None, largest=False):
    if weights is not None:
        x = x * weights
    return x.amax(dim=-1) if largest else x.mean(dim=-1)


gm = fx.symbolic_trace(pool, concrete_args={"weights": None, "largest": True})
draw(gm)

# %% [markdown]
# Look at what is left.
#
# * The parameters are **still there**, under new names: `weights_1`, `largest_1`. The caller must still pass them, or rely on their defaults.
# * Each has an **assertion** that the caller passes the value that was fixed. Here the default of `largest` is not that value. (For a tensor or an object, FX warns that it could not add an assertion.)
#
# The docstring of `symbolic_trace` says that other values "will be ignored". They are not:

# %%
with fails(AssertionError):
    gm(torch.randn(2, 3))  # largest_1 has the default False, but was fixed to True

# %% proof=true
assert ".amax(" in gm.code and ".mean(" not in gm.code and "weights_1 *" not in gm.code
assert "largest has been specialized to have value True but got another value" in gm.code
import inspect

assert list(inspect.signature(gm.forward).parameters) == ["x", "weights_1", "largest_1"]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fx.symbolic_trace(pool, concrete_args={"weights": torch.ones(3), "largest": True})
assert any("Was not able to add assertion" in str(warning.message) for warning in caught)

# %% [markdown]
# To get rid of the leftovers, delete nodes: the assertions, what only they read, and the placeholders.
# The deep dive `03b_effects` does that. Its exercise is a function that fixes parameters for good.

# %% [markdown]
# ## 1.8 The other team's network
#
# GoogLeNet has branches, nine inception blocks, dropout, and two auxiliary heads that it uses only in training mode.
# May its trace be trusted? Your functions from this chapter answer that.

# %% uses="is_faithful"
from torchvision.models import googlenet

from autograder.given import assert_same_results, images, make_alive

network = make_alive(googlenet(weights=None, init_weights=False))
inputs = [(images(1, 64),), (images(2, 96, seed=1),)]

table = node_table(network)
print(len(table), "nodes; the value with most readers:", max(table, key=lambda row: row[3]))
faithful = is_faithful(network, inputs)
print("faithful in eval mode:", faithful)

# %% proof=true
assert len(table) == 199 and faithful

# %% [markdown]
# Now the fault of the story, in a real network.
# Someone traces the model right after its training, and calls `eval()` on the *trace*.
# The code of GoogLeNet asks `self.training` to decide about the auxiliary heads, and that question was answered while tracing:

# %%
network.train()
too_early = fx.symbolic_trace(network)
too_early.eval()  # too late for the branch
network.eval()

with torch.no_grad():
    right, wrong = network(*inputs[0]), too_early(*inputs[0])
print("the model returns", type(right).__name__, "and the trace", type(wrong).__name__)
print("nodes, traced in eval mode:", len(fx.symbolic_trace(network).graph.nodes))
print("nodes, traced too early:", len(too_early.graph.nodes))

# %% proof=true
assert isinstance(right, torch.Tensor) and not isinstance(wrong, torch.Tensor)
assert len(wrong) == 3 and len(too_early.graph.nodes) == 218

# %% [markdown]
# **What to do:** first the mode, then the trace, then the test.

# %%
in_time = fx.symbolic_trace(network.eval())
for some in inputs:
    assert_same_results(in_time, network, *some)

# %% [markdown]
# ## Common mistakes
#
# ### "Tracing works, so the trace is right"
#
# Section 1.5 is full of wrong traces that are made without an error.
# And one comparison is not enough: two models that differ can agree on one input.


# %%
def folded(x):
    return x.abs() if isinstance(x, torch.Tensor) else x


gm = fx.symbolic_trace(folded)
for x in (torch.ones(2), -torch.ones(2)):
    print(gm(x), folded(x))

# %% proof=true
assert torch.equal(gm(ones), folded(ones)) and not torch.equal(gm(-ones), folded(-ones))

# %% [markdown]
# ### "Python's `math` must be wrapped"
#
# The functions of `math` are wrapped by default. Those of `random` and your own are not.

# %%
gm = fx.symbolic_trace(lambda x: x / math.sqrt(x.shape[-1]))
print(gm.code)

# %% proof=true
assert torch.allclose(gm(torch.ones(4)), torch.ones(4) / math.sqrt(4))

# %% [markdown]
# ## Recap
#
# 1. A trace is one run of `forward` with Proxies. What meets a Proxy becomes a node; everything else happens once, while tracing.
# 2. A `GraphModule` has a graph, code generated from it, and the submodules and tensors that the graph needs, shared with the model.
# 3. Modules of `torch.nn` are leaves, except `nn.Sequential` and its subclasses. All others are entered.
# 4. A request for a value raises. `is`, `isinstance`, text, flags, constants, buffers, `+=`, root hooks and context managers are wrong in silence: test with copies, a seed set after tracing, and several inputs.
# 5. Ways out: `torch.where`, `fx.wrap` with a Proxy among the arguments, `concrete_args`, which leaves the parameters and assertions in the trace.
#
# ### Cheat sheet
#
# | you want | you write |
# |---|---|
# | with parameters fixed | `fx.symbolic_trace(model, concrete_args={"flag": True})` |
# | the graph as a table | `gm.graph.print_tabular()` |
# | what a node reads, who reads it | `node.all_input_nodes`, `node.users` |
# | a function kept whole | `fx.wrap("name")` or `@fx.wrap`, at top level |
# | a branch between tensors | `torch.where(condition, a, b)` |
# | the random state left as it was | `with torch.random.fork_rng():` |
# | to compare results | `torch.testing.assert_close(a, b, equal_nan=True)` |
#
# **Not taught here:** the six opcodes in detail (chapter 2), editing (chapter 3), removing what `concrete_args` leaves (the deep dive `03b_effects`), tracers of your own (chapter 8), `torch.export` and `torch.compile` (chapter 11).
#
# **Sources and further reading**
#
# * PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), above all its section *Limitations of Symbolic Tracing*; [torch.testing](https://docs.pytorch.org/docs/stable/testing.html); [torch.jit.trace](https://docs.pytorch.org/docs/stable/generated/torch.jit.trace.html).
# * The paper [torch.fx](https://arxiv.org/abs/2112.08429) explains why FX records with Proxies and leaves control flow out.

# %%
progress()
