# %% [markdown]
# # 14b · Quantization: sharing scales
#
# *Sharing scales*
#
# **After this part you can make values that are only moved keep their eight bits, and say what that costs.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, `users`, editing a graph; chapter 14 for scales and pairs |
# | **Time** | about 65 minutes with *Common mistakes*, 25 of them for the exercise; the minutes of a section include its exercise |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. say which operations only move values, and why that works with eight bits;
# 2. say what goes wrong when values of different scales are joined, and when the common scale is too small;
# 3. find which calls hang together through several operations, whatever order they are written in;
# 4. write a pass that gives each such group one scale, and changes nothing else;
# 5. take out the pairs that are not needed then, and count them on a real network;
# 6. name the tools that do all of this in production.

# %% [markdown]
# ## A story
#
# The camera team of chapter 14 has looked at its graph. *It is a simulation*, they say. *Each value goes through eight bits, but between any two operations it comes back to floating point. Our chip would do that, too, 198 times for GoogLeNet.*
#
# *Some of it is a waste. Where four branches are joined by `torch.cat`, nothing is computed. The numbers are copied side by side. Why do we go to floating point for that, and back?*
#
# Because the four branches have four scales, and one tensor of whole numbers can have only one. If all of them had the same scale, the chip could copy whole numbers.
# So the team wants a pass that makes scales equal where values are only moved, and a second one that takes out the calls that are not needed any more. How many are these?

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
# **Predict the result.** `q = quantize(x, 0.1)`. Which of these is `q` again, bit by bit?
#
# <details><summary><code>quantize(dequantize(q, 0.1), 0.1)</code></summary>
#
# Right. Counts of steps are kept, if the step is the same. This is why equal scales are worth something.
# </details>
# <details><summary><code>quantize(dequantize(q, 0.1), 0.2)</code></summary>
#
# No. With steps twice as large there are half as many.
# </details>
# <details><summary><code>quantize(dequantize(q, 0.2), 0.1)</code></summary>
#
# No. The numbers are taken for twice as large as they are.
# </details>

# %%
x = torch.randn(1000)
q = quantize(x, 0.1)
assert torch.equal(quantize(dequantize(q, 0.1), 0.1), q)
assert not torch.equal(quantize(dequantize(q, 0.1), 0.2), q)
assert not torch.equal(quantize(dequantize(q, 0.2), 0.1), q)


# %% [markdown]
# **Predict the result.** `for user in node.users: user.args = (node, 2)`. The new arguments read the same node as before. What happens?
#
# <details><summary>Each reader gets its new arguments</summary>
#
# No. The first one does.
# </details>
# <details><summary>An error, because <code>users</code> changes while the loop runs</summary>
#
# Right. FX takes the reader out of <code>users</code>, and puts it in again, even if it reads the same. Loop over <code>list(node.users)</code>.
# </details>
# <details><summary>The loop never ends</summary>
#
# No. Python notices that the dictionary was changed, and says so.
# </details>


# %%
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
# `torch.cat` copies numbers from one place to another. `reshape`, `flatten`, `transpose` and `permute` do not even do that. None of them looks at a number. So it makes no difference whether you move numbers and then count their steps, or move the counts:

# %%
a, b = torch.randn(2, 3), torch.randn(2, 3)
moved_first = quantize(torch.cat([a, b]), 0.05)
counted_first = torch.cat([quantize(a, 0.05), quantize(b, 0.05)])
assert torch.equal(moved_first, counted_first)
assert torch.equal(quantize(a.flatten(), 0.05), quantize(a, 0.05).flatten())

# %% [markdown]
# **Predict the result.** And `F.max_pool2d`? It gives the largest of four numbers. Does it give the same on counts of steps?
#
# <details><summary>No: it computes a maximum, and that needs the numbers</summary>
#
# It needs to know only which of them is the largest.
# </details>
# <details><summary>Yes: what is larger has at least as many steps</summary>
#
# Right. The order is kept, so the pool picks a number that has the largest count. It invents no number: what comes out was there before.
# </details>
# <details><summary>Only if no two numbers are equal</summary>
#
# No. If two have the same count, it does not matter which one is picked.
# </details>

# %%
image = torch.randn(1, 2, 8, 8)
assert torch.equal(quantize(F.max_pool2d(image, 2), 0.05), F.max_pool2d(quantize(image, 0.05), 2))
mean_first = quantize(F.avg_pool2d(image, 2), 0.05)  # a mean invents numbers
assert not torch.equal(dequantize(mean_first, 0.05), F.avg_pool2d(image, 2))

