# %% [markdown]
# # 9b · Break it: duels with passes that look right
#
# **After this chapter you can find the smallest model on which a wrong pass is wrong, and say why.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 4: traces, nodes, passes, patterns. Chapter 9 helps |
# | **Time** | about 120 minutes, 56 of them for the exercises; each duel is a sitting of its own |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. write a witness: a model and inputs on which a pass is wrong, and nothing else is;
# 2. say what must be the same before and after a pass: values, dtypes, shapes, and the arguments afterwards;
# 3. name the numbers that are not ordinary, and their effect on a rule of arithmetic;
# 4. tell a value from a tensor: when two tensors share memory, and which call shows it;
# 5. tell equal arguments from equal calls;
# 6. name all readers of a weight that a pass changes;
# 7. make a witness smaller, and keep it as a test.

# %% [markdown]
# ## A story
#
# Your team reviews passes. You have seven of them. Each is short, each has a test, and each test passes.
# Three are PyTorch's own.
#
# All seven are wrong.
#
# "It looks wrong to me" does not convince the author of a pass. A model on which the pass gives another result does.
# The smaller this model is, the sooner the author sees the fault, and the better it is as a test.
# A model that convicts a pass is called a **witness** here. In this chapter you write seven of them.
# The last section runs the passes on GoogLeNet, the other team's model. It has 197 calls, and it convicts none of the six that should keep its meaning.

# %%
import contextlib
import copy
import io
import math
import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.passes.dialect.common.cse_pass import CSEPass
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torchvision.models import googlenet

from autograder import check, draw, drill, fails, hint, progress, suspects
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(9)
print(torch.__version__)

# %% [markdown]
# Two questions on earlier chapters:
#
# **Predict the result.** From chapter 1: `forward` returns `x + torch.rand(2)`. You trace it, and call the trace twice. What do you get?
#
# <details><summary>Two different results: the noise is drawn in each call.</summary>
#
# No. <code>torch.rand(2)</code> has no Proxy among its arguments. It runs while the model is traced, and not again.
# </details>
# <details><summary>Twice the same result.</summary>
#
# Right. The trace holds the tensor that was drawn while it was made, as a constant. The model itself draws again in each call, so model and trace do not agree.
# </details>
# <details><summary>A <code>TraceError</code>.</summary>
#
# No. Nothing asks a Proxy for a value here. That is what makes this mistake silent.
# </details>

# %% proof=true
noisy = fx.symbolic_trace(lambda x: x + torch.rand(2))
assert torch.equal(noisy(torch.zeros(2)), noisy(torch.zeros(2)))

# %% [markdown]
# **Predict the code.** From chapter 3: what is `node.name` of the second of these calls, in a fresh trace?
#
# ```python
# def f(x):
#     return torch.sin(torch.sin(x))
# ```
#
# <details><summary><code>sin</code>: both are named after the function.</summary>
#
# No. Names are unique in a graph. The second one gets a number.
# </details>
# <details><summary><code>sin_1</code></summary>
#
# Right. A name is made of the target's name, and of a number if that name is taken. So a name says little about the call.
# </details>
# <details><summary><code>torch_sin_1</code></summary>
#
# No. The name of the module is not part of it.
# </details>

# %% proof=true
assert [n.name for n in fx.symbolic_trace(lambda x: torch.sin(torch.sin(x))).graph.nodes] == [
    "x",
    "sin",
    "sin_1",
    "output",
]

# %% [markdown]
# ## 9b.1 What a duel is
#
# Each duel has a **suspect**: a function that takes a graph module and returns one. It has a **task** in one sentence.
# You write a class:
#
# * It is a subclass of `nn.Module`, and its constructor takes no arguments.
# * It has a class attribute `inputs`: one tuple with all the arguments of `forward`.
# * Its trace has only PyTorch's own functions, operators, methods and layers.
#
# Here is a suspect for practice. Its task is to write `x // n` as `torch.div` with a rounding mode:


# %%
def by_truncation(gm: fx.GraphModule) -> fx.GraphModule:
    """Write `x // n` as `torch.div`. Is it right?"""
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.target is operator.floordiv:
            node.target, node.kwargs = torch.div, {"rounding_mode": "trunc"}
    gm.recompile()
    return gm


class FirstTry(nn.Module):
    inputs = (torch.tensor([7, 8, 9]),)

    def forward(self, x):
        return x // 2


# %% [markdown]
# A duel uses the **trace** of your model. It has four steps: make the model, trace it, run the suspect on a copy of the trace,
# and compare two runs. As in chapter 9, each run gets its own copies of the arguments, and the same seed.


# %%
def run_of(gm: fx.GraphModule, inputs: tuple) -> tuple[Any, Any]:
    """The result of a run, or the type of its exception; and the arguments afterwards."""
    args = copy.deepcopy(inputs)
    torch.manual_seed(2007)
    try:
        with torch.no_grad(), contextlib.redirect_stderr(io.StringIO()):
            value = copy.deepcopy(gm)(*args)
    except Exception as error:
        value = type(error)
    return value, args


def same(one: Any, other: Any) -> bool:
    """Same nesting (a list is like a tuple), dtypes and shapes; close values; NaN like NaN."""
    try:
        torch.testing.assert_close(one, other, equal_nan=True)
    except (AssertionError, TypeError):
        return one is other
    return True


def suspect_is_wrong(witness: type[nn.Module], suspect: Callable) -> bool:
    """Whether a suspect changes the result of a witness's trace."""
    torch.manual_seed(0)
    trace = fx.symbolic_trace(witness().eval())
    before = run_of(trace, witness.inputs)
    try:
        changed = suspect(copy.deepcopy(trace))
    except Exception:
        return True
    return not same(before, run_of(changed, witness.inputs))


