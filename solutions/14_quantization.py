# %% [markdown]
# # 14 · Quantization as graph rewriting
#
# **After this chapter you can put a network on eight bits with passes of your own, and say what each of them does to the graph.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, the six kinds of node, editing a graph; chapter 6 for Interpreters |
# | **Time** | about 120 minutes, 73 of them for the exercises |
#
# **When you are done, you can**
#
# 1. say what a scale is, and what eight bits do to small and to large numbers;
# 2. write a function that is one node in every symbolic trace, without `fx.wrap`;
# 3. put a pair of calls after chosen nodes of a graph, and keep the rest as it is;
# 4. say why a pass does not trace a given graph module again;
# 5. watch values while a graph runs, and choose scales from them;
# 6. find pairs of calls that cancel, even with other calls between them, and say when they do not;
# 7. find the node whose value suffers most.

# %% [markdown]
# ## A story
#
# GoogLeNet, the other team's model, runs on a small camera now. The chip of the camera multiplies whole numbers of eight bits, four times as fast as floating-point numbers, and its memory is small.
#
# *Give us a graph in which each value between the layers goes through eight bits*, the camera team says. *Then we can see what the pictures lose, before we buy ten thousand chips.*
#
# PyTorch's own tool for that, `torch.ao.quantization`, is deprecated. But such a simulation is small: choose scales, insert calls, remove calls that cancel.
# You can write all of it with what you know from chapters 3 and 6.

# %%
import copy
import math
import operator
from typing import Any

import torch
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
# **Predict the result.** A pass puts `new` after `node`: it creates `new`, which reads `node`, and then calls `node.replace_all_uses_with(new)`. What does `new` read?
#
# <details><summary>It reads <code>node</code>, as it was created.</summary>
#
# No. <code>new</code> is a reader of <code>node</code>, and all readers are changed.
# </details>
# <details><summary>It reads itself.</summary>
#
# Right. This is the self-loop of chapter 3. In this chapter there are two new nodes, and the loop can go through both of them.
# </details>
# <details><summary>Nothing: its argument is empty.</summary>
#
# No. An argument is exchanged; it is not removed.
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
_, relu, _, _ = gm.graph.nodes
with gm.graph.inserting_after(relu):
    new = gm.graph.call_function(torch.neg, (relu,))
relu.replace_all_uses_with(new)
assert new.args == (new,)

# %% [markdown]
# **Predict the result.** An Interpreter runs `y = torch.relu(x)` and then `y.add_(1)`. You keep the value of each node in a dictionary. After the run, what is in it for `relu`?
#
# <details><summary>The value that <code>torch.relu</code> has computed.</summary>
#
# No. The dictionary keeps a tensor, not the numbers that were in it at some time.
# </details>
# <details><summary>That value plus one.</summary>
#
# Right. Both are one tensor, and <code>add_</code> has written into it. To see the value as it was, look at it when it is computed, or copy it.
# </details>
# <details><summary>Nothing: an Interpreter forgets values.</summary>
#
# No. It drops its own reference after the last reader. Yours stays.
# </details>


