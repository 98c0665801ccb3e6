# %% [markdown]
# # 8b · A tracer that knows shapes
#
# **After this part you can trace a model that asks about shapes, and say under which conditions the trace is right.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 and 8 |
# | **Time** | about 95 minutes, 50 of them for the exercise; a good place for a break is before 8b.6 |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. say which method of a Proxy a line of Python calls, and what FX does there;
# 2. tell questions about shapes from questions about values;
# 3. compute shapes and dtypes with meta tensors, without any data;
# 4. run a layer beside a trace, so that FX, the model and the random state do not notice;
# 5. write a Tracer that answers questions about shapes, and lists what it has assumed;
# 6. guard a trace with these assumptions.

# %% [markdown]
# ## A story
#
# The other team sends you the next version of its service. GoogLeNet is in it again. In front of it is a new part that accepts pictures of many kinds:
# a single picture or a batch, grey or in colour, bytes or floats. Wide pictures are cut into tiles.
#
# `fx.symbolic_trace` refuses, as in chapter 8. But this time no line asks for a *value*. All questions are about shapes and dtypes,
# and the service gets pictures of one shape only. You know all the answers. The Tracer does not, because nobody has told it.

# %%
import copy
import operator

import torch
from torch import fx, nn
from torch.fx.proxy import Attribute, TraceError
from torchvision.models import googlenet

from autograder import check, draw, fails, hint, progress
from autograder.given import assert_same_results, make_alive

torch.manual_seed(8)
print(torch.__version__)

# %% [markdown]
# This is the service, with random weights:


# %%
class Front(nn.Module):
    """Makes a batch of colour pictures of whatever comes."""

    def forward(self, pictures):
        if pictures.dim() == 3:  # a single picture
            pictures = pictures.unsqueeze(0)
        if pictures.shape[1] == 1:  # grey
            pictures = pictures.expand(-1, 3, -1, -1)
        if not pictures.is_floating_point():  # bytes
            pictures = pictures / 255
        return pictures


class Service(nn.Module):
    """The sum of the scores of all tiles of a picture."""

    def __init__(self):
        super().__init__()
        self.front = Front()
        self.net = googlenet(weights=None, init_weights=False, num_classes=10, aux_logits=False)

    def forward(self, pictures):
        total = 0
        for tile in self.front(pictures).split(64, dim=3):
            total = total + self.net(tile)
        return total


service = make_alive(Service())
grey = torch.randint(0, 256, (1, 64, 128), dtype=torch.uint8)
with fails(TraceError):
    fx.symbolic_trace(service)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the result.** `f(x)` returns `x.view(x.shape[0], -1)`. It is traced, and the trace is called with another number of rows. What happens?
#
# <details><summary>It raises: the size was fixed while tracing.</summary>
#
# No. Nobody asked for the number. <code>x.shape[0]</code> is a Proxy, and was handed on.
# </details>
# <details><summary>It works: the size is computed in each call.</summary>
#
# Right. A size that is only handed on is a node, like any other value (section 8.1).
# </details>
# <details><summary>Tracing raises already.</summary>
#
# No. Only a question raises: <code>if</code>, <code>range</code>, <code>int</code>, a loop.
# </details>

# %%
gm = fx.symbolic_trace(lambda x: x.view(x.shape[0], -1))
assert gm(torch.zeros(5, 2, 3)).shape == (5, 6)

# %% [markdown]
# **Predict the result.** A Tracer keeps the layer `self.act = nn.ReLU()` as a leaf. Which code of `nn.ReLU` runs while tracing?
#
# <details><summary>Its <code>forward</code>, with a Proxy.</summary>
#
# No. That would open the layer, and give a node of <code>F.relu</code>.
# </details>
# <details><summary>None of it.</summary>
#
# Right. <code>Tracer.call_module</code> makes a node, and does not go on to <code>forward</code> (section 8.5).
# </details>
# <details><summary>Its <code>forward</code>, with a tensor of zeros.</summary>
#
# No. <code>fx.Tracer</code> has no tensors at all. In this part you will give it some.
# </details>


# %%
class Told(nn.ReLU):
    __module__ = "torch.nn"  # so FX takes it for a layer of PyTorch

    def forward(self, x):
        raise AssertionError("forward has run")


