"""Generates the class that a recipe describes, as code that a person can read and paste."""

from __future__ import annotations

import itertools
import keyword
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from autograder.fuzz.grammar import HOLE, Op, Vocabulary
from autograder.fuzz.recipe import Recipe, Step
from autograder.models.build import T

NUMBERS = ("2", "0.5", "-1", "0", "3.0")
_NAMES = "abcdefghjmnpqrstuvw"


@dataclass(frozen=True)
class Value:
    """A variable in a ``forward``; if `narrow`, its last dimension may differ from the model's."""

    name: str
    narrow: bool = False


@dataclass
class _Class:
    """A class under construction."""

    values: list[Value]
    numbers: list[str]
    attributes: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    used: int = 0

    def new_name(self) -> str:
        turn, place = divmod(self.used, len(_NAMES))
        self.used += 1
        return _NAMES[place] + (str(turn) if turn else "")

    def pick(self, number: int, *, whole: bool) -> Value:
        fitting = [value for value in self.values if not (whole and value.narrow)]
        return fitting[-1 - number % len(fitting)]


@dataclass(frozen=True)
class Program:
    """A model's code, and the inputs that it is run on.

    Attributes:
        source: the class ``Model`` and the classes that it needs, as text.
        inputs: argument tuples, tensors as `T`.
    """

    source: str
    inputs: tuple[tuple[Any, ...], ...]

    def model(self, names: dict[str, Any]) -> nn.Module:
        """Make a new model; its class has the attribute ``source_code``."""
        return _class_of(self.source, tuple(names.items()))()


@lru_cache(maxsize=4096)
def _class_of(source: str, names: tuple[tuple[str, Any], ...]) -> type[nn.Module]:
    scope = {"torch": torch, "nn": nn, "F": F, "operator": operator, **dict(names)}
    exec(compile(source, "<a random model>", "exec"), scope)
    made: type[nn.Module] = scope["Model"]
    made.source_code = source  # type: ignore[attr-defined]
    return made


def program_of(recipe: Recipe, vocabulary: Vocabulary) -> Program:
    """Generate the program that a recipe describes."""
    shape = vocabulary.shapes[recipe.shape % len(vocabulary.shapes)]
    kind = vocabulary.inputs[recipe.inputs % len(vocabulary.inputs)]
    misleading = next(filter(_is_plain, vocabulary.namesakes), "y")
    tensor = "y" if recipe.returns % 3 else misleading
    named = {"tensor": tensor, "row": tensor, "default": "k=2.0", "star": "*rest"}
    second = named.get(kind, kind)
    writer = _Writer(vocabulary, shape)
    parts = []
    if vocabulary.parts and recipe.part:
        inner = _Class([Value("x")], list(NUMBERS))
        writer.write(inner, recipe.part)
        ends = inner.values[-1:] + ([] if vocabulary.dead else _unread(inner))
        inner.lines.append(f"return {_together([value.name for value in ends])}")
        parts.append(_text("Part", ["x"], inner))
        writer.part = any(not value.narrow for value in ends)
    outer = _Class([Value("x")], list(NUMBERS) + (["k"] if "k=" in f" {second}" else []))
    if kind in ("tensor", "row"):
        outer.values.insert(0, Value(tensor, narrow=kind == "row" and bool(shape)))
    if kind == "star":
        outer.values.insert(0, Value("rest[0]"))
    writer.write(outer, recipe.steps)
    if writer.part and "part" not in outer.attributes:
        writer.call_part(outer, Step())
    result = vocabulary.results[recipe.result % len(vocabulary.results)]
    outer.lines.append(f"return {_returned(result, outer, recipe.returns, dead=vocabulary.dead)}")
    parts.append(_text("Model", ["x", *([second] if second else [])], outer))
    return Program("\n\n".join(parts), _inputs(kind, shape))


