"""The exception that commands explain. It is here because a student's copy has no `classroom`."""

from __future__ import annotations


class ClassroomError(Exception):
    """A command cannot do all of its work; the message says why, and what to do."""
