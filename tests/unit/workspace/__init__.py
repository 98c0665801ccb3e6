"""Tests of a learner's workspace."""
