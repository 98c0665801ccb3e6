# %% [markdown]
# # 2b · What `lint` does not see
#
# **After this part you can find every fault of a broken graph module, even faults that `lint` misses.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 and 2: traces, the six kinds of node, graph and code |
# | **Time** | about 75 minutes with *Common mistakes*, 40 of them for the exercise; the minutes of a section include its exercise |
# | **Deep dive** | You can go on to chapter 3 without it |
#
# **When you are done, you can**
#
# 1. say what `Graph.lint()` checks, and why it reports one fault at most;
# 2. list the faults that it does not find;
# 3. tell whether a node belongs to a graph;
# 4. find all of these faults in a module of any depth, without changing it.

# %% [markdown]
# ## A story
#
# Your colleague of chapter 2 now calls `recompile()` after each edit. Her GoogLeNet computes with `torch.tanh`, as she wanted.
#
# Then she took the first BatchNorm out, and nothing happened. `lint()` does not complain, and the code is up to date.
# You write `wellformed`, a checker that finds what `lint()` overlooks. In section 2b.4 it says what is wrong.

# %%
import copy

import torch
from torch import fx, nn
from torchvision.models import googlenet

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(2)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the graph.** To a traced graph you add a node with `graph.call_method("neg", (x,))`, and choose no place. Where is it?
#
# <details><summary>Directly after <code>x</code></summary>
#
# No. FX does not look for a place. The arguments decide nothing.
# </details>
# <details><summary>Before the output</summary>
#
# No. For that you write <code>with graph.inserting_before(output):</code>.
# </details>
# <details><summary>After the output</summary>
#
# Right. A trace leaves the insertion point at the end (section 2.4). This node never runs.
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x: torch.relu(x))
x, relu, output = gm.graph.nodes
neg = gm.graph.call_method("neg", (x,))
assert list(gm.graph.nodes) == [x, relu, output, neg]

# %% [markdown]
# **Predict the graph.** A `forward` reads `self.inner.weight`, the weight of a linear layer. What is the target of that node?
#
# <details><summary>The tensor itself</summary>
#
# No. Only `call_function` has a target that is not a string.
# </details>
# <details><summary><code>"inner.weight"</code></summary>
#
# Right. The target of `get_attr` is a path from the root, with dots (section 2.3). It may lead nowhere, as you will see.
# </details>
# <details><summary><code>"inner_weight"</code></summary>
#
# No. That is the name of the node. A name cannot have a dot.
# </details>


# %% proof=true
class Reads(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x):
        return x @ self.inner.weight


_, weight, _, _ = fx.symbolic_trace(Reads()).graph.nodes
assert (weight.op, weight.target, weight.name) == ("get_attr", "inner.weight", "inner_weight")

# %% [markdown]
# ## 2b.1 What `lint` finds
#
# Section 2.6 lists what `lint` checks.
# Let us break one model in many ways and ask `lint` each time.


# %%
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.register_buffer("offset", torch.rand(4))

    def forward(self, x):
        y = self.layers(x) + self.offset
        return torch.cat([x, y], dim=1)


def node_called(gm: fx.GraphModule, name: str) -> fx.Node:
    """The node of that name. For experiments; a pass does not search by name."""
    return next(node for node in gm.graph.nodes if node.name == name)


def lint_says(gm: fx.GraphModule) -> str:
    """What `lint` complains about, or an empty string."""
    try:
        gm.graph.lint()
    except Exception as error:
        return str(error).splitlines()[0]
    return ""


sound = fx.symbolic_trace(Block())
print("lint says:", repr(lint_says(sound)))
draw(sound)

# %% proof=true
assert lint_says(sound) == ""

# %% [markdown]
# Section 2.6 had a node that reads itself. `lint` also finds a node of another graph, a target that does not exist, and a name that is given twice.
# And it has one false alarm: a registered buffer or parameter that is `None` counts as missing.

