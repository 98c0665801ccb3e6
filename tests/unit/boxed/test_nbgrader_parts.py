"""A judge has what it needs of nbgrader, without the rest; for everybody else it is as ever."""

from __future__ import annotations

import subprocess
import sys

import pytest

from autograder.builder.paths import ROOT

ALONE = """
import sys
from autograder.boxed import judge_service
from autograder.submission.nbgrader_parts import LimitOutput, utils

around = {"jupytext", "nbgrader", "sqlalchemy"}
assert not around & {name.partition(".")[0] for name in sys.modules}, around & sys.modules.keys()
import nbgrader.apps
import nbgrader.preprocessors
import nbgrader.utils

assert nbgrader.utils.__file__ == utils.__file__
assert nbgrader.preprocessors.LimitOutput.__module__ == LimitOutput.__module__
assert set(nbgrader.preprocessors.LimitOutput.class_trait_names()) == set(
    LimitOutput.class_trait_names()
)
print("as ever")
"""

BESIDE = """
import nbgrader.preprocessors
from nbgrader import utils as stock
from autograder.submission.nbgrader_parts import LimitOutput, utils

assert utils is stock and LimitOutput is nbgrader.preprocessors.LimitOutput
print("as ever")
"""

WITHOUT = """
import sys

sys.modules["nbgrader"] = None
try:
    import autograder.submission.nbgrader_parts
except ModuleNotFoundError as error:
    print("as ever" if "nbgrader" in str(error) else error)
"""


@pytest.mark.parametrize("code", [ALONE, BESIDE, WITHOUT], ids=["alone", "beside", "without"])
def test_it_is_imported_as_if_it_were_not_there(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True, check=False
    )
    assert done.stdout == "as ever\n", done.stderr
