"""People on a Hub, each in a browser of their own: they log in, and use JupyterLab."""

from __future__ import annotations

import contextlib
import re
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.browser.desk import CHROMIUM, SCREENSHOTS
from tests.hub.campus import PASSWORD

SPAWN_MS = 300_000
RUN_MS = 900_000

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
_ALL_CELLS = '{"windowingMode": "none"}'
"""A person's own setting of JupyterLab, so that tests can read each cell."""


@dataclass
class Person:
    """Somebody who is logged in.

    Attributes:
        name: the name on the Hub.
        page: the browser's page.
        address: of the Hub.
        home: the home folder of the server.
    """

    name: str
    page: Any
    address: str
    home: Path

    def log_in(self) -> None:
        """Log in, and wait until JupyterLab is there."""
        self.page.goto(f"{self.address}/hub/login?next=%2Fhub%2Fspawn")
        self.page.locator("#username_input").fill(self.name)
        self.page.locator("#password_input").fill(PASSWORD)
        self.page.locator("#login_submit").click()
        self.page.wait_for_url(re.compile(f"/user/{self.name}/lab"), timeout=SPAWN_MS)
        self.page.get_by_role("menuitem", name="Nbgrader", exact=True).wait_for(timeout=SPAWN_MS)

    def on_server_of(self, account: str) -> Person:
        """Start and open the server of another user, which this person may use."""
        self.page.goto(f"{self.address}/hub/spawn/{account}")
        self.page.get_by_role("button", name="Authorize").click()  # a Hub asks about it once
        self.page.wait_for_url(re.compile(f"/user/{account}/lab"), timeout=SPAWN_MS)
        self.page.get_by_role("menuitem", name="Nbgrader", exact=True).wait_for(timeout=SPAWN_MS)
        return Person(account, self.page, self.address, self.home.parent / account)

    def url(self, path: str) -> str:
        """The address of a path on this person's server."""
        return f"{self.address}/user/{self.name}/{path}"

    def menu(self, name: str) -> list[str]:
        """Open a menu; return its entries."""
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        self.page.locator(".lm-Menu-item").first.wait_for()
        labels = self.page.locator(".lm-Menu .lm-Menu-itemLabel").all_inner_texts()
        return [label for label in labels if label]

    def choose(self, menu: str, *entries: str) -> None:
        """Choose an entry of a menu, and of the menus below it."""
        self.menu(menu)
        for entry in entries:
            item = self.page.locator(".lm-Menu-item", has_text=re.compile(f"^\\W*{entry}"))
            item.last.click()

    def assignments(self) -> None:
        """Open nbgrader's list of assignments in a new JupyterLab."""
        self.page.goto(self.url("lab?reset"))
        self.page.locator(".jp-LauncherCard").first.wait_for(timeout=SPAWN_MS)
        self.choose("Nbgrader", "Assignment List")
        self.page.locator("#released_assignments_list").wait_for()

    def press(self, row: str, button: str) -> None:
        """Press a button in one of nbgrader's lists: released, fetched, submitted."""
        rows = self.page.locator(f"#{row}_assignments_list .list_item")
        rows.locator("button", has_text=button).first.click()

    def shot(self, name: str) -> None:
        """Save a picture of the page."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"hub_{name}.png")

    def open_terminal(self) -> None:
        """Open a terminal in JupyterLab."""
        self.page.goto(self.url("lab?reset"))
        card = self.page.locator(".jp-LauncherCard", has_text="Terminal")
        card.wait_for(timeout=SPAWN_MS)
        card.click()
        self.page.locator(".jp-Terminal textarea").first.wait_for(state="attached")
        self.page.wait_for_timeout(3000)

    def type(self, *command: str, seconds: float = 900) -> str:
        """Type a command in the terminal, wait for its end, and return what it printed."""
        said, status = self.home / "said.txt", self.home / "status.txt"
        status.unlink(missing_ok=True)
        self.page.locator(".jp-Terminal").first.click()
        line = f"{shlex.join(command)} > ~/said.txt 2>&1; echo $? > ~/status.txt"
        self.page.keyboard.type(line)
        self.page.keyboard.press("Enter")
        wait_until(lambda: status.exists() and bool(status.read_text().strip()), seconds)
        text = said.read_text(encoding="utf-8")
        assert status.read_text().strip() == "0", text
        return text


@contextlib.contextmanager
def browsers(address: str, users: Path) -> Iterator[Callable[[str], Person]]:
    """A function that logs a person in, in a browser of their own.

    Args:
        address: the Hub's address.
        users: the folder with the homes of the users' servers.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)

        def log_in(name: str) -> Person:
            page = browser.new_context(viewport={"width": 1280, "height": 1200}).new_page()
            page.set_default_timeout(SPAWN_MS)
            person = Person(name, page, address, users / name)
            settings = person.home / ".jupyter/lab/user-settings/@jupyterlab/notebook-extension"
            settings.mkdir(parents=True, exist_ok=True)
            (settings / "tracker.jupyterlab-settings").write_text(_ALL_CELLS)
            person.log_in()
            return person

        yield log_in
        browser.close()


def wait_until(condition: Callable[[], object], seconds: float = 120) -> None:
    """Wait until a condition is true."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.5)
