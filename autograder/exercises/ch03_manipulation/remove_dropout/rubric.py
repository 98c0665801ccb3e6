"""What must come of `remove_dropout`."""

from __future__ import annotations

from typing import Any

from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.judge.answer_key import AnswerKey
from autograder.judge.oracles import model_itself
from autograder.rules.passes import PASS
from autograder.rules.replacements import (
    leaves_as_they_are,
    no_dropout_left,
    nothing_for_dropout,
)

DROPOUTS = frozenset(
    (F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout)
)


class NoDropout(TorchFunctionMode):
    """While it is on, every dropout that is called returns what it is given."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Called in place of each function of PyTorch."""
        kwargs = kwargs or {}
        if func in DROPOUTS:
            return args[0] if args else kwargs["input"]
        return func(*args, **kwargs)


def without_dropout(trial: Trial) -> Reference:
    """What the model itself computes while dropouts do nothing."""
    with NoDropout():
        return model_itself(trial)


KEY = AnswerKey((*PASS, no_dropout_left, leaves_as_they_are, nothing_for_dropout), without_dropout)

TRAP = """\
Two dropouts in a row. If you note all inputs before the loop, then the input of the second dropout
is the first one, and that node is gone by then. Read the input at the moment when you need it."""
"""What many answers get wrong; told after a pass."""