# %% [markdown]
# All of this holds with **one** scale. With two, the counts are side by side as if they were counts of the same thing, and nobody can say any more what they mean:

# %%
mixed = torch.cat([quantize(a, 0.05), quantize(b, 0.01)])
for scale in (0.05, 0.01):
    assert not torch.allclose(dequantize(mixed, scale), torch.cat([a, b]), atol=scale)

# %% [markdown]
# ## 14b.2 Which scale
#
# Two branches and their result have three scales. Which one do they share? A scale says how large the steps are, and also how far 127 of them reach:

# %%
small, large = torch.randn(10_000), 20 * torch.randn(10_000)
fine, coarse = small.abs().max().item() / 127, large.abs().max().item() / 127
print(f"scales: {fine:.4f} and {coarse:.4f}")


def loss(values: torch.Tensor, scale: float) -> float:
    """How much a value suffers, relative to its size."""
    return ((dequantize(quantize(values, scale), scale) - values).norm() / values.norm()).item()


for scale in (fine, coarse):
    print(f"{scale:.4f}: small loses {loss(small, scale):.1%}, large {loss(large, scale):.1%}")
assert loss(large, fine) > 0.5  # clipped
assert loss(small, coarse) < 0.25 and loss(large, coarse) < 0.02

# %% [markdown]
# With the small scale the large values are cut off, and more than half of them is lost. With the **largest** scale nothing is cut off, and the small branch has coarser steps. That is the price of sharing.

# %% [markdown]
# ## 14b.3 What hangs together
#
# One `torch.cat` makes a few pairs share. But a pair can be around two operations: its value comes out of one, and goes into the next. Then both must have the same scale, and so must all that is around them.
#
# ### A worked example: which values are on one device
#
# An addition needs both of its operands on one device. Which values of this model must be together?


# %%
class Sums(nn.Module):
    def forward(self, a, b, c, d, e):
        first = a + b
        second = c + d
        third = b + c
        return first * 1, second * 1, third * 1, e * 1


sums = fx.symbolic_trace(Sums())
draw(sums)
additions = sums.graph.find_nodes(op="call_function", target=operator.add)
print([[read.name for read in node.args] for node in additions])
assert [[read.name for read in node.args] for node in additions] == [
    ["a", "b"],
    ["c", "d"],
    ["b", "c"],
]


# %% [markdown]
# `a` and `d` are in no addition together, and hang together all the same: `a` with `b`, `b` with `c`, `c` with `d`. The line between them is found only when the last addition comes.
#
# Keep the group of each value in a dictionary, as a set. When an operation joins values, their sets become one set, and everybody in it gets the new one:


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
assert groups == [["a", "add", "add_1", "add_2", "b", "c", "d"]]

# %% [markdown]
# **Predict the result.** Three operations share: the first joins pairs 1 and 2, the second joins pairs 3 and 4, the third joins pairs 2 and 3. Pair 4 has the largest scale. You go through the operations once, in this order, and give all pairs of each the largest scale among them. Who does not have the largest scale in the end?
#
# <details><summary>Pair 1</summary>
#
# Right. When the first operation had its turn, pair 2 still had a small scale. It gets a larger one from the third operation, and nobody goes back to pair 1.
# </details>
# <details><summary>Nobody: the largest scale goes from one to the next</summary>
#
# It goes forward only, to those whose turn comes later.
# </details>
# <details><summary>Pairs 1 and 2</summary>
#
# No. Pair 2 gets it from the third operation, through pair 3.
# </details>

# %%
scales = {1: 0.01, 2: 0.02, 3: 0.03, 4: 0.04}
operations = [(1, 2), (3, 4), (2, 3)]
for members in operations:
    scales |= dict.fromkeys(members, max(scales[member] for member in members))
print(scales)
assert [pair for pair, scale in scales.items() if scale < 0.04] == [1]

rounds = 0
while len(set(scales.values())) > 1:  # a second round, and as many as it takes
    rounds += 1
    for members in operations:
        scales |= dict.fromkeys(members, max(scales[member] for member in members))
assert rounds == 1

# %% [markdown]
# Both ways are right: find the groups first, or go round until nothing changes.


