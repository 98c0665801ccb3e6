# %% [markdown]
# # 9c · From a node back to source code
#
# *The line that wrote a node*
#
# **After this part you can find the source line of each operation of a graph, and make a failing graph small enough to understand.**
#
# | | |
# |---|---|
# | **You need** | chapters 1, 3 and 6 |
# | **Time** | about 85 minutes, 40 of them for the exercises |
# | **Deep dive** | No later chapter needs it |
#
# **When you are done, you can**
#
# 1. read the call stack while a node is made;
# 2. tell lines of the model from lines of torch and of your own tool;
# 3. write a tracer whose notes belong to one trace only;
# 4. say why the innermost line is the one you want, and when it surprises you;
# 5. minimize a failing graph: remove call after call, as long as it still fails;
# 6. say which modules such a search may test, and why dead code may be the culprit.

# %% [markdown]
# ## A story
#
# A pass of the other team breaks GoogLeNet, and `graph_diff` of chapter 9 gives you names: `inception3b_branch3_1_conv` and 56 others.
# The people who wrote the model do not know these names. They know files and lines.
#
# Section 6.5 found such lines in the text of `node.stack_trace`. But its innermost lines are those of FX itself (section 9.1).
# Here you look at the call stack directly. Section 9c.3 then answers the other team.
#
# They return with a second pass. It breaks GoogLeNet's graph, and 199 nodes are too many to read. Sections 9c.4 and 9c.5 leave three calls.

# %%
import copy
import inspect
import io
import os
import sys
import traceback
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path

import torch
from torch import fx, nn
from torchvision.models import googlenet

from autograder import check, draw, drill, fails, hint, progress

print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the number.** A `forward` calls `print("here")`. You trace the model once, and call the trace three times. How often does it print?
#
# <details><summary>4 times</summary>
#
# No. The trace runs generated code, and no line of the model's <code>forward</code>.
# </details>
# <details><summary>3 times</summary>
#
# No. <code>print</code> meets no Proxy, so the generated code does not have it.
# </details>
# <details><summary>Once</summary>
#
# Right. The model's own lines run while you trace, and then never again (chapter 1). So that is the time to ask which line makes a node.
# </details>


# %% proof=true
class Says(nn.Module):
    def forward(self, x):
        print("here")
        return x + 1


with redirect_stdout(io.StringIO()) as said:
    says = fx.symbolic_trace(Says())
    for _ in range(3):
        says(torch.ones(2))
assert said.getvalue() == "here\n"

# %% [markdown]
# **Predict the result.** The node `exp` is read by `add`. You call `gm.graph.erase_node(exp)`. What happens?
#
# <details><summary><code>add</code> is erased, too.</summary>
#
# No. FX erases one node, the one that you name.
# </details>
# <details><summary>An error.</summary>
#
# Right. A node that is read cannot be erased. First give its readers something else to read (chapter 3). Section 9c.4 does that again and again.
# </details>
# <details><summary><code>add</code> reads <code>None</code> from now on.</summary>
#
# No. Such a graph would be broken, and FX does not make it.
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x: torch.exp(x) + 1)
x, exp, add, _ = gm.graph.nodes
with fails(RuntimeError):
    gm.graph.erase_node(exp)
exp.replace_all_uses_with(x)
gm.graph.erase_node(exp)
assert add.all_input_nodes == [x]

# %% [markdown]
# ## 9c.1 Who is running?
#
# While a function runs, Python keeps a *frame* for it: its code, its line, its variables, and `f_back`, the frame of its caller.
# All of them together are the call stack. A traceback is a printed call stack.


# %%
def callers() -> list[tuple[str, int]]:
    """The names of all running functions, innermost first, each with its line."""
    found, frame = [], sys._getframe(1)
    while frame is not None:
        found.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return found


def outer():
    return inner()


def inner():
    return callers()


print(outer()[:3])

# %% proof=true
assert [name for name, _ in outer()[:2]] == ["inner", "outer"]

# %% [markdown]
# `f_lineno` is the line that is running *now*. `f_code.co_firstlineno` is the line of the `def`.
# `f_code.co_filename` is the file name that the compiler got. In a notebook, no such file exists:

# %%
frame = sys._getframe()
print(os.path.basename(frame.f_code.co_filename), frame.f_lineno)

# %% proof=true
here = sys._getframe().f_code.co_filename
assert here == traceback.extract_stack()[-1].filename and not os.path.exists(here)

# %% [markdown]
# A node is made in the middle of your model's `forward`. At that moment the line that asks for it is on the stack.
# Each node, of any opcode, passes through the tracer's method `create_node`:


# %%
class Shows(fx.Tracer):
    """Print the stack when a node of this name is made."""

    wanted = "relu"

    def create_node(self, *args, **kwargs):
        node = super().create_node(*args, **kwargs)
        if node.name == self.wanted:
            for name, line in callers()[:9]:
                print(f"{name:22} line {line}")
        return node


def activated(x):
    return torch.relu(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        hidden = activated(self.layer(x))
        return hidden * 2


graph = Shows().trace(Model())

# %% proof=true
assert [node.name for node in graph.nodes] == ["x", "layer", "relu", "mul", "output"]

# %% [markdown]
# From the top: the tracer's own method, functions of FX, then `activated`, then `forward`, then FX again.
#
# **Predict the place.** Which line *wrote* the node `relu`?
#
# <details><summary>The line in <code>forward</code>.</summary>
#
# That line asked for the call of <code>activated</code>. It is useful as well, but many nodes of a big model share it.
# </details>
# <details><summary>The line in <code>activated</code>.</summary>
#
# Right. It is the innermost line outside torch, and the operation is written there.
# </details>
# <details><summary>The line in <code>create_node</code>.</summary>
#
# That is the innermost line of all, and it is the same for every node: it belongs to the tool.
# </details>

# %% [markdown]
# ## 9c.2 Whose line is it?
#
# So the rule is: walk outwards, past torch and past your tool, and take the first frame that is left. Two questions remain.
#
# **What is torch?** All files of the package are in one folder. "The path contains `torch`" is another condition:

# %%
FOLDER = torch.__path__[0] + os.sep
vision = sys.modules["torchvision"].__path__[0] + os.sep
print(Path(FOLDER).name, Path(vision).name)

# %% proof=true
assert nn.Linear.forward.__code__.co_filename.startswith(FOLDER)
assert nn.Sequential.forward.__code__.co_filename.startswith(FOLDER)
assert "torch" in vision and not vision.startswith(FOLDER)

# %% [markdown]
# `nn.Sequential` is in that folder, too. So its children belong to the line that calls the Sequential.
#
# The character `os.sep` at the end matters:

# %%
paths = {
    "a": FOLDER + "nn/functional.py",
    "b": vision + "ops/misc.py",
    "c": "/home/me/torch/model.py",
    "d": "<eval_with_key>.7",
}

# %% [markdown]
# **Drill 09c.2a.** For which paths is `path.startswith(torch.__path__[0])` true, without `os.sep`? Assume that torch and torchvision are installed in the same folder. Write the list of keys, in alphabetical order.

# %% drill=true
wrongly = [key for key, path in paths.items() if path.startswith(torch.__path__[0])]
drill("09c.2a", wrongly)
# Mistake: The name of torchvision's folder begins with the name of torch's.
# wrongly = ["a"]

# %% [markdown]
# **What is your tool?** Not "this file": in a notebook or a small script, the model may be in the same file. Your tool is *code* that you can name:
# `frame.f_code is MyTracer.create_node.__code__`.
#
# **Predict the stack.** `size = x.shape`, and two lines later `y.reshape(size)`. When is the node for `x.shape` made?
#
# <details><summary>When <code>x.shape</code> runs.</summary>
#
# No. FX does not know yet whether <code>x.shape</code> is a value, or the beginning of a method call such as <code>x.view(...)</code>.
# </details>
# <details><summary>When <code>reshape</code> runs, before the node <code>reshape</code>.</summary>
#
# Right. An attribute becomes a node when it is used. So it belongs to the line with <code>reshape</code>. It is made inside <code>create_proxy</code> of <code>reshape</code>: if your tracer overrides that method, its frame is on the stack twice.
# </details>
# <details><summary>At the end of the trace.</summary>
#
# No. A node that is read must come before its reader.
# </details>


# %% proof=true
class Noted(fx.Tracer):
    """Record in which order proxies are begun and finished."""

    def create_proxy(self, kind, target, *args, **kwargs):
        self.log.append(f"begin {getattr(target, '__name__', target)}")
        proxy = super().create_proxy(kind, target, *args, **kwargs)
        self.log.append(f"end {getattr(target, '__name__', target)}")
        return proxy


def resized(x):
    size = x.shape
    y = x + 1
    return y.reshape(size)


tracer = Noted()
tracer.log = []
tracer.trace(resized)
print(tracer.log)
assert tracer.log[4:8] == ["begin reshape", "begin getattr", "end getattr", "end reshape"]


# %%
def scaled(x):
    return x * 2


def reshaped(y, size):
    return y.reshape(size)


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Tanh())

    def forward(self, x):
        size = x.shape
        return reshaped(scaled(self.body(x)), size)


