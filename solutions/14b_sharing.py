# %% [markdown]
# # 14b · Quantization: sharing scales
#
# **After this part you can make values that are only moved keep their eight bits, and say what that costs.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, `users`, editing a graph; chapter 14 for scales and pairs |
# | **Time** | about 60 minutes with *Common mistakes*, 25 of them for the exercise; the minutes of a section include its exercise |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. say which operations only move values, and why that works with eight bits;
# 2. say what goes wrong when values of different scales are joined, and when the common scale is too small;
# 3. find which calls hang together through several operations, in any order;
# 4. write a pass that gives each such group one scale, and changes nothing else;
# 5. remove the pairs that are not needed then, and count them on a real network;
# 6. name the tools that do all of this in production.

# %% [markdown]
# ## A story
#
# The camera team of chapter 14 has looked at its graph. *It is a simulation*, they say. *Each value goes through eight bits, but between any two operations it is a floating-point value again. Our chip would do that, too, 198 times for GoogLeNet.*
#
# *Some of it is a waste. If `torch.cat` joins four branches, nothing is computed. The numbers are copied side by side. Why do we go to floating point for that, and back?*
#
# Because the four branches have four scales, and one tensor of whole numbers can have only one. If all of them had the same scale, the chip could copy whole numbers.
# So the team wants two passes. One makes scales equal where values are only moved, and the other removes the calls that are not needed any more. How many are these?

# %%
import copy
import itertools
import operator
from collections import Counter
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn
from torchvision.models import googlenet

from autograder import check, draw, fails, hint, progress
from autograder.given import (
    assert_same_results,
    dequantize,
    difference,
    images,
    make_alive,
    quantize,
)

torch.manual_seed(14)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the result.** Two values have the scales 0.01 and 0.04. Which of them can be 3.0 after `quantize` and `dequantize`?
#
# <details><summary>The first: its steps are finer</summary>
#
# No. 127 steps of 0.01 reach to 1.27. Larger numbers are clipped.
# </details>
# <details><summary>The second</summary>
#
# Right. Its 127 steps reach to 5.08. A scale says how fine the steps are, and how far they reach.
# </details>
# <details><summary>Both: 3.0 is a multiple of both scales</summary>
#
# No. It would be 300 steps of 0.01, and an `int8` ends at 127.
# </details>

# %% proof=true
three = torch.tensor([3.0])
assert abs(dequantize(quantize(three, 0.04), 0.04).item() - 3) < 1e-6
assert abs(dequantize(quantize(three, 0.01), 0.01).item() - 1.27) < 1e-6

# %% [markdown]
# **Predict the result.** A node has two readers: `for user in node.users: user.args = (node, 2)`. The new arguments read the same node as before. What happens?
#
# <details><summary>Each reader gets its new arguments, without an error</summary>
#
# No. With two readers, both get them, and then the loop raises. With others, it depends on their number.
# </details>
# <details><summary>An error, because <code>users</code> changes while the loop runs</summary>
#
# Right. FX removes the reader from <code>users</code>, and adds it again, even if it reads the same. Loop over <code>list(node.users)</code>.
# </details>
# <details><summary>The loop never ends</summary>
#
# No. Python notices that the dictionary was changed, and raises an error.
# </details>


