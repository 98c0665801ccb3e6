# %% [markdown]
# # 7b · Cut a model in two
#
# **After this part you can cut a model at any value, and say what must cross from one half to the other.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, the six kinds of node, editing a graph; section 3b.2 (writes in place) and chapter 5 (`node_copy`) help, but you can do without them |
# | **Time** | about 55 minutes with *Common mistakes*, 25 of them for the exercise; the minutes of a section include its exercise |
# | **Optional** | You can go on to chapter 8 without it. Chapter 13, about parts of a graph for several devices, refers to it |
#
# **When you are done, you can**
#
# 1. cut a chain of layers, and say which modules and parameters each half holds;
# 2. find the values that cross a cut: computed before it, read after it;
# 3. cut any model in two at a value of your choice;
# 4. choose the place at which the fewest numbers cross;
# 5. say what is lost when the values cross one by one, and prevent it.

# %% [markdown]
# ## A story
#
# The team of chapter 7 wants its detector on a phone. GoogLeNet is too large for the phone, and the line to the server is slow.
# So the phone computes the first part of the network, and the server the rest.
#
# Whoever wrote GoogLeNet did not plan for that. Its `forward` is one piece, and half of a `forward` cannot be called.
# But a trace is a list of nodes in the order of execution, and a list can be cut anywhere.
# Where? And what must the phone send? At the end of section 7b.2 both are known, and the two halves give what the whole gave.

# %%
import copy
import io
from collections.abc import Sequence

import matplotlib.pyplot as plt
import torch
from IPython.display import display
from torch import fx, nn
from torch.fx.passes.split_module import split_module
from torchvision.models import googlenet

from autograder import check, draw, hint, progress

torch.manual_seed(7)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the graph.** A node of a graph is the call of `y.relu_()`. No other node reads its result, but a later one reads `y`.
# What does `eliminate_dead_code()` do with the call?
#
# <details><summary>It stays, because it writes into <code>y</code></summary>
#
# That would be right, but FX does not know that <code>relu_</code> writes (section 3b.2).
#
# </details>
# <details><summary>It is deleted</summary>
#
# Right. For FX, a method without a reader is dead. What reads <code>y</code> gets the negative values, too.
#
# </details>
# <details><summary>An error says that the graph has side effects</summary>
#
# No. Nothing is said at all.
#
# </details>


# %%
class Unread(nn.Module):
    def forward(self, x):
        y = x - 1
        y.relu_()
        return y * 2


gm = fx.symbolic_trace(Unread())
gm.graph.eliminate_dead_code()
gm.recompile()
assert [n.name for n in gm.graph.nodes] == ["x", "sub", "mul", "output"]
assert torch.equal(gm(torch.zeros(1)), torch.tensor([-2.0]))  # and 0 would be right

# %% [markdown]
# **Predict the graph.** `forward(self, x, shift=0.5)` is traced. Where is the 0.5?
#
# <details><summary>In the argument of every node that reads <code>shift</code></summary>
#
# No. These nodes read the node <code>shift</code>. A caller may pass another number.
#
# </details>
# <details><summary>In the <code>args</code> of the placeholder <code>shift</code></summary>
#
# Right. From there it goes into the signature of the generated <code>forward</code> (section 2.3).
#
# </details>
# <details><summary>It is gone: a trace has no defaults</summary>
#
# No. The signature stays as it was.
#
# </details>

# %%
_, shift, *_ = fx.symbolic_trace(lambda x, shift=0.5: x + shift).graph.nodes
assert (shift.op, shift.target, shift.args) == ("placeholder", "shift", (0.5,))

# %% [markdown]
# ## 7b.1 Cut a model in two (33 minutes)
#
# You need two modules: a **head** and a **tail**. The tail goes on with what the head returns.
#
# A chain is easy. At every place, one value crosses:


# %%
def cut_chain(model: nn.Module, name: str) -> tuple[fx.GraphModule, fx.GraphModule]:
    """Cut a model in which every node reads only the node before it."""
    gm = fx.symbolic_trace(model)
    first, second = fx.Graph(), fx.Graph()
    graph, value = first, {}
    for node in gm.graph.nodes:
        value[node] = graph.node_copy(node, value.__getitem__)
        if node.name == name:
            first.output(value[node])
            graph, value = second, {node: second.placeholder(node.name)}
    return fx.GraphModule(gm, first), fx.GraphModule(gm, second)


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 4)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(torch.tanh(self.lin(x))).softmax(dim=-1)


chain = Chain()
x = torch.randn(5, 3)
first, second = cut_chain(chain, "tanh")
print(first.code, second.code)
torch.testing.assert_close(second(first(x)), chain(x))

# %% [markdown]
# `graph.node_copy(node, f)` copies a node of another graph. `f` says for each node that it reads which node of the new graph to read instead.
# `fx.GraphModule(gm, graph)` takes over what the graph calls and reads. It does not copy: both parts use the model's own layers.

# %%
assert first.lin is chain.lin and second.out is chain.out
assert not hasattr(first, "out")  # the head has only what it calls
display(draw(first, title="head"))
draw(second, title="tail")

# %% [markdown]
# ### What crosses
#
# Real models are no chains. Look at this one, cut after `lin`:


# %%
class Skipping(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(3))
        self.lin = nn.Linear(3, 3)

    def forward(self, x, shift=0.5):
        early = torch.sin(x * self.scale)
        y = self.lin(early)
        return (y * early + early + shift) * self.scale


draw(fx.symbolic_trace(Skipping()))

# %% [markdown]
# **Predict the tuple.** The head ends with `lin`. Which values must the tail be given?
#
# <details><summary><code>lin</code>, the last value of the head.</summary>
#
# Not enough. The tail multiplies it by <code>sin</code>, and that was computed on the other side.
# </details>
# <details><summary><code>lin</code> and <code>sin</code>.</summary>
#
# Almost. The tail reads an input of the model, too: <code>shift</code>.
# </details>
# <details><summary><code>shift</code>, <code>sin</code> and <code>lin</code>, each once.</summary>
#
# Right. <code>sin</code> has two readers in the tail, and crosses once. <code>scale</code> does not have to cross: a parameter can be read again with a <code>get_attr</code> node on the other side.
# </details>
# <details><summary><code>x</code>, <code>shift</code>, <code>sin</code> and <code>lin</code>.</summary>
#
# No. No node after <code>lin</code> reads <code>x</code>. On a slow line between two devices, each value that crosses for nothing costs time.
# </details>
#
# So a value crosses if it is computed before the cut and has a user after it:

# %%
nodes = list(fx.symbolic_trace(Skipping()).graph.nodes)
for place, cut in enumerate(nodes[:-1]):
    rest = set(nodes[place + 1 :])
    crossing = [n.name for n in nodes[: place + 1] if rest & set(n.users) and n.op != "get_attr"]
    print(f"after {cut.name:8} {crossing}")
    if cut.name == "lin":
        assert crossing == ["shift", "sin", "lin"]

# %% [markdown]
# A value that crosses comes into the tail as a placeholder. What was an *input* of the model is there a placeholder already.
# Do not copy that node. It carries what belongs to the model's signature: a default, or the star of `*rest`.


# %%
def copies_placeholder() -> fx.Graph:
    """A tail that begins with a copy of the model's placeholder `shift`."""
    tail = fx.Graph()
    placeholder = next(n for n in nodes if n.name == "shift")
    shift = tail.node_copy(placeholder)
    sin = tail.placeholder("sin")
    tail.output(tail.call_function(torch.add, (sin, shift)))
    return tail


print(copies_placeholder().python_code("self").src)

# %% raises="SyntaxError"
fx.GraphModule(nn.Module(), copies_placeholder())  # a parameter without a default after one with

