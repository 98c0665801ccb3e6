# %% [markdown]
# # 3 · Direct manipulation
#
# **After this chapter you can change a model that you did not write, one node at a time, and know what else your change does.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 and 2: you can trace a model and read its graph |
# | **Time** | about 120 minutes, 54 of them for the exercises; the minutes of a section include its exercises. Take two sittings, with a break after 3.3 |
# | **After it** | the deep dive `03b_effects`: probes, dead code, parameters that are fixed for good, passes in a row, and a duel |
#
# **When you are done, you can**
#
# 1. edit the graph of a traced model and bring its code up to date;
# 2. recognize one operation in each of its spellings;
# 3. insert a node at the right place and rewire the readers of a value;
# 4. replace calls of modules, shared ones too, without a change to the model you were given;
# 5. delete nodes in an order that FX allows, with the modules that are no longer called;
# 6. run two passes one after the other, and test the result against a model that was changed without FX.

# %% [markdown]
# ## A story
#
# The other team sends you GoogLeNet again.
# It must run on a chip that does not have ReLU, only GELU.
# And the dropout layer must go, because it is not needed after training.
#
# You may not edit their source code. So you edit the graph.
#
# A function that takes a model and returns a changed one is called a **pass**.
# Every pass of this chapter has the same frame:
#
# ```python
# def some_pass(model: nn.Module) -> fx.GraphModule:
#     gm = fx.symbolic_trace(model)   # a graph of your own
#     ...                             # edit gm.graph
#     gm.graph.lint()                 # after you insert or erase: it finds many broken graphs
#     gm.recompile()                  # generate the code from the edited graph
#     return gm
# ```
#
# A pass has one more duty: **it does not change the model that it was given.**

# %%
import operator
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder import check, draw, drill, fails, hint, progress

torch.manual_seed(3)
print(torch.__version__)


def node_called(gm: fx.GraphModule, name: str) -> fx.Node:
    """The node of that name. For pictures and experiments; a pass does not search by name."""
    return next(node for node in gm.graph.nodes if node.name == name)


# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the number.** A `forward` returns `torch.topk(x, 2)[0]`. How many nodes are between `x` and the output?
#
# <details><summary>One</summary>
#
# No. Taking the first result is a call, too.
# </details>
# <details><summary>Two</summary>
#
# Right. `torch.topk` is one node, and a call of `operator.getitem` reads its first result (section 2.3).
# </details>
# <details><summary>Three: `topk` returns two tensors</summary>
#
# No. A call is one node, whatever it returns. The second tensor is not read, so it has no node.
# </details>

# %% proof=true
_, *between, _ = fx.symbolic_trace(lambda x: torch.topk(x, 2)[0]).graph.nodes
assert [node.target for node in between] == [torch.topk, operator.getitem]

# %% [markdown]
# **Predict the result.** A model calls `F.dropout(x, training=self.training)`. You trace it in training mode, then call `gm.eval()`. Does `gm` drop values?
#
# <details><summary>Yes</summary>
#
# Right. Tracing wrote <code>training = True</code> into the graph, and <code>eval()</code> does not change a graph (section 1.5).
# </details>
# <details><summary>No, because <code>eval()</code> switches it off</summary>
#
# <code>eval()</code> sets flags of modules. This call reads no flag any more.
# </details>
# <details><summary>It raises an error</summary>
#
# No. This is one of the silent cases.
# </details>


# %% proof=true
class Drops(nn.Module):
    def forward(self, x):
        return F.dropout(x, training=self.training)


gm = fx.symbolic_trace(Drops().train()).eval()
assert (gm(torch.ones(100)) == 0).any()

# %% [markdown]
# ## 3.1 Trace, edit, recompile
#
# The easiest edit changes what a node calls.
# For a `call_function` node, `node.target` is the function itself.
# You may assign another one.


# %%
class Wave(nn.Module):
    def forward(self, x):
        return torch.sin(x) + torch.sin(2 * x)


gm = fx.symbolic_trace(Wave())
for node in gm.graph.nodes:
    if node.op == "call_function" and node.target is torch.sin:
        node.target = torch.cos


# %% [markdown]
# The graph says `torch.cos` now, and the code is still the old one: it is **stale** (section 2.6).
# `gm.recompile()` generates it again. Do it once, at the end of your edits.

# %%
x = torch.zeros(3)
print("stale:     ", gm(x))
gm.recompile()
print("recompiled:", gm(x))

# %% proof=true
assert "torch.sin" not in gm.code and torch.equal(gm(x), torch.full((3,), 2.0))
edited = fx.symbolic_trace(Wave())
for node in edited.graph.find_nodes(op="call_function", target=torch.sin):
    node.target = torch.cos
assert torch.equal(edited(x), torch.zeros(3))  # the old code still runs

# %% [markdown]
# **Predict the graph.** What are the *names* of the two cosine nodes now?
#
# <details><summary>`sin` and `sin_1`</summary>
#
# Right. A name is only a label. It does not follow the target.
#
# </details>
# <details><summary>`cos` and `cos_1`</summary>
#
# No. FX chooses a name when it makes a node. You made no node.
#
# </details>
# <details><summary>They have none until you trace again</summary>
#
# No. Every node has a name. A second trace would choose new ones.
#
# </details>

# %% proof=true
for traced, names in [(gm, ["sin", "sin_1"]), (fx.symbolic_trace(gm), ["cos", "cos_1"])]:
    assert [n.name for n in traced.graph.nodes if n.target is torch.cos] == names

# %% [markdown]
# Note that `node.target is torch.sin` compares function objects, not text:
# `torch.sin` and `math.sin` have the same `__name__`.
#
# As a pass, the same edit looks like this:


