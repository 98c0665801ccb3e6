"""Chapter 06: the exercises about interpreters and transformers."""

from __future__ import annotations

from typing import Any

from autograder.core.exercise import Aspect, Case, Exercise
from autograder.models import T, additions, interpreter, measured
from autograder.models import networks as networks
from autograder.rubric.interpreter import (
    made_from_the_class,
    meta_kept,
    right_count,
)
from autograder.rules.edits import additions_replaced
from autograder.rules.passes import PASS, caller_untouched
from autograder.rules.values import returns
from autograder.syllabus import interpreter_hints as hints
from autograder.syllabus import interpreter_random as random
from autograder.syllabus.interpreter_cases import CHAPTER, IMAGE, Make, X, class_case, run_case
from autograder.syllabus.interpreter_nonfinite import FIRST_NONFINITE
from autograder.syllabus.interpreter_random import tag_all, tag_some
from autograder.syllabus.interpreter_random_flops import FLOPS
from autograder.syllabus.interpreter_runs import OP_TIMER, RECORD_SHAPES, SWAP

# ------------------------------------------------------------------ count_flops

COUNT_FLOPS = Exercise(
    name="count_flops",
    chapter=CHAPTER,
    title="Floating-point operations",
    stars=3,
    minutes=20,
    points=6,
    procedure="analysis",
    aspects=(
        Aspect("task", 2, "linear layers, a multiply-add counts as two"),
        Aspect("convolutions", 2, "convolutions with groups, stride and dilation"),
        Aspect("products", 2, "matrix products in every spelling, with batches and broadcasting"),
        Aspect("spellings", 1, "functions, keyword calls and subclasses"),
        Aspect("networks", 1, "whole networks"),
    ),
    cases=(
        run_case("one layer", "task", measured.OneLinear, T(2, 4)),
        run_case("more dimensions", "task", measured.OneLinear, T(2, 3, 4)),
        run_case("a single row", "task", measured.OneLinear, T(4)),
        run_case("what does not count", "task", measured.Cheap, T(5, 3)),
        run_case("nothing to count", "task", interpreter.NothingToSwap, X),
        run_case("one convolution", "convolutions", measured.OneConv, T(2, 3, 7, 8)),
        run_case("groups", "convolutions", measured.Grouped, T(2, 4, 5, 6)),
        run_case(
            "redraw: products", "products", measured.MatmulSpellings, T(4, 3), T(3, 3), hidden=True
        ),
        run_case(
            "every spelling of a product", "products", measured.MatmulSpellings, T(3, 3), T(3, 3)
        ),
        run_case("batches", "products", measured.Batches, T(2, 3, 4), T(2, 4, 5)),
        run_case("batches broadcast", "products", measured.Broadcast, T(2, 1, 3, 4), T(5, 4, 2)),
        run_case("a graph module", "products", measured.by_hand, T(2, 3), T(3, 2)),
        run_case("layers in every spelling", "spellings", measured.LinearSpellings, T(4, 3)),
        run_case("a subclass of nn.Linear", "spellings", measured.Owned, T(2, 4)),
        run_case("a subclass that PyTorch has", "spellings", measured.OfTorch, T(2, 4)),
        run_case("convolutions as functions", "spellings", measured.FunctionalConvs, T(2, 4, 7, 7)),
        run_case("an encoder", "networks", networks.Encoder, T(2, 5, 6)),
        run_case("ResNet-18", "networks", networks.resnet18, IMAGE, network=True),
        run_case("MobileNetV2", "networks", networks.mobilenet, T(2, 3, 16, 16), network=True),
        run_case("redraw: one layer", "task", measured.Owned, T(3, 2, 4), hidden=True),
        run_case("redraw: two layers", "spellings", measured.OfTorch, T(3, 2, 4), hidden=True),
        run_case(
            "redraw: a convolution", "convolutions", measured.OneConv, T(1, 3, 6, 5), hidden=True
        ),
        run_case("redraw: an encoder", "networks", networks.Encoder, T(1, 3, 6), hidden=True),
    ),
    rubric=(
        returns("int").because("names the kind that came back, before any number is compared"),
        caller_untouched,
        right_count,
    ),
    hints=hints.COUNT_FLOPS,
    random=FLOPS,
)

