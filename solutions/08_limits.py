# %% [markdown]
# # 8 · The limits of tracing, and tracers of your own
#
# **After this chapter you can trace a model that refuses to be traced, and say what you leave out when you do.**
#
# | | |
# |---|---|
# | **You need** | chapter 1, where traces fail for the first time; chapter 3, passes; section 7.3, a tracer that logs |
# | **Time** | about 125 minutes, 50 of them for the exercises; a good place for a break is after 8.5 |
#
# **When you are done, you can**
#
# 1. say whether a branch or a loop is static or dynamic, and what each of them leaves in the graph;
# 2. keep a function whole with `fx.wrap`, and find out why a wrapped function is run all the same;
# 3. rewrite spellings that a Proxy cannot follow, and name one that loses a gradient without any message;
# 4. write a Tracer with leaves of your own choice;
# 5. list what a trace has frozen: flags, sizes, attributes, buffers, random numbers;
# 6. bring a frozen dropout back under `train()` and `eval()`;
# 7. recognise a model that can be traced only once;
# 8. trace everything around the parts that cannot be traced.

# %% [markdown]
# ## A story
#
# The other team has put its GoogLeNet into a service.
# In front of it is a part that looks at the picture and decides how to scale it.
# Near its end is a part that calms down values that are too large.
# A dropout in the head was written as a function.
#
# You have passes from seven chapters, and all of them begin with `fx.symbolic_trace`. It answers:
#
# `TraceError: symbolically traced variables cannot be used as inputs to control flow`
#
# A whole network is lost to your passes because of two small parts.
# This chapter gets it back.

# %%
import copy
import random
import sys
import types
from collections import Counter
from typing import Any

import torch
import torch.nn.functional as F
from IPython.display import display
from torch import fx, nn
from torchvision.models import googlenet
from torchvision.models.googlenet import BasicConv2d, Inception

from autograder import check, draw, fails, hint, progress
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(8)
print(torch.__version__)

# %% [markdown]
# This is the network of the story, with random weights.


# %%
class Exposure(nn.Module):
    """Pictures come with values up to 255 or up to 1. Which of them is it?"""

    def forward(self, x):
        if x.max() > 1.5:
            return x / 255
        return x


class Calm(nn.Module):
    """Values that are too large are scaled down, all at once."""

    def forward(self, x):
        largest = x.abs().max()
        return x / largest * 10 if largest > 10 else x


class CalmBlock(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block
        self.calm = Calm()

    def forward(self, x):
        return self.calm(self.block(x))


class Service(nn.Module):
    def __init__(self):
        super().__init__()
        self.exposure = Exposure()
        self.net = make_alive(googlenet(weights=None, init_weights=False))
        with torch.no_grad():
            self.net.inception5b.branch1.bn.weight.mul_(20)  # too large, so that `Calm` acts
        self.net.inception5b = CalmBlock(self.net.inception5b)

    def forward(self, image):
        scores = self.net(self.exposure(image))
        return F.dropout(scores, 0.2, self.training)


service = Service().eval()
pictures = [images(2).sigmoid(), 255 * images(1, 96, seed=1).sigmoid()]
with fails(fx.proxy.TraceError):
    fx.symbolic_trace(service)

# %% [markdown]
# Two questions about earlier chapters, before you begin.
#
# **Predict the result.** A model with `self.drop = nn.Dropout(0.5)` is traced in training mode. Then `eval()` is called on the trace. Does it still drop?
#
# <details><summary>Yes: the mode was captured while tracing.</summary>
#
# No. A flag that <em>your</em> code reads would be captured. This one is read inside a leaf, in every call.
# </details>
# <details><summary>No: the module is a leaf, and reads its own flag.</summary>
#
# Right. <code>gm.eval()</code> reaches the submodule, and the submodule decides in each call (chapter 1).
# </details>
# <details><summary>It raises: a trace has no mode.</summary>
#
# No. A <code>GraphModule</code> is an <code>nn.Module</code>, so it has a mode, and hands it down to its submodules.
# </details>

# %% [markdown]
# **Predict the result.** A pass keeps `nodes = list(gm.graph.nodes)`, traces the model again, and uses these nodes as arguments in the second graph. What does `lint()` of the second graph say?
#
# <details><summary>Nothing: the nodes have the same names.</summary>
#
# No. Names are compared nowhere. A node belongs to one graph.
# </details>
# <details><summary>It raises: an argument does not belong to this graph.</summary>
#
# Right. Nodes of two graphs must not be mixed (chapter 2). In section 8.8 a model does this without any pass.
# </details>
# <details><summary>It copies them silently.</summary>
#
# No. Copies are made by <code>node_copy</code>, and only if you ask.
# </details>

# %%
gm = fx.symbolic_trace(nn.Sequential(nn.Dropout(0.5)).train())
assert torch.equal(gm.eval()(torch.ones(9)), torch.ones(9))

one, other = (
    fx.symbolic_trace(nn.Sequential(nn.ReLU())),
    fx.symbolic_trace(nn.Sequential(nn.ReLU())),
)
(result,) = (node for node in other.graph.nodes if node.op == "output")
result.args = (list(one.graph.nodes)[1],)
with fails(RuntimeError):
    other.graph.lint()

# %% [markdown]
# ## 8.1 Static and dynamic control flow
#
# Python decides every `if` and every loop *while* it traces. The question is what it has to look at.
#
# | control flow is | it depends on | what becomes of it |
# |---|---|---|
# | **static** | settings, the number of layers, the mode, the type of a part | it is decided once, and the graph has the branch that was taken |
# | **dynamic** | the values or the sizes of the input | a Proxy is asked, and tracing raises an error |
#
# Static control flow is not a defect. A model with other settings is another function, so it has another graph.
# GoogLeNet is full of it: three branches about its mode and its settings, and a list of layers in every block.

# %%
plain = googlenet(weights=None, init_weights=False)
sizes = {}
for training in (False, True):
    sizes[training] = len(fx.symbolic_trace(plain.train(training)).graph.nodes)
print(sizes)
assert sizes == {False: 199, True: 218}  # in training mode, two more heads


class Tower(nn.Module):
    def __init__(self, layers, skip):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(layers))
        self.skip = skip

    def forward(self, x, times=1):
        for layer in self.layers:  # static: how many there are is known
            y = layer(x)
            x = x + y if self.skip else y  # static: a setting
        return x * times


