"""The answer key of `WitnessSelfLoop`: right ways to insert a node, and one that makes a loop."""

from __future__ import annotations

import torch
from torch import fx

from autograder import suspects
from autograder.authoring.key import Fight, duel_key


def all_but_the_new_one(gm: fx.GraphModule) -> fx.GraphModule:
    """Insert a relu after each sum, and rewire all readers except the relu."""
    for node in list(gm.graph.find_nodes(op="call_function", target=torch.add)):
        with gm.graph.inserting_after(node):
            relu = gm.graph.call_function(torch.relu, (node,))
        node.replace_all_uses_with(relu, delete_user_cb=lambda user, relu=relu: user is not relu)
    return gm


def copied(gm: fx.GraphModule) -> fx.GraphModule:
    """Copy the graph; readers of a sum read the relu after it."""
    graph = fx.Graph()
    made: dict[fx.Node, fx.Node] = {}
    for node in gm.graph.nodes:
        made[node] = graph.node_copy(node, made.__getitem__)
        if node.op == "call_function" and node.target is torch.add:
            made[node] = graph.call_function(torch.relu, (made[node],))
    return fx.GraphModule(gm, graph)


KEY = duel_key(
    Fight(
        suspect=suspects.self_loop,
        name="self_loop",
        task="put a `torch.relu` after every call of the function `torch.add`",
        right=(all_but_the_new_one, copied),
        keeps_meaning=False,
        limit=2,
        record=1,
        try_this="Does the suspect insert anything into your trace? Print its targets.",
    ),
    nothing_outside="what to insert is clear for every call of `torch.add`",
)
