# %% [markdown]
# # 13 · What a graph costs
#
# **After this chapter you can say how much memory a graph needs, and pay with time if it needs too much.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3 and 6: traces, editing a graph, `node.users`, the Interpreter |
# | **Time** | about 85 minutes with *Common mistakes*, 48 of them for the exercises; the minutes of a section include its exercise |
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
# The team of chapter 7 has a small accelerator for GoogLeNet, and its memory is small.
#
# The team does not want to change the model for that. But a trace says which node reads which value.
# So the team can compute what must be in memory at each moment, and what it could drop and compute again.
#
# At the end, the team knows at which node the network needs most, how to pay time for memory,
# and which nodes it must leave alone.

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
# Right. Nothing is copied here, the parameters are shared, and so is the graph. Before you edit a graph, copy it: <code>copy.deepcopy(gm)</code>, or <code>fx.GraphModule(gm, copy.deepcopy(gm.graph))</code>, which shares the parameters.
# </details>
# <details><summary>A fresh trace of <code>gm</code></summary>
#
# No. The constructor does not trace.
# </details>

# %% proof=true
gm = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
assert fx.GraphModule(gm, gm.graph).graph is gm.graph
other = fx.GraphModule(gm, copy.deepcopy(gm.graph))
assert other.graph is not gm.graph
assert [n.name for n in other.graph.nodes] == [n.name for n in gm.graph.nodes]
assert other.get_parameter("0.weight") is gm.get_parameter("0.weight")

# %% [markdown]
# **Predict the result.** In the graph of `torch.sin(x) + torch.cos(x)`, you add a node `tanh` before `sin`. It reads `x`, too. In which order does `x.users` list its readers?
#
# <details><summary>In the order of the graph: <code>tanh</code>, <code>sin</code>, <code>cos</code></summary>
#
# No. <code>users</code> is a dictionary, and nothing sorts it.
# </details>
# <details><summary>In the order in which they began to read it: <code>sin</code>, <code>cos</code>, <code>tanh</code></summary>
#
# Right. A new reader is added at the end, wherever its place in the graph is. To know which reader comes first, go through the graph.
# </details>
# <details><summary>In no order: it is a set</summary>
#
# No. It is a dictionary, and a dictionary keeps the order in which keys were added.
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x: torch.sin(x) + torch.cos(x))
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

# %% proof=true
lines = {line.split("=")[0].strip(): line for line in gm.code.splitlines()}
assert lines["add"].endswith("neg = tanh = None")
assert lines["add_3"].endswith("exp = None")
kept_by_autograd = set()
with torch.autograd.graph.saved_tensors_hooks(
    lambda t: kept_by_autograd.add(t.untyped_storage().data_ptr()) or t, lambda t: t
):
    result = gm(torch.randn(1000, requires_grad=True))
assert len(kept_by_autograd) == 3  # exp, sin and tanh, of five values

# %% [markdown]
# `neg = None` is at the end of the line that reads `neg` last. After that line, the code no longer refers to the value, and its memory is free.
# `exp` is kept much longer: until the last sum. (With gradients on, autograd keeps some of the values for the backward pass. This chapter is about a graph that only runs forwards.)
#
# So a value is **alive** from its own node to its last reader. While a node runs, its inputs are alive, and so is its result.
# The graph says all of this. Nothing has to run for it:


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

# %% proof=true
assert alive_at(gm.graph)["neg"] == ["exp", "sin", "cos", "tanh", "neg"]
assert alive_at(gm.graph)["add"] == ["exp", "sin", "cos", "tanh", "neg", "add"]
assert len(alive_at(gm.graph)["add_3"]) == 3

