"""Versions of the packages that are installed here, as lines for pip.

`make lock` writes them to ``constraints.txt``, which every installation of a clone follows. A class
gives them to its students as ``requirements.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder.builder.paths import ROOT

COURSE = "fxcourse"
LOCK = ROOT / "constraints.txt"

OF_CUDA = ("nvidia-", "cuda-")
"""Prefixes of the packages that only PyTorch's CUDA builds need."""

FOR_VSCODE = "# vscode: "
"""Prefix of a line with the version of a package to use in VS Code instead."""

_HEADER = f"""\
# The exact versions that the course was tested with: Linux, Python 3.11. `make lock` writes this
# file. To install them in the folder of the project:
#     python -m pip install --constraint constraints.txt --editable ".[learn,teach]"
# Not here: {" and ".join(f"{name}*" for name in OF_CUDA)}, which differ between PyTorch's builds,
# and packages that only Windows or macOS needs.
#
# One exception: with ipykernel 7, cells can wait forever in VS Code (issues 17228 and 17481 of
# microsoft/vscode-jupyter). The container in .devcontainer/ installs these instead:
{FOR_VSCODE}ipykernel==6.31.0
{FOR_VSCODE}nest-asyncio==1.6.0

"""


@dataclass
class Locked:
    """An installed package.

    Attributes:
        version: its version, without the name of a build such as ``+cpu``.
        conditions: conditions under which it is needed, as environment markers; ``""`` is always.
    """

    version: str
    conditions: set[str] = field(default_factory=set)


def installed_packages(*extras: str, distribution: str = COURSE) -> dict[str, Locked]:
    """Return all packages that a distribution needs with these extras, directly or not.

    Packages that only other systems need are not installed here, so they are missing.

    Raises:
        importlib.metadata.PackageNotFoundError: the distribution is not installed.
    """
    metadata.distribution(distribution)
    found: dict[str, Locked] = {}
    waiting = [(distribution, frozenset(extras), "")]
    seen = set(waiting)
    while waiting:
        name, wanted, condition = waiting.pop()
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        if "_vendor" in Path(str(package.locate_file(""))).parts:  # setuptools' own copy
            continue
        if name != distribution:
            version = package.version.partition("+")[0]
            found.setdefault(name, Locked(version)).conditions.add(condition)
        for below in _needs(package, wanted, condition):
            if below not in seen:
                seen.add(below)
                waiting.append(below)
    return dict(sorted(found.items()))


def _needs(
    package: metadata.Distribution, extras: frozenset[str], condition: str
) -> Iterator[tuple[str, frozenset[str], str]]:
    """Yield the name, the extras and the condition of each requirement of a package."""
    for text in package.requires or ():
        requirement = Requirement(text)
        own, marker = "", requirement.marker
        if marker is not None and "extra" in str(marker):
            if not any(marker.evaluate({"extra": extra}) for extra in extras):
                continue
        elif marker is not None:
            own = str(marker)
        name = canonicalize_name(requirement.name)
        yield name, frozenset(requirement.extras), own or condition


def requirements(*extras: str) -> str:
    """Return one line for each package that the course needs with these extras.

    A package that only some systems need keeps its condition. Packages for CUDA are left out:
    PyTorch's CUDA builds require them, and a build for the CPU installs without them.

    Raises:
        importlib.metadata.PackageNotFoundError: the course is not installed.
    """
    lines = []
    for name, package in installed_packages(*extras).items():
        if name.startswith((*OF_CUDA, "triton")):
            continue
        only = " or ".join(f"({text})" for text in sorted(package.conditions))
        needed = "" if "" in package.conditions else f" ; {only}"
        lines.append(f"{name}=={package.version}{needed}\n")
    return "".join(lines)


def constraints() -> str:
    """Return the text of ``constraints.txt`` for the packages that are installed here.

    Raises:
        importlib.metadata.PackageNotFoundError: the course is not installed.
    """
    lines = [
        f"{name}=={package.version}\n"
        for name, package in installed_packages("test").items()
        if not name.startswith(OF_CUDA)
    ]
    return _HEADER + "".join(lines)


def main() -> None:
    """Write ``constraints.txt``."""
    LOCK.write_text(constraints(), encoding="utf-8")
    print(f"Wrote {LOCK.name}: the versions that are installed here.")


if __name__ == "__main__":
    main()
