# %% [markdown]
# # 13b · Partition and lower
#
# **After this part you can say which calls of a graph a device takes over, in as few pieces as possible.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, the six kinds of node, `users`; chapter 13 for the team's device |
# | **Time** | about 120 minutes with *Common mistakes*, 65 of them for the exercises; the minutes of a section include its exercise |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. say which calls a backend has, with a function of a node;
# 2. find a set of calls that waits for itself, and show the path;
# 3. say why two sets can wait for each other although each of them is fine;
# 4. divide what a backend has into as few sets as possible;
# 5. cut a set out of a graph as a module of its own: what comes in, what goes out, what is read inside;
# 6. put one compiled call in the place of each set, in an order that works;
# 7. say what PyTorch's own tools do with your sets, and what they leave to you.

# %% [markdown]
# ## A story
#
# The team of chapter 13 has its small accelerator. It does most of GoogLeNet very fast. But it does not have every operation.
# What it does not have runs on the main processor, as before.
#
# Each time the work goes from one to the other, values are copied, and the accelerator waits. So the team wants few pieces, and large ones.
# A piece is given to the accelerator as a whole. It begins when all that it reads is there, and its results come when all of it is done.
#
# To divide the graph is called **partitioning**. To put a compiled call in the place of a piece is called **lowering**.
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
# Right. Keywords are in <code>kwargs</code>. Whoever asks what a node reads needs both, with all lists and dictionaries in them. <code>all_input_nodes</code> has them all.
# </details>
# <details><summary>Nothing is in either of them</summary>
#
# No. <code>all_input_nodes</code> looks into keywords, too.
# </details>


# %%
class Named(nn.Module):
    def forward(self, a, b):
        return torch.add(input=a, other=b)


a, b, added, _ = fx.symbolic_trace(Named()).graph.nodes
assert added.args == () and set(added.kwargs) == {"input", "other"}
assert added.all_input_nodes == [a, b]

# %% [markdown]
# ## 13b.1 What a backend has
#
# What compiles and runs a piece is called a **backend**. It has some operations, and others not.
# The simplest way to say so is a function that takes a node and answers yes or no:


# %%
def supported(node: fx.Node) -> bool:
    """A backend that has two operations."""
    return node.target in (torch.relu, torch.maximum)


class Around(nn.Module):
    def forward(self, x):
        a = torch.relu(x)
        b = torch.sin(a)
        return torch.relu(b)


around = fx.symbolic_trace(Around())
yes = [node.name for node in around.graph.nodes if supported(node)]
print(yes)
assert yes == ["relu", "relu_1"]
draw(around)

# %% [markdown]
# The answer may depend on anything that is known of a node: its target, its arguments, its name, or the shape of its value, where that was noted (chapter 11).
#
# A backend says what it can compute. Inputs, parameters and the output are computed by nobody, so the question makes sense for calls only.
# Do not rely on the answer for other nodes. This backend has everything but `torch.sin`, and says yes to all of them:


# %%
def all_but_sin(node: fx.Node) -> bool:
    return node.target is not torch.sin


assert [n.op for n in around.graph.nodes if all_but_sin(n)] == [
    "placeholder",
    "call_function",
    "call_function",
    "output",
]

# %% [markdown]
# ## 13b.2 A set that waits for itself
#
# The backend has `relu` and `relu_1`. Can both be one piece?
#
# PyTorch has a function that puts one call in the place of each set of nodes: `fuse_by_partitions`. It takes a graph module, which it changes, and a dictionary of nodes for each set.
# A small function around it takes names, and works on a copy:


# %%
def fused(gm: fx.GraphModule, *sets: set[str]) -> fx.GraphModule:
    """A copy in which each set of nodes is one call."""
    new = copy.deepcopy(gm)
    groups = [{n: None for n in new.graph.nodes if n.name in names} for names in sets]
    return fuse_by_partitions(new, groups)


apart = fused(around, {"relu"}, {"relu_1"})
print(apart.code)
x = torch.randn(5)
assert torch.equal(apart(x), around(x))
calls = [n.target for n in apart.graph.nodes if n.op.startswith("call_")]
assert calls == ["fused_0", torch.sin, "fused_1"]

