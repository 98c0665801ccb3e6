# %% [markdown]
# # 12c · Normalize, then match
#
# **After this part you can name every argument of a call if anything knows the names, and find one idea in all of its spellings.**
#
# | | |
# |---|---|
# | **You need** | chapters 2 to 4; sections 11.1 and 11.6 for ATen graphs and fake tensors; sections 12.3 and 12.5 |
# | **Time** | about 100 minutes with *Common mistakes*, 55 of them for the exercises; the minutes of a section include its exercise |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. read the schema of an operator: its parameters, their types and defaults;
# 2. name every argument of a call, for modules, functions and overloads;
# 3. say why the names are unknown for methods and for many builtin functions;
# 4. record an ATen graph without computing anything, and say which spellings it unites;
# 5. check an operator of your own;
# 6. find a norm in all of its spellings, and replace it by one call;
# 7. say what PyTorch's own matchers find of it.

# %% [markdown]
# ## A story
#
# The team has a new kernel. It computes a whole RMS norm in one step: a value, divided by the root of the mean of its squares, times a weight.
# Language models are full of these norms. The team's network has five of them.
#
# A colleague writes a pattern, as in chapter 4, and replaces it by the kernel. It finds two of the five.
# The other three are norms, too. But their authors wrote them in another way: another order, another square, another cast.
#
# You can write a pattern for each spelling, and hope that there is no other one. Or you make the spellings alike first, and look for what they have in common.
# At the end of this part all five are the kernel.

# %%
import inspect
import math

import torch
from IPython.display import display
from torch import fx, library, nn
from torch.func import functional_call
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.fx.subgraph_rewriter import replace_pattern_with_filters
from torch.nn import functional as F

import autograder.given  # its import registers the operator of this part
from autograder import check, draw, fails, hint, progress

torch.manual_seed(12)
aten = torch.ops.aten
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the number.** `x.softmax(dim=-1)` is traced. How many entries does `node.args` have?
#
# <details><summary>2: the input, and the dimension</summary>
#
# That is so if both are written by position. Here the dimension is written by keyword.
# </details>
# <details><summary>1: the input</summary>
#
# Right. What is written by keyword is in <code>kwargs</code>. A pass that reads <code>node.args[1]</code> raises an <code>IndexError</code> here.
# </details>
# <details><summary>3: the input, the dimension, and the dtype</summary>
#
# No. FX records a method call as it is written. Nobody has filled in a default.
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x: x.softmax(dim=-1))
(softmax,) = gm.graph.find_nodes(op="call_method", target="softmax")
assert len(softmax.args) == 1 and softmax.kwargs == {"dim": -1}

# %% [markdown]
# **Predict the result.** `replace_pattern` looks for `torch.exp(torch.sin(x))`. In the model, the sine is returned, too. What happens?
#
# <details><summary>The two calls are replaced</summary>
#
# Then the sine would be gone, and the output still needs it.
# </details>
# <details><summary>Nothing: the sine has a second reader</summary>
#
# Right. A value in the middle of a match may be read by the match alone (chapter 4, rule 7). The output is a reader, too.
# </details>
# <details><summary>The exponential is replaced, and the sine stays</summary>
#
# No. A match is replaced as a whole, or not at all.
# </details>


# %% proof=true
def returns_both(x):
    sine = torch.sin(x)
    return torch.exp(sine), sine


def pattern(x):
    return torch.exp(torch.sin(x))


def replacement(x):
    return torch.tanh(x)


assert len(fx.replace_pattern(fx.symbolic_trace(pattern), pattern, replacement)) == 1
assert len(fx.replace_pattern(fx.symbolic_trace(returns_both), pattern, replacement)) == 0

# %% [markdown]
# ## 12c.1 What was this call given?
#
# Here is one softmax in four ways. A pass wants to know the dimension:


