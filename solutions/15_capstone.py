# %% [markdown]
# # 15 · Capstone: a network, optimized
#
# **After this chapter you can clean up a whole network for inference with one function, say why it is right, and compare it with PyTorch's own.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3 and 10; section 3b.2 for calls with an effect |
# | **Time** | about 115 minutes, 60 of them for the exercise; sections 15.1 to 15.3 are a good first sitting |
#
# **When you are done, you can**
#
# 1. list the parts of a trained network that inference does not need;
# 2. say which clean-up makes room for which, and give a model for each;
# 3. write a pipeline that ends, and that a second run does not change;
# 4. compare your pass with PyTorch's `fuse` on twelve networks, and explain each difference;
# 5. show nodes, parameters and latency before and after in one picture, as ratios.

# %% [markdown]
# ## A story
#
# Three teams bring networks for one service. The first has a GoogLeNet, the second a network in which an architecture search left identities everywhere,
# the third a detector with a shared head and a debugging branch that nobody reads any more.
#
# You have a list of passes by now: delete dropouts, delete dead code, fuse BatchNorms. For the first network any order works.
# For the second, the identities must go first. For the third, the dead code must go first. So each network needs some thought.
# Then somebody exports the GoogLeNet again, and asks why your function makes changes to a network that it has already optimized.
#
# At the end of the chapter one function treats all three, and a second run changes nothing.

# %%
import copy
import operator
import statistics
import time
import warnings
from collections import Counter
from collections.abc import Callable

import matplotlib.pyplot as plt
import torch
import torchvision
from torch import fx, nn
from torch.fx.experimental import optimization
from torch.nn import functional as F
from torchvision.models import googlenet

from autograder import check, draw, fails, hint, progress
from autograder.given import assert_same_results, difference, images, make_alive

torch.manual_seed(15)
print(torch.__version__)

# %% [markdown]
# Two questions about earlier chapters first.
#
# **Predict the graph.** `heat = torch.sin(x)`, then `heat.mul_(2)`. No other node reads `heat`, and it is not returned. What does your `sound_dce` of section 3b.2 remove?
#
# <details><summary>Both nodes: the result does not depend on them.</summary>
#
# No. The pass does not know that. If <code>heat</code> shared its memory with a value that is returned, the call would matter.
# </details>
# <details><summary>Neither: a call in place stays, and so does the node that it reads.</summary>
#
# Right. The rule looks at the name of the method, and is careful. Dead code that has an effect is not dead.
# </details>
# <details><summary>Only <code>mul_</code>, which has no reader.</summary>
#
# No. That is the rule of FX's <code>eliminate_dead_code</code>, and it would remove the sine as well. If the value is returned, the result changes.
# </details>


# %% proof=true
def with_heat(x):
    heat = torch.sin(x)
    heat.mul_(2)
    return x + 1


def stays(node: fx.Node) -> bool:
    return node.op in ("placeholder", "output") or str(node.target).endswith("_")


careful, careless = fx.symbolic_trace(with_heat), fx.symbolic_trace(with_heat)
careful.graph.eliminate_dead_code(stays)
careless.graph.eliminate_dead_code()
assert [n.name for n in careful.graph.nodes] == ["x", "sin", "mul_", "add", "output"]
assert [n.name for n in careless.graph.nodes] == ["x", "add", "output"]


# %%
class Shared(nn.Module):
    """A convolution that is called twice, with a BatchNorm after the first call."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        return self.conv(torch.relu(self.bn(self.conv(x))))


plane = torch.randn(1, 2, 5, 5)
shared = make_alive(Shared(), plane)
draw(shared)

# %% [markdown]
# **Predict the result.** You fold this BatchNorm into the convolution's own weight. What does the second call compute?
#
# <details><summary>The same as before: it is another node.</summary>
#
# No. Two nodes may name one module, and the weight belongs to the module.
# </details>
# <details><summary>The folded convolution, although it has no BatchNorm.</summary>
#
# Right. So a folded convolution is a new module, under a free name, and only the first call is sent to it.
# </details>
# <details><summary>Nothing: FX refuses to change a shared module.</summary>
#
# No. FX does not watch what you do with modules.
# </details>

# %% proof=true
calls = [node for node in fx.symbolic_trace(shared).graph.nodes if node.target == "conv"]
assert len(calls) == 2
assert difference(optimization.fuse(shared), shared, plane) > 0.01  # PyTorch's pass does that

# %% [markdown]
# ## 15.1 What inference does not need
#
# A network is written to be trained. Inference does not need all of it:
#
# | part | in eval mode | where it comes from |
# |---|---|---|
# | `nn.Dropout` and its relatives | returns its input | training |
# | `nn.Identity` | returns its input, always | a search, or a layer that was switched off |
# | a call without a reader and without an effect | costs time | debugging, a head that is not used |
# | a BatchNorm after a convolution | is a factor and a shift for each channel | training |
#
# How much of it do networks have? An inventory of a trace counts it:

# %%
NOTHING = (nn.Dropout, nn.Identity)
FUNCTIONS = (F.dropout, F.dropout2d)


def module_of(gm: fx.GraphModule, node: fx.Node) -> nn.Module | None:
    """The module that a node calls, or `None`."""
    return gm.get_submodule(node.target) if node.op == "call_module" else None


def inventory(model: nn.Module) -> Counter:
    """Count the nodes of a trace, and those that inference does not need."""
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    found = Counter(nodes=0, nothing=0, norms=0, unread=0)
    for node in gm.graph.nodes:
        module = module_of(gm, node)
        found["nodes"] += 1
        found["nothing"] += isinstance(module, NOTHING) or node.target in FUNCTIONS
        found["norms"] += isinstance(module, nn.BatchNorm2d)
        found["unread"] += not node.users and node.op != "output"
    return found


service = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10))
print(inventory(service))

# %% proof=true
assert inventory(service) == Counter(nodes=199, nothing=1, norms=57, unread=0)

# %% [markdown]
# The other team's GoogLeNet has 199 nodes. 58 of them can go: 57 BatchNorms and one dropout.
#
# The second network comes from a search. If the search chose *no layer*, it wrote `nn.Identity()`:


# %%
class Searched(nn.Module):
    """The result of an architecture search, with an identity for each missing layer."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Identity(), nn.BatchNorm2d(8), nn.ReLU())
        self.cell = nn.Sequential(
            nn.Conv2d(8, 8, 3, padding=1), nn.Dropout(0.1), nn.BatchNorm2d(8), nn.Identity()
        )
        self.skip = nn.Identity()

    def forward(self, x):
        x = self.stem(x)
        return torch.relu(self.cell(x) + self.skip(x))