graph = fx.Tracer().trace(nn.Sequential(Told()))
assert [node.op for node in graph.nodes] == ["placeholder", "call_module", "output"]

# %% [markdown]
# ## 8b.1 Who asks?
#
# Python has a method for each kind of question. FX has written some of them for its Proxies, and they raise.
#
# | in the model | Python calls | `fx.Proxy` today |
# |---|---|---|
# | `if p`, `not p`, `p and q` | `__bool__` | asks `tracer.to_bool`, which raises `TraceError` |
# | `for row in p`, `f(*p)`, `list(p)`, `first, *others = p` | `__iter__` | asks `tracer.iter`, which raises `TraceError` |
# | `a, b = p` | `__iter__` | gives as many items as there are names |
# | `len(p)` | `__len__` | raises `RuntimeError` |
# | `int(p)`, `range(p)` | `__int__`, `__index__` | has no such method: `TypeError` |
# | `p > 1`, `p == q` | `__gt__`, `__eq__` | makes a node: that is no question yet |

# %%
for error, question in (
    (TraceError, lambda p: p if p else -p),
    (TraceError, lambda p: [row + 1 for row in p]),
    (TraceError, lambda p: list(p)),
    (RuntimeError, lambda p: len(p)),
    (TypeError, lambda p: range(p)),
):
    with fails(error):
        fx.symbolic_trace(question)
assert {"__gt__", "__eq__"} <= vars(fx.Proxy).keys() and not hasattr(fx.Proxy, "__index__")
gm = fx.symbolic_trace(lambda p, q: (p > 1, p == q))
assert [node.target for node in gm.graph.nodes][2:4] == [operator.gt, operator.eq]

# %% [markdown]
# A Proxy of your own can answer. This one answers everything with 2, and prints what it was asked:


# %%
class Two(fx.Proxy):
    def two(self, who):
        print(f"{who:10} of {self.node.name}")
        return 2

    def __len__(self):
        return self.two("__len__")

    def __index__(self):
        return self.two("__index__")

    def __bool__(self):
        return self.two("__bool__") > 0

    def __iter__(self):
        return iter([self[i] for i in range(self.two("__iter__"))])


class TwoTracer(fx.Tracer):
    def proxy(self, node):  # a Tracer makes each Proxy here
        return Two(node, self)


def questions(x):
    if x.sum() > 0:
        x = x + 1
    for i in range(x.size(0)):
        x = x * i
    return torch.cat([*x])


graph = TwoTracer().trace(questions)
print([node.name for node in graph.nodes])
assert [node.name for node in graph.nodes][1:4] == ["sum_1", "gt", "add"]

# %% [markdown]
# Look at the first line. `x.sum() > 0` made the node `gt`, and nobody was asked. Then `if` asked `gt` for its truth.
#
# **Predict the trace.** The same Tracer traces `len(x.shape)`. What is asked?
#
# <details><summary><code>__len__</code> of <code>x</code></summary>
#
# No. <code>len</code> is called with <code>x.shape</code>.
# </details>
# <details><summary><code>__len__</code> of a node <code>getattr_1</code></summary>
#
# That is how it should be. But <code>x.shape</code> was not made by <code>TwoTracer.proxy</code>.
# </details>
# <details><summary>Nothing: it raises FX's own <code>RuntimeError</code>.</summary>
#
# Right. <code>x.shape</code> is an <code>fx.proxy.Attribute</code>, made in <code>Proxy.__getattr__</code>. It is a Proxy too, but none of your class.
# </details>

# %%
with fails(RuntimeError):
    TwoTracer().trace(lambda x: x * len(x.shape))


class TwoAttribute(Two, Attribute):
    """First your methods, then those of `Attribute`."""


def attribute(self, name):
    return TwoAttribute(self, name)


Two.__getattr__ = attribute
graph = TwoTracer().trace(lambda x: x * len(x.shape))
assert [node.name for node in graph.nodes] == ["x", "getattr_1", "mul", "output"]

# %% [markdown]
# The row of the table about `a, b = p` deserves a look of its own. FX reads the bytecode of the line, and gives as many items as there are names.
# So the trace of a wrong line is a graph, and the error comes later, or never:


# %%
def two_of_three(x):
    first, second = x.chunk(3)
    return first + second


