# %% [markdown]
# # 5. Proxy and retracing
#
# **Write a change to a graph as ordinary Python, and let FX make the nodes.**
#
# * **You need:** chapters 1 to 3. You can trace a model, read its graph, and copy and insert nodes.
#   Chapter 4 helps, but you can do without it.
# * **Time:** about 120 minutes, and 50 more for section 5.6, which is a stretch.
#   Each section says how long it takes, with its exercises.
#
# At the end of this chapter you can
#
# 1. build a graph by running Python on Proxies, without tracing anything,
# 2. build a model from a configuration, modules and parameters included,
# 3. replace the calls of a function by what a rule records, whatever the arguments of the call are,
# 4. say which lines of a rule run while the graph is made, and which run with the model,
# 5. write rules that are right for large numbers, infinities and NaN,
# 6. put the graph of a submodule in place of its call,
# 7. compute the derivative of a function as a graph.

# %%
import math
import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.node import map_arg
from torch.fx.proxy import GraphAppendingTracer

from autograder import check, draw, hint, progress

torch.manual_seed(5)
print(torch.__version__)

# %% [markdown]
# ## The story
#
# You write the back end of a compiler for a new chip.
# The chip can do some forty operations: arithmetic, comparisons, `exp`, sums and little else.
# The models that you are handed use hundreds of operations: `relu`, `silu`, `softmax`, `lerp`.
#
# For each of them you know how to say it in simple operations, on one line of Python.
# In chapter 3, each of these lines would become ten lines of `graph.call_function(...)`,
# with an insertion point, arguments and a new reader each time.
#
# You have seen a machine that makes nodes from Python: tracing.
# In chapter 1, `symbolic_trace` made the Proxies. In this chapter you make them yourself.

# %% [markdown]
# ## 5.1 A graph from Proxies (14 minutes)
#
# A **Proxy** stands for a node. Each operation on a Proxy adds a node to a graph and returns a Proxy for that node.
# To which graph? A Proxy asks its **tracer**, and the tracer knows the graph.
# `GraphAppendingTracer(graph)` is the smallest tracer there is: it appends each node to the end of `graph`.
#
# With it, a graph is made in five steps:

# %%
graph = fx.Graph()
tracer = GraphAppendingTracer(graph)  # 1. a tracer for the graph
x = fx.Proxy(graph.placeholder("x"), tracer)  # 2. a Proxy for each input
result = torch.sigmoid(2 * x) - 1  # 3. ordinary Python
graph.output(result.node)  # 4. the output reads a node, so hand it the Proxy's node
gm = fx.GraphModule(nn.Module(), graph)  # 5. the module; nothing is read from its root here
print(gm.graph)
draw(gm)

# %% [markdown]
# Nothing was traced. You ran one line of Python, and it left three nodes.

# %%
value = torch.randn(3)
torch.testing.assert_close(gm(value), torch.sigmoid(2 * value) - 1)
assert result.node.graph is graph and result.tracer is tracer
assert [n.op for n in graph.nodes] == ["placeholder", *["call_function"] * 3, "output"]

# %% [markdown]
# **Each operation leaves a node, whether you use its result or not.**
# FX cannot know that you will throw it away.

# %%
graph = fx.Graph()
tracer = GraphAppendingTracer(graph)
x = fx.Proxy(graph.placeholder("x"), tracer)
y = fx.Proxy(graph.placeholder("y"), tracer)
both = torch.cat([x, y])
forgotten = both + 1  # nobody reads this
graph.output(torch.tanh(both).node)
gm = fx.GraphModule(nn.Module(), graph)
print(gm.code)
assert forgotten.node in graph.nodes and not forgotten.node.users

# %% [markdown]
# Look at `x` and `y`: two Proxies, **one tracer**.
# A call with two Proxies needs to know where its node goes, so their tracers must be the same object.
# "Common mistakes" shows what happens otherwise.
#
# **Predict the graph.** How many nodes does the line `torch.exp(x) + torch.exp(x)` add?
#
# <details><summary>Two</summary>
#
# One too few. A Proxy does not remember what was computed before.
# <code>torch.exp(x)</code> runs twice, so it is recorded twice.
#
# </details>
# <details><summary>Three</summary>
#
# Right. Two calls of <code>exp</code> and one of <code>operator.add</code>.
# To share the value, give it a name in Python: <code>e = torch.exp(x)</code>, then <code>e + e</code>.
#
# </details>
# <details><summary>None, before the module is called</summary>
#
# No. Nothing is <em>computed</em> before the module is called, but the nodes are made while the line runs.
#
# </details>

# %%
graph = fx.Graph()
x = fx.Proxy(graph.placeholder("x"), GraphAppendingTracer(graph))
torch.exp(x) + torch.exp(x)
assert len(graph.nodes) == 1 + 3

e = torch.exp(x)
e + e
assert len(graph.nodes) == 1 + 3 + 2

# %% [markdown] card="build_with_proxies"
# **Given** nothing.
#
# **Return** a `GraphModule` whose `forward(x, y)` returns `torch.neg(torch.tanh(torch.cat([x, y])))`.
# Make it with `fx.Proxy` and `GraphAppendingTracer`. No node in it is unused.
#
# **Do not** trace anything. For calls that trace, the text of your answer is looked at, too.


