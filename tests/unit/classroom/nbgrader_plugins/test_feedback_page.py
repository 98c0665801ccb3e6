"""A student's feedback: one page with points, events, and cards next to answers."""

from __future__ import annotations

import re
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbgrader.server_extensions.formgrader as formgrader
import pytest
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import GetGrades
from traitlets.config import Config

from autograder.cards.card import card_html
from autograder.classroom import config as settings
from autograder.classroom.nbgrader_plugins.feedback import ForStudents
from autograder.classroom.nbgrader_plugins.feedback_page.contents import (
    AS_GIVEN,
    ENDED,
    Contents,
    Handed,
    contents_of,
)
from autograder.classroom.nbgrader_plugins.feedback_page.exporter import FeedbackPage
from autograder.classroom.nbgrader_plugins.feedback_page.page import page
from autograder.classroom.nbgrader_plugins.feedback_page.shared_styles import with_shared_styles
from autograder.classroom.nbgrader_plugins.feedback_page.written import formula, written
from autograder.core.verdict import Finding, Share, Verdict
from autograder.submission.outcome_notes import note_outcome, outcome_of
from autograder.submission.result import SubmissionStatus
from autograder.submission.verdict_outputs import card_of
from tests.support.evil_html import EVIL_HTML, EVIL_MARKDOWN
from tests.support.numbers.numbers_syllabus import EXERCISES

pytestmark = pytest.mark.filterwarnings("ignore:Object of type.*:sqlalchemy.exc.SAWarning")

DAY = datetime(2026, 11, 1, 12, 3)
SAID = "1 November 2026, 12:03 UTC"
HANDED = Handed("07_numbers", "Zoë <b>", SAID, SAID, 7.5, 9.0, 1.0)


def tracked(cell: NotebookNode, grade_id: str, **more: Any) -> NotebookNode:
    flags = {"grade": False, "solution": False, "task": False, "locked": False}
    cell.metadata["nbgrader"] = flags | {"grade_id": grade_id, "schema_version": 3} | more
    return cell


def chapter(**answer: Any) -> NotebookNode:
    """A graded notebook: one right answer, one wrong, and one question of the teacher's."""
    verdicts = {
        "after": Verdict("after", "passed", 1.0, cases=3, shares=(Share("it counts", 1, True),)),
        "half": Verdict("half", "failed", 0.5, (Finding("wrong", "`half` gives `3 < 4`."),)),
    }
    cells = [new_markdown_cell("# A long chapter\n\nwith prose"), new_code_cell("helper = 1")]
    for name, verdict in verdicts.items():
        text = f"def {name}(number):\n    return '</pre><script>alert(1)</script>'"
        cells.append(tracked(new_code_cell(text, **answer), name, solution=True, comment=None))
        data = {"text/html": card_html(verdict, EXERCISES[name]), "text/plain": "card"}
        card = new_output("display_data", data=data)
        check = new_code_cell(f"check({name})", outputs=[card])
        points = {"score": 6.0 * verdict.score, "points": 6.0}
        cells.append(tracked(check, f"check-{name}", grade=True, **points))
    essay = new_markdown_cell("Because $x_i \\le 1$.")
    cells.append(tracked(essay, "essay", grade=True, solution=True, points=3.0, score=1.0,
                         comment="Why? See $\\frac{1}{2}$."))  # fmt: skip
    nb = new_notebook(cells=cells)
    note_outcome(nb, status="graded", checks={name: v.status for name, v in verdicts.items()})
    return nb


def shown(nb: NotebookNode, handed: Handed = HANDED) -> str:
    return page(contents_of(nb, handed))


def test_page_has_what_is_graded_and_leaves_the_chapter_out() -> None:
    text = shown(chapter())
    assert "7.5 of 9 points" in text and "1 point off for handing in late" in text
    assert "Zoë &lt;b&gt;" in text and "1 November 2026, 12:03 UTC" in text
    assert "with prose" not in text and "helper = 1" not in text
    rows = re.findall(r'<a href="#([\w-]+)">([\w-]+)</a></th><td[^>]*>(.*?)</td>', text)
    assert [(anchor, title) for anchor, title, _ in rows] == [
        ("check-after", "after"),
        ("check-half", "half"),
        ("essay", "essay"),
    ]
    assert [re.sub("<.*?>", "", word).split(" with")[0] for *_, word in rows] == [
        "✓ Passed",
        "✗ Not right",
        "✗ Not right",
    ]
    assert all(f'id="{anchor}"' in text for anchor, *_ in rows)
    assert "A comment on your answer" in text and "3 &lt; 4" in text
    assert len(text) < 25_000


