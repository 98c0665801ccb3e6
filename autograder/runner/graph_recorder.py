"""Records each line of an answer that changes a graph, while the answer runs once more.

Nothing of PyTorch is patched: Python's own tracing calls the recorder before each line of the
answer, and the recorder looks at the graphs in the local variables.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import SequenceMatcher
from types import FrameType
from typing import Any, NamedTuple

from torch import fx
from torch.fx.proxy import TracerBase

from autograder.core.code_objects import codes_of
from autograder.core.exercise import Trial
from autograder.core.limits import Limits
from autograder.core.node_label import one_line, shorten
from autograder.core.outcome import Outcome
from autograder.drawing.graph_steps import (
    ChangeKind,
    GraphFilm,
    GraphRow,
    GraphStep,
    NodeChange,
)
from autograder.drawing.sketch import GHOSTS, sketch
from autograder.drawing.text import statement
from autograder.runner import Answer, run_trial

MOST_EVENTS = 20_000
"""Maximum number of lines before which the recorder looks at the graphs."""

MOST_STEPS = 60
"""Maximum number of steps in a film; later ones are only counted."""

MOST_PARTS = 8
"""Maximum number of items of a tuple that are looked at."""

IN_USE = "Step by step needs Python's tracing; a debugger is using it."
NO_STEPS = "No line of your code made or changed a graph."
NO_MORE_LINES = f"The steps end here: only the first {MOST_EVENTS:,} lines that ran were recorded."


def record_graphs(
    kind: str, answer: Answer, make: Callable[[int], Trial], limits: Limits
) -> GraphFilm:
    """Run an answer on a case as a check does, and record the states of its graphs.

    The result of the answer is not run.

    Args:
        kind: the answer kind.
        answer: the learner's function or class.
        make: builds the case's objects.
        limits: time and output allowed.

    Returns:
        The steps. If the answer raises or does not end, they are the steps up to there. There are
        none if another tracer, such as a debugger, is active.
    """
    if sys.gettrace() is not None:
        return GraphFilm(note=IN_USE)

    def make_for_one_run(seed: int) -> Trial:
        trial = make(seed)
        return replace(trial, meanwhile=None, inputs=trial.inputs[:1], copied=False)

    recorder = _Recorder(answer)
    sys.settrace(recorder.begin_frame)
    try:
        outcome = run_trial(kind, answer, make_for_one_run, "replay", 0, limits)
    finally:
        sys.settrace(None)
    return recorder.film(outcome)


class _NodeState(NamedTuple):
    """The parts of a node that a pass may change. The objects are kept: an id may be used again."""

    node: fx.Node
    name: Any
    target: Any
    args: Any
    kwargs: Any


_GraphState = list[_NodeState]


def _state_of(graph: fx.Graph) -> _GraphState:
    return [_NodeState(n, n.name, n.target, n.args, n.kwargs) for n in graph.nodes]


def _is_same(one: _GraphState, other: _GraphState) -> bool:
    return len(one) == len(other) and all(
        a is b for x, y in zip(one, other, strict=True) for a, b in zip(x, y, strict=True)
    )


class _Recorder:
    """Python's tracing calls `begin_frame` for each call, and `_step` for each line of the answer.

    Args:
        answer: the learner's function or class.
    """

    def __init__(self, answer: Any) -> None:
        self._files = {code.co_filename for code in codes_of(answer)}
        self._frames: list[FrameType] = []
        self._events = 0
        self._place = ("", 0)
        """The file and the line that ran last; line 0 is outside of the answer."""
        self._states: dict[fx.Graph, _GraphState] = {}
        self._rows: dict[fx.Graph, tuple[GraphRow, ...]] = {}
        self._numbers: dict[fx.Graph, int] = {}
        self._keys: dict[Any, int] = {}
        self._steps: list[GraphStep] = []
        self._more = 0

    def begin_frame(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Trace the frames of the answer's file, except for those of models and patterns."""
        if frame.f_code.co_filename not in self._files or self._is_traced(frame):
            return None
        self._frames.append(frame)
        return self._step

    def _is_traced(self, frame: FrameType) -> bool:
        """Whether FX runs this code to make a graph of it. The answer's own tracer is not meant."""
        code = frame.f_code
        first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        caller = None if issubclass(type(first), TracerBase) else frame.f_back
        while caller is not None and caller not in self._frames:
            if caller.f_code is fx.Tracer.trace.__code__:
                return True
            caller = caller.f_back
        return False

    def _step(self, frame: FrameType, event: str, arg: Any) -> Any:
        self._events += 1
        if self._events > MOST_EVENTS:
            sys.settrace(None)
            return None
        try:
            returned = list(_graphs_in(arg)) if event == "return" else []
            self._look(returned)
            if event == "line":
                self._place = frame.f_code.co_filename, frame.f_lineno
            elif event == "return":
                self._end_frame(frame, returned)
        except Exception:  # an error in the answer's own objects must not change the run
            sys.settrace(None)
        return self._step

    def _end_frame(self, frame: FrameType, returned: Sequence[fx.Graph]) -> None:
        """Go on with the rest of the calling line, or end a call of the answer."""
        if self._frames[-1:] == [frame]:
            self._frames.pop()
        if self._frames:
            caller = self._frames[-1]
            self._place = caller.f_code.co_filename, caller.f_lineno
            return
        if len(returned) == 1 and returned[0] in self._rows:
            self._show_result(returned[0])
        self._place = "", 0

    def _show_result(self, graph: fx.Graph) -> None:
        """Show the returned graph last, even if another graph was changed later."""
        rows = self._rows[graph]
        if len(self._steps) < MOST_STEPS and _texts(rows) != _texts(self._steps[-1].rows):
            self._add(graph, rows)

    def _look(self, more: Sequence[fx.Graph] = ()) -> None:
        """Add a step for each graph that differs from its last state."""
        found = [g for f in self._frames for v in f.f_locals.values() for g in _graphs_in(v)]
        for graph in dict.fromkeys([*self._states, *found, *more]):
            before, now = self._states.get(graph), _state_of(graph)
            if before is None or not _is_same(before, now):
                self._states[graph] = now
                self._note(graph, before, now)

    def _note(self, graph: fx.Graph, before: _GraphState | None, now: _GraphState) -> None:
        if len(self._steps) == MOST_STEPS:
            self._more += 1
        elif before is None:
            self._note_new(graph, now)
        else:
            old, rows = self._rows[graph], self._rows_of(graph)
            if rows != old:  # otherwise an argument was replaced by an equal one
                self._rows[graph] = rows
                self._add(graph, rows, tuple(self._changes(before, now, old, rows)))

    def _note_new(self, graph: fx.Graph, now: _GraphState) -> None:
        """Add the first step of a graph. A copy of the last graph continues its steps instead."""
        last = self._steps[-1] if self._steps else None
        rows = self._rows_of(graph)
        if last is not None and _texts(rows) == _texts(last.rows) and len(now) == len(rows):
            self._keys.update(zip((s.node for s in now), (r.key for r in last.rows), strict=True))
            self._numbers[graph] = last.graph
            self._rows[graph] = self._rows_of(graph)
            return
        self._numbers[graph] = 1 + max(self._numbers.values(), default=0)
        self._rows[graph] = rows
        self._add(graph, rows)

    def _add(
        self, graph: fx.Graph, rows: tuple[GraphRow, ...], changes: tuple[NodeChange, ...] = ()
    ) -> None:
        file, line = self._place
        text = linecache.getline(file, line).strip() if line else ""
        self._steps.append(GraphStep(self._numbers[graph], line, text, rows, changes))

    def _rows_of(self, graph: fx.Graph) -> tuple[GraphRow, ...]:
        boxes, nodes = sketch(graph), iter(list(graph.nodes))
        keys: dict[str, int] = {}
        for box in boxes:
            what = (graph, box.name) if box.op in GHOSTS else next(nodes)
            keys[box.name] = self._keys.setdefault(what, len(self._keys))
        return tuple(
            GraphRow(keys[b.name], b.name, statement(b), tuple(keys[each] for each in b.inputs))
            for b in boxes
        )

    def _changes(
        self,
        before: _GraphState,
        now: _GraphState,
        old_rows: Sequence[GraphRow],
        rows: Sequence[GraphRow],
    ) -> Iterator[NodeChange]:
        states = {self._keys[state.node]: state for state in before}
        new_states = {self._keys[state.node]: state for state in now}
        old, new = {row.key: row for row in old_rows}, {row.key: row for row in rows}
        moved = _moved([key for key in old if key in new], [key for key in new if key in old])
        for key, row in old.items():
            if key not in new:
                yield NodeChange("erased", key, row.text, "")
        for key, row in new.items():
            if key not in old:
                yield NodeChange("new", key, "", row.text)
            elif row.text != old[key].text and (kind := _kind_of(states[key], new_states[key])):
                yield NodeChange(kind, key, old[key].text, row.text)
            elif key in moved:
                yield NodeChange("moved", key, old[key].text, row.text)

    def film(self, outcome: Outcome) -> GraphFilm:
        """The film, with a sentence about the end of the run."""
        self._frames.clear()
        with suppress(Exception):  # as in `_step`
            self._look()  # FX goes on with the graph of a transformer after the last line
        note = _end_of(outcome)
        if self._events > MOST_EVENTS and not note:
            note = NO_MORE_LINES
        if not self._steps and not note:
            note = NO_STEPS
        return GraphFilm(tuple(self._steps), len(self._steps) + self._more, note)


