# %% [markdown]
# # 11c · Programs
#
# **After this part you can write a pass that changes an exported program, and keep its graph, its signature and its state in step.**
#
# | | |
# |---|---|
# | **You need** | sections 11.4 to 11.6 of chapter 11 |
# | **Time** | about 110 minutes, 60 of them for the exercises |
# | **Deep dive** | Part of the work track. Chapter 11b is not needed |
#
# **When you are done, you can**
#
# 1. name the four places of an exported program that describe its outputs;
# 2. change the outputs of a program, and keep its signature and its structure true;
# 3. say what a copy of a program shares with it;
# 4. add a buffer to a program, and remove one;
# 5. say which calls of a program are constant, and compute them once;
# 6. save and load a program that you have changed.

# %% [markdown]
# ## A story
#
# The mobile team of chapter 11 has its program: a file that `torch.export` made. Then more questions come.
#
# *We also need the value before the last layer, to compare images with each other. Can the program return it, too?*
# Nobody has the model's source code here. There is only the file.
#
# *And each call computes the same weights again. They depend on no input. Can the file have the results?*
#
# In chapter 3 you would have changed the graph, and that was all. A program is more than its graph: it has a signature and state, and all three must agree.

# %%
import copy
import io
import itertools
import operator

import torch
import torch.utils._pytree as pytree
from torch import fx, nn
from torch.export import Dim, ExportedProgram, export
from torch.export.graph_signature import (
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx.experimental.const_fold import split_const_subgraphs
from torch.nn.utils.parametrizations import weight_norm

from autograder import check, draw, drill, fails, hint, progress

torch.manual_seed(11)
aten = torch.ops.aten

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the graph.** How does the graph of an exported program get the weight of a linear layer?
#
# <details><summary>By a <code>get_attr</code> node</summary>
#
# No. A trace of <code>symbolic_trace</code> has such nodes, for parameters that <code>forward</code> itself reads.
# </details>
# <details><summary>As a constant in the generated code</summary>
#
# No. Python code cannot spell a tensor.
# </details>
# <details><summary>By a placeholder of its own</summary>
#
# Right. Parameters and buffers are inputs of the graph (section 11.4).
# </details>

# %% proof=true
linear_program = export(nn.Linear(3, 2), (torch.ones(1, 3),))
assert [n.op for n in linear_program.graph.nodes].count("placeholder") == 3  # weight, bias, input
signature = linear_program.graph_signature
assert signature.inputs_to_parameters == {"p_weight": "weight", "p_bias": "bias"}
assert not linear_program.graph.find_nodes(op="get_attr")

# %% [markdown]
# **Predict the graph.** `forward` says `self.count.add_(1)` for a buffer `count`. The model is exported, and `run_decompositions()` is called. Where does the new count go?
#
# <details><summary>Into the buffer: a node <code>add_</code> writes it.</summary>
#
# No. After <code>run_decompositions()</code> no node writes into an input.
# </details>
# <details><summary>It is an output of the graph.</summary>
#
# Right. The signature calls this output a mutation of the buffer, and <code>program.module()</code> copies the value back. If you change the outputs, do not lose it.
# </details>
# <details><summary>It is lost: a program has no state.</summary>
#
# No. <code>program.module()</code> counts as the model does.
# </details>


# %% proof=true
class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count.add_(1)
        return x * 2


count_program = export(Counts(), (torch.ones(2),)).run_decompositions()
count_line, _ = count_program.graph_signature.output_specs
assert count_line.kind == OutputKind.BUFFER_MUTATION and count_line.target == "count"
assert not any("add_." in str(node.target) for node in count_program.graph.nodes)
counting = count_program.module()
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
# ## 11c.1 Four places that describe outputs
#
# The model returns a dictionary. Where is it in the program?
#
# **1. The graph** returns one flat tuple:

# %%
output = ep.graph.output_node()
print(output.args)

# %% proof=true
assert isinstance(output.args[0], tuple) and len(output.args[0]) == 2

# %% [markdown]
# **2. The signature** has one line for each of these values, in the same order. An `OutputSpec` says what the value is for (`kind`) and which node it comes from (`arg.name`):

# %%
for spec in ep.graph_signature.output_specs:
    print(spec)
names = [spec.arg.name for spec in ep.graph_signature.output_specs]

# %% proof=true
assert names == [node.name for node in output.args[0]]

# %% [markdown]
# **3. The structure** is in the first entry of `module_call_graph`, as a `TreeSpec` of `torch.utils._pytree`.
# A TreeSpec says how flat values become dictionaries, lists and tuples; a leaf `*` is the place of a value:

# %%
structure = ep.module_call_graph[0].signature.out_spec
print(structure)

# %% proof=true
assert pytree.tree_unflatten([1, 2], structure) == {"scores": 1, "size": 2}
assert pytree.tree_structure({"scores": 0, "size": 0}) == structure

# %% [markdown]
# `tree_structure` makes a TreeSpec from an example. You can also combine structures:

# %%
leaf = pytree.tree_structure(0)
both = pytree.TreeSpec(list, None, [structure, leaf])
pytree.tree_unflatten([1, 2, 3], both)

# %% proof=true
assert pytree.tree_unflatten([1, 2, 3], both) == [{"scores": 1, "size": 2}, 3]

# %% [markdown]
# **4. The code** of the graph module, as in chapter 3: after an edit, call `recompile()`.
#
# `ep.module()` combines the first three. It makes a module, with code of its own, that takes your arguments, runs the graph, matches each output with its line of the signature, and gives the results their structure.
#
# ### A worked example: swap two results
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
print("swapped:", torch.equal(first, x.cos()), torch.equal(second, x.sin()))

# %% proof=true
assert torch.equal(first, x.cos()) and torch.equal(second, x.sin())
assert torch.equal(pair.module()(x)[0], x.sin())  # the old program is as before

# %% [markdown]
# The next function appends a value to the output node, and changes nothing else:


# %%
def with_value(ep: ExportedProgram, name: str) -> ExportedProgram:
    """Appends a value to the output node, and forgets the other places."""
    new = copy.deepcopy(ep)
    output = new.graph.output_node()
    (node,) = (node for node in new.graph.nodes if node.name == name)
    output.args = ((*output.args[0], node),)
    new.graph_module.recompile()
    return new


# %% [markdown]
# **Predict the result.** When is the mistake noticed?
#
# <details><summary>At once: the signature checks each change of the graph.</summary>
#
# No. Graph and signature are two objects, and each can be changed alone.
# </details>
# <details><summary>When <code>module()</code> is called.</summary>
#
# Right. There the parts come together, and they do not fit. Saving the program raises, too; printing it does not.
# </details>
# <details><summary>Never: the extra value is ignored.</summary>
#
# No. Each output needs a line in the signature.
# </details>

# %% proof=true
appended = with_value(export(Pair(), (torch.ones(2),)), "sin")
with fails(AssertionError):
    appended.module()

# %% [markdown]
# With a line in the signature, and the old structure, there is another error:

# %%
broken = with_value(pair, "sin")
spec = OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(name="sin"), target=None)
broken.graph_signature.output_specs.append(spec)
with fails(ValueError):
    broken.module()(x)

