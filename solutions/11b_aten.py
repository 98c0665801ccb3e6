# %% [markdown]
# # 11b · ATen graphs: views and the backward
#
# **After this part you can remove what does nothing from an ATen graph, and get the graph of a model's backward.**
#
# | | |
# |---|---|
# | **You need** | sections 11.4 to 11.6 of chapter 11 |
# | **Time** | about 85 minutes, 50 of them for the exercises |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. remove views that do nothing, by the shapes in `meta["val"]`;
# 2. compare symbolic sizes, and add no guard;
# 3. get the backward graph of a model, and leave the model as it was.

# %% [markdown]
# ## A story
#
# The mobile team of chapter 11 has its program: a file that `torch.export` made. Then a question comes.
#
# *Our runtime copies the tensor at each view, even where the shape stays the same. Can these nodes go?*
#
# And the training team asks: *which operators does training need, besides those of the forward?*
#
# Both questions are about graphs of ATen operators.

# %%
import copy
import operator
from collections import Counter
from typing import Any

import torch
from functorch.compile import make_boxed_func
from torch import fx, nn
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.export import export
from torch.fx.experimental.symbolic_shapes import (
    DimDynamic,
    ShapeEnv,
    StatelessSymbolicContext,
    statically_known_true,
)

from autograder import check, draw, drill, fails, hint, progress

torch.manual_seed(11)
aten = torch.ops.aten

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the result.** What is `meta["val"]` of a node of an exported program?
#
# <details><summary>The value that the node had in the export</summary>
#
# No. An export computes no numbers.
# </details>
# <details><summary>A tensor with a shape and a dtype, and without numbers</summary>
#
# Right. It is a fake tensor (section 11.6). Its shape may have symbols.
# </details>
# <details><summary>The shape, as a tuple</summary>
#
# No. The shape is one of its attributes.
# </details>

# %% proof=true
tanh_program = export(nn.Tanh(), (torch.ones(2, 3),))
(tanh_node,) = tanh_program.graph.find_nodes(op="call_function", target=aten.tanh.default)
assert isinstance(tanh_node.meta["val"], FakeTensor) and tanh_node.meta["val"].shape == (2, 3)

# %% [markdown]
# **Predict the result.** After `relu.replace_all_uses_with(x)` and `recompile()`, what does the generated code do?
#
# <details><summary>It does not compute the ReLU any more.</summary>
#
# No. The node is still in the graph, and the code has a line for each node.
# </details>
# <details><summary>It computes the ReLU, and nothing reads the result.</summary>
#
# Right. So erase the node (section 3.5).
# </details>
# <details><summary>It raises an error: the node has no reader.</summary>
#
# No. A node without readers is valid.
# </details>

# %% proof=true
relu_gm = export(nn.ReLU(), (torch.ones(2),)).graph_module
(relu_node,) = relu_gm.graph.find_nodes(op="call_function", target=aten.relu.default)
relu_node.replace_all_uses_with(relu_node.args[0])
relu_gm.recompile()
assert "relu" in relu_gm.code and not relu_node.users

# %% [markdown]
# The cells below use this input:

# %%
x = torch.randn(2, 6)

# %% [markdown]
# ## 11b.1 Views that do nothing
#
# A view gives the same numbers in another shape. Exported programs contain many, and some do nothing: they do not change the shape.
# The node's own arguments do not show that. The shapes in `meta["val"]` do, of the node and of its input:


# %%
class Views(nn.Module):
    def forward(self, x):
        y = x.view(2, 6)[0:100].reshape(-1, 4)
        return torch.relu(y.expand(3, 4))


views = export(Views(), (torch.randn(2, 6),)).graph_module


def print_shapes(gm: fx.GraphModule) -> None:
    """Each call, with the shape of its input and its own."""
    for node in gm.graph.nodes:
        if node.op == "call_function":
            before = list(node.all_input_nodes[0].meta["val"].shape)
            print(f"{node.name:10} {before} -> {list(node.meta['val'].shape)}   {node.args[1:]}")


print_shapes(views)
shapes = {
    node.name: tuple(node.meta["val"].shape) for node in views.graph.nodes if node.op != "output"
}

# %% proof=true
assert shapes["x"] == shapes["view"] == shapes["slice_1"] == (2, 6)
assert shapes["reshape"] == shapes["expand"] == (3, 4)