# %% [markdown] card="share_scales"
# **Given** a graph module with calls of `quantize` and `dequantize` from `autograder.given`.
#
# An operation that **only moves values** is a `torch.cat`, an `F.max_pool2d`, or a call of one of the methods `reshape`, `flatten`, `transpose`, `permute`.
#
# Look at each of them. If **all** its inputs are `dequantize` calls, and somebody quantizes its result (others may read it, too), then the scales of these inputs and of these results become **one**: the largest.
#
# * What hangs together through several operations, or through a common input, gets one scale.
# * A scale is changed in each `quantize` call, and in **all** `dequantize` calls that read it.
#
# **Return** a new module in which only scales are different: same nodes, names, order, `meta`.
#
# **Do not** change `gm`, and do not trace it anew. (What a `dequantize` call reads is always a `quantize` call of the same scale here. Sizes among the arguments are numbers.)


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
# Sharing takes nothing out. It makes it *possible* to take something out. Look at the result of a `torch.cat` after sharing: `quantize` of a moved `dequantize`, with one scale. By what you saw in 14b.1 that is the same as moving the counts.
# In chapter 14 you folded such places for the four methods. This function does it for `torch.cat` and `F.max_pool2d`:


# %%
def stay_in_eight_bits(gm: fx.GraphModule) -> fx.GraphModule:
    """A module in which `torch.cat` and `F.max_pool2d` move whole numbers, where they can."""
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
x = torch.randn(2, 3)
assert count(stay_in_eight_bits(before)) == count(before) == (3, 3)  # three different scales
shorter = stay_in_eight_bits(after)
print(shorter.code)
assert count(shorter) == (2, 1) and torch.equal(shorter(x), after(x))

# %% uses="share_scales"
shorter = stay_in_eight_bits(share_scales(before))
assert count(shorter) == (2, 1) and torch.equal(shorter(x), after(x))

# %% [markdown]
# ## 14b.5 The end of the story
#
# GoogLeNet, with random weights. Its pools are layers, and a layer is a leaf. A tracer of your own (chapter 8) goes into them, and finds `F.max_pool2d`:

# %%
network = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False))


class IntoPools(fx.Tracer):
    """Pools are no leaves."""

    def is_leaf_module(self, module, path):
        return not isinstance(module, nn.MaxPool2d) and super().is_leaf_module(module, path)


float_gm = fx.GraphModule(network, IntoPools().trace(network))
pools = float_gm.graph.find_nodes(op="call_function", target=F.max_pool2d)
joins = float_gm.graph.find_nodes(op="call_function", target=torch.cat)
print(len(float_gm.graph.nodes), "nodes,", len(pools), "pools,", len(joins), "joins")
assert (len(float_gm.graph.nodes), len(pools), len(joins)) == (199, 13, 9)

# %% [markdown]
# Four images say which scales there are. Then each value goes through eight bits. Names do not matter in this part, so a Transformer (chapter 6) can do it:


# %%
class Magnitudes(fx.Interpreter):
    """Runs a graph, and notes a scale for each value."""

    def run_node(self, n):
        value = super().run_node(n)
        scale_of[n.name] = value.abs().max().item() / 127
        return value


class Pairs(fx.Transformer):
    """Sends each value but the result itself through eight bits."""

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


print(count(quant_gm), f"calls; the error is {change(quant_gm):.1%} of that")
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
assert count(shared) == (198, 198) and count(short) == (176, 158)
assert 0 < changed < 40 and change(shared) < change(quant_gm) + 0.05
assert_same_results(short, shared, pictures)

# %% [markdown]
# 22 calls of `quantize` and 40 of `dequantize` are gone: all 9 joins and all 13 pools move whole numbers now. The result is hardly any worse, because few scales were changed.
#
# Why so few?
#
# **Predict the result.** All values behind a ReLU are positive. A pool reads such a value. Before any sharing, what is true of the scale of its result?
#
# <details><summary>It is smaller, because a pool gives fewer numbers</summary>
#
# Fewer, but the largest ones.
# </details>
# <details><summary>It is the same, if each number is in some window of the pool</summary>
#
# Right. The largest number of all is the largest of its window. So it comes out, and the largest magnitude stays what it is. A join is similar: the largest scale of its inputs is that of its result, and only the other branches change.
# </details>
# <details><summary>It is larger, because a pool gives maxima</summary>
#
# No. A pool invents no number.
# </details>

# %%
for node in (*pools, *joins):
    scales = [scale_of[read.name] for read in node.all_input_nodes]
    assert scale_of[node.name] == max(scales)
