"""Networks that compute something, and comparisons that can fail.

With new weights, a network of torchvision gives nearly the same result for each image: the bias of
its last layer. Every comparison of such results passes. `make_alive` draws weights with which each
layer matters. `difference` measures an error in units of the change that other inputs make, and
raises an error if they change nothing. `assert_same_results` is the assertion.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from autograder.core.torch_private import ConvNd, pytree

__all__ = [
    "TOLERANCES",
    "VacuousComparison",
    "assert_same_results",
    "difference",
    "images",
    "layer_effects",
    "make_alive",
]

_LAYERS = (ConvNd, nn.Linear)
_SCALES = (nn.LayerNorm, nn.GroupNorm)

LEAST_SIGNAL = 0.01
"""The least change by other inputs, as a fraction of a result's size; less is vacuous."""

TOLERANCES = {torch.float64: 1e-9, torch.float32: 1e-3}
"""The largest difference by dtype.

Measured on fifteen torchvision networks of up to 121 norms (torch 2.14.1): folding all norms costs
at most 2e-5 in float32 and 4.4e-14 in float64, and the layer that matters least has an effect of
0.07. Half types have no entry: a whole network in bfloat16 differs by up to 0.5, more than a layer.
"""


class VacuousComparison(AssertionError):
    """The comparison could not have failed: a result does not depend on the inputs."""


def images(count: int = 4, size: int = 64, seed: int = 0) -> torch.Tensor:
    """Random pictures that differ from each other: coarse colors, and noise on them.

    White noise alone is not enough: after the first average, two noise pictures look the same.

    Args:
        count: the number of pictures.
        size: their height and width.
        seed: the seed of a generator of their own.

    Returns:
        Shape ``(count, 3, size, size)``, float32, mean about 0, standard deviation about 0.8.
    """
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.randn(count, 3, 4, 4, generator=generator)
    smooth = F.interpolate(coarse, size=(size, size), mode="bilinear", align_corners=False)
    return smooth + 0.3 * torch.randn(count, 3, size, size, generator=generator)


def make_alive(model: nn.Module, *inputs: Any, seed: int = 0) -> nn.Module:
    """Give a network random weights with which each of its layers matters, in place.

    The network runs once. Just before a layer runs, its weights are drawn and divided by the
    standard deviation of its result, so that the result has size one: layer-sequential
    unit-variance initialization (Mishkin and Matas, "All you need is a good init", ICLR 2016,
    arXiv:1511.06422), with normal instead of orthonormal weights. A BatchNorm gets running
    statistics near those of its input, a weight in 0.5 … 1.5 and a bias, so that it is neither
    the identity nor foldable by deleting it.

    Args:
        model: any module. Convolutions, linear layers, attention, embeddings and norms are drawn.
            Other parameters are drawn only if all their numbers are equal, such as ConvNeXt's
            layer scale of 1e-6. Layers that do not run are drawn by their fan-in.
        *inputs: the arguments of the run; four pictures of 64×64 by default.
        seed: the seed of a generator of their own. The global random state is not changed.

    Returns:
        `model`, in eval mode.
    """
    _Drawing(model, torch.Generator().manual_seed(seed)).run(inputs or (images(),))
    return model.eval()