# %%
class Asked(nn.Module):
    def forward(self, x, y):
        return torch.neg(torch.tanh(torch.cat([x, y])))


# The graph that is asked for:
draw(fx.symbolic_trace(Asked()))


# %% solve="build_with_proxies"
def build_with_proxies() -> fx.GraphModule:
    """`forward(x, y)` returning `torch.neg(torch.tanh(torch.cat([x, y])))`, without tracing."""
    ### BEGIN SOLUTION
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    x, y = (fx.Proxy(graph.placeholder(name), tracer) for name in ("x", "y"))
    graph.output(torch.neg(torch.tanh(torch.cat([x, y]))).node)
    return fx.GraphModule(nn.Module(), graph)
    ### END SOLUTION


# %% check="build_with_proxies"
check(build_with_proxies)

# %% hint="build_with_proxies"
hint("build_with_proxies")

# %% [markdown]
# ## 5.2 A model from a configuration (10 minutes)
#
# While the graph is made, all of Python is at your disposal: loops, branches, dictionaries.
# So you can build a model from a list that came out of a file.
#
# Functions and operators are recorded by running them. For the other two kinds of node, ask the tracer:
#
# * `tracer.create_proxy("call_module", name, args, kwargs)` records the call of a module,
# * `tracer.create_proxy("get_attr", name, (), {})` reads a parameter or buffer.
#
# The modules and parameters themselves go into the root. A dictionary serves as root, as in chapter 2.

# %%
ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


def from_config(features: int, config: list[tuple]) -> fx.GraphModule:
    """A model of the layers that `config` lists: `("linear", width)`, `("scale",)`, `("skip",)` …

    `("skip",)` adds the value that went into the last linear layer.
    """
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    value = before = fx.Proxy(graph.placeholder("x"), tracer)
    root: dict[str, Any] = {}
    for i, (kind, *numbers) in enumerate(config):
        name = f"{kind}{i}"
        if kind == "linear":
            (width,) = numbers
            root[name] = nn.Linear(features, width)
            before, features = value, width
            value = tracer.create_proxy("call_module", name, (value,), {})
        elif kind == "scale":
            root[name] = nn.Parameter(torch.ones(features))
            value = value * tracer.create_proxy("get_attr", name, (), {})
        elif kind == "skip":
            value = value + before
        else:
            value = ACTIVATIONS[kind](value)
    graph.output(value.node)
    return fx.GraphModule(root, graph)


config = [("linear", 8), ("tanh",), ("linear", 8), ("relu",), ("skip",), ("scale",)]
gm = from_config(4, config)
print(gm.code)
draw(gm)

# %%
x = torch.randn(2, 4)
hidden = torch.tanh(gm.linear0(x))
torch.testing.assert_close(gm(x), (torch.relu(gm.linear2(hidden)) + hidden) * gm.scale5)
assert {name for name, _ in gm.named_parameters()} == {
    "scale5", "linear0.weight", "linear0.bias", "linear2.weight", "linear2.bias",
}  # fmt: skip

# %% [markdown]
# **Predict the graph.** Where in `gm.graph` are the loop and the branches of `from_config`?
#
# <details><summary>Each branch that was taken is a node</summary>
#
# No. A node is an operation on a <em>Proxy</em>. <code>kind == "linear"</code> compares two strings.
#
# </details>
# <details><summary>Nowhere</summary>
#
# Right. They ran while the graph was made, and they decided which nodes there are.
# The graph is the straight list of what they did.
#
# </details>
# <details><summary>In the module's <code>forward</code>, which runs <code>from_config</code></summary>
#
# No. <code>forward</code> is generated from the graph, and the graph knows nothing of your function.
#
# </details>

# %%
assert "for" not in gm.code.replace("forward", "") and "if" not in gm.code
# input, linear, activations, skip, scale (two nodes), output
assert len(gm.graph.nodes) == 1 + 2 + 2 + 1 + 2 + 1

# %% [markdown]
# ## 5.3 Retracing: a rule in place of a node (32 minutes)
#
# Now the compiler's task. A graph is there already, and some of its calls are to become other operations.
# The idea is called **retracing**:
#
# * Walk over the old graph, from the first node to the last, and fill a **new** graph.
# * A node that is not meant is **copied**.
# * For a node that is meant, do not copy it: run a Python function on Proxies of the *new* graph.
#   Whatever this function records stands in the new graph in place of the node.
#
# Such a function is a **rule**. Here is the rule that PyTorch's documentation and many tutorials show for ReLU.
# It prints its argument, so that you can see when it runs:


# %%
seen = []


def my_relu(x):
    seen.append(repr(x))
    print("my_relu:", x)
    return (x > 0) * x


# %% [markdown]
# `graph.node_copy(node, f)` copies a node of another graph to the end of `graph`.
# For every node `n` that `node` reads, it calls `f(n)`, and the copy reads that in its place.
# So the pass keeps a dictionary from each old node to the new one:


