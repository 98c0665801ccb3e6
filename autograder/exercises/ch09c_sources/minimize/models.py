"""Graph modules on which something goes wrong, and questions that detect it: for `minimize`."""

# A learner sees these classes as they stand here; their names say what they are for.
# ruff: noqa: B018, D101, D102, D103

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import Trial, arguments, bounded_output, fresh

# ------------------------------------------------------------------ the parts of a question


class Notes(list[Any]):
    """Faults of modules that `bad` was called with; running a result keeps them."""

    def clear(self) -> None:
        """Keep all entries: the result runs after the questions."""


@dataclass(frozen=True)
class Ran:
    """The outcome of a run.

    Attributes:
        result: the returned value.
        args: the arguments after the run.
        error: the type of the exception, or ``""``.
    """

    result: Any
    args: tuple[Any, ...]
    error: str = ""

    @property
    def value(self) -> Any:
        """The returned value.

        Raises:
            RuntimeError: the run raised.
        """
        if self.error:
            raise RuntimeError(self.error)
        return self.result


Run = Callable[[fx.GraphModule], Ran]


def calls(gm: fx.GraphModule, kind: str) -> list[fx.Node]:
    """The calls of one kind: the name of a function, a method, or a module's class."""
    return [node for node in gm.graph.nodes if kind_of(gm, node) == kind]


def kind_of(gm: fx.GraphModule, node: fx.Node) -> str:
    """The kind of a call, as a word; ``""`` for other nodes."""
    if node.op == "call_function":
        return str(node.target.__name__)
    if node.op == "call_module":
        return type(gm.get_submodule(node.target)).__name__
    return str(node.target) if node.op == "call_method" else ""


def needed_by_output(gm: fx.GraphModule) -> set[fx.Node]:
    """The nodes that the output depends on."""
    found: set[fx.Node] = set()
    todo = [node for node in gm.graph.nodes if node.op == "output"]
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += node.all_input_nodes
    return found


class Bad:
    """A question: is a graph module bad? It does not change the module."""

    def __init__(self, *about: Any) -> None:
        self.about = about
        self.inputs: tuple[Any, ...] = ()
        self.notes = Notes()
        self._parameters: list[Any] = []

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(_word, self.about))})"

    def given(self, gm: fx.GraphModule, inputs: tuple[Any, ...]) -> None:
        """Store the case's module and its arguments."""
        self.inputs, self._parameters = inputs, parameters_of(gm)

    def __call__(self, gm: fx.GraphModule) -> bool:
        """Whether the module is bad."""
        if what := odd(gm, self._parameters):
            if what not in self.notes:
                self.notes.append(what)
        with bounded_output(0), torch.random.fork_rng(devices=[]), torch.no_grad():
            return self.holds(gm, self._run)

    def _run(self, gm: fx.GraphModule) -> Ran:
        args = copy.deepcopy(self.inputs)
        try:
            return Ran(gm(*args), args)
        except Exception as error:
            return Ran(None, args, type(error).__name__)

    def holds(self, gm: fx.GraphModule, run: Run) -> bool:
        raise NotImplementedError


def _word(value: Any) -> str:
    return getattr(value, "__name__", None) or repr(value)


def parameters_of(gm: fx.GraphModule) -> list[Any]:
    """The parameters that the placeholders define."""
    return [(n.target, n.args) for n in gm.graph.nodes if n.op == "placeholder"]


def odd(gm: Any, parameters: list[Any]) -> str:
    """The fault of a module that `bad` was called with; ``""`` if there is none."""
    if not isinstance(gm, fx.GraphModule):
        return f"a `{type(gm).__name__}`"
    try:
        gm.graph.lint()
        written = gm.graph.python_code("self").src
    except Exception:
        return "a graph that `lint` refuses"
    nodes = list(gm.graph.nodes)
    if [node.op for node in nodes].count("output") != 1 or nodes[-1].op != "output":
        return "a graph whose output is not its last node"
    if parameters_of(gm) != parameters:
        return "another signature"
    if gm.code != written:
        return "code that is not what the graph says"
    return ""


# ------------------------------------------------------------------ questions about the graph


class Calls(Bad):
    """Are there at least this many calls of this kind?"""

    def holds(self, gm, run):
        kind, times = self.about
        return len(calls(gm, kind)) >= times


