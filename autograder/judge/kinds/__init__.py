"""The judge's side of each answer kind: one module for each, with the schema of its outcomes.

The module of the same name in `autograder.runner.kinds` runs such answers.
"""

from __future__ import annotations

import importlib

from autograder.judge.judged_kind import JudgedKind
from autograder.runner import kinds

KINDS: dict[str, JudgedKind] = {
    name: importlib.import_module(f"{__name__}.{name}").KIND for name in kinds.KINDS
}
