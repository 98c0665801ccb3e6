"""The sandbox made by Landlock: what it hides, what it leaves, and what it counts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox import landlock, namespaces, temp_dirs
from autograder.sandbox.client import ProcessLost
from autograder.sandbox.processes import Descendants
from autograder.sandbox.resource_limits import MIB, Bounds
from autograder.sandbox.walls import AUTO, NoBox, Wall, choose, why_not
from autograder.sandbox.wire import MAX_OUTPUTS
from tests.support.notebook_boxes import Notebooks

BOUNDS = Bounds(memory=512 * MIB, disk=8 * MIB, processes=32, cpu=60.0, wall=60.0)
ROOT = Path(__file__).parents[3]

needs_landlock = pytest.mark.skipif(
    why_not(Wall.LANDLOCK) is not None, reason=str(why_not(Wall.LANDLOCK))
)


@pytest.fixture(scope="module")
def warm() -> Iterator[Notebooks]:
    source = Notebooks(BOUNDS, wall=Wall.LANDLOCK)
    yield source
    source.close()


def shown(source: Notebooks, cell: str) -> str:
    """Run a cell in a process of its own; return what it prints, or its error."""
    notebook = source.notebook()
    try:
        step = {"do": "run", "source": cell, "cpu": 20.0, "wall": 20.0}
        head, _ = notebook.step(step, patience=60.0, largest=MAX_OUTPUTS)
    finally:
        notebook.close()
    return "".join(
        out.get("text") or f"{out['ename']}: {out['evalue']}" for out in head["outputs"]
    ).strip()


SECRET = ROOT / "pyproject.toml"

OUTSIDE = {
    "a file": f"open({str(SECRET)!r}).read()",
    "the course": f"open({namespaces.COURSE + '/api.py'!r}).read()",
    "a list of files": f"import os; os.listdir({str(ROOT)!r})",
    "the temporary files": "import os; os.listdir('/tmp')",
    "a new file": "open('/tmp/fxcourse-new', 'w')",
    "a link to a file": f"import os; os.link({str(SECRET)!r}, 'here')",
    "a link that leads there": f"import os; os.symlink({str(SECRET)!r}, 's'); open('s').read()",
    "processes": "import os; os.listdir('/proc')",
    "its supervisor": "import os; os.kill(os.getppid(), 9)",
    "process 1": "import os; os.kill(1, 0)",
    "limits of another": "import os, resource; resource.prlimit(os.getppid(), 7, (9, 9))",
    "processors of another": "import os; os.sched_setaffinity(os.getppid(), {0})",
    "a socket with an address": "import socket; socket.socket(socket.AF_UNIX)",
    "the internet": "import socket; socket.create_connection(('10.0.0.1', 80), 2)",
    "messages to any address": "import socket as s; s.socketpair(s.AF_UNIX, s.SOCK_DGRAM)",
}


@needs_landlock
@pytest.mark.parametrize("what", OUTSIDE)
def test_what_is_outside_cannot_be_reached(what: str, warm: Notebooks) -> None:
    said = shown(warm, OUTSIDE[what])
    # 18 is Landlock's answer to a link, and 101 says that there is no network.
    assert said.startswith(("PermissionError: ", "OSError: [Errno 18]", "OSError: [Errno 101]")), (
        said
    )


@needs_landlock
def test_the_owner_of_a_file_cannot_change_its_mode_or_times(
    warm: Notebooks, tmp_path: Path
) -> None:
    """Landlock does not restrict these, so the filter of system calls must."""
    file = tmp_path / "grades"
    file.write_text("18")
    tmp_path.chmod(0o755)
    file.chmod(0o666)
    before = file.stat()
    shown(warm, f"import os; os.chmod({str(file)!r}, 0); os.utime({str(file)!r}, (0, 0))")
    after = file.stat()
    assert (before.st_mode, before.st_mtime) == (after.st_mode, after.st_mtime)


@needs_landlock
def test_files_of_its_own_are_there(warm: Notebooks) -> None:
    cell = (
        "import os, shutil, tempfile\n"
        "with tempfile.NamedTemporaryFile() as f: f.write(b'abc'); f.flush()\n"
        "open('a', 'w').write('x'); shutil.copy2('a', 'b'); os.rename('b', 'c'); os.mkdir('d')\n"
        "print(sorted(os.listdir()), os.environ['HOME'] == os.getcwd())"
    )
    assert shown(warm, cell) == "['a', 'c', 'd'] True"


@needs_landlock
@pytest.mark.parametrize(
    "cell",
    [
        "for i in range(99): open(f'{i}', 'wb').write(bytes(2**20))\nimport time; time.sleep(9)",
        "import os, time\nfiles = []\n"
        "for i in range(99):\n"
        "    files.append(open('f', 'wb')); files[-1].write(bytes(2**20)); files[-1].flush()\n"
        "    os.unlink('f')\ntime.sleep(9)",
        "import os, time\n"
        "for i in range(3000): os.mkdir('d'); os.chdir('d')\ntime.sleep(9)",
        "import os, time\nos.umask(0o777); os.mkdir('d')\ntime.sleep(9)",
    ],
    ids=["large files", "deleted files", "deep folders", "unreadable folders"],
)  # fmt: skip
def test_too_many_files_end_the_process(cell: str, warm: Notebooks) -> None:
    with pytest.raises(ProcessLost, match="out of disk space"):
        shown(warm, cell)
    for _ in range(100):
        if not _scratch_folders(warm):
            break
        time.sleep(0.1)
    assert not _scratch_folders(warm)


def _scratch_folders(source: Notebooks) -> list[Path]:
    """The folders of the fork server's sandboxes."""
    found = [*Path("/tmp").glob("fxcourse-box-*"), *temp_dirs.home().glob("warm-*/box-*")]
    alive = (Path(f"/proc/{path.name.split('box-')[1].split('-')[0]}/status") for path in found)
    parents = [path.read_text() if path.exists() else f"PPid:\t{source.pid}\n" for path in alive]
    ours = (f"PPid:\t{source.pid}\n" in text for text in parents)
    return [path for path, own in zip(found, ours, strict=True) if own]


