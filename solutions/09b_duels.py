# %% [markdown]
# # 9b · Break it: duels with passes that look right
#
# **After this chapter you can find the smallest model on which a wrong pass is wrong, and say why.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 4: traces, nodes, passes, patterns. Chapter 9 helps |
# | **Time** | about 115 minutes, 56 of them for seven duels; each duel is a sitting of its own |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. write a witness: a model and inputs on which a pass is wrong, and nothing else is;
# 2. say what must be the same before and after a pass: values, dtypes, shapes, and the arguments afterwards;
# 3. name the numbers that are not ordinary, and what they do to a rule of arithmetic;
# 4. tell a value from a tensor: where two tensors share memory, and who notices;
# 5. tell equal arguments from equal calls;
# 6. say which readers a pass must ask before it changes a weight;
# 7. make a witness smaller, and keep it as a test.

# %% [markdown]
# ## A story
#
# Your team reviews passes. Seven of them lie on your desk. Each is short, each has a test, and each test passes.
# Four are PyTorch's own.
#
# All seven are wrong.
#
# "It looks wrong to me" does not convince the author of a pass. A model on which the pass gives another result does.
# The smaller this model is, the sooner the author sees the fault, and the better it serves as a test.
# A model that convicts a pass is called a **witness** here. In this chapter you write seven of them.
# At the end you meet GoogLeNet, the other team's model. It has 197 calls, and it convicts none of the six passes that should keep its meaning.

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

from autograder import check, draw, fails, hint, progress, suspects
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(9)
print(torch.__version__)

# %% [markdown]
# Two questions on what you know already.
#
# **Predict the result.** From chapter 1: `forward` returns `x + torch.rand(2)`. You trace it, and call the trace twice. What do you get?
#
# <details><summary>Two different results: the noise is drawn in each call.</summary>
#
# No. <code>torch.rand(2)</code> has no Proxy among its arguments. It runs while the model is traced, and not again.
# </details>
# <details><summary>Twice the same result.</summary>
#
# Right. The trace holds the tensor that was drawn while it was made, as a constant. The model itself draws anew in each call, so model and trace do not agree.
# </details>
# <details><summary>A <code>TraceError</code>.</summary>
#
# No. Nothing asks a Proxy for a value here. That is what makes this mistake silent.
# </details>

# %%
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
# Right. A name is made of the target's name, and of a number where that name is taken. So a name says little about what a node calls.
# </details>
# <details><summary><code>torch_sin_1</code></summary>
#
# No. The name of the module is not part of it.
# </details>

# %%
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
# You hand in a class:
#
# * It is made from `nn.Module`, and made without arguments.
# * It has a class attribute `inputs`: one tuple with all the arguments of `forward`.
# * Only PyTorch's own functions, operators, methods and layers are in its trace.
#
# Here is a suspect for practice. Its task is to write `x // n` as `torch.div` with a rounding mode:


# %%
def by_truncation(gm: fx.GraphModule) -> fx.GraphModule:
    """Writes `x // n` as `torch.div`. Is it right?"""
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
# A duel is fought on the **trace** of your model. So we need four steps: make the model, trace it, let the suspect work on a copy,
# and compare two runs. Each run gets copies of its own, because a run may change its arguments. And each run begins
# with the same seed, because a run may draw random numbers.


# %%
def run_of(gm: fx.GraphModule, inputs: tuple) -> tuple[Any, Any]:
    """What a run gives, or the name of what it raised; and the arguments afterwards."""
    args = copy.deepcopy(inputs)
    torch.manual_seed(2007)
    try:
        with torch.no_grad(), contextlib.redirect_stderr(io.StringIO()):
            value = copy.deepcopy(gm)(*args)
    except Exception as error:
        value = type(error)
    return value, args


def same(one: Any, other: Any) -> bool:
    """Same structure, dtypes and shapes, and values that are close; NaN is close to NaN."""
    try:
        torch.testing.assert_close(one, other, equal_nan=True)
    except (AssertionError, TypeError):
        return one is other
    return True


