# %% [markdown]
# # 9c · The line that wrote a node
#
# **After this part you can say, for each operation of a graph, in which file and line it was written.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 and 6; this part is optional, and no later chapter needs it |
# | **Time** | about 35 minutes, 15 of them for the exercise |
#
# **When you are done, you can**
#
# 1. read the call stack while a node is made;
# 2. tell lines of the model from lines of torch and of your own tool;
# 3. write a tracer whose notes belong to one trace only;
# 4. say why the innermost line is the one you want, and when it surprises you.

# %% [markdown]
# ## A story
#
# A pass of the other team breaks GoogLeNet, and `graph_diff` gives you names: `inception3b_branch3_1_conv` and 56 others.
# The people who wrote the model do not know these names. They know files and lines.
#
# Section 6.5 found such lines in the text of `node.stack_trace`. That text is slow to make, and today its innermost lines are those of FX itself.
# Here you look at the call stack directly. Section 9c.3 then answers the other team.

# %%
import os
import sys
import traceback
from collections import Counter
from pathlib import Path

import torch
from IPython.display import display
from torch import fx, nn
from torchvision.models import googlenet

from autograder import check, draw, hint, progress

print(torch.__version__)

# %% [markdown]
# ## 9c.1 Who is running? (8 minutes)
#
# While a function runs, Python keeps a *frame* for it: its code, its line, its variables, and `f_back`, the frame of its caller.
# All of them together are the call stack. A traceback is a printed call stack.


# %%
def callers() -> list[tuple[str, int]]:
    """The names of all running functions, the innermost first, each with its line."""
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
assert [name for name, _ in outer()[:2]] == ["inner", "outer"]

# %% [markdown]
# `f_lineno` is the line that is running *now*. `f_code.co_firstlineno` is the line of the `def`.
# `f_code.co_filename` is the file, as the compiler was told. In a notebook that is a made-up name, and no path:

# %%
frame = sys._getframe()
print(os.path.basename(frame.f_code.co_filename), frame.f_lineno)
assert frame.f_code.co_filename == traceback.extract_stack()[-1].filename

# %% [markdown]
# A node is made in the middle of your model's `forward`. So at that moment the line that asks for it is on the stack.
# Each node passes through the tracer's method `create_node`, whatever its opcode:


# %%
class Shows(fx.Tracer):
    """Prints the stack when a node of this name is made."""

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
assert [node.name for node in graph.nodes] == ["x", "layer", "relu", "mul", "output"]

# %% [markdown]
# Read it from the top: the tracer's own method, two functions of FX, then `activated`, then `forward`, then FX again.
#
# **Predict the place.** Which line *wrote* the node `relu`?
#
# <details><summary>The line in <code>forward</code>.</summary>
#
# That line asked for the call of <code>activated</code>. It is useful as well, but many nodes of a big model share it.
# </details>
# <details><summary>The line in <code>activated</code>.</summary>
#
# Right. It is the innermost line outside of torch, and nothing else has to be read to find the operation.
# </details>
# <details><summary>The line in <code>create_node</code>.</summary>
#
# That is the innermost line of all, and it is the same for every node: it belongs to the tool.
# </details>

# %% [markdown]
# ## 9c.2 Whose line is it? (17 minutes)
#
# So the rule is: walk outwards, past torch and past your tool, and take the first frame that is left. Two questions remain.
#
# **What is torch?** All files of the package are in one folder. But "the path contains `torch`" is not the same:

# %%
FOLDER = torch.__path__[0] + os.sep
vision = sys.modules["torchvision"].__path__[0] + os.sep
print(Path(FOLDER).name, Path(vision).name)
assert nn.Linear.forward.__code__.co_filename.startswith(FOLDER)
assert "torch" in vision and not vision.startswith(FOLDER)

# %% [markdown]
# `nn.Sequential` is in that folder, too. So its children belong to the line that calls the Sequential.
#
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
# Right. An attribute becomes a node when it is used. So it belongs to the line with <code>reshape</code>, and it is made while another node is being made: a frame of your tracer may be on the stack twice.
# </details>
# <details><summary>At the end of the trace.</summary>
#
# No. A node that is read must come before its reader.
# </details>


