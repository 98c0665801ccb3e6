"""Answers to `fuse_linear_relu`."""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.given import LinearReLU
from tests.exercises import GRAPH, right, wrong

FUNCTIONS = (torch.relu, F.relu)


@dataclass
class Fuse:
    """A right fusion; each flag makes it wrong in one way."""

    functions: tuple[Any, ...] = FUNCTIONS
    methods: tuple[str, ...] = ("relu",)
    modules: tuple[Any, ...] = (nn.ReLU,)
    linears: tuple[Any, ...] = (nn.Linear,)
    make: Any = LinearReLU
    name: Any = None
    sole_reader: bool = True
    args_only: bool = False
    recompile: bool = True

    def is_relu(self, gm: fx.GraphModule, node: fx.Node) -> bool:
        if node.op == "call_module":
            return isinstance(gm.get_submodule(node.target), self.modules)
        if node.op == "call_method":
            return node.target in self.methods
        return node.op == "call_function" and node.target in self.functions

    def __call__(self, model: Any) -> fx.GraphModule:
        gm = fx.symbolic_trace(model)
        for node in list(gm.graph.nodes):
            if node.op != "call_module":
                continue
            linear = gm.get_submodule(node.target)
            if not isinstance(linear, self.linears):
                continue
            relus = [user for user in node.users if self.is_relu(gm, user)]
            if not relus or (self.sole_reader and len(node.users) != 1):
                continue
            name = self.name(node) if self.name else self.free_name(gm)
            gm.add_submodule(name, self.make(linear))
            self.rewire(gm, node, relus, name)
        if self.recompile:
            gm.recompile()
        return gm

    @staticmethod
    def free_name(gm: fx.GraphModule) -> str:
        return next(n for i in itertools.count() if not hasattr(gm, n := f"_linear_relu{i}"))

    def rewire(self, gm: fx.GraphModule, node: fx.Node, relus: list[fx.Node], name: str) -> None:
        with gm.graph.inserting_before(node):
            kwargs = {} if self.args_only else node.kwargs
            args = (node.args[0],) if self.args_only else node.args
            fused = gm.graph.call_module(name, args, kwargs)
        for relu in relus:
            relu.replace_all_uses_with(fused)
            gm.graph.erase_node(relu)
        if not node.users:
            gm.graph.erase_node(node)


@right("a loop over the linear layers")
def loop(model):
    return Fuse()(model)


@right("a loop over the ReLUs, unused modules deleted")
def from_the_relu(model):
    gm = fx.symbolic_trace(model)
    modules = dict(gm.named_modules(remove_duplicate=False))
    made = {}
    for relu in gm.graph.nodes:
        if not Fuse().is_relu(gm, relu) or not relu.all_input_nodes:
            continue
        (node,) = relu.all_input_nodes
        linear = modules.get(node.target) if node.op == "call_module" else None
        if type(linear) is not nn.Linear or list(node.users) != [relu]:
            continue
        if linear not in made:  # one module for all calls of a layer
            made[linear] = "fused_" + "_".join(["x"] * (len(made) + 1))
            gm.add_submodule(made[linear], LinearReLU(linear))
        # The ReLU's node becomes the fused call.
        with gm.graph.inserting_before(relu):
            fused = gm.graph.create_node("call_module", made[linear], node.args, node.kwargs)
        relu.replace_all_uses_with(fused)
        gm.graph.erase_node(relu)
        gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("a deep copy of the model is traced; modules in a list of their own")
def copied(model):
    gm = fx.symbolic_trace(copy.deepcopy(model))
    gm.add_module("_fused_layers", nn.ModuleList())
    for node in list(gm.graph.nodes):
        if node.op != "call_module" or not isinstance(gm.get_submodule(node.target), nn.Linear):
            continue
        users = list(node.users)
        if len(users) == 1 and Fuse().is_relu(gm, users[0]):
            gm._fused_layers.append(LinearReLU(gm.get_submodule(node.target)))
            target = f"_fused_layers.{len(gm._fused_layers) - 1}"
            with gm.graph.inserting_after(users[0]):
                new = gm.graph.call_module(target, node.args, dict(node.kwargs))
            users[0].replace_all_uses_with(new)
            gm.graph.erase_node(users[0])
            gm.graph.erase_node(node)
    gm.graph.lint()
    gm.recompile()
    return gm


def is_a_relu(gm, node):
    if node.op == "call_module":
        return isinstance(gm.get_submodule(node.target), nn.ReLU)
    if node.op == "call_method":
        return node.target == "relu"
    return node.op == "call_function" and node.target in (torch.relu, F.relu)


@right("the linear's node is retargeted", debrief=True)
def retargeted(model):
    gm = fx.symbolic_trace(model)
    count = 0
    for node in gm.graph.nodes:
        if node.op == "call_module" and isinstance(gm.get_submodule(node.target), nn.Linear):
            (user, *others) = node.users
            if not others and is_a_relu(gm, user):
                fused = LinearReLU(gm.get_submodule(node.target))
                node.target = f"fusions.number{count}"
                gm.add_submodule(node.target, fused)
                count += 1
                user.replace_all_uses_with(node)
                gm.graph.erase_node(user)
    gm.recompile()
    return gm


