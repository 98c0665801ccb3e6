"""The work of ``fxcourse hunt``: hunts, reports, and the exit status."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from autograder.cli.terminal import Progress
from autograder.hunt import github
from autograder.hunt.card import card_of, sentence
from autograder.hunt.loading import CannotLoad, as_change, as_oracle, loaded
from autograder.hunt.saved import SavedTest, read_baseline, run_saved, write
from autograder.hunt.saved_test import PREFIX, file_of
from autograder.hunt.search import Counterexample, Hunt
from autograder.hunt.settings import Settings
from autograder.hunt.trying import CAPTURED, Misused, Question
from autograder.hunt.vocabularies import KINDS, SAYS

HOLDS, FOUND, UNUSABLE, CRASHED = 0, 1, 2, 3
"""The exit statuses: the pass held; there is a counterexample that is not in the baseline; the pass
could not be tested on enough models; the hunt itself failed."""

WORST = (CRASHED, FOUND, UNUSABLE, HOLDS)
"""The statuses, the one that decides for several hunts first."""

UNFIT = (CannotLoad, Misused)
"""Exceptions for a pass that cannot be tested; the message gives the fix."""


@dataclass(frozen=True)
class Options:
    """The options of a command, whatever the pass is.

    Attributes:
        seed: the seed of the models.
        enough: the number of new counterexamples after which a hunt stops.
        page: the file for the card; ``None`` for none.
        save: the folder of saved counterexamples; ``None`` for none.
        baseline: the file with accepted fingerprints; ``None`` for none.
        is_github: whether GitHub's annotations are printed, too.
    """

    seed: int = 0
    enough: int = 3
    page: Path | None = None
    save: Path | None = None
    baseline: Path | None = None
    is_github: bool = False


def kinds_text() -> str:
    """The kinds of models, one per line."""
    return "\n".join(f"{name:<13} {says}" for name, says in SAYS.items())


def run(
    hunts: Sequence[Settings],
    options: Options,
    out: Console,
    err: Console,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Hunt with each of these settings, and report.

    Args:
        hunts: the settings.
        options: the options of the command.
        out: prints results.
        err: prints progress, figures and errors.
        clock: the time in seconds, for hunts that end by time.

    Returns:
        The exit status; of several hunts, the worst.

    Raises:
        CannotLoad: an option cannot be used.
    """
    if options.page is not None and len(hunts) > 1:
        raise CannotLoad("--html writes one card, and there are several hunts. Name one of them.")
    if options.page is not None and not options.page.resolve().parent.is_dir():
        raise CannotLoad(
            f"There is no folder '{options.page.parent}' to write '{options.page.name}' to."
        )
    if options.save is not None and options.save.suffix == ".py":
        raise CannotLoad(f"--save takes a folder, and '{options.save}' is the name of a file.")
    baseline = read_baseline(options.baseline) if options.baseline else frozenset()
    annotations = github.Annotations(lambda line: out.print(line, markup=False))
    report = _Report(options, baseline, annotations, out, err, clock)
    statuses = [report.of(settings) for settings in hunts]
    if annotations.omitted:
        out.print(f"{annotations.omitted} more annotations were not printed.")
    return next(status for status in WORST if status in statuses)


class _Report:
    """Runs hunts, and prints their results."""

    def __init__(
        self,
        options: Options,
        baseline: frozenset[str],
        annotations: github.Annotations,
        out: Console,
        err: Console,
        clock: Callable[[], float],
    ) -> None:
        self.options, self.baseline, self.annotations = options, baseline, annotations
        self.out, self.err, self.clock = out, err, clock

    def of(self, settings: Settings) -> int:
        """Hunt, report, and return the exit status."""
        try:
            return self._hunt(settings)
        except UNFIT as error:
            self._say_error("Nothing was tested.", str(error), settings)
            return UNUSABLE
        except (Exception, SystemExit) as error:  # a pass may try to end the process
            self.err.print(traceback.format_exc().rstrip(), markup=False)
            says = f"{type(error).__name__}: {error}"
            self._say_error("The hunt itself failed, not the pass.", says, settings)
            return CRASHED

    def _say_error(self, outcome: str, why: str, settings: Settings) -> None:
        lead = f"{settings.title}: " if settings.name else ""
        self.err.print(f"[red]{escape(lead)}{outcome}[/red] {escape(why)}")
        if self.options.is_github:
            self.annotations.add(f"fxcourse hunt: {settings.title}", f"{outcome} {why}")

    def _hunt(self, settings: Settings) -> int:
        function = loaded(settings.words, "the pass")
        oracle = as_oracle(loaded(settings.oracle, "the oracle")) if settings.oracle else None
        question = Question(
            as_change(function, settings.given), oracle, settings.given, settings.aspects,
            settings.eval, first_only=settings.given in CAPTURED,
        )  # fmt: skip
        saved = list(run_saved(self.options.save, settings.words)) if self.options.save else []

        def is_known(found: Counterexample) -> bool:
            return found.fingerprint(settings.words, settings.given) in self.baseline

        kinds = {name: KINDS[name] for name in settings.kinds}
        hunt = Hunt(question, kinds, self.options.seed, is_known)
        self._draw(hunt, settings)
        return self._verdict(hunt, settings, saved, github.place_of(function))

    def _draw(self, hunt: Hunt, settings: Settings) -> None:
        """Draw models, until there are enough or the time is over. A model that began is tried."""
        begin, seconds = self.clock(), 60 * (settings.minutes or 0)
        with Progress("Hunting, seconds" if seconds else "Hunting") as progress:
            total = settings.most or round(seconds)
            progress.show(0, total)
            go_on = lambda: not seconds or self.clock() - begin < seconds  # noqa: E731
            for _ in hunt.steps(settings.most, enough=self.options.enough, go_on=go_on):
                done = round(self.clock() - begin) if seconds else hunt.drawn
                progress.show(min(done, total), total, _so_far(hunt))

    def _verdict(
        self,
        hunt: Hunt,
        settings: Settings,
        saved: list[SavedTest],
        place: tuple[str, int] | None,
    ) -> int:
        failing = [each for each in saved if each.failure and each.fingerprint not in self.baseline]
        for each in failing:
            says = f"{settings.title}: the saved counterexample {each.path} fails: {each.failure}"
            self._say(f"✗ {says}")
            self._annotate(settings, says, place)
        if hunt.new:
            self._show(hunt, settings, place)
        if not hunt.new and hunt.tried < settings.at_least:
            if not failing:
                raise Misused(_too_few(hunt, settings))
            self.err.print(_too_few(hunt, settings), markup=False)
        elif not hunt.new:
            self._say(("" if failing else "✓ ") + f"{settings.title}: {_held(hunt)}")
        if saved and not failing:
            passed = sum(not each.failure for each in saved)
            self._say(f"{passed} of {len(saved)} saved counterexamples pass{self._others(saved)}.")
        _print_figures(hunt, self.err)
        return FOUND if hunt.new or failing else HOLDS

    def _others(self, saved: list[SavedTest]) -> str:
        return "; the others are in the baseline" if any(each.failure for each in saved) else ""

    def _say(self, text: str) -> None:
        """Print a line, and add it to the summary of a job on GitHub."""
        style = {"✓": "green", "✗": "red"}.get(text[0])
        shown = f"[{style}]{text[0]}[/{style}]{escape(text[1:])}" if style else escape(text)
        self.out.print(shown)
        if self.options.is_github:
            github.add_to_summary(text)

    def _annotate(self, settings: Settings, message: str, place: tuple[str, int] | None) -> None:
        if self.options.is_github:
            self.annotations.add(f"{settings.title} is wrong", message, place)

    def _show(self, hunt: Hunt, settings: Settings, place: tuple[str, int] | None) -> None:
        """Print the card of the smallest new counterexample, and write the files."""
        best = hunt.smallest
        assert best is not None
        many = "model" if hunt.failed == 1 else "models"
        title = f"{settings.title}: wrong on {hunt.failed} {many} of {hunt.tried}"
        card = card_of(best, hunt.question, title, [each for each in hunt.new if each is not best])
        self.out.print(card.text(), markup=False)
        if self.options.is_github:
            github.add_to_summary(card.text())
        for each in hunt.new:
            says = f"{sentence(each.failure.says)}\n{each.model.source.strip()}"
            self._annotate(settings, says, place)
        if self.options.page is not None:
            self.options.page.write_text(card.page(), encoding="utf-8")
            self.out.print(f"The card: {self.options.page}", markup=False)
        for each in hunt.new:
            self._save(each, hunt.question, settings)

    def _save(self, found: Counterexample, question: Question, settings: Settings) -> None:
        """Write a counterexample as a test, or print its fingerprint."""
        fingerprint = found.fingerprint(settings.words, settings.given)
        if self.options.save is None:
            self.out.print(f"Fingerprint: {fingerprint}", markup=False)
            return
        path = self.options.save / f"{PREFIX}{fingerprint}.py"
        write(path, file_of(found, question, path, settings.words, settings.oracle))
        self.out.print(f"The model as a test: {path}", markup=False)


def _so_far(hunt: Hunt) -> str:
    wrong = "wrong on 1" if hunt.failed == 1 else f"wrong on {hunt.failed}"
    return f"{wrong}, {len(hunt.found)} of them different" if hunt.failed else ""


def _held(hunt: Hunt) -> str:
    if not hunt.found:
        return f"right on all {hunt.tried} models."
    right = hunt.tried - hunt.failed
    return f"right on {right} models of {hunt.tried}; the others are in the baseline."


def _too_few(hunt: Hunt, settings: Settings) -> str:
    """The reason why a hunt has no verdict."""
    advice = f"Choose other kinds of models: {', '.join(KINDS)}."
    if not hunt.drawn:
        return "The time was over before the first model was drawn. Give the hunt more minutes."
    if not hunt.tried:
        return f"None of the {hunt.drawn} models could be used: {_reasons(hunt)}. {advice}"
    why = f" Reasons: {_reasons(hunt)}." if hunt.useless else ""
    return (
        f"The pass was tried on {hunt.tried} models, and at least {settings.at_least} are needed."
        f"{why} Draw more models, or lower at_least."
    )


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
