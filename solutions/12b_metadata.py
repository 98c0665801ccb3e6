# %% [markdown]
# # 12b · Metadata that stays true
#
# **After this part you can say what each value of a graph is without computing it, and find the nodes whose metadata is wrong.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 4, 6 and 11: traces, editing, Interpreters, ATen graphs; chapter 12 for passes as classes |
# | **Time** | about 100 minutes with *Common mistakes*, 50 of them for the two exercises; the minutes of a section include its exercise |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. say what happens to `meta` when a pass edits a node, copies one, or makes a new one;
# 2. use fake tensors, and say in which mode a tensor is;
# 3. note what each value is by a run that computes nothing;
# 4. find the nodes that contradict their inputs, even if sizes are symbols;
# 5. write a pass that cannot forget the metadata;
# 6. mark a part of a model so that its nodes carry the mark, and say which node a new node came from.

# %% [markdown]
# ## A story
#
# The compiler of chapter 12 got a new part: a planner, which reserves memory before the network runs. It computes nothing. It goes through the graph, reads what each value is, and adds up the bytes.
#
# Since last week its plans are wrong. A pass runs the convolutions in half precision now, so they should need half of the memory. The planner asks for more than before.
#
# The passes are correct: the network still computes the right results. But the planner does not read results. It reads `meta`, and the passes do not keep that true.

# %%
import contextlib
import copy
import logging
import operator
import warnings

import torch
from torch import fx, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import traceback
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.shape_prop import ShapeProp
from torch.nn import functional as F
from torch.utils import _pytree as pytree
from torchvision.models import googlenet

from autograder import check, draw, fails, hint, progress
from autograder.given import assert_same_results, images, make_alive

aten = torch.ops.aten
# PyTorch logs a whole traceback for each operator that fake tensors refuse.
logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)
torch.manual_seed(12)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the result.** A node's `meta["val"]` is a fake tensor of shape `(2, 3)`. How many numbers does it hold?
#
# <details><summary>6</summary>
#
# A real tensor of this shape holds 6. A fake one knows its shape, dtype, strides and device, and has no numbers at all.
# </details>
# <details><summary>None</summary>
#
# Right. So it needs no memory, whatever its shape. An operator that is called with it returns a fake tensor again.
# </details>
# <details><summary>6 random ones</summary>
#
# No. Nothing is drawn. There is no memory to put numbers in.
# </details>

# %% proof=true
with FakeTensorMode():
    large = torch.empty(1_000_000, 1_000_000)
    sums = large.sum(dim=1)
assert isinstance(sums, FakeTensor) and sums.shape == (1_000_000,)
assert large.numel() * large.element_size() == 4 * 10**12  # four terabytes, if it was real

# %% [markdown]
# **Predict the result.** A pass makes a new node, and writes `new.meta = old.meta`. Later another pass writes `new.meta["mark"] = 1`. What is in `old.meta["mark"]`?
#
# <details><summary>Nothing: a node copies the dictionary that it gets</summary>
#
# It does not. A node holds the dictionary that was assigned.
# </details>
# <details><summary>1</summary>
#
# Right. There is one dictionary now, and both nodes have it. <code>dict(old.meta)</code> would be another one, with the same entries.
# </details>
# <details><summary>It raises an error: a dictionary can belong to one node only</summary>
#
# No. FX does not check that.
# </details>

# %% proof=true
old, new = list(fx.symbolic_trace(lambda x: torch.relu(x)).graph.nodes)[:2]
new.meta = old.meta
new.meta["mark"] = 1
assert old.meta["mark"] == 1 and dict(old.meta) is not old.meta

# %% [markdown]
# ## 12b.1 What goes stale
#
# `torch.export` records an ATen graph with fake tensors, and notes in `meta["val"]` what each operator returned. Three in ten files that use FX at work read it.
#
# `val` is a note about the past. Nothing updates it when you edit the graph:


# %%
class Small(nn.Module):
    def forward(self, x):
        return torch.relu(torch.sin(x))


def recorded(model, *inputs):
    """The ATen graph of a model, with what each value is."""
    record = make_fx(model, tracing_mode="fake", _allow_non_fake_inputs=True)
    with torch.no_grad():
        return record(*inputs)


def kinds(gm):
    """Dtype and shape of each value that is one tensor, by name."""
    vals = {node.name: node.meta.get("val") for node in gm.graph.nodes}
    return {
        name: (str(val.dtype).removeprefix("torch."), *val.shape)
        for name, val in vals.items()
        if isinstance(val, torch.Tensor)
    }


gm = recorded(Small(), torch.ones(2, 3))
sine, relu = (node for node in gm.graph.nodes if node.op == "call_function")
relu.target = aten.isnan.default
gm.recompile()
print("the notes say:     ", kinds(gm))
print("the graph computes:", gm(torch.ones(2, 3)).dtype)

# %% proof=true
assert kinds(gm)["relu"] == ("float32", 2, 3)  # what it was
assert gm(torch.ones(2, 3)).dtype == torch.bool  # what it is

# %% [markdown]
# A note can be wrong in three ways. In the cell above, it is **old**. If you copy the `meta` of another node, it is **another node's**. And a node that you make has **none**:

# %%
gm = recorded(Small(), torch.ones(2, 3))
sine, relu = (node for node in gm.graph.nodes if node.op == "call_function")
with gm.graph.inserting_before(relu):
    half = gm.graph.call_function(aten._to_copy.default, (sine,), {"dtype": torch.float16})
    total = gm.graph.call_function(aten.sum.dim_IntList, (half, [1], True))
relu.replace_input_with(sine, total)
half.meta = dict(sine.meta)
gm.recompile()
draw(gm)

# %% proof=true
assert "val" not in total.meta
assert half.meta["val"].dtype == torch.float32  # of `sine`
assert relu.meta["val"].shape == (2, 3)  # of the time before
assert gm(torch.ones(2, 3)).shape == (2, 1)

# %% [markdown]
# The graph is right: it runs, and computes what it should. Only its notes are wrong. So no test of results finds it.
#
# **Predict the result.** A later pass asks `relu.meta["val"].shape`, and removes a `sum` over a dimension of size 1. Which size of the last dimension does it read here?
#
# <details><summary>1, because the graph was recompiled</summary>
#
# <code>recompile</code> generates code. It does not look at <code>meta</code>.
# </details>
# <details><summary>3, the size before the edit</summary>
#
# Right. The pass decides by a note that is no longer true, and keeps a <code>sum</code> that does nothing. After another edit it could remove one that does something.
# </details>
# <details><summary>It gets an error, because <code>val</code> is out of date</summary>
#
# Nothing marks a note as out of date.
# </details>

# %% proof=true
assert relu.meta["val"].shape[1] == 3
assert gm(torch.ones(2, 3)).shape[1] == 1

# %% [markdown]
# Passes at work decide by such numbers. vLLM's pass for no-ops once removed a slice `x[0:-1]`, because it read -1 as a size to be inferred.

# %% [markdown]
# ## 12b.2 Tensors without numbers
#
# To update `val` you need fake tensors of your own. All of them belong to a `FakeTensorMode`:

# %%
mode = FakeTensorMode()
real = torch.rand(2, 3)
fake = mode.from_tensor(real)
product = fake @ fake.t()
print(product)

# %% proof=true
assert isinstance(product, FakeTensor) and product.fake_mode is mode
assert product.shape == (2, 2) and product.device == real.device
assert mode.from_tensor(real) is fake  # the same again, as long as both are there

# %% [markdown]
# An operator that gets a fake tensor returns one of the same mode. So what do you need `with mode:` for? For tensors that are made from no other tensor:

# %%
with mode:
    inside = torch.zeros(2)
print(inside, torch.zeros(2))

# %% proof=true
assert isinstance(inside, FakeTensor) and not isinstance(torch.zeros(2), FakeTensor)

# %% [markdown]
# Three things are refused: a real tensor next to a fake one, fake tensors of two modes, and a question about a computed number, because there is none:

# %%
with fails(AssertionError):  # Please convert all Tensors to FakeTensors first
    fake + real
with fails(AssertionError):  # Mixing fake modes
    fake + FakeTensorMode().from_tensor(real)
with fails(Exception):  # DataDependentOutputException
    fake.sum().item()
with fails(RuntimeError):  # shapes that do not fit are noticed as ever
    fake @ fake

# %% [markdown]
# The first rule has an exception. A mode that is made with `allow_non_fake_inputs=True` converts real tensors by itself. There is a trap in it, which comes in the next section.
#
# ### A note must not change any more
#
# A fake tensor is an object, and operations in place change it:
#
# **Predict the result.** `y = torch.sin(fake)` has the shape `(2, 3)`, and is noted: `notes["y"] = y`. Then `y.unsqueeze_(0)` is called. What is the shape of `notes["y"]`?
#
# <details><summary><code>(2, 3)</code>, the shape when it was noted</summary>
#
# That is what you want to know of this value. But the dictionary holds the object, and the object has changed.
# </details>
# <details><summary><code>(1, 2, 3)</code></summary>
#
# Right. A dictionary keeps objects, and makes no copies of them. So note another object with the same shape.
# </details>
# <details><summary>It raises an error</summary>
#
# It does not. A fake tensor never loses its shape.
# </details>

# %% proof=true
unsqueezed = torch.sin(fake)
notes = {"y": unsqueezed}
unsqueezed.unsqueeze_(0)
assert notes["y"].shape == (1, 2, 3)

# %% [markdown]
# Which copy? It must keep the strides, and belong to the same mode. Try three on an expanded tensor, whose rows share one row of memory:

# %%
wide = fake[:1].expand(4, 3)
with warnings.catch_warnings(action="ignore"):  # a deep copy asks where the numbers are
    copies = {"detach": wide.detach(), "clone": wide.clone(), "deepcopy": copy.deepcopy(wide)}
for name, other in copies.items():
    print(f"{name:9} strides {other.stride()}  same mode: {other.fake_mode is mode}")

# %% proof=true
assert wide.stride() == copies["detach"].stride() == (0, 1)
assert copies["clone"].stride() == (3, 1)  # all rows have a place of their own now
assert copies["detach"].fake_mode is mode and copies["deepcopy"].fake_mode is not mode

