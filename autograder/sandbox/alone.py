"""A process for one notebook without a box: for macOS and Windows, and where no box can be had.

It can do whatever the user can do who grades. `worker.Unboxed` starts it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile

from autograder.sandbox import ready, student


def main() -> None:
    """Call the grader back, get ready, and work through one notebook."""
    port, token, wanted = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    sys.argv = [""]
    wire = socket.create_connection(("127.0.0.1", port))
    wire.sendall(token.encode())
    started = ready.get_ready(wanted)
    with tempfile.TemporaryDirectory(prefix="fxcourse-", ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        student.serve(*started, wire)
        os.chdir("/")
