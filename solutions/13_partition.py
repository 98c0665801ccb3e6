# %% [markdown]
# # 13 · Parts of a graph, and what they cost
#
# **After this chapter you can say how much memory a graph needs, and pay with time where it needs too much.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3 and 6: traces, editing a graph, `node.users`, the Interpreter. Chapter 7b, where a model is cut in two, is near to this one, but you can do without it |
# | **Time** | about 95 minutes with *Common mistakes*, 48 of them for the exercises; the minutes of a section include its exercise |
#
# **When you are done, you can**
#
# 1. say which values are alive at a node, and until when;
# 2. say why a tensor of four bytes may keep four thousand bytes alive;
# 3. find the node at which a graph needs most memory, and how much;
# 4. make a graph compute a value again instead of keeping it;
# 5. say which values are worth it, and which are not;
# 6. say which nodes must never be copied or moved.

# %% [markdown]
# ## A story
#
# The team of chapter 7 has a small accelerator for GoogLeNet. Its data sheet has two lines that worry them.
# The memory is small. And some operations are missing, so a part of the network has to run elsewhere.
#
# Nobody wants to change the model for that. But a trace says which value is read where.
# From this one can work out what has to be in memory at each moment, and what could be thrown away and computed again.
#
# Three things are done in the end: the team knows at which node the network needs most, knows how to pay time for memory,
# and knows which nodes it must leave alone.

# %%
import copy

import matplotlib.pyplot as plt
import torch
from IPython.display import display
from torch import fx, nn
from torch.fx.passes.split_module import split_module
from torchvision.models import googlenet

from autograder import check, draw, fails, hint, progress, suspects
from autograder.given import make_alive

torch.manual_seed(13)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the result.** `other = fx.GraphModule(gm, gm.graph)` makes a second graph module. Whose graph does it have?
#
# <details><summary>A copy of the graph of <code>gm</code>, with the same names</summary>
#
# No. That would be <code>copy.deepcopy(gm.graph)</code>.
# </details>
# <details><summary>The graph of <code>gm</code> itself: an edit of one is an edit of the other</summary>
#
# Right. Nothing is copied here, the parameters are shared, and so is the graph. A graph that you edit has to be a copy.
# </details>
# <details><summary>A fresh trace of <code>gm</code></summary>
#
# No. Only <code>fx.symbolic_trace</code> traces.
# </details>


# %%
class Small(nn.Module):
    def forward(self, x):
        return torch.sin(x) + torch.cos(x)


gm = fx.symbolic_trace(Small())
assert fx.GraphModule(gm, gm.graph).graph is gm.graph
copied = copy.deepcopy(gm.graph)
assert copied is not gm.graph
assert [n.name for n in copied.nodes] == [n.name for n in gm.graph.nodes]

# %% [markdown]
# **Predict the result.** In this graph a node `tanh` is added before `sin`, and reads `x`, too. In which order does `x.users` list its readers?
#
# <details><summary>In the order of the graph: <code>tanh</code>, <code>sin</code>, <code>cos</code></summary>
#
# No. <code>users</code> is a dictionary, and nobody sorts it.
# </details>
# <details><summary>In the order in which they began to read it: <code>sin</code>, <code>cos</code>, <code>tanh</code></summary>
#
# Right. A new reader is added at the end, wherever its place in the graph is. To know which reader comes first, go through the graph.
# </details>
# <details><summary>In no order: it is a set</summary>
#
# No. It is a dictionary, and a dictionary keeps the order in which keys were added.
# </details>

# %%
x_node, sin_node, *_ = gm.graph.nodes
with gm.graph.inserting_before(sin_node):
    gm.graph.call_function(torch.tanh, (x_node,))
assert [n.name for n in x_node.users] == ["sin", "cos", "tanh"]
assert [n.name for n in gm.graph.nodes if n in x_node.users] == ["tanh", "sin", "cos"]

# %% [markdown]
# ## 13.1 What is alive
#
# Read the code that FX writes, and look at the ends of the lines:


# %%
class Backwards(nn.Module):
    """What was computed first is read last, as in a backward pass."""

    def forward(self, x):
        a = torch.exp(x)
        b = torch.sin(a)
        c = torch.cos(b)
        d = torch.tanh(c)
        e = torch.neg(d)
        return e + d + c + b + a


gm = fx.symbolic_trace(Backwards())
print(gm.code)
lines = {line.split("=")[0].strip(): line for line in gm.code.splitlines()}
assert lines["add"].endswith("neg = tanh = None")
assert lines["add_3"].endswith("exp = None")

# %% [markdown]
# `neg = None` is said right behind the line that reads `neg` for the last time. From then on nobody holds the value, and its memory is free.
# `exp` is held much longer: until the last sum.
#
# So a value is **alive** from its own node to its last reader. While a node runs, what it reads is alive, and so is what it makes.
# All of this can be read from the graph. Nothing has to run for it:


# %%
def alive_at(graph: fx.Graph) -> dict[str, list[str]]:
    """For each node, the values of calls that are alive while it runs."""
    order = {node: i for i, node in enumerate(graph.nodes)}
    last = {node: max([order[node], *(order[u] for u in node.users)]) for node in order}
    calls = [node for node in order if node.op.startswith("call_")]
    return {
        now.name: [node.name for node in calls if order[node] <= order[now] <= last[node]]
        for now in order
    }


for name, values in alive_at(gm.graph).items():
    print(f"{name:8} {values}")
assert alive_at(gm.graph)["neg"] == ["exp", "sin", "cos", "tanh", "neg"]
assert alive_at(gm.graph)["add"] == ["exp", "sin", "cos", "tanh", "neg", "add"]
assert len(alive_at(gm.graph)["add_3"]) == 3

# %% [markdown]
# At `add` six values are alive. That is where this graph needs most. A value that nobody reads is alive at its own node only.
#
# **Predict the number.** Twenty calls of `torch.relu` follow one another, and each reads the one before it. How many values are alive at once, at most?
#
# <details><summary>20: each call makes a value</summary>
#
# No. As soon as the next call has run, nobody reads the one before.
# </details>
# <details><summary>2: the one that is read, and the one that is made</summary>
#
# Right. A chain needs no more memory when it gets longer. What costs memory are values that wait for a late reader.
# </details>
# <details><summary>1: each value takes the place of the one before</summary>
#
# That would be a call in place. While <code>torch.relu</code> runs, it reads one tensor and fills another.
# </details>

# %%
graph = fx.Graph()
value = graph.placeholder("x")
for _ in range(20):
    value = graph.call_function(torch.relu, (value,))
graph.output(value)
assert max(len(values) for values in alive_at(graph).values()) == 2

# %% [markdown]
# ### Tensors and their memory
#
# To count values is only a beginning, because values have sizes. And a tensor is not the memory that it shows.
# The memory is its **storage**, and several tensors may share one. `untyped_storage().nbytes()` is its size in bytes.

# %%
long = torch.zeros(10).repeat(100)
one = long[:1]
print(one.nbytes, "bytes are shown,", one.untyped_storage().nbytes(), "are kept")
assert one.nbytes == 4
assert one.untyped_storage().nbytes() == long.untyped_storage().nbytes() == 4000
assert one.untyped_storage().data_ptr() == long.untyped_storage().data_ptr()

# %% [markdown]
# `one` is a view. It has four bytes to show, and as long as it is alive, all 4,000 bytes stay.
# The other way round, a view of something that is alive anyway costs nothing.
#
# **Predict the number.** `y = torch.zeros(1000)`, and `views = [y[:500], y.view(10, 100), y.t()]`. How many storages do the four tensors have together?
#
# <details><summary>4, one each</summary>
#
# No. A slice, <code>view</code> and <code>t</code> do not copy anything.
# </details>
# <details><summary>2: the slice is shorter, so it has its own</summary>
#
# No. A slice only says where it begins and how long it is.
# </details>
# <details><summary>1</summary>
#
# Right. They are four ways to read the same 4,000 bytes. Whoever adds up the sizes of tensors counts these bytes three or four times.
# </details>