# %% [markdown]
# `detach()` returns another tensor with the same shape and strides. `clone()` returns what a copying operator would. And `copy.deepcopy` copies the mode as well.

# %% [markdown]
# ## 12b.3 A run that computes nothing
#
# If you run a whole graph on fake tensors, you know all its values, and it takes a moment. `FakeTensorProp` of section 6.4 is an Interpreter that does that. It has three gaps, and you will write one without them.
#
# First, it needs `allow_non_fake_inputs`, because the module holds real parameters. Here is the trap:


# %%
class Trains(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        y = self.norm(x)
        return y, y.dtype, None


gm = fx.symbolic_trace(Trains()).train()
with fails(AssertionError):
    FakeTensorProp(gm).propagate(torch.rand(2, 3))
FakeTensorProp(gm, FakeTensorMode(allow_non_fake_inputs=True)).propagate(torch.rand(2, 3))
print("batches:", gm.norm.num_batches_tracked)

# %% proof=true
assert gm.norm.num_batches_tracked == 2
for allowed in (True, False):
    counter = torch.zeros(())
    with FakeTensorMode(allow_non_fake_inputs=allowed), contextlib.suppress(AssertionError):
        counter.add_(1)
    assert counter == 1
    with FakeTensorMode(allow_non_fake_inputs=allowed), contextlib.suppress(AssertionError):
        assert isinstance(counter + 1, FakeTensor)

# %% [markdown]
# In training mode a BatchNorm counts its batches with `add_(1)`. Most operators convert a real tensor. But `add_` with a real tensor and a number changes the real tensor, so the counter was counted up.
# This happened in both runs, even in the one that failed.
#
# The fix is to call each layer with fake parameters and buffers. `torch.func.functional_call` takes a module and a dictionary of tensors, and calls the module as if it held these:

# %%
layer = nn.Linear(3, 4)
state = {name: mode.from_tensor(tensor) for name, tensor in layer.named_parameters()}
result = torch.func.functional_call(layer, state, (fake,))
print(result, "and the layer still has a", type(layer.weight).__name__)

# %% proof=true
assert isinstance(result, FakeTensor) and result.shape == (2, 4)
assert not isinstance(layer.weight, FakeTensor)  # the layer has its own again

# %% [markdown]
# Second, values that are not tensors get lost: `FakeTensorProp` notes tensors and numbers, but not a dtype or `None`. In nested values, `pytree` reaches tensors at any depth:

# %%
(dtype,) = (node for node in gm.graph.nodes if node.target is getattr)
print("noted of the dtype:", dtype.meta.get("val"))
nested = {"pair": (real, 3), "more": [None, real]}
changed = pytree.tree_map_only(torch.Tensor, mode.from_tensor, nested)
changed

# %% proof=true
assert "val" not in dtype.meta
assert isinstance(changed["more"][1], FakeTensor) and changed["pair"][1] == 3

# %% [markdown]
# **Predict the result.** An Interpreter runs a graph on fake tensors of shape `(2, 3)`, inside `with mode:`. One node is `get_attr`, and fetches a parameter. Is its value real or fake, if you override nothing?
#
# <details><summary>A fake tensor: the mode is entered</summary>
#
# The mode sees operators. Fetching an attribute does not call one.
# </details>
# <details><summary>The real parameter</summary>
#
# Right. It was made before, outside of the mode. The next operator refuses it, unless you convert it when it is fetched.
# </details>
# <details><summary>It raises an error at this node</summary>
#
# The error comes at the node that reads it, which is not where the cause is.
# </details>


# %% proof=true
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * self.scale


scaled = fx.symbolic_trace(Scaled())
interpreter = fx.Interpreter(scaled, garbage_collect_values=False)
with mode, contextlib.suppress(AssertionError):
    interpreter.run(fake)
values = {node.name: value for node, value in interpreter.env.items()}
assert values["scale"] is scaled.scale and "mul" not in values

# %% [markdown]
# Third, `FakeTensorProp` may change in any release. Yours has twenty lines.

# %% [markdown] card="refresh_meta"
# **Given** a graph module, and inputs for it, by position.
#
# **Write** `node.meta["val"]` at every node except the output: the value that it has when the graph module runs on these inputs.
#
# * Tensors are noted as fake tensors with shape, dtype, strides and device of the value. All of them belong to **one** `FakeTensorMode`.
# * A value is noted **as it was when it was computed**. A later `unsqueeze_` does not show.
#
# **Nothing is computed for real.** Parameters, buffers, modes of layers, inputs, the random state and the graph stay unchanged.
#
# **Return** nothing.
#
# **Fine print**
#
# * Values that are not tensors are noted as they are: numbers, `None`, a dtype. Tuples, lists and dictionaries keep their type; only a `torch.Size` may become a tuple or a list.
# * A `val` that was there before is replaced. All other entries of `meta` stay.
# * Expect modules, methods, functions, `get_attr`, default arguments and nested values. Inputs may be nested, too.
# * Intermediate values may have terabytes.
# * Inputs with symbolic sizes and shapes that depend on data are not tried.

# %%
before = fx.symbolic_trace(lambda x: torch.sum(x, 0) * x)
fake_values = "x (2, 3), sum_1 (3,), mul (2, 3)"
print("refresh_meta(before, torch.ones(2, 3)) notes fake tensors:", fake_values)
draw(before)

# %% proof=true
assert [node.name for node in before.graph.nodes] == ["x", "sum_1", "mul", "output"]


# %% solve="refresh_meta"
def refresh_meta(gm: fx.GraphModule, *inputs) -> None:
    """Note at each node what its value is, without computing it."""
    ### BEGIN SOLUTION
    mode = FakeTensorMode()

    def fake(value):
        return pytree.tree_map_only(torch.Tensor, mode.from_tensor, value)

    class OnFakes(fx.Interpreter):
        def get_attr(self, target, args, kwargs):
            return fake(super().get_attr(target, args, kwargs))

        def call_module(self, target, args, kwargs):
            module = self.fetch_attr(target)
            state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
            return torch.func.functional_call(module, fake(state), args, kwargs)

        def run_node(self, n):
            value = super().run_node(n)
            n.meta["val"] = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, value)
            return value

    with mode, torch.no_grad():
        OnFakes(gm).run(*fake(inputs))
    ### END SOLUTION


