"""What the class hands in of chapter 02b."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "02b_lint"

RIGHT = {"wellformed": text_of("wellformed", "one sweep over the nodes")}
OTHERS = {"wellformed": text_of("wellformed", "a list of rows, one a code")}

# lint does not see stale code, which is plain to see
PARTIAL = {"wellformed": text_of("wellformed", "lint alone")}
KIND = {"wellformed": "def wellformed(gm):\n    print('fine')"}
RAISES = {"wellformed": "def wellformed(gm):\n    gm.graph.lint(strict=True)\n    return []"}

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission("dan", CHAPTER, "right in part", PARTIAL, earns=dict.fromkeys(PARTIAL, NOTHING)),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
    mishaps.killer(CHAPTER, RIGHT, "wellformed", "os.kill(os.getpid(), signal.SIGSEGV)"),
    mishaps.edited_check(CHAPTER, RIGHT, "wellformed"),
)
