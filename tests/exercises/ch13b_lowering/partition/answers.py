"""Answers to `partition`."""

from __future__ import annotations

from functools import cache

from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from tests.exercises import right, wrong

CALLS = ("call_function", "call_method", "call_module")

# ------------------------------------------------------------------ parts


def is_ours(node, supported):
    return node.op in CALLS and supported(node)


def flat_inputs(node):
    """The inputs that are direct arguments, not in containers."""
    values = [*node.args, *node.kwargs.values()]
    return [value for value in values if isinstance(value, fx.Node)]


def by_levels(
    gm,
    supported,
    *,
    ours=is_ours,
    inputs=lambda node: node.all_input_nodes,
    step=lambda node, read, taken: node not in taken and read in taken,
    most=lambda levels: max(levels, default=0),
    name=lambda node: node.name,
):
    """The structure of the solution; each step can be replaced."""
    level, taken, sets = {}, set(), {}
    for node in gm.graph.nodes:
        if ours(node, supported):
            taken.add(node)
        level[node] = most([level[read] + step(node, read, taken) for read in inputs(node)])
        if node in taken:
            sets.setdefault(level[node], set()).add(name(node))
    return list(sets.values())


def quotient_is_sound(gm, sets):
    """Whether each set could be one node: all can be removed in topological order."""
    group = {node: node.name for node in gm.graph.nodes}
    for i, names in enumerate(sets):
        group.update({node: i for node in group if node.name in names})
    needs = {each: set() for each in group.values()}
    for node in group:
        needs[group[node]] |= {group[read] for read in node.all_input_nodes} - {group[node]}
    readers = {each: set() for each in needs}
    for each, needed in needs.items():
        for other in needed:
            readers[other].add(each)
    ready = [each for each, needed in needs.items() if not needed]
    done = 0
    while ready:
        each = ready.pop()
        done += 1
        for reader in readers[each]:
            needs[reader].discard(each)
            if not needs[reader]:
                ready.append(reader)
    return done == len(readers)


def first_fit(gm, supported, *, fits=quotient_is_sound, joins=lambda names, node: True):
    sets = []
    for node in gm.graph.nodes:
        if not is_ours(node, supported):
            continue
        for i in range(len(sets)):
            if joins(sets[i], node):
                tried = [*sets]
                tried[i] = sets[i] | {node.name}
                if fits(gm, tried):
                    sets = tried
                    break
        else:
            sets.append({node.name})
    return sets


def connected(names, node):
    return any(other.name in names for other in [*node.all_input_nodes, *node.users])


# ------------------------------------------------------------------ right


@right("levels, counted in one loop")
def levels(gm, supported):
    return by_levels(gm, supported)


@right("the first set in which there is no cycle")
def the_first_that_fits(gm, supported):
    return first_fit(gm, supported)


@right("run in turns, by what is ready", debrief=True)
def in_turns(gm, supported):
    waiting = {node: set(node.all_input_nodes) for node in gm.graph.nodes}
    calls = ("call_function", "call_method", "call_module")
    queues = {True: [], False: []}  # what is ready: for the backend, and for all others

    def put(node):
        queues[bool(node.op in calls and supported(node))].append(node)

    for node, needs in waiting.items():
        if not needs:
            put(node)
    sets = []
    while queues[True] or queues[False]:
        for ours in (False, True):
            names = set()
            while queues[ours]:
                node = queues[ours].pop()
                names.add(node.name)
                for reader in node.users:
                    waiting[reader].discard(node)
                    if not waiting[reader]:
                        put(reader)
            if ours and names:
                sets.append(names)
    return sets


@right("counted from the end")
def from_the_end(gm, supported):
    ours = {node: is_ours(node, supported) for node in gm.graph.nodes}
    later = {}
    for node in reversed(gm.graph.nodes):
        later[node] = 0
        for reader in node.users:
            leaves = 1 if ours[reader] and not ours[node] else 0
            later[node] = max(later[node], later[reader] + leaves)
    found = [(later[node], node.name) for node in ours if ours[node]]
    return [{n for level, n in found if level == k} for k in sorted({level for level, _ in found})]


