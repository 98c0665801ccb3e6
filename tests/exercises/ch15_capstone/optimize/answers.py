"""Answers to `optimize`."""

from __future__ import annotations

import copy
import itertools
import operator
from dataclasses import dataclass

import torch
from torch import fx, nn
from torch.fx.experimental import optimization
from torch.nn import functional as F
from torch.nn.utils.fusion import fuse_conv_bn_eval

from tests.exercises import GRAPH, right, wrong

CONVS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
DROPOUTS = (
    nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout,
)  # fmt: skip
FUNCTIONS = (
    F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout,
)  # fmt: skip
IN_PLACE = tuple(
    getattr(operator, name)
    for name in (
        "iadd isub imul imatmul itruediv ifloordiv imod ipow iconcat iand ior ixor ilshift irshift "
        "setitem"
    ).split()
)


def module_of(gm, node):
    return gm.get_submodule(node.target) if node.op == "call_module" else None


def does_nothing(gm, node):
    kinds = (*DROPOUTS, nn.Identity)
    return isinstance(module_of(gm, node), kinds) or node.target in FUNCTIONS


def has_effect(gm, node):
    if node.op in ("placeholder", "output"):
        return True
    if node.kwargs.get("inplace") or node.kwargs.get("out") is not None:
        return True
    module = module_of(gm, node)
    if module is not None:
        trains = isinstance(module, NORMS) and module.training
        return bool(trains or getattr(module, "inplace", False))
    if node.target in (*IN_PLACE, torch._assert, print):
        return True
    name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
    if node.target in (operator.and_, operator.or_, operator.not_, operator.is_):
        return False
    return node.op != "get_attr" and (
        name == "__setitem__"
        or getattr(operator, name, None) in IN_PLACE
        or (name.endswith("_") and not name.endswith("__"))
    )


def is_norm(gm, node):
    module = module_of(gm, node)
    return type(module) in NORMS and not module.training and module.running_mean is not None


def folded(conv, bn):
    return fuse_conv_bn_eval(copy.deepcopy(conv).eval(), bn)


def free_name(gm):
    return next(n for i in itertools.count() if not hasattr(gm, n := f"_folded{i}"))


def skip(gm):
    """Let the readers of nodes that do nothing read their input."""
    found = [node for node in gm.graph.nodes if does_nothing(gm, node)]
    for node in found:
        node.replace_all_uses_with(node.all_input_nodes[0])
        gm.graph.erase_node(node)
    return bool(found)


def sweep(gm):
    """Remove dead nodes."""
    count = len(gm.graph.nodes)
    for node in reversed(list(gm.graph.nodes)):
        if not node.users and not has_effect(gm, node):
            gm.graph.erase_node(node)
    return len(gm.graph.nodes) < count


def fuse_first(gm):
    """Fuse one pair into a convolution."""
    for node in gm.graph.nodes:
        if not is_norm(gm, node):
            continue
        (source,) = node.all_input_nodes
        conv = module_of(gm, source)
        if type(conv) in CONVS and len(source.users) == 1:
            name = free_name(gm)
            gm.add_submodule(name, folded(conv, module_of(gm, node)))
            source.target = name
            node.replace_all_uses_with(source)
            gm.graph.erase_node(node)
            return True
    return False


def done(gm):
    gm.delete_all_unused_submodules()
    gm.graph.lint()
    gm.recompile()
    return gm


@right("a loop over three clean-ups, until none finds anything")
def until_nothing_changes(model):
    gm = fx.symbolic_trace(model)
    while any([skip(gm), sweep(gm), fuse_first(gm)]):
        pass
    return done(gm)


@right("in an order that needs no loop", debrief=True)
def in_order(model):
    gm = fx.symbolic_trace(model)
    skip(gm)
    sweep(gm)
    for node in list(gm.graph.nodes):  # from front to back: a second BatchNorm comes later
        if is_norm(gm, node):
            (source,) = node.all_input_nodes
            conv = module_of(gm, source)
            if type(conv) in CONVS and len(source.users) == 1:
                name = free_name(gm)
                gm.add_submodule(name, folded(conv, module_of(gm, node)))
                with gm.graph.inserting_before(source):
                    new = gm.graph.call_module(name, source.args, source.kwargs)
                node.replace_all_uses_with(new)
                gm.graph.erase_node(node)
                gm.graph.erase_node(source)
    return done(gm)


