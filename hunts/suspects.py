"""PyTorch's own passes and transports, in the form in which the hunt calls them."""

from __future__ import annotations

import copy
import importlib
import io
import pickle
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import fx, nn
from torch.export import export
from torch.fx.experimental import const_fold, merge_matmul, normalize, optimization
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes import split_module, split_utils, tools_common
from torch.fx.passes.dialect.common import cse_pass
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import create_op_support
from torch.fx.passes.utils import fuser_utils

from autograder.hunt.behaviour import (
    ARGUMENT_GRADIENTS,
    EVERYTHING,
    MODES,
    PARAMETER_GRADIENTS,
)
from autograder.hunt.trying import Question
from hunts.known.fixes import has_effect, nodes_are

Inputs = tuple[tuple[Any, ...], ...]

MEANING = tuple(aspect for aspect in EVERYTHING if aspect != MODES)
"""The aspects that a pass preserves that makes modules of its own."""

RESULTS = tuple(a for a in MEANING if a not in (ARGUMENT_GRADIENTS, PARAMETER_GRADIENTS))
"""The aspects that a graph preserves that is no longer trained."""

VALUES = tuple(aspect for aspect in MEANING if aspect != PARAMETER_GRADIENTS)
"""The aspects that a pass preserves that makes parameters of its own."""


@dataclass(frozen=True)
class Suspect:
    """A pass or transport of PyTorch.

    Attributes:
        name: its name in reports.
        question: how it is tested on each model.
        files: its source files, in the package torch.
        leaves_out: vocabularies that it does not claim to support.
        only: the vocabularies to use, if not all others.
        refuses: words in the exceptions with which it rejects a model.
        slow: whether it takes so long that it is tried only on some models.
    """

    name: str
    question: Question
    files: tuple[str, ...] = ()
    leaves_out: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    refuses: tuple[str, ...] = ()
    slow: bool = False


def _in_place(change: Callable[[fx.GraphModule], Any]) -> Callable[[fx.GraphModule, Inputs], Any]:
    """Adapt a pass that changes the module in place."""

    def changed(gm: fx.GraphModule, inputs: Inputs) -> Any:
        change(gm)
        gm.recompile()
        return gm

    return changed


def _dce(gm: fx.GraphModule) -> None:
    gm.graph.eliminate_dead_code()


def _cse(gm: fx.GraphModule, inputs: Inputs) -> Any:
    result = cse_pass.CSEPass(cse_pass.get_CSE_banned_ops())(gm)
    return gm if result is None else result.graph_module


class OutOfScope(Exception):
    """The documentation of a pass excludes such a graph."""


def _cse_of_a_trace(gm: fx.GraphModule, inputs: Inputs) -> Any:
    # Any vocabulary may have dropout, or a method in place. The documentation excludes them all.
    if nodes_are(gm, has_effect):
        raise OutOfScope("something is written or drawn")
    return _cse(gm, inputs)


def _fuse(gm: fx.GraphModule, inputs: Inputs) -> Any:
    return optimization.fuse(gm)


def _folded(gm: fx.GraphModule, inputs: Inputs) -> Any:
    return const_fold.split_const_subgraphs(gm)


def kind_of(node: fx.Node) -> int:
    """A split by kind of operation that does not depend on the order."""
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    return sum(map(ord, name)) % 2


def _split_by_kind(gm: fx.GraphModule, inputs: Inputs) -> Any:
    return split_module.split_module(gm, gm, kind_of)


def _split_in_order(gm: fx.GraphModule, inputs: Inputs) -> Any:
    place = {node: number for number, node in enumerate(gm.graph.nodes)}
    half = len(place) // 2
    return split_module.split_module(gm, gm, lambda node: int(place[node] > half))


def _split_by_tags(gm: fx.GraphModule, inputs: Inputs) -> Any:
    place = {node: number for number, node in enumerate(gm.graph.nodes)}
    half = len(place) // 2
    for node in gm.graph.nodes:
        if node.op not in ("placeholder", "get_attr", "output"):
            node.tag = "first" if place[node] <= half else "second"
    return split_utils.split_by_tags(gm, ["first", "second"])