# %%
gm = fx.symbolic_trace(Block())
stranger = fx.symbolic_trace(Block())
node_called(gm, "cat").args = ([node_called(gm, "x"), node_called(stranger, "add")],)
print(lint_says(gm))

gm = fx.symbolic_trace(Block())
node_called(gm, "layers_0").target = "layers.7"
print(lint_says(gm))

gm = fx.symbolic_trace(Block())
node_called(gm, "layers_0").name = "x"
print(lint_says(gm))

gm = fx.symbolic_trace(Block())
gm.register_buffer("offset", None)  # it is there, and it is None
print(lint_says(gm))

# %% proof=true
assert "references nonexistent attribute" in lint_says(gm)
gm = fx.symbolic_trace(Block())
node_called(gm, "cat").args = ([node_called(gm, "x"), node_called(stranger, "add")],)
assert "does not belong to this Graph" in lint_says(gm)
gm = fx.symbolic_trace(Block())
node_called(gm, "layers_0").target = "layers.7"
assert "references nonexistent attribute" in lint_says(gm)
gm = fx.symbolic_trace(Block())
node_called(gm, "layers_0").name = "x"
assert "redefined name x" in lint_says(gm)

# %% [markdown]
# **Predict the result.** A graph has a node that reads itself and two outputs. How many faults does `lint` report?
#
# <details><summary>None: the second output hides the first fault.</summary>
#
# No. A node that reads itself is found wherever the outputs are.
# </details>
# <details><summary>One.</summary>
#
# Right. It raises an exception at the first fault that it meets. It would not find the other fault at all.
# </details>
# <details><summary>Two.</summary>
#
# No. An exception ends the search, and <code>lint</code> does not count outputs.
# </details>

# %% proof=true
gm = fx.symbolic_trace(Block())
node_called(gm, "add").args = (node_called(gm, "add"), node_called(gm, "offset"))
gm.graph.output(node_called(gm, "x"))
assert "used before it has been defined" in lint_says(gm)
node_called(gm, "add").args = (node_called(gm, "layers_1"), node_called(gm, "offset"))
assert lint_says(gm) == ""  # two outputs, and no complaint

# %% [markdown]
# ## 2b.2 What `lint` misses
#
# ### Missed: the wrong number of outputs
#
# A second `return` can never be reached.
# Without any output node, `forward` returns `None`. (`graph.erase_node` removes a node: chapter 3.)

# %%
gm = fx.symbolic_trace(Block())
gm.graph.output(node_called(gm, "add"))
gm.recompile()
print(gm.code, repr(lint_says(gm)))

# %% proof=true
assert lint_says(gm) == "" and gm.code.count("return ") == 2
gm = fx.symbolic_trace(Block())
gm.graph.erase_node(node_called(gm, "output"))
gm.recompile()
assert lint_says(gm) == "" and gm(torch.rand(2, 4)) is None

# %% [markdown]
# ### Missed: an output that is not last
#
# A node after the `return` never runs.

# %%
gm = fx.symbolic_trace(Block())
gm.graph.call_function(torch.relu, (node_called(gm, "add"),))
gm.recompile()
print(gm.code, repr(lint_says(gm)))

# %% proof=true
assert lint_says(gm) == ""
assert gm.code.index("return cat") < gm.code.index("torch.relu")

# %% [markdown]
# ### Missed: a raw tensor among the arguments
#
# FX writes a description of the tensor, without its values: `torch.Tensor(size=[4], dtype=float32)`.
# Python accepts that line, and it fails when it runs. *Common mistakes* of chapter 2 has the right way.

# %%
gm = fx.symbolic_trace(Block())
node_called(gm, "add").update_arg(1, torch.ones(4))
gm.recompile()
print(gm.code, repr(lint_says(gm)))
with fails(NameError):
    gm(torch.rand(2, 4))

# %% proof=true
assert lint_says(gm) == "" and "torch.Tensor(size=[4], dtype=float32)" in gm.code

