"""What a judge needs of nbgrader: its words about cells, and its limit for outputs.

Whoever imports `nbgrader` imports its exchange, its gradebook and its extensions of a server, too,
which takes as long as all else that a judge imports. A judge sees none of these.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

_TOP, _STEPS = "nbgrader", "nbgrader.preprocessors"


@contextmanager
def _as_folders() -> Iterator[ModuleType]:
    """Within this, two of its packages are folders whose modules can be imported, and no more.

    Afterwards it is as if nothing of it had been imported.
    """
    spec = find_spec(_TOP)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {_TOP!r}", name=_TOP)
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    top, steps = ModuleType(_TOP), ModuleType(_STEPS)
    top.__path__ = [str(place) for place in places]
    steps.__path__ = [str(place / _STEPS.rpartition(".")[2]) for place in places]
    sys.modules |= {_TOP: top, _STEPS: steps}
    try:
        yield steps
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == _TOP]:
            del sys.modules[name]


def _parts() -> tuple[ModuleType, type]:
    """Its module `utils`, and the class `LimitOutput`."""
    if _TOP not in sys.modules:
        with _as_folders() as steps:
            base = importlib.import_module(f"{_STEPS}.base")
            vars(steps)["NbGraderPreprocessor"] = base.NbGraderPreprocessor
            limits = importlib.import_module(f"{_STEPS}.limitoutput")
            return importlib.import_module(f"{_TOP}.utils"), limits.LimitOutput
    steps = importlib.import_module(_STEPS)
    return importlib.import_module(f"{_TOP}.utils"), steps.LimitOutput


if TYPE_CHECKING:
    from nbgrader import utils
    from nbgrader.preprocessors import LimitOutput
else:
    utils, LimitOutput = _parts()

__all__ = ["LimitOutput", "utils"]
