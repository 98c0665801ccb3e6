# %% [markdown]
# # 4 · Find and replace: subgraph rewriting
#
# **After this chapter you can write what you look for as one function, what you want instead as another, and let FX do the rest.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, reading a graph, editing single nodes |
# | **Time** | about 115 minutes, 25 of them for the exercises; the minutes of a section include its exercises. Sections 4.1 to 4.3 are a good first sitting |
# | **After it** | the deep dive `04b_matchers`: matchers of your own, for what patterns cannot reach |
#
# **When you are done, you can**
#
# 1. replace a group of nodes with `fx.replace_pattern`, and read what it returns;
# 2. predict, for a pattern and a graph, which places match and why the others do not;
# 3. cover one computation with several patterns, and repeat a rewriting until nothing matches;
# 4. refuse matches with a filter, for conditions that no pattern can express;
# 5. explain why a pattern with modules matches names, and what goes wrong with Conv-BN;
# 6. change a graph so that it has one spelling for each operation, and match then;
# 7. say what an in-place operation does to a match, and refuse such a match;
# 8. run several passes one after the other, and say what a new trace between them loses.

# %%
import copy
import itertools
import operator
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
import torchvision
from torch import fx, nn
from torch.fx.experimental.normalize import NormalizeArgs
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.subgraph_rewriter import Match, replace_pattern_with_filters

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import LinearReLU, assert_same_results, images, make_alive

torch.manual_seed(4)
print(torch.__version__)

# %% [markdown]
# ## A story
#
# The library for your chip is fast if you use its large operations.
# It has one call for a soft plus, one for a SiLU, and one for a hard swish.
#
# The models that other teams give you do not use them.
# They compute the same in small steps: an addition here, a clamp there, a division at the end.
# A model may contain such a group of steps a hundred times.
#
# In chapter 3 you changed single nodes.
# For groups of nodes you want what every text editor has: **find and replace**.

# %% [markdown]
# Two questions on earlier chapters first.
#
# **Predict the result.** You set `node.target = torch.cos` for a node that calls `torch.sin`, and do nothing else. What does `gm(x)` compute?
#
# <details><summary>The sine</summary>
#
# Right. The generated code does not follow the graph until <code>gm.recompile()</code> is called (section 3.1).
#
# </details>
# <details><summary>The cosine</summary>
#
# No. That is what the graph says. <code>gm</code> runs code that was generated earlier.
#
# </details>

# %% proof=true
sine = fx.symbolic_trace(lambda x: torch.sin(x))
_, called, _ = sine.graph.nodes
called.target = torch.cos
assert torch.equal(sine(torch.zeros(1)), torch.zeros(1))  # sin(0); cos(0) would be 1
sine.recompile()
assert torch.equal(sine(torch.zeros(1)), torch.ones(1))


# %% [markdown]
# **Predict the graph.** A trace has `torch.relu(x)`, `x.relu()` and a call of an `nn.ReLU`. How many kinds of node are these?
#
# <details><summary>One, because all three compute the same</summary>
#
# No. A trace records what was called, not what it computes.
#
# </details>
# <details><summary>Two: functions, and modules</summary>
#
# No. A method has a kind of its own: its target is a string.
#
# </details>
# <details><summary>Three</summary>
#
# Right: <code>call_function</code>, <code>call_method</code> and <code>call_module</code> (section 3.2). You will see what that means for a search.
#
# </details>
# %% proof=true
class ThreeRelus(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        return torch.relu(x) + x.relu() + self.act(x)


relus = [
    n for n in fx.symbolic_trace(ThreeRelus()).graph.nodes if "lu" in n.name or n.name == "act"
]
assert [n.op for n in relus] == ["call_function", "call_method", "call_module"]

# %% [markdown]
# ## 4.1 Find and replace
#
# `fx.replace_pattern(gm, pattern, replacement)` takes three things:
#
# * the `GraphModule` to work on,
# * a **pattern**: a function that computes what you look for,
# * a **replacement**: a function with the same parameters and the same number of results.
#
# Both functions are traced. Then the graph of the pattern is searched in the graph of `gm`.


# %%
def pattern(a):
    return torch.log1p(torch.exp(a))


def replacement(a):
    return F.softplus(a)


class Score(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x, y):
        hidden = torch.log1p(torch.exp(self.linear(x)))
        return hidden - torch.log1p(torch.exp(y))


model = Score()
gm = fx.symbolic_trace(model)
matches = fx.replace_pattern(gm, pattern, replacement)

print(gm.code)
x, y = torch.randn(2, 3), torch.randn(2, 3)
torch.testing.assert_close(gm(x, y), model(x, y))
draw.diff(model, gm)

# %% [markdown]
# Two places were found and rewritten. Look at three details:
#
# * The parameter `a` of the pattern is a **wildcard**: it matched `linear` in one place, and `y` in the other.
# * `gm` was edited in place, and its code is up to date. `replace_pattern` calls `recompile` for you.
# * `model` did not change, because you traced it first.
#
# What did the call return?

# %%
for match in matches:
    print("anchor:", match.anchor, "  nodes_map:", match.nodes_map)

# %% proof=true
assert len(matches) == 2 and all(isinstance(match, Match) for match in matches)
assert all(match.anchor.name == "log1p" for match in matches)

# %% [markdown]
# One `Match` for each place that was rewritten:
#
# | field | what it is |
# |---|---|
# | `anchor` | the last node **of the pattern**, where the search began (for a pattern with several results, one of their nodes) |
# | `nodes_map` | for each node of the pattern except its output, what it matched in your graph: a node, or a value such as a number |
#
# **Predict.** You look at `match.nodes_map` after the call.
# It maps the pattern's `log1p` to a node of your graph. What can you do with that node?
#
# <details><summary>Read it like any node of the graph</summary>
#
# No. It was part of the group that was replaced, and has been erased. It reads nothing and has no readers.
#
# </details>
# <details><summary>Nothing much: it is not in the graph any more</summary>
#
# Right. The inner nodes of the match were erased. Only what the wildcards matched is still there.
#
# </details>
# <details><summary>It is the new node, <code>softplus</code></summary>
#
# No. The map says what was found, not what was put there.
# Section 4.5 shows a relative of `replace_pattern` that also returns the new nodes.
#
# </details>

# %% proof=true
found = {key.name: value for key, value in matches[0].nodes_map.items()}
assert found["log1p"] not in list(gm.graph.nodes)  # erased
assert found["a"] in list(gm.graph.nodes)  # what the wildcard matched

# %% [markdown]
# Here is a call with a pattern of two wildcards:


# %%
def two_products(x, y):
    return torch.exp(x) * torch.sin(y) - torch.exp(y) * torch.neg(x)


def times_exp(a, b):
    return torch.exp(a) * b


def with_torch_mul(a, b):
    return torch.mul(torch.exp(a), b)


of_products = fx.replace_pattern(fx.symbolic_trace(two_products), times_exp, with_torch_mul)

# %% [markdown]
# **Drill 04.1a.** Which nodes did `b` match? Write the list of their names, one for each match, in the order of `of_products`.

# %% drill=true
matched = [value.name for m in of_products for key, value in m.nodes_map.items() if key.name == "b"]
drill("04.1a", matched)
# Mistake: The anchor is a node of the pattern, not of your graph.
# matched = [m.anchor.name for m in of_products]

# %% [markdown]
# If nothing matches, there is no error. You get an empty list, and the graph does not change.
# So always look at the length of the list.

# %%
fx.replace_pattern(gm, lambda a: torch.erf(a), replacement)

# %% proof=true
code_before = gm.code
assert fx.replace_pattern(gm, lambda a: torch.erf(a), replacement) == []
assert gm.code == code_before

# %% [markdown]
# A pattern works on any model, however large.
# GoogLeNet is the other team's model in this course. All its ReLUs write in place.
# A write can make a rewriting wrong (rule 9 below shows how). So replace them by ReLUs that do not write.
# (This is safe here: nothing else reads the value before the ReLU.)


# %%
def relu_in_place(a):
    return F.relu(a, inplace=True)


def relu_of_its_own(a):
    return F.relu(a)


googlenet = make_alive(
    torchvision.models.googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10)
)
gm = fx.symbolic_trace(googlenet)
matches = fx.replace_pattern(gm, relu_in_place, relu_of_its_own)
print(len(matches), "places in a graph of", len(gm.graph.nodes), "nodes")