# %%
class FourWays(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Softmax(dim=-1)

    def forward(self, x):
        a = F.softmax(x, -1)
        b = torch.softmax(x, dim=-1)
        c = x.softmax(-1)
        return a, b, c, self.layer(x)


four = fx.symbolic_trace(FourWays())
for node in four.graph.nodes:
    if node.op.startswith("call_"):
        print(f"{node.op:14} {node.args!s:8} {dict(node.kwargs)}")

# %% [markdown]
# The names of the parameters are in a different place for each kind of call:
#
# | call | where the names are |
# |---|---|
# | a module | in the signature of its `forward` |
# | a function of Python, such as most of `torch.nn.functional` | in its own signature |
# | an overload, as in an ATen graph | in its schema: an overload has one |
# | a function that is built into PyTorch, or a method | in the schemas of that name, and often there are several |
#
# For the first two, Python does the work. A signature is **bound** to arguments, and `apply_defaults` adds the defaults:

# %%
signature = inspect.signature(F.dropout)
print(signature)
bound = signature.bind(torch.ones(2), training=False)
bound.apply_defaults()
print(dict(bound.arguments))
with fails(TypeError):
    signature.bind(torch.ones(2), train=False)
with fails(ValueError):
    inspect.signature(torch.add)  # it is written in C++

# %% proof=true
assert bound.arguments["p"] == 0.5 and bound.arguments["training"] is False

# %% [markdown]
# ### Schemas
#
# A function that is written in C++ has a **schema** instead of a signature. Each overload has its own:

# %%
schema = aten.mean.dim._schema
print(schema)
for argument in schema.arguments:
    print(f"  {argument.name:8} {argument.real_type!s:21} {argument.N!s:5} {argument.kwarg_only}")

# %% proof=true
_, dim, keepdim, dtype = schema.arguments
assert str(dim.real_type) == "Optional[List[int]]" and dim.N == 1
assert dtype.kwarg_only and dtype.has_default_value() and dtype.default_value is None
assert not dim.has_default_value() and keepdim.default_value is False

# %% [markdown]
# Read it from left to right. The first parameter of most schemas is called `self`. `int[1]? dim` is a list of whole numbers, or nothing.
# The 1 says that a single number may be given instead of the list; that is `N`. The parameters after the star are given by keyword.
#
# A schema is nearly a signature. A small function makes one of it, and it binds like any other:


# %%
def signature_of(schema) -> inspect.Signature:
    """The signature with the parameters of a schema."""
    by_place, by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [
            inspect.Parameter(
                argument.name,
                by_name if argument.kwarg_only else by_place,
                default=argument.default_value
                if argument.has_default_value()
                else inspect.Parameter.empty,
            )
            for argument in schema.arguments
        ]
    )


bound = signature_of(schema).bind("x", [-1], True)
bound.apply_defaults()
bound.arguments

# %% proof=true
assert bound.arguments == {"self": "x", "dim": [-1], "keepdim": True, "dtype": None}

# %% [markdown]
# ### Several schemas
#
# A method or a builtin has all schemas of its name, and the call does not say which one is meant:

# %%
print(aten.std.overloads())
by_dim, by_correction = aten.std.dim._schema, aten.std.correction._schema
found = []
for each in (by_dim, by_correction):
    print(each)
    bound = signature_of(each).bind("x", 1)
    bound.apply_defaults()
    found.append(dict(bound.arguments))

# %% [markdown]
# **Predict the result.** The arguments fit both schemas. Are the bound arguments the same?
#
# <details><summary>Yes: it is one call, with one result</summary>
#
# PyTorch computes one result. But each schema has parameters of its own.
# </details>
# <details><summary>No: one has <code>unbiased</code>, the other <code>correction</code></summary>
#
# Right. PyTorch takes the first schema that fits, in an order of its own. A pass should not guess that order.
# </details>
# <details><summary>No: only one of them has a default for <code>keepdim</code></summary>
#
# Both have one, and it is <code>False</code> in both.
# </details>

# %% proof=true
assert found[0] == {"self": "x", "dim": 1, "unbiased": True, "keepdim": False}
assert found[1] == {"self": "x", "dim": 1, "correction": None, "keepdim": False}

# %% [markdown]
# So for a builtin with several schemas, and for a method, a pass has to say that it does not know the names.

# %% [markdown] card="all_arguments"
# **Given** a call `node`, and the module `root` in which the path of a `call_module` node leads to its module.
#
# **Return** a dictionary with every argument of the call by the name of its parameter, defaults filled in. Values are given back **as they are** in `args` and `kwargs`. The names are,
#
# * for a module, the parameters of its `forward`;
# * for a function of Python, its own;
# * for an ATen overload, those of its schema.
#
# **Raise** a `ValueError` if the arguments do not fit, or if nothing is known of the call. Its message says which.
#
# **Fine print**
#
# * Functions of Python are all that `inspect.signature` can read, `operator.add` too. An overload has `self` and keyword-only parameters among its own.
# * The arguments do not fit: too many, one missing, an unknown keyword. Their types are not looked at.
# * Nothing is known: `getattr`, a method, or a builtin such as `torch.add`, which has several schemas.
# * Functions with `*args`, `F.max_pool2d` and its kind, and builtins of `torch._C._nn` are not tried.

# %%
print(
    "for F.softmax(x, -1):                    {'input': x, 'dim': -1, '_stacklevel': 3, 'dtype': None}"
)
print(
    "for aten.sum.dim_IntList(x, [1], True):  {'self': x, 'dim': [1], 'keepdim': True, 'dtype': None}"
)

# %% proof=true
assert [*inspect.signature(F.softmax).parameters] == ["input", "dim", "_stacklevel", "dtype"]
assert [a.name for a in aten.sum.dim_IntList._schema.arguments] == [
    "self",
    "dim",
    "keepdim",
    "dtype",
]


