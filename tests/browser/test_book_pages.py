"""The book in Chromium: pages are accessible in light and dark themes, and the search works.

axe-core checks the pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.test_browser import CHROMIUM, SCREENSHOTS
from tests.support.pages import small_book

PAGES = (
    "index", "install", "chapters/index", "chapters/02b_lint", "learners/index",
    "instructors/first-class", "engineers/hunting", "reference/index", "reference/errors",
    "reference/questions", "reference/cheat-sheets", "reference/glossary", "reference/kinds/index",
    "reference/kinds/analysis", "reference/commands",
)  # fmt: skip

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of a book with an executed chapter."""
    return small_book.make(tmp_path_factory.mktemp("book"), executed=("02b_lint",))


@pytest.fixture(scope="module", params=["light", "dark"])
def tab(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A tab that records requests to other hosts in ``elsewhere``."""
    from playwright.sync_api import sync_playwright

    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        size = {"width": 1400, "height": 1200}
        tab = browser.new_context(viewport=size, color_scheme=request.param).new_page()
        tab.elsewhere = []
        tab.on("request", lambda asked: tab.elsewhere.append(asked.url))
        tab.theme = request.param
        yield tab
        browser.close()


def elsewhere(tab: Any) -> list[str]:
    return [url for url in tab.elsewhere if not url.startswith(("file:", "data:", "blob:"))]


def test_nothing_on_a_page_bars_a_reader(tab: Any, book: Path, axe: str) -> None:
    found = []
    for name in PAGES:
        tab.goto((book / f"{name}.html").as_uri())
        assert tab.locator("html").get_attribute("data-theme") == tab.theme
        tab.screenshot(path=SCREENSHOTS / f"book-{name.replace('/', '-')}-{tab.theme}.png")
        tab.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
        # Text in the middle of a fade-in has too little contrast.
        tab.evaluate("document.getAnimations().forEach(one => one.finish())")
        tab.evaluate(axe)
        said = tab.evaluate("axe.run({resultTypes: ['violations']})")
        assert said["passes"]
        found += [
            f"{name}: {each['id']}: {each['nodes'][0]['html'][:200]}" for each in said["violations"]
        ]
    assert found == []
    assert elsewhere(tab) == []


def test_folds_are_closed_until_a_reader_opens_them(tab: Any, book: Path) -> None:
    tab.goto((book / "chapters" / "02b_lint.html").as_uri())
    folds = tab.locator("details.hide")
    assert folds.count() >= 5
    assert tab.locator("details[open]").count() == 0
    solution = folds.filter(has_text="The solution").first
    code = solution.locator("pre").first
    assert not code.is_visible()
    solution.locator("summary").focus()
    tab.keyboard.press("Enter")
    assert code.is_visible()


def test_the_search_finds_a_section(tab: Any, book: Path) -> None:
    tab.goto((book / "search.html").as_uri() + "?q=wellformed")
    tab.locator("#search-results li a").first.wait_for()
    places = tab.locator("#search-results li a").evaluate_all("all => all.map(a => a.href)")
    assert any("02b_lint.html" in place for place in places)
    assert elsewhere(tab) == []
