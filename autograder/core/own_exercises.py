"""An instructor's own exercises: folders in a classroom, imported from their text.

They are modules of the package ``own_exercises``, such as ``own_exercises.NAME.cases``. A process
that grades receives their text and reads no file. A process that runs answers receives only the
text of ``models.py``. In a student's installation, the package is on disk.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from autograder.core.exercise_folder import REDRAWS, load_exercise

if TYPE_CHECKING:  # a process with a gradebook has no PyTorch
    from autograder.core.exercise import Exercise

PACKAGE = "own_exercises"
FOLDER = "exercises"
"""The folder in a classroom."""

PARTS = ("cases.py", "key.py")
"""The files that make a folder an exercise."""

_NOT_PART = ("answers.py",)
"""Files that grading does not need: the answers with which an exercise is tested."""

_OLD_KEY = "rubric.py"
"""The name of ``key.py`` in version 0.1."""

_CLASSROOM = "nbgrader_config.py"

_RENAMED = {
    "OfChoice": "RecipeOracle", "as_it_is": "no_completion", "look": "advice", "made": "built_by",
    "oracle_alone": "oracle_only", "still": "still_holds",
}  # fmt: skip
"""Names for authors of exercises: in version 0.1, and now."""

_OLD_ARGUMENTS = {
    "procedure": "procedure=… of an Exercise is now kind=…",
    "rubric": "Rename rubric.py to key.py, and in cases.py delete rubric=… and name=… of EXERCISE:"
    " the folder says them.",
    "hidden": "Move hidden cases into redraws.py, into a tuple REDRAWS, without hidden=True and"
    " without `redraw: ` before their names.",
}
"""Arguments in version 0.1, and sentences about what to change."""


class _FromTexts(MetaPathFinder, InspectLoader):
    """Finds the modules of the package in a table of their texts.

    Args:
        texts: by paths such as ``NAME/cases.py``.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] != PACKAGE:
            return None
        place = name.replace(".", "/").removeprefix(PACKAGE).lstrip("/")
        if f"{place}.py" in self.texts:
            return importlib.util.spec_from_loader(
                name, self, origin=f"{FOLDER}/{place}.py", is_package=False
            )
        if not place or any(one.startswith(f"{place}/") for one in self.texts):
            return importlib.util.spec_from_loader(name, self, is_package=True)
        return None

    def is_package(self, name: str) -> bool:
        return self._text(name) is None

    def get_source(self, name: str) -> str:
        return self._text(name) or ""

    def _text(self, name: str) -> str | None:
        return self.texts.get(name.replace(".", "/").removeprefix(f"{PACKAGE}/") + ".py")

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if self.is_package(name):
            return
        module.__file__ = f"{FOLDER}/{name.replace('.', '/').removeprefix(f'{PACKAGE}/')}.py"
        try:
            exec(compile(self.get_source(name), module.__file__, "exec"), module.__dict__)
        except (ImportError, TypeError) as error:
            old = next((each for each in _RENAMED if f"'{each}'" in str(error)), None)
            if old is None:
                raise
            raise type(error)(f"{error}. `{old}` is now called `{_RENAMED[old]}`.") from error


def texts_in(folder: Path) -> dict[str, str]:
    """The texts of the exercises in a folder, by paths such as ``NAME/cases.py``.

    A key of version 0.1 counts as ``key.py``: so its exercise is not lost, and says what to change.
    """
    found = {}
    for path in sorted(folder.glob("*/*.py")):
        parts = {_name_now(part) for part in path.parent.glob("*.py")}
        if parts.issuperset(PARTS) and path.name not in _NOT_PART:
            found[f"{path.parent.name}/{_name_now(path)}"] = path.read_text(encoding="utf-8")
    return found


def _name_now(path: Path) -> str:
    return "key.py" if path.name == _OLD_KEY else path.name


def texts_for_students(folder: Path) -> dict[str, str]:
    """The texts of the exercises in a folder that students may have: no hidden cases."""
    texts = texts_in(folder)
    return {path: text for path, text in texts.items() if path.rpartition("/")[2] != REDRAWS}


def install(texts: Mapping[str, str]) -> None:
    """Make these the modules of the package, and drop all that were imported before."""
    _loaded.clear()
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, _FromTexts)]
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
    if texts:
        sys.meta_path.insert(0, _FromTexts(texts))


def texts_for_answers(modules: Sequence[str]) -> dict[str, str]:
    """The texts that a process needs to build models of these modules.

    Args:
        modules: names of modules, also of other packages.
    """
    homes = {name.split(".")[1] for name in modules if name.startswith(f"{PACKAGE}.")}
    finder = next((one for one in sys.meta_path if isinstance(one, _FromTexts)), None)
    return {
        path: text
        for path, text in (finder.texts if finder else {}).items()
        if path.partition("/")[0] in homes and path.partition("/")[2].startswith("models")
    }


def names() -> frozenset[str]:
    """The names of all own exercises."""
    finder = next((one for one in sys.meta_path if isinstance(one, _FromTexts)), None)
    if finder is None:
        return frozenset(_on_disk())
    return frozenset(path.partition("/")[0] for path in finder.texts if path.endswith("/cases.py"))


def _on_disk() -> set[str]:
    """The names of exercises that are installed, or are in the classroom around this folder."""
    found = importlib.util.find_spec(PACKAGE)
    homes = list(found.submodule_search_locations or ()) if found else []
    if homes:
        return {path.parent.name for home in homes for path in Path(home).glob("*/cases.py")}
    here = Path.cwd()
    for room in (here, *here.parents):
        if (room / _CLASSROOM).is_file():
            if texts := texts_in(room / FOLDER):
                install(texts)
                return {path.partition("/")[0] for path in texts}
            break
    return set()


_loaded: dict[str, Exercise] = {}


def exercise(name: str) -> Exercise:
    """The own exercise of that name.

    Raises:
        KeyError: there is none.
        TypeError: it was written for version 0.1.
    """
    if name not in names():
        raise KeyError(name)
    if name not in _loaded:
        try:
            _loaded[name] = load_exercise(f"{PACKAGE}.{name}", chapter=name)
        except TypeError as error:
            for argument, sentence in _OLD_ARGUMENTS.items():
                if f"argument '{argument}'" in str(error):
                    raise TypeError(sentence) from error
            raise
    return _loaded[name]