image = images(1)
assert_same_results(gm, googlenet, image)

# %% proof=true
assert len(matches) == 57

# %% [markdown] card="count_matches"
# **Given** a model and a pattern: a function, a module, or a `GraphModule`.
#
# **Return** the number of non-overlapping places that `replace_pattern` would rewrite in the traced model.
# The model is traced in the mode that it is in.
#
# **Do not** change the model or the pattern. The model may be a `GraphModule` that other code uses, too.


# %%
class Waves(nn.Module):
    def forward(self, x, y):
        first = torch.sin(x) + y
        second = torch.sin(first) + x
        return torch.sin(second) * first


# count_matches(Waves(), lambda a, b: torch.sin(a) + b) is 2: the nodes `add` and `add_1`.
draw(Waves(), title="sin(a) + b is here twice")


# %% solve="count_matches"
def count_matches(model: nn.Module, pattern: Callable[..., Any]) -> int:
    """How many non-overlapping places `replace_pattern` would rewrite in `model`.

    Args:
        model: the module to trace; it is not changed.
        pattern: what to look for: a function, a module or a `GraphModule`.
    """
    ### BEGIN SOLUTION
    # The trace is ours alone. The pattern as its own replacement has the same parameters and results.
    gm = fx.symbolic_trace(model)
    return len(fx.replace_pattern(gm, pattern, pattern))
    ### END SOLUTION


# %% check="count_matches"
check(count_matches)

# %% hint="count_matches"
hint("count_matches")

# %% [markdown]
# ## 4.2 The rules of matching
#
# A pattern that does not match is silent. So you must know the rules.
# There are nine. The first eight say what matches. The ninth says when a match is a trap.
#
# In most pictures the function on the left has two places that *compute* what the pattern computes.
# On the right you see which of them were found.


# %%
def rewritten(function: Any, pattern: Any, replacement: Any) -> fx.GraphModule:
    """A trace of `function` with `pattern` replaced; prints how many places there were."""
    gm = fx.symbolic_trace(function)
    print("places rewritten:", len(fx.replace_pattern(gm, pattern, replacement)))
    return gm


# %% proof=true
def places(function: Any, pattern: Any, replacement: Any, same: bool = True) -> int:
    """How many places are rewritten; asserts that the values stay the same, or that they do not."""
    traced = fx.symbolic_trace(function)
    number = len(fx.replace_pattern(traced, pattern, replacement))
    values = [torch.rand(3, 3) for _ in traced.graph.find_nodes(op="placeholder")]
    got, want = (call(*copy.deepcopy(values)) for call in (traced, function))
    got, want = (v if isinstance(v, tuple) else (v,) for v in (got, want))
    assert all(torch.allclose(one, other) for one, other in zip(got, want, strict=True)) == same
    return number


assert places(pattern, pattern, replacement) == 1


# %% [markdown]
# ### Rule 1: what counts is who reads whom
#
# Names of variables do not matter, and the matched lines need not be next to each other.
# (A line between them can make the match *wrong* if it writes in place: that is rule 9.)
# The matcher starts at the last node of the pattern and follows the arguments backward.


# %%
def f(x, y):
    p = torch.exp(x)
    q = torch.sin(y)
    return torch.log1p(p) * torch.log1p(torch.exp(q))


draw.diff(f, rewritten(f, pattern, replacement), title="rule 1: flow, not names")

# %% proof=true
assert places(f, pattern, replacement) == 2

# %% [markdown]
# ### Rule 2: order counts
#
# `a * b` is `b * a`. The matcher does not know that: it compares arguments one by one.


# %%
def silu_form(a):
    return a * torch.sigmoid(a)


def silu(a):
    return F.silu(a)


def f(x, y):
    return x * torch.sigmoid(x) - torch.sigmoid(y) * y


draw.diff(f, rewritten(f, silu_form, silu), title="rule 2: order counts")

# %% proof=true
assert places(f, silu_form, silu) == 1

# %% [markdown]
# ### Rule 3: spelling counts
#
# Node and pattern node must have the same opcode and target. `torch.exp(x)` and `x.exp()` are different nodes.


# %%
def f(x, y):
    return torch.log1p(torch.exp(x)) - y.exp().log1p()


draw.diff(f, rewritten(f, pattern, replacement), title="rule 3: spelling counts")

# %% proof=true
assert places(f, pattern, replacement) == 1

# %% [markdown]
# ### Rule 4: positional is not keyword
#
# The number of positional arguments must be the same, and so must the keywords. Even the order of the keywords counts.


# %%
def log_of_softmax(a):
    return torch.log(torch.softmax(a, dim=-1))


def log_softmax(a):
    return torch.log_softmax(a, dim=-1)


def f(x, y):
    return torch.log(torch.softmax(x, dim=-1)) - torch.log(torch.softmax(y, -1))


draw.diff(f, rewritten(f, log_of_softmax, log_softmax), title="rule 4: dim=-1 is not -1")


# %% proof=true
def keywords(a):
    return torch.sum(a, dim=1, keepdim=True)


def other_order(a):
    return torch.sum(a, keepdim=True, dim=1)


assert places(f, log_of_softmax, log_softmax) == 1
assert places(keywords, other_order, other_order) == 0

# %% [markdown]
# ### Rule 5: a number matches only the same number of the same type
#
# `2` in a pattern matches `2`. It matches neither `2.0` nor `3`.


# %%
def doubled(a):
    return a * 2


def sum_with_itself(a):
    return a + a


def f(x, y):
    return x * 2 - y * 2.0


draw.diff(f, rewritten(f, doubled, sum_with_itself), title="rule 5: 2 is not 2.0")

# %% proof=true
assert places(f, doubled, sum_with_itself) == 1

# %% [markdown]
# The other way round there is a surprise: **a parameter of the pattern matches anything**,
# a node, a number, even a list of nodes.
#
# **Predict.** How many places of `f` above does the pattern `a * b` match?
#
# <details><summary>None, because 2 and 2.0 are not tensors</summary>
#
# No. The matcher knows nothing about tensors. A wildcard takes whatever it finds there.
#
# </details>
# <details><summary>Two</summary>
#
# Right. In both places `b` matches the number.
# If your replacement needs a tensor there, the rewritten model raises when it runs (section 4.5).
#
# </details>

# %% proof=true
taken = fx.symbolic_trace(f)
assert len(fx.replace_pattern(taken, lambda a, b: a * b, lambda a, b: torch.mul(a, b))) == 2
assert [node.args[1] for node in taken.graph.nodes if node.target is torch.mul] == [2, 2.0]

# %% [markdown]
# A **tensor** in a pattern is different from a number. It matches every buffer, and a parameter matches every parameter,
# whatever the name, the shape and the values.


# %% proof=true
class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("shift", torch.tensor([7.0, 8.0]))

    def forward(self, x):
        return x + self.shift


shifted = fx.symbolic_trace(Shifted())
assert len(fx.replace_pattern(shifted, lambda a: a + torch.tensor([1.0]), lambda a: a + 1)) == 1
assert torch.equal(shifted(torch.zeros(2)), torch.ones(2))

# %% [markdown]
# Six places compute the same kind of thing. The pattern is `at_least_zero`:


# %%
def at_least_zero(a):
    return torch.clamp(a * 2, min=0)