suspect_is_wrong(FirstTry, by_truncation)

# %% proof=true
assert not suspect_is_wrong(FirstTry, by_truncation)

# %% [markdown]
# `FirstTry` is not a witness. Does it need another model, or other inputs?
#
# **Predict the result.** Which of these inputs makes `FirstTry` a witness?
#
# <details><summary>A large tensor, such as <code>torch.arange(10_000)</code>.</summary>
#
# No. Ten thousand numbers of one kind are one test. All of them are rounded in the same direction.
# </details>
# <details><summary>A negative odd number: <code>torch.tensor([-7])</code>.</summary>
#
# Right. <code>-7 // 2</code> is rounded down, to -4. <code>trunc</code> rounds towards zero, to -3.
# </details>
# <details><summary>A floating point number: <code>torch.tensor([7.5])</code>.</summary>
#
# No. <code>7.5 // 2</code> is 3.0, and so is the truncated quotient. It is the sign that matters.
# </details>


# %% proof=true
class Rounded(FirstTry):
    inputs = (torch.tensor([-7]),)


assert suspect_is_wrong(Rounded, by_truncation)
for inputs in (torch.arange(10_000), torch.tensor([7.5])):
    assert torch.equal(inputs // 2, torch.div(inputs, 2, rounding_mode="trunc"))

# %% [markdown]
# One call and one number are enough. That is the shortest witness that there can be. It tells the author of the pass everything:
# the call, its arguments and its result.
#
# ### The rules
#
# `check` makes your model three times, under the seeds 0, 1 and 2, and puts it into eval mode. You win if each time
#
# 1. your model and its trace give the same, and two runs of the trace do, too;
# 2. passes that are **right** agree on it, and with your model if the task is to keep its meaning;
# 3. the suspect raises, or gives something else;
# 4. the trace has no more calls than the limit allows. Each `call_…` node counts.
#
# "The same" means as in chapter 9: the same structure, dtypes and shapes, values that are close, and the same
# arguments afterwards. So there are five ways to fail, and the card names yours:
#
# | on the card | meaning |
# |---|---|
# | not a witness yet | the suspect is right on your model |
# | outside the task | right passes disagree on your model, so no result is *the* right one |
# | it raised … | your model itself raises, or cannot be traced |
# | not the same every time | the result depends on more than the inputs |
# | too many calls | it convicts the suspect, but it can be smaller |
#
# The second row needs an example. The task is to fuse a BatchNorm into a convolution. Each right fusion rounds at another place.
# If the norm subtracts a million from values near a million, the results differ in the second digit. Such a model says nothing about a pass.

# %% proof=true
conv, norm = nn.Conv1d(1, 1, 1).eval(), nn.BatchNorm1d(1).eval()
norm.running_mean.fill_(1e6)
norm.running_var.fill_(2.0)
conv.weight.data.fill_(1.0)
near = torch.tensor([[[1e6 + 0.3, 1e6 + 1.7]]])
with fails(AssertionError):
    torch.testing.assert_close(
        norm(conv(near)), fuse_conv_bn_eval(conv, norm)(near), rtol=0.01, atol=0
    )

# %% [markdown]
# ### You can call the suspects
#
# Each suspect is a function, for example `suspects.by_name(gm)`.
# The fastest way to a witness is to see its effect on *your* trace:


# %%
def show_what(suspect: Callable, model: nn.Module) -> None:
    """Print a graph's code before and after a pass."""
    gm = fx.symbolic_trace(model.eval())
    print("before:", gm.code.strip().partition("\n")[2].strip())
    print("after: ", suspect(copy.deepcopy(gm)).code.strip().partition("\n")[2].strip())


show_what(by_truncation, FirstTry())

# %% [markdown]
# ## 9b.2 What is in a name
#
# FX makes a node's name from its target: a function's own name, or the whole path of a module, in snake case. These names begin with `add`:

# %%
beginning_with_add = {
    "add": lambda x: torch.add(x, 1),
    "add_1": lambda x: x + 1 + 2,
    "add_": lambda x: x.add_(1),
    "addmm": lambda x: torch.addmm(x, x, x),
    "addcmul": lambda x: torch.addcmul(x, x, x),
}
for name, f in beginning_with_add.items():
    print(f"{name:8}", [n.name for n in fx.symbolic_trace(f).graph.nodes])

# %% proof=true
for name, f in beginning_with_add.items():
    assert name in [n.name for n in fx.symbolic_trace(f).graph.nodes]
named = fx.Graph()
assert named.call_function(suspects.by_name).name == "by_name"
assert named.call_module("blockA.0").name == "block_a_0"
assert named.call_function(nn.ReLU).name == "re_lu"

# %% [markdown]
# A pass that asks `node.name.startswith("add")` finds sums, but also sums of products and sums in place.
# And it misses a sum that has another name. The **target** says what a node calls:

# %%
gm = fx.symbolic_trace(lambda x: torch.add(x, torch.addmm(x, x, x)))
print("by name:  ", [n.name for n in gm.graph.nodes if n.name.startswith("add")])
print("by target:", [n.name for n in gm.graph.find_nodes(op="call_function", target=torch.add)])

# %% proof=true
assert [n.name for n in gm.graph.nodes if n.name.startswith("add")] == ["addmm", "add"]
assert [n.name for n in gm.graph.find_nodes(op="call_function", target=torch.add)] == ["add"]

# %% [markdown] card="WitnessByName"
# **The suspect** is `suspects.by_name`. **Its task:** calls of the functions `torch.relu` and `F.relu` become `F.gelu`; nothing else changes.
# It goes through the `call_function` nodes and finds the right ones by their names.
#
# **Write** the class `WitnessByName`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 2 calls.** The shortest that we know has 1.

# %%
# Here the suspect is right:
gm = suspects.by_name(fx.symbolic_trace(lambda x: torch.relu(x) + 1))
draw(gm)

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "gelu", "add", "output"]