# %% proof=true
class TwoReaders(nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        return torch.mul(y, 1), torch.sub(y, 1)


gm = fx.symbolic_trace(TwoReaders())
(relu,) = gm.graph.find_nodes(op="call_function", target=torch.relu)
with fails(RuntimeError):
    for user in relu.users:
        user.args = (relu, 2)
for user in list(relu.users):
    user.args = (relu, 2)
assert [user.args[1] for user in relu.users] == [2, 2]

# %% [markdown]
# ## 14b.1 What only moves
#
# `torch.cat` copies numbers side by side. `reshape`, `flatten`, `transpose` and `permute` give them another shape or order. None of them computes a number. So you may move numbers and then count their steps, or move the counts:

# %%
a, b = torch.randn(2, 3), torch.randn(2, 3)
moved_first = quantize(torch.cat([a, b]), 0.05)
counted_first = torch.cat([quantize(a, 0.05), quantize(b, 0.05)])
print(moved_first, counted_first, sep="\n")

# %% proof=true
assert torch.equal(moved_first, counted_first)
assert torch.equal(quantize(a.flatten(), 0.05), quantize(a, 0.05).flatten())

# %% [markdown]
# **Predict the result.** `F.max_pool2d(x, 2)` gives the largest of each four numbers. Does it give the same on counts of steps?
#
# <details><summary>No: it computes a maximum, and that needs the numbers</summary>
#
# It needs to know only which of them is the largest.
# </details>
# <details><summary>Yes: what is larger has at least as many steps</summary>
#
# Right. The order is kept, so the pool picks a number that has the largest count. It invents no number: each result was there before.
# </details>
# <details><summary>Only if no two numbers are equal</summary>
#
# No. If two have the same count, it does not matter which one is picked.
# </details>

# %% proof=true
image = torch.randn(1, 2, 8, 8)
assert torch.equal(quantize(F.max_pool2d(image, 2), 0.05), F.max_pool2d(quantize(image, 0.05), 2))

# %% [markdown]
# All of this holds with **one** scale. With two, counts of different steps are side by side, and no scale fits all of them:

# %%
mixed = torch.cat([quantize(a, 0.05), quantize(b, 0.01)])
print(torch.cat([a, b]))
print(dequantize(mixed, 0.05))

# %% proof=true
for scale in (0.05, 0.01):
    assert not torch.allclose(dequantize(mixed, scale), torch.cat([a, b]), atol=scale)

# %% [markdown]
# ## 14b.2 Which scale
#
# Two branches and their result have three scales. Which one do they share?

# %%
small, large = torch.randn(10_000), 20 * torch.randn(10_000)
fine, coarse = small.abs().max().item() / 127, large.abs().max().item() / 127
print(f"scales: {fine:.4f} and {coarse:.4f}")


def loss(values: torch.Tensor, scale: float) -> float:
    """How much a value suffers, relative to its size."""
    return ((dequantize(quantize(values, scale), scale) - values).norm() / values.norm()).item()


for scale in (fine, coarse):
    print(f"{scale:.4f}: small loses {loss(small, scale):.1%}, large {loss(large, scale):.1%}")

# %% proof=true
assert loss(large, fine) > 0.5  # clipped
assert loss(small, coarse) < 0.25 and loss(large, coarse) < 0.02

# %% [markdown]
# With the small scale the large values are clipped, and more than half of their size is lost. With the **largest** scale nothing is clipped, but the small branch has coarser steps. That is the price of sharing.

# %% [markdown]
# ## 14b.3 What hangs together
#
# One `torch.cat` makes a few pairs share. But a pair can be between two operations: one computes its value, and the next reads it. Then all pairs around both operations must have the same scale.
#
# ### A worked example: which values are on one device
#
# An addition of two vectors needs both on one device. Which values of this model must be together?


# %%
class Sums(nn.Module):
    def forward(self, a, b, c, d, e):
        first = a + b
        second = c + d
        third = b + c
        return first * 1, second * 1, third * 1, e * 1


sums = fx.symbolic_trace(Sums())
additions = sums.graph.find_nodes(op="call_function", target=operator.add)
print([[read.name for read in node.args] for node in additions])
draw(sums)

# %% proof=true
assert [[read.name for read in node.args] for node in additions] == [
    ["a", "b"],
    ["c", "d"],
    ["b", "c"],
]


# %% [markdown]
# No addition has both `a` and `d`, but they hang together: `a` with `b`, `b` with `c`, `c` with `d`. You know it only after the last addition.
#
# Keep the group of each value in a dictionary, as a set. When an operation joins values, their sets become one set, and each member gets the new one:


# %%
def together(gm: fx.GraphModule) -> list[set[fx.Node]]:
    """The values that must be on one device."""
    group: dict[fx.Node, set[fx.Node]] = {}
    for node in gm.graph.find_nodes(op="call_function", target=operator.add):
        members = [*node.all_input_nodes, node]
        joined = set().union(*(group.get(member, {member}) for member in members))
        for member in joined:
            group[member] = joined
    return list({id(each): each for each in group.values()}.values())


groups = [sorted(node.name for node in each) for each in together(sums)]
print(groups)

# %% proof=true
assert groups == [["a", "add", "add_1", "add_2", "b", "c", "d"]]

# %% [markdown]
# **Predict the result.** The first operation joins pairs 1 and 2, the second joins pairs 3 and 4, the third joins pairs 2 and 3. Pair 4 has the largest scale. You go through the operations once, in this order, and give the pairs of each the largest scale among them. Which pair's scale is not the largest in the end?
#
# <details><summary>Pair 1</summary>
#
# Right. When the first operation had its turn, pair 2 still had a small scale. It gets a larger one from the third operation, and pair 1 does not.
# </details>
# <details><summary>None: the largest scale goes from one to the next</summary>
#
# It goes forward only, to pairs of later operations.
# </details>
# <details><summary>Pairs 1 and 2</summary>
#
# No. Pair 2 gets it from the third operation, through pair 3.
# </details>

# %% proof=true
scales = {1: 0.01, 2: 0.02, 3: 0.03, 4: 0.04}
operations = [(1, 2), (3, 4), (2, 3)]
for members in operations:
    scales |= dict.fromkeys(members, max(scales[member] for member in members))
assert [pair for pair, scale in scales.items() if scale < 0.04] == [1]
for members in operations:
    scales |= dict.fromkeys(members, max(scales[member] for member in members))
assert set(scales.values()) == {0.04}

# %% [markdown]
# Two ways are right: find the groups first, or repeat the loop until nothing changes.


# %% [markdown] card="share_scales"
# **Given** a graph module with calls of `quantize` and `dequantize`.
#
# The operations that **only move values** are `torch.cat`, `F.max_pool2d`, and the methods `reshape`, `flatten`, `transpose`, `permute`.
#
# If **all** inputs of one are `dequantize` calls, and a `quantize` call reads its result, then the scales of these inputs and results become **one**: the largest.
#
# * What hangs together through several operations, or through a common input, gets one scale.
# * A scale changes in each `quantize` call, and in **all** `dequantize` calls that read it.
#
# **Return** a new module in which only scales are different.
#
# **Do not** trace or change `gm`.
#
# **Fine print**
#
# * Others may read the result of the operation, too.
# * The new module has the same nodes, names, order and `meta`.
# * A `dequantize` call always reads a `quantize` call of the same scale here.
# * Sizes among the arguments are numbers.


# %%
def through(x, scale):
    """Through eight bits and back."""
    return dequantize(quantize(x, scale), scale)


class Before(nn.Module):
    def forward(self, x):
        a, b = through(torch.sin(x), 0.01), through(torch.exp(x), 0.04)
        return through(torch.cat([a, b]), 0.02).neg()


class After(nn.Module):
    """What share_scales makes of it, as if it were in the source."""

    def forward(self, x):
        a, b = through(torch.sin(x), 0.04), through(torch.exp(x), 0.04)
        return through(torch.cat([a, b]), 0.04).neg()


draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="share_scales"
def share_scales(gm: fx.GraphModule) -> fx.GraphModule:
    """A module in which pairs around what only moves values share the largest scale."""

    ### BEGIN SOLUTION
    def moved_by(node: fx.Node) -> list[Any]:
        if node.op == "call_function" and node.target is torch.cat:
            return list(node.kwargs["tensors"] if "tensors" in node.kwargs else node.args[0])
        if node.op == "call_function" and node.target is F.max_pool2d:
            return [node.kwargs["input"] if "input" in node.kwargs else node.args[0]]
        methods = ("reshape", "flatten", "transpose", "permute")
        return [node.args[0]] if node.op == "call_method" and node.target in methods else []

    new = copy.deepcopy(gm)
    group: dict[fx.Node, set[fx.Node]] = {}
    for node in new.graph.nodes:
        values = moved_by(node)
        results = [user for user in node.users if user.target is quantize]
        if not values or not results or any(v.target is not dequantize for v in values):
            continue
        members = [*(value.args[0] for value in values), *results]
        joined = set().union(*(group.get(member, {member}) for member in members))
        group.update(dict.fromkeys(joined, joined))
    largest = {member: max(other.args[1] for other in group[member]) for member in group}
    for member, scale in largest.items():
        readers = [user for user in member.users if user.target is dequantize]
        for call in (member, *readers):
            call.args = (call.args[0], scale)
    new.recompile()
    return new
    ### END SOLUTION


# %% check="share_scales"
check(share_scales)

# %% hint="share_scales"
hint("share_scales")

# %% [markdown]
# ## 14b.4 Staying in eight bits
#
# Sharing removes no call. It makes that possible: after it, the result of a `torch.cat` is a `quantize` of a moved `dequantize`, with one scale. That is the same as moving the counts (14b.1).
# In chapter 14 you folded such places for the four methods. This function does it for `torch.cat` and `F.max_pool2d`:


# %%
def stay_in_eight_bits(gm: fx.GraphModule) -> fx.GraphModule:
    """A module in which `torch.cat` and `F.max_pool2d` move whole numbers, if they can."""
    new = copy.deepcopy(gm)
    for node in list(new.graph.nodes):
        if node.target not in (torch.cat, F.max_pool2d):
            continue
        values = node.all_input_nodes
        if any(value.target is not dequantize for value in values):
            continue
        source = {value: value.args[0] for value in values}
        scales = {value.args[1] for value in values}
        for user in list(node.users):
            if user.target is quantize and scales == {user.args[1]}:
                with new.graph.inserting_before(user):
                    inside = new.graph.node_copy(node, source.__getitem__)
                user.replace_all_uses_with(inside)
                new.graph.erase_node(user)
    new.graph.eliminate_dead_code()  # nothing here has an effect
    new.recompile()
    return new


def count(gm: fx.GraphModule) -> tuple[int, int]:
    """How many `quantize` and how many `dequantize` calls there are."""
    targets = Counter(node.target for node in gm.graph.nodes)
    return targets[quantize], targets[dequantize]


before, after = fx.symbolic_trace(Before()), fx.symbolic_trace(After())
shorter = stay_in_eight_bits(after)
print(shorter.code)

# %% proof=true
x = torch.randn(2, 3)
assert count(stay_in_eight_bits(before)) == count(before) == (3, 3)  # three different scales
assert count(shorter) == (2, 1) and torch.equal(shorter(x), after(x))

# %% [markdown]
# Inductor has this pass, too. `torch/_inductor/fx_passes/quantization.py` finds a `cat` between `dequantize` and `quantize` calls with a pattern. It checks that all their scales and zero points are equal, and calls `cat` on whole numbers.
#
# With your function, the first model gets as short:

# %% uses="share_scales"
print(count(before), "calls, then", count(stay_in_eight_bits(share_scales(before))))

# %% proof=true
shorter = stay_in_eight_bits(share_scales(before))
assert count(shorter) == (2, 1) and torch.equal(shorter(x), after(x))

# %% [markdown]
# ## 14b.5 The end of the story
#
# GoogLeNet, with random weights. Its pools are layers, and a layer is a leaf. A tracer of your own (chapter 8) goes into them, and finds `F.max_pool2d`:

# %%
network = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False))


