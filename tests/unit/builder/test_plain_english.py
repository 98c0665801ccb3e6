"""The lint of English: its findings, plain sentences that it accepts, and falling budgets."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import builder
from autograder.builder.plain_english import findings
from autograder.builder.source import read
from tests.support import build_fixture
from tests.support.build_fixture import CARDS, CHAPTER, line_of

NOT_PLAIN = {
    "The node stands in front of its reader.": "'stands'",
    "It says what stood there before.": "'stands'",
    "Let every call be another.": "make every",
    "Then let all readers read the clone.": "make every",
    "So all is well.": "'is well'",
    "It looks as if all were well, and is not.": "'is well'",
    "A rule is to be called with Proxies.": "'must'",
    "What it is to say about them.": "'must'",
    "Some calls are to become others.": "'must'",
    "It has no answer, for no tensor has been seen yet.": "'because'",
    "They are kept, for a leaf is called as a module.": "'because'",
    "It has no picture, for it has no trace.": "'because'",
    "Has the graph a node for it?": "Does x have",
    "Look first. Has it a name?": "Does x have",
    "Not all are tried. Nor are signatures of another kind.": "subject before the verb",
    "Never does it look at the code.": "subject before the verb",
    "Were it a node, it would have a name.": "Begin with 'If'",
    "Should the graph be empty, return.": "Begin with 'If'",
}
PLAIN = [
    "A stand-in records what is done. `Proxy` stands for a value.",
    "You understand it at once, and the standard way works.",
    "Let us look at it. Let the size come from the input.",
    "The graph is well-formed, and this is well known.",
    "The way to change an argument is to assign a new tuple.",
    "The cure for this is to rearrange the formula.",
    "This is to a node what that is to a graph.",
    "Right, for this machine. But think of another.",
    "The same as text, for those who cannot see the picture:",
    "That works, for this one network: it has no branches.",
    "What it does, for each node, is simple.",
    "A pattern with a number, for example 3, is another pattern.",
    "Has the graph changed? Have you seen it?",
    "Nor this. Never again a loop without a test.",
    "There are three faults. Here is a first try.",
    "Should you use it?",
    "`nn.stands`, `is to be` and `let every` are code.",
    "<code>let every</code> is code.",
]


def chapter_with(folder: Path, text: str) -> list[str]:
    """Return the findings in a chapter with this cell before its first exercise."""
    place = '# %% [markdown] card="after"'
    path = build_fixture.write(folder, CHAPTER.replace(place, f"{text}\n\n{place}"))
    return [
        f"{problem.line}: {problem.message} {problem.advice}" for problem in findings(read(path)[0])
    ]


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_what_is_not_plain_is_found(tmp_path: Path, text: str) -> None:
    (said,) = chapter_with(tmp_path, f"# %% [markdown]\n# {text}")
    assert NOT_PLAIN[text] in said


@pytest.mark.parametrize("text", PLAIN)
def test_plain_english_is_left_alone(tmp_path: Path, text: str) -> None:
    assert chapter_with(tmp_path, f"# %% [markdown]\n# {text}") == []


def test_the_fixture_is_plain(tmp_path: Path) -> None:
    assert findings(read(build_fixture.write(tmp_path))[0]) == []


def test_prose_comments_and_docstrings_are_read_and_code_is_not(tmp_path: Path) -> None:
    text = '''\
# %% [markdown]
# One line.
#
# ```python
# let_every = "let every"  # let every first
# ```
# * Let every second.

# %%
def f(x):
    """Let every third.

    Let every fourth.
    """
    print("let every")  # let every fifth
    return "let every"
'''
    found = chapter_with(tmp_path, text)
    path = tmp_path / "07_numbers.py"
    lines = path.read_text(encoding="utf-8").splitlines()
    said = [lines[int(one.partition(":")[0]) - 1].split()[-1] for one in found]
    assert said == ["first", "second.", "third.", "fourth.", "fifth"]


def test_a_cell_that_is_no_python_is_left_alone(tmp_path: Path) -> None:
    assert chapter_with(tmp_path, "# %%\nx = (  # let every") == []


def test_the_builder_refuses_one(tmp_path: Path) -> None:
    text = CHAPTER.replace("# A chapter in miniature.", "# A chapter stands here.")
    path = build_fixture.write(tmp_path, text)
    with pytest.raises(builder.BuildRefused) as caught:
        builder.build(path, CARDS)
    (line,) = caught.value.lines()
    assert line.startswith(f"{path}:{line_of(text, 'stands here')}: 'stands' is not plain")
