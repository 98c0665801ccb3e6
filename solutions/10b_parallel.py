# %% [markdown]
# # 10b · Merging parallel linear layers
#
# *Layers side by side*
#
# **After this part you can merge linear layers that read the same value, and say when that is wrong.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3, and section 10.3 about modules that a pass adds |
# | **Time** | about 75 minutes, 30 of them for the exercise |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. show why several linear layers that read one value are one linear layer;
# 2. group the nodes of a graph by what they read, before you rewrite any of them;
# 3. name the writes that cut a group in two, and those that a simple pass overlooks;
# 4. merge the layers of a group, whatever their widths and biases.

# %% [markdown]
# ## A story
#
# The other team has a second service: it answers questions with a language model. In each of its attention blocks, three linear layers read the same value.
# Their outputs are called query, key and value. A GPU must start three multiplications, and each of them reads the input again. One large multiplication does the same work in one start.
#
# The code of the model belongs to a library, so the change must be a pass.
# vLLM, a server for language models, has one: it traces the layers of another library's models with `torch.fx`, and merges query, key and value.
# It uses the graph only to *find* the layers. Then it edits the model's source, so that `torch.compile` later sees ordinary code.
#
# You write a pass that rewrites the graph, and section 10b.5 applies it. Without its head for training, GoogLeNet has only one linear layer, so an attention block of ours takes over.

# %%
import operator
from collections import Counter
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder import check, draw, drill, fails, hint, progress

torch.manual_seed(10)
print(torch.__version__)


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

# %% proof=true
from torchvision.models import googlenet

network = googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10)
assert sum(type(module) is nn.Linear for module in network.modules()) == 1

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the shape.** Which shape does the weight of `nn.Linear(8, 4)` have?
#
# <details><summary><code>(8, 4)</code></summary>
#
# No. That is the order in which you write the sizes: first the inputs, then the outputs.
# </details>
# <details><summary><code>(4, 8)</code></summary>
#
# Right. It has one row for each output. In section 10.1 each row got a factor, and here rows of several layers are put together.
# </details>
# <details><summary><code>(4, 9)</code>, with a column for the bias</summary>
#
# No. The bias is a parameter of its own, with 4 numbers.
# </details>

# %% proof=true
layer = nn.Linear(8, 4)
assert layer.weight.shape == (4, 8) and layer.bias.shape == (4,)

# %% [markdown]
# **Predict the result.** `gm` has a submodule `merged`. A pass calls `gm.add_submodule("merged", layer)`. What happens?
#
# <details><summary>The old module is replaced, and nothing is said.</summary>
#
# Right. A node that calls the old one calls the new one now. So a pass must look for a name that is free (section 10.3).
# </details>
# <details><summary>It raises an error: the name is taken.</summary>
#
# No. <code>add_submodule</code> returns <code>True</code>, as if nothing had been there.
# </details>
# <details><summary>The new module becomes <code>merged_1</code>.</summary>
#
# No. FX makes the names of <em>nodes</em> unique. A path of a module is taken as you write it.
# </details>

# %% proof=true
layer = nn.Linear(8, 4)
from collections import OrderedDict

gm = fx.symbolic_trace(nn.Sequential(OrderedDict(merged=nn.Linear(8, 2))))
assert gm.add_submodule("merged", layer) is True
assert gm.merged is layer and gm(torch.ones(1, 8)).shape == (1, 4)

# %% [markdown]
# ## 10b.1 One layer instead of three
#
# For each input, a linear layer computes one number for each row of its weight. So put the rows of all layers into one weight:
#
# ```text
# weight = cat([q.weight, k.weight, v.weight])     (8 + 8 + 4, 8)
# bias   = cat([q.bias, k.bias, zeros(4)])         (8 + 8 + 4)
# ```
#
# The result has 20 numbers in its **last** dimension. The first 8 belong to `q`, the next 8 to `k`, and 4 to `v`.
# Each number is the same sum as before, up to rounding.


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
# <details><summary>The same: dimension 1 holds the features.</summary>
#
# No. That is true for inputs with two dimensions. Here, dimension 1 holds 5 positions.
# </details>
# <details><summary>An error: the sizes do not add up to 5.</summary>
#
# Right. A linear layer works on the last dimension, however many come before it. So the split is along <code>-1</code>.
# </details>
# <details><summary>Parts with other shapes, and no error.</summary>
#
# No. <code>split</code> refuses sizes whose sum is not the size of the dimension.
# </details>

