"""The question of an exercise: its card, and the cases that an answer is tried on.

These are plain declarations, without expected results. Those are in the exercise's answer key; see
`judge.answer_key`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from torch import fx, nn


@dataclass
class Trial:
    """One fresh set of objects for one call of an answer.

    Attributes:
        args: positional arguments for the answer.
        kwargs: keyword arguments for the answer.
        model: the caller's model; `run` records everything that the answer changes in it.
        inputs: argument tuples on which a returned module is run.
        functions: functions of the case that a graph may call, by their names in an outcome.
        watch: further values of the caller that an answer must not change.
        log: a list that the case's own callbacks append to while a result runs.
        forbidden: attributes the answer may not use, as ``(owner class, name)``; with a third
            item ``"anywhere"``, use by PyTorch on the answer's behalf counts, too.
        times: how often a repeated transform is applied, each time to what it returned.
        meanwhile: further calls of the answer before its result is described and run. They change
            whatever the answer keeps outside its result. In `repeated_calls`, they come between
            the earlier calls and the last one.
        then: makes another model from the returned graph module, one with more to do. The answer is
            called with that model, too, and what it returns then is the result. So the names that
            the answer itself has chosen are taken.
        made_under: the seed under which an answer makes its own objects.
        noted: whether the ``meta`` of the nodes counts: the model is a graph module whose ``meta``
            must stay, and the nodes of the result are described with theirs.
        copied: whether a returned graph module is also run as a copy. That takes as long as all
            other runs together, so only hand-written cases do it: whether a copy works depends on
            the answer, and not on the model.
    """

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    model: nn.Module | None = None
    inputs: tuple[tuple[Any, ...], ...] = ()
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    watch: tuple[Any, ...] = ()
    log: list[Any] = field(default_factory=list)
    forbidden: tuple[tuple[Any, ...], ...] = ()
    times: int = 1
    meanwhile: Callable[[Callable[..., Any]], Any] | None = None
    then: Callable[[fx.GraphModule], nn.Module] | None = None
    made_under: int = 0
    noted: bool = False
    copied: bool = True

    @property
    def given_model(self) -> nn.Module:
        """The model, for a case that has one."""
        assert self.model is not None
        return self.model


@dataclass(frozen=True)
class Expect:
    """The demands of a case beyond its reference. An exercise that needs more has a subclass.

    Attributes:
        raises: the name of the exception that must be raised.
        advice: the advice if it is not.
        names: a name that the exception's message must contain.
        still_holds: names of rules that also hold after the exception.
        may_raise: whether a run of the model may raise, as it does without the answer.
        trace: traces the case's model, if `fx.symbolic_trace` cannot.
        built_by: the steps that changed a graph module after its trace, one sentence each.
    """

    raises: str = ""
    advice: str = ""
    names: str = ""
    still_holds: tuple[str, ...] = ()
    may_raise: bool = False
    trace: Callable[[nn.Module], fx.GraphModule] | None = None
    built_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One situation in which an answer is tried.

    Attributes:
        name: unique within the exercise, a few words for a learner.
        aspect: key of the `Aspect` whose points depend on this case.
        make: builds a fresh `Trial`; the same seed gives the same trial. It is pickled by
            reference and sent to where answers run, so it is made of objects in `models` modules.
        expect: what the case demands beyond the reference.
        hidden: whether the case is tried only when a submission is graded, and not in the learner's
            check cell. Hidden cases are redraws of visible ones, and reject answers that are
            fitted to the visible cases. `exercise_folder` hides the cases of ``redraws.py``.
        recipe: the numbers that a random model was made from; only its maker reads them.
        cache: values that a judge has computed, and that are the same for every answer.
    """

    name: str
    aspect: str
    make: Callable[[int], Trial]
    expect: Expect = Expect()
    hidden: bool = False
    recipe: object = None
    cache: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)


