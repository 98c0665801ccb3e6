"""Grades the submissions of a plan in parallel, and records each result."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.classroom.grading.options import GradingOptions
from autograder.classroom.grading.plan import ChapterPlan, GradingPlan, Work
from autograder.classroom.grading.record import GradingRecord, refused_result
from autograder.classroom.grading.worker_pool import grade_in_parallel
from autograder.submission.contract import Submission
from autograder.submission.result import GradedNotebook, Result


def grade_plan(plan: GradingPlan, record: GradingRecord) -> Iterator[Result]:
    """Grade all submissions of a plan, and yield their results as they are recorded."""
    for chapter, students in plan.students.items():
        if why_not := plan.why_not(chapter):
            yield from (refused_result(student, chapter, *why_not) for student in students)
        else:
            yield from ChapterRun(plan.chapter(chapter), record, plan.options).results()


class ChapterRun:
    """The submissions of one chapter; read one at a time, as needed."""

    def __init__(self, plan: ChapterPlan, record: GradingRecord, options: GradingOptions) -> None:
        self._plan, self._record, self._options = plan, record, options
        self._in_progress: dict[str, Work] = {}
        self._settled: list[Result] = []  # results of submissions that need no grading

    def results(self) -> Iterator[Result]:
        """Grade the submissions."""
        for graded in self._graded():
            while self._settled:
                yield self._settled.pop()
            work = self._in_progress.pop(graded.result.student)
            if graded.code and self._record.writer.last_run:
                pool = work.submission.pool_for(graded.code)
                self._plan.pools.note(work.submission.student, work.chapter, graded.code, pool)
            yield self._record.write(graded, work)
        yield from self._settled

    def _graded(self) -> Iterator[GradedNotebook]:
        if self._options.cluster:
            from autograder.classroom.grading.dask.driver import on_cluster

            return on_cluster(self._submissions(), self._plan.config, self._options.cluster)
        jobs = max(1, min(self._options.jobs, len(self._plan.students)))
        return grade_in_parallel(self._submissions(), self._plan.config, jobs)

    def _submissions(self) -> Iterator[Submission]:
        for student in self._plan.students:
            if why_not := self._plan.why_not(student):
                self._settled.append(refused_result(student, self._plan.chapter, why_not))
                continue
            work = self._plan.read(student)
            before = self._record.find_unchanged(work) if student in self._plan.graded else None
            if before:
                self._settled.append(self._record.keep(before, work))
                continue
            self._record.note_reason(work)
            self._in_progress[student] = work
            yield work.submission