# %% proof=true
with fails(RuntimeError):
    merge_layers(layers)(x).split(sizes, dim=1)

# %% [markdown]
# `split` is not the only way to get the parts. These three give the same:

# %%
whole = merge_layers(layers)(x)
by_split = whole.split(sizes, dim=-1)
by_slices = whole[..., :8], whole[..., 8:16], whole[..., 16:]
by_places = torch.tensor_split(whole, [8, 16], dim=-1)
for parts in (by_split, by_slices, by_places):
    print([tuple(part.shape) for part in parts], [part.sum().item() for part in parts])

# %% [markdown]
# All of these parts are **views**: they share the memory of `whole`, and nothing is copied.

# %% proof=true
for some in zip(by_split, by_slices, by_places, strict=True):
    assert torch.equal(some[0], some[1]) and torch.equal(some[1], some[2])
for part in (by_split[1], by_slices[1], by_places[1]):
    assert part.untyped_storage().data_ptr() == whole.untyped_storage().data_ptr()

# %% [markdown]
# **Drill 10b.1a.** Layers with 5, 2 and 9 outputs are merged in this order. Which list must `torch.tensor_split` get instead of `[8, 16]`?

# %% drill=true
cuts = [5, 7]
drill("10b.1a", cuts)
# Mistake: These are the widths, as for `split`, and not the places of the cuts.
# cuts = [5, 2, 9]

# %% proof=true
nine = torch.tensor_split(torch.zeros(1, 16), [5, 7], dim=-1)
assert [part.shape[-1] for part in nine] == [5, 2, 9]

# %% [markdown]
# ## 10b.2 First collect, then rewrite
#
# A pattern of chapter 4 has a fixed number of nodes. Here, the number of layers that read a value differs from place to place, and other nodes may be between them.
# So the pass has two steps. The first step changes nothing: it goes through the graph once, and collects groups. The second step rewrites one group after the other.
#
# The worked example is about another operation. Calls of `torch.sin` that read the same value need only run once:


# %%
def waves(x, y):
    a = torch.sin(x)
    b = torch.sin(y)
    return a + b * torch.sin(x)


def same_calls(gm: fx.GraphModule) -> dict[fx.Node, list[fx.Node]]:
    """The calls of `torch.sin`, grouped by what they read."""
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
print(gm.code)

# %% proof=true
assert [node.target for node in gm.graph.nodes].count(torch.sin) == 2

# %% [markdown]
# The first call of a group is the right place for the new node: all readers of the group come later.


# %%
def many(x, y):
    a = torch.sin(x) + torch.sin(y)
    x = torch.sin(x) * 2
    return a + torch.sin(x) + torch.sin(y)


# %% [markdown]
# **Drill 10b.2a.** Write the groups that `same_calls` finds in the trace of `many`: a list of lists of names, in the order of the graph.

# %% drill=true
groups = [["sin", "sin_2"], ["sin_1", "sin_4"], ["sin_3"]]
drill("10b.2a", groups)
# Mistake: `x` is a name of Python, and it is given to two values.
# groups = [["sin", "sin_2", "sin_3"], ["sin_1", "sin_4"]]

# %% proof=true
found = same_calls(fx.symbolic_trace(many)).values()
assert [[node.name for node in nodes] for nodes in found] == [
    ["sin", "sin_2"], ["sin_1", "sin_4"], ["sin_3"],
]  # fmt: skip

# %% [markdown]
# **Predict the result.** What is wrong if the new node is inserted at the **last** call?
#
# <details><summary>Nothing: all calls of a group read the same value.</summary>
#
# No. What the first call gives may be read before the last call.
# </details>
# <details><summary>A reader of the first call may come before it: the value is used before it is defined.</summary>
#
# Right. In <code>torch.sin(x).exp() + torch.sin(x)</code>, the call of <code>exp</code> is between the two.
# </details>
# <details><summary>FX sorts the nodes again, so the place does not matter.</summary>
#
# No. The order of the graph is the order of execution. <code>lint</code> refuses a reader before its value.
# </details>


