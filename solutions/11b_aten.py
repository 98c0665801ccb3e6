# %% [markdown]
# # 11b · Editing exported programs
#
# **After this part you can edit exported programs and ATen graphs, and keep all of their parts true.**
#
# | | |
# |---|---|
# | **You need** | sections 11.4 to 11.6 of chapter 11 |
# | **Time** | about 115 minutes, 70 of them for the exercises |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. name the four places of an exported program that speak of its outputs;
# 2. change the outputs of a program, and keep its signature and its structure true;
# 3. say what a copy of a program shares with it;
# 4. save and load a program that you have changed;
# 5. remove views that do nothing, by the shapes in `meta["val"]`;
# 6. compare symbolic sizes, and add no guard;
# 7. get the backward graph of a model, and leave the model as it was.

# %% [markdown]
# ## A story
#
# The mobile team of chapter 11 has its program: a file that `torch.export` made. Then the questions go on.
#
# *We also need the value in front of the last layer, to compare images with each other. Can the program return it, too?*
# Nobody has the model's source code here. There is only the file.
#
# *And our runtime copies the tensor at each view, even where the shape stays the same. Can these nodes go?*
#
# And the training team asks: *which operators does training need, besides those of the forward?*
#
# In chapter 3 you would have changed the output node, and that was all. A program has more parts that must agree.

# %%
import copy
import io
import operator
from collections import Counter
from typing import Any

import torch
import torch.utils._pytree as pytree
from functorch.compile import make_boxed_func
from torch import fx, nn
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim, ExportedProgram, export
from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument
from torch.fx.experimental.symbolic_shapes import (
    DimDynamic,
    ShapeEnv,
    StatelessSymbolicContext,
    statically_known_true,
)

from autograder import check, draw, fails, hint, progress

torch.manual_seed(11)
aten = torch.ops.aten

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the graph.** How does the graph of an exported program get the weight of a linear layer?
#
# <details><summary>By a <code>get_attr</code> node</summary>
#
# No. That is how a trace of <code>symbolic_trace</code> reads it.
# </details>
# <details><summary>As a constant in the generated code</summary>
#
# No. Python code cannot spell a tensor.
# </details>
# <details><summary>By a placeholder of its own</summary>
#
# Right. Parameters and buffers are inputs of the graph, and the signature says which placeholder is which (section 11.5).
# </details>

# %%
program = export(nn.Linear(3, 2), (torch.ones(1, 3),))
assert [n.op for n in program.graph.nodes].count("placeholder") == 3  # weight, bias, input
assert program.graph_signature.inputs_to_parameters == {"p_weight": "weight", "p_bias": "bias"}
assert not program.graph.find_nodes(op="get_attr")

# %% [markdown]
# **Predict the graph.** `forward` says `self.count.add_(1)` for a buffer `count`. The model is exported, and `run_decompositions()` is called. Where does the new count go?
#
# <details><summary>Into the buffer: a node <code>add_</code> writes it.</summary>
#
# No. After <code>run_decompositions()</code> no node writes into an input.
# </details>
# <details><summary>It is an output of the graph.</summary>
#
# Right. The signature calls this output a mutation of the buffer, and whoever runs the program copies the value back. If you change the outputs, do not lose it.
# </details>
# <details><summary>It is lost: a program has no state.</summary>
#
# No. <code>program.module()</code> counts as the model does.
# </details>


# %%
class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count.add_(1)
        return x * 2


program = export(Counts(), (torch.ones(2),)).run_decompositions()
first, _ = program.graph_signature.output_specs
assert first.kind == OutputKind.BUFFER_MUTATION and first.target == "count"
assert not any("add_." in str(node.target) for node in program.graph.nodes)
counting = program.module()
counting(torch.ones(2))
assert counting.count == 1

# %% [markdown]
# This is a small program of the kind that the mobile team has:


# %%
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        features = torch.relu(self.body(x))
        return {"scores": self.head(features), "size": features.norm()}


x = torch.randn(2, 6)
ep = export(Classifier().eval(), (x,))
draw(ep.graph_module)

# %% [markdown]
# ## 11b.1 Four places that speak of outputs
#
# The model returns a dictionary. Where is it in the program? Look at the places one by one.
#
# **1. The graph** returns one flat tuple. It knows nothing of dictionaries:

# %%
output = ep.graph.output_node()
print(output.args)
assert isinstance(output.args[0], tuple) and len(output.args[0]) == 2