@pytest.mark.parametrize("status", ["passed", "failed", "crashed", "not attempted", "not judged"])
def test_cards_of_graded_work_ask_for_nothing_more(status: Any) -> None:
    verdict = Verdict("half", status, 0.0, (Finding("wrong", "`half` gives 3."),))
    for shown in card_of(verdict, EXERCISES["half"]).data.values():
        assert not re.search(r"\byet\b|run this|Change your code|next section|hint\(", shown), shown


def test_page_of_a_notebook_as_given_out_asks_for_the_right_file() -> None:
    nb = chapter()
    note_outcome(nb, status="graded", checks=dict.fromkeys(("after", "half"), "not attempted"))
    assert AS_GIVEN not in shown(nb)  # the essay counts as an answer
    nb.cells[-1].metadata.nbgrader.comment = "No response."
    assert AS_GIVEN in shown(nb)
    note_outcome(nb, status="graded", checks={"after": "not attempted", "half": "crashed"})
    assert AS_GIVEN not in shown(nb)


def test_page_shows_code_as_code_and_says_what_to_do_if_one_disagrees() -> None:
    nb = chapter()
    note_outcome(nb, status="repaired", happened=["`half` was <b>stopped</b>"], checks={})
    text = shown(nb)
    assert re.search(r"<li><code[^>]*>half</code> was &lt;b&gt;stopped", text) and "`" not in text
    assert "Do you disagree? Send your instructor the name of the exercise" in text


def test_page_asks_no_network_and_runs_nothing() -> None:
    text = shown(chapter(outputs=[new_output("stream", text="<img src=http://x>")]))
    assert "<script" not in text and "<img" not in text and "<link" not in text
    assert "default-src 'none'" in text and "url(" not in text
    assert "prefers-color-scheme:dark" in text and 'lang="en"' in text


@pytest.mark.parametrize("name", [*EVIL_HTML, *EVIL_MARKDOWN])
def test_what_students_write_and_show_is_text(name: str) -> None:
    evil = (EVIL_HTML | EVIL_MARKDOWN)[name]
    nb = chapter()
    nb.cells[-1].source = evil
    data = {"text/html": evil, "text/plain": evil, "image/png": evil, "image/svg+xml": evil}
    nb.cells[2].outputs = [
        new_output("display_data", data=data),
        new_output("error", ename=evil, evalue=evil, traceback=[evil]),
    ]
    nb.cells[2].source = evil
    note_outcome(nb, status=evil, happened=[evil], repairs=[evil], checks={"after": evil})
    text = shown(nb, Handed(evil, evil, evil, evil, 0.0, 1.0, 0.0))
    assert misplaced(text) == []


PAGE = frozenset(
    "html head meta title style body header main section h1 h2 h3 h4 h5 h6 p span strong em div "
    "table caption thead tbody tr th td a code pre details summary ul ol li hr br blockquote img "
    "svg path".split()
)
SAID = frozenset(
    "lang charset name content http-equiv class style id scope role tabindex aria-label hidden "
    "href rel alt src viewbox fill transform d start open".split()
)


