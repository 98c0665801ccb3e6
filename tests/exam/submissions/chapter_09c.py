"""What the class hands in of the deep dive 09c."""

from __future__ import annotations

from autograder.core.exercise import RANDOM
from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted, fitted_to_graphs, text_of

CHAPTER = "09c_sources"
RIGHT = text_of("source_of", "traceback.extract_stack in create_node")
PARTIAL = RIGHT.replace("entry.filename.startswith(FOLDER)", '"torch" in entry.filename')
KIND = "def source_of(model):\n    return [model]"
RAISES = "def source_of(model):\n    return {model.nodes: ('', 0)}"

SMALL = text_of("minimize", "the smallest first, by recursion")
OTHER_SMALL = text_of("minimize", "one graph, edited and put back")
PARTIAL_SMALL = text_of("minimize", "None where nothing is bad")
KIND_SMALL = "def minimize(gm, bad):\n    return gm.graph"
RAISES_SMALL = "def minimize(gm, bad):\n    return gm.nodes"

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", {"source_of": RIGHT, "minimize": SMALL}),
    Submission(
        "bert", CHAPTER, "all right, in other ways",
        {
            "source_of": text_of("source_of", "by the names of modules, in meta"),
            "minimize": OTHER_SMALL,
        },
    ),
    mishaps.untouched(CHAPTER),
    Submission(
        "dan", CHAPTER, "right in part", {"source_of": PARTIAL, "minimize": PARTIAL_SMALL},
        earns={
            "source_of": all_but("source_of", "inside", "torch"),
            "minimize": all_but("minimize", "asks"),
        },
    ),
    Submission(
        "eva", CHAPTER, "fitted to the visible cases",
        {
            "source_of": fitted("source_of", "by the names of modules, in meta", "{}"),
            "minimize": fitted_to_graphs("minimize", "the smallest first, by recursion", "gm"),
        },
        earns={
            "source_of": all_but("source_of", "inside"),
            "minimize": all_but("minimize", RANDOM.key),
        },
    ),
    Submission(
        "finn", CHAPTER, "wrong kinds", {"source_of": KIND, "minimize": KIND_SMALL},
        earns={"source_of": NOTHING, "minimize": NOTHING},
    ),
    Submission(
        "gina", CHAPTER, "exceptions", {"source_of": RAISES, "minimize": RAISES_SMALL},
        earns={"source_of": NOTHING, "minimize": NOTHING},
    ),
)  # fmt: skip
