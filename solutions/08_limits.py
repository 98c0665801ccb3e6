# %% [markdown]
# # 8 · The limits of tracing, and tracers of your own
#
# **After this chapter you can trace a model that refuses to be traced, and say what you leave out when you do.**
#
# | | |
# |---|---|
# | **You need** | chapter 1, where traces fail for the first time; chapter 3, passes; section 7.3, a tracer that logs |
# | **Time** | about 120 minutes, 50 of them for the exercises; a good place for a break is after 8.5 |
#
# **When you are done, you can**
#
# 1. say whether a branch or a loop is static or dynamic, and what each of them leaves in the graph;
# 2. keep a function whole with `fx.wrap`, and find out why a wrapped function is run all the same;
# 3. rewrite spellings that a Proxy cannot follow, and name one that loses a gradient without any message;
# 4. write a Tracer with leaves of your own choice;
# 5. list what a trace has frozen: flags, sizes, attributes, buffers, random numbers;
# 6. bring a frozen dropout back under `train()` and `eval()`;
# 7. recognize a model that can be traced only once;
# 8. trace everything around the parts that cannot be traced.

# %% [markdown]
# ## A story
#
# The other team has put its GoogLeNet into a service.
# In front of it is a part that looks at the picture and decides how to scale it.
# Near its end is a part that scales down values that are too large.
# A dropout in the head was written as a function.
#
# Your passes begin with `fx.symbolic_trace`, and it answers:
#
# `TraceError: symbolically traced variables cannot be used as inputs to control flow`
#
# A whole network is lost to your passes because of two small parts.
# This chapter gets it back.

# %%
import copy
import math
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

from autograder import check, draw, drill, fails, hint, progress
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
# <details><summary>It raises: a trace does not have a mode.</summary>
#
# No. A <code>GraphModule</code> is an <code>nn.Module</code>, so it has a mode, and hands it down to its submodules.
# </details>

# %% proof=true
gm = fx.symbolic_trace(nn.Sequential(nn.Dropout(0.5)).train())
assert torch.equal(gm.eval()(torch.ones(9)), torch.ones(9))

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

# %% proof=true
one, other = (fx.symbolic_trace(nn.Sequential(nn.ReLU())) for _ in range(2))
(result,) = (node for node in other.graph.nodes if node.op == "output")
result.args = (list(one.graph.nodes)[1],)
with fails(RuntimeError):
    other.graph.lint()

# %% [markdown]
# ## 8.1 Static and dynamic control flow
#
# Python decides every `if` and every loop *while* it traces.
#
# | control flow is | it depends on | result |
# |---|---|---|
# | **static** | settings, the number of layers, the mode, the type of a part | it is decided once, and the graph has the branch that was taken |
# | **dynamic** | the values or the sizes of the input | usually a Proxy is asked, and tracing raises; section 1.5 has the silent cases |
#
# Static control flow is not a defect. A model with other settings is another function, so it has another graph.
# GoogLeNet has two more heads in training mode:

# %%
plain = googlenet(weights=None, init_weights=False)
sizes = {}
for training in (False, True):
    sizes[training] = len(fx.symbolic_trace(plain.train(training)).graph.nodes)
print(sizes)


# %% proof=true
assert sizes == {False: 199, True: 218}

# %% [markdown]
# Not every use of a size is a question. A size that is only handed on stays a Proxy, and the trace works for other shapes:


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
# No. It asks a tensor, but this one is not a Proxy. A buffer is a real tensor while FX traces, and it answers.
# </details>
# <details><summary>2: the branch was decided while tracing.</summary>
#
# Right. The buffer had an answer, so Python took the branch without any message. Only parameters become Proxies as soon as they are read.
# </details>
# <details><summary>200: the trace reads the buffer in each call.</summary>
#
# No. The graph would read it with a <code>get_attr</code> node if it met a Proxy. Here it meets an <code>if</code>, and leaves nothing.
# </details>


# %% proof=true
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
# There are four ways to decide a dynamic branch at run time.
#
# | way out | the graph then has | take it if |
# |---|---|---|
# | write it with tensors: `torch.where`, `clamp` (section 1.6) | the operations of both sides | both sides are cheap, and neither fails |
# | a wrapped function (8.3) | one `call_function` node | passes need not see the code of a function |
# | a leaf module (8.5, 8.9) | one `call_module` node | passes need not see the code of a module |
# | another capture: `torch.compile`, `torch.export` (chapter 11) | real shapes; a branch splits the graph, or is `torch.cond` | you may give up the graph of modules |
#
# `Calm` from the story can be written with tensor operations. This has a price: both sides are always computed.
# And you must check that zeros and NaN still give the same result:


# %%
def calm_with_tensors(x):
    largest = x.abs().max()
    return torch.where(largest > 10, x / largest * 10, x)


gm = fx.symbolic_trace(calm_with_tensors)
nan = torch.tensor([float("nan"), 20.0])
for x in (torch.tensor([5.0, -40.0]), torch.tensor([5.0, 4.0]), torch.zeros(3), nan):
    torch.testing.assert_close(gm(x), Calm()(x), equal_nan=True)

# %% [markdown]
# ## 8.3 `fx.wrap`, in all its forms
#
# `fx.wrap` notes two things: the *dictionary of global names* of the file (or notebook) in which it is called, and a *name*.
# While FX traces, it puts another function under that name into that dictionary. The other function records a call if a Proxy is among its arguments.
# Code that reaches the function in any other way calls the original, which then runs on Proxies.
#
# The next cell makes a file `tools`, and a second one, `client`, that uses it. Each of its `calls` is one way to write a call.

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
    "a": lambda x: clip(x),
    "b": lambda x: tools.clip(x),
    "c": lambda x: shorter(x),
    "d": lambda x: tools.clip_wrapped(x),
    "e": lambda x: clip_wrapped(x),
    "f": lambda x: tools.uses_it(x),
}
"""


def file_of(name, code):
    """A module made from text, as if the text were a file."""
    made = types.ModuleType(name)
    sys.modules[name] = made
    exec(code, made.__dict__)
    return made


tools, client = file_of("tools", TOOLS), file_of("client", CLIENT)

# %% [markdown]
# **Drill 08.3a.** `fx.symbolic_trace` of some of these six functions records the call, and of the others it raises. Write the set of the keys that are recorded.

# %% drill=true
records = {"a", "d", "f"}
drill("08.3a", records)
# Mistake: One of these names is replaced in another file, and not in this one.
# records = {"a", "d", "e", "f"}

# %%
for key, function in client.calls.items():
    try:
        print(key, [node.name for node in fx.symbolic_trace(function).graph.nodes])
    except fx.proxy.TraceError as error:
        print(key, error)


# %% proof=true
def records_its_call(function):
    try:
        return any(n.op == "call_function" for n in fx.symbolic_trace(function).graph.nodes)
    except fx.proxy.TraceError:
        return False


assert {key for key in client.calls if records_its_call(client.calls[key])} == {"a", "d", "f"}
assert client.clip_wrapped is tools.clip_wrapped

# %% [markdown]
# `"e"` surprises most people. `clip_wrapped` is wrapped, but in the dictionary of `tools`.
# `from tools import clip_wrapped` has put the *original* into the dictionary of `client`, where nothing replaces it.
# The fix is one line in your own file or cell: `fx.wrap("clip_wrapped")`.

# %% [markdown]
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

# %% proof=true
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
try:
    for traced in (methods.Limiter(), lambda x: x + 1):
        with fails(KeyError):
            fx.symbolic_trace(traced)
finally:
    methods.limit = None  # now there is something to replace: other traces work again
fx.symbolic_trace(lambda x: x + 1)
with fails(fx.proxy.TraceError):
    fx.symbolic_trace(methods.Limiter())  # the method is not found by that name

# %% [markdown]
# If this happens to you, define the name: `limit = None`. Then all other traces work again.
#
# A method cannot be wrapped. Instead, the method can call a function at the top level:


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

# %% proof=true
assert gm(torch.tensor([5.0])).item() == 3.0 and gm(torch.tensor([1.5])).item() == 2.5

# %% [markdown]
# If the function is in a file that you cannot edit, a Tracer can wrap it. `autowrap_functions` takes the functions themselves.
# They are then recorded under every global name in the file of each `forward` that is traced, unless the name begins with `_`.
# `autowrap_modules` takes whole modules, and also records calls such as `tools.clip(x)`. Its default is `(math,)`, so add `math` to yours.


# %%
class CallsTools(nn.Module):
    def forward(self, x):
        return tools.clip(x) * 2


with fails(fx.proxy.TraceError):
    fx.symbolic_trace(CallsTools())
print(fx.Tracer(autowrap_modules=(math, tools)).trace(CallsTools()))

# %% proof=true
_private = clip = tools.clip
graph = fx.Tracer(autowrap_modules=(math, tools)).trace(CallsTools())
assert [node.target for node in graph.nodes if node.op == "call_function"][0] is tools.clip
by_function = fx.Tracer(autowrap_functions=(tools.clip,))
nodes = by_function.trace(lambda x: clip(x)).nodes
assert [node.op for node in nodes] == ["placeholder", "call_function", "output"]
for refused in (lambda x: _private(x), lambda x: tools.clip(x)):
    with fails(fx.proxy.TraceError):
        by_function.trace(refused)
with fails(TypeError):
    fx.Tracer(autowrap_modules=(tools,)).trace(lambda x: math.sqrt(x))

# %% [markdown]
# ## 8.4 Spellings that a Proxy cannot follow
#
# A Proxy works like a tensor because PyTorch's functions know Proxies, and because a Proxy has all methods. Some spellings use neither.
#
# **A method, taken from the class.** `torch.Tensor.flatten` is a C function that looks at the type of its first argument.


# %%
def flat_by_class(x):
    return torch.Tensor.flatten(x, 1)


with fails(TypeError):
    fx.symbolic_trace(flat_by_class)

# %% [markdown]
# **Right:** `x.flatten(1)` or `torch.flatten(x, 1)`.

# %% proof=true
for spelling in (lambda x: x.flatten(1), lambda x: torch.flatten(x, 1)):
    assert fx.symbolic_trace(spelling)(torch.ones(2, 3, 4)).shape == (2, 12)

# %% [markdown]
# **An assertion about a shape.** `assert x.shape[0] == 2` is an `if`, and tracing raises. `torch._assert` is a function that FX records, so the check runs in every call.


# %%
def two_rows_checked(x):
    torch._assert(x.shape[0] == 2, "two rows are needed")
    return x * 2


gm = fx.symbolic_trace(two_rows_checked)
print(gm(torch.ones(2, 3)))
with fails(AssertionError):
    gm(torch.ones(3, 3))


# %% proof=true
def two_rows(x):
    assert x.shape[0] == 2
    return x * 2


with fails(fx.proxy.TraceError):
    fx.symbolic_trace(two_rows)

# %% [markdown]
# No node reads the value of `torch._assert`. So a pass that removes dead code must know that this node has to stay: `sound_dce` of the deep dive `03b_effects` does.
#
# **A function with a derivative of its own.** The next one is silent.
#


# %%
class Round(torch.autograd.Function):
    """Rounds, and hands the gradient on as if nothing had happened."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


