# %% [markdown]
# # 7 · Features from inside a model
#
# **After this chapter you can take any value out of a model that is not yours, and leave out what comes after it.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, the six kinds of node, editing a graph |
# | **Time** | about 120 minutes with *Common mistakes*, 40 of them for the exercises; the minutes of a section include its exercises. The deep dive `07b_cutting` has a notebook of its own, and chapter 13 refers to it |
#
# **When you are done, you can**
#
# 1. take features out of a model with hooks, and say what that costs;
# 2. make a feature extractor with torchvision, and say which part of the model is left in it;
# 3. name a value in three ways: as FX, as torchvision, and as `nn.Module` names it;
# 4. say why a model has one graph for training and another one for evaluation;
# 5. say how a Tracer knows in whose `forward` a node is made;
# 6. write an extractor of your own, and say what an in-place operation does to a feature.

# %% [markdown]
# ## A story
#
# A team wants to find objects in images.
# Its detector needs two feature maps of a ResNet: what `layer3` gives, and what `layer4` gives. Papers call them C4 and C5.
# The ResNet comes from a library. Its `forward` returns scores for a thousand classes, and nothing else.
#
# A member of the team copies the class into the project and adds two variables to its `forward`.
# A month later the team tries GoogLeNet, another team's model, and copies that class, too.
#
# There is no need to copy anything. The trace of a model has a node for every value outside its leaves.
# To return a value, write it into the output node. At the end of section 7.4 the detector gets its features from both networks.

# %%
import copy
import operator
import timeit
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import fx, nn
from torchvision.models import googlenet, resnet18, resnet50
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names
from torchvision.ops import FeaturePyramidNetwork

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(7)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the graph.** `self.act` is one `nn.ReLU`, and a `forward` calls it twice. What does the trace have?
#
# <details><summary>One node, which runs twice</summary>
#
# No. A node is one step, and it runs once. Two calls are two steps.
# </details>
# <details><summary>Two nodes with the same target and two names</summary>
#
# Right. The target is the path of the module, and names are unique (section 2.2). So the path alone does not say which value you mean.
# </details>
# <details><summary>Two nodes with two targets, <code>act</code> and <code>act_1</code></summary>
#
# No. These are their names. There is no module <code>act_1</code>.
# </details>


# %% proof=true
class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.act(x) - 1)


first, _, second = list(fx.symbolic_trace(Twice()).graph.nodes)[1:-1]
assert (first.target, second.target) == ("act", "act")
assert (first.name, second.name) == ("act", "act_1")

# %% [markdown]
# **Predict the graph.** A trace computes `relu`, `neg` and `exp`, one from the other, and returns `exp`. You write `output.args = (relu,)`.
# Then you go through `list(gm.graph.nodes)` once, from the beginning, and erase each call that nobody reads. Which calls are left?
#
# <details><summary><code>relu</code></summary>
#
# No. When you come to <code>neg</code>, it is still read by <code>exp</code>.
# </details>
# <details><summary><code>relu</code> and <code>neg</code></summary>
#
# Right. Only <code>exp</code> has no reader when you come to it. Go from the end to the beginning, and both are erased (section 3.5). So a graph is cut down to one feature.
# </details>
# <details><summary>All three, until <code>recompile()</code></summary>
#
# No. A node is erased at once. <code>recompile()</code> makes the code from what is left.
# </details>

# %% proof=true
for walk, left in ((list, ["relu", "neg"]), (reversed, ["relu"])):
    gm = fx.symbolic_trace(lambda x: torch.exp(torch.neg(torch.relu(x))))
    _, relu, _, _, output = gm.graph.nodes
    output.args = (relu,)
    for node in walk(gm.graph.nodes):
        if node.op == "call_function" and not node.users:
            gm.graph.erase_node(node)
    assert [n.name for n in gm.graph.nodes if n.op == "call_function"] == left

# %% [markdown]
# ## 7.1 Hooks, and what they cost
#
# There is a way without any graph. `module.register_forward_hook(f)` makes PyTorch call `f(module, args, result)`
# after each call of the module. What `f` stores is a feature:

# %%
net = make_alive(resnet18(num_classes=10))  # random weights
image = images(1)


def with_hooks(model: nn.Module, names: list[str], *args: Any) -> dict[str, torch.Tensor]:
    """What the modules of these names return while the model runs."""
    found = {}

    def keep(name: str) -> Callable:
        def hook(module, args, result):
            found[name] = result

        return hook

    handles = [model.get_submodule(n).register_forward_hook(keep(n)) for n in names]
    try:
        with torch.no_grad():
            model(*args)
    finally:
        for handle in handles:
            handle.remove()  # or the model keeps the hooks
    return found


features = with_hooks(net, ["layer3", "layer4"], image)
print({name: tuple(value.shape) for name, value in features.items()})

# %% proof=true
assert features["layer4"].shape == (1, 512, 2, 2)

# %% [markdown]
# Hooks work on every model, even on one that cannot be traced. But look at what they are:
#
# * They see what modules **read** and **return**. Any other value is out of reach.
# * The **whole model** runs, with everything after the last feature (unless a hook raises an exception).
# * They are **state on the model**. If you forget `remove()`, they stay there for everyone who uses the model.
# * A module that is called several times calls its hook several times.
#
# The sum inside a ResNet block, for example, is not returned by any module. But the module `relu` reads it,
# and so a *pre-hook* on that module sees it:

# %%
inputs = []
handle = net.layer1[0].relu.register_forward_pre_hook(
    lambda m, args: inputs.append(args[0].clone())
)
with torch.no_grad():
    net(image)
handle.remove()
[tuple(value.shape) for value in inputs]  # `relu` is called twice, and then it reads the sum


# %% proof=true
class Enough(Exception):
    """Raised by a hook that has what it wanted."""


def stop(module, args, result):
    raise Enough


handle = net.layer1.register_forward_hook(stop)
with fails(Enough):
    net(image)
handle.remove()
assert len(inputs) == 2

# %% [markdown]
# **Predict the result.** In a ResNet block, the module `relu` is called twice. What does a hook on it see in `layer1.0`?
#
# ```python
# with_hooks(net, ["layer1.0.relu"], image)
# ```
#
# <details><summary>The result of the first call.</summary>
#
# The hook is called for it, and stores it. Then it is called again.
# </details>
# <details><summary>The result of the second call.</summary>
#
# Right. The second result replaces the first one in the dictionary. It is what the whole block returns.
# </details>
# <details><summary>A list of both.</summary>
#
# No. A hook gets one result at a time. To keep all of them, write a hook that appends to a list.
# </details>


# %% proof=true
def seen_in(name: str) -> Callable:
    """A function that runs the network and returns the result that a hook sees."""
    return lambda x: with_hooks(net, [name], x)[name]


assert_same_results(seen_in("layer1.0.relu"), seen_in("layer1.0"), image)
assert torch.equal(seen_in("layer1.0.relu")(image), seen_in("layer1.0")(image))