def six(x):
    p = torch.clamp(x * 2, min=0)
    q = torch.clamp(2 * x, min=0)
    r = torch.clamp(x * 2, 0)
    s = (x * 2).clamp(min=0)
    t = torch.clamp(torch.sin(x) * 2, min=0)
    u = torch.clamp(x * 2.0, min=0)
    return p, q, r, s, t, u


# %% [markdown]
# **Drill 04.2a.** Which places does the pattern match? Write a list of letters, such as `["q", "s"]`, in alphabetical order.

# %% drill=true
letters = ["p", "t"]
drill("04.2a", letters)
# Mistake: How does each place pass the minimum? Rule 4 compares that, too.
# letters = ["p", "r", "t"]

# %% proof=true
six_matches = fx.replace_pattern(fx.symbolic_trace(six), at_least_zero, at_least_zero)
read_there = [{str(v) for v in m.nodes_map.values()} & {"x", "sin"} for m in six_matches]
assert read_there == [{"x"}, {"sin"}]

# %% [markdown]
# ### Rule 6: two parameters are two different nodes
#
# Two wildcards cannot match the same node.
# So `a + b` does not match `x + x`.
# And a parameter that is used twice must match the same node both times.


# %%
def plus(a, b):
    return a + b


def torch_add(a, b):
    return torch.add(a, b)


def f(x, y):
    return (x + y) * (x + x)


draw.diff(f, rewritten(f, plus, torch_add), title="rule 6: a and b differ")

# %% proof=true
assert places(f, plus, torch_add) == 1

# %% [markdown]
# If `x + x` matters to you, write a second pattern with one parameter.
#
# ### Rule 7: inner values must not escape
#
# A match is replaced as a whole. So no node outside may read a value inside, and the output may not either.
# Only what the pattern *returns* may have other readers.


# %%
def f(x, y):
    kept = torch.exp(y)
    return torch.log1p(torch.exp(x)), torch.log1p(kept), kept


draw.diff(f, rewritten(f, pattern, replacement), title="rule 7: `kept` escapes")

# %% [markdown]
# A pattern may return several values, and then its replacement must return as many.
# (If these values do not depend on each other, the result can be broken: see *Common mistakes*.)


# %% proof=true
def both(a):
    kept = torch.exp(a)
    return torch.log1p(kept), kept


def both_replaced(a):
    return F.softplus(a), torch.exp(a)


assert places(f, pattern, replacement) == 1
assert places(f, both, both_replaced) == 2
(match_of_both, _) = fx.replace_pattern(fx.symbolic_trace(f), both, both_replaced)
assert match_of_both.anchor.name == "log1p"  # two results, and one of them is named as the anchor

# %% [markdown]
# ### Rule 8: where places overlap, the first wins
#
# No node belongs to two matches. The matcher takes the first place in graph order
# and drops those that share a node with it.


# %%
def relu_of_relu(a):
    return torch.relu(torch.relu(a))


def one_relu(a):
    return torch.relu(a)


def f(x):
    return torch.relu(torch.relu(torch.relu(x)))


draw.diff(f, rewritten(f, relu_of_relu, one_relu), title="rule 8: the first wins")

# %% proof=true
assert places(f, relu_of_relu, one_relu) == 1

# %% [markdown]
# One of the three ReLUs is gone, and two are left: they would match again. Section 4.4 takes that up.
#
# Two matches **back to back** do not overlap: the result of one is a wildcard of the other.
# Both are rewritten in the same call.
#
# Some places never match: a parameter of the pattern inside a slice or a dictionary, and a group with a node outside
# that reads from it *and* feeds it.


# %% proof=true
def back_to_back(x):
    y = x * torch.sigmoid(x)
    return y * torch.sigmoid(y)


def exp_sin_log(x):
    p = torch.exp(x)
    return torch.log(torch.sin(p)) + p  # `sin` reads `exp` and feeds `log`


def two_results(a, b):
    return torch.exp(a), torch.log(b)


assert places(back_to_back, silu_form, silu) == 2
sliced = fx.symbolic_trace(lambda x, n: x[:, :n])
assert fx.replace_pattern(sliced, lambda a, b: a[:, :b], lambda a, b: a.narrow(1, 0, b)) == []
assert places(exp_sin_log, two_results, two_results) == 0

# %% [markdown]
# **Predict.** The pattern is `relu_of_relu`. The function applies ReLU five times. How many places are rewritten in one call?
#
# <details><summary>Four, each pair of neighbours</summary>
#
# No. There are four pairs, but they overlap.
#
# </details>
# <details><summary>Two</summary>
#
# Right. The first and second, the third and fourth. The fifth is left over.
#
# </details>
# <details><summary>One</summary>
#
# No. The third and fourth ReLU share no node with the first match.
#
# </details>


# %% proof=true
def five_in_a_row(x):
    for _ in range(5):
        x = torch.relu(x)
    return x


short = fx.symbolic_trace(five_in_a_row)
assert len(fx.replace_pattern(short, relu_of_relu, one_relu)) == 2
assert sum(node.target is torch.relu for node in short.graph.nodes) == 3

# %% [markdown]
# Now one of the five values is read elsewhere, too:


# %%
def five(x):
    a = torch.relu(x)
    b = torch.relu(a)
    c = torch.relu(b)
    d = torch.relu(c)
    e = torch.relu(d)
    return a, e


# %% [markdown]
# **Drill 04.2b.** Which places of `five` does one call with `relu_of_relu` rewrite?
# Write a list with a pair of letters for each, such as `["ab"]`, in the order of the graph.

# %% drill=true
pairs = ["bc", "de"]
drill("04.2b", pairs)
# Mistake: The output reads `a`, and the inner value of a place must not be read elsewhere.
# pairs = ["ab", "cd"]

# %% proof=true
five_matches = fx.replace_pattern(fx.symbolic_trace(five), relu_of_relu, one_relu)
in_five = [{str(v) for v in m.nodes_map.values()} for m in five_matches]
assert {"relu_1", "relu_2"} <= in_five[0] and {"relu_3", "relu_4"} <= in_five[1]

# %% [markdown]
# ### Rule 9: the matcher does not see writes
#
# The eight rules are about *who reads whom*. `x.mul_(2)` may have no reader at all, and it changes what every later
# node reads from `x`.
#
# Here is a SiLU with a write in the middle:


# %%
def f(x):
    gate = torch.sigmoid(x)
    x.mul_(2)
    return x * gate


# %% [markdown]
# **Predict.** What does `replace_pattern` do with it?
#
# <details><summary>It refuses the match, because <code>x</code> changes on the way</summary>
#
# No. It compares opcodes, targets and arguments. None of them says that <code>x</code> changes.
#
# </details>
# <details><summary>It rewrites the place, and the result is different</summary>
#
# Right. The function multiplies <code>2 * x</code> by <code>sigmoid(x)</code>. The replacement is <code>F.silu</code>
# of what <code>x</code> holds then, and that is <code>2 * x</code> in both factors.
#
# </details>
# <details><summary>It rewrites the place, and the result is the same</summary>
#
# No. One factor is computed before the write, and the other one after it. <code>F.silu</code> reads both at one time.
#
# </details>

# %% proof=true
overwritten = fx.symbolic_trace(f)
assert len(fx.replace_pattern(overwritten, silu_form, silu)) == 1
overwritten.graph.lint()  # no complaint
ones = torch.ones(2)
assert not torch.allclose(overwritten(ones.clone()), f(ones.clone()))
assert torch.equal(overwritten(ones.clone()), F.silu(2 * ones))

# %% [markdown]
# A write *after* the group is just as bad.
# FX inserts the replacement before the first **reader** of the old result, and that may come after the write:


# %%
def f(x):
    y = torch.log1p(torch.exp(x))
    x.mul_(2)
    return y + x