# %%
def decompose_relu(model: nn.Module) -> fx.GraphModule:
    """Let every `torch.relu(x)` be what `my_relu` records."""
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)  # of the new graph
    new: dict[fx.Node, fx.Node] = {}
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target is torch.relu:
            x = fx.Proxy(new[node.args[0]], tracer)
            new[node] = my_relu(x).node
        else:
            new[node] = graph.node_copy(node, lambda n: new[n])
    return fx.GraphModule(gm, graph)


class Example(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x, y):
        return self.linear(torch.relu(x + y)) * 2


model = Example()
gm = decompose_relu(model)
print(gm.code)
draw.diff(fx.symbolic_trace(model), gm)

# %%
x, y = torch.randn(2, 3), torch.randn(2, 3)
torch.testing.assert_close(gm(x, y), model(x, y))
assert torch.relu not in [n.target for n in gm.graph.nodes]

# %% [markdown]
# Three things to see here:
#
# * The new graph needs no `recompile()`: `fx.GraphModule(gm, graph)` generates its code from the finished graph.
#   The first argument is the root: modules and parameters that the graph names are taken from there.
# * The placeholders and the output are copied, too, and with them the signature and the structure of the result.
# * `new[node]` is the old node's **value** in the new graph. What read the old node now reads the value.
#
# **When does a rule run?** Look at what `my_relu` printed above: `Proxy(add)`.
#
# **Predict the output.** What does `gm(x, y)` print?
#
# <details><summary><code>my_relu:</code> and a tensor</summary>
#
# No. The rule is not in the graph. <code>gm</code> knows only <code>gt</code> and <code>mul</code>.
#
# </details>
# <details><summary>Nothing</summary>
#
# Right. The rule ran once for each call in the graph, while the graph was made.
# What was recorded are the operations on Proxies. <code>print</code> is none: it ran then, and shows a Proxy.
#
# </details>
# <details><summary><code>my_relu: Proxy(add)</code>, once more</summary>
#
# No. That was printed at transform time. There is no Proxy when the module runs.
#
# </details>

# %%
seen.clear()
gm = decompose_relu(model)
assert seen == ["Proxy(add)"]  # at transform time
gm(x, y)
assert seen == ["Proxy(add)"]  # and never again

# %% [markdown]
# So a rule has two times, like `forward` under tracing.
# Its Python runs when the graph is made: a branch on a number or a string is decided then.
# Its operations on Proxies run with the model.
#
# ### Whatever the arguments are
#
# `decompose_relu` looks at `node.args[0]`, and that is enough for `torch.relu(x)`.
# Other calls have several arguments, keyword arguments, numbers, lists of nodes.
# A rule is to be called with all of them **as they stand**, except that each node has become a Proxy.
#
# `map_arg(args, f)` from `torch.fx.node` does this. It puts `f(n)` in place of every node `n`,
# however deep it is nested, and leaves all else as it is:


# %%
def f(x, y):
    return torch.cat([x, y.exp()], dim=1), torch.lerp(x, end=y, weight=0.25)


for node in fx.symbolic_trace(f).graph.nodes:
    if node.op == "call_function":
        args = map_arg(node.args, lambda n: n.name.upper())
        kwargs = map_arg(node.kwargs, lambda n: n.name.upper())
        print(node.name, args, kwargs)
assert (args, kwargs) == (("X",), {"end": "Y", "weight": 0.25})

# %% [markdown]
# If the values in your dictionary are new nodes, `f` can make a Proxy of them:
# `map_arg(node.args, lambda n: fx.Proxy(new[n], tracer))`.
#
# ### Whatever the rule returns
#
# A rule need not return a Proxy. Here are three rules that are perfectly fine:


# %%
def without_noise(x, std):
    return x  # the Proxy that it was given: nothing is recorded


def number_of_channels(x):
    return 3  # a Python number: we know it for this model


def mean_rule(x, dim=None):
    if dim is None:  # decided while the graph is made
        return x.sum() / x.numel()
    return x.sum(dim) / x.shape[dim]


graph = fx.Graph()
x = fx.Proxy(graph.placeholder("x"), GraphAppendingTracer(graph))
assert without_noise(x, 0.1) is x and number_of_channels(x) == 3
assert len(graph.nodes) == 1
mean_rule(x, 1)
print(graph)

# %% [markdown]
# `3` has no `.node`. Where a rule returns a constant, the readers of the old node must get that constant:
# `node_copy` takes it without complaint, because a number is a fine argument.
#
# **Predict the graph.** `rules` has a rule for `torch.sub` which returns `torch.add(x, torch.neg(y))`,
# and one for `torch.add`. The model calls `torch.sub` once. What does one walk over the model's graph leave?
#
# <details><summary><code>torch.add</code> and <code>torch.neg</code></summary>
#
# Right. The walk visits the nodes of the <em>old</em> graph. What a rule records goes into the new one
# and is not visited. To go on until nothing is left, apply the pass again to its own result.
#
# </details>
# <details><summary><code>torch.neg</code> and what the rule for <code>torch.add</code> records</summary>
#
# Not in one walk. The call of <code>torch.add</code> inside the rule makes a node; it looks up no rule.
#
# </details>
# <details><summary>It never ends if the second rule uses <code>torch.sub</code></summary>
#
# That would be true if rules were applied to their own output. One walk over a finite graph ends.
#
# </details>

