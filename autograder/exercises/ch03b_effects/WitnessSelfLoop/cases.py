"""Exercise 3b.4: a snippet in PyTorch's documentation."""

from __future__ import annotations

from autograder.authoring.question import duel

HINTS = (
    "Read section 3.3 of chapter 3 once more: what does `replace_all_uses_with` do to the new "
    "node itself? "
    "In which graphs does the suspect insert a node at all?",
    "The suspect compares `node.target` with one function. There are other ways to write a sum, "
    "and it leaves them alone. Trace your model, and print the targets.",
)

EXERCISE = duel(
    4,
    "A snippet of PyTorch's documentation",
    HINTS,
    stars=1,
    minutes=5,
)
