"""A process without a box: for macOS and Windows, and where no box can be had.

It can do whatever the user can do who grades. `client.SubprocessServer` starts it.
"""

from __future__ import annotations

import importlib
import os
import socket
import sys
import tempfile

from autograder.sandbox.wire import receive, send


def main() -> None:
    """Call the client back, get ready, and serve."""
    port, token = int(sys.argv[1]), sys.argv[2]
    sys.argv = [""]
    wire = socket.create_connection(("127.0.0.1", port))
    wire.sendall(token.encode())
    head, blobs = receive(wire)
    entry = importlib.import_module(head["module"])
    state = entry.get_ready(head["config"], blobs)
    say = getattr(entry, "public", None)
    send(wire, {"ready": True}, [say(state) if say else b""])
    if head["more"]:
        entry.configure(state, *receive(wire))
    with tempfile.TemporaryDirectory(prefix="fxcourse-", ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        entry.serve(state, wire)
        os.chdir("/")
