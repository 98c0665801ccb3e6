# %% [markdown]
# # 5 · Proxy and retracing
#
# **After this chapter you can write a change to a graph as ordinary Python, and let FX make the nodes.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, reading a graph, copying and inserting nodes; section 4.7 helps, but you can do without it |
# | **Time** | about 115 minutes with *Common mistakes*, 43 of them for the exercises; the minutes of a section include its exercises. The deep dive `05b_programs` has a notebook of its own |
#
# **When you are done, you can**
#
# 1. build a graph by running Python on Proxies, without tracing anything;
# 2. build a model from a configuration, modules and parameters included;
# 3. replace the calls of a function by what a rule records, whatever the arguments of the call are;
# 4. say which lines of a rule run while the graph is made, and which run with the model;
# 5. write rules that are right for tiny and for large numbers, for infinities and NaN;
# 6. say what a new graph loses, and rewrite in place where that matters.

# %%
import copy
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.node import map_aggregate, map_arg
from torch.fx.proxy import GraphAppendingTracer
from torchvision.models import googlenet

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(5)
print(torch.__version__)

# %% [markdown]
# ## A story
#
# You write the back end of a compiler for a new chip.
# The chip can do some forty operations: arithmetic, comparisons, `exp`, sums and little else.
# The models that other teams give you use hundreds of operations: `relu`, `silu`, `softmax`, `lerp`.
#
# You can write each of them with simple operations, in one line of Python.
# With the tools of chapter 3, each of these lines would become ten lines of `graph.call_function(...)`.
#
# You know something that makes nodes from Python: tracing.
# In chapter 1, `symbolic_trace` made the Proxies. In this chapter you make them yourself.

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the graph.** `new` is a ReLU that reads `node`. What does `node.replace_all_uses_with(new)` do to `new` itself?
#
# <details><summary>Nothing: <code>new</code> keeps its argument</summary>
#
# No. <code>new</code> is a user of <code>node</code>, like all the others.
# </details>
# <details><summary>It reads itself</summary>
#
# Right. That is the self-loop of chapter 3. Replace the uses first, or give <code>new</code> its argument back.
# </details>
# <details><summary>It is erased</summary>
#
# No. Nothing is erased until you call <code>erase_node</code>.
# </details>

# %% proof=true
looped = fx.Graph()
old_node = looped.placeholder("x")
relu_node = looped.call_function(torch.relu, (old_node,))
looped.output(old_node)
old_node.replace_all_uses_with(relu_node)
assert relu_node.args == (relu_node,)

# %% [markdown]
# **Predict the number.** The pattern is `torch.add(a, b)`, and the model says `a + b`. How many places does `replace_pattern` find?
#
# <details><summary>One, because both are sums</summary>
#
# No. The matcher compares targets, and knows no arithmetic.
# </details>
# <details><summary>None</summary>
#
# Right. <code>a + b</code> is recorded as <code>operator.add</code>: another target (rule 3 of chapter 4). This chapter reduces spellings to one.
# </details>
# <details><summary>Two: <code>a + b</code> and <code>b + a</code></summary>
#
# No. Order counts, too, but the targets differ already.
# </details>

# %% proof=true
summed = fx.symbolic_trace(lambda a, b: a + b)
assert not fx.replace_pattern(summed, lambda a, b: torch.add(a, b), lambda a, b: torch.mul(a, b))

# %% [markdown]
# ## 5.1 A graph from Proxies
#
# A **Proxy** represents a node. Each operation on a Proxy adds a node to a graph and returns a Proxy for that node.
# To which graph? A Proxy asks its **tracer**, and the tracer knows the graph.
# `GraphAppendingTracer(graph)` is the smallest tracer there is: it adds each node at the graph's **insertion point**.
# That is the end of the graph, unless you say otherwise with `graph.inserting_before(node)`.
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
# You ran one line of Python, and it left three nodes.

# %% proof=true
value = torch.randn(3)
torch.testing.assert_close(gm(value), torch.sigmoid(2 * value) - 1)
assert result.node.graph is graph and result.tracer is tracer
assert [n.op for n in graph.nodes] == ["placeholder", *["call_function"] * 3, "output"]

# %% [markdown]
# The insertion point works for Proxies as it works for `graph.call_function`:

# %%
with graph.inserting_before(x.node.next):  # directly after `x`
    torch.neg(x)
print([n.name for n in graph.nodes])

# %% proof=true
assert [n.name for n in graph.nodes][:3] == ["x", "neg", "mul"]

# %% [markdown]
# **Each operation leaves a node, whether you use its result or not.**
# FX cannot know that you will throw it away. (An attribute alone, such as `x.shape`, is not an operation yet.)

# %%
graph = fx.Graph()
tracer = GraphAppendingTracer(graph)
x = fx.Proxy(graph.placeholder("x"), tracer)
y = fx.Proxy(graph.placeholder("y"), tracer)
x.shape  # no node
both = torch.cat([x, y])
forgotten = both + 1  # no other node reads this
graph.output(torch.tanh(both).node)
gm = fx.GraphModule(nn.Module(), graph)
print(gm.code)

# %% proof=true
assert forgotten.node in graph.nodes and not forgotten.node.users
assert [n.name for n in graph.nodes] == ["x", "y", "cat", "add", "tanh", "output"]