# %% solve="WitnessByName"
class WitnessByName(nn.Module):
    """A model on which `suspects.by_name` is wrong: at most 2 calls.

    Attributes:
        inputs: the arguments of `forward`, as one tuple. Put in what you need.
    """

    inputs = (torch.tensor([-1.0, 2.0]),)

    def forward(self, x):
        ### BEGIN SOLUTION
        return torch.relu_(x)
        ### END SOLUTION


# %% check="WitnessByName"
check(WitnessByName)

# %% hint="WitnessByName"
hint("WitnessByName")

# %% [markdown]
# ## 9b.3 Numbers that are not ordinary
#
# Rules of arithmetic are rules for numbers. A floating-point tensor can hold more: two infinities, NaN, and a zero with a sign.

# %%
inf, nan = math.inf, math.nan
odd = torch.tensor([inf, -inf, nan, -0.0])
print("x - x:", odd - odd)
print("x * 0:", odd * 0)
print("x / x:", odd / odd)

# %% proof=true
assert (odd - odd)[:3].isnan().all() and (odd * 0)[:3].isnan().all() and (odd / odd).isnan().all()

# %% [markdown]
# So `x - x` and `x * 0` are not always zero. An infinity is not exotic. Masks of attention layers are made of it,
# and the logarithm of zero is one. In `float16`, a number from 65,520 on becomes one.

# %% proof=true
assert torch.log(torch.tensor(0.0)) == -inf
assert torch.tensor(65_519.0).to(torch.float16) == 65_504
assert torch.tensor(65_520.0).to(torch.float16) == inf
scores = torch.zeros(2, 2).masked_fill(torch.eye(2) > 0, -inf)
assert torch.equal(scores.softmax(-1), torch.eye(2).flip(0))

# %% [markdown]
# **Predict the result.** A pass writes `F.hardtanh(x)` as `(x.abs() <= 1) * x + (x > 1) * 1.0 - (x < -1) * 1.0`. For which input is it wrong?
#
# <details><summary>For NaN.</summary>
#
# No. All three masks are zero, and zero times NaN is NaN. <code>F.hardtanh</code> gives NaN, too.
# </details>
# <details><summary>For plus and minus infinity, both.</summary>
#
# Right. The first mask is zero, and zero times an infinity is NaN. The right result is 1 and -1.
# </details>
# <details><summary>For minus zero.</summary>
#
# No. The zero may lose its sign, but zeros of both signs compare as equal.
# </details>


# %% proof=true
def by_masks(x):
    return (x.abs() <= 1) * x + (x > 1) * 1.0 - (x < -1) * 1.0


print("by masks:", by_masks(odd), " right:", F.hardtanh(odd))
assert by_masks(odd)[:3].isnan().all() and by_masks(odd)[3] == 0
assert F.hardtanh(odd)[:2].tolist() == [1.0, -1.0] and F.hardtanh(odd)[2].isnan()

# %% [markdown]
# `torch.where` *chooses*: the values that it does not choose have no effect on the result. In a product with a mask they have one.
#
# Here are five more rules:

# %%
rules = [
    (lambda x: x * 2, lambda x: x + x),
    (lambda x: x * 0, lambda x: torch.zeros_like(x)),
    (lambda x: x / 2, lambda x: x * 0.5),
    (lambda x: x / x, lambda x: torch.ones_like(x)),
    (lambda x: torch.exp(-x), lambda x: 1 / torch.exp(x)),
]

# %% [markdown]
# **Drill 09b.3a.** For which of these rules do the two sides differ at `torch.tensor([inf])`? Write the list of their indices.

# %% drill=true
broken = [1, 3]
drill("09b.3a", broken)
# Mistake: A number divided by infinity is 0.
# broken = [1, 3, 4]

# %% proof=true
at_infinity = [not same(*(side(torch.tensor([inf])) for side in rule)) for rule in rules]
assert at_infinity == [False, True, False, True, False]
where = torch.where(odd > 5, torch.tensor(1.0), odd * 0)
assert where[0] == 1.0 and by_masks(odd)[0].isnan()

# %% [markdown] card="WitnessReluRule"
# **The suspect** is `suspects.relu_rule`. **Its task:** write each call of the function `torch.relu` in simpler operations. It writes `(x > 0) * x`.
#
# **Write** the class `WitnessReluRule`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 2 calls.** The shortest that we know has 1.

# %%
ordinary = torch.linspace(-3, 3, 7)
gm = suspects.relu_rule(fx.symbolic_trace(lambda x: torch.relu(x)))
torch.testing.assert_close(gm(ordinary), torch.relu(ordinary))  # right on ordinary numbers
draw(gm)


# %% solve="WitnessReluRule"
class WitnessReluRule(nn.Module):
    """A model on which `suspects.relu_rule` is wrong: at most 2 calls.

    Attributes:
        inputs: the arguments of `forward`, as one tuple. Put in what you need.
    """

    inputs = (torch.tensor([-1.0, 2.0]),)

    def forward(self, x):
        ### BEGIN SOLUTION
        return torch.relu(x)
        ### END SOLUTION


### BEGIN SOLUTION
WitnessReluRule.inputs = (torch.tensor([-math.inf, 2.0]),)
### END SOLUTION


# %% check="WitnessReluRule"
check(WitnessReluRule)

# %% hint="WitnessReluRule"
hint("WitnessReluRule")

# %% [markdown]
# ## 9b.4 Calls that nobody reads
#
# A node without users looks useless. But some calls are there for their effect (section 3b.2).
# PyTorch's own pass, `Graph.eliminate_dead_code`, keeps a call if `node.is_impure()` is true:


# %%
def impure(f: Callable) -> list[str]:
    """The names of the calls that PyTorch keeps, although no node reads them."""
    gm = fx.symbolic_trace(f)
    return [n.name for n in gm.graph.nodes if n.op.startswith("call") and n.is_impure()]


def some_dead_calls(x):
    torch.exp(x)
    torch.rand_like(x)
    torch._assert(x.dim() > 0, "one number")
    return x


print(impure(some_dead_calls))

# %% proof=true
assert impure(some_dead_calls) == ["rand_like", "_assert"]

# %% [markdown]
# So a dead `torch.rand_like` stays. It changes no tensor, but it moves the random state, and the next random call
# gives other numbers. A dead `torch._assert` stays, too.
#
# **Places to look.** An effect can show in the result, in the arguments after the run, and in an exception.
# A comparison of results alone misses the second. This pass is wrong in this way: it gives the graph a copy of each argument.


# %%
def on_copies(gm: fx.GraphModule) -> fx.GraphModule:
    """Give the graph copies of its inputs."""
    for node in gm.graph.find_nodes(op="placeholder"):
        with gm.graph.inserting_after(node):
            twin = gm.graph.call_method("clone", (node,))
        node.replace_all_uses_with(twin, delete_user_cb=lambda user, twin=twin: user is not twin)
    gm.recompile()
    return gm


class Counts(nn.Module):
    inputs = (torch.zeros(2),)

    def forward(self, x):
        return x.add_(1)


trace = fx.symbolic_trace(Counts())
(value, args), (other, others) = (
    run_of(gm, Counts.inputs) for gm in (trace, on_copies(copy.deepcopy(trace)))
)
print("results:", value, other, "arguments:", args, others)

# %% proof=true
assert torch.equal(value, other)  # the results agree
assert args[0].tolist() == [1.0, 1.0] and others[0].tolist() == [0.0, 0.0]
assert suspect_is_wrong(Counts, on_copies)

# %% [markdown]
# **Predict the warning.** The docstring of `eliminate_dead_code` has a warning in it. What does it say?
#
# <details><summary>That it is slow on large graphs.</summary>
#
# No. It is one walk through the graph.
# </details>
# <details><summary>That it is not sound, unless the graph consists of functional operations only.</summary>
#
# Right. PyTorch says so itself. A trace from `symbolic_trace` may contain any operation.
# </details>
# <details><summary>That names of nodes change.</summary>
#
# No. What stays keeps its name.
# </details>

# %% proof=true
warning = " ".join(fx.Graph.eliminate_dead_code.__doc__.split())
assert "you should assume that this method is not sound" in warning
assert "unless you know that your FX graph consists entirely of functional operations" in warning

# %% [markdown] card="WitnessDeadCode"
# **The suspect** is `suspects.dead_code`, which is PyTorch's own `eliminate_dead_code`. **Its task:** remove calls without readers that have no effect.
#
# **Write** the class `WitnessDeadCode`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 3 calls.** The shortest that we know has 1.


# %%
def two_dead_calls(x):
    torch.exp(torch.sin(x))
    return torch.cos(x)


gm = suspects.dead_code(fx.symbolic_trace(two_dead_calls))
draw(gm)

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "cos", "output"]


# %% solve="WitnessDeadCode"
class WitnessDeadCode(nn.Module):
    """A model on which `suspects.dead_code` is wrong: at most 3 calls.

    Attributes:
        inputs: the arguments of `forward`, as one tuple. Put in what you need.
    """

    inputs = (torch.tensor([-1.0, 2.0]),)

    def forward(self, x):
        ### BEGIN SOLUTION
        x.relu_()
        return x
        ### END SOLUTION


# %% check="WitnessDeadCode"
check(WitnessDeadCode)

# %% hint="WitnessDeadCode"
hint("WitnessDeadCode")

# %% [markdown]
# ## 9b.5 A value, and a tensor
#
# Two tensors with equal values can still differ in two ways.
#
# **The dtype.** The dtype of a sum or product follows from *all* operands. `torch.result_type(a, b)` says what it is:

# %%
integers, floats = torch.tensor([1, 2]), torch.tensor([1.0, 2.0])
print((integers * 2).dtype, (integers.sum() * floats[0]).dtype)
print(torch.result_type(integers, 2), torch.result_type(integers.sum(), floats[0]))

# %% proof=true
assert (integers * 2).dtype is torch.result_type(integers, 2) is torch.int64
assert (integers.sum() * floats[0]).dtype is torch.float32
assert torch.result_type(integers.sum(), floats[0]) is torch.float32

# %% [markdown]
# Other operations have rules of their own.
#
# **Drill 09b.5a.** Here are five results: `integers + 1`, `integers / 1`, `integers > 1`, `integers * 1.0` and `integers // 1`.
# For which does `torch.result_type(integers, number)` name another dtype than the result has? Write the list of their operators, as strings, in this order.

# %% drill=true
operators = ["/", ">"]
drill("09b.5a", operators)
# Mistake: For the float `1.0` it says float32, and the product has this dtype.
# operators = ["/", ">", "*"]