# %% [markdown]
# Three of the four views do nothing: `view`, `slice_1` and `expand`. The slice ends at 100, after the last row, so it takes all rows.
#
# `-1` means something else in each of these operators. In `reshape(-1, 4)` it is a size that follows from the others. In `expand(-1, 4)` the size does not change. `x[0:-1]` leaves out the last row.
# So compare shapes, and do not read arguments. (vLLM's pass for no-op views had this bug: it removed an `x[0:-1]`, because it read `-1` as a size that follows from the others.)

# %% proof=true
rows = torch.arange(6.0).reshape(3, 2)
assert rows.reshape(-1, 2).shape == rows.expand(-1, 2).shape == (3, 2)
assert rows[0:-1].shape == (2, 2)


# %%
class Four(nn.Module):
    def forward(self, x):
        y = x.reshape(-1, 3).expand(-1, 3)
        return y[0:-1].view(3, 3)


print(export(Four(), (torch.randn(2, 6),)).graph)

# %% [markdown]
# **Drill 11b.1a.** The input has the shape `(2, 6)`. Which of the four views do nothing? Write a list of names, in the order of the graph.

# %% drill=true
nothing = ["expand", "view"]
drill("11b.1a", nothing)
# Mistake: One of these leaves out a row.
# nothing = ["expand", "slice_1", "view"]

# %% proof=true
four_calls = [n for n in export(Four(), (torch.randn(2, 6),)).graph.nodes if "call" in n.op]
same_shape = [n for n in four_calls if n.meta["val"].shape == n.args[0].meta["val"].shape]
assert [n.name for n in same_shape] == ["expand", "view"]

# %% [markdown]
# ### A worked example: casts that do nothing
#
# The same idea with dtypes. `x.to(torch.float32)` does nothing if `x` has this dtype. Its readers read the source instead, and the cast goes.


# %%
def remove_noop_casts(gm: fx.GraphModule) -> int:
    """Removes casts to the dtype that a value has already; returns how many."""
    count = 0
    for node in list(gm.graph.nodes):
        if node.target is not aten.to.dtype:
            continue
        source = node.args[0]
        if node.meta["val"].dtype == source.meta["val"].dtype:
            node.replace_all_uses_with(source)
            gm.graph.erase_node(node)
            count += 1
    gm.recompile()
    return count


class Casts(nn.Module):
    def forward(self, x):
        return x.to(torch.float32).to(torch.float64).sin()


casts = export(Casts(), (torch.randn(2),)).graph_module
removed = remove_noop_casts(casts)
print(removed, casts.code)

# %% proof=true
assert removed == 1

# %% [markdown]
# This pass changes the graph module that it is given, and returns a count. In the exercise, a change can make the next one possible.
#
# ### Views of views
#
# `x.view(12).view(3, 4)` needs only the second view. The first one goes if nothing else reads it.
# With `reshape` there is a trap. A `view` never copies: it raises an error if the order of the numbers in memory does not allow it. A `reshape` copies if it must.
#
# **Predict the result.** `x` has the shape `(2, 6)`. Which of these fails?
#
# <details><summary><code>x.T.reshape(12).view(3, 4)</code></summary>
#
# No. The reshape copies the numbers of <code>x.T</code> into a new order, and then the view works.
# </details>
# <details><summary><code>x.T.view(3, 4)</code></summary>
#
# Right. This view would need the numbers of <code>x.T</code> in another order.
# </details>
# <details><summary><code>x.T.reshape(3, 4)</code></summary>
#
# No. It copies, and gives the same as the two steps.
# </details>

# %% proof=true
numbers = torch.arange(12.0).reshape(2, 6)
two_steps = numbers.T.reshape(12).view(3, 4)
assert torch.equal(two_steps, numbers.T.reshape(3, 4))
with fails(RuntimeError):
    numbers.T.view(3, 4)

# %% [markdown]
# So a node that replaces two must work wherever both did. A `reshape` works wherever a `view` does.
#
# If you change only what a node *reads*, its sizes and its `meta` stay right. A node that you create has no `meta`:

# %%
relu = next(node for node in views.graph.nodes if node.name == "relu")
with views.graph.inserting_after(relu):
    new = views.graph.call_function(aten.reshape.default, (relu, [12]))
print(new.meta)
views.graph.erase_node(new)

# %% proof=true
assert new.meta == {}

# %% [markdown]
# ### Sizes that are symbols
#
# With dynamic shapes, `meta["val"].shape` contains symbols. Here are two, made by hand. In the example that they come from, both are 4:


# %%
def square_example() -> tuple[ShapeEnv, torch.Tensor]:
    """A fake tensor with two symbolic sizes, which are both 4 in the example."""
    env = ShapeEnv(duck_shape=False)  # one symbol for each size, even for equal examples
    mode = FakeTensorMode(shape_env=env)
    context = StatelessSymbolicContext([DimDynamic.DYNAMIC] * 2)
    source = ConstantSource("x")
    return env, mode.from_tensor(torch.randn(4, 4), source=source, symbolic_context=context)


