"""`fxcourse hunt`: its findings, their size, and messages about bad input."""

from __future__ import annotations

import io
import itertools
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn
from typer.testing import CliRunner

from autograder.builder.paths import ROOT
from autograder.cli import hunt as command
from autograder.cli.main import app
from autograder.fuzz.grammar import Vocabulary, ops
from autograder.hunt.behaviour import LOSS, MODES, RESULT
from autograder.hunt.card import card_of
from autograder.hunt.loading import CannotLoad, as_change, loaded
from autograder.hunt.saved_test import file_of
from autograder.hunt.search import Hunt, models, operations
from autograder.hunt.settings import DEFAULT_KINDS
from autograder.hunt.trying import CAPTURED, ENDLESS, RAISES, Given, Question

PAGE = (ROOT / "docs" / "engineers" / "hunting.md").read_text(encoding="utf-8")

UNFIT = """
def two(gm, other): ...
def number(gm): return 3
def nothing(gm): ...
class Pass: ...
"""

WORDS = Vocabulary(
    ops("torch.relu({a})", "{a} + {b}", "torch.sigmoid({a})"),
    shapes=((2, 3),),
    traced=False,
    most=4,
)


def _hunt(change: object, most: int = 40, **more: object) -> Hunt:
    given = more.get("given", "trace")
    question = Question(as_change(change, given), first_only=given in CAPTURED, **more)
    hunt = Hunt(question, {"words": WORDS})
    for _ in hunt.steps(most, enough=2):
        pass
    return hunt


def _retargets_relu(gm: fx.GraphModule) -> None:
    for node in gm.graph.nodes:
        if node.name.startswith("relu"):
            node.replace_all_uses_with(node.args[0])
    gm.recompile()


def test_a_right_pass_holds_and_a_wrong_one_is_shown_by_the_smallest_model() -> None:
    assert _hunt(lambda gm: None).found == []
    found = _hunt(_retargets_relu).smallest
    assert found is not None
    assert operations(found.model.source) == {"torch.relu"}
    assert found.model.lines == 4  # the class, forward, the call, return


@pytest.mark.parametrize("given", CAPTURED)
def test_a_pass_that_changes_nothing_holds_on_captured_graphs(given: Given) -> None:
    right, wrong = (lambda gm: None), _makes_relu_a_sigmoid
    assert _hunt(right, 8, given=given).found == []
    found = _hunt(wrong, 40, given=given).found
    assert {each.failure.aspect for each in found} == {LOSS if given == "step" else RESULT}


def test_a_pass_gets_a_program_that_agrees_with_its_signature() -> None:
    def save(program: Any) -> None:
        torch.export.save(program, io.BytesIO())

    words = replace(WORDS, namesakes=("max",), inputs=("tensor",))
    question = Question(as_change(save, "exported"), given="exported", first_only=True)
    hunt = Hunt(question, {"words": words})
    list(hunt.steps(8, enough=1))
    assert any("x, max" in model.source for model in itertools.islice(models({"": words}, 0), 8))
    assert hunt.found == [] and hunt.tried


def test_a_pass_that_changes_the_mode_of_an_aten_graph_is_wrong() -> None:
    assert {each.failure.aspect for each in _hunt(_to_eval, 8, given="aten").found} == {MODES}


def _makes_relu_a_sigmoid(given: Any) -> None:
    gm = given if isinstance(given, fx.GraphModule) else given.graph_module
    for node in gm.graph.nodes:
        if node.target is torch.ops.aten.relu.default:
            node.target = torch.ops.aten.sigmoid.default
    gm.recompile()


def _to_eval(gm: fx.GraphModule) -> None:
    gm.eval()


