"""Shared tools of browser tests: JupyterLab on a new workspace, Chromium, and an open notebook."""

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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn

import pytest

from autograder.builder.paths import ROOT

SCREENSHOTS = ROOT / "build" / "screenshots"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
EXECUTION_MS = 120_000

TOKEN = "learner"

AXE = "4.14.1"
"""The version of axe-core, which checks accessibility."""


WINDOWING = "@jupyterlab/notebook-extension:tracker"
"""The extension whose settings decide which cells are in the page; tests keep all of them."""


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab.

    Attributes:
        address: its URL.
        folder: the workspace.
        ending: threads that are ending kernels, by the path of the notebook.
    """

    address: str
    folder: Path
    ending: dict[str, Thread] = field(default_factory=dict)

    def url(self, name: str) -> str:
        """The address of a notebook."""
        return f"{self.address}/lab/tree/{name}?token={TOKEN}&reset"

    def end_kernels(self) -> None:
        """End all kernels, so that only one kernel at a time uses memory.

        A test waits for this only if it opens the same notebook again: JupyterLab would give it
        the kernel that is about to end, and cells that run there would never finish.
        """
        sessions = json.loads(self._ask("/api/sessions"))
        end = Thread(target=self._end, args=([each["id"] for each in sessions],), daemon=True)
        self.ending.update({each["path"]: end for each in sessions})
        end.start()

    def wait_for_end(self, name: str) -> None:
        """Wait until no kernel of a notebook is about to end."""
        if end := self.ending.pop(name, None):
            end.join(60)

    def _end(self, sessions: list[str]) -> None:
        for session in sessions:
            with contextlib.suppress(OSError):  # it has ended by itself, or the server has ended
                self._ask(f"/api/sessions/{session}", "DELETE")

    def _ask(self, path: str, method: str = "GET") -> bytes:
        headers = {"Authorization": f"token {TOKEN}"}
        request = urllib.request.Request(self.address + path, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return bytes(answer.read())


@contextlib.contextmanager
def running_lab(home: Path) -> Iterator[Lab]:
    """Run `fxcourse lab` on a new workspace in a folder."""
    settings = home / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    # All cells stay in the page, so that tests can read each of them.
    (settings / "tracker.jupyterlab-settings").write_text(json.dumps({"windowingMode": "none"}))
    command = ("-m", "autograder.cli", "lab", str(home / "my"))
    with served(home, home / "my", *command) as running:
        yield running


@contextlib.contextmanager
def served(home: Path, folder: Path, *command: str, at: Path | None = None) -> Iterator[Lab]:
    """Run JupyterLab with a command of this Python.

    Args:
        home: the folder for its settings and its log.
        folder: the folder that it serves.
        command: the arguments of `python`; the address and the token are added.
        at: the working directory of the command; the current one by default.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    whole = [
        sys.executable, *command,
        "--no-browser", "--ip=127.0.0.1", f"--port={port}",
        "--allow-root", f"--IdentityProvider.token={TOKEN}",
        f"--LabApp.user_settings_dir={home / 'settings'}",
        f"--LabApp.workspaces_dir={home / 'workspaces'}",
    ]  # fmt: skip
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(home / "config"), "OMP_NUM_THREADS": "1"}
    with (home / "lab.log").open("wb") as log:
        server = subprocess.Popen(
            whole, cwd=at, stdout=log, stderr=log, env=environment, start_new_session=True
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(address + f"/api?token={TOKEN}", server)
            yield Lab(address, folder)
        finally:
            for sign in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
                os.killpg(server.pid, sign)  # the command expects Ctrl-C twice
                with contextlib.suppress(subprocess.TimeoutExpired):
                    server.wait(10)
                    break


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(720):
        if server.poll() is not None:
            pytest.fail("JupyterLab ended before it answered")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.25)
    pytest.fail("JupyterLab did not answer within three minutes")


def set_settings(lab: Lab, plugin: str, settings: dict[str, str]) -> None:
    """Change JupyterLab's user settings."""
    request = urllib.request.Request(
        f"{lab.address}/lab/api/settings/{plugin}",
        data=json.dumps({"raw": json.dumps(settings)}).encode(),
        headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        method="PUT",
    )
    urllib.request.urlopen(request, timeout=30).close()


def wait_until_in_view(cell: Any) -> None:
    """Wait until a part of a cell is visible in the window."""
    from playwright.sync_api import expect

    expect(cell.first).to_be_in_viewport(timeout=EXECUTION_MS)


def only(source: str) -> re.Pattern[str]:
    """A pattern that matches cells with only this line."""
    return re.compile(rf"^\s*{re.escape(source)}\s*$")


