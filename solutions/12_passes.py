# %% [markdown]
# # 12 · Passes as they are written at work
#
# **After this chapter you can write a pass that others can rely on, and run many of them so that a bad one does no harm.**
#
# | | |
# |---|---|
# | **You need** | chapters 1 to 4 and 11: traces, editing a graph, replacing, ATen graphs |
# | **Time** | about 115 minutes with *Common mistakes*, 65 of them for the exercises; the minutes of a section include its exercise |
#
# **When you are done, you can**
#
# 1. write a pass as a class, with what must hold before and after it;
# 2. say honestly whether a pass has changed anything, and say why others ask;
# 3. put a graph into order in which nodes are before their inputs;
# 4. bring the spellings of a call to one, before you look for it;
# 5. run passes until they come to rest, and undo what breaks a check;
# 6. make an operator of your own that traces, exports and fake tensors know.

# %% [markdown]
# ## A story
#
# The team's compiler has eleven passes by now, from four authors. Each of them is right on its own.
# Together they are not: one pass says that it changed nothing, and did. One leaves the graph out of order when it meets a model that nobody had thought of.
# When it raises, the module is half edited, and nobody knows which half.
#
# No pass is rewritten in this chapter. They get rules instead: what a pass returns, what is checked after it, and what happens when it fails.
# Frameworks that are built on FX have such rules, and they are much alike: TensorRT's converter, ExecuTorch, vLLM and PyTorch itself.

# %%
import copy
from unittest import mock

import torch
from IPython.display import display
from torch import fx, nn
from torch.fx.experimental.const_fold import split_const_subgraphs
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import (
    PassManager,
    pass_result_wrapper,
    this_before_that_pass_constraint,
)
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
# Right. The graph is a description, and the code was written from it earlier. Only <code>recompile()</code> writes it anew.
# </details>
# <details><summary>The new graph</summary>
#
# No. A graph module runs its code, not its graph. An Interpreter would run the graph.
# </details>
# <details><summary>Nothing: the module raises an error</summary>
#
# No. It works as before, which is why this is so easy to miss.
# </details>


# %%
class Waves(nn.Module):
    def forward(self, x):
        return torch.sin(x) + torch.cos(x)


gm = fx.symbolic_trace(Waves())
(sine,) = gm.graph.find_nodes(op="call_function", target=torch.sin)
sine.target = torch.exp
x = torch.ones(2)
torch.testing.assert_close(gm(x), Waves()(x))
gm.recompile()
torch.testing.assert_close(gm(x), torch.exp(x) + torch.cos(x))

# %% [markdown]
# **Predict the number.** A model computes ReLU in four ways: `torch.relu(x)`, `x.relu()`, `F.relu(x)` and with `nn.ReLU()`. How many different targets do these calls have in an ATen graph?
#
# <details><summary>4, as in a trace by <code>symbolic_trace</code></summary>
#
# There, each spelling has a target of its own. An ATen graph is recorded further down, where all of them have become the same operator.
# </details>
# <details><summary>1</summary>
#
# Right. That is why so many passes are written for ATen graphs: whoever looks for one operator finds all spellings.
# </details>
# <details><summary>2: the functions, and the module</summary>
#
# No. A module has no node of its own in an ATen graph.
# </details>


