# %% [markdown]
# # 10 · Fusion, measured
#
# **After this chapter you can fold every BatchNorm of a network into the convolution before it, say when that is wrong, and measure what you gain.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, the six kinds of node, editing a graph; section 4b.2 for modules found by type |
# | **Time** | about 120 minutes, 54 of them for the exercises; sections 10.1 and 10.2 are a good first sitting (50 minutes) |
#
# **When you are done, you can**
#
# 1. derive the weight and the bias of a folded layer, with their shapes;
# 2. name the settings, dtypes and modes in which folding goes wrong;
# 3. find Conv-BatchNorm pairs by type, and replace each call of a pair without harm to other calls;
# 4. show with an example that PyTorch's own `fuse` is wrong on a shared convolution;
# 5. measure two models against each other, and say what makes a measurement worthless;
# 6. compare numbers of a paper with your own, and say what they count.

# %% [markdown]
# ## A story
#
# The other team's GoogLeNet classifies images in a web service. It has 57 convolutions, and a BatchNorm after each of them.
# In eval mode a BatchNorm multiplies by a number and adds a number, for each channel. A convolution does that, too.
# So the convolution could do the work of both.
#
# A colleague says: *PyTorch has a function for it, `torch.fx.experimental.optimization.fuse`*. It works on GoogLeNet.
# A week later the same call runs on a detector, which uses its head in two places. The boxes are wrong, and there is no error message.
#
# In this chapter you find out what went wrong, write the pass yourself, and measure what it gains.

# %%
import copy
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import matplotlib.pyplot as plt
import torch
from IPython.display import display
from torch import fx, nn
from torch.fx.experimental import optimization
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torchvision.models import googlenet, resnet18, resnet50

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(10)
print(torch.__version__)

# %% [markdown]
# Two questions about earlier chapters first.
#
# **Predict the result.** A pass deletes every BatchNorm of a **new** model in eval mode. A test compares the results with a tolerance of 0.001. Does it fail?
#
# <details><summary>Yes: a whole layer is gone.</summary>
#
# No. The layer computed nearly nothing.
# </details>
# <details><summary>No: a new BatchNorm is nearly the identity.</summary>
#
# Right. It has mean 0, variance 1, weight 1 and bias 0 (section 4.6). So this chapter draws statistics with <code>make_alive</code> before it compares.
# </details>
# <details><summary>Yes, because of <code>eps</code>.</summary>
#
# No. The default <code>eps</code> of 0.00001 changes the sixth digit.
# </details>

# %% proof=true
new_norm, example = nn.BatchNorm2d(3).eval(), torch.randn(2, 3, 4, 4)
torch.testing.assert_close(new_norm(example), example, rtol=1e-3, atol=1e-3)
assert not torch.equal(new_norm(example), example)

# %% [markdown]
# **Predict the result.** A module is called in two places of a model. What does `len(node.users)` of the first call's node count?
#
# <details><summary>The readers of both calls.</summary>
#
# No. Users belong to a node, and a node is one call. Another call is another node with the same target.
# </details>
# <details><summary>The distinct nodes that read the value of this call.</summary>
#
# Right. To find out how often a <em>module</em> is called, you have to count the nodes with its target.
# </details>
# <details><summary>How often the module is called.</summary>
#
# No. A node does not know of other calls of its target.
# </details>

# %% proof=true
act = nn.ReLU()
act_calls = fx.symbolic_trace(nn.Sequential(act, act)).graph.find_nodes(
    op="call_module", target="0"
)
assert [len(call.users) for call in act_calls] == [1, 1]

# %% [markdown]
# ## 10.1 The algebra
#
# In eval mode, a BatchNorm uses the statistics that it has collected. For channel `c` it computes
#
# ```text
# bn(z)[c] = (z[c] - mean[c]) / sqrt(var[c] + eps) * gamma[c] + beta[c]
# ```
#
# In PyTorch, `mean` is `bn.running_mean`, `var` is `bn.running_var`, `gamma` is `bn.weight`, and `beta` is `bn.bias`.
# All four have one number for each channel. With `factor = gamma / sqrt(var + eps)` this is
#
# ```text
# bn(z)[c] = factor[c] * z[c] + (beta[c] - mean[c] * factor[c])
# ```
#
# Now let `z` be the result of a linear layer, `z[c] = weight[c] · x + bias[c]`. Insert it, and collect what is multiplied by `x`:
#
# ```text
# new_weight[c] = factor[c] * weight[c]
# new_bias[c]   = (bias[c] - mean[c]) * factor[c] + beta[c]
# ```
#
# Only rounding differs. Here it is for `nn.Linear` and `nn.BatchNorm1d`:


# %%
def fold_into_linear(linear: nn.Linear, bn: nn.BatchNorm1d) -> nn.Linear:
    """One linear layer that does what the two do in eval mode."""
    new = copy.deepcopy(linear).eval()
    with torch.no_grad():
        mean, var, gamma, beta = bn.running_mean, bn.running_var, bn.weight, bn.bias
        factor = gamma / torch.sqrt(var + bn.eps)
        new.weight = nn.Parameter(linear.weight * factor.reshape(-1, 1))
        new.bias = nn.Parameter((linear.bias - mean) * factor + beta)
    return new


x = torch.randn(4, 5)
pair = make_alive(nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3)), x)
torch.testing.assert_close(fold_into_linear(*pair)(x), pair(x))
print(pair[0].weight.shape, "times", (3, 1), "is", fold_into_linear(*pair).weight.shape)

# %% [markdown]
# **Drill 10.1a.** A layer has one channel, the weight 3 and the bias 1. The BatchNorm has `gamma = 4`, `beta = 5`, `mean = 2`, `var = 3` and `eps = 1`.
# Compute the weight and the bias of the folded layer. Write a list of these two numbers.

