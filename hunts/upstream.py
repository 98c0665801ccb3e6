"""The hunt for bugs of PyTorch's own passes: each model is tried on all suitable passes."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from autograder.fuzz.grammar import Vocabulary
from autograder.hunt.search import Drawn, Shrinking, models, operations, outcome, smallest
from autograder.hunt.trying import RAISES, Failure, Question, Subject, Useless, attempt
from hunts.bug import Bug
from hunts.suspects import Suspect

SLOW = 8
"""A slow suspect is tried on every model with a number divisible by this."""


@dataclass
class Tally:
    """The figures of one suspect.

    Attributes:
        tried: number of models on which it was tried.
        known: number of failing models that a known bug explains.
        refused: number of models that it rejected with a message that says why.
        new: failures that no known bug explains, or that remain when all known bugs are fixed.
    """

    tried: int = 0
    known: int = 0
    refused: int = 0
    new: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class Finding:
    """A model on which a suspect is wrong for a reason other than a known bug.

    Attributes:
        suspect: the suspect's name.
        model: the model, after shrinking.
        failure: the failure on it.
        silent: whether the result is wrong without any exception.
    """

    suspect: str
    model: Drawn
    failure: Failure

    @property
    def silent(self) -> bool:
        return not self.failure.error


@dataclass
class UpstreamHunt:
    """A hunt, and its findings so far.

    Attributes:
        suspects: the passes and transports.
        bugs: the known bugs of them.
        vocabularies: the vocabularies of the models, by name.
        seed: the seed of the models.
        drawn: number of models drawn.
        useless: number of models that could not be used, by reason.
        tallies: the figures of each suspect.
        hits: number of failing models that each known bug explains.
        smallest: for each known bug, the fewest lines of a model that it alone explains.
        first: for each known bug, the number of the model on which it was seen first.
        shrinking: the cost of shrinking models.
        seconds: the time of the hunt so far.
    """

    suspects: Sequence[Suspect]
    bugs: Sequence[Bug]
    vocabularies: Mapping[str, Vocabulary]
    seed: int = 0
    drawn: int = 0
    useless: Counter[str] = field(default_factory=Counter)
    tallies: dict[str, Tally] = field(default_factory=dict)
    hits: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)
    shrinking: Shrinking = field(default_factory=Shrinking)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.tallies = {suspect.name: Tally() for suspect in self.suspects}

    @property
    def tried(self) -> int:
        """The number of pairs of a model and a suspect that were tried."""
        return sum(tally.tried for tally in self.tallies.values())

    @property
    def new(self) -> list[Finding]:
        """All new findings."""
        return [finding for tally in self.tallies.values() for finding in tally.new]

    def steps(self, go_on: Callable[[], bool]) -> Iterator[UpstreamHunt]:
        """Continue, model by model, while `go_on` returns true.

        Yields:
            The hunt itself, after each model.
        """
        start = time.perf_counter()
        for model in models(self.vocabularies, self.seed):
            if not go_on():
                return
            self._look_at(model)
            self.seconds = time.perf_counter() - start
            yield self

    def _look_at(self, model: Drawn) -> None:
        self.drawn += 1
        wanted = [suspect for suspect in self.suspects if self._wants(suspect, model)]
        key = lambda suspect: str(suspect.question.setting)  # noqa: E731
        for _, group in itertools.groupby(sorted(wanted, key=key), key):
            own = list(group)
            try:
                subject = model.subject(own[0].question)
            except Useless as useless:
                self.useless[useless.reason] += 1
                continue
            for suspect in own:
                self._try(suspect, model, subject)

    def _wants(self, suspect: Suspect, model: Drawn) -> bool:
        kind = model.vocabulary.partition(",")[0]
        if suspect.slow and self.drawn % SLOW:
            return False
        if suspect.only:
            return kind in suspect.only
        return kind not in suspect.leaves_out

    def _try(self, suspect: Suspect, model: Drawn, subject: Subject) -> None:
        tally = self.tallies[suspect.name]
        tally.tried += 1
        failure = attempt(subject, suspect.question)
        if failure is None:
            return
        if _refused(suspect, failure):
            tally.refused += 1
            return
        explained = self._explained(suspect, model)
        if explained is not None:
            tally.known += 1
            for name in explained:
                self.hits[name] += 1
                self.first.setdefault(name, self.drawn)
            return
        if not any(_explains(known, model, failure) for known in tally.new):
            self._note(suspect, model, failure, tally)

    def _explained(self, suspect: Suspect, model: Drawn) -> list[str] | None:
        """The known bugs whose fixes make the failure disappear; ``None`` if it remains."""
        own = [bug for bug in self.bugs if _is_about(bug, suspect)]
        own.sort(key=lambda bug: -self.hits[bug.name])
        for bug in own:
            if _outcome_with([bug], model, suspect.question) is None:
                return [bug.name]
        if len(own) < 2 or _outcome_with(own, model, suspect.question) is not None:
            return None
        return [bug.name for bug in own if self._is_needed(bug, own, suspect, model)]

    def _is_needed(self, bug: Bug, own: list[Bug], suspect: Suspect, model: Drawn) -> bool:
        others = [other for other in own if other is not bug]
        return _outcome_with(others, model, suspect.question) is not None

    def _note(self, suspect: Suspect, model: Drawn, failure: Failure, tally: Tally) -> None:
        own = [bug for bug in self.bugs if _is_about(bug, suspect)]
        left = _outcome_with(own, model, suspect.question) or failure

        def fails(other: Drawn) -> bool:
            found = _outcome_with(own, other, suspect.question)
            return found is not None and found.kind == left.kind

        small = smallest(model, fails, self.shrinking, 40 if suspect.slow else 150)
        seen = _outcome_with(own, small, suspect.question) or left
        if _refused(suspect, seen):
            tally.refused += 1
        else:
            tally.new.append(Finding(suspect.name, small, seen))


def _is_about(bug: Bug, suspect: Suspect) -> bool:
    return any(suspect.name == name or suspect.name.startswith(f"{name},") for name in bug.suspects)


def _outcome_with(bugs: Sequence[Bug], model: Drawn, question: Question) -> Failure | None:
    """The failure on a model while these bugs are fixed; ``None`` if there is none."""
    with ExitStack() as fixed:
        for bug in bugs:
            fixed.enter_context(bug.fix())
        return outcome(model, question)


def _refused(suspect: Suspect, failure: Failure) -> bool:
    """Whether a pass itself rejects this model with a message that says why."""
    return failure.aspect == RAISES and any(words in failure.says for words in suspect.refuses)


def _explains(known: Finding, model: Drawn, failure: Failure) -> bool:
    same = known.failure.kind == failure.kind
    return same and operations(known.model.source) <= operations(model.source)
