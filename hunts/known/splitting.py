"""Bugs of passes that split a module into pieces."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import fx
from torch.fx.experimental import const_fold
from torch.fx.passes import split_module, split_utils
from torch.fx.passes.infra import partitioner

from autograder.core.torch_private import codegen_of
from hunts.bug import Bug, Variant, returning
from hunts.known.fixes import has_effect, instead, nodes_are


@contextmanager
def _no_two_alike() -> Iterator[None]:
    """Give each module a name that stays unique if dots become underscores."""

    def make(original: Any) -> Any:
        def split(m: fx.GraphModule, root_m: Any, *args: Any, **kwargs: Any) -> Any:
            taken: dict[str, str] = {}
            for number, node in enumerate(m.graph.nodes):
                if node.op != "call_module":
                    continue
                name = str(node.target)
                if taken.setdefault(name.replace(".", "_"), name) != name:
                    node.target = f"renamed_{number}"
                    m.add_submodule(node.target, m.get_submodule(name))
            return original(m, root_m, *args, **kwargs)

        return split

    with instead(split_module, "split_module", make), instead(const_fold, "split_module", make):
        yield


@contextmanager
def _codegen_kept() -> Iterator[None]:
    """Give the split module the code generator of the module."""

    def make(original: Any) -> Any:
        def split(m: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
            result = original(m, *args, **kwargs)
            result.graph.set_codegen(codegen_of(m.graph))
            result.recompile()
            return result

        return split

    with instead(split_module, "split_module", make), instead(const_fold, "split_module", make):
        yield


def _in_the_order_that_there_was() -> Any:
    """Keep parts contiguous and in order if the graph writes or draws random numbers."""

    def make(original: Any) -> Any:
        def split(m: fx.GraphModule, root_m: Any, callback: Any, *args: Any, **kwargs: Any) -> Any:
            if not nodes_are(m, has_effect):
                return original(m, root_m, callback, *args, **kwargs)
            parts, last = {}, (0, None)
            for node in m.graph.nodes:
                if node.op not in ("placeholder", "get_attr", "output"):
                    part = callback(node)
                    last = (last[0] + (part != last[1]), part)
                    parts[node] = last[0]
            return original(m, root_m, parts.__getitem__, *args, keep_original_order=True, **kwargs)

        return split

    return instead(split_module, "split_module", make)


def _parameters_kept() -> Any:
    def make(original: Any) -> Any:
        def split(gm: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
            result = original(gm, *args, **kwargs)
            made = result if isinstance(result, fx.GraphModule) else result[0]
            old = gm.graph.find_nodes(op="placeholder")
            for new, was in zip(made.graph.find_nodes(op="placeholder"), old, strict=True):
                new.target, new.args = was.target, was.args
            made.recompile()
            return result

        return split

    return instead(split_utils, "split_by_tags", make)


def _only_of_tuples() -> Any:
    """Do not treat an access with a computed index as an entry of a tuple."""

    def make(original: Any) -> Any:
        def propose(self: Any) -> Any:
            nodes = self.graph_module.graph.nodes
            computed = [
                node
                for node in nodes
                if node.target is operator.getitem and len(node.all_input_nodes) > 1
            ]
            for node in computed:
                node.target = _picked
            try:
                return original(self)
            finally:
                for node in computed:
                    node.target = operator.getitem

        return propose

    return instead(partitioner.CapabilityBasedPartitioner, "propose_partitions", make)


def _picked(values: Any, index: Any) -> Any:
    """Call `operator.getitem`, under another name."""
    return operator.getitem(values, index)


_picked.__name__ = "getitem"  # so that a backend that compares names recognizes it


TAGS = """
from torch.fx.passes import split_utils
def tagged(gm):
    for node in gm.graph.nodes:
        node.tag = "all"
    return split_utils.split_by_tags(gm, ["all"])
"""

PARTITIONER = """
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import create_op_support
class Counted(CapabilityBasedPartitioner):
    looks = 0
    def __getattribute__(self, name):
        if name == "graph_module":
            self.looks += 1
            if self.looks > 1000:
                raise TimeoutError("it has looked at the graph a thousand times")
        return super().__getattribute__(name)
def partitioned(gm):
    takes = create_op_support(lambda modules, node: node.name == "size")
    return Counted(gm, takes, allows_single_node_partition=True).partition_and_fuse()
