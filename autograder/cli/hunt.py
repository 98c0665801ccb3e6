"""``fxcourse hunt``: test a reader's own pass on random models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from rich.console import Console
from rich.markup import escape

from autograder.cli.terminal import Progress
from autograder.hunt.behaviour import (
    ARGUMENT_GRADIENTS,
    ARGUMENTS,
    EVERYTHING,
    KEYWORDS,
    MODES,
    PARAMETER_GRADIENTS,
    STATE,
)
from autograder.hunt.card import card_of
from autograder.hunt.loading import CannotLoad, as_change, as_oracle, loaded
from autograder.hunt.saved_test import file_of
from autograder.hunt.search import Hunt
from autograder.hunt.trying import Given, Misused, Question
from autograder.hunt.vocabularies import KINDS, SAYS

HOLDS, FOUND, UNUSABLE = 0, 1, 2
"""The exit statuses: the pass was right on all models, wrong on some, or could not be tested."""

LOOSE = {
    "gradients": (ARGUMENT_GRADIENTS, PARAMETER_GRADIENTS),
    "arguments": (ARGUMENTS,),
    "keywords": (KEYWORDS,),
    "modes": (MODES,),
    "state": (STATE,),
}
"""The aspects that the command line can ignore, by its words for them."""

DEFAULT = (
    "arithmetic", "literals", "layers", "convolutions", "constants", "sizes", "names", "identities",
)  # fmt: skip
"""The default kinds: those without effects and random numbers."""


@dataclass(frozen=True)
class Wanted:
    """The words and options of the command line.

    Attributes:
        words: the pass, as ``MODULE:FUNCTION``.
        oracle: the oracle in the same form; ``""`` if there is none.
        given: the input of the pass.
        models: the number of models.
        seed: the seed of the models.
        kinds: the kinds of models.
        ignore: words for the aspects in which a model may differ.
        eval_only: whether all models are in eval mode.
        enough: the number of counterexamples after which the hunt stops.
        page: the file for the card; ``None`` for none.
        save: the file for the smallest model; ``None`` for none.
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
        _demand_known(self.ignore, LOOSE, "word for a change to ignore")
        dropped = {aspect for word in self.ignore for aspect in LOOSE[word]}
        left = tuple(aspect for aspect in EVERYTHING if aspect not in dropped)
        object.__setattr__(self, "aspects", left)


UNFIT = (CannotLoad, Misused)
"""Exceptions for a pass that cannot be tested; the message gives the fix."""

_GIVEN = ("trace", "model", "program", "aten")


def wanted(words: str, *, given: str, kinds: str, ignore: str, **more: Any) -> Wanted:
    """The validated options of a command line.

    Raises:
        CannotLoad: an option has a value that does not exist.
    """
    if given not in _GIVEN:
        raise CannotLoad(f"--given cannot be {given!r}. Choose from: {', '.join(_GIVEN)}.")
    chosen = tuple(KINDS) if kinds == "all" else _words(kinds) or DEFAULT
    for name in ("page", "save"):
        path = more[name]
        if path is not None and not path.resolve().parent.is_dir():
            raise CannotLoad(f"There is no folder '{path.parent}' to write '{path.name}' to.")
    return Wanted(words, given=cast(Given, given), kinds=chosen, ignore=_words(ignore), **more)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _demand_known(words: tuple[str, ...], known: Mapping[str, object], what: str) -> None:
    for word in words:
        if word not in known:
            raise CannotLoad(f"There is no {what} {word!r}. Choose from: {', '.join(known)}.")


def kinds_text() -> str:
    """The kinds of models, one per line."""
    return "\n".join(f"{name:<13} {says}" for name, says in SAYS.items())


def run(wanted: Wanted, out: Console, err: Console) -> int:
    """Hunt, and print the smallest model on which the pass is wrong.

    Returns:
        The exit status.

    Raises:
        CannotLoad: the pass or the oracle cannot be loaded.
        Misused: they cannot be used.
    """
    change = as_change(loaded(wanted.words, "the pass"))
    oracle = as_oracle(loaded(wanted.oracle, "the oracle")) if wanted.oracle else None
    question = Question(
        change, oracle, wanted.given, wanted.aspects, wanted.eval_only,
        first_only=wanted.given in ("program", "aten"),
    )  # fmt: skip
    hunt = Hunt(question, {name: KINDS[name] for name in wanted.kinds}, wanted.seed)
    with Progress("Hunting") as progress:
        progress.show(0, wanted.models)
        for _ in hunt.steps(wanted.models, enough=wanted.enough):
            progress.show(hunt.drawn, wanted.models, _so_far(hunt))
    return _report(hunt, wanted, out, err)


def _so_far(hunt: Hunt) -> str:
    wrong = "wrong on 1" if hunt.failed == 1 else f"wrong on {hunt.failed}"
    return f"{wrong}, {len(hunt.found)} of them different" if hunt.failed else ""


def _report(hunt: Hunt, wanted: Wanted, out: Console, err: Console) -> int:
    if not hunt.tried:
        raise Misused(
            f"None of the {hunt.drawn} models could be used: {_reasons(hunt)}. Choose other kinds "
            f"with --kinds: {', '.join(KINDS)}."
        )
    best = hunt.smallest
    if best is None:
        out.print(f"[green]✓[/green] {escape(wanted.words)}: right on all {hunt.tried} models.")
        _print_figures(hunt, err)
        return HOLDS
    many = "model" if hunt.failed == 1 else "models"
    title = f"{wanted.words}: wrong on {hunt.failed} {many} of {hunt.tried}"
    others = [found for found in hunt.found if found is not best]
    card = card_of(best, hunt.question, title, others)
    out.print(card.text(), markup=False)
    if wanted.page is not None:
        wanted.page.write_text(card.page(), encoding="utf-8")
        out.print(f"The card: {wanted.page}", markup=False)
    if wanted.save is not None:
        names = (wanted.words, wanted.oracle, wanted.aspects)
        text = file_of(best, hunt.question, wanted.save, *names)
        wanted.save.write_text(text, encoding="utf-8")
        out.print(f"The model as a test: {wanted.save}", markup=False)
    _print_figures(hunt, err)
    return FOUND


def _reasons(hunt: Hunt) -> str:
    """The most frequent reasons why models could not be used, with their numbers."""
    shown = hunt.useless.most_common(3)
    other = hunt.useless.total() - sum(count for _, count in shown)
    return ", ".join(f"{why} ({count})" for why, count in [*shown, ("other", other)] if count)


def _print_figures(hunt: Hunt, err: Console) -> None:
    speed = hunt.drawn / max(hunt.seconds, 1e-9)
    sentences = [f"{hunt.drawn} models drawn with seed {hunt.seed}, {speed:.0f} a second."]
    if left := hunt.drawn - hunt.tried:
        sentences.append(f"{left} of them could not be used: {_reasons(hunt)}.")
    if hunt.found:
        smaller, seconds = hunt.shrinking.tried, hunt.shrinking.seconds
        sentences.append(f"{smaller} smaller models tried in {seconds:.1f} s.")
    err.print(" ".join(sentences), markup=False)
