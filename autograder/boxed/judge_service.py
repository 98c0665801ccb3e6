"""The judge's process: repairs a submission, has it run, judges its answers, and cleans it.

It is forked for one submission, from a server that has imported the chapter's exercises and answer
keys, in a sandbox like a student's. It has no access to the gradebook, a secret, another submission
or any file. From its client it requests processes for the notebook and its graphs, and the seed.
"""

from __future__ import annotations

import base64
import gc
import importlib
import io
import json
import linecache
import pickle
import pkgutil
import socket
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from types import ModuleType
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader import utils
from nbgrader.preprocessors import LimitOutput

from autograder.boxed.notebook_run import NotebookRun
from autograder.boxed.remote_graphs import modules_of
from autograder.boxed.work_ahead import pools_of, read_ahead, work_ahead
from autograder.core import own_exercises
from autograder.core.exercise import Case, Exercise
from autograder.core.process_exit import ExitReason
from autograder.judge import canary
from autograder.judge.answer_key import module_of
from autograder.judge.references import stored
from autograder.sandbox.client import Image, Process, SubprocessServer
from autograder.sandbox.wire import Broken, receive, send
from autograder.speed import fx_tracing
from autograder.speed.warm_up import brings_dynamo, import_dynamo, import_late
from autograder.submission.case_report import CaseReport
from autograder.submission.check_result import CheckResult, checks_of
from autograder.submission.contract import GradingConfig, Submission
from autograder.submission.outcome_notes import note_outcome
from autograder.submission.repair import read_forgivingly, repair
from autograder.submission.repair_steps import Repair, RepairKind
from autograder.submission.result import SubmissionStatus
from autograder.submission.scores import auto_score
from autograder.submission.seeds import code_of, note_seed
from autograder.submission.source_cells import checked_exercise
from autograder.submission.verdict_outputs import show_verdicts
from autograder.submission.work_digest import answers_of, work_of

_ROOMS = (
    "cards", "core", "drawing", "fuzz", "judge", "models", "rules", "runner", "submission",
)  # fmt: skip
"""Packages whose modules are all imported before the sandbox is made, which can read no file."""


@dataclass
class JudgeState:
    """The prepared state of a server of judges.

    Attributes:
        exercises: those of the chapter, by name.
        canary: those with known scores, by name.
        image: the setup of processes for notebooks, if there is no sandbox.
        ahead: work that every judge would otherwise repeat.
    """

    exercises: dict[str, Exercise]
    canary: dict[str, Exercise]
    image: Image | None = None
    ahead: Iterator[None] = field(default_factory=lambda: iter(()))


def get_ready(config: dict[str, Any], blobs: list[bytes]) -> JudgeState:
    """Import the modules that judging needs.

    Args:
        config: ``syllabus``, ``chapter``, the modules that its cells import, the number of the
            ``pool`` of random models, and ``own``, the texts of the instructor's exercises.
        blobs: the notebook as it was given out, as a file's text, which may be empty; and, without
            a sandbox, a pickled `Image` for notebooks.
    """
    warnings.simplefilter("ignore")  # warnings of libraries about a notebook's form have no reader
    import_late()
    if brings_dynamo(config.get("imports", ())):
        import_dynamo()
    fx_tracing.install()
    for room in _ROOMS:
        _import_all(f"autograder.{room}")
    own_exercises.install(config.get("own", {}))
    syllabus = importlib.import_module(config["syllabus"])
    given, *images = blobs or [b""]
    exercises = _of_class(syllabus, config["chapter"], given)
    for exercise in exercises.values():
        stored(module_of(exercise))  # which also imports the answer key
    _read_sources()
    _rehearse()
    image = pickle.loads(images[0]) if images else None
    state = JudgeState(exercises, canary.exercises(), image)
    pools = pools_of(list(exercises.values()), config.get("pool", 0))
    state.ahead = chain(read_ahead(given), work_ahead(list(exercises.values()), pools))
    return state


JUDGE_GC_THRESHOLD = 1_000_000, 20, 10
"""GC thresholds of a judge. One submission creates a tenth of the first one, so that no collection
runs; one would take a fifth of the time of judging."""


def _of_class(syllabus: ModuleType, chapter: str, given: bytes) -> dict[str, Exercise]:
    """The exercises of a chapter, and any others that the class's own notebook checks.

    A later version of the course may have moved an exercise to another chapter. A class that has
    started keeps it in the old one.
    """
    found = _of_chapter(syllabus, chapter)
    for name in _checked_in(given):
        if name not in found and name in syllabus.EXERCISES:
            found[name] = replace(syllabus.EXERCISES[name], chapter=chapter)
    return found


def _checked_in(given: bytes) -> Iterator[str]:
    try:
        cells = nbformat.reads(given.decode("utf-8", "replace"), as_version=4).cells
    except Exception:  # without a notebook there are no others
        return
    yield from filter(None, map(checked_exercise, cells))


def _of_chapter(syllabus: ModuleType, chapter: str) -> dict[str, Exercise]:
    if hasattr(syllabus, "of_chapter"):
        return {exercise.name: exercise for exercise in syllabus.of_chapter(chapter)}
    return {name: one for name, one in syllabus.EXERCISES.items() if one.chapter == chapter}


