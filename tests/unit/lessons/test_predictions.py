"""Predictions: the builder's output, the reply to a pick, and the record."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from autograder import builder, predict, progress
from autograder.boxed import stub_api
from autograder.builder.outputs import lesson_data, solved_chapter
from autograder.builder.paths import COURSE
from autograder.cards.prediction import PredictionCard
from autograder.cards.progress import Progress, Row, SmallTasks
from autograder.exercises import EXERCISES
from autograder.learner import predict as predict_module
from autograder.learner.author_lines import run_on_copy
from autograder.learner.predict import CannotPredict
from autograder.lessons import Option, Prediction, predictions
from autograder.workspace import progress_file
from tests.support import build_fixture
from tests.support.build_fixture import CARDS, CHAPTER, line_of
from tests.unit.cards.test_show_card import read

ASKED = """\
# %% [markdown]
# Look at this.
#
# **Predict the result.** What is `after(1)`?
#
# <details><summary>One</summary>
#
# No. That is <code>1</code> itself.
#
# </details>
# <details><summary>Two</summary>
#
# Right. It is *the next one*.
#
# </details>
# <details><summary>Three</summary>
#
# One too many.
#
# </details>
#
# Go on.

"""
PLACE = '# %% [markdown] card="after"'
WITH = CHAPTER.replace(
    "def hint(name):", "def predict(name, letter):\n    print(name, letter)\n\n\ndef hint(name):"
).replace(PLACE, ASKED + PLACE)


def lesson(folder: Path, text: str = WITH) -> dict[str, dict[str, object]]:
    """The chapter's explanations, from the generated file."""
    import json

    return json.loads(lesson_data.lesson_text(build_fixture.write(folder, text), CARDS))


# The builder


def test_a_prediction_becomes_a_question_and_a_cell_to_answer_it(tmp_path: Path) -> None:
    cells = builder.build(build_fixture.write(tmp_path, WITH), CARDS).cells
    row = lesson(tmp_path)["predictions"]["07.1"]
    (place,) = (i for i, c in enumerate(cells) if c.id == f"predict-{row['mark']}")
    question, asked, rest = cells[place - 1 : place + 2]
    lead, *options = question.source.split("\n* ")
    assert lead == "Look at this.\n\n**Predict the result.** What is `after(1)`?\n"
    assert options == [f"**{option['letter']}** · {option['text']}" for option in row["options"]]
    assert sorted(option["text"] for option in row["options"]) == ["One", "Three", "Two"]
    assert asked.source == 'predict("07.1", "?")  # a, b or c'
    assert asked.metadata == {}
    assert rest.source == "Go on."
    (right,) = (option for option in row["options"] if option["letter"] == row["right"])
    assert right == {**right, "text": "Two", "why": "Right. It is *the next one*."}
    assert "No. That is `1` itself." in [option["why"] for option in row["options"]]


def test_a_notebook_does_not_say_what_is_right(tmp_path: Path) -> None:
    text = builder.as_text(builder.source_notebook(build_fixture.write(tmp_path, WITH), CARDS))
    for said in ("Right.", "too many", "the next one*", "<details>"):
        assert said not in text


def test_a_prediction_renames_no_other_cell(tmp_path: Path) -> None:
    with_one = builder.build(build_fixture.write(tmp_path, WITH), CARDS)
    without = builder.build(build_fixture.write(tmp_path, CHAPTER), CARDS)
    ids = {c.id for c in without.cells}
    first_code = next(c.id for c in without.cells if c.cell_type == "code")
    assert {c.id for c in with_one.cells} > ids - {first_code}  # this cell defines `predict`


def test_what_is_called_joins_the_import(tmp_path: Path) -> None:
    text = WITH.replace("def check(", "from autograder import check, progress\n\n\ndef check(", 1)
    text = text.replace("def predict(", "def foretell(")
    first = builder.build(build_fixture.write(tmp_path, text), CARDS).cells[1].source
    assert first.startswith("from autograder import check, predict, progress\n")


def test_the_order_of_options_does_not_depend_on_that_in_the_source(tmp_path: Path) -> None:
    first, second = ASKED.index("# <details><summary>One"), ASKED.index("# <details><summary>Two")
    third = ASKED.index("# <details><summary>Three")
    swapped = ASKED[:first] + ASKED[second:third] + ASKED[first:second] + ASKED[third:]
    assert swapped != ASKED and len(swapped) == len(ASKED)
    assert lesson(tmp_path) == lesson(tmp_path, WITH.replace(ASKED, swapped))