# %% [markdown] card="decompose"
# Make a general tool of `decompose_relu`.
#
# **Given** a model, and `rules`: a dictionary from functions to rules.
# A rule takes the same arguments as its function.
#
# **Return** a new `GraphModule` in which every `call_function` node whose target is in `rules`
# is replaced by what its rule records. Everything else is copied, read or not.
#
# * Rules may take several arguments, lists of nodes, keyword arguments, numbers and strings.
# * A rule may return a Proxy, one that it was given, or a Python constant. Readers then get that.
# * What a rule returns may be the result of the model.
# * Rules are applied once, not to their own output.
# * Names of nodes need not be kept.
#
# **Do not** change the model you were given.


# %%
class Before(nn.Module):
    def forward(self, x, y):
        return torch.lerp(x, y, weight=0.25).sin()


class After(nn.Module):
    def forward(self, x, y):
        return (x + (y - x) * 0.25).sin()


# What is asked of decompose(model, {torch.lerp: lambda start, end, weight: start + (end - start) * weight}):
draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="decompose"
def decompose(
    model: nn.Module, rules: dict[Callable[..., Any], Callable[..., Any]]
) -> fx.GraphModule:
    """Replace each call of a function in `rules` by what its rule records.

    Args:
        model: the module to trace; it is not changed.
        rules: from functions to rules, which take the same arguments.
    """
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    values: dict[fx.Node, Any] = {}  # of an old node in the new graph: a node or a constant

    def seen_by_rule(node: fx.Node) -> Any:
        value = values[node]
        return fx.Proxy(value, tracer) if isinstance(value, fx.Node) else value

    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target in rules:
            args = map_arg(node.args, seen_by_rule)
            kwargs = map_arg(node.kwargs, seen_by_rule)
            result = rules[node.target](*args, **kwargs)
            values[node] = result.node if isinstance(result, fx.Proxy) else result
        else:
            values[node] = graph.node_copy(node, lambda n: values[n])
    return fx.GraphModule(gm, graph)
    ### END SOLUTION


# %% check="decompose"
check(decompose)

# %% hint="decompose"
hint("decompose")

# %% [markdown]
# ## 5.4 Rules that are right for every number (24 minutes)
#
# `(x > 0) * x` is ReLU, is it not? Try the infinities and NaN as well:

# %%
numbers = torch.tensor([2.0, -1.0, -math.inf, math.inf, math.nan])
print("relu:      ", torch.relu(numbers))
print("(x > 0) * x", (numbers > 0) * numbers)
assert torch.relu(numbers)[2] == 0
assert ((numbers > 0) * numbers)[2].isnan()  # 0 * -inf

# %% [markdown]
# `-inf` has become NaN. Attention masks are full of `-inf`, so this is no rare case.
#
# (The second number is printed as `-0.`. That is harmless: `-0.0 == 0.0`, and the rule is not wrong there.)
#
# A formula that holds on paper for all real numbers has four ways to go wrong in floating point:
#
# | trap | example | what happens |
# |---|---|---|
# | indeterminate forms | `0 * inf`, `inf - inf`, `inf / inf` | NaN where the true result is a number |
# | overflow on the way | `exp(1000)`, `3e38 + 3e38` in float32 | `inf`, and then one of the forms above |
# | comparisons with NaN | `nan > 0`, `nan <= 0`, `nan == nan` | all false: a NaN takes the branch "otherwise" |
# | dtypes | `x.float()`, a tensor of ones in float32 | float64 loses its digits |

# %%
inf, nan = torch.tensor(math.inf), torch.tensor(math.nan)
assert all(bad.isnan() for bad in (0 * inf, inf - inf, inf / inf))
assert torch.exp(torch.tensor(1000.0)) == inf
assert not (nan > 0) and not (nan <= 0) and not (nan == nan)

# %% [markdown]
# **A NaN that is lost is a bug, too.** The original would have told you that something is broken:

# %%
print(torch.where(numbers > 0, numbers, 0.0))
assert torch.where(numbers > 0, numbers, 0.0)[2] == 0  # the infinity is right now
assert not torch.where(numbers > 0, numbers, 0.0)[4].isnan()  # but the NaN has become 0

# %% [markdown]
# A worked example. `tanh` by exponentials, as in the textbook:


# %%
def textbook_tanh(x):
    up, down = torch.exp(x), torch.exp(-x)
    return (up - down) / (up + down)


numbers = torch.tensor([0.5, -2.0, 1000.0, -1000.0, math.inf, -math.inf, math.nan])
print(textbook_tanh(numbers))
torch.testing.assert_close(textbook_tanh(numbers[:2]), torch.tanh(numbers[:2]))
assert textbook_tanh(numbers)[2:].isnan().all()  # inf / inf, at 1000 already

# %% [markdown]
# The cure is to rearrange the formula so that a large exponential can only stand *below* a fraction:
# multiply numerator and denominator by `exp(x)`, then take the whole part out.
#
# `tanh(x)  =  (exp(2x) - 1) / (exp(2x) + 1)  =  1 - 2 / (exp(2x) + 1)`


# %%
def tanh_rule(x):
    return 1 - 2 / (torch.exp(2 * x) + 1)


