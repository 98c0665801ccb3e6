"""Functions that FX records where it would call them, as after `fx.wrap`.

`fx.wrap` speaks of names in a file. The classes of random models stand in no file, so their
templates use these functions instead, and say `fx.wrap` in a comment.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import fx


class Wrapped:
    """A function; a call of it with a Proxy among its arguments becomes a node.

    It can be pickled wherever the function can.

    Args:
        function: the function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __reduce__(self) -> tuple[Any, ...]:
        return Wrapped, (self.function,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = (*args, *kwargs.values())
        proxy = next((value for value in values if isinstance(value, fx.Proxy)), None)
        if proxy is None:
            return self.function(*args, **kwargs)
        recorded = proxy.tracer.create_proxy("call_function", self.function, args, kwargs)
        # As for `fx.wrap`: the code of a trace then says `wrap`, for who traces it again.
        recorded.node.meta["is_wrapped"] = True
        return recorded
