"""Functions that FX records where it would call them, as after `fx.wrap`.

`fx.wrap` speaks of names in a file. The classes of random models stand in no file, so their
templates use these functions instead, and say `fx.wrap` in a comment.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import fx


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; a call with a Proxy among its arguments becomes a node."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        values = (*args, *kwargs.values())
        proxy = next((value for value in values if isinstance(value, fx.Proxy)), None)
        if proxy is None:
            return function(*args, **kwargs)
        recorded = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        # As for `fx.wrap`: the code of a trace then says `wrap`, for who traces it again.
        recorded.node.meta["is_wrapped"] = True
        return recorded

    return call
