"""The search: draw models until enough of them fail, and shrink those."""

from __future__ import annotations

import gc
import hashlib
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
    Given,
    Question,
    Subject,
    Useless,
    attempt,
    subject,
)

FINGERPRINT_DIGITS = 12

BATCH = 25
"""The number of models of one vocabulary that are drawn at a time."""


@dataclass(frozen=True)
class Drawn:
    """A random model.

    Attributes:
        vocabulary: the name of its vocabulary.
        words: its vocabulary.
        recipe: the numbers that it was made from.
        seed: the seed of its batch.
        place: its place in the batch.
    """

    vocabulary: str
    words: Vocabulary
    recipe: Recipe
    seed: int = 0
    place: int = 0

    @property
    def case(self) -> Case:
        """The case that builds it."""
        return RandomModels(self.words).case(self.recipe, "a random model")

    @property
    def source(self) -> str:
        """Its code."""
        return program_of(self.recipe, self.words).source

    @property
    def lines(self) -> int:
        """The number of lines of its code."""
        return sum(bool(line.strip()) for line in self.source.splitlines())

    def subject(self, question: Question) -> Subject:
        """The model, ready for passes; see `trying.subject`."""
        make = self.case.make
        begin = getattr(make, "begin", make)  # without the further arguments of an exercise
        return subject(lambda: begin(0), question)


@dataclass
class Shrinking:
    """The cost of shrinking models.

    Attributes:
        tried: the number of smaller models that were tried.
        seconds: the time that this took.
        cut: the number of times that it ended because enough models were tried.
    """

    tried: int = 0
    seconds: float = 0.0
    cut: int = 0


def models(vocabularies: Mapping[str, Vocabulary], seed: int) -> Iterator[Drawn]:
    """Yield models forever, from each vocabulary in turn; the same ones for the same seed."""
    for turn in itertools.count():
        for name, words in vocabularies.items():
            number = seed * 1_000_003 + turn
            for place, recipe in enumerate(drawn(words.most, BATCH, number)):
                yield Drawn(name, words, recipe, number, place)
        drawn.cache_clear()
        gc.collect()  # every model is a class, and a trace goes through all living classes


def smallest(
    model: Drawn,
    fails: Callable[[Drawn], bool],
    cost: Shrinking | None = None,
    most: int = MOST_TRIES,
) -> Drawn:
    """Shrink a model that fails, as long as the smaller one fails too.

    Args:
        model: the model that fails.
        fails: whether another model fails.
        cost: the cost is added to it.
        most: the largest number of models to try.
    """
    cost = cost or Shrinking()
    start, before = time.perf_counter(), cost.tried

    def still(recipe: Recipe) -> bool:
        cost.tried += 1
        return fails(Drawn(model.vocabulary, model.words, recipe, model.seed, model.place))

    recipe = shrunk(model.recipe, still, most)
    inner = replace(recipe, steps=recipe.part, part=())
    if recipe.part and still(inner):  # the mistake may be in the part
        before = cost.tried
        recipe = shrunk(inner, still, most)
    cost.cut += cost.tried - before >= most
    cost.seconds += time.perf_counter() - start
    return Drawn(model.vocabulary, model.words, recipe, model.seed, model.place)


def outcome(model: Drawn, question: Question) -> Failure | None:
    """The failure on a model; ``None`` if there is none, or the model cannot test the pass."""
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
    """A model on which a pass is wrong, after shrinking.

    Attributes:
        model: the model.
        failure: the failure on it.
        first: the model on which the failure was first seen.
        minimal: whether no smaller model fails; if not, the search for one ended too early.
    """

    model: Drawn
    failure: Failure
    first: Drawn
    minimal: bool = True

    def fingerprint(self, words: str, given: Given) -> str:
        """The name of this counterexample: the same for the same mistake of the same pass.

        Args:
            words: the name of the pass.
            given: the input of the pass.
        """
        called = sorted(operations(self.model.source))
        parts = [words, given, *self.failure.kind, *called]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:FINGERPRINT_DIGITS]


@dataclass
class Hunt:
    """A hunt for counterexamples to one pass.

    Two failing models count as one if the second has all operations of the first one's smallest
    form, and fails in the same way: the first explains it.

    Attributes:
        question: the pass, and how it is tested.
        vocabularies: the vocabularies of the models, by name.
        seed: the seed of the models.
        is_known: whether a counterexample was accepted earlier.
        found: the counterexamples, one per cause if the causes can be told apart.
        drawn: the number of models that were drawn.
        useless: the number of models that could not be used, by reason.
        failed: the number of models on which the pass is wrong.
        shrinking: the cost of shrinking them.
        seconds: the time of the hunt so far.
    """

    question: Question
    vocabularies: Mapping[str, Vocabulary]
    seed: int = 0
    is_known: Callable[[Counterexample], bool] = lambda found: False
    found: list[Counterexample] = field(default_factory=list)
    drawn: int = 0
    useless: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    shrinking: Shrinking = field(default_factory=Shrinking)
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        """The number of models on which the pass was tested."""
        return self.drawn - sum(self.useless.values())

    @property
    def new(self) -> list[Counterexample]:
        """The counterexamples that were not accepted earlier."""
        return [each for each in self.found if not self.is_known(each)]

    @property
    def smallest(self) -> Counterexample | None:
        """The new counterexample with the fewest lines."""
        return min(self.new, key=lambda each: each.model.lines, default=None)

    def steps(
        self,
        most: int | None = None,
        *,
        enough: int = 5,
        go_on: Callable[[], bool] = lambda: True,
    ) -> Iterator[Hunt]:
        """Draw models until there are enough of them, or enough counterexamples.

        Args:
            most: the number of models; ``None`` for no limit.
            enough: the number of new counterexamples.
            go_on: whether to draw another model.

        Yields:
            The hunt itself, after each model. A pass that does not end ends the hunt.
        """
        start = time.perf_counter()
        for model in itertools.islice(models(self.vocabularies, self.seed), most):
            if not go_on():
                return
            self._look_at(model)
            self.seconds = time.perf_counter() - start
            yield self
            endless = any(each.failure.aspect == ENDLESS for each in self.found)
            if len(self.new) >= enough or endless:
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

        cut = self.shrinking.cut
        small = smallest(model, fails, self.shrinking, most)
        left = outcome(small, question) or failure
        self.found.append(Counterexample(small, left, model, self.shrinking.cut == cut))

    def _explains(self, known: Counterexample, model: Drawn, failure: Failure) -> bool:
        same = known.failure.kind == failure.kind
        return same and operations(known.model.source) <= operations(model.source)