gm = rewritten(f, pattern, replacement)
gm.graph.lint()  # no complaint
x = torch.tensor([1.0, -1.0])
print("right:", f(x.clone()), "  rewritten:", gm(x.clone()))
draw(gm, title="softplus reads x too late")

# %% proof=true
in_order = [node.name for node in gm.graph.nodes]
assert in_order.index("mul_") < in_order.index("softplus")  # it was the other way round
assert places(f, pattern, replacement, same=False) == 1

# %% [markdown]
# Make the model free of writes first, as you did with GoogLeNet's ReLUs in section 4.1.
# Or refuse such a match: section 4.5 has a filter for it.

# %% [markdown]
# ## 4.3 One computation, several patterns
#
# If people write a computation in four ways, write four patterns. They are ordinary functions, so you can make them in a loop.
# Here every SiLU is found, in both orders, with the factor `1` or `1.0` that some models have:


# %%
def to_silu(model: nn.Module) -> fx.GraphModule:
    """Replace `x * sigmoid(x * 1)` by `F.silu(x)`, in both orders, for 1 and 1.0."""

    def patterns(one):
        def gate_last(a):
            return a * torch.sigmoid(a * one)

        def gate_first(a):
            return torch.sigmoid(a * one) * a

        return gate_last, gate_first

    gm = fx.symbolic_trace(model)
    for one in (1, 1.0):
        for pattern in patterns(one):
            fx.replace_pattern(gm, pattern, silu)
    return gm


def f(x, y):
    return x * torch.sigmoid(x * 1.0) - torch.sigmoid(y * 1) * y


gm = to_silu(f)
draw.diff(f, gm)

# %% proof=true
left, right = torch.randn(3), torch.randn(3)
torch.testing.assert_close(gm(left, right), f(left, right))
assert sum(node.target is F.silu for node in gm.graph.nodes) == 2

# %% [markdown]
# Three things make this work:
#
# * `one` is a variable *around* the pattern. When `gate_last` is traced, it is a plain number.
# * The replacement is `silu`, a function of one parameter. `F.silu` itself has a second one, `inplace`.
#   That is an error, but only if something matches.
# * Activations with an `inplace`, such as `F.silu(a)`, pass all their arguments on to FX. So they record the keyword `inplace=False`,
#   whether you write it or not. Write the call in a pattern as you would in a model.

# %%
print([node.kwargs for node in gm.graph.nodes if node.target is F.silu])
with fails(AssertionError):
    fx.replace_pattern(fx.symbolic_trace(silu_form), silu_form, F.silu)

# %% proof=true
assert fx.replace_pattern(fx.symbolic_trace(f), silu_form, F.silu) == []

# %% [markdown] card="to_hardswish"
# **Given** a model that computes `x * F.relu6(x + 3) / 6` or `F.relu6(x + 3) * x / 6`.
# Each of `3` and `6` may be an int or a float.
#
# **Return** a new `GraphModule` in which each of these is one call of `F.hardswish(x)`.
#
# * A place whose inner value is read elsewhere stays as it is.
# * So does a place where the two `x` are different values, and one with other numbers.
# * Other spellings (`3 + x`, `torch.add`, `nn.ReLU6`) are never tested.
#
# **Do not** change the model you were given.


# %%
class Before(nn.Module):
    def forward(self, x, y):
        return x * F.relu6(x + 3) / 6 - F.relu6(y + 3.0) * y / 6


class After(nn.Module):
    def forward(self, x, y):
        return F.hardswish(x) - F.hardswish(y)


draw.diff(Before(), After())


# %% solve="to_hardswish"
def to_hardswish(model: nn.Module) -> fx.GraphModule:
    """Replace every hard swish that is written out by one call of `F.hardswish`."""

    ### BEGIN SOLUTION
    def patterns(three, six):
        def gate_last(x):
            return x * F.relu6(x + three) / six

        def gate_first(x):
            return F.relu6(x + three) * x / six

        return gate_last, gate_first

    def hardswish(x):
        return F.hardswish(x)

    gm = fx.symbolic_trace(model)
    # Numbers match by type, too: 3 is not 3.0.
    for three, six in itertools.product((3, 3.0), (6, 6.0)):
        for pattern in patterns(three, six):
            fx.replace_pattern(gm, pattern, hardswish)
    return gm
    ### END SOLUTION


# %% check="to_hardswish"
check(to_hardswish)

# %% hint="to_hardswish"
hint("to_hardswish")

# %% [markdown]
# ## 4.4 Until nothing matches
#
# One call makes one **round**. After a round there can be new matches,
# because rule 8 dropped places that overlap, or because a replacement is now part of a match.
#
# If you repeat the rounds until nothing changes, you have reached a **fixpoint**.
# Here are the ReLUs of rule 8 again, six in a row:


# %%
def f(x):
    for _ in range(6):
        x = torch.relu(x)
    return x


gm = fx.symbolic_trace(f)
rounds = []
while matches := fx.replace_pattern(gm, relu_of_relu, one_relu):
    rounds.append(len(matches))
print("replacements in each round:", rounds)

# %% proof=true
assert rounds == [3, 1, 1]
assert sum(node.target is torch.relu for node in gm.graph.nodes) == 1
assert torch.equal(gm(x), f(x))

# %% [markdown]
# **Predict.** What does the same loop do with the pattern `a + b` and the replacement `b + a`?
#
# <details><summary>It stops after two rounds, when the sum is <code>a + b</code> again</summary>
#
# No. The loop asks whether the pattern matches, and the new sum matches again.
#
# </details>
# <details><summary>It never ends</summary>
#
# Right. Every round makes a place that the next round finds. Such a loop needs a limit, and a clear error there.
#
# </details>


# %% proof=true
def turned(a, b):
    return b + a


sums = fx.symbolic_trace(plus)
# and so on, forever
assert [len(fx.replace_pattern(sums, plus, turned)) for _ in range(10)] == [1] * 10

# %% [markdown] card="replace_until_done"
# **Given** a model, a pattern, a replacement, and a limit for the number of rounds.
#
# **Return** a tuple of two: a new `GraphModule` in which the pattern was replaced, round by round, until it matches nowhere;
# and the number of replacements that were made in all.
#
# If the pattern still matches after `limit` rounds, raise a `RuntimeError`.
# A round is one call of `replace_pattern`, however many places it rewrites. Exactly `limit` rounds are allowed.
# The result, and each module that it calls, is in the mode that it has in the model.
#
# **Do not** change the model you were given.


# %%
def three_relus(x):
    return torch.relu(torch.relu(torch.relu(x)))


# replace_until_done(model, relu_of_relu, one_relu) makes one replacement in each of two rounds:
draw.diff(three_relus, lambda x: torch.relu(x), title="two replacements in all")


# %% solve="replace_until_done"
def replace_until_done(
    model: nn.Module,
    pattern: Callable[..., Any],
    replacement: Callable[..., Any],
    limit: int = 100,
) -> tuple[fx.GraphModule, int]:
    """Replace `pattern` in `model` until it matches nowhere.

    Args:
        model: the module to trace; it is not changed.
        pattern: what to look for.
        replacement: what to put there.
        limit: how many rounds may rewrite something.

    Returns:
        The new module, and the number of replacements in all rounds.

    Raises:
        RuntimeError: if the pattern still matches after `limit` rounds.
    """
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)
    count = 0
    # One round more than allowed: only that one can show that nothing matches any more.
    for _ in range(limit + 1):
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            return gm, count
        count += len(matches)
    raise RuntimeError(f"the pattern still matches after {limit} rounds")
    ### END SOLUTION


# %% check="replace_until_done"
check(replace_until_done)

# %% hint="replace_until_done"
hint("replace_until_done")

# %% [markdown]
# ## 4.5 What a pattern cannot say
#
# A wildcard matches anything, and that can hurt.
# `torch.hypot(a, b)` computes `sqrt(a*a + b*b)` without overflow in between. It wants two tensors.


