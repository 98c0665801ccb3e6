"""A hunt in a build: tables, exit statuses, saved counterexamples, budgets, baselines, GitHub."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from rich.console import Console
from typer.testing import CliRunner

from autograder.builder.paths import ROOT
from autograder.cli import hunt as command
from autograder.cli.main import app
from autograder.hunt import card, github, settings
from autograder.hunt import search as searching
from autograder.hunt.loading import CannotLoad
from autograder.hunt.saved_test import PREFIX

PASSES = """
import sys

import torch


def right(given): ...


def wrong(gm):
    for node in gm.graph.nodes:
        if node.target is torch.maximum:
            node.target = torch.minimum
    gm.recompile()


def leaves(gm):
    sys.exit(0)
"""

TABLES = """
[tool.fxcourse.hunt.good]
pass = "my_passes:right"
kinds = ["arithmetic"]
models = 6
at_least = 3

[tool.fxcourse.hunt.bad]
pass = "my_passes.py:wrong"
kinds = ["arithmetic"]
models = 40
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_passes.py").write_text(PASSES, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(TABLES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_passes", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return tmp_path


def _run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["hunt", *words])
    return done.exit_code, done.output


# ------------------------------------------------------------------ tables


def test_tables_are_hunted_alone_and_together(folder: Path) -> None:
    code, output = _run("good")
    assert code == command.HOLDS and "✓ good (my_passes:right): right on all" in output
    code, output = _run("--all", "--enough", "1")
    assert code == command.FOUND
    assert "right on all" in output and "✗ bad (my_passes.py:wrong): wrong on" in output
    code, output = _run("good", "-n", "4", "--seed", "7")
    assert code == command.HOLDS and "4 models drawn with seed 7" in output


def test_a_table_has_every_setting_of_the_command_line(folder: Path) -> None:
    text = (
        '[tool.fxcourse.hunt.all]\npass = "a:b"\noracle = "c:d"\ngiven = "step"\n'
        'kinds = ["layers"]\nignore = ["modes"]\neval = true\nminutes = 0.5\nat_least = 7\n'
    )
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    (found,) = settings.tables(folder).values()
    assert found == settings.Settings(
        "a:b", "c:d", "step", ("layers",), ("modes",), True, None, 0.5, 7, "all"
    )
    assert "the modes of the modules" not in found.aspects and found.most is None
    assert settings.resized(found, 9, None).most == 9
    keys = re.search(r"\| key \| value \|\n(.*?)\n\n", PAGE, re.S)
    assert keys and set(re.findall(r"`(\w+)`[,|: ]", keys[1])) == set(settings._TYPES)


