"""A class graded on a cluster scores the same as on one machine, even if workers are lost."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.classroom.grading.dask import driver
from autograder.classroom.grading.dask.worker import WorkerUnfit, grade_on_worker
from autograder.environment.errors import ClassroomError
from autograder.submission.result import Result
from tests.support import dask_cluster
from tests.support.graded_class import WORTH, grade, grade_alike, hand_all_in, kept, results
from tests.support.numbers import numbers_room
from tests.unit.classroom.grading.test_cluster_alone import NOBODY

pytestmark = [
    pytest.mark.xdist_group("cluster"),
    pytest.mark.filterwarnings("ignore:Object of type.*:sqlalchemy.exc.SAWarning"),  # from nbgrader
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("distributed", reason='needs the extra "cluster"', exc_type=ImportError)
    room = numbers_room.room(tmp_path_factory.mktemp("made"))
    hand_all_in(room)
    return room


@pytest.fixture
def room(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "class"))


@pytest.fixture
def machines(room: Path, tmp_path: Path) -> Iterator[dask_cluster.Cluster]:
    with dask_cluster.running(tmp_path) as found:
        yield found


def after(count: int, do: Callable[[], None]) -> Callable[[Result, int, int], None]:
    """Call `do` after this many submissions."""

    def say(result: Result, done: int, of: int) -> None:
        if done == count:
            do()

    return say


def kill(process: int) -> set[int]:
    """Kill a process at once; return all its descendants."""
    started = dask_cluster.below(process)
    os.kill(process, signal.SIGKILL)
    return started


def alive(processes: set[int]) -> set[int]:
    """The processes that still run, zombies excluded."""
    found = set()
    for process in processes:
        try:
            stat = Path(f"/proc/{process}/stat").read_text()
        except OSError:
            continue
        if stat.rpartition(")")[2].split()[0] not in "ZX":
            found.add(process)
    return found


def test_points_are_those_of_one_machine_though_a_worker_is_killed(
    room: Path, made: Path, machines: dask_cluster.Cluster, tmp_path: Path
) -> None:
    lost = machines.worker("--no-nanny")
    machines.worker()  # with a nanny, and so as a daemon, which must not start processes
    left: set[int] = set()
    summary = grade(
        room, cluster=machines.address, say=after(2, lambda: left.update(kill(lost.pid)))
    )
    assert left  # it was working
    here = grade_alike(made, tmp_path, jobs=1)
    assert {row.student: row.points for row in summary.results} == WORTH
    assert results(summary) == results(here)
    books = [f"sqlite:///{folder / 'gradebook.db'}" for folder in (room, tmp_path / "copy")]
    assert kept(books[0]) == kept(books[1])
    until = time.monotonic() + 20
    while alive(left) and time.monotonic() < until:
        time.sleep(0.2)
    assert not alive(left)  # a killed worker's graders end with it, and so do their notebooks

    # Nothing is left to grade, so no cluster is needed.
    assert not any(row.in_this_run for row in grade(room, cluster=NOBODY).results)


def test_submission_whose_machines_are_lost_is_given_up_and_no_other(
    room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    with dask_cluster.running(tmp_path) as machines:
        lost = machines.worker("--no-nanny")
        machines.worker()
        summary = grade(room, cluster=machines.address, say=after(2, lambda: kill(lost.pid)))
    given_up = {row.student for row in summary.results if "time and again" in " ".join(row.notes)}
    assert 1 <= len(given_up) <= driver.SUBMISSIONS_PER_GRADER
    for row in summary.results:
        assert row.points == (0 if row.student in given_up else WORTH[row.student])
        if row.student in given_up:
            assert row.status == "crashed" and "the same command tries again" in row.notes[0]
    rest = grade(room)
    assert {row.student for row in rest.results if row.in_this_run} == given_up
    assert {row.student: row.points for row in rest.results} == WORTH


def test_scheduler_that_is_lost_stops_the_run_and_costs_nothing(
    room: Path, machines: dask_cluster.Cluster
) -> None:
    machines.worker("--no-nanny")
    with pytest.raises(ClassroomError, match="What is graded is kept"):
        grade(room, cluster=machines.address, say=after(1, lambda: kill(machines.scheduler.pid)))
    rest = grade(room)
    assert 1 <= sum(not row.in_this_run for row in rest.results) < len(WORTH)
    assert {row.student: row.points for row in rest.results} == WORTH


def test_last_worker_that_is_lost_is_missed(
    room: Path, machines: dask_cluster.Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "IDLE_SECONDS", 0.5)
    only = machines.worker("--no-nanny")

    def lose() -> None:
        kill(only.pid)
        monkeypatch.setattr(driver, "NO_WORKERS_SECONDS", 2.0)

    with pytest.raises(ClassroomError, match="has had no workers for 2 seconds.*is kept"):
        grade(room, cluster=machines.address, say=after(1, lose))


@pytest.mark.parametrize("address", [NOBODY, "nobody", "http://127.0.0.1:8786"])
def test_scheduler_that_does_not_answer_is_said(
    room: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "CONNECT_SECONDS", 2.0)
    with pytest.raises(ClassroomError, match=f"No Dask scheduler answers at {address}"):
        grade(room, cluster=address)


def test_scheduler_without_workers_is_said(
    room: Path, machines: dask_cluster.Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "NO_WORKERS_SECONDS", 1.0)
    with pytest.raises(ClassroomError, match="has had no workers for 1 seconds"):
        grade(room, cluster=machines.address)


def test_worker_or_scheduler_without_the_course_is_named(
    room: Path, machines: dask_cluster.Cluster, tmp_path: Path
) -> None:
    (tmp_path / "empty" / "autograder").mkdir(parents=True)
    # If the package were only empty, Python would still find the installed modules.
    missing = "raise ModuleNotFoundError(\"No module named 'autograder'\", name='autograder')\n"
    (tmp_path / "empty" / "autograder" / "__init__.py").write_text(missing)
    machines.worker("--no-nanny", path=str(tmp_path / "empty"))
    with pytest.raises(ClassroomError, match="worker tcp://.*it does not have this course"):
        grade(room, cluster=machines.address)

    (tmp_path / "another").mkdir()
    with dask_cluster.running(tmp_path / "another", str(tmp_path / "empty")) as without:
        with pytest.raises(
            ClassroomError, match="scheduler at tcp://.*it does not have this course"
        ):
            grade(room, cluster=without.address)


def test_worker_with_another_course_is_named(
    room: Path, machines: dask_cluster.Cluster, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(dask_cluster.ROOT / "autograder", other / "autograder")
    with (other / "autograder" / "verdict.py").open("a") as file:
        file.write("# another\n")
    machines.worker("--no-nanny", path=str(other))
    with pytest.raises(ClassroomError, match="worker tcp://.*another version of this course"):
        grade(room, cluster=machines.address)


def test_worker_without_a_box_is_named_and_one_that_comes_later_is_seen_through(
    room: Path, machines: dask_cluster.Cluster, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "from autograder.sandbox import walls\nwalls.why_not = lambda wall: 'no box in here'\n"
    )
    machines.worker("--no-nanny", path=os.pathsep.join([str(tmp_path), str(dask_cluster.ROOT)]))
    with pytest.raises(ClassroomError, match="worker tcp://.*no box in here"):
        grade(room, cluster=machines.address)

    from distributed import Client

    with Client(machines.address, set_as_default=False) as client:
        future = client.submit(grade_on_worker, b"", b"", "an older course", pure=False)
        with pytest.raises(WorkerUnfit, match="worker tcp://.*another version"):
            future.result(timeout=30)