searched = make_alive(Searched())
print(inventory(searched))
draw(searched)

# %% proof=true
assert inventory(searched) == Counter(nodes=13, nothing=4, norms=2, unread=0)

# %% [markdown]
# The third is the detector. It calls one head twice, and it has a branch from an old debugging session:


# %%
class Detector(nn.Module):
    """A shared head, and a debugging branch without a reader."""

    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Conv2d(4, 4, 1)
        self.scale = nn.BatchNorm2d(4)
        self.probe = nn.Sequential(nn.Conv2d(4, 1, 1), nn.Sigmoid())

    def forward(self, x):
        features = self.body(x)
        heat = self.probe(features)
        heat.mean()
        fine = torch.relu(self.norm(features))
        return self.scale(self.head(fine)) + self.head(F.dropout(fine, 0.2, self.training))


detector = make_alive(Detector())
print(inventory(detector))

# %% proof=true
assert inventory(detector) == Counter(nodes=13, nothing=1, norms=2, unread=1)

# %% [markdown]
# `unread` is 1, and yet three calls are dead. No node reads `heat.mean()`, and its inputs have no other reader.
# Dead code comes in chains, so it is removed from back to front. (FX's own function is enough here: the model changes nothing in place.)

# %%
gm = fx.symbolic_trace(detector)
gm.graph.eliminate_dead_code()
print(inventory(detector)["nodes"], "nodes, now", len(gm.graph.nodes))

# %% proof=true
names = {node.name for node in gm.graph.nodes}
gone = [n.name for n in fx.symbolic_trace(detector).graph.nodes if n.name not in names]
assert gone == ["probe_0", "probe_1", "mean"]

# %% [markdown]
# ## 15.2 Four clean-ups with one shape
#
# Each of the four is a function that takes a `gm`, **changes it, and returns whether it did**. (`PassResult` of chapter 12 calls this `modified`.)
# Here is the one for identities:


# %%
def skip_identities(gm: fx.GraphModule) -> bool:
    """Let the readers of each identity read its input; return whether there was one."""
    found = [n for n in gm.graph.nodes if isinstance(module_of(gm, n), nn.Identity)]
    for node in found:
        (source,) = node.all_input_nodes  # for a call by keyword, too
        node.replace_all_uses_with(source)
        gm.graph.erase_node(node)
    return bool(found)


gm = fx.symbolic_trace(searched)
print(skip_identities(gm), skip_identities(gm))  # the second call finds nothing
gm.recompile()
print(inventory(gm))
assert_same_results(gm, searched, images(2))

# %% proof=true
assert skip_identities(fx.symbolic_trace(searched))
assert not skip_identities(gm)
assert inventory(gm)["nothing"] == 1  # the dropout

# %% [markdown]
# You have written the other three: `remove_dropout` in chapter 3, `sound_dce` in chapter 3b, `fuse_conv_bn` in chapter 10.
# There each of them took a model and traced it. For a pipeline you give each the shape above.
#
# Passes that trace can be composed, too, because a trace of a `GraphModule` has the same calls, if its layers are leaves. They only do more work.

# %% proof=true
retraced = fx.symbolic_trace(gm)
assert [n.target for n in retraced.graph.nodes] == [n.target for n in gm.graph.nodes]