def supported(submodules: Mapping[str, nn.Module], node: fx.Node) -> bool:
    """Whether a backend that supports about half of all calls supports this one."""
    return node.op.startswith("call_") and kind_of(node) == 0


def _partitioned(gm: fx.GraphModule, inputs: Inputs) -> Any:
    support = create_op_support(supported)
    return CapabilityBasedPartitioner(
        gm, support, allows_single_node_partition=True
    ).partition_and_fuse()


def _fused_by_partitions(gm: fx.GraphModule, inputs: Inputs) -> Any:
    """Fuse the calls of the middle third, which do not depend on later ones."""
    calls = [node for node in gm.graph.nodes if node.op.startswith("call_")]
    third = len(calls) // 3
    chosen = calls[third : len(calls) - third] or calls
    return fuser_utils.fuse_by_partitions(gm, [dict.fromkeys(chosen)])


def _pickled(gm: fx.GraphModule, inputs: Inputs) -> Any:
    return pickle.loads(pickle.dumps(gm))


def _saved(gm: fx.GraphModule, inputs: Inputs) -> Any:
    file = io.BytesIO()
    torch.save(gm, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


_FOLDERS = iter(range(10**9))


def to_folder(gm: fx.GraphModule, inputs: Inputs) -> Any:
    """Write a module with `GraphModule.to_folder`, and import it again."""
    name = f"hunted_{next(_FOLDERS)}"
    with tempfile.TemporaryDirectory() as place:
        gm.to_folder(Path(place) / name, "Written")
        sys.path.insert(0, place)
        importlib.invalidate_caches()
        try:
            return importlib.import_module(name).Written()
        finally:
            sys.path.remove(place)
            sys.modules.pop(name, None)
            sys.modules.pop(f"{name}.module", None)


def _interpreted(gm: fx.GraphModule, inputs: Inputs) -> Any:
    """Bind the arguments like `forward`, then run an Interpreter."""
    import inspect

    signature = inspect.signature(gm.forward)

    def run(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return fx.Interpreter(gm).run(*bound.args)

    return run


PATTERNS: dict[str, tuple[Callable[..., Any], Any]] = {
    "relu": (lambda a: torch.relu(a), lambda a: torch.clamp(a, min=0)),
    "sum": (lambda a, b: torch.add(a, b), lambda a, b: a + b),
    "product": (lambda a, b: a * b, lambda a, b: torch.mul(b, a)),
    "stack": (lambda a, b: torch.stack([a, b]).sum(0), lambda a, b: torch.add(a, b)),
    "twice": (lambda a: torch.neg(torch.neg(a)), lambda a: torch.add(a, 0)),
    "parts": (
        lambda a: torch.cat([a, a], dim=-1).chunk(2, dim=-1),
        lambda a: torch.cat([a, a], dim=-1).split(a.shape[-1], dim=-1),
    ),
}  # fmt: skip


class _Scaled(nn.Module):
    """A replacement with a buffer of its own, whose name may also occur in a model."""

    offset: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("offset", torch.zeros((), dtype=torch.float64))

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(a) + self.offset.to(a.dtype)


def _rewritten(name: str) -> Callable[[fx.GraphModule], None]:
    pattern, replacement = PATTERNS[name]

    def change(gm: fx.GraphModule) -> None:
        fx.replace_pattern(gm, pattern, replacement)

    return change


def _with_a_buffer(gm: fx.GraphModule) -> None:
    fx.replace_pattern(gm, lambda a: torch.sigmoid(a), fx.symbolic_trace(_Scaled()))


def _program(model: nn.Module, inputs: Inputs) -> Any:
    return export(model, copy.deepcopy(inputs[0])).module()


def _decomposed(model: nn.Module, inputs: Inputs) -> Any:
    return export(model, copy.deepcopy(inputs[0])).run_decompositions().module()


def _functional(model: nn.Module, inputs: Inputs) -> Any:
    return export(model, copy.deepcopy(inputs[0])).run_decompositions({}).module()


def _unflattened(model: nn.Module, inputs: Inputs) -> Any:
    from torch.export.unflatten import unflatten

    return unflatten(export(model, copy.deepcopy(inputs[0])))


def _unflattened_trace(model: nn.Module, inputs: Inputs) -> Any:
    return _unflattened(fx.symbolic_trace(model), inputs)


def _program_saved(model: nn.Module, inputs: Inputs) -> Any:
    file = io.BytesIO()
    torch.export.save(export(model, copy.deepcopy(inputs[0])), file)
    file.seek(0)
    return torch.export.load(file).module()


def _recorded(model: nn.Module, inputs: Inputs) -> Any:
    return make_fx(model)(*copy.deepcopy(inputs[0]))


def _transformed(gm: fx.GraphModule, inputs: Inputs) -> Any:
    return fx.Transformer(gm).transform()


def _a_trace(change: Callable[..., Any], **more: Any) -> Question:
    return Question(change, **{"aspects": MEANING, **more})


# Vocabularies with calls that change tensors or buffers in place.
WITH_EFFECTS = ("effects", "records", "constants", "layers", "matmuls", "sound_dce", "equivalent")

# Random numbers are drawn in another order if calls are moved, and no documentation excludes it.
ORDER = ("random", "random functions")
# A Proxy rejects assignments to items with a clear message.
NO_ITEMS = "'Proxy' object does not support item assignment"

# Models are compared without gradients, but captures run them with gradients. Eager mode itself
# then rejects a write to one of several views of a value that depends on a parameter.
WRITES_TO_VIEWS = "is a view and is being modified inplace"

# A program is exported for the first arguments only: it may reject others.
FIRST = ("names", "records")

SUSPECTS: tuple[Suspect, ...] = (
    Suspect(
        "generated code",
        Question(lambda gm, inputs: gm, sound_by="interpreter", aspects=MEANING),
        ("fx/graph.py",),
    ),
    Suspect("Interpreter", _a_trace(_interpreted), ("fx/interpreter.py",)),
    Suspect("Transformer", _a_trace(_transformed), ("fx/interpreter.py",)),
    Suspect(
        "symbolic_trace of a trace",
        _a_trace(lambda gm, inputs: fx.symbolic_trace(gm)),
        ("fx/_symbolic_trace.py", "fx/proxy.py"),
        refuses=(NO_ITEMS,),
    ),
    Suspect(
        "deepcopy",
        Question(lambda gm, inputs: copy.deepcopy(gm)),
        ("fx/graph_module.py",),
    ),
    Suspect("pickle", Question(_pickled), ("fx/graph_module.py",), refuses=(NO_ITEMS,)),
    Suspect("torch.save", Question(_saved), ("fx/graph_module.py",), refuses=(NO_ITEMS,)),
    Suspect("to_folder", Question(to_folder), ("fx/graph_module.py",)),
    Suspect("eliminate_dead_code", _a_trace(_in_place(_dce)), ("fx/graph.py", "fx/node.py")),
    Suspect(
        "CSEPass",
        _a_trace(_cse_of_a_trace),
        ("fx/passes/dialect/common/cse_pass.py",),
        # Its documentation: not for dialects with effects; random operations must be listed.
        leaves_out=(*WITH_EFFECTS, "random", "random functions"),
        # Slices are hashable from Python 3.12 on.
        refuses=("unhashable type: 'slice'", OutOfScope.__name__),
    ),
    Suspect(
        "CSEPass on ATen",
        _a_trace(_cse, given="aten", first_only=True),
        ("fx/passes/dialect/common/cse_pass.py",),
        only=("aten", "random functions", "literals"),
        refuses=("unhashable type: 'slice'",),
    ),
    Suspect(
        "optimization.fuse",
        Question(_fuse, aspects=VALUES, eval_only=True),
        ("fx/experimental/optimization.py", "nn/utils/fusion.py"),
        refuses=(NO_ITEMS,),
    ),
    Suspect(
        "const_fold",
        Question(_folded, aspects=VALUES),
        ("fx/experimental/const_fold.py",),
        leaves_out=("random",),
    ),
    Suspect(
        "split_module by kind",
        _a_trace(_split_by_kind),
        ("fx/passes/split_module.py",),
        ORDER,
        refuses=("cycle exists between partitions",),
    ),
    Suspect("split_module in order", _a_trace(_split_in_order), ("fx/passes/split_module.py",)),
    Suspect("split_by_tags", _a_trace(_split_by_tags), ("fx/passes/split_utils.py",), ORDER),
    Suspect(
        "legalize_graph",
        _a_trace(_in_place(lambda gm: tools_common.legalize_graph(gm))),
        ("fx/passes/tools_common.py",),
        ORDER,
    ),
    Suspect(
        "stable_topological_sort",
        _a_trace(_in_place(lambda gm: tools_common.stable_topological_sort(gm))),
        ("fx/passes/tools_common.py",),
    ),
    Suspect(
        "NormalizeArgs",
        _a_trace(lambda gm, inputs: normalize.NormalizeArgs(gm).transform()),
        ("fx/experimental/normalize.py", "fx/operator_schemas.py"),
    ),
    Suspect(
        "NormalizeOperators",
        _a_trace(lambda gm, inputs: normalize.NormalizeOperators(gm).transform()),
        ("fx/experimental/normalize.py", "fx/experimental/schema_type_annotation.py"),
    ),
    Suspect(
        "merge_matmul",
        _a_trace(lambda gm, inputs: merge_matmul.merge_matmul(gm)),
        ("fx/experimental/merge_matmul.py",),
        ORDER,
        refuses=(NO_ITEMS,),
    ),
    Suspect("partitioner", _a_trace(_partitioned), ("fx/passes/infra/partitioner.py",), ORDER),
    Suspect(
        "fuse_by_partitions",
        _a_trace(_fused_by_partitions),
        ("fx/passes/utils/fuser_utils.py",),
        ORDER,
    ),
    *(
        Suspect(
            f"replace_pattern, {name}",
            _a_trace(_in_place(_rewritten(name))),
            ("fx/subgraph_rewriter.py", "fx/passes/utils/matcher_utils.py"),
            ORDER,
        )
        for name in PATTERNS
    ),
    Suspect(
        "replace_pattern, a buffer",
        _a_trace(_in_place(_with_a_buffer)),
        ("fx/subgraph_rewriter.py",),
    ),
    *(
        Suspect(
            name,
            Question(change, given="model", aspects=aspects, first_only=True),
            files,
            leaves_out=(*FIRST, *ORDER) if aspects is RESULTS else FIRST,
            refuses=(WRITES_TO_VIEWS,),
            slow=True,
        )
        for name, change, aspects, files in (
            ("export", _program, MEANING, ("export/_trace.py",)),
            # A decomposition may draw its random numbers differently.
            ("export, functional", _functional, RESULTS, ("export/exported_program.py",)),
            ("export, decomposed", _decomposed, RESULTS, ("export/exported_program.py",)),
            ("export, saved", _program_saved, MEANING, ("_export/serde/serialize.py",)),
            ("unflatten", _unflattened, MEANING, ("export/unflatten.py",)),
            ("unflatten of a trace", _unflattened_trace, MEANING, ("export/unflatten.py",)),
        )
    ),
    *(
        Suspect(
            f"{name}, a step",
            _a_trace(change, given="step", first_only=True),
            files,
            leaves_out=(*FIRST, *ORDER, *more),
            slow=True,
        )
        for name, change, files, more in (
            ("eliminate_dead_code", _in_place(_dce), ("fx/graph.py", "fx/node.py"), ()),
            ("const_fold", _folded, ("fx/experimental/const_fold.py",), ()),
            ("CSEPass", _cse, ("fx/passes/dialect/common/cse_pass.py",), WITH_EFFECTS),
        )
    ),
    Suspect(
        "make_fx",
        # It runs the model while it records, so persistent state has changed afterwards.
        Question(_recorded, given="model", aspects=RESULTS, first_only=True, eval_only=True),
        leaves_out=(*FIRST, *WITH_EFFECTS),
        refuses=(WRITES_TO_VIEWS,),
    ),
)  # fmt: skip