unequal = [n.name for n in joins if len({scale_of[read.name] for read in n.all_input_nodes}) > 1]
print(len(unequal), "joins have branches of different scales")
assert len(unequal) == 9

# %% [markdown]
# So the team's answer is: 62 calls fewer on the chip, and almost no loss.
#
# ### In production
#
# | tool | what it is |
# |---|---|
# | `torch.ao.quantization` | the tools that were part of PyTorch; deprecated, and its part for exported graphs is gone (below) |
# | **torchao** | the project that took its place, with kernels that compute with eight bits and fewer |
# | **pt2e** in torchao | its passes over graphs of `torch.export`: `prepare_pt2e` puts observers behind values, as a Calibrator does; you run images; `convert_pt2e` puts `quantize` and `dequantize` calls in their place. A backend says with a *quantizer* which values get them |
# | `SharedQuantizationSpec` in pt2e | says of a value that it shares the scale of another one: this exercise, as a note on nodes |
#
# So what you wrote by hand in chapter 14 and here are the steps of pt2e. You can see that the old place is empty:

# %%
import importlib

assert importlib.import_module("torch.ao.quantization")
with fails(ModuleNotFoundError):  # prepare_pt2e and convert_pt2e were here
    importlib.import_module("torch.ao.quantization.quantize_pt2e")
with fails(ModuleNotFoundError):  # SharedQuantizationSpec was here
    importlib.import_module("torch.ao.quantization.quantizer")

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (4 minutes)
#
# ### The smallest scale
#
# It has the finest steps, so it looks like the most exact one. But it cuts off the branch with the large values:

# %%
values = torch.tensor([0.5, 1.0, 50.0])
fine = 1.0 / 127
print(dequantize(quantize(values, fine), fine))
assert dequantize(quantize(values, fine), fine)[2] < 1.1

# %% [markdown]
# **Right:** the largest scale. Rounding loses at most half a step, clipping loses without limit.
#
# ### One `dequantize` is forgotten
#
# The scale is changed in a `quantize` call, and in the `dequantize` call that the operation reads. But somebody else dequantizes the same counts, with the old scale:

# %%
q = quantize(values, 0.4)  # it was 0.1
old, new = dequantize(q, 0.1), dequantize(q, 0.4)
print(old, new)
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
assert complete == 1

# %% [markdown]
# **Right:** find out what hangs together first, or go round until nothing changes.
#
# ### Some inputs are enough
#
# If one input of a `torch.cat` is a floating tensor, the join must be in floating point, whatever the others are. PyTorch even joins the two kinds without a word:

# %%
odd = torch.cat([quantize(values, 0.4), values])
print(odd)
assert odd.dtype == torch.float32
assert not torch.allclose(odd[:3], values, atol=0.4)

# %% [markdown]
# **Right:** share only where *all* inputs are `dequantize` calls.
#
# ### A mean is taken for a move
#
# `F.avg_pool2d` looks like `F.max_pool2d`. But a mean of counts is no count, and whole numbers have no halves:

# %%
tiny = torch.tensor([[[[1, 2], [2, 2]]]], dtype=torch.int8)
assert F.max_pool2d(tiny, 2).item() == 2
assert F.avg_pool2d(tiny.float(), 2).item() == 1.75
with fails(RuntimeError):
    F.avg_pool2d(tiny, 2)

# %% [markdown]
# **Right:** ask of an operation whether each number that comes out was there before.

# %% [markdown]
# ## Recap
#
# 1. An operation that only moves values gives the same on numbers and on counts of steps, if there is one scale.
# 2. The scale to share is the largest: nothing is clipped, and the small branches have coarser steps.
# 3. A pair between two operations belongs to both. What hangs together through several of them has one scale.
# 4. One walk is not enough: find the groups first, or go round until nothing changes.
# 5. Sharing takes nothing out. It makes equal scales, and then pairs can go: 62 calls of 396 in GoogLeNet.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `quantize(x, scale)`, `dequantize(q, scale)` | to counts of steps, and back |
# | `list(node.users)` | the readers, safe against changes while you loop |
# | `node.args = (node.args[0], scale)` | gives a call other arguments; FX keeps `users` in step |
# | `set().union(*sets)` | several groups as one |
# | `gm.graph.find_nodes(op="call_function", target=torch.cat)` | all calls of a function |
# | `graph.node_copy(node, function)` | a copy that reads what the function gives for each node |
# | `F.max_pool2d(q, 2)` | works on whole numbers of eight bits |
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
