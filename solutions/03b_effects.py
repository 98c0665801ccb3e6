# %% [markdown]
# # 3b · Probes, dead code and side effects
#
# *Nodes without readers*
#
# **After this part you can deal with nodes that no other node reads: insert them to watch a model, say which of them may go, and clean up after you fix a parameter.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, and passes that insert and erase nodes |
# | **Time** | about 120 minutes, 60 of them for the exercises; the minutes of a section include its exercise. Take two sittings, with a break after 3b.2 |
# | **Deep dive** | You can go on to chapter 4 without it. Section 3b.2, about dead code, is needed: chapter 15 uses it, and chapters 7 to 9 come back to it |
#
# **When you are done, you can**
#
# 1. watch the values of a model while it runs, without rewiring anything;
# 2. decide whether a node without readers may be deleted;
# 3. fix a parameter with `concrete_args`, and remove what that leaves;
# 4. say what each new trace loses when several passes run one after the other, and prevent it;
# 5. write a small model that shows that a pass is wrong.

# %% [markdown]
# ## A story
#
# The other team sends you GoogLeNet once more, and this time something is wrong with the file:
# in one place the values become far too large, and the other team does not know where.
# You want to see the values while the network runs, and you must not change what it computes.
#
# They have two more wishes. Their blocks still have calls from old experiments, and no node reads the results. These calls must go.
# And their service always calls a function with the same two flags. The trace must not have these flags any more.
#
# All of this is about nodes without readers. You insert some of them, you must keep others, and you delete the rest.
# In section 3b.5 all three wishes are fulfilled.

# %%
import copy
import inspect
import operator
import pickle
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torchvision.models import googlenet

from autograder import check, draw, drill, fails, hint, progress, suspects
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(3)
print(torch.__version__)


def node_called(gm: fx.GraphModule, name: str) -> fx.Node:
    """The node of that name. For pictures and experiments; a pass does not search by name."""
    return next(node for node in gm.graph.nodes if node.name == name)


# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the graph.** After a node `exp` you insert `clamp`, which reads `exp`. Then you call `exp.replace_all_uses_with(clamp)`. What does `clamp` read?
#
# <details><summary><code>exp</code>, as before</summary>
#
# No. <em>All</em> uses of <code>exp</code> are replaced.
#
# </details>
# <details><summary><code>clamp</code>, itself</summary>
#
# Right. It is a reader of <code>exp</code> like the others (section 3.3).
#
# </details>
# <details><summary>Nothing</summary>
#
# No. A use is replaced, not removed.
#
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x: torch.exp(x) * 2)
exp = node_called(gm, "exp")
with gm.graph.inserting_after(exp):
    clamp = gm.graph.call_function(torch.clamp, (exp,), {"max": 100.0})
exp.replace_all_uses_with(clamp)
assert clamp.args == (clamp,)

# %% [markdown]
# **Predict the result.** `def f(x, flag=False): return x.sin() if flag else x.cos()`. What does `fx.symbolic_trace(f)` do?
#
# <details><summary>It records <code>cos</code>, because the default is false</summary>
#
# No. A trace does not use defaults: both parameters are Proxies.
#
# </details>
# <details><summary>It records both branches</summary>
#
# No. A trace does not have branches.
#
# </details>
# <details><summary>It raises an error</summary>
#
# Right. <code>flag</code> is a Proxy, and Python asks it for a truth value (section 1.5). Section 1.7 shows a way out: <code>concrete_args</code>.
#
# </details>


# %% proof=true
def flagged(x, flag=False):
    return x.sin() if flag else x.cos()


with fails(fx.proxy.TraceError):
    fx.symbolic_trace(flagged)
assert "x.sin()" in fx.symbolic_trace(flagged, concrete_args={"flag": True}).code

# %% [markdown]
# ## 3b.1 Probes: watch without touching
#
# You want to see values while a network runs.
# A **probe** is a call that reads a value and whose own value is not read.
# The new node is inserted, and nothing is rewired at all.


# %%
def show_size(name: str, value: Any) -> None:
    """Print the largest absolute value of a tensor."""
    if isinstance(value, torch.Tensor):
        print(f"{name:10} {value.abs().max().item():12.3f}")


def show_modules(model: nn.Module) -> fx.GraphModule:
    """Print the size of the value that each called module returns."""
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_module":
            with gm.graph.inserting_after(node):
                gm.graph.call_function(show_size, (node.name, node))
    gm.recompile()
    return gm


deep = nn.Sequential(nn.Linear(4, 4), nn.Softplus(), nn.Linear(4, 4)).eval()
gm = show_modules(deep)
print(gm.code)

# %% [markdown]
# The first argument is `node.name`, a string. The second is `node`, which means its *value*.
# Nothing is printed by the pass itself. The probes print when the new module runs:

# %%
x = torch.randn(2, 4)
watched = gm(x)
draw(gm)

# %% proof=true
torch.testing.assert_close(watched, deep(x))
assert not any(node.users for node in gm.graph.nodes if node.target is show_size)

# %% [markdown]
# The graph decides what a probe receives. If you only want the shape, the graph can have a node that reads it:
# `graph.call_function(getattr, (node, "shape"))`.

# %%
gm = fx.symbolic_trace(deep)
first = node_called(gm, "_0")
with gm.graph.inserting_before(first.next):
    shape = gm.graph.call_function(getattr, (first, "shape"))
    gm.graph.call_function(print, (first.name, shape))
gm.recompile()
gm(x)  # prints: _0 torch.Size([2, 4])

# %% proof=true
assert "print('_0', getattr_1)" in gm.code

# %% [markdown]
# A probe may be any callable. But FX writes Python code, and to write a call down it needs a **name**
# under which the code can reach the callable.
# It asks for `__name__`. Functions have one, and so do bound methods of your own classes.
# Many other objects that can be called do not have one:


# %%
class Largest:
    """Remembers the largest absolute value it was shown."""

    seen = 0.0

    def __call__(self, name, value):
        self.seen = max(self.seen, value.abs().max().item())

    def note(self, name, value):
        self(name, value)