# %% proof=true
class Later(nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        y.add_(1)
        return y


class Keeping(fx.Interpreter):
    def run_node(self, n):
        kept[n.name] = super().run_node(n)
        return kept[n.name]


kept: dict[str, torch.Tensor] = {}
Keeping(fx.symbolic_trace(Later())).run(torch.zeros(2))
assert kept["relu"].tolist() == [1.0, 1.0]

# %% [markdown]
# ## 14.1 Eight bits
#
# An `int8` is a whole number from -128 to 127. To write a floating-point number in eight bits, you choose a step, the **scale**. The number becomes a count of steps:
#
# * `quantize(x, scale)` gives `x / scale`, rounded, cut off at -128 and 127, as `int8`.
# * `dequantize(q, scale)` gives `q * scale`, as `float32`.
#
# Both come from `autograder.given`. They are three lines of plain torch.

# %%
x = torch.tensor([0.0, 0.24, -0.26, 5.0, -20.0, 100.0])
q = quantize(x, 0.1)
print(q)
print(dequantize(q, 0.1))

# %% proof=true
assert q.dtype == torch.int8 and q.tolist() == [0, 2, -3, 50, -128, 127]
assert dequantize(q, 0.1).dtype == torch.float32

# %% [markdown]
# You see two kinds of error here:
#
# * **Rounding.** `0.24` becomes `0.2`. This error is at most half a scale. A small scale makes it small.
# * **Clipping.** `100` becomes `12.7`, the largest number that this scale can express. A large scale avoids it.
#
# One number must serve both. A simple choice is the largest magnitude that a value ever has, divided by 127. It is about the smallest scale that clips nothing.

# %%
values = torch.randn(10_000) * 3
scale = values.abs().max().item() / 127
error = (dequantize(quantize(values, scale), scale) - values).abs().max().item()
print(f"scale {scale:.4f}, largest error {error:.4f}")
for factor in (0.1, 1, 10):
    other = scale * factor
    lost = dequantize(quantize(values, other), other) - values
    print(f"scale x {factor:4}: {lost.norm() / values.norm():.4f}")

# %% proof=true
assert error <= scale / 2 * 1.001
relative = [
    ((dequantize(quantize(values, scale * f), scale * f) - values).norm() / values.norm()).item()
    for f in (0.1, 1, 10)
]
assert relative[1] < relative[0] and relative[1] < relative[2]

# %% [markdown]
# **Predict the result.** `q = quantize(x, 0.1)`. What is `quantize(dequantize(q, 0.1), 0.1)`?
#
# <details><summary>Almost <code>q</code>: every round trip loses a little.</summary>
#
# No. The first quantization loses something. What it gives is exactly a count of steps, and counts are kept.
# </details>
# <details><summary>Exactly <code>q</code>.</summary>
#
# Right. So a <code>quantize</code> of a <code>dequantize</code> of the same scale does nothing. The other order, <code>dequantize</code> of <code>quantize</code>, rounds.
# </details>
# <details><summary>A tensor of zeros, because <code>q</code> has whole numbers.</summary>
#
# No. <code>dequantize</code> multiplies by the scale first.
# </details>

# %% proof=true
for scale in (0.02, 0.0371, 1 / 3, 0.1):
    q = quantize(torch.randn(10_000) * 10, scale)
    assert torch.equal(quantize(dequantize(q, scale), scale), q)
assert not torch.equal(dequantize(quantize(values, 0.1), 0.1), values)

# %% [markdown]
# ## 14.2 A pair after a node
#
# A value goes through eight bits if a `quantize` and a `dequantize` are put after its node. From here on, these two calls are called a **pair** (*qdq* in the names of functions).
#
# ### A function that is always one node
#
# A trace goes into every function that it can. So a trace of `quantize` should have a division and three more nodes: rounding, clipping, a cast. It does not:


# %%
class OnTheChip(nn.Module):
    def forward(self, x):
        return dequantize(quantize(torch.relu(x), 0.1), 0.1)


traced = fx.symbolic_trace(OnTheChip())
print(traced.code)

# %% proof=true
assert [node.target for node in traced.graph.nodes if node.op == "call_function"] == [
    torch.relu,
    quantize,
    dequantize,
]

# %% [markdown]
# One node each. In chapter 1 you wrote `fx.wrap("name")` for that, in the module that *calls* the function. That is a nuisance if many modules call it.
# PyTorch's own functions do not need it. `torch.relu(x)` asks its argument: *do you want to handle this yourself?* A Proxy does, and it records a call.
# A Python function can ask the same:

# %%
from torch.overrides import handle_torch_function, has_torch_function_unary


def halve(x):
    """`x / 2`, as one node in every symbolic trace."""
    if has_torch_function_unary(x):  # a Proxy, or a tensor of a special class
        return handle_torch_function(halve, (x,), x)
    return x / 2


def plain_halve(x):
    return x / 2


first = fx.symbolic_trace(lambda x: halve(x))
second = fx.symbolic_trace(lambda x: plain_halve(x))
print(first.code, second.code)

# %% proof=true
from torch.fx.experimental.proxy_tensor import make_fx

assert [node.target for node in first.graph.nodes][1] is halve
assert [node.target for node in second.graph.nodes][1] is operator.truediv
assert halve(torch.ones(1)).item() == 0.5
again = fx.symbolic_trace(traced)
assert [node.target for node in again.graph.nodes][2] is quantize
for inlined in (
    make_fx(OnTheChip())(torch.ones(2)).graph,
    torch.export.export(OnTheChip(), (torch.ones(2),)).graph,
):
    assert inlined.find_nodes(op="call_function", target=torch.ops.aten.round.default)

# %% [markdown]
# So a `GraphModule` that calls `quantize` can be traced symbolically again, and each call stays one node. `make_fx` and `torch.export` go into the function: for them you need a custom operator (chapter 12).
#
# ### A worked example: a negation after a node
#
# This function puts one call after one node, in a new module. The exercise needs the same steps.


# %%
class Small(nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1


def negated(gm: fx.GraphModule, name: str) -> fx.GraphModule:
    """A new module in which the value of one node is negated for all its readers."""
    new = copy.deepcopy(gm)
    node = next(node for node in new.graph.nodes if node.name == name)
    with new.graph.inserting_after(node):
        neg = new.graph.call_function(torch.neg)
    node.replace_all_uses_with(neg)
    neg.args = (node,)
    new.recompile()
    return new


gm = fx.symbolic_trace(Small())
result = negated(gm, "relu")
print(result.code)

# %% proof=true
assert torch.equal(result(torch.ones(2)), torch.zeros(2))
assert torch.equal(gm(torch.ones(2)), torch.full((2,), 2.0))  # the given module is as before

# %% [markdown]
# The new node gets its argument *after* the readers are exchanged. At that moment it is not a reader yet, so there is no loop.
#
# ### Why not a new trace
#
# Your earlier passes began with `fx.symbolic_trace(model)`. A pass that is one of several gets a `gm`, and names from the pass before it. A new trace may have other names:

# %%
graph = fx.Graph()
value = graph.create_node("placeholder", "x", name="image")
graph.output(graph.create_node("call_function", torch.relu, (value,), name="bright"))
named = fx.GraphModule(nn.Module(), graph)
named.graph.find_nodes(op="call_function", target=torch.relu)[0].meta["scale"] = 0.1
again, copied = fx.symbolic_trace(named), copy.deepcopy(named)
for title, module in (("traced again", again), ("deep copy", copied)):
    print(title, [(node.name, node.meta.get("scale")) for node in module.graph.nodes])

# %% proof=true
assert [node.name for node in copied.graph.nodes] == ["image", "bright", "output"]
assert [node.name for node in again.graph.nodes] != ["image", "bright", "output"]
assert [node.meta.get("scale") for node in copied.graph.nodes] == [None, 0.1, None]
assert "scale" not in [*again.graph.nodes][1].meta
one = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
shared, own = fx.GraphModule(one, copy.deepcopy(one.graph)), copy.deepcopy(one)
assert shared.get_parameter("0.weight") is one.get_parameter("0.weight")
assert own.get_parameter("0.weight") is not one.get_parameter("0.weight")

# %% [markdown]
# A deep copy keeps the names and the `meta`. It has tensors of its own, too. To share them, write `fx.GraphModule(gm, copy.deepcopy(gm.graph))`.
#
# **Predict the result.** You forget the copy: `new = fx.GraphModule(gm, gm.graph)`. You insert a pair in `new.graph`, and call `new.recompile()`. What does `gm(x)` compute now?
#
# <details><summary>The same as <code>new(x)</code>: both have one graph.</summary>
#
# No. The graph is the same. But a call runs the generated code, and each module has its own.
# </details>
# <details><summary>What it always did: its code is stale.</summary>
#
# Right. The pair is in <code>gm.graph</code>, and an Interpreter of <code>gm</code> runs it. The result of <code>gm(x)</code> changes only with <code>gm.recompile()</code>. So the mistake may stay unseen for a while.
# </details>
# <details><summary>Nothing: a graph has one owner, so the second line raises an error.</summary>
#
# No. The graph notes its latest owner, and nothing is raised.
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
new = fx.GraphModule(gm, gm.graph)
_, relu, total, _ = new.graph.nodes
with new.graph.inserting_before(total):
    q = new.graph.call_function(quantize, (relu, 1.0))
    total.args = (new.graph.call_function(dequantize, (q, 1.0)), 1)
new.recompile()
ones = torch.full((1,), 0.7)
assert new.graph is gm.graph and gm.graph.owning_module is new
assert gm(ones).item() != 2 and new(ones).item() == fx.Interpreter(gm).run(ones).item() == 2
gm.recompile()
assert gm(ones).item() == 2

# %% [markdown] card="insert_qdq"
# **Given** a `GraphModule`, and a dictionary of scales by the names of its nodes.
#
# **Return** a new module. After each named node there is one call `quantize(value, scale)`, and after it one call `dequantize(quantized, scale)`, both with the scale of that node.
#
# * All readers of the value, the output too, read the dequantized value now.
# * Any node may be named: inputs and parameters too, and nodes that no node reads.
# * All other nodes keep name, order and `meta`.
# * If a name is not a node's, or is the output's, raise a `ValueError`.
#
# **Do not** trace or change `gm`.
#
# **Fine print**
#
# * A reader may have the value in a list, in a dictionary, by keyword, or twice.
# * Names of the new nodes are free.


# %%
class Before(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        return torch.cos(y) + y


class After(nn.Module):
    """What insert_qdq(gm, {"sin": 0.01}) does, as if it were in the source."""

    def forward(self, x):
        y = dequantize(quantize(torch.sin(x), 0.01), 0.01)
        return torch.cos(y) + y


draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="insert_qdq"
def insert_qdq(gm: fx.GraphModule, scales: dict[str, float]) -> fx.GraphModule:
    """A new module in which the values of the named nodes go through eight bits.

    Args:
        gm: the graph module; it is not changed.
        scales: the scale of each value, by the node's name.

    Raises:
        ValueError: a name is not that of a node, or is that of the output.
    """
    ### BEGIN SOLUTION
    new = copy.deepcopy(gm)
    names = {node.name for node in gm.graph.nodes if node.op != "output"}
    unknown = scales.keys() - names
    if unknown:
        raise ValueError(f"there is no value to quantize named {sorted(unknown)[0]!r}")
    for node in list(new.graph.nodes):
        if node.op == "output" or node.name not in scales:
            continue
        scale = scales[node.name]
        with new.graph.inserting_after(node):
            q = new.graph.call_function(quantize)
        with new.graph.inserting_after(q):
            dq = new.graph.call_function(dequantize, (q, scale))
        # quantize reads nothing yet, so it is not among the readers that change.
        node.replace_all_uses_with(dq)
        q.args = (node, scale)
    new.recompile()
    return new
    ### END SOLUTION


# %% check="insert_qdq"
check(insert_qdq)

# %% hint="insert_qdq"
hint("insert_qdq")

# %% [markdown]
# ## 14.3 Scales by running
#
# Which scale does a value need? The graph does not say; the numbers do. So you run some typical inputs, and look at each value. This is called **calibration**.
# An Interpreter does it (chapter 6): `run_node` sees each node, and the value when it is computed.
#
# ### A worked example: the smallest value of each node


# %%
class Lowest(fx.Interpreter):
    """Runs a graph, and keeps the smallest number that each node has ever given."""

    def __init__(self, gm):
        super().__init__(gm)
        self.low: dict[str, float] = {}

    def run_node(self, n):
        value = super().run_node(n)
        if isinstance(value, torch.Tensor):
            self.low[n.name] = min(self.low.get(n.name, math.inf), value.min().item())
        return value


class Waves(nn.Module):
    def forward(self, x):
        y = torch.sin(x) * 3
        y.add_(1)
        return y


lowest = Lowest(fx.symbolic_trace(Waves()))
for image in (torch.tensor([0.5, -0.5]), torch.tensor([-2.0, 2.0])):
    lowest.run(image)
print(lowest.low)

# %% proof=true
assert lowest.low["x"] == -2.0 and abs(lowest.low["mul"] - 3 * math.sin(-2.0)) < 1e-6
assert lowest.low["add_"] == lowest.low["mul"] + 1

# %% [markdown]
# `mul` and `add_` give the same tensor, but have different numbers in the dictionary, because `run_node` looks at a value **before** the next node runs. After the run it would be too late.
#
# The dictionary belongs to the object: it is made in `__init__`. All objects would share a dictionary in the class body.
#
# **Predict the result.** What does `Lowest` do with a tensor that has no numbers, such as `x[:0]`?
#
# <details><summary>It keeps <code>inf</code>, the smallest of nothing.</summary>
#
# No. PyTorch does not define the smallest number of nothing.
# </details>
# <details><summary>It raises an error.</summary>
#
# Right. <code>min()</code> and <code>max()</code> of an empty tensor raise an error. Ask <code>numel()</code> first.
# </details>
# <details><summary>It keeps 0.</summary>
#
# No, although that would be convenient for magnitudes.
# </details>

# %% proof=true
with fails(RuntimeError):
    Lowest(fx.symbolic_trace(lambda x: x[:0])).run(torch.ones(2))
assert torch.ones(2)[:0].numel() == 0

# %% [markdown]
# **Predict the result.** `forward(self, x, y=2.0)` computes `z = y * 3`. One calibrator runs `(x,)` first, and then `(x, y)` with a tensor `y`. In which run does it see a floating tensor at `z`?
#
# <details><summary>In both.</summary>
#
# No. In the first run <code>z</code> is the Python number <code>6.0</code>.
# </details>
# <details><summary>In the second run only.</summary>
#
# Right. So a key may come into your dictionary late, after keys of nodes that come later in the graph.
# </details>
# <details><summary>In none: a default is a constant.</summary>
#
# No. It is the value of a placeholder, if the caller gives no other.
# </details>


# %% proof=true
class Maybe(nn.Module):
    def forward(self, x, y=2.0):
        z = y * 3
        return x + z


lowest = Lowest(fx.symbolic_trace(Maybe()))
lowest.run(torch.ones(2))
assert "mul" not in lowest.low
lowest.run(torch.ones(2), torch.ones(2))
assert list(lowest.low) == ["x", "add", "output", "y", "mul"]  # not the order of the graph

# %% [markdown] card="Calibrator"
# **Write** a class of Interpreters with a method `scales()`. `Calibrator(gm)` is run any number of times, on inputs of any shapes.
#
# `scales()` **returns** a dictionary from names of nodes to Python numbers, in graph order:
#
# * For each node except the output whose value was a floating tensor: the largest magnitude that it had in all runs, divided by 127.
# * `1.0`, if only zeros were seen, or tensors without numbers.
# * Nothing for other values: whole numbers, tuples, Python numbers.
# * A value counts as it was when it was computed.
#
# `run` returns what it always does. **Do not** change `gm`.
#
# **Fine print**
#
# * Inputs and attributes count, too.
# * Divide a Python number: a `bfloat16` has three digits.
# * What a later node writes into a value does not count.
# * Two calibrators share nothing.
# * NaN and infinities are never tested.

# %%
draw(fx.symbolic_trace(lambda x: (torch.sin(x) * 3).add_(1)))
# After runs on [0.5, -0.5] and [-2.0, 2.0], scales() of this graph has four keys, in this order:
# x: 2.0 / 127, sin: 0.909 / 127, mul: 2.728 / 127, add_: 3.728 / 127


# %% solve="Calibrator"
class Calibrator(fx.Interpreter):
    """Runs a graph, and gives scales for the values that it has seen."""

    def __init__(self, gm: fx.GraphModule) -> None:
        super().__init__(gm)
        self.largest: dict[str, float] = {}

    def run_node(self, n: fx.Node) -> Any:
        """Run one node, and look at its value before the next one can change it."""
        ### BEGIN SOLUTION
        value = super().run_node(n)
        if n.op != "output" and isinstance(value, torch.Tensor) and value.is_floating_point():
            top = value.abs().max().item() if value.numel() else 0.0
            self.largest[n.name] = max(self.largest.get(n.name, 0.0), top)
        return value
        ### END SOLUTION

    def scales(self) -> dict[str, float]:
        """The scale of each floating value, by the node's name, in graph order."""
        ### BEGIN SOLUTION
        names = [node.name for node in self.module.graph.nodes if node.name in self.largest]
        return {name: self.largest[name] / 127 or 1.0 for name in names}
        ### END SOLUTION


# %% check="Calibrator"
check(Calibrator)

# %% hint="Calibrator"
hint("Calibrator")

# %% [markdown]
# ## 14.4 Pairs that cancel
#
# Between two layers a value is often dequantized, only to be quantized again. Section 14.1 showed that this changes nothing if both scales are the same. Then the value can stay in eight bits, which saves time on the chip.
#
# ### A worked example: two negations
#
# The negation of a negation is the value itself. A pass that removes such pairs has the shape that you need:


# %%
def without_negations(gm: fx.GraphModule) -> fx.GraphModule:
    """A new module in which no `torch.neg` reads another one, and none is unread."""
    new = copy.deepcopy(gm)
    for node in list(new.graph.nodes):
        inner = node.all_input_nodes[0] if node.target is torch.neg else node
        if inner is not node and inner.target is torch.neg:
            node.replace_all_uses_with(inner.all_input_nodes[0])
            new.graph.erase_node(node)
    for node in reversed(list(new.graph.nodes)):
        if node.target is torch.neg and not node.users:
            new.graph.erase_node(node)
    new.recompile()
    return new


class Negations(nn.Module):
    def forward(self, x):
        y = torch.neg(torch.neg(torch.neg(x)))
        return torch.neg(y), torch.exp(y)


negations = fx.symbolic_trace(Negations())
fewer = without_negations(negations)
print(fewer.code)

# %% proof=true
assert [node.name for node in fewer.graph.nodes] == ["x", "neg_2", "exp", "output"]
x = torch.randn(3)
assert torch.equal(fewer(x)[0], negations(x)[0]) and torch.equal(fewer(x)[1], negations(x)[1])

# %% [markdown]
# There are two loops. The first goes in graph order, so the input of a node is simplified before the node, and chains of any length shrink. The second goes backwards, because an erased node may have been the last reader of another one.
#
# **Predict the result.** `q` has all 256 numbers of eight bits. What is `quantize(dequantize(q, 0.1), 0.2)`?
#
# <details><summary><code>q</code></summary>
#
# No. Counts are kept only if the step is the same.
# </details>
# <details><summary>About half of <code>q</code>, so different numbers become equal</summary>
#
# Right. With steps twice as large there are half as many. A pass that removes this pair changes the result: only equal scales cancel.
# </details>
# <details><summary>Twice <code>q</code>, clipped at -128 and 127</summary>
#
# No. That is what a second scale of 0.05 would give.
# </details>

# %% proof=true
eight = torch.arange(-128, 128).to(torch.int8)
halved = quantize(dequantize(eight, 0.1), 0.2).int()
assert ((halved - eight / 2).abs() <= 0.5).all() and len(halved.unique()) < 135
doubled = quantize(dequantize(eight, 0.1), 0.05).int()
assert torch.equal(doubled, (eight.int() * 2).clamp(-128, 127))

# %% [markdown]
# ### A way between the two
#
# `reshape`, `flatten`, `transpose` and `permute` compute nothing; they move values. They may move them before `dequantize` or after it:

# %%
eight = torch.randint(-128, 128, (2, 3)).to(torch.int8)
print(dequantize(eight, 0.1).flatten())
print(dequantize(eight.flatten(), 0.1))

# %% proof=true
for move in (
    lambda x: x.flatten(),
    lambda x: x.reshape(3, 2),
    lambda x: x.transpose(0, 1),
    lambda x: x.permute(1, 0),
):
    assert torch.equal(move(dequantize(eight, 0.1)), dequantize(move(eight), 0.1))

# %% [markdown]
# So a pair with moves between its two calls cancels as well. The first move then reads the value of eight bits, and the readers of `quantize` read the last move.
#
# **Predict the result.** `y = dequantize(q, 0.1).flatten()`. A `quantize` of scale 0.1 reads `y`, and `torch.exp` reads `y`, too. May `flatten` read `q`?
#
# <details><summary>Yes: moving and dequantizing may change places.</summary>
#
# No. They may, but <code>torch.exp</code> would get whole numbers, and nothing would dequantize them for it.
# </details>
# <details><summary>No: the other reader needs the dequantized values.</summary>
#
# Right. A second <code>flatten</code> would help, and that is one more node. The exercise leaves such a pair alone.
# </details>
# <details><summary>Yes, if <code>torch.exp</code> comes later in the graph.</summary>
#
# No. It reads the same value wherever it is.
# </details>

# %% proof=true
q = quantize(torch.tensor([[0.5, 1.0]]), 0.1)
right, wrong = torch.exp(dequantize(q, 0.1).flatten()), torch.exp(q.flatten().float())
assert not torch.allclose(right, wrong)

# %% [markdown] card="fold_qdq"
# **Given** a `GraphModule` that calls `quantize` and `dequantize`, each as `f(value, scale)`.
#
# **Return** a graph module that gives the same, bit by bit:
#
# * A `quantize` of a `dequantize` of the same scale is removed. Its readers, the output too, read the value of eight bits.
# * This also holds if calls of the **methods** `reshape`, `flatten`, `transpose` and `permute` are between the two, and no other node reads their values. These calls then move the values of eight bits.
# * No call of `dequantize` that no node reads is left.
# * All else stays: nodes, names, order and `meta`.
#
# **Do not** change `gm`.
#
# **Fine print**
#
# * Scales are the same if they are equal as numbers.
# * The rules hold for chains, for values with several readers, and for a `quantize` that no node reads.
# * Nodes that no node reads stay, too.
# * Names and `meta` of the calls that move are free.
# * Calls with keywords are never tested, nor is a move that two `quantize` calls read.


# %%
def through(x, scale):
    """Through eight bits and back."""
    return dequantize(quantize(x, scale), scale)


class Before(nn.Module):
    def forward(self, x):
        y = through(torch.sin(x), 0.1).reshape(-1)
        return torch.cos(through(y, 0.1))


class After(nn.Module):
    """What fold_qdq makes of it, as if it were in the source."""

    def forward(self, x):
        q = quantize(torch.sin(x), 0.1).reshape(-1)
        return torch.cos(dequantize(q, 0.1))


draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="fold_qdq"
def fold_qdq(gm: fx.GraphModule) -> fx.GraphModule:
    """A module in which values that are dequantized and quantized again stay in eight bits."""
    ### BEGIN SOLUTION
    moves = ("reshape", "flatten", "transpose", "permute")

    def is_call(node: Any, function: Any) -> bool:
        return node.op == "call_function" and node.target is function

    new = copy.deepcopy(gm)
    for node in list(new.graph.nodes):
        if not is_call(node, quantize):
            continue
        value, scale = node.args
        way = []
        while value.op == "call_method" and value.target in moves and len(value.users) == 1:
            way.append(value)
            value = value.args[0]
        if not is_call(value, dequantize) or value.args[1] != scale:
            continue
        if way:  # the move next to dequantize reads what dequantize reads
            way[-1].replace_input_with(value, value.args[0])
        node.replace_all_uses_with(way[0] if way else value.args[0])
        new.graph.erase_node(node)
    for node in reversed(list(new.graph.nodes)):
        if is_call(node, dequantize) and not node.users:
            new.graph.erase_node(node)
    new.recompile()
    return new
    ### END SOLUTION


# %% check="fold_qdq"
check(fold_qdq)

# %% hint="fold_qdq"
hint("fold_qdq")

# %% [markdown]
# ## 14.5 Where eight bits hurt
#
# The result is off by some percent. Which node causes this? Run both graphs on the same images, and compare the values by the names of the nodes, because `insert_qdq` keeps names.
#
# A difference alone says little: 0.1 is nothing for a value of 1000, and much for one of 0.2. So divide by the size of the float value. The size of a whole tensor is its 2-norm:

# %%
a, b = torch.tensor([3.0, 4.0]), torch.tensor([3.0, 4.5])
print(a.norm(), (b - a).norm() / a.norm())

# %% proof=true
assert a.norm() == 5 and math.isclose(((b - a).norm() / a.norm()).item(), 0.1, rel_tol=1e-6)

# %% [markdown]
# The mean of the ratios, number by number, would be worse: one number that is almost zero decides it. A value that is zero everywhere has no relative error, because you would divide by zero. And keep copies, because a later node may write into a value.
#
# **Predict the result.** In a chain of layers, one value has a scale that is 20 times too large. In which values is the error of this scale?
#
# <details><summary>In that value, and in no other.</summary>
#
# No. The pair comes after the node, so the node's own value has no new error. The next node reads the rounded value.
# </details>
# <details><summary>In the values after it.</summary>
#
# Right. So the worst node is usually after the scale that causes it. Not always: if the values there are large, their relative error is small.
# </details>
# <details><summary>In the values before it.</summary>
#
# No. Errors go with the values.
# </details>


# %% proof=true
def values_of(model):
    class Noted(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            if n.target in (torch.sin, torch.cos, operator.add):
                table[n.name] = value.clone()
            return value

    table: dict[str, torch.Tensor] = {}
    Noted(fx.symbolic_trace(model)).run(torch.linspace(0.1, 1, 8))
    return table


def errors_of(model, rough):
    floats, rounded = values_of(model), values_of(rough)
    return {name: ((rounded[name] - v).norm() / v.norm()).item() for name, v in floats.items()}


errors = errors_of(
    lambda x: torch.sin(torch.sin(torch.sin(x))),
    lambda x: torch.sin(torch.sin(through(torch.sin(x), 0.5))),
)
assert errors["sin"] == 0 and errors["sin_1"] > 0.1 and errors["sin_2"] > 0.1
errors = errors_of(  # the scale of cos is 20 times too large, and sin is the worst
    lambda x: torch.cos(torch.sin(x)) + 1000,
    lambda x: through(torch.cos(torch.sin(through(x, 1 / 127))), 20 / 127) + 1000,
)
assert max(errors, key=errors.__getitem__) == "sin"

# %% [markdown] card="worst_node"
# **Given** a graph module, another one with pairs in it, and inputs.
#
# **Run** both on equal copies of the inputs. **Return** the name of the node with the largest relative error: the 2-norm of the difference over the 2-norm of the float value.
#
# * A node counts if it is a call in both graphs, under the same name, with a floating tensor as its value in both.
# * A value counts as it was when it was computed.
#
# **Do not** change the two modules.
#
# **Fine print**
#
# * If several errors are equal, return the first node.
# * A value that is zero everywhere in the float graph does not count.
# * At least one node counts; NaN is never tested.


# %%
def rough_sines(x):
    return torch.sin(torch.sin(dequantize(quantize(torch.sin(x), 0.5), 0.5)))


sines = fx.symbolic_trace(lambda x: torch.sin(torch.sin(torch.sin(x))))
draw.diff(sines, fx.symbolic_trace(rough_sines))
# For these two and torch.linspace(0.1, 1, 8), worst_node returns "sin_1".


# %% solve="worst_node"
def worst_node(float_gm: fx.GraphModule, quant_gm: fx.GraphModule, *inputs: Any) -> str:
    """The name of the call with the largest relative error.

    Args:
        float_gm: the graph without pairs.
        quant_gm: the graph with pairs.
        inputs: arguments for both; each runs on copies.
    """

    ### BEGIN SOLUTION
    def values(gm: fx.GraphModule) -> dict[str, torch.Tensor]:
        found = {}

        class Noting(fx.Interpreter):
            def run_node(self, n: fx.Node) -> Any:
                value = super().run_node(n)
                floating = isinstance(value, torch.Tensor) and value.is_floating_point()
                if n.op.startswith("call_") and floating:
                    found[n.name] = value.detach().clone()  # before a later node writes into it
                return value

        Noting(gm).run(*copy.deepcopy(inputs))
        return found

    ours, theirs = values(float_gm), values(quant_gm)
    errors = {
        name: ((theirs[name] - value).norm() / value.norm()).item()
        for name, value in ours.items()
        if name in theirs and value.any()
    }
    return max(errors, key=errors.__getitem__)  # max takes the first of equal ones
    ### END SOLUTION


# %% check="worst_node"
check(worst_node)

# %% hint="worst_node"
hint("worst_node")

# %% [markdown]
# ## 14.6 The end of the story
#
# GoogLeNet, with random weights. Four images calibrate it, and then the value of each node goes through eight bits.
# The weights of the layers are not nodes here, so they stay as they are:

# %%
network = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False))
pictures = images(4)
float_gm = fx.symbolic_trace(network)
weights = float_gm.graph.find_nodes(op="get_attr")
print(len(float_gm.graph.nodes), "nodes,", len(weights), "of them weights")

# %% proof=true
assert len(float_gm.graph.nodes) == 199 and not weights

# %% uses="Calibrator"
calibrator = Calibrator(float_gm)
with torch.no_grad():
    calibrator.run(pictures)
scales = calibrator.scales()
print(f"{len(scales)} scales, from {min(scales.values()):.3f} to {max(scales.values()):.3f}")

# %% proof=true
assert len(scales) == 198  # all nodes except the output

# %% uses="insert_qdq"
quant_gm = insert_qdq(float_gm, scales)
errors = {}
for bits in (8, 7, 6, 5, 4):  # each bit fewer makes the steps twice as large
    coarse = {name: scale * 2 ** (8 - bits) for name, scale in scales.items()}
    errors[bits] = difference(insert_qdq(float_gm, coarse), float_gm, pictures)
    print(f"{bits} bits: the error is {errors[bits]:.2f} of what other pictures change")

# %% proof=true
assert len(quant_gm.graph.nodes) == 199 + 2 * 198
assert 0.01 < errors[8] < 1 < errors[4]

# %% [markdown]
# With eight bits you still see which picture it was, and with four bits you do not.
# Random weights amplify each error, so the figures say nothing about a trained network. What you have is the tool to measure it, on any model that can be traced.
#
# Does any pair cancel?

# %% uses="fold_qdq"
folded = fold_qdq(quant_gm)
print(len(quant_gm.graph.nodes), "nodes, then", len(folded.graph.nodes))
print("difference:", assert_same_results(folded, quant_gm, pictures))

# %% proof=true
assert len(folded.graph.nodes) == len(quant_gm.graph.nodes)

# %% [markdown]
# Nothing cancels, because a node of the network is between any two pairs. (The deep dive `14b_sharing` makes scales equal around `torch.cat` and pools, so that more pairs cancel.) Pairs meet if two modules go through eight bits one by one, and are then called one after the other:

# %% uses="fold_qdq"
head = fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
tail = fx.symbolic_trace(nn.Sequential(nn.Linear(4, 2)))
head_q = insert_qdq(head, {node.name: 0.05 for node in head.graph.nodes if node.op != "output"})
tail_q = insert_qdq(tail, {"input_1": 0.05})


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.tail = head_q, tail_q

    def forward(self, x):
        return self.tail(self.head(x).reshape(-1, 4))


both = fx.symbolic_trace(Both())
fewer = fold_qdq(both)
print(len(both.graph.nodes), "nodes, then", len(fewer.graph.nodes))

# %% proof=true
x = torch.randn(2, 2, 4)
assert torch.equal(fewer(x), both(x)) and len(fewer.graph.nodes) == len(both.graph.nodes) - 2

# %% [markdown]
# And which value suffers most?

# %% uses="worst_node"
with torch.no_grad():
    worst = worst_node(float_gm, quant_gm, pictures)
print(worst)

# %% proof=true
assert [node.name for node in float_gm.graph.nodes].index(worst) > 0.75 * len(float_gm.graph.nodes)

# %% [markdown]
# It is one of the last nodes: on the way, errors add up.
#
# ## Common mistakes
#
# ### `dequantize` of `quantize` is taken for the identity

# %%
x = torch.tensor([0.123, 50.0])
print(dequantize(quantize(x, 0.1), 0.1))

# %% proof=true
assert dequantize(quantize(x, 0.1), 0.1).tolist() != x.tolist()

# %% [markdown]
# **Right:** that order rounds and clips. It is what the pass is for. The other order, with equal scales, changes nothing.
#
# ### The loop through two nodes

# %%
gm = fx.symbolic_trace(Small())
relu = next(node for node in gm.graph.nodes if node.name == "relu")
with gm.graph.inserting_after(relu):
    q = gm.graph.call_function(quantize, (relu, 0.1))
with gm.graph.inserting_after(q):
    dq = gm.graph.call_function(dequantize, (q, 0.1))
relu.replace_all_uses_with(dq)
print(q.format_node(), dq.format_node(), sep="\n")
with fails(RuntimeError):
    gm.graph.lint()

# %% proof=true
assert q.args[0] is dq and dq.args[0] is q

# %% [markdown]
# **Right:** give `quantize` its argument afterwards, or exclude it from the exchange with `delete_user_cb`:

# %%
gm = fx.symbolic_trace(Small())
relu = next(node for node in gm.graph.nodes if node.name == "relu")
with gm.graph.inserting_after(relu):
    q = gm.graph.call_function(quantize, (relu, 0.1))
with gm.graph.inserting_after(q):
    dq = gm.graph.call_function(dequantize, (q, 0.1))
relu.replace_all_uses_with(dq, delete_user_cb=lambda user: user is not q)
print(q.format_node(), dq.format_node(), sep="\n")

# %% proof=true
gm.graph.lint()
assert q.args[0] is relu

# %% [markdown]
# ### A scale of zero
#
# A value that is zero everywhere has the largest magnitude 0. A scale of 0 divides zero by zero, and what becomes of NaN as a whole number is not defined:

# %%
zeros = torch.zeros(3)
scale = zeros.abs().max().item() / 127
print(zeros / scale)

# %% proof=true
assert scale == 0.0 and math.isnan((zeros / scale)[0].item())

# %% [markdown]
# **Right:** any other scale. Zero is zero at every scale, so `1.0` will do.
#
# ### The largest value instead of the largest magnitude

# %%
x = torch.tensor([-8.0, 1.0])
by_value, by_magnitude = x.max().item() / 127, x.abs().max().item() / 127
print(
    dequantize(quantize(x, by_value), by_value), dequantize(quantize(x, by_magnitude), by_magnitude)
)

# %% proof=true
assert dequantize(quantize(x, by_value), by_value)[0] > -1.1  # clipped
assert abs(dequantize(quantize(x, by_magnitude), by_magnitude)[0] + 8) < 0.05

# %% [markdown]
# **Right:** `x.abs().max()`.
#
# ### A new graph in which a name is taken
#
# Suppose you copy a graph node by node, and create new nodes at the same time. A new node may take a name that an old node needs later. The old node silently gets another name:

# %%
graph = fx.Graph()
value = graph.placeholder("x")
graph.output(graph.create_node("call_function", torch.relu, (value,), name="quantize"))
copied_graph, env = fx.Graph(), {}
for node in graph.nodes:
    env[node] = copied_graph.node_copy(node, env.__getitem__)
    if node.op == "placeholder":
        env[node] = copied_graph.call_function(quantize, (env[node], 0.1))
names = [node.name for node in copied_graph.nodes]
print(names)

# %% proof=true
assert names[:3] == ["x", "quantize", "quantize_1"]  # and relu was called quantize

# %% [markdown]
# **Right:** copy the whole graph first, and insert afterwards. Then the new nodes get the other names.

# %% [markdown]
# ## Recap
#
# 1. A scale is a step. Rounding loses up to half a step, clipping loses everything beyond 127 steps.
# 2. `quantize` of `dequantize` with the same scale does nothing; the other order rounds.
# 3. A function that asks `has_torch_function_unary` is one node in every symbolic trace. `make_fx` and export go into it.
# 4. A pass that gets a `gm` and names does not trace it again: a deep copy keeps names and `meta`.
# 5. Calibration is an Interpreter that looks at each value when it is computed, and keeps magnitudes by name.
# 6. Pairs cancel in one order and with equal scales; moves may be between them, if no other node reads these.
# 7. Errors are compared by names, relative to the float value. The worst node is usually after the cause.
# 8. A new node that reads the node before it must be excluded when readers are exchanged.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `quantize(x, scale)` | whole numbers of eight bits, in steps of `scale` |
# | `dequantize(q, scale)` | the floating-point numbers again |
# | `has_torch_function_unary(x)` | whether `x` wants to handle the call itself, as a Proxy does |
# | `handle_torch_function(f, (x,), x, …)` | lets it |
# | `value.is_floating_point()`, `value.numel()` | whether it is a floating tensor; how many numbers it has |
# | `value.abs().max().item()` | the largest magnitude, as a Python number |
# | `copy.deepcopy(gm)` | a new module: same names, same `meta`, tensors of its own |
# | `fx.GraphModule(gm, copy.deepcopy(gm.graph))` | the same, with shared tensors |
# | `node.replace_all_uses_with(new, delete_user_cb=…)` | exchanges the value in the readers that the callback accepts |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | folding BatchNorms first: a real quantizer has no pair between a convolution and its BatchNorm | chapter 10 |
# | one scale for values that are only moved, and the pairs that cancel then | the deep dive `14b_sharing` |
# | kernels that really compute with eight bits | [torchao](https://github.com/pytorch/ao), the library that replaces `torch.ao.quantization` |
# | pairs in a program of `torch.export` | pt2e, a part of torchao; the deep dive `14b_sharing` lists its steps |
# | weights of eight bits, scales for each channel, zero points, training with rounding | torchao, too |
#
# In PyTorch's documentation: [Extending PyTorch](https://docs.pytorch.org/docs/stable/notes/extending.html), about `__torch_function__`.
