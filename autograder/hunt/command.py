"""``fxcourse hunt``: a reader's own pass against random models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from rich.console import Console
from rich.markup import escape

from autograder.hunt.behaviour import (
    ARGUMENT_GRADIENTS,
    ARGUMENTS,
    EVERYTHING,
    KEYWORDS,
    MODES,
    PARAMETER_GRADIENTS,
    STATE,
)
from autograder.hunt.card import card_of, file_of
from autograder.hunt.loading import CannotLoad, as_change, as_oracle, loaded
from autograder.hunt.search import Counterexample, Hunt
from autograder.hunt.trying import Given, Misused, Question
from autograder.hunt.vocabularies import KINDS, SAYS

HOLDS, FOUND, UNUSABLE = 0, 1, 2
"""The exit statuses: nothing was found, something was, nothing could be tried."""

LOOSE = {
    "gradients": (ARGUMENT_GRADIENTS, PARAMETER_GRADIENTS),
    "arguments": (ARGUMENTS,),
    "keywords": (KEYWORDS,),
    "modes": (MODES,),
    "state": (STATE,),
}
"""What a pass may change if one says so, by the word for it."""

DEFAULT = (
    "arithmetic", "literals", "layers", "convolutions", "constants", "sizes", "names", "identities",
)  # fmt: skip
"""The kinds that are tried by default: those without effects and random numbers."""


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line.

    Attributes:
        words: the pass.
        oracle: the oracle; ``""`` if there is none.
        given: what the pass is given.
        models: how many models are drawn.
        seed: where to begin.
        kinds: what they are made of.
        ignore: in what they may differ.
        eval_only: whether no model is in training mode.
        enough: after how many counterexamples to stop.
        page: where the card goes; ``None`` for nowhere.
        save: where the file goes.
    """

    words: str
    oracle: str = ""
    given: Given = "trace"
    models: int = 500
    seed: int = 0
    kinds: tuple[str, ...] = DEFAULT
    ignore: tuple[str, ...] = ()
    eval_only: bool = False
    enough: int = 3
    page: Path | None = None
    save: Path | None = None
    aspects: tuple[str, ...] = field(init=False, default=EVERYTHING)

    def __post_init__(self) -> None:
        _demand_known(self.kinds, KINDS, "kind of models")
        _demand_known(self.ignore, LOOSE, "word for what a pass may change")
        dropped = {aspect for word in self.ignore for aspect in LOOSE[word]}
        left = tuple(aspect for aspect in EVERYTHING if aspect not in dropped)
        object.__setattr__(self, "aspects", left)


UNFIT = (CannotLoad, Misused)
"""What is raised where nothing can be tried; the message says what to do."""

_GIVEN = ("trace", "model", "program", "aten")


def wanted(words: str, *, given: str, kinds: str, ignore: str, **more: Any) -> Wanted:
    """What was asked for, from the words of a command line.

    Raises:
        CannotLoad: something is asked for that there is not.
    """
    if given not in _GIVEN:
        raise CannotLoad(f"A pass cannot be given {given!r}, only {', '.join(_GIVEN)}.")
    chosen = tuple(KINDS) if kinds == "all" else _words(kinds) or DEFAULT
    for name in ("page", "save"):
        path = more[name]
        if path is not None and not path.resolve().parent.is_dir():
            raise CannotLoad(f"There is no folder {str(path.parent)!r} to write {path.name!r} to.")
    return Wanted(words, given=cast(Given, given), kinds=chosen, ignore=_words(ignore), **more)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _demand_known(words: tuple[str, ...], known: Mapping[str, object], what: str) -> None:
    for word in words:
        if word not in known:
            raise CannotLoad(f"There is no {what} {word!r}; there are: {', '.join(known)}.")


def kinds_text() -> str:
    """The kinds of models, a line each."""
    return "\n".join(f"{name:<13} {says}" for name, says in SAYS.items())


def run(wanted: Wanted, out: Console, err: Console) -> int:
    """Hunt, and print what was found.

    Returns:
        The exit status.

    Raises:
        CannotLoad: the pass or the oracle cannot be had.
        Misused: they cannot be used.
    """
    change = as_change(loaded(wanted.words, "the pass"))
    oracle = as_oracle(loaded(wanted.oracle, "the oracle")) if wanted.oracle else None
    question = Question(
        change, oracle, wanted.given, wanted.aspects, wanted.eval_only,
        first_only=wanted.given in ("program", "aten"),
    )  # fmt: skip
    hunt = Hunt(question, {name: KINDS[name] for name in wanted.kinds}, wanted.seed)
    with err.status("Hunting ...") as status:
        for _ in hunt.steps(wanted.models, enough=wanted.enough):
            status.update(_so_far(hunt, wanted))
    return _report(hunt, wanted, out, err)


def _so_far(hunt: Hunt, wanted: Wanted) -> str:
    speed = hunt.drawn / max(hunt.seconds, 1e-9)
    return (
        f"{hunt.drawn} of {wanted.models} models, {speed:.0f} a second; "
        f"{hunt.failed} failed, {len(hunt.found)} of them different"
    )


def _report(hunt: Hunt, wanted: Wanted, out: Console, err: Console) -> int:
    useless = hunt.useless.most_common(3)
    left = ", ".join(f"{count}: {reason}" for reason, count in useless)
    if not hunt.tried:
        raise Misused(
            f"None of {hunt.drawn} models could be used ({left}). Ask for other kinds with "
            f"--kinds; there are: {', '.join(KINDS)}."
        )
    best = hunt.smallest
    if best is None:
        out.print(f"[green]✓[/green] {escape(wanted.words)}: right on all {hunt.tried} models.")
        _print_figures(hunt, left, err)
        return HOLDS
    many = "model" if hunt.failed == 1 else "models"
    title = f"{wanted.words}: wrong on {hunt.failed} {many} of {hunt.tried}"
    card = card_of(best, hunt.question, title)
    out.print(card.text(), markup=False)
    _print_others(hunt, best, out)
    if wanted.page is not None:
        wanted.page.write_text(card.page(), encoding="utf-8")
        out.print(f"The card: {wanted.page}", markup=False)
    if wanted.save is not None:
        text = file_of(best, hunt.question, wanted.words, wanted.oracle, wanted.aspects)
        wanted.save.write_text(text, encoding="utf-8")
        out.print(f"The model as a test: {wanted.save}", markup=False)
    _print_figures(hunt, left, err)
    return FOUND


def _print_others(hunt: Hunt, best: Counterexample, out: Console) -> None:
    others = [found for found in hunt.found if found is not best]
    if others:
        out.print("Also found:")
    for found in others:
        last = [line for line in found.model.source.splitlines() if " = " in line][-1:]
        where = f" (such as: {last[0].strip()})" if last else ""
        out.print(f"  - {found.failure.says}{where}", markup=False)


def _print_figures(hunt: Hunt, left: str, err: Console) -> None:
    speed = hunt.drawn / max(hunt.seconds, 1e-9)
    err.print(
        f"{hunt.drawn} models drawn, seed {hunt.seed}, {speed:.0f} a second; "
        f"{hunt.drawn - hunt.tried} said nothing{f' ({left})' if left else ''}; "
        f"{hunt.shrinking.tried} smaller ones tried in {hunt.shrinking.seconds:.1f} s",
        markup=False,
    )
