# %% [markdown]
# # 12 · Passes as they are written at work
#
# **After this chapter you can write a pass that others can rely on, and run many of them so that a bad one does no harm.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 4 and 11: traces, editing a graph, replacing, ATen graphs |
# | **Time** | about 110 minutes with *Common mistakes*, 65 of them for the exercises; the minutes of a section include its exercise. A good place for a break is after 12.2 |
#
# **When you are done, you can**
#
# 1. write a pass as a class, and say what it requires and ensures;
# 2. say honestly whether a pass has changed anything, and say why others ask;
# 3. sort a graph in which some nodes come before their inputs;
# 4. normalize the spellings of a call before you search for it;
# 5. run passes until none of them changes anything, and undo a pass that breaks a check;
# 6. make an operator of your own that traces, exports and fake tensors know.

# %% [markdown]
# ## A story
#
# The team's compiler has eleven passes by now, from four authors. Each of them is right on its own.
# Together they are not. One pass never says that it is done. One leaves the graph out of order when it meets a new kind of model.
# When one raises, the module is half edited, and nobody knows which half.
#
# You rewrite no pass in this chapter. The passes get rules instead: what a pass returns, what is checked after it, and what happens when it fails.
# PyTorch's own passes and those of ExecuTorch have such rules for what a pass returns. What to do about a failure you decide yourself.

# %%
import copy
from unittest import mock

import torch
from IPython.display import display
from torch import fx, nn
from torch.fx.experimental.const_fold import split_const_subgraphs
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import PassManager, pass_result_wrapper
from torch.fx.passes.tools_common import legalize_graph, stable_topological_sort
from torch.nn import functional as F
from torchvision.models import googlenet

from autograder import check, draw, fails, hint, progress, suspects
from autograder.given import assert_same_results, images, make_alive

torch.manual_seed(12)
print(torch.__version__)

# %% [markdown]
# ## Two questions on earlier chapters
#
# **Predict the result.** A pass replaces a call, nobody calls `recompile()`, and then the module is called. What runs?
#
# <details><summary>The old code</summary>
#
# Right. The graph is a description, and the code was generated from it earlier. <code>recompile()</code> generates it again.
# </details>
# <details><summary>The new graph</summary>
#
# No. A graph module runs its code, not its graph. An Interpreter would run the graph.
# </details>
# <details><summary>Nothing: the module raises an error</summary>
#
# No. It works as before, which is why this is so easy to miss.
# </details>

# %% proof=true
gm = fx.symbolic_trace(lambda x: torch.sin(x) + torch.cos(x))
(sine,) = gm.graph.find_nodes(op="call_function", target=torch.sin)
sine.target = torch.exp
x = torch.ones(2)
torch.testing.assert_close(gm(x), torch.sin(x) + torch.cos(x))
gm.recompile()
torch.testing.assert_close(gm(x), torch.exp(x) + torch.cos(x))

# %% [markdown]
# **Predict the number.** A model computes ReLU in four ways: `torch.relu(x)`, `x.relu()`, `F.relu(x)` and with `nn.ReLU()`. How many different targets do these calls have in an ATen graph?
#
# <details><summary>4, as in a trace by <code>symbolic_trace</code></summary>
#
# There, each spelling has a target of its own. An ATen graph is recorded below Python, where all of them have become the same operator.
# </details>
# <details><summary>1</summary>
#
# Right. That is why so many passes are written for ATen graphs: a search for one operator finds all spellings.
# </details>
# <details><summary>2: the functions, and the module</summary>
#
# No. A module has no node of its own in an ATen graph.
# </details>


