"""What the judge gives for a right answer whose graphs are described in another way, at once.

The same path as in a class from the outcome on, without a class: for tests, and for showing what
comes of a mend that is taken back.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import lru_cache

from autograder.judge import judge
from autograder.outcome import Outcome
from autograder.plain import Plain
from autograder.run import run_cases
from autograder.syllabus import EXERCISES
from tests.submissions.exam import text_of

EXERCISE = "add_to_mul"


@lru_cache(maxsize=1)
def _outcomes() -> list[Outcome]:
    names: dict[str, object] = {}
    head = "import operator\nimport torch\nfrom torch import fx, nn\n"
    exec(head + text_of(EXERCISE, "operands exchanged"), names)
    exercise = EXERCISES[EXERCISE]
    return run_cases(exercise, names[EXERCISE], exercise.cases)


def score_of(spoil: Callable[[Plain], None]) -> float:
    """The score of a right answer to `add_to_mul`, each of whose graphs is spoilt before."""
    claimed = []
    for outcome in map(copy.copy, _outcomes()):
        outcome.value = copy.deepcopy(outcome.value)
        if isinstance(outcome.value, dict) and "graph_module" in outcome.value:
            spoil(outcome.value["graph_module"])
        claimed.append(outcome)
    return judge(EXERCISES[EXERCISE], claimed).score
