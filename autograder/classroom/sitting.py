"""One notebook's way through the box: its cells are run, its answers tried, and judged here.

A cell that ends the notebook's process, blocks it or uses up its memory costs what that cell was
good for, not the notebook: a new process runs the earlier cells again, without it, and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from nbformat.notebooknode import NotebookNode, from_dict
from nbformat.v4 import new_output

from autograder.classroom.clean import clean_outputs
from autograder.classroom.judging import Claims, is_missing, untried, verdict_on, verdict_on_drawn
from autograder.classroom.masters import checked_exercise
from autograder.exercise import Exercise
from autograder.sandbox.worker import Lost, Notebook, Warm
from autograder.verdict import Verdict

HANG_UP = 5.0
"""Seconds after its time is over in which a process may still answer."""


@dataclass(frozen=True)
class Patience:
    """How long the parts of one notebook may take, in seconds.

    Processor time decides, so that a busy machine changes no grade; waiting is bounded too.

    Attributes:
        cell_cpu: processor time of a cell.
        cell_wall: waiting for a cell.
        case_cpu: processor time of an answer on one case.
        case_wall: waiting for an answer on one case.
        trial: waiting for an answer on all cases; it is ended then, and earns nothing.
        notebook: waiting for the whole notebook; cells after that are not run.
        restarts: how many processes one notebook may use up.
    """

    cell_cpu: float = 30.0
    cell_wall: float = 120.0
    case_cpu: float = 10.0
    case_wall: float = 60.0
    trial: float = 240.0
    notebook: float = 1800.0
    restarts: int = 10


Files = Mapping[str, bytes]


class Sitting:
    """Works a notebook through, in place.

    Args:
        nb: the notebook, repaired.
        exercises: the exercises of its chapter, by name.
        warm: forks the processes in which it is run.
        seed: picks the random models.
        files: what lies beside the notebook.
        patience: how long it may take.
        only: the one exercise to be tried; all of them by default.
        warn: is told what happened to the notebook, a sentence at a time.
    """

    def __init__(
        self,
        nb: NotebookNode,
        exercises: Mapping[str, Exercise],
        warm: Warm,
        *,
        seed: int = 0,
        files: Files | None = None,
        patience: Patience | None = None,
        only: str = "",
        warn: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.nb, self.exercises, self.warm, self.seed = nb, exercises, warm, seed
        self.files, self.patience, self.only = files or {}, patience or Patience(), only
        self.warn = warn
        self.verdicts: dict[int, Verdict] = {}
        """By the number of the check cell, from 0."""
        self.ends: list[str] = []
        """How processes of this notebook ended that did not get to its end."""
        self._notebook: Notebook | None = None
        self._used = 0
        self._barred: set[int] = set()  # cells that a new process must not be given

    def hold(self) -> dict[int, Verdict]:
        """Work through the notebook.

        Raises:
            NoBox: there is no box here.
        """
        self._deadline = monotonic() + self.patience.notebook
        try:
            self._start()
            for index, cell in enumerate(self.nb.cells):
                self._visit(cell, index)
            self._once_more()
        finally:
            self._stop()
        return self.verdicts

    def _visit(self, cell: NotebookNode, index: int) -> None:
        exercise = self._checked(cell)
        if exercise is None:
            self._run(cell, index)
        elif self.only in ("", exercise.name):
            self.verdicts[index] = self._try(exercise, index)

    def _once_more(self) -> None:
        """Try answers again that were not there at the place of their check."""
        for index, verdict in list(self.verdicts.items()):
            if is_missing(verdict) and self._is_open():
                again = self._try(self.exercises[verdict.exercise], len(self.nb.cells))
                if not is_missing(again):
                    self.verdicts[index] = again

    def _checked(self, cell: NotebookNode) -> Exercise | None:
        return self.exercises.get(checked_exercise(cell) or "")

    # ------------------------------------------------------------------ cells

    def _run(self, cell: NotebookNode, index: int) -> None:
        """Run one cell as the student wrote it."""
        if cell.cell_type != "code":
            return
        if not self._is_open():
            note(cell, "NotRun", "This cell was not run: the notebook had used up what it may use.")
            return
        try:
            head = self._step(cell)
        except Lost as lost:
            self._barred.add(index)
            self._lose(f"cell {index + 1}", lost)
            note(
                cell,
                "ProcessEnded",
                "This cell ended or blocked Python. The cells above it were run again "
                "without it, and the notebook went on.",
            )
            self._restart(index)
            return
        cell.execution_count = index + 1
        cell.outputs = clean_outputs(as_outputs(head.get("outputs"), index + 1))
        if head.get("ended") != "success" and not is_failed(cell):
            note(cell, "CellFailed", "This cell did not come to its end.")
        if head.get("out_of_time") is True:
            self._barred.add(index)
            self.ends.append("out of time")
            self.warn(f"cell {index + 1} used up its time and was stopped")

    def _step(self, cell: NotebookNode) -> dict[str, Any]:
        times = self.patience
        step = {"do": "run", "source": cell.source, "cpu": times.cell_cpu, "wall": times.cell_wall}
        return self._notebook.step(step, patience=times.cell_wall + HANG_UP)[0]

    # ------------------------------------------------------------------ answers

    def _try(self, exercise: Exercise, index: int) -> Verdict:
        """Have an answer tried, on the cases and then on random models, and judge it."""
        if not self._is_open():
            return untried(exercise)
        verdict = verdict_on(exercise, self._claims(exercise, index, drawn=False))
        if exercise.random is None or not verdict.passed:
            return verdict
        drawn = self._claims(exercise, index, drawn=True)
        return verdict_on_drawn(exercise, verdict, drawn, self.seed)

    def _claims(self, exercise: Exercise, index: int, *, drawn: bool) -> Claims:
        """What the notebook's process says of an answer."""
        at: list[str] = []
        step = {
            "do": "try",
            "exercise": exercise.name,
            "cpu": self.patience.case_cpu,
            "wall": self.patience.case_wall,
            "seed": self.seed,
            "drawn": drawn,
        }
        try:
            head, blobs = self._notebook.step(
                step,
                patience=self.patience.trial,
                tell=lambda head: at.append(str(head.get("trying"))[:200]),
            )
        except Lost as lost:
            self._lose(f"trying {exercise.name}", lost)
            self._restart(index)
            return Claims(state="lost", case=at[-1] if at else "", how=lost.how)
        kind = head.get("type") if isinstance(head.get("type"), str) else ""
        if head.get("state") == "broken":
            why = head.get("why") if isinstance(head.get("why"), str) else ""
            self.warn(f"{exercise.name} could not be tried in this notebook's Python ({why[:300]})")
        return Claims(state=str(head.get("state")), kind=kind, outcomes=blobs)

    # ------------------------------------------------------------------ processes

    def _is_open(self) -> bool:
        """Whether cells can still be run."""
        if self._notebook is not None and monotonic() > self._deadline:
            self.warn(f"the notebook took longer than {self.patience.notebook:g} seconds")
            self.ends.append("out of time")
            self._stop()
        return self._notebook is not None

    def _lose(self, what: str, lost: Lost) -> None:
        self.ends.append(lost.how)
        self.warn(f"{what} ended or blocked Python ({lost.how})")

    def _start(self) -> None:
        self._used += 1
        self._notebook = self.warm.notebook()
        if self.files:
            step = {"do": "files", "names": list(self.files)}
            self._notebook.step(step, list(self.files.values()), patience=60.0)

    def _stop(self) -> None:
        if self._notebook is not None:
            self._notebook.close()
        self._notebook = None

    def _restart(self, before: int) -> None:
        """Give the notebook a new process in which the cells before this one have been run."""
        while True:
            self._stop()
            if self._used >= self.patience.restarts:
                self.warn(f"the notebook used up {self._used} processes; the rest is not run")
                return
            self._start()
            lost_at = self._replay(before)
            if lost_at is None:
                return
            self._barred.add(lost_at)

    def _replay(self, before: int) -> int | None:
        """Run the cells again whose outputs are there already; the one that failed, if any."""
        for index, cell in enumerate(self.nb.cells[:before]):
            if cell.cell_type != "code" or index in self._barred or self._checked(cell):
                continue
            if not self._is_open():
                return None
            try:
                self._step(cell)
            except Lost as lost:
                self._lose(f"cell {index + 1}, run again,", lost)
                return index
        return None


