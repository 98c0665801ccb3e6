"""Answers to `lower`."""

from __future__ import annotations

import copy
import operator

import torch
from torch import fx, nn
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from tests.exercises import GRAPH, right, wrong

# ------------------------------------------------------------------ parts


def checked(gm, parts):
    """The number of the set of each node in a set; `ValueError` for wrong names."""
    calls = {node.name: node for node in gm.graph.nodes if node.op.startswith("call_")}
    of = {}
    for i, names in enumerate(parts):
        for name in names:
            if name not in calls:
                raise ValueError(f"{name} is no call node")
            if calls[name] in of:
                raise ValueError(f"{name} is in two sets")
            of[calls[name]] = i
    return of


def unchecked(gm, parts):
    named = {node.name: node for node in gm.graph.nodes}
    return {named[name]: i for i, names in enumerate(parts) for name in names if name in named}


def only_unknown(gm, parts):
    """Find names that are not call nodes, but not names in two sets."""
    calls = {node.name: node for node in gm.graph.nodes if node.op.startswith("call_")}
    if not set().union(*parts) <= calls.keys():
        raise ValueError("no call node")
    return {calls[name]: i for i, names in enumerate(parts) for name in names}


def reads_of(members):
    return list(dict.fromkeys(read for node in members for read in node.all_input_nodes))


def all_values(members, read):
    """Return one value for each node that is read."""
    return [node for node in read if node.op != "get_attr"]


def read_outside(members):
    return [node for node in members if any(user not in members for user in node.users)]


def in_tuple(values):
    return tuple(values)


def shared(gm, graph):
    return fx.GraphModule(gm, graph)


def vals(nodes):
    return tuple(node.meta.get("val") for node in nodes)


def free_name(root, i):
    name = f"compiled_{i}"
    while hasattr(root, name):
        name += "_"
    return name


def with_meta(taken, node):
    taken.meta = dict(node.meta)


def copied(graph, node, values):
    return graph.node_copy(node, values.__getitem__)


def in_rounds(groups, ready):
    """Place all ready groups in rounds, while there are any."""
    while groups:
        left = []
        for members in groups:
            if ready(members):
                yield members
            else:
                left.append(members)
        if len(left) == len(groups):
            raise ValueError("sets wait for one another")
        groups = left


def none_needed(node, of):
    """Whether only sets read an attribute."""
    return bool(node.users) and all(user in of for user in node.users)


def lowered(
    gm,
    parts,
    compile,
    *,
    check=checked,
    reads=reads_of,
    incoming=all_values,
    attributes=lambda node: node.op == "get_attr",
    members_of=lambda members: members,
    outgoing=read_outside,
    result=in_tuple,
    module=shared,
    examples=vals,
    handed=lambda examples: examples,
    name=free_name,
    call=lambda graph, name, values: graph.call_module(name, tuple(values)),
    take=lambda graph, call, i: graph.call_function(operator.getitem, (call, i)),
    meta=with_meta,
    copy_node=copied,
    gone=none_needed,
    order=in_rounds,
    compiled=lambda compile, sub, given: compile(sub, given),
    root_of=lambda gm: fx.GraphModule(gm, copy.deepcopy(gm.graph)),
):
    """Groups in an executable order; each step can be replaced."""
    of = check(gm, parts)
    *nodes, output = gm.graph.nodes
    groups = {}
    for node in nodes:
        if not (node.op == "get_attr" and gone(node, of)):
            groups.setdefault(of.get(node, node), []).append(node)
    root, graph, values = root_of(gm), fx.Graph(), {}

    def needs(members):
        inside = members[0] in of
        return [
            read
            for read in reads(members)
            if read not in members and not (inside and attributes(read))
        ]

    def ready(members):
        return all(read in values for read in needs(members))

    def as_piece(members):
        inside, own, given = fx.Graph(), {}, incoming(members, needs(members))
        for read in given:
            own[read] = inside.placeholder(read.name)
        for read in reads(members):
            if read not in members and attributes(read):
                own[read] = inside.node_copy(read)
        for node in members_of(members):
            own[node] = inside.node_copy(node, own.__getitem__)
        out = outgoing(members)
        inside.output(result(own[node] for node in out))
        sub = module(gm, inside)
        path = name(root, of[members[0]])
        root.add_module(path, compiled(compile, sub, handed(examples(given))))
        called = call(graph, path, [values[read] for read in given])
        for i, node in enumerate(dict.fromkeys(out)):
            values[node] = take(graph, called, i)
            meta(values[node], node)

    for members in order(list(groups.values()), ready):
        if members[0] in of:
            as_piece(members)
        else:
            values[members[0]] = copy_node(graph, members[0], values)
    graph.output(fx.map_arg(output.args[0], values.__getitem__))
    return fx.GraphModule(root, graph)


