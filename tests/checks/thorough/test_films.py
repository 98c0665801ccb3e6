"""Films of all right answers to the exercises whose answer makes or changes a graph."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.checks.test_films import FEW, WITH_FILMS, films_of


@pytest.mark.parametrize("name", [name for name in WITH_FILMS if name not in FEW])
def test_the_last_frame_is_the_result(name: str, total: Callable[..., None]) -> None:
    films_of(name, total)