PAGE = (ROOT / "docs" / "engineers" / "hunting.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (
            "modles = 3",
            "[tool.fxcourse.hunt.a] has an unknown key 'modles'. Did you mean 'models'?",
        ),
        ("models = '3'", "[tool.fxcourse.hunt.a]: models must be a whole number above 0, not '3'"),
        ("models = true", "models must be a whole number above 0"),
        ("models = 0", "models must be a whole number above 0"),
        ("minutes = -1", "minutes must be a number above 0"),
        ("minutes = inf", "minutes must be a number above 0"),
        ("eval = 1", "eval must be true or false"),
        ("kinds = 'layers'", "kinds must be a list"),
        ("kinds = ['birds']", "[tool.fxcourse.hunt.a]: kinds: There is no kind of models 'birds'"),
        ("ignore = ['all']", "There is no word for a change to ignore 'all'"),
        ("given = 'code'", "There is no input of a pass 'code'"),
        ("models = 3\nminutes = 3", "exclude each other"),
        ("models = 3\nat_least = 4", "only 3 models are drawn"),
        ("pass = 3", "pass must be a text"),
    ],
)
def test_a_mistake_in_a_table_is_named(folder: Path, table: str, says: str) -> None:
    first = "" if table.startswith("pass") else 'pass = "my_passes:right"\n'
    text = f"[tool.fxcourse.hunt.a]\n{first}{table}\n"
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    code, output = _run("--all")
    assert code == command.UNUSABLE
    output = " ".join(output.split())
    assert says in output and "pyproject.toml" in output


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "There is no pyproject.toml"),
        ("[tool", "pyproject.toml cannot be read"),
        ("", "has no table [tool.fxcourse.hunt.NAME]"),
        ("[tool.fxcourse]\nhunt = 3", "has no table [tool.fxcourse.hunt.NAME]"),
        ("[tool.fxcourse.hunt]\na = 3", "[tool.fxcourse.hunt.a] must be a table"),
        ("[tool.fxcourse.hunt.a]\nmodels = 3", "has no key `pass`"),
        ("[tool.fxcourse.hunt.b]\npass = 'a:b'", "no table [tool.fxcourse.hunt.a]. Its tables: b"),
    ],
)
def test_a_file_without_the_table_is_explained(folder: Path, text: str | None, says: str) -> None:
    (folder / "pyproject.toml").unlink()
    if text is not None:
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    code, output = _run("a")
    assert code == command.UNUSABLE
    assert says in " ".join(output.split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Name a pass as MODULE:FUNCTION"),
        (["good", "--all"], "Name a pass as MODULE:FUNCTION"),
        (["good", "--kinds", "layers"], "--kinds cannot be used here. Write the key `kinds`"),
        (["good", "--eval"], "--eval cannot be used here"),
        (["good", "-n", "2"], "at_least is 3, and only 2 models are drawn"),
        (["my_passes:right", "-n", "2", "--at-least", "3"], "--at-least is 3"),
        (["my_passes:right", "-n", "2", "--minutes", "3"], "exclude each other"),
        (["my_passes:right", "--save", "test_it.py"], "--save takes a folder"),
        (["--all", "--html", "card.html"], "--html writes one card"),
        (["good", "--baseline", "none.txt"], "The baseline 'none.txt' cannot be read"),
    ],
)
def test_options_that_do_not_fit_are_explained(folder: Path, words: list[str], says: str) -> None:
    code, output = _run(*words)
    assert code == command.UNUSABLE
    assert says in " ".join(output.split())


# ------------------------------------------------------------------ statuses and budgets


def test_fewer_models_than_at_least_are_no_verdict(folder: Path) -> None:
    words = ["my_passes:right", "-n", "100", "--at-least", "100", "--kinds", "literals"]
    code, output = _run(*words)
    assert code == command.UNUSABLE
    assert "at least 100 are needed" in output and "Reasons: " in output


def test_a_crash_of_the_hunt_has_a_status_of_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(self: searching.Hunt, model: object) -> None:
        raise RuntimeError("no [more] memory")

    monkeypatch.setattr(searching.Hunt, "_look_at", crash)
    done = CliRunner().invoke(app, ["hunt", "--all"])
    assert done.exit_code == command.CRASHED
    assert "Traceback" in done.stderr and "Traceback" not in done.stdout
    assert done.stderr.count("RuntimeError: no [more] memory") == 4  # two hunts, told twice each


