"""Answers to `fold_constants`."""

from __future__ import annotations

import copy
import itertools
import operator

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputSpec,
    TensorArgument,
)

from tests.exercises import right, wrong

STATE = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


def is_constant_state(signature, spec):
    return spec.kind in STATE and spec.target not in signature.buffers_to_mutate.values()


def is_random(node):
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def is_plain(node):
    if node.op != "call_function":
        return False
    plain = isinstance(node.target, torch._ops.OpOverload) or node.target is operator.getitem
    return plain and not is_random(node)


def names_taken(new):
    names = {name.partition(".")[0] for name in {**new.state_dict, **new.constants}}
    return names | {name for name, _ in new.graph_module.named_children()}


def first_input(new, specs):
    inputs = [spec.arg.name for spec in specs if spec.kind == InputKind.USER_INPUT]
    return next(node for node in new.graph.nodes if node.op == "output" or node.name in inputs)


def val_of_call(new, node, value):
    return node.meta["val"]


def plain_copy(value):
    return value.detach().clone()


def folded(
    ep,
    *,
    copied=copy.deepcopy,
    state=is_constant_state,
    plain=is_plain,
    mode=torch.no_grad,
    is_read=lambda node, values: any(reader not in values for reader in node.users),
    taken=names_taken,
    before=first_input,
    val=val_of_call,
    tensor=plain_copy,
    names_outputs=True,
    drops_tensors=True,
    recompile=True,
):
    """The structure of most answers; each step can be replaced."""
    new = copied(ep)
    graph, signature = new.graph, new.graph_signature
    lines = {spec.arg.name: spec for spec in signature.input_specs}
    tensors = {**new.state_dict, **new.constants}
    values = {}
    with mode():
        for node in graph.nodes:
            if node.op == "placeholder" and state(signature, lines[node.name]):
                values[node] = tensors[lines[node.name].target]
            elif node.op == "get_attr" and plain is not is_plain and plain(node):
                values[node] = getattr(new.graph_module, node.target)
            elif plain(node) and all(each in values for each in node.all_input_nodes):
                args, kwargs = fx.map_arg((node.args, node.kwargs), values.__getitem__)
                values[node] = node.target(*args, **kwargs)
    used = taken(new)
    names = (name for i in itertools.count() if (name := f"folded_{i}") not in used)
    place = before(new, signature.input_specs)
    for node, value in list(values.items()):
        if node.op != "call_function" or not isinstance(value, torch.Tensor):
            continue
        if not is_read(node, values):
            continue
        name = next(names)
        with graph.inserting_before(place):
            buffer = graph.placeholder(f"b_{name}")
        buffer.meta["val"] = val(new, node, value)
        new.state_dict[name] = tensor(value)
        lines[buffer.name] = InputSpec(
            InputKind.BUFFER, TensorArgument(name=buffer.name), name, persistent=True
        )
        node.replace_all_uses_with(buffer)
        if names_outputs:
            for spec in signature.output_specs:
                if getattr(spec.arg, "name", None) == node.name:
                    spec.arg = TensorArgument(name=buffer.name)
    for node in reversed(list(graph.nodes)):
        if node in values and not node.users:
            graph.erase_node(node)
            if node.op == "placeholder" and drops_tensors:
                target = lines[node.name].target
                for held in (new.state_dict, new.constants):
                    held.pop(target, None)
    signature.input_specs[:] = [
        lines[node.name] for node in graph.nodes if node.op == "placeholder"
    ]
    if recompile:
        new.graph_module.recompile()
    return new


@right("one walk through a copy, values in a dictionary")
def one_walk(ep):
    return folded(ep)


UNKNOWN = object()


class Folding(fx.Interpreter):
    """Runs a graph on its state, and knows nothing of its inputs."""

    def __init__(self, ep):
        super().__init__(ep.graph_module)
        self.known = {}

    def run_node(self, n):
        if n.op in ("placeholder", "output", "get_attr"):
            return super().run_node(n)
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        items = []
        fx.node.map_aggregate((args, kwargs), items.append)
        if any(item is UNKNOWN for item in items) or is_random(n):
            return UNKNOWN
        if any(isinstance(item, torch.nn.Module) for item in items):
            return UNKNOWN  # torch.cond
        self.known[n] = super().run_node(n)
        return self.known[n]


