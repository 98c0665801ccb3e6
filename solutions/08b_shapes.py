# %% [markdown]
# # 8b · A tracer that knows shapes
#
# **After this part you can trace a model that asks about shapes, and say under which conditions the trace is right.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 and 8 |
# | **Time** | about 115 minutes, 65 of them for the exercise; a good place for a break is before 8b.6 |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. say which method of a Proxy a line of Python calls, and what FX does there;
# 2. tell questions about shapes from questions about values;
# 3. compute shapes and dtypes with meta tensors, without any data;
# 4. run a layer during a trace, without a mark on the graph, the model or the random state;
# 5. write a Tracer that answers questions about shapes, and lists what it has assumed;
# 6. guard a trace with these assumptions.

# %% [markdown]
# ## A story
#
# The other team sends you the next version of its service. GoogLeNet is in it again. In front of it is a new part that accepts pictures of many kinds:
# a single picture or a batch, gray or in color, bytes or floats. Wide pictures are cut into tiles.
#
# `fx.symbolic_trace` refuses, as in chapter 8. But this time no line asks for a *value*. All questions are about shapes and dtypes,
# and the service gets pictures of one shape only. So you know all the answers, and can give them to a Tracer.

# %%
import copy
import operator

import torch
from torch import fx, nn
from torch.fx.proxy import Attribute, TraceError
from torchvision.models import googlenet

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import assert_same_results, make_alive

torch.manual_seed(8)
print(torch.__version__)

# %% [markdown]
# This is the service, with random weights:


# %%
class Front(nn.Module):
    """Makes a batch of color pictures from any of these kinds."""

    def forward(self, pictures):
        if pictures.dim() == 3:  # a single picture
            pictures = pictures.unsqueeze(0)
        if pictures.shape[1] == 1:  # gray
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
gray = torch.randint(0, 256, (1, 64, 128), dtype=torch.uint8)
with fails(TraceError):
    fx.symbolic_trace(service)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the result.** `f(x)` returns `x.view(x.shape[0], -1)`. It is traced, and the trace is called with another number of rows. What happens?
#
# <details><summary>It raises: the size was fixed while tracing.</summary>
#
# No. Python did not ask for the number. <code>x.shape[0]</code> is a Proxy, and was handed on.
# </details>
# <details><summary>It works: the size is computed in each call.</summary>
#
# Right. A size that is only handed on is a node, like any other value (section 8.1).
# </details>
# <details><summary>Tracing raises already.</summary>
#
# No. Only a question raises: <code>if</code>, <code>range</code>, <code>int</code>, a loop.
# </details>

# %% proof=true
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
# No. <code>fx.Tracer</code> does not have tensors. In this part you will give it some.
# </details>


# %% proof=true
class Quiet(nn.ReLU):
    __module__ = "torch.nn"  # so FX takes it for a layer of PyTorch

    def forward(self, x):
        raise AssertionError("forward has run")


graph = fx.Tracer().trace(nn.Sequential(Quiet()))
assert [node.op for node in graph.nodes] == ["placeholder", "call_module", "output"]

# %% [markdown]
# ## 8b.1 Who asks?
#
# For most questions Python calls a method of the object. FX has written some of these for its Proxies, and they raise.
#
# | in the model | Python calls | `fx.Proxy` today |
# |---|---|---|
# | `if p`, `not p`, `p and q` | `__bool__` | asks `tracer.to_bool`, which raises `TraceError` |
# | `for row in p`, `f(*p)`, `list(p)`, `first, *others = p` | `__iter__` | asks `tracer.iter`, which raises `TraceError` |
# | `a, b = p` | `__iter__` | gives as many items as there are names |
# | `len(p)` | `__len__` | raises `RuntimeError` |
# | `int(p)`, `range(p)` | `__int__`, `__index__` | has no such method: `TypeError` |
# | `p > 1`, `p == q` | `__gt__`, `__eq__` | makes a node: that is not a question yet |
# | `p is None`, `isinstance(p, torch.Tensor)`, `type(p)` | nothing | the answer is that for a Proxy, and it is silent |
#
# No Tracer of this part changes the last row. Look for such lines in a model before you trust its trace (section 1.5).

