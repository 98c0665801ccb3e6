"""Bugs of passes that merge several calls into one: fusion, and common subexpressions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
from torch import fx, nn
from torch.fx.experimental import optimization
from torch.fx.passes.dialect.common import cse_pass

from hunts.bug import Bug, Variant, returning
from hunts.known.fixes import instead


def _own_modules() -> Any:
    """Give each call a module of its own before anything is fused."""

    def make(original: Any) -> Any:
        def fuse(model: nn.Module, inplace: bool = False, no_trace: bool = False) -> nn.Module:
            gm = fx.symbolic_trace(copy.deepcopy(model))
            for number, node in enumerate(gm.graph.nodes):
                if node.op == "call_module" and not list(gm.get_submodule(node.target).children()):
                    name = f"own_{number}"
                    gm.add_submodule(name, copy.deepcopy(gm.get_submodule(node.target)))
                    node.target = name
            gm.recompile()
            fused: nn.Module = original(gm, True, True)
            return fused

        return fuse

    return instead(optimization, "fuse", make)


def _matches_only(allowed: Callable[[nn.Module, nn.Module], bool]) -> Any:
    """Fuse only pairs of layers that pass a test."""

    def make(original: Any) -> Any:
        def matches(pattern: Any, node: fx.Node, modules: dict[str, nn.Module]) -> bool:
            if not original(pattern, node, modules):
                return False
            (first, *_) = node.all_input_nodes
            return allowed(modules[str(first.target)], modules[str(node.target)])

        return matches

    return instead(optimization, "matches_module_pattern", make)


def _has_channels_in_common(layer: nn.Module, norm: nn.Module) -> bool:
    """Whether layer and norm share a dimension; for some this depends on unknown shapes."""
    return not isinstance(norm, nn.BatchNorm1d)


def _without_hooks(layer: nn.Module, norm: nn.Module) -> bool:
    return not any(m._forward_hooks or m._forward_pre_hooks for m in (layer, norm))


def _exact_literals() -> Any:
    """Compare numbers with their types and signs, by their text."""

    def make(original: Any) -> Any:
        def flatten(tree: Any) -> Any:
            leaves, spec = original(tree)
            return [_Exactly(v) if isinstance(v, (int, float)) else v for v in leaves], spec

        return flatten

    return instead(cse_pass, "tree_flatten", make)


class _Exactly:
    """A number that equals only the same literal, although Python says `1 == True`."""

    def __init__(self, value: float) -> None:
        self.text = repr(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Exactly) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class _Method(str):
    """The name of a method, which differs from the target of any other kind of call."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Method) and str(self) == str(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("method", str(self)))


def _kinds_told_apart() -> Any:
    """Mark the names of methods while calls are compared."""

    def make(original: Any) -> Any:
        def call(self: Any, graph_module: fx.GraphModule) -> Any:
            methods = [n for n in graph_module.graph.nodes if n.op == "call_method"]
            for node in methods:
                node.target = _Method(node.target)
            result = original(self, graph_module)
            for node in [*methods, *result.graph_module.graph.nodes]:
                if node.op == "call_method":
                    node.target = str(node.target)
            return result

        return call

    return instead(cse_pass.CSEPass, "call", make)


def _all_random() -> Any:
    aten = torch.ops.aten
    more = {aten.randn_like, aten.randint_like}
    return mock.patch.object(cse_pass, "rand_ops", cse_pass.rand_ops | more)


def _codegen_kept() -> Any:
    def make(original: Any) -> Any:
        def call(self: Any, graph_module: fx.GraphModule) -> Any:
            result = original(self, graph_module)
            result.graph_module.graph.set_codegen(graph_module.graph._codegen)
            result.graph_module.recompile()
            return result

        return call

    return instead(cse_pass.CSEPass, "call", make)


FUSED = "fuse(gm)"
FUSE = "from torch.fx.experimental.optimization import fuse"
CSE = "from torch.fx.passes.dialect.common.cse_pass import CSEPass, get_CSE_banned_ops"