# %% [markdown]
# Look at `x` and `y`: two Proxies, **one tracer**. In a call with two Proxies, their tracers must be the same object
# ("Common mistakes").
#
# **Predict the graph.** How many nodes does the line `torch.exp(x) + torch.exp(x)` add?
#
# <details><summary>Two</summary>
#
# One too few. <code>torch.exp(x)</code> runs twice, so it is recorded twice.
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

# %% proof=true
counted = fx.Graph()
proxy = fx.Proxy(counted.placeholder("x"), GraphAppendingTracer(counted))
torch.exp(proxy) + torch.exp(proxy)
assert len(counted.nodes) == 1 + 3
e = torch.exp(proxy)
e + e
assert len(counted.nodes) == 1 + 3 + 2

# %%
graph = fx.Graph()
x = fx.Proxy(graph.placeholder("x"), GraphAppendingTracer(graph))
first = x.shape[0]
half = x / 2
with graph.inserting_before(half.node):
    up = torch.exp(x)
    torch.neg(up)
graph.output((half * up).node)

# %% [markdown]
# **Drill 05.1a.** Which nodes of this graph could you erase at once, because no node reads them and nothing needs their values?
# Write the list of their names, in the order of the graph.

# %% drill=true
unread = [node.name for node in graph.nodes if not node.users and node.op != "output"]
drill("05.1a", unread)
# Mistake: One of these has no readers because it is the result of the graph.
# unread = [node.name for node in graph.nodes if not node.users]

# %% [markdown] card="build_with_proxies"
# **Given** nothing.
#
# **Return** a `GraphModule` whose `forward(x, y)` returns `torch.neg(torch.tanh(torch.cat([x, y])))`.
# Make it with `fx.Proxy` and `GraphAppendingTracer`. No node in it is unused.
#
# **Do not** trace anything. The check also reads the text of your answer, and looks for calls that trace.


# %%
# The graph that your function must build:
draw(fx.symbolic_trace(lambda x, y: torch.neg(torch.tanh(torch.cat([x, y])))))


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
# ## 5.2 A model from a configuration
#
# While the graph is made, you can use all of Python. So you can build a model from a list that you read from a file.
# Functions and operators are recorded by running them. For the other two kinds of node, ask the tracer:
#
# * `tracer.create_proxy("call_module", name, args, kwargs)` records the call of a module,
# * `tracer.create_proxy("get_attr", name, (), {})` reads a parameter or buffer.
#
# The modules and parameters themselves go into the root. It can be a dictionary.

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

# %% proof=true
rows = torch.randn(2, 4)
hidden = torch.tanh(gm.linear0(rows))
torch.testing.assert_close(gm(rows), (torch.relu(gm.linear2(hidden)) + hidden) * gm.scale5)
layers = [f"linear{i}.{part}" for i in (0, 2) for part in ("weight", "bias")]
assert {name for name, _ in gm.named_parameters()} == {"scale5", *layers}

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
#
# </details>
# <details><summary>In the module's <code>forward</code>, which runs <code>from_config</code></summary>
#
# No. <code>forward</code> is generated from the graph, and the graph knows nothing about your function.
#
# </details>

# %% proof=true
assert "for" not in gm.code.replace("forward", "") and "if" not in gm.code
longer = from_config(4, [*config, ("tanh",)])
assert len(longer.graph.nodes) == len(gm.graph.nodes) + 1  # one more round, one more node
# input, linear, activations, skip, scale (two nodes), output
assert len(gm.graph.nodes) == 1 + 2 + 2 + 1 + 2 + 1

# %% [markdown]
# **Drill 05.2a.** `from_config(4, wanted)` computes `relu(linear(p * x)) + p * x`. Here `p` is a parameter,
# and the linear layer has four outputs. Write `wanted`, a list of tuples such as `config`.

# %% drill=true
wanted = [("scale",), ("linear", 4), ("relu",), ("skip",)]
drill("05.2a", wanted)
# Mistake: In this model, the linear layer gets `x` itself.
# wanted = [("linear", 4), ("relu",), ("skip",), ("scale",)]

# %% proof=true
asked = from_config(4, [("scale",), ("linear", 4), ("relu",), ("skip",)])
scaled = asked.scale0 * rows
assert torch.allclose(asked(rows), torch.relu(asked.linear1(scaled)) + scaled)

# %% [markdown]
# ## 5.3 Retracing: a rule in place of a node
#
# Now the compiler's task. You have a graph, and some of its calls must become other operations.
# The idea is called **retracing**:
#
# * Walk over the old graph, from the first node to the last, and fill a **new** graph.
# * A node without a rule is **copied**.
# * A node with a rule is not copied. Run its rule, a Python function, on Proxies of the *new* graph.
#   Whatever the rule records is in the new graph in place of the node.
#
# Here is the rule that PyTorch's documentation of `torch.fx` shows for ReLU, in its section *Proxy/Retracing*.
# It prints its argument, so that you can see when it runs:


# %%
def my_relu(x):
    print("my_relu:", x)
    return (x > 0) * x


# %% [markdown]
# `graph.node_copy(node, f)` copies a node of another graph into `graph`: to its end, as long as you do not insert elsewhere.
# For every node `n` that `node` reads, it calls `f(n)`, and the copy reads `f(n)` instead.
# So the pass keeps a dictionary from each old node to the new one:


# %%
def decompose_relu(model: nn.Module) -> fx.GraphModule:
    """Replace every `torch.relu(x)` by what `my_relu` records."""
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


