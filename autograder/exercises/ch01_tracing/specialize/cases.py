"""Chapter 01: the exercises about what a trace holds and what it cannot see."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from autograder.core.exercise import Aspect, Case, Exercise, Trial
from autograder.models import T, fresh, model_case, tensor_of
from autograder.models import tracing as zoo
from autograder.models.build import arguments
from autograder.rubric.tracing import (
    agrees_with_branch,
    depends_on_input,
    left_as_given,
    no_assertion_left,
    nothing_hidden,
    remaining_signature,
    right_judgement,
    traceable,
)
from autograder.rules.passes import (
    caller_untouched,
    copies,
    returns_graph_module,
    runs,
    same_result,
)
from autograder.rules.values import returns, right_value
from autograder.rules.wellformed import known_targets, wellformed
from autograder.syllabus import tracing_cases
from autograder.syllabus import tracing_hints as hints
from autograder.syllabus.nodes_random import TABLE
from autograder.syllabus.tracing_random import SPECIALIZED

CHAPTER = "01_tracing"

# ------------------------------------------------------------------ node_table

NODE_TABLE = Exercise(
    name="node_table",
    chapter=CHAPTER,
    title="A table of all nodes",
    stars=1,
    minutes=10,
    points=2,
    procedure="analysis",
    aspects=(
        Aspect("task", 2, "one row for each node, with its opcode and its name"),
        Aspect("inputs", 1, "distinct input nodes are counted, however deeply they are nested"),
        Aspect("users", 1, "readers are counted, each once, in a fresh trace in the model's mode"),
    ),
    cases=(
        model_case("two operations", "task", zoo.ReluPlusOne),
        model_case("methods and a default", "task", zoo.Methods),
        model_case("a nested module called twice", "task", zoo.SharedAct),
        model_case("parameters, buffers, builtins", "task", zoo.NestedTensors),
        model_case("a graph module with other names", "users", zoo.renamed),
        model_case("in training mode", "users", zoo.NoiseInTraining, training=True),
        model_case("x + x", "inputs", zoo.Doubled),
        model_case("a list of nodes", "inputs", zoo.NestedList),
        model_case("keyword arguments", "inputs", zoo.KeywordCalls),
        model_case("nodes in a slice", "inputs", zoo.SliceOfSize),
        model_case("a nested output", "inputs", zoo.NestedOutput),
        model_case("many readers", "users", zoo.ManyReaders),
        model_case("values without readers", "users", zoo.UnusedParts),
        model_case("redraw: star arguments", "task", zoo.StarArguments, hidden=True),
        model_case("redraw: names of builtins", "users", zoo.BuiltinNames, hidden=True),
    ),
    rubric=(
        returns("list").because("names the kind that came back, before rows are compared"),
        caller_untouched,
        right_value,
    ),
    hints=hints.NODE_TABLE,
    random=TABLE,
)

# ------------------------------------------------------------------ is_faithful

IS_FAITHFUL = Exercise(
    name="is_faithful",
    chapter=CHAPTER,
    title="Does the trace do what the model does?",
    stars=3,
    minutes=25,
    points=6,
    procedure="analysis",
    aspects=(
        Aspect("task", 1, "traces that differ are told from traces that do not"),
        Aspect("values", 1, "results of every kind are compared: type, structure, value"),
        Aspect("random", 1, "both run under the same seed, and the trace is not made under it"),
        Aspect("arguments", 1, "effects on arguments count; the caller's stay as they were"),
        Aspect("buffers", 1, "both start from the same buffers, which are put back at the end"),
        Aspect("errors", 1, "errors of tracing, of the model and of the trace are told apart"),
    ),
    cases=tracing_cases.CASES,
    rubric=(returns("bool"), left_as_given, right_judgement),
    hints=hints.IS_FAITHFUL,
    not_random="its cards say why a trace differs or agrees, which nobody knows of a drawn model",
)

# ------------------------------------------------------------------ sign_flip


def tensors_case(name: str, aspect: str, *values: Any, hidden: bool = False) -> Case:
    """A case of `sign_flip`: one run for each tensor, given as `T` or as a list with a dtype."""

    def trial(seed: int) -> Trial:
        generator = torch.Generator().manual_seed(seed + 1)
        made = [
            tensor_of(value, generator)
            if isinstance(value, T)
            else torch.tensor(value[0], dtype=value[1])
            for value in values
        ]
        return Trial(inputs=tuple((tensor,) for tensor in made))

    return Case(name, aspect, trial, hidden)


F64, F32, F16, BF16 = torch.float64, torch.float32, torch.float16, torch.bfloat16
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
INF, NAN = math.inf, math.nan

SIGN_FLIP = Exercise(
    name="sign_flip",
    chapter=CHAPTER,
    title="A branch that can be traced",
    stars=1,
    minutes=10,
    points=2,
    procedure="traced function",
    aspects=(
        Aspect("task", 1, "the sign is flipped unless the sum is above zero, anew for each input"),
        Aspect("sums", 1, "sums that are zero, NaN or infinite"),
        Aspect("shapes", 1, "tensors without dimensions and without entries"),
        Aspect("dtypes", 1, "every floating and integer dtype is kept, and summed without loss"),
    ),
    cases=(
        tensors_case("sums of both signs", "task", ([1.0, 2.0], F64), ([-1.0, -2.0], F64)),
        tensors_case(
            "entries of both signs", "task",
            ([[3.0, -1.0], [-0.5, 0.25]], F64), ([[-3.0, 1.0], [0.5, 0.0]], F64),
            ([3.0, -1.0], F32), ([-3.0, 1.0], F32), ([-1.0, -1.0, 3.0], F64),
        ),
        tensors_case("zero sums", "sums", ([2.0, -2.0], F64), ([0.0, 0.0], F32),
                     ([1, -1], INTEGERS[0])),
        tensors_case("NaN sums", "sums", ([NAN, 1.0], F64), ([2.0, NAN, -1.0], F32),
                     ([INF, -INF, 3.0], F64)),
        tensors_case("infinite sums", "sums", ([INF, -1.0], F64), ([-INF, 1.0, 2.0], F64)),
        tensors_case("no dimension", "shapes", (2.0, F64), (-2.0, F64), (0.0, F64), (NAN, F64)),
        tensors_case(
            "no dimension, other dtypes", "shapes",
            *((-3.0, dtype) for dtype in (F32, F16, BF16)),
            *((value, dtype) for dtype in INTEGERS for value in (3, 0)),
            *((-3, dtype) for dtype in INTEGERS[:4]),
        ),
        tensors_case("no entry", "shapes", T(0), T(2, 0), T(0, dtype=torch.int32)),
        tensors_case(
            "small floats", "dtypes",
            ([1.5, -0.5], F16), ([-1.5, 0.5], F16), ([1.5, -0.5], BF16), ([-1.5, 0.5], BF16),
        ),
        tensors_case(
            "integers", "dtypes",
            *(([3, 4], dtype) for dtype in INTEGERS), *(([-3, 2], dtype) for dtype in INTEGERS[:4]),
            ([0, 0], torch.uint8),
        ),
        tensors_case("sums above the dtype's range", "dtypes", ([100, 100], torch.int8),
                     ([200, 56], torch.uint8)),
        tensors_case(
            "sums that need every digit", "dtypes",
            ([1.0 + 1e-12, -1.0], F64), ([2**53 + 1, -(2**53)], torch.int64), ([1e-200, 0.0], F64),
        ),
        tensors_case("redraw: both signs", "task", ([[[5.0, -9.0]]], F64),
                     ([[[-5.0, 9.0]]], F64), hidden=True),
        tensors_case("redraw: no dimension", "shapes", (7, torch.int16), (-7, torch.int8),
                     hidden=True),
    ),
    rubric=(
        traceable.because("says what tracing raised; without a graph nothing else can be judged"),
        nothing_hidden,
        wellformed.because("every graph of the course is well formed, an answer's trace too"),
        depends_on_input.because("says more than a wrong value about a trace that is a constant"),
        agrees_with_branch,
    ),
    hints=hints.SIGN_FLIP,
    not_random="it takes a tensor, no model",
)  # fmt: skip

# ------------------------------------------------------------------ specialize


def fixed(
    name: str,
    aspect: str,
    function: Callable[..., Any],
    constants: dict[str, Any],
    *inputs: Sequence[Any],
    hidden: bool = False,
    **expect: Any,
) -> Case:
    """A case of `specialize`: a function or module, the values to fix, inputs for the result."""

    def trial(seed: int) -> Trial:
        makes_a_model = isinstance(function, type) or function is zoo.shifted
        subject = fresh(function, seed) if makes_a_model else function
        generator = torch.Generator().manual_seed(seed + 1)
        return Trial(
            args=(subject,),
            kwargs=dict(constants),
            model=subject if isinstance(subject, nn.Module) else None,
            inputs=tuple(arguments(specs, generator, F64) for specs in inputs),
        )

    return Case(name, aspect, trial, hidden, expect)


X = T(2, 3)
SPECIALIZE = Exercise(
    name="specialize",
    chapter=CHAPTER,
    title="Fix parameters for good",
    stars=3,
    minutes=25,
    points=6,
    procedure="transform",
    aspects=(
        Aspect("task", 1, "a fixed parameter decides its branches and is gone from `forward`"),
        Aspect("values", 1, "bool, int, float, None and str, exactly as they were given"),
        Aspect("signature", 1, "the other parameters keep names, order and defaults"),
        Aspect("names", 1, "names that resemble each other are told apart"),
        Aspect("assertions", 1, "the function's own assertions stay"),
        Aspect("errors", 1, "a name that is no parameter is a TypeError"),
    ),
    cases=(
        fixed("a flag, true", "task", zoo.relu_or_neg, {"flag": True}, (X,), (T(4),)),
        fixed("a flag, false", "task", zoo.relu_or_neg, {"flag": False}, (X,)),
        fixed("None", "task", zoo.weighted, {"weights": None}, (X,), (X, 0.5)),
        fixed("two at once", "task", zoo.mean_or_max, {"largest": True, "weights": None}, (X,)),
        fixed("a module", "task", zoo.Block, {"act": False}, (X,), (X, 3.0)),
        fixed("a value changed in place", "task", zoo.doubled, {"flag": True}, (X,), (T(4),)),
        fixed("a graph module", "signature", zoo.shifted, {"scale": 3}, (X,), (X, 0.5)),
        fixed("a string", "values", zoo.activate, {"kind": "tanh"}, (X,)),
        fixed("a longer string", "values", zoo.contract, {"equation": "ij,kj->ik"}, (X, T(4, 3))),
        fixed("a number of rounds", "values", zoo.repeat, {"n": 3}, (X,)),
        fixed("no round at all", "values", zoo.repeat, {"n": 0}, (X,)),
        fixed("an infinite limit", "values", zoo.capped, {"limit": INF}, (X,), (X, 0.0)),
        fixed("a float", "values", zoo.capped, {"limit": 0.5}, (X, 0.25)),
        *(
            fixed(f"{value!r} comes back", "values", zoo.with_value, {"value": value}, (X,))
            for value in (True, 1, 1.0, None, "It's", 0.1)
        ),
        fixed("nothing fixed", "signature", zoo.capped, {}, (X, 0.5), (X, 0.5, 0.1)),
        fixed("first, middle and last", "signature", zoo.many,
              {"flag": True, "mode": "twice", "shift": None, "n": 2}, (X,), (X, 2.0)),
        fixed("parameters nobody reads", "signature", zoo.unread, {"flag": False}, (X, 1.0)),
        fixed("names of builtins", "signature", zoo.builtin_names, {"flag": True}, (X,), (X, 3.0)),
        fixed("a default that agrees", "signature", zoo.Block, {"act": True, "scale": 1.0}, (X,)),
        fixed("another flag stays", "signature", zoo.kept, {"flag": False}, (X,), (X, True)),
        fixed("an infinite default", "signature", zoo.bounded, {"flag": True}, (X,), (X, 0.5)),
        fixed("flag beside flag_1", "names", zoo.flags, {"flag": True}, (X, 2.0)),
        fixed("flag_1 and flag", "names", zoo.flags, {"flag_1": 4.0, "flag": False}, (X,)),
        fixed("flags in a row", "names", zoo.flags_in_a_row, {"flag": True, "flag_1": 2}, (X, 5.0)),
        fixed("n beside n_steps", "names", zoo.steps, {"n": 2}, (X, 3.0), (X, 3.0, 1.0)),
        fixed("an assertion of its own", "assertions", zoo.matrix_only, {"flag": True}, (X,),
              asserts=1),
        fixed("an assertion that compares", "assertions", zoo.equal_sizes, {"flag": None}, (X, X),
              asserts=1),
        fixed("an assertion that names a flag", "assertions", zoo.told, {"flag": True}, (X,),
              asserts=1),
        fixed("a wrong name", "errors", zoo.weighted, {"weight": None}, raises="TypeError"),
        fixed("a wrong name among others", "errors", zoo.relu_or_neg, {"flag": True, "flg": 1},
              raises="TypeError"),
        fixed("a wrong name for a module", "errors", zoo.Block, {"active": True},
              raises="TypeError"),
        fixed("a local variable", "errors", zoo.with_local, {"hidden": None}, raises="TypeError"),
        fixed("`self`, of a module", "errors", zoo.ReluIfFlag, {"flag": True, "self": 1},
              raises="TypeError"),
        fixed("redraw: changed in place", "task", zoo.Smooth, {"rounds": 3}, (X,), (X, 2.0),
              hidden=True),
        fixed("redraw: a module", "task", zoo.ReluIfFlag, {"flag": True}, (T(3),), hidden=True),
        fixed("redraw: flag_1", "names", zoo.flags_in_a_row, {"flag": False, "flag_2": 1.0},
              (X, 2.0, 5.0), hidden=True),
        fixed("redraw: a wrong name", "errors", zoo.Block, {"inner": True}, hidden=True,
              raises="TypeError"),
    ),
    rubric=(
        returns_graph_module.because("names the kind that came back, before it is looked into"),
        caller_untouched,
        no_assertion_left,
        wellformed,
        known_targets,
        remaining_signature,
        runs.because("says what a call raised, before values are compared"),
        same_result,
        copies,
    ),
    hints=hints.SPECIALIZE,
    random=SPECIALIZED,
)  # fmt: skip

EXERCISES = (NODE_TABLE, IS_FAITHFUL, SIGN_FLIP, SPECIALIZE)
