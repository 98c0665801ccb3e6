"""Graph modules, passes and checks for `run_pipeline`, and the report about its result."""

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
    """Some values are not read."""

    def forward(self, x):
        torch.cos(torch.cos(x))
        return torch.sin(x)


class WithBuffers(nn.Module):
    """Nested layers, a parameter that is read, a BatchNorm with buffers."""

    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return torch.tanh(torch.sin(self.block(x)) * self.scale)


class UnreadLayer(WithBuffers):
    """The result of one layer is not read."""

    def __init__(self):
        super().__init__()
        self.extra = nn.Linear(3, 3)

    def forward(self, x):
        self.extra(x)
        return super().forward(x)


# ------------------------------------------------------------------ sound passes


def calls_of(gm: fx.GraphModule, *functions: Callable[..., Any]) -> list[fx.Node]:
    """The calls of some functions."""
    return [node for node in gm.graph.nodes if node.target in functions]


def exchange(nodes: list[fx.Node], gm: fx.GraphModule, new: Callable[..., Any]) -> PassResult:
    """Let nodes call another function, and report it."""
    for node in nodes:
        node.target = new
    gm.recompile()
    return PassResult(gm, bool(nodes))


def sin_to_cos(gm: fx.GraphModule) -> PassResult:
    """Turn each sine into a cosine."""
    return exchange(calls_of(gm, torch.sin), gm, torch.cos)


def cos_to_tanh(gm: fx.GraphModule) -> PassResult:
    """Turn each cosine into a tanh."""
    return exchange(calls_of(gm, torch.cos), gm, torch.tanh)


def first_sin_to_cos(gm: fx.GraphModule) -> PassResult:
    """Turn the first sine into a cosine, one per round."""
    return exchange(calls_of(gm, torch.sin)[:1], gm, torch.cos)


def quiet_tanh_to_sin(gm: fx.GraphModule) -> PassResult:
    """Turn each tanh into a sine without reporting it."""
    exchange(calls_of(gm, torch.tanh), gm, torch.sin)
    return PassResult(gm, False)


def one_more(gm: fx.GraphModule) -> PassResult:
    """Append one more `neg` in each call, and report it."""
    (output,) = (node for node in gm.graph.nodes if node.op == "output")
    with gm.graph.inserting_before(output):
        output.args = (gm.graph.call_function(torch.neg, output.args),)
    gm.recompile()
    return PassResult(gm, True)


def one_more_quietly(gm: fx.GraphModule) -> PassResult:
    """Append one more `neg` in each call without reporting it."""
    return PassResult(one_more(gm).graph_module, False)


def in_a_copy(gm: fx.GraphModule) -> PassResult:
    """Turn each sine into a cosine in a copy; the given module stays unchanged."""
    return sin_to_cos(copy.deepcopy(gm))


def tidy(gm: fx.GraphModule) -> PassResult:
    """Remove nodes that nothing reads."""
    modified = gm.graph.eliminate_dead_code()
    gm.recompile()
    return PassResult(gm, modified)


def quiet_tidy(gm: fx.GraphModule) -> PassResult:
    """Remove unread nodes without reporting it; layers stay, called or not."""
    return PassResult(tidy(gm).graph_module, False)


def other_tidy(gm: fx.GraphModule) -> PassResult:
    """Fail halfway, under the name of another pass."""
    one_more(gm)
    raise KeyError("nothing to tidy up")


other_tidy.__name__ = "tidy"


def again_tidy(gm: fx.GraphModule) -> PassResult:
    """Fail with the same message, under the same name."""
    one_more(gm)
    raise KeyError("nothing to tidy up")


again_tidy.__name__ = "tidy"


class Swap(PassBase):
    """Replaces one function by another."""

    def __init__(self, old: Callable[..., Any], new: Callable[..., Any]) -> None:
        self.old, self.new = old, new

    def call(self, graph_module: fx.GraphModule) -> PassResult:
        """Replace the function."""
        return exchange(calls_of(graph_module, self.old), graph_module, self.new)


class Noting:
    """Turns each sine into a cosine, and records that it was called."""

    def __init__(self) -> None:
        self.called = False

    def __call__(self, gm: fx.GraphModule) -> PassResult:
        """Replace the function."""
        self.called = True
        return sin_to_cos(gm)


# ------------------------------------------------------------------ unsound passes


@dataclass(frozen=True)
class Needed:
    """Replaces a function that must be present; two of these may be equal.

    Attributes:
        old: the function to replace.
        new: the function to call instead.
    """

    old: Callable[..., Any]
    new: Callable[..., Any]

    def __call__(self, gm: fx.GraphModule) -> PassResult:
        """Replace the function, or raise."""
        nodes = calls_of(gm, self.old)
        if not nodes:
            raise LookupError("nothing to exchange")
        return exchange(nodes, gm, self.new)


def half_done(gm: fx.GraphModule) -> PassResult:
    """Edit the graph, a layer and all weights, then raise."""
    one_more(gm)
    gm.add_module("layer", nn.Identity())
    with torch.no_grad():
        for tensor in (*gm.parameters(), *gm.buffers()):
            tensor.zero_()
    raise ValueError("a half is enough")


