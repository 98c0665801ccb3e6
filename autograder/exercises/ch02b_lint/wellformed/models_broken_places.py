"""Graph modules for `wellformed`: each fault in places that are easy to overlook."""

# Each function takes a fresh trace of `Block` and its nodes by name. Function names describe the
# fault.
# ruff: noqa: D103

from __future__ import annotations

import copy

import torch
from torch import fx, nn

from autograder.authoring.models import own_buffers, own_modules, own_parameters
from autograder.exercises.ch02b_lint.wellformed.models import erased, of_another_graph

# ------------------------------------------------------------------ stale code


def another_number(gm, n):
    n.cat.kwargs = {"dim": -1}


def another_default(gm, n):
    n.scale.args = (3.0,)


def node_added(gm, n):
    with gm.graph.inserting_before(n.output):
        gm.graph.call_function(torch.neg, (n.x,))


def int_to_float(gm, n):
    n.mul_1.args = (n.clamp, 1)
    gm.recompile()
    n.mul_1.args = (n.clamp, 1.0)


def nodes_swapped(gm, n):
    n.gain.append(n.layers_0)
    n.layers_0.append(n.layers_1_0)
    n.layers_1_0.append(n.layers_1_1)


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


def first_output_in_the_middle(gm, n):
    with gm.graph.inserting_before(n.cat):
        gm.graph.output(n.add)


def last_node_no_output(gm, n):
    with gm.graph.inserting_before(n.output):
        gm.graph.output(n.x)
    gm.graph.call_method("neg", (n.x,))


# ------------------------------------------------------------------ foreign and erased nodes


def erased_argument(gm, n):
    n.add.args = (erased(gm, n), n.offset)


def foreign_in_a_list(gm, n):
    n.cat.args = ([n.x, of_another_graph()],)


def foreign_in_a_slice(gm, n):
    n.getitem.args = (n.cat, (slice(None), slice(None, of_another_graph("x"))))


def foreign_keyword(gm, n):
    n.clamp.kwargs = {"min": of_another_graph()}


def erased_in_the_result(gm, n):
    n.output.args = ({"a": n.mul_1, "b": [erased(gm, n)]},)


def copied_node(gm, n):
    n.mul_1.args = (copy.deepcopy(n.clamp), n.scale)


def user_elsewhere(gm, n):
    other = fx.Graph()
    other.call_function(torch.exp, (n.add,))


def input_read_elsewhere(gm, n):
    other = fx.Graph()
    other.call_function(torch.exp, ([other.placeholder("x"), {"k": n.x}],))


def erased_user(gm, n):
    erased(gm, n).args = (n.add,)


def erased_from_a_later_place(gm, n):
    # It was after its reader. Now that it is erased, it is foreign, but not used too early.
    with gm.graph.inserting_before(n.output):
        ghost = gm.graph.call_function(torch.exp, (n.x,))
    gm.graph.erase_node(ghost)
    n.add.args = (n.mul, ghost)


def erased_namesake(gm, n):
    # The node that replaces the erased node has its name.
    ghost = gm.graph.call_function(torch.exp, (n.image,))
    gm.graph.erase_node(ghost)
    with gm.graph.inserting_before(n.matmul):
        successor = gm.graph.call_function(torch.cos, (n.image,))
    successor.name = ghost.name
    n.matmul.args = (ghost, successor)


# ------------------------------------------------------------------ raw tensors


def tensor_in_a_list(gm, n):
    n.cat.args = ([n.x, torch.ones(2, 3)],)


def tensor_keyword(gm, n):
    n.clamp.kwargs = {"min": torch.tensor(0.5)}


def tensor_in_a_dictionary(gm, n):
    n.clamp.kwargs = {"min": 0.5, "table": {"a": (n.x, {"b": torch.ones(1)})}}


def tensor_in_a_slice(gm, n):
    n.getitem.args = (n.cat, (slice(None), slice(None, torch.tensor(4))))


def tensor_in_the_result(gm, n):
    n.output.args = ((n.mul_1, torch.zeros(1)),)


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


def later_in_a_slice(gm, n):
    n.getitem.args = (n.cat, (slice(None), slice(n.clamp, 4)))


def later_keyword(gm, n):
    n.clamp.kwargs = {"min": n.mul_1}


def moved_behind_its_reader(gm, n):
    n.cat.append(n.offset)


def input_behind_its_reader(gm, n):
    n.mul_1.append(n.scale)


# ------------------------------------------------------------------ missing targets


def absent_tensor(gm, n):
    n.gain.target = "gains"


def deleted_buffer(gm, n):
    del gm.offset


def absent_first_part(gm, n):
    n.layers_1_1.target = "layer.1.1"


def tensor_of_another_module(gm, n):
    n.gain.target = "layers.1.0.weight"


def deleted_submodule(gm, n):
    gm.delete_submodule("layers.1.1")


def absent_module_unread(gm, n):
    with gm.graph.inserting_before(n.output):
        gm.graph.create_node("call_module", "nowhere", (n.x,))


# ------------------------------------------------------------------ dotted names


def dotted_buffer(gm, n):
    own_buffers(gm)["running.mean"] = torch.zeros(1)


def only_a_dotted_buffer(gm, n):
    own_buffers(gm)["stem.gain"] = torch.ones(3, 3)
    n.stem_weight.target = "stem.gain"


def only_a_dotted_parameter(gm, n):
    own_parameters(gm)["stem.gain"] = nn.Parameter(torch.ones(3, 3))
    n.stem_weight.target = "stem.gain"


def dotted_parameter(gm, n):
    own_parameters(gm)["layers.0.weight"] = nn.Parameter(torch.ones(3, 3))


def dotted_two_levels_down(gm, n):
    setattr(gm.layers.get_submodule("1"), "0.act", nn.ReLU())


def dotted_buffer_of_a_layer(gm, n):
    own_buffers(gm.get_submodule("layers.1.1"))["a.b"] = torch.zeros(1)


def dotted_beside_a_proper_one(gm, n):
    setattr(gm, "layers.1", gm.layers.get_submodule("1"))


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


def dotted_nothing(gm, n):
    own_buffers(gm.layers)["1.0"] = None


def dotted_no_module(gm, n):
    own_modules(gm.layers)["1.0"] = None


def output_read_elsewhere(gm, n):
    fx.Graph().call_function(torch.exp, (n.output,))