# %% proof=true
def early(x):
    return torch.sin(x).exp() + torch.sin(x)


gm = fx.symbolic_trace(early)
((first, last),) = same_calls(gm).values()
first.replace_all_uses_with(last)
gm.graph.erase_node(first)
with fails(RuntimeError):
    gm.graph.lint()

# %% [markdown]
# ### A write cuts a group in two
#
# Between two calls, the model may write into the value. The node is the same, and the numbers are not:


# %%
def written(x):
    x = x + 0
    a = torch.sin(x)
    x.mul_(2)
    return a - torch.sin(x)


gm = fx.symbolic_trace(written)
(group,) = same_calls(gm).values()
print([node.name for node in group], "read", group[0].args)

# %% proof=true
assert len(group) == 2  # one key for both, although the second one reads other numbers
assert not torch.equal(written(one), torch.zeros(3))

# %% [markdown]
# So the key of a group needs more than the node. This function finds the usual writes. The number of writes so far can be a part of the key:


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

# %% proof=true
assert count["add"] == 3

# %% [markdown]
# Section 10b.4 shows other writes.


# %%
def between(x, y):
    x, y = x + 0, y + 0
    a = torch.sin(x)
    y.mul_(2)
    b = torch.sin(x)
    x.mul_(2)
    return a * b * torch.sin(x) * torch.sin(x)


# %% [markdown]
# **Drill 10b.2b.** Which calls of `torch.sin` in the trace of `between` may be merged with each other? Write the groups as in the last drill; a call that cannot be merged is a group of its own.

# %% drill=true
safe = [["sin", "sin_1"], ["sin_2", "sin_3"]]
drill("10b.2b", safe)
# Mistake: Only a write to the value that is read changes a call's result.
# safe = [["sin"], ["sin_1"], ["sin_2", "sin_3"]]

# %% proof=true
gm = fx.symbolic_trace(between)
counts, by_key = Counter(), {}
for node in gm.graph.nodes:
    counts[writes_into(gm, node)] += 1
    if node.target is torch.sin:
        key = node.args[0], counts[node.args[0]]
        by_key.setdefault(key, []).append(node.name)
assert list(by_key.values()) == [["sin", "sin_1"], ["sin_2", "sin_3"]]

# %% [markdown]
# **Predict the result.** A layer is called twice: `q(x) * q(y) + k(x)`. Should `q` and `k` be merged for `x`?
#
# <details><summary>Yes: both read <code>x</code>.</summary>
#
# No. Then there are two copies of the weights of <code>q</code>, because <code>q(y)</code> still needs the layer.
# Memory grows, and training would change the copies in different ways.
# </details>
# <details><summary>No: <code>q</code> is needed by itself as well.</summary>
#
# Right. A layer that is called more than once is left.
# </details>
# <details><summary>Yes, if <code>y</code> is merged as well.</summary>
#
# No. Only <code>q</code> reads <code>y</code>, so there is nothing to merge it with.
# </details>

# %% [markdown]
# ## 10b.3 The pass
#
# You have all parts now: one layer instead of many, groups with a key, and the place for the new node. The name of the new layer must be free, as in section 10.3.