x = torch.arange(6.0)
with fails(ValueError):  # too many values to unpack
    two_of_three(x)
assert fx.symbolic_trace(two_of_three)(x).tolist() == [2.0, 4.0]

# %% [markdown]
# ## 8b.2 What the other ways cost
#
# Chapter 8 has four ways out of a question. For questions about shapes they are all a poor bargain:
#
# | way out | here |
# |---|---|
# | say it with tensors | `torch.where` chooses values, and not between a batch of three dimensions and one of four |
# | a leaf, or `fx.wrap` (chapter 1) | your passes see one node, and nothing of what is in it |
# | another way to capture | no graph of modules any more |
#
# With a leaf for `Front`, the loop is still there. So the whole service has to be a leaf, and no pass reaches GoogLeNet:


# %%
class FrontIsALeaf(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, Front) or super().is_leaf_module(m, module_qualified_name)


with fails(TraceError):
    FrontIsALeaf().trace(service)

# %% [markdown]
# The fifth way: decide the question while tracing, for the shapes that you have. Then the graph is right for these shapes, and you must remember which they are.

# %% [markdown]
# ## 8b.3 Shapes without data
#
# A tensor on the device `meta` has a shape, a dtype and strides, and no data. Operations on it compute only those:

# %%
large = torch.empty(100_000, 100_000, device="meta")  # 40 GB, if it had data
print((large @ large).sum(0, keepdim=True).to(torch.float16))
assert (large @ large[:, :7]).shape == (100_000, 7)
layer = nn.Conv2d(3, 8, 3, stride=2).to("meta")
assert layer(torch.empty(1, 3, 33, 33, device="meta")).shape == (1, 8, 16, 16)

# %% [markdown]
# What hangs on values cannot be computed. Each of these lines raises, and not all of them raise the same:

# %%
x = torch.empty(2, 3, device="meta")
refused = {}
for kind, question in {
    "bool": lambda: bool(x.sum() > 0),
    "item": lambda: x.sum().item(),
    "nonzero": lambda: x.nonzero(),
    "mask": lambda: x[x > 0],
    "tolist": lambda: x.tolist(),
    "numpy": lambda: x.numpy(),
}.items():
    try:
        question()
    except Exception as error:
        refused[kind] = type(error)
        print(f"{kind:8} {type(error).__name__:20} {str(error)[:60]}")
assert refused.keys() == {"bool", "item", "nonzero", "mask", "tolist", "numpy"}
assert issubclass(refused["nonzero"], NotImplementedError)
assert not issubclass(refused["item"], NotImplementedError)

# %% [markdown]
# **Predict the result.** `example = torch.zeros(2, 3, device="meta")`. A helper makes `work = example.to("meta")`, and the model calls `work.t_()`, which transposes in place. What is `example.shape` then?
#
# <details><summary><code>(2, 3)</code>: <code>to</code> makes a copy.</summary>
#
# No. <code>to</code> makes a copy only where something changes.
# </details>
# <details><summary><code>(3, 2)</code>: it is the same tensor.</summary>
#
# Right. The tensor is on meta already, so <code>to</code> gives it back. <code>torch.empty(example.shape, dtype=example.dtype, device="meta")</code> is always a new one.
# </details>
# <details><summary>It raises: a meta tensor cannot be changed in place.</summary>
#
# No. Shapes can be changed in place, with data or without.
# </details>

# %%
example = torch.zeros(2, 3, device="meta")
work = example.to("meta")
work.t_()
assert example.shape == (3, 2)

# %% [markdown]
# Two more traps. Real tensors and meta tensors do not mix, so parameters, buffers and constants must be moved, too.
# And an operation that makes a tensor from a shape alone makes a real one, and draws real random numbers, unless a device is set:

# %%
with fails(RuntimeError):
    torch.empty(2, 3, device="meta") + torch.ones(3)
before = torch.get_rng_state()
with torch.device("meta"):
    assert torch.rand(2, 3).is_meta
assert torch.equal(torch.get_rng_state(), before)  # nothing was drawn
torch.rand(2, 3)
assert not torch.equal(torch.get_rng_state(), before)

# %% [markdown]
# ## 8b.4 Values beside the nodes
#
# Section 6.4 noted shapes by running a finished graph. Here the shapes are needed *while* the graph grows.
# Each node passes through `Tracer.create_node`, whatever its opcode. So that is the place to compute on meta what the node will compute.
# This Tracer does it for functions of one tensor, and notes the number of dimensions:


# %%
class Ranks(fx.Tracer):
    def trace(self, root, concrete_args=None):
        self.values = {}  # anew for each trace
        return super().trace(root, concrete_args)

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        if kind == "placeholder":
            self.values[node] = torch.empty(2, 3, 4, device="meta")
        elif kind == "call_function":
            found = fx.node.map_arg(node.args, self.values.__getitem__)
            self.values[node] = target(*found, **node.kwargs)
        return node


tracer = Ranks()
tracer.trace(lambda x: torch.flatten(torch.sum(x, dim=2), 0).cos())
ranks = {node.name: value.dim() for node, value in tracer.values.items()}
print(ranks)
assert ranks == {"x": 3, "sum_1": 2, "flatten": 1}

# %% [markdown]
# `map_arg(args, f)` puts `f(node)` in the place of each node, however deeply it is nested. The method `cos` is not known, because this Tracer does not look at methods.
#
# **Predict the names.** `def forward(self, input)`: which name does the *node* of the parameter have?
#
# <details><summary><code>input</code></summary>
#
# No. <code>input</code> is a function of Python, and generated code must not hide it.
# </details>
# <details><summary><code>input_1</code></summary>
#
# Right. The name of the parameter is <code>node.target</code>.
# </details>
# <details><summary><code>arg0</code></summary>
#
# No. FX keeps the names of parameters wherever it can.
# </details>

# %%
first = next(iter(fx.symbolic_trace(lambda input: input + 1).graph.nodes))
assert (first.name, first.target) == ("input_1", "input")

# %% [markdown]
# ## 8b.5 A layer beside the trace
#
# A leaf must be run on meta tensors as well. That is harder, because FX still watches: while it traces, *every* call of a module goes to `Tracer.call_module`,
# and every parameter that is read goes to `Tracer.getattr`. Your own call is no exception:


# %%
class RunsLayers(fx.Tracer):
    """Runs a copy of each leaf on a meta tensor, for its shape."""

    aside = False

    def create_node(self, kind, target, *args, **kwargs):
        node = super().create_node(kind, target, *args, **kwargs)
        if kind == "call_module":
            layer = copy.deepcopy(self.root.get_submodule(target)).to("meta")
            self.aside = True
            try:
                self.shape = layer(torch.empty(2, 5, 4, device="meta")).shape
            finally:
                self.aside = False
        return node


model = nn.Sequential(nn.Linear(4, 6))
with fails(NameError):  # FX looks for the path of the copy in the model
    RunsLayers().trace(model)

# %% [markdown]
# The way out needs nothing private: a switch that says "this call is mine". While it is on, both methods do what Python would do without FX.


# %%
def call_module(self, m, forward, args, kwargs):
    if self.aside:
        return forward(*args, **kwargs)
    return fx.Tracer.call_module(self, m, forward, args, kwargs)


def getattr_of_module(self, attr, attr_val, parameter_proxy_cache):
    if self.aside:
        return attr_val
    return fx.Tracer.getattr(self, attr, attr_val, parameter_proxy_cache)


RunsLayers.call_module = call_module
RunsLayers.getattr = getattr_of_module
tracer = RunsLayers()
graph = tracer.trace(model)
assert tracer.shape == (2, 5, 6)
assert [node.op for node in graph.nodes] == ["placeholder", "call_module", "output"]
assert not model[0].weight.is_meta

# %% [markdown]
# Why a copy? `model.to("meta")` would move the *caller's* parameters, and their values would be gone.
# A layer in training mode changes its buffers, too: a BatchNorm counts. The copy counts for itself.
# The switch is put back in `finally`, because a layer may raise, and then the next call is FX's again.

# %% [markdown]
# ## 8b.6 All together
#
# A Proxy that asks its tracer; a tracer that knows a value for each node, or nothing; and a list of what was asked.
#
# What is the list good for? Each answer is an **assumption**: the graph is right as long as it holds. `torch.compile` calls this a *guard* (chapter 11).

