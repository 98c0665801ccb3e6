"""Graph modules for `wellformed` with one simple fault, or with several faults.

The rarer forms of each fault are in `models_broken_places`.
"""

# Each function takes a fresh trace of `Block` or `Tower`, and its nodes by name. Function names
# describe the fault.
# ruff: noqa: D103

from __future__ import annotations

import operator

import torch
from torch import nn

from autograder.authoring.models import own_buffers, own_modules
from autograder.exercises.ch02b_lint.wellformed.models import of_another_graph

# ------------------------------------------------------------------ each fault, alone and plain


def an_edit(gm, n):
    n.clamp.target = "clamp_"


def two_outputs(gm, n):
    gm.graph.output(n.add)


def foreign_argument(gm, n):
    n.mul.args = (of_another_graph(), n.gain)


def tensor_argument(gm, n):
    n.add.args = (n.mul, torch.ones(3))


def later_argument(gm, n):
    n.mul.args = (n.cat, n.gain)


def absent_module(gm, n):
    n.layers_0.target = "layers.7"


def dotted_setattr(gm, n):
    setattr(gm, "layers.0", nn.Linear(3, 3))


# ------------------------------------------------------------------ several at once


def only_a_dotted_key(gm, n):
    own_modules(gm)["act.fn"] = nn.ReLU()
    n.layers_1_0.target = "act.fn"


def output_in_the_middle(gm, n):
    n.cat.append(n.output)


def everything(gm, n):
    n.add.args = (n.getitem, torch.ones(3))
    n.cat.args = ([n.x, of_another_graph()],)
    n.gain.target = "nowhere.at.all"
    gm.graph.output(n.x)
    own_buffers(gm.layers)["a.b"] = torch.zeros(1)


# ------------------------------------------------------------------ the other model


def tensor_deep_in_the_result(gm, n):
    n.output.args = ([{"a": [n.heads_left, (slice(torch.ones(1)),)]}],)


def output_first(gm, n):
    n.stem.prepend(n.output)


def erased_reader(gm, n):
    with gm.graph.inserting_before(n.output):
        ghost = gm.graph.call_function(operator.neg, (n.tanh,))
    gm.graph.erase_node(ghost)
    ghost.kwargs = {"x": [n.image]}
