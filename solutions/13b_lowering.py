# %% [markdown]
# # 13b · Partition and lower
#
# **After this part you can divide a graph between a device and the main processor, in as few pieces as possible.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, the six kinds of node, `users`; chapter 11 for fake tensors and backends |
# | **Time** | about 120 minutes with *Common mistakes*, 75 of them for the exercises; the minutes of a section include its exercise |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. describe a backend with a function of a node;
# 2. find a set of calls that waits for itself, and show the path;
# 3. say why two sets can wait for each other although each of them is convex;
# 4. divide the supported calls into as few sets as possible;
# 5. make a module of a set: its inputs, its results, and the parameters that it reads;
# 6. replace each set by one compiled call, in an order that works;
# 7. say what PyTorch's own tools do with your sets, and what they leave to you.

# %% [markdown]
# ## A story
#
# The team of chapter 13 has a small accelerator. It runs most of GoogLeNet very fast, but it does not support every operation.
# The other operations run on the main processor, as before.
#
# Each time the work goes from one to the other, values are copied, and the accelerator waits. So the team wants few pieces, and large ones.
# The accelerator runs a piece as a whole. A piece begins when all of its inputs are ready, and its results are ready when all of it is done.
#
# Dividing the graph is called **partitioning**. Replacing a piece by one compiled call is called **lowering**.
# At the end of this part the team knows how few pieces its network needs, and the network runs in these pieces.

# %%
import copy
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import create_op_support
from torch.fx.passes.split_module import split_module
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions
from torchvision.models import googlenet

from autograder import check, draw, fails, hint, progress
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(13)
print(torch.__version__)

# %% [markdown]
# ## A question on earlier chapters
#
# **Predict the result.** `torch.add(input=a, other=b)` is traced, and `a` and `b` are nodes. What is in `node.args`, and what in `node.all_input_nodes`?
#
# <details><summary>Both nodes are in both</summary>
#
# No. The call has no positional arguments, and FX records a call as it is written.
# </details>
# <details><summary>Nothing is in <code>args</code>, and both nodes are in <code>all_input_nodes</code></summary>
#
# Right. Keywords are in <code>kwargs</code>. A node may read values in both, in lists and dictionaries, too. <code>all_input_nodes</code> has them all.
# </details>
# <details><summary>Nothing is in either of them</summary>
#
# No. <code>all_input_nodes</code> looks into keywords, too.
# </details>

# %% proof=true
a, b, added, _ = fx.symbolic_trace(lambda a, b: torch.add(input=a, other=b)).graph.nodes
assert added.args == () and set(added.kwargs) == {"input", "other"}
assert added.all_input_nodes == [a, b]

# %% [markdown]
# ## 13b.1 What a backend supports
#
# A **backend** compiles and runs a piece. It supports some operations and not others.
# The simplest way to say so is a function that takes a node and answers yes or no:


# %%
def supported(node: fx.Node) -> bool:
    """A backend that supports two operations."""
    return node.target in (torch.relu, torch.maximum)


class Around(nn.Module):
    def forward(self, x):
        a = torch.relu(x)
        b = torch.sin(a)
        return torch.relu(b)


around = fx.symbolic_trace(Around())
yes = [node.name for node in around.graph.nodes if supported(node)]
print(yes)
draw(around)

# %% proof=true
assert yes == ["relu", "relu_1"]

# %% [markdown]
# The answer may depend on anything that is known about a node: its target, its arguments, its name, or the shape in its `meta` (chapter 11).
#
# The question makes sense for calls only, because a backend does not compute inputs, parameters or the output.
# Do not rely on the answer for other nodes. This backend supports everything except `torch.sin`, and says yes to all of them:


# %%
def all_but_sin(node: fx.Node) -> bool:
    return node.target is not torch.sin


print([n.op for n in around.graph.nodes if all_but_sin(n)])

# %% proof=true
assert [n.op for n in around.graph.nodes if all_but_sin(n)] == [
    "placeholder",
    "call_function",
    "call_function",
    "output",
]

# %% [markdown]
# ## 13b.2 A set that waits for itself
#
# The backend supports `relu` and `relu_1`. Can both be one piece?
#
# PyTorch's function `fuse_by_partitions` replaces each set of nodes by one call. It takes a graph module, which it changes, and a dictionary of nodes for each set.
# A small function around it takes names, and edits a copy:


# %%
def fused(gm: fx.GraphModule, *sets: set[str]) -> fx.GraphModule:
    """A copy in which each set of nodes is one call."""
    new = copy.deepcopy(gm)
    groups = [{n: None for n in new.graph.nodes if n.name in names} for names in sets]
    return fuse_by_partitions(new, groups)


apart = fused(around, {"relu"}, {"relu_1"})
print(apart.code)
with fails(AssertionError):
    fused(around, {"relu", "relu_1"})

# %% proof=true
x = torch.randn(5)
assert torch.equal(apart(x), around(x))
calls = [n.target for n in apart.graph.nodes if n.op.startswith("call_")]
assert calls == ["fused_0", torch.sin, "fused_1"]

