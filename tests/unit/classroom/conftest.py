"""Tests of classes start many fork servers, which all begin alike."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.forked_servers import forked_servers


@pytest.fixture(scope="package", autouse=True)
def _forked() -> Iterator[None]:
    with forked_servers():
        yield