print(tanh_rule(numbers))
torch.testing.assert_close(tanh_rule(numbers), torch.tanh(numbers), equal_nan=True)

# %% [markdown]
# Walk through it with `x = inf`: `exp` is `inf`, `2 / inf` is 0, and the result is 1. With `-inf`: `2 / (0 + 1)` is 2, and the result is -1.
# With NaN, every step is NaN. Walk through each of your rules like this.
#
# A second example, for a function with `dim`. The logarithm of a sum of exponentials overflows early.
# Subtract the largest entry first, and no exponent is above 0:


# %%
def textbook_logsumexp(x, dim):
    return torch.log(torch.exp(x).sum(dim))


def logsumexp_rule(x, dim):
    # keepdim: one number for each slice, in a shape that broadcasts
    top = x.amax(dim, keepdim=True)
    return (x - top).exp().sum(dim).log() + top.squeeze(dim)


scores = torch.tensor([[1000.0, 999.0], [0.5, -2.0], [-1000.0, -1000.0]])
print(textbook_logsumexp(scores, 1), logsumexp_rule(scores, 1))
torch.testing.assert_close(logsumexp_rule(scores, 1), torch.logsumexp(scores, 1))
assert not textbook_logsumexp(scores, 1).isfinite().all()

# %% [markdown]
# **Predict the result.** Someone takes `x.amax()`, the largest entry of *all*, for `top`. Which of the three rows is wrong?
#
# <details><summary>None: any number may be subtracted</summary>
#
# On paper, yes. But in the third row, <code>exp(-1000 - 1000)</code> is 0, and the logarithm of 0 is <code>-inf</code>.
#
# </details>
# <details><summary>The second and the third</summary>
#
# Right. In both, every exponent is so low that <code>exp</code> gives 0. Each slice needs its own number.
#
# </details>
# <details><summary>The first</summary>
#
# No. The first row holds the largest entry, so it gets the right number.
#
# </details>

# %%
wrong = (scores - scores.amax()).exp().sum(1).log() + scores.amax()
assert wrong.isfinite().tolist() == [True, False, False]

# %% [markdown] card="decomposition_rules"
# Write rules for three functions, for use with `decompose`.
#
# **Return** a dictionary with the keys `torch.relu`, `F.silu` and `torch.softmax`.
# Each value is a rule. It is called with the arguments under which FX records the call:
# `F.silu` always gets `inplace=False`, and `torch.softmax` gets `dim`.
#
# * A rule uses elementary operations: arithmetic, comparisons, `exp`, `clamp`, `where`, `sum`, `amax`, `sigmoid` and the like.
#   It uses neither the function itself nor a sibling that does the work (`F.relu6`, `threshold`, `log_softmax`).
# * In float32 and in float64, the result equals the original wherever that is finite, for large values, too.
#   Where the original is NaN, it is NaN.
#
# `F.silu(x)` is `x * sigmoid(x)`. Softmax along a dimension is `exp(x)` divided by its sum along that dimension.


# %%
def all_three(x):
    return torch.relu(x), F.silu(x), torch.softmax(x, dim=-1)


for node in list(fx.symbolic_trace(all_three).graph.nodes)[1:4]:
    print(node.name, node.args, node.kwargs)  # what a rule will be called with


# %%
class Before(nn.Module):
    def forward(self, x):
        return torch.logsumexp(x, dim=-1)


# An example of what such a rule does, for the function of the worked example:
draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(lambda x: logsumexp_rule(x, dim=-1)))