# ------------------------------------------------------------------ right


@right("groups in rounds, whatever is ready")
def rounds(gm, parts, compile):
    return lowered(gm, parts, compile)


@right("on demand, from the output upwards", debrief=True)
def on_demand(gm, parts, compile):
    calls = {node.name: node for node in gm.graph.nodes if node.op.startswith("call_")}
    home = {}
    for names in parts:
        members = [node for node in gm.graph.nodes if node.name in names]
        if len(members) < len(names) or any(
            home.setdefault(m, members) is not members for m in members
        ):
            raise ValueError(f"{sorted(names)}: a name is unknown, or in two sets")
        if any(name not in calls for name in names):
            raise ValueError(f"{sorted(names)}: not all of them are calls")
    graph, root, done, begun = fx.Graph(), nn.Module(), {}, []

    def attach(path, thing):  # what the graph names, at the same path in the new root
        *way, last = path.split(".")
        place = root
        for step in way:
            if not hasattr(place, step):
                place.add_module(step, nn.Module())
            place = getattr(place, step)
        if not hasattr(place, last):
            setattr(place, last, thing)

    def of(path):
        return operator.attrgetter(path)(gm)

    def need(node):
        if node in done:
            return done[node]
        key = id(home.get(node, node))
        if key in begun:
            raise ValueError("a set waits for itself")
        begun.append(key)
        if node in home:
            take_set(home[node])
        else:
            for read in node.all_input_nodes:
                need(read)
            if node.op in ("get_attr", "call_module"):
                attach(node.target, of(node.target))
            done[node] = graph.node_copy(node, done.__getitem__)
        begun.remove(key)
        return done[node]

    def take_set(members):
        inside, own, given = fx.Graph(), {}, []
        for read in (read for node in members for read in node.all_input_nodes):
            if read in own or read in members:
                continue
            if read.op == "get_attr":
                own[read] = inside.get_attr(read.target)
            else:
                own[read] = inside.placeholder(f"value_{len(given)}")
                given.append(read)
        for node in members:
            own[node] = inside.node_copy(node, own.__getitem__)
        wanted = [node for node in members if set(node.users) - set(members)]
        inside.output(tuple(own[node] for node in wanted))
        arguments = tuple(need(read) for read in given)
        made = compile(fx.GraphModule(gm, inside), tuple(r.meta.get("val") for r in given))
        number = sum(1 for _ in root.children())
        while hasattr(root, f"part{number}") or hasattr(gm, f"part{number}"):
            number += 1
        root.add_module(f"part{number}", made)
        call = graph.call_module(f"part{number}", arguments)
        for i, node in enumerate(wanted):
            done[node] = graph.call_function(operator.getitem, (call, i))
            done[node].meta.update(node.meta)
        for node in members:
            done.setdefault(node, None)

    *nodes, output = gm.graph.nodes
    for node in nodes:
        if node.op == "placeholder":
            need(node)
    for node in nodes:
        if node.op != "get_attr":
            need(node)
    graph.output(fx.map_arg(output.args[0], need))
    return fx.GraphModule(root, graph)