# %% solve="all_arguments"
def all_arguments(node: fx.Node, root: nn.Module) -> dict[str, object]:
    """Every argument of a call by the name of its parameter."""
    ### BEGIN SOLUTION
    if node.op == "call_method":
        raise ValueError(f"nothing is known of the method {node.target}")
    if node.op == "call_module":
        signature = inspect.signature(root.get_submodule(node.target).forward)
    elif hasattr(node.target, "_schema"):
        parameters = []
        for a in node.target._schema.arguments:
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            kind = inspect.Parameter.KEYWORD_ONLY if a.kwarg_only else kind
            default = a.default_value if a.has_default_value() else inspect.Parameter.empty
            parameters.append(inspect.Parameter(a.name, kind, default=default))
        signature = inspect.Signature(parameters)
    else:
        signature = inspect.signature(node.target)  # a ValueError if nothing is known
    try:
        bound = signature.bind(*node.args, **node.kwargs)
    except TypeError as error:
        raise ValueError(f"the arguments of {node} do not fit: {error}") from None
    bound.apply_defaults()
    return dict(bound.arguments)
    ### END SOLUTION


# %% check="all_arguments"
check(all_arguments)

# %% hint="all_arguments"
hint("all_arguments")

# %% [markdown]
# Your function knows two of the four softmaxes: the function of Python and the layer. In an ATen graph, it knows all four:

# %% uses="all_arguments"
known = []
for node in four.graph.nodes:
    if node.op.startswith("call_"):
        try:
            known.append(all_arguments(node, four))
        except ValueError as error:
            print(error)
print([call.get("dim") for call in known])  # in the layer, `dim` is an attribute
recorded = make_fx(four)(torch.rand(2, 3))
calls = recorded.graph.find_nodes(op="call_function", target=aten._softmax.default)
print([all_arguments(node, recorded)["dim"] for node in calls])

# %% proof=true
assert [call.get("dim") for call in known] == [-1, None]
assert [all_arguments(node, recorded)["dim"] for node in calls] == [-1, -1, -1, -1]

# %% [markdown]
# ## 12c.2 What an ATen graph unites
#
# You can also record the calls below Python. `make_fx` runs a function, and records the ATen calls.
# Methods, modules and most keywords and defaults are gone there. What else is?
#
# **Predict the number.** A square is written in five ways: `x**2`, `x.pow(2)`, `x.square()`, `torch.pow(x, 2)`, `x * x`. How many different operators are in their ATen graphs?
#
# <details><summary>1: all of them are squares</summary>
#
# PyTorch does not do algebra when it records. A product of a value with itself is a product.
# </details>
# <details><summary>2</summary>
#
# Right. Four of them are the same power, and <code>x * x</code> is a product.
# </details>
# <details><summary>5, one for each spelling</summary>
#
# No. Below Python, methods, functions and operators call the same overload.
# </details>

# %% proof=true
ways = [lambda x: x**2, lambda x: x.pow(2), torch.square, lambda x: torch.pow(x, 2)]
targets = set()
for square in (*ways, lambda x: x * x):
    recorded = make_fx(square)(torch.ones(3))
    targets |= {node.target for node in recorded.graph.nodes if node.op == "call_function"}
assert targets == {aten.pow.Tensor_Scalar, aten.mul.Tensor}

# %% [markdown]
# So you still have to handle the order of factors, a square as a product, one cast or many, -1 or the number of the last dimension. Here are two norms as people write them:


# %%
def one_cast(x, weight):
    wide = x.float()
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
    return weight * wide.to(x.dtype)


def many_casts(x, weight):
    scale = torch.rsqrt((x.float() * x.float()).mean(-1, keepdim=True) + 1e-6)
    return (x.float() * scale).type_as(x) * weight


x, weight = torch.rand(2, 4, dtype=torch.bfloat16), torch.rand(4, dtype=torch.bfloat16)
left, right = (make_fx(norm, tracing_mode="fake")(x, weight) for norm in (one_cast, many_casts))
print(left.code, right.code)

# %% proof=true
assert torch.equal(left(x, weight), right(x, weight))
assert len(left.graph.nodes) == 11 and len(right.graph.nodes) == 13

# %% [markdown]
# In half precision, a norm is computed in float32, and then cast back. `aten._to_copy` is the cast.
#
# With `tracing_mode="fake"` nothing was computed: the recorder used fake tensors, and each value has one in `meta["val"]`. A real parameter is refused:

# %%
(root,) = left.graph.find_nodes(op="call_function", target=aten.rsqrt.default)
print(root.meta["val"])
with fails(AssertionError):
    make_fx(nn.Linear(4, 4), tracing_mode="fake")(torch.rand(2, 4))

# %% proof=true
val = root.meta["val"]
assert (val.dtype, tuple(val.shape)) == (torch.float32, (2, 1))

# %% [markdown]
# So pass parameters as arguments. `functional_call` runs a module with the parameters that you pass, as section 12c.4 shows.
# (Chapter 12b lets `make_fx` convert real parameters, with `_allow_non_fake_inputs`.)
#
# Every call that ran is recorded, read or not. If gradients are on, autograd keeps values for later, and some of them become nodes that no node reads:

# %%
wide = torch.rand(2, 4, requires_grad=True)
scaled = make_fx(lambda x: x * torch.rsqrt(x.pow(2).mean(-1, True) + 1e-6), tracing_mode="fake")
with_gradient = scaled(wide)
with torch.no_grad():
    without = scaled(wide)
for recorded in (with_gradient, without):
    (root,) = recorded.graph.find_nodes(op="call_function", target=aten.rsqrt.default)
    print([reader.name for reader in root.users])

# %% proof=true
assert len(root.users) == 1
(first_root,) = with_gradient.graph.find_nodes(op="call_function", target=aten.rsqrt.default)
assert len(first_root.users) == 2
cleaned = scaled(wide)
cleaned.graph.eliminate_dead_code()
(first_root,) = cleaned.graph.find_nodes(op="call_function", target=aten.rsqrt.default)
assert len(first_root.users) == 1
parameters_allowed = make_fx(nn.Linear(4, 4), tracing_mode="fake", _allow_non_fake_inputs=True)(
    torch.rand(2, 4)
)
assert parameters_allowed.graph.find_nodes(op="get_attr")

# %% [markdown]
# If your pass counts readers, record under `torch.no_grad()`, or call `eliminate_dead_code()` first.

# %% [markdown]
# ## 12c.3 The operator
#
# The kernel is an operator of this course. A custom operator (section 12.5) is one node in every graph:

# %%
rms_norm = torch.ops.fxcourse.rms_norm.default
print(rms_norm._schema)
x, weight = torch.rand(2, 4), torch.rand(4)
root_of_mean = x.pow(2).mean(-1, keepdim=True).sqrt()
torch.testing.assert_close(rms_norm(x, weight, 0.0), x / root_of_mean * weight)
torch.testing.assert_close(rms_norm(x, None, 0.0), x / root_of_mean)

# %% proof=true
assert rms_norm(x.half(), None, 1e-6).dtype == torch.float16

# %% [markdown]
# It computes in float32, and returns the dtype of `x`. The weight may be `None`.
#
# An operator makes promises: its schema, and the shape and dtype of its fake version. `torch.library.opcheck` tests them. Here is an operator that lies about its dtype:

# %%


@library.custom_op("fxcourse12c::halved", mutates_args=())
def halved(x: torch.Tensor) -> torch.Tensor:
    return x.half()


with fails(RuntimeError):  # it has no fake version yet
    make_fx(halved, tracing_mode="fake")(x)


@halved.register_fake
def _(x):
    return torch.empty_like(x)


lie = make_fx(lambda x: halved(x), tracing_mode="fake")(x)
(node,) = lie.graph.find_nodes(op="call_function", target=torch.ops.fxcourse12c.halved.default)
print("noted:", node.meta["val"].dtype, "computed:", lie(x).dtype)
with fails(Exception):
    library.opcheck(halved, (x,), test_utils="test_faketensor")
library.opcheck(rms_norm, (x, weight, 1e-6))

# %% proof=true
assert node.meta["val"].dtype == torch.float32 and lie(x).dtype == torch.float16
for value in (x, x.half()):
    good = library.opcheck(rms_norm, (value, weight, 1e-6))
    assert set(good.values()) == {"SUCCESS"}

# %% [markdown]
# ## 12c.4 One norm, all spellings
#
# A pattern with five or six steps has dozens of spellings. So do not compare graphs. Walk instead: begin at a step that all spellings have, and ask at each step what it must be.
# Here that is the root. Before it are the sum with `eps`, the mean and the square. After it is the product.
#
# Here is such a walk for something smaller: a sigmoid, written out as `1 / (1 + exp(-x))`, becomes one call (the product with 1 that recording adds stays).


# %%
def fuse_sigmoid(gm: fx.GraphModule) -> int:
    """Replace each sigmoid that is written out by one call."""
    count = 0
    for exp in gm.graph.find_nodes(op="call_function", target=aten.exp.default):
        (minus,), total = exp.args, next(iter(exp.users), exp)
        last = next(iter(total.users), total)
        steps = (minus.target, total.target, last.target)
        if steps != (aten.neg.default, aten.add.Tensor, aten.reciprocal.default):
            continue
        if any(len(step.users) > 1 for step in (minus, exp, total)):
            continue
        if total.args != (exp, 1) or total.kwargs:  # no alpha
            continue
        with gm.graph.inserting_before(last):
            new = gm.graph.call_function(aten.sigmoid.default, minus.args)
        new.meta["val"] = last.meta["val"]
        last.replace_all_uses_with(new)
        for step in (last, total, exp, minus):  # readers first
            gm.graph.erase_node(step)
        count += 1
    gm.recompile()
    return count


