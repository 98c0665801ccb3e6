"""The functions that a saved counterexample contains: they need PyTorch, and not the course.

`saved_test` copies those that a file needs. The hunt itself calls some of them, too.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import operator
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import fx, nn

SEED = 2007
"""The seed of the first call; that of each further call is larger by one."""


def randomized(model: nn.Module) -> nn.Module:
    """Give parameters and floating-point buffers fixed random values; variances are positive."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, value in [*model.named_parameters(), *model.named_buffers()]:
            if value.is_floating_point():
                draw = torch.rand if name.endswith("var") else torch.randn
                new = draw(value.shape, generator=generator, dtype=torch.float64)
                value.copy_(new + 0.5 if name.endswith("var") else new)
    return model


def floats(value: Any) -> list[torch.Tensor]:
    """The floating-point tensors in a value, also in lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, dict):
        value = list(value.values())
    items = value if isinstance(value, (list, tuple)) else []
    return [tensor for item in items for tensor in floats(item)]


def weights(tensor: torch.Tensor) -> torch.Tensor:
    """Weights that differ for all entries, so that exchanging two entries changes the sum."""
    return torch.arange(1, tensor.numel() + 1, dtype=tensor.dtype).cos().reshape(tensor.shape)


def weighted_gradients(
    model: Callable[..., Any], args: Sequence[Any], tensors: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """The gradients of a weighted sum of all results. No gradient is a gradient of zero."""
    with torch.enable_grad():
        out = [tensor for tensor in floats(model(*args)) if tensor.requires_grad]
        total = sum(((tensor * weights(tensor)).sum() for tensor in out), torch.zeros(()))
        made = (
            torch.autograd.grad(total, tensors, allow_unused=True) if out else [None] * len(tensors)
        )
    return [torch.zeros_like(t) if g is None else g for g, t in zip(made, tensors, strict=True)]


# ------------------------------------------------------------------ the result of a pass


def returned(result: Any, given: Any) -> Any:
    """The module that a pass made: it may return a module, a `PassResult`, a graph or a pair.

    If it returned nothing, it has changed the one that was given to it.
    """
    if isinstance(result, tuple) and result and isinstance(result[0], nn.Module):
        result = result[0]
    result = getattr(result, "graph_module", result)
    if isinstance(result, fx.Graph):
        return fx.GraphModule(given, result)
    return given if result is None else result


def returned_program(result: Any, given: Any) -> Any:
    """The exported program that a pass returned, alone or with something else, or changed."""
    if isinstance(result, tuple) and result:
        result = result[0]
    result = getattr(result, "exported_program", result)
    return given if result is None else result


# ------------------------------------------------------------------ a training step


def training_step(model: nn.Module) -> Callable[..., Any]:
    """The function of one training step: from ``(params, buffers, x, y)`` to loss and gradients.

    The loss is the sum of the squared distances of all floating-point results from `y`. There is a
    gradient for each parameter that requires one. Buffers are updated in the tensors given.
    """
    trained = [name for name, value in model.named_parameters() if value.requires_grad]

    def step(params: Any, buffers: Any, x: Any, y: Any) -> Any:
        with torch.enable_grad():
            leaves = {n: v.detach().requires_grad_(n in trained) for n, v in params.items()}
            results = floats(torch.func.functional_call(model, (leaves, buffers), tuple(x)))
            errors = [((a - b) ** 2).sum() for a, b in zip(results, y, strict=True)]
            loss = functools.reduce(operator.add, errors)
            with fx.traceback.annotate({"phase": "backward"}):
                wanted = [leaves[name] for name in trained]
                if wanted and loss.requires_grad:
                    grads = torch.autograd.grad(loss, wanted, materialize_grads=True)
                else:
                    grads = tuple(map(torch.zeros_like, wanted))
        return loss.detach(), dict(zip(trained, grads, strict=True))

    return step


def step_arguments(model: nn.Module, x: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments of a training step. `y` has a tensor for each floating-point result."""
    params = {name: value.detach().clone() for name, value in model.named_parameters()}
    buffers = {name: value.clone() for name, value in model.named_buffers()}
    torch.manual_seed(SEED)
    with torch.no_grad():
        results = floats(copy.deepcopy(model)(*copy.deepcopy(x)))
    return params, buffers, tuple(x), [weights(tensor) for tensor in results]


def step_graph(model: nn.Module, x: Sequence[Any]) -> fx.GraphModule:
    """A training step as one graph; the backward calls have ``meta["custom"]["phase"]``."""
    from torch.fx.experimental.proxy_tensor import make_fx

    with fx.traceback.preserve_node_meta():
        return make_fx(training_step(model), tracing_mode="fake")(*step_arguments(model, x))


# ------------------------------------------------------------------ checks


Calls = Sequence[tuple[tuple[Any, ...], dict[str, Any]]]
"""The arguments of each call, by position and by keyword."""


def run(model: Callable[..., Any], number: int, args: Any, kwargs: Any) -> tuple[Any, list[Any]]:
    """The result of a call on copies of the arguments, and the arguments after it."""
    args, kwargs = copy.deepcopy((args, kwargs))
    torch.manual_seed(SEED + number)
    with torch.no_grad():
        return model(*args, **kwargs), [*args, *kwargs.values()]


