"""One random model against one pass: what comes of it."""

from __future__ import annotations

import contextlib
import copy
import io
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Literal

from torch import fx, nn

from autograder.core.exercise import Trial
from autograder.hunt.behaviour import (
    EVERYTHING,
    MODES,
    Behaviour,
    Call,
    behaviour,
    calls_of,
    unlike,
)

Given = Literal["trace", "model", "program", "aten"]
"""What a pass is given: a trace of the model, the model itself, the graph module of its exported
program, or its ATen graph as `make_fx` records it."""

RAISES = "the pass raises"
ENDLESS = "the pass does not end"

LONGEST = 3.0
"""Seconds of processor time that a pass may take for one of these small models."""

Change = Callable[[Any, tuple[tuple[Any, ...], ...]], Callable[..., Any]]
Oracle = Callable[[nn.Module], Callable[..., Any]]


@dataclass(frozen=True)
class Question:
    """What is asked of every model: whether a pass does with it what it should.

    Attributes:
        change: the pass. It is given an object of its own, and the inputs; it returns what is
            run in place of the model.
        oracle: from a model to what must come out of the pass; the model itself if there is none.
        given: what the pass is given.
        aspects: in what the two must not differ.
        eval_only: whether models in training mode are put into eval mode first.
        sound_by: how a trace is run to see whether tracing alone has changed the model; such a
            model says nothing about the pass.
        first_only: whether models are compared on their first arguments alone, where what comes
            out of the pass is made for these.
        seconds: how long the pass may take for one model.
    """

    change: Change
    oracle: Oracle | None = None
    given: Given = "trace"
    aspects: Sequence[str] = EVERYTHING
    eval_only: bool = False
    sound_by: Literal["forward", "interpreter"] = "forward"
    first_only: bool = False
    seconds: float = LONGEST

    @property
    def setting(self) -> tuple[object, ...]:
        """What a subject depends on: questions of one setting can share their subjects."""
        return self.given, self.eval_only, self.sound_by, self.first_only


@dataclass(frozen=True)
class Failure:
    """A model on which the pass is wrong.

    Attributes:
        aspect: in what, such as `behaviour.RESULT`, or `RAISES`.
        says: a clause about it.
        error: the type of the exception, where one was raised.
    """

    aspect: str
    says: str
    error: str = ""

    @property
    def kind(self) -> tuple[str, str]:
        """What two failures that may have one cause have in common."""
        return self.aspect, self.error


class Useless(Exception):
    """A model that cannot test a pass: it raises, or its trace does not do what it does."""

    @property
    def reason(self) -> str:
        """The reason in a few words, without the details of one model."""
        return str(self).partition(":")[0].replace("`", "")


class Misused(Exception):
    """The pass was asked in a way that no model is needed to see."""


class TooLong(BaseException):
    """A pass takes too long. No pass that catches exceptions catches this one."""


@dataclass
class Subject:
    """A model that is fit to try passes on.

    Attributes:
        model: the model as it was made.
        inputs: its arguments, a tuple for each call.
        calls: the calls on which models are compared.
        want: what the model itself does.
        given: what passes are given; each gets a copy.
    """

    model: nn.Module
    inputs: tuple[tuple[Any, ...], ...]
    calls: list[Call]
    want: Behaviour
    given: Any

    def own(self) -> Any:
        """What a pass is given, for this pass alone."""
        return copy.deepcopy(self.given)


def subject(make: Callable[[], Trial], question: Question) -> Subject:
    """Make a model ready for passes.

    Args:
        make: a fresh trial: the model and its inputs.
        question: how the model is to be given.

    Raises:
        Useless: nothing is to be learnt from this model.
    """
    try:
        trial, traced = make(), make()
    except Exception as error:
        raise Useless(f"the model cannot be made: {first_line(error)}") from None
    model, another = trial.model, traced.model
    if model is None or another is None:
        raise Useless("there is no model")
    if question.eval_only:
        model.eval()
        another.eval()
    inputs = trial.inputs[:1] if question.first_only else trial.inputs
    calls = calls_of(model, inputs)
    if question.first_only:
        calls = [call for call in calls if not call.kwargs]
    with quiet():
        want = behaviour(copy.deepcopy(model), calls)
        if want.error or not calls:
            raise Useless(
                f"the model raises {want.error}" if want.error else "the model has no inputs"
            )
        given = _given(another, trial.inputs, question.given)
        if isinstance(given, fx.GraphModule):
            _demand_sound(given, calls, want, question)
    return Subject(model, trial.inputs, calls, want, given)


def attempt(subject: Subject, question: Question) -> Failure | None:
    """Try the pass on a model.

    Raises:
        Useless: the oracle has no answer here.
        Misused: the pass or the oracle cannot be used.
    """
    with quiet():
        want = subject.want
        if question.oracle is not None:
            want = _said_by(question.oracle, subject, question)
        try:
            with limited(question.seconds):
                changed = question.change(subject.own(), subject.inputs)
                got = behaviour(changed, subject.calls, question.aspects)
        except TooLong:
            return Failure(ENDLESS, "the pass does not end, or takes seconds")
        except Misused:
            raise
        except Exception as error:
            says = f"the pass raises `{type(error).__name__}: {first_line(error)}`"
            return Failure(RAISES, says, type(error).__name__)
    found = unlike(got, want, question.aspects)
    if found is None:
        return None
    aspect, says = found
    return Failure(aspect, says, got.error.partition(":")[0].strip("`"))


def _said_by(oracle: Oracle, subject: Subject, question: Question) -> Behaviour:
    try:
        right = oracle(copy.deepcopy(subject.model))
    except Misused:
        raise
    except Exception as error:
        raise Useless(f"the oracle raises: {first_line(error)}") from None
    want = behaviour(right, subject.calls, question.aspects)
    if want.error:
        raise Useless(f"the result of the oracle raises: {want.error}")
    return want


def _given(model: nn.Module, inputs: tuple[tuple[Any, ...], ...], given: Given) -> Any:
    try:
        if given == "model":
            return model
        if given == "trace":
            return fx.symbolic_trace(model)
        if given == "program":
            from torch.export import export

            return export(model, copy.deepcopy(inputs[0])).module()
        from torch.fx.experimental.proxy_tensor import make_fx

        return make_fx(model)(*copy.deepcopy(inputs[0]))
    except Exception as error:
        raise Useless(f"the model cannot be captured: {first_line(error)}") from None


def _demand_sound(given: fx.GraphModule, calls: list[Call], want: Behaviour, q: Question) -> None:
    """See that the graph does what the model does before any pass has touched it."""
    aspects = [aspect for aspect in EVERYTHING if aspect != MODES]
    own = copy.deepcopy(given)
    call = fx.Interpreter(own).run if q.sound_by == "interpreter" else own
    if q.sound_by == "interpreter":
        calls = [each for each in calls if not each.kwargs]
    found = unlike(behaviour(call, calls, aspects), want, aspects)
    if found:
        raise Useless(f"the graph computes something else: {found[1]}")


def first_line(error: BaseException) -> str:
    """The first line of what an exception says."""
    return next(iter(str(error).strip().splitlines()), "")[:200]


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop what uses more processor time, where that is possible: not on Windows, nor in a thread.

    Raises:
        TooLong: it did.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if frame is None or frame.f_code.co_name != "gc_callback":  # what it raises is ignored
            raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    # Again and again: one may fall where exceptions are ignored.
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep from the terminal what passes print, FX about a graph that raises, and all warnings."""
    nowhere = io.StringIO()
    with (
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