def example(x, y):
    return torch.relu(x + y) * 2


gm = decompose_relu(example)
print(gm.code)
draw.diff(example, gm, title="relu has become gt and mul")

# %% proof=true
x, y = torch.randn(2, 3), torch.randn(2, 3)
torch.testing.assert_close(gm(x, y), example(x, y))
assert torch.relu not in [n.target for n in gm.graph.nodes]
code = gm.code
gm.recompile()
assert gm.code == code  # it was up to date
root = {"linear0": nn.Linear(3, 3)}
linear_graph = from_config(3, [("linear", 3)]).graph
assert fx.GraphModule(root, linear_graph).linear0 is root["linear0"]

# %% [markdown]
# * The new graph needs no `recompile()`: `fx.GraphModule(gm, graph)` generates its code from the finished graph.
# * The placeholders and the output are copied, too. So the signature and the result keep their structure.
#   (There is one exception, in *Common mistakes*.)
# * `new[node]` is the old node's **value** in the new graph. The readers of the old node now read this value.
#
# **When does a rule run?** Look at what `my_relu` printed above.
#
# **Predict the output.** `gm` is called with two tensors. What does it print?
#
# <details><summary><code>my_relu:</code> and a tensor</summary>
#
# No. The rule is not in the graph. <code>gm</code> knows only <code>gt</code> and <code>mul</code>.
#
# </details>
# <details><summary>Nothing</summary>
#
# Right. The rule ran while the graph was made.
# It recorded the operations on Proxies. <code>print</code> is not such an operation: it ran at once, and showed a Proxy.
#
# </details>
# <details><summary><code>my_relu: Proxy(add)</code>, once more</summary>
#
# No. That was printed at transform time. There is no Proxy when the module runs.
#
# </details>

# %% proof=true
import contextlib
import io

said = io.StringIO()
with contextlib.redirect_stdout(said):
    once = decompose_relu(example)
assert said.getvalue() == "my_relu: Proxy(add)\n"  # at transform time
with contextlib.redirect_stdout(said):
    once(torch.ones(2), torch.ones(2))
assert said.getvalue() == "my_relu: Proxy(add)\n"  # and never again

# %% [markdown]
# The Python of a rule runs while the graph is made: a branch on a number or a string is decided then.
# Its operations on Proxies run with the model.
#
# ### Whatever the arguments are
#
# Calls have several arguments, keyword arguments, numbers, lists of nodes.
# You must call a rule with all of them, `args` *and* `kwargs`, **as they are in the node**, except that each node has become a Proxy.
#
# `map_arg(args, f)` from `torch.fx.node` does this. It puts `f(n)` in place of every node `n`,
# however deep it is nested, and changes nothing else:


# %%
def f(x, y):
    return torch.cat([x, y.exp()], dim=1), torch.lerp(x, end=y, weight=0.25)


for node in fx.symbolic_trace(f).graph.nodes:
    if node.op == "call_function":
        args = map_arg(node.args, lambda n: n.name.upper())
        kwargs = map_arg(node.kwargs, lambda n: n.name.upper())
        print(node.name, args, kwargs)

# %% proof=true
assert (args, kwargs) == (("X",), {"end": "Y", "weight": 0.25})

# %% [markdown]
# If the values in your dictionary are new nodes, `f` can make a Proxy of them:
# `map_arg(node.args, lambda n: fx.Proxy(new[n], tracer))`.


# %%
def g(x, y):
    return torch.stack([x, y.neg(), x], dim=1), torch.addcmul(x, y, y, value=0.5)


stack = fx.symbolic_trace(g).graph.find_nodes(op="call_function", target=torch.stack)[0]

# %% [markdown]
# **Drill 05.3a.** Write `counts`: the positional arguments of the node `stack`, with each node replaced by the number of nodes that read it.

# %% drill=true
counts = map_arg(stack.args, lambda n: len(n.users))
drill("05.3a", counts)
# Mistake: The structure is lost, and a rule could not be called with this.
# counts = [len(n.users) for n in stack.all_input_nodes]

# %% [markdown]
# ### Whatever the rule returns
#
# A rule does not have to return a Proxy. These three rules are all right:


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
print(without_noise(x, 0.1), number_of_channels(x))
graph.output(mean_rule(x, 1).node)
print(graph)

# %% proof=true
assert without_noise(x, 0.1) is x and number_of_channels(x) == 3
assert len(graph.nodes) == 1 + 4 + 1  # `sum`, `shape` and its item, the quotient

# %% [markdown]
# `3` has no `.node`. If a rule returns a constant, the readers of the old node must get that constant.
# `node_copy` accepts that, because a number may be an argument of a node.
#
# **Predict the graph.** `rules` has a rule for `torch.sub` which returns `torch.add(x, torch.neg(y))`,
# and one for `torch.add`. The model calls `torch.sub` once. What does one walk over the model's graph leave?
#
# <details><summary><code>torch.add</code> and <code>torch.neg</code></summary>
#
# Right. The walk visits the nodes of the <em>old</em> graph. What a rule records goes into the new graph
# and is not visited.
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

# %% [markdown]
# Here is a function, and rules for three of the functions that it calls:


# %%
def h(x, y):
    return torch.sub(torch.neg(x), torch.clone(y))


h_rules = {
    torch.sub: lambda x, y: torch.add(x, torch.neg(y)),
    torch.neg: lambda x: torch.mul(x, -1),
    torch.clone: lambda x: x,
}

