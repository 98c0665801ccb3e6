# %% [markdown]
# # 6b · Timing and counting operations
#
# *What a model costs*
#
# **After this part you can say where a model spends its time, and how many operations it has to do.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces and the six kinds of node; chapter 6 up to section 6.3: handlers, `run_node` |
# | **Time** | about 75 minutes with *Common mistakes*, 35 of them for the exercises; the minutes of a section include its exercise |
# | **Deep dive** | You can go on to chapter 7 without it |
#
# **When you are done, you can**
#
# 1. measure the time of each node, and show it in a chart that a person can read;
# 2. say what such a measurement leaves out;
# 3. count floating-point operations from shapes, and compare your count with PyTorch's;
# 4. find operands that come by position or by keyword;
# 5. say which question each of the two measures answers.

# %% [markdown]
# ## A story
#
# The other team of chapter 6 has two clients. The one with the NaN is happy again. The other one complains that the model is slow.
#
# "Slow" can mean two things. Some part of the model may take longer than it should. Or the client may ask for more work than others.
# For the first you need the time of each operation, for the second the number of operations.
# You cannot put a clock into source code that is not yours, but you can run its graph. Section 6b.3 gives both answers.

# %%
import operator
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.utils.flop_counter import FlopCounterMode
from torchvision.models import googlenet, resnet18

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import images, make_alive

torch.manual_seed(6)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the result.** `f(x, scale=2.0)` is traced as `gm`. What does `fx.Interpreter(gm).run(x, scale=3.0)` do?
#
# <details><summary>It uses 3</summary>
#
# No. <code>gm(x, scale=3.0)</code> would, but <code>run</code> gives its arguments to the placeholders by position.
#
# </details>
# <details><summary>It uses 2, the default</summary>
#
# No. The default is used if no argument is left. Here <code>run</code> never begins.
#
# </details>
# <details><summary>It raises a <code>TypeError</code></summary>
#
# Right. <code>run</code> takes positional arguments only (section 6.3). <code>run(x, 3.0)</code> works.
#
# </details>


# %% proof=true
def scaled(x, scale=2.0):
    return x * scale


gm, one = fx.symbolic_trace(scaled), torch.ones(1)
assert fx.Interpreter(gm).run(one, 3.0) == gm(one, scale=3.0) == 3.0
with fails(TypeError):
    fx.Interpreter(gm).run(one, scale=3.0)

# %% [markdown]
# **Predict the type.** A graph has a node for `x.outer(y)`. What is the node's `target`?
#
# <details><summary>The function <code>torch.outer</code></summary>
#
# No. That would be a <code>call_function</code> node, from the call <code>torch.outer(x, y)</code>.
#
# </details>
# <details><summary>The method <code>torch.Tensor.outer</code></summary>
#
# No. When the graph is made, the class of <code>x</code> is not known.
#
# </details>
# <details><summary>The string <code>"outer"</code></summary>
#
# Right. A <code>call_method</code> node holds the method's name (section 2.1). So a count of products must look at functions and at names.
#
# </details>

# %% proof=true
_, _, outer, _ = fx.symbolic_trace(lambda x, y: x.outer(y)).graph.nodes
assert (outer.op, outer.target) == ("call_method", "outer")

# %% [markdown]
# ## 6b.1 Time
#
# Where does a model spend its time?
# Read a clock before and after each node. `time.perf_counter()` is the clock for that.
# This Interpreter adds up the time of all nodes *of one kind*: modules by their class, the rest by their target.


# %%
class KindTimer(fx.Interpreter):
    """Adds up seconds by kind of operation, over all runs."""

    def __init__(self, module):
        super().__init__(module)
        self.seconds = Counter()

    def run_node(self, n):
        start = time.perf_counter()
        value = super().run_node(n)
        self.seconds[self.kind_of(n)] += time.perf_counter() - start
        return value

    def kind_of(self, n):
        if n.op == "call_module":
            return type(self.fetch_attr(n.target)).__name__
        return getattr(n.target, "__name__", n.target)


# %% [markdown]
# Two rules for measuring. **Warm up:** the first run allocates memory and makes choices that later runs reuse.
# **Repeat:** one run says little, because the machine also does other things.

# %%
resnet = fx.symbolic_trace(resnet18(num_classes=10).eval())
image = torch.randn(1, 3, 64, 64)
timer = KindTimer(resnet)
with torch.no_grad():
    timer.run(image)  # the warm-up
    timer.seconds.clear()
    for _ in range(5):
        timer.run(image)