# %% [markdown]
# A small model, for a drill:

# %%
nested = nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), nn.Linear(4, 2))
with_hooks(nested, ["1"], torch.ones(1, 3))

# %% [markdown]
# **Drill 07.1a.** Now the call is `with_hooks(nested, ["1", "0", "0.1", "0.0"], torch.ones(1, 3))`.
# Write the list of the keys in its result, in their order.

# %% drill=true
keys = list(with_hooks(nested, ["1", "0", "0.1", "0.0"], torch.ones(1, 3)))
drill("07.1a", keys)
# Mistake: A forward hook is called when a module returns, not when its call begins.
# keys = ["0", "0.0", "0.1", "1"]

# %% [markdown]
# ## 7.2 torchvision's extractor
#
# `create_feature_extractor(model, return_nodes)` traces the model and makes a graph module of the part you want.
# `return_nodes` maps names inside the model to keys of your choice. (The keys are in graph order,
# not in that of `return_nodes`.)

# %%
extractor = create_feature_extractor(net, {"maxpool": "stem", "layer1": "C2", "layer2": "C3"})
with torch.no_grad():
    features = extractor(image)
for key, value in features.items():
    print(f"{key:5} {tuple(value.shape)}")

# %% proof=true
assert isinstance(extractor, fx.GraphModule)


def same_by_hooks(x: torch.Tensor) -> dict[str, torch.Tensor]:
    """The same three values, from hooks."""
    found = with_hooks(net, ["maxpool", "layer1", "layer2"], x)
    return {"stem": found["maxpool"], "C2": found["layer1"], "C3": found["layer2"]}


assert_same_results(extractor, same_by_hooks, image)

turned = create_feature_extractor(net, return_nodes={"layer2": "second", "layer1": "first"})
assert list(turned(image)) == ["first", "second"]

with torch.no_grad():  # a sum, for which a hook had to wait for its reader
    one_sum = create_feature_extractor(net, ["layer1.0.add"])(image)["layer1.0.add"]
assert torch.equal(one_sum, inputs[1])

# %% [markdown]
# Here is what these features look like: the channel of each with the largest contrast.
# The weights are random, so the maps show edges and blobs, and no objects.

# %%
rows = torch.linspace(-1, 1, 64)
y, x = torch.meshgrid(rows, rows, indexing="ij")
disc = (x**2 + y**2 < 0.4).float()
stripes = (torch.sin(12 * x) > 0).float() * (y < 0)
picture = torch.stack([disc, stripes, (x + 1) / 2])
with torch.no_grad():
    features = extractor(picture[None])

figure, axes = plt.subplots(1, 4, figsize=(8, 2))
axes[0].imshow(picture.permute(1, 2, 0))
for axis, (key, value) in zip(axes[1:], features.items(), strict=True):
    channel = int(value[0].std(dim=(1, 2)).argmax())
    panel = value[0, channel]
    axis.imshow(panel)
    axis.set_title(f"{key}, channel {channel}", fontsize=9)
    print(f"{key}, channel {channel}: from {panel.min():.2f} to {panel.max():.2f}")
figure.tight_layout()
plt.show()

# %% [markdown]
# ### What is in it, and what is not
#
# How does the extractor get there? You know all the steps: trace, replace the output, delete dead code.
# On a small model you can see the whole graph.


# %%
class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(4, 10)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        return self.head(self.pool(x).flatten(1))


scorer = Scorer().eval()
small = create_feature_extractor(scorer, {"conv": "before", "relu": "after"})
draw.diff(fx.symbolic_trace(scorer), small)

# %%
print("modules:", *[name for name, _ in small.named_children()])  # no pool, no head
print("shared, not copied:", small.conv is scorer.conv)
left = sum(p.numel() for p in extractor.parameters())
total = sum(p.numel() for p in net.parameters())
print(f"ResNet-18 up to layer2: {left:,} of {total:,} parameters")

# %% proof=true
assert [name for name, _ in small.named_children()] == ["conv"]
assert small.conv is scorer.conv
assert left < total / 10

# %% [markdown]
# Here is a model with two branches:


# %%
class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Linear(3, 4), nn.Linear(4, 2)
        self.left, self.right = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        x = self.stem(x)
        a = self.left(x)
        b = torch.tanh(self.right(x))
        return self.head(a + b)


branches = Branches().eval()

# %% [markdown]
# **Drill 07.2a.** Which of its modules are in `create_feature_extractor(branches, ["tanh"])`? Write the set of their names.

# %% drill=true
parts = {name for name, _ in create_feature_extractor(branches, ["tanh"]).named_children()}
drill("07.2a", parts)
# Mistake: What runs before a value is not always needed for it.
# parts = {"stem", "left", "right"}

# %% [markdown]
# So an extractor runs **less** than the model. Here is how much time that saves, compared with hooks that let the model run to its end:


# %%
def seconds(run: Callable[[], Any]) -> float:
    """The fastest of some runs."""
    return min(timeit.repeat(run, number=1, repeat=7))


with torch.no_grad():
    by_graph = seconds(lambda: extractor(image))
    by_hooks = seconds(lambda: with_hooks(net, ["maxpool", "layer1", "layer2"], image))
print(f"extractor {by_graph * 1e3:.1f} ms, hooks {by_hooks * 1e3:.1f} ms")

# %% [markdown]
# Look again at `small.conv is scorer.conv`: an extractor **shares** its layers with the model.
# Train one, and the other one has the new weights, too. Switch one to training mode, and look what happens to the other:

# %%
small.train()
switched = {"conv": scorer.conv.training, "the model": scorer.training}
small.eval()
switched  # a part of the model was in training mode

# %% proof=true
assert switched == {"conv": True, "the model": False} and not scorer.conv.training

# %% [markdown]
# **Predict the result.** `layer1` is not a node: it is a Sequential, and tracing goes through it. Which value was `C2`?
#
# <details><summary>What goes into <code>layer1</code>.</summary>
#
# No. A name of a module means something that was computed inside it.
# </details>
# <details><summary>The value of the last node that was made inside <code>layer1</code>.</summary>
#
# Right. A name means the last node whose path is this name or begins with it, part by part: <code>layer1</code> means <code>layer1.1.relu_1</code> and never <code>layer10.0</code>. In most modules this is what the module returns.
# </details>
# <details><summary>A list of all values inside <code>layer1</code>.</summary>
#
# No. Each name gives one value.
# </details>
#
# An unknown name is an error. But names are checked as regular expressions, so `layer.` passes here and gives no value.
#
# "In most modules" is not "in all". The last node is not always the one that is returned:


# %%
class Careful(nn.Module):
    def forward(self, x):
        result = torch.exp(x)
        torch._assert(result.shape[0] > 0, "an empty batch")
        return result


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.careful = Careful()

    def forward(self, x):
        return self.careful(x) + 1


outer = Outer().eval()
create_feature_extractor(outer, ["careful", "careful.exp"])(torch.zeros(2))