# %% [markdown]
# **Drill 05.3b.** One walk over the graph of `h` applies `h_rules`. Which functions does the new graph call?
# Write the list of their names without `torch.`, in the order of the graph.

# %% drill=true
called = ["mul", "neg", "add"]
drill("05.3b", called)
# Mistake: The walk visits the nodes of the old graph, and no others.
# called = ["mul", "mul", "add"]

# %% [markdown] card="decompose"
# **Given** a model, and `rules`: a dictionary from functions to rules.
# A rule takes the same arguments as its function.
#
# **Return** a new `GraphModule` in which every `call_function` node whose target is in `rules`
# is replaced by what its rule records. Everything else is copied, read or not.
#
# * Rules may take several arguments, lists of nodes, keyword arguments, numbers and strings.
# * A rule may return a Proxy, one that it was given, or a Python constant. Readers then get that.
# * Rules are applied once, not to their own output.
#
# **Do not** change the model you were given.
#
# **Fine print**
#
# * What a rule returns may be the result of the model.
# * The names of nodes may change.
# %%
# What decompose(model, {torch.lerp: lambda start, end, weight: start + (end - start) * weight}) must do:
before = fx.symbolic_trace(lambda x, y: torch.lerp(x, y, weight=0.25).sin())
draw.diff(before, fx.symbolic_trace(lambda x, y: (x + (y - x) * 0.25).sin()))


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

# %% proof=true
assert [
    n.target.__name__ for n in decompose(h, h_rules).graph.nodes if n.op == "call_function"
] == ["mul", "neg", "add"]

# %% [markdown]
# ### What the new graph loses, and a way that loses less
#
# What happens to the notes in `node.meta` if you fill a new graph?
# (The two contexts of `fx.traceback` tell FX which old node the recorded nodes come from.)

# %%
noted = fx.symbolic_trace(example)
for node in noted.graph.nodes:
    node.meta["mine"] = f"a note on {node.name}"
    node.meta["stack_trace"] = f"the line of {node.name}"

graph = fx.Graph()
tracer = GraphAppendingTracer(graph)
new = {}
for node in noted.graph.nodes:
    if node.target is torch.relu:
        with fx.traceback.preserve_node_meta(), fx.traceback.set_current_meta(node, "my pass"):
            new[node] = my_relu(fx.Proxy(new[node.args[0]], tracer)).node
    else:
        new[node] = graph.node_copy(node, new.__getitem__)
print({node.name: node.meta.get("mine") for node in graph.nodes})

# %% proof=true
by_name = {node.name: node for node in graph.nodes}
assert by_name["add"].meta["mine"] == "a note on add"  # copied nodes keep theirs
assert "mine" not in by_name["gt"].meta  # recorded nodes have none
assert by_name["gt"].meta["stack_trace"] == "the line of relu"
assert "from_node" in by_name["gt"].meta
# a trace: all gone
assert not any("mine" in node.meta for node in fx.symbolic_trace(noted).graph.nodes)

# %% [markdown]
# Copied nodes keep their notes. A recorded node has none of your keys.
# Thanks to the two contexts, it has the old node's `stack_trace`, which holds the source line,
# and `from_node`, the node that it comes from. (Neither context is promised to stay as it is.)
#
# A second way makes no new graph at all. Copy the graph, set the insertion point, and let the rule record **there**:


# %%
def relu_in_the_middle(gm: fx.GraphModule) -> fx.GraphModule:
    """What `my_relu` records in place of `torch.relu(x)`; all other nodes keep name and notes."""
    graph = copy.deepcopy(gm.graph)  # on the same weights
    tracer = GraphAppendingTracer(graph)
    for node in list(graph.nodes):
        if node.target is torch.relu:
            with graph.inserting_before(node):
                result = my_relu(fx.Proxy(node.args[0], tracer)).node
            result.meta.update(node.meta)
            node.replace_all_uses_with(result)
            graph.erase_node(node)
    return fx.GraphModule(gm, graph)


gm = relu_in_the_middle(noted)
print({node.name: node.meta.get("mine") for node in gm.graph.nodes})

# %% proof=true
left, right = torch.randn(2, 3), torch.randn(2, 3)
torch.testing.assert_close(gm(left, right), example(left, right))
noted_now = {node.name: node.meta.get("mine") for node in gm.graph.nodes}
assert noted_now["add"] == "a note on add" and noted_now["mul"] == "a note on mul"
assert noted_now["mul_1"] == "a note on relu"
# the given graph is as it was
assert any(node.target is torch.relu for node in noted.graph.nodes)

# %% [markdown]
# | | a new trace | a new graph, filled by `node_copy` | a copy, edited in place |
# |---|---|---|---|
# | notes of untouched nodes | lost | kept | kept |
# | notes of recorded nodes | lost | none, unless you copy them | none, unless you copy them |
# | leaf modules of your own | opened (section 4.7) | kept | kept |
#
# A new graph needs no insertion point and no erasing, so it is easier to get right. Editing in place loses less.
# (In both, a copied note is the *same object*: do not change it in place.)

# %% [markdown]
# ## 5.4 Rules that are right for every number
#
# Is `(x > 0) * x` the same as ReLU? Try the infinities and NaN as well:

# %%
numbers = torch.tensor([2.0, -1.0, -math.inf, math.inf, math.nan])
print("relu:      ", torch.relu(numbers))
print("(x > 0) * x", (numbers > 0) * numbers)

