"""Answers to `add_output`."""

from __future__ import annotations

import copy
import dataclasses

import torch
import torch.utils._pytree as pytree
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

from autograder.exercises import EXERCISES
from tests.exercises import right, wrong


def user_output(name):
    return OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(name=name), None)


def call_node(program, name):
    for node in program.graph.nodes:
        if node.name == name and node.op.startswith("call_"):
            return node
    raise ValueError(f"no call node is named {name!r}")


def pair(structure):
    leaf = pytree.tree_structure(0)
    return pytree.TreeSpec(tuple, None, [structure, leaf])


def extended(
    ep,
    name,
    *,
    copied=copy.deepcopy,
    find=call_node,
    values=lambda old, node: (*old, node),
    specs=lambda old, spec: [*old, spec],
    spec=user_output,
    structure=pair,
    recompile=True,
):
    """The structure of most answers; each step can be replaced."""
    find(ep, name)
    new = copied(ep)
    output = new.graph.output_node()
    output.args = (values(output.args[0], find(new, name)),)
    new.graph_signature.output_specs[:] = specs(new.graph_signature.output_specs, spec(name))
    signature = new.module_call_graph[0].signature
    signature.out_spec = structure(signature.out_spec)
    if recompile:
        new.graph_module.recompile()
    return new


@right("a deep copy, edited in four places")
def deep_copy(ep, name):
    return extended(ep, name)


@right("a new program from all parts of the old one", debrief=True)
def constructor(ep, name):
    graph = copy.deepcopy(ep.graph)
    found = [n for n in graph.nodes if n.name == name and n.op == "call_function"]
    if not found:
        raise ValueError(name)
    output = graph.output_node()
    output.update_arg(0, output.args[0] + (found[0],))
    old = ep.graph_signature
    calls = copy.deepcopy(ep.module_call_graph)
    calls[0].signature.out_spec = pair(calls[0].signature.out_spec)
    return ExportedProgram(
        root=ep.graph_module,
        graph=graph,
        graph_signature=ExportGraphSignature(
            list(old.input_specs), [*old.output_specs, user_output(name)]
        ),
        state_dict=ep.state_dict,
        range_constraints=ep.range_constraints,
        module_call_graph=calls,
        example_inputs=ep.example_inputs,
        constants=ep.constants,
        verifiers=ep.verifiers,
    )


@right("a new output node, in a program that the constructor copies")
def new_output_node(ep, name):
    if name not in {n.name for n in ep.graph.nodes if n.op == "call_function"}:
        raise ValueError(f"{name} is no call")
    graph, calls = copy.deepcopy((ep.graph, ep.module_call_graph))
    (node,) = (n for n in graph.nodes if n.name == name)
    old = graph.output_node()
    with graph.inserting_before(old):
        last = graph.create_node("output", "output", ([*old.args[0], node],), name="result")
    graph.erase_node(old)
    specs = [*copy.deepcopy(ep.graph_signature.output_specs), user_output(name)]
    entry = next(e for e in calls if e.fqn == "")
    entry.signature.out_spec = pytree.treespec_tuple(
        [entry.signature.out_spec, pytree.treespec_leaf()]
    )
    assert last.args[0][-1] is node
    return ExportedProgram(
        ep.graph_module, graph, ExportGraphSignature(ep.graph_signature.input_specs, specs),
        dict(ep.state_dict), dict(ep.range_constraints), calls, constants=dict(ep.constants),
        verifiers=list(ep.verifiers),
    )  # fmt: skip


@right("parts exchanged by dataclasses.replace, and the program's own update")
def replaced(ep, name):
    gm = copy.deepcopy(ep.graph_module)
    nodes = {node.name: node for node in gm.graph.nodes}
    node = nodes.get(name)
    if node is None or node.op != "call_function":
        raise ValueError
    *_, last = gm.graph.nodes
    last.args = (tuple(last.args[0]) + (node,),)
    gm.recompile()
    signature = dataclasses.replace(
        ep.graph_signature, output_specs=ep.graph_signature.output_specs + [user_output(name)]
    )
    new = ep._update(gm, signature)
    first = new.module_call_graph[0]
    nested = pytree.tree_structure((pytree.tree_unflatten(
        [0] * first.signature.out_spec.num_leaves, first.signature.out_spec), 0))  # fmt: skip
    first.signature = dataclasses.replace(first.signature, out_spec=nested)
    return new


# ------------------------------------------------------------------ wrong


@wrong("no line in the signature", "wrong-signature", clause="signature")
def no_spec(ep, name):
    return extended(ep, name, specs=lambda old, _: list(old))


@wrong("the old structure", "result-raises", clause="old-structure")
def no_structure(ep, name):
    return extended(ep, name, structure=lambda old: old)


@wrong("one flat tuple", "wrong-structure", clause="pair")
def flat(ep, name):
    def structure(old):
        leaves = [pytree.tree_structure(0)] * (old.num_leaves + 1)
        return pytree.TreeSpec(tuple, None, leaves)

    return extended(ep, name, structure=structure)


@wrong("first of all outputs", "wrong-signature", clause="last")
def first(ep, name):
    return extended(
        ep,
        name,
        values=lambda old, node: (node, *old),
        specs=lambda old, spec: [spec, *old],
        structure=lambda old: pytree.TreeSpec(tuple, None, [pytree.tree_structure(0), old]),
    )


