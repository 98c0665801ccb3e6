"""Beginners' mistakes in chapter 03b."""

from __future__ import annotations

import inspect

from torch import fx, nn

from tests.exercises.mistakes import SHOWS_PLACE, UNSTICKS, mistake

# ------------------------------------------------------------------ probe_values

CALLS = ("call_function", "call_method", "call_module")


@mistake("probe_values", "the probe is called in the pass", UNSTICKS)
def called_now(model, probe):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op in CALLS:
            probe(node.name, node)
    return gm


@mistake(
    "probe_values",
    "the probe is the target",
    UNSTICKS,
    says=["FX writes its `__name__` into the code"],
)
def probe_is_target(model, probe):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(probe, (node.name, node))
    gm.recompile()
    return gm


@mistake("probe_values", "value before name", UNSTICKS)
def exchanged(model, probe):
    def call(value, name):
        probe(value, name)

    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(call, (node, node.name))
    gm.recompile()
    return gm


@mistake("probe_values", "readers read the probe", UNSTICKS)
def readers(model, probe):
    def call(name, value):
        return probe(name, value)

    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                new = gm.graph.call_function(call, (node.name,))
            node.replace_all_uses_with(new)
            new.args = (node.name, node)
    gm.recompile()
    return gm


@mistake("probe_values", "the node in place of its name", UNSTICKS)
def node_for_name(model, probe):
    def call(name, value):
        probe(name, value)

    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(call, (node, node))
    gm.recompile()
    return gm


@mistake("probe_values", "inputs are probed, too", UNSTICKS)
def inputs_too(model, probe):
    def call(name, value):
        probe(name, value)

    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op != "output":
            with gm.graph.inserting_after(node):
                gm.graph.call_function(call, (node.name, node))
    gm.recompile()
    return gm


# ------------------------------------------------------------------ sound_dce


@mistake(
    "sound_dce",
    "eliminate_dead_code",
    SHOWS_PLACE,
    but="the module that is left comes first; the lost call in place is below",
)
def stock(model):
    gm = fx.symbolic_trace(model)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


@mistake("sound_dce", "forward over the nodes", UNSTICKS)
def forward(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if not node.users and node.op not in ("placeholder", "output"):
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@mistake("sound_dce", "the output is erased", UNSTICKS)
def no_output(model):
    gm = fx.symbolic_trace(model)
    for node in reversed(list(gm.graph.nodes)):
        if not node.users:
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@mistake(
    "sound_dce",
    "a name that ends in an underscore, of any target",
    SHOWS_PLACE,
    but="names a node that is gone; that its target was read as text is not seen",
)
def any_underscore(model):
    gm = fx.symbolic_trace(model)
    for node in reversed(list(gm.graph.nodes)):
        keep = node.op in ("placeholder", "output") or str(node.target).endswith("_")
        if not node.users and not keep:
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@mistake("sound_dce", "placeholders go", UNSTICKS)
def placeholders_go(model):
    gm = fx.symbolic_trace(model)
    for node in reversed(list(gm.graph.nodes)):
        if node.op != "output" and not node.users:
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@mistake("sound_dce", "the name of a string", UNSTICKS)
def name_of_string(model):
    gm = fx.symbolic_trace(model)
    for node in reversed(list(gm.graph.nodes)):
        if node.op in ("placeholder", "output") or node.users:
            continue
        if not node.target.__name__.endswith("_"):
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


# ------------------------------------------------------------------ specialize


@mistake("specialize", "only concrete_args", UNSTICKS)
def only_concrete(fn, **constants):
    return fx.symbolic_trace(fn, concrete_args=constants)


@mistake("specialize", "placeholders erased, readers left", UNSTICKS)
def erases(fn, **constants):
    gm = fx.symbolic_trace(fn, concrete_args=constants)
    for node in gm.graph.nodes:
        if node.op == "placeholder" and node.target in constants:
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@mistake("specialize", "replaced by the value in a full trace", UNSTICKS)
def full_trace(fn, **constants):
    gm = fx.symbolic_trace(fn)
    for node in list(gm.graph.nodes):
        if node.op == "placeholder" and node.target in constants:
            node.replace_all_uses_with(constants[node.target])
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@mistake("specialize", "a lambda around the function", UNSTICKS)
def wrapped(fn, **constants):
    return fx.symbolic_trace(lambda x: fn(x, **constants))


@mistake("specialize", "functools.partial", UNSTICKS)
def partial(fn, **constants):
    import functools

    return fx.symbolic_trace(functools.partial(fn, **constants))


@mistake("specialize", "an unknown name raises ValueError", UNSTICKS)
def value_error(fn, **constants):
    forward = fn.forward if isinstance(fn, nn.Module) else fn
    for name in constants:
        if name not in inspect.signature(forward).parameters:
            raise ValueError(name)
    gm = fx.symbolic_trace(fn, concrete_args=constants)
    for node in reversed(gm.graph.nodes):
        if node.op == "placeholder" and not node.users and node.name.rsplit("_", 1)[0] in constants:
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@mistake("specialize", "dead code is eliminated", UNSTICKS)
def eliminated(fn, **constants):
    gm = fx.symbolic_trace(fn, concrete_args=constants)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm
