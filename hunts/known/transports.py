"""Bugs of transports of a graph module: copies, pickles, folders, traces of traces."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import fx
from torch.fx import graph as fx_graph

from hunts.bug import Bug, Variant
from hunts.known.fixes import instead


def _names_copied() -> Any:
    """Give each node of a copied graph the name of the old one."""

    def make(original: Any) -> Any:
        def copied(self: fx.Graph, memo: Any = None) -> fx.Graph:
            result: fx.Graph = original(self, memo)
            for was, node in zip(self.nodes, result.nodes, strict=True):
                node.name = was.name
            return result

        return copied

    return instead(fx.Graph, "__deepcopy__", make)


def _recorded_in_place() -> Any:
    """Let a Proxy record operators in place as themselves."""
    import operator

    def recorder(function: Any) -> Any:
        def method(self: fx.Proxy, other: Any) -> Any:
            return self.tracer.create_proxy("call_function", function, (self, other), {})

        return method

    names = ("iadd", "isub", "imul", "itruediv")
    methods = {f"__{name}__": recorder(getattr(operator, name)) for name in names}
    return mock.patch.multiple(fx.Proxy, create=True, **methods)


_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_forward_hooks_with_kwargs")


def _hooks_copied() -> Any:
    def make(original: Any) -> Any:
        def copied(self: fx.GraphModule, memo: dict[int, Any]) -> fx.GraphModule:
            result: fx.GraphModule = original(self, memo)
            for name in _HOOKS:
                setattr(result, name, copy.deepcopy(getattr(self, name), memo))
            return result

        return copied

    return instead(fx.GraphModule, "__deepcopy__", make)


def _written(change: Any) -> Any:
    """Change the code that `to_folder` has written before it is imported."""

    def make(original: Any) -> Any:
        def to_folder(self: fx.GraphModule, folder: Any, module_name: str = "FxModule") -> None:
            original(self, folder, module_name)
            file = folder / "module.py"
            text = file.read_text(encoding="utf-8")
            file.write_text(change(self, text, folder), encoding="utf-8")

        return to_folder

    return instead(fx.GraphModule, "to_folder", make)


def _as_they_were(gm: fx.GraphModule, text: str, folder: Path) -> str:
    """Load every layer from a file of its own, and construct none again."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        found = re.match(r" *setattr\(self, '(\w+)', (?!torch\.)", line)
        if found:
            file = folder / f"{found[1]}.pt"
            torch.save(gm.get_submodule(found[1]), file)
            load = f"torch.load({str(file)!r}, weights_only=False)"
            lines[place] = f"        setattr(self, {found[1]!r}, {load})"
        if "self.load_state_dict(" in line:
            lines[place] += f"\n        self.training = {gm.training}"
    return "\n".join(lines) + "\n"


def _with_names(gm: fx.GraphModule, text: str, folder: Path) -> str:
    code = gm.graph.python_code("self")
    imports = []
    for name, value in code.globals.items():
        home, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if home and own and name not in fx_graph._custom_builtins:
            imports.append(f"from {home} import {own} as {name}")
    return "\n".join([*imports, text])


def _wraps_nothing(gm: fx.GraphModule, text: str, folder: Path) -> str:
    """Wrap nothing in the class.

    A full fix would wrap the functions after the class, for a trace of the module, which no test
    makes here. FX keeps wrapped names forever. While another bug leaves one of them without an
    import, no model could be traced.
    """
    lines = text.splitlines()
    rest = [line for line in lines if not re.match(r" +torch\.fx\._symbolic_trace\.wrap\(", line)]
    return "\n".join(rest) + "\n"


FOLDER = "from hunts.suspects import to_folder"

BUGS = (
    Bug(
        name="pickled-operator-in-place",
        title="pickle turns `operator.iadd` into `operator.add`",
        suspects=(
            "pickle",
            "torch.save",
            "symbolic_trace of a trace",
            "optimization.fuse",
            "merge_matmul",
        ),  # fmt: skip
        code="""
graph = fx.Graph()
x = graph.placeholder("x")
graph.output(graph.call_function(operator.iadd, (x, 1)))
gm = fx.GraphModule(nn.Module(), graph)
""",
        inputs="x = torch.zeros(2)",
        change="pickle.loads(pickle.dumps(gm))",
        imports="import copy",
        show="(f(x), x)",
        variants=(Variant(change="fx.symbolic_trace(gm)"),),
        why="A pickle holds the code, and loading it traces that code. A `Proxy` has no in-place "
        "operators, so `x += 1` is traced as `operator.add`, and the argument is no longer "
        "changed. `torch.save`, and `fx.symbolic_trace` of a graph module, do the same.",
        file="fx/graph_module.py",
        line="graph = KeepModules().trace(com, **tracer_extras)",
        later_lines=(("2.15", "graph = tracer.trace(com, **tracer_extras)"),),
        issues=(198077,),
        cure="copy.deepcopy(gm)",
        instead="Copy it: `copy.deepcopy` does not trace. To save it, record the method "
        "`add_` and no operator.",
        fix=_recorded_in_place,
    ),
    Bug(
        name="hooks-of-a-copied-trace",
        title="`copy.deepcopy` of a graph module drops its hooks",
        suspects=("deepcopy",),
        code="""
class Model(nn.Module):
    def forward(self, x):
        return x + 1
""",
        inputs="x = torch.zeros(2)",
        change="copy.deepcopy(hooked(gm))",
        right_is="hooked(fx.symbolic_trace(model))",
        imports="""
import copy
def hooked(module):
    module.register_forward_hook(lambda module, args, out: out * 10)
    return module
""",
        why="A copy is made by the constructor, which makes a module without hooks; those of "
        "`state_dict` alone are copied over. `copy.deepcopy` of any other module keeps them all.",
        file="fx/graph_module.py",
        line="# hooks, to reduce bc-related issues, we can copy forward/backward related",
        cure="hooked(copy.deepcopy(gm))",
        instead="Register the hooks on the copy again.",
        fix=_hooks_copied,
    ),
    Bug(
        name="copied-program",
        title="a deep copy of an exported program cannot be saved",
        suspects=(),
        code="""
class Model(nn.Module):
    def forward(self, x, max):
        return x * max
""",
        inputs="x = torch.ones(2)",
        change="copy.deepcopy(export(model, (x, x)))",
        right_is="export(model, (x, x))",
        show="save(f, io.BytesIO())",
        imports="import copy, io\nfrom torch.export import export, save",
        why="A program calls its placeholders as `forward` calls its parameters. The copy of the "
        "graph gives `max` another name, because it is a name of Python. The signature is copied "
        "as it is, so it names a node that does not exist.",
        file="fx/graph.py",
        line="output_vals = g.graph_copy(",
        instead="Export again. Or give each node of the copy the name of the old one.",
        issues=(142227,),
        raises=True,
        fix=_names_copied,
    ),
    Bug(
        name="folder-of-new-layers",
        title="`to_folder` forgets the mode and the dtype of layers",
        suspects=("to_folder",),
        code="""
class Model(nn.Sequential):
    def __init__(self):
        super().__init__(nn.BatchNorm1d(2))
""",
        inputs="x = torch.tensor([[0.0, 0.0], [2.0, 4.0]])",
        change="to_folder(gm, ())",
        show="f(x).detach()",
        imports=FOLDER,
        why="The written code builds a linear layer, a convolution or a BatchNorm again, from its "
        "text. A new layer is in training mode, so this BatchNorm uses the statistics of the "
        "batch, and changes its own. A new layer also has dtype float32: weights of float64 "
        "are rounded when they are loaded.",
        file="fx/graph_module.py",
        line='return f"{module.__repr__()}"',
        cure="to_folder(gm, ()).eval()",
        instead="Call `.eval()` on what was imported; where dtypes differ, use `torch.save`.",
        fix=lambda: _written(_as_they_were),
    ),
    Bug(
        name="folder-without-imports",
        title="`to_folder` writes names that it does not import",
        suspects=("to_folder",),
        code="""
class Model(nn.Module):
    def forward(self, x):
        return abs(x)
""",
        inputs="x = torch.tensor([-1.0, 2.0])",
        change="to_folder(gm, ())",
        imports=FOLDER,
        why="Generated code calls functions by global names, such as `_operator_abs`. The file "
        "gets the code, and of these names only those that every graph has.",
        file="fx/graph_module.py",
        line='custom_builtins = "\\n".join([v.import_str for v in _custom_builtins.values()])',
        cure="pickle.loads(pickle.dumps(gm))",
        instead="Use pickle or `torch.save`, which import what they need.",
        raises=True,
        fix=lambda: _written(_with_names),
    ),
    Bug(
        name="folder-of-wrapped-functions",
        title="what `to_folder` writes cannot be imported if a function is wrapped",
        suspects=("to_folder",),
        code="""
class Model(nn.Module):
    def forward(self, x):
        return x * len(x)
""",
        inputs="x = torch.ones(2)",
        change="to_folder(gm, ())",
        imports=FOLDER + '\nfx.wrap("len")',
        why="The code of a graph that calls a wrapped function begins with `wrap(...)`, which "
        "must be outside of classes and functions. The file has all of this code within its "
        "class.",
        file="fx/graph_module.py",
        line='model_str += f"{_addindent(self.code, 4)}\\n"',
        cure="pickle.loads(pickle.dumps(gm))",
        instead="Use pickle or `torch.save`.",
        raises=True,
        fix=lambda: _written(_wraps_nothing),
    ),
)