class RandomCases(Protocol):
    """A source of random cases, such as `fuzz.random_models.RandomModels`."""

    @property
    def count(self) -> int:
        """The number of random cases for an answer that is graded."""

    def cases(self, seed: int = 0, count: int | None = None) -> tuple[Case, ...]:
        """The cases of a seed; with a smaller count, the first of them."""

    def pool(self, pool: int) -> Iterator[Case]:
        """The cases of a class's pool, each made when it is first needed."""

    def smallest(self, case: Case, fails: Callable[[Case], bool]) -> Case:
        """The smallest random case that still fails, made from one that fails."""


@dataclass(frozen=True)
class Aspect:
    """A share of an exercise's points: earned when all its cases pass."""

    key: str
    weight: int
    says: str


RANDOM = Aspect("random", 1, "models drawn at random")
"""The share of random models. It is earned only if all other cases pass."""


_RENAMED_KINDS = {
    "after others": "repeated_calls", "any module": "module_factory",
    "asked tracer": "shape_tracer", "drawn twice": "random_function",
    "driven": "compiler_backend", "edit": "graph_edit",
    "in place": "in_place_seeded", "rules": "decomposition_rules",
}  # fmt: skip


@dataclass(frozen=True)
class Exercise:
    """One exercise of a chapter.

    Attributes:
        title: a short heading.
        stars: 1 (warm-up) to 4 (open-ended).
        minutes: the time that it should take.
        points: full marks.
        kind: the kind of answer: the name of a module in `runner.kinds`.
        aspects: the shares of the points; without the first, none are earned.
        cases: the situations, simplest first, and hidden ones last.
        hints: markdown, from "where to look" to "a skeleton"; never the solution.
        random: random models on which the answer is tried, too.
        number: its place in the chapter, from 1.
        not_random: the reason why there are none.
        forbidden_words: names of tools that the answer's text must not have. `Trial.forbidden`
            records their use.
        own_code: the meaning of a call of the notebook's own code in a result's graph: it is not
            allowed (``refused``), it copies its one argument (``copies``), or its value has no
            reader and the judge leaves it out (``skipped``).
        first_try: a line of the answer cell, if the cell has a wrong answer at first. It is not the
            learner's, and does not count as an attempt.
        fine_print: sentences of the task's fine print, each with the names of the cases that depend
            on it. A learner whose answer fails there may not have read it.
        name: the name of what the learner writes. This and the next two are filled in from the
            exercise's folder; see `exercise_folder`.
        chapter: stem of the chapter's file, such as ``03_manipulation``.
        key: the module that holds the answer key as ``KEY``; ``module:NAME`` for another name.
    """

    title: str
    stars: int
    minutes: int
    points: float
    kind: str
    aspects: tuple[Aspect, ...]
    cases: tuple[Case, ...]
    hints: tuple[str, ...]
    random: RandomCases | None = None
    number: int = 0
    not_random: str = ""
    forbidden_words: tuple[str, ...] = ()
    own_code: Literal["refused", "copies", "skipped"] = "refused"
    first_try: str = ""
    fine_print: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    name: str = ""
    chapter: str = ""
    key: str = ""

    def __post_init__(self) -> None:
        """Refuse the name that a kind had in version 0.1."""
        kind = _RENAMED_KINDS.get(self.kind, self.kind.replace(" ", "_"))
        if kind != self.kind:
            raise ValueError(f"kind={self.kind!r} is now called {kind!r}")

    def worth(self, points: float | None) -> Exercise:
        """The same exercise with a class's own full marks, or with its own ones for ``None``."""
        if points is None or points == self.points:
            return self
        whole = int(points) if float(points).is_integer() else points
        return replace(self, points=whole)

    def fine_print_for(self, case: str) -> str:
        """The sentence of the task's fine print that a case depends on, or ``""``."""
        return next((says for says, cases in self.fine_print.items() if case in cases), "")

    @property
    def all_aspects(self) -> tuple[Aspect, ...]:
        """The aspects, with the share of random models if there are any."""
        return (*self.aspects, RANDOM) if self.random else self.aspects

    def visible_cases(self) -> tuple[Case, ...]:
        """The cases that a learner's check cell tries."""
        return tuple(case for case in self.cases if not case.hidden)