# %% proof=true
for symbol, made, number in (
    ("+", integers + 1, 1),
    ("/", integers / 1, 1),
    (">", integers > 1, 1),
    ("*", integers * 1.0, 1.0),
    ("//", integers // 1, 1),
):
    assert (made.dtype is not torch.result_type(integers, number)) == (symbol in operators)

# %% [markdown]
# **The memory.** A pass removes `clone`, because a copy has the same values. With the same strides, this shows only if something is changed in place:


# %%
def without_clone(gm: fx.GraphModule) -> fx.GraphModule:
    """Remove each call of the method `clone`."""
    for node in list(gm.graph.find_nodes(op="call_method", target="clone")):
        node.replace_all_uses_with(node.args[0])
        gm.graph.erase_node(node)
    gm.recompile()
    return gm


class Unnoticed(nn.Module):
    inputs = (torch.tensor([1.0]),)

    def forward(self, x):
        return x.clone() * 2


class Kept(nn.Module):
    inputs = (torch.tensor([1.0]),)

    def forward(self, x):
        before = x.clone()
        x.mul_(3)
        return before


print([suspect_is_wrong(model, without_clone) for model in (Unnoticed, Kept)])
draw(fx.symbolic_trace(Kept()))

# %% proof=true
assert not suspect_is_wrong(Unnoticed, without_clone) and suspect_is_wrong(Kept, without_clone)

# %% [markdown]
# After the pass, `before` and `x` are one tensor. It is multiplied, and `before` with it.
# Two names for one piece of memory are **aliases**. This pass makes them.
#
# **Predict the result.** In which of these models does `without_clone` do harm?
#
# <details><summary><code>return x.clone().mul_(3)</code></summary>
#
# Right. The result is the same. But now the argument is multiplied, too: look at it after the run.
# </details>
# <details><summary><code>x.mul_(3); return x.clone()</code></summary>
#
# No. The copy is made after the change, and nothing is changed in place after it.
# </details>
# <details><summary><code>y = x.clone(); return y, y</code></summary>
#
# No. Both are read, and nothing is changed.
# </details>


# %% proof=true
class Ends(Kept):
    def forward(self, x):
        return x.clone().mul_(3)


class Begins(Kept):
    def forward(self, x):
        x.mul_(3)
        return x.clone()


assert suspect_is_wrong(Ends, without_clone) and not suspect_is_wrong(Begins, without_clone)

# %% [markdown]
# Such mistakes happen in real compilers. The comments of vLLM's pass that removes no-ops tell of one: it removed `x[0:-1]`, because it took -1 for an inferred size.
# A witness for it is one slice.

# %% [markdown] card="WitnessPlusZero"
# **The suspect** is `suspects.plus_zero`. **Its task:** remove `x + 0`, `x - 0` and `x * 1` if that changes nothing.
# The number may be on the left of `+` and `*`, and the call may be an operator, a function such as `torch.add`, or a method.
#
# **Write** the class `WitnessPlusZero`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 3 calls.** The shortest that we know has 1.

# %%
gm = fx.symbolic_trace(lambda x: ((x + 0) * 1 - 0).exp())
draw(suspects.plus_zero(gm))

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "exp", "output"]


# %% solve="WitnessPlusZero"
class WitnessPlusZero(nn.Module):
    """A model on which `suspects.plus_zero` is wrong: at most 3 calls.

    Attributes:
        inputs: the arguments of `forward`, as one tuple. Put in what you need.
    """

    inputs = (torch.tensor([-1.0, 2.0]),)

    def forward(self, x):
        ### BEGIN SOLUTION
        return (x + 0).mul_(2)  # the suspect multiplies the argument
        ### END SOLUTION


# %% check="WitnessPlusZero"
check(WitnessPlusZero)

# %% hint="WitnessPlusZero"
hint("WitnessPlusZero")

# %% [markdown]
# ## 9b.6 A pattern does not see what happens afterwards
#
# `fx.replace_pattern` replaces a piece of graph by another one. It compares operations and the edges between them.
# It does not look at later changes of the tensors at its borders.
#
# Take the rule "two transpositions are nothing". It is true for values:


# %%
def transposed_twice(a):
    return torch.transpose(torch.transpose(a, 0, 1), 0, 1)


def as_it_was(a):
    return a


gm = fx.symbolic_trace(lambda x: transposed_twice(x).exp())
fx.replace_pattern(gm, transposed_twice, as_it_was)
print([n.name for n in gm.graph.nodes])

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "exp", "output"]

# %% [markdown]
# It is even true for writes in place. A transposed tensor is a *view*: it has the memory of `x`, so a change in place reaches `x` with and without the rule.
# `torch.neg` gives a new tensor. Is the rule "two negations are nothing" true for tensors?

# %% proof=true
x = torch.zeros(2, 2)
transposed_twice(x).add_(1)
assert x.sum() == 4  # a view: the memory of x
assert torch.neg(x).data_ptr() != x.data_ptr()  # new memory

# %% [markdown] card="WitnessDoubleNegation"
# **The suspect** is `suspects.double_negation`. It calls PyTorch's own `fx.replace_pattern`.
# **Its task:** replace `torch.neg(torch.neg(a))` by `a` if that changes nothing.
#
# **Write** the class `WitnessDoubleNegation`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 4 calls.** The shortest that we know has 3.

# %%
gm = suspects.double_negation(fx.symbolic_trace(lambda x: torch.neg(torch.neg(x)).exp()))
draw(gm)

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "exp", "output"]


# %% solve="WitnessDoubleNegation"
class WitnessDoubleNegation(nn.Module):
    """A model on which `suspects.double_negation` is wrong: at most 4 calls.

    Attributes:
        inputs: the arguments of `forward`, as one tuple. Put in what you need.
    """

    inputs = (torch.tensor([-1.0, 2.0]),)

    def forward(self, x):
        ### BEGIN SOLUTION
        kept = torch.neg(torch.neg(x))
        x.add_(1)
        return kept
        ### END SOLUTION


# %% check="WitnessDoubleNegation"
check(WitnessDoubleNegation)