# %% [markdown]
# **Right:** `tail.placeholder(node.name)` for every value that crosses, inputs too.

# %% [markdown] card="split_at"
# **Given** a model, and the name of a node of its trace.
#
# **Return** a tuple of two graph modules, `head` and `tail`.
#
# * `head` has all nodes up to and including the named one, `tail` has the rest. Only the place of a node matters, not whether it is read.
# * `head` has the signature of the model. `head(*args)` returns a **tuple**, and `tail(*head(*args))` is the model's result.
# * In the tuple is what the tail needs, inputs and earlier values too, each **once**, and nothing else. The order is free.
#   The value of the named node may cross even if no node reads it. A `get_attr` node may be made again in the tail; then its value does not have to cross.
# * Both use the model's own parameters, not copies.
# * An unknown name, a placeholder, or the output: `ValueError`.
#
# **Do not** change the model.


# %%
class Model(nn.Module):
    def forward(self, x):
        early = torch.sin(x)
        late = torch.exp(early)
        return late * early


class Head(nn.Module):  # split_at(Model(), "exp")
    def forward(self, x):
        early = torch.sin(x)
        late = torch.exp(early)
        return (early, late)


class Tail(nn.Module):
    def forward(self, sin, exp):
        return exp * sin


torch.testing.assert_close(Tail()(*Head()(x)), Model()(x))
display(draw(Model(), title="the model"), draw(Head(), title="head"))
draw(Tail(), title="tail")


# %% solve="split_at"
def split_at(model: nn.Module, name: str) -> tuple[fx.GraphModule, fx.GraphModule]:
    """Cut `model` after the node `name`: `tail(*head(*args))` is the model's result."""
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)
    nodes = list(gm.graph.nodes)
    place = {node.name: i for i, node in enumerate(nodes)}.get(name)
    if place is None or nodes[place].op in ("placeholder", "output"):
        raise ValueError(f"the model has no node {name!r} at which it can be cut")
    first, rest = nodes[: place + 1], dict.fromkeys(nodes[place + 1 :])
    crossing = [node for node in first if any(user in rest for user in node.users)]

    head = fx.Graph()
    new: dict[fx.Node, fx.Node] = {}
    for node in first:
        new[node] = head.node_copy(node, new.__getitem__)
    head.output(tuple(new[node] for node in crossing))

    tail = fx.Graph()
    new = {node: tail.placeholder(node.name) for node in crossing}
    for node in rest:
        new[node] = tail.node_copy(node, new.__getitem__)
    return fx.GraphModule(gm, head), fx.GraphModule(gm, tail)
    ### END SOLUTION


# %% check="split_at"
check(split_at)

# %% hint="split_at"
hint("split_at")

# %% [markdown]
# ## 7b.2 Where to cut GoogLeNet (5 minutes)
#
# The phone computes the head, and the line to the server is slow. So the best place is where the fewest numbers cross.
# `ShapeProp` of chapter 6 would tell the sizes; here a small Interpreter does it.
# The last cell of this section uses your `split_at`. Run it again when the check has passed.


# %%
class Sizes(fx.Interpreter):
    """Notes how many numbers each value has."""

    def run_node(self, n):
        value = super().run_node(n)
        n.meta["numbers"] = value.numel()
        return value


theirs = googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10).eval()
traced = fx.symbolic_trace(theirs)
image = torch.rand(1, 3, 64, 64)
with torch.no_grad():
    Sizes(traced).run(image)
nodes = list(traced.graph.nodes)
crossing = {}
for i, node in enumerate(nodes):
    if node.name == "inception4a_branch1_conv":
        break  # the phone is not fast enough for more
    rest = set(nodes[i + 1 :])
    crossing[node.name] = sum(n.meta["numbers"] for n in nodes[: i + 1] if rest & set(n.users))