# %% [markdown]
# ### Missed: users in another graph, and erased users
#
# `lint` looks at the arguments of each node, never at its users.
# Below, a node of another graph reads `add`, so it is among the `users` of `add`.
# A pass that follows `users` leaves the graph without noticing.

# %%
gm = fx.symbolic_trace(Block())
other = fx.Graph()
other.call_function(torch.relu, (node_called(gm, "add"),))
print(list(node_called(gm, "add").users), repr(lint_says(gm)))

# %% proof=true
assert [user.name for user in node_called(gm, "add").users] == ["cat", "relu"]
assert lint_says(gm) == ""

# %% [markdown]
# An *erased* node causes the same fault.
# A Python variable may still hold it. If it gets arguments again, it counts as a reader, though it never runs.
#
# **Predict the value.** `ghost` is such an erased node. What is `ghost.graph`?
#
# <details><summary><code>None</code></summary>
#
# No. <code>erase_node</code> removes the node from the list, and leaves this attribute unchanged.
# </details>
# <details><summary>The graph that it was erased from</summary>
#
# Right. So <code>node.graph is gm.graph</code> does not tell whether a node belongs to a graph.
# </details>
# <details><summary>Asking raises an error</summary>
#
# No. An erased node is still a Python object.
# </details>

# %% proof=true
gm = fx.symbolic_trace(Block())
ghost = gm.graph.call_function(torch.relu, (node_called(gm, "x"),))
gm.graph.erase_node(ghost)
ghost.args = (node_called(gm, "add"),)
assert ghost in node_called(gm, "add").users
assert ghost.graph is gm.graph and ghost not in set(gm.graph.nodes)
assert lint_says(gm) == ""

# %% [markdown]
# The safe test for "does it belong to this graph?" is whether it is among `graph.nodes`.
# `lint` asks `arg.graph` instead. So it reports an erased *argument* with the wrong words:

# %%
gm = fx.symbolic_trace(Block())
ghost = gm.graph.call_function(torch.relu, (node_called(gm, "x"),))
gm.graph.erase_node(ghost)
node_called(gm, "add").update_arg(0, ghost)
print(lint_says(gm))

# %% proof=true
assert "used before it has been defined" in lint_says(gm)

# %% [markdown]
# Two nodes that are not in the graph of `leaky` read values of it:

# %%
leaky = fx.symbolic_trace(Block())
fx.Graph().call_function(torch.relu, (node_called(leaky, "add"),))
ghost = leaky.graph.call_method("neg", (node_called(leaky, "offset"),))
leaky.graph.erase_node(ghost)
ghost.args = (node_called(leaky, "offset"),)

# %% proof=true
assert lint_says(leaky) == ""

# %% [markdown]
# **Drill 02b.2a.** Write a loop or comprehension that finds the names of all nodes of `leaky.graph` that have a user
# outside of it. The value is the set of these names.

# %% drill=true
own = set(leaky.graph.nodes)
read_outside = {node.name for node in leaky.graph.nodes if not own.issuperset(node.users)}
drill("02b.2a", read_outside)
# Mistake: What `user.graph` says is not a safe test.
# nodes = leaky.graph.nodes
# read_outside = {n.name for n in nodes if any(u.graph is not leaky.graph for u in n.users)}

# %% [markdown]
# ### Missed: a dot in a key
#
# A path such as `layers.0` leads from module to module.
# Each module keeps its own children in `_modules`, under keys without dots.
# `setattr` with a dotted name makes a *new key* on the root, and does not change the nested module.
#
# For parameters and buffers PyTorch refuses a dotted name, and a plain tensor becomes an ordinary attribute.
# Only code that writes directly into `_parameters` or `_buffers` can put such a key there.

# %%
gm = fx.symbolic_trace(Block())
for value in (nn.Parameter(torch.ones(4)), nn.Buffer(torch.ones(4))):
    with fails(KeyError):
        setattr(gm, "layers.offset", value)