def same(got: Any, want: Any, what: str) -> None:
    """Demand equal structure, dtypes and shapes, and equal values up to rounding."""
    kinds = (torch.Tensor, list, tuple, dict)
    mine, its = (next((k for k in kinds if isinstance(v, k)), type(v)) for v in (got, want))
    assert mine is its, f"{what} is of type {mine.__name__}, not {its.__name__}"
    if isinstance(want, torch.Tensor):
        torch.testing.assert_close(got, want, equal_nan=True, msg=lambda says: f"{what}: {says}")
    elif isinstance(want, (float, complex)):
        torch.testing.assert_close(got, want, equal_nan=True, msg=lambda says: f"{what}: {says}")
    elif isinstance(want, (list, tuple)):
        assert len(got) == len(want), f"{what} has {len(got)} items, not {len(want)}"
        for place, (a, b) in enumerate(zip(got, want, strict=True)):
            same(a, b, f"{what}[{place}]")
    elif isinstance(want, dict):
        assert set(got) == set(want), f"{what} has the keys {list(got)}, not {list(want)}"
        for key in want:
            same(got[key], want[key], f"{what}[{key!r}]")
    else:
        assert got == want, f"{what} is {got}, not {want}"


def check_results(changed: Callable[..., Any], expected: Callable[..., Any], calls: Calls) -> None:
    """Demand that each call returns the same."""
    for number, (args, kwargs) in enumerate(calls):
        got, _ = run(changed, number, args, kwargs)
        want, _ = run(expected, number, (*args, *kwargs.values()), {})
        same(got, want, f"the result of call {number + 1}")


def check_arguments(
    changed: Callable[..., Any], expected: Callable[..., Any], calls: Calls
) -> None:
    """Demand that the arguments are the same after each call."""
    for number, (args, kwargs) in enumerate(calls):
        _, got = run(changed, number, args, kwargs)
        _, want = run(expected, number, (*args, *kwargs.values()), {})
        same(got, want, f"the arguments after call {number + 1}")


def state_of(model: Any) -> dict[str, torch.Tensor]:
    """The parameters and buffers of a module by name, under all of their names."""
    if not isinstance(model, nn.Module):
        return {}
    parameters = dict(model.named_parameters(remove_duplicate=False))
    return {**parameters, **dict(model.named_buffers(remove_duplicate=False))}


def check_state(changed: Callable[..., Any], expected: Callable[..., Any], calls: Calls) -> None:
    """Demand that tensors of both models that were equal before the calls are so afterwards."""
    mine, its = state_of(changed), state_of(expected)
    names = [
        name
        for name, value in its.items()
        if name in mine and mine[name].dtype == value.dtype and torch.equal(mine[name], value)
    ]
    for number, (args, kwargs) in enumerate(calls):
        run(changed, number, args, kwargs)
        run(expected, number, (*args, *kwargs.values()), {})
    mine, its = state_of(changed), state_of(expected)
    for name in names:
        if name in mine:
            same(mine[name].detach(), its[name].detach(), f"{name} after the calls")


def check_gradients(
    changed: Callable[..., Any], expected: Callable[..., Any], calls: Calls
) -> None:
    """Demand the same gradients by arguments, and by parameters that both models have."""
    found = []
    for model in (changed, expected):
        for number, (args, kwargs) in enumerate(calls):
            run(model, number, (*args, *kwargs.values()), {})
        args = copy.deepcopy(calls[0][0])
        inner = {f"argument tensor {i}": t for i, t in enumerate(floats(args), 1)}
        for tensor in inner.values():
            tensor.requires_grad_(True)
        trained = {n: value for n, value in state_of(model).items() if value.requires_grad}
        tensors = {**inner, **trained}
        torch.manual_seed(SEED)
        made = weighted_gradients(model, args, list(tensors.values()))
        found.append(dict(zip(tensors, made, strict=True)))
    got, want = found
    for name in want:
        if name in got:
            same(got[name], want[name], f"the gradient of {name}")


def check_loss(changed: Callable[..., Any], expected: Callable[..., Any], calls: Calls) -> None:
    """Demand that each training step returns the same loss."""
    check_results(lambda *args: changed(*args)[0], lambda *args: expected(*args)[0], calls)


def check_step_gradients(
    changed: Callable[..., Any], expected: Callable[..., Any], calls: Calls
) -> None:
    """Demand that each training step returns the same gradients by name."""
    check_results(lambda *args: changed(*args)[1], lambda *args: expected(*args)[1], calls)


def check_step_arguments(
    changed: Callable[..., Any], expected: Callable[..., Any], calls: Calls
) -> None:
    """Demand that ``x`` and ``y`` are the same after each training step."""
    for number, (args, _) in enumerate(calls):
        _, (*_, x, y) = run(changed, number, args, {})
        _, (*_, right_x, right_y) = run(expected, number, args, {})
        same((x, y), (right_x, right_y), f"(x, y) after step {number + 1}")


def check_step_state(
    changed: Callable[..., Any], expected: Callable[..., Any], calls: Calls
) -> None:
    """Demand that parameters and buffers are the same after each training step."""
    for number, (args, _) in enumerate(calls):
        _, got = run(changed, number, args, {})
        _, want = run(expected, number, args, {})
        same(got[:2], want[:2], f"[params, buffers] after step {number + 1}")


def check_modes(changed: nn.Module, expected: nn.Module) -> None:
    """Demand that each module that both models have is in the same mode."""
    got, want = (
        # FX makes plain modules to hold others. Their mode does not matter.
        {n: part.training for n, part in model.named_modules() if type(part) is not nn.Module}
        for model in (changed, expected)
    )
    for name, training in want.items():
        mode = "eval" if training else "training"
        assert got.get(name, training) == training, f"{name or 'the model'} is in {mode} mode"


# ------------------------------------------------------------------ a time limit


class TooLong(BaseException):
    """A pass takes too long. It is not an `Exception`, so that no pass catches it."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop a block that uses more processor time; not on Windows, and not in a thread.

    Raises:
        TooLong: if the block used more.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: Any) -> None:
        if frame is None or frame.f_code.co_name != "gc_callback":  # it ignores exceptions
            raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    # Repeatedly: code that ignores exceptions may be running at the first signal.
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