# %% [markdown]
# Two sets work. One set does not: "found dependency cycles". The piece needs the value of `sin` before it can begin.
# But `sin` needs a value of the piece, which is ready when the piece is done. So the piece waits for itself.
#
# In the picture above, make one box of the two calls. There is an arrow from the box to `sin`, and one from `sin` to the box: a **cycle**.
# A graph with a cycle has no order in which it could run.
#
# In general: a set waits for itself if a path leaves it and returns to it. A set without such a path is called **convex**.


# %%
def reaches(start: fx.Node, goal: fx.Node) -> bool:
    """Whether a path leads from one node to the other."""
    seen, todo = set(), [start]
    while todo:
        node = todo.pop()
        if node is goal:
            return True
        if node not in seen:
            seen.add(node)
            todo += node.users
    return False


def is_convex(gm: fx.GraphModule, names: set[str]) -> bool:
    """Whether no path leaves the set and returns to it."""
    inside = [n for n in gm.graph.nodes if n.name in names]
    outside = [n for n in gm.graph.nodes if n.name not in names]
    return not any(
        reaches(a, between) and reaches(between, b)
        for a in inside
        for b in inside
        for between in outside
    )


for names in ({"relu"}, {"relu", "sin"}, {"relu", "relu_1"}):
    print(names, is_convex(around, names))

# %% proof=true
assert is_convex(around, {"relu"}) and is_convex(around, {"relu", "sin"})
assert not is_convex(around, {"relu", "relu_1"})

# %% [markdown]
# In the next model `maximum` reads `relu` directly. It also reads `sin`, which reads `relu`:


# %%
class Past(nn.Module):
    def forward(self, x):
        a = torch.relu(x)
        b = torch.sin(a)
        return torch.maximum(a, b)


past = fx.symbolic_trace(Past())
draw(past)

# %% [markdown]
# **Predict the result.** May `relu` and `maximum` be one piece?
#
# <details><summary>Yes: they are neighbors, and nothing is between them</summary>
#
# There is an arrow from one to the other. But there is a second path, and `sin` is on it.
# </details>
# <details><summary>No: a path from <code>relu</code> to <code>maximum</code> leads through <code>sin</code></summary>
#
# Right. One path that leaves the set and returns is enough, whatever other paths there are.
# </details>
# <details><summary>Yes, if <code>relu</code> comes first in the piece</summary>
#
# No. The order inside of a piece does not help. The results of a piece are ready when it is done, and not before.
# </details>

# %% proof=true
assert past.graph.find_nodes(op="call_function", target=torch.maximum)[0].args[0].name == "relu"
assert not is_convex(past, {"relu", "maximum"})
with fails(AssertionError):
    fused(past, {"relu", "maximum"})

# %% [markdown]
# ### Each set works alone, but not both together
#
# Is it enough if each set is convex? Here are two pairs of neighbors:


# %%
class Entangled(nn.Module):
    def forward(self, x, y):
        a, b = torch.relu(x), torch.relu(y)
        c = torch.maximum(a, torch.cos(b))
        d = torch.maximum(b, torch.sin(a))
        return c - d


entangled = fx.symbolic_trace(Entangled())
left, right = {"relu", "maximum"}, {"relu_1", "maximum_1"}
print(is_convex(entangled, left), is_convex(entangled, right))
draw(entangled)

# %% proof=true
assert is_convex(entangled, left) and is_convex(entangled, right)
x, y = torch.randn(5), torch.randn(5)
assert torch.equal(fused(entangled, left)(x, y), entangled(x, y))
assert torch.equal(fused(entangled, right)(x, y), entangled(x, y))

# %% [markdown]
# `left` works, and `right` works.
#
# **Predict the result.** What about both at once?
#
# <details><summary>Both work: the sets have no node in common</summary>
#
# That is necessary, but not enough.
# </details>
# <details><summary>They wait for each other</summary>
#
# Right. `left` reads `cos`, which needs a value of `right`. And `right` reads `sin`, which needs a value of `left`. Each of them is convex, and neither can begin.
# </details>
# <details><summary>It depends on which of the two is compiled first</summary>
#
# No. The first one waits for the other.
# </details>

# %% proof=true
with fails(AssertionError):
    fused(entangled, left, right)

# %% [markdown]
# So you cannot judge a set alone. Look at the graph in which **all** sets are one node each: it must not have a cycle.
#
# Two other sets are possible here. The nodes in them are not connected, and that is allowed: a piece may compute two independent values.

# %%
print(fused(entangled, {"relu", "relu_1"}, {"maximum", "maximum_1"}).code)

# %% proof=true
x, y = torch.randn(5), torch.randn(5)
assert torch.equal(
    fused(entangled, {"relu", "relu_1"}, {"maximum", "maximum_1"})(x, y), entangled(x, y)
)

# %% [markdown]
# ## 13b.3 How few?
#
# One set for each call always works, because the graph itself has no cycle. It is also the most expensive way. How few can it be?
#
# You could begin like this, and then join any two sets as long as this makes no cycle. See where that can lead:


# %%
class TooEarly(nn.Module):
    def forward(self, x, y):
        e = torch.relu(x)
        a = torch.relu(y)
        b = torch.maximum(a, torch.sin(e))
        f = torch.relu(torch.cos(a))
        return b, f


early = fx.symbolic_trace(TooEarly())
draw(early)


# %%
def works(gm: fx.GraphModule, *sets: set[str]) -> bool:
    """Whether there is no cycle when each set is one call."""
    try:
        fused(gm, *sets)
    except AssertionError:
        return False
    return True


joined = {"relu_1", "maximum"}  # neighbors, so why not?
print("joined:", works(early, joined))
print("with relu:", works(early, joined | {"relu"}))
print("with relu_2:", works(early, joined | {"relu_2"}))
print("next to both others:", works(early, joined, {"relu", "relu_2"}))

# %% proof=true
yes = [node.name for node in early.graph.nodes if supported(node)]
assert yes == ["relu", "relu_1", "maximum", "relu_2"]  # e, a, b, f
assert works(early, joined)
assert not works(early, joined | {"relu"})
assert not works(early, joined | {"relu_2"})
assert not works(early, joined, {"relu", "relu_2"})
assert works(early, joined, {"relu"}, {"relu_2"})  # three sets

# %% [markdown]
# After `a` and `b` are joined, nothing else can be joined, and there are three sets. But two are enough:

# %%
works(early, {"relu", "relu_1"}, {"maximum", "relu_2"})

# %% proof=true
assert works(early, {"relu", "relu_1"}, {"maximum", "relu_2"})

# %% [markdown]
# Why not one? Because a path from `relu` to `maximum` leaves the backend, at `sin`. Two calls with such a path between them are never in one set.
#
# **Predict the number.** On one path through a graph, supported calls (R) and others (s) take turns: R s R s R. Next to it there is a branch of a single R, from an input to the output. How many sets do you need?
#
# <details><summary>3</summary>
#
# Right. Each R of the path needs another set, because a path from one to the next leaves the backend. The R of the branch can go into any of the three.
# </details>
# <details><summary>4, because the branch is not connected to anything</summary>
#
# No. Nodes of one set need not be connected.
# </details>
# <details><summary>2: one for the path, and one for the branch</summary>
#
# No. The path leaves the backend between one R and the next.
# </details>


# %% proof=true
class InTurns(nn.Module):
    def forward(self, x, y):
        x = torch.relu(torch.sin(torch.relu(torch.sin(torch.relu(x)))))
        return x, torch.relu(y)


in_turns = fx.symbolic_trace(InTurns())
assert works(in_turns, {"relu", "relu_3"}, {"relu_1"}, {"relu_2"})
assert works(in_turns, {"relu"}, {"relu_1", "relu_3"}, {"relu_2"})
assert not works(in_turns, {"relu", "relu_1"}) and not works(in_turns, {"relu_1", "relu_2"})

# %% [markdown]
# ### What PyTorch does
#
# `CapabilityBasedPartitioner` proposes such sets. Backends of ExecuTorch use it. PyTorch itself uses it in `torch/fx/passes/regional_inductor.py`, to give annotated parts of a graph to Inductor. It asks an object for support; `create_op_support` makes one from a function of the submodules and a node.

# %%
support = create_op_support(lambda submodules, node: supported(node))
theirs = CapabilityBasedPartitioner(early, support, allows_single_node_partition=True)
found = [{node.name for node in part.nodes} for part in theirs.propose_partitions()]
print(found)

# %% proof=true
assert {frozenset(names) for names in found} == {
    frozenset({"relu", "relu_1"}),
    frozenset({"maximum", "relu_2"}),
}

# %% [markdown]
# It goes through the graph from the end, and gets it right here. Two of its habits may surprise you.
# Without `allows_single_node_partition=True` it omits sets with fewer than two calls of functions, because they are rarely worth a copy:

# %%
print(CapabilityBasedPartitioner(around, support).propose_partitions())

# %% proof=true
assert CapabilityBasedPartitioner(around, support).propose_partitions() == []


# %% [markdown]
# And if a call returns several values, its `getitem` nodes are in the same set, even if the backend says no to them:


# %%
class Halves(nn.Module):
    def forward(self, x):
        left, right = torch.chunk(x, 2)
        return left * right


halves = fx.symbolic_trace(Halves())
has_chunk = create_op_support(lambda submodules, node: node.target is torch.chunk)
theirs = CapabilityBasedPartitioner(halves, has_chunk, allows_single_node_partition=True)
(part,) = theirs.propose_partitions()
print(list(part.nodes))

# %% proof=true
assert {node.name for node in part.nodes} == {"chunk", "getitem", "getitem_1"}

# %% [markdown]
# Your own function does neither: all supported calls are in a set, and nothing else is.

