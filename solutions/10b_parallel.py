# %% [markdown]
# # 10b · Layers side by side
#
# **After this part you can merge linear layers that read the same value, and say when that is wrong.**
#
# | | |
# |---|---|
# | **You need** | chapter 10; it is an optional part of it |
# | **Time** | about 65 minutes, 30 of them for the exercise |
#
# **When you are done, you can**
#
# 1. show why several linear layers that read one value are one linear layer;
# 2. group the nodes of a graph by what they read, before you rewrite any of them;
# 3. name the writes that cut a group in two;
# 4. merge the layers of a group, whatever their widths and biases.

# %% [markdown]
# ## A story
#
# A server answers questions with a language model. In each of its layers three projections read the same value: query, key and value.
# On a GPU, three small multiplications take longer than a large one: each of them is started by itself, and each reads the input again.
#
# vLLM, a server for language models, merges them. Its models come from another library, so it does not edit their source code.
# Its [fusers](https://docs.vllm.ai/) trace a layer with `torch.fx`, find linear layers that read one value, and put one layer in their place.
# You write such a pass here. GoogLeNet has no layers side by side, so an attention block of ours takes over.

# %%
import operator
from collections import Counter
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder import check, draw, hint, progress

torch.manual_seed(10)


class Attention(nn.Module):
    """Self-attention with one head: three linear layers read `x`."""

    def __init__(self, width: int = 8, value_width: int = 4):
        super().__init__()
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, value_width, bias=False)
        self.proj = nn.Linear(value_width, width)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-2, -1)
        return x + self.proj(scores.softmax(dim=-1) @ self.v(x))


attention = Attention().eval()
x = torch.randn(2, 5, 8)
draw(attention)

# %% [markdown]
# ## 10b.1 One layer instead of three (6 minutes)
#
# A linear layer computes one number for each row of its weight. So put the rows of all layers into one weight:
#
# ```text
# weight = cat([q.weight, k.weight, v.weight])     (8 + 8 + 4, 8)
# bias   = cat([q.bias, k.bias, zeros(4)])         (8 + 8 + 4)
# ```
#
# The result has 20 numbers in its **last** dimension. The first 8 belong to `q`, the next 8 to `k`, and 4 to `v`.
# Each number is the same sum as before, so nothing is approximated.


# %%
def merge_layers(layers: list[nn.Linear]) -> nn.Linear:
    """One linear layer that gives the outputs of all, one after the other."""
    rows = torch.cat([layer.weight.detach() for layer in layers])
    has_bias = any(layer.bias is not None for layer in layers)
    merged = nn.Linear(rows.shape[1], rows.shape[0], bias=has_bias, dtype=rows.dtype)
    merged.weight = nn.Parameter(rows)
    if has_bias:
        biases = [
            rows.new_zeros(layer.out_features) if layer.bias is None else layer.bias.detach()
            for layer in layers
        ]
        merged.bias = nn.Parameter(torch.cat(biases))
    return merged


layers = [attention.q, attention.k, attention.v]
sizes = [layer.out_features for layer in layers]
parts = merge_layers(layers)(x).split(sizes, dim=-1)
for part, layer in zip(parts, layers, strict=True):
    torch.testing.assert_close(part, layer(x))
print(sizes, [tuple(part.shape) for part in parts])

# %% [markdown]
# **Predict the result.** The input has the shape `(2, 5, 8)`. What does `split(sizes, dim=1)` give instead?
#
# <details><summary>The same: dimension 1 is that of the features.</summary>
#
# No. That is true for inputs with two dimensions. Here, dimension 1 has 5 positions.
# </details>
# <details><summary>An error: the sizes do not add up to 5.</summary>
#
# Right. A linear layer works on the last dimension, however many come before it. So the split is along <code>-1</code>.
# </details>
# <details><summary>Parts with other shapes, and no error.</summary>
#
# No. <code>split</code> refuses sizes whose sum is not the size of the dimension.
# </details>

# %% raises="RuntimeError"
merge_layers(layers)(x).split(sizes, dim=1)

# %% [markdown]
# `split` is not the only way to get the parts. These three give the same:

# %%
whole = merge_layers(layers)(x)
by_split = whole.split(sizes, dim=-1)
by_slices = whole[..., :8], whole[..., 8:16], whole[..., 16:]
by_places = torch.tensor_split(whole, [8, 16], dim=-1)
for some in zip(by_split, by_slices, by_places, strict=True):
    assert torch.equal(some[0], some[1]) and torch.equal(some[1], some[2])

# %% [markdown]
# All three are **views**: they share the memory of `whole`, and nothing is copied. But look at `chunk`, which cuts into *equal* parts:

# %%
print([part.shape[-1] for part in whole.chunk(3, dim=-1)])
assert [part.shape[-1] for part in whole.chunk(3, dim=-1)] == [7, 7, 6]

# %% [markdown]
# ## 10b.2 First collect, then rewrite (8 minutes)
#
# `replace_pattern` cannot do this: how many layers read a value differs from place to place, and so does what is between them.
# A pass in two steps can. The first step changes nothing: it goes through the graph once, and collects.
# As a worked example, here are the calls of `torch.sin` that read the same value:


# %%
def waves(x, y):
    a = torch.sin(x)
    b = torch.sin(y)
    return a + b * torch.sin(x)


def same_calls(gm: fx.GraphModule) -> dict[fx.Node, list[fx.Node]]:
    """The calls of `torch.sin`, by what they read."""
    groups: dict[fx.Node, list[fx.Node]] = {}
    for node in gm.graph.nodes:
        if node.target is torch.sin:
            (source,) = node.all_input_nodes
            groups.setdefault(source, []).append(node)
    return groups


gm = fx.symbolic_trace(waves)
for nodes in same_calls(gm).values():
    first, *others = nodes
    for node in others:
        node.replace_all_uses_with(first)
        gm.graph.erase_node(node)
gm.recompile()
one, two = torch.randn(3), torch.randn(3)
torch.testing.assert_close(gm(one, two), waves(one, two))
assert [node.target for node in gm.graph.nodes].count(torch.sin) == 2

# %% [markdown]
# The first of a group is the right place for what is new: all of its readers come later.
#
# **Predict the result.** What is wrong if the new node is put at the place of the **last** call?
#
# <details><summary>Nothing: all calls of a group read the same value.</summary>
#
# No. What the first call gives may be read before the last call.
# </details>
# <details><summary>A reader of the first call may come before it: the value is used before it is defined.</summary>
#
# Right. In <code>waves</code> it would go well. In <code>y = left(x); return right(x + y)</code> there is no group, and in
# <code>f(left(x)) + right(x)</code> the call of <code>f</code> is in between.
# </details>
# <details><summary>FX orders the nodes anew, so the place does not matter.</summary>
#
# No. The order of the graph is the order of execution. <code>lint</code> refuses a reader before its value.
# </details>
#
# ### A write cuts a group in two
#
# The node is the same, and the numbers are not:


# %%
def written(x):
    x = x + 0
    a = torch.sin(x)
    x.mul_(2)
    return a - torch.sin(x)


gm = fx.symbolic_trace(written)
(group,) = same_calls(gm).values()
print([node.name for node in group], "read", group[0].args)
assert len(group) == 2  # one key for both, although the second one reads other numbers
assert not torch.equal(written(one), torch.zeros(3))

# %% [markdown]
# So the key of a group needs more than the node. Count the writes to each value, and make that number a part of the key:


# %%
def writes_into(gm: fx.GraphModule, node: fx.Node) -> fx.Node | None:
    """The value that a node writes into, if it is one of the usual kinds."""
    by_method = node.op == "call_method" and node.target.endswith("_")
    by_module = node.op == "call_module" and getattr(
        gm.get_submodule(node.target), "inplace", False
    )
    if by_method or by_module or node.kwargs.get("inplace"):
        return node.all_input_nodes[0]
    return None


class Writes(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        x = x + 0
        x.mul_(2)
        self.act(x)
        F.relu(x, inplace=True)
        return x.abs()


gm = fx.symbolic_trace(Writes())
count = Counter(str(writes_into(gm, node)) for node in gm.graph.nodes)
print(count)
assert count["add"] == 3

# %% [markdown]
# (A method that ends in two underscores, such as `__setitem__`, writes as well. And a write into a *view* of a value writes into the value.
# A pass at work looks for both. The exercise tries neither.)
#
# **Predict the result.** A layer is called twice: `q(x) * q(y) + k(x)`. Should `q` and `k` be merged for `x`?
#
# <details><summary>Yes: both read <code>x</code>.</summary>
#
# No. Then the weights of <code>q</code> are there twice, in the merged layer and in <code>q</code>, because <code>q(y)</code> still needs it.
# Memory grows, and two layers run, as before.
# </details>
# <details><summary>No: <code>q</code> is needed by itself as well.</summary>
#
# Right. A layer that is called more than once is left.
# </details>

# %% [markdown] card="merge_parallel_linears"
# **Write** a pass in which all `nn.Linear` calls that read the same value become **one** linear layer, followed by a split.
#
# * The layers may have different widths, and some may have a bias and others none. Their order in the merged layer is up to you.
# * They may be nested, and called by keyword. The value may have any number of dimensions.
# * Left alone: a layer that reads something else, one that is called more than once, and a lone one.
# * Calls are not merged across a write to the value that they read, such as `x.mul_(2)`, `nn.ReLU(inplace=True)` or `F.relu(x, inplace=True)`.
#   Those before the write are a group, and those after it.
# * Slices or `tensor_split` serve as well as `split`.
#
# Whether layers that nothing calls any more stay in the module is up to you. **Do not** change the model that you are given.


# %%
class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, x):
        return self.q(x) * self.k(x)


class After(nn.Module):
    def __init__(self):
        super().__init__()
        self.merged = nn.Linear(8, 8)

    def forward(self, x):
        parts = self.merged(x).split([4, 4], dim=-1)
        return parts[0] * parts[1]


draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="merge_parallel_linears"
def merge_parallel_linears(model: nn.Module) -> fx.GraphModule:
    """A pass: linear layers that read the same value become one, followed by a split."""
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)

    def written_by(node: fx.Node) -> fx.Node | None:
        by_method = node.op == "call_method" and node.target.endswith("_")
        module = gm.get_submodule(node.target) if node.op == "call_module" else None
        in_place = by_method or getattr(module, "inplace", False) or node.kwargs.get("inplace")
        return node.all_input_nodes[0] if in_place else None

    def together(layers: list[nn.Linear]) -> nn.Linear:
        rows = torch.cat([layer.weight.detach() for layer in layers])
        has_bias = any(layer.bias is not None for layer in layers)
        new = nn.Linear(rows.shape[1], rows.shape[0], has_bias, rows.device, rows.dtype)
        new.weight = nn.Parameter(rows)
        if has_bias:
            zeros = [rows.new_zeros(layer.out_features) for layer in layers]
            pairs = zip(layers, zeros, strict=True)
            biases = [zero if layer.bias is None else layer.bias.detach() for layer, zero in pairs]
            new.bias = nn.Parameter(torch.cat(biases))
        return new

    calls = Counter(node.target for node in gm.graph.nodes if node.op == "call_module")
    writes: Counter[Any] = Counter()
    groups: dict[tuple[fx.Node, int], list[fx.Node]] = {}
    for node in gm.graph.nodes:
        writes[written_by(node)] += 1
        if node.op != "call_module" or calls[node.target] > 1:
            continue
        if type(gm.get_submodule(node.target)) is nn.Linear:
            (source,) = node.all_input_nodes
            groups.setdefault((source, writes[source]), []).append(node)

    for (source, _), nodes in groups.items():
        if len(nodes) < 2:
            continue
        layers = [gm.get_submodule(node.target) for node in nodes]
        number = 0
        while hasattr(gm, f"parallel_{number}"):
            number += 1
        gm.add_submodule(f"parallel_{number}", together(layers))
        sizes = [layer.out_features for layer in layers]
        with gm.graph.inserting_before(nodes[0]):
            merged = gm.graph.call_module(f"parallel_{number}", (source,))
            parts = gm.graph.call_method("split", (merged, sizes), {"dim": -1})
            items = [
                gm.graph.call_function(operator.getitem, (parts, i)) for i in range(len(nodes))
            ]
        for node, item in zip(nodes, items, strict=True):
            node.replace_all_uses_with(item)
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="merge_parallel_linears"
check(merge_parallel_linears)

# %% hint="merge_parallel_linears"
hint("merge_parallel_linears")

# %% [markdown]
# ## 10b.3 The server, merged (3 minutes)
#
# The attention block of the story has three layers that read `x`, and one that reads something else.

# %% uses="merge_parallel_linears"
merged = merge_parallel_linears(attention)
torch.testing.assert_close(merged(x), attention(x))
linears = [
    node.target
    for node in merged.graph.nodes
    if node.op == "call_module" and isinstance(merged.get_submodule(node.target), nn.Linear)
]
print(linears)
assert len(linears) == 2
draw(merged)

# %% [markdown]
# ## Common mistakes
#
# Here you see them fail. (3 minutes)
#
# ### Equal parts
#
# `chunk(3)` of 20 numbers gives 7, 7 and 6. It raises no error, and the shapes are wrong only later.

# %%
wide = merge_layers([nn.Linear(4, 2), nn.Linear(4, 6)])(torch.randn(1, 4))
assert [part.shape[-1] for part in wide.chunk(2, dim=-1)] == [4, 4]  # not 2 and 6

# %% [markdown]
# **Right:** `split` with the widths of the layers.
#
# ### A part is written into
#
# The parts share memory with the whole. With gradients, PyTorch refuses a write into one of several views:

# %%
pieces = merge_layers(layers)(x).split(sizes, dim=-1)

# %% raises="RuntimeError"
pieces[0].mul_(2)

# %% [markdown]
# **Right:** leave layers alone whose output is written into, or take slices, which are views one by one.

# %%
piece = merge_layers(layers)(x)[..., :8]
assert torch.equal(piece.clone().mul_(2), piece.mul_(2))

# %% [markdown]
# ### The same numbers under another node
#
# `x.to(torch.float32)` of a float32 tensor gives `x` itself, and `x.view(x.shape)` its memory. To FX these are other nodes.
# A pass that groups by nodes does not merge across them. That is a missed chance, and no error.

# %%
assert x.to(torch.float32) is x

# %% [markdown]
# ## Recap
#
# 1. Linear layers that read one value are one layer: its weight has the rows of all.
# 2. Collect groups first, and rewrite afterwards, at the place of the first call.
# 3. The key of a group is what is read, and how often it was written before.
# 4. Split along the last dimension, by widths.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `torch.cat([a.weight, b.weight])` | the rows of both |
# | `y.split([8, 4], dim=-1)` | parts of these widths, views |
# | `torch.tensor_split(y, [8], dim=-1)` | the same, by the places of the cuts |
# | `groups.setdefault(key, []).append(node)` | collects nodes by a key |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | capture of whole language models | chapter 11 |
# | writes and views, made explicit by functionalization | chapter 11 |
# | passes in a row | chapter 12 |