@right("a copy of the graph, edited in place, then sorted")
def in_place(gm, parts, compile):
    graph = copy.deepcopy(gm.graph)
    result = fx.GraphModule(gm, graph)
    named = {node.name: node for node in result.graph.nodes}
    used = set()
    for names in parts:
        for name in names:
            if name in used or name not in named or not named[name].op.startswith("call_"):
                raise ValueError(f"{name!r} cannot be in this set")
            used.add(name)
    for number, names in enumerate(parts):
        members = [node for node in result.graph.nodes if node.name in names]
        inside, table = fx.Graph(), {}
        boundary = []
        for node in members:
            for read in node.all_input_nodes:
                if read.op != "get_attr" and read not in members and read not in boundary:
                    boundary.append(read)
        for read in boundary:
            table[read] = inside.placeholder(f"in_{len(table)}")

        def inner(read, inside=inside, table=table):
            if read not in table:
                table[read] = inside.create_node("get_attr", read.target)
            return table[read]

        for node in members:
            table[node] = inside.node_copy(node, inner)
        leaving = [node for node in members if any(user not in members for user in node.users)]
        inside.output(tuple(table[node] for node in leaving))
        given = tuple(node.meta.get("val") for node in boundary)
        place = f"lowered_part_{number}"
        while hasattr(result, place):
            place = f"_{place}"
        result.add_submodule(place, compile(fx.GraphModule(result, inside), given))
        with result.graph.inserting_before(members[0]):
            call = result.graph.call_module(place, tuple(boundary))
            for i, node in enumerate(leaving):
                value = result.graph.call_function(operator.getitem, (call, i))
                value.meta = node.meta.copy()
                for user in list(node.users):
                    if user not in members:
                        user.replace_input_with(node, value)
        for node in reversed(members):
            result.graph.erase_node(node)
        for node in list(result.graph.nodes):
            if node.op == "get_attr" and not node.users:
                result.graph.erase_node(node)
    missing = {node: len(node.all_input_nodes) for node in result.graph.nodes}
    *_, output = result.graph.nodes
    queue = [node for node, count in missing.items() if not count]
    for node in queue:  # grows during the loop
        output.prepend(node)
        for user in node.users:
            missing[user] -= 1
            if not missing[user] and user is not output:
                queue.append(user)
    if len(queue) < len(missing) - (output.args != () and missing[output] == 0):
        raise ValueError("there is a circle")
    result.delete_all_unused_submodules()
    result.recompile()
    return result


@right("PyTorch's fuse_by_partitions, and what it leaves to do")
def upstream(gm, parts, compile):
    kinds = {node.name: node.op for node in gm.graph.nodes}
    flat = [name for names in parts for name in names]
    if len(flat) != len(set(flat)) or not all(kinds.get(n, "").startswith("call") for n in flat):
        raise ValueError("names")
    prefix = "fused_by_torch_"
    while any(hasattr(gm, f"{prefix}{i}") for i in range(len(parts))):
        prefix += "x"
    new = fx.GraphModule(gm, copy.deepcopy(gm.graph))
    groups = [{n: None for n in new.graph.nodes if n.name in names} for names in parts]
    try:
        fuse_by_partitions(new, groups, prefix, always_return_tuple=True)
    except AssertionError as error:
        raise ValueError("sets wait for themselves or for one another") from error
    for node in list(new.graph.nodes):
        if node.op != "call_module" or not node.target.startswith(prefix):
            continue
        sub = getattr(new, node.target)
        kept = []
        for own, given in zip(sub.graph.find_nodes(op="placeholder"), node.args, strict=True):
            if given.op != "get_attr":
                kept.append(given)
                continue
            *path, _ = given.target.split(".")  # as PyTorch's partitioner does for parameters
            value = operator.attrgetter(given.target)(gm)
            if not path:
                if isinstance(value, nn.Parameter):
                    sub.register_parameter(given.target, value)
                else:
                    sub.register_buffer(given.target, value)
            else:
                sub.add_submodule(path[0], getattr(gm, path[0]))
            with sub.graph.inserting_before(own):
                again = sub.graph.get_attr(given.target)
            own.replace_all_uses_with(again)
            sub.graph.erase_node(own)
        node.args = tuple(kept)
        sub.recompile()
        setattr(new, node.target, compile(sub, tuple(n.meta.get("val") for n in kept)))
    for node in list(new.graph.nodes):
        if node.op == "get_attr" and not node.users:
            new.graph.erase_node(node)
    return fx.GraphModule(new, new.graph)


