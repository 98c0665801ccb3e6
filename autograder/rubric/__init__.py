"""What a good result has: one small property each, and the groups exercises share."""

from autograder.rubric.passes import (
    GRAPH_MODULE,
    PASS,
    caller_untouched,
    copies,
    returns_graph_module,
    runs,
    same_result,
    signature_kept,
)
from autograder.judge.rule import Rule, Stage, rule
from autograder.rubric.values import nothing_forbidden, returns, right_value
from autograder.rubric.wellformed import known_targets, wellformed

__all__ = [
    "GRAPH_MODULE",
    "PASS",
    "Rule",
    "Stage",
    "caller_untouched",
    "copies",
    "known_targets",
    "nothing_forbidden",
    "returns",
    "returns_graph_module",
    "right_value",
    "rule",
    "runs",
    "same_result",
    "signature_kept",
    "wellformed",
]