# %% [markdown]
# **2. The signature** has one line for each of these values, in the same order. An `OutputSpec` says what the value is for (`kind`) and which node it comes from (`arg.name`):

# %%
for spec in ep.graph_signature.output_specs:
    print(spec)
names = [spec.arg.name for spec in ep.graph_signature.output_specs]
assert names == [node.name for node in output.args[0]]

# %% [markdown]
# **3. The structure** is in the first entry of `module_call_graph`, as a `TreeSpec`. A TreeSpec says how flat values become dictionaries, lists and tuples; a leaf `*` is the place of a value.
# PyTorch's module for this is `torch.utils._pytree`:

# %%
structure = ep.module_call_graph[0].signature.out_spec
print(structure)
assert pytree.tree_unflatten([1, 2], structure) == {"scores": 1, "size": 2}
assert pytree.tree_structure({"scores": 0, "size": 0}) == structure

# %% [markdown]
# `tree_structure` makes a TreeSpec of an example. Structures can be put together, too:

# %%
leaf = pytree.tree_structure(0)
both = pytree.TreeSpec(list, None, [structure, leaf])
assert pytree.tree_unflatten([1, 2, 3], both) == [{"scores": 1, "size": 2}, 3]

# %% [markdown]
# **4. The code** of the graph module, as in chapter 3: after an edit, call `recompile()`.
#
# `ep.module()` puts all of this together. It makes a module that takes your arguments, runs the graph, and gives the results their structure.
#
# ### A worked example: the results change places
#
# This function makes a program that returns `(second, first)` instead of `(first, second)`. Three places change. The structure stays: a tuple of two.


# %%
class Pair(nn.Module):
    def forward(self, x):
        return torch.sin(x), torch.cos(x)


def swapped(ep: ExportedProgram) -> ExportedProgram:
    """The program with its two results in the other order."""
    new = copy.deepcopy(ep)
    output = new.graph.output_node()
    output.args = (output.args[0][::-1],)
    new.graph_signature.output_specs.reverse()
    new.graph_module.recompile()
    return new


pair = export(Pair(), (x,))
first, second = swapped(pair).module()(x)
assert torch.equal(first, x.cos()) and torch.equal(second, x.sin())
assert torch.equal(pair.module()(x)[0], x.sin())  # the old program is as before

# %% [markdown]
# **Predict the result.** You append a value to the output node, and do nothing else. When is the mistake noticed?
#
# <details><summary>At once: the signature checks each change of the graph.</summary>
#
# No. Nothing watches the graph. Signature and graph are two objects, and each can be changed alone.
# </details>
# <details><summary>When <code>module()</code> is called or used.</summary>
#
# Right. There the parts come together, and they do not fit. Until then the program looks fine.
# </details>
# <details><summary>Never: the extra value is ignored.</summary>
#
# No. The structure has as many leaves as there were results. One value more cannot be placed.
# </details>


# %%
def with_value(ep: ExportedProgram, name: str) -> ExportedProgram:
    """Appends a value to the output node, and forgets the other places."""
    new = copy.deepcopy(ep)
    output = new.graph.output_node()
    (node,) = (node for node in new.graph.nodes if node.name == name)
    output.args = ((*output.args[0], node),)
    new.graph_module.recompile()
    return new


broken = with_value(pair, "sin")
with fails(Exception):
    broken.module()(x)

# %% [markdown]
# With a line in the signature, and the old structure, the error is another one:

# %%
broken = with_value(pair, "sin")
spec = OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(name="sin"), target=None)
broken.graph_signature.output_specs.append(spec)
with fails(ValueError):
    broken.module()(x)

# %% [markdown]
# ### What a copy shares
#
# A function that gives back a *new* program must not change the old one. How deep is the copy?

# %%
shallow = copy.copy(ep)
assert shallow.graph_module is ep.graph_module
assert shallow.graph_signature is ep.graph_signature
deep = copy.deepcopy(ep)
assert deep.graph_module is not ep.graph_module
assert deep.module_call_graph[0].signature is not ep.module_call_graph[0].signature

# %% [markdown]
# A deep copy has tensors of its own, too. For a large model you may not want that.
# The constructor `ExportedProgram(root, graph, graph_signature, state_dict, …)` makes a program from parts, and takes the same tensors.
# Give it all parts: without `range_constraints` the sizes are fixed, without `constants` some tensors are missing. Without `verifiers` it checks for a graph without writes in place, which a fresh export may have.