@right("segments, recorded by an Interpreter on Proxies")
def retraced(gm, parts, compile):
    """Put the nodes of each set next to each other, then run each segment on Proxies."""
    number = {}
    for i, names in enumerate(parts):
        for name in names:
            if number.setdefault(name, i) != i:
                raise ValueError(f"{name} twice")
    nodes = list(gm.graph.nodes)
    unknown = number.keys() - {node.name for node in nodes if "call" in node.op}
    if unknown:
        raise ValueError(f"no calls: {unknown}")
    key = {node: number.get(node.name, node) for node in nodes}
    # The depth of a group is one more than the largest depth of the groups that it reads.
    depth = dict.fromkeys(key.values(), 0)
    for _ in range(len(depth) + 1):
        before = dict(depth)
        for node in nodes:
            for read in node.all_input_nodes:
                if key[read] != key[node]:
                    depth[key[node]] = max(depth[key[node]], depth[key[read]] + 1)
        if depth == before:
            break
    else:
        raise ValueError("the depths grow without end")
    place = {k: i for i, k in enumerate(dict.fromkeys(key[node] for node in nodes))}
    first = [node for node in nodes if node.op == "placeholder"]
    rest = [node for node in nodes if node.op not in ("placeholder", "output")]
    rest.sort(key=lambda node: (depth[key[node]], place[key[node]]))
    holder = fx.GraphModule(gm, copy.deepcopy(gm.graph))
    runner = fx.Interpreter(gm)
    outer = fx.Graph()
    outer_tracer = fx.proxy.GraphAppendingTracer(outer)
    env = {}

    def record(node, graph, tracer, env):
        if node.op in ("get_attr", "placeholder"):
            env[node] = fx.Proxy(graph.node_copy(node), tracer)
            return
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: env[n])
        if node.op == "call_module":
            env[node] = tracer.create_proxy("call_module", node.target, args, kwargs)
        else:
            env[node] = getattr(runner, node.op)(node.target, args, kwargs)
            if not isinstance(env[node], fx.Proxy):
                raise TypeError("not recorded")
            if isinstance(env[node], fx.proxy.Attribute):
                env[node].node  # noqa: B018 - attributes are recorded when somebody asks

    def outside(node):
        record(node, outer, outer_tracer, env)
        env[node].node.meta = copy.copy(node.meta)

    def a_set(k, members):
        graph = fx.Graph()
        tracer, own, given = fx.proxy.GraphAppendingTracer(graph), {}, []
        for node in members:
            for read in node.all_input_nodes:
                if key[read] == k or read in own:
                    continue
                if read.op == "get_attr":
                    record(read, graph, tracer, own)
                else:
                    given.append(read)
                    own[read] = fx.Proxy(graph.placeholder(f"a{len(given)}"), tracer)
            record(node, graph, tracer, own)
        out = [node for node in members if any(key[user] != k for user in node.users)]
        graph.output(tuple(own[node].node for node in out))
        path = f"step{k}"
        while hasattr(holder, path):
            path += "s"
        compiled = compile(fx.GraphModule(gm, graph), tuple([n.meta.get("val") for n in given]))
        holder.add_module(path, compiled)
        call = outer_tracer.create_proxy("call_module", path, tuple(env[n] for n in given), {})
        for i, node in enumerate(out):
            env[node] = call[i]
            env[node].node.meta = copy.copy(node.meta)

    for node in first:
        outside(node)
    while rest:
        k = key[rest[0]]
        members = [node for node in rest if key[node] == k]
        rest = rest[len(members) :]
        if k in range(len(parts)):
            a_set(k, sorted(members, key=nodes.index))
        elif members[0].op != "get_attr" or any(key[u] is u for u in members[0].users):
            outside(members[0])
    outer.output(fx.map_arg(nodes[-1].args[0], lambda n: env[n].node))
    return fx.GraphModule(holder, outer)


