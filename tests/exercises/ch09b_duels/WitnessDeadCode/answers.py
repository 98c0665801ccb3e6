"""Answers for `WitnessDeadCode`."""

from __future__ import annotations

import torch
from torch import fx, nn
from torch.nn import functional as F

from tests.exercises import right, wrong


class Model(nn.Module):
    """A model with one input, for most answers."""

    inputs = (torch.tensor([-1.0, 2.0]),)


@right("relu in place")
class Method(Model):
    def forward(self, x):
        x.relu_()
        return x


@right("only the argument tells")
class Argument(Model):
    def forward(self, x):
        F.relu(x, inplace=True)


@right("a layer in place", debrief=True)
class Layer(nn.Module):
    inputs = (torch.tensor([-1.0, 2.0]),)

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        self.act(x)
        return x


@right("out=")
class Out(nn.Module):
    inputs = (torch.ones(2), torch.zeros(2))

    def forward(self, x, result):
        torch.add(x, 1, out=result)
        return result


@right("into memory that is new")
class Fresh(Model):
    def forward(self, x):
        fresh = torch.empty_like(x)
        torch.add(x, 1, out=fresh)
        return fresh


@right("copied over")
class Copied(nn.Module):
    inputs = (torch.ones(2, 2), torch.zeros(2, 2))

    def forward(self, x, y):
        x.copy_(y)
        return x


@right("through a view")
class View(nn.Module):
    inputs = (torch.arange(6.0).view(2, 3),)

    def forward(self, x):
        x.view(-1).add_(1)
        return x


@right("through another argument that shares its memory")
class Shared(nn.Module):
    base = torch.arange(6.0)
    inputs = (base, base[2:4])

    def forward(self, x, part):
        part.zero_()
        return x + 1


@right("a buffer that is read later")
class Buffer(Model):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x):
        self.count.add_(x)
        return x + self.count


@right("numbers that are drawn before others are")
class Drawn(nn.Module):
    inputs = (torch.ones(50),)

    def forward(self, x):
        F.dropout(x)
        return torch.rand_like(x)


# ------------------------------------------------------------------ the suspect is right


@wrong("a random call that PyTorch keeps", "no-witness-yet", clause="random")
class Kept(Model):
    def forward(self, x):
        torch.rand_like(x)
        return torch.rand_like(x)


@wrong("an assertion that PyTorch keeps", "no-witness-yet", clause="assert")
class Assertion(Model):
    def forward(self, x):
        torch._assert(x.dim() == 1, "one dimension")
        return x


@wrong("a dead call without effect", "no-witness-yet", clause="suspect-wrong")
class Pure(Model):
    def forward(self, x):
        torch.relu(x)
        return x


@wrong("the call in place is read", "no-witness-yet", clause="read")
class Read(Model):
    def forward(self, x):
        return x.relu_()


@wrong("the effect is on a value that is gone", "no-witness-yet", clause="seen")
class Unseen(Model):
    def forward(self, x):
        x.clone().relu_()
        return x


@wrong("dropout in eval mode", "no-witness-yet", clause="eval")
class Dropout(nn.Module):
    inputs = (torch.ones(50),)

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        self.drop(x)
        return torch.rand_like(x)


# ------------------------------------------------------------------ the task, and its form


@wrong("four calls", "too-large", clause="size")
class Large(Model):
    def forward(self, x):
        x.relu_()
        return (x + 1) * 2 - 3


@wrong("dead and broken", "model-fails", clause="fails")
class Broken(Model):
    def forward(self, x):
        x.view(7)
        return x.relu_()


@wrong("works in place only while it is traced", "not-the-same", clause="trace-agrees")
class Tells(Model):
    def forward(self, x):
        if isinstance(x, fx.Proxy):
            x.relu_()
        return x


@wrong("not in every model that is made", "no-witness-yet", clause="every-seed")
class Sometimes(Model):
    def __init__(self):
        super().__init__()
        self.amount = int(torch.randint(2, ()))

    def forward(self, x):
        x.add_(self.amount)
        return x


@fx.wrap
def empty(x):
    x.zero_()


@wrong("a function of its own", "own-code", clause="torch-only")
class OwnFunction(Model):
    def forward(self, x):
        empty(x)
        return x


@wrong("no inputs", "wrong-kind", clause="inputs")
class NoInputs(nn.Module):
    def forward(self, x):
        x.relu_()
        return x