# %% [markdown] card="MetaTracer"
# **Write** the class `MetaTracer`. `MetaTracer(**examples)` takes a tensor for any of the root's parameters, by name. Only its shape and dtype matter.
#
# * **Answers.** What is traced is run on meta tensors too, leaf modules and methods that write in place included. So these are answered: `len`, loops, unpacking (with a star, splats, `list`); `range` and `int` of a size; comparisons and the truth of sizes, of `dim()` and `ndim`, `numel()`, `dtype`, `is_floating_point()`.
# * Unpacking into the wrong number of names raises `ValueError`, as without a trace.
# * **What nobody asks** stays in the graph. Where nothing is asked, the graph is that of `fx.Tracer`.
# * **No answer.** Nothing is known if no example was given (a default does not count), or if an operation cannot run on meta tensors. That alone is no error. A question about it raises `TraceError`, and so does a question about a value, such as `x.sum() > 0`. (`len` may raise what it raises today.)
# * **`assumed`**: a list of the names of the nodes that Python asked about, each once, in the order of the first question.
# * A new `trace` starts anew, also of another root. Model, examples and random state stay as they were.
#
# **Not tried:** `concrete_args`, `*args`, sizes as integer arguments of torch functions (`torch.zeros(n)`; the method `x.view(n)` is tried), devices, strides, wrapped functions.
#
# Methods in the cell that you do not need can go. You will need a class for Proxies beside it.


# %%
class Halves(nn.Module):
    def forward(self, x):
        if x.dim() == 2:
            low, high = x.chunk(2, dim=1)
            return low * high
        return x


def trace_for_two_dimensions(x):
    chunk = x.chunk(2, dim=1)
    return chunk[0] * chunk[1]


# What `MetaTracer(x=torch.zeros(3, 4))` leaves of `Halves` besides the two nodes of the question; `assumed` is then ["eq", "chunk"].
draw(fx.symbolic_trace(trace_for_two_dimensions))


# %% solve="MetaTracer"
class MetaTracer(fx.Tracer):
    """A tracer that answers questions about shapes.

    Attributes:
        assumed: names of the nodes that were asked about.
    """

    def __init__(self, **examples: torch.Tensor) -> None:
        """Take the examples.

        Args:
            examples: tensors, by the names of the root's parameters.
        """
        ### BEGIN SOLUTION
        super().__init__()
        self.examples = examples
        self.values, self.assumed, self.aside = {}, [], False
        ### END SOLUTION

    def trace(self, root, concrete_args=None):
        """Trace a root, with nothing left of earlier traces."""
        ### BEGIN SOLUTION
        self.values, self.assumed = {}, []
        return super().trace(root, concrete_args)
        ### END SOLUTION

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """Make a node, and keep what is known of it."""
        ### BEGIN SOLUTION
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        self.aside = True
        try:
            with torch.no_grad(), torch.device("meta"):
                self.values[node] = value_of(node, self)
        except Exception:
            pass  # then nothing is known
        finally:
            self.aside = False
        return node
        ### END SOLUTION

    def proxy(self, node):
        """Make the Proxy of a node."""
        ### BEGIN SOLUTION
        return Knowing(node, self)
        ### END SOLUTION

    def call_module(self, m, forward, args, kwargs):
        """Deal with a call of a module."""
        ### BEGIN SOLUTION
        if self.aside:
            return forward(*args, **kwargs)
        return super().call_module(m, forward, args, kwargs)
        ### END SOLUTION

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """Deal with an attribute of a module that is read."""
        ### BEGIN SOLUTION
        if self.aside:
            return attr_val
        return super().getattr(attr, attr_val, parameter_proxy_cache)
        ### END SOLUTION

    def ask(self, node, question):
        """Answer a question, such as `len` or `bool`, about what a node gives."""
        ### BEGIN SOLUTION
        if node.name not in self.assumed:
            self.assumed.append(node.name)
        if node not in self.values:
            raise TraceError(f"nothing is known about '{node.name}'")
        value = self.values[node]
        if isinstance(value, torch.Tensor) and question is not len:
            raise TraceError(f"the value of '{node.name}' is asked, and only its shape is known")
        return question(value)
        ### END SOLUTION


### BEGIN SOLUTION
def on_meta(tensor):
    """A new meta tensor of the same shape and dtype."""
    return torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")


