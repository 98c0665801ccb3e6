"""Check on run: a cell that defines an answer shows the answer's card below it."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Set
from typing import Any

from autograder.core.code_objects import codes_of
from autograder.environment import notebook_kernel
from autograder.learner.stale_cell import defined_in
from autograder.workspace import settings
from autograder.workspace.progress_file import is_grading

SLOW_SECONDS = 3.0
"""A check that takes longer is slow."""

SLOW_CHECKS = 2
"""After this many slow checks in a row, an exercise is checked only by its check cell."""

_MAGICS = ("%%time", "%%capture")
"""Cell magics that leave the definitions of their cell in the notebook."""

EVENT = "post_run_cell"


class CheckOnRun:
    """The hook that IPython calls after each cell.

    Args:
        exercises: returns the names of all exercises.
        check: checks an answer and shows its card; returns whether it has passed.
        clock: the time in seconds.
    """

    def __init__(
        self,
        exercises: Callable[[], Set[str]],
        check: Callable[[str, Any], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._exercises, self._check, self._clock = exercises, check, clock
        self._shell: Any = None
        self._is_on: bool | None = None  # None: as the learner's settings say
        self._last: Any = None
        self._passed: dict[str, tuple[Any, dict[str, Any]]] = {}
        self._slow: dict[str, int] = {}

    @property
    def _names(self) -> dict[str, Any]:
        """The names of the notebook, and their values."""
        names: dict[str, Any] = self._shell.user_ns
        return names

    def begin(self, shell: Any) -> None:
        """Register the hook, once for each kernel."""
        if shell is not None and shell is not self._shell:
            self._shell = shell
            shell.events.register(EVENT, self.after_cell)

    def turn(self, on: bool) -> None:
        """Turn checks on or off until the kernel ends, even for exercises with slow checks."""
        self._is_on = on
        self._slow.clear()

    def note(self, answer: Any) -> None:
        """Note that an answer is checked, so that its own cell does not check it again."""
        self._last = answer

    def has_passed(self, name: str, answer: Any) -> bool:
        """Whether this object has passed on run, and all values that it uses are still the same."""
        checked, used = self._passed.get(name, (None, {}))
        if checked is not answer:
            return False
        now = _used_by(answer, self._names)
        return used.keys() == now.keys() and all(used[each] is now[each] for each in now)

    def after_cell(self, result: Any) -> None:
        """Check the answer that a cell has defined. This raises no exceptions."""
        name = ""
        try:
            name = self._name_in(result)
            answer = self._names.get(name) if name else None
            if answer is None or answer is self._last:
                return
            if self._slow.get(name, 0) < SLOW_CHECKS:
                self._check_now(name, answer)
            else:
                print(f"Not checked, because that takes a while. Run check({name}) yourself.")
        except (Exception, KeyboardInterrupt) as error:
            print(
                f"This cell was not checked ({type(error).__name__}). Run check({name}) yourself."
            )

    def _name_in(self, result: Any) -> str:
        """The exercise that a cell answers, or an empty string."""
        info = result.info
        if not result.success or info is None or info.silent or not info.store_history:
            return ""
        cell = str(info.raw_cell)
        names = set(defined_in(cell))
        names &= self._exercises() if names else set()
        if not names:
            return ""
        if not self._is_wanted() or is_grading() or notebook_kernel.is_automatic():
            return ""
        defined = list(names & self._defined(cell))
        return defined[0] if len(defined) == 1 else ""

    def _is_wanted(self) -> bool:
        return settings.check_on_run() if self._is_on is None else self._is_on

    def _defined(self, cell: str) -> set[str]:
        """The functions and classes that a cell defines at its top level."""
        first, _, rest = cell.partition("\n")
        if first.startswith("%%"):
            if first.split()[0] not in _MAGICS:
                return set()
            cell = rest
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        body = ast.parse(self._shell.transform_cell(cell)).body
        return {each.name for each in body if isinstance(each, kinds)}

    def _check_now(self, name: str, answer: Any) -> None:
        self._passed.pop(name, None)
        began = self._clock()
        passed = self._check(name, answer)
        took = self._clock() - began
        if passed:
            self._passed[name] = answer, _used_by(answer, self._names)
        self._slow[name] = self._slow.get(name, 0) + 1 if took > SLOW_SECONDS else 0
        if self._slow[name] == SLOW_CHECKS:
            print(f"Checking takes {took:.0f} s. From now on, run check({name}) yourself.")


def _used_by(answer: Any, names: dict[str, Any]) -> dict[str, Any]:
    """The values of a notebook that an answer reads by name, directly or through its helpers."""
    found: dict[str, Any] = {}
    waiting = [answer]
    while waiting:
        value = waiting.pop()
        own = getattr(value, "__module__", None) == "__main__"
        for code in codes_of(value) if own else ():
            new = [each for each in code.co_names if each in names and each not in found]
            found.update((each, names[each]) for each in new)
            waiting += [names[each] for each in new]
    return found
