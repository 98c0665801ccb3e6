# %% [markdown]
# # 11b · Editing exported programs
#
# **After this part you can give a program one more output, and keep all of its parts true.**
#
# | | |
# |---|---|
# | **You need** | sections 11.4 to 11.6 of chapter 11; this part is optional, and no later chapter needs it |
# | **Time** | about 45 minutes, 25 of them for the exercise |
#
# **When you are done, you can**
#
# 1. name the four places of an exported program that speak of its outputs;
# 2. change the outputs of a program, and keep its signature and its structure true;
# 3. say what a copy of a program shares with it;
# 4. save and load a program that you have changed.

# %% [markdown]
# ## A story
#
# The mobile team of chapter 11 has its program: a file that `torch.export` made. Then the questions go on.
#
# *We also need the value in front of the last layer, to compare images with each other. Can the program return it, too?*
# Nobody has the model's source code here. There is only the file.
#
# In chapter 3 you would have changed the output node, and that was all. A program has more parts that must agree.

# %%
import copy
import io

import torch
import torch.utils._pytree as pytree
from torch import nn
from torch.export import Dim, ExportedProgram, export
from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument

from autograder import check, draw, fails, hint, progress

torch.manual_seed(11)


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
# ## 11b.1 Four places that speak of outputs (33 minutes)
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
# * If there is no call node of that name (it is unknown, a placeholder, or `"output"`), raise a `ValueError`.
#
# Programs before and after `run_decompositions` are tried.
#
# **Do not** change `ep`. The new program may share its tensors.
#
# (Values that are changed in place later, and values that are no tensors, are never tested.)


# %%
class After(nn.Module):
    """What add_output(ep, "relu") does, as if it were in the source."""

    def __init__(self):
        super().__init__()
        self.inner = Classifier()

    def forward(self, x):
        features = torch.relu(self.inner.body(x))
        old = {"scores": self.inner.head(features), "size": features.norm()}
        return old, features


draw.diff(ep.graph_module, export(After().eval(), (x,)).graph_module)


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
# ## 11b.2 The end of the story (2 minutes)
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
# An `AssertionError` says that the program is wrong, not the argument. Also, `python -O` leaves out all `assert` lines.

# %%
with fails(AssertionError):
    assert "gelu" in {node.name for node in ep.graph.nodes}

# %% [markdown]
# **Right:** `raise ValueError(...)`, with a text that names the node.

# %% [markdown]
# ## Recap
#
# 1. Graph, signature, structure and code speak of a program's outputs. An edit must reach all four.
# 2. The graph's output is one flat tuple: mutated values first, then results.
# 3. `copy.copy` of a program shares everything, and `copy.deepcopy` nothing.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `ep.graph.output_node().args[0]` | the flat outputs |
# | `ep.graph_signature.output_specs` | one line for each of them |
# | `ep.module_call_graph[0].signature.out_spec` | their structure |
# | `pytree.tree_structure(example)` | a TreeSpec |
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