best = min(crossing, key=crossing.__getitem__)
print(f"the image has {image.numel()} numbers; after {best} only {crossing[best]} cross")
assert best == "maxpool3" and crossing[best] < image.numel()
assert all(count >= image.numel() for name, count in crossing.items() if name != best)

figure, axes = plt.subplots(figsize=(7, 2.5))
axes.plot(list(crossing.values()), color="#3b6ea5")
axes.set_xlabel("the cut, in order of execution")
axes.set_ylabel("numbers that cross")
axes.set_ylim(bottom=0)
figure.tight_layout()
plt.show()
print({name: count for name, count in crossing.items() if "pool" in name or "cat" in name})

# %% [markdown]
# So the phone computes the network up to `maxpool3`. At every earlier place, at least as many numbers would cross as the image has.

# %% uses="split_at"
head, tail = split_at(theirs, best)
with torch.no_grad():
    crossed = head(image)
    torch.testing.assert_close(tail(*crossed), theirs(image))
print(len(crossed), "value crosses,", sum(value.numel() for value in crossed), "numbers;", end=" ")
print(len(head.graph.nodes), "nodes in the head,", len(tail.graph.nodes), "in the tail")
assert len(crossed) == 1

# %% [markdown]
# PyTorch has a tool for more than two parts: `torch.fx.passes.split_module`. A callback says for each node to which part it belongs.
# It is internal and may change. (Run with torch 2.14.)

# %%
skipping = Skipping()
gm = fx.symbolic_trace(skipping)
order = [n.name for n in gm.graph.nodes]
parts = split_module(gm, skipping, lambda node: int(order.index(node.name) > order.index("lin")))
print(parts.code)
x = torch.randn(2, 3)
torch.testing.assert_close(parts(x), skipping(x))

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (8 minutes)
#
# ### A value crosses once for each reader
#
# Collect what the nodes of the tail read, and you find `sin` twice in `Skipping`: it has two readers there.


# %%
def read_after(nodes: Sequence[fx.Node], place: int) -> list[fx.Node]:
    """What the nodes after a place read from before it, one entry for each reading node."""
    before = set(nodes[: place + 1])
    return [read for n in nodes[place + 1 :] for read in n.all_input_nodes if read in before]


nodes = list(fx.symbolic_trace(Skipping()).graph.nodes)
place = next(i for i, node in enumerate(nodes) if node.name == "lin")
found = [node.name for node in read_after(nodes, place)]
print(found)
assert found.count("sin") == 2 and found.count("scale") == 1

# %% [markdown]
# A head that returns this list sends one tensor twice, and the tail needs a parameter for each.
# **Right:** ask each node of the *head* whether it has a user after the cut. Or make the list unique and keep its order: `list(dict.fromkeys(...))`.
#
# ### The head is cleaned up
#
# A head often has calls that nothing in it reads. They look dead, but the tail counts on what they write:


# %%
def parts_of(model: nn.Module, name: str, clean: bool) -> tuple[fx.GraphModule, fx.GraphModule]:
    """Head and tail of a model in which only the value `name` crosses."""
    gm = fx.symbolic_trace(model)
    head, tail, seen = fx.Graph(), fx.Graph(), {}
    nodes = list(gm.graph.nodes)
    reader = next(i for i, node in enumerate(nodes) if node.name == "mul")
    for node in nodes[:reader]:
        seen[node] = head.node_copy(node, seen.__getitem__)
    crossing = next(node for node in nodes if node.name == name)
    head.output((seen[crossing],))
    if clean:
        head.eliminate_dead_code()  # wrong
    seen = {crossing: tail.placeholder(name)}
    for node in nodes[reader:]:
        seen[node] = tail.node_copy(node, seen.__getitem__)
    return fx.GraphModule(gm, head), fx.GraphModule(gm, tail)


x = torch.zeros(2)
for clean in (False, True):
    head, tail = parts_of(Unread(), "sub", clean)
    print([n.name for n in head.graph.nodes], tail(*head(x)))
    assert torch.equal(tail(*head(x)), Unread()(x)) == (not clean)

