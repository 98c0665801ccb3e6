"""Functions whose calls FX records, as after `fx.wrap`.

`fx.wrap` needs names in a file. The classes of random models are in no file, so their templates
use these functions instead, and mention `fx.wrap` in a comment.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import fx


class Wrapped:
    """A function whose call becomes a node if one of its arguments is a Proxy.

    It can be pickled if the function can.

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
        # As for `fx.wrap`: the code of the trace then contains `wrap`, so it can be traced again.
        recorded.node.meta["is_wrapped"] = True
        return recorded