# %%
parts = {
    name: getattr(ep, name)
    for name in ("graph_signature", "state_dict", "range_constraints", "module_call_graph")
}
again = ExportedProgram(
    copy.deepcopy(ep.graph_module),
    copy.deepcopy(ep.graph),
    **parts,
    constants=ep.constants,
    verifiers=ep.verifiers,
)
assert again.state_dict["head.weight"] is ep.state_dict["head.weight"]
torch.testing.assert_close(again.module()(x), ep.module()(x))

# %% [markdown]
# **Predict the result.** A program comes from `run_decompositions`, in training mode with a BatchNorm. Which outputs of its graph come first?
#
# <details><summary>The results that the user gets.</summary>
#
# They come last. The caller of the graph takes the first outputs away, and writes them into buffers.
# </details>
# <details><summary>The new values of the buffers.</summary>
#
# Right: section 11.5 showed three lines <code>BUFFER_MUTATION</code> before the <code>USER_OUTPUT</code>. A new result belongs behind all of them.
# </details>
# <details><summary>They are sorted by name.</summary>
#
# No. The order is fixed: mutated values, then results.
# </details>

# %%
norm = export(nn.Sequential(nn.BatchNorm1d(6), nn.Sigmoid()).train(), (x,)).run_decompositions({})
kinds = [spec.kind for spec in norm.graph_signature.output_specs]
assert kinds == [OutputKind.BUFFER_MUTATION] * 3 + [OutputKind.USER_OUTPUT]

# %% [markdown] card="add_output"
# **Given** an `ExportedProgram` and the name of a call node.
#
# **Return** a new program in which the value of that node is one more output.
#
# * `new.module()(*args)` returns `(old result, value)`. The old result has its old structure.
# * `new.graph_signature` has one more line, the last: a `USER_OUTPUT` with the name of the node. Nothing else in it changes.
# * All nodes but the output are as before, and the graph module is recompiled.
# * `torch.export.save` and `load` work on the new program, and sizes that could change still can.
# * A value that is an output already is given a second time.
# * If there is no call node of that name (it is unknown, or that of a placeholder, of a `get_attr` or of the output), raise a `ValueError`.
#
# Programs before and after `run_decompositions` are tried.
#
# **Do not** change `ep`. The new program may share its tensors.
#
# (Values that are changed in place later, and values that are no tensors, are never tested.)


# %%
class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return {"scores": self.head(torch.relu(x))}


class WithFeatures(Scores):
    """What add_output(ep, "relu") does, as if it were in the source."""

    def forward(self, x):
        features = torch.relu(x)
        return {"scores": self.head(features)}, features


example = (torch.ones(2, 4),)
draw.diff(export(Scores(), example).graph_module, export(WithFeatures(), example).graph_module)


# %% solve="add_output"
def add_output(ep: ExportedProgram, name: str) -> ExportedProgram:
    """A new program in which the value of a call node is one more output, the last.

    Args:
        ep: the program; it is not changed.
        name: the name of a call node.

    Raises:
        ValueError: no call node has that name.
    """
    ### BEGIN SOLUTION
    new = copy.deepcopy(ep)
    calls = {node.name: node for node in new.graph.nodes if node.op.startswith("call_")}
    if name not in calls:
        raise ValueError(f"There is no call node {name!r} in the program.")
    output = new.graph.output_node()
    output.args = ((*output.args[0], calls[name]),)
    spec = OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(name=name), target=None)
    new.graph_signature.output_specs.append(spec)
    signature = new.module_call_graph[0].signature
    leaf = pytree.tree_structure(0)
    signature.out_spec = pytree.TreeSpec(tuple, None, [signature.out_spec, leaf])
    new.graph_module.recompile()
    return new
    ### END SOLUTION


# %% check="add_output"
check(add_output)

# %% hint="add_output"
hint("add_output")

# %% [markdown]
# ## 11b.2 Views that do nothing
#
# A view gives the same numbers in another shape. Exported programs are full of them, and some do nothing: the shape stays as it is.
# The node's own arguments do not show that. The shapes are in `meta["val"]`, for the node and for what it reads:


# %%
class Views(nn.Module):
    def forward(self, x):
        y = x.view(2, 6)[0:100].reshape(-1, 4)
        return torch.relu(y.expand(3, 4))


views = export(Views(), (torch.randn(2, 6),)).graph_module