# %% [markdown]
# At `add` six values are alive, the most in this graph. A value that no node reads is alive at its own node only.
#
# **Predict the number.** Twenty calls of `torch.relu` follow one another, and each reads the one before it. How many values are alive at once, at most?
#
# <details><summary>20: each call makes a value</summary>
#
# No. As soon as the next call has run, no node reads the one before.
# </details>
# <details><summary>2: the one that is read, and the one that is made</summary>
#
# Right. A chain needs no more memory when it gets longer. Values that wait for a late reader cost memory.
# </details>
# <details><summary>1: each value overwrites the one before</summary>
#
# That would be a call in place. While <code>torch.relu</code> runs, it reads one tensor and fills another.
# </details>

# %% proof=true
graph = fx.Graph()
value = graph.placeholder("x")
for _ in range(20):
    value = graph.call_function(torch.relu, (value,))
graph.output(value)
assert max(len(values) for values in alive_at(graph).values()) == 2

# %% [markdown]
# ### Tensors and their memory
#
# Values have sizes, so you must count bytes. And a tensor is not its memory.
# The memory is its **storage**, and several tensors may share one. `untyped_storage().nbytes()` is its size in bytes.

# %%
long = torch.zeros(10).repeat(100)
one = long[:1]
print(one.nbytes, "bytes in the tensor,", one.untyped_storage().nbytes(), "in its storage")

# %% proof=true
assert one.nbytes == 4
assert one.untyped_storage().nbytes() == long.untyped_storage().nbytes() == 4000
assert one.untyped_storage().data_ptr() == long.untyped_storage().data_ptr()

# %% [markdown]
# `one` is a view. It has four bytes, but as long as it is alive, all 4,000 bytes stay.
# On the other hand, a view of a value that is alive anyway costs nothing.
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
# Right. They are four ways to read the same 4,000 bytes. The sizes of the tensors add up to 14,000.
# </details>

# %% proof=true
y = torch.zeros(1000)
views = [y[:500], y.view(10, 100), y.t()]
assert len({v.untyped_storage().data_ptr() for v in [y, *views]}) == 1
assert sum(v.nbytes for v in [y, *views]) == 14_000 and y.untyped_storage().nbytes() == 4_000

# %% [markdown]
# An Interpreter (chapter 6) can watch storages while a graph runs. This one notes the new storage of each node:


# %%
class Storages(fx.Interpreter):
    """Notes the size of the new storage that each node makes."""

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

# %% proof=true
assert watching.made == {"x": 0, "repeat": 4000, "getitem": 0, "sin": 4, "output": 0}

# %% [markdown]
# It keeps all values on purpose. An address tells two storages apart only while both exist.
#
# These are the bytes that a node makes. A device needs memory for all bytes that are alive at a node, and the node with the most decides.

# %% [markdown] card="peak_memory"
# **Given** a graph module, and its inputs.
#
# **Return** a tuple: the most bytes that are alive at any node when the graph runs on these inputs, and the name of the first node with that many.
#
# * Count the **storages** of the values that nodes make, each once. Tensors in tuples, lists and dictionaries count, too.
# * Do not count the storages of **inputs**, **parameters** and **buffers**.
# * A value is alive at its own node, and up to its last reader. The output is a reader.
#
# **Do not** trace or change `gm`.
#
# **Fine print**
#
# * While a node runs, its inputs are alive, and its result.
# * A value that no node reads is alive at its own node only.
# * Inputs that have a default may be left out.
# * An Interpreter does not see the memory that an operation or a layer needs while it runs, so this does not count.
# * The `meta` of the nodes stays as it is, too.

# %%
kept = fx.symbolic_trace(lambda x: torch.sin(x.repeat(100)[:1]))
print("peak_memory(kept, torch.zeros(10)) must be (4004, 'sin')")

# %% proof=true
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
print(peak_memory(gm, thousand))

# %% proof=true
assert peak_memory(gm, thousand) == (6 * 4000, "add")
assert peak_memory(kept, torch.zeros(10)) == (4004, "sin")

# %% [markdown]
# ## 13.2 Time for memory
#
# In `Backwards`, `b` and `c` wait for late sums. But `b` is only `torch.sin(a)`, and `a` is alive anyway.
# The model can compute both a second time, directly before it needs them:


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

