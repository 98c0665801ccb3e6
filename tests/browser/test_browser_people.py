"""Usability in a browser: accessibility, keyboard, waiting times, links, an update."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from autograder.builder.outputs.references import solve_sources
from autograder.workspace.location import STATE
from autograder.workspace.update import GIVEN
from tests.browser.desk import (
    CHROMIUM,
    EXECUTION_MS,
    SCREENSHOTS,
    WINDOWING,
    Lab,
    Notebook,
    only,
    set_settings,
    wait_until_in_view,
)

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]

CHAPTER = "03_manipulation"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
WRONG = """\
def retarget(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is old:
            node.target = new
    return gm
"""
STAGE = """() => {
    const outputs = document.querySelectorAll('.jp-OutputArea-output.jp-RenderedHTMLCommon');
    const stage = document.createElement('div');
    stage.id = 'stage';
    const notebook = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook');
    stage.style.background = getComputedStyle(notebook).backgroundColor;
    stage.append(...[...outputs].map(output => output.cloneNode(true)));
    for (const fold of stage.querySelectorAll('details')) fold.open = true;
    document.getElementById('main').style.display = 'none';
    Object.assign(document.body.style, {overflow: 'visible', height: 'auto'});
    document.body.append(stage);
    return outputs.length;
}"""
"""Moves all outputs to where they are completely visible, because axe-core ignores the others.

They keep the styles of JupyterLab's theme.
"""
BARRIERS = """async () => {
    const found = await axe.run({include: [['#stage']]});
    const contrast = found.passes.find(rule => rule.id === 'color-contrast');
    const barriers = found.violations.flatMap(rule =>
        rule.nodes.map(node => `${rule.id}: ${node.failureSummary} ${node.html.slice(0, 300)}`));
    return [barriers, contrast ? contrast.nodes.length : 0];
}"""


@pytest.fixture(autouse=True)
def one_kernel(lab: Lab) -> Iterator[None]:
    yield
    lab.end_kernels()


def set_theme(lab: Lab, theme: str) -> None:
    """Choose JupyterLab's theme through the settings."""
    set_settings(lab, "@jupyterlab/apputils-extension:themes", {"theme": THEMES[theme]})


def barriers(page: Any, axe: str, name: str, *, outputs: int, readable: int) -> list[str]:
    """Check the minimum numbers of outputs and texts; return the problems that axe-core finds."""
    shown = page.evaluate(STAGE)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
    page.evaluate(axe)
    found, texts = page.evaluate(BARRIERS)
    assert shown >= outputs and texts > readable
    return list(found)


def bring_up_to_date(page: Any, notebook: Notebook) -> None:
    """Run the index's cell as the page says, until JupyterLab has a kernel that responds."""
    trusted = notebook.first.locator(".jp-OutputArea-output.jp-mod-trusted")
    page.get_by_text("If this page is not up to date").click()
    for _ in range(EXECUTION_MS // 20_000):
        page.keyboard.press("Control+Enter")
        with contextlib.suppress(Exception):  # it has a timeout, and the loop tries again
            trusted.first.wait_for(timeout=20_000)
            return
    raise AssertionError("the index's cell did not run")


def answer(notebook: Notebook, name: str, source: str) -> str:
    """Write an answer and run its cell; return the text of the card."""
    solve = notebook.before(notebook.cell(only(f"check({name})")))
    notebook.write(solve, source)
    return notebook.run(solve)


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_keeps_people_out(theme: str, page: Any, lab: Lab, axe: str) -> None:
    set_theme(lab, theme)
    try:
        notebook = Notebook(page, lab, f"{CHAPTER}.ipynb")
        page.locator(f"body[data-jp-theme-name='{THEMES[theme]}']").wait_for(state="attached")
        notebook.run(notebook.first)
        assert "Not right yet" in answer(notebook, "retarget", WRONG)
        asked = notebook.before(notebook.before(notebook.cell(only("check(relu_after_add)"))))
        notebook.run(asked)  # a picture
        right = solve_sources(CHAPTER)["relu_after_add"]
        assert "Passed" in answer(notebook, "relu_after_add", right)
        picked = notebook.cell(re.compile(r'predict\("03.1", '))
        notebook.write(picked, 'predict("03.1", "b")')
        notebook.run(notebook.cell('predict("03.1", "b")'))
        for source in ('hint("retarget")', 'debrief("relu_after_add")', "progress()"):
            notebook.run(notebook.cell(only(source)))
        notebook.shot(f"axe_{theme}", notebook.cell(only("check(retarget)")))
        assert barriers(page, axe, f"axe_{theme}_stage", outputs=7, readable=50) == []
        # axe-core does find problems.
        page.locator("#stage").evaluate(
            "stage => stage.insertAdjacentHTML('beforeend', '<img src=\"x.png\">"
            '<p style="color:#777777;background:#666666">some words</p>\')'
        )
        seen = {said.partition(":")[0] for said in page.evaluate(BARRIERS)[0]}
        assert seen == {"color-contrast", "image-alt"}
    finally:
        set_theme(lab, "light")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("run", [False, True], ids=["opened", "run"])
def test_nothing_keeps_people_out_of_the_index(
    run: bool, theme: str, page: Any, lab: Lab, axe: str
) -> None:
    set_theme(lab, theme)
    try:
        page.goto(lab.url("index.ipynb"))
        page.locator(f"body[data-jp-theme-name='{THEMES[theme]}']").wait_for(state="attached")
        notebook = Notebook.opened(page)
        page.get_by_text("You have passed").first.wait_for(timeout=EXECUTION_MS)
        if run:  # JupyterLab drops fewer styles after a run
            bring_up_to_date(page, notebook)
        name = f"axe_{theme}_index{'_run' if run else ''}"
        assert barriers(page, axe, name, outputs=1, readable=50) == []
    finally:
        set_theme(lab, "light")


def test_an_exercise_is_done_by_keyboard_alone(page: Any, lab: Lab) -> None:
    notebook = Notebook(page, lab, "02_nodes.ipynb")
    press = page.keyboard.press
    active = notebook.panel.locator(".jp-Cell.jp-mod-active")

    def go_down_to(source: str | re.Pattern[str]) -> Any:
        for _ in range(150):
            if active.filter(has=page.locator(".cm-content", has_text=source)).count():
                return active
            press("ArrowDown")
        raise AssertionError(f"no cell below has {source}")

    press("Escape")
    first = go_down_to(re.compile("import torch"))
    done = first.locator(".jp-InputPrompt", has_text=re.compile(r"\[\d+\]"))
    for _ in range(4):  # until JupyterLab has a kernel for it
        press("Control+Enter")
        page.wait_for_timeout(500)
        if "*" in (first.locator(".jp-InputPrompt").text_content() or "") or done.count():
            break
        page.wait_for_timeout(10_000)
    done.wait_for(timeout=EXECUTION_MS)
    go_down_to(re.compile(r"def count_ops\b"))
    press("Enter")
    press("Control+a")
    page.keyboard.insert_text(solve_sources("02_nodes")["count_ops"])
    press("Shift+Enter")
    go_down_to(only("check(count_ops)"))
    press("Control+Enter")
    active.get_by_text("Passed").first.wait_for(timeout=EXECUTION_MS)
    hint = go_down_to(only('hint("count_ops")'))
    press("Control+Enter")
    hint.locator("summary").first.wait_for(timeout=EXECUTION_MS)
    for _ in range(80):
        press("Tab")
        if page.evaluate("document.activeElement?.localName") == "summary":
            break
    press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open") is True


def test_links_of_a_card_lead_to_their_cells(page: Any, lab: Lab) -> None:
    notebook = Notebook(page, lab, f"{CHAPTER}.ipynb")
    notebook.run(notebook.first)
    assert "Not right yet" in answer(notebook, "retarget", WRONG)
    solve = notebook.before(notebook.cell(only("check(retarget)")))
    solve.get_by_role("link", name="The task").click()
    wait_until_in_view(notebook.panel.locator(".jp-MarkdownCell", has_text="Exercise 3.1"))
    assert "Passed" in answer(notebook, "retarget", solve_sources(CHAPTER)["retarget"])
    solve.get_by_role("link", name=re.compile("^Go on: 3.2 ")).click()
    wait_until_in_view(notebook.panel.locator("h2", has_text=re.compile(r"^3\.2 ")))


def test_a_link_to_another_chapter_leads_to_its_cell(page: Any, lab: Lab) -> None:
    set_settings(lab, WINDOWING, {})  # as for learners: only cells in the window are in the page
    try:
        page.goto(lab.url("index.ipynb"))
        shown = page.locator(".jp-RenderedHTMLCommon")
        shown.get_by_text(re.compile(r"^All \d+ exercises$")).click(timeout=EXECUTION_MS)
        shown.get_by_role("link", name="count_matches").first.click()
        panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        wait_until_in_view(panel.locator(".jp-MarkdownCell", has_text="Exercise 4.1"))
    finally:
        set_settings(lab, WINDOWING, {"windowingMode": "none"})


def test_an_update_in_the_middle_keeps_the_answer(page: Any, lab: Lab) -> None:
    path, mark = lab.folder / f"{CHAPTER}.ipynb", "An older version of the course said this."
    for place in (path, lab.folder / STATE / GIVEN / path.name):
        notebook = nbformat.read(place, as_version=4)
        cell = next(c for c in notebook.cells if c.get("id") == "card-relu_after_add")
        cell.source = mark
        nbformat.write(notebook, place)
    shown = Notebook(page, lab, path.name)
    rendered = shown.panel.locator(".jp-MarkdownOutput", has_text=mark)
    rendered.wait_for()
    shown.run(shown.first)
    right = solve_sources(CHAPTER)["relu_after_add"]
    assert "Passed" in answer(shown, "relu_after_add", right)
    page.keyboard.press("Control+s")
    page.wait_for_function("() => !document.querySelector('.jp-mod-current.jp-mod-dirty')")
    for _ in range(120):
        if "is_size" in path.read_text(encoding="utf-8"):
            break
        time.sleep(0.5)
    else:
        raise AssertionError("JupyterLab did not save the answer")
    command = [sys.executable, "-m", "autograder.cli", "update", str(lab.folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    lab.end_kernels()
    again = Notebook(page, lab, path.name)
    again.panel.locator(".jp-MarkdownOutput", has_text="Exercise 3.3").first.wait_for()
    assert again.panel.locator(".jp-MarkdownOutput", has_text=mark).count() == 0
    again.run(again.first)
    check = again.cell(only("check(relu_after_add)"))
    assert "Passed" in again.run(again.before(check))
