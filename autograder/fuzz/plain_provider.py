"""A source of numbers for Hypothesis that depends on nothing but the seed.

By itself Hypothesis also draws constants that it finds in the modules of the project at hand, and
keeps a list of them in the working directory. What a student is graded on must not depend on which
modules that student has, and nothing is to be written beside a learner's notebook.
"""

from __future__ import annotations

from typing import Any

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

BACKEND = "fxcourse-plain"


class PlainProvider(HypothesisProvider):
    """Draws as Hypothesis does, without constants from anybody's code."""

    def _maybe_draw_constant(self, *args: Any, **kwargs: Any) -> None:
        return None


AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{PlainProvider.__name__}"
