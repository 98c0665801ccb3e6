"""The files of submissions: the meaning of their tables, and errors about mistakes in them."""

from __future__ import annotations

import pytest

from autograder.exercises import of_chapter
from tests.support.submissions import ALL, NOTHING, Submission, all_but
from tests.support.submissions.answer_text import text_of
from tests.support.submissions.reader import SubmissionsError, read

CHAPTER = "02_nodes"
TABLES = """
[does]
eva = "plays"

[cells]
eva = ["1 + 1", "2 + 2"]

[count_ops]
ada = "a Counter with every key"
dan = { style = "submodules of the model instead of calls", loses = ["graphs"] }
finn.text = "def count_ops(model):\\n    return 1"

[inputs_of]
ada = "a stack instead of recursion"
bert.style = "a stack instead of recursion"
bert.wrapper = "def inputs_of(node):\\n    return honest(node)"
dan = { style = "names instead of nodes", loses = "everything" }
gina = { text = "inputs_of = len", loses = [] }

[accidents]
killer = { on = "inputs_of", by = "os.abort()", only = ["inputs_of"] }
deleted_checks = { on = ["count_ops"], answers_of = "bert" }
"""


def by_student(text: str) -> dict[str, Submission]:
    return {submission.student: submission for submission in read(CHAPTER, text)}


def test_tables_become_submissions() -> None:
    found = by_student(TABLES)
    assert list(found) == "cleo ada bert dan eva finn gina jack mona".split()
    assert found["ada"].does == "all right" and found["eva"].does == "plays"
    assert found["cleo"].answers == {} and found["eva"].answers == {}
    assert len(found["eva"].edits) == 2 and found["ada"].edits == ()
    right = text_of("inputs_of", "a stack instead of recursion")
    assert found["ada"].answers["inputs_of"] == right
    honest = right.replace("def inputs_of(", "def honest(")
    assert found["bert"].answers == {
        "inputs_of": f"{honest}\n\ndef inputs_of(node):\n    return honest(node)"
    }
    assert found["finn"].answers == {"count_ops": "def count_ops(model):\n    return 1"}


def test_shares_are_what_the_tables_say() -> None:
    found = by_student(TABLES)
    assert found["ada"].earns == {"count_ops": ALL, "inputs_of": ALL}
    assert found["dan"].earns == {
        "count_ops": all_but("count_ops", "graphs"),
        "inputs_of": NOTHING,
    }
    assert found["finn"].earns == {"count_ops": NOTHING}
    assert found["gina"].earns == {"inputs_of": ALL}
    worth = {exercise.name: exercise.points for exercise in of_chapter(CHAPTER)}
    assert found["ada"].points() == {
        **dict.fromkeys(worth, 0.0),
        "count_ops": worth["count_ops"],
        "inputs_of": worth["inputs_of"],
    }


def test_accidents_happen_to_right_answers() -> None:
    found = by_student(TABLES)
    assert list(found["jack"].answers) == ["inputs_of"]
    assert "os.abort()" in found["jack"].answers["inputs_of"]
    assert found["jack"].earns == {"inputs_of": NOTHING}
    assert found["mona"].answers == found["bert"].answers and len(found["mona"].edits) == 1


RIGHT = 'ada = "a Counter with every key"'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[count_ops", "Expected ']'"),
        ("[count_cops]", "there is no exercise 'count_cops', only count_ops, "),
        ('[count_ops]\nzoe = ""', "there is no student 'zoe', only ada, "),
        ('[does]\nzoe = ""', "there is no student 'zoe', only ada, "),
        ('[count_ops]\nada = "neat"', "count_ops.ada: count_ops has no answer 'neat'"),
        (
            '[count_ops]\ndan = { text = "", loses = ["speed"] }',
            "count_ops.dan: count_ops has no aspect 'speed', only ",
        ),
        (
            '[count_ops]\ndan = { text = "", loses = "graphs" }',
            "count_ops.dan: 'loses' is a list of aspects, or \"everything\"",
        ),
        (
            '[count_ops]\ndan = { code = "" }',
            "count_ops.dan: it has code, and an answer has one of: text; style; "
            "style, replace, by; style, fitted_to, otherwise; style, wrapper",
        ),
        ("[count_ops]\ndan = 1", "count_ops.dan: an answer is a style or a table"),
        ("[count_ops]\ndan = { text = 1 }", "count_ops.dan: text must be text"),
        (
            '[count_ops]\neva = { style = "", fitted_to = "names", otherwise = "" }',
            "count_ops.eva: there is no way to be fitted to 'names', only classes, graphs, seeds",
        ),
        (
            f"[count_ops]\n{RIGHT.replace('ada =', 'dan.style =')}\n"
            'dan.replace = "nothing like this"\ndan.by = ""',
            "count_ops.dan: the answer 'a Counter with every key' does not contain 'nothing like",
        ),
        ("[accidents]\nflod = {}", "accidents.flod: there is no accident 'flod', only below, "),
        ("[accidents]\nflood = {}", "accidents.flood: it needs on, and has nothing"),
        ('[accidents]\nflood = { on = "x" }', "accidents.flood: there is no exercise 'x', only "),
        (
            '[accidents]\nflood = { on = "count_ops" }',
            "accidents.flood: it needs an answer to count_ops",
        ),
        (
            '[accidents]\nflood = { on = "count_ops", answers_of = "dan" }',
            "accidents.flood: there is no student with right answers 'dan', only ada, bert",
        ),
        (
            f'[count_ops]\n{RIGHT}\n[accidents]\nflood = {{ on = "count_ops", only = ["x"] }}',
            "accidents.flood: there is no answer of ada to 'x', only count_ops",
        ),
    ],
)
def test_mistakes_are_refused(text: str, says: str) -> None:
    with pytest.raises(SubmissionsError) as caught:
        read(CHAPTER, text)
    assert says in str(caught.value)
