"""Chapter 02: the exercises about the graph and its nodes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import fx, nn

from autograder.core.execution import seed_all
from autograder.core.exercise import Aspect, Case, Exercise, Trial
from autograder.models import T, broken_places, fresh, model_case, tensor_of
from autograder.models import nodes as zoo
from autograder.models.broken import BANK
from autograder.models.sound import SOUND
from autograder.rubric.by_hand import (
    a_buffer_called_shift,
    forward_x_scale,
    nine_nodes,
    the_module_given,
)
from autograder.rubric.nodes import inputs_of_each_node, right_codes, right_counts, right_names
from autograder.rules.passes import GRAPH_MODULE, caller_untouched, copies, runs, same_result
from autograder.rules.values import nothing_forbidden, returns
from autograder.syllabus import nodes_hints as hints
from autograder.syllabus.nodes_random import COUNTS, DEAD, INPUTS, NO_ELIMINATION, OWN_LIST
from autograder.syllabus.wellformed_random import FAULTY

assert broken_places  # importing it fills the bank
CHAPTER = "02_nodes"

# ------------------------------------------------------------------ count_ops

COUNT_OPS = Exercise(
    name="count_ops",
    chapter=CHAPTER,
    title="Count nodes by kind",
    stars=1,
    minutes=5,
    points=2,
    procedure="analysis",
    aspects=(
        Aspect("task", 2, "the nodes of each opcode are counted"),
        Aspect("keys", 1, "all six opcodes are keys, also those that do not occur"),
        Aspect("graphs", 1, "every node of the trace counts, in models of every kind"),
    ),
    cases=(
        model_case("all six opcodes", "task", zoo.AllSix),
        model_case("submodules only", "keys", zoo.OnlyModules),
        model_case("one input, returned", "keys", nn.Identity),
        model_case("called twice", "graphs", zoo.CalledTwice, training=True),
        model_case("submodules of submodules", "graphs", zoo.Nested),
        model_case("a graph module", "graphs", zoo.renamed),
        model_case("a graph module, traced anew", "graphs", zoo.called_as_one),
        model_case("nodes without readers", "graphs", zoo.DeadPlaceholder),
        model_case("redraw: a tensor that is lost", "task", zoo.Deep, hidden=True),
        model_case("redraw: no calls", "keys", zoo.Constants, hidden=True),
    ),
    rubric=(
        returns("dict").because("names the kind that came back, before anything is counted"),
        caller_untouched,
        right_counts,
    ),
    hints=hints.COUNT_OPS,
    random=COUNTS,
)

# ------------------------------------------------------------------ inputs_of


def graph_case(
    name: str, aspect: str, make: Callable[[], nn.Module], *, hidden: bool = False
) -> Case:
    """A case of `inputs_of`: it is called on every node of the traced model."""

    def trial(seed: int) -> Trial:
        model = fresh(make, seed)
        gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
        return Trial(args=(gm,), model=gm, forbidden=OWN_LIST)

    return Case(name, aspect, trial, hidden)


INPUTS_OF = Exercise(
    name="inputs_of",
    chapter=CHAPTER,
    title="What a node reads",
    stars=2,
    minutes=15,
    points=4,
    procedure="each node",
    aspects=(
        Aspect("task", 2, "the nodes in args are listed"),
        Aspect("nested", 1, "nodes in lists, tuples, dictionaries, slices and kwargs are found"),
        Aspect("once", 1, "each node stands there once, in order of first appearance"),
    ),
    cases=(
        graph_case("one call after the other", "task", zoo.AllSix),
        graph_case("nodes without inputs", "task", zoo.Constants),
        graph_case("keyword arguments", "nested", zoo.Keywords),
        graph_case("a list and a tuple", "nested", zoo.Listed),
        graph_case("slices", "nested", zoo.Sliced),
        graph_case("a dictionary as the result", "nested", zoo.Aggregate),
        graph_case("strings and other constants", "nested", zoo.Texts),
        graph_case("the same value twice", "once", zoo.SameTwice),
        graph_case("everything in everything", "once", zoo.by_hand_nested),
        graph_case("redraw: nested", "nested", zoo.ThroughContainers, hidden=True),
        graph_case("redraw: everything in everything", "once", zoo.by_hand_wide, hidden=True),
    ),
    rubric=(
        nothing_forbidden,
        returns("list").because("keeps what is no list of rows away from the next rule"),
        caller_untouched,
        inputs_of_each_node,
    ),
    hints=hints.INPUTS_OF,
    forbidden_words=("all_input_nodes", "_input_nodes"),
    random=INPUTS,
)

# ------------------------------------------------------------------ build_by_hand

NO_TRACING = ((fx.Tracer, "trace", "anywhere"),)


def linear_case(
    name: str,
    aspect: str,
    features: tuple[int, int],
    shift: T,
    *inputs: tuple[object, ...],
    bias: bool = True,
    training: bool = False,
    dtype: torch.dtype = torch.float64,
    hidden: bool = False,
) -> Case:
    """A case of `build_by_hand`: a linear layer, a shift, and inputs for the result."""

    def trial(seed: int) -> Trial:
        proj = fresh(lambda: nn.Linear(*features, bias=bias), seed, training=training, dtype=dtype)
        generator = torch.Generator().manual_seed(seed + 1)
        made = tensor_of(shift, generator, dtype)

        def value(spec: object) -> object:
            return tensor_of(spec, generator, dtype) if isinstance(spec, T) else spec

        return Trial(
            args=(proj, made),
            model=proj,
            inputs=tuple(tuple(value(spec) for spec in row) for row in inputs),
            watch=(made,),
            forbidden=NO_TRACING,
        )

    return Case(name, aspect, trial, hidden)


BUILD_BY_HAND = Exercise(
    name="build_by_hand",
    chapter=CHAPTER,
    title="A graph without a tracer",
    stars=2,
    minutes=15,
    points=4,
    procedure="transform",
    aspects=(
        Aspect("task", 3, "the module computes the formula, with the nine nodes"),
        Aspect("inputs", 1, "it does so for inputs and scales of every shape"),
    ),
    cases=(
        linear_case("rows of a matrix", "task", (3, 4), T(4), (T(2, 3),), (T(5, 3), 0.5)),
        linear_case("three dimensions", "inputs", (2, 3), T(3), (T(2, 4, 2),), (T(2), -1.5)),
        linear_case("a scale for each row", "inputs", (3, 2), T(5, 1), (T(5, 3), T(5, 1))),
        linear_case("no bias, one shift", "inputs", (2, 2), T(), (T(3, 2), 3), bias=False),
        linear_case(
            "float32, training mode", "inputs", (4, 3), T(1, 3), (T(2, 4), 0.1),
            training=True, dtype=torch.float32,
        ),
        linear_case("redraw", "task", (5, 2), T(2), (T(4, 5),), (T(3, 2, 5), T(2)), hidden=True),
    ),
    rubric=(
        nothing_forbidden,
        *GRAPH_MODULE,
        nine_nodes,
        the_module_given,
        a_buffer_called_shift,
        forward_x_scale,
        runs,
        same_result,
        copies,
    ),
    hints=hints.BUILD_BY_HAND,
    forbidden_words=("symbolic_trace", "trace"),
    not_random="it takes a linear layer and a tensor, no model",
)  # fmt: skip

# ------------------------------------------------------------------ dead_nodes


def dead_case(
    name: str, aspect: str, make: Callable[[], nn.Module], *, hidden: bool = False
) -> Case:
    """A case of `dead_nodes`."""
    return model_case(name, aspect, make, forbidden=NO_ELIMINATION, hidden=hidden)


DEAD_NODES = Exercise(
    name="dead_nodes",
    chapter=CHAPTER,
    title="Values that nobody needs",
    stars=2,
    minutes=10,
    points=4,
    procedure="analysis",
    aspects=(
        Aspect("task", 2, "whole chains of dead nodes are found, and nothing that is needed"),
        Aspect("ways", 1, "values are followed through containers, modules and tensors"),
        Aspect("names", 1, "names of a fresh trace, in graph order, and never a placeholder"),
    ),
    cases=(
        dead_case("a dead chain", "task", zoo.DeadChain),
        dead_case("nothing is dead", "task", zoo.AllAlive),
        dead_case("dead and useful nodes take turns", "task", zoo.TwoBranches),
        dead_case("a dead module and a dead parameter", "ways", zoo.DeadTensorAndModule),
        dead_case("useful through containers", "ways", zoo.ThroughContainers),
        dead_case("dead in spite of containers", "ways", zoo.DeadContainers),
        dead_case("an input is returned", "ways", zoo.ReturnsInput),
        dead_case("None is returned", "ways", zoo.ReturnsNothing),
        dead_case("a constant is returned", "ways", zoo.NoNodesAlive),
        dead_case("parameters that nothing reads", "names", zoo.DeadPlaceholder),
        dead_case("a graph module with its own names", "names", zoo.renamed),
        dead_case("redraw: dead nodes in submodules", "ways", zoo.Deep, hidden=True),
        dead_case("redraw: one node without readers", "names", zoo.Nested, hidden=True),
    ),
    rubric=(
        nothing_forbidden,
        returns("list").because("names the kind that came back, before any name is compared"),
        caller_untouched,
        right_names,
    ),
    hints=hints.DEAD_NODES,
    forbidden_words=("eliminate_dead_code",),
    random=DEAD,
)

# ------------------------------------------------------------------ wellformed


def checked_case(
    name: str, aspect: str, make: Callable[[], fx.GraphModule], *, hidden: bool = False
) -> Case:
    """A case of `wellformed`: one graph module, which must stay as it is."""

    def trial(seed: int) -> Trial:
        with torch.random.fork_rng(devices=[]):
            seed_all(seed)
            gm = make()
        return Trial(args=(gm,), watch=(gm,))

    return Case(name, aspect, trial, hidden)


def bank_cases(aspect: str) -> tuple[Case, ...]:
    """The broken modules of the bank that count for an aspect."""
    own = (item for item in BANK if item.aspect == aspect)
    return tuple(checked_case(i.name, aspect, i.make, hidden=i.hidden) for i in own)


WELLFORMED = Exercise(
    name="wellformed",
    chapter=CHAPTER,
    title="Everything that can be wrong",
    stars=3,
    minutes=30,
    points=6,
    procedure="analysis",
    aspects=(
        Aspect("task", 2, "each fault is found where it is plain to see"),
        Aspect("places", 2, "each fault is found in every place where it can be"),
        Aspect("several", 1, "several faults at once are told apart"),
        Aspect("sound", 1, "sound modules that look suspicious get an empty list"),
    ),
    cases=(
        *bank_cases("task"),
        *(checked_case(name, "sound", make) for name, make in SOUND.items()),
        *bank_cases("places"),
        *bank_cases("several"),
    ),
    rubric=(
        returns("list").because("names the kind that came back, before any code is compared"),
        caller_untouched,
        right_codes,
    ),
    hints=hints.WELLFORMED,
    random=FAULTY,
)

EXERCISES: tuple[Exercise, ...] = (COUNT_OPS, INPUTS_OF, BUILD_BY_HAND, DEAD_NODES, WELLFORMED)