# %%
def hypot_form(a, b):
    return torch.sqrt(a * a + b * b)


def hypot(a, b):
    return torch.hypot(a, b)


def f(x, y):
    n = x.size(0)
    return torch.sqrt(x * x + y * y), torch.sqrt(y * y + n * n)


gm = rewritten(f, hypot_form, hypot)
print(gm.code)
with fails(TypeError):
    gm(torch.ones(3), torch.ones(3))

# %% proof=true
big = torch.tensor(1e30)
assert hypot_form(big, big).isinf() and hypot(big, big).isfinite()
assert gm.code.count("torch.hypot(") == 2

# %% [markdown]
# `n` is a Python number when the model runs. For FX it is a node like any other.
# No pattern can say "but not a number here". A **filter** can.
#
# `replace_pattern_with_filters` calls your function for each match that rule 8 leaves.
# The match is rewritten only if the function returns `True`.
# (So a match that you refuse can hide one that you want: see *Common mistakes*.)
#
# > **Unstable.** PyTorch marks `replace_pattern_with_filters` as experimental. It works as shown here in torch 2.14.
#
# Here is a filter that refuses sizes:


# %%
def is_size(value: Any) -> bool:
    """Whether a value in a graph is a size, or an item of a size."""
    if not isinstance(value, fx.Node):
        return False
    if value.op == "call_method":
        return value.target == "size"
    if value.target is getattr:
        return value.args[1] == "shape"
    if value.target is operator.getitem:
        return is_size(value.args[0])
    return False


def no_sizes(match: Any, graph: fx.Graph, pattern_graph: fx.Graph) -> bool:
    """Refuse a match in which a wildcard matches a size."""
    print("candidate:", match.placeholder_nodes)
    return not any(map(is_size, match.placeholder_nodes))


gm = fx.symbolic_trace(f)
replaced = replace_pattern_with_filters(gm, hypot_form, hypot, match_filters=[no_sizes])
print("new nodes:", [place.replacements for place in replaced])
draw(gm, title="one place rewritten, one refused")

# %% proof=true
assert len(replaced) == 1
assert [*vars(replaced[0])] == [*Match._fields, "replacements"]
assert [node.target for node in replaced[0].replacements] == [torch.hypot]
left, right = torch.randn(3), torch.randn(3)
for got, want in zip(gm(left, right), f(left, right), strict=True):
    torch.testing.assert_close(got, want)

# %% [markdown]
# `match.placeholder_nodes` lists what the wildcards match, in the order of the pattern's parameters.
# Each result has one field more than a `Match`: `replacements`, the new nodes.


# %%
def four(x, y):
    n, m = x.shape[0], x.dim()
    p = torch.sqrt(x * x + n * n)
    q = torch.sqrt(x * x + m * m)
    r = torch.sqrt(x * x + y * y)
    s = torch.sqrt(x * x + 3 * 3)
    return p, q, r, s


# %% [markdown]
# **Drill 04.5a.** `four` is traced, and `hypot_form` is replaced with the filter `no_sizes`. Which places are rewritten?
# Write a list of letters, in alphabetical order.

# %% drill=true
accepted = ["q", "r"]
drill("04.5a", accepted)
# Mistake: Read `is_size` again: it knows only some of the numbers.
# accepted = ["r"]

# %% proof=true
traced_four = fx.symbolic_trace(four)
assert len(replace_pattern_with_filters(traced_four, hypot_form, hypot, [no_sizes])) == 2
arguments = [node.args for node in traced_four.graph.nodes if node.target is torch.hypot]
assert [[str(arg) for arg in args] for args in arguments] == [["x", "dim"], ["x", "y"]]

# %% [markdown]
# ### A filter against writes
#
# This filter refuses a match if any node writes between the first node of the match and the first reader of its result.
# It also refuses some matches that would be right, because it does not ask *what* is written.


# %%
def writes(node: fx.Node, graph: fx.Graph) -> bool:
    """Whether a node may write into a tensor that it was given."""
    if node.op == "call_module":
        return getattr(graph.owning_module.get_submodule(node.target), "inplace", False)
    if node.op not in ("call_function", "call_method"):
        return False
    if hasattr(node.target, "_schema"):  # an ATen operator says it itself
        return node.target._schema.is_mutable
    name = node.target if isinstance(node.target, str) else node.target.__name__
    ends_in_one = name.endswith("_") and not name.endswith("__")
    return ends_in_one or node.kwargs.get("inplace", False) or "out" in node.kwargs


def no_writes(match: Any, graph: fx.Graph, pattern_graph: fx.Graph) -> bool:
    """Refuse a match if a node writes before the result of the match is read."""
    place = {node: i for i, node in enumerate(graph.nodes)}
    calls = [key for key in match.nodes_map if key.op not in ("placeholder", "output")]
    inside = [place[match.nodes_map[key]] for key in calls]
    readers = [place[user] for node in match.returning_nodes for user in node.users]
    last = max(max(inside), min(readers, default=0))
    return not any(writes(n, graph) for n, i in place.items() if min(inside) < i < last)


def f(x, y):
    p = torch.exp(x)
    x.mul_(2)  # between the two nodes of a match
    p = torch.log1p(p)
    q = torch.log1p(torch.exp(y))
    y.add_(1)  # between a match and its first reader
    return p + q + torch.log1p(torch.exp(y))


x, y = torch.randn(3), torch.randn(3)
for filters in (None, [no_writes]):
    gm = fx.symbolic_trace(f)
    done = replace_pattern_with_filters(gm, pattern, replacement, match_filters=filters)
    same = torch.allclose(gm(x.clone(), y.clone()), f(x.clone(), y.clone()))
    print(len(done), "places rewritten, the same result:", same)

# %% proof=true
assert len(done) == 1 and same
assert places(f, pattern, replacement, same=False) == 3

# %% [markdown]
# The names of PyTorch's own in-place functions and methods end in `_`.
# The filter does not know a function of your own that writes, nor `operator.iadd`, nor a batch norm in training mode.

# %% [markdown]
# ### Normalize, then match
#
# Rules 2 to 5 make you write a pattern for each spelling. Often it is better to change the *graph* first.
# `make_fx` runs a function on tensors and records which ATen operators really run.
# (`torch.export` gives you such graphs for whole models: chapter 11.)
# Make pattern and replacement in the same way. Here are four spellings of one computation:


# %%
def four_spellings(x, y, z):
    return (
        torch.relu(x * y + z),
        F.relu(torch.add(x.mul(y), z)),
        (x * y).add(z).relu(),
        F.relu(torch.mul(x, other=y) + z),
    )


def relu_of_sum(a, b, c):
    return torch.relu(a * b + c)


def relu_of_addcmul(a, b, c):
    return torch.relu(torch.addcmul(c, a, b))


inputs = [torch.randn(3) for _ in range(3)]
gm, aten_pattern, aten_replacement = (
    make_fx(function)(*inputs) for function in (four_spellings, relu_of_sum, relu_of_addcmul)
)
found = fx.replace_pattern(gm, aten_pattern, aten_replacement)
print("one pattern,", len(found), "of 4 places")

# %% proof=true
assert places(four_spellings, relu_of_sum, relu_of_sum) == 1  # without make_fx
assert len(found) == 4
for got, want in zip(gm(*inputs), four_spellings(*inputs), strict=True):
    torch.testing.assert_close(got, want)

# %% [markdown]
# Rule 4 does not hold for ATen operators: FX fills in their defaults, and puts their arguments in one order.
# The price: such a graph belongs to the inputs it was made with. What depends on their shape is fixed in it.
# The filter against writes works here, too.


# %% proof=true
def written(x):
    p = torch.exp(x)
    x.mul_(2)
    return torch.log1p(p)


