"""The ground that all other rooms stand on: plain data, and what a graph may hold and do.

It imports PyTorch and the standard library, and no other room. An `exercise` has cases; what came
of an answer is an `outcome`, and what is said of it a `verdict`. The `codec` writes values as plain
data, `graph_record` a graph. The `allowlist` says what of it may run; `graph_program` runs it.
"""
