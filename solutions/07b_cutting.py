# %% [markdown]
# # 7b · Where a node comes from, and where to cut
#
# **After this part you can say in whose `forward` each value of a model is made, and cut the model in two at any of them.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 3: traces, the six kinds of node, editing a graph; sections 6.3 (`run_node`) and 7.3 (a Tracer that logs); section 3b.2 (writes in place) and chapter 5 (`node_copy`) help, but you can do without them |
# | **Time** | about 95 minutes with *Common mistakes*, 40 of them for the exercises; the minutes of a section include its exercise |
# | **Deep dive** | You can go on to chapter 8 without it. Chapter 13, about parts of a graph for several devices, refers to it |
#
# **When you are done, you can**
#
# 1. find out in whose `forward` a node was made, with a Tracer of your own;
# 2. say in what FX's own record, `nn_module_stack`, is different;
# 3. cut a chain of layers, and say which modules and parameters each half holds;
# 4. find the values that cross a cut: computed before it, read after it;
# 5. cut any model in two at a value of your choice;
# 6. choose the place at which the fewest numbers cross;
# 7. say what is lost when the values cross one by one, and prevent it.

# %% [markdown]
# ## A story
#
# The team of chapter 7 wants its detector on a phone. GoogLeNet is too large for the phone, and the connection to the server is slow.
# So the phone computes the first part of the network, and the server the rest.
#
# GoogLeNet was not written for that. Its `forward` is one piece, and you cannot call half of a `forward`.
# But a trace is a list of nodes in the order of execution, and a list can be cut anywhere.
#
# The team has three questions. Where is the best place? What must the phone send? And which blocks of the network does the phone then compute?
# Names such as `relu` and `cat_1` do not say so, but the Tracer knows it while it traces.
# At the end of section 7b.3 all three have an answer, and the two halves together compute what the whole model does.

# %%
import copy
import io
from collections.abc import Sequence

import matplotlib.pyplot as plt
import torch
from IPython.display import display
from torch import fx, nn
from torch.fx.passes.split_module import split_module
from torchvision.models import googlenet

from autograder import check, draw, drill, fails, hint, progress
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(7)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the graph.** `lambda x, y: torch.relu(x) + y` is traced. You make `relu` the only output, and call `eliminate_dead_code()`.
# What is left besides `relu` and the output?
#
# <details><summary>The placeholder <code>x</code></summary>
#
# No. No node reads <code>y</code> any more, but FX never takes a placeholder for dead.
#
# </details>
# <details><summary>The placeholders <code>x</code> and <code>y</code></summary>
#
# Right. Placeholders are the signature of <code>forward</code>, read or not (section 7.4).
#
# </details>
# <details><summary>The placeholders and <code>add</code></summary>
#
# No. No node reads <code>add</code>, so it is deleted.
#
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x, y: torch.relu(x) + y)
*_, relu, _, output = gm.graph.nodes
output.args = (relu,)
gm.graph.eliminate_dead_code()
assert [n.name for n in gm.graph.nodes] == ["x", "y", "relu", "output"]

# %% [markdown]
# **Predict the graph.** `nn.Sequential(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))` is traced. Which modules does the graph call?
#
# <details><summary><code>0</code></summary>
#
# No. A <code>Sequential</code> is not a leaf. FX enters it, and its <code>forward</code> calls the layers.
#
# </details>
# <details><summary><code>0.0</code> and <code>0.1</code></summary>
#
# Right. The two layers are leaves (section 1.3). The inner Sequential leaves no node.
#
# </details>
# <details><summary><code>0</code>, <code>0.0</code> and <code>0.1</code></summary>
#
# No. A module that is entered has no node of its own.
#
# </details>

# %% proof=true
stacked = nn.Sequential(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))
calls = [n.target for n in fx.symbolic_trace(stacked).graph.nodes if n.op == "call_module"]
assert calls == ["0.0", "0.1"]

# %% [markdown]
# ## 7b.1 A tracer that knows where it is
#
# The target of a layer's call is a path. It says where the layer *lives*, and the call of a function such as `add` has no path at all.
# In whose `forward` was it called? The Tracer of section 7.3 knows. Here its log also says which calls are of leaves.


