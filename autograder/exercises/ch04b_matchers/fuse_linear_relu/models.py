"""The models of `fuse_linear_relu`: linear layers, and their readers."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import fx, nn

# FX records calls of it instead of tracing into it.
fx.wrap("relu")


class LinearThenModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.linear(x))


class FourSpellings(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3, bias=False)
        self.c = nn.Linear(3, 3)
        self.d = nn.Linear(3, 3)
        self.act = nn.ReLU()

    def forward(self, x):
        x = torch.relu(self.a(x))
        x = F.relu(self.b(x))
        x = self.c(x).relu()
        return self.act(self.d(x))


class TwoLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 3)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.second(self.act(self.first(x))) + x


class TorchRelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(3, 2)

    def forward(self, x):
        return torch.relu(self.proj(x))


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(3, 5)
        self.down = nn.Linear(5, 3)
        self.act = nn.ReLU()

    def forward(self, x):
        x = torch.relu(input=self.up(input=x))
        return self.act(input=self.down(input=x))


class Bottle(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 3))

    def forward(self, x):
        return x + self.layers(x)


class CalledRelu(nn.Module):
    """A module `relu` that is not a ReLU, after a linear layer."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.relu = nn.Tanh()

    def forward(self, x):
        return self.relu(self.linear(x))


def relu(x: torch.Tensor) -> torch.Tensor:
    """A function in the notebook with the name of PyTorch's function."""
    return x * 0.5


class OwnRelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)

    def forward(self, x):
        return relu(self.first(x)), torch.relu(self.second(x))


class NotLinear(nn.Module):
    """Operations similar to `nn.Linear`: other modules, and the function."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Bilinear(3, 3, 3)
        self.linear_conv = nn.Conv1d(1, 2, 1)
        self.weight = nn.Parameter(torch.rand(3, 3))

    def forward(self, x):
        y = torch.relu(self.linear(x, x))
        z = F.relu(F.linear(y, self.weight))
        return torch.relu(self.linear_conv(z.unsqueeze(1)))


class OtherActivations(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.relu6 = nn.ReLU6()
        self.leaky = nn.LeakyReLU()
        self.prelu = nn.PReLU()
        self.slope = nn.Parameter(torch.full((1,), 0.1))

    def forward(self, x):
        a = self.relu6(self.linear(x)) + self.leaky(self.linear(x)) + self.prelu(self.linear(x))
        b = F.relu6(self.linear(x)) + self.linear(x).sigmoid() + F.elu(self.linear(x))
        c = F.gelu(self.linear(x)) + F.softplus(self.linear(x)) * F.silu(self.linear(x))
        d = self.linear(x).prelu(self.slope) - self.linear(x).clamp(min=0)
        return a + b + c + d


class ReadElsewhere(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        hidden = self.linear(x)
        return torch.relu(hidden) - hidden


class ReturnedToo(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.act = nn.ReLU()

    def forward(self, x):
        hidden = self.linear(x)
        return {"out": self.act(hidden), "hidden": [hidden]}


class TwoRelus(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        hidden = self.linear(x)
        return torch.relu(hidden) * hidden.relu()


class ReluReadTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.out = nn.Linear(3, 1)

    def forward(self, x):
        hidden, gate = self.linear(x), torch.relu(x)
        hidden = torch.relu(hidden)
        return self.out(hidden), hidden * hidden, gate, torch.relu(hidden)


class CalledTwice(nn.Module):
    """One layer with two calls; a ReLU reads both."""

    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(3, 3)
        self.act = nn.ReLU()

    def forward(self, x):
        return torch.relu(self.shared(self.act(self.shared(x))))


class PlainAfterwards(nn.Module):
    """The same, but the plain call is last and uses a second name."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.head = self.body[0]

    def forward(self, x):
        return self.head(self.body(x))


