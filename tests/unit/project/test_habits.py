"""Habits: what is imported is declared, and what is said in two places is the same in both."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

from autograder.builder.paths import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]

NOT_IMPORTED = {
    "numpy": "torch converts to it and from it, and its version decides what a card prints",
    "jupyterlab": "`fxcourse lab` starts it as a command",
    "jupyter-server": "JupyterLab and nbgrader run on it; 2.20 or later, for security",
    "ipykernel": "notebooks run in its kernel",
    "soupsieve": "nbconvert makes pages with it, and what is newest fails on an older Python 3.11",
    "tabulate": "`Graph.print_tabular` imports it",
    "psycopg-binary": "psycopg imports it: PostgreSQL's client library, compiled",
    "pytest-xdist": "`make test` runs pytest with -n",
    "pytest-timeout": "a test that hangs fails, see pyproject.toml",
    "ruff": "`make test` runs it",
    "mypy": "`make test` runs it",
    "import-linter": "`make test` runs it",
    "sphinx": "`fxcourse book` starts it as a command",
    "myst-nb": "Sphinx loads it: docs/conf.py",
    "pydata-sphinx-theme": "Sphinx loads it: docs/conf.py",
}  # fmt: skip
"""The pins that no file imports, each with what it is there for."""


def normal(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lines: list[str]) -> dict[str, str]:
    """Name and version of each pin."""
    return {normal(name): version for name, _, version in (line.partition("==") for line in lines)}


RUNTIME = pins(PROJECT["dependencies"])
OPTIONAL = {name: pins(lines) for name, lines in EXTRAS.items()}
EVERY_PIN = {**RUNTIME, **{k: v for extra in OPTIONAL.values() for k, v in extra.items()}}


@cache
def imported(folder: str) -> dict[str, str]:
    """Each package outside the standard library that a folder imports, and a file that does."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module or ""]
            else:
                continue
            for module in modules:
                found.setdefault(module.partition(".")[0], str(path.relative_to(ROOT)))
    own = {"autograder", "tests", "benchmarks", "hunts"}
    return {name: at for name, at in found.items() if name not in own | sys.stdlib_module_names}


@cache
def packages() -> Mapping[str, list[str]]:
    """The distributions that bring each package: all that is installed is looked through."""
    return metadata.packages_distributions()


@cache
def distributions(folder: str) -> dict[str, set[str]]:
    """For each imported package, the distributions that bring it."""
    known = packages()
    return {name: {normal(brings) for brings in known.get(name, ())} for name in imported(folder)}


def undeclared(folder: str, declared: set[str]) -> list[str]:
    """What a folder imports and these pins do not bring, with a file that imports it."""
    wanted = distributions(folder)
    return [f"{n}: {imported(folder)[n]}" for n, brings in wanted.items() if not brings & declared]


def test_what_the_course_imports_is_declared() -> None:
    without_tests = {name for extra in OPTIONAL if extra != "test" for name in OPTIONAL[extra]}
    assert undeclared("autograder", {*RUNTIME, *without_tests}) == []
    assert undeclared("solutions", {*RUNTIME}) == []


def test_what_the_tests_import_is_declared() -> None:
    assert undeclared("tests", {*RUNTIME, *OPTIONAL["test"]}) == []
    assert undeclared("benchmarks", {*RUNTIME, *OPTIONAL["test"]}) == []
    assert undeclared("hunts", {*RUNTIME, *OPTIONAL["test"]}) == []


def test_the_tests_can_try_every_extra() -> None:
    for extra, needs in OPTIONAL.items():
        assert needs.items() <= OPTIONAL["test"].items(), extra


def test_a_pin_that_nobody_imports_has_a_reason() -> None:
    folders = ("autograder", "benchmarks", "hunts", "solutions", "tests")
    used = {
        name for folder in folders for brings in distributions(folder).values() for name in brings
    }
    assert set(EVERY_PIN) - used == set(NOT_IMPORTED)  # fmt: skip


def test_what_only_the_tests_import_is_not_installed_for_learners() -> None:
    used = {*distributions("autograder"), *distributions("solutions")}
    used = {normal(name) for package in used for name in packages().get(package, ())}
    assert set(RUNTIME) - used - set(NOT_IMPORTED) == set()


def test_the_jupyter_server_is_one_without_known_holes() -> None:
    assert tuple(map(int, RUNTIME["jupyter-server"].split("."))) >= (2, 20)


def test_pages_can_be_made_of_notebooks_with_this_python() -> None:
    """Nbconvert looks for pictures without a text in this way; see the pin of soupsieve."""
    page = BeautifulSoup("<img><img alt='a graph'>", "html.parser")
    assert len(page.select("img:not([alt])")) == 1


def test_the_licenses_are_the_same_everywhere() -> None:
    assert PROJECT["license"] == "BSD-3-Clause AND CC-BY-4.0"
    files = {name: (ROOT / name).read_text(encoding="utf-8") for name in PROJECT["license-files"]}
    assert files["LICENSE"].startswith("BSD 3-Clause License")
    assert "Creative Commons Attribution 4.0 International Public License" in files["LICENSE-TEXT"]
    (author,) = PROJECT["authors"]
    assert all(f"Copyright (c) 2026, {author['name']}" in text for text in files.values())
    assert all(f"]({name})" in (ROOT / "README.md").read_text("utf-8") for name in files)


def test_the_citation_speaks_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == PROJECT["version"]
    assert " AND ".join(citation["license"]) == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]


def test_the_changelog_speaks_of_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[?{re.escape(PROJECT['version'])}\b", text, flags=re.MULTILINE)


def test_the_changelog_counts_what_there_is() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    exercises = [path.parts[-3] for path in ROOT.glob("autograder/exercises/ch*/*/cases.py")]
    main = sum(bool(re.match(r"ch\d\d_", chapter)) for chapter in exercises)
    assert f"Sixteen chapters with {main} exercises" in text
    assert f"Fifteen deep dives with\n  {len(exercises) - main} more" in text
    page = (ROOT / "docs" / "engineers" / "bugs_of_today.md").read_text(encoding="utf-8")
    (bugs,) = re.findall(r"with (\d+) bugs of PyTorch", text)
    assert f"This page lists {bugs} bugs of PyTorch" in page


def test_hooks_before_a_commit_use_the_pins_of_the_project() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    needed = [line for hook in hooks for line in hook.get("additional_dependencies", ())]
    assert all("==" in line for line in needed)
    both = {(name, version) for line in needed for name, version in pins([line]).items()}
    both = {(name, version) for name, version in both if name in EVERY_PIN}
    assert "ruff" in dict(both)
    assert both <= EVERY_PIN.items()


def test_the_workflow_tries_every_python_that_is_supported() -> None:
    path: Path = ROOT / ".github" / "workflows" / "tests.yml"
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    said = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if " :: Python :: 3." in c]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == said
    assert PROJECT["requires-python"] == f">={said[0]},<3.{int(said[-1].partition('.')[2]) + 1}"
