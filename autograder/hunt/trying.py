"""The test of one pass on one random model."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import fx, nn

from autograder.core.exercise import Trial
from autograder.core.torch_private import is_exported
from autograder.hunt.behaviour import (
    EVERYTHING,
    MODES,
    Behaviour,
    Call,
    behaviour,
    by_position,
    calls_of,
    modes_of,
    steps_of,
    unlike,
)
from autograder.hunt.standalone import TooLong, limited, step_graph, training_step

Given = Literal["trace", "model", "program", "aten", "exported", "step"]
"""The input of a pass: a trace of the model, the model itself, the graph module of its exported
program, its ATen graph as `make_fx` records it, the exported program, or a training step."""

GIVEN: tuple[Given, ...] = get_args(Given)
CAPTURED: tuple[Given, ...] = ("program", "aten", "exported", "step")
"""The inputs that are captured with the first arguments, so that they may reject others."""

RAISES = "the pass raises"
ENDLESS = "the pass does not end"

LONGEST = 3.0
"""Most seconds of processor time for a pass on one of these small models."""

Change = Callable[[Any, tuple[tuple[Any, ...], ...]], Callable[..., Any]]
Oracle = Callable[[nn.Module], Callable[..., Any]]


@dataclass(frozen=True)
class Question:
    """A pass, and how it is tested on every model.

    Attributes:
        change: the pass. It gets a copy of the input and the arguments, and returns a callable
            that replaces the model.
        oracle: maps a model to the expected one; ``None`` expects the model itself.
        given: the input of the pass.
        aspects: the aspects in which the two must not differ.
        eval_only: whether models in training mode are put into eval mode first.
        sound_by: how a trace is run to check whether tracing alone has changed the model. Such
            a model cannot test the pass.
        first_only: whether models are compared on their first arguments only, for passes whose
            input was captured with these.
        seconds: the time limit of the pass for one model.
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
        """The settings of a subject: questions with the same ones can share their subjects."""
        return self.given, self.eval_only, self.sound_by, self.first_only


@dataclass(frozen=True)
class Failure:
    """A model on which the pass is wrong.

    Attributes:
        aspect: the aspect, such as `behaviour.RESULT`, or `RAISES`.
        says: a clause about it.
        error: the type of the exception, if one was raised.
        where: the line of the pass that raised it, as a sentence.
    """

    aspect: str
    says: str
    error: str = ""
    where: str = ""

    @property
    def kind(self) -> tuple[str, str]:
        """The key that is the same for two failures that may have one cause."""
        return self.aspect, self.error


class Useless(Exception):
    """A model that cannot test a pass: it raises, or its trace computes something else."""

    @property
    def reason(self) -> str:
        """The reason in a few words, without the details of one model."""
        return str(self).partition(":")[0].replace("`", "")


class Misused(Exception):
    """The pass or the oracle cannot be used, whatever the model is."""


@dataclass
class Subject:
    """A model that can test passes.

    Attributes:
        model: the model, unchanged.
        inputs: its arguments, a tuple for each call.
        calls: the calls on which models are compared.
        want: the behavior of the model itself, with the modes of `given`.
        given: the input of passes; each gets a copy.
    """

    model: nn.Module
    inputs: tuple[tuple[Any, ...], ...]
    calls: list[Call]
    want: Behaviour
    given: Any

    def own(self) -> Any:
        """A copy of the input, for one pass."""
        copied = copy.deepcopy(self.given)
        if is_exported(copied):
            # The copy calls a placeholder `max_1` that the program and its signature call `max`.
            for was, node in zip(self.given.graph.nodes, copied.graph.nodes, strict=True):
                node.name = was.name
            copied.graph_module.recompile()
        return copied

    @property
    def graph(self) -> fx.GraphModule | None:
        """The input as a graph module; ``None`` for a model."""
        return _graph_of(self.given)


