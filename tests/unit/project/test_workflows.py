"""The workflows: their triggers and permissions; files and commands in them exist."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from autograder.builder.paths import ROOT
from autograder.version_watch.environment import FOR_TESTS

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in WORKFLOWS}


def jobs(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(TEXTS[name])["jobs"]
    return found


@pytest.mark.parametrize("name", TEXTS)
def test_a_workflow_says_that_it_was_not_run(name: str) -> None:
    assert "No job of this file has been run on GitHub yet." in TEXTS[name]


@pytest.mark.parametrize("name", TEXTS)
def test_a_workflow_reads_and_only_a_job_that_must_may_write(name: str) -> None:
    assert yaml.safe_load(TEXTS[name])["permissions"] == {"contents": "read"}
    writing = {
        job: each["permissions"] for job, each in jobs(name).items() if "permissions" in each
    }
    assert writing == {
        "book": {"publish": {"pages": "write", "id-token": "write"}},
        "release": {"draft": {"contents": "write"}},
    }.get(name, {})


def test_the_book_is_published_at_each_push_to_main_and_each_version() -> None:
    triggers = yaml.safe_load(TEXTS["book"])[True]  # YAML reads `on` as true
    assert triggers["push"] == {"branches": ["main"], "tags": ["v*"]}


def test_the_watch_runs_each_week_against_the_nightly_build() -> None:
    assert len(yaml.safe_load(TEXTS["nightly"])[True]["schedule"]) == 1
    (*_, install, course, watch) = jobs("nightly")["watch"]["steps"]
    assert "--pre" in install["run"] and "/whl/nightly/cpu" in install["run"]
    extras = re.findall(r"\[(\w+)\]", course["run"])
    assert extras == ["book"]  # all that `fxcourse doctor --against` needs, as the next line says
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    book = {Requirement(line).name for line in project["optional-dependencies"]["book"]}
    assert set(FOR_TESTS) <= book and "fxcourse" in book
    assert watch["run"].startswith("fxcourse doctor --against ") and watch["shell"] == "bash"


def test_each_action_has_one_version_everywhere() -> None:
    action = (ROOT / "hunt" / "action.yml").read_text(encoding="utf-8")
    used = {use for text in (*TEXTS.values(), action) for use in re.findall(r"uses: (\S+)", text)}
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", use) for use in used)
    assert len({use.partition("@")[0] for use in used}) == len(used)


def test_workflows_call_targets_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    called = {target for text in TEXTS.values() for target in re.findall(r"\bmake ([\w-]+) ", text)}
    assert {"lab", "test", "book"} <= called
    assert [target for target in called if f"\n{target}:" not in makefile] == []