# %% proof=true
class TwoNames(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.ab = nn.Sequential(nn.ReLU()), nn.Sequential(nn.Sigmoid())

    def forward(self, x):
        return self.ab(self.a(x))


values = create_feature_extractor(outer, ["careful", "careful.exp"])(torch.zeros(2))
assert create_feature_extractor(net, ["layer."])(image) == {}
assert values["careful"] is None and torch.equal(values["careful.exp"], torch.ones(2))
# `ab` begins with the letter, not with the path.
assert torch.equal(
    create_feature_extractor(TwoNames().eval(), ["a"])(torch.ones(2))["a"], torch.ones(2)
)

# %% [markdown] card="backbone_c4_c5"
# **Given** a ResNet of torchvision: `resnet18`, `resnet50`, a ResNeXt, or one with any number of blocks.
# All of it is in training mode, or all of it is in eval mode.
#
# **Return** a module that gives the dictionary `{"C4": ..., "C5": ...}` when it is called with images:
# the outputs of `layer3` and `layer4`. Use `create_feature_extractor`. You may wrap its result in a module of your own that chooses and renames.
# The result shares the model's layers. A copy is accepted, too.
#
# **Do not** change the model: not its layers, not its weights, not its mode.


# %%
class Stages(nn.Module):
    """The way through a ResNet, each stage in one line."""

    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Conv2d(3, 4, 1), nn.Linear(4, 10)
        for i in range(1, 5):
            setattr(self, f"layer{i}", nn.Conv2d(4, 4, 1))

    def forward(self, x):
        x = self.layer2(self.layer1(self.stem(x)))
        x = self.layer4(self.layer3(x))
        return self.head(x.mean(dim=(2, 3)))


class Wanted(Stages):
    def forward(self, x):
        c4 = self.layer3(self.layer2(self.layer1(self.stem(x))))
        return {"C4": c4, "C5": self.layer4(c4)}


draw.diff(fx.symbolic_trace(Stages()), fx.symbolic_trace(Wanted()))


# %% solve="backbone_c4_c5"
def backbone_c4_c5(model: nn.Module) -> nn.Module:
    """Make a module that returns the outputs of `layer3` and `layer4` of a ResNet.

    Args:
        model: a ResNet of torchvision, all in one mode.

    Returns:
        A module that returns `{"C4": ..., "C5": ...}`.
    """
    ### BEGIN SOLUTION
    # The name of a stage means its last node, however many blocks it has.
    return create_feature_extractor(model, {"layer3": "C4", "layer4": "C5"})
    ### END SOLUTION


# %% check="backbone_c4_c5"
check(backbone_c4_c5)

# %% hint="backbone_c4_c5"
hint("backbone_c4_c5")

# %% [markdown]
# ## 7.3 Names and modes
#
# How do you find out which names there are? `get_graph_node_names(model)` lists them, in the order in which they run.
# It gives two lists: one for training mode, and one for eval mode.

# %%
deep = resnet50(num_classes=10).eval()
train_names, eval_names = get_graph_node_names(deep)
print(f"{len(eval_names)} names, the last of them:", *eval_names[-14:], sep="\n  ")

# %% proof=true
assert train_names == eval_names  # no difference for a ResNet

# %% [markdown]
# Older tutorials take C4 and C5 of a ResNet-50 by the names of single nodes. That works, for this one network.
# `net` is a ResNet-18:

# %%
with fails(ValueError):
    create_feature_extractor(net, {"layer3.5.relu_2": "C4", "layer4.2.relu_2": "C5"})
net = net.eval()  # after this error, torchvision 0.29 leaves a model in training mode

# %% proof=true
by_node = create_feature_extractor(deep, {"layer3.5.relu_2": "C4", "layer4.2.relu_2": "C5"})
assert by_node(image)["C5"].shape == (1, 2048, 2, 2)
left_behind = copy.deepcopy(net)
with fails(ValueError):
    create_feature_extractor(left_behind, ["layer4.2.relu_2"])
assert left_behind.training

# %% [markdown]
# ### Three names for one value
#
# The same value has a name in FX, one in torchvision, and often one as a module. They are not the same:
#
# | | FX: `node.name` | torchvision | `nn.Module` |
# |---|---|---|---|
# | written as | `layer1_0_relu_1` | `layer1.0.relu_1` | `layer1.0.relu` |
# | names | one node | one node, or the last one inside a module | one module, however often it is called |
# | a function in a block | `add`, `add_1`, … through the whole graph | `layer1.0.add`, `layer1.1.add` | none |
# | the number at the end | FX counts in the whole graph | torchvision counts within the module | none |

# %%
names = {}
paths = get_graph_node_names(net)[1]
for node, path in zip(fx.symbolic_trace(net).graph.nodes, paths, strict=False):
    names[path] = (node.name, node.target if node.op == "call_module" else "")
for path in ("layer1.0.relu", "layer1.0.add", "layer1.0.relu_1", "layer1.1.relu", "layer1.1.add"):
    print(f"{path:16} {names[path][0]:16} {names[path][1]}")

# %% proof=true
assert names["layer1.1.add"] == ("add_1", "")
assert names["layer1.0.relu_1"] == ("layer1_0_relu_1", "layer1.0.relu")

# %% [markdown]
# Not every node has a name in torchvision's lists. Buffers and constants have none:


# %%
class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        return x + self.shift


print(get_graph_node_names(Shifted())[1])
print([node.name for node in fx.symbolic_trace(Shifted()).graph.nodes])

# %% proof=true
assert "shift" not in get_graph_node_names(Shifted())[1]

# %% [markdown]
# **Drill 07.3a.** `layer2.0.downsample`, `layer3` and `layer4.0` are modules of `net`. Which node does torchvision take for each of them?
# Write the list of the three nodes, with torchvision's names.

# %% drill=true
order, modules = get_graph_node_names(net)[1], ("layer2.0.downsample", "layer3", "layer4.0")
meant = [[name for name in order if name.startswith(f"{m}.")][-1] for m in modules]
drill("07.3a", meant)
# Mistake: Layers need not run in the order in which they are defined.
# meant = ["layer2.0.downsample.1", "layer3.1.bn2", "layer4.0.downsample.1"]

# %% [markdown]
# ### How a name gets its dots
#
# How does torchvision know that a node was made in `layer1.0`? Neither the name `add_1` nor the target says so.
# The *Tracer* knows it, while it traces. Two of its methods are useful here:
#
# * `call_module(m, forward, args, kwargs)` is called for **every call of a module**, leaf or not.
#   If `m` is a leaf, it makes a node. If not, it calls `forward(*args, **kwargs)`, and that runs the code of the module.
# * `create_node(kind, target, args, kwargs, ...)` makes **every node**, the output too.
#
# To use them, write a subclass of `fx.Tracer` and override them: do your own work, and call `super()`.


# %%
class LogTracer(fx.Tracer):
    """Prints and keeps what happens during a trace, in order."""

    def __init__(self):
        super().__init__()
        self.log = []

    def note(self, text):
        self.log.append(text)
        print(text)

    def call_module(self, m, forward, args, kwargs):
        path = self.path_of_module(m)
        self.note(f"{path} begins")
        result = super().call_module(m, forward, args, kwargs)
        self.note(f"{path} ends")
        return result

    def create_node(self, *args, **kwargs):
        node = super().create_node(*args, **kwargs)
        self.note(f"    node {node.name}")
        return node


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        return torch.sigmoid(self.lin(x)) * x


class Gates(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Gate(), Gate()

    def forward(self, x):
        return self.second(self.first(x))


tracer = LogTracer()
graph = tracer.trace(Gates())

# %% proof=true
log = tracer.log
inside = log[log.index("second begins") : log.index("second ends")]
assert "    node sigmoid_1" in inside and "    node sigmoid" not in inside
assert sum("node" in line for line in log) == len(graph.nodes)  # every node, the output too
assert "first.lin begins" in log  # a leaf: its call is seen, and its `forward` does not run

# %% [markdown]
# Read the log as a tree: what is between the beginning and the end of `second` was made while its `forward` was running.
# (The deep dive `07b_cutting` notes this place for each node, and cuts a model in two.)
#
# **Predict the name.** FX calls the second sigmoid `sigmoid_1`. What is its name in torchvision?
#
# <details><summary><code>sigmoid_1</code></summary>
#
# No. That is its name in FX, which counts in the whole graph and does not say in which module the node was made.
# </details>
# <details><summary><code>second.sigmoid</code></summary>
#
# Right. It was made while the <code>forward</code> of <code>second</code> was running, and there it is the first one.
# </details>
# <details><summary><code>second.sigmoid_1</code></summary>
#
# No. There is only one sigmoid in <code>second</code>, and torchvision counts within the module.
# </details>

# %% proof=true
paths = get_graph_node_names(Gates())[1]
assert "second.sigmoid" in paths and "second.sigmoid_1" not in paths

# %% [markdown]
# ### Other leaves
#
# `tracer_kwargs` says which modules stay leaves, so that their inside has no names:

# %%
opened = get_graph_node_names(outer)[1]
closed = get_graph_node_names(outer, tracer_kwargs={"leaf_modules": [Careful]})[1]
print(opened, closed)

# %% proof=true
assert "careful.exp" in opened and "careful.exp" not in closed and "careful" in closed

# %% [markdown]
# ### Two modes, two graphs
#
# A trace takes one way through the code (chapter 1). If `forward` asks for `self.training`, training and evaluation go different ways.
# torchvision traces the model **twice**, once in each mode. What it returns holds both graphs.


# %%
class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        x = self.lin(x)
        if self.training:
            x = x + 0.1 * torch.randn_like(x)
        return torch.relu(x)


noisy = Noisy()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    train_names, eval_names = get_graph_node_names(noisy)
print(train_names, eval_names, sep="\n")
print(caught[0].message)

# %% proof=true
assert "add" in train_names and "add" not in eval_names

# %% [markdown]
# **Predict the result.** The node `add` exists in training mode only. What does `create_feature_extractor(noisy, ["add"])` do?
#
# <details><summary>It returns an extractor that gives <code>add</code> in training mode, and nothing in eval mode.</summary>
#
# No. One short list of names is for both modes.
# </details>
# <details><summary>It raises an error.</summary>
#
# Right. A name must exist in both graphs, even if you only mean to train. Give a list of names for each mode instead.
# </details>
# <details><summary>It returns an extractor whose call raises an error in eval mode.</summary>
#
# No. Both traces are made at once, so the missing name is noticed now.
# </details>

# %%
with fails(ValueError):
    create_feature_extractor(noisy, ["add"], suppress_diff_warning=True)

dual = create_feature_extractor(
    noisy,
    train_return_nodes={"add": "noisy", "relu": "out"},
    eval_return_nodes={"lin": "noisy", "relu": "out"},
    suppress_diff_warning=True,
)
dual.train()
print([node.name for node in dual.graph.nodes])
dual.eval()
print([node.name for node in dual.graph.nodes])

# %% proof=true
assert dual.graph is dual.eval_graph

# %% [markdown]
# `dual.train()` and `dual.eval()` exchange the graph. A `GraphModule` from `symbolic_trace` cannot do this: its one graph was made in one mode.

# %%
x = torch.randn(2, 3)
dual.train()
one_graph = fx.symbolic_trace(noisy.eval()).train()
print("two graphs, noise:", not torch.equal(dual(x)["noisy"], dual(x)["noisy"]))
print("one graph, noise: ", not torch.equal(one_graph(x), one_graph(x)))

# %% proof=true
assert not torch.equal(dual(x)["noisy"], dual(x)["noisy"])
assert torch.equal(one_graph(x), one_graph(x))

# %% [markdown]
# ## 7.4 An extractor of your own
#
# You have seen what torchvision's extractor does. Now you write one, and yours will be right where torchvision's is not.
#
# The short version fits in a few lines: give the output node another argument, delete what is dead, recompile.


# %%
def up_to(model: nn.Module, name: str) -> fx.GraphModule:
    """A module that returns the value of one node, given by its FX name."""
    gm = fx.symbolic_trace(model)
    node = next(n for n in gm.graph.nodes if n.name == name)
    output = next(reversed(gm.graph.nodes))
    output.args = (node,)  # it read something else before
    gm.graph.eliminate_dead_code()
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


after_relu = up_to(scorer, "relu")
draw.diff(fx.symbolic_trace(scorer), after_relu)

# %% proof=true
pixels = torch.randn(1, 3, 8, 8)
torch.testing.assert_close(after_relu(pixels), torch.relu(scorer.conv(pixels)))
assert [name for name, _ in after_relu.named_children()] == ["conv"]

# %% [markdown]
# Placeholders stay, read or not: they are the signature of `forward`.
#
# The argument of an output node may be a dictionary whose values are nodes. So several values are as easy as one:

# %%
gm = fx.symbolic_trace(scorer)
by_name = {n.name: n for n in gm.graph.nodes}
output = next(reversed(gm.graph.nodes))
output.args = ({"after": by_name["relu"], "before": by_name["conv"]},)
gm.recompile()
print(gm.code)

# %% proof=true
assert list(gm(torch.randn(1, 3, 8, 8))) == ["after", "before"]

# %% [markdown]
# For a name with dots you need the calls of modules. A module can be called several times.
# A dictionary keeps the last value that it is given for a key:

# %%
gm = fx.symbolic_trace(net)
calls = {n.target: n for n in gm.graph.nodes if n.op == "call_module"}
print(calls["layer1.0.relu"], calls["layer1.0.bn1"])

# %% proof=true
assert calls["layer1.0.relu"].name == "layer1_0_relu_1"  # the second of two calls

# %% [markdown]
# The values of `up_to` agree with torchvision's, and so do the parameters that are left.

# %% proof=true
second_relu = "layer2.1.relu"  # for torchvision, the second call is `layer2.1.relu_1`
by_hand = up_to(net, calls[second_relu].name)
by_library = create_feature_extractor(net, {"layer2.1.relu_1": second_relu})
assert_same_results(lambda x: {second_relu: by_hand(x)}, by_library, image)
lefts = [sum(p.numel() for p in model.parameters()) for model in (by_hand, by_library, net)]
assert lefts[0] == lefts[1] < lefts[2]

# %% [markdown]
# ### A feature that is overwritten
#
# Nothing overwrites the values above. Now ask for the value *before* a ReLU.
# In a ResNet, `relu` is `nn.ReLU(inplace=True)`: it writes its result into the memory of its input.
# A BatchNorm gives negative values, too:


# %%
def negatives(value: torch.Tensor) -> int:
    """How many entries are below zero."""
    return int((value < 0).sum())


with torch.no_grad():
    alone = create_feature_extractor(net, {"layer1.0.bn1": "norm"})(image)
print(negatives(alone["norm"]), "of", alone["norm"].numel(), "values are below zero")

# %% [markdown]
# **Predict the result.** How many are below zero under the key `"norm"`, if you ask for `layer1`, too?
#
# ```python
# create_feature_extractor(net, {"layer1.0.bn1": "norm", "layer1": "C2"})(image)
# ```
#
# <details><summary>About half of the values: <code>bn1</code> comes before the ReLU.</summary>
#
# That was so when <code>bn1</code> returned. The dictionary holds the tensor, not a copy of it, and then the ReLU wrote into this tensor.
# </details>
# <details><summary>None.</summary>
#
# Right. You asked for the value before the ReLU, and you get the value after it.
# </details>
# <details><summary>An error: one tensor cannot have two names.</summary>
#
# No. Two tensors often share their memory, and PyTorch says nothing.
# </details>


# %% proof=true
with torch.no_grad():
    both = create_feature_extractor(net, {"layer1.0.bn1": "norm", "layer1": "C2"})(image)
    hooked = with_hooks(net, ["layer1.0.bn1"], image)["layer1.0.bn1"]
assert negatives(both["norm"]) == negatives(hooked) == 0 < negatives(alone["norm"])

# %% [markdown]
# What you get depends on what *else* you ask for. Alone, the value is right: nothing after `bn1` was needed, so the ReLU was deleted.
# Hooks have the same fault, for the same reason.
#
# Copy the value at the right place: a node `clone` **directly after** the node whose value is wanted.
# A `clone` at the end, before the output, copies what the ReLU has left.
#
# The other readers keep reading the original. (*Common mistakes* shows why.)
#
# Section 4.2 had the same trap as its rule 9: there a *pattern* did not see the write.
#
# ### A call without a reader
#
# Section 3b.2, in the deep dive `03b_effects`, shows the other half: dead code elimination deletes in-place calls, such as `x.relu_()`, if no other node reads their result.


# %%
class Unread(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 4)

    def forward(self, x):
        y = self.lin(x)
        y.relu_()  # no other node reads the result of this call
        return y * 2


unread = Unread()
x = torch.randn(5, 3)
with torch.no_grad():
    theirs = create_feature_extractor(unread, {"mul": "twice"})(x)["twice"]
    print("model:", negatives(unread(x)), "extractor:", negatives(theirs))
draw(fx.symbolic_trace(unread))

# %% proof=true
assert negatives(unread(x)) == 0 < negatives(theirs)

# %% [markdown]
# `relu_` is needed for the value of `mul`: it changes what `mul` reads, before `mul` reads it.
# It is *not* needed for the value of `lin`, which was there before.
#
# **Predict the graph.** Which calls are left if both `lin` and `mul` are wanted, each as it was when it was computed?
#
# <details><summary><code>lin</code> and <code>mul</code>.</summary>
#
# No. Then <code>mul</code> doubles values that no ReLU has seen.
# </details>
# <details><summary><code>lin</code>, <code>relu_</code>, <code>mul</code>.</summary>
#
# No. <code>mul</code> is right, but the value of <code>lin</code> is overwritten.
# </details>
# <details><summary><code>lin</code>, a <code>clone</code> of it, <code>relu_</code>, <code>mul</code>.</summary>
#
# Right. The dictionary holds the clone. <code>relu_</code> and <code>mul</code> go on with the original.
# </details>
#
# ### Whose storage is it?
#
# In `y.relu_()` you can see which tensor is overwritten. But several tensors may share one **storage**, the memory of their numbers.
# A **view** is a tensor that uses the storage of another one.


# %%
def same_storage(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors have the same storage."""
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


y = torch.randn(2, 4)
values = {
    "y[0]": y[0],
    "y.T": y.T,
    "y.reshape(4, 2)": y.reshape(4, 2),
    "y.T.reshape(-1)": y.T.reshape(-1),
    "y.contiguous()": y.contiguous(),
    "y.detach()": y.detach(),
    "y.relu_()": y.relu_(),
    "y.relu()": y.relu(),
    "y + 0": y + 0,
    "torch.cat([y])": torch.cat([y]),
    "nn.Flatten()(y)": nn.Flatten()(y),
    "nn.Dropout().eval()(y)": nn.Dropout().eval()(y),
}
for text, value in values.items():
    print(f"{text:24} {'the storage of y' if same_storage(value, y) else 'a storage of its own'}")

# %% proof=true
own = [text for text, value in values.items() if not same_storage(value, y)]
assert own == ["y.T.reshape(-1)", "y.relu()", "y + 0", "torch.cat([y])"]
views = [y.view(-1), y.transpose(0, 1), y.chunk(2, dim=1)[1], y.expand(3, 2, 4)]
views += [nn.Identity()(y), F.dropout(y, training=False)]
assert all(same_storage(view, y) for view in views) and not same_storage(y.clone(), y)

# %% [markdown]
# Note four of them:
#
# * A dropout in eval mode returns **its input itself**.
# * `detach` takes a tensor out of the autograd graph. It does not copy.
# * `reshape` and `contiguous` return a view where they can, and a copy where they must. Without the data you cannot know: expect a view.
# * In the graph, `y[0]` is a call of `operator.getitem`, and `y.T` is a call of `getattr`.
#
# How can a program know this? One run tells you, and only about that run: `reshape` may copy for one shape and not for another.
# For most operators of `torch.ops.aten`, PyTorch knows it (`_schema`), but a graph of `symbolic_trace` calls Python functions.
#
# So your extractor needs a **list of names**: the functions, methods and modules that you *know* to make a new storage. Expect a view from all others.
# A missing name costs a copy or an in-place call too many, and never a wrong value.

# %% proof=true
assert torch.ops.aten.view.default._schema.arguments[0].alias_info is not None
assert torch.ops.aten.relu_.default._schema.arguments[0].alias_info.is_write
assert torch.ops.aten.relu.default._schema.arguments[0].alias_info is None  # a new storage


# %%
def shared(x):
    y = x * 2
    flat = y.view(-1)
    picked = F.dropout(y.T, training=False)[0]
    return torch.relu(flat) + 1, torch.cat([flat, picked])


print(fx.symbolic_trace(shared).graph)

# %% [markdown]
# **Drill 07.4a.** Which nodes have a value with the storage of `mul`? Write the list of their names, in the order of the graph, `mul` first.

# %% drill=true
of_mul = ["mul", "view", "getattr_1", "dropout", "getitem"]
drill("07.4a", of_mul)
# Mistake: Some calls return their input itself in eval mode.
# of_mul = ["mul", "view", "getattr_1"]

# %% [markdown]
# Here is the other question, which node *writes*. Section 3b.2 has the answer:


# %%
def writes(gm: fx.GraphModule, node: fx.Node) -> bool:
    """Whether a node changes the storage of its first input."""
    if node.op == "call_module":
        return getattr(gm.get_submodule(node.target), "inplace", False)
    if node.op == "call_function":
        return node.kwargs.get("inplace", False) or node.target.__name__.endswith("_")
    return node.op == "call_method" and node.target.endswith("_")


gm = fx.symbolic_trace(net)
found = [n.name for n in gm.graph.nodes if writes(gm, n)]
print(found[:4], len(found))

# %% proof=true
assert all("relu" in name for name in found)

# %% [markdown]
# (The names have exceptions: `operator.and_` writes nothing, and `operator.setitem` writes. For an operator of `torch.ops.aten`, ask `target._schema.is_mutable`.)

# %% proof=true
assert operator.and_.__name__.endswith("_") and not operator.setitem.__name__.endswith("_")
assert torch.ops.aten.relu_.default._schema.is_mutable

# %% [markdown]
# ### Backwards through the graph
#
# Now put it together. Go through the nodes **from the end to the beginning**, and keep two sets: the nodes that are needed,
# and the storages that a needed node reads later. A node is needed if
#
# 1. it is wanted, or
# 2. a needed node reads its value, or
# 3. it writes into a storage that a needed node reads later.
#
# Name each storage after the node that made it. `lin` makes a new storage, so it is called `lin`.
# `relu_` writes into it and returns it, so the value of `relu_` has the storage `lin`, too.
# By hand, for `Unread` and the wanted value `mul`:
#
# | node, from the end | needed? | storages that are read later |
# |---|---|---|
# | `mul` | yes, it is wanted | `lin` |
# | `relu_` | yes, it writes into the storage `lin` | `lin` |
# | `lin` | yes, `mul` reads it | `lin`, `x` |
#
# With `lin` as the wanted value, the storage `lin` is not in the last column when you come to `relu_`. So `relu_` goes.
#
# Another function, with two calls that nobody reads:


# %%
def two_writes(x):
    y = x + 1
    row = y[0]
    y.mul_(10)
    z = torch.exp(x)
    z.neg_()
    return torch.tanh(row) + z


print(fx.symbolic_trace(two_writes).graph)

# %% [markdown]
# **Drill 07.4b.** Only `tanh` is wanted. Which calls are needed? Write the list of their names, in the order of the graph.

# %% drill=true
needed_calls = ["add", "getitem", "mul_", "tanh"]
drill("07.4b", needed_calls)
# Mistake: A call that nobody reads may still change a storage that is read later.
# needed_calls = ["add", "getitem", "tanh"]

# %% [markdown]
# Write the exercise in three steps. The check has a part for each, so you see the first ones pass before you write the last:
#
# 1. **Names and pruning.** Start from `up_to`: several names, the order of the keys, a `ValueError` for an unknown name.
# 2. **Storages.** A dictionary from each node to the storages that its value may have: its own if it makes a new one,
#    else those of its inputs. Print it for `unread`, and compare it with the table above.
# 3. **Backwards.** The walk of the table, and a `clone` where a wanted value is overwritten later.

# %% [markdown] card="extract"
# **Given** a model and `wanted`, a dictionary from names to keys. A name is that of a node, or the qualified name of a leaf module.
#
# **Return** a new `GraphModule` that returns a dictionary with these keys, in this order.
#
# * A module that is called several times means its last call.
# * A value that a later in-place call would overwrite, directly or through an alias, is returned as it was when computed.
# * Nothing remains that no wanted value needs: no node, no submodule. An in-place call is needed only if it changes what a wanted value still reads.
#
# **Fine print**
#
# * If a name is both a node's and a module's, it means the last call of the module.
# * In-place calls are methods and functions such as `relu_` and `add_`, calls with `inplace=True`, and modules whose `inplace` is true;
#   not Python's own `operator.and_` and `or_`.
# * Unless an operation is known to make a new storage, assume that its result shares that of its inputs.
#   These make a new one, and it is enough to know them: `+`, `-`, `*`, `/`, `@`, negation and comparisons; functions and methods
#   called `add`, `sub`, `mul`, `neg`, `exp`, `sin`, `cos`, `tanh`, `sigmoid`, `relu`, `where`, `maximum`, `matmul`, `sum`, `mean`, `cat`, `stack` and `clone`;
#   `nn.Linear`, and activations of `torch.nn` that are not in place.
# * The signature stays, and with it every placeholder.
# * Gradients flow through every returned value as they do in the model.
# * An unknown name: `ValueError`, with the name in its message.
# * All wanted values are tensors. The output node is never wanted. You may insert copies anywhere.
#   The only code of your own in the graph is a function or module that returns a copy of its one argument.
#
# **Do not** change the model.


# %%
class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.act = nn.ReLU(inplace=True)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        y = self.act(self.lin(x))
        return self.head(y.exp())


class After(Before):  # for {"act": "after", "lin": "before"}
    def forward(self, x):
        y = self.lin(x)
        before = y.clone()
        return {"after": self.act(y), "before": before}


draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="extract"
### BEGIN SOLUTION
# Unless an operation is known to make a new storage, its result may share that of its inputs.
MAKES_NEW = set(
    "add sub mul div truediv floordiv mod pow matmul mm bmm addmm neg exp log sqrt rsqrt abs sin cos tanh "
    "sum mean amax amin var std norm softmax log_softmax sigmoid relu relu6 gelu silu hardswish hardsigmoid "
    "leaky_relu elu linear conv1d conv2d conv3d batch_norm layer_norm group_norm max_pool2d avg_pool2d "
    "adaptive_avg_pool2d cat stack clone where maximum minimum eq ne lt le gt ge size dim numel".split()
)
MODULES_MAKE_NEW = ("activation", "batchnorm", "conv", "normalization", "pooling", "sparse")


def called(node: fx.Node) -> str:
    """The name of the function or method that a node calls."""
    return node.target if isinstance(node.target, str) else node.target.__name__


def writes(gm: fx.GraphModule, node: fx.Node) -> bool:
    """Whether a node changes the storage of its first input."""
    if node.op == "call_module":
        return getattr(gm.get_submodule(node.target), "inplace", False)
    if node.op not in ("call_function", "call_method"):
        return False
    if node.kwargs.get("inplace", False):
        return True
    # Python's `operator.and_` and `or_` end in `_`, too, and change nothing.
    by_name = called(node).endswith("_") and not called(node).endswith("__")
    return by_name and getattr(node.target, "__module__", "") != "_operator"


def passes_on(gm: fx.GraphModule, node: fx.Node) -> bool:
    """Whether a node's value may share the storage of its inputs."""
    if node.op == "call_module":
        module = gm.get_submodule(node.target)
        kind = type(module).__module__.rpartition(".")[2]
        return not isinstance(module, nn.Linear) and kind not in MODULES_MAKE_NEW
    return node.op in ("call_function", "call_method") and called(node) not in MAKES_NEW


### END SOLUTION


def extract(model: nn.Module, wanted: dict[str, str]) -> fx.GraphModule:
    """Return a module that computes the wanted values of `model`, and nothing else."""
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)
    nodes = [node for node in gm.graph.nodes if node.op != "output"]

    # 1. Which node does a name mean? A module's last call wins, also over a node of that name.
    meant = {node.name: node for node in nodes}
    meant |= {node.target: node for node in nodes if node.op == "call_module"}
    for name in wanted:
        if name not in meant:
            raise ValueError(f"the model has no node and calls no module named {name!r}")
    chosen = dict.fromkeys(meant[name] for name in wanted)

    # 2. Which storages may a value have? Each is named after the node that made it.
    storage: dict[fx.Node, set[fx.Node]] = {}
    for node in nodes:
        inputs = node.all_input_nodes
        shared = inputs[:1] if writes(gm, node) else inputs if passes_on(gm, node) else []
        storage[node] = set().union(*(storage[other] for other in shared)) or {node}

    # 3. What is needed? Backwards, with the storages that are read or changed later.
    needed, read, changed, overwritten = set(), set(), set(), set()
    for node in reversed(nodes):
        if node in chosen and storage[node] & changed:
            overwritten.add(node)
        matters = writes(gm, node) and storage[node] & read
        if node in chosen or matters or not needed.isdisjoint(node.users):
            needed.add(node)
            read.update(*(storage[other] for other in (node, *node.all_input_nodes)))
            if writes(gm, node):
                changed |= storage[node]

    # 4. Return what is wanted; copy what a later node changes, directly after it was computed.
    value = {node: node for node in chosen}
    for node in overwritten:
        with gm.graph.inserting_after(node):
            value[node] = gm.graph.call_method("clone", (node,))
    output = next(reversed(gm.graph.nodes))
    output.args = ({key: value[meant[name]] for name, key in wanted.items()},)
    for node in reversed(nodes):
        if node not in needed and node.op != "placeholder":
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="extract"
check(extract)

# %% hint="extract"
hint("extract")

# %% [markdown]
# Your extractor gives the BatchNorm's values before the ReLU, whatever else you ask for. And the unread in-place call is kept:

# %% uses="extract"
mine = extract(net, {"layer1.0.bn1": "norm", "layer1.0.relu": "block"})
twice = extract(unread, {"mul": "twice"})
with torch.no_grad():
    print("below zero, in a ResNet:", negatives(mine(image)["norm"]))
    print("after the call that nobody reads:", negatives(twice(x)["twice"]))

# %% proof=true
assert torch.equal(twice(x)["twice"], unread(x))
only_norm = create_feature_extractor(net, {"layer1.0.bn1": "norm"})
assert_same_results(lambda x: {"norm": mine(x)["norm"]}, only_norm, image)

# %% [markdown]
# ### The detector gets its features
#
# Back to the story. The team's detector puts a *feature pyramid* on three feature maps. For the ResNet, your `backbone_c4_c5` was
# enough. In GoogLeNet the maps are what three blocks return. Your `extract` does not know the names of blocks, as torchvision does:
# it takes the name of the block's last node, a call of `torch.cat`.


# %%
theirs = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10))
traced = fx.symbolic_trace(theirs)
wanted = {"cat_1": "C3", "cat_6": "C4", "cat_8": "C5", "inception3a.branch1.bn": "norm"}
pyramid = FeaturePyramidNetwork([480, 832, 1024], out_channels=32)