print([node.name for node in fx.symbolic_trace(Steps()).graph.nodes])

# %% proof=true
names = [node.name for node in fx.symbolic_trace(Steps()).graph.nodes]
assert names == ["x", "body_0", "mul", "getattr_1", "reshape", "output"]

# %% [markdown]
# **Drill 09c.2b.** Apply the rule to `body_0`, `mul`, `getattr_1` and `reshape`: in which function is the line of each? Write the list of four function names, as strings, in this order.

# %% drill=true
functions = ["forward", "scaled", "reshaped", "reshaped"]
drill("09c.2b", functions)
# Mistake: `forward` reads the attribute, but its node is made later.
# functions = ["forward", "scaled", "forward", "reshaped"]

# %% [markdown] card="source_of"
# **Given** a model.
#
# **Return** a dictionary: for each call node (`call_function`, `call_method`, `call_module`) of its trace, in the order of the graph, its name and a tuple `(file, line)`.
#
# * It is the innermost line outside the package torch that was running when the node was made.
# * `nn.Sequential` belongs to torch: its children have the line that calls it.
# * The lines of your own tracer do not count, wherever they are on the stack. A model may be written in the same file as your tracer.
# * Two calls of `source_of` do not affect each other.
#
# **Fine print**
#
# * The file is the one that the code object has. The line is the one that a traceback shows.
# * Helpers, lambdas and other packages such as torchvision count like the model's own lines.
# * The model is never a `GraphModule`.


# %%
class Example(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def forward(self, x):
        x = self.body(x)
        return clipped(x) + 1


def clipped(x):
    return torch.relu(x)


# Both children of `body` have line 7 of this cell, `add` has line 8, and `relu` has line 12.
draw(Example())


# %% solve="source_of"
def source_of(model: nn.Module) -> dict[str, tuple[str, int]]:
    """File and line of each call in the trace of a model.

    Args:
        model: the module to trace.
    """
    ### BEGIN SOLUTION
    folder = torch.__path__[0] + os.sep
    found: dict[str, tuple[str, int]] = {}

    class Sources(fx.Tracer):
        def create_node(self, kind, *args, **kwargs):
            node = super().create_node(kind, *args, **kwargs)
            if kind.startswith("call_"):
                frame = sys._getframe()
                while is_tool(frame) or frame.f_code.co_filename.startswith(folder):
                    frame = frame.f_back
                found[node.name] = (frame.f_code.co_filename, frame.f_lineno)
            return node

    def is_tool(frame) -> bool:
        return frame.f_code is Sources.create_node.__code__

    Sources().trace(model)
    return found
    ### END SOLUTION


# %% check="source_of"
check(source_of)

# %% hint="source_of"
hint("source_of")

# %% [markdown]
# ## 9c.3 The answer for the other team
#
# A few lines of code make the 199 nodes of GoogLeNet:

# %% uses="source_of"
network = googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10).eval()
places = source_of(network)
lines = Counter((Path(file).name, line) for file, line in places.values())
for (file, line), count in lines.most_common(4):
    print(f"{count:4} nodes  {file}:{line}")