# %% proof=true
assert torch.relu(numbers)[2] == 0
assert ((numbers > 0) * numbers)[2].isnan()  # 0 * -inf

# %% [markdown]
# `-inf` has become NaN. Attention masks are full of `-inf`, so this is not rare.
#
# A formula that is right on paper for all real numbers can go wrong in five ways in floating point:
#
# | trap | example | what happens |
# |---|---|---|
# | indeterminate forms | `0 * inf`, `inf - inf`, `inf / inf` | NaN where the true result is a number |
# | overflow on the way | `exp(1000)`, `3e38 + 3e38` in float32 | `inf`, and then one of the forms above |
# | cancellation | `exp(x) - 1` for a tiny `x` | two numbers are nearly equal, and the digits that differ are lost |
# | comparisons with NaN | `nan > 0`, `nan <= 0`, `nan == nan` | all false: a NaN takes the branch "otherwise" |
# | dtypes | `x.float()`, `x * torch.tensor(0.1)` | float64 loses its digits |

# %% proof=true
inf, nan, tiny = torch.tensor(math.inf), torch.tensor(math.nan), torch.tensor(1e-8)
assert all(bad.isnan() for bad in (0 * inf, inf - inf, inf / inf))
assert torch.exp(torch.tensor(1000.0)) == inf and torch.tensor(3e38) + 3e38 == inf
# expm1 is exp(x) - 1, with all digits
assert torch.exp(tiny) - 1 == 0 and torch.expm1(tiny) == tiny
assert not (nan > 0) and not (nan <= 0) and not (nan == nan)
digits = torch.tensor(0.1, dtype=torch.float64)
assert digits.float().double() != digits and digits * torch.tensor(0.1) != digits * 0.1
minus = torch.tensor(-0.0)
assert minus == 0 and 1 / minus == -inf

# %% [markdown]
# **It is also a bug if a NaN gets lost.** The original would have told you that something is broken:

# %%
print(torch.where(numbers > 0, numbers, 0.0))

# %% proof=true
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

# %% proof=true
torch.testing.assert_close(textbook_tanh(numbers[:2]), torch.tanh(numbers[:2]))
assert textbook_tanh(numbers)[2:].isnan().all()  # inf / inf, at 1000 already

# %% [markdown]
# A first way out: rearrange the formula so that a large exponential appears only in the *denominator*:
#
# `tanh(x)  =  (exp(2x) - 1) / (exp(2x) + 1)  =  1 - 2 / (exp(2x) + 1)`


# %%
def better_tanh(x):
    return 1 - 2 / (torch.exp(2 * x) + 1)


print(better_tanh(numbers))
torch.testing.assert_close(better_tanh(numbers), torch.tanh(numbers), equal_nan=True)

# %% [markdown]
# The infinities are right now. With `x = inf`: `exp` is `inf`, `2 / inf` is 0, and the result is 1.
# The check passes.
#
# **Predict the result.** What does `better_tanh` give for `x = 1e-8`, in float32? (`tanh(x)` is nearly `x` there.)
#
# <details><summary><code>1e-8</code></summary>
#
# That is the true value. But <code>exp(2e-8) + 1</code> is rounded to 2 on the way.
#
# </details>
# <details><summary><code>0</code></summary>
#
# Right. It computes <code>1 - 2 / 2</code>: this is cancellation.
# The check did not see it: it tried no such number, and <code>assert_close</code> allows an absolute error of 1e-5 in float32.
#
# </details>
# <details><summary>NaN</summary>
#
# No. Nothing overflows here, and nothing is infinite.
#
# </details>

# %% proof=true
tiny = torch.tensor(1e-8)
assert better_tanh(tiny) == 0 and torch.tanh(tiny) == tiny
torch.testing.assert_close(better_tanh(tiny), torch.tanh(tiny))  # no complaint

# %% [markdown]
# So **compare relatively**, with `atol=0`, and let random numbers of all sizes look for the worst place:


# %%
def worst(rule: Callable, truth: Callable, dtype: torch.dtype = torch.float32) -> float:
    """The largest relative error of a rule, for 100,000 numbers between 1e-12 and 1000."""
    sizes = 10 ** (15 * torch.rand(100_000, dtype=torch.float64) - 12)
    x = (sizes * torch.randn(100_000).sign()).to(dtype)
    right = truth(x)
    errors = ((rule(x) - right) / right).abs()
    return errors.nan_to_num(nan=math.inf).max().item()  # a NaN is the worst of all


for rule in (textbook_tanh, better_tanh):
    print(f"{rule.__name__:14} {worst(rule, torch.tanh):.1e}")

# %% proof=true
assert worst(textbook_tanh, torch.tanh) == math.inf
assert worst(better_tanh, torch.tanh) >= 1  # 100 percent

# %% [markdown]
# The second way out uses `expm1`, which computes `exp(x) - 1` and keeps the digits of a tiny result. With `t = expm1(2x)`:
#
# `tanh(x)  =  t / (t + 2)`
#
# For large `x` that would be `inf / inf`. But beyond 20, `tanh` is 1 in float64, to the last digit. So clamp `x` to ±20.
# (`clamp` keeps a NaN.)


# %%
def tanh_rule(x):
    t = torch.expm1(2 * x.clamp(-20, 20))
    return t / (t + 2)


for dtype in (torch.float32, torch.float64):
    print(f"{dtype}: {worst(tanh_rule, torch.tanh, dtype):.1e}")