largest = Largest()
gm = fx.symbolic_trace(deep)
last = node_called(gm, "_2")
with gm.graph.inserting_after(last):
    gm.graph.call_function(largest.note, (last.name, last))  # a bound method works
gm.recompile()
gm(x)
print("the largest value:", largest.seen)
noted = gm

gm = fx.symbolic_trace(deep)
last = node_called(gm, "_2")
with gm.graph.inserting_after(last), fails(AttributeError):
    gm.graph.call_function(largest, (last.name, last))

# %% proof=true
assert largest.seen == deep(x).abs().max().item()
assert largest.note.__name__ == "note" and not hasattr(largest, "__name__")

# %% [markdown]
# And a `__name__` is not always enough. The method `append` of a list has one, but it does not belong to any module,
# and FX finds that out only when it generates the code.

# %% proof=true
names = []
assert names.append.__name__ == "append"
gm = fx.symbolic_trace(deep)
with gm.graph.inserting_after(node_called(gm, "_2")):
    gm.graph.call_function(names.append, ("here",))
with fails(RuntimeError):
    gm.recompile()

# %% [markdown]
# A plain function of Python, written with `def`, always runs. But if it was defined inside another function,
# the probed module can be copied, and not pickled (chapter 9).


# %% proof=true
def make_probe() -> Callable[[Any], None]:
    def probe(value):
        pass

    return probe


gm = fx.symbolic_trace(deep)
with gm.graph.inserting_after(node_called(gm, "_2")):
    gm.graph.call_function(make_probe(), (node_called(gm, "_2"),))
gm.recompile()
assert torch.equal(copy.deepcopy(gm)(x), deep(x))
with fails(torch.package.importer.ObjNotFoundError):
    pickle.dumps(gm)

# %% [markdown]
# **Predict the output.** This pass was meant to print every value. What does it print, and when?
#
# ```python
# for node in gm.graph.nodes:
#     print(node)
# ```
#
# <details><summary>The values, each time the module runs</summary>
#
# No. This loop inserts no node. It runs once, in your pass.
#
# </details>
# <details><summary>The names of the nodes, once, while the pass runs</summary>
#
# Right. At that time there are no values, only nodes. To print a value when the module runs,
# the *graph* must hold a call of `print`.
#
# </details>

# %% proof=true
gm = fx.symbolic_trace(deep)
for node in gm.graph.nodes:
    print(node)
assert not any(node.target is print for node in gm.graph.nodes)

# %% [markdown] card="probe_values"
# **Given** a model and a callable `probe` with two parameters.
#
# **Return** a new `GraphModule` that calls `probe(name, value)` after every node that is a
# `call_function`, `call_method` or `call_module`: `name` is the name that the node has in the
# model's trace, a string, and `value` is its value.
#
# * Every reader still reads what it read before.
# * `probe` may be a function, a bound method, or any other callable object, with or without
#   a `__name__`.
#
# **Do not** call `probe` in the pass itself, and do not change the model you were given.
#
# **Fine print**
#
# * The probes run in the order in which the nodes are executed, each right after its node.
# * `probe` receives the value itself, not a copy. Its exceptions reach the caller of the module.
# * If two models have two probes, each model calls its own probe only.
# * The result of the module is unchanged, whatever `probe` returns.


# %%
def probe(name, value):
    print(name, value)


class Before(nn.Module):
    def forward(self, x):
        a = torch.sin(x)
        return a.sum() * 2


picture = fx.Graph()  # what is asked, built by hand
x_node = picture.placeholder("x")
a = picture.call_function(torch.sin, (x_node,))
picture.call_function(probe, ("sin", a))
b = picture.call_method("sum", (a,))
picture.call_function(probe, ("sum_1", b))
c = picture.call_function(operator.mul, (b, 2))
picture.call_function(probe, ("mul", c))
picture.output(c)

draw.diff(fx.symbolic_trace(Before()), fx.GraphModule(nn.Module(), picture))


# %% solve="probe_values"
def probe_values(model: nn.Module, probe: Callable[[str, Any], Any]) -> fx.GraphModule:
    """Call `probe(name, value)` after every call in `model`, and change nothing else."""

    ### BEGIN SOLUTION
    # FX writes calls down by `__name__`, which not every callable has; a function has one.
    def call_probe(name: str, value: Any) -> None:
        probe(name, value)

    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in ("call_function", "call_method", "call_module"):
            with gm.graph.inserting_after(node):
                gm.graph.call_function(call_probe, (node.name, node))
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="probe_values"
check(probe_values)

# %% hint="probe_values"
hint("probe_values")

# %% [markdown]
# ## 3b.2 Dead code and side effects
#
# A node without readers is **dead**. To delete such nodes is *dead code elimination* (DCE), and FX has a method for it:
# `graph.eliminate_dead_code()`. It is right if every call is a pure function:


# %%
def f(x):
    torch.sin(x).cos()  # this is not read
    return x + 1


gm = fx.symbolic_trace(f)
gm.graph.eliminate_dead_code()
print(gm.graph)

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "add", "output"]

# %% [markdown]
# But some calls are made for their effect.
#
# **Predict the result.** What does this function return after `eliminate_dead_code`?
#
# ```python
# def g(x):
#     y = x + 1
#     y.mul_(10)      # in place
#     return y
# ```
#
# <details><summary><code>(x + 1) * 10</code>, because the multiplication changes <code>y</code></summary>
#
# That is what `g` returns. But no node *reads* `mul_`. FX takes it for dead and deletes it.
#
# </details>
# <details><summary><code>x + 1</code></summary>
#
# Right, and it is wrong. The node `mul_` has no reader. Its effect is on the memory of `y`,
# and the graph does not show that effect.
#
# </details>


# %% proof=true
def g(x):
    y = x + 1
    y.mul_(10)
    return y


gm = fx.symbolic_trace(g)
gm.graph.eliminate_dead_code()
gm.recompile()
assert torch.equal(g(torch.ones(2)), torch.full((2,), 20.0))
assert torch.equal(gm(torch.ones(2)), torch.full((2,), 2.0))  # wrong

