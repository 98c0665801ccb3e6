"""Removes the student's own words from findings about hidden cases.

An answer sees the hidden models that it is tried on. Texts that it produces (an error message, the
name of a class, function or node, strings in its result) could reveal them, so findings about
hidden cases leave them out. Names that the case itself, Python or PyTorch uses stay readable.
"""

from __future__ import annotations

import builtins
import math
import operator
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, cached_property
from types import CodeType
from typing import Any

import torch

from autograder.core.verdict import Finding
from autograder.judge.answer_key import module_of
from autograder.judge.evidence import Evidence

LEFT_OUT = "…"
LONGEST = 60
"""Most characters of a text that may be a name."""
PIECE = 16
"""Length of a substring that is enough to recognize a text, wherever a message was cut."""
_PACKAGES = tuple(f"autograder.{package}" for package in ("core.codec", "judge", "rules"))
"""Packages that word messages of any exercise; its own rules are in modules named ``key``."""
_WORD, _PATH = re.compile(r"\w+"), re.compile(r"[\w.]+")
_LIBRARIES = (builtins, math, operator, torch, torch.nn, torch.nn.functional, torch.Tensor,
              torch.special, torch.fft, torch.linalg, torch.fx)  # fmt: skip


def _is_phrase(line: str) -> bool:
    """Whether a line has several words, and is not the location of an exception."""
    return len(line.split()) > 1 and not re.match(r"line \d+: ", line)