# %% check="refresh_meta"
check(refresh_meta)

# %% hint="refresh_meta"
hint("refresh_meta")

# %% [markdown]
# The first graph of section 12b.1, whose note was old:

# %% uses="refresh_meta"
gm = recorded(Small(), torch.ones(2, 3))
sine, relu = (node for node in gm.graph.nodes if node.op == "call_function")
relu.target = aten.isnan.default
gm.recompile()
refresh_meta(gm, torch.ones(2, 3))
print(kinds(gm))

# %% proof=true
assert kinds(gm)["relu"] == ("bool", 2, 3)

# %% [markdown]
# ## 12b.4 Which node lies?
#
# `refresh_meta` needs inputs. And it does not say which note was wrong, because afterwards all are right. To find the pass that forgets its notes, you want names.
#
# The simplest question is a local one. Take one node: what does the metadata of its inputs claim? Run its operator on that. Is the result what the node claims?


# %%
class Chain(nn.Module):
    def forward(self, x):
        return torch.tanh(torch.relu(torch.neg(x)))


gm = recorded(Chain(), torch.ones(2, 3))
nodes = {node.name: node for node in gm.graph.nodes}
with nodes["relu"].meta["val"].fake_mode:
    nodes["relu"].meta["val"] = torch.empty(3, 2)  # a lie


def local_run(node):
    """What the operator of a node returns for the values that its inputs claim."""
    return node.target(*fx.map_arg(node.args, lambda read: read.meta["val"]))


print("relu claims ", nodes["relu"].meta["val"])
print("and runs to ", local_run(nodes["relu"]))

# %% proof=true
assert local_run(nodes["relu"]).shape == (2, 3)

# %% [markdown]
# `fx.map_arg` goes through arguments, nested ones too, and replaces each node by what the function returns for it.
#
# **Predict the result.** Only the note of `relu` is false. Which nodes contradict their inputs?
#
# <details><summary><code>relu</code> alone</summary>
#
# <code>tanh</code> says (2, 3), which is true. But it reads <code>relu</code>, which says (3, 2), and these two do not fit together.
# </details>
# <details><summary><code>relu</code> and <code>tanh</code></summary>
#
# Right. A local question cannot tell which of the two is wrong. It says that there is a contradiction, and where.
# </details>
# <details><summary>All three: the whole chain is wrong</summary>
#
# <code>neg</code> fits what it reads. Its readers do not count.
# </details>

# %% proof=true
contradicts = [
    name
    for name in ("neg", "relu", "tanh")
    if local_run(nodes[name]).shape != nodes[name].meta["val"].shape
]
assert contradicts == ["relu", "tanh"]

# %% [markdown]
# If `tanh` said (3, 2), too, it would agree with its input, and only `relu` would be named. So look at the first name first: the contradiction begins there or at one of its inputs.
#
# ### Sizes that are symbols
#
# A graph may be for many sizes, and then a size is a `SymInt` (sections 11.6 and 11b.1). Two rules follow. Compare sizes with `statically_known_true`, which says `True` only for what is known. And add no guard.
#
# Not only `==` adds guards. An operator that you run may compare sizes by itself:


# %%
def two_symbolic():
    """Two fake tensors whose sizes are symbols, which are (4, 3) and (5, 3) in the example."""
    record = make_fx(lambda x, y: (x, y), tracing_mode="symbolic")
    graph = record(torch.ones(4, 3), torch.ones(5, 3)).graph
    return [node.meta["val"] for node in graph.find_nodes(op="placeholder")]


x, y = two_symbolic()
env = x.fake_mode.shape_env
print(x.shape, y.shape)
print("known to be equal:", statically_known_true(x.shape[0] == y.shape[0]))
with fails(RuntimeError):
    x + y
print("guards after the sum:", [str(guard.expr) for guard in env.guards])

# %% proof=true
assert isinstance(x.shape[0], torch.SymInt) and len(env.guards) == 1
others = two_symbolic()
assert not statically_known_true(others[0].shape[0] == others[1].shape[0])
assert not others[0].fake_mode.shape_env.guards