# %% [markdown]
# **Right:** leave the nodes where they are, read or not. A cut is no clean-up.
#
# ### Each half gets a copy of the weights
#
# `copy.deepcopy` of the trace, one for each half, looks like a safe way to begin. But a copy of a GraphModule has parameters of its own.

# %%
skipping = Skipping()
half = copy.deepcopy(fx.symbolic_trace(skipping))
assert half.scale is not skipping.scale
x = torch.ones(2, 3)
with torch.no_grad():
    skipping.scale.zero_()  # as if it was trained
    assert torch.equal(skipping(x), torch.zeros(2, 3))
    assert not torch.equal(half(x), torch.zeros(2, 3))  # it knows nothing of that

# %% [markdown]
# **Right:** `fx.GraphModule(gm, graph)` for both halves. It takes the model's own parameters over. To copy a graph alone: `copy.deepcopy(gm.graph)`.
#
# ### The values are sent one by one
#
# On one machine, two values that cross may lie in the same memory, and a call in place in the tail changes both.
# If each value is sent alone, each has memory of its own on the other side:


# %%
class Aliased(nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        row = y[0]
        y.mul_(10)  # changes `row`, too
        return row + y.sum()


class Head(nn.Module):  # cut after `row`
    def forward(self, x):
        y = torch.exp(x)
        return y, y[0]


class Tail(nn.Module):
    def forward(self, exp, getitem):
        exp.mul_(10)
        return getitem + exp.sum()


def over_the_line(value):
    """What the server gets: written on one side, read on the other."""
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file)


x = torch.zeros(2, 3)
assert torch.equal(Tail()(*Head()(x)), Aliased()(x))
one_by_one = Tail()(*[over_the_line(value) for value in Head()(x)])
together = Tail()(*over_the_line(Head()(x)))
print(Aliased()(x), one_by_one, together, sep="\n")
assert not torch.equal(one_by_one, Aliased()(x))
assert torch.equal(together, Aliased()(x))

# %% [markdown]
# **Right:** one `torch.save` for the whole tuple. It writes shared memory once, and `torch.load` shares it again.
# If the line knows nothing of that, do not cut between a view and a write. To find such a place, look for writes in place after the cut.

# %% [markdown]
# ## Recap
#
# 1. A trace can be cut at every node. The head has the nodes up to there, the tail has the rest, each in a graph of its own.
# 2. A value crosses if it is made before the cut and has a user after it. Inputs of the model may cross, too. Each crosses once.
# 3. In the tail, every value that crosses is a new placeholder. A copied one would bring a default or a star along.
# 4. Both halves share the model's parameters. A parameter can be read again on the other side.
# 5. The best place is where few numbers cross. A call in place after the cut counts on memory that is shared.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `graph.node_copy(node, f)` | a copy of a node of another graph; `f` says what it reads |
# | `graph.placeholder(name)` | a new input of a graph |
# | `graph.output(tuple_of_nodes)` | ends a graph; its module returns the tuple |
# | `fx.GraphModule(gm, graph)` | a module with what `graph` calls and reads; shared with `gm` |
# | `node.users` | the nodes that read this one, each once |
# | `split_module(gm, model, f)` | internal: more than two parts; `f(node)` is the part's number |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | parts of one graph for several devices, and what must not be cut | chapter 13 |
# | sizes and types of values without running a model: `ShapeProp`, `FakeTensorProp` | chapter 6 |
# | the opposite: pasting one graph into another | the optional part, notebook `05b_programs` |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), the reference of `torch.fx.Graph`;
# [torch.save](https://docs.pytorch.org/docs/stable/notes/serialization.html), the note on how shared memory is saved; and
# [pipeline parallelism](https://docs.pytorch.org/docs/stable/distributed.pipelining.html), which cuts models into stages.
# (`torch.fx.passes` is not promised to stay as it is.)