class IntoPools(fx.Tracer):
    """Traces into pools."""

    def is_leaf_module(self, module, path):
        return not isinstance(module, nn.MaxPool2d) and super().is_leaf_module(module, path)


float_gm = fx.GraphModule(network, IntoPools().trace(network))
pools = float_gm.graph.find_nodes(op="call_function", target=F.max_pool2d)
joins = float_gm.graph.find_nodes(op="call_function", target=torch.cat)
print(len(float_gm.graph.nodes), "nodes,", len(pools), "pools,", len(joins), "joins")

# %% proof=true
assert (len(float_gm.graph.nodes), len(pools), len(joins)) == (199, 13, 9)

# %% [markdown]
# Four images give the scales. Then each value goes through eight bits. Names do not matter here, so a Transformer (chapter 6) can do it:


# %%
class Magnitudes(fx.Interpreter):
    """Runs a graph, and notes a scale for each value."""

    def run_node(self, n):
        value = super().run_node(n)
        scale_of[n.name] = value.abs().max().item() / 127
        return value


class Pairs(fx.Transformer):
    """Sends each value except the output through eight bits."""

    def run_node(self, n):
        value = super().run_node(n)
        return value if n.op == "output" else through(value, scale_of[n.name])


scale_of: dict[str, float] = {}
pictures = images(4)
with torch.no_grad():
    Magnitudes(float_gm).run(pictures)