def _import_all(name: str) -> None:
    found = importlib.import_module(name)
    for module in pkgutil.walk_packages(getattr(found, "__path__", ()), f"{name}."):
        importlib.import_module(module.name)


def _read_sources() -> None:
    """Cache the text of the course's modules, because cards show classes as they are written."""
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        known = ("autograder", "tests", own_exercises.PACKAGE)
        if path and name.partition(".")[0] in known and path.endswith(".py"):
            lines = linecache.getlines(path, vars(module))
            # Without a modification time, `linecache` does not check the file again.
            linecache.cache[path] = (sum(map(len, lines)), None, lines, path)


def _rehearse() -> None:
    """Read and write a notebook once, because the first time is slow."""
    empty = new_notebook(cells=[new_code_cell("1"), new_markdown_cell("*a*")])
    nb, _ = read_forgivingly(_written(empty))
    repair(nb, {})
    LimitOutput().preprocess(nb, {})
    _written(nb)


def public(state: JudgeState) -> bytes:
    """The data on exercises that a student's process may have, as JSON; see `preload.configure`."""
    known = [*state.exercises.values(), *state.canary.values()]
    cases = [case for exercise in known for case in exercise.cases]
    for exercise in state.exercises.values():
        cases += random_models_like_all(exercise)
    forbidden = [row for case in cases for row in case.make(0).forbidden]
    unique = list({(id(row[0]), *row[1:]): row for row in forbidden}.values())
    names = ("name", "chapter", "title", "stars", "minutes", "points", "kind", "hints")
    rows = [{key: getattr(one, key) for key in names} for one in state.exercises.values()]
    modules = sorted(modules_of(cases))
    text = {"modules": modules, "exercises": rows}
    text["own"] = own_exercises.texts_for_answers(modules)
    text["forbidden"] = base64.b64encode(pickle.dumps(unique)).decode()
    return json.dumps(text).encode()


def random_models_like_all(exercise: Exercise) -> tuple[Case, ...]:
    """Enough random models that those of other seeds need no other modules and forbid nothing more.

    The course builds all models of an exercise with the same modules, so one is enough. An
    instructor's may differ.
    """
    if exercise.random is None:
        return ()
    own = module_of(exercise).startswith(f"{own_exercises.PACKAGE}.")
    return exercise.random.cases(0, None if own else 1)


def idle(state: JudgeState) -> bool:
    """Do one piece of the work that is the same for every answer; return whether there was one."""
    return next(state.ahead, False) is None


# ------------------------------------------------------------------ in the sandbox


class _ClientSource:
    """Requests processes from the client.

    Args:
        wire: the socket to the client.
    """

    can_fork = True

    def __init__(self, wire: socket.socket) -> None:
        self._wire = wire

    def process(self, entry: str) -> Process:
        """Request a process that the client forks in a sandbox."""
        send(self._wire, {"need": entry})
        receive(self._wire)
        _, wires, _, _ = socket.recv_fds(self._wire, 1, 2)
        talk, word = (socket.socket(fileno=number) for number in wires)
        return Process(talk, word)


class _LocalSource:
    """Starts processes itself, if there is no sandbox.

    Args:
        image: the setup of the processes.
        public: the data that a student's process may have.
    """

    can_fork = False

    def __init__(self, image: Image, public: bytes) -> None:
        self._source = SubprocessServer(image)
        self._source.configure(json.loads(public), [])

    def process(self, entry: str) -> Process:
        """Start a process."""
        return self._source.process(entry)


def serve(state: JudgeState, wire: socket.socket) -> None:
    """Do the client's requests for one submission."""
    gc.set_threshold(*JUDGE_GC_THRESHOLD)
    steps = {"grade": _grade, "repair": _repair, "run": _run}
    try:
        while True:
            head, blobs = receive(wire)
            if head["do"] not in steps:
                return
            supply: _Supply = (
                _LocalSource(state.image, public(state)) if state.image else _ClientSource(wire)
            )
            said, text = steps[head["do"]](state, supply, wire, blobs)
            send(wire, {"done": head["do"]} | said, [text])
    except Broken:
        return


_Supply = _ClientSource | _LocalSource

Said = tuple[dict[str, Any], bytes]
"""Data on a submission, and its notebook as a file's text."""


def _repair(state: JudgeState, supply: _Supply, wire: socket.socket, blobs: list[bytes]) -> Said:
    """Repair a notebook."""
    text, source_cells = blobs[0], pickle.loads(blobs[1])
    nb, why_unread = read_forgivingly(text)
    repairs = repair(nb, source_cells, why_unread)
    rows = [[found.kind.name, found.sentence] for found in repairs]
    said = {"repairs": rows, "unreadable": bool(why_unread)}
    return said | {"work": "" if why_unread else work_of(nb)}, _written(nb)