class _Writer:
    """Writes the lines of a ``forward`` and the attributes that they need."""

    def __init__(self, vocabulary: Vocabulary, shape: tuple[int, ...]) -> None:
        self.usable, self.shape = vocabulary.usable(shape), shape
        self.namesakes, self.second_names = vocabulary.namesakes, vocabulary.second_names
        self.part = False

    def write(self, into: _Class, steps: Sequence[Step]) -> None:
        for step in steps:
            choice = step.op % (len(self.usable) + self.part)
            if choice == len(self.usable):
                self.call_part(into, step)
            else:
                self._line(into, step, self.usable[choice])

    def call_part(self, into: _Class, step: Step) -> None:
        into.attributes.setdefault("part", "Part()")
        value = into.pick(step.picks[0], whole=True)
        name = into.new_name()
        into.lines.append(f"{name} = self.part({value.name})")
        into.values.append(Value(name))

    def _line(self, into: _Class, step: Step, op: Op) -> None:
        read: dict[str, Value] = {}
        for letter, number in zip("abc", step.picks, strict=True):
            read[letter] = into.pick(number, whole=False)
        for letter, number in zip("xy", step.picks[:2], strict=True):
            read[letter] = into.pick(number, whole=True)
        text = op.text
        for layer in op.layers:
            text = text.replace(f"[{layer}]", self._attribute(into, layer, step, text), 1)
        holes = {letter: value.name for letter, value in read.items()}
        holes["n"] = into.numbers[step.number % len(into.numbers)]
        line = HOLE.sub(lambda m: holes[m[1]], text)
        names = [into.new_name() for _ in range(op.outs)]
        into.lines.append(f"{', '.join(names)} = {line}" if names else line)
        narrow = bool(self.shape) and op.is_narrow({k: value.narrow for k, value in read.items()})
        into.values += [Value(name, narrow) for name in names]

    def _attribute(self, into: _Class, layer: str, step: Step, text: str) -> str:
        made = self._sizes(layer.removeprefix("="))
        called = text.count("{") == 1 and any(f"[{layer}]({{{x}}})" in text for x in "abcxy")
        same = [name for name, code in into.attributes.items() if code == made]
        if (step.layer == 2 or layer.startswith("=")) and same:
            return _self(same[-1])
        # A buffer under a second name would be a plain attribute, which `.to()` ignores.
        if step.layer == 3 and same and self.second_names and not made.startswith("buffer"):
            made = _self(same[0])
        elif step.layer == 4 and called:
            made = f"nn.Sequential({made})"
        tied = made.startswith(("self.", "getattr("))
        name = _attribute_name(self._sizes(layer) if tied else made)
        if step.layer == 5 and self.namesakes:
            name = self.namesakes[step.number % len(self.namesakes)]
        free = (f"{name}_{i}" if i else name for i in itertools.count())
        taken = {*into.attributes, *(["part"] if self.part else [])}
        name = next(other for other in free if other not in taken)
        into.attributes[name] = made
        return _self(name)

    def _sizes(self, layer: str) -> str:
        sizes = {"D": self.shape[-1] if self.shape else 1}
        sizes["C"] = self.shape[1] if len(self.shape) > 1 else 1
        return re.sub(r"\b[CD]\b", lambda m: str(sizes[m[0]]), layer)


def _self(name: str) -> str:
    """The code that reads an attribute; some names need `getattr`."""
    return f"self.{name}" if _is_plain(name) else f"getattr(self, {_quoted(name)})"


def _is_plain(name: str) -> bool:
    """Whether a name can be used in code as an attribute or variable."""
    return name.isidentifier() and not keyword.iskeyword(name)


def _quoted(name: str) -> str:
    return repr(name) if set(name) & {'"', "\\"} else f'"{name}"'


def _attribute_name(made: str) -> str:
    if made.startswith("buffer"):
        return "offset"
    return {"Parameter": "weight", "Sequential": "block"}.get(
        kind := re.match(r"(?:nn\.)?(\w+)", made)[1],  # type: ignore[index]
        kind.lower(),
    )


def _unread(written: _Class) -> list[Value]:
    """The computed values that no line reads, except the last."""
    text = "\n".join(written.lines)
    names = [value.name for value in written.values[:-1]]
    read = {name for name in names if len(re.findall(rf"\b{re.escape(name)}\b", text)) > 1}
    made = {name for line in written.lines for name in line.partition(" = ")[0].split(", ")}
    return [v for v in written.values[:-1] if v.name in made - read]


def _together(names: Sequence[str]) -> str:
    """An expression that reads all of these values."""
    first, *rest = names
    return f"torch.maximum({first}, {_together(rest)})" if rest else first


def _returned(kind: str, writing: _Class, pick: int, *, dead: bool) -> str:
    last, other = writing.values[-1].name, writing.pick(pick, whole=False).name
    unread = [] if dead else [value.name for value in _unread(writing)]
    more = "".join(f", {name}" for name in unread)
    return {
        "value": f"({last}{more})" if more else last,
        "tuple": f"({last}, {other}{more})",
        "dict": f'{{"first": {other}, "last": ' + (f"[{last}{more}]}}" if more else f"{last}}}"),
        "nested": f'[{last}, {{"others": ({other}, 2{more}), "nothing": None}}]',
        "nothing": "None",
    }[kind]


def _text(name: str, parameters: list[str], written: _Class) -> str:
    lines = [f"class {name}(nn.Module):"]
    if written.attributes:
        lines += ["    def __init__(self):", "        super().__init__()"]
        lines += [f"        {_assignment(*item)}" for item in written.attributes.items()]
        lines.append("")
    lines.append(f"    def forward({', '.join(['self', *parameters])}):")
    lines += [f"        {line}" for line in written.lines]
    return "\n".join(lines) + "\n"


def _assignment(name: str, made: str) -> str:
    if made.startswith("buffer("):
        return f"self.register_buffer({_quoted(name)}, {made[len('buffer(') : -1]})"
    if _is_plain(name):
        return f"self.{name} = {made}"
    return f"setattr(self, {_quoted(name)}, {made})"


def _inputs(kind: str, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], ...]:
    first = T(*shape)
    if kind == "tensor":
        return ((first, T(*shape)),)
    if kind == "row":
        return ((first, T(*shape[-1:])),)
    if kind == "star":
        return ((first, T(*shape), T(*shape)),)
    if kind == "default":
        return ((first,), (first, -0.5))
    return ((first,),)