# %%
class FourWays(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()

    def forward(self, x):
        return torch.relu(x), x.relu(), F.relu(x), self.relu(x)


traced = fx.symbolic_trace(FourWays())
assert len({(n.op, n.target) for n in traced.graph.nodes if n.op.startswith("call_")}) == 4
aten = make_fx(FourWays())(torch.ones(2))
calls = [n.target for n in aten.graph.nodes if n.op == "call_function"]
assert calls == [torch.ops.aten.relu.default] * 4

# %% [markdown]
# ## 12.1 A pass that says what it did
#
# In the chapters before, a pass was a function. In larger projects it is an object with a fixed shape. `torch.fx` has a class for that: you write `call`, and get the rest.


# %%
class DeadCode(PassBase):
    """Takes out what nobody reads."""

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
assert first.graph_module is gm and first.modified is True
assert second.modified is False  # nothing was left to do

# %% [markdown]
# Three methods have a place in such a class: `requires` runs before, `call` does the work, and `ensures` runs after.
# The pass itself is called like a function, and returns a `PassResult`: the module, and whether anything was changed.
#
# Why does anybody ask? Because passes are run in rounds. One pass makes room for another, so all of them run again until nobody has changed anything.
# A pass that says `True` too often makes this go on for ever. One that says `False` too often ends it too early:


# %%
def rounds(passes, gm, limit=10):
    """Run all passes again and again, until none says that it has changed anything."""
    for number in range(1, limit + 1):
        said = [each(gm).modified for each in passes]
        if not any(said):
            return number
    return None


class Busy(DeadCode):
    def call(self, graph_module):
        return PassResult(super().call(graph_module).graph_module, True)


assert rounds([DeadCode()], fx.symbolic_trace(Unread())) == 2  # one that works, one that looks
assert rounds([Busy()], fx.symbolic_trace(Unread())) is None  # it would go on for ever

# %% [markdown]
# **Predict the result.** `pass_result_wrapper` makes a pass of a plain function that returns nothing. What does such a pass say of itself when the function changes nothing?
#
# <details><summary><code>modified</code> is <code>False</code></summary>
#
# It would have to compare the graph with the one before. It does not.
# </details>
# <details><summary><code>modified</code> is <code>True</code>, always</summary>
#
# Right. It cannot know, so it says what does least harm. In rounds it never comes to rest, and all steps are used up.
# </details>
# <details><summary>It raises an error, because nothing was returned</summary>
#
# No. A function that returns nothing is what it was made for.
# </details>


# %%
def does_nothing(gm):
    """Looks at the graph, and leaves it alone."""


runs = []
wrapped = pass_result_wrapper(does_nothing)
assert wrapped(gm).modified is True
PassManager([wrapped, lambda gm: runs.append(1) or PassResult(gm, False)], steps=5)(gm)
assert len(runs) == 5

# %% [markdown] card="OpSwap"
# **Write** a class, a subclass of `PassBase`, that is made with a table: `OpSwap({torch.sin: torch.cos})`. Its keys and its values are functions.
#
# **Called** with a graph module, it makes every `call_function` node whose target is a key of the table call the value instead.
# All entries act **at once**, on the targets that were there: `{a: b, b: a}` exchanges two functions, and `{a: b, b: c}` makes no `c` of an `a`.
#
# **Return** a `PassResult` with **the module that was given**, recompiled, and `modified`: a `bool` that is `True` exactly if some node has another target than before this call.
# An entry from a function to itself changes nothing.
#
# * The nodes stay: the same objects, with their names, arguments and `meta`. (The entry `is_wrapped`, which `fx.wrap` makes, must go with the old function. That is not tried.)
# * Methods and modules are left alone, and so are functions that only share a name with a key.
# * It works in a `PassManager`, too.

# %%
before = fx.symbolic_trace(lambda x: torch.sin(x) + torch.cos(x))
after = copy.deepcopy(before)
for node in after.graph.nodes:
    node.target = {torch.sin: torch.cos, torch.cos: torch.sin}.get(node.target, node.target)
after.recompile()
assert [n.target for n in after.graph.nodes][1:3] == [torch.cos, torch.sin]
display(draw.diff(before, after))


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
assert swap(gm).modified
assert [n.target for n in gm.graph.nodes][1:3] == [torch.cos, torch.sin]
assert swap(gm).modified and not OpSwap({torch.tanh: torch.exp})(gm).modified


# %% [markdown]
# ## 12.2 Inputs first
#
# A graph is a list of nodes, and each node must come after all that it reads. A pass can break that easily, because a new node is put where the pass happens to be:


# %%
class Sum(nn.Module):
    def forward(self, x):
        a = torch.sin(x)
        b = torch.cos(x)
        return a + b


gm = fx.symbolic_trace(Sum())
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

# %% [markdown]
# `lint` sees it. The code is written all the same, and fails only when it runs. An Interpreter fails at this node, too:

# %%
with fails(RuntimeError):
    fx.Interpreter(gm).run(x)

# %% [markdown]
# There are two ways out. Each pass can take care of every place. Or the graph is sorted once, behind passes that do not care.
# What comes out must be the same each time, so among all orders that are possible a rule has to choose one. A good one is: **as near to the old order as possible**.
#
# **Predict the result.** The nodes of a graph are `a`, `b`, `c`, `d` in this order. `a` reads `d`, and nobody else reads anything but the input. At each step, the first node that is ready comes next. In which order do they end?
#
# <details><summary><code>d</code>, <code>a</code>, <code>b</code>, <code>c</code>: what <code>a</code> needs is fetched, then <code>a</code></summary>
#
# That is an order, too, and a function that calls itself for the inputs gives it. But it moves <code>d</code> to the front, although <code>b</code> is ready and was earlier.
# </details>
# <details><summary><code>b</code>, <code>c</code>, <code>d</code>, <code>a</code></summary>
#
# Right. <code>a</code> is not ready, so <code>b</code> is first, then <code>c</code>. Now <code>d</code>, and as soon as it is there, <code>a</code> is the first of those that are ready.
# </details>
# <details><summary><code>b</code>, <code>c</code>, <code>a</code>, <code>d</code></summary>
#
# No. Then <code>a</code> would still be before <code>d</code>.
# </details>

# %%
reads = {"a": {"d"}, "b": set(), "c": set(), "d": set()}
order: list[str] = []
while len(order) < len(reads):
    order.append(next(n for n in reads if n not in order and reads[n] <= {*order}))
assert order == ["b", "c", "d", "a"]

# %% [markdown]
# If no node is ready and some are left, there is no such order. Each of those that are left waits for another one of them.
# So if you walk from one of them to an input that is left, and on, you must meet a node again. What is between is a **cycle**: nodes that wait for each other.
#
# Not all that is left is in the cycle. Some nodes only wait for it, and who looks for the mistake does not want to read their names.

# %% [markdown] card="sort_graph"
# **Given** a graph module in whose graph some nodes may be before their inputs. Its placeholders are first.
#
# **Put** the nodes into order: next is always the node that was first in the old graph, among those whose inputs are all there already. The output comes last, wherever it was.
#
# * Inputs are all nodes that a node reads, in lists, slices and keywords, too.
# * The nodes are moved: the same objects, with their names, arguments and `meta`. What nobody reads stays.
# * Recompile the module. Return nothing.
#
# **Raise** a `ValueError` if there is a cycle. Its message has the names of all nodes of one cycle, and no other node's name. A node that reads itself is a cycle.
# Then the module is as it was before.

# %%
graph = fx.Graph()
sine = graph.call_function(torch.sin, (graph.placeholder("x"),))
with graph.inserting_before(sine):
    late = graph.call_function(torch.cos, (sine,))
graph.output(late)
names = [node.name for node in graph.nodes]
print("before:", names)
print("after: ", ["x", "sin", "cos", "output"])
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
assert [node.name for node in gm.graph.nodes] == ["x", "sin", "cos", "mul", "add", "output"]
torch.testing.assert_close(gm(x), torch.sin(x) + 2 * torch.cos(x))

# %% [markdown]
# PyTorch has two functions for it. `stable_topological_sort` follows the rule of this section, and `legalize_graph` does not.
# Both make a new graph with new nodes, and when there is a cycle, both list all nodes that are left, those that only wait among them:


# %%
def waiting() -> fx.GraphModule:
    """`sin` and `cos` wait for each other, and `tanh` waits for them."""
    gm = fx.symbolic_trace(lambda x: torch.tanh(torch.cos(torch.sin(x))))
    sin, cos = (node for node in gm.graph.nodes if node.target in (torch.sin, torch.cos))
    sin.args = (cos,)
    return gm


gm = fx.symbolic_trace(Waves())
old = [*gm.graph.nodes]
stable_topological_sort(gm)
assert not any(node in old for node in gm.graph.nodes)  # whoever kept a node has one of no graph
for sort, error in ((legalize_graph, RuntimeError), (stable_topological_sort, AssertionError)):
    try:
        sort(waiting())
    except error as raised:
        print(raised)
        assert "tanh" in str(raised)

# %% [markdown]
# ### Break it: an order by inputs alone
#
# A sort sees edges, and nothing else. Chapter 3b showed that two calls can belong together without an edge: one writes a tensor, and the other one reads it.
# Here is a suspect (chapter 3b, section 3b.6, explains the game; `09b_duels` has seven more).

# %% [markdown] card="WitnessSorted"
# **The suspect** is `suspects.inputs_first`, which is PyTorch's own `legalize_graph`.
# **Its task:** put each node behind its inputs, and keep what the model computes.
#
# **Write** the class `WitnessSorted`, a model on which it is wrong, with its `inputs`: one tuple of arguments, a class attribute.
#
# **At most 3 calls.** The shortest that we know has 1.

# %%
# In this graph the suspect moves nothing that matters: `mul` was the second call.
gm = suspects.inputs_first(fx.symbolic_trace(lambda x: torch.exp(x) + x * 2))
assert [n.name for n in gm.graph.nodes] == ["x", "mul", "exp", "add", "output"]
x = torch.ones(2)
torch.testing.assert_close(gm(x), torch.exp(x) + x * 2)
draw(gm)


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
# A pattern finds what is written exactly like it (chapter 4). In a trace, one call can be written in many ways. So many pipelines begin with a pass that makes them alike, and match afterwards.
#
# An ATen graph does most of that, as you saw above. In a trace you can do it yourself, because a node knows the parameters of what it calls:


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
print(one.kwargs)
assert not one.args and list(one.kwargs) == ["input", "dim", "keepdim", "dtype"]
assert one.kwargs["keepdim"] is False and other.kwargs["keepdim"] is True

# %% [markdown]
# `normalized_arguments` gives all arguments by name, and fills in the defaults. Whether `dim` was written by position or by keyword can no longer be seen.
#
# It has limits. Of a method it knows nothing, and of `operator.add` nothing. Where two signatures fit, it gives up, or asks for the types of the arguments:


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
assert list(typed.kwargs) == ["input", "other", "alpha"] and typed.kwargs["alpha"] == 1
assert method.normalized_arguments(gm) is None and plus.normalized_arguments(gm) is None

# %% [markdown]
# **Predict the result.** One pattern, `torch.ops.aten.relu.default`, is looked for in the ATen graph of `FourWays`. How many of the four calls does it find?
#
# <details><summary>All four</summary>
#
# Right. To make the spellings alike is a pass, too, and here `make_fx` did it.
# </details>
# <details><summary>Three: not the module</summary>
#
# No. What the module does when it is called is recorded, and that is the same operator.
# </details>
# <details><summary>One: the pattern is a function, so it finds functions</summary>
#
# In an ATen graph all calls are calls of functions.
# </details>

# %%
found = fx.replace_pattern(
    aten,
    lambda x: torch.ops.aten.relu.default(x),
    lambda x: torch.ops.aten.clamp_min.default(x, 0),
)
assert len(found) == 4
assert not aten.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)

