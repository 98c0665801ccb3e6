"""Chapter 06: the exercises about values, shapes and time."""

from __future__ import annotations

from typing import Any

import torch

from autograder.core.exercise import Aspect, Exercise
from autograder.models import T, interpreter, measured
from autograder.models import networks as networks
from autograder.rubric.interpreter import (
    a_shape_for_each_node,
    made_from_the_class,
    runs_as_asked,
)
from autograder.rubric.timing import (
    dictionaries_and_lists,
    each_timer_its_own,
    every_call_counted,
    slowest_first,
    times_are_possible,
)
from autograder.rules.passes import caller_untouched
from autograder.rules.values import returns
from autograder.syllabus import interpreter_hints as hints
from autograder.syllabus import interpreter_random as random
from autograder.syllabus.interpreter_cases import CHAPTER, IMAGE, X, class_case, run_case

# ------------------------------------------------------------------ NegSigmSwap

SWAP = Exercise(
    name="NegSigmSwap",
    chapter=CHAPTER,
    title="Two operations exchanged",
    stars=1,
    minutes=5,
    points=2,
    procedure="interpreter",
    aspects=(
        Aspect("task", 2, "`neg` and `sigmoid` are exchanged, as functions and as methods"),
        Aspect("others", 2, "every other operation runs as it is"),
    ),
    cases=(
        class_case("one of each", "task", interpreter.SigmoidThenNeg, (X,), (T(4),)),
        class_case("the other two", "task", interpreter.NegThenSigmoid, (X,), (T(),)),
        class_case("keyword arguments", "task", interpreter.AsKeywords, (X,), (T(3, 2),)),
        class_case("among others", "others", interpreter.AmongOthers, (X, X), (X, T(3))),
        class_case("modules and a parameter", "others", interpreter.WithModules, (X,)),
        class_case("gates", "others", interpreter.Gate, (X,), (T(4, 3), 0.25)),
        class_case("nothing to exchange", "others", interpreter.NothingToSwap, (X,)),
        class_case("an encoder layer", "others", networks.EncoderLayer, (T(1, 3, 8),)),
        class_case("redraw: one of each", "task", interpreter.NegThenSigmoid, (T(5),), hidden=True),
        class_case("redraw: gates", "others", interpreter.Gate, (T(1, 3), -1.0), hidden=True),
    ),
    rubric=(made_from_the_class, caller_untouched, runs_as_asked),
    hints=hints.SWAP,
    random=random.SWAP,
)

# ------------------------------------------------------------------ record_shapes

PAIR = (T(2, 3), T(2, 3))
EMPTY_MASK = (torch.tensor([3, 0, 1]), torch.tensor([False, False, False]))

RECORD_SHAPES = Exercise(
    name="record_shapes",
    chapter=CHAPTER,
    title="The shape of every value",
    stars=2,
    minutes=15,
    points=4,
    procedure="analysis",
    aspects=(
        Aspect("task", 2, "every node has an entry: a tuple for a tensor"),
        Aspect("nested", 2, "lists, tuples and dictionaries keep their nesting"),
        Aspect("others", 1, "`None` for what is no tensor, `()` for a tensor without dimensions"),
        Aspect("inputs", 1, "defaults, `*args` and nested inputs work"),
        Aspect("networks", 1, "models of every kind, real networks too"),
    ),
    cases=(
        run_case("a layer and a method", "task", interpreter.LinearClamp, T(4)),
        run_case("the same, more dimensions", "task", interpreter.LinearClamp, T(2, 3, 4)),
        run_case("the result is not the last value", "task", interpreter.ReturnsEarlier, X),
        run_case("tuples of tensors", "nested", interpreter.Parts, T(4, 3)),
        run_case("dictionaries and lists", "nested", interpreter.Containers, *PAIR),
        run_case("a recurrent layer", "nested", interpreter.Recurrent, T(2, 5, 3)),
        run_case("nothing in a tuple", "nested", interpreter.NoItems, X, ()),
        run_case("numbers, and nothing", "others", interpreter.Numbers, X),
        run_case(
            "integers, booleans, nothing left",
            "others",
            interpreter.OtherDtypes,
            values=lambda: EMPTY_MASK,
        ),
        run_case("defaults not given", "inputs", interpreter.Defaults, X),
        run_case("defaults given", "inputs", interpreter.Defaults, X, T(3), T(5, 1)),
        run_case("a default without items", "inputs", interpreter.NoItems, X),
        run_case("any number of arguments", "inputs", interpreter.Star, X, T(3), T(4, 5)),
        run_case(
            "a list and a dictionary",
            "inputs",
            interpreter.ListOfTensors,
            [T(2, 3), T(1, 3)],
            {"scale": 2.0},
        ),
        run_case(
            "parameters, and a block called twice", "networks", interpreter.Shared, T(2, 3, 4)
        ),
        run_case("a graph module", "networks", interpreter.renamed, T(3, 2)),
        run_case("an encoder", "networks", networks.Encoder, T(1, 4, 6)),
        run_case("an encoder layer of PyTorch", "networks", networks.EncoderLayer, T(2, 3, 8)),
        run_case("ResNet-18", "networks", networks.resnet18, IMAGE, network=True),
        run_case("redraw: an empty list", "nested", interpreter.EmptyList, X, hidden=True),
        run_case("redraw: tuples", "nested", interpreter.Parts, T(3, 5), hidden=True),
        run_case(
            "redraw: arguments", "inputs", interpreter.Star, T(1), T(4), T(2, 3, 4), hidden=True
        ),
        run_case(
            "redraw: MobileNetV2", "networks", networks.mobilenet, IMAGE, network=True, hidden=True
        ),
    ),
    rubric=(
        returns("dict").because("names the kind that came back, before any shape is compared"),
        caller_untouched,
        a_shape_for_each_node,
    ),
    hints=hints.RECORD_SHAPES,
    random=random.SHAPES,
)