# %% proof=true
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
gm = fx.symbolic_trace(lambda p: p if isinstance(p, torch.Tensor) else -p)
assert [node.name for node in gm.graph.nodes] == ["p", "neg", "output"]

# %% [markdown]
# A Proxy of your own can answer. This one answers everything with 2, and prints each question:


# %%
class Two(fx.Proxy):
    def two(self, question):
        print(f"{question:10} of {self.node.name}")
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
    def proxy(self, node):  # makes the Proxy of each node
        return Two(node, self)


def questions(x):
    if x.sum() > 0:
        x = x + 1
    for i in range(x.size(0)):
        x = x * i
    return torch.cat([*x])


graph = TwoTracer().trace(questions)
print([node.name for node in graph.nodes])

# %% proof=true
assert [node.name for node in graph.nodes][1:4] == ["sum_1", "gt", "add"]

# %% [markdown]
# Look at the first line. `x.sum() > 0` made the node `gt`, without a question. Then `if` asked `gt` for its truth.
# The last two lines are from `[*x]`: Python asks for the items, and a list asks for their number, too.

# %%
QUESTIONS = {
    "in": lambda p: p in (1, 2),
    "none": lambda p: p is None,
    "max": lambda p: max(p, 1),
    "item": lambda p: (4, 5, 6)[p],
    "sum": lambda p: (p + 1) > 2,
}

# %% [markdown]
# **Drill 08b.1a.** Each of these functions is traced with `TwoTracer`. In which of them does Python ask a Proxy for an answer? Write the set of their keys.

# %% drill=true
asking = {"in", "max", "item"}
drill("08b.1a", asking)
# Mistake: A comparison alone is a node, and its truth is not needed.
# asking = {"in", "max", "item", "sum"}


# %% proof=true
class Noted(Two):
    def two(self, question):
        noted.append(question)
        return 2


class NotingTracer(fx.Tracer):
    def proxy(self, node):
        return Noted(node, self)


for key, function in QUESTIONS.items():
    noted = []
    NotingTracer().trace(function)
    assert bool(noted) == (key in ("in", "max", "item")), key

# %% [markdown]
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
# Right. <code>x.shape</code> is an <code>fx.proxy.Attribute</code>, made in <code>Proxy.__getattr__</code>. It is a Proxy too, but not of your class.
# </details>


# %% proof=true
class Knows(fx.Proxy):
    def __len__(self):
        return 2


class KnowsTracer(fx.Tracer):
    def proxy(self, node):
        return Knows(node, self)


assert [n.name for n in KnowsTracer().trace(lambda x: x * len(x)).nodes] == ["x", "mul", "output"]
with fails(RuntimeError):
    KnowsTracer().trace(lambda x: x * len(x.shape))

# %% [markdown]
# So give `Two` a `__getattr__` that makes attributes of a class of your own:


# %%
class TwoAttribute(Two, Attribute):
    """First your methods, then those of `Attribute`."""


def attribute(self, name):
    return TwoAttribute(self, name)


Two.__getattr__ = attribute
graph = TwoTracer().trace(lambda x: x * len(x.shape))

# %% proof=true
assert [node.name for node in graph.nodes] == ["x", "getattr_1", "mul", "output"]

# %% [markdown]
# The row about `a, b = p` is special. FX reads the bytecode of the line, and gives as many items as there are names.
# So a wrong line can be traced, and the error comes later, or never:


# %%
def two_of_three(x):
    first, second = x.chunk(3)
    return first + second


x = torch.arange(6.0)
with fails(ValueError):  # too many values to unpack
    two_of_three(x)
print(fx.symbolic_trace(two_of_three)(x))

