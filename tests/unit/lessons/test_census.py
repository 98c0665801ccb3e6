"""Each FX API of production code has a section, or a reason why it has none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.lessons.census import Api, apis, asserting_cells, coverage, places_of, table


@pytest.mark.parametrize("api", apis(), ids=lambda api: api.name)
def test_an_api_is_taught_or_it_is_said_why_not(api: Api) -> None:
    assert bool(places_of(api)) == (not api.why), places_of(api)


def test_what_is_only_named_in_a_comment_is_not_taught() -> None:
    assert asserting_cells()
    assert not any("\n#" in code for _, code in asserting_cells())


def test_the_table_is_printed(printed: Callable[[str, str], None]) -> None:
    printed("census: which APIs of files at work the chapters teach", table())
    untaught = [api.files for api in apis() if not places_of(api)]
    assert coverage() == pytest.approx(100 - 100 * sum(untaught) / sum(a.files for a in apis()))