# %% solve="decomposition_rules"
def decomposition_rules() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Rules for `torch.relu`, `F.silu` and `torch.softmax`, of elementary operations."""

    ### BEGIN SOLUTION
    def relu(x):
        return x.clamp(min=0)  # keeps a NaN, and needs no product with an infinity

    def silu(x, inplace=False):
        return x * torch.sigmoid(x)

    def softmax(x, dim):
        # Each slice's own maximum: no exponent is above 0, and one of them is 0.
        shifted = torch.exp(x - x.amax(dim, keepdim=True))
        return shifted / shifted.sum(dim, keepdim=True)

    return {torch.relu: relu, F.silu: silu, torch.softmax: softmax}
    ### END SOLUTION


# %% check="decomposition_rules"
check(decomposition_rules)

# %% hint="decomposition_rules"
hint("decomposition_rules")

# %% [markdown]
# The industry does the same on a larger scale. `torch.export` and `torch.compile` take operators apart
# with tables of such rules; chapter 11 shows one at work.

# %% [markdown]
# ## 5.5 Paste one graph into another (40 minutes)
#
# A rule of `decompose` is Python code that records new nodes.
# Often the new nodes are there already, in another graph.
# Then you can copy them with `graph.node_copy(node, f)`, as you copied the rest of a model in section 5.3.
#
# That is all it takes to paste a graph behind another:


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
            inside[node] = env[result]  # no copy: it stands for a value that is there
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
# Right, and without any error. <em>Each</em> placeholder of the second graph stands for the result of
# the first, the placeholder of <code>factor</code> too.
#
# </details>
# <details><summary>An error, because an argument is missing</summary>
#
# No. A placeholder is a node like any other, and the code gives it a value.
#
# </details>

# %%
gm = followed_by(Shrink(), Grow())
print(gm.code)
x = torch.randn(4)
y = Shrink()(x)
torch.testing.assert_close(gm(x), y * y * y)  # wrong: Grow()(y) is y * y * 3.0

# %% [markdown]
# So ask for each placeholder what it is to stand for: an argument of the call, or its default.
# What you need is in the node. Its `target` is the name of the parameter.
# Its `args` hold the default: `(3.0,)`, or `()` where there is none.
#
# One detail: `node.name` may differ from the parameter's name, `node.target` never does.
# FX does not give a node the name of a Python builtin, such as `input`.

# %%
for node in fx.symbolic_trace(Grow()).graph.nodes:
    if node.op == "placeholder":
        print(f"name {node.name:8} target {node.target:8} args {node.args}")

(node, *_) = fx.symbolic_trace(nn.ReLU()).graph.nodes
print(f"name {node.name:8} target {node.target:8} args {node.args}")
assert (node.name, node.target) == ("input_1", "input")

# %% [markdown]
# In this chapter's `env` dictionaries, a node of the old graph stands for *whatever* it is in the new one.
# That may be a node, but also a number, `None`, or a tuple of nodes. `node_copy` puts it where the node stood:


# %%
def pair_sum(x):
    pair = (torch.sin(x), torch.cos(x))
    return pair[0] + pair[1]


graph = fx.Graph()
x = graph.placeholder("x")
sin, cos = graph.call_function(torch.sin, (x,)), graph.call_function(torch.cos, (x,))


def f(pair):
    return pair[0] + pair[1]


inside = {}
for node in fx.symbolic_trace(f).graph.nodes:
    if node.op == "placeholder":
        inside[node] = (sin, cos)  # a tuple of nodes
    else:
        inside[node] = graph.node_copy(node, inside.__getitem__)
gm = fx.GraphModule(nn.Module(), graph)
print(gm.code)
gm.graph.lint()
x = torch.randn(4)
torch.testing.assert_close(gm(x), pair_sum(x))

# %% [markdown]
# `(sin, cos)[0]` looks strange, but it is a sound graph: the target is `operator.getitem`, its first
# argument a tuple of two nodes.
#
# To look up nodes yourself, however deeply they are nested, use `map_arg` from section 5.3 with the
# dictionary's lookup as its function:

# %%
a, b = sin, cos
swapped = map_arg(([a, 2], {"key": (b, "text")}), {a: b, b: a}.__getitem__)
print(swapped)
assert swapped == ([b, 2], {"key": (a, "text")})

# %% [markdown]
# ### Leaves, and names inside them
#
# `symbolic_trace` looks into each module that is not a part of `torch.nn`.
# Which modules stay whole is decided by a method of the tracer, `is_leaf_module`.
# Chapter 4 wrote such a tracer already. Here is one that keeps `Part`s:


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
called = [node.target for node in gm.graph.nodes if node.op == "call_module"]
assert called == ["parts.0", "parts.1"]

# %% [markdown]
# `is_leaf_module` gets two arguments: the module, and its **qualified name**, the dotted path from the root.
# `module.get_submodule(path)` follows such a path. Where it leads nowhere, it raises an `AttributeError`.

# %% raises="AttributeError"
machine.get_submodule("parts.2")

# %% [markdown]
# Now trace a `Part` by itself. It does not know where it lives in the machine:

# %%
part = machine.get_submodule("parts.1")
inner = fx.Tracer().trace(part)
names = [node.target for node in inner.nodes if node.op in ("get_attr", "call_module")]
print(names)
assert names == ["inner", "gain"]

in_machine = [name for name, _ in machine.named_parameters() if name.startswith("parts.1")]
print(in_machine)
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
# <details><summary>FX finds out that <code>parts.1.gain</code> is meant</summary>
#
# No. <code>node_copy</code> copies the target as it is.
#
# </details>

# %%
graph = fx.Graph()
for node in inner.nodes:
    if node.op == "get_attr":
        copied = graph.node_copy(node)
assert copied.target == "gain"
copied.target = f"parts.1.{copied.target}"  # the target is an attribute that you may assign
graph.output(copied)
gm = fx.GraphModule(machine, graph)
assert gm() is part.gain  # the machine's own parameter: it is shared

# %% [markdown]
# The last line is important. `fx.GraphModule(machine, graph)` takes over what the graph names,
# and shares it with the machine. If somebody trains the machine, the graph sees the new values.

# %% [markdown] card="inline"
# **Given** a model and the qualified name of a submodule, such as `"stages.1.block"`.
#
# **Return** a new `GraphModule` in which every call of this submodule is replaced by the submodule's own
# traced graph.
#
# * Tracing keeps the submodule a leaf, whatever its class; which other modules are leaves is as usual.
# * It may be called several times, with positional and keyword arguments, and with defaults.
# * It may return a tuple.
# * Its parameters are read by `get_attr` nodes under the qualified names that they have in the model.
#   They are the model's own, not copies.
# * Leaf modules inside it are called by their qualified names.
# * If there is no such submodule: `AttributeError`. If it is never called: the graph as it was traced.
#
# (No submodule here branches on its arguments, not on one that the call leaves out either, such as `mask=None`: its own
# trace would hold a Proxy there. And none lives under two names.)
#
# **Do not** change the model you were given.


# %%
class Affine(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.ones(4))

    def forward(self, x, shift=1.0):
        return torch.exp(x) * self.slope + shift


class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = Affine()

    def forward(self, x):
        return self.affine(x).relu()


class KeepAffine(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, Affine) or super().is_leaf_module(m, module_qualified_name)


# What is asked of inline(model, "affine"):
model = Before()
before = fx.GraphModule(model, KeepAffine().trace(model))
draw.diff(before, fx.symbolic_trace(model))


# %% [markdown]
# (For this model, `symbolic_trace` alone gives the right-hand side. It would not if the submodule were an
# `nn.Linear`: that one is a leaf.)


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
    # A container that nobody calls may have no `forward` to trace.
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
# ## 5.6 Two values for each node (50 minutes)
#
# So far, one node of the old graph became one value in the new one.
# You can keep more than one. Then the new graph computes something *about* the old one, beside it.
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


gm = bound(g)
print(gm.code)
x = torch.randn(100, dtype=torch.float64)
assert (g(x).abs() <= gm(x) + 1e-12).all()

# %%
draw.diff(fx.symbolic_trace(g), gm)

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
x = torch.randn(2, 3, dtype=torch.float64)
assert torch.equal(gm(x), torch.ones(2, 3, dtype=torch.float64))

# %% [markdown]
# One trap: do not compare a Proxy. `b == 0` is no answer but a new node of the graph.
# Ask for the type first.

# %%
graph = fx.Graph()
b = fx.Proxy(graph.placeholder("b"), GraphAppendingTracer(graph))
print(b == 0)
assert isinstance(b == 0, fx.Proxy)
is_zero = not isinstance(b, fx.Proxy) and b == 0
assert is_zero is False

# %% [markdown]
# ### The rules of calculus
#
# The derivative of a function is made the same way. Carry the **slope** of each value: its derivative with
# respect to the parameter. Each operation gives the slope of its result from the values and slopes that
# go in. With `v'` for the slope of `v`:
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
# This is **forward-mode** differentiation. (`loss.backward()` goes through the graph the other way,
# from the output to the inputs: reverse mode.)
#
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
# No. That is the slope of the slope.
#
# </details>
#
# PyTorch can tell you the truth, one number for each entry of the input:


# %%
def true_slope(fn: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """The elementwise derivative of `fn` at `x`, by PyTorch's own differentiation."""
    x = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(fn(x).sum(), x)
    return slope


