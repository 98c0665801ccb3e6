"""Saved counterexamples: each fails without the course until the pass is right, and then passes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from autograder.fuzz.grammar import Vocabulary, ops
from autograder.hunt import behaviour as doing
from autograder.hunt import standalone
from autograder.hunt.loading import as_change, loaded
from autograder.hunt.saved import run_saved, write
from autograder.hunt.saved_test import PREFIX, file_of
from autograder.hunt.search import Counterexample, Drawn, Hunt, models
from autograder.hunt.trying import CAPTURED, ENDLESS, RAISES, Failure, Given, Question
from autograder.hunt.vocabularies import KINDS
from autograder.models import build

PASSES = """
import os
import torch
from torch import fx

FIXED = "FIXED" in os.environ


def wrong(gm):
    for node in gm.graph.nodes:
        if node.op == "call_method" and node.target == "sigmoid":
            node.target = "tanh"
        if node.target is torch.ops.aten.sigmoid.default:
            node.target = torch.ops.aten.tanh.default
    gm.recompile()


def wrong_model(model):
    class Other(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *args):
            return -self.model(*args)

    return Other().train(model.training)


def wrong_program(ep):
    wrong(ep.graph_module)
    return ep, True


def cut_program(ep):
    ep.graph.erase_node(next(node for node in reversed(ep.graph.nodes) if node.op == "output"))
    return ep


def _at_the_end(gm, name, *args):
    output = next(node for node in gm.graph.nodes if node.op == "output")
    with gm.graph.inserting_before(output):
        gm.graph.call_method(name, args)
    gm.recompile()


def _first(gm, op):
    return next(node for node in gm.graph.nodes if node.op == op)


def writes_argument(gm):
    _at_the_end(gm, "zero_", _first(gm, "placeholder"))


def writes_state(gm):
    _at_the_end(gm, "add_", _first(gm, "get_attr"), 1)


def renames(gm):
    _, second = [node for node in gm.graph.nodes if node.op == "placeholder"]
    second.name = second.target = "other"
    gm.recompile()


def _detaches(gm, node):
    users = list(node.users)
    with gm.graph.inserting_after(node):
        new = gm.graph.call_method("detach", (node,))
    for user in users:
        user.replace_input_with(node, new)
    gm.recompile()


def detaches_argument(gm):
    _detaches(gm, _first(gm, "placeholder"))


def detaches_parameter(gm):
    _detaches(gm, _first(gm, "get_attr"))


def other_mode(gm):
    gm.train(not gm.training)


def raises(gm):
    raise KeyError("sum")


def endless(gm):
    while True:
        pass


def other_gradient(gm):
    output = next(node for node in gm.graph.nodes if node.op == "output")
    (loss, *rest) = output.args[0]
    output.args = ([loss, *(loss for _ in rest)],)
    gm.recompile()


def writes_parameter(gm):
    _at_the_end(gm, "zero_", _first(gm, "placeholder"))


def writes_x(gm):
    names = [node for node in gm.graph.nodes if node.op == "placeholder"]
    _at_the_end(gm, "zero_", names[-2])


if FIXED:
    for name, value in list(vars().items()):
        if callable(value) and not name.startswith("_"):
            vars()[name] = lambda given: None
"""

SIGMOID = ops("{x}.sigmoid()")
BUFFER = ops("{x} * [buffer(torch.ones(()))]")
UNREAD = ops("{x} + ({x} + [buffer(torch.ones(()))]) * 0")
PARAMETER = ops("{x} * [nn.Parameter(torch.ones(()))]")

WRONG = {
    ("wrong_model", "model"): (SIGMOID, doing.RESULT),
    ("wrong", "trace"): (SIGMOID, doing.RESULT),
    ("wrong", "program"): (SIGMOID, doing.RESULT),
    ("wrong", "aten"): (SIGMOID, doing.RESULT),
    ("wrong_program", "exported"): (SIGMOID, doing.RESULT),
    ("cut_program", "exported"): (SIGMOID, doing.RESULT),
    ("wrong", "step"): (SIGMOID, doing.LOSS),
    ("other_gradient", "step"): (PARAMETER, doing.STEP_GRADIENTS),
    ("writes_parameter", "step"): (PARAMETER, doing.STATE),
    ("writes_x", "step"): (SIGMOID, doing.ARGUMENTS),
    ("writes_argument", "trace"): (SIGMOID, doing.ARGUMENTS),
    ("writes_state", "trace"): (UNREAD, doing.STATE),
    ("writes_state", "model"): (UNREAD, RAISES),
    ("renames", "trace"): (ops("{x} + {y}"), doing.KEYWORDS),
    ("detaches_argument", "trace"): (SIGMOID, doing.ARGUMENT_GRADIENTS),
    ("detaches_parameter", "trace"): (PARAMETER, doing.PARAMETER_GRADIENTS),
    ("other_mode", "trace"): (SIGMOID, doing.MODES),
    ("other_mode", "aten"): (SIGMOID, doing.MODES),
    ("raises", "trace"): (SIGMOID, RAISES),
    ("endless", "trace"): (SIGMOID, ENDLESS),
}
"""Passes and their inputs, with operations of models, and the aspect in which they are wrong.

`writes_state` of a model raises: a model has no graph. `AGAIN` has a test of its own."""


def words_of(own: tuple) -> Vocabulary:
    two = "{y}" in own[0].text
    return Vocabulary(
        own, shapes=((2,),), inputs=("tensor",) if two else ("",), results=("value",),
        parts=False, traced=False, dtypes=(torch.float64,), most=1,
    )  # fmt: skip


def _found(name: str, given: Given, own: tuple) -> tuple[Hunt, Counterexample]:
    change = as_change(loaded(f"hunted_passes:{name}", "the pass"), given)
    question = Question(change, given=given, first_only=given in CAPTURED, seconds=0.3)
    hunt = Hunt(question, {"words": words_of(own)})
    list(hunt.steps(20, enough=1))
    return hunt, hunt.found[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the passes, and a saved counterexample for each."""
    folder = tmp_path_factory.mktemp("hunted")
    (folder / "hunted_passes.py").write_text(PASSES, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        for (name, given), (own, aspect) in WRONG.items():
            hunt, found = _found(name, given, own)
            assert found.failure.aspect == aspect, (name, given, found.failure)
            path = folder / "saved" / f"{PREFIX}{name}_{given}.py"
            write(path, file_of(found, hunt.question, path, f"hunted_passes:{name}"))
        yield folder
    sys.modules.pop("hunted_passes", None)


WITHOUT_US = """
import runpy, socket, sys
from pathlib import Path

class Blocked:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] == "autograder":
            raise ImportError(f"{name} is blocked")

def refuse(self, *args):
    raise OSError("there is no network")

sys.meta_path.insert(0, Blocked())
socket.socket.connect = refuse
for path in sorted(Path("saved").glob("*.py")):
    try:
        runpy.run_path(str(path), run_name="__main__")
        print(path.stem, "passes")
    except BaseException as error:
        print(path.stem, type(error).__name__, str(error)[:200].replace("\\n", " "))
assert "autograder" not in sys.modules
"""


def _run_without_us(folder: Path, **more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_US], cwd=folder, env={**kept, **more},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith(PREFIX)]
    return {name: says for name, _, says in (line.partition(" ") for line in lines)}


def test_each_fails_without_the_course_until_its_pass_is_right(folder: Path) -> None:
    wrong = _run_without_us(folder)
    names = {f"{PREFIX}{name}_{given}": aspect for (name, given), (_, aspect) in WRONG.items()}
    raised = {name: says.partition(" ")[0] for name, says in wrong.items()}
    other = {
        "raises_trace": "KeyError", "writes_state_model": "AttributeError",
        "endless_trace": "TooLong", "renames_trace": "TypeError",
        "cut_program_exported": raised[f"{PREFIX}cut_program_exported"],
    }  # fmt: skip
    assert raised == dict.fromkeys(names, "AssertionError") | {
        PREFIX + name: error for name, error in other.items()
    }, wrong
    assert raised[f"{PREFIX}cut_program_exported"] != "passes"
    assert "gradient" in wrong[f"{PREFIX}detaches_parameter_trace"]
    assert "arguments" in wrong[f"{PREFIX}writes_argument_trace"]
    right = _run_without_us(folder, FIXED="1")
    assert right == dict.fromkeys(names, "passes")


