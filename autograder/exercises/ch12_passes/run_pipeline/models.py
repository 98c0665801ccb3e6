"""Graph modules, passes and checks of every kind, and what is reported: for `run_pipeline`."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from autograder.authoring.models import Trial, fresh
from autograder.exercises.ch12_passes.models import attempt, is_recompiled, target_text

Pass = Callable[[fx.GraphModule], Any]
Check = Callable[[fx.GraphModule], Any]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return torch.sin(self.layer(x)) + torch.cos(x)


class ThreeSins(nn.Module):
    def forward(self, x):
        return torch.sin(torch.sin(torch.sin(x)))


class TwelveSins(nn.Module):
    def forward(self, x):
        for _ in range(12):
            x = torch.sin(x)
        return x


class OnlyTanh(nn.Module):
    def forward(self, x):
        return torch.tanh(torch.tanh(x) - 1)


class Unread(nn.Module):
    """Nobody reads some of the values."""

    def forward(self, x):
        torch.cos(torch.cos(x))
        return torch.sin(x)


class WithBuffers(nn.Module):
    """Layers in layers, a parameter that is read, a BatchNorm with buffers."""

    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return torch.tanh(torch.sin(self.block(x)) * self.scale)


class UnreadLayer(WithBuffers):
    """Nobody reads what one of the layers gives."""

    def __init__(self):
        super().__init__()
        self.extra = nn.Linear(3, 3)

    def forward(self, x):
        self.extra(x)
        return super().forward(x)


# ------------------------------------------------------------------ passes that are in order


def calls_of(gm: fx.GraphModule, *functions: Callable[..., Any]) -> list[fx.Node]:
    """The calls of some functions."""
    return [node for node in gm.graph.nodes if node.target in functions]


def exchange(nodes: list[fx.Node], gm: fx.GraphModule, new: Callable[..., Any]) -> PassResult:
    """Make nodes call another function, and say so."""
    for node in nodes:
        node.target = new
    gm.recompile()
    return PassResult(gm, bool(nodes))


def sin_to_cos(gm: fx.GraphModule) -> PassResult:
    """Each sine becomes a cosine."""
    return exchange(calls_of(gm, torch.sin), gm, torch.cos)


def cos_to_tanh(gm: fx.GraphModule) -> PassResult:
    """Each cosine becomes a tanh."""
    return exchange(calls_of(gm, torch.cos), gm, torch.tanh)


def first_sin_to_cos(gm: fx.GraphModule) -> PassResult:
    """The first sine becomes a cosine, the others wait for another round."""
    return exchange(calls_of(gm, torch.sin)[:1], gm, torch.cos)


def quiet_tanh_to_sin(gm: fx.GraphModule) -> PassResult:
    """Each tanh becomes a sine, and that is not said."""
    exchange(calls_of(gm, torch.tanh), gm, torch.sin)
    return PassResult(gm, False)


def one_more(gm: fx.GraphModule) -> PassResult:
    """One more `neg` at the end, with each call; that is said."""
    (output,) = (node for node in gm.graph.nodes if node.op == "output")
    with gm.graph.inserting_before(output):
        output.args = (gm.graph.call_function(torch.neg, output.args),)
    gm.recompile()
    return PassResult(gm, True)


def one_more_quietly(gm: fx.GraphModule) -> PassResult:
    """One more `neg` at the end, with each call; that is not said."""
    return PassResult(one_more(gm).graph_module, False)


def in_a_copy(gm: fx.GraphModule) -> PassResult:
    """Another module comes back, in which each sine is a cosine; the given one is left alone."""
    return sin_to_cos(copy.deepcopy(gm))


def tidy(gm: fx.GraphModule) -> PassResult:
    """Takes out what nobody reads."""
    modified = gm.graph.eliminate_dead_code()
    gm.recompile()
    return PassResult(gm, modified)


def quiet_tidy(gm: fx.GraphModule) -> PassResult:
    """Takes out what nobody reads, and that is not said; layers stay, called or not."""
    return PassResult(tidy(gm).graph_module, False)


def other_tidy(gm: fx.GraphModule) -> PassResult:
    """Bears the name of another pass, and trips in the middle of its work."""
    one_more(gm)
    raise KeyError("nothing to tidy up")


other_tidy.__name__ = "tidy"


def again_tidy(gm: fx.GraphModule) -> PassResult:
    """Bears the same name, and says the same when it trips."""
    one_more(gm)
    raise KeyError("nothing to tidy up")


again_tidy.__name__ = "tidy"


class Swap(PassBase):
    """One function for another."""

    def __init__(self, old: Callable[..., Any], new: Callable[..., Any]) -> None:
        self.old, self.new = old, new

    def call(self, graph_module: fx.GraphModule) -> PassResult:
        """Exchange the function."""
        return exchange(calls_of(graph_module, self.old), graph_module, self.new)


class Noting:
    """Each sine becomes a cosine; the object notes that it was called."""

    def __init__(self) -> None:
        self.called = False

    def __call__(self, gm: fx.GraphModule) -> PassResult:
        """Exchange the function."""
        self.called = True
        return sin_to_cos(gm)


# ------------------------------------------------------------------ passes that are not


@dataclass(frozen=True)
class Needed:
    """One function for another, which must be there; two of these may be equal.

    Attributes:
        old: the function that is exchanged.
        new: what is called instead.
    """

    old: Callable[..., Any]
    new: Callable[..., Any]

    def __call__(self, gm: fx.GraphModule) -> PassResult:
        """Exchange the function, or raise."""
        nodes = calls_of(gm, self.old)
        if not nodes:
            raise LookupError("nothing to exchange")
        return exchange(nodes, gm, self.new)


def half_done(gm: fx.GraphModule) -> PassResult:
    """Edits the graph, a layer and all weights, then raises."""
    one_more(gm)
    gm.add_module("layer", nn.Identity())
    with torch.no_grad():
        for tensor in (*gm.parameters(), *gm.buffers()):
            tensor.zero_()
    raise ValueError("a half is enough")


def trips_over_a_layer(gm: fx.GraphModule) -> PassResult:
    """Puts another layer into a block of layers, then raises."""
    gm.set_submodule("block.1", nn.Identity())
    raise ValueError("a half is enough")


class Refused(ValueError):
    """An exception of a pass's own."""


