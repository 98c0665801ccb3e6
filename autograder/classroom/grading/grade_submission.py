"""Has submissions graded in sandboxes, and validates the results.

Each submission gets its own judge in a sandbox. The judge receives the submission, and requests
sandboxed processes for the notebook, and the seed. Its result is plain data, and is accepted only
if it is about the chapter's cells, within their points, and of bounded length.
"""

from __future__ import annotations

import json
import math
import pickle
import re
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.core.process_exit import ExitReason, ProcessExit
from autograder.environment import memory
from autograder.sandbox.client import (
    ForkServer,
    Image,
    Process,
    ProcessLost,
    SubprocessServer,
)
from autograder.sandbox.resource_limits import MIB, Bounds
from autograder.sandbox.walls import NoBox, Wall
from autograder.sandbox.wire import Broken, send
from autograder.submission.check_result import (
    CheckResult,
    KeptFinding,
    PrivateCase,
    are_checks,
)
from autograder.submission.contract import (
    GradingConfig,
    PreloadSpec,
    Submission,
    failed_result,
)
from autograder.submission.result import GradedNotebook, Result, Score, SubmissionStatus
from autograder.submission.seeds import seed_of

JUDGE = Bounds(memory=4096 * MIB, disk=MIB, processes=16, cpu=1200.0, wall=7200.0)
"""Resource limits of a submission's judge."""

GRAPHS = Bounds(memory=2048 * MIB, disk=MIB, processes=16, cpu=60.0, wall=900.0)
"""Resource limits of the process that runs the graphs of one answer."""

JUDGING_SECONDS = 900.0
"""Time limit for judging a submission, in seconds, in addition to running it."""

CLOSE_SECONDS, CLOSE_AT_ONCE_SECONDS = 5.0, 0.2
"""Time limits for a fork server to end: after all work, and after an interruption."""

MAX_NOTEBOOK = 128 * MIB
MAX_NOTES, MAX_NOTE = 500, 2_000
MAX_REPAIRS = 1_000_000
MAX_PROCESSES = 400
"""The most processes that one judge may request."""

_LOST = (
    "Judging what this notebook returned ended the judge, twice ({how}). It earns nothing until "
    "it is handed in again, or graded again with --force."
)


class InvalidJudgement(Exception):
    """A judge's result or request is invalid."""


class ChapterServers:
    """The fork servers of one chapter: one for judges, one for notebooks.

    Args:
        chapter: the data that they preload.
        wall: what isolates their processes. Without one, they have the user's permissions.

    Raises:
        NoBox: they do not start. The message says why, and what to do.
    """

    def __init__(self, chapter: PreloadSpec, wall: Wall = Wall.NAMESPACES) -> None:
        for_notebooks = Image(
            {
                "student": ("autograder.boxed.student", chapter.bounds),
                "graphs": ("autograder.boxed.graph_service", GRAPHS),
            },
            {"imports": list(chapter.imports)},
            covered=chapter.covered,
        )
        config = {
            "syllabus": chapter.syllabus, "chapter": chapter.name, "pool": chapter.pool,
            "own": dict(chapter.own), "imports": list(chapter.imports),
        }  # fmt: skip
        entry = {"judge": ("autograder.boxed.judge_service", JUDGE)}
        given = chapter.released_text.encode("utf-8", "replace")
        self.wall, self.boxed = wall, wall is not Wall.NONE
        self.kinds: frozenset[str] = frozenset()
        """The kinds of the chapter's answers; empty if unknown to this process."""
        self._students: ForkServer | None = None
        self._students_lock, self._students_ready = threading.Lock(), False
        self._students_error = ""
        if not self.boxed:
            told = pickle.dumps(for_notebooks)
            self._judges: ForkServer | SubprocessServer = SubprocessServer(
                Image(entry, config, (given, told))
            )
            return
        self._judges = ForkServer(Image(entry, config, (given,), chapter.covered), wall)
        try:
            self._students = ForkServer(for_notebooks, wall)
            (public,) = self._judges.wait()
            self._known = json.loads(public)
            self.kinds = frozenset(row["kind"] for row in self._known["exercises"])
        except BaseException:
            self.close(at_once=True)
            raise

    def judge(self) -> Process:
        """Start a judge for one submission."""
        return self._judges.process("judge")

    def _ready_students(self) -> ForkServer:
        """The fork server for notebooks; waits until it is ready, while judges may already work.

        Raises:
            NoBox: it does not start.
        """
        if self._students is None:
            raise InvalidJudgement("a judge asks for a process where it has to start it itself")
        with self._students_lock:
            if self._students_error:
                raise NoBox(self._students_error)
            if not self._students_ready:
                try:
                    self._students.wait()
                    self._students.configure(self._known, [])
                except NoBox as error:
                    self._students_error = str(error)
                    raise
                self._students_ready = True
        return self._students

    def give(self, wire: socket.socket, entry: str) -> None:
        """Give a judge the process that it requests.

        Raises:
            NoBox: the process cannot be started.
        """
        ends = self._ready_students().wires(entry)
        try:
            send(wire, {"given": entry})
            socket.send_fds(wire, [b"\1"], [end.fileno() for end in ends])
        except OSError as error:
            raise Broken(str(error)) from None
        finally:
            for end in ends:
                end.close()

    def work_ahead(self) -> None:
        """Have the servers precompute the data that all judges and notebooks share.

        This pays off only for several submissions, so it begins after the first result.

        Raises:
            NoBox: the server for notebooks does not start.
        """
        if isinstance(self._judges, ForkServer):
            self._judges.work_ahead()
            self._ready_students().work_ahead()

    def pids(self) -> list[int]:
        """The process ids of the servers."""
        servers = (self._judges, self._students)
        return [server.pid for server in servers if isinstance(server, ForkServer)]

    def close(self, *, at_once: bool = False) -> None:
        """End the servers and all processes that they have forked.

        Args:
            at_once: whether to end them fast, because a user has interrupted the run.
        """
        for server in (self._judges, self._students):
            if isinstance(server, ForkServer):
                server.close(CLOSE_AT_ONCE_SECONDS if at_once else CLOSE_SECONDS)
            elif server is not None:
                server.close()