# %% proof=true
for kind in (torch.float32, torch.float64):
    assert worst(tanh_rule, torch.tanh, kind) < 4 * torch.finfo(kind).eps  # a few roundings
    all_kinds = torch.tensor([0.0, -0.0, 1e-30, *numbers.tolist()], dtype=kind)
    torch.testing.assert_close(
        tanh_rule(all_kinds), torch.tanh(all_kinds), rtol=1e-6, atol=0, equal_nan=True
    )
assert 1 / tanh_rule(torch.tensor(-0.0)) == -math.inf  # even the sign of zero

# %% [markdown]
# Test each rule twice: by hand on special values, and with random numbers of all sizes.

# %%
points = torch.tensor([-2.0, 0.5, 1000.0, -1000.0, math.inf, -math.inf, math.nan])
print(torch.log1p(torch.exp(points)))

# %% [markdown]
# **Drill 05.4a.** The soft plus of `x` is `log(1 + exp(x))`. For `x > 0` it can also be written `x + log(1 + exp(-x))`.
# Write `soft`: the list of its values at `points` (use `.tolist()`), by one formula of `exp`, `log1p`, `clamp` and `abs`, or with `where`.

# %% drill=true
soft = (points.clamp(min=0) + torch.log1p(torch.exp(-points.abs()))).tolist()
drill("05.4a", soft)
# Mistake: With this formula, `exp` overflows at 1000.
# soft = torch.log1p(torch.exp(points)).tolist()

# %% proof=true
softer = points.clamp(min=0) + torch.log1p(torch.exp(-points.abs()))
torch.testing.assert_close(softer, F.softplus(points), rtol=1e-6, atol=0, equal_nan=True)
assert torch.log1p(torch.exp(points))[2] == math.inf

# %% [markdown]
# The second example is a function with `dim`: the logarithm of a sum of exponentials. Subtract the largest entry first, and no exponent is above 0:


# %%
def textbook_logsumexp(x, dim):
    return torch.log(torch.exp(x).sum(dim))


def better_logsumexp(x, dim):
    # keepdim: one number for each slice, in a shape that broadcasts
    top = x.amax(dim, keepdim=True)
    return (x - top).exp().sum(dim).log() + top.squeeze(dim)


scores = torch.tensor([[1000.0, 999.0], [0.5, -2.0], [-1000.0, -1000.0]])
print(textbook_logsumexp(scores, 1), better_logsumexp(scores, 1))

# %% proof=true
assert not textbook_logsumexp(scores, 1).isfinite().all()
torch.testing.assert_close(
    better_logsumexp(scores, 1), torch.logsumexp(scores, 1), atol=0, rtol=1e-6
)

# %% [markdown]
# A row of a mask may be `-inf` everywhere. Then `top` is `-inf`, and the rule computes `-inf - -inf`, which is NaN.
# The same happens to a row with `+inf` in it.
# The way out: subtract 0 where the largest entry is infinite, `torch.where(top.abs() == math.inf, 0.0, top)`.


# %% proof=true
def logsumexp_rule(x, dim):
    top = x.amax(dim, keepdim=True)
    top = torch.where(top.abs() == math.inf, 0.0, top)  # a NaN stays
    return (x - top).exp().sum(dim).log() + top.squeeze(dim)


infinite = [[-math.inf, -math.inf], [math.inf, 1.0], [math.inf, -math.inf], [-math.inf, 3.0]]
masked = torch.tensor([*infinite, [math.nan, 1.0]])
assert better_logsumexp(masked, 1)[:3].isnan().all()  # -inf, inf and inf would be right
for some in (scores, masked, masked.double()):
    torch.testing.assert_close(
        logsumexp_rule(some, 1), torch.logsumexp(some, 1), rtol=1e-6, atol=0, equal_nan=True
    )

# %% [markdown]
# **Predict the result.** A rule takes `x.amax()`, the largest entry of *all*, for `top`. Which of the three rows of `scores` is wrong?
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

# %% proof=true
one_top = (scores - scores.amax()).exp().sum(1).log() + scores.amax()
assert one_top.isfinite().tolist() == [True, False, False]

# %% [markdown] card="decomposition_rules"
# **Return** a dictionary of rules for `decompose`, with the keys `torch.relu`, `F.silu` and `torch.softmax`.
# A rule is called with the arguments under which FX records the call:
# `F.silu` always gets `inplace`, here `False`, and `torch.softmax` gets `dim`.
# `F.silu(x)` is `x * sigmoid(x)`. Softmax along a dimension is `exp(x)` divided by its sum along that dimension.
#
# * In float32 and in float64, the result equals the original wherever the original is finite, for large values, too.
#   Where the original is NaN, it is NaN.
# * A rule uses elementary operations. It uses neither the function itself nor a sibling that does the work.
#
# **Fine print**
#
# * Elementary operations are arithmetic, comparisons, `exp`, `clamp`, `where`, `sum`, `amax`, `sigmoid` and the like.
#   Siblings are `F.relu6`, `threshold`, `log_softmax`.


# %%
def all_three(x):
    return torch.relu(x), F.silu(x), torch.softmax(x, dim=-1)


for node in list(fx.symbolic_trace(all_three).graph.nodes)[1:4]:
    print(node.name, node.args, node.kwargs)  # what a rule will be called with


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
# ### Two models for the chip
#
# GoogLeNet is the other team's model. Its ReLUs are calls of `F.relu` with `inplace=True`.
# The second model is an attention layer that may only look back. Its mask is `-inf`.


