"""Graph modules for `wellformed`: each fault in places that are easy to overlook."""

# Each function takes a fresh trace of `Block` and its nodes by name. Function names describe the
# fault.
# ruff: noqa: D103

from __future__ import annotations

import torch
from torch import fx, nn

from autograder.authoring.models import own_buffers, own_modules, own_parameters
from autograder.exercises.ch02b_lint.wellformed.models import erased

# ------------------------------------------------------------------ stale code


def node_added(gm, n):
    with gm.graph.inserting_before(n.output):
        gm.graph.call_function(torch.neg, (n.x,))


def only_a_space(gm, n):
    n.matmul.target = torch.einsum
    n.matmul.args = ("ij, jk -> ik", *n.matmul.args)
    gm.recompile()
    n.matmul.args = ("ij,jk->ik", *n.matmul.args[1:])


# ------------------------------------------------------------------ output


def no_output(gm, n):
    gm.graph.erase_node(n.output)


def node_behind_the_output(gm, n):
    gm.graph.call_function(torch.neg, (n.x,))


# ------------------------------------------------------------------ foreign and erased nodes


def erased_argument(gm, n):
    n.add.args = (erased(gm, n), n.offset)


def user_elsewhere(gm, n):
    other = fx.Graph()
    other.call_function(torch.exp, (n.add,))


def erased_namesake(gm, n):
    # The node that replaces the erased node has its name.
    ghost = gm.graph.call_function(torch.exp, (n.image,))
    gm.graph.erase_node(ghost)
    with gm.graph.inserting_before(n.matmul):
        successor = gm.graph.call_function(torch.cos, (n.image,))
    successor.name = ghost.name
    n.matmul.args = (ghost, successor)


# ------------------------------------------------------------------ raw tensors


def tensor_keyword(gm, n):
    n.clamp.kwargs = {"min": torch.tensor(0.5)}


def parameter_object(gm, n):
    n.mul.args = (n.layers_1_1, gm.gain)


def buffer_object(gm, n):
    # The module's own buffer, as if an author wrote it instead of a node.
    gm.register_buffer("shift", torch.ones(3))
    n.matmul.args = (n.tanh, gm.shift)


def tensor_as_default(gm, n):
    n.scale.args = (torch.tensor(2.0),)


# ------------------------------------------------------------------ used before it is defined


def reads_itself(gm, n):
    n.add.args = (n.add, n.offset)


def later_in_a_list(gm, n):
    n.cat.args = ([n.x, n.clamp],)


def later_keyword(gm, n):
    n.clamp.kwargs = {"min": n.mul_1}


def moved_behind_its_reader(gm, n):
    n.cat.append(n.offset)


def input_behind_its_reader(gm, n):
    n.mul_1.append(n.scale)


# ------------------------------------------------------------------ missing targets


def absent_module_unread(gm, n):
    with gm.graph.inserting_before(n.output):
        gm.graph.create_node("call_module", "nowhere", (n.x,))


# ------------------------------------------------------------------ dotted names


def only_a_dotted_buffer(gm, n):
    own_buffers(gm)["stem.gain"] = torch.ones(3, 3)
    n.stem_weight.target = "stem.gain"


def dotted_parameter(gm, n):
    own_parameters(gm)["layers.0.weight"] = nn.Parameter(torch.ones(3, 3))


def dotted_two_levels_down(gm, n):
    setattr(gm.layers.get_submodule("1"), "0.act", nn.ReLU())


def dotted_not_persistent(gm, n):
    gm.register_buffer("passing", torch.zeros(1), persistent=False)
    own_buffers(gm)["pass.ing"] = own_buffers(gm).pop("passing")
    gm.__dict__["_non_persistent_buffers_set"] = {"pass.ing"}


def dotted_in_a_graph_module(gm, n):
    gm.add_submodule("stem.traced", fx.symbolic_trace(nn.Sequential(nn.ReLU())))
    setattr(gm.stem.traced, "0.act", nn.Identity())


class Marked(torch.Tensor):
    """A subclass of `torch.Tensor`."""


def tensor_subclass(gm, n):
    n.cat.args = ([n.x, torch.ones(1, 3).as_subclass(Marked)], *n.cat.args[1:])


def nothing_left(gm, n):
    for node in reversed(list(gm.graph.nodes)):
        gm.graph.erase_node(node)


def dotted_no_module(gm, n):
    own_modules(gm.layers)["1.0"] = None


def output_read_elsewhere(gm, n):
    fx.Graph().call_function(torch.exp, (n.output,))