# %% [markdown] card="merge_parallel_linears"
# **Write** a pass in which all `nn.Linear` calls that read the same value become **one** linear layer, followed by a split.
#
# * The layers may have different widths, and some may have a bias and others none.
# * The value may have any number of dimensions.
# * Left alone: a layer that reads something else, one that is called more than once, and a lone one.
# * Calls are not merged across a write to the value that they read, such as `x.mul_(2)`.
#   Those before the write are a group, and those after it.
#
# **Do not** change the model that you are given.
#
# **Fine print**
#
# * Layers may be nested, and called by keyword.
# * Layers and functions with `inplace=True`, such as `nn.ReLU` and `F.relu`, write, too.
# * A new layer needs a name that is free.
# * A write into a **view** of the value, such as `x[0].mul_(2)`, is not tried; nor is a function such as `torch.relu_`.
# * The order in the merged layer is up to you. Slices or `tensor_split` serve as well as `split`.
# * Whether layers that nothing calls any more stay in the module is up to you.


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

    for nodes in groups.values():
        if len(nodes) < 2:
            continue
        (source,) = nodes[0].all_input_nodes  # asked now: it may be a part of another group
        layers = [gm.get_submodule(node.target) for node in nodes]
        number = 0
        while hasattr(gm, f"parallel_{number}"):
            number += 1
        gm.add_submodule(f"parallel_{number}", together(layers))
        sizes = [layer.out_features for layer in layers]
        with gm.graph.inserting_before(nodes[0]):
            merged = gm.graph.call_module(f"parallel_{number}", (source,))
            parts = gm.graph.call_method("unsafe_split_with_sizes", (merged, sizes), {"dim": -1})
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
# ## 10b.4 Writes that hide
#
# Your pass finds three kinds of write: methods such as `mul_`, modules with `inplace=True`, and calls with the keyword `inplace=True`.
# The trap is a write through a **view**. The node that is written is the view, and the numbers of the *other* value change, too:


# %%
class Hidden(nn.Module):
    """Between two layers, the first row of their input is changed."""

    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, x):
        x = x + 0
        y = self.q(x)
        x[0].mul_(2)
        return y * self.k(x)


gm = fx.symbolic_trace(Hidden())
(write,) = (node for node in gm.graph.nodes if node.target == "mul_")
print(write.format_node())

# %% proof=true
assert writes_into(gm, write).name == "getitem"  # and the value of the two layers is `add`

# %% [markdown]
# **Predict the result.** A pass counts writes with `writes_into`. What does it do with `Hidden`?
#
# <details><summary>It leaves both layers alone, because it finds the write.</summary>
#
# No. It finds a write to <code>getitem</code>. For <code>add</code>, which both layers read, it counts none.
# </details>
# <details><summary>It merges them, and the result is wrong.</summary>
#
# Right. The merged layer runs before the write, so <code>k</code> gets the old numbers. Nothing raises.
# </details>
# <details><summary>It merges them, and the result is right: only a view was written.</summary>
#
# No. A view has no numbers of its own. A write into <code>x[0]</code> changes <code>x</code>.
# </details>
#
# What the merged model would compute:

# %%
hidden, rows = Hidden(), torch.randn(3, 8)
both = merge_layers([hidden.q, hidden.k])(rows)
as_merged = both[:, :4] * both[:, 4:]
assert not torch.allclose(as_merged[0], hidden(rows)[0])
torch.testing.assert_close(as_merged[1:], hidden(rows)[1:])  # only the first row is wrong

# %% [markdown]
# A function may write, too: `torch.relu_(x)` is a `call_function`, and none of the three kinds.

# %% proof=true
gm = fx.symbolic_trace(lambda x: torch.relu_(x))
assert all(writes_into(gm, node) is None for node in gm.graph.nodes)

# %% [markdown]
# A pass at work has three ways:
#
# * *Be careful*: a write to anything ends all groups. Then views do no harm, and fewer layers are merged. (The exercise wants more: there, a write to *another* value ends nothing.)
# * *Follow views*: a table lists the operations that give views, and a write counts for the value that a view belongs to.
# * *Have no writes*: capture the model with `torch.export` and call `run_decompositions({})` (chapter 11). There, a linear layer is a function that gets its weight as an argument.

# %% [markdown]
# ## 10b.5 The attention block, merged
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
draw(merged)

# %% proof=true
assert len(linears) == 2

# %% [markdown]
# Two of four multiplications with a weight are left. A whole network has one such place for each block:


# %% uses="merge_parallel_linears"
network = nn.Sequential(*(Attention() for _ in range(6))).eval()
merged = merge_parallel_linears(network)
torch.testing.assert_close(merged(x), network(x))


def linear_calls(gm: fx.GraphModule) -> int:
    """How many linear layers a graph calls."""
    modules = [gm.get_submodule(n.target) for n in gm.graph.nodes if n.op == "call_module"]
    return sum(isinstance(module, nn.Linear) for module in modules)


print(linear_calls(fx.symbolic_trace(network)), "calls before,", linear_calls(merged), "after")

# %% proof=true
assert linear_calls(fx.symbolic_trace(network)) == 24 and linear_calls(merged) == 12

