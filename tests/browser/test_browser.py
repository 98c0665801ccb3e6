"""A learner's first hour, in a real JupyterLab in a real browser.

Screenshots of each step are written to build/screenshots/.
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
from collections.abc import Iterator
from typing import Any

import pytest

from autograder.builder.paths import ROOT

SCREENSHOTS = ROOT / "build" / "screenshots"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
EXECUTION_MS = 240_000

WRONG = """\
def add_to_mul(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is torch.add:
            node.target = torch.mul
    gm.recompile()
    return gm
"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What `fxcourse lab` opens, on a new workspace; yields its address."""
    home = tmp_path_factory.mktemp("lab")
    folder = home / "my"
    settings = home / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    # All cells stay in the page, so that the test can look at each of them.
    (settings / "tracker.jupyterlab-settings").write_text(json.dumps({"windowingMode": "none"}))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "autograder.cli", "lab", str(folder),
        "--no-browser", "--ip=127.0.0.1", f"--port={port}",
        "--allow-root", "--IdentityProvider.token=learner",
        f"--LabApp.user_settings_dir={home / 'settings'}",
        f"--LabApp.workspaces_dir={home / 'workspaces'}",
    ]  # fmt: skip
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(home / "config"), "OMP_NUM_THREADS": "1"}
    with (home / "lab.log").open("wb") as log:
        server = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, start_new_session=True
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(address + "/api?token=learner", server)
            yield address
        finally:
            for sign in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
                os.killpg(server.pid, sign)  # Ctrl-C, twice, as the command says
                with contextlib.suppress(subprocess.TimeoutExpired):
                    server.wait(10)
                    break


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(240):
        if server.poll() is not None:
            pytest.fail("JupyterLab ended before it answered")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.25)
    pytest.fail("JupyterLab did not answer within a minute")


@pytest.fixture(scope="module")
def page(lab: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        tab = browser.new_page(viewport={"width": 1280, "height": 1600})
        tab.set_default_timeout(60_000)
        yield tab
        browser.close()


def only(source: str) -> re.Pattern[str]:
    """A pattern for cells that consist of this line."""
    return re.compile(rf"^\s*{re.escape(source)}\s*$")


class Notebook:
    """One notebook open in JupyterLab, used as a person uses it."""

    def __init__(self, page: Any, address: str, name: str) -> None:
        self.page = page
        page.goto(f"{address}/lab/tree/{name}?token=learner&reset")
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.panel.locator(".jp-Cell").first.wait_for()
        page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").first.wait_for(
            state="attached", timeout=EXECUTION_MS
        )

    def run_all(self) -> None:
        # On a busy machine a click may come before JupyterLab listens to it, or has a kernel.
        for patience in (20_000, 40_000, EXECUTION_MS):
            self._answer_dialogs()
            self.page.get_by_role("menuitem", name="Run", exact=True).click()
            self.page.get_by_role("menuitem", name=re.compile("^Run All Cells")).first.click()
            if self._has_begun(patience):
                break
        self.wait_until_done()

    def _answer_dialogs(self) -> None:
        """Accept what JupyterLab asks or says, such as that the kernel is still starting."""
        dialogs = self.page.locator(".jp-Dialog")
        while dialogs.count():
            dialogs.first.locator("button.jp-mod-accept").click()
            self.page.wait_for_timeout(500)

    def _has_begun(self, patience: int) -> bool:
        """Whether the kernel takes the cells: prompts show a star, or a number, only then."""
        first = self.panel.locator(".jp-CodeCell .jp-InputPrompt").first
        try:
            self.page.wait_for_function(
                "prompt => /\\[(\\*|\\d+)\\]/.test(prompt.textContent)",
                arg=first.element_handle(),
                timeout=patience,
            )
        except Exception as error:
            if "Timeout" not in type(error).__name__ or patience == EXECUTION_MS:
                raise
            return False
        return True

    def wait_until_done(self) -> None:
        self.page.wait_for_timeout(500)
        self.page.wait_for_function(
            "() => ![...document.querySelectorAll('.jp-InputPrompt')]"
            ".some(prompt => prompt.textContent.includes('*'))",
            timeout=EXECUTION_MS,
        )

    def cell(self, source: str | re.Pattern[str]) -> Any:
        """The last code cell whose source contains this text, or matches this pattern.

        A chapter may show an example of something before the learner's own cell comes.
        """
        cells = self.panel.locator(".jp-CodeCell")
        return cells.filter(has=self.page.locator(".cm-content", has_text=source)).last

    def run(self, cell: Any, *, shows: bool = True) -> str:
        """Run one cell; the text of its output, if it is to show any."""
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.text_content()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(
            "([prompt, before]) => prompt.textContent !== before"
            " && /\\[\\d+\\]/.test(prompt.textContent)",
            arg=[prompt.element_handle(), before],
            timeout=EXECUTION_MS,
        )
        return self.output(cell, some=shows)

    def write(self, cell: Any, source: str) -> None:
        """Replace a cell's source."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def output(self, cell: Any, *, some: bool = True) -> str:
        """The text of a cell's output; if there is to be `some`, it is waited for."""
        if some:  # a busy machine renders what a cell sent some time after the cell ended
            cell.scroll_into_view_if_needed()
            cell.locator(".jp-OutputArea-output").first.wait_for()
        return "\n".join(cell.locator(".jp-OutputArea-output").all_inner_texts())

    def shot(self, name: str, cell: Any | None = None) -> None:
        if cell is not None:
            cell.scroll_into_view_if_needed()
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