# %% [markdown]
# A transformation that may change the result is **unsound**.
# The documentation of `eliminate_dead_code` says: assume that it is not sound, unless your graph is entirely functional
# or you supply your own predicate.
#
# A call that has an effect in addition to its value is **impure**.
# FX asks `node.is_impure()` before it deletes a node. What does it know? (Run with torch 2.14.)


# %%
class Effects(nn.Module):
    def __init__(self):
        super().__init__()
        self.inplace_relu = nn.ReLU(inplace=True)
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x):
        x.mul_(2)  # a method in place
        torch.relu_(x)  # a function in place
        F.relu(x, inplace=True)  # the same by keyword
        torch.add(x, 1, out=x)  # the result goes into `x`
        x.__setitem__(0, 1.0)  # x[0] = 1.0
        self.inplace_relu(x)
        self.norm(x)  # in training mode it updates its statistics
        torch._assert(x.sum() > 0, "empty")
        torch.rand_like(x)  # draws random numbers
        return x


for node in fx.symbolic_trace(Effects()).graph.nodes:
    if node.op.startswith("call") and not node.users:
        print(f"{node.name:14} impure according to FX: {node.is_impure()}")

# %% proof=true
calls = [n for n in fx.symbolic_trace(Effects()).graph.nodes if n.op.startswith("call")]
known = {node.name: node.is_impure() for node in calls if not node.users}
assert [name for name, impure in known.items() if impure] == ["_assert", "rand_like"]

# %% [markdown]
# It knows two of them: the assertion and `torch.rand_like`. It does not know any of the in-place calls.
# Its knowledge has gaps in other places, too. It knows the function `operator.setitem`, but not the method `__setitem__`.
# It knows `torch.rand_like`, but neither `F.dropout` nor `x.bernoulli_()`, which draw random numbers as well.
#
# Graphs of `torch.ops.aten` are better off. `make_fx` records such a graph (chapter 11).
# Each operator has a schema, which is its signature, and the schema says what the operator changes.

# %%
aten = make_fx(lambda x: (x.add_(1), x * 2)[1])(torch.ones(2))
print({str(node.target): node.is_impure() for node in aten.graph.nodes})
print(torch.ops.aten.add_.Tensor._schema)

# %% proof=true
graph = fx.Graph()
x_node = graph.placeholder("x")
assert graph.call_function(operator.setitem, (x_node, 0, 1.0)).is_impure()
assert not graph.call_method("__setitem__", (x_node, 0, 1.0)).is_impure()
assert not graph.call_function(F.dropout, (x_node,)).is_impure()
assert not graph.call_method("bernoulli_", (x_node,)).is_impure()
impure = {str(node.target): node.is_impure() for node in aten.graph.nodes}
assert impure["aten.add_.Tensor"] and not impure["aten.mul.Tensor"]
assert torch.ops.aten.add_.Tensor._schema.is_mutable

# %% [markdown]
# So a sound pass needs a predicate of its own: *may this call do anything besides returning a value?*
# When in doubt, keep the node. PyTorch's naming rules help:
#
# | effect | how you see it |
# |---|---|
# | method or function in place | its name ends in one `_`: `mul_`, `relu_` |
# | assignment to an item | method `__setitem__`, function `operator.setitem` |
# | in-place operator | `operator.iadd`, `operator.imul` and so on |
# | by keyword | `inplace=True`, or an `out=` |
# | module in place | its attribute `inplace` is true |
# | BatchNorm | it updates its statistics while **its own** `training` flag is set |
# | checks and output | `torch._assert`, `print` |
# | other leaves that write | an embedding with `max_norm`, an instance norm with statistics, spectral norm, hooks |
#
# One exception: Python's module `operator` has pure functions whose names end in `_`,
# because `and`, `or`, `not` and `is` are reserved words. `x & y` is recorded as `operator.and_`.


# %% proof=true
node = node_called(fx.symbolic_trace(lambda x, y: x & y), "and_")
assert node.target is operator.and_ and node.target.__name__ == "and_"

table = nn.Embedding.from_pretrained(torch.full((3, 2), 9.0), max_norm=1.0)
gm = fx.symbolic_trace(nn.Sequential(table))
assert not node_called(gm, "_0").is_impure()
gm(torch.tensor([0]))
assert table.weight[0].norm() < 2 < table.weight[1].norm()  # the call has written to the weight

# %% [markdown]
# This function has several dead calls:


# %%
def block(x, y):
    torch.sin(y).clamp(0, 1)
    x.clamp_(0, 1)
    torch.add(x, y, out=x)
    torch._assert(x.sum() > 0, "empty")
    x & y
    return y


blocks_graph = fx.symbolic_trace(block).graph

# %% [markdown]
# **Drill 03b.2a.** Which calls must a sound pass keep although no node reads them? Write the list of their names, in the order of the graph.

# %% drill=true
must_stay = ["clamp_", "add", "_assert"]
drill("03b.2a", must_stay)
# Mistake: What FX knows about effects has gaps.
# must_stay = [n.name for n in blocks_graph.nodes if n.op.startswith("call") and n.is_impure()]

# %% [markdown]
# `symbolic_trace` does not record Python's `print`, `operator.setitem` and `operator.iadd`, unless you register them with
# `fx.wrap` (section 1.6). On a Proxy, `print` prints while you trace, `setitem` raises, and `iadd` is recorded as an addition.
# Graphs of `torch.compile` do have `setitem` and `iadd` (chapter 11).

# %% proof=true
gm = fx.symbolic_trace(lambda x: operator.iadd(x, 1))
assert [node.target for node in gm.graph.nodes] == ["x", operator.add, "output"]
for traced_once in (lambda x: (print("printed while tracing:", x), x)[1], lambda x: x):
    assert len(fx.symbolic_trace(traced_once).graph.nodes) == 2  # no node for print
with fails(TypeError):
    fx.symbolic_trace(lambda x: operator.setitem(x, 0, 1))

# %% [markdown]
# Here is a small worked example: delete the dead calls of *one* function that you know to be pure.
# The loop goes backwards, so that a whole chain goes in one sweep.


