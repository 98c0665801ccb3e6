# %% [markdown]
# # 16 · A training step as a graph
#
# **After this chapter you can capture a whole training step as one graph, say what it keeps for the backward pass, and let it compute values again instead.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3 and 6; chapter 11 for ATen graphs and fake tensors; chapter 13 for memory and recomputation |
# | **Time** | about 120 minutes with *Common mistakes*, 80 of them for the exercises; the minutes of a section include its exercise |
#
# **When you are done, you can**
#
# 1. capture loss, gradients and updates of buffers as one graph of ATen calls;
# 2. say which of its calls belong to the backward pass;
# 3. say which memory a step keeps for its backward pass, and how much;
# 4. compute values again in the backward pass, and say which calls must not run twice;
# 5. say why computing a value again may cost more memory than it saves.

# %% [markdown]
# ## A story
#
# A team trains a small Transformer, and its accelerator has too little memory for the step. Where does the memory go? `loss.backward()` does not say.
#
# torchtitan, PyTorch's library for training large models, has an answer: its GraphTrainer captures the whole step as **one** FX graph, the backward pass included, and runs dozens of passes on it.
# At the end of this chapter, the team's step needs 22 % less memory at its worst moment, and its gradients are equal bit by bit.

# %%
import copy
import operator

import matplotlib.pyplot as plt
import torch
from torch import fx, nn
from torch.func import functional_call
from torch.nn import functional as F

from autograder import check, drill, hint, progress
from autograder.given import annotate, make_alive, make_fx, memory_of, preserve_node_meta

torch.manual_seed(16)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the result.** The `val` of a node is a `FakeTensor` of shape (1000, 1000). How much memory do its numbers need?
#
# <details><summary>None: it has a shape and a dtype, but no numbers</summary>
#
# Right. A fake tensor says what a value would be (chapter 11). It has a storage with a size, too, so it also says how much memory the value <em>would</em> need.
# </details>
# <details><summary>4,000,000 bytes</summary>
#
# No. That is the size of the storage that a real tensor would have.
# </details>
# <details><summary>As much as the first run of the graph has left in it</summary>
#
# No. A run of a graph does not change the <code>meta</code> of its nodes.
# </details>

# %% proof=true
from torch._subclasses.fake_tensor import FakeTensorMode

with FakeTensorMode():
    fake = torch.empty(1000, 1000)
assert fake.device.type == "cpu" and fake.untyped_storage().nbytes() == 4_000_000

# %% [markdown]
# **Predict the result.** A graph calls a dropout in training mode. A second reader gets a copy of that call. Do both readers see the same numbers?
#
# <details><summary>Yes, because a copy has the same arguments</summary>
#
# No. The arguments are the same, and the random numbers are not.
# </details>
# <details><summary>No: each call draws new numbers</summary>
#
# Right (section 13.3). In a training step this is a trap without an error: the gradient would belong to another dropout than the loss.
# </details>
# <details><summary>Yes, if the step begins with a seed</summary>
#
# No. A seed makes whole runs equal, and not two calls of one run.
# </details>

# %% proof=true
twice = fx.symbolic_trace(lambda x: (F.dropout(x, 0.5, True), F.dropout(x, 0.5, True)))
assert not torch.equal(*twice(torch.ones(100)))

# %% [markdown]
# ## 16.1 One graph
#
# Below autograd, PyTorch calls ATen operators, in the backward pass, too. `make_fx` runs a function and records these calls (chapter 11). So a function that computes a loss **and** its gradients becomes one graph:


# %%
def tiny(v, w, x):
    leaves = [v.detach().requires_grad_(), w.detach().requires_grad_()]
    value = (torch.relu(x @ leaves[0]) @ leaves[1]).sum()
    with annotate({"phase": "backward"}):
        grads = torch.autograd.grad(value, leaves)
    return value.detach(), *grads


def is_backward(node: fx.Node) -> bool:
    return node.meta.get("custom", {}).get("phase") == "backward"


shapes = (3, 4), (4, 2), (5, 3)
with preserve_node_meta():
    small = make_fx(tiny, tracing_mode="fake")(*map(torch.randn, shapes))