BUGS = (
    Bug(
        name="fused-layer-called-twice",
        title="`fuse` changes a layer that is called elsewhere, too",
        suspects=("optimization.fuse",),
        code="""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1, eps=3.0)
    def forward(self, x):
        return self.norm(self.conv(x)), self.conv(x)
""",
        inputs="x = torch.ones(1, 1, 1, 1)",
        change=FUSED,
        show="f(x)[1].item()",
        imports=FUSE,
        why="The fused layer replaces the old one under its name. A node that calls that name "
        "elsewhere, or reads its weight, gets the BatchNorm as well.",
        file="fx/experimental/optimization.py",
        line="replace_node_module(node.args[0], modules, fused_layer)",
        issues=(197539, 104593),
        instead="Give each call a layer of its own first: add a copy with `gm.add_submodule` and "
        "have the node call that.",
        fix=_own_modules,
    ),
    Bug(
        name="fused-channels",
        title="`fuse` takes the last dimension for the channels of the BatchNorm",
        suspects=("optimization.fuse",),
        code="""
class Model(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(2, 2), nn.BatchNorm1d(2))
        self[1].running_mean += torch.tensor([0.0, 10.0])
""",
        inputs="x = torch.ones(1, 2, 2)",
        change=FUSED,
        show="f(x).tolist()",
        imports=FUSE,
        variants=(
            Variant(
                code="""
class Model(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv1d(2, 2, 1), nn.BatchNorm1d(2))
        self[1].running_mean += torch.tensor([0.0, 10.0])
""",
                inputs="x = torch.ones(2, 2)",
            ),
        ),
        why="A linear layer works on the last dimension, and `BatchNorm1d` on the second one. They "
        "are the same only where there are two. A convolution that is given no batch puts its "
        "channels first, and the BatchNorm takes these for the batch. Sizes that happen to fit "
        "are all that is needed.",
        file="fx/experimental/optimization.py",
        line="(nn.Linear, nn.BatchNorm1d),",
        instead="Look at the shapes first, with `ShapeProp`, and fuse by hand.",
        fix=lambda: _matches_only(_has_channels_in_common),
    ),
    Bug(
        name="fused-hooks",
        title="`fuse` drops the hooks of what it fuses",
        suspects=("optimization.fuse",),
        code="""
class Model(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1))
        self[1].register_forward_hook(lambda module, args, out: out * 10)
""",
        inputs="x = torch.ones(1, 1, 1, 1)",
        change=FUSED,
        show="f(x).item()",
        imports=FUSE,
        why="The BatchNorm is removed, and with it a hook that changes its output. Hooks of "
        "the first layer now run on the output of both layers.",
        file="fx/experimental/optimization.py",
        line="new_graph.erase_node(node)",
        instead="Remove the hooks first, or leave such layers out.",
        fix=lambda: _matches_only(_without_hooks),
    ),
    Bug(
        name="equal-literals",
        title="`CSEPass` makes one call of `x + 1` and `x + 1.0`",
        suspects=("CSEPass", "CSEPass on ATen"),
        code=returning("(x + 1, x + 1.0)"),
        inputs="x = torch.tensor(2)",
        change="CSEPass()(gm).graph_module",
        imports=CSE,
        variants=(
            Variant(
                code=returning("(x + 1, x + True, x * 0.0 + 1.0)"),
                show="[value.dtype for value in f(x > 0)]",
            ),
            Variant(
                code=returning("(1 / (x * 0.0), 1 / (x * -0.0))"), inputs="x = torch.tensor(1.0)"
            ),
        ),
        why="Arguments are compared as Python compares numbers, and there `1`, `1.0` and `True` "
        "are equal, and so are `0.0` and `-0.0`. The result has another dtype, or another sign.",
        file="fx/passes/dialect/common/cse_pass.py",
        line="if hash_val_in_hash_env and token_map[hash_val] == token:",
        cure="CSEPass({operator.add})(gm).graph_module",
        instead="Have numbers of one type in a graph, or ban the operators that take them.",
        fix=_exact_literals,
    ),
    Bug(
        name="equal-names",
        title="`CSEPass` makes one call of a method and a module of the same name",
        suspects=("CSEPass",),
        code="""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.neg = nn.ReLU()
    def forward(self, x):
        return x.neg(), self.neg(x)
""",
        inputs="x = torch.tensor([-1.0, 2.0])",
        change="CSEPass()(gm).graph_module",
        imports=CSE + "\nfrom torch.fx.experimental.proxy_tensor import make_fx",
        why="Calls are compared by target and arguments, and not by kind. The target of a method "
        "is its name, and so is that of a module.",
        file="fx/passes/dialect/common/cse_pass.py",
        line='"target": n.target,',
        cure="CSEPass()(make_fx(model)(x)).graph_module",
        instead="Give the pass graphs of functions alone, such as those of `make_fx`.",
        says="A comment in the code says that methods and modules should never come. The "
        "documentation does not say it, and the pass does not look.",
        fix=_kinds_told_apart,
    ),
    Bug(
        name="equal-draws",
        title="`CSEPass` makes one draw of two calls of `torch.randn_like`",
        suspects=("CSEPass on ATen",),
        code=returning("torch.randn_like(x), torch.randn_like(x)"),
        inputs="x = torch.ones(2)",
        change="CSEPass(get_CSE_banned_ops())(make_fx(model)(x)).graph_module",
        show="torch.equal(*f(x))",
        imports=CSE
        + "\nfrom torch.fx.experimental.proxy_tensor import make_fx"
        + "\nNO_DRAWS = get_CSE_banned_ops() | {torch.ops.aten.randn_like}",
        variants=(Variant(code=returning("torch.randint_like(x, 99), torch.randint_like(x, 99)")),),
        why="PyTorch's own list of operations that must not be merged has `rand_like`, and neither "
        "`randn_like` nor `randint_like`.",
        file="fx/passes/dialect/common/cse_pass.py",
        line="aten.rand_like,",
        cure="CSEPass(NO_DRAWS)(make_fx(model)(x)).graph_module",
        instead="Pass a list of your own, with all that draws random numbers.",
        says="The documentation says that random operations must be banned. This list is what it "
        "gives for that.",
        fix=_all_random,
    ),
    Bug(
        name="cse-without-codegen",
        title="after `CSEPass` a graph with nested arguments cannot be called",
        suspects=("CSEPass",),
        code=returning('torch.sin(x["a"]) + torch.sin(x["a"])'),
        inputs='x = {"a": torch.zeros(2)}',
        change="CSEPass()(gm).graph_module",
        gm_is='fx.symbolic_trace(model, concrete_args={"x": {"a": fx.PH}})',
        imports=CSE,
        why="How nested arguments are taken apart is noted in the graph's code generator, and the "
        "new graph gets a plain one.",
        file="fx/passes/dialect/common/cse_pass.py",
        line="new_graph = Graph()",
        instead="Call `result.graph_module.graph.set_codegen(gm.graph._codegen)`, then "
        "`recompile()`.",
        raises=True,
        fix=_codegen_kept,
    ),
)
