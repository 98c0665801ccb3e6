"""JUnit's XML, which most services for continuous integration show.

Source: https://github.com/testmoapp/junitxml
"""

from __future__ import annotations

from xml.etree import ElementTree

from autograder.formats.feedback import Feedback, Row


def text(feedback: Feedback) -> str:
    """A test suite for the chapter, with a test for each exercise."""
    result, rows = feedback.result, feedback.rows
    failures = sum(row.points is not None and not row.is_right for row in rows)
    skipped = sum(row.points is None for row in rows)
    attributes = {
        "name": result.chapter, "tests": str(len(rows)), "failures": str(failures), "errors": "0",
        "skipped": str(skipped), "time": f"{result.seconds:.3f}",
    }  # fmt: skip
    suite = ElementTree.Element("testsuite", attributes)
    properties = ElementTree.SubElement(suite, "properties")
    for name in ("status", "points", "max_points"):
        value = str(getattr(result, name))
        ElementTree.SubElement(properties, "property", name=name, value=value)
    for row in rows:
        _add(suite, row, result.chapter)
    if feedback.summary:
        ElementTree.SubElement(suite, "system-out").text = feedback.summary
    ElementTree.indent(suite)
    xml = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml}\n'


def _add(suite: ElementTree.Element, row: Row, chapter: str) -> None:
    test = ElementTree.SubElement(suite, "testcase", classname=chapter, name=row.name)
    if row.points is None:
        ElementTree.SubElement(test, "skipped", message=row.word)
    elif not row.is_right:
        message = f"{row.word}, {row.worth} points"
        ElementTree.SubElement(test, "failure", message=message, type=row.word).text = row.text
