"""What the class hands in of the deep dive of chapter 14."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import text_of

CHAPTER = "14b_sharing"

RIGHT = {"share_scales": text_of("share_scales", "groups that meet become one")}
OTHERS = {"share_scales": text_of("share_scales", "again and again, until a round changes nothing")}
PARTIAL = {"share_scales": text_of("share_scales", "views too")}
PARTIAL_EARNS = {"share_scales": all_but("share_scales", "alone")}

KIND = {"share_scales": "def share_scales(gm):\n    return gm.graph"}
RAISES = {"share_scales": "def share_scales(gm):\n    return gm.shared"}

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission("dan", CHAPTER, "right in part", PARTIAL, earns=PARTIAL_EARNS),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
)
