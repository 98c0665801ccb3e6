"""Bugs of constant folding, and of the passes that normalize calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx
from torch.fx.experimental import const_fold, normalize

from hunts.bug import Bug, Variant, returning
from hunts.known.fixes import instead


def _passes_keywords_on() -> Any:
    def make(original: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.has_folding_been_run:
                self.run_folding()
            return super(const_fold.FoldedGraphModule, self).__call__(*args, **kwargs)

        return call

    return instead(const_fold.FoldedGraphModule, "__call__", make)


@contextmanager
def _folds_to_a_copy() -> Iterator[None]:
    """Restore the folded values before each call."""

    def run_folding(original: Any) -> Any:
        def run(self: Any) -> None:
            original(self)
            if self.fx_const_folded_attrs_name is None or self.const_subgraph_module is None:
                return
            folded = getattr(self, self.fx_const_folded_attrs_name)
            every = [folded] if isinstance(folded, torch.Tensor) else list(folded)
            kept = [value.detach().clone() for value in every]

            def put_back(module: Any, args: Any, *more: Any) -> None:
                with torch.no_grad():
                    for value, was in zip(every, kept, strict=True):
                        value.copy_(was)

            self.register_forward_pre_hook(put_back)

        return run

    with instead(const_fold.FoldedGraphModule, "run_folding", run_folding):
        yield


def _numbers_stay() -> Any:
    """Do not fold values that are not tensors."""

    def make(original: Any) -> Any:
        def split(module: Any, skip_folding_node_fn: Any = None, *args: Any, **kwargs: Any) -> Any:
            def skip(node: fx.Node) -> bool:
                asked = skip_folding_node_fn is not None and skip_folding_node_fn(node)
                return asked or node.target in ("size", "dim", "numel", getattr)

            return original(module, skip, *args, **kwargs)

        return split

    return instead(const_fold, "split_const_subgraphs", make)


def _keywords_kept() -> Any:
    def make(original: Any) -> Any:
        def call_function(self: Any, target: Any, args: Any, kwargs: Any) -> Any:
            if kwargs:
                return fx.Transformer.call_function(self, target, args, kwargs)
            return original(self, target, args, kwargs)

        return call_function

    return instead(normalize.NormalizeOperators, "call_function", make)


FOLDED = "split_const_subgraphs(gm)"
FOLD = "from torch.fx.experimental.const_fold import split_const_subgraphs"

BUGS = (
    Bug(
        name="folded-module-and-keywords",
        title="a folded module drops its keyword arguments",
        suspects=("const_fold",),
        code="""
class Model(nn.Module):
    def forward(self, x, k=2.0):
        return x * k
""",
        inputs="x = torch.ones(2)",
        change=FOLDED,
        show="f(x, k=5.0)",
        imports=FOLD,
        why="`FoldedGraphModule.__call__` takes `**kwargs`, and does not pass them on. If there "
        "is a default, it is used without a message.",
        file="fx/experimental/const_fold.py",
        line="return super().__call__(*args)",
        instead="Call it with positional arguments alone.",
        fix=_passes_keywords_on,
    ),
    Bug(
        name="folded-value-is-written-to",
        title="what was folded once is written to at each call",
        suspects=("const_fold",),
        code="""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(2), requires_grad=False)
    def forward(self, x):
        return (self.start + 0).add_(x)
""",
        inputs="x = torch.ones(2)",
        change=FOLDED,
        show="[f(x).tolist() for _ in range(3)]",
        imports=FOLD,
        why="`self.start + 0` is a new tensor at each call. Folded, it is one tensor, and each "
        "call adds to it.",
        file="fx/experimental/const_fold.py",
        line="i.detach().clone()",
        cure='split_const_subgraphs(gm, lambda node: any(u.target == "add_" for u in node.users))',
        instead="Pass `skip_folding_node_fn=`, a function that says yes where a user of the node "
        "writes; or have nothing in place in the graph.",
        fix=_folds_to_a_copy,
    ),
    Bug(
        name="folded-number",
        title="a number that is folded becomes a tensor of floats",
        suspects=("const_fold",),
        code="""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
    def forward(self, x):
        return x * self.weight.dim()
""",
        inputs="x = torch.tensor(2)",
        change=FOLDED,
        imports=FOLD,
        why="What is folded is kept as a `Parameter`. An `int` becomes `torch.Tensor([i])`: of one "
        "dimension, and of float32.",
        file="fx/experimental/const_fold.py",
        line="else torch.Tensor([i]).to(device=self.device_for_folded_attrs),",
        cure='split_const_subgraphs(gm, lambda node: node.target == "dim")',
        instead="Pass `skip_folding_node_fn=`, a function that says yes to sizes.",
        fix=_numbers_stay,
    ),
    Bug(
        name="normalized-without-keywords",
        title="`NormalizeOperators` drops keyword arguments",
        suspects=("NormalizeOperators",),
        code="""
class Model(nn.Module):
    def forward(self, x):
        return torch.add(x, x, alpha=10)
""",
        inputs="x = torch.ones(2)",
        change="NormalizeOperators(gm).transform()",
        variants=(
            Variant(code=returning("torch.div(x, 2, rounding_mode='floor')")),
            Variant(code=returning("(torch.mul(x, 10, out=x), x)[1]")),
        ),
        imports="from torch.fx.experimental.normalize import NormalizeArgs, NormalizeOperators",
        why="`torch.add`, `torch.sub` and `torch.div` become operators, whatever else they were "
        "given: `alpha=`, `rounding_mode=` and `out=` are gone.",
        file="fx/experimental/normalize.py",
        line="kwargs={},",
        cure="NormalizeArgs(gm).transform()",
        instead="Use `NormalizeArgs`, or leave such calls out in a subclass.",
        fix=_keywords_kept,
    ),
)
