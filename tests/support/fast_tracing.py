"""Lets FX trace as fast beside two thousand classes of modules, and torchvision, as beside none.

Each trace puts a `__call__` and a `__getattr__` of its own into `nn.Module`, and takes them out
again. Each time, CPython goes through all classes that derive from it, and the tests hold the
models of all exercises at once: that took two fifths of the exam's time. Here both methods are set
once, and call whatever FX wants to stand there now.

Each trace also makes a wrapper of each function that anybody gave to `fx.wrap`. torchvision gives
it dozens. What a wrapper does depends on its function alone, so here each is made once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from torch import nn
from torch.fx import _symbolic_trace

_METHODS = ("__call__", "__getattr__")

_STANDING_IN = """
def {name}(self, *args, **kwargs):
    return (wanted[-1] if wanted else original)(self, *args, **kwargs)
"""

_wanted: dict[str, list[Callable[..., Any]]] = {name: [] for name in _METHODS}
"""What traces that are under way have put there, by the method's name; the last one counts."""


def install() -> None:
    """Set both methods; what FX puts there from now on is noted and not set."""
    if getattr(nn.Module, "_stands_in", False):
        return
    for name in _METHODS:
        # As a line of FX itself: no line of the tests shows in a learner's traceback.
        names: dict[str, Any] = {"wanted": _wanted[name], "original": getattr(nn.Module, name)}
        names["__name__"] = _symbolic_trace.__name__
        exec(compile(_STANDING_IN.format(name=name), _symbolic_trace.__file__, "exec"), names)
        setattr(nn.Module, name, names[name])
    nn.Module._stands_in = True
    change = _symbolic_trace._PatchedFnSetAttr
    set_really, take_back_really = change.patch, change.revert

    def patch(self: Any) -> None:
        if _is_meant(self):
            _wanted[self.fn_name].append(self.new_fn)
        else:
            set_really(self)

    def revert(self: Any) -> None:
        if not _is_meant(self):
            take_back_really(self)
        elif self.new_fn in _wanted[self.fn_name]:
            _wanted[self.fn_name].remove(self.new_fn)

    change.patch, change.revert = patch, revert
    _symbolic_trace._create_wrapped_func = _kept(_symbolic_trace._create_wrapped_func)


def _kept(wrap: Callable[..., Any]) -> Callable[..., Any]:
    """A function from functions to wrappers that makes each wrapper once."""
    keep = lru_cache(maxsize=1024)(wrap)

    def wrapper_of(function: Callable[..., Any]) -> Any:
        try:
            return keep(function)
        except TypeError:  # it has no hash
            return wrap(function)

    return wrapper_of


def _is_meant(change: Any) -> bool:
    return change.frame_dict is nn.Module and change.fn_name in _METHODS