# %% [markdown]
# **Predict the graph.** `skip_identities(gm)` has run. `gm.recompile()` has not. The next pass begins with `fx.symbolic_trace(gm)`. Which identities are in the graph of this trace?
#
# <details><summary>None, because <code>gm.graph</code> has none.</summary>
#
# No. A trace does not read <code>gm.graph</code>. It calls <code>gm.forward</code>, whose code was written from the graph earlier.
# </details>
# <details><summary>All of them, because the trace runs the old code.</summary>
#
# Right. The first pass is lost, without an error. A pipeline that edits one <code>gm</code> recompiles once, at its end. Do not call or trace the module before that.
# </details>
# <details><summary>It raises an error, because the code and the graph differ.</summary>
#
# No. The old code is valid, and the modules that it calls are still there.
# </details>

# %% proof=true
edited = fx.symbolic_trace(searched)
assert skip_identities(edited) and inventory(edited)["nothing"] == 1
assert inventory(fx.symbolic_trace(edited)) == inventory(searched)
edited.recompile()
assert inventory(fx.symbolic_trace(edited)) == inventory(edited)

# %% [markdown]
# ## 15.3 One makes room for the other
#
# Now run them one after another. `torch.fx` has functions for three of the four, so you can try orders without your answers:


# %%
def no_dropout(model: nn.Module) -> nn.Module:
    return optimization.remove_dropout(model)


def no_dead_code(model: nn.Module) -> nn.Module:
    gm = fx.symbolic_trace(model)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


def in_order(model: nn.Module, *passes: Callable) -> fx.GraphModule:
    """The model after all passes, one after another."""
    for one in passes:
        model = one(model)
    return fx.symbolic_trace(model)


def sequence(*layers: nn.Module) -> nn.Module:
    return make_alive(nn.Sequential(*layers), plane)


parted = sequence(nn.Conv2d(2, 2, 1), nn.Dropout(0.5), nn.BatchNorm2d(2))
first = in_order(parted, optimization.fuse, no_dropout)
second = in_order(parted, no_dropout, optimization.fuse)
print("BatchNorms left, fuse first:    ", inventory(first)["norms"])
print("BatchNorms left, dropouts first:", inventory(second)["norms"])

# %% proof=true
assert (inventory(first)["norms"], inventory(second)["norms"]) == (1, 0)

# %% [markdown]
# A dropout **separates** the convolution from its BatchNorm. While it is there, the two do not form a pair.
#
# In the next model, the convolution has a second reader, which is dead:


# %%
class DeadReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        y = self.conv(x)
        torch.sigmoid(y)
        return self.bn(y)


dead_reader = make_alive(DeadReader(), plane)

# %% [markdown]
# **Predict the result.** In which order is this pair fused?
#
# <details><summary>First fuse, then remove dead code.</summary>
#
# No. While the second reader is there, the convolution has two users, and every careful pass leaves it alone.
# </details>
# <details><summary>First remove dead code, then fuse.</summary>
#
# Right. A dead reader is a reader until a pass erases it.
# </details>
# <details><summary>In either: a dead reader does not count.</summary>
#
# No. <code>len(node.users)</code> counts nodes, dead ones too.
# </details>

# %% proof=true
fused_first = in_order(dead_reader, optimization.fuse, no_dead_code)
swept_first = in_order(dead_reader, no_dead_code, optimization.fuse)
assert (inventory(fused_first)["norms"], inventory(swept_first)["norms"]) == (1, 0)

# %% [markdown]
# So: dropouts and identities first, then dead code, then pairs from front to back. For these four, one run in this order is enough. Two things speak against relying on it.
#
# **A pass can make room for itself.** Two BatchNorms in a row: the second meets the convolution when the first is gone.
# If a function first *lists* all pairs and then fuses them, it misses the second.


# %%
def pairs(gm: fx.GraphModule) -> list[tuple[fx.Node, fx.Node]]:
    """Each convolution with the BatchNorm that is its only reader."""
    return [
        (node.args[0], node)
        for node in gm.graph.nodes
        if isinstance(module_of(gm, node), nn.BatchNorm2d)
        and isinstance(module_of(gm, node.args[0]), nn.Conv2d)
        and len(node.args[0].users) == 1
    ]


twice = sequence(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2), nn.BatchNorm2d(2))
gm = fx.symbolic_trace(twice)
before = pairs(gm)
conv, norm = before[0]
norm.replace_all_uses_with(conv)  # as in a fusion
gm.graph.erase_node(norm)
print(before, "then", pairs(gm))

# %% proof=true
assert [str(norm) for _, norm in before] == ["_1"]
assert [str(norm) for _, norm in pairs(gm)] == ["_2"]  # a new pair


def each_once(model: nn.Module) -> fx.GraphModule:
    traced = fx.symbolic_trace(model)
    skip_identities(traced)
    traced.recompile()
    return in_order(traced, no_dropout, no_dead_code, optimization.fuse)


for model in (service, searched, detector, parted, dead_reader, twice):
    assert inventory(each_once(model))["norms"] == 0