REFUSED = {
    "nothing is right": ("Right. It is", "It is", "**Predict", "No options of this prediction"),
    "two are right": ("One too many", "Right, too", "**Predict", "2 options of this prediction"),
    "one option": (
        ASKED[ASKED.index("# <details><summary>One") : ASKED.index("# <details><summary>Two")]
        + ASKED[ASKED.index("# <details><summary>Two") : ASKED.index("#\n# Go on")],
        "",
        "**Predict",
        "has 0 options, and not 2 to 6",
    ),
    "an option that is not closed": (
        "# One too many.\n#\n# </details>",
        "# One too many.",
        "# Look at this.",
        "is not closed",
        -1,
    ),
    "no reason": ("# One too many.", "#", "Three", "or is not explained"),
    "text between options": (
        "# </details>\n# <details><summary>Two",
        "# </details>\n# And\n# <details><summary>Two",
        "# No. That is",
        "text between two options",
        +2,
    ),
    "HTML": ("One too many", "<b>One</b> too many", "Three", "This option holds '<b>'"),
    "two questions": (
        "# Go on.", "# **Predict the graph.** Well?", "**Predict the graph", "a second prediction",
    ),
    "within a line": ("# **Predict", "# Now: **Predict", "# Now: **Predict", "in the middle of a"),
    "no import": ("def predict(", "def foretell(", "# Look at this.", "needs `predict`", -1),
}  # fmt: skip


@pytest.mark.parametrize("change", REFUSED)
def test_a_broken_prediction_is_refused(tmp_path: Path, change: str) -> None:
    old, new, at, says, *offset = REFUSED[change]
    assert WITH.count(old) == 1
    text = WITH.replace(old, new)
    with pytest.raises(builder.BuildRefused) as caught:
        builder.build(build_fixture.write(tmp_path, text), CARDS)
    line = sum(offset, start=line_of(text, at))
    found = [(problem.line, problem.message) for problem in caught.value.problems]
    assert any(number == line and says in message for number, message in found), found


def test_a_solved_chapter_has_the_right_letter(tmp_path: Path) -> None:
    path = solved_chapter.write_solved(
        build_fixture.write(tmp_path, WITH), tmp_path / "solved", CARDS
    )
    right = lesson(tmp_path)["predictions"]["07.1"]["right"]
    assert f'predict(\\"07.1\\", \\"{right}\\")' in path.read_text(encoding="utf-8")


# The course's own predictions


def test_each_prediction_of_the_notebooks_can_be_made(total) -> None:
    for path in COURSE.glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        asked = [c.source.split('"')[1] for c in cells if c.id.startswith("predict-")]
        assert asked == list(predictions().get(path.stem, {})), path.stem
        total("predictions in the notebooks", len(asked))


def test_the_place_of_the_right_option_says_nothing() -> None:
    every = [asked for chapter in predictions().values() for asked in chapter.values()]
    places = Counter(asked.right for asked in every if len(asked.options) == 3)
    assert set(places) == set("abc")
    # A random order puts a third at each place; rewording shuffles the options again.
    assert max(places.values()) < sum(places.values()) * 2 / 3
    assert len({asked.mark for asked in every}) == len(every)


# Output for a learner

TOLD = Prediction(
    "03.1", "b",
    (Option("a", "Zeros `0`", "No, <b>not</b> so."), Option("b", "Twos", "Right. Because.")),
    "mark",
)  # fmt: skip


def test_a_card_explains_every_option() -> None:
    card = PredictionCard(TOLD, "a", "a")
    assert card.html().startswith('<div role="region" aria-label="Prediction 03.1" ')
    words = "".join(read(card.html()).words)
    for said in (words, repr(card)):
        for part in ("you picked a, and b is right.", "No, <b>not</b> so.", "Right. Because."):
            assert part in said
        assert said.count("✓") == 1 and said.count("your pick") == 1
        assert "first pick" not in said
    assert "that is right. Your first pick, a, is the one" in repr(PredictionCard(TOLD, "b", "a"))


PROOF = "torch.rand(1)\ndouble = count * 2\nprint(double)\nassert double == 4"
count = 2  # a proof reads the values of the module that calls `predict`


def test_the_proof_below_a_prediction_is_told_with_the_answer(tmp_path: Path) -> None:
    text = WITH.replace(ASKED, f"{ASKED}# %% proof=true\n{PROOF}\n\n")
    assert lesson(tmp_path, text)["predictions"]["07.1"]["proof"] == PROOF
    assert "proof" not in lesson(tmp_path)["predictions"]["07.1"]
    text = WITH.replace(ASKED, f"{ASKED}# %%\nshown = 1\n\n# %% proof=true\n{PROOF}\n\n")
    assert "proof" not in lesson(tmp_path, text)["predictions"]["07.1"]