class Notebook:
    """A notebook that is open in JupyterLab, operated with mouse and keyboard."""

    def __init__(self, page: Any, lab: Lab, name: str) -> None:
        lab.wait_for_end(name)
        page.goto(lab.url(name))
        self._look_at(page)

    @classmethod
    def opened(cls, page: Any) -> Notebook:
        """The notebook that is already open."""
        notebook = cls.__new__(cls)
        notebook._look_at(page)
        return notebook

    def _look_at(self, page: Any) -> None:
        self.page = page
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.panel.locator(".jp-Cell").first.wait_for()
        page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").first.wait_for(
            state="attached", timeout=EXECUTION_MS
        )

    def run_all(self) -> None:
        self.start_all()
        self.wait_until_done()

    def start_all(self) -> None:
        """Choose Run All, and wait until the kernel accepts the cells."""
        # On a busy machine a click may come before JupyterLab listens to it, or has a kernel.
        for patience in (20_000, 40_000, EXECUTION_MS):
            self._answer_dialogs()
            self.page.get_by_role("menuitem", name="Run", exact=True).click()
            self.page.get_by_role("menuitem", name=re.compile("^Run All Cells")).first.click()
            if self._has_begun(patience):
                break

    def _answer_dialogs(self) -> None:
        """Accept JupyterLab's dialogs, for example that the kernel is still starting."""
        dialogs = self.page.locator(".jp-Dialog")
        while dialogs.count():
            dialogs.first.locator("button.jp-mod-accept").click()
            self.page.wait_for_timeout(500)

    def _has_begun(self, patience: int) -> bool:
        """Whether the kernel accepts cells: only then do prompts show a star or a number."""
        first = self.panel.locator(".jp-CodeCell .jp-InputPrompt").first
        begun = "prompt => /\\[(\\*|\\d+)\\]/.test(prompt.textContent)"
        if not (comes := self._comes(first, begun, patience)) and patience == EXECUTION_MS:
            self._fail()
        return comes

    def wait_until_done(self) -> None:
        self.page.wait_for_timeout(500)
        self.page.wait_for_function(
            "() => ![...document.querySelectorAll('.jp-InputPrompt')]"
            ".some(prompt => prompt.textContent.includes('*'))",
            timeout=EXECUTION_MS,
        )

    def cell(self, source: str | re.Pattern[str]) -> Any:
        """The last code cell whose source contains this text, or matches this pattern.

        A chapter may show an example before the learner's cell.
        """
        cells = self.panel.locator(".jp-CodeCell")
        return cells.filter(has=self.page.locator(".cm-content", has_text=source)).last

    def run(self, cell: Any, *, shows: bool = True) -> str:
        """Run one cell; return the text of its output if it should have one."""
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.text_content()
        for patience in (15_000, 30_000, EXECUTION_MS):
            self._answer_dialogs()
            cell.locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")
            if self._changes(prompt, before, patience):
                break
        self._wait_for_number(cell, prompt)
        return self.output(cell, some=shows)

    def _changes(self, prompt: Any, before: str | None, patience: int) -> bool:
        """Whether a prompt has changed: to a star, or to another number."""
        changed = f"prompt => prompt.textContent !== {json.dumps(before)}"
        if not (comes := self._comes(prompt, changed, patience)) and patience == EXECUTION_MS:
            self._fail()
        return comes

    def _wait_for_number(self, cell: Any, prompt: Any) -> None:
        """Wait until a cell has finished.

        If a kernel is idle while the prompt shows a star, it has not received the message: on a
        busy machine, JupyterLab may lose a message while a kernel starts. In that case, run the
        cell again.
        """
        number = "prompt => /\\[\\d+\\]/.test(prompt.textContent)"
        for _ in range(EXECUTION_MS // 20_000):
            if self._comes(prompt, number, 20_000):
                return
            if self._status() == "idle":
                cell.locator(".cm-content").click()
                self.page.keyboard.press("Control+Enter")
        self._fail()

    def _status(self) -> str | None:
        """The kernel's status as JupyterLab shows it."""
        shown = self.panel.locator(".jp-Notebook-ExecutionIndicator").first
        status: str | None = shown.get_attribute("data-status")
        return status

    def _fail(self) -> NoReturn:
        """Fail with the contents of the page, because the browser is closed later."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.shot("stuck")
        prompts = self.panel.locator(".jp-InputPrompt").all_text_contents()
        dialogs = self.page.locator(".jp-Dialog").all_inner_texts()
        pytest.fail(
            f"A cell did not run. Kernel: {self._status()}; prompts: {prompts}; "
            f"dialogs: {dialogs}; picture: {SCREENSHOTS / 'stuck.png'}"
        )

    def _comes(self, prompt: Any, condition: str, patience: int) -> bool:
        """Whether a prompt satisfies a condition within this many milliseconds."""
        try:
            self.page.wait_for_function(condition, arg=prompt.element_handle(), timeout=patience)
        except Exception as error:
            if "Timeout" not in type(error).__name__:
                raise
            return False
        return True

    def write(self, cell: Any, source: str) -> None:
        """Replace a cell's source."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def output(self, cell: Any, *, some: bool = True) -> str:
        """The text of a cell's output; if `some` is true, wait until there is output."""
        if some:  # a busy machine may render output some time after the cell has finished
            cell.scroll_into_view_if_needed()
            cell.locator(".jp-OutputArea-output").first.wait_for()
        return "\n".join(cell.locator(".jp-OutputArea-output").all_inner_texts())

    def shot(self, name: str, cell: Any | None = None) -> None:
        if cell is not None:
            cell.scroll_into_view_if_needed()
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    def before(self, cell: Any) -> Any:
        """The cell before a cell."""
        return cell.locator("xpath=preceding-sibling::*[contains(@class, 'jp-Cell')][1]")

    @property
    def first(self) -> Any:
        """The first code cell, with the imports."""
        return self.panel.locator(".jp-CodeCell").first
