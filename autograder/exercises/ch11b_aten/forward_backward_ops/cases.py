"""Exercise 11b.2: the operators of the forward and the backward graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from autograder.authoring.question import Aspect, Case, Exercise, T
from autograder.exercises.ch11b_aten.forward_backward_ops import models

X = T(2, 3)

HINTS = (
    "**Where to look.** Section 11b.2 shows a backend made of two compilers. When is the second "
    "one called? Which object may you run, so that the caller's model stays as it is?",
    "**What to use.** `aot_autograd(fw_compiler=…, bw_compiler=…)` from "
    "`torch._dynamo.backends.common` is a backend. A compiler gets a graph module, and returns "
    "`make_boxed_func(gm.forward)`. `result.requires_grad` says whether there is a backward. "
    "`copy.deepcopy` of the model and of the arguments leaves the caller's alone.",
    "**A skeleton.**\n\n"
    "```python\n"
    "forward, backward = Counter(), Counter()\n\n"
    "def compiler(counts):                 # makes one of the two\n"
    "    def compile(gm, example_inputs):\n"
    "        ...                           # count the overloads\n"
    "        return make_boxed_func(gm.forward)\n"
    "    return compile\n\n"
    "result = torch.compile(..., backend=...)(...)\n"
    "if ...:                               # something needs a gradient\n"
    "    ...\n"
    "return forward, backward\n"
    "```",
)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *args: T,
    prepare: Callable[[nn.Module], Any] | None = None,
) -> Case:
    """A case with one model and its arguments."""
    return Case(name, aspect, models.Differentiated(make, args, prepare))


EXERCISE = Exercise(
    number=2,
    title="Forward and backward, counted",
    stars=3,
    minutes=20,
    points=5,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 2, "how often each ATen overload is in the two graphs"),
        Aspect("needed", 1, "what needs no gradient; nothing that does"),
        Aspect("left", 2, "gradients, buffers, modes and arguments are as before"),
    ),
    cases=(
        case("two layers", "task", models.TwoLayers, X),
        case("a constant", "task", models.WithConstant, X),
        case("a frozen layer", "needed", models.TwoLayers, X, prepare=models.half_frozen),
        case("nothing needs a gradient", "needed", models.TwoLayers, X, prepare=models.frozen),
        case("a layer that nothing needs", "needed", models.NoneUsed, X),
        case("gradients from before", "left", models.TwoLayers, X, prepare=models.with_gradients),
        case("buffers that change", "left", models.Norms, X),
        case("a part in eval mode", "left", models.Norms, X, prepare=models.frozen_norm),
        case("an argument that changes", "left", models.ChangesItsInput, X, X),
    ),
    fine_print={
        "Parameters that need no gradient get none; the arguments need none.": ("a frozen layer",),
        "The model runs in the mode that it is in.": ("a part in eval mode",),
    },
    hints=HINTS,
    not_random="twenty models would have to be compiled twice, which takes much longer than all "
    "cases; AOTAutograd, and not the answer, copes with what they are made of",
)