def value_of(node, tracer):
    """What a node gives on meta tensors; raises where that cannot be said."""
    if node.op == "placeholder":
        return on_meta(tracer.examples[node.target])
    if node.op == "get_attr":
        return on_meta(operator.attrgetter(node.target)(tracer.root))
    args, kwargs = fx.node.map_arg((node.args, node.kwargs), tracer.values.__getitem__)
    if node.op == "call_module":
        module = copy.deepcopy(tracer.root.get_submodule(node.target)).to("meta")
        return module(*args, **kwargs)
    if node.op == "call_method":
        return getattr(args[0], node.target)(*args[1:], **kwargs)
    return node.target(*args, **kwargs)


class Knowing(fx.Proxy):
    """Asks its tracer."""

    def __getattr__(self, name):
        return KnowingAttribute(self, name)

    def __len__(self):
        return self.tracer.ask(self.node, len)

    def __iter__(self):
        return iter([self[i] for i in range(self.tracer.ask(self.node, len))])

    def __bool__(self):
        return self.tracer.ask(self.node, bool)

    def __int__(self):
        return self.tracer.ask(self.node, int)

    def __index__(self):
        return self.tracer.ask(self.node, operator.index)


class KnowingAttribute(Knowing, Attribute):
    """An attribute of such a Proxy is one, too."""


### END SOLUTION

# %% check="MetaTracer"
check(MetaTracer)

# %% hint="MetaTracer"
hint("MetaTracer")

# %% [markdown]
# ## 8b.7 The service
#
# One example is enough for all questions of the service:

# %% uses="MetaTracer"
tracer = MetaTracer(pictures=grey)
traced = fx.GraphModule(service, tracer.trace(service))
print(tracer.assumed, len(traced.graph.nodes))
assert tracer.assumed == ["eq", "eq_1", "is_floating_point", "split"]
assert_same_results(traced, service, grey)

# %% [markdown]
# GoogLeNet is in the graph twice, once for each tile, and your passes reach all of it. This one from chapter 3 works as it is:

# %% uses="MetaTracer"
dropouts = [
    node
    for node in traced.graph.nodes
    if node.op == "call_module" and isinstance(traced.get_submodule(node.target), nn.Dropout)
]
for node in dropouts:
    node.replace_all_uses_with(node.args[0])
    traced.graph.erase_node(node)
traced.recompile()
assert len(dropouts) == 2
assert_same_results(traced, service, grey)

# %% [markdown]
# **Predict the result.** The trace was made for a picture that is 128 wide: two tiles. Now a picture comes that is 192 wide. What does the *trace* do?
#
# <details><summary>It raises: <code>split</code> gives three tiles.</summary>
#
# No. The graph reads item 0 and item 1 of what <code>split</code> gives. A third item disturbs nobody.
# </details>
# <details><summary>It gives the sum over two tiles, without a message.</summary>
#
# Right. The loop was decided while tracing. This is the price of the fifth way, and the reason for <code>assumed</code>.
# </details>
# <details><summary>It gives the sum over three tiles.</summary>
#
# No. The graph has no loop.
# </details>

# %% uses="MetaTracer"
wide = torch.randint(0, 256, (1, 64, 192), dtype=torch.uint8)
with fails(AssertionError):
    assert_same_results(traced, service, wide)

# %% [markdown]
# ## 8b.8 Guards
#
# An assumption is of use only if somebody looks at it. A simple guard: trace for the new example, and compare what was asked and answered.
# Nothing is computed on real data, so this is possible before each call, or, better, once for each new shape.


# %% uses="MetaTracer"
class Guarded(nn.Module):
    """One trace for each set of shapes, as `torch.compile` keeps one graph for each set of guards."""

    def __init__(self, model):
        super().__init__()
        self.model, self.traces = model, {}

    def forward(self, pictures):
        key = (tuple(pictures.shape), pictures.dtype)
        if key not in self.traces:
            graph = MetaTracer(pictures=pictures).trace(self.model)
            self.traces[key] = fx.GraphModule(self.model, graph)
        return self.traces[key](pictures)


guarded = Guarded(service)
for pictures in (grey, wide, grey):
    assert_same_results(guarded, service, pictures)
assert len(guarded.traces) == 2