class Redaction:
    """Leaves out words that only the student's code can have produced in one case."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._own = own_words(module_of(evidence.exercise))

    def finding(self, found: Finding) -> Finding:
        """Redact the texts and the nodes of a finding."""
        return replace(
            found,
            message=self.text(found.message),
            advice=self.text(found.advice).replace("on this line", "on a line of yours"),
            nodes=tuple(name for name in found.nodes if self._is_known(name)),
            raised=self.text(found.raised),
        )

    def text(self, text: str) -> str:
        """Replace the student's own words in a text by `LEFT_OUT`."""
        told = [character.isascii() for character in text]
        for start, end in (*self._pieces(text), *self._words(text)):
            told[start:end] = [False] * (end - start)
        kept = (letter if ok else LEFT_OUT for letter, ok in zip(text, told, strict=True))
        return re.sub(f"{LEFT_OUT}(?:\\s*{LEFT_OUT})+", LEFT_OUT, "".join(kept))

    def lines(self, text: str) -> str:
        """Redact an exception and its location; the number of lines stays the same.

        Further lines of the message may be lines of a model, however short they are.
        """
        first, *rest = text.split("\n")
        kept = (LEFT_OUT if _is_phrase(line) else self.text(line) for line in rest)
        return "\n".join([self.text(first), *kept])

    def _pieces(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans that repeat a part of the student's texts, known names excepted."""
        names = [match.span() for match in _PATH.finditer(text) if self._is_known(match[0])]
        for start in range(len(text) - PIECE + 1):
            end = start + PIECE
            named = any(first <= start and end <= last for first, last in names)
            if not named and text[start:end] in self._said:
                yield start, end

    def _words(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of words from the student's texts that the course does not know."""
        for match in _WORD.finditer(text):
            word = match[0]
            if len(word) > 2 and not self._is_known(word) and word not in self._own:
                if word in self._said or any(name in word for name in self._names_said):
                    yield match.span()

    @cached_property
    def _texts_said(self) -> list[str]:
        """The student's own texts: those that are not names of the case or of a library."""
        outcome = self._evidence.claimed
        records = (outcome.error, outcome.value, outcome.runs, outcome.changed, outcome.used)
        texts = {text for text in _texts(records) if len(text) > 2}
        return [text for text in texts if not self._is_known(text) and text not in self._own]

    @cached_property
    def _said(self) -> str:
        """All of the student's own texts, joined, in each spelling that a message may have."""
        forms = ((text, repr(text)[1:-1], " ".join(text.split())) for text in self._texts_said)
        return "\0".join(form for each in forms for form in each)

    @cached_property
    def _names_said(self) -> list[str]:
        """Those that are single words: a message may contain them as part of a longer word."""
        return [text for text in self._texts_said if _WORD.fullmatch(text)]

    def _is_known(self, text: str) -> bool:
        """Whether a text is a name, or path of names, from the case or a library."""
        if len(text) > LONGEST or not text.isascii() or re.search(r"\s", text):
            return False
        words = _WORD.findall(text)
        return len(words) < 8 and all(self._is_known_word(word) for word in words)

    def _is_known_word(self, word: str) -> bool:
        if len(word) < 3 or (word.isdigit() and len(word) < 5):
            return True
        unnumbered = re.sub(r"_\d{1,3}$", "", word)  # FX numbers the nodes of one operation
        names = {word, unnumbered}
        return not (names.isdisjoint(self._names) and names.isdisjoint(_library_names()))

    @cached_property
    def _names(self) -> frozenset[str]:
        """The words that the course uses in this case."""
        evidence = self._evidence
        trial = evidence.trial
        case = evidence.case
        expected = [value for value in vars(case.expect).values() if isinstance(value, str)]
        records: list[Any] = [evidence.exercise.name, case.name, expected, list(trial.functions)]
        for compute in (lambda: evidence.traced_graph, lambda: evidence.traced_signature):
            records.append(_result_or_none(compute))
        records.append(_result_or_none(lambda: evidence.reference.value))
        given = [
            value for value in (*trial.args, trial.model) if isinstance(value, torch.nn.Module)
        ]
        records += [[name, type(part).__name__] for value in given
                    for name, part in value.named_modules()]  # fmt: skip
        records += [[name for name, _ in value.named_parameters()] for value in given]
        return frozenset(word for text in _texts(records) for word in _WORD.findall(text))


def _result_or_none(compute: Callable[[], Any]) -> Any:
    """The result of a function; ``None`` if it raises, as a model may not be traceable."""
    try:
        return compute()
    except Exception:
        return None


def _texts(data: Any) -> Iterator[str]:
    """All strings in plain data, including keys; recursive data is visited once."""
    left, seen = [data], set()
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, (dict, list, tuple)) and id(value) not in seen:
            seen.add(id(value))
            left += [*value, *value.values()] if isinstance(value, dict) else value


@cache
def _library_names() -> frozenset[str]:
    """The names of functions, methods and exceptions of Python and PyTorch."""
    return frozenset(name for library in _LIBRARIES for name in dir(library))


@cache
def own_words(key: str) -> frozenset[str]:
    """The words of messages, from the constants in the code that makes them.

    Args:
        key: the module of the exercise's answer key; its chapter's shared module is included.
    """
    chapter = ".".join(key.split(".")[:-2])
    own = key, f"{chapter}.keys"
    modules = [
        module for name, module in sys.modules.items() if name.startswith((*_PACKAGES, *own))
    ]
    # `__builtins__` is not the module's own; if code has run in `vars(builtins)`, that dictionary
    # contains itself.
    values = (value for module in modules for name, value in vars(module).items()
              if name != "__builtins__")  # fmt: skip
    texts = (text for value in values for text in _texts(_constants(value)))
    return frozenset(word for text in texts for word in _WORD.findall(text))


def _constants(value: Any) -> Any:
    """The strings in a value of a module: for functions, classes and rules, those in their code."""
    if isinstance(value, type):
        return [_constants(getattr(part, "func", part)) for part in vars(value).values()]
    if isinstance(value, property):
        return _constants(value.fget)
    function = getattr(value, "find", value)
    code = value if isinstance(value, CodeType) else getattr(function, "__code__", None)
    if isinstance(code, CodeType):
        return [_constants(constant) for constant in code.co_consts]
    return value