for node in small.graph.find_nodes(op="call_function", target=torch.ops.aten.mm.default):
    print(node.name, "backward" if is_backward(node) else "forward")

# %% proof=true
made = small(*(tensors := [torch.randn(shape) for shape in shapes]))
assert all(torch.equal(a, b) for a, b in zip(made, tiny(*tensors), strict=True))
kinds = [
    is_backward(n)
    for n in small.graph.find_nodes(op="call_function", target=torch.ops.aten.mm.default)
]
assert kinds == [False, False, True, True, True]

# %% [markdown]
# `annotate` writes an entry into `meta["custom"]` of each node that is recorded in its block. `preserve_node_meta` makes the recording keep it. Both are internal functions of PyTorch: `autograder.given` has them for you, so that only one place changes if they do.
#
# In the picture, calls are in graph order, forward calls in blue and backward calls in orange. An arc goes from a forward call to a backward call that reads it:


# %%
def draw_arcs(gm: fx.GraphModule) -> None:
    calls = [node for node in gm.graph.nodes if node.op == "call_function"]
    place = {node: i for i, node in enumerate(calls)}
    figure, axes = plt.subplots(figsize=(8, 2.4))
    for node, i in place.items():
        for user in node.users:
            if is_backward(user) and not is_backward(node):
                xs = torch.linspace(i, place[user], 40)
                width = place[user] - i
                axes.plot(xs, (xs - i) * (place[user] - xs) / width, color="#b0b0b0", lw=0.8)
    colors = ["#c8641e" if is_backward(node) else "#3b6ea5" for node in calls]
    axes.scatter(range(len(calls)), [0] * len(calls), c=colors, s=14, zorder=3)
    axes.set_axis_off()
    plt.show()


draw_arcs(small)

# %% [markdown]
# Each arc is a value that waits. **Drill 16.1a.** How many calls of `small` belong to the backward pass? Write the number.

# %% drill=true
count = sum(is_backward(node) for node in small.graph.nodes)
drill("16.1a", count)
# Mistake: These are the calls of the forward pass.
# count = sum(n.op == "call_function" and not is_backward(n) for n in small.graph.nodes)

# %% [markdown]
# With a model, the weights must be arguments, too. `functional_call(model, tensors, args)` calls a model with other tensors instead of its own. And the gradients must not be written into the model:
#
# **Predict the result.** The step calls `loss.backward()` on the model's own parameters while `make_fx` traces with fake tensors. Then an optimizer makes three steps with new gradients, after `zero_grad(set_to_none=False)`. What happens?
#
# <details><summary>The first step raises an error, because a fake tensor is in <code>.grad</code></summary>
#
# No. It would be good if it did.
# </details>
# <details><summary>No error, and the loss stays the same</summary>
#
# Right. The trace leaves a <code>FakeTensor</code> in each <code>.grad</code>. What is added to it has no numbers, and a step with it changes nothing. Ask <code>torch.autograd.grad</code> for gradients instead.
# </details>
# <details><summary>The model trains as usual</summary>
#
# No. The gradients of the trace are still there.
# </details>

# %% proof=true
wrong = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
batch, target = torch.randn(16, 3), torch.randn(16, 2)


def backward_on_parameters(x):
    loss = F.mse_loss(wrong(x), target)
    loss.backward()
    return loss.detach()


make_fx(backward_on_parameters, tracing_mode="fake", _allow_non_fake_inputs=True)(batch)
optimizer, losses = torch.optim.SGD(wrong.parameters(), lr=0.1), []
for _ in range(3):
    optimizer.zero_grad(set_to_none=False)
    losses.append(backward_on_parameters(batch).item())
    optimizer.step()
assert type(wrong[0].weight.grad).__name__ == "FakeTensor"
assert losses[0] == losses[1] == losses[2]

# %% [markdown]
# `torch.autograd.grad` returns gradients, and writes nothing. Now write the capture for any model.

