"""The packages of this environment that the course needs, with versions, as pip reads them."""

from __future__ import annotations

import re
from importlib import metadata

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def lock_file(distribution: str = "fxcourse") -> str:
    """One line a package: all that the course needs, and all that these need.

    A package that only some systems need keeps the condition under which they do. Builds such as
    ``+cpu`` are the same version.

    Raises:
        importlib.metadata.PackageNotFoundError: the course is not installed.
    """
    found: dict[str, tuple[str, set[str]]] = {}
    waiting = [(text, "") for text in metadata.requires(distribution) or ()]
    seen: set[tuple[str, str]] = set()
    while waiting:
        text, above = waiting.pop()
        name, condition = _parts(text)
        if "extra" in condition or (name, condition or above) in seen:
            continue
        condition = condition or above
        seen.add((name, condition))
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # other systems need it, and this one does not
        version = package.version.partition("+")[0]
        found.setdefault(name, (version, set()))[1].add(condition)
        waiting += [(below, condition) for below in package.requires or ()]
    lines = []
    for name, (version, conditions) in sorted(found.items()):
        only = " or ".join(f"({text})" for text in sorted(conditions))
        lines.append(f"{name}=={version}" + ("" if "" in conditions else f" ; {only}"))
    return "\n".join(lines) + "\n"


def _parts(requirement: str) -> tuple[str, str]:
    """A package's name, and the condition under which it is needed."""
    head, _, condition = requirement.partition(";")
    name = _NAME.match(head.strip())
    plain = re.sub(r"[-_.]+", "-", name[0]).lower() if name else ""
    return plain, condition.strip()
