"""A class of 24 with made-up names, graded by the real commands: feedback and report."""

from __future__ import annotations

import inspect
import tempfile
from datetime import datetime
from pathlib import Path

from playwright.sync_api import Locator, Page

from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.classroom.reports.class_report.make import report
from autograder.classroom.setup.create import choose, create
from autograder.sandbox.walls import why_no_box
from pictures import answers
from pictures.browser import CannotPicture, chromium, new_page, save
from pictures.gallery import THEMES
from tests.support.submissions import Submission, room
from tests.support.submissions.answer_text import text_of

CHAPTER = "03_manipulation"
SHORT = "methods forgotten, in few lines"
STYLES = {
    "retarget": {
        "r": "targets edited in place",
        "R": "new nodes, then erased",
        "w": "recompile forgotten",
        "x": "only the first call",
    },
    "add_to_mul": {
        "r": "targets edited in place",
        "R": "everything becomes operator.mul",
        "w": SHORT,
        "x": "alpha ignored",
    },
    "relu_after_add": {
        "r": "the relu reads its sum last",
        "R": "a callback leaves the relu out",
        "w": "self-loop",
        "x": "the operator forgotten",
    },
    "relu_to_gelu": {
        "r": "new calls of F.gelu",
        "R": "nodes edited in place",
        "w": "methods forgotten",
        "x": "modules left behind",
    },
    "remove_dropout": {
        "r": "rewired and erased",
        "R": "a chain followed to its end",
        "w": "siblings of F.dropout forgotten",
        "x": "inputs collected before the loop",
    },
}
"""Answers by letter, two right and two wrong; one is not in any `answers.py`."""

CLASS = {
    "ada": "rrRrr", "ben": "rwwrr", "cleo": "rrwrw", "dan": "rRwRr", "eva": "wwx-r",
    "finn": "rxwwx", "gina": "RRrrR", "hugo": "r----", "iris": "rrwrr", "jack": "xwwx-",
    "kate": "Rrwrr", "liam": "rwwwr", "mona": "rrwRR", "nico": "rxxrw", "olga": "rRRrr",
    "paul": "rrwwr", "quin": "wwwx-", "rosa": "Rrxrr", "sven": "rwwrx", "tess": "rrrrR",
    "ugo": "rrwxr", "vera": "RRwrr", "walt": "r-wrw", "xena": "rrwRr",
}  # fmt: skip
"""The answers of each student to the exercises in order; `-` for none."""

STUDENT = "ben"
"""The student whose feedback is pictured, with the first answer right, two wrong, and two right."""

REPORT_DATE = datetime(2026, 3, 2, 9, 30)
"""The date on the report, fixed so that the picture does not change every time."""

SECRET = "pictures"
"""The seed of the random models; a real class has a random one."""

AT_ONCE = 2
GAP = 6
FEEDBACK_WIDTH, REPORT_WIDTH = 1100, 880


def take() -> None:
    """Grade the class, and make pictures of a feedback page and of the report.

    Raises:
        CannotPicture: this machine has no sandbox.
    """
    if reason := why_no_box():
        raise CannotPicture(f"A class is graded in a sandbox, and there is none here: {reason}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "my_class"
        _grade(home)
        take_of(home)


def take_of(home: Path) -> None:
    """Make the pictures of a graded class."""
    on_class = report(home, now=REPORT_DATE)
    on_student = home / "feedback" / STUDENT / CHAPTER / f"{CHAPTER}.html"
    with chromium() as browser:
        for theme in THEMES:
            save(_feedback(new_page(browser, theme, FEEDBACK_WIDTH), on_student), "feedback", theme)
            save(_report(new_page(browser, theme, REPORT_WIDTH), on_class), "report", theme)


def _grade(home: Path) -> None:
    """Make the classroom, submit, grade, and make the feedback."""
    create(home, choose(CHAPTER))
    for student, letters in CLASS.items():
        work = _submission(student, letters).notebook(room.released(home, CHAPTER))
        room.hand_in(home, student, CHAPTER, work)
    print(f"Grading {len(CLASS)} notebooks, which takes some minutes ...")
    grade_class(home, GradingOptions(jobs=AT_ONCE, settings={"secret": SECRET}))
    done = room.nbgrader(home, "generate_feedback", CHAPTER)
    if done.returncode:
        raise CannotPicture(f"nbgrader generate_feedback failed:\n{done.stdout[-2000:]}")


def _submission(student: str, letters: str) -> Submission:
    chosen = zip(STYLES.items(), letters, strict=True)
    texts = {name: _text(name, by[letter]) for (name, by), letter in chosen if letter != "-"}
    return Submission(student, CHAPTER, "", texts)


def _text(exercise: str, style: str) -> str:
    if style == SHORT:
        return inspect.getsource(answers.add_to_mul).strip()
    return text_of(exercise, style)


def _feedback(page: Page, path: Path) -> bytes:
    """The top of a feedback page, with the first two answers and their cards."""
    page.goto(path.as_uri())
    return _top(page, page.locator("main > section").nth(2))


def _report(page: Page, path: Path) -> bytes:
    """The top of a report, with the exercises that stand out."""
    page.goto(path.as_uri())
    return _top(page, page.locator("main > section").nth(1))


def _top(page: Page, end: Locator) -> bytes:
    """A screenshot of a page from its top to the gap before an element."""
    box = end.bounding_box()
    size = page.viewport_size
    assert box is not None and size is not None
    height = box["y"] - GAP
    png = page.screenshot(
        clip={"x": 0, "y": 0, "width": size["width"], "height": height}, full_page=True
    )
    page.close()
    return png
