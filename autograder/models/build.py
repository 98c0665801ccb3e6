"""Makes new models, inputs and cases from short declarations.

Parameters and running statistics are random, so that a pass that drops a module changes the
result visibly.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx, nn

from autograder.core.execution import seed_all
from autograder.core.exercise import Case, Expect, Trial


@dataclass(frozen=True)
class T:
    """The declaration of a random tensor: its shape and dtype (the case's dtype by default)."""

    shape: tuple[int, ...]
    dtype: torch.dtype | None = None

    def __init__(self, *shape: int, dtype: torch.dtype | None = None) -> None:
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", dtype)


def tensor_of(
    spec: T, generator: torch.Generator, dtype: torch.dtype = torch.float64
) -> torch.Tensor:
    """Make the tensor that a declaration describes: normal for floats, else small integers."""
    dtype = spec.dtype or dtype
    if dtype == torch.bool:
        return torch.rand(spec.shape, generator=generator) > 0.5
    if not dtype.is_floating_point:
        return torch.randint(-5, 6, spec.shape, generator=generator, dtype=dtype)
    return torch.randn(spec.shape, generator=generator, dtype=torch.float64).to(dtype)


def randomize_(model: nn.Module, seed: int) -> nn.Module:
    """Give parameters and floating-point buffers random, nondegenerate values, in place.

    Variances are positive, integer buffers stay; the global random state is not used.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in [*model.named_parameters(), *model.named_buffers()]:
            if not value.is_floating_point():
                continue
            if name.endswith("var"):
                new = torch.rand(value.shape, generator=generator, dtype=torch.float64) + 0.5
            else:
                new = torch.randn(value.shape, generator=generator, dtype=torch.float64)
            value.copy_(new)
    return model


def fresh(
    make: Callable[[], nn.Module],
    seed: int = 0,
    *,
    training: bool = False,
    dtype: torch.dtype = torch.float64,
) -> nn.Module:
    """Make a new model with random weights, by default in eval mode."""
    with torch.random.fork_rng(devices=[]):
        seed_all(seed)
        model = make()
    return randomize_(model.to(dtype), seed).train(training)


def arguments(
    specs: Sequence[Any], generator: torch.Generator, dtype: torch.dtype
) -> tuple[Any, ...]:
    """Make the arguments that the declarations describe, also within lists and tuples."""

    def make(spec: Any) -> Any:
        if isinstance(spec, T):
            return tensor_of(spec, generator, dtype)
        if isinstance(spec, (list, tuple)):
            return type(spec)(make(item) for item in spec)
        return copy.deepcopy(spec)

    return tuple(make(spec) for spec in specs)


@dataclass(frozen=True)
class InEvaluation:
    """Puts one part of a model in evaluation mode, like code that freezes a layer.

    Attributes:
        path: the part's qualified name.
    """

    path: str

    def __call__(self, model: nn.Module) -> None:
        """Change the mode of the model's part."""
        model.get_submodule(self.path).eval()


@dataclass(frozen=True, eq=False)
class ModelTrial:
    """Builds the objects of a case whose answer takes a model; see `model_case`."""

    make: Callable[[], nn.Module]
    inputs: tuple[Sequence[Any], ...] = ()
    extra: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    training: bool = False
    prepare: Callable[[nn.Module], Any] | None = None
    dtype: torch.dtype = torch.float64
    forbidden: tuple[tuple[Any, ...], ...] = ()
    times: int = 1

    def __call__(self, seed: int) -> Trial:
        """Make a new trial."""
        model = fresh(self.make, seed, training=self.training, dtype=self.dtype)
        if self.prepare is not None:
            self.prepare(model)
        generator = torch.Generator().manual_seed(seed + 1)
        return Trial(
            args=(model, *copy.deepcopy(self.extra)),
            kwargs=dict(self.kwargs),
            model=model,
            inputs=tuple(arguments(specs, generator, self.dtype) for specs in self.inputs),
            functions=dict(self.functions),
            forbidden=self.forbidden,
            times=self.times,
        )


def model_case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: Sequence[Any],
    extra: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    functions: dict[str, Callable[..., Any]] | None = None,
    training: bool = False,
    prepare: Callable[[nn.Module], Any] | None = None,
    dtype: torch.dtype = torch.float64,
    forbidden: tuple[tuple[Any, ...], ...] = (),
    times: int = 1,
    expect: Expect = Expect(),  # noqa: B008 - it is frozen
) -> Case:
    """A case whose answer takes a model.

    The builder is sent to the process that runs answers, so functions and classes among the
    arguments must be in a module of models, or in a library.

    Args:
        name: the case's name.
        aspect: key of the aspect that it belongs to.
        make: builds the model: a class without arguments, or a function.
        inputs: argument tuples for the result, tensors as `T`.
        extra: further arguments of the answer, after the model.
        kwargs: keyword arguments of the answer.
        functions: functions of the case that a graph may call, by name.
        training: the mode of the whole model.
        prepare: final changes to the model, such as the mode of one part.
        dtype: of parameters, and of inputs without a dtype of their own.
        forbidden: attributes that the answer may not use.
        times: how often a transform is applied.
        expect: expectations in addition to the reference.
    """
    build = ModelTrial(
        make, inputs, extra, kwargs or {}, functions or {}, training, prepare, dtype, forbidden,
        times,
    )  # fmt: skip
    return Case(name, aspect, build, expect)


@dataclass(frozen=True)
class Traced:
    """Makes a graph module: the trace of a new model."""

    make: Callable[[], nn.Module]

    def __call__(self) -> fx.GraphModule:
        """Make a new trace."""
        return fx.symbolic_trace(self.make())


class _KeepsParts(fx.Tracer):
    """A tracer that does not enter the model's submodules."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Treat every submodule as a leaf."""
        return "." not in module_qualified_name or super().is_leaf_module(m, module_qualified_name)


@dataclass(frozen=True)
class TracedInPart(Traced):
    """Makes a graph module in which each submodule is one node; a trace of it enters them."""

    def __call__(self) -> fx.GraphModule:
        """Make a trace with one node for each submodule."""
        model = self.make()
        return fx.GraphModule(model, _KeepsParts().trace(model), type(model).__name__)
