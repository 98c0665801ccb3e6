"""Tests of the advice on wrong traces of `sign_flip`."""

from __future__ import annotations

from tests.checks.examination import examine
from tests.checks.test_answers import wrong_answers


def test_a_trace_that_alone_is_wrong_leads_to_its_code() -> None:
    looks = {
        answer.style.partition(",")[0]: examine(answer)[1].findings[0].advice
        for answer in wrong_answers("sign_flip")
        if answer.finding == "wrong-result"
    }
    assert "fx.symbolic_trace(sign_flip).code" in looks["a branch on being traced"]
    assert "The sum of all entries decides" in looks["the sign of the sum"]
