"""Hints of chapter 01, three for each exercise: where to look, what to use, a skeleton."""

from __future__ import annotations

NODE_TABLE = (
    "Take the model of the failing card and draw it. Count the arrows that go into a box and "
    "those that leave it. Two arrows between the same two boxes count once.",
    "Section 1.2 prints a similar table. `node.all_input_nodes` looks into nested arguments; "
    "`node.users` is a dictionary with one key for each reader.",
    """```python
gm = ...
rows = []
for node in gm.graph.nodes:
    inputs = ...    # how many different nodes it reads
    users = ...     # how many nodes read it
    rows.append((node.op, ..., inputs, users))
return rows
```""",
)

IS_FAITHFUL = (
    "The sentence on the card says what differs, or that nothing does. Run the model of the card "
    "and its trace by hand, one after the other, and look at all that a run can touch: what is "
    "returned, the arguments afterwards, the random numbers, the buffers.",
    "You need `copy.deepcopy` for the arguments, `torch.manual_seed` before each of the two runs "
    "(and not before tracing), a note of all buffers and a way to put them back, "
    "`torch.testing.assert_close(..., equal_nan=True)` for tensors, and a small recursive function "
    "of your own for tuples, lists, dictionaries and everything else. `try`/`finally` puts things "
    "back on every way out.",
    """```python
def same(a, b): ...            # tensors; containers, item by item; the rest

def run(module, args):         # from the same start each time
    args = ...                 # a copy
    ...                        # buffers back, seed set
    result = module(*args)
    return ...                 # what is to be compared

try:
    trace = ...
except ...:
    return False
for args in inputs:
    expected = ...             # its errors pass through
    obtained = ...             # its errors mean False
    ...
```""",
)

SIGN_FLIP = (
    "The `if` asks a Proxy for its value. Which operation on tensors chooses between two tensors, "
    "and decides only when it runs?",
    "Section 1.6 rewrites `shrink` in this way. If your answer is traced but differs for some "
    "input, look at how it treats a sum that is zero or NaN, an infinite entry, and a tensor "
    "without dimensions.",
    """```python
condition = ...        # a tensor, not a bool
return ...             # an operation that takes the condition and both results
```""",
)

SPECIALIZE = (
    "Print the graph that `fx.Tracer().trace(fn, concrete_args=constants)` gives for the function "
    "of the card. Which nodes should not be there? Which of them reads which?",
    "`inspect.signature` gives the names and the order of the parameters; for a module, ask "
    "`fn.forward`. Placeholders stand in the order of the parameters, whatever FX calls them. "
    "`graph.erase_node` removes a node without users. `fx.GraphModule(root, graph)` makes the "
    "module; a tracer's `.root` is a suitable root.",
    """```python
names = ...                          # of all parameters
...                                  # a name that is no parameter
tracer = fx.Tracer()
graph = tracer.trace(...)
placeholders = ...
for name, node in zip(names, placeholders):
    if name in constants:
        ...                          # erase the node, its readers first
return fx.GraphModule(tracer.root, graph)
```""",
)