@right("an Interpreter that knows no input, and a new program by the constructor", debrief=True)
def interpreter(ep):
    signature = ep.graph_signature
    changing = set(signature.buffers_to_mutate.values())
    tensors = {**ep.state_dict, **ep.constants}
    lines = {spec.arg.name: spec for spec in signature.input_specs}
    old = {node.name: node for node in ep.graph.nodes}

    def is_state(spec):
        return spec.kind in STATE and spec.target not in changing

    folding = Folding(ep)
    with torch.no_grad():
        folding.run(*(
            tensors[spec.target] if is_state(spec) else UNKNOWN for spec in signature.input_specs
        ))  # fmt: skip
    known = {**folding.known}
    known |= {old[spec.arg.name]: None for spec in signature.input_specs if is_state(spec)}
    wanted = [
        node for node in ep.graph.nodes
        if node in known and any(reader not in known for reader in node.users)
    ]  # fmt: skip

    graph, made, specs, held = fx.Graph(), {}, [], dict(ep.state_dict)
    taken = {name.split(".")[0] for name in tensors}
    for name, spec in lines.items():
        if spec.kind != InputKind.USER_INPUT and (not is_state(spec) or old[name] in wanted):
            made[old[name]] = graph.node_copy(old[name])
            specs.append(spec)
    for node in wanted:
        if node.op == "placeholder":
            continue
        name = next(f"folded_{i}" for i in range(1000) if f"folded_{i}" not in taken)
        taken.add(name)
        made[node] = graph.placeholder(name)
        made[node].meta = {"val": node.meta["val"]}
        held[name] = known[node].detach().clone()
        specs.append(InputSpec(InputKind.BUFFER, TensorArgument(made[node].name), name, True))
    for node in ep.graph.nodes:
        if node not in known and node not in made:
            made[node] = graph.node_copy(node, made.__getitem__)
            if node.op == "placeholder":
                specs.append(lines[node.name])
    targets = {spec.target for spec in specs}
    outputs = [
        OutputSpec(spec.kind, TensorArgument(made[old[spec.arg.name]].name), spec.target)
        if isinstance(spec.arg, TensorArgument)
        else spec
        for spec in signature.output_specs
    ]
    return ExportedProgram(
        root=copy.deepcopy(ep.graph_module),
        graph=graph,
        graph_signature=ExportGraphSignature(specs, outputs),
        state_dict={name: value for name, value in held.items() if name in targets},
        range_constraints=ep.range_constraints,
        module_call_graph=copy.deepcopy(ep.module_call_graph),
        example_inputs=ep.example_inputs,
        constants={name: value for name, value in ep.constants.items() if name in targets},
        verifiers=ep.verifiers,
    )


@right("what depends on an input is marked, and the rest is a graph that runs once")
def other_side(ep):
    new = copy.deepcopy(ep)
    graph, signature = new.graph, new.graph_signature
    lines = {spec.arg.name: spec for spec in signature.input_specs}
    todo = [
        node for node in graph.nodes
        if node.op in ("get_attr", "output")
        or (node.op == "placeholder" and not is_constant_state(signature, lines[node.name]))
        or (node.op == "call_function" and not is_plain(node))
    ]  # fmt: skip
    varying = set()
    while todo:
        node = todo.pop()
        if node not in varying:
            varying.add(node)
            todo += node.users
    constant = [node for node in graph.nodes if node not in varying]
    edge = [
        node for node in constant
        if node.op == "call_function" and any(user in varying for user in node.users)
    ]  # fmt: skip
    once, copies = fx.Graph(), {}
    for node in constant:
        copies[node] = once.node_copy(node, copies.__getitem__)
    once.output([copies[node] for node in edge])
    state = {**new.state_dict, **new.constants}
    with torch.no_grad():
        results = fx.GraphModule({}, once)(*(
            state[lines[node.name].target] for node in constant if node.op == "placeholder"
        ))  # fmt: skip
    spoken_for = set(names_taken(new))
    for node, value in zip(edge, results, strict=True):
        number = 0
        while f"folded_{number}" in spoken_for:
            number += 1
        name = f"folded_{number}"
        spoken_for.add(name)
        first = next(iter(graph.nodes))
        with graph.inserting_before(first):
            holder = graph.create_node("placeholder", name)
        holder.meta["val"] = node.meta["val"]
        with graph_hook(new):
            node.replace_all_uses_with(holder)
        signature.input_specs.insert(
            0, InputSpec(InputKind.BUFFER, TensorArgument(holder.name), name, persistent=True)
        )
        new.state_dict[name] = torch.empty_like(value, requires_grad=False).copy_(value.detach())
    graph.eliminate_dead_code(lambda node: node.op != "call_function" or node not in constant)
    for node in constant:
        if node.op == "placeholder" and not node.users:
            graph.erase_node(node)
            spec = lines[node.name]
            signature.input_specs.remove(spec)
            (new.constants if spec.target in new.constants else new.state_dict).pop(spec.target)
    new.graph_module.recompile()
    return new


def graph_hook(program):
    """PyTorch's own hook, which corrects the names of outputs in the signature."""
    return program.graph_module._set_replace_hook(program.graph_signature.get_replace_hook())


