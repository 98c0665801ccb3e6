"""Writes ``docs/engineers/bugs_of_today.md`` from the known bugs: ``python -m hunts.page``.

``--check`` compares without writing.

Each result on the page is computed when the page is made, and a test computes it again.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import torch
from packaging.version import Version

from autograder.builder.paths import ROOT
from autograder.environment.tried_versions import tried
from hunts.bug import PRELUDE, Bug
from hunts.known import BUGS

PAGE = ROOT / "docs" / "engineers" / "bugs_of_today.md"

HEADINGS = (
    ("codegen", "Generated code"),
    ("transports", "Copies, pickles and folders"),
    ("effects", "What a call changes"),
    ("folding", "Constants and normal forms"),
    ("fusion", "Fusion and equal calls"),
    ("splitting", "Cutting a module in pieces"),
    ("rewriting", "`replace_pattern`"),
    ("captured", "Other captures and merges"),
    ("recomputing", "Computing again"),
)

INTRODUCTION = """# Bugs of today

Which of PyTorch's own passes give wrong results today, and what can you do instead?

This page lists {count} bugs of PyTorch {version}. `make hunt` found most of them with random
models. Each has a model of at most six lines. {silent} of them are silent: the result is wrong, and
nothing is raised. Two bugs are different if the fix of one leaves the other. A test tries each fix
on all others.

Every result below was computed when this page was made, and a test computes it again. If a new
PyTorch has fixed a bug, that test fails and says so. [Hunting](hunting.md) shows how to test your
own passes in the same way.

All code begins with these lines:

```python
{prelude}```

Code with `from hunts.suspects import` runs only in the root folder of a clone of the project.

The last columns are the versions of PyTorch with which the bugs were tried.

| bug | what is wrong | upstream | {versions} |
|---|---|---|{rules}
{rows}
"""

END = """## What was not counted

* A pass that refuses a graph with a message that says why: `split_module` and its cycles,
  `Proxy` and assignments to items.
* `CSEPass` on graphs in which something is written or drawn, because its documentation excludes
  them. The list of operations to ban, which it gives itself, does count.
* Captures that raise what eager mode raises, too: with gradients, it refuses a write to one of
  several views of what depends on a parameter.
* What tracing alone changes: if the trace of a model does something else than the model, it says
  nothing about passes.
"""


VERSIONS = sorted(tried("torch"), key=Version)


def text() -> str:
    """The text of the page."""
    here = [bug for bug in BUGS if bug.is_in()]
    parts = [INTRODUCTION.format(
        version=torch.__version__.partition("+")[0],
        count=len(here),
        silent=sum(not bug.raises for bug in here),
        prelude=PRELUDE,
        versions=" | ".join(VERSIONS),
        rules="---|" * len(VERSIONS),
        rows="\n".join(map(_row, BUGS)),
    )]  # fmt: skip
    for module, heading in HEADINGS:
        parts.append(f"## {heading}\n")
        own = [bug for bug in BUGS if bug.fix.__module__ == f"hunts.known.{module}"]
        parts += ["\n".join(_section(bug)) for bug in own]
    return "\n".join([*parts, END])


def _row(bug: Bug) -> str:
    cells = [f"[{bug.name}](#{bug.name})", bug.title, _issues(bug) or "none found"]
    return f"| {' | '.join([*cells, *(_state(bug, version) for version in VERSIONS)])} |"


def _state(bug: Bug, version: str) -> str:
    """Whether a version of PyTorch has a bug, for its column."""
    if bug.is_in(version):
        return "shows"
    return f"fixed in {bug.until}" if bug.until else "not there"


def _issues(bug: Bug) -> str:
    address = "https://github.com/pytorch/pytorch/issues"
    return ", ".join(f"[#{number}]({address}/{number})" for number in bug.issues)


def _section(bug: Bug) -> Iterator[str]:
    yield f"### {bug.name}\n"
    yield f"**{bug.title[:1].upper()}{bug.title[1:]}.**\n"
    if bug.until:
        yield f"PyTorch {bug.until} has fixed it.\n"
    yield from _shown(bug)
    others = bug.every[1:]
    if others:
        yield "The same fault:\n"
    for other in others:
        yield from _shown(other, whole=False)
    yield _filled(bug.why)
    if bug.says:
        yield _filled(bug.says)
    yield _filled(f"**At fault:** `torch/{bug.file}`, line {bug.place}: `{bug.line}`")
    yield _filled(f"**Instead:** {bug.instead}")
    if bug.cure:
        yield f"```python\nchanged = {bug.cure}\n```\n"
    if bug.issues:
        yield f"**Upstream:** {_issues(bug)}\n"


def _shown(bug: Bug, *, whole: bool = True) -> Iterator[str]:
    """The program, the right result, and the actual one."""
    program = bug.program.removeprefix(PRELUDE).strip()
    if not whole:
        lines = [bug.code.strip(), bug.inputs.strip(), f"changed = {bug.change}"]
        program = "\n".join(line for line in lines if line)
    yield f"```python\n{program}\n```\n"
    right, got = bug.outcome()
    yield "```text"
    yield _result(bug.said_of(bug.right), right)
    yield _result(bug.said_of("changed"), got)
    yield "```\n"


def _result(expression: str, value: str) -> str:
    lead = f"{expression:<36} -> "
    return lead + value.replace("\n", "\n" + " " * len(lead))


def _filled(words: str) -> str:
    return textwrap.fill(words, 104, break_long_words=False, break_on_hyphens=False) + "\n"


def main() -> None:
    """Write the page, or check that it is up to date."""
    made = text()
    if "--check" in sys.argv[1:]:
        same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == made
        sys.exit(0 if same else f"{PAGE} differs; run python -m hunts.page")
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(made, encoding="utf-8")
    print(f"wrote {Path(PAGE).relative_to(ROOT)}: {len(BUGS)} bugs")


if __name__ == "__main__":
    main()