class Depends(Bad):
    """Does the output depend on calls of all of these kinds?"""

    def holds(self, gm, run):
        needed = {kind_of(gm, node) for node in needed_by_output(gm)}
        return needed.issuperset(self.about)


class Learns(Depends):
    """Do layers of this kind get a gradient from what it returns?"""

    def given(self, gm, inputs):
        super().given(gm, inputs)
        self._gradients = torch.is_grad_enabled()

    def __call__(self, gm):
        """Whether the module is bad; the judge has no gradients and decides by the graph alone."""
        if not super().__call__(gm):
            return False
        return not self._gradients or any(t.requires_grad for t in tensors_in(self._run(gm).value))


class Reads(Bad):
    """Does a call of the first kind read a call of the second?"""

    def holds(self, gm, run):
        reader, read = self.about
        found = set(calls(gm, read))
        return any(found & set(node.all_input_nodes) for node in calls(gm, reader))


class Begins(Bad):
    """Does the first call of this kind read another call? Raises if there is none."""

    def holds(self, gm, run):
        node = next(n for n in gm.graph.nodes if kind_of(gm, n) == self.about[0])
        assert node.args[0].op != "placeholder", "it reads what the module was given"
        return True


class Takes(Bad):
    """Does it take this many arguments?"""

    def holds(self, gm, run):
        return len(parameters_of(gm)) == self.about[0]


class EndsAs(Bad):
    """Are its calls, one or more, the last ones of these kinds?"""

    def holds(self, gm, run):
        kinds = [kind for node in gm.graph.nodes if (kind := kind_of(gm, node))]
        return bool(kinds) and kinds == list(self.about[-len(kinds) :])


class BeginsAs(Bad):
    """Are its calls, one or more, the first ones of these kinds?"""

    def holds(self, gm, run):
        kinds = [kind for node in gm.graph.nodes if (kind := kind_of(gm, node))]
        return bool(kinds) and kinds == list(self.about[: len(kinds)])


# ------------------------------------------------------------------ questions about what it does


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def same(one: Any, other: Any) -> bool:
    pairs = [list(tensors_in(one)), list(tensors_in(other))]
    if len(pairs[0]) != len(pairs[1]):
        return False
    return all(
        a.shape == b.shape and torch.allclose(a, b, equal_nan=True)
        for a, b in zip(*pairs, strict=True)
    )


class NotANumber(Bad):
    """Is there a NaN in what it returns?"""

    def holds(self, gm, run):
        return any(bool(torch.isnan(t).any()) for t in tensors_in(run(gm).value))


class SameShapes(Bad):
    """Does it return tensors of these shapes?"""

    def holds(self, gm, run):
        return [list(t.shape) for t in tensors_in(run(gm).value)] == list(self.about)


# ------------------------------------------------------------------ models


class Straight(nn.Module):
    def forward(self, x):
        return torch.relu(torch.sin(x).neg() + 1).tanh().exp()


class Branches(nn.Module):
    def forward(self, x, y):
        return torch.tanh(torch.maximum(torch.sin(x), torch.cos(y)))


class Fork(nn.Module):
    """Two calls read one value."""

    def forward(self, x):
        y = torch.sin(x)
        return torch.cos(y) + torch.exp(y)


class Inside(nn.Module):
    """Inputs in a list, and as keywords."""

    def forward(self, x):
        parts = torch.cat([torch.sin(x), torch.cos(x), torch.exp(x)])
        return torch.mul(input=parts, other=torch.neg(parts)).sum(dim=0)


class Layers(nn.Module):
    """A layer that is called twice, and layers inside a container."""

    def __init__(self):
        super().__init__()
        self.turn = nn.Linear(3, 3)
        self.rest = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def forward(self, x):
        return self.rest(self.turn(torch.relu(self.turn(x))))


class Lone(nn.Module):
    """One layer, between calls without parameters."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return torch.cos(self.layer(torch.sin(x)))


class Weighted(nn.Module):
    """Reads parameters and a buffer, one of them a layer's."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.layer = nn.Linear(3, 3)
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        scaled = torch.sin(x) * self.scale
        return self.layer(scaled + self.shift).relu() - self.layer.bias


class ReadForNothing(nn.Module):
    """Its only call is needed, and nothing reads the parameter."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        self.scale
        return torch.sin(x)


class Table(nn.Module):
    """A parameter has the shape of the result, but the input does not."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.ones(2, 3))

    def forward(self, x):
        return torch.tanh(x + self.table)