def test_an_oracle_gets_the_arguments_of_a_keyword_call_by_position() -> None:
    def second(gm: fx.GraphModule) -> None:
        """Fail on models with two tensor inputs."""
        names = [node for node in gm.graph.nodes if node.op == "placeholder"]
        names[-1].replace_all_uses_with(names[0])
        gm.recompile()

    words = replace(WORDS, inputs=("tensor",))
    question = Question(as_change(lambda gm: None), lambda m: fx.Interpreter(_trace(m)).run)
    for change, found in ((question.change, 0), (as_change(second), 1)):
        hunt = Hunt(replace(question, change=change), {"words": words})
        list(hunt.steps(8, enough=1))
        assert len(hunt.found) == found


def _trace(model: nn.Module) -> fx.GraphModule:
    return fx.symbolic_trace(model)


def test_the_same_seed_gives_the_same_models() -> None:
    first, second = (_hunt(_retargets_relu, 10) for _ in range(2))
    assert [each.first.source for each in first.found] == [e.first.source for e in second.found]


def test_a_pass_that_raises_and_one_that_does_not_end() -> None:
    def raises(gm: fx.GraphModule) -> None:
        raise KeyError("sum")

    def endless(gm: fx.GraphModule) -> None:
        for node in gm.graph.nodes:
            with gm.graph.inserting_after(node):
                gm.graph.call_method("neg", (node,))

    failures = [each.failure for each in _hunt(raises).found]
    assert {failure.aspect for failure in failures} == {RAISES}
    where = r"It came from line \d+ of test_hunting.py: `raise KeyError\(.sum.\)`."
    assert re.fullmatch(where, failures[0].where)
    hunt = _hunt(endless, seconds=0.1)
    assert [each.failure.aspect for each in hunt.found] == [ENDLESS]
    assert hunt.drawn < 40  # it stops at the first hang


# ------------------------------------------------------------------ the command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that contains the passes from the page."""
    code = "\n\n".join(map(textwrap.dedent, re.findall(r"```python\n(.*?)```", PAGE, re.S)))
    (tmp_path / "my_passes.py").write_text(code + UNFIT, encoding="utf-8")
    for name in ("tests", "moved"):
        (tmp_path / name).mkdir()
    (tmp_path / "broken.py").write_text("import nowhere_at_all\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_passes", raising=False)
    return tmp_path


def _run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["hunt", *words])
    return done.exit_code, done.output


def test_the_page_is_true(folder: Path) -> None:
    asked = re.findall(r"`fxcourse hunt (my_passes:[^`]+)` ends with (\d)", PAGE)
    assert len(asked) == 3
    for words, status in asked:
        code, output = _run(*words.split())
        assert code == int(status), output
        if "freeze" in words:
            assert "has other values" in output and "is in training mode" in output
    shown = re.search(r"```text\n(.*?)```", PAGE, re.S)
    assert shown and shown[1] in output.replace("        \n", "\n")
    code, output = _run("my_passes:freeze_exactly", "--eval", "--kinds", "convolutions", "-n", "30")
    assert code == command.HOLDS, output
    code, output = _run("my_passes:no_zero", "--kinds", "identities", "--enough", "1")
    assert code == command.FOUND and "not float32" in output


def test_the_page_lists_the_kinds() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| (yes|no) \|$", PAGE, re.M)
    assert dict(rows) == {kind: "yes" if kind in DEFAULT_KINDS else "no" for kind in command.SAYS}


def test_a_counterexample_is_written_as_page_and_as_test(folder: Path) -> None:
    code, output = _run(
        "my_passes.py:silu", "--oracle", "my_passes:with_silu", "--kinds", "convolutions",
        "-n", "8", "--enough", "1", "--html", "card.html", "--save", "tests",
    )  # fmt: skip
    assert code == command.FOUND, output
    assert "The smallest model that shows it" in output
    page = (folder / "card.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "class Model" in page
    assert "<script" not in page
    shutil.move(folder / "tests", folder / "moved" / "tests")
    shutil.move(folder / "my_passes.py", folder / "moved")
    (file,) = map(str, (folder / "moved" / "tests").glob("test_hunted_*.py"))
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, cwd="/")
    assert done.returncode == 1 and "AssertionError: the result" in done.stderr


