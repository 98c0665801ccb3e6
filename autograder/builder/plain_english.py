"""Finds turns of phrase in chapters at which readers of English as a second language stop.

It reads prose, comments and docstrings line by line, but not code.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.builder.problems import Problem
from autograder.builder.source import Cell, Chapter


@dataclass(frozen=True)
class Turn:
    """A turn of phrase, with advice for the author.

    Attributes:
        pattern: matches the phrase.
        unless: if this matches the line up to the phrase, the phrase is plain English after all.
    """

    pattern: re.Pattern[str]
    mend: str
    unless: re.Pattern[str] | None = None


_VERBS = (
    "is|are|was|were|has|have|had|does|do|did|can|cannot|must|will|would|may|might|could|should|"
    "gives?|makes?|comes?|reads?|needs?|takes?|runs?|holds?|knows?|says?"
)
_AUXILIARY = "is|are|was|were|has|have|had|does|do|did|can|could|will|would|may|might|must|shall"
_BEGIN = r"(?:^|(?<=[.?!:] )|(?<=[-*|] ))"

TURNS = (
    Turn(
        re.compile(r"\b(?:stand|stands|stood|standing)\b(?!-in| for\b)", re.I),
        "Nothing 'stands': write 'is', 'comes' or 'is written'.",
    ),
    Turn(
        re.compile(r"\blet (?:every|each|all|any|no)\b", re.I),
        "Write 'make every ...', or say what to do: 'Replace every ...'.",
    ),
    Turn(
        re.compile(r"\b(?:is|are|was|were|be) well\b(?=\s*(?:[.,;:!?|)]|$))", re.I),
        "Nothing 'is well': say what is right, such as 'everything holds'.",
    ),
    Turn(
        re.compile(r"\b(?:is|are|was|were) to (?!(?:the|a|an|it|this|that|be sure)\b)[a-z]+", re.I),
        "Write 'must', 'should' or 'will', and not 'is to'.",
        re.compile(
            r"\b(?:way|cure|aim|goal|task|idea|job|trick|point|purpose|test|step|remedy|fix|use|plan|"
            r"habit|first|next|best|alternative|duty|thing)\b[^.!]*\b(?:is|are|was|were) to ",
            re.I,
        ),
    ),
    Turn(
        re.compile(
            rf"[,;] for (?:(?!(?:that|who|whom|whose|which|what|whatever|each|every)\b)[\w`'-]+ )"
            rf"{{1,5}}?(?:{_VERBS})\b"
        ),
        "Write 'because', and not 'for'.",
    ),
    Turn(
        re.compile(
            rf"{_BEGIN}(?:Has|Have) (?:a|an|any|every|each|your|the|this|that|it|its|`)"
            r"(?![^?]*\b(?:\w+ed|been|become|done|made|gone|run|seen|found|kept|left|written)\b)"
            r"[^.?!]*\?"
        ),
        "Ask with 'do': 'Does x have ...?'",
    ),
    Turn(
        re.compile(
            rf"{_BEGIN}(?:Never|Nowhere|Seldom|Rarely|Only then|Only now|Only here|Not until|Nor|"
            rf"Neither|Not only|Hardly|Gone) (?:{_AUXILIARY})\b"
        ),
        "Put the subject before the verb.",
    ),
    Turn(
        re.compile(
            rf"{_BEGIN}(?:Were|Had|Should) (?:it|the|a|an|you|they|we|there|this|that)\b[^?]*$"
        ),
        "Begin with 'If', and put the subject before the verb.",
    ),
)  # fmt: skip


PATTERNS = (
    Turn(
        re.compile(
            r"(?<![Tt]here )\b(?:is|are|was|were) no "
            r"(?!longer\b|more\b|such\b|matter\b|need\b|one\b)[a-z`]"
        ),
        "Write 'is not a ...'.",
    ),
    Turn(re.compile(r"\balso (?:if|where|when)\b", re.I), "Write 'even if'."),
    Turn(
        re.compile(
            r"(?:^|[.;:] )Where (?:you|a|an|the|it|this|that|they|there|no|nothing|two|others)\b"
            r"(?![^.]*\?)"
        ),
        "Write 'If'.",
    ),
    Turn(re.compile(r"\bbut for\b"), "Write 'except'."),
    Turn(
        re.compile(r"(?:^|[.:;] )Of (?:a|an|the|each|what|all|those|every)\b"),
        "Write 'For each ...', or put the noun first.",
    ),
    Turn(
        re.compile(r"\b[Ww]hich [\w` ]{2,24} (?:has|have) (?:the|your|each|it)\b[^.]*\?"),
        "Ask with 'do': 'Which x does y have?'",
    ),
    Turn(
        re.compile(r"\bwhoever\b|(?:^|[.;:] )Who (?!\w+ ?\?)[^?]*[.;]", re.I),
        "Name the person or thing.",
    ),
    Turn(
        re.compile(r"\b(?:anew|mend(?:s|ed|ing)?|reckon\w*|for ever)\b", re.I),
        "Write 'again', 'fix', 'compute', 'forever'.",
    ),
    Turn(
        re.compile(r"\b(?:is|are) (?:told|asked (?:for|of)|said of)\b"),
        "Say who does what: 'takes', 'return', 'must'.",
    ),
    Turn(re.compile(r"\bbehind\b", re.I), "Write 'after'."),
    Turn(
        re.compile(r"\bin(?:to)? the place of\b|\btakes? (?:its|their|the) place\b", re.I),
        "Write 'instead of', or 'replaces'.",
    ),
    Turn(re.compile(r"\bbeside\b", re.I), "Write 'next to', or 'in addition to'."),
    Turn(re.compile(r"\b(?:com(?:es?|ing)|came) out\b", re.I), "Write 'result', 'return' or 'is'."),
    Turn(re.compile(r"\bwork(?:s|ed|ing)? (?:\w+ )?out\b", re.I), "Write 'compute' or 'find'."),
)
"""The patterns: turns of phrase forbidden on pages, which disappear step by step elsewhere."""


def patterns_in(text: str) -> Iterator[tuple[str, str]]:
    """The patterns in a text, each with advice."""
    for turn in PATTERNS:
        for found in turn.pattern.finditer(text):
            yield found[0].strip(" ,;.:"), turn.mend


QUESTION_WORD = re.compile(r"^\s*(?:What|Whose|Where|How|Which)\b")
"""The beginning of a docstring that is a clause and not a noun or a verb."""


def patterns_in_module(source: str) -> Iterator[tuple[int, str, str]]:
    """The patterns in a module's docstrings and comments: line, words and advice.

    A docstring that begins with a question word is one of them.
    """
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if (text := _docstring(statement)) is None:
                continue
            if found := QUESTION_WORD.match(text):
                yield statement.lineno, found[0].strip(), "Begin with a verb or a noun."
            for words, advice in patterns_in(text):
                yield statement.lineno, words, advice
    for token in _tokens(source):
        if token.type == tokenize.COMMENT:
            for words, advice in patterns_in(token.string.lstrip("# ")):
                yield token.start[0], words, advice


def _docstring(statement: ast.AST) -> str | None:
    """The text of a statement that is only a string."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        text = statement.value.value
        return text if isinstance(text, str) else None
    return None


