"""The settings of a hunt: from a command line, or from a table of ``pyproject.toml``.

```toml
[tool.fxcourse.hunt.fold]
pass = "compiler.passes:fold"
models = 200
```
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

from autograder.hunt.behaviour import (
    ARGUMENT_GRADIENTS,
    ARGUMENTS,
    EVERYTHING,
    KEYWORDS,
    MODES,
    PARAMETER_GRADIENTS,
    STATE,
    STEP_GRADIENTS,
)
from autograder.hunt.loading import CannotLoad
from autograder.hunt.trying import GIVEN, Given
from autograder.hunt.vocabularies import KINDS

LOOSE = {
    "gradients": (ARGUMENT_GRADIENTS, PARAMETER_GRADIENTS, STEP_GRADIENTS),
    "arguments": (ARGUMENTS,),
    "keywords": (KEYWORDS,),
    "modes": (MODES,),
    "state": (STATE,),
}
"""The aspects that a hunt can ignore, by the words for them."""

DEFAULT_KINDS = (
    "arithmetic", "literals", "layers", "convolutions", "constants", "sizes", "names", "identities",
)  # fmt: skip
"""The default kinds: those without effects and random numbers."""

DEFAULT_MODELS = 500

FILE = "pyproject.toml"


@dataclass(frozen=True)
class Settings:
    """The pass, the models that it is tried on, and the size of the hunt.

    Attributes:
        words: the pass, as ``MODULE:FUNCTION``.
        oracle: the oracle in the same form; ``""`` if there is none.
        given: the input of the pass.
        kinds: the kinds of models.
        ignore: words for the aspects in which a model may differ.
        eval: whether all models are in eval mode.
        models: the number of models; `DEFAULT_MODELS` if this and `minutes` are ``None``.
        minutes: the time after which no further model is drawn.
        at_least: the number of models without which the pass has not held.
        name: the name of the table; ``""`` for a command line without one.
    """

    words: str
    oracle: str = ""
    given: Given = "trace"
    kinds: tuple[str, ...] = DEFAULT_KINDS
    ignore: tuple[str, ...] = ()
    eval: bool = False
    models: int | None = None
    minutes: float | None = None
    at_least: int = 1
    name: str = ""

    @property
    def title(self) -> str:
        """The name of the table and the pass, or the pass alone."""
        return f"{self.name} ({self.words})" if self.name else self.words

    @property
    def aspects(self) -> tuple[str, ...]:
        """The aspects in which the two models must not differ."""
        dropped = {aspect for word in self.ignore for aspect in LOOSE[word]}
        return tuple(aspect for aspect in EVERYTHING if aspect not in dropped)

    @property
    def most(self) -> int | None:
        """The number of models; ``None`` if the time limits it."""
        return self.models or (None if self.minutes else DEFAULT_MODELS)


Label = Callable[[str], str]
"""Names a setting in a message: ``--given``, or the file, the table and the key."""


def of_command_line(words: str, **values: Any) -> Settings:
    """The settings of a command line that names a pass. Those that are ``None`` are not set.

    Raises:
        CannotLoad: a setting has a value that cannot be used.
    """
    return _checked(_set(**values) | {"words": words}, lambda key: f"--{key.replace('_', '-')}")


def tables(folder: Path) -> dict[str, Settings]:
    """The hunts of the ``pyproject.toml`` of a folder, by name.

    Raises:
        CannotLoad: the file cannot be read, has no such table, or a table has a mistake.
    """
    path = folder / FILE
    try:
        tool = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except FileNotFoundError:
        raise CannotLoad(
            f"There is no {FILE} in the folder '{folder}', with tables [tool.fxcourse.hunt.NAME]. "
            "To name a pass, write MODULE:FUNCTION, such as my_passes:fold."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise CannotLoad(f"{FILE} cannot be read: {error}.") from None
    found = tool.get("fxcourse", {})
    found = found.get("hunt", {}) if isinstance(found, dict) else {}
    if not isinstance(found, dict) or not found:
        raise CannotLoad(
            f"{FILE} has no table [tool.fxcourse.hunt.NAME]. Add one with the key `pass`. To name "
            "a pass, write MODULE:FUNCTION, such as my_passes:fold."
        )
    return {name: _of_table(name, table) for name, table in found.items()}


def named(name: str, found: Mapping[str, Settings]) -> Settings:
    """The hunt with this name.

    Raises:
        CannotLoad: there is no such table.
    """
    if name not in found:
        raise CannotLoad(
            f"{FILE} has no table [tool.fxcourse.hunt.{name}]. Its tables: {', '.join(found)}. To "
            "name a pass, write MODULE:FUNCTION, such as my_passes:fold."
        )
    return found[name]


def resized(settings: Settings, models: int | None, minutes: float | None) -> Settings:
    """The settings of a table with the budget of a command line, if that has one.

    Raises:
        CannotLoad: this budget cannot be used.
    """
    if models is None and minutes is None:
        return settings
    return _checked(
        {
            **vars(replace(settings, models=None, minutes=None)),
            **_set(models=models, minutes=minutes),
        },
        lambda key: f"--{key}" if key in ("models", "minutes") else f"{settings.name}: {key}",
    )


# ------------------------------------------------------------------ checks


def _set(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < float("inf")


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


_TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "pass": (_is_text, 'a text such as "my_passes:fold"'),
    "oracle": (_is_text, 'a text such as "my_passes:expected"'),
    "given": (_is_text, f"one of {', '.join(GIVEN)}"),
    "kinds": (_is_list, 'a list such as ["arithmetic", "layers"]'),
    "ignore": (_is_list, 'a list such as ["gradients"]'),
    "eval": (_is_bool, "true or false"),
    "models": (_is_count, "a whole number above 0"),
    "minutes": (_is_time, "a number above 0"),
    "at_least": (_is_count, "a whole number above 0"),
}
"""The keys of a table, each with the test of its value and the words for such a value."""


def _of_table(name: str, table: Any) -> Settings:
    place = f"{FILE}: [tool.fxcourse.hunt.{name}]"
    if not isinstance(table, dict):
        raise CannotLoad(f"{place} must be a table with the key `pass`.")
    for key, value in table.items():
        if key not in _TYPES:
            near = difflib.get_close_matches(key, _TYPES, 1)
            did = f" Did you mean {near[0]!r}?" if near else ""
            raise CannotLoad(
                f"{place} has an unknown key {key!r}.{did} Known: {', '.join(_TYPES)}."
            )
        is_right, words = _TYPES[key]
        if not is_right(value):
            raise CannotLoad(f"{place}: {key} must be {words}, not {value!r}.")
    if "pass" not in table:
        raise CannotLoad(f"{place} has no key `pass`, which names the pass as MODULE:FUNCTION.")
    values = {key: tuple(v) if isinstance(v, list) else v for key, v in table.items()}
    values |= {"words": values.pop("pass"), "name": name}
    return _checked(values, lambda key: f"{place}: {key}")


def _checked(values: Mapping[str, Any], label: Label) -> Settings:
    """The settings, after a check of all values that a type does not limit.

    Raises:
        CannotLoad: a value cannot be used.
    """
    _demand_known(values.get("kinds", ()), KINDS, label("kinds"), "kind of models")
    _demand_known(values.get("ignore", ()), LOOSE, label("ignore"), "word for a change to ignore")
    _demand_known([values.get("given", "trace")], GIVEN, label("given"), "input of a pass")
    if values.get("models") and values.get("minutes"):
        raise CannotLoad(f"{label('models')} and {label('minutes')} exclude each other: keep one.")
    names = {field.name for field in fields(Settings)}
    settings = Settings(**cast(Any, {key: v for key, v in values.items() if key in names}))
    if settings.most is not None and settings.at_least > settings.most:
        raise CannotLoad(
            f"{label('at_least')} is {settings.at_least}, and only {settings.most} models are "
            "drawn. Raise models, or lower at_least."
        )
    return settings


def _demand_known(words: Iterable[str], known: Iterable[str], label: str, what: str) -> None:
    for word in words:
        if word not in known:
            raise CannotLoad(
                f"{label}: There is no {what} {word!r}. Choose from: {', '.join(known)}."
            )
