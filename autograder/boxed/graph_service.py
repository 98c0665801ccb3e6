"""The process in which a graph that a student's process described comes to life.

It is forked for one submission, holds no expectation, and is thrown away afterwards. What it says
of a graph is a claim like others: somebody may have got hold of it.
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
"""For one job."""

TOO_LONG = {"not admitted": "running it took too long"}


def serve(state: Any, wire: socket.socket) -> None:
    """Do job after job until the judge hangs up."""
    while True:
        try:
            head, blobs = receive(wire)
            send(wire, {"done": "job"}, [_done(head["job"], *blobs)])
        except Broken:
            return


def _done(job: str, builder: bytes, claimed: bytes) -> bytes:
    """What came of a job, as the bytes of an outcome."""
    result = Outcome("")
    trial = trial_for(job, pickle.loads(builder), 0)
    try:
        with time_limit(LIMITS):
            outcome = Outcome.read(io.BytesIO(claimed))
            result.value, result.tensors = do_job(job, trial, outcome.value, outcome.tensors)
    except OutOfTime:
        result.value = TOO_LONG
    except Exception as error:  # whatever is wrong with what was claimed
        result.value = {"not admitted": f"{type(error).__name__}: {error}"[:300]}
    stream = io.BytesIO()
    result.write(stream)
    return stream.getvalue()
