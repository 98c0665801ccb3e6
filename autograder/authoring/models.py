"""Names for the ``models.py`` of an exercise, which runs next to a learner's code.

Collections of models that exercises share, such as `autograder.models.networks`, are not here: each
module class in a process makes each trace slower.
"""

from __future__ import annotations

from autograder.core.execution import seed_all
from autograder.core.exercise import Trial
from autograder.core.fake_values import memory_numbers, mode_of, val_text
from autograder.core.global_state import RandomState
from autograder.core.limits import bounded_output
from autograder.core.storage import recorded
from autograder.core.torch_private import (
    BatchNorm,
    argument_trees,
    codegen_of,
    fake_tensor_class,
    fake_tensor_mode,
    is_exported,
    leave_modes,
    memory_of,
    modes_entered,
    own_buffers,
    own_modules,
    own_parameters,
    pytree,
    rename,
)
from autograder.models.build import (
    ModelTrial,
    T,
    Traced,
    TracedInPart,
    arguments,
    fresh,
    tensor_of,
)
from autograder.models.renaming import perhaps_renamed, renamed

__all__ = [
    # the objects of one call of an answer
    "Trial",
    # fresh models and inputs, from short declarations
    "ModelTrial", "T", "Traced", "TracedInPart", "arguments", "fresh", "tensor_of",
    # graph modules whose nodes have other names
    "perhaps_renamed", "renamed",
    # the state of a process: random numbers, and the length of what is printed
    "seed_all", "RandomState", "bounded_output",
    # a record of the changes that an answer makes
    "recorded",
    # which values of a graph share memory, the mode of its fake ones, and their texts
    "memory_numbers", "mode_of", "val_text",
    # programs of `torch.export`, without an import of it
    "is_exported",
    # private names of PyTorch
    "BatchNorm", "argument_trees", "codegen_of", "fake_tensor_class", "fake_tensor_mode",
    "leave_modes", "memory_of", "modes_entered", "own_buffers", "own_modules", "own_parameters",
    "pytree", "rename",
]  # fmt: skip
