# %% [markdown]
# # 9 · Debugging and testing a pass
#
# **After this chapter you can show that a pass is right, and find the place where it is not.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3 and 6: traces, passes, the Interpreter |
# | **Time** | about 120 minutes, 44 of them for the exercises; sections 9.1 to 9.3 are a good first sitting |
#
# **When you are done, you can**
#
# 1. read the code that FX generates, print it with its sources, and step through it with a debugger;
# 2. write a graph module to a folder, and say what does not survive that;
# 3. save and load graph modules, and say what `pickle`, `torch.save` and `copy.deepcopy` each lose;
# 4. give a model weights that hide no error;
# 5. decide whether two models do the same, in both modes, with all effects;
# 6. find the first of many passes that breaks a model, and the nodes that it changed;
# 7. name four bugs that FX has today, and test for them.

# %% [markdown]
# ## A story
#
# The other team wants GoogLeNet to be faster. They wrote four passes, and one of them folds each BatchNorm into the convolution before it.
# They tested the result like this: make a new GoogLeNet, run both versions on an image, compare. The two agree to 14 digits.
#
# Then they load the trained weights, and the scores are wrong.
# There is no exception, and `graph.lint()` finds nothing.
#
# Which of the four passes is wrong, in which nodes, and why did the test not see it?
# Section 9.8 answers this with the four tools that you build here.

# %%
import copy
import functools
import importlib
import io
import operator
import pdb
import pickle
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from IPython.display import display
from torch import fx, nn
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree
from torchvision.models import googlenet

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import VacuousComparison, assert_same_results

torch.manual_seed(9)
print(torch.__version__)

# %% [markdown]
# Two questions about earlier chapters, before you begin:
#
# **Predict the result.** A pass edits `gm.graph`, calls `gm.graph.lint()`, and returns `gm` without `recompile()`. What does `gm(x)` compute?
#
# <details><summary>What the edited graph says: <code>lint</code> updates the code.</summary>
#
# No. <code>lint</code> looks at the graph, and changes nothing.
# </details>
# <details><summary>What the graph said before the edit.</summary>
#
# Right. The module runs code that was generated earlier (chapter 3). An Interpreter runs the graph, so the two differ now.
# </details>
# <details><summary>Nothing: it raises, because code and graph differ.</summary>
#
# No. FX does not compare the two. That is why this mistake is so common.
# </details>

# %% proof=true
edited, minus = fx.symbolic_trace(nn.ReLU()), -torch.ones(2)
output = edited.graph.output_node()
with edited.graph.inserting_before(output):
    output.args = (edited.graph.call_function(torch.add, (output.args[0], 1)),)
edited.graph.lint()
assert torch.equal(edited(minus), torch.zeros(2))
assert torch.equal(fx.Interpreter(edited).run(minus), torch.ones(2))

# %% [markdown]
# **Predict the effect.** `gm = fx.symbolic_trace(model)`, and then `gm.fc.weight.data.zero_()`. What happens to `model`?
#
# <details><summary>Its weight is zero, too.</summary>
#
# Right. The trace shares its submodules with the model (chapter 3). In this chapter that matters again: a pass that writes into weights changes the model that you compare with.
# </details>
# <details><summary>Nothing: a trace has copies.</summary>
#
# No. <code>gm.fc is model.fc</code>. Only <code>copy.deepcopy</code> copies weights.
# </details>
# <details><summary>Nothing, until <code>gm.recompile()</code>.</summary>
#
# No. <code>recompile</code> is about code. A weight is data, and both modules hold the same one.
# </details>

# %% proof=true
shared = nn.Sequential(nn.Linear(2, 2))
fx.symbolic_trace(shared).get_submodule("0").weight.data.zero_()
assert not shared[0].weight.any()

# %% [markdown]
# ## 9.1 Read what runs
#
# A graph module is a class that FX wrote. The text of its `forward` is in `gm.code`:


# %%
class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x):
        hidden = torch.relu(self.norm(self.layer(x)))
        return (hidden * self.scale).sum(dim=-1)


gm = fx.symbolic_trace(Scorer()).eval()
print(gm.code)

# %% proof=true
assert "mul = relu * scale;  relu = scale = None" in gm.code

# %% [markdown]
# Each line is a node: its name, and the call. After it, `relu = scale = None` frees the values that no later line reads.
# `print_readable` prints the whole class, with nested graph modules inside:

# %%
print(gm.print_readable(print_output=False))

# %% proof=true
assert gm.print_readable(print_output=False).startswith("class Scorer(torch.nn.Module):")

# %% [markdown]
# "No stacktrace found" means that this trace did not record its sources. A tracer with `record_stack_traces = True` does (section 6.5):


# %%
class Located(fx.Tracer):
    """Record for each node the lines of source code that made it."""

    record_stack_traces = True


model = Scorer()
located = fx.GraphModule(model, Located().trace(model), "Scorer")
relu = located.graph.find_nodes(op="call_function", target=torch.relu)[0]
first, code, *rest = relu.stack_trace.splitlines()
readable = located.print_readable(print_output=False).splitlines()
comment = next(line for line in readable if line.strip().startswith("# File"))
print("first in the text:", first.strip().split(", ", 1)[1], "|", code.strip())
print("print_readable:", Path(comment.split(", code: ")[0]).name)

# %% proof=true
assert "in forward" in first and "torch.relu" in code
assert all("fx" in line for line in rest[::2])  # the lines below are FX's own
assert "proxy.py" in comment

# %% [markdown]
# `node.stack_trace` has the lines from your `forward` to the functions of FX that it called. `print_readable` shows the *last* line.
# So its comments name a file of FX ([issue 130861](https://github.com/pytorch/pytorch/issues/130861)).
# Take the last line of `stack_trace` that is not in torch. (The deep dive 9c does that.)
#
# ### An error in generated code
#
# If a line of generated code raises, Python's traceback shows that line. Only the file's name is odd, `<eval_with_key>`:

# %%
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        gm.forward(torch.ones(2, 5))  # `gm(...)` would print more, to the error output
    except RuntimeError as error:
        frames = traceback.extract_tb(error.__traceback__)
generated = next(frame for frame in frames if "eval_with_key" in frame.filename)
print(generated.filename.split(" ")[0], "line", generated.lineno, "|", generated.line)

# %% proof=true
assert generated.line == "layer = self.layer(x);  x = None"

# %% [markdown]
# ### Step through it
#
# A debugger works, too, because it finds the text of generated code.
# In a terminal, write `pdb.runcall(gm.forward, x)`.
# Here the commands come from a string: *next line, print a shape, where am I, continue*.


# %%
def debugged(commands: str, function: Callable, *args: Any) -> str:
    """The output of pdb for these commands, one on each line."""
    shown = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=shown, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.runcall(function, *args)
    return shown.getvalue()


shown = debugged("next\nprint(layer.shape)\nlist\ncontinue\n", gm.forward, torch.ones(2, 4))
print(shown)

# %% proof=true
assert "torch.Size([2, 3])" in shown and "norm = self.norm(layer)" in shown

