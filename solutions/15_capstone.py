# %% [markdown]
# # 15 · Capstone: a network, optimized
#
# **After this chapter you can clean up a whole network for inference with one function, say why it is right, and compare it with PyTorch's own.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3 and 10; section 3b.2 for calls with an effect |
# | **Time** | about 100 minutes, 45 of them for the exercise; sections 15.1 to 15.3 are a good first sitting |
#
# **When you are done, you can**
#
# 1. list the parts of a trained network that inference does not need;
# 2. say which clean-up makes room for which, and give a model for each;
# 3. write a pipeline that ends, and that leaves nothing to do;
# 4. compare your pass with PyTorch's `fuse` on twelve networks, and explain each difference;
# 5. show nodes, parameters and latency before and after in one picture, as ratios.

# %% [markdown]
# ## A story
#
# Three teams bring networks for one service. The first has a GoogLeNet, the second a network in which an architecture search has left identities everywhere,
# the third a detector with a shared head and a debugging branch that nobody reads any more.
#
# You have a list of passes by now: delete dropouts, delete dead code, fuse BatchNorms. For the first network you run them in some order, and it works.
# For the second you need another order. For the third you have to think about the order again, and next week there is a fourth.
# Then the GoogLeNet is exported again, and your function changes a network that it has already optimized. Why?
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
# **Predict the result.** A graph holds `y.add_(1)`, and nobody reads the node. `y` is returned. What does `gm.graph.eliminate_dead_code()` do with it?
#
# <details><summary>The node stays: its name ends with an underscore.</summary>
#
# No. That is the rule of <em>your</em> pass in section 3b.2. FX does not look at the names of methods.
# </details>
# <details><summary>The node is removed, and the result changes.</summary>
#
# Right. FX assumes that every method call is pure. Dead code that has an effect is not dead.
# </details>
# <details><summary>It raises an error, because the graph would change its meaning.</summary>
#
# No. FX does not know that it does.
# </details>


# %% proof=true
class Bumps(nn.Module):
    def forward(self, x):
        y = x * 2
        y.add_(1)
        return y


bumped = fx.symbolic_trace(Bumps())
one = torch.ones(1)
assert bumped(one).item() == 3
bumped.graph.eliminate_dead_code()
bumped.recompile()
assert bumped(one).item() == 2


# %%
class Shared(nn.Module):
    """A convolution with two calls; a BatchNorm after the first of them."""

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
# **Predict the result.** You fold this BatchNorm into the convolution's own weight. What does the second call of the convolution compute?
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
assert difference(optimization.fuse(shared), shared, plane) > 0.01  # PyTorch's own pass does that

# %% [markdown]
# ## 15.1 Parts that inference does not need
#
# A network is written to be trained. Some of it does nothing once training is over:
#
# | part | in eval mode | why it is there |
# |---|---|---|
# | `nn.Dropout` and its relatives | returns its input | training |
# | `nn.Identity` | returns its input, always | a search, or a layer that was switched off |
# | a call that nobody reads, without an effect | costs time | debugging, a head that is not used |
# | a BatchNorm after a convolution | is a factor and a shift for each channel | training |
#
# How many of them do networks have? An inventory of a trace counts them:

# %%
NOTHING = (nn.Dropout, nn.Identity)
FUNCTIONS = (F.dropout, F.dropout2d)


def module_of(gm: fx.GraphModule, node: fx.Node) -> nn.Module | None:
    """The module that a node calls, or nothing."""
    return gm.get_submodule(node.target) if node.op == "call_module" else None


def inventory(model: nn.Module) -> Counter:
    """How many nodes a trace has, and how many of each kind that inference does not need."""
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
counted = inventory(service)
print(counted)

# %% proof=true
assert counted == Counter(nodes=199, nothing=1, norms=57, unread=0)

# %% [markdown]
# The other team's GoogLeNet has 199 nodes. 58 of them can go: 57 BatchNorms and one dropout.
#
# The second network of the story comes from a search. If the search chose *no layer*, it wrote `nn.Identity()`:


# %%
class Searched(nn.Module):
    """What an architecture search left: an identity wherever it has chosen no layer."""

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
# And the third is the detector. It has a head for two feature maps, and a branch that is no longer needed:


# %%
class Detector(nn.Module):
    """A shared head, and a debugging branch that nobody reads."""

    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Conv2d(4, 4, 1)
        self.scale = nn.BatchNorm2d(4)
        self.probe = nn.Sequential(nn.Conv2d(4, 1, 1), nn.Sigmoid())

    def forward(self, x):
        features = self.body(x)
        heat = self.probe(features)  # was shown on a screen once
        heat.mean()
        fine = torch.relu(self.norm(features))
        return self.scale(self.head(fine)) + self.head(F.dropout(fine, 0.2, self.training))


detector = make_alive(Detector())
print(inventory(detector))

# %% proof=true
assert inventory(detector) == Counter(nodes=13, nothing=1, norms=2, unread=1)

# %% [markdown]
# `unread` is 1, and three calls are dead: nobody reads `heat.mean()`, and nothing else reads its inputs.
# Dead code comes in chains, so it is removed from the last node to the first.

# %% proof=true
gm = fx.symbolic_trace(detector)
gm.graph.eliminate_dead_code()
assert inventory(detector)["nodes"] - len(gm.graph.nodes) == 3

# %% [markdown]
# ## 15.2 Four clean-ups with one shape
#
# Each of the four is a function that takes a `gm`, **changes it, and says whether it did**. That is the `modified` of production code.
# Here is the one for identities:


# %%
def skip_identities(gm: fx.GraphModule) -> bool:
    """Make readers of an identity read its input; say whether there was one."""
    found = [n for n in gm.graph.nodes if isinstance(module_of(gm, n), nn.Identity)]
    for node in found:
        (source,) = node.all_input_nodes  # by position or by keyword
        node.replace_all_uses_with(source)
        gm.graph.erase_node(node)
    return bool(found)


gm = fx.symbolic_trace(searched)
print("changed:", skip_identities(gm), "and again:", skip_identities(gm))
gm.recompile()
print(inventory(gm))

# %% proof=true
assert inventory(gm)["nothing"] == 1
assert_same_results(gm, searched, images(2))
assert not skip_identities(gm)
again = fx.symbolic_trace(gm)
assert [n.target for n in again.graph.nodes] == [n.target for n in gm.graph.nodes]

# %% [markdown]
# You have written the other three: `remove_dropout` in chapter 3, `sound_dce` in chapter 3b, `fuse_conv_bn` in chapter 10.
# There each of them took a model and traced it. For a pipeline you give each the shape above.
# (Passes that trace can be composed, too: a trace of a `GraphModule` is nearly the same graph. They only do more work.)
#
# **Predict the result.** `skip_identities(gm)` has run. `gm.recompile()` has not. What does `gm(images)` compute?
#
# <details><summary>What the old graph computes, because the code is the old one.</summary>
#
# Right. A pipeline recompiles once, at its end. Do not call the module before that.
# </details>
# <details><summary>What the new graph computes.</summary>
#
# No. <code>gm.forward</code> is code that was made from the graph earlier.
# </details>
# <details><summary>It raises an error.</summary>
#
# No. The old code is valid, and the modules that it calls are still there.
# </details>

# %% proof=true
gm = fx.symbolic_trace(searched)
skip_identities(gm)
assert "stem_1" in gm.code and "stem_1" not in str(gm.graph)

# %% [markdown]
# ## 15.3 One makes room for the other
#
# Now run them one after another. PyTorch has passes for three of the four, so you can try orders without your answers:


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
print(
    "fuse first:",
    inventory(first)["norms"],
    "BatchNorm is left; dropouts first:",
    inventory(second)["norms"],
)

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


held = make_alive(DeadReader(), plane)
draw(held)

# %% [markdown]
# **Predict the result.** In which order is this pair fused?
#
# <details><summary>First fuse, then remove dead code.</summary>
#
# No. While the second reader is there, the convolution has two users, and every careful pass leaves it alone.
# </details>
# <details><summary>First remove dead code, then fuse.</summary>
#
# Right. A dead reader is a reader until it is erased.
# </details>
# <details><summary>In either: a dead reader does not count.</summary>
#
# No. <code>len(node.users)</code> counts nodes, dead ones too.
# </details>

# %% proof=true
first = in_order(held, optimization.fuse, no_dead_code)
second = in_order(held, no_dead_code, optimization.fuse)
assert (inventory(first)["norms"], inventory(second)["norms"]) == (1, 0)

