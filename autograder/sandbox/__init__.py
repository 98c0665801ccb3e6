"""The sandbox: runs untrusted code in a forked process, which is connected by a socket.

Other packages use only `client` and `walls`. A `fork_server` has imported the modules that are
needed. For each request it forks a process that enters its own `namespaces`, or gives up access to
files (`landlock`). It sets `resource_limits`, restricts its system calls (`seccomp`), and runs an
entry point. If the user may make control groups (`cgroups`), one contains the whole sandbox. Its
`init_process` ends everything when memory or time is used up, which `usage` measures. Results
arrive over the `wire` as plain data of limited size, and must be validated. `unboxed` runs
processes on machines without a sandbox.

This file imports nothing, because an untrusted process must contain no more than it needs.
"""
