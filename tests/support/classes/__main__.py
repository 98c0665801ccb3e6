"""A class made of right and wrong answers.

``python -m tests.support.classes DIR --students 300 --chapter 03`` makes it, ``fxcourse grade DIR``
grades it, and ``python -m tests.support.classes DIR --compare`` compares.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.environment.errors import ClassroomError
from tests.support.classes import course

SHOWN = 20
"""Maximum number of printed differences."""


def main(words: list[str] | None = None) -> int:
    """Make a class, or compare its gradebook with the expected scores."""
    options = _options(words)
    return compare(options.folder) if options.compare else make(options)


def _options(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.support.classes", description=__doc__)
    parser.add_argument("folder", type=Path, help="the classroom")
    parser.add_argument("--students", type=int, default=300, help="how many (300)")
    parser.add_argument("--chapter", default="03", help="one or several, such as 02,03 (03)")
    parser.add_argument("--seed", type=int, default=0, help="decides who answers what (0)")
    parser.add_argument("--compare", action="store_true", help="after grading: compare the scores")
    return parser.parse_args(words)


def make(options: argparse.Namespace) -> int:
    """Make the class, and print the next steps."""
    print("Choosing answers: the wrong ones are examined first (a minute a chapter) ...")
    try:
        scores = course.make(options.folder, options.chapter, options.students, options.seed)
    except ClassroomError as error:
        print(error, file=sys.stderr)
        return 1
    works = sum(map(len, scores.values()))
    print(f"{works} notebooks of {', '.join(scores)} are handed in at {options.folder}.")
    print(f"Grade them with:   fxcourse grade {options.folder}")
    print(f"Then compare with: python -m tests.support.classes {options.folder} --compare")
    return 0


def compare(room: Path) -> int:
    """Print the number of expected scores in the gradebook, and the differences."""
    try:
        scores = course.known_scores(room)
    except OSError:
        print(f"{room} has no {course.KNOWN}: it is no class of this command.", file=sys.stderr)
        return 1
    count, wrong = course.differences(room, scores)
    print(f"{count - len(wrong)} of {count} scores are as they must be.")
    for d in wrong[:SHOWN]:
        print(f"  {d.student}, {d.chapter}, {d.exercise}: {d.obtained}, not {d.expected:g}")
    if len(wrong) > SHOWN:
        print(f"  and {len(wrong) - SHOWN} more")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
