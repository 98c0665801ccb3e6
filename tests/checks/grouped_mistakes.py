"""Compares groups of wrong answers with the mistakes that were planted in them.

``python -m tests.checks.grouped_mistakes NAME...`` prints the figures of exercises.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autograder.classroom.groups.answers import WrongAnswer
from autograder.classroom.groups.grouping import group
from autograder.core.limits import Limits
from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.runner import run_cases
from autograder.submission.check_result import checks_of
from tests.checks.planted_mistakes import mistakes_in, planted


@dataclass(frozen=True)
class Agreement:
    """The agreement of groups with mistakes.

    Attributes:
        answers: the number of answers.
        mistakes: the number of mistakes.
        groups: the number of groups.
        purity: the share of answers that have the commonest mistake of their group.
        completeness: the share of answers that are in the largest group of their mistake.
    """

    answers: int
    mistakes: int
    groups: int
    purity: float
    completeness: float


def agreement(grouped: Mapping[str, Iterable[str]], mistakes: Mapping[str, str]) -> Agreement:
    """Compare groups with mistakes.

    Args:
        grouped: the answers of each group; an answer in several counts in the first.
        mistakes: the mistake of each answer.
    """
    group_of: dict[str, str] = {}
    for name, answers in grouped.items():
        for answer in answers:
            group_of.setdefault(answer, name)
    pairs = Counter((group_of[answer], mistake) for answer, mistake in mistakes.items())
    by_group, by_mistake = defaultdict[str, int](int), defaultdict[str, int](int)
    for (one, mistake), count in pairs.items():
        by_group[one] = max(by_group[one], count)
        by_mistake[mistake] = max(by_mistake[mistake], count)
    total = len(mistakes)
    return Agreement(
        total, len(by_mistake), len(by_group),
        sum(by_group.values()) / total, sum(by_mistake.values()) / total,
    )  # fmt: skip


MIN_STYLES = 2
"""The number of right answers in which a planted mistake must be wrong."""

IN_A_TRIAL = Limits(cpu=2.0)
"""Limits for one case: an answer that never ends shows it in less time, too."""

MISTAKES = {
    "add_to_mul": (
        "forgets torch.add", "forgets operator.add", "forgets 'add'", "forgets 'alpha'",
        "forgets 'input'", "does not call recompile", "does not call erase_node",
        "does not call replace_all_uses_with", "without the condition node.target in ADDS",
        "without the branch node.kwargs.get('alpha', 1) != 1",
        "without the condition not isinstance(alpha, (fx.Node, fx.Proxy))", "forgets node.args",
    ),
    "retarget": (
        "forgets 'call_function'", "forgets node.args", "forgets node.kwargs",
        "does not call recompile", "does not call erase_node",
        "does not call replace_all_uses_with", "does not call eliminate_dead_code",
        "without the condition node.op == 'call_function'", "without the condition target is old",
        "without the condition node.target is old", "without the condition node.users",
        "without the branch node.op == 'placeholder'",
    ),
    "relu_to_gelu": (
        "forgets F.relu", "forgets torch.relu", "forgets 'relu'", "forgets 'call_module'",
        "does not call recompile", "does not call erase_node", "does not call add_submodule",
        "does not call replace_all_uses_with", "does not call delete_all_unused_submodules",
        "forgets nn.TransformerEncoderLayer", "without the condition target == 'relu'",
        "without the condition not n.kwargs.get('inplace')",
    ),
    "sound_dce": (
        "does not call erase_node", "does not call recompile", "forgets 'out'",
        "does not call delete_all_unused_submodules", "forgets 'placeholder'",
        "forgets torch._assert", "forgets operator.setitem", "forgets 'inplace'",
        "without the condition module.training", "without the condition not node.users",
        "without the condition node.is_impure()",
        "without the condition getattr(module, 'inplace', False)",
    ),
    "inputs_of": (
        "forgets node.args", "forgets node.kwargs", "does not call add",
        "forgets value.step", "forgets value.start", "forgets value.stop", "does not call extend",
        "without the branch isinstance(value, slice)", "without the condition n in seen",
        "without the branch isinstance(value, dict)",
    ),
}  # fmt: skip
"""Mistakes of `planted_mistakes` that are different ones, by exercise."""


def measure(name: str) -> tuple[Agreement, Agreement]:
    """The agreement with mistakes of the groups, and of grouping by the first finding alone."""
    exercise, answers, labels = EXERCISES[name], list[WrongAnswer](), dict[str, str]()
    edits = mistakes_in(name)
    for what in MISTAKES[name]:
        wrong = {}
        for answer in planted(name, what, edits[what]):
            outcomes = run_cases(exercise, answer.write, exercise.cases, limits=IN_A_TRIAL)
            (check,) = checks_of([judge(exercise, outcomes)])
            if check.status != "passed":
                wrong[f"{what}: {answer.style}"] = check
        if len(wrong) >= MIN_STYLES:
            answers += [WrongAnswer(key, check) for key, check in wrong.items()]
            labels |= dict.fromkeys(wrong, what)
    by_first = defaultdict(list)
    for one in answers:
        by_first[one.code].append(one.student)
    groups = group(name, answers, len(exercise.cases))
    by_id = {one.id: one.students for one in groups}
    return agreement(by_id, labels), agreement(by_first, labels)


if __name__ == "__main__":
    for word in sys.argv[1:]:
        for title, found in zip(("groups", "first finding"), measure(word), strict=True):
            print(
                f"{word}, {title}: {found.answers} answers, {found.mistakes} mistakes, "
                f"{found.groups} groups, purity {found.purity:.2f}, completeness "
                f"{found.completeness:.2f}",
                flush=True,
            )