# %% [markdown]
# **Predict the result.** What is the gradient of `fx.symbolic_trace(lambda x: Round.apply(x).sum())`?
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


# %% proof=true
gm = fx.symbolic_trace(lambda x: Round.apply(x).sum())
points = torch.tensor([0.2, 1.7], requires_grad=True)
(traced,) = torch.autograd.grad(gm(points), points)
(eager,) = torch.autograd.grad(Round.apply(points).sum(), points)
assert gm(points) == 2 and traced.tolist() == [0.0, 0.0] and eager.tolist() == [1.0, 1.0]

# %% [markdown]
# **Right:** wrap a function that calls `apply`. The node then calls your function, with its own `backward`.


# %%
@fx.wrap
def rounded(x):
    return Round.apply(x)


kept = fx.symbolic_trace(lambda x: rounded(x).sum())
x = torch.tensor([0.2, 1.7], requires_grad=True)
kept(x).backward()
print(kept.code, x.grad)

# %% proof=true
assert x.grad.tolist() == [1.0, 1.0] and kept(x) == 2

# %% [markdown]
# ## 8.5 A Tracer of your own
#
# `fx.symbolic_trace(model)` does the work of three lines:
#
# ```python
# tracer = fx.Tracer()
# graph = tracer.trace(model)
# gm = fx.GraphModule(tracer.root, graph)
# ```
#
# (It also names the class of `gm` after the model.) The second line gives an `fx.Graph`. You cannot call it, and it does not have `.code`; the third line is for that.
#
# A subclass of `fx.Tracer` can change what happens in between. These are the methods that are worth knowing:
#
# | method | is called | you override it to |
# |---|---|---|
# | `is_leaf_module(m, module_qualified_name)` | for each call of a module | choose leaves |
# | `call_module(m, forward, args, kwargs)` | for each call of a module, leaf or not | do something around the call |
# | `create_proxy(kind, target, args, kwargs)` | for each operation | see or exchange operations |
# | `create_node(kind, target, args, kwargs)` | for each node | note something (section 7b.1) |
# | `getattr(attr, attr_val, parameter_proxy_cache)` | for each submodule, parameter or buffer that is read | choose what becomes a Proxy |
#
# `is_leaf_module` is the one that is used most. The name that it gets is the *whole* path, such as `body.0.gate`.
# A leaf is not opened, so nothing inside of it is asked, recorded, or seen by a pass.


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
    """Gates stay leaves; prints each question."""

    def is_leaf_module(self, m, module_qualified_name):
        leaf = type(m) is Gate or super().is_leaf_module(m, module_qualified_name)
        print(f"{module_qualified_name:8} {type(m).__name__:10} {leaf}")
        return leaf