# ------------------------------------------------------------------ wrong: calls of compile


@wrong("what was given to compile is called", "compiled-count", clause="of-compiled")
def calls_sub(gm, parts, compile):
    def compiled(compile, sub, given):
        compile(sub, given)
        return sub

    return lowered(gm, parts, compile, compiled=compiled)


@wrong("compiled twice, to see whether it works", "compile-count", clause="once-a-set")
def compiled_twice(gm, parts, compile):
    def compiled(compile, sub, given):
        compile(sub, given)
        return compile(sub, given)

    return lowered(gm, parts, compile, compiled=compiled)


@wrong("a graph in place of a module", "piece-kind", clause="graph-module")
def graphs(gm, parts, compile):
    def compiled(compile, sub, given):
        compile(sub.graph, given)
        return sub

    return lowered(gm, parts, compile, compiled=compiled)


@wrong("one value comes by itself", "no-tuple", clause="tuple")
def bare_value(gm, parts, compile):
    def result(values):
        values = tuple(values)
        return values[0] if len(values) == 1 else values

    return lowered(gm, parts, compile, result=result)


# ------------------------------------------------------------------ wrong: calls in the result


@wrong("a call for each value that is read", "compiled-count", clause="called-once")
def a_call_for_each(gm, parts, compile):
    def take(graph, called, i):
        again = graph.call_module(called.target, called.args) if i else called
        return graph.call_function(operator.getitem, (again, i))

    return lowered(gm, parts, compile, take=take)


@wrong("a layer of that name is overwritten", "name-taken", clause="no-overwriting")
def overwritten(gm, parts, compile):
    def name(root, i):
        if isinstance(getattr(root, f"fused_{i}", None), nn.Parameter):
            return free_name(root, i)
        return f"fused_{i}"

    return lowered(gm, parts, compile, name=name)


# ------------------------------------------------------------------ wrong: what comes in


@wrong("parameters come in, too", "attribute-crosses", clause="inside")
def parameters_in(gm, parts, compile):
    return lowered(
        gm, parts, compile, attributes=lambda node: False,
        incoming=lambda members, read: read, gone=lambda node, of: False,
    )  # fmt: skip


@wrong("a placeholder for each reader", "comes-in-twice", clause="inputs-once")
def once_a_reader(gm, parts, compile):
    def call(graph, name, values):
        return graph.call_module(name, (*values, *values[:1]))

    def module(gm, graph):
        readers = [node for node in graph.nodes if node.op.startswith("call_")]
        inputs = [node for node in graph.nodes if node.op == "placeholder"]
        if inputs:
            with graph.inserting_after(inputs[-1]):
                again = graph.placeholder("again")
            users = [node for node in readers if inputs[0] in node.all_input_nodes]
            if len(users) > 1:
                users[-1].replace_input_with(inputs[0], again)
        return fx.GraphModule(gm, graph)

    def examples(nodes):
        found = vals(nodes)
        return (*found, *found[:1])

    return lowered(gm, parts, compile, call=call, module=module, examples=examples)


@wrong("all inputs of the graph come in", "unread-input", clause="none-unread")
def all_inputs(gm, parts, compile):
    inputs = [node for node in gm.graph.nodes if node.op == "placeholder"]

    def incoming(members, read):
        return list(dict.fromkeys([*all_values(members, read), *inputs]))

    return lowered(gm, parts, compile, incoming=incoming)