# The story: other orders are enough for the first network, and not for the second and the third.
assert inventory(in_order(service, optimization.fuse, no_dropout)) == inventory(each_once(service))
assert inventory(in_order(searched, no_dropout, optimization.fuse))["norms"] == 1
assert inventory(in_order(detector, optimization.fuse, no_dead_code))["norms"] == 1

# %% [markdown]
# **The list of passes grows.** With a fifth pass, somebody must think about all pairs of passes again.
#
# A loop needs no order: run all passes, round after round, **until a round changes nothing**.
# The result is called a *fixed point*.
#
# Does such a loop end? Whenever one of the four changes the graph, the graph gets smaller. So there are at most as many rounds as nodes.
# A pass that adds nodes needs another argument. If you have none, limit the number of rounds.
#
# Here is such a loop for arithmetic, with three trivial rules: `x * 1` is `x`, `x + 0` is `x`, and `-(-x)` is `x`.


# %%
def drop(gm: fx.GraphModule, what: Callable, number: float) -> bool:
    """Remove calls of an operator with a number that changes nothing."""
    found = [n for n in gm.graph.nodes if n.target is what and n.args[1] == number]
    for node in found:
        node.replace_all_uses_with(node.args[0])
        gm.graph.erase_node(node)
    return bool(found)


def drop_ones(gm: fx.GraphModule) -> bool:
    return drop(gm, operator.mul, 1)


def drop_zeros(gm: fx.GraphModule) -> bool:
    return drop(gm, operator.add, 0)


def drop_double_neg(gm: fx.GraphModule) -> bool:
    """Replace the first `-(-x)` by `x`."""
    for node in gm.graph.nodes:
        if node.target is operator.neg and node.args[0].target is operator.neg:
            inner = node.args[0]
            node.replace_all_uses_with(inner.args[0])
            gm.graph.erase_node(node)
            if not inner.users:
                gm.graph.erase_node(inner)
            return True
    return False


def to_a_fixed_point(gm: fx.GraphModule, *passes: Callable) -> int:
    """Run all passes until a round changes nothing; return the number of rounds."""
    rounds, modified = 0, True
    while modified:
        modified = False
        rounds += 1
        for one in passes:
            modified = one(gm) or modified
    gm.recompile()
    return rounds


def tangled(x):
    return -((-((-(-x * 1)) + 0)) * 1) + 0 - 3


gm = fx.symbolic_trace(tangled)
draw(gm)

# %%
rounds = to_a_fixed_point(gm, drop_double_neg, drop_ones, drop_zeros)
print(rounds, "rounds,", len(gm.graph.nodes), "nodes are left:", gm.code)

# %% proof=true
assert rounds == 4
assert [n.op for n in gm.graph.nodes] == ["placeholder", "call_function", "output"]
assert to_a_fixed_point(gm, drop_double_neg, drop_ones, drop_zeros) == 1

# %% [markdown]
# Two negations meet only when the ones and zeros between them are gone, so one round is not enough. The last round changes nothing, and ends the loop.
#
# **Predict the result.** You write `modified = modified or one(gm)` instead of `modified = one(gm) or modified`. What happens?
#
# <details><summary>Nothing: <code>or</code> is symmetric.</summary>
#
# No. <code>or</code> does not look at its right side when the left one is true.
# </details>
# <details><summary>Once a pass has changed something, the others do not run in this round. The result is the same, after more rounds.</summary>
#
# Right. It still ends at a fixed point. It only takes longer, and no test notices.
# </details>
# <details><summary>The loop never ends.</summary>
#
# No. A round in which no pass changes anything still ends it.
# </details>


# %% proof=true
def lazily(gm: fx.GraphModule, *passes: Callable) -> int:
    count, modified = 0, True
    while modified:
        modified = False
        count += 1
        for one in passes:
            modified = modified or one(gm)
    return count


lazy = fx.symbolic_trace(tangled)
assert lazily(lazy, drop_double_neg, drop_ones, drop_zeros) > rounds
assert [n.target for n in lazy.graph.nodes] == [n.target for n in gm.graph.nodes]

# %% [markdown]
# ### What a pipeline promises
#
# Before you write it, decide how to test it. You can ask four questions of any pipeline, without reading its code:
#
# 1. **Does the result compute the same?** Try inputs of several shapes, compare everything that is returned, and use statistics that are not fresh.
# 2. **Is the caller's model as it was?** Compare its modules, their modes, its parameters and its buffers.
# 3. **Is there nothing left to do?** A second run gives a graph of the same length.
# 4. **Can the result be copied and traced?** The next pass may do both.
#
# This function asks them for one model and one set of inputs:


# %%
def modules_of(model: nn.Module) -> list[tuple[str, nn.Module, bool]]:
    return [(name, module, module.training) for name, module in model.named_modules()]


