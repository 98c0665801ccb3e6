"""The fold "Step by step" of a failing card: keyboard, themes, a saved notebook, without trust."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from autograder.cards.film import TITLE
from tests.browser.desk import CHROMIUM, EXECUTION_MS, Lab, Notebook, only, set_settings

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]

NAME = "03_manipulation.ipynb"
THEME = "@jupyterlab/apputils-extension:themes"
LOOP = """\
def relu_after_add(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target in (torch.add, operator.add):
            with gm.graph.inserting_after(node):
                relu = gm.graph.call_function(torch.relu, (node,))
            node.replace_all_uses_with(relu)
    gm.recompile()
    return gm
"""


@pytest.fixture(autouse=True)
def one_kernel(lab: Lab) -> Iterator[None]:
    yield
    lab.end_kernels()


def film_in(notebook: Notebook) -> Any:
    """The open film of the card below the answer."""
    fold = notebook.panel.locator("details", has_text=TITLE).first
    fold.wait_for(timeout=EXECUTION_MS)
    fold.locator("summary").first.click()
    fold.scroll_into_view_if_needed()
    return fold


def marked_rows(fold: Any) -> list[str]:
    """The rows of the shown step that have a mark."""
    rows = fold.locator("svg text[class]:visible")
    return [text.replace("\u00a0", " ") for text in rows.all_text_contents()]


def test_a_failing_card_steps_through_the_pass(page: Any, lab: Lab) -> None:
    notebook = Notebook(page, lab, NAME)
    notebook.run(notebook.first)
    solve = notebook.before(notebook.cell(only("check(relu_after_add)")))
    notebook.write(solve, LOOP)
    assert "Not right yet" in notebook.run(solve)
    fold = film_in(notebook)
    status = fold.get_by_role("status")
    assert status.inner_text().startswith("Step 1 of 3, line 2: gm = fx.symbolic_trace(model)")
    assert marked_rows(fold) == []

    fold.get_by_role("radio", name="Step 1 of 3, line 2").focus()
    page.keyboard.press("ArrowRight")
    assert status.inner_text().startswith("Step 2 of 3, line 6:")
    assert marked_rows(fold) == ["+ relu = torch.relu(add)"]
    page.keyboard.press("ArrowRight")
    assert status.inner_text().startswith("Step 3 of 3, line 7:")
    assert "~ relu = torch.relu(relu)" in marked_rows(fold)
    assert fold.locator("svg path.late:visible").count() == 1
    fold.locator("label", has_text="1").first.click()
    page.keyboard.press("ArrowDown")
    assert status.inner_text().startswith("Step 2 of 3"), "after a click, the arrow keys work, too"
    assert fold.locator("ol").is_hidden()
    fold.get_by_text("All steps as text").click()
    assert fold.locator("ol").is_visible()

    notebook.shot("film-light", solve)
    solve.locator(".cm-content").click()
    page.keyboard.press("Control+s")
    for _ in range(EXECUTION_MS // 200):
        if TITLE in (lab.folder / NAME).read_text(encoding="utf-8"):
            break
        page.wait_for_timeout(200)


def test_a_saved_notebook_has_the_film_without_a_run(page: Any, lab: Lab) -> None:
    set_settings(lab, THEME, {"theme": "JupyterLab Dark"})
    notebook = Notebook(page, lab, NAME)
    page.locator("body[data-jp-theme-light='false']").wait_for(state="attached")
    fold = film_in(notebook)
    fold.get_by_role("radio", name="Step 1 of 3, line 2").focus()
    page.keyboard.press("ArrowRight")
    assert marked_rows(fold) == ["+ relu = torch.relu(add)"]
    notebook.shot("film-dark", fold)
    set_settings(lab, THEME, {"theme": "JupyterLab Light"})


def test_without_trust_there_is_text(page: Any, lab: Lab) -> None:
    saved = json.loads((lab.folder / NAME).read_text(encoding="utf-8"))
    saved["cells"][0]["source"] = "# A change outside of JupyterLab takes the trust away"
    (lab.folder / "film.ipynb").write_text(json.dumps(saved), encoding="utf-8")
    notebook = Notebook(page, lab, "film.ipynb")
    fold = film_in(notebook)
    assert fold.get_by_role("radio").count() == 0
    assert fold.locator("ol > li").count() == 3
    assert fold.locator("pre").is_visible() and "attachShadow" not in fold.inner_text()
    notebook.shot("film-text")
