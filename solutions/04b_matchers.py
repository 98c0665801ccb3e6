# %% [markdown]
# # 4b · A matcher of your own
#
# **After this part you can find groups of nodes that no pattern can describe, and replace each of them.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 4, above all sections 3.4 (modules), 3.5 (erasing) and 4.5 (what a pattern cannot say) |
# | **Time** | about 80 minutes, 40 of them for the exercises; the minutes of a section include its exercise. A good place for a break is after 4b.1 |
# | **Deep dive** | You can go on to chapter 5 without it. Chapter 10 needs section 4b.2, which finds modules by their type |
#
# **When you are done, you can**
#
# 1. say which nodes of a graph hold numbers, and which hold tensors;
# 2. write a loop that finds a group of nodes in all its spellings, on either side, with keywords;
# 3. find modules by their type, at any depth, and add a new module under a name that is free;
# 4. say in which order two passes must run.

# %% [markdown]
# ## A story
#
# The library of chapter 4 has two more large operations: one for a product and a sum, and one for a linear layer with its ReLU.
# The other team sends an encoder of transformer blocks, which has both in small steps.
#
# With patterns you do not get far. The product may be on either side of the sum, and each operation has two spellings.
# Some sums are sums of sizes, and those must stay. And a linear layer is a module, which a pattern finds only by its name.
# So you write the search yourself. In section 4b.3 the encoder is rewritten.

# %%
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from IPython.display import display
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import LinearReLU

torch.manual_seed(4)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict.** The pattern is `a * b + c`. How many places of `z + x * y` does `fx.replace_pattern` rewrite?
#
# <details><summary>One, because a sum is the same in both orders</summary>
#
# No. You know that, and the matcher does not.
#
# </details>
# <details><summary>None</summary>
#
# Right. Order counts (rule 2 of section 4.2): the product is the second argument of this sum.
#
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x, y, z: z + x * y)
assert fx.replace_pattern(gm, lambda a, b, c: a * b + c, lambda a, b, c: a) == []

# %% [markdown]
# **Predict.** `y = x * 2; return y + y` is traced. How many users does the product have?
#
# <details><summary>One</summary>
#
# Right. <code>users</code> lists each reader once, however often it reads (section 3.3). This matters below.
#
# </details>
# <details><summary>Two</summary>
#
# No. The sum reads the product twice, and it is one reader.
#
# </details>


# %% proof=true
def twice(x):
    y = x * 2
    return y + y


_, product, _, _ = fx.symbolic_trace(twice).graph.nodes
assert len(product.users) == 1

# %% [markdown]
# ## 4b.1 Spellings, sides and numbers
#
# ### Where numbers come from
#
# For FX, a number that is computed while the model runs is a node like any other. The filter `is_size` of section 4.5 knows only sizes.
# A graph holds other numbers as well:


# %%
def f(x, scale=2.0):
    rows, columns = x.shape
    half = x.size(-1) // 2
    root = (columns * 4) ** 0.5
    return rows, half, root, x.dim(), x.numel(), x.ndim, x.sum().item(), scale


gm = fx.symbolic_trace(f)
ShapeProp(gm).propagate(torch.ones(2, 6), 2.0)  # runs the graph, and notes the type of each value
for node in gm.graph.nodes:
    if node.op != "output":
        print(f"{node.name:10} {node.op:14} {node.target!s:28.28} {node.meta['type'].__name__}")

# %% proof=true
types = {node.name: node.meta["type"] for node in gm.graph.nodes}
assert all(types[name] is int for name in ("getitem", "floordiv", "dim", "numel"))
assert types["item"] is types["scale"] is float and types["getattr_1"] is torch.Size

# %% [markdown]
# (`ShapeProp` runs the graph once. Chapter 6 shows how it does that.)
#
# | a node holds a number (or a size) if it is | examples |
# |---|---|
# | a call of a method that returns one | `size`, `dim`, `ndimension`, `numel`, `nelement`, `stride`, `item` |
# | `getattr` of such an attribute | `shape`, `ndim` |
# | usually: a parameter of `forward` with a number as default | `scale=2.0` |
# | an operator, or a function of `math`, whose arguments are **all** numbers | `columns * 4`, `half + 1`, an item of a shape |
#
# A tensor and a number make a tensor: `x * half` is one.
# `x.reshape(rows, columns)` and `torch.ones(rows)` take numbers and return a tensor.
# (A few functions return a number, too, such as `torch.numel(x)`. They are rare in models.)
#
# All functions of the last row are in two modules, `_operator` and `math`:

# %%
operator.mul.__module__, math.sqrt.__module__

# %% proof=true
ones = torch.ones(2, 6)
asked = [getattr(ones, name)() for name in ("dim", "ndimension", "numel", "nelement", "stride")]
assert not any(isinstance(answer, torch.Tensor) for answer in asked)
assert isinstance(ones * 3, torch.Tensor) and torch.numel(ones) == 12
assert operator.mul.__module__ == "_operator" and math.sqrt.__module__ == "math"

# %% [markdown]
# Here is a function that computes with sizes and with tensors:


# %%
def mixed(x, y):
    n = x.size(0) * 2
    scaled = x * n
    return scaled + y, n + 1


mixed_graph = fx.symbolic_trace(mixed).graph
mixed_graph.print_tabular()

# %% [markdown]
# **Drill 04b.1a.** Which of these nodes hold numbers? Write the list of their names, in the order of the graph.

# %% drill=true
numbers = ["size", "mul", "add_1"]
drill("04b.1a", numbers)
# Mistake: `x * n` multiplies a tensor by a number, and that is a tensor.
# numbers = ["size", "mul", "mul_1", "add_1"]

# %% [markdown]
# ### A loop instead of patterns
#
# Section 4.5 normalized a graph, so that one pattern was enough. But you may need the model as its
# authors wrote it, with its modules and for all shapes, or need a condition that no pattern can express.
# And with one pattern for each spelling, side and keyword you soon have dozens. Then write a loop over the nodes:
#
# 1. start at the **last** node of the group,
# 2. look at its arguments, positional or keyword, for the node before it,
# 3. check that each inner node has **one** reader,
# 4. insert the new nodes, rewire, and erase from the last to the first.
#
# Rule 9 holds for loops, too. If a new node reads a value later than the old one did, nothing may write into it in between.
#
# An example: `x / torch.sqrt(y)` becomes `x * torch.rsqrt(y)`. The division may be `/` or `torch.div`.
# Each new node is inserted before the old one that it replaces, so it reads its arguments at the same time:


# %%
def operands(node: Any, functions: tuple[Callable[..., Any], ...]) -> tuple[Any, ...]:
    """The two operands of a call of one of `functions`; `()` for anything else."""
    if not isinstance(node, fx.Node) or node.op != "call_function" or node.target not in functions:
        return ()
    named = dict(zip(("input", "other"), node.args, strict=False)) | node.kwargs
    if set(named) != {"input", "other"}:
        return ()  # a rounding mode, an `out`: that is another operation
    return named["input"], named["other"]


def sqrt_to_rsqrt(model: nn.Module) -> fx.GraphModule:
    """Replace a division by a square root by a multiplication by `torch.rsqrt`."""
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        pair = operands(node, (operator.truediv, torch.div))
        if not pair:
            continue
        x, root = pair
        is_root = isinstance(root, fx.Node) and root.target is torch.sqrt
        if not is_root or len(root.users) != 1 or x is root:
            continue
        with gm.graph.inserting_before(root):
            inverse = gm.graph.call_function(torch.rsqrt, root.args, root.kwargs)
        with gm.graph.inserting_before(node):
            scaled = gm.graph.call_function(operator.mul, (x, inverse))
        node.replace_all_uses_with(scaled)
        gm.graph.erase_node(node)
        gm.graph.erase_node(root)
    gm.recompile()
    return gm


def f(x, y):
    shared = torch.sqrt(y)
    same = torch.sqrt(x)
    a = x / torch.sqrt(y)
    b = torch.div(other=torch.sqrt(x), input=y)
    return a, b, x / shared + shared, same / same


gm = sqrt_to_rsqrt(f)
x, y = torch.rand(3) + 1, torch.rand(3) + 1
for got, want in zip(gm(x, y), f(x, y), strict=True):
    torch.testing.assert_close(got, want)