@wrong("keywords are overlooked", "crashed", clause="all-incoming")
def positional(gm, parts, compile):
    def reads(members):
        found = []
        for node in members:
            fx.map_arg(node.args, found.append)
        return list(dict.fromkeys(found))

    return lowered(gm, parts, compile, reads=lambda m: reads(m) if len(m) > 1 else reads_of(m))


@wrong("values come in another order than they are given", "reads-otherwise", clause="in-order")
def other_order(gm, parts, compile):
    def call(graph, name, values):
        return graph.call_module(name, tuple(reversed(values)))

    return lowered(gm, parts, compile, call=call)


# ------------------------------------------------------------------ wrong: what is computed


@wrong("what nobody reads is not computed", "node-missing", clause="computes")
def only_needed(gm, parts, compile):
    def members_of(members):
        return [node for node in members if node.users]

    return lowered(gm, parts, compile, members_of=members_of)


@wrong("each graph computes one value more", "wrong-place", clause="nothing-else-computed")
def one_more(gm, parts, compile):
    """Also compute the negation of the first returned value in each graph."""

    def module(gm, graph):
        (output,) = graph.find_nodes(op="output")
        if output.args[0]:
            with graph.inserting_before(output):
                graph.call_function(torch.neg, (output.args[0][0],))
        return fx.GraphModule(gm, graph)

    return lowered(gm, parts, compile, module=module)


@wrong("the set is computed outside as well", "wrong-place", clause="others-as-they-are")
def left_behind(gm, parts, compile):
    new = lowered(gm, parts, compile)
    of = unchecked(gm, parts)
    place = next(iter(new.graph.nodes))
    first = next((node for node in of if not any(r in of for r in node.all_input_nodes)), None)
    if first is not None and all(r.op == "placeholder" for r in first.all_input_nodes):
        inputs = {node.target: node for node in new.graph.nodes if node.op == "placeholder"}
        place = list(inputs.values())[-1]
        with new.graph.inserting_after(place):
            new.graph.node_copy(first, lambda read: inputs[read.target])
        new.recompile()
    return new


# ------------------------------------------------------------------ wrong: what goes out


@wrong("all values go out", "goes-out-too-much", clause="nothing-else-out")
def all_values_out(gm, parts, compile):
    return lowered(gm, parts, compile, outgoing=lambda members: members)


@wrong("a value for each reader", "goes-out-too-much", clause="each-out-once")
def out_for_each_reader(gm, parts, compile):
    def outgoing(members):
        found = []
        for node in members:
            found += [node for user in node.users if user not in members]
        return sorted(found, key=members.index) if len(found) > 2 else read_outside(members)

    def take(graph, call, i):
        return graph.call_function(operator.getitem, (call, i))

    new = lowered(gm, parts, lambda sub, given: compile(sub, given), outgoing=outgoing, take=take)
    return new


@wrong("the output is no reader", "crashed", clause="read-outside")
def output_is_no_reader(gm, parts, compile):
    def outgoing(members):
        def outside(user):
            return user not in members and user.op != "output"

        return [node for node in members if any(map(outside, node.users))]

    return lowered(gm, parts, compile, outgoing=outgoing)


@wrong("the wrong item is taken out", "reads-otherwise", clause="getitem")
def wrong_item(gm, parts, compile):
    def outgoing(members):
        return list(reversed(read_outside(members)))

    new = lowered(gm, parts, compile, outgoing=outgoing)
    for node in new.graph.nodes:
        if node.target is operator.getitem and node.args[0].op == "call_module":
            count = len([u for u in node.args[0].users if u.target is operator.getitem])
            node.args = (node.args[0], count - 1 - node.args[1])
    new.recompile()
    return new


# ------------------------------------------------------------------ wrong: examples


