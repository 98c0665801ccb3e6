"""Chapter 06: the hints, from where to look to a skeleton; never the solution."""

from __future__ import annotations

SWAP = (
    "Section 6.2 overrides one handler. You need two of them: functions and methods reach "
    "different handlers. What does an interpreter do with a node that your handler does not "
    "treat?",
    "`target` is the function itself in `call_function`, and the method's name in `call_method`. "
    "There, `args[0]` is the object whose method is called. "
    "`super().call_function(...)` does what an `Interpreter` always does, with any target that "
    "you hand it.",
    "```python\n"
    "def call_function(self, target, args, kwargs):\n"
    "    if target is torch.neg:\n"
    "        ...\n"
    "    elif ...:\n"
    "        ...\n"
    "    return ...  # for every target\n"
    "```",
)

RECORD_SHAPES = (
    "Two parts: a function that turns one value into its shape, and an interpreter that calls it "
    "for every node. Section 6.3 names the method that sees the value of every node.",
    "The function calls itself for what is inside a list, a tuple or a dictionary. "
    "Ask with `isinstance`, because the lists in an output are of a class of FX's own. "
    "`tuple(value.shape)` is the shape of a tensor.",
    "```python\n"
    "def shape_of(value):\n"
    "    if isinstance(value, torch.Tensor):\n"
    "        return ...\n"
    "    ...  # a list, a tuple, a dictionary; anything else\n\n"
    "class Recorder(fx.Interpreter):\n"
    "    def run_node(self, n):\n"
    "        value = ...\n"
    "        shapes[n.name] = ...\n"
    "        return ...\n"
    "```",
)

OP_TIMER = (
    "`run_node` knows the node, and with it the name and the opcode. "
    "Read the clock before and after what the method of the base class does.",
    "`time.perf_counter()` is the clock for this. What stands after the operation in your method "
    "is not reached when the operation raises, unless you put it into a `finally`. "
    "`sorted(names, key=..., reverse=True)` sorts.",
    "```python\n"
    "def run_node(self, n):\n"
    "    if ...:  # a placeholder, a get_attr or the output\n"
    "        return super().run_node(n)\n"
    "    start = ...\n"
    "    value = ...\n"
    "    ...  # add to seconds and to calls, under the node's name\n"
    "    return value\n"
    "```",
)

FIRST_NONFINITE = (
    "Nodes run in order, and every value that a node reads was computed before. "
    "So what can you say about the values that come before the *first* one that is not finite?",
    "`torch.isfinite(tensor).all()` works for every dtype; `math.isfinite` is for Python floats. "
    "You need the same walk into lists, tuples and dictionaries as in `record_shapes`.",
    "```python\n"
    "def is_finite(value):\n"
    "    ...  # a tensor, a float, a container; anything else is finite\n\n"
    "class Finder(fx.Interpreter):\n"
    "    found = None\n\n"
    "    def run_node(self, n):\n"
    "        value = ...\n"
    "        if self.found is None and ...:\n"
    "            self.found = ...\n"
    "        return value\n"
    "```",
)

COUNT_FLOPS = (
    "In a product of an *n* by *k* matrix and a *k* by *m* matrix, each of the *n · m* results "
    "needs *k* multiplications and *k* additions. Linear layers and convolutions are the same "
    "thing: count the results, and ask how many inputs go into each.",
    "Each number in the result costs two operations for each weight that belongs to *one* output "
    "channel: `2 * result.numel() * weight[0].numel()` holds for linear layers and for "
    "convolutions, with groups too. (Why?) "
    "For a product of matrices the inner size is the last one of the left operand. "
    "Section 6.6 shows how to get arguments that may come by keyword.",
    "```python\n"
    "class Counter(fx.Interpreter):\n"
    "    total = 0\n\n"
    "    def call_function(self, target, args, kwargs):\n"
    "        result = super().call_function(target, args, kwargs)\n"
    "        if target in ...:    # linear and convolutions: the weight is args[1] or a keyword\n"
    "            ...\n"
    "        elif target in ...:  # products: the left operand is args[0] or a keyword\n"
    "            ...\n"
    "        return result\n\n"
    "    ...  # methods; modules\n"
    "```",
)

ADD_TO_MUL = (
    "Two tasks. The exchange is the one of chapter 3, but here each addition passes through a "
    "handler. For the `meta`, find the one method through which every node passes.",
    "In a `Transformer` the value of a node is a `Proxy`, and `proxy.node` is the new node. "
    "`run_node` returns that Proxy, and the node that it was made from is its argument. "
    "One opcode makes no new node: look up what `output` returns.",
    "```python\n"
    "def run_node(self, n):\n"
    "    result = super().run_node(n)\n"
    "    if ...:  # this result is a node made for n\n"
    "        result.node.meta.update(...)\n"
    "    return result\n"
    "```",
)
