"""The summary of a job of GitHub Actions, in Markdown.

Source: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

import re

from autograder.formats.feedback import Feedback


def text(feedback: Feedback) -> str:
    """A table of the points, and the problem of each answer."""
    result, rows = feedback.result, feedback.rows
    parts = [f"# {result.chapter}: {feedback.total}"]
    if feedback.summary:
        parts.append(_block(feedback.summary))
    table = ["| exercise | result | points |", "|---|---|---|"]
    table += [f"| `{row.name}` | {row.word} | {row.worth} |" for row in rows]
    parts.append("\n".join(table))
    parts += [f"## `{row.name}`\n\n{_block(row.text)}" for row in rows if row.text]
    return "\n\n".join(parts) + "\n"


def _block(text: str) -> str:
    """A text as a block of code, in which nothing is Markdown or HTML."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
