"""The first steps of a learner in a separate kernel."""

from __future__ import annotations

from tests.support import learners_path


def test_a_learner_gets_a_true_answer_in_a_kernel() -> None:
    assert learners_path.main() == 0