@right("each clean-up returns a new module, until the number of nodes stays")
def new_modules(model):
    def copied(gm, left_out):
        graph, env = fx.Graph(), {}
        for node in gm.graph.nodes:
            if node in left_out:
                if left_out[node] is not None:
                    env[node] = env[left_out[node]]
                continue
            env[node] = graph.node_copy(node, env.__getitem__)
        graph._codegen = gm.graph._codegen
        return fx.GraphModule(gm, graph)

    def lighter(gm):
        out = {n: n.all_input_nodes[0] for n in gm.graph.nodes if does_nothing(gm, n)}
        gm = copied(gm, out)
        alive = set()
        for node in reversed(gm.graph.nodes):
            if node in alive or has_effect(gm, node):
                alive.update((node, *node.all_input_nodes))
        gm = copied(gm, {node: None for node in gm.graph.nodes if node not in alive})
        fuse_first(gm)
        return copied(gm, {})

    gm = fx.symbolic_trace(model)
    before = -1
    while len(gm.graph.nodes) != before:
        before = len(gm.graph.nodes)
        gm = lighter(gm)
    gm.delete_all_unused_submodules()
    return gm


@right("recursion: the function calls itself until nothing is left to do")
def recursion(model):
    gm = fx.symbolic_trace(model)
    for node in reversed(list(gm.graph.nodes)):
        if does_nothing(gm, node):
            node.replace_all_uses_with(node.all_input_nodes[0])
            gm.graph.erase_node(node)
        elif not node.users and not has_effect(gm, node):
            gm.graph.erase_node(node)
    pairs = []
    for node in gm.graph.nodes:
        source = node.all_input_nodes[0] if is_norm(gm, node) else None
        if source and type(module_of(gm, source)) in CONVS and len(source.users) == 1:
            pairs.append((source, node))
    for source, node in pairs:
        name = free_name(gm)
        gm.add_module(name, folded(module_of(gm, source), module_of(gm, node)))
        source.target = name
        node.replace_all_uses_with(source)
        gm.graph.erase_node(node)
    gm = done(gm)
    return recursion(gm) if pairs else gm


@right("a Transformer over a plan; then the other clean-ups")
def transformer(model):
    class Skips(fx.Transformer):
        def call_module(self, target, args, kwargs):
            if isinstance(self.fetch_attr(target), (*DROPOUTS, nn.Identity)):
                return next(iter((*args, *kwargs.values())))
            return super().call_module(target, args, kwargs)

        def call_function(self, target, args, kwargs):
            if target in FUNCTIONS:
                return args[0] if args else kwargs["input"]
            return super().call_function(target, args, kwargs)

    gm = Skips(fx.symbolic_trace(model)).transform()
    sweep(gm)
    while fuse_first(gm):
        pass
    return done(gm)


# ------------------------------------------------------------------ wrong


@dataclass
class Clean:
    """A right clean-up; each argument makes it wrong in one way."""

    functions: tuple = FUNCTIONS
    modules: tuple = (*DROPOUTS, nn.Identity)
    order: tuple = ("skip", "sweep", "fuse")
    rounds: int = 50
    effect: object = None
    keep: object = None
    pair: object = None
    name: object = None
    unused: bool = True
    at_norm: bool = False
    value: object = None

    def __call__(self, model):
        gm = fx.symbolic_trace(model)
        for _ in range(self.rounds):
            if not any([getattr(self, step)(gm) for step in self.order]):
                break
        if self.unused:
            gm.delete_all_unused_submodules()
        gm.recompile()
        return gm

    def skip(self, gm):
        found = []
        for node in list(gm.graph.nodes):
            module = module_of(gm, node)
            if not isinstance(module, self.modules) and node.target not in self.functions:
                continue
            if self.keep and self.keep(gm, node):
                continue
            source = self.value(node) if self.value else node.all_input_nodes[0]
            node.replace_all_uses_with(source)
            gm.graph.erase_node(node)
            found.append(node)
        return bool(found)

    def sweep(self, gm):
        count = len(gm.graph.nodes)
        test = self.effect or has_effect
        for node in reversed(list(gm.graph.nodes)):
            if not node.users and not test(gm, node):
                gm.graph.erase_node(node)
        return len(gm.graph.nodes) < count

    def fuse(self, gm):
        found = False
        for node in list(gm.graph.nodes):
            if not self.is_pair(gm, node):
                continue
            source = node.all_input_nodes[0]
            name = self.name(gm, source) if self.name else free_name(gm)
            gm.add_submodule(name, folded(module_of(gm, source), module_of(gm, node)))
            with gm.graph.inserting_before(node if self.at_norm else source):
                new = gm.graph.call_module(name, source.args, source.kwargs)
            node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
            if not source.users:
                gm.graph.erase_node(source)
            found = True
        return found

    def is_pair(self, gm, node):
        if self.pair:
            return self.pair(gm, node)
        if not is_norm(gm, node):
            return False
        source = node.all_input_nodes[0]
        return type(module_of(gm, source)) in CONVS and len(source.users) == 1


