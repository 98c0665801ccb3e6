"""Prints the table of clauses: what each says, and which wrong answers break it."""

from tests.exam.clauses import table

print("| clause | says | broken by |", "|---|---|---|", *(c.row() for c in table()), sep="\n")