# %%
def sin_to_cos(model: nn.Module) -> fx.GraphModule:
    """Replace every call of `torch.sin` by a call of `torch.cos`."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target is torch.sin:
            node.target = torch.cos
    gm.recompile()
    return gm


wave = Wave()
changed = sin_to_cos(wave)
print(changed.code)
draw.diff(fx.symbolic_trace(wave), changed)

# %% proof=true
import math

x = torch.randn(4)
torch.testing.assert_close(changed(x), torch.cos(x) + torch.cos(2 * x))
torch.testing.assert_close(wave(x), torch.sin(x) + torch.sin(2 * x))  # unchanged
assert torch.sin.__name__ == math.sin.__name__ and torch.sin is not math.sin

# %% [markdown]
# Why trace when the model may be a `GraphModule` already?
# Because the caller still uses its graph.
# `symbolic_trace` makes a new graph of it, and you edit that one.
# Section 3b.4, in the deep dive `03b_effects`, shows what a second trace loses.

# %%
theirs = fx.symbolic_trace(Wave())
yours = sin_to_cos(theirs)
print(theirs.code, yours.code)

# %% proof=true
assert yours.graph is not theirs.graph
assert "torch.sin" in theirs.code and "torch.cos" in yours.code

# %% [markdown]
# **Predict the graph.** How many nodes does `sin_to_cos` change in this function?
#
# ```python
# def f(x):
#     return torch.sin(x) + torch.sin(input=x) + x.sin()
# ```
#
# <details><summary>One</summary>
#
# One too few. `torch.sin(input=x)` calls the same function.
# Its node has the same target; only its argument is in `kwargs`.
#
# </details>
# <details><summary>Two</summary>
#
# Right. The method call `x.sin()` becomes a `call_method` node with the string `"sin"` as its target.
# The pass does not look for that. The next section does.
#
# </details>
# <details><summary>Three</summary>
#
# One too many. `x.sin()` computes the same, but it is another kind of node: `call_method`.
#
# </details>


# %% proof=true
def f(x):
    return torch.sin(x) + torch.sin(input=x) + x.sin()


targets = [n.target for n in sin_to_cos(f).graph.nodes]
assert targets.count(torch.cos) == 2 and targets.count("sin") == 1

# %% [markdown] card="retarget"
# Make a general tool of `sin_to_cos`.
#
# **Given** a model and two functions, `old` and `new`.
#
# **Return** a new `GraphModule` in which every `call_function` node whose target is `old`
# calls `new` instead, with the same arguments, positional and keyword.
# All other nodes are still there, under the same names.
#
# **Do not** change the model you were given.


# %%
def before(x, y):
    return torch.maximum(x, y) - torch.maximum(x, x * y)


# What retarget(before, torch.maximum, torch.minimum) must do: two nodes change, and keep their names.
asked = fx.symbolic_trace(before)
for name in ("maximum", "maximum_1"):
    node_called(asked, name).target = torch.minimum
asked.recompile()
draw.diff(fx.symbolic_trace(before), asked)


# %% solve="retarget"
def retarget(model: nn.Module, old: Callable[..., Any], new: Callable[..., Any]) -> fx.GraphModule:
    """Replace every call of the function `old` in `model` by a call of `new`.

    Args:
        model: the module to trace; it is not changed.
        old: the function whose calls are replaced.
        new: a function that takes the same arguments.
    """
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is old:  # only a `call_function` node has a function as its target
            node.target = new
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="retarget"
check(retarget)

# %% hint="retarget"
hint("retarget")

# %% [markdown]
# ## 3.2 One operation, many spellings
#
# People write a subtraction in many ways.
# FX records what they wrote, not what they meant.
# So one operation comes in several kinds of node:


# %%
class Minus(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("offset", torch.ones(3))

    def forward(self, x, y):
        a = x - y  # an operator
        b = 2 - a  # a reflected operator: a number on the left
        c = self.weight - b  # a parameter on the left
        d = self.offset - c  # a buffer on the left
        e = torch.sub(d, y)  # a function
        f = torch.sub(e, y, alpha=2)  # a function: e - 2 * y
        g = f.sub(y)  # a method
        g -= y  # this looks like an in-place operator
        return g.sub_(y)  # an in-place method


for node in fx.symbolic_trace(Minus()).graph.nodes:
    if node.op.startswith("call"):
        print(node.format_node())

# %% [markdown]
# Read the list slowly, next to the code.
#
# * `2 - a` is `operator.sub` with the number as the first argument.
#   So `node.args[0]` is not always a node.
# * `g -= y` on a Proxy is an ordinary subtraction.
#   A Proxy has no in-place operators, so Python falls back to `g = g - y`. The change in place is lost (chapter 1).
#   You find `operator.isub` in graphs of `torch.compile` (chapter 11).
# * A buffer is a real tensor while you trace.
#   The tensor, not the Proxy, handles the operator, and it reports a call of the method `sub`.
#   (A parameter of the traced module is handed out as a Proxy, so it behaves like `x`.)
# * `torch.sub(x, y, alpha=2)` means `x - 2 * y`. The target alone does not tell you that.

# %% proof=true
recorded = [(n.op, n.target) for n in fx.symbolic_trace(Minus()).graph.nodes]
a, b, parameter, buffer, *others, method, minus_is, in_place = [
    call for call in recorded if call[0].startswith("call")
]
assert a == b == parameter == minus_is == ("call_function", operator.sub)
assert others == [("call_function", torch.sub)] * 2
assert buffer == method == ("call_method", "sub") and in_place == ("call_method", "sub_")
assert not hasattr(fx.Proxy, "__isub__") and hasattr(operator, "isub")

# %% [markdown]
# A pass that must find *every* spelling lists them.
# Here is a worked example with an operation of one argument.
# Every negation becomes an absolute value:


# %%
def neg_to_abs(model: nn.Module) -> fx.GraphModule:
    """Replace every negation by an absolute value: `-x`, `torch.neg(x)` and `x.neg()`."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target in (operator.neg, torch.neg):
            node.target = torch.abs
        elif node.op == "call_method" and node.target == "neg":
            node.target = "abs"  # the target of a method call is its name
    gm.recompile()
    return gm


class Negations(nn.Module):
    def forward(self, x):
        return -x, torch.neg(x), torch.neg(input=x), x.neg(), x.clone().neg_()


print(neg_to_abs(Negations()).code)  # `neg_` is another operation and stays

# %% proof=true
x = torch.randn(3)
*first, last = neg_to_abs(Negations())(x)
for value in first:
    assert torch.equal(value, x.abs())
assert torch.equal(last, -x)

