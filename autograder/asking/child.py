"""The process that makes questions: ``python -m autograder.asking.child``.

It imports the course, reads requests as lines of JSON, and answers each with a line. Each request
is served by a fork of its own, so that no changed code meets the next answer. If a process
cannot fork, it serves one request and ends.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from contextlib import suppress
from typing import IO, Any

_LOST = "The questions took too long, or your code ended Python."

LONGEST = 120.0
"""Seconds after which a fork is ended, if the limits of its code did not end it."""


def main() -> None:
    """Serve requests until there are no more.

    Everything is imported before the first fork; FX imports Dynamo to describe an error.
    """
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the output of a learner's code is dropped
    import torch
    import torch._dynamo  # noqa: F401

    torch.set_num_threads(1)
    for line in sys.stdin:
        reply = _in_fork(line) if hasattr(os, "fork") else serve(line)
        replies.write(reply.rstrip("\n") + "\n")
        replies.flush()


def serve(line: str) -> str:
    """Make the questions that a request asks for.

    Args:
        line: the exercise's name, the text of the answer, and the turn, as JSON.

    Returns:
        The questions and the reason why there are no more, as JSON.
    """
    from autograder.asking.choice import choose
    from autograder.asking.code import Code
    from autograder.exercises import EXERCISES

    asked: dict[str, Any] = json.loads(line)
    exercise = EXERCISES[asked["exercise"]]
    code = Code(exercise.name, asked["cell"], asked["before"])
    chosen = choose(exercise, code, asked["turn"])
    rows = [question.to_json() for question in chosen.questions]
    return json.dumps({"questions": rows, "why": chosen.why, "dropped": chosen.dropped})


def _in_fork(line: str) -> str:
    """Serve a request in a fork, and end the fork with all processes that it started."""
    _import_exercise(line)
    mine, other = os.pipe()
    child = os.fork()
    if child == 0:
        _serve_and_exit(line, other)
    os.close(other)
    try:
        with os.fdopen(mine, encoding="utf-8") as pipe:
            return _read(pipe) or json.dumps({"questions": [], "why": _LOST, "dropped": []})
    finally:
        with suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        with suppress(OSError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _import_exercise(line: str) -> None:
    """Import the exercise and its key in this process, which then has them for the next fork."""
    from autograder.exercises import EXERCISES
    from autograder.judge.answer_key import key_of

    with suppress(Exception):
        key_of(EXERCISES[json.loads(line)["exercise"]])


def _serve_and_exit(line: str, other: int) -> None:
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # `input` must not read the next request
        reply = serve(line)
        with os.fdopen(other, "w", encoding="utf-8") as pipe:
            pipe.write(reply)
    finally:
        os._exit(0)  # before leftover code of the answer can run


def _read(pipe: IO[str]) -> str:
    """Read a reply; ``""`` if it does not come."""
    ready, _, _ = select.select([pipe], [], [], LONGEST)
    return pipe.read() if ready else ""


if __name__ == "__main__":
    main()