norms = {places[name] for name in places if name.endswith("_bn")}
convs = {places[name] for name in places if name.endswith("_conv")}
print("all norms:", {(Path(file).name, line) for file, line in norms})

# %% proof=true
steps = source_of(Steps())
first = {f.__name__: f.__code__.co_firstlineno for f in (scaled, reshaped, Steps.forward)}
assert [
    max((n for n in first if first[n] <= line), key=first.get) for _, line in steps.values()
] == functions
assert {file for file, _ in lines} == {"googlenet.py"}
assert len(norms) == 1 and len(convs) == 1
assert "inception3b_branch3_1_conv" in places
assert sum(name.endswith("_conv") for name in places) == 57

# %% [markdown]
# All 57 norms are *one* line of torchvision, in the class `BasicConv2d`. The graph has 57 places, and its author has one. That is the line to send to the other team.

# %% proof=true
assert type(network.conv1).__name__ == "BasicConv2d"
assert [node.name for node in fx.symbolic_trace(network.conv1).graph.nodes][1:3] == ["conv", "bn"]

# %% [markdown]
# ## 9c.4 A small graph that still fails
#
# You have a graph, and a question with the answer "yes, it is bad": a pass raises on it, the result has a NaN, a number is wrong.
# You *minimize* the graph when you remove all that the failure does not need. A program does it:
#
# 1. remove something from a copy;
# 2. is it still bad? Then continue with the copy. If not, drop the copy;
# 3. end when no single attempt succeeds.
#
# You do not have to understand the failure. Each kept copy is smaller and fails, so the search ends with a graph that fails.
# The idea is called *delta debugging* (Zeller and Hildebrandt, 2002). A result from which no single part can be removed is *1-minimal*. A smaller one may exist: to find the smallest of all, you would have to try all subsets.
#
# PyTorch has such a tool, too. `TORCHDYNAMO_REPRO_AFTER` switches the *minifier* of `torch.compile` on. Its core for FX graphs is `functorch.compile.minifier`.
# It is internal, and it may also change the inputs. Yours will keep them.

# %% proof=true
from functorch.compile import minifier
from torch._dynamo import config

assert minifier.__module__ == "torch._functorch.fx_minifier"
assert "delta debugging" in minifier.__doc__.lower()
settings = inspect.getsource(config)
assert 'repro_after = os.environ.get("TORCHDYNAMO_REPRO_AFTER", None)' in settings

# %% [markdown]
# What is one step in a graph? A call without readers can be erased. The readers of any other call need a replacement for it: one of its own inputs.
# Here are two attempts, on a model whose logarithm gives a NaN:


# %%
class Suspicious(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x):
        a = torch.exp(x)
        b = torch.log(x * self.scale)
        return torch.add(torch.tanh(a), b)


VALUE = torch.tensor([-1.0, 3.0])
failing = fx.symbolic_trace(Suspicious())


def gives_nan(gm):
    return bool(gm(VALUE).isnan().any())


def without(gm, name, place):
    """A new module in which the readers of a node read one of its inputs."""
    graph = copy.deepcopy(gm.graph)
    node = next(node for node in graph.nodes if node.name == name)
    node.replace_all_uses_with(node.all_input_nodes[place])
    graph.erase_node(node)
    return fx.GraphModule(gm, graph)


for place in (0, 1):
    attempt = without(failing, "add", place)
    print("still bad:", gives_nan(attempt), attempt.code)

# %% proof=true
assert gives_nan(failing)
assert not gives_nan(without(failing, "add", 0)) and gives_nan(without(failing, "add", 1))

# %% [markdown]
# With the first input of `add` the failure is gone, so drop this copy. With the second one it stays, so keep it. No node reads `tanh` now: a later step can erase it, and then `exp`.
#
# `fx.GraphModule(gm, graph)` generates the code again and shares the parameters. So `bad` gets a complete, correct module each time. It may run the module, copy it, or look at its graph. It must never see a half-edited one.
#
# **Predict the attempt.** In the kept copy above, what happens if `mul` is removed, and `log` reads its first input?
#
# <details><summary>It is not bad any more: the scale was needed.</summary>
#
# No. The scale is positive. The sign of <code>x</code> decides whether <code>log</code> gives a NaN.
# </details>
# <details><summary>It stays bad, and a <code>get_attr</code> node is left that has no reader.</summary>
#
# Right. Such a node computes nothing. Remove it at the end.
# </details>
# <details><summary>It raises, because <code>self.scale</code> is gone.</summary>
#
# No. The parameter belongs to the module, and the node that reads it is still there.
# </details>

# %% proof=true
smaller = without(without(failing, "add", 1), "mul", 0)
assert gives_nan(smaller)
assert "get_attr" in [node.op for node in smaller.graph.nodes if not node.users]

# %% [markdown]
# **Drill 09c.4a.** Each attempt removes one of `exp`, `mul`, `log` and `tanh` from `failing`, and its readers read its *first* input. After which attempts is the copy still bad? Write the list of the removed names, in this order.

# %% drill=true
removable = [n for n in ("exp", "mul", "log", "tanh") if gives_nan(without(failing, n, 0))]
drill("09c.4a", removable)
# Mistake: The first entry of `VALUE` is negative, with or without the scale.
# removable = ["exp", "tanh"]

# %% [markdown]
# A failure may also be an effect:


# %%
def noisy(x):
    x.add_(1)
    return torch.sin(x)


def changes_its_argument(gm):
    x = torch.zeros(2)
    gm(x)
    return bool(x.any())


dirty = fx.symbolic_trace(noisy)
changes_its_argument(dirty)

# %% [markdown]
# **Predict the reason.** Why not call `eliminate_dead_code` after each step? Think of `changes_its_argument` as `bad`.
#
# <details><summary>It would be slow.</summary>
#
# No. It is one walk through the graph.
# </details>
# <details><summary>It removes calls in place without readers, and such a call may be the culprit.</summary>
#
# Right. For FX, <code>x.add_(1)</code> is a method call without readers. The failure goes with it.
# </details>
# <details><summary>It removes inputs.</summary>
#
# It keeps placeholders. They count as impure.
# </details>

# %% proof=true
swept = fx.symbolic_trace(noisy)
swept.graph.eliminate_dead_code()
swept.recompile()
assert changes_its_argument(dirty) and not changes_its_argument(swept)
assert [node.op for node in swept.graph.nodes] == ["placeholder", "call_function", "output"]

# %% [markdown] card="minimize"
# **Given** a `GraphModule` and a function `bad` that takes a `GraphModule` and returns `True` or `False`.
#
# **Return** a new module on which `bad` is still true, and from which no single call node can be removed. To remove
#
# * a call that is read: all its readers read one of its inputs instead, whichever;
# * a call without readers: erase it. `bad` may need such calls.
#
# At the end, `get_attr` nodes without readers and modules that nothing calls are gone.
#
# * Ask `bad` only about well-formed modules with the same signature.
# * If `bad(gm)` is false, raise `ValueError`. `gm` stays unchanged.
#
# **Fine print**
#
# * Call nodes are `call_function`, `call_method` and `call_module`. Any such module will do; it need not be the smallest of all.
# * Nothing else is changed. Placeholders, the structure of the output and the order of the nodes stay, and parameters are shared. What is left was there before.
# * If `bad` raises, that counts as false. `bad` changes nothing.

# %%
graph = fx.Graph()
entry = graph.placeholder("x")
graph.output(graph.call_function(torch.log, (entry,)))
given = fx.symbolic_trace(lambda x: torch.tanh(torch.log(x * 2)))
# Here `bad` says whether -1 gives a NaN. The NaN needs one call.
draw.diff(given, fx.GraphModule({}, graph))


