"""What the class hands in of the optional part 09c."""

from __future__ import annotations

from tests.submissions import NOTHING, Submission, all_but, mishaps
from tests.submissions.exam import fitted, text_of

CHAPTER = "09c_sources"
RIGHT = text_of("source_of", "traceback.extract_stack in create_proxy")
PARTIAL = RIGHT.replace("entry.filename.startswith(FOLDER)", '"torch" in entry.filename')
KIND = "def source_of(model):\n    return [model]"
RAISES = "def source_of(model):\n    return {model.nodes: ('', 0)}"

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", {"source_of": RIGHT}),
    Submission(
        "bert", CHAPTER, "all right, in other ways",
        {"source_of": text_of("source_of", "by the names of modules, in meta")},
    ),
    mishaps.untouched(CHAPTER),
    Submission(
        "dan", CHAPTER, "right in part", {"source_of": PARTIAL},
        earns={"source_of": all_but("source_of", "inside")},
    ),
    Submission(
        "eva", CHAPTER, "fitted to the visible cases",
        {"source_of": fitted("source_of", "by the names of modules, in meta", "{}")},
        earns={"source_of": all_but("source_of", "inside")},
    ),
    Submission("finn", CHAPTER, "wrong kinds", {"source_of": KIND}, earns={"source_of": NOTHING}),
    Submission("gina", CHAPTER, "exceptions", {"source_of": RAISES}, earns={"source_of": NOTHING}),
)  # fmt: skip