# %% uses="extract"
backbone = extract(theirs, wanted)
stages = {"inception3a.branch1.bn": "norm", "inception3b": "C3"}
with torch.no_grad():
    values = backbone(image)
    norm = values.pop("norm")
    maps = pyramid(values)
    both = create_feature_extractor(theirs, stages)(image)
print({key: tuple(value.shape) for key, value in maps.items()})
print(len(traced.graph.nodes), "nodes, and in the backbone", len(backbone.graph.nodes))
print("below zero: torchvision", negatives(both["norm"]), "yours", negatives(norm))

# %% proof=true
assert negatives(both["norm"]) == 0 < negatives(norm)
blocks = {"C3": "inception3b", "C4": "inception4e", "C5": "inception5b"}
branch = theirs.inception3a.branch1


def maps_by_hooks(x: torch.Tensor) -> dict[str, torch.Tensor]:
    """The four values, from hooks and from two layers."""
    found = with_hooks(theirs, ["maxpool2", *blocks.values()], x)
    values = {key: found[name] for key, name in blocks.items()}
    return values | {"norm": branch.bn(branch.conv(found["maxpool2"]))}


assert_same_results(backbone, maps_by_hooks, image)
assert not hasattr(backbone, "fc")

# %% [markdown]
# This is the place in GoogLeNet where your `clone` is. The ReLU after it writes in place:

# %% uses="extract"
draw(extract(theirs.inception3a.branch1, {"bn": "norm", "relu": "value"}))

# %% [markdown]
# Before another pass takes this backbone, remember section 4.7: it shares its layers with the model, and a new trace makes new names.

# %% [markdown]
# ## Common mistakes
#
# ### The node of one network, used for another
#
# `layer4.2.relu_2` is the last node of `layer4` in a ResNet-50. In another ResNet it may be missing, as in section 7.3.
# Worse is a name that exists everywhere, and means something else:

# %%
for title, model in (("ResNet-18", net), ("ResNet-50", deep)):
    with torch.no_grad():
        found = create_feature_extractor(model, ["layer3.0.relu_1", "layer3"])(image)
    print(title, {key: tuple(value.shape) for key, value in found.items()})

# %% proof=true
for model in (net, deep):
    shapes = create_feature_extractor(model, ["layer3.0.relu_1", "layer3"])(image).values()
    assert (len({value.shape for value in shapes}) == 1) == (model is net)

# %% [markdown]
# **Right:** name the stage, `layer3`, if you want what the stage returns.
#
# ### A module that is called twice
#
# You want what the last call of a block's `relu` gives, and ask for `layer1.0.relu`. But that is the name of a node, too: of the *first* call.

# %% proof=true
first_call = create_feature_extractor(net, {"layer1.0.relu": "layer1.0.relu"})
last_call = create_feature_extractor(net, {"layer1.0": "layer1.0.relu"})