def promises(optimizer: Callable, model: nn.Module, *inputs: torch.Tensor) -> dict[str, bool]:
    """The four promises, and whether an optimizer keeps them."""
    modules, before = modules_of(model), copy.deepcopy(model.state_dict())
    result = optimizer(model)
    retraced = fx.symbolic_trace(copy.deepcopy(result))
    return {
        "same result": difference(result, model, *inputs) < 1e-3,
        "model as it was": modules_of(model) == modules
        and all(torch.equal(before[name], value) for name, value in model.state_dict().items()),
        "nothing left": inventory(result)["nodes"] == inventory(optimizer(result))["nodes"],
        "copied and traced": difference(retraced, result, *inputs) == 0,
    }


def fuse_first(model: nn.Module) -> nn.Module:
    return no_dropout(optimization.fuse(model))


kept = promises(optimization.fuse, shared, plane)
print("fuse, on the shared convolution:", kept)
unfinished = promises(fuse_first, parted, plane)
print("fuse, then dropouts:            ", unfinished)

# %% proof=true
assert list(kept.values()) == [False, True, True, True]
assert list(unfinished.values()) == [True, True, False, True]
trains = promises(
    lambda model: (optimization.fuse(model), model.train())[0], copy.deepcopy(twice), plane
)
assert not trains["model as it was"]

# %% [markdown]
# `fuse` gives a wrong result for the shared convolution. The second pipeline gives the right result, but it is not done.
#
# ### When not to optimize
#
# An optimized network cannot be trained as before: its BatchNorms are gone, and their statistics with them.
# So train, save the checkpoint, and *then* optimize the copy that you deploy.
#
# A BatchNorm in training mode uses each batch's own statistics, and no convolution can do that. So the exercise takes models that are wholly in eval mode:

# %%
training = copy.deepcopy(twice).train()
with torch.no_grad():
    one_batch, another = training(plane), training(plane + 1)
torch.testing.assert_close(one_batch, another, rtol=1e-3, atol=1e-3)  # the mean is subtracted
with torch.no_grad(), fails(AssertionError):
    torch.testing.assert_close(twice(plane), twice(plane + 1))

# %% [markdown] card="optimize"
# **Write** `optimize`: a pass for convolutional networks that are wholly in eval mode. Its result has
#
# * **no dropout**, module or function, with all relatives (as in [`remove_dropout`](03_manipulation.ipynb)), and no `nn.Identity`;
# * **no dead node** that [`sound_dce`](03b_effects.ipynb) removes. Calls with an effect stay, such as those of a name that ends in a single `_`;
# * **no pair** of a convolution and a BatchNorm that `fuse_conv_bn` would fuse. Pairs count, too, that meet, or lose their second reader, only when something else is gone;
# * **nothing to do** for a second run.
#
# Everything else stays.
#
# **Do not** change the model that you are given.
#
# **Fine print**
#
# * Modules that nothing calls or reads any more are gone.
# * The result computes what the model computes while every dropout does nothing.
# * The cases have convolutions that are called twice, weights that are read, calls by keyword, nested layers, names that are taken, dropouts that are returned, and a model of nothing but identities.
# * Names with two underscores, such as `__contains__`, are not tried.


# %%
class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.same = nn.Identity()
        self.bn = nn.BatchNorm2d(2)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        y = self.conv(x)
        torch.tanh(y)
        return self.drop(torch.relu(self.bn(self.same(y))))


class After(nn.Module):
    def __init__(self):
        super().__init__()
        self.folded = nn.Conv2d(2, 2, 1)

    def forward(self, x):
        return torch.relu(self.folded(x))


draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="optimize"
def optimize(model: nn.Module) -> fx.GraphModule:
    """Remove dropouts, identities and dead code, and fuse pairs."""
    ### BEGIN SOLUTION
    convs = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
    norms = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    dropouts = (nn.modules.dropout._DropoutNd, nn.Identity)
    functions = (F.dropout, F.dropout1d, F.dropout2d, F.dropout3d)
    functions += (F.alpha_dropout, F.feature_alpha_dropout)
    words = "iadd isub imul imatmul itruediv ifloordiv imod ipow iconcat iand ior ixor"
    effects = {getattr(operator, word) for word in (*words.split(), "ilshift", "irshift")}
    effects |= {operator.setitem, torch._assert, print}
    pure = (operator.and_, operator.or_, operator.not_, operator.is_)
    gm = fx.symbolic_trace(model)

    def module(node: fx.Node) -> nn.Module | None:
        return gm.get_submodule(node.target) if node.op == "call_module" else None

    def has_effect(node: fx.Node) -> bool:
        if node.op in ("placeholder", "output"):
            return True
        if node.kwargs.get("inplace") or node.kwargs.get("out") is not None:
            return True
        if node.op == "call_module":
            called = module(node)
            trains = isinstance(called, nn.modules.batchnorm._NormBase) and called.training
            return trains or bool(getattr(called, "inplace", False))
        if node.op == "get_attr" or node.target in pure:
            return False
        name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
        if name.endswith("__"):  # `__setitem__` and `__iadd__` are operators under another name
            return getattr(operator, name, None) in effects
        return name.endswith("_") or node.target in effects

    def skip() -> bool:
        found = [
            node
            for node in gm.graph.nodes
            if isinstance(module(node), dropouts) or node.target in functions
        ]
        for node in found:
            node.replace_all_uses_with(node.all_input_nodes[0])
            gm.graph.erase_node(node)
        return bool(found)

    def sweep() -> bool:
        count = len(gm.graph.nodes)
        for node in reversed(list(gm.graph.nodes)):
            if not node.users and not has_effect(node):
                gm.graph.erase_node(node)
        return len(gm.graph.nodes) < count

    def fuse() -> bool:
        modified = False
        for node in list(gm.graph.nodes):
            bn = module(node)
            if type(bn) not in norms or bn.training or bn.running_mean is None:
                continue
            (source,) = node.all_input_nodes
            conv = module(source)
            if type(conv) not in convs or len(source.users) != 1:
                continue
            if conv.out_channels != bn.num_features:
                continue  # unbatched input: the channels are another dimension
            number = 0
            while hasattr(gm, f"folded_{number}"):
                number += 1
            new = torch.nn.utils.fusion.fuse_conv_bn_eval(copy.deepcopy(conv).eval(), bn)
            gm.add_submodule(f"folded_{number}", new)
            source.target = f"folded_{number}"
            node.replace_all_uses_with(source)
            gm.graph.erase_node(node)
            modified = True
        return modified

    while any([skip(), sweep(), fuse()]):
        pass
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="optimize"
check(optimize)