# %% hint="WitnessDoubleNegation"
hint("WitnessDoubleNegation")

# %% [markdown]
# ## 9b.7 Equal calls, and calls that look equal
#
# If a graph computes `torch.exp(x)` twice, once is enough. This is called *common subexpression elimination* (CSE).
# A pass for it keeps a dictionary: the key is the target with its arguments, the value is the first such node.
# But the keys of a dictionary are equal more often than calls are:

# %%
seen = {(operator.add, "x", 1): "first", (operator.mul, "x", 0.0): "second"}
print((operator.add, "x", 1.0) in seen, (operator.mul, "x", -0.0) in seen)

# %% proof=true
assert (operator.add, "x", 1.0) in seen and (operator.add, "x", True) in seen
assert (operator.mul, "x", -0.0) in seen and math.copysign(1, 0.0) != math.copysign(1, -0.0)

# %% [markdown]
# And equal arguments are not enough. Two calls can be joined only if equal arguments always give the same value. That is false for
# operations that draw random numbers or change something, and for arguments that were changed in between.
#
# Here all calls can be joined if their arguments are equal:


# %%
def repeated(x):
    a, b = torch.sin(x), torch.sin(x)
    return torch.add(a, 1) * torch.add(b, 1) - torch.sin(torch.add(b, 1))


print([n.name for n in fx.symbolic_trace(repeated).graph.nodes])

# %% [markdown]
# **Drill 09b.7a.** Which nodes does a right CSE remove from this graph? Write the list of their names, in the order of the graph.

# %% drill=true
joined = ["sin_1", "add_1", "add_2"]
drill("09b.7a", joined)
# Mistake: After one call is replaced, more calls have equal arguments.
# joined = ["sin_1", "add_2"]

# %% proof=true
left = CSEPass()(fx.symbolic_trace(repeated)).graph_module.graph.nodes
assert [n.name for n in left] == ["x", "sin", "add", "mul", "sin_2", "sub", "output"]

# %% [markdown]
# PyTorch's `CSEPass` takes a list of operations that must not be joined. By default it is empty.
# Its docstring warns: *CSE Pass cannot be safely applied on a FX graph in non-functional dialects.*
# It was written for graphs of ATen operations, such as `torch.ops.aten.add.Tensor`. A trace of `fx.symbolic_trace` may contain anything.

# %% proof=true
assert CSEPass().banned_ops == set()
assert "cannot be safely applied" in CSEPass.__init__.__doc__

# %% [markdown] card="WitnessEqualCalls"
# **The suspect** is `suspects.equal_calls`, which is PyTorch's own `CSEPass`. **Its task:** join equal calls if that changes nothing.
#
# **Write** the class `WitnessEqualCalls`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 3 calls.** The shortest that we know has 2.

# %%
gm = suspects.equal_calls(fx.symbolic_trace(lambda x: torch.exp(x) + torch.exp(x)))
draw(gm)

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "exp", "add", "output"]


# %% solve="WitnessEqualCalls"
class WitnessEqualCalls(nn.Module):
    """A model on which `suspects.equal_calls` is wrong: at most 3 calls.

    Attributes:
        inputs: the arguments of `forward`, as one tuple. Put in what you need.
    """

    inputs = (torch.tensor([-1.0, 2.0]),)

    def forward(self, x):
        ### BEGIN SOLUTION
        return torch.rand_like(x), torch.rand_like(x)
        ### END SOLUTION


# %% check="WitnessEqualCalls"
check(WitnessEqualCalls)

# %% hint="WitnessEqualCalls"
hint("WitnessEqualCalls")

# %% [markdown]
# ## 9b.8 Who else reads the weights?
#
# Some passes change *parameters*. This one makes `layer(x) * 2` faster: it doubles the weights of the linear layer, and removes the product.


# %%
def doubled(gm: fx.GraphModule) -> fx.GraphModule:
    """Put a factor of 2 into the linear layer before it."""
    for node in list(gm.graph.nodes):
        linear = node.args[0] if node.args else None
        if node.target is operator.mul and node.args[1] == 2 and len(linear.users) == 1:
            layer = gm.get_submodule(linear.target)
            with torch.no_grad():
                layer.weight.mul_(2)
                layer.bias.mul_(2)
            node.replace_all_uses_with(linear)
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


class Doubled(nn.Module):
    inputs = (torch.ones(1, 3),)

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        return self.linear(x) * 2


class CalledAgain(Doubled):
    def forward(self, x):
        return self.linear(x) * 2, self.linear(x)


print([suspect_is_wrong(model, doubled) for model in (Doubled, CalledAgain)])

# %% proof=true
assert not suspect_is_wrong(Doubled, doubled) and suspect_is_wrong(CalledAgain, doubled)

# %% [markdown]
# The pass asks for the readers of the node's *value*: `len(linear.users) == 1`. It does not ask for the readers of the *weights*.
# In the trace of `CalledAgain` two nodes have the same target, and the second one now computes with other weights.
# A second name for the same layer and a parameter that two layers share have the same effect. So does a `forward` that reads `layer.weight`:


# %%
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.third = nn.Linear(3, 3), nn.Linear(3, 3)
        self.second = self.first
        self.third.weight = self.first.weight

    def forward(self, x):
        return self.first(x) + self.second(x) + self.third(x) + x @ self.first.weight


tied = fx.symbolic_trace(Tied())
print(tied.code)

# %% [markdown]
# **Drill 09b.8a.** A pass wants to change `first.weight`. Which nodes read this parameter? Write the list of their names, in the order of the graph.

# %% drill=true
readers = ["first", "first_1", "third", "first_weight"]
drill("09b.8a", readers)
# Mistake: Another layer need not have another parameter.
# readers = ["first", "first_1", "first_weight"]