def test_a_pass_that_ends_the_process_is_wrong(folder: Path) -> None:
    code, output = _run("my_passes:leaves", "-n", "3", "--enough", "1")
    assert code == command.FOUND and "The pass raises `SystemExit: 0`" in output
    (folder / "leaving.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    code, output = _run("leaving:right")
    assert code == command.UNUSABLE and "it raises SystemExit: 0" in output


def test_one_hunt_that_cannot_be_run_does_not_hide_another(folder: Path) -> None:
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write('[tool.fxcourse.hunt.gone]\npass = "my_passes:gone"\n')
    code, output = _run("--all", "--enough", "1")
    assert code == command.FOUND
    assert "gone (my_passes:gone): Nothing was tested." in " ".join(output.split())


def _hunted(folder: Path, ticks: list[float], **more: object) -> tuple[int, str]:
    """Hunt for six seconds by a clock with these times."""
    out, err = (Console(record=True, width=200, file=open(os.devnull, "w")) for _ in range(2))
    wanted = settings.Settings("my_passes:right", kinds=("arithmetic",), minutes=0.1, **more)
    times = iter([*ticks, *[ticks[-1]] * 100])
    code = command.run([wanted], command.Options(), out, err, clock=lambda: next(times))
    return code, out.export_text() + err.export_text()


def test_the_time_ends_the_drawing_and_no_verdict(folder: Path) -> None:
    # The clock is read at the start, and before and after each model.
    code, output = _hunted(folder, [0, 1, 2, 3, 5.9, 7, 7])
    assert code == command.HOLDS and "right on all 2 models" in output
    code, output = _hunted(folder, [0, 1, 2, 3, 5.9, 7, 7], at_least=3)
    assert code == command.UNUSABLE and "tried on 2 models, and at least 3" in output
    code, output = _hunted(folder, [0, 7])
    assert code == command.UNUSABLE and "before the first model" in output


def test_a_model_that_is_not_minimal_is_called_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert card.SMALLEST in _run("bad", "--enough", "1")[1]
    monkeypatch.setattr(searching, "MOST_TRIES", 1)
    code, output = _run("bad", "--enough", "1")
    assert code == command.FOUND
    assert card.NOT_MINIMAL in output and card.SMALLEST not in output


# ------------------------------------------------------------------ what is known


def test_saved_counterexamples_come_first_and_count(folder: Path) -> None:
    code, output = _run("bad", "--enough", "1", "--save", "tests/hunted")
    (path,) = (folder / "tests" / "hunted").glob("*.py")
    assert code == command.FOUND and f"The model as a test: tests/hunted/{path.name}" in output
    before = path.read_bytes()
    # No new model shows the mistake, but the saved one does.
    code, output = _run("bad", "-n", "1", "--save", "tests/hunted")
    assert code == command.FOUND
    assert f"the saved counterexample tests/hunted/{path.name} fails: AssertionError" in output
    baseline = folder / "known.txt"
    baseline.write_text(f"# we know\n{path.stem.removeprefix(PREFIX)}  # issue 3\n\n", "utf-8")
    words = ["bad", "--save", "tests/hunted", "--baseline", "known.txt"]
    code, output = _run(*words, "-n", "1")
    assert code == command.HOLDS
    assert "0 of 1 saved counterexamples pass; the others are in the baseline." in output
    code, output = _run(*words)
    assert code == command.HOLDS and "the others are in the baseline" in output
    assert path.read_bytes() == before
    fixed = PASSES.replace("torch.minimum", "torch.maximum")
    (folder / "my_passes.py").write_text(fixed, encoding="utf-8")
    code, output = _run("bad", "--save", "tests/hunted")
    assert code == command.HOLDS and "1 of 1 saved counterexamples pass." in output


def test_a_fingerprint_is_printed_if_nothing_is_saved(folder: Path) -> None:
    code, output = _run("bad", "--enough", "1")
    found = re.search(r"^Fingerprint: ([0-9a-f]{12})$", output, re.M)
    assert code == command.FOUND and found
    (folder / "known.txt").write_text(found[1], encoding="utf-8")
    assert _run("bad", "--baseline", "known.txt")[0] == command.HOLDS
    (folder / "known.txt").write_text(f"{found[1]}\nsomething", encoding="utf-8")
    code, output = _run("bad", "--baseline", "known.txt")
    assert code == command.UNUSABLE and "line 2: 'something' is not a fingerprint" in output


def test_a_saved_file_that_is_broken_is_named(folder: Path) -> None:
    (folder / f"{PREFIX}1.py").write_text("PASS = (\n", encoding="utf-8")
    code, output = _run("good", "--save", ".")
    assert code == command.UNUSABLE and f"'{PREFIX}1.py' cannot be read" in output


# ------------------------------------------------------------------ GitHub


def test_annotations_are_escaped() -> None:
    line = github.error("100% a:b, c", "first\r\nsecond: 5%", ("a,b:c%.py", 3))
    assert line == (
        "::error file=a%2Cb%3Ac%25.py,line=3,title=100%25 a%3Ab%2C c::first%0D%0Asecond: 5%25"
    )
    assert github.error("a", "b") == "::error title=a::b"


def test_ten_annotations_are_printed_at_most() -> None:
    lines: list[str] = []
    found = github.Annotations(lines.append)
    for number in range(13):
        found.add("title", str(number))
    assert len(lines) == 10 and found.omitted == 3


class _Callable:
    def __call__(self, gm: object) -> None: ...


def test_the_place_of_a_pass_is_its_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(ROOT))
    here = Path(__file__).relative_to(ROOT).as_posix()
    line = _run.__code__.co_firstlineno
    assert github.place_of(_run) == (here, line)
    assert github.place_of(functools.partial(_run, "a")) == (here, line)
    found = github.place_of(_Callable())
    assert found == (here, _Callable.__call__.__code__.co_firstlineno)
    assert github.place_of(len) is None
    monkeypatch.setenv("GITHUB_WORKSPACE", str(ROOT / "docs"))
    assert github.place_of(_run) == (Path(__file__).as_posix(), line)
    assert github.place_of(torch.nn.Linear(1, 1)) is not None


