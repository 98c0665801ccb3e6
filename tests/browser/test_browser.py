"""A learner's first hour in a real JupyterLab and a real browser.

Screenshots of each step are written to build/screenshots/.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.desk import CHROMIUM, EXECUTION_MS, SCREENSHOTS, Lab, Notebook, only

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
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


def test_the_index_shows_the_way_through_the_course(page: Any, lab: Lab) -> None:
    page.goto(lab.url("index.ipynb"))
    shown = page.locator(".jp-RenderedHTMLCommon")
    shown.get_by_text("You have passed").first.wait_for(timeout=EXECUTION_MS)
    page.screenshot(path=SCREENSHOTS / "index.png")
    menus = page.locator("#jp-MainMenu .lm-MenuBar-itemLabel").all_inner_texts()
    assert "Run" in menus and not [menu for menu in menus if "nbgrader" in menu.lower()]
    assert page.get_by_text("Would you like to receive official Jupyter news?").count() == 0
    listed = page.locator(".jp-DirListing-content .jp-DirListing-itemName").all_inner_texts()
    assert "index.ipynb" in listed and "03_manipulation.ipynb" in listed
    assert all(name.endswith(".ipynb") for name in listed)
    shown.get_by_role("link", name="5 · Proxy and retracing").click()
    page.locator(
        ".jp-NotebookPanel:not(.lm-mod-hidden) h1", has_text="Proxy and retracing"
    ).wait_for()


def test_the_first_chapter_runs_and_greets(page: Any, lab: Lab) -> None:
    notebook = Notebook(page, lab, "00_start.ipynb")
    notebook.shot("00_opened")
    notebook.run_all()
    check = notebook.cell(only("check(node_names)"))
    notebook.shot("00_wrong_try", check)
    assert "Not right yet" in notebook.output(check)


def test_a_pass_is_written_checked_and_remembered(page: Any, lab: Lab) -> None:
    from autograder.builder.outputs.references import solve_sources

    notebook = Notebook(page, lab, "03_manipulation.ipynb")
    notebook.run_all()
    solve, check = notebook.cell("def add_to_mul"), notebook.cell(only("check(add_to_mul)"))
    progress = notebook.cell(only("progress()"))
    notebook.shot("03_not_attempted", check)
    assert "not attempted yet" in notebook.output(check).lower()
    before = notebook.run(progress)
    debrief = notebook.cell(only('debrief("add_to_mul")'))
    assert "opens after you have passed it" in notebook.output(debrief)

    predict = notebook.cell('predict("03.1", "?")')
    assert "Pick first" in notebook.output(predict)
    notebook.shot("03_prediction_asked", predict)
    notebook.write(predict, 'predict("03.1", "b")')
    explained = notebook.run(notebook.cell('predict("03.1", "b")'))
    assert "you picked b" in explained and "Show the proof" in explained
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
    check.get_by_text("Checked above: passed.").wait_for()  # it replaces the red card
    assert "Not right yet" not in notebook.output(check)
    assert notebook.run(check).strip() == "Checked above: passed."
    assert check.locator(".jp-OutputArea-output[data-mime-type*='error']").count() == 0
    notebook.shot("03_right_answer", solve)
    assert "A trap." in notebook.run(debrief)
    debrief.locator("summary").last.click()
    notebook.shot("03_debrief", debrief)
    after = notebook.run(progress)
    assert re.search(r"1 of \d+ predictions made", after)
    notebook.shot("03_progress", progress)
    assert before != after