# %%
def delete_dead_calls(model: nn.Module, function: Callable[..., Any]) -> fx.GraphModule:
    """Delete the calls of a pure function whose values are not read."""
    gm = fx.symbolic_trace(model)
    for node in reversed(list(gm.graph.nodes)):
        if node.op == "call_function" and node.target is function and not node.users:
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


def f(x):
    torch.sin(torch.sin(x))
    x.add_(1)
    return torch.sin(x)


gm = delete_dead_calls(f, torch.sin)
print(gm.code)

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "add_", "sin_2", "output"]

# %% [markdown]
# Instead of a loop of your own, you may hand your predicate to FX:
# `graph.eliminate_dead_code(is_impure_node=...)` keeps every node for which it returns `True`.
# Your predicate replaces FX's own, so it must say `True` for placeholders and the output as well.


# %%
def f(x):
    torch.sin(x)
    x.add_(1)
    return x


def keeps_add(node: fx.Node) -> bool:
    return node.op in ("placeholder", "output") or node.target == "add_"


gm = fx.symbolic_trace(f)
gm.graph.eliminate_dead_code(is_impure_node=keeps_add)
print(gm.graph)

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "add_", "output"]
gm = fx.symbolic_trace(lambda x, unused: x)
gm.graph.eliminate_dead_code(is_impure_node=lambda node: node.op == "output")
gm.recompile()
assert "unused" not in gm.code  # another signature than the caller's

# %% [markdown] card="sound_dce"
# **Given** a model; each of its modules is in training or eval mode.
#
# **Return** a new `GraphModule` without the nodes that cannot influence the result, and with all that can.
# Keep, even if they have no readers:
#
# * in-place methods and functions of tensors: a name that ends in a single `_`
#   (Python's `operator.and_`, `or_`, `not_` and `is_` are pure),
# * calls with `out=`, calls with `inplace=True`, modules whose `inplace` is true,
# * BatchNorm modules in training mode,
# * every placeholder, read or not.
#
# All other dead nodes go, in chains of any length.
#
# **Do not** change the model you were given.
#
# **Fine print**
#
# * `torch._assert` and `print` stay, too, and so do `operator.setitem`, `operator.iadd` and its family, and their methods, such as `__iadd__`.
# * Modules that are no longer called go.
# * Not tried: dead random calls, norms called as functions in training mode, instance norms with statistics,
#   embeddings with `max_norm`, spectral norms, and layers with hooks.


# %%
class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.sin(x)
        self.linear(y).cos()
        y.mul_(2)
        return y