parts = [make_fx(function)(torch.ones(3)) for function in (written, pattern, replacement)]
assert replace_pattern_with_filters(*parts, match_filters=[no_writes]) == []
add = torch.ops.aten.add.Tensor
assert places(lambda x, y: add(other=y, self=x, alpha=1), lambda a, b: add(a, b), plus) == 1


# %%
def more_spellings(x, y, z):
    p = torch.relu(z + x * y)
    q = torch.relu(torch.addcmul(z, x, y))
    r = torch.add(other=z, input=x.mul(y)).relu()
    s = F.relu(x.multiply(y) + z)
    return p, q, r, s


# %% [markdown]
# **Drill 04.5b.** `make_fx` traces `more_spellings`, as above. Which places does `aten_pattern` match? Write a list of letters, in alphabetical order.
# (`multiply` is another name of `mul`.)

# %% drill=true
normalized = ["r", "s"]
drill("04.5b", normalized)
# Mistake: Which argument of the sum is the product? The matcher still compares arguments one by one.
# normalized = ["p", "r", "s"]

# %% proof=true
more = make_fx(more_spellings)(*inputs)
found_there = fx.replace_pattern(more, aten_pattern, aten_pattern)
assert len(found_there) == 2
last = [
    [str(value) for key, value in one.nodes_map.items() if key.op == "call_function"]
    for one in found_there
]
assert ["relu_2" in names for names in last] == [True, False]
assert ["relu_3" in names for names in last] == [False, True]
assert make_fx(torch.multiply)(*inputs[:2]).code == make_fx(torch.mul)(*inputs[:2]).code

# %% [markdown]
# If you want to stay with the graph of `symbolic_trace`, you can at least normalize **arguments**:
# `NormalizeArgs(gm).transform()` writes them as keywords, with their defaults. It does so for modules and many functions,
# but not for methods or operators such as `+`. Normalize the pattern, too. (It is not promised to stay as it is.)


# %% proof=true
def two_softmaxes(x):
    return torch.log(torch.softmax(x, -1)) + torch.log(torch.softmax(x, dim=-1))


alike = NormalizeArgs(fx.symbolic_trace(two_softmaxes)).transform()
calls = [node for node in alike.graph.nodes if node.target is torch.softmax]
assert calls[0].kwargs == calls[1].kwargs and not calls[0].args
assert all(node.args for node in alike.graph.nodes if node.target in (torch.log, operator.add))
pattern_alike = NormalizeArgs(fx.symbolic_trace(log_of_softmax)).transform()
assert len(fx.replace_pattern(alike, pattern_alike, log_softmax)) == 2
numbers = torch.randn(2, 3)
torch.testing.assert_close(alike(numbers), two_softmaxes(numbers))

# %% [markdown]
# ## 4.6 Modules: names instead of types
#
# A pattern may be a module, and then it may call submodules. What does such a node match?
# The target of a `call_module` node is a *name*. So the matcher compares names, not types.
# (For tensors it is the other way round: see rule 5.)


# %%
def chain(**layers: nn.Module) -> nn.Sequential:
    """Layers that run one after the other, under the names that you give."""
    return nn.Sequential(OrderedDict(layers))


conv_bn = chain(conv=nn.Conv2d(3, 8, 3), bn=nn.BatchNorm2d(8))
just_conv = chain(conv=nn.Conv2d(3, 8, 3))
other_names = chain(c1=nn.Conv2d(3, 8, 3), b1=nn.BatchNorm2d(8))
other_types = chain(conv=nn.Tanh(), bn=nn.Identity())

gm = rewritten(other_names, conv_bn, just_conv)
gm = rewritten(other_types, conv_bn, just_conv)
draw.diff(other_types, gm, title="attribute names, not types")

# %% proof=true
assert fx.replace_pattern(fx.symbolic_trace(other_names), conv_bn, just_conv) == []
assert len(fx.replace_pattern(fx.symbolic_trace(other_types), conv_bn, just_conv)) == 1

# %% [markdown]
# The Conv and the BatchNorm under other names were **not** found.
# The Tanh and the Identity under the right names **were**.
#
# GoogLeNet has 57 pairs of a Conv and a BatchNorm. Each class that holds a pair calls them `conv` and `bn`, as our pattern does.
# But the target of a node is the whole path, such as `inception3a.branch1.conv`. So the pattern matches none of them.

# %% proof=true
of_googlenet = fx.symbolic_trace(googlenet)
called = [n.target for n in of_googlenet.graph.nodes if n.op == "call_module"]
kinds = [type(of_googlenet.get_submodule(target)) for target in called]
assert kinds.count(nn.Conv2d) == kinds.count(nn.BatchNorm2d) == 57
assert "inception3a.branch1.conv" in called
assert fx.replace_pattern(of_googlenet, conv_bn, just_conv) == []

# %%
net = chain(
    stem=chain(conv=nn.Conv2d(3, 3, 1), bn=nn.BatchNorm2d(3)),
    conv=nn.Conv2d(3, 8, 3),
    bn=nn.BatchNorm2d(8),
)
module_patterns = [
    conv_bn,
    chain(stem=conv_bn),
    chain(conv=nn.Tanh(), bn=nn.ReLU()),
    chain(head=conv_bn),
]

# %% [markdown]
# **Drill 04.6a.** How many places of `net` does each of `module_patterns` match? Write a list of four numbers.

# %% drill=true
numbers_of_places = [1, 1, 1, 0]
drill("04.6a", numbers_of_places)
# Mistake: What does the matcher compare of two nodes that call modules? Their types are not part of it.
# numbers_of_places = [1, 1, 0, 0]

# %% proof=true
assert [
    len(fx.replace_pattern(fx.symbolic_trace(net), each, each)) for each in module_patterns
] == [1, 1, 1, 0]

# %% [markdown]
# ### The Conv-BN pattern that drops BatchNorm
#
# A fused convolution computes a convolution and a BatchNorm at once.
# With `replace_pattern` the fusion looks easy: a pattern `conv_bn`, a replacement with one convolution.
# It runs, and it finds a match. Is it right?

# %%
model = chain(conv=nn.Conv2d(3, 8, 3), bn=nn.BatchNorm2d(8)).eval()
gm = rewritten(model, conv_bn, just_conv)
print(gm.code)

x = torch.randn(4, 3, 16, 16)
with torch.no_grad():
    gap = (gm(x) - model(x)).abs().max().item()
print(f"largest difference: {gap:.1e}")

# %% proof=true
assert gap < 1e-4
# %% [markdown]
# A difference of about 0.00001: it seems to work. Now give the BatchNorm realistic statistics.

# %%
with torch.no_grad():
    for tensor in (model.bn.weight, model.bn.bias, model.bn.running_mean):
        tensor.normal_()
    model.bn.running_var.uniform_(0.5, 1.5)
    gap = (gm(x) - model(x)).abs().max().item()
print(f"largest difference: {gap:.2f}")

# %% proof=true
assert gap > 1
assert torch.equal(gm(x), model.conv(x))  # what is left is the convolution alone

# %% [markdown]
# The BatchNorm is **gone**, and nothing was fused. Why?
#
# * `replace_pattern` moves nodes. It does no arithmetic on weights, so no fused weight was ever computed.
# * The replacement's `conv` was not even used. If your module has a `conv` already, that one stays:

# %%
print("the model's own convolution:", gm.conv is model.conv)

# %% proof=true
assert gm.conv is model.conv