class Torn:
    """A pass and an exception, whose classes are in a class."""

    class InTwo(Exception):
        """What is torn."""

    class Swap(Swap):
        """Trips over what it has torn."""

        def call(self, graph_module: fx.GraphModule) -> PassResult:
            """Exchange the function, then raise."""
            super().call(graph_module)
            raise Torn.InTwo("a half is enough")


def refuses_tanh(gm: fx.GraphModule) -> PassResult:
    """Raises as long as there is a tanh."""
    if calls_of(gm, torch.tanh):
        raise Refused("tanh")
    return one_more_quietly(gm)


def asserts(gm: fx.GraphModule) -> PassResult:
    """Trips over an assertion that says nothing."""
    one_more(gm)
    raise AssertionError


def out_of_order(gm: fx.GraphModule) -> PassResult:
    """Puts the last call in front of all others, and says that nothing was changed."""
    *_, last, _ = gm.graph.nodes
    next(iter(gm.graph.nodes)).prepend(last)
    gm.recompile()
    return PassResult(gm, False)


def to_exp(gm: fx.GraphModule) -> PassResult:
    """Each function of one argument becomes `exp`."""
    return exchange(calls_of(gm, torch.sin, torch.cos, torch.tanh), gm, torch.exp)


def to_exp_in_a_copy(gm: fx.GraphModule) -> PassResult:
    """The same in another module; nothing of it is said."""
    return PassResult(to_exp(copy.deepcopy(gm)).graph_module, False)