# %% drill=true
factor = 4 / (3 + 1) ** 0.5
weight_and_bias = [factor * 3, (1 - 2) * factor + 5]
drill("10.1a", weight_and_bias)
# Mistake: The old bias goes through the BatchNorm, too.
# factor = 4 / (3 + 1) ** 0.5
# weight_and_bias = [factor * 3, 1 - 2 * factor + 5]

# %% [markdown]
# For a convolution the formulas are the same. Only the shape of the weight differs, and with it the shape of the factor:
#
# | layer | shape of the weight | shape of the factor |
# |---|---|---|
# | nn.Linear | (out, in) | (out, 1) |
# | nn.Conv1d | (out, in / groups, k) | (out, 1, 1) |
# | nn.Conv2d | (out, in / groups, k, k) | (out, 1, 1, 1) |
# | nn.Conv3d | (out, in / groups, k, k, k) | (out, 1, 1, 1, 1) |
# | nn.ConvTranspose2d | (in, out / groups, k, k) | drill 10.1b |
#
# Groups, stride, dilation and padding do not appear in the formulas: the output of channel `c` is a sum of products with
# `weight[c]`, whatever is summed. So they stay as they are.
#
# **Drill 10.1b.** A BatchNorm comes after `nn.ConvTranspose2d(3, 4, 2)`. Which shape must the factor have, to be multiplied by this weight? Write a tuple.

# %% drill=true
shape_of_factor = (1, 4, 1, 1)
drill("10.1b", shape_of_factor)
# Mistake: A factor belongs to an output channel, and the table says where this weight has them.
# shape_of_factor = (4, 1, 1, 1)

# %% proof=true
small_image = torch.randn(1, 3, 4, 4)
upwards = make_alive(nn.Sequential(nn.ConvTranspose2d(3, 4, 2), nn.BatchNorm2d(4)), small_image)
assert upwards[0].weight.shape == (3, 4, 2, 2)
assert_same_results(fuse_conv_bn_eval(*upwards, transpose=True), upwards, small_image)

# %% [markdown]
# **Predict the result.** A convolution with `padding=1` reads zeros outside of the image. Does the folded one give the same at the border?
#
# <details><summary>Yes: zeros are padded before the convolution, and the BatchNorm comes after it.</summary>
#
# Right. The folded convolution sees the same padded input. A BatchNorm <em>before</em> a convolution is different: its beta would have to be padded, and not zero.
# </details>
# <details><summary>No: the bias is added to the padding, too.</summary>
#
# No. The bias is added to the result, after the padded input was summed.
# </details>
# <details><summary>Only for <code>padding_mode="zeros"</code>.</summary>
#
# No. Every padding mode changes the input only, and both convolutions read the same one.
# </details>

# %% proof=true
image = torch.randn(2, 3, 4, 4)
padded = make_alive(nn.Sequential(nn.Conv2d(3, 2, 3, padding=1), nn.BatchNorm2d(2)), image)
torch.testing.assert_close(fuse_conv_bn_eval(*padded)(image), padded(image), rtol=1e-4, atol=1e-4)

# The other order: what is folded into the next convolution is wrong at the border, and only there.
norm, conv = make_alive(nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 2, 3, padding=1)), image)
scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
shift = norm.bias - norm.running_mean * scale
other = copy.deepcopy(conv)
with torch.no_grad():
    other.weight.mul_(scale.reshape(1, -1, 1, 1))
    other.bias.add_((conv.weight * shift.reshape(1, -1, 1, 1)).sum((1, 2, 3)))
    error = (other(image) - conv(norm(image))).abs()
assert error[..., 1:-1, 1:-1].max() < 1e-3 < error.max()

# %% [markdown]
# ### What a BatchNorm may lack
#
# | how it was made | what is `None` | what to do |
# |---|---|---|
# | `nn.BatchNorm2d(3)` | nothing | the formulas |
# | `affine=False` | `weight` and `bias` | gamma is 1, beta is 0 |
# | `bias=False` | `bias` | beta is 0 |
# | `track_running_stats=False` | `running_mean`, `running_var` | nothing can be folded: it uses the statistics of each batch, even in eval mode |

# %% proof=true
rows = {
    "affine=False": nn.BatchNorm2d(3, affine=False),
    "bias=False": nn.BatchNorm2d(3, bias=False),
    "track_running_stats=False": nn.BatchNorm2d(3, track_running_stats=False),
}
parts = ("weight", "bias", "running_mean", "running_var")
assert [[part for part in parts if getattr(bn, part) is None] for bn in rows.values()] == [
    ["weight", "bias"],
    ["bias"],
    ["running_mean", "running_var"],
]

# %% [markdown]
# ### Precision
#
# A network in `float16` has weights with three digits, and each step of the formulas rounds again.
# So compute in a wider type, and round once, at the end. Sometimes much depends on it:
# a channel that is always zero has the variance 0, and an `eps` of `1e-8` is 0 in `float16`.

# %%
dead = nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1, eps=1e-8)).eval().half()
with torch.no_grad():
    dead[1].running_var.zero_()
    print("PyTorch's helper:", fuse_conv_bn_eval(*dead).weight.item())
    wide = (dead[1].running_var.double() + dead[1].eps).rsqrt().item()
print("the factor in float64:", wide)

# %% proof=true
assert torch.tensor(1e-8, dtype=torch.float16) == 0
assert torch.finfo(torch.float16).resolution == 1e-3  # three digits
assert fuse_conv_bn_eval(*dead).weight.isinf().all() and round(wide) == 10_000

