"""Consistency of the attacks, and a dozen of all kinds that must gain nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import pytest

from autograder.builder.paths import COURSE, ROOT
from autograder.exercises import EXERCISES
from tests.security.attacks import ANY, HONEST, PWNED, Attack, all_attacks, kinds
from tests.security.attacks.__main__ import chosen
from tests.security.attacks._class import COLUMNS, RIGHT, Found, Loss, of_long_work
from tests.security.attacks._forging import grafting
from tests.security.attacks._judged import earned
from tests.security.attacks._traces import active_parts
from tests.security.attacks.defenses import (
    DEFENSES,
    SOURCE_DEFENSES,
    Defense,
    SourceDefense,
    shown,
    taken_back,
)
from tests.support.submissions.answer_text import text_of

MUL = text_of("add_to_mul", "operands exchanged")
KINDS = {
    "claiming",
    "draining",
    "equality",
    "escaping",
    "exhausting",
    "faking",
    "files",
    "leaking",
    "notebooks",
    "pages",
    "patching",
    "prying",
    "rebuilding",
    "redirecting",
}


def test_all_kinds_are_there() -> None:
    found = kinds()
    assert set(found) == KINDS
    assert all(len(attacks) >= 6 for attacks in found.values())
    for kind, attacks in found.items():
        assert all(attack.name.startswith(f"{kind}-") for attack in attacks)


def test_names_and_ids_are_unique() -> None:
    attacks = all_attacks()
    assert len({attack.name for attack in attacks}) == len(attacks)
    assert len({attack.id for attack in attacks} | set(HONEST)) == len(attacks) + len(HONEST)


def test_honest_students_stand_before_between_and_after() -> None:
    ids = sorted(attack.id for attack in all_attacks() if not attack.student)
    assert HONEST[0] < ids[0] < HONEST[1] < ids[-1] < HONEST[2]


@pytest.mark.parametrize("attack", all_attacks(), ids=lambda attack: attack.name)
def test_attack_says_what_it_is(attack: Attack) -> None:
    for sentence in (attack.tries, attack.must):
        assert not sentence[0].islower() and sentence.endswith(".") and "\n" not in sentence
    assert attack.states and attack.states <= ANY
    assert set(attack.answers) | set(attack.earns) | set(attack.may) <= set(EXERCISES)
    assert not (attack.stock and PWNED in attack.cell)
    for text in (attack.cell, *attack.answers.values()):
        if not text.startswith("%"):
            ast.parse(text)


@pytest.mark.filterwarnings("ignore:Non-unique cell id")
def test_every_attack_can_be_handed_in(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").touch()
    released = {c.stem: nbformat.read(c, as_version=4) for c in COURSE.glob("0*.ipynb")}
    for attack in all_attacks():
        folder = attack.put(tmp_path, released[attack.chapter])
        assert folder.is_symlink() or folder.is_dir()
        assert all(least <= most for least, most in attack.points().values())


def test_active_parts_of_a_page_are_found() -> None:
    evil = (
        '<script>FXPAGE()</script><img src=x onerror="FXPAGE()">'
        '<a href=" java\nscript:FXPAGE()">x</a><iframe srcdoc="FXPAGE"></iframe>'
    )
    assert len(active_parts(evil)) == 4
    assert active_parts("<p>&lt;script&gt;FXPAGE()&lt;/script&gt;</p><p>FXPAGE()</p>") == []


def test_a_page_that_calls_is_found() -> None:
    calls = (
        '<img src="https://FXPAGE.x/y"><img srcset="//FXPAGE 2x"><video poster="/FXPAGE"></video>'
        '<p style="background: url(/FXPAGE)">x</p><svg><image href="/FXPAGE"/></svg>'
    )
    assert len(active_parts(calls)) == 5
    fine = '<a href="https://FXPAGE.x/y">x</a><img src="data:image/png;base64,FXPAGE">'
    assert active_parts(fine) == []


def test_what_is_chosen_by_kind_and_name() -> None:
    names = [attack.name for attack in chosen(["claiming", "pages-html"])]
    assert names[-1] == "pages-html" and len(names) > 20
    assert all(name.startswith("claiming-") for name in names[:-1])
    assert chosen([]) == all_attacks()


def test_losses_are_counted_by_column() -> None:
    found = Found(
        attacks={"a": [Loss("gained", "x"), Loss("gained", "y"), Loss("read", "z")]},
        honest={"b": [Loss("harmed", "x")], "c": [Loss("accused", "x")]},
        room=[Loss("ran", "x"), Loss("ran", "x")],
    )
    assert found.counts() == {"gained": 1, "ran": 2, "read": 1, "harmed": 1, "accused": 1}
    assert tuple(found.counts()) == COLUMNS


def grafted(row: str) -> Attack:
    """A right answer whose graphs each get additional rows."""
    cell = grafting(f"def spoil(graph):\n    {row}\n")
    return Attack("grafted", "It adds rows.", "It is run.", cell, answers={"add_to_mul": MUL})


def test_rows_that_may_stand_cost_nothing_so_that_points_show_what_was_run() -> None:
    assert earned(grafted("keep(graph, put(graph, fn('torch.neg'), {'node': 0}))")) == {
        "add_to_mul": 4.0
    }
    assert earned(grafted("pick(graph, 1)")) == {"add_to_mul": 4.0}
    assert earned(grafted("pick(graph, 0)")) == {}


@pytest.mark.parametrize("name", ["rebuilding-modules", "rebuilding-max-key"])
def test_an_attack_gets_no_points_in_one_process(name: str) -> None:
    (attack,) = (attack for attack in all_attacks() if attack.name == name)
    assert earned(attack) == {}


@pytest.mark.parametrize("defense", DEFENSES, ids=str)
def test_a_defense_that_is_taken_back_is_missed(defense: Defense) -> None:
    assert shown(defense) == dict.fromkeys(defense.attacks, (False, True))


@pytest.mark.parametrize("defense", SOURCE_DEFENSES, ids=str)
def test_a_defense_of_the_source_can_be_taken_back(defense: SourceDefense) -> None:
    ast.parse(taken_back(defense, (ROOT / defense.file).read_text(encoding="utf-8")))
    assert set(defense.attacks) <= {attack.name for attack in all_attacks()}


@pytest.mark.parametrize("chapter", RIGHT)
def test_an_honest_answer_that_needs_long_is_still_one(chapter: str) -> None:
    for name, text in of_long_work(RIGHT[chapter]).items():
        ast.parse(text)
        assert ("_work()" in text) == (name == long_one(chapter))


def long_one(chapter: str) -> str:
    """The exercise whose answer takes seconds."""
    return next(
        name
        for kind in ("def", "class")
        for name, text in RIGHT[chapter].items()
        if f"{kind} {name}(" in text
    )
