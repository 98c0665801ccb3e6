"""Bugs of passes that ignore the effects of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx
from torch.fx.passes import tools_common
from torch.fx.passes.infra import partitioner
from torch.fx.passes.utils import fuser_utils

from hunts.bug import Bug, Variant, returning
from hunts.known.fixes import (
    draws,
    has_effect,
    instead,
    nodes_are,
    writing_function,
    writing_method,
    writing_module,
)


def _knows(effect: Callable[[fx.Node], bool]) -> Any:
    def make(original: Any) -> Any:
        def is_impure(self: fx.Node, impure_random: bool = True) -> bool:
            return bool(original(self, impure_random)) or effect(self)

        return is_impure

    return instead(fx.Node, "is_impure", make)


def _methods(node: fx.Node) -> bool:
    return writing_method(node) or (node.op == "call_method" and draws(node))


def _functions(node: fx.Node) -> bool:
    return writing_function(node) or (node.op == "call_function" and draws(node))


def _modules(node: fx.Node) -> bool:
    return writing_module(node) or (node.op == "call_module" and draws(node))


_NORMS = (
    torch.ops.aten.batch_norm.default,
    torch.ops.aten.instance_norm.default,
    torch.ops.aten.native_batch_norm.default,
)


def _norms_of_programs(node: fx.Node) -> bool:
    """Whether a norm of ATen writes to its statistics, according to its sixth argument."""
    return node.target in _NORMS and node.args[3] is not None and node.args[5] is True


@contextmanager
def _nothing_fused_over_effects() -> Iterator[None]:
    """Fuse nothing if the graph writes or draws random numbers."""

    def make(original: Any) -> Any:
        def fused(gm: fx.GraphModule, partitions: Any, *args: Any, **kwargs: Any) -> Any:
            kept = [] if nodes_are(gm, has_effect) else partitions
            return original(gm, kept, *args, **kwargs)

        return fused

    with (
        instead(fuser_utils, "fuse_by_partitions", make),
        instead(partitioner, "fuse_by_partitions", make),
    ):
        yield


DCE = "(gm.graph.eliminate_dead_code(), gm.recompile(), gm)[-1]"
KNOWS = (
    "(gm.graph.eliminate_dead_code(lambda node: node.is_impure() or {}), gm.recompile(), gm)[-1]"
)
UNSOUND = (
    "The documentation says that the method is not sound where operations are not functional, "
    "and takes a function `is_impure_node`."
)

BUGS = (
    Bug(
        name="dead-method-in-place",
        title="`eliminate_dead_code` takes out methods that write in place",
        suspects=("eliminate_dead_code", "const_fold"),
        code="""
class Model(nn.Module):
    def forward(self, x):
        x.mul_(10)
        return x
""",
        inputs="x = torch.ones(2)",
        change=DCE,
        variants=(
            Variant(code=returning("(x.__iadd__(x), x)[1]")),
            Variant(
                code="""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = nn.Parameter(torch.zeros(1), requires_grad=False)
    def forward(self, x):
        return x + self.count.add_(1)
""",
                change="split_const_subgraphs(gm)",
                imports="from torch.fx.experimental.const_fold import split_const_subgraphs",
                show="[f(x).tolist() for _ in range(2)]",
            ),
        ),
        why="Nobody reads what `mul_` returns, and `Node.is_impure` says of no method that it has "
        "an effect. Constant folding believes it, too: what it folds is run once, "
        "and never again.",
        file="fx/node.py",
        line="# For call_function, delegate to the unified has_side_effects function",
        issues=(68301,),
        cure=KNOWS.format('str(node.target).endswith("_")'),
        instead="Pass `is_impure_node=`, a function that knows the names that end in `_`.",
        says=UNSOUND,
        fix=lambda: _knows(_methods),
    ),
    Bug(
        name="dead-function-in-place",
        title="`eliminate_dead_code` takes out functions that write, by name or by `out=`",
        suspects=("eliminate_dead_code", "const_fold"),
        code="""
class Model(nn.Module):
    def forward(self, x):
        torch.mul(x, 10, out=x)
        return x
""",
        inputs="x = torch.ones(2)",
        change=DCE,
        variants=(
            Variant(code=returning("(F.relu(x, inplace=True), x)[1]"), inputs="x = -torch.ones(2)"),
            Variant(code=returning("(torch.relu_(x), x)[1]"), inputs="x = -torch.ones(2)"),
            Variant(
                code=returning("(F.dropout(x), torch.rand_like(x))[1]"),
                show="(torch.manual_seed(0), f(x))[1]",
            ),
        ),
        why="`is_impure` asks the schema of an ATen operator, and looks all others up in a list "
        "of random ones. A function of `torch` or of `torch.nn.functional` has no schema: "
        "`torch.relu_(x)`, `F.relu(x, inplace=True)` and what has `out=` count as pure. So does "
        "`F.dropout`, which draws random numbers: the next one who draws gets others.",
        file="_library/utils.py",
        line="if op in _RANDOM_FUNCTIONS:",
        cure=KNOWS.format('"out" in node.kwargs'),
        instead="Pass `is_impure_node=`, or assign and return: `x = torch.mul(x, 10)`.",
        says=UNSOUND,
        fix=lambda: _knows(_functions),
    ),
    Bug(
        name="dead-module-in-place",
        title="`eliminate_dead_code` takes out modules that write, and BatchNorms in training mode",
        suspects=("eliminate_dead_code", "const_fold"),
        code="""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
    def forward(self, x):
        return (self.relu(x), x)[1]