# %% [markdown]
# ### What a copy shares
#
# A function that returns a *new* program must not change the old one. How deep is a copy?

# %%
shallow, deep = copy.copy(ep), copy.deepcopy(ep)
for attribute in ("graph_module", "graph_signature", "state_dict"):
    mine = getattr(ep, attribute)
    print(attribute, getattr(shallow, attribute) is mine, getattr(deep, attribute) is mine)

# %% proof=true
assert shallow.graph_module is ep.graph_module
assert shallow.graph_signature is ep.graph_signature
assert deep.graph_module is not ep.graph_module
assert deep.module_call_graph[0].signature is not ep.module_call_graph[0].signature
assert deep.state_dict["head.weight"] is not ep.state_dict["head.weight"]
values = [list(program.graph.nodes)[0].meta["val"] for program in (deep, ep)]
assert values[0] is values[1]

# %% [markdown]
# `copy.deepcopy` copies all tensors. Only the values in `meta` are shared, such as `meta["val"]`. For a large model you may want to share the weights, too.
# The constructor `ExportedProgram(root, graph, graph_signature, state_dict, …)` makes a program from parts, and takes the same tensors.

# %%
names = ("graph_signature", "state_dict", "range_constraints", "module_call_graph")
parts = {name: getattr(ep, name) for name in names}
again = ExportedProgram(
    copy.deepcopy(ep.graph_module),
    copy.deepcopy(ep.graph),
    **parts,
    constants=ep.constants,
    verifiers=ep.verifiers,
)
print("shares the weights:", again.state_dict["head.weight"] is ep.state_dict["head.weight"])
torch.testing.assert_close(again.module()(x), ep.module()(x))