# %% solve="minimize"
def minimize(gm: fx.GraphModule, bad) -> fx.GraphModule:
    """The module without all calls that a failure does not need.

    Args:
        gm: a module that is bad.
        bad: says of a module whether it is.
    """
    ### BEGIN SOLUTION
    if not still_bad(bad, gm):
        raise ValueError("this module is not bad")
    graph = copy.deepcopy(gm.graph)
    found = True
    while found:
        found = False
        for name in [node.name for node in reversed(graph.nodes) if node.op.startswith("call_")]:
            for smaller in attempts(graph, name):
                if still_bad(bad, fx.GraphModule(gm, smaller)):
                    graph, found = smaller, True
                    break
    for node in list(graph.nodes):
        if node.op == "get_attr" and not node.users:
            graph.erase_node(node)
    return fx.GraphModule(gm, graph)
    ### END SOLUTION


### BEGIN SOLUTION
def still_bad(bad, gm: fx.GraphModule) -> bool:
    """The answer of `bad`; an exception counts as false."""
    try:
        return bool(bad(gm))
    except Exception:
        return False


def attempts(graph: fx.Graph, name: str):
    """Copies of a graph without a call: one for each input that its readers may read."""
    node = next(node for node in graph.nodes if node.name == name)
    for place in range(len(node.all_input_nodes)) if node.users else [None]:
        smaller = copy.deepcopy(graph)
        twin = next(node for node in smaller.nodes if node.name == name)
        if place is not None:
            twin.replace_all_uses_with(twin.all_input_nodes[place])
        smaller.erase_node(twin)
        yield smaller


### END SOLUTION

# %% check="minimize"
check(minimize)

# %% hint="minimize"
hint("minimize")

# %% [markdown]
# ## 9c.5 Three nodes of GoogLeNet
#
# The other team wants to run convolutions together that read the same value. Their pass begins by moving them next to each other:


# %%
def side_by_side(gm: fx.GraphModule) -> fx.GraphModule:
    """Move convolutions that read the same value in front of the last of them."""
    work = fx.GraphModule(gm, copy.deepcopy(gm.graph))
    for value in list(work.graph.nodes):
        convs = [user for user in value.users if str(user.target).endswith("conv")]
        for conv in convs[:-1]:
            convs[-1].prepend(conv)
    return work


def breaks_the_graph(gm: fx.GraphModule) -> bool:
    try:
        side_by_side(gm).graph.lint()
    except RuntimeError:
        return True
    return False


whole = fx.symbolic_trace(network)
with fails(RuntimeError):
    side_by_side(whole).graph.lint()

# %% [markdown]
# The message names one node of 199, and not the reason. So minimize. This takes about ten seconds:

# %% uses="minimize"
small = minimize(whole, breaks_the_graph)
calls = [node for node in small.graph.nodes if node.op.startswith("call_")]
draw(small, title="what is left of GoogLeNet")

# %% proof=true
assert breaks_the_graph(small) and len(calls) == 3

# %% [markdown]
# Three calls are left: two convolutions of one value, and between them a call that reads the first. The pass moves the first one below its own reader. You see that without knowing GoogLeNet.
#
# The fix: all of them can be together right after the value that they read. Names are kept, so `source_of` gives you the line of these convolutions:


# %% uses="source_of"
def after_the_value(gm: fx.GraphModule) -> fx.GraphModule:
    work = fx.GraphModule(gm, copy.deepcopy(gm.graph))
    for value in list(work.graph.nodes):
        convs = [user for user in value.users if str(user.target).endswith("conv")]
        for conv in reversed(convs):
            value.append(conv)
    work.graph.lint()
    work.recompile()
    return work


repaired = after_the_value(whole)
moved = [node.name for node in small.graph.nodes if node.name.endswith("_conv")]
print({name: (Path(places[name][0]).name, places[name][1]) for name in moved})

# %% proof=true
image = torch.rand(1, 3, 64, 64)
assert torch.equal(repaired(image), whole(image))
assert moved and {places[name] for name in moved} == convs

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (7 minutes)
#
# ### The dictionary belongs to the class


# %%
class Shared(fx.Tracer):
    found: dict[str, int] = {}  # made once, for all traces

    def create_node(self, *args, **kwargs):
        node = super().create_node(*args, **kwargs)
        self.found[node.name] = sys._getframe(1).f_lineno
        return node