# %% [markdown]
# In a true graph the operators compared sizes when it was recorded, and the answers are known. A false note makes them compare other sizes. `suppress_guards` keeps the answers from being noted:

# %%
x, y = two_symbolic()
env = x.fake_mode.shape_env
with env.suppress_guards(), fails(RuntimeError):
    x + y
print("guards:", env.guards)

# %% proof=true
assert not env.guards
assert mode.shape_env is None

# %% [markdown]
# In a mode without symbols, `shape_env` may be `None`.

# %% [markdown] card="meta_lies"
# **Given** an ATen graph with fake values in `meta["val"]`, all of one mode. Some are false.
#
# **Return** a list of names, in graph order: the nodes whose `val` contradicts **the `val`s of their inputs**. That is, the operator, run on the fake values of its inputs,
#
# * returns another shape, dtype or number of results than the node says, or
# * cannot run at all.
#
# So a true node after a false one is listed. A false one that agrees with its false input is not.
#
# Symbolic sizes are the same only if they are *known* to be. Add no guard.
#
# **Fine print**
#
# * A `get_attr` is compared with the attribute. Paths may have dots.
# * A call or a `get_attr` **without** `val` is listed. A call that *reads* a node without `val` cannot be judged, and is not listed. (No call is both.)
# * Placeholders and the output are never listed.
# * Strides, devices, and values that are not tensors are not compared. It does not matter whether several results are in a list or in a tuple.
# * No guard is added by an operator that you run, either.
# * **Do not** change the graph or its `meta`. Operators in place, random ones, and operators whose result depends on data are not tried.

# %%
gm = make_fx(lambda x: torch.tanh(torch.relu(x)), tracing_mode="fake")(torch.ones(2, 3))
(relu,) = gm.graph.find_nodes(op="call_function", target=aten.relu.default)
with relu.meta["val"].fake_mode:
    relu.meta["val"] = torch.empty(3, 2)  # a lie
print("meta_lies(gm) must be ['relu', 'tanh']")
draw(gm)


# %% solve="meta_lies"
def meta_lies(gm: fx.GraphModule) -> list[str]:
    """The nodes that contradict what their inputs say."""
    ### BEGIN SOLUTION
    vals = [node.meta.get("val") for node in gm.graph.nodes]
    fakes = [leaf for leaf in pytree.tree_leaves(vals) if isinstance(leaf, FakeTensor)]
    mode = fakes[0].fake_mode if fakes else FakeTensorMode()
    env = mode.shape_env

    def tensors(value):
        return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]

    def alike(a, b) -> bool:
        if a.dtype != b.dtype or a.dim() != b.dim():
            return False
        return all(statically_known_true(m == n) for m, n in zip(a.shape, b.shape, strict=True))

    lies = []
    for node in gm.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if "val" not in node.meta:
            lies.append(node.name)
            continue
        if any("val" not in read.meta for read in node.all_input_nodes):
            continue
        try:
            if node.op == "get_attr":
                found = operator.attrgetter(node.target)(gm)
            else:
                args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
                with mode, env.suppress_guards() if env else contextlib.nullcontext():
                    found = node.target(*args, **kwargs)
        except Exception:
            lies.append(node.name)
            continue
        ours, theirs = tensors(found), tensors(node.meta["val"])
        if len(ours) != len(theirs) or not all(map(alike, ours, theirs)):
            lies.append(node.name)
    return lies
    ### END SOLUTION


# %% check="meta_lies"
check(meta_lies)

# %% hint="meta_lies"
hint("meta_lies")

# %% [markdown]
# The chain again, before and after its note is falsified:

# %% uses="meta_lies"
gm = recorded(Chain(), torch.ones(2, 3))
nodes = {node.name: node for node in gm.graph.nodes}
print("before:", meta_lies(gm))
with nodes["relu"].meta["val"].fake_mode:
    nodes["relu"].meta["val"] = torch.empty(3, 2)
print("after: ", meta_lies(gm))

# %% proof=true
assert meta_lies(gm) == ["relu", "tanh"]
assert meta_lies(recorded(Chain(), torch.ones(2, 3))) == []

# %% [markdown]
# ## 12b.5 A pass that cannot forget
#
# It is better if there is nothing to refresh. A Transformer of chapter 6 makes a new graph by running the old one. If it ran on fake tensors while it records, each new node would know its value from the beginning.
#
# ExecuTorch has the class `ExportPass` for that, and most of its passes are made from it. A small one is short, because `make_fx` records what runs, and notes `val`:


# %%
class ExportPass(PassBase):
    """Runs a graph on its own fake values, and records what is called."""

    def call_operator(self, op, args, kwargs):
        """Called instead of each operator. Operators that run here are in the new graph."""
        return op(*args, **kwargs)

    def call(self, graph_module: fx.GraphModule) -> PassResult:
        outer = self

        class Running(fx.Interpreter):
            def call_function(self, target, args, kwargs):
                return outer.call_operator(target, args, kwargs)

        inputs = graph_module.graph.find_nodes(op="placeholder")
        vals = [node.meta["val"] for node in inputs]
        with traceback.preserve_node_meta():
            new = make_fx(Running(graph_module).run, pre_dispatch=True)(*vals)
        for old, node in zip(inputs, new.graph.find_nodes(op="placeholder"), strict=True):
            node.meta.update(old.meta)
        return PassResult(new, True)