# %%
class Noted(fx.Tracer):
    """Notes in which order proxies are asked for, and finished."""

    def create_proxy(self, kind, target, *args, **kwargs):
        self.log.append(f"begin {getattr(target, '__name__', target)}")
        proxy = super().create_proxy(kind, target, *args, **kwargs)
        self.log.append(f"end {getattr(target, '__name__', target)}")
        return proxy


class Resized(nn.Module):
    def forward(self, x):
        size = x.shape
        y = x + 1
        return y.reshape(size)


tracer = Noted()
tracer.log = []
tracer.trace(Resized())
print(tracer.log)
assert tracer.log[4:8] == ["begin reshape", "begin getattr", "end getattr", "end reshape"]

# %% [markdown] card="source_of"
# **Given** a model. (It is never a `GraphModule`.)
#
# **Return** a dictionary: for each call node (`call_function`, `call_method`, `call_module`) of its trace, in the order of the graph, the name of the node and a tuple `(file, line)`.
#
# * It is the innermost line outside the package torch that was running when the node was made. The file is the one that the code object has, the line is the one that a traceback would say.
# * Helpers, lambdas and other packages such as torchvision count like the model's own lines.
# * `nn.Sequential` belongs to torch: its children have the line that calls it.
# * The lines of your own tracer do not count, wherever they are on the stack. A model may be written in the same file as your tracer.
# * Two calls know nothing of each other.


# %%
class Example(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def forward(self, x):
        x = self.body(x)
        return activated(x) + 1


# Both children of `body` have line 7 of this cell, `add` has line 8, and `relu` has the line in `activated`.
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
# ## 9c.3 The answer for the other team (3 minutes)
#
# All 199 nodes of GoogLeNet come from a few lines:

# %% uses="source_of"
network = googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10).eval()
places = source_of(network)
lines = Counter((Path(file).name, line) for file, line in places.values())
for (file, line), count in lines.most_common(4):
    print(f"{count:4} nodes  {file}:{line}")
assert {file for file, _ in lines} == {"googlenet.py"}

norms = {places[name] for name in places if name.endswith("_bn")}
convs = {places[name] for name in places if name.endswith("_conv")}
print("all norms:", norms)
assert len(norms) == 1 and len(convs) == 1

# %% [markdown]
# All 57 norms are *one* line of torchvision, in the class `BasicConv2d`. A graph has 57 places, and its author has one to look at. That is the line to send to the other team.

# %%
conv = network.conv1
display(draw(conv, title="BasicConv2d"))
assert [node.name for node in fx.symbolic_trace(conv).graph.nodes][1:3] == ["conv", "bn"]

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (4 minutes)
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
second.trace(Resized())
assert "layer" in second.found  # a node of the first model

# %% [markdown]
# **Right:** make it in `__init__`, or inside the function.
#
# ### The line of the `def`

# %%
code = Model.forward.__code__
assert code.co_firstlineno < max(line for _, _, line in code.co_lines() if line)

# %% [markdown]
# **Right:** `frame.f_lineno` is the line that runs.
#
# ### A path is made of what is no path

# %%
file = sys._getframe().f_code.co_filename
invented = compile("1 + 1", "<a template>", "eval").co_filename
assert os.path.abspath(invented) != invented  # now it looks like a file of this folder

# %% [markdown]
# **Right:** keep the file as the code object has it.

# %% [markdown]
# ## Recap
#
# 1. While a node is made, the line that asks for it is on the call stack.
# 2. Walk outwards, past torch (by its folder) and past your own tool (by its code).
# 3. An attribute becomes a node when it is used.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `sys._getframe()`, `frame.f_back` | the frame that runs, and that of its caller |
# | `frame.f_lineno`, `frame.f_code.co_filename` | the line that runs, and its file |
# | `def create_node(self, kind, …)` | a method of `fx.Tracer`: every node passes through it |
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
# | provenance through passes, `from_node` | chapter 12 |