def written(x, y):
    root = torch.sqrt(y)
    y.mul_(4)
    return torch.div(x, root)


gm = sqrt_to_rsqrt(written)
torch.testing.assert_close(gm(x, y.clone()), written(x, y.clone()))
draw.diff(written, gm)

# %% [markdown]
# **Predict.** Why does the loop check `x is root`? What would happen at `same / same` without it?
#
# <details><summary>Nothing: <code>same</code> has two readers</summary>
#
# No. `users` lists each reader once. The division reads `same` twice, but it is one reader.
#
# </details>
# <details><summary>An error, because <code>same</code> is still read when it is erased</summary>
#
# Right. The new product reads `same` as its first operand.
# `erase_node` refuses to erase a node that another node reads.
#
# </details>


# %%
def same_twice(x):
    same = torch.sqrt(x)
    return same / same


gm = fx.symbolic_trace(same_twice)
x, root, division, output = gm.graph.nodes
assert division.args == (root, root) and len(root.users) == 1

with gm.graph.inserting_before(division):
    inverse = gm.graph.call_function(torch.rsqrt, (x,))
    scaled = gm.graph.call_function(operator.mul, (root, inverse))
division.replace_all_uses_with(scaled)
gm.graph.erase_node(division)
with fails(RuntimeError):
    gm.graph.erase_node(root)

# %% [markdown] card="fuse_addcmul"
# `torch.addcmul(c, a, b)` computes `c + a * b` in one go.
#
# **Given** a model.
#
# **Return** a new `GraphModule` in which every `a * b + c` is a call of `torch.addcmul(c, a, b)`, wherever
#
# * the product is a call of `operator.mul` or `torch.mul`, the sum one of `operator.add` or `torch.add`,
#   with positional or keyword arguments, without `alpha` and without `out`,
# * the product is on either side of the sum,
# * `a`, `b` and `c` are nodes that hold tensors: no Python numbers, no sizes,
# * only the sum reads the product, and it reads it once.
#
# **Do not** change the model you were given.
#
# **Fine print**
#
# * `x * x + z` and `x * y + x` count as well. Everything else stays as it is, the methods `.mul` and `.add` too.
# * The models use one floating dtype. Shapes may broadcast. Nothing is changed in place.


# %%
class Before(nn.Module):
    def forward(self, x, y, z):
        a = x * y + z
        b = torch.add(z, torch.mul(a, a))
        return b * 2 + z


class After(nn.Module):
    def forward(self, x, y, z):
        a = torch.addcmul(z, x, y)
        b = torch.addcmul(z, a, a)
        return b * 2 + z


display(draw(Before(), title="given"))
draw(After(), title="asked for")


# %% solve="fuse_addcmul"
def fuse_addcmul(model: nn.Module) -> fx.GraphModule:
    """Replace every sum of a product and a tensor by one call of `torch.addcmul`."""
    ### BEGIN SOLUTION
    number_methods = {"size", "dim", "numel", "nelement", "ndimension", "stride", "item"}

    def holds_tensor(value: Any) -> bool:
        if not isinstance(value, fx.Node):
            return False
        if value.op == "placeholder":  # its argument is the default, if it has one
            return not any(isinstance(default, int | float) for default in value.args)
        if value.op == "call_method":
            return value.target not in number_methods
        if value.op != "call_function":
            return True
        if value.target is getattr:
            return value.args[1] not in ("shape", "ndim")
        # Arithmetic of numbers gives numbers. This covers the items of a shape, too.
        if value.target.__module__ in ("_operator", "math"):
            return any(map(holds_tensor, value.all_input_nodes))
        return True

    def operands(node: Any, functions: tuple[Any, ...]) -> tuple[Any, ...]:
        """The two operands of a plain call; nothing if there are other arguments."""
        is_call = isinstance(node, fx.Node) and node.op == "call_function"
        if not is_call or node.target not in functions or len(node.args) > 2:
            return ()
        named = dict(zip(("input", "other"), node.args, strict=False)) | node.kwargs
        return (named["input"], named["other"]) if set(named) == {"input", "other"} else ()

    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        terms = operands(node, (operator.add, torch.add))
        # In `p + p` the sum is the only user of `p`, and still reads it twice.
        if not terms or terms[0] is terms[1] or not all(map(holds_tensor, terms)):
            continue
        for product, other in (terms, terms[::-1]):
            factors = operands(product, (operator.mul, torch.mul))
            if factors and len(product.users) == 1 and all(map(holds_tensor, factors)):
                with gm.graph.inserting_before(node):
                    fused = gm.graph.call_function(torch.addcmul, (other, *factors))
                node.replace_all_uses_with(fused)
                gm.graph.erase_node(node)
                gm.graph.erase_node(product)
                break
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="fuse_addcmul"
check(fuse_addcmul)

