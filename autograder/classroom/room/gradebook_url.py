"""The gradebook's address: parsed, tried, and never shown with its password."""

from __future__ import annotations

import re
from urllib.parse import quote, quote_plus, unquote

from sqlalchemy import URL, create_engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from autograder.environment.errors import ClassroomError
from autograder.environment.extras import advice

CONNECT_SECONDS = 15
"""Time limit for a server's answer, in seconds."""

MAX_NAME = 128
"""The number of characters in nbgrader's columns for names; PostgreSQL enforces it."""

_POSTGRES = ("postgres", "postgresql")
_SECRET = ("password", "sslpassword")


def with_driver(address: str) -> str:
    """Add the driver that this course installs, if the address does not name one.

    The driver that `postgresql://` means changed from one version of SQLAlchemy to the next.

    Raises:
        ClassroomError: it is not the address of a database.
    """
    url = _url(address)
    if url.drivername in _POSTGRES:
        url = url.set(drivername="postgresql+psycopg")
    return url.render_as_string(hide_password=False)


def try_out(address: str) -> None:
    """Connect once.

    Raises:
        ClassroomError: the driver is not installed, or the server refuses the connection.
    """
    url = _url(address)
    postgres = url.get_backend_name() == "postgresql"
    try:
        engine = create_engine(
            url, connect_args={"connect_timeout": CONNECT_SECONDS} if postgres else {}
        )
        try:
            engine.connect().close()
        finally:
            engine.dispose()
    except NoSuchModuleError:
        raise ClassroomError(f"No kind of database is called {url.drivername!r}.") from None
    except ImportError as error:
        lacks = f"The driver for {url.drivername} is not installed ({error.name or 'no library'})."
        raise ClassroomError(f"{lacks} {advice(error)}".rstrip()) from None
    except SQLAlchemyError as error:
        why = what_failed(error, address)
        raise ClassroomError(f"The gradebook {shown(address)} does not answer: {why}") from None


def shown(address: str) -> str:
    """The address without its password, to show to people."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        return "whose address cannot be read"
    kept = {key: value for key, value in url.query.items() if key.lower() not in _SECRET}
    return url.set(query=kept).render_as_string(hide_password=True)


def what_failed(error: Exception, address: str) -> str:
    """The driver's error message, without the password and without the SQL statement."""
    said = str(getattr(error, "orig", None) or error).partition("[SQL:")[0]
    return without_password(said, address)


def without_password(text: str, address: str) -> str:
    """Turn a message of other software into one line without the address's password."""
    for secret in sorted(_secrets(address), key=len, reverse=True):
        text = text.replace(secret, "***")
    text = re.sub(r"(//[^\s:/@]*):[^\s@]*@", r"\1:***@", text)
    return " ".join(text.split())[:600]


def is_storable(name: str) -> bool:
    """Whether a gradebook can store this name."""
    try:
        return len(name) <= MAX_NAME and "\0" not in name.encode().decode()
    except UnicodeEncodeError:  # a folder's name whose bytes are not text
        return False


def _secrets(address: str) -> set[str]:
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        return {address}
    plain = [url.password, *(url.query.get(key) for key in _SECRET)]
    found = {str(word) for word in plain if word}
    forms = (str, quote, quote_plus, unquote, lambda word: quote(word, safe=""))
    return {form(word) for word in found for form in forms}


def _url(address: str) -> URL:
    try:
        return make_url(address)
    except (ArgumentError, ValueError):
        raise ClassroomError(
            "The gradebook's address cannot be read. It looks like "
            "postgresql://USER:PASSWORD@HOST/NAME; signs such as @ and / in a password are "
            "written %40 and %2F."
        ) from None
