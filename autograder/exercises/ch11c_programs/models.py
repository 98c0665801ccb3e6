"""Exported programs for the exercises of this chapter, and the report about a program."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import nn
from torch.export import Dim, ExportedProgram

from autograder.authoring.models import T, arguments, fresh, is_exported
from autograder.models.graph_reports import attempt, is_recompiled, lint_text, row_of


@dataclass(frozen=True)
class Recipe:
    """The options for exporting a program.

    Attributes:
        make: builds the model.
        args: arguments for export, tensors as `T`; a `Parts` becomes a dictionary.
        training: the mode of the model.
        decomposed: whether `run_decompositions` is called, with an empty table.
        batches: whether the first size of the first input is symbolic.
    """

    make: Callable[[], nn.Module]
    args: tuple[Any, ...]
    training: bool = False
    decomposed: bool = False
    batches: bool = False


@dataclass(frozen=True)
class Parts:
    """A dictionary of tensors as an argument, in a hashable form."""

    scale: T


@lru_cache(maxsize=64)
def exported(recipe: Recipe) -> ExportedProgram:
    """Export the program of a recipe; callers that pass it on must copy it."""
    with torch.random.fork_rng(devices=[]):
        model = fresh(recipe.make, training=recipe.training, dtype=torch.float32)
        dims = {0: Dim("batch", min=2, max=512)} if recipe.batches else None
        shapes = (dims, *[None] * (len(recipe.args) - 1)) if recipe.batches else None
        program = torch.export.export(model, made(recipe.args, 1), dynamic_shapes=shapes)
        return program.run_decompositions({}) if recipe.decomposed else program


def made(specs: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    """Make inputs from their specs."""
    generator = torch.Generator().manual_seed(seed)

    def one(spec: Any) -> Any:
        if isinstance(spec, Parts):
            return {"scale": one(spec.scale)}
        (value,) = arguments((spec,), generator, torch.float32)
        return value

    return tuple(map(one, specs))


def reporting(
    new: Any, facts: Callable[[ExportedProgram], dict[str, Any]], *, saved: bool
) -> Callable[..., Any]:
    """A callable that runs an answer's program, and reports on it.

    Args:
        new: what the answer returned.
        facts: makes the record of a program.
        saved: whether the program is also saved and loaded.
    """
    if not is_exported(new):
        return lambda *_: {"kind": type(new)}
    found: dict[str, Any] = {"kind": type(new), **facts(new)}

    def run(*inputs: Any) -> dict[str, Any]:
        said = dict(found)
        if saved:
            said["loaded"] = attempt(lambda: loaded(new), copy.deepcopy(inputs))
        said["result"] = attempt(new.module, inputs)
        return said

    return keeping_state(run, new)


def keeping_state(run: Callable[..., Any], program: ExportedProgram) -> Callable[..., Any]:
    """Wrap a call so that it restores the program's tensors afterwards.

    A new program may share tensors with the old one, and may count its runs in them.
    """

    def kept(*inputs: Any) -> Any:
        tensors = [
            each
            for each in (*program.state_dict.values(), *program.constants.values())
            if isinstance(each, torch.Tensor)
        ]
        before = [tensor.detach().clone() for tensor in tensors]
        try:
            return run(*inputs)
        finally:
            with torch.no_grad():
                for tensor, value in zip(tensors, before, strict=True):
                    tensor.copy_(value)

    return kept


def facts_of(program: ExportedProgram) -> dict[str, Any]:
    """A record of a program: its signature, its nodes, its constraints and its code."""
    signature = program.graph_signature
    return {
        "inputs": [spec_text(spec) for spec in signature.input_specs],
        "outputs": [spec_text(spec) for spec in signature.output_specs],
        "rows": [row_of(node) for node in program.graph.nodes],
        "ranges": sorted(map(str, program.range_constraints.items())),
        "state": sorted([*program.state_dict, *program.constants]),
        "recompiled": is_recompiled(program.graph_module),
        "lint": lint_text(program.graph_module),
    }


def spec_text(spec: Any) -> str:
    """A line of a signature, with the kind of its argument."""
    argument = getattr(spec.arg, "name", "")
    words = [spec.kind.name, f"{type(spec.arg).__name__}({argument!r})", f"target={spec.target!r}"]
    return " ".join(words)


def loaded(program: ExportedProgram) -> nn.Module:
    """Save and load a program, and return its module."""
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file).module()