# %% [markdown]
# **Predict the output.** You step over two lines, `layer = ...` and `norm = ...`, and then ask for `layer.shape`. What does pdb print?
#
# <details><summary><code>torch.Size([2, 3])</code>, as before.</summary>
#
# No. Look at the end of the line that computes <code>norm</code>.
# </details>
# <details><summary>An error: <code>layer</code> is <code>None</code> by now.</summary>
#
# Right. The generated line ends with <code>layer = None</code>, because no later line reads the value. Look at a value right after it was computed, or use an Interpreter with <code>garbage_collect_values=False</code>.
# </details>
# <details><summary>An error: generated code has no variables.</summary>
#
# No. It is plain Python, and each node is a local variable.
# </details>

# %% proof=true
two_lines = debugged("next\nnext\nprint(layer.shape)\ncontinue\n", gm.forward, torch.ones(2, 4))
assert "'NoneType' object has no attribute 'shape'" in two_lines

# %% [markdown]
# **Drill 09.1a.** pdb stops *before* the line `sum_1 = ...`. Which local variables are `None` now? Write the set of their names.

# %% drill=true
gone = {"x", "layer", "norm", "relu", "scale"}
drill("09.1a", gone)
# Mistake: The line that runs next still reads its arguments.
# gone = {"x", "layer", "norm", "relu", "scale", "mul"}

# %% proof=true
names = "print(sorted(name for name, value in locals().items() if value is None))"
at_sum = debugged("next\n" * 5 + names + "\ncontinue\n", gm.forward, torch.ones(2, 4))
assert "['layer', 'norm', 'relu', 'scale', 'x']" in at_sum

# %% [markdown]
# ### Take the code with you
#
# To *edit* generated code, for example to add a `print`, paste it into a class of your own:


# %%
class Pasted(nn.Module):
    def __init__(self, gm: fx.GraphModule):
        super().__init__()
        self.layer, self.norm, self.scale = gm.layer, gm.norm, gm.scale

    def forward(self, x):  # from here on it is the text of gm.code
        layer = self.layer(x)
        norm = self.norm(layer)
        relu = torch.relu(norm)
        scale = self.scale
        mul = relu * scale
        sum_1 = mul.sum(dim=-1)
        return sum_1


x = torch.randn(2, 4)
print(Pasted(gm)(x), gm(x))

# %% proof=true
assert torch.equal(Pasted(gm)(x), gm(x))

# %% [markdown]
# Do not make it a subclass of `GraphModule`: such a class gets the `forward` of its graph, and yours is ignored.


# %% proof=true
class Ignored(fx.GraphModule):
    def forward(self, x):
        raise NotImplementedError("my own forward")


assert torch.equal(Ignored(gm, copy.deepcopy(gm.graph))(x), gm(x))  # it was never called

# %% [markdown]
# `gm.to_folder(folder, name)` does the pasting for you. It writes a package with a class and the weights.
# (PyTorch does not promise to keep this method as it is.)

# %%
home = Path(tempfile.mkdtemp())
gm.to_folder(home / "dumped", "Dumped")
print(sorted(path.name for path in (home / "dumped").iterdir()))
source = (home / "dumped" / "module.py").read_text()
print(source[source.index("class Dumped") : source.index("def forward")].rstrip())

sys.path.insert(0, str(home))
Dumped = importlib.import_module("dumped").Dumped
print(Dumped().eval()(x))

# %% proof=true
assert torch.equal(Dumped().eval()(x), gm(x)) and Dumped().training
assert not isinstance(Dumped(), fx.GraphModule)  # the graph is gone, the code is left

# %% [markdown]
# It loses the mode, and has four more limits:
#
# 1. Linear layers, convolutions and BatchNorms are written as their `repr`, which has no dtype: `float64` becomes `float32`, silently.
# 2. Any other child, such as an `nn.ReLU`, is pickled, with a warning.
# 3. The weights are loaded from the path that you passed. Move the folder, and the class cannot be made.
# 4. Functions of your own are called by a name that the file does not know:


# %%
def halve(value):
    return value / 2


halved = copy.deepcopy(gm)
output = halved.graph.output_node()
with halved.graph.inserting_before(output):
    output.args = (halved.graph.call_function(halve, output.args),)
halved.recompile()
halved.to_folder(home / "halved", "Halved")
Halved = importlib.import_module("halved").Halved
with fails(NameError):
    Halved()(x)

# %% proof=true
assert torch.equal(halved(x), gm(x) / 2)
assert repr(gm.layer) in source and not list((home / "dumped").glob("layer*"))
fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)).double()).to_folder(home / "wide", "Wide")
assert {p.dtype for p in importlib.import_module("wide").Wide().parameters()} == {torch.float32}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fx.symbolic_trace(nn.Sequential(nn.ReLU())).to_folder(home / "relu", "Relu")
assert "saved as pickled files" in str(caught[0].message) and (home / "relu" / "0.pt").exists()
assert str(home) in source
(home / "wide").rename(home / "moved")
with fails(FileNotFoundError):
    importlib.import_module("moved").Wide()

# %% [markdown]
# ## 9.2 Save and load
#
# A graph module lives in memory. How do you keep it? There are three ways, and each has its questions
# (issues [54573](https://github.com/pytorch/pytorch/issues/54573), [121191](https://github.com/pytorch/pytorch/issues/121191),
# [128554](https://github.com/pytorch/pytorch/issues/128554)).
#
# **The whole module.** `torch.save(gm, file)` works. Since PyTorch 2.6 `torch.load` refuses to read it back, because reading a pickled object may run any code:

# %%
file = io.BytesIO()
torch.save(gm, file)
file.seek(0)
with fails(pickle.UnpicklingError):
    torch.load(file)
file.seek(0)
print(torch.load(file, weights_only=False)(x))  # only for files that you trust

# %% proof=true
file.seek(0)
assert torch.equal(torch.load(file, weights_only=False)(x), gm(x))

# %% [markdown]
# **Predict the graph.** `halved` calls our function `halve` in its graph. What is in the graph after `pickle.loads(pickle.dumps(halved))`?
#
# <details><summary>The same nodes, with a call of <code>halve</code>.</summary>
#
# No. A graph is not stored at all.
# </details>
# <details><summary>No call of <code>halve</code>, but a division.</summary>
#
# Right. Only the <em>code</em> is stored. Loading traces that code again, and tracing goes through <code>halve</code>, which is an ordinary Python function.
# </details>
# <details><summary>Nothing: functions cannot be pickled.</summary>
#
# No. A function with a name that can be imported is stored by that name. A lambda cannot be stored, though.
# </details>

# %% proof=true
again = pickle.loads(pickle.dumps(halved))
print([node.name for node in again.graph.nodes])
assert halve not in [node.target for node in again.graph.nodes]
assert operator.truediv in [node.target for node in again.graph.nodes]
assert torch.equal(again(x), halved(x))

# %% [markdown]
# So a pickled graph module is **traced again** when it is loaded. A `copy.deepcopy` copies the graph, and loses other things:
#
# | | `copy.deepcopy` | `pickle` and `torch.save` |
# |---|---|---|
# | names of nodes, `node.meta`, `gm.meta` | kept | lost |
# | plain attributes of the module | lost | kept |
# | the module's own forward hooks | lost | lost |
# | train or eval mode | kept | kept |


