"""One bug of PyTorch: a model that shows it, and a fix."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

from autograder.environment import torch_changes
from autograder.hunt.trying import first_line, quiet

PRELUDE = """import operator, pickle
import torch
from torch import fx, nn
from torch.nn import functional as F
torch.manual_seed(0)
"""
"""The first lines of the code of every bug."""

PACKAGE = Path(torch.__file__).parent


@dataclass(frozen=True)
class Variant:
    """The same bug in another model, or in another pass: one fix corrects both.

    Attributes:
        code: as for a `Bug`; an empty attribute means that of the bug.
        inputs: as for a `Bug`.
        change: as for a `Bug`.
        show: as for a `Bug`.
        imports: as for a `Bug`.
        raises: as for a `Bug`.
    """

    code: str = ""
    inputs: str = ""
    change: str = ""
    show: str = ""
    imports: str = ""
    raises: bool | None = None


@dataclass(frozen=True)
class Bug:
    """A bug of a pass or a transport of the pinned PyTorch.

    Two bugs are different if the fix of one does not fix the other: `fix` is such a fix, and a
    test tries each on all others.

    Attributes:
        name: its key, such as ``pow-of-a-negative``.
        title: a clause about the fault.
        suspects: the hunt's names of the passes that have it.
        code: a class ``Model``, or a graph module ``gm`` made by hand. At most six lines.
        inputs: statements that make the arguments.
        change: an expression that applies the pass to ``gm``, the trace of the model.
        show: an expression that is evaluated twice: ``f`` is the right result, then the pass's.
        why: the behavior of the pass, and its fault.
        file: the file at fault, below the package torch.
        line: the line at fault.
        later_lines: the line in later versions of PyTorch, by the first of these.
        instead: the alternative until the bug is fixed.
        cure: an expression for this alternative, to replace `change`, if one is enough; a test
            tries it.
        fix: a context in which PyTorch is fixed.
        imports: the imports of the code, in addition to `PRELUDE`.
        issues: upstream's numbers, if there are any.
        says: the warning in the documentation, if there is one.
        training: whether the model stays in training mode.
        variants: other models that show it.
        gm_is: an expression for the trace, if it is not `symbolic_trace`.
        right_is: an expression for the right result, if it is neither the model nor ``gm``.
        raises: whether the result cannot run, and the message does not say why.
        since: the first version of PyTorch that has it; ``""`` if all tried versions do.
        until: the first version that has fixed it; ``""`` if none has.
    """

    name: str
    title: str
    suspects: tuple[str, ...]
    code: str
    inputs: str
    change: str
    why: str
    file: str
    line: str
    instead: str
    fix: Callable[[], AbstractContextManager[Any]]
    show: str = "f(x)"
    cure: str = ""
    imports: str = ""
    issues: tuple[int, ...] = ()
    says: str = ""
    training: bool = False
    variants: tuple[Variant, ...] = ()
    gm_is: str = "fx.symbolic_trace(model)"
    right_is: str = ""
    raises: bool = False
    later_lines: tuple[tuple[str, str], ...] = ()
    since: str = ""
    until: str = ""

    def is_in(self, version: str = "") -> bool:
        """Whether a version of PyTorch has it; by default, the one that is loaded."""
        return torch_changes.holds(self.since, self.until, version)

    @property
    def lines(self) -> int:
        """The number of lines of the model."""
        return len(self.code.strip().splitlines())

    @property
    def program(self) -> str:
        """All of its code, to be pasted; it defines `right` and `changed` at the end."""
        parts = [PRELUDE + self.imports.strip(), self.code.strip()]
        if self._has_a_model:
            mode = "" if self.training else ".eval()"
            parts.append(f"model = Model(){mode}")
        parts.append(self.inputs.strip())
        if self._has_a_model and re.search(r"\bgm\b", self.change):
            parts.append(f"gm = {self.gm_is}")
        parts.append(f"changed = {self.change}")
        return "\n".join(part for part in parts if part) + "\n"

    @property
    def right(self) -> str:
        """The right result: a name, or an expression."""
        return self.right_is or ("model" if self._has_a_model else "gm")

    @property
    def _has_a_model(self) -> bool:
        return "class Model" in self.code

    def said_of(self, name: str) -> str:
        """The expression to evaluate, for one of the two results."""
        return re.sub(r"\bf\b", name, self.show)

    def outcome(self, *, fixed: bool = False) -> tuple[str, str]:
        """The right result and the actual one, as text."""
        right, _ = self._evaluated(self.right)
        with self.fix() if fixed else nullcontext():
            got, _ = self._evaluated("changed")
        return right, got

    @property
    def cured(self) -> Bug:
        """The same with the alternative instead of the pass."""
        return replace(self, change=self.cure, variants=())

    @property
    def every(self) -> tuple[Bug, ...]:
        """The bug in its own model, and in those of its variants."""
        others = []
        for variant in self.variants:
            own = {name: value for name, value in vars(variant).items() if value not in ("", None)}
            others.append(replace(self, variants=(), **own))
        return self, *others

    def _evaluated(self, name: str) -> tuple[str, bool]:
        scope: dict[str, Any] = {}
        torch.manual_seed(0)
        try:
            with quiet():
                exec(compile(_without_change(self, name), f"<{self.name}>", "exec"), scope)
                value = eval(self.said_of(name), scope)
        except Exception as error:
            where = f"{type(error).__name__}: {first_line(error)}"
            return re.sub(r" \(.*<eval_with_key>.*\)", "", where), True
        with _short_numbers():
            return repr(value), False

    @property
    def place(self) -> int:
        """The number of the line at fault.

        Raises:
            LookupError: if the line is missing, or occurs more than once.
        """
        lines, wanted = _lines_of(self.file), self.line
        for since, line in self.later_lines:
            wanted = line if torch_changes.holds(since) else wanted
        found = [number for number, text in enumerate(lines, 1) if text.strip() == wanted]
        if len(found) != 1:
            raise LookupError(f"{self.file} has {len(found)} lines {wanted!r}")
        return found[0]


def returning(expression: str, parameters: str = "x") -> str:
    """The code of a model that returns an expression."""
    return f"""
class Model(nn.Module):
    def forward(self, {parameters}):
        return {expression}
"""


def _without_change(bug: Bug, name: str) -> str:
    """The program; for the right result, without the pass."""
    if name == "changed":
        return bug.program
    program = bug.program.replace(f"changed = {bug.change}\n", "", 1)
    return program.replace(f"gm = {bug.gm_is}\n", "") if name == "model" else program


@cache
def _lines_of(file: str) -> tuple[str, ...]:
    return tuple((PACKAGE / file).read_text(encoding="utf-8").splitlines())


class _short_numbers:
    """A context in which tensors are printed with few digits."""

    def __enter__(self) -> None:
        torch.set_printoptions(precision=3, sci_mode=False)

    def __exit__(self, *_: object) -> None:
        torch.set_printoptions(profile="default")
