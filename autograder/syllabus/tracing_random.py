"""Chapter 01: the random models of `specialize`, with parameters to be fixed."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from random import Random
from typing import Any

import torch

from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.fuzz.recipe import Recipe
from autograder.judge.oracles import runs_of

SIGNATURES = (
    "flag, k=2.0, mode=None, flag_1=3.0",
    "flag_1, flag, mode='sin', k=2.0",
    "mode, flag_1, flag=True, k=0.5, mode_1=0.5",
    "flag, k=-1.0, flag_2=2.0, flag_1=1.5, mode='tanh', input=0.5",
)
# Control flow asks for their values while tracing, so they are always fixed.
DECIDING: dict[str, tuple[Any, ...]] = {
    "flag": (True, False, 2, 0),
    "mode": (None, "tanh", "it's", "sin"),
}
NUMBERS = (2.0, 3, math.inf, 0, True, 1, -0.5, 2)
NO_PARAMETER = ("flg", "a", "flag_3", "b")  # `a` and `b` are variables of `forward`


def _wrong_name(choice: int) -> str | None:
    """The name that a case wants refused, for some choices."""
    return NO_PARAMETER[choice // 8 % 4] if choice % 8 == 5 else None


def _expected(recipe: Recipe) -> dict[str, Any]:
    return {"raises": "TypeError"} if _wrong_name(recipe.choice) else {}


def with_constants(trial: Trial, choice: int) -> Trial:
    """Values for the parameters that are fixed, and inputs for the others."""
    random = Random(choice)
    constants, given, more = {}, [], []
    (x, *_), *_ = trial.inputs
    for parameter in list(inspect.signature(trial.model.forward).parameters.values())[1:]:
        name = parameter.name
        if name in DECIDING:
            constants[name] = random.choice(DECIDING[name]) if choice else DECIDING[name][0]
        elif choice % 4 and random.random() < 0.6:
            constants[name] = random.choice(NUMBERS)
        elif parameter.default is parameter.empty:
            given.append(0.25)
        else:
            more.append(-1.5 - len(more))
    wrong = _wrong_name(choice)
    if wrong:
        constants[wrong] = 1.0
    return replace(
        trial,
        kwargs=constants,
        inputs=((x, *given), (x, *given, *more)) if more else ((x, *given),),
    )


def _called(trial: Trial) -> Reference:
    """What the model gives when the values are passed in each call."""
    names = list(inspect.signature(trial.model.forward).parameters)
    free = [name for name in names if name not in trial.kwargs]

    def call(*args: Any) -> Any:
        return trial.model(**dict(zip(free, args, strict=False)), **trial.kwargs)

    return runs_of(call, trial)


SPECIALIZED = RandomModels(
    Vocabulary(
        ops(
            "torch.relu({a}) if flag else {a}",
            "{a} * k",
            "{a} if mode is None else {a} * len(mode)",
            "{a}.tanh() if mode == 'tanh' else torch.sin({a})",
            "{a} + flag_1",
            '{a} * 2 if mode == "it\'s" else {a}',
            "{a} * 2 ** flag",
            "sum((torch.sin({b}) for _ in range(flag)), {a})",
            "{a} - flag_1 * 2",
            "{a} * (2 if flag is True else 3)",
            "{a} * (2 if isinstance(k, int) else 3)",
            "{a} + (1 if isinstance(flag_1, int) else 2)",
            "{a}.clamp(max=k)",
            "{a} + 1 if flag is False and mode is None else {a} - 1",
            "{a} * (k + 1)",
        )
        + ops(
            'torch._assert({a}.dim() == {b}.dim(), "as many dimensions")',
            'torch._assert({a}.dim() < 5, "at most four dimensions")',
            "{x}.mul_({n})",
            outs=0,
        )
        + COMMON,
        dtypes=(torch.float64,),
        inputs=SIGNATURES,
        training=True,
        traced=False,
        parts=False,
        namesakes=("flag", "mode"),
    ),
    _called,
    with_constants,
    expecting=_expected,
)