x = torch.randn(3)
written_out = make_fx(lambda x: 1 / (1 + torch.exp(-x)), tracing_mode="fake")(x)
before = make_fx(lambda x: 1 / (1 + torch.exp(-x)), tracing_mode="fake")(x)
print(fuse_sigmoid(written_out), "sigmoid")
torch.testing.assert_close(written_out(x), torch.sigmoid(x))
display(draw.diff(before, written_out))

# %% proof=true
calls = [node.target for node in before.graph.nodes if node.op == "call_function"]
assert calls[-1] is aten.mul.Tensor  # 1 / y is the reciprocal, times 1
assert written_out.graph.find_nodes(op="call_function", target=aten.sigmoid.default)
for other in (lambda x: torch.exp(-x), lambda x: 1 / torch.add(torch.exp(-x), 1, alpha=3)):
    assert fuse_sigmoid(make_fx(other, tracing_mode="fake")(x)) == 0

# %% [markdown]
# Four things are in this function, and you need all of them again:
#
# * It checks the operator of each step **and** its other arguments: `1 + ...`, and nothing else.
# * Each inner value has **one reader**. If another node reads it, it must not be erased, and the fusion saves little.
# * The new node is put **where the last step is**. All values that it reads come before that.
# * It gets a `val`, because later passes read shapes there.
#
# **Predict the result.** The exponential is returned, too: `e = torch.exp(-x); return 1 / (1 + e), e`. What does `fuse_sigmoid` do?
#
# <details><summary>It returns 0, and changes nothing</summary>
#
# Right. The exponential has two readers. The output counts as one of them.
# </details>
# <details><summary>It returns 1, and the exponential stays next to the sigmoid</summary>
#
# That would compute the right values, with more work than before. This function leaves such a place alone.
# </details>
# <details><summary>It raises an error when it erases the exponential</summary>
#
# That is what would happen without the question about readers.
# </details>


# %% proof=true
def with_reader(x):
    e = torch.exp(-x)
    return 1 / (1 + e), e


read = make_fx(with_reader, tracing_mode="fake")(x)
code = read.code
assert fuse_sigmoid(read) == 0 and read.code == code
(exp,) = read.graph.find_nodes(op="call_function", target=aten.exp.default)
with fails(RuntimeError):
    read.graph.erase_node(exp)

# %% [markdown]
# ### The weight
#
# After most norms there is a product with a weight. It can go into the call, and then the product is gone, too. How do you know that a factor is a weight? By its `val`: one dimension, as long as the last one of `x`, and with the dtype of `x`.
# In half precision, the dtype of `x` is the one before the cast. A product with a float32 tensor is float32:

# %%
low, high = torch.rand(2, 4).half(), torch.rand(4)
print((low * high).dtype, rms_norm(low, None, 1e-6).dtype)

# %% proof=true
assert (low * high).dtype == torch.float32 and rms_norm(low, None, 1e-6).dtype == torch.float16

# %% [markdown] card="fuse_rms_norm"
# **Given** an ATen graph made by `make_fx(fn, tracing_mode="fake")`.
#
# **Replace** in `gm` every `x * rsqrt(mean(x²) + eps)` by one call `torch.ops.fxcourse.rms_norm.default(x, weight, eps)` with a right `val`. **Return** their number.
#
# * If half or bfloat16 `x` is cast to float32, and the product is cast back, the call gets `x`, and replaces the cast back.
# * **The weight** is the other factor of a product that alone reads the norm: of one dimension, as long as the last one, with the dtype of `x`. Otherwise it is `None`, and the product stays.
#
# **Leave alone** a norm of which an inner value is read elsewhere.
#
# **Fine print**
#
# These spellings come:
#
# * the square is `pow(x, 2)` or `x * x`;
# * the mean is over the last dimension alone, written as -1 or as its number, with `keepdim`;
# * `eps` is a Python float, on the right of the sum;
# * the factors of each product are in either order;
# * `x` is float32, or it is cast to float32 (`aten._to_copy`, once or for each use), and the product is cast back to the dtype of `x`. The product with the weight comes after the cast back.
#
# Inner values are the square, the mean, the sum and the root. The weight is a node. Other powers, other dimensions, and products of two values are left alone. A norm that is not cast back to the dtype of `x` may be fused on its float32 value, or left.
#
# Nodes of the old spelling that nobody reads any more are gone. The module is recompiled.
#
# `F.rms_norm`, `1 / sqrt`, `add` with `alpha`, float64, and casts from whole numbers are not tried.


# %%
def norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


def kernel(x, weight):
    return torch.ops.fxcourse.rms_norm.default(x, weight, 1e-6)


x, weight = torch.rand(2, 4), torch.rand(4)
before, after = (make_fx(f, tracing_mode="fake")(x, weight) for f in (norm, kernel))
display(draw.diff(before, after))

# %% proof=true
torch.testing.assert_close(before(x, weight), after(x, weight))