Shared().trace(Model())
second = Shared()
second.trace(Steps())
print(second.found)

# %% proof=true
assert "layer" in second.found  # a node of the first model

# %% [markdown]
# **Right:** make it in `__init__`, or inside the function.
#
# ### The line of the `def`

# %%
code = Model.forward.__code__
print(code.co_firstlineno, sorted({line for _, _, line in code.co_lines() if line}))

# %% proof=true
assert code.co_firstlineno < max(line for _, _, line in code.co_lines() if line)

# %% [markdown]
# **Right:** `frame.f_lineno` is the line that runs.
#
# ### A name without a file becomes a path
#
# The code of a `GraphModule` is in no file. With `abspath` it looks as if it were:

# %%
invented = dirty.forward.__code__.co_filename
print(invented[:16], "…", os.path.isabs(os.path.abspath(invented)))

# %% proof=true
assert invented.startswith("<eval_with_key>") and os.path.abspath(invented) != invented

# %% [markdown]
# **Right:** keep the file as the code object has it.
#
# ### A module that shares the graph

# %%
given = fx.symbolic_trace(noisy)
alias = fx.GraphModule(given, given.graph)
print(alias.graph is given.graph)  # an edit of one is an edit of the other

# %% proof=true
assert alias.graph is given.graph

# %% [markdown]
# **Right:** `fx.GraphModule(gm, copy.deepcopy(gm.graph))`. The graph is copied, the parameters are shared.
#
# ### One round is enough


# %%
def depends(gm):
    """A failure that needs `cos`, and needs `tanh` as long as there is a `sigmoid`."""
    names = {node.name for node in gm.graph.nodes}
    return "cos" in names and ("tanh" in names or "sigmoid" not in names)


chain = fx.symbolic_trace(lambda x: torch.cos(torch.sigmoid(torch.tanh(x))))
later = without(chain, "sigmoid", 0)
print("first tanh:", depends(without(chain, "tanh", 0)))
print("first sigmoid, then tanh:", depends(without(later, "tanh", 0)))

# %% proof=true
assert not depends(without(chain, "tanh", 0))
assert depends(later) and depends(without(later, "tanh", 0))

# %% [markdown]
# **Right:** go through all calls again, until a whole round finds nothing.
#
# ### The code is old

# %%
edited = fx.symbolic_trace(noisy)
for node in list(edited.graph.nodes):
    if node.target == "add_":
        edited.graph.erase_node(node)
before = changes_its_argument(edited)  # `bad` has run the old code
edited.recompile()
print(before, changes_its_argument(edited))

# %% proof=true
assert before and not changes_its_argument(edited)

# %% [markdown]
# **Right:** make a new `GraphModule` for each attempt, or call `recompile()` before each question.

# %% [markdown]
# ## Recap
#
# 1. While a node is made, the line that asks for it is on the call stack.
# 2. Walk outwards, past torch (by its folder) and past your own tool (by its code).
# 3. An attribute becomes a node when it is used.
# 4. To minimize: remove one call of a copy, ask, keep the copy or drop it; round after round.
# 5. Ask only about complete modules. Dead code may be the culprit.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `sys._getframe()`, `frame.f_back` | the frame that runs, and its caller's frame |
# | `frame.f_lineno`, `frame.f_code.co_filename` | the line that runs, and its file |
# | `def create_node(self, kind, …)` | a method of `fx.Tracer`: every node passes through it |
# | `fx.GraphModule(gm, copy.deepcopy(gm.graph))` | another module with the same parameters and a graph of its own |
# | `node.replace_all_uses_with(other)`, `graph.erase_node(node)` | remove a node |
# | `node.all_input_nodes` | what a node reads, each once |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | sources in graphs of `torch.export` | chapter 11 |
# | the minifier of `torch.compile` | PyTorch's page *Troubleshooting torch.compile* |

# %% [markdown]
# ## Where to go from here
#
# The track *Testing and reviewing passes* ends here. Next, let random models test a pass of your own:
# write it to a file, and run `fxcourse hunt file.py:your_pass` in a terminal.
# The track *Compilers and backends* begins with chapter 4.
