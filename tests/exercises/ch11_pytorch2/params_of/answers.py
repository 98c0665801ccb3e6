"""Answers to `params_of`."""

from __future__ import annotations

from torch.export.graph_signature import InputKind, OutputKind

from tests.exercises import right, wrong

KEYS = ("parameters", "buffers", "constants", "inputs", "mutated")
LISTS = {
    InputKind.PARAMETER: "parameters",
    InputKind.BUFFER: "buffers",
    InputKind.CONSTANT_TENSOR: "constants",
    InputKind.USER_INPUT: "inputs",
}


def mutations(ep):
    """The mutated buffers by path, and the mutated inputs by placeholder."""
    specs = ep.graph_signature.output_specs
    return tuple(
        {spec.target for spec in specs if spec.kind == kind}
        for kind in (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION)
    )


def is_mutated(spec, paths, names):
    if spec.kind == InputKind.BUFFER:
        return spec.target in paths
    return spec.kind == InputKind.USER_INPUT and spec.arg.name in names


def listed(ep, *, lists=LISTS, name=lambda spec: spec.arg.name, mutated=is_mutated):
    result = {key: [] for key in KEYS}
    paths, names = mutations(ep)
    for spec in ep.graph_signature.input_specs:
        if spec.kind in lists:
            result[lists[spec.kind]].append(name(spec))
        if mutated(spec, paths, names):
            result["mutated"].append(name(spec))
    return result


@right("one loop over the input specs")
def by_specs(ep):
    return listed(ep)


@right("the graph's placeholders, looked up in the signature's tables", debrief=True)
def by_tables(ep):
    s = ep.graph_signature
    changed = {*s.buffers_to_mutate.values()}
    inputs_changed = {*s.user_inputs_to_mutate.values()}
    out = {key: [] for key in KEYS}
    for node in ep.graph.find_nodes(op="placeholder"):
        name = node.name
        if name in s.inputs_to_parameters:
            out["parameters"].append(name)
        elif name in s.inputs_to_buffers:
            out["buffers"].append(name)
            if s.inputs_to_buffers[name] in changed:
                out["mutated"].append(name)
        elif name in s.inputs_to_lifted_tensor_constants:
            out["constants"].append(name)
        else:
            out["inputs"].append(name)
            if name in inputs_changed:
                out["mutated"].append(name)
    return out


@right("comprehensions, one for each list")
def comprehensions(ep):
    specs = ep.graph_signature.input_specs
    paths, names = mutations(ep)

    def of(*kinds):
        return [s.arg.name for s in specs if s.kind.name in kinds]

    return dict(
        mutated=[s.arg.name for s in specs if is_mutated(s, paths, names)],
        inputs=of("USER_INPUT"),
        constants=of("CONSTANT_TENSOR"),
        buffers=of("BUFFER"),
        parameters=of("PARAMETER"),
    )


@right("from the outputs back to the placeholders, then sorted")
def from_outputs(ep):
    order = {n.name: i for i, n in enumerate(ep.graph.nodes)}
    result = listed(ep, mutated=lambda *_: False)
    s = ep.graph_signature
    buffer_of = {path: name for name, path in s.inputs_to_buffers.items()}
    found = set()
    for spec in s.output_specs:
        if spec.kind is OutputKind.BUFFER_MUTATION:
            found.add(buffer_of[spec.target])
        elif spec.kind is OutputKind.USER_INPUT_MUTATION:
            found.add(spec.target)
    return {**result, "mutated": sorted(found, key=order.get)}


@right("state_dict and constants asked for each target")
def by_program(ep):
    paths, names = mutations(ep)
    result = {key: [] for key in KEYS}
    parameters, buffers = dict(ep.named_parameters()), dict(ep.named_buffers())
    nodes = [n for n in ep.graph.nodes if n.op == "placeholder"]
    for node, spec in zip(nodes, ep.graph_signature.input_specs, strict=True):
        if spec.target is None:
            kind = "inputs"
        elif spec.target in parameters:
            kind = "parameters"
        else:
            kind = "buffers" if spec.target in buffers else "constants"
        result[kind] += [node.name]
        result["mutated"] += [node.name] * is_mutated(spec, paths, names)
    return result


# ------------------------------------------------------------------ wrong