# %% [markdown] card="fold_bn"
# **Given** a convolution (`nn.Conv1d`, `nn.Conv2d` or `nn.Conv3d`) and a BatchNorm.
#
# **Return** a *new* convolution of the same class, in eval mode, that gives `bn(conv(x))` as both layers give it in eval mode.
#
# * Groups, stride, dilation, padding (numbers, `'same'`, `'valid'`) and every padding mode can occur, with or without a bias.
# * The BatchNorm may have `affine=False`, and any `eps`.
# * Raise a `ValueError` if the BatchNorm has no running statistics, or if its number of channels does not fit the convolution.
#
# **Do not** change either argument, or its mode: both may be in training mode when you get them.
#
# **Fine print**
#
# * The dtype of the parameters is kept. In `float64` the result is compared tightly, in `float32` to 1e-4. `float16` and `bfloat16` are tried, too, even with a channel whose variance is 0.
# * Whether the new parameters require gradients is up to you.


# %%
class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.bn = nn.BatchNorm2d(8)

    def forward(self, x):
        return self.bn(self.conv(x))


class After(nn.Module):
    def __init__(self):
        super().__init__()
        self.folded = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return self.folded(x)


display(draw(Before(), title="the two layers that fold_bn is given"))
draw(After(), title="the one that it returns")


# %% solve="fold_bn"
def fold_bn(conv: nn.Module, bn: nn.Module) -> nn.Module:
    """Return a new convolution that does what `conv` and then `bn` do in eval mode."""
    ### BEGIN SOLUTION
    if bn.running_mean is None or bn.running_var is None:
        raise ValueError("a BatchNorm without running statistics cannot be folded")
    if conv.out_channels != bn.num_features:
        raise ValueError(f"{conv.out_channels} channels, and a BatchNorm for {bn.num_features}")
    new = copy.deepcopy(conv).eval()
    with torch.no_grad():
        factor = (bn.running_var.double() + bn.eps).rsqrt()
        if bn.weight is not None:
            factor = factor * bn.weight.double()
        bias = -bn.running_mean.double() * factor
        if conv.bias is not None:
            bias = bias + conv.bias.double() * factor
        if bn.bias is not None:
            bias = bias + bn.bias.double()
        shape = [-1] + [1] * (conv.weight.dim() - 1)
        weight = conv.weight.double() * factor.reshape(shape)
        # Everything is computed in float64, and rounded once.
        new.weight = nn.Parameter(weight.to(conv.weight.dtype))
        new.bias = nn.Parameter(bias.to(conv.weight.dtype))
    return new
    ### END SOLUTION


# %% check="fold_bn"
check(fold_bn)

# %% hint="fold_bn"
hint("fold_bn")

# %% [markdown]
# ## 10.2 Twenty-one ways to be wrong
#
# The algebra is the small part. Here is a first attempt at a pass. It is right on a flat model:


# %%
def first_fuse(model: nn.Module) -> fx.GraphModule:
    """A first attempt: fuses each Conv2d with the BatchNorm2d after it."""
    gm = fx.symbolic_trace(model)
    modules = dict(gm.named_modules())
    for node in gm.graph.nodes:
        if node.op != "call_module" or not isinstance(modules[node.target], nn.Conv2d):
            continue
        after = node.next
        if after.op != "call_module" or not isinstance(modules[after.target], nn.BatchNorm2d):
            continue
        conv, bn = modules[node.target], modules[after.target]
        new = nn.Conv2d(
            conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride, conv.padding
        )
        factor = bn.weight / torch.sqrt(bn.running_var + bn.eps)
        bias = conv.bias if conv.bias is not None else torch.zeros(conv.out_channels)
        new.weight.data = conv.weight * factor.reshape(-1, 1, 1, 1)
        new.bias.data = (bias - bn.running_mean) * factor + bn.bias
        setattr(gm, node.target, new)
        after.replace_all_uses_with(node)
        gm.graph.erase_node(after)
    gm.recompile()
    return gm


# %% [markdown]
# **Drill 10.2a.** Read how `first_fuse` makes the new convolution. Which settings of the old one does it lose?
# Choose from `stride`, `padding`, `dilation`, `groups`, `padding_mode`, and write a list of strings in this order.

# %% drill=true
lost = ["dilation", "groups", "padding_mode"]
drill("10.2a", lost)
# Mistake: Compare with all that `nn.Conv2d` takes.
# lost = ["dilation", "groups"]

# %% proof=true
unusual = {"stride": 2, "padding": 2, "dilation": 2, "groups": 2, "padding_mode": "circular"}
old_pair = nn.Sequential(nn.Conv2d(4, 4, 3, **unusual), nn.BatchNorm2d(4)).eval()
new_conv = first_fuse(old_pair).get_submodule("0")
assert [name for name in unusual if getattr(new_conv, name) != getattr(old_pair[0], name)] == [
    *("dilation", "groups", "padding_mode")
]

# %% [markdown]
# Here are 21 small models: each is an edge case that real networks have.


# %%
class Pair(nn.Module):
    """One convolution, one BatchNorm, and what `use` does with them."""

    def __init__(self, use: Callable[..., Any] | None = None, norm: Any = None, **settings: Any):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, **{"padding": 1, **settings})
        self.bn = nn.BatchNorm2d(4, **(norm or {}))
        self.use = use or (lambda self, x: self.bn(self.conv(x)))

    def forward(self, x):
        return self.use(self, x)


class Nested(nn.Module):
    def __init__(self, *layers: nn.Module):
        super().__init__()
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        return self.block(x)


def writes(self, x):
    x = x + 0
    y = self.conv(x)
    x.add_(1)
    return self.bn(y) + x


def trains(model: nn.Module) -> nn.Module:
    model.bn.train()
    return model


def aliased() -> nn.Module:
    model = Pair(lambda self, x: self.again(self.bn(self.conv(x))))
    model.again = model.conv
    return model


planes = torch.randn(2, 4, 6, 6)


