"""The process that runs the graphs that a student's process described.

It is forked for one submission, contains no expected results, and ends after it. The judge does not
trust its results, because a student's graph may have taken control of it.
"""

from __future__ import annotations

import io
import pickle
import socket
from typing import Any

from autograder.boxed import preload
from autograder.core.graph_jobs import do_job, trial_for
from autograder.core.limits import Limits, OutOfTime, time_limit
from autograder.core.outcome import Outcome
from autograder.sandbox.wire import Broken, receive, send

get_ready, configure = preload.get_ready, preload.configure

LIMITS = Limits(cpu=10.0, wall=60.0)
"""Limits of one job."""

TOO_LONG = {"not admitted": "running it took too long"}


def serve(state: Any, wire: socket.socket) -> None:
    """Do jobs until the judge closes the socket."""
    while True:
        try:
            head, blobs = receive(wire)
            send(wire, {"done": "job"}, [_done(head["job"], *blobs)])
        except Broken:
            return


def _done(job: str, builder: bytes, claimed: bytes) -> bytes:
    """Do a job, and return the result as the bytes of an outcome."""
    result = Outcome("")
    trial = trial_for(job, pickle.loads(builder), 0)
    try:
        with time_limit(LIMITS):
            outcome = Outcome.read(io.BytesIO(claimed))
            result.value, result.tensors = do_job(job, trial, outcome.value, outcome.tensors)
    except OutOfTime:
        result.value = TOO_LONG
    except Exception as error:  # the description may be wrong in any way
        result.value = {"not admitted": f"{type(error).__name__}: {error}"[:300]}
    stream = io.BytesIO()
    result.write(stream)
    return stream.getvalue()
