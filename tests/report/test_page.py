"""The page in a real browser: nothing leaves it, nothing in it runs, everything can be read."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import tacit
from tacit.report.html import page
from tacit.report.summary import Summary, summarise
from tests.report.stories import NASTY, story
from tests.support import browser as chromium

pytestmark = pytest.mark.xdist_group("browser")

CONTRAST = """
const parse = text => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
const over = (top, below) => {
  const a = top.length > 3 ? top[3] : 1;
  return [0, 1, 2].map(i => a * top[i] + (1 - a) * below[i]);
};
const ground = element => element === null ? [255, 255, 255]
  : over(parse(getComputedStyle(element).backgroundColor), ground(element.parentElement));
const light = colour => {
  const [r, g, b] = colour.map(c => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; });
  return .2126 * r + .7152 * g + .0722 * b;
};
const seen = e => e.checkVisibility() && !['TITLE', 'DESC', 'STYLE'].includes(e.tagName.toUpperCase());
const poor = [];
for (const element of document.body.querySelectorAll('*')) {
  const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  if (!own || !seen(element)) continue;
  const style = getComputedStyle(element), below = ground(element);
  const ink = over(parse(element instanceof SVGElement ? style.fill : style.color), below);
  const [dark, bright] = [light(ink), light(below)].sort((a, b) => a - b);
  const ratio = (bright + .05) / (dark + .05);
  if (ratio < 4.5) poor.push(element.textContent.trim().slice(0, 30) + ' ' + ratio.toFixed(2));
}
return poor;
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Browser]:
    pytest.importorskip("selenium")
    programs = chromium.find_programs()
    if programs is None:
        pytest.skip(chromium.NO_BROWSER)
    running = chromium.Browser(programs, tmp_path_factory.mktemp("profile"))
    yield running
    running.quit()


@pytest.fixture(scope="module")
def summary() -> Summary:
    return story()[0]


@pytest.fixture(scope="module")
def written(summary: Summary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(summary), encoding="utf-8")
    return path


# -- without a browser ------------------------------------------------------------------------------------------------