def to_exp_and_a_copy(gm: fx.GraphModule) -> PassResult:
    """The same in the module that is given, and a copy of that comes back."""
    return PassResult(copy.deepcopy(to_exp(gm).graph_module), True)


def large_weights(gm: fx.GraphModule) -> PassResult:
    """Writes into the weights."""
    with torch.no_grad():
        for parameter in gm.parameters():
            parameter.fill_(1000)
    return PassResult(gm, True)


def gives_nothing(gm: fx.GraphModule) -> None:
    """Edits, and returns nothing."""
    one_more(gm)


def gives_the_module(gm: fx.GraphModule) -> fx.GraphModule:
    """Edits, and returns the module alone."""
    return one_more(gm).graph_module


def gives_a_pair(gm: fx.GraphModule) -> tuple[fx.GraphModule, bool]:
    """Edits, and returns a tuple instead of a `PassResult`."""
    return one_more(gm).graph_module, True


def gives_what_looks_like_one(gm: fx.GraphModule) -> Any:
    """Edits, and returns an object with the attributes of a `PassResult`."""
    return SimpleNamespace(graph_module=one_more(gm).graph_module, modified=False)


class Interrupted(KeyboardInterrupt):
    """Somebody presses Ctrl-C, or the kernel is interrupted."""


def is_interrupted(gm: fx.GraphModule) -> PassResult:
    """Ctrl-C is pressed while it runs."""
    raise Interrupted


# ------------------------------------------------------------------ checks


def in_order(gm: fx.GraphModule) -> None:
    """`lint` accepts the graph; its own words are many."""
    try:
        gm.graph.lint()
    except RuntimeError:
        raise RuntimeError("the graph is not in order") from None


def no_exp(gm: fx.GraphModule) -> None:
    """There is no `exp`."""
    if calls_of(gm, torch.exp):
        raise ValueError("no exp, please")


def small_weights(gm: fx.GraphModule) -> None:
    """No weight is above 100."""
    if any(parameter.max() > 100 for parameter in gm.parameters()):
        raise OverflowError("a weight is too large:\nabove 100")


def two_negs_at_most(gm: fx.GraphModule) -> None:
    """At most two calls of `neg`."""
    if len(calls_of(gm, torch.neg)) > 2:
        raise MemoryError("three times neg")


def is_interrupted_without_sin(gm: fx.GraphModule) -> None:
    """Ctrl-C is pressed while it runs on a module without a sine."""
    if not calls_of(gm, torch.sin):
        raise Interrupted


@dataclass(frozen=True)
class WasCalled:
    """Looks at what a pass has noted.

    Attributes:
        noting: the pass.
    """

    noting: Noting

    def __call__(self, gm: fx.GraphModule) -> None:
        """The pass was called, and not a copy of it."""
        if not self.noting.called:
            raise ValueError("the pass in the list was not called")


def says_no(gm: fx.GraphModule) -> bool:
    """Raises nothing, so that all is in order; what it gives means nothing."""
    return False


# ------------------------------------------------------------------ cases


@dataclass(frozen=True)
class Piped:
    """Builds the objects of a case of ``run_pipeline(gm, passes, checks, limit)``.

    Attributes:
        make: builds the model.
        passes: the passes, in their order.
        checks: the checks.
        limit: the limit, if one is given.
        training: the mode of the model.
    """

    make: Callable[[], nn.Module]
    passes: tuple[Pass, ...]
    checks: tuple[Check, ...] = ()
    limit: int | None = None
    training: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        gm = fx.symbolic_trace(fresh(self.make, seed, training=self.training))
        inputs = torch.randn(
            2, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
        )
        args = (Asked(gm, self.passes, self.checks, self.limit),)
        return Trial(args=args, model=gm, inputs=((inputs,),))