setattr(gm, "layers.offset", torch.ones(4))  # no error, and neither a parameter nor a buffer
print("in the state dict:", "layers.offset" in gm.state_dict())
gm._buffers["layers.offset"] = torch.ones(4)  # the key itself
print("in the state dict:", "layers.offset" in gm.state_dict())

# %% proof=true
assert "layers.offset" in vars(gm)
assert lint_says(gm) == "" and "layers.offset" in gm.state_dict()

# %%
gm = fx.symbolic_trace(Block())
setattr(gm, "layers.0", nn.Identity())
print("keys of the root:   ", list(gm._modules))
print("the graph calls:    ", gm.get_submodule("layers.0"))  # still the old one
print("named_modules gives:", dict(gm.named_modules())["layers.0"])  # two modules, one name

# %% proof=true
assert lint_says(gm) == ""
assert list(gm._modules) == ["layers", "layers.0"]
assert type(gm.get_submodule("layers.0")) is nn.Linear
assert type(dict(gm.named_modules())["layers.0"]) is nn.Identity

# %% [markdown]
# The last line shows why paths cannot tell the two apart.
# You must look at the keys of each module.
# `gm.modules()` gives every module of the tree, each once, at any depth.
# `gm.named_modules()` gives the same modules with **one** path each. A module that has two paths appears under the first of them only;
# `gm.named_modules(remove_duplicate=False)` gives every path.
# To check whether a path exists, use `get_submodule`; do not search `named_modules()`.

# %%
act = nn.ReLU()
two_paths = nn.ModuleDict({"first": act, "second": act})
print([path for path, _ in two_paths.named_modules()])
print([path for path, _ in two_paths.named_modules(remove_duplicate=False)])

for path, module in sound.named_modules():
    children, buffers = list(module._modules), list(module._buffers)
    print(f"{path or '(root)':10} children {children}  buffers {buffers}")

# %% proof=true
assert [path for path, _ in two_paths.named_modules()] == ["", "first"]
every_path = [path for path, _ in two_paths.named_modules(remove_duplicate=False)]
assert every_path == ["", "first", "second"]
assert two_paths.get_submodule("second") is act  # the path exists all the same

# %% [markdown]
# Here is a small tree of modules:

# %%
tree = nn.Sequential(nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU()))
setattr(tree[1], "0.act", nn.Tanh())
tree[1].register_module("1", tree[0])

# %% proof=true
assert dict(tree.named_modules())["1.0.act"] is tree[1]._modules["0.act"]

# %% [markdown]
# **Drill 02b.2b.** Which paths can `tree.get_submodule` follow? Write the set of these paths. Do not count the root.

# %% drill=true
paths = {"0", "0.0", "1", "1.0", "1.1", "1.1.0"}
drill("02b.2b", paths)
# Mistake: A key with a dot is in the list of names, and a module with two paths has only one there.
# paths = {path for path, _ in tree.named_modules()} - {""}

# %% [markdown]
# ## 2b.3 A checker of your own
#
# ### Worked example: a checker for one more fault
#
# Nothing stops you from putting a placeholder in the middle of a graph.
# It works, but it is hard to read: the parameters are no longer together.
# This checker finds it; `lint` does not.


# %%
def placeholders_first(gm: fx.GraphModule) -> list[str]:
    """`["late-placeholder"]` if a placeholder comes after another kind of node."""
    found = set()
    only_placeholders_so_far = True
    for node in gm.graph.nodes:
        if node.op != "placeholder":
            only_placeholders_so_far = False
        elif not only_placeholders_so_far:
            found.add("late-placeholder")
    return sorted(found)


gm = fx.symbolic_trace(Block())
with gm.graph.inserting_before(node_called(gm, "add")):
    gm.graph.placeholder("extra", default_value=None)
gm.recompile()
print(repr(lint_says(gm)), placeholders_first(gm))