def print_shapes(gm: fx.GraphModule) -> None:
    """Each call with its shape, behind the shape of what it reads."""
    for node in gm.graph.nodes:
        if node.op == "call_function":
            before = list(node.all_input_nodes[0].meta["val"].shape)
            print(f"{node.name:10} {before} -> {list(node.meta['val'].shape)}   {node.args[1:]}")


print_shapes(views)
shapes = {
    node.name: tuple(node.meta["val"].shape) for node in views.graph.nodes if node.op != "output"
}
assert shapes["x"] == shapes["view"] == shapes["slice_1"] == (2, 6)
assert shapes["reshape"] == shapes["expand"] == (3, 4)

# %% [markdown]
# Three of the four views do nothing: `view`, `slice_1` and `expand`. The slice ends at 100, far behind the last row, so it takes all rows.
#
# `-1` means something else in each of these operators. In `reshape(-1, 4)` it is a size that follows from the others. In `expand(-1, 4)` it is the size as it is. In `x[0:-1]` it is the last row, which is left out.
# So do not read arguments; compare shapes.

# %%
rows = torch.arange(6.0).reshape(3, 2)
assert rows.reshape(-1, 2).shape == rows.expand(-1, 2).shape == (3, 2)
assert rows[0:-1].shape == (2, 2)

# %% [markdown]
# ### A worked example: casts that do nothing
#
# The same idea with dtypes. `x.to(torch.float32)` does nothing if `x` has this dtype. The readers read the source instead, the cast loses its last reader, and goes.


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
assert remove_noop_casts(casts) == 1

# %% [markdown]
# This pass changes the graph module that it is given, and returns a count. Passes at work are often like this. What the exercise adds: a change can make the next one possible.
#
# ### Views of views
#
# `x.view(12).view(3, 4)` needs only the second view. The first one goes if nobody else reads it.
# With `reshape` there is a trap. A `view` never copies: it raises an error if the numbers lie in memory in another order. A `reshape` copies where it must.
#
# **Predict the result.** `x` has the shape `(2, 6)`. Which of these fails?
#
# <details><summary><code>x.T.reshape(12).view(3, 4)</code></summary>
#
# No. The reshape copies, because the numbers of <code>x.T</code> do not lie in order. Then they do, and the view works.
# </details>
# <details><summary><code>x.T.view(3, 4)</code></summary>
#
# Right. A view of <code>x.T</code> would need the numbers in another order.
# </details>
# <details><summary><code>x.T.reshape(3, 4)</code></summary>
#
# No. It copies, and gives the same as the two steps.
# </details>

# %%
numbers = torch.arange(12.0).reshape(2, 6)
two_steps = numbers.T.reshape(12).view(3, 4)
assert torch.equal(two_steps, numbers.T.reshape(3, 4))
with fails(RuntimeError):
    numbers.T.view(3, 4)

# %% [markdown]
# So a node that takes the place of two must work wherever both did. A `reshape` works wherever a `view` does.
#
# If you change only what a node *reads*, its sizes and its `meta` stay right. A node that you create has no `meta` at all:

# %%
relu = next(node for node in views.graph.nodes if node.name == "relu")
with views.graph.inserting_after(relu):
    new = views.graph.call_function(aten.reshape.default, (relu, [12]))
assert new.meta == {}
views.graph.erase_node(new)

# %% [markdown]
# ### Sizes that are symbols
#
# With dynamic shapes, `meta["val"].shape` holds symbols. Here are two, made by hand. In the example that they come from, both are 4:

# %%
env = ShapeEnv(duck_shape=False)  # one symbol for each size, also where examples are equal
mode = FakeTensorMode(shape_env=env)
context = StatelessSymbolicContext([DimDynamic.DYNAMIC] * 2)
fake = mode.from_tensor(torch.randn(4, 4), source=ConstantSource("x"), symbolic_context=context)
s0, s1 = fake.shape
print(s0, s1, "guards:", env.guards)
assert not env.guards

# %% [markdown]
# **Predict the result.** What happens at `if s0 == s1:`?
#
# <details><summary>It raises an error: symbols have no values.</summary>
#
# No. Each symbol knows the size of the example, its <em>hint</em>.
# </details>
# <details><summary>The condition is false, because they are two symbols.</summary>
#
# No. Both hints are 4, and the hints are asked.
# </details>
# <details><summary>The condition is true, and from then on both are one symbol.</summary>
#
# Right. The answer holds for the example only, so PyTorch notes a <em>guard</em>. Now the graph is right for square inputs, and for no others.
# </details>