@dataclass(frozen=True, eq=False)
class Asked:
    """Calls the answer, and reports what comes back.

    Attributes:
        gm: the graph module.
        passes: the passes.
        checks: the checks; without any, the argument is left out.
        limit: the limit; without one, the argument is left out.
    """

    gm: fx.GraphModule
    passes: tuple[Pass, ...]
    checks: tuple[Check, ...]
    limit: int | None

    @property
    def says(self) -> str:
        """The call, for a card."""
        words = ["gm", _listed(self.passes)]
        words += [f"checks={_listed(self.checks)}"] if self.checks else []
        words += [f"limit={self.limit}"] if self.limit is not None else []
        return f"{{name}}({', '.join(words)})"

    def __call__(self, answer: Any) -> Callable[..., Any]:
        """What is run: the module that came back."""
        # Passes may keep notes, and what they note is of this call.
        passes, checks = copy.deepcopy(([*self.passes], [*self.checks]))
        given = [*passes], [*checks]
        options: dict[str, Any] = {"checks": checks} if checks else {}
        options |= {} if self.limit is None else {"limit": self.limit}
        said: dict[str, Any] = {"ended": "returned"}
        try:
            result = answer(self.gm, passes, **options)
        except Interrupted:
            return lambda *_: {"ended": "interrupted"}
        pair = type(result) is tuple and len(result) == 2
        new = result[0] if pair else None
        said["pair"] = pair
        said["lists"] = (passes, checks) == given
        if not isinstance(new, fx.GraphModule):
            return lambda *_: {**said, "kind": type(new if pair else result)}
        said |= {"report": result[1], **facts_of(new)}
        return lambda *inputs: {**said, "result": attempt(new, *inputs)}


def facts_of(gm: fx.GraphModule) -> dict[str, Any]:
    """The report about a module: its nodes, without their names, its layers and its tensors."""
    number = {node: f"%{i}" for i, node in enumerate(gm.graph.nodes)}
    rows = [
        (
            node.op,
            target_text(node.target),
            fx.map_arg((node.args, node.kwargs), number.get),
        )
        for node in gm.graph.nodes
    ]
    return {
        "rows": rows,
        "layers": sorted(f"{path}: {type(layer).__name__}" for path, layer in gm.named_modules()
                         if path),
        "modes": {path: layer.training for path, layer in gm.named_modules()
                  if type(layer) is not nn.Module},  # what a trace puts layers into has no mode
        "tensors": {name: tensor for name, tensor in sorted(gm.state_dict().items())},
        "recompiled": is_recompiled(gm),
    }  # fmt: skip


def _listed(functions: tuple[Any, ...]) -> str:
    names = [getattr(each, "__name__", f"{type(each).__name__}(...)") for each in functions]
    return f"[{', '.join(names)}]"


# ------------------------------------------------------------------ random models

_PASSES: tuple[Pass, ...] = (
    sin_to_cos, cos_to_tanh, first_sin_to_cos, quiet_tanh_to_sin, in_a_copy, tidy, other_tidy,
    half_done, refuses_tanh, asserts, out_of_order, to_exp, to_exp_in_a_copy, gives_nothing,
    gives_the_module, gives_a_pair, gives_what_looks_like_one, one_more_quietly,
)  # fmt: skip
_CHECKS: tuple[Check, ...] = (in_order, no_exp, two_negs_at_most)


def with_passes(trial: Trial, choice: int) -> Trial:
    """The trial of a random model, with some passes, and at times some checks."""
    draw = random.Random(choice)
    gm = fx.symbolic_trace(copy.deepcopy(trial.model))
    passes = draw.sample(_PASSES, draw.randint(3, 7))
    if cos_to_tanh in passes:  # together they would never reach a fixed point
        passes = [each for each in passes if each is not quiet_tanh_to_sin]
    if draw.random() < 0.5:
        passes += [Swap(torch.sin, torch.exp), Swap(torch.cos, torch.sigmoid)]
        draw.shuffle(passes)
    checks = _CHECKS if out_of_order in passes else draw.sample(_CHECKS, draw.randint(1, 3))
    asked = Asked(gm, tuple(passes), tuple(checks), None)
    return replace(trial, args=(asked,), model=gm, inputs=trial.inputs[:1])