# %% [markdown] card="capture_step"
# **Given** a model, a loss, and a batch.
#
# **Return** the graph of one training step: a `GraphModule` called as `gm(params, buffers, x, y)`, also with other values. Two dictionaries are as `named_parameters()` and `named_buffers()` give them.
#
# * It returns `(value, grads)`. `grads` has a gradient for each parameter that **requires one**, in the model's order: zeros if the loss does not depend on it.
# * It updates buffers **in the tensors given**.
# * Calls recorded while the gradients are computed have `meta["custom"]["phase"] == "backward"`. Calls that the value needs do not.
#
# **Do not** change the model, its gradients, the batch or the random state.
#
# **Fine print**
#
# * `loss(model(x), y)` is the value. The model runs in the mode that it is in.
# * A model of any floating dtype works.
# * A tied parameter is there once, under its first name.
# * The calls that make zeros for unused parameters are marked, too. Whether an `alias` or a `detach` that no forward call reads is marked is free.
# * Calls are ATen overloads and `getitem`. Each node except the output has a `val`, and its tensors are fake. A part that is `None` needs no `val`.
# * No parameter and no buffer is inside the graph module. A constant that `forward` makes may be an attribute of the graph module.
# * Models may draw random numbers. Dynamic shapes, buffers that are assigned again, and models or losses that use other tensors than parameters and buffers are not tried.


# %% solve="capture_step"
def capture_step(model: nn.Module, loss, x: torch.Tensor, y: torch.Tensor) -> fx.GraphModule:
    """The graph of a training step: `gm(params, buffers, x, y)` gives the value and gradients."""
    ### BEGIN SOLUTION
    params, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    trained = [name for name, param in params.items() if param.requires_grad]

    def step(params, buffers, x, y):
        leaves = {
            name: param.detach().requires_grad_(name in trained) for name, param in params.items()
        }
        value = loss(functional_call(model, (leaves, buffers), (x,)), y)
        with annotate({"phase": "backward"}):
            wanted = [leaves[name] for name in trained]
            if value.requires_grad:
                grads = torch.autograd.grad(value, wanted, materialize_grads=True)
            else:
                grads = [torch.zeros_like(leaf) for leaf in wanted]
        return value.detach(), dict(zip(trained, grads, strict=True))

    with preserve_node_meta():
        return make_fx(step, tracing_mode="fake")(params, buffers, x, y)
    ### END SOLUTION


# %% check="capture_step"
check(capture_step)

# %% hint="capture_step"
hint("capture_step")

# %% [markdown]
# Capture the team's step. It has three blocks of attention and GELU, with weights that matter (chapter 8):


# %%
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(32), nn.LayerNorm(32)
        self.parts, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.up, self.down = nn.Linear(32, 128), nn.Linear(128, 32)

    def forward(self, x):
        parts = self.parts(self.before(x)).view(4, 32, 3, 4, 8).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        weights = torch.softmax(query @ key.transpose(-1, -2) / 8**0.5, -1)
        x = x + self.out((weights @ value).transpose(1, 2).reshape(4, 32, 32))
        return x + self.down(F.gelu(self.up(self.after(x))))


x, y = torch.randn(4, 32, 32), torch.randn(4, 32, 32)
model = make_alive(nn.Sequential(Block(), Block(), Block()), x).train()
params, buffers = dict(model.named_parameters()), dict(model.named_buffers())

# %% uses="capture_step"
team = capture_step(model, F.mse_loss, x, y)
calls = [node for node in team.graph.nodes if node.op == "call_function"]
value, grads = team(params, buffers, x, y)
print(len(calls), "calls,", sum(map(is_backward, calls)), "of them backward")

# %% proof=true
assert (len(calls), sum(map(is_backward, calls))) == (432, 229)
eager = copy.deepcopy(model)
F.mse_loss(eager(x), y).backward()
assert all(torch.equal(grads[name], param.grad) for name, param in eager.named_parameters())
assert torch.equal(value, F.mse_loss(model(x), y))

# %% [markdown]
# Value and gradients equal those of `loss.backward()` bit by bit.

