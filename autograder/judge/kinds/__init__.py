"""The kinds of answers, one module each: how outcomes of that kind are read.

`autograder.runner.kinds` has a module of the same name, which says how such answers are run.
"""

from __future__ import annotations

import importlib

from autograder.judge.judged_kind import JudgedKind
from autograder.runner import kinds

KINDS: dict[str, JudgedKind] = {
    name: importlib.import_module(f"{__name__}.{name}").KIND for name in kinds.KINDS
}