# %%
assert statically_known_true(s0 * s1 == s1 * s0)  # true for all sizes
assert not statically_known_true(s0 == s1)  # nobody knows
assert not statically_known_true(s0 == 4)
assert not env.guards  # to ask in this way changes nothing
if s0 == s1:
    print("guards:", [str(guard.expr) for guard in env.guards], "and now:", fake.shape)
assert len(env.guards) == 1 and str(fake.shape[0]) == str(fake.shape[1])

# %% [markdown]
# `statically_known_true` answers only what is known for all sizes, and says `False` otherwise. That is what a pass needs.

# %% [markdown] card="remove_noop_views"
# **Given** a graph module of ATen operators. Each node has its fake value in `meta["val"]`.
#
# **Change** it in place. Four kinds of node matter: `aten.view.default`, `aten.reshape.default`, `aten.slice.Tensor` and `aten.expand.default`. Afterwards:
#
# * None of them yields its input's shape. Its readers, the output too, read its input instead.
# * No view or reshape reads a view or reshape. It reads that one's input instead, and works wherever both did.
# * None of the four is left without a reader, even if it had none at the start.
#   A view that a node of another kind still reads stays.
# * Every node keeps or gets a right `val`.
#
# **Return** by how many the number of such nodes went down.
#
# Symbolic sizes are the same only if they are *known* to be. **Do not** add a guard.
# **Do not** change nodes of other kinds, dead ones too: `view.dtype`, `_unsafe_view`, `unsqueeze`, `permute` or `sym_size` stay, whatever they do.


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
        How many nodes of the four kinds the graph has fewer.
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
    # Sources come first, so what a node reads is put right already.
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
# ## 11b.3 The backward is a graph
#
# Section 11.6 showed AOTAutograd by itself. As a backend of `torch.compile` it gets what Dynamo captured, makes two graphs of it, and hands each to a compiler of yours.
# `make_boxed_func` is a formality: AOTAutograd calls compiled code with one list.
#
# ```python
# backend = aot_autograd(fw_compiler=first, bw_compiler=second)
# result = torch.compile(model, backend=backend)(x)   # calls first
# result.sum().backward()                             # calls second
# ```
#
# The second compiler is called late, at the first `.backward()`. If nothing needs a gradient, `result.requires_grad` is false and there is no backward.
# And a backward leaves gradients on the parameters. You see all of this at work below the exercise.

# %% [markdown] card="forward_backward_ops"
# **Given** a model, and a tuple of arguments for it. The model returns one tensor.
#
# **Return** a tuple of two `Counter`s: how often each ATen overload, as `str(target)`, appears in the forward graph, and how often in the backward graph.
#
# * The graphs are those that AOTAutograd gives to `fw_compiler` and `bw_compiler`, with its defaults: no decompositions, and the default partition.
# * `operator.getitem` is no ATen operator.
# * Parameters that need no gradient get none; the arguments need none. If nothing needs a gradient, the second `Counter` is empty.
# * The model runs in the mode that it is in.
#
# **Do not** change the model: its buffers, its modes and the `.grad` of its parameters are as before, and so are the arguments.
#
# (Shapes are static. Dropout and LayerNorm are never tested.)


