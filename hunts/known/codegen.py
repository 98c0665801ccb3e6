"""Bugs of the code that FX generates from a graph."""

from __future__ import annotations

import builtins
import inspect
import keyword
from contextlib import contextmanager
from typing import Any
from unittest import mock

from torch import fx
from torch.fx import graph as fx_graph

from hunts.bug import Bug, Variant, returning
from hunts.known.fixes import instead


def _powers() -> Any:
    return mock.patch.dict(fx_graph.magic_methods, {"pow": "({}) ** {}"})


def _interpreted(taken: frozenset[str]) -> Any:
    """Run graphs with such a parameter name by an Interpreter, which does not use names."""

    def make(original: Any) -> Any:
        def recompile(gm: fx.GraphModule) -> Any:
            code = original(gm)
            names = {str(n.target).lstrip("*") for n in gm.graph.nodes if n.op == "placeholder"}
            if names & taken:
                _run_by_nodes(gm)
            return code

        return recompile

    return instead(fx.GraphModule, "recompile", make)


def _run_by_nodes(gm: fx.GraphModule) -> None:
    signature = inspect.signature(type(gm).forward)

    def forward(self: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        return fx.Interpreter(self).run(*bound.args[1:])

    vars(forward)["__signature__"] = signature
    type(gm).forward = forward


_GLOBALS = frozenset(fx_graph._custom_builtins) | frozenset(vars(builtins))


def _keywords() -> Any:
    def make(original: Any) -> Any:
        def formatted(base: str, target: str) -> str:
            parts = target.split(".")
            if all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
                return str(original(base, target))
            for part in parts:
                base = f"getattr({base}, {part!r})"
            return base

        return formatted

    return instead(fx_graph, "_format_target", make)


@contextmanager
def _calls_in_place() -> Any:
    """Write operators in place as calls, which bind no names."""
    left = {name: text for name, text in fx_graph.inplace_methods.items() if name == "setitem"}
    with mock.patch.object(fx_graph, "inplace_methods", left):
        yield


CODE = ("generated code",)

_QUOTE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module('a"b', nn.ReLU())
    def forward(self, x):
        return getattr(self, 'a"b')(x)
"""

_BACKSLASH = r"""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.acts = nn.ModuleDict({"a\\tb": nn.ReLU(), "a\tb": nn.Tanh()})
    def forward(self, x):
        return self.acts["a\\tb"](x) - self.acts["a\tb"](x)
"""

BUGS = (
    Bug(
        name="pow-of-a-negative",
        title="the power of a negative number gets the wrong sign",
        suspects=CODE,
        code="""
class Model(nn.Module):
    def forward(self, x):
        return (-2.0) ** x
""",
        inputs="x = torch.tensor([1.0, 2.0, 3.0])",
        change="gm",
        why="The code of `operator.pow` is made by `{} ** {}`, so that it says `-2.0 ** x`. Python "
        "reads that as `-(2.0 ** x)`. An `Interpreter` of the same graph is right.",
        file="fx/graph.py",
        line='"pow": "{} ** {}",',
        issues=(197894,),
        cure="fx.Interpreter(gm).run",
        instead="Run the graph by an `Interpreter`. Or write `torch.pow(-2.0, x)`: that is a call.",
        fix=_powers,
    ),
    Bug(
        name="parameter-named-inf",
        title="a parameter called `inf` or `nan` replaces the number",
        suspects=CODE,
        code="""
class Model(nn.Module):
    def forward(self, x, inf):
        return x * float("inf")
""",
        inputs="x = torch.tensor([1.0, 2.0])",
        change="gm",
        show="f(x, x)",
        variants=(
            Variant(code=returning("torch.where(x > 1, x, float('nan'))", "x, nan")),
            Variant(code=returning("x.to(torch.device('cpu'))", "x, device"), raises=True),
            Variant(code=returning("x[1:]", "x, slice"), raises=True),
        ),
        why="Generated code writes the number infinity as the global name `inf`, and the parameter "
        "of that name hides it. It is the same with `nan` and `device`, and with builtins: "
        "a parameter called `slice` makes `x[1:]` raise, because the code says "
        "`x[slice(1, None, None)]`.",
        file="fx/graph.py",
        line='_register_custom_builtin("inf", "from math import inf", math.inf)',
        issues=(198072,),
        cure="fx.Interpreter(gm).run",
        instead="Give the parameter another name, or run the graph by `fx.Interpreter(gm).run`.",
        fix=lambda: _interpreted(_GLOBALS),
    ),
    Bug(
        name="attribute-named-class",
        title="a submodule called `class` makes code that Python cannot read",
        suspects=CODE,
        code="""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("class", nn.ReLU())
    def forward(self, x):
        return getattr(self, "class")(x)
""",
        inputs="x = torch.tensor([-1.0, 2.0])",
        change="gm",
        variants=(Variant(code=_QUOTE), Variant(code=_BACKSLASH, raises=False)),
        why="FX writes an attribute's name after a dot if it is an identifier. For "
        "`str.isidentifier`, a keyword is an identifier too, so the code has `self.class(x)`. "
        "FX writes any other name between quotes, unchanged. So a name with a quote is a syntax "
        "error. A name with a backslash is read as another name: a submodule whose name is `a`, a "
        "backslash and `tb` runs the one whose name has a tab, and nothing is raised.",
        file="fx/graph.py",
        line="if not e.isidentifier():",
        issues=(188538,),
        instead="Choose a name that is not a Python keyword.",
        raises=True,
        fix=_keywords,
    ),
    Bug(
        name="operator-in-place-on-a-number",
        title="`operator.iadd` on a number changes what later nodes read",
        suspects=CODE,
        code="""
graph = fx.Graph()
x = graph.placeholder("x")
size = graph.call_method("size", (x, 0))
more = graph.call_function(operator.iadd, (size, 10))
graph.output((size, more))
gm = fx.GraphModule(nn.Module(), graph)
""",
        inputs="x = torch.zeros(2)",
        change="gm",
        right_is="fx.Interpreter(gm).run",
        why="The code of `operator.iadd(size, 10)` is `size += 10`. That changes a tensor in "
        "place. It does not change a number: the name `size` gets a new value, which later nodes "
        "read. An `Interpreter` calls the function, and is right.",
        file="fx/graph.py",
        line='"iadd": "{} += {}",',
        instead="Record `operator.add` for values that are not tensors.",
        fix=_calls_in_place,
    ),
)