class _Balance(HTMLParser):
    """Checks that every element is closed where it was opened, and gathers what elements refer to."""

    VOID = frozenset({"meta", "link", "input", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.references += [given[name] or "" for name in ("src", "href", "action", "xlink:href") if name in given]
        self.ids += [given["id"] or ""] if "id" in given else []
        assert not [name for name in given if name.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_refers_to_nothing(summary: Summary) -> None:
    text = page(summary)
    reader = _Balance()
    reader.feed(text)
    assert reader.open == []
    assert reader.references == ["data:,"]
    assert len(reader.ids) == len(set(reader.ids))
    assert not re.search(r"@import|url\(|<script|javascript:", text)


def test_a_page_of_nothing_is_a_page() -> None:
    reader = _Balance()
    reader.feed(page(summarise(question={}, receipts=[])))
    assert reader.open == []


def test_an_unknown_curve_is_not_dressed_up() -> None:
    curve = tacit.roc_curve([0] * 50, [0.5] * 50, epsilon=0.1, random_state=1)
    text = page(summarise(question={}, curve=curve, receipts=[curve.receipt]))
    assert "nothing can be said" in text
    assert "Confusion matrix" not in text
    assert "Points on the curve" not in text
    nothing = summarise(question={}, curve=curve, receipts=[curve.receipt])
    assert "shows how well" not in page(replace(nothing, features=[], n_features=0))


def test_a_price_that_promises_nothing_is_said_to(summary: Summary) -> None:
    """At ε = 1e9 all was to come out "almost the same", with at most 1.4e+217 times the odds."""
    cheap = tacit.roc_curve([0, 1] * 50, [0.2, 0.7] * 50, epsilon=2.0)
    dear = tacit.roc_curve([0, 1] * 50, [0.2, 0.7] * 50, epsilon=1e4)
    texts = [page(summarise(question={}, curve=curve, receipts=[curve.receipt])) for curve in (cheap, dear)]
    assert ["almost the same" in text for text in texts] == [True, False]
    assert "e to the power of 1e+04" in texts[1]


def test_parts_may_have_paid_less_than_was_asked(summary: Summary) -> None:
    assert "ε at most" in page(summary), "shares may give a part less"


def test_a_list_says_what_is_on_it(summary: Summary) -> None:
    assert "features that can be told from noise" in page(summary)
    assert "small ones may be chance" not in page(summary)
    none, one = replace(summary, features=[], n_features=0), (summary.features or [])[:1]
    assert "No single feature can be told from noise" in page(none)
    assert "the curve shows how well that works" in page(none)
    assert "The one feature that can be told" in page(replace(summary, features=one, n_features=1))
    assert "small ones may be chance" in page(replace(summary, told=False))


def test_of_many_classes_all_but_the_last_are_the_other_side(summary: Summary) -> None:
    text = page(replace(summary, question=summary.question | {"classes": ("low", "middle", "high")}))
    assert "one <em>high</em> and one <em>not high</em>" in text
    assert "is not high" in text
    assert "is middle" not in text


def test_a_lone_surrogate_can_be_stored(tmp_path: Path) -> None:
    text = page(summarise(question={"dataset": "odd \ud800 name"}, receipts=[]))
    (tmp_path / "report.html").write_text(text, encoding="utf-8")


def test_a_simulation_is_loud_and_promises_nothing() -> None:
    text = page(story(simulation=True)[0])
    assert "NOT PRIVATE: simulation" in text
    assert "would have come out almost the same" not in text
    assert "NOT PRIVATE" not in page(story()[0])


def test_the_promise_follows_the_price(summary: Summary) -> None:
    text = page(summary)
    assert "2.72 times as likely" in text  # e: the account has spent ε = 1, train and test side by side
    assert "73.1\u202f%" in text
    assert "protected row by row" in text


# -- in a browser -----------------------------------------------------------------------------------------------------


def test_it_opens_quietly_and_asks_for_nothing(browser: chromium.Browser, written: Path) -> None:
    browser.open(written)
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    assert browser.complaints() == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [written.as_uri()]
    assert browser.run("return performance.getEntriesByType('resource').length") == 0


def test_names_are_shown_as_text(browser: chromium.Browser, written: Path, summary: Summary) -> None:
    browser.open(written)
    assert browser.run("return document.images.length + document.scripts.length") == 0
    assert browser.driver.title == 'Predicting said "yes" in Who <i>answers</i>?'
    shown = browser.run("return [...document.querySelectorAll('.weights tbody th')].map(e => e.textContent)")
    assert summary.features is not None
    assert shown == [feature["name"] for feature in summary.features]
    assert all(any(name in text for text in shown) for name in NASTY[:3])
    facts = browser.run("return [...document.querySelectorAll('.facts dd')].map(e => e.innerText)")
    assert NASTY[3] in facts
    assert "taken for yes <3" in browser.run("return document.querySelector('.matrix').innerText")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(browser: chromium.Browser, written: Path, scheme: str) -> None:
    browser.open(written, scheme=scheme)
    assert browser.run(CONTRAST) == []
    ground = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (int(re.findall(r"\d+", ground)[0]) > 128) == (scheme == "light")


@pytest.mark.parametrize("width", [360, 820, 1600])
@pytest.mark.parametrize("names", ["usual", "long"])
def test_nothing_sticks_out(
    browser: chromium.Browser, written: Path, summary: Summary, tmp_path: Path, width: int, names: str
) -> None:
    if names == "long":
        question = summary.question | {"label": "l" * 90, "classes": ("n" * 90, "y" * 90), "dataset": "d" * 90}
        written = tmp_path / "long.html"
        written.write_text(page(replace(summary, question=question)), encoding="utf-8")
    browser.open(written, width=width)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    outside = """
        const right = document.documentElement.clientWidth;
        return [...document.querySelectorAll('main *')].filter(e => e.checkVisibility())
          .filter(e => e.getBoundingClientRect().right > right + 1).map(e => e.outerHTML.slice(0, 60))
    """
    assert browser.run(outside) == []


def test_choosing_a_threshold_needs_no_script(browser: chromium.Browser, written: Path, summary: Summary) -> None:
    browser.open(written)
    shown = "return [...document.querySelectorAll('.panel')].map(e => e.checkVisibility())"
    before = browser.run(shown)
    assert before == [decision["chosen"] for decision in summary.decisions]
    last = len(before) - 1
    browser.driver.find_element("css selector", f"label[for=t{last}]").click()
    assert browser.run(shown) == [place == last for place in range(len(before))]


def test_it_prints(browser: chromium.Browser, written: Path) -> None:
    browser.open(written, scheme="dark")
    paper = base64.b64decode(browser.command("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])
    assert paper.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 8
    browser.command("Emulation.setEmulatedMedia", media="print")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.run(CONTRAST) == []
    browser.command("Emulation.setEmulatedMedia", media="")
