"""`fails` shows an intended error in one line; any other error stays an error."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook
from torch import fx

from autograder import fails
from autograder.builder.outputs.execute import execute
from autograder.cards.failing import DidNotFail, Failure, NoFailure
from tests.unit.cards.test_show_card import read


def test_an_error_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with fails(ValueError) as shown:
        raise ValueError("\n  first line\nsecond line")
    assert capsys.readouterr() == ("ValueError: first line  (as expected)\n", "")
    assert type(shown.error) is ValueError and shown.error.__traceback__ is None


def test_a_line_that_announces_others_says_that_they_are_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with fails(TypeError):
        torch.div(torch.ones(1), torch.ones(1), alpha=1)
    assert capsys.readouterr().out.endswith("but expected one of: …  (as expected)\n")


def test_an_error_without_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    with fails(AssertionError):
        raise AssertionError
    assert capsys.readouterr().out == "AssertionError  (as expected)\n"


def test_its_own_type_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with fails(ValueError):
        fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x)
    assert capsys.readouterr().out.startswith("TraceError: symbolically traced variables")


def test_what_fx_prints_goes_into_the_fold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[Failure] = []
    monkeypatch.setattr("autograder.cards.failing.show", shown.append)
    gm = fx.symbolic_trace(lambda x, mask=None: x * mask)
    with fails(TypeError):
        gm(torch.ones(2))
    assert capsys.readouterr() == ("", "")
    (failure,) = shown
    words = "".join(read(failure.html()).words)
    assert "unsupported operand" in words and "gm(torch.ones(2))" in words
    assert "traced Module's generated forward function" in words
    assert "<details" in failure.html() and "open" not in failure.html().split("<summary")[0]


def test_it_raises_if_nothing_failed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DidNotFail, match="meant to raise KeyError; they did not"):
        with fails(KeyError):
            print("all right", file=sys.stderr)
    assert capsys.readouterr() == ("", "all right\n")


@pytest.mark.parametrize("version", ["2.14.1+cpu", "2.15.0.dev20261101+cpu"])
def test_an_error_that_a_later_pytorch_does_not_raise(
    version: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch, "__version__", version)
    raises = version.startswith("2.14")
    if raises:
        with fails(KeyError, until="2.15"):
            {}["a"]
        with pytest.raises(DidNotFail), fails(KeyError, until="2.15"):
            pass
        assert capsys.readouterr().out == "KeyError: 'a'  (as expected)\n"
    else:
        with fails(KeyError, until="2.15"):
            pass
        with pytest.raises(KeyError), fails(KeyError, until="2.15"):
            {}["a"]
        said = capsys.readouterr().out
        assert said.startswith(f"No error: your PyTorch {version} has fixed this. Versions before ")
        assert said.endswith("before 2.15 raise KeyError.\n")


def test_the_line_about_a_fixed_error_is_text_in_a_notebook() -> None:
    html = NoFailure("<b>", "2.15")._repr_mimebundle_()["text/html"]
    assert "<b>" not in html and "before 2.15 raise &lt;b&gt;." in html


def test_another_error_goes_on_its_way() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        with fails(KeyError):
            int("no number")


@pytest.mark.parametrize("kind", ["TypeError", TypeError("x"), int, None, lambda: 1 / 0])
def test_what_is_no_type_of_errors_is_told(kind: object) -> None:
    with pytest.raises(TypeError, match="takes the type of an error: write `with fails"):
        fails(kind)  # type: ignore[arg-type]


def test_what_a_message_holds_stays_text() -> None:
    html = Failure("ValueError", "<b>no</b>", "<i>trace</i>", "<script>").html()
    assert "<b>" not in html and "<i>" not in html and "<script>" not in html
    assert "<b>no</b>" in "".join(read(html).words)


def test_a_notebook_shows_the_line_and_no_error(tmp_path: Path) -> None:
    code = "from autograder import fails\nwith fails(ZeroDivisionError):\n    1 / 0"
    run = execute(new_notebook(cells=[new_code_cell(code)]), cwd=tmp_path)
    (output,) = run.cells[0].outputs
    assert output.output_type == "display_data"
    assert output.data["text/plain"] == "ZeroDivisionError: division by zero  (as expected)"
    assert "The whole traceback" in output.data["text/html"]