def edge_cases() -> dict[str, nn.Module]:
    """The models, new ones each time."""
    made = {
        "flat": Pair(),
        "no bias": Pair(bias=False),
        "padding 'same'": Pair(padding="same"),
        "nested": Nested(nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)),
        "two pairs": Nested(
            nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)
        ),
        "groups": Pair(groups=2),
        "dilation": Pair(dilation=2),
        "reflected padding": Pair(padding_mode="reflect"),
        "affine=False": Pair(norm={"affine": False}),
        "bias=False in the norm": Pair(norm={"bias": False}),
        "a large eps": Pair(norm={"eps": 0.5}),
        "no statistics": Pair(norm={"track_running_stats": False}),
        "a norm that trains": Pair(),
        "bfloat16": Pair(),
        "keywords": Pair(lambda self, x: self.bn(input=self.conv(input=x))),
        "two readers": Pair(lambda self, x: self.bn(y := self.conv(x)) * y),
        "called twice": Pair(lambda self, x: self.conv(self.bn(self.conv(x)))),
        "two names": aliased(),
        "a weight that is read": Pair(
            lambda self, x: self.bn(self.conv(x)) * self.conv.weight.sum()
        ),
        "an input that is changed": Pair(writes),
        "transposed": Nested(nn.ConvTranspose2d(4, 4, 2), nn.BatchNorm2d(4)),
    }
    for name, model in made.items():
        make_alive(model, planes)
        if name == "a norm that trains":
            trains(model)
        if name == "bfloat16":
            model.bfloat16()
    return made


def verdict(fuse: Callable[[nn.Module], nn.Module], model: nn.Module) -> str:
    """`right`, or what is wrong: an exception, a shape, or a number."""
    dtype = next(model.parameters()).dtype
    given, tolerance = planes.to(dtype), 0.3 if dtype == torch.bfloat16 else 1e-3
    with torch.no_grad():
        want = model(given)
        try:
            got = fuse(model)(given)
        except Exception as error:
            return type(error).__name__
        if got.shape != want.shape:
            return "wrong shape"
        worst = ((got - want).abs() / (1 + want.abs())).max().item()
    return "right" if worst < tolerance else f"wrong by {worst:.1f}"


table = {name: [] for name in edge_cases()}
for fuse in (first_fuse, optimization.fuse):
    for name, model in edge_cases().items():
        table[name].append(verdict(fuse, model))
print(f"{'':26}{'first attempt':22}PyTorch's own")
for name, (first, own) in table.items():
    print(f"{name:26}{first:22}{own}")

# %% proof=true
failed = [{name for name, row in table.items() if row[i] != "right"} for i in (0, 1)]
assert len(table) == 21 and len(failed[0]) == 13 and table["nested"][0].startswith("wrong by")
assert {name for name, row in table.items() if row[0] == "TypeError"} == {
    *("affine=False", "bias=False in the norm", "no statistics")
}
silent = {"called twice", "two names", "a weight that is read"}
assert failed[1] == silent | {"a norm that trains"}
assert table["a norm that trains"][1] == "AssertionError"
assert all(table[name][1].startswith("wrong by") for name in silent)

# %% [markdown]
# The first attempt fails 13 times, for four reasons:
#
# * it builds a new convolution instead of copying the old one, so settings are lost;
# * it computes with a weight, a bias or a mean that is `None`;
# * a name has a dot: `setattr(gm, "block.0", new)` does not go into `block`;
# * it never checks the mode, or who else reads the value or calls the module.
#
# PyTorch's own function fails four times. It copies the model first, and it checks types, readers and statistics, but not the mode: a norm that trains
# is an `AssertionError`. The other three are wrong without an error: **one module is called twice**, under one name or two, or its weight is read elsewhere.
#
# Why? The folded convolution **replaces the old one** under its name, and both calls have this name:


# %%
class Head(nn.Module):
    """A detector's head: the same convolution for two feature maps, a BatchNorm for the first."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)

    def forward(self, fine, coarse):
        return self.bn(self.conv(fine)), self.conv(coarse)


maps = torch.randn(1, 4, 8, 8), torch.randn(1, 4, 4, 4)
head = make_alive(Head(), *maps)
with torch.no_grad():
    want, got = head(*maps), optimization.fuse(head)(*maps)
print("the first map: ", (want[0] - got[0]).abs().max().item())
print("the second map:", (want[1] - got[1]).abs().max().item())
draw(head)

# %% proof=true
assert torch.allclose(want[0], got[0], atol=1e-4)
assert not torch.allclose(want[1], got[1], atol=0.1)

# %% [markdown]
# This is the detector of the story. The first map is right.
# PyTorch's issue tracker has it since 2023 ([#104593](https://github.com/pytorch/pytorch/issues/104593)).
# Inductor's pass of this kind, `fuse_conv_bn` in `torch/_inductor/fx_passes/pre_grad.py`, leaves a convolution alone if two *different* BatchNorms read its calls.
# A plain second call, as here, does not stop it.
#
# **Predict the result.** The second call now has a BatchNorm of its own: `self.bn(self.conv(fine)), self.other(self.conv(coarse))`. What does PyTorch's `fuse` do?
#
# <details><summary>Both maps are right now: each call has its BatchNorm.</summary>
#
# No. The convolution has one name. The second pair finds the folded convolution under it, and folds it again.
# </details>
# <details><summary>Both maps are wrong: two BatchNorms are folded into one convolution.</summary>
#
# Right. Both calls run a convolution into which both BatchNorms were folded, one after the other.
# </details>
# <details><summary>It raises an error.</summary>
#
# No. Nothing in the function counts calls.
# </details>


# %% proof=true
class TwoNorms(Head):
    def __init__(self):
        super().__init__()
        self.other = nn.BatchNorm2d(4)

    def forward(self, fine, coarse):
        return self.bn(self.conv(fine)), self.other(self.conv(coarse))


both = make_alive(TwoNorms(), *maps)
with torch.no_grad():
    for a, b in zip(both(*maps), optimization.fuse(both)(*maps), strict=True):
        assert not torch.allclose(a, b, atol=0.1)

# %% [markdown]
# ## 10.3 A pass that asks
#
# `replace_pattern` cannot do this: it finds modules by their names, and keeps the model's own convolution (section 4.6).
# The pass is a loop over the BatchNorms. For each it asks:
#
# | question | in code | otherwise |
# |---|---|---|
# | Is it a BatchNorm, exactly? | `type(module) in NORMS` | a subclass may compute something else |
# | Is it in eval mode, itself? | `not module.training` | it uses the statistics of the batch |
# | Does it have statistics? | `module.running_mean is not None` | the same |
# | Does it read the call of a convolution? | `type(...) in CONVS` | there is nothing to fold it into |
# | Does nothing else read that call? | `len(source.users) == 1` | the other reader would get another value |
#
# Here is a model in eval mode:


# %%
class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)
        self.a, self.b, self.c, self.d = (nn.BatchNorm2d(4) for _ in range(4))

    def forward(self, x):
        y = self.conv(x)
        z = torch.relu(self.a(y) + self.b(y))
        z = torch.relu(self.c(self.conv(z)))
        return self.c(self.conv(self.d(z)))


mixed = make_alive(Mixed(), planes)
print(fx.symbolic_trace(mixed).graph)

# %% [markdown]
# **Drill 10.3a.** Which calls of a BatchNorm may the pass fold? Write a list with the names of their nodes, in the order of the graph.

# %% drill=true
may_fold = ["c", "c_1"]
drill("10.3a", may_fold)
# Mistake: All of these read a call of a convolution, but not all are its only reader.
# may_fold = ["a", "b", "c", "c_1"]

# %% [markdown]
# Then three decisions are left.
#
# **A new module, under a new name.** Other calls of the old convolution must not notice, and a trace shares its modules with the caller's model. Take a free name:


# %%
def free_name(gm: fx.GraphModule, wanted: str) -> str:
    """The wanted name, or that name with a number, if it is taken."""
    name, number = wanted, 0
    while hasattr(gm, name):
        number += 1
        name = f"{wanted}_{number}"
    return name


gm = fx.symbolic_trace(head)
free_name(gm, "folded"), free_name(gm, "conv")

# %% proof=true
assert free_name(gm, "folded") == "folded"
assert free_name(gm, "conv") == "conv_1"

# %% [markdown]
# **The place.** Two nodes become one. The new call needs a place in the graph: that of the convolution, or that of the BatchNorm?
#
# **Predict the result.** Between the two, something may write into the input:
#
# ```python
# y = self.conv(x)
# x.add_(1)
# return self.bn(y) + x
# ```
#
# <details><summary>The place does not matter: both read <code>x</code>.</summary>
#
# No. <code>x</code> has other numbers after <code>add_</code>. At the place of the BatchNorm, the new convolution reads those.
# </details>
# <details><summary>It belongs where the convolution was.</summary>
#
# Right. There it reads what the old one has read. Its result is read later, and nothing else reads it.
# </details>
# <details><summary>It belongs where the BatchNorm was.</summary>
#
# No. Its output is right there, but its input is not: <code>x</code> was changed before.
# </details>

# %% proof=true
moved = fx.symbolic_trace(make_alive(Pair(writes), planes))
by_name = {node.name: node for node in moved.graph.nodes}
with moved.graph.inserting_before(by_name["bn"]):  # the late place
    late = moved.graph.call_module("conv", by_name["conv"].args)
by_name["conv"].replace_all_uses_with(late)
moved.graph.erase_node(by_name["conv"])
moved.recompile()
with torch.no_grad():
    right = make_alive(Pair(writes), planes)(planes.clone())
    assert not torch.allclose(moved(planes.clone()), right, atol=0.1)

# %% [markdown]
# The simplest way to keep the place is to keep the *node*: give the convolution's node another target.
# Its arguments stay, positional or by keyword, and so does its place.
#
# **What is left over.** When the last call of a BatchNorm is gone, the module is still in `gm`, with its weights.
# `gm.delete_all_unused_submodules()` removes modules that no node calls or reads:


# %%
class ReadsGamma(Head):
    def forward(self, x):
        return self.conv(x) * self.bn.weight.sum()


gm = fx.symbolic_trace(ReadsGamma())
gm.delete_all_unused_submodules()
[name for name, _ in gm.named_children()]  # nothing calls bn, but its weight is read

# %% proof=true
assert hasattr(gm, "bn")
assert not gm.graph.find_nodes(op="call_module", target="bn")
assert ("get_attr", "bn.weight") in {(n.op, n.target) for n in gm.graph.nodes}

# %% [markdown]
# A worked example with another pair of layers, `nn.Linear` and `nn.BatchNorm1d`, with the questions above and `fold_into_linear`.


# %%
def fuse_linear_bn(model: nn.Module) -> fx.GraphModule:
    """A pass: each `nn.Linear` and the `nn.BatchNorm1d` after it become one `nn.Linear`.

    Inputs have two dimensions; see *Common mistakes* for three.
    """
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op != "call_module" or type(gm.get_submodule(node.target)) is not nn.BatchNorm1d:
            continue
        bn = gm.get_submodule(node.target)
        (source,) = node.all_input_nodes  # by keyword or not
        if bn.training or bn.running_mean is None or len(source.users) != 1:
            continue
        if source.op != "call_module" or type(gm.get_submodule(source.target)) is not nn.Linear:
            continue
        name = free_name(gm, "folded")
        gm.add_submodule(name, fold_into_linear(gm.get_submodule(source.target), bn))
        source.target = name  # place and arguments stay
        node.replace_all_uses_with(source)
        gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


layers = nn.Linear(5, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)
x = torch.randn(3, 5)
mlp = make_alive(nn.Sequential(*layers), x)
torch.testing.assert_close(fuse_linear_bn(mlp)(x), mlp(x))
draw.diff(fx.symbolic_trace(mlp), fuse_linear_bn(mlp))

# %% [markdown] card="fuse_conv_bn"
# **Write** a pass in which each convolution and the BatchNorm after it become one convolution.
#
# * Convolutions are `nn.Conv1d`, `nn.Conv2d` and `nn.Conv3d`, BatchNorms `nn.BatchNorm1d`, `nn.BatchNorm2d` and `nn.BatchNorm3d`, all by exact type.
# * Left alone: a BatchNorm in training mode, one without statistics, and a convolution whose output has another reader.
# * A convolution, or a weight, that is used elsewhere must not change there. Each call with a BatchNorm after it is a pair of its own.
# * BatchNorms that nothing calls or reads any more are gone.
#
# **Do not** change the model that you are given, or its modes.
#
# **Fine print**
#
# * Use your `fold_bn`: run its cell first, if you come back on another day.
# * If the input is changed in place between the two, the new convolution still sees what the old one saw.
# * Pairs may be nested, there may be several, and layers may be called by keyword.
# * Inputs are batches: without a batch dimension, a BatchNorm raises or takes another dimension for the channels.
# * A new layer needs a name that is free. No layer with `weight_norm` is tried.
# * Whether convolutions that nothing calls stay in the module is up to you.


# %%
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)
        self.bn = nn.BatchNorm2d(4)

    def forward(self, x):
        return torch.relu(self.bn(self.conv(x))) + self.conv(x)


class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.folded = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1)

    def forward(self, x):
        return torch.relu(self.folded(x)) + self.conv(x)


draw.diff(fx.symbolic_trace(Block()), fx.symbolic_trace(Fused()))


# %% solve="fuse_conv_bn"
def fuse_conv_bn(model: nn.Module) -> fx.GraphModule:
    """A pass: each convolution and the BatchNorm after it become one convolution."""
    ### BEGIN SOLUTION
    norm_of = {
        nn.Conv1d: nn.BatchNorm1d,
        nn.Conv2d: nn.BatchNorm2d,
        nn.Conv3d: nn.BatchNorm3d,
    }
    gm = fx.symbolic_trace(model)

    def called(node: fx.Node) -> nn.Module | None:
        return gm.get_submodule(node.target) if node.op == "call_module" else None

    for node in list(gm.graph.nodes):
        bn = called(node)
        if type(bn) not in norm_of.values() or bn.training or bn.running_mean is None:
            continue
        (source,) = node.all_input_nodes
        conv = called(source)
        if norm_of.get(type(conv)) is not type(bn) or len(source.users) != 1:
            continue
        number = 0
        while hasattr(gm, f"folded_{number}"):
            number += 1
        gm.add_submodule(f"folded_{number}", fold_bn(conv, bn))
        # The node keeps its place and its arguments.
        source.target = f"folded_{number}"
        node.replace_all_uses_with(source)
        gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="fuse_conv_bn"
check(fuse_conv_bn)

# %% hint="fuse_conv_bn"
hint("fuse_conv_bn")

# %% [markdown]
# Now your pass on the 21 edge cases. (The cell uses your answers: run it again when both checks have passed.)

# %% uses="fuse_conv_bn"
yours = {name: verdict(fuse_conv_bn, model) for name, model in edge_cases().items()}
for name, result in yours.items():
    print(f"{name:26}{result}")

# %% proof=true
assert set(yours.values()) == {"right"}
assert len(fuse_conv_bn(mixed).graph.nodes) == len(fx.symbolic_trace(mixed).graph.nodes) - 2

# %% [markdown]
# ## 10.4 Measure honestly
#
# Is the fused model faster? You need a clock, and more than one call. Here are twenty calls of the same model with the same input:

# %%
net, batch = make_alive(resnet18(num_classes=10)), images(1)
durations = []
for _ in range(20):
    start = time.perf_counter()
    net(batch)
    durations.append(1000 * (time.perf_counter() - start))

figure, axes = plt.subplots(figsize=(7, 2.5))
axes.plot(durations, "o", markersize=3)
axes.axhline(statistics.median(durations), color="tab:green", label="median")
axes.axhline(statistics.mean(durations), color="tab:red", linestyle="--", label="mean")
axes.set(xlabel="call", ylabel="milliseconds", ylim=(0, None))
axes.legend()
plt.show()
print(f"median {statistics.median(durations):.1f} ms, mean {statistics.mean(durations):.1f} ms")

# %% [markdown]
# They differ. What goes wrong, and what helps:
#
# | problem | cause | remedy |
# |---|---|---|
# | the first calls are slow | memory is taken, kernels are chosen | warm up, and do not measure that |
# | some calls are very slow | another process wants the processor | take the **median**, not the mean |
# | the machine gets slower with time | it gets warm | measure **in turn**: a, b, a, b, … |
# | gradients are recorded | each call also builds a graph for the backward pass | `torch.no_grad()` |
# | a GPU is still computing | calls only start the work | `torch.cuda.synchronize()` before each look at the clock |
#
# **Predict the result.** Nine calls take 1 ms, and one takes 91 ms. What are mean and median?
#
# <details><summary>Both about 10 ms.</summary>
#
# No. That is the mean alone. The median does not care how slow the slowest is.
# </details>
# <details><summary>10 ms and 1 ms.</summary>
#
# Right. One disturbed call in ten makes the mean ten times too large, and does not change the median.
# </details>
# <details><summary>1 ms and 10 ms.</summary>
#
# No. The median is the one in the middle after sorting: 1 ms.
# </details>

# %% proof=true
calls = [1.0] * 9 + [91.0]
assert (statistics.mean(calls), statistics.median(calls)) == (10.0, 1.0)

# %% [markdown]
# ### The mode that must come back
#
# Gradients are a mode of the whole thread. A function that switches it off must switch it back to what it **was**,
# and not simply on, even if something raises. A `with` block does both. Without one:

# %%
torch.set_grad_enabled(False)
with fails(RuntimeError):
    net(batch[:, :2])
    torch.set_grad_enabled(True)  # it does not get here
still_on = torch.is_grad_enabled()
torch.set_grad_enabled(True)
print("gradients were on after the error:", still_on)

# %% proof=true
assert not still_on
with torch.no_grad():
    with torch.no_grad():
        pass
    assert not torch.is_grad_enabled()  # as before, not on

# %% [markdown]
# An example by these rules, for one function at a time. What do gradients cost?


# %%
def seconds_of(call: Callable[[], Any], repeats: int = 5) -> float:
    """The median time of a call, after one to warm up."""
    call()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


with_gradients = seconds_of(lambda: net(batch))
with torch.no_grad():
    without = seconds_of(lambda: net(batch))
print(f"{1000 * with_gradients:.1f} ms with gradients, {1000 * without:.1f} ms without")

# %% [markdown] card="compare_latency"
# **Given** two callables `a` and `b` (functions or modules), a tuple of `inputs` for both, and how often to measure.
#
# **Return** a tuple of two floats: the median seconds of `a(*inputs)`, and of `b(*inputs)`.
#
# * Call each once or more to warm up; these calls are not measured.
# * Then measure `repeats` calls of each, in turn.
# * Measured calls run without gradients. Afterwards, gradient mode is the same as before, even if a call raises. Exceptions from a call are passed on.
#
# **Do not** change the modules: their mode is the caller's business.
#
# **Fine print**
#
# * Time in which nothing is computed counts, too.

# %%
figure, axes = plt.subplots(figsize=(7, 1.4))
for row, name in enumerate("ab"):
    for number in range(5):
        color = "lightgray" if number == 0 else f"C{row}"
        axes.barh(name, 0.8, left=2 * number + row, color=color)
axes.set(xlabel="time; gray: warm-up, not measured", xticks=[])
axes.invert_yaxis()
plt.show()


# %% solve="compare_latency"
def compare_latency(
    a: Callable[..., Any], b: Callable[..., Any], inputs: tuple, repeats: int = 20
) -> tuple[float, float]:
    """Return the median seconds of `a(*inputs)` and of `b(*inputs)`, measured in turn."""
    ### BEGIN SOLUTION
    times: tuple[list[float], list[float]] = ([], [])
    with torch.no_grad():
        for call in (a, b):
            call(*inputs)
        for _ in range(repeats):
            for call, found in zip((a, b), times, strict=True):
                start = time.perf_counter()
                call(*inputs)
                found.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])
    ### END SOLUTION


# %% check="compare_latency"
check(compare_latency)

# %% hint="compare_latency"
hint("compare_latency")

# %% [markdown]
# ## 10.5 What the paper says, and what you measure
#
# The paper about FX ([Reed and others, 2022](https://arxiv.org/abs/2112.08429)) has two results about this chapter's subject:
#
# * ResNet-50 has 445 operations in FX's graph, and 860 in that of `torch.jit.trace`;
# * Conv-BatchNorm fusion makes it faster: by its bar chart about 18 % on one thread of a processor, about 40 % on all.
#
# You can check both. First the sizes. The paper compares graphs without modules, so this tracer goes into all of them.
# (One check inside BatchNorm asks for the number of dimensions, which a trace does not know. It is switched off for the moment.)


# %%
class NoLeaves(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return False


large = resnet50(weights=None).eval()
with mock.patch.object(nn.BatchNorm2d, "_check_input_dim", lambda self, x: None):
    opened = NoLeaves().trace(large)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # TorchScript is deprecated
    recorded = torch.jit.trace(large, torch.rand(1, 3, 64, 64)).inlined_graph
sizes = {
    "FX, modules as leaves": len(fx.symbolic_trace(large).graph.nodes),
    "FX, no leaves": len(opened.nodes),
    "torch.jit.trace": len(list(recorded.nodes())),
}
print(sizes)

# %% proof=true
assert sizes["FX, modules as leaves"] == 177
assert abs(sizes["FX, no leaves"] - 445) < 5 and abs(sizes["torch.jit.trace"] - 860) < 5

# %% [markdown]
# Both numbers hold, to a node or two. With modules as leaves, FX's graph is much smaller.
#
# Now the speed, with your own functions. The first row measures the model with itself: that is the **noise**.
# A difference that is smaller than the noise is not a real difference.

# %% uses="compare_latency"
with torch.no_grad():
    fused = fuse_conv_bn(net)
    assert_same_results(fused, net, batch)
threads = torch.get_num_threads()
rows = {
    "the model with itself": (net, threads),
    "fused, one thread": (fused, 1),
    f"fused, {threads} threads": (fused, threads),
}
figure, axes = plt.subplots(figsize=(7, 2.2))
for name, (candidate, used) in rows.items():
    torch.set_num_threads(used)
    times = [compare_latency(net, candidate, (batch,), repeats=5) for _ in range(3)]
    saved = [100 * (1 - b / a) for a, b in times]
    axes.plot(saved, [name] * len(saved), "o")
    print(f"{name}: {min(saved):.1f} to {max(saved):.1f} % saved")
torch.set_num_threads(threads)
axes.axvline(0, color="gray")
axes.set(xlabel="time saved, in percent")
plt.show()

# %% [markdown]
# Whatever you see is right, on your machine, today. Nothing in this course is graded by speed.
# Kernels and processors have changed since 2022, and the libraries matter. With MKLDNN, FX's first fuser gained 2 to 8 % on four networks.
# In a build without such libraries, it made a ResNet-18 three times *slower* ([pull request 47657](https://github.com/pytorch/pytorch/pull/47657)).
#
# So measure on the machine on which the model runs, with its batch size and its number of threads. Report the noise together with the gain.

# %% [markdown]
# ## 10.6 The service, fused
#
# Back to the story: the other team's GoogLeNet, with random weights in which each layer matters.

# %% uses="fuse_conv_bn"
service = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10))
fused_service = fuse_conv_bn(service)
norms = [m for m in fused_service.modules() if isinstance(m, nn.BatchNorm2d)]
before, after = len(fx.symbolic_trace(service).graph.nodes), len(fused_service.graph.nodes)
print(f"{before} nodes, now {after}; {len(norms)} BatchNorms are left")
assert_same_results(fused_service, service, images(2))

# %% proof=true
assert (before - after, len(norms)) == (57, 0)
assert sum(isinstance(m, nn.BatchNorm2d) for m in service.modules()) == 57  # theirs is unchanged

# %% [markdown]
# And the detector's head, on which PyTorch's function was wrong:

# %% uses="fuse_conv_bn"
assert_same_results(fuse_conv_bn(head), head, *maps)
draw.diff(fx.symbolic_trace(head), fuse_conv_bn(head))

# %% [markdown]
# Both maps are right: the second call has kept its own convolution.
#
# ## Common mistakes
#
# Here you see each of them fail. (4 minutes)
#
# ### The pass reads the mode of the model
#
# Fine-tuning often keeps single BatchNorms in one mode, and the rest in the other.

# %%
partly = trains(make_alive(Pair(), planes))
print("the model trains:", partly.training, "- its norm trains:", partly.bn.training)
with fails(AssertionError):
    fuse_conv_bn_eval(partly.conv, partly.bn)  # PyTorch's helper asks the layer itself

# %% proof=true
assert not partly.training and partly.bn.training

# %% [markdown]
# **Right:** `bn.training`, of each BatchNorm.
#
# ### `setattr` with a dotted name

# %%
gm = fx.symbolic_trace(Nested(nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)))
setattr(gm, "block.0", nn.Conv2d(4, 4, 1))
list(gm._modules)  # a key with a dot, which no code reads

# %% proof=true
assert "block.0" in gm._modules
assert gm.get_submodule("block.0") is not gm._modules["block.0"]

# %% [markdown]
# **Right:** `gm.add_submodule("block.0", module)` follows the dots.
#
# ### A linear layer on a sequence
#
# With three dimensions, a BatchNorm takes the **second** for the channels, and a linear layer the last.
# If both sizes are equal, nothing raises. PyTorch's `fuse` has the same fault:

# %%
sequence = torch.randn(2, 4, 5)
on_sequence = make_alive(nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4)), sequence)
for fuse in (fuse_linear_bn, optimization.fuse):
    with torch.no_grad(), fails(AssertionError):
        torch.testing.assert_close(fuse(on_sequence)(sequence), on_sequence(sequence))

# %% [markdown]
# **Right:** nothing in the graph says how many dimensions there are. Read the shapes, as `ShapeProp` of chapter 6 finds them, or say what your pass expects.
#
# ### `isinstance` instead of the type


# %%
class Positive(nn.BatchNorm2d):
    """A BatchNorm that returns absolute values."""

    def forward(self, x):
        return super().forward(x).abs()


small = torch.randn(1, 3, 4, 4)
loud = make_alive(nn.Sequential(nn.Conv2d(3, 2, 1), Positive(2)), small)
with torch.no_grad(), fails(AssertionError):
    torch.testing.assert_close(fuse_conv_bn_eval(*loud)(small), loud(small))

# %% [markdown]
# **Right:** `type(module) is nn.BatchNorm2d`. (A default trace opens such a class. A tracer that keeps it as a leaf does not.)
#
# ### First all calls of `a`, then all of `b`
#
# If the machine slows down in the meantime, `b` looks worse. A simulation:

# %%
ticks = [1.0 + 0.02 * i for i in range(40)]  # the same work, on a machine that gets slower
one_after_the_other = statistics.median(ticks[:20]), statistics.median(ticks[20:])
in_turn = statistics.median(ticks[0::2]), statistics.median(ticks[1::2])
print(one_after_the_other, in_turn)

# %% proof=true
assert one_after_the_other[1] / one_after_the_other[0] > 1.3
assert in_turn[1] / in_turn[0] < 1.02

# %% [markdown]
# **Right:** measure in turn. Then a disturbance meets both.

# %% [markdown]
# ## Recap
#
# 1. In eval mode a BatchNorm is one factor and one shift for each channel; both fit into the layer before it.
# 2. Copy the convolution, so that no setting is lost. Work in a wide type, and round once.
# 3. A pass asks for type, mode, statistics and readers. PyTorch's own `fuse` forgets that a module may be called twice.
# 4. The folded convolution is a new module, under a free name. The node of the old call calls it.
# 5. Measure after a warm-up, in turn, without gradients; take medians, and report the noise.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `torch.nn.utils.fusion.fuse_conv_bn_eval(conv, bn)` | folds two layers in eval mode; the result is new |
# | `torch.fx.experimental.optimization.fuse(model)` | folds pairs that are called by position; wrong on shared convolutions; may change or go |
# | `gm.add_submodule("a.b", module)` | adds a module at a path |
# | `node.target = "name"` | the node calls another module; place and arguments stay |
# | `gm.delete_all_unused_submodules()` | removes modules that no node calls or reads |
# | `time.perf_counter()` | the clock for short times, in seconds |
# | `statistics.median(times)` | the middle one |
# | `torch.set_num_threads(n)` | how many threads an operation may use |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | linear layers side by side, which become one | the deep dive 10b |
# | fusion by `torch.compile`, which writes new kernels | chapter 11 |
# | passes in a row, and what each of them needs of the one before | chapter 12 |
# | quantization, which needs folded convolutions | chapter 14 |
# | a pass that beats `fuse` on whole networks | chapter 15 |
# | transposed convolutions | `fuse_conv_bn_eval` has the argument `transpose` |
#
# In PyTorch's documentation:
# [Building a Convolution/Batch Norm fuser with torch.compile](https://docs.pytorch.org/tutorials/intermediate/torch_compile_conv_bn_fuser.html),
# and [Benchmark](https://docs.pytorch.org/tutorials/recipes/recipes/benchmark.html), about `torch.utils.benchmark`, which does much of section 10.4 for you.