@wrong("a list of examples", "examples-kind", clause="examples-tuple")
def list_of_examples(gm, parts, compile):
    return lowered(gm, parts, compile, handed=list)


@wrong("only examples that there are", "wrong-examples", clause="examples-none")
def without_none(gm, parts, compile):
    def examples(nodes):
        return tuple(node.meta["val"] for node in nodes if "val" in node.meta)

    return lowered(gm, parts, compile, examples=examples)


@wrong("examples in the order of the graph", "wrong-examples", clause="examples-in-order")
def sorted_examples(gm, parts, compile):
    place = {node: i for i, node in enumerate(gm.graph.nodes)}

    def examples(nodes):
        return vals(sorted(nodes, key=place.__getitem__))

    return lowered(gm, parts, compile, examples=examples)


@wrong("the nodes are the examples", "wrong-examples", clause="examples")
def nodes_as_examples(gm, parts, compile):
    return lowered(gm, parts, compile, examples=tuple)


# ------------------------------------------------------------------ wrong: attributes


@wrong("parameters are copied", "not-shared", clause="shared")
def copied_parameters(gm, parts, compile):
    return lowered(
        gm, parts, compile, module=lambda gm, graph: copy.deepcopy(fx.GraphModule(gm, graph))
    )


@wrong("get_attr nodes stay outside", "attribute-left", clause="gone-outside")
def attributes_stay(gm, parts, compile):
    return lowered(gm, parts, compile, gone=lambda node, of: False)


@wrong("get_attr nodes are gone that are still read", "crashed", clause="read-outside-stays")
def attributes_gone(gm, parts, compile):
    return lowered(
        gm, parts, compile, gone=lambda node, of: any(user in of for user in node.users)
    )  # fmt: skip


@wrong("parameters are written down as constants", "raw-tensor", clause="common.no-raw-tensor")
def constants(gm, parts, compile):
    def module(gm, graph):
        for node in list(graph.nodes):
            if node.op == "get_attr":
                value = operator.attrgetter(node.target)(gm).detach()
                for user in list(node.users):
                    user.args = fx.map_arg(user.args, lambda n, v=value, a=node: v if n is a else n)
                graph.erase_node(node)
        sub = fx.GraphModule(gm, graph)
        return sub

    return lowered(gm, parts, compile, module=module)


# ------------------------------------------------------------------ wrong: meta and signature


@wrong("getitem nodes carry nothing", "meta-lost", clause="getitem-meta")
def bare_getitem(gm, parts, compile):
    return lowered(gm, parts, compile, meta=lambda taken, node: None)


@wrong("other nodes lose their meta", "meta-lost", clause="meta")
def no_meta(gm, parts, compile):
    def copy_node(graph, node, values):
        new = graph.node_copy(node, values.__getitem__)
        new.meta = {}
        return new

    return lowered(gm, parts, compile, copy_node=copy_node)


@wrong("defaults are lost", "lost-signature", clause="signature")
def no_defaults(gm, parts, compile):
    def copy_node(graph, node, values):
        new = graph.node_copy(node, values.__getitem__)
        if node.op == "placeholder":
            new.args = ()
        return new

    return lowered(gm, parts, compile, copy_node=copy_node)


# ------------------------------------------------------------------ wrong: order


def at_member(which):
    """Insert the call at the position of one of the members."""

    def order(groups, ready):
        place = {}
        for members in groups:
            place[id(members)] = members[which]
        nodes = [node for members in groups for node in members]
        if not nodes:
            return
        rank = {node: i for i, node in enumerate(nodes[0].graph.nodes)}
        yield from sorted(groups, key=lambda members: rank[place[id(members)]])

    return order


@wrong("at the place of the first member", "crashed", clause="in-time")
def at_the_first(gm, parts, compile):
    return lowered(gm, parts, compile, order=at_member(0))


# ------------------------------------------------------------------ wrong: what is refused