# %% proof=true
assert again.state_dict["head.weight"] is ep.state_dict["head.weight"]

# %% [markdown]
# **Predict the result.** A program comes from `run_decompositions`, in training mode with a BatchNorm. Which outputs of its graph come first?
#
# <details><summary>The results that the user gets.</summary>
#
# No. They come last.
# </details>
# <details><summary>The new values of the buffers.</summary>
#
# Right: section 11.5 showed three lines <code>BUFFER_MUTATION</code> before the <code>USER_OUTPUT</code>.
# </details>
# <details><summary>They are sorted by name.</summary>
#
# No. The order is fixed: mutated values, then results.
# </details>

# %% proof=true
normalizing = nn.Sequential(nn.BatchNorm1d(6), nn.Sigmoid()).train()
norm_program = export(normalizing, (torch.ones(2, 6),)).run_decompositions({})
norm_kinds = [spec.kind for spec in norm_program.graph_signature.output_specs]
assert norm_kinds == [OutputKind.BUFFER_MUTATION] * 3 + [OutputKind.USER_OUTPUT]

# %% [markdown]
# **Drill 11c.1a.** `nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 4), nn.BatchNorm1d(4))` is exported in training mode, and `run_decompositions({})` follows.
# You append one more result. Which index does it have in the flat tuple of outputs?

# %% drill=true
index = 2 * 3 + 1
drill("11c.1a", index)
# Mistake: The values of the buffers are outputs, too.
# index = 1

# %% proof=true
two_norms = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 4), nn.BatchNorm1d(4)).train()
two_norms_program = export(two_norms, (x,)).run_decompositions({})
assert len(two_norms_program.graph.output_node().args[0]) == 7

# %% [markdown]
# A pass of your own must do the same as `add_output` below: ExecuTorch's users ask how to update the signature after a pass
# ([executorch#4013](https://github.com/pytorch/executorch/issues/4013)).

# %% [markdown] card="add_output"
# **Given** an `ExportedProgram` and the name of a call node.
#
# **Return** a new program in which the value of that node is one more output.
#
# * `new.module()(*args)` returns `(old result, value)`. The old result has its old structure.
# * `new.graph_signature` has one more line, the last: a `USER_OUTPUT` with the name of the node. Nothing else in it changes.
# * All nodes but the output are as before, and the graph module is recompiled.
# * Raise a `ValueError` if no call node has that name: it is unknown, or that of a placeholder, a `get_attr` or the output.
#
# **Do not** change `ep`.
#
# **Fine print**
#
# * `torch.export.save` and `load` work on the new program, and sizes that could change still can.
# * The new program may share the tensors of `ep`.
# * A value that is an output already is given a second time.
# * Programs before and after `run_decompositions` are tried.
# * Values that are changed in place later, and values that are not tensors, are never tested.


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
# ## 11c.2 Three places that hold state
#
# This model has state of each kind:


# %%
class AllKinds(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))
        self.register_buffer("scale", torch.rand(3))
        self.register_buffer("mask", torch.ones(3), persistent=False)

    def forward(self, x):
        return x * (self.weight * self.scale) * self.mask + torch.tensor([1.0, 2.0, 3.0])