class _Drawing:
    """The weights of one network, drawn layer by layer while it runs."""

    def __init__(self, model: nn.Module, generator: torch.Generator) -> None:
        self.model = model
        self.generator = generator
        self.drawn: set[int] = set()  # ids of tensors: a tied weight is drawn once

    def run(self, inputs: tuple[Any, ...]) -> None:
        model = self.model.eval()
        fast = torch.backends.mha.get_fastpath_enabled()
        hooks = [
            module.register_forward_pre_hook(self.before, with_kwargs=True)
            for module in model.modules()
        ]
        try:
            torch.backends.mha.set_fastpath_enabled(False)  # it would skip the layers inside
            with torch.random.fork_rng(devices=[]), torch.no_grad():
                for module in model.modules():
                    self.draw_constants(module)
                model(*copy.deepcopy(inputs))
                for module in model.modules():
                    self.draw_unreached(module)
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)
            for hook in hooks:
                hook.remove()

    def before(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Draw a layer just before it runs for the first time."""
        if isinstance(module, _LAYERS):
            if self.draw(module.weight):
                _fill(module.bias, 0.0)
                _divide(module.weight, module.forward(*args, **kwargs))
            self.draw(module.bias, 0.2)
        elif isinstance(module, nn.MultiheadAttention):
            self.draw_attention(module, args, kwargs)
        elif getattr(module, "running_mean", None) is not None:
            self.draw_statistics(module, next(iter((*args, *kwargs.values()))))

    def draw_constants(self, module: nn.Module) -> None:
        """Draw weights that need no run: embeddings, scales of norms, constant parameters."""
        if isinstance(module, nn.Embedding):
            self.draw(module.weight)
        elif isinstance(module, _SCALES) or getattr(module, "running_mean", None) is not None:
            self.draw_uniform(getattr(module, "weight", None))
            self.draw(getattr(module, "bias", None), 0.2)
        elif not isinstance(module, (*_LAYERS, nn.MultiheadAttention)):
            for value in module.parameters(recurse=False):
                if value.numel() > 1 and value.is_floating_point() and value.min() == value.max():
                    self.draw(value, 0.2) if value.max() == 0 else self.draw_uniform(value)

    def draw_attention(self, module: nn.MultiheadAttention, args: Any, kwargs: Any) -> None:
        """Draw an attention, whose parameters are used by a function: no layer inside runs."""
        separate = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
        for weight in (module.in_proj_weight, *separate):
            if weight is not None:
                self.draw(weight, weight.shape[1] ** -0.5)
        self.draw(module.in_proj_bias, 0.2)
        out = module.out_proj
        if self.draw(out.weight):
            _fill(out.bias, 0.0)
            _divide(out.weight, module.forward(*args, **kwargs)[0])
        self.draw(out.bias, 0.2)

    def draw_statistics(self, norm: Any, x: torch.Tensor) -> None:
        """Draw running statistics near those of the input, of shape ``(batch, channel, …)``."""
        if id(norm.running_mean) in self.drawn:
            return
        others = [axis for axis in range(x.dim()) if axis != 1]
        mean, var = x.mean(others), x.var(others, unbiased=False)
        var = var.clamp(min=1e-3 * float(var.mean()) + 1e-12)
        self.draw(norm.running_mean, 0.2)
        norm.running_mean.mul_(var.sqrt()).add_(mean)
        self.draw_uniform(norm.running_var)
        norm.running_var.mul_(var)

    def draw_unreached(self, module: Any) -> None:
        """Draw a layer that the run did not call, such as an auxiliary head."""
        if isinstance(module, _LAYERS):
            fan_in = max(module.weight[0].numel(), 1)
            self.draw(module.weight, (2 / fan_in) ** 0.5)
            self.draw(module.bias, 0.2)
        elif getattr(module, "running_mean", None) is not None:
            self.draw(module.running_mean, 0.2)
            self.draw_uniform(module.running_var)

    def draw(self, value: torch.Tensor | None, std: float = 1.0) -> bool:
        """Draw normal numbers; false if there is nothing to draw or it has been drawn."""
        if value is None or id(value) in self.drawn:
            return False
        self.drawn.add(id(value))
        numbers = torch.randn(value.shape, generator=self.generator, dtype=torch.float64)
        value.copy_(numbers * std)
        return True

    def draw_uniform(self, value: torch.Tensor | None) -> None:
        """Draw numbers from 0.5 to 1.5."""
        if value is not None and id(value) not in self.drawn:
            self.drawn.add(id(value))
            numbers = torch.rand(value.shape, generator=self.generator, dtype=torch.float64)
            value.copy_(numbers + 0.5)


def _fill(value: torch.Tensor | None, number: float) -> None:
    if value is not None:
        value.fill_(number)


def _divide(weight: torch.Tensor, result: torch.Tensor) -> None:
    weight.div_(result.std().clamp(min=1e-6))


def difference(
    actual: Callable[..., Any],
    expected: Callable[..., Any],
    *inputs: Any,
    other: tuple[Any, ...] | None = None,
    constant: Collection[int] = (),
) -> float:
    """Measure the distance of two results, in units of the change that other inputs make.

    For each floating-point tensor of the result it is ``max|actual - expected| / signal``, with
    ``signal = max|expected(*inputs) - expected(*other)|``. So 0.01 means: the error is a hundredth
    of the change that other inputs make. In units of the result's size, an error would be small
    for every network whose result is mostly a constant.

    Args:
        actual: the function or module under test. It gets a deep copy of the inputs, and the same
            seed as `expected`.
        expected: the function or module that it must equal.
        *inputs: the arguments.
        other: other arguments; by default each tensor mirrored, and 0.8 times as large.
        constant: positions, in the flattened result, of floating tensors that do not depend on
            the inputs. They go to `torch.testing.assert_close`.

    Returns:
        The largest error of all floating tensors; ``inf`` if only one of two has a NaN. Changes of
        the arguments are not compared.

    Raises:
        VacuousComparison: a floating tensor of the result is not in `constant`, and other inputs
            change less than `LEAST_SIGNAL` of its size; or they change nothing at all.
        AssertionError: another structure, dtype or shape, or another value of anything that is not
            a floating tensor, or is in `constant`.
    """
    found = _differences(actual, expected, inputs, other, constant)
    return max((error for _, error in found), default=0.0)


def assert_same_results(
    actual: Callable[..., Any],
    expected: Callable[..., Any],
    *inputs: Any,
    other: tuple[Any, ...] | None = None,
    tolerance: float | None = None,
    constant: Collection[int] = (),
) -> float:
    """Assert that two modules or functions give the same results, by a test that can fail.

    Args:
        actual: the function or module under test.
        expected: the function or module that it must equal.
        *inputs: the arguments.
        other: other arguments, see `difference`.
        tolerance: the largest difference; by default that of each tensor's dtype, see
            `TOLERANCES`.
        constant: positions of results that do not depend on the inputs, see `difference`.

    Returns:
        The difference.

    Raises:
        VacuousComparison: the comparison could not have failed.
        AssertionError: the results differ.
        ValueError: the result has a half type, and there is no tolerance.
    """
    found = _differences(actual, expected, inputs, other, constant)
    for dtype, error in found:
        allowed = TOLERANCES.get(dtype) if tolerance is None else tolerance
        if allowed is None:
            raise ValueError(
                f"Pass a tolerance for {dtype}, or compare in float32: in a deep network the "
                f"rounding of half types is as large as the effect of a layer."
            )
        if not error <= allowed:
            raise AssertionError(
                f"The results differ by {error:.2g} of what other inputs change; {allowed:g} is "
                f"allowed."
            )
    return max((error for _, error in found), default=0.0)


def layer_effects(
    model: nn.Module, *inputs: Any, other: tuple[Any, ...] | None = None
) -> Iterator[tuple[str, float]]:
    """Measure the effect of each layer of a network on its result, in units of the signal.

    A norm with running statistics is bypassed; the weight of any other layer is set to zero. A test
    asks that the least effect is far above the tolerance of a comparison. Then the comparison
    notices any layer that a pass gets wrong.

    Args:
        model: a network in eval mode; it is the same afterwards.
        *inputs: the arguments.
        other: other arguments, see `difference`.

    Yields:
        The path of a layer, and its effect.

    Raises:
        VacuousComparison: the result does not depend on the inputs.
    """
    broken = copy.deepcopy(model)
    want = pytree.tree_leaves(_run(model, inputs))
    moved = pytree.tree_leaves(_run(model, _moved(inputs) if other is None else other))
    signals = [_signal(value, elsewhere)[1] for value, elsewhere in zip(want, moved, strict=True)]
    if not any(signals):
        raise VacuousComparison("The result does not depend on the inputs: draw the weights first.")

    def effect() -> float:
        got = pytree.tree_leaves(_run(broken, inputs))
        found = zip(got, want, signals, strict=True)
        return max(_largest(value, should) / signal for value, should, signal in found if signal)

    for path, module in broken.named_modules():
        if getattr(module, "running_mean", None) is not None:
            hook = module.register_forward_hook(lambda norm, args, result: args[0])
            yield path, effect()
            hook.remove()
            continue
        for name, value in module.named_parameters(recurse=False):
            if name.endswith("weight") and value.dim() > 1:
                before = value.detach().clone()
                value.detach().zero_()
                yield f"{path}.{name}".removeprefix("."), effect()
                value.detach().copy_(before)


def _differences(
    actual: Callable[..., Any],
    expected: Callable[..., Any],
    inputs: tuple[Any, ...],
    other: tuple[Any, ...] | None,
    constant: Collection[int],
) -> list[tuple[torch.dtype, float]]:
    """The dtype and error of each floating tensor that depends on the inputs."""
    want, want_spec = pytree.tree_flatten(_run(expected, inputs))
    moved, moved_spec = pytree.tree_flatten(
        _run(expected, _moved(inputs) if other is None else other)
    )
    if moved_spec != want_spec:
        raise VacuousComparison("Other inputs give a result of another structure: pass `other`.")
    signals = _signals(want, moved, constant)
    got, got_spec = pytree.tree_flatten(_run(actual, inputs))
    if got_spec != want_spec:
        raise AssertionError(f"The result is {got_spec}, and {want_spec} is expected.")
    errors = []
    for index, (value, should) in enumerate(zip(got, want, strict=True)):
        _compare_kinds(index, value, should)
        if index in signals:
            errors.append((should.dtype, _largest(value, should) / signals[index]))
        elif isinstance(should, torch.Tensor):
            torch.testing.assert_close(value, should, equal_nan=True)
    return errors


def _signals(want: list[Any], moved: list[Any], constant: Collection[int]) -> dict[int, float]:
    """The change that other inputs make to each non-constant floating-point tensor, by position."""
    found, shares = {}, [0.0]
    for index, (value, elsewhere) in enumerate(zip(want, moved, strict=True)):
        if not isinstance(value, torch.Tensor):
            continue
        share, signal = _signal(value, elsewhere)
        if not value.is_floating_point():
            shares.append(share)
        elif index not in constant:
            _demand(share, f"tensor {index} of the result" if len(want) > 1 else "the result")
            found[index] = signal
    if not found:
        _demand(max(shares), "the result")
    return found


def _demand(share: float, name: str) -> None:
    if share < LEAST_SIGNAL:
        raise VacuousComparison(
            f"This comparison could not have failed: with other inputs {name} changes by "
            f"{share:.1g} of its size, and {LEAST_SIGNAL} is the least. Draw the weights with "
            f"`make_alive`, or pass `other` inputs that should make a difference."
        )


def _compare_kinds(index: int, value: Any, should: Any) -> None:
    """Raise an AssertionError unless two leaves have one type, and one dtype and shape."""
    if not isinstance(should, torch.Tensor):
        if type(value) is not type(should) or value != should:
            raise AssertionError(f"Value {index} is {value!r}, and {should!r} is expected.")
    elif not isinstance(value, torch.Tensor):
        raise AssertionError(f"Value {index} is a {type(value).__name__}, not a tensor.")
    elif (value.dtype, value.shape) != (should.dtype, should.shape):
        raise AssertionError(
            f"Tensor {index} is {value.dtype} {tuple(value.shape)}, and {should.dtype} "
            f"{tuple(should.shape)} is expected."
        )


def _run(function: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
    """Run on a copy of the inputs, without gradients, under one seed; the state stays."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        return function(*copy.deepcopy(inputs))


def _moved(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Other inputs of the same kind: mirrored in all axes but the first, and 0.8 times as large.

    So they keep the properties of a model's usual inputs: in 0 … 1, positive, integer, smooth.
    """

    def move(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        mirrored = value.detach().flip(list(range(1 if value.dim() > 1 else 0, value.dim())))
        return mirrored * 0.8 if value.is_floating_point() else mirrored

    return tuple(pytree.tree_map(move, value) for value in inputs)


def _signal(value: torch.Tensor, moved: Any) -> tuple[float, float]:
    """The change that other inputs make to a result: as a fraction of its size, and absolute."""
    if not isinstance(moved, torch.Tensor) or moved.shape != value.shape or not value.numel():
        return 0.0, 0.0
    if not value.is_floating_point():
        return float(not torch.equal(value, moved)), 0.0
    finite = value.isfinite() & moved.isfinite()
    if not bool(finite.any()):
        return 0.0, 0.0
    numbers, others = value[finite].double(), moved[finite].double()
    signal = float((numbers - others).abs().max())
    return signal / max(float(numbers.abs().max()), 1e-30), signal


def _largest(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference; equal infinities, and NaN in the same place, count as zero."""
    same = (a == b) | (a.isnan() & b.isnan())
    gap = torch.where(same, 0.0, (a.double() - b.double()).abs())
    return float("inf") if bool(gap.isnan().any()) else float(gap.max())