# %% proof=true
import inspect

from torch._functorch.partitioners import min_cut_rematerialization_partition

assert "joint_module" in inspect.signature(min_cut_rematerialization_partition).parameters
assert (count_calls(before), most_alive(before)) == (9, 6)
assert (count_calls(after), most_alive(after)) == (12, 4)

# %% [markdown]
# Two fewer values are alive at once, for three more calls. This trade is called recomputation or **checkpointing**.
# `torch.utils.checkpoint` does it for training. `torch.compile` chooses such values with a minimum cut of the forward and backward graph
# (`min_cut_rematerialization_partition` in `torch/_functorch/partitioners.py`).
# In a graph it is a plain edit: the late readers read copies of the node.
#
# Look at `torch.cos(torch.sin(a))` above. A copy of `cos` reads a value of `sin`. If `sin` is not kept either, the copy of `cos` is a late reader of `sin`, and gets a copy of its own.
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


# %% proof=true
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
# Now as an edit of the graph. `sin` reads `exp`, and then the last sum does. The sum should read a copy.

# %%
edited = copy.deepcopy(before)
by_name = {node.name: node for node in edited.graph.nodes}
late = by_name["add_3"]
with edited.graph.inserting_before(late):
    again = edited.graph.node_copy(by_name["exp"])
late.replace_input_with(by_name["exp"], again)
edited.recompile()
print(edited.code)

# %% proof=true
torch.testing.assert_close(edited(x), before(x))
assert most_alive(edited) == 5
assert count_calls(before) == 9  # nothing was changed there

# %% [markdown]
# Three calls do this. `graph.node_copy` makes the copy, with the arguments and the `meta` of the original.
# `inserting_before` puts it directly before the reader, because at any earlier place it would wait, too.
# And `replace_input_with` makes this one reader read the copy everywhere: in a list, as a keyword, or twice.
#
# A node that reads a value twice is still one reader, and needs one copy:

# %%
graph = fx.Graph()
doubled = graph.call_function(torch.exp, (graph.placeholder("x"),))
reader = graph.call_function(torch.stack, ([doubled, doubled],))
graph.output(reader)
with graph.inserting_before(reader):
    again = graph.node_copy(doubled)
reader.replace_input_with(doubled, again)
print(graph)

# %% proof=true
again.meta["mark"] = "only the copy's"
assert reader.args == ([again, again],)
assert doubled.users == {} and "mark" not in doubled.meta

# %% [markdown] card="recompute"
# **Given** a graph module, and a list of names of call nodes.
#
# **Return** a graph module that computes the same, but does not keep the values of these nodes for later readers.
#
# * The **first** reader of a named node, in graph order, reads the original. Every later reader, the output too, reads its own copy.
# * A copy is directly before its reader.
# * A copy is a reader, too. So a chain of named nodes is computed again as a whole.
# * If a name is not that of a call node, raise a `ValueError`.
#
# **Do not** trace or change `gm`.
#
# **Fine print**
#
# * A reader that reads a value twice is one reader.
# * Only other copies may be between a copy and its reader.
# * A copy has the `meta` of its original.
# * A copy reads what the original reads in `gm`. If that is a named node, too, the copy is one of its later readers, and reads a copy of its own.
# * All originals stay in their order, even if no node reads them. Names of new nodes are free.
# * Random nodes and nodes in place are not tried.
# * The message of the `ValueError` contains the name.
# * The `meta` of the nodes of `gm` stays as it is, too.


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


display(draw(Given(), title="given"))
draw(Result(), title="with sin and cos computed again")

# %% proof=true
ones = torch.ones(5)
torch.testing.assert_close(Result()(ones), Given()(ones))


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
# What do you gain? Here is the trade for `Backwards`, for several choices of names:

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