# %% proof=true
assert lint_says(gm) == ""
assert placeholders_first(gm) == ["late-placeholder"]
assert placeholders_first(sound) == []

# %% [markdown] card="wellformed"
# Report everything that is wrong with a `GraphModule`.
#
# **Given** a `GraphModule`.
#
# **Return** the sorted list of the codes that apply, each once.
#
# | code | when |
# |---|---|
# | `stale-code` | `gm.code` is not what the graph generates |
# | `output` | no output node, more than one, or it is not last |
# | `foreign-node` | an argument or user is of another graph, or erased |
# | `raw-tensor` | a tensor is among `args` or `kwargs`, nested or not |
# | `undefined-use` | a node is used before it is defined |
# | `missing-target` | a `call_module` or `get_attr` target does not resolve |
# | `dotted-name` | a key of any module has a dot |
#
# **Do not** change or recompile the module.
#
# **Fine print**
#
# * The module may be sound (`[]`), or broken in one way or in several.
# * "Nested" means: in tuples, lists, dictionaries and slices, as in `inputs_of`.
# * A foreign or erased node is only `foreign-node`, not `undefined-use`.
# * A registered parameter or buffer that is `None` exists.
# * The keys of `dotted-name` are those of each module, at any depth: its own `_modules`, `_parameters` or `_buffers`, whether saved with the model or not.


# %%
def small(x):
    return torch.cat([x, x.relu()], dim=1)


# Three modules that `lint` accepts, and what `wellformed` must report about them.
stale, haunted, twice = (fx.symbolic_trace(small) for _ in range(3))

x, relu, cat, _ = stale.graph.nodes
cat.kwargs = {"dim": 0}  # ["stale-code"]

x, relu, cat, _ = haunted.graph.nodes
fx.Graph().call_function(torch.relu, (relu,))  # ["foreign-node"]

x, relu, cat, _ = twice.graph.nodes
cat.args = ([x, torch.ones(2, 4)],)
twice.graph.output(relu)  # ["output", "raw-tensor", "stale-code"]

for gm in (stale, haunted, twice):
    gm.graph.lint()  # no complaint
draw.diff(fx.symbolic_trace(small), twice)


# %% solve="wellformed"
def wellformed(gm: fx.GraphModule) -> list[str]:
    """The sorted codes of all that is wrong with a graph module; empty if it is sound."""

    ### BEGIN SOLUTION
    def leaves(value):
        """Everything in nested arguments except the containers."""
        if isinstance(value, (tuple, list)):
            for item in value:
                yield from leaves(item)
        elif isinstance(value, dict):
            yield from leaves(list(value.values()))
        elif isinstance(value, slice):
            yield from leaves([value.start, value.stop, value.step])
        else:
            yield value

    def resolves(node):
        value = gm
        for part in node.target.split("."):  # step by step: a key may itself hold a dot
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return node.op == "get_attr" or isinstance(value, nn.Module)

    nodes = list(gm.graph.nodes)
    own = set(nodes)  # an erased node still says that this is its graph
    found, defined = set(), set()
    for node in nodes:
        for value in leaves([node.args, node.kwargs]):
            if isinstance(value, torch.Tensor):
                found.add("raw-tensor")
            elif isinstance(value, fx.Node) and value not in own:
                found.add("foreign-node")
            elif isinstance(value, fx.Node) and value not in defined:
                found.add("undefined-use")
        if not own.issuperset(node.users):
            found.add("foreign-node")
        if node.op in ("call_module", "get_attr") and not resolves(node):
            found.add("missing-target")
        defined.add(node)

    outputs = [node for node in nodes if node.op == "output"]
    if len(outputs) != 1 or outputs[0] is not nodes[-1]:
        found.add("output")
    if gm.code != gm.graph.python_code("self").src:
        found.add("stale-code")
    for module in gm.modules():
        if any("." in key for key in (*module._modules, *module._parameters, *module._buffers)):
            found.add("dotted-name")
    return sorted(found)
    ### END SOLUTION


