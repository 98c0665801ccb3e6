"""The answer kinds: one module for each, with the function that runs answers of that kind.

A module's docstring becomes the learner's page on its kind; its first line is the kind's name.
``RIGHT`` is the canary's right answer; the wrong one has the first text of ``SPOILT`` replaced by
the second. Both must be literals, because the canary's notebook is made without PyTorch.
`autograder.judge.kinds` has a module of the same name for the judge.
"""

from __future__ import annotations

import importlib
import pkgutil

from autograder.runner.answer_kind import AnswerKind

KINDS: dict[str, AnswerKind] = {
    each.name: importlib.import_module(f"{__name__}.{each.name}").KIND
    for each in pkgutil.iter_modules(__path__)
}