# %% proof=true
assert fx.symbolic_trace(two_of_three)(x).tolist() == [2.0, 4.0]

# %% [markdown]
# ## 8b.2 What the other ways cost
#
# The ways out of section 8.2 do not fit questions about shapes. `torch.where` chooses values, and not between a batch of three dimensions and one of four.
# A leaf or a wrapped function is one node to your passes. And another capture does not give a graph of modules.
#
# With a leaf for `Front`, the loop of `Service` is still there. So the whole service has to be a leaf, and no pass reaches GoogLeNet:


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
layer = nn.Conv2d(3, 8, 3, stride=2).to("meta")
print(layer(torch.empty(1, 3, 33, 33, device="meta")).shape)

# %% proof=true
assert (large @ large[:, :7]).shape == (100_000, 7)
assert layer(torch.empty(1, 3, 33, 33, device="meta")).shape == (1, 8, 16, 16)

# %% [markdown]
# Anything that depends on the values cannot be computed. Each of these lines raises, with three kinds of exception:

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

# %% proof=true
assert refused.keys() == {"bool", "item", "nonzero", "mask", "tolist", "numpy"}
assert issubclass(refused["nonzero"], NotImplementedError)
assert not issubclass(refused["item"], NotImplementedError)
kinds = [refused[kind].__name__ for kind in ("bool", "item", "nonzero", "mask", "tolist", "numpy")]
assert len(set(kinds)) == 3, kinds

# %%
MORE = {
    "argmax": lambda x: x.argmax(dim=1),
    "unique": lambda x: x.unique(),
    "where": lambda x: torch.where(x > 0, x, 0),
    "equal": lambda x: torch.equal(x, x + 1),
    "sort": lambda x: x.sort().values,
}

# %% [markdown]
# **Drill 08b.3a.** Which of these functions raise for a meta tensor? Write the set of their keys.

# %% drill=true
raising = {"unique", "equal"}
drill("08b.3a", raising)
# Mistake: The shape of an index does not depend on the values, and only the shape is needed.
# raising = {"unique", "equal", "argmax"}

# %% proof=true
raised = set()
for key, function in MORE.items():
    try:
        assert function(torch.empty(2, 3, device="meta")).is_meta
    except RuntimeError:
        raised.add(key)
assert raised == {"unique", "equal"}

# %% [markdown]
# **Predict the result.** `example = torch.zeros(2, 3, device="meta")`. A helper makes `work = example.to("meta")`, and the model calls `work.t_()`, which transposes in place. What is `example.shape` then?
#
# <details><summary><code>(2, 3)</code>: <code>to</code> makes a copy.</summary>
#
# No. <code>to</code> makes a copy only if something changes.
# </details>
# <details><summary><code>(3, 2)</code>: it is the same tensor.</summary>
#
# Right. The tensor is on meta already, so <code>to</code> gives it back. <code>torch.empty(example.shape, dtype=example.dtype, device="meta")</code> is always a new one.
# </details>
# <details><summary>It raises: a meta tensor cannot be changed in place.</summary>
#
# No. Shapes can be changed in place, with data or without.
# </details>

# %% proof=true
example = torch.zeros(2, 3, device="meta")
work = example.to("meta")
work.t_()
assert example.shape == (3, 2)

# %% [markdown]
# Two more traps. Most operations do not mix real tensors and meta tensors, so parameters, buffers and constants must be moved, too.
# And an operation that makes a tensor from a shape alone makes a real one, and draws real random numbers, unless a device is set:

# %%
with fails(RuntimeError):
    torch.empty(2, 3, device="meta") + torch.ones(3)
with torch.device("meta"):
    print(torch.rand(2, 3))  # nothing is drawn

# %% proof=true
before = torch.get_rng_state()
with torch.device("meta"):
    assert torch.rand(2, 3).is_meta
assert torch.equal(torch.get_rng_state(), before)
torch.rand(2, 3)
assert not torch.equal(torch.get_rng_state(), before)

