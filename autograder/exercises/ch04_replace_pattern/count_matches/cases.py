"""Chapter 04: the exercises about patterns and their replacements."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import fx, nn

from autograder.core.exercise import Aspect, Case, Exercise, Trial
from autograder.models import T, hardswish, model_case
from autograder.models import replace_pattern as zoo
from autograder.rubric.repeating import nothing_matches, returns_module_and_count, right_count
from autograder.rubric.rewriting import hardswishes, places_rewritten
from autograder.rules.passes import (
    PASS,
    caller_untouched,
    copies,
    runs,
    same_result,
    signature_kept,
)
from autograder.rules.values import returns, right_value
from autograder.rules.wellformed import known_targets, wellformed
from autograder.syllabus import replace_pattern_hints as hints
from autograder.syllabus import replace_random as random
from autograder.syllabus.replace_fusions import FUSE_ADDCMUL, FUSE_LINEAR_RELU

CHAPTER = "04_replace_pattern"


def watched(case: Case) -> Case:
    """The case, with the modules among the further arguments watched for changes."""

    def trial(seed: int) -> Trial:
        made = case.make(seed)
        modules = tuple(arg for arg in made.args[1:] if isinstance(arg, nn.Module))
        return replace(made, watch=modules)

    return replace(case, make=trial)


# ------------------------------------------------------------------ count_matches


def count_case(name: str, aspect: str, make: Any, pattern: Any, *, hidden: bool = False) -> Case:
    """A case of `count_matches`: the places of one pattern in one model."""
    return watched(model_case(name, aspect, make, extra=(pattern,), hidden=hidden))


def traced(make: Any, *args: Any) -> Any:
    """A function that makes a graph module of a model."""
    return lambda: fx.symbolic_trace(make(*args))


def mobilenet() -> nn.Module:
    """A narrow MobileNetV2; ten of its blocks add their input to their result."""
    import torchvision

    return torchvision.models.MobileNetV2(num_classes=2, width_mult=0.05)


COUNT_MATCHES = Exercise(
    name="count_matches",
    chapter=CHAPTER,
    title="Count the places",
    stars=1,
    minutes=5,
    points=2,
    procedure="analysis",
    aspects=(
        Aspect("task", 2, "the places where a pattern matches are counted"),
        Aspect("rules", 2, "a place counts exactly if `replace_pattern` would rewrite it"),
        Aspect("caller", 1, "neither the model nor the pattern is changed"),
    ),
    cases=(
        count_case("one place", "task", zoo.OneWave, zoo.sin_plus),
        count_case("no place", "task", zoo.OneWave, zoo.relu_of_relu),
        count_case("several places", "task", zoo.ThreeWaves, zoo.sin_plus),
        count_case("a chain of two", "rules", partial(zoo.ReluChain, 2), zoo.relu_of_relu),
        count_case("places that overlap", "rules", zoo.ReluChain, zoo.relu_of_relu),
        count_case("back to back", "rules", partial(zoo.ReluChain, 5), zoo.relu_of_relu),
        count_case("the other order", "rules", zoo.OtherOrder, zoo.sin_plus),
        count_case("other spellings", "rules", zoo.OtherSpellings, zoo.sin_plus),
        count_case("other numbers", "rules", zoo.OtherNumbers, zoo.doubled),
        count_case("the same value twice", "rules", zoo.SameTwice, zoo.sum_of_two),
        count_case("an inner value is read elsewhere", "rules", zoo.Escapes, zoo.exp_of_neg),
        count_case("an inner value is returned", "rules", zoo.InnerReturned, zoo.exp_of_neg),
        count_case("the pattern returns two values", "rules", zoo.Escapes, zoo.exp_and_neg),
        count_case("numbers where the pattern has names", "rules", zoo.Numbers,
                   zoo.product_and_sum),
        count_case("lists where the pattern has a name", "rules", zoo.Joins, zoo.joined),
        count_case("a constant in the pattern", "rules", zoo.Constants, zoo.shifted),
        count_case("modules in the pattern", "rules", zoo.NamedAlike, zoo.ActThenNorm()),
        count_case("in submodules", "rules", zoo.Residual, zoo.sin_plus),
        count_case("a graph module", "caller", traced(zoo.ThreeWaves), zoo.sin_plus),
        count_case("model and pattern are graph modules", "caller", traced(zoo.NamedAlike),
                   fx.symbolic_trace(zoo.ActThenNorm())),
        count_case("the sums of MobileNetV2", "task", mobilenet, zoo.sum_of_two),
        count_case("redraw: a longer chain", "rules", partial(zoo.ReluChain, 8),
                   zoo.relu_of_relu, hidden=True),
        count_case("redraw: returned deep inside", "rules", zoo.InnerReturnedDeep,
                   zoo.relu_of_relu, hidden=True),
        count_case("redraw: one after the other", "task", zoo.Residual, zoo.sum_of_two,
                   hidden=True),
        count_case("redraw: in a graph module", "caller", traced(zoo.ReluChain, 4), zoo.one_relu,
                   hidden=True),
    ),
    rubric=(
        returns("int").because("names the kind that came back, before anything is compared"),
        caller_untouched,
        right_value,
    ),
    hints=hints.COUNT_MATCHES,
    random=random.MATCHES,
)  # fmt: skip

# ------------------------------------------------------------------ to_hardswish

X, XY = (T(2, 3),), (T(2, 3), T(2, 3))

TO_HARDSWISH = Exercise(
    name="to_hardswish",
    chapter=CHAPTER,
    title="One operation for four",
    stars=2,
    minutes=10,
    points=4,
    procedure="transform",
    aspects=(
        Aspect("task", 2, "`x * F.relu6(x + 3) / 6` becomes `F.hardswish(x)`"),
        Aspect("forms", 2, "the factors in either order, the numbers int or float"),
        Aspect("many", 1, "wherever it stands, and several times"),
        Aspect("stays", 3, "what is not that computation stays as it is"),
    ),
    cases=(
        model_case("one hard swish", "task", hardswish.Swish, X, (T(5),)),
        model_case("in float32", "task", hardswish.Swish, X, dtype=torch.float32, hidden=True),
        model_case("factors the other way round", "forms", hardswish.SwishTurned, X, (T(4),)),
        model_case("floats", "forms", hardswish.SwishFloats, X, (T(2, 1, 2),)),
        model_case("an int and a float", "forms", hardswish.SwishMixed, X),
        model_case("the other way round, with floats", "forms", hardswish.SwishTurnedFloats, X),
        model_case("in submodules", "many", hardswish.SwishOfLayer, X),
        model_case("many readers", "many", hardswish.SwishManyReaders, X),
        model_case("a graph module", "many", traced(hardswish.SwishMixed), X),
        model_case("other numbers", "stays", hardswish.WrongNumbers, X),
        model_case("numbers that are near", "stays", hardswish.NearNumbers, X),
        model_case("numbers from outside", "stays", hardswish.NumbersFromOutside, (T(2), 3, 6)),
        model_case("two different values", "stays", hardswish.TwoDifferent, XY),
        model_case("the sum is read elsewhere", "stays", hardswish.SumReadElsewhere, X),
        model_case("the gate is read elsewhere", "stays", hardswish.GateReadElsewhere, X),
        model_case("the product is read elsewhere", "stays", hardswish.ProductReadElsewhere, X),
        model_case("two swishes share a gate", "stays", hardswish.SharedGate, X),
        model_case("other operations", "stays", hardswish.OtherOperations, X),
        model_case("one of two", "stays", hardswish.OneOfTwo, XY, hidden=True),
        model_case("redraw: four of them", "task", hardswish.SwishOfLayer, (T(4, 3),),
                   dtype=torch.float32, hidden=True),
        model_case("redraw: floats in a graph module", "forms", traced(hardswish.SwishFloats),
                   (T(3),), hidden=True),
    ),
    rubric=(
        *PASS,
        places_rewritten(
            hardswishes,
            "a call of `F.hardswish`",
            "A pattern says exactly one thing: this order of the factors, and these numbers, an "
            "int or a float.",
        ),
    ),
    hints=hints.TO_HARDSWISH,
    random=random.HARDSWISH,
)  # fmt: skip

# ------------------------------------------------------------------ replace_until_done


def until_case(
    name: str,
    aspect: str,
    make: Any,
    pair: tuple[Any, Any],
    count: int | None,
    *inputs: tuple[Any, ...],
    limit: tuple[int, ...] = (),
    **more: Any,
) -> Case:
    """A case of `replace_until_done`; ``count=None``: the answer must raise."""
    expect = {"raises": "RuntimeError"} if count is None else {"count": count}
    inputs = () if count is None else inputs or ((T(3),),)
    return watched(
        model_case(name, aspect, make, *inputs, extra=(*pair, *limit), expect=expect, **more)
    )


COLLAPSE = (zoo.relu_of_relu, zoo.one_relu)
CANCEL = (zoo.neg_of_neg, zoo.itself)
PASS_BY = (zoo.relu_of_neg, zoo.neg_of_relu)
TURN = (zoo.sum_of_two, zoo.turned_sum)
EXPAND = (zoo.sum_then_product, zoo.product_then_sum)
THREE = (T(2, 3), T(2, 3), T(2, 3))

REPLACE_UNTIL_DONE = Exercise(
    name="replace_until_done",
    chapter=CHAPTER,
    title="Until nothing matches",
    stars=2,
    minutes=10,
    points=4,
    procedure="counted transform",
    aspects=(
        Aspect("task", 2, "the pattern is replaced until it matches nowhere"),
        Aspect("count", 2, "the replacements of all rounds are counted"),
        Aspect("limit", 2, "after `limit` rounds it ends: with the result, or a `RuntimeError`"),
    ),
    cases=(
        until_case("two rounds", "task", zoo.ReluChain, COLLAPSE, 2),
        until_case("a graph module", "task", traced(zoo.ReluChain, 4), COLLAPSE, 3, (T(2, 2),)),
        until_case("nothing to replace", "count", zoo.OneWave, COLLAPSE, 0, (T(2), T(2))),
        until_case("one round, two places", "count", zoo.NegChain, CANCEL, 2),
        until_case("two places, then one, in branches", "count", zoo.Branches, COLLAPSE, 7,
                   (T(2, 3),)),
        until_case("a replacement that makes new matches", "count", zoo.Factors, EXPAND, 3, THREE),
        until_case("another spelling", "count", zoo.PlusOne, (zoo.plus_one, zoo.one_plus), 2),
        until_case("twelve rounds", "limit", partial(zoo.Passing, 12), PASS_BY, 12),
        until_case("as many rounds as allowed", "limit", zoo.Passing, PASS_BY, 3, limit=(3,)),
        until_case("one round too few", "limit", zoo.Passing, PASS_BY, None, limit=(2,)),
        until_case("one round, none allowed", "limit", zoo.Passing, PASS_BY, None, limit=(0,)),
        until_case("no round needed, none allowed", "limit", zoo.Passing, CANCEL, 0, limit=(0,)),
        until_case("limit by keyword", "limit", zoo.Passing, PASS_BY, None, kwargs={"limit": 1}),
        until_case("without an end", "limit", zoo.OneWave, TURN, None, limit=(20,)),
        until_case("redraw: without an end, limit by default", "limit", zoo.OneWave, TURN, None,
                   hidden=True),
        until_case("redraw: five rounds", "limit", partial(zoo.Passing, 5), PASS_BY, 5,
                   limit=(5,), hidden=True),
        until_case("redraw: a longer chain", "task", partial(zoo.ReluChain, 7), COLLAPSE, 6,
                   hidden=True),
        until_case("redraw: an odd chain", "count", partial(zoo.NegChain, 7), CANCEL, 3,
                   hidden=True),
    ),
    rubric=(
        returns_module_and_count.because("names the kind that came back; later rules read it"),
        caller_untouched, wellformed, known_targets, signature_kept,
        runs, same_result, copies,
        nothing_matches.because("says what is wrong where the count or the result only show it"),
        right_count,
    ),
    hints=hints.REPLACE_UNTIL_DONE,
    random=random.UNTIL_DONE,
)  # fmt: skip

EXERCISES = (COUNT_MATCHES, TO_HARDSWISH, REPLACE_UNTIL_DONE, FUSE_ADDCMUL, FUSE_LINEAR_RELU)
