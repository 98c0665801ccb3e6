"""The base of all other packages: values and graphs as plain data, and the operations allowed.

It imports PyTorch and the standard library, and no other package of the course. An `exercise` has
cases, an `outcome` records an answer on one case, and a `verdict` is the judgement of it. The
`codec` writes values as plain data, `graph_record` writes graphs. The `allowlist` lists the
operations that may run; `graph_program` runs a graph of them.
"""