# %% [markdown]
# A sorted bar chart is easier to read than a list of numbers. The share is next to each bar.

# %%
total = sum(timer.seconds.values())
kinds = [(kind, seconds) for kind, seconds in timer.seconds.most_common() if seconds > total / 500]
labels, values = zip(*reversed(kinds), strict=True)

figure, axes = plt.subplots(figsize=(7, 0.45 * len(kinds) + 1))
bars = axes.barh(labels, [1000 * seconds / 5 for seconds in values], color="#3b6ea5")
axes.bar_label(bars, [f"{seconds / total:.1%}" for seconds in values], padding=4)
axes.set_xlabel("milliseconds per run (mean of 5)")
axes.set_title("ResNet-18, one image of 64 × 64: time by kind of operation")
axes.spines[["top", "right"]].set_visible(False)
axes.margins(x=0.12)
figure.tight_layout()
plt.show()

for kind, seconds in kinds:  # the same as text
    print(f"{kind:18} {1000 * seconds / 5:7.2f} ms  {seconds / total:5.1%}")

# %% [markdown]
# Which kind takes most of the time on your machine? (On ours it is the convolutions.)
# Your numbers differ from run to run. That is why no exercise of this course grades speed.
#
# What such times do *not* say:
#
# * An Interpreter needs some time of its own for each node. For tiny operations that can be most of what you see.
#   The next cell measures it.
# * On a GPU a call returns before the work is done. Call `torch.cuda.synchronize()` before you read the clock.
# * `torch.compile` merges operations. Its time cannot be split by the nodes of this graph.

# %%
nothing = fx.symbolic_trace(nn.Sequential(*[nn.Identity() for _ in range(1000)]))
interpreter, zero = fx.Interpreter(nothing), torch.zeros(1)
interpreter.run(zero)
start = time.perf_counter()
interpreter.run(zero)
print(f"{1e6 * (time.perf_counter() - start) / 1000:.1f} microseconds for a node that does nothing")

# %% [markdown]
# **Predict the keys.** A model calls `torch.relu` in two places. How many entries does `KindTimer` have for them, and how many nodes are there?
#
# <details><summary>Two entries, two nodes.</summary>
#
# No. The entry is named after the target, and both nodes have the same one.
# </details>
# <details><summary>One entry, two nodes.</summary>
#
# Right. Times of one target are added up. To keep nodes apart, use <code>n.name</code>: names are unique in a graph.
# </details>


# %% proof=true
def twice(x):
    return torch.relu(torch.relu(x) - 1)


twice_timer = KindTimer(fx.symbolic_trace(twice))
twice_timer.run(torch.randn(3))
assert list(twice_timer.seconds) == ["x", "relu", "sub", "output"]


# %%
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return self.second(self.first(x).sigmoid()) + torch.sigmoid(x)


head_timer = KindTimer(fx.symbolic_trace(Head()))
result = head_timer.run(torch.randn(2, 4))

# %% [markdown]
# **Drill 06b.1a.** Which keys does `head_timer.seconds` have? Write the set of them.

# %% drill=true
keys = {"x", "Linear", "sigmoid", "add", "output"}
drill("06b.1a", keys)
# Mistake: These are names of nodes. `kind_of` takes the class of a module, and the target of a call.
# keys = {"x", "first", "sigmoid", "second", "sigmoid_1", "add", "output"}

# %% proof=true
assert keys == set(head_timer.seconds)

# %% [markdown] card="OpTimer"
# **Given** a graph module, passed to the constructor.
#
# **Write** the class `OpTimer`. It runs the graph as an Interpreter does, with the same result, and has
#
# * `seconds: dict[str, float]`: the time spent in each node, by the node's **name**, in seconds;
# * `calls: dict[str, int]`: how often each node has run;
# * `slowest(n) -> list[str]`: the names of the `n` nodes with the most time spent, longest first.
#
# Both dictionaries hold every `call_*` node that has run, and sum over all runs of this timer.
# Two timers share nothing. An operation that raises is not counted: neither its call nor its time.
#
# **Fine print**
#
# * The time counts whether the processor works or waits.
# * `slowest(n)` gives fewer names if there are fewer nodes.
# * Whether the other kinds of node are there is up to you.
# * The error of an operation passes through as it is.
# * The check does not look at how fast anything is.


# %%
class Example(nn.Module):
    def forward(self, x):
        return torch.relu(torch.relu(x) - 1).sum()