# %% proof=true
def kept_by(made: fx.GraphModule) -> dict[str, bool]:
    """What a copy of a graph module has kept."""
    nodes = list(made.graph.nodes)
    return {
        "names of nodes": "activation" in [node.name for node in nodes],
        "meta of nodes": all("note" in node.meta for node in nodes),
        "meta of the module": "stage" in made.meta,
        "other attributes": hasattr(made, "version"),
        "hooks": bool(made._forward_hooks),
        "the mode": not made.training,
    }


def do_nothing(module, args, result):
    """A hook."""


noted = fx.symbolic_trace(Scorer()).eval()
for node in noted.graph.nodes:
    node.meta["note"] = node.name
    if node.name == "relu":
        node._rename("activation")
noted.recompile()
noted.meta["stage"] = "fused"
noted.version = 3
noted.register_forward_hook(do_nothing)

copied, pickled = copy.deepcopy(noted), pickle.loads(pickle.dumps(noted))
assert {key: (value, kept_by(pickled)[key]) for key, value in kept_by(copied).items()} == {
    "names of nodes": (True, False),
    "meta of nodes": (True, False),
    "meta of the module": (True, False),
    "other attributes": (False, True),
    "hooks": (False, False),
    "the mode": (True, True),
}

# %% [markdown]
# **The weights alone.** A `state_dict` is a dictionary of tensors, and `torch.load` reads it without complaint. Prefer this:

# %%
file = io.BytesIO()
torch.save(gm.state_dict(), file)
file.seek(0)
fresh = Scorer().eval()
print(fresh.load_state_dict(torch.load(file)))

# %% proof=true
assert torch.equal(fresh(x), gm(x))

# %% [markdown]
# This goes from a trace to its model and back only if both have the same tensors. A trace has the tensors that its graph uses.
# In eval mode GoogLeNet does not use its auxiliary heads, so its trace does not have their weights, and `load_state_dict` raises.


# %% proof=true
heads = googlenet(weights=None, init_weights=False).eval()
with fails(RuntimeError):
    heads.load_state_dict(fx.symbolic_trace(heads).state_dict())


# %%
class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.spare = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        return self.used(x) + torch.tensor([1.0, 2.0])


half, half_trace = Half(), fx.symbolic_trace(Half())

# %% [markdown]
# **Drill 09.2a.** Which keys does only one of `half.state_dict()` and `half_trace.state_dict()` have? Write the set of these keys.

# %% drill=true
odd = half.state_dict().keys() ^ half_trace.state_dict().keys()
drill("09.2a", odd)
# Mistake: A tensor that `forward` makes is frozen in the trace (section 1.5), under a name of its own.
# odd = {"spare.weight", "spare.bias"}

# %% [markdown]
# A pass that changes modules changes names, too. So keep the pass together with the weights:
# build the model, apply the pass, load the weights. You can read and test such a program. A pickled file you must trust.
#
# **The program.** For deployment, `torch.export` has a file format of its own (chapter 11).

# %% [markdown]
# ## 9.3 Weights that hide nothing
#
# You have a model and the result of a pass. Do they do the same? First question: with which weights?


# %%
def without_norms(model: nn.Module) -> fx.GraphModule:
    """A wrong pass: BatchNorms just disappear."""
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and isinstance(gm.get_submodule(node.target), nn.BatchNorm1d):
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