env, fake = square_example()
s0, s1 = fake.shape
print(s0, s1, "guards:", env.guards)

# %% [markdown]
# **Predict the result.** What happens at `if s0 == s1:`?
#
# <details><summary>It raises an error: symbols have no values.</summary>
#
# No. Each symbol knows the size of the example, its <em>hint</em>.
# </details>
# <details><summary>The condition is false, because they are two symbols.</summary>
#
# No. Both hints are 4, and PyTorch compares the hints.
# </details>
# <details><summary>The condition is true, and from then on both are one symbol.</summary>
#
# Right. The answer holds for the example only, so PyTorch notes a <em>guard</em>. Now the graph is right for square inputs, and for no others.
# </details>

# %% proof=true
own_env, own_fake = square_example()
if own_fake.shape[0] == own_fake.shape[1]:
    assert len(own_env.guards) == 1 and str(own_fake.shape[0]) == str(own_fake.shape[1])
assert own_env.guards

# %% [markdown]
# `statically_known_true` answers only what is known for all sizes, and returns `False` otherwise. That is what a pass needs.

# %%
known = statically_known_true(s0 * s1 == s1 * s0), statically_known_true(s0 == s1)
print(known, "guards:", env.guards)

# %% proof=true
assert known == (True, False) and not statically_known_true(s0 == 4)
assert not env.guards

# %% [markdown] card="remove_noop_views"
# **Given** a graph module of ATen operators. Each node has its fake value in `meta["val"]`.
#
# **Change** it in place. Four kinds of node matter: `aten.view.default`, `aten.reshape.default`, `aten.slice.Tensor` and `aten.expand.default`. Afterwards:
#
# * None of them yields its input's shape. Its readers, the output too, read its input instead.
# * No view or reshape reads a view or reshape. It reads that one's input instead, and works wherever both did.
# * Every node keeps or gets a right `val`.
#
# **Return** by how many the number of such nodes went down.
#
# **Do not** add a guard. **Do not** change nodes of other kinds.
#
# **Fine print**
#
# * None of the four is left without a reader, even if it had none at the start.
# * A view that a node of another kind still reads stays.
# * Symbolic sizes are the same only if they are *known* to be.
# * Nodes of other kinds stay, dead ones too: `view.dtype`, `_unsafe_view`, `unsqueeze`, `permute` or `sym_size`, whatever they do.


# %%
class Before(nn.Module):
    def forward(self, x):
        y = x.reshape(12).view(3, 4)
        return torch.relu(y.expand(3, 4))


class After(nn.Module):
    def forward(self, x):
        return torch.relu(x.reshape(3, 4))


example = torch.randn(2, 6)
# remove_noop_views returns 2 here: three nodes become one.
draw.diff(export(Before(), (example,)).graph_module, export(After(), (example,)).graph_module)


# %% solve="remove_noop_views"
def remove_noop_views(gm: fx.GraphModule) -> int:
    """Removes views that do nothing, and puts views of views together, in place.

    Args:
        gm: a graph of ATen operators, with `meta["val"]` at each node.

    Returns:
        By how many the number of nodes of the four kinds went down.
    """
    ### BEGIN SOLUTION
    view, reshape = aten.view.default, aten.reshape.default
    kinds = (view, reshape, aten.slice.Tensor, aten.expand.default)

    def count() -> int:
        return sum(node.target in kinds for node in gm.graph.nodes)

    def does_nothing(node: fx.Node) -> bool:
        new, old = node.meta["val"].shape, node.args[0].meta["val"].shape
        pairs = zip(new, old, strict=False)
        return len(new) == len(old) and all(statically_known_true(a == b) for a, b in pairs)

    before = count()
    # Sources come first, so the input of a node is already right.
    for node in gm.graph.nodes:
        if node.target in kinds and does_nothing(node):
            node.replace_all_uses_with(node.args[0])
        elif node.target in (view, reshape) and node.args[0].target in (view, reshape):
            inner = node.args[0]
            if inner.target is reshape:
                node.target = reshape
            node.replace_input_with(inner, inner.args[0])
    for node in gm.graph.nodes:  # a merged node may do nothing now
        if node.target in kinds and does_nothing(node):
            node.replace_all_uses_with(node.args[0])
    for node in reversed(list(gm.graph.nodes)):
        if node.target in kinds and not node.users:
            gm.graph.erase_node(node)
    gm.recompile()
    return before - count()
    ### END SOLUTION