def test_the_files_are_tidy(folder: Path) -> None:
    words = ["-m", "ruff", "check", "--isolated", "--select", "E4,F,I,RUF100", "saved"]
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_hunt_runs_the_saved_files_of_its_own_pass(folder: Path) -> None:
    (folder / "saved" / f"{PREFIX}another.py").write_text("import nowhere\n", encoding="utf-8")
    found = list(run_saved(folder / "saved", "hunted_passes:wrong"))
    (folder / "saved" / f"{PREFIX}another.py").unlink()
    assert [each.fingerprint for each in found] == [
        "wrong_aten", "wrong_program", "wrong_step", "wrong_trace",
    ]  # fmt: skip
    assert all(each.failure.startswith("AssertionError: the result") for each in found)


def test_a_result_that_changes_from_call_to_call_is_saved(folder: Path) -> None:
    hunt, found = _found("writes_state", "trace", BUFFER)
    assert found.failure.aspect == doing.AGAIN
    path = folder / "again" / f"{PREFIX}again.py"
    write(path, file_of(found, hunt.question, path, "hunted_passes:writes_state"))
    (each,) = run_saved(folder / "again", "hunted_passes:writes_state")
    assert each.failure.startswith("AssertionError: the result of call 2")


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_each_kind_is_saved_with_all_that_it_needs(kind: str, tmp_path: Path) -> None:
    """The saved model computes what the drawn one does, so the pass that does nothing is right."""
    question = Question(as_change(lambda gm: None))
    drawn = iter(models({kind: KINDS[kind]}, 3))
    for number in range(6):
        model = next(m for m in drawn if _is_usable(m, question))
        failure = Failure(doing.RESULT, 'it has """ and \\x in\nits text')
        path = tmp_path / f"{PREFIX}{number}.py"
        text = file_of(Counterexample(model, failure, model), question, path, "torch.fx:wrap")
        assert "autograder" not in text
        scope: dict = {"__file__": str(path), "__name__": "saved"}
        exec(compile(text, str(path), "exec"), scope)
        subject = model.subject(question)
        args = subject.calls[0].args
        saved = scope["make_model"]()
        for value, own in zip(scope["INPUTS"][0], args, strict=True):
            standalone.same(value, own, "the input")
        got, _ = standalone.run(saved, 0, args, {})
        want, _ = standalone.run(subject.model, 0, args, {})
        standalone.same(got, want, "the result")


def _is_usable(model: Drawn, question: Question) -> bool:
    try:
        model.subject(question)
    except Exception:
        return False
    return True


def test_the_weights_are_those_of_the_hunt() -> None:
    for model in (torch.nn.BatchNorm1d(3), torch.nn.Linear(2, 3)):
        mine = standalone.randomized(model.double())
        standalone.same(mine.state_dict(), build.randomize_(model, 0).state_dict(), "the state")


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ((1, 2), [1, 2]),
        ([1, 2], [1]),
        ({"a": 1}, {"b": 1}),
        (torch.ones(2), torch.ones(2).double()),
        (torch.ones(2), torch.ones(1)),
        (1, 1.0),
        (None, torch.ones(1)),
        ([torch.zeros(1)], [torch.ones(1)]),
        (True, False),
    ],
)
def test_values_that_differ_are_not_the_same(got: object, want: object) -> None:
    standalone.same(want, want, "it")
    with pytest.raises(AssertionError, match="it"):
        standalone.same(got, want, "it")


def test_a_fingerprint_is_that_of_one_mistake() -> None:
    drawn = next(iter(models({"words": words_of(SIGMOID)}, 0)))
    found = Counterexample(drawn, Failure(doing.RESULT, "differs"), drawn)
    one = found.fingerprint("a:b", "trace")
    # Baselines and names of files contain it: it must not change.
    assert one == "c0ca1a4bb7fb"
    other = replace(found, failure=Failure(RAISES, "differs", "KeyError"))
    assert one not in {found.fingerprint("a:c", "trace"), found.fingerprint("a:b", "aten"),
                       other.fingerprint("a:b", "trace")}  # fmt: skip
    again = replace(found, failure=replace(found.failure, says="differs by 2"))
    assert again.fingerprint("a:b", "trace") == one
