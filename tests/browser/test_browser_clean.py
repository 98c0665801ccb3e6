"""Cleaned HTML in a real browser: it runs nothing, loads nothing and stays in its element."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from nbconvert.filters.markdown_mistune import markdown2html_mistune
from nbformat.v4 import new_markdown_cell, new_output

from autograder.submission.sanitize import clean_cell, clean_outputs
from autograder.submission.sanitize.policy import TAGS
from tests.support.evil_html import EVIL_HTML, EVIL_MARKDOWN
from tests.unit.classroom.test_classroom_clean import (
    BREAKING_OUT,
    HONEST_HTML,
    HONEST_MARKDOWN,
    cards,
    in_a_box,
)

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]

ADDRESS = "http://notes.test/formgrader/x"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
WATCH = "window.ran = []; window.alert = window.msgbox = what => window.ran.push('alert');"
PROVOKE = """async () => {
    const kinds = ['mouseover', 'mouseenter', 'pointerover', 'focus', 'focusin', 'toggle', 'load',
                   'beforetoggle', 'animationstart', 'animationend', 'error', 'start'];
    for (const element of document.querySelectorAll('body *')) {
        for (const kind of kinds) element.dispatchEvent(new Event(kind, {bubbles: true}));
        if (element.matches('details')) element.open = !element.open;
        if (!/^(https?|ftps?|mailto|tel)?:$/.test(element.href ? element.protocol : 'http:'))
            element.click?.();
        if (!element.closest('a')) element.click?.();
    }
    await new Promise(done => setTimeout(done, 20));
    return window.ran;
}"""
LOOK = """tags => {
    const odd = [];
    for (const box of document.querySelectorAll('.box')) {
        if (box.nextElementSibling?.className !== 'after') odd.push('broke out');
        if (box.closest('body > main > div') !== box.parentElement) odd.push('broke out');
    }
    for (const element of document.querySelectorAll('.box *')) {
        const name = element.localName, style = getComputedStyle(element);
        const ticked = element.matches('input.task-list-item-checkbox');
        const known = tags.includes(name) || element.constructor === HTMLUnknownElement;
        if (!known && !ticked && !element.tagName.includes('-')) odd.push(name);
        if (element.namespaceURI !== 'http://www.w3.org/1999/xhtml') odd.push(name);
        for (const {name: attribute} of element.attributes)
            if (/^on|srcdoc|srcset|:href|action|ping|popover|^for$|^form|tabindex/.test(attribute))
                odd.push(attribute);
        if (element.hasAttribute('name') && name !== 'a') odd.push('name');
        if (/(^| )opener/.test(element.rel || '')) odd.push('opener');
        if (!/^(https?|ftps?|mailto|tel)?:$/.test(element.href ? element.protocol : 'http:'))
            odd.push('address');
        if (/fixed|absolute|sticky/.test(style.position)) odd.push('place');
        if (parseFloat(style.marginTop) < 0 || parseFloat(style.marginLeft) < 0) odd.push('margin');
        if (/url/.test(style.backgroundImage + style.cursor + style.content)) odd.push('style');
    }
    for (const name of ['body', 'cookie', 'forms', 'attributes', 'MathJax'])
        if (document[name]?.localName === 'img' || window[name]?.localName === 'a') odd.push(name);
    if (getComputedStyle(document.body).display !== 'block') odd.push('body');
    return odd;
}"""
SAME = """([before, after]) => {
    const [one, two] = [before, after].map(html => {
        const box = document.implementation.createHTMLDocument().createElement('div');
        box.innerHTML = html;
        box.normalize();
        return box;
    });
    return one.isEqualNode(two);
}"""
STAYS = """texts => texts.filter(text => {
    const host = document.implementation.createHTMLDocument().createElement('div');
    host.innerHTML = `<div>${text}</div><p></p>`;
    const first = host.innerHTML;
    host.innerHTML = first;
    return [first, host.innerHTML].some(html => {
        host.innerHTML = html;
        const acts = 'script,style,svg,math,iframe,form,input:not(.task-list-item-checkbox),'
            + 'button,object,embed,base,meta,link,template,noscript,textarea,title,select';
        return host.children.length !== 2 || host.querySelector(acts) !== null
            || [...host.querySelectorAll('*')].some(e =>
                [...e.attributes].some(a => /^on|^srcdoc|^srcset|^action/.test(a.name))
                || !/^(https?|ftps?|mailto|tel|about)?:$/.test(e.href ? e.protocol : 'http:')
                || /url|fixed|expression/.test(e.getAttribute('style') || ''));
    });
})"""

Seen = tuple[list[str], list[str], list[str]]


@pytest.fixture(scope="module")
def tab() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.add_init_script(WATCH)
        page.set_default_timeout(30_000)
        yield page
        browser.close()


@pytest.fixture(scope="module")
def shown(tab: Any) -> Callable[[list[str]], Seen]:
    """A function that shows pieces of HTML and returns scripts that ran, requests and oddities."""
    served, asked = [""], list[str]()

    def answer(route: Any) -> None:
        url = route.request.url
        if url == ADDRESS:
            route.fulfill(body=served[0], content_type="text/html; charset=utf-8")
        else:
            asked.append(url)
            route.abort()

    tab.route(re.compile(".*"), answer)

    def show(pieces: list[str]) -> Seen:
        after = '<p class="after">x</p>'
        boxes = "".join(
            f'<main><div><div class="box">{piece}</div>{after}</div></main>' for piece in pieces
        )
        served[0] = f"<!DOCTYPE html><html><head></head><body>{boxes}</body></html>"
        asked.clear()
        tab.goto(ADDRESS, wait_until="load")
        odd = tab.evaluate(LOOK, sorted(TAGS))
        ran = tab.evaluate(PROVOKE)
        return ran, list(asked), odd

    return show


def of_output(mime: str, text: str) -> str:
    (output,) = clean_outputs([new_output("display_data", data={mime: text})])
    return output.data.get(mime, "")


def of_cell(text: str) -> str:
    cell = new_markdown_cell(text)
    clean_cell(cell)
    return markdown2html_mistune(cell.source)


@pytest.mark.parametrize("name", EVIL_HTML | EVIL_MARKDOWN)
def test_nothing_happens(name: str, shown: Callable[[list[str]], Seen]) -> None:
    for text in filter(None, (EVIL_HTML.get(name), EVIL_MARKDOWN.get(name))):
        as_markdown = markdown2html_mistune(of_output("text/markdown", text))
        ran, asked, odd = shown([of_output("text/html", text), of_cell(text), as_markdown])
        asked = [url for url in asked if not re.fullmatch(r"http://notes\.test/\S+\.png", url)]
        assert (ran, asked, odd) == ([], [], [])


@pytest.mark.parametrize("text", BREAKING_OUT)
def test_nothing_breaks_out(text: str, shown: Callable[[list[str]], Seen]) -> None:
    assert shown([markdown2html_mistune(text)])[2]
    assert shown([of_cell(text), markdown2html_mistune(of_output("text/markdown", text))])[2] == []


def test_without_cleaning_much_happens(tab: Any, shown: Callable[[list[str]], Seen]) -> None:
    """The checks of the tests above detect scripts that run, requests and broken pages."""
    happens: dict[str, list[str]] = {"ran": [], "asked": [], "odd": []}
    for name, text in EVIL_HTML.items():
        try:
            for kind, seen in zip(happens, shown([text]), strict=True):
                happens[kind] += [name] if seen else []
        except Exception:  # the page navigated away before the test could read it
            happens["odd"].append(name)
            tab.wait_for_timeout(300)
    assert len(happens["ran"]) > 60, happens["ran"]
    assert len(happens["asked"]) > 25, happens["asked"]
    assert len(happens["odd"]) > 100, happens["odd"]


def test_honest_work_looks_as_it_did(tab: Any) -> None:
    for text in [*HONEST_HTML.values(), *cards()]:
        assert tab.evaluate(SAME, [in_a_box(text), of_output("text/html", text)]), text
    assert not tab.evaluate(SAME, ["<p>a</p>", "<p>b</p>"])
    assert not tab.evaluate(SAME, ["<p title=a>a</p>", "<p>a</p>"])


BITS = """<p> </p> <div> </div> <b> </b> <a\tid=x\thref=#a> </a> <table> </table> <tr> <td> </td>
<ul> <li> <pre> </pre> <h1> </h1> <svg> </svg> <math> </math> <mtext> <mglyph> <style> </style>
<title> </title> <script> </script> <form> </form> <select> </select> <option> <button> </button>
<template> </template> <noscript> </noscript> <iframe> </iframe> <xmp> <textarea> </textarea>
<!-- --> --!> <![CDATA[ ]]> <annotation-xml\tencoding=text/html> <foreignObject> <desc> <object>
<marquee> <nobr> <caption> <colgroup> <img\tsrc=x\tonerror=alert(1)> <img\ttitle=" '> "> ' " = >
< / & &lt; &gt; x y onerror=alert(1) title= style= 'color:red' "position:fixed" url(x) ; href=
javascript:alert(1) \\ <details\topen> <summary> <font\tcolor=red> <x> </x> <p\xa0 \xa0=\xa0"
\x0c \x0b \u2003 ` ``` # > * [ ]( ) ![ <> $ $$ \n \n\n --- | <dd> <ruby> <rt> <image> <br/> </br>
<hr> <td\tstyle=color:red> <a\thref='x"> data:text/html, <base\thref=//x> <body> </body>
<frameset>""".replace("\n<", " <")


def odd_texts(seed: int, number: int) -> list[str]:
    """Tags and characters in random order."""
    draw = random.Random(seed)
    bits = [bit.replace("\t", " ").replace("\\n", "\n") for bit in re.split(" |\n", BITS) if bit]
    blank = ("", "", "", " ", "\n")
    return [
        "".join(draw.choice(bits) + draw.choice(blank) for _ in range(draw.randint(2, 25)))
        for _ in range(number)
    ]


def test_odd_texts_stay_harmless_when_they_are_read_again(tab: Any) -> None:
    texts = odd_texts(0, 500)
    html, cells = [of_output("text/html", t) for t in texts], [of_cell(t) for t in texts]
    assert tab.evaluate(STAYS, html) == []
    assert tab.evaluate(STAYS, cells) == []
    assert len(tab.evaluate(STAYS, texts)) > 400
    assert sum("<" in text for text in html) > 250


def test_honest_markdown_breaks_nothing(shown: Callable[[list[str]], Seen]) -> None:
    ran, asked, odd = shown([of_cell(text) for text in HONEST_MARKDOWN.values()])
    assert (ran, odd) == ([], [])
    assert all(url.startswith("http://notes.test/") for url in asked)