def as_outputs(claimed: Any, count: int) -> list[NotebookNode]:
    """Outputs of a cell as notebooks have them, from what a student's process says they are."""
    rows = claimed if isinstance(claimed, list) else []
    return [output for row in rows[:1000] if (output := _as_output(row, count)) is not None]


def _as_output(row: Any, count: int) -> NotebookNode | None:
    try:
        match row["output_type"]:
            case "stream":
                name = "stderr" if row["name"] == "stderr" else "stdout"
                return new_output("stream", name=name, text=_text(row["text"]))
            case "error":
                lines = [_text(line) for line in row["traceback"]]
                name, value = _text(row["ename"]), _text(row["evalue"])
                return new_output("error", ename=name, evalue=value, traceback=lines)
            case "display_data" | "execute_result" as kind:
                more = {"execution_count": count} if kind == "execute_result" else {}
                data, metadata = from_dict(dict(row["data"])), from_dict(dict(row["metadata"]))
                return new_output(kind, data=data, metadata=metadata, **more)
    except (KeyError, TypeError, ValueError):
        return None
    return None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value.encode("utf-8", "replace").decode()


def is_failed(cell: NotebookNode) -> bool:
    """Whether a cell shows an error: nbgrader's plain tests earn their points by showing none."""
    return any(output.output_type == "error" for output in cell.outputs)


def note(cell: NotebookNode, name: str, text: str) -> None:
    """Add to a cell's outputs what happened to it."""
    cell.outputs.append(new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"]))