@wrong("modules only: functional dropouts stay", "missed-spelling", clause="dropout-functions")
def modules_only(model):
    return Clean(functions=())(model)


@wrong("functions only", "missed-spelling", clause="dropout-modules")
def functions_only(model):
    return Clean(modules=(nn.Identity,))(model)


@wrong("identities stay", "missed-spelling", clause="identity")
def identities_stay(model):
    return Clean(modules=DROPOUTS)(model)


@wrong("dropouts that are the output stay", "missed-spelling", clause="output")
def output_stays(model):
    def keep(gm, node):
        return any(user.op == "output" for user in node.users)

    return Clean(keep=keep)(model)


@wrong("the input is taken from args", "crashed", clause="keywords")
def from_args(model):
    return Clean(value=lambda node: node.args[0])(model)


@wrong("dead code stays", "dead-left", clause="dead")
def dead_stays(model):
    return Clean(order=("skip", "fuse"))(model)


@wrong("eliminate_dead_code", "changed-too-much", clause="effects")
def eliminated(model):
    return Clean(effect=lambda gm, node: node.is_impure())(model)


@wrong("nothing is fused", "missed-place", clause="pairs")
def nothing_fused(model):
    return Clean(order=("skip", "sweep"))(model)


@wrong("pairs first, and once", "missed-place", clause="meet")
def pairs_first(model):
    return Clean(order=("fuse", "skip", "sweep"), rounds=1)(model)


@wrong("fused before dead code is gone", "missed-place", clause="second-reader")
def fused_before_the_sweep(model):
    return Clean(order=("skip", "fuse", "sweep"), rounds=1)(model)


@wrong("pairs are listed once: the second BatchNorm stays", "missed-place", clause="again")
def listed_once(model):
    gm = fx.symbolic_trace(model)
    skip(gm)
    sweep(gm)
    clean = Clean()
    for node in [node for node in gm.graph.nodes if clean.is_pair(gm, node)]:
        source = node.all_input_nodes[0]
        name = free_name(gm)
        gm.add_submodule(name, folded(module_of(gm, source), module_of(gm, node)))
        source.target = name
        node.replace_all_uses_with(source)
        gm.graph.erase_node(node)
    return done(gm)


@wrong("PyTorch's fuse at the end", "wrong-result", clause="shared-convolution")
def pytorchs_fuse(model):
    gm = fx.symbolic_trace(model)
    skip(gm)
    sweep(gm)
    return optimization.fuse(done(gm))


def folded_where_it_is(model, alone):
    """In a copy of the model, change a convolution in place if nothing else uses it."""
    gm = fx.symbolic_trace(copy.deepcopy(model))
    skip(gm)
    sweep(gm)
    clean = Clean()
    for node in list(gm.graph.nodes):
        if clean.is_pair(gm, node):
            source = node.all_input_nodes[0]
            conv = module_of(gm, source)
            new = folded(conv, module_of(gm, node))
            if alone(gm, source.target):
                conv.weight.data, conv.bias = new.weight.data, new.bias
            else:
                source.target = free_name(gm)
                gm.add_submodule(source.target, new)
            node.replace_all_uses_with(source)
            gm.graph.erase_node(node)
    return done(gm)


@wrong("a weight that is read changes", "wrong-result", clause="read-weight")
def read_weight(model):
    def alone(gm, target):
        return [node.target for node in gm.graph.nodes].count(target) == 1

    return folded_where_it_is(model, alone)


@wrong("the caller's convolutions are folded", "caller-changed", clause="model-unchanged")
def the_callers(model):
    gm = fx.symbolic_trace(model)
    skip(gm)
    sweep(gm)
    clean = Clean()
    for node in list(gm.graph.nodes):
        if clean.is_pair(gm, node):
            source = node.all_input_nodes[0]
            conv = module_of(gm, source)
            new = folded(conv, module_of(gm, node))
            conv.weight, conv.bias = new.weight, new.bias
            node.replace_all_uses_with(source)
            gm.graph.erase_node(node)
    return done(gm)


