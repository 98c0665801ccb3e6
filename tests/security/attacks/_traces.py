"""Finds forbidden traces that an attack has left."""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import stat
import sys
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import nbformat
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions import formgrader

from autograder.submission.sanitize import taken_ids
from tests.security.attacks import ORPHAN, PORT, PWNED, SCRIPT, SOCKET

LOOT = "LOOT"
_ABSOLUTE = re.compile(r"(?:[a-z][a-z0-9+.-]*:|[/\\\\])", re.IGNORECASE)
_ASKS = frozenset("src srcset poster background data href xlink:href lowsrc manifest".split())
_TOPS = ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/usr", "/usr/local/bin", "/root")
_NEVER = ("base", "embed", "iframe", "link", "meta", "object", "script", "style")


class ActiveParts(HTMLParser):
    """Collects the parts of a page with `SCRIPT` that a browser would run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handle the start of an element."""
        if tag in ("script", "style"):
            self._within = tag
        for name, value in attrs:
            value = value or ""
            runs = name.startswith("on") or name == "srcdoc" or tag in _NEVER
            link = re.sub(r"[\s\x00-\x20]", "", value).lower().startswith(("javascript:", "data:t"))
            if SCRIPT in value and (runs or link or _is_asked_for(tag, name, value)):
                self.found.append(f"<{tag} {name}=…>")

    def handle_endtag(self, tag: str) -> None:
        """Handle the end of an element."""
        self._within = "" if tag == self._within else self._within

    def handle_data(self, data: str) -> None:
        """Handle text."""
        if self._within and SCRIPT in data:
            self.found.append(f"<{self._within}>")


def _is_asked_for(tag: str, name: str, value: str) -> bool:
    """Whether a browser loads this address without a click, with the reader's cookies."""
    if "url(" in value.lower() and name == "style":
        return True
    if name not in _ASKS or tag in ("a", "area"):
        return False
    address = value.strip().lower()
    return bool(_ABSOLUTE.match(address)) and not address.startswith("data:")


def active_parts(page: str) -> list[str]:
    """The parts of a page that would run an attacker's code."""
    parser = ActiveParts()
    parser.feed(page)
    parser.close()
    return parser.found


@cache
def _formgrader() -> HTMLExporter:
    """The exporter of Formgrader's pages, configured as in nbgrader."""
    folder = Path(formgrader.__file__).parent
    return HTMLExporter(
        template_name="formgrade",
        extra_template_basedirs=[str(folder / "templates")],
        extra_template_paths=[str(folder / "static/node_modules/bootstrap/dist/css")],
    )


def formgraders_page(notebook: Path, student: str, names: tuple[str, str] = ("", "")) -> str:
    """The page in which an instructor reads a graded notebook in Formgrader.

    The page is empty if there is no script of an attacker, because making it takes half a second.

    Args:
        notebook: the graded notebook.
        student: the student's id.
        names: first and last name, as the gradebook has them.
    """
    if SCRIPT.encode() not in notebook.read_bytes() and SCRIPT not in "".join((student, *names)):
        return ""
    known = {
        "notebook_id": "x", "index": 0, "total": 1, "base_url": "/", "student": student,
        "first_name": names[0], "last_name": names[1],
    }  # fmt: skip
    page, _ = _formgrader().from_filename(str(notebook), resources=known)
    return str(page)


class _Ids(HTMLParser):
    """Collects the ids of a page, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        self.found += [value for name, value in attrs if name == "id" and value]


def doubled_fields(page: str, notebook: Path) -> list[str]:
    """Formgrader's fields for points and comments whose ids another element has too."""
    parser = _Ids()
    parser.feed(page)
    parser.close()
    fields = taken_ids(nbformat.read(notebook, as_version=4))
    return sorted(field for field in fields if parser.found.count(field) > 1)


def is_control(character: str) -> bool:
    """Whether a character controls a terminal; line ends and tabs are harmless."""
    return unicodedata.category(character) in ("Cc", "Cf") and character not in "\n\t"


def shown(notebook: Path) -> Iterator[tuple[str, str]]:
    """The type and text of all outputs in a graded notebook.

    Errors are skipped, because tracebacks quote the source.
    """
    for cell in json.loads(notebook.read_text(encoding="utf-8")).get("cells", ()):
        for output in cell.get("outputs", ()):
            if output["output_type"] == "stream":
                yield "text/plain", _joined(output["text"])
            for mime, data in output.get("data", {}).items():
                yield mime, _joined(data)


def _joined(text: object) -> str:
    return "".join(text) if isinstance(text, list) else str(text)


def made_for(room: Path, student: str) -> Iterator[Path]:
    """The files that grading has made for a student."""
    for kind in ("autograded", "feedback"):
        for folder, _, names in os.walk(room / kind / student):
            yield from (Path(folder) / name for name in names)


def pwned(folder: Path) -> list[str]:
    """Files that an attacker has written outside of the sandbox."""
    places = [Path(top) for top in _TOPS if os.access(top, os.R_OK)]
    here = [path for place in places for path in place.glob(f"{PWNED}*")]
    inner = [Path(top, name) for top, _, names in os.walk(folder) for name in names]
    return sorted(str(path) for path in {*here, *(p for p in inner if p.name.startswith(PWNED))})


def fingerprint(room: Path) -> dict[str, str]:
    """Hashes of files that grading must not change: the instructor's files and the submissions."""
    found = {}
    for kind in ("source", "release", "submitted"):
        for top, folders, names in os.walk(room / kind):
            for name in (*folders, *names):
                path = Path(top, name)
                found[str(path.relative_to(room))] = _mark(path)
    return found | {"nbgrader_config.py": _mark(room / "nbgrader_config.py")}


def _mark(path: Path) -> str:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > 100_000_000:
        return f"{stat.filemode(status.st_mode)[0]} {status.st_size}"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def orphans() -> list[int]:
    """Processes that an attacker has left running."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if ORPHAN.encode() in words:
            found.append(int(folder.name))
    return found


class Listener:
    """Listens where an attacker outside of the sandbox could connect."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Listener:
        Path(SOCKET).unlink(missing_ok=True)
        inet, unix = socket.AF_INET, socket.AF_UNIX
        stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
        for family, kind, address in (
            (inet, stream, ("127.0.0.1", PORT)),
            (inet, datagram, ("127.0.0.1", PORT)),
            (unix, stream, SOCKET),
            (unix, stream, "\0fxcourse-attacks"),
        ):
            open_socket = socket.socket(family, kind)
            try:
                open_socket.bind(address)
            except OSError:
                sys.exit(f"{address} is taken: only one class of attackers is graded at a time.")
            if kind == stream:
                open_socket.listen(50)
            self._sockets.append(open_socket)
            threading.Thread(target=self._wait, args=(open_socket, address), daemon=True).start()
        return self

    def _wait(self, open_socket: socket.socket, address: object) -> None:
        while True:
            try:
                if open_socket.type == socket.SOCK_DGRAM:
                    open_socket.recv(100)
                else:
                    open_socket.accept()[0].close()
            except OSError:
                return
            self.calls.append(str(address))

    def __exit__(self, *_: object) -> None:
        for open_socket in self._sockets:
            open_socket.close()
        Path(SOCKET).unlink(missing_ok=True)


def tokens_in(paths: Iterable[Path], tokens: dict[str, str]) -> list[str]:
    """The owners of the secrets that these files contain."""
    found = set()
    for path in paths:
        data = path.read_bytes() if path.is_file() else b""
        found |= {place for place, token in tokens.items() if token.encode() in data}
    return sorted(found)