# %% proof=true
class FourWays(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()

    def forward(self, x):
        return torch.relu(x), x.relu(), F.relu(x), self.relu(x)


traced = fx.symbolic_trace(FourWays())
assert len({(n.op, n.target) for n in traced.graph.nodes if n.op.startswith("call_")}) == 4
recorded = make_fx(FourWays())(torch.ones(2))
calls = [n.target for n in recorded.graph.nodes if n.op == "call_function"]
assert calls == [torch.ops.aten.relu.default] * 4

# %% [markdown]
# ## 12.1 A pass that says what it did
#
# In the chapters before, a pass was a function. In larger projects it is an object with a fixed form. `torch.fx` has the class `PassBase` for it: you write `call`, and inherit the rest.


# %%
class DeadCode(PassBase):
    """Removes calls that nobody reads."""

    def requires(self, graph_module: fx.GraphModule) -> None:
        graph_module.graph.lint()

    def call(self, graph_module: fx.GraphModule) -> PassResult:
        modified = graph_module.graph.eliminate_dead_code()
        graph_module.recompile()
        return PassResult(graph_module, modified)

    def ensures(self, graph_module: fx.GraphModule) -> None:
        graph_module.graph.lint()


class Unread(nn.Module):
    def forward(self, x):
        torch.tanh(x)
        return torch.sin(x)


gm = fx.symbolic_trace(Unread())
first, second = DeadCode()(gm), DeadCode()(gm)
print("the first run: ", first)
print("the second run:", second)

# %% proof=true
assert first.graph_module is gm and first.modified is True
assert second.modified is False  # nothing was left to do

# %% [markdown]
# You call the pass like a function. It runs `requires`, then `call`, then `ensures`, and returns a `PassResult`: the module, and whether anything was changed.
# Two limits: `ensures` gets the module that you passed, even if `call` returned another one. And `eliminate_dead_code` may remove calls in place (chapter 3b); the models here have none.


# %% proof=true
class Returns(PassBase):
    def call(self, graph_module):
        return PassResult(fx.GraphModule(graph_module, graph_module.graph), False)

    def ensures(self, graph_module):
        ensured.append(graph_module)


ensured = []
returned = Returns()(gm).graph_module
assert ensured == [gm] and returned is not gm

# %% [markdown]
# Why does `modified` matter? Because passes run in rounds. One pass makes room for another, so all of them run again until none has changed anything.
# A pass that wrongly says `True` keeps the rounds going forever. A pass that wrongly says `False` ends them too early:


# %%
def rounds(passes, gm, limit=10):
    """Run all passes again and again, until none says that it changed anything."""
    for number in range(1, limit + 1):
        modified = [each(gm).modified for each in passes]
        if not any(modified):
            return number
    return None


class Busy(DeadCode):
    """Says that it has changed something, always."""

    def call(self, graph_module):
        return PassResult(super().call(graph_module).graph_module, True)


for each in (DeadCode(), Busy()):
    print(type(each).__name__, "ends in round", rounds([each], fx.symbolic_trace(Unread())))

# %% proof=true
assert rounds([DeadCode()], fx.symbolic_trace(Unread())) == 2  # one that works, one that looks
assert rounds([Busy()], fx.symbolic_trace(Unread())) is None  # it would go on forever

# %% [markdown]
# **Predict the result.** `pass_result_wrapper` turns a plain function that returns nothing into a pass. The function changes nothing. What is `modified`?
#
# <details><summary><code>modified</code> is <code>False</code></summary>
#
# It would have to compare the graph with the one before. It does not.
# </details>
# <details><summary><code>modified</code> is <code>True</code>, always</summary>
#
# Right. It cannot know, so it says what does the least harm. But in rounds it never ends: all steps are used up.
# </details>
# <details><summary>It raises an error, because nothing was returned</summary>
#
# No. A function that returns nothing is what it was made for.
# </details>


# %% proof=true
def does_nothing(gm):
    """Looks at the graph, and leaves it alone."""


runs = []
wrapped = pass_result_wrapper(does_nothing)
graph_module = fx.symbolic_trace(does_nothing)
assert wrapped(graph_module).modified is True
PassManager([wrapped, lambda gm: runs.append(1) or PassResult(gm, False)], steps=5)(graph_module)
assert len(runs) == 5

# %% [markdown] card="OpSwap"
# **Write** a class, a subclass of `PassBase`, that is made with a table: `OpSwap({torch.sin: torch.cos})`. Keys and values are functions.
#
# **Called** with a graph module, it makes every `call_function` node whose target is a key of the table call the value instead.
# All entries act **at once**, on the targets before the call: `{a: b, b: a}` exchanges two functions, and `{a: b, b: c}` makes no `c` of an `a`.
#
# **Return** a `PassResult` with **the module that was given**, recompiled, and `modified`: a `bool` that is `True` exactly if some node has another target than before this call.
#
# **Fine print**
#
# * An entry from a function to itself changes nothing.
# * The nodes stay: the same objects, with their names, arguments and `meta`. (The entry `is_wrapped`, which `fx.wrap` makes, must go with the old function. That is not tried.)
# * Methods and modules are left alone, and so are functions that only share a name with a key.
# * It works in a `PassManager`, too.


# %%
class Waves(nn.Module):
    def forward(self, x):
        return torch.sin(x) + torch.cos(x)


before = fx.symbolic_trace(Waves())
after = copy.deepcopy(before)
for node in after.graph.nodes:
    node.target = {torch.sin: torch.cos, torch.cos: torch.sin}.get(node.target, node.target)
after.recompile()
display(draw.diff(before, after))

# %% proof=true
assert [n.target for n in after.graph.nodes][1:3] == [torch.cos, torch.sin]


# %% solve="OpSwap"
class OpSwap(PassBase):
    """Exchanges functions, as a table says."""

    def __init__(self, table: dict):
        ### BEGIN SOLUTION
        self.table = dict(table)
        ### END SOLUTION

    def call(self, graph_module: fx.GraphModule) -> PassResult:
        """Exchange the functions in a graph module, and say whether that changed anything."""
        ### BEGIN SOLUTION
        modified = False
        for node in graph_module.graph.nodes:
            if node.op != "call_function":
                continue
            new = self.table.get(node.target, node.target)
            if new is not node.target:
                node.target = new
                node.meta.pop("is_wrapped", None)  # it speaks of the old function
                modified = True
        graph_module.recompile()
        return PassResult(graph_module, modified)
        ### END SOLUTION


# %% check="OpSwap"
check(OpSwap)

# %% hint="OpSwap"
hint("OpSwap")

# %% [markdown]
# Exchange the two functions of `Waves`, and exchange them again:

# %% uses="OpSwap"
gm = fx.symbolic_trace(Waves())
swap = OpSwap({torch.sin: torch.cos, torch.cos: torch.sin})
print("changed:", swap(gm).modified, gm.code)
print("changed:", swap(gm).modified, gm.code)
assert not OpSwap({torch.tanh: torch.exp})(gm).modified

# %% [markdown]
# ## 12.2 Inputs first
#
# A graph is a list of nodes, and each node must come after all nodes that it reads. A pass that inserts a node can break that easily:


# %%
class Sum(nn.Module):
    def forward(self, x):
        a = torch.sin(x)
        b = torch.cos(x)
        return a + b


gm = fx.symbolic_trace(Sum())
x = torch.ones(2)
nodes = {node.name: node for node in gm.graph.nodes}
with gm.graph.inserting_before(nodes["sin"]):
    late = gm.graph.call_function(torch.mul, (nodes["cos"], 2))
nodes["add"].replace_input_with(nodes["cos"], late)
gm.recompile()
print(gm.code)
with fails(RuntimeError):
    gm.graph.lint()
with fails(UnboundLocalError):
    gm(x)
with fails(RuntimeError):
    fx.Interpreter(gm).run(x)

# %% [markdown]
# `lint` finds it. `recompile` does not: it generates code that fails when it runs. An Interpreter fails at this node, too.
#
# Either each pass takes care of the order, or the graph is sorted once after all of them.
# A sort must return the same order each time, so a rule has to choose one of the possible orders. A good one is: **as near to the old order as possible**.
#
# **Predict the result.** The nodes of a graph are `a`, `b`, `c`, `d` in this order. `a` reads `d`, and the others read only the input. At each step, the first node that is ready comes next. What is the new order?
#
# <details><summary><code>d</code>, <code>a</code>, <code>b</code>, <code>c</code>: first the input of <code>a</code>, then <code>a</code></summary>
#
# That is an order, too. A recursive function that visits inputs first gives it. But it moves <code>d</code> to the front, although <code>b</code> is ready and was earlier.
# </details>
# <details><summary><code>b</code>, <code>c</code>, <code>d</code>, <code>a</code></summary>
#
# Right. <code>a</code> is not ready, so <code>b</code> is first, then <code>c</code>. Then <code>d</code>, and now <code>a</code> is ready.
# </details>
# <details><summary><code>b</code>, <code>c</code>, <code>a</code>, <code>d</code></summary>
#
# No. Then <code>a</code> would still be before <code>d</code>.
# </details>

# %% proof=true
reads = {"a": {"d"}, "b": set(), "c": set(), "d": set()}
order: list[str] = []
while len(order) < len(reads):
    order.append(next(n for n in reads if n not in order and reads[n] <= {*order}))
assert order == ["b", "c", "d", "a"]

# %% [markdown]
# If no node is ready and some are left, there is no such order. Each node that is left waits for another one that is left.
# So walk from one of them to an input that is left, and on: you must meet a node again. The nodes between the two meetings are a **cycle**: they wait for each other.
#
# Some nodes that are left are not in the cycle. They merely depend on it, so leave their names out of the message.

# %% [markdown] card="sort_graph"
# **Given** a graph module in whose graph some nodes may be before their inputs. Its placeholders are first.
#
# **Put** the nodes into order: next is always the node that was first in the old graph, among those whose inputs are all there already. The output comes last, wherever it was.
#
# **Raise** a `ValueError` if there is a cycle. Its message has the names of all nodes of one cycle, and no other node's name.
# Then the module is as it was before.
#
# **Fine print**
#
# * Inputs are all nodes that a node reads, in lists, slices and keywords, too.
# * The nodes are moved: the same objects, with their names, arguments and `meta`. Nodes that nobody reads stay.
# * A node that reads itself is a cycle.
# * Recompile the module. Return nothing.

# %%
graph = fx.Graph()
sine = graph.call_function(torch.sin, (graph.placeholder("x"),))
with graph.inserting_before(sine):
    late = graph.call_function(torch.cos, (sine,))
graph.output(late)
names = [node.name for node in graph.nodes]
print("before:", names)
print("after: ", ["x", "sin", "cos", "output"])

# %% proof=true
assert names == ["x", "cos", "sin", "output"]


# %% solve="sort_graph"
def sort_graph(gm: fx.GraphModule) -> None:
    """Put each node after all that it reads, as near to the old order as possible."""
    ### BEGIN SOLUTION
    (output,) = gm.graph.find_nodes(op="output")
    left = [node for node in gm.graph.nodes if node is not output]
    order: list[fx.Node] = []
    there: set[fx.Node] = set()
    while left:
        ready = next((node for node in left if there.issuperset(node.all_input_nodes)), None)
        if ready is None:
            walk = [left[0]]
            while walk[-1] not in walk[:-1]:
                walk.append(next(read for read in walk[-1].all_input_nodes if read in left))
            cycle = walk[walk.index(walk[-1]) : -1]
            names = ", ".join(node.name for node in cycle)
            raise ValueError(f"these nodes wait for each other: {names}")
        order.append(ready)
        there.add(ready)
        left.remove(ready)

    order.append(output)
    for first, second in zip(order, order[1:], strict=False):
        first.append(second)
    gm.recompile()
    ### END SOLUTION


# %% check="sort_graph"
check(sort_graph)

# %% hint="sort_graph"
hint("sort_graph")

# %% [markdown]
# The graph from the beginning of this section:

# %% uses="sort_graph"
sort_graph(gm)
gm.graph.lint()
print([node.name for node in gm.graph.nodes])
torch.testing.assert_close(gm(x), torch.sin(x) + 2 * torch.cos(x))

# %% proof=true
assert [node.name for node in gm.graph.nodes] == ["x", "sin", "cos", "mul", "add", "output"]

# %% [markdown]
# PyTorch has two functions for it. `stable_topological_sort` follows the rule of this section, and `legalize_graph` does not.
# Both make a new graph, so a node that you kept still belongs to the old one. If there is a cycle, both list all nodes that are left, even those that only wait:


# %%
def waiting() -> fx.GraphModule:
    """`sin` and `cos` wait for each other, and `tanh` waits for them."""
    gm = fx.symbolic_trace(lambda x: torch.tanh(torch.cos(torch.sin(x))))
    sin, cos = (node for node in gm.graph.nodes if node.target in (torch.sin, torch.cos))
    sin.args = (cos,)
    return gm


with fails(RuntimeError):
    legalize_graph(waiting())
with fails(AssertionError):
    stable_topological_sort(waiting())

# %% proof=true
for sort, error in ((legalize_graph, RuntimeError), (stable_topological_sort, AssertionError)):
    waves = fx.symbolic_trace(Waves())
    old = [*waves.graph.nodes]
    sort(waves)
    assert not any(node in old for node in waves.graph.nodes)
    try:
        sort(waiting())
    except error as raised:
        assert "tanh" in str(raised)

# %% [markdown]
# ### Break it: an order by inputs alone
#
# A sort sees edges, and nothing else. Chapter 3b showed that two calls can belong together without an edge: one writes a tensor, and the other one reads it.
# Here is a suspect (section 3b.6 explains the game; `09b_duels` has seven more).

# %% [markdown] card="WitnessSorted"
# **The suspect** is `suspects.inputs_first`, which is PyTorch's own `legalize_graph`.
# **Its task:** put each node after its inputs, and keep what the model computes.
#
# **Write** the class `WitnessSorted`, a model on which it is wrong, with its `inputs`: one tuple of arguments, a class attribute.
#
# **At most 3 calls.** The shortest that we know has 1.
#
# **Fine print**
#
# * `check` makes your model under three seeds. You win if the suspect is wrong each time, in the result or in the arguments afterwards.
# * Your model runs without the suspect, and gives the same result as its trace.

# %%
# In this graph the suspect moves nothing that matters: `mul` was the second call.
gm = suspects.inputs_first(fx.symbolic_trace(lambda x: torch.exp(x) + x * 2))
print([n.name for n in gm.graph.nodes])

# %% proof=true
assert [n.name for n in gm.graph.nodes] == ["x", "mul", "exp", "add", "output"]
ones = torch.ones(2)
torch.testing.assert_close(gm(ones), torch.exp(ones) + ones * 2)


# %% solve="WitnessSorted"
class WitnessSorted(nn.Module):
    """A model on which `suspects.inputs_first` is wrong: at most 3 calls.

    Attributes:
        inputs: the arguments of `forward`, as one tuple. Put in what you need.
    """

    inputs = (torch.tensor([-1.0, 2.0]),)

    def forward(self, x):
        ### BEGIN SOLUTION
        x.add_(1)
        return x * 2
        ### END SOLUTION


# %% check="WitnessSorted"
check(WitnessSorted)

# %% hint="WitnessSorted"
hint("WitnessSorted")

# %% [markdown]
# ## 12.3 One spelling, then the pattern
#
# A pattern finds what is written exactly like it (chapter 4), and one call can be written in many ways. So many pipelines begin with a pass that makes the spellings alike, and match afterwards.
#
# In an ATen graph most spellings are alike already. In a trace you can do it yourself, because a node knows the parameters of what it calls:


# %%
class Spelled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return torch.sum(self.layer(x), 1), torch.sum(x, dim=1, keepdim=True)


gm = fx.symbolic_trace(Spelled())
first, second = gm.graph.find_nodes(op="call_function", target=torch.sum)
one, other = (
    node.normalized_arguments(gm, normalize_to_only_use_kwargs=True) for node in (first, second)
)
print("first: ", one.kwargs)
print("second:", other.kwargs)

# %% proof=true
assert not one.args and list(one.kwargs) == ["input", "dim", "keepdim", "dtype"]
assert second.args == (second.all_input_nodes[0],)  # `dim` was a keyword
assert one.kwargs["keepdim"] is False and other.kwargs["keepdim"] is True

# %% [markdown]
# `normalized_arguments` returns all arguments by name, with the defaults. You can no longer see whether `dim` was written by position or by keyword.
#
# It has limits. It knows nothing about methods, or about `operator.add`. If two signatures fit, it asks for the types of the arguments:


# %%
class Unclear(nn.Module):
    def forward(self, x):
        return torch.add(x, x), x.sum(1), x + x


gm = fx.symbolic_trace(Unclear())
added, method, plus = (n for n in gm.graph.nodes if n.op.startswith("call_"))
with fails(RuntimeError):
    added.normalized_arguments(gm)
typed = added.normalized_arguments(
    gm, (torch.Tensor, torch.Tensor), normalize_to_only_use_kwargs=True
)
print(typed.kwargs, method.normalized_arguments(gm), plus.normalized_arguments(gm))

# %% proof=true
assert list(typed.kwargs) == ["input", "other", "alpha"] and typed.kwargs["alpha"] == 1
assert method.normalized_arguments(gm) is None and plus.normalized_arguments(gm) is None

# %% [markdown]
# **Predict the number.** One pattern is `torch.ops.aten.mul.Tensor(x, 0.5)`. It is looked for in the ATen graph of a model that computes `x * 0.5`, `0.5 * x`, `torch.mul(x, 0.5)` and `x / 2`. How many of the four calls does it find?
#
# <details><summary>1</summary>
#
# Methods, functions and operators leave the same call in an ATen graph, and a number on the left goes to the right.
# </details>
# <details><summary>3</summary>
#
# Right. Three spellings are one call here. A division by 2 gives the same values, but it is another operator. Recording makes spellings alike; it does no algebra.
# </details>
# <details><summary>4</summary>
#
# The division stays a division. A pass of yours can turn it into a product before the pattern is looked for.
# </details>

# %% proof=true
halves = make_fx(lambda x: (x * 0.5, 0.5 * x, torch.mul(x, 0.5), x / 2))(torch.ones(2))
found = fx.replace_pattern(
    halves,
    lambda x: torch.ops.aten.mul.Tensor(x, 0.5),
    lambda x: torch.ops.aten.neg.default(x),
)
assert len(found) == 3
assert halves.graph.find_nodes(op="call_function", target=torch.ops.aten.div.Tensor)

# %% [markdown]
# The compiler of `torch.compile`, Inductor, has a matcher of its own for ATen graphs. Chapter 12c shows a rule of it. Its import alone takes many seconds.

# %% [markdown]
# ## 12.4 Many passes
#
# `PassManager` runs a list of passes in order. It repeats the list until no pass says `modified`, and at most as often as `steps` says:

# %%
gm = fx.symbolic_trace(Unread())
result = PassManager([DeadCode()], steps=3)(gm)
print("modified:", result.modified, gm.code)

# %% proof=true
assert result.graph_module is gm and result.modified

# %% [markdown]
# What happens when a pass fails halfway?


# %%
def fails_halfway(gm: fx.GraphModule) -> PassResult:
    for node in gm.graph.nodes:
        if node.target is torch.sin:
            node.target = torch.exp
    gm.recompile()
    raise ValueError("half of it is done")


gm = fx.symbolic_trace(Waves())
with fails(Exception):
    PassManager([DeadCode(), fails_halfway])(gm)
print(gm.code)

# %% proof=true
assert gm.graph.find_nodes(op="call_function", target=torch.exp)  # half of it is done, indeed

# %% [markdown]
# The error says which pass it was. But the module is left half edited. Checks help little, because the manager keeps only one:

# %%
notes = []  # what ran, in order
manager = PassManager(
    [lambda gm: notes.append("pass") or PassResult(gm, False)], run_checks_after_each_pass=True
)
manager.add_checks(lambda gm: notes.append("first check"))
manager.add_checks(lambda gm: notes.append("second check"))
manager(fx.symbolic_trace(Waves()))
print(notes)

# %% proof=true
assert notes == ["second check", "pass", "second check"]
seldom = PassManager([lambda gm: notes.append("pass") or PassResult(gm, False)])
seldom.add_checks(lambda gm: notes.append("check"))
notes.clear()
seldom(fx.symbolic_trace(Waves()))
assert notes == ["check", "pass"]

# %% [markdown]
# `add_checks` replaces the check that was added before. And without `run_checks_after_each_pass`, the check is run once, before the first pass.
#
# So pipelines at work are often written by hand. Torch-TensorRT's is a loop over a list, to which each pass is added at an index.
# Inductor has places for a pass of yours: it gets the graph, changes it, and returns nothing.
# A good pipeline needs a rule for failures, and the simplest is this: **a pass that fails was never there.**
#
# **Predict the result.** Before a pass is called, you keep `fx.GraphModule(gm, copy.deepcopy(gm.graph))`. The pass writes zeros into all weights, then raises. You continue with what you kept. What are the weights?
#
# <details><summary>As they were: it was a copy</summary>
#
# The graph was copied. The parameters were not.
# </details>
# <details><summary>Zero</summary>
#
# Right. The new module has its own graph, and shares the parameters with the old one. <code>copy.deepcopy(gm)</code> copies both.
# </details>
# <details><summary>It cannot be called: the module is broken</summary>
#
# It can be called, and computes with zeros.
# </details>

# %% proof=true
spelled = fx.symbolic_trace(Spelled())
kept = fx.GraphModule(spelled, copy.deepcopy(spelled.graph))
whole = copy.deepcopy(spelled)
with torch.no_grad():
    for parameter in spelled.parameters():
        parameter.zero_()
assert not kept.layer.weight.any() and whole.layer.weight.any()
kept(torch.ones(2, 3))

# %% [markdown] card="run_pipeline"
# **Run** all `passes` on a graph module in their order, round after round, until a round in which no pass that held said `modified`.
# After **every** pass, whatever it says, run all `checks` on the module that it returned.
#
# A pass that raises, breaks a check, or returns anything but a `PassResult` is **undone**: graph, layers and weights are as before.
# It is reported, and not tried again. The others go on.
#
# **Return** a tuple: the final module, and the report: a list of texts `"name: error: message"`, in order.
#
# **Do not** change the given module or the lists.
#
# **Fine print**
#
# * A pass is called with a graph module, changes it or not, and returns a `PassResult`, whose module may be another one. What a pass says is believed.
# * A check is called with a graph module, and raises if it is not in order. The module that you are given passes all checks.
# * A text of the report has the name of the function or of the object's class, the type of the exception, and its text. A return value that is not a `PassResult` is reported as a `TypeError`, with any text.
# * **Raise** a `RuntimeError` if the last allowed round, number `limit`, still changes something. `KeyboardInterrupt` is not a failure of a pass: let it through.
# * Two passes may have the same name.


# %%
def gives_up(gm: fx.GraphModule) -> PassResult:
    (sine,) = gm.graph.find_nodes(op="call_function", target=torch.sin)
    sine.target = torch.exp
    raise ValueError("half of it is done")


gm = fx.symbolic_trace(lambda x: torch.sin(x))
with fails(ValueError):
    gives_up(copy.deepcopy(gm))
report = ["gives_up: ValueError: half of it is done"]
print("run_pipeline(gm, [gives_up]) must return the graph unchanged, and the report", report)


# %% solve="run_pipeline"
def run_pipeline(gm: fx.GraphModule, passes, checks=(), limit=20):
    """Run passes until none changes anything; a pass that fails was never there."""
    ### BEGIN SOLUTION
    current, left, report = copy.deepcopy(gm), list(passes), []
    for _ in range(limit):
        modified = False
        for each in list(left):
            try:
                result = each(copy.deepcopy(current))
                if not isinstance(result, PassResult):
                    raise TypeError(f"a pass returns a PassResult, not a {type(result).__name__}")
                for look in checks:
                    look(result.graph_module)
            except Exception as error:
                left = [other for other in left if other is not each]
                name = getattr(each, "__name__", type(each).__name__)
                report.append(f"{name}: {type(error).__name__}: {error}")
            else:
                current = result.graph_module
                modified = modified or result.modified
        if not modified:
            return current, report
    raise RuntimeError(f"after {limit} rounds, the passes still change something")
    ### END SOLUTION


# %% check="run_pipeline"
check(run_pipeline)

# %% hint="run_pipeline"
hint("run_pipeline")

# %% [markdown]
# Now the team's network, with three passes. The first one is bad: it forgets a part of the network, and nothing in it raises.
# But a check knows the right shape:

# %%
network = make_alive(googlenet(weights=None, init_weights=False, aux_logits=False))
gm = fx.symbolic_trace(network)
image = images(1, 32)


def forgets_a_branch(gm: fx.GraphModule) -> PassResult:
    """Each concatenation keeps its first part only."""
    for node in gm.graph.find_nodes(op="call_function", target=torch.cat):
        node.args = ([node.args[0][0]], *node.args[1:])
    gm.recompile()
    return PassResult(gm, True)


def right_shape(gm: fx.GraphModule) -> None:
    """The result is one row of a thousand numbers."""
    with torch.no_grad():
        assert gm(image).shape == (1, 1000), "not a thousand numbers"


right_shape(gm)
print(len(gm.graph.find_nodes(op="call_function", target=torch.cat)), "concatenations")

# %% proof=true
assert len(gm.graph.find_nodes(op="call_function", target=torch.cat)) == 9

# %% uses="run_pipeline"
passes = [forgets_a_branch, OpSwap({F.relu: F.silu}), DeadCode()]
smooth, report = run_pipeline(gm, passes, checks=[lambda gm: gm.graph.lint(), right_shape])
print(report)
for function in (F.relu, F.silu):
    found = smooth.graph.find_nodes(op="call_function", target=function)
    print(len(found), "calls of", function.__name__)


def with_silu(x: torch.Tensor) -> torch.Tensor:
    with mock.patch("torch.nn.functional.relu", lambda x, inplace=False: F.silu(x)):
        return network(x)


print("difference:", assert_same_results(smooth, with_silu, image))

# %% proof=true
assert len(report) == 1 and report[0].startswith("forgets_a_branch: RuntimeError: ")
assert len(found) == 57
assert not smooth.graph.find_nodes(op="call_function", target=F.relu)

# %% [markdown]
# The bad pass is named, and nothing of it is left. The other two did their work on the whole network.
# That ends the story: whatever a check notices is undone, and no author had to rewrite a pass.
#
# A check does not notice everything. `OpSwap` changed every activation here, which was wanted, and both checks passed.
# A pass that did so by mistake would pass them, too. Chapter 9 has checks that compare values.

# %% [markdown]
# ## 12.5 Operators of your own, and constants
#
# A pass that replaces many nodes by one needs a function for that one. A trace looks into a plain Python function. A **custom operator** is one node for all of PyTorch:


# %%
@torch.library.custom_op("fxcourse12::scaled_tanh", mutates_args=())
def scaled_tanh(x: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.tanh(x) * scale


@scaled_tanh.register_fake
def _(x, scale):
    return torch.empty_like(x)


class Scaled(nn.Module):
    def forward(self, x):
        return scaled_tanh(x, 2.0) + 1


op = torch.ops.fxcourse12.scaled_tanh.default
(traced,) = fx.symbolic_trace(Scaled()).graph.find_nodes(op="call_function", target=op)
recorded = make_fx(Scaled(), tracing_mode="fake")(torch.ones(2, 3))
(node,) = recorded.graph.find_nodes(op="call_function", target=op)
print(node.target, node.meta["val"])

# %% proof=true
assert traced.target is op and node.meta["val"].shape == (2, 3)
torch.testing.assert_close(recorded(torch.ones(2, 3)), Scaled()(torch.ones(2, 3)))
unregistered = scaled_tanh(torch.ones(2, requires_grad=True), 2.0).sum()
with fails(RuntimeError):  # register_autograd
    unregistered.backward()

# %% [markdown]
# `torch.library.custom_op` registers the operator under a name, with the types of its arguments. `register_fake` gives the shape and dtype of its result.
# So `meta["val"]` is right although nothing was computed. Without it, an export stops at your operator.
# The operator has no gradient until you register one with `register_autograd`: until then, `backward` raises.
#
# Other nodes need not run at all. A value that depends on parameters alone can be computed once:


# %%
class Gain(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.bias = (nn.Parameter(torch.rand(3)) for _ in range(2))

    def forward(self, x):
        return x * (self.weight.exp() + self.bias)


gain = Gain()
folded = split_const_subgraphs(fx.symbolic_trace(gain))
folded.run_folding()
torch.testing.assert_close(folded(x := torch.rand(2, 3)), gain(x))
print(folded.code)

# %% proof=true
assert [n.op for n in folded.graph.nodes] == ["placeholder", "get_attr", "call_function", "output"]

# %% [markdown]
# `split_const_subgraphs` cuts the graph in two. The constant part runs at the first call, or when you call `run_folding`. From then on, the module does not read its parameters any more, so fold last:

# %%
with torch.no_grad():
    gain.weight.add_(1)  # training, or loading a checkpoint
print("the model: ", gain(x)[0])
print("the folded:", folded(x)[0])

# %% proof=true
assert not torch.allclose(folded(x), gain(x))
itself = split_const_subgraphs(fx.symbolic_trace(gain))
assert not itself.has_folding_been_run
itself(x)
assert itself.has_folding_been_run

# %% [markdown]
# ## Common mistakes
#
# ### Entry after entry
#
# If you apply a table one entry after another, the second entry meets the result of the first:

# %%
gm = fx.symbolic_trace(Waves())
for old, new in {torch.sin: torch.cos, torch.cos: torch.sin}.items():
    for node in gm.graph.find_nodes(op="call_function", target=old):
        node.target = new
gm.recompile()
print(gm.code)

# %% proof=true
assert [n.target for n in gm.graph.nodes][1:3] == [torch.sin, torch.sin]

# %% [markdown]
# **Right:** go through the nodes, and look each target up once.
#
# ### `modified` stays true
#
# An attribute that is set in `__init__` or in the class belongs to the pass, and not to a call. After the first change it is `True` forever:


# %%
class Remembers(DeadCode):
    modified = False

    def call(self, graph_module):
        self.modified |= super().call(graph_module).modified
        return PassResult(graph_module, self.modified)


remembers, gm = Remembers(), fx.symbolic_trace(Unread())
answers = [remembers(gm).modified for _ in range(3)]
answers

# %% proof=true
assert answers == [True, True, True]

# %% [markdown]
# **Right:** a local variable of `call`.
#
# ### A wrapped function gets another target
#
# `fx.wrap` makes a function a leaf, and leaves `is_wrapped` in the `meta` of its nodes. If such a node gets another target, the entry stays.
# Then the generated code wraps the *new* function:

# %%


@fx.wrap
def leaf(x):
    return x + 1


class Leaves(nn.Module):
    def forward(self, x):
        return leaf(x)


gm = fx.symbolic_trace(Leaves())
(node,) = gm.graph.find_nodes(op="call_function", target=leaf)
node.target = torch.sigmoid
print(gm.graph.python_code("self").src)

# %% proof=true
from torch.fx import _symbolic_trace

names_before = dict(_symbolic_trace._wrapped_fns_to_patch)
wrapping = copy.deepcopy(gm)
wrapping.recompile()
with fails(KeyError):
    fx.symbolic_trace(nn.Linear(2, 2))
_symbolic_trace._wrapped_fns_to_patch.clear()
_symbolic_trace._wrapped_fns_to_patch.update(names_before)
node.meta.pop("is_wrapped")
assert "wrap(" not in gm.graph.python_code("self").src
node.meta["is_wrapped"] = True

# %% [markdown]
# No module has a function with that name. If you recompile this graph, every later `symbolic_trace` of the process raises a `KeyError`.
#
# **Right:** a new node for the new function, or `node.meta.pop("is_wrapped", None)`.
#
# ### A pass returns a tuple, or nothing
#
# `PassManager` uses the attributes `graph_module` and `modified` of the result. `None` and a tuple have neither:

# %%
with fails(Exception):
    PassManager([lambda gm: (gm, False)])(fx.symbolic_trace(Waves()))

# %% [markdown]
# **Right:** return a `PassResult`. A function that returns nothing can be wrapped in `pass_result_wrapper`.

# %% [markdown]
# ## Recap
#
# 1. A pass is a class with `call`, and with `requires` and `ensures` if there is something to check. It returns a `PassResult`.
# 2. `modified` is a promise about one call. It decides when the rounds end.
# 3. First make the spellings alike, then match. An ATen graph has few spellings.
# 4. A graph out of order is sorted once, by a rule that gives the same order each time.
# 5. If you run passes of others, make a deep copy before each, and keep only results that pass all checks.
# 6. A custom operator is one node in every graph; with a fake kernel its `meta` is true, too.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `PassBase`, `PassResult(gm, modified)` | the form of a pass, and what it returns |
# | `PassManager(passes, steps=3)` | runs passes in rounds |
# | `node.normalized_arguments(gm, normalize_to_only_use_kwargs=True)` | all arguments by name, or `None` |
# | `torch.library.custom_op("space::name", mutates_args=())` | an operator of your own |
# | `operator.register_fake` | the shape and dtype of its result |
# | `split_const_subgraphs(gm)`, then `run_folding()` | computes what depends on parameters alone |
#
# See how far you are:

# %%
progress()

# %% [markdown]
# ## What was not taught here
#
# | topic | where |
# |---|---|
# | what a pass does to the parts of an exported program | the deep dive `11b_aten` |
# | finding out which of many passes is wrong | chapter 9 |
# | parts of a graph for a backend, and what they cost | chapters 13b and 13 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html),
# [torch.library](https://docs.pytorch.org/docs/stable/library.html), and
# [Custom operators](https://docs.pytorch.org/tutorials/advanced/python_custom_ops.html).