def distance(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference, relative to the largest entry."""
    return float((a - b).detach().abs().max() / b.detach().abs().max())


model = Scorer().eval()
print(f"{distance(without_norms(model)(x), model(x)):.1e}")

# %% proof=true
assert distance(without_norms(model)(x), model(x)) < 1e-4

# %% [markdown]
# The pass deletes a layer, and the result differs by five millionths. With a tolerance of 0.001 that is *equal*.
# The reason is the new layer: mean 0, variance 1, weight 1, bias 0. Only `eps`, a hundred-thousandth, is not neutral.
#
# | what is new | value | the mistake that it hides |
# |---|---|---|
# | `BatchNorm.running_mean`, `bias` | 0 | a shift is forgotten |
# | `BatchNorm.running_var`, `weight` | 1 | a factor is forgotten |
# | `LayerNorm.weight`, `bias` | 1, 0 | a factor or a shift is forgotten |
# | many biases of well-known models | 0 | a bias is lost when layers are merged |
# | a tensor with equal entries | any | channels are exchanged |
#
# **Predict the result.** A pass folds a BatchNorm into the layer before it. It gets the factor right, and forgets the shift (mean and bias). What does a test with a new model show, up to rounding?
#
# <details><summary>A difference of about <code>eps</code>.</summary>
#
# No. The factor takes <code>eps</code> into account, so that part is right.
# </details>
# <details><summary>No difference at all.</summary>
#
# Right. The shift of a new BatchNorm is 0, so there is nothing to forget.
# </details>
# <details><summary>A large difference.</summary>
#
# No. A shift of 0 that is forgotten changes nothing.
# </details>


# %% proof=true
def folded(layer: nn.Linear, norm: nn.BatchNorm1d, *, shift: bool) -> nn.Linear:
    """One layer for the two, with or without the shift."""
    factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    made = copy.deepcopy(layer)
    made.weight = nn.Parameter(layer.weight * factor[:, None])
    made.bias = nn.Parameter(layer.bias * factor)
    if shift:
        made.bias = nn.Parameter(made.bias + norm.bias - norm.running_mean * factor)
    return made


layer, norm = nn.Linear(4, 3), nn.BatchNorm1d(3).eval()
print(f"new: {distance(folded(layer, norm, shift=False)(x), norm(layer(x))):.1e}")
assert distance(folded(layer, norm, shift=False)(x), norm(layer(x))) < 1e-6
norm.running_mean.normal_()
norm.bias.data.normal_()
print(f"random: {distance(folded(layer, norm, shift=False)(x), norm(layer(x))):.1e}")
assert distance(folded(layer, norm, shift=False)(x), norm(layer(x))) > 0.05
assert distance(folded(layer, norm, shift=True)(x), norm(layer(x))) < 1e-6

# %% [markdown]
# Here are four new layers, in eval mode:

# %%
layers = {
    "a": nn.BatchNorm1d(3).eval(),
    "b": nn.BatchNorm1d(3, affine=False).eval(),
    "c": nn.LayerNorm(3).eval(),
    "d": nn.PReLU().eval(),
}
rows = torch.randn(4, 3)

# %% [markdown]
# **Drill 09.3a.** A wrong pass deletes such a layer. For which layers does the result for `rows` differ by less than 0.001? Write the list of their keys, in alphabetical order.

# %% drill=true
unseen = [key for key, layer in layers.items() if distance(layer(rows), rows) < 0.001]
drill("09.3a", unseen)
# Mistake: A LayerNorm computes mean and variance from its input, even if it is new.
# unseen = ["a", "b", "c"]

# %% [markdown]
# So the first tool gives a model random weights. Details decide whether it is useful:
#
# * Parameters **and** buffers: running statistics are buffers. Some buffers are not in the `state_dict` (`persistent=False`), and some hold whole numbers.
# * A variance is positive. With a negative one, BatchNorm gives NaN, and then everything is "equal".
# * Tied weights stay tied. `named_parameters()` gives a tensor with two names once. Write into the existing tensor.
# * The same seed gives the same weights, so that others can repeat your failure. But `torch.manual_seed` changes your caller's random numbers.
#   A `torch.Generator` is a random state of its own:

# %%
generator = torch.Generator().manual_seed(5)
print(torch.randn(3, generator=generator), torch.randn(3, generator=generator))
print(torch.randn(3, generator=torch.Generator().manual_seed(5)))  # the same seed

# %% proof=true
state = torch.get_rng_state()
generator = torch.Generator().manual_seed(5)
first, second = torch.randn(3, generator=generator), torch.randn(3, generator=generator)
assert torch.equal(torch.randn(3, generator=torch.Generator().manual_seed(5)), first)
assert not torch.equal(first, second)  # a generator continues
assert torch.equal(torch.get_rng_state(), state)  # and the global state did not move

table = nn.Module()
table.register_buffer("places", torch.arange(3), persistent=False)
assert dict(table.named_buffers()) and not table.state_dict()
table.one = table.two = nn.Parameter(torch.ones(1))
assert len(list(table.named_parameters())) == 1

# %% [markdown] card="randomize_"
# **Given** a model and a seed.
#
# **Return** that same model, changed in place: every parameter and every floating-point buffer has random values.
#
# * The values depend on the seed alone. The global random state is as it was before.
# * They hide nothing: no tensor is constant, and different tensors have different values.
#   If you then delete any BatchNorm of a shallow network, its output changes visibly.
# * The `running_var` of a BatchNorm is positive.
# * A tensor keeps its dtype, its `requires_grad` and its identity: tied tensors stay tied.
# * Buffers of whole numbers keep their values.
#
# **Do not** replace tensors by new ones.
#
# **Fine print**
#
# * Another seed gives other values.
# * Tensors with a single entry count, too. So do frozen parameters, buffers that are not saved, and every floating dtype.
# * Boolean buffers are never tested.


# %%
class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.norm(self.layer(x))


draw(Normed(), title="a deleted norm must show in this model's output")


# %% solve="randomize_"
def randomize_(model: nn.Module, seed: int) -> nn.Module:
    """Give a model random weights and statistics, in place.

    Args:
        model: the model to change; it is returned.
        seed: what the values depend on, and nothing else.
    """
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            if not tensor.is_floating_point():
                continue
            # In float32 always: not every dtype has random numbers.
            new = torch.randn(tensor.shape, generator=generator)
            if name.endswith("running_var"):
                new = new.abs() + 0.5
            tensor.copy_(new)
    return model
    ### END SOLUTION


# %% check="randomize_"
check(randomize_)

# %% hint="randomize_"
hint("randomize_")

# %% [markdown]
# Now the wrong pass of this section shows:

# %% uses="randomize_"
model = randomize_(Scorer(), 0).eval()
print(f"without its norm: {distance(without_norms(model)(x), model(x)):.0%}")

# %% proof=true
assert distance(without_norms(model)(x), model(x)) > 0.05

# %% [markdown]
# ## 9.4 The same?
#
# Second question: what must be equal? Section 1.5 named what both runs must share: arguments, random numbers, buffers and the way of calling.
# More traps:
#
# **Structure.** `torch.testing.assert_close` accepts a list instead of a tuple, and `torch.allclose` accepts another shape.
# `pytree.tree_structure` returns the nesting alone.

# %%
one = torch.ones(2)
torch.testing.assert_close((one, one), [one, one])  # no complaint
print(torch.allclose(torch.zeros(3), torch.zeros(1, 3)))
print(pytree.tree_structure({"a": (one, [one, None])}))

# %% proof=true
assert torch.allclose(torch.zeros(3), torch.zeros(1, 3))
assert pytree.tree_structure((one, one)) != pytree.tree_structure([one, one])

# %% [markdown]
# **Effects.** A call may write into its arguments, and two models that return the same may differ in that.
#
# **Modes.** Two models can agree in eval mode, and differ in train mode:

# %%
dropping, x = nn.Dropout(0.5), torch.ones(100)
print(torch.equal(dropping.eval()(x), x), torch.equal(dropping.train()(x), x))

# %% proof=true
assert torch.equal(dropping.eval()(x), x) and not torch.equal(dropping.train()(x), x)

# %% [markdown]
# Here are six pairs of models:

# %%
pairs = [
    (lambda x: x + 1, lambda x: x.add_(1)),
    (lambda x: (x, x), lambda x: [x, x]),
    (lambda x: x * float("nan"), lambda x: x - float("nan")),
    (lambda x: x, lambda x: x.double()),
    (nn.Dropout(0.5), nn.Identity()),
    (lambda x: x.clone(), lambda x: x),
]

# %% [markdown]
# **Drill 09.4a.** Which pairs do the same for every `float32` tensor: result, structure, dtypes and effects, in both modes? NaN equals NaN. Write the list of their indices.

# %% drill=true
alike = [2, 5]
drill("09.4a", alike)
# Mistake: After `x.add_(1)`, the caller's tensor has other values.
# alike = [0, 2, 5]

# %% [markdown]
# **State.** A model may have a state that each call changes:


# %%
class Total(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x):
        self.total.add_(x.sum())
        return x + self.total


# %% [markdown]
# **Predict the result.** A `Total` and its trace are run once each, one after the other. Do they return the same?
#
# <details><summary>Yes: the trace does what the model does.</summary>
#
# No. It does what the model does <em>from the same state</em>, and the state moved in between.
# </details>
# <details><summary>No: they share the buffer, so the second run starts from another value.</summary>
#
# Right. The same happens with the running statistics of a BatchNorm in train mode. Before each run, put the state back, or run copies.
# </details>
# <details><summary>No: a trace cannot change buffers.</summary>
#
# No. A method with a traced argument is recorded, and <code>add_</code> is such a method.
# </details>

# %% proof=true
adding_up = Total()
adding_trace = fx.symbolic_trace(adding_up)
assert adding_up(torch.ones(1)).item() == 2 and adding_trace(torch.ones(1)).item() == 3
assert adding_trace.total is adding_up.total

# %% [markdown]
# **Leave no change.** `model.train()` sets the mode of **every** submodule. A later `model.train(was_training)` does not restore
# a model in which some parts were frozen. Note the mode of each module, or run a copy. `torch.random.fork_rng()` restores the random state (section 1.5).

# %% proof=true
frozen = Scorer().train()
frozen.norm.eval()  # as in fine-tuning
was_training = frozen.training
frozen.eval()
frozen.train(was_training)
assert frozen.norm.training  # it was in eval mode
state = torch.get_rng_state()
with torch.random.fork_rng():
    torch.manual_seed(0)
assert torch.equal(torch.get_rng_state(), state)

# %% [markdown] card="equivalent"
# **Given** two models, and a function that makes their arguments: `make_inputs(seed)` returns a tuple of arguments. Different seeds give different arguments.
#
# **Return** `True` if both do the same for the seeds 0, 1, …, `trials - 1`, in train mode (all parts of it) *and* in eval mode. Otherwise return `False`.
# *The same* means the same result and the same effect on the arguments.
#
# * Both run under one seed, each time from the buffers that the models had when they were given.
# * Afterwards both models are unchanged: the mode of each part, and each buffer. So is the global random state.
#
# **Fine print**
#
# * The same result: the same structure of tuples, lists and dictionaries, the same dtypes and shapes, values equal up to the usual tolerance. NaN equals NaN.
# * Effects on buffers are not compared. A buffer is unchanged if it is the same tensor with the same numbers.
# * The random state is unchanged even if `make_inputs` moved it. All this holds in every case.
# * Never tested: models that raise, models that draw random numbers in eval mode, and numbers of Python that differ in their type alone.


# %%
class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return torch.relu(self.drop(self.norm(self.layer(x))))


class After(Before):
    """In eval mode it does the same. In train mode it does not."""

    def forward(self, x):
        return torch.relu(self.norm(self.layer(x)))


draw.diff(fx.symbolic_trace(Before()), fx.symbolic_trace(After()))


# %% solve="equivalent"
def equivalent(
    model: nn.Module, other: nn.Module, make_inputs: Callable[[int], tuple], trials: int = 8
) -> bool:
    """Whether two models do the same.

    Args:
        model: the first model; it is left as it is.
        other: the second one, likewise. The two may share parts.
        make_inputs: makes the arguments of a call for a seed.
        trials: how many seeds are tried, from 0 on.
    """
    ### BEGIN SOLUTION

    def run(module: nn.Module, training: bool, seed: int) -> tuple[Any, tuple]:
        # A copy has modes and buffers of its own, so nothing has to be put back.
        module = copy.deepcopy(module).train(training)
        args = make_inputs(seed)
        torch.manual_seed(seed)
        return module(*args), args

    def same(a: Any, b: Any) -> bool:
        if pytree.tree_structure(a) != pytree.tree_structure(b):
            return False
        try:
            torch.testing.assert_close(a, b, equal_nan=True)
        except (AssertionError, TypeError):  # the second one for a number and a tensor
            return False
        return True

    with torch.random.fork_rng(), torch.no_grad():
        for seed in range(trials):
            for training in (True, False):
                if not same(run(model, training, seed), run(other, training, seed)):
                    return False
    return True
    ### END SOLUTION


# %% check="equivalent"
check(equivalent)

# %% hint="equivalent"
hint("equivalent")


# %% uses="equivalent"
def pair_of_rows(seed: int) -> tuple:
    """Two rows for the models above."""
    return (torch.randn(2, 3, generator=torch.Generator().manual_seed(seed)),)


model = Before()
print("its trace:", equivalent(model, fx.symbolic_trace(model), pair_of_rows))
print("without Dropout:", equivalent(model, After(), pair_of_rows))

# %% proof=true
assert equivalent(model, fx.symbolic_trace(model), pair_of_rows)
assert not equivalent(model, After(), pair_of_rows)
for one_model, other_model in pairs[:5]:
    same = equivalent(fx.symbolic_trace(one_model), fx.symbolic_trace(other_model), pair_of_rows)
    assert same == (one_model is pairs[2][0])
assert equivalent(fx.symbolic_trace(pairs[5][0]), fx.symbolic_trace(pairs[5][1]), pair_of_rows)

# %% [markdown]
# How many seeds are enough? If a mistake shows on one input in ten, eight seeds miss it in 43 % of all runs.
# *Other kinds* of input find more than other seeds: other shapes, zeros, large numbers, NaN, empty tensors.

# %% proof=true
assert round(0.9**8, 2) == 0.43

# %% [markdown]
# ## 9.5 Which pass?
#
# A real pipeline has many passes. If the end is wrong, which was it?
# Compare after *each* pass with the model at the beginning. Two traps:
#
# * A pass may only be wrong *after another one*. So each pass gets the result of the one before, and not the original.
# * A pass may write into the model that it gets: into shared weights, or into the graph. Then the model that you compare with changes, too.

# %%
weights = Scorer().eval()
kept = copy.deepcopy(weights)  # no pass can reach this one


def scaling(model: nn.Module) -> fx.GraphModule:
    """A pass that does something forbidden: it writes into the weights of its argument."""
    gm = fx.symbolic_trace(model)
    with torch.no_grad():
        gm.layer.weight.mul_(3)
    return gm


x = torch.randn(2, 4)
result = scaling(weights)
print("as the model:", torch.equal(result(x), weights(x)))
print("as the copy:", torch.allclose(result(x), kept(x)))

# %% proof=true
assert torch.equal(result(x), weights(x)) and not torch.allclose(result(x), kept(x))

# %% [markdown]
# **Predict.** There are 100 passes, and you know that the result is wrong at the end. You bisect: look at the result after 50 passes, then after 25 or 75, and so on. When can bisection miss the first wrong pass?
#
# <details><summary>Never, if each comparison is right.</summary>
#
# No. Bisection assumes that wrong stays wrong.
# </details>
# <details><summary>If two wrong passes cancel each other out.</summary>
#
# Right. After 50 passes everything may look right, although pass 10 was wrong and pass 30 hid it. Bisection needs 7 comparisons, and finds <em>a</em> pass after which the result goes from right to wrong. To find the first one, compare after each pass.
# </details>
# <details><summary>If a pass raises an exception.</summary>
#
# No. That is a result like any other: count it as wrong.
# </details>

# %% [markdown]
# Inductor, the compiler in `torch.compile`, has such a tool: `torch._inductor.compiler_bisector` bisects its passes, so it has this limit.

# %% proof=true
from torch._inductor.compiler_bisector import BACKENDS, CompilerBisector  # noqa: E402

assert "post_grad_passes" in {subsystem.name for subsystem in BACKENDS["inductor"]}
assert callable(CompilerBisector.do_bisect)

# %% [markdown] card="first_bad_pass"
# **Given** a model, a list of passes, and `make_inputs` as in the last exercise.
#
# **Return** the index of the first bad pass, or `None` if there is none. A pass is bad if it raises an exception, or if after it
# the result is no longer equivalent, *in eval mode*, to the model as it was given.
#
# * The passes are applied one after the other: each gets the result of the one before it.
# * A result is equivalent if it returns the same *and* leaves its arguments in the same state, as in the last exercise.
#
# **Fine print**
#
# * Model and results may be given in any mode. They are compared in eval mode.
# * A wrong pass shows on every seed here, so a few seeds are enough.
# * Results that raise when they are called are never tested. The model may be changed afterwards.


# %%
def relu_to_clamp(model: nn.Module) -> fx.GraphModule:
    """A right pass: `relu(x)` becomes `clamp(x, min=0)`."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is torch.relu:
            node.target, node.kwargs = torch.clamp, {"min": 0}
    gm.recompile()
    return gm


def clamp_to_abs(model: nn.Module) -> fx.GraphModule:
    """A wrong pass, but only if there is a `clamp`."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is torch.clamp:
            node.target, node.kwargs = torch.abs, {}
    gm.recompile()
    return gm


start = fx.symbolic_trace(lambda x: torch.relu(x) * 2)
display(draw(relu_to_clamp(start), title="after pass 0: right"))
draw.diff(relu_to_clamp(start), clamp_to_abs(relu_to_clamp(start)))


# %% solve="first_bad_pass"
def first_bad_pass(
    model: nn.Module,
    passes: list[Callable[[nn.Module], fx.GraphModule]],
    make_inputs: Callable[[int], tuple],
) -> int | None:
    """The index of the first pass that breaks a model, or `None`.

    Args:
        model: the model that the first pass gets.
        passes: the passes, in order.
        make_inputs: makes the arguments of a call for a seed.
    """
    ### BEGIN SOLUTION

    def run(module: nn.Module, seed: int) -> tuple[Any, tuple]:
        args = make_inputs(seed)
        with torch.no_grad():
            return module.eval()(*args), args

    def same(a: Any, b: Any) -> bool:
        if pytree.tree_structure(a) != pytree.tree_structure(b):
            return False
        try:
            torch.testing.assert_close(a, b, equal_nan=True)
        except (AssertionError, TypeError):
            return False
        return True

    given = copy.deepcopy(model)  # the passes never get this one
    current = model
    for index, one_pass in enumerate(passes):
        try:
            current = one_pass(current)
        except Exception:
            return index
        if not all(same(run(given, seed), run(current, seed)) for seed in range(3)):
            return index
    return None
    ### END SOLUTION


# %% check="first_bad_pass"
check(first_bad_pass)

# %% hint="first_bad_pass"
hint("first_bad_pass")

# %% uses="first_bad_pass"
print(first_bad_pass(Before(), [relu_to_clamp, clamp_to_abs], pair_of_rows))
print(first_bad_pass(Before(), [clamp_to_abs, relu_to_clamp], pair_of_rows))

# %% proof=true
assert first_bad_pass(Before(), [relu_to_clamp, clamp_to_abs], pair_of_rows) == 1
assert first_bad_pass(Before(), [clamp_to_abs, relu_to_clamp], pair_of_rows) is None

# %% [markdown]
# ## 9.6 What did it change?
#
# You know the pass. *What did it do?* `draw.diff` shows it for small graphs. For a large one, names are better.
#
# Two graphs have no common nodes, so compare nodes by **name**. This works only if one graph was made from the other, for example as a copy:

# %%
before = fx.symbolic_trace(Before())
after = copy.deepcopy(before)
for node in after.graph.nodes:
    if node.target is torch.relu:
        node.target = torch.sigmoid  # the name stays `relu`
after.recompile()
print("the copy:", [node.name for node in after.graph.nodes])
print("a new trace:", [node.name for node in fx.symbolic_trace(after).graph.nodes])
draw.diff(before, after)

# %% proof=true
assert [node.name for node in after.graph.nodes] == [node.name for node in before.graph.nodes]
assert "sigmoid" in [node.name for node in fx.symbolic_trace(after).graph.nodes]
assert "sigmoid" in repr(draw.diff(before, after)) and "sigmoid" not in repr(draw(before))

# %% [markdown]
# **Predict the result.** `a` and `b` are the nodes called `relu` in `before` and in an exact copy of it. What is `a.args == b.args`?
#
# <details><summary><code>True</code>: both read the node <code>drop</code>.</summary>
#
# No. Each reads <em>its own</em> <code>drop</code>, and a node is equal only to itself.
# </details>
# <details><summary><code>False</code>, always.</summary>
#
# Right. So a comparison of <code>args</code> reports every node that reads another node. First replace the nodes in <code>args</code> by something that you can compare.
# </details>
# <details><summary>An error: nodes of two graphs cannot be compared.</summary>
#
# No. <code>==</code> works for all objects. Here it compares identities.
# </details>

# %% proof=true
a, b = (
    next(node for node in gm.graph.nodes if node.name == "relu")
    for gm in (before, copy.deepcopy(before))
)
assert a.args != b.args and str(a.args) == str(b.args)

# %% [markdown]
# `map_arg` (section 5.3) can replace each node by its name. One trap is left: a *string* among the arguments may equal a node's name.

# %%
graph = fx.Graph()
table, key = graph.placeholder("table"), graph.placeholder("key")
by_node = graph.call_function(operator.getitem, (table, key))
by_string = graph.call_function(operator.getitem, (table, "key"))
print(by_node.args, [map_arg(node.args, lambda n: n.name) for node in (by_node, by_string)])

# %% proof=true
as_names = [map_arg(node.args, lambda n: n.name) for node in (by_node, by_string)]
assert as_names[0] == as_names[1] and by_node.args != by_string.args

# %% [markdown]
# Here a pass removes the Dropout in a copy of `before`:

# %%
shorter = copy.deepcopy(before)
drop = next(node for node in shorter.graph.nodes if node.name == "drop")
drop.replace_all_uses_with(drop.args[0])
shorter.graph.erase_node(drop)
shorter.recompile()
print(shorter.code)

# %% [markdown]
# **Drill 09.6a.** Which nodes are in both graphs, `before` and `shorter`, but have another op, target, args or kwargs? Inputs are compared by name. Write the list of names.

# %% drill=true
touched = ["relu"]
drill("09.6a", touched)
# Mistake: A node's readers are not among these four.
# touched = ["norm", "relu"]

# %% [markdown] card="graph_diff"
# **Given** two graphs, each as a `GraphModule` or as a `Graph`.
#
# **Return** a dictionary with three lists of names of nodes:
#
# * `"added"`: the nodes that only the second has, in its order;
# * `"removed"`: the nodes that only the first has, in its order;
# * `"changed"`: the nodes that both have, but with another op, target, args or kwargs, in the order of the second.
#
# Nodes of the same name count as the same input. A string that equals a name is not a node.
#
# **Do not** trace again: names are those of the given graphs. **Do not** change them.
#
# **Fine print**
#
# * All kinds of nodes count, the output too. Arguments may be nested in any way.
# * Another order of the nodes alone, or another `meta`, changes nothing.
# * Never tested: equal numbers of another type, and a list instead of a tuple.

# %%
without_sine = fx.symbolic_trace(lambda x: torch.relu(x) * 2)
with_sine = copy.deepcopy(without_sine)
relu = next(node for node in with_sine.graph.nodes if node.name == "relu")
with with_sine.graph.inserting_after(relu):
    sine = with_sine.graph.call_function(torch.sin, (relu,))
relu.replace_all_uses_with(sine, delete_user_cb=lambda user: user is not sine)
with_sine.recompile()
# graph_diff(without_sine, with_sine) is {"added": ["sin"], "removed": [], "changed": ["mul"]}.
draw.diff(without_sine, with_sine)


# %% solve="graph_diff"
def graph_diff(
    before: fx.GraphModule | fx.Graph, after: fx.GraphModule | fx.Graph
) -> dict[str, list[str]]:
    """The names of the nodes in which two graphs differ.

    Args:
        before: the first graph.
        after: the second graph.
    """
    ### BEGIN SOLUTION

    def described(given: fx.GraphModule | fx.Graph) -> dict[str, tuple]:
        graph = given.graph if isinstance(given, fx.GraphModule) else given

        def plain(value: Any) -> Any:
            # With the type next to it, a string is never taken for a node's name.
            return map_arg(value, lambda node: (fx.Node, node.name))

        return {
            node.name: (node.op, node.target, plain(node.args), plain(node.kwargs))
            for node in graph.nodes
        }

    old, new = described(before), described(after)
    return {
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
        "changed": [name for name in new if name in old and new[name] != old[name]],
    }
    ### END SOLUTION


# %% check="graph_diff"
check(graph_diff)

# %% hint="graph_diff"
hint("graph_diff")

# %% uses="graph_diff"
print(graph_diff(without_sine, with_sine))
print(graph_diff(before, shorter))

# %% proof=true
assert graph_diff(without_sine, with_sine)["changed"] == ["mul"]
assert graph_diff(before, after) == {"added": [], "removed": [], "changed": ["relu"]}
assert graph_diff(before, shorter) == {"added": [], "removed": ["drop"], "changed": ["relu"]}

# %% [markdown]
# ## 9.7 Bugs that FX has today
#
# Each of these four is in today's PyTorch. If a cell below shows something else in your version, the bug is fixed.
#
# **A parameter called `inf` or `nan`.** The generated code calls the parameter `inf_1`, but only after its first line. In that line, and in each use of the *number* infinity, `inf` is the parameter.
# ([issue 198072](https://github.com/pytorch/pytorch/issues/198072))


# %%
class Limited(nn.Module):
    def forward(self, x, inf):
        return x.clamp(max=float("inf")) + inf


limited = fx.symbolic_trace(Limited())
print(limited.code)
x, three = torch.tensor([1.0, 5.0]), torch.tensor(3.0)
print("model:", Limited()(x, three), "code:", limited(x, three))

# %% proof=true
assert Limited()(x, three).tolist() == [4.0, 8.0]
assert limited(x, three).tolist() == [4.0, 6.0]  # clamped at 3
assert fx.Interpreter(limited).run(x, three).tolist() == [4.0, 8.0]  # the graph is right
assert limited.code.index("inf_1 = inf") < limited.code.index("max = inf")  # not `inf_1`
lost = fx.symbolic_trace(lambda x, nan: x + float("nan") + nan)
assert lost(x, three).tolist() == [7.0, 11.0]  # and not NaN

# %% [markdown]
# **A submodule called `class`.** `add_module` accepts words of Python such as `class`, `lambda` or `None`. FX writes them into its code, and Python cannot read it.
# ([issue 188538](https://github.com/pytorch/pytorch/issues/188538))


# %%
class Classy(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("class", nn.Linear(2, 2))

    def forward(self, x):
        return self.get_submodule("class")(x)


with fails(SyntaxError):
    fx.symbolic_trace(Classy())

# %% proof=true
assert len(fx.Tracer().trace(Classy()).nodes) == 3  # the graph alone can be made
for word in ("lambda", "None"):
    nn.Module().add_module(word, nn.ReLU())

# %% [markdown]
# **`pickle` turns an addition in place into another one.** FX writes `x += y` for a node that calls `operator.iadd`. Loading traces that line again, and a trace has no `+=`.
# ([issue 198077](https://github.com/pytorch/pytorch/issues/198077))

# %%
graph = fx.Graph()
x, y = graph.placeholder("x"), graph.placeholder("y")
graph.call_function(operator.iadd, (x, y))
graph.output(x)
adding = fx.GraphModule(nn.Module(), graph)
loaded = pickle.loads(pickle.dumps(adding))
totals = torch.zeros(2)
adding(totals[0], torch.ones(()))
loaded(totals[1], torch.ones(()))
print("written in place by the module and by its copy:", totals)

# %% proof=true
assert totals.tolist() == [1, 0]
assert operator.add in [node.target for node in loaded.graph.nodes]

# %% [markdown]
# **`pickle.dumps` changes the module that it stores, and stores something else.** If you forgot `recompile()`, `dumps` recompiles the module in memory. But the file has the old code.

# %%
stale = fx.symbolic_trace(lambda x: torch.relu(x))
stale.graph.find_nodes(op="call_function", target=torch.relu)[0].target = torch.sigmoid
minus = torch.tensor([-1.0])
old = stale(minus)
stored = pickle.dumps(stale)
print("before:", old, "after:", stale(minus), "in the file:", pickle.loads(stored)(minus))

# %% proof=true
assert old.item() == 0.0  # the code is old: relu
assert stale(minus).item() > 0.2  # now it is sigmoid
assert pickle.loads(stored)(minus).item() == 0.0  # and the file has relu

# %% [markdown]
# The comments of `print_readable` in section 9.1 are a fifth one. A graph and its *code* are two things.
# So compare three ways of running: the module, an Interpreter, and a loaded copy.


# %%
def three_ways(gm: fx.GraphModule, *args: Any) -> list[Any]:
    """The results of the code, of the graph, and of a stored copy, each on arguments of its own."""
    stored = pickle.loads(pickle.dumps(copy.deepcopy(gm)))
    runs = (gm, fx.Interpreter(gm).run, stored)
    return [run(*copy.deepcopy(args)) for run in runs]


three_ways(limited, torch.tensor([1.0, 5.0]), three)

# %% proof=true
by_code, by_graph, by_copy = three_ways(limited, torch.tensor([1.0, 5.0]), three)
assert by_code.tolist() == by_copy.tolist() == [4.0, 6.0] != by_graph.tolist()

# %% [markdown]
# In the deep dive 9b you look for such mistakes yourself: you get wrong passes, and write the models that show it.

# %% [markdown]
# ## 9.8 Four passes, one mistake
#
# Here are GoogLeNet and the other team's four passes. (In `float64`, so that rounding cannot be the reason.)


# %%
def calls_of(gm: fx.GraphModule, kind: type[nn.Module]) -> list[fx.Node]:
    """The nodes that call a module of this type."""
    calls = gm.graph.find_nodes(op="call_module")
    return [node for node in calls if type(gm.get_submodule(node.target)) is kind]


def drop_dropout(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    for node in calls_of(gm, nn.Dropout):
        node.replace_all_uses_with(node.args[0])
        gm.graph.erase_node(node)
    gm.recompile()
    return gm


def plain_relu(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    for node in gm.graph.find_nodes(op="call_function", target=F.relu):
        node.target, node.kwargs = torch.relu, {}
    gm.recompile()
    return gm


def fold_norms(model: nn.Module, shift: bool = False) -> fx.GraphModule:
    gm = copy.deepcopy(fx.symbolic_trace(model))
    for node in calls_of(gm, nn.BatchNorm2d):
        norm, before = gm.get_submodule(node.target), node.args[0]
        conv = gm.get_submodule(before.target)
        factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        conv.weight = nn.Parameter(conv.weight * factor[:, None, None, None])
        if shift:
            conv.bias = nn.Parameter(norm.bias - norm.running_mean * factor)
        node.replace_all_uses_with(before)
        gm.graph.erase_node(node)
    gm.recompile()
    return gm


def tidy(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    gm.graph.eliminate_dead_code()
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


PASSES = [drop_dropout, plain_relu, fold_norms, tidy]


def an_image(seed: int) -> tuple:
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(1, 3, 64, 64, generator=generator, dtype=torch.float64),)


torch.manual_seed(0)
network = googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10)
network = network.double().eval()
folded_network = network
for one_pass in PASSES:
    folded_network = one_pass(folded_network)
with torch.no_grad():
    gap = distance(folded_network(*an_image(0)), network(*an_image(0)))
    two_images = distance(network(*an_image(0)), network(*an_image(1)))
print(f"{len(fx.symbolic_trace(network).graph.nodes)} nodes, now {len(folded_network.graph.nodes)}")
print(f"the other team's test: {gap:.0e}; two different images: {two_images:.0e}")
with fails(VacuousComparison):
    assert_same_results(folded_network, network, *an_image(0))

# %% proof=true
assert gap < 1e-14 and two_images < 1e-3

# %% [markdown]
# That is their test: new weights, and no difference. But two *different images* hardly differ either: in a deep network with new weights,
# almost nothing of the image reaches the end. `assert_same_results` of this course tries other inputs first, and raises `VacuousComparison`:
# this comparison cannot fail. Your first tool gives the network better weights:

# %% uses="randomize_"
trained = randomize_(copy.deepcopy(network), 9)
result = trained
for one_pass in PASSES:
    result = one_pass(result)
with torch.no_grad():
    gap = distance(result(*an_image(0)), trained(*an_image(0)))
print(f"with other weights: {gap:.1%}")

# %% proof=true
assert gap > 0.005

# %% [markdown]
# Some percent or more, by your `randomize_`, and `float64` should give 15 equal digits. (In a deep network these weights make all values large, so the missing shift is a small part.)
#
# Which pass? Your second and third tools know. (In train mode `drop_dropout` makes a difference, and that is intended.)

# %% uses="first_bad_pass"
index = first_bad_pass(trained, PASSES, an_image)
print(index, PASSES[index].__name__)
with_new_weights = first_bad_pass(network, PASSES, an_image)
print("with new weights:", with_new_weights)

# %% proof=true
assert PASSES[index] is fold_norms and with_new_weights is None

# %% uses="equivalent"
in_both_modes = equivalent(trained, drop_dropout(trained), an_image, trials=1)
in_both_modes

# %% proof=true
assert not in_both_modes

# %% [markdown]
# What did it do? The fourth tool: all BatchNorms are gone, and nothing replaces them.

# %% uses="graph_diff"
good = plain_relu(drop_dropout(trained))
changes = graph_diff(good, fold_norms(good))
print({kind: len(names) for kind, names in changes.items()}, changes["removed"][:3])

# %% proof=true
assert len(changes["removed"]) == 57 and not changes["added"]
assert all(name.endswith("bn") for name in changes["removed"])

# %% [markdown]
# 57 norms are removed, and 57 ReLUs now read a convolution. A convolution here has no bias, so where is the shift of the norm?
# It is lost, and in a new network it is zero. With the two marked lines in `fold_norms`, everything is right:

# %%
repaired = functools.partial(fold_norms, shift=True)
display(draw(drop_dropout(network.conv1), title="a convolution, its norm and its ReLU"))
draw(repaired(network.conv1), title="the norm is folded")

# %% uses="first_bad_pass"
still_bad = first_bad_pass(trained, [drop_dropout, plain_relu, repaired, tidy], an_image)
print(still_bad)
error = assert_same_results(repaired(plain_relu(drop_dropout(trained))), trained, *an_image(0))
print(f"the difference now: {error:.0e}")

# %% proof=true
assert still_bad is None

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (4 minutes)
#
# ### One seed, set before two runs

# %%
torch.manual_seed(0)
first, second = F.dropout(torch.ones(50)), F.dropout(torch.ones(50))
print(torch.equal(first, second))

# %% proof=true
assert not torch.equal(first, second)  # the state has moved on

# %% [markdown]
# **Right:** set the seed before *each* of the two runs.
#
# ### `eval()` on the result is `eval()` on the model
#
# A trace shares its submodules. So the comparison itself changes the model that you were given:

# %%
model = Before().train()
gm = fx.symbolic_trace(model)
gm.eval()
print(model.training, model.drop.training)

# %% proof=true
assert model.training and not model.drop.training  # half and half

# %% [markdown]
# **Right:** compare copies, or note the mode of each module and put it back.
#
# ### A negative variance
#
# Random numbers for *every* buffer, and the model returns NaN. With `equal_nan=True`, everything is equal then:

# %%
norm = nn.BatchNorm1d(3).eval()
norm.running_var.fill_(-1.0)
result = norm(torch.randn(2, 3))
torch.testing.assert_close(result, torch.relu(result * 7), equal_nan=True)  # NaN equals NaN
print(result)

# %% proof=true
assert result.isnan().all()

# %% [markdown]
# **Right:** variances are positive. And test once that your test *can* fail.
#
# ### Sets of nodes
#
# The order of a `set` of nodes depends on their addresses in memory. A pass that walks through one may do something else in each process, and then you cannot repeat a failure.
# `dict.fromkeys(nodes)` has no duplicates either, and keeps the order:

# %%
nodes = list(before.graph.nodes)
print(list(dict.fromkeys(nodes + nodes)))

# %% proof=true
assert list(dict.fromkeys(nodes + nodes)) == nodes
assert fx.Node.__hash__ is object.__hash__  # the order of a `set` depends on this: the address

# %% [markdown]
# ### A lambda in a graph
#
# It runs, but it cannot be stored:

# %%
doubled = copy.deepcopy(halved)
doubled.graph.find_nodes(op="call_function", target=halve)[0].target = lambda value: value * 2
doubled.recompile()
with fails(torch.package.importer.ObjNotFoundError):
    pickle.dumps(doubled)

# %% [markdown]
# **Right:** a function with a name, in a module that can be imported.

# %% [markdown]
# ## Recap
#
# 1. `gm.code` is what runs. Tracebacks and pdb show it, and it can be pasted. `to_folder` writes it, for one place and for `float32` layers.
# 2. `pickle` stores code and traces it again. `deepcopy` copies the graph. For weights, use a `state_dict`.
# 3. New weights hide mistakes: 0 and 1 are neutral. Test with random ones, and with positive variances.
# 4. The same means: result *and* effects, train *and* eval, one seed, one state. And the models stay unchanged.
# 5. After each pass, compare with a copy that no pass can reach. Then look at the nodes that it changed, by name.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `gm.print_readable(print_output=False)` | the class as text, with nested modules |
# | `pdb.runcall(gm.forward, x)` | steps through generated code |
# | `gm.to_folder(folder, name)` | writes a package with the code and the weights |
# | `torch.load(file, weights_only=False)` | reads a stored graph module, which is traced again |
# | `torch.Generator().manual_seed(n)` | a random state of its own |
# | `pytree.tree_structure(value)` | the nesting alone |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | models that show what is wrong with a pass | the deep dive 9b |
# | from each node to the line of source code that wrote it | the deep dive 9c |
# | BatchNorm folding with all its edge cases, and whether it is worth it | chapter 10 |
# | `torch.export`, `TORCH_LOGS`, and the minifier of `torch.compile` | chapter 11 |
# | pipelines of passes, checked after each | chapter 12 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), section *Debugging*, and
# [torch.testing](https://docs.pytorch.org/docs/stable/testing.html).
# [Serialization semantics](https://docs.pytorch.org/docs/stable/notes/serialization.html) says what `weights_only` allows.