# %% [markdown]
# ## 8b.4 A value for each node
#
# Section 6.4 noted shapes by running a finished graph. Here the shapes are needed *while* the graph grows.
# Each node passes through `Tracer.create_node`, whatever its opcode. So that is the place to compute on meta what the node will compute.
# This Tracer does it for functions of one tensor, and notes the number of dimensions:


# %%
class Ranks(fx.Tracer):
    def trace(self, root, concrete_args=None):
        self.values = {}  # a new one for each trace
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

# %% proof=true
assert ranks == {"x": 3, "sum_1": 2, "flatten": 1}

# %% [markdown]
# `map_arg(args, f)` replaces each node by `f(node)`, however deeply it is nested. The method `cos` is not known, because this Tracer does not look at methods.
#
# **Predict the names.** `def forward(self, input)`: which name does the *node* of the parameter have?
#
# <details><summary><code>input</code></summary>
#
# No. <code>input</code> is a function of Python, and FX names no node like one.
# </details>
# <details><summary><code>input_1</code></summary>
#
# Right. The name of the parameter is <code>node.target</code>.
# </details>
# <details><summary><code>arg0</code></summary>
#
# No. FX keeps the names of parameters wherever it can.
# </details>

# %% proof=true
first = next(iter(fx.symbolic_trace(lambda input: input + 1).graph.nodes))
assert (first.name, first.target) == ("input_1", "input")

# %% [markdown]
# ## 8b.5 Running a layer during the trace
#
# A leaf must be run on meta tensors as well. That is harder, because FX still watches: while it traces, *every* call of a module goes to `Tracer.call_module`,
# and every parameter that is read goes to `Tracer.getattr`. Your own call, too:


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
# The way out needs nothing private: a switch, `aside`, that says "this call is mine". While it is on, both methods do what Python would do without FX.


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
print("shape:", tracer.shape, "the model moved to meta:", model[0].weight.is_meta)

# %% proof=true
assert tracer.shape == (2, 5, 6)
assert [node.op for node in graph.nodes] == ["placeholder", "call_module", "output"]
assert not model[0].weight.is_meta

# %% [markdown]
# Why a copy? `model.to("meta")` would move the *caller's* parameters, and their values would be gone.
# A layer in training mode changes its buffers, too: a BatchNorm counts. The copy counts for itself.
# The switch is put back in `finally`, because a layer may raise, and the next call must be FX's again.

# %% [markdown]
# ## 8b.6 All together
#
# A Proxy that asks its tracer; a tracer that knows a value for each node, or nothing; and a list of what was asked.
#
# What is the list good for? Each answer is an **assumption**: the graph is right as long as it holds. `torch.compile` calls this a *guard* (chapter 11).


# %%
def scores(x):
    rows = x.size(0)
    if x.ndim > 1 and rows > 1:
        x = x / rows
    return sum(part.mean() for part in x.split(2))


# %% [markdown]
# **Drill 08b.6a.** Which nodes of the trace of `scores`, for an example of shape `(4, 3)`, must be in such a list? Write their names in the order of the questions.

# %% drill=true
listed = ["gt", "gt_1", "split"]
drill("08b.6a", listed)
# Mistake: Python asks about the results of comparisons, and not about what they compare.
# listed = ["getattr_1", "size", "split"]