# %%
y = torch.zeros(1000)
views = [y[:500], y.view(10, 100), y.t()]
assert len({v.untyped_storage().data_ptr() for v in [y, *views]}) == 1
assert sum(v.nbytes for v in [y, *views]) == 14_000 and y.untyped_storage().nbytes() == 4_000

# %% [markdown]
# A function that watches storages while a graph runs is an Interpreter of chapter 6 with two more lines. This one notes what each node makes anew:


# %%
class Storages(fx.Interpreter):
    """Notes how many bytes each node makes that nobody had before."""

    def __init__(self, gm: fx.GraphModule):
        super().__init__(gm, garbage_collect_values=False)  # all values stay: see below
        self.made: dict[str, int] = {}
        self.seen: set[int] = set()

    def run_node(self, n: fx.Node):
        value = super().run_node(n)
        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage()
            new = storage.data_ptr() not in self.seen
            self.seen.add(storage.data_ptr())
            self.made[n.name] = storage.nbytes() if new and n.op.startswith("call_") else 0
        return value


class Sliced(nn.Module):
    def forward(self, x):
        many = x.repeat(100)
        one = many[:1]
        return torch.sin(one)


watching = Storages(fx.symbolic_trace(Sliced()))
watching.run(torch.zeros(10))
print(watching.made)
assert watching.made == {"x": 0, "repeat": 4000, "getitem": 0, "sin": 4, "output": 0}

# %% [markdown]
# It keeps all values on purpose. An address tells two storages apart only while both are there.
#
# What a node makes is one thing, what is alive at it is another. The first belongs to the node, the second to a place in the graph.
# For the memory that a device must have, the second one counts, and the largest of all.

# %% [markdown] card="peak_memory"
# **Given** a graph module, and its inputs.
#
# **Return** a tuple: the most bytes that are alive at any node when the graph runs on these inputs, and the name of the first node at which so many are alive.
#
# * **Storages** of the values that nodes make are counted, each once, whatever views there are. Tensors in tuples, lists and dictionaries count, too.
# * Storages of **inputs**, **parameters** and **buffers** are not counted: they are there anyway.
# * A value is alive at its own node, and up to its last reader. The output is a reader. So while a node runs, what it reads is alive, and what it makes.
# * A value that nobody reads is alive at its own node only.
# * Inputs that have a default may be left out.
#
# What an operation or a layer needs while it runs is not seen by an Interpreter, and does not count.
#
# **Do not** change `gm` or the `meta` of its nodes, and do not trace it anew.

# %%
kept = fx.symbolic_trace(lambda x: torch.sin(x.repeat(100)[:1]))
print("peak_memory(kept, torch.zeros(10)) must be (4004, 'sin')")
assert torch.zeros(10).repeat(100).nbytes + torch.sin(torch.zeros(1)).nbytes == 4004


# %% solve="peak_memory"
def peak_memory(gm: fx.GraphModule, *inputs: object) -> tuple[int, str]:
    """The most bytes that are alive at once, and the first node where they are."""

    ### BEGIN SOLUTION
    def storages(value: object) -> dict[int, int]:
        """Address and size of each storage in a value."""
        if isinstance(value, torch.Tensor):
            return {value.untyped_storage().data_ptr(): value.untyped_storage().nbytes()}
        if isinstance(value, dict):
            value = list(value.values())
        found: dict[int, int] = {}
        for item in value if isinstance(value, list | tuple) else []:
            found |= storages(item)
        return found

    interpreter = fx.Interpreter(gm, garbage_collect_values=False)
    interpreter.run(*inputs)
    found = {node: storages(value) for node, value in interpreter.env.items()}
    theirs = storages([*gm.parameters(), *gm.buffers(), *inputs])
    for node in gm.graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            theirs |= found[node]

    order = {node: i for i, node in enumerate(gm.graph.nodes)}
    last = {node: max([i, *(order[user] for user in node.users)]) for node, i in order.items()}
    most, where = -1, ""
    for now in order:
        alive: dict[int, int] = {}
        for node in order:
            if node.op.startswith("call_") and order[node] <= order[now] <= last[node]:
                alive |= found[node]
        size = sum(alive[address] for address in alive.keys() - theirs.keys())
        if size > most:
            most, where = size, now.name
    return most, where
    ### END SOLUTION