graph = KeepGates().trace(Gated())


# %% proof=true
class Reads(fx.Tracer):
    """Notes which attributes are read."""

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        names.append(attr)
        return super().getattr(attr, attr_val, parameter_proxy_cache)


assert [n.target for n in graph.nodes if n.op == "call_module"] == ["gate", "body.0", "body.1"]
names = []
Reads().trace(Gated())
assert names == ["body", "gate", "lin", "lin"]
with fails(TypeError):
    graph(torch.ones(3))
assert not hasattr(graph, "code") and hasattr(fx.Tracer, "create_proxy")
short, long = fx.symbolic_trace(Gated()), fx.GraphModule(gated := Gated(), fx.Tracer().trace(gated))
assert short.code == long.code
assert [type(gm).__name__ for gm in (short, long)] == ["Gated", "GraphModule"]

# %% [markdown]
# Notice three things in the output.
# The root is missing: it is always opened. `body` is opened, because an `nn.Sequential` is not a leaf.
# And `gate.lin` is missing: FX does not ask about the inside of a leaf.
#
# **Predict the result.** The line `super()...` is left out, so that only gates are leaves. What is the trace of `body.0`, an `nn.Linear`?
#
# <details><summary>Still one node: layers of PyTorch are always leaves.</summary>
#
# No. They are leaves because the method of the base class says so, and it is not called any more.
# </details>
# <details><summary>Two <code>get_attr</code> nodes, and a call of the function <code>linear</code>.</summary>
#
# Right. Without that answer, <code>nn.Linear</code> is a module like any other, and its <code>forward</code> is traced.
# </details>
# <details><summary>An error: layers of PyTorch cannot be traced.</summary>
#
# Not this one. Some cannot: <code>nn.BatchNorm2d</code> asks for the number of dimensions of its input.
# </details>