def subject(make: Callable[[], Trial], question: Question) -> Subject:
    """Make a model ready for passes.

    Args:
        make: a fresh trial: the model and its inputs.
        question: the form in which passes get the model.

    Raises:
        Useless: if this model cannot test a pass.
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
    with quiet():
        calls = _calls(model, trial.inputs, question)
        want = behaviour(_called(copy.deepcopy(model), question.given), calls)
        if want.error:
            raise Useless(f"the model raises {want.error}")
        given = _given(another, trial.inputs, question.given)
        graph = _graph_of(given)
        if graph is not None:
            _demand_sound(graph, calls, want, question)
            want.rows[MODES, 0] = modes_of(graph)
    return Subject(model, trial.inputs, calls, want, given)


def _calls(model: nn.Module, inputs: tuple[tuple[Any, ...], ...], question: Question) -> list[Call]:
    """The calls on which this model is compared."""
    if question.given == "step":
        try:
            calls = steps_of(model, inputs)
        except Exception as error:
            raise Useless(f"the model raises {type(error).__name__}: {first_line(error)}") from None
        if not calls:
            raise Useless("the model has no result to train with")
        return calls
    calls = calls_of(model, inputs[:1] if question.first_only else inputs)
    if question.first_only:
        calls = [call for call in calls if not call.kwargs]
    if not calls:
        raise Useless("the model has no inputs")
    return calls


def expected_from(model: nn.Module, question: Question) -> Callable[..., Any]:
    """The callable that the result of a right pass behaves like.

    Args:
        model: a copy of the model.
        question: the pass, and how it is tested.

    Raises:
        Misused: if the oracle returned something that cannot be used.
    """
    if question.oracle is None:
        return _called(model, question.given)
    right = question.oracle(model)
    if question.given == "step" and not isinstance(right, nn.Module):
        raise Misused(
            f"Your oracle returned an object of type {type(right).__name__}. With --given step it "
            "must return a module, from which the hunt makes a training step."
        )
    return _called(right, question.given)


def _called(model: Any, given: Given) -> Callable[..., Any]:
    """The callable that is compared: the model, or a training step of it."""
    called: Callable[..., Any] = training_step(model) if given == "step" else model
    return called


def attempt(subject: Subject, question: Question) -> Failure | None:
    """Test the pass on a model.

    Raises:
        Useless: if the oracle has no answer for this model.
        Misused: if the pass or the oracle cannot be used.
    """
    with quiet():
        want = subject.want
        if question.oracle is not None:
            want = _said_by(subject, question)
            if question.given in CAPTURED:  # these always begin in training mode
                want.rows[MODES, 0] = subject.want.rows[MODES, 0]
        try:
            with limited(question.seconds):
                changed = question.change(subject.own(), subject.inputs)
                got = behaviour(changed, subject.calls, question.aspects)
        except TooLong:
            return Failure(ENDLESS, "the pass does not end, or takes seconds")
        except Misused:
            raise
        except (Exception, SystemExit) as error:
            says = f"the pass raises `{type(error).__name__}: {first_line(error)}`"
            return Failure(RAISES, says, type(error).__name__, line_in_pass(error))
    found = unlike(got, want, question.aspects)
    if found is None:
        return None
    aspect, says = found
    return Failure(aspect, says, got.error.partition(":")[0].strip("`"))


def _said_by(subject: Subject, question: Question) -> Behaviour:
    try:
        right = expected_from(copy.deepcopy(subject.model), question)
    except Misused:
        raise
    except (Exception, SystemExit) as error:
        raise Useless(f"the oracle raises: {first_line(error)}") from None
    want = behaviour(right, by_position(subject.calls), question.aspects)
    if want.error:
        raise Useless(f"the result of the oracle raises: {want.error}")
    return want


def _given(model: nn.Module, inputs: tuple[tuple[Any, ...], ...], given: Given) -> Any:
    try:
        if given == "model":
            return model
        if given == "trace":
            return fx.symbolic_trace(model)
        if given in ("program", "exported"):
            from torch.export import export

            program = export(model, copy.deepcopy(inputs[0]))
            return program.module() if given == "program" else program
        if given == "step":
            return step_graph(model, inputs[0])
        from torch.fx.experimental.proxy_tensor import make_fx

        return make_fx(model)(*copy.deepcopy(inputs[0]))
    except Exception as error:
        raise Useless(f"the model cannot be captured: {first_line(error)}") from None


def _graph_of(given: Any) -> fx.GraphModule | None:
    if is_exported(given):
        given = given.module()
    return given if isinstance(given, fx.GraphModule) else None


def _demand_sound(given: fx.GraphModule, calls: list[Call], want: Behaviour, q: Question) -> None:
    """Check that the graph computes the same as the model before any pass changes it."""
    aspects = [aspect for aspect in EVERYTHING if aspect != MODES]
    own = copy.deepcopy(given)
    call = fx.Interpreter(own).run if q.sound_by == "interpreter" else own
    if q.sound_by == "interpreter":
        calls = [each for each in calls if not each.kwargs]
    found = unlike(behaviour(call, calls, aspects), want, aspects)
    if found:
        raise Useless(f"the graph computes something else: {found[1]}")


def first_line(error: BaseException) -> str:
    """The first line of an exception's message."""
    return next(iter(str(error).strip().splitlines()), "")[:200]


_NOT_THE_PASS = tuple(
    f"{folder}{os.sep}"
    for folder in (
        Path(os.__file__).parent,
        Path(torch.__file__).parent,
        Path(__file__).parents[1],
    )
)


def line_in_pass(error: BaseException) -> str:
    """The last line of the pass's own file in a traceback, as a sentence; ``""`` if there is none.

    The first file that belongs neither to PyTorch nor to the course is that of the pass. Frames of
    a graph's code have no file.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _may_be_the_pass(frame.filename)]
    if not own:
        return ""
    last = [frame for frame in own if frame.filename == own[0].filename][-1]
    return f"It came from line {last.lineno} of {Path(last.filename).name}: `{last.line}`."


def _may_be_the_pass(file: str) -> bool:
    return Path(file).is_absolute() and not file.startswith(_NOT_THE_PASS)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hide the output of passes, FX's messages about graphs that raise, and all warnings."""
    nowhere = io.StringIO()
    with (
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