figure, axes = plt.subplots(figsize=(5, 2.6))
axes.plot(*zip(*trades, strict=True), "o", color="#3b6ea5")
axes.set_xlabel("calls")
axes.set_ylabel("values alive at once")
figure.tight_layout()
plt.show()

# %% proof=true
assert trades[0] == (9, 6) and trades[1] == (10, 6) and trades[-1] == (19, 3)

# %% [markdown]
# With all four, there are more than twice as many calls, but only half as many values are alive at once. `tanh` alone gains nothing, as predicted.
#
# ### Where GoogLeNet needs most
#
# Which values of the team's network wait, and for which readers?

# %%
theirs = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10))
network = fx.symbolic_trace(theirs)
widest = max(alive_at(network.graph).items(), key=lambda item: len(item[1]))
print("most values at once:", len(widest[1]), "at", widest[0])
print(widest[1])
readers = {
    node.name: len(node.users) for node in network.graph.nodes if node.op.startswith("call_")
}
several = [name for name, count in readers.items() if count > 1]
print(len(several), "of", len(readers), "values have several readers:", several[:4])

# %% proof=true
assert len(widest[1]) == 5
assert all(count == 4 for name, count in readers.items() if name in several)

# %% [markdown]
# The only values that wait are the inputs of the Inception blocks, which four branches read, and the ends of the branches.
# No more than five are alive at once. Your function says how many bytes the network needs, for one image:

# %% uses="peak_memory"
image = torch.rand(1, 3, 64, 64)
with torch.no_grad():
    most, where = peak_memory(network, image)
print(f"{most:,} bytes at {where}")

# %% proof=true
assert where == "conv1_bn" != widest[0]
nodes_of = list(network.graph.nodes)
waiting = [nodes_of.index(n) for n in nodes_of if len(n.users) > 1]
assert min(waiting) > [n.name for n in nodes_of].index(where)  # no value waits there

# %% [markdown]
# The most bytes are not where the most values are: at the beginning the maps are few, but large. And no value waits there, so `recompute` cannot help.
#
# In training it is different. Autograd keeps values for the backward pass (section 13.1), which reads the last ones first, like `Backwards` does.

# %% [markdown]
# ## 13.3 What must stay where it is
#
# You may copy or move a node only if it gives the same value in the new place. Two kinds of nodes often do not.
#
# **Predict the result.** The value of `F.dropout(x, training=True)` has two readers, and the second one reads a copy of the node. Do both read the same numbers?
#
# <details><summary>Yes, a copy has the same arguments</summary>
#
# The arguments are the same, but the random numbers are not.
# </details>
# <details><summary>No, each call draws new numbers</summary>
#
# Right. The two readers disagree about the dropped numbers, without an error. `torch.utils.checkpoint` keeps the state of the random generator for that.
# </details>
# <details><summary>Yes, if the model was seeded before</summary>
#
# A seed makes the whole run repeatable. The second call still draws other numbers than the first.
# </details>


# %% proof=true
from torch.utils.checkpoint import checkpoint


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
leaf = torch.ones(100, requires_grad=True)
dropped = checkpoint(nn.functional.dropout, leaf, use_reentrant=False)
dropped.sum().backward()  # runs the dropout again
assert torch.equal(leaf.grad != 0, dropped != 0)

# %% [markdown]
# The other kind writes in place. If a tensor is changed between two readers, the second one must see the change, and a copy of the value does not:


# %%
class Changed(nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        z = y.mul_(2)
        return z + y


gm = fx.symbolic_trace(Changed())
print(gm(torch.zeros(1)))
nodes = {node.name: node for node in gm.graph.nodes}
with gm.graph.inserting_before(nodes["add"]):
    again = gm.graph.node_copy(nodes["exp"])
nodes["add"].replace_input_with(nodes["exp"], again)
gm.recompile()
print("with a copy:", gm(torch.zeros(1)))

# %% proof=true
assert torch.equal(fx.symbolic_trace(Changed())(torch.zeros(1)), torch.tensor([4.0]))
assert torch.equal(gm(torch.zeros(1)), torch.tensor([3.0]))  # `y` without the factor

# %% [markdown]
# So before such an edit, look for both (chapter 3b does it for dead code), or use a graph without writes in place:
# an exported program after `run_decompositions()` (chapter 11).

# %% [markdown]
# ### Break it: two pieces
#
# Cutting a graph into pieces moves calls, too. By default, `split_module` puts each piece after those whose *values* it reads. Without such a value, any order will do.
# The suspect below makes a piece of all calls of one `op`. It puts the pieces back into one graph, so that you can see the calls that moved.
# (Section 3b.6 explains the game.)

# %%
trace = fx.symbolic_trace(lambda x: (x.sin(), torch.exp(x), x.cos()))
kinds = ["call_method", "call_function"]
pieces = split_module(trace, trace, lambda node: kinds.index(node.op))
for call in pieces.graph.find_nodes(op="call_module"):
    print(call.target, [node.name for node in pieces.get_submodule(call.target).graph.nodes])

# %% proof=true
assert [n.name for n in pieces.graph.find_nodes(op="call_module")] == ["submod_1", "submod_0"]

# %% [markdown] card="WitnessSplit"
# **The suspect** is `suspects.split_by_kind`, made of PyTorch's own `split_module`.
# **Its task:** make a piece of all calls of one kind, `call_function`, `call_method` or `call_module`, and keep what the model computes.
# If pieces would have to wait for each other, it returns the model as it was.
#
# **Write** the class `WitnessSplit`, a model on which it is wrong, with its `inputs`: one tuple of arguments, a class attribute.
#
# **At most 3 calls.** The shortest that we know has 2.
#
# **Fine print**
#
# * `check` makes your model under three seeds. You win if the suspect is wrong each time, in the result or in the arguments afterwards.
# * Your model runs without the suspect, and gives the same result as its trace.

# %%
# On this graph the suspect is right: the function moves before a method, and that changes nothing.
gm = suspects.split_by_kind(fx.symbolic_trace(lambda x: (x.sin(), torch.exp(x), x.cos())))
print([node.name for node in gm.graph.nodes])

# %% proof=true
assert [node.name for node in gm.graph.nodes] == ["x", "exp", "sin", "cos", "output"]


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
# The fix is an argument, which vLLM passes, too (in vllm/compilation/backends.py). Then the pieces are in the order of their first calls. It is enough if no piece has calls on both sides of another piece:

# %%
kept_order = split_module(trace, trace, lambda node: kinds.index(node.op), keep_original_order=True)
print([node.name for node in kept_order.graph.find_nodes(op="call_module")])


# %% proof=true
class Between(nn.Module):
    def forward(self, x):
        y = x.sin()
        torch.relu_(x)
        return y, x.cos()


assert [n.name for n in kept_order.graph.find_nodes(op="call_module")] == ["submod_0", "submod_1"]
for model, is_right in ((WitnessSplit(), True), (Between(), False)):
    cut = split_module(
        fx.symbolic_trace(model), model, lambda n: kinds.index(n.op), keep_original_order=True
    )
    got, want = cut(torch.tensor([-1.0])), model(torch.tensor([-1.0]))
    assert (str(got) == str(want)) is is_right

# %% [markdown]
# ## Common mistakes
#
# ### The copy is made next to the original
#
# The graph is right, and nothing is gained: the copy waits instead of the original.

# %%
waits = copy.deepcopy(before)
by_name = {node.name: node for node in waits.graph.nodes}
with waits.graph.inserting_after(by_name["exp"]):
    again = waits.graph.node_copy(by_name["exp"])
by_name["add_3"].replace_input_with(by_name["exp"], again)
print(most_alive(waits), "values at once; with the copy before the reader:", most_alive(edited))

# %% proof=true
assert most_alive(waits) == 6 and most_alive(edited) == 5

# %% [markdown]
# **Right:** `inserting_before(reader)`.
#
# ### A chain is copied from the front
#
# First `sin`, then `cos`: when `cos` is copied, the copy reads the original `sin`, and `sin` waits after all.

# %%
chain = fx.symbolic_trace(Given())
by_name = {node.name: node for node in chain.graph.nodes}
print("readers of sin:", list(by_name["sin"].users))  # one: nothing to do, it seems
with chain.graph.inserting_before(by_name["mul"]):
    again = chain.graph.node_copy(by_name["cos"])
by_name["mul"].replace_input_with(by_name["cos"], again)
print("readers of sin:", list(by_name["sin"].users))

# %% proof=true
assert again.args == (by_name["sin"],)  # a late reader of the original
assert len(by_name["sin"].users) == 2

# %% [markdown]
# **Right:** begin with the last node of the chain. Then all copies that read a node exist when you copy the node.
#
# ### `users` changes while a loop goes through it

# %%
nodes = {node.name: node for node in fx.symbolic_trace(Given()).graph.nodes}
with fails(RuntimeError):
    for reader in nodes["cos"].users:
        reader.args = tuple(reader.args)  # removes the reader from `users`, and adds it again

# %% [markdown]
# **Right:** `for reader in list(node.users)`. And to know which one comes first, go through `graph.nodes`.
#
# ### Tensors are counted instead of storages

# %%
halves = long.chunk(2)
print(sum(tensor.nbytes for tensor in (long, *halves, one)), "bytes in four tensors")
print(len({t.untyped_storage().data_ptr() for t in (long, *halves, one)}), "storage of 4000 bytes")

# %% proof=true
assert sum(tensor.nbytes for tensor in (long, *halves, one)) == 8004
assert len({t.untyped_storage().data_ptr() for t in (long, *halves, one)}) == 1

# %% [markdown]
# **Right:** `untyped_storage().nbytes()`, each storage once.
#
# ### An address is taken for an identity
#
# `data_ptr()` and `id()` tell two things apart only while both exist. Freed memory is used again:

# %%
seen = set()
for _ in range(200):
    value = torch.zeros(1000)
    seen.add(value.untyped_storage().data_ptr())
print(len(seen), "addresses for 200 tensors")

# %% proof=true
assert len(seen) < 200

# %% [markdown]
# **Right:** keep all values while you count, as `Storages` does with `garbage_collect_values=False`.

# %% [markdown]
# ## Recap
#
# 1. A value is alive from its node to its last reader. Long chains are cheap, and late readers are expensive.
# 2. Memory is kept by storages. A small view may keep a large storage, and a view of a value that is alive anyway is free.
# 3. A late reader may read a copy of the node, directly before it. That costs time, and saves memory if the value would wait for long.
# 4. A copy is a reader. So copy a chain from its last node to its first.
# 5. Random nodes and nodes that write in place stay where they are.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `tensor.untyped_storage().nbytes()` | the size of a tensor's memory |
# | `tensor.untyped_storage().data_ptr()` | tells storages apart, while they are alive |
# | `fx.Interpreter(gm, garbage_collect_values=False)` | keeps all values of a run |
# | `graph.node_copy(node)` | in the same graph: a second node, with the same arguments and `meta` |
# | `reader.replace_input_with(node, again)` | this one reader reads the second node instead of the first |
# | `graph.inserting_before(node)` | inserts new nodes before this one |
# | `split_module(gm, root, label, keep_original_order=True)` | pieces in the order of their first calls |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | dividing a graph for a backend, and one compiled call for each part | the deep dive `13b_lowering` |
# | cutting a model in two, and what crosses | the deep dive `07b_cutting` |
# | dead code, and nodes that write | the deep dive `03b_effects` |
# | exported programs without writes in place: `run_decompositions()` | chapter 11 |
#
# In PyTorch's documentation: [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html),
# [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), and the note on
# [tensor views](https://docs.pytorch.org/docs/stable/tensor_view.html).