# %% [markdown]
# ## 16.2 What the backward pass keeps
#
# Which values wait for the backward pass? Each formula says it.
#
# **Predict the result.** The step computes `b = relu(a)`. Which of the two does the backward pass of `relu` read?
#
# <details><summary><code>a</code>, because the gradient depends on the sign of the input</summary>
#
# No, but it could. Where <code>a</code> is positive, <code>b</code> is, too.
# </details>
# <details><summary><code>b</code></summary>
#
# Right: <code>threshold_backward(grad, b, 0)</code>. The next layer needs <code>b</code> anyway, so <code>a</code> need not wait. GELU is not so lucky: its backward reads the input.
# </details>
# <details><summary>Both</summary>
#
# No. One of them is enough.
# </details>

# %% proof=true
(back,) = small.graph.find_nodes(
    op="call_function", target=torch.ops.aten.threshold_backward.default
)
read = back.args[1]
while read.target in (torch.ops.aten.alias.default, torch.ops.aten.detach.default):
    read = read.args[0]
assert read.target is torch.ops.aten.relu.default

# %% [markdown]
# Values share memory, so count memory (section 13.1). For the `val` of a node, `memory_of(val)` is a number that all its views share, and `val.untyped_storage().nbytes()` is the size. Nothing runs for that.
#
# **Drill 16.2a.** How many bytes does the memory of `relu` in `small` have? Write the number.

# %% drill=true
(relu,) = small.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
size = relu.meta["val"].untyped_storage().nbytes()
drill("16.2a", size)
# Mistake: This counts numbers, and each has four bytes.
# (relu,) = small.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
# size = relu.meta["val"].numel()

# %% [markdown] card="kept_bytes"
# **Given** the graph of a step.
#
# **Return** a dictionary with the memory that a **forward** call makes and a **backward** call reads: the name of the **first node** that has the memory, and the bytes of the **whole** memory, in graph order.
#
# * Values that share memory count once.
# * The memory of placeholders and attributes does not count.
# * Nothing runs: read each `val`.
#
# **Do not** change `gm`.
#
# **Fine print**
#
# * A backward call has `meta["custom"]["phase"] == "backward"`. All other calls are forward calls. The output is not a backward call.
# * Memory of placeholders does not count under any name: a view of it, or a call that changes it in place.
# * A tuple has no memory of its own. Its parts do, under the name of their `getitem`.
# * A backward call may read a value anywhere in its arguments.
# * Memory without bytes does not count.
# * The `meta` of the nodes stays as it is, too.


# %% solve="kept_bytes"
def kept_bytes(gm: fx.GraphModule) -> dict[str, int]:
    """The bytes of each memory that forward calls make and backward calls read."""

    ### BEGIN SOLUTION
    def is_backward(node: fx.Node) -> bool:
        return node.meta.get("custom", {}).get("phase") == "backward"

    first: dict[int, fx.Node] = {}
    read: set[int] = set()
    for node in gm.graph.nodes:
        if isinstance(node.meta.get("val"), torch.Tensor):
            first.setdefault(memory_of(node.meta["val"]), node)
        if is_backward(node):
            vals = [each.meta["val"] for each in node.all_input_nodes]
            read |= {memory_of(val) for val in vals if isinstance(val, torch.Tensor)}
    sizes = {
        node.name: node.meta["val"].untyped_storage().nbytes()
        for memory, node in first.items()
        if memory in read and node.op == "call_function" and not is_backward(node)
    }
    return {name: size for name, size in sizes.items() if size}
    ### END SOLUTION


# %% check="kept_bytes"
check(kept_bytes)

# %% hint="kept_bytes"
hint("kept_bytes")

# %% [markdown]
# What does the team's step keep, and how many bytes are alive at each node?

# %% uses="kept_bytes"
kept = kept_bytes(team)
print(len(kept), "memories,", f"{sum(kept.values()):,} bytes")


# %%
def alive_bytes(gm: fx.GraphModule) -> list[int]:
    """For each node, the bytes of memory that calls made and that later nodes read."""
    nodes = list(gm.graph.nodes)
    span, sizes, given = {}, {}, set()
    for i, node in enumerate(nodes):
        for val in (each.meta.get("val") for each in (node, *node.all_input_nodes)):
            for one in val if isinstance(val, list | tuple) else [val]:
                if isinstance(one, torch.Tensor):
                    span.setdefault(memory_of(one), [i, i])[1] = i
                    sizes[memory_of(one)] = one.untyped_storage().nbytes()
                    if node.op in ("placeholder", "get_attr"):
                        given.add(memory_of(one))
    lives = [(m, first, last) for m, (first, last) in span.items() if m not in given]
    return [sum(sizes[m] for m, a, b in lives if a <= i <= b) for i in range(len(nodes))]