@wrong("other readers do not matter", "changed-too-much", clause="no-pairs")
def other_readers(model):
    def pair(gm, node):
        return is_norm(gm, node) and type(module_of(gm, node.all_input_nodes[0])) in CONVS

    return Clean(pair=pair)(model)


@wrong("a fixed name for what is new", "wrong-result", clause="free-names")
def fixed_name(model):
    return Clean(name=lambda gm, conv: "conv_fused")(model)


@wrong("at the BatchNorm's place", "wrong-result", clause="written-input")
def at_the_norm(model):
    return Clean(at_norm=True)(model)


@wrong("modules that nothing calls stay", "unused-module", clause="unused")
def unused_stay(model):
    return Clean(unused=False)(model)


@wrong("dropouts inside a leaf go, too", "leaf-changed", clause="leaves")
def inside_leaves(model):
    gm = Clean()(model)
    for node in gm.graph.nodes:
        if isinstance(module_of(gm, node), nn.TransformerEncoderLayer):
            leaf = copy.deepcopy(module_of(gm, node))
            for name, module in list(leaf.named_children()):
                if isinstance(module, DROPOUTS):
                    setattr(leaf, name, nn.Identity())
            gm.add_submodule(node.target, leaf)
    return gm


@wrong("images only", "missed-place", clause="dims")
def images_only(model):
    def pair(gm, node):
        return type(module_of(gm, node)) is nn.BatchNorm2d and Clean().is_pair(gm, node)

    return Clean(pair=pair)(model)


@wrong("ReLUs in a row become one", "changed-too-much", clause="rest")
def relus_too(model):
    gm = Clean()(model)
    for node in list(gm.graph.nodes):
        if node.target is torch.relu and node.all_input_nodes[0].target is torch.relu:
            node.replace_all_uses_with(node.all_input_nodes[0])
            gm.graph.erase_node(node)
    return done(gm)


@wrong("placeholders that nobody reads go", "lost-signature", clause="common.signature")
def placeholders_go(model):
    gm = Clean()(model)
    for node in list(gm.graph.nodes):
        if node.op == "placeholder" and not node.users:
            gm.graph.erase_node(node)
    return done(gm)


@wrong("not recompiled", "stale-code", clause="common.recompiled")
def not_recompiled(model):
    gm = fx.symbolic_trace(model)
    while any([skip(gm), sweep(gm), fuse_first(gm)]):
        pass
    return gm


@wrong("functions that are told not to train stay", "missed-spelling", clause="dropout-functions")
def told_not_to_train(model):
    def keep(gm, node):
        told = node.kwargs.get("training", node.args[2] if len(node.args) > 2 else None)
        return node.target is F.dropout and told is False

    return Clean(keep=keep)(model)


@wrong("identities that are returned stay", "missed-spelling", clause="identity")
def returned_identities(model):
    def keep(gm, node):
        returned = any(user.op == "output" for user in node.users)
        return returned and isinstance(module_of(gm, node), nn.Identity)

    return Clean(keep=keep)(model)


@wrong("dead code first, and once", "dead-left", clause="dead")
def dead_code_first(model):
    return Clean(order=("sweep", "skip", "fuse"), rounds=1)(model)


@wrong("the old convolutions stay beside the new ones", "unused-module", clause="unused")
def old_convolutions_stay(model):
    gm = Clean(unused=False)(model)
    used = {n.target.removesuffix(".bias") for n in gm.graph.nodes if isinstance(n.target, str)}
    for path, module in list(gm.named_modules()):
        inside = any(path == one or path.startswith(f"{one}.") for one in used)
        if not inside and isinstance(module, (*DROPOUTS, nn.Identity, *NORMS)):
            gm.delete_submodule(path)
    return gm


DECIDES_NOTHING = [
    (
        GRAPH + r"modules\[\]\.buffers\.running_(mean|var)",
        "a BatchNorm that was fused stays where its bias is read; nobody reads its statistics then",
    ),
    (
        GRAPH + r"modules\[\]\.buffers\.num_batches_tracked",
        "a BatchNorm with a momentum computes nothing with the number of its batches",
    ),
]
"""Places in an outcome that decide no points, and why."""
