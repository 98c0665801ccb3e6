"""What all tests share: an environment as `make test` has it, and totals at the end of a run."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from autograder.core.quick_imports import quick_imports

with quick_imports():
    import nbformat  # noqa: F401

# Before anything imports torch: the tests already use every core.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# What a test notes of a learner goes into the test's own folder, also where there is a workspace.
os.environ["FXCOURSE_WORKSPACE"] = ""

# nbgrader calls the command `alembic`, also where the environment is not activated.
os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]

_TOTAL = "total: "
_PRINTED = "printed: "


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have one process take tests that share what takes a while, and have it once.

    Of groups of one size, the first come first: so what is slow must not be the last one.
    """
    for item in items:
        if not item.get_closest_marker("xdist_group") and (group := _shares_with(item)):
            item.add_marker(pytest.mark.xdist_group(group))
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def _shares_with(item: pytest.Item) -> str:
    """The exercise that is a test's parameter `name`; or its folder, if a file makes something."""
    exercises = getattr(sys.modules.get("autograder.exercises"), "EXERCISES", {})
    name = getattr(getattr(item, "callspec", None), "params", {}).get("name")
    if isinstance(name, str) and name in exercises:
        return name
    info = getattr(item, "_fixtureinfo", None)
    made = info.name2fixturedefs.values() if info else ()
    return item.path.parent.name if any(one[-1].scope == "module" for one in made) else ""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage in what is imported and collected: two million objects, which stay.

    Looked at again and again, they would have Python collect so rarely that thousands of classes of
    graph modules are alive, and each trace takes twice as long: it walks all of them.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_finish() -> None:
    """Keep pytest out of Dynamo's log, now that all is imported."""
    _write_no_trace()


def _write_no_trace() -> None:
    """Keep pytest from the log in which Dynamo writes whole graphs, if anybody listens.

    With each handler that pytest adds, every compilation takes several times as long.
    """
    trace = logging.getLogger("torch.__trace")
    trace.handlers.clear()
    trace.addHandler = lambda handler: None  # type: ignore[method-assign]


def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: tests of classes spend much of their time waiting."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture
def total(record_property: Callable[[str, object], None]) -> Callable[[str, int], None]:
    """Count something for the totals that are printed when all tests have run.

    ``total("right answers that pass", 5)`` adds 5 to a line with this label. The numbers of
    all tests and all worker processes are added up.
    """

    def count(label: str, number: int = 1) -> None:
        record_property(_TOTAL + label, number)

    return count


@pytest.fixture
def printed(record_property: Callable[[str, object], None]) -> Callable[[str, str], None]:
    """Say something when all tests have run: ``printed("a title", text)``."""

    def say(title: str, text: str) -> None:
        record_property(_PRINTED + title, text)

    return say


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name a test when it fails: a run that is cut short shows no summary."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nFAILED {report.nodeid}", flush=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the totals, and what tests had to say."""
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
    if totals:
        terminalreporter.section("totals")
        for label, number in sorted(totals.items()):
            terminalreporter.write_line(f"{number:6}  {label}")