# %% hint="optimize"
hint("optimize")

# %% [markdown]
# ## 15.4 The three networks of the story
#
# This cell and the next ones use your answer. Run them again when the check has passed.

# %% uses="optimize"
batch = images(2)
story = {"GoogLeNet": service, "searched": searched, "detector": detector}
for name, model in story.items():
    result = optimize(model)
    lengths = [inventory(m)["nodes"] for m in (model, result, optimize(result))]
    print(f"{name:10} {lengths[0]:4} nodes, now {lengths[1]}, after a second run {lengths[2]}")
    assert_same_results(result, model, batch)

# %% proof=true
for model in story.values():
    result = optimize(model)
    found = inventory(result)
    assert (found["nothing"], found["norms"], found["unread"]) == (0, 0, 0)
    assert [n.target for n in optimize(result).graph.nodes] == [
        n.target for n in result.graph.nodes
    ]

# %% [markdown]
# One function treats all three, and a second run changes nothing. The detector still calls its head twice, now as two modules: one call is folded, and the other is not.

# %% uses="optimize"
draw.diff(fx.symbolic_trace(detector), optimize(detector))

# %% [markdown]
# ## 15.5 Compared with PyTorch's own
#
# Is your function better than `torch.fx.experimental.optimization.fuse`?
# Here are twelve networks of torchvision, with random weights. The cell takes about half a minute:

# %% uses="optimize"
NETWORKS = (
    "densenet121 efficientnet_b0 googlenet mnasnet1_0 mobilenet_v2 mobilenet_v3_small "
    "regnet_x_400mf regnet_y_400mf resnet18 resnet34 shufflenet_v2_x1_0 squeezenet1_0"
).split()


def network(name: str) -> nn.Module:
    with warnings.catch_warnings(action="ignore"):
        return make_alive(torchvision.models.get_model(name, weights=None, num_classes=10))


small = images(1)[..., :32]  # not square, so that exchanging height and width changes the result
rows = {}
print(f"{'':20}{'nodes':>6}{'optimize':>10}{'fuse':>6}{'norms left':>12}{'nothing left':>14}")
for name in NETWORKS:
    model = network(name)
    mine, theirs = optimize(model), optimization.fuse(model)
    a, b, c = inventory(model), inventory(mine), inventory(theirs)
    rows[name] = (a, b, c)
    left = f"{b['norms']} and {c['norms']}", f"{b['nothing']} and {c['nothing']}"
    print(f"{name:20}{a['nodes']:6}{b['nodes']:10}{c['nodes']:6}{left[0]:>12}{left[1]:>14}")
    assert_same_results(mine, model, small)
    assert_same_results(theirs, model, small)

# %% [markdown]
# Both are right on all twelve. In each row your graph has as many nodes as theirs, **minus the dropouts**: `fuse` leaves them.
# That difference costs next to nothing at run time, because a dropout in eval mode returns its input.
#
# DenseNet keeps 62 BatchNorms in both. Each of them reads a concatenation, not a convolution.

# %% proof=true
for _, b, c in rows.values():
    assert b["nodes"] == c["nodes"] - c["nothing"]
    assert b["norms"] == c["norms"]
assert rows["densenet121"][1]["norms"] == 62
dense = optimize(network("densenet121"))
norms = [n for n in dense.graph.nodes if isinstance(module_of(dense, n), nn.BatchNorm2d)]
assert {n.args[0].target for n in norms} == {torch.cat}

# %% [markdown]
# So was it worth the trouble? Not for these twelve. It was for the networks that are *not* in a library:

# %% uses="optimize"
table = {}
print(f"{'':14}{'optimize':22}fuse")
for name, model, given in (
    ("shared", shared, plane),
    ("parted", parted, plane),
    ("dead reader", dead_reader, plane),
    ("searched", searched, small),
    ("detector", detector, small),
):
    cells = []
    for one in (optimize(model), optimization.fuse(model)):
        wrong, nodes = difference(one, model, given), len(fx.symbolic_trace(one).graph.nodes)
        table[name] = (*table.get(name, ()), (wrong, nodes))
        cells.append(f"{'right' if wrong < 1e-3 else f'wrong by {wrong:.0%}'}, {nodes} nodes")
    print(f"{name:14}{cells[0]:22}{cells[1]}")

# %% proof=true
assert all(wrong < 1e-3 for (wrong, _), _ in table.values())
for name, ((_, nodes), (wrong, as_fused)) in table.items():
    if name in ("shared", "detector"):
        assert wrong > 0.01
    else:
        assert wrong < 1e-3 and as_fused > nodes

# %% [markdown]
# On two of the five, PyTorch's `fuse` returns wrong numbers without a message. On the other three it is right, but it leaves nodes that `optimize` removes.

# %% [markdown]
# ## 15.6 Nodes, parameters, latency
#
# **Predict the result.** You fuse all 57 pairs of GoogLeNet. What happens to the number of its parameters?
#
# <details><summary>It stays: the numbers go into the convolutions.</summary>
#
# No. A BatchNorm has a weight and a bias for each channel. The weight is multiplied into numbers that are there already, but the bias is not.
# </details>
# <details><summary>It falls a little: a weight and a bias for each channel go, and each convolution gets a bias.</summary>
#
# Right. GoogLeNet's convolutions had no bias. So one number a channel is saved, of millions.
# </details>
# <details><summary>It falls by half.</summary>
#
# No. Nearly all parameters are in the convolutions.
# </details>

# %% proof=true
fused = optimization.fuse(service)
saved = sum(p.numel() for p in service.parameters()) - sum(p.numel() for p in fused.parameters())
channels = sum(m.num_features for m in service.modules() if isinstance(m, nn.BatchNorm2d))
assert saved == channels
assert all(m.bias is None for m in service.modules() if isinstance(m, nn.Conv2d))

# %% [markdown]
# What does `torch.compile` do alone? It captures the model itself. By default, it does not fold a BatchNorm into a convolution: for that, `torch._inductor.config.freezing` must be true.
# Without gradients, `torch/_inductor/freezing.py` then makes constants of the weights, and folds the BatchNorm into them, in the ATen graph.
#
# Inductor needs a C++ compiler. If it does not run, the cell takes the backend `"aot_eager"`, which generates no code: then you see the cost of running the captured graph.


# %%
def compiled(model: nn.Module, example: torch.Tensor) -> tuple[str, Callable]:
    """The name of a backend that runs on this machine, and the compiled model."""
    for backend in ("inductor", "aot_eager"):
        torch._dynamo.reset()
        found = torch.compile(model, backend=backend)
        try:
            with torch.no_grad():
                found(example)
        except Exception:
            continue
        return backend, found
    raise RuntimeError("no backend works")


def latencies(example: torch.Tensor, *models: Callable, repeats: int = 15) -> list[float]:
    """The median time of a call in seconds for each model, measured in turn."""
    times: list[list[float]] = [[] for _ in models]
    with torch.no_grad():
        for turn in range(repeats + 2):
            for one, taken in zip(models, times, strict=True):
                start = time.perf_counter()
                one(example)
                if turn >= 2:  # two rounds warm up
                    taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def parameters(model: nn.Module) -> int:
    return sum(value.numel() for value in model.parameters())


backend, fast = compiled(searched, small)
before, after = latencies(small, searched, fast)
print(f"backend {backend!r}: a call takes {after / before:.2f} times as long as the model")

# %% proof=true
import inspect

from torch._inductor import freezing

assert_same_results(fast, searched, small)
assert not torch._inductor.config.freezing
steps = inspect.getsource(freezing._freeze)
assert steps.index("freezing_passes(") < steps.index("constant_fold(aot_autograd_gm)")

# %% [markdown]
# Now the picture. It has two bars for each network: the nodes, the parameters and the time of a call, as ratios to the model before.
# Times are medians, measured in turn (chapter 10).

# %% uses="optimize"
shown = {"GoogLeNet": service, "searched": searched, "resnet18": network("resnet18")}
fig, axes = plt.subplots(1, 3, figsize=(10, 3))
for place, model in enumerate(shown.values()):
    mine, theirs = optimize(model), optimization.fuse(model)
    seconds = latencies(batch, model, mine, theirs)
    for axis, values in zip(
        axes,
        (
            [len(fx.symbolic_trace(m).graph.nodes) for m in (model, mine, theirs)],
            [parameters(m) for m in (model, mine, theirs)],
            seconds,
        ),
        strict=True,
    ):
        axis.bar(place - 0.2, values[1] / values[0], 0.35, color="tab:blue")
        axis.bar(place + 0.2, values[2] / values[0], 0.35, color="tab:gray")
