"""Settings of all tests: the choice of suites, the environment, and totals at the end of a run."""

from __future__ import annotations

import difflib
import gc
import itertools
import logging
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from autograder.speed.imports import faster_imports

with faster_imports():
    import nbformat  # noqa: F401

# Set before torch is imported, because the tests already use every core.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A test does not use the workspace and the record of whoever runs it.
os.environ["FXCOURSE_WORKSPACE"] = ""
_RECORDS = Path(tempfile.gettempdir()) / f"fxcourse-tests-{os.getpid()}"
_NUMBERS = itertools.count()
os.environ["XDG_STATE_HOME"] = str(_RECORDS / "none")

# The tests have their own list of notebooks that JupyterLab trusts.
os.environ["JUPYTER_DATA_DIR"] = str(Path(tempfile.gettempdir()) / "fxcourse-tests-jupyter")

# nbgrader runs the command `alembic`, even if the environment is not activated.
os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]

_TOTAL = "total: "
_PRINTED = "printed: "

# ------------------------------------------------------------------ suites

HERE = Path(__file__).parent

QUICK, ALL, BROWSER, LONG = SUITES = ("quick", "all", "browser", "long")
"""`make test` runs the first suite, `make test-all` the first two; each other one has a command."""

SUITE_OF = {
    "browser": BROWSER,
    "bugs": ALL,
    "chapters": ALL,
    "checks": QUICK,
    "checks/thorough": ALL,
    "class_of_three": QUICK,
    "exercises": QUICK,
    "hand_ins": ALL,
    "hub": LONG,
    "installed": ALL,
    "questions": ALL,
    "security": ALL,
    "tutorials": ALL,
    "unit": QUICK,
    "unit/book": ALL,
    "unit/boxed": ALL,
    "unit/classroom": ALL,
    "unit/classroom/lateness/policies": QUICK,
    "unit/cli": ALL,
    "unit/drawing": ALL,
    "unit/hunt": ALL,
    "unit/sandbox": ALL,
    "unit/speed": ALL,
}
"""The suite of each folder; the deepest folder in this table decides.

In any folder, the subfolder `long` contains tests that take minutes."""

FIRST = ("class_of_three", "chapters", "installed", "tutorials", "unit/sandbox")
"""Folders with long single tests; they start first, so that a run does not end with one."""

ABOUT_EXERCISES = ("checks", "chapters", "exercises", "unit/builder", "unit/lessons")
"""Folders with tests about one exercise or chapter, from which ``--only`` chooses."""


def suite_of(path: Path) -> str:
    """The suite that a test file belongs to, by its folder."""
    folder = path.parent.relative_to(HERE)
    for each in (folder, *folder.parents):
        if each.name == "long":
            return LONG
        if each.as_posix() in SUITE_OF:
            return SUITE_OF[each.as_posix()]
    raise pytest.UsageError(f"tests/conftest.py does not say which suite {path} belongs to.")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that `make test` and its like use."""
    group = parser.getgroup("the course")
    group.addoption("--suite", action="append", choices=SUITES, help="run only this suite")
    group.addoption("--only", metavar="NAME", help="run only what is about an exercise or chapter")
    group.addoption("--left-out", metavar="FILE", help="note here what was left out, and why")


def _suites(config: pytest.Config) -> set[str]:
    """The suites to run: the requested ones; by default the quick one, unless a path is given."""
    if config.getoption("only"):
        return {QUICK, ALL}
    if chosen := config.getoption("suite"):
        return set(chosen)
    return {QUICK} if config.args_source is config.ArgsSource.TESTPATHS else set(SUITES)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of other suites: importing them takes time."""
    if not collection_path.name.startswith("test_") or collection_path.suffix != ".py":
        return None
    folder = collection_path.parent.relative_to(HERE).as_posix()
    if config.getoption("only") and not folder.startswith(ABOUT_EXERCISES):
        return True
    return True if suite_of(collection_path) not in _suites(config) else None


def _wanted(name: str) -> set[str]:
    """The exercises and chapters that ``--only NAME`` requests, as names of folders."""
    home = HERE.parent / "autograder" / "exercises"
    chapters = {path.name.removeprefix("ch"): path for path in home.glob("ch*")}
    exercises = {path.parent.name for path in home.glob("ch*/*/cases.py")}
    if name in exercises:
        return {name}
    for chapter, folder in chapters.items():
        if name in (chapter, chapter.partition("_")[0]):
            return {chapter, *(path.parent.name for path in folder.glob("*/cases.py"))}
    close = difflib.get_close_matches(name, [*exercises, *chapters], 3, 0.5)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise pytest.UsageError(f"There is no exercise and no chapter called {name!r}.{hint}")


def pytest_configure(config: pytest.Config) -> None:
    """Reject an unknown name before any process starts."""
    if name := config.getoption("only"):
        _wanted(name)