DETACHED = """
import os, time
if os.fork() == 0:
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "4242.5"])
    os._exit(0)
os.wait(); time.sleep(0.3); print("started")
"""


@needs_landlock
def test_processes_that_detach_themselves_are_ended(warm: Notebooks) -> None:
    assert shown(warm, DETACHED) == "started"
    until = time.monotonic() + 10
    while time.monotonic() < until and _sleepers():
        time.sleep(0.1)
    assert not _sleepers()


@needs_landlock
def test_they_are_ended_with_the_fork_server() -> None:
    source = Notebooks(BOUNDS, wall=Wall.LANDLOCK)
    notebook = source.notebook()
    step = {"do": "run", "source": DETACHED, "cpu": 20.0, "wall": 20.0}
    notebook.step(step, patience=60.0, largest=MAX_OUTPUTS)
    assert _sleepers()
    os.kill(source.pid, 9)
    until = time.monotonic() + 10
    while time.monotonic() < until and _sleepers():
        time.sleep(0.1)
    assert not _sleepers()
    source.close()


def _sleepers() -> list[str]:
    done = subprocess.run(["pgrep", "-f", "sleep 4242.5"], capture_output=True, text=True)
    return done.stdout.split()


@needs_landlock
def test_a_claimed_number_ends_no_process_outside(warm: Notebooks) -> None:
    """A student's process names the processes to end: only its own are ended."""
    notebook, other = warm.notebook(), subprocess.Popen(["sleep", "60"])
    try:
        notebook.end_one(other.pid)
        step = {"do": "run", "source": "print(1)", "cpu": 5.0, "wall": 5.0}
        notebook.step(step, patience=30.0, largest=MAX_OUTPUTS)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
        notebook.close()