# %% solve="fuse_rms_norm"
def fuse_rms_norm(gm: fx.GraphModule) -> int:
    """Replace each RMS norm by one call of the operator, and return how many there were."""
    ### BEGIN SOLUTION
    low, count = (torch.float16, torch.bfloat16), 0

    def dtype(node):
        return node.meta["val"].dtype

    def before_cast(node):
        """What a float32 node was in half precision."""
        cast = node.target is aten._to_copy.default and dtype(node) is torch.float32
        return node.args[0] if cast and dtype(node.args[0]) in low else node

    def other(product, factor):
        """The other factor of a product, if that is a node."""
        if product.target is not aten.mul.Tensor or product.args[0] is product.args[1]:
            return None
        found = product.args[1] if product.args[0] is factor else product.args[0]
        return found if isinstance(found, fx.Node) else None

    def squared(square):
        """What is squared, before casts: one node, if this is a square at all."""
        if square.target is aten.pow.Tensor_Scalar and square.args[1] == 2:
            return {before_cast(square.args[0])}
        if square.target is aten.mul.Tensor:
            return {before_cast(n) if isinstance(n, fx.Node) else n for n in square.args}
        return set()

    for root in gm.graph.find_nodes(op="call_function", target=aten.rsqrt.default):
        (total,) = root.args
        if total.target is not aten.add.Tensor or not isinstance(total.args[1], float):
            continue
        mean, eps = total.args
        if mean.target is not aten.mean.dim or mean.args[2:] != (True,):
            continue
        square, dims, _ = mean.args
        if list(dims) not in ([-1], [square.meta["val"].ndim - 1]):
            continue
        if any(len(step.users) != 1 for step in (root, total, mean, square)):
            continue
        (last,) = root.users
        wide = other(last, root)
        if wide is None or dtype(wide) is not torch.float32:
            continue
        x = before_cast(wide)
        if squared(square) != {x}:
            continue
        if x is not wide:
            back = next(iter(last.users))
            if len(last.users) != 1 or back.target is not aten._to_copy.default:
                continue
            if dtype(back) is not dtype(x):
                continue
            last = back

        weight = None
        if len(last.users) == 1:
            (reader,) = last.users
            factor = other(reader, last)
            if factor is not None and dtype(factor) is dtype(x):
                if factor.meta["val"].shape == last.meta["val"].shape[-1:]:
                    weight, last = factor, reader
        with gm.graph.inserting_before(last):
            new = gm.graph.call_function(torch.ops.fxcourse.rms_norm.default, (x, weight, eps))
        new.meta["val"] = last.meta["val"]
        last.replace_all_uses_with(new)
        count += 1
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return count
    ### END SOLUTION


# %% check="fuse_rms_norm"
check(fuse_rms_norm)

# %% hint="fuse_rms_norm"
hint("fuse_rms_norm")

# %% [markdown]
# ### The team's network
#
# Two blocks of a transformer in bfloat16, with five norms by three authors:


# %%
class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size) + 0.5)

    def forward(self, x):
        return one_cast(x, self.weight)


class OtherNorm(Norm):
    def forward(self, x):
        return many_casts(x, self.weight)


class Unweighted(nn.Module):
    def forward(self, x):
        wide = x.to(torch.float32)
        return (torch.rsqrt(torch.mean(wide * wide, 2, True) + 1e-5) * wide).to(x.dtype)


class Block(nn.Module):
    def __init__(self, size, before, after):
        super().__init__()
        self.before, self.after = before, after
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 2 * size), nn.Linear(2 * size, size)

    def forward(self, x):
        q, k, v = self.qkv(self.before(x)).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        x = x + self.out(torch.softmax(scores, dim=-1) @ v)
        return x + self.down(torch.relu(self.up(self.after(x))))


network = nn.Sequential(
    Block(16, Norm(16), OtherNorm(16)), Block(16, Unweighted(), Norm(16)), OtherNorm(16)
).bfloat16()
names, weights = zip(*network.named_parameters(), strict=True)


def as_function(x, *weights):
    """The network, with its parameters as arguments."""
    return functional_call(network, dict(zip(names, weights, strict=True)), (x,))


tokens = torch.randn(2, 5, 16, dtype=torch.bfloat16)
with torch.no_grad():
    graph = make_fx(as_function, tracing_mode="fake")(tokens, *weights)
    wanted = network(tokens)
print(len(graph.graph.find_nodes(op="call_function", target=aten.rsqrt.default)), "norms")

# %% proof=true
assert len(graph.graph.find_nodes(op="call_function", target=aten.rsqrt.default)) == 5
with torch.no_grad():
    assert torch.equal(graph(tokens, *weights), wanted)

# %% [markdown]
# The first attempt of the story was a pattern:


# %%
def norm_pattern(x, weight):
    wide = aten._to_copy.default(x, dtype=torch.float32)
    mean = aten.mean.dim(aten.pow.Tensor_Scalar(wide, 2), [-1], True)
    normed = aten.mul.Tensor(wide, aten.rsqrt.default(aten.add.Tensor(mean, 1e-6)))
    return aten.mul.Tensor(weight, aten._to_copy.default(normed, dtype=torch.bfloat16))