# %% proof=true
class OnlyGates(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return type(m) is Gate


ops = [node.op for node in OnlyGates().trace(Gated()).nodes]
assert ops.count("get_attr") == 2 and ops.count("call_module") == 2

# %% [markdown]
# A subclass of a layer is opened, too (section 1.3). The `forward` of a BatchNorm asks `input.dim() != 4`, so its subclasses refuse:


# %%
class OwnNorm(nn.BatchNorm2d):
    """A subclass is opened, as it is not defined in `torch.nn`."""


with fails(fx.proxy.TraceError):
    fx.symbolic_trace(nn.Sequential(nn.Conv2d(3, 3, 1), OwnNorm(3)))

# %% [markdown]
# `call_module` sees more than `is_leaf_module`: it is there before the call, after it, and if the call raises.
# This Tracer shows how an exception travels. The innermost module sees it first:


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

# %% proof=true
assert tracer.way == ["1.0.calm", "1.0", "1"]

# %% [markdown] card="LeafTracer"
# **Write** the class `LeafTracer`, a Tracer that takes its leaves as arguments:
#
# * `leaf_types`: a tuple of classes. Modules of these classes, and of subclasses of them, stay leaves.
# * `leaf_names`: whole names of modules, such as `"body.1"`. The modules with these names stay leaves.
#
# Both can be left out. The leaves of `fx.Tracer` stay leaves, and all else is traced as usual.
# The root is always opened.
#
# A tracer can trace several models, one after the other. Two tracers share no state.


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
    """A tracer with leaves of your own choice, in addition to those of `fx.Tracer`."""

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
# `QuantizationTracer` of `torch.ao.quantization.fx` takes names and classes, too. It compares with `type(m)`, so it opens subclasses.
#
# `LeafTracer(leaf_types=(nn.Linear,))` changes nothing: a layer of PyTorch is a leaf already. Leaves also hide detail.
# GoogLeNet has 199 nodes. With each Inception block and each `BasicConv2d` as one leaf, 22 are left:

# %% uses="LeafTracer"
tracer = LeafTracer(leaf_types=(Inception, BasicConv2d))
overview = fx.GraphModule(make_alive(plain), tracer.trace(plain))
assert_same_results(overview, plain, pictures[0])
draw(overview)


# %% proof=true
from torch.ao.quantization.fx.tracer import QuantizationTracer


class OwnGate(Gate):
    """A subclass of a class that was chosen."""


assert len(overview.graph.nodes) == 22
quantizer = QuantizationTracer(["body.1"], [Gate])
graph = quantizer.trace(Gated())
assert [n.target for n in graph.nodes if n.op == "call_module"] == ["gate", "body.0", "body.1"]
assert not quantizer.is_leaf_module(OwnGate(), "any")

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
# | `random.random()` | the number | a wrapped function that takes `x` |
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
print("in the trace:", list(gm.state_dict()))
print("in the model:", [name for name in vars(model) if name.startswith("_tensor")])

# %% proof=true
x = torch.zeros(3)
before = gm(x)
assert torch.equal(gm(x), before) and "_tensor_constant0" in gm.state_dict()
assert gm.offset is model.offset and "_tensor_constant0" in vars(model)
again = Freezes()
fx.symbolic_trace(copy.deepcopy(again))
assert not any(name.startswith("_tensor") for name in vars(again))
fx.symbolic_trace(model)
assert "_tensor_constant1" in vars(model)

# %% [markdown]
# The "noise" is one tensor, `_tensor_constant0`. FX keeps it in the trace, and it has put it into *your model*, too: a trace leaves marks.
# If the caller's model must stay untouched, trace `copy.deepcopy(model)`.
#
# `offset` is shared: trace and model have the same tensor. The number `scale` was copied.

# %%
CHANGES = {
    "a number": lambda model: setattr(model, "scale", 100.0),
    "a buffer, in place": lambda model: model.offset.fill_(5),
    "a buffer, replaced": lambda model: setattr(model, "offset", torch.full((3,), 5.0)),
}

# %% [markdown]
# **Drill 08.6a.** A new `Freezes` is traced, and then one of `CHANGES` is made to the model. Which of them does the trace notice? Write the set of their keys.

# %% drill=true
noticed = {"a buffer, in place"}
drill("08.6a", noticed)
# Mistake: The trace has the tensor itself. It does not look for it in the model again.
# noticed = {"a buffer, in place", "a buffer, replaced"}

# %% proof=true
for name, change in CHANGES.items():
    changed = Freezes()
    its_trace = fx.symbolic_trace(changed)
    its_result = its_trace(torch.ones(3))
    change(changed)
    assert torch.equal(its_trace(torch.ones(3)), its_result) == (name != "a buffer, in place")

# %% [markdown]
# The rule about random numbers is the rule about all calls: FX records a call if a Proxy takes part in it.
# It is enough that it gives the size (as one number or one tuple).
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
# No. FX does not know what a function does. What counts is whether its call is recorded.
# </details>
# <details><summary><code>b</code> and <code>c</code>, which both look at the input.</summary>
#
# No. In <code>c</code>, the call <code>torch.rand(3)</code> sees no Proxy. Only the conversion after it does, and that is what is recorded.
# </details>
# <details><summary>Only <code>b</code>.</summary>
#
# Right. There, a Proxy is among the arguments of <code>rand</code> itself.
# </details>

# %% proof=true
a = fx.symbolic_trace(lambda x: x + torch.rand(3))
b = fx.symbolic_trace(lambda x: x + torch.rand(x.shape[0]))
c = fx.symbolic_trace(lambda x: x + torch.rand(3).to(x.dtype))
zeros = torch.zeros(3)
fresh = [not torch.equal(trace(zeros), trace(zeros)) for trace in (a, b, c)]
assert fresh == [False, True, False]

# %% [markdown] card="fresh_noise"
# **Given** a tensor `x` of a floating dtype, **return** `x` plus noise from a standard normal distribution.
#
# Write it so that it can be traced, and so that **every call of the trace draws new noise**:
# of the shape and of the dtype of the input, whatever they are. Under the same seed, the trace and the function itself give the same.
#
# **Do not** change `x` itself.

# %% [markdown]
# The graph of a right answer contains a call that draws random numbers. Here is such a graph, with another distribution:

# %%
draw(fx.symbolic_trace(lambda x: x * torch.rand_like(x)))


# %% solve="fresh_noise"
def fresh_noise(x: torch.Tensor) -> torch.Tensor:
    """`x` plus standard normal noise, drawn again in every call, of the function and of its trace.

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
# `self.training` is a plain `bool`. `F.dropout(x, 0.2, self.training)` passes its value, and the node keeps it (section 1.5):


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
print(node.name, node.args, node.kwargs)

# %% proof=true
assert node.kwargs == {"p": 0.2, "training": True, "inplace": False} and node.name == "dropout"
rows = torch.randn(200, 4)
assert (copy.deepcopy(gm).eval()(rows) == 0).any()
assert not (copy.deepcopy(head).eval()(rows) == 0).any()

# %% [markdown]
# The model passes `0.2` by position, and the node has `p=0.2` by keyword.
# `F.dropout` passes the call on to FX in this form.
#
# `nn.Dropout` is a leaf, and its own `forward` reads the flag in each call.
# So a pass can bring the flag back to life if it replaces the *function* by a *module*.
# Four questions make it harder than it looks.
#
# * **Which module?** Each call has its own `p`, and a line in a block that is called twice gives two calls.
# * **Under which name?** The node may be called `dropout`, and the model may have a submodule of that name.
# * **In which mode?** A module that was just made is in training mode, whatever the model is in.
# * **What about the others?** A part of the model may be frozen, which means that it is in eval mode while the rest trains. `train()` on the whole result would wake it up.
#
# The name must not be an attribute of any kind: a submodule, a parameter, a buffer, a number. `hasattr` asks for all of them:

# %%
gm = fx.symbolic_trace(Gated())
gm.add_submodule("drop", nn.Dropout(0.1))
print("gate:", hasattr(gm, "gate"), "gate_1:", hasattr(gm, "gate_1"))
print("training:", gm.drop.training)

# %% proof=true
assert hasattr(gm, "gate") and not hasattr(gm, "gate_1") and gm.drop.training

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
draw(Wanted(), title="what it returns; the name of the module is up to you")


# %% solve="dropout_that_listens"
def dropout_that_listens(model: nn.Module) -> fx.GraphModule:
    """Replace each `F.dropout` of a model by an `nn.Dropout`, which listens to `train` and `eval`.

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
x = torch.randn(200, 4)
print("zeros while training:", (gm(x) == 0).any().item())
torch.testing.assert_close(gm.eval()(x), head.eval()(x))

# %% proof=true
assert (gm.train()(x) == 0).any()
gm.eval()

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
with fails(RuntimeError):
    second.graph.lint()

# %% [markdown]
# The first trace is right, and it has left a *Proxy* in the cache. The second trace finds it there, and reads a node of another graph.
# The model itself is broken, too: with a tensor, it returns a Proxy.
#
# LeViT and EfficientFormer of the library timm keep position biases like this.
# **What to do:** empty the cache before each trace and after it, or trace a copy that was made while the cache was empty:

# %%
remembering.cache.clear()
third = fx.symbolic_trace(copy.deepcopy(remembering))
x = torch.randn(2, 3)
for trace in (first, third):
    torch.testing.assert_close(trace(x), remembering(x))

# %% proof=true
first.graph.lint()
with fails(UnboundLocalError):
    second(x)
broken = Remembering()
fx.symbolic_trace(broken)
assert isinstance(broken(x), fx.Proxy)
for _ in range(2):
    fx.symbolic_trace(copy.deepcopy(remembering)).graph.lint()

# %% [markdown]
# ### A trace that cannot be traced
#
# Most passes of this course trace what they are given, even a GraphModule.
# But a graph that was built by hand may have calls that only work on real values:

# %%
graph = fx.Graph()
x = graph.placeholder("x")
rows = graph.call_function(int, (graph.call_method("size", (x, 0)),))
graph.output(graph.call_function(torch.add, (x, graph.call_function(torch.arange, (rows,)))))
by_hand = fx.GraphModule(nn.Module(), graph)
with fails(TypeError):  # `int` of a Proxy
    fx.symbolic_trace(by_hand)

# %% [markdown]
# If a function takes *a graph module*, let it work on the graph as it is: `copy.deepcopy(gm)` gives a second one without a new trace.

# %% proof=true
assert copy.deepcopy(by_hand)(torch.zeros(3, 3)).shape == by_hand(torch.zeros(3, 3)).shape == (3, 3)

# %% [markdown]
# **Predict the result.** `LeafTracer` has kept a `Gate` as a leaf. Then you call `fx.symbolic_trace` on the result. Is the `Gate` still a leaf?
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

# %% proof=true
once = fx.GraphModule(gated := Gated(), KeepGates().trace(gated))
twice = fx.symbolic_trace(once)
assert [n.target for n in once.graph.nodes if n.op == "call_module"][0] == "gate"
assert not any(n.op == "call_module" and n.target == "gate" for n in twice.graph.nodes)

# %% [markdown]
# ## 8.9 A trace around what cannot be traced
#
# With `LeafTracer` you can save the service of the story, if you know which parts refuse.
# You could read the error, add a name, and trace again. A program can run this loop.
#
# Two things decide whether the result is good.
#
# **As deep as possible.** If `net.inception5b` became a leaf, a whole block would be lost to your passes. Only `net.inception5b.calm` refuses.
# `fx.symbolic_trace(m)` of each module does not tell them apart: it raises for every module *around* a part that refuses. `Follow` in section 8.5 finds the innermost module that raised.
#
# **No traces of attempts.** A Tracer adds nodes as it goes. If it fails in the middle of a module, the nodes up to there are in the graph:

# %%
tracer = fx.Tracer()
with fails(fx.proxy.TraceError):
    tracer.trace(CalmBlock(nn.ReLU()))
print([node.name for node in tracer.graph.nodes])

# %% proof=true
assert len(tracer.graph.nodes) == 5  # of a trace that was given up

# %% [markdown]
# A new trace from the beginning is simpler than erasing them.
#
# If the *root* itself asks a Proxy, no leaf helps. Then the exception is the right answer: it names the line.

# %%
several = nn.Sequential(
    CalmBlock(Exposure()), nn.Sequential(nn.ReLU(), Calm()), CalmBlock(nn.Tanh())
)

# %% [markdown]
# **Drill 08.9a.** Which modules of `several` should stay leaves, in addition to those of `fx.Tracer`? Write the set of their whole names.

# %% drill=true
stay = {"0.block", "0.calm", "1.1", "2.calm"}
drill("08.9a", stay)
# Mistake: A module that can be traced around its parts is opened.
# stay = {"0", "1.1", "2"}

# %% [markdown] card="keep_dynamic"
# **Given** a model of which some submodules cannot be traced, **return** a trace in which those, and only those, stay leaves (besides the leaves of `fx.Tracer`).
#
# * They are **as deep down as possible**: a module that can be traced around its parts is opened.
# * Tracing may raise any exception, not only `TraceError`.
# * Everything else is as in one trace of `fx.Tracer`: no attempt leaves a node.
# * If the root itself cannot be traced, raise what tracing raised.
#
# **Do not** change the model you were given.
#
# **Fine print**
#
# * Whether a module can be traced is decided in the place where it is called. Models in which this makes a difference are never tested.


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
    """Traces with some extra leaves, and notes the innermost module that raised."""

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
print(len(gm.graph.nodes), "nodes;", kinds)
for picture in pictures:
    assert_same_results(gm, service, picture)

# %% proof=true
assert kinds["Exposure"] == kinds["Calm"] == 1 and kinds["CalmBlock"] == kinds["Inception"] == 0
calls = {n.target for n in keep_dynamic(several).graph.nodes if n.op == "call_module"}
assert calls == {"0.block", "0.calm", "1.0", "1.1", "2.block", "2.calm"}

# %% [markdown]
# The last complaint is about the head: the other team wants to train the service again, from the trace.
# `F.dropout` has captured `False`, because the service was in eval mode. `dropout_that_listens` helps, but it traces its model again, with `fx.Tracer`.
# That opens the two leaves, and fails. All passes that trace forget leaves:

# %% uses="dropout_that_listens"
with fails(fx.proxy.TraceError):
    dropout_that_listens(gm)


# %% [markdown]
# A pass that takes a graph module and works on its graph (section 8.8) does not have this problem.
# For a pass that traces, lend the graph module a *stand-in* for each leaf: `nn.Identity`, which `fx.Tracer` keeps. Put the parts back afterwards:

# %% uses="dropout_that_listens"
parts = {n: gm.get_submodule(n) for n in ("exposure", "net.inception5b.calm")}
for name in parts:
    gm.set_submodule(name, nn.Identity())
whole = dropout_that_listens(gm)
for name, part in parts.items():
    whole.set_submodule(name, part)

for picture in pictures:
    assert_same_results(whole, service, picture)
with torch.no_grad():
    zeros = (whole.train()(pictures[0]) == 0).any().item()
whole.eval()
service.eval()
print("zeros while training:", zeros)

# %% proof=true
assert zeros

# %% [markdown]
# Here is the whole service in one picture: the two parts that refused, what is around them, and the dropout.

# %% uses="LeafTracer"
tracer = LeafTracer(leaf_types=(Inception, BasicConv2d, Exposure, Calm))
large = fx.GraphModule(service, tracer.trace(service))
assert_same_results(large, service, pictures[1])
draw(large)

# %% proof=true
assert len(large.graph.nodes) == 22 + 3  # both leaves, and the dropout

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. More are above: `torch.Tensor.flatten(x)` and an `autograd.Function` (8.4), and the mode of a new module (8.7).
#
# ### `fx.wrap` of a lambda
#
# `fx.wrap` takes a name, or a function whose `__name__` it looks up. The name of every lambda is `<lambda>`, and no global has that name.
# The call itself is silent; every trace after it raises `KeyError`.

# %%
lambdas = file_of("lambdas", "from torch import fx\nsquare = fx.wrap(lambda x: x * x)")
with fails(KeyError):
    fx.symbolic_trace(lambda x: x + 1)
setattr(lambdas, "<lambda>", None)  # the damage is undone

# %% [markdown]
# **Right:** `def square(x): ...` at the top level, with the decorator.

# %% proof=true
fx.symbolic_trace(lambda x: x + 1)
named = file_of("named", "from torch import fx\n\n@fx.wrap\ndef square(x): return x * x\n")
_, node, _ = fx.symbolic_trace(lambda x: named.square(x)).graph.nodes
assert node.target is named.square

# %% [markdown]
# ### The end of a name is compared
#
# `is_leaf_module` gets whole paths. A question such as `name.endswith("1")` also takes module 11:


# %%
class ByEnding(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return module_qualified_name.endswith("1") or super().is_leaf_module(m, "")


many = nn.Sequential(*(Gate() for _ in range(12)))
leaves = [n.target for n in ByEnding().trace(many).nodes if n.op == "call_module"]
print([name for name in leaves if "lin" not in name])

# %% [markdown]
# **Right:** `module_qualified_name in names`, with a set of whole names.

# %% proof=true
assert [name for name in leaves if "lin" not in name] == ["1", "11"]

# %% [markdown]
# ### An exception is swallowed
#
# With `except Exception: pass` in `call_module`, a module that refuses returns `None`. A node instead of the error is not right either:
# the nodes of the attempt stay. If the module is deeper in the model, FX's record of the call is in an inconsistent state:


# %%
class Swallows(fx.Tracer):
    def call_module(self, m, forward, args, kwargs):
        try:
            return super().call_module(m, forward, args, kwargs)
        except fx.proxy.TraceError:
            return self.create_proxy("call_module", self.path_of_module(m), args, kwargs)


print([node.name for node in Swallows().trace(nn.Sequential(Calm())).nodes])
with fails(AssertionError):
    Swallows().trace(nn.Sequential(nn.Sequential(Calm())))

# %% [markdown]
# **Right:** note the module, raise again, and begin a new trace.


# %% proof=true
class Hides(fx.Tracer):
    def call_module(self, m, forward, args, kwargs):
        try:
            return super().call_module(m, forward, args, kwargs)
        except Exception:
            pass


assert list(Hides().trace(nn.Sequential(Calm())).nodes)[-1].args == (None,)
names = [node.name for node in Swallows().trace(nn.Sequential(Calm())).nodes]
assert names == ["input_1", "abs_1", "max_1", "gt", "_0", "output"]

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
# | `gm.set_submodule(name, nn.Identity())` | a stand-in for a leaf, while another pass traces |
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