# %% [markdown]
# The first test did not see it, because a fresh BatchNorm is nearly the identity:
# mean 0, variance 1, weight 1, bias 0. **Never test a pass on a model with fresh statistics.**
# Chapter 10 does this fusion properly, with a loop and arithmetic on the weights. So does PyTorch's tutorial
# [Building a Convolution/Batch Norm fuser in FX](https://docs.pytorch.org/tutorials/intermediate/fx_conv_bn_fuser.html).
#
# **Predict.** The replacement calls its one submodule `fused` instead of `conv`. Does that help?
#
# <details><summary>Yes, then the new convolution is used</summary>
#
# It is used, and that is worse: it has random weights of its own.
#
# </details>
# <details><summary>No, the result is a convolution with random weights</summary>
#
# Right. `fused` does not exist in the model, so a copy of the replacement's module is put there.
# It knows nothing about the weights of the model.
#
# </details>
# %% proof=true
fused = chain(fused=nn.Conv2d(3, 8, 3))
twice = fx.symbolic_trace(model)
assert len(fx.replace_pattern(twice, conv_bn, fused)) == 1
assert torch.equal(twice.fused.weight, fused.fused.weight) and twice.fused is not fused.fused
assert not torch.equal(twice.fused.weight, model.conv.weight)

# %% [markdown]
# ## 4.7 One pass after the other
#
# Each pass of this chapter begins with `fx.symbolic_trace(model)`. For one pass, that is a copy that you may edit.
# For the second pass, it is a **new trace of the first pass's result**. What does a new trace lose?


# %%
class FusedCalls(fx.Tracer):
    """A tracer that keeps `LinearReLU`, a module that you are given, as one call."""

    def is_leaf_module(self, m, module_qualified_name):
        is_given = isinstance(m, LinearReLU)
        return is_given or super().is_leaf_module(m, module_qualified_name)


class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.fused = LinearReLU(nn.Linear(3, 8))

    def forward(self, x):
        return torch.tanh(self.fused(x))


model = Fused()
gm = fx.GraphModule(model, FusedCalls().trace(model))  # as a pass would leave it
call = next(node for node in gm.graph.nodes if node.op == "call_module")
call.meta["mine"] = "made by the first pass"

again = fx.symbolic_trace(gm)
print(gm.code, again.code)

# %% proof=true
assert [node.name for node in gm.graph.nodes] == ["x", "fused", "tanh", "output"]
assert [node.name for node in again.graph.nodes] == ["x", "fused_linear", "relu", "tanh", "output"]
assert not any("mine" in node.meta for node in again.graph.nodes)

# %% [markdown]
# Three things are lost:
#
# * **Leaf modules of your own.** The standard tracer went into `LinearReLU`, because that is not a module of `torch.nn`.
# * **Notes.** The nodes are new, and what you wrote into `meta` is gone.
# * **Names.** A name that you noted before may mean another node now, or none.
#
# If the second pass only needs a graph that it may edit, **copy the graph** instead. That keeps all three:

# %%
copied = fx.GraphModule(gm, copy.deepcopy(gm.graph))
print([(node.name, node.meta.get("mine")) for node in copied.graph.nodes])

# %% proof=true
assert [node.name for node in copied.graph.nodes] == [node.name for node in gm.graph.nodes]
assert [node.meta.get("mine") for node in copied.graph.nodes][1] == "made by the first pass"
assert copied.fused is gm.fused and copied.graph is not gm.graph  # the weights are shared

# %% [markdown]
# **Drill 04.7a.** A second pass on `gm` replaces `torch.tanh(a)` by `torch.sigmoid(a)`. It must keep the fused call and its note,
# and it must not change `gm`. Write `notes`: a dictionary from the name of each node of its result to `node.meta.get("mine")`.

# %% drill=true
second = fx.GraphModule(gm, copy.deepcopy(gm.graph))
fx.replace_pattern(second, lambda a: torch.tanh(a), lambda a: torch.sigmoid(a))
notes = {node.name: node.meta.get("mine") for node in second.graph.nodes}
drill("04.7a", notes)
# Mistake: A new trace goes into `LinearReLU`, and its nodes have no notes.
# second = fx.symbolic_trace(gm)
# fx.replace_pattern(second, lambda a: torch.tanh(a), lambda a: torch.sigmoid(a))
# notes = {node.name: node.meta.get("mine") for node in second.graph.nodes}

# %% [markdown]
# If the second pass traces its input, as most passes do, you have two options:
#
# * run passes that introduce modules of your own **last**, or
# * give the pass a tracer that knows them: `fx.GraphModule(model, tracer_class().trace(model))`.


# %% proof=true
def sqrt_free(model: nn.Module, tracer_class: type[fx.Tracer] = fx.Tracer) -> fx.GraphModule:
    """A pass that lets its caller say which modules stay leaves."""
    traced = fx.GraphModule(model, tracer_class().trace(model))
    fx.replace_pattern(traced, lambda a: torch.sqrt(a), lambda a: a**0.5)
    return traced


assert len(sqrt_free(gm).graph.nodes) == len(gm.graph.nodes) + 1  # opened
assert len(sqrt_free(gm, FusedCalls).graph.nodes) == len(gm.graph.nodes)
assert sqrt_free(fx.symbolic_trace(lambda a: torch.sqrt(a)))(torch.tensor(9.0)) == 3

# %% [markdown]
# One more trap: a result shares the **caller's modules**. So `result.eval()` also changes the caller's model:

# %%
drop = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)).train()
result = fx.symbolic_trace(drop)
result.eval()  # meant for the result …
print("the caller's model:", drop.training, " its dropout:", drop[1].training)

# %% proof=true
assert drop.training and not drop[1].training
result = fx.symbolic_trace(copy.deepcopy(drop.train()))
result.eval()
assert drop[1].training

# %% [markdown]
# **What to do:** switch the mode of a result only if you own the model. If not, trace `copy.deepcopy(model)`.

# %% [markdown]
# ### The other teams' models
#
# Back to the story. Here is a MobileNetV3 whose hard swishes are written out, as in its first ports.


# %%
class SpelledOut(nn.Module):
    """A hard swish in four operations."""

    def forward(self, x):
        return x * F.relu6(x + 3) / 6


def spell_out(module: nn.Module) -> None:
    """Put `SpelledOut` in place of every `nn.Hardswish`."""
    for name, child in module.named_children():
        if isinstance(child, nn.Hardswish):
            setattr(module, name, SpelledOut())
        else:
            spell_out(child)


mobile = torchvision.models.mobilenet_v3_small(weights=None, num_classes=10)
spell_out(mobile)
make_alive(mobile)


# %% uses="to_hardswish"
swished = to_hardswish(mobile)
assert_same_results(swished, mobile, image)
nodes = len(fx.symbolic_trace(mobile).graph.nodes)
calls = swished.graph.find_nodes(op="call_function", target=F.hardswish)
print(f"MobileNetV3: {nodes} nodes, then {len(swished.graph.nodes)}:", end=" ")
print(len(calls), "calls of hardswish")

# %% proof=true
spelled_out = sum(isinstance(module, SpelledOut) for module in mobile.modules())
assert len(calls) == spelled_out
assert nodes - len(swished.graph.nodes) == 3 * spelled_out

# %% [markdown]
# **Count your nodes at the end.** A pass that finds nothing gives right values, too.

# %% [markdown]
# ## Common mistakes
#
# ### A parameter that the pattern does not use


# %%
def g(x):
    return torch.sqrt(x)


def with_unused(a, b):
    return torch.sqrt(a)


with fails(KeyError):
    fx.replace_pattern(fx.symbolic_trace(g), with_unused, plus)

# %% [markdown]
# **Right:** every parameter of the pattern is used. The *replacement* may leave some unused.
#
# ### A line in the pattern whose value is not returned


# %%
def with_dead_code(a):
    torch.exp(a)
    return torch.sqrt(a)


with fails(AssertionError):
    fx.replace_pattern(fx.symbolic_trace(g), with_dead_code, one_relu)

# %% [markdown]
# **Right:** a pattern has no dead code.
#
# ### A tensor in the replacement


# %%
def add_one(a):
    return a + torch.tensor([1.0])