@wrong("circles are not found", "crashed", clause="waits-for-itself")
def no_cycles(gm, parts, compile):
    return lowered(gm, parts, compile, order=at_member(-1))


def waits_for_itself(gm, names):
    """Whether a path leaves a set and returns to it."""
    members = {node for node in gm.graph.nodes if node.name in names}
    todo = [user for node in members for user in node.users if user not in members]
    seen = set()
    while todo:
        node = todo.pop()
        if node in members:
            return True
        if node not in seen:
            seen.add(node)
            todo += node.users
    return False


def stubborn(groups, ready):
    """Place groups in rounds, and drop groups that are left in the end."""
    while groups:
        left = []
        for members in groups:
            if ready(members):
                yield members
            else:
                left.append(members)
        if len(left) == len(groups):
            return
        groups = left


@wrong("each set is looked at alone", "wrong-exception", clause="wait-for-one-another")
def alone(gm, parts, compile):
    if any(waits_for_itself(gm, names) for names in parts):
        raise ValueError("a set waits for itself")
    return lowered(gm, parts, compile, order=stubborn)


@wrong("a name in two sets", "should-raise", clause="two-sets")
def twice(gm, parts, compile):
    return lowered(gm, parts, compile, check=only_unknown)


@wrong("unknown names are skipped", "should-raise", clause="no-call")
def unknown_skipped(gm, parts, compile):
    def check(gm, parts):
        if sum(map(len, parts)) > len(set().union(*parts)):
            raise ValueError("in two sets")
        calls = {node.name: node for node in gm.graph.nodes if node.op.startswith("call_")}
        return {calls[n]: i for i, names in enumerate(parts) for n in names if n in calls}

    return lowered(gm, parts, compile, check=check)


# ------------------------------------------------------------------ wrong: form


@wrong("without sets, the module itself", "not-new", clause="no-sets")
def itself(gm, parts, compile):
    return lowered(gm, parts, compile) if parts else gm


@wrong("traced anew", "crashed", clause="as-it-is")
def traced_anew(gm, parts, compile):
    return lowered(fx.symbolic_trace(gm), parts, compile)


@wrong("the given module gets what is compiled", "caller-changed", clause="unchanged")
def into_the_given(gm, parts, compile):
    return lowered(gm, parts, compile, root_of=lambda gm: gm)


@wrong("a set's number is written down in meta", "caller-changed", clause="meta-unchanged")
def written_down(gm, parts, compile):
    for node, i in checked(gm, parts).items():
        node.meta["set"] = i
    return lowered(gm, parts, compile)


@wrong("recompile is forgotten", "stale-code", clause="common.recompiled")
def stale(gm, parts, compile):
    new = lowered(gm, parts, compile)
    for node in new.graph.nodes:
        if node.op == "call_module":
            node.target = str(node.target)
    (output,) = new.graph.find_nodes(op="output")
    code = new.code
    kept, output.args = output.args, (None,)
    new.recompile()
    output.args = kept
    assert new.code != code
    return new


NAMES = "random models have no layers or parameters of such names"
REFUSED = "the sets of random models can be lowered"
BEYOND = {
    "a layer of that name is overwritten": NAMES,
    "get_attr nodes are gone that are still read": "random models read each parameter once",
    "each set is looked at alone": REFUSED,
    "a name in two sets": REFUSED,
    "unknown names are skipped": REFUSED,
}


DECIDES_NOTHING = [
    (
        r"value\.graph_module\.modules\[\](\..*origin|\.(params|buffers|same_as)(\..*)?)?",
        "what was compiled is described where it was given to the compiler",
    ),
    (
        GRAPH + r"modules\[\]\.(origin|buffers\..*origin|params\.(weight|bias)\.origin)",
        "of what is called, or is no parameter, a copy will do",
    ),
]
"""Places in an outcome that decide no points, and why."""


ASKS_FOR_ORIGINS = "parts of the result must be the very parts of what was given"