# %% [markdown]
# Here is a model that multiplies:


# %%
class Scales(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("gain", torch.ones(3))

    def forward(self, x):
        y = self.gain * (2 * x).exp()
        y *= x
        return torch.mul(input=y, other=3) + y.mul(y)


scales = fx.symbolic_trace(Scales())

# %% [markdown]
# **Drill 03.2a.** Write the list of the names of all nodes of `scales` that multiply, in the order of the graph.

# %% drill=true
spellings = (operator.mul, torch.mul, "mul")
products = [node.name for node in scales.graph.nodes if node.target in spellings]
drill("03.2a", products)
# Mistake: Not every multiplication has a function as its target.
# products = [n.name for n in scales.graph.nodes if n.target in (operator.mul, torch.mul)]

# %% [markdown]
# In `neg_to_abs`, `torch.neg(input=x)` works without extra care: `torch.abs` calls its argument `input`, too.
# Compare the parameters of the old and the new function before you keep `node.kwargs`.
# Here they do not fit. `torch.div` does not have an `alpha`:


# %%
def f(x, y):
    return torch.sub(x, y, alpha=1)


gm = fx.symbolic_trace(f)
for node in gm.graph.nodes:
    if node.target is torch.sub:
        node.target = torch.div
gm.recompile()
print(gm.code)
with fails(TypeError):
    gm(torch.ones(2), torch.ones(2))

# %% [markdown]
# The call must lose that argument. Arguments are immutable (section 2.2), so assign new ones:

# %%
call = node_called(gm, "sub")
call.kwargs = {key: value for key, value in call.kwargs.items() if key != "alpha"}
gm.recompile()
print(gm.code)

# %% proof=true
assert torch.equal(gm(torch.full((2,), 6.0), torch.full((2,), 3.0)), torch.full((2,), 2.0))

# %% [markdown] card="add_to_mul"
# **Given** a model that adds tensors and numbers.
#
# **Return** a new `GraphModule` in which every addition is a multiplication of the same two values.
# An addition is written `torch.add(a, b)`, `a + b` (also `2 + x`, and a buffer `+ x`), or `a.add(b)`,
# with positional or keyword arguments.
#
# * An addition with an `alpha` other than 1 stays as it is.
# * An addition with `alpha=1` becomes a multiplication. A multiplication does not have an `alpha`.
# * In-place additions stay as they are: `a.add_(b)`, and nodes that call `operator.iadd`.
#
# **Do not** change the model you were given.
#
# **Fine print**
#
# If `alpha` is computed in the model, it is a node, so it is not 1. Models also add *sizes*, as in `x.shape[0] + 1`.
# A good pass leaves those alone; the check does not try them.


# %%
def before(x, y):
    a = torch.add(x, y, alpha=3)
    b = torch.add(a, y)
    c = 2 + b
    return c.add(y)


asked = fx.symbolic_trace(before)
for name, target in [("add_1", torch.mul), ("add_2", operator.mul), ("add_3", "mul")]:
    node_called(asked, name).target = target
asked.recompile()
draw.diff(fx.symbolic_trace(before), asked)


# %% solve="add_to_mul"
### BEGIN SOLUTION
def is_size(node: fx.Node) -> bool:
    """Whether a node's value is a size, or is computed from sizes alone."""
    if node.target is getattr:
        return node.args[1] in ("shape", "ndim")
    if node.op == "call_method":
        return node.target in ("size", "dim", "numel")
    of_python = getattr(node.target, "__module__", "") == "_operator"
    return of_python and all(map(is_size, node.all_input_nodes))


### END SOLUTION


def add_to_mul(model: nn.Module) -> fx.GraphModule:
    """Replace every addition of `model` by a multiplication, however it is written.

    Additions in place, and those with an `alpha` other than 1, are left as they are.
    """
    ### BEGIN SOLUTION
    functions = {operator.add: operator.mul, torch.add: torch.mul}
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        # `a + alpha * b` is more than a sum. An alpha that is a Node is not equal to 1 either.
        if node.kwargs.get("alpha", 1) != 1 or all(map(is_size, node.all_input_nodes)):
            continue
        if node.op == "call_function" and node.target in functions:
            node.target = functions[node.target]
        elif node.op == "call_method" and node.target == "add":
            node.target = "mul"
        else:
            continue
        node.kwargs = {key: value for key, value in node.kwargs.items() if key != "alpha"}
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="add_to_mul"
check(add_to_mul)

# %% hint="add_to_mul"
hint("add_to_mul")

# %% [markdown]
# ## 3.3 Insert a node
#
# An insertion is three decisions: **where** the node goes, **what** it reads, and **who** reads it.
#
# Take this function. For large `x`, `exp` overflows to infinity.


# %%
def scores(x):
    e = torch.exp(x)
    return e / e.sum(), e


gm = fx.symbolic_trace(scores)
draw(gm)

# %% [markdown]
# **Where.** A graph is an ordered list of nodes, and the code follows that order.
# `graph.inserting_before(node)` and `graph.inserting_after(node)` set the place for new nodes.
# Without them, a new node goes after the output, where it never runs (section 2.4).
#
# A first insertion: *before* `exp`, and only `exp` reads the new node.
# Nothing else is rewired, so setting the arguments of one node is enough.

# %%
exp = node_called(gm, "exp")
with gm.graph.inserting_before(exp):
    clamp = gm.graph.call_function(torch.clamp, (exp.args[0],), {"max": 80.0})
exp.args = (clamp,)
gm.recompile()
print(gm.code)

# %% proof=true
limited = torch.exp(torch.tensor([80.0, 0.0]))
torch.testing.assert_close(gm(torch.tensor([1000.0, 0.0]))[1], limited)

# %% [markdown]
# **Who.** Now the other direction: *after* `exp`, and every reader of `exp` must read the new node.
# `node.replace_all_uses_with(new)` rewires all readers of `node`, including the output.
# The obvious code has a trap. PyTorch's own documentation has it ([issue 118626](https://github.com/pytorch/pytorch/issues/118626)):

# %%
gm = fx.symbolic_trace(scores)
exp = node_called(gm, "exp")
with gm.graph.inserting_after(exp):
    clamp = gm.graph.call_function(torch.clamp, (exp,), {"max": 100.0})
rewired = exp.replace_all_uses_with(clamp)
print(gm.graph)
print("rewired:", rewired)
with fails(RuntimeError):
    gm.graph.lint()

# %% proof=true
assert clamp.args == (clamp,)

# %% [markdown]
# *All* uses means all. The new node reads `exp` as well, so it was rewired too, and now it reads itself.
# We call that a **self-loop**.
#
# `lint` finds it, and the printed code shows it. `recompile` does not complain, and the module fails when it is called:

# %%
gm.recompile()
print(gm.code)
with fails(UnboundLocalError):
    gm(torch.ones(2))
draw(gm)

# %% [markdown]
# There are three ways out. The first repairs the new node after everything is rewired:

# %%
clamp.args = (exp,)
gm.graph.lint()
gm.recompile()
draw.diff(fx.symbolic_trace(scores), gm)

# %% proof=true
assert clamp.args == (exp,) and list(exp.users) == [clamp]

# %% [markdown]
# The second leaves the new node out when it rewires:

# %%
gm = fx.symbolic_trace(scores)
exp = node_called(gm, "exp")
with gm.graph.inserting_after(exp):
    clamp = gm.graph.call_function(torch.clamp, (exp,), {"max": 100.0})
exp.replace_all_uses_with(clamp, delete_user_cb=lambda user: user is not clamp)
print("clamp reads", clamp.args, "and exp is read by", list(exp.users))

# %% proof=true
gm.graph.lint()
assert clamp.args == (exp,) and list(exp.users) == [clamp]
noted = fx.symbolic_trace(scores)
old = node_called(noted, "exp")
old.meta["note"] = 1
with noted.graph.inserting_after(old):
    new = noted.graph.call_function(torch.sin, (old.args[0],))
assert new.meta == {}
old.replace_all_uses_with(new, propagate_meta=True)
assert new.meta == {"note": 1}

# %% [markdown]
# The function decides for each reader whether it must be rewired.
# `node.meta` is a dictionary for notes (chapter 6). That of a new node is empty.
# With `propagate_meta=True`, `replace_all_uses_with` copies the notes of the old node into it.
#
# In the third way, the new node reads nothing until the others are rewired. You see it below, in `clamp_after_exp`.
#
# Take `means`. Its new node `limit` has no readers yet:


# %%
def means(x):
    total = x.sum()
    return x / total, torch.sqrt(total)


limited = fx.symbolic_trace(means)
total = node_called(limited, "sum_1")
with limited.graph.inserting_after(total):
    limit = limited.graph.call_function(torch.clamp, (total,), {"min": 1.0})
print(limited.graph)

# %% proof=true
assert list(total.users)[2:] == [limit] and not limit.users

# %% [markdown]
# **Drill 03.3a.** Only the square root must read `limit` instead of `sum_1`. Write a dictionary: for the name of each
# user of `total`, the answer, True or False, that `delete_user_cb` must return for it. Leave the graph as it is.

# %% drill=true
answers = {user.name: user.target is torch.sqrt for user in total.users}
drill("03.3a", answers)
# Mistake: A node that you made is a user, too, if it reads the value.
# answers = {"truediv": False, "sqrt": True}

# %% [markdown]
# **While you loop.** A loop over `graph.nodes` follows the list as it is *now*.
# It also visits a node that you insert after the current one.
# If that node matches your condition too, the loop never ends.
# So take a copy of the list first: `for node in list(graph.nodes)`.
# Then only the nodes that were there before your first edit are visited.

# %% proof=true
gm = fx.symbolic_trace(scores)
rounds = 0
for node in gm.graph.nodes:
    if node.target is torch.exp:
        with gm.graph.inserting_after(node):
            gm.graph.call_function(torch.exp, (node,))
        rounds += 1
        if rounds == 5:  # otherwise it would never end
            break
assert sum(n.target is torch.exp for n in gm.graph.nodes) == 6

# %% [markdown]
# Now everything together, as a pass:


# %%
def clamp_after_exp(model: nn.Module) -> fx.GraphModule:
    """Limit every value of `torch.exp` to 100, for all its readers."""
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.target is torch.exp:
            with gm.graph.inserting_after(node):
                clamp = gm.graph.call_function(torch.clamp, (), {"max": 100.0})
            node.replace_all_uses_with(clamp)
            clamp.args = (node,)
    gm.graph.lint()
    gm.recompile()
    return gm


gm = clamp_after_exp(scores)
shares, values = gm(torch.tensor([1000.0, 0.0]))
print(shares, values)

# %% proof=true
assert values.max() == 100 and torch.equal(shares, values / 101)  # all three readers

# %% [markdown]
# **Predict the graph.** A function returns `torch.cat([e, e])` with `e = torch.exp(x)`.
# What are the arguments of `cat` after the pass?
#
# <details><summary><code>([exp, exp],)</code>: lists are not searched</summary>
#
# No. `replace_all_uses_with` looks into lists, tuples, dictionaries and slices.
#
# </details>
# <details><summary><code>([clamp, exp],)</code>: one use is replaced</summary>
#
# No. *All* uses are replaced, even two in one node.
#
# </details>
# <details><summary><code>([clamp, clamp],)</code></summary>
#
# Right. `users` lists `cat` once, although it reads `exp` in two places. Both are replaced, however deeply they are nested.
#
# </details>


# %% proof=true
gm = clamp_after_exp(lambda x: torch.cat([torch.exp(x)] * 2))
assert len([n for n in gm.graph.nodes if n.target is torch.exp]) == 1
clamp = node_called(gm, "clamp")
assert node_called(gm, "cat").args == ([clamp, clamp],)

# %% [markdown] card="relu_after_add"
# **Given** a model that adds tensors.
#
# **Return** a new `GraphModule` with one call of `torch.relu` after every call of `torch.add` or `operator.add`.
# Every node that read the sum now reads the relu, including the output. Only the relu reads the sum.
# Sums of sizes, such as `x.shape[0] + 1`, do not count, and the check does not try them.
#
# **Do not** touch the method `a.add(b)`, and do not change the model you were given.


# %%
def before(x, y):
    a = torch.add(x, y)
    return a, a + torch.sin(a)


def after(x, y):
    a = torch.relu(torch.add(x, y))
    return a, torch.relu(a + torch.sin(a))


draw.diff(fx.symbolic_trace(before), fx.symbolic_trace(after))


# %% solve="relu_after_add"
### BEGIN SOLUTION
def is_size(node: fx.Node) -> bool:
    """Whether a node's value is a size, or is computed from sizes alone."""
    if node.target is getattr:
        return node.args[1] in ("shape", "ndim")
    if node.op == "call_method":
        return node.target in ("size", "dim", "numel")
    of_python = getattr(node.target, "__module__", "") == "_operator"
    return of_python and all(map(is_size, node.all_input_nodes))


### END SOLUTION


def relu_after_add(model: nn.Module) -> fx.GraphModule:
    """Pass the value of every `torch.add` and `operator.add` through `torch.relu`.

    All readers of a sum, including the output, read the relu afterwards.
    """
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op != "call_function" or node.target not in (torch.add, operator.add):
            continue
        if not all(map(is_size, node.all_input_nodes)):  # not for `x.shape[0] + 1`
            with gm.graph.inserting_after(node):
                relu = gm.graph.call_function(torch.relu)
            # The relu reads nothing yet. Otherwise it would be rewired as well.
            node.replace_all_uses_with(relu)
            relu.args = (node,)
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="relu_after_add"
check(relu_after_add)

# %% hint="relu_after_add"
hint("relu_after_add")

# %% [markdown]
# ## 3.4 Modules: replace the call, not the module
#
# A `call_module` node holds a *path*, not a module.
# `gm.get_submodule(node.target)` gives the module at that path.


# %%
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.ELU(), nn.Linear(4, 4))
        self.act = self.body[1]  # the same ELU under a second name

    def forward(self, x):
        return self.act(self.body(x)) + self.body[1](x)