@right("a new graph, copied node by node")
def new_graph(model):
    gm = fx.symbolic_trace(model)
    root, graph, env = nn.Module(), fx.Graph(), {}
    root.original = gm  # keeps all that the new graph refers to
    for node in gm.graph.nodes:
        users = list(node.users)
        linear = gm.get_submodule(node.target) if node.op == "call_module" else None
        if isinstance(linear, nn.Linear) and len(users) == 1 and Fuse().is_relu(gm, users[0]):
            name = f"fused{len(root._modules)}"
            root.add_module(name, LinearReLU(linear))
            args = fx.map_arg(node.args, lambda old: env[old])
            kwargs = fx.map_arg(node.kwargs, lambda old: env[old])
            env[node] = env[users[0]] = graph.call_module(name, args, kwargs)
        elif node not in env:
            env[node] = graph.node_copy(node, lambda old: env[old])
            if node.op in ("call_module", "get_attr"):
                env[node].target = f"original.{node.target}"
    return fx.GraphModule(root, graph)


# ------------------------------------------------------------------ wrong


@wrong("the method is missed", "missed-place", clause="method")
def no_method(model):
    return Fuse(methods=())(model)


@wrong("torch.relu is missed", "missed-place", clause="torch")
def no_torch_relu(model):
    return Fuse(functions=(F.relu,))(model)


@wrong("F.relu is missed", "missed-place", clause="functional")
def no_functional(model):
    return Fuse(functions=(torch.relu,))(model)


@wrong("nn.ReLU is missed", "missed-place", clause="module")
def no_module(model):
    return Fuse(modules=())(model)


@wrong("ReLU6 counts as ReLU", "changed-too-much", clause="no-other")
def relu6_too(model):
    return Fuse(modules=(nn.ReLU, nn.ReLU6))(model)


@wrong("other readers do not matter", "changed-too-much", clause="sole-reader")
def other_readers(model):
    return Fuse(sole_reader=False)(model)


@wrong("anything with a weight counts as linear", "changed-too-much", clause="by-type")
def any_weight(model):
    return Fuse(linears=(nn.Linear, nn.Bilinear, nn.Conv1d))(model)


@wrong("a copy of the linear layer", "not-shared", clause="holds-that-linear")
def copied_layer(model):
    return Fuse(make=lambda linear: LinearReLU(copy.deepcopy(linear)))(model)


@wrong("numbered names without a look", "changed-too-much", clause="free-names")
def numbered_names(model):
    numbers = itertools.count()
    return Fuse(name=lambda node: f"linear_relu_{next(numbers)}")(model)


@wrong("only the names of modules are looked at", "crashed", clause="free-attributes")
def only_module_names(model):
    taken = {name for name, _ in fx.symbolic_trace(model).named_modules()}
    numbers = itertools.count()

    def name(node):
        return next(n for i in numbers if (n := f"linear_relu{i}") not in taken)

    return Fuse(name=name)(model)


@wrong("the input is taken from args[0]", "crashed", clause="common.keyword-calls")
def args_only(model):
    return Fuse(args_only=True)(model)


@wrong("a class of one's own", "unknown-target", clause="given-class")
def own_class(model):
    class MyLinearReLU(LinearReLU):
        pass

    return Fuse(make=MyLinearReLU)(model)


@wrong("recompile is missing", "stale-code", clause="common.recompiled")
def stale(model):
    return Fuse(recompile=False)(model)


@wrong("the caller's graph module is edited", "caller-changed", clause="common.caller-submodules")
def edits_the_caller(model):
    if isinstance(model, fx.GraphModule):
        model.add_module("linear_relu", nn.Identity())
    return Fuse()(model)


@wrong("only layers of the root", "missed-place", clause="any-depth")
def root_only(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        users = list(node.users)
        if node.op != "call_module" or "." in node.target or len(users) != 1:
            continue
        if isinstance(gm.get_submodule(node.target), nn.Linear) and Fuse().is_relu(gm, users[0]):
            name = Fuse.free_name(gm)
            gm.add_submodule(name, LinearReLU(gm.get_submodule(node.target)))
            Fuse().rewire(gm, node, users, name)
    gm.recompile()
    return gm


@wrong("each layer is handled once", "missed-place", clause="each-place")
def once_each(model):
    gm, done = fx.symbolic_trace(model), set()
    for node in list(gm.graph.nodes):
        users = list(node.users)
        if node.op != "call_module" or node.target in done or len(users) != 1:
            continue
        linear = gm.get_submodule(node.target)
        if isinstance(linear, nn.Linear) and Fuse().is_relu(gm, users[0]):
            done.add(node.target)
            name = Fuse.free_name(gm)
            gm.add_submodule(name, LinearReLU(linear))
            Fuse().rewire(gm, node, users, name)
    gm.recompile()
    return gm


@wrong("FX's dead code elimination at the end", "changed-too-much", clause="rest")
def with_dce(model):
    gm = Fuse()(model)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


DECIDES_NOTHING = [
    (GRAPH + r"modules\[\]", "a part that no node reads may be missing"),
    (
        GRAPH + r"modules\[\]\.origin",
        "parameters are asked for, and modules inside the target of `inline`",
    ),
    (
        r"value\.graph_module\.modules\[\]\.(params|buffers)\..*\.origin",
        "only what was inlined, or is fused, has to be the model's",
    ),
]
"""Places in an outcome that decide no points, with the reason."""


ASKS_FOR_ORIGINS = "parts of the result must be the very parts of what was given"