"""

BUGS = (
    Bug(
        name="split-names",
        title="`split_module` takes one submodule for another",
        suspects=("split_module in order", "split_module by kind", "const_fold"),
        code="""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.act, self.act_0 = nn.Sequential(nn.ReLU()), nn.Tanh()
    def forward(self, x):
        return self.act(x), self.act_0(x)
""",
        inputs="x = torch.tensor([-1.0, 2.0])",
        change="split_module.split_module(gm, gm, lambda node: 0)",
        imports="from torch.fx.passes import split_module",
        why="Within a part, the module `act.0` is called `act_0`. If there is a module of that "
        "name already, one of the two replaces the other.",
        file="fx/passes/split_module.py",
        line='target = node.target.replace(".", "_")',
        instead="Rename one of them first.",
        fix=_no_two_alike,
    ),
    Bug(
        name="split-without-codegen",
        title="after `split_module` a graph with nested arguments cannot be called",
        suspects=("const_fold",),
        code=returning('x["a"] + torch.ones(2)'),
        inputs='x = {"a": torch.zeros(2)}',
        gm_is="make_fx(model)(x)",
        change="split_module(gm, gm, lambda node: 0)",
        imports="""
from torch.fx.experimental.const_fold import split_const_subgraphs
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.split_module import split_module
""",
        variants=(Variant(change="split_const_subgraphs(gm)"),),
        why="How nested arguments are taken apart is noted in the graph's code generator, and the "
        "new graph gets a plain one. Constant folding calls `split_module`.",
        file="fx/passes/split_module.py",
        line="base_mod_graph: torch.fx.graph.Graph = torch.fx.graph.Graph()",
        instead="Call `result.graph.set_codegen(gm.graph._codegen)`, then `recompile()`.",
        cure="(s := split_module(gm, gm, lambda node: 0), s.graph.set_codegen(gm.graph._codegen), "
        "s.recompile())[0]",
        raises=True,
        fix=_codegen_kept,
    ),
    Bug(
        name="split-order",
        title="`split_module` runs the parts in another order",
        suspects=("split_module in order", "split_module by kind"),
        code="""
class Model(nn.Module):
    def forward(self, x):
        x.mul_(10)
        return x + 1
""",
        inputs="x = torch.ones(2)",
        change='split_module.split_module(gm, gm, lambda node: int(node.name == "add"))',
        imports="from torch.fx.passes import split_module",
        why="Parts are ordered by who reads whom, the last of those that are free first. The "
        "second part does not read what `mul_` returns, and so it is run first.",
        file="fx/passes/split_module.py",
        line="root_partition = root_partitions.pop()",
        cure='split_module.split_module(gm, gm, lambda node: int(node.name == "add"), '
        "keep_original_order=True)",
        instead="Pass `keep_original_order=True`, and number parts in the order of the graph.",
        fix=_in_the_order_that_there_was,
    ),
    Bug(
        name="tags-and-parameters",
        title="`split_by_tags` forgets stars and defaults of parameters",
        suspects=("split_by_tags",),
        code=returning("torch.neg(values[0])", "*values"),
        inputs="x = torch.tensor([1.0, 2.0])",
        change="tagged(gm)",
        imports=TAGS,
        variants=(Variant(code=returning("x * k", "x, k=2.0"), raises=True),),
        why="The new module gets parameters by the names of nodes, without star and default. "
        "`values` is now the tensor itself, and `values[0]` its first entry.",
        file="fx/passes/split_utils.py",
        line="main_remapping[node] = main_g.placeholder(node.name, type_expr=node.type)",
        instead="Set `target` and `args` of the new placeholders from the old ones, then "
        "`recompile()`.",
        fix=_parameters_kept,
    ),
    Bug(
        name="partition-without-end",
        title="`CapabilityBasedPartitioner` never ends if an index is computed",
        suspects=("partitioner",),
        code=returning("x[x.dim() : x.size(0)]"),
        inputs="x = torch.eye(3)",
        change="partitioned(gm)",
        imports=PARTITIONER,
        why="A value that only `getitem` reads is taken for a tuple, and wants its readers in its "
        "own set. Here one `getitem` reads two numbers, as its index, and they are in "
        "different sets. Each moves it to its own, in turn, and the loop never ends.",
        file="fx/passes/infra/partitioner.py",
        line="nodes_reassignment[user] = id  # type: ignore[assignment]",
        instead="Say of such a `getitem` and of what computes its index that the backend does not "
        "take them.",
        fix=_only_of_tuples,
        raises=True,
    ),
)