# %% [markdown]
# The library's code is as it was, and the numbers are the same. Whether it is faster depends on the machine and the sizes: measure it there, as in section 10.4.

# %% [markdown]
# ## Common mistakes
#
# Here you see them fail. (4 minutes)
#
# ### Equal parts
#
# `chunk(3)` of 20 numbers gives 7, 7 and 6. It raises no error; some later operation may, or none.

# %%
[part.shape[-1] for part in whole.chunk(3, dim=-1)]

# %% proof=true
assert [part.shape[-1] for part in whole.chunk(3, dim=-1)] == [7, 7, 6]  # not 8, 8 and 4

# %% [markdown]
# **Right:** `split` with the widths of the layers.
#
# ### The first layer grows
#
# It is tempting to give the first layer the weights of all, because it is there already. But the trace shares its modules with the model:

# %%
caller = Before()
gm = fx.symbolic_trace(caller)
gm.q.weight = nn.Parameter(torch.cat([gm.q.weight, gm.k.weight]).detach())
gm.q.bias = nn.Parameter(torch.cat([gm.q.bias, gm.k.bias]).detach())
with fails(RuntimeError):
    caller(torch.randn(2, 8))

# %% [markdown]
# **Right:** a new module under a free name.
#
# ### A part is written into
#
# With gradients, PyTorch refuses a write into one of the views that `split` gives:

# %%
pieces = merge_layers(layers)(x).split(sizes, dim=-1)
with fails(RuntimeError):
    pieces[0].mul_(2)

# %% [markdown]
# **Right:** `unsafe_split_with_sizes`. To autograd, its parts are tensors of their own. That is safe here: nothing else reads the whole.

# %%
pieces = merge_layers(layers)(x).unsafe_split_with_sizes(sizes, dim=-1)
squares = pieces[1].square().sum()
(pieces[0].mul_(2).sum() + squares).backward()  # with slices, this raises an error

# %% [markdown]
# ### The same numbers under another node
#
# `x.to(torch.float32)` of a float32 tensor gives `x` itself. To FX this is another node, so a pass that groups by nodes does not merge across it. The result is right, and one merge less.


# %%
def converted(x):
    return torch.sin(x) + torch.sin(x.to(torch.float32))


[len(nodes) for nodes in same_calls(fx.symbolic_trace(converted)).values()]

# %% proof=true
assert x.to(torch.float32) is x
assert [len(nodes) for nodes in same_calls(fx.symbolic_trace(converted)).values()] == [1, 1]

# %% [markdown]
# **Right:** remove such conversions by a pass of their own, before this one.

# %% [markdown]
# ## Recap
#
# 1. Linear layers that read one value are one layer: its weight has the rows of all.
# 2. Collect groups first, and rewrite afterwards, at the place of the first call.
# 3. The key of a group is the value that is read, and how often it was written before.
# 4. A write through a view changes a value without its name: a simple count does not see it.
# 5. Split along the last dimension, by widths.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `torch.cat([a.weight, b.weight])` | the rows of both |
# | `y.split([8, 4], dim=-1)` | parts of these widths, views |
# | `torch.tensor_split(y, [8], dim=-1)` | the same, by the places of the cuts |
# | `y[..., :8]` | the first part only |
# | `groups.setdefault(key, []).append(node)` | collects nodes by a key |
#
# See how far you are:

# %%
progress()

# %% proof=true
assert nn.MultiheadAttention(4, num_heads=1).in_proj_weight.shape == (3 * 4, 4)

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | capture of whole models, and graphs without writes | chapter 11 |
# | passes in a row | chapter 12 |
# | query, key and value in one layer from the beginning | `in_proj_weight` of `torch.nn.MultiheadAttention` |
#
# In PyTorch's documentation: [torch.split](https://docs.pytorch.org/docs/stable/generated/torch.split.html),
# [torch.tensor_split](https://docs.pytorch.org/docs/stable/generated/torch.tensor_split.html), and the page
# [Tensor Views](https://docs.pytorch.org/docs/stable/tensor_view.html), which lists the operations that give views.
# vLLM's pass came with its [pull request 47187](https://github.com/vllm-project/vllm/pull/47187).
