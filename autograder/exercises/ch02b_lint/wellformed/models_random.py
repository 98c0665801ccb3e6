"""Changes to the random models of `wellformed`, chosen by a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from torch import fx

from autograder.authoring.models import Trial
from autograder.exercises.ch02b_lint.wellformed import models_faults as faults
from autograder.exercises.ch02b_lint.wellformed import models_faults_elsewhere as elsewhere
from autograder.exercises.ch02b_lint.wellformed.models_faults import GM, Step

# Changes of the output follow those that need an output; stale code is last, without a recompile.
GROUPS: tuple[tuple[Step, ...], ...] = (
    (
        faults.foreign_argument,
        faults.erased_argument,
        faults.reader_elsewhere,
        faults.erased_reader,
    ),
    (
        faults.tensor_argument,
        faults.parameter_argument,
    ),
    (
        faults.reads_itself,
        faults.reads_a_later_one,
        faults.input_behind_its_reader,
        faults.tensor_behind_its_reader,
    ),
    (
        faults.absent_module,
        faults.absent_attribute,
        faults.absent_module_returned,
        faults.other_target,
    ),
    (
        faults.dotted_target,
        faults.dotted_key,
        faults.dotted_key_below,
        faults.dotted_key_deep,
    ),
    (
        elsewhere.two_outputs,
        elsewhere.no_output,
        elsewhere.node_behind_the_output,
        elsewhere.output_in_the_middle,
        elsewhere.output_first,
    ),
    (
        elsewhere.node_added,
        elsewhere.number_changed,
        elsewhere.other_method,
        elsewhere.other_result,
        elsewhere.tensor_as_default,
    ),
)

HARMLESS: tuple[Step, ...] = (
    elsewhere.two_names,
    elsewhere.filled_meta,
    elsewhere.plain_dotted_attribute,
    elsewhere.plain_things_read,
    elsewhere.edit_taken_back,
    elsewhere.node_erased,
    elsewhere.constants,
)


def chosen(choice: int) -> list[Step]:
    """The steps for a module: two harmless ones, and one from each of some groups."""
    if choice == 0:
        return []
    random = Random(choice)
    drawn = random.sample(GROUPS, 2 + choice % 3 if choice % 5 else 0)
    groups = [group for group in GROUPS if group in drawn]
    return [*random.sample(HARMLESS, 2), *map(random.choice, groups)]


def spoilt(gm: GM, choice: int) -> Iterator[Step]:
    """Apply the steps that a number chooses; yield each step before it is applied."""
    places = Random(choice + 64 * len(gm.graph.nodes))
    for step in chosen(choice):
        yield step
        step(gm, places)
        if step not in GROUPS[-1]:
            gm.recompile()


def with_faults(trial: Trial, choice: int) -> Trial:
    """The trace of the model; most get faults, some only changes that look like faults.

    The answer cannot read from its arguments which faults there are.
    """
    gm = fx.symbolic_trace(trial.model)
    for _ in spoilt(gm, choice):
        pass
    return replace(trial, args=(gm,), model=None, watch=(gm,))