@wrong("before the mutated values end", "wrong-signature", clause="after-all-others")
def among_users(ep, name):
    def place(specs):
        return next(i for i, spec in enumerate(specs) if spec.kind == OutputKind.USER_OUTPUT)

    at = place(ep.graph_signature.output_specs)
    return extended(
        ep,
        name,
        values=lambda old, node: (*old[:at], node, *old[at:]) if at else (*old, node),
        specs=lambda old, spec: [*old[:at], spec, *old[at:]] if at else [*old, spec],
    )


@wrong("a name of its own in the signature", "wrong-signature", clause="named")
def other_name(ep, name):
    return extended(ep, name, spec=lambda name: user_output(f"{name}_value"))


@wrong("another kind of output", "wrong-signature", clause="kind")
def other_kind(ep, name):
    def spec(name):
        return OutputSpec(OutputKind.LOSS_OUTPUT, TensorArgument(name=name), None)

    return extended(ep, name, spec=spec)


@wrong("other lines of the signature are sorted", "wrong-signature", clause="nothing-else")
def sorted_specs(ep, name):
    new = extended(ep, name)
    new.graph_signature.input_specs.sort(key=lambda spec: spec.arg.name)
    return new


@wrong("not recompiled", "stale-code", clause="recompiled")
def stale(ep, name):
    return extended(ep, name, recompile=False)


@wrong("the program itself", "caller-changed", clause="unchanged")
def itself(ep, name):
    return extended(ep, name, copied=lambda ep: ep)


@wrong("a shallow copy", "caller-changed", clause="unchanged")
def shallow(ep, name):
    return extended(ep, name, copied=copy.copy)


@wrong("an output is not given twice", "wrong-signature", clause="second-time")
def not_twice(ep, name):
    given = [spec.arg.name for spec in ep.graph_signature.output_specs]
    return copy.deepcopy(ep) if name in given else extended(ep, name)


@wrong("a copy of the value", "nodes-changed", clause="nodes")
def cloned(ep, name):
    new = extended(ep, name)
    output = new.graph.output_node()
    node = output.args[0][-1]
    with new.graph.inserting_before(output):
        twin = new.graph.call_function(torch.ops.aten.clone.default, (node,))
    twin.meta = dict(node.meta)
    output.args = ((*output.args[0][:-1], twin),)
    new.graph_module.recompile()
    return new


@wrong("sizes are fixed", "lost-sizes", clause="dynamic")
def fixed(ep, name):
    new = extended(ep, name)
    return ExportedProgram(
        new.graph_module, new.graph, new.graph_signature, new.state_dict, {},
        new.module_call_graph, constants=new.constants, verifiers=new.verifiers,
    )  # fmt: skip


@wrong("no constants", "lost-state", clause="save")
def no_constants(ep, name):
    new = extended(ep, name)
    new._constants = {}
    return new


@wrong("an unknown name is a KeyError", "wrong-exception", clause="unknown")
def key_error(ep, name):
    nodes = {n.name: n for n in ep.graph.nodes}
    if nodes[name].op != "call_function":
        raise ValueError(name)
    return extended(ep, name)


@wrong("attributes are values, too", "should-raise", clause="attribute")
def attributes(ep, name):
    def find(program, name):
        for node in program.graph.nodes:
            if node.name == name and node.op not in ("placeholder", "output"):
                return node
        raise ValueError(name)

    return extended(ep, name, find=find)


@wrong("placeholders are values, too", "should-raise", clause="placeholder")
def placeholders(ep, name):
    def find(program, name):
        for node in program.graph.nodes:
            if node.name == name and node.op != "output":
                return node
        raise ValueError(name)

    return extended(ep, name, find=find)


@wrong("the output node is accepted", "should-raise", clause="output")
def the_output(ep, name):
    return copy.deepcopy(ep) if name == "output" else extended(ep, name)


@wrong("a graph module", "wrong-kind", clause="program")
def graph_module(ep, name):
    return extended(ep, name).graph_module


@wrong("the last node", "wrong-output", clause="value")
def last_node(ep, name):
    def find(program, _):
        calls = [n for n in program.graph.nodes if n.op == "call_function"]
        return call_node(program, name) and next(
            n for n in reversed(calls) if isinstance(n.meta.get("val"), torch.Tensor)
        )

    return extended(ep, name, find=find)


@wrong("a new program without the verifiers of the old one", "crashed", clause="as-exported")
def no_verifiers(ep, name):
    new = extended(ep, name)
    return ExportedProgram(
        new.graph_module, new.graph, new.graph_signature, new.state_dict, new.range_constraints,
        new.module_call_graph, constants=new.constants,
    )  # fmt: skip


def complete_on_network(trial, choice):
    """Disable in-place layers: the task excludes values that are changed later."""
    for module in trial.model.modules():
        if hasattr(module, "inplace"):
            module.inplace = False
    return EXERCISES["add_output"].random.complete(trial, choice)


@wrong("dead code is removed, and its own value stays", "nodes-changed", clause="nodes")
def swept_afterwards(ep, name):
    new = extended(ep, name)
    new.graph_module.graph.eliminate_dead_code()
    new.graph_module.recompile()
    return new