def misplaced(text: str) -> list[str]:
    """Tags, attributes and addresses of a page that are not allowed there."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag not in PAGE:
                found.append(tag)
            for name, value in attrs:
                fine = {"href": r"#|https?://|mailto:", "src": "data:image/(png|jpeg|gif|webp|svg)"}
                if name not in SAID or not re.match(fine.get(name, ""), value or ""):
                    found.append(f"{name}={value}")

    Reader().feed(text)
    return found


def test_reader_of_these_tests_sees_what_is_misplaced() -> None:
    evil = '<script></script><a href="javascript:1">x</a><img src="http://x"><p onclick="1">'
    assert len(misplaced(evil)) == 4


@pytest.mark.parametrize("status", ENDED)
def test_what_happened_is_said_in_words(status: SubmissionStatus) -> None:
    nb = chapter()
    nb.metadata["fxcourse"] |= {"status": str(status)}
    note_outcome(nb, happened=["cell 4 used up its time and was stopped"], repairs=["Put back."])
    found = contents_of(nb, HANDED)
    assert found.ended == ENDED[status]
    assert found.happened == ("Cell 4 used up its time and was stopped.",)
    refused = status in (SubmissionStatus.REFUSED, SubmissionStatus.UNREADABLE)
    assert found.repairs == (() if refused else ("Put back.",))  # rejected, so not repaired
    assert bool(found.parts) is not refused and ENDED[status] in page(found).replace("&#39;", "'")


def test_what_waits_for_a_person_is_said() -> None:
    handed = Handed("c", "ann", "", "", 1.0, 2.0, 0.0, frozenset(["essay"]))
    text = shown(chapter(), handed)
    assert "a person has yet to look at 1 answer" in text and "? Waits for a person" in text
    nb = chapter()
    nb.cells[-1].metadata.nbgrader.comment = "No response."
    assert "A comment" not in shown(nb) and "A comment" in text  # nbgrader's default comment
    assert "handed in on" not in text and "off for handing in late" not in text


def test_notebook_that_an_earlier_version_graded_is_shown() -> None:
    nb = chapter()
    nb.metadata.clear()
    found: Contents = contents_of(nb, HANDED)
    assert [part.word for part in found.parts] == ["Passed", "Not right", "Not right"]
    assert found.ended == "" and found.happened == ()
    nb.metadata["fxcourse"] = {"status": 3, "happened": "no list", "checks": ["no", "dict"]}
    assert outcome_of(nb).status == "" and outcome_of(nb).checks == {}


def test_formulas_are_pictures_with_a_text() -> None:
    assert '<svg role="img" aria-label="\\sum_i x_i \\le 1"' in formula("\\sum_i x_i \\le 1")
    assert formula("\\begin{matrix}").startswith("<code")
    assert formula("x" * 1_000).startswith("<code")
    assert "&lt;b&gt;" in formula('<b>"$')
    text = written("A `$x$`, $y$ and\n\n$$z$$\n\n![dots](http://x/y.png) <i>no</i>")
    assert text.count("<svg") == 2 and "$x$" in text
    assert "http://x" not in text and "[dots]" in text and "<i>" not in text


def test_styles_that_repeat_are_written_once() -> None:
    same = '<p style="color:red">a</p><p id="x" style="color:red">b</p>'
    other = (
        '<p style="margin:1px">c</p><p class="k" style="color:red">d</p> &lt;p style="color:red"'
    )
    made = with_shared_styles(f"<style>/* styles */</style>{same}{other}")
    assert made == (
        '<style>.s0.s0{color:red}</style><p class="s0">a</p><p id="x" class="s0">b</p>' + other
    )
    assert with_shared_styles("<p " * 30_000) == "<p " * 30_000  # in linear time


def test_feedback_of_nbgrader_is_ours_for_a_chapter_and_its_own_for_others(tmp_path: Path) -> None:
    c = Config()
    settings.configure(c)
    assert c.GenerateFeedback.exporter_class.endswith(".FeedbackPage")
    address = f"sqlite:///{tmp_path / 'gradebook.db'}"
    with Gradebook(address) as book:
        book.add_assignment("07", duedate=DAY)
        book.add_notebook("07_numbers", "07")
        for name in ("check-after", "check-half", "essay"):
            book.add_grade_cell(name, "07_numbers", "07", max_score=6, cell_type="code")
        for name in ("after", "half", "essay"):
            book.add_solution_cell(name, "07_numbers", "07")
        book.add_student("ann", first_name="Ann", last_name="O'Neill")
        book.add_submission("07", "ann", timestamp=DAY)
        grades = book.find_submission_notebook("07_numbers", "07", "ann").grades
        for grade in grades:
            grade.auto_score = 3.0
            grade.needs_manual_grade = grade.name == "essay"
        book.db.commit()
    folder = Path(formgrader.__file__).parent
    exporter = FeedbackPage(  # as GenerateFeedback sets it up
        template_name="feedback",
        extra_template_basedirs=[str(folder / "templates")],
        extra_template_paths=[str(folder / "static/node_modules/bootstrap/dist/css")],
    )
    exporter.register_preprocessor(GetGrades, enabled=True)
    exporter.register_preprocessor(ForStudents, enabled=True)
    ids = {"student": "ann", "notebook": "07_numbers", "assignment": "07", "db_url": address}
    text, resources = exporter.from_notebook_node(chapter(), resources={"nbgrader": dict(ids)})
    assert "9 of 18 points" in text and "Ann O&#39;Neill" in text and "Waits for a person" in text
    assert "with prose" not in text and resources["output_extension"] == ".html"
    plain = new_notebook(cells=[new_markdown_cell("with prose")])
    text, _ = exporter.from_notebook_node(plain, resources={"nbgrader": dict(ids)})
    assert "with prose" in text and "panel-heading" in text  # nbgrader's own page