# %% [markdown] card="partition"
# **Given** a graph module `gm`, and a function `supported` that takes a node.
#
# **Return** a list of sets of node names:
#
# * each call for which `supported` says yes is in **exactly one** set, even if it is the only one;
# * **no other node** is in any set: inputs, parameters and the output never are;
# * if each set became one node, there would be **no cycle**;
# * there are **as few sets as possible**. Nodes of a set need not be connected.
#
# Chains of 1,500 nodes must work, so do not recurse once for each node.
#
# **Do not** trace or change `gm`.
#
# **Fine print**
#
# * A supported call that no node reads is in a set, too.
# * `supported` may say yes to inputs, parameters and the output. Unsupported `getitem` nodes are in no set.
# * No set is empty.
# * The order of the list is free, and so is the choice between several ways with equally few sets.
# * The `meta` of the nodes stays as it is, too.


# %%
def two_branches(x, y):
    return torch.relu(torch.sin(torch.relu(x))), torch.relu(y)


example = fx.symbolic_trace(two_branches)
# If `supported` says yes to `torch.relu` alone, partition(example, supported) gives two sets:
# `sin` is between `relu` and `relu_1`. `relu_2` goes into either of the two.
draw(example)


# %% solve="partition"
def partition(gm: fx.GraphModule, supported: Callable[[fx.Node], bool]) -> list[set[str]]:
    """The supported calls, in as few sets as possible."""
    ### BEGIN SOLUTION
    # For each node: how often a path to it leaves the backend, at most.
    left: dict[fx.Node, int] = {}
    taken: set[fx.Node] = set()
    sets: dict[int, set[str]] = {}
    for node in gm.graph.nodes:
        if node.op.startswith("call_") and supported(node):
            taken.add(node)
        left[node] = max(
            (left[n] + (n in taken and node not in taken) for n in node.all_input_nodes),
            default=0,
        )
        if node in taken:
            sets.setdefault(left[node], set()).add(node.name)
    return list(sets.values())
    ### END SOLUTION


# %% check="partition"
check(partition)

# %% hint="partition"
hint("partition")

# %% [markdown]
# Your sets on the models of this part:

# %% uses="partition"
for gm in (around, past, entangled, early):
    print(partition(gm, supported))

# %% proof=true
for gm, fewest in ((around, 2), (past, 2), (entangled, 2), (early, 2), (in_turns, 3)):
    sets = partition(gm, supported)
    assert len(sets) == fewest and works(gm, *sets)

# %% [markdown]
# ## 13b.4 One call for each set
#
# ### What goes in and out
#
# In the lowered graph a set is one call. Its arguments are the values that the set reads from outside, each once.
# It returns the values that others read:

# %%
result = fused(early, {"relu", "relu_1"}, {"maximum", "relu_2"})
print(result.code)
print(result.fused_0.code)

# %% proof=true
first = result.fused_0
assert [n.name for n in first.graph.nodes if n.op == "placeholder"] == ["x", "y"]
assert [n.name for n in first.graph.output_node().args[0]] == ["relu", "relu_1"]
both, other = result(x, y), early(x, y)
assert torch.equal(both[0], other[0]) and torch.equal(both[1], other[1])

# %% [markdown]
# `fused_0` returns a tuple, and `operator.getitem` selects the values. The readers of `relu` read such a node now.
#
# ### Where the call goes
#
# The call needs a place in the list of nodes. The members were at several places:


# %%
class Between(nn.Module):
    def forward(self, x, y):
        a = torch.relu(x)
        b = torch.sin(a)
        c = torch.cos(y)
        return torch.maximum(a, c) * b


between = fx.symbolic_trace(Between())
order = [node.name for node in between.graph.nodes]
print(order)

# %% proof=true
assert order == ["x", "y", "relu", "sin", "cos", "maximum", "mul", "output"]

# %% [markdown]
# **Predict the place.** `relu` and `maximum` become one call. Where in this list can it be?
#
# <details><summary>Where <code>relu</code> was</summary>
#
# No. The call also needs the value of <code>cos</code>, which comes later.
# </details>
# <details><summary>Where <code>maximum</code> was</summary>
#
# No. <code>sin</code> reads the value of <code>relu</code>, which the call returns, and <code>sin</code> is earlier.
# </details>
# <details><summary>At neither place: <code>sin</code> and <code>cos</code> must change places</summary>
#
# Right. <code>cos</code>, then the call, then <code>sin</code>. The set is convex, so there is an order. But it is not the old one.
# </details>

# %% proof=true
after = fused(between, {"relu", "maximum"})
order = [node.name for node in after.graph.nodes]
assert order == ["x", "y", "cos", "fused_0", "getitem", "sin", "getitem_1", "mul", "output"]
assert torch.equal(after(x, y), between(x, y))

# %% [markdown]
# So lowering needs a new order. Treat each set as one node. A node or set may come next as soon as everything that it reads has been placed. If nothing can come next and something is left, then sets wait for themselves or for one another.
# So this search for an order finds the cycles, too.
#
# ### What a compiler needs to know
#
# Many compilers need an **example** of each input: its shape and dtype. In a graph that was exported, or run with fake tensors (chapter 11), each node has one in `meta["val"]`:

# %%
FakeTensorProp(between).propagate(torch.ones(2, 3), torch.ones(3))
shapes = {n.name: tuple(n.meta["val"].shape) for n in between.graph.nodes if n.op != "output"}
print(shapes)