# %% proof=true
weight = tied.first.weight
holders = {name for name, part in tied.named_modules() if getattr(part, "weight", None) is weight}
assert readers == [
    n.name for n in tied.graph.nodes if n.target in holders or n.target == "first.weight"
]

# %% [markdown]
# **A new BatchNorm** has the mean 0 and the variance 1, so in eval mode it does almost nothing (section 9.3). Its fusion hardly changes a weight.
#
# **Predict the result.** Your model returns `norm(conv(x))` and `conv(x)`, and `norm` is new. The inputs are around 1. Can you see that the fusion changed the second output?
#
# <details><summary>Yes: the second call gets other weights.</summary>
#
# No. It gets other weights, but they differ in the sixth digit. For numbers around 1, that is within the tolerance.
# </details>
# <details><summary>No: the fused weights are nearly the old ones.</summary>
#
# Right. Give the BatchNorm a mean and a variance in <code>__init__</code>, and it shows.
# </details>
# <details><summary>No: PyTorch looks for other readers of the weights.</summary>
#
# No. It looks for other readers of the convolution's value, and at nothing else.
# </details>

# %% proof=true
conv, norm = nn.Conv2d(1, 1, 2).eval(), nn.BatchNorm2d(1).eval()
numbers = torch.linspace(0.5, 1.5, 9).view(1, 1, 3, 3)
torch.testing.assert_close(fuse_conv_bn_eval(conv, norm)(numbers), conv(numbers))
norm.running_var.fill_(4.0)
used = fuse_conv_bn_eval(conv, norm)
assert not torch.allclose(used.weight, conv.weight, rtol=0.1)
torch.testing.assert_close(used(numbers), norm(conv(numbers)))

# %% [markdown] card="WitnessSharedConv"
# **The suspect** is `suspects.shared_conv`, which is PyTorch's own `torch.fx.experimental.optimization.fuse`.
# **Its task:** fuse each BatchNorm into the layer before it, a convolution or a linear layer, and keep what the model computes in eval mode.
#
# **Write** the class `WitnessSharedConv`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 4 calls.** The shortest that we know has 2.

# %%
gm = fx.symbolic_trace(nn.Sequential(nn.Conv2d(1, 1, 2), nn.BatchNorm2d(1)).eval())
fused = suspects.shared_conv(gm)
draw(fused)

# %% proof=true
assert [n.name for n in fused.graph.nodes] == ["input_1", "_0", "output"]  # the norm is gone


# %% solve="WitnessSharedConv"
class WitnessSharedConv(nn.Module):
    """A model on which `suspects.shared_conv` is wrong: at most 4 calls.

    Attributes:
        inputs: the arguments of `forward`, as one tuple. Put in what you need.
    """

    inputs = (torch.linspace(-1, 1, 9).view(1, 1, 3, 3),)

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 2)
        self.norm = nn.BatchNorm2d(1)
        ### BEGIN SOLUTION
        self.norm.running_var.fill_(4.0)
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        return self.norm(self.conv(x)), self.conv(x)
        ### END SOLUTION


# %% check="WitnessSharedConv"
check(WitnessSharedConv)

# %% hint="WitnessSharedConv"
hint("WitnessSharedConv")

# %% [markdown]
# ## 9b.9 A large model is a weak test
#
# GoogLeNet has 197 calls. The review asked for a test on a real model, so the authors ran their passes on it.
# The pass for names is left out, because it *should* change the result. Here are the other six:

# %%
network = make_alive(googlenet(weights=None, init_weights=False, aux_logits=False))
trace = fx.symbolic_trace(network)
image = images(1)

keeping = ["relu_rule", "dead_code", "plus_zero", "double_negation", "equal_calls", "shared_conv"]
for name in keeping:
    after = getattr(suspects, name)(copy.deepcopy(trace))
    error = assert_same_results(after, network, image)
    print(f"{name:16} {len(after.graph.nodes) - 2} calls, the difference: {error:.0e}")

# %% proof=true
assert len([n for n in trace.graph.nodes if n.op.startswith("call")]) == 197
assert len(after.graph.nodes) - 2 == 197 - 57

# %% [markdown]
# All six suspects pass. Only the fusion found something to change, and here each convolution is called once.
# A large model repeats the same few things. A pass goes wrong at the *borders*: an odd number, an alias, a second reader.
#
# Now the witnesses. Each of them is a test for every pass:

# %% uses="WitnessSharedConv"
witnesses = [
    WitnessReluRule,
    WitnessDeadCode,
    WitnessPlusZero,
    WitnessDoubleNegation,
    WitnessEqualCalls,
    WitnessSharedConv,
]
print(" " * 24, *(name[:9].ljust(10) for name in keeping))
for witness, own in zip(witnesses, keeping, strict=True):
    wrong = {name: suspect_is_wrong(witness, getattr(suspects, name)) for name in keeping}
    print(f"{witness.__name__:24}", *("wrong     " if wrong[n] else "-         " for n in keeping))
    assert wrong[own]  # each convicts its own suspect

# %% [markdown]
# The diagonal is full. A witness may also convict a second suspect: two faults may have one cause.
# Keep witnesses in your test suite. They are fast, and their names tell what a pass must not forget.
#
# This loop makes a witness smaller. It tries to remove each call once, and keeps a removal if the rest still convicts. (`minimize` of the deep dive 9c tries more.)