with fails(AssertionError):
    fused(around, {"relu", "relu_1"})

# %% [markdown]
# Two sets work. One set does not: "found dependency cycles". Follow the values. The piece needs the value of `sin` before it can begin.
# But `sin` needs a value of the piece, and this comes when the piece is done. So the piece waits for itself.
#
# In the picture above, make one box of the two calls. There is an arrow from the box to `sin`, and one from `sin` to the box: a **cycle**.
# A graph with a cycle has no order in which it could run.
#
# In general: a set waits for itself if a path leaves it and comes back. A set without such a path is called **convex**.


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
    """Whether no path leaves the set and comes back."""
    inside = [n for n in gm.graph.nodes if n.name in names]
    outside = [n for n in gm.graph.nodes if n.name not in names]
    return not any(
        reaches(a, between) and reaches(between, b)
        for a in inside
        for b in inside
        for between in outside
    )


assert is_convex(around, {"relu"}) and is_convex(around, {"relu", "sin"})
assert not is_convex(around, {"relu", "relu_1"})

# %% [markdown]
# **Predict the result.** In the next model `maximum` reads `relu` directly. It also reads `sin`, which reads `relu`. May `relu` and `maximum` be one piece?
#
# <details><summary>Yes: they are neighbours, and nothing is between them</summary>
#
# There is an arrow from one to the other. But there is a second path, and `sin` is on it.
# </details>
# <details><summary>No: a path from <code>relu</code> to <code>maximum</code> leads through <code>sin</code></summary>
#
# Right. One path that leaves and comes back is enough, whatever other paths there are.
# </details>
# <details><summary>Yes, if <code>relu</code> comes first in the piece</summary>
#
# No. The order inside of a piece does not help. A piece gives its results when it is done, and not before.
# </details>


# %%
class Past(nn.Module):
    def forward(self, x):
        a = torch.relu(x)
        b = torch.sin(a)
        return torch.maximum(a, b)


past = fx.symbolic_trace(Past())
assert past.graph.find_nodes(op="call_function", target=torch.maximum)[0].args[0].name == "relu"
assert not is_convex(past, {"relu", "maximum"})

# %% [markdown]
# ### Each is fine, and both are not
#
# So, must each set be convex, and that is all? Here are two pairs of neighbours:


# %%
class Entangled(nn.Module):
    def forward(self, x, y):
        a, b = torch.relu(x), torch.relu(y)
        c = torch.maximum(a, torch.cos(b))
        d = torch.maximum(b, torch.sin(a))
        return c - d


entangled = fx.symbolic_trace(Entangled())
draw(entangled)
left, right = {"relu", "maximum"}, {"relu_1", "maximum_1"}
assert is_convex(entangled, left) and is_convex(entangled, right)
y = torch.randn(5)
assert torch.equal(fused(entangled, left)(x, y), entangled(x, y))
assert torch.equal(fused(entangled, right)(x, y), entangled(x, y))

# %% [markdown]
# `left` works, and `right` works.
#
# **Predict the result.** What about both at once?
#
# <details><summary>Both work: the sets have no node in common</summary>
#
# No. That no node is in both is not enough.
# </details>
# <details><summary>They wait for each other</summary>
#
# Right. `left` reads `cos`, which needs a value of `right`. And `right` reads `sin`, which needs a value of `left`. Each of them is convex, and neither can begin.
# </details>
# <details><summary>It depends on which of the two is compiled first</summary>
#
# No. Whoever is first waits for the other one.
# </details>

# %%
with fails(AssertionError):
    fused(entangled, left, right)
assert torch.equal(
    fused(entangled, {"relu", "relu_1"}, {"maximum", "maximum_1"})(x, y), entangled(x, y)
)

# %% [markdown]
# So you cannot judge a set alone. Look at the graph in which **all** sets are one node each: no cycle may be in it.
#
# The last line shows that two sets are possible here, but other ones. In neither of them are the nodes connected, and that is allowed: a piece may compute two things that have nothing to do with one another.

