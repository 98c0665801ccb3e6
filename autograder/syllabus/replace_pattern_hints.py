"""Chapter 04: the hints, from where to look to a skeleton; never the solution."""

from __future__ import annotations

COUNT_MATCHES = (
    "`replace_pattern` returns a list with one entry for each place that it rewrote. "
    "But it works on the module that you hand it, so hand it one of your own.",
    "It needs a replacement, and you want none. Which replacement has the same parameters and the "
    "same number of results as any pattern there is?",
    "```python\n"
    "gm = ...  # a graph that nobody else uses\n"
    "matches = fx.replace_pattern(gm, pattern, ...)\n"
    "return ...\n"
    "```",
)

TO_HARDSWISH = (
    "Section 4.3 rewrites one operation in several forms: one pattern for each form. "
    "How many forms are there here? Two orders, and two numbers that are an int or a float each.",
    "A function inside a function may read the variables around it: "
    "`def pattern(x): return x + three` records the number that `three` stands for while it is "
    "traced. So you can make patterns in a loop.",
    "`F.hardswish` has a second parameter, `inplace`. As a replacement you need a function with "
    "one parameter that calls it.",
    "```python\n"
    "def patterns(three, six):\n"
    "    def gate_last(x):\n"
    "        ...\n\n"
    "    def gate_first(x):\n"
    "        ...\n\n"
    "    return gate_last, gate_first\n\n"
    "gm = fx.symbolic_trace(model)\n"
    "for three in ...:\n"
    "    for six in ...:\n"
    "        for pattern in patterns(three, six):\n"
    "            ...\n"
    "return gm\n"
    "```",
)

REPLACE_UNTIL_DONE = (
    "Section 4.4 has a loop that ends when a round makes no replacement. "
    "Yours needs a bound, a sum, and a graph of its own.",
    "With `limit=3`, three rounds may rewrite something. "
    "Only a fourth round can tell you whether the pattern still matches.",
    "```python\n"
    "gm = ...\n"
    "count = 0\n"
    "for _ in range(...):\n"
    "    matches = fx.replace_pattern(gm, pattern, replacement)\n"
    "    if not matches:\n"
    "        return ...\n"
    "    count += ...\n"
    'raise RuntimeError("...")\n'
    "```",
)

FUSE_ADDCMUL = (
    "A pattern for every form would be a long list: two spellings of each operation, two sides, "
    "the same value twice, keywords. A loop over the nodes with conditions of your own is shorter.",
    "Start at the addition. Its two operands are `terms`. One of them must be a product. "
    "Write a small function that gives the two operands of a call, positional or keyword, "
    "and nothing if the call has other arguments such as `alpha` or `out`.",
    "The product may have one reader only: `len(product.users) == 1`. "
    "But `users` lists a reader once, even if it reads twice: think of `p + p`.",
    "Does a node hold a tensor? Extend `is_size` of section 4.5. Numbers come from methods "
    "(`size`, `dim`, `numel`, `item`), from attributes (`shape`, `ndim`), from parameters with "
    "a number as default, and from arithmetic in which everything is a number.",
    "```python\n"
    "for node in list(gm.graph.nodes):\n"
    "    terms = operands(node, (operator.add, torch.add))\n"
    "    if ...:  # no plain sum of two tensors\n"
    "        continue\n"
    "    for product, other in (terms, terms[::-1]):\n"
    "        factors = operands(product, (operator.mul, torch.mul))\n"
    "        if ...:\n"
    "            ...  # insert the call, rewire, erase the sum, erase the product\n"
    "            break\n"
    "```",
)

FUSE_LINEAR_RELU = (
    "The worked example of section 4.6 has the same steps: a module found by its type, its only "
    "reader, a new module under a name of its own, two nodes erased.",
    "`len(node.users) == 1` and then `(reader,) = node.users`. "
    "A ReLU can be a `call_module`, a `call_function` or a `call_method` node.",
    "Never put the new module in the place of the old one: another call may need the old one. "
    "Look for a name that the module does not have yet; some names are taken.",
    "```python\n"
    "for node in list(gm.graph.nodes):\n"
    "    if ...:  # not a call of an nn.Linear, or more than one reader\n"
    "        continue\n"
    "    (reader,) = node.users\n"
    "    if not is_relu(reader):\n"
    "        continue\n"
    "    name = ...\n"
    "    gm.add_submodule(name, LinearReLU(...))\n"
    "    ...  # a call of it with the arguments of `node`; rewire; erase\n"
    "```",
)
