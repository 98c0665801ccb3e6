"""Prints the table of questions: ``python -m tests.questions``.

With ``--messages``, runs all of them and prints the exceptions of each as a line of JSON.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.questions import questions, table


def messages() -> dict[int, list[tuple[str, str]]]:
    """Type and message of the exceptions that each question expects, by number."""
    said: list[tuple[str, str]] = []
    expect = pytest.raises

    @contextlib.contextmanager
    def noting(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with expect(*args, **kwargs) as caught:
            yield caught
        said.append((type(caught.value).__name__, str(caught.value)))

    found = {}
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(sys.stderr):
        patch.setattr(pytest, "raises", noting)
        for each in questions():
            said.clear()
            if each.is_asked:
                each.show()
            found[each.number] = list(said)
    return found


print(json.dumps(messages()) if "--messages" in sys.argv else table())