# After two runs of this graph, `calls` is
expected = {"relu": 2, "sub": 2, "relu_1": 2, "sum_1": 2}
draw(fx.symbolic_trace(Example()))


# %% solve="OpTimer"
class OpTimer(fx.Interpreter):
    """Runs a graph and adds up the time spent in each node.

    Attributes:
        seconds: time spent by name of node, summed over runs.
        calls: how often each node has run.
    """

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}

    def run_node(self, n: fx.Node) -> Any:
        """Run one node; note its time if it is a call."""
        ### BEGIN SOLUTION
        if not n.op.startswith("call_"):
            return super().run_node(n)
        start = time.perf_counter()
        value = super().run_node(n)  # if this raises, nothing below is reached
        spent = time.perf_counter() - start
        self.seconds[n.name] = self.seconds.get(n.name, 0.0) + spent
        self.calls[n.name] = self.calls.get(n.name, 0) + 1
        return value
        ### END SOLUTION

    def slowest(self, n: int) -> list[str]:
        """The names of the `n` nodes with the most time spent, longest first."""
        ### BEGIN SOLUTION
        return sorted(self.seconds, key=self.seconds.__getitem__, reverse=True)[:n]
        ### END SOLUTION


# %% check="OpTimer"
check(OpTimer)

# %% hint="OpTimer"
hint("OpTimer")

# %% [markdown]
# ## 6b.2 Floating-point operations
#
# Time depends on the machine. The number of **floating-point operations** (FLOPs) does not.
# It is counted from shapes, with one convention: a multiplication and the addition that follows are *two* operations.
#
# Take a matrix of shape `(n, k)` times one of shape `(k, m)`.
# The result has `n · m` numbers. Each of them is a sum of `k` products: `k` multiplications and `k` additions.
# So the product costs `2 · n · m · k`.
#
# PyTorch counts in the same way. Its counter watches the operators that really run:

# %%
with FlopCounterMode(display=False) as of_product:
    torch.randn(3, 4) @ torch.randn(4, 5)
with FlopCounterMode(display=False) as of_layer, torch.no_grad():
    nn.Linear(4, 5)(torch.randn(3, 4))  # the same product; the bias is not counted
of_product.get_total_flops(), of_layer.get_total_flops()

# %% proof=true
assert of_product.get_total_flops() == of_layer.get_total_flops() == 2 * 3 * 5 * 4

# %% [markdown]
# **Drill 06b.2a.** A batch of matrices of shape `(6, 3, 4)` is multiplied by a matrix of shape `(4, 5)`. How many operations is that? Write an `int`.

# %% drill=true
of_batch = 2 * (6 * 3 * 5) * 4
drill("06b.2a", of_batch)
# Mistake: That is one matrix of the batch. Count the numbers of the whole result.
# of_batch = 2 * (3 * 5) * 4

# %% proof=true
with FlopCounterMode(display=False) as counter:
    torch.randn(6, 3, 4) @ torch.randn(4, 5)
assert counter.get_total_flops() == of_batch

# %% [markdown]
# It leaves out what is cheap: biases, activations, norms, sums. How much is that? This Interpreter counts
# one operation per output element, and four for a BatchNorm:


# %%
class LeftOut(fx.Interpreter):
    """Counts, roughly, what PyTorch's counter leaves out."""

    total = 0

    def run_node(self, n):
        value = super().run_node(n)
        module = self.fetch_attr(n.target) if n.op == "call_module" else None
        if n.op.startswith("call") and not isinstance(module, (nn.Conv2d, nn.Linear)):
            self.total += value.numel() * (4 if isinstance(module, nn.BatchNorm2d) else 1)
        return value


rest = LeftOut(resnet)
with FlopCounterMode(display=False) as counter, torch.no_grad():
    rest.run(torch.randn(1, 3, 224, 224))
print(f"left out in ResNet-18: {rest.total / counter.get_total_flops():.2%}")

# %% proof=true
assert rest.total < counter.get_total_flops() / 100

# %% [markdown]
# In ResNet-18, that is less than one percent.
#
# To count in an Interpreter, you need the shapes of operands and results. A handler has both.
# An operand may come by position or by keyword, so take the helper `operand` of section 6.6:


# %%
def operand(args: tuple, kwargs: dict, position: int, name: str) -> Any:
    """The argument at this position, or with this name."""
    return args[position] if position < len(args) else kwargs[name]


