"""A small chapter and its exercises, for testing the builder without torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

CHAPTER = '''\
# %% [markdown]
# # Numbers
#
# A chapter in miniature.

# %%
def check(answer, hidden=False):
    cases = [1, 2, -3] if hidden else [1]
    assert all(answer(case) == abs(case) + 1 for case in cases)


def hint(name):
    return None


# %% raises="ZeroDivisionError"
1 / 0

# %% [markdown] card="after"
# **Given** a number. **Return** the next one.

# %%
picture = "1 -> 2"
print(picture)

# %% solve="after"
### BEGIN SOLUTION
def _size(number: int) -> int:
    return abs(number)


### END SOLUTION


def after(number: int) -> int:
    """The number after the size of this one."""
    ### BEGIN SOLUTION
    secret = _size(number)
    return secret + 1
    ### END SOLUTION


# %% check="after"
check(after)

# %% hint="after"
hint("after")

# %% [markdown] card="again"
# **Given** a number. **Return** the same as before. Use your `after`: run its cell first.

# %% solve="again"
def again(number: int) -> int:
    """The same as before."""
    ### BEGIN SOLUTION
    return after(number)
    ### END SOLUTION


# %% check="again"
check(again)
'''


@dataclass(frozen=True)
class FixtureCard:
    """The part of an exercise that the builder reads."""

    name: str
    title: str = "A title"
    stars: int = 1
    minutes: int = 5
    points: int = 2
    hints: tuple[str, ...] = ()


CARDS = (
    FixtureCard("after", title="The next number", stars=2, minutes=15, points=4, hints=("Look.",)),
    FixtureCard("again", title="Once more", stars=3, minutes=1, points=1),
)


def cards(**changes: object) -> tuple[FixtureCard, ...]:
    """The cards, with changes to the first one."""
    return (replace(CARDS[0], **changes), *CARDS[1:])


def write(folder: Path, text: str = CHAPTER) -> Path:
    """Write a chapter into a folder."""
    path = folder / "07_numbers.py"
    path.write_text(text, encoding="utf-8")
    return path


def line_of(text: str, part: str) -> int:
    """The number of the line that contains this part, which is unique."""
    lines = [number for number, line in enumerate(text.splitlines(), 1) if part in line]
    assert len(lines) == 1, f"{part!r} stands on lines {lines}"
    return lines[0]