# %%
def smaller(witness: type[nn.Module], suspect: Callable) -> fx.GraphModule:
    """A witness's trace, without the calls that it does not need."""
    gm = fx.symbolic_trace(witness().eval())

    def convicts(gm: fx.GraphModule) -> bool:
        before, changed = run_of(gm, witness.inputs), copy.deepcopy(gm)
        return not isinstance(before[0], type) and not same(
            before, run_of(suspect(changed), witness.inputs)
        )

    for name in [n.name for n in reversed(gm.graph.nodes) if n.op.startswith("call")]:
        tried = copy.deepcopy(gm)
        node = next(n for n in tried.graph.nodes if n.name == name)
        if node.all_input_nodes:
            node.replace_all_uses_with(node.all_input_nodes[0])
            tried.graph.erase_node(node)
            tried.recompile()
            gm = tried if convicts(tried) else gm
    return gm


class TooLong(Kept):
    def forward(self, x):
        a = x.sin().clone()
        b = x.exp().clone()
        return a + b.mul_(x).abs() + x.clone().add_(1)


small = smaller(TooLong, without_clone)
print(len(fx.symbolic_trace(TooLong()).graph.nodes), "nodes, now", len(small.graph.nodes))
draw(small)

# %% proof=true
assert len(small.graph.nodes) < len(fx.symbolic_trace(TooLong()).graph.nodes)

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them happen. (4 minutes)
#
# ### The comma is missing
#
# A tuple with one item needs a comma. Without it, the parentheses mean nothing:

# %%
print(isinstance((torch.ones(2)), tuple), isinstance((torch.ones(2),), tuple))

# %% proof=true
assert not isinstance((torch.ones(2)), tuple) and isinstance((torch.ones(2),), tuple)

# %% [markdown]
# **Right:** `inputs = (torch.ones(2),)`.
#
# ### The inputs belong to an object


# %%
class OwnInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs = (torch.ones(2),)


hasattr(OwnInputs, "inputs")

# %% proof=true
assert not hasattr(OwnInputs, "inputs")  # only its objects have it

# %% [markdown]
# **Right:** write `inputs = …` in the body of the class. Then it is known without a model.
#
# ### A copy of each tensor
#
# `copy.deepcopy(inputs)` keeps aliases among the arguments. A copy of each tensor loses them:

# %%
base = torch.zeros(2)
for a, b in (copy.deepcopy((base, base[:1])), (base.clone(), base[:1].clone())):
    b.add_(1)
    print(a)

# %% proof=true
a, b = copy.deepcopy((base, base[:1]))
b.add_(1)
assert a.tolist() == [1.0, 0.0]  # still one memory

# %% [markdown]
# ### A witness that tells a trace from a run
#
# Can you win with a trick like this?


# %%
class Trick(Kept):
    def forward(self, x):
        return x.clone().mul_(3) if isinstance(x, fx.Proxy) else x


trace = fx.symbolic_trace(Trick())
print("wrong on the trace:", suspect_is_wrong(Trick, without_clone))
print("trace and model:", run_of(trace, Trick.inputs), run_of(Trick(), Trick.inputs))

# %% proof=true
assert suspect_is_wrong(Trick, without_clone)
assert not same(run_of(trace, Trick.inputs), run_of(Trick(), Trick.inputs))

# %% [markdown]
# No. This trace does not do what its model does, and the card says *not the same every time*.
# A `forward` that counts its calls gets this card, too.
#
# ### The witness is right, and the suspect is too
#
# A test must fail for the right reason. Before you report a fault, compare with a second pass that you trust.
# If that one differs, too, then your model is outside the task.

# %% [markdown]
# ## Recap
#
# 1. A witness is a model with inputs on which a pass is wrong. The smaller, the better.
# 2. "The same" includes dtypes, shapes, structure, and the arguments afterwards. Seeds and copies belong to the comparison.
# 3. Rules of arithmetic end at infinities, NaN, zeros with signs, and integers.
# 4. One tensor instead of two is an alias. A change in place makes it visible.
# 5. Ask for targets, not names; for effects, not readers; for readers of weights, not only readers of values.
#
# ## Cheat sheet
#
# | question | where to look |
# |---|---|
# | What does a node call? | `node.op`, `node.target`; never `node.name` |
# | Does PyTorch think that a call has an effect? | `node.is_impure()`, which knows neither methods in place nor `F.dropout` |
# | Which dtype does a sum or product have? | `torch.result_type(a, b)` |
# | Do two tensors share memory? | `a.data_ptr() == b.data_ptr()` for whole tensors |
# | Are two results the same? | `torch.testing.assert_close(a, b, equal_nan=True)` |
# | Which other nodes call this layer? | all nodes whose target leads to the same object: `gm.get_submodule(n.target) is layer` |
# | Which nodes read its weight? | these, `get_attr` nodes, and calls of layers that hold the same parameter |
#
# See how far you are:

# %%
progress()


# %% proof=true
class Reader(nn.Linear):
    def forward(self, x):
        return self.weight.sum()


assert ("get_attr", "weight") in {
    (n.op, n.target) for n in fx.symbolic_trace(Reader(3, 2)).graph.nodes
}
assert impure(lambda x: (F.dropout(x), x.relu_())) == []
assert all(
    tied.get_submodule(n.target) is tied.first
    for n in tied.graph.find_nodes(op="call_module", target="first")
)

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | a duel with a snippet of PyTorch's documentation | the deep dive `03b_effects`, section 3b.6 |
# | comparing two models, and finding the first bad pass | chapter 9 |
# | a fusion that asks all readers | chapters 10 and 15 |
# | passes on graphs without calls in place | chapters 11 and 12 |
#
# The faults are known. `eliminate_dead_code` and methods in place: [issue 68301](https://github.com/pytorch/pytorch/issues/68301).
# `fuse` and a convolution that is called twice: [issue 104593](https://github.com/pytorch/pytorch/issues/104593).
# (`torch.fx.experimental.optimization` and `torch.fx.passes` are not promised to stay as they are.)
