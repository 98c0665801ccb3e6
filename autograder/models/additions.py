"""Small models that add, for `retarget`, `add_to_mul` and `relu_after_add`."""

# Cards show these classes to learners; their names describe their purpose.
# ruff: noqa: D101

from __future__ import annotations

from operator import iadd
from typing import Any

import torch
from torch import fx, nn

from autograder.models.build import TracedInPart

# FX records these calls instead of making them while it traces.
fx.wrap("iadd")
fx.wrap("add")


def halve(x: Any, y: Any) -> Any:
    """A function of the case, which a graph may call."""
    return (x - y) / 2


class OneAdd(nn.Module):
    def forward(self, x, y):
        return torch.add(x, y)


class KeywordAdd(nn.Module):
    def forward(self, x, y):
        return torch.add(input=x, other=y) - x


class OperatorAdd(nn.Module):
    def forward(self, x, y):
        return (x + y) - x


class OneMethodAdd(nn.Module):
    def forward(self, x, y):
        return x.add(y)


class MethodAdd(nn.Module):
    def forward(self, x, y):
        return x.add(y).add(2) - x


class ReflectedAdd(nn.Module):
    def forward(self, x):
        a = 2 + x
        b = a.sin() + 3
        return 0.5 + b


class PythonSum(nn.Module):
    """Python's `sum` begins with `0 + x`."""

    def forward(self, x, y):
        return sum([x, y]) - (y + 2)


class ParametersAdded(nn.Module):
    """A sum of two parameters, which does not depend on the input."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3))
        self.bias = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        return x * (self.weight + self.bias)


class SizeAdded(nn.Module):
    """The size of a tensor is added to the tensor."""

    def forward(self, x):
        return torch.add(x, x.size(0)) * (x + x.shape[0])


class AlphaFunction(nn.Module):
    def forward(self, x, y):
        return torch.add(x, y, alpha=2)


class AlphaFraction(nn.Module):
    def forward(self, x, y):
        return torch.add(x, y, alpha=1.5) - x.add(y, alpha=1.25)


class AlphaOne(nn.Module):
    def forward(self, x, y):
        return torch.add(x, y, alpha=1) - x.add(y, alpha=1)


class AlphaFloatOne(nn.Module):
    def forward(self, x, y):
        return torch.add(x, y, alpha=1.0) - x.add(other=y, alpha=1.0)


class AlphaComputed(nn.Module):
    """The value of `k` is unknown during tracing."""

    def forward(self, x, y, k=1):
        return torch.add(x, y, alpha=k) - x.add(y, alpha=x.dim() - 1)


class AlphaZero(nn.Module):
    def forward(self, x, y):
        return torch.add(x, y, alpha=0) - x.add(y, alpha=-1)


class InPlaceAdd(nn.Module):
    def forward(self, x, y):
        z = x + y
        z.add_(y)
        return z


class InPlaceOperator(nn.Module):
    """FX records `iadd` from Python's `operator` here: `fx.wrap("iadd")` was called."""

    def forward(self, x, y):
        z = torch.add(x, y)
        return iadd(z, y)


class Namesakes(nn.Module):
    """Only `torch.add` adds here, whatever the names say."""

    def __init__(self):
        super().__init__()
        self.add = nn.Linear(3, 3)

    def forward(self, add, y):
        product = torch.addcmul(add, y, y)
        return self.add(torch.add(product.addcmul(y, y), y))


class SpeaksOfRelu(nn.Module):
    """The names of its parameters collide with those of new nodes."""

    def forward(self, add_relu, relu_add, relu_after_add):
        return torch.add(add_relu, relu_add) - add_relu * relu_add * relu_after_add


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """A function of the case, which a graph may call."""
    return x - y * 0.5


class OwnAdd(nn.Module):
    """`add` is the model's own function; only `+` adds."""

    def forward(self, x, y):
        return add(x, y) + y


class TransposedAdd(nn.Module):
    def forward(self, x):
        return x.T + 1


class LaterMul(nn.Module):
    def forward(self, x, y):
        a = torch.add(x, y)
        return torch.mul(a, x) - torch.add(a, y)


class OtherAdds(nn.Module):
    def forward(self, x, y):
        a = x + y
        b = torch.add(a, y)
        return b.add(x)


class SumKeywords(nn.Module):
    def forward(self, x):
        return torch.sum(x, dim=1, keepdim=True) - torch.sum(x, 0)


class DeadExp(nn.Module):
    def forward(self, x):
        torch.exp(x.sin())
        return torch.exp(x)


class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return torch.add(x, self.scale) + 1


class NestedAdds(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(Half(), nn.Linear(3, 3), Half())

    def forward(self, x):
        return {"out": self.block(x), "parts": [x + x, (torch.add(x, 1),)]}


class EqualSums(nn.Module):
    def forward(self, x, y):
        a = x + y
        b = x + y
        a.sub_(1)
        return a, b


class EqualSines(nn.Module):
    def forward(self, x):
        return torch.sin(x) - torch.sin(x).exp()


class SineOfAnEarlierValue(nn.Module):
    def forward(self, x):
        y = x.clone()
        a = torch.sin(y)
        y.mul_(2)
        return a - y


class ReadInSlice(nn.Module):
    def forward(self, x, i, j):
        return x[i + j :]


class DefaultAdd(nn.Module):
    def forward(self, input, scale=2.0, unread=None):
        return torch.add(input, scale) - input


class RestAdd(nn.Module):
    def forward(self, x, *rest):
        return torch.add(x, rest[0]) - rest[1]


class NormedAdd(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x, y):
        return torch.add(self.norm(x), self.drop(y))


class SeveralReaders(nn.Module):
    def forward(self, x, y):
        a = torch.add(x, y)
        return a.sin() - a * x, a


class ReadForItsShape(nn.Module):
    def forward(self, x, y):
        a = torch.add(x, y)
        rows = torch.cat(tensors=[a, x]).sum(0)
        return rows - y.reshape(a.shape) * a.size(0)


class ReluOfSum(nn.Module):
    def forward(self, x, y):
        a = torch.relu(x + y)
        return torch.relu(a - y).neg()


class DeadAdd(nn.Module):
    def forward(self, x, y):
        torch.add(x, y)
        unused = x + y
        unused.sin()
        return x - y


class MethodStays(nn.Module):
    def forward(self, x, y):
        a = x.add(y)
        return torch.add(a, y).add(1)


class AddsInside(nn.Module):
    def __init__(self):
        super().__init__()
        self.adds = OtherAdds()

    def forward(self, x, y):
        return torch.add(self.adds(x, y), y)


def traced_adds() -> fx.GraphModule:
    """A `GraphModule` traced by other code; a fresh trace enters its submodule."""
    return TracedInPart(AddsInside)()