def block_by_hook(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return with_hooks(net, ["layer1.0.relu"], x)


assert_same_results(last_call, block_by_hook, image)
with fails(AssertionError):
    assert_same_results(first_call, block_by_hook, image)
assert "layer1.0.relu" in get_graph_node_names(net)[1]

# %% [markdown]
# **Right:** look at `get_graph_node_names(model)` before you write a name down. `layer1.0.relu_1` is the second call.
#
# ### A number at the end of a module's name
#
# torchvision takes a number at the end of a name for FX's counter, cuts it off, and counts again (run with torchvision 0.29).
# If your module has such a name itself, you get the value of another one, without any error:


# %%
class Numbered(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc_1 = nn.Linear(3, 3)
        self.fc_2 = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc_2(self.fc_1(x))


numbered = Numbered().eval()
x = torch.randn(2, 3)
print(get_graph_node_names(numbered)[1])
value = create_feature_extractor(numbered, ["fc_1"])(x)["fc_1"]
print("the value of fc_2:", torch.allclose(value, numbered.fc_2(numbered.fc_1(x))))

# %% proof=true
torch.testing.assert_close(value, numbered.fc_2(numbered.fc_1(x)))

plain = nn.Sequential()
plain.add_module("fc1", nn.Linear(3, 3))
plain.add_module("fc2", nn.Linear(3, 3))
by_name = create_feature_extractor(plain, ["fc1"])(x)["fc1"]
torch.testing.assert_close(by_name, plain.fc1(x))
assert get_graph_node_names(plain)[1] == ["input", "fc1", "fc2"]

# %% [markdown]
# **Right:** look at `get_graph_node_names(model)`, and compare the feature with a hook once. A name such as `fc1`, without `_`, is safe.
#
# ### Modes that change by themselves
#
# With torchvision 0.29, `copy.deepcopy` of an extractor is in **training mode**, whatever the extractor was in.
# And making an extractor gives **all** parts of the model the mode of its root. A BatchNorm that was frozen, in eval mode, no longer is:

# %%
twin = copy.deepcopy(extractor)
tuned = resnet18(num_classes=10).train()
tuned.bn1.eval()  # frozen
stage = create_feature_extractor(tuned, ["layer1"])
print("in training mode: extractor", extractor.training, "copy", twin.training)
print("the frozen BatchNorm:", tuned.bn1.training)

# %% proof=true
assert not extractor.training and twin.training and tuned.bn1.training
with fails(AssertionError):
    assert_same_results(twin, extractor, image)
assert_same_results(copy.deepcopy(extractor).eval(), extractor, image)

# %% [markdown]
# **Right:** call `.train(extractor.training)` on a copy. Make the extractor first, and freeze afterwards.
#
# ### The copy comes too late
#
# A `clone` before the output copies what the in-place calls have left.


# %%
def late_clone(model: nn.Module, name: str, after: str) -> fx.GraphModule:
    """Two values of a model; the first one is cloned at the end."""
    gm = fx.symbolic_trace(model)
    by_name = {n.name: n for n in gm.graph.nodes}
    output = next(reversed(gm.graph.nodes))
    with gm.graph.inserting_before(output):
        copy_node = gm.graph.call_method("clone", (by_name[name],))
    output.args = ({"before": copy_node, "after": by_name[after]},)
    gm.recompile()
    return gm


x = torch.randn(5, 3)
negatives(late_clone(unread, "lin", "mul")(x)["before"])

# %% proof=true
assert negatives(late_clone(unread, "lin", "mul")(x)["before"]) == 0  # overwritten

# %% [markdown]
# **Right:** `with gm.graph.inserting_after(node)`.
#
# ### The readers read the copy
#
# It also looks safe to make all readers read the clone, and to return the original.
# But it breaks the alias: a view that was taken before, or a tensor that is changed later, no longer shares its storage with the clone.


# %%
class RowLater(nn.Module):
    def forward(self, x):
        y = x + 1
        row = y[0]
        y.mul_(10)  # changes `row`, too
        return row + 1


gm = fx.symbolic_trace(RowLater())
row = next(n for n in gm.graph.nodes if n.name == "getitem")
with gm.graph.inserting_after(row):
    kept = gm.graph.call_method("clone", (row,))
row.replace_all_uses_with(kept, delete_user_cb=lambda user: user is not kept)
gm.recompile()
print(gm.code)
zeros = torch.zeros(2, 2)
print("model:", RowLater()(zeros), "graph:", gm(zeros))

# %% proof=true
assert torch.equal(RowLater()(zeros), torch.full((2,), 11.0))
assert torch.equal(gm(zeros), torch.full((2,), 2.0))  # wrong

# %% [markdown]
# **Right:** only the dictionary uses the clone. All other readers keep reading the original.

# %% [markdown]
# ## Recap
#
# 1. A hook sees what modules return, and the whole model runs. An extractor is a shorter graph, and can return the value of any node.
# 2. torchvision names a value by its place: `layer1.0.relu_1`. The name of a module means the last node inside. There is a graph for each mode.
# 3. A Tracer knows where it is: `call_module` is called for every call of a module, `create_node` makes every node.
# 4. A feature that is overwritten later needs a copy directly after it was computed. An in-place call may be needed even if no node reads it.
# 5. Several tensors may share one storage. Unless an operation is known to make a new one, assume that its result shares that of its inputs.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `module.register_forward_hook(f)`, `register_forward_pre_hook(f)` | calls `f` after, before each call of the module; `.remove()` ends it |
# | `create_feature_extractor(model, {name: key})` | a graph module of the part that is needed |
# | `get_graph_node_names(model)` | torchvision's names, for training and for evaluation |
# | `tracer_kwargs={"leaf_modules": [Class]}` | of both: modules that stay whole |
# | `tracer.path_of_module(m)` | the qualified name of a module, while tracing |
# | `output.args = ({key: node},)` | what the graph returns |
# | `a.untyped_storage().data_ptr()` | the address of a tensor's storage |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | in whose `forward` each node was made; cutting a model in two | the deep dive `07b_cutting` |
# | modules that cannot be traced, and leaves of your own choice | chapter 8 |
# | comparing two models so that you can trust it | chapter 9 |
# | measuring two models against each other | chapter 10 |
# | the graphs of `torch.export`, and their names | chapter 11 |
#
# In torchvision's documentation:
# [Feature extraction for model inspection](https://docs.pytorch.org/vision/stable/feature_extraction.html).
# In PyTorch's: the reference of [torch.fx.Tracer](https://docs.pytorch.org/docs/stable/fx.html#torch.fx.Tracer),
# [register_forward_hook](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_hook),
# and the page [Tensor Views](https://docs.pytorch.org/docs/stable/tensor_view.html).