# ------------------------------------------------------------------ OpTimer


def _refused_once() -> tuple[tuple[Any, ...], ...]:
    good = torch.tensor([1.0, 2.0], dtype=torch.float64)
    return (good,), (-good,), (good * 2,), (-good,), (good,)


OP_TIMER = Exercise(
    name="OpTimer",
    chapter=CHAPTER,
    title="Time spent in each node",
    stars=2,
    minutes=15,
    points=4,
    procedure="timer",
    aspects=(
        Aspect("task", 2, "each call is counted and its time added up, by the node's name"),
        Aspect("kinds", 2, "functions, methods and modules, in every model; the result is kept"),
        Aspect("slowest", 1, "`slowest(n)` gives the names by time spent, longest first"),
        Aspect(
            "errors", 1, "an operation that raises is not counted, and its error passes through"
        ),
        Aspect("own", 1, "each timer has times of its own"),
    ),
    cases=(
        class_case(
            "a slow function", "task", measured.OneSlow, (X,), (T(4),), (T(1),), slow={"slow": 1}
        ),
        class_case("calls of every kind", "kinds", measured.EveryKind, (X,), (T(4, 3), 0.5)),
        class_case("misleading names", "kinds", measured.StarNames, (X, X, X), (X, T(3), X)),
        class_case("calls without a value", "kinds", measured.Checked, (X,), (T(4),)),
        class_case("an encoder", "kinds", networks.Encoder, (T(1, 3, 6),)),
        class_case("MobileNetV2", "kinds", networks.mobilenet, (T(1, 3, 8, 8),), network=True),
        class_case(
            "two slow functions",
            "slowest",
            measured.TwoSlow,
            (X,),
            (X,),
            (X,),
            slow={"slow": 1, "slow_1": 3, "slow_2": 1},
            ranked=True,
        ),
        class_case(
            "a function that raises",
            "errors",
            measured.MayRefuse,
            values=_refused_once,
        ),
        class_case(
            "a module that raises",
            "errors",
            measured.NeedsThree,
            (X,),
            (T(2, 4),),
            (T(5, 3),),
        ),
        class_case("two timers", "own", measured.EveryKind, (X,), (X,), **{"second timer": True}),
        class_case(
            "redraw: a slow function", "task", measured.OneSlow, (T(2, 2),), (X,), hidden=True
        ),
        class_case(
            "redraw: a module that raises",
            "errors",
            measured.NeedsThree,
            (T(1, 3),),
            (T(3, 3),),
            (T(2),),
            (T(3),),
            hidden=True,
        ),
    ),
    rubric=(
        made_from_the_class.because("names what came in place of a class"),
        caller_untouched,
        dictionaries_and_lists.because("keeps other kinds of data away from the next rules"),
        every_call_counted,
        each_timer_its_own,
        times_are_possible,
        runs_as_asked,
        slowest_first,
    ),
    hints=hints.OP_TIMER,
    random=random.TIMER,
)
