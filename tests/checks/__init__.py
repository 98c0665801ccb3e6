"""Tests that run for every exercise, and tools that try its answers.

FX is patched as in a class's sandboxes, because these tests trace thousands of models.
"""

from autograder.speed import fx_tracing

fx_tracing.install()
