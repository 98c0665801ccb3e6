"""Copies a whole gradebook into a file, and restores it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Base
from sqlalchemy import Engine, create_engine, make_url


def copy_to(db_url: str, path: Path) -> None:
    """Copy a gradebook into a new file."""
    path.unlink(missing_ok=True)
    file = _file_of(db_url)
    if file is None:
        with _engine(address_of(path)) as made, _engine(db_url) as kept:
            _copy_rows(kept, made)
    else:
        _copy_file(file, path)


def restore(path: Path, db_url: str) -> None:
    """Restore a gradebook from a copy, completely or not at all."""
    file = _file_of(db_url)
    if file is None:
        with _engine(address_of(path)) as kept, _engine(db_url) as book:
            _copy_rows(kept, book)
    else:
        _copy_file(path, file)


def content_of(db_url: str) -> str:
    """A digest of a gradebook's content, except penalties for late work.

    Penalties follow from the rest, and are recomputed often.
    """
    found = hashlib.sha256()
    with _engine(db_url) as engine, engine.connect() as connection:
        for table in Base.metadata.sorted_tables:
            columns = [c for c in table.columns if c.name != "late_submission_penalty"]
            rows = sorted(repr(tuple(row)) for row in connection.execute(table.select()
                          .with_only_columns(*columns)))  # fmt: skip
            found.update(f"{table.name} {rows}".encode())
    return found.hexdigest()


def address_of(path: Path) -> str:
    """The address of a copy, for opening it as a gradebook."""
    return f"sqlite:///{path}"


def _file_of(db_url: str) -> Path | None:
    url = make_url(db_url)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def _copy_file(source: Path, target: Path) -> None:
    """Copy with SQLite's backup API, because other processes may be reading or writing."""
    try:
        with (
            contextlib.closing(sqlite3.connect(source)) as kept,
            contextlib.closing(sqlite3.connect(target)) as made,
        ):
            kept.backup(made)
    except sqlite3.Error as error:
        number = errno.ENOSPC if "full" in str(error) else errno.EIO
        raise OSError(number, str(error), str(target)) from None


def _copy_rows(source: Engine, target: Engine) -> None:
    """Copy row by row, in one transaction."""
    tables = Base.metadata.sorted_tables
    with source.connect() as kept, target.begin() as made:
        Base.metadata.create_all(made)
        for table in reversed(tables):
            made.execute(table.delete())
        for table in tables:
            rows = [dict(row) for row in kept.execute(table.select()).mappings()]
            if rows:
                made.execute(table.insert(), rows)


@contextlib.contextmanager
def _engine(db_url: str) -> Iterator[Engine]:
    engine = create_engine(db_url)
    try:
        yield engine
    finally:
        engine.dispose()
