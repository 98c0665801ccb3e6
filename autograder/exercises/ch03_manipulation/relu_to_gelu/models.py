"""Small models with activations in every spelling, for `relu_to_gelu`."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import fx, nn

# FX records calls of it instead of tracing into it.
fx.wrap("relu")


class TorchRelu(nn.Module):
    def forward(self, x):
        return torch.relu(x)


class FunctionalRelu(nn.Module):
    def forward(self, x):
        return F.relu(x) - x


class FunctionalInPlace(nn.Module):
    def forward(self, x):
        y = x * 2
        return F.relu(y, inplace=True)


class KeywordRelu(nn.Module):
    def forward(self, x):
        return torch.relu(input=x) - F.relu(input=x.sin())


class MethodRelu(nn.Module):
    def forward(self, x):
        return x.relu() * 2


class ModuleRelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.linear(x))


class ModuleInPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(self.linear(x)).sum(dim=1)


class NestedRelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))
        self.deep = nn.ModuleDict({"one": nn.ModuleList([nn.ReLU()])})

    def forward(self, x):
        return self.deep["one"][0](self.block(x)) - x


class CalledTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.linear(self.act(x)))


class AllSpellings(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        y = F.relu(torch.relu(x) - 0.5) - 0.25
        return {"y": self.act(y.relu()), "x": [F.relu(x), (y,)]}


class OtherModules(nn.Module):
    def __init__(self):
        super().__init__()
        self.six = nn.ReLU6()
        self.leaky = nn.LeakyReLU(0.1)
        self.prelu = nn.PReLU()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.six(x) - self.leaky(x) * self.prelu(x) + self.act(x)


def relu(x: torch.Tensor) -> torch.Tensor:
    """A function of the case that graphs may call."""
    return x * 0.5


class CalledRelu(nn.Module):
    """A function and a module with the name `relu`; only `F.relu` computes a ReLU."""

    def __init__(self):
        super().__init__()
        self.relu = nn.Tanh()

    def forward(self, x):
        return relu(self.relu(F.relu(x) - 0.5))


class NamesTaken(nn.Module):
    def __init__(self):
        super().__init__()
        self.gelu = nn.Tanh()
        self.gelu_0, self.gelu_1, self.new_gelu = nn.Sigmoid(), nn.Softsign(), nn.ELU()
        self.act = nn.ReLU()

    def forward(self, x):
        y = self.new_gelu(self.gelu_1(x))
        return torch.relu(self.gelu_0(x)) - self.act(self.gelu(y))


class ChangedInBetween(nn.Module):
    """`add_` changes the first value, but not the second."""

    def forward(self, x):
        y = torch.relu(x)
        y.add_(1)
        return y * torch.relu(x)


class TrainedBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU())

    def forward(self, x):
        return self.block(x)


class InsideALeaf(nn.Module):
    """The decoder is one node for FX; keep the activation inside it."""

    def __init__(self):
        super().__init__()
        self.decoder = decoder(nn.ReLU())
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.decoder(x, x.sin()))


class OwnedByALeaf(nn.Module):
    """FX uses the activation's first name, `decoder.activation`."""

    def __init__(self):
        super().__init__()
        self.decoder = decoder(nn.ReLU())
        self.act = self.decoder.activation

    def forward(self, x):
        return self.act(self.decoder(x, x.sin())) - self.act(x)


class DeepInALeaf(nn.Module):
    """`encoder` is one node for FX; keep its contents. `encoder_act` is not inside it."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, nn.ReLU(), batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.encoder_act = nn.ReLU()

    def forward(self, x):
        y = self.encoder.layers[0].activation(self.encoder_act(x) - 0.5)
        return self.encoder(x) - y


def decoder(activation: nn.Module) -> nn.Module:
    """A layer of PyTorch, which FX keeps as a leaf."""
    return nn.TransformerDecoderLayer(4, 2, 8, 0.0, activation, batch_first=True)
