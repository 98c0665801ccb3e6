"""Cards: their text in each of the four outcomes, and that their HTML is safe."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from autograder.cards.card import Card, card_html, card_text
from autograder.core.exercise import Exercise
from autograder.core.verdict import Example, Finding, NodeBox, Share, Verdict

HINTS = (
    "**Where to look.** Print `new.args`.",
    "Use one of:\n\n- `inserting_after`\n- an *if*",
    "A start:\n\n```python\nfor node in ...:\n    <b>\n```\nGo on.",
)
EXERCISE = Exercise(
    name="relu_after_add", chapter="03_manipulation", title="A relu after every sum", stars=2,
    minutes=15, points=4, kind="pass", aspects=(), cases=(), key="", hints=HINTS,
)  # fmt: skip
BEFORE = (
    NodeBox("x", "placeholder", "x", ()), NodeBox("add", "call_function", "x + 1", ("x",)),
    NodeBox("output", "output", "output", ("add",)),
)  # fmt: skip
AFTER = (
    *BEFORE[:2], NodeBox("relu", "call_function", "torch.relu", ("relu",)),
    NodeBox("output", "output", "output", ("relu",)),
)  # fmt: skip
EXAMPLE = Example(
    case="one addition",
    source="class Net(nn.Module):\n    def forward(self, x):\n        return x + 1",
    call="relu_after_add(Net())",
    inputs=("a float32 tensor of shape (2, 3)",),
    before=BEFORE,
    after=AFTER,
)
FAILED = Verdict(
    "relu_after_add", "failed", 0.25,
    findings=(
        Finding("self-loop", "The node `relu` reads its own value.", "Look at `relu.args`."),
        *(Finding(f"code-{i}", f"Finding number {i}.") for i in range(6)),
        Finding("code-1", "Finding number 1 on another case."),
    ),
    shares=(Share("a relu follows `torch.add`", 1, True), Share("all else stays", 3, False)),
    example=EXAMPLE, printed="hello\n", cases=12,
)  # fmt: skip
PASSED = Verdict("relu_after_add", "passed", 1.0, shares=(Share("it works", 1, True),), cases=12)
CRASHED = Verdict(
    "relu_after_add", "crashed", 0.0,
    findings=(Finding("crash", "`relu_after_add` raised `KeyError: 'x'`.", "Look at line 3.",
                      tells_error=True),),
    shares=(Share("it works", 1, False),), error="KeyError: 'x'\nline 3: env[node]", cases=1,
)  # fmt: skip
STUB = Verdict("relu_after_add", "not attempted", 0.0, example=EXAMPLE, cases=1,
               findings=(Finding("stub", "Not written yet.", "Replace it."),))  # fmt: skip
ALL = {"failed": FAILED, "passed": PASSED, "crashed": CRASHED, "stub": STUB}

VOID = {"br", "img", "hr"}


class Reader(HTMLParser):
    """Collects text, tags and attributes, and requires that tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


OF_PICTURES = set(
    "role aria-label viewbox width height d points fill stroke stroke-width stroke-opacity "
    "stroke-linejoin stroke-dasharray x y font-size font-family font-weight text-anchor "
    "textlength lengthadjust".split()
)