# %% check="peak_memory"
check(peak_memory)

# %% hint="peak_memory"
hint("peak_memory")

# %% [markdown]
# Try it on `Backwards`, with 1,000 numbers of four bytes each. Above, six values were alive at `add`:

# %% uses="peak_memory"
thousand = torch.randn(1000)
assert peak_memory(gm, thousand) == (6 * 4000, "add")
assert peak_memory(kept, torch.zeros(10)) == (4004, "sin")

# %% [markdown]
# ## 13.2 Time for memory
#
# In `Backwards`, `exp` waits for the very last sum. But it is only `torch.exp(x)`, and `x` is there anyway.
# Why keep it? It can be computed a second time, directly before it is needed:


# %%
class Cheaper(nn.Module):
    """`Backwards`, with `b` and `c` computed again for their late readers."""

    def forward(self, x):
        a = torch.exp(x)
        b = torch.sin(a)
        c = torch.cos(b)
        d = torch.tanh(c)
        e = torch.neg(d)
        first = e + d
        second = first + torch.cos(torch.sin(a))
        return second + torch.sin(a) + a


def most_alive(gm: fx.GraphModule) -> int:
    return max(len(values) for values in alive_at(gm.graph).values())


def count_calls(gm: fx.GraphModule) -> int:
    return sum(node.op.startswith("call_") for node in gm.graph.nodes)


before, after = fx.symbolic_trace(Backwards()), fx.symbolic_trace(Cheaper())
x = torch.randn(5)
torch.testing.assert_close(after(x), before(x))
print("before:", count_calls(before), "calls,", most_alive(before), "values at once")
print("after: ", count_calls(after), "calls,", most_alive(after), "values at once")
assert (count_calls(before), most_alive(before)) == (9, 6)
assert (count_calls(after), most_alive(after)) == (12, 4)

# %% [markdown]
# Two values less are alive at once, and three calls more are made. This trade is called recomputation or **checkpointing**:
# `torch.utils.checkpoint` does it for training, and the partitioner behind `torch.compile` chooses such values by itself.
# In a graph it is a plain edit: the late readers read copies of the node.
#
# Look at `torch.cos(torch.sin(a))` above. A copy of `cos` needs a value of `sin`, and if `sin` was not kept either, it has to be computed again as well.
# So the copy of `cos` is itself a late reader of `sin`, and gets a copy of its own.
#
# **Predict the number.** Only `tanh` is computed again for its late reader, and `exp`, `sin` and `cos` are kept. What is the most that is alive now? (It was 6.)
#
# <details><summary>5</summary>
#
# No. <code>tanh</code> is read by <code>neg</code>, and by the sum directly after it.
# </details>
# <details><summary>6, as before</summary>
#
# Right. Between the two readers of <code>tanh</code> there is nothing. When the sum runs, its copy has just been made, and is alive. Only a value that waits for a long time is worth it.
# </details>
# <details><summary>7: there is one value more</summary>
#
# There is one more in the graph, but the original is not alive any more when the copy is made.
# </details>


# %%
class OnlyTanh(nn.Module):
    def forward(self, x):
        a = torch.exp(x)
        b = torch.sin(a)
        c = torch.cos(b)
        d = torch.tanh(c)
        e = torch.neg(d)
        return e + torch.tanh(c) + c + b + a


assert most_alive(fx.symbolic_trace(OnlyTanh())) == most_alive(before) == 6

# %% [markdown]
# ### One node, one late reader
#
# With graphs, the worked example is this: `exp` is read by `sin`, and then by the last sum. The sum should read a copy.