# ------------------------------------------------------------------ AddToMul


def add_case(
    name: str, aspect: str, make: Make, *inputs: tuple[Any, ...], hidden: bool = False
) -> Case:
    """A case of `AddToMul` in which every node has something in its meta."""
    return class_case(name, aspect, make, *inputs, tag=tag_all, hidden=hidden)


WIDE = T(4, 3)

ADD_TO_MUL = Exercise(
    name="AddToMul",
    chapter=CHAPTER,
    title="A Transformer that keeps `meta`",
    stars=2,
    minutes=15,
    points=4,
    procedure="transformer",
    aspects=(
        Aspect("task", 2, "`torch.add` and `+` become multiplications"),
        Aspect("method", 2, "so does the method `add`, also of a buffer"),
        Aspect("alpha", 2, "`alpha=1` goes, any other `alpha` keeps the addition"),
        Aspect("in place", 1, "additions in place, and what is no addition, stay"),
        Aspect("meta", 2, "each node keeps its own `meta`, whatever its opcode"),
    ),
    cases=(
        class_case("torch.add", "task", additions.OneAdd, (X, X), (X, T(3))),
        class_case("torch.add, by keyword", "task", additions.KeywordAdd, (X, X)),
        class_case("the operator", "task", additions.OperatorAdd, (X, X), (WIDE, T(3))),
        class_case("numbers", "task", additions.ReflectedAdd, (X,), (T(5),)),
        class_case("a parameter", "task", additions.ParameterAdd, (X,)),
        class_case("the method", "method", additions.MethodAdd, (X, X), (WIDE, T(3))),
        class_case("the method, by keyword", "method", additions.MethodKeywordAdd, (X, X)),
        class_case("a buffer", "method", additions.BufferAdd, (X,)),
        class_case("an alpha", "alpha", additions.AlphaFunction, (X, X)),
        class_case("an alpha in a method", "alpha", additions.AlphaMethod, (X, X)),
        class_case("an alpha of 1", "alpha", additions.AlphaOne, (X, X)),
        class_case("keywords and an alpha of 1", "alpha", additions.AlphaOneKeywords, (X, X)),
        class_case("an alpha of 0, and of -1", "alpha", additions.AlphaZero, (X, X)),
        class_case("in place", "in place", additions.InPlaceAdd, (X, X)),
        class_case("an operator in place", "in place", additions.InPlaceOperator, (X, X)),
        class_case("names with `add` in them", "in place", additions.Namesakes, (X, X)),
        add_case("marks on a few nodes", "meta", additions.OneAdd, (X, X)),
        add_case("marks on all kinds of nodes", "meta", additions.NestedAdds, (X,), (WIDE,)),
        add_case("marks on a buffer", "meta", additions.BufferAdd, (X,)),
        add_case("marks and defaults", "meta", additions.DefaultAdd, (X,), (X, 3.0)),
        add_case("marks on additions that stay", "meta", additions.AlphaMethod, (X, X)),
        add_case("marks on dead nodes", "meta", additions.DeadAdd, (X, X)),
        add_case("a dictionary is returned", "meta", additions.ReadInLists, (X, X)),
        add_case("an encoder", "meta", networks.Encoder, (T(1, 2, 6),)),
        class_case("marks on every second node", "meta", additions.OtherAdds, (X, X), tag=tag_some),
        class_case("redraw: sums of sums", "task", additions.SumOfSums, (T(5), T(5)), hidden=True),
        class_case("redraw: methods", "method", additions.MethodStays, (T(5), T(5)), hidden=True),
        add_case("redraw: marks", "meta", additions.LaterMul, (X, X), hidden=True),
    ),
    rubric=(
        made_from_the_class.because("names what came in place of a class"),
        *PASS,
        additions_replaced.because("names the spelling that was missed, before a result differs"),
        meta_kept,
    ),
    hints=hints.ADD_TO_MUL,
    random=random.ADD_TO_MUL,
)

EXERCISES: tuple[Exercise, ...] = (
    SWAP,
    RECORD_SHAPES,
    OP_TIMER,
    COUNT_FLOPS,
    FIRST_NONFINITE,
    ADD_TO_MUL,
)