# %%
class Attention(nn.Module):
    """Attention to earlier places, and a gated layer."""

    def __init__(self, width: int = 16, places: int = 5):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.register_buffer("later", torch.ones(places, places).triu(1).bool())

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = (q @ k.transpose(-2, -1)).masked_fill(self.later, -math.inf)
        return self.down(F.silu(self.up(torch.softmax(scores, dim=-1) @ v)))


def functions_of(gm: nn.Module) -> Counter:
    """How often a graph calls which function."""
    nodes = fx.symbolic_trace(gm).graph.nodes
    return Counter(n.target.__name__ for n in nodes if n.op == "call_function")


def textbook_softmax(x, dim):
    return torch.exp(x) / torch.exp(x).sum(dim, keepdim=True)


net = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10))
image = images(1)
attention = Attention().eval()
tokens = 40 * torch.randn(2, 5, 16)  # large, so that the scores are large, too

# %% uses="decomposition_rules"
rules = decomposition_rules()
relu = rules[torch.relu]
chip_net = decompose(net, {F.relu: lambda x, inplace=False: relu(x)})
chip_attention = decompose(attention, rules)
wrong = decompose(attention, rules | {torch.softmax: textbook_softmax})
assert_same_results(chip_net, net, image)
assert_same_results(chip_attention, attention, tokens)
with torch.no_grad():
    print("with the textbook's softmax:", int(wrong(tokens).isnan().sum()), "values are NaN")
    print("with yours:", int(chip_attention(tokens).isnan().sum()))
print("GoogLeNet:", dict(functions_of(net)), "->", dict(functions_of(chip_net)))
print("attention:", dict(functions_of(attention)), "->", dict(functions_of(chip_attention)))

# %% proof=true
assert wrong(tokens).isnan().any() and not chip_attention(tokens).isnan().any()
assert "relu" not in functions_of(chip_net)
assert set(functions_of(net)) == {"relu", "cat", "flatten"}

# %% [markdown]
# What is left of GoogLeNet's functions is `cat` and `flatten`, which only move numbers.
#
# The ReLUs of GoogLeNet wrote in place, and your rule does not. That is right here, because no other node reads the value
# before the ReLU.

# %% [markdown]
# ## Common mistakes
#
# PyTorch's own documentation once had the first one ([issue 78705](https://github.com/pytorch/pytorch/issues/78705), fixed since).
# The second one is [issue 68195](https://github.com/pytorch/pytorch/issues/68195).
#
# ### The tracer of the old graph
#
# One word is wrong here: `GraphAppendingTracer(gm.graph)`.
# What the rule records goes to the end of the *old* graph, after its output, while you walk over it.


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


broken = decompose_into_the_old_graph(example)
print(broken.code)
with fails(RuntimeError):
    broken.graph.lint()
with fails(UnboundLocalError):
    broken(torch.ones(2), torch.ones(2))

# %% proof=true
read = next(node for node in broken.graph.nodes if node.name == "mul").args[0]
assert read.graph is not broken.graph  # a node of another graph

# %% [markdown]
# The loop copied the nodes after the old output, too: that is the code after `return`.
# **Right:** the tracer of the graph that you fill, `GraphAppendingTracer(graph)`.
#
# ### A tracer for each Proxy
#
# `fx.Proxy(node)` without a tracer makes a new tracer each time. With *one* Proxy, you do not notice:

# %%
graph = fx.Graph()
x, y = fx.Proxy(graph.placeholder("x")), fx.Proxy(graph.placeholder("y"))
torch.relu(x)  # works
x + y  # works: an operator asks its left operand only
with fails(RuntimeError):
    torch.add(x, y)

# %% proof=true
assert x.tracer is not y.tracer

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
with fails(NameError):
    broken(torch.ones(2))

# %% [markdown]
# The methods of `Graph` take nodes. Functions and operators take Proxies.
# **Right:** `graph.output((x + 1).node)`. For nested results: `map_aggregate` from `torch.fx.node`, or one `.node` for each.

# %% proof=true
nesting = fx.Graph()
proxy = fx.Proxy(nesting.placeholder("x"), GraphAppendingTracer(nesting))
nested = [proxy + 1, {"twice": proxy * 2}]
nesting.output(map_aggregate(nested, lambda v: v.node if isinstance(v, fx.Proxy) else v))
one, rest = fx.GraphModule(nn.Module(), nesting)(torch.ones(2))
assert torch.equal(one, rest["twice"])

# %% [markdown]
# ### A rule that makes a tensor

# %%
graph = fx.Graph()
x = fx.Proxy(graph.placeholder("x"), GraphAppendingTracer(graph))
graph.output(torch.maximum(x, torch.tensor(0.0)).node)
broken = fx.GraphModule(nn.Module(), graph)
broken.graph.lint()
print(broken.code)
with fails(NameError):
    broken(torch.ones(2))

# %% [markdown]
# `symbolic_trace` would have registered the tensor as a buffer. A `GraphAppendingTracer` has no module to put it into,
# so it becomes an argument that cannot be written as code. The same happens to the weights of a module that you call on such a Proxy.