def trips_over_a_layer(gm: fx.GraphModule) -> PassResult:
    """Replace a layer in a block of layers, then raise."""
    gm.set_submodule("block.1", nn.Identity())
    raise ValueError("a half is enough")


class Refused(ValueError):
    """A pass's own exception."""


class Torn:
    """A pass and an exception as nested classes."""

    class InTwo(Exception):
        """Raised by the nested pass."""

    class Swap(Swap):
        """A pass that edits, then raises."""

        def call(self, graph_module: fx.GraphModule) -> PassResult:
            """Replace the function, then raise."""
            super().call(graph_module)
            raise Torn.InTwo("a half is enough")


def refuses_tanh(gm: fx.GraphModule) -> PassResult:
    """Raise if there is a tanh."""
    if calls_of(gm, torch.tanh):
        raise Refused("tanh")
    return one_more_quietly(gm)


def asserts(gm: fx.GraphModule) -> PassResult:
    """Fail an assertion without a message."""
    one_more(gm)
    raise AssertionError


def out_of_order(gm: fx.GraphModule) -> PassResult:
    """Move the last call to the front, and report no change."""
    *_, last, _ = gm.graph.nodes
    next(iter(gm.graph.nodes)).prepend(last)
    gm.recompile()
    return PassResult(gm, False)


def to_exp(gm: fx.GraphModule) -> PassResult:
    """Turn each function of one argument into `exp`."""
    return exchange(calls_of(gm, torch.sin, torch.cos, torch.tanh), gm, torch.exp)


def to_exp_in_a_copy(gm: fx.GraphModule) -> PassResult:
    """Turn the functions into `exp` in a copy, without reporting it."""
    return PassResult(to_exp(copy.deepcopy(gm)).graph_module, False)


def to_exp_and_a_copy(gm: fx.GraphModule) -> PassResult:
    """Turn the functions into `exp` in the given module, but return a copy."""
    return PassResult(copy.deepcopy(to_exp(gm).graph_module), True)


def large_weights(gm: fx.GraphModule) -> PassResult:
    """Change the weights."""
    with torch.no_grad():
        for parameter in gm.parameters():
            parameter.fill_(1000)
    return PassResult(gm, True)


def gives_nothing(gm: fx.GraphModule) -> None:
    """Edit, and return nothing."""
    one_more(gm)


def gives_the_module(gm: fx.GraphModule) -> fx.GraphModule:
    """Edit, and return the module alone."""
    return one_more(gm).graph_module


def gives_a_pair(gm: fx.GraphModule) -> tuple[fx.GraphModule, bool]:
    """Edit, and return a tuple instead of a `PassResult`."""
    return one_more(gm).graph_module, True


def gives_what_looks_like_one(gm: fx.GraphModule) -> Any:
    """Edit, and return an object with the attributes of a `PassResult`."""
    return SimpleNamespace(graph_module=one_more(gm).graph_module, modified=False)


class Interrupted(KeyboardInterrupt):
    """The user presses Ctrl-C, or interrupts the kernel."""


def is_interrupted(gm: fx.GraphModule) -> PassResult:
    """Simulate Ctrl-C while the pass runs."""
    raise Interrupted


# ------------------------------------------------------------------ checks


def in_order(gm: fx.GraphModule) -> None:
    """Run `lint`; its own message is long."""
    try:
        gm.graph.lint()
    except RuntimeError:
        raise RuntimeError("the graph is not in order") from None


def no_exp(gm: fx.GraphModule) -> None:
    """Raise if there is an `exp`."""
    if calls_of(gm, torch.exp):
        raise ValueError("no exp, please")


def small_weights(gm: fx.GraphModule) -> None:
    """Raise if a weight is above 100."""
    if any(parameter.max() > 100 for parameter in gm.parameters()):
        raise OverflowError("a weight is too large:\nabove 100")


def two_negs_at_most(gm: fx.GraphModule) -> None:
    """Raise if there are more than two calls of `neg`."""
    if len(calls_of(gm, torch.neg)) > 2:
        raise MemoryError("three times neg")


def is_interrupted_without_sin(gm: fx.GraphModule) -> None:
    """Simulate Ctrl-C on a module without a sine."""
    if not calls_of(gm, torch.sin):
        raise Interrupted


@dataclass(frozen=True)
class WasCalled:
    """Checks that a pass was called.

    Attributes:
        noting: the pass.
    """

    noting: Noting

    def __call__(self, gm: fx.GraphModule) -> None:
        """Raise if the pass itself, not a copy of it, was not called."""
        if not self.noting.called:
            raise ValueError("the pass in the list was not called")


def says_no(gm: fx.GraphModule) -> bool:
    """Return `False` but raise nothing: the check succeeds, as its result does not matter."""
    return False


# ------------------------------------------------------------------ cases


@dataclass(frozen=True)
class Piped:
    """Builds the objects of a case of ``run_pipeline(gm, passes, checks, limit)``.

    Attributes:
        make: builds the model.
        passes: the passes, in order.
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
    """Calls the answer, and reports on the result.

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
        """Call the answer; each run then calls the returned module."""
        # Passes may store state; copies keep it separate for each call.
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
    """A report about a module: its nodes without names, its layers and its tensors."""
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
                  if type(layer) is not nn.Module},  # the containers that a trace adds have no mode
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
    """Give the trial of a random model some passes, and sometimes checks."""
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