quant_gm = Pairs(float_gm).transform()


def change(gm: fx.GraphModule) -> float:
    """The error of a module's result, as a part of what other pictures change."""
    return difference(gm, network, pictures)


print(count(quant_gm), f"calls; the error is {change(quant_gm):.1%}")

# %% proof=true
assert count(quant_gm) == (198, 198) and 0.01 < change(quant_gm) < 0.5


# %% uses="share_scales"
def scales_in(gm: fx.GraphModule) -> list[float]:
    return [node.args[1] for node in gm.graph.nodes if node.target is quantize]


shared = share_scales(quant_gm)
pairs = zip(scales_in(quant_gm), scales_in(shared), strict=True)
changed = sum(old != new for old, new in pairs)
short = stay_in_eight_bits(shared)
for title, gm in (
    ("each its own scale", quant_gm),
    ("the same, shortened", stay_in_eight_bits(quant_gm)),
    ("shared", shared),
    ("shared, shortened", short),
):
    print(f"{title:20} {count(gm)} calls; the error is {change(gm):.1%}")
print(changed, "of 198 scales were changed")
assert_same_results(short, shared, pictures)

# %% proof=true
assert count(shared) == (198, 198) and count(short) == (176, 158)
assert 0 < changed < 40 and change(shared) < change(quant_gm) + 0.05