assert len(fx.symbolic_trace(Tower(3, skip=True)).graph.nodes) == 3 * 2 + 4
assert len(fx.symbolic_trace(Tower(5, skip=False)).graph.nodes) == 5 * 1 + 4

# %% [markdown]
# Dynamic control flow asks a Proxy. Here are the usual questions, with what each of them raises.
# The last three are loops: over rows, over a size, and over the parts that `chunk` gives.

# %%
DYNAMIC = {
    "if x.sum() > 0": (lambda x: x if x.sum() > 0 else -x, fx.proxy.TraceError),
    "if x.shape[0] > 1": (lambda x: x if x.shape[0] > 1 else -x, fx.proxy.TraceError),
    "if x.dim() == 2": (lambda x: x if x.dim() == 2 else -x, fx.proxy.TraceError),
    "int(x.shape[0])": (lambda x: x.view(int(x.shape[0]), -1), TypeError),
    "for row in x": (lambda x: sum(row for row in x), fx.proxy.TraceError),
    "range(x.shape[0])": (lambda x: [x[i] for i in range(x.shape[0])], TypeError),
    "list(x.chunk(2))": (lambda x: torch.cat(list(x.chunk(2))), fx.proxy.TraceError),
}
for question, (function, kind) in DYNAMIC.items():
    try:
        fx.symbolic_trace(function)
    except kind as error:
        print(f"{question:18} {type(error).__name__:11} {str(error)[:60]}")
    else:
        raise AssertionError(f"{question} was traced")

# %% [markdown]
# Not every use of a size is a question. A size that is only handed on stays a Proxy.
# So it is computed again in every call, and the trace works for other shapes:


# %%
def halves(x):
    rows = x.shape[0]
    first, second = x.chunk(2)  # two names: Python asks for exactly two
    return (first + second).view(rows // 2, -1)


gm = fx.symbolic_trace(halves)
print(gm.code)
for x in (torch.randn(4, 2, 3), torch.randn(6, 5)):
    torch.testing.assert_close(gm(x), halves(x))

# %% [markdown]
# **Predict the result.** A model counts its calls in a buffer, and treats the first one in its own way.
#
# ```python
# def forward(self, x):
#     if self.seen.item() > 0:
#         x = x * 100
#     return x * 2
# ```
#
# It is traced while `seen` is 0. Then `seen` becomes 1. What does the *trace* give for 1?
#
# <details><summary>Tracing raises a <code>TraceError</code>: the branch asks a tensor.</summary>
#
# No. It asks a tensor, but this one is no Proxy. A buffer is a real tensor while FX traces, and it answers.
# </details>
# <details><summary>2: the branch was decided while tracing.</summary>
#
# Right. The buffer had an answer, so Python took the branch, and nobody noticed. Only parameters become Proxies as soon as they are read.
# </details>
# <details><summary>200: the trace reads the buffer in each call.</summary>
#
# No. The graph would read it with a <code>get_attr</code> node if it met a Proxy. Here it meets an <code>if</code>, and leaves nothing behind.
# </details>


# %%
class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        if self.seen.item() > 0:
            x = x * 100
        return x * 2


counting = Counting()
gm = fx.symbolic_trace(counting)
counting.seen.fill_(1)
assert gm(torch.ones(1)).item() == 2 and counting(torch.ones(1)).item() == 200

# %% [markdown]
# ## 8.2 Four ways out
#
# A dynamic branch needs an answer at run time. There are four ways to leave it there.
#
# | way out | the graph then has | take it if |
# |---|---|---|
# | say it with tensors: `torch.where`, `clamp` (section 1.6) | all operations, of both sides | both sides are cheap, and no side fails |
# | a wrapped function (8.3) | one `call_function` node | the code is a function, and passes need not see it |
# | a leaf module (8.5, 8.9) | one `call_module` node | the code is a module, and passes need not see it |
# | another way to capture: `torch.compile`, `torch.export` (chapter 11) | real shapes; a branch splits the graph, or is `torch.cond` | you may give up the graph of modules |
#
# `Calm` of the story can be said with tensors. Look at what that costs: a value is computed although nobody may need it, and the
# meaning must be the same for zeros and NaN, too.


# %%
def calm_with_tensors(x):
    largest = x.abs().max()
    return torch.where(largest > 10, x / largest * 10, x)


gm = fx.symbolic_trace(calm_with_tensors)
nan = torch.tensor([float("nan"), 20.0])
for x in (torch.tensor([5.0, -40.0]), torch.tensor([5.0, 4.0]), torch.zeros(3), nan):
    torch.testing.assert_close(gm(x), Calm()(x), equal_nan=True)
draw(gm)

# %% [markdown]
# ## 8.3 `fx.wrap`, in all its forms
#
# `fx.wrap` notes two things: the *dictionary of global names* of the file (or notebook) in which it is called, and a *name*.
# While FX traces, it puts another function under that name into that dictionary. The other function records a call if a Proxy is among its arguments.
# Whoever finds the function in another way gets the original, which is then run on Proxies.
#
# The next cell makes a file `tools` that you can import from, and a second one, `client`, that uses it. Each line of `client` is one way to write a call.

# %%
TOOLS = """
from torch import fx

def clip(x):
    return x.clamp(-2, 2) if x.abs().max() > 2 else x

@fx.wrap
def clip_wrapped(x):
    return clip(x)

def uses_it(x):
    return clip_wrapped(x) + 1
"""
CLIENT = """
from torch import fx
from tools import clip, clip_wrapped
from tools import clip as shorter
import tools

fx.wrap("clip")

calls = {
    "clip(x), wrapped by its name here": lambda x: clip(x),
    "tools.clip(x)": lambda x: tools.clip(x),
    "shorter(x), another name for clip": lambda x: shorter(x),
    "tools.clip_wrapped(x), wrapped there": lambda x: tools.clip_wrapped(x),
    "clip_wrapped(x), wrapped there": lambda x: clip_wrapped(x),
    "tools.uses_it(x), which calls it there": lambda x: tools.uses_it(x),
}
"""


def file_of(name, code):
    """A module made from text, as if the text were a file."""
    made = types.ModuleType(name)
    sys.modules[name] = made
    exec(code, made.__dict__)
    return made


tools, client = file_of("tools", TOOLS), file_of("client", CLIENT)
recorded = {}
for words, function in client.calls.items():
    try:
        fx.symbolic_trace(function)
        recorded[words] = True
    except fx.proxy.TraceError:
        recorded[words] = False
    print("recorded" if recorded[words] else "entered ", "|", words)
assert list(recorded.values()) == [True, False, False, True, False, True]

# %% [markdown]
# The fifth line surprises most people. `clip_wrapped` is wrapped, but in the dictionary of `tools`.
# `from tools import clip_wrapped` has put the *original* into the dictionary of `client`, where nothing replaces it.
# The cure is one line in your own file or cell: `fx.wrap("clip_wrapped")`.
#
# **Predict the result.** A cell of a notebook defines this, and traces the model.
#
# ```python
# class Limiter(nn.Module):
#     def limit(self, x):
#         return x.clamp(-2, 2) if x.abs().max() > 2 else x
#
#     def forward(self, x):
#         return self.limit(x) + 1
#
# fx.wrap("limit")
# ```
#
# <details><summary>One node <code>limit</code>, and one addition.</summary>
#
# No. <code>limit</code> is a method: Python finds it on the class, and not among the global names.
# </details>
# <details><summary>A <code>TraceError</code>, because the method is run on Proxies.</summary>
#
# No, but it would be raised if <code>fx.wrap</code> had found its name. Something else comes first.
# </details>
# <details><summary>A <code>KeyError</code>, in this trace and in all later ones.</summary>
#
# Right. There is no global name <code>limit</code> that could be replaced, and FX looks for it at the beginning of every trace, whatever is traced.
# </details>

# %%
METHOD = """
from torch import fx, nn

class Limiter(nn.Module):
    def limit(self, x):
        return x.clamp(-2, 2) if x.abs().max() > 2 else x

    def forward(self, x):
        return self.limit(x) + 1

fx.wrap("limit")
"""
methods = file_of("methods", METHOD)
with fails(KeyError):
    fx.symbolic_trace(methods.Limiter())
with fails(KeyError):
    fx.symbolic_trace(lambda x: x + 1)  # this has nothing to do with it
methods.limit = None  # now there is something to replace: other traces work again
fx.symbolic_trace(lambda x: x + 1)
with fails(fx.proxy.TraceError):
    fx.symbolic_trace(methods.Limiter())  # the method is not found by that name

# %% [markdown]
# So a method cannot be wrapped. Three things can be done instead: a function at the top level that the method calls, a submodule (which can be a leaf), or a rewrite with tensors.
# Here is the first one, with the decorator. In a notebook, the top level is the cell itself.


# %%
@fx.wrap
def limited(x, limit):
    return x.clamp(-limit, limit) if x.abs().max() > limit else x


class Limiter(nn.Module):
    def __init__(self):
        super().__init__()
        self.bound = 2.0

    def limit(self, x):
        return limited(x, self.bound)

    def forward(self, x):
        return self.limit(x) + 1


gm = fx.symbolic_trace(Limiter())
print(gm.code)
assert gm(torch.tensor([5.0])).item() == 3.0 and gm(torch.tensor([1.5])).item() == 2.5

with fails(NotImplementedError):

    class Inside:
        @fx.wrap  # a class is not the top level, nor is a function
        def limit(self, x):
            return x


# %% [markdown]
# If the function is in a file that you cannot edit, ask a Tracer of your own to wrap it. `autowrap_functions` takes the functions themselves.
# It finds them under every global name in the file of the traced `forward`. `autowrap_modules` takes whole modules, whose functions it replaces there.


# %%
class CallsTools(nn.Module):
    def forward(self, x):
        return tools.clip(x) * 2


with fails(fx.proxy.TraceError):
    fx.symbolic_trace(CallsTools())
graph = fx.Tracer(autowrap_modules=(tools,)).trace(CallsTools())
assert [node.target for node in graph.nodes if node.op == "call_function"][0] is tools.clip
clip = tools.clip  # a global name of this notebook
graph = fx.Tracer(autowrap_functions=(tools.clip,)).trace(lambda x: clip(x))
assert [node.op for node in graph.nodes] == ["placeholder", "call_function", "output"]

# %% [markdown]
# ## 8.4 Spellings that a Proxy cannot follow
#
# A Proxy can take the place of a tensor in two situations: PyTorch's functions know Proxies, and a Proxy has all methods.
# Some spellings use neither of the two.
#
# **A method, taken from the class.** `torch.Tensor.flatten` is a C function that looks at the type of its first argument.


# %%
def flat_by_class(x):
    return torch.Tensor.flatten(x, 1)


with fails(TypeError):
    fx.symbolic_trace(flat_by_class)
for spelling in (lambda x: x.flatten(1), lambda x: torch.flatten(x, 1)):
    assert fx.symbolic_trace(spelling)(torch.ones(2, 3, 4)).shape == (2, 12)


# %% [markdown]
# **An assertion about a shape.** `assert x.shape[0] == 2` is an `if`. `torch._assert` is a function that FX records, so the check runs in every call.


# %%
def two_rows(x):
    assert x.shape[0] == 2
    return x * 2


def two_rows_checked(x):
    torch._assert(x.shape[0] == 2, "two rows are needed")
    return x * 2


with fails(fx.proxy.TraceError):
    fx.symbolic_trace(two_rows)
gm = fx.symbolic_trace(two_rows_checked)
assert gm(torch.ones(2, 3)).sum() == 12
with fails(AssertionError):
    gm(torch.ones(3, 3))

# %% [markdown]
# Nobody reads the value of `torch._assert`. So a pass that removes dead code must know that this node has to stay: `sound_dce` of the deep dive `03b_effects` does.
#
# **A function with a derivative of its own.** The next one is silent, and it is the worst.
#
# **Predict the result.** `Round` rounds, and its own `backward` hands the gradient on as if nothing had happened.
# What is the gradient of the *trace*?
#
# ```python
# class Round(torch.autograd.Function):
#     @staticmethod
#     def forward(ctx, x):
#         return x.round()
#
#     @staticmethod
#     def backward(ctx, gradient):
#         return gradient
#
# gm = fx.symbolic_trace(lambda x: Round.apply(x).sum())
# ```
#
# <details><summary>1 everywhere: the node calls <code>Round.apply</code>.</summary>
#
# No. There is no such node. FX does not know <code>apply</code>, and Python enters <code>forward</code> with a Proxy.
# </details>
# <details><summary>There is no trace: <code>apply</code> does not take Proxies.</summary>
#
# No. It does take them; with no tensor among its arguments, it just calls <code>forward</code>.
# </details>
# <details><summary>0 everywhere: the trace has only <code>round</code>, whose derivative is 0.</summary>
#
# Right. Values agree, gradients do not. A comparison of outputs never finds that.
# </details>


# %%
class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


@fx.wrap
def rounded(x):
    return Round.apply(x)


def gradient_of(function):
    x = torch.tensor([0.2, 1.7], requires_grad=True)
    function(x).backward()
    return x.grad.tolist()


entered = fx.symbolic_trace(lambda x: Round.apply(x).sum())
kept = fx.symbolic_trace(lambda x: rounded(x).sum())
print(entered.code, kept.code)
assert entered(torch.tensor([0.2, 1.7])) == kept(torch.tensor([0.2, 1.7])) == 2
assert gradient_of(lambda x: Round.apply(x).sum()) == [1.0, 1.0]
assert gradient_of(entered) == [0.0, 0.0]
assert gradient_of(kept) == [1.0, 1.0]

# %% [markdown]
# **Right:** wrap a function that calls `apply`. The node then calls your function, with its own `backward`.

# %% [markdown]
# ## 8.5 A Tracer of your own
#
# `fx.symbolic_trace(model)` is short for three lines:
#
# ```python
# tracer = fx.Tracer()
# graph = tracer.trace(model)
# gm = fx.GraphModule(tracer.root, graph)
# ```
#
# A subclass of `fx.Tracer` can change what happens in between. These are the methods that are worth knowing:
#
# | method | is called | you override it to |
# |---|---|---|
# | `is_leaf_module(m, module_qualified_name)` | for each call of a module | choose leaves |
# | `call_module(m, forward, args, kwargs)` | for each call of a module, leaf or not | do something around the call |
# | `create_proxy(kind, target, args, kwargs)` | for each operation | see or exchange operations |
# | `create_node(kind, target, args, kwargs)` | for each node | note something (deep dive 9c) |
# | `getattr(attr, attr_val, parameter_proxy_cache)` | for each submodule, parameter or buffer that is read | choose what becomes a Proxy |
#
# `is_leaf_module` is the one that is used most. The name that it is given is the *whole* path, such as `body.0.gate`.
# A module that is a leaf is not opened, so nothing inside of it is asked, recorded, or seen by a pass.


# %%
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        return torch.sigmoid(self.lin(x)) * x


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.body = nn.Sequential(nn.Linear(3, 3), Gate())

    def forward(self, x):
        return self.body(self.gate(x)) + x


class KeepGates(fx.Tracer):
    """Gates stay leaves; asks aloud."""

    def is_leaf_module(self, m, module_qualified_name):
        leaf = type(m) is Gate or super().is_leaf_module(m, module_qualified_name)
        print(f"{module_qualified_name:8} {type(m).__name__:10} {leaf}")
        return leaf


graph = KeepGates().trace(Gated())
assert [n.target for n in graph.nodes if n.op == "call_module"] == ["gate", "body.0", "body.1"]


class Reads(fx.Tracer):
    """Notes which attributes are read."""

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        names.append(attr)
        return super().getattr(attr, attr_val, parameter_proxy_cache)


names = []
Reads().trace(Gated())
assert names == ["body", "gate", "lin", "lin"]

# %% [markdown]
# Three things are worth a look in what was printed.
# The root is not asked about: it is always opened. `body` is asked about, and is opened, because `nn.Sequential` is no leaf.
# And `gate.lin` is missing: nobody asks about what is inside of a leaf.
#
# **Predict the result.** The line `super()...` is left out, so that only gates are leaves. What is the trace of `body.0`, an `nn.Linear`?
#
# <details><summary>Still one node: layers of PyTorch are always leaves.</summary>
#
# No. They are leaves because the method of the base class says so, and nobody asks it any more.
# </details>
# <details><summary>Two <code>get_attr</code> nodes, and a call of the function <code>linear</code>.</summary>
#
# Right. Without that answer, <code>nn.Linear</code> is a module like any other, and its <code>forward</code> is traced.
# </details>
# <details><summary>An error: layers of PyTorch cannot be traced.</summary>
#
# Not this one. Some cannot: <code>nn.BatchNorm2d</code> asks for the number of dimensions of its input.
# </details>


# %%
class OnlyGates(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return type(m) is Gate


ops = [node.op for node in OnlyGates().trace(Gated()).nodes]
assert ops.count("get_attr") == 2 and ops.count("call_module") == 2


class OwnNorm(nn.BatchNorm2d):
    """A subclass is opened, as it is not defined in `torch.nn`."""


with fails(fx.proxy.TraceError):  # and its `forward` asks `input.dim() != 4`
    fx.symbolic_trace(nn.Sequential(nn.Conv2d(3, 3, 1), OwnNorm(3)))

# %% [markdown]
# `call_module` sees more than `is_leaf_module`: it is there before the call, after it, and if the call raises.
# This Tracer shows the way of an exception. The innermost module sees it first:


# %%
class Follow(fx.Tracer):
    def call_module(self, m, forward, args, kwargs):
        try:
            return super().call_module(m, forward, args, kwargs)
        except Exception:
            self.way.append(self.path_of_module(m))
            raise


tracer = Follow()
tracer.way = []
with fails(fx.proxy.TraceError):
    tracer.trace(nn.Sequential(nn.Linear(3, 3), nn.Sequential(CalmBlock(nn.ReLU()))))
print(tracer.way)
assert tracer.way == ["1.0.calm", "1.0", "1"]

# %% [markdown] card="LeafTracer"
# **Write** the class `LeafTracer`, a Tracer that is told its leaves:
#
# * `leaf_types`: a tuple of classes. Modules of these classes, and of subclasses of them, stay leaves.
# * `leaf_names`: whole names of modules, such as `"body.1"`. The modules with these names stay leaves.
#
# Both can be left out. The leaves of `fx.Tracer` stay leaves, and all else is traced as usual.
# The root is always opened.
#
# A tracer can trace several models, one after the other. Two tracers know nothing of each other.


# %%
class Swish(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x) * x


model = nn.Sequential(nn.Linear(3, 3), Swish())
tracer = fx.Tracer()
tracer.is_leaf_module = lambda m, name: True  # nothing is opened, except the root
display(draw(model, title="the trace of fx.Tracer"))
draw(
    fx.GraphModule(model, tracer.trace(model)),
    title="the trace of LeafTracer(leaf_types=(Swish,))",
)


# %% solve="LeafTracer"
class LeafTracer(fx.Tracer):
    """A tracer with leaves of your own choice, besides those of `fx.Tracer`."""

    def __init__(self, leaf_types: tuple[type, ...] = (), leaf_names: tuple[str, ...] = ()) -> None:
        """Take the leaves.

        Args:
            leaf_types: classes; their subclasses count, too.
            leaf_names: whole names of modules.
        """
        ### BEGIN SOLUTION
        super().__init__()
        self.leaf_types, self.leaf_names = tuple(leaf_types), frozenset(leaf_names)
        ### END SOLUTION

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether `m`, which has this name in the root, stays one node."""
        ### BEGIN SOLUTION
        chosen = isinstance(m, self.leaf_types) or module_qualified_name in self.leaf_names
        return chosen or super().is_leaf_module(m, module_qualified_name)
        ### END SOLUTION


# %% check="LeafTracer"
check(LeafTracer)

# %% hint="LeafTracer"
hint("LeafTracer")

# %% [markdown]
# Leaves do not only save a trace that would fail. They also choose how much you want to see.
# Of GoogLeNet's 199 nodes, 22 are left if each Inception block is one:

# %% uses="LeafTracer"
tracer = LeafTracer(leaf_types=(Inception, BasicConv2d))
overview = fx.GraphModule(make_alive(plain), tracer.trace(plain))
assert len(overview.graph.nodes) == 22
assert_same_results(overview, plain, pictures[0])
draw(overview)

# %% [markdown]
# ## 8.6 What freezes
#
# Python runs `forward` once, with Proxies. What it computes without a Proxy is computed in that one run.
# The result is written into the graph as a constant, or, if it is a tensor, kept as an attribute of the module.
#
# | in `forward` | in the graph | to keep it alive |
# |---|---|---|
# | `self.scale`, a number | the number | a buffer, or a parameter of `forward` |
# | `self.training` | a branch, or `training=True` | 8.7 |
# | `random.random()` | the number | a wrapped function that is given `x` |
# | `torch.randn(2, 3)`, `torch.ones(3)` | a tensor on the module | sizes from the input, `randn_like` |
# | `x.shape[0]` | a node | it *is* alive |


# %%
class Freezes(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0
        self.register_buffer("offset", torch.zeros(3))

    def forward(self, x):
        noise = torch.randn(3) * random.random()
        return x * self.scale + self.offset + noise


model = Freezes()
gm = fx.symbolic_trace(model)
print(gm.code)
x = torch.zeros(3)
before = gm(x)
assert torch.equal(gm(x), before)  # the same "noise" in each call
model.scale = 100.0
assert torch.equal(gm(torch.ones(3)), before + 2)  # a number is copied
model.offset.fill_(5)
assert torch.equal(gm(x), before + 5)  # a buffer is shared
assert "_tensor_constant0" in gm.state_dict()

# %% [markdown]
# The rule about random numbers is the rule about all calls: FX records a call if a Proxy takes part in it.
# It does not matter *how* it takes part. It is enough that it says the size.
#
# **Predict the result.** Which of these three traces give other noise in each call?
#
# ```python
# a = fx.symbolic_trace(lambda x: x + torch.rand(3))
# b = fx.symbolic_trace(lambda x: x + torch.rand(x.shape[0]))
# c = fx.symbolic_trace(lambda x: x + torch.rand(3).to(x.dtype))
# ```
#
# <details><summary>All of them: they are random functions.</summary>
#
# No. What a function does is not known while tracing. What counts is whether its call is recorded.
# </details>
# <details><summary><code>b</code> and <code>c</code>, which both look at the input.</summary>
#
# No. In <code>c</code>, the call <code>torch.rand(3)</code> sees no Proxy. Only the conversion after it does, and that is what is recorded.
# </details>
# <details><summary>Only <code>b</code>.</summary>
#
# Right. There, a Proxy is among the arguments of <code>rand</code> itself.
# </details>

# %%
a = fx.symbolic_trace(lambda x: x + torch.rand(3))
b = fx.symbolic_trace(lambda x: x + torch.rand(x.shape[0]))
c = fx.symbolic_trace(lambda x: x + torch.rand(3).to(x.dtype))
x = torch.zeros(3)
assert [not torch.equal(trace(x), trace(x)) for trace in (a, b, c)] == [False, True, False]

# %% [markdown] card="fresh_noise"
# **Given** a tensor `x` of a floating dtype, **return** `x` plus noise from a standard normal distribution.
#
# Write it so that it can be traced, and so that **every call of the trace draws new noise**:
# of the shape and of the dtype of the input, whatever they are. Under the same seed, the trace and the function itself give the same.
#
# **Do not** change `x` itself.

# %% [markdown]
# The graph of an answer has a call in it that draws. Here it is with another distribution:

# %%
draw(fx.symbolic_trace(lambda x: x * torch.rand_like(x)))


# %% solve="fresh_noise"
def fresh_noise(x: torch.Tensor) -> torch.Tensor:
    """`x` plus standard normal noise, drawn anew in every call, of the function and of its trace.

    Args:
        x: a tensor of any shape and of a floating dtype.

    Returns:
        A new tensor of the same shape and dtype.
    """
    ### BEGIN SOLUTION
    # The Proxy is an argument of the call that draws, so the call is recorded.
    return x + torch.randn_like(x)
    ### END SOLUTION


# %% check="fresh_noise"
check(fresh_noise)

# %% hint="fresh_noise"
hint("fresh_noise")

# %% [markdown]
# ## 8.7 Flags
#
# `self.training` is a plain `bool`. `F.dropout(x, 0.2, self.training)` hands its value on, and the node keeps it:


# %%
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return F.dropout(self.lin(x), 0.2, self.training)


head = Head().train()
gm = fx.symbolic_trace(head)
(node,) = (node for node in gm.graph.nodes if node.target is F.dropout)
print(node.args, node.kwargs)
assert node.kwargs == {"p": 0.2, "training": True, "inplace": False} and node.name == "dropout"

gm.eval()
x = torch.randn(200, 4)
assert (gm(x) == 0).any() and not (head.eval()(x) == 0).any()  # `eval()` has not reached it

# %% [markdown]
# The function was called with `0.2` by position, and the node has `p=0.2` by keyword.
# `F.dropout` is a Python function; it sees the Proxy and passes the call on to FX, with its parameters in a form of its own.
#
# `nn.Dropout` has the same flag, but it is a leaf: the flag is read by its own `forward`, in each call.
# So this pass would bring the flag back to life: exchange the *function* for a *module*.
# Four questions make it harder than it looks.
#
# * **Which module?** Each call has its own `p`, and a line in a block that is called twice gives two calls.
# * **Under which name?** The node may be called `dropout`, and the model may have a submodule of that name.
# * **In which mode?** A module that was just made is in training mode, whatever the model is in.
# * **What about the others?** A part of the model may be frozen, which means that it is in eval mode while the rest trains. `train()` on the whole result would wake it up.
#
# The name is a question about attributes: a submodule is one, and so are a parameter, a buffer and a number. `hasattr` asks for all of them:

# %%
gm = fx.symbolic_trace(Gated())
assert hasattr(gm, "gate") and not hasattr(gm, "gate_1")
assert gm.add_submodule("extra.drop", nn.Dropout(0.1))  # makes the module in between, too
assert gm.extra.drop.training  # new modules begin in training mode

# %% [markdown] card="dropout_that_listens"
# **Given** a model, **return** its trace, in which each call of `F.dropout` is a call of an `nn.Dropout`.
#
# * Each call gets a module **of its own**, with the `p` of that call.
# * What `training` was when it was captured does not matter. Each new module is in the mode of the **model** that you were given.
# * No other module changes its mode. A frozen part stays frozen.
# * No submodule that was there is overwritten.
#
# Other dropouts stay as they are: `F.dropout1d`, `F.alpha_dropout`, modules. `inplace=True` is never tested.
#
# **Do not** change the model you were given.


# %%
class Given(nn.Module):
    def forward(self, x):
        return F.dropout(torch.exp(x), 0.2, self.training)


class Wanted(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        return self.drop(torch.exp(x))


display(draw(Given(), title="a model that calls F.dropout"))
draw(Wanted(), title="what comes back; the name of the module is up to you")


# %% solve="dropout_that_listens"
def dropout_that_listens(model: nn.Module) -> fx.GraphModule:
    """Exchange each `F.dropout` of a model for an `nn.Dropout`, which listens to `train` and `eval`.

    Args:
        model: any module that can be traced.

    Returns:
        A new graph module.
    """
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)
    count = 0
    for node in list(gm.graph.nodes):
        if node.op != "call_function" or node.target is not F.dropout:
            continue
        while hasattr(gm, f"listening_dropout_{count}"):
            count += 1
        name = f"listening_dropout_{count}"
        # Only the new module is set: the others are the caller's.
        gm.add_submodule(name, nn.Dropout(node.kwargs["p"]).train(model.training))
        with gm.graph.inserting_before(node):
            new = gm.graph.call_module(name, node.args)
        node.replace_all_uses_with(new)
        gm.graph.erase_node(node)
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="dropout_that_listens"
check(dropout_that_listens)

# %% hint="dropout_that_listens"
hint("dropout_that_listens")

# %% uses="dropout_that_listens"
gm = dropout_that_listens(head.train())
assert (gm(x) == 0).any()
torch.testing.assert_close(gm.eval()(x), head.eval()(x))

# %% [markdown]
# ## 8.8 Models that can be traced only once
#
# Some models keep what they have computed, so that they need not compute it again:


# %%
class Remembering(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.cache = {}

    def forward(self, x):
        if "places" not in self.cache:
            self.cache["places"] = torch.arange(x.shape[-1])
        return self.lin(x) * self.cache["places"]


remembering = Remembering()
first, second = fx.symbolic_trace(remembering), fx.symbolic_trace(remembering)
print(second.code)
print(remembering.cache)
first.graph.lint()
with fails(RuntimeError):
    second.graph.lint()
with fails(UnboundLocalError):
    second(torch.randn(2, 3))

# %% [markdown]
# The first trace is right, and it has left a *Proxy* in the cache. The second trace finds it there, and reads a node of another graph.
# The model itself is broken, too: given a tensor, it returns a Proxy.
#
# Such code is in the wild: LeViT and EfficientFormer of the library timm keep position biases like this.
# **What to do:** empty the cache before each trace and after it, or trace a copy. A fresh copy has no Proxy in it:

# %%
x = torch.randn(2, 3)
assert isinstance(remembering(x), fx.Proxy)
remembering.cache.clear()
torch.testing.assert_close(first(x), remembering(x))

# %% [markdown]
# ### A trace that cannot be traced
#
# A GraphModule is a model, so it can be traced again; most passes of this course rely on it.
# But its graph may hold calls that only work on real values. There are two common sources: graphs that were built or edited by hand,
# and tracers that gave Python an answer which `fx.Tracer` does not have.

# %%
graph = fx.Graph()
x = graph.placeholder("x")
rows = graph.call_function(int, (graph.call_method("size", (x, 0)),))
graph.output(graph.call_function(torch.add, (x, graph.call_function(torch.arange, (rows,)))))
by_hand = fx.GraphModule(nn.Module(), graph)
print(by_hand.code)
assert copy.deepcopy(by_hand)(torch.zeros(3, 3)).shape == by_hand(torch.zeros(3, 3)).shape == (3, 3)
with fails(TypeError):  # `int` of a Proxy
    fx.symbolic_trace(by_hand)

# %% [markdown]
# If a function takes *a graph module*, let it work on the graph as it is: `copy.deepcopy(gm)` gives a second one without a new trace.
#
# **Predict the result.** `LeafTracer` has kept a `Gate` as a leaf. Then somebody calls `fx.symbolic_trace` on the result. What becomes of the leaf?
#
# <details><summary>It stays a leaf: the node is there already.</summary>
#
# No. A new trace runs the code of the module, and asks a new Tracer about each module that is called.
# </details>
# <details><summary>It is opened.</summary>
#
# Right. <code>fx.Tracer</code> does not know your leaves. If the leaf could not be traced, the second trace raises.
# </details>
# <details><summary>An error: a graph module cannot hold modules of your own.</summary>
#
# No. It calls them like any other module.
# </details>

# %%
once = fx.GraphModule(gated := Gated(), KeepGates().trace(gated))
twice = fx.symbolic_trace(once)
print(len(once.graph.nodes), "nodes, and", len(twice.graph.nodes))
assert not any(n.op == "call_module" and n.target == "gate" for n in twice.graph.nodes)

# %% [markdown]
# ## 8.9 A trace around what cannot be traced
#
# With `LeafTracer` you can save the service of the story, if you know which parts refuse. Which are these?
# You could read the error, add a name, and trace again, until it works. That is a loop, and a program can run it.
#
# Two things decide whether the result is good.
#
# **As deep as possible.** If `net.inception5b` became a leaf, a whole block would be lost to your passes. Only `net.inception5b.calm` refuses.
# To ask "can this module be traced?" on its own, with `fx.symbolic_trace(m)`, says no about every module *around* a part that refuses. `Follow` in section 8.5 shows a better witness.
#
# **No traces of attempts.** A Tracer adds nodes as it goes. If it fails in the middle of a module, the nodes up to there are in the graph:

# %%
tracer = fx.Tracer()
with fails(fx.proxy.TraceError):
    tracer.trace(CalmBlock(nn.ReLU()))
print([node.name for node in tracer.graph.nodes])
assert len(tracer.graph.nodes) == 5  # of a trace that was given up

# %% [markdown]
# They could be erased, but a new trace from the beginning is simpler, and a trace is quick.
#
# If the *root* itself asks a Proxy, no leaf helps. Then the exception is the right answer: it names the line.

# %% [markdown] card="keep_dynamic"
# **Given** a model of which some submodules cannot be traced, **return** a trace in which those, and only those, stay leaves (besides the leaves of `fx.Tracer`).
#
# * They lie **as deep down as possible**: a module that can be traced around its parts is opened.
# * Tracing may raise any exception, not only `TraceError`.
# * Everything else is as in one trace of `fx.Tracer`: no attempt leaves a node behind.
# * If the root itself cannot be traced, raise what tracing raised.
#
# Whether a module can be traced is decided in the place where it is called. (Models in which this makes a difference are never tested.)
#
# **Do not** change the model you were given.


# %%
class Asks(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.asks = Asks()

    def forward(self, x):
        return self.asks(self.lin(x)).tanh()


model = nn.Sequential(Around(), nn.ReLU())
tracer = fx.Tracer()
tracer.is_leaf_module = lambda m, name: name == "0.asks" or m.__module__.startswith("torch.nn.")
draw(fx.GraphModule(model, tracer.trace(model)), title="what keep_dynamic gives: 0 is opened")


# %% solve="keep_dynamic"
### BEGIN SOLUTION
class Attempt(fx.Tracer):
    """Traces with some leaves more, and notes the innermost module that raised."""

    def __init__(self, dynamic: set[nn.Module]) -> None:
        super().__init__()
        self.dynamic = dynamic
        self.failed: nn.Module | None = None

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return m in self.dynamic or super().is_leaf_module(m, module_qualified_name)

    def call_module(self, m: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        try:
            return super().call_module(m, forward, args, kwargs)
        except Exception:
            # The first that sees the exception is the innermost.
            if self.failed is None:
                self.failed = m
            raise


### END SOLUTION


def keep_dynamic(model: nn.Module) -> fx.GraphModule:
    """A trace in which the parts that cannot be traced stay leaves, as deep down as possible.

    Args:
        model: any module.

    Returns:
        A new graph module.

    Raises:
        Exception: what tracing raised, if the root itself cannot be traced.
    """
    ### BEGIN SOLUTION
    dynamic: set[nn.Module] = set()
    while True:
        attempt = Attempt(dynamic)
        try:
            graph = attempt.trace(model)
        except Exception:
            if attempt.failed is None:
                raise
            dynamic.add(attempt.failed)
        else:
            return fx.GraphModule(attempt.root, graph)
    ### END SOLUTION


# %% check="keep_dynamic"
check(keep_dynamic)

# %% hint="keep_dynamic"
hint("keep_dynamic")

# %% [markdown]
# ## 8.10 The service is traced
#
# Now the story can end. The model is traced, and both kinds of picture give what the service gives:

# %% uses="keep_dynamic"
gm = keep_dynamic(service)
kinds = Counter(
    type(gm.get_submodule(n.target)).__name__ for n in gm.graph.nodes if n.op == "call_module"
)
print(kinds)
assert kinds["Exposure"] == kinds["Calm"] == 1 and kinds["CalmBlock"] == kinds["Inception"] == 0
for picture in pictures:
    assert_same_results(gm, service, picture)
leaves = [n.target for n in gm.graph.nodes if n.target in ("exposure", "net.inception5b.calm")]
print(len(gm.graph.nodes), "nodes; leaves of the service:", leaves)
assert len(leaves) == 2

# %% [markdown]
# Two nodes out of about two hundred are closed boxes. Everything else is there for your passes.
#
# The last complaint is about the head: somebody wants to train the service again, from the trace.
# `F.dropout` has captured `False`, because the service was in eval mode. Which pass helps, and on what?
# `dropout_that_listens` traces its model anew, with `fx.Tracer`. On `gm` that would open the two leaves again, and fail.
# This holds for all passes that trace: they forget leaves.

# %% uses="dropout_that_listens"
with fails(fx.proxy.TraceError):
    dropout_that_listens(gm)


# %% [markdown]
# There is a way to have both: name the classes that refuse so that *every* Tracer takes them for leaves.
# `fx.Tracer` looks at the attribute `__module__` of a module, and nothing forbids to set it on one object.
# That is a trick, and it is shown because you will meet it in real code. Take it back afterwards:

# %% uses="dropout_that_listens"
refusing = [service.exposure, service.net.inception5b.calm]
for part in refusing:
    part.__module__ = "torch.nn.as_a_leaf"
whole = dropout_that_listens(service)
for part in refusing:
    del part.__module__

assert isinstance(whole.get_submodule(list(whole.graph.nodes)[-2].target), nn.Dropout)
for picture in pictures:
    assert_same_results(whole, service, picture)
with torch.no_grad():
    assert (whole.train()(pictures[0]) == 0).any()  # it drops again
service.eval()

# %% [markdown]
# Here is the whole service in one picture: the leaves of `LeafTracer`, chosen so that the two parts that refused, and what is around them, can be seen.

# %% uses="LeafTracer"
tracer = LeafTracer(leaf_types=(Inception, BasicConv2d, Exposure, Calm))
large = fx.GraphModule(service, tracer.trace(service))
assert_same_results(large, service, pictures[1])
assert len(large.graph.nodes) == 22 + 3  # both leaves, and the dropout
draw(large)

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (10 minutes)
#
# ### `fx.wrap` of a lambda
#
# `fx.wrap` takes a name, or a function whose `__name__` it looks up. The name of every lambda is `<lambda>`, and no global is called that.
# The call itself is silent; every trace after it raises `KeyError`.

# %%
lambdas = file_of("lambdas", "from torch import fx\nsquare = fx.wrap(lambda x: x * x)")
with fails(KeyError):
    fx.symbolic_trace(lambda x: x + 1)
setattr(lambdas, "<lambda>", None)  # the damage is undone
fx.symbolic_trace(lambda x: x + 1)

named = file_of("named", "from torch import fx\n\n@fx.wrap\ndef square(x): return x * x\n")
_, node, _ = fx.symbolic_trace(lambda x: named.square(x)).graph.nodes
assert node.target is named.square

# %% [markdown]
# **Right:** `def square(x): ...` at the top level, with the decorator.
#
# ### The end of a name is compared
#
# `is_leaf_module` is given whole paths. A question such as `name.endswith("gate")` also takes `body.old_gate`.


# %%
class ByEnding(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return module_qualified_name.endswith("1") or super().is_leaf_module(m, "")


many = nn.Sequential(*(Gate() for _ in range(12)))
called = [n.target for n in ByEnding().trace(many).nodes if n.op == "call_module"]
assert "1" in called and "11" in called  # 11 was not meant

# %% [markdown]
# **Right:** `module_qualified_name in names`, with a set of whole names.
#
# ### State that belongs to the class
#
# `leaf_names = []` in the body of the class, and `self.leaf_names.extend(...)`: then all tracers share one list.


# %%
class SharedList(fx.Tracer):
    leaf_names: list[str] = []

    def __init__(self, names):
        super().__init__()
        self.leaf_names.extend(names)


first, second = SharedList(["gate"]), SharedList(["body"])
assert first.leaf_names == second.leaf_names == ["gate", "body"]

# %% [markdown]
# **Right:** `self.leaf_names = list(names)`.
#
# ### A new module in the wrong mode
#
# The result is in eval mode, and one module in it is not:

# %%
gm = fx.symbolic_trace(Head().eval())
gm.add_submodule("new", nn.Dropout(0.5))
assert not gm.training and gm.new.training

# %% [markdown]
# **Right:** `nn.Dropout(p).train(model.training)`. It sets this one module, and returns it.
#
# ### An exception is swallowed where it should pass
#
# `except Exception: pass` in `call_module` hides errors of the root, too, and errors of your own.
# An exception that a Tracer catches *and does not raise again* leaves its notes about the call in disorder:


# %%
class Swallows(fx.Tracer):
    def call_module(self, m, forward, args, kwargs):
        try:
            return super().call_module(m, forward, args, kwargs)
        except fx.proxy.TraceError:
            return self.create_proxy("call_module", self.path_of_module(m), args, kwargs)


with fails(AssertionError):  # "Unexpected key calm, expected ..."
    Swallows().trace(nn.Sequential(nn.Sequential(CalmBlock(nn.ReLU()))))

# %% [markdown]
# **Right:** note the module, raise again, and begin a new trace.

# %% [markdown]
# ## Recap
#
# 1. Static control flow is decided once, and that is right. Dynamic control flow asks a Proxy, and raises. A buffer answers, and that is wrong without a message.
# 2. `fx.wrap` replaces a global name in one file. Methods, other names and imports from elsewhere are not replaced.
# 3. A Tracer decides with `is_leaf_module` what is opened. Keep the answer of the base class.
# 4. A call is recorded if a Proxy takes part in it. Everything else freezes.
# 5. Passes that trace again forget leaves, and models that keep values can be traced only once.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `fx.wrap("name")`, `@fx.wrap` | records calls of a global function of this file, at the top level only |
# | `fx.Tracer(autowrap_modules=(math, tools))` | records calls of the functions of these modules |
# | `tracer.trace(model)`, then `fx.GraphModule(tracer.root, graph)` | what `symbolic_trace` does |
# | `def is_leaf_module(self, m, module_qualified_name)` | whether a module stays one node |
# | `def call_module(self, m, forward, args, kwargs)` | around each call of a module |
# | `tracer.path_of_module(m)` | the whole name of a module |
# | `torch._assert(condition, message)` | an assertion that is recorded (private, but the usual one) |
# | `gm.add_submodule(path, module)` | adds a module, with the modules in between |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | `concrete_args`, and the nine silent cases | chapter 1 |
# | a tracer that answers questions about shapes | the deep dive `08b_shapes` |
# | recording where a node comes from | the deep dive `07b_cutting`: `node_paths` |
# | capture with real shapes, graph breaks, `torch.cond` | chapter 11 |
# | passes that keep the graph module they are given | chapter 12 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), sections *Limitations of Symbolic Tracing* and *Non-torch Functions*;
# the reference of `torch.fx.Tracer` on the same page. Issues that this chapter answers:
# [44802](https://github.com/pytorch/pytorch/issues/44802) (a subclass of a layer is opened),
# [98422](https://github.com/pytorch/pytorch/issues/98422) (`torch.Tensor.flatten(x)`),
# [83851](https://github.com/pytorch/pytorch/issues/83851) (assertions about shapes),
# [68190](https://github.com/pytorch/pytorch/issues/68190) (`self.training` is frozen).