class NamesTaken(nn.Module):
    """Other modules already have the most likely names."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.fc_relu = nn.Linear(3, 3)
        self.fc_fused = nn.Sigmoid()
        self.fused = nn.Tanh()
        self.fused_0 = nn.Tanh()
        self.linear_relu = nn.Softplus()
        self.linear_relu_0 = nn.Softplus()
        self.relu = nn.ReLU()

    def forward(self, x):
        x = self.relu(self.fc(x)) + self.fused(x) - self.fused_0(x)
        x = self.linear_relu(x) * self.linear_relu_0(x)
        return self.fc_fused(self.relu(self.fc_relu(x)))


class NumberedNames(nn.Module):
    """Modules, parameters and buffers already have the most likely numbered names."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.out = nn.Linear(3, 3)
        for i in range(3):
            for name in ("linear_relu", "fused", "fused_linear_relu", "fc_relu", "fc_linear_relu"):
                self.take(f"{name}_{i}", i)
            for name in ("linear_relu", "fused", "relu", "linearrelu", "fc_fused"):
                self.take(f"{name}{i}", i)
        self.register_buffer("linear_relu", torch.ones(3))
        self.register_buffer("fused", torch.ones(3))

    def take(self, name, i):
        if i == 0:
            setattr(self, name, nn.Softplus())
        elif i == 1:
            setattr(self, name, nn.Parameter(torch.ones(3)))
        else:
            self.register_buffer(name, torch.ones(3))

    def use(self, name, i, x):
        return getattr(self, name)(x) if i == 0 else x * getattr(self, name)

    def forward(self, x):
        x = torch.relu(self.fc(x)) + self.fused - self.linear_relu
        for i in range(3):
            for name in ("linear_relu", "fused", "fused_linear_relu", "fc_relu", "fc_linear_relu"):
                x = self.use(f"{name}_{i}", i, x)
            for name in ("linear_relu", "fused", "relu", "linearrelu", "fc_fused"):
                x = self.use(f"{name}{i}", i, x)
        return torch.relu(self.out(x))


class ContainersTaken(nn.Module):
    """Containers already have the most likely names; the model calls only their contents."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        stems = ("linear_relu", "fused", "fused_linear_relu", "fc_relu", "fc_linear_relu")
        self.names = [stem + end for stem in stems for end in ("", "0", "1", "_0", "_1")]
        for name in self.names:
            setattr(self, name, nn.Sequential(nn.Linear(3, 3)))

    def forward(self, x):
        x = torch.relu(self.fc(x))
        for name in self.names:
            x = getattr(self, name)(x)
        return x


class UnsavedBuffers(nn.Module):
    """Buffers that are not in the `state_dict` already have the most likely names."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        stems = ("linear_relu", "fused", "fused_linear_relu", "fc_relu", "fc_linear_relu")
        self.names = [stem + end for stem in stems for end in ("", "0", "1", "_0", "_1")]
        for name in self.names:
            self.register_buffer(name, torch.ones(3), persistent=False)

    def forward(self, x):
        x = torch.relu(self.fc(x))
        for name in self.names:
            x = x + getattr(self, name)
        return x


class AlikeButForADot(nn.Module):
    """Two paths that differ only in a dot and an underscore."""

    def __init__(self):
        super().__init__()
        self.up = nn.Sequential(nn.Linear(3, 3))
        self.up_0 = nn.Linear(3, 3)

    def forward(self, x):
        return torch.relu(self.up(x)) - torch.relu(self.up_0(x))


class UnreadInPlace(nn.Module):
    """No node reads the result of `mul_`."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        y = torch.tanh(x)
        y.mul_(2)
        return torch.relu(self.fc(y))


class ChangedInBetween(nn.Module):
    """Two equal calls; `add_` changes the first value, but not the second."""

    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(3, 3)

    def forward(self, x):
        y = torch.relu(self.shared(x))
        y.add_(1)
        return y * torch.relu(self.shared(x))


class LeafInPart(nn.Module):
    """The model calls a layer as a whole, and also a linear layer inside it."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.layer(x), torch.relu(self.layer.linear1(x))


class OfAnEmbedding(nn.Module):
    """The layer reads a parameter."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Parameter(torch.rand(2, 3))
        self.layer = nn.Linear(3, 4)

    def forward(self, x):
        return x.sum() + torch.relu(self.layer(self.embedding))
