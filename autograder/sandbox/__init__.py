"""The box in which code runs that nobody trusts: a forked process of its own, and a wire to it.

`client` is the only part that is used from outside. Behind it, a `fork_server` has imported what is
needed; for each request it forks a process that moves into `namespaces` of its own, puts
`resource_limits` on itself, has the kernel refuse system calls (`seccomp`), and runs an entry point
that it is told by name. Where one can be made, a control group (`cgroups`) holds it all. The box's
`init_process` ends everything when memory or time is used up (`usage` counts). What comes out
crosses the `wire`, and is a claim: plain data, read with limits. `unboxed` takes its place where
there is no box.

Nothing is imported here: the forked side must hold no more than it needs.
"""