alive = alive_bytes(team)
figure, axes = plt.subplots(figsize=(8, 2.2))
axes.fill_between(range(len(alive)), alive, color="#3b6ea5")
axes.set_xlabel("node")
axes.set_ylabel("bytes alive")
plt.show()
print(f"at most {max(alive):,} bytes")

# %% proof=true
assert (len(kept), sum(kept.values()), max(alive)) == (46, 989_188, 1_071_236)
by_name = {node.name: node for node in team.graph.nodes}
of = {}
for name, count in kept.items():
    of[by_name[name].target] = of.get(by_name[name].target, 0) + count
aten = torch.ops.aten
large = (aten.clone.default, aten._softmax.default, aten.addmm.default, aten.gelu.default)
assert all(of[target] == 196_608 for target in large)

# %% [markdown]
# The mountain is highest where the forward pass ends: almost all that is there waits for the backward pass. Copies, softmax, `addmm` and GELU have 196,608 bytes each.
#
# %% [markdown]
# ## 16.3 Compute it again
#
# Chapter 13 computed values again for late readers. In a step, the late readers are the backward calls: each gets what it needs from **one** copy, made when it is first needed.
#
# First, an obstacle. The recording has many `alias` calls: other names of one value, made where autograd saves it. A backward call that reads an `alias` of `gelu` does not read `gelu` itself, so a pass that names `gelu` changes nothing. Remove them:

# %%
names_only = (torch.ops.aten.alias.default, torch.ops.aten.detach.default)


def without_aliases(gm: fx.GraphModule) -> fx.GraphModule:
    gm = copy.deepcopy(gm)
    for node in list(gm.graph.nodes):
        if node.target in names_only:
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


# %% uses="capture_step"
plain = without_aliases(team)
print(len(team.graph.nodes) - len(plain.graph.nodes), "calls of alias removed")

# %% proof=true
assert len(team.graph.nodes) - len(plain.graph.nodes) == 43
assert sum(node.op == "call_function" for node in plain.graph.nodes) == 389

# %% [markdown]
# **Predict the result.** Softmax and GELU are cheap, and keep 196,608 bytes each. The team computes these six calls again. How many bytes are kept then?
#
# <details><summary>Fewer: 393,216 bytes less</summary>
#
# No. The values themselves no longer wait. But a copy needs its inputs, and somebody must keep them.
# </details>
# <details><summary>The same: as much is kept in another place</summary>
#
# Almost. For GELU it is so: its backward keeps the input anyway. For softmax it is not.
# </details>
# <details><summary>More</summary>
#
# Right. The backward of softmax reads only its result. To compute it again, its input must wait, which is as large, and comes in another memory. So is the input of the next product. You will see 1,185,796 bytes.
# </details>

# %% [markdown]
# Not every call can run again: not a random one, nor one that writes. A call's schema says what it writes, with one exception that you will meet in *Common mistakes*.

# %% [markdown] card="rematerialize"
# **Given** the graph of a step, and `names` of forward calls.
#
# **Change** `gm` in place, and return nothing: these calls run again in the backward pass.
#
# * The **first** backward call that needs a named call, directly or through named calls, gets a copy **directly before it**. Later backward calls read that copy.
# * Copies read copies of named calls, and originals of others. Forward calls and the output read originals.
# * Erase named calls that nobody reads any more, and nothing else.
# * A copy is marked as a backward call.
# * If one cannot run again, raise a `ValueError`, and leave `gm` unchanged.
#
# **Fine print**
#
# * A call cannot run again if it is random, if it writes, or if another call writes into its memory. It cannot if a call between it and the place of its copy writes into memory that it reads.
# * What a call writes is in its schema. A `native_batch_norm` in training mode writes its statistics, whatever its schema says. An evaluation-mode norm only reads its statistics.
# * A name that is not that of a forward call is a `ValueError`, too. So is a `getitem` whose tuple is not named.
# * A named call that no backward call needs has no copy.
# * Only other copies may be between a copy and its backward call.
# * A copy has the `meta` of its original, with a `custom` of its own. Its `val` is made by its own call.
# * Backward calls may read values in lists or as keywords. It is free whether their own `val` is made again.
# * The names of copies are free. `names` may be a list or a set, and it stays as it is.


