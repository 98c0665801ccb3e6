"""A newcomer's first minutes: from the open lab to a green card, and the index's links."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autograder.lessons.course_map import chapters
from autograder.workspace import progress_file
from autograder.workspace.location import STATE
from tests.browser.desk import (
    CHROMIUM,
    EXECUTION_MS,
    TOKEN,
    WINDOWING,
    Lab,
    Notebook,
    only,
    set_settings,
)

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]

MOST_ACTIONS = 6


@pytest.fixture(autouse=True)
def one_kernel(lab: Lab) -> Iterator[None]:
    yield
    lab.end_kernels()


class Newcomer:
    """A user whose clicks and key presses are counted. A typed word is one action."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.actions = self.scrolls = 0

    def click(self, place: Any) -> None:
        self.actions += 1
        place.click()

    def double_click(self, place: Any) -> None:
        self.actions += 1
        place.dblclick()

    def press(self, key: str) -> None:
        self.actions += 1
        self.page.keyboard.press(key)

    def write(self, word: str) -> None:
        self.actions += 1
        self.page.keyboard.type(word)

    def look_at(self, place: Any) -> None:
        """Turn the wheel until a place is visible. This is counted separately from actions."""
        box = place.bounding_box()
        height = self.page.viewport_size["height"]
        if not box or not 0 <= box["y"] <= height - 60:
            self.scrolls += 1
            place.scroll_into_view_if_needed()


def test_a_newcomer_has_a_green_card_in_six_actions(
    page: Any, lab: Lab, printed: Callable[[str, str], None], total: Callable[[str, int], None]
) -> None:
    from playwright.sync_api import expect

    page.set_viewport_size({"width": 1280, "height": 800})  # a laptop's size
    began = time.monotonic()
    page.goto(f"{lab.address}/?token={TOKEN}")
    page.locator("h1", has_text="Start here").first.wait_for(timeout=EXECUTION_MS)
    notebook = Notebook.opened(page)
    opened = time.monotonic()
    notebook.shot("first_opened")
    person = Newcomer(page)

    person.click(notebook.first.locator(".cm-content"))
    person.press("Shift+Enter")
    person.press("Shift+Enter")
    wrong = notebook.panel.locator(".jp-CodeCell").nth(1)
    wrong.get_by_text("Not right yet").first.wait_for(timeout=EXECUTION_MS)
    red = time.monotonic()
    page.wait_for_timeout(500)
    notebook.shot("first_red")

    answer = notebook.before(notebook.cell(only("check(node_names)")))
    line = answer.locator(".cm-line", has_text="return")
    word = line.get_by_text("op", exact=True)
    person.look_at(word)
    person.double_click(word)
    person.write("name")
    person.press("Shift+Enter")
    passed = answer.get_by_text("Passed").first
    passed.wait_for(timeout=EXECUTION_MS)
    expect(passed).to_be_in_viewport(timeout=5_000)
    green = time.monotonic()
    notebook.shot("first_green", answer)
    page.set_viewport_size({"width": 1280, "height": 1600})
    assert person.actions <= MOST_ACTIONS
    total("actions from the open lab to the first green card", person.actions)
    printed(
        "seconds of the first green card, without a person's reading",
        f"lab open {opened - began:.0f}, red card {red - opened:.0f}, green {green - red:.0f}; "
        f"{person.scrolls} turns of the wheel in a window of 800 pixels",
    )


def test_the_index_leads_to_the_headings_of_sections(page: Any, lab: Lab) -> None:
    from playwright.sync_api import expect

    record = lab.folder / STATE / progress_file.NAME
    before = record.read_text(encoding="utf-8") if record.exists() else "{}"
    record.write_text(json.dumps({"node_names": "passed", "node_table": "failed"}))
    set_settings(lab, WINDOWING, {})  # as for learners: only cells in the window are in the page
    try:
        chapter = next(each for each in chapters() if each.name == "01_tracing")
        for section in chapter.sections[1], chapter.sections[-1]:  # one has code in its title
            page.goto(lab.url("index.ipynb"))
            name = re.compile(rf"^{section.number} ")
            shown = page.locator(".jp-OutputArea-output").first
            shown.get_by_text("Go on: 1.2").wait_for(timeout=EXECUTION_MS)
            shown.get_by_role("link", name=name).last.click(timeout=EXECUTION_MS)
            panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
            heading = page.locator("h2", has_text=name)
            cell = panel.locator(".jp-MarkdownCell.jp-mod-selected", has=heading)
            cell.wait_for(state="attached", timeout=EXECUTION_MS)
            # JupyterLab scrolls before all cells have a height. The index's script does so too.
            expect(cell.locator("h2")).to_be_in_viewport(ratio=1, timeout=EXECUTION_MS)
    finally:
        record.write_text(before, encoding="utf-8")
        set_settings(lab, WINDOWING, {"windowingMode": "none"})


def test_the_badge_is_in_view_after_shift_and_enter(page: Any, lab: Lab) -> None:
    """A card that already exists, as on each attempt after the first, must not move the badge."""
    from playwright.sync_api import expect

    page.set_viewport_size({"width": 1440, "height": 900})
    try:
        notebook = Notebook(page, lab, "03_manipulation.ipynb")
        notebook.run(notebook.first, shows=False)
        answer = notebook.before(notebook.cell(only("check(retarget)")))
        stub = "def retarget(model, old, new):\n    gm = fx.symbolic_trace(model)\n    {}\n"
        stub += "    return gm\n"
        tries = ("x = 1", "raise ValueError()", "gm.graph.lint()", "gm.recompile()", "gm = None")
        for at, line in enumerate(tries):
            notebook.write(answer, stub.format(line))
            prompt = answer.locator(".jp-InputPrompt").inner_text()
            page.keyboard.press("Shift+Enter")
            expect(answer.locator(".jp-InputPrompt")).not_to_have_text(prompt)
            expect(answer.locator(".jp-InputPrompt")).to_have_text(
                re.compile(r"\[\d+\]"), timeout=EXECUTION_MS
            )
            badge = answer.get_by_text(re.compile("Not right yet|Crashed")).first
            expect(badge).to_be_in_viewport(timeout=10_000)
            notebook.shot(f"badge_{at}")
    finally:
        page.set_viewport_size({"width": 1280, "height": 1600})