# %% [markdown]
# Inductor, the compiler behind `torch.compile`, has a matcher of its own for ATen graphs. A rule there is written as two functions, the pattern and its replacement,
# and is traced with example inputs; or as a tree of calls, in which a place can be left open.
# It is worth reading: look into the folder *fx_passes* of Inductor. It is not worth using in a small project, because its import alone takes many seconds.

# %% [markdown]
# ## 12.4 Many passes
#
# `PassManager` runs a list of passes, one after another, as often as `steps` says or until nobody says `modified`. It can also put them in order:

# %%
order = this_before_that_pass_constraint(DeadCode, Busy)
assert order(DeadCode, Busy) and not order(Busy, DeadCode)

manager = PassManager([DeadCode()], steps=3)
gm = fx.symbolic_trace(Unread())
result = manager(gm)
assert result.graph_module is gm and result.modified

# %% [markdown]
# It does little more. What happens when a pass fails halfway?


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
assert gm.graph.find_nodes(op="call_function", target=torch.exp)  # half of it is done, indeed

# %% [markdown]
# The error says which pass it was. But the module is half edited, and the pass before has no say any more. Checks are not much help either. There is room for one:

# %%
notes = []
manager = PassManager([lambda gm: PassResult(gm, False)], run_checks_after_each_pass=True)
manager.add_checks(lambda gm: notes.append("first check"))
manager.add_checks(lambda gm: notes.append("second check"))
manager(fx.symbolic_trace(Waves()))
assert notes == ["second check", "second check"]  # before all passes, and after this one