# %% solve="rematerialize"
def rematerialize(gm: fx.GraphModule, names) -> None:
    """Compute the named forward calls again in the backward pass, in place."""
    ### BEGIN SOLUTION
    nodes = list(gm.graph.nodes)
    order = {node: i for i, node in enumerate(nodes)}
    backward = [n for n in nodes if n.meta.get("custom", {}).get("phase") == "backward"]
    forward = {n.name: n for n in nodes if n.op == "call_function" and n not in backward}
    for name in names:
        if name not in forward:
            raise ValueError(f"{name!r} is not the name of a forward call")
    named = [node for node in nodes if node.name in names]
    writes = {node: memory_written(node) for node in nodes if node.op == "call_function"}
    for node in named:
        if node.target is operator.getitem:
            if node.args[0] not in named:
                raise ValueError(f"{node.name!r} is a part of a tuple that is not named")
        elif torch.Tag.nondeterministic_seeded in node.target.tags:
            raise ValueError(f"{node.name!r} is random")
        if writes[node] or any(memories(node) & written for written in writes.values()):
            raise ValueError(f"{node.name!r} writes, or another call writes into its memory")

    place: dict[fx.Node, fx.Node] = {}
    for reader in backward:
        waiting = list(reader.all_input_nodes)
        while waiting:
            node = waiting.pop()
            if node in named and node not in place:
                place[node] = reader
                waiting += node.all_input_nodes
    for node, reader in place.items():
        read = set().union(*map(memories, node.all_input_nodes))
        for between in nodes[order[node] : order[reader]]:
            if writes.get(between, set()) & read:
                raise ValueError(f"{between.name!r} changes what {node.name!r} reads")

    copies: dict[fx.Node, fx.Node] = {}
    for node in sorted(place, key=order.__getitem__):
        with gm.graph.inserting_before(place[node]):
            copy = gm.graph.node_copy(node, lambda n: copies.get(n, n))
        copy.meta["custom"] = {**node.meta.get("custom", {}), "phase": "backward"}
        args, kwargs = fx.map_arg((copy.args, copy.kwargs), lambda n: n.meta["val"])
        with mode_of(gm):
            copy.meta["val"] = node.target(*args, **kwargs)
        copies[node] = copy
    for reader in backward:
        for node in reader.all_input_nodes:
            reader.replace_input_with(node, copies.get(node, node))
    for node in reversed(named):
        if not node.users:
            gm.graph.erase_node(node)
    gm.recompile()