# %% hint="fuse_addcmul"
hint("fuse_addcmul")

# %% [markdown]
# ## 4b.2 Modules by their type
#
# A pattern finds a module by its name (section 4.6). A loop can ask for its type. The recipe is that of section 4b.1, with two changes:
# look at `type` or `isinstance` of `gm.get_submodule(node.target)`, and
# put the new module under a name that is **free**.
#
# The example: `torch.log` of an `nn.Softmax` becomes an `nn.LogSoftmax`.
# Its result stays finite when a probability is so small that it is rounded to zero.
# The softmax may have any name, at any depth.


# %%
def fuse_log_softmax(model: nn.Module) -> fx.GraphModule:
    """Call an `nn.LogSoftmax` where the log of an `nn.Softmax` is computed."""
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op != "call_module":
            continue
        softmax = gm.get_submodule(node.target)
        if not isinstance(softmax, nn.Softmax) or len(node.users) != 1:
            continue
        (reader,) = node.users
        is_log = reader.target is torch.log or (
            reader.op == "call_method" and reader.target == "log"
        )
        if not is_log:
            continue
        # hasattr sees every kind of attribute: a name that is taken is never overwritten.
        candidates = (f"log_softmax_{i}" for i in itertools.count())
        name = next(candidate for candidate in candidates if not hasattr(gm, candidate))
        gm.add_submodule(name, nn.LogSoftmax(softmax.dim))
        with gm.graph.inserting_before(node):
            fused = gm.graph.call_module(name, node.args, node.kwargs)
        reader.replace_all_uses_with(fused)
        gm.graph.erase_node(reader)
        gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.probabilities = nn.Softmax(dim=-1)
        self.log_softmax_0 = nn.Tanh()
        self.head = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1))

    def forward(self, x):
        p = self.probabilities(x)
        scores = self.head(input=self.log_softmax_0(x))
        return p * torch.log(p), self.probabilities(input=x).log(), torch.log(scores)


far = torch.tensor([0.0, -200.0])
print(torch.log(nn.Softmax(dim=-1)(far)), nn.LogSoftmax(dim=-1)(far))

model = Heads().eval()
gm = fuse_log_softmax(model)
x = torch.randn(2, 4)
for got, want in zip(gm(x), model(x), strict=True):
    torch.testing.assert_close(got, want)
draw(gm)

# %% proof=true
assert torch.log(nn.Softmax(dim=-1)(far)).isinf().any()
assert nn.LogSoftmax(dim=-1)(far).isfinite().all()
found = [type(gm.get_submodule(n.target)).__name__ for n in gm.graph.nodes if n.op == "call_module"]
assert found.count("LogSoftmax") == 2 and found.count("Softmax") == 1
assert isinstance(gm.log_softmax_0, nn.Tanh) and isinstance(gm.log_softmax_1, nn.LogSoftmax)

# %% [markdown]
# `probabilities` is called twice. One call has two readers and stays; the other one is fused.
# That works because the loop changes *calls*, and never a module.
# The name `log_softmax_0` was taken, so the first new module is `log_softmax_1`.
#
# The exercise gives you this module:

# %%
linear = nn.Linear(3, 2)
fused = LinearReLU(linear)
x = torch.randn(4, 3)
print("holds the layer, not a copy:", fused.linear is linear)
print("computes its ReLU:", torch.equal(fused(x), torch.relu(linear(x))))

# %% proof=true
assert fused.linear is linear
assert torch.equal(fused(x), torch.relu(linear(x)))

# %% [markdown]
# One more drill with the model of the example:

# %%
heads = fx.symbolic_trace(Heads())
print(heads.graph)

