"""The exercises about numbers, for graders in processes of their own: with references.

What a test replaces in its own process is not replaced in those; they import this module.
"""

from __future__ import annotations

from autograder.judge import evidence
from autograder.references import Reference
from tests.numbers_syllabus import EXERCISES

__all__ = ["EXERCISES"]

evidence.reference = lambda *key: Reference(value=0)
