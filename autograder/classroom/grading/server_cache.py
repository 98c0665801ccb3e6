"""Keeps the fork servers of the chapters that are graded here, where nbgrader asks one by one."""

from __future__ import annotations

import atexit
from functools import cache

from autograder.classroom.grading.canary import prove
from autograder.classroom.grading.grade_submission import ChapterServers
from autograder.sandbox.client import NoBox
from autograder.sandbox.probe import why_no_box
from autograder.submission.contract import GradingConfig, PreloadSpec

_kept: dict[tuple[PreloadSpec, bool], ChapterServers] = {}


def servers_for(config: GradingConfig) -> ChapterServers:
    """The servers for a chapter's notebooks; started when first asked for.

    Raises:
        NoBox: notebooks cannot be boxed here. The message says why, and what to do.
    """
    preload, key = config.preload, (config.preload, config.boxed)
    if key not in _kept:
        for other in [one for one in _kept if one[0].name == preload.name]:
            _kept.pop(other).close()  # they are ready for what the chapter was before
        if config.boxed and (why_not := no_box()):
            raise NoBox(why_not)
        made = ChapterServers(preload, boxed=config.boxed)
        try:
            if config.proof:
                prove(made, preload)
        except NoBox:
            made.close()
            raise
        _kept[key] = made
    return _kept[key]


@cache
def no_box() -> str | None:
    """Why notebooks cannot be boxed here; asked of the machine once."""
    return why_no_box()


@atexit.register
def let_go() -> None:
    """End the kept processes."""
    while _kept:
        _kept.popitem()[1].close()
