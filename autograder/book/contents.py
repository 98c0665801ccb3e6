"""Tables of contents: the pages of each folder, and their order.

Pages of ``docs/`` contain no directives, because GitHub would show them as text. So the contents of
a folder are its pages and the first pages of its folders, in the order in which its ``index.md``
links to them. Pages without such a link follow by name.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

HEADER = {
    "chapters/index": "Chapters",
    "learners/index": "Learn",
    "instructors/index": "Teach",
    "engineers/index": "Test passes",
    "reference/index": "Look up",
    "explanation/index": "How it works",
    "contributing/index": "Contribute",
    "install": "Install",
    "tracks": "Tracks",
    "help": "Help",
}
"""The links at the head of every page, in order, with titles short enough to fit there."""


def with_contents(pages: Mapping[str, str], others: Iterable[str]) -> dict[str, str]:
    """Add a hidden table of contents to the end of each ``index.md``.

    Args:
        pages: the text of each page, by its path.
        others: the paths of pages that are written elsewhere.
    """
    paths = [PurePosixPath(name) for name in (*pages, *others)]
    made = dict(pages)
    for name, text in pages.items():
        if PurePosixPath(name).name == "index.md":
            made[name] = text + _toctree(_in_order(PurePosixPath(name).parent, text, paths))
    return made


def _in_order(folder: PurePosixPath, text: str, paths: Collection[PurePosixPath]) -> list[str]:
    """The entries of a folder's table of contents; `text` is its ``index.md``."""
    header = list(HEADER)

    def position(path: PurePosixPath) -> tuple[int, int, str]:
        name = path.with_suffix("").as_posix()
        link = text.find(f"]({path.relative_to(folder)}")
        in_header = header.index(name) if name in header else len(header)
        return in_header, link if link >= 0 else sys.maxsize, name

    here = sorted((path for path in paths if _is_in(path, folder)), key=position)
    return [_entry(path.with_suffix("").as_posix()) for path in here]


def _is_in(path: PurePosixPath, folder: PurePosixPath) -> bool:
    """Whether a page belongs in the contents of a folder."""
    if path.name == "index.md":
        return path.parent != folder and path.parent.parent == folder
    return path.parent == folder


def _entry(name: str) -> str:
    return f"{HEADER[name]} </{name}>" if name in HEADER else f"/{name}"


def _toctree(entries: Collection[str]) -> str:
    if not entries:
        return ""
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(entries) + "\n```\n"