rows = torch.ones(2, 3)
kinds = export(AllKinds(), (rows,)).run_decompositions({})
for node, spec in zip(kinds.graph.nodes, kinds.graph_signature.input_specs, strict=False):
    print(f"{node.name:18} {spec.kind.name:16} {spec.target}")
print("state_dict:", list(kinds.state_dict), " constants:", list(kinds.constants))

# %% proof=true
kind_specs = kinds.graph_signature.input_specs
assert [spec.kind for spec in kind_specs] == [
    InputKind.PARAMETER,
    InputKind.BUFFER,
    InputKind.BUFFER,
    InputKind.CONSTANT_TENSOR,
    InputKind.USER_INPUT,
]
assert list(kinds.state_dict) == ["weight", "scale"]
assert sorted(kinds.constants) == ["lifted_tensor_0", "mask"]

# %% [markdown]
# So each tensor is in three places:
#
# 1. **the graph** has a placeholder;
# 2. **the signature** has an `InputSpec` at the same index: its `kind`, and its `target`, which is the name of the tensor;
# 3. **the state** has the tensor: `state_dict` for parameters and persistent buffers, `constants` for other buffers and for tensors that `forward` made.
#
# ### A worked example: one more buffer
#
# This function adds a buffer to a program. PyTorch puts all state before the inputs of the user, so the new placeholder becomes the first one.
# It gets a fake value, as all other placeholders have one: a value of the program's own fake mode.


# %%
def with_buffer(ep: ExportedProgram, name: str, like: str) -> ExportedProgram:
    """A program with one more buffer of zeros, which looks like the value of another node."""
    new = copy.deepcopy(ep)
    (model,) = (node for node in new.graph.nodes if node.name == like)
    first = next(iter(new.graph.nodes))
    with new.graph.inserting_before(first):
        buffer = new.graph.placeholder(f"b_{name}")
    buffer.meta["val"] = model.meta["val"]
    spec = InputSpec(InputKind.BUFFER, TensorArgument(name=buffer.name), name, persistent=True)
    new.graph_signature.input_specs.insert(0, spec)
    new.state_dict[name] = torch.zeros(model.meta["val"].shape)
    new.graph_module.recompile()
    return new


more = with_buffer(kinds, "shift", like="mul")
print(list(more.state_dict), more.graph_signature.buffers)

# %% proof=true
assert "shift" in more.state_dict and "shift" in more.graph_signature.buffers
torch.testing.assert_close(more.module()(rows), kinds.module()(rows))
assert "shift" not in kinds.state_dict

# %% [markdown]
# **Predict the result.** The pass forgets the tensor: graph and signature have the buffer, `state_dict` does not. When is the mistake noticed?
#
# <details><summary>The buffer is zero until somebody loads a value.</summary>
#
# No. Nothing makes a tensor for it.
# </details>
# <details><summary><code>module()</code> raises a <code>KeyError</code>.</summary>
#
# Right. It looks for each target of the signature. <code>validate()</code> says more: the buffer is not in the state dict.
# </details>
# <details><summary>Only if a node reads the buffer.</summary>
#
# No. Nothing reads it here, either.
# </details>

# %% proof=true
no_tensor = with_buffer(kinds, "shift", like="mul")
del no_tensor.state_dict["shift"]
with fails(KeyError):
    no_tensor.module()

# %% [markdown]
# `validate()` compares the three places. Call it in your tests after each pass. Here the line of the signature is missing, and then the tensor:

# %%
no_line = with_buffer(kinds, "shift", like="mul")
del no_line.graph_signature.input_specs[0]
with fails(torch._export.verifier.SpecViolationError):
    no_line.validate()

no_tensor = with_buffer(kinds, "shift", like="mul")
del no_tensor.state_dict["shift"]
with fails(torch._export.verifier.SpecViolationError):
    no_tensor.validate()

# %% [markdown]
# One mistake is never noticed. A tensor that no line names stays in the file, and nobody reads it:

# %%
too_much = copy.deepcopy(kinds)
too_much.state_dict["old"] = torch.zeros(1000)
too_much.validate()


def size_of(program: ExportedProgram) -> int:
    file = io.BytesIO()
    torch.export.save(program, file)
    return len(file.getvalue())


print(size_of(kinds), "bytes, and with the old tensor", size_of(too_much))

# %% proof=true
assert size_of(too_much) - size_of(kinds) >= 4000

# %% [markdown]
# ## 11c.3 Calls that are constant
#
# A network of the mobile team has layers with weight normalization. Each weight is computed from a direction and a length, again in each call:


# %%
class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = weight_norm(nn.Linear(6, 4))
        self.head = weight_norm(nn.Linear(4, 3))

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


normed = export(Normed().eval(), (x,))
draw(normed.graph_module)

# %% proof=true
norms = [node for node in normed.graph.nodes if node.target is aten._weight_norm.default]
assert len(norms) == 2
assert all(arg.op == "placeholder" for node in norms for arg in node.all_input_nodes)

# %% [markdown]
# Both calls of `_weight_norm` depend on state alone. To compute them once, before anybody calls the program, is called *constant folding*.
# FX has a function for it. It works on traces of `symbolic_trace`, where parameters are `get_attr` nodes:


# %%
class Gain(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.bias = (nn.Parameter(torch.rand(3)) for _ in range(2))

    def forward(self, x):
        return x * (self.weight.exp() + self.bias)


split = split_const_subgraphs(fx.symbolic_trace(Gain()))
split.run_folding()
print(split.code)

# %% proof=true
assert [n.op for n in split.graph.nodes] == ["placeholder", "get_attr", "call_function", "output"]

# %% [markdown]
# **Predict the result.** What does `split_const_subgraphs(normed.graph_module)` fold?
#
# <details><summary>Both calls of <code>_weight_norm</code></summary>
#
# No. For this function they depend on inputs.
# </details>
# <details><summary>Nothing</summary>
#
# Right. In a program, state is lifted: each parameter is a placeholder, and only the signature says that it is state.
# </details>
# <details><summary>The whole graph</summary>
#
# No. <code>x</code> is an input.
# </details>

# %% proof=true
unsplit = split_const_subgraphs(copy.deepcopy(normed.graph_module))
assert [n.target for n in unsplit.graph.nodes if n.op == "call_function"] == [
    n.target for n in normed.graph.nodes if n.op == "call_function"
]

# %% [markdown]
# So a pass on programs asks the signature. Then it goes through the graph once. A call is constant if all its inputs are:


# %%
def constant_calls(ep: ExportedProgram) -> list[str]:
    """The calls that depend on state alone, if nothing is mutated or random."""
    constant = set()
    nodes = list(ep.graph.nodes)
    for node, spec in zip(nodes, ep.graph_signature.input_specs, strict=False):
        if spec.kind != InputKind.USER_INPUT:
            constant.add(node)
    for node in nodes:
        if node.op == "call_function" and constant.issuperset(node.all_input_nodes):
            constant.add(node)
    return [node.name for node in nodes if node in constant and node.op == "call_function"]


print(constant_calls(normed), constant_calls(kinds))

# %% proof=true
assert constant_calls(normed) == ["_weight_norm", "_weight_norm_1"]
assert constant_calls(kinds) == ["mul", "clone"]

# %% [markdown]
# ### What is not constant
#
# A call without inputs depends on nothing, so `aten.arange` is constant. `aten.rand` has no inputs, either. If you fold it, each call gets the same noise. The operator carries a tag that tells:


# %%
class Noisy(nn.Module):
    def forward(self, x):
        return x + torch.rand(3) * torch.arange(3)


noisy = export(Noisy(), (rows,))
tagged = {
    node.name: torch.Tag.nondeterministic_seeded in node.target.tags
    for node in noisy.graph.nodes
    if node.op == "call_function"
}
print(tagged)

# %% proof=true
assert tagged["rand"] and not tagged["arange"]
assert "rand" in constant_calls(noisy)

# %% [markdown]
# **Predict the result.** `constant_calls` gets the program of the second question above, which counts: it computes `count + 1` and `x * 2`. Which calls does it name?
#
# <details><summary>None</summary>
#
# No. It asks whether an input is state, and <code>count</code> is.
# </details>
# <details><summary>The addition</summary>
#
# Right, and a pass that folds it is wrong: the count would stay at 1. <code>graph_signature.buffers_to_mutate</code> says which buffers change.
# </details>
# <details><summary>Both</summary>
#
# No. The multiplication reads <code>x</code>.
# </details>

# %% proof=true
(added_one,) = constant_calls(count_program)
(addition,) = (node for node in count_program.graph.nodes if node.name == added_one)
assert addition.target is aten.add.Tensor
assert list(count_program.graph_signature.buffers_to_mutate.values()) == ["count"]

# %% [markdown]
# Two more kinds of call need care. A cast comes with an assertion about its input, which has no result and no reader. If it stays, the weight stays.
# And `torch.cond` is a call with graphs as arguments.


# %%
class Cast(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))

    def forward(self, x):
        return x * self.weight.to(torch.float16)