class After(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        y.mul_(2)
        return y


draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="sound_dce"
def sound_dce(model: nn.Module) -> fx.GraphModule:
    """Delete the nodes of `model` that cannot influence its result, and no others."""
    ### BEGIN SOLUTION
    in_place_operators = (
        *(operator.iadd, operator.isub, operator.imul, operator.imatmul, operator.itruediv),
        *(operator.ifloordiv, operator.imod, operator.ipow, operator.iconcat),
        *(operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift),
    )
    effects = {*in_place_operators, operator.setitem, print}
    pure = {operator.and_, operator.or_, operator.not_, operator.is_}
    gm = fx.symbolic_trace(model)

    def name_says_in_place(name: str) -> bool:
        if name.endswith("__"):  # `__setitem__` and `__iadd__` are operators under another name
            return getattr(operator, name, None) in effects
        return name.endswith("_")

    def module_has_effect(module: nn.Module) -> bool:
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.training:
            return True
        return bool(getattr(module, "inplace", False))

    def has_effect(node: fx.Node) -> bool:
        # What FX knows itself: placeholders, the output, assertions, operators with a schema.
        if node.is_impure() or node.kwargs.get("inplace") or node.kwargs.get("out") is not None:
            return True
        if node.op == "call_module":
            return module_has_effect(gm.get_submodule(node.target))
        if node.op == "call_method":
            return name_says_in_place(node.target)
        if node.op == "call_function" and node.target not in pure:
            return node.target in effects or name_says_in_place(node.target.__name__)
        return False  # a pure function, or get_attr

    # Backwards: when a dead node goes, those that only it read become dead.
    for node in reversed(list(gm.graph.nodes)):
        if not node.users and not has_effect(node):
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="sound_dce"
check(sound_dce)

# %% hint="sound_dce"
hint("sound_dce")

# %% [markdown]
# ## 3b.3 Fix a parameter for good
#
# Flags and optional parameters are not tensors, and branches on them cannot be traced.
# Section 1.7 fixed such parameters with `concrete_args`, and something was left over:


# %%
def pool(x, weights=None, largest=False):
    if weights is not None:
        x = x * weights
    return x.amax(dim=-1) if largest else x.mean(dim=-1)


gm = fx.symbolic_trace(pool, concrete_args={"weights": None, "largest": True})
print("forward takes", inspect.signature(gm.forward))
gm.graph.eliminate_dead_code()
print(gm.graph)

# %% proof=true
assert list(inspect.signature(gm.forward).parameters) == ["x", "weights_1", "largest_1"]
assert any(node.target is torch._assert for node in gm.graph.nodes)

# %% [markdown]
# The parameters are still there, under new names. A fixed value also adds an assertion.
# Dead code elimination removes only that of a `None`. The other stays, because `torch._assert` has an effect. A placeholder stays, because it belongs to the signature.
# But here you know more than it does: that assertion is about a value that is fixed.
#
# Two more facts. A name that is not a parameter is ignored, without a message.
# And the new name may be taken: for a function with parameters `flag` and `flag_1`, the code is not valid Python.


# %% proof=true
def twins(x, flag, flag_1):
    return x + flag_1 if flag else x - flag_1


gm = fx.symbolic_trace(pool, concrete_args={"weights": None, "largest": True, "larger": False})
assert "larger" not in gm.code  # there is no such parameter, and there was no error

graph = fx.Tracer().trace(twins, concrete_args={"flag": True})
targets = [node.target for node in graph.nodes if node.op == "placeholder"]
assert targets == ["x", "flag_1", "flag_1"]

with fails(SyntaxError):
    fx.symbolic_trace(twins, concrete_args={"flag": True})

# %% [markdown]
# Here is another function with a flag:


# %%
def scaled(x, scale=2.0, flag=False, power=2):
    return (x * scale if flag else x) ** power


# %% [markdown]
# **Drill 03b.3a.** You trace `scaled` with `concrete_args={"flag": True}`. Write the list of the parameters' names
# that `forward` of the trace has.

# %% drill=true
parameters = ["x", "scale", "flag_1", "power"]
drill("03b.3a", parameters)
# Mistake: FX does not take a fixed parameter out of the signature.
# parameters = ["x", "scale", "power"]

# %% proof=true
forward = fx.symbolic_trace(scaled, concrete_args={"flag": True}).forward
assert list(inspect.signature(forward).parameters) == ["x", "scale", "flag_1", "power"]

# %% [markdown]
# ### Taking the leftovers out by hand
#
# What remains of a fixed parameter is a small chain: its placeholder, and the nodes that check it.
# Nothing else reads the placeholder, because the function was given the value itself.
#
# So you erase the chain backwards, the last reader first. Here it is for `weights`, whose chain has two nodes.
# We trace with `Tracer().trace`, which gives the graph alone, edit the graph, and make the module afterwards.

# %%
graph = fx.Tracer().trace(pool, concrete_args={"weights": None, "largest": True})
x_node, weights, check_none, *_ = graph.nodes
print(weights.format_node())
print(check_none.format_node())

graph.erase_node(check_none)  # the reader first
graph.erase_node(weights)
graph.lint()

# This function reads no module and no tensor, so an empty root is enough.
half_done = fx.GraphModule(nn.Module(), graph)
print("forward takes", inspect.signature(half_done.forward))

# %% [markdown]
# **Predict the graph.**
# Next you remove the parameter `largest_1`. In which order must its nodes go?
#
# <details><summary>largest_1, eq, _assert</summary>
#
# No. <code>largest_1</code> is read by <code>eq</code>, and <code>erase_node</code> raises a <code>RuntimeError</code> for a node that has users.
# </details>
# <details><summary>_assert, eq, largest_1</summary>
#
# Right. You can erase a node when no node reads it any more.
# </details>
# <details><summary>Only _assert: the others disappear with it</summary>
#
# No. Erasing removes one node. <code>eq</code> would stay and be computed without any use, and the parameter would stay in the signature.
# </details>

# %% proof=true
remaining = copy.deepcopy(graph)
nodes = {node.name: node for node in remaining.nodes}
with fails(RuntimeError):
    remaining.erase_node(nodes["largest_1"])

for name in ("_assert", "eq", "largest_1"):
    remaining.erase_node(nodes[name])

done = fx.GraphModule(nn.Module(), remaining)
x = torch.randn(2, 3)
assert torch.equal(done(x), pool(x, None, True))
assert list(inspect.signature(done.forward).parameters) == ["x"]

# %% [markdown]
# For a model with submodules an empty root is not enough: the graph calls modules that the root does not have.
# Keep the tracer, and pass its root. This works for functions too.
# Until there is a module, `lint` cannot check targets (section 2.6), and `eliminate_dead_code` raises an error if the graph calls a module.


# %%
class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(3, 3)

    def forward(self, x, on=True):
        return self.gate(x) if on else x


tracer = fx.Tracer()
graph = tracer.trace(Gated(), concrete_args={"on": True})
with fails(AssertionError):
    graph.eliminate_dead_code()
with fails(AttributeError):
    fx.GraphModule(nn.Module(), graph)

# %% proof=true
assert fx.GraphModule(tracer.root, graph).gate is tracer.root.gate

# %% [markdown] card="specialize"
# **Given** a function or a module, and values for some of its parameters by name, **return** a `GraphModule` of it with these parameters fixed. A value is a bool, an int, a float, `None` or a string.
#
# * `forward` of the result no longer has the fixed parameters. All others keep their names, their order and their defaults.
# * No assertion about the fixed parameters remains, nor a comparison that only fed one.
# * A name that is not a parameter: `TypeError`.
# * A function may have both `flag` and `flag_1` as parameters.
#
# **Do not** change the model that you are given.
#
# **Fine print**
#
# * Parameters that are not used remain, and so do assertions that the function makes itself.
# * A function may also have `flag`, `flag_1` and `flag_2`.
# * A function may read a tensor from around it, and have parameters that are given by keyword alone.
# * Functions with `*args`, `**kwargs` or positional-only parameters (`/`) are not tried. Signatures that Python cannot write are not tried either: after removing, a parameter without a default never follows one with a default.

# %% [markdown]
# The picture shows a function with two parameters fixed: what `concrete_args` leaves, and what you must return.


# %%
def step(x, by=None, back=False):
    x = x.sin() if by is None else x + by
    return -x if back else x


left_by_fx = fx.symbolic_trace(step, concrete_args={"by": None, "back": True})
draw.diff(left_by_fx, fx.symbolic_trace(lambda x: -x.sin()))


# %% solve="specialize"
def specialize(fn, **constants) -> fx.GraphModule:
    """Trace a function or module with some of its parameters fixed.

    Args:
        fn: a function, or a module, without ``*args`` and ``**kwargs``.
        **constants: Python values by the names of the parameters to fix.

    Returns:
        A module whose ``forward`` takes the other parameters.

    Raises:
        TypeError: for a name that is not a parameter of ``fn``.
    """
    ### BEGIN SOLUTION
    forward = fn.forward if isinstance(fn, nn.Module) else fn
    parameters = list(inspect.signature(forward).parameters)
    for name in constants:
        if name not in parameters:
            raise TypeError(f"{name!r} is not a parameter of {fn!r}")

    # Only the graph: a GraphModule cannot be made while two parameters have one name.
    tracer = fx.Tracer()
    graph = tracer.trace(fn, concrete_args=constants)

    # FX renames placeholders, but they are in the order of the parameters.
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    for name, placeholder in zip(parameters, placeholders, strict=True):
        if name not in constants:
            # The target is the name in the signature. If the node's own name differs
            # from it, the code begins with `name = target`, which may overwrite a parameter.
            if placeholder.name in parameters:
                placeholder.name = name
            continue
        # fn was given the value itself, so all that follows the placeholder is its check.
        doomed = [placeholder]
        for node in doomed:  # the list grows while we walk along it
            doomed += [user for user in node.users if user not in doomed]
        for node in reversed(doomed):
            graph.erase_node(node)

    name = type(fn).__name__ if isinstance(fn, nn.Module) else fn.__name__
    return fx.GraphModule(tracer.root, graph, name)
    ### END SOLUTION


# %% check="specialize"
check(specialize)

# %% hint="specialize"
hint("specialize")

# %% [markdown]
# ## 3b.4 Passes in a row
#
# A real job needs several passes, and the result of one is the model of the next.
# Each pass of chapter 3 and of this part begins with `symbolic_trace`, so the second pass traces the *generated code* of the first.
# That gives a correct graph. But a trace records calls and nothing else, and some things get lost on the way.
#
# | after a second trace | what happens |
# |---|---|
# | names | made again from what is called now: a node `sin` that calls `cos` becomes `cos` |
# | `node.meta`, where passes keep notes | the notes are lost |
# | probes | they run **while tracing**, with Proxies; the calls are lost, and what they compute is recorded, or raises |
# | what another tracer kept whole | opened again by the default rule for leaves |
# | modes of new containers | training mode again |
#
# The first three rows:


# %%
class Wave(nn.Module):
    def forward(self, x):
        return torch.sin(x) + torch.sin(2 * x)


def sin_to_cos(model: nn.Module) -> fx.GraphModule:
    """Replace every call of `torch.sin` by a call of `torch.cos`: the first pass of chapter 3."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target is torch.sin:
            node.target = torch.cos
    gm.recompile()
    return gm


once = sin_to_cos(Wave())
node_called(once, "sin").meta["note"] = ["looked at"]
again = fx.symbolic_trace(once)
print([n.name for n in once.graph.nodes], "→", [n.name for n in again.graph.nodes])

# %% proof=true
print("notes:", [n.meta for n in again.graph.nodes if "note" in n.meta])
assert "sin" in [n.name for n in once.graph.nodes]
assert "sin" not in [n.name for n in again.graph.nodes]
assert not any("note" in n.meta for n in again.graph.nodes)

# %% [markdown]
# Here is another result of the same pass:

# %%
first_result = sin_to_cos(lambda x: torch.sin(x) + torch.cos(x))
print(first_result.code)

# %% [markdown]
# **Drill 03b.4a.** You trace `first_result` again. Write the list of the names of all nodes of the new trace, in the order of the graph.

# %% drill=true
new_names = ["x", "cos", "cos_1", "add", "output"]
drill("03b.4a", new_names)
# Mistake: These are the names before the second trace.
# new_names = [node.name for node in first_result.graph.nodes]

# %%
kept = []  # what the probe is given


def remember(name: str, value: Any) -> None:
    """A probe that keeps the type of each value."""
    kept.append(type(value).__name__)


def remember_modules(model: nn.Module) -> fx.GraphModule:
    """Call `remember` after each called module."""
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_module":
            with gm.graph.inserting_after(node):
                gm.graph.call_function(remember, (node.name, node))
    gm.recompile()
    return gm


def probes_in(gm: fx.GraphModule) -> int:
    return sum(node.target is remember for node in gm.graph.nodes)


probed = remember_modules(deep)
wrong_order = sin_to_cos(probed)  # the next pass: it traces `probed`
print("given to the probe while tracing:", kept, " probes left:", probes_in(wrong_order))

# %% proof=true
assert kept == ["Proxy"] * 3 and probes_in(wrong_order) == 0 and probes_in(probed) == 3
with fails(fx.proxy.TraceError):
    fx.symbolic_trace(noted)  # the probe of section 3b.1 compares numbers


def keep_absolute(value: Any) -> None:
    kept.append(value.abs())


gm = fx.symbolic_trace(deep)
with gm.graph.inserting_after(node_called(gm, "_0")):
    gm.graph.call_function(keep_absolute, (node_called(gm, "_0"),))
gm.recompile()
assert [n.name for n in fx.symbolic_trace(gm).graph.nodes][2] == "abs_1"  # not the probe


class KeepsSequential(fx.Tracer):
    """A tracer that keeps every `nn.Sequential` whole."""

    def is_leaf_module(self, module, path):
        return isinstance(module, nn.Sequential) or super().is_leaf_module(module, path)


tracer = KeepsSequential()
pair = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.ELU()), nn.Linear(4, 4)).eval()


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.pair = pair

    def forward(self, x):
        return self.pair(x)


graph = tracer.trace(Holder().eval())
whole = fx.GraphModule(tracer.root, graph)
assert [n.op for n in whole.graph.nodes] == ["placeholder", "call_module", "output"]
opened = fx.symbolic_trace(whole)
assert len(opened.graph.nodes) == 5  # three leaves now
assert opened.pair.training and not opened.pair.get_submodule("1").training

# %% [markdown]
# **Predict the result.** A pass `relu_after_exp` puts a ReLU after each `exp`. You run it twice. How many ReLUs are there for one `exp`?
#
# <details><summary>One, because the second run finds that the work is done</summary>
#
# Not unless the pass looks. It would have to ask whether the reader of `exp` is a ReLU already.
#
# </details>
# <details><summary>Two</summary>
#
# Right. The pass looks for `exp`, and `exp` is still there. A pass that changes nothing when it runs a second time is called **idempotent**.
# `sin_to_cos` is idempotent, because after it there is no `sin` to find. A pass that inserts is not, unless it looks for its own work.
#
# </details>
# <details><summary>None: the second run removes what the first has inserted</summary>
#
# No. A pass does not know that it has run before.
#
# </details>


# %% proof=true
def relu_after_exp(model: nn.Module) -> fx.GraphModule:
    """Pass the value of every `torch.exp` through `torch.relu`."""
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.target is torch.exp:
            with gm.graph.inserting_after(node):
                relu = gm.graph.call_function(torch.relu)
            node.replace_all_uses_with(relu)
            relu.args = (node,)
    gm.recompile()
    return gm


twice = relu_after_exp(relu_after_exp(lambda x: torch.exp(x) * 2))
assert sum(n.target is torch.relu for n in twice.graph.nodes) == 2
assert len(sin_to_cos(sin_to_cos(Wave())).graph.nodes) == len(sin_to_cos(Wave()).graph.nodes)

# %% [markdown]
# ### What to do about it
#
# 1. **Order.** Passes that change the computation come first, probes last.
# 2. **A copy of the graph instead of a trace.** If the model is a `GraphModule` already, its graph can be copied.
#    The copy keeps names, notes and probes. It shares the submodules, as a trace does, and the objects in `meta`.
# 3. **In place, if the caller asks for it.** A pass may edit the `GraphModule` that it is given.
#    It loses nothing, but it changes the caller's module. Say so in the docstring.
#
# The second way, as a function that can replace `fx.symbolic_trace` in each pass:


# %%
def own_graph(model: nn.Module) -> fx.GraphModule:
    """A graph module of your own: a copy of the graph if there is one, otherwise a trace."""
    if isinstance(model, fx.GraphModule):
        gm = fx.GraphModule(model, copy.deepcopy(model.graph))  # shares submodules
        for path, module in gm.named_modules():  # containers are new: give them their mode
            module.training = model.get_submodule(path).training
        return gm
    return fx.symbolic_trace(model)


copied = own_graph(once)
print([n.name for n in copied.graph.nodes], node_called(copied, "sin").meta["note"])

# %% proof=true
assert [n.name for n in copied.graph.nodes] == [n.name for n in once.graph.nodes]
assert node_called(copied, "sin").meta["note"] is node_called(once, "sin").meta["note"]
assert copied.graph is not once.graph
kept.clear()
assert probes_in(own_graph(probed)) == 3 and kept == []
assert own_graph(whole).pair is whole.pair
assert own_graph(opened.eval()).pair.training is False

# %% [markdown]
# The third way is `sin_to_cos` without its first line.
# The module that comes back is the one that was given, with its names and notes.


# %% proof=true
def sin_to_cos_in_place(gm: fx.GraphModule) -> fx.GraphModule:
    """Replace `torch.sin` by `torch.cos` **in the module that is given**, and return it."""
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target is torch.sin:
            node.target = torch.cos
    gm.recompile()
    return gm


given = fx.symbolic_trace(Wave())
node_called(given, "sin").meta["note"] = "looked at"
assert sin_to_cos_in_place(given) is given and "torch.cos" in given.code
assert node_called(given, "sin").meta["note"] == "looked at"

# %% [markdown]
# ## 3b.5 The other team's wishes
#
# Now the wishes of the story, with the functions that you wrote.
# (If a cell here raises `NotImplementedError`, the exercise it uses is still open.)
#
# The network comes with a damaged number: one of the weights of a BatchNorm. Your job is to find out where.

# %%
healthy = make_alive(googlenet(weights=None, init_weights=False))
network = copy.deepcopy(healthy)
with torch.no_grad():
    network.inception4b.branch2[1].bn.weight[3] = 1e6  # they did not tell you where
image = images(1)

# %% [markdown]
# **Where do the values become too large?** Probe every call, and look for the first large value.

# %% uses="probe_values"
sizes: dict[str, float] = {}


def note_size(name: str, value: Any) -> None:
    """A probe: keep the largest absolute value of each tensor."""
    if isinstance(value, torch.Tensor):
        sizes[name] = value.abs().max().item()


with torch.no_grad():
    probe_values(network, note_size)(image)
suspect = next(name for name, size in sizes.items() if size > 1000)
around = list(sizes).index(suspect)
for name in list(sizes)[around - 2 : around + 2]:
    print(f"{name:28} {sizes[name]:14.4f}")

# %% proof=true
assert suspect == "inception4b_branch2_1_bn"

# %% [markdown]
# A BatchNorm, so look at its parameters. All weights but one lie between 0.5 and 1.5.
# The other team tells you the right number for this one.
#
# We may not repair their layer, because their model must stay as it was. So we repair the *call*:
# a copy of the layer with the right number, under a new path.


# %% uses="probe_values"
def replace_module(model: nn.Module, path: str, new: nn.Module) -> fx.GraphModule:
    """Call `new` wherever the module at `path` was called."""
    gm = fx.symbolic_trace(model)
    gm.add_submodule("replaced_" + path.replace(".", "_"), new)
    for node in gm.graph.nodes:
        if node.op == "call_module" and node.target == path:
            node.target = "replaced_" + path.replace(".", "_")
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


path = node_called(fx.symbolic_trace(network), suspect).target
damaged = network.get_submodule(path)
largest = damaged.weight.topk(3)
print(path, "has the largest weights", largest.values.tolist(), "at", largest.indices.tolist())

repaired = copy.deepcopy(damaged)
with torch.no_grad():
    repaired.weight[3] = healthy.get_submodule(path).weight[3]
fixed = replace_module(network, path, repaired)
assert_same_results(fixed, healthy, image)
with fails(AssertionError):
    assert_same_results(network, healthy, image)

# %% proof=true
assert largest.indices[0] == 3 and largest.values[0] == 1e6 and largest.values[1] < 1.5
assert network.get_submodule(path).weight[3] == 1e6  # their model is as it was

# %% [markdown]
# Are all values small now? Probes are inserted last (section 3b.4):

# %% uses="probe_values"
sizes.clear()
with torch.no_grad():
    probe_values(fixed, note_size)(image)
print("the largest value of the whole run:", max(sizes.values()))

# %% proof=true
assert max(sizes.values()) < 1000

# %% [markdown]
# **The calls from old experiments.** GoogLeNet itself has no dead code. A block of the other team has some, and a call that only looks dead:


# %% uses="sound_dce"
class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        torch.sin(x)  # left over from an experiment
        y = x + self.linear(x)
        y.clamp_(min=0)  # not read, and needed
        return y


residual = Residual()
cleaned = sound_dce(residual)
print(cleaned.code)

# %% proof=true
assert len(sound_dce(network).graph.nodes) == len(fx.symbolic_trace(network).graph.nodes)
assert [n.name for n in cleaned.graph.nodes] == ["x", "linear", "add", "clamp_", "output"]
x = torch.randn(2, 4)
torch.testing.assert_close(cleaned(x), residual(x))

# %% [markdown]
# **The two flags** of the service:

# %% uses="specialize"
served = specialize(pool, weights=None, largest=True)
print(served.code)

# %% proof=true
assert list(inspect.signature(served.forward).parameters) == ["x"]
assert torch.equal(served(x), pool(x, None, True))

# %% [markdown]
# ## 3b.6 Break it: a page of PyTorch's documentation
#
# So far the cards told you on which model your pass is wrong. Now it is your turn: here is a pass that is wrong, and you write the model.
# It is about inserting a node (section 3.3).
# We call such a model a **witness**. It is a class with a class attribute `inputs`: one tuple with all the arguments of `forward`.
#
# The pass is the **suspect**. It is a function that you can play with. This one does what a page of PyTorch's documentation tells you to do:

# %%
gm = suspects.self_loop(fx.symbolic_trace(lambda x: torch.exp(x) * 2))
print(gm.code)  # there is no sum: right

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "exp", "mul", "output"]

# %% [markdown]
# `check` traces your model under three seeds, and lets the suspect work on a copy of each trace.
# You win if the suspect's graph fails, or gives another result than right passes give, and your model runs without it.
# A witness is small: each `call_…` node of its trace counts.

# %% [markdown] card="WitnessSelfLoop"
# **The suspect** is `suspects.self_loop`. **Its task:** put a `torch.relu` after every call of the function `torch.add`.
#
# **Write** the class `WitnessSelfLoop`, a model on which it is wrong, with the class attribute `inputs`: one tuple of arguments. Only PyTorch's own functions, methods and layers may be in its trace.
#
# **At most 2 calls.** The shortest that we know has 1.
#
# **Fine print**
#
# * The model and its trace give the same result.

# %%
# A model on which the suspect is right: it does not call `torch.add`.
draw(suspects.self_loop(fx.symbolic_trace(lambda x: torch.exp(x) * 2)))


# %% solve="WitnessSelfLoop"
class WitnessSelfLoop(nn.Module):
    """A model on which `suspects.self_loop` is wrong: at most 2 calls.

    Attributes:
        inputs: the arguments of `forward`, as one tuple. Put in what you need.
    """

    inputs = (torch.tensor([-1.0, 2.0]),)

    def forward(self, x):
        ### BEGIN SOLUTION
        return torch.add(x, 1)
        ### END SOLUTION


# %% check="WitnessSelfLoop"
check(WitnessSelfLoop)

# %% hint="WitnessSelfLoop"
hint("WitnessSelfLoop")

# %% [markdown]
# Seven more suspects wait in the deep dive `09b_duels`.

# %% [markdown]
# ## Common mistakes
#
# ### Probes, then dead code elimination
#
# A probe does not have readers. For `eliminate_dead_code` it is dead:

# %%
gm = show_modules(nn.Sequential(nn.Linear(4, 4)))
gm.graph.eliminate_dead_code()
print(gm.graph)  # all gone, and no message

# %% proof=true
assert not any(n.target is show_size for n in gm.graph.nodes)

# %% [markdown]
# **Right:** insert probes last, or give the method a predicate that keeps them.


# %%
def keeps_probes(node: fx.Node) -> bool:
    return node.target is show_size or node.is_impure()


gm = show_modules(nn.Sequential(nn.Linear(4, 4)))
gm.graph.eliminate_dead_code(is_impure_node=keeps_probes)
print(gm.graph)

# %% proof=true
assert any(n.target is show_size for n in gm.graph.nodes)

# %% [markdown]
# FX also has `torch.fx.node.has_side_effect`, which marks a function as impure. The mark is for every graph of the process,
# and PyTorch does not promise to keep this function.


# %% proof=true
@fx.node.has_side_effect
def shout(value: Any) -> None:
    print("HERE", value)


gm = fx.symbolic_trace(lambda x: torch.exp(x) * 2)
with gm.graph.inserting_before(node_called(gm, "exp").next):
    gm.graph.call_function(shout, (node_called(gm, "exp"),))
gm.graph.eliminate_dead_code()
assert any(n.target is shout for n in gm.graph.nodes)  # it stays

# %% [markdown]
# ### Dead code is deleted in the order of the nodes
#
# A node becomes dead when its last reader goes. A loop that goes forwards meets it too early (section 3.5).
# **Right:** `reversed(list(gm.graph.nodes))`.
#
# ## Recap
#
# 1. A probe is a call that reads a value, and no node reads the probe. It needs a callable with a `__name__` that FX can write down.
# 2. A node without readers may still have an effect. `eliminate_dead_code` does not know most effects, so a sound pass has a predicate of its own.
# 3. `concrete_args` leaves placeholders and assertions. Erase each chain backwards, and make the module afterwards.
# 4. A second trace gives new names and loses notes and probes. Probes come last, or copy the graph instead.
# 5. To show that a pass is wrong, write a small model on which it is wrong.
#
# ## Cheat sheet
#
# | you want | you write |
# |---|---|
# | to watch a value | `graph.call_function(probe, (node.name, node))`, after `node` |
# | to know what FX takes for an effect | `node.is_impure()` |
# | to delete dead code, with a predicate of your own | `graph.eliminate_dead_code(is_impure_node=f)`, or a loop that goes backwards |
# | parameters fixed | `tracer.trace(model, concrete_args={"flag": True})`, then erase what is left |
# | a module for an edited graph | `fx.GraphModule(tracer.root, graph)` |
# | a graph of your own from a `GraphModule` | `fx.GraphModule(gm, copy.deepcopy(gm.graph))` |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# **Not taught here:** watching values without a new graph, with an `Interpreter` (chapter 6), which node writes into which value
# (chapter 7), tracers of your own (chapter 8), more suspects (the deep dive `09b_duels`).
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), the reference of `Graph.eliminate_dead_code` and of `Tracer.trace`.
#
# PyTorch does not promise to keep `Node.is_impure`. It does promise `eliminate_dead_code(is_impure_node=...)`.
