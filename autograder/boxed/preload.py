"""Gets a process ready for students' notebooks: imports, a shell, and nothing that says an answer.

Whatever is imported here can be found by a student's code. So there is a list of what may be, and
a process that holds anything else of the course does not come up.
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
"""Modules of the course that a student's process may hold, besides those of `ROOMS`."""

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
"""What begins like this may be there, too: models that several exercises share, and what has
nothing to do with answers."""


@dataclass
class StudentState:
    """What a process for notebooks has got ready."""

    shell: Shell
    record: Record
    exercises: dict[str, Exercise] = field(default_factory=dict)


def get_ready(config: dict[str, Any], blobs: list[bytes]) -> StudentState:
    """Import what the chapter's cells will import.

    Args:
        config: ``imports``, the modules that they import.
        blobs: nothing.
    """
    start_autograd()
    import_late()
    if brings_dynamo(config["imports"]):
        import_dynamo()
    made, record = make_shell()
    for name in (*_ALWAYS, *config["imports"]):
        try:
            importlib.import_module(name)
        except Exception:  # a cell that imports it will say so
            continue
    _warm_up(made)
    if any(name.partition(".")[0] == "matplotlib" for name in config["imports"]):
        _draw_a_plot()
    if not will_compile(config["imports"]):  # compilers look closely at what stands in a module
        fx_tracing.install()
    warm_up_compilers(config["imports"])
    rehearse()
    os.environ.pop("PYTHONPATH", None)
    state = StudentState(made, record)
    stub_api.install(state.exercises)
    return state


def configure(state: StudentState, head: dict[str, Any], blobs: list[bytes]) -> None:
    """Take in what the judge says of the chapter's exercises.

    Args:
        state: what was got ready.
        head: ``modules`` from which the objects of cases are built, ``own``: the texts of those
            that are an instructor's, ``exercises``: what is on their cards, and ``forbidden``:
            the attributes that tasks forbid, pickled.
        blobs: nothing.

    Raises:
        RuntimeError: the process now holds what it must not.
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
    """Which of these modules are the course's, and not for a student's process."""
    ours = {name for name in modules if name.partition(".")[0] in ("autograder", _OWN)}
    return {name for name in ours - ALLOWED if not name.startswith(ROOMS) and not _is_models(name)}


def _is_models(name: str) -> bool:
    """Whether a module of an exercise, or of a chapter, builds models; or only holds such ones."""
    if not f"{name}.".startswith(("autograder.exercises.", f"{_OWN}.")):
        return False
    if name.rpartition(".")[2].startswith("models"):
        return True
    # Folders without a word of their own; that of all exercises finds them, and imports none.
    return hasattr(sys.modules.get(name), "__path__")


def _warm_up(made: Shell) -> None:
    """Do once what is slow the first time: a text that is measured, and a traceback."""
    measure_letters()
    try:
        raise ValueError
    except ValueError:
        made.InteractiveTB.structured_traceback(*sys.exc_info())


def _draw_a_plot() -> None:
    """Do once what is slow for the first plot."""
    import matplotlib.pyplot as plt

    plt.figure().savefig(os.devnull, format="png")
    plt.close("all")
