"""Models to train, and the builder of a case of `capture_step`."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from autograder.authoring.models import RandomState, T, Trial, arguments, fresh


class TwoLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 2)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Images(nn.Module):
    """A convolution, and a score for each of three classes."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3)
        self.last = nn.Linear(3, 3)

    def forward(self, x):
        return self.last(torch.tanh(self.conv(x)).mean((2, 3)))


class Attention(nn.Module):
    """Attention, a normalization, and a GELU."""

    def __init__(self):
        super().__init__()
        self.both = nn.Linear(4, 8)
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        query, key = self.both(x).chunk(2, -1)
        weights = torch.softmax(query @ key.transpose(-1, -2), -1)
        return F.gelu(self.norm(x + weights @ x))


class Twice(nn.Module):
    """The same layer is called two times."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(torch.tanh(self.layer(x)))


class Dropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.drop = nn.Dropout(0.4)

    def forward(self, x):
        return self.drop(self.layer(x))


class Noise(nn.Module):
    """Noise is added to the input, in each mode."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x + torch.randn_like(x))


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return torch.sigmoid(self.norm(self.layer(x)))


class Counter(nn.Module):
    """A buffer that is not saved counts the calls."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.register_buffer("calls", torch.zeros(()), persistent=False)

    def forward(self, x):
        self.calls.add_(1)
        return self.layer(x) * self.calls


class Tied(nn.Module):
    """Two layers have one weight."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


class Unused(nn.Module):
    """One parameter does not matter for the result, and is not the last one."""

    def __init__(self):
        super().__init__()
        self.used = nn.Linear(3, 2)
        self.unused = nn.Parameter(torch.ones(5))
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.used(x) * self.scale


class OnlyFrozenUsed(nn.Module):
    """The result depends on a frozen layer alone."""

    def __init__(self):
        super().__init__()
        self.unused = nn.Linear(3, 2)
        self.used = nn.Linear(3, 2).requires_grad_(False)

    def forward(self, x):
        return self.used(x)


class OwnTensors(nn.Module):
    """`forward` makes tensors of its own."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)

    def forward(self, x):
        return self.layer(x) * torch.arange(4) + torch.tensor(0.5)


def half_frozen(model: nn.Module) -> None:
    """Freeze the first layer."""
    next(model.children()).requires_grad_(False)


def frozen(model: nn.Module) -> None:
    """Freeze all parameters."""
    model.requires_grad_(False)


def with_gradients(model: nn.Module) -> None:
    """Set gradients as after an earlier step, except for one parameter."""
    _, *others = model.parameters()
    for parameter in others:
        parameter.grad = torch.full_like(parameter, 0.5)


def with_frozen_norm(model: nn.Module) -> None:
    """Put the normalization alone into evaluation mode."""
    model.norm.eval()


# ------------------------------------------------------------------ trials


@dataclass(frozen=True)
class Training:
    """Builds the objects of a case of ``capture_step(model, loss, x, y)``.

    Attributes:
        make: builds the model.
        x: the input.
        y: the target; a whole number is the number of classes.
        loss: a function of the prediction and the target.
        dtype: of parameters, and of inputs without a dtype of their own.
        training: the mode of the model.
        prepare: changes the model in the end.
    """

    make: Callable[[], nn.Module]
    x: T
    y: T | int
    loss: Callable[..., torch.Tensor] = F.mse_loss
    dtype: torch.dtype = torch.float32
    training: bool = True
    prepare: Callable[[nn.Module], Any] | None = None

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, training=self.training, dtype=self.dtype)
        if self.prepare is not None:
            self.prepare(model)
        generator = torch.Generator().manual_seed(seed + 1)
        return trial_of(model, self.loss, [self._batch(generator) for _ in range(2)], seed)

    def _batch(self, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        (x,) = arguments((self.x,), generator, self.dtype)
        if isinstance(self.y, int):
            return x, torch.randint(self.y, (len(x),), generator=generator)
        (y,) = arguments((self.y,), generator, self.dtype)
        return x, y


def trial_of(
    model: nn.Module, loss: Callable[..., torch.Tensor], batches: list[Any], seed: int
) -> Trial:
    """A trial whose graph runs on the model's own values, and on other ones."""
    x, y = batches[0]
    values = [state_of(model), state_of(model)]
    generator = torch.Generator().manual_seed(seed + 2)
    for tensor in values[1][0].values():
        tensor.copy_(torch.randn(tensor.shape, generator=generator))
    inputs = tuple((*state, *batch) for state, batch in zip(values, batches, strict=True))
    return Trial(args=(model, loss, x, y), model=model, inputs=inputs, watch=(x, y, RandomState()))


def state_of(model: nn.Module) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Copies of the parameters and the buffers, by name."""
    parameters = {name: p.detach().clone() for name, p in model.named_parameters()}
    return parameters, {name: buffer.clone() for name, buffer in model.named_buffers()}


def of_random_model(trial: Trial, choice: int) -> Trial:
    """The trial of a random model, with a target of zeros."""
    model = trial.given_model
    (x, *_), *_ = trial.inputs
    for i, parameter in enumerate(model.parameters()):
        parameter.requires_grad_((choice >> i) % 4 != 0)
    batches = [(given, torch.zeros(())) for given in (x, x.flip(0) if x.ndim else -x)]
    return replace(trial_of(model, squares, batches, choice), copied=False)


def squares(prediction: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The mean of the squared differences."""
    return (prediction - y).square().mean()
