"""An instructor's own exercises: folders beside a classroom, which are imported from their text.

They are the package ``own_exercises``, as ``own_exercises.NAME.cases``. A process that grades is
sent their text and reads no file; one that runs answers is sent the text of what builds models, and
has nothing else of them. In what students are given, the package lies on disk.
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

if TYPE_CHECKING:  # whoever keeps the gradebook needs no PyTorch
    from autograder.core.exercise import Exercise

PACKAGE = "own_exercises"
FOLDER = "exercises"
"""The folder in a classroom."""

PARTS = ("cases.py", "key.py")
"""What a folder must have to be an exercise."""

_CLASSROOM = "nbgrader_config.py"

_RENAMED = {
    "OfChoice": "RecipeOracle", "as_it_is": "no_completion", "look": "advice", "made": "built_by",
    "oracle_alone": "oracle_only", "still": "still_holds",
}  # fmt: skip
"""Names in version 0.1 of what an exercise is written with, and their names now."""


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

    Answers that they are tried with (``answers.py``) are not among them.
    """
    found = {}
    for path in sorted(folder.glob("*/*.py")):
        home = path.parent
        if all((home / part).is_file() for part in PARTS) and path.name != "answers.py":
            found[f"{home.name}/{path.name}"] = path.read_text(encoding="utf-8")
    return found


def install(texts: Mapping[str, str]) -> None:
    """Have the package hold these modules, and no others; what was imported of it is dropped."""
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, _FromTexts)]
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
    if texts:
        sys.meta_path.insert(0, _FromTexts(texts))


def texts_for_answers(modules: Sequence[str]) -> dict[str, str]:
    """The texts that a process needs which builds models of these modules, and no others.

    Args:
        modules: names of modules; those of other packages do not count.
    """
    homes = {name.split(".")[1] for name in modules if name.startswith(f"{PACKAGE}.")}
    finder = next((one for one in sys.meta_path if isinstance(one, _FromTexts)), None)
    return {
        path: text
        for path, text in (finder.texts if finder else {}).items()
        if path.partition("/")[0] in homes and path.partition("/")[2].startswith("models")
    }


def names() -> frozenset[str]:
    """The names of the own exercises that there are."""
    finder = next((one for one in sys.meta_path if isinstance(one, _FromTexts)), None)
    if finder is None:
        return frozenset(_on_disk())
    return frozenset(path.partition("/")[0] for path in finder.texts if path.endswith("/cases.py"))


def _on_disk() -> set[str]:
    """Those that are installed, as students have them, or in the classroom that one works in."""
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


def exercise(name: str) -> Exercise:
    """The own exercise of that name.

    Raises:
        KeyError: there is none.
        TypeError: it was written for version 0.1.
    """
    if name not in names():
        raise KeyError(name)
    try:
        found: Exercise = importlib.import_module(f"{PACKAGE}.{name}.cases").EXERCISE
    except TypeError as error:
        if "argument 'procedure'" not in str(error):
            raise
        raise TypeError("procedure=… of an Exercise is now kind=…") from error
    return found