# %% proof=true
assert shapes["cos"] == (3,) and shapes["maximum"] == (2, 3)
call = fused(between, {"relu", "maximum"}).graph.find_nodes(op="call_module", target="fused_0")[0]
assert [n.name for n in call.args] == ["x", "cos"]
assert [tuple(n.meta["val"].shape) for n in call.args] == [(2, 3), (3,)]

# %% [markdown]
# ### What `fuse_by_partitions` leaves to you
#
# A backend needs more than this function does:


# %%
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        return torch.sin(torch.relu(x) * self.scale)


scaled = fx.symbolic_trace(Scaled())
upstream = fused(scaled, {"relu", "mul"})
print(upstream.code, upstream.fused_0.code)

# %% proof=true
piece = upstream.fused_0
assert isinstance(piece(x, scaled.scale), torch.Tensor)  # one value comes without a tuple
assert [n.target for n in piece.graph.find_nodes(op="placeholder")] == ["x", "scale"]

# %% [markdown]
# * A single value is returned without a tuple. With `always_return_tuple=True` the result is always a tuple.
# * The parameter `scale` is an argument. Then the compiler must expect another value in each call, and cannot prepare it.
# * It does not check whether the name `fused_0` is free. That is among the common mistakes below.

# %% proof=true
copied = copy.deepcopy(scaled)
group = {n: None for n in copied.graph.nodes if n.name in ("relu", "mul")}
fuse_by_partitions(copied, [group], always_return_tuple=True)
(value,) = copied.fused_0(x, scaled.scale)
assert torch.equal(value, torch.relu(x) * 2)

# %% [markdown]
# **Predict the result.** `sub = fx.GraphModule(gm, graph)`, and `graph` has a `get_attr` node for `scale`. What is `sub.scale`?
#
# <details><summary>A copy of the parameter <code>gm.scale</code></summary>
#
# No. Nothing is copied. Only <code>copy.deepcopy(gm)</code> makes new parameters.
# </details>
# <details><summary>The same parameter object as <code>gm.scale</code></summary>
#
# Right. The constructor takes from <code>gm</code> the attributes that the graph names, and the mode. So a graph that reads a parameter inside needs no argument for it.
# </details>
# <details><summary>It does not exist: the graph must take it as an input</summary>
#
# No. The constructor looks up the target of each <code>get_attr</code> node.
# </details>

# %% proof=true
inside = fx.Graph()
inside.output((inside.call_function(torch.neg, (inside.get_attr("scale"),)),))
sub = fx.GraphModule(scaled, inside)
assert sub.scale is scaled.scale
assert copy.deepcopy(scaled).scale is not scaled.scale

# %% [markdown] card="lower"
# **Given** a graph module `gm`, a list of sets of names, and a function `compile`.
#
# For each set, call `compile(sub, examples)` **once**. `sub` is a `GraphModule`:
#
# * its placeholders are the values that the set reads, and `examples` is the tuple of their `meta["val"]`;
# * a `get_attr` is made again inside instead;
# * it returns a **tuple** of the values that are read outside.
#
# **Return** a new graph module that calls each compiled module instead of its set. `operator.getitem` nodes select the results, with the old nodes' `meta`.
#
# **Raise** `ValueError` if sets wait for themselves or others.
#
# **Do not** trace or change `gm`.
#
# **Fine print**
#
# * Each value from outside has one placeholder, and none of them is unread. An example is the `meta["val"]` of the node in `gm`, in the order of the placeholders, or `None` if there is none.
# * `sub` computes all nodes of the set, even those that no node reads, and no others.
# * Each value that is read outside is returned once, and nothing else is. The output is a reader, too. A single value is in a tuple, too.
# * Parameters are `gm`'s own, not copies. A `get_attr` that only sets read is gone from the result.
# * The result calls each compiled `nn.Module` once, with the values in the order of the placeholders.
# * All other nodes stay, with their `meta`. Names and order of nodes are free, and so is the order in which the sets are compiled.
# * The result overwrites no attribute; `forward` keeps its parameters. Without sets, the result is a copy.
# * The `ValueError` comes, too, if a name is in two sets, or is not that of a call node.
# * The `meta` of the nodes of `gm` stays as it is. Sets that no node reads are never tested.

# %%
given = fx.symbolic_trace(lambda x: torch.sin(torch.relu(torch.cos(x)) * 2))
asked = copy.deepcopy(given)
group = {n: None for n in asked.graph.nodes if n.name in ("relu", "mul")}
fuse_by_partitions(asked, [group], always_return_tuple=True)  # here it does all that the card says
draw.diff(given, asked)


# %% solve="lower"
### BEGIN SOLUTION
def _groups(gm: fx.GraphModule, parts: list[set[str]]) -> dict[fx.Node, list[fx.Node]]:
    """The nodes of its set, for each node that is in one."""
    calls = {node.name: node for node in gm.graph.nodes if node.op.startswith("call_")}
    found: dict[fx.Node, list[fx.Node]] = {}
    for names in parts:
        members = [node for node in gm.graph.nodes if node.name in names]
        for name in names:
            if name not in calls or calls[name] in found:
                raise ValueError(f"{name!r} is not the name of a call, or is in two sets")
            found[calls[name]] = members
    return found


