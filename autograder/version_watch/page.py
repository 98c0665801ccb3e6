"""The page about another PyTorch, in markdown; each section is written as soon as it is known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from packaging.version import Version

from autograder.builder.paths import ROOT
from autograder.version_watch.environment import Environment
from autograder.version_watch.parts import PARTS, Result

TITLES = {
    "private": "PyTorch's private names",
    "bugs": "Bugs of PyTorch",
    "questions": "Questions",
    "answers": "Answers to exercises",
    "chapters": "Chapters",
}


def locked(package: str) -> str:
    """The version of a package in ``constraints.txt``."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{package}==(\S+)$", text, flags=re.MULTILINE)
    return found[1] if found else "unknown"


def head(environment: Environment) -> str:
    """The title, and the versions."""
    has = environment.packages
    vision = f", torchvision {has['torchvision']}" if "torchvision" in has else ""
    return (
        f"# The course with PyTorch {has['torch']}\n\n"
        f"Python {environment.version}{vision}. The course was written with PyTorch "
        f"{locked('torch')}, which `constraints.txt` names.\n"
    )


def section(part: str, results: Sequence[Result]) -> str:
    """The results of one part: their number, each difference, and each remark."""
    different = [each for each in results if each.differs]
    same = len(results) - len(different)
    lines = [f"## {TITLES[part]}: {same} of {len(results)} as the course says\n"]
    lines += [f"* `{each.name}` **differs.** {each.differs}" for each in different]
    lines += [f"* `{e.name}`: {e.note}" for e in results if e.note and not e.differs]
    return "\n".join(lines) + "\n" * (len(lines) > 1)


def end(environment: Environment, found: Mapping[str, Sequence[Result]]) -> str:
    """The number of differences, and what ``constraints.txt`` should be."""
    number = sum(bool(each.differs) for results in found.values() for each in results)
    said = [f"{number} difference{'' if number == 1 else 's'}."]
    if left := [TITLES[part] for part in PARTS if part not in found]:
        said.append(f"Not tried: {', '.join(left)}.")
    said.append(_about_the_lock(environment.packages, good=not number and not left))
    return f"## Result\n\n{' '.join(said)}"


def _about_the_lock(has: Mapping[str, str], *, good: bool) -> str:
    now, this = locked("torch"), has["torch"].partition("+")[0]
    if good and Version(this) > Version(now):
        vision = has["torchvision"].partition("+")[0]
        return f"`constraints.txt` can name torch=={this} and torchvision=={vision}."
    return f"`constraints.txt` stays at torch=={now}."
