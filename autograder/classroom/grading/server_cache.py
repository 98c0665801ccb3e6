"""Caches the fork servers of chapters, because nbgrader grades submissions one by one."""

from __future__ import annotations

import atexit
from functools import cache

from autograder.classroom.grading.canary import prove
from autograder.classroom.grading.grade_submission import ChapterServers
from autograder.sandbox.client import NoBox
from autograder.sandbox.probe import why_no_box
from autograder.submission.contract import GradingConfig, PreloadSpec

_servers: dict[tuple[PreloadSpec, bool], ChapterServers] = {}


def servers_for(config: GradingConfig) -> ChapterServers:
    """The servers for a chapter's notebooks; started at the first request.

    Raises:
        NoBox: this machine cannot sandbox notebooks. The message says why, and what to do.
    """
    preload, key = config.preload, (config.preload, config.boxed)
    if key not in _servers:
        for other in [one for one in _servers if one[0].name == preload.name]:
            _servers.pop(other).close()  # they have preloaded an earlier version of the chapter
        if config.boxed and (why_not := no_box()):
            raise NoBox(why_not)
        made = ChapterServers(preload, boxed=config.boxed)
        try:
            if config.proof:
                prove(made, preload)
        except NoBox:
            made.close()
            raise
        _servers[key] = made
    return _servers[key]


@cache
def no_box() -> str | None:
    """The reason why this machine cannot sandbox notebooks; determined once."""
    return why_no_box()


@atexit.register
def let_go() -> None:
    """End the cached servers."""
    while _servers:
        _servers.popitem()[1].close()
