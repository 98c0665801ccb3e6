"""Exercises without what must come of them: all that a student's process may hold.

The syllabus has to be imported to know the cases. What else it brings (rubrics, oracles,
expectations) is cut off here, and its modules are forgotten, before any student's code runs.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import types
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from autograder.exercise import Case, Exercise
from autograder.models.random.cases import RandomModels

_FORGOTTEN = (
    "autograder.builder", "autograder.classroom", "autograder.judge", "autograder.learner",
    "autograder.models.random.oracles", "autograder.randomly", "autograder.references",
    "autograder.retrace", "autograder.rubric", "autograder.syllabus",
)  # fmt: skip


def exercises_of(syllabus: str, chapter: str) -> dict[str, Exercise]:
    """The exercises of a chapter, as a student's process may have them.

    Args:
        syllabus: the module that holds ``EXERCISES``.
        chapter: the chapter's stem, such as ``03_manipulation``.
    """
    module = importlib.import_module(syllabus)
    found = module.of_chapter(chapter) if hasattr(module, "of_chapter") else [
        exercise for exercise in module.EXERCISES.values() if exercise.chapter == chapter
    ]  # fmt: skip
    return {exercise.name: shorn(exercise) for exercise in found}


def shorn(exercise: Exercise) -> Exercise:
    """An exercise that can be tried and not judged."""
    random = exercise.random
    if isinstance(random, RandomModels):
        random = replace(random, oracle=None, expect={}, expecting=None, _made={})
    cases = tuple(map(_shorn_case, exercise.cases))
    return replace(exercise, rubric=(), cases=cases, random=random)


def _shorn_case(case: Case) -> Case:
    return replace(case, expect={}, oracle=None, known={})


def forget(exercises: Iterable[Exercise], syllabus: str) -> None:
    """Forget what says what must come of the cases: modules, and what of them is still reached.

    The functions that make a case's objects live in the syllabus, beside what judges them. What
    they need stays; everything else in those modules goes.

    Args:
        exercises: shorn ones.
        syllabus: the module that held them.
    """
    prefixes = (*_FORGOTTEN, syllabus)
    kept = Needs()
    for exercise in exercises:
        kept.follow([exercise.random, *(case.make for case in exercise.cases)])
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in ("autograder", syllabus.partition(".")[0]):
            continue
        secret = _is_secret(name, prefixes)
        for key, value in list(vars(module).items()):
            tells = secret or _is_secret(str(getattr(value, "__module__", "")), prefixes)
            if tells and not key.startswith("__") and (id(vars(module)), key) not in kept.names:
                del vars(module)[key]
        if secret:
            parent, _, leaf = name.rpartition(".")
            del sys.modules[name]
            vars(sys.modules.get(parent, sys)).pop(leaf, None) if parent else None


def _is_secret(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


class Needs:
    """Which globals some functions need, and what these need in turn."""

    def __init__(self) -> None:
        self.names: set[tuple[int, str]] = set()
        """Pairs of a module's dictionary, by its identity, and a name in it."""
        self._seen: dict[int, Any] = {}

    def follow(self, value: Any) -> None:
        """Note what a value needs: a function, a class, a container, or an object with parts."""
        if id(value) in self._seen or isinstance(value, types.ModuleType):
            return
        self._seen[id(value)] = value
        wrapped = getattr(value, "__wrapped__", None)  # as functools.lru_cache leaves it
        if isinstance(wrapped, types.FunctionType):
            self.follow(wrapped)
        if isinstance(value, types.FunctionType):
            self._follow_function(value)
        elif isinstance(value, types.MethodType | staticmethod | classmethod):
            self.follow(value.__func__)
        elif isinstance(value, property):
            self.follow(value.fget)
        elif isinstance(value, list | tuple | set | frozenset):
            for item in value:
                self.follow(item)
        elif isinstance(value, dict):
            self.follow([*value.keys(), *value.values()])
        elif isinstance(value, functools.partial):
            self.follow([value.func, value.args, value.keywords])
        elif isinstance(value, type):
            if value.__module__.partition(".")[0] in ("autograder", "tests"):
                self.follow([*vars(value).values(), *value.__mro__[1:]])
        elif type(value).__module__.partition(".")[0] in ("autograder", "tests"):
            self.follow([type(value), getattr(value, "__dict__", None)])

    def _follow_function(self, function: types.FunctionType) -> None:
        self.follow([function.__defaults__, function.__kwdefaults__, function.__dict__])
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):  # a cell that is still empty
                self.follow(cell.cell_contents)
        scope = function.__globals__
        for name in _names_in(function.__code__):
            if name in scope:
                self.names.add((id(scope), name))
                self.follow(scope[name])


def _names_in(code: types.CodeType) -> set[str]:
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names_in(constant)
    return found
