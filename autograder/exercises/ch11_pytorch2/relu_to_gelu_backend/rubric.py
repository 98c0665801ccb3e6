"""What must come of `relu_to_gelu_backend`: what the model computes, with GELU for every ReLU."""

from __future__ import annotations

from autograder.exercises.ch11_pytorch2.rubric import compiled_code_runs
from autograder.judge.answer_key import AnswerKey
from autograder.rules.passes import caller_untouched, same_result_by

KEY = AnswerKey((caller_untouched, compiled_code_runs, same_result_by("forward")))

TRAP = """\
`recompile()`. What Dynamo hands over makes its code late, at the first call, so an edited graph
works without it. Print `gm.code` once before the edit, or be handed an ordinary graph module, and
the old code runs."""
"""What many answers get wrong; told after a pass."""