@pytest.mark.parametrize(
    ("value", "says"),
    [(2, "it holds with your PyTorch 2"), (3, "has now (AssertionError). Run the cells above"),
     (None, "has now (TypeError). Run the cells above")],
)  # fmt: skip
def test_the_proof_runs_when_a_letter_is_picked(
    value: int | None, says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    asked = {"03_manipulation": {"03.1": replace(TOLD, proof=PROOF)}}
    monkeypatch.setattr(predict_module, "predictions", lambda: asked)
    monkeypatch.setitem(globals(), "count", value)
    state = torch.get_rng_state()
    predict("03.1", "a")
    said = capsys.readouterr().out
    assert torch.equal(torch.get_rng_state(), state)
    assert said.count("The proof.") == 1 and says in said and "double = count * 2" in said
    assert "4" not in said.splitlines() and "double" not in globals()


def test_what_a_proof_displays_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    shell, shown = InteractiveShell.instance(), []
    monkeypatch.setattr(shell, "kernel", None, raising=False)
    monkeypatch.setattr(shell.display_pub, "publish", lambda *_, **said: shown.append(said))
    code = "from IPython.display import display\ndisplay('an error, as expected')"
    try:
        run_on_copy(code, {}, "proof")
        assert not shown
        exec(code, {})
        assert shown  # without `run_on_copy`, it is shown
    finally:
        InteractiveShell.clear_instance()


def test_the_first_pick_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = predictions()["03_manipulation"]["03.1"]
    wrong = next(o.letter for o in asked.options if o.letter != asked.right)
    progress_file.record_verdict("retarget", "passed")
    predict("03.1", f" {wrong.upper()} ")
    predict("03.1", asked.right)
    predict("03.2", predictions()["03_manipulation"]["03.2"].right)
    assert progress_file.first_picks()[asked.mark] == wrong
    assert progress_file.verdicts() == {"retarget": "passed"}
    assert f"Your first pick, {wrong}, is the one that counts" in capsys.readouterr().out
    progress()
    said = capsys.readouterr().out
    here = sum(e.chapter == "03_manipulation" for e in EXERCISES.values())
    made = f"2 of {len(predictions()['03_manipulation'])} predictions made, 1 right at first"
    assert f"1 of {here} passed · {made}" in said
    assert "· 0 of 2 predictions made" in said


def test_a_question_mark_asks_for_a_letter_and_no_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    predict("03.1", "?")
    said = capsys.readouterr().out
    assert "write a, b or c" in said and said.count("\n") == 1
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "letter", "says"),
    [
        ("03.1", "z", "has no option 'z'. Write a, b or c in quotes"),
        ("03.1", 1, "has no option 1"),
        ("3.1", "a", 'Did you mean "03.1"?'),
        (3.1, "a", 'Did you mean "03.1"?'),
        ("13.11", "a", 'Did you mean "13.1"?'),
        ("", "a", "There is no prediction ''"),
    ],
)
def test_what_there_is_not_is_told(name: str, letter: str, says: str) -> None:
    with pytest.raises(CannotPredict, match="prediction|Prediction") as caught:
        predict(name, letter)
    assert says in str(caught.value)
    assert caught.value._render_traceback_() == [f"CannotPredict: {caught.value}"]


def test_nothing_is_noted_while_grading(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    predict("03.1", "a")
    assert not any(tmp_path.iterdir()) and not progress_file.outside().path.exists()


def test_a_pick_that_cannot_be_read_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    record = progress_file.outside()
    for done in ({"predictions": 3}, {"predictions": {"a": 4}, "retarget": 5}):
        record.write(done)
        assert progress_file.first_picks() == progress_file.verdicts() == {}


def test_a_write_that_breaks_off_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    progress_file.record_verdict("retarget", "passed")

    def full(self: Path, text: str, encoding: str) -> int:
        self.write_bytes(text.encode(encoding)[:5])
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    progress_file.record_verdict("add_to_mul", "passed")
    assert progress_file.verdicts() == {"retarget": "passed"}
    left = {path.name for path in progress_file.outside().path.parent.iterdir()}
    assert left == {progress_file.NAME, f"{progress_file.NAME}.lock"}


def test_progress_without_predictions_is_as_it_was() -> None:
    rows = [Row("00_start", "node_names", "The names", 1, "passed")]
    assert "predictions" not in repr(Progress(rows, {"00_start": SmallTasks(0, 0, 0)}))


def test_in_the_box_predict_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    import autograder

    monkeypatch.setattr(autograder, "api", autograder.api)
    monkeypatch.setitem(sys.modules, "autograder.api", sys.modules["autograder.api"])
    stub_api.install({})
    autograder.predict("03.1", "?")
    autograder.predict("none", "z")
    assert capsys.readouterr().out == ""
