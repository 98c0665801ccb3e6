"""The hunt through PyTorch's own passes finds known bugs again and tells them from new ones."""

from __future__ import annotations

import io

from rich.console import Console

from hunts.__main__ import report
from hunts.known import BUGS
from hunts.suspects import SUSPECTS
from hunts.upstream import UpstreamHunt
from hunts.vocabularies import OWN

DEAD_CODE = [suspect for suspect in SUSPECTS if suspect.name == "eliminate_dead_code"]


def _hunt(bugs: tuple, models: int = 12) -> UpstreamHunt:
    hunt = UpstreamHunt(DEAD_CODE, bugs, {"effects": OWN["effects"]})
    for _ in hunt.steps(lambda: hunt.drawn < models):
        pass
    return hunt


def test_what_is_known_is_found_again_and_is_not_new() -> None:
    hunt = _hunt(BUGS)
    assert hunt.hits["dead-method-in-place"] > 0
    assert hunt.new == []
    console = Console(file=io.StringIO(), width=120)
    report(hunt, console)
    text = console.file.getvalue()
    assert "known bugs found again" in text and "models a second" in text


def test_what_is_not_known_is_new_and_small() -> None:
    others = tuple(bug for bug in BUGS if bug.name != "dead-method-in-place")
    hunt = _hunt(others, 6)
    assert hunt.new
    assert min(finding.model.lines for finding in hunt.new) <= 5
    assert all(finding.silent for finding in hunt.new)


def test_what_the_documentation_of_a_pass_excludes_is_refused_and_is_not_new() -> None:
    cse = [suspect for suspect in SUSPECTS if suspect.name == "CSEPass"]
    hunt = UpstreamHunt(cse, BUGS, {"convolutions": OWN["convolutions"]})
    for _ in hunt.steps(lambda: hunt.drawn < 25):
        pass
    tally = hunt.tallies["CSEPass"]
    assert 0 < tally.refused < tally.tried
    assert hunt.new == []


def test_every_suspect_has_something_to_be_tried_on() -> None:
    kinds = {name.partition(",")[0] for name in OWN}
    for suspect in SUSPECTS:
        wanted = set(suspect.only) or kinds - set(suspect.leaves_out)
        assert wanted & kinds, suspect.name