for axis, title in zip(axes, ("nodes", "parameters", "latency"), strict=True):
    axis.set_title(f"{title}, as a ratio to before")
    axis.set_xticks(range(len(shown)), shown, fontsize=8)
    axis.axhline(1, color="black", linewidth=0.5)
axes[0].legend(["optimize", "fuse"], loc="lower right", fontsize=8)
fig.tight_layout()
plt.show()

# %% [markdown]
# Blue is your function, gray is `fuse`. The number of nodes falls a lot, and the number of parameters hardly at all.
# The time differs from machine to machine, and from run to run, so it is not graded.
#
# ## Common mistakes
#
# Two more are above: a trace without `recompile` (15.2), and a loop with `or` the wrong way round (15.3).
#
# ### The wrong order, each pass once

# %%
stacked = sequence(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2), nn.Dropout(0.5), nn.BatchNorm2d(2))
once = in_order(stacked, optimization.fuse, no_dropout)
again = in_order(once, optimization.fuse, no_dropout)
print(
    "BatchNorms left:",
    inventory(once)["norms"],
    "after one run,",
    inventory(again)["norms"],
    "after two",
)

# %% proof=true
assert (inventory(once)["norms"], inventory(again)["norms"]) == (1, 0)

# %% [markdown]
# **Right:** a loop to a fixed point. Then a second run has nothing to do.
#
# ### Modules that no node calls
#
# When you erase a node, its module stays. It is saved, counted and moved to the GPU with the rest.

# %%
gm = fx.symbolic_trace(searched)
skip_identities(gm)
gm.recompile()
print(gm.get_submodule("skip"))  # no node calls it
gm.delete_all_unused_submodules()
with fails(AttributeError):
    gm.get_submodule("skip")

# %% [markdown]
# **Right:** `gm.delete_all_unused_submodules()` once, at the end.

# %% [markdown]
# ## Recap
#
# 1. Inference does not need dropouts, identities, dead calls, and BatchNorms after convolutions.
# 2. Each clean-up takes a `gm`, changes it, and returns whether it did.
# 3. One makes room for another, and sometimes for itself. A loop to a fixed point needs no order.
# 4. It ends because each change makes the graph smaller.
# 5. On networks of torchvision, `fuse` is as good. On shared convolutions it is wrong, and it leaves dropouts, identities and dead code.
#
# ## Cheat sheet
#
# | call | effect |
# |---|---|
# | `node.all_input_nodes` | the nodes that a call reads, also by keyword |
# | `node.replace_all_uses_with(source)` | all readers read `source` from now on |
# | `gm.graph.erase_node(node)` | removes a node that nobody reads |
# | `gm.delete_all_unused_submodules()` | removes modules that no node calls or reads |
# | `gm.recompile()` | writes the code again; once, at the end |
# | `torch.fx.experimental.optimization.fuse(model)` | folds pairs that are called by position; wrong on shared convolutions |
# | `torch.fx.experimental.optimization.remove_dropout(model)` | removes calls of `nn.Dropout`, not of its relatives; raises an error if the input is a keyword |
# | `torch.nn.utils.fusion.fuse_conv_bn_eval(conv, bn)` | folds two layers in eval mode |
# | `torch.compile(model, backend=...)` | captures the model when it is called, and gives it to a backend |
#
# See how far you are:

# %%
progress()


# %% proof=true
class ByKeyword(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(input=x)


relative = sequence(nn.Dropout2d(0.5), nn.Conv2d(2, 2, 1))
assert inventory(optimization.remove_dropout(relative)) == inventory(relative)
with fails(AssertionError):
    optimization.remove_dropout(ByKeyword())

# %% [markdown]
# ## Your own model
#
# The last cell is yours. Replace `mine_to_try` by a convolutional network of your own, and give it inputs.

# %% uses="optimize"
mine_to_try = nn.Sequential(
    nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(), nn.Identity()
)
inputs = (torch.rand(2, 3, 16, 16),)
make_alive(mine_to_try, *inputs)
result = optimize(mine_to_try)
print(inventory(mine_to_try)["nodes"], "nodes, now", inventory(result)["nodes"])
print("the largest difference:", assert_same_results(result, mine_to_try, *inputs))
draw.diff(fx.symbolic_trace(mine_to_try), result)

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | folding, derived and measured | chapter 10 |
# | calls with an effect | section 3b.2 |
# | linear layers side by side, which become one | the deep dive 10b |
# | what `torch.compile` captures, and its backends | chapter 11 |
# | transposed convolutions | the last cell of chapter 10 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), and
# [Building a Convolution/Batch Norm fuser with torch.compile](https://docs.pytorch.org/tutorials/intermediate/torch_compile_conv_bn_fuser.html).

# %% [markdown]
# ## Where to go from here
#
# The track *Model surgery* ends here. Next, test your `optimize` on random models:
# write it to a file, and run `fxcourse hunt file.py:optimize --eval` in a terminal.
# A deep dive that you left out, or the track *Compilers and backends*, is a way to go on.
