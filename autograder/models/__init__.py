"""The models that answers are tried on, and functions that make cases of them."""

from autograder.models.build import InEvaluation, T, fresh, model_case, randomize_, tensor_of

__all__ = ["InEvaluation", "T", "fresh", "model_case", "randomize_", "tensor_of"]