# %% [markdown]
# **Drill 04b.2a.** Find the names of all nodes that call an `nn.Linear`, by the type of the module.

# %% drill=true
calls = [node for node in heads.graph.nodes if node.op == "call_module"]
linears = [n.name for n in calls if isinstance(heads.get_submodule(n.target), nn.Linear)]
drill("04b.2a", linears)
# Mistake: A node is named after an attribute, whatever type its module has.
# linears = [node.name for node in heads.graph.nodes if node.op == "call_module"]
# linears = [name for name in linears if name.startswith("head")]

# %% [markdown] card="fuse_linear_relu"
# **Given** a model.
#
# **Return** a new `GraphModule` in which every call of an `nn.Linear` whose **only reader** is a ReLU
# is, together with that ReLU, one `call_module` of a `LinearReLU` that holds this linear layer.
#
# * The ReLU is an `nn.ReLU`, `F.relu`, `torch.relu` or `.relu()`.
# * Find the layer by its type, whatever its name and however deep in the model.
# * If a layer is called in several places, handle each.
#
# **Do not** change the model you were given. Do not overwrite anything in it: a submodule, a parameter or a buffer may
# have any name, `fused`, `linear_relu` and `linear_relu_1` too.
#
# **Fine print**
#
# * A ReLU in place is never tested.
# * Modules that no node calls any more may stay or go.
# * Everything else stays as it is, even calls in place that no node reads.


# %%
class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(3, 8)
        self.act = nn.ReLU()
        self.down = nn.Linear(8, 3)

    def forward(self, x):
        return self.down(self.act(self.up(x))) + x


class FusedCalls(fx.Tracer):
    """Keeps LinearReLU as one call, for the picture."""

    def is_leaf_module(self, m, module_qualified_name):
        is_given = isinstance(m, LinearReLU)
        return is_given or super().is_leaf_module(m, module_qualified_name)


class After(nn.Module):
    def __init__(self):
        super().__init__()
        self.fused = LinearReLU(nn.Linear(3, 8))
        self.down = nn.Linear(8, 3)

    def forward(self, x):
        return self.down(self.fused(x)) + x


after = After()
draw.diff(Before(), fx.GraphModule(after, FusedCalls().trace(after)))


# %% solve="fuse_linear_relu"
def fuse_linear_relu(model: nn.Module) -> fx.GraphModule:
    """Call a `LinearReLU` where a ReLU is the only reader of an `nn.Linear`."""
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)

    def calls(node: fx.Node, kind: type[nn.Module]) -> bool:
        return node.op == "call_module" and isinstance(gm.get_submodule(node.target), kind)

    def is_relu(node: fx.Node) -> bool:
        if node.op == "call_method":
            return node.target == "relu"
        return node.target in (torch.relu, F.relu) or calls(node, nn.ReLU)

    candidates = (f"linear_relu_{i}" for i in itertools.count())
    for node in list(gm.graph.nodes):
        if not calls(node, nn.Linear) or len(node.users) != 1:
            continue
        (reader,) = node.users
        if not is_relu(reader):
            continue
        # A name of its own for each call: other calls may still need the plain layer.
        name = next(candidate for candidate in candidates if not hasattr(gm, candidate))
        gm.add_submodule(name, LinearReLU(gm.get_submodule(node.target)))
        with gm.graph.inserting_before(node):
            fused = gm.graph.call_module(name, node.args, node.kwargs)
        reader.replace_all_uses_with(fused)
        gm.graph.erase_node(reader)
        gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm
    ### END SOLUTION


# %% check="fuse_linear_relu"
check(fuse_linear_relu)

# %% hint="fuse_linear_relu"
hint("fuse_linear_relu")

# %% [markdown]
# ## 4b.3 The encoder
#
# Here are the transformer blocks of the story. Each of them has two sums with a product, and a linear layer with a ReLU.


# %%
class Block(nn.Module):
    """A transformer's block, with a learned gain for each branch."""

    def __init__(self, width: int = 16):
        super().__init__()
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.gain1, self.gain2 = nn.Parameter(torch.rand(width)), nn.Parameter(torch.rand(width))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        weights = torch.softmax(q @ k.transpose(-2, -1) / 4.0, dim=-1)
        x = x + self.gain1 * self.proj(weights @ v)
        return x + self.gain2 * self.down(torch.relu(self.up(x)))