class GeluByHand(ExportPass):
    """Replaces each GELU by smaller operators."""

    def call_operator(self, op, args, kwargs):
        if op is not aten.gelu.default or kwargs.get("approximate", "none") != "none":
            return super().call_operator(op, args, kwargs)
        (x,) = args  # a tensor with a shape and a dtype, not a Proxy
        return x * 0.5 * (1 + torch.erf(x * 0.5**0.5))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(3, 6), nn.Linear(6, 3)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


block, sample = Block(), torch.rand(2, 3)
program = torch.export.export(block, (sample,))
passed = GeluByHand()(program.graph_module).graph_module
for node in passed.graph.nodes:
    print(f"{node.name:8} {kinds(passed).get(node.name, '')}")

# %% proof=true
assert issubclass(GeluByHand, ExportPass)
assert not passed.graph.find_nodes(op="call_function", target=aten.gelu.default)
assert all("val" in node.meta for node in passed.graph.nodes if node.op != "output")
(result,) = passed(*block.state_dict().values(), sample)
torch.testing.assert_close(result, block(sample))
assert [node.name for node in passed.graph.nodes][0] == "arg0_1"

import inspect

from torch._export.pass_base import _ExportPassBaseDeprecatedDoNotUse

signature = inspect.signature(_ExportPassBaseDeprecatedDoNotUse.call_operator)
assert list(signature.parameters) == ["self", "op", "args", "kwargs", "meta"]
assert hasattr(_ExportPassBaseDeprecatedDoNotUse, "call_cond")

# %% [markdown]
# The rule is ordinary code: it computes with tensors, and may ask for shapes. And it cannot forget a `val`, because it never writes one.
#
# Two limits of the small class: its new placeholders have new names, so the module does not fit the program's signature (chapter 11b). And it does not go into the branches of `torch.cond`.
# ExecuTorch's class does, with `call_cond`. There, `call_operator` also gets the `meta`, and its arguments are objects that hold the fake tensor.
#
# What about the other entries of `meta`? With `traceback.preserve_node_meta()` new nodes take over the entries of the node that is running: its place in the source, its module, and marks. Without it, all of that is lost:

# %%
keys = {"nn_module_stack", "stack_trace", "val"}
made = [node for node in passed.graph.nodes if node.op == "call_function"]
inputs = [node.meta["val"] for node in program.graph.find_nodes(op="placeholder")]
bare = make_fx(fx.Interpreter(program.graph_module).run, pre_dispatch=True)(*inputs)
bare_calls = [node for node in bare.graph.nodes if node.op == "call_function"]
print("with it:   ", sorted(keys & set(made[0].meta)))
print("without it:", sorted(keys & set(bare_calls[0].meta)))

# %% proof=true
assert all(keys <= set(node.meta) for node in made)
assert not any("nn_module_stack" in node.meta for node in bare_calls)
assert all("val" in node.meta for node in bare_calls)

# %% [markdown]
# ## 12b.6 Where a node comes from
#
# A GELU became five operators. When one of them is slow, you want to know where it comes from. Each new node says so in `from_node`:

# %%
gelu = [node for node in made if node.meta["from_node"][-1].name == "gelu"]
print([node.name for node in gelu])
print(gelu[0].meta["from_node"][-1])
table = traceback.get_graph_provenance_json(passed.graph)
print("erf comes from", table["erf"][-1]["name"])

# %% proof=true
assert [node.target for node in gelu].count(aten.mul.Tensor) == 3
assert aten.erf.default in [node.target for node in gelu]
assert table["erf"][-1]["name"] == "gelu" and table["linear"][-1]["name"] == "linear"

# %% [markdown]
# An entry of `from_node` has the name of the old node, the pass that made the new one, and the old node's own history. `get_graph_provenance_json` returns it for a whole graph, as plain data.
#
# ### Marks of your own
#
# You can mark a part of a model while it is recorded. `traceback.annotate` is a context manager, and with `torch.compile`, nodes that are recorded in it carry the mark in `meta["custom"]`:


# %%
class Marked(nn.Module):
    def forward(self, x):
        with traceback.annotate({"part": "head"}):
            y = torch.sin(x)
        return torch.cos(y)


def marks(gm):
    """The mark of each call."""
    calls = [node for node in gm.graph.nodes if node.op == "call_function"]
    return [node.meta.get("custom", {}).get("part") for node in calls]


with traceback.preserve_node_meta():
    marked = torch.export.export(Marked(), (sample,)).graph_module
graphs = []
torch.compile(Marked(), backend=lambda gm, _: graphs.append(gm) or gm)(sample)
print("exported with preserve_node_meta:", marks(marked))
print(
    "exported without it:             ",
    marks(torch.export.export(Marked(), (sample,)).graph_module),
)
print("captured by torch.compile:       ", marks(graphs[0]))

# %% proof=true
assert marks(marked) == marks(graphs[0]) == ["head", None]
assert marks(torch.export.export(Marked(), (sample,)).graph_module) == [None, None]

