"""Caches the fork servers of chapters, because nbgrader grades submissions one by one."""

from __future__ import annotations

import atexit

from autograder.classroom.grading.canary import prove
from autograder.classroom.grading.grade_submission import ChapterServers
from autograder.sandbox.walls import NoBox, Wall, choose
from autograder.submission.contract import GradingConfig, PreloadSpec

_servers: dict[tuple[PreloadSpec, Wall], ChapterServers] = {}


def servers_for(config: GradingConfig) -> ChapterServers:
    """The servers for a chapter's notebooks; started at the first request.

    Raises:
        NoBox: this machine cannot sandbox notebooks. The message says why, and what to do.
    """
    preload, wall = config.preload, choose(config.wall)
    key = preload, wall
    if key not in _servers:
        for other in [one for one in _servers if one[0].name == preload.name]:
            _servers.pop(other).close()  # they have preloaded an earlier version of the chapter
        made = ChapterServers(preload, wall)
        try:
            if config.proof:
                prove(made, preload)
        except NoBox:
            made.close()
            raise
        _servers[key] = made
    return _servers[key]


@atexit.register
def let_go() -> None:
    """End the cached servers."""
    while _servers:
        _servers.popitem()[1].close()