# %%
edited = copy.deepcopy(before)  # nodes of our own, with the same names
by_name = {node.name: node for node in edited.graph.nodes}
late = by_name["add_3"]
with edited.graph.inserting_before(late):
    again = edited.graph.node_copy(by_name["exp"])
late.replace_input_with(by_name["exp"], again)
edited.recompile()
print(edited.code)
torch.testing.assert_close(edited(x), before(x))
assert most_alive(edited) == 5
assert count_calls(before) == 9  # nothing was changed there

# %% [markdown]
# Three calls do the work. `graph.node_copy` makes the copy, with the arguments and the `meta` of the original.
# `inserting_before` puts it directly before the reader: at any earlier place it would wait, too.
# And `replace_input_with` lets this one reader read the copy, wherever it reads the original: in a list, as a keyword, or twice.
#
# A node that reads a value twice is still one reader, and needs one copy:

# %%
graph = fx.Graph()
doubled = graph.call_function(torch.exp, (graph.placeholder("x"),))
reader = graph.call_function(torch.stack, ([doubled, doubled],))
graph.output(reader)
with graph.inserting_before(reader):
    again = graph.node_copy(doubled)
again.meta["mark"] = "only the copy's"
reader.replace_input_with(doubled, again)
assert reader.args == ([again, again],)
assert doubled.users == {} and "mark" not in doubled.meta

# %% [markdown] card="recompute"
# **Given** a graph module, and a list of names of call nodes.
#
# **Return** a graph module that computes the same, but does not keep the values of these nodes for later readers.
#
# * The **first** reader of a named node, in the order of the graph, reads the original. Every later reader reads a copy of its own.
#   The output is a reader like all others. A reader that reads a value twice is one reader.
# * A copy is directly before its reader. Only other copies may be between them.
# * A copy reads what the original reads in `gm`, and it counts as a reader of that. If that is a named node, too, the copy is one of its later readers,
#   and reads a copy of its own. So a chain of named nodes is computed again as a whole.
# * All originals stay, also where nobody reads them, in their order. A copy has the `meta` of its original. Names of new nodes are free.
# * A name that is unknown, or that of a node which is no call: `ValueError`, and the message contains the name.
#
# **Do not** change `gm` or the `meta` of its nodes, and do not trace it anew: its graph and names are its own.


# %%
class Given(nn.Module):
    def forward(self, x):
        a = torch.sin(x)
        b = torch.cos(a)
        return torch.exp(b) * b


class Result(nn.Module):  # recompute(gm, ["sin", "cos"])
    def forward(self, x):
        a = torch.sin(x)
        b = torch.cos(a)
        first = torch.exp(b)
        return first * torch.cos(torch.sin(x))


x = torch.ones(5)
torch.testing.assert_close(Result()(x), Given()(x))
display(draw(Given(), title="given"))
draw(Result(), title="with sin and cos computed again")


# %% solve="recompute"
def recompute(gm: fx.GraphModule, names: list[str]) -> fx.GraphModule:
    """A graph module in which later readers of the named nodes read copies of them."""
    ### BEGIN SOLUTION
    calls = {node.name for node in gm.graph.nodes if node.op.startswith("call_")}
    for name in names:
        if name not in calls:
            raise ValueError(f"{name!r} is not the name of a call node")
    new = copy.deepcopy(gm)
    # From the last to the first: a copy is a reader of what comes before it in the chain.
    for node in reversed(list(new.graph.nodes)):
        if node.name not in names:
            continue
        readers = [reader for reader in new.graph.nodes if reader in node.users]
        for reader in readers[1:]:
            with new.graph.inserting_before(reader):
                again = new.graph.node_copy(node)
            reader.replace_input_with(node, again)
    new.recompile()
    return new
    ### END SOLUTION


# %% check="recompute"
check(recompute)

# %% hint="recompute"
hint("recompute")

# %% [markdown]
# What does it bring? Here is the trade for `Backwards`, for several choices of names:

# %% uses="recompute"
choices = [
    [],
    ["tanh"],
    ["exp"],
    ["sin", "cos"],
    ["sin", "cos", "tanh"],
    ["exp", "sin", "cos", "tanh"],
]
trades = []
for names in choices:
    found = recompute(before, names)
    torch.testing.assert_close(found(x), before(x))
    trades.append((count_calls(found), most_alive(found)))
    print(f"{trades[-1][0]:3} calls, {trades[-1][1]} values at once: {names}")
assert trades[0] == (9, 6) and trades[1] == (10, 6)
assert trades[-1] == (19, 3)

figure, axes = plt.subplots(figsize=(5, 2.6))
axes.plot(*zip(*trades, strict=True), "o", color="#3b6ea5")
axes.set_xlabel("calls")
axes.set_ylabel("values alive at once")
figure.tight_layout()
plt.show()

# %% [markdown]
# With all four, the calls have more than doubled, and half of the values is enough. `tanh` alone brings nothing, as predicted.

# %% [markdown]
# ### Where GoogLeNet needs most
#
# Which values of the team's network wait, and for whom?

# %%
theirs = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10))
network = fx.symbolic_trace(theirs)
widest = max(alive_at(network.graph).items(), key=lambda item: len(item[1]))
print("most values at once:", len(widest[1]), "at", widest[0])
print(widest[1])
assert len(widest[1]) == 5
readers = {
    node.name: len(node.users) for node in network.graph.nodes if node.op.startswith("call_")
}
several = [name for name, count in readers.items() if count > 1]
print(len(several), "of", len(readers), "values have several readers:", several[:4])
assert all(count == 4 for name, count in readers.items() if name in several)

# %% [markdown]
# The only values that wait are the inputs of the Inception blocks, which four branches read, and the ends of the branches.
# No more than five are alive at once. Your function says how much that is, for one image:

# %% uses="peak_memory"
image = torch.rand(1, 3, 64, 64)
with torch.no_grad():
    most, where = peak_memory(network, image)
print(f"{most:,} bytes at {where}")
assert where == "conv1_bn"  # the largest maps are at the beginning, and there only two are alive
assert where != widest[0]

# %% [markdown]
# The most bytes are not where the most values are: at the beginning the maps are few, but large.
#
# So GoogLeNet has little to gain here: a network without long detours is frugal when it only runs forwards.
# In training it is different. There the backward pass reads all of them again, last ones first, like `Backwards` does.

# %% [markdown]
# ## 13.3 What must stay where it is
#
# To copy a node, or to compute it elsewhere, is right only if its value depends on nothing but what it reads. Two kinds of nodes break that.
#
# **Predict the result.** The value of `F.dropout(x, training=True)` has two readers, and the second one reads a copy of the node. Do both read the same numbers?
#
# <details><summary>Yes, a copy has the same arguments</summary>
#
# The arguments are the same, but the random numbers are not.
# </details>
# <details><summary>No, each call draws anew</summary>
#
# Right. The two readers disagree about what was dropped, and nobody gets an error. Tools for training keep the state of the generator for that, or leave random nodes alone.
# </details>
# <details><summary>Yes, if the model was seeded before</summary>
#
# A seed makes the whole run repeatable. The second call still draws other numbers than the first.
# </details>


# %%
class Dropped(nn.Module):
    def forward(self, x):
        y = nn.functional.dropout(x, training=True)
        return y.neg() + y  # zero, if both are the same


gm = fx.symbolic_trace(Dropped())
assert torch.equal(gm(torch.ones(100)), torch.zeros(100))
nodes = {node.name: node for node in gm.graph.nodes}
with gm.graph.inserting_before(nodes["add"]):
    again = gm.graph.node_copy(nodes["dropout"])
nodes["add"].replace_input_with(nodes["dropout"], again)
gm.recompile()
assert not torch.equal(gm(torch.ones(100)), torch.zeros(100))