# %% [markdown]
# **Predict the result.** In a model, one call is in a block `with region("head"):`, a context manager that you wrote in Python. What of it is in a trace by `symbolic_trace`?
#
# <details><summary>It becomes a node when it is entered, and one when it is left</summary>
#
# Nothing in it is an operation on a Proxy, so nothing is recorded. (PyTorch's profiler calls operators when it is entered and left, and <code>make_fx</code> records those.)
# </details>
# <details><summary>It is entered once, while the model is traced, and the graph has no trace of it</summary>
#
# Right. Only calls on values are recorded. A mark survives, and an Interpreter can read it.
# </details>
# <details><summary>Tracing raises an error</summary>
#
# No, and that is why it is easily overlooked.
# </details>


# %% proof=true
def profiled(x):
    with torch.profiler.record_function("head"):
        return torch.sin(x)


operators = [str(n.target) for n in make_fx(profiled)(sample).graph.nodes if n.op != "placeholder"]
assert [name.split(".")[0] for name in operators[:-1]] == ["profiler", "aten", "profiler"]
entries = []


@contextlib.contextmanager
def noted():
    entries.append("entered")
    yield


def in_a_block(x):
    with noted():
        return torch.sin(x)


traced_block = fx.symbolic_trace(in_a_block)
traced_block(sample)
assert entries == ["entered"]
assert [node.op for node in traced_block.graph.nodes] == ["placeholder", "call_function", "output"]

# %% [markdown]
# An Interpreter can enter the region again around each node with the mark:

# %%
entered = []


@contextlib.contextmanager
def region(name):
    """Could be a lock or a stream."""
    entered.append(name)
    yield


class Timed(nn.Module):
    def forward(self, x):
        with region("head"), traceback.annotate({"part": "head"}):
            y = torch.sin(x)
        return torch.cos(y)


class Entering(fx.Interpreter):
    """Enters the region again around each node that carries its name."""

    def run_node(self, n):
        part = n.meta.get("custom", {}).get("part")
        with region(part) if part else contextlib.nullcontext():
            return super().run_node(n)


with traceback.preserve_node_meta():
    gm = fx.symbolic_trace(Timed())
print("entered by the trace:      ", len(entered))
gm(sample)
print("and by a call:             ", len(entered))
Entering(gm).run(sample)
print("and by the Interpreter:    ", len(entered))

# %% proof=true
assert entered == ["head", "head"]  # by the trace, and by the Interpreter
torch.testing.assert_close(gm(sample), Timed()(sample))

# %% [markdown]
# ## 12b.7 The end of the story
#
# Here are the planner, and the pass that runs convolutions in half precision. The team's network is functionalized, so it writes nothing in place:


# %%
def planned(gm: fx.GraphModule) -> int:
    """How many bytes all computed values need, by what `meta` says of them."""
    vals = [node.meta.get("val") for node in gm.graph.nodes if node.op.startswith("call_")]
    tensors = [leaf for leaf in pytree.tree_leaves(vals) if isinstance(leaf, torch.Tensor)]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def convolutions_in_half(gm: fx.GraphModule) -> None:
    """Casts what each convolution reads, and its result back again."""

    def cast(value, dtype):
        new = gm.graph.call_function(aten._to_copy.default, (value,), {"dtype": dtype})
        new.meta = dict(value.meta)  # the mistake
        return new

    for node in gm.graph.find_nodes(op="call_function", target=aten.convolution.default):
        with gm.graph.inserting_before(node):
            node.args = fx.map_arg(node.args, lambda read: cast(read, torch.float16))
        with gm.graph.inserting_after(node):
            back = cast(node, torch.float32)
        node.replace_all_uses_with(back, delete_user_cb=lambda user, back=back: user is not back)
    gm.recompile()


network = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False))
image = images(1)
gm = recorded(torch.func.functionalize(network), image)
assert not gm.graph.find_nodes(op="call_function", target=aten.relu_.default)
before = planned(gm)
convolutions_in_half(gm)
wrong = planned(gm)
error = assert_same_results(gm, network, image, tolerance=0.05)
print(f"the results differ by {error:.1%} of what another image changes")
print(f"{before:,} bytes before the pass, {wrong:,} after it, says `meta`")

# %% proof=true
assert wrong > before
assert not gm.graph.find_nodes(op="call_function", target=aten.relu_.default)

# %% [markdown]
# The results are right, as far as half precision allows. Which notes are wrong?

# %% uses="meta_lies"
lies = meta_lies(gm)
targets = {node.name: node.target for node in gm.graph.nodes}
print(len(lies), "nodes:", lies[:4], "...", {str(targets[name]) for name in lies})

# %% proof=true
assert {targets[name] for name in lies} == {aten._to_copy.default}
assert len(lies) == 2 * 57  # image and weight of each of 57 convolutions

# %% [markdown]
# The casts to half precision are named, and nothing else. The convolutions are not, although they say float32, too: they agree with what their inputs say. The pass copies `meta` to the casts. That is its mistake.
#
# Until its author fixes it, the pipeline can refresh the metadata after each pass:

# %% uses="refresh_meta"
refresh_meta(gm, image)
right = planned(gm)
print(f"{right:,} bytes")

# %% proof=true
assert before < right < wrong
halves = gm.graph.find_nodes(op="call_function", target=aten.convolution.default)
assert all(node.meta["val"].dtype == torch.float16 for node in halves)