# %% [markdown]
# So: dropouts and identities, then dead code, then pairs? For these clean-ups, that order is enough if each of them does all of its work in one run. Do not rely on it, for two reasons.
#
# **A pass can make room for itself.** Two BatchNorms in a row: the second meets the convolution when the first is gone.
# A function that first *lists* the pairs and then fuses them does not see the second.


# %%
def pairs(gm: fx.GraphModule) -> list[tuple[fx.Node, fx.Node]]:
    """Each convolution with the BatchNorm that alone reads it."""
    return [
        (node.args[0], node)
        for node in gm.graph.nodes
        if isinstance(module_of(gm, node), nn.BatchNorm2d)
        and isinstance(module_of(gm, node.args[0]), nn.Conv2d)
        and len(node.args[0].users) == 1
    ]


twice = sequence(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2), nn.BatchNorm2d(2))
gm = fx.symbolic_trace(twice)
conv, norm = pairs(gm)[0]
print("a pair:", conv, norm)
norm.replace_all_uses_with(conv)  # as after a fusion
gm.graph.erase_node(norm)
print("and now:", pairs(gm))

# %% proof=true
assert len(pairs(gm)) == len(pairs(fx.symbolic_trace(twice))) == 1

# %% [markdown]
# **The list of passes grows.** The next colleague adds a fifth, and then you have to think about twenty pairs of passes again.
#
# A loop needs no order: run all of them, round after round, **until a round changes nothing**.
# The result is called a *fixed point*: one more run would change nothing.
#
# Does such a loop end? Each of the four makes the graph smaller whenever it changes it: an erased node never comes back.
# So there are at most as many rounds as nodes. A pass that adds nodes needs another argument, and a limit on the rounds if you have none.
#
# Here is the same on arithmetic. Three rules, each of them trivial: `x * 1` is `x`, `x + 0` is `x`, and `-(-x)` is `x`.


# %%
def drop(gm: fx.GraphModule, what: Callable, number: float) -> bool:
    """Removes calls of an operator with a number that changes nothing."""
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
    """The first `-(-x)` that it finds becomes `x`."""
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
    """Runs all passes until a round changes nothing; returns the number of rounds."""
    rounds, modified = 0, True
    while modified:
        modified = False
        rounds += 1
        for one in passes:
            modified = one(gm) or modified  # in this order: each pass runs in each round
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
# The negations meet only when ones and zeros between them are gone, so one round is not enough. The last round finds nothing, and ends the loop.
#
# **Predict the result.** A colleague writes `modified = modified or one(gm)` instead of `modified = one(gm) or modified`. What happens?
#
# <details><summary>Nothing: <code>or</code> is symmetric.</summary>
#
# No. <code>or</code> does not look at its right side when the left one is true.
# </details>
# <details><summary>Once a pass has changed something, the others do not run in this round. The result is the same, after more rounds.</summary>
#
# Right. It still ends at a fixed point. It only takes longer, and no result shows why.
# </details>
# <details><summary>The loop never ends.</summary>
#
# No. A round in which no pass changes anything still ends it.
# </details>


# %% proof=true
def lazily(gm: fx.GraphModule, *passes: Callable) -> int:
    number, modified = 0, True
    while modified:
        modified = False
        number += 1
        for each in passes:
            modified = modified or each(gm)
    gm.recompile()
    return number


lazy = fx.symbolic_trace(tangled)
assert lazily(lazy, drop_double_neg, drop_ones, drop_zeros) > rounds
assert len(lazy.graph.nodes) == 3

# %% [markdown]
# ### What a pipeline promises
#
# Before you write it, decide how you would find out that it is wrong. You can ask four questions about any pipeline, without knowing what is inside:
#
# 1. **Does the result compute the same?** On inputs of more than one shape, for everything that is returned, and with statistics that are not fresh.
# 2. **Is the caller's model unchanged?** Its parameters, its modes, and the modules that it holds.
# 3. **Is there nothing left to do?** A second run gives a graph of the same length.
# 4. **Can the next tool use the result?** It can be copied and traced, and the copy computes the same.
#
# Here they are as one function, for one shape. It is used on PyTorch's `fuse`, alone and before a pass for dropouts:


# %%
def promises(optimizer: Callable, model: nn.Module, *inputs: torch.Tensor) -> dict[str, bool]:
    """Which of the four promises an optimizer keeps, on one model and one input."""

    def modules() -> dict:
        return {name: (module, module.training) for name, module in model.named_modules()}

    tensors = {name: value.clone() for name, value in model.state_dict().items()}
    before = modules()
    result = optimizer(model)
    now = model.state_dict()
    copied = copy.deepcopy(result)
    return {
        "same result": difference(result, model, *inputs) < 1e-3,
        "model unchanged": modules() == before
        and all(torch.equal(tensors[name], now[name]) for name in tensors),
        "nothing left": inventory(result)["nodes"] == inventory(optimizer(result))["nodes"],
        "usable": difference(copied, result, *inputs) == 0,
    }


kept = promises(optimization.fuse, shared, plane)
once = promises(lambda model: no_dropout(optimization.fuse(model)), parted, plane)
print("fuse, shared:              ", kept)
print("fuse, then dropout, parted:", once)

# %% proof=true
assert [name for name, holds in kept.items() if not holds] == ["same result"]
assert [name for name, holds in once.items() if not holds] == ["nothing left"]
changes_modes = promises(lambda model: fx.symbolic_trace(model.train()), copy.deepcopy(held), plane)
assert not changes_modes["model unchanged"]

# %% [markdown]
# In the second line, all values are right, and a second run would still find something.
#
# ### When not to optimize
#
# An optimized network cannot be trained further: its BatchNorms are gone, and with them their statistics.
# So the order at work is: train, save, *then* optimize the copy that is deployed, and keep the checkpoint. `optimize` never changes the model that it is given.
#
# A BatchNorm that trains uses each batch's own statistics, and no convolution can do that. So the exercise asks for models that are wholly in eval mode:

# %%
training = copy.deepcopy(twice).train()
with torch.no_grad():
    for name, model in (("training", training), ("eval", twice)):
        change = (model(plane + 1) - model(plane)).abs().max()
        print(f"{name:8}: with 1 added to the batch, the result changes by {change:.4f}")

# %% proof=true
with torch.no_grad():
    torch.testing.assert_close(training(plane), training(plane + 1), rtol=1e-3, atol=1e-3)
assert change > 0.01

# %% [markdown] card="optimize"
# **Write** `optimize`: a pass for convolutional networks that are wholly in eval mode. It returns a graph module with
#
# * **no dropout**, as a module or as a function, with all relatives (as in [`remove_dropout`](03_manipulation.ipynb)), and no `nn.Identity`;
# * **no dead call**: what [`sound_dce`](03b_effects.ipynb) removes is gone. Calls with an effect stay;
# * **no pair** that `fuse_conv_bn` would fuse, even if the two meet only when something else is gone;
# * nothing left to do: a second run changes nothing.
#
# Everything else stays. The result computes what the model computes while every dropout does nothing.
#
# **Do not** change the model that you are given.
#
# **Fine print**
#
# * Calls with an effect are, for example, those of a name that ends in a single `_`. Names with two underscores, such as `__contains__`, are not tried.
# * Pairs count, too, that lose their second reader by another clean-up.
# * Modules that nothing calls or reads any more are gone.
# * Fair game: convolutions that are called twice, weights that are read, calls by keyword, nested layers, names that are taken, dropouts that are returned, and a model of nothing but identities.


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
    """A pass: dropouts, identities and dead code are gone, and pairs are fused."""
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
for name, network in {"GoogLeNet": service, "searched": searched, "detector": detector}.items():
    result = optimize(network)
    again = optimize(result)
    print(f"{name:10} {inventory(network)['nodes']:4} nodes, now {inventory(result)['nodes']}")
    found = inventory(result)
    assert (found["nothing"], found["norms"], found["unread"]) == (0, 0, 0)
    assert len(again.graph.nodes) == len(result.graph.nodes)
    assert_same_results(result, network, batch)

# %% [markdown]
# All three are done by one function, and a second run changes nothing. The detector's head is still called twice: once it is folded, and once it is not.

# %% uses="optimize"
draw.diff(fx.symbolic_trace(detector), optimize(detector))

# %% [markdown]
# ## 15.5 Compared with PyTorch's own
#
# `torch.fx.experimental.optimization.fuse` is what most people find first. Where is your function better, and where is it the same?
# Here are twelve networks of torchvision, with random weights. This takes about half a minute:

# %% uses="optimize"
NETWORKS = (
    "densenet121 efficientnet_b0 googlenet mnasnet1_0 mobilenet_v2 mobilenet_v3_small "
    "regnet_x_400mf regnet_y_400mf resnet18 resnet34 shufflenet_v2_x1_0 squeezenet1_0"
).split()


def network(name: str) -> nn.Module:
    with warnings.catch_warnings(action="ignore"):
        return make_alive(torchvision.models.get_model(name, weights=None, num_classes=10))


small = images(1)[..., :32]  # not square: a height taken for a width is seen
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

# %% proof=true
for _, mine, theirs in rows.values():
    assert mine["nodes"] == theirs["nodes"] - theirs["nothing"]
    assert mine["norms"] == theirs["norms"]
dense = fx.symbolic_trace(torchvision.models.densenet121(weights=None).eval())
read = [n.args[0] for n in dense.graph.nodes if isinstance(module_of(dense, n), nn.BatchNorm2d)]
alone = [node for node in read if not isinstance(module_of(dense, node), nn.Conv2d)]
assert len(read) == 121 and len(alone) == rows["densenet121"][1]["norms"] == 62

# %% [markdown]
# Both are right on all twelve. In each row your graph has as many nodes as theirs, **minus the dropouts**: `fuse` leaves them.
# That is the only difference here, and it costs nothing at run time, because a dropout in eval mode returns its input.
#
# DenseNet keeps 62 of its 121 BatchNorms in both. They do not read a convolution, so they have none to be folded into.

# %% [markdown]
# So was it worth the trouble? Not for these twelve. It was for networks that are *not* in a library:

# %% uses="optimize"
print(f"{'':12}{'optimize':>24}{'fuse':>24}")
for name, model, given in (
    ("shared", shared, plane),
    ("parted", parted, plane),
    ("dead reader", held, plane),
    ("searched", searched, small),
    ("detector", detector, small),
):
    cells = []
    for one in (optimize(model), optimization.fuse(model)):
        wrong = difference(one, model, given)
        says = "right" if wrong < 1e-3 else f"wrong by {wrong:.0%}"
        cells.append(f"{says}, {len(fx.symbolic_trace(one).graph.nodes)} nodes")
    print(f"{name:12}{cells[0]:>24}{cells[1]:>24}")

# %% proof=true
for model, given in (
    (shared, plane),
    (parted, plane),
    (held, plane),
    (searched, small),
    (detector, small),
):
    assert difference(optimize(model), model, given) < 1e-3
    is_wrong = difference(optimization.fuse(model), model, given) > 0.01
    assert is_wrong == (model is shared or model is detector)

# %% [markdown]
# On two of the five, PyTorch's `fuse` returns wrong numbers without a message. On the other three it is right and leaves something to do.

# %% [markdown]
# ## 15.6 Nodes, parameters, latency
#
# The last picture shows how many nodes and parameters are left, and how long a call takes, after `optimize` and after `fuse`. All are ratios to the model before.
# Times are medians, measured in turn (chapter 10).
#
# First one number for `torch.compile`. Its compiler, Inductor, fuses operations as it generates code. It has a pass that folds BatchNorms, but runs it only with its option *freezing*.
# It needs a C++ compiler. If there is none, or it does not work, the cell takes the backend `"aot_eager"`, which compiles nothing: then you see the cost of capture alone.


# %%
def compiled(model: nn.Module, example: torch.Tensor) -> tuple[str, Callable]:
    """The model under `torch.compile`, and the backend that works on this machine."""
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
    """The median seconds of a call of each model, measured in turn."""
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
assert_same_results(fast, searched, small)
before, after = latencies(small, searched, fast)
print(f"backend {backend!r}: a call takes {after / before:.2f} times as long as the model")

# %% [markdown]
# **Predict the result.** You fuse all 57 pairs of GoogLeNet. What happens to the number of its parameters?
#
# <details><summary>It stays: the numbers go into the convolutions.</summary>
#
# No. A BatchNorm has a weight and a bias for each channel. They are folded into numbers that are there already.
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
theirs = optimization.fuse(service)
saved = parameters(service) - parameters(theirs)
assert saved == sum(m.num_features for m in service.modules() if isinstance(m, nn.BatchNorm2d))
assert 0 < saved / parameters(service) < 0.01

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
# Blue is your function, gray is `fuse`. Nodes fall a lot, parameters hardly at all, and the time of a call by as much as your machine's BatchNorms have cost.
# The figure differs from machine to machine, and from run to run.
#
# ## Common mistakes
#
# ### A fixed order, each pass once