# ------------------------------------------------------------------ rules


def test_a_covered_folder_gets_no_rule_and_its_neighbours_each_have_one(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "site-packages"
    for name in ("torch", "course", "numpy"):
        (packages / name).mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    plan = namespaces.Plan("/scratch", (str(tmp_path),), (str(packages / "course"),), 1)
    rules = landlock._rules(plan)
    only_listed = {path for path, access in rules.items() if access == landlock._LIST}
    assert only_listed == {str(tmp_path), str(tmp_path / "lib"), str(packages)}
    readable = {path for path, access in rules.items() if access & landlock._EXECUTE}
    assert readable >= {str(packages / "torch"), str(packages / "numpy"), str(tmp_path / "bin")}
    assert str(packages / "course") not in rules


@needs_landlock
def test_a_course_among_other_packages_cannot_be_read(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    (packages / "course").mkdir(parents=True)
    (packages / "course" / "key.py").write_text("answer = 42")
    (packages / "other.py").write_text("value = 1")
    code = (
        "import os, sys; from autograder.sandbox import landlock, namespaces, syscalls\n"
        "here = sys.argv[1]\n"
        "plan = namespaces.Plan(sys.argv[2], (here,), (here + '/course',), 1)\n"
        "syscalls.set_no_new_privs(); landlock.close_in(plan)\n"
        "print(open(here + '/other.py').read(), sorted(os.listdir(here)))\n"
        "try: open(here + '/course/key.py')\nexcept PermissionError: print('refused')"
    )
    words = [sys.executable, "-c", code, str(packages), str(tmp_path)]
    (tmp_path / "scratch").mkdir()
    words[-1] = str(tmp_path / "scratch")
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.split("\n")[:2] == ["value = 1 ['course', 'other.py']", "refused"], done


def test_descendants_are_found_at_any_depth() -> None:
    shell = subprocess.Popen(["sh", "-c", "sleep 50 & sh -c 'sleep 50 & wait' & wait"])
    try:
        until = time.monotonic() + 10
        while time.monotonic() < until and len(Descendants(shell.pid).found()) < 3:
            time.sleep(0.05)
        assert len(Descendants(shell.pid).found()) == 3
        assert shell.pid in Descendants(os.getpid()).found()
    finally:
        for process in [*Descendants(shell.pid).found(), shell.pid]:
            os.kill(process, 9)
        shell.wait()


# ------------------------------------------------------------------ the choice


@pytest.mark.parametrize(
    ("setting", "missing", "chosen"),
    [
        (AUTO, (), Wall.NAMESPACES),
        (AUTO, (Wall.NAMESPACES,), Wall.LANDLOCK),
        ("landlock", (), Wall.LANDLOCK),
        ("none", tuple(Wall), Wall.NONE),
    ],
)
def test_the_strongest_wall_is_taken_unless_one_is_named(
    setting: str, missing: tuple[Wall, ...], chosen: Wall, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = lambda wall: "it is forbidden" if wall in missing else None  # noqa: E731
    monkeypatch.setattr("autograder.sandbox.walls.why_not", reasons)
    assert choose(setting) is chosen


@pytest.mark.skipif(sys.platform != "linux", reason="the message differs")
def test_a_machine_without_a_wall_stops_with_a_reason_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("autograder.sandbox.walls.why_not", lambda wall: f"no {wall} here")
    with pytest.raises(NoBox) as caught:
        choose(AUTO)
    said = str(caught.value)
    assert "namespaces: no namespaces here. landlock: no landlock here." in said


def test_an_older_landlock_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.sandbox.syscalls.landlock_version", lambda: 4)
    assert landlock.why_not() == (
        "this kernel has version 4 of Landlock, and 6 is needed (Linux 6.12)"
    )