# %% [markdown]
# ## 13b.3 How few?
#
# One set for each call always works, because the graph itself has no cycle. It is also the most expensive way. How few can it be?
#
# A natural idea is to begin like this, and then to join any two sets as long as no cycle comes of it. Look where that leads:


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
yes = [node.name for node in early.graph.nodes if supported(node)]
assert yes == ["relu", "relu_1", "maximum", "relu_2"]  # e, a, b, f


def works(gm: fx.GraphModule, *sets: set[str]) -> bool:
    """Whether there is no cycle when each set is one call."""
    try:
        fused(gm, *sets)
    except AssertionError:
        return False
    return True


joined = {"relu_1", "maximum"}  # neighbours, so why not?
assert works(early, joined)
assert not works(early, joined | {"relu"})
assert not works(early, joined | {"relu_2"})
assert not works(early, joined, {"relu", "relu_2"})
assert works(early, joined, {"relu"}, {"relu_2"})  # three sets

# %% [markdown]
# `a` and `b` were joined first. After that nothing can be joined any more, and there are three sets. But two are enough:

# %%
assert works(early, {"relu", "relu_1"}, {"maximum", "relu_2"})

# %% [markdown]
# Why not one? Because a path from `relu` to `maximum` leaves the backend on its way, at `sin`. Two calls with such a path between them are never in one set.
#
# **Predict the number.** On one path through a graph, calls that the backend has (R) and others (s) take turns: R s R s R. Beside it there is a branch of a single R, which reads an input and is read by the output. How many sets are needed?
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


# %%
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
# `CapabilityBasedPartitioner` proposes such sets. It is what backends use in practice. It asks an object for support; `create_op_support` makes one from a function of the submodules and a node.

# %%
support = create_op_support(lambda submodules, node: supported(node))
theirs = CapabilityBasedPartitioner(early, support, allows_single_node_partition=True)
found = [{node.name for node in part.nodes} for part in theirs.propose_partitions()]
print(found)
assert {frozenset(names) for names in found} == {
    frozenset({"relu", "relu_1"}),
    frozenset({"maximum", "relu_2"}),
}

# %% [markdown]
# It goes through the graph from the end, and gets it right here. Two of its habits may surprise you.
# Without `allows_single_node_partition=True` it leaves out sets of one call, because they are rarely worth a copy:

# %%
default = CapabilityBasedPartitioner(around, support).propose_partitions()
assert default == []  # `relu` and `relu_1` would be alone


# %% [markdown]
# And where a call returns several values, the `getitem` nodes go where this call goes, whatever the backend says of them:


# %%
class Halves(nn.Module):
    def forward(self, x):
        left, right = torch.chunk(x, 2)
        return left * right


halves = fx.symbolic_trace(Halves())
has_chunk = create_op_support(lambda submodules, node: node.target is torch.chunk)
theirs = CapabilityBasedPartitioner(halves, has_chunk, allows_single_node_partition=True)
(part,) = theirs.propose_partitions()
assert {node.name for node in part.nodes} == {"chunk", "getitem", "getitem_1"}

# %% [markdown]
# Your own function does neither: exactly what is supported is in a set.

# %% [markdown] card="partition"
# **Given** a graph module `gm`, and a function `supported` that takes a node.
#
# **Return** a list of sets of node names:
#
# * each call for which `supported` says yes is in **exactly one** set, also if it is alone there, and also if nobody reads it;
# * **no other node** is in any set. Inputs, parameters and the output never are, whatever `supported` says of them. Unsupported `getitem` nodes are not, either;
# * no set is empty;
# * if each set became one node, there would be **no cycle**;
# * there are **as few sets as possible**. Nodes of a set need not be connected.
#
# The order of the list is free, and so is the choice where there are several ways with equally few sets.
#
# Chains of 1,500 nodes must work, so a function that calls itself once for each node does not get far.
#
# **Do not** change `gm` or the `meta` of its nodes, and do not trace it anew.


# %%
def two_branches(x, y):
    return torch.relu(torch.sin(torch.relu(x))), torch.relu(y)


