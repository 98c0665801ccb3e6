"""Serializes the function that builds a case, for the processes in which answers run."""

from __future__ import annotations

import pickle

from autograder.core.exercise import Case

_BUILDER = "builder"


class CannotBeSent(Exception):
    """The builder of a case cannot be pickled.

    Attributes:
        message: the case and the reason.
    """

    advice = (
        "Build it with functions and classes of a `models` module, `functools.partial` of these, "
        "or small frozen dataclasses with `__call__`; a lambda or a function within a function "
        "cannot be sent."
    )
    """Advice to the author of the case."""

    def __init__(self, case: Case, why: Exception) -> None:
        self.message = f"What builds the case {case.name!r} cannot be sent: {why}."
        super().__init__(f"{self.message} {self.advice}")


def builder_of(case: Case) -> bytes:
    """Pickle the builder of a case; the result is cached.

    The pickle contains names of functions and classes of `models` modules, and arguments, but no
    code.

    Raises:
        CannotBeSent: it is, or contains, an object that a module does not name.
    """
    if _BUILDER not in case.cache:
        try:
            case.cache[_BUILDER] = pickle.dumps(case.make)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise CannotBeSent(case, error) from error
    made: bytes = case.cache[_BUILDER]
    return made
