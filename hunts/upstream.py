"""The hunt through PyTorch's own passes: each model is tried on all that its vocabulary fits."""

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
"""A suspect that takes long is tried on one of so many models."""


@dataclass
class Tally:
    """What became of one suspect.

    Attributes:
        tried: on how many models it was tried.
        known: how many models it failed on that a known bug explains.
        refused: how many models it refused with a message that says why.
        new: what nobody knows yet, or what is left when all that is known is mended.
    """

    tried: int = 0
    known: int = 0
    refused: int = 0
    new: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class Finding:
    """A model on which a suspect is wrong for a reason that no known bug gives.

    Attributes:
        suspect: the suspect's name.
        model: the model, made small.
        failure: what came of it.
        silent: whether nobody would notice: nothing was raised.
    """

    suspect: str
    model: Drawn
    failure: Failure

    @property
    def silent(self) -> bool:
        return not self.failure.error


@dataclass
class UpstreamHunt:
    """A hunt, and what it has come to so far.

    Attributes:
        suspects: the passes and transports.
        bugs: what is known of them.
        vocabularies: what models are made of, by name.
        seed: where to begin.
        drawn: how many models were drawn.
        useless: how many of them said nothing, by reason.
        tallies: what became of each suspect.
        hits: how many failing models each known bug explains.
        smallest: for each known bug the fewest lines of a model that it alone explains.
        first: for each known bug, the number of the model on which it was seen first.
        shrinking: what it cost to make models small.
        seconds: how long all of it took.
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
        """How many pairs of a model and a suspect were tried."""
        return sum(tally.tried for tally in self.tallies.values())

    @property
    def new(self) -> list[Finding]:
        """All that is new."""
        return [finding for tally in self.tallies.values() for finding in tally.new]

    def steps(self, go_on: Callable[[], bool]) -> Iterator[UpstreamHunt]:
        """Go on, model by model, for as long as one wants.

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
        """The known bugs without which all would be well; nothing if something is left."""
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
    """What comes of a model where these bugs are mended."""
    with ExitStack() as mended:
        for bug in bugs:
            mended.enter_context(bug.mend())
        return outcome(model, question)


def _refused(suspect: Suspect, failure: Failure) -> bool:
    """Whether a pass says itself that it does not take this model, and why."""
    return failure.aspect == RAISES and any(words in failure.says for words in suspect.refuses)


def _explains(known: Finding, model: Drawn, failure: Failure) -> bool:
    same = known.failure.kind == failure.kind
    return same and operations(known.model.source) <= operations(model.source)