# %% [markdown]
# 22 calls of `quantize` and 40 of `dequantize` are gone: all 9 joins and all 13 pools move whole numbers now. The result is not worse here, because few scales were changed.
#
# Why so few?
#
# **Predict the result.** No value after a ReLU is negative. A pool reads such a value. Before any sharing, what is true of the scale of its result?
#
# <details><summary>It is smaller, because a pool gives fewer numbers</summary>
#
# Fewer, but the largest ones.
# </details>
# <details><summary>It is the same, if each number is in some window of the pool</summary>
#
# Right. The largest number of all is the largest of its window. So it is in the result, and the largest magnitude is the same. A join is similar: the largest scale of its inputs is that of its result, and only the other branches change.
# </details>
# <details><summary>It is larger, because a pool gives maxima</summary>
#
# No. A pool invents no number.
# </details>

# %% proof=true
for node in (*pools, *joins):
    scales = [scale_of[read.name] for read in node.all_input_nodes]
    assert scale_of[node.name] == max(scales)
assert all(len({scale_of[read.name] for read in n.all_input_nodes}) > 1 for n in joins)

# %% [markdown]
# So the chip needs 62 calls fewer, and the result is almost the same. That is the answer to the team.
#
# ### In production
#
# | tool | what it is |
# |---|---|
# | `torch.ao.quantization` | PyTorch's older tools; deprecated, and the part for exported graphs is gone |
# | **torchao** | the project that replaces it, with kernels that compute with eight bits and fewer |
# | **pt2e** in torchao | its passes over graphs of `torch.export`. `prepare_pt2e` folds BatchNorms, and inserts observers, which do the work of a Calibrator. You run images. `convert_pt2e` replaces the observers by `quantize` and `dequantize` calls, gives each reader its own `dequantize`, and computes the `quantize` of weights. A *quantizer* of the backend says which values get observers |
# | `SharedQuantizationSpec` in pt2e | a note on a value that it shares the scale of another one: this exercise |
#
# So chapters 14 and 14b are the steps of pt2e, written by hand.

# %% proof=true
import importlib

assert importlib.import_module("torch.ao.quantization")
# prepare_pt2e, convert_pt2e and SharedQuantizationSpec were here
for moved in ("quantize_pt2e", "quantizer"):
    with fails(ModuleNotFoundError):
        importlib.import_module(f"torch.ao.quantization.{moved}")

# %% [markdown]
# ## Common mistakes
#
# ### The smallest scale
#
# It has the finest steps, so it looks like the most exact one. But it clips the branch with the large values:

# %%
values = torch.tensor([0.5, 1.0, 50.0])
fine = 1.0 / 127
print(dequantize(quantize(values, fine), fine))