def test_the_workspace_opens_on_the_way_through_the_course(page: Any, lab: str) -> None:
    page.goto(f"{lab}/?token=learner")
    shown = page.locator(".jp-RenderedHTMLCommon")
    shown.get_by_text("Go on here:").first.wait_for(timeout=EXECUTION_MS)
    page.screenshot(path=SCREENSHOTS / "index.png")
    menus = page.locator("#jp-MainMenu .lm-MenuBar-itemLabel").all_inner_texts()
    assert "Run" in menus and not [menu for menu in menus if "nbgrader" in menu.lower()]
    assert page.get_by_text("Would you like to receive official Jupyter news?").count() == 0
    listed = page.locator(".jp-DirListing-content .jp-DirListing-itemName").all_inner_texts()
    assert "index.ipynb" in listed and "03_manipulation.ipynb" in listed
    assert all(name.endswith(".ipynb") for name in listed)
    assert shown.get_by_role("link", name="03_manipulation").count() == 1
    shown.get_by_role("link", name="3 · Direct manipulation").first.click()
    page.locator(
        ".jp-NotebookPanel:not(.lm-mod-hidden) h1", has_text="Direct manipulation"
    ).wait_for()


def test_the_first_chapter_runs_and_greets(page: Any, lab: str) -> None:
    notebook = Notebook(page, lab, "00_start.ipynb")
    notebook.shot("00_opened")
    notebook.run_all()
    check = notebook.cell(only("check(node_names)"))
    notebook.shot("00_not_attempted", check)
    assert "not attempted yet" in notebook.output(check).lower()
    assert check.locator("[data-mime-type*='error'], [data-mime-type*='stderr']").count() == 0


def test_a_pass_is_written_checked_and_remembered(page: Any, lab: str) -> None:
    from autograder.builder.generate_references import solve_sources

    notebook = Notebook(page, lab, "03_manipulation.ipynb")
    notebook.run_all()
    solve, check = notebook.cell("def add_to_mul"), notebook.cell(only("check(add_to_mul)"))
    progress = notebook.cell(only("progress()"))
    notebook.shot("03_not_attempted", check)
    assert "not attempted yet" in notebook.output(check).lower()
    before = notebook.run(progress)
    debrief = notebook.cell(only('debrief("add_to_mul")'))
    assert "opens after your own pass" in notebook.output(debrief)

    predict = notebook.cell('predict("03.1", "?")')
    assert "Pick first" in notebook.output(predict)
    notebook.shot("03_prediction_asked", predict)
    notebook.write(predict, 'predict("03.1", "b")')
    explained = notebook.run(notebook.cell('predict("03.1", "b")'))
    assert "you picked b" in explained and "nodes, not places" in explained
    notebook.shot("03_prediction_made", notebook.cell('predict("03.1", "b")'))

    notebook.write(solve, WRONG)
    notebook.run(solve, shows=False)
    card = notebook.run(check)
    assert "missed-spelling" not in card, "codes are for programs, not for people"
    assert "Where to look" in card
    assert check.locator("svg[role=img]").count() >= 1, "the failing card has a picture"
    notebook.shot("03_wrong_answer", check)

    notebook.write(solve, solve_sources("03_manipulation")["add_to_mul"])
    notebook.run(solve, shows=False)
    assert "passed" in notebook.run(check).lower()
    assert check.locator(".jp-OutputArea-output[data-mime-type*='error']").count() == 0
    notebook.shot("03_right_answer", check)
    assert "A trap." in notebook.run(debrief)
    debrief.locator("summary").last.click()
    notebook.shot("03_debrief", debrief)
    after = notebook.run(progress)
    assert re.search(r"1 of \d+ predictions made", after)
    notebook.shot("03_progress", progress)
    assert before != after