# %% check="remove_noop_views"
check(remove_noop_views)

# %% hint="remove_noop_views"
hint("remove_noop_views")

# %% [markdown]
# ## 11b.2 The backward is a graph
#
# AOTAutograd is between Dynamo and most backends. It takes what Dynamo captured, makes two graphs of it, forward and backward, and passes each to a compiler.
# With `aot_autograd` these compilers are yours. `make_boxed_func` is a formality: AOTAutograd calls compiled code with one list.
#
# ```python
# backend = aot_autograd(fw_compiler=first, bw_compiler=second)
# result = torch.compile(model, backend=backend)(x)   # calls first
# result.sum().backward()                             # calls second
# ```
#
# With fixed sizes, AOTAutograd calls the second compiler late, at the first `.backward()`. If nothing needs a gradient, `result.requires_grad` is false and there is no backward.
# And a backward leaves gradients on the parameters. The cells below the exercise show all of this.

# %% [markdown] card="forward_backward_ops"
# **Given** a model, and a tuple of arguments for it. The model returns one tensor.
#
# **Return** a tuple of two `Counter`s: how often each ATen overload, as `str(target)`, appears in the forward graph, and how often in the backward graph.
#
# * The graphs are those that AOTAutograd gives to `fw_compiler` and `bw_compiler`, with its defaults: no decompositions, and the default partition.
# * `operator.getitem` is not an ATen operator.
# * If nothing needs a gradient, the second `Counter` is empty.
#
# **Do not** change the model: its buffers, its modes and the `.grad` of its parameters are as before, and so are the arguments.
#
# **Fine print**
#
# * Parameters that need no gradient get none; the arguments need none.
# * The model runs in the mode that it is in.
# * Shapes are static. Dropout and LayerNorm are never tested.


# %%
class Gain(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return torch.sin(x * self.gain)


# forward_backward_ops(Gain(), (torch.randn(2, 3),)) must return:
expected = (
    Counter({"aten.mul.Tensor": 1, "aten.sin.default": 1}),
    Counter(
        {
            "aten.cos.default": 1,
            "aten.mul.Tensor": 2,
            "aten.sum.dim_IntList": 1,
            "aten.view.default": 1,
        }
    ),
)
print(export(Gain(), (torch.randn(2, 3),)).graph_module.code)


# %% solve="forward_backward_ops"
def forward_backward_ops(model: nn.Module, args: tuple[Any, ...]) -> tuple[Counter, Counter]:
    """How often each ATen overload is in the forward graph, and in the backward graph.

    Args:
        model: returns one tensor; it is left as it is.
        args: its arguments; they are left as they are.
    """
    ### BEGIN SOLUTION
    forward: Counter[str] = Counter()
    backward: Counter[str] = Counter()

    def counting(counts: Counter[str]) -> Any:
        def compiler(gm: fx.GraphModule, example_inputs: list) -> Any:
            for node in gm.graph.nodes:
                if node.op == "call_function" and node.target is not operator.getitem:
                    counts[str(node.target)] += 1
            return make_boxed_func(gm.forward)

        return compiler

    backend = aot_autograd(fw_compiler=counting(forward), bw_compiler=counting(backward))
    torch._dynamo.reset()  # nothing that was compiled before
    # Gradients and buffers change in the copy.
    result = torch.compile(copy.deepcopy(model), backend=backend)(*copy.deepcopy(args))
    if result.requires_grad:
        result.sum().backward()
    return forward, backward
    ### END SOLUTION


# %% check="forward_backward_ops"
check(forward_backward_ops)

# %% hint="forward_backward_ops"
hint("forward_backward_ops")

# %% [markdown]
# ### The two compilers at work
#
# The first compiler is called when the model is compiled.


# %%
def printing(side: str) -> Any:
    """A compiler that prints how many calls a graph has, and runs it as it is."""

    def compiler(gm: fx.GraphModule, example_inputs: list) -> Any:
        calls = [node for node in gm.graph.nodes if node.op == "call_function"]
        seen.append((side, len(calls)))
        print(side, [str(node.target) for node in calls])
        return make_boxed_func(gm.forward)

    return compiler


seen: list[tuple[str, int]] = []
backend = aot_autograd(fw_compiler=printing("forward"), bw_compiler=printing("backward"))
small = nn.Sequential(nn.Linear(6, 2), nn.Tanh())
torch._dynamo.reset()
result = torch.compile(small, backend=backend)(x)

# %% proof=true
assert [side for side, _ in seen] == ["forward"]

# %% [markdown]
# Only the forward compiler was called. The backward graph exists already, but it is compiled when it is needed:

# %%
result.sum().backward()

# %% proof=true
assert [side for side, _ in seen] == ["forward", "backward"]
assert small[0].weight.grad is not None

# %% [markdown]
# There is a trap: the run has left gradients on the model. In training mode, a BatchNorm would also have changed its buffers.
#
# Look at the `aten.mm.default` above. In a backward, a linear layer needs one for the gradient of its weight, and another one for the gradient of its input, if something needs that.
#
# **Drill 11b.2a.** How many `aten.mm.default` does the backward graph of `nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 2))` contain? The input needs no gradient. Write the number.

# %% drill=true
products = 3
drill("11b.2a", products)
# Mistake: The first layer reads the input of the model, which needs no gradient.
# products = 4

# %% proof=true
stack = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 2))
assert forward_backward_ops(stack, (x,))[1]["aten.mm.default"] == 3