# %% proof=true
assert dequantize(quantize(values, fine), fine)[2] < 1.1

# %% [markdown]
# **Right:** the largest scale. Rounding loses at most half a step, clipping loses without limit.
#
# ### One `dequantize` is forgotten
#
# A pass changes the scale of a `quantize` call, and of the `dequantize` call that the operation reads. But another call dequantizes the same counts, with the old scale:

# %%
q = quantize(values, 0.4)  # it was 0.1
old, new = dequantize(q, 0.1), dequantize(q, 0.4)
print(old, new)

# %% proof=true
assert torch.allclose(old * 4, new) and not torch.allclose(old, values, atol=0.4)

# %% [markdown]
# **Right:** change all `dequantize` calls among the `users` of the `quantize` call.
#
# ### One walk through the graph
#
# Each operation takes the largest scale around it, once. Try all orders of three operations in a row:

# %%
complete = 0
for order in itertools.permutations([(1, 2), (2, 3), (3, 4)]):
    scales = {1: 0.01, 2: 0.02, 3: 0.03, 4: 0.04}
    for members in order:
        scales |= dict.fromkeys(members, max(scales[member] for member in members))
    complete += set(scales.values()) == {0.04}
print(complete, "of 6 orders are enough")

# %% proof=true
assert complete == 1

# %% [markdown]
# **Right:** find the groups first, or repeat the loop until nothing changes.
#
# ### Some inputs are enough
#
# If one input of a `torch.cat` is a floating tensor, the join must be in floating point. PyTorch joins the two kinds without a warning:

# %%
odd = torch.cat([quantize(values, 0.4), values])
print(odd)

# %% proof=true
assert odd.dtype == torch.float32
assert not torch.allclose(odd[:3], values, atol=0.4)

# %% [markdown]
# **Right:** share only if *all* inputs are `dequantize` calls.
#
# ### A mean is taken for a move
#
# `F.avg_pool2d` looks like `F.max_pool2d`. But a mean of counts may be between two counts:

# %%
tiny = torch.tensor([[[[1, 2], [2, 2]]]], dtype=torch.int8)
print(F.max_pool2d(tiny, 2).item(), F.avg_pool2d(tiny.float(), 2).item())
with fails(RuntimeError):
    F.avg_pool2d(tiny, 2)

# %% proof=true
assert F.max_pool2d(tiny, 2).item() == 2 and F.avg_pool2d(tiny.float(), 2).item() == 1.75

# %% [markdown]
# **Right:** share only around an operation whose results are all among its inputs.

# %% [markdown]
# ## Recap
#
# 1. An operation that only moves values gives the same on numbers and on counts of steps, if there is one scale.
# 2. The scale to share is the largest: nothing is clipped, and the small branches have coarser steps.
# 3. A pair between two operations belongs to both. What hangs together through several of them has one scale.
# 4. One walk is not enough: find the groups first, or repeat the loop until nothing changes.
# 5. Sharing removes no call. It makes scales equal, and then pairs cancel: 62 calls of 396 in GoogLeNet.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `quantize(x, scale)`, `dequantize(q, scale)` | to counts of steps, and back |
# | `list(node.users)` | the readers, safe against changes while you loop |
# | `node.args = (node.args[0], scale)` | gives a call other arguments; FX updates `users` |
# | `set().union(*sets)` | several groups as one |
# | `gm.graph.find_nodes(op="call_function", target=torch.cat)` | all calls of a function |
# | `graph.node_copy(node, function)` | a copy that reads what the function gives for each node |
# | `F.max_pool2d(q, 2)` | accepts whole numbers of eight bits, on a CPU |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | putting pairs into a graph, calibration, folding through the four methods | chapter 14 |
# | scales for each channel, zero points, fewer than eight bits | torchao |
#
# On the web: [torchao](https://github.com/pytorch/ao), where pt2e is the package `torchao.quantization.pt2e`.
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html).

# %% [markdown]
# ## Where to go from here
#
# The track *Quantization* ends here. Next, quantize a model of your own with pt2e (`torchao.quantization.pt2e`),
# print its graph, and look for the pairs that these two chapters remove.