with torch.no_grad():
    tried = make_fx(as_function, tracing_mode="fake")(tokens, *weights)
by_pattern = fx.replace_pattern(tried, norm_pattern, lambda x, weight: rms_norm(x, weight, 1e-6))
print(len(by_pattern), "norms")

# %% proof=true
assert len(by_pattern) == 2

# %% [markdown]
# Two of five. And with your function:

# %% uses="fuse_rms_norm"
count = fuse_rms_norm(graph)
print(
    count,
    "norms:",
    len(tried.graph.nodes),
    "nodes with the pattern,",
    len(graph.graph.nodes),
    "with yours",
)
calls = graph.graph.find_nodes(op="call_function", target=rms_norm)
for call in calls:
    print(call.format_node())
with torch.no_grad():
    assert torch.equal(graph(tokens, *weights), wanted)

# %% proof=true
assert count == len(calls) == 5
assert not graph.graph.find_nodes(op="call_function", target=aten.rsqrt.default)
assert sum(call.args[1] is None for call in calls) == 1

# %% [markdown]
# All five norms are the kernel, and the result is the same, bit by bit: the operator does the same steps in the same order.

# %% [markdown]
# ## 12c.5 What PyTorch's matchers see
#
# `replace_pattern_with_filters` and `SubgraphMatcher` can do more than `replace_pattern`. With `ignore_literals=True`, a number in the pattern matches any number:

# %%
matcher = SubgraphMatcher(fx.symbolic_trace(norm_pattern).graph, ignore_literals=True)


def swapped(x, weight):
    """The same norm, with another eps and the weight on the right."""
    wide = x.float()
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 0.25)
    return wide.to(x.dtype) * weight


found = {}
for norm in (one_cast, many_casts, swapped):
    recorded = make_fx(norm, tracing_mode="fake")(low.bfloat16(), low.bfloat16()[0])
    found[norm.__name__] = len(matcher.match(recorded.graph))
print(found)


def tanh_pattern(x):
    return aten.tanh.default(aten.mul.Tensor(x, 2.0))


def tanh_alone(x):
    return aten.tanh.default(x)


halves = make_fx(lambda x: torch.tanh(x * 0.5), tracing_mode="fake")(x)
for ignore in (False, True):
    matches = replace_pattern_with_filters(halves, tanh_pattern, tanh_alone, ignore_literals=ignore)
    print("numbers ignored:", ignore, "places:", len(matches))

# %% proof=true
assert found == {"one_cast": 1, "many_casts": 0, "swapped": 0}
assert len(matches) == 1


@library.custom_op("fxcourse12c::increase", mutates_args=("x",))
def increase(x: torch.Tensor) -> None:
    x.add_(1)