@right("a question that asks each input, and the program's own update")
def asked_backwards(ep):
    gm, signature = copy.deepcopy((ep.graph_module, ep.graph_signature))
    state, constants = dict(ep.state_dict), dict(ep.constants)
    placeholders = gm.graph.find_nodes(op="placeholder")
    spec_of = dict(zip(placeholders, signature.input_specs, strict=True))
    answers = {}

    def is_known(node):
        if node not in answers:
            if node.op == "placeholder":
                answers[node] = is_constant_state(signature, spec_of[node])
            else:
                answers[node] = is_plain(node) and all(map(is_known, node.all_input_nodes))
        return answers[node]

    @torch.no_grad()
    def value_of(node):
        if node.op == "placeholder":
            target = spec_of[node].target
            return state[target] if target in state else constants[target]
        return node.target(*fx.map_arg(node.args, value_of), **fx.map_arg(node.kwargs, value_of))

    known = [node for node in gm.graph.nodes if is_known(node)]
    taken = {*state, *constants} | {name.split(".")[0] for name in ep.state_dict}
    added, number = {}, 0
    with gm.graph.inserting_before(placeholders[0]):
        for node in known:
            if node.op == "placeholder" or all(map(is_known, node.users)):
                continue
            while f"folded_{number}" in taken:
                number += 1
            taken.add(f"folded_{number}")
            new = gm.graph.placeholder(f"state_folded_{number}")
            new.meta.update(val=node.meta["val"])
            added[new] = f"folded_{number}", value_of(node).detach().clone()
            readers = [reader for reader in node.users if not is_known(reader)]
            for reader in readers:
                reader.replace_input_with(node, new)
            for spec in signature.output_specs:
                if getattr(spec.arg, "name", "") == node.name:
                    spec.arg = TensorArgument(new.name)
    while gone := [node for node in known if not node.users]:
        for node in gone:
            gm.graph.erase_node(node)
            known.remove(node)
    for node, (name, value) in added.items():
        state[name] = value
        spec_of[node] = InputSpec(InputKind.BUFFER, TensorArgument(node.name), name, True)
    signature.input_specs = [spec_of[node] for node in gm.graph.find_nodes(op="placeholder")]
    named = {spec.target for spec in signature.input_specs}
    gm.recompile()
    return ep._update(
        gm, signature,
        state_dict={name: value for name, value in state.items() if name in named},
        constants={name: value for name, value in constants.items() if name in named},
    )  # fmt: skip


# ------------------------------------------------------------------ wrong


@wrong("constants and buffers that are not saved are forgotten", "not-folded", clause="state")
def saved_only(ep):
    def state(signature, spec):
        saved = spec.kind == InputKind.PARAMETER or spec.persistent
        return bool(saved) and is_constant_state(signature, spec)

    return folded(ep, state=state)


@wrong("calls without inputs are forgotten", "not-folded", clause="no-inputs")
def with_inputs(ep):
    return folded(ep, plain=lambda node: is_plain(node) and bool(node.all_input_nodes))


@wrong("values that only folded calls read get buffers, too", "wrong-count", clause="read")
def inner_values(ep):
    return folded(ep, is_read=lambda node, values: bool(node.users))


@wrong("only tensors have names", "wrong-name", clause="free")
def tensor_names(ep):
    return folded(ep, taken=lambda new: {*new.state_dict, *new.constants})


@wrong("with the gradient of the weight", "with-gradient", clause="gradient")
def with_gradient(ep):
    return folded(ep, mode=torch.enable_grad, tensor=lambda value: value)


@wrong("after the user inputs", "wrong-place", clause="before")
def after_inputs(ep):
    def before(new, specs):
        return next(node for node in new.graph.nodes if node.op != "placeholder")

    return folded(ep, before=before)


@wrong("a fake mode of its own", "wrong-val", clause="val")
def own_mode(ep):
    mode = FakeTensorMode()
    return folded(ep, val=lambda new, node, value: mode.from_tensor(value.detach()))


@wrong("the tensors stay in the program", "state-stays", clause="leaves")
def tensors_stay(ep):
    return folded(ep, drops_tensors=False)


@wrong("a counter is constant", "folded-too-much", clause="mutated")
def mutated_too(ep):
    return folded(ep, state=lambda signature, spec: spec.kind in STATE)


@wrong("random numbers are drawn once", "folded-too-much", clause="random")
def random_too(ep):
    def plain(node):
        return is_plain(node) or (node.op == "call_function" and is_random(node))

    return folded(ep, plain=plain)


@wrong("assertions about state stay", "not-folded", clause="assertions")
def assertions_stay(ep):
    return folded(ep, plain=lambda node: is_plain(node) and "assert" not in str(node.target))


@wrong("torch.cond runs once", "folded-too-much", clause="cond")
def cond_too(ep):
    def plain(node):
        return node.op == "get_attr" or (node.op == "call_function" and not is_random(node))

    return folded(ep, plain=plain)


@wrong("the signature's outputs have the old names", "wrong-signature", clause="outputs")
def old_outputs(ep):
    return folded(ep, names_outputs=False)


@wrong("a shallow copy", "caller-changed", clause="unchanged")
def shallow(ep):
    return folded(ep, copied=copy.copy)


@wrong("not recompiled", "stale-code", clause="recompiled")
def stale(ep):
    return folded(ep, recompile=False)