@right("ancestors as numbers, set after set")
def ancestors(gm, supported):
    """Let a call wait if an unsupported ancestor reads a supported call that is left."""
    nodes = list(gm.graph.nodes)
    bit = {node: 1 << i for i, node in enumerate(nodes)}
    before = {}
    for node in nodes:
        before[node] = 0
        for read in node.all_input_nodes:
            before[node] |= before[read] | bit[read]
    left = {node: bit[node] for node in nodes if is_ours(node, supported)}
    others = [node for node in nodes if node not in left]
    sets = []
    while left:
        blocked = 0
        here = sum(left.values())
        for node in others:
            if before[node] & here:
                blocked |= bit[node]
        now = [node for node in left if not before[node] & blocked]
        sets.append({node.name for node in now})
        for node in now:
            del left[node]
    return sets


@right("raised until nothing changes, with frozen sets")
def raised(gm, supported):
    height = {node: 0 for node in gm.graph.nodes}
    ours = {node for node in gm.graph.nodes if node.op.startswith("call") and supported(node)}
    changed = True
    while changed:
        changed = False
        for node in height:
            for reader in node.users:
                least = height[node] + (node in ours and reader not in ours)
                if height[reader] < least:
                    height[reader], changed = least, True
    found = {}
    for node in ours:
        found.setdefault(height[node], []).append(node.name)
    return [frozenset(names) for names in found.values()]


# ------------------------------------------------------------------ wrong: sets that wait


@wrong("connected components", "cycle", clause="no-cycle")
def components(gm, supported):
    sets = []
    for node in gm.graph.nodes:
        if is_ours(node, supported):
            reads = {read.name for read in node.all_input_nodes}
            near = [names for names in sets if names & reads]
            sets = [names for names in sets if not names & reads]
            sets.append({node.name}.union(*near))
    return sets


@wrong("joined along edges, where the joined set is convex", "cycle", clause="each-other")
def convex_alone(gm, supported):
    sets = [{node.name} for node in gm.graph.nodes if is_ours(node, supported)]
    for node in gm.graph.nodes:
        for reader in node.users:
            pair = [names for names in sets if names & {node.name, reader.name}]
            if len(pair) == 2 and is_ours(node, supported) and is_ours(reader, supported):
                joined = pair[0] | pair[1]
                if quotient_is_sound(gm, [joined]):
                    sets = [names for names in sets if names not in pair] + [joined]
    return sets


@wrong("only detours over one node are seen", "cycle", clause="paths")
def one_node_detours(gm, supported):
    def fits(gm, sets):
        named = {node.name: node for node in gm.graph.nodes}
        for names in sets:
            outside = {u for n in names for u in named[n].users if u.name not in names}
            if any(read in outside for n in names for read in named[n].all_input_nodes):
                return False
        return True

    return first_fit(gm, supported, fits=fits)


@wrong("the shortest path counts", "cycle", clause="paths")
def shortest(gm, supported):
    return by_levels(gm, supported, most=lambda levels: min(levels, default=0))


# ------------------------------------------------------------------ wrong: too many sets


@wrong("runs of neighbours in the order of the graph", "too-many", clause="fewest")
def runs(gm, supported):
    sets, before = [], False
    for node in gm.graph.nodes:
        ours = is_ours(node, supported)
        if ours and not before:
            sets.append(set())
        if ours:
            sets[-1].add(node.name)
        before = ours
    return sets


@wrong("only what is connected is joined", "too-many", clause="unconnected")
def joined_along_edges(gm, supported):
    return first_fit(gm, supported, joins=connected)


@wrong("an input that is supported is left, too", "too-many", clause="not-asked")
def leaves_inputs(gm, supported):
    return by_levels(
        gm,
        supported,
        step=lambda node, read, taken: (
            node not in taken and read.op != "get_attr" and supported(read)
        ),
    )


# ------------------------------------------------------------------ wrong: which nodes


@wrong("inputs are asked for, too", "not-supported", clause="no-other-kinds")
def whatever_it_is(gm, supported):
    return by_levels(
        gm,
        supported,
        ours=lambda node, supported: node.op != "output" and supported(node),
    )