def double_square(x):
    y = x * x
    return y + y


x = torch.randn(5, dtype=torch.float64)
torch.testing.assert_close(true_slope(double_square, x), 4 * x)

# %% [markdown] card="derivative"
# **Given** a function of one tensor, or a `GraphModule` of one. It is made of `+`, `-`, `*`, negation, `sin`,
# `cos`, `exp` and Python numbers, in each spelling: `torch.sin(x)`, `x.sin()`; `x * y`, `torch.mul(x, y)`,
# `x.mul(y)`; `2 - x`; positional or keyword arguments (`input`, `other`). The `alpha` of `add` and `sub` is a factor of
# the second value: `torch.add(x, y, alpha=2)` is `x + 2 * y`.
#
# **Return** a `GraphModule` that computes the derivative at each entry of the input.
#
# * The result has the shape and dtype of the input, also where the derivative is a constant.
#   The function itself may be constant, such as `lambda x: 3.0`; its derivative is zero.
# * A value that is used twice counts twice.
# * `derivative(derivative(fn))` works: your function can read what it has written.
# * The parameter keeps its name.
#
# The graph is made of operations of PyTorch, and all the work is done in it. No other operations are tried
# (nothing in place).
#
# **Do not** change a `GraphModule` that you were given.


# %%
def before(x):
    return x * torch.cos(x)


def after(x):
    return torch.cos(x) + x * -torch.sin(x)


# One of many right results of derivative(before):
draw.diff(fx.symbolic_trace(before), fx.symbolic_trace(after))


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
# ## Common mistakes
#
# The first two stood in PyTorch's own documentation, and documents on the web still teach them.
#
# ### The tracer of the old graph
#
# One word is wrong here: `GraphAppendingTracer(gm.graph)`.
# What the rule records goes to the end of the *old* graph, behind its output, while you walk over it.


