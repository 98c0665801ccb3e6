"""Work that PyTorch does when something is called for the first time, such as imports.

Fork servers do it once, so that forked processes need not repeat it. Some of it is not only for
speed: a sandbox cannot read the files of modules that are imported there.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import operator
import os
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx
from torch.fx import interpreter

from autograder.core.exercise import Trial
from autograder.core.global_state import preserve_global_state
from autograder.core.graph_jobs import do_job
from autograder.core.outcome import Outcome
from autograder.runner import run_trial

LATE = (
    "functorch.dim._getsetitem", "torch._refs", "torch._subclasses.schema_check_mode",
    "torch.distributed.tensor", "torch.fx.experimental.symbolic_shapes", "torch.masked",
)  # fmt: skip
"""`torch.distributed.tensor` is imported by the first `torch.testing.assert_close`, the others by
operations."""

DYNAMO = "torch._dynamo"
"""The compiler, whose import takes a quarter of the time of all imports of PyTorch."""

_ALIGN = "torchvision.ops.roi_align"


def import_torchvision() -> None:
    """Import `torchvision` without `DYNAMO`, which it needs for one function of one operation."""
    name = f"{DYNAMO}.utils"
    if name not in sys.modules:
        stand_in = ModuleType(name)
        vars(stand_in)["is_compile_supported"] = _is_compile_supported
        sys.modules[name] = stand_in
        with contextlib.suppress(ImportError):  # another version, which needs it for more
            importlib.import_module("torchvision")
        del sys.modules[name]
    importlib.import_module("torchvision")


def _is_compile_supported(device_type: str) -> Any:
    """Import the function of that name, and call it."""
    return importlib.import_module(f"{DYNAMO}.utils").is_compile_supported(device_type)


def import_dynamo() -> None:
    """Import `DYNAMO` now, and give `torchvision` the function that it needs."""
    with contextlib.suppress(Exception):
        found = importlib.import_module(f"{DYNAMO}.utils").is_compile_supported
        align = vars(sys.modules[_ALIGN])
        if align.get("is_compile_supported") is _is_compile_supported:
            align["is_compile_supported"] = found


def import_late() -> None:
    """Import the modules of `LATE`, as far as this build of PyTorch has them."""
    for name in LATE:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    torch.overrides.is_tensor_method_or_property(torch.Tensor.add)  # caches a table of names
    with contextlib.suppress(AttributeError):
        # `fx.Interpreter` makes a progress bar for each run, and the first one would start a
        # thread.
        interpreter.tqdm.monitor_interval = 0  # type: ignore[attr-defined]


def start_autograd() -> None:
    """Run a backward pass once, before anything else of PyTorch is imported.

    The first one starts a thread for each device that PyTorch knows, and `torch._dynamo` adds
    devices that are only names. After that, a forked process cannot run a backward pass. Here the
    processor is the only device, and it needs no thread.
    """
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    torch.ones(1, requires_grad=True).sum().backward()


COMPILERS = ("torch._dynamo", "torch.export")
"""Modules of which a chapter imports at least one if its answers are compiled or exported."""


def will_compile(imports: Iterable[str]) -> bool:
    """Whether a chapter's cells compile or export.

    Args:
        imports: the modules that they import.
    """
    return any(name.startswith(COMPILERS) for name in imports)


_FRONT = frozenset({"torch", "torch.nn", "torch.nn.functional", "torch.fx.node", "torch.fx.proxy"})
"""Modules of PyTorch that do not import `DYNAMO`."""


def brings_dynamo(imports: Iterable[str]) -> bool:
    """Whether a chapter's cells or answers are likely to import `DYNAMO`.

    Args:
        imports: the modules that they import.
    """
    return any(name.startswith(("torch.", "functorch")) and name not in _FRONT for name in imports)


def warm_up_compilers(imports: Iterable[str]) -> None:
    """Compile and export a small model if a chapter's cells will: the first time takes seconds.

    Args:
        imports: the modules that the chapter's cells import.
    """
    if not will_compile(imports):
        return
    with contextlib.suppress(Exception):
        torch.export.export(_Small(), (torch.ones(2),)).run_decompositions({})
        torch.compile(_Small(), backend=lambda gm, _: gm)(torch.ones(2))
    torch._dynamo.reset()


def rehearse() -> None:
    """Try an answer once, and run the graph that it returns.

    Otherwise, work that is slow only the first time would be slow in each forked process.
    """
    outcome = run_trial("transform", fx.symbolic_trace, _toy, "a rehearsal")
    stream = io.BytesIO()
    outcome.write(stream)
    stream.seek(0)
    claimed = Outcome.read(stream)
    with preserve_global_state():
        do_job("results", _toy(0), claimed.value, claimed.tensors)


def _toy(seed: int) -> Trial:
    """Build a small model; the same for any seed."""
    model = _Toy()
    return Trial(args=(model,), model=model, inputs=((torch.ones(2, 3),),))


class _Toy(torch.nn.Module):
    """A model with a parameter, modules, functions, a method and a computed number."""

    def __init__(self) -> None:
        super().__init__()
        layers = torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Dropout(0.5)
        self.layers = torch.nn.Sequential(*layers)
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Use all of these parts."""
        y = F.gelu(self.layers(x)) * self.weight + math.sqrt(x.size(0))
        z = torch.cat([y, torch.add(y, x, alpha=2)]).view(-1).to(torch.float64)
        doubled: torch.Tensor = operator.mul(z, 2)
        return doubled.sum() - F.softmax(y, dim=-1).mean()


class _Small(torch.nn.Module):
    """A model with a condition, so that its graph contains other graphs."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sine, or the cosine."""
        found: torch.Tensor = torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))
        return found