@wrong("PyTorch's partitioner, which moves parts of tuples", "not-supported", clause="no-others")
def upstream_as_it_is(gm, supported):
    class Support(OperatorSupportBase):
        def is_node_supported(self, submodules, node):
            return is_ours(node, supported)

    found = CapabilityBasedPartitioner(gm, Support(), allows_single_node_partition=True)
    return [{node.name for node in part.nodes} for part in found.propose_partitions()]


@wrong("sets of one node are left out", "missing", clause="alone")
def not_alone(gm, supported):
    return [names for names in by_levels(gm, supported) if len(names) > 1]


@wrong("only functions", "missing", clause="all-calls")
def functions_alone(gm, supported):
    return by_levels(
        gm,
        supported,
        ours=lambda node, supported: node.op == "call_function" and supported(node),
    )


@wrong("what nobody reads is left out", "missing", clause="unread")
def only_read(gm, supported):
    return by_levels(
        gm, supported, ours=lambda node, supported: is_ours(node, supported) and len(node.users) > 0
    )


@wrong("asked once a target", "not-supported", clause="each-node")
def by_target(gm, supported):
    """Apply the answer for one call to all calls with the same target."""
    said = {}
    for node in gm.graph.nodes:
        if node.op in CALLS:
            said.setdefault((node.op, node.target), supported(node))
    return by_levels(
        gm, supported, ours=lambda node, supported: said.get((node.op, node.target), False)
    )


# ------------------------------------------------------------------ wrong: how they are read


@wrong("keywords are overlooked", "cycle", clause="keywords")
def positional(gm, supported):
    def inputs(node):
        found = []
        fx.node.map_arg(node.args, found.append)
        return found

    return by_levels(gm, supported, inputs=inputs)


@wrong("lists are overlooked", "cycle", clause="nested")
def not_nested(gm, supported):
    return by_levels(gm, supported, inputs=flat_inputs)


# ------------------------------------------------------------------ wrong: form


@wrong("a call in two sets", "in-two-sets", clause="one-set")
def in_two(gm, supported):
    """Copy members into the next set if that set reads them."""
    found = by_levels(gm, supported)
    named = {node.name: node for node in gm.graph.nodes}
    for names, others in zip(found, found[1:], strict=False):
        others |= {n for n in names if any(user.name in others for user in named[n].users)}
    return found


@wrong("empty sets", "empty-set", clause="not-empty")
def empty_sets(gm, supported):
    found = by_levels(gm, supported)
    return found or [set()]


@wrong("lists in place of sets", "wrong-kind", clause="sets")
def lists(gm, supported):
    return [sorted(names) for names in by_levels(gm, supported)]


@wrong("the nodes themselves", "wrong-kind", clause="names")
def nodes_themselves(gm, supported):
    return by_levels(gm, supported, name=lambda node: node)


@wrong("traced anew", "not-supported", clause="as-it-is")
def traced_anew(gm, supported):
    return by_levels(fx.symbolic_trace(gm), supported)


@wrong("levels are written down in meta", "caller-changed", clause="meta-unchanged")
def written_down(gm, supported):
    found = by_levels(gm, supported)
    for node in gm.graph.nodes:
        for i, names in enumerate(found):
            if node.name in names:
                node.meta["partition"] = i
    return found


@wrong("dead code is removed first", "caller-changed", clause="unchanged")
def cleaned(gm, supported):
    gm.graph.eliminate_dead_code()
    return by_levels(gm, supported)


@wrong("plain recursion, from the end", "crashed", clause="long")
def recursive(gm, supported):
    @cache
    def level(node):
        ours = is_ours(node, supported)
        return max(
            (
                level(read) + (not ours and is_ours(read, supported))
                for read in node.all_input_nodes
            ),
            default=0,
        )

    found = {}
    for node in reversed(gm.graph.nodes):
        if is_ours(node, supported):
            found.setdefault(level(node), set()).add(node.name)
    return list(found.values())


BEYOND = {
    "plain recursion, from the end": "random models are short",
}