def tensors(value: object) -> list[torch.Tensor]:
    """The tensors in a value."""
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in tensors(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def memories(node: fx.Node) -> set[int]:
    """The memory of a node's value."""
    return {memory_of(tensor) for tensor in tensors(node.meta.get("val"))}


def memory_written(node: fx.Node) -> set[int]:
    """The memory that a call writes."""
    if node.target is operator.getitem:
        return set()
    if node.target is torch.ops.aten.native_batch_norm.default and node.args[5]:
        written = node.args[3:5]
    else:
        schema = node.target._schema.arguments
        given = dict(zip([a.name for a in schema], node.args, strict=False)) | dict(node.kwargs)
        written = [given.get(a.name) for a in schema if a.alias_info and a.alias_info.is_write]
    found: set[int] = set()
    fx.map_arg(written, lambda n: found.update(memories(n)))
    return found


def mode_of(gm: fx.GraphModule):
    """The mode of the fake tensors in a graph."""
    vals = [node.meta.get("val") for node in gm.graph.nodes]
    return next(tensor.fake_mode for val in vals for tensor in tensors(val))
    ### END SOLUTION


# %% check="rematerialize"
check(rematerialize)

# %% hint="rematerialize"
hint("rematerialize")

# %% [markdown]
# After the edit, backward calls that make a *view* of a copy still have the `val` of before. Make them again, so that memory is counted right. Then compare four choices:


# %%
def renew(gm: fx.GraphModule) -> None:
    """Make the `val` of each backward call again."""
    for node in filter(is_backward, gm.graph.nodes):
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
        with next(n.meta["val"].fake_mode for n in gm.graph.nodes):
            node.meta["val"] = node.target(*args, **kwargs)


# %% uses="rematerialize"
aten = torch.ops.aten
forward = [n for n in plain.graph.nodes if n.op == "call_function" and not is_backward(n)]
products = (aten.addmm.default, aten.bmm.default)
choices = {
    "nothing": [],
    "softmax and GELU": [
        n.name for n in forward if n.target in (aten._softmax.default, aten.gelu.default)
    ],
    "all but products": [n.name for n in forward if n.target not in products],
    "everything": [n.name for n in forward],
}
rows = {}
for label, names in choices.items():
    edited = copy.deepcopy(plain)
    rematerialize(edited, names)
    renew(edited)
    again = edited(params, buffers, x, y)
    assert all(torch.equal(again[1][name], grads[name]) for name in grads)
    rows[label] = sum(kept_bytes(edited).values()), max(alive_bytes(edited))
    print(f"{label:18} kept {rows[label][0]:9,}  peak {rows[label][1]:9,}")

# %% uses="rematerialize"
figure, axes = plt.subplots(figsize=(7, 2.2))
for shift, (label, color) in enumerate((("kept", "#3b6ea5"), ("peak", "#c8641e"))):
    heights = [row[shift] for row in rows.values()]
    axes.barh([i + 0.4 * shift for i in range(len(rows))], heights, 0.4, label=label, color=color)
axes.set_yticks(range(len(rows)), list(rows))
axes.legend()
plt.show()

# %% proof=true
assert rows["nothing"] == (989_188, 1_071_236)
assert rows["softmax and GELU"] == (1_185_796, 1_267_844)
assert rows["all but products"] == (688_128, 835_716)
assert rows["everything"] == (0, 1_071_236)
assert 0.21 < 1 - 835_716 / 1_071_236 < 0.22

# %% [markdown]
# **Predict the result.** "Everything" keeps nothing. Why is its peak as high as at the beginning?
#
# <details><summary>Because the first backward call needs almost all of it: the whole forward pass runs again before it</summary>
#
# Right. Nothing waits between the passes, but the copies wait for their readers, as the originals did. Less is kept, and not less is alive.
# </details>
# <details><summary>Because the originals stay in the graph</summary>
#
# No. Named calls that nobody reads are erased, and a value that is not read any more is not alive.
# </details>
# <details><summary>Because weights and gradients count</summary>
#
# Weights do not count here, and gradients are the same in each row.
# </details>

# %% [markdown]
# So the team takes "all but products": 22 % less at the peak, with equal gradients. It names more calls than it needs: for the same bytes, far fewer copies are enough. PyTorch finds them with a minimum cut.

# %% [markdown]
# ## Common mistakes
#
# ### The model is closed over
#
# The weights become attributes, and the dictionaries are not read:

# %%
layer = nn.Linear(2, 2)
closing = make_fx(
    lambda params, x: layer(x).sum(), tracing_mode="fake", _allow_non_fake_inputs=True
)
closed = closing(dict(layer.named_parameters()), torch.ones(1, 2))
print([node.name for node in closed.graph.nodes if node.op == "get_attr"])

# %% proof=true
read = {node.target for node in closed.graph.find_nodes(op="get_attr")}
assert read == {"_param_constant0", "_param_constant1"}
assert not any(n.users for n in closed.graph.find_nodes(op="placeholder") if "params" in n.name)

# %% [markdown]
# **Right:** `functional_call(model, (params, buffers), (x,))`.
#
# ### Real tensors are traced
#
# With `tracing_mode="real"`, which is the default, the step runs: running statistics and random numbers move.

# %%
norm = nn.BatchNorm1d(2)
make_fx(lambda x: norm(x).sum(), tracing_mode="real")(torch.randn(4, 2) + 5)
print(norm.running_mean)

# %% proof=true
assert norm.running_mean.min() > 0.1

# %% [markdown]
# **Right:** `tracing_mode="fake"`.
#
# ### Marks without `preserve_node_meta`

# %%
unmarked = make_fx(tiny, tracing_mode="fake")(*map(torch.randn, shapes))
print(any(map(is_backward, unmarked.graph.nodes)))

# %% proof=true
assert not any(map(is_backward, unmarked.graph.nodes))

# %% [markdown]
# **Right:** record within `with preserve_node_meta():`. `annotate` alone raises nothing, and notes nothing.
#
# ### A batch norm counts as dead code
#
# In training mode, `native_batch_norm` writes its running statistics, and its schema does not say so. If nobody reads its value, `eliminate_dead_code` deletes it, and the statistics stay:


# %%
def only_statistics(x, mean, var):
    torch.ops.aten.native_batch_norm.default(x, None, None, mean, var, True, 0.1, 1e-5)
    return x.sum()


norm_graph = make_fx(only_statistics)(torch.randn(4, 2), torch.zeros(2), torch.ones(2))
before = len(norm_graph.graph.nodes)
norm_graph.graph.eliminate_dead_code()
print(before, "nodes before,", len(norm_graph.graph.nodes), "after")

# %% proof=true
assert "native_batch_norm" not in str(norm_graph.graph)
assert not torch.ops.aten.native_batch_norm.default._schema.is_mutable

# %% [markdown]
# **Right:** erase what you know, as `rematerialize` does. Treat `native_batch_norm` as a call that writes.
#
# ### Calls are erased from the front

# %%
chain = fx.symbolic_trace(lambda x: (x.sin().cos(), x)[1])
for node in list(chain.graph.nodes):
    if node.op == "call_method" and not node.users:
        chain.graph.erase_node(node)
print([node.name for node in chain.graph.nodes])

# %% proof=true
assert "sin" in [node.name for node in chain.graph.nodes]

# %% [markdown]
# **Right:** from the last to the first. `sin` loses its reader only when `cos` is erased.

# %% [markdown]
# ## Recap
#
# 1. `make_fx` records what runs below autograd, so a function of loss and gradients becomes one graph.
# 2. Parameters and buffers are arguments: `functional_call`. Gradients are results: `torch.autograd.grad`.
# 3. A backward pass keeps memory, and not values: count each memory once, under its first node.
# 4. To compute a value again, its inputs must be kept. Cheap calls alone are not a good choice.
# 5. A call that is random, that writes, or whose memory or inputs are written must not run again.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `make_fx(step, tracing_mode="fake")(*args)` | records a function on fake tensors |
# | `functional_call(model, (params, buffers), args)` | calls a model with other tensors |
# | `torch.autograd.grad(value, leaves, materialize_grads=True)` | gradients, zeros for what was not used |
# | `annotate({"phase": "backward"})` | an entry in `meta["custom"]`, within `preserve_node_meta()` |
# | `memory_of(val)` | a number for a memory; fake tensors have one, too |
# | `torch.Tag.nondeterministic_seeded in target.tags` | whether an operator is random |
# | `argument.alias_info.is_write` | whether a call writes an argument of its schema |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | the fewest bytes that must be saved: a minimum cut | chapter 13 names PyTorch's function for it |
# | forward and backward as two graphs: `aot_autograd` | the deep dive `11b_aten` |
# | peak memory of a graph that only runs forwards | chapter 13 |
#
# In PyTorch's documentation: [torch.func.functional_call](https://docs.pytorch.org/docs/stable/generated/torch.func.functional_call.html),
# [torch.autograd.grad](https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html) and
# [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html). torchtitan is at [github.com/pytorch/torchtitan](https://github.com/pytorch/torchtitan).

# %% [markdown]
# ## Where to go from here
#
# The track *Whole course* ends here. Next, capture a step of a model of your own, and look for the memory that it keeps.
# A deep dive that you left out, or the track *Compilers and backends*, is a way to go on.