# %% check="wellformed"
check(wellformed)

# %% hint="wellformed"
hint("wellformed")

# %% [markdown]
# ## 2b.4 Her module
#
# This is what the colleague did. (Run these cells again when your check has passed.)

# %% uses="wellformed"
torch.manual_seed(0)
network = make_alive(googlenet(weights=None, init_weights=False))
hers = fx.symbolic_trace(network)
setattr(hers, "conv1.bn", nn.Identity())
hers.recompile()

image = images(1)
with torch.no_grad():
    print("nothing has changed:", torch.equal(hers(image), network(image)))
print("lint:      ", repr(lint_says(hers)))
print("wellformed:", wellformed(hers))

# %% proof=true
with torch.no_grad():
    assert torch.equal(hers(image), network(image))
assert lint_says(hers) == "" and wellformed(hers) == ["dotted-name"]
assert wellformed(fx.symbolic_trace(network)) == []

# %% [markdown]
# `dotted-name` tells you what to fix.
# Put the module where the path leads: `add_submodule` follows the dots.

# %% uses="wellformed"
del hers._modules["conv1.bn"]
hers.add_submodule("conv1.bn", nn.Identity())
print("wellformed:", wellformed(hers))

by_hand = copy.deepcopy(network)  # the same change in a copy of the model
by_hand.conv1.bn = nn.Identity()
assert_same_results(hers, by_hand, image)
with fails(AssertionError):
    assert_same_results(hers, network, image)

# %% proof=true
assert wellformed(hers) == []
assert isinstance(network.conv1.bn, nn.BatchNorm2d)  # the other team's model is unchanged

# %% [markdown]
# ## Common mistakes
#
# ### Trusting `lint`
#
# No complaint means only that ownership, order, names and targets are in order. A stale module passes (section 2.6).
# **Right:** `wellformed`. If your answer is a graph module, the checks of this course look for the same faults.
#
# ### Recompiling to see whether the code is stale
#
# The comparison works once. Afterwards the evidence is gone, and the caller's module has changed.

# %%
gm = fx.symbolic_trace(lambda x: torch.relu(x))
list(gm.graph.nodes)[1].target = torch.neg
before = gm.code
gm.recompile()
print("it was stale:", gm.code != before)
print("it is stale: ", gm.code != gm.graph.python_code("self").src)

# %% proof=true
assert gm.code != before  # it was stale
assert gm.code == gm.graph.python_code("self").src  # nothing shows that any more

# %% [markdown]
# **Right:** compare `gm.code` with `gm.graph.python_code("self").src`.
#
# ### A path looked up among the names
#
# `named_modules()` lists a module with two paths under the first of them only (section 2b.2).
# **Right:** `get_submodule`, which follows the path step by step.

# %% [markdown]
# ## Recap
#
# 1. `lint` checks ownership, order, names and targets of what nodes *read*, and stops at the first fault.
# 2. It does not see stale code, outputs that are missing, doubled or not last, raw tensors, foreign users, and dotted keys.
# 3. A node belongs to a graph if it is among `graph.nodes`. An erased node still names the graph as its own.
# 4. A checker changes nothing, so it does not recompile.
#
# ## Cheat sheet
#
# | you want | you write |
# |---|---|
# | a first test | `gm.graph.lint()` |
# | to see whether code and graph agree | `gm.code == gm.graph.python_code("self").src` |
# | the nodes that belong to the graph | `set(gm.graph.nodes)` |
# | every module, each once | `gm.modules()` |
# | every path | `gm.named_modules(remove_duplicate=False)` |
# | a new module at a path | `gm.add_submodule("layers.0", module)` |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | replacing, inserting and erasing nodes | chapter 3 |
# | running a graph node by node | chapter 6 |
# | a pass that is wrong although its graph is sound | chapter 9 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), and there the docstring of `Graph.lint`.
