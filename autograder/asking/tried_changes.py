"""Changed answers with results that both ways agree on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from autograder.asking.changed_answer import CannotCompare, Judged, Result
from autograder.asking.question import Choice, arranged

WRONG_OPTIONS = 3


@dataclass(frozen=True)
class Tried:
    """Something that was tried, such as a change.

    Attributes:
        key: what the kind needs to try it again.
        text: it as an option.
        judged: the result of the check.
    """

    key: str
    text: str
    judged: Judged


def confirmed(judged: Judged, compare: Callable[[], Result]) -> bool:
    """Whether the second way gives the same result as the check."""
    if judged.result == "unknown":
        return False
    try:
        return compare() == judged.result
    except CannotCompare:
        return False


@dataclass(frozen=True)
class Asked:
    """The options of a question about what was tried.

    Attributes:
        finds_wrong: whether the right option is the only wrong result, and not the only right one.
        choices: the options.
        right: the index of the right option.
        keys: the keys of the options.
        results: their results.
    """

    finds_wrong: bool
    choices: tuple[Choice, ...]
    right: int
    keys: list[str]
    results: list[Result]


def ask_about(
    tried: Sequence[Tried], random: Random, why_right: str, why_wrong: str, *, turned: bool = False
) -> Asked | None:
    """Options of which just one has another result than the rest; ``None`` if it is too easy.

    Args:
        tried: what was tried, and confirmed.
        random: decides the order.
        why_right: the reason of an option with a right result.
        why_wrong: begins the reason of an option with a wrong result; the finding follows.
        turned: prefer the question for the only right result.
    """
    good = [each for each in tried if each.judged.result == "right"]
    bad = [each for each in tried if each.judged.result == "wrong"]
    quiet = [each for each in bad if not each.judged.raised]
    asks_for_bad = len(good) >= WRONG_OPTIONS and quiet
    asks_for_good = len(bad) >= WRONG_OPTIONS and good and len(quiet) >= 2
    if not (asks_for_bad or asks_for_good):
        return None
    finds_wrong = bool(asks_for_bad) and not (turned and asks_for_good)
    if finds_wrong:
        one, rest = quiet[0], good[:WRONG_OPTIONS]
    else:
        one, rest = good[0], [*quiet, *(each for each in bad if each.judged.raised)][:WRONG_OPTIONS]

    def choice(each: Tried) -> Choice:
        says = each.judged.says
        why = why_right if each.judged.result == "right" else f"{why_wrong} {says}"
        return Choice(each.text, why.strip())

    every = {choice(each): each for each in (one, *rest)}
    choices, right = arranged(choice(one), [choice(each) for each in rest], random)
    shown = [every[each] for each in choices]
    return Asked(
        finds_wrong, choices, right,
        [each.key for each in shown], [each.judged.result for each in shown],
    )  # fmt: skip
