"""What builds the objects of a case, as it is sent to the processes where answers run."""

from __future__ import annotations

import pickle

from autograder.core.exercise import Case

_BUILDER = "builder"


class CannotBeSent(Exception):
    """What builds a case cannot be sent.

    Attributes:
        message: which case, and why.
        mend: what to do.
    """

    mend = (
        "Build it with functions and classes of a `models` module, `functools.partial` of these, "
        "or small frozen dataclasses with `__call__`; a lambda or a function within a function "
        "cannot be sent."
    )

    def __init__(self, case: Case, why: Exception) -> None:
        self.message = f"What builds the case {case.name!r} cannot be sent: {why}."
        super().__init__(f"{self.message} {self.mend}")


def builder_of(case: Case) -> bytes:
    """What builds the objects of a case, to be unpickled elsewhere; made once.

    It names functions and classes of modules of models, with arguments: no code is sent.

    Raises:
        CannotBeSent: it is, or holds, what has no name in a module.
    """
    if _BUILDER not in case.cache:
        try:
            case.cache[_BUILDER] = pickle.dumps(case.make)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise CannotBeSent(case, error) from error
    made: bytes = case.cache[_BUILDER]
    return made
