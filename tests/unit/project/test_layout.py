"""The map of the repository is correct: its entries exist, and no package is missing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from autograder.builder.paths import ROOT
from autograder.new_exercise.templates import REPLACE

PAGE = ROOT / "docs" / "contributing" / "architecture.md"
MAP = PAGE.read_text(encoding="utf-8").split("```")[1]
_ENTRY = re.compile(r"^( *)([\w./*, -]+?)(?:  +|$)")


def _entries() -> list[tuple[int, Path]]:
    """The names at the start of the map's lines, each with its indentation."""
    found: list[tuple[int, Path]] = []
    folders: list[tuple[int, Path]] = [(-1, ROOT)]
    for line in MAP.strip("\n").splitlines():
        entry = _ENTRY.match(line)
        if entry is None or len(entry[1]) > 4:
            continue  # continues the description above
        while folders[-1][0] >= len(entry[1]):
            folders.pop()
        for name in entry[2].split(", "):
            path = folders[-1][1] / name.strip()
            found.append((len(entry[1]), path))
        if entry[2].endswith("/"):
            folders.append((len(entry[1]), found[-1][1]))
    return found


def test_what_the_map_names_exists() -> None:
    entries = _entries()
    assert len(entries) > 50
    missing = [
        str(path.relative_to(ROOT))
        for _, path in entries
        if not (path.exists() or path.with_suffix(".py").exists())
    ]
    assert missing == []


def test_no_package_is_missing_on_the_map() -> None:
    packages = {path.parent for path in (ROOT / "autograder").glob("*/__init__.py")}
    named = {path for _, path in _entries()}
    assert {package.name for package in packages - named} == set()


def test_each_folder_of_unit_tests_is_about_a_package() -> None:
    folders = {path.name for path in (ROOT / "tests" / "unit").iterdir() if path.is_dir()}
    packages = {path.name for path in (ROOT / "autograder").iterdir() if path.is_dir()}
    # "project" contains tests of the repository itself.
    assert folders - packages - {"__pycache__"} == {"project"}
    assert [path.name for path in (ROOT / "tests").glob("test_*.py")] == []


ONE_KIND = {"autograder", "exercises", "kinds", "lessons"}
"""Folders of similar entries: packages, exercises, answer kinds, texts of chapters."""


def test_no_folder_is_a_heap() -> None:
    folders = [path for path in (ROOT / "autograder").rglob("*") if path.is_dir()]
    sizes = {
        str(folder.relative_to(ROOT)): sum(path.name != "__pycache__" for path in folder.iterdir())
        for folder in folders
        if folder.name not in {*ONE_KIND, "__pycache__"}
    }
    assert {name: size for name, size in sizes.items() if size > 25} == {}
    assert len(list((ROOT / "autograder").glob("*.py"))) <= 6


# ------------------------------------------------------------------ exercises

SECRET = re.compile(
    r"autograder\.(judge|rules|grading|builder|classroom|submission|fuzz\.random_models|api)\b"
    r"|autograder\.authoring\.(question|key)$|autograder\.exercises\..*\.(cases|redraws|keys?)\w*$"
)
"""Modules that know expected results, or import such modules."""

EXERCISES = ROOT / "autograder" / "exercises"


def _name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _modules() -> dict[str, Path]:
    return {_name_of(path): path for path in (ROOT / "autograder").rglob("*.py")}


@cache
def _imports(name: str) -> frozenset[str]:
    """The modules of the course that a module imports anywhere in its text."""
    found = set()
    tree = ast.parse(_modules()[name].read_text(encoding="utf-8"))
    for_types = [node for node in tree.body if isinstance(node, ast.If)]  # `if TYPE_CHECKING:`
    tree.body = [node for node in tree.body if node not in for_types]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found & _modules().keys())


def _reached(name: str) -> Iterator[str]:
    seen, waiting = {name}, [name]
    while waiting:
        new = _imports(waiting.pop()) - seen
        seen |= new
        waiting += new
        yield from new


def test_models_lead_to_nothing_that_says_what_must_come_out() -> None:
    """Processes that run students' code import these models."""
    models = [_name_of(path) for path in EXERCISES.rglob("models*.py")]
    assert len(models) > 20
    bad = {name: sorted(filter(SECRET.match, _reached(name))) for name in models}
    assert {name: found for name, found in bad.items() if found} == {}


def test_questions_do_not_lead_to_their_keys() -> None:
    files = (*EXERCISES.rglob("cases*.py"), *EXERCISES.rglob("redraws.py"))
    cases = [_name_of(path) for path in files]
    assert len(cases) > 20
    keys = re.compile(r"autograder\.(judge|rules|authoring\.key)\b|.*\.keys?\w*$")
    bad = {name: sorted(filter(keys.match, _reached(name))) for name in cases}
    assert {name: found for name, found in bad.items() if found} == {}


def test_an_exercise_is_a_folder() -> None:
    for chapter in EXERCISES.glob("ch*"):
        for folder in filter(Path.is_dir, chapter.iterdir()):
            if folder.name == "__pycache__":
                continue
            names = {path.name for path in folder.iterdir() if path.is_file()}
            assert {"__init__.py", "cases.py", "key.py"} <= names, folder.name
            text = (folder / "__init__.py").read_text(encoding="utf-8")
            assert len(ast.parse(text).body) == 1, f"{folder.name}: only a docstring"


TEXTS = {".py", ".toml", ".md"}
"""The suffixes of the files that a new exercise is written into."""


def test_nothing_of_a_template_is_left() -> None:
    folders = (EXERCISES, ROOT / "tests" / "exercises", ROOT / "solutions")
    files = [path for folder in folders for path in folder.rglob("*.*") if path.suffix in TEXTS]
    assert len(files) > 500
    left = [path for path in files if re.search(rf"\b{REPLACE}\b", path.read_text("utf-8"))]
    assert left == [], "replace the lines that fxcourse new-exercise has written"


def test_the_tests_of_an_exercise_are_in_a_folder_of_the_same_name() -> None:
    tests = ROOT / "tests" / "exercises"
    folders = {path.parent.relative_to(EXERCISES) for path in EXERCISES.glob("ch*/*/cases.py")}
    for name in ("answers.py", "clauses.toml"):
        assert {path.parent.relative_to(tests) for path in tests.glob(f"ch*/*/{name}")} == folders
