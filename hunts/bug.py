"""One thing that is wrong with PyTorch: the model that shows it, and what a fix would do."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

from autograder.hunt.trying import first_line, quiet

PRELUDE = """import operator, pickle
import torch
from torch import fx, nn
from torch.nn import functional as F
torch.manual_seed(0)
"""
"""What the code of every bug begins with."""

PACKAGE = Path(torch.__file__).parent


@dataclass(frozen=True)
class Variant:
    """The same bug in another model, or in another pass: one fix mends both.

    Attributes:
        code: as for a `Bug`; an empty attribute is that of the bug.
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
    """Something that is wrong with a pass or a transport of the pinned PyTorch.

    Two bugs are different if the fix of one leaves the other: `mend` is such a fix, and a test
    tries each on all others.

    Attributes:
        name: its key, such as ``pow-of-a-negative``.
        title: a clause that says what is wrong.
        suspects: what the hunt calls the passes in which it shows.
        code: a class ``Model``, or a graph module ``gm`` made by hand. Six lines at most.
        inputs: statements that make the arguments.
        change: an expression for what the pass makes of ``gm``, the trace of the model.
        show: an expression that is evaluated twice: ``f`` is what is right, then what came out.
        why: what the pass does, and what is wrong with that.
        file: the file at fault, below the package torch.
        line: the line at fault.
        instead: what to do until it is mended.
        cure: an expression in place of `change` that does so, if one is enough; it is tried, too.
        mend: a context in which PyTorch is mended.
        imports: what the code needs besides `PRELUDE`.
        issues: upstream's numbers, where there are any.
        says: what the documentation says, where it warns of this.
        training: whether the model stays in training mode.
        variants: other models that show it.
        gm_is: an expression for the trace, if it is no plain one.
        right_is: an expression for what is right, if it is neither the model nor ``gm``.
        raises: whether what comes out cannot be run at all, and the message does not say why.
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
    mend: Callable[[], AbstractContextManager[Any]]
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

    @property
    def lines(self) -> int:
        """How many lines the model has."""
        return len(self.code.strip().splitlines())

    @property
    def program(self) -> str:
        """All of its code, to be pasted: at the end there are `right` and `changed`."""
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
        """What is right: a name, or an expression."""
        return self.right_is or ("model" if self._has_a_model else "gm")

    @property
    def _has_a_model(self) -> bool:
        return "class Model" in self.code

    def said_of(self, name: str) -> str:
        """The expression that is evaluated, about one of the two."""
        return re.sub(r"\bf\b", name, self.show)

    def outcome(self, *, mended: bool = False) -> tuple[str, str]:
        """What should come out, and what does, as text."""
        right, _ = self._evaluated(self.right)
        with self.mend() if mended else nullcontext():
            got, _ = self._evaluated("changed")
        return right, got

    @property
    def cured(self) -> Bug:
        """The same with what is to be done instead."""
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
            LookupError: it is not there, or more than once.
        """
        lines = _lines_of(self.file)
        found = [number for number, text in enumerate(lines, 1) if text.strip() == self.line]
        if len(found) != 1:
            raise LookupError(f"{self.file} has {len(found)} lines {self.line!r}")
        return found[0]


def returning(expression: str, parameters: str = "x") -> str:
    """The code of a model of one line."""
    return f"""
class Model(nn.Module):
    def forward(self, {parameters}):
        return {expression}
"""


def _without_change(bug: Bug, name: str) -> str:
    """The program; what is right is run as it is, and no pass has touched it."""
    if name == "changed":
        return bug.program
    program = bug.program.replace(f"changed = {bug.change}\n", "", 1)
    return program.replace(f"gm = {bug.gm_is}\n", "") if name == "model" else program


@cache
def _lines_of(file: str) -> tuple[str, ...]:
    return tuple((PACKAGE / file).read_text(encoding="utf-8").splitlines())


class _short_numbers:
    """Tensors are printed with few digits meanwhile."""

    def __enter__(self) -> None:
        torch.set_printoptions(precision=3, sci_mode=False)

    def __exit__(self, *_: object) -> None:
        torch.set_printoptions(profile="default")