def findings(chapter: Chapter) -> list[Problem]:
    """The turns of phrase in a chapter, in the order of its lines."""
    return [
        Problem(line, f"'{found}' is not plain English.", mend)
        for cell in chapter.cells
        for line, text in _texts(cell)
        for found, mend in turns_in(text)
    ]


def turns_in(text: str) -> Iterator[tuple[str, str]]:
    """The turns of phrase in a text, each with advice."""
    for turn in TURNS:
        for found in turn.pattern.finditer(text):
            if turn.unless is None or not turn.unless.search(text[: found.end()]):
                yield found[0].strip(" ,;"), turn.mend


def _texts(cell: Cell) -> Iterator[tuple[int, str]]:
    """The lines of English in a cell, with their numbers in the file."""
    lines = _prose(cell.source) if cell.kind == "markdown" else _comments(cell.source)
    for number, text in lines:
        # Code in backticks counts as one word of the sentence.
        yield cell.line + number, re.sub(r"`+[^`]*`+|<code>.*?</code>", "`x`", text).strip()


def _prose(source: str) -> Iterator[tuple[int, str]]:
    fenced = False
    for number, line in enumerate(source.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line
        elif "#" in line:
            yield number, line.partition("#")[2]


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """The comments and docstrings of a code cell, with line numbers."""
    begins = True
    for token in _tokens(source):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")
        elif token.type == tokenize.STRING and begins:
            for number, line in enumerate(token.string.splitlines(), start=token.start[0]):
                yield number, line.strip().strip('"')
        layout = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)
        begins = token.type in layout or (begins and token.type == tokenize.ENCODING)


def _tokens(source: str) -> list[tokenize.TokenInfo]:
    """The tokens of a cell; none if it is not valid Python, such as a cell with a magic command."""
    try:
        return list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return []
