"""The exception that commands explain. It lies here: a student's copy has no `classroom`."""

from __future__ import annotations


class ClassroomError(Exception):
    """A command cannot do its work, or not all of it; the message says why, and what to do."""