# %% [markdown]
# **Predict the result.** All parameters are frozen with `requires_grad_(False)`. What does `aot_autograd` do?
#
# <details><summary>It makes both graphs; the second one is empty.</summary>
#
# No. Without a gradient there is nothing to make a second graph of.
# </details>
# <details><summary>It makes one graph. The result has no <code>grad_fn</code>, and <code>backward()</code> raises an error.</summary>
#
# Right. So ask <code>result.requires_grad</code> before you call it.
# </details>
# <details><summary>It refuses the model.</summary>
#
# No. It compiles the forward for inference.
# </details>

# %% proof=true
made: list[fx.GraphModule] = []


def keep(gm: fx.GraphModule, example_inputs: list) -> Any:
    made.append(gm)
    return make_boxed_func(gm.forward)


frozen = nn.Sequential(nn.Linear(6, 2), nn.Tanh()).requires_grad_(False)
torch._dynamo.reset()
keeping = aot_autograd(fw_compiler=keep, bw_compiler=keep)
frozen_result = torch.compile(frozen, backend=keeping)(torch.ones(2, 6))
assert not frozen_result.requires_grad and len(made) == 1
with fails(RuntimeError):
    frozen_result.sum().backward()

# %% [markdown]
# ## 11b.3 The end of the story
#
# **The mobile team** gets its graph without the views of section 11b.1:

# %% uses="remove_noop_views"
fewer = remove_noop_views(views)
print_shapes(views)
inputs = torch.randn(2, 6)
torch.testing.assert_close(views(inputs)[0], Views()(inputs))

# %% proof=true
assert fewer == 3 and len(views.graph.nodes) == 4

# %% [markdown]
# **The training team**: which operators does the backward need that the forward does not have?

# %% uses="forward_backward_ops"
forward, backward = forward_backward_ops(Gain(), (torch.randn(2, 3),))
print(sorted(backward.keys() - forward.keys()))

# %% proof=true
assert (forward, backward) == expected

# %% [markdown]
# ## Common mistakes
#
# Here you see them fail. (2 minutes)
#
# ### Dead code is removed with everything else
#
# `eliminate_dead_code()` knows nothing of your four kinds. Here it removes another operator:

# %%
gm = fx.Graph()
value = gm.placeholder("x")
gm.call_function(operator.neg, (value,))
gm.output(value)
gm.eliminate_dead_code()
print(gm)

# %% proof=true
assert len(gm.nodes) == 2

# %% [markdown]
# **Right:** erase only nodes of your kinds.

# %% [markdown]
# ## Recap
#
# 1. The shapes show whether a view does nothing, and its arguments do not. Replace a reshape by a reshape.
# 2. AOTAutograd makes two graphs; with fixed sizes, the second is compiled at the first `.backward()`, which leaves gradients.
# 3. `if a == b` on symbolic sizes asks the example and adds a guard; `statically_known_true` does not.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `node.meta["val"].shape` | sizes, numbers or symbols |
# | `statically_known_true(a == b)` | whether that holds for all sizes, without a guard |
# | `node.replace_input_with(old, new)` | changes what one node reads |
# | `aot_autograd(fw_compiler=…, bw_compiler=…)` | a backend of two compilers |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | programs: outputs and state that change | the deep dive 11c |
# | passes with an honest result, and `meta` that stays true | chapter 12 |
# | cutting a program for a device | chapter 13b |
#
# In PyTorch's documentation: [torch.export](https://docs.pytorch.org/docs/stable/export.html).
# (`torch._dynamo` begins with an underscore: its names are not promised to stay.)
