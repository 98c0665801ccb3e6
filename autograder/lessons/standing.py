"""A learner's progress: finished exercises and sections, and the section to continue with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from autograder.lessons.course_map import Chapter, CourseMap, Section, Track
from autograder.lessons.record_status import is_passed, is_settled

Place = tuple[Chapter, Section]
"""A section, and its chapter."""


@dataclass(frozen=True)
class Standing:
    """The progress of a learner in the course.

    Attributes:
        course: the map of the course.
        verdicts: the status of each exercise that was tried, by its name.
        picks: the marks of the predictions that were made.
        drills: the marks of the drills that were passed.
    """

    course: CourseMap
    verdicts: Mapping[str, str]
    picks: Collection[str]
    drills: Collection[str] = ()

    @property
    def exercises(self) -> tuple[str, ...]:
        """The names of all exercises, in course order."""
        return tuple(name for chapter in self.course.chapters for name in chapter.exercises)

    @property
    def is_begun(self) -> bool:
        """Whether any exercise is passed."""
        return self.passed(self.exercises) > 0

    def is_passed(self, exercise: str) -> bool:
        """Whether an exercise is passed."""
        return is_passed(self.verdicts.get(exercise))

    def is_settled(self, exercise: str) -> bool:
        """Whether an exercise is passed, or its solution was shown."""
        return is_settled(self.verdicts.get(exercise))

    def passed(self, exercises: Iterable[str]) -> int:
        """The number of these exercises that are passed."""
        return sum(map(self.is_passed, exercises))

    def is_done(self, section: Section) -> bool:
        """Whether a section contains tasks and all of them are done.

        The exercises decide, and in a section without exercises the predictions. A section that has
        only text is never done.
        """
        if section.exercises:
            return all(map(self.is_settled, section.exercises))
        return bool(section.predictions) and all(mark in self.picks for mark in section.predictions)

    def place(self) -> Place | None:
        """The section to continue with; None when all exercises are passed or seen.

        It is the furthest section with work in it, if that section's last exercise is open, and
        otherwise the next section. An exercise that the learner skipped earlier does not count.
        """
        places = [(chapter, each) for chapter in self.course.chapters for each in chapter.sections]
        worked = [at for at, (_, section) in enumerate(places) if self._has_work(section)]
        if not worked:
            return places[0] if places else None
        here, furthest = places[worked[-1]]
        if furthest.exercises and not self.is_settled(furthest.exercises[-1]):
            return here, furthest
        for chapter, section in places[worked[-1] + 1 :]:
            if chapter is here or not chapter.is_deep_dive:
                return chapter, section
        left = [place for place in places if self._has_open_exercise(place[1])]
        return min(left, key=lambda place: place[0].is_deep_dive, default=None)

    def place_on(self, track: Track) -> Place | None:
        """The section of a track to continue with; None at its end."""
        places = [(part.chapter, each) for part in track.parts for each in part.sections]
        worked = [at for at, (_, section) in enumerate(places) if self._has_work(section)]
        rest = places[worked[-1] :] if worked else places
        if worked and not self._has_open_exercise(rest[0][1]):
            rest = rest[1:]
        left = [place for place in places if self._has_open_exercise(place[1])]
        return next(iter([*rest, *left]), None)

    def _has_work(self, section: Section) -> bool:
        return (
            any(name in self.verdicts for name in section.exercises)
            or any(mark in self.picks for mark in section.predictions)
            or any(mark in self.drills for mark in section.drills)
        )

    def _has_open_exercise(self, section: Section) -> bool:
        return not all(map(self.is_settled, section.exercises))