example = fx.symbolic_trace(two_branches)
# If `supported` says yes to `torch.relu` alone, partition(example, supported) gives two sets:
# `sin` is between `relu` and `relu_1`. `relu_2` goes into either of the two.
draw(example)


# %% solve="partition"
def partition(gm: fx.GraphModule, supported: Callable[[fx.Node], bool]) -> list[set[str]]:
    """What a backend takes, in as few sets as possible."""
    ### BEGIN SOLUTION
    # Of each node: how often a path to it has left the backend, at most.
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
for gm, count in ((around, 2), (past, 2), (entangled, 2), (early, 2), (in_turns, 3)):
    sets = partition(gm, supported)
    print(sets)
    assert len(sets) == count and works(gm, *sets)

# %% [markdown]
# ## 13b.4 One call for each set
#
# ### What goes in and out
#
# In the lowered graph a set is one call. What the set reads from outside goes in, each value once.
# What others read of it comes out:

# %%
result = fused(early, {"relu", "relu_1"}, {"maximum", "relu_2"})
print(result.code)
print(result.fused_0.code)
first = result.fused_0
assert [n.name for n in first.graph.nodes if n.op == "placeholder"] == ["x", "y"]
assert [n.name for n in first.graph.output_node().args[0]] == ["relu", "relu_1"]
both, other = result(x, y), early(x, y)
assert torch.equal(both[0], other[0]) and torch.equal(both[1], other[1])

# %% [markdown]
# `fused_0` returns a tuple, and `operator.getitem` takes the values out of it. Whoever read `relu` reads such a node now.
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
# No. <code>sin</code> reads the value of <code>relu</code>, which comes out of the call, and <code>sin</code> is earlier.
# </details>
# <details><summary>At neither place: <code>sin</code> and <code>cos</code> must change places</summary>
#
# Right. <code>cos</code>, then the call, then <code>sin</code>. The set is convex, so there is an order. But it is not the old one.
# </details>

# %%
after = fused(between, {"relu", "maximum"})
order = [node.name for node in after.graph.nodes]
print(order)
assert order == ["x", "y", "cos", "fused_0", "getitem", "sin", "getitem_1", "mul", "output"]
assert torch.equal(after(x, y), between(x, y))

# %% [markdown]
# So the order is made anew. Take each set for one node. Whatever has all that it reads may come next, a node or a whole set. If nothing can come next and something is left, then sets wait for themselves or for one another.
# So this search for an order finds the cycles, too.
#
# ### What a compiler wants to know
#
# Many compilers need an **example** of each value that comes in: its shape and dtype. Where do you get them? In a graph that was exported, or run with fake tensors (chapter 11), each node has its own in `meta["val"]`:

# %%
FakeTensorProp(between).propagate(torch.ones(2, 3), torch.ones(3))
shapes = {n.name: tuple(n.meta["val"].shape) for n in between.graph.nodes if n.op != "output"}
print(shapes)
assert shapes["cos"] == (3,) and shapes["maximum"] == (2, 3)
call = fused(between, {"relu", "maximum"}).graph.find_nodes(op="call_module", target="fused_0")[0]
assert [n.name for n in call.args] == ["x", "cos"]
assert [tuple(n.meta["val"].shape) for n in call.args] == [(2, 3), (3,)]

# %% [markdown]
# ### What `fuse_by_partitions` leaves to you
#
# Three habits of it are in the way of a backend:


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
piece = upstream.fused_0
assert isinstance(piece(x, scaled.scale), torch.Tensor)  # one value comes without a tuple
assert [n.target for n in piece.graph.find_nodes(op="placeholder")] == ["x", "scale"]

# %% [markdown]
# * One value comes back without a tuple. With `always_return_tuple=True` it is a tuple each time, and whoever calls the piece need not count.
# * The parameter `scale` is handed in. Then the compiler takes it for an input that may change with each call, and cannot prepare it.
# * The third habit is worse, and is among the common mistakes below: it does not look whether the name `fused_0` is free.

