"""A campus: a JupyterHub with environments for students and instructors, as the folder says.

The environments have the packages of this Python, and the wheels of the folder. All servers run as
the current user, each with a home folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import venv
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from autograder.builder import source_notebook
from autograder.builder.paths import ROOT
from autograder.environment import extras
from autograder.sandbox.walls import why_no_box
from tests.browser.desk import CHROMIUM

PROXY = shutil.which(
    "configurable-http-proxy",
    path=os.pathsep.join([os.environ["PATH"], str(ROOT / "build" / "hub/node_modules/.bin")]),
)
HOW_TO_GET_A_PROXY = "npm install --prefix build/hub configurable-http-proxy"
PASSWORD = "campus"
START_SECONDS = 180

NEEDED = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(
        not extras.is_installed("jupyterhub"), reason="no JupyterHub here: pip install jupyterhub"
    ),
    pytest.mark.skipif(PROXY is None, reason=f"no proxy of JupyterHub: {HOW_TO_GET_A_PROXY}"),
    pytest.mark.skipif(why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"),
    pytest.mark.timeout(5400),
]
"""Marks of tests that need a Hub."""

_CONFIG = """\
c = get_config()
c.JupyterHub.ip = "127.0.0.1"
c.JupyterHub.port = {port}
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.cookie_secret_file = "{home}/cookie_secret"
c.JupyterHub.db_url = "sqlite:///{home}/hub.sqlite"
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = "{password}"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "jupyterhub.spawner.SimpleLocalProcessSpawner"
c.SimpleLocalProcessSpawner.home_dir_template = "{home}/users/{{username}}"
c.Spawner.args = ["--allow-root"]
c.ConfigurableHTTPProxy.command = ["{proxy}"]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api_port}"
c.ConfigurableHTTPProxy.pid_file = "{home}/proxy.pid"
load_subconfig("{folder}/jupyterhub_config.d/{course}.py")
"""
"""The settings of any Hub: users, servers, a proxy; and the line that loads those of a class."""

_SCRIPTS = {
    "jupyterhub-singleuser": "from jupyterhub.singleuser import main",
    "nbgrader": "from nbgrader.apps.nbgraderapp import main",
    "alembic": "from alembic.config import main",
}


_NOT_LINKED = ("__", "fxcourse", "autograder")


def fxcourse(*words: str | Path) -> str:
    """Run a command of the course as the person does who makes the class."""
    run = subprocess.run(
        [sys.executable, "-m", "autograder.cli", *map(str, words)],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def solutions_of(chapter: str) -> dict[str, str]:
    """The solutions of a chapter, by answer cell."""
    return {
        cell.metadata.nbgrader.grade_id: re.sub(r"(?m)^ *### .*\n?", "", cell.source).rstrip()
        for cell in source_notebook(ROOT / "solutions" / f"{chapter}.py").cells
        if "nbgrader" in cell.metadata and cell.metadata.nbgrader.solution
    }


def packages_of(module: str) -> Path:
    """The folder of packages that a module is installed in."""
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None, module
    return Path(spec.origin).parents[1]


def make_environment(folder: Path) -> Path:
    """Make the environment of a role, with the wheel in its folder; return the folder of commands.

    The packages of the requirements are those of this Python. The course is not: it has the wheel.
    """
    home = folder / "env"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    (wheel,) = folder.glob("*.whl")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps"]
    subprocess.run([*command, "--no-index", str(wheel)], check=True)
    sources = [packages_of("jupyterhub"), packages_of("nbgrader")]
    (packages,) = home.glob("lib/python*/site-packages")
    for source in sources:
        prefix = source.parents[2]
        for path in (*prefix.glob("share/*"), *prefix.glob("etc/*")):
            _link(home / path.relative_to(prefix), path)
        for path in source.iterdir():
            if not path.name.startswith(_NOT_LINKED) and path.suffix != ".pth":
                _link(packages / path.name, path)
    for name, line in _SCRIPTS.items():
        script = python.with_name(name)
        script.write_text(f"#!{python}\nimport sys\n{line}\nsys.exit(main())\n")
        script.chmod(0o755)
    return python.parent


def _link(link: Path, path: Path) -> None:
    """Make a link, as uv does in an environment, unless something has the name."""
    link.parent.mkdir(exist_ok=True)
    if not link.exists():
        link.symlink_to(path)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running_hub(home: Path, folder: Path, course: str) -> Iterator[str]:
    """Run a JupyterHub with the settings in a folder; yield its address."""
    port = _free_port()
    users = home / "users"
    users.mkdir(exist_ok=True)
    config = home / "jupyterhub_config.py"
    config.write_text(
        _CONFIG.format(
            port=port, hub_port=_free_port(), api_port=_free_port(), home=home, proxy=PROXY,
            folder=folder, course=course, password=PASSWORD,
        )
    )  # fmt: skip
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH",)}
    environment |= {"CONFIGPROXY_AUTH_TOKEN": "campus"}
    with (home / "hub.log").open("wb") as log:
        hub = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", "-f", str(config)],
            cwd=home, stdout=log, stderr=log, env=environment, start_new_session=True,
        )  # fmt: skip
        try:
            _wait_for(f"http://127.0.0.1:{port}/hub/api/", hub, home / "hub.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            hub.send_signal(signal.SIGTERM)  # it ends the servers and the proxy
            try:
                hub.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(hub.pid, signal.SIGKILL)


def _wait_for(url: str, hub: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if hub.poll() is not None:
            pytest.fail(f"The Hub ended:\n{log.read_text()[-3000:]}")
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                assert json.loads(answer.read())["version"]
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"The Hub did not answer:\n{log.read_text()[-3000:]}")