model = Small().eval()
gm = fx.symbolic_trace(model)
for node in gm.graph.nodes:
    if node.op == "call_module":
        print(f"{node.name:8} {node.target:8} {type(gm.get_submodule(node.target)).__name__}")

# %% [markdown]
# Three things to see:
#
# * The ELU is called three times. It has two names, and FX uses the first for all three nodes.
# * One of its names is nested: `body.1`. So `gm.act` is not there, and `getattr(gm, "body.1")` does not work.
#   `get_submodule` follows the dots.
# * Look for the *type*, not for the name.
#   The condition `"act" in node.target` finds nothing here, and in another model it would find an *action head*.
#
# Who owns this module?

# %%
print("the same ELU:      ", gm.get_submodule("body.1") is model.body[1])
print("the same container:", gm.body is model.body)

gm.get_submodule("body.1").alpha = 3.0
print("the caller's alpha:", model.act.alpha)  # you have changed the caller's model
model.act.alpha = 1.0

# %% proof=true
assert not any("act" in node.target for node in gm.graph.find_nodes(op="call_module"))
assert gm.get_submodule("body.1") is model.body[1] and gm.body is not model.body
assert not hasattr(gm, "act") and not hasattr(gm, "body.1")

# %% [markdown]
# A traced module **shares its submodules**, with their parameters, with the original.
# Only containers, such as the `Sequential`, are new.
# So never edit a submodule in a pass, and do not call `.eval()` or `.train()` on it either,
# nor on the result of the trace: `gm.eval()` reaches the caller's submodules (chapter 1, section 1.2).
# Change the *call* instead:
#
# 1. make a new node that computes what you want,
# 2. make all readers of the old node read the new one,
# 3. erase the old node.
#
# This works for each call by itself, so modules with several names or several calls need no extra care.