# %% proof=true
with_module = fx.Graph()
proxy = fx.Proxy(with_module.placeholder("x"), GraphAppendingTracer(with_module))
with_module.output(nn.Linear(2, 2)(proxy).node)
no_code = fx.GraphModule(nn.Module(), with_module).code
assert "torch.Tensor(size=[2, 2], dtype=float32)" in no_code

# %% [markdown]
# **Right:** a Python number, an operation on the Proxy such as `torch.zeros_like(x)`, or, for a module,
# `tracer.create_proxy("call_module", …)` as in section 5.2.
#
# ### ReLU as a product, or with `where`
#
# Section 5.4 showed what is wrong: a product makes NaN of `-inf`, and `where(x > 0, x, 0)` loses a NaN.

# %% proof=true
special = torch.tensor([2.0, -1.0, -math.inf, math.inf, math.nan])
assert ((special > 0) * special).isnan().tolist() == [False, False, True, False, True]
assert not torch.where(special > 0, special, 0.0).isnan().any()
clamped = special.clamp(min=0)
torch.testing.assert_close(clamped, torch.relu(special), rtol=0, atol=0, equal_nan=True)
zero = torch.zeros(1, requires_grad=True)
for rule, slope in (
    (torch.relu, 0),
    (lambda x: x.clamp(min=0), 0),
    (lambda x: torch.maximum(x, torch.zeros_like(x)), 0.5),
):
    assert torch.autograd.grad(rule(zero), zero)[0] == slope

# %% [markdown]
# **Right:** `x.clamp(min=0)`. It needs no product, and it keeps a NaN.
# It also has ReLU's gradient at 0. `torch.maximum(x, torch.zeros_like(x))` does not.
#
# ### A graph whose `forward` takes a dictionary
#
# If you trace with `concrete_args` for the items of a dictionary, the graph has one placeholder for each **item**, and its
# *code generator* packs and unpacks them. A new graph has the standard code generator:


# %%
class TakesDict(nn.Module):
    def forward(self, pair):
        return pair["a"] + pair["b"].relu()


taker = TakesDict()
old = fx.Tracer().trace(taker, concrete_args={"pair": {"a": fx.PH, "b": fx.PH}})
pair = {"a": torch.ones(2), "b": -torch.ones(2)}
print(fx.GraphModule(taker, old)(pair))

graph, new = fx.Graph(), {}
for node in old.nodes:
    new[node] = graph.node_copy(node, new.__getitem__)
broken = fx.GraphModule(taker, graph)
with fails(TypeError):
    broken(pair)

# %% [markdown]
# **Right:** edit a copy of the graph in place (its code generator is copied with it), or hand the generator on:
# `graph.set_codegen(old._codegen)`. (That is not promised to stay as it is.)

# %% proof=true
assert torch.equal(fx.GraphModule(taker, old)(pair), torch.ones(2))
assert torch.equal(fx.GraphModule(taker, copy.deepcopy(old))(pair), torch.ones(2))
graph.set_codegen(old._codegen)
assert torch.equal(fx.GraphModule(taker, graph)(pair), torch.ones(2))

# %% [markdown]
# ### A rule asks for a value


# %%
def relu_by_branch(x):
    return x if x.sum() > 0 else 0 * x


graph = fx.Graph()
x = fx.Proxy(graph.placeholder("x"), GraphAppendingTracer(graph))
with fails(fx.proxy.TraceError):
    relu_by_branch(x)

# %% [markdown]
# A rule runs on Proxies, and a Proxy has no value.
# **Right:** express anything that depends on values as an operation: `torch.where`, `clamp`.

# %% [markdown]
# ## Recap
#
# 1. A Proxy is a node and a tracer. Operations on it add nodes to the tracer's graph, used or not. One graph, one tracer.
# 2. While the graph is made, all of Python runs: loops, branches, `print`. Only operations on Proxies are left in the graph.
# 3. Retracing: walk over the old graph, copy the nodes without a rule, and run the rules on Proxies of the *new* graph.
#    A rule gets `args` and `kwargs` as they are in the node, nodes as Proxies, and may return a Proxy or a constant.
# 4. A rule must be right for tiny and large numbers, infinities and NaN. Test it by hand on each, and with random numbers.
# 5. In a new graph, copied nodes keep their notes, and recorded nodes have none of your own. A copy that is edited in place loses less.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `tracer = GraphAppendingTracer(graph)` | records at the insertion point of `graph` |
# | `fx.Proxy(node, tracer)`, `proxy.node` | from a node to a Proxy, and back |
# | `tracer.create_proxy("call_module", name, args, kwargs)` | records a node of any opcode |
# | `graph.node_copy(node, f)` | a copy of a node of another graph; `f` says what it reads |
# | `map_arg(args, f)` | puts `f(n)` in place of each node, however deep |
# | `graph.inserting_before(node)` | sets the insertion point, for Proxies too |
# | `fx.GraphModule(root, graph)` | a module; what the graph names is taken from `root` |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | pasting one graph into another, and derivatives as graphs | the deep dive `05b_programs`; no later chapter needs it |
# | retracing as a class: `fx.Transformer` runs a graph on Proxies | chapter 6 |
# | Proxies of a class of your own: `Tracer.proxy` | the deep dive `08b_shapes` |
# | testing a pass so that you can trust it | chapter 9 |
# | tables of rules in PyTorch itself: `run_decompositions`, `make_fx` | chapter 11 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), section *Proxy/Retracing*, and the
# reference of `torch.fx.Proxy` and `torch.fx.Graph.node_copy` on the same page.