# %%
stacked = sequence(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2), nn.Dropout(0.5), nn.BatchNorm2d(2))
once = in_order(stacked, optimization.fuse, no_dropout)
again = in_order(once, optimization.fuse, no_dropout)
print("norms left:", inventory(once)["norms"], "and after a second run:", inventory(again)["norms"])

# %% proof=true
assert inventory(once)["norms"] == 1  # a second run finds more
assert inventory(again)["norms"] == 0

# %% [markdown]
# **Right:** a loop to a fixed point. Then a second run has nothing to do.
#
# ### Numbers that are compared at one place only
#
# A shared head is right at its first call. A comparison of that output alone does not show what `fuse` has done.


# %%
class TwoMaps(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, fine, coarse):
        return self.bn(self.head(fine)), self.head(coarse)


maps = make_alive(TwoMaps(), plane, plane)
with torch.no_grad():
    want, got = maps(plane, plane), optimization.fuse(maps)(plane, plane)
for number in (0, 1):
    print(f"output {number} differs by", (got[number] - want[number]).abs().max().item())

# %% proof=true
torch.testing.assert_close(got[0], want[0], rtol=1e-3, atol=1e-3)
with fails(AssertionError):
    torch.testing.assert_close(got[1], want[1], rtol=1e-3, atol=1e-3)

# %% [markdown]
# **Right:** compare everything that the model returns, and what it does to its arguments.
#
# ### Modules that nobody calls
#
# Erasing a node does not remove its module. The module is saved, counted and moved to the GPU with the rest.

# %%
gm = fx.symbolic_trace(searched)
skip_identities(gm)
gm.recompile()
print("nothing calls it:", gm.get_submodule("skip"))
gm.delete_all_unused_submodules()
with fails(AttributeError):
    gm.get_submodule("skip")

# %% [markdown]
# **Right:** `gm.delete_all_unused_submodules()` once, at the end.

# %% [markdown]
# ## Recap
#
# 1. Inference does not need dropouts, identities, dead calls, and BatchNorms after convolutions.
# 2. Each clean-up takes a `gm`, changes it, and says whether it did.
# 3. One makes room for another, and sometimes for itself. A loop to a fixed point needs no order.
# 4. It ends because each change makes the graph smaller.
# 5. On networks of a library `fuse` is as good. On shared layers it is wrong, and it leaves dropouts, identities and dead code.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `node.all_input_nodes` | the nodes that a call reads, by keyword, too |
# | `node.replace_all_uses_with(source)` | all readers read `source` from now on |
# | `gm.graph.erase_node(node)` | removes a node that nobody reads |
# | `gm.delete_all_unused_submodules()` | removes modules that no node calls or reads |
# | `gm.recompile()` | generates the code again, once, at the end |
# | `torch.fx.experimental.optimization.fuse(model)` | folds all pairs; wrong on shared layers |
# | `torch.fx.experimental.optimization.remove_dropout(model)` | removes calls of `nn.Dropout`; not its relatives |
# | `torch.nn.utils.fusion.fuse_conv_bn_eval(conv, bn)` | folds two layers in eval mode |
# | `torch.compile(model, backend=...)` | captures the model when it is called, and passes it to a backend |
#
# See how far you are:

# %%
progress()

# %% proof=true
relative = sequence(nn.Dropout2d(0.5), nn.Conv2d(2, 2, 1))
left = inventory(optimization.remove_dropout(relative))["nodes"]
assert left == inventory(relative)["nodes"]  # an nn.Dropout2d is not removed

# %% [markdown]
# ## Your own model
#
# The last cell is yours. Replace `mine_to_try` by a convolutional network of your own, with inputs for it.

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
# | what a call may do besides returning a value | section 3b.2 |
# | linear layers side by side, which become one | the deep dive 10b |
# | what `torch.compile` captures, and its backends | chapter 11 |
# | transposed convolutions | the last cell of chapter 10 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), and
# [Building a Convolution/Batch Norm fuser with torch.compile](https://docs.pytorch.org/tutorials/intermediate/torch_compile_conv_bn_fuser.html).
