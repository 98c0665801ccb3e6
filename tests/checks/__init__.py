"""Tests that are asked of every exercise, and what examines its answers.

FX is patched as in a class's sandboxes, because these tests trace thousands of models.
"""

from autograder.speed import fx_tracing

fx_tracing.install()