def test_a_job_on_github_gets_annotations_and_a_summary(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = folder / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    code, output = _run("--all", "--enough", "1", "--format", "github")
    assert code == command.FOUND
    (line,) = [line for line in output.splitlines() if line.startswith("::")]
    at = PASSES.splitlines().index("def wrong(gm):") + 1
    assert line.startswith(
        f"::error file=my_passes.py,line={at},title=bad (my_passes.py%3Awrong) is wrong::The result"
    )
    assert "%0Aclass Model" in line
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n```text\n✓ good")
    assert "✗ bad" in text and card.SMALLEST in text and text.count("```") == 4
    summary.unlink()
    assert _run("bad", "--enough", "1")[0] == command.FOUND
    assert not summary.exists()
    code, output = _run("my_passes:gone", "--format", "github")
    assert code == command.UNUSABLE and "::error title=fxcourse hunt" in output


def test_a_fence_is_longer_than_those_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    github.add_to_summary("a\n````\nb")
    assert (tmp_path / "summary").read_text() == "`````text\na\n````\nb\n`````\n\n"


ACTION = yaml.safe_load((ROOT / "hunt" / "action.yml").read_text(encoding="utf-8"))


@pytest.mark.skipif(os.name == "nt", reason="the steps are for bash")
def test_the_commands_of_the_action_work(folder: Path) -> None:
    install, hunt, upload = ACTION["runs"]["steps"]
    tools = folder / "bin"
    tools.mkdir()
    for name in ("python", "fxcourse"):
        (tools / name).write_text(f'#!/bin/sh\nprintf "<%s>" {name} "$@" >> calls\n')
        (tools / name).chmod(0o755)
    inputs = {name: each["default"] for name, each in ACTION["inputs"].items()}
    other = {"hunt": "good --seed 3", "baseline": "a b; exit 1"}
    for given in (inputs, inputs | other):
        for step in (install, hunt):
            values = {
                key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m, given=given: given[m[1]], text)
                for key, text in step.get("env", {}).items()
            }
            assert "${{" not in step["run"]  # an input in a script could be a command
            subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=folder, check=True,
                env={"PATH": f"{tools}:/usr/bin:/bin", "GITHUB_ACTION_PATH": "/x/hunt", **values},
            )  # fmt: skip
    calls = (folder / "calls").read_text()
    pip = "<python><-m><pip><install><--disable-pip-version-check><--quiet></x/hunt/..>"
    last = "<--save><tests/hunted><--format><github>"
    assert calls == (
        f"{pip}<fxcourse><hunt><--all>{last}"
        f"{pip}<fxcourse><hunt><good><--seed><3><--baseline><a b; exit 1>{last}"
    )
    assert upload["if"] == "${{ failure() }}" and upload["with"]["path"] == "${{ inputs.save }}"


def test_the_page_shows_the_action_as_it_is() -> None:
    shown = yaml.safe_load(re.search(r"```yaml\n(.*?)```", PAGE, re.S)[1])
    *_, step = shown["jobs"]["hunt"]["steps"]
    assert step["uses"] == "OWNER/fxcourse/hunt@main"
    assert set(step["with"]) <= set(ACTION["inputs"])
    assert "pull_request_target" in PAGE and "pull_request_target" not in str(shown)


def test_an_unknown_name_is_not_a_setting() -> None:
    with pytest.raises(CannotLoad, match="Its tables: a"):
        settings.named("b", {"a": settings.Settings("a:b")})
