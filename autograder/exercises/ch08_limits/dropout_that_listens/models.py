"""Models that call `F.dropout`, with flags that a trace has captured."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import T, Trial, fresh, tensor_of


class OneSite(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        return self.lin(F.dropout(x, training=self.training)).sin()


class SeveralSites(nn.Module):
    """Each call has its own probability."""

    def __init__(self):
        super().__init__()
        self.rate = 0.2

    def forward(self, x):
        x = F.dropout(x, 0.3, self.training).sin()
        x = F.dropout(input=x.exp(), p=self.rate, training=self.training) * 2
        return F.dropout(x, 0.7, self.training)


class OtherRates(nn.Module):
    """Drop nothing, everything, or a share that is not a multiple of 0.1."""

    def forward(self, x):
        x = F.dropout(x, 0.0, self.training) + F.dropout(x, 0.125, self.training)
        return x * F.dropout(x.cos(), 1, self.training)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        return F.dropout(self.norm(self.lin(x)), 0.4, self.training)


class AlwaysActive(nn.Module):
    def forward(self, x):
        return {"a": F.dropout(x), "b": [F.dropout(x.sin(), 0.3, training=True)]}


class NeverActive(nn.Module):
    def forward(self, x, scale=2.0):
        return F.dropout(x * scale, 0.6, training=False).cos()


class PartlyFrozen(nn.Module):
    """One block has another mode than the model; a dropout has the `p` of the blocks."""

    def __init__(self):
        super().__init__()
        self.first = Block()
        self.second = Block()
        self.drop = nn.Dropout(0.4)

    def forward(self, x):
        return self.second(self.drop(self.first(x)))


def turn_one(model: nn.Module) -> None:
    """Put one block and the dropout module into the other mode."""
    model.first.train(not model.training)
    model.drop.train(not model.training)


class TakenNames(nn.Module):
    """Names that an answer might give to a new module exist already."""

    def __init__(self):
        super().__init__()
        self.dropout = nn.Linear(3, 3)
        self.dropout_1 = nn.Linear(3, 3)
        self.drop = nn.Linear(3, 3, bias=False)

    def forward(self, x):
        x = self.dropout(F.dropout(x, 0.3, self.training))
        return self.drop(self.dropout_1(F.dropout(x, 0.6, self.training)))


class TakenByTensors(nn.Module):
    """Parameters and buffers have names that an answer might give to a new module."""

    def __init__(self):
        super().__init__()
        for name in ("dropout", "dropout_0", "drop_0", "new_dropout"):
            setattr(self, name, nn.Parameter(torch.rand(3)))
        for name in ("drop", "dropouts", "dropout_1", "listening_0"):
            self.register_buffer(name, torch.rand(3))

    def forward(self, x):
        x = (x * self.dropout + self.dropout_0) * self.drop_0 - self.new_dropout
        x = (x * self.drop + self.dropouts) * self.dropout_1 - self.listening_0
        return F.dropout(F.dropout(x, 0.3, self.training).sin(), 0.6, self.training)


@fx.wrap
def dropout(x, p, training):
    """A different function with the same name."""
    return x * p if training else x


class Others(nn.Module):
    """Only one of these calls is a call of `F.dropout`."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.3)
        self.encoder = nn.TransformerEncoderLayer(3, 1, 4, dropout=0.1, batch_first=True)

    def forward(self, x):
        x = F.dropout2d(x[None], 0.4, self.training)[0]
        x = dropout(F.dropout1d(self.encoder(x), 0.5, self.training), 0.8, self.training)
        x = F.alpha_dropout(self.drop(x), 0.5, self.training)
        return F.dropout(F.feature_alpha_dropout(x, 0.2, self.training), 0.5, self.training)


class OnceOrTwice(nn.Module):
    """One call, or two in a row."""

    def __init__(self, twice=True):
        super().__init__()
        self.twice = twice
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        if self.twice:
            x = F.dropout(x, 0.6, self.training)
        return self.lin(F.dropout(x, 0.3, self.training))


def with_the_other_call(gm: fx.GraphModule) -> fx.GraphModule:
    """Insert a second call of `F.dropout` before the one that the answer replaced."""
    with suppress(Exception):  # a result without a sound graph has a finding of its own
        for node in list(gm.graph.nodes):
            if node.op == "call_module" and type(gm.get_submodule(node.target)) is nn.Dropout:
                flags = {"p": 0.6, "training": gm.training, "inplace": False}
                with gm.graph.inserting_before(node):
                    new = gm.graph.call_function(F.dropout, tuple(node.all_input_nodes), flags)
                node.args, node.kwargs = (new,), {}
        gm.recompile()
    return gm


@dataclass(frozen=True, eq=False)
class OnItsOwnResult:
    """Builds a trial that calls the answer again on its own result, with one call added."""

    training: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial; its model computes what both calls of the answer must give."""
        model = fresh(OnceOrTwice, seed, training=self.training)
        first = OnceOrTwice(twice=False).train(self.training)
        first.lin = model.lin
        generator = torch.Generator().manual_seed(seed + 1)
        return Trial(
            args=(first,),
            model=model,
            inputs=((tensor_of(T(2, 3), generator),),),
            watch=(first,),
            then=with_the_other_call,
        )