class Increases(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        increase(y)
        return torch.cos(y)


program = torch.export.export(Increases(), (x,))
operator_of_ours = torch.ops.fxcourse12c.increase.default
assert program.graph.find_nodes(op="call_function", target=operator_of_ours)
names = [str(node.target) for node in program.run_decompositions().graph.nodes]
assert "auto_functionalized_v2" in names and str(operator_of_ours) not in names

# %% [markdown]
# No matcher knows that the factors of a product may be exchanged, and none of them knows a square. So normalize first, or walk.
# And if numbers are ignored, a filter has to look at the number that was found, or `eps` is lost.
#
# If an operator of yours writes into its argument, `run_decompositions` wraps it in a call of `auto_functionalized_v2`. A pattern has to contain that call, as patterns of vLLM do. So write operators that return a new value.
#
# Inductor has a matcher that counts readers, binds one name in several places, and asks a function of yours about each match. Its patterns are trees of calls. Its import takes seconds, so this cell is only for reading; a test of the course runs it:
#
# ```python
# from torch._inductor.pattern_matcher import (
#     CallFunction, KeywordArg, PatternMatcherPass, register_graph_pattern,
# )
#
# aten = torch.ops.aten
# x, eps = KeywordArg("x"), KeywordArg("eps")
# mean = CallFunction(aten.mean.dim, CallFunction(aten.pow.Tensor_Scalar, x, 2), [-1], True)
# root = CallFunction(aten.rsqrt.default, CallFunction(aten.add.Tensor, mean, eps))
# stage = PatternMatcherPass()
#
# @register_graph_pattern(
#     CallFunction(aten.mul.Tensor, x, root),
#     extra_check=lambda match: match.kwargs["x"].meta["val"].dtype == torch.float32,
#     pass_dict=stage,
# )
# def fused(match, x, eps):
#     match.replace_by_example(
#         lambda x: torch.ops.fxcourse.rms_norm.default(x, None, eps), [x]
#     )
#
# stage.apply(gm.graph)
# gm.recompile()
# ```

# %% [markdown]
# ## Common mistakes
#
# ### The second argument is the dimension
#
# A pass that reads `node.args[1]` works until an author writes a keyword:

# %%
gm = fx.symbolic_trace(lambda x: torch.softmax(x, dim=-1))
(softmax,) = gm.graph.find_nodes(op="call_function", target=torch.softmax)
with fails(IndexError):
    softmax.args[1]

# %% [markdown]
# **Right:** ask for all arguments by name.
#
# ### FX's names for an overload
#
# `normalized_arguments` returns names for the arguments of an overload, too. But it calls the first one `input`, as Python's functions do, and the operator does not know that name:

# %%
relu = make_fx(torch.relu)(torch.ones(2))
(node,) = relu.graph.find_nodes(op="call_function", target=aten.relu.default)
named = node.normalized_arguments(relu, normalize_to_only_use_kwargs=True)
print(list(named.kwargs))
with fails(RuntimeError):
    aten.relu.default(input=torch.ones(2))

# %% proof=true
assert list(named.kwargs) == ["input"]
assert torch.equal(aten.relu.default(self=torch.ones(2)), torch.ones(2))

# %% [markdown]
# **Right:** take the names from the schema of the overload.
#
# ### Python's signature of an overload
#
# An overload is callable, and `inspect.signature` returns a signature for it: that of the object that calls the operator.

# %%
print(inspect.signature(aten.add.Tensor))
print([a.name for a in aten.add.Tensor._schema.arguments])

# %% proof=true
assert list(inspect.signature(aten.add.Tensor).parameters) == ["args", "kwargs"]
assert [a.name for a in aten.add.Tensor._schema.arguments] == ["self", "other", "alpha"]

# %% [markdown]
# **Right:** look for a schema before you ask Python.
#
# ### Where the new node goes
#
# If the new node is put where the norm began, it may read a weight that is computed only later. This happens to users of Inductor, too (issue 148751):


# %%
def weight_comes_later(x, y):
    normed = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return normed * torch.exp(y)


x, y = torch.rand(2, 4), torch.rand(4)
for first in (True, False):
    late = make_fx(weight_comes_later, tracing_mode="fake")(x, y)
    *_, product, exp, last, output = late.graph.nodes
    with late.graph.inserting_before(product if first else last):
        new = late.graph.call_function(rms_norm, (product.args[0], exp, 1e-6))
    last.replace_all_uses_with(new)
    if first:
        with fails(RuntimeError):
            late.graph.lint()
    else:
        late.graph.lint()

# %% [markdown]
# **Right:** where the last step is. All values that the old steps read come before it.
#
# ### Python's object in the graph
#
# `torch.library.custom_op` returns an object for Python. A graph calls the operator:

# %%
print(type(autograder.given.rms_norm).__name__)
wrong = make_fx(lambda x: rms_norm(x, None, 1e-6), tracing_mode="fake")(x)
(node,) = wrong.graph.find_nodes(op="call_function", target=rms_norm)
node.target = autograder.given.rms_norm
with fails(AttributeError):
    wrong.recompile()

# %% [markdown]
# **Right:** `torch.ops`, the namespace, the name, and the overload.

# %% [markdown]
# ## Recap
#
# 1. Modules and Python's functions have a signature; overloads have a schema; methods and builtins often have several.
# 2. If several schemas fit a call, say that you do not know, and do not guess.
# 3. An ATen graph unites methods, functions, operators and most keywords. Orders, casts and algebra it leaves to you.
# 4. Walk from a step that all spellings have. At each step check the operator, its other arguments and its readers.
# 5. The new node goes where the last step is, and has a `val`.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `inspect.signature(function).bind(*args, **kwargs)` | arguments by name; `apply_defaults()` adds the rest |
# | `overload._schema` | the schema of an overload; its `arguments` have `name`, `kwarg_only`, `default_value` |
# | `torch.ops.aten.std.overloads()` | the names of all overloads |
# | `make_fx(fn, tracing_mode="fake")(*args)` | an ATen graph, with nothing computed |
# | `functional_call(module, parameters, args)` | runs a module with the parameters that you pass |
# | `torch.library.opcheck(operator, args)` | tests what an operator promises |
# | `SubgraphMatcher(pattern, ignore_literals=True)` | finds a pattern, whatever its numbers are |
#
# Names with an underscore and the matchers may change in any release. See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | patterns of `replace_pattern`, and their rules | chapter 4 |
# | passes with an honest result, and many of them in a row | chapter 12 |
# | sizes that are symbols | the deep dive `11b_aten` |
# | which parts of a graph a device takes over | the deep dive `13b_lowering` |
#
# In PyTorch's documentation: [torch.library](https://docs.pytorch.org/docs/stable/library.html),
# [Custom operators](https://docs.pytorch.org/tutorials/advanced/python_custom_ops.html), and
# [torch.func.functional_call](https://docs.pytorch.org/docs/stable/generated/torch.func.functional_call.html).