# %% [markdown]
# `add_checks` replaces what was added before. And without `run_checks_after_each_pass`, the check is run once, before the first pass.
#
# So pipelines at work are often written by hand. They are short. What they need is a rule for failures, and the simplest good one is this: **a pass that fails was never there.**
#
# **Predict the result.** Before a pass is called, you keep `fx.GraphModule(gm, copy.deepcopy(gm.graph))`. The pass writes zeros into all weights, then raises. You go on with what you kept. What are the weights?
#
# <details><summary>As they were: it was a copy</summary>
#
# The graph was copied. The parameters were not.
# </details>
# <details><summary>Zero</summary>
#
# Right. The new module has its own graph, and shares the parameters with the old one. <code>copy.deepcopy(gm)</code> copies both.
# </details>
# <details><summary>Nobody can know: the module is broken</summary>
#
# It works well, with zeros.
# </details>

# %%
gm = fx.symbolic_trace(Spelled())
kept = fx.GraphModule(gm, copy.deepcopy(gm.graph))
whole = copy.deepcopy(gm)
with torch.no_grad():
    for parameter in gm.parameters():
        parameter.zero_()
assert not kept.layer.weight.any() and whole.layer.weight.any()

# %% [markdown] card="run_pipeline"
# **Given** a graph module, a list of passes, a list of checks, and a limit.
#
# * A pass is called with a graph module, changes it or not, and returns a `PassResult`, whose module may be another one.
# * A check is called with a graph module, and raises if it is not in order.
#
# **Run** all passes in their order, round after round, until a round in which no pass that held said `modified`. What a pass says of itself is believed.
# After **every** pass, whatever it says, run all checks on the module that it returned.
#
# A pass that raises, or that breaks a check, or that returns anything but a `PassResult`, is **undone**: graph, layers and weights are as they were before it.
# It is reported, and not tried again. The others go on.
#
# **Return** a tuple: the module that all of this ends with, and the report, a list of texts in order: `"name: error: message"`,
# with the name of the function or of the object's class, the type of the exception, and its text. What is no `PassResult` counts as a `TypeError` with any text.
#
# **Raise** a `RuntimeError` if round number `limit` still modifies. `KeyboardInterrupt` is no failure of a pass: let it through.
#
# **Do not** change the module that was given, or the lists. The checks hold for that module. Two passes may bear one name.