def _reads(members: list[fx.Node]) -> list[fx.Node]:
    """The other nodes that some nodes read, each once."""
    read = dict.fromkeys(n for node in members for n in node.all_input_nodes)
    return [node for node in read if node not in members]


def _part(gm: fx.GraphModule, members: list[fx.Node]) -> tuple[fx.GraphModule, Any, Any]:
    """A module that computes some nodes; its inputs, and its results."""
    graph, own = fx.Graph(), {}
    incoming = [node for node in _reads(members) if node.op != "get_attr"]
    for node in incoming:
        own[node] = graph.placeholder(node.name)
    for node in _reads(members):
        if node.op == "get_attr":
            own[node] = graph.node_copy(node)
    for node in members:
        own[node] = graph.node_copy(node, own.__getitem__)
    outgoing = [node for node in members if any(user not in members for user in node.users)]
    graph.output(tuple(own[node] for node in outgoing))
    return fx.GraphModule(gm, graph), incoming, outgoing


### END SOLUTION
def lower(
    gm: fx.GraphModule,
    parts: list[set[str]],
    compile: Callable[[fx.GraphModule, tuple[Any, ...]], nn.Module],
) -> fx.GraphModule:
    """Replace each set by one call of the module that `compile` returns.

    Args:
        gm: the graph module; it is not changed.
        parts: sets of names of call nodes.
        compile: takes a graph module and examples of its inputs.

    Raises:
        ValueError: sets that wait for one another, or names that cannot be in a set.
    """
    ### BEGIN SOLUTION
    groups = _groups(gm, parts)
    *nodes, output = gm.graph.nodes
    todo = []  # each set once, as a list; each other node as a list of one
    for node in nodes:
        members = groups.get(node, [node])
        only_sets = node.users and all(user in groups for user in node.users)
        if members[0] is node and not (node.op == "get_attr" and only_sets):
            todo.append(members)
    graph, values = fx.Graph(), {}
    holder = fx.GraphModule(gm, copy.deepcopy(gm.graph))  # shares everything with gm
    while todo:
        left = []
        for members in todo:
            inside = members[0] in groups
            needs = [n for n in _reads(members) if not (inside and n.op == "get_attr")]
            if any(node not in values for node in needs):
                left.append(members)
            elif not inside:
                values[members[0]] = graph.node_copy(members[0], values.__getitem__)
            else:
                sub, incoming, outgoing = _part(gm, members)
                path = "compiled_" + members[0].name
                while hasattr(holder, path):
                    path += "_"
                examples = tuple(node.meta.get("val") for node in incoming)
                holder.add_module(path, compile(sub, examples))
                call = graph.call_module(path, tuple(values[node] for node in incoming))
                for i, node in enumerate(outgoing):
                    values[node] = graph.call_function(operator.getitem, (call, i))
                    values[node].meta = dict(node.meta)
        if len(left) == len(todo):
            raise ValueError("sets wait for themselves, or for one another")
        todo = left
    graph.node_copy(output, values.__getitem__)
    return fx.GraphModule(holder, graph)
    ### END SOLUTION


# %% check="lower"
check(lower)

# %% hint="lower"
hint("lower")

# %% [markdown]
# ### A compiler that you know
#
# `torch.compile` takes a module, and returns one. It looks at the inputs of the first call, so it does not need the examples. With `backend="eager"` it captures the graph, and then runs it as it is:

# %% uses="lower"
by_torch = lower(
    early,
    [{"relu", "relu_1"}, {"maximum", "relu_2"}],
    lambda sub, examples: torch.compile(sub, backend="eager"),
)
print(by_torch.code)
with fails(ValueError):
    lower(entangled, [left, right], lambda sub, examples: sub)

# %% proof=true
both, other = by_torch(x, y), early(x, y)
assert torch.equal(both[0], other[0]) and torch.equal(both[1], other[1])

# %% [markdown]
# ## 13b.5 Two devices
#
# What if a network does not fit on one device? Put the first half on one, and the second half on another. This is called **model parallel**. It is the same task: two sets, and a "compiler" that puts a piece on its device.
#
# If you cut the list of nodes at any place, all arrows across the cut go forward. So two such sets never wait for each other.


# %%
class OnDevice(nn.Module):
    """Runs a piece that has inputs on a device, and moves the results to theirs."""

    def __init__(self, piece: fx.GraphModule, device: str):
        super().__init__()
        self.piece, self.device = piece.to(device), device
        self.moved = 0

    def forward(self, *values):
        self.moved += len(values)
        results = self.piece(*(value.to(self.device) for value in values))
        return tuple(value.to(values[0].device) for value in results)


several = torch.cuda.is_available() and torch.cuda.device_count() > 1
devices = ["cuda:0", "cuda:1"] if several else ["cpu", "cpu"]
mlp = fx.symbolic_trace(
    nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
)
names = [node.name for node in mlp.graph.nodes if node.op.startswith("call_")]
halves = [set(names[:2]), set(names[2:])]
print(halves)