class Unread(nn.Module):
    """Some calls have no reader except one another."""

    def forward(self, x):
        y = torch.sin(x)
        torch.exp(torch.cos(y))
        x.neg()
        return y + 1


class Effects(nn.Module):
    """Calls without readers that FX keeps: they draw random numbers, or may raise."""

    def forward(self, x):
        torch.rand_like(x)
        torch._assert(x.dim() == 2, "rows are needed")
        return torch.sin(x).neg()


class Sliced(nn.Module):
    """Uses a size only in a slice."""

    def forward(self, x, y):
        return torch.sin(x)[:, : y.size(1)].neg()


class Structured(nn.Module):
    """Returns a dictionary that contains a list, a tuple and constants."""

    def forward(self, x, y=2.0):
        a = torch.sin(x)
        b = a * y
        return {"all": [a, (b, None)], "last": torch.cos(b), "number": 3, "given": x}


class Logs(nn.Module):
    """Raises if shapes do not fit, and takes logarithms of negative numbers."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(3, 5)
        self.back = nn.Linear(5, 3)

    def forward(self, x):
        y = self.back(torch.relu(self.wide(x)))
        return torch.log(x - 9) + torch.sigmoid(y)


class Early(nn.Module):
    def forward(self, x):
        return torch.cos(torch.sigmoid(torch.tanh(x)))


class Twins(nn.Module):
    def forward(self, x):
        return torch.tanh(torch.neg(torch.sin(torch.neg(torch.sin(x)))))


def made() -> fx.GraphModule:
    """A graph that contains a call without inputs."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    zeros = graph.call_function(torch.zeros, (3,))
    total = graph.call_function(operator.add, (graph.call_function(torch.neg, (x,)), zeros))
    graph.output(graph.call_function(torch.tanh, (total,)))
    return fx.GraphModule({}, graph)


# ------------------------------------------------------------------ cases


def itself(gm: nn.Module) -> fx.GraphModule:
    """Return the graph module itself."""
    assert isinstance(gm, fx.GraphModule)
    return gm


@dataclass(frozen=True, eq=False)
class Asked:
    """Builds a trial: a graph module, and the question that decides whether it is bad.

    Attributes:
        make: builds the model.
        kind: the question's class.
        about: the question's arguments.
        inputs: arguments for the model, tensors as `T`.
        training: whether the model is in training mode.
    """

    make: Callable[[], nn.Module]
    kind: type[Bad]
    about: tuple[Any, ...] = ()
    inputs: tuple[Any, ...] = ()
    training: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, training=self.training)
        gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
        generator = torch.Generator().manual_seed(seed + 1)
        return asked(gm, self.kind(*self.about), arguments(self.inputs, generator, torch.float64))


def asked(gm: fx.GraphModule, bad: Bad, inputs: tuple[Any, ...]) -> Trial:
    """The trial of a graph module and a question."""
    bad.given(gm, inputs)
    return Trial(args=(gm, bad), model=gm, inputs=(inputs,), log=bad.notes)


def with_question(trial: Trial, choice: int) -> Trial:
    """Give the trial of a random model a question that is true for it."""
    model = trial.model
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    made = asked(gm, _true_of(gm, choice, trial.inputs[0]), trial.inputs[0])
    return replace(made, functions=trial.functions)


def _true_of(gm: fx.GraphModule, choice: int, inputs: tuple[Any, ...]) -> Bad:
    of_calls = [node for node in gm.graph.nodes if node.op.startswith("call_")]
    if not of_calls:
        return Takes(len(parameters_of(gm)))
    node = of_calls[choice // 8 % len(of_calls)]
    kind, count = kind_of(gm, node), len(calls(gm, kind_of(gm, node)))
    read = [n for n in node.all_input_nodes if n in of_calls]
    if choice % 8 in (1, 2) and node in needed_by_output(gm):
        return Depends(kind)
    if choice % 8 in (3, 4) and read:
        return Reads(kind, kind_of(gm, read[choice // 64 % len(read)]))
    if choice % 8 == 5:
        before = gm(*copy.deepcopy(inputs))
        return SameShapes(*(list(t.shape) for t in tensors_in(before)))
    return Calls(kind, count if choice % 8 == 6 else 1)