# %%
def gives_up(gm: fx.GraphModule) -> PassResult:
    (sine,) = gm.graph.find_nodes(op="call_function", target=torch.sin)
    sine.target = torch.exp
    raise ValueError("half of it is done")


gm = fx.symbolic_trace(lambda x: torch.sin(x))
with fails(ValueError):
    gives_up(copy.deepcopy(gm))
report = ["gives_up: ValueError: half of it is done"]
print("run_pipeline(gm, [gives_up]) must give the graph as it was, and the report", report)


# %% solve="run_pipeline"
def run_pipeline(gm: fx.GraphModule, passes, checks=(), limit=20):
    """Run passes until they come to rest; what fails was never there."""
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
    raise RuntimeError(f"after {limit} rounds, the passes have not come to rest")
    ### END SOLUTION


# %% check="run_pipeline"
check(run_pipeline)

# %% hint="run_pipeline"
hint("run_pipeline")

# %% [markdown]
# Now the team's network, with three passes. The first one of them is bad: it forgets a part of the network, and nothing in it raises.
# But a check knows what must come out:

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
    """One row of a thousand numbers comes out."""
    with torch.no_grad():
        assert gm(image).shape == (1, 1000), "not a thousand numbers"


assert gm.graph.find_nodes(op="call_function", target=torch.cat)
right_shape(gm)

# %% uses="run_pipeline"
passes = [forgets_a_branch, OpSwap({F.relu: F.silu}), DeadCode()]
smooth, report = run_pipeline(gm, passes, checks=[lambda gm: gm.graph.lint(), right_shape])
print(report)
assert len(report) == 1 and report[0].startswith("forgets_a_branch: RuntimeError: ")
assert not smooth.graph.find_nodes(op="call_function", target=F.relu)
assert len(smooth.graph.find_nodes(op="call_function", target=F.silu)) == 57


def with_silu(x: torch.Tensor) -> torch.Tensor:
    with mock.patch("torch.nn.functional.relu", lambda x, inplace=False: F.silu(x)):
        return network(x)


assert_same_results(smooth, with_silu, image)

# %% [markdown]
# The bad pass is named, and nothing of it is left. The other two did their work on the whole network.
# That ends the story: no author was asked to write a better pass, and the compiler is safe from each of them.

# %% [markdown]
# ## 12.5 Operators of your own, and what can be computed before
#
# A pass that replaces many nodes by one needs a function for that one. If it is a plain Python function, a trace looks into it. A **custom operator** is opaque for all of PyTorch:


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
assert fx.symbolic_trace(Scaled()).graph.find_nodes(op="call_function", target=op)
recorded = make_fx(Scaled(), tracing_mode="fake")(torch.ones(2, 3))
(node,) = recorded.graph.find_nodes(op="call_function", target=op)
assert node.meta["val"].shape == (2, 3)
torch.testing.assert_close(recorded(torch.ones(2, 3)), Scaled()(torch.ones(2, 3)))

# %% [markdown]
# `torch.library.custom_op` registers the operator under a name, with the types of its arguments, and `register_fake` says which shape and dtype come out.
# With the second one, `meta["val"]` is right although nothing was computed. Without it, an export stops at your operator.
#
# The opposite of one node for many: some nodes need not run at all. What depends on parameters alone can be computed once:


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
assert [n.op for n in folded.graph.nodes] == ["placeholder", "get_attr", "call_function", "output"]

