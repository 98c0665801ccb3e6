"""What the class hands in of the deep dive of chapter 10."""

from __future__ import annotations

from autograder.core.exercise import RANDOM
from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted_to_graphs, text_of

CHAPTER = "10b_parallel"
NAME = "merge_parallel_linears"

RIGHT = {NAME: text_of(NAME, "split and getitem")}
OTHERS = {NAME: text_of(NAME, "a new graph, with narrow")}
PARTIAL = {NAME: text_of(NAME, "writes do not matter")}
KIND = {NAME: f"def {NAME}(model):\n    return list(model.children())"}
RAISES = {NAME: f"def {NAME}(model):\n    return model.get_submodule(model)"}

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission(
        "dan", CHAPTER, "right in part", PARTIAL, earns={NAME: all_but(NAME, "writes")},
    ),
    Submission(
        "eva", CHAPTER, "fitted to the models of the check cell",
        {NAME: fitted_to_graphs(NAME, "split and getitem", "model")},
        # The redraws are of graphs that the check cell tries; a student's random models are not.
        earns={NAME: all_but(NAME, RANDOM.key)},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns={NAME: NOTHING}),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns={NAME: NOTHING}),
    mishaps.killed_in_answer_cell(CHAPTER, RIGHT, NAME),
)  # fmt: skip