gm = fx.symbolic_trace(g)
fx.replace_pattern(gm, lambda a: torch.sqrt(a), add_one)
print(gm.code)  # reads `_tensor_constant0`, which the module does not have
with fails(AttributeError):
    gm(torch.ones(2))

# %% [markdown]
# When `add_one` was traced, its tensor became a constant of the *replacement*. `replace_pattern` did not copy it into `gm`.
#
# **Right:** a Python number, or a *module* as the replacement, with the tensor as a parameter without gradient. That one is copied,
# and all places share **one** copy. If each place needs weights of its own, write a loop, as section 4b.2 does.


# %% proof=true
class AddOne(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Parameter(torch.tensor([1.0]), requires_grad=False)

    def forward(self, a):
        return a + self.one


shared = fx.symbolic_trace(lambda x: torch.sqrt(torch.sqrt(x)))
assert len(fx.replace_pattern(shared, lambda a: torch.sqrt(a), AddOne())) == 2
assert torch.equal(shared(torch.ones(2)), torch.full((2,), 3.0))
assert [n.target for n in shared.graph.nodes if n.op == "get_attr"] == ["one", "one"]
assert list(shared.state_dict()) == ["one"]  # of a buffer, a plain attribute would be made

# %% [markdown]
# ### The rewritten graph reads a value before it is computed
#
# Two patterns can break a graph without any error. The first has a wildcard that matches a list, back to back:


# %%
def cat(parts):
    return torch.cat(parts)


def concat(parts):
    return torch.concat(parts)


def g(x, y):
    return torch.cat([torch.cat([x, y]), y])


gm = fx.symbolic_trace(g)
matches = fx.replace_pattern(gm, cat, concat)
print(gm.code)  # before 2.15, `cat` is read, but no line computes it any more
with fails(RuntimeError, until="2.15"):
    gm.graph.lint()

# %% proof=true
assert len(matches) == 2

# %% [markdown]
# This is PyTorch's issue [159613](https://github.com/pytorch/pytorch/issues/159613), which PyTorch 2.15 has fixed.
# The second pattern returns two values that do not depend on each other.
# The replacement goes before the first reader of either. Here that is before `sin`, which it needs:


# %%
def exp_and_log(a, b):
    return torch.exp(a), torch.log(b)


def g(x, y):
    p = torch.exp(x) + 1
    return p * torch.log(torch.sin(y))


gm = fx.symbolic_trace(g)
matches = fx.replace_pattern(gm, exp_and_log, exp_and_log)
print(gm.code)
with fails(RuntimeError):
    gm.graph.lint()

# %% proof=true
assert len(matches) == 1

# %% [markdown]
# **Right:** call `gm.graph.lint()` after each rewriting. Write the items of a list as parameters, `torch.cat([a, b])`.
# Write two patterns for two values.
#
# ### A refused match hides a good one
#
# **Predict.** `f` applies ReLU three times. The pattern is `relu_of_relu`, and the filter refuses a match that reads an input of the model.
# How many places are rewritten?
#
# <details><summary>One: the second and third ReLU</summary>
#
# No. They would pass the filter. But they overlap with the first match, so rule 8 drops them before the filter runs.
#
# </details>
# <details><summary>None</summary>
#
# Right. Rule 8 leaves the first match only, and the filter refuses it. Another round does not help.
#
# </details>
# <details><summary>One: the first and second ReLU</summary>
#
# No. The first ReLU reads an input.
#
# </details>


# %% proof=true
def not_on_input(match: Any, graph: fx.Graph, pattern_graph: fx.Graph) -> bool:
    return match.placeholder_nodes[0].op != "placeholder"


three = fx.symbolic_trace(lambda x: torch.relu(torch.relu(torch.relu(x))))
assert replace_pattern_with_filters(three, relu_of_relu, one_relu, [not_on_input]) == []

# %% [markdown]
# **Right:** if a filter may refuse one of two overlapping matches, write a loop over the nodes (the deep dive `04b_matchers`).
#
# ### `ignore_literals=True`, and anything will do
#
# With this option a number in the pattern matches any number. It matches even a tensor:


# %%
def g(x, y):
    return x * y


gm = fx.symbolic_trace(g)
replace_pattern_with_filters(gm, doubled, sum_with_itself, ignore_literals=True)
print(gm.code)  # `y` is gone

# %% proof=true
assert torch.equal(gm(torch.ones(1), 3 * torch.ones(1)), torch.tensor([2.0]))

# %% [markdown]
# **Right:** make the number a parameter of the pattern, and look at it in a filter: `match.placeholder_nodes[1] == 2`.


# %% proof=true
def is_two(match: Any, graph: fx.Graph, pattern_graph: fx.Graph) -> bool:
    return match.placeholder_nodes[1] == 2


def h(x):
    return x * 3 + x * 2.0


twos = fx.symbolic_trace(h)
assert (
    len(replace_pattern_with_filters(twos, lambda a, b: a * b, lambda a, b: a + a, [is_two])) == 1
)
torch.testing.assert_close(twos(torch.ones(1)), h(torch.ones(1)))

# %% [markdown]
# ### `meta` of the replaced nodes
#
# Nodes carry notes in `node.meta`. The new nodes of a replacement have none of them.

# %%
gm = fx.symbolic_trace(lambda a: a * 3)
for node in gm.graph.nodes:
    node.meta["mine"] = node.name
fx.replace_pattern(gm, lambda a: a * 3, lambda a: a + a + a)
print({node.name: node.meta.get("mine") for node in gm.graph.nodes})

# %% proof=true
new_nodes = [node for node in gm.graph.nodes if node.op == "call_function"]
assert len(new_nodes) == 2 and all("mine" not in node.meta for node in new_nodes)

# %% [markdown]
# **Right:** if later passes need the notes, write them again, or copy them in a loop of your own.

# %% [markdown]
# ## Recap
#
# 1. `fx.replace_pattern(gm, pattern, replacement)` edits `gm` in place and returns one `Match` for each place.
# 2. A pattern says one thing exactly: order, spelling, keywords, and numbers with their type all count.
# 3. Parameters are wildcards for anything, and two of them match two different nodes. Inner values must not escape.
#    The first of overlapping places wins. The matcher does not see in-place writes.
# 4. One round may leave new matches. Repeat to a fixpoint, with a limit.
# 5. Modules match by their whole path. For types, numbers and many spellings, normalize the graph or write a loop (the deep dive `04b_matchers`),
#    and test on weights that are not fresh. Between two passes, copy the graph instead of tracing again.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `fx.replace_pattern(gm, pattern, replacement)` | edits `gm`, returns a list of `Match` |
# | `replace_pattern_with_filters(gm, p, r, match_filters=[f])` | calls `f(match, graph, pattern_graph)` for each match without overlaps (experimental) |
# | `match.nodes_map`, `match.placeholder_nodes` | what each node of the pattern, each wildcard, matched |
# | `make_fx(f)(*inputs)` | a graph of ATen operators: one spelling for each operation |
# | `NormalizeArgs(gm).transform()` | arguments by name, if FX knows the overload |
# | `gm.get_submodule(node.target)` | the module that a node calls: ask for its type |
# | `fx.GraphModule(gm, copy.deepcopy(gm.graph))` | a copy of the graph with names and `meta`, on the same weights |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | matchers of your own: types of modules, many spellings, numbers | the deep dive `04b_matchers` |
# | writing rewrite rules as Python that runs on Proxies | chapter 5 |
# | finding out which nodes hold tensors by running the graph | chapter 6 |
# | testing a pass so that you can trust it | chapter 9 |
# | Conv-BN fusion with the right arithmetic | chapter 10 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), section *Subgraph Rewriting With
# replace_pattern()*, and the reference of [torch.fx.replace_pattern](https://docs.pytorch.org/docs/stable/fx.html#torch.fx.replace_pattern).
# More examples are in [pytorch/examples, folder fx](https://github.com/pytorch/examples/tree/main/fx).
