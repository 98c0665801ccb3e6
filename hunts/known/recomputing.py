"""Bugs of the pass that recomputes values in the backward part of a training step."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx
from torch._functorch._activation_checkpointing import (
    remat_using_tags_for_fwd_loss_bwd_graph_pass as remat,
)

from autograder.core.torch_private import codegen_of
from hunts.bug import Bug
from hunts.known.fixes import instead

_IMPORTS = """
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import CheckpointPolicy
from torch._functorch._activation_checkpointing import (
    remat_using_tags_for_fwd_loss_bwd_graph_pass as remat,
)

def rematerialized(gm, again, backward):
    for node in gm.graph.nodes:
        if node.name in again:
            node.meta["recompute"] = CheckpointPolicy.MUST_RECOMPUTE
        if node.name in backward:
            node.meta["autograd_backward"] = True
    return remat.remat_using_tags_for_fwd_loss_bwd_graph(gm)
"""


def _keeps(test: Any) -> Any:
    """Keep nodes of a kind, even if they are tagged."""

    def make(original: Any) -> Any:
        return lambda node: original(node) and not test(node)

    return instead(remat, "must_recompute", make)


_NORMS = (torch.ops.aten.native_batch_norm.default,)
"""Calls that write running statistics although their schema does not say so."""


def _norms_are_kept() -> Any:
    return _keeps(lambda node: node.target in _NORMS)


def _writes_are_kept() -> Any:
    def is_mutable(node: fx.Node) -> bool:
        schema = getattr(node.target, "_schema", None)
        return schema is not None and schema.is_mutable

    return _keeps(is_mutable)


def _codegen_kept() -> Any:
    """Give the new graph the code generator of the old one."""

    def make(original: Any) -> Any:
        def rematerialized(gm: fx.GraphModule) -> fx.GraphModule:
            result: fx.GraphModule = original(gm)
            result.graph.set_codegen(codegen_of(gm.graph))
            result.recompile()
            return result

        return rematerialized

    return instead(remat, "remat_using_tags_for_fwd_loss_bwd_graph", make)


BUGS = (
    Bug(
        name="recomputed-statistics",
        title="a BatchNorm that is computed again moves its running statistics twice",
        suspects=(),
        code="""
class Model(nn.Module):
    def forward(self, x, mean, var):
        y = F.batch_norm(x, mean, var, training=True)
        return y.sin() + y.cos()
""",
        inputs="x, mean, var = torch.ones(2, 3), torch.zeros(3), torch.ones(3)",
        gm_is="make_fx(model)(x, mean.clone(), var.clone())",
        change='rematerialized(gm, ["native_batch_norm", "getitem"], ["cos", "add"])',
        show="f(x, mean, var).sum().item(), mean",
        imports=_IMPORTS,
        training=True,
        why="The pass copies each tagged call into the backward part. A call that writes a running "
        "mean writes it again there. The schema of `native_batch_norm` does not say so.",
        file="_functorch/_activation_checkpointing/remat_using_tags_for_fwd_loss_bwd_graph_pass.py",
        line="dup = new_graph.node_copy(dep, remat_input)",
        instead="Do not tag calls that write, or functionalize the graph first.",
        fix=_norms_are_kept,
    ),
    Bug(
        name="recomputed-write",
        title="a call in place that is computed again writes twice",
        suspects=(),
        code="""
class Model(nn.Module):
    def forward(self, x):
        y = (x * 3).div_(2)
        return y.sin() + y.cos()
""",
        inputs="x = torch.ones(2)",
        gm_is="make_fx(model)(x)",
        change='rematerialized(gm, ["div_"], ["cos", "add"])',
        imports=_IMPORTS,
        why="Only the division is tagged. Its input is kept, and holds the result of the first "
        "division by then. The copy in the backward part divides again.",
        file="_functorch/_activation_checkpointing/remat_using_tags_for_fwd_loss_bwd_graph_pass.py",
        line="dup = new_graph.node_copy(dep, remat_input)",
        instead="Do not tag calls in place, or functionalize the graph first.",
        fix=_writes_are_kept,
    ),
    Bug(
        name="recomputed-without-codegen",
        title="after recomputation a graph with nested arguments cannot be called",
        suspects=(),
        code="""
class Model(nn.Module):
    def forward(self, x):
        y = x["a"] * 3
        return y.sin() + y.cos()
""",
        inputs='x = {"a": torch.ones(2)}',
        gm_is="make_fx(model)(x)",
        change='rematerialized(gm, ["mul"], ["cos", "add"])',
        imports=_IMPORTS,
        why="How nested arguments are taken apart is noted in the graph's code generator, and the "
        "new graph gets a plain one. The graph of a training step that takes its parameters as a "
        "dictionary has such arguments.",
        file="_functorch/_activation_checkpointing/remat_using_tags_for_fwd_loss_bwd_graph_pass.py",
        line="new_graph = fx.Graph()",
        instead="Call `result.graph.set_codegen(gm.graph._codegen)`, then `recompile()`.",
        cure='(s := rematerialized(gm, ["mul"], ["cos", "add"]), '
        "s.graph.set_codegen(gm.graph._codegen), s.recompile())[0]",
        raises=True,
        fix=_codegen_kept,
    ),
)