# %% [markdown]
# This guard is too strict: another height needs no new trace, because nobody asked about it. `assumed` says which nodes were asked.
# A finer guard evaluates only these, and that is what `torch.compile` does: it notes what Python asked, and checks it before each call.
#
# Others have written such tracers. PyTorch has a `MetaTracer` of its own among its experiments. It answers less, and does not say what it has assumed:

# %%
from torch.fx.experimental.meta_tracer import MetaTracer as Experimental

tracer = Experimental()
graph = tracer.trace(
    lambda x: x if x.dim() == 2 else -x, meta_args={"x": torch.zeros(2, 3, device="meta")}
)
assert [node.op for node in graph.nodes][-1] == "output"
assert not hasattr(tracer, "assumed")

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail.
#
# ### Shapes in place of Proxies
#
# A Proxy whose `shape` is a real `torch.Size` answers every question. It also freezes every size that nobody asked about:


# %%
class Frozen(fx.Proxy):
    shape = torch.Size([2, 3])


class FrozenTracer(fx.Tracer):
    def proxy(self, node):
        return Frozen(node, self)


graph = FrozenTracer().trace(lambda x: x.view(x.shape[0], -1))
gm = fx.GraphModule({}, graph)
print(gm.code)
assert gm(torch.zeros(4, 3)).shape == (2, 6)  # and not (4, 3)

# %% [markdown]
# **Right:** a size is a Proxy until somebody asks.
#
# ### Deciding at the comparison
#
# If `__gt__` gives `True` or `False`, the comparison in `x * (n > 1)` is decided, although nobody asked.


# %%
class Decided(fx.Proxy):
    def __gt__(self, other):
        return True


class DecidedTracer(fx.Tracer):
    def proxy(self, node):
        return Decided(node, self)


graph = DecidedTracer().trace(lambda x, n: x * (n > 1))
assert [node.name for node in graph.nodes] == ["x", "n", "mul", "output"]  # and no gt

# %% [markdown]
# **Right:** `__gt__` makes a node, as always, and `__bool__` answers.
#
# ### What is false is not unknown

# %%
values = {"numel": 0}
if not values.get("numel"):
    print("is it zero, or not known?")
assert "numel" in values and values.get("sum") is None

# %% [markdown]
# **Right:** ask `in`, or keep an object of your own for "not known".
#
# ### Only one kind of exception
#
# Section 8b.3 printed four kinds. `except NotImplementedError` catches `nonzero`, and not `item`.
# **Right:** whatever is raised on meta says only that nothing is known.
#
# ### Unknown values that go on
#
# Python compares any two objects. An object for "not known" that is handed to an operation may come back as an answer:

# %%
UNKNOWN = object()
assert operator.eq(UNKNOWN, 2) is False  # "no" - and nobody knows

# %% [markdown]
# **Right:** what reads something unknown is unknown.

# %% [markdown]
# ## Recap
#
# 1. A question is a method: `__bool__`, `__len__`, `__iter__`, `__int__`, `__index__`. A comparison is a node.
# 2. Meta tensors answer questions about shapes and dtypes, and refuse those about values.
# 3. While FX traces, each call of a module is FX's. A switch makes yours an exception.
# 4. Run copies: of the layers, the parameters and the examples.
# 5. Each answer is an assumption. Keep the list, and guard the trace with it.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `def proxy(self, node)` | a method of `fx.Tracer`: makes each Proxy |
# | `def create_node(self, kind, …)` | a method of `fx.Tracer`: every node passes through it |
# | `fx.proxy.Attribute` | what `x.shape` is; its node is made when it is used |
# | `fx.proxy.TraceError` | what a question without an answer raises |
# | `torch.empty(shape, dtype=dtype, device="meta")` | a tensor without data |
# | `with torch.device("meta"):` | tensors that are made here are on meta |
# | `fx.node.map_arg(args, f)` | `args` with `f(node)` in the place of each node |
# | `copy.deepcopy(module).to("meta")` | a layer without data; the caller's stays |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | guards of `torch.compile`, sizes as symbols, `torch.export` | chapter 11 |
# | shapes of a finished graph | chapter 6: `record_shapes` |
# | leaves of your own choice, parts that cannot be traced | chapter 8 |
#
# Issues that this part answers: [46210](https://github.com/pytorch/pytorch/issues/46210) (`len` of a Proxy),
# [44851](https://github.com/pytorch/pytorch/issues/44851) (`range(x.shape[0])`).