# %%
def decompose_into_the_old_graph(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(gm.graph)  # wrong: this is the graph that you read
    new: dict[str, fx.Node] = {}
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target is torch.relu:
            x = fx.Proxy(new[node.args[0].name], tracer)
            new[node.name] = ((x > 0) * x).node
        else:
            new[node.name] = graph.node_copy(node, lambda n: new[n.name])
    return fx.GraphModule(gm, graph)


def f(x, y):
    return torch.relu(x + y) * 2


broken = decompose_into_the_old_graph(f)
print(broken.code)
reads = next(node for node in broken.graph.nodes if node.name == "mul").args[0]
assert reads.graph is not broken.graph  # a node of another graph

# %% raises="RuntimeError"
broken.graph.lint()  # "does not belong to this Graph"

# %% raises="UnboundLocalError"
broken(torch.ones(2), torch.ones(2))

# %% [markdown]
# The loop walked on to the nodes behind the old output and copied them, too: that is the code after `return`.
# **Right:** the tracer of the graph that you fill, `GraphAppendingTracer(graph)`.
#
# ### A tracer for each Proxy
#
# `fx.Proxy(node)` without a tracer makes a new one each time. With *one* Proxy, nobody notices:

# %%
graph = fx.Graph()
x, y = fx.Proxy(graph.placeholder("x")), fx.Proxy(graph.placeholder("y"))
torch.relu(x)  # works
x + y  # works: an operator asks its left operand only
assert x.tracer is not y.tracer

# %% raises="RuntimeError"
torch.add(x, y)  # "Found multiple different tracers"

# %% [markdown]
# So a pass that was tried on `relu` alone fails for the first function of two tensors.
# **Right:** make one tracer at the beginning, and hand it to every Proxy.
#
# ### A Proxy where a node belongs

# %%
graph = fx.Graph()
x = fx.Proxy(graph.placeholder("x"), GraphAppendingTracer(graph))
graph.output(x + 1)  # no complaint
broken = fx.GraphModule(nn.Module(), graph)
broken.graph.lint()  # none here either
print(broken.code)

# %% raises="NameError"
broken(torch.ones(2))

# %% [markdown]
# The methods of `Graph` take nodes. Functions and operators take Proxies.
# **Right:** `graph.output((x + 1).node)`. For nested results: `map_aggregate` from `torch.fx.node`, or one `.node` for each.
#
# ### A rule that makes a tensor

# %%
graph = fx.Graph()
x = fx.Proxy(graph.placeholder("x"), GraphAppendingTracer(graph))
graph.output(torch.maximum(x, torch.tensor(0.0)).node)
broken = fx.GraphModule(nn.Module(), graph)
broken.graph.lint()
print(broken.code)

# %% raises="NameError"
broken(torch.ones(2))

# %% [markdown]
# `symbolic_trace` would have registered the tensor as a buffer. A `GraphAppendingTracer` has no module to put it into,
# so it becomes an argument that no code can spell. The same happens to the weights of a module that you call on such a Proxy.
# **Right:** a Python number, or an operation on the Proxy such as `torch.zeros_like(x)`.
#
# ### Only `args` reach the rule


# %%
def without_keywords(model: Callable[..., Any], rules: dict) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    new: dict[fx.Node, fx.Node] = {}
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target in rules:
            args = map_arg(node.args, lambda n: fx.Proxy(new[n], tracer))
            new[node] = rules[node.target](*args).node  # where is node.kwargs?
        else:
            new[node] = graph.node_copy(node, lambda n: new[n])
    return fx.GraphModule(gm, graph)


def f(x, y):
    return torch.sub(x, y, alpha=2)


def sub_rule(x, y, alpha=1):
    return x + y * -alpha


x, y = torch.ones(2), torch.ones(2)
assert torch.equal(f(x, y), torch.full((2,), -1.0))
assert torch.equal(sub_rule(x, y, alpha=2), f(x, y))  # the rule is right
assert torch.equal(without_keywords(f, {torch.sub: sub_rule})(x, y), torch.zeros(2))  # wrong

# %% [markdown]
# No error: the rule has a default, and `alpha=2` is lost in silence.
# **Right:** `args` *and* `kwargs`, both through `map_arg`.
#
# ### A rule asks for a value


# %%
def relu_by_branch(x):
    return x if x.sum() > 0 else 0 * x


graph = fx.Graph()
x = fx.Proxy(graph.placeholder("x"), GraphAppendingTracer(graph))

# %% raises="TraceError"
relu_by_branch(x)

# %% [markdown]
# A rule runs on Proxies, and a Proxy has no value.
# **Right:** what depends on values is an operation: `torch.where`, `clamp`, a comparison times a finite number.
# A branch on a *constant* argument is fine.

# %% [markdown]
# ## Recap
#
# 1. A Proxy is a node and a tracer. Operations on it add nodes to the tracer's graph, used or not. One graph, one tracer.
# 2. While the graph is made, all of Python runs: loops, branches, `print`. Only operations on Proxies are left in the graph.
# 3. Retracing: walk over the old graph, copy what is not meant, and run a rule on Proxies of the *new* graph for what is.
#    A rule gets `args` and `kwargs` as they stand, nodes as Proxies, and may return a Proxy or a constant.
# 4. A rule must be right for infinities, NaN and large numbers, too. Walk through it with each of them.
# 5. What stands for an old node may be any value: a graph pasted behind an argument, or a slope beside a value.
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
# | tracers of your own | chapter 8 |
# | testing a pass so that you can trust it | chapter 9 |
# | tables of rules in PyTorch itself: `run_decompositions`, `make_fx` | chapter 11 |
#
# In PyTorch's documentation: *torch.fx*, section *Proxy/Retracing*, and the reference of
# `torch.fx.Proxy`, `torch.fx.Tracer` and `torch.fx.Graph.node_copy`.
# (`GraphAppendingTracer` lives in `torch.fx.proxy`, `map_arg` in `torch.fx.node`.)