def read(html: str) -> Reader:
    """Parse and check a piece of HTML."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    allowed = {"div", "span", "strong", "code", "pre", "details", "summary", "table", "tbody",
               "tr", "th", "td", "ul", "ol", "li", "br", "em", "a", "u",
               "svg", "path", "polyline", "text"}  # fmt: skip
    assert set(reader.tags) <= allowed
    names = {name for name, _ in reader.attributes}
    assert names <= {"style", "colspan", "scope", "href", "tabindex", *OF_PICTURES}
    for name, value in reader.attributes:
        if name == "style":
            assert value and "url(" not in value and "expression" not in value
    return reader


@pytest.mark.parametrize("verdict", ALL.values(), ids=ALL)
def test_a_card_is_sound_html_with_colours_of_its_own(verdict: Verdict) -> None:
    html = card_html(verdict, EXERCISE)
    reader = read(html)
    frame = dict(reader.attributes[:3])["style"]
    # The theme's colors, and fixed colors if there is no theme.
    assert frame and "background:var(--jp-layout-color1,#ffffff)" in frame
    assert "color:var(--jp-content-font-color1,#1d2430)" in frame
    assert len(html) < 150_000


def test_a_screen_reader_finds_a_card_its_stars_and_its_rows() -> None:
    reader = read(card_html(FAILED, EXERCISE))
    labels = [value for name, value in reader.attributes if name == "aria-label"]
    assert labels[:2] == ["Not right yet: relu_after_add", "2 of 4 stars"]
    assert reader.attributes[0] == ("role", "region") and ("scope", "row") in reader.attributes


def test_each_box_that_scrolls_has_a_role_a_name_and_the_keyboard() -> None:
    long = replace(EXAMPLE, expected="[1, 2]\n" * 30, obtained="[1, 3]\n" * 30)
    html = card_html(replace(FAILED, example=long), EXERCISE)
    boxes = [re.split("[<>]", box)[0] for box in html.split("overflow-y:auto")[1:]]
    assert boxes == [
        f'" role="group" aria-label="{name}" tabindex="0"'
        for name in ("The smallest case that breaks it", "Expected", "Obtained")
    ]


def test_a_failing_card_quotes_the_fine_print_that_its_case_stands_on() -> None:
    says = "A *sum* of **sizes** stays."
    quoting = replace(FAILED, example=replace(EXAMPLE, fine_print=says))
    for shown in (card_html(quoting, EXERCISE), " ".join(card_text(quoting, EXERCISE).split())):
        assert "The fine print says" in shown and "“A sum of sizes stays.”" in shown
    for shown in (
        card_html(FAILED, EXERCISE),
        card_text(replace(quoting, status="passed"), EXERCISE),
    ):
        assert "fine print" not in shown


def test_the_four_outcomes_differ_by_icon_word_and_colour() -> None:
    looks = set()
    for verdict in ALL.values():
        badge = re.search(r"background:(#\w{6});color:#ffffff[^>]*>(.)&nbsp; ([\w ]+)<",
                          card_html(verdict, EXERCISE))  # fmt: skip
        assert badge
        looks.add(badge.groups())
        assert card_text(verdict, EXERCISE).startswith(f"{badge[2]} {badge[3]}: relu_after_add")
    assert all(len({look[i] for look in looks}) == 4 for i in range(3))


def both(verdict: Verdict) -> tuple[str, str]:
    """The text of the HTML card and of the text card, without line breaks."""
    words = "".join(read(card_html(verdict, EXERCISE)).words)
    return words, " ".join(card_text(verdict, EXERCISE).split())


def test_what_a_failed_card_says() -> None:
    for said in both(FAILED):
        plain = said.replace("`", "")
        for expected in (
            "A relu after every sum", "★★ · 15 minutes · 4 points",
            "The node relu reads its own value.", "Look at relu.args.", "Finding number 3.",
            "and 2 more", "return x + 1", "relu_after_add(Net())", "a float32 tensor",
            "It was tried on 12 cases. The case shown here is “one addition”.",
            "Points: 1 of 4.", "hello",
            'hint("relu_after_add")',
        ):  # fmt: skip
            assert expected in plain, expected
        assert "Finding number 4" not in said and "another case" not in said
    parts = both(FAILED)[0]  # the text card's list of parts
    assert "does not hold yet" in parts and "all else stays" in parts and "3 points" in parts
    assert "reads itself" in parts
    assert card_html(FAILED, EXERCISE).count("<svg") == 2, "before and after"


def test_a_part_that_earns_nothing_yet_is_explained() -> None:
    shares = (Share("the task", 1, False), Share("the rest", 1, True))
    for said in both(replace(FAILED, shares=shares, score=0.0)):
        assert "Points: 0 of 4. The first part must hold before the others count." in said


def test_what_a_crashed_card_says() -> None:
    for said in both(CRASHED):
        assert "KeyError: 'x'" in said and "line 3: env[node]" in said
        assert said.count("KeyError") == 1, "the finding would say it again"
        assert "Look at line 3." in said, "the finding's advice is not lost"
    finding = Finding("time", "It did not end within 5 s.", "Look for a loop.")
    late = replace(CRASHED, error="It ran until its time was used up.", findings=(finding,))
    for said in both(late):
        assert "It did not end within 5 s." in said and "Look for a loop." in said
        assert "raised" not in said


def test_what_a_stub_gets() -> None:
    for said in both(STUB):
        assert 'hint("relu_after_add")' in said and "NotImplementedError" in said
        assert "Net" not in said and "Points" not in said and len(said) < 500


def test_a_passed_card_is_short() -> None:
    for said in both(PASSED):
        assert "It was tried on 12 cases" in said and "it works" in said and "go on" in said
        assert "hint" not in said and len(said) < 400


EVIL = "<script>alert(1)</script><img src=x onerror=y>`<b>`\"'&\x1b[31mred\x00\u202e\ud800"


def test_whatever_a_learner_writes_stays_text() -> None:
    box = NodeBox(EVIL, "call_function", EVIL, (EVIL,))
    example = Example(EVIL, EVIL, EVIL, (EVIL,), EVIL, EVIL, (box,), (replace(box, label="x"),))
    finding = Finding("c", EVIL, EVIL, nodes=(EVIL,))
    for status in ("passed", "failed", "crashed", "not attempted"):
        verdict = Verdict(EVIL, status, 0.5, (finding, replace(finding, code="d")),
                          (Share(EVIL, 1, True),), example, EVIL, EVIL * 50, 3)  # fmt: skip
        exercise = replace(EXERCISE, name=EVIL, title=EVIL)
        bundle = Card(verdict, exercise)._repr_mimebundle_()
        reader = read(bundle["text/html"])
        assert "<script>alert(1)</script>" in "".join(reader.words)
        for form in bundle.values():
            form.encode()
            assert not any(c in form for c in "\x1b\x00\u202e\ud800")


@pytest.mark.parametrize("broken", [(), (NodeBox("a", "call_function", "f", ("a", "gone")),),
                                    (NodeBox("", "", "", ("",)),) * 3])  # fmt: skip
def test_a_broken_graph_costs_no_card(broken: tuple[NodeBox, ...]) -> None:
    verdict = replace(FAILED, example=replace(EXAMPLE, after=broken))
    for said in both(verdict):
        assert "reads its own value" in said


def test_long_things_are_bounded() -> None:
    flood = "\n".join(f"line {i} " + "x" * 500 for i in range(5_000))
    verdict = replace(FAILED, printed=flood, example=replace(EXAMPLE, source=flood, obtained=flood))
    html = card_html(verdict, EXERCISE)
    assert len(html) < 300_000 and len(card_text(verdict, EXERCISE)) < 120_000
    assert "Your code printed 5,000 lines" in html and "and 4800 more lines" in html


def test_a_verdict_with_nothing_in_it() -> None:
    for status in ("passed", "failed", "crashed", "not attempted"):
        bare = Verdict("relu_after_add", status, 0.0)
        read(card_html(bare, EXERCISE))
        assert card_text(bare, EXERCISE)


def test_the_picture_points_at_the_nodes_of_the_first_finding() -> None:
    pointed = replace(FAILED, findings=(replace(FAILED.findings[0], nodes=("relu",)),))
    plain = replace(FAILED, findings=FAILED.findings[:1])
    with_mark, without = card_html(pointed, EXERCISE), card_html(plain, EXERCISE)
    assert "what has an exclamation mark" in with_mark and "exclamation" not in without
    picture = re.compile(r"<svg.*?</svg>", re.S)
    assert picture.findall(with_mark) != picture.findall(without)


def test_an_analysis_shows_the_model_alone() -> None:
    verdict = replace(FAILED, example=replace(EXAMPLE, after=(), expected="['x']", obtained="[]"))
    assert card_html(verdict, EXERCISE).count("<svg") == 1
    for said in both(replace(verdict, shares=(), findings=FAILED.findings[:1], printed="")):
        assert "The traced model" in said and "A graph of 3 nodes" in said
        assert "Expected" in said and "['x']" in said and "Obtained" in said


def test_lines_of_a_call_stay_lines_and_many_are_cut() -> None:
    call = "tracer = Own(x=1)\ntracer.trace(model)"
    verdict = replace(FAILED, example=replace(EXAMPLE, call=call))
    html, text = card_html(verdict, EXERCISE), card_text(verdict, EXERCISE)
    assert f"Called as:   tracer = Own(x=1)\n{' ' * 13}tracer.trace(model)\n" in text
    assert re.search(r"Own\(x=1\)</code><br><code[^>]*>tracer\.trace", html)
    call = "\n".join(f"f({i})" for i in range(9))
    text = card_text(replace(FAILED, example=replace(EXAMPLE, call=call)), EXERCISE)
    assert "f(5)" in text and "f(6)" not in text


def test_a_live_card_comes_into_view_for_seconds_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.cards.in_view.time.time", lambda: 1_000.0)
    live = Card(FAILED, EXERCISE, live=True)._repr_mimebundle_()["text/html"]
    assert live.count("<script>") == live.count("</script>") == 1
    assert "Date.now() < 1008000" in live
    assert "<script" not in Card(FAILED, EXERCISE)._repr_mimebundle_()["text/html"]