# %%
def elu_to_softplus(model: nn.Module) -> fx.GraphModule:
    """Call `F.softplus` wherever an `nn.ELU` module was called."""
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and isinstance(gm.get_submodule(node.target), nn.ELU):
            with gm.graph.inserting_before(node):
                new = gm.graph.call_function(F.softplus, node.args, node.kwargs)
            node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.graph.lint()
    gm.recompile()
    return gm


model = Small().eval()
gm = elu_to_softplus(model)
print(gm)
draw.diff(fx.symbolic_trace(model), gm)

# %% proof=true
assert isinstance(model.body[1], nn.ELU)  # the caller still has it
assert [name for name, _ in gm.named_modules()] == ["", "body", "body.0", "body.2"]

# %% [markdown]
# Why is there no self-loop this time? The new node reads the *input* of the old one, not the old one itself.
#
# `gm.delete_all_unused_submodules()` removes the modules that no node calls or reads any more.
# Without it, the ELU would stay in `gm`, although nothing uses it.
#
# In the next model, one `Linear` and one `Tanh` are at two places each:

# %%
layer, act = nn.Linear(4, 4), nn.Tanh()
tied = nn.Sequential(layer, act, nn.Sequential(layer, act))

# %% proof=true
assert len(list(tied.modules())) == 4

# %% [markdown]
# **Drill 03.4a.** You trace `tied`. Write the list of the targets of its `call_module` nodes, in the order of the graph.

# %% drill=true
paths = ["0", "1", "0", "1"]
drill("03.4a", paths)
# Mistake: A target names a module, not a place in the code.
# paths = ["0", "1", "2.0", "2.1"]

# %% [markdown]
# If the new operation has parameters, make it a module.
# Add it under a name of its own, and call that.
# A new module starts in training mode, as float32, on the CPU. Give it the mode and the dtype of its surroundings.

# %%
model = Small().double().eval()
gm = fx.symbolic_trace(model)
prelu = nn.PReLU()
prelu.to(torch.float64).train(model.training)
gm.add_submodule("extra.prelu", prelu)  # containers on the way are made for you
for node in list(gm.graph.nodes):
    if node.op == "call_module" and isinstance(gm.get_submodule(node.target), nn.ELU):
        node.target = "extra.prelu"
gm.delete_all_unused_submodules()
gm.graph.lint()
gm.recompile()
print(gm.code)

