"""Prepares a process for students' notebooks: imports and a shell, but nothing with an answer.

A student's code can find everything that is imported here. So a list names the modules of the
course that are allowed, and a process with any other one does not start.
"""

from __future__ import annotations

import base64
import importlib
import os
import pickle
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from autograder.boxed import stub_api
from autograder.boxed.shell import Record, Shell, make_shell
from autograder.core import own_exercises
from autograder.core.exercise import Exercise
from autograder.drawing.style import measure_letters
from autograder.runner.forbidden import install_spies
from autograder.speed import fx_tracing
from autograder.speed.warm_up import (
    brings_dynamo,
    import_dynamo,
    import_late,
    rehearse,
    start_autograd,
    warm_up_compilers,
    will_compile,
)

_OWN = own_exercises.PACKAGE

_ALWAYS = (
    "autograder.given", "autograder.suspects", "autograder.core.graph_jobs",
    "autograder.cards.card", "autograder.drawing.draw", "autograder.cards.hints",
    "autograder.cards.display", "autograder.drawing.page_layout", "autograder.drawing.render",
    "autograder.drawing.shapes", "autograder.drawing.layout.back_edges",
    "autograder.drawing.svg_pen", "autograder.cards.failing",
)  # fmt: skip

ALLOWED = frozenset(
    "autograder autograder.alive autograder.api autograder.authoring "
    "autograder.authoring.models autograder.boxed "
    "autograder.boxed.graph_service autograder.boxed.preload autograder.boxed.shell "
    "autograder.boxed.stub_api autograder.boxed.student autograder.fuzz "
    "autograder.fuzz.codegen autograder.fuzz.grammar autograder.fuzz.model_builder "
    "autograder.fuzz.recipe autograder.fuzz.wrapped autograder.given autograder.models "
    "autograder.suspects".split()
)
"""Modules of the course that a student's process may contain, in addition to those of `ROOMS`."""

ROOMS = tuple(
    f"autograder.{room}"
    for room in (
        "cards",
        "core",
        "drawing",
        "environment",
        "models.",
        "runner",
        "sandbox",
        "speed",
    )  # fmt: skip
)
"""Beginnings of the names of other allowed modules: models that several exercises share, and
packages that have nothing to do with answers."""


@dataclass
class StudentState:
    """The prepared state of a process for notebooks."""

    shell: Shell
    record: Record
    exercises: dict[str, Exercise] = field(default_factory=dict)


def get_ready(config: dict[str, Any], blobs: list[bytes]) -> StudentState:
    """Import the modules that the chapter's cells will import.

    Args:
        config: ``imports``, the modules that they import.
        blobs: empty.
    """
    start_autograd()
    import_late()
    if brings_dynamo(config["imports"]):
        import_dynamo()
    made, record = make_shell()
    for name in (*_ALWAYS, *config["imports"]):
        try:
            importlib.import_module(name)
        except Exception:  # a cell that imports it gets the same error
            continue
    _warm_up(made)
    if any(name.partition(".")[0] == "matplotlib" for name in config["imports"]):
        _draw_a_plot()
    if not will_compile(config["imports"]):  # compilers inspect the functions of modules
        fx_tracing.install()
    warm_up_compilers(config["imports"])
    rehearse()
    os.environ.pop("PYTHONPATH", None)
    state = StudentState(made, record)
    stub_api.install(state.exercises)
    return state


def configure(state: StudentState, head: dict[str, Any], blobs: list[bytes]) -> None:
    """Take the judge's data on the chapter's exercises.

    Args:
        state: the prepared state.
        head: ``modules`` that build the objects of cases, ``own``: the texts of those that are an
            instructor's, ``exercises``: the texts of their cards, and ``forbidden``: the attributes
            that tasks forbid, pickled.
        blobs: empty.

    Raises:
        RuntimeError: the process now contains a module that is not allowed.
    """
    own_exercises.install(head.get("own", {}))
    for name in head["modules"]:
        importlib.import_module(name)
    for row in head["exercises"]:
        state.exercises[row["name"]] = Exercise(**row, aspects=(), cases=(), key="")
    install_spies(pickle.loads(base64.b64decode(head["forbidden"])))
    held = sorted(not_allowed(sys.modules))
    if held:
        raise RuntimeError(f"a student's process would hold {', '.join(held)}")


def not_allowed(modules: Iterable[str]) -> set[str]:
    """The modules of the course among these that are not allowed in a student's process."""
    ours = {name for name in modules if name.partition(".")[0] in ("autograder", _OWN)}
    return {name for name in ours - ALLOWED if not name.startswith(ROOMS) and not _is_models(name)}


def _is_models(name: str) -> bool:
    """Whether a module of an exercise or a chapter builds models, or is a package."""
    if not f"{name}.".startswith(("autograder.exercises.", f"{_OWN}.")):
        return False
    if name.rpartition(".")[2].startswith("models"):
        return True
    # The package of all exercises imports none of them.
    return hasattr(sys.modules.get(name), "__path__")


def _warm_up(made: Shell) -> None:
    """Do for the first time, which is slow: measure a text, and format a traceback."""
    measure_letters()
    try:
        raise ValueError
    except ValueError:
        made.InteractiveTB.structured_traceback(*sys.exc_info())


def _draw_a_plot() -> None:
    """Draw a plot, because the first one is slow."""
    import matplotlib.pyplot as plt

    plt.figure().savefig(os.devnull, format="png")
    plt.close("all")