def suspect_is_wrong(witness: type[nn.Module], suspect: Callable) -> bool:
    """Whether a suspect makes something else of a witness's trace."""
    torch.manual_seed(0)
    trace = fx.symbolic_trace(witness().eval())
    before = run_of(trace, witness.inputs)
    try:
        changed = suspect(copy.deepcopy(trace))
    except Exception:
        return True
    return not same(before, run_of(changed, witness.inputs))


assert not suspect_is_wrong(FirstTry, by_truncation)

# %% [markdown]
# `FirstTry` convicts nobody. What is missing: another model, or other inputs?
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


# %%
class Rounded(FirstTry):
    inputs = (torch.tensor([-7]),)


assert suspect_is_wrong(Rounded, by_truncation)
for inputs in (torch.arange(10_000), torch.tensor([7.5])):
    assert torch.equal(inputs // 2, torch.div(inputs, 2, rounding_mode="trunc"))
draw(fx.symbolic_trace(Rounded()))

# %% [markdown]
# One call, one number. That is the shortest witness that there can be. It tells the author of the pass everything:
# what was called, with what, and what came out.
#
# ### The rules
#
# `check` makes your model three times, under the seeds 0, 1 and 2, and puts it into eval mode. It wins if each time
#
# 1. your model and its trace give the same, and two runs of the trace do, too;
# 2. passes that are **right** agree on it, and with your model where the task is to keep its meaning;
# 3. the suspect raises, or gives something else;
# 4. the trace has no more calls than the limit allows. Each `call_…` node counts.
#
# "The same" is what you know from chapter 9: the same structure, dtypes and shapes, values that are close, and the same
# arguments afterwards. So there are five ways to fail, and the card says which one it is:
#
# | the card says | what it means |
# |---|---|
# | not a witness yet | the suspect is right on your model |
# | outside the task | passes that are right differ as well: nobody can say what must come out |
# | it raised … | your model fails by itself, or cannot be traced |
# | not the same every time | the model asks something besides its inputs |
# | too many calls | it convicts the suspect, but it can be smaller |
#
# The second way needs an example. The task is to fuse a BatchNorm into a convolution. Each right fusion rounds at another place.
# With inputs of a million the last digits differ, and nobody can say which are right. Such a model says nothing about a pass.
#
# ### A suspect is no secret
#
# Each suspect is a function: `suspects.by_name(gm)`, for example. Play with it as long as you like.
# To see what it does to *your* trace is the fastest way to a witness:


# %%
def show_what(suspect: Callable, model: nn.Module) -> None:
    """Print a graph's code before and after a pass."""
    gm = fx.symbolic_trace(model.eval())
    print("before:", gm.code.strip().partition("\n")[2].strip())
    print("after: ", suspect(copy.deepcopy(gm)).code.strip().partition("\n")[2].strip())


show_what(by_truncation, Rounded())

# %% [markdown]
# ## 9b.2 What is in a name
#
# FX makes a node's name from its target: the last part of the function's name, in lower case. Look at what begins with `add`:

# %%
beginning_with_add = {
    "add": lambda x: torch.add(x, 1),
    "add_1": lambda x: x + 1 + 2,
    "add_": lambda x: x.add_(1),
    "addmm": lambda x: torch.addmm(x, x, x),
    "addcmul": lambda x: torch.addcmul(x, x, x),
}
for name, f in beginning_with_add.items():
    names = [n.name for n in fx.symbolic_trace(f).graph.nodes]
    print(f"{name:8}", names)
    assert name in names

# %% [markdown]
# A pass that asks `node.name.startswith("add")` finds sums. It finds sums of products, too, and sums in place.
# And it misses a sum that somebody has given another name. The **target** says what a node calls:


# %%
def sums(gm: fx.GraphModule) -> list[str]:
    """The names of the nodes that call `torch.add`."""
    return [n.name for n in gm.graph.nodes if n.op == "call_function" and n.target is torch.add]


gm = fx.symbolic_trace(lambda x: torch.add(x, torch.addmm(x, x, x)))
assert sums(gm) == ["add"]
assert [n.name for n in gm.graph.nodes if n.name.startswith("add")] == ["addmm", "add"]

# %% [markdown] card="WitnessByName"
# **The suspect** is `suspects.by_name`. **Its task:** calls of the functions `torch.relu` and `F.relu` become `F.gelu`; nothing else changes.
# It goes through the `call_function` nodes and knows the right ones by their names.
#
# **Write** the class `WitnessByName`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 2 calls.** The shortest that we know has 1.

# %%
# This is what the suspect does where it is right:
gm = suspects.by_name(fx.symbolic_trace(lambda x: torch.relu(x) + 1))
assert [n.name for n in gm.graph.nodes] == ["x", "gelu", "add", "output"]
draw(gm)


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
# Rules of arithmetic are rules for numbers. A floating point tensor holds a few things more: two infinities, NaN, and a zero with a sign.

# %%
inf, nan = math.inf, math.nan
odd = torch.tensor([inf, -inf, nan, -0.0])
print("x - x:", odd - odd)
print("x * 0:", odd * 0)
print("x / x:", odd / odd)
assert (odd - odd)[:3].isnan().all() and (odd * 0)[:3].isnan().all() and (odd / odd).isnan().all()

# %% [markdown]
# So `x - x` is not always zero, and `x * 0` is not always zero either. An infinity is not exotic. It is what a mask of an attention layer
# is made of, what `torch.log(0)` gives, and what a float16 becomes from 65,520 on:

# %%
assert torch.log(torch.tensor(0.0)) == -inf
assert torch.tensor(65_504.0, dtype=torch.float16) * 2 == inf
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


# %%
def by_masks(x):
    return (x.abs() <= 1) * x + (x > 1) * 1.0 - (x < -1) * 1.0


print("by masks:", by_masks(odd), " right:", F.hardtanh(odd))
assert by_masks(odd)[:3].isnan().all() and by_masks(odd)[3] == 0
assert F.hardtanh(odd)[:2].tolist() == [1.0, -1.0] and F.hardtanh(odd)[2].isnan()

# %% [markdown]
# The operation that *chooses* is `torch.where`. It does not compute with what it does not choose. A product with a mask does.

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
# A node without users looks useless. The exercise `sound_dce` of section 3b.2 shows the other side: some calls are there for what they *do*.
# PyTorch has a pass of its own, `Graph.eliminate_dead_code`. It asks `node.is_impure()` whether a call must stay:


# %%
def impure(f: Callable) -> list[str]:
    """The names of the calls that PyTorch keeps, although nobody reads them."""
    gm = fx.symbolic_trace(f)
    return [n.name for n in gm.graph.nodes if n.op.startswith("call") and n.is_impure()]


def some_dead_calls(x):
    torch.exp(x)
    torch.rand_like(x)
    torch._assert(x.dim() > 0, "one number")
    return x


print(impure(some_dead_calls))
assert impure(some_dead_calls) == ["rand_like", "_assert"]

# %% [markdown]
# It knows random functions. A dead `torch.rand_like` has no effect on tensors, but it moves the random state on, and the next random call
# gives other numbers. And it knows assertions. Neither convicts it.
#
# **Where an effect shows.** There are three places to look: in the result, in the arguments after the run, and in what the model raises.
# A comparison of results alone misses the second. Here is a pass that is wrong in this way: it works on a copy of each argument.


# %%
def on_copies(gm: fx.GraphModule) -> fx.GraphModule:
    """Lets the graph work on copies of its inputs."""
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
# Right. PyTorch says so itself. A trace of a model, as you make it here, may hold any operation.
# </details>
# <details><summary>That names of nodes change.</summary>
#
# No. What stays keeps its name.
# </details>

# %%
warning = " ".join(fx.Graph.eliminate_dead_code.__doc__.split())
assert "you should assume that this method is not sound" in warning
assert "unless you know that your FX graph consists entirely of functional operations" in warning

# %% [markdown] card="WitnessDeadCode"
# **The suspect** is `suspects.dead_code`, which is PyTorch's own `eliminate_dead_code`. **Its task:** take out what nobody reads and what has no effect.
#
# **Write** the class `WitnessDeadCode`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 3 calls.** The shortest that we know has 1.


# %%
def two_dead_calls(x):
    torch.exp(torch.sin(x))
    return torch.cos(x)


gm = suspects.dead_code(fx.symbolic_trace(two_dead_calls))
assert [n.name for n in gm.graph.nodes] == ["x", "cos", "output"]
draw(gm)


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
# `y = x` and `y = x.clone()` have equal values. Two things can still tell them apart.
#
# **The dtype.** A result has a dtype of its own, which follows from *all* operands:

# %%
integers, floats = torch.tensor([1, 2]), torch.tensor([1.0, 2.0])
for what, dtype in (
    (integers * 2, torch.int64),
    (integers / 1, torch.float32),
    (integers.sum() * floats[0], torch.float32),
    (torch.tensor([True]).sum(), torch.int64),
    (floats**2, torch.float32),
):
    assert what.dtype is dtype

# %% [markdown]
# `integers / 1` has the same numbers as `integers`, and it is another tensor for everyone who asks for its dtype:
# an index, a file format, the next `torch.cat`.
#
# **The memory.** A pass takes out `clone`, because a copy has the same values. Who notices? Nobody, until something is changed in place:


# %%
def without_clone(gm: fx.GraphModule) -> fx.GraphModule:
    """Takes out each call of the method `clone`."""
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


assert not suspect_is_wrong(Unnoticed, without_clone)
assert suspect_is_wrong(Kept, without_clone)
draw(fx.symbolic_trace(Kept()))

# %% [markdown]
# After the pass, `before` and `x` are one tensor. It is multiplied, and `before` with it.
# Two names for one piece of memory are **aliases**. A pass that makes one tensor of two makes aliases.
#
# **Predict the result.** In which of these models does `without_clone` do harm?
#
# <details><summary><code>return x.clone().mul_(3)</code></summary>
#
# Right. The result is the same. But now the argument is multiplied, too: look at it after the run.
# </details>
# <details><summary><code>x.mul_(3); return x.clone()</code></summary>
#
# No. The copy is made after the change. Nothing is changed in place behind it.
# </details>
# <details><summary><code>y = x.clone(); return y, y</code></summary>
#
# No. Both are read, and nothing is changed.
# </details>


# %%
class Ends(Kept):
    def forward(self, x):
        return x.clone().mul_(3)


class Begins(Kept):
    def forward(self, x):
        x.mul_(3)
        return x.clone()


assert suspect_is_wrong(Ends, without_clone) and not suspect_is_wrong(Begins, without_clone)

# %% [markdown] card="WitnessPlusZero"
# **The suspect** is `suspects.plus_zero`. **Its task:** take out `x + 0`, `x - 0` and `x * 1`, where that changes nothing.
# The number may be on the left of `+` and `*`, and the call may be an operator, a function such as `torch.add`, or a method.
#
# **Write** the class `WitnessPlusZero`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 3 calls.** The shortest that we know has 1.

# %%
gm = fx.symbolic_trace(lambda x: ((x + 0) * 1 - 0).exp())
assert [n.name for n in suspects.plus_zero(gm).graph.nodes] == ["x", "exp", "output"]
draw(gm)


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
# ## 9b.6 A pattern is blind for what comes after
#
# `fx.replace_pattern` looks for a piece of graph, and puts another one in its place. It compares operations and the edges between them.
# It does not look at what happens *afterwards* to the tensors at its borders.
#
# Take the rule "a transposition of a transposition is nothing". As a statement about values it is true:


# %%
def transposed_twice(a):
    return torch.transpose(torch.transpose(a, 0, 1), 0, 1)


def as_it_was(a):
    return a


gm = fx.symbolic_trace(lambda x: transposed_twice(x).exp())
assert len(fx.replace_pattern(gm, transposed_twice, as_it_was)) == 1
assert [n.name for n in gm.graph.nodes] == ["x", "exp", "output"]

# %% [markdown]
# Here it is even true about tensors: a transposed tensor is a *view*. It has the memory of `x`, so that a change in place reaches `x` with the rule and without it.
# `torch.neg` gives a new tensor. Does the rule "a negation of a negation is nothing" hold for tensors?

# %%
x = torch.zeros(2, 2)
transposed_twice(x).add_(1)
assert x.sum() == 4  # a view: the memory is that of x
y = torch.zeros(2)
assert torch.neg(y).data_ptr() != y.data_ptr()  # new memory

# %% [markdown] card="WitnessDoubleNegation"
# **The suspect** is `suspects.double_negation`. It calls PyTorch's own `fx.replace_pattern`.
# **Its task:** make `a` of `torch.neg(torch.neg(a))`, where that changes nothing.
#
# **Write** the class `WitnessDoubleNegation`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 4 calls.** The shortest that we know has 3.

# %%
gm = suspects.double_negation(fx.symbolic_trace(lambda x: torch.neg(torch.neg(x)).exp()))
assert [n.name for n in gm.graph.nodes] == ["x", "exp", "output"]
draw(gm)


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
# A pass for it keeps a dictionary: the key is the target with its arguments, the value is the node that was seen first.
#
# What is equal in a dictionary? Python decides, and Python is generous:

# %%
seen = {(operator.add, "x", 1): "first"}
assert (operator.add, "x", 1.0) in seen and (operator.add, "x", True) in seen
assert 0.0 == -0.0 and hash(0.0) == hash(-0.0)
assert math.copysign(1, 0.0) != math.copysign(1, -0.0)  # they are not the same number

# %% [markdown]
# The second question is what a call *is*. A call is equal to another one if the operation is a function of its arguments: same arguments, same value.
# Three kinds of operation are not: those that draw random numbers, those that change something, and those whose arguments were changed in between.
#
# PyTorch's `CSEPass` takes a list of operations that must not be joined. What is on it by default?

# %%
assert CSEPass().banned_ops == set()

# %% [markdown]
# Nothing. Its docstring warns: *CSE Pass cannot be safely applied on a FX graph in non-functional dialects.*
# The graphs for which it was written hold operations of ATen, such as `torch.ops.aten.add.Tensor`. A trace of `fx.symbolic_trace` holds anything.

# %%
assert "cannot be safely applied" in CSEPass.__init__.__doc__

# %% [markdown] card="WitnessEqualCalls"
# **The suspect** is `suspects.equal_calls`, which is PyTorch's own `CSEPass`. **Its task:** join equal calls, where that changes nothing.
#
# **Write** the class `WitnessEqualCalls`, a model on which it is wrong, with the class attribute `inputs`.
#
# **At most 3 calls.** The shortest that we know has 2.

# %%
gm = suspects.equal_calls(fx.symbolic_trace(lambda x: torch.exp(x) + torch.exp(x)))
assert [n.name for n in gm.graph.nodes] == ["x", "exp", "add", "output"]
draw(gm)


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
# Some passes change *parameters*. Here is one that makes `layer(x) * 2` faster: it doubles the weights of the linear layer, and takes the product out.


# %%
def doubled(gm: fx.GraphModule) -> fx.GraphModule:
    """Puts a factor of 2 into the linear layer before it."""
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


assert not suspect_is_wrong(Doubled, doubled)
assert suspect_is_wrong(CalledAgain, doubled)

# %% [markdown]
# The pass asks who reads the *value* of the node: `len(linear.users) == 1`. It does not ask who reads the *weights*.
# In the trace of `CalledAgain` two nodes have the same target, and the second one gets weights that were not meant for it.
#
# A layer has more than one road to it: a second call, a second name for the same layer, a parameter that two layers share, or `forward` reading `layer.weight`.
#
# **Statistics that show.** For a BatchNorm, there is one more trap. A new one has the mean 0 and the variance 1, so in eval mode it does almost nothing:

# %%
conv, norm = nn.Conv2d(1, 1, 2).eval(), nn.BatchNorm2d(1).eval()
fresh = fuse_conv_bn_eval(conv, norm)
torch.testing.assert_close(fresh.weight, conv.weight, atol=1e-5, rtol=1e-5)  # nearly the same
norm.running_var.fill_(4.0)
used = fuse_conv_bn_eval(conv, norm)
assert not torch.allclose(used.weight, conv.weight, rtol=0.1)
torch.testing.assert_close(used(torch.ones(1, 1, 3, 3)), norm(conv(torch.ones(1, 1, 3, 3))))

# %% [markdown]
# **Predict the result.** You take a BatchNorm of `conv(x)` that is fresh, and `conv(x)` itself. You call `conv` twice, on numbers around 1. Does the fusion show?
#
# <details><summary>Yes: the second call gets other weights.</summary>
#
# No. It gets other weights, but they differ in the sixth digit. For numbers around 1, that is within the tolerance.
# </details>
# <details><summary>No: the fused weights are nearly the old ones.</summary>
#
# Right. Give the BatchNorm a mean and a variance in <code>__init__</code>, and it shows.
# </details>
# <details><summary>No: PyTorch looks at who reads the weights.</summary>
#
# No. It looks at who reads the value of the convolution's node, and at nothing else.
# </details>

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
assert [n.name for n in fused.graph.nodes] == ["input_1", "_0", "output"]  # the norm is gone
draw(fused)


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
# GoogLeNet is 197 calls long. The review asked for a test on a real model, so the authors have run their passes on it.
# The pass for names is left out, because it *means* to change what a network computes. What do you get from the other six?

# %%
network = make_alive(googlenet(weights=None, init_weights=False, aux_logits=False))
trace = fx.symbolic_trace(network)
image = images(1)
calls = [n for n in trace.graph.nodes if n.op.startswith("call")]
assert len(calls) == 197

keeping = ["relu_rule", "dead_code", "plus_zero", "double_negation", "equal_calls", "shared_conv"]
for name in keeping:
    after = getattr(suspects, name)(copy.deepcopy(trace))
    error = assert_same_results(after, network, image)
    print(f"{name:16} {len(after.graph.nodes) - 2} calls, the difference: {error:.0e}")

# %% [markdown]
# Six suspects, 197 calls, and all of them pass. Only one of them even found something to do: the fusion, whose convolutions here are called once each.
# A large model repeats the same few things. What a pass gets wrong is at the *borders*: an odd number, an alias, a second reader.
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
# The diagonal is full. Elsewhere, a witness may convict a second suspect: two faults may have one cause.
# Keep witnesses in your test suite, one line each. They cost milliseconds, and they say by their names what a pass must not forget.
#
# Here is the loop that makes a witness smaller. It takes out one call after the other, as `minimize` of the deep dive 9c does, and keeps what still convicts:


# %%
def smaller(witness: type[nn.Module], suspect: Callable) -> fx.GraphModule:
    """A witness's trace, without the calls that can go; calls that are read give way to an input."""
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
print([n.name for n in small.graph.nodes if n.op.startswith("call")])
assert len(small.graph.nodes) < len(fx.symbolic_trace(TooLong()).graph.nodes)
draw(small)

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them happen. (7 minutes)
#
# ### The comma is missing
#
# A tuple with one item needs a comma. Without it, the brackets mean nothing:

# %%
assert not isinstance((torch.ones(2)), tuple)
assert isinstance((torch.ones(2),), tuple)

# %% [markdown]
# **Right:** `inputs = (torch.ones(2),)`.
#
# ### The inputs belong to an object


# %%
class OwnInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs = (torch.ones(2),)


assert not hasattr(OwnInputs, "inputs")  # the class has none, only its objects do

# %% [markdown]
# **Right:** write `inputs = …` in the body of the class. Then it is known without a model.
#
# ### A run is given the arguments of the run before
#
# A model that works in place changes its arguments. The second run gets something else:

# %%
shared = torch.zeros(1)
first, second = Counts()(shared).clone(), Counts()(shared).clone()
assert first != second

# %% [markdown]
# **Right:** `copy.deepcopy(inputs)` for each run. One `deepcopy` of the whole tuple keeps aliases among the arguments; a copy of each tensor loses them:

# %%
base = torch.zeros(2)
a, b = copy.deepcopy((base, base[:1]))
b.add_(1)
assert a.tolist() == [1.0, 0.0]  # still one memory

# %% [markdown]
# ### Two runs draw different numbers
#
# Without a seed, a model with `torch.rand_like` differs from itself, and every pass looks wrong:


# %%
class Draws(Kept):
    def forward(self, x):
        return torch.rand_like(x)


trace = fx.symbolic_trace(Draws())
assert not torch.equal(trace(torch.ones(3)), trace(torch.ones(3)))
assert same(run_of(trace, Draws.inputs), run_of(trace, Draws.inputs))  # seeded each time

# %% [markdown]
# ### The comparison is too strict, or too generous
#
# `==` finds NaN different from itself. `torch.allclose` does not look at shapes that broadcast.

# %%
assert not torch.equal(torch.tensor([nan]), torch.tensor([nan]))
assert torch.allclose(torch.ones(3), torch.ones(1))  # another shape!
with fails(AssertionError):
    torch.testing.assert_close(torch.ones(3), torch.ones(1))

# %% [markdown]
# **Right:** `torch.testing.assert_close(one, other, equal_nan=True)`. It compares shape, dtype and structure, and finds NaN close to NaN.
#
# ### A witness that tells a trace from a run
#
# Someone wants to win by a trick:


# %%
class Trick(Kept):
    def forward(self, x):
        return x.clone().mul_(3) if isinstance(x, fx.Proxy) else x


assert suspect_is_wrong(Trick, without_clone)  # on the trace, yes
trace = fx.symbolic_trace(Trick())
assert not same(run_of(trace, Trick.inputs), run_of(Trick(), Trick.inputs))

# %% [markdown]
# The trace is not the model. What it says about the pass is true, but it is no trace of any model, and the card says *not the same every time*.
# The same happens to a `forward` that counts its calls.
#
# ### The witness is right, and the suspect is too
#
# A test that fails convinces only if it fails for the right reason. Compare with a second pass that you trust before you report a fault.
# If that one differs, too, then your model is outside the task.

# %% [markdown]
# ## Recap
#
# 1. A witness is a model with inputs on which a pass is wrong. The smaller, the better.
# 2. "The same" includes dtypes, shapes, structure, and the arguments afterwards. Seeds and copies belong to the comparison.
# 3. Infinities, NaN, zeros with signs, and integers are where rules of arithmetic end.
# 4. One tensor instead of two is an alias. A change in place makes it visible.
# 5. Ask for targets, not names; for effects, not readers; for readers of weights, not only readers of values.
#
# ## Cheat sheet
#
# | question | where to look |
# |---|---|
# | What does a node call? | `node.op`, `node.target`; never `node.name` |
# | Does PyTorch think that a call has an effect? | `node.is_impure()`, which does not know methods in place |
# | Which dtype will come out? | `torch.result_type(a, b)` |
# | Do two tensors share memory? | `a.data_ptr() == b.data_ptr()` for whole tensors |
# | Are two results the same? | `torch.testing.assert_close(a, b, equal_nan=True)` |
# | Who else calls this layer? | all nodes whose target leads to the same object: `gm.get_submodule(n.target) is layer` |
# | Who reads its weight? | `get_attr` nodes, and other layers that hold the same parameter |
#
# See how far you are:


# %%
class Reader(nn.Linear):
    def forward(self, x):
        return self.weight.sum()


assert ("get_attr", "weight") in {
    (n.op, n.target) for n in fx.symbolic_trace(Reader(3, 2)).graph.nodes
}
assert torch.result_type(integers, 0.0) is torch.float32
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | a duel with a snippet of PyTorch's documentation | the deep dive `03b_effects`, section 3b.6 |
# | comparing two models, and finding the first bad pass | chapter 9 |
# | a fusion that asks all readers | chapters 10 and 15 |
# | passes on graphs in which nothing is in place | chapters 11 and 12 |
#
# The faults are known. `eliminate_dead_code` and methods in place: [issue 68301](https://github.com/pytorch/pytorch/issues/68301).
# `fuse` and a convolution that is called twice: [issue 104593](https://github.com/pytorch/pytorch/issues/104593).
# (`torch.fx.experimental.optimization` and `torch.fx.passes` are not promised to stay as they are.)
