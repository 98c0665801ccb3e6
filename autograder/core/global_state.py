"""Preserves PyTorch's global state around code that may change it.

Answers share a process with each other and with the learner's notebook. If one of them changes
PyTorch's state, that must not change the verdict on the next.
"""

from __future__ import annotations

import builtins
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from autograder.core.torch_private import (
    side_effectful_functions,
    wrapped_functions,
    wrapped_methods,
)


@contextmanager
def preserve_global_state() -> Iterator[None]:
    """Restore PyTorch's state afterwards: random numbers, modes, threads, FX's registries.

    Inside, PyTorch uses one thread. The processor time of all threads counts against an answer's
    limit, and on a busy machine, threads that wait for each other use it up while they wait.
    """
    forget_broken_wraps()
    wrapped = dict(wrapped_functions())
    methods = list(wrapped_methods())
    impure = set(side_effectful_functions())
    gradients, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    numbers, threads = random.getstate(), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        _refill(wrapped_functions(), wrapped)
        wrapped_methods()[:] = methods
        side_effectful_functions().clear()
        side_effectful_functions().update(impure)
        torch.set_grad_enabled(gradients)
        torch.set_default_dtype(dtype)
        random.setstate(numbers)
        torch.set_num_threads(threads)


class RandomState:
    """Represents PyTorch's random state among the objects that an answer must not change."""


def forget_broken_wraps() -> None:
    """Remove entries of `fx.wrap` whose name no longer exists, because they make every trace fail.

    Such an entry results from a deleted name, or from a node that keeps the mark of a wrapped
    function after its target was changed: its generated code wraps a name that it does not define.
    """
    registry = wrapped_functions()
    for key, namespace in list(registry.items()):
        if key[1] not in namespace and not hasattr(builtins, key[1]):
            del registry[key]


def _refill(registry: dict[Any, Any], entries: dict[Any, Any]) -> None:
    registry.clear()
    registry.update(entries)