# %%
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
# Right. The constructor takes from <code>gm</code> what the nodes of the graph name, and nothing else. So a graph that reads a parameter inside needs no argument for it.
# </details>
# <details><summary>It does not exist: the graph must take it as an input</summary>
#
# No. A <code>get_attr</code> node is made again inside, and the constructor looks up its target.
# </details>

# %%
inside = fx.Graph()
inside.output((inside.call_function(torch.neg, (inside.get_attr("scale"),)),))
sub = fx.GraphModule(scaled, inside)
assert sub.scale is scaled.scale
assert copy.deepcopy(scaled).scale is not scaled.scale

# %% [markdown] card="lower"
# **Given** a graph module `gm`, a list of sets of names, and a function `compile`.
#
# For each set, call `compile(sub, examples)` **once**. In the result, what it returns (an `nn.Module`) is **called once** in the place of the set.
#
# `sub` is a `GraphModule`:
#
# * its placeholders are the values that come in, each once. None of them is unread;
# * it computes all nodes of the set, also those that nobody reads, and no others;
# * it returns a **tuple** of the values that are read outside, each once, and nothing else. It is a tuple also if there is one value. The output is a reader, too;
# * a `get_attr` that the set reads is made again inside, and never handed in. Parameters are `gm`'s own, not copies.
#
# `examples` is the tuple of `meta["val"]` of the values that come in, in the order of the placeholders, with `None` where there is none.
#
# **Return** a new graph module:
#
# * a compiled module gets the values in the order of the placeholders. `operator.getitem` nodes take its values out, and carry the `meta` of the nodes that had the values;
# * all other nodes stay, with their `meta`. A `get_attr` that only sets read is gone. Names and order of nodes are free, and so is the order in which the sets are compiled;
# * no attribute that is there is overwritten; `forward` keeps its parameters. Without sets, it is a copy.
#
# **Raise** a `ValueError` if sets would wait for themselves or for one another, if a name is in two sets, or if it is that of no call node.
#
# **Do not** change `gm` or the `meta` of its nodes, and do not trace it anew. (Sets that nobody reads are never tested.)

# %%
given = fx.symbolic_trace(lambda x: torch.sin(torch.relu(torch.cos(x)) * 2))
asked = copy.deepcopy(given)
group = {n: None for n in asked.graph.nodes if n.name in ("relu", "mul")}
fuse_by_partitions(asked, [group], always_return_tuple=True)  # here it does all that is asked
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
                raise ValueError(f"{name!r} is the name of no call, or in two sets")
            found[calls[name]] = members
    return found


def _reads(members: list[fx.Node]) -> list[fx.Node]:
    """What some nodes read of others, each once."""
    read = dict.fromkeys(n for node in members for n in node.all_input_nodes)
    return [node for node in read if node not in members]