encoder = nn.Sequential(*[Block() for _ in range(4)]).eval()
tokens = torch.randn(2, 5, 16)


def calls_of(gm: fx.GraphModule, what: Any) -> int:
    """How many nodes call this function, or a module of this class."""
    modules = dict(gm.named_modules())
    return sum(
        type(modules[n.target]) is what if n.op == "call_module" else n.target is what
        for n in gm.graph.nodes
    )


# %% uses="fuse_linear_relu"
once = fuse_addcmul(encoder)
right_order = fuse_linear_relu(once)  # the pass that introduces modules comes last
wrong_order = fuse_addcmul(fuse_linear_relu(encoder))
with torch.no_grad():
    torch.testing.assert_close(right_order(tokens), encoder(tokens))
    torch.testing.assert_close(wrong_order(tokens), encoder(tokens))
nodes = len(fx.symbolic_trace(encoder).graph.nodes)
print(f"encoder: {nodes} nodes, then {len(right_order.graph.nodes)}:", end=" ")
print(
    calls_of(right_order, torch.addcmul),
    "addcmul,",
    calls_of(right_order, LinearReLU),
    "LinearReLU",
)
print("in the wrong order:", calls_of(wrong_order, LinearReLU), "LinearReLU are left")
assert calls_of(right_order, torch.addcmul) == 8 and calls_of(right_order, LinearReLU) == 4
assert calls_of(wrong_order, LinearReLU) == 0

# %% [markdown]
# In the wrong order, all values are right and the fusion is gone, because the second pass traces the result of the first
# and goes into `LinearReLU` (section 4.7). No test of values can find that. **Count your nodes at the end.**
#
# Here is the picture for one block: two sums became `addcmul`, and one linear layer has its ReLU with it.

# %% uses="fuse_linear_relu"
draw(fuse_linear_relu(fuse_addcmul(encoder[0])))

# %% [markdown]
# ## Common mistakes
#
# ### The new name is taken


# %%
class Taken(nn.Module):
    def __init__(self):
        super().__init__()
        self.fused = nn.Linear(3, 2)

    def forward(self, x):
        return self.fused(x)


taken = Taken()
gm = fx.symbolic_trace(taken)
gm.add_submodule("fused", nn.Tanh())  # meant to be new, for another call
gm.recompile()
x = torch.randn(1, 3)
torch.equal(gm(x), torch.tanh(x))  # the layer is gone, and nothing was said

# %% proof=true
assert torch.equal(gm(x), torch.tanh(x)) and isinstance(taken.fused, nn.Linear)

# %% [markdown]
# **Right:** try names until `hasattr(gm, name)` is false.
#
# ## Recap
#
# 1. A number that is computed is a node. Ask where it comes from: a method, an attribute, a default, or arithmetic of numbers.
# 2. A matcher starts at the last node of the group, reads arguments by position and by keyword, and allows one reader inside.
#    Nothing may write into what the new nodes read later than the old ones.
# 3. `users` lists a reader once, even if it reads twice.
# 4. Modules are found by type. A new module needs a name that is free, and the old one may have other callers.
# 5. A pass that introduces modules of its own runs last.
#
# ## Cheat sheet
#
# | you want | you write |
# |---|---|
# | operands by position or keyword | `dict(zip(("input", "other"), node.args)) \| node.kwargs` |
# | to know that an inner value does not escape | `len(node.users) == 1` |
# | a module by its type | `isinstance(gm.get_submodule(node.target), nn.Linear)` |
# | a free name | `next(name for name in candidates if not hasattr(gm, name))` |
# | a new module and its call | `gm.add_submodule(name, module)`, `gm.graph.call_module(name, args, kwargs)` |
# | types of all values, by running the graph | `ShapeProp(gm).propagate(*inputs)`, then `node.meta["type"]` |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | rules that replace a call by Python code | chapter 5 |
# | how `ShapeProp` runs a graph | chapter 6 |
# | fusing Conv and BatchNorm | chapter 10 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), the reference of `Graph` and `GraphModule`.