# %% proof=true
assert nn.PReLU().training and nn.PReLU().weight.dtype is torch.float32
x = torch.randn(2, 4, dtype=torch.float64)
y = model.body[2](F.prelu(model.body[0](x), prelu.weight))
assert not prelu.training
torch.testing.assert_close(gm(x), F.prelu(y, prelu.weight) + F.prelu(x, prelu.weight))

# %% [markdown]
# **Predict the result.** `nn.ReLU6` limits its values to 6.
# Which of these conditions is **false** for `module = nn.ReLU6()`?
#
# <details><summary><code>isinstance(module, nn.ReLU)</code></summary>
#
# Right, this is false. `ReLU6` is not derived from `ReLU`, in spite of its name.
#
# </details>
# <details><summary><code>isinstance(module, nn.Hardtanh)</code></summary>
#
# This is true. `ReLU6` is derived from `Hardtanh`: it is a `Hardtanh` between 0 and 6.
# So a pass that is meant for `Hardtanh` only must ask for `type(module) is nn.Hardtanh`.
#
# </details>
# <details><summary><code>"ReLU" in type(module).__name__</code></summary>
#
# This is true, and it is true for `PReLU` and `LeakyReLU` too. Comparing text finds too much.
#
# </details>

# %% proof=true
module = nn.ReLU6()
assert not isinstance(module, nn.ReLU)
assert isinstance(module, nn.Hardtanh)
assert all("ReLU" in type(m).__name__ for m in (module, nn.PReLU(), nn.LeakyReLU()))

# %% [markdown]
# One more look at arguments. `F.relu` has a parameter `inplace`, and tracing always records it:


# %%
node = node_called(fx.symbolic_trace(lambda x: F.relu(x)), "relu")
print(node.format_node())

# %% proof=true
assert node.kwargs == {"inplace": False}

# %% [markdown]
# The function that replaces `F.relu` might not accept `inplace`. `F.softplus` and `F.gelu` do not.

# %%
for function in (F.softplus, F.gelu):
    with fails(TypeError):
        function(torch.ones(2), inplace=False)

# %% [markdown] card="relu_to_gelu"
# **Given** a model, in training or in eval mode.
#
# **Return** a new `GraphModule` in which every ReLU is an exact GELU: `F.gelu(x)` or `nn.GELU()`.
# A ReLU is written
#
# * `torch.relu(x)`, `F.relu(x)` (with or without `inplace`), `x.relu()`, or
# * as an `nn.ReLU` module: nested, shared, called twice, or with `inplace=True`.
#
# Calls may use keywords. `nn.ReLU` modules that are no longer called are gone.
#
# **Do not** touch other activations (`nn.ReLU6`, `nn.LeakyReLU`, …), and do not change the model
# you were given. It still has its ReLU modules.
#
# **Fine print**
#
# A leaf module such as `nn.TransformerEncoderLayer` may hold a ReLU of its own. Leave that one unchanged: it belongs to the leaf.
# If the model also calls that ReLU directly, the direct call becomes a GELU like any other.


# %%
class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.ReLU6())

    def forward(self, x):
        return F.relu(self.block(x)) + x.relu()


class After(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.ModuleDict({"0": nn.Linear(4, 4), "2": nn.ReLU6()})

    def forward(self, x):
        y = self.block["2"](F.gelu(self.block["0"](x)))  # the call is replaced
        return F.gelu(y) + F.gelu(x)


draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="relu_to_gelu"
def relu_to_gelu(model: nn.Module) -> fx.GraphModule:
    """Replace every ReLU of `model`, in each of its spellings, by an exact GELU."""
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)

    def is_relu(node: fx.Node) -> bool:
        if node.op == "call_function":
            return node.target in (torch.relu, F.relu)
        if node.op == "call_module":
            return isinstance(gm.get_submodule(node.target), nn.ReLU)
        return node.op == "call_method" and node.target == "relu"

    for node in filter(is_relu, list(gm.graph.nodes)):
        # The value comes by position or by keyword; `inplace` must not reach gelu.
        value = node.args[0] if node.args else node.kwargs["input"]
        with gm.graph.inserting_before(node):
            gelu = gm.graph.call_function(F.gelu, (value,))
        node.replace_all_uses_with(gelu)
        gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="relu_to_gelu"
check(relu_to_gelu)

# %% hint="relu_to_gelu"
hint("relu_to_gelu")

# %% [markdown]
# The track *Essentials* ends here, with the pass of chapter 0's story. Run it on a model of your own, and look at `draw.diff`.
# The track *Core* goes on with section 3.5.

# %% [markdown]
# ## 3.5 Delete a node
#
# `graph.erase_node(node)` deletes a node. It refuses while another node reads it:


# %%
def f(x):
    y = torch.sin(x)
    return torch.cos(y)


gm = fx.symbolic_trace(f)
with fails(RuntimeError):
    gm.graph.erase_node(node_called(gm, "sin"))

# %% [markdown]
# The message lists the users. So a deletion is always **rewire first, then erase**:
# let the readers of the node read something else, then erase it.
# If the operation returns its input, let them read that input.

# %%
sin = node_called(gm, "sin")
sin.replace_all_uses_with(sin.args[0])
gm.graph.erase_node(sin)
gm.recompile()
print(gm.code)

# %% [markdown]
# `nn.Identity` returns its input, so every call can go.
# Note how the pass finds the input: `self.skip(x)` has it in `args`, `self.skip(input=x)` in `kwargs`.


# %%
def remove_identity(model: nn.Module) -> fx.GraphModule:
    """Delete the calls of all `nn.Identity` modules, and the modules."""
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and isinstance(gm.get_submodule(node.target), nn.Identity):
            value = node.args[0] if node.args else node.kwargs["input"]
            node.replace_all_uses_with(value)
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.graph.lint()
    gm.recompile()
    return gm


class Skips(nn.Module):
    def __init__(self):
        super().__init__()
        self.skip = nn.Identity()
        self.last = nn.Identity()

    def forward(self, x):
        y = self.skip(self.skip(input=x))  # a chain, one by keyword
        return self.last(torch.sin(y))  # the output itself


gm = remove_identity(Skips())
print(gm)

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "sin", "output"]
assert not list(gm.children())

