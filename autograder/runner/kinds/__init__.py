"""The kinds of answers, one module each: how answers of that kind are run.

A module's docstring is the learner's page about its kind, without the first word's period.
``RIGHT`` is the canary's right answer; in its wrong one, the first text of ``SPOILT`` is
replaced by the second. Both are literals: the canary's notebook is made without PyTorch.
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