# %%
class Gain(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return torch.sin(x * self.gain)


# What is asked of forward_backward_ops(Gain(), (torch.randn(2, 3),)):
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
draw(export(Gain(), (torch.randn(2, 3),)).graph_module)


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
assert [side for side, _ in seen] == ["forward"]

# %% [markdown]
# Only the forward compiler was called. The backward graph is there already, but nobody compiles it before it is needed:

# %%
result.sum().backward()
assert [side for side, _ in seen] == ["forward", "backward"]
assert small[0].weight.grad is not None

# %% [markdown]
# The last line shows a trap: the run has left gradients on the model. In training mode, a BatchNorm would also have changed its buffers.
#
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

# %%
seen.clear()
frozen = nn.Sequential(nn.Linear(6, 2), nn.Tanh()).requires_grad_(False)
torch._dynamo.reset()
result = torch.compile(frozen, backend=backend)(x)
assert not result.requires_grad and len(seen) == 1
with fails(RuntimeError):
    result.sum().backward()

# %% [markdown]
# ## 11b.4 The end of the story
#
# **The mobile team** gets the value in front of the last layer. It comes with the file:

# %% uses="add_output"
program = export(Classifier().eval(), (x,), dynamic_shapes={"x": {0: Dim("batch", min=2)}})
file = io.BytesIO()
torch.export.save(add_output(program, "relu"), file)
file.seek(0)
old, features = torch.export.load(file).module()(torch.randn(5, 6))
print(list(old), tuple(features.shape))
assert set(old) == {"scores", "size"} and features.shape == (5, 4)

# %% [markdown]
# And the views: how many of them were for nothing, in the graph at the beginning of this section?

# %% uses="remove_noop_views"
fewer = remove_noop_views(views)
print_shapes(views)
assert fewer == 3 and len(views.graph.nodes) == 4
inputs = torch.randn(2, 6)
torch.testing.assert_close(views(inputs)[0], Views()(inputs))

# %% [markdown]
# **The training team**: which operators does the backward need that the forward does not have?

# %% uses="forward_backward_ops"
forward, backward = forward_backward_ops(Gain(), (torch.randn(2, 3),))
print(sorted(backward.keys() - forward.keys()))
assert (forward, backward) == expected

# %% [markdown]
# ## Common mistakes
#
# Here you see them fail. (2 minutes)
#
# ### The value comes first
#
# The caller of the graph counts: the first outputs are mutated values, as many as the signature says. A value in front of them is written into a buffer.

# %%
wrong = copy.deepcopy(norm)
output = wrong.graph.output_node()
(sigmoid,) = (node for node in wrong.graph.nodes if node.name == "sigmoid")
output.args = ((sigmoid, *output.args[0]),)
first = wrong.graph_signature.output_specs[0]
assert first.kind == OutputKind.BUFFER_MUTATION and first.arg.name != output.args[0][0].name

# %% [markdown]
# **Right:** behind all others, in the graph and in the signature.
#
# ### `assert` instead of `raise ValueError`
#
# An `AssertionError` says that the program is wrong, not the argument. Also, Python with the option `-O` leaves out all `assert` lines.

# %%
with fails(AssertionError):
    assert "gelu" in {node.name for node in ep.graph.nodes}
exec(compile("assert False", "a cell", "exec", optimize=1))  # as with -O: nothing happens

# %% [markdown]
# **Right:** `raise ValueError(...)`, with a text that names the node.
#
# ### Dead code is removed with everything else
#
# `eliminate_dead_code()` is one line, and it knows nothing of your four kinds. Here it removes an operator that somebody put there to look at:

# %%
gm = fx.Graph()
value = gm.placeholder("x")
gm.call_function(operator.neg, (value,))
gm.output(value)
assert len(gm.nodes) == 3 and gm.eliminate_dead_code() and len(gm.nodes) == 2

# %% [markdown]
# **Right:** erase what your pass is about, and leave the rest to a pass of its own.

# %% [markdown]
# ## Recap
#
# 1. Graph, signature, structure and code speak of a program's outputs. An edit must reach all four.
# 2. The graph's output is one flat tuple: mutated values first, then results.
# 3. `copy.copy` of a program shares everything, and `copy.deepcopy` nothing.
# 4. Whether a view does nothing is said by shapes, not by its arguments. What takes the place of a reshape is a reshape.
# 5. AOTAutograd makes two graphs; the second is compiled at the first `.backward()`, which leaves gradients.
# 6. `==` on symbolic sizes asks the example and adds a guard; `statically_known_true` does not.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `ep.graph.output_node().args[0]` | the flat outputs |
# | `ep.graph_signature.output_specs` | one line for each of them |
# | `ep.module_call_graph[0].signature.out_spec` | their structure |
# | `pytree.tree_structure(example)` | a TreeSpec |
# | `node.meta["val"].shape` | sizes, numbers or symbols |
# | `statically_known_true(a == b)` | whether that holds for all sizes, without a guard |
# | `node.replace_input_with(old, new)` | changes what one node reads |
# | `aot_autograd(fw_compiler=…, bw_compiler=…)` | a backend of two compilers |
# | `torch.export.save(ep, file)`, `torch.export.load(file)` | a program as a file |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | passes with an honest result, and `meta` that stays true | chapter 12 |
# | cutting a program for a device | chapter 13 |
#
# In PyTorch's documentation: [torch.export](https://docs.pytorch.org/docs/stable/export.html).
# (`torch.utils._pytree` begins with an underscore: its names are not promised to stay.)
