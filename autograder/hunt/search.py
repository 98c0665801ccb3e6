"""The search: models are drawn and tried until there is enough; what fails is made small."""

from __future__ import annotations

import gc
import itertools
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from autograder.core.exercise import Case
from autograder.fuzz.codegen import program_of
from autograder.fuzz.grammar import Vocabulary
from autograder.fuzz.random_models import RandomModels
from autograder.fuzz.recipe import Recipe
from autograder.fuzz.sampler import drawn
from autograder.fuzz.shrinker import MOST_TRIES, shrunk
from autograder.hunt.trying import (
    ENDLESS,
    Failure,
    Question,
    Subject,
    Useless,
    attempt,
    subject,
)

BATCH = 25
"""How many models of one vocabulary are drawn at a time."""


@dataclass(frozen=True)
class Drawn:
    """A random model.

    Attributes:
        vocabulary: the name of what it is made of.
        words: what it is made of.
        recipe: the numbers that it was made from.
        seed: the seed of its batch.
        place: its place there.
    """

    vocabulary: str
    words: Vocabulary
    recipe: Recipe
    seed: int = 0
    place: int = 0

    @property
    def case(self) -> Case:
        """What builds it."""
        return RandomModels(self.words).case(self.recipe, "a random model")

    @property
    def source(self) -> str:
        """Its code."""
        return program_of(self.recipe, self.words).source

    @property
    def lines(self) -> int:
        """How many lines its code has."""
        return sum(bool(line.strip()) for line in self.source.splitlines())

    def subject(self, question: Question) -> Subject:
        """The model, ready for passes; see `trying.subject`."""
        make = self.case.make
        begin = getattr(make, "begin", make)  # without what an exercise needs besides
        return subject(lambda: begin(0), question)


@dataclass
class Shrinking:
    """What it cost to make a model small.

    Attributes:
        tried: how many smaller models were tried.
        seconds: how long it took.
    """

    tried: int = 0
    seconds: float = 0.0


def models(vocabularies: Mapping[str, Vocabulary], seed: int) -> Iterator[Drawn]:
    """Models without end, from each vocabulary in turn; the same ones for the same seed."""
    for turn in itertools.count():
        for name, words in vocabularies.items():
            number = seed * 1_000_003 + turn
            for place, recipe in enumerate(drawn(words.most, BATCH, number)):
                yield Drawn(name, words, recipe, number, place)
        drawn.cache_clear()
        gc.collect()  # every model is a class, and a trace goes through all classes there are


def smallest(
    model: Drawn,
    fails: Callable[[Drawn], bool],
    cost: Shrinking | None = None,
    most: int = MOST_TRIES,
) -> Drawn:
    """The smallest model that still fails, on the way from one that does.

    Args:
        model: one that fails.
        fails: whether another one does.
        cost: what this cost is added to it.
        most: how many others are tried at most.
    """
    cost = cost or Shrinking()
    start = time.perf_counter()

    def still(recipe: Recipe) -> bool:
        cost.tried += 1
        return fails(Drawn(model.vocabulary, model.words, recipe, model.seed, model.place))

    recipe = shrunk(model.recipe, still, most)
    inner = replace(recipe, steps=recipe.part, part=())
    if recipe.part and still(inner):  # what is wrong may be in the part alone
        recipe = shrunk(inner, still, most)
    cost.seconds += time.perf_counter() - start
    return Drawn(model.vocabulary, model.words, recipe, model.seed, model.place)


def outcome(model: Drawn, question: Question) -> Failure | None:
    """What comes of a model; nothing where it says nothing about the pass."""
    try:
        return attempt(model.subject(question), question)
    except Useless:
        return None


_CALLED = re.compile(r"(?:torch|F|operator|nn)\.[\w.]+|\.\w+(?=\()|[-+*/%@&|<>=]{1,2}(?= )")


def operations(source: str) -> frozenset[str]:
    """The operations that a model's code is made of, as words."""
    lines = [line for line in source.splitlines() if not re.match(r" *(class|def) ", line)]
    code = re.sub(r"self\.\w+", "", "\n".join(lines))
    return frozenset(_CALLED.findall(code)) - {"="}


@dataclass(frozen=True)
class Counterexample:
    """A model on which a pass is wrong, made small.

    Attributes:
        model: the model.
        failure: what comes of it.
        first: the model on which it was seen first.
    """

    model: Drawn
    failure: Failure
    first: Drawn


@dataclass
class Hunt:
    """A hunt for counterexamples to one pass.

    Two failing models count as one where the second holds all operations of the first one's
    smallest form, and fails in the same way: the first explains it.

    Attributes:
        question: what is asked of every model.
        vocabularies: what models are made of, by name.
        seed: where to begin.
        found: the counterexamples, one a cause, as far as that can be told.
        drawn: how many models were drawn.
        useless: how many of them said nothing, by reason.
        failed: how many failed.
        shrinking: what it cost to make them small.
        seconds: how long it has taken.
    """

    question: Question
    vocabularies: Mapping[str, Vocabulary]
    seed: int = 0
    found: list[Counterexample] = field(default_factory=list)
    drawn: int = 0
    useless: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    shrinking: Shrinking = field(default_factory=Shrinking)
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        """How many models the pass was tried on."""
        return self.drawn - sum(self.useless.values())

    @property
    def smallest(self) -> Counterexample | None:
        """The counterexample with the fewest lines."""
        return min(self.found, key=lambda each: each.model.lines, default=None)

    def steps(self, most: int, *, enough: int = 5) -> Iterator[Hunt]:
        """Go on until so many models are drawn, or so many counterexamples found.

        Args:
            most: of all models.
            enough: of counterexamples.

        Yields:
            The hunt itself, after each model. A pass that does not end ends the hunt.
        """
        start = time.perf_counter()
        for model in itertools.islice(models(self.vocabularies, self.seed), most):
            self._look_at(model)
            self.seconds = time.perf_counter() - start
            yield self
            endless = any(each.failure.aspect == ENDLESS for each in self.found)
            if len(self.found) >= enough or endless:
                return

    def _look_at(self, model: Drawn) -> None:
        self.drawn += 1
        try:
            failure = attempt(model.subject(self.question), self.question)
        except Useless as useless:
            self.useless[useless.reason] += 1
            return
        if failure is None:
            return
        self.failed += 1
        if any(self._explains(known, model, failure) for known in self.found):
            return
        question, most = self.question, MOST_TRIES
        if failure.aspect == ENDLESS:
            question, most = replace(question, seconds=0.5), 12
        kind = failure.kind

        def fails(other: Drawn) -> bool:
            found = outcome(other, question)
            return found is not None and found.kind == kind

        small = smallest(model, fails, self.shrinking, most)
        left = outcome(small, question) or failure
        self.found.append(Counterexample(small, left, model))

    def _explains(self, known: Counterexample, model: Drawn, failure: Failure) -> bool:
        same = known.failure.kind == failure.kind
        return same and operations(known.model.source) <= operations(model.source)