class OuterProducts(fx.Interpreter):
    """Counts the multiplications in `torch.outer(a, b)` and `a.outer(b)`: one for each pair."""

    total = 0

    def call_function(self, target, args, kwargs):
        if target is torch.outer:
            self.count(operand(args, kwargs, 0, "input"), operand(args, kwargs, 1, "vec2"))
        return super().call_function(target, args, kwargs)

    def call_method(self, target, args, kwargs):
        if target == "outer":
            self.count(args[0], operand(args, kwargs, 1, "vec2"))
        return super().call_method(target, args, kwargs)

    def count(self, a, b):
        self.total += a.numel() * b.numel()


def outers(a, b):
    return torch.outer(a, b) + torch.outer(vec2=b, input=a) + a.outer(b)


counter = OuterProducts(fx.symbolic_trace(outers))
counter.run(torch.randn(2), torch.randn(5))
counter.total

# %% proof=true
assert counter.total == 3 * 2 * 5

# %% [markdown]
# Modules reach `call_module`. There `self.fetch_attr(target)` returns the module, and with it the weight.
#
# A convolution is a sum of products as well. How many products go into *one* number of its result?
# One for each weight of one output channel: the input channels of its group times the size of the kernel.


# %%
def flops(module: nn.Module, *inputs: torch.Tensor) -> int:
    """What PyTorch's counter says about one call."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*inputs)
    return counter.get_total_flops()


# %% [markdown]
# **Predict the count.** `nn.Conv2d(4, 6, 3)` costs a certain number of operations on some image. What does `nn.Conv2d(4, 6, 3, groups=2)` cost?
#
# <details><summary>The same: the result has the same shape.</summary>
#
# No. The result has as many numbers, but fewer products go into each.
# </details>
# <details><summary>Half of it.</summary>
#
# Right. With two groups, each output channel sees only two of the four input channels. Look at the weight: its shape is (6, 2, 3, 3) instead of (6, 4, 3, 3).
# </details>
# <details><summary>Twice as much: it is done for each group.</summary>
#
# No. Each group makes only half of the output channels.
# </details>


# %% proof=true
full, grouped = nn.Conv2d(4, 6, 3), nn.Conv2d(4, 6, 3, groups=2)
square = torch.randn(1, 4, 8, 8)
assert flops(full, square) == 2 * (6 * 6 * 6) * (4 * 3 * 3)
assert 2 * flops(grouped, square) == flops(full, square)
assert grouped.weight.shape == (6, 2, 3, 3)

# %% [markdown]
# **Drill 06b.2b.** `nn.Conv1d(4, 8, 5)` gets an input of shape `(1, 4, 20)`. How many operations is that? Compute an `int` by hand.

# %% drill=true
of_convolution = 2 * (8 * 16) * (4 * 5)
drill("06b.2b", of_convolution)
# Mistake: Without padding, the kernel has fewer places than the input has numbers.
# of_convolution = 2 * (8 * 20) * (4 * 5)

# %% proof=true
assert flops(nn.Conv1d(4, 8, 5), torch.randn(1, 4, 20)) == of_convolution

# %% [markdown] card="count_flops"
# **Given** a model and the inputs for one call of it.
#
# **Return** the number of floating-point operations of that call, an `int`. A multiply-add is two. Count
#
# * convolutions of one and two dimensions, with any groups, stride, padding and dilation: `nn.Conv1d`, `nn.Conv2d`, `F.conv1d`, `F.conv2d`; no bias;
# * linear layers: `nn.Linear`, its subclasses, `F.linear`; no bias;
# * products of matrices, or of batches of matrices that may be broadcast: `a @ b`, `torch.matmul`, `torch.mm`, `torch.bmm`, and the methods of these names.
#
# Arguments may be given by keyword. A layer that is called twice counts twice. Everything else counts zero.
#
# **Fine print**
#
# * On models made of these operations you agree with `torch.utils.flop_counter`.
# * Transposed convolutions, `einsum` and attention count zero, too, although PyTorch's counter may count them.
# * Vectors as operands of a product are never tested.


# %%
class Example(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 6, 3)
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        y = torch.relu(self.conv(x))
        return self.head(y.transpose(1, 2) @ y)


x = torch.randn(1, 2, 8)
conv = 2 * (6 * 6) * (2 * 3)  # the result has shape (1, 6, 6)
product = 2 * (6 * 6) * 6  # (1, 6, 6) @ (1, 6, 6)
head = 2 * (6 * 4) * 6  # the result has shape (1, 6, 4)
print("count_flops(Example(), x) must be", conv + product + head)
draw(fx.symbolic_trace(Example()))

# %% proof=true
with FlopCounterMode(display=False) as counter, torch.no_grad():
    Example()(x)
assert counter.get_total_flops() == conv + product + head


# %% solve="count_flops"
def count_flops(model: nn.Module, *inputs: Any) -> int:
    """The floating-point operations of one call of `model`; a multiply-add is two.

    Args:
        model: the module to trace; it is not changed.
        inputs: the arguments of its `forward`, by position.
    """
    ### BEGIN SOLUTION
    weighted = {F.linear, F.conv1d, F.conv2d}
    products = {torch.matmul, torch.mm, torch.bmm, operator.matmul}
    layers = (nn.Linear, nn.Conv1d, nn.Conv2d)

    def find(args: tuple, kwargs: dict, position: int, name: str) -> Any:
        return args[position] if position < len(args) else kwargs[name]

    class FlopCounter(fx.Interpreter):
        total = 0

        def weigh(self, result: torch.Tensor, weight: torch.Tensor) -> None:
            # One multiply-add for each number of the result and each weight of one output
            # channel. With groups the weight already holds only the channels of one group.
            self.total += 2 * result.numel() * weight[0].numel()

        def multiply(self, result: torch.Tensor, left: torch.Tensor) -> None:
            # The result has its full, broadcast shape; each number of it is a sum over the
            # inner dimension, the last of the left operand.
            self.total += 2 * result.numel() * left.shape[-1]

        def call_function(self, target: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
            result = super().call_function(target, args, kwargs)
            if target in weighted:
                self.weigh(result, find(args, kwargs, 1, "weight"))
            elif target in products:
                self.multiply(result, find(args, kwargs, 0, "input"))
            return result

        def call_method(self, target: str, args: tuple, kwargs: dict) -> Any:
            result = super().call_method(target, args, kwargs)
            if target in ("matmul", "mm", "bmm", "__matmul__"):
                self.multiply(result, args[0])
            return result

        def call_module(self, target: str, args: tuple, kwargs: dict) -> Any:
            result = super().call_module(target, args, kwargs)
            module = self.fetch_attr(target)
            if isinstance(module, layers):
                self.weigh(result, module.weight)
            return result

    counter = FlopCounter(fx.symbolic_trace(model))
    counter.run(*inputs)
    return counter.total
    ### END SOLUTION


# %% check="count_flops"
check(count_flops)

# %% hint="count_flops"
hint("count_flops")

# %% [markdown]
# PyTorch's counter can show where the operations are, too. This is ResNet-18 on one image of the usual size.
# (Papers say 1.8 billion: they count a multiply-add as one.)

# %%
with FlopCounterMode(depth=1, display=False) as counter, torch.no_grad():
    resnet18().eval()(torch.randn(1, 3, 224, 224))
print(counter.get_table(depth=1))

# %% proof=true
assert 3.6e9 < counter.get_total_flops() < 3.7e9

# %% [markdown]
# ## 6b.3 The slow model
#
# Here is the other team's service: GoogLeNet, and a `forward` that turns its scores into probabilities. (The weights are random.)


# %%
class Service(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10)

    def forward(self, pictures):
        return torch.softmax(self.net(pictures), dim=-1)


service = make_alive(Service())

# %% [markdown]
# The client who complains sends images of twice the width and height. Your `OpTimer` compares the times.
# (Run the next two cells again when your checks have passed.)

# %% uses="OpTimer"
traced = fx.symbolic_trace(service)
for size in (64, 128):
    timer, image = OpTimer(traced), images(1, size=size)
    with torch.no_grad():
        fx.Interpreter(traced).run(image)  # the warm-up
        for _ in range(4):
            timer.run(image)
    print(f"{size} pixels wide: {1000 * sum(timer.seconds.values()) / 4:.0f} ms per run")
    for name in timer.slowest(3):
        print(f"    {name:30} {1000 * timer.seconds[name] / 4:6.2f} ms")

# %% proof=true
assert set(timer.calls.values()) == {4}

# %% [markdown]
# Your `count_flops` compares the work:

# %% uses="count_flops"
small, large = (count_flops(service, torch.rand(1, 3, size, size)) for size in (64, 128))
print(f"{small:,} operations, and {large:,} for the large image")

# %% proof=true
assert 3.9 < large / small < 4.1
with FlopCounterMode(display=False) as counter, torch.no_grad():
    service(images(1))
assert abs(small / counter.get_total_flops() - 1) < 0.02  # PyTorch's counter leaves out the norms

# %% [markdown]
# So this client asks for four times as much work as the others.
# If the time grows no faster than that on your machine, the additional work explains it.
# The model can still be made faster: chapter 10 fuses some of its operations, and measures the gain.

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (5 minutes)
#
# ### The clock is read around the wrong thing
#
# If the count is in a `finally`, a call that raises is counted, too:


# %%
class CountsErrors(fx.Interpreter):
    def __init__(self, module):
        super().__init__(module)
        self.calls = Counter()

    def run_node(self, n):
        try:
            return super().run_node(n)
        finally:
            self.calls[n.name] += 1


timer = CountsErrors(fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4))))
try:
    timer.run(torch.randn(2, 5))  # a row too long
except RuntimeError:
    print(dict(timer.calls))

# %% proof=true
assert timer.calls["_0"] == 1

# %% [markdown]
# **Right:** count after the call. If the call raises, that line is not reached.
#
# ### An operand is looked for by position only
#
# This handler works on every call that passes the weight by position. `F.linear(x, weight=w)` has one positional argument:


# %%
class PositionOnly(fx.Interpreter):
    total = 0

    def call_function(self, target, args, kwargs):
        result = super().call_function(target, args, kwargs)
        if target is F.linear:
            self.total += 2 * result.numel() * args[1][0].numel()
        return result


def by_position(x, w):
    return F.linear(x, w)


def by_keyword(x, w):
    return F.linear(x, weight=w)


x, w = torch.randn(3, 4), torch.randn(5, 4)
counter = PositionOnly(fx.symbolic_trace(by_position))
counter.run(x, w)
print(counter.total)
with fails(IndexError):
    PositionOnly(fx.symbolic_trace(by_keyword)).run(x, w)

# %% proof=true
assert counter.total == 2 * 3 * 5 * 4

# %% [markdown]
# **Right:** look at `args` and at `kwargs`, as `operand` in section 6b.2 does.
#
# ### The modules are counted, not their calls
#
# A loop over `model.modules()` visits each layer once. A layer that is called twice does its work twice:


# %%
class Shares(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(self.lin(x))


shares, x = Shares(), torch.randn(3, 4)
of_modules = sum(2 * 3 * m.weight.numel() for m in shares.modules() if isinstance(m, nn.Linear))
print(of_modules, "operations by modules,", flops(shares, x), "by calls")

# %% proof=true
assert 2 * of_modules == flops(shares, x)

# %% [markdown]
# **Right:** count in a handler. It runs once for each call.
#
# ### Parameters are taken for work
#
# A convolution with few weights can be expensive, because each weight is used at every place of the image.

# %%
conv, lin = nn.Conv2d(3, 8, 3), nn.Linear(512, 512)
few, many = (sum(p.numel() for p in module.parameters()) for module in (conv, lin))
work = flops(conv, torch.randn(1, 3, 64, 64)), flops(lin, torch.randn(1, 512))
print(f"parameters: {few} and {many}; operations: {work[0]:,} and {work[1]:,}")

# %% proof=true
assert few < many / 1000 and work[0] > work[1]

# %% [markdown]
# **Right:** count from the shape of the *result*. It says how often the weights are used.

# %% [markdown]
# ## Recap
#
# 1. `run_node` sees every node. A clock around `super().run_node(n)` measures it. Warm up, and repeat.
# 2. Times add up by target or by name. Names keep two calls of one function apart.
# 3. Count after the call, so that a call that raises is not counted.
# 4. A product costs two operations for each number of the result and each term of its sum. With groups, the sum is shorter.
# 5. The count depends on shapes only. Time depends on the machine; you cannot derive it from the count.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `time.perf_counter()` | the clock for short times, in seconds |
# | `def run_node(self, n)` | one node; return `super().run_node(n)` |
# | `self.fetch_attr(target)` | the module that a `call_module` node calls |
# | `torch.cuda.synchronize()` | waits for the GPU; call it before you read the clock |
# | `FlopCounterMode(display=False)` | a context that counts operations; `get_total_flops()`, `get_table()` |
# | `2 * result.numel() * weight[0].numel()` | operations of a linear layer or a convolution |
# | `2 * result.numel() * left.shape[-1]` | operations of a product of matrices |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | shapes without running a model; the first NaN; `Transformer` | chapter 6 |
# | measuring two models against each other | chapter 10 |
# | code that merges operations: `torch.compile` | chapter 11 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), section *The Interpreter Pattern*. Among the tutorials:
# [Building a simple CPU performance profiler with FX](https://docs.pytorch.org/tutorials/intermediate/fx_profiling_tutorial.html).
