"""CSV files of learning platforms: reads them, and writes them back with minimal changes.

A platform takes back its own file. So a field without changes stays as it was written, including
its quotes. The encoding, byte order mark, separator and line ends also stay the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_BOM = "\ufeff"


@dataclass
class Cell:
    """A field of a table.

    Attributes:
        text: its text, which may be changed.
        raw: its original notation.
        end: the text after it: a separator, a line end, or nothing.
    """

    text: str
    raw: str
    end: str

    def __post_init__(self) -> None:
        self._before = self.text

    def written(self, separator: str) -> str:
        """The field in the notation of the file."""
        if self.text == self._before:
            return self.raw
        if any(sign in self.text for sign in (separator, '"', "\n", "\r")):
            return '"' + self.text.replace('"', '""') + '"'
        return self.text


@dataclass
class Table:
    """A CSV file with a row of headings.

    Attributes:
        cells: all its rows, beginning with the row of headings.
        separator: the separator between fields.
        bom: whether the file begins with a byte order mark.
        encoding: the encoding of its text.
    """

    cells: list[list[Cell]]
    separator: str
    bom: bool
    encoding: str

    @property
    def heads(self) -> list[str]:
        """The headings."""
        return [cell.text for cell in self.cells[0]]

    @property
    def rows(self) -> list[list[Cell]]:
        """The rows below the headings, without empty lines."""
        return [row for row in self.cells[1:] if any(cell.text for cell in row)]

    def column(self, *names: str) -> int | None:
        """The index of the first of these columns that exists, ignoring case."""
        plain = [head.strip().casefold() for head in self.heads]
        found = (plain.index(name.casefold()) for name in names if name.casefold() in plain)
        return next(found, None)

    def first(self, row: Sequence[Cell], names: Iterable[str]) -> str:
        """The first non-empty field of a row in these columns."""
        for name in names:
            place = self.column(name)
            if place is not None and place < len(row) and row[place].text.strip():
                return unguarded(row[place].text.strip())
        return ""

    def as_bytes(self) -> bytes:
        """The content of the file."""
        text = "".join(
            cell.written(self.separator) + cell.end for row in self.cells for cell in row
        )
        return ((_BOM if self.bom else "") + text).encode(self.encoding)


def read_table(path: Path) -> Table:
    """Read a CSV file.

    Raises:
        ValueError: it cannot be read, or is not a table; the message says why.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from None
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding = "cp1252"  # the default of spreadsheets on Windows
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            raise ValueError(f"{path.name} is not a CSV file in UTF-8.") from None
    bom = text.startswith(_BOM)
    text = text.removeprefix(_BOM)
    head = text.splitlines()[0] if text.strip() else ""
    if not head.strip():
        raise ValueError(f"{path.name} has no row of headings.")
    separator = max(",;\t", key=head.count)
    rows: list[list[Cell]] = [[]]
    for cell in _cells(text, separator):
        rows[-1].append(cell)
        if cell.end != separator:
            rows.append([])
    return Table([row for row in rows if row], separator, bom, encoding)


def _cells(text: str, separator: str) -> Iterator[Cell]:
    end = rf"(?P<end>{separator}|\r\n|\r|\n|$)"
    quoted = re.compile(rf'(?P<raw>"(?:[^"]|"")*"){end}')
    plain = re.compile(rf"(?P<raw>[^{separator}\r\n]*){end}")
    place = 0
    while place < len(text):
        if found := quoted.match(text, place):
            said = found["raw"][1:-1].replace('""', '"')
        else:
            found = plain.match(text, place)
            assert found is not None  # this pattern matches any text
            said = found["raw"]
        yield Cell(said, found["raw"], found["end"])
        place = found.end()
    if text.endswith(separator):
        yield Cell("", "", "")


def guarded(text: str) -> str:
    """Quote a text that a spreadsheet could read as a formula.

    A spreadsheet may split a field at semicolons or tabs, ignores invisible characters, and treats
    full-width characters like ASCII.
    """
    is_formula = text[:1] in ("\t", "\r", "\n") or any(map(_is_formula, re.split(r"[;\t]", text)))
    return f"'{text}" if is_formula else text


def _is_formula(text: str) -> bool:
    seen = (sign for sign in text if unicodedata.category(sign)[0] not in "ZC")
    return unicodedata.normalize("NFKC", next(seen, "")) in ("=", "+", "-", "@")


def unguarded(text: str) -> str:
    """The inverse of `guarded`."""
    return text[1:] if text.startswith("'") and guarded(text[1:]) != text[1:] else text
