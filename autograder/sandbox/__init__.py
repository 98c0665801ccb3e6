"""The box in which code runs that nobody trusts: a forked process behind walls, and a wire to it.

`client` is the only part that is used from outside. Behind it, a `fork_server` has imported what is
needed; for each request it forks a process that raises `walls` around itself, takes `bounds` upon
itself, lets the kernel refuse `calls`, and runs an entry point that it is told by name. Where one
can be made, a control group (`cgroups`) holds it all. A `keeper` inside the walls ends everything
when memory or time is used up. What comes out crosses `frames`, and is a claim: plain data, read
with limits. `unboxed` stands in where there is no box.

Nothing is imported here: the forked side must hold no more than it needs.
"""