# %% [markdown]
# The casts cost more than they save: both versions of each value are in the plan. Now the numbers say so, and the team can decide.
#
# And because nothing is computed, the planner can ask about any batch. Here are a hundred thousand large images, of which only one is in memory:

# %% uses="refresh_meta"
traced = fx.symbolic_trace(network)
many = torch.rand(1, 3, 224, 224).expand(100_000, -1, -1, -1)
refresh_meta(traced, many)
print(f"{planned(traced) / 1e12:.1f} terabytes")

# %% proof=true
assert planned(traced) > 4e12

# %% [markdown]
# ## Common mistakes
#
# ### A real run, to be sure
#
# `ShapeProp` of chapter 6 is an Interpreter that computes. It needs real memory and real time, and it writes into buffers:

# %%
trains = fx.symbolic_trace(Trains()).train()
ShapeProp(trains).propagate(torch.rand(2, 3))
print("batches:", trains.norm.num_batches_tracked)
with mode:  # 36 terabytes, if it was real
    print(torch.outer(torch.ones(3_000_000), torch.ones(3_000_000)))

# %% proof=true
assert trains.norm.num_batches_tracked == 1

# %% [markdown]
# **Right:** fake tensors, for everything.
#
# ### A mode is entered by hand
#
# If the mode is not left, each tensor that is made from then on is fake, and the errors come much later:

# %%
mode.__enter__()
print(torch.ones(2))
mode.__exit__(None, None, None)
print(torch.ones(2))

# %% proof=true
assert not isinstance(torch.ones(2), FakeTensor)

# %% [markdown]
# **Right:** `with mode:`, which leaves the mode even after an exception.
#
# ### Only tensors are noted
#
# Some calls return several values. A filter by type leaves out all of them:

# %%
pair = torch.max(fake, dim=1)
print("a tensor:", isinstance(pair, torch.Tensor))
print(pytree.tree_leaves(tuple(pair)))

# %% proof=true
assert not isinstance(pair, torch.Tensor)
assert len(pytree.tree_leaves(tuple(pair))) == 2

# %% [markdown]
# **Right:** `pytree.tree_map_only`, which reaches into nested values and leaves the rest unchanged.
#
# ### `meta` is replaced
#
# A node's `meta` belongs to many tools. If you assign a new dictionary, you delete their entries:

# %%
node = made[0]
kept = node.meta
print("before:", sorted(node.meta))
node.meta = {"val": node.meta["val"]}
print("after: ", sorted(node.meta))
node.meta = kept

# %% proof=true
assert "stack_trace" in node.meta

# %% [markdown]
# **Right:** set the one entry.
#
# ### Symbols are compared with `==`
#
# In a condition, `==` or `!=` answers for the example and adds a guard:

# %%
x, y = two_symbolic()
if x.shape[0] != y.shape[0]:
    print("guards:", [str(guard.expr) for guard in x.fake_mode.shape_env.guards])

# %% proof=true
assert len(x.fake_mode.shape_env.guards) == 1

# %% [markdown]
# **Right:** `statically_known_true(a == b)`.

# %% [markdown]
# ## Recap
#
# 1. `meta["val"]` is a note about the past. After an edit it is old, another node's, or missing, and no test of results notices.
# 2. A run on fake tensors tells what each value is, and computes nothing, if parameters, buffers and tensors that are made from no other are fake, too.
# 3. A note must be an object of its own: `detach()` keeps strides and mode.
# 4. A local question finds contradictions: run one operator on what its inputs say. With symbols, ask only for what is known, and suppress guards.
# 5. A pass that records while it runs cannot forget `val`. `preserve_node_meta` keeps the rest, and `from_node` says where a node comes from.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `FakeTensorMode()`, `mode.from_tensor(t)` | a mode, and a fake tensor like a real one |
# | `with mode:` | tensors that are made in it are fake |
# | `torch.func.functional_call(module, tensors, args, kwargs)` | calls a module with other parameters and buffers |
# | `pytree.tree_map_only(torch.Tensor, function, value)` | changes each tensor in a nested value |
# | `fx.map_arg(args, function)` | replaces each node in nested arguments |
# | `env.suppress_guards()` | comparisons in it add no guards |
# | `traceback.preserve_node_meta()` | new nodes take over entries of the old ones |
# | `traceback.annotate({"part": "head"})` | marks nodes that are recorded in it; for `torch.export`, add `preserve_node_meta()` |
# | `node.meta["from_node"]` | the node that a node was made from |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | sizes that depend on data | PyTorch's pages on dynamic shapes, see below |
# | a tracer that knows shapes while it traces | the deep dive `08b_shapes` |
# | what a graph keeps in memory at one time | chapter 13 |
#
# Fake tensors are in a module with an underscore, and `torch.fx.traceback` may change in any release.
# In PyTorch's documentation: [Fake tensor](https://docs.pytorch.org/docs/stable/torch.compiler_fake_tensor.html),
# [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), and
# [dynamic shapes](https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html).
# ExecuTorch's [guide to passes](https://docs.pytorch.org/executorch/stable/compiler-custom-compiler-passes.html) shows `ExportPass` at work.