def test_a_card_names_the_other_counterexamples_in_both_forms() -> None:
    hunt = _hunt(_retargets_relu, 8)
    best = hunt.smallest
    assert best is not None
    other = replace(best, failure=replace(best.failure, says="another mistake"))
    card = card_of(best, hunt.question, "title", [other, best, other])
    for text in (card.text(), card.page()):
        assert text[text.index("Also found") :].count("a = torch.relu(x)") == 1
    assert "Also found" not in card_of(best, hunt.question, "title", [best]).page()


def test_a_saved_test_adds_no_folder_for_an_installed_pass(folder: Path) -> None:
    found = _hunt(_retargets_relu, 8)
    save = folder / "test_it.py"
    written = {
        words: file_of(found.smallest, found.question, save, words).count("sys.path")
        for words in ("my_passes:silu", "os.path:join", "torch.fx:symbolic_trace")
    }
    assert written == {"my_passes:silu": 1, "os.path:join": 0, "torch.fx:symbolic_trace": 0}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["my_passes"], "write MODULE:FUNCTION"),
        (["my_passes:frezze"], "Did you mean 'freeze'"),
        (["nowhere:freeze"], "There is no module 'nowhere' for the pass"),
        (["nowhere.py:freeze"], "There is no file 'nowhere.py' for the pass"),
        (["broken:freeze"], "No module named 'nowhere_at_all'"),
        (["my_passes:two"], "takes only the model"),
        (["my_passes:Pass"], "is a class"),
        (["my_passes:number", "-n", "3"], "returned an object of type int"),
        (
            ["my_passes:number", "--given", "exported", "-n", "3"],
            "With --given exported it must return an ExportedProgram",
        ),
        (
            ["my_passes:nothing", "--given", "step", "--oracle", "my_passes:with_silu", "-n", "3"],
            "With --given step it must return a module",
        ),
        (["my_passes:nothing", "--kinds", "birds"], "There is no kind of models 'birds'"),
        (
            ["my_passes:nothing", "--ignore", "dtypes"],
            "There is no word for a change to ignore 'dtypes'",
        ),
        (["my_passes:nothing", "--given", "code"], "There is no input of a pass 'code'"),
        (["my_passes:nothing", "--html", "no/card.html"], "There is no folder 'no'"),
        (["my_passes:nothing", "--oracle", "my_passes:number", "-n", "3"], "Your oracle returned"),
    ],
)
def test_bad_input_gets_an_error_that_says_what_to_do(
    folder: Path, words: list[str], says: str
) -> None:
    code, output = _run(*words)
    assert code == command.UNUSABLE
    assert says in " ".join(output.split())


@pytest.mark.parametrize("words", [["--kinds", "help"], ["any:thing", "--kinds", "help"]])
def test_the_kinds_are_listed_without_a_pass_too(words: list[str]) -> None:
    code, output = _run(*words)
    assert code == 0
    assert "convolutions" in output


def test_models_that_cannot_be_used_have_a_readable_reason(folder: Path) -> None:
    code, output = _run("my_passes:nothing", "-n", "40", "--kinds", "literals")
    assert code == command.HOLDS
    assert "right on all" in output
    assert "could not be used: " in output and output.count("`") == 0


def test_the_reasons_of_all_models_that_cannot_be_used_are_counted() -> None:
    hunt = _hunt(lambda gm: None, 0)
    assert command._reasons(hunt) == ""
    hunt.useless.update({"a": 13, "b": 7, "c": 4})
    assert command._reasons(hunt) == "a (13), b (7), c (4)"
    hunt.useless["d"] = 1
    assert command._reasons(hunt) == "a (13), b (7), c (4), other (1)"


def test_a_function_is_found_by_its_dotted_name() -> None:
    assert loaded("os.path:join", "the pass")
    with pytest.raises(CannotLoad, match="cannot be called"):
        loaded("os:sep", "the pass")
