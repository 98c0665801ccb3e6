"""What a server of judges tells in public, found with few models."""

from __future__ import annotations

import socket
from collections.abc import Iterable

import pytest

from autograder.boxed.judge_service import _Asking, random_models_like_all
from autograder.boxed.remote_graphs import modules_of
from autograder.core.exercise import Case
from autograder.exercises import EXERCISES
from autograder.sandbox.wire import receive, send


@pytest.mark.parametrize("name", [each.name for each in EXERCISES.values() if each.random])
def test_one_random_model_says_what_all_need_and_forbid(name: str) -> None:
    random = EXERCISES[name].random
    assert random is not None
    (one,) = random_models_like_all(EXERCISES[name])
    drawn = random.cases(1)
    assert modules_of(drawn) <= modules_of((one, *EXERCISES[name].cases))
    assert forbidden(drawn) == forbidden((one,))


def forbidden(cases: Iterable[Case]) -> set[tuple[object, ...]]:
    """What answers may not use on these cases."""
    return {(id(row[0]), *row[1:]) for case in cases for row in case.make(0).forbidden}


@pytest.mark.parametrize("bits", [0, 3, 100], ids=["nothing", "little", "much"])
def test_something_useful_is_done_until_the_notebook_s_process_is_there(bits: int) -> None:
    ours, theirs = socket.socketpair()
    talk, word = socket.socketpair()
    done = 0

    def give() -> None:
        send(theirs, {"given": "student"})
        socket.send_fds(theirs, [b"\1"], [talk.fileno(), word.fileno()])

    def work() -> bool:
        nonlocal done
        done += 1
        if done == min(bits, 10):
            give()
        return done < bits

    with ours, theirs, talk, word:
        asking = _Asking(ours)
        asking.begin()
        assert receive(theirs)[0] == {"need": "student"}
        if bits == 0:
            give()
        asking.arrive(work)
        ahead = asking.process("student")
        ahead.close()
    assert done == min(bits, 10)
