"""Cells that students added, moved, renamed or deleted."""

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell, new_raw_cell

from tests.security.unusual_but_honest import RETARGET, at_end, cell, honest
from tests.security.unusual_but_honest.files import PIXEL
from tests.support.submissions.answer_text import text_of
from tests.support.submissions.edits import delete, fill, place_of

ADD_TO_MUL = text_of("add_to_mul", "targets edited in place")
BOTH = {"retarget": RETARGET, "add_to_mul": ADD_TO_MUL}


def answer_above_its_text(nb: NotebookNode) -> None:
    """Move the answer above the text that poses the exercise."""
    place = place_of(nb, "retarget")
    nb.cells.insert(place - 2, nb.cells.pop(place))


def checks_at_the_end(nb: NotebookNode) -> None:
    """Move all checks to the end."""
    checks = [c for c in nb.cells if str(c.get("source")).startswith("check(")]
    nb.cells = [c for c in nb.cells if c not in checks] + checks


def only_what_counts(nb: NotebookNode) -> None:
    """Delete all cells except the imports, the answers and the checks."""
    imports = next(c for c in nb.cells if c.cell_type == "code")
    nb.cells = [c for c in nb.cells if "nbgrader" in c.metadata or c is imports]


def no_text(nb: NotebookNode) -> None:
    """Delete all text."""
    nb.cells = [c for c in nb.cells if c.cell_type == "code"]


def many_cells(nb: NotebookNode) -> None:
    """Add three hundred empty or small cells."""
    for number in range(100):
        cell("")(nb)
        cell(f"x_{number} = {number}")(nb)
        cell("   \n# nothing\n")(nb)


def own_words(nb: NotebookNode) -> None:
    """Add text with pictures and formulas, and raw text, around the answer."""
    place = place_of(nb, "retarget")
    words = new_markdown_cell("# Notes\n\n$a < b$ `<script>`\n\n![seen](attachment:seen.png)")
    words["attachments"] = {"seen.png": {"image/png": PIXEL}}
    nb.cells[place:place] = [words, new_raw_cell("raw <text> & more"), new_markdown_cell("")]


def lost_attachment(nb: NotebookNode) -> None:
    """Copy text from another cell without its picture."""
    nb.cells.insert(3, new_markdown_cell("![graph](attachment:image.png)"))


def imports_twice(nb: NotebookNode) -> None:
    """Repeat the imports above the answer, and empty the first cell."""
    first = next(c for c in nb.cells if c.cell_type == "code")
    cell(first.source)(nb)
    first.source = ""


SUBMISSIONS = [
    honest("answer-moved", "the answer stands above its text", answer_above_its_text),
    honest("checks-moved", "the checks are at the end", checks_at_the_end, answers=BOTH),
    honest("only-what-counts", "everything without points was deleted", only_what_counts),
    honest("no-text", "all text was deleted", no_text),
    honest(
        "no-checks",
        "check cells were deleted",
        delete("check-retarget"),
        delete("check-add_to_mul"),
        answers=BOTH,
    ),
    honest(
        "one-big-cell",
        "all answers are in the first answer's cell; the other is empty",
        fill("add_to_mul", ""),
        answers={"retarget": f"{RETARGET}\n\n\n{ADD_TO_MUL}"},
        elsewhere=("add_to_mul",),
    ),
    honest("many-cells", "300 cells more", many_cells),
    honest("own-words", "text, formulas, pictures and raw text", own_words),
    honest("lost-attachment", "text that names a picture that is not there", lost_attachment),
    honest("imports-moved", "the imports were moved down to the answer", imports_twice),
    honest(
        "answer-at-the-end",
        "the answer is in a cell of its own at the end",
        at_end(RETARGET),
        answers={},
        elsewhere=("retarget",),
    ),
    honest(
        "checks-again",
        "check and hint are called in cells of one's own",
        cell("check(retarget)\nhint('retarget')\nhint('retarget', 1)", below="retarget"),
    ),
    honest(
        "grades-itself",
        "grade, progress and a check with the hidden cases",
        cell("from autograder import grade\n\ngrade('retarget', retarget)", below="retarget"),
        cell("check(retarget, hidden=True)\nprogress()", below="check-retarget"),
    ),
    honest(
        "checks-something-else",
        "check is called with what it does not take",
        cell("check()"),
        cell("check(5)"),
        cell("check('retarget')"),
        cell("hint('no')"),
    ),
    honest(
        "check-edited-lightly",
        "the check has a comment and a blank line more",
        fill("check-retarget", "\n# let us see\ncheck(retarget)\n"),
    ),
    honest(
        "stubs-left",
        "the other answers still raise NotImplementedError, and are called",
        cell("add_to_mul(nn.ReLU())", below="add_to_mul"),
    ),
    honest(
        "nothing-answered",
        "an untouched notebook: nothing to lose, and nothing must break",
        answers={},
    ),
    honest("all-deleted", "a notebook without any cell", lambda nb: nb.cells.clear(), answers={}),
]