def _run(state: JudgeState, supply: _Supply, wire: socket.socket, blobs: list[bytes]) -> Said:
    """Run a repaired notebook, and judge its answers."""
    nb = nbformat.reads(blobs[0].decode(), as_version=4)
    submission, config = pickle.loads(blobs[1])
    notes: list[str] = []
    ran = _run_notebook(state, supply, wire, nb, submission, config, notes)
    note_outcome(nb, happened=notes)
    cases = [case.to_json() for case in ran.cases]
    return {"shares": ran.shares, "notes": notes, "cases": cases}, _written(nb)


def _grade(state: JudgeState, supply: _Supply, wire: socket.socket, blobs: list[bytes]) -> Said:
    """Grade a submission; any content has a result."""
    submission, config = pickle.loads(blobs[0])
    nb, why_unread = read_forgivingly(submission.text if submission.text is not None else b"")
    repairs = repair(nb, config.source_cells, why_unread)
    read = submission.text is not None and not why_unread
    work = answers_of(nb) if read else ""
    _clear(nb)
    notes: list[str] = []
    ran = _run_notebook(state, supply, wire, nb, submission, config, notes)
    limit = LimitOutput(max_lines=config.max_lines, max_traceback=config.max_traceback)
    nb, _ = limit.preprocess(nb, {})
    scores = {
        cell.metadata["nbgrader"]["grade_id"]: auto_score(cell, ran.shares)
        for cell in nb.cells
        if utils.is_grade(cell) or utils.is_task(cell)
    }
    if submission.text is None:
        status, repairs = SubmissionStatus.REFUSED, []
    elif why_unread:
        # The other repairs only report that every cell is missing.
        status, repairs = SubmissionStatus.UNREADABLE, repairs[:1]
    else:
        status = _status(ran.ends, repairs)
    sentences = [found.sentence for found in repairs]
    note_outcome(nb, status=str(status), happened=[*submission.notes, *notes], repairs=sentences)
    notes += sentences
    said: dict[str, Any] = {
        "status": status,
        "scores": scores,
        "unanswered": _unanswered(nb),
        "notes": notes,
    }
    said |= {"work": work, "checks": [check.to_json() for check in ran.checks] if read else []}
    mended = sum(found.kind is not RepairKind.HARMLESS for found in repairs) if read else 0
    said |= {"restarts": ran.restarts, "repairs": mended}
    return said, _written(nb)


@dataclass(frozen=True)
class _RunResult:
    """The results of a notebook: shares of the points, ends of processes, checks, cases."""

    shares: dict[str, float | None]
    ends: list[ExitReason]
    checks: list[CheckResult]
    cases: list[CaseReport]
    restarts: int


def _run_notebook(
    state: JudgeState,
    supply: _Supply,
    wire: socket.socket,
    nb: NotebookNode,
    submission: Submission,
    config: GradingConfig,
    notes: list[str],
) -> _RunResult:
    """Run a notebook, and judge its answers."""
    exercises = state.canary if config.chapter == canary.CHAPTER else state.exercises
    run = NotebookRun(
        nb, exercises, supply, files=submission.files, timeouts=config.timeouts, only=config.only,
        warn=notes.append,
    )  # fmt: skip
    seed = submission.seed
    if seed is None:
        send(wire, {"need": "seed", "code": code_of(nb)})
        seed = receive(wire)[0]["seed"]
    run.seed = seed
    verdicts = run.run()
    shares = show_verdicts(nb, exercises, verdicts)
    if verdicts:  # without checks of the course, no random models were drawn
        note_seed(nb, seed)
    checks = checks_of(verdicts.values(), run.private)
    note_outcome(nb, checks={check.exercise: check.status for check in checks})
    return _RunResult(shares, run.notebook.ends, checks, run.cases, run.notebook.restarts)


def _written(nb: NotebookNode) -> bytes:
    stream = io.StringIO()
    nbformat.write(nb, stream)
    return stream.getvalue().encode("utf-8", "replace")


def _clear(nb: NotebookNode) -> None:
    """Remove the outputs of the student's own runs, and set the usual kernel."""
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nb.metadata["kernelspec"] = NotebookNode(spec)
    nb.metadata["language_info"] = NotebookNode({"name": "python"})


def _unanswered(nb: NotebookNode) -> list[str]:
    cells = [cell for cell in nb.cells if utils.is_solution(cell)]
    same = (c for c in cells if c.metadata["nbgrader"].get("checksum") == utils.compute_checksum(c))
    return [cell.metadata["nbgrader"]["grade_id"] for cell in same]


def _status(ends: list[ExitReason], repairs: list[Repair]) -> SubmissionStatus:
    kinds = {found.kind for found in repairs}
    if RepairKind.FORGED in kinds:
        return SubmissionStatus.TAMPERED
    if ExitReason.OUT_OF_MEMORY in ends:
        return SubmissionStatus.OUT_OF_MEMORY
    if ExitReason.OUT_OF_TIME in ends:
        return SubmissionStatus.TIMED_OUT
    if ends:
        return SubmissionStatus.CRASHED
    if RepairKind.RESTORED in kinds:
        return SubmissionStatus.RESTORED
    return SubmissionStatus.REPAIRED if RepairKind.REPAIRED in kinds else SubmissionStatus.GRADED
