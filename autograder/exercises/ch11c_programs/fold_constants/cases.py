"""Exercise 11c.2: fold the constants of an exported program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from autograder.authoring.question import Aspect, Case, Exercise, T
from autograder.exercises.ch11c_programs.fold_constants import models
from autograder.exercises.ch11c_programs.models import Recipe

X = T(2, 3)

HINTS = (
    "**Where to look.** Go through the graph once, from the first node to the last. When you come "
    "to a call, you already know of each of its inputs whether its value is known. Which "
    "placeholders have a known value? The signature says what each is.",
    "**What to use.** `spec.kind` and `spec.target` lead from a placeholder to "
    "`ep.state_dict[target]` or `ep.constants[target]`; `graph_signature.buffers_to_mutate` names "
    "what changes. `fx.map_arg` puts values in place of nodes, also in lists. The tag "
    "`torch.Tag.nondeterministic_seeded` is on random operators. `graph.placeholder(name)` makes "
    "an input, at the place that `graph.inserting_before(node)` says.",
    "**A skeleton.**\n\n"
    "```python\n"
    "new = copy.deepcopy(ep)\n"
    "values = {}                          # node -> its value, for all that is constant\n"
    "for node in new.graph.nodes:\n"
    "    ...                              # a placeholder of state, or a call of known values\n"
    "for node, value in values.items():\n"
    "    if ...:                          # a call with a reader that is not in values\n"
    "        ...                          # placeholder, val, tensor, line; readers; output line\n"
    "for node in reversed(new.graph.nodes):\n"
    "    if node in values and not node.users:\n"
    "        ...                          # the node; for state, its line and its tensor too\n"
    "new.graph_module.recompile()\n"
    "return new\n"
    "```",
)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *more: tuple[Any, ...],
    args: tuple[Any, ...] = (X,),
    saved: bool = False,
    **how: Any,
) -> Case:
    """A case with the program of one model."""
    return Case(name, aspect, models.Folded(Recipe(make, args, **how), more, saved))


EXERCISE = Exercise(
    number=2,
    title="Constants are computed once",
    stars=3,
    minutes=40,
    points=8,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 3, "each call that depends on state alone is computed once"),
        Aspect("state", 2, "each kind of state is known, and what nobody reads leaves"),
        Aspect("stays", 2, "what changes, is random or branches stays"),
        Aspect("outputs", 1, "outputs keep their kind and their place"),
        Aspect("more", 1, "names that are taken, sizes that change, saving and loading"),
    ),
    cases=(
        case("a scaled weight", "task", models.ScaledWeight),
        case("a norm, written out", "task", models.Norm),
        case("read as it is, and folded", "task", models.ReadTwice),
        case("parts of a weight", "task", models.Parts),
        case("positions", "state", models.Positions),
        case("a buffer that is not saved, and a constant", "state", models.Constants,
             decomposed=True),
        case("a cast weight", "state", models.Half),
        case("nothing to fold", "state", models.AsItIs),
        case("a weight with two names", "state", models.Tied),
        case("state and an input that change", "stays", models.Mutated, args=(T(3), X),
             decomposed=True),
        case("training", "stays", models.Training, training=True, decomposed=True),
        case("noise", "stays", models.Noise),
        case("a branch", "stays", models.Branch),
        case("constant outputs", "outputs", models.ConstantOutputs),
        case("all is constant", "outputs", models.AllConstant),
        case("names that are taken", "more", models.Names),
        case("batches", "more", models.Batches, (T(5, 3),), batches=True, decomposed=True,
             saved=True),
    ),
    fine_print={
        "`torch.cond` stays as it is.": ("a branch",),
        "Assertions about state alone go.": ("a cast weight",),
        "The names are the first that no tensor and no submodule has.": ("names that are taken",),
    },
    hints=HINTS,
    not_random="a random model has hardly a call that depends on state alone; the hidden cases "
    "have other shapes and other kinds of state",
)  # fmt: skip