cast = export(Cast(), (rows,))
print(cast.graph)

# %% proof=true
cast_weight, _ = cast.graph.find_nodes(op="placeholder")
assert {str(node.target) for node in cast_weight.users} == {
    "aten._assert_tensor_metadata.default",
    "aten.to.dtype",
}


# %%
class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))

    def forward(self, x):
        return (x.sin() + torch.rand_like(self.weight).cos()) * self.weight.exp().neg()


drilled = export(Mixed(), (rows,))
print(drilled.graph)

# %% [markdown]
# **Drill 11c.3a.** Which calls of the program `drilled` may be computed once? Write a list of names, in the order of the graph.

# %% drill=true
once = ["exp", "neg"]
drill("11c.3a", once)
# Mistake: Random numbers are different in each call, and so is what is computed from them.
# once = ["rand_like", "cos", "exp", "neg"]

# %% proof=true
assert constant_calls(drilled) == ["rand_like", "cos", "exp", "neg"]

# %% [markdown] card="fold_constants"
# **Given** an `ExportedProgram`.
#
# **Return** a new program in which each call that depends on state alone is computed once. State is parameters, buffers and constants. Calls without inputs (`arange`) count.
#
# * Each such value that another call or the output reads becomes one persistent buffer `folded_0`, `folded_1`, … without gradient.
# * Its placeholder is before all user inputs and has a `val` of the program's fake mode.
# * State without a reader leaves graph, signature and `state_dict` or `constants`.
# * Buffers that the signature calls mutated are not constant, and stay. Random calls stay.
# * Outputs keep their kind and place.
#
# **Do not** change `ep`.
#
# **Fine print**
#
# * The names are the first that no tensor and no submodule has.
# * Assertions about state alone go. `torch.cond` stays as it is. All other calls stay, too.
# * "Another call" is one that is not computed once itself.
# * The graph module is recompiled.
# * `torch.export.save` and `load` work, and sizes that could change still can. A second run changes nothing.
# * Graphs that write in place, and calls that return numbers, are never tested.


# %%
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x):
        return x * (self.weight * self.scale).neg()


class FoldedOnce(nn.Module):
    """What fold_constants makes of it, as if it were in the source."""

    def __init__(self):
        super().__init__()
        self.register_buffer("folded_0", -torch.ones(3))

    def forward(self, x):
        return x * self.folded_0


example = (torch.ones(2, 3),)
draw.diff(export(Scaled(), example).graph_module, export(FoldedOnce(), example).graph_module)


