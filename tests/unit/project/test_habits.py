"""Habits: imported packages are declared, and facts stated twice agree."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from packaging.requirements import Requirement

from autograder.builder.paths import ROOT
from autograder.environment import extras, tried_versions

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]

NOT_IMPORTED = {
    "numpy": "torch converts to it and from it, and its version decides what a card prints",
    "jupyterlab": "`fxcourse lab` starts it as a command",
    "ipykernel": "notebooks run in its kernel",
    "soupsieve": "nbconvert makes pages with it, and a newer one fails on an older Python 3.11",
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
"""The requirements that no file imports, each with its purpose."""


def normal(name: str) -> str:
    """A distribution's name, normalized as in package indexes."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needs(lines: list[str]) -> set[str]:
    """The packages that these lines require; an extra of the course counts as its own lines."""
    found: set[str] = set()
    for requirement in map(Requirement, lines):
        if requirement.name != PROJECT["name"]:
            found.add(normal(requirement.name))
        for extra in requirement.extras if requirement.name == PROJECT["name"] else ():
            found |= needs(EXTRAS[extra])
    return found


BASE = needs(PROJECT["dependencies"])
OPTIONAL = {name: needs(lines) for name, lines in EXTRAS.items()}
EVERY = BASE.union(*OPTIONAL.values())
LEARN, TEACH = BASE | OPTIONAL["learn"], BASE | OPTIONAL["teach"]


@cache
def imported(folder: str) -> dict[str, str]:
    """Each third-party package that a folder imports, with a file that imports it."""
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
    own = {"autograder", "tests", "benchmarks", "hunts", "pictures"}
    return {name: at for name, at in found.items() if name not in own | sys.stdlib_module_names}


@cache
def packages() -> Mapping[str, list[str]]:
    """The distributions that provide each installed package."""
    return metadata.packages_distributions()


@cache
def distributions(folder: str) -> dict[str, set[str]]:
    """For each imported package, the distributions that provide it."""
    known = packages()
    return {name: {normal(brings) for brings in known.get(name, ())} for name in imported(folder)}


def undeclared(folder: str, declared: set[str]) -> list[str]:
    """Packages that a folder imports and these distributions lack, with an importing file."""
    wanted = distributions(folder)
    return [f"{n}: {imported(folder)[n]}" for n, brings in wanted.items() if not brings & declared]


def test_what_the_course_imports_is_declared() -> None:
    without_tests = {name for extra in OPTIONAL if extra != "test" for name in OPTIONAL[extra]}
    assert undeclared("autograder", BASE | without_tests) == []
    assert undeclared("solutions", LEARN) == []


def test_what_the_tests_import_is_declared() -> None:
    for folder in ("tests", "benchmarks", "hunts", "pictures"):
        assert undeclared(folder, BASE | OPTIONAL["test"]) == []


def test_the_tests_can_try_every_extra() -> None:
    for extra, names in OPTIONAL.items():
        assert names <= OPTIONAL["test"], extra
    assert OPTIONAL["learn"] < OPTIONAL["teach"]
    assert OPTIONAL["postgres"] == OPTIONAL["postgresql"]


def test_a_requirement_that_no_file_imports_has_a_reason() -> None:
    folders = ("autograder", "benchmarks", "hunts", "pictures", "solutions", "tests")
    used = {
        name for folder in folders for brings in distributions(folder).values() for name in brings
    }
    assert EVERY - used == set(NOT_IMPORTED)


def test_what_only_the_tests_import_is_not_installed_for_learners() -> None:
    used = {*distributions("autograder"), *distributions("solutions")}
    used = {normal(name) for package in used for name in packages().get(package, ())}
    assert TEACH - used - set(NOT_IMPORTED) == set()


def test_the_message_about_an_extra_names_the_one_that_brings_the_module() -> None:
    """`core.extras` needs a table, because it cannot inspect a missing package."""
    own = {
        extra: needs([line for line in lines if not line.startswith(PROJECT["name"])])
        for extra, lines in EXTRAS.items()
        if extra not in ("test", "postgres")
    }
    spelt = {"PIL": "pillow"}
    told = {
        extra: {normal(spelt.get(module, module)) for module in modules}
        for extra, modules in extras.EXTRAS.items()
    }
    assert told == own


def test_the_jupyter_server_is_one_without_known_holes() -> None:
    (line,) = [line for line in EXTRAS["learn"] if line.startswith("jupyter-server")]
    assert line == "jupyter-server>=2.20"


def test_pages_can_be_made_of_notebooks_with_this_python() -> None:
    """Nbconvert finds images without alt text in this way; see soupsieve in pyproject.toml."""
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


def test_hooks_before_a_commit_use_the_locked_versions() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    needed = {line for hook in hooks for line in hook.get("additional_dependencies", ())}
    assert all("==" in line for line in needed)
    locked = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    ours = {line for line in needed if normal(line.partition("==")[0]) in EVERY}
    assert {line.partition("==")[0] for line in ours} == {"ruff"}
    assert ours <= set(locked)


def test_the_workflow_tries_every_python_that_is_supported() -> None:
    path: Path = ROOT / ".github" / "workflows" / "tests.yml"
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    said = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if " :: Python :: 3." in c]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == said
    assert PROJECT["requires-python"] == f">={said[0]},<3.{int(said[-1].partition('.')[2]) + 1}"
    assert list(tried_versions.tried("python")) == said


@pytest.mark.parametrize(
    ("message", "fits"),
    [
        ("keys: reject bf16 scales in Calibrator\n", True),
        ("12b: show the dtype first\n\nA reader looks there.\n", True),
        ("Merge branch 'speed'\n", True),
        ("keys: Reject bf16 scales\n", False),
        ("Reject bf16 scales\n", False),
        ("keys: reject bf16 scales.\n", False),
        (f"keys: {'x' * 67}\n", False),
    ],
)
def test_a_hook_checks_the_subjects_of_commits(message: str, fits: bool) -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (hook,) = [h for repo in config["repos"] for h in repo["hooks"] if h["id"] == "subject"]
    assert hook["stages"] == ["commit-msg"] and "--negate" in hook["args"]
    assert bool(re.search(hook["entry"], message, re.MULTILINE | re.DOTALL)) is fits