def grade_submission(
    submission: Submission, config: GradingConfig, servers: ChapterServers
) -> GradedNotebook:
    """Grade a submission; there is a result whatever the submission contains.

    Raises:
        NoBox: it could not be sandboxed.
    """
    start, times_before = time.perf_counter(), memory.times_used_up()
    how = ""
    for _ in range(2):
        try:
            said, text, code = ask("grade", submission, config, servers)
            graded = _validated(said, text, submission, config, time.perf_counter() - start)
            return replace(graded, result=replace(graded.result, wall=servers.wall), code=code)
        except (ProcessLost, InvalidJudgement) as error:
            how = " ".join(filter(None, [str(error), memory.explain(times_before)]))
    return failed_result(submission, config, _LOST.format(how=_line(how)), final=True)


def ask(
    step: str,
    submission: Submission,
    config: GradingConfig,
    servers: ChapterServers,
    nb: bytes = b"",
) -> tuple[Any, bytes, str]:
    """Run a step of a submission in a new judge.

    Args:
        step: ``"grade"``; or ``"run"``, with a repaired notebook.
        submission: the submission.
        config: the configuration of grading.
        servers: the servers that start the judge.
        nb: the content of the repaired notebook's file.

    Returns:
        The judge's result, not validated; the notebook after the step; and the digest of the
        code cells for which the judge requested a seed.

    Raises:
        ProcessLost: the judge ended unexpectedly.
        InvalidJudgement: the judge requests too much.
    """
    judge, asked, code = servers.judge(), 0, ""

    def tell(head: dict[str, Any], blobs: list[bytes]) -> None:
        nonlocal asked, code
        asked += 1
        need = head.get("need")
        if asked > MAX_PROCESSES:
            raise InvalidJudgement("a judge asked for too many processes")
        if need == "seed":
            code = str(head.get("code"))[:100]
            seed = seed_of(submission.key, code, submission.pool_for(code))
            send(judge.talk, {"seed": seed})
        elif need in ("student", "graphs"):
            servers.give(judge.talk, str(need))
        else:
            raise InvalidJudgement("a judge asked for what there is not")

    told = pickle.dumps(
        (replace(submission, key=b"", pool=0, pools={}), config)
    )  # the judge does not get the source of the seed
    patience = config.timeouts.notebook + config.timeouts.trial + JUDGING_SECONDS
    try:
        blobs = [nb, told] if step == "run" else [told]
        said, found = judge.step({"do": step}, blobs, patience=patience, tell=tell)
    finally:
        judge.close()
    if len(found) != 1 or len(found[0]) > MAX_NOTEBOOK:
        raise InvalidJudgement("a judge gave back no notebook")
    return said, found[0], code


def repaired(
    text: bytes, source_cells: Mapping[str, Any], servers: ChapterServers
) -> tuple[bytes, list[str]]:
    """Repair a notebook in a sandbox, and return it with descriptions of the repairs.

    Raises:
        ProcessLost: the judge did not finish.
    """
    said, found = _repair(text, source_cells, servers)
    rows = said.get("repairs")
    sentences = [row[1] for row in rows] if isinstance(rows, list) else []
    return found, [_line(sentence) for sentence in sentences[:MAX_NOTES]]


def work_in(text: bytes, source_cells: Mapping[str, Any], servers: ChapterServers) -> str:
    """The digest of the answers in a notebook, see `work_of`; empty if it could not be read.

    Raises:
        ProcessLost: the judge did not finish.
        InvalidJudgement: the judge's result is invalid.
    """
    said, _ = _repair(text, source_cells, servers)
    return _work_in(said)


def _repair(
    text: bytes, source_cells: Mapping[str, Any], servers: ChapterServers
) -> tuple[Any, bytes]:
    """The judge's words about a notebook, not validated, and the repaired notebook.

    Raises:
        ProcessLost: the judge did not finish.
    """
    judge = servers.judge()
    try:
        blobs = [text, pickle.dumps(dict(source_cells))]
        said, found = judge.step({"do": "repair"}, blobs, patience=JUDGING_SECONDS)
    finally:
        judge.close()
    if len(found) != 1 or len(found[0]) > MAX_NOTEBOOK:
        raise ProcessLost(ProcessExit(ExitReason.UNRESPONSIVE, "it gave back no notebook"))
    return said, found[0]