# %%
class LogTracer(fx.Tracer):
    """Writes down what happens during a trace, in order."""

    def __init__(self):
        super().__init__()
        self.log = []

    def call_module(self, m, forward, args, kwargs):
        path = self.path_of_module(m)
        kind = "leaf" if self.is_leaf_module(m, path) else "module"
        self.log.append(f"call of the {kind} {path!r} begins")
        result = super().call_module(m, forward, args, kwargs)
        self.log.append(f"call of the {kind} {path!r} ends")
        return result

    def create_node(self, kind, *args, **kwargs):
        node = super().create_node(kind, *args, **kwargs)
        self.log.append(f"    node {node.name!r}")
        return node


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
        self.register_buffer("shift", torch.rand(3))

    def forward(self, x):
        return torch.tanh(self.gate(x + self.shift))


tracer = LogTracer()
graph = tracer.trace(Gated())
print("\n".join(tracer.log))

# %% proof=true
begin, end = (tracer.log.index(f"call of the module 'gate' {what}") for what in ("begins", "ends"))
inside, outside = tracer.log[begin:end], tracer.log[:begin] + tracer.log[end:]
assert all(f"    node {name!r}" in inside for name in ("gate_lin", "sigmoid", "mul"))
assert all(f"    node {name!r}" in outside for name in ("x", "shift", "add", "tanh"))

# %% [markdown]
# To which module does the node `gate_lin` belong? In the log it is between the two lines of the leaf. But a leaf's `forward`
# never runs while you trace. The code that was running is that of `gate`: it contains the call `self.lin(x)`.
#
# **Predict the log.** You override `create_proxy`, which calls `create_node`, with the same two lines. Which nodes are missing from the log?
#
# <details><summary><code>x</code>: placeholders are made elsewhere.</summary>
#
# No. <code>create_proxy</code> makes placeholders like most nodes.
# </details>
# <details><summary><code>shift</code>, and the output.</summary>
#
# Right. No Proxy is made for these two. A buffer becomes a node when it is found among the arguments of another one, and <code>create_arg</code> calls <code>create_node</code> itself. This is why buffers have no name in torchvision's list, in section 7.3.
# </details>
# <details><summary>None: every node begins as a Proxy.</summary>
#
# Most do, but not all.
# </details>


# %% proof=true
class ProxyTracer(fx.Tracer):
    def __init__(self):
        super().__init__()
        self.seen = []

    def create_proxy(self, *args, **kwargs):
        proxy = super().create_proxy(*args, **kwargs)
        self.seen.append(proxy.node.name)
        return proxy


proxies = ProxyTracer()
all_nodes = proxies.trace(Gated()).nodes
assert [n.name for n in all_nodes if n.name not in proxies.seen] == ["shift", "output"]

# %% [markdown]
# ### A module that calls what it does not own
#
# A leaf may be called by a module that does not own it:


# %%
class Borrower(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.layers = nn.ModuleList([nn.Linear(3, 3)])

    def forward(self, x):
        return self.layers[0](self.gate.lin(x))  # both calls are in the root's forward


tracer = LogTracer()
graph = tracer.trace(Borrower())
print("\n".join(tracer.log))

# %% proof=true
assert not any("'gate'" in line or "'layers'" in line for line in tracer.log)

# %% [markdown]
# No module `gate` and no module `layers` appears in this log. The two leaves were called by the root.
# A `Sequential` is different: it has a `forward`, and that calls its children.


# %%
class Lender(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.body = nn.Sequential(nn.Linear(3, 3), Gate())

    def forward(self, x):
        return self.gate.lin(self.body(x)) + x


lender_graph = fx.symbolic_trace(Lender()).graph
print(lender_graph)

# %% [markdown]
# **Drill 07b.1a.** Which nodes are made in the root's `forward`? Write the list of their names, in the order of the graph, without the output.

# %% drill=true
of_root = ["x", "gate_lin", "add"]
drill("07b.1a", of_root)
# Mistake: The module that calls a layer need not be the one that owns it.
# of_root = ["x", "add"]

# %% [markdown]
# ### What FX notes by itself
#
# FX keeps a similar record in `node.meta["nn_module_stack"]`, a dictionary of the calls that are under way.
# (It is used by tools around `torch.export`, and not promised to stay as it is. Run with torch 2.14.)


# %%
class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("places", torch.rand(3))
        self.proj = nn.Linear(3, 3)
        self.gate = Gate()

    def forward(self, x):
        return self.gate(self.gate(x)) + self.proj(self.places)


stacks = {}
for node in fx.symbolic_trace(Positions()).graph.nodes:
    stacks[node.name] = node.meta.get("nn_module_stack", {})
    print(f"{node.name:12} {list(stacks[node.name])}")

# %% [markdown]
# Three things are different from "whose forward made it":
#
# * A leaf's own call counts, so `gate_lin` has `gate.lin` at the end.
# * The second call of `gate` is called `gate@1`. (The values of the dictionary have the path without the number.)
# * `places` was read by the root's `forward`. FX makes its node while it makes the call of `proj`, so it says `proj`.

# %% proof=true
assert list(stacks["gate_lin"]) == ["gate", "gate.lin"]
assert list(stacks["mul_1"]) == ["gate@1"] and stacks["mul_1"]["gate@1"][0] == "gate"
assert list(stacks["places"]) == ["proj"]

# %% [markdown]
# **Drill 07b.1b.** Which keys does the record have for the node `gate_lin` of `lender_graph`? Write them as a list.

# %% drill=true
node = next(node for node in lender_graph.nodes if node.name == "gate_lin")
on_the_way = list(node.meta["nn_module_stack"])
drill("07b.1b", on_the_way)
# Mistake: A module is in the record only while it is being called.
# on_the_way = ["gate", "gate.lin"]

# %% [markdown] card="node_paths"
# **Given** a model.
#
# **Return** a dictionary: for each node of its trace, except the output, the node's name and a path.
# The path is the qualified name of the module **in whose `forward` the node was made**, and `""` for the root.
# Trace with a Tracer of your own.
#
# * A `call_module` node belongs to the module that makes the call.
# * A buffer that is handed to a leaf belongs to the module that makes the call, too.
# * An earlier call of your function must not change the result, even if it raised during a trace.
#
# **Do not** change the model.


# %%
class Wave(nn.Module):
    def forward(self, x):
        return torch.sin(x) * 2


class Example(nn.Module):
    def __init__(self):
        super().__init__()
        self.wave = Wave()
        self.body = nn.Sequential(nn.Linear(3, 3), Wave())

    def forward(self, x):
        return self.wave(self.body(x)) + x


# node_paths(Example()):
#   x ''      body_0 'body'   sin 'body.1'   mul 'body.1'
#   add ''                    sin_1 'wave'   mul_1 'wave'
draw(fx.symbolic_trace(Example()))


# %% solve="node_paths"
def node_paths(model: nn.Module) -> dict[str, str]:
    """Say for each node of a model's trace in whose `forward` it was made.

    Args:
        model: the model to trace.

    Returns:
        The module's qualified name by the node's name; the output is left out.
    """
    ### BEGIN SOLUTION
    tracer = PathTracer()  # a new one each time: nothing is left of an earlier trace
    tracer.trace(model)
    return tracer.paths
    ### END SOLUTION


### BEGIN SOLUTION
class PathTracer(fx.Tracer):
    """Notes for each node the path of the module whose `forward` is running."""

    def __init__(self):
        super().__init__()
        self.path = ""
        self.paths: dict[str, str] = {}

    def call_module(self, m, forward, args, kwargs):
        def inside(*args, **kwargs):
            # Reached for modules that are not leaves, after all arguments were made.
            caller, self.path = self.path, self.path_of_module(m)
            try:
                return forward(*args, **kwargs)
            finally:
                self.path = caller

        return super().call_module(m, inside, args, kwargs)

    def create_node(self, kind, *args, **kwargs):
        node = super().create_node(kind, *args, **kwargs)
        if kind != "output":
            self.paths[node.name] = self.path
        return node

    ### END SOLUTION


# %% check="node_paths"
check(node_paths)

# %% hint="node_paths"
hint("node_paths")

# %% [markdown]
# ## 7b.2 Cut a model in two
#
# You need two modules: a **head** and a **tail**. The tail continues with what the head returns.
#
# A chain is easy. At every place, one value crosses:


# %%
def cut_chain(model: nn.Module, name: str) -> tuple[fx.GraphModule, fx.GraphModule]:
    """Cut a model in which every node reads only the node before it."""
    gm = fx.symbolic_trace(model)
    first, second = fx.Graph(), fx.Graph()
    graph, value = first, {}
    for node in gm.graph.nodes:
        value[node] = graph.node_copy(node, value.__getitem__)
        if node.name == name:
            first.output(value[node])
            graph, value = second, {node: second.placeholder(node.name)}
    return fx.GraphModule(gm, first), fx.GraphModule(gm, second)


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 4)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(torch.tanh(self.lin(x))).softmax(dim=-1)


chain = Chain()
x = torch.randn(5, 3)
first, second = cut_chain(chain, "tanh")
print(first.code, second.code)

# %% proof=true
assert torch.equal(second(first(x)), chain(x))

# %% [markdown]
# `graph.node_copy(node, f)` copies a node of another graph. `f` says for each node that it reads which node of the new graph to read instead.
# `fx.GraphModule(gm, graph)` takes over what the graph calls and reads. It does not copy: both parts use the model's own layers.

# %%
display(draw(first, title="head"))
draw(second, title="tail")

# %% proof=true
assert first.lin is chain.lin and second.out is chain.out
assert not hasattr(first, "out")  # the head has only what it calls

# %% [markdown]
# ### What crosses
#
# Real models are not chains. Look at this one, cut after `lin`:


# %%
class Skipping(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(3))
        self.lin = nn.Linear(3, 3)

    def forward(self, x, shift=0.5):
        early = torch.sin(x * self.scale)
        y = self.lin(early)
        return (y * early + early + shift) * self.scale


draw(fx.symbolic_trace(Skipping()))

# %% [markdown]
# **Predict the tuple.** The head ends with `lin`. Which values must the tail be given?
#
# <details><summary><code>lin</code>, the last value of the head.</summary>
#
# Not enough. The tail multiplies it by <code>sin</code>, and that was computed on the other side.
# </details>
# <details><summary><code>lin</code> and <code>sin</code>.</summary>
#
# Almost. The tail reads an input of the model, too: <code>shift</code>.
# </details>
# <details><summary><code>shift</code>, <code>sin</code> and <code>lin</code>, each once.</summary>
#
# Right. <code>sin</code> has two readers in the tail, and crosses once. <code>scale</code> does not have to cross: a parameter can be read again with a <code>get_attr</code> node on the other side.
# </details>
# <details><summary><code>x</code>, <code>shift</code>, <code>sin</code> and <code>lin</code>.</summary>
#
# No. No node after <code>lin</code> reads <code>x</code>. On a slow connection, each value that crosses for nothing costs time.
# </details>
#
# So a value crosses if it is computed before the cut and has a user after it. Here are the cuts before `lin`:

# %%
nodes = list(fx.symbolic_trace(Skipping()).graph.nodes)


def crossing_at(place: int) -> list[str]:
    """The values before a cut that have a user after it."""
    rest = set(nodes[place + 1 :])
    return [n.name for n in nodes[: place + 1] if rest & set(n.users) and n.op != "get_attr"]


for place, cut in enumerate(nodes[:5]):
    print(f"after {cut.name:8} {crossing_at(place)}")

# %% proof=true
assert crossing_at([n.name for n in nodes].index("lin")) == ["shift", "sin", "lin"]


# %%
def blend(x, gain, bias):
    y = torch.relu(x)
    z = y * gain
    w = torch.exp(z)
    return (w + y) * gain + bias


print(fx.symbolic_trace(blend).graph)

# %% [markdown]
# **Drill 07b.2a.** This function is cut after `exp`. Which values cross? Write the set of their names.

# %% drill=true
crossed_names = {"relu", "exp", "gain", "bias"}
drill("07b.2a", crossed_names)
# Mistake: An input that the tail reads crosses, too, and a value without a reader in the tail does not.
# crossed_names = {"relu", "mul", "exp"}

# %% [markdown]
# A value that crosses becomes a placeholder of the tail. An *input* of the model is a placeholder already.
# Do not copy that node. It carries a part of the model's signature: a default, or the star of `*rest`.


# %%
def copies_placeholder() -> fx.Graph:
    """A tail that begins with a copy of the model's placeholder `shift`."""
    tail = fx.Graph()
    placeholder = next(n for n in nodes if n.name == "shift")
    shift = tail.node_copy(placeholder)
    sin = tail.placeholder("sin")
    tail.output(tail.call_function(torch.add, (sin, shift)))
    return tail


print(copies_placeholder().python_code("self").src)
with fails(SyntaxError):  # a parameter without a default after one with
    fx.GraphModule(nn.Module(), copies_placeholder())

# %% [markdown]
# **Right:** `tail.placeholder(node.name)` for every value that crosses, inputs too.

# %% [markdown] card="split_at"
# **Given** a model, and the name of a node of its trace.
#
# **Return** a tuple of two graph modules, `head` and `tail`.
#
# * `head` has all nodes up to and including the named one, `tail` has the rest.
# * `head` has the signature of the model. `head(*args)` returns a **tuple**, and `tail(*head(*args))` is the model's result.
# * In the tuple is what the tail needs, inputs and earlier values too, each **once**, and nothing else. The order is free.
# * Both use the model's own parameters, not copies.
#
# **Do not** change the model.
#
# **Fine print**
#
# * Cut by position, even if nothing reads the node. The value of the named node may cross even if no node reads it.
# * A `get_attr` node may be made again in the tail; then its value does not have to cross.
# * An unknown name, a placeholder, or the output: `ValueError`.


# %%
class Model(nn.Module):
    def forward(self, x):
        early = torch.sin(x)
        late = torch.exp(early)
        return late * early


class Head(nn.Module):  # split_at(Model(), "exp")
    def forward(self, x):
        early = torch.sin(x)
        late = torch.exp(early)
        return (early, late)


class Tail(nn.Module):
    def forward(self, sin, exp):
        return exp * sin


display(draw(Model(), title="the model"), draw(Head(), title="head"))
draw(Tail(), title="tail")

# %% proof=true
ones = torch.ones(3)
assert torch.equal(Tail()(*Head()(ones)), Model()(ones))


# %% solve="split_at"
def split_at(model: nn.Module, name: str) -> tuple[fx.GraphModule, fx.GraphModule]:
    """Cut `model` after the node `name`: `tail(*head(*args))` is the model's result."""
    ### BEGIN SOLUTION
    gm = fx.symbolic_trace(model)
    nodes = list(gm.graph.nodes)
    place = {node.name: i for i, node in enumerate(nodes)}.get(name)
    if place is None or nodes[place].op in ("placeholder", "output"):
        raise ValueError(f"the model has no node {name!r} at which it can be cut")
    first, rest = nodes[: place + 1], dict.fromkeys(nodes[place + 1 :])
    crossing = [node for node in first if any(user in rest for user in node.users)]

    head = fx.Graph()
    new: dict[fx.Node, fx.Node] = {}
    for node in first:
        new[node] = head.node_copy(node, new.__getitem__)
    head.output(tuple(new[node] for node in crossing))

    tail = fx.Graph()
    new = {node: tail.placeholder(node.name) for node in crossing}
    for node in rest:
        new[node] = tail.node_copy(node, new.__getitem__)
    return fx.GraphModule(gm, head), fx.GraphModule(gm, tail)
    ### END SOLUTION


# %% check="split_at"
check(split_at)

# %% hint="split_at"
hint("split_at")

# %% [markdown]
# ## 7b.3 Where to cut GoogLeNet
#
# The phone computes the head, and the connection is slow. So the best place is where the fewest numbers cross.
# A small Interpreter notes the sizes.
# Two cells of this section use your `split_at` and your `node_paths`. Run them again when the checks have passed.


# %%
class Sizes(fx.Interpreter):
    """Notes how many numbers each value has."""

    def run_node(self, n):
        value = super().run_node(n)
        n.meta["numbers"] = value.numel()
        return value


theirs = make_alive(googlenet(weights=None, aux_logits=False, init_weights=False, num_classes=10))
traced = fx.symbolic_trace(theirs)
image = images(1)
with torch.no_grad():
    Sizes(traced).run(image)
nodes = list(traced.graph.nodes)
crossing = {}
for i, node in enumerate(nodes):
    if node.name == "inception4a_branch1_conv":
        break  # the phone is not fast enough for more
    rest = set(nodes[i + 1 :])
    crossing[node.name] = sum(n.meta["numbers"] for n in nodes[: i + 1] if rest & set(n.users))
best = min(crossing, key=crossing.__getitem__)
print(f"the image has {image.numel()} numbers; after {best} only {crossing[best]} cross")
figure, axes = plt.subplots(figsize=(7, 2.5))
axes.plot(list(crossing.values()), color="#3b6ea5")
axes.set_xlabel("the cut, in order of execution")
axes.set_ylabel("numbers that cross")
axes.set_ylim(bottom=0)
figure.tight_layout()
plt.show()
print({name: count for name, count in crossing.items() if "pool" in name or "cat" in name})

# %% proof=true
assert best == "maxpool3" and crossing[best] < image.numel()
assert all(count >= image.numel() for name, count in crossing.items() if name != best)

# %% [markdown]
# So the phone computes the network up to `maxpool3`. At every earlier place, at least as many numbers would cross as the image has.
#
# A smaller example, for an `x` of shape `(4, 16)`:


# %%
def narrow(x):
    early = torch.relu(x)
    means = early.mean(dim=1, keepdim=True)
    scaled = early * means
    largest = scaled.amax(dim=0)
    return largest.repeat(4)


small = fx.symbolic_trace(narrow)
Sizes(small).run(torch.randn(4, 16))
print({node.name: node.meta["numbers"] for node in small.graph.nodes if node.op != "output"})

# %% [markdown]
# **Drill 07b.3a.** After which node do the fewest numbers cross, and how many? Write a tuple: the node's name, and the number.

# %% drill=true
cheapest = ("amax", 16)
drill("07b.3a", cheapest)
# Mistake: An earlier value that the tail reads crosses, too.
# cheapest = ("mean", 4)

# %% uses="split_at"
head, tail = split_at(theirs, best)
with torch.no_grad():
    crossed = head(image)
print(len(crossed), "value crosses,", sum(value.numel() for value in crossed), "numbers;", end=" ")
print(len(head.graph.nodes), "nodes in the head,", len(tail.graph.nodes), "in the tail")
assert_same_results(lambda x: tail(*head(x)), theirs, image)

# %% proof=true
assert len(crossed) == 1 and crossed[0].numel() == crossing[best]

# %% [markdown]
# And which blocks of the network are these? Your `node_paths` says in whose `forward` each of the nodes was made.

# %% uses="node_paths"
paths = node_paths(theirs)
before = nodes[: [node.name for node in nodes].index(best) + 1]
blocks = dict.fromkeys(paths[node.name].partition(".")[0] or "the root" for node in before)
print("the phone computes in:", *blocks)

# %% proof=true
assert list(blocks) == ["the root", "conv1", "conv2", "conv3", "inception3a", "inception3b"]
assert paths["cat_1"] == "inception3b" and paths["relu"] == "conv1"

# %% [markdown]
# PyTorch has a tool for more than two parts: `torch.fx.passes.split_module`. A callback says for each node to which part it belongs.
# (Run with torch 2.14.)

# %%
skipping = Skipping()
gm = fx.symbolic_trace(skipping)
order = [n.name for n in gm.graph.nodes]
parts = split_module(
    gm,
    skipping,
    lambda node: int(order.index(node.name) > order.index("lin")),
    keep_original_order=True,  # writes in place stay where they are
)
print(parts.code)
x = torch.randn(2, 3)
torch.testing.assert_close(parts(x), skipping(x))

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail.
#
# ### A note is not taken back when a trace raises


# %%
class Undecided(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class DepthTracer(fx.Tracer):
    depth = 0

    def call_module(self, m, forward, args, kwargs):
        self.depth += 1
        result = super().call_module(m, forward, args, kwargs)
        self.depth -= 1  # not reached if something raises
        return result


tracer = DepthTracer()
try:
    tracer.trace(nn.Sequential(Undecided()))
except fx.proxy.TraceError:
    print("depth after the error:", tracer.depth)

# %% proof=true
assert tracer.depth == 1  # the trace is over

# %% [markdown]
# **Right:** `try: ... finally: self.depth -= 1`. And make a new Tracer for each trace.
#
# ### A value crosses once for each reader
#
# Collect what the nodes of the tail read, and you find `sin` twice in `Skipping`: it has two readers there.


# %%
def read_after(nodes: Sequence[fx.Node], place: int) -> list[fx.Node]:
    """What the nodes after a place read from before it, one entry for each reading node."""
    before = set(nodes[: place + 1])
    return [read for n in nodes[place + 1 :] for read in n.all_input_nodes if read in before]


nodes = list(fx.symbolic_trace(Skipping()).graph.nodes)
place = next(i for i, node in enumerate(nodes) if node.name == "lin")
found = [node.name for node in read_after(nodes, place)]
print(found)

# %% proof=true
assert found.count("sin") == 2 and found.count("scale") == 1

# %% [markdown]
# A head that returns this list sends one tensor twice, and the tail needs a parameter for each.
# **Right:** ask each node of the *head* whether it has a user after the cut. Or make the list unique and keep its order: `list(dict.fromkeys(...))`.
#
# ### The head is cleaned up
#
# A head often has calls that nothing in it reads. They look dead, but the tail depends on their writes:


# %%
class Unread(nn.Module):
    def forward(self, x):
        y = x - 1
        y.relu_()
        return y * 2


def parts_of(model: nn.Module, name: str, clean: bool) -> tuple[fx.GraphModule, fx.GraphModule]:
    """Head and tail of a model in which only the value `name` crosses."""
    gm = fx.symbolic_trace(model)
    head, tail, seen = fx.Graph(), fx.Graph(), {}
    nodes = list(gm.graph.nodes)
    reader = next(i for i, node in enumerate(nodes) if node.name == "mul")
    for node in nodes[:reader]:
        seen[node] = head.node_copy(node, seen.__getitem__)
    crossing = next(node for node in nodes if node.name == name)
    head.output((seen[crossing],))
    if clean:
        head.eliminate_dead_code()  # wrong
    seen = {crossing: tail.placeholder(name)}
    for node in nodes[reader:]:
        seen[node] = tail.node_copy(node, seen.__getitem__)
    return fx.GraphModule(gm, head), fx.GraphModule(gm, tail)


x = torch.zeros(2)
for clean in (False, True):
    head, tail = parts_of(Unread(), "sub", clean)
    print([n.name for n in head.graph.nodes], tail(*head(x)))

# %% proof=true
for clean in (False, True):
    head, tail = parts_of(Unread(), "sub", clean)
    assert torch.equal(tail(*head(x)), Unread()(x)) == (not clean)

bare = fx.Graph()
bare.output(bare.call_module("lin", (bare.placeholder("x"),)))
with fails(AssertionError):
    bare.eliminate_dead_code()

# %% [markdown]
# **Right:** do not remove dead code while cutting. (With the call of a module in it, such a graph raises an `AssertionError` instead, because it has no owner yet.)
#
# ### Each half gets a copy of the weights
#
# `copy.deepcopy` of the trace, one for each half, looks like a safe way to begin. But a copy of a GraphModule has parameters of its own.

# %%
skipping = Skipping()
half = copy.deepcopy(fx.symbolic_trace(skipping))
x = torch.ones(2, 3)
with torch.no_grad():
    skipping.scale.zero_()  # as if it was trained
    print("model:", skipping(x).sum().item(), "half:", half(x).sum().item())

# %% proof=true
assert half.scale is not skipping.scale
assert skipping(x).abs().sum() == 0 < half(x).abs().sum()

# %% [markdown]
# **Right:** `fx.GraphModule(gm, graph)` for both halves. It uses the model's own parameters. To copy a graph alone: `copy.deepcopy(gm.graph)`.
#
# ### The values are sent one by one
#
# On one machine, two values that cross may share a storage, and an in-place call in the tail changes both.
# If each value is sent alone, each has a storage of its own on the other side:


# %%
class Aliased(nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        row = y[0]
        y.mul_(10)  # changes `row`, too
        return row + y.sum()


class Head(nn.Module):  # cut after `row`
    def forward(self, x):
        y = torch.exp(x)
        return y, y[0]


class Tail(nn.Module):
    def forward(self, exp, getitem):
        exp.mul_(10)
        return getitem + exp.sum()


def sent(value):
    """What the server gets: written on one side, read on the other."""
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file)


x = torch.zeros(2, 3)
one_by_one = Tail()(*[sent(value) for value in Head()(x)])
together = Tail()(*sent(Head()(x)))
print(Aliased()(x), one_by_one, together, sep="\n")

# %% proof=true
assert not torch.equal(one_by_one, Aliased()(x))
assert torch.equal(together, Aliased()(x))
assert torch.equal(Tail()(*Head()(x)), Aliased()(x))

# %% [markdown]
# **Right:** one `torch.save` for the whole tuple. It writes a shared storage once, and `torch.load` shares it again.
# If your transport copies each tensor separately, do not cut between a view and a write. To find such a place, look for writes in place after the cut.

# %% [markdown]
# ## Recap
#
# 1. A Tracer knows where it is: `call_module` is called for every call of a module, `create_node` makes every node. Its notes belong to one trace.
# 2. A trace can be cut at every node. The head has the nodes up to there, the tail has the rest, each in a graph of its own.
# 3. A value crosses if it is made before the cut and has a user after it. Inputs of the model may cross, too. Each crosses once.
# 4. In the tail, every value that crosses is a new placeholder. Both halves share the model's parameters, and either can read them.
# 5. The best place is where few numbers cross. An in-place call after the cut depends on a shared storage.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `call_module(m, forward, args, kwargs)` of a Tracer | override it to do something before, in and after a call of a module |
# | `create_node(kind, target, args, kwargs)` of a Tracer | override it to see every node |
# | `tracer.path_of_module(m)` | the qualified name of a module, while tracing |
# | `node.meta["nn_module_stack"]` | internal: FX's own record of the calls under way, with the leaf's own |
# | `graph.node_copy(node, f)` | a copy of a node of another graph; `f` says what it reads |
# | `graph.placeholder(name)` | a new input of a graph |
# | `graph.output(tuple_of_nodes)` | ends a graph; its module returns the tuple |
# | `fx.GraphModule(gm, graph)` | a module with what `graph` calls and reads; shared with `gm` |
# | `node.users` | the nodes that read this one, each once |
# | `split_module(gm, model, f)` | more than two parts; `f(node)` is the part's number |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | leaves of your own choice, and other methods of a Tracer | chapter 8 |
# | the line of source code that made a node | chapter 9 |
# | parts of one graph for several devices, and what must not be cut | chapter 13b |
# | sizes and types of values without running a model: `ShapeProp`, `FakeTensorProp` | chapter 6 |
# | the opposite: pasting one graph into another | the deep dive `05b_programs` |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html), the references of `torch.fx.Tracer` and `torch.fx.Graph`;
# [torch.save](https://docs.pytorch.org/docs/stable/notes/serialization.html), the note on how shared memory is saved; and
# [pipeline parallelism](https://docs.pytorch.org/docs/stable/distributed.pipelining.html), which cuts models into stages.
# (What FX itself writes into `node.meta`, and most of `torch.fx.passes`, is not promised to stay as it is.)