# %% proof=true
assert works(mlp, *halves)

# %% uses="lower"
unused = iter(devices)
model = copy.deepcopy(mlp)
parallel = lower(model, halves, lambda sub, examples: OnDevice(sub, next(unused)))
print(parallel.code)

# %% proof=true
x = torch.randn(3, 5)
assert torch.allclose(parallel(x), mlp(x), atol=1e-6)
stages = [module for module in parallel.modules() if isinstance(module, OnDevice)]
assert [stage.moved for stage in stages] == [1, 1]

# %% [markdown]
# A good place for the cut is one where few and small values cross. Here every node is in a half, so `split_module` can cut, too. vLLM does that at the attention calls, with `keep_original_order=True` (section 13.3):

# %%
split = split_module(copy.deepcopy(mlp), None, lambda node: int(node.name in names[2:]))
print(split.code)

# %% proof=true
assert [n.target for n in split.graph.nodes if n.op == "call_module"] == ["submod_0", "submod_1"]
assert torch.equal(split(x), mlp(x))

# %% [markdown]
# Watch for shared parameters: `.to(device)` moves a parameter for all modules that share it, and `sub` shares them with `gm`. So the example lowered a copy of the model. `.to` with a dtype shows the trap without a second device:

# %%
borrower = fx.GraphModule(mlp, copy.deepcopy(mlp.graph))
borrower.to(torch.float64)
print(mlp.get_parameter("0.weight").dtype)

# %% proof=true
assert mlp.get_parameter("0.weight").dtype == torch.float64

# %% [markdown]
# ## 13b.6 The team's network
#
# The accelerator supports everything except max pooling. How many pieces does GoogLeNet become?

# %% uses="partition"
theirs = googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10)
network = fx.symbolic_trace(make_alive(theirs))


def no_pooling(node: fx.Node) -> bool:
    """The accelerator of the team."""
    if node.op != "call_module":
        return True
    return not isinstance(network.get_submodule(node.target), nn.MaxPool2d)


sets = partition(network, no_pooling)
print([len(names) for names in sets])
pools = [node for node in network.graph.nodes if not no_pooling(node)]
print(len(sets), "pieces;", 1 + len(pools), "if the graph is cut at each pooling")
in_a_row = [node.name for node in pools if node.args[0] in pools]
print(in_a_row)

# %% proof=true
assert (len(sets), len(pools)) == (11, 13)
assert len(in_a_row) == 3 and len(sets) == 1 + len(pools) - len(in_a_row)

# %% [markdown]
# Each pooling costs one more piece, because the longest path leads through all of them. But if one pooling reads another, the path leaves the accelerator once for both.
# This happens in the Inception blocks after a pooling: one of their branches begins with a second one.
#
# Now compile the pieces. A backend counts the graphs that it gets (chapter 11):

# %% uses="lower"
given = []