# %% [markdown]
# `split_const_subgraphs` cuts the graph in two, and `run_folding` computes the constant part. From then on, the module does not know its parameters any more:

# %%
with torch.no_grad():
    gain.weight.add_(1)
assert not torch.allclose(folded(x), gain(x))

# %% [markdown]
# ## Common mistakes
#
# Here you see each of them fail. (8 minutes)
#
# ### Entry after entry
#
# If a table is worked off one entry after another, the second entry meets what the first one made:

# %%
gm = fx.symbolic_trace(Waves())
for old, new in {torch.sin: torch.cos, torch.cos: torch.sin}.items():
    for node in gm.graph.find_nodes(op="call_function", target=old):
        node.target = new
assert [n.target for n in gm.graph.nodes][1:3] == [torch.sin, torch.sin]

# %% [markdown]
# **Right:** go through the nodes, and look each target up once.
#
# ### `modified` stays true
#
# An attribute that is set in `__init__` belongs to the pass, and not to a call. After the first change it says `True` for ever:


# %%
class Remembers(DeadCode):
    modified = False

    def call(self, graph_module):
        self.modified |= super().call(graph_module).modified
        return PassResult(graph_module, self.modified)


remembers, gm = Remembers(), fx.symbolic_trace(Unread())
assert [remembers(gm).modified for _ in range(3)] == [True, True, True]

# %% [markdown]
# **Right:** a local variable of `call`.
#
# ### A wrapped function gets another target
#
# A function that was made a leaf with `fx.wrap` leaves a note in the `meta` of its nodes. If such a node calls another function later, the note stays.
# The code that is written then wraps the *new* function, under a name that no module has, and in the whole process no trace works any more. So take the note away:


# %%
@fx.wrap
def leaf(x):
    return x + 1


class Leaves(nn.Module):
    def forward(self, x):
        return leaf(x)


gm = fx.symbolic_trace(Leaves())
(node,) = gm.graph.find_nodes(op="call_function", target=leaf)
assert node.meta["is_wrapped"] is True
node.target = torch.sigmoid
del node.meta["is_wrapped"]
gm.recompile()
assert "wrap(" not in gm.graph.python_code("self").src + gm.code
torch.testing.assert_close(gm(x), torch.sigmoid(x))

# %% [markdown]
# **Right:** a new node for the new function, or without `is_wrapped`.
#
# ### What is not a result is believed
#
# `PassManager` asks for a `PassResult`, but takes anything with an attribute `graph_module`. A plain tuple is refused, and a function that forgets to return, too:

# %%
with fails(Exception):
    PassManager([does_nothing])(fx.symbolic_trace(Waves()))

# %% [markdown]
# **Right:** `isinstance(result, PassResult)`, and a message that names the pass.
#
# ### Folded too early
#
# `split_const_subgraphs` takes the parameters as they are. Whoever trains or loads weights afterwards trains and loads what nobody reads (12.5).
#
# **Right:** fold last, when the weights are final.

# %% [markdown]
# ## Recap
#
# 1. A pass is a class with `call`, and with `requires` and `ensures` where there is something to check. It returns a `PassResult`.
# 2. `modified` is a promise about one call. Rounds end by it.
# 3. First one spelling, then the pattern. An ATen graph has few spellings.
# 4. Nodes before their inputs are sorted once, by a rule that gives the same order each time.
# 5. If you run passes of others, keep a deep copy before each, and take over only what passes all checks.
# 6. A custom operator is one node everywhere; with a fake kernel its `meta` is true, too.
#
# ## Cheat sheet
#
# | call | what it does |
# |---|---|
# | `PassBase`, `PassResult(gm, modified)` | the form of a pass, and what it returns |
# | `PassManager(passes, steps=3)` | runs passes in rounds |
# | `node.normalized_arguments(gm, normalize_to_only_use_kwargs=True)` | all arguments by name, or `None` |
# | `torch.library.custom_op("space::name", mutates_args=())` | an operator of your own |
# | `operator.register_fake` | which shape and dtype come out of it |
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
# | parts of a graph for a backend, and what they cost | chapter 13 |
#
# In PyTorch's documentation: [torch.fx](https://docs.pytorch.org/docs/stable/fx.html),
# [torch.library](https://docs.pytorch.org/docs/stable/library.html), and
# [Custom operators](https://docs.pytorch.org/tutorials/advanced/python_custom_ops.html).