def _part(gm: fx.GraphModule, members: list[fx.Node]) -> tuple[fx.GraphModule, Any, Any]:
    """A module that computes some nodes; what comes in, and what goes out."""
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
    """One call of what `compile` gives in the place of each set.

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
# `torch.compile` takes a module, and gives one. It looks for itself at what comes in, so it does not need the examples. With `backend="eager"` it captures the graph, and then runs it as it is:

# %% uses="lower"
by_torch = lower(
    early,
    [{"relu", "relu_1"}, {"maximum", "relu_2"}],
    lambda sub, examples: torch.compile(sub, backend="eager"),
)
print(by_torch.code)
both, other = by_torch(x, y), early(x, y)
assert torch.equal(both[0], other[0]) and torch.equal(both[1], other[1])
with fails(ValueError):
    lower(entangled, [left, right], lambda sub, examples: sub)

# %% [markdown]
# ## 13b.5 Two devices
#
# What if a network does not fit on one device? Put the first half on one, and the second half on another. This is called **model parallel**. It is the same task: two sets, and a "compiler" that puts a piece on its device.
#
# Which sets? If you cut the list of nodes at any place, all arrows across the cut go forward. So two such sets never wait for each other.


# %%
class OnDevice(nn.Module):
    """Runs a piece on a device, and gives the values back where they came from."""

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
assert works(mlp, *halves)

# %% uses="lower"
unused = iter(devices)
model = copy.deepcopy(mlp)
parallel = lower(model, halves, lambda sub, examples: OnDevice(sub, next(unused)))
print(parallel.code)
x = torch.randn(3, 5)
assert torch.allclose(parallel(x), mlp(x), atol=1e-6)
stages = [module for module in parallel.modules() if isinstance(module, OnDevice)]
assert [stage.moved for stage in stages] == [1, 1]

# %% [markdown]
# A good place for the cut is one where few and small values cross. And look out for parameters that both halves read: `.to(device)` moves a parameter for everybody who has it, and `sub` shares them with `gm`. This is why a copy of the model was lowered here.
#
# `split_module` cuts in this way, too, because here *every* node is in a half. And `.to` with a dtype shows the trap without a second device:

# %%
split = split_module(copy.deepcopy(mlp), None, lambda node: int(node.name in names[2:]))
print(split.code)
assert [n.target for n in split.graph.nodes if n.op == "call_module"] == ["submod_0", "submod_1"]
assert torch.equal(split(x), mlp(x))

borrowed = fx.GraphModule(scaled, inside)
borrowed.to(torch.float64)  # a dtype in place of a device
assert scaled.scale.dtype == torch.float64

# %% [markdown]
# ## 13b.6 The team's network
#
# The accelerator has everything but max pooling. How many pieces does GoogLeNet become?

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
assert (len(sets), len(pools)) == (11, 13)
in_a_row = [node.name for node in pools if node.args[0] in pools]
print(in_a_row)
assert len(in_a_row) == 3 and len(sets) == 1 + len(pools) - len(in_a_row)

# %% [markdown]
# Each pooling costs one more piece, because the longest path leads through all of them. Only where one pooling reads another does a path leave the accelerator once for both.
# This is so in the Inception blocks that follow a pooling: one of their branches begins with a second one.
#
# Now the pieces are compiled. A backend counts how many graphs it is given (chapter 11):

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
calls = [n for n in on_chip.graph.nodes if n.op == "call_module"]
assert len(given) == 11 and len(calls) == 11 + 13
torch.compiler.reset()

# %% [markdown]
# Eleven graphs for the accelerator, thirteen poolings on the main processor, and nothing else but `getitem`. The team has its answer, and a network that runs.

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (7 minutes)
#
# ### Connected calls are taken for a piece
#
# All calls that hang together are one set. It is the first idea of many, and it fails at the first detour:

# %%
with fails(AssertionError):
    fused(past, {"relu", "maximum"})

# %% [markdown]
# **Right:** look for paths that leave the set and come back, of any length.
#
# ### Each set is tested alone
#
# `is_convex` said yes to `left` and to `right` of section 13b.2:

# %%
assert is_convex(entangled, left) and is_convex(entangled, right)
assert not works(entangled, left, right)

# %% [markdown]
# **Right:** test the graph in which all sets are one node each.
#
# ### The graph is cut where the list of nodes changes
#
# Calls of the backend that follow one another in `graph.nodes` are a set. There is no cycle then, but there are too many sets, and how many depends on the order in which the model was written:


# %%
def runs_of(gm: fx.GraphModule) -> int:
    """How often a run of supported calls begins."""
    yes = [supported(node) for node in gm.graph.nodes]
    return sum(now and not before for before, now in zip([False, *yes], yes, strict=False))


assert runs_of(early) == 3
assert works(early, {"relu", "relu_1"}, {"maximum", "relu_2"})  # two are enough

# %% [markdown]
# **Right:** the order of the list is one of many possible ones. Only paths count.
#
# ### Everything else is one piece, too
#
# `split_module` cuts a graph by a function from nodes to labels. **Each** node needs a label, and equal labels are one part. If all that is left gets the same label, it is a piece as well, and it waits:

# %%
places = {"relu": "first", "relu_1": "first", "maximum": "second", "relu_2": "second"}
try_again = copy.deepcopy(early)
split = split_module(try_again, None, lambda node: places.get(node.name, "rest"))
assert [n.target for n in split.graph.nodes if n.op == "call_module"] == [
    "submod_first",
    "submod_rest",
    "submod_second",
]
with fails(RuntimeError):  # the rest of `InTurns` is before and behind `relu_1`
    split_module(copy.deepcopy(in_turns), None, lambda n: n.name if n.name == "relu_1" else "rest")

# %% [markdown]
# **Right:** a label of its own for each node that the backend does not have, or `fuse_by_partitions`, which leaves them where they are.
#
# ### A write in place changes its place
#
# In this model `mul_` writes into what `sin` reads. No arrow says so. If `mul_` is in another part, it runs too late, and nobody gets an error:


# %%
class Writes(nn.Module):
    def forward(self, x):
        a = torch.relu(x)
        b = a.mul_(2)
        return torch.sin(a), b


writes = fx.symbolic_trace(Writes())
parts = split_module(copy.deepcopy(writes), None, lambda n: "2" if n.name == "mul_" else "1")
ones = torch.ones(1)
assert torch.equal(writes(ones)[0], torch.sin(2 * ones))
assert torch.equal(parts(ones)[0], torch.sin(ones))  # before the write

# %% [markdown]
# **Right:** cut graphs without writes in place only: an exported program has none (chapter 11).
#
# ### A name that is taken
#
# This model has a layer of its own called `fused_0`. PyTorch's function puts its piece there. No error comes, and the layer is gone:


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
assert [n.target for n in silent.graph.nodes if n.op == "call_module"] == ["fused_0", "fused_0"]
assert torch.equal(silent(ones), ones) and not torch.equal(has_fused(ones), ones)

# %% [markdown]
# **Right:** look with `hasattr` whether the name is free, and take another one if it is not.
#
# ### Values are taken out, and what was known of them is lost
#
# A `getitem` node that you make has an empty `meta`. The next pass that needs the shape of a value does not find it:

# %%
graph = fx.Graph()
taken = graph.call_function(operator.getitem, (graph.placeholder("x"), 0))
assert taken.meta == {}

# %% [markdown]
# **Right:** the value is that of the old node, so its `meta` goes with it: `new.meta = dict(old.meta)`.

# %% [markdown]
# ## Recap
#
# 1. A backend says of each call whether it has it. For other nodes the question has no meaning.
# 2. A piece begins when all that it reads is there. If a path leaves it and comes back, it waits for itself.
# 3. Sets that are convex can still wait for each other. What counts is the graph in which all sets are nodes.
# 4. Calls need another set only if a path between them leaves the backend. How often that happens on the worst path says how few sets there can be.
# 5. Joining whatever can be joined leads into dead ends.
# 6. A piece takes what it reads from outside, each value once, and returns a tuple of what is read outside. Parameters are read inside.
# 7. The order is made anew: what has all that it reads comes next. If nothing can, sets wait.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `create_op_support(function)` | support from a function of submodules and node |
# | `CapabilityBasedPartitioner(gm, support, allows_single_node_partition=True)` | proposes sets with `propose_partitions()` |
# | `fuse_by_partitions(gm, groups, always_return_tuple=True)` | one call for each dictionary of nodes; changes `gm`, hands parameters in, and does not look whether names are free |
# | `fx.GraphModule(gm, graph)` | a module that takes from `gm` what `graph` names, and shares it |
# | `FakeTensorProp(gm).propagate(x, …)` | notes the shape and dtype of each value in `meta["val"]` |
# | `torch.compile(sub, backend="eager")` | a module that captures the graph when it is first called, and runs it |
# | `split_module(gm, None, label)` | one submodule for each label; every node has one |
# | `node.all_input_nodes` | what a node reads, keywords and lists among it |
#
# These tools lie in `torch.fx.passes`, and are not promised to stay as they are. See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | cutting a model in two at one value, and what crosses | the deep dive `07b_cutting` |
# | what a graph keeps in memory | chapter 13 |
# | writes in place, and other effects | the deep dive `03b_effects` |
# | backends of `torch.compile` | chapter 11 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), and
# [custom backends](https://docs.pytorch.org/docs/stable/torch.compiler_custom_backends.html) of `torch.compile`.
