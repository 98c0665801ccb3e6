"""Validates the messages of untrusted processes about answers and graphs."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from typing import Any

from autograder.core.graph_jobs import JobResult
from autograder.core.outcome import Outcome

_log = logging.getLogger(__name__)


def parse_outcome(blobs: list[bytes], number: int) -> Outcome | None:
    """The outcome that a process claims for the case of a number; ``None`` if it is invalid."""
    try:
        (blob,) = blobs
        outcome = Outcome.read(io.BytesIO(blob))
    except Exception as error:  # a student's process may send any bytes
        _log.debug("An outcome is not sound: %s", repr(error)[:500])
        return None
    return outcome if outcome.case == f"case {number}" else None


def parse_result(job: str, blobs: list[bytes], inputs: int) -> JobResult:
    """The result of a job with a graph, as a process claims it.

    Args:
        job: the job.
        blobs: the bytes of the process.
        inputs: the number of the case's inputs.
    """
    try:
        (blob,) = blobs
        said = Outcome.read(io.BytesIO(blob))
    except Exception as error:  # a student may control that process
        _log.debug("A result is not sound: %s", repr(error)[:500])
        return {"not admitted": "running it gave nothing that can be read"}, []
    found = said.value
    if isinstance(found, dict) and set(found) <= {"not admitted", "not listed"} and found:
        return {key: str(why)[:500] for key, why in found.items()}, []
    if not _VALIDATORS[job](found, inputs):
        return {"not admitted": "running it gave nothing that can be read"}, []
    return found, said.tensors


def _are_records(found: Any, inputs: int) -> bool:
    if type(found) is not list or len(found) != inputs:
        return False
    return all(map(_is_record, found))


def _is_record(row: Any) -> bool:
    if type(row) is not dict or not {"args", "log"} <= set(row):
        return False
    error = row.get("error")
    if error is None:
        return "value" in row
    return type(error) is dict and all(type(error.get(k)) is str for k in ("type", "message"))


def _are_names(found: Any, _: int) -> bool:
    return found is None or (type(found) is list and all(type(name) is str for name in found))


_VALIDATORS: dict[str, Callable[[Any, int], bool]] = {
    "results": _are_records,
    "results of both": _are_records,
    "results on own inputs": _are_records,
    "matches": lambda found, _: type(found) is int,
    "unneeded": _are_names,
}
"""For each job, whether a result has the right form."""
