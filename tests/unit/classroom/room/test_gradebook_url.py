"""Messages about a gradebook's address name the missing driver, and never the password."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from autograder.classroom.room import gradebook_url
from autograder.environment.errors import ClassroomError
from tests.support import postgres_server

SECRET = quote(postgres_server.PASSWORD, safe="")
NOWHERE = f"postgresql://me:{SECRET}@127.0.0.1:9/none"


def test_driver_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(ClassroomError, match=r"pip install .*postgres"):
        gradebook_url.try_out(gradebook_url.with_driver(NOWHERE))


def test_messages_of_others_lose_the_password() -> None:
    said = gradebook_url.without_password(
        f"no {NOWHERE}\n for '{postgres_server.PASSWORD}'", NOWHERE
    )
    assert said == "no postgresql://me:***@127.0.0.1:9/none for '***'"
    assert gradebook_url.shown(f"{NOWHERE}?password=word") == "postgresql://me:***@127.0.0.1:9/none"
    assert "word" not in gradebook_url.without_password("word", f"{NOWHERE}?password=word")