# %% [markdown]
# The other kind writes in place. If a tensor is changed between two readers, the second one must see the change, and a copy of the value does not:


# %%
class Changed(nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        z = y.mul_(2)
        return z + y


gm = fx.symbolic_trace(Changed())
assert torch.equal(gm(torch.zeros(1)), torch.tensor([4.0]))
nodes = {node.name: node for node in gm.graph.nodes}
with gm.graph.inserting_before(nodes["add"]):
    again = gm.graph.node_copy(nodes["exp"])
nodes["add"].replace_input_with(nodes["exp"], again)
gm.recompile()
assert torch.equal(gm(torch.zeros(1)), torch.tensor([3.0]))  # `y` without the factor

# %% [markdown]
# So before such an edit, look for both (chapter 3b does it for dead code), or take a graph in which there are none:
# after `run_decompositions()` an exported program has no writes in place (chapter 11).

# %% [markdown]
# ### Break it: two pieces
#
# Cutting a graph into pieces moves calls, too. `split_module` puts the pieces in an order in which each comes behind those whose *values* it reads. No value, no order.
# The suspect below makes a piece of all calls of one `op`, and puts the pieces back into one graph, so that you can see what moved.
# (Chapter 3b, section 3b.6, explains the game.)

# %%
trace = fx.symbolic_trace(lambda x: (x.sin(), torch.exp(x), x.cos()))
kinds = ["call_method", "call_function"]
pieces = split_module(trace, trace, lambda node: kinds.index(node.op))
assert [n.name for n in pieces.graph.find_nodes(op="call_module")] == ["submod_1", "submod_0"]

# %% [markdown] card="WitnessSplit"
# **The suspect** is `suspects.split_by_kind`, made of PyTorch's own `split_module`.
# **Its task:** make a piece of all calls of one kind, `call_function`, `call_method` or `call_module`, and keep what the model computes.
# Where pieces would have to wait for each other, it gives back the model as it was.
#
# **Write** the class `WitnessSplit`, a model on which it is wrong, with its `inputs`: one tuple of arguments, a class attribute.
#
# **At most 3 calls.** The shortest that we know has 2.

# %%
# On this graph the suspect is right: the function has overtaken a method, and that changes nothing.
gm = suspects.split_by_kind(fx.symbolic_trace(lambda x: (x.sin(), torch.exp(x), x.cos())))
assert [node.name for node in gm.graph.nodes] == ["x", "exp", "sin", "cos", "output"]
draw(gm)


# %% solve="WitnessSplit"
class WitnessSplit(nn.Module):
    """A model on which `suspects.split_by_kind` is wrong: at most 3 calls.

    Attributes:
        inputs: the arguments of `forward`, as one tuple. Put in what you need.
    """

    inputs = (torch.tensor([-1.0, 2.0]),)

    def forward(self, x):
        ### BEGIN SOLUTION
        x.add_(1)
        return torch.exp(x)
        ### END SOLUTION


# %% check="WitnessSplit"
check(WitnessSplit)

# %% hint="WitnessSplit"
hint("WitnessSplit")

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (8 minutes)
#
# ### The copy is made where the original is
#
# The graph is right, and nothing is gained: the copy waits instead of the original.

# %%
waits = copy.deepcopy(before)
by_name = {node.name: node for node in waits.graph.nodes}
with waits.graph.inserting_after(by_name["exp"]):
    again = waits.graph.node_copy(by_name["exp"])
by_name["add_3"].replace_input_with(by_name["exp"], again)
waits.recompile()
torch.testing.assert_close(waits(x), before(x))
assert most_alive(waits) == 6 and most_alive(edited) == 5

# %% [markdown]
# **Right:** `inserting_before(reader)`.
#
# ### A chain is taken from the front
#
# First `sin`, then `cos`: when `cos` is copied, the copy reads the original `sin`, and `sin` waits after all.

# %%
chain = fx.symbolic_trace(Given())
by_name = {node.name: node for node in chain.graph.nodes}
readers = [reader for reader in chain.graph.nodes if reader in by_name["sin"].users]
assert len(readers) == 1  # only `cos`: nothing to do for `sin`, so it seems
with chain.graph.inserting_before(by_name["mul"]):
    again = chain.graph.node_copy(by_name["cos"])
by_name["mul"].replace_input_with(by_name["cos"], again)
assert again.args == (by_name["sin"],)  # a late reader of the original
assert len(by_name["sin"].users) == 2

# %% [markdown]
# **Right:** begin with the last node of the chain. When a node's turn comes, all copies that read it are there.
#
# ### `users` changes while a loop goes through it

# %%
nodes = {node.name: node for node in fx.symbolic_trace(Given()).graph.nodes}
with fails(RuntimeError):
    for reader in nodes["cos"].users:
        reader.args = tuple(reader.args)  # takes the reader out of `users`, and adds it again

# %% [markdown]
# **Right:** `for reader in list(node.users)`. And to know which one comes first, go through `graph.nodes`.
#
# ### Tensors are counted instead of storages
#
# The sum of the sizes says 14,000 bytes for the four tensors of section 13.1, which have 4,000. And it says four bytes for a slice that keeps 4,000:

# %%
assert sum(v.nbytes for v in [y, *views]) == 14_000
assert len({v.untyped_storage().data_ptr() for v in [y, *views]}) == 1
assert one.nbytes == 4 and one.untyped_storage().nbytes() == 4_000

# %% [markdown]
# **Right:** `untyped_storage().nbytes()`, each storage once.
#
# ### An address is taken for an identity
#
# `data_ptr()` and `id()` tell two things apart only while both are there. Memory that was freed is given out again:

# %%
seen = set()
for _ in range(200):
    value = torch.zeros(1000)
    seen.add(value.untyped_storage().data_ptr())
print(len(seen), "addresses for 200 tensors")
assert len(seen) < 200

# %% [markdown]
# **Right:** keep all values while you count, as `Storages` does with `garbage_collect_values=False`.
#
# ### The new graph module shares its graph
#
# `fx.GraphModule(gm, gm.graph)` is no copy, as in the first question of this chapter.

# %%
gm = fx.symbolic_trace(Given())
shared = fx.GraphModule(gm, gm.graph)
shared.graph.call_function(torch.neg, (next(iter(shared.graph.nodes)),))
assert "neg" in [node.name for node in gm.graph.nodes]  # `gm` has the new node, too

# %% [markdown]
# **Right:** `copy.deepcopy(gm)`, or `fx.GraphModule(gm, copy.deepcopy(gm.graph))`, which shares the parameters.

# %% [markdown]
# ## Recap
#
# 1. A value is alive from its node to its last reader. Long chains are cheap, and late readers are expensive.
# 2. What is kept are storages. A small view may keep a large one, and a view of what is kept anyway is free.
# 3. A late reader may read a copy of the node, directly before it. That costs time, and frees memory where the value would wait for long.
# 4. A copy is a reader. So chains are treated from the last node to the first.
# 5. Random nodes and nodes that write in place stay where they are.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `tensor.untyped_storage().nbytes()` | the size of the memory behind a tensor |
# | `tensor.untyped_storage().data_ptr()` | tells storages apart, while they are alive |
# | `fx.Interpreter(gm, garbage_collect_values=False)` | keeps all values of a run |
# | `graph.node_copy(node)` | in the same graph: a second node, with the same arguments and `meta` |
# | `reader.replace_input_with(node, again)` | this one reader reads the second node, wherever it reads the first |
# | `graph.inserting_before(node)` | where new nodes go |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | which parts a backend takes, and one compiled call for each of them | the deep dive `13b_lowering` |
# | cutting a model in two, and what crosses | the deep dive `07b_cutting` |
# | dead code, and nodes that write | the deep dive `03b_effects` |
# | exported programs, without writes in place | chapter 11 |
#
# In PyTorch's documentation: [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html),
# [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), and the note on
# [tensor views](https://docs.pytorch.org/docs/stable/tensor_view.html).