# %% [markdown]
# Why does the chain work? The loop comes to the first call of `skip` and rewires its reader, the second call.
# When the loop comes to the second call, `node.args[0]` is `x` already.
# A pass that collects the inputs *before* it edits anything would hold an erased node now.
#
# To erase a chain that is not read, go **backwards**: the last node first.
# Otherwise each node still has a reader when its turn comes.

# %%
gm = fx.symbolic_trace(lambda x: (torch.sin(x).cos().tan(), x)[1])  # a dead chain of three
for node in reversed(list(gm.graph.nodes)):
    if node.op.startswith("call") and not node.users:
        gm.graph.erase_node(node)
print(gm.graph)

# %% proof=true
assert [n.op for n in gm.graph.nodes] == ["placeholder", "output"]

# %% [markdown]
# The next graph has dead nodes that read each other:


# %%
def partly_dead(x):
    a = torch.sin(x)
    b = torch.cos(a)
    c = torch.exp(x)
    a * b
    return c


draw(fx.symbolic_trace(partly_dead))

# %% [markdown]
# **Drill 03.5a.** Erase the dead nodes one by one. Write the list of their names in an order that FX allows.

# %% drill=true
order = ["mul", "cos", "sin"]
drill("03.5a", order)
# Mistake: FX does not erase a node that is still read.
# order = ["sin", "cos", "mul"]

# %% [markdown]
# **Predict the result.** The `remove_identity` above, but without `list(...)`:
# the loop erases the node that it has just reached. What happens?
#
# <details><summary>It skips the node after the erased one</summary>
#
# That is what a Python list does when you delete while you loop. A graph is a linked list:
# an erased node still knows the node that came after it.
#
# </details>
# <details><summary>It works</summary>
#
# Right. Erasing the current node while looping is safe. Inserting may not be, as you saw.
# With `list(...)` both are safe, as long as no step erases a *later* node: the list would still have that one.
#
# </details>
# <details><summary>An exception</summary>
#
# No. A Python dictionary would raise, because its size changed. A graph does not.
#
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x: x.sin().sin().sin().cos())
for node in gm.graph.nodes:
    if node.target == "sin":
        node.replace_all_uses_with(node.args[0])
        gm.graph.erase_node(node)
assert [n.name for n in gm.graph.nodes] == ["x", "cos", "output"]

x, cos, output = listed = list(gm.graph.nodes)
output.args = (x,)
gm.graph.erase_node(cos)  # a later node, when the loop is at `x`
assert cos in listed and cos not in list(gm.graph.nodes)

# %% [markdown]
# Before you write the next pass, look at the family that it must find.
# All dropout layers share a private base class, `_DropoutNd`. `nn.Dropout` is only one of its six subclasses.

# %%
kinds = nn.modules.dropout._DropoutNd.__subclasses__()
print(*[kind.__name__ for kind in kinds])

# %% proof=true
assert len(kinds) == 6 and not any(issubclass(kind, nn.Dropout) for kind in kinds[1:])

# %% [markdown] card="remove_dropout"
# **Given** a model. It may be in training mode; leave it so.
#
# **Return** a new `GraphModule` without any dropout. The result computes what the model
# would compute if every dropout returned its input. A dropout is
#
# * a module: `nn.Dropout`, `nn.Dropout1d`, `nn.Dropout2d`, `nn.Dropout3d`, `nn.AlphaDropout`,
#   `nn.FeatureAlphaDropout`, or
# * a function: `F.dropout` and its siblings `F.dropout1d`, `F.dropout2d`, `F.dropout3d`,
#   `F.alpha_dropout`, `F.feature_alpha_dropout`.
#
# Dropouts may form a chain, be the output itself, get their input by keyword, or be one
# module called twice. Put nothing in their place, not even an `nn.Identity`.
#
# **Do not** change the model you were given, not even its training flags.
#
# **Fine print**
#
# `F.dropout(x)` alone is active even in eval mode. It goes, too. No dropout module is left in the result, except
# inside a leaf such as `nn.TransformerEncoderLayer`: leave those unchanged.


# %%
class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        y = self.drop(self.linear(self.drop(x)))
        return F.dropout(y, 0.5, self.training)