# %% [markdown] card="MetaTracer"
# **Write** the class `MetaTracer`. `MetaTracer(**examples)` takes a tensor for each named parameter of the root.
#
# * **Answers.** What is traced runs on meta tensors too, even leaf modules, so questions about shapes and dtypes have answers.
# * **What is not asked** stays in the graph. If nothing is asked, the graph is that of `fx.Tracer`.
# * **No answer.** A question about something unknown, or about a value such as `x.sum() > 0`, raises `TraceError`.
# * **`assumed`**: a list of the names of the nodes that Python asked about, each once, in the order of the first question.
# * Model, examples and random state do not change.
#
# **Fine print**
#
# * Write it in three steps: values, Proxies, the list. Print after each.
# * Only shape and dtype of an example matter. Answered: `len`, loops, unpacking (with a star, splats, `list`); `range` and `int` of a size; comparisons and the truth of sizes, of `dim()` and `ndim`, `numel()`, `dtype`, `is_floating_point()`. Methods that write in place run on meta tensors, too.
# * Unpacking into the wrong number of names raises `ValueError`, as without a trace. `len` of something unknown may raise what it raises today.
# * Unknown: no example was given (a default does not count), or an operation cannot run on meta tensors. That alone is not an error.
# * A new `trace` starts again, even of another root.
# * **Not tried:** `concrete_args`, `*args`, sizes as integer arguments of torch functions (`torch.zeros(n)`; the method `x.view(n)` is tried), devices, strides, wrapped functions.
# * Methods in the cell that you do not need can go. You will need a class for Proxies, too.


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
    """The value of a node on meta tensors; raises if it cannot be computed."""
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
tracer = MetaTracer(pictures=gray)
traced = fx.GraphModule(service, tracer.trace(service))
print(tracer.assumed, len(traced.graph.nodes))
assert_same_results(traced, service, gray)

# %% proof=true
assert tracer.assumed == ["eq", "eq_1", "is_floating_point", "split"]
asked = MetaTracer(x=torch.zeros(4, 3))
asked.trace(scores)
assert asked.assumed == ["gt", "gt_1", "split"]

# %% [markdown]
# GoogLeNet is in the graph twice, once for each tile, and your passes reach all of it. Here is one from chapter 3:

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
print(len(dropouts), "dropouts removed")
assert_same_results(traced, service, gray)

# %% proof=true
assert len(dropouts) == 2

# %% [markdown]
# **Predict the result.** The trace was made for a picture that is 128 wide: two tiles. Now a picture comes that is 192 wide. What does the *trace* do?
#
# <details><summary>It raises: <code>split</code> gives three tiles.</summary>
#
# No. The graph reads item 0 and item 1 of what <code>split</code> gives. It does not read a third one.
# </details>
# <details><summary>It gives the sum over two tiles, without a message.</summary>
#
# Right. The loop was decided while tracing. This is the price of the fifth way, and the reason for <code>assumed</code>.
# </details>
# <details><summary>It gives the sum over three tiles.</summary>
#
# No. The graph has no loop.
# </details>

# %% proof=true
wider = torch.randint(0, 256, (1, 64, 192), dtype=torch.uint8)
again = MetaTracer(pictures=gray)
for_two_tiles = fx.GraphModule(service, again.trace(service))
with fails(AssertionError):
    assert_same_results(for_two_tiles, service, wider)

# %% [markdown]
# ## 8b.8 Guards
#
# An assumption is of use only if it is checked. A simple guard: keep a trace for each shape and dtype, and make a new one for each new shape.
# Tracing computes nothing on real data.


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
wide = torch.randint(0, 256, (1, 64, 192), dtype=torch.uint8)
for pictures in (gray, wide, gray):
    assert_same_results(guarded, service, pictures)
print(len(guarded.traces), "traces")

# %% proof=true
assert len(guarded.traces) == 2

# %% [markdown]
# This guard is too strict: another height needs no new trace, because no line asks about it. A finer guard evaluates only the nodes in `assumed`.
# (`torch.compile` begins strictly, too: the first graph has a guard on every size, see section 11.2.)
#
# vLLM has such a Tracer ([pull request 49957](https://github.com/vllm-project/vllm/pull/49957)): `vllm/model_executor/models/transformers/fx_utils.py` runs each operation on meta tensors, too. It only looks for places to rewrite, so a trace that stops early is enough.
# PyTorch has a `MetaTracer` among its experiments. It does not list what it has assumed, and it freezes a size that is only handed on:

# %%
from torch.fx.experimental.meta_tracer import MetaTracer as Experimental

tracer = Experimental()
graph = tracer.trace(
    lambda x: x.view(x.shape[0], -1), meta_args={"x": torch.zeros(2, 3, device="meta")}
)
print(graph)

# %% proof=true
assert [node.name for node in graph.nodes] == ["x", "view", "output"]
assert list(graph.nodes)[1].args[1:] == (2, -1) and not hasattr(tracer, "assumed")

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail.
#
# ### Shapes instead of Proxies
#
# A Proxy whose `shape` is a real `torch.Size` answers every question about `x.shape`. It also freezes every size that is only handed on:


# %%
class Frozen(fx.Proxy):
    shape = torch.Size([2, 3])


class FrozenTracer(fx.Tracer):
    def proxy(self, node):
        return Frozen(node, self)


graph = FrozenTracer().trace(lambda x: x.view(x.shape[0], -1))
gm = fx.GraphModule({}, graph)
print(gm.code)

# %% proof=true
assert gm(torch.zeros(4, 3)).shape == (2, 6)  # and not (4, 3)

# %% [markdown]
# **Right:** a size is a Proxy until Python asks.
#
# ### Deciding at the comparison
#
# If `__gt__` gives `True` or `False`, the comparison in `x * (n > 1)` is decided, although Python did not ask.


# %%
class Decided(fx.Proxy):
    def __gt__(self, other):
        return True


class DecidedTracer(fx.Tracer):
    def proxy(self, node):
        return Decided(node, self)


graph = DecidedTracer().trace(lambda x, n: x * (n > 1))
print([node.name for node in graph.nodes])

# %% proof=true
assert [node.name for node in graph.nodes] == ["x", "n", "mul", "output"]  # and no gt

# %% [markdown]
# **Right:** `__gt__` makes a node, as always, and `__bool__` answers.
#
# ### `False` is an answer, unknown is not

# %%
values = {"numel": 0}
if not values.get("numel"):
    print("is it zero, or not known?")

# %% [markdown]
# **Right:** ask `in`, or keep an object of your own for "not known".
#
# ### Only one kind of exception
#
# Section 8b.3 printed three kinds. `except NotImplementedError` catches `nonzero`, and not `item`.
# **Right:** whatever is raised on meta only means that nothing is known.

# %% proof=true
assert "numel" in values and values.get("sum") is None

# %% [markdown]
# ### Unknown values that go on
#
# Python compares any two objects. If an operation gets an object for "not known", the result may look like an answer:

# %%
UNKNOWN = object()
print(operator.eq(UNKNOWN, 2))

# %% proof=true
assert operator.eq(UNKNOWN, 2) is False

# %% [markdown]
# **Right:** what reads something unknown is unknown.

# %% [markdown]
# ## Recap
#
# 1. A question is a method: `__bool__`, `__len__`, `__iter__`, `__int__`, `__index__`. A comparison is a node. `is` and `isinstance` are silent.
# 2. Meta tensors answer questions about shapes and dtypes, and refuse those about values.
# 3. While FX traces, each call of a module is FX's. A switch makes yours an exception.
# 4. Run copies: of the layers, the parameters and the examples.
# 5. Each answer is an assumption. Keep the list, and guard the trace with it.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `def proxy(self, node)` | a method of `fx.Tracer`: makes the Proxy of a node |
# | `def create_node(self, kind, …)` | a method of `fx.Tracer`: every node passes through it |
# | `fx.proxy.Attribute` | what `x.shape` is; its node is made when it is used |
# | `fx.proxy.TraceError` | what `if` and a loop raise without an answer |
# | `torch.empty(shape, dtype=dtype, device="meta")` | a tensor without data |
# | `with torch.device("meta"):` | tensors that are made here are on meta |
# | `fx.node.map_arg(args, f)` | `args` with `f(node)` instead of each node |
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
