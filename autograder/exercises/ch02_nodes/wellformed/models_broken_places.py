"""Graph modules for `wellformed`: each fault in the places where it is easy to overlook."""

from __future__ import annotations

import copy

import torch
from torch import fx, nn

from autograder.core.torch_private import own_buffers, own_parameters
from autograder.models.broken import broken, erased, of_another_graph

# ------------------------------------------------------------------ stale code


@broken("only a number changed, no recompile", stale=True)
def _(gm, n):
    n.cat.kwargs = {"dim": -1}


@broken("only a default changed, no recompile", stale=True)
def _(gm, n):
    n.scale.args = (3.0,)


@broken("a node added, no recompile", stale=True)
def _(gm, n):
    with gm.graph.inserting_before(n.output):
        gm.graph.call_function(torch.neg, (n.x,))


@broken("an int became a float, no recompile", stale=True)
def _(gm, n):
    n.mul_1.args = (n.clamp, 1)
    gm.recompile()
    n.mul_1.args = (n.clamp, 1.0)


@broken("two nodes changed places, no recompile", stale=True)
def _(gm, n):
    n.gain.append(n.layers_0)
    n.layers_0.append(n.layers_1_0)
    n.layers_1_0.append(n.layers_1_1)


# ------------------------------------------------------------------ output


@broken("no output node")
def _(gm, n):
    gm.graph.erase_node(n.output)


@broken("a node behind the output")
def _(gm, n):
    gm.graph.call_function(torch.neg, (n.x,))


@broken("two outputs, the first in the middle")
def _(gm, n):
    with gm.graph.inserting_before(n.cat):
        gm.graph.output(n.add)


@broken("two outputs, the last node is none")
def _(gm, n):
    with gm.graph.inserting_before(n.output):
        gm.graph.output(n.x)
    gm.graph.call_method("neg", (n.x,))


# ------------------------------------------------------------------ foreign and erased nodes


@broken("an argument that was erased")
def _(gm, n):
    n.add.args = (erased(gm, n), n.offset)


@broken("a foreign node in a list")
def _(gm, n):
    n.cat.args = ([n.x, of_another_graph()],)


@broken("a foreign node in a slice")
def _(gm, n):
    n.getitem.args = (n.cat, (slice(None), slice(None, of_another_graph("x"))))


@broken("a foreign node as a keyword argument")
def _(gm, n):
    n.clamp.kwargs = {"min": of_another_graph()}


@broken("an erased node in a dictionary of the result")
def _(gm, n):
    n.output.args = ({"a": n.mul_1, "b": [erased(gm, n)]},)


@broken("a copy.deepcopy of a node")
def _(gm, n):
    n.mul_1.args = (copy.deepcopy(n.clamp), n.scale)


@broken("a user in another graph")
def _(gm, n):
    other = fx.Graph()
    other.call_function(torch.exp, (n.add,))


@broken("a user in another graph, of a parameter")
def _(gm, n):
    other = fx.Graph()
    other.call_function(torch.exp, ([other.placeholder("x"), {"k": n.x}],))


@broken("a user that was erased")
def _(gm, n):
    erased(gm, n).args = (n.add,)


@broken("an erased node that a later place would define")
def _(gm, n):
    # It once stood behind its reader: erased, it is foreign and not used too early.
    with gm.graph.inserting_before(n.output):
        ghost = gm.graph.call_function(torch.exp, (n.x,))
    gm.graph.erase_node(ghost)
    n.add.args = (n.mul, ghost)


# ------------------------------------------------------------------ raw tensors


@broken("a tensor in a list")
def _(gm, n):
    n.cat.args = ([n.x, torch.ones(2, 3)],)


@broken("a tensor as a keyword argument")
def _(gm, n):
    n.clamp.kwargs = {"min": torch.tensor(0.5)}


@broken("a tensor in a dictionary in a keyword argument")
def _(gm, n):
    n.clamp.kwargs = {"min": 0.5, "table": {"a": (n.x, {"b": torch.ones(1)})}}


@broken("a tensor in a slice")
def _(gm, n):
    n.getitem.args = (n.cat, (slice(None), slice(None, torch.tensor(4))))


@broken("a tensor in the result")
def _(gm, n):
    n.output.args = ((n.mul_1, torch.zeros(1)),)


@broken("a parameter object as an argument")
def _(gm, n):
    n.mul.args = (n.layers_1_1, nn.Parameter(torch.ones(3)))


@broken("a tensor as a default value, no recompile", stale=True)
def _(gm, n):
    n.scale.args = (torch.tensor(2.0),)


# ------------------------------------------------------------------ used before it is defined


@broken("a node that reads itself")
def _(gm, n):
    n.add.args = (n.add, n.offset)


@broken("a later node in a list")
def _(gm, n):
    n.cat.args = ([n.x, n.clamp],)


@broken("a later node in a slice")
def _(gm, n):
    n.getitem.args = (n.cat, (slice(None), slice(n.clamp, 4)))


@broken("a later node as a keyword argument")
def _(gm, n):
    n.clamp.kwargs = {"min": n.mul_1}


@broken("a node moved behind its reader")
def _(gm, n):
    n.cat.append(n.offset)


@broken("a parameter behind its reader")
def _(gm, n):
    n.mul_1.append(n.scale)


# ------------------------------------------------------------------ missing targets


@broken("a tensor that is not there")
def _(gm, n):
    n.gain.target = "gains"


@broken("a buffer that was deleted")
def _(gm, n):
    del gm.offset


@broken("a path whose first part is not there")
def _(gm, n):
    n.layers_1_1.target = "layer.1.1"


@broken("a tensor of a module that lacks it")
def _(gm, n):
    n.gain.target = "layers.1.0.weight"


@broken("a submodule that was deleted")
def _(gm, n):
    gm.delete_submodule("layers.1.1")


@broken("a missing module, called by a node that nobody reads")
def _(gm, n):
    with gm.graph.inserting_before(n.output):
        gm.graph.create_node("call_module", "nowhere", (n.x,))


# ------------------------------------------------------------------ dotted names


@broken("a buffer with a dot in its key")
def _(gm, n):
    own_buffers(gm)["running.mean"] = torch.zeros(1)


@broken("a parameter with a dot in its key")
def _(gm, n):
    own_parameters(gm)["layers.0.weight"] = nn.Parameter(torch.ones(3, 3))


@broken("a dotted key two levels down")
def _(gm, n):
    setattr(gm.layers.get_submodule("1"), "0.act", nn.ReLU())


@broken("a dotted buffer key in a linear layer")
def _(gm, n):
    own_buffers(gm.get_submodule("layers.1.1"))["a.b"] = torch.zeros(1)


@broken("a dotted key that holds a module registered properly as well")
def _(gm, n):
    setattr(gm, "layers.1", gm.layers.get_submodule("1"))


@broken("a dotted key that holds nothing")
def _(gm, n):
    own_buffers(gm.layers)["1.0"] = None