# %% solve="fold_constants"
### BEGIN SOLUTION
def constant_values(ep: ExportedProgram) -> dict[fx.Node, object]:
    """The value of each node of a program that depends on state alone."""
    signature = ep.graph_signature
    mutated = set(signature.buffers_to_mutate.values())
    tensors = {**ep.state_dict, **ep.constants}
    specs = {spec.arg.name: spec for spec in signature.input_specs}
    values: dict[fx.Node, object] = {}
    for node in ep.graph.nodes:
        if node.op == "placeholder":
            target = specs[node.name].target
            if target in tensors and target not in mutated:
                values[node] = tensors[target]
        elif node.op == "call_function" and all(each in values for each in node.all_input_nodes):
            plain = isinstance(node.target, torch._ops.OpOverload) or (
                node.target is operator.getitem
            )
            tags = getattr(node.target, "tags", ())
            if plain and torch.Tag.nondeterministic_seeded not in tags:
                args, kwargs = fx.map_arg((node.args, node.kwargs), values.__getitem__)
                with torch.no_grad():
                    values[node] = node.target(*args, **kwargs)
    return values


### END SOLUTION


def fold_constants(ep: ExportedProgram) -> ExportedProgram:
    """A new program in which each call that depends on state alone is computed once.

    Args:
        ep: the program; it is not changed.
    """
    ### BEGIN SOLUTION
    new = copy.deepcopy(ep)
    graph, signature = new.graph, new.graph_signature
    values = constant_values(new)
    specs = {spec.arg.name: spec for spec in signature.input_specs}
    taken = {name.partition(".")[0] for name in (*new.state_dict, *new.constants)}
    free = (name for i in itertools.count() if (name := f"folded_{i}") not in taken)
    first = next(iter(graph.nodes))
    for node in [node for node in values if node.op == "call_function"]:
        if all(reader in values for reader in node.users):
            continue
        name = next(free)
        with graph.inserting_before(first):
            buffer = graph.placeholder(f"b_{name}")
        buffer.meta["val"] = node.meta["val"]
        # A cast may return the parameter itself, and a view shares its memory.
        new.state_dict[name] = values[node].detach().clone()
        argument = TensorArgument(name=buffer.name)
        specs[buffer.name] = InputSpec(InputKind.BUFFER, argument, name, persistent=True)
        node.replace_all_uses_with(buffer)
        for spec in signature.output_specs:
            if spec.arg.name == node.name:
                spec.arg = argument
    for node in reversed(list(graph.nodes)):
        if node in values and not node.users:
            if node.op == "placeholder":
                target = specs[node.name].target
                new.state_dict.pop(target, None)
                new.constants.pop(target, None)
            graph.erase_node(node)
    placeholders = graph.find_nodes(op="placeholder")
    signature.input_specs[:] = [specs[node.name] for node in placeholders]
    new.graph_module.recompile()
    return new
    ### END SOLUTION


# %% check="fold_constants"
check(fold_constants)

# %% hint="fold_constants"
hint("fold_constants")

# %% [markdown]
# ## 11c.4 The end of the story
#
# **The mobile team** gets the value before the last layer. Save the new program, and load it:

# %% uses="add_output"
program = export(Classifier().eval(), (x,), dynamic_shapes={"x": {0: Dim("batch", min=2)}})
file = io.BytesIO()
torch.export.save(add_output(program, "relu"), file)
file.seek(0)
old, features = torch.export.load(file).module()(torch.randn(5, 6))
print(list(old), tuple(features.shape))

# %% proof=true
assert set(old) == {"scores", "size"} and features.shape == (5, 4)

# %% [markdown]
# And the network with normalized weights computes them no more:

# %% uses="fold_constants"
small_program = fold_constants(normed)
print(list(small_program.state_dict))
torch.testing.assert_close(small_program.module()(x), normed.module()(x))
draw(small_program.graph_module)

# %% proof=true
assert sorted(small_program.state_dict) == ["body.bias", "folded_0", "folded_1", "head.bias"]
assert not any("weight_norm" in str(node.target) for node in small_program.graph.nodes)
small_program.validate()

# %% [markdown]
# ## Common mistakes
#
# Here you see them fail. (3 minutes)
#
# ### The value is last, and its line first
#
# Each output of the graph is matched with the line of the signature at the same place. Here all lines are shifted by one:

# %%
wrong = export(nn.Sequential(nn.BatchNorm1d(6), nn.Sigmoid()).train(), (x,)).run_decompositions({})
output = wrong.graph.output_node()
(sigmoid,) = (node for node in wrong.graph.nodes if node.name == "sigmoid")
output.args = ((*output.args[0], sigmoid),)
wrong.graph_signature.output_specs.insert(
    0, OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(name="sigmoid"), target=None)
)
old_spec = wrong.module_call_graph[0].signature
old_spec.out_spec = pytree.TreeSpec(tuple, None, [old_spec.out_spec, pytree.tree_structure(0)])
wrong.graph_module.recompile()
with fails(RuntimeError):
    wrong.module()(x)  # a result of shape (2, 6) is written into the counter

# %% [markdown]
# **Right:** after all others, in the graph and in the signature.
#
# ### The folded value is the parameter
#
# A cast to the dtype that a tensor already has returns the same object. Your buffer is then a parameter, and needs a gradient:

# %%
parameter = nn.Parameter(torch.ones(3))
print(parameter.to(torch.float32) is parameter)

# %% proof=true
assert parameter.to(torch.float32) is parameter and parameter.requires_grad
assert not parameter.detach().clone().requires_grad

# %% [markdown]
# **Right:** `value.detach().clone()`.
#
# ### A name that a submodule has
#
# The state has `norm.weight` and `norm.bias`. The name `norm` is in no dictionary, but `module()` makes a submodule of that name:


# %%
class HasNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(3)

    def forward(self, x):
        return self.norm(x)


same_name = with_buffer(export(HasNorm(), (rows,)), "norm", like="layer_norm")
same_name.validate()
with fails(RuntimeError):
    same_name.module()

# %% [markdown]
# **Right:** the part before the first dot of each name is taken, too.
#
# ### The program is exported again
#
# `export(ep.module(), args)` makes a new program. It knows only the shapes of these arguments:

# %%
flexible = export(nn.Tanh(), (rows,), dynamic_shapes=({0: Dim("batch", min=2)},))
exported_again = export(flexible.module(), (rows,))
print(len(flexible.range_constraints), len(exported_again.range_constraints))

# %% proof=true
assert flexible.range_constraints and not exported_again.range_constraints

# %% [markdown]
# **Right:** change the parts of a copy.

# %% [markdown]
# ## Recap
#
# 1. Graph, signature, structure and code describe a program's outputs. An edit must reach all four.
# 2. The graph's output is one flat tuple: mutated values first, then results.
# 3. `copy.copy` of a program shares its parts. `copy.deepcopy` shares only the values in `meta`.
# 4. Each tensor of a program is in three places: a placeholder, a line of the signature, and `state_dict` or `constants`.
# 5. A call is constant if all its inputs are. Mutated buffers and random calls are not.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `ep.graph.output_node().args[0]` | the flat outputs |
# | `ep.graph_signature.output_specs` | one line for each of them |
# | `ep.module_call_graph[0].signature.out_spec` | their structure |
# | `pytree.tree_structure(example)` | a TreeSpec |
# | `ep.graph_signature.input_specs` | one line for each placeholder |
# | `InputSpec(InputKind.BUFFER, TensorArgument(name=…), target, persistent=True)` | the line of a buffer |
# | `ep.graph_signature.buffers_to_mutate` | buffers that change, by the node of their new value |
# | `ep.state_dict`, `ep.constants` | the tensors |
# | `ep.validate()` | compares graph, signature and state |
# | `torch.Tag.nondeterministic_seeded in node.target.tags` | whether an operator is random |
# | `split_const_subgraphs(gm)` | constant folding for a trace of `symbolic_trace` |
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
# | views in a program, and its backward | the deep dive 11b |
# | passes with an honest result, and `meta` that stays true | chapters 12 and 12b |
# | cutting a program for a device | chapter 13b |
#
# In PyTorch's documentation: [torch.export](https://docs.pytorch.org/docs/stable/export.html).
# (`torch.utils._pytree` and `torch._export` begin with an underscore: their names are not promised to stay.)