class After(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="remove_dropout"
def remove_dropout(model: nn.Module) -> fx.GraphModule:
    """Delete every dropout of `model`: calls of modules and of functions, and the modules."""
    ### BEGIN SOLUTION
    modules = (
        nn.Dropout,
        nn.Dropout1d,
        nn.Dropout2d,
        nn.Dropout3d,
        nn.AlphaDropout,
        nn.FeatureAlphaDropout,
    )
    functions = (
        F.dropout,
        F.dropout1d,
        F.dropout2d,
        F.dropout3d,
        F.alpha_dropout,
        F.feature_alpha_dropout,
    )
    gm = fx.symbolic_trace(model)

    def is_dropout(node: fx.Node) -> bool:
        if node.op == "call_module":
            return isinstance(gm.get_submodule(node.target), modules)
        return node.op == "call_function" and node.target in functions

    for node in filter(is_dropout, list(gm.graph.nodes)):
        # Read the input now, not before the loop: an earlier dropout may have been it.
        value = node.args[0] if node.args else node.kwargs["input"]
        node.replace_all_uses_with(value)
        gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="remove_dropout"
check(remove_dropout)

# %% hint="remove_dropout"
hint("remove_dropout")

# %% [markdown]
# ## 3.6 The other team's network
#
# Now the two tasks of the story, with the passes that you wrote.
# (If a cell here raises `NotImplementedError`, the exercise it uses is still open.)

# %%
from torchvision.models import googlenet

from autograder.given import assert_same_results, images, make_alive

network = make_alive(googlenet(weights=None, init_weights=False))
image = images(1)

# %% [markdown]
# **Both passes in a row.** To test the result we need what it *must* compute.
# The network with GELU in place of ReLU is made without FX: while it runs, the name `F.relu` means GELU.


# %% uses="remove_dropout"
def count(gm: fx.GraphModule) -> dict[str, int]:
    """How many nodes, ReLUs, GELUs and dropouts there are."""
    targets = [node.target for node in gm.graph.nodes]
    kinds = {"relu": F.relu, "gelu": F.gelu, "dropout": "dropout"}  # the last is a module's path
    return {"nodes": len(targets)} | {kind: targets.count(kinds[kind]) for kind in kinds}


for_the_chip = remove_dropout(relu_to_gelu(network))
print("before", count(fx.symbolic_trace(network)))
print("after ", count(for_the_chip))


def with_gelu(x: torch.Tensor) -> torch.Tensor:
    with patch("torch.nn.functional.relu", lambda x, inplace=False: F.gelu(x)):
        return network(x)


assert_same_results(for_the_chip, with_gelu, image)
with fails(AssertionError):
    assert_same_results(network, with_gelu, image)

# %% proof=true
assert count(fx.symbolic_trace(network)) == {"nodes": 199, "relu": 57, "gelu": 0, "dropout": 1}
assert count(for_the_chip) == {"nodes": 198, "relu": 0, "gelu": 57, "dropout": 0}
assert any(isinstance(module, nn.Dropout) for module in network.modules())

# %% [markdown]
# One branch, before and after:

# %% uses="relu_to_gelu"
branch = network.inception4b.branch2
draw.diff(fx.symbolic_trace(branch), relu_to_gelu(branch))

# %% [markdown]
# ## Common mistakes
#
# Three more are above: the new node reads itself (3.3), the new function does not know an argument (3.4),
# and the input is in `kwargs`, not in `args` (3.5).
#
# ### `setattr` with a dotted name
#
# There is no error, and nothing is replaced: `setattr` makes a key with a dot (the deep dive `02b_lint`).
# **Right:** `gm.add_submodule("0.1", module)` or `gm.set_submodule("0.1", module)`. They follow the dots.
# Do not follow them into a leaf: it belongs to the caller.

# %%
deep = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), nn.TransformerEncoderLayer(4, 1))
gm = fx.symbolic_trace(deep)
setattr(gm, "0.1", nn.GELU())
print("setattr:      ", gm.get_submodule("0.1"))
gm.add_submodule("0.1", nn.GELU())
print("add_submodule:", gm.get_submodule("0.1"))
gm.add_submodule("1.linear1", nn.Linear(4, 7))
print("the caller's: ", deep[1].linear1)  # it was changed

# %% proof=true
assert "0.1" in gm._modules and isinstance(gm.get_submodule("0.1"), nn.GELU)
assert isinstance(deep.get_submodule("0.1"), nn.ReLU)  # the containers are not shared
assert deep[1].linear1.out_features == 7  # the caller's layer was changed

# %% [markdown]
# ### Two nodes inside one `inserting_after`
#
# Each node is put directly after the same place. So the second one comes before the first:

# %%
gm = fx.symbolic_trace(scores)
exp = node_called(gm, "exp")
with gm.graph.inserting_after(exp):
    first = gm.graph.call_function(torch.neg, (exp,))
    second = gm.graph.call_function(torch.abs, (first,))
print([n.name for n in gm.graph.nodes])
with fails(RuntimeError):
    gm.graph.lint()

# %% proof=true
assert exp.next is second and second.next is first

# %% [markdown]
# **Right:** a second `with gm.graph.inserting_after(first)`, or one `inserting_before(exp.next)`.
# Inside one `inserting_before`, nodes keep the order in which you make them.

# %% proof=true
gm = fx.symbolic_trace(scores)
exp = node_called(gm, "exp")
with gm.graph.inserting_before(exp.next):
    first = gm.graph.call_function(torch.neg, (exp,))
    second = gm.graph.call_function(torch.abs, (first,))
gm.graph.lint()
assert exp.next is first and first.next is second

# %% [markdown]
# ## Recap
#
# 1. The code does not follow the graph by itself.
# 2. One operation has many spellings: functions, operators, methods, modules.
# 3. `replace_all_uses_with` rewires *all* readers, the new node too.
# 4. Submodules are shared with the caller: change calls, not modules.
# 5. A pass never changes the model it was given, and the result of one pass is the model of the next.
#
# ### Cheat sheet
#
# | you want | you write |
# |---|---|
# | to call another function | `node.target = new`, and `node.kwargs = {...}` if its parameters differ |
# | to find a call of a function, method, module | `node.target is f` · `node.op == "call_method" and node.target == "f"` · `isinstance(gm.get_submodule(node.target), C)` |
# | a new node | `with graph.inserting_before(node): new = graph.call_function(f, args, kwargs)` |
# | new readers for a value | `node.replace_all_uses_with(new)` |
# | the same, when `new` reads `node` | make `new` without arguments, rewire, then `new.args = (node,)` |
# | another input, another place | `reader.replace_input_with(old, new)` · `a.append(b)`, `a.prepend(b)` |
# | to delete a node | rewire its readers, then `graph.erase_node(node)`; a chain backwards |
# | a module under a path | `gm.add_submodule("a.b", module)`, in the right mode and dtype |
# | to drop modules that are not called | `gm.delete_all_unused_submodules()` |
# | at the end of each pass | `gm.graph.lint()`, `gm.recompile()` |

# %% proof=true
moved = fx.symbolic_trace(lambda x: x.sin() + x.cos())
_, sine, cosine, total, _ = moved.graph.nodes
total.replace_input_with(cosine, sine)
sine.prepend(cosine)
assert total.all_input_nodes == [sine] and sine.prev is cosine
sine.append(cosine)
assert sine.next is cosine

# %%
progress()

# %% [markdown]
# **Not taught here:** probes, dead code and side effects, and what a second trace loses (the deep dive `03b_effects`),
# rewriting by a pattern (chapter 4), new nodes as Python code (chapter 5),
# passes as `Interpreter` or `Transformer` (chapter 6), tracers of your own (chapter 8), testing a pass
# (chapter 9), changing parameters, as in Conv-BN fusion (chapter 10).
#
# **Sources and further reading**
#
# * PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), sections *Writing Transformations* and *Direct Graph Manipulation*.
# * [Writing Graph Transformations on ATen IR](https://docs.pytorch.org/docs/stable/torch.compiler_transformations.html): the same edits on graphs of `torch.export`.
