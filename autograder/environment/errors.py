"""The exception that commands for a class explain; a student's copy has the command, not the class."""

from __future__ import annotations


class ClassroomError(Exception):
    """A command cannot do its work, or not all of it; the message says why, and what to do."""
