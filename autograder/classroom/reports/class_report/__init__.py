"""The instructor's report about a class: a page and a table, from journal and gradebook."""