@wrong("paths instead of placeholders", "no-placeholder", clause="placeholder-names")
def paths(ep):
    return listed(ep, name=lambda spec: spec.target or spec.arg.name)


@wrong("buffers that are not saved are constants", "missing-name", clause="non-persistent")
def persistent_only(ep):
    result = listed(ep)
    for spec in ep.graph_signature.input_specs:
        if spec.kind == InputKind.BUFFER and not spec.persistent:
            result["buffers"].remove(spec.arg.name)
            result["constants"].append(spec.arg.name)
    return result


@wrong("buffers of the state_dict only", "missing-name", clause="exactly-one")
def of_the_state(ep):
    result = listed(ep)
    for spec in ep.graph_signature.input_specs:
        if spec.kind == InputKind.BUFFER and spec.target not in ep.state_dict:
            result["buffers"].remove(spec.arg.name)
    return result


@wrong("constants among the buffers", "wrong-list", clause="constants")
def constants_are_buffers(ep):
    return listed(ep, lists={**LISTS, InputKind.CONSTANT_TENSOR: "buffers"})


@wrong("by the beginning of the name", "wrong-list", clause="names")
def by_prefix(ep):
    result = listed(ep)
    for node in ep.graph.nodes:
        prefix = {"p": "parameters", "b": "buffers", "c": "constants"}.get(node.name[:1])
        if node.op == "placeholder" and node.name in result["inputs"] and node.name[1:2] == "_":
            result["inputs"].remove(node.name)
            result[prefix or "inputs"].append(node.name)
    return result


@wrong("the values of user_inputs", "wrong-kind", clause="int-inputs")
def user_inputs(ep):
    return {**listed(ep), "inputs": list(ep.graph_signature.user_inputs)}


@wrong("inputs that are read", "missing-name", clause="unused")
def read_only(ep):
    read = {node.name for node in ep.graph.nodes if node.users}
    result = listed(ep)
    return {**result, "inputs": [name for name in result["inputs"] if name in read]}


@wrong("parameters that are read", "missing-name", clause="exactly-one")
def read_parameters(ep):
    read = {node.name for node in ep.graph.nodes if node.users}
    result = listed(ep)
    return {**result, "parameters": [name for name in result["parameters"] if name in read]}


@wrong("no input is said to be mutated", "missing-name", clause="mutated-inputs")
def mutated_buffers(ep):
    return listed(ep, mutated=lambda spec, paths, _: spec.target in paths)


@wrong("no buffer is said to be mutated", "missing-name", clause="mutated-buffers")
def mutated_inputs(ep):
    return listed(ep, mutated=lambda spec, _, names: spec.arg.name in names)


@wrong("whatever an operation in place touches", "wrong-list", clause="before-decomposition")
def in_place(ep):
    touched = {
        node.args[0].name
        for node in ep.graph.nodes
        if node.op == "call_function" and getattr(node.target, "__name__", "").find("_.") > 0
    }
    paths, names = mutations(ep)
    return listed(
        ep,
        mutated=lambda spec, *_: spec.arg.name in touched or is_mutated(spec, paths, names),
    )


@wrong("paths and names in one set", "wrong-list", clause="same-name")
def one_set(ep):
    def mutated(spec, paths, names):
        return (spec.target or spec.arg.name) in paths | names

    return listed(ep, mutated=mutated)


@wrong("mutated in the order of the outputs", "wrong-order", clause="order")
def output_order(ep):
    s = ep.graph_signature
    buffer_of = {path: name for name, path in s.inputs_to_buffers.items()}
    changed = [buffer_of[path] for path in s.buffers_to_mutate.values()]
    return {**listed(ep), "mutated": [*changed, *s.user_inputs_to_mutate.values()]}


@wrong("only lists that are not empty", "missing-key", clause="five-keys")
def nonempty(ep):
    return {key: names for key, names in listed(ep).items() if names}


@wrong("tuples", "wrong-kind", clause="lists")
def tuples(ep):
    return {key: tuple(names) for key, names in listed(ep).items()}


@wrong("unread placeholders are erased", "caller-changed", clause="unchanged")
def erases(ep):
    result = listed(ep)
    for node in list(ep.graph.nodes):
        if node.op == "call_function" and not node.users:
            ep.graph.erase_node(node)
    return result