def _graphs_in(value: Any) -> Iterator[fx.Graph]:
    """The graphs of an object of FX; no code of the object runs."""
    kind = type(value)
    if issubclass(kind, fx.Graph):
        yield value
    elif issubclass(kind, fx.Node):
        yield value.graph
    elif issubclass(kind, fx.Proxy):  # `Attribute.node` would make a node
        yield from _graphs_in(value.__dict__.get("tracer"))
    elif issubclass(kind, (fx.GraphModule, TracerBase, fx.Interpreter)):
        for name in ("_graph", "graph", "new_graph"):
            if isinstance(graph := value.__dict__.get(name), fx.Graph):
                yield graph
    elif kind is tuple:
        for item in value[:MOST_PARTS]:
            yield from _graphs_in(item)


def _texts(rows: Sequence[GraphRow]) -> list[str]:
    return [row.text for row in rows]


def _kind_of(was: _NodeState, now: _NodeState) -> ChangeKind | None:
    """The most important change of a node, apart from its place."""
    if was.target is not now.target:
        return "target"
    if was.args is not now.args or was.kwargs is not now.kwargs:
        return "arguments"
    return "renamed" if was.name != now.name else None


def _moved(before: list[int], after: list[int]) -> set[int]:
    """The keys that are in another order."""
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept = {key for block in blocks for key in after[block.b : block.b + block.size]}
    return set(after) - kept


def _end_of(outcome: Outcome) -> str:
    """A sentence about a run that was not completed, or ``""``."""
    error = outcome.error
    if error is None:
        return ""
    line = error.get("line")
    place = f"line {line}" if line else "PyTorch's code"
    if outcome.ended == "out of time":
        return f"Your code had not ended after some time, and was stopped in {place}."
    said = shorten(one_line(f"{error['type']}: {error['message']}"), 160).rstrip(": ")
    return f"Then {place} raised `{said}`."
