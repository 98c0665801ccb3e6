"""Chapter 02: the hints, from where to look to a skeleton; never the solution."""

from __future__ import annotations

COUNT_OPS = (
    "Section 2.1 shows a loop over the nodes of a graph. The worked example `readers` counts in "
    "the same way that you need, and its keys are always there.",
    "`fx.symbolic_trace(model).graph.nodes` are the nodes, `node.op` is the opcode. "
    "`dict.fromkeys(names, 0)` makes a dictionary in which every count is zero.",
    "```python\n"
    "counts = ...  # all six opcodes, each with the count 0\n"
    "for node in ...:\n"
    "    ...  # one more of this node's opcode\n"
    "return counts\n"
    "```",
)

INPUTS_OF = (
    "Section 2.2 lists the four containers in which a node can stand. "
    "`numbers_of` looks into two of them.",
    "`isinstance` tells a node, a tuple or list, a dictionary and a slice apart. "
    "A slice has `.start`, `.stop` and `.step`. "
    "The keys of a dictionary keep the order in which they were first put in, and each is there "
    "once.",
    "```python\n"
    "found = {}\n\n"
    "def visit(value):\n"
    "    if isinstance(value, fx.Node):\n"
    "        ...\n"
    "    elif ...:  # a container: visit what is in it\n"
    "        ...\n\n"
    "visit(node.args)\n"
    "...\n"
    "return list(found)\n"
    "```",
)

BUILD_BY_HAND = (
    "Write the formula as a list of steps, one operation a step, and decide for each of them: "
    "function, method or module? The graph of the model in the picture has the same nine nodes.",
    "The table of section 2.4 has a method for each kind of node. "
    "`placeholder` takes `default_value`. "
    "The root of `fx.GraphModule(root, graph)` may be a dictionary; a tensor in it becomes a "
    "buffer.",
    "```python\n"
    "graph = fx.Graph()\n"
    'x = graph.placeholder("x")\n'
    "scale = ...\n"
    'projected = graph.call_module("proj", (x,))\n'
    "...  # multiply, add what get_attr reads, ReLU, sum\n"
    "graph.output(...)\n"
    "return fx.GraphModule(..., graph)\n"
    "```",
)

DEAD_NODES = (
    "A node is alive if it is the output, or if a node that is alive reads it. "
    "The worked example of section 2.5 walks from the inputs; you need the other direction.",
    "`reversed(graph.nodes)` goes backward. When you meet a node there, you have met all its "
    "`users` already.",
    "```python\n"
    "alive = set()\n"
    "for node in reversed(graph.nodes):\n"
    "    if ...:  # the output, or read by something alive\n"
    "        alive.add(node)\n"
    "return [...]  # in graph order again: not alive, and no placeholder\n"
    "```",
)

WELLFORMED = (
    "Take the codes one after the other: each is a few lines, and none needs `lint`. "
    "Section 2.7 breaks one model in each of these ways. "
    "To visit arguments, you have written the right walk in `inputs_of`; here it must give "
    "tensors, too.",
    "`set(gm.graph.nodes)` are the nodes that belong here; an erased node is not in it. "
    '`gm.graph.python_code("self").src` is the code that the graph generates now. '
    "`gm.modules()` gives every module, and `module._modules`, `module._parameters` and "
    "`module._buffers` are dictionaries. "
    'Follow a target part by part, `target.split(".")`, with `hasattr` and `getattr`.',
    "```python\n"
    "found = set()\n"
    "nodes = list(gm.graph.nodes)\n"
    "defined = set()\n"
    "for node in nodes:\n"
    "    for value in ...:  # everything in node.args and node.kwargs, nested\n"
    "        ...  # a tensor? a node that is not ours? one that is not defined yet?\n"
    "    ...  # its users; its target\n"
    "    defined.add(node)\n"
    "...  # the outputs; the code; the keys of each module\n"
    "return sorted(found)\n"
    "```",
)