def shares_in(said: Mapping[str, Any], config: GradingConfig) -> dict[str, float | None]:
    """The fraction of the points that a judge gives for each check; ``None`` if a person decides.

    Raises:
        InvalidJudgement: the judge's result is invalid.
    """
    shares = said.get("shares")
    if not isinstance(shares, dict) or not set(shares) <= set(config.source_cells):
        raise InvalidJudgement("a judge gave points to cells that are not there")
    if not all(share is None or _is_between(share, 0.0, 1.0) for share in shares.values()):
        raise InvalidJudgement("a judge gave points that are not there")
    return shares


def _validated(
    said: Mapping[str, Any],
    text: bytes,
    submission: Submission,
    config: GradingConfig,
    seconds: float,
) -> GradedNotebook:
    """The judge's result as a graded notebook, after validation.

    Raises:
        InvalidJudgement: the result is invalid.
    """
    most = {m.name: m.points or 0.0 for m in config.source_cells.values() if m.grade or m.task}
    scores = said.get("scores")
    if not isinstance(scores, dict) or set(scores) != set(most):
        raise InvalidJudgement("a judge gave points to other cells than there are")
    for name, points in scores.items():
        if points is not None and not _is_between(points, 0.0, most[name]):
            raise InvalidJudgement("a judge gave points that are not there")
    unanswered = said.get("unanswered")
    if not isinstance(unanswered, list) or not set(map(str, unanswered)) <= set(
        config.source_cells
    ):
        raise InvalidJudgement("a judge spoke of cells that are not there")
    notes = (*submission.notes, *notes_in(said))
    result = Result(
        submission.student, config.chapter, _status_in(said), notes=notes, seconds=seconds,
        checks=_checks_in(said, config), restarts=_count_in(said, "restarts", MAX_PROCESSES),
        repairs=_count_in(said, "repairs", MAX_REPAIRS),
    )  # fmt: skip
    graded = GradedNotebook.of(
        result,
        text.decode("utf-8", "replace"),
        {name: Score(points, most[name]) for name, points in scores.items()},
        tuple(map(str, unanswered)),
    )
    return replace(graded, work=_work_in(said))


def _status_in(said: Mapping[str, Any]) -> SubmissionStatus:
    status = said.get("status")
    if not isinstance(status, str) or status not in list(SubmissionStatus):
        raise InvalidJudgement("a judge named no state")
    return SubmissionStatus(status)


def _checks_in(said: Mapping[str, Any], config: GradingConfig) -> tuple[CheckResult, ...]:
    rows = said.get("checks")
    if not are_checks(rows):
        raise InvalidJudgement("a judge said of checks what cannot be")
    checks = [CheckResult.from_json(row) for row in rows or ()]
    names = [check.exercise for check in checks]
    known = {cell.exercise for cell in config.source_cells.values()}
    if len(set(names)) < len(names) or not set(names) <= known:
        raise InvalidJudgement("a judge spoke of checks that are not there")
    return tuple(
        replace(
            check,
            findings=tuple(map(_plain, check.findings)),
            fails=tuple((_line(case), _line(code)) for case, code in check.fails or ()),
            private=check.private and _plain_case(check.private),
        )
        for check in checks
    )


def _plain(finding: KeptFinding) -> KeptFinding:
    texts = (_line(finding.code), _line(finding.message), plain_text(finding.model))
    return KeptFinding(*texts)


def _plain_case(case: PrivateCase) -> PrivateCase:
    texts = {name: plain_text(text) for name, text in vars(case).items()}
    return PrivateCase(**{**texts, "case": _line(case.case)}).bounded()


def _count_in(said: Mapping[str, Any], name: str, most: int) -> int:
    count = said.get(name)
    if type(count) is not int or not 0 <= count <= most:
        raise InvalidJudgement(f"a judge gave no number of {name}")
    return count


def _work_in(said: Mapping[str, Any]) -> str:
    work = said.get("work")
    if not isinstance(work, str) or not re.fullmatch("(?:[0-9a-f]{64})?", work):
        raise InvalidJudgement("a judge gave no digest of the answers")
    return work


def notes_in(said: Mapping[str, Any]) -> tuple[str, ...]:
    """The judge's notes, a line each."""
    notes = said.get("notes")
    return tuple(map(_line, notes[:MAX_NOTES])) if isinstance(notes, list) else ()


def _line(text: Any) -> str:
    """Turn any value into a line of plain text."""
    return " ".join(plain_text(str(text)[:MAX_NOTE]).split("\n"))


def plain_text(text: str) -> str:
    """Replace the control characters of a text by blanks."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def _is_between(value: Any, least: float, most: float) -> bool:
    if type(value) not in (int, float) or not math.isfinite(value):
        return False
    return bool(least <= value <= most + 1e-9)