""",
        inputs="x = torch.tensor([-1.0, 1.0])",
        change=DCE,
        why="A module counts as pure unless it has an attribute `_is_impure`, and none of "
        "PyTorch's own layers has one.",
        file="fx/node.py",
        line='return getattr(target_mod, "_is_impure", False)',
        cure="(setattr(gm.relu, '_is_impure', True), gm.graph.eliminate_dead_code(), gm)[-1]",
        instead="Set `module._is_impure = True` on such layers.",
        says=UNSOUND,
        fix=lambda: _knows(_modules),
    ),
    Bug(
        name="dead-norm-of-a-program",
        title="`unflatten` takes out a BatchNorm in training mode that nobody reads",
        suspects=(
            "unflatten",
            "unflatten of a trace",
            "eliminate_dead_code, a step",
            "const_fold, a step",
        ),
        code="""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(1)
    def forward(self, x):
        return (self.norm(x), x * 2)[1]
""",
        inputs="x = torch.tensor([[0.0], [2.0]])",
        change="unflatten(export(model, (x,)))",
        show="(f(x), f.norm.running_mean)[1]",
        imports="from torch.export import export, unflatten",
        training=True,
        variants=(
            Variant(
                code="""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.InstanceNorm1d(1, track_running_stats=True)
    def forward(self, x):
        return (self.norm(x), x * 2)[1]
""",
                inputs="x = torch.tensor([[[0.0, 2.0]]])",
            ),
            Variant(
                change="(m := export(model, (x,)).module(), m.graph.eliminate_dead_code(), "
                "m.recompile())[0]",
            ),
            Variant(
                code="""
class Model(nn.Module):
    def forward(self, x, mean, var):
        y = F.batch_norm(x, mean, var, training=True)
        return x * 2
""",
                inputs="x, mean, var = torch.tensor([[0.0], [2.0]]), torch.zeros(1), torch.ones(1)",
                change="(m := make_fx(model)(x, mean.clone(), var.clone()), "
                "m.graph.eliminate_dead_code(), m.recompile())[0]",
                show="(f(x, mean, var), mean)[1]",
                imports="from torch.fx.experimental.proxy_tensor import make_fx",
            ),
        ),
        why="`unflatten` calls `eliminate_dead_code`, which asks the schema of an ATen operator "
        "whether it writes. The schemas of `aten.batch_norm`, `aten.instance_norm` and "
        "`aten.native_batch_norm` do not say that the running statistics are written to. The last "
        "one is in the graph of a training step, as `make_fx` records it. The count of batches is "
        "an operation of its own, `aten.add_`, and stays.",
        file="_library/utils.py",
        line="if isinstance(op, torch._ops.OpOverload):",
        issues=(73050,),
        cure="unflatten(export(model, (x,)).run_decompositions({}))",
        instead="Call `run_decompositions({})` first: it makes the new statistics an output of the "
        "graph.",
        fix=lambda: _knows(_norms_of_programs),
    ),
    Bug(
        name="legalized-before-a-write",
        title="`legalize_graph` moves a call in front of a write",
        suspects=("legalize_graph", "merge_matmul"),
        code="""
class Model(nn.Module):
    def forward(self, x):
        y = x.view(-1)
        y.add_(1)
        return x * 10
""",
        inputs="x = torch.zeros(2)",
        change="tools_common.legalize_graph(gm)",
        imports="from torch.fx.passes import tools_common",
        why="It sorts by who reads whom, and forgets the order that there was. `x * 10` does not "
        "read what `add_` returns, and comes first.",
        file="fx/passes/tools_common.py",
        line="queue.append(user)",
        cure="tools_common.stable_topological_sort(gm)",
        instead="Use `stable_topological_sort` of the same file.",
        says="The documentation says that the order is not kept. It does not say that results "
        "may be others.",
        fix=lambda: instead(
            tools_common, "legalize_graph", lambda _: tools_common.stable_topological_sort
        ),
    ),
    Bug(
        name="partition-moves-over-a-write",
        title="a partition that is fused is run after a write in its midst",
        suspects=("partitioner", "fuse_by_partitions"),
        code="""
class Model(nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        x.add_(1)
        return y, torch.exp(x)
""",
        inputs="x = torch.zeros(2)",
        change="CapabilityBasedPartitioner(gm, EXP).partition_and_fuse()",
        imports="""
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import create_op_support
EXP = create_op_support(lambda modules, node: node.target is torch.exp)
""",
        why="The two calls are put into one partition, because neither depends on the other as far "
        "as arguments say. The partition is called where its last node was, and the write comes "
        "before both.",
        file="fx/passes/utils/fuser_utils.py",
        line="insert_subgm(gm, sub_gm, orig_inputs, orig_outputs, sorted_nodes[-1])",
        issues=(81244,),
        instead="Give the partitioner functional graphs, such as those of "
        "`ep.run_decompositions({})`.",
        fix=_nothing_fused_over_effects,
    ),
)