def _about(item: pytest.Item) -> set[str]:
    """The names of a test's parameters and folders; for a path, the file's name."""
    values = getattr(getattr(item, "callspec", None), "params", {}).values()
    folders = item.path.parent.relative_to(HERE).parts
    own = {part.removeprefix("ch") for part in folders[1:] if folders[0] == "exercises"}
    return own | {value.stem if isinstance(value, Path) else str(value) for value in values}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose the tests of ``--only``; run tests that share expensive data in one process.

    Groups of the same size start in the order in which they were collected.
    """
    if name := config.getoption("only"):
        wanted = _wanted(name)
        others = [item for item in items if not _about(item) & wanted]
        items[:] = [item for item in items if _about(item) & wanted]
        config.hook.pytest_deselected(items=others)
    for item in items:
        if not item.get_closest_marker("xdist_group") and (group := _shares_with(item)):
            item.add_marker(pytest.mark.xdist_group(group))
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: not _folder_of(item).startswith(FIRST))


def _folder_of(item: pytest.Item) -> str:
    return item.path.parent.relative_to(HERE).as_posix()


# ------------------------------------------------------------------ processes of a run


def _shares_with(item: pytest.Item) -> str:
    """The exercise of a test's parameter `name` or folder; else a folder with shared fixtures.

    The folder counts if a fixture is created once per file.
    """
    exercises = getattr(sys.modules.get("autograder.exercises"), "EXERCISES", {})
    name = getattr(getattr(item, "callspec", None), "params", {}).get("name")
    for each in (name, item.path.parent.name):
        if isinstance(each, str) and each in exercises:
            return each
    info = getattr(item, "_fixtureinfo", None)
    made = info.name2fixturedefs.values() if info else ()
    return item.path.parent.name if any(one[-1].scope == "module" for one in made) else ""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Disable garbage collection while tests are imported, then freeze two million objects.

    If the collector visited these objects, it would run so rarely that thousands of graph module
    classes stay alive. Each trace visits all of these classes, and would take twice as long.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_finish() -> None:
    """Keep pytest's handlers out of Dynamo's log, after all imports."""
    _write_no_trace()


def _write_no_trace() -> None:
    """Keep pytest's handlers out of the log to which Dynamo writes whole graphs.

    With each handler that pytest adds, every compilation takes several times as long.
    """
    trace = logging.getLogger("torch.__trace")
    trace.handlers.clear()
    trace.addHandler = lambda handler: None  # type: ignore[method-assign]


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process more than cores, or two if classes are graded: those tests often wait."""
    return (os.cpu_count() or 1) + (2 if ALL in _suites(config) else 1)


@pytest.fixture(autouse=True)
def _own_record() -> None:
    """Give each test an empty record of progress. The folder is made when something is recorded."""
    os.environ["XDG_STATE_HOME"] = str(_RECORDS / str(next(_NUMBERS)))


def pytest_unconfigure() -> None:
    """Remove the records."""
    shutil.rmtree(_RECORDS, ignore_errors=True)


@pytest.fixture
def total(record_property: Callable[[str, object], None]) -> Callable[[str, int], None]:
    """Count something for the totals that are printed after all tests.

    ``total("right answers that pass", 5)`` adds 5 to a line with this label. The numbers of all
    tests and all worker processes are added up.
    """

    def count(label: str, number: int = 1) -> None:
        record_property(_TOTAL + label, number)

    return count


@pytest.fixture
def printed(record_property: Callable[[str, object], None]) -> Callable[[str, str], None]:
    """Print a text after all tests: ``printed("a title", text)``."""

    def say(title: str, text: str) -> None:
        record_property(_PRINTED + title, text)

    return say


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name a test when it fails, because an interrupted run shows no summary."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nFAILED {report.nodeid}", flush=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the totals, and the texts from `printed`."""
    totals: Counter[str] = Counter()
    texts: dict[str, str] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") != "call":
                continue
            for key, number in report.user_properties:
                if key.startswith(_TOTAL):
                    totals[key.removeprefix(_TOTAL)] += number
                elif key.startswith(_PRINTED):
                    texts[key.removeprefix(_PRINTED)] = number
    for title, text in sorted(texts.items()):
        terminalreporter.section(title)
        terminalreporter.write_line(text)
    _write_left_out(terminalreporter)
    if totals:
        terminalreporter.section("totals")
        for label, number in sorted(totals.items()):
            terminalreporter.write_line(f"{number:6}  {label}")


def _write_left_out(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the reasons for skipped tests, for the last lines of `make test`."""
    if not (file := terminalreporter.config.getoption("left_out")):
        return
    skipped = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
    )
    lines = [f"Left out: {count} tests: {why}\n" for why, count in sorted(skipped.items())]
    Path(file).write_text("".join(lines), encoding="utf-8")