def counting(gm: fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
    """A backend for `torch.compile` that notes the size of each graph."""
    given.append(len(gm.graph.nodes))
    return gm.forward


sets = partition(network, no_pooling)
on_chip = lower(network, sets, lambda sub, examples: torch.compile(sub, backend=counting))
assert_same_results(on_chip, network, images(1))
print(len(network.graph.nodes), "nodes before,", len(on_chip.graph.nodes), "after; graphs:", given)
torch.compiler.reset()

# %% proof=true
calls = [n for n in on_chip.graph.nodes if n.op == "call_module"]
others = {n.target for n in on_chip.graph.nodes if n.op in ("call_function", "call_method")}
assert len(given) == 11 and len(calls) == 11 + 13 and others == {operator.getitem}

# %% [markdown]
# There are eleven graphs for the accelerator, thirteen poolings on the main processor, and all other calls are `getitem`. The team has its answer, and a network that runs.

# %% [markdown]
# ## Common mistakes
#
# ### The graph is cut where the list of nodes changes
#
# Supported calls that follow one another in `graph.nodes` become a set. There is no cycle then, but there are too many sets, and their number depends on the order in which the model was written:


# %%
def runs_of(gm: fx.GraphModule) -> int:
    """How often a run of supported calls begins."""
    yes = [supported(node) for node in gm.graph.nodes]
    return sum(now and not before for before, now in zip([False, *yes], yes, strict=False))


print(runs_of(early), "sets, and two are enough")

# %% proof=true
assert runs_of(early) == 3
assert works(early, {"relu", "relu_1"}, {"maximum", "relu_2"})

# %% [markdown]
# **Right:** the order of the list is one of many possible ones. Only paths count.
#
# ### Everything else is one piece, too
#
# `split_module` needs a label for **each** call, and equal labels are one part. If all unsupported calls get the same label, they are one piece as well, and it may wait for itself:

# %%
places = {"relu": "first", "relu_1": "first", "maximum": "second", "relu_2": "second"}
split = split_module(copy.deepcopy(early), None, lambda node: places.get(node.name, "rest"))
print([n.target for n in split.graph.nodes if n.op == "call_module"])
turns = fx.symbolic_trace(lambda x: torch.sin(torch.relu(torch.sin(x))))
with fails(RuntimeError):  # the rest is before and after `relu`
    split_module(turns, None, lambda node: node.name if node.name == "relu" else "rest")

# %% proof=true
assert [n.target for n in split.graph.nodes if n.op == "call_module"] == [
    "submod_first",
    "submod_rest",
    "submod_second",
]

# %% [markdown]
# **Right:** a label of its own for each unsupported call, or `fuse_by_partitions`, which leaves these calls in the graph.
#
# ### A write in place changes its place
#
# In this model `mul_` writes into the value that `sin` reads. No arrow says so. If `mul_` is in another part, it runs too late, without an error:


# %%
class Writes(nn.Module):
    def forward(self, x):
        a = torch.relu(x)
        b = a.mul_(2)
        return torch.sin(a), b


writes = fx.symbolic_trace(Writes())
parts = split_module(copy.deepcopy(writes), None, lambda n: "2" if n.name == "mul_" else "1")
ones = torch.ones(1)
print(writes(ones)[0], parts(ones)[0])

# %% proof=true
assert torch.equal(writes(ones)[0], torch.sin(2 * ones))
assert torch.equal(parts(ones)[0], torch.sin(ones))  # before the write
exported = torch.export.export(Writes(), (ones,))
assert "aten.mul_" in str(exported.graph)
assert "aten.mul_" not in str(exported.run_decompositions().graph)

# %% [markdown]
# **Right:** cut only graphs without writes in place, such as an exported program after `run_decompositions()` (chapter 11).
#
# ### A name that is taken
#
# This model has a layer of its own called `fused_0`. PyTorch's function silently overwrites it with its piece:


# %%
class HasFused(nn.Module):
    def __init__(self):
        super().__init__()
        self.fused_0 = nn.Sigmoid()

    def forward(self, x):
        return self.fused_0(torch.relu(x))


has_fused = fx.symbolic_trace(HasFused())
silent = fused(has_fused, {"relu"})
print(silent.code)

# %% proof=true
assert [n.target for n in silent.graph.nodes if n.op == "call_module"] == ["fused_0", "fused_0"]
assert torch.equal(silent(ones), ones) and not torch.equal(has_fused(ones), ones)

# %% [markdown]
# **Right:** check with `hasattr` whether the name is free, and take another one if it is not.
#
# ### A new `getitem` has no `meta`
#
# The next pass that needs the shape of its value does not find it:

# %%
graph = fx.Graph()
item = graph.call_function(operator.getitem, (graph.placeholder("x"), 0))
print(item.meta)

# %% proof=true
assert item.meta == {}

# %% [markdown]
# **Right:** it has the value of the old node, so copy the `meta`: `new.meta = dict(old.meta)`.

# %% [markdown]
# ## Recap
#
# 1. A backend says for each call whether it supports it. For other nodes the question has no meaning.
# 2. A piece begins when all of its inputs are ready. If a path leaves it and returns to it, it waits for itself.
# 3. Convex sets can still wait for each other. Look at the graph in which all sets are nodes.
# 4. Two calls need different sets only if a path between them leaves the backend. The worst path says how few sets there can be.
# 5. Joining any two sets that can be joined may lead into a dead end.
# 6. A piece takes the values that it reads from outside, each once, and returns a tuple of the values that are read outside. It reads parameters inside.
# 7. Lowering needs a new order: a node or set comes next when its inputs have been placed. If none can, sets wait.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `create_op_support(function)` | support from a function of submodules and node |
# | `CapabilityBasedPartitioner(gm, support, allows_single_node_partition=True)` | proposes sets with `propose_partitions()` |
# | `fuse_by_partitions(gm, groups, always_return_tuple=True)` | one call for each dictionary of nodes; changes `gm`, passes parameters as arguments, and does not check whether names are free |
# | `fx.GraphModule(gm, graph)` | a module that shares with `gm` the attributes that `graph` names |
# | `FakeTensorProp(gm).propagate(x, …)` | notes the shape and dtype of each value in `meta["val"]`; with parameters, it needs a mode (chapter 12b) |
# | `torch.compile(sub, backend="eager")` | a module that captures the graph when it is first called, and runs it |
# | `split_module(gm, None, label)` | one submodule for each label; every call has one |
# | `node.all_input_nodes` | the nodes that a node reads, in keywords and lists, too |
#
# The tools of `torch.fx.passes` may change in any version. See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | cutting a model in two at one value, and what crosses | the deep dive `07b_cutting` |
# | the memory that a graph needs | chapter 13 |
# | writes in place, and other effects | the deep dive `03b_effects` |
# | backends of `torch.compile` | chapter 11 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), and
# [custom backends](https://docs.pytorch.org/docs/stable/torch.compiler_custom_backends.html) of `torch.compile`.

# %% [markdown]
# ## Where to go from here
#
# The track *Compilers and backends* ends here. Next, run `lower` on an exported program of your own,
# with the operators that your device supports, and count the pieces.
# The track *Quantization* is next if the device computes in eight bits.
